// SPDX-License-Identifier: Apache-2.0
// A tree as compact JSON text.
#include "base/base.h"

#include "repr/json/internal.h"

static void write_array(const struct doc *array, struct buf *out)
{
	buf_addc(out, '[');
	for (size_t i = 0; i < array->n; i++) {
		if (i > 0)
			buf_addc(out, ',');
		doc_write_json(array->elements[i], out);
	}
	buf_addc(out, ']');
}

static void write_object(const struct doc *object, struct buf *out)
{
	bool first = true;

	buf_addc(out, '{');
	for (struct doc_iter it = doc_iter(object); doc_next(&it);) {
		if (!first)
			buf_addc(out, ',');
		first = false;
		json_add_string(out, it.name);
		buf_addc(out, ':');
		doc_write_json(it.value, out);
	}
	buf_addc(out, '}');
}

static void write_number(const struct doc *number, struct buf *out)
{
	if (number->text != NULL)
		buf_add(out, str_n(number->text, number->n));
	else if (number->is_negative)
		buf_add_i64(out, (int64_t)number->integer);
	else
		buf_add_u64(out, number->integer);
}

size_t doc_json_bound(const struct doc *doc)
{
	enum { ESCAPED = 6, WORD = 24 }; // bytes at most: of a character, "\u0001"; of an integer or a word
	size_t bound = 2;

	switch (doc_kind(doc)) {
	case DOC_NULL:
	case DOC_BOOL: return WORD;
	case DOC_NUMBER: return doc->text != NULL ? doc->n : WORD;
	case DOC_STRING: return 2 + ESCAPED * (size_t)doc->n;
	case DOC_ARRAY:
		for (size_t i = 0; i < doc->n; i++)
			bound += 1 + doc_json_bound(doc->elements[i]);
		return bound;
	case DOC_OBJECT:
		for (struct doc_iter it = doc_iter(doc); doc_next(&it);)
			bound += 4 + ESCAPED * it.name.n + doc_json_bound(it.value);
		return bound;
	}
	return bound;
}

void doc_write_json(const struct doc *doc, struct buf *out)
{
	switch (doc_kind(doc)) {
	case DOC_NULL: BUF_LIT(out, "null"); break;
	case DOC_BOOL: buf_add(out, doc->truth ? STR("true") : STR("false")); break;
	case DOC_NUMBER: write_number(doc, out); break;
	case DOC_STRING: json_add_string(out, str_n(doc->text, doc->n)); break;
	case DOC_ARRAY: write_array(doc, out); break;
	case DOC_OBJECT: write_object(doc, out); break;
	}
}

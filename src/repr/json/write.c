// SPDX-License-Identifier: Apache-2.0
// A tree as compact JSON text.
#include "base/base.h"

#include <math.h>

#include "base/pool.h"
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

// ---- for comparing

static int compare_names(const void *a, const void *b)
{
	return str_cmp(*(const struct str *)a, *(const struct str *)b);
}

static void write_sorted_object(const struct doc *object, struct buf *out)
{
	struct str *names = POOL_ARRAY(out->pool, struct str, doc_length(object));
	const struct doc *member;
	size_t n = 0;

	for (struct doc_iter it = doc_iter(object); doc_next(&it);)
		names[n++] = it.name;
	qsort(names, n, sizeof(*names), compare_names);
	buf_addc(out, '{');
	for (size_t i = 0; i < n; i++) {
		if (i > 0)
			buf_addc(out, ',');
		json_add_string(out, names[i]);
		buf_addc(out, ':');
		(void)doc_get(object, names[i], &member);
		doc_write_sorted(member, out);
	}
	buf_addc(out, '}');
}

static void write_sorted_number(const struct doc *number, struct buf *out)
{
	double value = json_double(number);

	if (doc_is_whole(number) && fabs(value) < 9007199254740992.0)
		buf_add_i64(out, (int64_t)value);
	else
		write_number(number, out);
}

void doc_write_sorted(const struct doc *doc, struct buf *out)
{
	switch (doc_kind(doc)) {
	case DOC_NUMBER: write_sorted_number(doc, out); break;
	case DOC_OBJECT: write_sorted_object(doc, out); break;
	case DOC_ARRAY:
		buf_addc(out, '[');
		for (size_t i = 0; i < doc_length(doc); i++) {
			if (i > 0)
				buf_addc(out, ',');
			doc_write_sorted(doc_at(doc, i), out);
		}
		buf_addc(out, ']');
		break;
	default: doc_write_json(doc, out); break;
	}
}

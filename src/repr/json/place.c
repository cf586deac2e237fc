// SPDX-License-Identifier: Apache-2.0
// Texts for errors: the place in a document, and kinds of values.
#include "base/base.h"

#include "base/pool.h"
#include "repr/json/internal.h"

enum { CLIP_BYTES = 100 };

struct str json_clipped(struct pool *pool, struct str s)
{
	if (s.n <= CLIP_BYTES)
		return s;
	struct buf out = buf_new(pool, CLIP_BYTES + 3);
	buf_add(&out, str_utf8_head(s, CLIP_BYTES));
	BUF_LIT(&out, "…");
	return buf_str(&out);
}

struct str json_number_clipped(struct pool *pool, const struct doc *number)
{
	assert(doc_kind(number) == DOC_NUMBER);
	return number->text != NULL ? json_clipped(pool, str_n(number->text, number->n)) : doc_number_text(pool, number);
}

static void add_place(struct buf *out, const struct place *place)
{
	if (place->parent != NULL)
		add_place(out, place->parent);
	if (place->name.p == NULL && place->parent != NULL) {
		buf_addf(out, "[%zu]", place->index);
		return;
	}
	if (place->name.n > 0 && out->n > 1)
		buf_addc(out, '.');
	buf_add(out, json_clipped(out->pool, place->name));
}

struct str place_text(struct pool *pool, const struct place *place)
{
	struct buf out = buf_new(pool, 64);

	buf_addc(&out, '"');
	add_place(&out, place);
	if (out.n == 1)
		return STR("the document");
	buf_addc(&out, '"');
	return buf_str(&out);
}

const char *kind_name(enum doc_kind kind)
{
	switch (kind) {
	case DOC_NULL: return "null";
	case DOC_BOOL: return "true or false";
	case DOC_NUMBER: return "a number";
	case DOC_STRING: return "a string";
	case DOC_ARRAY: return "an array";
	case DOC_OBJECT: return "an object";
	}
	return "a value";
}

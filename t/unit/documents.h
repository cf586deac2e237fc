// SPDX-License-Identifier: Apache-2.0
// Documents in unit tests: out of text and back.
#ifndef TENURE_T_UNIT_DOCUMENTS_H
#define TENURE_T_UNIT_DOCUMENTS_H

#include "base/buf.h"
#include "base/pool.h"
#include "repr/json/doc.h"
#include "tap.h"

static inline struct doc *parsed_str(struct pool *pool, struct str json)
{
	struct str error;
	struct doc *doc = NULL;

	if (!doc_parse_json(pool, json, (struct doc_limits){ 200, 0 }, &doc, &error)) {
		diag("%.*s: %.*s", STR_ARG(json), STR_ARG(error));
		bail_out("test document is no JSON");
	}
	return doc;
}

static inline struct doc *parsed(struct pool *pool, const char *json)
{
	return parsed_str(pool, str_c(json));
}

// With other for each one.
static inline struct str replaced(struct pool *pool, struct str text, char one, char other)
{
	struct buf out = buf_new(pool, text.n + 1);

	for (size_t i = 0; i < text.n; i++)
		buf_addc(&out, text.p[i] == one ? other : text.p[i]);
	return buf_str(&out);
}

// ' stands for ", so that documents can be read within C.
static inline struct doc *parsed_quoted(struct pool *pool, const char *text)
{
	return parsed_str(pool, replaced(pool, str_c(text), '\'', '"'));
}

static inline struct str written(struct pool *pool, const struct doc *doc)
{
	struct buf out = buf_new(pool, 0);

	doc_write_json(doc, &out);
	return buf_str(&out);
}

#endif

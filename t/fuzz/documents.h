// SPDX-License-Identifier: Apache-2.0
// For the fuzzing targets that take two documents.
#ifndef TENURE_T_FUZZ_DOCUMENTS_H
#define TENURE_T_FUZZ_DOCUMENTS_H

#include "fuzz.h"

#include "repr/json/doc.h"

static const struct doc_limits fuzz_limits = { 32, 2000 };

// One document's text, a line feed, the other's. False: they are not that, or too large.
static inline bool fuzz_documents(struct pool *pool, struct str input, struct doc **one, struct doc **other)
{
	struct str first = fuzz_first(&input), error;

	return doc_parse_json(pool, first, fuzz_limits, one, &error) &&
		doc_parse_json(pool, input, fuzz_limits, other, &error);
}

static inline struct str written(struct pool *pool, const struct doc *doc)
{
	struct buf out = buf_new(pool, 0);

	doc_write_json(doc, &out);
	return buf_str(&out);
}

#endif

// SPDX-License-Identifier: Apache-2.0
// Parts of a JSON text, for who needs but little of it. The text was checked before, as stored ones are: what is left out is not.
#ifndef TENURE_REPR_JSON_PART_H
#define TENURE_REPR_JSON_PART_H

#include "repr/json/doc.h"

// doc_parse_json() without all members that have one of these names (one whose p is NULL ends them), at any depth: their
// values are skipped, neither checked nor counted. names NULL: all of it.
bool doc_parse_json_without(struct pool *pool, struct str text, struct doc_limits limits, const struct str *names, struct doc **doc,
	struct str *error);

// The offset behind the value that begins at text.p[at], at most text.n. Of a text that is not well-formed it is any one from at
// on.
size_t json_skip_value(struct str text, size_t at);

#endif

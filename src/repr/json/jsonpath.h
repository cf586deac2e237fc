// SPDX-License-Identifier: Apache-2.0
// The JSONPath of printer columns: .spec.size, ['a.b'], [0], [-1], [1:3], [*], .*, ..name, [0,2], and filters
// [?(@.type=="Ready")]. A filter compares a member with a text, number, true or false by == != < <= > >=, or tests that the
// member exists. Braces around the whole path are allowed. Functions and scripts are not supported.
#ifndef TENURE_REPR_JSON_JSONPATH_H
#define TENURE_REPR_JSON_JSONPATH_H

#include "repr/json/doc.h"

struct jsonpath;

enum { JSONPATH_FOUND_MAX = 1000 };

// Parses text. The path lives in pool and refers to text, which must live as long. False: *error says why.
bool jsonpath_parse(struct pool *pool, struct str text, const struct jsonpath **path, struct str *error);
// The values that the path leads to, in the object's order: an array in pool of *n values, at most JSONPATH_FOUND_MAX. Values
// belong to the object; missing ones are left out. *looks: how many values it may look at; those used are subtracted. If none are
// left, it returns what it has found so far.
const struct doc *const *jsonpath_find(struct pool *pool, const struct jsonpath *path, const struct doc *object,
	size_t *looks, size_t *n);

#endif

// SPDX-License-Identifier: Apache-2.0
// The JSONPath of printer columns: .spec.size, ['a.b'], [0], [-1], [1:3], [*], .*, ..name, [0,2], and filters
// [?(@.type=="Ready")] with == != < <= > >= on a member and a text, number, true or false, or a member alone. Braces
// around the whole are allowed, functions and scripts don't exist.
#ifndef TENURE_API_SPACES_LANG_JSONPATH_H
#define TENURE_API_SPACES_LANG_JSONPATH_H

#include "repr/json/doc.h"

struct jsonpath;

enum { JSONPATH_FOUND_MAX = 1000 };

// Lives in pool, and so must text. False: *error.
bool jsonpath_parse(struct pool *pool, struct str text, const struct jsonpath **path, struct str *error);
// What the path leads to, in the object's order: an array in pool of *n values, JSONPATH_FOUND_MAX at most. Values are the
// object's own; what is missing is not among them. *looks: how many values it may look at, of which it leaves what it did
// not need; with none left it ends with what it has.
const struct doc *const *jsonpath_find(struct pool *pool, const struct jsonpath *path, const struct doc *object,
	size_t *looks, size_t *n);

#endif

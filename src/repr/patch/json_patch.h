// SPDX-License-Identifier: Apache-2.0
// An operation of a JSON Patch, parsed. For json_patch.c and json_patch_parse.c only.
#ifndef TENURE_REPR_PATCH_JSON_PATCH_H
#define TENURE_REPR_PATCH_JSON_PATCH_H

#include "repr/json/internal.h"

enum patch_kind { PATCH_ADD, PATCH_REMOVE, PATCH_REPLACE, PATCH_MOVE, PATCH_COPY, PATCH_TEST };

struct patch_operation {
	size_t index;
	enum patch_kind kind;
	struct str path_text, from_text;
	struct pointer path, from;
	const struct doc *value; // NULL is null
};

// Parses one operation. False: *error, in pool, says why.
bool patch_read(struct pool *pool, const struct doc *patch, size_t index, struct patch_operation *operation,
	struct str *error);
// Sets *error to a text with the operation's index. Returns false.
bool patch_fail(struct pool *pool, struct str *error, size_t index, const char *format, ...) PRINTF_LIKE(4, 5);

#endif

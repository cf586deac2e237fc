// SPDX-License-Identifier: Apache-2.0
// Shows values and schemas as Python's repr() does, for messages. For json_schema.c only.
#ifndef TENURE_REPR_SCHEMA_JSON_SCHEMA_INTERNAL_H
#define TENURE_REPR_SCHEMA_JSON_SCHEMA_INTERNAL_H

#include "repr/schema/json_schema.h"

// At most so many bytes of a value are shown; a longer one ends in "...".
enum { PYTHON_SHOWN = 1000 };

void json_schema_python_add(struct buf *out, const struct doc *doc);
void json_schema_python_add_string(struct buf *out, struct str s); // its beginning, cut between characters
// "'string', 'null'"
void json_schema_python_add_types(struct buf *out, unsigned types);
void json_schema_python_add_schema(struct buf *out, const struct json_schema *schema);
// "['none', 'isolate']"; values ends with NULL.
void json_schema_python_add_values(struct buf *out, const char *const *values);

#endif

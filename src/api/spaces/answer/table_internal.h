// SPDX-License-Identifier: Apache-2.0
// For table.c and table_builtin.c only.
#ifndef TENURE_API_SPACES_ANSWER_TABLE_INTERNAL_H
#define TENURE_API_SPACES_ANSWER_TABLE_INTERNAL_H

#include "api/spaces/answer/table.h"
#include "base/buf.h"
#include "repr/json/jsonpath.h"
#include "repr/schema/json_schema.h"

struct column;

// A row that is being written.
struct row {
	struct pool *pool;
	const struct doc *object;
	int64_t now_us;
	size_t looks; // how many values the paths of its cells may still look at
	struct buf *out;
};
// Writes one cell as JSON.
typedef void cell_fn(struct row *row, const struct column *column);

struct column {
	struct str name, type, format, description;
	int64_t priority;
	cell_fn *cell;
	struct str path_text;         // of a built-in column that shows a value: the path of the value
	const struct jsonpath *path;  // NULL: none
};

struct table_columns {
	const struct column *list;
	size_t n;
};

// The columns of a built-in kind after the name; the last has an empty name. NULL: the only other column is the age.
const struct column *builtin_columns(struct str group, struct str kind);
struct str age_since(const struct row *row, const struct doc *time);
cell_fn cell_of_path, cell_of_name, cell_of_age;

#endif

// SPDX-License-Identifier: Apache-2.0
// For files in manage/ only: prints lists as aligned columns for people, or as JSON for programs.
#ifndef TENURE_MANAGE_CORE_TABLE_H
#define TENURE_MANAGE_CORE_TABLE_H

#include "base/str.h"

struct pool;

struct table_column {
	const char *title; // "MAX RESOURCES"; its JSON name is the same in lower case with '_' for blanks
	bool number;       // right-aligned, and a number in JSON
};

struct table {
	struct pool *pool;
	const struct table_column *columns;
	size_t n_columns;
	// The column of explanations, which go on in further lines on a terminal that is too narrow; not the last one. NULL: none
	// has any.
	const struct table_column *wraps;
	struct str *cells;
	size_t n_rows, room;
};

// columns must outlive the table.
void table_init(struct table *table, struct pool *pool, const struct table_column *columns, size_t n_columns);
// Adds a row of n_columns cells, whose texts are copied. STR_NONE: no value; "-" in the table, null in JSON.
void table_add(struct table *table, const struct str *cells);
// The text as visible_text() makes it, so that no name can move the cursor or imitate a row. "-" for STR_NONE.
struct str table_printable(struct pool *pool, struct str text);
void table_print(const struct table *table, bool json, FILE *out);

#endif

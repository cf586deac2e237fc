// SPDX-License-Identifier: Apache-2.0
// What lists show of objects: the columns of a Table (meta.k8s.io), which kubectl prints.
#ifndef TENURE_TYPES_COMMON_COLUMNS_H
#define TENURE_TYPES_COMMON_COLUMNS_H

#include "base/buf.h"
#include "repr/json/doc.h"
#include "repr/json/jsonpath.h"

struct type_column;

// A row that is being written.
struct type_row {
	struct pool *pool;
	const struct doc *object; // as clients read it
	int64_t now_us;           // the time up to which ages are counted
	size_t looks;             // how many values the paths of all its cells may still look at
	struct buf *out;
};
// Writes one cell to row->out, as JSON.
typedef void cell_fn(struct type_row *row, const struct type_column *column);

struct type_column {
	struct str name, type, format, description;
	int64_t priority;            // 0: always shown; else only in wide lists
	cell_fn *cell;
	struct str path_text;        // of a built-in column that shows a value: the path of the value
	const struct jsonpath *path; // the parsed path_text, set by the writer of the table; NULL: none
};

// ---- tables of columns. Every type has "Name" as the first column; a type without a table has "Age" after it.

#define COLUMN_WIDE 1
// title: the heading; kind: string, integer, number, boolean or date; wide: 0 or COLUMN_WIDE; at: the path of the value, "" for
// none; about: a sentence.
#define COLUMN(title, kind, wide, function, at, about) { .name = STR_INIT(title), .type = STR_INIT(kind), \
	.description = STR_INIT(about), .priority = wide, .cell = function, .path_text = STR_INIT(at) }
#define COLUMN_TEXT(title, at, about) COLUMN(title, "string", 0, cell_of_text, at, about)
#define COLUMN_WIDE_TEXT(title, at, about) COLUMN(title, "string", COLUMN_WIDE, cell_of_text, at, about)
#define COLUMN_AGE COLUMN("Age", "string", 0, cell_of_age, "", "When the object was created.")
#define COLUMN_TENANT COLUMN_WIDE_TEXT("Tenant", ".metadata.tenant", "Whose space the object is in.")
#define COLUMN_END { .cell = NULL }

// ---- cells of columns

cell_fn cell_of_name, cell_of_age;
cell_fn cell_of_text;         // a text, number or boolean as text; "" where there is none
cell_fn cell_of_text_or_none; // a text, or <none>
cell_fn cell_of_count;        // how many elements or members
cell_fn cell_of_integer;      // 0 where there is none
cell_fn cell_of_pairs;        // "a=b,c=d" of an object of texts, or <none>
cell_fn cell_of_phase;        // a text, or Terminating while the object's deletion was asked for
cell_fn cell_of_data;         // the number of keys in data and binaryData together

// ---- values of cells

// The first value that the column's path leads to; NULL: none.
const struct doc *column_value(struct type_row *row, const struct type_column *column);
const struct doc *column_metadata(const struct type_row *row);
void column_add_text(struct type_row *row, struct str text);
// Parses "2026-11-21T05:24:00Z", also with a fraction or another time zone, into seconds since 1970. False: the text is no time.
bool column_time(struct str text, int64_t *seconds);
// How long ago the time was: "<unknown>" if it is no text, "<invalid>" if the text is no time.
struct str column_age_since(const struct type_row *row, const struct doc *time);
// An age as kubectl prints it: "5s", "3m20s", "5d", "2y30d"; "<invalid>" for a time in the future.
struct str column_age(struct pool *pool, int64_t seconds);

#endif

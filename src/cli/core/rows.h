// SPDX-License-Identifier: Apache-2.0
// Files of rows, each of which is a resource's document.
#ifndef TENURE_CLI_CORE_ROWS_H
#define TENURE_CLI_CORE_ROWS_H

#include "base/pool.h"
#include "base/str.h"
#include "repr/json/doc.h"

struct cli;

struct rows;
enum { CLI_ROWS_COLUMNS = 1000 }; // that CSV may have
enum row_step { ROW_READ, ROW_WRONG, ROW_END, ROW_BROKEN };
struct file_row {
	uint64_t number, line;  // counted from 1: among all rows, and where it begins; of a list of JSON both are the place in the list
	struct doc *document;   // of ROW_READ
	const char *wrong;      // of ROW_WRONG and ROW_BROKEN: what is wrong, and what would be right
};
// Opens a file, or "-", standard input: CSV, whose first line names the columns by paths; a JSON list; or a JSON document on each
// line. Its form is told by its name's ending (csv, json, ndjson, jsonl), or else by how it begins. The pool of cli keeps *rows.
// Exit code.
int rows_open(struct cli *cli, const char *path, struct rows **rows);
// Reads the next row. What it returns lives in pool, which may be rewound then. After ROW_WRONG the rows behind it can be read.
// ROW_BROKEN: the file can't be read any further, and nothing is told of a row that was cut off there.
enum row_step rows_next(struct rows *rows, struct pool *pool, struct file_row *row);
// How much of the file was read, in bytes, or of a list of JSON in documents. False: the end is not known, as of a pipe.
bool rows_progress(const struct rows *rows, uint64_t *done, uint64_t *total);
// Sets *rows to NULL.
void rows_close(struct rows **rows);
// The name of the column of CSV whose cells are read as the member at that path: strings, or if json JSON texts.
struct str rows_column_name(struct pool *pool, struct str path, bool json);

#endif

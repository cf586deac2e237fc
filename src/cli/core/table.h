// SPDX-License-Identifier: Apache-2.0
// Prints documents as the rows of a table, as JSON or as CSV.
#ifndef TENURE_CLI_CORE_TABLE_H
#define TENURE_CLI_CORE_TABLE_H

#include "repr/json/doc.h"

struct cli;

struct column {
	const char *name; // its name in --columns and in the title
	const char *path; // of the value in the document: names joined by dots
};
struct table;
// Makes a table with the columns that --columns names, known ones or paths in the document; without --columns the first n_shown
// of known. NULL: an error was printed.
struct table *table_new(struct cli *cli, const struct column *known, size_t n_known, size_t n_shown);
// In CSV, a cell that a spreadsheet would take for a formula gets an apostrophe in front. For lists that people open there, and
// that no program needs to read back.
void table_for_spreadsheets(struct table *table);
// Adds the columns that lists of a built-in type have besides: what `kubectl get` shows without -o wide, but the age, and what
// the table has already.
void table_add_type(struct table *table, const char *group, const char *plural);
void table_add(struct table *table, const struct doc *document);
// Prints the rows. EX_USAGE, with an error printed instead: --columns has a name without a dot that is no known column, no member
// of any row and no member of any built-in type. A list without rows takes any name.
int table_print(struct table *table);
// The same for the rows that were added since the last call, for lists that go on: the titles once, JSON as one object on each
// line. The rows are forgotten, so their memory may be freed. Only the first rows can be refused. EX_IOERR, without a message,
// which main() prints: the output can't be written, so the list must end.
int table_print_more(struct table *table);
// For rows that have known columns only: EX_USAGE, with an error printed, if --columns has another name.
int table_refuse_others(const struct table *table);
// Makes a table if --columns was given; else *table is NULL. False: an error was printed.
bool table_wanted(struct cli *cli, const struct column *known, size_t n_known, size_t n_shown, struct table **table);
// Prints one document in the chosen format.
void cli_document_print(struct cli *cli, const struct doc *document);

// ---- columns.c

struct column_list {
	const struct column *list;
	size_t n, n_shown; // all; the first ones, which a list shows without --long or --columns
};
// The columns of a built-in type with a noun of its own: what its API shows.
struct column_list cli_noun_columns(struct cli *cli, const char *group, const char *plural);

#endif

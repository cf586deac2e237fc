// SPDX-License-Identifier: Apache-2.0
// Text for people and for programs: what is printed to a terminal or a pipe, and documents as text.
#ifndef TENURE_CLI_CORE_TEXT_H
#define TENURE_CLI_CORE_TEXT_H

#include <stdio.h>

#include "base/buf.h"
#include "base/pool.h"
#include "base/str.h"
#include "repr/json/doc.h"

struct cli;

// Can nobody read what is printed to stdout any more, such as a pipe whose reader has ended? Waits up to ms for that; 0: not at
// all.
bool cli_reader_is_gone(int ms);
void cli_text_print(FILE *out, struct str s);
// Prints a cell of CSV (RFC 4180) to stdout: in quotes if quoted, or if its text could be read otherwise without them; at a
// terminal with control characters made visible.
void cli_cell_print(const struct cli *cli, struct str text, bool quoted);
// Draws a progress bar at the beginning of the terminal's line. total 0: nothing is known.
void cli_bar_print(FILE *out, uint64_t done, uint64_t total);
// A value as a table's cell: a string as it is, anything else as JSON.
struct str cli_text(struct pool *pool, const struct doc *value);
// Finds the member at a path of names joined by dots; a name may contain dots itself. False: there is none.
bool doc_at_path(const struct doc *doc, struct str path, const struct doc **value);
// Writes JSON with an indent of two blanks a level.
void doc_write_pretty(const struct doc *doc, struct buf *out);
// The document as text.
struct str doc_text(struct pool *pool, const struct doc *document);

#endif

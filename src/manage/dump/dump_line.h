// SPDX-License-Identifier: Apache-2.0
// For files in manage/dump/ only: the lines of a dump (doc/dump.md). Each is {"sum":"…","KIND":{…}}. The sum is of the line and
// of all before it, so a line that was changed, lost, added or moved is recognized where it stands; a file that was cut off has
// no line of kind "end".
#ifndef TENURE_MANAGE_DUMP_DUMP_LINE_H
#define TENURE_MANAGE_DUMP_DUMP_LINE_H

#include <stdio.h>

#include "base/str.h"

struct pool;

enum { DUMP_FORMAT = 1, DUMP_SUM = 32 }; // the version of the form; hex digits of a sum

struct dump_lines {
	FILE *file;
	char sum[DUMP_SUM];
	uint64_t n; // lines so far
};

// Begins at the present position of the file.
struct dump_lines dump_lines_begin(FILE *file);
// Writes a line. object: JSON text. False: the file took no more, errno says why.
bool dump_lines_put(struct dump_lines *lines, const char *kind, struct str object);
// Reads the next line into pool. False: there is none, and *error tells why, or has p NULL at the file's end.
bool dump_lines_next(struct dump_lines *lines, struct pool *pool, struct str *kind, struct str *object, struct str *error);

#endif

// SPDX-License-Identifier: Apache-2.0
// For files in manage/dump/ only: reading a dump from its first line to its last (doc/dump.md). The reader checks the sums and
// the order of the lines, shows its user each record, and gathers those that the user wants into batches for the database.
#ifndef TENURE_MANAGE_DUMP_DUMP_READER_H
#define TENURE_MANAGE_DUMP_DUMP_READER_H

#include <stdio.h>

#include "db/list.h"

struct doc;

struct dump_kind {
	const char *name;
	bool once; // a file has exactly one line of that kind
};

struct dump_reader {
	// Its user sets these.
	FILE *file;
	const struct dump_kind *kinds; // in the order in which a file has them; a line of the last one ends it
	size_t n_kinds;
	size_t most;                   // how many records make a batch; one of more than 512 KiB is ended earlier
	// Called with each record, JSON text, in its place. False ends the reading.
	bool (*record)(void *user, struct str object);
	// Called with each batch, a JSON array of records that are all of one kind. False ends the reading.
	bool (*batch)(void *user, struct str rows);
	void *user;
	struct pool *pool; // the reader clears it when it begins a batch

	// For record() and batch() to read.
	size_t kind;         // of that record, or of the batch
	uint64_t line;       // of that record, or of the batch's last one
	struct db_list rows; // the batch so far
	char refusal[512];   // what is wrong with the file; "" if it is not what ended the reading
};

// Reads the whole file, from its beginning, as often as it is called. False: it was not read to its end, and reader->refusal says
// what is wrong with it, or is "" if a function of the user's ended the reading for another reason.
bool dump_reader_run(struct dump_reader *reader);

// The following are for record() and batch().

// Adds a record to the batch, which goes to batch() when it is full, and before a line of another kind comes. object: in
// reader->pool.
void dump_reader_add(struct dump_reader *reader, struct str object);
// Parses a record. False: it is no JSON, and the file is refused.
bool dump_reader_parse(struct dump_reader *reader, struct str object, struct doc **doc);
// Refuses the file for the line that is read: "line N" and then the text. Returns false.
bool dump_reader_refuse(struct dump_reader *reader, const char *format, ...) PRINTF_LIKE(2, 3);
// Refuses it for one of the batch's lines: "line N or one of the M before it" and then the text. Returns false.
bool dump_reader_refuse_batch(struct dump_reader *reader, const char *format, ...) PRINTF_LIKE(2, 3);

#endif

// SPDX-License-Identifier: Apache-2.0
// For files in manage/ only: the numbered files of sql_dir, and which of them were applied to the database.
#ifndef TENURE_MANAGE_DATABASE_SCHEMA_H
#define TENURE_MANAGE_DATABASE_SCHEMA_H

#include "base/digest.h"
#include "manage/core/manage.h"

struct schema_file {
	uint64_t version; // the number its name begins with
	struct str name;  // "001-tenancy.sql"
	struct str text;
	struct str online; // how an upgrade applies it: the text of online/NAME, or text if there is none
	uint8_t sha256[DIGEST_SHA256]; // of text
	bool edited;      // RELEASED in sql_dir has another checksum for it
};

struct schema_files {
	struct schema_file *files; // ordered by version 1, 2, … without a gap
	size_t n;
	uint64_t latest; // the highest version; 0: there are no files
};

enum schema_state {
	SCHEMA_ABSENT,  // no tables at all
	SCHEMA_FOREIGN, // the database has tables, but not ours
	SCHEMA_BEGUN,   // `db init` was interrupted: there are no keys yet, and nobody has written anything
	SCHEMA_DAMAGED, // no version is recorded, though something was written
	SCHEMA_PRESENT,
};

// Reads the files of db_settings(config)->sql_dir. EX_OK, or an exit code after a message.
int schema_read(struct manage *manage, struct schema_files *files);
// Reads the state of the database. *version: of the newest file that was applied, if the state is SCHEMA_PRESENT or SCHEMA_BEGUN;
// else 0. False: the database cannot be asked, and a message says so.
bool schema_ask(struct manage *manage, enum schema_state *state, uint64_t *version);
// Compares the files with those that were applied, by their checksums, and with RELEASED; prints each that differs or is missing.
// EX_OK;
// EX_DATAERR: some do; or the exit code of a failed statement, after a message.
int schema_compare(struct manage *manage, const struct schema_files *files);
// Drops the tables that the files make, so that the schema can be made anew. Only for SCHEMA_BEGUN. If it is interrupted, the
// state stays so. EX_OK; EX_DATAERR after a message: the database has a table that the files don't make, so nothing was dropped;
// or the exit code of a failed statement, after a message.
int schema_drop(struct manage *manage, const struct schema_files *files);
// Applies the files above version in order, and records each when it is done. fresh: to a database without tables, as the files
// are written; otherwise as upgrades do (steps.h), from where an interrupted one stopped. EX_OK, or an exit code after a message.
int schema_apply(struct manage *manage, const struct schema_files *files, uint64_t version, bool fresh);
// The first word of an SQL text at or after from. It ends at a blank, a parenthesis, a semicolon or the end of the text. *end:
// the offset behind it.
struct str schema_next_word(struct str text, size_t from, size_t *end);
// Prints what schema_apply() would do, how long it may take, and how to go back. EX_OK, or an exit code after a message.
int schema_plan(struct manage *manage, const struct schema_files *files, uint64_t version);

#endif

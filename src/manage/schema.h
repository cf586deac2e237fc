// SPDX-License-Identifier: Apache-2.0
// For files in manage/ only: the numbered files of sql_dir, and which of them the database has.
#ifndef TENURE_MANAGE_SCHEMA_H
#define TENURE_MANAGE_SCHEMA_H

#include "manage/manage.h"

struct schema_file {
	uint64_t version; // the number its name begins with
	struct str name;  // "001-tenancy.sql"
	struct str text;
};

struct schema_files {
	struct schema_file *files; // by version, 1, 2, … without a gap
	size_t n;
	uint64_t latest; // 0 when there are none
};

enum schema_state {
	SCHEMA_ABSENT,   // no tables at all
	SCHEMA_FOREIGN,  // tables, but none of ours
	SCHEMA_HALF,     // a file was begun and not finished
	SCHEMA_PRESENT,
};

// Reads the files of config->sql_dir. EX_OK, or an exit code, told.
int schema_read(struct manage *manage, struct schema_files *files);
// What the database has; *version is set when PRESENT, else 0. False, told, when it can't be asked.
bool schema_ask(struct manage *manage, enum schema_state *state, uint64_t *version);
// Applies those above version, one after the other, each recorded as it is done. EX_OK, or an exit code, told.
int schema_apply(struct manage *manage, const struct schema_files *files, uint64_t version);

#endif

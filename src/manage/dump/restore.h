// SPDX-License-Identifier: Apache-2.0
// For files in manage/dump/ only: what the command restore was told, and the two things that it restores.
#ifndef TENURE_MANAGE_DUMP_RESTORE_H
#define TENURE_MANAGE_DUMP_RESTORE_H

#include <stdio.h>

#include "manage/core/manage.h"

struct restore_options {
	const char *path;    // of the file, for messages
	bool dry_run;        // the transaction is rolled back at its end
	// For the dump of a tenant.
	struct str name;     // of the tenant here; p NULL: as in the file
	struct str tier;     // of the tenant here; p NULL: as in the file
	bool keep_invalid;   // resources that break their type's schema are restored as well
	// For the dump of an installation.
	bool without_tokens; // the tokens that are here stay, and those of the file are left out
};

// Both read the file from its beginning, more than once; change the registry of manage->db in one transaction: all of it, or
// nothing; and block until that is done. They return an exit code, after a message.

// Restores one tenant beside those that are here.
int restore_tenant(struct manage *manage, FILE *file, const struct restore_options *options);
// Restores an installation into a registry that is as db init left it.
int restore_all(struct manage *manage, FILE *file, const struct restore_options *options);

// Does the file's first line say that it holds an installation? Reads it from its beginning.
bool restore_all_is_in(FILE *file);

#endif

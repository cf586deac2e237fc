// SPDX-License-Identifier: Apache-2.0
// For files in manage/ only: restoring a whole installation from its dump.
#ifndef TENURE_MANAGE_RESTORE_ALL_H
#define TENURE_MANAGE_RESTORE_ALL_H

#include <stdio.h>

#include "manage/core/manage.h"

// Does the file's first line say that it holds an installation? Reads it from its beginning.
bool restore_all_is_in(FILE *file);
// Restores it into the registry of manage->db, which has to be as db init left it, in one transaction: all of it, or nothing. path: of the
// file, for messages. without_tokens: keep the tokens that are here, and leave out those of the file. dry_run: roll it back. Blocks until it
// is done. Returns an exit code, after a message.
int restore_all(struct manage *manage, FILE *file, const char *path, bool without_tokens, bool dry_run);

#endif

// SPDX-License-Identifier: Apache-2.0
// For files in manage/ only: lists of standard traits.
#ifndef TENURE_MANAGE_DATABASE_OS_TRAITS_H
#define TENURE_MANAGE_DATABASE_OS_TRAITS_H

#include "manage/core/manage.h"

struct trait_list {
	const char *path;  // the file it came from
	struct str *names; // in byte order, no two equal
	size_t n;
};

// Reads a file with one name on each line; lines that begin with "#" are comments. path NULL: os-traits.txt in sql_dir, which
// comes with the package. EX_OK; EX_NOINPUT: the file cannot be read; EX_DATAERR: a line is no name of a standard trait, or is
// repeated, or there is no name at all; a message names the line.
int trait_list_read(struct manage *manage, const char *path, struct trait_list *list);
// Adds the missing traits to the catalogue in one transaction, and prints how many; with tell_each also which. Runs at the same
// time, on any host, wait for each other. Nothing is ever removed. EX_OK, or an exit code after a message.
int trait_list_sync(struct manage *manage, const struct trait_list *list, bool tell_each);

#endif

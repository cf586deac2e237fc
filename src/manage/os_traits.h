// SPDX-License-Identifier: Apache-2.0
// For files in manage/ only: lists of standard traits, and the catalogue brought up to one.
#ifndef TENURE_MANAGE_OS_TRAITS_H
#define TENURE_MANAGE_OS_TRAITS_H

#include "manage/manage.h"

struct trait_list {
	const char *path;  // the file it came from
	struct str *names; // in byte order, each once
	size_t n;
};

// Reads a file of names, one a line; "#" begins a line that is none. path NULL: os-traits.txt in sql_dir, which comes
// with the package. EX_OK; EX_NOINPUT (can't be read), EX_DATAERR (a line that is no name of a standard trait, or stands
// there twice; or no name at all), told with the line.
int trait_list_read(struct manage *manage, const char *path, struct trait_list *list);
// Adds to the catalogue what it lacks, in one transaction, and tells how much that was; with tell_each, what. Several
// at once, on whatever hosts, wait for each other. Nothing is ever removed. EX_OK, or an exit code, told.
int trait_list_sync(struct manage *manage, const struct trait_list *list, bool tell_each);

#endif

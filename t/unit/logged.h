// SPDX-License-Identifier: Apache-2.0
// What a test's functions write to standard error, where the log goes. Each function is inline, since not every test needs all.
#ifndef LOGGED_H
#define LOGGED_H

#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "tap.h"

static FILE *logged_file;
static int logged_stderr;

// From now on it goes to a file without a name.
static inline void logged_begin(void)
{
	logged_file = tmpfile();
	logged_stderr = dup(STDERR_FILENO);
	if (logged_file == NULL || logged_stderr < 0 || dup2(fileno(logged_file), STDERR_FILENO) < 0)
		bail_out("no file for the log");
}

// It goes to where it went before. How often is the text in what was written meanwhile?
static inline size_t logged_end_count(const char *text)
{
	char all[4096] = "";
	size_t n = 0;

	(void)dup2(logged_stderr, STDERR_FILENO);
	(void)close(logged_stderr);
	rewind(logged_file);
	all[fread(all, 1, sizeof(all) - 1, logged_file)] = '\0';
	(void)fclose(logged_file);
	for (const char *at = all; (at = strstr(at, text)) != NULL; at++)
		n++;
	return n;
}

// Is it there?
static inline bool logged_end_has(const char *text)
{
	return logged_end_count(text) > 0;
}

#endif

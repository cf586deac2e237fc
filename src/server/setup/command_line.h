// SPDX-License-Identifier: Apache-2.0
// The command line of a daemon, tenured or tenured-host: options and no words.
#ifndef TENURE_SERVER_SETUP_COMMAND_LINE_H
#define TENURE_SERVER_SETUP_COMMAND_LINE_H

#include "base/options.h"

struct command_line {
	const char *program;
	const char *synopsis;           // what follows the program's name in its usage, "-c FILE"
	const char *about;              // ends the usage
	const struct option_row *rows;  // among them --version and --help
	size_t n;
};

// Reads the options into given, which has a place for each row: its value, "" if it takes none, NULL if it was not given. Returns
// OPTIONS_GO_ON, or the exit code if the program is to end: --version or --help is answered, or standard error has what is wrong
// and the usage.
int command_line_read(const struct command_line *line, int argc, char **argv, const char **given);
// Prints what is wrong, and the usage, on standard error. Returns the exit code. argument: the end of what; may be "".
int command_line_refuse(const struct command_line *line, const char *what, const char *argument);

#endif

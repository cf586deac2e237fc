// SPDX-License-Identifier: Apache-2.0
// The command lines of all programs. Options stand in tables, from which parsing, help and completion are made.
//
// getopt_long(3) reads them: "--name VALUE", "--name=VALUE", "-n VALUE", "-nVALUE", several letters in one word. "--" ends the
// options; "-" alone is a word. Unlike getopt_long's own habit, a name can't be abbreviated: a later release may have another
// option that begins in the same way. Only one command line can be read at a time, as getopt_long has state of its own.
#ifndef TENURE_BASE_OPTIONS_H
#define TENURE_BASE_OPTIONS_H

#include <stdio.h>

#include "base/str.h"

struct option_row {
	const char *name;  // with its dashes: "--tenant"
	char letter;       // 't' for "-t"; 0: none
	const char *value; // what it takes, for help: "TENANT"; NULL: it is a switch
	const char *help;  // one line
};

enum { OPTIONS_MAX = 128 }; // rows of a table

enum option_kind {
	OPTION_GIVEN, // row: the index of the option; value: what it takes, "" of a switch
	OPTION_WORD,  // value: a word that is no option
	OPTION_WRONG, // text: what is wrong, without a newline
	OPTION_END,
};

// A command line that is being read. Its strings are those of argv.
struct options {
	int argc;
	char **argv;
	bool over; // "--" was read
	size_t row;
	const char *value;
	char text[320];
};

// argv[0] is the program's name. argv must outlive options and isn't changed.
void options_begin(struct options *options, int argc, char **argv);
// Reads what comes next, by the table of options that may stand there; rows may differ from call to call. Where two rows have one
// name, the first counts. Not to be called again after OPTION_WRONG or OPTION_END.
enum option_kind options_next(struct options *options, const struct option_row *rows, size_t n);

// The row whose name is nearest to what was typed, for "did you mean": one that begins with it, or differs in few letters. NULL if
// none is near.
const struct option_row *options_nearest(const struct option_row *rows, size_t n, struct str typed);

// Prints the options for help, one a line, beginning with the letter if there is one.
void options_print(FILE *out, const struct option_row *rows, size_t n);

#endif

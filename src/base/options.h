// SPDX-License-Identifier: Apache-2.0
// Parses the command lines of all programs. Options are rows of tables, which help and completion use, too.
//
// The parser is getopt_long(3): "--name VALUE", "--name=VALUE", "-n VALUE", "-nVALUE", several letters in one word. "--" ends the
// options; "-" alone is a word. Unlike getopt_long, it does not accept abbreviated names, because a later release may add an
// option with the same beginning. Only one command line can be read at a time, because getopt_long has global state.
#ifndef TENURE_BASE_OPTIONS_H
#define TENURE_BASE_OPTIONS_H

#include <stdio.h>

#include "base/str.h"

struct option_row {
	const char *name;  // with its dashes: "--tenant"
	char letter;       // 't' for "-t"; 0: none
	const char *value; // name of its value for help: "TENANT"; NULL: it takes no value
	const char *help;  // one line
};

enum { OPTIONS_MAX = 128 }; // rows of a table

enum option_kind {
	OPTION_GIVEN, // row: the index of the option; value: its value, "" if it takes none
	OPTION_WORD,  // value: a word that is not an option
	OPTION_WRONG, // text: what is wrong, without a newline
	OPTION_END,
};

// What a function that reads a whole command line returns in place of an exit code, if the program is to go on.
enum { OPTIONS_GO_ON = -1 };

// The state of reading a command line. Its strings are those of argv.
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
// Reads the next option or word. rows: the options allowed here; they may differ from call to call. If two rows have the same
// name the first one counts. Must not be called again after OPTION_WRONG or OPTION_END.
enum option_kind options_next(struct options *options, const struct option_row *rows, size_t n);

// The row whose name is most similar to the typed text, for suggestions: it begins with the text, or differs in few letters. NULL
// if there is none.
const struct option_row *options_nearest(const struct option_row *rows, size_t n, struct str typed);
// The same among words.
const char *options_nearest_word(const char *const *words, size_t n, struct str typed);

// Prints the options for help, one on each line, the letter first if there is one.
void options_print(FILE *out, const struct option_row *rows, size_t n);

#endif

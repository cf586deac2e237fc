// SPDX-License-Identifier: Apache-2.0
// Shell completion for programs whose options are rows of tables (options.h). A program that is called as `PROGRAM __complete
// WORD…` gets the words typed so far, of which the last is the one being typed, and prints what it could become, a candidate on
// each line; as `PROGRAM __describe WORD…`, with a tab and a line of help behind each that has one. The exit code says whether
// the name of a file may stand there, too: the shell knows files best. completions/ has the shells' sides.
#ifndef TENURE_BASE_COMPLETION_H
#define TENURE_BASE_COMPLETION_H

#include "base/options.h"
#include "base/str.h"

enum { COMPLETION_WORDS = 0, COMPLETION_FILES = 1 }; // exit codes: only the words that were printed; files as well

struct completion {
	struct str typed; // the beginning of each candidate
	bool describes;   // prints help, too
	bool files;       // the name of a file may stand here
};

// Is the program called for completion? *describes: as __describe.
bool completion_wanted(int argc, char **argv, bool *describes);
// Prints the candidate if it begins with what is typed. help: one line; NULL: none.
void completion_offer(const struct completion *completion, struct str candidate, const char *help);
void completion_offer_options(const struct completion *completion, const struct option_row *rows, size_t n);

// A word of help texts for a value, of which there are few: { "ROLE", "reader|member|admin" }.
struct completion_values {
	const char *word, *values;
};
// Offers what an option or argument can be whose help calls its value so: the words of a list such as "table|json|csv", in which
// capitals stand for any value; those of its row in `known`, which ends with word NULL; for "FILE" files.
void completion_offer_values(struct completion *completion, struct str takes, const struct completion_values *known);
// The row of the option that was typed, "--file" or "-f"; NULL: there is none.
const struct option_row *completion_option(const struct option_row *rows, size_t n, const char *typed);
// COMPLETION_WORDS or COMPLETION_FILES.
int completion_exit_code(const struct completion *completion);

#endif

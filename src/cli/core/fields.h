// SPDX-License-Identifier: Apache-2.0
// Field options: those that stand for a member of a document, or for a filter of a list. Bare metal and Placement have them.
#ifndef TENURE_CLI_CORE_FIELDS_H
#define TENURE_CLI_CORE_FIELDS_H

#include "cli/core/cli.h"

// An option that sets a member of a noun's document, or a filter of its list. fields.c has them all. Such options follow noun
// and verb, and may be repeated.
enum field_kind {
	FIELD_TEXT,
	FIELD_TIME, // the beginning of a day, or a moment: cli_time()
	FIELD_BOOL,
	FIELD_JSON,
	FIELD_KEYS, // "KEY=VALUE", a member of an object; for unset only "KEY"
	FIELD_TEXTS, // the same, of an object whose values are all texts
	FIELD_ANY_OF,  // of a query: "A,B", at least one of them; a repeated option is another condition
	FIELD_NONE_OF, // of a query: "A,B", none of them
	FIELD_AMOUNTS, // "CLASS=N"; a repeated option is another condition
};
enum field_use { USE_LIST = 1, USE_SHOW = 2, USE_CREATE = 4, USE_SET = 8, USE_UNSET = 16 };
struct field {
	const char *name;   // with its dashes; NULL ends a table
	const char *member; // of the document, or a parameter of the list's query
	enum field_kind kind;
	unsigned uses;
	const char *value;  // its value in help texts; for unset only FIELD_KEYS and FIELD_TEXTS take one, without "=VALUE"
	const char *help;
};
struct given {
	const struct field *field;
	const char *value; // NULL: given without a value
};

// Iterates over the command's field options: returns the one after after (NULL: the first); NULL: there are no more.
const struct field *field_next(const struct command *command, const struct field *after);
// The value that the field takes in this command, "KEY=VALUE"; n 0: none.
struct str field_takes(const struct command *command, const struct field *field);
// Make a document for create, or a JSON Patch for set and unset, of --file, --patch, field options and MEMBER=VALUE arguments
// from first on. Exit code.
int fields_document(struct cli *cli, size_t first, struct doc **document);
int fields_patch(struct cli *cli, size_t first, struct doc **patch);
// Applies the filter options to the list. Exit code.
int fields_filter(struct cli *cli, struct tenure_list *list);

#endif

// SPDX-License-Identifier: Apache-2.0
// Finds commands in their table by the words of a command line, and what was meant by words that are mistyped.
#ifndef TENURE_CLI_CORE_COMMAND_TABLE_H
#define TENURE_CLI_CORE_COMMAND_TABLE_H

#include "base/pool.h"

struct command;

// Finds the command that the words begin with; *used: how many words are its noun and verb. If the noun has no such verb, or no
// verb was given, it returns the noun's row with verb NULL, if there is one. NULL: there is no such command.
const struct command *command_find(const struct command *commands, const char *const *words, size_t n, size_t *used);
bool cli_noun_known(const struct command *commands, const char *noun);
// The noun of a command whose plural was typed, or that is nearly spelt so; NULL: none is.
const char *cli_noun_near(struct pool *pool, const struct command *commands, const char *typed);
// The verb of that noun that other programs call so, or that is nearly spelt so; NULL: none is.
const char *cli_verb_near(const struct command *commands, const char *noun, const char *typed);
// The verb of resources that this is, or that other programs call so; NULL: none is.
const char *cli_verb_of_resources(const struct command *commands, const char *typed);
// The command that has this verb, typed where a noun stands; NULL: no noun has it, or several have.
const struct command *cli_verb_elsewhere(const struct command *commands, const char *typed);
// Could the word be the plural of a type?
bool cli_is_type(const char *word);

#endif

// SPDX-License-Identifier: Apache-2.0
// The command line: the table of commands, how it is parsed and completed, and help.
#ifndef TENURE_CLI_COMMAND_LINE_H
#define TENURE_CLI_COMMAND_LINE_H

#include <stdio.h>

#include "cli/core/cli.h"

// The table; ends with noun NULL. Only main.c uses it, all others use cli->commands.
extern const struct command cli_commands[];

// ---- options.c, help.c, complete.c

// Parses the command line into cli. OPTIONS_GO_ON, or the exit code if the program is to end: help was printed, or an error.
int options_parse(struct cli *cli, int argc, char **argv);
void cli_help_all(const struct command *commands, FILE *out);
void cli_help_noun(const struct command *commands, const char *noun, FILE *out);
void cli_help_command(const struct command *command, FILE *out);
// Prints what the last argument, which is being typed, can become behind the others; base/completion.h. Its exit code.
int cli_complete(struct cli *cli, bool describes);

#endif

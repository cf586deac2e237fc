// SPDX-License-Identifier: Apache-2.0
#include "base/base.h"

#include <stdio.h>
#include <sysexits.h>

#include "server/setup/command_line.h"

static void print_usage(const struct command_line *line, FILE *out)
{
	fprintf(out, "usage: %s %s\n\n", line->program, line->synopsis);
	options_print(out, line->rows, line->n);
	fprintf(out, "\n%s\n", line->about);
}

int command_line_refuse(const struct command_line *line, const char *what, const char *argument)
{
	fprintf(stderr, "%s: %s%s\n", line->program, what, argument);
	print_usage(line, stderr);
	return EX_USAGE;
}

int command_line_read(const struct command_line *line, int argc, char **argv, const char **given)
{
	struct options options;
	enum option_kind kind;

	assert(argc > 0 && argv != NULL);
	options_begin(&options, argc, argv);
	while ((kind = options_next(&options, line->rows, line->n)) == OPTION_GIVEN) {
		given[options.row] = options.value;
		if (strcmp(line->rows[options.row].name, "--version") == 0) {
			printf("%s %s\n", line->program, TENURE_VERSION);
			return EX_OK;
		}
		if (strcmp(line->rows[options.row].name, "--help") == 0) {
			print_usage(line, stdout);
			return EX_OK;
		}
	}
	if (kind == OPTION_WRONG)
		return command_line_refuse(line, options.text, "");
	if (kind == OPTION_WORD)
		return command_line_refuse(line, "it takes options alone, not ", options.value);
	return OPTIONS_GO_ON;
}

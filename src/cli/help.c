// SPDX-License-Identifier: Apache-2.0
// Help, made from the tables of commands and options.
#include "base/base.h"

#include "base/visible.h"
#include "cli/command/commands.h"
#include "cli/command_line.h"
#include "cli/core/cli.h"
#include "cli/core/command_table.h"
#include "cli/core/fields.h"

#ifndef TENURE_VERSION
#define TENURE_VERSION "development"
#endif

static void print_padded(FILE *out, struct str text, size_t width)
{
	size_t shown = visible_width(text);

	fprintf(out, "  %.*s%*s  ", STR_ARG(text), (int)(width > shown ? width - shown : 0), "");
}

static void print_row(const struct command *c, FILE *out)
{
	char name[96];

	snprintf(name, sizeof(name), "%s%s%s%s%s", c->noun, c->verb != NULL ? " " : "", c->verb != NULL ? c->verb : "",
		c->arguments[0] != '\0' ? " " : "", c->arguments);
	print_padded(out, str_c(name), 40);
	fprintf(out, "%s\n", c->help);
}

void cli_help_all(const struct command *commands, FILE *out)
{
	fprintf(out, "usage: tenure NOUN VERB [ARGUMENTS] [OPTIONS]\n\n");
	for (const struct command *c = commands; c->noun != NULL; c++)
		print_row(c, out);
	fprintf(out, "\nIn place of \"resource TYPE\" the type alone will do: tenure configmaps list.\n"
		"Where to and as whom: TENURE_URL, TENURE_TOKEN or TENURE_TOKEN_FILE, TENURE_TENANT, or the same as options,\n"
		"or ~/.config/tenure/config. More by \"tenure help NOUN VERB\" and in tenure(1).\n");
}

void cli_help_noun(const struct command *commands, const char *noun, FILE *out)
{
	fprintf(out, "usage: tenure %s VERB [ARGUMENTS] [OPTIONS]\n\n", noun);
	for (const struct command *c = commands; c->noun != NULL; c++) {
		if (strcmp(c->noun, noun) == 0)
			print_row(c, out);
	}
}

static void print_options(const struct command *c, FILE *out)
{
	char takes[96];

	for (const struct field *f = NULL; (f = field_next(c, f)) != NULL;) {
		struct str words = field_takes(c, f);
		(void)snprintf(takes, sizeof(takes), "%.*s", STR_ARG(words));
		options_print(out, &(struct option_row){ f->name, 0, takes, f->help }, 1);
	}
	for (size_t i = 0; i < OPT__COUNT; i++) {
		if ((c->options & HAS(i)) != 0)
			options_print(out, &option_rows[i], 1);
	}
	options_print(out, option_rows, OPT_HELP + 1);
}

void cli_help_command(const struct command *c, FILE *out)
{
	fprintf(out, "usage: tenure %s%s%s%s%s [OPTIONS]\n\n%c%s.\n", c->noun, c->verb != NULL ? " " : "",
		c->verb != NULL ? c->verb : "", c->arguments[0] != '\0' ? " " : "", c->arguments,
		c->help[0] - 'a' + 'A', c->help + 1);
	if (c->more[0] != '\0')
		fprintf(out, "%s\n", c->more);
	fprintf(out, "\n");
	print_options(c, out);
	fprintf(out, "\nExample:\n  %s\n", c->example);
}

int command_help(struct cli *cli)
{
	const char **words = cli->arguments;
	size_t n = cli->n_arguments, used;

	if (n == 0) {
		cli_help_all(cli->commands, stdout);
		return EX_OK;
	}
	if (!cli_noun_known(cli->commands, words[0]) && n > 1 && cli_is_type(words[0]))
		words[0] = "resource";
	const struct command *command = command_find(cli->commands, words, n, &used);
	bool verb_known = command != NULL && command->verb != NULL && used == n;
	if (!cli_noun_known(cli->commands, words[0]) || (n > 1 && !verb_known))
		return cli_fail(EX_USAGE, "there is no command \"%s%s%s%s%s\"; see \"tenure help\"", words[0], n > 1 ? " " : "",
			n > 1 ? words[1] : "", n > 2 ? " " : "", n > 2 ? words[2] : "");
	if (command != NULL)
		cli_help_command(command, stdout);
	else
		cli_help_noun(cli->commands, words[0], stdout);
	return EX_OK;
}

int command_version(struct cli *cli)
{
	UNUSED(cli);
	printf("tenure %s\n", TENURE_VERSION);
	return EX_OK;
}

// SPDX-License-Identifier: Apache-2.0
// Help and shell completion, out of the tables of commands and options.
#include "base/base.h"

#include "cli/cli.h"

#ifndef TENURE_VERSION
#define TENURE_VERSION "development"
#endif

// Types of every Tenure, for completion alone: others work as well.
static const char *const built_in[] = { "configmaps", "namespaces", "persistentvolumes", "pods", "secrets",
	"serviceaccounts", "services" };

static void print_padded(FILE *out, struct str text, size_t width)
{
	size_t shown = text_width(text);

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

void help_all(FILE *out)
{
	fprintf(out, "usage: tenure NOUN VERB [ARGUMENTS] [OPTIONS]\n\n");
	for (const struct command *c = commands; c->noun != NULL; c++) {
		if (c->help != NULL)
			print_row(c, out);
	}
	fprintf(out, "\nIn place of \"resource TYPE\" the type alone will do: tenure configmaps list.\n"
		"Where to and as whom: TENURE_URL, TENURE_TOKEN or TENURE_TOKEN_FILE, TENURE_TENANT, or the same as options,\n"
		"or ~/.config/tenure/config. More by \"tenure help NOUN VERB\" and in tenure(1).\n");
}

void help_noun(const char *noun, FILE *out)
{
	fprintf(out, "usage: tenure %s VERB [ARGUMENTS] [OPTIONS]\n\n", noun);
	for (const struct command *c = commands; c->noun != NULL; c++) {
		if (c->help != NULL && strcmp(c->noun, noun) == 0)
			print_row(c, out);
	}
}

static void print_option(const struct option_row *row, FILE *out)
{
	char text[96];

	snprintf(text, sizeof(text), "%c%c%s%s%s%s", row->letter != 0 ? '-' : ' ', row->letter != 0 ? row->letter : ' ',
		row->letter != 0 ? ", " : "  ", row->name, row->value != NULL ? " " : "", row->value != NULL ? row->value : "");
	print_padded(out, str_c(text), 28);
	fprintf(out, "%s\n", row->help);
}

void help_command(const struct command *c, FILE *out)
{
	fprintf(out, "usage: tenure %s%s%s%s%s [OPTIONS]\n\n%c%s.\n", c->noun, c->verb != NULL ? " " : "",
		c->verb != NULL ? c->verb : "", c->arguments[0] != '\0' ? " " : "", c->arguments,
		c->help[0] - 'a' + 'A', c->help + 1);
	if (c->more[0] != '\0')
		fprintf(out, "%s\n", c->more);
	fprintf(out, "\n");
	for (size_t i = 0; i < OPT__COUNT; i++) {
		if ((c->options & HAS(i)) != 0)
			print_option(&option_rows[i], out);
	}
	for (size_t i = 0; i <= OPT_HELP; i++)
		print_option(&option_rows[i], out);
	fprintf(out, "\nExample:\n  %s\n", c->example);
}

int command_help(struct cli *cli)
{
	const char *noun = cli->n_arguments > 0 ? cli->arguments[0] : NULL;
	const char *verb = cli->n_arguments > 1 ? cli->arguments[1] : NULL;

	if (noun == NULL) {
		help_all(stdout);
		return EX_OK;
	}
	if (!noun_known(noun))
		noun = verb != NULL && is_type(noun) ? "resource" : noun;
	const struct command *command = command_find(noun, verb);
	if (!noun_known(noun) || (verb != NULL && (command == NULL || command->verb == NULL)))
		return cli_fail(EX_USAGE, "there is no command \"%s%s%s\"; see \"tenure help\"", noun, verb != NULL ? " " : "",
			verb != NULL ? verb : "");
	if (command != NULL && command->help != NULL)
		help_command(command, stdout);
	else
		help_noun(noun, stdout);
	return EX_OK;
}

int command_version(struct cli *cli)
{
	UNUSED(cli);
	printf("tenure %s\n", TENURE_VERSION);
	return EX_OK;
}

// ---- completion: candidates for the last of the words typed so far, one a line

static void offer(const char *candidate, const char *typed)
{
	if (strncmp(candidate, typed, strlen(typed)) == 0)
		printf("%s\n", candidate);
}

static void offer_nouns(const char *typed)
{
	const char *before = "";

	for (const struct command *c = commands; c->noun != NULL; c++) {
		if (c->help != NULL && strcmp(before, c->noun) != 0)
			offer(c->noun, typed);
		before = c->noun;
	}
	for (size_t i = 0; i < COUNT_OF(built_in); i++)
		offer(built_in[i], typed);
}

static void offer_verbs(const char *noun, const char *typed)
{
	for (const struct command *c = commands; c->noun != NULL; c++) {
		if (c->verb != NULL && strcmp(c->noun, noun) == 0)
			offer(c->verb, typed);
	}
}

static void offer_options(const struct command *command, const char *typed)
{
	for (size_t i = 0; i < OPT__COUNT; i++) {
		if (i <= OPT_HELP || (command != NULL && (command->options & HAS(i)) != 0))
			offer(option_rows[i].name, typed);
	}
}

int command_complete(struct cli *cli)
{
	size_t n = cli->n_arguments;
	const char *typed = n > 0 ? cli->arguments[n - 1] : "";
	const char *noun = n > 1 ? cli->arguments[0] : "";
	bool help = strcmp(noun, "help") == 0;

	if (help) {
		noun = n > 2 ? cli->arguments[1] : "";
		n--;
	}
	if (n > 1 && !noun_known(noun))
		noun = "resource";
	if (n > 1 && strcmp(cli->arguments[cli->n_arguments - 2], "--format") == 0) {
		offer("table", typed);
		offer("json", typed);
		offer("csv", typed);
	} else if (typed[0] == '-') {
		offer_options(n > 1 ? command_find(noun, n > 2 ? cli->arguments[help ? 2 : 1] : NULL) : NULL, typed);
	} else if (n <= 1) {
		offer_nouns(typed);
	} else if (n == 2) {
		offer_verbs(noun, typed);
		if (strcmp(noun, "resource") == 0 && strcmp(cli->arguments[0], "resource") != 0)
			return EX_OK;
	} else if (n == 3 && strcmp(cli->arguments[0], "resource") == 0) {
		for (size_t i = 0; i < COUNT_OF(built_in); i++)
			offer(built_in[i], typed);
	}
	return EX_OK;
}

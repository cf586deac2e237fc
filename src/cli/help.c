// SPDX-License-Identifier: Apache-2.0
// Help and shell completion, made from the tables of commands and options.
#include "base/base.h"

#include "cli/core/cli.h"

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
	for (const struct command *c = commands; c->noun != NULL; c++) {
		if (c->help != NULL)
			print_row(c, out);
	}
	fprintf(out, "\nIn place of \"resource TYPE\" the type alone will do: tenure configmaps list.\n"
		"Where to and as whom: TENURE_URL, TENURE_TOKEN or TENURE_TOKEN_FILE, TENURE_TENANT, or the same as options,\n"
		"or ~/.config/tenure/config. More by \"tenure help NOUN VERB\" and in tenure(1).\n");
}

void cli_help_noun(const struct command *commands, const char *noun, FILE *out)
{
	fprintf(out, "usage: tenure %s VERB [ARGUMENTS] [OPTIONS]\n\n", noun);
	for (const struct command *c = commands; c->noun != NULL; c++) {
		if (c->help != NULL && strcmp(c->noun, noun) == 0)
			print_row(c, out);
	}
}

static void print_options(const struct command *c, FILE *out)
{
	char takes[96];

	for (const struct field *f = NULL; (f = field_next(c, f)) != NULL;) {
		(void)snprintf(takes, sizeof(takes), "%.*s", STR_ARG(field_takes(c, f)));
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
	if (command != NULL && command->help != NULL)
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

// ---- completion: prints the candidates for the last of the words typed so far, one on each line

static void offer(const char *candidate, const char *typed)
{
	if (strncmp(candidate, typed, strlen(typed)) == 0)
		printf("%s\n", candidate);
}

// Offers the built-in types; other types work as well.
static void offer_types(const char *typed)
{
	for (const struct offered_type *type = offered_types; type->plural != NULL; type++) {
		if (type->offered)
			offer(type->plural, typed);
	}
}

static void offer_nouns(const struct command *commands, const char *typed)
{
	const char *before = "";

	for (const struct command *c = commands; c->noun != NULL; c++) {
		if (c->help != NULL && strcmp(before, c->noun) != 0)
			offer(c->noun, typed);
		before = c->noun;
	}
	offer_types(typed);
}

// Offers the next word of each verb that begins with the words before it.
static void offer_verbs(const struct command *commands, const char *const *words, size_t n, const char *typed)
{
	struct str before = STR_NONE;

	for (const struct command *c = commands; c->noun != NULL; c++) {
		struct str rest = str_c(c->verb), word = STR_NONE;
		if (c->verb == NULL || strcmp(c->noun, words[0]) != 0)
			continue;
		bool fits = str_split(&rest, ' ', &word);
		for (size_t i = 1; i < n && fits; i++)
			fits = str_eq_c(word, words[i]) && str_split(&rest, ' ', &word);
		if (fits && !str_eq(word, before) && strncmp(word.p, typed, strlen(typed)) == 0)
			printf("%.*s\n", STR_ARG(word));
		before = fits ? word : before;
	}
}

static void offer_options(const struct command *command, const char *typed)
{
	for (const struct field *f = NULL; command != NULL && (f = field_next(command, f)) != NULL;)
		offer(f->name, typed);
	for (size_t i = 0; i < OPT__COUNT; i++) {
		if (i <= OPT_HELP || (command != NULL && (command->options & HAS(i)) != 0))
			offer(option_rows[i].name, typed);
	}
}

// Offers the values of the option in the word before. False: it is no option, or has no fixed values.
static bool offer_values(const struct command *command, const char *option, const char *typed)
{
	if (strcmp(option, "--format") == 0) {
		offer("table", typed);
		offer("json", typed);
		offer("csv", typed);
		return true;
	}
	for (const struct field *f = NULL; command != NULL && (f = field_next(command, f)) != NULL;) {
		struct str values = field_takes(command, f), value;
		if (strcmp(f->name, option) != 0 || str_find(values, '|', 0) == values.n)
			continue;
		while (str_split(&values, '|', &value)) {
			// What is written in capitals stands for a value.
			if (value.n > 0 && value.p[0] >= 'a' && str_starts(value, str_c(typed)))
				printf("%.*s\n", STR_ARG(value));
		}
		return true;
	}
	return false;
}

int command_complete(struct cli *cli)
{
	const char **words = cli->arguments;
	size_t n = cli->n_arguments, used;
	const char *typed = n > 0 ? words[n - 1] : "";
	bool is_resource = n > 1 && strcmp(words[0], "resource") == 0, is_plural = false;

	if (n > 1 && strcmp(words[0], "help") == 0) {
		words++;
		n--;
	}
	if (n > 1 && !cli_noun_known(cli->commands, words[0])) {
		words[0] = "resource";
		is_plural = true;
	}
	const struct command *command = n > 1 ? command_find(cli->commands, words, n - 1, &used) : NULL;
	if (n > 1 && offer_values(command, words[n - 2], typed))
		return EX_OK;
	if (command != NULL && command->choices != NULL && n == used + 2) {
		for (const char *const *choice = command->choices; *choice != NULL; choice++)
			offer(*choice, typed);
		return EX_OK;
	}
	if (typed[0] == '-') {
		offer_options(command, typed);
	} else if (n <= 1) {
		offer_nouns(cli->commands, typed);
	} else {
		if (n == 2 || !is_plural)
			offer_verbs(cli->commands, words, n - 1, typed);
		if (n == 3 && is_resource)
			offer_types(typed);
	}
	return EX_OK;
}

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

// What an option takes, "table|json|csv"; n 0: nothing, or there is no such option of the command. command NULL: none is known yet.
static struct str option_takes(const struct command *command, const char *option)
{
	for (const struct field *f = NULL; command != NULL && (f = field_next(command, f)) != NULL;) {
		if (strcmp(f->name, option) == 0)
			return field_takes(command, f);
	}
	for (size_t i = 0; i < OPT__COUNT; i++) {
		const char letter[] = { '-', option_rows[i].letter, '\0' };
		if (strcmp(option_rows[i].name, option) == 0 || (option_rows[i].letter != 0 && strcmp(letter, option) == 0))
			return option_rows[i].value != NULL ? str_c(option_rows[i].value) : STR("");
	}
	return STR("");
}

// Offers the values that an option takes: those of a list with "|" between, in which capitals stand for any value, and those of some
// words in capitals that have few.
static void offer_values(struct str takes, const char *typed)
{
	static const struct { const char *word; struct str values; } few[] = {
		{ "VERB", STR_INIT("created|updated|deleted|recovered|moved|purged") }, { "ROLE", STR_INIT("reader|member|admin") },
	};
	struct str value;

	if (str_eq(takes, STR("TYPE")))
		offer_types(typed);
	for (size_t i = 0; i < COUNT_OF(few); i++) {
		if (str_eq_c(takes, few[i].word))
			takes = few[i].values;
	}
	if (str_find(takes, '|', 0) == takes.n)
		return;
	while (str_split(&takes, '|', &value)) {
		if (value.n > 0 && value.p[0] >= 'a' && value.p[0] <= 'z' && str_starts(value, str_c(typed)))
			printf("%.*s\n", STR_ARG(value));
	}
}

// Takes the options and their values out of the words before the last one, which is being typed. Returns how many words are left, of
// which the last is the last one still. *option: the one whose value is being typed; NULL: none is.
static size_t drop_options(const struct cli *cli, const char **words, size_t n, const char **option)
{
	size_t kept = 0, used;

	*option = NULL;
	for (size_t i = 0; i + 1 < n; i++) {
		if (words[i][0] != '-' || words[i][1] == '\0') {
			words[kept++] = words[i];
			continue;
		}
		const bool is_type = kept > 0 && !cli_noun_known(cli->commands, words[0]);
		const char *noun[] = { "resource", kept > 1 ? words[1] : NULL };
		const struct command *command = is_type ? command_find(cli->commands, noun, kept < 2 ? kept : 2, &used)
							: command_find(cli->commands, words, kept, &used);
		if (strchr(words[i], '=') != NULL || option_takes(command, words[i]).n == 0)
			continue;
		if (i + 2 == n)
			*option = words[i];
		i++; // its value
	}
	if (n > 0)
		words[kept++] = words[n - 1];
	return kept;
}

int command_complete(struct cli *cli)
{
	const char **words = cli->arguments, *option;
	size_t n = drop_options(cli, words, cli->n_arguments, &option), used = 0;
	bool is_plural = false;

	if (n > 1 && strcmp(words[0], "help") == 0) {
		words++;
		n--;
	}
	const char *typed = n > 0 ? words[n - 1] : "";
	if (n > 1 && !cli_noun_known(cli->commands, words[0])) {
		words[0] = "resource";
		is_plural = true;
	}
	const struct command *command = n > 1 ? command_find(cli->commands, words, n - 1, &used) : NULL;
	if (option != NULL) {
		offer_values(option_takes(command, option), typed);
		return EX_OK;
	}
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
		if (command != NULL && !is_plural && n == used + 1 && strncmp(command->arguments, "TYPE", strlen("TYPE")) == 0)
			offer_types(typed);
	}
	return EX_OK;
}

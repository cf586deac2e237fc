// SPDX-License-Identifier: Apache-2.0
// Shell completion, made from the tables of commands and options.
#include "base/base.h"

#include "base/completion.h"
#include "cli/command_line.h"
#include "cli/core/cli.h"
#include "cli/core/command_table.h"
#include "cli/core/fields.h"
#include "cli/core/offered_types.h"

// Offers the built-in types; other types work as well.
static void offer_types(const struct completion *completion)
{
	for (const struct offered_type *type = offered_types; type->plural != NULL; type++) {
		if (type->offered)
			completion_offer(completion, str_c(type->plural), type->kind);
	}
}

static void offer_nouns(const struct completion *completion, const struct command *commands)
{
	const char *before = "";

	for (const struct command *c = commands; c->noun != NULL; c++) {
		if (strcmp(before, c->noun) != 0)
			completion_offer(completion, str_c(c->noun), c->verb == NULL ? c->help : NULL);
		before = c->noun;
	}
	offer_types(completion);
}

// Offers the next word of each verb that begins with the words before it.
static void offer_verbs(const struct completion *completion, const struct command *commands, const char *const *words, size_t n)
{
	struct str before = STR_NONE;

	for (const struct command *c = commands; c->noun != NULL; c++) {
		struct str rest = str_c(c->verb), word = STR_NONE;
		if (c->verb == NULL || strcmp(c->noun, words[0]) != 0)
			continue;
		bool fits = str_split(&rest, ' ', &word);
		for (size_t i = 1; i < n && fits; i++)
			fits = str_eq_c(word, words[i]) && str_split(&rest, ' ', &word);
		if (fits && !str_eq(word, before))
			completion_offer(completion, word, rest.n == 0 ? c->help : NULL);
		before = fits ? word : before;
	}
}

static void offer_options(const struct completion *completion, const struct command *command)
{
	for (const struct field *f = NULL; command != NULL && (f = field_next(command, f)) != NULL;)
		completion_offer(completion, str_c(f->name), f->help);
	for (size_t i = 0; i < OPT__COUNT; i++) {
		if (i <= OPT_HELP || (command != NULL && (command->options & HAS(i)) != 0))
			completion_offer_options(completion, &option_rows[i], 1);
	}
}

// What an option takes, "table|json|csv"; n 0: nothing, or there is no such option of the command. command NULL: none is known
// yet.
static struct str option_takes(const struct command *command, const char *option)
{
	for (const struct field *f = NULL; command != NULL && (f = field_next(command, f)) != NULL;) {
		if (strcmp(f->name, option) == 0)
			return field_takes(command, f);
	}
	const struct option_row *row = completion_option(option_rows, OPT__COUNT, option);
	return row != NULL && row->value != NULL ? str_c(row->value) : STR("");
}

static void offer_values(struct completion *completion, struct str takes)
{
	static const struct completion_values few[] = {
		{ "VERB", "created|updated|deleted|recovered|moved|purged" }, { "ROLE", "reader|member|admin|operator" }, { NULL, NULL },
	};

	if (str_eq(takes, STR("TYPE")))
		offer_types(completion);
	completion_offer_values(completion, takes, few);
}

// Removes options and their values from the words before the last one, which is being typed and stays the last. Returns the
// number of words left. *option: the one whose value is being typed; NULL: none is.
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

// Offers the next word of a noun, and what the command takes as its first argument, which may be repeated: "TYPE…". used: words
// of the command.
static void offer_behind_noun(struct completion *completion, const struct cli *cli, const char *const *words, size_t n,
	const struct command *command, size_t used, bool is_plural)
{
	if (n == 2 || !is_plural)
		offer_verbs(completion, cli->commands, words, n - 1);
	if (command == NULL || is_plural || n <= used)
		return;
	struct str first = str_c(command->arguments);
	first = str_part(first, 0, str_find(first, ' ', 0));
	const bool repeats = str_ends(first, STR("…"));
	if (repeats)
		first = str_part(first, 0, first.n - strlen("…"));
	if (repeats || n == used + 1)
		offer_values(completion, first);
}

int cli_complete(struct cli *cli, bool describes)
{
	const char **words = cli->arguments, *option;
	size_t n = drop_options(cli, words, cli->n_arguments, &option), used = 0;
	bool is_plural = false, is_help = n > 1 && strcmp(words[0], "help") == 0;

	if (is_help) {
		words++;
		n--;
	}
	struct completion completion = { .typed = str_c(n > 0 ? words[n - 1] : ""), .describes = describes };
	if (n > 1 && !cli_noun_known(cli->commands, words[0])) {
		words[0] = "resource";
		is_plural = true;
	}
	const struct command *command = n > 1 ? command_find(cli->commands, words, n - 1, &used) : NULL;
	if (option != NULL) {
		offer_values(&completion, option_takes(command, option));
	} else if (command != NULL && command->choices != NULL && n == used + 2) {
		for (const char *const *choice = command->choices; *choice != NULL; choice++)
			completion_offer(&completion, str_c(*choice), NULL);
	} else if (completion.typed.n > 0 && completion.typed.p[0] == '-') {
		offer_options(&completion, command);
	} else if (n <= 1) {
		offer_nouns(&completion, cli->commands);
	} else {
		offer_behind_noun(&completion, cli, words, n, command, used, is_plural);
		completion.files = completion.files && !is_help;
	}
	return completion_exit_code(&completion);
}

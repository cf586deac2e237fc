// SPDX-License-Identifier: Apache-2.0
// Parses the command line into command, options and arguments.
#include "base/base.h"

#include "cli/command_line.h"
#include "cli/core/cli.h"
#include "cli/core/command_table.h"
#include "cli/core/fields.h"
#include "cli/core/offered_types.h"
#include "http/conditional.h"

// The options of every command.
#define EVERYWHERE (HAS(OPT_URL) | HAS(OPT_TOKEN) | HAS(OPT_TOKEN_FILE) | HAS(OPT_CA_FILE) | HAS(OPT_TIMEOUT) | \
	HAS(OPT_FORMAT) | HAS(OPT_COLUMNS) | HAS(OPT_HELP))

// The options that may stand behind the words read so far: the fields of their command, then all of option_rows, then --version.
struct known {
	const struct field *fields[OPTIONS_MAX];
	size_t n_fields;
	struct option_row rows[OPTIONS_MAX];
	size_t n;
};

static void collect_known(struct cli *cli, struct known *known)
{
	size_t used;
	const struct command *command = command_find(cli->commands, cli->arguments, cli->n_arguments, &used);
	const struct field *field = NULL;

	known->n = 0;
	while (command != NULL && (field = field_next(command, field)) != NULL) {
		struct str takes = field_takes(command, field);
		assert(known->n + OPT__COUNT + 1 < OPTIONS_MAX);
		known->fields[known->n] = field;
		known->rows[known->n++] = (struct option_row){ .name = field->name,
			.value = takes.n > 0 ? str_cstr(cli->pool, takes) : NULL, .help = field->help };
	}
	known->n_fields = known->n;
	for (size_t i = 0; i < OPT__COUNT; i++)
		known->rows[known->n++] = option_rows[i];
	known->rows[known->n++] = (struct option_row){ .name = "--version" };
}

static void take_option(struct cli *cli, const struct known *known, const struct options *options)
{
	size_t row = options->row;

	if (row < known->n_fields)
		cli->given[cli->n_given++] = (struct given){ known->fields[row], known->rows[row].value != NULL ? options->value :
			NULL };
	else if (row < known->n_fields + OPT__COUNT)
		cli->options[row - known->n_fields] = options->value;
	else
		cli->arguments[cli->n_arguments++] = "version";
}

// Separates the options from the other words, which keep their order. False: an error was printed.
static bool split(struct cli *cli, int argc, char **argv)
{
	struct options options;
	struct known known;
	size_t words = SIZE_MAX; // those for which known was collected
	enum option_kind kind;

	cli->arguments = POOL_ARRAY(cli->pool, const char *, (size_t)argc + 2);
	cli->given = POOL_ARRAY(cli->pool, struct given, (size_t)argc + 2);
	options_begin(&options, argc, argv);
	do {
		if (words != cli->n_arguments)
			collect_known(cli, &known);
		words = cli->n_arguments;
		kind = options_next(&options, known.rows, known.n);
		if (kind == OPTION_GIVEN)
			take_option(cli, &known, &options);
		else if (kind == OPTION_WORD)
			cli->arguments[cli->n_arguments++] = options.value;
	} while (kind == OPTION_GIVEN || kind == OPTION_WORD);
	if (kind == OPTION_WRONG)
		cli_fail(EX_USAGE, "%s; see \"tenure help\"", options.text);
	return kind == OPTION_END;
}

static void drop(struct cli *cli, size_t n)
{
	cli->arguments += n;
	cli->n_arguments -= n;
}

// Is it the plural of a built-in type that tenants own, or another name of one that `tenure resource` offers?
static bool is_type_of_tenants(const char *word)
{
	const char *plural = type_plural(word);

	for (const struct offered_type *t = offered_types; t->plural != NULL; t++) {
		if (t->owned && strcmp(t->plural, plural) == 0)
			return true;
	}
	return false;
}

// Takes noun and verb off the front. A type's name counts as the noun "resource" with the type as its first argument, and a
// noun's plural as the noun (tenants list).
static bool take_command(struct cli *cli)
{
	const char *noun = cli->arguments[0];
	const char *words[] = { "resource", cli->n_arguments > 1 ? cli->arguments[1] : NULL };
	size_t used;
	const char *near = cli_noun_near(cli->pool, cli->commands, noun);

	if (near != NULL && !is_type_of_tenants(noun) && str_eq(str_c(noun), str_printf(cli->pool, "%ss", near)))
		noun = cli->arguments[0] = near;

	if (cli_noun_known(cli->commands, noun)) {
		cli->command = command_find(cli->commands, cli->arguments, cli->n_arguments, &used);
		if (cli->command != NULL)
			drop(cli, used);
		if (cli->command != NULL && strcmp(noun, "resource") == 0 && cli->n_arguments > 0)
			cli->arguments[0] = type_plural(cli->arguments[0]);
		return cli->command != NULL;
	}
	cli->command = cli_is_type(noun) && words[1] != NULL ? command_find(cli->commands, words, COUNT_OF(words), &used) : NULL;
	if (cli->command == NULL)
		return false;
	drop(cli, 1);
	cli->arguments[0] = type_plural(noun);
	return true;
}

// Says that the command does not take an option of others, and which of its own is near.
static int refuse_option(const struct cli *cli, const char *option)
{
	const struct command *command = cli->command;
	const char *names[OPTIONS_MAX], *near;
	size_t n = 0;

	for (const struct field *f = NULL; (f = field_next(command, f)) != NULL && n < COUNT_OF(names);)
		names[n++] = f->name;
	for (size_t i = 0; i < OPT__COUNT && n < COUNT_OF(names); i++) {
		if (((command->options | EVERYWHERE) & HAS(i)) != 0)
			names[n++] = option_rows[i].name;
	}
	near = options_nearest_word(names, n, str_c(option));
	return cli_fail(EX_USAGE, "%s%s%s does not take %s%s%s%s", command->noun, command->verb != NULL ? " " : "",
		command->verb != NULL ? command->verb : "", option, near != NULL ? " (did you mean " : "", near != NULL ? near : "",
		near != NULL ? "?)" : "");
}

// Could the text be an etag, or a list of some? All of the service's are hexadecimal.
static bool is_tag(const char *text)
{
	struct tag_list list;

	if (!conditional_parse(str_c(text), &list) || (!list.any && list.n == 0))
		return false;
	for (size_t i = 0; i < list.n; i++) {
		for (size_t k = 0; k < list.tags[i].n; k++) {
			if (str_hex_digit(list.tags[i].p[k]) < 0)
				return false;
		}
	}
	return true;
}

static int check_options(const struct cli *cli)
{
	const char *etag = cli->options[OPT_ETAG], *if_match = cli->options[OPT_IF_MATCH];

	for (size_t i = 0; i < OPT__COUNT; i++) {
		if (cli->options[i] != NULL && ((cli->command->options | EVERYWHERE) & HAS(i)) == 0)
			return refuse_option(cli, option_rows[i].name);
	}
	// A mistyped word must not be compared as an etag, which would say that somebody changed the object.
	if (etag != NULL && strcmp(etag, "auto") != 0 && strcmp(etag, "new") != 0 && !is_tag(etag))
		return cli_fail(EX_USAGE, "--etag takes auto, new or an etag, W/ and hexadecimal digits, not \"%s\"", etag);
	if (if_match != NULL && strcmp(if_match, "auto") != 0 && !is_tag(if_match))
		return cli_fail(EX_USAGE, "--if-match takes auto or the tag of a preview, hexadecimal digits, not \"%s\"", if_match);
	if (cli->options[OPT_ETAG] != NULL && cli->options[OPT_NO_ETAG] != NULL)
		return cli_fail(EX_USAGE, "--etag and --no-etag contradict each other");
	return OPTIONS_GO_ON;
}

// `tenure undo`, say, for `tenure changes undo`.
static void fail_elsewhere(const char *typed, const struct command *command)
{
	cli_fail(0, "there is no command \"%s\"; did you mean \"%s %s\"?", typed, command->noun, command->verb);
}

static void fail_unknown(struct cli *cli, const char *noun)
{
	const char *near = cli_noun_near(cli->pool, cli->commands, noun);
	const struct command *elsewhere = cli_verb_elsewhere(cli->commands, noun);

	if (is_type_of_tenants(noun))
		cli_fail(EX_USAGE, "%s has verbs, such as \"tenure %s list\"; see \"tenure help resource\"", noun, noun);
	else if (elsewhere != NULL)
		fail_elsewhere(noun, elsewhere);
	else if (near != NULL)
		cli_fail(EX_USAGE, "there is no command \"%s\"; did you mean \"%s\"?", noun, near);
	else
		cli_fail(EX_USAGE, "there is no command \"%s\"; see \"tenure help\"", noun);
}

// A noun that is near to another may be what was mistyped, as the verb may be: any word is the name of a type that a tenant may
// have.
static void fail_verb(struct cli *cli, const char *noun, const char *verb)
{
	bool known = cli_noun_known(cli->commands, noun);
	const char *noun_near = known || is_type_of_tenants(noun) ? NULL : cli_noun_near(cli->pool, cli->commands, noun);
	const char *verb_near = cli_verb_near(cli->commands, known ? noun : "resource", verb);
	const struct command *elsewhere = known ? NULL : cli_verb_elsewhere(cli->commands, noun);
	const char *turned = known ? NULL : cli_verb_of_resources(cli->commands, noun);

	if (elsewhere != NULL)
		fail_elsewhere(noun, elsewhere);
	else if (turned != NULL)
		cli_fail(0, "the verb stands behind what it is about: did you mean \"tenure %s %s\"?", verb, turned);
	else if (noun_near != NULL)
		cli_fail(0, "there is no command \"%s\"; did you mean \"%s\"?", noun, noun_near);
	else if (!known && !cli_is_type(noun))
		cli_fail(0, "there is no command \"%s\", and a type can't be called that", noun);
	else if (verb_near != NULL)
		cli_fail(0, "%s has no verb \"%s\"; did you mean \"%s\"?", noun, verb, verb_near);
	else
		cli_fail(0, "%s has no verb \"%s\"", noun, verb);
}

int options_parse(struct cli *cli, int argc, char **argv)
{
	if (!split(cli, argc, argv))
		return EX_USAGE;
	bool help = cli->options[OPT_HELP] != NULL;
	if (cli->n_arguments == 0) {
		cli_help_all(cli->commands, help ? stdout : stderr);
		return help ? EX_OK : EX_USAGE;
	}
	const char *noun = cli->arguments[0];
	if (!take_command(cli)) {
		if (!help && cli->n_arguments > 1)
			fail_verb(cli, noun, cli->arguments[1]);
		if (cli_noun_known(cli->commands, noun) || cli->n_arguments > 1)
			cli_help_noun(cli->commands, cli_noun_known(cli->commands, noun) ? noun : "resource", help ? stdout :
				stderr);
		else
			fail_unknown(cli, noun);
		return help ? EX_OK : EX_USAGE;
	}
	if (help) {
		cli_help_command(cli->command, stdout);
		return EX_OK;
	}
	const struct command *c = cli->command;
	const char *space = c->verb != NULL ? " " : "", *verb = c->verb != NULL ? c->verb : "";
	if (cli->n_arguments < c->least || (c->most > 0 && cli->n_arguments > c->most) ||
		(c->most == 0 && c->least == 0 && cli->n_arguments > 0))
		return cli_fail(EX_USAGE, "%s%s%s takes: %s; see \"tenure help %s%s%s\"", c->noun, space, verb,
			c->arguments[0] != '\0' ? c->arguments : "no arguments", c->noun, space, verb);
	return check_options(cli);
}

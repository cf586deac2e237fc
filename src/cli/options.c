// SPDX-License-Identifier: Apache-2.0
// Parses the command line into command, options and arguments.
#include "base/base.h"

#include "cli/core/cli.h"

// The options of every command.
#define EVERYWHERE (HAS(OPT_URL) | HAS(OPT_TOKEN) | HAS(OPT_TOKEN_FILE) | HAS(OPT_CA_FILE) | HAS(OPT_TIMEOUT) | \
	HAS(OPT_FORMAT) | HAS(OPT_COLUMNS) | HAS(OPT_HELP))

static int find_long(struct str name)
{
	for (int i = 0; i < OPT__COUNT; i++) {
		if (str_eq_c(name, option_rows[i].name))
			return i;
	}
	return -1;
}

static int find_letter(char letter)
{
	for (int i = 0; i < OPT__COUNT; i++) {
		if (option_rows[i].letter == letter)
			return i;
	}
	return -1;
}

// Finds a field option of the command.
static const struct field *find_field(const struct command *command, struct str name)
{
	const struct field *field = NULL;

	while (command != NULL && (field = field_next(command, field)) != NULL) {
		if (str_eq_c(name, field->name))
			return field;
	}
	return NULL;
}

// An option of the command line: its name, the value that it takes, and the value that was given, in the same word or the next.
struct word {
	const char *name, *value;
	struct str takes;
};

// Takes the option's value, if it takes one. False: an error was printed.
static bool take_value(int argc, char **argv, int *i, struct word *word)
{ // Takes the option at argv[*i]. False: an error was printed.
	if (word->takes.n == 0 && word->value != NULL) {
		cli_fail(EX_USAGE, "%s takes no value", word->name);
		return false;
	}
	if (word->takes.n > 0 && word->value == NULL) {
		if (*i + 1 >= argc) {
			cli_fail(EX_USAGE, "%s needs a value: %.*s", argv[*i], STR_ARG(word->takes));
			return false;
		}
		word->value = argv[++*i];
	}
	return true;
}

// An option at argv[*i]. False: told.
static bool take_option(struct cli *cli, int argc, char **argv, int *i)
{ // Separates the options from the other words, which keep their order.
	bool is_long = argv[*i][1] == '-';
	struct str text = str_c(argv[*i]);
	size_t equals = str_find(text, '=', 0), used;
	struct word word = { .value = NULL };

	if (is_long && equals < text.n)
		word.value = argv[*i] + equals + 1;
	else if (!is_long && argv[*i][2] != '\0')
		word.value = argv[*i] + 2;
	const struct command *command = command_find(cli->commands, cli->arguments, cli->n_arguments, &used);
	const struct field *field = is_long ? find_field(command, str_part(text, 0, equals)) : NULL;
	int found = is_long ? find_long(str_part(text, 0, equals)) : find_letter(argv[*i][1]);
	if (field == NULL && found < 0) {
		cli_fail(EX_USAGE, "%s is no option%s; see \"tenure help\"", argv[*i],
			command != NULL ? " of this command" : "");
		return false;
	}
	word.name = field != NULL ? field->name : option_rows[found].name;
	word.takes = field != NULL ? field_takes(command, field) : str_c(option_rows[found].value);
	if (!take_value(argc, argv, i, &word))
		return false;
	if (field != NULL)
		cli->given[cli->n_given++] = (struct given){ field, word.value };
	else
		cli->options[found] = word.value != NULL ? word.value : "";
	return true;
}

// Words that are no options, in their order.
static bool split(struct cli *cli, int argc, char **argv)
{
	bool over = false;

	cli->arguments = POOL_ARRAY(cli->pool, const char *, (size_t)argc + 2);
	cli->given = POOL_ARRAY(cli->pool, struct given, (size_t)argc + 2);
	for (int i = 1; i < argc; i++) {
		if (!over && strcmp(argv[i], "--") == 0)
			over = true;
		else if (over || argv[i][0] != '-' || argv[i][1] == '\0')
			cli->arguments[cli->n_arguments++] = argv[i];
		else if (strcmp(argv[i], "--version") == 0)
			cli->arguments[cli->n_arguments++] = "version";
		else if (!take_option(cli, argc, argv, &i))
			return false;
	}
	return true;
}

static void drop(struct cli *cli, size_t n)
{
	cli->arguments += n;
	cli->n_arguments -= n;
}

// Takes noun and verb off the front. A type's plural counts as the noun "resource" with the type as its first argument.
static bool take_command(struct cli *cli)
{
	const char *noun = cli->arguments[0];
	const char *words[] = { "resource", cli->n_arguments > 1 ? cli->arguments[1] : NULL };
	size_t used;

	if (noun_known(cli->commands, noun)) {
		cli->command = command_find(cli->commands, cli->arguments, cli->n_arguments, &used);
		if (cli->command != NULL)
			drop(cli, used);
		if (cli->command != NULL && strcmp(noun, "resource") == 0 && cli->n_arguments > 0)
			cli->arguments[0] = type_plural(cli->arguments[0]);
		return cli->command != NULL;
	}
	cli->command = is_type(noun) && words[1] != NULL ? command_find(cli->commands, words, COUNT_OF(words), &used) : NULL;
	if (cli->command == NULL)
		return false;
	drop(cli, 1);
	cli->arguments[0] = type_plural(noun);
	return true;
}

static int check_options(const struct cli *cli)
{
	for (size_t i = 0; i < OPT__COUNT; i++) {
		if (cli->options[i] != NULL && ((cli->command->options | EVERYWHERE) & HAS(i)) == 0)
			return cli_fail(EX_USAGE, "%s %s does not take %s", cli->command->noun,
				cli->command->verb != NULL ? cli->command->verb : "", option_rows[i].name) + 1;
	}
	if (cli->options[OPT_ETAG] != NULL && cli->options[OPT_NO_ETAG] != NULL)
		return cli_fail(EX_USAGE, "--etag and --no-etag contradict each other") + 1;
	return 0;
}

int options_parse(struct cli *cli, int argc, char **argv)
{
	if (!split(cli, argc, argv))
		return EX_USAGE + 1;
	bool help = cli->options[OPT_HELP] != NULL;
	if (cli->n_arguments == 0) {
		help_all(cli->commands, help ? stdout : stderr);
		return (help ? EX_OK : EX_USAGE) + 1;
	}
	const char *noun = cli->arguments[0];
	if (!take_command(cli)) {
		if (!help && cli->n_arguments > 1)
			cli_fail(0, "%s has no verb \"%s\"", noun, cli->arguments[1]);
		if (noun_known(cli->commands, noun) || cli->n_arguments > 1)
			help_noun(cli->commands, noun_known(cli->commands, noun) ? noun : "resource", help ? stdout : stderr);
		else
			cli_fail(EX_USAGE, "there is no command \"%s\"; see \"tenure help\"", noun);
		return (help ? EX_OK : EX_USAGE) + 1;
	}
	if (help) {
		help_command(cli->command, stdout);
		return EX_OK + 1;
	}
	const struct command *c = cli->command;
	if (cli->n_arguments < c->least || (c->most > 0 && cli->n_arguments > c->most) ||
		(c->most == 0 && c->least == 0 && cli->n_arguments > 0))
		return cli_fail(EX_USAGE, "%s%s%s takes: %s", c->noun, c->verb != NULL ? " " : "",
			c->verb != NULL ? c->verb : "", c->arguments[0] != '\0' ? c->arguments : "no arguments") + 1;
	return check_options(cli);
}

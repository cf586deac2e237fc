// SPDX-License-Identifier: Apache-2.0
// The command line: every option there is, and how commands, options and arguments are told apart.
#include "base/base.h"

#include "cli/core/cli.h"

const struct option_row option_rows[OPT__COUNT] = {
	[OPT_URL] = { "--url", 0, "URL", "the service's endpoint" },
	[OPT_TOKEN] = { "--token", 0, "TOKEN", "who asks; others see it in the list of processes" },
	[OPT_TOKEN_FILE] = { "--token-file", 0, "FILE", "a file with the token, readable by its owner alone" },
	[OPT_CA_FILE] = { "--ca-file", 0, "FILE", "certificate authorities to trust, PEM" },
	[OPT_TIMEOUT] = { "--timeout", 0, "SECONDS", "for one call; default 60" },
	[OPT_FORMAT] = { "--format", 0, "table|json|csv", "how results are shown; default table" },
	[OPT_COLUMNS] = { "--columns", 0, "NAME,…", "which columns; a name, or a path as data.color" },
	[OPT_HELP] = { "--help", 'h', NULL, "what the command takes" },
	[OPT_TENANT] = { "--tenant", 't', "TENANT", "whose resources" },
	[OPT_NAMESPACE] = { "--namespace", 'n', "NAMESPACE", "default: \"default\"; of a list, all" },
	[OPT_ETAG] = { "--etag", 0, "TAG|auto|new", "only if it still is TAG, what was shown last, or not there" },
	[OPT_NO_ETAG] = { "--no-etag", 0, NULL, "change it whatever it is now, without a warning" },
	[OPT_RETRY] = { "--retry", 0, NULL, "when others changed other fields, merge and try again" },
	[OPT_DRY_RUN] = { "--dry-run", 0, NULL, "print the request as a line of curl, send nothing" },
	[OPT_YES] = { "--yes", 'y', NULL, "don't ask" },
	[OPT_FILE] = { "--file", 'f', "FILE", "read the document there; - is standard input" },
	[OPT_PATCH] = { "--patch", 'p', "JSON", "a JSON merge patch (RFC 7396); of bare metal a JSON Patch (RFC 6902)" },
	[OPT_DELETED] = { "--deleted", 0, NULL, "those that can be recovered" },
	[OPT_UID] = { "--uid", 0, "UID", "which one, where several were deleted" },
	[OPT_TIER] = { "--tier", 0, "TIER", "the tenant's tier" },
	[OPT_TO] = { "--to", 0, "TENANT", "where to" },
	[OPT_ALL] = { "--all", 0, NULL, "all there is; of a move: SOURCE is a tenant" },
	[OPT_PREVIEW] = { "--preview", 0, NULL, "show what would move and what is in the way" },
	[OPT_IF_MATCH] = { "--if-match", 0, "TAG|auto", "only if the preview with this tag, or the last, is still true" },
	[OPT_ASYNC] = { "--async", 0, NULL, "let it go on in the background, and watch it" },
	[OPT_NO_WAIT] = { "--no-wait", 0, NULL, "print a background move's id and leave it" },
	[OPT_FIELDS] = { "--fields", 0, "NAME,…", "ask for these members alone, and show them" },
	[OPT_LONG] = { "--long", 0, NULL, "more columns" },
	[OPT_SORT] = { "--sort", 0, "FIELD[:desc]", "in this order" },
	[OPT_LIMIT] = { "--limit", 0, "N", "not more than so many; all without it" },
	[OPT_MARKER] = { "--marker", 0, "UUID", "what comes after this one" },
	[OPT_REASON] = { "--reason", 0, "TEXT", "why" },
	[OPT_GENERATION] = { "--generation", 0, "N|auto", "only if the provider still is at N, or as it was shown last" },
	[OPT_REPLACE] = { "--replace", 0, NULL, "these and no others, with defaults for what isn't said" },
};

// What every command takes.
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

// Of the noun and verb that stand before it, if they have it.
static const struct field *find_field(const struct command *command, struct str name)
{
	const struct field *field = NULL;

	while (command != NULL && (field = field_next(command, field)) != NULL) {
		if (str_eq_c(name, field->name))
			return field;
	}
	return NULL;
}

// What an option is called, what it takes and what was given with it, in the same word or the next.
struct word {
	const char *name, *value;
	struct str takes;
};

// Its value, where it takes one. False: told.
static bool take_value(int argc, char **argv, int *i, struct word *word)
{
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
{
	bool is_long = argv[*i][1] == '-';
	struct str text = str_c(argv[*i]);
	size_t equals = str_find(text, '=', 0), used;
	struct word word = { .value = NULL };

	if (is_long && equals < text.n)
		word.value = argv[*i] + equals + 1;
	else if (!is_long && argv[*i][2] != '\0')
		word.value = argv[*i] + 2;
	const struct command *command = command_find(cli->arguments, cli->n_arguments, &used);
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

bool is_type(const char *word)
{
	struct str s = str_c(word);

	for (size_t i = 0; i < s.n; i++) {
		if (!(s.p[i] >= 'a' && s.p[i] <= 'z') && (i == 0 || strchr("0123456789.-", s.p[i]) == NULL))
			return false;
	}
	return s.n > 0;
}

// Noun and verb off the front; a type's plural is the noun "resource" with that as its first argument.
static bool take_command(struct cli *cli)
{
	const char *noun = cli->arguments[0];
	const char *words[] = { "resource", cli->n_arguments > 1 ? cli->arguments[1] : NULL };
	size_t used;

	if (noun_known(noun)) {
		cli->command = command_find(cli->arguments, cli->n_arguments, &used);
		if (cli->command != NULL)
			drop(cli, used);
		return cli->command != NULL;
	}
	cli->command = is_type(noun) && words[1] != NULL ? command_find(words, COUNT_OF(words), &used) : NULL;
	if (cli->command == NULL)
		return false;
	drop(cli, 1);
	cli->arguments[0] = noun;
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
		help_all(help ? stdout : stderr);
		return (help ? EX_OK : EX_USAGE) + 1;
	}
	const char *noun = cli->arguments[0];
	if (!take_command(cli)) {
		if (!help && cli->n_arguments > 1)
			cli_fail(0, "%s has no verb \"%s\"", noun, cli->arguments[1]);
		if (noun_known(noun) || cli->n_arguments > 1)
			help_noun(noun_known(noun) ? noun : "resource", help ? stdout : stderr);
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

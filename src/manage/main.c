// SPDX-License-Identifier: Apache-2.0
// tenure-manage: the operator's tool, which works on the database directly.
#include "base/base.h"

#include <locale.h>

#include "base/completion.h"
#include "base/descriptors.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/shared.h"
#include "manage/commands.h"
#include "server/setup/host.h"
#include "settings/settings.h"

// The Makefile defines these two.
#ifndef TENURE_SYSCONFDIR
#define TENURE_SYSCONFDIR "/etc"
#endif
#ifndef TENURE_VERSION
#define TENURE_VERSION "development"
#endif
enum { PATIENCE_S = 86400 }; // the longest time for one statement

#define TENURE_CONFIG_FILE TENURE_SYSCONFDIR "/tenure/tenure.conf"

static const char *verb_of(const struct manage_command *command)
{
	return command->verb != NULL ? command->verb : "";
}

const struct option_row manage_everywhere[ROW__COUNT] = {
	[ROW_CONFIG] = { "--config", 'c', "FILE", "configuration (default " TENURE_CONFIG_FILE ")" },
	[ROW_HELP] = { "--help", 'h', NULL, "behind a command: what it takes" },
	[ROW_VERSION] = { "--version", 'V', NULL, "print the version" },
};

enum { NAME_MAX_LENGTH = 64 };

// Writes noun, verb and arguments. Returns their length.
static int name_of(const struct manage_command *c, char name[NAME_MAX_LENGTH])
{
	return snprintf(name, NAME_MAX_LENGTH, "%s%s%s%s%s", c->noun, c->verb != NULL ? " " : "", verb_of(c),
		c->arguments[0] != '\0' ? " " : "", c->arguments);
}

// A line for each command; noun NULL: all of them, else those of that noun.
static void print_commands(FILE *out, const char *noun)
{
	char name[NAME_MAX_LENGTH];
	int width = 0;

	for (const struct manage_command *c = manage_commands; c->noun != NULL; c++)
		width = name_of(c, name) > width ? name_of(c, name) : width;
	for (const struct manage_command *c = manage_commands; c->noun != NULL; c++) {
		if (noun != NULL && strcmp(noun, c->noun) != 0)
			continue;
		(void)name_of(c, name);
		fprintf(out, "  %-*s  %s\n", width, name, c->help);
	}
}

static void print_usage(FILE *out)
{
	fprintf(out, "usage: tenure-manage [-c FILE] COMMAND [OPTIONS]\n       tenure-manage help [COMMAND]\n\n");
	print_commands(out, NULL);
	fputc('\n', out);
	options_print(out, manage_everywhere, ROW__COUNT);
	fprintf(out, "\nExit codes are those of sysexits(3) where a command names no others.\n");
}

size_t manage_command_options(const struct manage_command *command)
{
	size_t n = 0;

	while (command != NULL && n < MANAGE_MAX_OPTIONS && command->options[n].name != NULL)
		n++;
	return n;
}

static void print_command_help(const struct manage_command *c)
{
	printf("usage: tenure-manage [-c FILE] %s%s%s%s%s", c->noun, c->verb != NULL ? " " : "", verb_of(c),
		c->arguments[0] != '\0' ? " " : "", c->arguments);
	printf("%s", c->options[0].name != NULL ? " [OPTIONS]" : "");
	printf("\n\n%c%s.\n%s", c->help[0] - 'a' + 'A', c->help + 1, c->options[0].name != NULL ? "\n" : "");
	options_print(stdout, c->options, manage_command_options(c));
	if (c->more[0] != '\0')
		printf("\n%s\n", c->more);
}

const struct manage_command *manage_command_find(const char *const *words, size_t n)
{
	for (const struct manage_command *c = manage_commands; c->noun != NULL && n > 0; c++) {
		if (strcmp(c->noun, words[0]) == 0 && (c->verb == NULL || (n > 1 && strcmp(c->verb, words[1]) == 0)))
			return c;
	}
	return NULL;
}

size_t manage_command_words(const char *noun, const char **words)
{
	size_t n = 0;

	for (const struct manage_command *c = manage_commands; c->noun != NULL; c++) {
		const char *word = noun == NULL ? c->noun : strcmp(noun, c->noun) == 0 ? c->verb : NULL;
		if (word == NULL || (n > 0 && strcmp(words[n - 1], word) == 0))
			continue;
		assert(n < MANAGE_WORDS);
		words[n++] = word;
	}
	return n;
}

// The noun of the one command that has this verb; NULL: none has, or several do.
static const char *noun_of_verb(const char *verb)
{
	const char *noun = NULL;

	for (const struct manage_command *c = manage_commands; c->noun != NULL; c++) {
		if (strcmp(verb_of(c), verb) != 0)
			continue;
		if (noun != NULL)
			return NULL;
		noun = c->noun;
	}
	return noun;
}

// Says that there is no such command, and which one is near. noun NULL: the typed word should be a noun, else a verb of that
// noun; typed NULL: the verb is missing. Returns EX_USAGE.
static int refuse_command(const char *noun, const char *typed)
{
	const char *words[MANAGE_WORDS];
	size_t n = manage_command_words(noun, words);
	const char *near = typed != NULL ? options_nearest_word(words, n, str_c(typed)) : NULL;
	char list[512] = "";

	for (size_t i = 0, at = 0; i < n && at < sizeof(list); i++)
		at += (size_t)snprintf(list + at, sizeof(list) - at, "%s%s", i == 0 ? "" : ", ", words[i]);
	if (typed == NULL)
		return manage_fail(EX_USAGE, "%s needs a verb: %s; see --help", noun, list);
	if (near != NULL)
		return manage_fail(EX_USAGE, "there is no command \"%s%s%s\"; did you mean \"%s%s%s\"?", noun != NULL ? noun : "",
			noun != NULL ? " " : "", typed, noun != NULL ? noun : "", noun != NULL ? " " : "", near);
	const char *of = noun == NULL ? noun_of_verb(typed) : NULL;
	if (of != NULL)
		return manage_fail(EX_USAGE, "there is no command \"%s\"; did you mean \"%s %s\"?", typed, of, typed);
	if (noun != NULL)
		return manage_fail(EX_USAGE, "%s has no verb \"%s\"; it has: %s; see --help", noun, typed, list);
	return manage_fail(EX_USAGE, "there is no command \"%s\"; see `tenure-manage --help`", typed);
}

static bool is_noun(const char *word)
{
	const char *words[MANAGE_WORDS];
	size_t n = manage_command_words(NULL, words);

	for (size_t i = 0; i < n; i++) {
		if (strcmp(words[i], word) == 0)
			return true;
	}
	return false;
}

static void print_noun_help(const char *noun)
{
	printf("usage: tenure-manage [-c FILE] %s VERB [OPTIONS]\n\n", noun);
	print_commands(stdout, noun);
	printf("\n`tenure-manage help %s VERB` prints what a command takes.\n", noun);
}

// words: behind `help`. A command has its help, a noun that of its commands; without words all are listed. Returns the exit code.
static int print_help(const char *const *words, size_t n)
{
	const struct manage_command *command = manage_command_find(words, n);
	size_t taken = command == NULL || command->verb != NULL ? 2 : 1;

	if (n > taken)
		return manage_fail(EX_USAGE, "\"%s\" is one argument too many; see --help", words[taken]);
	if (n == 0)
		print_usage(stdout);
	else if (command != NULL)
		print_command_help(command);
	else if (!is_noun(words[0]))
		return refuse_command(NULL, words[0]);
	else if (n > 1)
		return refuse_command(words[0], words[1]);
	else
		print_noun_help(words[0]);
	return EX_OK;
}

// Takes one option from the command line. Its row is in a table that has the options of the command first, and behind them those
// of all commands. Returns OPTIONS_GO_ON, or the exit code if the program is to end.
static int take_option(struct manage *manage, const struct options *options)
{
	size_t own = manage_command_options(manage->command);
	const struct option_row *row = options->row < own ? &manage->command->options[options->row] : &manage_everywhere[options->row - own];

	if (row->value != NULL && strcmp(row->value, "FILE") == 0 && options->value[0] == '\0')
		return manage_fail(EX_USAGE, "%s: the name of the file is empty", row->name);
	if (options->row < own) {
		manage->options[options->row] = options->value;
		return OPTIONS_GO_ON;
	}
	switch (options->row - own) {
	case ROW_CONFIG:
		manage->config_path = options->value;
		return OPTIONS_GO_ON;
	case ROW_VERSION:
		printf("tenure-manage %s\n", TENURE_VERSION);
		return EX_OK;
	default:
		manage->help = true;
		return OPTIONS_GO_ON;
	}
}

// The words of a command line, without its options.
struct words {
	const char *list[2 + MANAGE_MAX_ARGUMENTS];
	size_t n;
	size_t of_command; // the first ones, which name the command; all that were read before the command is known
};

static bool wants_help(const struct words *words)
{
	return words->n > 0 && strcmp(words->list[0], "help") == 0;
}

// Adds a word, and finds the command as soon as the words name it. OPTIONS_GO_ON, or EX_USAGE after a message.
static int add_word(struct manage *manage, struct words *words, const char *word)
{
	const struct manage_command *command = manage->command;

	if (words->n == COUNT_OF(words->list) || (command != NULL && words->n == words->of_command + command->n_arguments))
		return manage_fail(EX_USAGE, "\"%s\" is one argument too many; see --help", word);
	words->list[words->n++] = word;
	if (command != NULL || wants_help(words))
		return OPTIONS_GO_ON;
	manage->command = manage_command_find(words->list, words->n);
	words->of_command = words->n;
	if (manage->command == NULL && (words->n > 1 || !is_noun(words->list[0])))
		return refuse_command(words->n > 1 ? words->list[0] : NULL, word);
	return OPTIONS_GO_ON;
}

// Reads the whole command line: the options into manage. OPTIONS_GO_ON, or an exit code.
static int read_words(struct manage *manage, int argc, char **argv, struct words *words)
{
	struct option_row rows[MANAGE_MAX_OPTIONS + ROW__COUNT];
	struct options options;

	options_begin(&options, argc, argv);
	for (;;) {
		// The options that are known change when the command is found.
		size_t own = manage_command_options(manage->command);
		if (own > 0)
			memcpy(rows, manage->command->options, own * sizeof(rows[0]));
		memcpy(rows + own, manage_everywhere, sizeof(manage_everywhere));
		enum option_kind kind = options_next(&options, rows, own + ROW__COUNT);
		if (kind == OPTION_WRONG)
			return manage_fail(EX_USAGE, "%s; see --help", options.text);
		if (kind == OPTION_END)
			return OPTIONS_GO_ON;
		int code = kind == OPTION_GIVEN ? take_option(manage, &options) : add_word(manage, words, options.value);
		if (code != OPTIONS_GO_ON)
			return code;
	}
}

// Prints the help that `help` or --help asks for. OPTIONS_GO_ON if neither was given, else the exit code.
static int answer_help(const struct manage *manage, const struct words *words)
{
	if (wants_help(words))
		return print_help(words->list + 1, words->n - 1);
	if (manage->help) // the arguments of a command don't matter
		return print_help(words->list, words->of_command);
	return OPTIONS_GO_ON;
}

// Checks that there is a command with all of its arguments, and hands these to manage. OPTIONS_GO_ON, or EX_USAGE after a
// message.
static int take_arguments(struct manage *manage, const struct words *words)
{
	const struct manage_command *command = manage->command;

	if (command == NULL && words->n > 0)
		return refuse_command(words->list[0], NULL);
	if (command == NULL) {
		print_usage(stderr);
		return EX_USAGE;
	}
	const char *space = command->verb != NULL ? " " : "";
	if (words->n - words->of_command < command->n_arguments)
		return manage_fail(EX_USAGE, "%s%s%s needs %s", command->noun, space, verb_of(command), command->arguments);
	for (size_t i = words->of_command; i < words->n; i++) {
		if (words->list[i][0] == '\0')
			return manage_fail(EX_USAGE, "%s%s%s: %s is empty", command->noun, space, verb_of(command), command->arguments);
		manage->arguments[i - words->of_command] = words->list[i];
	}
	return OPTIONS_GO_ON;
}

// Reads the command line: the command, its arguments and options. OPTIONS_GO_ON, or the exit code if the program is to end.
static int parse(struct manage *manage, int argc, char **argv)
{
	struct words words = { .n = 0 };
	int code = read_words(manage, argc, argv, &words);

	if (code == OPTIONS_GO_ON)
		code = answer_help(manage, &words);
	return code == OPTIONS_GO_ON ? take_arguments(manage, &words) : code;
}

static int open_config(struct manage *manage)
{
	char *error = NULL;
	manage->config = config_load(manage->config_path, settings_tables(), &error);
	if (manage->config == NULL) {
		if (error == NULL)
			memory_end(0);
		manage_fail(EX_CONFIG, "%s", error);
		free(error);
		return EX_CONFIG;
	}
	return EX_OK;
}

static int open_database(struct manage *manage)
{
	if (manage->command->needs == NEEDS_CONFIG)
		return EX_OK;
	manage->patient = *db_settings(manage->config);
	manage->patient.read_timeout = PATIENCE_S;
	// What takes longer than a request may, such as a dump, is begun anew as well if its connection is lost.
	manage->host = host_shared_attach(manage->config);
	manage->db = manage_db_open(manage, &manage->patient, manage->command->needs == NEEDS_WRITER ? DB_APPLICATION : DB_OPERATOR);
	db_may_idle(manage->db);
	enum db_result result = db_connect(manage->db);
	if (result == DB_OK)
		return EX_OK;
	int code = manage_connect_fail(manage, result);
	return manage->command->checks ? EXIT_FAILED : code;
}

static int run_command(struct manage *manage)
{
	int code = open_config(manage);
	if (code != EX_OK)
		return manage->command->checks ? EXIT_FAILED : code;
	code = open_database(manage);
	if (code == EX_OK)
		code = manage->command->run(manage);
	if (manage->db != NULL)
		db_close(&manage->db);
	shared_close(&manage->host);
	config_free(&manage->config);
	return code;
}

int main(int argc, char **argv)
{
	struct manage manage = { .config_path = TENURE_CONFIG_FILE };
	descriptors_occupy();
	setlocale(LC_CTYPE, "C.UTF-8"); // for the width of characters
	log_open("tenure-manage", LOG_SINK_STDERR, LOG_LEVEL_ERROR);
	memory_end_with_code(NULL);
	bool describes;
	if (completion_wanted(argc, argv, &describes))
		return manage_complete((const char *const *)(argv + 2), (size_t)argc - 2, describes);
	int code = parse(&manage, argc, argv);
	if (code != OPTIONS_GO_ON)
		return code;
	manage.pool = pool_new_or_end();
	code = run_command(&manage);
	pool_free(&manage.pool);
	if (fflush(stdout) != 0 || ferror(stdout))
		return manage_fail(EX_IOERR, "can't write the output");
	return code;
}

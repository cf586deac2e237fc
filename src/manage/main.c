// SPDX-License-Identifier: Apache-2.0
// tenure-manage: the operator's tool, which works on the database directly.
#include "base/base.h"

#include "base/log.h"
#include "manage/manage.h"

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

static void print_usage(FILE *out)
{
	fprintf(out, "usage: tenure-manage [-c FILE] COMMAND [OPTIONS]\n\n");
	for (const struct manage_command *c = manage_commands; c->noun != NULL; c++) {
		char name[64];
		snprintf(name, sizeof(name), "%s%s%s%s%s", c->noun, c->verb != NULL ? " " : "", verb_of(c),
			c->arguments[0] != '\0' ? " " : "", c->arguments);
		fprintf(out, "  %-18s %s\n", name, c->help);
	}
	fprintf(out, "\n  -c FILE            configuration (default %s)\n", TENURE_CONFIG_FILE);
	fprintf(out, "  COMMAND --help     what a command takes\n");
	fprintf(out, "  --version\n\nExit codes are those of sysexits(3) where a command names no others.\n");
}

static void print_command_help(const struct manage_command *c)
{
	printf("usage: tenure-manage [-c FILE] %s%s%s%s%s", c->noun, c->verb != NULL ? " " : "", verb_of(c),
		c->arguments[0] != '\0' ? " " : "", c->arguments);
	printf("%s", c->options[0].name != NULL ? " [OPTIONS]" : "");
	printf("\n\n%c%s.\n", c->help[0] - 'a' + 'A', c->help + 1);
	for (const struct manage_option *o = c->options; o < c->options + MANAGE_MAX_OPTIONS && o->name != NULL; o++) {
		char name[64];
		snprintf(name, sizeof(name), "%s%s%s", o->name, o->value != NULL ? " " : "", o->value != NULL ? o->value : "");
		printf("%s  %-24s %s\n", o == c->options ? "\n" : "", name, o->help);
	}
	if (c->more[0] != '\0')
		printf("\n%s\n", c->more);
}

// Takes the global options off the front. *at: the index of the command's noun. 0: go on; else the program ends with the
// returned value minus 1.
static int parse_globals(struct manage *manage, int argc, char **argv, int *at)
{
	int i = 1;
	for (; i < argc && argv[i][0] == '-'; i++) {
		if (strcmp(argv[i], "-c") == 0 && i + 1 < argc) {
			manage->config_path = argv[++i];
		} else if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0) {
			print_usage(stdout);
			return EX_OK + 1;
		} else if (strcmp(argv[i], "--version") == 0) {
			printf("tenure-manage %s\n", TENURE_VERSION);
			return EX_OK + 1;
		} else {
			print_usage(stderr);
			return EX_USAGE + 1;
		}
	}
	*at = i;
	return 0;
}

// Finds the command of argv[*at] and, if it has one, the verb behind it; moves *at behind them.
static const struct manage_command *find_command(int argc, char **argv, int *at)
{
	for (const struct manage_command *c = manage_commands; c->noun != NULL && *at < argc; c++) {
		if (strcmp(c->noun, argv[*at]) != 0)
			continue;
		if (c->verb == NULL) {
			*at += 1;
			return c;
		}
		if (*at + 1 < argc && strcmp(c->verb, argv[*at + 1]) == 0) {
			*at += 2;
			return c;
		}
	}
	return NULL;
}

// Takes one option at argv[*i], "--name value" or "--name=value". False: the command has no such option, or its value is
// missing.
static bool parse_option(struct manage *manage, int argc, char **argv, int *i)
{
	const char *equals = strchr(argv[*i], '=');
	size_t n = equals != NULL ? (size_t)(equals - argv[*i]) : strlen(argv[*i]);
	for (size_t k = 0; k < MANAGE_MAX_OPTIONS && manage->command->options[k].name != NULL; k++) {
		const struct manage_option *o = &manage->command->options[k];
		if (strlen(o->name) != n || strncmp(o->name, argv[*i], n) != 0)
			continue;
		if (o->value == NULL)
			manage->options[k] = "";
		else if (equals != NULL)
			manage->options[k] = equals + 1;
		else if (*i + 1 < argc)
			manage->options[k] = argv[++*i];
		else
			return false;
		return o->value != NULL || equals == NULL;
	}
	return false;
}

// Parses the command's own words. 0: go on; else the program ends with the returned value minus 1.
static int parse_command(struct manage *manage, int argc, char **argv, int at)
{
	size_t n = 0;
	bool options_over = false;
	for (int i = at; i < argc; i++) {
		if (!options_over && strcmp(argv[i], "--") == 0) {
			options_over = true;
		} else if (!options_over && (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0)) {
			print_command_help(manage->command);
			return EX_OK + 1;
		} else if (!options_over && argv[i][0] == '-' && argv[i][1] != '\0') {
			const char *word = argv[i];
			if (!parse_option(manage, argc, argv, &i))
				return manage_fail(EX_USAGE, "%s: unknown, or its value is missing or one too many; see --help", word) + 1;
		} else if (n < manage->command->n_arguments) {
			manage->arguments[n++] = argv[i];
		} else {
			return manage_fail(EX_USAGE, "\"%s\" is one argument too many; see --help", argv[i]) + 1;
		}
	}
	if (n < manage->command->n_arguments)
		return manage_fail(EX_USAGE, "%s %s needs %s", manage->command->noun, verb_of(manage->command),
			manage->command->arguments) + 1;
	return 0;
}

static int open_config(struct manage *manage)
{
	char *error = NULL;
	manage->config = config_load(manage->config_path, &error);
	if (manage->config == NULL) {
		manage_fail(EX_CONFIG, "%s", error != NULL ? error : "no memory");
		free(error);
		return EX_CONFIG;
	}
	return EX_OK;
}

static int open_database(struct manage *manage)
{
	if (manage->command->needs == NEEDS_CONFIG)
		return EX_OK;
	manage->patient = *manage->config;
	manage->patient.db_read_timeout = PATIENCE_S;
	manage->db = manage->command->needs == NEEDS_WRITER ? db_open(&manage->patient, false) : db_open(manage->config, true);
	enum db_result result = db_connect(manage->db);
	if (result == DB_OK)
		return EX_OK;
	manage_db_fail(manage, result, "can't connect to the database");
	return manage->command->checks ? EXIT_FAILED : result == DB_LOST ? EX_TEMPFAIL : EX_CONFIG;
}

static int run_command(struct manage *manage)
{
	int code = open_config(manage);
	if (code != EX_OK)
		return code;
	code = open_database(manage);
	if (code == EX_OK)
		code = manage->command->run(manage);
	if (manage->db != NULL)
		db_close(&manage->db);
	config_free(&manage->config);
	return code;
}

int main(int argc, char **argv)
{
	struct manage manage = { .config_path = TENURE_CONFIG_FILE };
	log_open("tenure-manage", LOG_SINK_STDERR, LOG_LEVEL_ERROR);
	int at = 0;
	int over = parse_globals(&manage, argc, argv, &at);
	if (over != 0)
		return over - 1;
	manage.command = find_command(argc, argv, &at);
	if (manage.command == NULL) {
		print_usage(stderr);
		return EX_USAGE;
	}
	over = parse_command(&manage, argc, argv, at);
	if (over != 0)
		return over - 1;
	manage.pool = pool_new();
	if (manage.pool == NULL)
		return manage_fail(EX_OSERR, "no memory");
	int code = run_command(&manage);
	pool_free(&manage.pool);
	if (fflush(stdout) != 0)
		return manage_fail(EX_IOERR, "can't write the output");
	return code;
}

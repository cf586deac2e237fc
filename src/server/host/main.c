// SPDX-License-Identifier: Apache-2.0
// tenured-host: the host service as a program of its own. See tenured-host(8).
#include "base/base.h"

#include <signal.h>
#include <sysexits.h>
#include <unistd.h>

#include "base/config/config.h"
#include "base/log.h"
#include "base/options.h"
#include "base/shared.h"
#include "server/host/host.h"
#include "server/setup/host.h"
#include "server/setup/identity.h"
#include "server/setup/notify.h"
#include "server/setup/settings.h"
#include "server/setup/setup.h"
#include "server/setup/signals.h"
#include "settings/settings.h"

#define PROGRAM "tenured-host"

enum { ROW_CONFIG, ROW_PID_FILE, ROW_TEST, ROW_VERSION, ROW_HELP, ROW__COUNT };
static const struct option_row rows[ROW__COUNT] = {
	[ROW_CONFIG] = { "--config", 'c', "FILE", "the configuration, tenure.conf(5)" },
	[ROW_PID_FILE] = { "--pid-file", 'p', "FILE", "write the process id there" },
	[ROW_TEST] = { "--test", 't', NULL, "check the configuration, then stop" },
	[ROW_VERSION] = { "--version", 'V', NULL, "print the version" },
	[ROW_HELP] = { "--help", 'h', NULL, "print this" },
};

static void print_usage(FILE *out)
{
	fputs("usage: " PROGRAM " -c FILE [-p PIDFILE] [-t]\n\n", out);
	options_print(out, rows, ROW__COUNT);
	fputs("\nDoes what a host needs once: queued moves, and the purge of what is past its retention.\n", out);
}

static int usage_error(const char *what, const char *argument)
{
	fprintf(stderr, PROGRAM ": %s%s\n", what, argument);
	print_usage(stderr);
	return EX_USAGE;
}

// Fills given by rows. Returns -1 to go on, otherwise the exit code.
static int read_options(int argc, char **argv, const char *given[ROW__COUNT])
{
	struct options options;
	enum option_kind kind;

	options_begin(&options, argc, argv);
	while ((kind = options_next(&options, rows, ROW__COUNT)) == OPTION_GIVEN) {
		given[options.row] = options.value;
		if (options.row == ROW_VERSION) {
			puts(PROGRAM " " TENURE_VERSION);
			return EX_OK;
		}
		if (options.row == ROW_HELP) {
			print_usage(stdout);
			return EX_OK;
		}
	}
	if (kind == OPTION_WRONG)
		return usage_error(options.text, "");
	if (kind == OPTION_WORD)
		return usage_error("it takes options alone, not ", options.value);
	return given[ROW_CONFIG] != NULL ? -1 : usage_error("-c FILE is needed", "");
}

static int complain(char *error, int code)
{
	log_error("%s", error != NULL ? error : "no memory");
	free(error);
	return code;
}

static int serve(const char *path, const char *pid_file, struct config **config)
{
	const struct host_options options = { .path = path, .program = PROGRAM };
	sigset_t signals;
	char *error = NULL;

	if (!identity_become(server_settings(*config)->user, server_settings(*config)->group, &error))
		return complain(error, EX_OSERR);
	signals_fill(&signals);
	sigaddset(&signals, SIGCHLD);
	(void)sigprocmask(SIG_BLOCK, &signals, NULL);
	if (pid_file != NULL && !notify_write_pid(pid_file, &error))
		return complain(error, EX_CANTCREAT);
	struct shared *shared = host_shared_open(*config);
	int code = host_main(&options, config, shared);
	shared_close(&shared);
	if (pid_file != NULL)
		(void)unlink(pid_file);
	log_info("stopped");
	return code;
}

int main(int argc, char **argv)
{
	const char *given[ROW__COUNT] = { NULL };
	char *error = NULL;
	int code = read_options(argc, argv, given);

	if (code >= 0)
		return code;
	(void)signal(SIGPIPE, SIG_IGN);
	log_open(PROGRAM, LOG_SINK_STDERR, LOG_LEVEL_INFO);
	struct config *config = config_load(given[ROW_CONFIG], settings_tables(), &error);
	if (config == NULL)
		return complain(error, EX_CONFIG);
	if (given[ROW_TEST] != NULL) {
		puts("Syntax OK");
		config_free(&config);
		return EX_OK;
	}
	setup_open_error_log(config, PROGRAM);
	code = serve(given[ROW_CONFIG], given[ROW_PID_FILE], &config);
	config_free(&config);
	return code;
}

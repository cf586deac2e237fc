// SPDX-License-Identifier: Apache-2.0
// tenured-host: the host service as a program of its own. See tenured-host(8).
#include "base/base.h"

#include <signal.h>
#include <sysexits.h>
#include <unistd.h>

#include "base/config/config.h"
#include "base/descriptors.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/shared.h"
#include "server/host/host.h"
#include "server/setup/command_line.h"
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

static const struct command_line command_line = {
	.program = PROGRAM,
	.synopsis = "-c FILE [-p PIDFILE] [-t]",
	.about = "Does what a host needs once: queued moves, the purge of what is past its retention, usage, and webhooks.",
	.rows = rows,
	.n = ROW__COUNT,
};

static int complain(char *error, int code)
{
	if (error == NULL)
		memory_end(0);
	log_error("%s", error);
	free(error);
	return code;
}

// Becomes the user that the configuration names. Each reload reads the configuration as that user, so the start fails if it can't
// be read.
static bool become_user(const char *path, const struct config *config, char **error)
{
	if (!identity_changes(server_settings(config)->user))
		return true;
	if (!identity_become(server_settings(config)->user, server_settings(config)->group, error))
		return false;
	struct config *again = config_load(path, settings_tables(), error);
	bool good = again != NULL;
	config_free(&again);
	return good;
}

static int serve(const char *path, const char *pid_file, struct config **config)
{
	const struct host_options options = { .path = path, .program = PROGRAM };
	sigset_t signals;
	char *error = NULL;

	if (!become_user(path, *config, &error))
		return complain(error, EX_CONFIG);
	signals_fill(&signals);
	sigaddset(&signals, SIGCHLD);
	(void)sigprocmask(SIG_BLOCK, &signals, NULL);
	if (pid_file != NULL && !notify_write_pid(pid_file, &error))
		return complain(error, EX_CANTCREAT);
	struct shared *shared = host_shared_open(*config);
	int code = host_main(&options, config, shared);
	shared_close(&shared);
	if (pid_file != NULL)
		notify_remove_pid(pid_file);
	log_info("stopped");
	return code;
}

int main(int argc, char **argv)
{
	const char *given[ROW__COUNT] = { NULL };
	char *error = NULL;

	descriptors_occupy();
	int code = command_line_read(&command_line, argc, argv, given);
	if (code != OPTIONS_GO_ON)
		return code;
	memory_end_with_code(NULL);
	if (given[ROW_CONFIG] == NULL)
		return command_line_refuse(&command_line, "-c FILE is needed", "");
	(void)signal(SIGPIPE, SIG_IGN);
	log_open(PROGRAM, LOG_SINK_STDERR, LOG_LEVEL_INFO);
	struct config *config = config_load(given[ROW_CONFIG], settings_tables(), &error);
	if (config == NULL)
		return complain(error, EX_CONFIG);
	bool good = setup_check_user(config, &error);
	if (good && given[ROW_TEST] != NULL)
		puts("Syntax OK");
	if (!good || given[ROW_TEST] != NULL) {
		config_free(&config);
		return good ? EX_OK : complain(error, EX_CONFIG);
	}
	setup_open_error_log(config, PROGRAM);
	code = serve(given[ROW_CONFIG], given[ROW_PID_FILE], &config);
	config_free(&config);
	return code;
}

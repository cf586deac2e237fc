// SPDX-License-Identifier: Apache-2.0
// tenured: the FastCGI application. See tenured(8).
#include "base/base.h"

#ifdef __GLIBC__
#include <malloc.h>
#endif
#include <signal.h>
#include <sysexits.h>
#include <unistd.h>

#include "base/descriptors.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/shared.h"
#include "server/master.h"
#include "server/setup/command_line.h"
#include "server/setup/host.h"
#include "server/setup/identity.h"
#include "server/setup/listen.h"
#include "server/setup/notify.h"
#include "server/setup/settings.h"
#include "server/setup/setup.h"
#include "server/setup/signals.h"
#include "server/worker.h"

// What the command line asks for.
struct start {
	struct master_options master;
	bool test;
};

enum { ROW_CONFIG, ROW_ENDPOINT, ROW_PID_FILE, ROW_TEST, ROW_VERSION, ROW_HELP, ROW__COUNT };
static const struct option_row rows[ROW__COUNT] = {
	[ROW_CONFIG] = { "--config", 'c', "FILE", "the configuration, tenure.conf(5)" },
	[ROW_ENDPOINT] = { "--endpoint", 'e', "NAME", "which of its endpoints to serve" },
	[ROW_PID_FILE] = { "--pid-file", 'p', "FILE", "write the master's process id there" },
	[ROW_TEST] = { "--test", 't', NULL, "check the configuration, the endpoint's WADL and its access log, then stop" },
	[ROW_VERSION] = { "--version", 'V', NULL, "print the version" },
	[ROW_HELP] = { "--help", 'h', NULL, "print this" },
};

static const struct command_line command_line = {
	.program = "tenured",
	.synopsis = "-c FILE -e ENDPOINT [-p PIDFILE] [-t]",
	.about = "With a listening socket on descriptor 0 it serves that as one worker; else it opens the endpoint's\n"
		 "socket, or takes the one systemd hands over (LISTEN_FDS), and starts workers on it.",
	.rows = rows,
	.n = ROW__COUNT,
};

// Returns OPTIONS_GO_ON, or the exit code.
static int read_options(int argc, char **argv, struct start *start)
{
	const char *given[ROW__COUNT] = { NULL };
	int code = command_line_read(&command_line, argc, argv, given);

	if (code != OPTIONS_GO_ON)
		return code;
	if (given[ROW_CONFIG] == NULL || given[ROW_ENDPOINT] == NULL)
		return command_line_refuse(&command_line, "-c FILE and -e ENDPOINT are needed", "");
	start->master.config = given[ROW_CONFIG];
	start->master.endpoint = given[ROW_ENDPOINT];
	start->master.pid_file = given[ROW_PID_FILE];
	start->test = given[ROW_TEST] != NULL;
	return OPTIONS_GO_ON;
}

static int complain(char *error, int code)
{
	if (error == NULL)
		memory_end(0);
	log_error("%s", error);
	free(error);
	return code;
}

// Says what is wrong with the configuration, or that nothing is. setup: what was loaded of it; NULL: *error says why not. Returns
// the exit code.
static int test(const struct setup *setup, char **error)
{
	int code = setup == NULL ? EX_CONFIG : setup_check_logs(setup, error);

	if (code == EX_OK) {
		puts("Syntax OK");
		return EX_OK;
	}
	if (*error == NULL)
		memory_end(0);
	fprintf(stderr, "%s\n", *error);
	free(*error);
	*error = NULL;
	return code;
}

// How many processes serve the endpoint. A web server that starts them itself says so by TENURE_PROCESSES; httpd-conf/ shows how.
static unsigned count_processes(void)
{
	const char *text = getenv("TENURE_PROCESSES");
	uint64_t n = 1;

	if (text != NULL && (!str_to_u64(str_c(text), &n) || n < 1 || n > SHARED_PROCESSES)) {
		log_warning("TENURE_PROCESSES is \"%s\": a number from 1 to %d", text, SHARED_PROCESSES);
		n = 1;
	}
	return (unsigned)n;
}

// Runs one worker without a master: a web server, or systemd, started this process with the socket on descriptor 0.
static int serve_alone(struct setup *setup)
{
	sigset_t signals;
	int code;

	signals_fill(&signals);
	(void)sigprocmask(SIG_BLOCK, &signals, NULL);
	notify_supervisor("READY=1");
	struct worker_tools tools = { .watch_fd = -1, .sender_fd = -1, .processes = count_processes(), .host =
		host_shared_open(setup->config) };
	code = worker_run(setup, STDIN_FILENO, &tools);
	shared_close(&tools.host);
	setup_free(&setup);
	return code;
}

static int serve(const struct start *start, struct setup *setup)
{
	struct listener listener = { .fd = -1 };
	char *error = NULL;

	int code = listen_inherited(&listener.fd, &error) ? EX_OK : EX_CONFIG;
	if (code == EX_OK && listener.fd < 0)
		code = listen_open(&listener, setup->endpoint_settings, &error);
	if (code != EX_OK) {
		setup_free(&setup);
		return complain(error, code);
	}
	return master_run(&start->master, setup, &listener);
}

// Sets the size from which malloc takes memory directly from the system and returns it there, so that large allocations leave no
// holes between small ones. By default glibc raises this size to the largest such allocation that was ever freed.
static void settle_memory(void)
{
#ifdef __GLIBC__
	(void)mallopt(M_MMAP_THRESHOLD, 512 << 10);
	(void)mallopt(M_TRIM_THRESHOLD, 4 << 20);
#endif
}

int main(int argc, char **argv)
{
	struct start start = { .test = false };
	char *error = NULL;

	descriptors_occupy();
	int code = read_options(argc, argv, &start);
	if (code >= 0)
		return code;
	memory_end_with_code(NULL);
	settle_memory();
	(void)signal(SIGPIPE, SIG_IGN); // if the reader of the log goes away, the process goes on
	log_open("tenured", LOG_SINK_STDERR, LOG_LEVEL_INFO);
	struct setup *setup = setup_load(start.master.config, start.master.endpoint, &error);
	if (start.test) {
		code = test(setup, &error);
		setup_free(&setup);
		return code;
	}
	if (setup == NULL)
		return complain(error, EX_CONFIG);
	bool is_alone = listen_is_socket(STDIN_FILENO); // without a master it stays the user that it is
	code = setup_make_logs(setup);
	if (code == EX_OK)
		code = setup_open_logs(setup, !is_alone && identity_changes(setup->settings->user));
	if (code != EX_OK) {
		setup_free(&setup);
		return code;
	}
	return is_alone ? serve_alone(setup) : serve(&start, setup);
}

// SPDX-License-Identifier: Apache-2.0
// Processes that ask another service: where their log lines go.
#include "base/base.h"

#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "auth/core/fetch.h"
#include "base/log.h"
#include "tap.h"

// As libcurl does at its first exchange, this opens two sockets, which get the lowest numbers that are free.
static void log_a_line(void *arg)
{
	int pair[2];

	(void)arg;
	if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair) == 0)
		log_error("the issuer is away");
}

// The socket that syslog(3) sends to, in a mount namespace of this process's own. -1: none can be made here.
static int open_syslog(void)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX, .sun_path = "/dev/log" };
	int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	if (unshare(CLONE_NEWNS) != 0 && unshare(CLONE_NEWUSER | CLONE_NEWNS) != 0)
		return -1;
	if (mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0 || mount("tenure", "/dev", "tmpfs", 0, NULL) != 0)
		return -1;
	return bind(fd, (const struct sockaddr *)&address, sizeof(address)) == 0 ? fd : -1;
}

enum { ARRIVED, LOST, NOT_HERE };

// Does a line that such a process logs arrive at syslog? Runs in a process of its own, whose exit status says so.
static int log_to_syslog(void)
{
	char line[1024] = "";
	int fd = open_syslog();

	if (fd < 0)
		return NOT_HERE;
	(void)alarm(60);
	log_open("tenured", LOG_SINK_SYSLOG, LOG_LEVEL_INFO);
	if (!fetch_apart(log_a_line, NULL))
		return LOST;
	(void)setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &(struct timeval){ .tv_sec = 10 }, sizeof(struct timeval));
	return recv(fd, line, sizeof(line) - 1, 0) > 0 && strstr(line, "tenured") != NULL && strstr(line, "the issuer is away") != NULL
		? ARRIVED : LOST;
}

static void test_syslog(void)
{
	int status = 0;

	fflush(stdout);
	pid_t pid = fork();
	if (pid == 0)
		_exit(log_to_syslog());
	if (pid < 0 || waitpid(pid, &status, 0) != pid || !WIFEXITED(status))
		bail_out("the other process did not end");
	if (WEXITSTATUS(status) == NOT_HERE)
		diag("no file system can be mounted here, so there is no syslog to test with");
	else
		is_int(WEXITSTATUS(status), ARRIVED, "a process that asks another service logs to syslog");
}

int main(void)
{
	test_syslog();
	return done_testing();
}

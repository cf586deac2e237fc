// SPDX-License-Identifier: Apache-2.0
// Processes that ask another service: where their log lines go, and who has what they fetched.
#include "base/base.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "auth/core/auth.h"
#include "auth/core/fetch.h"
#include "auth/jwt/jwt_settings.h"
#include "auth/jwt/jwt_source.h"
#include "base/clock.h"
#include "base/log.h"
#include "set.h"
#include "settings/settings.h"
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
	if (mount("none", "/", "none", MS_REC | MS_PRIVATE, NULL) != 0 || mount("tenure", "/dev", "tmpfs", 0, NULL) != 0)
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

// Nothing is to be done: it is about whether the caller is told that a process was started.
static void do_nothing(void *arg)
{
	(void)arg;
}

// A worker that no master has started ignores SIGCHLD, so that the kernel takes its children away.
static void test_children_unseen(void)
{
	(void)signal(SIGCHLD, SIG_IGN);
	ok(fetch_apart(do_nothing, NULL), "a process is started where SIGCHLD is ignored, too, and said to be");
	(void)signal(SIGCHLD, SIG_DFL);
}

// ---- the listening socket

enum { BEGINS, RUNS, MAY_END };

// Says in shared memory that it runs, and ends when it is told to.
static void run_until_told(void *arg)
{
	_Atomic int *state = arg;

	atomic_store(state, RUNS);
	for (int tries = 0; tries < 6000 && atomic_load(state) != MAY_END; tries++)
		(void)usleep(10000);
}

// Descriptor 0 of a worker that a web server has started is the listening socket. When the worker ends, nobody must listen there
// any more, although a process that it started goes on.
static void test_listening_socket(void)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX }; // the system finds a name for it
	socklen_t size = sizeof(address.sun_family);
	int listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0), client = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	int input = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3);
	_Atomic int *state = mmap(NULL, sizeof(*state), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	if (state == MAP_FAILED || bind(listener, (const struct sockaddr *)&address, size) != 0 || listen(listener, 8) != 0)
		bail_out("no listening socket");
	size = sizeof(address);
	if (getsockname(listener, (struct sockaddr *)&address, &size) != 0 || dup2(listener, STDIN_FILENO) != STDIN_FILENO)
		bail_out("it can't be descriptor 0");
	(void)close(listener);
	ok(fetch_apart(run_until_told, (void *)(uintptr_t)state), "a process of a worker whose descriptor 0 is the listening socket");
	for (int tries = 0; tries < 6000 && atomic_load(state) != RUNS; tries++)
		(void)usleep(10000);
	is_int(atomic_load(state), RUNS, "works");
	(void)dup2(input, STDIN_FILENO);
	ok(connect(client, (const struct sockaddr *)&address, size) != 0 && errno == ECONNREFUSED, "the worker's end leaves nobody who listens");
	atomic_store(state, MAY_END);
	(void)close(client);
	(void)close(input);
	(void)munmap((void *)(uintptr_t)state, sizeof(*state));
}

// ---- keys of an issuer

#define KEYS "{\"keys\":[{\"kid\":\"new\",\"kty\":\"OKP\",\"crv\":\"Ed25519\",\"x\":\"11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo\"}]}"
static const char answer[] = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nConnection: close\r\n\r\n" KEYS;

// Answers each request with the keys, until it is killed.
_Noreturn static void serve(int listener)
{
	char request[4096];

	for (;;) {
		int client = accept(listener, NULL, NULL);
		if (read(client, request, sizeof(request)) > 0)
			(void)!write(client, answer, sizeof(answer) - 1);
		(void)close(client);
	}
}

static pid_t start_issuer(char url[64])
{
	struct sockaddr_in address = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t size = sizeof(address);
	int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (bind(listener, (const struct sockaddr *)&address, size) != 0 || listen(listener, 8) != 0 ||
		getsockname(listener, (struct sockaddr *)&address, &size) != 0)
		bail_out("no issuer");
	(void)snprintf(url, 64, "http://127.0.0.1:%d/keys", ntohs(address.sin_port));
	fflush(stdout);
	pid_t pid = fork();
	if (pid == 0)
		serve(listener);
	(void)close(listener);
	return pid;
}

static enum jwt_verdict verify_by_gone(struct jwt_source *source, bool may_wait)
{
	bool changed;

	(void)jwt_source_look(source, &changed);
	return jwt_source_verify(source, may_wait, STR("gone"), SIGNATURE_EDDSA, STR("data"), STR("signature"));
}

// A watch looks at its token each 1 to 15 seconds, so it has fetched keys when keys_retry may be over.
static void test_withdrawn_key(void)
{
	char url[64], *error = NULL;
	pid_t issuer = start_issuer(url);
	struct config *config = config_new(settings_tables());
	struct jwt_settings *settings = SET(config, jwt);

	settings->jwks_url = url;
	settings->keys_retry = 1;
	struct jwt_source *source =
		jwt_source_new(&(struct auth_setup){ .config = config, .endpoint = config_add_endpoint(config, STR("service")) }, &error);
	if (source == NULL)
		bail_out(error);
	is_int(verify_by_gone(source, true), JWT_UNKNOWN_KEY, "the keys are fetched, and that of the token is gone");
	clock_pause_ms(1100);
	is_int(verify_by_gone(source, false), JWT_UNKNOWN_KEY, "a watch believes so when it looks next, though keys_retry is over");
	jwt_source_free(&source);
	config_free(&config);
	(void)kill(issuer, SIGKILL);
	(void)waitpid(issuer, NULL, 0);
}

int main(void)
{
	test_syslog();
	test_children_unseen();
	test_listening_socket();
	test_withdrawn_key();
	return done_testing();
}

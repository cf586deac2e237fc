// SPDX-License-Identifier: Apache-2.0
// A watch's connection is closed while the worker that handed it over has it open still: no event of it comes any more. A watch
// begins with a file that its client is slow to take. The place of a watch that can't be taken over is given back.
#include "base/base.h"

#include <glob.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "api/spaces/watch/watcher.h"
#include "base/log.h"
#include "server/request/limits_internal.h"
#include "server/setup/host.h"
#include "server/setup/settings.h"
#include "server/watch/client.h"
#include "server/wire/handover.h"
#include "set.h"
#include "settings/settings.h"
#include "tap.h"

// What these functions ask of a watcher.
struct watcher {
	int nothing;
};

static struct watcher the_watcher;

struct watcher *watcher_new(struct str order)
{
	(void)order;
	return &the_watcher;
}

void watcher_free(struct watcher **watcher)
{
	*watcher = NULL;
}

unsigned watcher_seconds(const struct watcher *watcher)
{
	(void)watcher;
	return 300;
}

static int count_events(int epoll_fd)
{
	struct epoll_event events[4];

	return epoll_wait(epoll_fd, events, COUNT_OF(events), 0);
}

enum { FILE_BYTES = 3 << 20, PADDING_BYTES = STREAM_HEAD + 1, END_BYTES = STREAM_HEAD + STREAM_HEAD + 8 };

// A file in memory of the byte 'b', as a worker hands it over.
static int file_of_initial_events(void)
{
	int file = memfd_create("initial events", MFD_CLOEXEC);
	char *text = malloc(FILE_BYTES);

	assert(text != NULL);
	memset(text, 'b', FILE_BYTES);
	ok(write(file, text, FILE_BYTES) == FILE_BYTES, "a file of initial events");
	free(text);
	return file;
}

// Reads what has arrived, and counts it. False: one of the bytes of the file is wrong, or comes behind others.
static bool take(int fd, size_t *taken)
{
	static char bytes[1 << 16];
	ssize_t n;

	while ((n = recv(fd, bytes, sizeof(bytes), MSG_DONTWAIT)) > 0) {
		for (ssize_t i = 0; i < n; i++, (*taken)++) {
			if ((bytes[i] == 'b') != (*taken < FILE_BYTES))
				return false;
		}
	}
	return true;
}

static void test_beginning(struct watch_clients *clients, const int line[2])
{
	int connection[2], file = file_of_initial_events();
	struct epoll_event event;
	size_t taken = 0;
	bool right = true;

	ok(socketpair(AF_UNIX, SOCK_STREAM, 0, connection) == 0 && handover_send(line[0], connection[0], 1, (struct limits_watch){ 0 },
		STR("a handover"), file), "a connection is handed over with a file");
	close(file);
	close(connection[0]);
	watch_clients_take_over(clients, line[1]);
	struct watch_client *client = clients->first;
	ok(client != NULL && client->slow && stream_waiting(&client->stream) == PADDING_BYTES, "a client that gets no events for now");
	ok(stream_waiting_in_file(&client->stream) > 0 && stream_waiting_in_file(&client->stream) < FILE_BYTES, "a part of the file is sent");
	client->stream.moved_us = 1;
	watch_client_add(client, &(struct buf){ .p = (char[]){ ' ' }, .n = 1 });
	is_int(client->stream.moved_us, 1, "what is added does not count as progress");
	watch_client_write(clients, client);
	ok(!client->gone && client->stream.moved_us == 1, "a client that takes nothing makes none");
	for (int i = 0; i < 1000 && right && stream_unsent(&client->stream) > 0; i++) {
		right = take(connection[1], &taken);
		is_int(epoll_wait(clients->epoll_fd, &event, 1, 0), 1, "there is room for more");
		watch_client_write(clients, client);
	}
	ok(right && take(connection[1], &taken), "all comes in order: the file, then what was added");
	is_int((int64_t)taken, FILE_BYTES + 2 * PADDING_BYTES, "all of it");
	ok(client->stream.file < 0 && !watch_client_is_slow(client) && clients->drained, "then it gets events");
	watch_client_end(client);
	watch_client_write(clients, client);
	ok(client->gone, "and ends");
	watch_clients_sweep(clients);
	close(connection[1]);
}

// The process stops: every watch ends, after what its client is still to get, and those that were handed over before the last
// worker ended are taken over.
static void test_end(struct watch_clients *clients)
{
	int line[2], slow[2], late[2], file = file_of_initial_events();
	struct epoll_event event;
	size_t taken = 0;
	bool right = true;
	char bytes[256];

	ok(handover_pair(line) && socketpair(AF_UNIX, SOCK_STREAM, 0, slow) == 0 && socketpair(AF_UNIX, SOCK_STREAM, 0, late) == 0 &&
		handover_send(line[0], slow[0], 1, (struct limits_watch){ 0 }, STR("a handover"), file), "a client that is slow to read");
	close(file);
	close(slow[0]);
	ok(watch_clients_take_over(clients, line[1]), "more may come");
	watch_clients_end(clients);
	watch_clients_sweep(clients);
	is_int((int64_t)clients->n, 1, "it stays until it has read all");
	ok(handover_send(line[0], late[0], 1, (struct limits_watch){ 0 }, STR("a handover"), -1), "the last worker hands another one over");
	close(late[0]);
	close(line[0]);
	ok(!watch_clients_take_over(clients, line[1]), "and ends: no more can come");
	is_int((int64_t)clients->n, 2, "but that one has");
	watch_clients_end(clients);
	watch_clients_sweep(clients);
	is_int((int64_t)clients->n, 1, "and ends at once");
	is_int(read(late[1], bytes, sizeof(bytes)), PADDING_BYTES + END_BYTES, "with its end");
	is_int(read(late[1], bytes, sizeof(bytes)), 0, "and nothing after it");
	while (right && clients->n > 0) {
		right = take(slow[1], &taken) && epoll_wait(clients->epoll_fd, &event, 1, 10000) == 1;
		watch_client_write(clients, clients->first);
		watch_clients_sweep(clients);
	}
	ok(right && take(slow[1], &taken), "the slow one reads on");
	is_int((int64_t)taken, FILE_BYTES + PADDING_BYTES + END_BYTES, "to its end");
	close(line[1]);
	close(slow[1]);
	close(late[1]);
}

// A worker of its own process: begins a watch, hands it over, and begins another one when it is told to. Returns how many of the
// two began, or
// -1 if a second one began beside the first.
static int work(const struct config *config, const struct endpoint_config *endpoint, int to, int from)
{
	const struct principal who = { .user = STR("ann"), .tenant = STR("acme"), .role = ROLE_MEMBER };
	struct limits *limits = limits_new(config, endpoint, host_shared_open(config), 1);
	struct limits_watch counted, another;
	struct limits_refusal refusal;
	int connection[2], n;
	char byte;

	n = socketpair(AF_UNIX, SOCK_STREAM, 0, connection) == 0 && limits_watch_begin(limits, &who, STR("token"), &counted, &refusal);
	if (limits_watch_begin(limits, &who, STR("token"), &another, &refusal))
		return -1;
	// The watch process has no memory for the handover, or no descriptors left: here since the handover is empty.
	(void)handover_send(to, connection[0], 1, counted, STR(""), -1);
	return read(from, &byte, 1) == 1 ? n + limits_watch_begin(limits, &who, STR("token"), &another, &refusal) : n;
}

static void test_incomplete(const int line[2])
{
	char dir[] = "/tmp/tenure-watch-clients-XXXXXX", *pattern = NULL;
	struct config *config = config_new(settings_tables());
	const struct endpoint_config *endpoint = config_add_endpoint(config, STR("service"));
	struct watch_clients clients = { .epoll_fd = epoll_create1(EPOLL_CLOEXEC) };
	struct pollfd poll_line = { .fd = line[1], .events = POLLIN };
	int go_on[2], status = 0;
	glob_t found;

	ok(mkdtemp(dir) != NULL && pipe(go_on) == 0, "a folder");
	SET(config, server)->runtime_dir = dir;
	SET(config, server)->watches_per_token = 1;
	SET_ENDPOINT(endpoint, server_endpoint)->watches = 20;
	pid_t pid = fork();
	if (pid == 0)
		_exit(work(config, endpoint, line[0], go_on[0]));
	struct shared *shared = host_shared_open(config);
	clients.limits = limits_new(config, endpoint, shared, 0);
	is_int(poll(&poll_line, 1, 10000), 1, "a worker hands a watch over");
	watch_clients_take_over(&clients, line[1]);
	is_int((int64_t)clients.n, 0, "which can't be taken over");
	ok(write(go_on[1], "x", 1) == 1 && waitpid(pid, &status, 0) == pid && WIFEXITED(status), "the worker goes on");
	is_int(WEXITSTATUS(status), 2, "another watch has room, where there may be one");
	limits_free(&clients.limits);
	shared_close(&shared);
	config_free(&config);
	close(clients.epoll_fd);
	close(go_on[0]);
	close(go_on[1]);
	if (asprintf(&pattern, "%s/*", dir) > 0 && glob(pattern, 0, NULL, &found) == 0) {
		for (size_t i = 0; i < found.gl_pathc; i++)
			(void)unlink(found.gl_pathv[i]);
		globfree(&found);
	}
	free(pattern);
	(void)rmdir(dir);
}

int main(void)
{
	struct limits limits = { .shared = NULL };
	struct watch_clients clients = { .epoll_fd = epoll_create1(EPOLL_CLOEXEC), .limits = &limits };
	int line[2], connection[2];
	char bytes[64];

	log_open("watch-clients", LOG_SINK_STDERR, LOG_LEVEL_ERROR);
	ok(handover_pair(line) && socketpair(AF_UNIX, SOCK_STREAM, 0, connection) == 0, "a worker, a watch process and a web server");
	ok(handover_send(line[0], connection[0], 1, (struct limits_watch){ 0 }, STR("a handover"), -1), "a connection is handed over");
	ok(watch_clients_take_over(&clients, line[1]), "and taken over; more may come");
	is_int((int64_t)clients.n, 1, "a client");
	ok(read(connection[1], bytes, sizeof(bytes)) > 0, "to whom padding is sent");
	is_int(write(connection[1], "x", 1), 1, "the web server writes");
	is_int(count_events(clients.epoll_fd), 1, "which is an event");
	clients.first->gone = true;
	watch_clients_sweep(&clients);
	is_int((int64_t)clients.n, 0, "the client is gone");
	is_int(count_events(clients.epoll_fd), 0, "there is no event any more, although the worker has the connection open");
	test_beginning(&clients, line);
	test_end(&clients);
	test_incomplete(line);
	close(clients.epoll_fd);
	for (int i = 0; i < 2; i++) {
		close(line[i]);
		close(connection[i]);
	}
	return done_testing();
}

// SPDX-License-Identifier: Apache-2.0
// A watch's connection is closed while the worker that handed it over has it open still: no event of it comes any more.
#include "base/base.h"

#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "api/spaces/watch/watcher.h"
#include "base/log.h"
#include "server/request/limits_internal.h"
#include "server/watch/client.h"
#include "server/wire/handover.h"
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

int main(void)
{
	struct limits limits = { .shared = NULL };
	struct watch_clients clients = { .epoll_fd = epoll_create1(EPOLL_CLOEXEC), .limits = &limits };
	int line[2], connection[2];
	char bytes[64];

	log_open("watch-clients", LOG_SINK_STDERR, LOG_LEVEL_ERROR);
	ok(handover_pair(line) && socketpair(AF_UNIX, SOCK_STREAM, 0, connection) == 0, "a worker, a watch process and a web server");
	ok(handover_send(line[0], connection[0], 1, (struct limits_watch){ 0 }, STR("an order")), "a connection is handed over");
	watch_clients_take_over(&clients, line[1]);
	is_int((int64_t)clients.n, 1, "a client");
	ok(read(connection[1], bytes, sizeof(bytes)) > 0, "to whom padding is sent");
	is_int(write(connection[1], "x", 1), 1, "the web server writes");
	is_int(count_events(clients.epoll_fd), 1, "which is an event");
	clients.first->gone = true;
	watch_clients_sweep(&clients);
	is_int((int64_t)clients.n, 0, "the client is gone");
	is_int(count_events(clients.epoll_fd), 0, "there is no event any more, although the worker has the connection open");
	close(clients.epoll_fd);
	for (int i = 0; i < 2; i++) {
		close(line[i]);
		close(connection[i]);
	}
	return done_testing();
}

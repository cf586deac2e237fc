// SPDX-License-Identifier: Apache-2.0
// watchers PORT TOKEN PATH NUMBER NAME...: so many watches of a collection, through the web server at 127.0.0.1:PORT.
// Prints "ready" when each has its first event, so there must be an object. Then reads lines: for each it makes a config
// map of the next NAME there and prints the seconds from before its POST until the last watch has been told of it.
#include "base/base.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "bench.h"

enum { MAX_WATCHERS = 10000, KEPT = 4096, PATIENCE_MS = 30000 };

// What came last: an event may come in two pieces.
struct watcher {
	int fd;
	size_t n;
	bool told;
	char kept[KEPT];
};

static struct sockaddr_in server;
static const char *token, *path;
static struct watcher *watchers;
static unsigned n_watchers;
static int epoll_fd;

static int connect_to_server(void)
{
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (fd < 0 || connect(fd, (const struct sockaddr *)&server, sizeof(server)) != 0)
		die("connect: %s", strerror(errno));
	return fd;
}

static void send_all(int fd, const char *text)
{
	if (send(fd, text, strlen(text), MSG_NOSIGNAL) != (ssize_t)strlen(text))
		die("send: %s", strerror(errno));
}

static void open_watcher(struct watcher *watcher)
{
	char text[2048];
	struct epoll_event event = { .events = EPOLLIN, .data.ptr = watcher };

	watcher->fd = connect_to_server();
	(void)snprintf(text, sizeof(text), "GET %s?watch=true HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Auth-Token: %s\r\n"
		"Accept: application/json\r\n\r\n", path, token);
	send_all(watcher->fd, text);
	if (epoll_ctl(epoll_fd, EPOLL_CTL_ADD, watcher->fd, &event) != 0)
		die("epoll_ctl: %s", strerror(errno));
}

// Reads what is there; true when it now has the text for the first time.
static bool read_some(struct watcher *watcher, const char *text)
{
	char fresh[16384];
	ssize_t n = recv(watcher->fd, fresh, sizeof(fresh), 0);

	if (n <= 0)
		die("a watch ended");
	for (size_t at = 0; at < (size_t)n;) {
		size_t room = KEPT - watcher->n, more = (size_t)n - at < room ? (size_t)n - at : room;
		memcpy(watcher->kept + watcher->n, fresh + at, more);
		watcher->n += more;
		at += more;
		if (!watcher->told && memmem(watcher->kept, watcher->n, text, strlen(text)) != NULL) {
			watcher->told = true;
			return true;
		}
		if (watcher->n == KEPT) {
			memmove(watcher->kept, watcher->kept + KEPT / 2, KEPT / 2);
			watcher->n = KEPT / 2;
		}
	}
	return false;
}

// Until all have the text.
static void await(const char *text)
{
	struct epoll_event events[256];

	for (unsigned left = n_watchers; left > 0;) {
		int n = epoll_wait(epoll_fd, events, COUNT_OF(events), PATIENCE_MS);
		if (n <= 0)
			die("%u watches have not been told of \"%s\"", left, text);
		for (int i = 0; i < n; i++)
			left -= read_some(events[i].data.ptr, text) ? 1 : 0;
	}
}

static void forget(void)
{
	for (unsigned i = 0; i < n_watchers; i++) {
		watchers[i].n = 0;
		watchers[i].told = false;
	}
}

// Its answer is read when the watches have been told: they may be first.
static int post(const char *name)
{
	char body[256], text[2560];
	int fd = connect_to_server();

	(void)snprintf(body, sizeof(body), "{\"metadata\":{\"name\":\"%s\"},\"data\":{\"k\":\"v\"}}", name);
	(void)snprintf(text, sizeof(text), "POST %s HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Auth-Token: %s\r\n"
		"Content-Type: application/json\r\nConnection: close\r\nContent-Length: %zu\r\n\r\n%s", path, token,
		strlen(body), body);
	send_all(fd, text);
	return fd;
}

static void check_created(int fd)
{
	char text[64] = "";

	if (recv(fd, text, sizeof(text) - 1, 0) <= 0 || strncmp(text, "HTTP/1.1 201 ", 13) != 0)
		die("the change was answered %s", text);
	(void)close(fd);
}

static void open_all(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) != 0)
		die("getrlimit: %s", strerror(errno));
	limit.rlim_cur = limit.rlim_max;
	(void)setrlimit(RLIMIT_NOFILE, &limit);
	epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	watchers = calloc(n_watchers, sizeof(*watchers));
	if (epoll_fd < 0 || watchers == NULL)
		die("no memory");
	for (unsigned i = 0; i < n_watchers; i++)
		open_watcher(&watchers[i]);
	await("\"ADDED\"");
}

int main(int argc, char **argv)
{
	char line[64];

	if (argc < 6)
		die("usage: watchers PORT TOKEN PATH NUMBER NAME...");
	server = (struct sockaddr_in){ .sin_family = AF_INET, .sin_port = htons((uint16_t)bench_number(argv[1], UINT16_MAX)),
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	token = argv[2];
	path = argv[3];
	n_watchers = bench_number(argv[4], MAX_WATCHERS);
	open_all();
	printf("ready\n");
	(void)fflush(stdout);
	for (int i = 5; i < argc && fgets(line, sizeof(line), stdin) != NULL; i++) {
		forget();
		double began = bench_seconds();
		int fd = post(argv[i]);
		await(argv[i]);
		printf("%.6f\n", bench_seconds() - began);
		(void)fflush(stdout);
		check_created(fd);
	}
	return 0;
}

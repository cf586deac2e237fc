// SPDX-License-Identifier: Apache-2.0
#include "base/base.h"

#include <errno.h>
#include <sys/socket.h>
#include <sysexits.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/config/config.h"
#include "base/log.h"
#include "base/metrics_text.h"
#include "base/pool.h"
#include "server/host/metrics_socket.h"
#include "server/setup/listen.h"
#include "server/setup/settings.h"

// The Makefile defines it.
#ifndef TENURE_VERSION
#define TENURE_VERSION "development"
#endif

enum { HEAD_ROOM = 4096 };

struct client {
	int fd;             // -1: the place is free
	int64_t since_us;   // clock_tick_us() of its connection
	char head[HEAD_ROOM];
	size_t n;           // bytes of head
	char *answer;       // from malloc; NULL: the request is not complete yet
	size_t size, at;    // of the answer
};

struct metrics_socket {
	struct listener listener;
	const struct shared *shared;
	struct client clients[METRICS_SOCKET_CLIENTS];
};

struct metrics_socket *metrics_socket_open(const struct config *config, const struct shared *shared, bool *logged)
{
	const struct host_settings *settings = host_settings(config);
	const struct server_endpoint_settings how = {
		.socket = settings->metrics_socket, .socket_mode = settings->metrics_socket_mode, .socket_owner = "", .backlog = 64,
	};
	char *error = NULL;

	if (settings->metrics_socket[0] == '\0')
		return NULL;
	struct metrics_socket *sock = calloc(1, sizeof(*sock));
	if (sock == NULL || listen_open(&sock->listener, &how, &error) != EX_OK) {
		if (!*logged)
			log_error("no metrics: %s (setting metrics_socket; each registry on a host needs one of its own)",
				error != NULL ? error : "no memory");
		*logged = true;
		free(error);
		free(sock);
		return NULL;
	}
	*logged = false;
	sock->shared = shared;
	for (size_t i = 0; i < METRICS_SOCKET_CLIENTS; i++)
		sock->clients[i].fd = -1;
	return sock;
}

bool metrics_socket_is_reached(const struct metrics_socket *sock)
{
	return listen_is_reached(&sock->listener);
}

static void end_client(struct client *client)
{
	close(client->fd);
	free(client->answer);
	*client = (struct client){ .fd = -1 };
}

void metrics_socket_forget(struct metrics_socket **sock)
{
	if (*sock == NULL)
		return;
	free((*sock)->listener.path);
	(*sock)->listener.path = NULL; // so its file is not removed
	metrics_socket_close(sock);
}

void metrics_socket_close(struct metrics_socket **sock)
{
	if (*sock == NULL)
		return;
	for (size_t i = 0; i < METRICS_SOCKET_CLIENTS; i++) {
		if ((*sock)->clients[i].fd >= 0)
			end_client(&(*sock)->clients[i]);
	}
	listen_close(&(*sock)->listener);
	free(*sock);
	*sock = NULL;
}

// ---- answering

// Is the head of a request complete? It ends with an empty line.
static bool is_complete(const struct client *client)
{
	return memmem(client->head, client->n, "\r\n\r\n", 4) != NULL || memmem(client->head, client->n, "\n\n", 2) != NULL;
}

// The status and body for a request line; of anything but GET /metrics the body says what there is.
static const char *choose(struct str line, const struct shared *shared, struct buf *body)
{
	struct str method, target;

	(void)str_split(&line, ' ', &method);
	(void)str_split(&line, ' ', &target);
	if (str_eq(target, STR("/metrics")) && str_eq(method, STR("GET"))) {
		metrics_text(body, shared, TENURE_VERSION);
		return "200 OK";
	}
	BUF_LIT(body, "GET /metrics is all there is.\n");
	return str_eq(target, STR("/metrics")) ? "405 Method Not Allowed" : "404 Not Found";
}

// Makes the answer to client->head. Without memory the client has none, and is closed.
static void answer(const struct metrics_socket *sock, struct client *client)
{
	struct pool *pool = pool_new();
	const char *end = memchr(client->head, '\n', client->n);
	struct str line = str_n(client->head, end != NULL ? (size_t)(end - client->head) : client->n);

	if (pool == NULL)
		return;
	if (line.n > 0 && line.p[line.n - 1] == '\r')
		line.n--;
	struct buf body = buf_new(pool, 65536), whole = buf_new(pool, 65536);
	const char *status = choose(line, sock->shared, &body);
	buf_addf(&whole, "HTTP/1.0 %s\r\nContent-Type: " METRICS_TEXT_TYPE "\r\nContent-Length: %zu\r\nConnection: close\r\n%s\r\n", status,
		body.n, strncmp(status, "405", 3) == 0 ? "Allow: GET\r\n" : "");
	buf_add(&whole, buf_str(&body));
	client->answer = malloc(whole.n);
	if (client->answer != NULL) {
		memcpy(client->answer, whole.p, whole.n);
		client->size = whole.n;
	}
	pool_free(&pool);
}

// Reads what has come. False: the client is to be closed.
static bool take(const struct metrics_socket *sock, struct client *client)
{
	ssize_t n = recv(client->fd, client->head + client->n, HEAD_ROOM - client->n, 0);

	if (n < 0)
		return errno == EAGAIN || errno == EINTR;
	if (n == 0)
		return false;
	client->n += (size_t)n;
	if (!is_complete(client))
		return client->n < HEAD_ROOM;
	answer(sock, client);
	return client->answer != NULL;
}

static bool is_answered(const struct client *client)
{
	return client->answer != NULL && client->at == client->size;
}

// Writes what the connection takes. False: the client is to be closed.
static bool give(struct client *client)
{
	ssize_t n = send(client->fd, client->answer + client->at, client->size - client->at, MSG_NOSIGNAL);

	if (n < 0)
		return errno == EAGAIN || errno == EINTR;
	client->at += (size_t)n;
	if (is_answered(client))
		(void)shutdown(client->fd, SHUT_WR);
	return true;
}

// Reads what still comes, until the client closes: bytes that nobody has read at close(2) would reset the connection, and take
// from the client what it has not read yet. False: the client is to be closed.
static bool drain(struct client *client)
{
	ssize_t n = recv(client->fd, client->head, HEAD_ROOM, 0);

	return n > 0 || (n < 0 && (errno == EAGAIN || errno == EINTR));
}

// ---- connections

// A free place; if there is none, that of the client that came first.
static struct client *find_place(struct metrics_socket *sock)
{
	struct client *oldest = &sock->clients[0];

	for (size_t i = 0; i < METRICS_SOCKET_CLIENTS; i++) {
		struct client *client = &sock->clients[i];
		if (client->fd < 0)
			return client;
		if (client->since_us < oldest->since_us)
			oldest = client;
	}
	end_client(oldest);
	return oldest;
}

static void accept_all(struct metrics_socket *sock, int64_t now_us)
{
	int fd;

	// Bounded, so that clients that come all the time do not keep the caller from its other work.
	for (size_t i = 0; i < METRICS_SOCKET_CLIENTS; i++) {
		fd = accept4(sock->listener.fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
		if (fd < 0)
			return;
		struct client *client = find_place(sock);
		client->fd = fd;
		client->since_us = now_us;
	}
}

size_t metrics_socket_prepare(const struct metrics_socket *sock, struct pollfd *polls)
{
	size_t n = 0;

	polls[n++] = (struct pollfd){ .fd = sock->listener.fd, .events = POLLIN };
	for (size_t i = 0; i < METRICS_SOCKET_CLIENTS; i++) {
		const struct client *client = &sock->clients[i];
		if (client->fd >= 0)
			polls[n++] = (struct pollfd){ .fd = client->fd,
				.events = client->answer != NULL && !is_answered(client) ? POLLOUT : POLLIN };
	}
	return n;
}

static bool is_ready(const struct pollfd *polls, size_t n, int fd)
{
	for (size_t i = 0; i < n; i++) {
		if (polls[i].fd == fd)
			return polls[i].revents != 0;
	}
	return false;
}

void metrics_socket_work(struct metrics_socket *sock, const struct pollfd *polls, size_t n, int64_t now_us)
{
	for (size_t i = 0; i < METRICS_SOCKET_CLIENTS; i++) {
		struct client *client = &sock->clients[i];
		bool goes_on = true;

		if (client->fd < 0)
			continue;
		if (is_ready(polls, n, client->fd))
			goes_on = is_answered(client) ? drain(client) : client->answer != NULL ? give(client) : take(sock, client);
		if (!goes_on || now_us - client->since_us > METRICS_SOCKET_S * INT64_C(1000000))
			end_client(client);
	}
	if (is_ready(polls, n, sock->listener.fd))
		accept_all(sock, now_us);
}

int metrics_socket_patience_ms(const struct metrics_socket *sock, int64_t now_us)
{
	int64_t first_us = INT64_MAX;

	for (size_t i = 0; i < METRICS_SOCKET_CLIENTS; i++) {
		if (sock->clients[i].fd >= 0 && sock->clients[i].since_us < first_us)
			first_us = sock->clients[i].since_us;
	}
	if (first_us == INT64_MAX)
		return -1;
	int64_t rest_us = first_us + METRICS_SOCKET_S * INT64_C(1000000) - now_us;
	return rest_us > 0 ? (int)(rest_us / 1000) + 1 : 0;
}

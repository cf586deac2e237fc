// SPDX-License-Identifier: Apache-2.0
// Relays connections over TCP to the private server of db-server.h, so that a test can hold back what passes.
#ifndef TENURE_T_UNIT_DB_RELAY_H
#define TENURE_T_UNIT_DB_RELAY_H

#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "db-server.h"

// What a relay asks before it passes on n bytes that the client or the server sent; it may wait. connection counts from 0. False:
// they are dropped.
typedef bool relay_passes(void *arg, unsigned connection, bool from_client, const char *data, size_t n);

// A listening socket on loopback.
static inline int relay_listen(int flags, unsigned *port)
{
	struct sockaddr_in address = { .sin_family = AF_INET, .sin_addr = { htonl(INADDR_LOOPBACK) } };
	socklen_t n = sizeof(address);
	int listener = socket(AF_INET, SOCK_STREAM | flags, 0);

	if (listener < 0 || bind(listener, (const struct sockaddr *)&address, n) != 0 || listen(listener, 8) != 0 ||
		getsockname(listener, (struct sockaddr *)&address, &n) != 0)
		bail_out("no socket");
	*port = ntohs(address.sin_port);
	return listener;
}

// Relays one connection to the private server until either side closes it.
static inline void relay_one(int client, unsigned connection, relay_passes *passes, void *arg)
{
	struct sockaddr_un to = { .sun_family = AF_UNIX };
	int at = socket(AF_UNIX, SOCK_STREAM, 0);
	static char data[65536];

	(void)snprintf(to.sun_path, sizeof(to.sun_path), "%s", server.socket);
	if (at < 0 || connect(at, (const struct sockaddr *)&to, sizeof(to)) != 0)
		_exit(1);
	struct pollfd fds[] = { { .fd = client, .events = POLLIN }, { .fd = at, .events = POLLIN } };
	while (poll(fds, 2, -1) > 0) {
		for (int i = 0; i < 2; i++) {
			ssize_t n = fds[i].revents != 0 ? read(fds[i].fd, data, sizeof(data)) : -1;
			if (n == 0)
				_exit(0);
			if (n > 0 && passes(arg, connection, i == 0, data, (size_t)n) && write(fds[1 - i].fd, data, (size_t)n) != n)
				_exit(1);
		}
	}
	_exit(0);
}

// Starts a process that relays connections until it is killed. Returns the port that it listens on; *pid: the process.
static inline unsigned relay_start(pid_t *pid, relay_passes *passes, void *arg)
{
	unsigned port;
	int listener = relay_listen(0, &port);

	*pid = fork();
	if (*pid == 0) {
		(void)signal(SIGCHLD, SIG_IGN);
		for (unsigned connection = 0;; connection++) {
			int client = accept(listener, NULL, NULL);
			if (client >= 0 && fork() == 0)
				relay_one(client, connection, passes, arg);
			(void)close(client);
		}
	}
	(void)close(listener);
	return port;
}

static inline void relay_end(pid_t pid)
{
	(void)kill(pid, SIGKILL);
	(void)waitpid(pid, NULL, 0);
}

#endif

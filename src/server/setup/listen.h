// SPDX-License-Identifier: Apache-2.0
// The listening socket: one that was handed over, or one of our own.
#ifndef TENURE_SERVER_SETUP_LISTEN_H
#define TENURE_SERVER_SETUP_LISTEN_H

#include <sys/types.h>

#include "base/base.h"

struct endpoint_config;

struct listener {
	int fd;
	char *path; // NULL: not ours to remove
	dev_t device;
	ino_t inode;
};

// Is fd a socket that accepts connections? So mod_fcgid, lighttpd, spawn-fcgi and systemd (StandardInput=socket) hand
// one over on descriptor 0.
bool listen_is_socket(int fd);
// systemd's other way, LISTEN_FDS: the descriptor, -1 when none was handed over so. Takes the variables out of the
// environment. False with *error when there are several, or it isn't a listening socket.
bool listen_inherited(int *fd, char **error);

// Opens the endpoint's unix socket: non-blocking, close-on-exec, with mode, owner and backlog as configured before the
// first connection can be made. What a process that was killed left behind is replaced; a socket that somebody answers
// on, or a file that is no socket, is refused. False with *error (malloc).
bool listen_open(struct listener *listener, const struct endpoint_config *endpoint, char **error);
// Takes the socket's name away, if it is still this one's: connections are refused from then on, those made are served.
void listen_unlink(struct listener *listener);
void listen_close(struct listener *listener);

#endif

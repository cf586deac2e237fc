// SPDX-License-Identifier: Apache-2.0
// The listening socket: inherited from the process that started this one, or opened here.
#ifndef TENURE_SERVER_SETUP_LISTEN_H
#define TENURE_SERVER_SETUP_LISTEN_H

#include <sys/types.h>

#include "base/base.h"

struct server_endpoint_settings;

struct listener {
	int fd;
	char *path; // NULL: an inherited socket, whose name is not removed
	dev_t device;
	ino_t inode;
};

// Is fd a socket that accepts connections? mod_fcgid, lighttpd, spawn-fcgi and systemd (StandardInput=socket) pass one as
// descriptor 0.
bool listen_is_socket(int fd);
// The socket that systemd passes by LISTEN_FDS; -1 if there is none. Removes the variables from the environment. False with
// *error if there are several, or if it is not a listening socket.
bool listen_inherited(int *fd, char **error);

// Opens the endpoint's unix socket: non-blocking, close-on-exec, and with mode, owner and backlog as configured before any
// connection can be made. A socket left by a killed process is replaced. A socket that a process still serves, or a file that is
// no socket, is an error. EX_OK, or the exit code of a start that fails so, with *error from malloc.
int listen_open(struct listener *listener, const struct server_endpoint_settings *settings, char **error);
// Does its path still lead to this socket? Always true of an inherited one.
bool listen_is_reached(const struct listener *listener);
// Sets the mode of a socket that was opened here and can be reached. Otherwise it does nothing. False: it failed, and errno says
// why.
bool listen_set_mode(const struct listener *listener, unsigned mode);
// Removes the socket's name if it is still this socket's: new connections are refused from then on, existing ones are served.
void listen_unlink(struct listener *listener);
// Removes the name, as listen_unlink() does, and closes the socket. May be called again: then it does nothing.
void listen_close(struct listener *listener);

#endif

// SPDX-License-Identifier: Apache-2.0
// The unix socket on which the host service answers GET /metrics in plain HTTP/1.0 (base/metrics_text.h): for curl --unix-socket
// and for collectors on the same machine. The socket's permissions say who may read.
//
// A client is closed METRICS_SOCKET_S after it came; one that sends a longer request than a few KiB at once. When all
// places are taken, the oldest client is closed. Nothing here blocks.
#ifndef TENURE_SERVER_HOST_METRICS_SOCKET_H
#define TENURE_SERVER_HOST_METRICS_SOCKET_H

#include <poll.h>

#include "base/base.h"

struct metrics_socket;
struct config;
struct shared;

enum { METRICS_SOCKET_CLIENTS = 16, METRICS_SOCKET_POLLS = METRICS_SOCKET_CLIENTS + 1, METRICS_SOCKET_S = 5 };

// Opens the socket that the configuration names; NULL: it names none, or it can't be opened, which is logged unless *logged says
// that it was; *logged becomes whether it was. shared: NULL if nothing is counted; it must outlive the socket.
struct metrics_socket *metrics_socket_open(const struct config *config, const struct shared *shared, bool *logged);
// Does the path lead to this socket still? Its file may have been removed.
bool metrics_socket_is_reached(const struct metrics_socket *socket);
// Closes all connections and removes the socket's file, if it is still this one's.
void metrics_socket_close(struct metrics_socket **socket);

// In a forked child: closes the descriptors. The parent's socket stays.
void metrics_socket_forget(struct metrics_socket **socket);

// In each turn of the caller's loop: what to wait for with poll(2), in at most METRICS_SOCKET_POLLS entries; and then, with the
// same entries, do what can be done. Returns the number of entries. now_us: clock_tick_us().
size_t metrics_socket_prepare(const struct metrics_socket *socket, struct pollfd *polls);
void metrics_socket_work(struct metrics_socket *socket, const struct pollfd *polls, size_t n, int64_t now_us);
// Milliseconds until metrics_socket_work() has something to do although nothing can be read or written; -1: never.
int metrics_socket_patience_ms(const struct metrics_socket *socket, int64_t now_us);

#endif

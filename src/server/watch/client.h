// SPDX-License-Identifier: Apache-2.0
// The connections of the watch process: one struct watch_client for each watch that a worker handed over, its stream of
// bytes and its deadlines. What a client is told is watch/tell.h's; these functions know no change log and no database.
#ifndef TENURE_SERVER_WATCH_CLIENT_H
#define TENURE_SERVER_WATCH_CLIENT_H

#include "base/buf.h"
#include "server/request/limits.h"
#include "server/wire/stream.h"

struct watcher;

// What says nothing: in front of the next event's line, where every reader of JSON skips it. (Some clients, as that for Java, fail
// on an empty line.)
#define WATCH_PADDING " "

enum {
	WATCH_WAITING_MAX = 256 << 10,      // bytes that a client has not taken: it gets no more events until it has
	WATCH_STUCK_S = 30,                 // a client that takes no byte for this long is closed
	WATCH_BOOKMARK_S = 10,              // between two bookmarks to one client
	WATCH_ALIVE_S = 30,                 // silence after which padding shows web servers that the answer goes on
	WATCH_PROBES = 3,                   // padding for a client that may have gone: the first is lost in the network
	WATCH_PROBE_MS = 400,               // between two of them
	WATCH_CHECK_S = 1,                  // between two looks at a client's credentials, while few tokens watch
	WATCH_CHECK_MOST_S = 15,            // while many do
};

struct watch_client {
	struct stream stream;
	struct watcher *watcher;
	struct limits_watch counted; // as the host counts it (limits.h)
	int64_t ends_us, bookmark_us, alive_us, check_us; // clock_tick_us at which each is due
	unsigned probes;          // padding still to be written, to find out whether the client is there
	int64_t probe_us;         // clock_tick_us of the next one
	bool slow;                // too much waits in its stream: no more events until the client has taken some
	bool gone;                // the next sweep closes it
	uint32_t interest;        // events that epoll reports of it
	// For watch/tell.c alone.
	uint64_t tenant_id;       // 0: not known yet
	bool news;                // there may be some of its tenant, ahead of the front
	bool unsafe;              // its stream has text, or its position is one, that may not be durable yet
	struct watch_client *next;
};

struct watch_clients {
	int epoll_fd;               // watches every client's connection; event data: the client
	struct watch_client *first; // newest first
	size_t n;
	bool drained;               // a slow client has taken enough to be told more; the loop clears it with the next round
	struct limits *limits;
};

// clock_tick_us so many seconds from now.
int64_t watch_in_seconds(int64_t seconds);

// Makes a client of every connection that waits at from, the receiving end of handover_pair. Never blocks.
void watch_clients_take_over(struct watch_clients *clients, int from);
// Closes and frees the clients that are gone: the only function that removes clients while the process runs.
void watch_clients_sweep(struct watch_clients *clients);
// Closes and frees all.
void watch_clients_free(struct watch_clients *clients);

// Writes what the connection takes now, and marks the client gone once it has ended and all is written. Never blocks.
void watch_client_push(struct watch_clients *clients, struct watch_client *client);
// Appends to what the client will be sent. Does nothing if it has ended.
void watch_client_say(struct watch_client *client, const struct buf *text);
// Ends the answer; the client is gone once what waits is written. Writes nothing: push follows.
void watch_client_end(struct watch_client *client);
// The same after a last event, which say appends to a buffer from pool.
void watch_client_end_with(struct pool *pool, struct watch_client *client, void (*say)(struct buf *));

#endif

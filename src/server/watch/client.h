// SPDX-License-Identifier: Apache-2.0
// The connections of the watch process: one struct watch_client for each watch that a worker handed over, with its output stream
// and its deadlines. watch/dispatch.h decides what a client is sent; these functions use neither change log nor database.
#ifndef TENURE_SERVER_WATCH_CLIENT_H
#define TENURE_SERVER_WATCH_CLIENT_H

#include "base/buf.h"
#include "server/request/limits.h"
#include "server/wire/stream.h"

struct watcher;

// Padding that carries no information: a blank in front of the next event's line, which every JSON parser skips. (Some clients,
// such as the Java client, fail on an empty line.)
#define WATCH_PADDING " "

enum {
	WATCH_WAITING_MAX = 256 << 10,      // bytes a client has not read yet, of its initial events or later ones; at this number
	                                    // it gets no more events until it reads
	WATCH_STUCK_S = 30,                 // a client that reads no byte for this long is closed
	WATCH_BOOKMARK_S = 10,              // between two bookmarks for one client
	WATCH_ALIVE_S = 30,                 // after so long without an event, padding shows web servers that the answer goes on
	WATCH_PROBES = 3,                   // paddings sent to a client that may have gone; the network accepts the first one
	                                    // even if it has
	WATCH_PROBE_MS = 400,               // between two of these paddings
	WATCH_CHECK_S = 1,                  // between two checks of a client's credentials, if few tokens watch
	WATCH_CHECK_MOST_S = 15,            // the same if many tokens watch
};

struct watch_client {
	struct stream stream;
	struct watcher *watcher;
	struct limits_watch counted; // its place in the counts of the host (limits.h)
	int64_t ends_us, bookmark_us, alive_us, check_us; // clock_tick_us at which each is due
	unsigned probes;          // paddings still to be written, to find out whether the client is still connected
	int64_t probe_us;         // clock_tick_us() at which the next padding is due
	bool slow;                // too much waits in its stream: no more events until the client has read some
	bool gone;                // the next watch_clients_sweep() closes it
	uint32_t interest;        // epoll events that are requested for it
	// The rest is for watch/dispatch.c only.
	uint64_t tenant_id;       // 0: not known yet
	bool news;                // there may be changes of its tenant above the front
	bool due;                 // and the look at them that is going on has not come to it yet
	bool unsafe;              // its stream, or its position, contains changes that may not be durable yet
	struct watch_client *next;
};

struct watch_clients {
	int epoll_fd;               // watches every client's connection; event data: the client
	struct watch_client *first; // newest first
	size_t n;
	bool drained;               // a slow client has read enough to get more events; the loop clears this in its next round
	struct limits *limits;
};

// clock_tick_us() in so many seconds.
int64_t watch_in_seconds(int64_t seconds);

// Makes a client of every connection that waits at `from`, the receiving end of handover_pair(). Never blocks. False: no more can
// come.
bool watch_clients_take_over(struct watch_clients *clients, int from);
// Closes and frees the clients that are gone. While the process runs, no other function removes clients.
void watch_clients_sweep(struct watch_clients *clients);
// Closes and frees all clients.
void watch_clients_free(struct watch_clients *clients);

// Does more than WATCH_WAITING_MAX wait for it?
bool watch_client_is_slow(const struct watch_client *client);
// Writes what the connection accepts now. If the watch has ended and everything is written, marks the client gone. Never blocks.
void watch_client_write(struct watch_clients *clients, struct watch_client *client);
// Appends text to what the client will be sent. Does nothing if the watch has ended.
void watch_client_add(struct watch_client *client, const struct buf *text);
// Ends the answer; the client is gone once everything is written. Writes nothing: call watch_client_write() after it.
void watch_client_end(struct watch_client *client);
// Ends the answers of all clients that have not ended yet, and writes what the connections accept now.
void watch_clients_end(struct watch_clients *clients);
// Ends the answer after a last event, which `say` appends to a buffer from pool.
void watch_client_end_with_event(struct pool *pool, struct watch_client *client, void (*say)(struct buf *));

#endif

// SPDX-License-Identifier: Apache-2.0
// For fcgi.c, slots.c and answer.c only: a worker's connections.
#ifndef TENURE_SERVER_WIRE_FCGI_INTERNAL_H
#define TENURE_SERVER_WIRE_FCGI_INTERNAL_H

#include <sys/epoll.h>

#include "server/wire/fcgi.h"
#include "server/wire/fcgx.h"

enum {
	SLOTS = 128,               // connections, most of them kept open and idle
	EVENTS = 16,
	KEY_LISTEN = SLOTS,        // data of epoll events: a slot's index, or one of these
	KEY_WAKE,
};

struct slot {
	FCGX_Request fcgx;         // has no connection while the slot is free
	int64_t idle_since_us;
	bool watched;              // it is in the epoll set
	bool served;               // it has had a request
};

struct fcgi {
	uint64_t max_body;
	size_t max_headers;
	size_t max_params;         // limit in bytes of all parameters' names and values
	int listen_fd, wake_fd, epoll_fd;
	bool listening;            // listen_fd is in the epoll set
	int64_t listen_again_us;   // clock_tick_us() at which to listen again; only if not listening
	bool stopping;
	bool refusing;             // when stopping: STOP_GRACE_MS is over, connections accept no more requests
	enum fcgi_stop stop;       // how to stop; only when stopping
	int64_t stop_us;           // when stopping: clock_tick_us() at which STOP_GRACE_MS is over
	unsigned accepts_left;     // if stopping
	struct slot *current;      // the connection whose request is being answered
	unsigned in_a_row;         // requests taken from the queue without waiting, the current one included
	bool whole;                // the current request was read to its end
	int n_events, next_event;
	struct epoll_event events[EVENTS];
	struct slot slots[SLOTS];
};

// ---- slots.c

// Has it a connection?
bool slot_is_open(const struct slot *slot);
// Makes the slot free. Its connection must be closed already, or belong to another process.
void slot_reset(struct slot *slot);
// Closes its connection, and makes it free.
void slot_close(struct slot *slot);
// Lets epoll report the events of a descriptor, with that key as data. False: logged.
bool slots_watch(struct fcgi *fcgi, int fd, uint32_t key, uint32_t events);
// Accepts connections from now on. EPOLLEXCLUSIVE: a new connection wakes one worker, not all.
void slots_listen(struct fcgi *fcgi);
// Accepts no more connections.
void slots_stop_listening(struct fcgi *fcgi);
// From now on, what the peer sends fails there instead of staying unread here. FastCGI has no message for "this was the last
// answer": without this, a request sent between that answer and the close would be lost, and the web server would not know.
void slot_refuse(const struct slot *slot);
// Accepts one connection from the queue. NULL if none is waiting, or there is no room.
struct slot *slot_accept(struct fcgi *fcgi);
// Lets epoll report the connection. Closes it if epoll can't.
void slot_watch(struct fcgi *fcgi, struct slot *slot);
// Reads the request's beginning and parameters. False if there is no request: nothing has arrived yet, the peer has closed, or
// what it sent is not FastCGI.
bool slot_begin(struct fcgi *fcgi, struct slot *slot);
// Frees a slot whose connection continues in another process, in a copy of its descriptor. It has to be removed from epoll, which
// would otherwise go on reporting it.
void slot_forget(struct fcgi *fcgi, struct slot *slot);

#endif

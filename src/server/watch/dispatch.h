// SPDX-License-Identifier: Apache-2.0
// Decides which changes of the log each client of the watch process is sent. The caller owns everything that struct
// watch_dispatcher points to, and the deadlines of the connections (watch/process.c).
#ifndef TENURE_SERVER_WATCH_DISPATCH_H
#define TENURE_SERVER_WATCH_DISPATCH_H

#include "base/str.h"
#include "server/watch/share.h"

struct call;
struct pool;
struct setup;
struct watch_client;
struct watch_clients;

struct watch_dispatcher {
	// Set by the owner before the first round.
	const struct setup *setup;
	struct watch_clients *clients;
	struct pool *pool;        // cleared by each round
	struct call *call;        // zeroed except call->registry, which the owner attached to its store
	// For watch/dispatch.c only; all zero in the beginning.
	uint64_t front;           // the change id up to which the log was read; 0: not begun
	uint64_t looked;          // the change id up to which was looked for changes above the front
	uint64_t system_id;       // the system's tenant; 0: not known yet
	struct str only;          // if p is not NULL: only the watches of this tenant are served now
	int64_t ahead_us;         // clock_tick_us() of the next look above the front
	int64_t slice_us;         // clock_tick_us() at which this round begins no further page
	struct watch_shares shares;
};

// Makes the events of new changes, and writes them to the clients' connections once the changes are durable
// (registry/log/horizon.h). Ends after a tenth of a second, or a page of changes if that takes longer: the next round, which
// should begin at once then, goes on. Returns the milliseconds until the next round should begin; -1: the database can't be
// reached, or the system has no memory. In that case, clients that were sent changes which may not be durable are gone, and the
// other clients get the rest in a later round.
int watch_dispatch_round(struct watch_dispatcher *dispatcher);
// For a time without clients: the log is not read until the next watch_dispatch_round(), which begins at the horizon.
void watch_dispatch_pause(struct watch_dispatcher *dispatcher);
// A struct call for the functions of watcher.h; its memory comes from dispatcher->pool.
struct call *watch_call(struct watch_dispatcher *dispatcher);
// Calls fn(arg), which makes something for one client, within the limits of one event. False: it needed more. The client's watch
// is then ended with an ERROR event that says so, and the pool is as it was before. If the system had no memory for it, the watch
// is closed without an event.
bool watch_within_budget(struct watch_dispatcher *dispatcher, struct watch_client *client, void (*fn)(void *arg), void *arg);

#endif

// SPDX-License-Identifier: Apache-2.0
// What of the change log is told to which client of the watch process. The caller owns everything that struct
// watch_teller points to, and the connections' deadlines (watch/process.c).
#ifndef TENURE_SERVER_WATCH_TELL_H
#define TENURE_SERVER_WATCH_TELL_H

#include "base/str.h"
#include "server/watch/share.h"

struct call;
struct pool;
struct registry;
struct setup;
struct watch_client;
struct watch_clients;

struct watch_teller {
	// Set by the owner before the first round.
	const struct setup *setup;
	struct watch_clients *clients;
	struct registry *registry;
	struct pool *pool;        // cleared by each round
	struct call *call;        // zeroed memory for watch_call
	// watch/tell.c's own; all zero in the beginning.
	uint64_t front;           // read up to this id; 0: not begun
	uint64_t looked;          // for what is ahead of it, up to this id
	uint64_t system_id;       // the system's tenant; 0: not known yet
	struct str only;          // the tenant whose watches alone are served now; p NULL: all are
	int64_t ahead_us;         // clock_tick_us of the next look ahead of the front
	struct watch_shares shares;
};

// Tells all clients what there is, and pushes it to their connections once it is durable (registry/log/horizon.h). Returns in
// how many milliseconds the next round should begin; -1: the database is away. Then clients that were told something that
// may not be durable are gone, and the others are told the rest by a later round.
int watch_tell_round(struct watch_teller *teller);
// Nobody watches: the log is not followed until the next round, which begins at the horizon.
void watch_tell_rest(struct watch_teller *teller);
// The call that watcher.h's functions take, its memory from pool.
struct call *watch_call(struct watch_teller *teller);
// Calls fn(arg), which makes something for one client, within what one event may take. False: it took more, and the client's
// watch is ended with an ERROR event that says so; the pool is as it was.
bool watch_within_budget(struct watch_teller *teller, struct watch_client *client, void (*fn)(void *arg), void *arg);

#endif

// SPDX-License-Identifier: Apache-2.0
// What one tenant's watches may take of the watch process, which serves those of all tenants: computing time in a round, and
// bytes that wait for its clients. A client whose tenant has had its share is told the rest in a later round.
#ifndef TENURE_SERVER_WATCH_SHARE_H
#define TENURE_SERVER_WATCH_SHARE_H

#include "base/base.h"

struct watch_client;
struct watch_clients;

enum {
	WATCH_SHARES = 1024,                    // tenants are told apart by a hash: two of one hash have one share
	WATCH_ROUND_CPU_US = 50 * 1000,         // of one tenant's watches in a round; the event that exceeds it is finished
	WATCH_EVENT_CPU_US = 250 * 1000,        // of one event of one client
	WATCH_EVENT_MEMORY = 20 << 20,          // bytes, likewise
	WATCH_CONTENTS_MEMORY = 12 << 20,       // bytes of resources read at once, if these are several
	WATCH_TENANT_WAITING_MAX = 4 << 20,     // bytes that wait for one tenant's clients: they get no more until they take some
	WATCH_ALL_WAITING_MAX = 16 << 20,       // bytes that wait for all clients: beyond, those for whom most waits are closed
};

struct watch_shares {
	int64_t cpu_us[WATCH_SHARES];
	size_t waiting[WATCH_SHARES];
	size_t all_waiting;
};

// A new round: counts what waits.
void watch_shares_begin(struct watch_shares *shares, const struct watch_clients *clients);
// May this client be told something now?
bool watch_shares_allow(const struct watch_shares *shares, const struct watch_client *client);
// Its event took so much CPU time; bytes were added to its stream. Closes clients if more waits than may.
void watch_shares_note(struct watch_shares *shares, struct watch_clients *clients, const struct watch_client *client,
	int64_t cpu_us, size_t bytes);

#endif

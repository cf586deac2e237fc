// SPDX-License-Identifier: Apache-2.0
// What the watches of one tenant may use of the watch process, which serves all tenants: CPU time per round, and bytes that wait
// for its clients. If a tenant has used up its share, its clients get their events in a later round. Initial events that a worker
// handed over wait in files beside that, as many as the setting `unsent` permits.
#ifndef TENURE_SERVER_WATCH_SHARE_H
#define TENURE_SERVER_WATCH_SHARE_H

#include "base/base.h"
#include "base/siphash.h"

struct watch_client;
struct watch_clients;

enum {
	WATCH_SHARES = 1024,                    // tenants are distinguished by a hash; two that meet have one share in that round
	WATCH_ROUND_CPU_US = 50 * 1000,         // CPU time of one tenant's watches in a round; an event that exceeds it is still
	                                        // finished
	WATCH_EVENT_CPU_US = 250 * 1000,        // CPU time of one event for one client
	WATCH_EVENT_MEMORY = 20 << 20,          // bytes for one event for one client
	WATCH_CONTENTS_MEMORY = 12 << 20,       // bytes of several resources that are read at once
	WATCH_TENANT_WAITING_MAX = 4 << 20,     // bytes waiting for one tenant's clients; at this number they get no events until
	                                        // they read some
	WATCH_ALL_WAITING_MAX = 16 << 20,       // bytes waiting for all clients; beyond it the clients with the most are closed
};

struct watch_shares {
	uint64_t key[SIPHASH_KEY]; // another one in each round, so that no two tenants always meet
	int64_t cpu_us[WATCH_SHARES];
	size_t waiting[WATCH_SHARES];
	size_t all_waiting;
	uint64_t in_files[WATCH_SHARES]; // bytes that wait in files; for watch_shares_bound_files() alone
};

// Begins a new round and counts the waiting bytes.
void watch_shares_begin(struct watch_shares *shares, const struct watch_clients *clients);
// May this client be sent an event now?
bool watch_shares_allow(const struct watch_shares *shares, const struct watch_client *client);
// Adds the CPU time and the bytes of an event for this client. Closes clients if more bytes wait than allowed.
void watch_shares_note(struct watch_shares *shares, struct watch_clients *clients, const struct watch_client *client,
	int64_t cpu_us, size_t bytes);
// Closes clients until at most so many bytes of initial events wait in files: each time, of the tenant with the most, the client
// that has read nothing for the longest time.
void watch_shares_bound_files(struct watch_shares *shares, struct watch_clients *clients, uint64_t most);

#endif

// SPDX-License-Identifier: Apache-2.0
// Purges what is past its retention. Run regularly by the host service (server/host/reaper.h), or by `tenure-manage reap`.
#ifndef TENURE_REGISTRY_UPKEEP_REAP_H
#define TENURE_REGISTRY_UPKEEP_REAP_H

#include <signal.h>

#include "registry/core/context.h"

// How much was purged or, in a dry run, would be.
struct reap_counts {
	uint64_t tenants;   // deleted tenants past their purge time
	uint64_t resources; // resources past their purge time, and those of purged tenants
	uint64_t forwards;  // forwards to purged resources, and those that have expired
	uint64_t moves;     // finished longer ago than the retention
	uint64_t changes;   // older than change_retention
	uint64_t periods;   // closed periods of usage that ended longer ago than usage_retention
	uint64_t tokens;    // expired or revoked longer ago than the retention, and those of purged tenants
	bool uncounted;     // there are changes older than that which stay until usage has counted them (registry/usage/usage_count.h)
	bool stopped;       // the run ended before its end, since stop was set
	int64_t ahead_s;    // this host's clock is so many seconds ahead of the database's (negative: behind); 0: by less than a minute
};

enum reap_mode {
	REAP_COUNT, // counts what would be purged, and changes nothing
	REAP_PURGE,
};

// Purges, or counts; call registry_begin() first. It runs transactions of its own, each of bounded size. If one fails, counts has
// what was purged before. stop: set by a signal handler: the run ends behind the transaction that it is at; NULL: it is never
// stopped. What a run leaves, also one that was killed, the next one finds. OUTCOME_OK, _UNAVAILABLE, _INTERNAL. The time of a
// purge that came to its end is recorded in the database.
// The run decides by reap_now(), to which it sets registry->now_us: a purge can't be undone, so one wrong clock must not cause
// it.
enum outcome reap(struct registry *registry, enum reap_mode mode, const volatile sig_atomic_t *stop, struct reap_counts *counts);
// The time by which a purge decides, in microseconds since 1970 (UTC): this host's, or the database's if that is earlier. Call
// registry_begin() first, and not within a transaction. OUTCOME_OK, _UNAVAILABLE, _INTERNAL.
enum outcome reap_now(struct registry *registry, int64_t *now_us);
// When the last purge came to its end by reap_now(), on whichever host: *at_us in microseconds since 1970 (UTC); 0: there was
// none. Call registry_begin() first, and not within a transaction. OUTCOME_OK, _UNAVAILABLE, _INTERNAL.
enum outcome reap_last(struct registry *registry, int64_t *at_us);

#endif

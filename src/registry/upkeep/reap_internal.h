// SPDX-License-Identifier: Apache-2.0
// For the files of reap: reap.c, which says in what order, reap_owned.c (tenants and their resources) and reap_log.c (what is
// kept of the past).
#ifndef TENURE_REGISTRY_UPKEEP_REAP_INTERNAL_H
#define TENURE_REGISTRY_UPKEEP_REAP_INTERNAL_H

#include "db/db.h"
#include "registry/upkeep/reap.h"

enum { REAP_AT_ONCE = 1000 }; // rows that one transaction purges

// A run.
struct reaping {
	struct registry *registry;
	const volatile sig_atomic_t *stop;
	struct reap_counts *counts;
};

// Is this run to end now?
bool reap_must_end(struct reaping *reaping);
// When what has just become due was made, if it is kept for so many seconds: in microseconds since 1970.
int64_t reap_kept_since(const struct registry *registry, uint64_t seconds);

// One transaction: purges up to REAP_AT_ONCE rows, and says in *n how many.
typedef enum outcome reap_fn(struct registry *registry, const void *arg, uint64_t *n);
// Runs fn as a transaction and rewinds registry->pool. *n is 0 if it failed. OUTCOME_OK, _UNAVAILABLE, _INTERNAL.
enum outcome reap_transact(struct reaping *reaping, reap_fn *fn, const void *arg, uint64_t *n);
// Does that until fewer than REAP_AT_ONCE rows were left, and adds to *counter how many there were.
enum outcome reap_all(struct reaping *reaping, reap_fn *fn, const void *arg, uint64_t *counter);
// For a reap_fn whose statement deletes rows: what it returns, and *n.
enum outcome reap_deleted(enum db_result result, const struct db_rows *rows, uint64_t *n);

// The parts of a run. Each adds to reaping->counts what it purged, or for REAP_COUNT would purge.

// Makes the names of expired tenants free.
enum outcome reap_expired_tenants(struct reaping *reaping);
// Purges resources past their own purge time.
enum outcome reap_expired_resources(struct reaping *reaping);
// Deletes what purged tenants had.
enum outcome reap_purged_tenants(struct reaping *reaping);
enum outcome reap_moves(struct reaping *reaping, enum reap_mode mode);
// Messages of webhooks that were received or given up longer ago than the retention, and pings. They are not counted.
enum outcome reap_webhook_messages(struct reaping *reaping);
// Ends before the first change that usage has yet to count: a period must not lose what nobody counted in time.
enum outcome reap_changes(struct reaping *reaping, enum reap_mode mode);
// What updates replaced.
enum outcome reap_former_content(struct reaping *reaping);
enum outcome reap_usage(struct reaping *reaping, enum reap_mode mode);

#endif

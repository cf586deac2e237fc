// SPDX-License-Identifier: Apache-2.0
// For the files that write allocations only: what a write concerns, after it was locked and read.
#ifndef TENURE_REGISTRY_PLACEMENT_ALLOCATION_INTERNAL_H
#define TENURE_REGISTRY_PLACEMENT_ALLOCATION_INTERNAL_H

#include "base/buf.h"
#include "base/pool.h"
#include "registry/placement/allocation.h"
#include "registry/placement/provider_internal.h"
#include "sql/allocations.h"

// A provider that the write concerns, with its row locked.
struct holding {
	uint64_t id, tenant_id;
	struct uuid uid;
	bool there; // it is live, in an active tenant
	bool receives; // it gets allocations by this write
};
// An inventory of such a provider. used: by all consumers; before and after: by the consumers of this write.
struct cell {
	uint64_t resource_id, class_id;
	uint64_t min_unit, max_unit, step_size;
	int64_t capacity, used, before, after;
};
// A consumer before the write.
struct known {
	bool there;
	uint64_t generation;
	struct str project, user, type;
};
// A write of allocations: the sets to be written, and what they concern.
struct deal {
	struct registry *registry;
	const struct allocation_set *sets;
	size_t n;
	struct str *classes; // the classes of all allocations of all sets in order, and their ids
	uint64_t *class_ids;
	size_t n_allocations;
	struct str consumers; // JSON array of the consumers' uids, sorted
	struct holding *holdings; // sorted by uid
	size_t n_holdings;
	struct cell *cells;       // sorted by provider and class
	size_t n_cells;
	struct known *known;      // one for each set
};

// Completes a deal that has registry, sets and n: looks up the classes, finds the providers and consumers that the write
// concerns, locks them, and reads their inventories and allocations. OUTCOME_OK; _UNAVAILABLE: something changed before the
// locks were taken, so the transaction runs again; or what classes_find() and take_locks() return.
enum outcome deal_prepare(struct deal *deal);
// Makes db_txn_run() run the transaction again, since another one was faster. Returns OUTCOME_UNAVAILABLE.
enum outcome lose_race(struct registry *registry);
// The inventory, NULL: there is none.
// Returns the inventory; NULL: there is none.
struct cell *deal_cell(const struct deal *deal, uint64_t resource_id, uint64_t class_id);
// Returns the provider with that uid; NULL: there is none, or it or its tenant is deleted.
struct holding *deal_provider(const struct deal *deal, const struct uuid *uid);

// ---- JSON arrays for statements. Start with an empty buffer: begin_item() adds "[" or ",", end_list() adds "]".

void begin_item(struct buf *json);
void add_id(struct buf *json, uint64_t id);
// Adds the uid as a string of hex digits, within an item that has begun.
void add_hex(struct buf *json, const struct uuid *uid);
struct str end_list(struct buf *json);

#endif

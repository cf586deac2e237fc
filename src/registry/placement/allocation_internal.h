// SPDX-License-Identifier: Apache-2.0
// For the files that write allocations only: what a write is about, locked and read.
#ifndef TENURE_REGISTRY_PLACEMENT_ALLOCATION_INTERNAL_H
#define TENURE_REGISTRY_PLACEMENT_ALLOCATION_INTERNAL_H

#include "base/buf.h"
#include "base/pool.h"
#include "registry/placement/allocation.h"
#include "registry/placement/provider_internal.h"
#include "sql/allocations.h"

// A provider that the write concerns.
struct holding {
	uint64_t id, tenant_id;
	struct uuid uid;
	bool there; // and alive, in an active tenant
	bool receives; // allocations
};
// An inventory of one of them: what the consumers at hand have of it, and are to have.
struct cell {
	uint64_t resource_id, class_id;
	uint64_t min_unit, max_unit, step_size;
	int64_t capacity, used, before, after;
};
// A consumer as it is.
struct known {
	bool there;
	uint64_t generation;
	struct str project, user, type;
};
struct deal {
	struct registry *registry;
	const struct allocation_set *sets;
	size_t n;
	struct str *classes; // of all allocations, one after the other, with
	uint64_t *class_ids;
	size_t n_allocations;
	struct str consumers; // their uids as JSON, in order
	struct holding *holdings; // by uid
	size_t n_holdings;
	struct cell *cells;       // by provider and class
	size_t n_cells;
	struct known *known;      // of each set
};

// For a deal with registry, sets and n: names the classes, finds which providers and consumers it concerns, locks these and
// reads what they have. OUTCOME_OK; _UNAVAILABLE: something changed between the look and the locks; what classes_find and
// take_locks answer.
enum outcome deal_prepare(struct deal *deal);
// The whole transaction is to be run again: another was faster.
enum outcome lose_race(struct registry *registry);
// The inventory, NULL: there is none.
struct cell *deal_cell(const struct deal *deal, uint64_t resource_id, uint64_t class_id);
// The provider of that uid, NULL: there is none, or it or its tenant is deleted.
struct holding *deal_provider(const struct deal *deal, const struct uuid *uid);

// ---- lists for the statements, in an empty buffer: "[", items with "," between, "]"

// What stands before an item.
void begin_item(struct buf *json);
void add_id(struct buf *json, uint64_t id);
// The uid alone, within an item.
void add_hex(struct buf *json, const struct uuid *uid);
struct str end_list(struct buf *json);

#endif

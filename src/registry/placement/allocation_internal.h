// SPDX-License-Identifier: Apache-2.0
// For the files that write allocations only: what a write concerns, after it was locked and read.
#ifndef TENURE_REGISTRY_PLACEMENT_ALLOCATION_INTERNAL_H
#define TENURE_REGISTRY_PLACEMENT_ALLOCATION_INTERNAL_H

#include "base/buf.h"
#include "base/pool.h"
#include "registry/placement/allocation.h"
#include "registry/placement/provider_internal.h"
#include "registry/placement/reshape.h"
#include "sql/allocations.h"

// A provider that the write concerns, with its row locked.
struct locked_provider {
	uint64_t id, tenant_id;
	struct uuid uid;
	bool there; // the provider is live, in an active tenant
	bool receives; // it gets allocations by this write
	bool gives;    // before this write, one of its consumers has allocations of the provider
	bool emptied;  // it loses allocations to a consumer whose new set is empty
	const struct reshaped_provider *reshaped; // NULL: its inventories stay
};
// An inventory of such a provider. used: by all consumers; before and after: by the consumers of this write.
struct inventory_delta {
	uint64_t resource_id, class_id;
	uint64_t min_unit, max_unit, step_size;
	int64_t capacity, used, before, after;
	bool reshaped; // a reshape changes or creates this inventory
	bool ends;     // a reshape will remove this inventory; until then, it has its old figures
	int64_t former_capacity; // if reshaped: before it
};
// A consumer before the write.
struct known {
	bool there;
	uint64_t generation;
	int64_t updated_us;
	struct str type; // p NULL: it has none
	struct str project, user;
};
// What one of the consumers has of one provider and class before the write.
struct allocated_before {
	uint64_t resource_id;
	size_t set; // whose consumer it is, by its place in sets
	struct str class;
	uint64_t class_id;
	uint64_t used;
};
// Receives each reason why a write is refused; registry->problem describes it. The reason is about the consumer's allocation of
// the provider. If consumer is NULL it is about the provider alone, if provider is NULL about the consumer alone.
struct allocation_refusals {
	void (*take)(void *arg, const struct uuid *consumer, const struct uuid *provider, enum outcome outcome);
	void *arg;
	size_t n; // how many there were
};
// A write of allocations: the sets to be written, and what they concern.
struct allocation_write {
	struct registry *registry;
	const struct allocation_set *sets; // ordered by consumer
	size_t n;
	const struct reshaped_provider *reshaped; // the providers whose inventories are replaced
	size_t n_reshaped;
	bool deletes; // DELETE of a consumer's allocations: raises no provider's generation
	const uint64_t *renewed; // of each set, the generation of its consumer before it was removed; NULL: not an undo
	struct allocation_refusals *refusals; // NULL: the first refusal ends the write
	struct str *classes; // the classes of all allocations of all sets in order, and their ids
	uint64_t *class_ids;
	size_t n_allocations;
	struct str consumers; // JSON array of the consumers' uids, sorted
	struct locked_provider *locked_providers; // sorted by uid
	struct locked_provider **by_id;   // the same, sorted by id
	size_t n_locked_providers;
	struct inventory_delta *deltas;       // sorted by provider and class
	size_t n_deltas;
	struct known *known;      // one for each set
	struct allocated_before *before;
	size_t n_before;
};

// Completes a write of which registry, sets and n are set: looks up the classes, finds the providers and consumers that the write
// concerns, locks them, and reads their inventories and allocations. OUTCOME_OK; _UNAVAILABLE: something changed before the
// locks were taken, so the transaction runs again; or what provider_find_classes() and registry_take_locks() return.
enum outcome allocation_write_prepare(struct allocation_write *write);
// Makes db_txn_run() run the transaction again, because another one has changed what this one has read. Returns
// OUTCOME_UNAVAILABLE.
enum outcome allocation_write_again(struct registry *registry);
// Returns the inventory; NULL: there is none.
struct inventory_delta *allocation_write_inventory(const struct allocation_write *write, uint64_t resource_id, uint64_t class_id);
// Returns the provider with that uid; NULL: there is none, or it or its tenant is deleted.
struct locked_provider *allocation_write_provider(const struct allocation_write *write, const struct uuid *uid);
// Returns the provider with that id; NULL: the write doesn't concern it.
struct locked_provider *allocation_write_provider_of_id(const struct allocation_write *write, uint64_t id);
void allocation_write_sort(struct allocation_write *write);

// Returns what it is passed; but if the write has refusals to be taken, takes one that is of the client's request or of what it
// is about, and returns OUTCOME_OK.
enum outcome allocation_write_refuse(const struct allocation_write *write, const struct uuid *consumer, const struct uuid *provider,
	enum outcome outcome);

// ---- allocation_former.c

// What the write replaces at each provider whose allocations it changes, for change_keep_allocations(); p NULL: it is not kept.
// The text of a provider is an object of those consumers of the write that have allocations there before or after it:
//   {"UID": {"left": 4, "generation": 3, "project_id": "…", "user_id": "…", "consumer_type": "INSTANCE", "resources": {"VCPU": 2}}}
// left: the generation after the write, KEPT_RENEWED if it is not known yet; absent if the consumer is gone then. The others tell
// what the consumer was before, and what it had there; they are absent if there was no consumer.
enum { KEPT_RENEWED = 0 };
struct str allocation_write_former(const struct allocation_write *write);

// ---- reshape.c

// Checks and carries out a prepared write with its reshaped providers. With refusals, nothing is written if there are any.
// Outcomes as of reshape_run().
enum outcome allocation_write_reshape(struct allocation_write *write);

// ---- allocation_write.c

// Compares each consumer's generation with what its set requires. OUTCOME_OK, _CONFLICT.
enum outcome allocation_write_check_consumers(const struct allocation_write *write);
// Checks that all providers in the sets exist. OUTCOME_OK, _BAD_DOCUMENT.
enum outcome allocation_write_check_providers(const struct allocation_write *write);
// Adds all allocations to the deltas of their inventories, and compares them with units and capacities. context: the beginning of
// the error about an unknown class. OUTCOME_OK, _BAD_DOCUMENT, _CONFLICT.
enum outcome allocation_write_count(const struct allocation_write *write, struct str context);
// Writes what allocation_write_count() has counted. put and drop: calls that write inventories, to be sent before and after the
// allocations;
// NULL for none. OUTCOME_NO_CONTENT; _BAD_DOCUMENT; _UNAVAILABLE: another transaction has changed what this one has read, and
// the whole transaction must run again.
enum outcome allocation_write_store(const struct allocation_write *write, const struct db_call *put, const struct db_call *drop);

#endif

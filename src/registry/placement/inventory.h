// SPDX-License-Identifier: Apache-2.0
// Inventories: how much of a class a provider has. provider.h describes the outcomes and their texts.
#ifndef TENURE_REGISTRY_PLACEMENT_INVENTORY_H
#define TENURE_REGISTRY_PLACEMENT_INVENTORY_H

#include "registry/placement/provider.h"

enum { INVENTORY_MAX = 2147483647 /* of total and the other counts */ };

// The capacity is (total - reserved) * allocation_ratio, rounded down. Each allocation must be between min_unit and max_unit,
// and a multiple of step_size.
struct inventory {
	struct str class;
	uint64_t total;    // 1 to INVENTORY_MAX
	uint64_t reserved; // 0 to INVENTORY_MAX
	uint64_t min_unit, max_unit, step_size; // 1 to INVENTORY_MAX
	double allocation_ratio; // 0 to 3.40282e+38
	// Only where inventories are read:
	uint64_t class_id; // read from a kept text, it is 0 for a standard class, and for all if an older version kept the text
	uint64_t used; // the sum of allocations; more than the capacity if that was lowered afterwards
	int64_t created_us, updated_us;
};

// Appends an allocation ratio: the shortest text that reads back as the same number, "1.1".
void inventory_add_ratio(struct buf *out, double ratio);

// Takes one inventory of a list, with the rules of struct provider_taker.
struct inventory_taker {
	void (*take)(void *arg, const struct inventory *inventory, struct pool *pool);
	void *arg;
};
// Gives the provider's inventories, ordered by the classes' ids. OUTCOME_OK, also if there are none; _NOT_FOUND.
enum outcome inventory_list(struct registry *registry, const struct uuid *uid, struct provider *provider,
	const struct inventory_taker *taker);
// Returns the inventory of one class; its member class is the caller's text. OUTCOME_OK, _NOT_FOUND.
enum outcome inventory_get(struct registry *registry, const struct uuid *uid, struct str class,
	struct provider *provider, struct inventory *inventory);

// What a write brings; the caller has checked the ranges above. A write that changes something raises the generation and leaves
// a change row with the field "/inventories". OUTCOME_BAD_DOCUMENT if reserved is above total, or, unless
// may_reserve_all, if the capacity is 0.
struct inventory_write {
	struct provider_guard guard;
	bool may_reserve_all;
	bool keeps_claims; // inventory_set_all: _CONFLICT (inventory.inuse), too, if a capacity sinks below what is allocated of it
	const struct inventory *inventories; // of different classes
	size_t n;
};
// Adds an inventory. OUTCOME_CREATED. _BAD_DOCUMENT (capacity, no such class), _CONFLICT with code concurrent_update
// (generation; or the provider has an inventory of that class: "Update conflict: …").
enum outcome inventory_add(struct registry *registry, const struct uuid *uid, const struct inventory_write *write,
	struct provider *provider);
// Changes an inventory. OUTCOME_OK. _NOT_FOUND (no such class), _BAD_DOCUMENT (capacity; the provider has none of that class),
// _CONFLICT (concurrent_update). The capacity may become less than what is used; then a warning is logged.
enum outcome inventory_change(struct registry *registry, const struct uuid *uid, const struct inventory_write *write,
	struct provider *provider);
// Replaces all inventories by these. OUTCOME_OK. _BAD_DOCUMENT (capacity, no such class), _CONFLICT (concurrent_update;
// inventory.inuse: one that is missing from the list has allocations). Raises the generation even if nothing changes, as
// clients expect.
enum outcome inventory_set_all(struct registry *registry, const struct uuid *uid, const struct inventory_write *write,
	struct provider *provider);
// Deletes an inventory. OUTCOME_NO_CONTENT. _NOT_FOUND (none of that class), _CONFLICT with code concurrent_update, also if it
// has allocations, as clients expect.
enum outcome inventory_delete(struct registry *registry, const struct uuid *uid, struct str class,
	const struct provider_guard *guard, struct provider *provider);
// Deletes all inventories. OUTCOME_NO_CONTENT. _CONFLICT (inventory.inuse). Raises the generation even if there is none.
enum outcome inventory_delete_all(struct registry *registry, const struct uuid *uid, const struct provider_guard *guard,
	struct provider *provider);

// ---- what a change replaced

// The inventories as they are kept for undo: a JSON object of the classes, each with its numbers, in pool. That of a custom class
// has its id, too, as "class_id".
struct str inventory_list_text(struct pool *pool, const struct inventory *list, size_t n);
// Reads such a text: *list in pool, with classes that live as long. Returns how many there are.
size_t inventory_list_of_text(struct pool *pool, struct str text, struct inventory **list);
// Gives the provider the inventories of such a text, but takes nothing away that is allocated by now: with keeps_claims. Outcomes
// as of inventory_set_all() and provider_name_kept_classes().
enum outcome inventory_restore(struct registry *registry, const struct uuid *uid, struct str former, struct provider *provider);

#endif

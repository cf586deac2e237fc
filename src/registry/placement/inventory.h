// SPDX-License-Identifier: Apache-2.0
// Inventories: how much of a class a provider has. Outcomes and words as registry/placement/provider.h says.
#ifndef TENURE_REGISTRY_PLACEMENT_INVENTORY_H
#define TENURE_REGISTRY_PLACEMENT_INVENTORY_H

#include "registry/placement/provider.h"

enum { INVENTORY_MAX = 2147483647 /* of total and the other counts */ };

// Capacity is (total - reserved) * allocation_ratio, rounded down. An allocation is at least min_unit, at most
// max_unit and a multiple of step_size.
struct inventory {
	struct str class;
	uint64_t total;    // 1 to INVENTORY_MAX
	uint64_t reserved; // 0 to INVENTORY_MAX
	uint64_t min_unit, max_unit, step_size; // 1 to INVENTORY_MAX
	double allocation_ratio; // not negative, at most 3.40282e+38
	// Of those that are read:
	uint64_t used; // by allocations; above the capacity when that has shrunk
	int64_t created_us, updated_us;
};

// In order of the classes' ids; of a provider without any: OUTCOME_OK, none.
enum outcome inventory_list(struct registry *registry, const struct uuid *uid, struct provider *provider,
	struct inventory **list, size_t *n);
// OUTCOME_OK, _NOT_FOUND.
enum outcome inventory_get(struct registry *registry, const struct uuid *uid, struct str class,
	struct provider *provider, struct inventory *inventory);

// What a write brings, checked to be in the ranges above. Each that changes something raises the generation and leaves
// a change row with the field "/inventories". Total and reserved: OUTCOME_BAD_DOCUMENT when reserved is above the
// total, or equal to it unless may_reserve_all.
struct inventory_write {
	struct provider_guard guard;
	bool may_reserve_all;
	const struct inventory *inventories; // of different classes
	size_t n;
};
// One more. OUTCOME_CREATED. _BAD_DOCUMENT (capacity, no such class), _CONFLICT (concurrent_update; there is one of
// that class: "Update conflict: …").
enum outcome inventory_add(struct registry *registry, const struct uuid *uid, const struct inventory_write *write,
	struct provider *provider);
// Changes the one. OUTCOME_OK. _BAD_DOCUMENT (capacity; it has none of that class), _CONFLICT (concurrent_update). A
// capacity below what is used is allowed; a line in the log tells of it.
enum outcome inventory_change(struct registry *registry, const struct uuid *uid, const struct inventory_write *write,
	struct provider *provider);
// These and no others. OUTCOME_OK. _BAD_DOCUMENT (capacity, no such class), _CONFLICT (concurrent_update;
// inventory.inuse: one that would go has allocations). Raises the generation even when they are as they were, as
// clients expect.
enum outcome inventory_set_all(struct registry *registry, const struct uuid *uid, const struct inventory_write *write,
	struct provider *provider);
// OUTCOME_NO_CONTENT. _NOT_FOUND (none of that class), _CONFLICT with code concurrent_update, in use too, as clients
// expect.
enum outcome inventory_delete(struct registry *registry, const struct uuid *uid, struct str class,
	const struct provider_guard *guard, struct provider *provider);
// OUTCOME_NO_CONTENT. _CONFLICT (inventory.inuse). Raises the generation even when there is none.
enum outcome inventory_delete_all(struct registry *registry, const struct uuid *uid, const struct provider_guard *guard,
	struct provider *provider);

#endif

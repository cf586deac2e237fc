// SPDX-License-Identifier: Apache-2.0
// Allocations: what consumers have of providers' inventories; consumers, who come with their first allocation and go
// with their last; and usages, the sums of both.
#ifndef TENURE_REGISTRY_PLACEMENT_ALLOCATION_H
#define TENURE_REGISTRY_PLACEMENT_ALLOCATION_H

#include "registry/placement/inventory.h"

// project_id and user_id of who told none.
#define CONSUMER_INCOMPLETE "00000000-0000-0000-0000-000000000000"
// How the type of a consumer that has none is shown.
#define CONSUMER_TYPE_UNKNOWN "unknown"

struct consumer {
	struct uuid uid;
	struct str project, user; // 1 to 255 characters
	struct str type;          // CONSUMER_TYPE_UNKNOWN: it has none
	uint64_t generation;      // 1 after the first write
	int64_t created_us, updated_us;
};

// ---- writing

// So much of one class of one provider.
struct allocation {
	struct uuid provider;
	struct str class;
	uint64_t amount; // 1 to INVENTORY_MAX
};

enum consumer_check {
	CONSUMER_UNCHECKED,
	CONSUMER_IS_NEW, // nobody has allocated for it: the client's null
	CONSUMER_IS_AT,  // it is at this generation
};
// All that a consumer has from now on. A pair of provider and class stands at most once in it.
struct allocation_set {
	struct uuid consumer;
	struct str project, user; // p NULL: a known consumer's stay, a new one's are CONSUMER_INCOMPLETE
	struct str type;          // likewise; CONSUMER_TYPE_UNKNOWN: none. Names come into being when they are used
	enum consumer_check check;
	uint64_t generation; // CONSUMER_IS_AT
	const struct allocation *allocations;
	size_t n;            // 0: nothing any more, and the consumer is no more
};
// Writes all sets, of different consumers, or none of them. What changes hands among them does not count twice. The
// generation of each consumer goes up by one, and that of every provider that gets allocations of them; one that only gives
// some up keeps its own, as clients expect. OUTCOME_NO_CONTENT. _BAD_DOCUMENT: "Allocation for resource provider '…' that does
// not exist.", "Unable to allocate inventory for consumer …: No such resource class ….". _CONFLICT: no inventory, capacity
// exceeded, unit or step (without code); consumer generation (concurrent_update).
enum outcome allocations_write(struct registry *registry, const struct allocation_set *sets, size_t n);
// OUTCOME_NO_CONTENT; _NOT_FOUND "No allocations for consumer '…'".
enum outcome allocations_delete(struct registry *registry, const struct uuid *consumer);

// ---- reading

struct allocated {
	struct consumer consumer;     // of allocations_of_provider; else only its uid
	struct uuid provider;
	uint64_t provider_generation;
	struct str class;
	uint64_t used;
	int64_t updated_us;
};
// Ordered by provider and class. OUTCOME_OK; a consumer without any: *n is 0, and *consumer has but its uid.
enum outcome allocations_of_consumer(struct registry *registry, const struct uuid *uid, struct consumer *consumer,
	struct allocated **list, size_t *n);
// Ordered by consumer and class. OUTCOME_OK, _NOT_FOUND.
enum outcome allocations_of_provider(struct registry *registry, const struct uuid *uid, struct provider *provider,
	struct allocated **list, size_t *n);

// ---- usages. A provider's are inventory_list's, member used.

struct usage {
	struct str class;
	uint64_t used;
};
// The consumers of one type; or all of them, type "all".
struct usage_group {
	struct str type;
	uint64_t consumers;
	struct usage *usages;
	size_t n;
};
struct usage_query {
	struct str project;
	struct str user;  // p NULL: whoever's
	struct str type;  // p NULL: of all types; CONSUMER_TYPE_UNKNOWN: those without
	bool by_type;     // a group for each type, in their order; else one for all, if there are consumers
};
// OUTCOME_OK.
enum outcome usages_total(struct registry *registry, const struct usage_query *query, struct usage_group **groups,
	size_t *n);

#endif

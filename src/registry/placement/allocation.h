// SPDX-License-Identifier: Apache-2.0
// Allocations: which amounts of providers' inventories a consumer uses. A consumer exists from its first allocation to its
// last. Usages are sums of allocations.
#ifndef TENURE_REGISTRY_PLACEMENT_ALLOCATION_H
#define TENURE_REGISTRY_PLACEMENT_ALLOCATION_H

#include "registry/placement/inventory.h"

// project_id and user_id of a consumer whose client sent none.
#define CONSUMER_INCOMPLETE "00000000-0000-0000-0000-000000000000"
// What a consumer without a type is shown with.
#define CONSUMER_TYPE_UNKNOWN "unknown"

struct consumer {
	struct uuid uid;
	struct str project, user; // 1 to 255 characters
	struct str type;          // CONSUMER_TYPE_UNKNOWN: none
	uint64_t generation;      // 1 after the first write
	int64_t created_us, updated_us;
};

// Notes in the registry that the request concerns the tenant with the name of this project, the consumer's as it is stored
// (registry_concerns). CONSUMER_INCOMPLETE is nobody's. The text must live as long as the request's pool.
void consumer_concerns(struct registry *registry, struct str project);

// ---- writing

// An amount of one class of one provider.
struct allocation {
	struct uuid provider;
	struct str class;
	uint64_t amount; // at least 1; refused if it is more than the inventory's max_unit
};

enum consumer_check {
	CONSUMER_UNCHECKED,
	CONSUMER_IS_NEW, // the consumer must not exist: the client sent null
	CONSUMER_IS_AT,  // the consumer must be at this generation
};
// All allocations that a consumer has after the write. Each pair of provider and class occurs at most once.
struct allocation_set {
	struct uuid consumer;
	struct str project, user; // p NULL: CONSUMER_INCOMPLETE, of a known consumer as well
	// p NULL: a known consumer keeps its own, a new one has none; CONSUMER_TYPE_UNKNOWN: none. A new name of a type is stored
	// when it is first used
	struct str type;
	enum consumer_check check;
	uint64_t generation; // for CONSUMER_IS_AT
	const struct allocation *allocations;
	size_t n;            // 0: the consumer loses all allocations and ceases to exist
};
// Writes all sets, or none of them. The sets are of different consumers, and ordered by consumer. Amounts that pass from one of
// these consumers to another are not counted twice. The generation of each consumer is raised by one. So is the generation of
// each provider that gets an allocation, and of each that loses one to an empty set; a provider that only loses allocations
// otherwise keeps its generation, as clients expect. If more than a provider's capacity is used, because the capacity has
// shrunk, a write is accepted that does not raise the use. context: the beginning of the error about an unknown class.
// OUTCOME_NO_CONTENT. _BAD_DOCUMENT: "Allocation for resource provider '…' that does not exist.", "CONTEXT No such resource
// class ….". _CONFLICT: no inventory, capacity exceeded, unit or step (without code); consumer generation (concurrent_update).
enum outcome allocations_write(struct registry *registry, const struct allocation_set *sets, size_t n, struct str context);
// Removes all allocations of the consumer. OUTCOME_NO_CONTENT; _NOT_FOUND "No allocations for consumer '…'".
enum outcome allocations_delete(struct registry *registry, const struct uuid *consumer);

// ---- reading

struct allocated {
	struct consumer consumer;
	struct uuid provider;
	uint64_t provider_generation; // only from allocations_of_consumer()
	struct str class;
	uint64_t used;
	int64_t updated_us;
};
// Takes one allocation of a list, with the rules of struct provider_taker.
struct allocated_taker {
	void (*take)(void *arg, const struct allocated *allocated, struct pool *pool);
	void *arg;
};
// Gives them ordered by provider and class; none, if there is no such consumer. OUTCOME_OK.
enum outcome allocations_of_consumer(struct registry *registry, const struct uuid *uid, const struct allocated_taker *taker);
// Gives them ordered by consumer and class. OUTCOME_OK, and *provider is the provider; _NOT_FOUND.
enum outcome allocations_of_provider(struct registry *registry, const struct uuid *uid, struct provider *provider,
	const struct allocated_taker *taker);

// ---- usages of projects. A provider's usages are the member used in inventory_list().

// What the consumers of one type, or all consumers (type "all"), use of one class.
struct usage {
	struct str type;
	uint64_t consumers; // of that type
	struct str class;
	uint64_t used;
};
// Takes one usage, with the rules of struct provider_taker.
struct usage_taker {
	void (*take)(void *arg, const struct usage *usage, struct pool *pool);
	void *arg;
};
struct usage_query {
	struct str project;
	struct str user;  // p NULL: of any user
	struct str type;  // p NULL: of any type; CONSUMER_TYPE_UNKNOWN: consumers without a type
	bool by_type;     // for each type; else for all consumers together
};
// Adds up the allocations of the consumers that the query selects, and gives the sums ordered by type and class. If there are
// any, the request concerns the project, whose name must live as long as the request's pool. OUTCOME_OK, or that of a failed
// statement.
enum outcome usages_total(struct registry *registry, const struct usage_query *query, const struct usage_taker *taker);

#endif

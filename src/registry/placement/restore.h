// SPDX-License-Identifier: Apache-2.0
// Puts back allocations and inventories that a write or a reshape has replaced, from the texts that the change log keeps.
#ifndef TENURE_REGISTRY_PLACEMENT_RESTORE_H
#define TENURE_REGISTRY_PLACEMENT_RESTORE_H

#include "registry/placement/reshape.h"

// What was replaced at one provider: a text of allocation_write_former(), or of inventory_list_text().
struct replaced {
	struct uuid provider;
	struct str text;
};
struct placement_restore {
	const struct replaced *allocations; // everything that the write replaced, by provider; each provider once
	size_t n_allocations;
	const struct replaced *inventories; // each provider once; the providers must be live, but their tenants need not be; no writer may delete them meanwhile
	size_t n_inventories;
	int64_t at_us; // when the write was made
	uint64_t first; // the id of its first change
	// Takes each reason against it, which registry->problem describes: about the consumer's allocations of the provider, or
	// about either of the two, if the other is NULL. OUTCOME_STALE: the consumer has changed since the write.
	void (*refuse)(void *arg, const struct uuid *consumer, const struct uuid *provider, enum outcome outcome);
	void *arg;
};

// Gives the write's consumers what they had before it, and the providers the inventories that they had, all together or nothing.
// It checks what a write of allocations and a reshape check, and that no capacity sinks below what is allocated by now. A
// consumer that the write removed is made again with a generation that nobody has seen. OUTCOME_OK, also if something was
// refused; or that of a failed statement.
enum outcome placement_restore(struct registry *registry, const struct placement_restore *restore);

// What the consumers of the kept text had at the provider before the write, and what they have there now: objects of the
// consumers with project_id, user_id, consumer_type and resources, in registry->pool. resource_id: of the provider. *now:
// OUTCOME_OK, or that of a failed statement.
struct doc *allocations_replaced_doc(struct registry *registry, struct str text);
enum outcome allocations_present_doc(struct registry *registry, uint64_t resource_id, struct str text, struct doc **now);

#endif

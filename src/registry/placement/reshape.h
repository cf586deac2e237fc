// SPDX-License-Identifier: Apache-2.0
// Reshaping: one transaction replaces inventories of several providers and allocations of several consumers. So an inventory
// can be moved to another provider together with the allocations of it, for example from a compute node to one of its GPUs.
#ifndef TENURE_REGISTRY_PLACEMENT_RESHAPE_H
#define TENURE_REGISTRY_PLACEMENT_RESHAPE_H

#include "registry/placement/allocation.h"

// All inventories that the provider will have. Inventories of other classes are removed from it.
struct reshaped_provider {
	struct uuid provider;
	uint64_t generation; // the generation that the provider must have now
	bool any_generation; // it may have any
	const struct inventory *inventories; // of different classes
	size_t n;
};
struct reshape {
	const struct reshaped_provider *providers; // each once
	size_t n_providers;
	const struct allocation_set *sets; // as allocations_write takes them
	size_t n_sets;
};

// Reshapes, or changes nothing. The new allocations are compared with the new inventories. An inventory that is removed must have
// no allocations after the write, of no consumer, even one that is not in sets. The change log gets a row for the inventories of
// each provider, and one for its allocations if they change. OUTCOME_NO_CONTENT. The errors have the placement service's texts:
//   _BAD_DOCUMENT  resource_provider.not_found (a provider of inventories); a provider of allocations that does not exist; a class
//                  that does not exist; a reserved value above the total
//   _CONFLICT      concurrent_update (the generation of a provider or a consumer); inventory.inuse; no inventory, capacity exceeded,
//                  unit or step (without code)
enum outcome reshape_run(struct registry *registry, const struct reshape *reshape);

#endif

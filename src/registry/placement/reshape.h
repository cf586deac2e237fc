// SPDX-License-Identifier: Apache-2.0
// Reshaping: inventories of several providers, and allocations of several consumers, are replaced in one transaction, so that what
// is allocated can move between providers together with what it is allocated of.
#ifndef TENURE_REGISTRY_PLACEMENT_RESHAPE_H
#define TENURE_REGISTRY_PLACEMENT_RESHAPE_H

#include "registry/placement/allocation.h"

// The inventories that a provider is to have: these and no others.
struct reshaped_provider {
	struct uuid provider;
	uint64_t generation; // which it has to be at
	const struct inventory *inventories; // of different classes
	size_t n;
};
struct reshape {
	const struct reshaped_provider *providers; // each once
	size_t n_providers;
	const struct allocation_set *sets; // as allocations_write takes them
	size_t n_sets;
};

// Does all of it, or nothing. Allocations are compared with the new inventories, and those of classes that a provider is to lose
// have to be gone from it then, those of consumers that are not named as well. Of each provider the change log has a row for its
// inventories, and one for its allocations where those change. OUTCOME_NO_CONTENT. In the words of the placement service:
//   _BAD_DOCUMENT  resource_provider.not_found (a provider of inventories); a provider of allocations that does not exist; a class
//                  that does not exist; a reserved value above the total
//   _CONFLICT      concurrent_update (the generation of a provider or a consumer); inventory.inuse; no inventory, capacity exceeded,
//                  unit or step (without code)
enum outcome reshape_run(struct registry *registry, const struct reshape *reshape);

#endif

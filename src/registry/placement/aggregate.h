// SPDX-License-Identifier: Apache-2.0
// Aggregates: uuids that providers have in common. Nothing is known of one but which providers are in it.
#ifndef TENURE_REGISTRY_PLACEMENT_AGGREGATE_H
#define TENURE_REGISTRY_PLACEMENT_AGGREGATE_H

#include "registry/placement/provider.h"

// In byte order. OUTCOME_OK, _NOT_FOUND.
enum outcome aggregate_list(struct registry *registry, const struct uuid *uid, struct provider *provider,
	struct uuid **list, size_t *n);
// These and no others, in any order, repeated or not. raises: the generation goes up, even when they are as they were;
// else it is kept (microversions before 1.19). A change leaves a change row with the field "/aggregates". OUTCOME_OK.
// _CONFLICT (concurrent_update), _STALE, _PRECONDITION_REQUIRED, _NOT_FOUND.
enum outcome aggregate_set(struct registry *registry, const struct uuid *uid, const struct provider_guard *guard,
	bool raises, const struct uuid *list, size_t n, struct provider *provider);

#endif

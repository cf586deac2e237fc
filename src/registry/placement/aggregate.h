// SPDX-License-Identifier: Apache-2.0
// Aggregates: sets of providers, each identified by a uuid. Nothing else is stored of an aggregate.
#ifndef TENURE_REGISTRY_PLACEMENT_AGGREGATE_H
#define TENURE_REGISTRY_PLACEMENT_AGGREGATE_H

#include "registry/placement/provider.h"

// Returns the aggregates of the provider, in byte order. OUTCOME_OK, _NOT_FOUND.
enum outcome aggregate_list(struct registry *registry, const struct uuid *uid, struct provider *provider,
	struct uuid **list, size_t *n);
// Puts the provider into exactly these aggregates, given in any order, also repeated. raises: raise the provider's generation
// even if nothing changes; else keep it (microversions before 1.19). A change, or a generation raised without one, leaves a
// change row with the field "/aggregates". OUTCOME_OK, _CONFLICT (concurrent_update), _STALE, _PRECONDITION_REQUIRED, _NOT_FOUND.
enum outcome aggregate_set(struct registry *registry, const struct uuid *uid, const struct provider_guard *guard,
	bool raises, const struct uuid *list, size_t n, struct provider *provider);

// The aggregates as they are kept for undo: a JSON array of uuids, in pool.
struct str aggregate_list_text(struct pool *pool, const struct uuid *list, size_t n);
// Puts the provider back into the aggregates of such a text, and raises its generation. Outcomes as of aggregate_set().
enum outcome aggregate_restore(struct registry *registry, const struct uuid *uid, struct str former, struct provider *provider);

#endif

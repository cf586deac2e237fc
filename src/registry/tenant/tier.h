// SPDX-License-Identifier: Apache-2.0
// Tiers: what a tenant may be put into, and how many resources it may have then.
#ifndef TENURE_REGISTRY_TENANT_TIER_H
#define TENURE_REGISTRY_TENANT_TIER_H

#include "registry/core/model.h"

struct tier {
	struct str name;
	bool has_limit;         // the tier has a quota
	uint64_t max_resources; // the quota, if has_limit
	struct str description;
};

// Reads the tiers in byte order of their names, after marker (p NULL: from the first), at most limit. *more: there are more.
// OUTCOME_OK, or that of a failed statement.
enum outcome tier_list(struct registry *registry, struct str marker, uint64_t limit, struct tier **list, size_t *n, bool *more);

#endif

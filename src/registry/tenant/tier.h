// SPDX-License-Identifier: Apache-2.0
// Tiers: what a tenant may be put into, and how many resources it may have then. They are the operator's: a change of one is
// logged as a change beside the tenant "system", of the field "/tiers/NAME".
#ifndef TENURE_REGISTRY_TENANT_TIER_H
#define TENURE_REGISTRY_TENANT_TIER_H

#include "registry/core/model.h"

enum {
	TIER_NAME_MAX = 255,         // characters
	TIER_DESCRIPTION_MAX = 1024, // characters
};
// The largest number that max_resources can be: scripts that read JSON keep it exactly.
#define TIER_MOST_RESOURCES UINT64_C(9007199254740991)

struct tier {
	uint64_t id;
	struct str name;
	bool has_limit;         // the tier has a quota
	uint64_t max_resources; // the quota, if has_limit
	struct str description;
	int64_t changed_us; // when it was changed last, later than at any change before; 0: before schema version 25
	// A hash of the members above: each change makes a new one, also that to an earlier content. A tier that is made again
	// has another id.
	uint8_t etag[64];
};

struct tier_page {
	struct tier *list; // allocated from the request's pool
	size_t n;
	bool more; // there are more tiers after the last one here
};
// Reads the tiers in byte order of their names, after marker (p NULL: from the first), at most limit, > 0. OUTCOME_OK, or that of
// a failed statement.
enum outcome tier_list(struct registry *registry, struct str marker, uint64_t limit, struct tier_page *page);
// Reads the tier. *tenants: how many tenants are in it, those that are deleted and recoverable among them. OUTCOME_OK,
// _NOT_FOUND.
enum outcome tier_get(struct registry *registry, struct str name, struct tier *tier, uint64_t *tenants);

// The following functions run in a transaction that writes, and lock the row of the tenant "system", then that of the tier.

// Makes the tier content->name, or replaces its limit and description. Tenants that have more resources than the new limit keep
// them, and can't create any. *tier is the tier afterwards. OUTCOME_CREATED; _OK, changed or not; _STALE, _PRECONDITION_REQUIRED;
// _UNAVAILABLE: `tenure-manage` has made the tier meanwhile, so the transaction runs again.
enum outcome tier_put(struct registry *registry, const struct tier *content, struct guard guard, struct tier *tier);
// Deletes a tier without tenants. OUTCOME_NO_CONTENT; _NOT_FOUND; _CONFLICT: tenants are in it, perhaps deleted and recoverable
// ones, or new tenants get it (setting default_tier); _STALE, _PRECONDITION_REQUIRED.
enum outcome tier_delete(struct registry *registry, struct str name, struct guard guard);

#endif

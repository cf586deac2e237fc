// SPDX-License-Identifier: Apache-2.0
// How many resources of each type tenants have, counted from rows.
#ifndef TENURE_REGISTRY_TENANT_TYPE_COUNTS_H
#define TENURE_REGISTRY_TENANT_TYPE_COUNTS_H

#include "registry/core/model.h"

// Tenants are counted together while they have no more than so many resources: some hundredths of a second.
enum { TYPE_COUNTS_TOGETHER = 100000 };

struct type_count_row {
	size_t tenant;   // which of the tenants that were given
	struct str type; // as in addresses: "configmaps", "widgets.example.com"
	uint64_t resources;
};

// Counts the live resources of the first *counted of n > 0 tenants. *counted: as many tenants as together have at most
// TYPE_COUNTS_TOGETHER resources (tenant.resources), but at least one. Its time is proportional to what they have, deleted
// resources included; it reads one index, and no resource. *list: in the tenants' order, then in byte order of the types; no row
// where a tenant has none of a type. The namespace "default" does not count. OUTCOME_OK, _UNAVAILABLE, _INTERNAL.
enum outcome type_counts_list(struct registry *registry, const struct tenant *tenants, size_t n, size_t *counted,
	struct type_count_row **list, size_t *n_list);

#endif

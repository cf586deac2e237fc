// SPDX-License-Identifier: Apache-2.0
// Reads the change log of one tenant: changes of the tenant and of the resources in it.
#ifndef TENURE_REGISTRY_TENANT_CHANGE_LIST_H
#define TENURE_REGISTRY_TENANT_CHANGE_LIST_H

#include "registry/core/model.h"

// One row of the change log, as clients see it.
struct change {
	uint64_t id;
	int64_t at_us;
	struct str actor;
	struct uuid request_id;
	struct str verb;         // created | updated | deleted | recovered | moved | purged
	const struct type *type; // the resource's type; NULL: the change is of the tenant itself
	struct str space, name;
	struct uuid uid;
	uint64_t revision;
	struct str etag_before, etag_after; // as clients saw them: 64 bytes, or p NULL
	struct str fields; // the fields that an update altered, a JSON array of JSON Pointers; p NULL: not recorded
};

// Returns the changes with an id above after, in order of their ids, at most limit. *more: there are more. It locks the
// tenant's row and so waits for running writers in the tenant, after which no change with a smaller id can become visible. So
// it must run in a transaction that writes. OUTCOME_OK, _NOT_FOUND, _GONE (the tenant is deleted).
enum outcome change_list(struct registry *registry, struct str tenant, uint64_t after, uint64_t limit,
	struct change **list, size_t *n, bool *more);

#endif

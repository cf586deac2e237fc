// SPDX-License-Identifier: Apache-2.0
// The change log, read: what happened to a tenant and what is in it.
#ifndef TENURE_REGISTRY_TENANT_CHANGE_LIST_H
#define TENURE_REGISTRY_TENANT_CHANGE_LIST_H

#include "registry/core/model.h"

struct change {
	uint64_t id;
	int64_t at_us;
	struct str actor;
	struct uuid request_id;
	struct str verb;         // created | updated | deleted | recovered | moved | purged
	const struct type *type; // NULL: the tenant itself
	struct str space, name;
	struct uuid uid;
	uint64_t revision;
	struct str etag_before, etag_after; // 64 bytes, or none
	struct str fields; // JSON array of pointers; p NULL: none told
};

// Changes with an id above after, in their order, at most limit. *more: there are others behind. Waits for the writers
// that are at work in the tenant, so that no change with a smaller id comes to light later: only in a transaction that
// writes.
// OUTCOME_OK, _NOT_FOUND, _GONE (the tenant).
enum outcome change_list(struct registry *registry, struct str tenant, uint64_t after, uint64_t limit,
	struct change **list, size_t *n, bool *more);

#endif

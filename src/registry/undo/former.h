// SPDX-License-Identifier: Apache-2.0
// The history of a resource with its content before and after each change, as far as that is kept (setting content_retention).
#ifndef TENURE_REGISTRY_UNDO_FORMER_H
#define TENURE_REGISTRY_UNDO_FORMER_H

#include "registry/core/model.h"

// The content of a resource at some time.
struct former_content {
	enum { FORMER_UNKNOWN, FORMER_NONE, FORMER_KNOWN } state; // not kept; there was no resource, or it was deleted; known
	bool locked;
	struct str meta, body, traits; // as in struct resource
};

struct former_change {
	uint64_t id;
	struct uuid request_id;
	int64_t at_us;
	struct str actor, verb;
	uint64_t revision; // after the change
	struct str fields; // JSON array of JSON Pointers; p NULL: not recorded
	struct former_content before, after;
	// Of a change of a provider's inventories or aggregates, if the caller is an operator: their name, and what they were before and after it;
	// NULL: not known. p NULL: the change is none of those.
	struct str beside;
	const struct doc *beside_before, *beside_after;
};

// Which resource of which tenant, and which part of its history.
struct former_query {
	struct str tenant;
	const struct address *address; // NULL: by uid. Otherwise the resource that has this address or, if there is none, had it last
	struct uuid uid;
	uint64_t below; // only changes with smaller ids
	uint64_t limit; // at least 1
};

// Reads changes of the resource that were made while it was the tenant's, the newest first, in one snapshot. *resource: as it is now; it
// may be deleted. *more: there are older ones. OUTCOME_OK; _NOT_FOUND; _GONE: the tenant is deleted.
enum outcome former_history(struct registry *registry, const struct former_query *query, struct resource *resource,
	struct former_change **list, size_t *n, bool *more);

// The resource with that content, which must be known, in the place of its own. Its etag and revision stay those of the resource.
struct resource former_version(const struct resource *resource, const struct former_content *content);

#endif

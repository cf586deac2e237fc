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
	// If the change is one of a provider's inventories or aggregates, and the caller an operator: their name
	// (undo_beside_name()), and what they were before and after it, NULL if that is not known. Else p NULL.
	struct str beside;
	const struct doc *beside_before, *beside_after;
};

// Which resource of which tenant, and which part of its history.
struct former_query {
	struct str tenant;
	// The resource that has this address or, if there is none, had it last. NULL: the one that has uid or, if there is none,
	// had it last
	const struct address *address;
	struct uuid uid;
	uint64_t below; // only changes with smaller ids
	uint64_t limit; // at least 1
};

// Reads the changes of the resource that were made while it was the tenant's, the newest first. Call it in a transaction, so that
// all it reads is of one time. *resource: as it is now; it may be deleted. *list, *n: allocated from the request's pool. *more:
// there are older changes. OUTCOME_OK; _NOT_FOUND: no such tenant or resource; _BAD_PARAMETER: resources of several types have
// the uid, all live or, if none is, all deleted; _GONE: the tenant is deleted; or that of a failed statement.
enum outcome former_history(struct registry *registry, const struct former_query *query, struct resource *resource,
	struct former_change **list, size_t *n, bool *more);

// A copy of the resource that has that content, which must be FORMER_KNOWN. Its etag and revision are still those of the
// resource.
struct resource former_version(const struct resource *resource, const struct former_content *content);

#endif

// SPDX-License-Identifier: Apache-2.0
// The change log, followed: what a reader of all tenants' changes needs. How far it may be read: horizon.h.
#ifndef TENURE_REGISTRY_WATCH_CHANGE_STREAM_H
#define TENURE_REGISTRY_WATCH_CHANGE_STREAM_H

#include "registry/core/model.h"

struct followed {
	uint64_t id;
	struct str verb;            // created | updated | deleted | recovered | moved | purged
	struct str tenant, from;    // whose it is; moved: whose it was. p NULL: a tenant that is no more
	struct str former;          // the name of a tenant that is no more; p NULL: it is there
	uint64_t tenant_id;
	struct resource resource;   // id 0: the change is of the tenant itself. What the log says of it, until follow_contents
	const struct tenant *itself; // that tenant, from follow_contents on
	bool newest;                // from follow_contents on: what was read there has no later change
	bool asks_before;           // set by the caller: follow_contents is to fill in the next
	struct str before;          // what selectors could ask before the change (selectable.h); p NULL: nobody knows
};

// The ids of the oldest change that is kept, or of the next one that may be, and of the newest that is known of; 0: there
// never was any. OUTCOME_OK.
enum outcome follow_bounds(struct registry *registry, uint64_t *oldest, uint64_t *newest);
// Changes with after < id <= up_to in their order, at most limit. OUTCOME_OK.
enum outcome follow_changes(struct registry *registry, uint64_t after, uint64_t up_to, uint64_t limit,
	struct followed **list, size_t *n);
// Of those only what has to do with two tenants, their ids: theirs, and what left them. OUTCOME_OK.
enum outcome follow_changes_of(struct registry *registry, const uint64_t tenants[2], uint64_t after, uint64_t up_to,
	uint64_t limit, struct followed **list, size_t *n);
// The ids of the tenants that changes with after < id <= up_to have to do with, those in flight included. OUTCOME_OK.
enum outcome follow_tenants(struct registry *registry, uint64_t after, uint64_t up_to, uint64_t **ids, size_t *n);
// The id of the tenant that has the name; 0: none has it. OUTCOME_OK.
enum outcome follow_tenant(struct registry *registry, struct str name, uint64_t *id);
// Reads the resources and tenants as they stand now, deleted ones as they were, in one round trip; changed becomes the
// change's id. Of what is no longer stored the log's words stay, with neither metadata nor body. n: DB_MAX_BATCH at most.
// Where one of them asks for what selectors could ask before it, a second round trip. OUTCOME_OK.
enum outcome follow_contents(struct registry *registry, struct followed *const *list, size_t n);

#endif

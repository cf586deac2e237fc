// SPDX-License-Identifier: Apache-2.0
// The history of one resource: its changes in the change log, each with a UUID by which it can be asked for.
#ifndef TENURE_REGISTRY_LOG_HISTORY_H
#define TENURE_REGISTRY_LOG_HISTORY_H

#include "registry/core/model.h"

struct history_entry {
	// version 8 (RFC 9562, section 5.8), made of the ids of request and change, so that it is found by the change's id
	struct uuid uuid;
	int64_t at_us;
	struct str actor;
	struct str verb;   // created | updated | deleted | recovered | moved
	struct str fields; // the fields that an update altered, a JSON array of JSON Pointers; p NULL: not recorded
};

// all: also changes from before the resource became its present tenant's.
struct history_query {
	const struct resource *resource;
	bool all;
	const struct uuid *marker; // only what follows this entry; NULL: from the first
	uint64_t limit;            // at least 1
};
// Returns at most limit entries in registry->pool, oldest first. *more: there are more. OUTCOME_OK; _NOT_FOUND: the marker is no
// entry of this history.
enum outcome history_read(struct registry *registry, const struct history_query *query, struct history_entry **entries, size_t *n,
	bool *more);
// Finds the entry of that UUID. OUTCOME_OK, _NOT_FOUND.
enum outcome history_find(struct registry *registry, const struct resource *resource, bool all, const struct uuid *uuid,
	struct history_entry *entry);

#endif

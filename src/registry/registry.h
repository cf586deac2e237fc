// SPDX-License-Identifier: Apache-2.0
// A registry: made once per worker, begun for each request.
#ifndef TENURE_REGISTRY_REGISTRY_H
#define TENURE_REGISTRY_REGISTRY_H

#include "registry/core/context.h"

// Connects nothing yet.
struct registry *registry_new(const struct config *config, struct db *db);
void registry_free(struct registry **registry);
// Before each request's (first) run: loads keys and types when that hasn't happened on this connection. What goes wrong from
// here on is told in *problem, which lasts until the next registry_begin(). OUTCOME_OK, _UNAVAILABLE, _INTERNAL (schema missing or of another version; logged with what to do).
enum outcome registry_begin(struct registry *registry, struct pool *pool, const struct uuid *request_id, struct str actor,
	struct problem *problem);
// Before each run of a function in db_txn_run(), as the one before may have been rolled back: forgets what that one told, and
// whose resources it found.
void registry_begin_run(struct registry *registry);
// After each request, when nothing is used any more that it was given: drops what it left in caches beyond their bounds.
void registry_end(struct registry *registry);
// One statement: does the database answer? OUTCOME_OK, _UNAVAILABLE, _INTERNAL.
enum outcome registry_ping(struct registry *registry);

// The rules of all types that have some (type_rules.c); ends with NULL.
extern const struct type_rules *const registry_type_rules[];

enum { REGISTRY_SCHEMA_VERSION = 12 };

#endif

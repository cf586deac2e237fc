// SPDX-License-Identifier: Apache-2.0
// The store of a process is made once; the registry of a request is begun for each request.
#ifndef TENURE_REGISTRY_REGISTRY_H
#define TENURE_REGISTRY_REGISTRY_H

#include "registry/core/context.h"

// Does not connect to the database. config and db must outlive the store. NULL: no memory.
struct registry_store *registry_store_new(const struct config *config, struct db *db);
void registry_store_free(struct registry_store **store);
// Call it after each request, when nothing is used any more that was returned during it: drops cache entries beyond the bounds.
void registry_store_trim(struct registry_store *store);

// Makes *registry use that store. Until registry_begin() nothing else may be called with it, except what asks the caches.
void registry_attach(struct registry *registry, struct registry_store *store);
// Begins a request, before its first transaction runs. Loads keys and types if this has not happened yet. pool: the request's;
// actor: for change rows, must live as long. From now on failures are described in *problem, which must last until the next
// registry_begin(). Looks at the schema's version again after a new connection, a db upgrade, and a statement that names what the
// schema does not have. OUTCOME_OK; OUTCOME_UNAVAILABLE: the database is away, or its schema is of a version that this program
// may not serve, as the problem says (the log says what to do); OUTCOME_INTERNAL.
enum outcome registry_begin(struct registry *registry, struct pool *pool, const struct uuid *request_id, struct str actor,
	struct problem *problem);
// Call it before each run of a function in db_txn_run(), since an earlier run was rolled back: forgets the problem that it
// described, the tenants that it touched, and the revisions that it raised.
void registry_begin_run(struct registry *registry);
// One statement: does the database answer? OUTCOME_OK, _UNAVAILABLE, _INTERNAL.
enum outcome registry_ping(struct registry *registry);
// Reads the version of the database's schema into *version, whether this program serves it or not; 0: the tables are there, and
// no file was applied. OUTCOME_OK, _UNAVAILABLE, _INTERNAL (no such table, for instance).
enum outcome registry_schema_version(struct db *db, struct pool *pool, uint64_t *version);

// The rules of all types that have some (type_rules.c); ends with NULL.
extern const struct type_rules *const registry_type_rules[];

// The schema that this program needs: a later one will do, too, as long as the registry does not say that programs of this
// version may no longer serve it (table schema_files, column oldest).
enum { REGISTRY_SCHEMA_VERSION = 26 };

#endif

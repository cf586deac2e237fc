// SPDX-License-Identifier: Apache-2.0
// The context that every function of the registry works with. The registry keeps tenants, resources and moves, and the promises
// in "Promises of the registry" of doc/architecture.md. It knows SQL and no HTTP.
//
// Every function that changes the database runs inside a db_txn_run() of mode DB_WRITE. It keeps no state from an earlier run,
// because db_txn_run() may run it again. It returns an outcome. If the outcome does not commit, *registry->problem says what
// was wrong and what would be right. If a statement fails, the function returns OUTCOME_UNAVAILABLE or OUTCOME_INTERNAL at
// once, and db_txn_run() decides whether to run the transaction again.
#ifndef TENURE_REGISTRY_CORE_CONTEXT_H
#define TENURE_REGISTRY_CORE_CONTEXT_H

#include "base/outcome.h"
#include "base/problem.h"
#include "base/str.h"
#include "base/uuid.h"

struct config;
struct registry_settings; // registry/core/settings.h
struct db;
struct digest_key;
struct pool;
struct resource_cache;
struct types; // registry/type/type.h: the worker's cache of types

// The greatest depth to which a stored document may be nested: what MariaDB's JSON functions can read in every release
// (JSON_DEPTH_LIMIT less one). The schemas in CustomResourceDefinitions may be nested deeper (resource/write.c).
enum { REGISTRY_DEPTH_MAX = 31 };

// How a transaction takes its first locks. A large move locks its tenants' rows for long, and a worker that waits for these
// rows serves no other request. So the first run does not wait for locks (LOCK_NOWAIT). If that fails, the second run first
// asks whether a move holds the locks, refuses if so, and else waits (LOCK_AFTER_CONFLICT). The mover and tools wait
// (LOCK_PATIENTLY).
enum lock_policy { LOCK_NOWAIT, LOCK_AFTER_CONFLICT, LOCK_PATIENTLY };

// What a process caches under a revision of its own: rows of table `catalogues` (registry/cache/coherence.h).
enum coherence_of {
	COHERENCE_TRAITS,
	// CustomResourceDefinitions, and the policy and annotations of tenants, which decide between definitions
	COHERENCE_TYPES,
	COHERENCE_SCHEMA, // which programs may serve the registry: raised by each db upgrade (registry/registry.c)
	COHERENCE__N
};

// What a process keeps from one request to the next. registry_store_new() makes one for each connection to the database. Its
// caches hold nothing that a transaction may still roll back.
struct registry_store {
	const struct config *config; // for folders with settings of their own
	const struct registry_settings *settings; // of config
	struct db *db;
	struct types *types;
	struct definitions *definitions; // cached definitions: registry/type/definition.h
	struct coherence *coherence;     // keeps the caches coherent with the database: registry/cache/coherence.h
	struct catalogue *catalogue;     // cached traits: registry/trait/catalogue.h
	struct resource_cache *resource_cache;           // cached resources: registry/cache/resource_cache.h
	struct page_cache *page_cache;             // cached pages of lists: registry/cache/page_cache.h
	uint64_t cached_sessions;        // db_sessions() of what these two hold: registry/resource/internal.h
	struct horizon *horizon;         // of the change log: registry/log/horizon.h
	struct etag_keys *etag_keys;     // registry/tags/keys.h
	struct digest_key *state_key;    // registry/tags/state_tag.h; loaded from table `settings` together with the types
	struct {
		uint64_t revision; // of COHERENCE_SCHEMA
		uint64_t sessions; // db_sessions()
		uint64_t errors;   // db_schema_errors()
		bool ok;           // the registry was then of a version that this program may serve
		int64_t logged_us; // when it was last logged that it is not; 0: never
	} schema_seen;         // as of the last look at the schema's version
};

// The context of every registry function: one request's use of a store. registry_begin() sets the members from pool on for each
// request.
struct registry {
	struct registry_store *store;
	const struct config *config; // the store's
	const struct registry_settings *settings; // the store's
	struct db *db;               // the store's

	struct pool *pool;
	enum lock_policy lock_policy; // how the next run of the request's transaction takes its locks
	struct uuid request_id;
	struct str actor;       // who sent the request: for change rows
	bool privileged;        // the request comes from an operator; registry_begin() clears it
	int64_t now_us;         // when the request began; whatever has a purge time up to then counts as purged
	// The time that the transaction writes into rows. Set once its locks are held, and never before the last change of any
	// row that it locked. It orders nothing: changes.id does.
	int64_t stamp_us;
	struct problem *problem; // describes the failure; set by the owner of the registry: a worker has it in the call
	uint64_t raised[COHERENCE__N]; // the revisions after the running transaction's changes; 0: it has not raised that one
	bool asked_in_snapshot; // the running transaction, of mode DB_SNAPSHOT, has read the revisions, which stay the same in it
	struct resource_expected *expected; // what the request is about to read (registry/type/internal.h); NULL: not known
	bool left_work;         // the request queued work for the mover; registry_begin() clears it
	// Namespaces with up to so many resources are deleted in the request's transaction, if delete_sync_max is less;
	// registry_begin() clears it
	uint64_t delete_at_once;
	// Called from time to time by what takes long, with the number of resources done so far; tell NULL: not at all.
	// registry_begin() clears it
	struct {
		void (*tell)(void *arg, uint64_t done);
		void *arg;
	} progress;
	// Whose resources the request has touched so far, for the access log.
	struct {
		struct str tenant;  // p NULL: no tenant's
		bool several;       // more than one tenant's
		struct str missing; // the tenant that was looked for last and does not exist; p NULL: none
	} concerned;
};

// Notes that the request touches that tenant, or a resource of it. The name must live as long as the request's pool.
void registry_concerns(struct registry *registry, struct str tenant);
// Notes that there is no tenant of that name: it is not concerned, whatever was noted before. The name must live as long.
void registry_concerns_no(struct registry *registry, struct str tenant);
// Forgets what registry_concerns() noted, since the request begins, or its transaction runs again. Call it before the pool with
// the names is rewound, or right after.
void registry_concerns_nobody(struct registry *registry);
// Returns the name of the one tenant whose resources the request touched; p NULL if it touched none, or several tenants'.
struct str registry_concerned(const struct registry *registry);
// Has the request looked for a tenant of that name, and found that there is none?
bool registry_misses(const struct registry *registry, struct str tenant);

// Calls progress.tell, unless it is NULL, with the number of resources that are done so far.
void registry_tell(const struct registry *registry, uint64_t done);
// Raises registry->stamp_us to us (microseconds since 1970, UTC) if it is less. Never lowers it.
void registry_stamp_after(struct registry *registry, int64_t us);
// Asks for the database's clock, in microseconds since 1970 (UTC). OUTCOME_OK, or that of the failed statement.
enum outcome registry_database_now(struct registry *registry, int64_t *now_us);
// How long what is deleted stays recoverable, in microseconds: the setting retention.
int64_t registry_retention_us(const struct registry *registry);
// Can s be a name or id in an address? It must have 1 to 255 characters of valid UTF-8, no '/' and no NUL, and not be "." or
// "..".
bool registry_id_is_valid(struct str s);

enum { REGISTRY_MAX_ID = 255 /* characters, not bytes */ };

#endif

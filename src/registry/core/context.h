// SPDX-License-Identifier: Apache-2.0
// The domain: tenants, resources, moves, and the five promises of doc/architecture. Knows SQL, not HTTP.
//
// Every function that changes something runs inside a db_txn_run of mode DB_WRITE and starts from nothing, since it may be
// run again. It answers an outcome; on one that does not commit, *registry->problem says what was wrong and what would be
// right. When the database fails under it it answers OUTCOME_UNAVAILABLE or OUTCOME_INTERNAL at once and db_txn_run
// decides what that means.
#ifndef TENURE_REGISTRY_CORE_CONTEXT_H
#define TENURE_REGISTRY_CORE_CONTEXT_H

#include "base/outcome.h"
#include "base/str.h"
#include "base/uuid.h"
#include "base/problem.h"

struct config;
struct db;
struct digest_key;
struct pool;
struct recall;
struct types; // registry/type/type.h: the catalogue of types, held per worker

// How deep what is stored may be nested: what MariaDB's JSON functions read, in every release (JSON_DEPTH_LIMIT less one).
// Schemas in definitions may be deeper (resource/write.c).
enum { REGISTRY_DEPTH_MAX = 31 };

// How a transaction takes its first locks. A large move holds its tenants for long, and a worker that waits for one serves
// nobody else: so the first try does not wait, and the second asks whether a move is the reason before it does.
enum lock_manner { LOCK_AT_ONCE, LOCK_AFTER_CONFLICT, LOCK_PATIENTLY };

// What every registry function works with: made once per worker, the second half set for each request.
struct registry {
	const struct config *config;
	struct db *db;
	struct types *types;
	struct definitions *definitions; // registry/type/definition.h: what is held of them
	struct catalogue *catalogue; // of traits: registry/trait/catalogue.h
	struct recall *recall; // of resources: registry/cache/resource_cache.h
	struct pages *pages; // of lists: registry/cache/page_cache.h
	struct horizon *horizon; // of the change log: registry/log/horizon.h
	struct digest_key *etag_key; // from table settings; loaded with the types
	struct digest_key *state_key;

	struct pool *pool;
	enum lock_manner manner; // for the next run of the request's transaction
	struct uuid request_id;
	struct str actor;       // who asks, for change rows
	bool privileged;        // an operator asks; registry_begin clears it
	int64_t now_us;         // when the request began: what is past its time by then is no more
	int64_t stamp_us;       // the time of all that the transaction writes: taken once its locks are held, and never before
	                        // the last change of any row that it locked. It orders nothing; changes.id does
	struct problem *problem; // whoever began says where it is to be told what went wrong: a worker, in the call
	struct {
		struct str tenant; // p NULL: of none so far
		bool several;
	} concerned; // whose resources the call has found, for the access log; set to nothing before each run of the call
};

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
// Fills registry->problem's detail and returns outcome, so that callers can `return registry_fail(…)`.
enum outcome registry_fail(struct registry *registry, enum outcome outcome, const char *format, ...) PRINTF_LIKE(3, 4);
// The call is about a resource of that tenant. The name lives in the request's pool.
void registry_concerns(struct registry *registry, struct str tenant);
// The one tenant that it was about; p NULL: none, or several.
struct str registry_concerned(const struct registry *registry);
// Adds a member to the problem ("purge_at", …).
void registry_fail_member(struct registry *registry, const char *name, struct str value);

// One statement: does the database answer? OUTCOME_OK, _UNAVAILABLE, _INTERNAL.
enum outcome registry_ping(struct registry *registry);

enum { REGISTRY_SCHEMA_VERSION = 12, REGISTRY_MAX_ID = 255 /* characters, not bytes */ };

#endif

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
#include "base/problem.h"
#include "base/str.h"
#include "base/uuid.h"

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
	struct coherence *coherence; // of what it holds: registry/cache/coherence.h
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
	} concerned; // whose resources the call has found, for the access log
};

// The call is about a resource of that tenant. The name lives in the request's pool.
void registry_concerns(struct registry *registry, struct str tenant);
// The call begins, or begins again: it has been about nobody's resources. Before the pool that the name lives in is rewound,
// or right after.
void registry_concerns_nobody(struct registry *registry);
// The one tenant that it was about; p NULL: none, or several.
struct str registry_concerned(const struct registry *registry);

// Raises registry->stamp_us to us (microseconds since 1970) if it is less. Never lowers it.
void registry_stamp_after(struct registry *registry, int64_t us);
int64_t retention_us(const struct registry *registry);
// Is s usable as an id of anything: 1 to 255 characters of UTF-8, no '/', no NUL, not "." or ".."?
bool id_ok(struct str s);

enum { REGISTRY_MAX_ID = 255 /* characters, not bytes */ };

#endif

// SPDX-License-Identifier: Apache-2.0
// How workers learn that what they cache is stale: traits of the catalogue, and definitions of types.
//
// Each cached entry is valid as of a revision. Table `catalogues` has the current revision, and every change raises it in its
// own transaction. The newest known revision is also in memory that all processes of the host share, whoever started them
// (base/shared.h). A process that commits a change raises it there, so no process of the host answers from older entries. Twice a
// second, the first process that reads asks the database on behalf of all, so a change by another host, or by tenure-manage,
// becomes visible within a second. So does a change while the shared file is lost. A process that shares nothing has such memory
// for itself.
#ifndef TENURE_REGISTRY_CACHE_COHERENCE_H
#define TENURE_REGISTRY_CACHE_COHERENCE_H

#include "db/db.h"
#include "registry/core/context.h"

struct shared; // base/shared.h

// Makes the store use the revisions in the host's memory from now on; NULL: memory of its own. host must outlive the store.
void coherence_join(struct registry_store *store, const struct shared *host);
// Tells the other processes of the revisions that the transaction raised. The code that runs a transaction calls it after COMMIT.
void coherence_committed(struct registry *registry);

// ---- for registry/

// The statement that raises a revision: the last one of a transaction that changes the catalogue, because its row stays locked
// until COMMIT.
struct db_call coherence_raise_call(enum coherence_of of);
// Takes the new revision from the result of that statement. Call it after the batch that contained call.
void coherence_raised(struct registry *registry, enum coherence_of of, const struct db_call *call);
// The same in a round trip of its own. OUTCOME_OK, or that of a failed statement.
enum outcome coherence_raise(struct registry *registry, enum coherence_of of);
// Has the running transaction raised the revision? Then what it reads may be rolled back, and must not be cached.
bool coherence_is_raised(const struct registry *registry, enum coherence_of of);
// Makes the next coherence_ask() ask the database, however recently it was asked: the change log shows that something changed.
void coherence_invalidate(struct registry *registry);
// Asks the database for the revisions on behalf of all processes, unless one did in the last half second. A transaction of mode
// DB_SNAPSHOT asks once and for itself, since its answer may be old: the next caller outside of a snapshot asks again.
// OUTCOME_OK, or that of a failed statement.
enum outcome coherence_ask(struct registry *registry);
// The newest known revision; 0: none is known yet. coherence_note() records a revision that was read together with other rows.
uint64_t coherence_newest(const struct registry *registry, enum coherence_of of);
void coherence_note(struct registry *registry, enum coherence_of of, uint64_t revision);
// Locks the row of the traits' revision until COMMIT. Two kinds of writers do so: one that looks for resources that still use a
// trait or class before it hides that, and one that recovers resources and makes the hidden traits and classes live that these
// use. So neither misses what the other has just done. Writers of traits in all tenants wait for the row, so a transaction locks
// it as late as it can; and a transaction that raises COHERENCE_TYPES as well does so before, so that no two wait for each other.
struct db_call coherence_lock_call(void);

struct coherence *coherence_new(void);
void coherence_free(struct coherence **coherence);
// Before each run of a transaction: forgets what an earlier run raised, since that was rolled back.
void coherence_begin(struct registry *registry);

#endif

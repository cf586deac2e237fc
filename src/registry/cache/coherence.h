// SPDX-License-Identifier: Apache-2.0
// How workers learn of changes of what they hold: the catalogue of traits, definitions of types.
//
// What a worker holds is true as of a revision. The revision stands in the database, in table catalogues, and every change
// raises it in the same transaction. The newest one that is known here stands in memory that the processes of one master
// share (struct coherence_shared): who commits a change raises it there as well, so that no process under that master
// answers from what was before; and twice a second the first of them that reads asks the database on behalf of all, so
// that what other hosts and masters changed is seen within a second. A lone worker has such memory for itself.
#ifndef TENURE_REGISTRY_CACHE_COHERENCE_H
#define TENURE_REGISTRY_CACHE_COHERENCE_H

#include "db/db.h"
#include "registry/core/context.h"

// What is held, each with a revision of its own: rows of table catalogues.
enum coherence_of {
	COHERENCE_TRAITS,
	COHERENCE_TYPES, // CustomResourceDefinitions, and of tenants what decides about theirs
	COHERENCE__N
};

// Memory for a master to make before it forks, and to give back at its end. NULL: there is none.
struct coherence_shared *coherence_share(void);
void coherence_unshare(struct coherence_shared **shared);
// From here on this registry goes by the revision in that memory. NULL changes nothing.
void coherence_join(struct registry *registry, struct coherence_shared *shared);
// The transaction in which something was raised has been committed: tells the others. For whoever runs transactions.
void coherence_committed(struct registry *registry);

// ---- for registry/

// The last statement of a transaction's change of the catalogue; its row is held from then until COMMIT.
struct db_call coherence_raise_call(enum coherence_of of);
// After the batch that had it.
void coherence_raised(struct registry *registry, enum coherence_of of, const struct db_call *call);
// The same alone. OUTCOME_OK.
enum outcome coherence_raise(struct registry *registry, enum coherence_of of);
// Has the running transaction raised it? Then what it reads may be rolled back, and is not to be held.
bool coherence_is_raised(const struct registry *registry, enum coherence_of of);
// Something was changed, by what the change log says: the next to ask does ask, whenever it was done last.
void coherence_doubt(struct registry *registry);
// Asks the database for the revisions on behalf of all processes, if none has for half a second. OUTCOME_OK.
enum outcome coherence_ask(struct registry *registry);
// The newest revision that is known of; 0: none yet. What was read with a revision tells of it.
uint64_t coherence_newest(const struct registry *registry, enum coherence_of of);
void coherence_note(struct registry *registry, enum coherence_of of, uint64_t revision);
// Holds the traits' row until COMMIT, for two: who looks, behind it, for resources that forbid to hide a trait or a
// class; and who brings resources back and, behind it, the hidden ones that they have. So neither misses what the other
// has just done.
struct db_call coherence_hold_call(void);

struct coherence *coherence_new(void);
void coherence_free(struct coherence **coherence);
// A run of the transaction begins: what an earlier one raised was rolled back.
void coherence_begin(struct registry *registry);

#endif

// SPDX-License-Identifier: Apache-2.0
// Counts usage: turns the change log into periods that are closed, one after the other, and then never change.
//
// Each change of a resource says how many bytes counted before and after it, and for whom (log/change.h). A change at the time t
// adds to its period, which ends at E: the resources and bytes that it made more or fewer, and the same times E - t. Both are
// sums, so changes may be added in any order and in slices of any size. When a period is closed, the balance at the end of the
// period before is added: once to the resources and bytes, and times the period's length to their integrals.
//
// A change belongs to the period in which its time lies. If that period is closed already, the change counts from the beginning
// of the first open period. A period that ends at E is closed once all changes have been counted that were committed before the
// database's clock showed E: the newest change is read after the clock, the horizon (log/horizon.h) has passed it, and so has the
// position of the counting. So what is committed later counts later, and a recomputation that knows the last change before each
// closing comes to the same figures.
//
//     waiting ──> opening ──> sharing ──> counting <──> closing
//        ^                                   │
//        └── a change without sizes ─────────┘
//
// The opening balance is what every tenant had right after the change opened_id. It is read in slices of table resources, each at
// one moment together with the changes after opened_id, whose effect is subtracted. Programs of schema version 19 log no sizes.
// When the counting meets such a change it waits until none has come for a while, and takes another opening balance; the
// difference to what it had counted goes into the period that is open then.
//
// A deleted tenant's resources do not count from its deletion on; if it is recovered, they count again.
#ifndef TENURE_REGISTRY_USAGE_USAGE_COUNT_H
#define TENURE_REGISTRY_USAGE_USAGE_COUNT_H

#include "registry/core/context.h"

// What a process remembers between two calls of usage_count(). Zeroed: nothing. Times here are microseconds since 1970 (UTC).
struct usage_counter {
	bool waits;       // newest and clock_us are set: the position has yet to reach newest, or a period's end has yet to pass clock_us
	uint64_t newest;  // id of the newest change that was committed when the database's clock showed clock_us
	int64_t clock_us;
	bool logged;      // it has been logged that changes without sizes were met
};

// Does some of the work, for a second at most, in transactions of some milliseconds. They lock the row of table usage_progress,
// so one process works at a time, and nothing that requests write. Call registry_begin() first, and not within a transaction.
// period_s: the length that periods shall have, in seconds, > 0 (setting usage_period); a new length counts from the end of a
// period on. *more: there is more to do now. Any number of processes may call this at the same time, and be killed. OUTCOME_OK;
// _UNAVAILABLE; _INTERNAL.
enum outcome usage_count(struct registry *registry, struct usage_counter *counter, uint64_t period_s, bool *more);

// How far the counting has come.
struct usage_state {
	struct str stage;        // waiting | opening | sharing | counting | closing
	uint64_t position;       // changes up to this id were counted
	int64_t closed_until_us; // the end of the last closed period; 0: there is none yet
	int64_t next_end_us;     // the end of the period that will be closed next; 0: it is not known yet
	int64_t now_us;          // the database's clock
};
// Reads it. Call registry_begin() first. OUTCOME_OK; _UNAVAILABLE; _INTERNAL.
enum outcome usage_state(struct registry *registry, struct usage_state *state);
// Sets *at_us to the time of the first change that is not counted yet. 0: all changes are counted, or the counting waits for its
// opening balance, which needs no earlier change. Call registry_begin() first. OUTCOME_OK; _UNAVAILABLE; _INTERNAL.
enum outcome usage_uncounted_since(struct registry *registry, int64_t *at_us);

#endif

// SPDX-License-Identifier: Apache-2.0
// Counts usage: turns the change log into periods that are closed, one after the other, and then never change.
//
// Each change of a resource says how many bytes counted before and after it, and for whom (log/change.h). A change at the time t adds to
// its period, which ends at E: the resources and bytes that it made more or fewer, and the same times E - t. Both are sums, so changes
// may be added in any order and in slices of any size. When a period is closed, the balance at the end of the period before is added: once
// to the resources and bytes, and times the period's length to their integrals.
//
// Of which period is a change? Of that of its time; but never of one that is closed: then it counts from the beginning of the first that
// is not. A period that ends at E is closed when all changes have been counted that were committed before the database's clock showed E:
// the newest change is read after the clock, the horizon (log/horizon.h) has passed it, and so has the position of the counting. So what
// is committed later counts later, and a recomputation that knows the last change before each closing comes to the same figures.
//
//     waiting ──> opening ──> sharing ──> counting <──> closing
//        ^                                   │
//        └── a change without sizes ─────────┘
//
// The opening balance is what there was after the change opened_id: slices of table resources, each read at one moment together with the
// changes behind opened_id, which are taken off again. Programs of schema version 19 log no sizes. When the counting meets such a change it
// waits until none has come for a while, and takes another opening balance; the difference to what it had counted goes into the period
// that is then not closed.
//
// A deleted tenant's resources do not count from its deletion on; if it is recovered, they count again.
#ifndef TENURE_REGISTRY_USAGE_USAGE_COUNT_H
#define TENURE_REGISTRY_USAGE_USAGE_COUNT_H

#include "registry/core/context.h"

// What a process remembers from one look to the next. Zeroed: nothing.
struct usage_counter {
	bool waits;       // for the position to reach newest
	uint64_t newest;  // the newest change that was committed when
	int64_t clock_us; // the database's clock showed this
	bool told;        // that sizes are missing is in the log
};

// Does some of the work, for a second at most, in transactions of some milliseconds that lock nothing which others write. Call
// registry_begin() first, and not within a transaction. period_s: the length of a period that is to be, in seconds (setting
// usage_period). *more: there was more to do. Any number of processes may do this at the same time, and be killed. OUTCOME_OK,
// _UNAVAILABLE, _INTERNAL.
enum outcome usage_count(struct registry *registry, struct usage_counter *counter, uint64_t period_s, bool *more);

// How far the work is.
struct usage_state {
	struct str stage;        // waiting | opening | sharing | counting | closing
	uint64_t position;       // changes up to this id were counted
	int64_t closed_until_us; // the end of the last closed period; 0: there is none yet
	int64_t next_end_us;     // when the period ends that is to be closed next; 0: that is not known yet
	int64_t now_us;          // the database's clock
};
// Call registry_begin() first. OUTCOME_OK, _UNAVAILABLE, _INTERNAL.
enum outcome usage_state(struct registry *registry, struct usage_state *state);
// When the first change was made that is not counted yet: *at_us in microseconds since 1970 (UTC). 0: all are counted, or the count waits
// for its opening balance, which needs no earlier change. Call registry_begin() first. OUTCOME_OK, _UNAVAILABLE, _INTERNAL.
enum outcome usage_uncounted_since(struct registry *registry, int64_t *at_us);

#endif

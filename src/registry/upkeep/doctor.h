// SPDX-License-Identifier: Apache-2.0
// Checks the invariants of all stored data, and repairs what can be repaired without guessing.
#ifndef TENURE_REGISTRY_UPKEEP_DOCTOR_H
#define TENURE_REGISTRY_UPKEEP_DOCTOR_H

#include <signal.h>

#include "registry/core/context.h"
#include "registry/tags/keys.h"

// A run of all checks. The caller sets what stands above the line.
struct doctor_run {
	bool fix;    // repair; else the stored data are only read, but for the position of this run
	bool resume; // go on where the last run was stopped; from the beginning if none was
	const volatile sig_atomic_t *stop; // set by a signal handler: the run ends behind the slice that it is at. NULL: it is never stopped
	// Is called once for each check, in a fixed order, also if nothing was found. check: the invariant ("each resource's
	// tenant exists"); found: how many rows break it; fixed: how many of these were repaired (0 if !fix); example: the name
	// of one of them, or "" if none was found since the last stop. The strings are valid until report returns.
	void (*report)(void *arg, const char *check, uint64_t found, uint64_t fixed, const char *example);
	// Called after each slice: the rows of that table up to id at are checked. last: the table's highest id when its check
	// began. NULL: not called.
	void (*progress)(void *arg, const char *table, uint64_t at, uint64_t last);
	void *arg;
	// ----
	bool resumed; // it went on where another run was stopped
	bool stopped; // it ended before its end, since stop was set
};

// Runs all checks; call registry_begin() first. It goes through the tables in slices of some thousand rows and runs transactions
// of its own, so it holds no lock and no snapshot for longer than a slice takes. Each slice of each check sees one consistent
// state. The position is stored about once a second: a run that was stopped, or killed, is resumed at the slice where it was,
// with what it had found; but not on a server that is read-only, which can only be examined. Memory is bounded. Calls report even
// if it was stopped. OUTCOME_OK if every check ran or the run was stopped, whatever it found; _UNAVAILABLE, _INTERNAL: report was
// not called.
enum outcome doctor(struct registry *registry, struct doctor_run *run);

// Counts the etags of all resources and tenants, deleted ones too, by the key that made them: by_key[i] is that of key i of the
// store's etag_keys (registry/tags/keys.h), and behind the last key, of none of them. It reads everything, a page at a time. Call
// registry_begin() first, and not within a transaction. OUTCOME_OK, _UNAVAILABLE, _INTERNAL.
enum outcome doctor_count_tags(struct registry *registry, uint64_t by_key[ETAG_KEYS_MAX + 1]);

#endif

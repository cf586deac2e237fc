// SPDX-License-Identifier: Apache-2.0
// Verifies usage: counts closed periods again from the change log, and compares them with what is stored.
//
// It begins with the opening balance that is stored, if the log still has all changes behind it. If the log was shortened since, it begins
// with what is stored at the end of the first closed period behind which it has all changes. (The first whose end lies behind the closing
// of an earlier one, with a period in reserve: what was counted before that closing was, by any clock, no change of a later period. So what
// the log no longer has is in the balance.) From there on it does what usage_count.h describes, with the same rules of which change counts
// where, but by itself: it goes through the log with sums in memory, and knows of each closing only the last change that was counted before.
//
// A tenant that was deleted before this beginning, and recovered later, brings back an amount that the log does not tell. It is left out.
//
// It only reads, and what it reads of is closed, so it can run beside everything else.
#ifndef TENURE_REGISTRY_USAGE_USAGE_VERIFY_H
#define TENURE_REGISTRY_USAGE_USAGE_VERIFY_H

#include <signal.h>

#include "registry/core/context.h"
#include "registry/usage/usage_sum.h"

// A stored figure that is not the one that was counted again. Lives until the function that is told of it returns.
struct usage_difference {
	struct str tenant; // its name; of a purged one, the last. STR_NONE: of the period itself, not of a tenant
	struct str type;   // as in addresses: "configmaps"
	int64_t since_us, until_us;
	const char *what; // "resources", "bytes", "resource_seconds", "byte_seconds" or "from"
	char stored[USAGE_SECONDS], counted[USAGE_SECONDS];
};

// A run. The caller sets what stands above the line.
struct usage_verification {
	const volatile sig_atomic_t *stop; // set by a signal handler: the run ends soon. NULL: it is never stopped
	void (*report)(void *arg, const struct usage_difference *difference);
	void *arg;
	// ----
	int64_t since_us, until_us; // the closed periods between these times were verified; 0: there was none
	bool from_opening;          // it began with the opening balance
	uint64_t periods, rows;     // how many periods, and stored rows of them
	uint64_t left_out;          // how many tenants were left out
	uint64_t differences;
	bool stopped;   // it ended before its end, since stop was set
	bool overtaken; // it ended before its end, since what it began with was deleted meanwhile
};

// Call registry_begin() first, and not within a transaction. Calls report for each difference. Memory is bounded: it goes through the log
// several times if there are more tenants and types than it counts at once; what was counted for periods to come is added, as much as
// there is between two closings. OUTCOME_OK, whatever it found; _UNAVAILABLE, _INTERNAL.
enum outcome usage_verify(struct registry *registry, struct usage_verification *run);

#endif

// SPDX-License-Identifier: Apache-2.0
// Verifies usage: counts closed periods again from the change log, and compares them with what is stored.
//
// If the log still has all changes since the stored opening balance, verification begins with that balance. If the log was
// shortened since, it begins with the balance that is stored at the end of a closed period P, the first one for which the log
// surely has all later changes: P ends at least one period's length after some earlier period Q was closed, and the log has all
// changes that were counted after the closing of Q. Whatever clock stamped it, a change that was counted before that closing is
// of no period after P, so the balance has it. From there on verification follows the rules of usage_count.h, but computes by
// itself: it goes through the log with sums in memory, and takes from each closing only the id of the last change that was
// counted before.
//
// A tenant that was deleted before this beginning, and recovered later, brings back an amount that the log does not have. It is
// left out.
//
// Verification only reads, and only closed periods, so it can run beside everything else.
#ifndef TENURE_REGISTRY_USAGE_USAGE_VERIFY_H
#define TENURE_REGISTRY_USAGE_USAGE_VERIFY_H

#include <signal.h>

#include "registry/core/context.h"
#include "registry/usage/usage_sum.h"

// A stored figure that differs from the one counted again. Valid until report() returns.
struct usage_difference {
	struct str tenant; // its name; of a purged tenant, the last. STR_NONE: the difference is in the period itself, not in a tenant's row
	struct str type;   // as in addresses: "configmaps"
	int64_t since_us, until_us; // the period, in microseconds since 1970 (UTC)
	// "resources", "bytes", "resource_seconds", "byte_seconds", "from" (the period's beginning) or "period" (the stored row
	// belongs to no closed period)
	const char *what;
	char stored[USAGE_SECONDS], counted[USAGE_SECONDS]; // the figures as text
};

struct usage_verification {
	// Set by the caller.
	const volatile sig_atomic_t *stop; // becomes true by a signal handler: the run ends soon. NULL: it is never stopped
	void (*report)(void *arg, const struct usage_difference *difference);
	void *arg;

	// Set by the run.
	int64_t since_us, until_us; // the closed periods between these times were verified; 0: there was none
	bool from_opening;          // the run began with the opening balance
	uint64_t periods, rows;     // how many periods were verified, and how many stored rows of them
	uint64_t left_out;          // how many tenants were left out
	uint64_t differences;
	bool stopped;   // the run ended early because stop was set
	bool overtaken; // the run ended early because the changes, closings or balance that it began with were deleted meanwhile
};

// Verifies, and calls report() for each difference. Call registry_begin() first, and not within a transaction. If there are more
// tenants and types than fit into memory (some 100,000 pairs), it goes through the log several times; beside them it keeps the
// changes that count in later periods than the present one, as many as there are between two closings. OUTCOME_OK, whether or not
// there are differences; _UNAVAILABLE; _INTERNAL.
enum outcome usage_verify(struct registry *registry, struct usage_verification *run);

#endif

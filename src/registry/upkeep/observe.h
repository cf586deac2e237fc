// SPDX-License-Identifier: Apache-2.0
// What monitoring wants to know of the database, in a few small statements.
#ifndef TENURE_REGISTRY_UPKEEP_OBSERVE_H
#define TENURE_REGISTRY_UPKEEP_OBSERVE_H

#include "registry/core/context.h"

// Times are in microseconds since 1970 (UTC).
struct observation {
	uint64_t moves_queued;   // those that run included
	uint64_t moves_running;
	int64_t oldest_move_us;  // when the oldest queued one was accepted; 0: none is queued
	uint64_t namespaces;     // that are being emptied
	int64_t reaped_at_us;    // 0: nobody has purged yet
	int64_t maintenance_us;  // since when changes are stopped for maintenance; 0: they are not
	int64_t usage_closed_us; // the end of the last closed period of usage, or when counting began; 0: it did not
	int64_t usage_due_us;    // when another period ended that is not closed; 0: none did
	uint64_t horizon;        // of the change log, as far as this process could move it now (registry/log/horizon.h)
	uint64_t above_horizon;  // committed changes above it; some thousand may mean more
};

// Reads all of it. Call registry_begin() first, and not within a transaction. May take a second if a statement that writes the
// change log does. OUTCOME_OK, _UNAVAILABLE, _INTERNAL.
enum outcome observe(struct registry *registry, struct observation *seen);

#endif

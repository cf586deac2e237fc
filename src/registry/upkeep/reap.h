// SPDX-License-Identifier: Apache-2.0
// Purging what is past its retention: housekeeping for cron, by tenure-manage reap.
#ifndef TENURE_REGISTRY_UPKEEP_REAP_H
#define TENURE_REGISTRY_UPKEEP_REAP_H

#include "registry/core/context.h"

// How much was purged, or, in a dry run, would be.
struct reap_counts {
	uint64_t tenants;   // deleted ones past purge_at
	uint64_t resources; // likewise, those of purged tenants included
	uint64_t forwards;  // whose resource is gone
	uint64_t moves;     // finished longer ago than the retention
	uint64_t changes;   // older than change_retention
	uint64_t tokens;    // expired or revoked longer ago than the retention, and those of purged tenants
};

// Begun with registry_begin(). Runs transactions of its own, of bounded size each, so nobody waits long for its locks;
// what is done is counted even when it ends early. OUTCOME_OK, or _UNAVAILABLE, _INTERNAL.
enum outcome reap(struct registry *registry, bool dry_run, struct reap_counts *counts);

#endif

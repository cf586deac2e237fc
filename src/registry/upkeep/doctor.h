// SPDX-License-Identifier: Apache-2.0
// Checks the invariants of all stored data, and repairs what can be repaired without guessing.
#ifndef TENURE_REGISTRY_UPKEEP_DOCTOR_H
#define TENURE_REGISTRY_UPKEEP_DOCTOR_H

#include "registry/core/context.h"

// Runs all checks; call registry_begin() first. It calls report once for each check, in a fixed order, also if nothing was
// found. check: the invariant ("each resource's tenant exists"); found: how many rows break it; fixed: how many of these were
// repaired (0 if !fix); example: the name of one of them, or "". The strings are valid until report returns. The function runs
// transactions of its own. If !fix it only reads, and each check sees one consistent state. OUTCOME_OK if every check ran,
// whatever it found; _UNAVAILABLE, _INTERNAL.
enum outcome doctor(struct registry *registry, bool fix,
	void (*report)(void *arg, const char *check, uint64_t found, uint64_t fixed, const char *example), void *arg);

#endif

// SPDX-License-Identifier: Apache-2.0
// Proving the invariants of the whole store, and mending what can be mended without guessing.
#ifndef TENURE_REGISTRY_UPKEEP_DOCTOR_H
#define TENURE_REGISTRY_UPKEEP_DOCTOR_H

#include "registry/core/context.h"

// Begun with registry_begin(). Calls report once for each check, in a fixed order, whether it found something or not:
// check says the invariant ("each resource's tenant exists"), found how many rows break it, fixed how many of them were
// mended (0 without fix), example names one of them, "" when there is none; strings live until report returns.
// Runs transactions of its own; without fix it only reads, and what it reports of one check is one consistent state.
// OUTCOME_OK when every check ran, whatever it found; _UNAVAILABLE, _INTERNAL.
enum outcome doctor(struct registry *registry, bool fix,
	void (*report)(void *arg, const char *check, uint64_t found, uint64_t fixed, const char *example), void *arg);

#endif

// SPDX-License-Identifier: Apache-2.0
#include "base/base.h"

#include "auth/core/waiting.h"

#include <stdatomic.h>

#include "base/shared.h"
#include "base/siphash.h"

// One place for each slot of the shared file.
struct place {
	_Atomic uint64_t owner; // mark of the process that waits; 0: none
	_Atomic uint64_t endpoint;
};

static struct place *places_of(const struct shared *shared)
{
	return shared_area(shared, SHARED_WAITING, SHARED_PROCESSES * sizeof(struct place));
}

uint64_t waiting_endpoint(const char *name)
{
	static const uint64_t fixed[SIPHASH_KEY] = { 0x656e64706f696e74, 1 };

	return siphash(fixed, str_c(name));
}

bool waiting_begin(struct shared *shared, uint64_t endpoint, unsigned most)
{
	uint64_t mine = shared != NULL ? shared_self(shared) : 0;
	unsigned n = 0;

	if (mine == 0)
		return true;
	// Counts itself first: two that come at the same time may both see one too many, never one too few.
	struct place *places = places_of(shared);
	atomic_store(&places[shared_slot(shared)].endpoint, endpoint);
	atomic_store(&places[shared_slot(shared)].owner, mine);
	for (unsigned i = 0; i < shared_used(shared); i++) {
		uint64_t owner = atomic_load(&places[i].owner);
		n += owner != 0 && atomic_load(&places[i].endpoint) == endpoint && shared_is_alive(shared, owner);
	}
	if (n <= most)
		return true;
	waiting_end(shared);
	return false;
}

void waiting_end(struct shared *shared)
{
	if (shared != NULL && shared_slot(shared) != SHARED_NONE)
		atomic_store(&places_of(shared)[shared_slot(shared)].owner, 0);
}

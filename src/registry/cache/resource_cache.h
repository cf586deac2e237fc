// SPDX-License-Identifier: Apache-2.0
// What a worker remembers of resources that it has read. A resource is never two things with one id of its last change, so
// that a reader who is told that number by the database, which is little to ask, need not be sent the rest again. Nothing
// is answered from here alone.
//
// What is mended by hand, in the database, leaves no change: it shows when what is remembered has grown old.
#ifndef TENURE_REGISTRY_CACHE_RESOURCE_CACHE_H
#define TENURE_REGISTRY_CACHE_RESOURCE_CACHE_H

#include "registry/core/model.h"

struct recall;

enum { RECALL_MAX_AGE_US = 60000000 };

// max_bytes: of all that it keeps, its own bookkeeping included; what was not asked for the longest goes first. 0: it
// keeps nothing. NULL when there is no memory.
struct recall *recall_new(uint64_t max_bytes);
void recall_free(struct recall **recall);

// The live resource last seen at that address; the one of that id, as its change `changed` made it. now_us: clock_tick_us.
// False: it is not remembered. True: *resource is a copy in the pool, but for type, which is left to the caller.
bool recall_at(struct recall *recall, struct pool *pool, const struct address *address, int64_t now_us,
	struct resource *resource);
bool recall_id(struct recall *recall, struct pool *pool, uint64_t id, uint64_t changed, int64_t now_us,
	struct resource *resource);
// Remembers a copy in place of what it had of it. Not kept: deleted ones; those that are large beside the whole; those in
// trees, where another one's change may change the root.
void recall_keep(struct recall *recall, const struct resource *resource, int64_t now_us);
void recall_forget(struct recall *recall, uint64_t id);

// Bytes that it takes, for tests.
uint64_t recall_size(const struct recall *recall);

#endif

// SPDX-License-Identifier: Apache-2.0
// A worker's cache of resources. The id of a resource's last change (changed) identifies its content. So a reader only asks the
// database for that number, which costs little, and takes the rest from the cache if the numbers agree. No answer is made from
// this cache alone.
//
// Only as long as the server does not crash: then it may give ids a second time. So the cache is emptied when the connection was
// lost (resource_caches_hold()).
//
// A row that somebody repairs by hand in the database gets no new change id. So an entry is used for a minute at most.
#ifndef TENURE_REGISTRY_CACHE_RESOURCE_CACHE_H
#define TENURE_REGISTRY_CACHE_RESOURCE_CACHE_H

#include "registry/core/model.h"

struct resource_cache;

enum { RESOURCE_CACHE_MAX_AGE_US = 60000000 };

// max_bytes bounds all that the cache keeps, its own bookkeeping included; what was least recently asked for is dropped first.
// 0: it keeps nothing. NULL: no memory.
struct resource_cache *resource_cache_new(uint64_t max_bytes);
void resource_cache_free(struct resource_cache **resource_cache);
void resource_cache_clear(struct resource_cache *resource_cache);

// resource_cache_find_at() finds the live resource last seen at the address, resource_cache_find_uid() the one of the type last
// seen with that uid, resource_cache_find_id() the resource with that id as of the change id changed. now_us: clock_tick_us().
// Returns false if it is not cached. True: *resource is a copy in pool; the caller sets its type.
bool resource_cache_find_at(struct resource_cache *resource_cache, struct pool *pool, const struct address *address,
	int64_t now_us,
	struct resource *resource);
bool resource_cache_find_uid(struct resource_cache *resource_cache, struct pool *pool, const struct type *type,
	const struct uuid *uid, int64_t now_us, struct resource *resource);
bool resource_cache_find_id(struct resource_cache *resource_cache, struct pool *pool, uint64_t id, uint64_t changed,
	int64_t now_us,
	struct resource *resource);
// Stores a copy, in place of an older one. It does not store deleted resources, resources that are large beside max_bytes, nor
// those below the root of a tree: their root can change without a change of their own.
void resource_cache_add(struct resource_cache *resource_cache, const struct resource *resource, int64_t now_us);
// Stores the resource's answer and answer_for beside it, if it is cached as of the same change and all of it is small beside
// max_bytes. The entry gets no younger by that.
void resource_cache_set_answer(struct resource_cache *resource_cache, const struct resource *resource);
void resource_cache_remove(struct resource_cache *resource_cache, uint64_t id);

// How many of the lookups so far, by the three functions above, found a resource.
void resource_cache_lookups(const struct resource_cache *resource_cache, uint64_t *hits, uint64_t *misses);
// The bytes that the cache takes, for tests.
uint64_t resource_cache_size(const struct resource_cache *resource_cache);

#endif

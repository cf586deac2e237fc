// SPDX-License-Identifier: Apache-2.0
// A worker's cache of pages of lists: which resources a page had, and the change id up to which that is complete. If the log
// has no later change of the tenant, the index need not be read again. No answer is made from this cache alone.
#ifndef TENURE_REGISTRY_CACHE_PAGE_CACHE_H
#define TENURE_REGISTRY_CACHE_PAGE_CACHE_H

#include "base/str.h"
#include "registry/core/model.h"

struct page_cache;

// At most so many pages, none used for longer than a minute.
enum { PAGES_MAX = 64, PAGES_MAX_AGE_US = 60000000 };

// The list that a page belongs to, in the terms of struct resource_query.
struct page_key {
	struct str tenant;
	uint64_t type_id;
	bool all_spaces;
	struct str space, marker;
	uint64_t limit;
};

// A resource of a page: the columns id, changed and size of its row.
struct page_item {
	uint64_t id, changed, bytes;
};

struct known_page {
	uint64_t tenant_id;
	// the page shows every change up to this id, and no change with a smaller id can become visible later
	uint64_t complete;
	size_t n;
	const struct page_item *items;
};

// max_bytes bounds all that the cache keeps; what was least recently asked for is dropped first. 0: it keeps nothing. NULL: no
// memory.
struct page_cache *page_cache_new(uint64_t max_bytes);
void page_cache_free(struct page_cache **page_cache);
// What page_cache_find() returned is not valid any more.
void page_cache_clear(struct page_cache *page_cache);

// Stores a copy of the page. now_us: clock_tick_us().
void page_cache_add(struct page_cache *page_cache, const struct page_key *key, const struct known_page *page, int64_t now_us);
// Returns the cached page, which is valid until the next page_cache_add() or page_cache_find(). NULL: none is cached, or it was
// stale so often recently that it is not worth checking. After a page was returned the caller must check it and call
// page_cache_note_use().
const struct known_page *page_cache_find(struct page_cache *page_cache, const struct page_key *key, int64_t now_us);
// Says whether the page found last is still right.
void page_cache_note_use(struct page_cache *page_cache, bool same);

// How many of the calls of page_cache_find() so far returned a page that was still right.
void page_cache_lookups(const struct page_cache *page_cache, uint64_t *hits, uint64_t *misses);
// The bytes that the cache takes, for tests.
uint64_t page_cache_size(const struct page_cache *page_cache);

#endif

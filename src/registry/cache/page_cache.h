// SPDX-License-Identifier: Apache-2.0
// What a worker remembers of pages of lists: which resources they had, and up to which change in the log that is so. Where
// the log has nothing later of the tenant, the page need not be gone through again. Nothing is answered from here alone.
#ifndef TENURE_REGISTRY_CACHE_PAGE_CACHE_H
#define TENURE_REGISTRY_CACHE_PAGE_CACHE_H

#include "base/str.h"
#include "registry/core/model.h"

struct pages;

enum { PAGES_MAX = 64, PAGES_MAX_AGE_US = 60000000 };

// What is asked for, in the words of struct resource_query.
struct page_key {
	struct str tenant;
	uint64_t type_id;
	bool all_spaces;
	struct str space, marker;
	uint64_t limit;
};

struct page_item {
	uint64_t id, changed, bytes;
};

struct known_page {
	uint64_t tenant_id;
	uint64_t complete; // every change up to this one is in it, and none that comes to light later has an id below
	size_t n;
	const struct page_item *items;
};

// max_bytes: of all that it keeps; what was not asked for the longest goes first. 0: it keeps nothing. NULL when there is
// no memory.
struct pages *pages_new(uint64_t max_bytes);
void pages_free(struct pages **pages);

// Copies. now_us: clock_tick_us.
void pages_keep(struct pages *pages, const struct page_key *key, const struct known_page *page, int64_t now_us);
// The page, which lasts until the next call of pages_keep or pages_find; NULL: none is known, or it was so often another
// one lately that asking is not worth while. pages_tell must follow where it was asked.
const struct known_page *pages_find(struct pages *pages, const struct page_key *key, int64_t now_us);
// The page found last was, or was not, still so.
void pages_tell(struct pages *pages, bool same);

// Bytes that it takes, for tests.
uint64_t pages_size(const struct pages *pages);

#endif

// SPDX-License-Identifier: Apache-2.0
#include "base/base.h"

#include "registry/cache/page_cache.h"
#include "registry/core/model.h"

// An entry takes at most half of max_bytes. An entry that was stale n times in a row is not checked the next 2^n - 1 times.
enum { LARGEST_SHARE = 2, DOUBTS_MAX = 5 };

struct entry {
	struct page_key key; // its texts stand behind items
	struct known_page page;
	size_t size;
	int64_t since_us;
	unsigned doubts;     // times in a row that it was found stale, at most DOUBTS_MAX
	unsigned passes;     // so many times it is not offered for checking
	struct page_item items[];
};

struct page_cache {
	uint64_t max_bytes, bytes;
	size_t n;
	uint64_t lookups, hits;
	struct entry *entries[PAGES_MAX]; // most recently asked for first
};

struct page_cache *page_cache_new(uint64_t max_bytes)
{
	struct page_cache *page_cache = calloc(1, sizeof(*page_cache));

	if (page_cache != NULL)
		page_cache->max_bytes = max_bytes;
	return page_cache;
}

static void drop(struct page_cache *page_cache, size_t at)
{
	struct entry *entry = page_cache->entries[at];

	page_cache->bytes -= entry->size;
	page_cache->n--;
	memmove(&page_cache->entries[at], &page_cache->entries[at + 1], (page_cache->n - at) * sizeof(struct entry *));
	free(entry);
}

void page_cache_clear(struct page_cache *page_cache)
{
	while (page_cache->n > 0)
		drop(page_cache, page_cache->n - 1);
}

void page_cache_free(struct page_cache **page_cache)
{
	if (*page_cache == NULL)
		return;
	page_cache_clear(*page_cache);
	free(*page_cache);
	*page_cache = NULL;
}

uint64_t page_cache_size(const struct page_cache *page_cache)
{
	return page_cache->bytes;
}

void page_cache_lookups(const struct page_cache *page_cache, uint64_t *hits, uint64_t *misses)
{
	*hits = page_cache->hits;
	*misses = page_cache->lookups - page_cache->hits;
}

static bool is_same(const struct page_key *a, const struct page_key *b)
{
	return a->type_id == b->type_id && a->limit == b->limit && a->all_spaces == b->all_spaces &&
	       str_eq(a->tenant, b->tenant) && str_eq(a->space, b->space) && str_eq(a->marker, b->marker);
}

static size_t place_of(const struct page_cache *page_cache, const struct page_key *key)
{
	size_t at = 0;

	while (at < page_cache->n && !is_same(&page_cache->entries[at]->key, key))
		at++;
	return at;
}

static void put_first(struct page_cache *page_cache, struct entry *entry, size_t at)
{
	memmove(&page_cache->entries[1], &page_cache->entries[0], at * sizeof(struct entry *));
	page_cache->entries[0] = entry;
}

static struct str copy_text(char **to, struct str text)
{
	struct str copy = str_n(*to, text.n);

	if (text.n > 0)
		memcpy(*to, text.p, text.n);
	*to += text.n;
	return copy;
}

static struct entry *entry_new(const struct page_key *key, const struct known_page *page, size_t size)
{
	struct entry *entry = malloc(size);

	if (entry == NULL)
		return NULL;
	char *text = (char *)(entry->items + page->n);
	*entry = (struct entry){ .key = *key, .page = *page, .size = size };
	entry->key.tenant = copy_text(&text, key->tenant);
	entry->key.space = copy_text(&text, key->space);
	entry->key.marker = copy_text(&text, key->marker);
	memcpy(entry->items, page->items, page->n * sizeof(*page->items));
	entry->page.items = entry->items;
	return entry;
}

void page_cache_add(struct page_cache *page_cache, const struct page_key *key, const struct known_page *page, int64_t now_us)
{
	size_t size = sizeof(struct entry) + page->n * sizeof(*page->items) + key->tenant.n + key->space.n + key->marker.n;
	size_t at = place_of(page_cache, key);
	unsigned doubts = 0, passes = 0;

	assert(key->tenant.p != NULL && key->type_id != 0 && (page->n == 0 || page->items != NULL));
	if (at < page_cache->n) {
		doubts = page_cache->entries[at]->doubts;
		passes = page_cache->entries[at]->passes;
		drop(page_cache, at);
	}
	struct entry *entry = size <= page_cache->max_bytes / LARGEST_SHARE ? entry_new(key, page, size) : NULL;
	if (entry == NULL)
		return; // no memory, or too large: the worker does without this entry
	entry->since_us = now_us;
	entry->doubts = doubts;
	entry->passes = passes;
	while (page_cache->n == PAGES_MAX || page_cache->bytes + size > page_cache->max_bytes)
		drop(page_cache, page_cache->n - 1);
	put_first(page_cache, entry, page_cache->n++);
	page_cache->bytes += size;
}

const struct known_page *page_cache_find(struct page_cache *page_cache, const struct page_key *key, int64_t now_us)
{
	size_t at = place_of(page_cache, key);

	assert(key->type_id != 0);
	page_cache->lookups++;
	if (at == page_cache->n)
		return NULL;
	struct entry *entry = page_cache->entries[at];
	put_first(page_cache, entry, at);
	if (entry->since_us + PAGES_MAX_AGE_US < now_us)
		return NULL;
	if (entry->passes > 0) {
		entry->passes--;
		return NULL;
	}
	return &entry->page;
}

// page_cache_find() has put the entry first.
void page_cache_note_use(struct page_cache *page_cache, bool same)
{
	struct entry *entry = page_cache->entries[0];

	assert(page_cache->n > 0 && page_cache->hits < page_cache->lookups);
	page_cache->hits += same;
	entry->doubts = same ? 0 : entry->doubts < DOUBTS_MAX ? entry->doubts + 1 : DOUBTS_MAX;
	entry->passes = (1U << entry->doubts) - 1;
}

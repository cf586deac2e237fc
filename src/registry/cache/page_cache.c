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

struct pages {
	uint64_t max_bytes, bytes;
	size_t n;
	struct entry *entries[PAGES_MAX]; // most recently asked for first
};

struct pages *pages_new(uint64_t max_bytes)
{
	struct pages *pages = calloc(1, sizeof(*pages));

	if (pages != NULL)
		pages->max_bytes = max_bytes;
	return pages;
}

static void drop(struct pages *pages, size_t at)
{
	struct entry *entry = pages->entries[at];

	pages->bytes -= entry->size;
	pages->n--;
	memmove(&pages->entries[at], &pages->entries[at + 1], (pages->n - at) * sizeof(struct entry *));
	free(entry);
}

void pages_free(struct pages **pages)
{
	if (*pages == NULL)
		return;
	while ((*pages)->n > 0)
		drop(*pages, (*pages)->n - 1);
	free(*pages);
	*pages = NULL;
}

uint64_t pages_size(const struct pages *pages)
{
	return pages->bytes;
}

static bool is_same(const struct page_key *a, const struct page_key *b)
{
	return a->type_id == b->type_id && a->limit == b->limit && a->all_spaces == b->all_spaces &&
	       str_eq(a->tenant, b->tenant) && str_eq(a->space, b->space) && str_eq(a->marker, b->marker);
}

static size_t place_of(const struct pages *pages, const struct page_key *key)
{
	size_t at = 0;

	while (at < pages->n && !is_same(&pages->entries[at]->key, key))
		at++;
	return at;
}

static void put_first(struct pages *pages, struct entry *entry, size_t at)
{
	memmove(&pages->entries[1], &pages->entries[0], at * sizeof(struct entry *));
	pages->entries[0] = entry;
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

void pages_keep(struct pages *pages, const struct page_key *key, const struct known_page *page, int64_t now_us)
{
	size_t size = sizeof(struct entry) + page->n * sizeof(*page->items) + key->tenant.n + key->space.n + key->marker.n;
	size_t at = place_of(pages, key);
	unsigned doubts = 0, passes = 0;

	if (at < pages->n) {
		doubts = pages->entries[at]->doubts;
		passes = pages->entries[at]->passes;
		drop(pages, at);
	}
	struct entry *entry = size <= pages->max_bytes / LARGEST_SHARE ? entry_new(key, page, size) : NULL;
	if (entry == NULL)
		return; // no memory, or too large: the worker does without this entry
	entry->since_us = now_us;
	entry->doubts = doubts;
	entry->passes = passes;
	while (pages->n == PAGES_MAX || pages->bytes + size > pages->max_bytes)
		drop(pages, pages->n - 1);
	put_first(pages, entry, pages->n++);
	pages->bytes += size;
}

const struct known_page *pages_find(struct pages *pages, const struct page_key *key, int64_t now_us)
{
	size_t at = place_of(pages, key);

	if (at == pages->n)
		return NULL;
	struct entry *entry = pages->entries[at];
	put_first(pages, entry, at);
	if (entry->since_us + PAGES_MAX_AGE_US < now_us)
		return NULL;
	if (entry->passes > 0) {
		entry->passes--;
		return NULL;
	}
	return &entry->page;
}

// pages_find() has put the entry first.
void pages_tell(struct pages *pages, bool same)
{
	struct entry *entry = pages->entries[0];

	entry->doubts = same ? 0 : entry->doubts < DOUBTS_MAX ? entry->doubts + 1 : DOUBTS_MAX;
	entry->passes = (1U << entry->doubts) - 1;
}

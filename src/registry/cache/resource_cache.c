// SPDX-License-Identifier: Apache-2.0
// Two hash tables over the same entries, by id and by address, and a list in the order of use. Names with equal hashes make a
// chain longer, at most to as many entries as max_bytes allows. The hash is seeded, so nobody can choose such names.
#include "base/base.h"

#include "registry/cache/resource_cache.h"

#include "base/digest.h"
#include "base/pool.h"

// An entry takes at most a sixteenth of max_bytes.
enum { LARGEST_SHARE = 16, BYTES_PER_BUCKET = 512 };

struct entry {
	struct entry *newer, *older;
	struct entry *next_of_id, *next_at;  // the next entry in the same bucket of either table
	uint64_t hash, type_id;
	int64_t since_us;
	size_t n;                 // bytes in text
	struct resource resource; // its members of type str point into text
	char text[];
};

struct recall {
	uint64_t max_bytes, bytes;
	uint64_t seed;
	uint64_t n_buckets; // a power of two
	struct entry **by_id, **at;
	struct entry *newest, *oldest; // in the order of their last use
};

// The members of struct resource that are texts.
static const size_t texts[] = {
	offsetof(struct resource, tenant), offsetof(struct resource, space), offsetof(struct resource, name),
	offsetof(struct resource, meta), offsetof(struct resource, body), offsetof(struct resource, traits),
};

static struct str *text_of(struct resource *resource, size_t i)
{
	return (struct str *)(void *)((char *)resource + texts[i]);
}

// ---- made and freed

struct recall *recall_new(uint64_t max_bytes)
{
	struct recall *recall = calloc(1, sizeof(*recall));
	uint64_t n = 1;

	if (recall == NULL)
		return NULL;
	while (n < max_bytes / BYTES_PER_BUCKET)
		n *= 2;
	recall->max_bytes = max_bytes;
	recall->n_buckets = n;
	recall->by_id = calloc(n, sizeof(struct entry *));
	recall->at = calloc(n, sizeof(struct entry *));
	digest_random(&recall->seed, sizeof(recall->seed));
	if (recall->by_id == NULL || recall->at == NULL)
		recall_free(&recall);
	return recall;
}

static void drop(struct recall *recall, struct entry *entry);

void recall_free(struct recall **recall)
{
	if (*recall == NULL)
		return;
	while ((*recall)->oldest != NULL)
		drop(*recall, (*recall)->oldest);
	free((*recall)->by_id);
	free((*recall)->at);
	free(*recall);
	*recall = NULL;
}

uint64_t recall_size(const struct recall *recall)
{
	return recall->bytes;
}

// ---- where an entry stands

static uint64_t hash_more(uint64_t hash, struct str text)
{
	for (size_t i = 0; i < text.n; i++)
		hash = (hash ^ (uint8_t)text.p[i]) * 0x100000001b3; // FNV-1a
	// a byte that no name contains, so that ("a", "bc") and ("ab", "c") differ
	return (hash ^ 0xff) * 0x100000001b3;
}

static uint64_t hash_of(const struct recall *recall, const struct address *address)
{
	uint64_t hash = hash_more(recall->seed ^ address->type->id, address->tenant);

	hash = hash_more(hash_more(hash, address->space), address->name);
	return hash ^ hash >> 32;
}

static struct entry **bucket_of_id(const struct recall *recall, uint64_t id)
{
	return &recall->by_id[id & (recall->n_buckets - 1)];
}

static struct entry **bucket_at(const struct recall *recall, uint64_t hash)
{
	return &recall->at[hash & (recall->n_buckets - 1)];
}

static void link_newest(struct recall *recall, struct entry *entry)
{
	entry->newer = NULL;
	entry->older = recall->newest;
	*(entry->older != NULL ? &entry->older->newer : &recall->oldest) = entry;
	recall->newest = entry;
}

static void unlink_entry(struct recall *recall, struct entry *entry)
{
	*(entry->newer != NULL ? &entry->newer->older : &recall->newest) = entry->older;
	*(entry->older != NULL ? &entry->older->newer : &recall->oldest) = entry->newer;
}

static size_t size_of(const struct entry *entry)
{
	return sizeof(*entry) + entry->n;
}

static void drop(struct recall *recall, struct entry *entry)
{
	struct entry **of_id = bucket_of_id(recall, entry->resource.id), **at = bucket_at(recall, entry->hash);

	while (*of_id != entry)
		of_id = &(*of_id)->next_of_id;
	*of_id = entry->next_of_id;
	while (*at != entry)
		at = &(*at)->next_at;
	*at = entry->next_at;
	unlink_entry(recall, entry);
	recall->bytes -= size_of(entry);
	free(entry);
}

// ---- asked for

static struct entry *find_id(const struct recall *recall, uint64_t id)
{
	struct entry *entry = *bucket_of_id(recall, id);

	while (entry != NULL && entry->resource.id != id)
		entry = entry->next_of_id;
	return entry;
}

static bool is_at(const struct entry *entry, const struct address *address)
{
	const struct resource *resource = &entry->resource;

	return entry->type_id == address->type->id && str_eq(resource->name, address->name) &&
	       str_eq(resource->space, address->space) && str_eq(resource->tenant, address->tenant);
}

static void copy_texts(struct resource *copy, const struct resource *resource, char *to)
{
	*copy = *resource;
	for (size_t i = 0; i < COUNT_OF(texts); i++) {
		struct str *text = text_of(copy, i);
		if (text->n > 0)
			memcpy(to, text->p, text->n);
		if (text->p != NULL)
			text->p = to;
		to += text->n;
	}
}

// Copies the entry into pool, since the entry itself may be dropped before the request ends.
static bool hand_out(struct recall *recall, struct pool *pool, struct entry *entry, int64_t now_us,
	struct resource *resource)
{
	if (entry->since_us + RECALL_MAX_AGE_US < now_us) {
		drop(recall, entry);
		return false;
	}
	unlink_entry(recall, entry);
	link_newest(recall, entry);
	copy_texts(resource, &entry->resource, pool_alloc(pool, entry->n));
	return true;
}

bool recall_at(struct recall *recall, struct pool *pool, const struct address *address, int64_t now_us,
	struct resource *resource)
{
	uint64_t hash = hash_of(recall, address);
	struct entry *entry = *bucket_at(recall, hash);

	while (entry != NULL && (entry->hash != hash || !is_at(entry, address)))
		entry = entry->next_at;
	return entry != NULL && hand_out(recall, pool, entry, now_us, resource);
}

bool recall_id(struct recall *recall, struct pool *pool, uint64_t id, uint64_t changed, int64_t now_us,
	struct resource *resource)
{
	struct entry *entry = find_id(recall, id);

	return entry != NULL && entry->resource.changed == changed && hand_out(recall, pool, entry, now_us, resource);
}

// ---- kept

void recall_forget(struct recall *recall, uint64_t id)
{
	struct entry *entry = find_id(recall, id);

	if (entry != NULL)
		drop(recall, entry);
}

void recall_keep(struct recall *recall, const struct resource *resource, int64_t now_us)
{
	const struct address address = { resource->tenant, resource->type, resource->space, resource->name };
	struct entry *entry;
	size_t n = 0;

	recall_forget(recall, resource->id);
	for (size_t i = 0; i < COUNT_OF(texts); i++)
		n += ((const struct str *)(const void *)((const char *)resource + texts[i]))->n;
	if (resource->live == RESOURCE_DELETED || resource->has_root || resource->type == NULL ||
		sizeof(*entry) + n > recall->max_bytes / LARGEST_SHARE)
		return;
	entry = malloc(sizeof(*entry) + n);
	if (entry == NULL)
		return; // no memory: the worker does without this entry
	entry->n = n;
	entry->type_id = resource->type->id;
	entry->since_us = now_us;
	entry->hash = hash_of(recall, &address);
	copy_texts(&entry->resource, resource, entry->text);
	// A type may be dropped from its cache between requests, so the entry keeps type_id only.
	entry->resource.type = NULL;
	recall->bytes += size_of(entry);
	while (recall->bytes > recall->max_bytes)
		drop(recall, recall->oldest);
	struct entry **of_id = bucket_of_id(recall, resource->id), **at = bucket_at(recall, entry->hash);
	entry->next_of_id = *of_id;
	entry->next_at = *at;
	*of_id = *at = entry;
	link_newest(recall, entry);
}

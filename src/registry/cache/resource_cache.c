// SPDX-License-Identifier: Apache-2.0
// Three hash tables over the same entries, by id, by address and by uid, and a list in the order of use. Names with equal hashes
// make a chain longer, at most to as many entries as max_bytes allows; without the key nobody can choose such names.
#include "base/base.h"

#include "registry/cache/resource_cache.h"

#include "base/digest.h"
#include "base/pool.h"
#include "base/siphash.h"

// An entry takes at most a sixteenth of max_bytes; one with an answer a sixty-fourth.
enum { LARGEST_SHARE = 16, LARGEST_WITH_ANSWER = 64, BYTES_PER_BUCKET = 512 };

struct entry {
	struct entry *newer, *older;
	struct entry *next_of_id, *next_at, *next_of_uid; // the next entry in the same bucket of each table
	uint64_t hash, uid_hash, type_id;
	int64_t since_us;
	size_t n;                 // bytes in text
	struct resource resource; // its members of type str point into text
	char text[];
};

struct resource_cache {
	uint64_t max_bytes, bytes;
	uint64_t key[SIPHASH_KEY];
	uint64_t n_buckets; // a power of two
	struct entry **by_id, **at, **by_uid;
	struct entry *newest, *oldest; // in the order of their last use
	uint64_t lookups[2]; // that found nothing, and that found a resource
};

// The members of struct resource that are texts.
static const size_t texts[] = {
	offsetof(struct resource, tenant), offsetof(struct resource, space), offsetof(struct resource, name),
	offsetof(struct resource, meta), offsetof(struct resource, body), offsetof(struct resource, traits),
	offsetof(struct resource, shown), offsetof(struct resource, answer), offsetof(struct resource, answer_for),
};

static struct str *text_of(struct resource *resource, size_t i)
{
	return (struct str *)(void *)((char *)resource + texts[i]);
}

// ---- made and freed

struct resource_cache *resource_cache_new(uint64_t max_bytes)
{
	struct resource_cache *resource_cache = calloc(1, sizeof(*resource_cache));
	uint64_t n = 1;

	if (resource_cache == NULL)
		return NULL;
	while (n < max_bytes / BYTES_PER_BUCKET)
		n *= 2;
	resource_cache->max_bytes = max_bytes;
	resource_cache->n_buckets = n;
	resource_cache->by_id = calloc(n, sizeof(struct entry *));
	resource_cache->at = calloc(n, sizeof(struct entry *));
	resource_cache->by_uid = calloc(n, sizeof(struct entry *));
	digest_random(resource_cache->key, sizeof(resource_cache->key));
	if (resource_cache->by_id == NULL || resource_cache->at == NULL || resource_cache->by_uid == NULL)
		resource_cache_free(&resource_cache);
	return resource_cache;
}

static void drop(struct resource_cache *resource_cache, struct entry *entry);

void resource_cache_clear(struct resource_cache *resource_cache)
{
	while (resource_cache->oldest != NULL)
		drop(resource_cache, resource_cache->oldest);
}

void resource_cache_free(struct resource_cache **resource_cache)
{
	if (*resource_cache == NULL)
		return;
	resource_cache_clear(*resource_cache);
	free((*resource_cache)->by_id);
	free((*resource_cache)->at);
	free((*resource_cache)->by_uid);
	free(*resource_cache);
	*resource_cache = NULL;
}

uint64_t resource_cache_size(const struct resource_cache *resource_cache)
{
	return resource_cache->bytes;
}

// ---- where an entry stands

// The hash of text behind what `before` is the hash of: so that ("a", "bc") and ("ab", "c") differ.
static uint64_t hash_behind(const struct resource_cache *resource_cache, uint64_t before, struct str text)
{
	const uint64_t key[SIPHASH_KEY] = { resource_cache->key[0] ^ before, resource_cache->key[1] };

	return siphash(key, text);
}

static uint64_t hash_of(const struct resource_cache *resource_cache, const struct address *address)
{
	uint64_t hash = hash_behind(resource_cache, address->type->id, address->tenant);

	return hash_behind(resource_cache, hash_behind(resource_cache, hash, address->space), address->name);
}

static uint64_t hash_of_uid(const struct resource_cache *resource_cache, uint64_t type_id, const struct uuid *uid)
{
	return hash_behind(resource_cache, type_id, uuid_bytes(uid));
}

static struct entry **bucket_of_id(const struct resource_cache *resource_cache, uint64_t id)
{
	return &resource_cache->by_id[id & (resource_cache->n_buckets - 1)];
}

static struct entry **bucket_at(const struct resource_cache *resource_cache, uint64_t hash)
{
	return &resource_cache->at[hash & (resource_cache->n_buckets - 1)];
}

static struct entry **bucket_of_uid(const struct resource_cache *resource_cache, uint64_t uid_hash)
{
	return &resource_cache->by_uid[uid_hash & (resource_cache->n_buckets - 1)];
}

static void link_newest(struct resource_cache *resource_cache, struct entry *entry)
{
	entry->newer = NULL;
	entry->older = resource_cache->newest;
	*(entry->older != NULL ? &entry->older->newer : &resource_cache->oldest) = entry;
	resource_cache->newest = entry;
}

static void unlink_entry(struct resource_cache *resource_cache, struct entry *entry)
{
	*(entry->newer != NULL ? &entry->newer->older : &resource_cache->newest) = entry->older;
	*(entry->older != NULL ? &entry->older->newer : &resource_cache->oldest) = entry->newer;
}

static size_t size_of(const struct entry *entry)
{
	return sizeof(*entry) + entry->n;
}

static void drop(struct resource_cache *resource_cache, struct entry *entry)
{
	struct entry **of_id = bucket_of_id(resource_cache, entry->resource.id), **at = bucket_at(resource_cache, entry->hash);
	struct entry **of_uid = bucket_of_uid(resource_cache, entry->uid_hash);

	while (*of_id != entry)
		of_id = &(*of_id)->next_of_id;
	*of_id = entry->next_of_id;
	while (*at != entry)
		at = &(*at)->next_at;
	*at = entry->next_at;
	while (*of_uid != entry)
		of_uid = &(*of_uid)->next_of_uid;
	*of_uid = entry->next_of_uid;
	unlink_entry(resource_cache, entry);
	resource_cache->bytes -= size_of(entry);
	free(entry);
}

// ---- asked for

static struct entry *find_id(const struct resource_cache *resource_cache, uint64_t id)
{
	struct entry *entry = *bucket_of_id(resource_cache, id);

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

// The shown text of a resource without secrets is its body itself, of which one copy is enough.
static bool is_shown_as_stored(const struct resource *resource)
{
	return resource->shown.p != NULL && resource->shown.p == resource->body.p;
}

// The bytes that copy_texts() needs at to.
static size_t size_of_texts(const struct resource *resource)
{
	size_t n = 0;

	for (size_t i = 0; i < COUNT_OF(texts); i++)
		n += ((const struct str *)(const void *)((const char *)resource + texts[i]))->n;
	return is_shown_as_stored(resource) ? n - resource->shown.n : n;
}

static void copy_texts(struct resource *copy, const struct resource *resource, char *to)
{
	bool as_stored = is_shown_as_stored(resource);

	*copy = *resource;
	for (size_t i = 0; i < COUNT_OF(texts); i++) {
		struct str *text = text_of(copy, i);
		if (as_stored && text == &copy->shown) {
			*text = copy->body;
			continue;
		}
		if (text->n > 0)
			memcpy(to, text->p, text->n);
		if (text->p != NULL)
			text->p = to;
		to += text->n;
	}
}

// Whether a reader wants the answer that is kept beside a resource. Lists do not, and a copy costs.
enum kept_answer { WITH_ANSWER, WITHOUT_ANSWER };

// Copies the entry into pool, since the entry itself may be dropped before the request ends. False: it is too old, and is
// dropped.
static bool hand_out(struct resource_cache *resource_cache, struct pool *pool, struct entry *entry, int64_t now_us,
	enum kept_answer wanted, struct resource *resource)
{
	struct resource found = entry->resource;

	if (entry->since_us + RESOURCE_CACHE_MAX_AGE_US < now_us) {
		drop(resource_cache, entry);
		return false;
	}
	unlink_entry(resource_cache, entry);
	link_newest(resource_cache, entry);
	if (wanted == WITHOUT_ANSWER)
		found.answer = found.answer_for = STR_NONE;
	copy_texts(resource, &found, pool_alloc(pool, size_of_texts(&found)));
	resource->cached = true;
	return true;
}

static bool note_lookup(struct resource_cache *resource_cache, bool found)
{
	resource_cache->lookups[found]++;
	return found;
}

bool resource_cache_find_at(struct resource_cache *resource_cache, struct pool *pool, const struct address *address,
	int64_t now_us,
	struct resource *resource)
{
	uint64_t hash = hash_of(resource_cache, address);
	struct entry *entry = *bucket_at(resource_cache, hash);

	while (entry != NULL && (entry->hash != hash || !is_at(entry, address)))
		entry = entry->next_at;
	return note_lookup(resource_cache, entry != NULL && hand_out(resource_cache, pool, entry, now_us, WITH_ANSWER, resource));
}

bool resource_cache_find_uid(struct resource_cache *resource_cache, struct pool *pool, const struct type *type,
	const struct uuid *uid, int64_t now_us, struct resource *resource)
{
	uint64_t hash = hash_of_uid(resource_cache, type->id, uid);
	struct entry *entry = *bucket_of_uid(resource_cache, hash);

	while (entry != NULL &&
		(entry->uid_hash != hash || entry->type_id != type->id || !uuid_eq(entry->resource.uid, *uid)))
		entry = entry->next_of_uid;
	return note_lookup(resource_cache, entry != NULL && hand_out(resource_cache, pool, entry, now_us, WITH_ANSWER, resource));
}

bool resource_cache_find_id(struct resource_cache *resource_cache, struct pool *pool, uint64_t id, uint64_t changed,
	int64_t now_us,
	struct resource *resource)
{
	assert(id != 0);
	struct entry *entry = find_id(resource_cache, id);

	return note_lookup(resource_cache,
		entry != NULL && entry->resource.changed == changed && hand_out(resource_cache, pool, entry, now_us, WITHOUT_ANSWER, resource));
}

// ---- kept

void resource_cache_remove(struct resource_cache *resource_cache, uint64_t id)
{
	struct entry *entry = find_id(resource_cache, id);

	if (entry != NULL)
		drop(resource_cache, entry);
}

void resource_cache_add(struct resource_cache *resource_cache, const struct resource *resource, int64_t now_us)
{
	const struct address address = { resource->tenant, resource->type, resource->space, resource->name };
	size_t n = size_of_texts(resource);
	bool is_below = resource->has_root && !uuid_eq(resource->root, resource->uid);
	struct entry *entry;

	assert(resource->id != 0 && resource->type != NULL && resource->tenant.p != NULL);
	resource_cache_remove(resource_cache, resource->id);
	if (resource->live == RESOURCE_DELETED || is_below ||
		sizeof(*entry) + n > resource_cache->max_bytes / LARGEST_SHARE)
		return;
	entry = malloc(sizeof(*entry) + n);
	if (entry == NULL)
		return; // no memory: the worker does without this entry
	entry->n = n;
	entry->type_id = resource->type->id;
	entry->since_us = now_us;
	entry->hash = hash_of(resource_cache, &address);
	entry->uid_hash = hash_of_uid(resource_cache, entry->type_id, &resource->uid);
	copy_texts(&entry->resource, resource, entry->text);
	// A type may be dropped from its cache between requests, so the entry keeps type_id only.
	entry->resource.type = NULL;
	entry->resource.tree = NULL; // it is in the request's pool
	resource_cache->bytes += size_of(entry);
	while (resource_cache->bytes > resource_cache->max_bytes)
		drop(resource_cache, resource_cache->oldest);
	struct entry **of_id = bucket_of_id(resource_cache, resource->id), **at = bucket_at(resource_cache, entry->hash);
	struct entry **of_uid = bucket_of_uid(resource_cache, entry->uid_hash);
	entry->next_of_id = *of_id;
	entry->next_at = *at;
	entry->next_of_uid = *of_uid;
	*of_id = *at = *of_uid = entry;
	link_newest(resource_cache, entry);
}

void resource_cache_set_answer(struct resource_cache *resource_cache, const struct resource *resource)
{
	const struct entry *entry = find_id(resource_cache, resource->id);

	assert(resource->answer.p != NULL && resource->answer_for.p != NULL);
	if (entry == NULL || entry->resource.changed != resource->changed ||
		sizeof(*entry) + size_of_texts(resource) > resource_cache->max_bytes / LARGEST_WITH_ANSWER)
		return;
	resource_cache_add(resource_cache, resource, entry->since_us);
}

void resource_cache_lookups(const struct resource_cache *resource_cache, uint64_t *hits, uint64_t *misses)
{
	*hits = resource_cache->lookups[true];
	*misses = resource_cache->lookups[false];
}

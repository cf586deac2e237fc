// SPDX-License-Identifier: Apache-2.0
#include "base/base.h"

#include "auth/core/principal_cache.h"
#include "base/clock.h"
#include "base/memory.h"
#include "base/pool.h"

enum { SLOTS = 256 }; // as many as a key's first byte has values

struct slot {
	uint8_t key[DIGEST_SHA256];
	bool used;
	int64_t checked_tick;
	int64_t expires_us; // 0: never
	enum role role;
	char *text; // the user's name, then the tenant's
	size_t user_n, tenant_n;
};

struct principal_cache {
	int64_t believed_us;
	struct slot slots[SLOTS];
};

struct principal_cache *principal_cache_new(int64_t believed_us)
{
	struct principal_cache *cache = memory_zeroed(1, sizeof(*cache));

	cache->believed_us = believed_us;
	return cache;
}

void principal_cache_free(struct principal_cache **cache)
{
	if (*cache == NULL)
		return;
	for (size_t i = 0; i < SLOTS; i++)
		free((*cache)->slots[i].text);
	free(*cache);
	*cache = NULL;
}

static struct str key_str(const uint8_t key[DIGEST_SHA256])
{
	return str_n((const char *)key, DIGEST_SHA256);
}

bool principal_cache_find(struct principal_cache *cache, const uint8_t key[DIGEST_SHA256], struct pool *pool,
	struct principal *principal)
{
	struct slot *slot = &cache->slots[key[0]];

	if (!slot->used || !digest_equal(key_str(slot->key), key_str(key)))
		return false;
	if (clock_tick_us() - slot->checked_tick >= cache->believed_us)
		return false;
	if (slot->expires_us != 0 && clock_now_us() >= slot->expires_us)
		return false;
	principal->user = str_dup(pool, str_n(slot->text, slot->user_n));
	principal->tenant = str_dup(pool, str_n(slot->text + slot->user_n, slot->tenant_n));
	principal->role = slot->role;
	principal->expires_us = slot->expires_us;
	return true;
}

void principal_cache_keep(struct principal_cache *cache, const uint8_t key[DIGEST_SHA256], const struct principal *principal)
{
	struct slot *slot = &cache->slots[key[0]];
	size_t n = principal->user.n + principal->tenant.n;
	char *text = cache->believed_us > 0 ? malloc(n + 1) : NULL;

	if (text == NULL)
		return;
	memcpy(text, principal->user.p, principal->user.n);
	if (principal->tenant.n > 0)
		memcpy(text + principal->user.n, principal->tenant.p, principal->tenant.n);
	free(slot->text);
	*slot = (struct slot){
		.used = true,
		.checked_tick = clock_tick_us(),
		.expires_us = principal->expires_us,
		.role = principal->role,
		.text = text,
		.user_n = principal->user.n,
		.tenant_n = principal->tenant.n,
	};
	memcpy(slot->key, key, DIGEST_SHA256);
}

void principal_cache_forget(struct principal_cache *cache, const uint8_t key[DIGEST_SHA256])
{
	struct slot *slot = &cache->slots[key[0]];

	if (slot->used && digest_equal(key_str(slot->key), key_str(key)))
		slot->used = false;
}

void principal_cache_clear(struct principal_cache *cache)
{
	for (size_t i = 0; i < SLOTS; i++)
		cache->slots[i].used = false;
}

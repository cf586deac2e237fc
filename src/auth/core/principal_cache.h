// SPDX-License-Identifier: Apache-2.0
// A process's cache of validated tokens: whom each stands for. Keyed by SHA-256 of the token, so that no token is kept in memory.
// 256 places; a token has one place, and a later token with the same place replaces it. For files in auth/ only.
#ifndef TENURE_AUTH_CORE_PRINCIPAL_CACHE_H
#define TENURE_AUTH_CORE_PRINCIPAL_CACHE_H

#include "auth/core/principal.h"
#include "base/digest.h"

struct pool;
struct principal_cache;

// believed_us: how long an entry is used, in microseconds; 0: nothing is cached. Never returns NULL.
struct principal_cache *principal_cache_new(int64_t believed_us);
void principal_cache_free(struct principal_cache **cache);
// Sets *principal's user, tenant, role and expires_us, its strings in pool. False: the token isn't cached, or its entry is too
// old or expired.
bool principal_cache_find(struct principal_cache *cache, const uint8_t key[DIGEST_SHA256], struct pool *pool,
	struct principal *principal);
// Caches user, tenant, role and expires_us. The entry isn't found once expires_us has passed.
void principal_cache_keep(struct principal_cache *cache, const uint8_t key[DIGEST_SHA256], const struct principal *principal);
void principal_cache_forget(struct principal_cache *cache, const uint8_t key[DIGEST_SHA256]);
// Forgets all tokens.
void principal_cache_clear(struct principal_cache *cache);

#endif

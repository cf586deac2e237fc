// SPDX-License-Identifier: Apache-2.0
// Opaque tokens, checked against table tokens or against what was found there a moment ago. For files in auth/ only.
#ifndef TENURE_AUTH_TOKEN_H
#define TENURE_AUTH_TOKEN_H

#include "auth/auth.h"

// What was found lately, keyed by the SHA-256 of the presented token: no token lies in a worker's memory.
struct token_cache;

struct token_cache *token_cache_new(unsigned milliseconds);
void token_cache_free(struct token_cache **cache);

// OUTCOME_OK, _UNAUTHENTICATED with *detail, _UNAVAILABLE.
enum outcome token_check(struct token_cache *cache, struct db *db, struct pool *pool, struct str token,
	struct principal *principal, struct str *detail);

// Did the last token_check() ask the database?
bool token_has_asked(const struct token_cache *cache);

#endif

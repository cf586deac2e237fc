// SPDX-License-Identifier: Apache-2.0
// Authenticator for opaque tokens: finds user, tenant and role of a token in the database.
#include "base/base.h"

#include "auth/authenticator.h"
#include "auth/settings.h"
#include "base/clock.h"
#include "base/digest.h"
#include "base/pool.h"
#include "sql/tokens.h"

enum { SLOTS = 256, MAX_ID = 32, MAX_SECRET = 128 };

// ---- the cache: each token has one place; a later token with the same place replaces it

struct slot {
	uint8_t key[DIGEST_SHA256];
	bool used;
	int64_t checked_tick;
	int64_t expires_us; // 0: never
	enum role role;
	char *text; // the user's name, then the tenant's
	size_t user_n, tenant_n;
};

// Cache of validated tokens, keyed by SHA-256 of the token, so that no token is kept in a worker's memory.
struct token_cache {
	int64_t believed_us;
	bool asked;
	struct slot slots[SLOTS];
};

static void *cache_new(const struct auth_setup *setup, char **error)
{
	struct token_cache *cache = calloc(1, sizeof(*cache));

	UNUSED(error);
	if (cache == NULL)
		abort();
	cache->believed_us = (int64_t)auth_settings(setup->config)->token_cache * 1000;
	return cache;
}

static void cache_free(void *state)
{
	struct token_cache *cache = state;

	for (size_t i = 0; i < SLOTS; i++)
		free(cache->slots[i].text);
	free(cache);
}

static struct str key_str(const uint8_t key[DIGEST_SHA256])
{
	return str_n((const char *)key, DIGEST_SHA256);
}

static bool cache_find(struct token_cache *cache, const uint8_t key[DIGEST_SHA256], struct pool *pool,
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
	return true;
}

static void cache_keep(struct token_cache *cache, const uint8_t key[DIGEST_SHA256], const struct principal *principal,
	int64_t expires_us)
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
		.expires_us = expires_us,
		.role = principal->role,
		.text = text,
		.user_n = principal->user.n,
		.tenant_n = principal->tenant.n,
	};
	memcpy(slot->key, key, DIGEST_SHA256);
}

static void cache_forget(struct token_cache *cache, const uint8_t key[DIGEST_SHA256])
{
	struct slot *slot = &cache->slots[key[0]];

	if (slot->used && digest_equal(key_str(slot->key), key_str(key)))
		slot->used = false;
}

// ---- the table of tokens

struct question {
	struct db *db;
	struct pool *pool;
	struct str id;
	struct db_rows rows;
	enum db_result result;
};

static enum db_verdict ask(void *arg)
{
	struct question *question = arg;

	const struct sql_token_by_id in = { .id = question->id };

	question->result = sql_token_by_id_run(question->db, question->pool, &in, &question->rows);
	return DB_COMMIT;
}

// Could auth_token_create() have made it? If not, the database is not asked.
static bool well_formed(struct str token, struct str *id, struct str *secret)
{
	size_t dot = str_find(token, '.', 0);

	*id = str_part(token, 0, dot);
	*secret = str_part(token, dot + 1, token.n);
	if (id->n == 0 || id->n > MAX_ID || secret->n == 0 || secret->n > MAX_SECRET)
		return false;
	for (size_t i = 0; i < token.n; i++) {
		char c = token.p[i];
		bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');

		if (!letter && c != '-' && c != '_' && (c != '.' || i != dot))
			return false;
	}
	return true;
}

// False for a token that is expired or revoked, or whose tenant was purged, or if the secret is wrong.
static bool row_is_good(const struct sql_token_by_id_row *row, struct str secret, struct principal *principal)
{
	uint8_t hash[DIGEST_SHA256];

	digest_sha256(secret, hash);
	if (!digest_equal(row->hash, key_str(hash)))
		return false;
	if (!row->revoked_at_is_null || (!row->expires_at_is_null && row->expires_at <= clock_now_us()))
		return false;
	if (row->has_tenant != 0 && row->tenant.p == NULL)
		return false;
	*principal = (struct principal){ .user = row->user, .tenant = row->tenant };
	return role_parse(row->role, &principal->role);
}

static enum outcome token_check(struct token_cache *cache, struct db *db, struct pool *pool, struct str token,
	struct principal *principal, struct str *detail)
{
	struct question question = { .db = db, .pool = pool };
	struct str secret;
	uint8_t key[DIGEST_SHA256];

	*principal = (struct principal){ 0 };
	*detail = STR("token unknown, expired or revoked");
	cache->asked = false;
	if (!well_formed(token, &question.id, &secret))
		return OUTCOME_UNAUTHENTICATED;
	digest_sha256(token, key);
	if (cache_find(cache, key, pool, principal))
		return OUTCOME_OK;
	cache->asked = true;
	enum db_result result = db_txn_run(db, DB_AUTOCOMMIT, NULL, ask, &question);

	if (result != DB_OK || question.result != DB_OK) {
		*detail = STR("tokens can't be checked at the moment");
		return OUTCOME_UNAVAILABLE;
	}
	const struct sql_token_by_id_row *row = question.rows.n > 0 ? sql_token_by_id_row(&question.rows, 0) : NULL;

	if (row == NULL || !row_is_good(row, secret, principal)) {
		*principal = (struct principal){ 0 };
		cache_forget(cache, key);
		return OUTCOME_UNAUTHENTICATED;
	}
	cache_keep(cache, key, principal, row->expires_at);
	return OUTCOME_OK;
}

static bool has_form(struct str token)
{
	struct str id, secret;

	return well_formed(token, &id, &secret);
}

static enum outcome identify(void *state, const struct identity *identity, bool *recognised)
{
	struct token_cache *cache = state;
	struct str token;

	cache->asked = false;
	*recognised = auth_read_token(identity->request, &token);
	if (!*recognised)
		return OUTCOME_OK;
	return token_check(cache, identity->db, identity->pool, token, identity->principal, identity->detail);
}

static bool has_asked(const void *state)
{
	return ((const struct token_cache *)state)->asked;
}

const struct authenticator token_authenticator = {
	.challenge = "Bearer realm=\"tenure\"",
	.headers = auth_token_headers,
	.open = cache_new,
	.close = cache_free,
	.has_form = has_form,
	.identify = identify,
	.has_asked = has_asked,
};

// SPDX-License-Identifier: Apache-2.0
// Authenticator for opaque tokens: finds user, tenant and role of a token in the database.
#include "base/base.h"

#include "auth/core/authenticator.h"
#include "auth/core/principal_cache.h"
#include "auth/core/settings.h"
#include "auth/core/token_uses.h"
#include "base/ascii.h"
#include "base/clock.h"
#include "base/digest.h"
#include "base/memory.h"
#include "base/pool.h"
#include "sql/tokens.h"

enum { MAX_ID = 32, MAX_SECRET = 128 };

struct token_state {
	struct principal_cache *cache;
	struct shared *shared; // where uses are noted; NULL: nowhere
	bool validated_now; // the database was asked about the last token: it was not in the cache
};

static void *open_token(const struct auth_setup *setup, char **error)
{
	struct token_state *state = memory_zeroed(1, sizeof(*state));

	UNUSED(error);
	state->shared = setup->shared;
	state->cache = principal_cache_new((int64_t)auth_settings(setup->config)->token_cache * 1000);
	return state;
}

static void close_token(void *arg)
{
	struct token_state *state = arg;

	principal_cache_free(&state->cache);
	free(state);
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

		if (!ascii_is_alnum(c) && c != '-' && c != '_' && (c != '.' || i != dot))
			return false;
	}
	return true;
}

// False for a token that is expired or revoked, or whose tenant was purged, or if the secret is wrong.
static bool row_is_good(const struct sql_token_by_id_row *row, struct str secret, struct principal *principal)
{
	uint8_t hash[DIGEST_SHA256];

	digest_sha256(secret, hash);
	if (!digest_equal(row->hash, str_n((const char *)hash, sizeof(hash))))
		return false;
	if (!row->revoked_at_is_null || (!row->expires_at_is_null && row->expires_at <= clock_now_us()))
		return false;
	if (row->has_tenant != 0 && row->tenant.p == NULL)
		return false;
	*principal = (struct principal){ .user = row->user, .tenant = row->tenant, .expires_us = row->expires_at_is_null ? 0 : row->expires_at };
	return role_parse(row->role, &principal->role);
}

static enum outcome token_check(struct token_state *state, struct db *db, struct pool *pool, struct str token,
	struct principal *principal, struct str *detail)
{
	struct question question = { .db = db, .pool = pool };
	struct str secret;
	uint8_t key[DIGEST_SHA256];

	*principal = (struct principal){ 0 };
	*detail = STR("token unknown, expired or revoked");
	state->validated_now = false;
	if (!well_formed(token, &question.id, &secret))
		return OUTCOME_UNAUTHENTICATED;
	digest_sha256(token, key);
	if (principal_cache_find(state->cache, key, pool, principal))
		return OUTCOME_OK;
	state->validated_now = true;
	enum db_result result = db_txn_run(db, DB_AUTOCOMMIT, NULL, ask, &question);

	if (result != DB_OK || question.result != DB_OK) {
		*detail = STR("tokens can't be checked at the moment");
		return OUTCOME_UNAVAILABLE;
	}
	const struct sql_token_by_id_row *row = question.rows.n > 0 ? sql_token_by_id_row(&question.rows, 0) : NULL;

	if (row == NULL || !row_is_good(row, secret, principal)) {
		*principal = (struct principal){ 0 };
		principal_cache_forget(state->cache, key);
		return OUTCOME_UNAUTHENTICATED;
	}
	principal_cache_keep(state->cache, key, principal);
	return OUTCOME_OK;
}

static bool has_form(struct pool *pool, struct str token)
{
	struct str id, secret;

	UNUSED(pool);
	return well_formed(token, &id, &secret);
}

static enum outcome identify(void *arg, const struct identity *identity, bool *recognised)
{
	struct token_state *state = arg;
	struct str token;

	state->validated_now = false;
	*recognised = auth_read_token(identity->request, &token);
	if (!*recognised)
		return OUTCOME_OK;
	enum outcome outcome = token_check(state, identity->db, identity->pool, token, identity->principal, identity->detail);

	// An open watch, whose token is checked every few seconds, is one use: the request that began it.
	if (outcome == OUTCOME_OK && identity->may_wait)
		token_use_note(state->shared, str_part(token, 0, str_find(token, '.', 0)), clock_now_us());
	return outcome;
}

static bool has_validated(const void *state)
{
	return ((const struct token_state *)state)->validated_now;
}

const struct authenticator token_authenticator = {
	.challenge = "Bearer realm=\"tenure\"",
	.headers = auth_token_headers,
	.open = open_token,
	.close = close_token,
	.has_form = has_form,
	.identify = identify,
	.has_validated = has_validated,
};

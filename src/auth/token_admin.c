// SPDX-License-Identifier: Apache-2.0
// The operator's functions for tokens: make, revoke, list.
#include "base/base.h"

#include "auth/core/auth.h"
#include "base/buf.h"
#include "base/clock.h"
#include "base/digest.h"
#include "base/pool.h"
#include "sql/tokens.h"

enum { ID_BYTES = 6, SECRET_BYTES = 24, MAX_NAME = 255, MAX_DESCRIPTION = 1024, ATTEMPTS = 3 };

// Runs one statement; it may be retried after a lost connection.
struct task {
	struct db *db;
	struct pool *pool;
	struct db_call call;
};

static enum db_verdict run(void *arg)
{
	struct task *task = arg;

	(void)db_run_call(task->db, task->pool, &task->call);
	return DB_COMMIT;
}

static enum outcome run_task(struct task *task)
{
	if (db_txn_run(task->db, DB_WRITE, NULL, run, task) != DB_OK)
		return OUTCOME_UNAVAILABLE;
	return task->call.result == DB_OK || task->call.result == DB_DUPLICATE ? OUTCOME_OK : OUTCOME_INTERNAL;
}

// ---- making tokens

static bool is_text(struct str s, size_t least, size_t most)
{
	if (!str_utf8_ok(s, NULL) || str_find(s, '\0', 0) < s.n)
		return false;
	size_t n = str_utf8_length(s);

	return n >= least && n <= most;
}

static const char *what_is_wrong(const struct token_info *info)
{
	if (!is_text(info->user, 1, MAX_NAME))
		return "user must have 1 to 255 characters, UTF-8 without NUL";
	if (info->role < ROLE_READER || info->role > ROLE_OPERATOR)
		return "role must be reader, member, admin or operator";
	if (info->role == ROLE_OPERATOR && info->tenant.n > 0)
		return "an operator's token belongs to no tenant";
	if (info->role != ROLE_OPERATOR && !is_text(info->tenant, 1, MAX_NAME))
		return "a token of this role needs a tenant, 1 to 255 characters, UTF-8 without NUL";
	if (realm_reserved(info->tenant) != NULL)
		return realm_reserved(info->tenant);
	if (!is_text(info->description, 0, MAX_DESCRIPTION))
		return "description must have up to 1024 characters, UTF-8 without NUL";
	if (info->expires_us != 0 && info->expires_us <= clock_now_us())
		return "expiry must lie in the future";
	return NULL;
}

// Makes "id.secret": 12 hex digits, so that no shell takes it for an option, and 32 characters.
static void make_token(struct pool *pool, struct str *token, struct str *id, uint8_t hash[DIGEST_SHA256])
{
	uint8_t random[ID_BYTES + SECRET_BYTES];
	struct buf buf = buf_new(pool, 64);

	digest_random(random, sizeof(random));
	buf_add_hex(&buf, random, ID_BYTES);
	size_t dot = buf.n;

	buf_addc(&buf, '.');
	digest_add_base64url(&buf, random + ID_BYTES, SECRET_BYTES);
	digest_wipe(random, sizeof(random));
	*token = buf_str(&buf);
	*id = str_part(*token, 0, dot);
	digest_sha256(str_part(*token, dot + 1, token->n), hash);
}

static struct db_call insert_call(struct pool *pool, const struct token_info *info, struct str id, struct str hash)
{
	const struct sql_token_insert in = {
		.id = id,
		.hash = hash,
		.user = info->user,
		.role = str_c(role_name(info->role)),
		.description = info->description,
		.now = clock_now_us(),
		.expires_at = info->expires_us,
		.expires_at_is_null = info->expires_us == 0,
		.tenant = info->tenant,
	};

	return sql_token_insert_call(pool, info->role == ROLE_OPERATOR ? SQL_TOKEN_KIND_OPERATOR : SQL_TOKEN_KIND_TENANT, &in);
}

// *taken: the id exists already. In a retry that is the row of the first attempt, whose answer was lost.
static enum outcome create_once(struct db *db, struct pool *pool, const struct token_info *info, struct str *token,
	bool *taken)
{
	uint8_t hash[DIGEST_SHA256];
	struct str id;

	make_token(pool, token, &id, hash);
	struct task task = { db, pool, insert_call(pool, info, id, str_n((const char *)hash, sizeof(hash))) };
	enum outcome outcome = run_task(&task);

	*taken = task.call.result == DB_DUPLICATE && db_txn_tries(db) == 1;
	if (outcome == OUTCOME_OK && task.call.result == DB_OK && task.call.rows.affected == 0)
		return OUTCOME_NOT_FOUND;
	return outcome == OUTCOME_OK ? OUTCOME_CREATED : outcome;
}

enum outcome auth_token_create(struct db *db, struct pool *pool, const struct token_info *info, struct str *token,
	struct str *detail)
{
	const char *wrong = what_is_wrong(info);
	enum outcome outcome = OUTCOME_UNAVAILABLE;
	bool taken = true;

	*token = STR_NONE;
	*detail = str_c(wrong);
	if (wrong != NULL)
		return OUTCOME_BAD_PARAMETER;
	for (int i = 0; i < ATTEMPTS && taken; i++)
		outcome = create_once(db, pool, info, token, &taken);
	if (outcome == OUTCOME_CREATED && !taken)
		return OUTCOME_CREATED;
	*token = STR_NONE;
	if (outcome == OUTCOME_NOT_FOUND) {
		*detail = str_printf(pool, "there is no tenant \"%.*s\", or it is deleted", STR_ARG(info->tenant));
		return OUTCOME_NOT_FOUND;
	}
	*detail = STR("the database did not take the token");
	return OUTCOME_UNAVAILABLE;
}

// ---- revoking, listing

enum outcome auth_token_revoke(struct db *db, struct pool *pool, struct str id)
{
	struct str key = str_part(id, 0, str_find(id, '.', 0));
	const struct sql_token_revoke in = { .now = clock_now_us(), .id = key };
	struct task task = { db, pool, sql_token_revoke_call(pool, &in) };

	if (!is_text(key, 1, MAX_NAME))
		return OUTCOME_NOT_FOUND;
	if (run_task(&task) != OUTCOME_OK)
		return OUTCOME_UNAVAILABLE;
	return task.call.rows.affected > 0 ? OUTCOME_OK : OUTCOME_NOT_FOUND;
}

// Which tokens are meant: those of anybody (tenant.p NULL), of operators (n 0), of that tenant.
static enum sql_token_owner owner_of(struct str tenant)
{
	if (tenant.p == NULL)
		return SQL_TOKEN_OWNER_ANYBODY;
	return tenant.n > 0 ? SQL_TOKEN_OWNER_TENANT : SQL_TOKEN_OWNER_OPERATORS;
}

enum outcome auth_token_revoke_all(struct db *db, struct pool *pool, struct str tenant, uint64_t *n)
{
	const struct sql_token_revoke_all in = { .now = clock_now_us(), .tenant = tenant };
	struct task task = { db, pool, sql_token_revoke_all_call(pool, owner_of(tenant), &in) };

	*n = 0;
	if (run_task(&task) != OUTCOME_OK)
		return OUTCOME_UNAVAILABLE;
	*n = task.call.rows.affected;
	return OUTCOME_OK;
}

static struct token_info info_of(const struct sql_token_list_row *row)
{
	struct token_info info = {
		.id = row->id,
		.user = row->user,
		.tenant = row->tenant,
		.created_us = row->created_at,
		.expires_us = row->expires_at,
		.revoked_us = row->revoked_at,
		.description = row->description,
	};

	if (!role_parse(row->role, &info.role))
		info.role = ROLE_NONE;
	return info;
}

enum outcome auth_token_list(struct db *db, struct pool *pool, struct str tenant, struct token_info **list, size_t *n)
{
	const struct sql_token_list in = { .tenant = tenant };
	struct task task = { db, pool, sql_token_list_call(pool, owner_of(tenant), &in) };

	if (run_task(&task) != OUTCOME_OK)
		return OUTCOME_UNAVAILABLE;
	*n = task.call.rows.n;
	*list = POOL_ARRAY(pool, struct token_info, *n);
	for (size_t i = 0; i < *n; i++)
		(*list)[i] = info_of(sql_token_list_row(&task.call.rows, i));
	return OUTCOME_OK;
}

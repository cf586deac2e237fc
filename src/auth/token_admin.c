// SPDX-License-Identifier: Apache-2.0
// Functions for tokens: make, revoke, list; the operator's for all of them, and those for one tenant's.
#include "base/base.h"

#include "auth/core/auth.h"
#include "base/base64.h"
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
	base64_url_add(&buf, random + ID_BYTES, SECRET_BYTES);
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

// *taken: a token with this id exists already. If this is a retry, the first attempt stored it, and its answer was lost.
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
		.used_us = row->last_used_at_is_null ? 0 : row->last_used_at,
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

// ---- tokens of one tenant, within a transaction of the caller

static enum outcome failed(enum db_result result)
{
	return result == DB_LOST || result == DB_RETRY || result == DB_FULL ? OUTCOME_UNAVAILABLE : OUTCOME_INTERNAL;
}

static enum sql_token_holder kind_of(const struct token_holder *holder)
{
	return holder->tenant_id != 0 ? SQL_TOKEN_HOLDER_TENANT : SQL_TOKEN_HOLDER_OPERATORS;
}

static struct token_info shown_info(const struct token_holder *holder, const struct sql_token_shown *columns)
{
	struct token_info info = {
		.id = columns->id,
		.user = columns->user,
		.tenant = holder->tenant,
		.created_us = columns->created_at,
		.expires_us = columns->expires_at_is_null ? 0 : columns->expires_at,
		.revoked_us = columns->revoked_at_is_null ? 0 : columns->revoked_at,
		.used_us = columns->last_used_at_is_null ? 0 : columns->last_used_at,
		.description = columns->description,
	};

	if (!role_parse(columns->role, &info.role))
		info.role = ROLE_NONE;
	return info;
}

enum outcome auth_token_page(struct db *db, struct pool *pool, const struct token_holder *holder, struct str after,
	uint64_t limit, struct token_page *page)
{
	const struct sql_token_page in = { .tenant_id = holder->tenant_id, .after = after, .limit = limit + 1 };
	struct db_rows rows;

	assert(limit > 0 && after.p != NULL);
	enum db_result result = sql_token_page_run(db, pool, kind_of(holder), &in, &rows);
	if (result != DB_OK)
		return failed(result);
	page->more = rows.n > limit;
	page->n = page->more ? (size_t)limit : rows.n;
	page->list = POOL_ARRAY(pool, struct token_info, page->n);
	for (size_t i = 0; i < page->n; i++)
		page->list[i] = shown_info(holder, &sql_token_page_row(&rows, i)->t);
	return OUTCOME_OK;
}

enum outcome auth_token_get(struct db *db, struct pool *pool, const struct token_holder *holder, struct str id,
	struct token_info *info)
{
	const struct sql_token_get in = { .tenant_id = holder->tenant_id, .id = id };
	struct db_rows rows;
	enum db_result result = sql_token_get_run(db, pool, kind_of(holder), &in, &rows);

	if (result != DB_OK)
		return failed(result);
	if (rows.n == 0)
		return OUTCOME_NOT_FOUND;
	*info = shown_info(holder, &sql_token_get_row(&rows, 0)->t);
	return OUTCOME_OK;
}

// Two tokens that are made at once are counted one after the other, since the caller has locked the tenant's row.
static enum outcome check_count(struct db *db, struct pool *pool, const struct token_holder *holder, uint64_t most,
	struct str *detail)
{
	const struct sql_token_count in = { .tenant_id = holder->tenant_id, .limit = most };
	struct db_rows rows;

	if (most == 0) {
		*detail = STR("tokens are made by `tenure-manage token create` alone: the setting tenant_tokens is 0");
		return OUTCOME_FORBIDDEN;
	}
	if (holder->tenant_id == 0)
		return OUTCOME_OK;
	enum db_result result = sql_token_count_run(db, pool, kind_of(holder), &in, &rows);
	if (result != DB_OK)
		return failed(result);
	if (sql_token_count_row(&rows, 0)->n < most)
		return OUTCOME_OK;
	*detail = str_printf(pool, "a tenant may have %llu token%s, and those that have ended count until they are purged",
		(unsigned long long)most, most == 1 ? "" : "s");
	return OUTCOME_OVER_QUOTA;
}

enum outcome auth_token_add(struct db *db, struct pool *pool, const struct token_holder *holder, uint64_t most,
	struct token_info *info, struct str *token, struct str *detail)
{
	uint8_t hash[DIGEST_SHA256];

	assert((info->role == ROLE_OPERATOR) == (holder->tenant_id == 0));
	info->tenant = holder->tenant;
	*token = STR_NONE;
	*detail = str_c(what_is_wrong(info));
	if (detail->n > 0)
		return OUTCOME_BAD_DOCUMENT;
	enum outcome outcome = check_count(db, pool, holder, most, detail);
	if (outcome != OUTCOME_OK)
		return outcome;
	make_token(pool, token, &info->id, hash);
	struct db_call call = insert_call(pool, info, info->id, str_n((const char *)hash, sizeof(hash)));
	enum db_result result = db_run_call(db, pool, &call);
	if (result == DB_OK && call.rows.affected == 1)
		return OUTCOME_CREATED;
	// A random id that was there already: the whole request may be sent again. One of 2^48 is as good as never.
	*token = STR_NONE;
	return result == DB_DUPLICATE ? OUTCOME_UNAVAILABLE : failed(result);
}

enum outcome auth_token_end(struct db *db, struct pool *pool, const struct token_holder *holder, struct str id,
	int64_t now_us, bool *revoked)
{
	const struct sql_token_revoke_of in = { .tenant_id = holder->tenant_id, .id = id, .now = now_us };
	struct token_info info;
	struct db_rows rows;
	enum outcome outcome = auth_token_get(db, pool, holder, id, &info);

	*revoked = false;
	if (outcome != OUTCOME_OK || info.revoked_us != 0)
		return outcome;
	enum db_result result = sql_token_revoke_of_run(db, pool, kind_of(holder), &in, &rows);
	if (result != DB_OK)
		return failed(result);
	*revoked = rows.affected > 0; // tenure-manage may have revoked it meanwhile: it locks no tenant
	return OUTCOME_OK;
}

const char *auth_token_state(const struct token_info *info, int64_t now_us)
{
	return info->revoked_us != 0 ? "revoked" : info->expires_us != 0 && info->expires_us <= now_us ? "expired" : "valid";
}

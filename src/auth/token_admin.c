// SPDX-License-Identifier: Apache-2.0
// Tokens as the operator sees them: made, revoked, listed.
#include "base/base.h"

#include "auth/auth.h"
#include "base/buf.h"
#include "base/clock.h"
#include "base/digest.h"
#include "base/pool.h"
#include "db/db.h"

enum { ID_BYTES = 6, SECRET_BYTES = 24, MAX_NAME = 255, MAX_DESCRIPTION = 1024, ATTEMPTS = 3 };

#define INSERT_COLUMNS "INSERT INTO tokens (id, hash, user, role, description, created_at, expires_at, tenant_id) "
static const struct db_query q_create_operator = { INSERT_COLUMNS "VALUES (?, ?, ?, ?, ?, ?, ?, NULL)", "sbssstt", "" };
static const struct db_query q_create = {
	INSERT_COLUMNS "SELECT ?, ?, ?, ?, ?, ?, ?, id FROM tenants WHERE name = ? AND live = 1 AND deleted_at IS NULL",
	"sbssstts", ""
};
static const struct db_query q_revoke = {
	"UPDATE tokens SET revoked_at = COALESCE(revoked_at, ?) WHERE id = ?", "ts", ""
};
#define SELECT_COLUMNS \
	"SELECT t.id, t.user, COALESCE(n.name, ''), t.role, t.created_at, t.expires_at, t.revoked_at, t.description" \
	" FROM tokens t LEFT JOIN tenants n ON n.id = t.tenant_id "
static const struct db_query q_list = { SELECT_COLUMNS "ORDER BY t.created_at, t.id", "", "ssssttts" };
static const struct db_query q_list_tenant = {
	SELECT_COLUMNS "WHERE n.name = ? AND n.live = 1 ORDER BY t.created_at, t.id", "s", "ssssttts"
};
static const struct db_query q_list_operators = {
	SELECT_COLUMNS "WHERE t.tenant_id IS NULL ORDER BY t.created_at, t.id", "", "ssssttts"
};

// One statement, which may be run again after a lost connection.
struct task {
	struct db *db;
	struct pool *pool;
	const struct db_query *query;
	const struct db_value *in;
	struct db_rows rows;
	enum db_result result;
};

static enum db_verdict run(void *arg)
{
	struct task *task = arg;

	task->result = db_run(task->db, task->pool, task->query, task->in, &task->rows);
	return DB_COMMIT;
}

static enum outcome run_task(struct task *task)
{
	if (db_txn_run(task->db, DB_AUTOCOMMIT, NULL, run, task) != DB_OK)
		return OUTCOME_UNAVAILABLE;
	return task->result == DB_OK || task->result == DB_DUPLICATE ? OUTCOME_OK : OUTCOME_INTERNAL;
}

// ---- making one

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
	if (!is_text(info->description, 0, MAX_DESCRIPTION))
		return "description must have up to 1024 characters, UTF-8 without NUL";
	if (info->expires_us != 0 && info->expires_us <= clock_now_us())
		return "expiry must lie in the future";
	return NULL;
}

// "id.secret": 12 hex digits, so that no shell takes it for an option, and 32 characters.
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

// A duplicate in the second run of a task is the row of the first, whose answer was lost.
static enum outcome create_once(struct db *db, struct pool *pool, const struct token_info *info, struct str *token,
	bool *taken)
{
	uint8_t hash[DIGEST_SHA256];
	struct str id;
	struct task task = { .db = db, .pool = pool };

	make_token(pool, token, &id, hash);
	const struct db_value in[] = {
		db_s(id), db_b(str_n((const char *)hash, sizeof(hash))), db_s(info->user), db_s(str_c(role_name(info->role))),
		db_s(info->description), db_t(clock_now_us()),
		info->expires_us != 0 ? db_t(info->expires_us) : db_null('t'), db_s(info->tenant),
	};

	task.query = info->role == ROLE_OPERATOR ? &q_create_operator : &q_create;
	task.in = in;
	enum outcome outcome = run_task(&task);

	*taken = task.result == DB_DUPLICATE && db_txn_tries(db) == 1;
	if (outcome == OUTCOME_OK && task.result == DB_OK && task.rows.affected == 0)
		return OUTCOME_NOT_FOUND;
	return outcome == OUTCOME_OK ? OUTCOME_CREATED : outcome;
}

enum outcome token_create(struct db *db, struct pool *pool, const struct token_info *info, struct str *token,
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

enum outcome token_revoke(struct db *db, struct pool *pool, struct str id)
{
	struct str key = str_part(id, 0, str_find(id, '.', 0));
	struct db_value in[] = { db_t(clock_now_us()), db_s(key) };
	struct task task = { .db = db, .pool = pool, .query = &q_revoke, .in = in };

	if (!is_text(key, 1, MAX_NAME))
		return OUTCOME_NOT_FOUND;
	if (run_task(&task) != OUTCOME_OK)
		return OUTCOME_UNAVAILABLE;
	return task.rows.affected > 0 ? OUTCOME_OK : OUTCOME_NOT_FOUND;
}

static void read_row(const struct db_rows *rows, size_t row, struct token_info *info)
{
	*info = (struct token_info){
		.id = db_at(rows, row, 0)->s,
		.user = db_at(rows, row, 1)->s,
		.tenant = db_at(rows, row, 2)->s,
		.created_us = db_at(rows, row, 4)->i,
		.expires_us = db_at(rows, row, 5)->null ? 0 : db_at(rows, row, 5)->i,
		.revoked_us = db_at(rows, row, 6)->null ? 0 : db_at(rows, row, 6)->i,
		.description = db_at(rows, row, 7)->s,
	};
	if (!role_parse(db_at(rows, row, 3)->s, &info->role))
		info->role = ROLE_NONE;
}

enum outcome token_list(struct db *db, struct pool *pool, struct str tenant, struct token_info **list, size_t *n)
{
	struct db_value in[] = { db_s(tenant) };
	struct task task = { .db = db, .pool = pool, .query = &q_list, .in = in };

	if (tenant.p != NULL)
		task.query = tenant.n > 0 ? &q_list_tenant : &q_list_operators;
	if (run_task(&task) != OUTCOME_OK)
		return OUTCOME_UNAVAILABLE;
	*n = task.rows.n;
	*list = POOL_ARRAY(pool, struct token_info, task.rows.n);
	for (size_t i = 0; i < task.rows.n; i++)
		read_row(&task.rows, i, &(*list)[i]);
	return OUTCOME_OK;
}

// SPDX-License-Identifier: Apache-2.0
// Purges in transactions of bounded size, so nobody waits long for a lock that is held here.
#include "base/base.h"

#include "registry/core/settings.h"
#include "registry/upkeep/reap_internal.h"

#include "base/buf.h"
#include "base/clock.h"
#include "base/pool.h"
#include "registry/core/failure.h"
#include "sql/reaping.h"
#include "sql/schema.h"

bool reap_must_end(struct reaping *reaping)
{
	if (reaping->stop != NULL && *reaping->stop)
		reaping->counts->stopped = true;
	return reaping->counts->stopped;
}

int64_t reap_kept_since(const struct registry *registry, uint64_t seconds)
{
	return registry->now_us - (int64_t)(seconds * 1000000);
}

// ---- the clock

enum { WORTH_A_WORD_S = 60 }; // clocks that differ by less are as good as the same

enum outcome reap_now(struct registry *registry, int64_t *now_us)
{
	enum outcome outcome = registry_database_now(registry, now_us);
	int64_t here_us = clock_now_us();

	if (outcome == OUTCOME_OK && here_us < *now_us)
		*now_us = here_us;
	return outcome;
}

// Sets the time by which this run decides. registry->now_us is this host's before.
static enum outcome choose_time(struct reaping *reaping)
{
	struct registry *registry = reaping->registry;
	int64_t there_us = 0;
	enum outcome outcome = registry_database_now(registry, &there_us);

	if (outcome != OUTCOME_OK)
		return outcome;
	int64_t ahead_s = (registry->now_us - there_us) / 1000000;
	if (ahead_s >= WORTH_A_WORD_S || ahead_s <= -WORTH_A_WORD_S)
		reaping->counts->ahead_s = ahead_s;
	if (there_us < registry->now_us)
		registry->now_us = registry->stamp_us = there_us;
	return OUTCOME_OK;
}

// ---- transactions

struct transaction {
	struct registry *registry;
	reap_fn *fn;
	const void *arg;
	uint64_t n;
	enum outcome outcome;
};

static enum db_verdict run(void *arg)
{
	struct transaction *transaction = arg;

	transaction->n = 0;
	transaction->outcome = transaction->fn(transaction->registry, transaction->arg, &transaction->n);
	return outcome_commits(transaction->outcome) ? DB_COMMIT : DB_ROLLBACK;
}

// Each transaction has an id of its own, by which db_txn_run() recognizes it after an uncertain COMMIT.
enum outcome reap_transact(struct reaping *reaping, reap_fn *fn, const void *arg, uint64_t *n)
{
	struct registry *registry = reaping->registry;
	struct transaction transaction = { .registry = registry, .fn = fn, .arg = arg };
	struct pool_mark mark = pool_mark(registry->pool);

	assert(!db_txn_writes(reaping->registry->db) && fn != NULL);
	registry->request_id = uuid_new();
	enum db_result result = db_txn_run(registry->db, DB_WRITE, &registry->request_id, run, &transaction);
	pool_rewind(registry->pool, mark);
	enum outcome outcome = result == DB_OK ? transaction.outcome : registry_db_failed(result);
	*n = outcome == OUTCOME_OK ? transaction.n : 0;
	return outcome;
}

enum outcome reap_all(struct reaping *reaping, reap_fn *fn, const void *arg, uint64_t *counter)
{
	enum outcome outcome;
	uint64_t n;

	do {
		outcome = reap_transact(reaping, fn, arg, &n);
		*counter += n;
	} while (outcome == OUTCOME_OK && n == REAP_AT_ONCE && !reap_must_end(reaping));
	return outcome;
}

enum outcome reap_deleted(enum db_result result, const struct db_rows *rows, uint64_t *n)
{
	*n = result == DB_OK ? rows->affected : 0;
	return result == DB_OK ? OUTCOME_OK : registry_db_failed(result);
}

// ---- what has ended

// The next three are of the type reap_fn, without an argument but where one is named.

static enum outcome delete_forwards(struct registry *registry, const void *arg, uint64_t *n)
{
	const struct sql_reap_forwards in = { .now = registry->now_us, .limit = REAP_AT_ONCE };
	struct db_rows rows;
	enum db_result result = sql_reap_forwards_run(registry->db, registry->pool, &in, &rows);

	UNUSED(arg);
	return reap_deleted(result, &rows, n);
}

// arg: const enum sql_reap_token_end *.
static enum outcome delete_tokens(struct registry *registry, const void *arg, uint64_t *n)
{
	const enum sql_reap_token_end *end = arg;
	const struct sql_reap_tokens in = { .until = reap_kept_since(registry, registry->settings->retention), .limit = REAP_AT_ONCE };
	struct db_rows rows;
	enum db_result result = sql_reap_tokens_run(registry->db, registry->pool, *end, &in, &rows);

	return reap_deleted(result, &rows, n);
}

// Sessions of the console. The counts don't include them.
static enum outcome delete_sessions(struct registry *registry, const void *arg, uint64_t *n)
{
	const struct sql_reap_sessions in = { .now = registry->now_us, .limit = REAP_AT_ONCE };
	struct db_rows rows;
	enum db_result result = sql_reap_sessions_run(registry->db, registry->pool, &in, &rows);

	UNUSED(arg);
	return reap_deleted(result, &rows, n);
}

static enum outcome reap_tokens(struct reaping *reaping)
{
	static const enum sql_reap_token_end ends[] = { SQL_REAP_TOKEN_END_EXPIRED, SQL_REAP_TOKEN_END_REVOKED };
	enum outcome outcome = OUTCOME_OK;

	for (size_t i = 0; i < COUNT_OF(ends) && outcome == OUTCOME_OK && !reap_must_end(reaping); i++)
		outcome = reap_all(reaping, delete_tokens, &ends[i], &reaping->counts->tokens);
	return outcome;
}

// Deletes rows that nothing refers to any more: progress of moves, hidden traits and hidden classes. The counts don't include
// them.
static enum outcome drop_leftovers(struct registry *registry)
{
	enum db_result result = sql_reap_move_progress_run(registry->db, registry->pool, NULL);

	if (result == DB_OK)
		result = sql_reap_traits_run(registry->db, registry->pool, NULL);
	if (result == DB_OK)
		result = sql_reap_classes_run(registry->db, registry->pool, NULL);
	return result == DB_OK ? OUTCOME_OK : registry_db_failed(result);
}

// ---- a dry run

static enum outcome count_resources(struct registry *registry, uint64_t *counter)
{
	const struct sql_reap_count_resources in = { .now = registry->now_us };
	struct db_rows rows;
	enum db_result result = sql_reap_count_resources_run(registry->db, registry->pool, &in, &rows);

	if (result != DB_OK)
		return registry_db_failed(result);
	*counter += sql_reap_count_resources_row(&rows, 0)->n;
	return OUTCOME_OK;
}

// Counts what would go in a run now: also the rows that belong to tenants and resources which that run would purge first.
static enum outcome count_rows(const struct reaping *reaping, enum sql_reap_due which, uint64_t *counter)
{
	struct registry *registry = reaping->registry;
	const struct sql_reap_count_rows in = { .now = registry->now_us, .until = reap_kept_since(registry, registry->settings->retention) };
	struct db_rows counted;
	enum db_result result = sql_reap_count_rows_run(registry->db, registry->pool, which, &in, &counted);

	if (result != DB_OK)
		return registry_db_failed(result);
	*counter += sql_reap_count_rows_row(&counted, 0)->n;
	return OUTCOME_OK;
}

static enum outcome count_tenants(const struct reaping *reaping)
{
	struct registry *registry = reaping->registry;
	const struct sql_reap_count_tenants in = { .now = registry->now_us };
	struct db_rows rows;
	enum db_result result = sql_reap_count_tenants_run(registry->db, registry->pool, &in, &rows);

	if (result != DB_OK)
		return registry_db_failed(result);
	reaping->counts->tenants = sql_reap_count_tenants_row(&rows, 0)->n;
	return OUTCOME_OK;
}

static enum outcome count_all(struct reaping *reaping)
{
	enum outcome outcome = count_tenants(reaping);

	if (outcome == OUTCOME_OK)
		outcome = count_resources(reaping->registry, &reaping->counts->resources);
	if (outcome == OUTCOME_OK)
		outcome = count_rows(reaping, SQL_REAP_DUE_FORWARDS, &reaping->counts->forwards);
	if (outcome == OUTCOME_OK)
		outcome = reap_moves(reaping, REAP_COUNT);
	if (outcome == OUTCOME_OK)
		outcome = reap_changes(reaping, REAP_COUNT);
	if (outcome == OUTCOME_OK)
		outcome = reap_usage(reaping, REAP_COUNT);
	if (outcome == OUTCOME_OK)
		outcome = count_rows(reaping, SQL_REAP_DUE_TOKENS, &reaping->counts->tokens);
	return outcome;
}

// ---- a run

static enum outcome record(struct registry *registry)
{
	struct buf at = buf_new(registry->pool, 24);
	int64_t now_us = 0;
	enum outcome outcome = reap_now(registry, &now_us);

	if (outcome != OUTCOME_OK)
		return outcome;
	buf_add_i64(&at, now_us);
	const struct sql_reap_record in = { .at = buf_str(&at) };
	enum db_result result = sql_reap_record_run(registry->db, registry->pool, &in, NULL);
	return result == DB_OK ? OUTCOME_OK : registry_db_failed(result);
}

enum outcome reap_last(struct registry *registry, int64_t *at_us)
{
	const struct sql_setting_get in = { .name = STR("reaped_at") };
	struct db_rows rows;
	uint64_t at = 0;
	enum db_result result = sql_setting_get_run(registry->db, registry->pool, &in, &rows);

	*at_us = 0;
	if (result != DB_OK)
		return registry_db_failed(result);
	// A value that is no time, written by hand perhaps, counts as none.
	if (rows.n > 0 && str_to_u64(sql_setting_get_row(&rows, 0)->value, &at) && at <= INT64_MAX)
		*at_us = (int64_t)at;
	return OUTCOME_OK;
}

static enum outcome purge_all(struct reaping *reaping)
{
	struct reap_counts *counts = reaping->counts;
	uint64_t sessions = 0;
	enum outcome outcome = reap_expired_tenants(reaping);

	if (outcome == OUTCOME_OK && !reap_must_end(reaping))
		outcome = reap_expired_resources(reaping);
	if (outcome == OUTCOME_OK && !reap_must_end(reaping))
		outcome = reap_purged_tenants(reaping);
	if (outcome == OUTCOME_OK && !reap_must_end(reaping))
		outcome = reap_moves(reaping, REAP_PURGE);
	if (outcome == OUTCOME_OK && !reap_must_end(reaping))
		outcome = reap_webhook_messages(reaping);
	if (outcome == OUTCOME_OK && !reap_must_end(reaping))
		outcome = reap_changes(reaping, REAP_PURGE);
	if (outcome == OUTCOME_OK && !reap_must_end(reaping))
		outcome = reap_former_content(reaping);
	if (outcome == OUTCOME_OK && !reap_must_end(reaping))
		outcome = reap_usage(reaping, REAP_PURGE);
	if (outcome == OUTCOME_OK && !reap_must_end(reaping))
		outcome = reap_all(reaping, delete_forwards, NULL, &counts->forwards);
	if (outcome == OUTCOME_OK && !reap_must_end(reaping))
		outcome = reap_tokens(reaping);
	if (outcome == OUTCOME_OK && !reap_must_end(reaping))
		outcome = reap_all(reaping, delete_sessions, NULL, &sessions);
	if (outcome == OUTCOME_OK && !reap_must_end(reaping))
		outcome = drop_leftovers(reaping->registry);
	if (outcome == OUTCOME_OK && !counts->stopped)
		outcome = record(reaping->registry);
	return outcome;
}

enum outcome reap(struct registry *registry, enum reap_mode mode, const volatile sig_atomic_t *stop, struct reap_counts *counts)
{
	struct reaping reaping = { .registry = registry, .stop = stop, .counts = counts };

	assert(!db_txn_writes(registry->db));
	*counts = (struct reap_counts){ .stopped = false };
	enum outcome outcome = choose_time(&reaping);
	if (outcome != OUTCOME_OK)
		return outcome;
	return mode == REAP_COUNT ? count_all(&reaping) : purge_all(&reaping);
}

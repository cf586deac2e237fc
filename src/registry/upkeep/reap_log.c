// SPDX-License-Identifier: Apache-2.0
// Purges what is kept of the past: moves, messages of webhooks, the change log, what updates replaced, and usage. Each is deleted
// from its beginning.
#include "base/base.h"

#include "registry/upkeep/reap_internal.h"

#include "base/pool.h"
#include "db/list.h"
#include "registry/core/failure.h"
#include "registry/core/settings.h"
#include "sql/reaping.h"

// ---- moves, and messages of webhooks

struct ended_rows {
	enum sql_reap_ended_table table;
	struct sql_reap_ended_rows in;
};

// A reap_fn. arg: the struct ended_rows.
static enum outcome delete_ended(struct registry *registry, const void *arg, uint64_t *n)
{
	const struct ended_rows *ended = arg;
	struct db_rows rows;
	enum db_result result = sql_reap_ended_rows_run(registry->db, registry->pool, ended->table, &ended->in, &rows);

	return reap_deleted(result, &rows, n);
}

static enum outcome reap_ended(struct reaping *reaping, enum reap_mode mode, enum sql_reap_ended which, enum sql_reap_ended_table table,
	uint64_t *counter)
{
	struct registry *registry = reaping->registry;
	struct sql_reap_page_of_ended in = { .until = reap_kept_since(registry, registry->settings->retention), .limit = REAP_AT_ONCE };
	struct pool_mark mark = pool_mark(registry->pool);
	enum outcome outcome = OUTCOME_OK;
	bool more = true;

	while (outcome == OUTCOME_OK && more && !reap_must_end(reaping)) {
		struct db_rows rows;
		enum db_result result = sql_reap_page_of_ended_run(registry->db, registry->pool, which, &in, &rows);
		if (result != DB_OK)
			return registry_db_failed(result);
		struct db_list due = db_list_new(registry->pool, rows.n * 8);
		more = rows.n == REAP_AT_ONCE;
		for (size_t i = 0; i < rows.n; i++) {
			const struct sql_reap_page_of_ended_row *row = sql_reap_page_of_ended_row(&rows, i);
			in.after = row->id;
			more = more && row->is_younger == 0;
			if (row->is_due != 0)
				db_list_add_u64(&due, row->id);
		}
		uint64_t n = due.n;
		if (n > 0 && mode == REAP_PURGE)
			outcome = reap_transact(reaping, delete_ended, &(struct ended_rows){ .table = table, .in.ids = db_list_end(&due) }, &n);
		*counter += n;
		pool_rewind(registry->pool, mark);
	}
	return outcome;
}

enum outcome reap_moves(struct reaping *reaping, enum reap_mode mode)
{
	return reap_ended(reaping, mode, SQL_REAP_ENDED_MOVES, SQL_REAP_ENDED_TABLE_MOVES, &reaping->counts->moves);
}

enum outcome reap_webhook_messages(struct reaping *reaping)
{
	uint64_t n = 0;

	return reap_ended(reaping, REAP_PURGE, SQL_REAP_ENDED_MESSAGES, SQL_REAP_ENDED_TABLE_MESSAGES, &n);
}

// ---- the change log, and what updates replaced

// Rows of either with ids above after and up to upto.
struct slice {
	uint64_t after, upto;
	enum sql_reap_former former; // for delete_former()
};

// A reap_fn. arg: the struct slice. What the changes replaced goes with them.
static enum outcome delete_changes(struct registry *registry, const void *arg, uint64_t *n)
{
	const struct slice *slice = arg;
	const struct sql_reap_changes in = { .after = slice->after, .upto = slice->upto };
	const struct sql_reap_former_content former = { .after = slice->after, .upto = slice->upto };
	struct db_call calls[] = {
		sql_reap_changes_call(registry->pool, &in),
		sql_reap_former_content_call(registry->pool, SQL_REAP_FORMER_RESOURCES, &former),
		sql_reap_former_content_call(registry->pool, SQL_REAP_FORMER_TENANTS, &former),
	};

	return reap_deleted(db_run_batch(registry->db, registry->pool, calls, COUNT_OF(calls)), &calls[0].rows, n);
}

enum outcome reap_changes(struct reaping *reaping, enum reap_mode mode)
{
	struct registry *registry = reaping->registry;
	const struct registry_settings *settings = registry->settings;
	struct sql_reap_page_of_changes in = { .until = reap_kept_since(registry, settings->change_retention), .limit = REAP_AT_ONCE };
	struct pool_mark mark = pool_mark(registry->pool);
	enum outcome outcome = OUTCOME_OK;
	size_t n_due = REAP_AT_ONCE;

	if (settings->change_retention == 0)
		return OUTCOME_OK;
	while (outcome == OUTCOME_OK && n_due == REAP_AT_ONCE && !reap_must_end(reaping)) {
		struct slice slice = { .after = in.after };
		struct db_rows rows;
		enum db_result result = sql_reap_page_of_changes_run(registry->db, registry->pool, &in, &rows);
		if (result != DB_OK)
			return registry_db_failed(result);
		for (n_due = 0; n_due < rows.n && sql_reap_page_of_changes_row(&rows, n_due)->is_due != 0; n_due++)
			in.after = sql_reap_page_of_changes_row(&rows, n_due)->id;
		reaping->counts->uncounted = n_due < rows.n && sql_reap_page_of_changes_row(&rows, n_due)->is_old != 0;
		slice.upto = in.after;
		pool_rewind(registry->pool, mark);
		uint64_t n = n_due;
		if (n_due > 0 && mode == REAP_PURGE)
			outcome = reap_transact(reaping, delete_changes, &slice, &n);
		reaping->counts->changes += n;
	}
	return outcome;
}

// A reap_fn. arg: the struct slice.
static enum outcome delete_former(struct registry *registry, const void *arg, uint64_t *n)
{
	const struct slice *slice = arg;
	const struct sql_reap_former_content in = { .after = slice->after, .upto = slice->upto };
	struct db_rows rows;
	enum db_result result = sql_reap_former_content_run(registry->db, registry->pool, slice->former, &in, &rows);

	return reap_deleted(result, &rows, n);
}

// Content is in the order of the changes that replaced it. Where it is no longer kept at all, everything is due.
static enum outcome reap_former(struct reaping *reaping, enum sql_reap_former table)
{
	struct registry *registry = reaping->registry;
	struct sql_reap_page_of_former in = { .until = reap_kept_since(registry, registry->settings->content_retention),
		.limit = REAP_AT_ONCE };
	struct pool_mark mark = pool_mark(registry->pool);
	enum outcome outcome = OUTCOME_OK;
	size_t n_due = REAP_AT_ONCE;

	while (outcome == OUTCOME_OK && n_due == REAP_AT_ONCE && !reap_must_end(reaping)) {
		struct slice slice = { .after = in.after, .former = table };
		struct db_rows rows;
		uint64_t n;
		enum db_result result = sql_reap_page_of_former_run(registry->db, registry->pool, table, &in, &rows);
		if (result != DB_OK)
			return registry_db_failed(result);
		for (n_due = 0; n_due < rows.n && sql_reap_page_of_former_row(&rows, n_due)->is_due != 0; n_due++)
			in.after = sql_reap_page_of_former_row(&rows, n_due)->id;
		slice.upto = in.after;
		pool_rewind(registry->pool, mark);
		if (n_due > 0)
			outcome = reap_transact(reaping, delete_former, &slice, &n);
	}
	return outcome;
}

enum outcome reap_former_content(struct reaping *reaping)
{
	enum outcome outcome = OUTCOME_OK;

	for (enum sql_reap_former i = 0; i < SQL_REAP_FORMER__N && outcome == OUTCOME_OK; i++)
		outcome = reap_former(reaping, i);
	return outcome;
}

// ---- usage

// A reap_fn. arg: the statement's values, which say that periods go that ended before a time, but for the last one.
static enum outcome delete_closings(struct registry *registry, const void *arg, uint64_t *n)
{
	const struct sql_reap_closings *in = arg;
	struct db_rows rows;
	enum db_result result = sql_reap_closings_run(registry->db, registry->pool, in, &rows);

	return reap_deleted(result, &rows, n);
}

struct due_periods {
	const struct sql_reap_period *list;
	size_t n;
};

// A reap_fn. arg: the struct due_periods.
static enum outcome delete_periods(struct registry *registry, const void *arg, uint64_t *n)
{
	const struct due_periods *due = arg;
	enum db_result result = sql_reap_period_bulk(registry->db, registry->pool, due->list, due->n, n);

	return result == DB_OK ? OUTCOME_OK : registry_db_failed(result);
}

// Reads when the first period begins that is kept, and when the last one ends. 0: there is none.
static enum outcome read_kept(struct registry *registry, int64_t *since_us, int64_t *newest_us)
{
	struct db_rows rows;
	enum db_result result = sql_reap_usage_kept_run(registry->db, registry->pool, &rows);

	if (result != DB_OK)
		return registry_db_failed(result);
	const struct sql_reap_usage_kept_row *row = sql_reap_usage_kept_row(&rows, 0);
	*since_us = row->since_is_null ? 0 : row->since;
	*newest_us = row->newest_is_null ? 0 : row->newest;
	return OUTCOME_OK;
}

// Deletes what periods that are no longer listed say of tenants, but for the newest of each tenant and type: it is the balance
// with which the first period begins that is kept.
static enum outcome reap_periods(struct reaping *reaping, int64_t until_us)
{
	struct registry *registry = reaping->registry;
	struct sql_reap_page_of_periods in = { .until = until_us, .limit = REAP_AT_ONCE };
	struct pool_mark mark = pool_mark(registry->pool);
	enum outcome outcome = OUTCOME_OK;
	struct db_rows rows;

	do {
		enum db_result result = sql_reap_page_of_periods_run(registry->db, registry->pool, &in, &rows);
		if (result != DB_OK)
			return registry_db_failed(result);
		struct sql_reap_period *periods = POOL_ARRAY(registry->pool, struct sql_reap_period, rows.n);
		struct due_periods due = { .list = periods };
		uint64_t n;
		for (size_t i = 0; i < rows.n; i++) {
			const struct sql_reap_page_of_periods_row *row = sql_reap_page_of_periods_row(&rows, i);
			in.at = row->until;
			in.tenant_id = row->tenant_id;
			in.type_id = row->type_id;
			if (row->is_due != 0)
				periods[due.n++] = (struct sql_reap_period){ .until = in.at, .tenant_id = in.tenant_id, .type_id = in.type_id };
		}
		if (due.n > 0)
			outcome = reap_transact(reaping, delete_periods, &due, &n);
		pool_rewind(registry->pool, mark);
	} while (outcome == OUTCOME_OK && rows.n == REAP_AT_ONCE && !reap_must_end(reaping));
	return outcome;
}

enum outcome reap_usage(struct reaping *reaping, enum reap_mode mode)
{
	struct registry *registry = reaping->registry;
	struct sql_reap_closings in = { .until = reap_kept_since(registry, registry->settings->usage_retention), .limit = REAP_AT_ONCE };
	int64_t since_us, newest_us;

	if (registry->settings->usage_retention == 0)
		return OUTCOME_OK;
	if (mode == REAP_COUNT) {
		struct db_rows rows;
		enum db_result result = sql_reap_count_closings_run(registry->db, registry->pool,
			&(struct sql_reap_count_closings){ .until = in.until }, &rows);
		reaping->counts->periods += result == DB_OK ? sql_reap_count_closings_row(&rows, 0)->n : 0;
		return result == DB_OK ? OUTCOME_OK : registry_db_failed(result);
	}
	enum outcome outcome = read_kept(registry, &since_us, &in.newest);
	if (outcome == OUTCOME_OK)
		outcome = reap_all(reaping, delete_closings, &in, &reaping->counts->periods);
	if (outcome == OUTCOME_OK)
		outcome = read_kept(registry, &since_us, &newest_us);
	return outcome == OUTCOME_OK && since_us != 0 && !reap_must_end(reaping) ? reap_periods(reaping, since_us) : outcome;
}

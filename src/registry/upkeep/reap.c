// SPDX-License-Identifier: Apache-2.0
// Purges in transactions of bounded size, so nobody waits long for a lock that is held here.
#include "base/base.h"

#include "registry/core/settings.h"
#include "registry/upkeep/reap.h"

#include "base/buf.h"
#include "base/clock.h"
#include "base/pool.h"
#include "registry/core/failure.h"
#include "registry/log/change.h"
#include "registry/tenant/internal.h"
#include "sql/reaping.h"
#include "sql/schema.h"

enum { ROWS_AT_ONCE = 1000 };

// Kinds of rows whose deletion leaves no change row.
static const struct rows {
	enum sql_reap_rows which;
	enum sql_reap_due due; // what a dry run counts in their place; SQL_REAP_DUE__N: that of an earlier kind includes them
	size_t counter;        // offset in struct reap_counts
	bool change_log;       // kept for change_retention (0: for ever); other rows for retention
} all_rows[] = {
	{ SQL_REAP_ROWS_FORWARDS, SQL_REAP_DUE_FORWARDS, offsetof(struct reap_counts, forwards), false },
	{ SQL_REAP_ROWS_MOVES, SQL_REAP_DUE_MOVES, offsetof(struct reap_counts, moves), false },
	{ SQL_REAP_ROWS_CHANGES, SQL_REAP_DUE_CHANGES, offsetof(struct reap_counts, changes), true },
	{ SQL_REAP_ROWS_TOKENS, SQL_REAP_DUE_TOKENS, offsetof(struct reap_counts, tokens), false },
	{ SQL_REAP_ROWS_TOKENS_OF_PURGED, SQL_REAP_DUE__N, offsetof(struct reap_counts, tokens), false },
};

// State shared with the functions that run as transactions.
struct reaping {
	struct registry *registry;
	struct reap_counts *counts;
	const struct tenant *tenant;               // for bury_one()
	// for purge_page(): resources of that tenant, or all past their own purge time
	enum sql_reap_resources_of which;
	uint64_t tenant_id;
	const struct sql_reap_delete_rows *delete; // for delete_rows()
	enum sql_reap_rows rows;
	uint64_t n;                                // how many rows the last transaction purged
	uint64_t n_forwards;                       // of purge_page(): the forwards among what belonged to these rows
	enum outcome outcome;
};

static enum db_verdict verdict(struct reaping *reaping, enum outcome outcome)
{
	reaping->outcome = outcome;
	return outcome_commits(outcome) ? DB_COMMIT : DB_ROLLBACK;
}

// Each transaction has an id of its own, by which db_txn_run() recognizes it after an uncertain COMMIT.
static enum outcome transact(struct reaping *reaping, enum db_verdict (*fn)(void *arg))
{
	struct registry *registry = reaping->registry;
	struct pool_mark mark = pool_mark(registry->pool);

	registry->request_id = uuid_new();
	enum db_result result = db_txn_run(registry->db, DB_WRITE, &registry->request_id, fn, reaping);
	pool_rewind(registry->pool, mark);
	return result == DB_OK ? reaping->outcome : registry_db_failed(result);
}

// ---- tenants

static enum db_verdict bury_one(void *arg)
{
	struct reaping *reaping = arg;
	struct registry *registry = reaping->registry;
	const struct sql_reap_lock_tenant in = { .id = reaping->tenant->id };
	struct db_rows rows;
	enum db_result result = sql_reap_lock_tenant_run(registry->db, registry->pool, &in, &rows);

	reaping->n = 0;
	if (result != DB_OK)
		return verdict(reaping, registry_db_failed(result));
	const struct sql_reap_lock_tenant_row *row = rows.n > 0 ? sql_reap_lock_tenant_row(&rows, 0) : NULL;
	if (row == NULL || row->purge_at_is_null || row->purge_at > registry->now_us)
		return verdict(reaping, OUTCOME_OK); // it was recovered meanwhile
	reaping->n = 1;
	return verdict(reaping, tenant_purge(registry, reaping->tenant));
}

static enum outcome reap_tenants(struct reaping *reaping, bool dry_run)
{
	struct registry *registry = reaping->registry;
	const struct sql_reap_expired_tenants in = { .now = registry->now_us };
	struct db_rows rows;
	enum db_result result = sql_reap_expired_tenants_run(registry->db, registry->pool, &in, &rows);
	enum outcome outcome = result == DB_OK ? OUTCOME_OK : registry_db_failed(result);

	if (outcome == OUTCOME_OK && dry_run)
		reaping->counts->tenants = rows.n;
	for (size_t i = 0; outcome == OUTCOME_OK && !dry_run && i < rows.n; i++) {
		const struct tenant tenant = tenant_of_columns(&sql_reap_expired_tenants_row(&rows, i)->t);
		reaping->tenant = &tenant;
		outcome = transact(reaping, bury_one);
		reaping->counts->tenants += outcome == OUTCOME_OK ? reaping->n : 0;
	}
	return outcome;
}

// ---- resources

static struct str ids_as_json(struct pool *pool, const struct db_rows *page)
{
	struct buf list = buf_new(pool, 16 + page->n * 8);

	for (size_t i = 0; i < page->n; i++) {
		buf_addc(&list, i == 0 ? '[' : ',');
		buf_add_u64(&list, sql_reap_lock_page_row(page, i)->id);
	}
	buf_addc(&list, ']');
	return buf_str(&list);
}

// Purges the resources of a locked page, with all that belongs to them in other tables.
// *forwards: how many of that are forwards.
static enum outcome purge_resources(struct registry *registry, struct str ids, uint64_t *forwards)
{
	struct pool *pool = registry->pool;
	const struct sql_reap_side_rows side = { .ids = ids };
	struct db_call calls[1 + SQL_REAP_SIDE__N + 1] = {
		changes_of_purge(registry, ids),
		[1 + SQL_REAP_SIDE__N] = sql_reap_page_call(pool, &(struct sql_reap_page){ .ids = ids }),
	};

	for (enum sql_reap_side i = 0; i < SQL_REAP_SIDE__N; i++)
		calls[1 + i] = sql_reap_side_rows_call(pool, i, &side);
	enum db_result result = db_run_batch(registry->db, pool, calls, COUNT_OF(calls));
	if (result == DB_OK && calls[1 + SQL_REAP_SIDE_ALLOCATIONS].rows.affected > 0)
		result = sql_reap_consumers_run(registry->db, pool, NULL);
	*forwards = calls[1 + SQL_REAP_SIDE_FORWARDS].rows.affected;
	return result == DB_OK ? OUTCOME_OK : registry_db_failed(result);
}

static enum db_verdict purge_page(void *arg)
{
	struct reaping *reaping = arg;
	struct registry *registry = reaping->registry;
	const struct sql_reap_lock_page in = {
		.now = registry->now_us,
		.tenant_id = reaping->tenant_id,
		.limit = ROWS_AT_ONCE,
	};
	struct db_rows page;
	enum db_result result = sql_reap_lock_page_run(registry->db, registry->pool, reaping->which, &in, &page);

	if (result != DB_OK)
		return verdict(reaping, registry_db_failed(result));
	reaping->n = page.n;
	reaping->n_forwards = 0;
	if (page.n == 0)
		return verdict(reaping, OUTCOME_OK);
	return verdict(reaping, purge_resources(registry, ids_as_json(registry->pool, &page), &reaping->n_forwards));
}

// tenant_id: of the purged tenant whose resources are purged; unused for resources that are past their own purge time.
static enum outcome purge_pages(struct reaping *reaping, enum sql_reap_resources_of which, uint64_t tenant_id)
{
	enum outcome outcome;

	reaping->which = which;
	reaping->tenant_id = tenant_id;
	do {
		outcome = transact(reaping, purge_page);
		if (outcome != OUTCOME_OK)
			return outcome;
		reaping->counts->resources += reaping->n;
		reaping->counts->forwards += reaping->n_forwards;
	} while (reaping->n == ROWS_AT_ONCE);
	return OUTCOME_OK;
}

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

static enum outcome reap_resources(struct reaping *reaping, bool dry_run)
{
	struct registry *registry = reaping->registry;
	struct db_rows tenants;

	if (dry_run)
		return count_resources(registry, &reaping->counts->resources);
	enum outcome outcome = purge_pages(reaping, SQL_REAP_RESOURCES_OF_EXPIRED, 0);
	if (outcome != OUTCOME_OK)
		return outcome;
	enum db_result result = sql_reap_emptied_tenants_run(registry->db, registry->pool, &tenants);
	if (result != DB_OK)
		return registry_db_failed(result);
	for (size_t i = 0; outcome == OUTCOME_OK && i < tenants.n; i++)
		outcome = purge_pages(reaping, SQL_REAP_RESOURCES_OF_TENANT, sql_reap_emptied_tenants_row(&tenants, i)->id);
	return outcome;
}

// ---- other rows

static enum outcome find_first_kept(struct registry *registry, int64_t until, uint64_t *id)
{
	const struct sql_reap_first_kept in = { .until = until };
	struct db_rows rows;
	enum db_result result = sql_reap_first_kept_run(registry->db, registry->pool, &in, &rows);

	if (result != DB_OK)
		return registry_db_failed(result);
	*id = sql_reap_first_kept_row(&rows, 0)->id;
	return OUTCOME_OK;
}

// Counts what would go in a run now: also the rows that belong to tenants and resources which that run would purge first.
static enum outcome count_rows(struct registry *registry, const struct rows *rows, const struct sql_reap_delete_rows *delete,
	uint64_t *counter)
{
	const struct sql_reap_count_rows in = { .now = registry->now_us, .until = delete->until,
		.first_kept = delete->first_kept };
	struct db_rows counted;

	if (rows->due == SQL_REAP_DUE__N)
		return OUTCOME_OK;
	enum db_result result = sql_reap_count_rows_run(registry->db, registry->pool, rows->due, &in, &counted);

	if (result != DB_OK)
		return registry_db_failed(result);
	*counter += sql_reap_count_rows_row(&counted, 0)->n;
	return OUTCOME_OK;
}

static enum db_verdict delete_rows(void *arg)
{
	struct reaping *reaping = arg;
	struct registry *registry = reaping->registry;
	struct db_rows rows;
	enum db_result result =
		sql_reap_delete_rows_run(registry->db, registry->pool, reaping->rows, reaping->delete, &rows);

	if (result != DB_OK)
		return verdict(reaping, registry_db_failed(result));
	reaping->n = rows.affected;
	return verdict(reaping, OUTCOME_OK);
}

static enum outcome reap_rows(struct reaping *reaping, bool dry_run, const struct rows *rows)
{
	struct registry *registry = reaping->registry;
	uint64_t *counter = (uint64_t *)(void *)((char *)reaping->counts + rows->counter);
	uint64_t seconds = rows->change_log ? registry->settings->change_retention : registry->settings->retention;
	struct sql_reap_delete_rows delete = {
		.until = registry->now_us - (int64_t)(seconds * 1000000),
		.limit = ROWS_AT_ONCE,
	};
	enum outcome outcome = OUTCOME_OK;

	if (rows->change_log && seconds == 0)
		return OUTCOME_OK;
	if (rows->change_log)
		outcome = find_first_kept(registry, delete.until, &delete.first_kept);
	if (outcome != OUTCOME_OK)
		return outcome;
	if (dry_run)
		return count_rows(registry, rows, &delete, counter);
	reaping->rows = rows->which;
	reaping->delete = &delete;
	do {
		reaping->n = 0;
		outcome = transact(reaping, delete_rows);
		*counter += outcome == OUTCOME_OK ? reaping->n : 0;
	} while (outcome == OUTCOME_OK && reaping->n == ROWS_AT_ONCE);
	return outcome;
}

// Deletes rows that nothing refers to any more: progress of moves, hidden traits and hidden classes. The counts don't include them.
static enum outcome drop_leftovers(struct registry *registry)
{
	enum db_result result = sql_reap_move_progress_run(registry->db, registry->pool, NULL);

	if (result == DB_OK)
		result = sql_reap_traits_run(registry->db, registry->pool, NULL);
	if (result == DB_OK)
		result = sql_reap_classes_run(registry->db, registry->pool, NULL);
	return result == DB_OK ? OUTCOME_OK : registry_db_failed(result);
}

static enum outcome record(struct registry *registry)
{
	struct buf at = buf_new(registry->pool, 24);

	buf_add_i64(&at, clock_now_us());
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

enum outcome reap(struct registry *registry, bool dry_run, struct reap_counts *counts)
{
	struct reaping reaping = { .registry = registry, .counts = counts };

	*counts = (struct reap_counts){ 0 };
	enum outcome outcome = reap_tenants(&reaping, dry_run);
	if (outcome == OUTCOME_OK)
		outcome = reap_resources(&reaping, dry_run);
	for (size_t i = 0; outcome == OUTCOME_OK && i < COUNT_OF(all_rows); i++)
		outcome = reap_rows(&reaping, dry_run, &all_rows[i]);
	if (outcome == OUTCOME_OK && !dry_run)
		outcome = drop_leftovers(registry);
	return outcome != OUTCOME_OK || dry_run ? outcome : record(registry);
}

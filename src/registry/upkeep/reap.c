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

enum { ROWS_AT_ONCE = 1000, TENANTS_AT_ONCE = 100 };

// State shared with the functions that run as transactions.
struct reaping {
	struct registry *registry;
	const volatile sig_atomic_t *stop;
	struct reap_counts *counts;
	const struct tenant *tenant;          // for bury_one()
	// for purge_page(): resources of that tenant, or all past their own purge time
	enum sql_reap_resources_of which;
	uint64_t tenant_id;                   // also for delete_of_tenant()
	enum sql_reap_of_tenant table;        // for delete_of_tenant()
	struct str ids;                       // for delete_moves()
	uint64_t after, upto;                 // for delete_changes() and delete_former()
	enum sql_reap_former former;          // for delete_former()
	int64_t until_us, newest_us;          // for delete_closings()
	const struct sql_reap_period *periods; // n of them, for delete_periods()
	uint64_t n;                           // how many rows the last transaction purged
	uint64_t n_forwards;                  // of purge_page(): the forwards among what belonged to these rows
	enum outcome outcome;
};

// Is this run to end now?
static bool must_end(struct reaping *reaping)
{
	if (reaping->stop != NULL && *reaping->stop)
		reaping->counts->stopped = true;
	return reaping->counts->stopped;
}

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

// Makes the names of expired tenants free.
static enum outcome bury_tenants(struct reaping *reaping)
{
	struct registry *registry = reaping->registry;
	const struct sql_reap_expired_tenants in = { .now = registry->now_us, .limit = TENANTS_AT_ONCE };
	struct pool_mark mark = pool_mark(registry->pool);
	enum outcome outcome = OUTCOME_OK;
	uint64_t buried;

	do {
		struct db_rows rows;
		enum db_result result = sql_reap_expired_tenants_run(registry->db, registry->pool, &in, &rows);
		if (result != DB_OK)
			return registry_db_failed(result);
		buried = 0;
		for (size_t i = 0; outcome == OUTCOME_OK && i < rows.n && !must_end(reaping); i++) {
			const struct tenant tenant = tenant_of_columns(&sql_reap_expired_tenants_row(&rows, i)->t);
			reaping->tenant = &tenant;
			outcome = transact(reaping, bury_one);
			buried += outcome == OUTCOME_OK ? reaping->n : 0;
		}
		reaping->counts->tenants += buried;
		pool_rewind(registry->pool, mark);
	} while (outcome == OUTCOME_OK && buried > 0 && !must_end(reaping));
	return outcome;
}

// ---- resources

// A list of ids as a JSON array, for statements that go through it.
struct ids {
	struct buf text;
};

static struct ids ids_begin(struct pool *pool, size_t n)
{
	struct ids ids = { buf_new(pool, 16 + n * 8) };

	buf_addc(&ids.text, '[');
	return ids;
}

static void ids_add(struct ids *ids, uint64_t id)
{
	if (ids->text.n > 1)
		buf_addc(&ids->text, ',');
	buf_add_u64(&ids->text, id);
}

static struct str ids_end(struct ids *ids)
{
	buf_addc(&ids->text, ']');
	return buf_str(&ids->text);
}

static struct str ids_of_page(struct pool *pool, const struct db_rows *page)
{
	struct ids ids = ids_begin(pool, page->n);

	for (size_t i = 0; i < page->n; i++)
		ids_add(&ids, sql_reap_lock_page_row(page, i)->id);
	return ids_end(&ids);
}

// Purges the resources of a locked page, with all that belongs to them in other tables.
// *forwards: how many of that are forwards.
static enum outcome purge_resources(struct registry *registry, struct str ids, uint64_t *forwards)
{
	struct pool *pool = registry->pool;
	const struct sql_reap_side_rows side = { .ids = ids };
	enum { CHANGES, CONSUMERS, SIDES, PAGE = SIDES + SQL_REAP_SIDE__N, N_CALLS };
	struct db_call calls[N_CALLS] = {
		[CHANGES] = changes_of_purge(registry, ids),
		[CONSUMERS] = sql_reap_consumers_of_call(pool, &(struct sql_reap_consumers_of){ .ids = ids }),
		[PAGE] = sql_reap_page_call(pool, &(struct sql_reap_page){ .ids = ids }),
	};

	for (enum sql_reap_side i = 0; i < SQL_REAP_SIDE__N; i++)
		calls[SIDES + i] = sql_reap_side_rows_call(pool, i, &side);
	enum db_result result = db_run_batch(registry->db, pool, calls, COUNT_OF(calls));
	const struct db_rows *consumers = &calls[CONSUMERS].rows;
	if (result == DB_OK && consumers->n > 0) {
		struct ids list = ids_begin(pool, consumers->n);
		for (size_t i = 0; i < consumers->n; i++)
			ids_add(&list, sql_reap_consumers_of_row(consumers, i)->id);
		const struct sql_reap_consumers in = { .ids = ids_end(&list) };
		result = sql_reap_consumers_run(registry->db, pool, &in, NULL);
	}
	*forwards = calls[SIDES + SQL_REAP_SIDE_FORWARDS].rows.affected;
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
	return verdict(reaping, purge_resources(registry, ids_of_page(registry->pool, &page), &reaping->n_forwards));
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
	} while (reaping->n == ROWS_AT_ONCE && !must_end(reaping));
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

// ---- what purged tenants had

static enum db_verdict delete_of_tenant(void *arg)
{
	struct reaping *reaping = arg;
	struct registry *registry = reaping->registry;
	const struct sql_reap_rows_of_tenant in = { .tenant_id = reaping->tenant_id, .limit = ROWS_AT_ONCE };
	struct db_rows rows;
	enum db_result result = sql_reap_rows_of_tenant_run(registry->db, registry->pool, reaping->table, &in, &rows);

	reaping->n = result == DB_OK ? rows.affected : 0;
	return verdict(reaping, result == DB_OK ? OUTCOME_OK : registry_db_failed(result));
}

static enum outcome delete_all_of_tenant(struct reaping *reaping, enum sql_reap_of_tenant table, uint64_t *counter)
{
	enum outcome outcome;

	reaping->table = table;
	do {
		outcome = transact(reaping, delete_of_tenant);
		*counter += outcome == OUTCOME_OK ? reaping->n : 0;
	} while (outcome == OUTCOME_OK && reaping->n == ROWS_AT_ONCE && !must_end(reaping));
	return outcome;
}

static enum db_verdict note_emptied(void *arg)
{
	struct reaping *reaping = arg;
	const struct sql_reap_tenant_emptied in = { .id = reaping->tenant_id };
	enum db_result result = sql_reap_tenant_emptied_run(reaping->registry->db, reaping->registry->pool, &in, NULL);

	return verdict(reaping, result == DB_OK ? OUTCOME_OK : registry_db_failed(result));
}

// Deletes what a purged tenant has, and notes when it has nothing more.
static enum outcome empty_tenant(struct reaping *reaping, uint64_t tenant_id)
{
	enum outcome outcome = purge_pages(reaping, SQL_REAP_RESOURCES_OF_TENANT, tenant_id);

	if (outcome == OUTCOME_OK && !must_end(reaping))
		outcome = delete_all_of_tenant(reaping, SQL_REAP_OF_TENANT_FORWARDS, &reaping->counts->forwards);
	if (outcome == OUTCOME_OK && !must_end(reaping))
		outcome = delete_all_of_tenant(reaping, SQL_REAP_OF_TENANT_TOKENS, &reaping->counts->tokens);
	if (outcome == OUTCOME_OK && !must_end(reaping))
		outcome = delete_all_of_tenant(reaping, SQL_REAP_OF_TENANT_FORMER, &(uint64_t){ 0 });
	if (outcome == OUTCOME_OK && !must_end(reaping))
		outcome = transact(reaping, note_emptied);
	return outcome;
}

static enum outcome empty_tenants(struct reaping *reaping)
{
	struct registry *registry = reaping->registry;
	const struct sql_reap_purged_tenants in = { .now = registry->now_us, .limit = TENANTS_AT_ONCE };
	struct pool_mark mark = pool_mark(registry->pool);
	struct db_rows rows;
	enum outcome outcome = OUTCOME_OK;

	do {
		enum db_result result = sql_reap_purged_tenants_run(registry->db, registry->pool, &in, &rows);
		if (result != DB_OK)
			return registry_db_failed(result);
		for (size_t i = 0; outcome == OUTCOME_OK && i < rows.n && !must_end(reaping); i++)
			outcome = empty_tenant(reaping, sql_reap_purged_tenants_row(&rows, i)->id);
		pool_rewind(registry->pool, mark);
	} while (outcome == OUTCOME_OK && rows.n == TENANTS_AT_ONCE && !must_end(reaping));
	return outcome;
}

// ---- moves

static int64_t kept_since(const struct registry *registry, uint64_t seconds)
{
	return registry->now_us - (int64_t)(seconds * 1000000);
}

static enum db_verdict delete_moves(void *arg)
{
	struct reaping *reaping = arg;
	const struct sql_reap_moves in = { .ids = reaping->ids };
	struct db_rows rows;
	enum db_result result = sql_reap_moves_run(reaping->registry->db, reaping->registry->pool, &in, &rows);

	reaping->n = result == DB_OK ? rows.affected : 0;
	return verdict(reaping, result == DB_OK ? OUTCOME_OK : registry_db_failed(result));
}

// dry_run: only counts.
static enum outcome reap_moves(struct reaping *reaping, bool dry_run)
{
	struct registry *registry = reaping->registry;
	struct sql_reap_page_of_moves in = { .until = kept_since(registry, registry->settings->retention), .limit = ROWS_AT_ONCE };
	struct pool_mark mark = pool_mark(registry->pool);
	enum outcome outcome = OUTCOME_OK;
	bool more = true;

	while (outcome == OUTCOME_OK && more && !must_end(reaping)) {
		struct db_rows rows;
		size_t n_due = 0;
		enum db_result result = sql_reap_page_of_moves_run(registry->db, registry->pool, &in, &rows);
		if (result != DB_OK)
			return registry_db_failed(result);
		struct ids ids = ids_begin(registry->pool, rows.n);
		more = rows.n == ROWS_AT_ONCE;
		for (size_t i = 0; i < rows.n; i++) {
			const struct sql_reap_page_of_moves_row *row = sql_reap_page_of_moves_row(&rows, i);
			in.after = row->id;
			more = more && row->is_younger == 0;
			if (row->is_due == 0)
				continue;
			ids_add(&ids, row->id);
			n_due++;
		}
		reaping->ids = ids_end(&ids);
		reaping->n = n_due;
		if (n_due > 0 && !dry_run)
			outcome = transact(reaping, delete_moves);
		reaping->counts->moves += outcome == OUTCOME_OK ? reaping->n : 0;
		pool_rewind(registry->pool, mark);
	}
	return outcome;
}

// ---- the change log

// What the changes replaced goes with them, in one transaction.
static enum db_verdict delete_changes(void *arg)
{
	struct reaping *reaping = arg;
	struct registry *registry = reaping->registry;
	const struct sql_reap_changes in = { .after = reaping->after, .upto = reaping->upto };
	const struct sql_reap_former_content former = { .after = reaping->after, .upto = reaping->upto };
	struct db_call calls[] = {
		sql_reap_changes_call(registry->pool, &in),
		sql_reap_former_content_call(registry->pool, SQL_REAP_FORMER_RESOURCES, &former),
		sql_reap_former_content_call(registry->pool, SQL_REAP_FORMER_TENANTS, &former),
	};
	enum db_result result = db_run_batch(registry->db, registry->pool, calls, COUNT_OF(calls));

	reaping->n = result == DB_OK ? calls[0].rows.affected : 0;
	return verdict(reaping, result == DB_OK ? OUTCOME_OK : registry_db_failed(result));
}

// Ends before the first change that usage has yet to count: a period must not lose what nobody counted in time. dry_run: only counts.
static enum outcome reap_changes(struct reaping *reaping, bool dry_run)
{
	struct registry *registry = reaping->registry;
	struct sql_reap_page_of_changes in = { .until = kept_since(registry, registry->settings->change_retention), .limit = ROWS_AT_ONCE };
	struct pool_mark mark = pool_mark(registry->pool);
	enum outcome outcome = OUTCOME_OK;
	size_t n_due = ROWS_AT_ONCE;

	if (registry->settings->change_retention == 0)
		return OUTCOME_OK;
	while (outcome == OUTCOME_OK && n_due == ROWS_AT_ONCE && !must_end(reaping)) {
		struct db_rows rows;
		enum db_result result = sql_reap_page_of_changes_run(registry->db, registry->pool, &in, &rows);
		if (result != DB_OK)
			return registry_db_failed(result);
		reaping->after = in.after;
		for (n_due = 0; n_due < rows.n && sql_reap_page_of_changes_row(&rows, n_due)->is_due != 0; n_due++)
			in.after = sql_reap_page_of_changes_row(&rows, n_due)->id;
		reaping->counts->uncounted = n_due < rows.n && sql_reap_page_of_changes_row(&rows, n_due)->is_old != 0;
		reaping->upto = in.after;
		reaping->n = n_due;
		pool_rewind(registry->pool, mark);
		if (n_due > 0 && !dry_run)
			outcome = transact(reaping, delete_changes);
		reaping->counts->changes += outcome == OUTCOME_OK ? reaping->n : 0;
	}
	return outcome;
}

// ---- what updates replaced

static enum db_verdict delete_former(void *arg)
{
	struct reaping *reaping = arg;
	struct registry *registry = reaping->registry;
	const struct sql_reap_former_content in = { .after = reaping->after, .upto = reaping->upto };
	enum db_result result = sql_reap_former_content_run(registry->db, registry->pool, reaping->former, &in, NULL);

	return verdict(reaping, result == DB_OK ? OUTCOME_OK : registry_db_failed(result));
}

// Deletes content from its beginning, as the change log is shortened: it is in the order of the changes that replaced it. Where it is no
// longer kept at all, everything is due.
static enum outcome reap_former(struct reaping *reaping, enum sql_reap_former table)
{
	struct registry *registry = reaping->registry;
	struct sql_reap_page_of_former in = { .until = kept_since(registry, registry->settings->content_retention), .limit = ROWS_AT_ONCE };
	struct pool_mark mark = pool_mark(registry->pool);
	enum outcome outcome = OUTCOME_OK;
	size_t n_due = ROWS_AT_ONCE;

	reaping->former = table;
	while (outcome == OUTCOME_OK && n_due == ROWS_AT_ONCE && !must_end(reaping)) {
		struct db_rows rows;
		enum db_result result = sql_reap_page_of_former_run(registry->db, registry->pool, table, &in, &rows);
		if (result != DB_OK)
			return registry_db_failed(result);
		reaping->after = in.after;
		for (n_due = 0; n_due < rows.n && sql_reap_page_of_former_row(&rows, n_due)->is_due != 0; n_due++)
			in.after = sql_reap_page_of_former_row(&rows, n_due)->id;
		reaping->upto = in.after;
		pool_rewind(registry->pool, mark);
		if (n_due > 0)
			outcome = transact(reaping, delete_former);
	}
	return outcome;
}

// ---- usage

// until: periods that ended before are deleted, but for the last one.
static enum db_verdict delete_closings(void *arg)
{
	struct reaping *reaping = arg;
	struct registry *registry = reaping->registry;
	const struct sql_reap_closings in = { .until = reaping->until_us, .newest = reaping->newest_us, .limit = ROWS_AT_ONCE };
	struct db_rows rows;
	enum db_result result = sql_reap_closings_run(registry->db, registry->pool, &in, &rows);

	reaping->n = result == DB_OK ? rows.affected : 0;
	return verdict(reaping, result == DB_OK ? OUTCOME_OK : registry_db_failed(result));
}

static enum db_verdict delete_periods(void *arg)
{
	struct reaping *reaping = arg;
	struct registry *registry = reaping->registry;
	uint64_t affected;
	enum db_result result = sql_reap_period_bulk(registry->db, registry->pool, reaping->periods, reaping->n, &affected);

	return verdict(reaping, result == DB_OK ? OUTCOME_OK : registry_db_failed(result));
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

// Deletes what periods that are no longer listed say of tenants, but for the newest of each tenant and type: it is the balance with which
// the first period begins that is kept.
static enum outcome reap_periods(struct reaping *reaping, int64_t until_us)
{
	struct registry *registry = reaping->registry;
	struct sql_reap_page_of_periods in = { .until = until_us, .limit = ROWS_AT_ONCE };
	struct pool_mark mark = pool_mark(registry->pool);
	enum outcome outcome = OUTCOME_OK;
	struct db_rows rows;

	do {
		enum db_result result = sql_reap_page_of_periods_run(registry->db, registry->pool, &in, &rows);
		if (result != DB_OK)
			return registry_db_failed(result);
		struct sql_reap_period *periods = POOL_ARRAY(registry->pool, struct sql_reap_period, rows.n);
		size_t n_due = 0;
		for (size_t i = 0; i < rows.n; i++) {
			const struct sql_reap_page_of_periods_row *row = sql_reap_page_of_periods_row(&rows, i);
			in.at = row->until;
			in.tenant_id = row->tenant_id;
			in.type_id = row->type_id;
			if (row->is_due != 0)
				periods[n_due++] = (struct sql_reap_period){ .until = in.at, .tenant_id = in.tenant_id, .type_id = in.type_id };
		}
		reaping->periods = periods;
		reaping->n = n_due;
		if (n_due > 0)
			outcome = transact(reaping, delete_periods);
		pool_rewind(registry->pool, mark);
	} while (outcome == OUTCOME_OK && rows.n == ROWS_AT_ONCE && !must_end(reaping));
	return outcome;
}

// dry_run: only counts.
static enum outcome reap_usage(struct reaping *reaping, bool dry_run)
{
	struct registry *registry = reaping->registry;
	int64_t since_us;

	if (registry->settings->usage_retention == 0)
		return OUTCOME_OK;
	reaping->until_us = kept_since(registry, registry->settings->usage_retention);
	if (dry_run) {
		const struct sql_reap_count_closings in = { .until = reaping->until_us };
		struct db_rows rows;
		enum db_result result = sql_reap_count_closings_run(registry->db, registry->pool, &in, &rows);
		reaping->counts->periods += result == DB_OK ? sql_reap_count_closings_row(&rows, 0)->n : 0;
		return result == DB_OK ? OUTCOME_OK : registry_db_failed(result);
	}
	enum outcome outcome = read_kept(registry, &since_us, &reaping->newest_us);
	do {
		if (outcome == OUTCOME_OK)
			outcome = transact(reaping, delete_closings);
		reaping->counts->periods += outcome == OUTCOME_OK ? reaping->n : 0;
	} while (outcome == OUTCOME_OK && reaping->n == ROWS_AT_ONCE && !must_end(reaping));
	if (outcome == OUTCOME_OK)
		outcome = read_kept(registry, &since_us, &reaping->newest_us);
	return outcome == OUTCOME_OK && since_us != 0 && !must_end(reaping) ? reap_periods(reaping, since_us) : outcome;
}

// ---- forwards and tokens that have ended

static enum db_verdict delete_forwards(void *arg)
{
	struct reaping *reaping = arg;
	struct registry *registry = reaping->registry;
	const struct sql_reap_forwards in = { .now = registry->now_us, .limit = ROWS_AT_ONCE };
	struct db_rows rows;
	enum db_result result = sql_reap_forwards_run(registry->db, registry->pool, &in, &rows);

	reaping->n = result == DB_OK ? rows.affected : 0;
	return verdict(reaping, result == DB_OK ? OUTCOME_OK : registry_db_failed(result));
}

static enum db_verdict delete_tokens(void *arg)
{
	struct reaping *reaping = arg;
	struct registry *registry = reaping->registry;
	const struct sql_reap_tokens in = { .until = kept_since(registry, registry->settings->retention), .limit = ROWS_AT_ONCE };
	struct db_rows rows;
	enum db_result result = sql_reap_tokens_run(registry->db, registry->pool, &in, &rows);

	reaping->n = result == DB_OK ? rows.affected : 0;
	return verdict(reaping, result == DB_OK ? OUTCOME_OK : registry_db_failed(result));
}

// Runs delete, which deletes up to ROWS_AT_ONCE rows, until it finds no more.
static enum outcome reap_ended(struct reaping *reaping, enum db_verdict (*delete)(void *arg), uint64_t *counter)
{
	enum outcome outcome;

	do {
		outcome = transact(reaping, delete);
		*counter += outcome == OUTCOME_OK ? reaping->n : 0;
	} while (outcome == OUTCOME_OK && reaping->n == ROWS_AT_ONCE && !must_end(reaping));
	return outcome;
}

// ---- sessions

static enum db_verdict delete_sessions(void *arg)
{
	struct reaping *reaping = arg;
	struct registry *registry = reaping->registry;
	const struct sql_reap_sessions in = { .now = registry->now_us, .limit = ROWS_AT_ONCE };
	struct db_rows rows;
	enum db_result result = sql_reap_sessions_run(registry->db, registry->pool, &in, &rows);

	reaping->n = result == DB_OK ? rows.affected : 0;
	return verdict(reaping, result == DB_OK ? OUTCOME_OK : registry_db_failed(result));
}

// Deletes sessions of the console that have ended. The counts don't include them.
static enum outcome reap_sessions(struct reaping *reaping)
{
	enum outcome outcome;

	do {
		outcome = transact(reaping, delete_sessions);
	} while (outcome == OUTCOME_OK && reaping->n == ROWS_AT_ONCE && !must_end(reaping));
	return outcome;
}

// ---- a dry run

// Counts what would go in a run now: also the rows that belong to tenants and resources which that run would purge first.
static enum outcome count_rows(const struct reaping *reaping, enum sql_reap_due which, uint64_t *counter)
{
	struct registry *registry = reaping->registry;
	const struct sql_reap_count_rows in = { .now = registry->now_us, .until = kept_since(registry, registry->settings->retention) };
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
		outcome = reap_moves(reaping, true);
	if (outcome == OUTCOME_OK)
		outcome = reap_changes(reaping, true);
	if (outcome == OUTCOME_OK)
		outcome = reap_usage(reaping, true);
	if (outcome == OUTCOME_OK)
		outcome = count_rows(reaping, SQL_REAP_DUE_TOKENS, &reaping->counts->tokens);
	return outcome;
}

// ---- the rest

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

static enum outcome purge_all(struct reaping *reaping)
{
	enum outcome outcome = bury_tenants(reaping);

	if (outcome == OUTCOME_OK && !must_end(reaping))
		outcome = purge_pages(reaping, SQL_REAP_RESOURCES_OF_EXPIRED, 0);
	if (outcome == OUTCOME_OK && !must_end(reaping))
		outcome = empty_tenants(reaping);
	if (outcome == OUTCOME_OK && !must_end(reaping))
		outcome = reap_moves(reaping, false);
	if (outcome == OUTCOME_OK && !must_end(reaping))
		outcome = reap_changes(reaping, false);
	for (enum sql_reap_former i = 0; i < SQL_REAP_FORMER__N && outcome == OUTCOME_OK && !must_end(reaping); i++)
		outcome = reap_former(reaping, i);
	if (outcome == OUTCOME_OK && !must_end(reaping))
		outcome = reap_usage(reaping, false);
	if (outcome == OUTCOME_OK && !must_end(reaping))
		outcome = reap_ended(reaping, delete_forwards, &reaping->counts->forwards);
	if (outcome == OUTCOME_OK && !must_end(reaping))
		outcome = reap_ended(reaping, delete_tokens, &reaping->counts->tokens);
	if (outcome == OUTCOME_OK && !must_end(reaping))
		outcome = reap_sessions(reaping);
	if (outcome == OUTCOME_OK && !must_end(reaping))
		outcome = drop_leftovers(reaping->registry);
	if (outcome == OUTCOME_OK && !reaping->counts->stopped)
		outcome = record(reaping->registry);
	return outcome;
}

enum outcome reap(struct registry *registry, bool dry_run, const volatile sig_atomic_t *stop, struct reap_counts *counts)
{
	struct reaping reaping = { .registry = registry, .stop = stop, .counts = counts };

	*counts = (struct reap_counts){ .stopped = false };
	return dry_run ? count_all(&reaping) : purge_all(&reaping);
}

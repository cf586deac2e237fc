// SPDX-License-Identifier: Apache-2.0
// Purges tenants past their purge time, and resources: those past their own, and those of purged tenants.
#include "base/base.h"

#include "registry/upkeep/reap_internal.h"

#include "base/pool.h"
#include "registry/core/failure.h"
#include "registry/log/change.h"
#include "registry/tenant/internal.h"
#include "db/list.h"
#include "sql/reaping.h"

enum {
	TENANTS_AT_ONCE = 100,
	MERGES_IN_A_ROW = 1000, // of namespaces into each other; the bound is for rows that are wrong
};

// ---- tenants

// A reap_fn. arg: the struct tenant.
static enum outcome bury_one(struct registry *registry, const void *arg, uint64_t *n)
{
	const struct tenant *tenant = arg;
	const struct sql_reap_lock_tenant in = { .id = tenant->id };
	struct db_rows rows;
	enum db_result result = sql_reap_lock_tenant_run(registry->db, registry->pool, &in, &rows);

	*n = 0;
	if (result != DB_OK)
		return registry_db_failed(result);
	const struct sql_reap_lock_tenant_row *row = rows.n > 0 ? sql_reap_lock_tenant_row(&rows, 0) : NULL;
	if (row == NULL || row->purge_at_is_null || row->purge_at > registry->now_us)
		return OUTCOME_OK; // it was recovered meanwhile
	*n = 1;
	return tenant_purge(registry, tenant);
}

enum outcome reap_expired_tenants(struct reaping *reaping)
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
		for (size_t i = 0; outcome == OUTCOME_OK && i < rows.n && !reap_must_end(reaping); i++) {
			const struct tenant tenant = tenant_of_columns(&sql_reap_expired_tenants_row(&rows, i)->t);
			uint64_t n;
			outcome = reap_transact(reaping, bury_one, &tenant, &n);
			buried += n;
		}
		reaping->counts->tenants += buried;
		pool_rewind(registry->pool, mark);
	} while (outcome == OUTCOME_OK && buried > 0 && !reap_must_end(reaping));
	return outcome;
}

// ---- resources

// What purge_page() is to purge: resources of that tenant, or all past their own purge time.
struct purge {
	enum sql_reap_resources_of which;
	uint64_t tenant_id;
	uint64_t *forwards; // counts the forwards among what belonged to them
};

// Forwards to namespaces that were merged lead to where their content is then, as those of the content do. Each round goes one
// merge further where a namespace of the page was merged into another one of the page.
static enum outcome lead_on(struct registry *registry, struct str ids)
{
	const struct sql_reap_lead_forwards forwards = { .ids = ids };
	const struct sql_reap_lead_merged merged = { .ids = ids };
	uint64_t led = 1;

	for (size_t round = 0; led > 0 && round < MERGES_IN_A_ROW; round++) {
		struct db_call calls[] = {
			sql_reap_lead_forwards_call(registry->pool, &forwards),
			sql_reap_lead_merged_call(registry->pool, &merged),
		};
		enum outcome outcome = registry_run_calls(registry, calls, COUNT_OF(calls));
		if (outcome != OUTCOME_OK)
			return outcome;
		led = calls[0].rows.affected + calls[1].rows.affected;
	}
	return OUTCOME_OK;
}

// Purges the resources of a locked page, with all that belongs to them in other tables. *forwards: how many of that are forwards.
static enum outcome purge_resources(struct registry *registry, const struct db_rows *page, uint64_t *forwards)
{
	struct pool *pool = registry->pool;
	struct db_list list = db_list_new(pool, page->n * 8);

	for (size_t i = 0; i < page->n; i++)
		db_list_add_u64(&list, sql_reap_lock_page_row(page, i)->id);
	const struct str ids = db_list_end(&list);
	enum outcome outcome = lead_on(registry, ids);
	if (outcome != OUTCOME_OK)
		return outcome;
	const struct sql_reap_side_rows side = { .ids = ids };
	enum { CHANGES, CONSUMERS, MERGED, SIDES, PAGE = SIDES + SQL_REAP_SIDE__N, N_CALLS };
	struct db_call calls[N_CALLS] = {
		[CHANGES] = changes_of_purge(registry, ids),
		[CONSUMERS] = sql_reap_consumers_of_call(pool, &(struct sql_reap_consumers_of){ .ids = ids }),
		[MERGED] = sql_reap_merged_into_call(pool, &(struct sql_reap_merged_into){ .ids = ids }),
		[PAGE] = sql_reap_page_call(pool, &(struct sql_reap_page){ .ids = ids }),
	};

	for (enum sql_reap_side i = 0; i < SQL_REAP_SIDE__N; i++)
		calls[SIDES + i] = sql_reap_side_rows_call(pool, i, &side);
	enum db_result result = db_run_batch(registry->db, pool, calls, COUNT_OF(calls));
	const struct db_rows *consumers = &calls[CONSUMERS].rows;
	if (result == DB_OK && consumers->n > 0) {
		struct db_list unused = db_list_new(pool, consumers->n * 8);
		for (size_t i = 0; i < consumers->n; i++)
			db_list_add_u64(&unused, sql_reap_consumers_of_row(consumers, i)->id);
		const struct sql_reap_consumers in = { .ids = db_list_end(&unused) };
		result = sql_reap_consumers_run(registry->db, pool, &in, NULL);
	}
	*forwards = calls[SIDES + SQL_REAP_SIDE_FORWARDS].rows.affected;
	return result == DB_OK ? OUTCOME_OK : registry_db_failed(result);
}

// A reap_fn. arg: the struct purge.
static enum outcome purge_page(struct registry *registry, const void *arg, uint64_t *n)
{
	const struct purge *purge = arg;
	const struct sql_reap_lock_page in = {
		.now = registry->now_us,
		.tenant_id = purge->tenant_id,
		.limit = REAP_AT_ONCE,
	};
	struct db_rows page;
	enum db_result result = sql_reap_lock_page_run(registry->db, registry->pool, purge->which, &in, &page);

	*purge->forwards = 0;
	if (result != DB_OK)
		return registry_db_failed(result);
	*n = page.n;
	return page.n == 0 ? OUTCOME_OK : purge_resources(registry, &page, purge->forwards);
}

// tenant_id: of the purged tenant whose resources are purged; unused for resources that are past their own purge time.
static enum outcome purge_pages(struct reaping *reaping, enum sql_reap_resources_of which, uint64_t tenant_id)
{
	uint64_t n, forwards = 0;
	const struct purge purge = { .which = which, .tenant_id = tenant_id, .forwards = &forwards };

	do {
		enum outcome outcome = reap_transact(reaping, purge_page, &purge, &n);
		if (outcome != OUTCOME_OK)
			return outcome;
		reaping->counts->resources += n;
		reaping->counts->forwards += forwards;
	} while (n == REAP_AT_ONCE && !reap_must_end(reaping));
	return OUTCOME_OK;
}

enum outcome reap_expired_resources(struct reaping *reaping)
{
	return purge_pages(reaping, SQL_REAP_RESOURCES_OF_EXPIRED, 0);
}

// ---- what purged tenants had

struct deletion {
	enum sql_reap_of_tenant table;
	uint64_t tenant_id;
};

// A reap_fn. arg: the struct deletion.
static enum outcome delete_of_tenant(struct registry *registry, const void *arg, uint64_t *n)
{
	const struct deletion *deletion = arg;
	const struct sql_reap_rows_of_tenant in = { .tenant_id = deletion->tenant_id, .limit = REAP_AT_ONCE };
	struct db_rows rows;
	enum db_result result = sql_reap_rows_of_tenant_run(registry->db, registry->pool, deletion->table, &in, &rows);

	return reap_deleted(result, &rows, n);
}

static enum outcome delete_all_of_tenant(struct reaping *reaping, uint64_t tenant_id, enum sql_reap_of_tenant table, uint64_t *counter)
{
	const struct deletion deletion = { .table = table, .tenant_id = tenant_id };

	return reap_must_end(reaping) ? OUTCOME_OK : reap_all(reaping, delete_of_tenant, &deletion, counter);
}

// A reap_fn. arg: the tenant's id.
static enum outcome note_emptied(struct registry *registry, const void *arg, uint64_t *n)
{
	const struct sql_reap_tenant_emptied in = { .id = *(const uint64_t *)arg };
	struct db_rows rows;
	enum db_result result = sql_reap_tenant_emptied_run(registry->db, registry->pool, &in, &rows);

	return reap_deleted(result, &rows, n);
}

// Deletes what a purged tenant has, and notes when it has nothing more.
static enum outcome empty_tenant(struct reaping *reaping, uint64_t tenant_id)
{
	struct reap_counts *counts = reaping->counts;
	uint64_t ignored = 0;
	enum outcome outcome = purge_pages(reaping, SQL_REAP_RESOURCES_OF_TENANT, tenant_id);

	if (outcome == OUTCOME_OK)
		outcome = delete_all_of_tenant(reaping, tenant_id, SQL_REAP_OF_TENANT_FORWARDS, &counts->forwards);
	if (outcome == OUTCOME_OK)
		outcome = delete_all_of_tenant(reaping, tenant_id, SQL_REAP_OF_TENANT_TOKENS, &counts->tokens);
	if (outcome == OUTCOME_OK)
		outcome = delete_all_of_tenant(reaping, tenant_id, SQL_REAP_OF_TENANT_FORMER, &ignored);
	if (outcome == OUTCOME_OK && !reap_must_end(reaping))
		outcome = reap_transact(reaping, note_emptied, &tenant_id, &ignored);
	return outcome;
}

enum outcome reap_purged_tenants(struct reaping *reaping)
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
		for (size_t i = 0; outcome == OUTCOME_OK && i < rows.n && !reap_must_end(reaping); i++)
			outcome = empty_tenant(reaping, sql_reap_purged_tenants_row(&rows, i)->id);
		pool_rewind(registry->pool, mark);
	} while (outcome == OUTCOME_OK && rows.n == TENANTS_AT_ONCE && !reap_must_end(reaping));
	return outcome;
}

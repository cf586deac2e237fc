// SPDX-License-Identifier: Apache-2.0
// Reads tenants: one, one under a lock, or a page of them. A page is bounded by bytes, too, as those of resources are: a Tenant
// object may have some megabytes.
#include "base/base.h"

#include "registry/tenant/tenant.h"

#include "base/pool.h"
#include "registry/core/failure.h"
#include "registry/core/lock.h"
#include "registry/resource/internal.h"
#include "registry/tenant/internal.h"
#include "registry/type/policy.h"
#include "sql/tenants.h"

struct tenant tenant_of_columns(const struct sql_tenant *t)
{
	struct tenant tenant = {
		.id = t->id,
		.name = t->name,
		.tier = t->tier,
		.has_limit = !t->max_resources_is_null,
		.max_resources = t->max_resources,
		.metadata = t->metadata,
		.revision = t->revision,
		.resources = t->resources,
		.created_us = t->created_at,
		.updated_us = t->updated_at,
		.deleted_us = t->deleted_at,
		.purge_us = t->purge_at,
		.etag_required = t->etag_required != 0,
		.object = t->object,
		.policy = type_policy(t->type_policy),
		.changed = t->changed,
	};

	uuid_from_bytes(t->uid, &tenant.uid);
	memcpy(tenant.etag, t->etag.p, sizeof(tenant.etag));
	return tenant;
}

bool tenant_expired(const struct registry *registry, const struct tenant *tenant)
{
	return tenant->deleted_us != 0 && tenant->purge_us <= registry->now_us;
}

// Makes the tenant of the rows of tenant_get. OUTCOME_OK also for a deleted tenant: the caller checks deleted_us.
static enum outcome read_tenant(struct registry *registry, struct str name, const struct db_rows *rows,
	struct tenant *tenant)
{
	if (rows->n == 0)
		return registry_fail_no_tenant(registry, name);
	*tenant = tenant_of_columns(&sql_tenant_get_row(rows, 0)->t);
	return OUTCOME_OK;
}

enum outcome tenant_answer_deleted(struct registry *registry, const struct tenant *tenant)
{
	assert(tenant->deleted_us != 0);
	return tenant_expired(registry, tenant) ? registry_fail_no_tenant(registry, tenant->name) :
		tenant_fail_deleted(registry, tenant);
}

enum outcome tenant_fail_deleted(struct registry *registry, const struct tenant *tenant)
{
	assert(tenant->deleted_us != 0);
	return registry_fail_deleted(registry, tenant->purge_us,
		"tenant \"%.*s\" was deleted; it can be recovered until it is purged",
		STR_ARG(tenant->name));
}

enum outcome tenant_get(struct registry *registry, struct str name, struct tenant *tenant)
{
	const struct sql_tenant_get in = { .name = name };
	struct db_rows rows;
	enum db_result result = sql_tenant_get_run(registry->db, registry->pool, &in, &rows);

	if (result != DB_OK)
		return registry_db_failed(result);
	enum outcome outcome = read_tenant(registry, name, &rows, tenant);
	if (outcome == OUTCOME_OK && tenant->deleted_us != 0)
		return tenant_answer_deleted(registry, tenant);
	return outcome;
}

enum outcome tenant_lock(struct registry *registry, struct str name, struct tenant *tenant)
{
	struct pool *pool = registry->pool;
	const struct sql_tenant_lock_to_change lock = { .name = name };
	enum { LOCK, GET, CHANGED_AT };
	struct db_call calls[] = {
		[LOCK] = sql_tenant_lock_to_change_call(pool, lock_wait(registry), &lock),
		[GET] = sql_tenant_get_call(pool, &(struct sql_tenant_get){ .name = name }),
		[CHANGED_AT] = sql_tenant_last_change_call(pool, &(struct sql_tenant_last_change){ .name = name }),
	};

	assert(db_txn_writes(registry->db));
	enum outcome outcome = registry_take_locks(registry, &name, 1, calls, COUNT_OF(calls));
	if (outcome != OUTCOME_OK)
		return outcome;
	if (calls[CHANGED_AT].rows.n > 0)
		registry_stamp_after(registry, sql_tenant_last_change_row(&calls[CHANGED_AT].rows, 0)->at);
	return read_tenant(registry, name, &calls[GET].rows, tenant);
}

enum outcome tenant_lock_several(struct registry *registry, const struct str *names, size_t n)
{
	enum outcome outcome = OUTCOME_OK;

	assert(db_txn_writes(registry->db) && n > 0);
	for (size_t done = 0; done < n && outcome == OUTCOME_OK; done += DB_MAX_BATCH) {
		size_t part = n - done < DB_MAX_BATCH ? n - done : DB_MAX_BATCH;
		struct db_call calls[DB_MAX_BATCH];

		for (size_t i = 0; i < part; i++) {
			const struct sql_tenant_lock_to_change in = { .name = names[done + i] };
			calls[i] = sql_tenant_lock_to_change_call(registry->pool, lock_wait(registry), &in);
		}
		outcome = registry_take_locks(registry, &names[done], part, calls, part);
	}
	return outcome;
}

enum outcome tenant_list(struct registry *registry, struct pool *pool, enum tenant_choice choice, struct str marker,
	uint64_t limit, struct tenant_page *page)
{
	static const enum sql_tenant_list_of of[] = {
		[TENANTS_LIVE] = SQL_TENANT_LIST_OF_TENANTS,
		[TENANTS_DELETED] = SQL_TENANT_LIST_OF_DELETED,
		[SPACES_LIVE] = SQL_TENANT_LIST_OF_SPACES,
	};
	const struct sql_tenant_list_sizes measure = {
		.system_name = STR(TENANT_SYSTEM),
		.now = registry->now_us,
		.marker = marker,
		.limit = limit + 1,
	};
	struct db_rows sizes, rows;

	assert(limit > 0);
	enum db_result result = sql_tenant_list_sizes_run(registry->db, pool, of[choice], &measure, &sizes);
	if (result != DB_OK)
		return registry_db_failed(result);
	uint64_t *bytes = POOL_ARRAY(pool, uint64_t, sizes.n);
	for (size_t i = 0; i < sizes.n; i++)
		bytes[i] = sql_tenant_list_sizes_row(&sizes, i)->bytes;
	size_t fit = resource_page_fitting(bytes, sizes.n, limit);
	bool cut = fit < sizes.n;
	// If the page is not cut, one more is read: what others create meanwhile must not push out the last one unnoticed.
	const struct sql_tenant_list in = {
		.system_name = measure.system_name,
		.now = measure.now,
		.marker = marker,
		.limit = cut ? fit : limit + 1,
	};
	result = sql_tenant_list_run(registry->db, pool, of[choice], &in, &rows);
	if (result != DB_OK)
		return registry_db_failed(result);
	page->more = cut ? rows.n == fit : rows.n > limit;
	page->n = rows.n > limit ? (size_t)limit : rows.n;
	page->list = POOL_ARRAY(pool, struct tenant, page->n);
	for (size_t i = 0; i < page->n; i++)
		page->list[i] = tenant_of_columns(&sql_tenant_list_row(&rows, i)->t);
	return OUTCOME_OK;
}

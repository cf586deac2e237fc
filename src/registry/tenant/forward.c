// SPDX-License-Identifier: Apache-2.0
// Lists forwards, lets them end, and deletes them. Who changes one holds its tenant's row in share mode, as every writer in a
// tenant.
#include "base/base.h"

#include "registry/tenant/forward.h"

#include "base/pool.h"
#include "registry/resource/internal.h"
#include "registry/tenant/tenant.h"
#include "registry/type/stored_type.h"
#include "sql/forwards.h"
#include "sql/resources.h"

static struct forward forward_of_columns(struct registry *registry, const struct sql_forward *columns)
{
	const struct stored_place place = { .table = "forwards", .column = "type_id" };
	struct forward forward = {
		.type = type_of_row(registry, place, columns->type_id),
		.space = columns->namespace,
		.name = columns->name,
		.dest = columns->dest,
		.gone = columns->gone != 0,
		.moved_us = columns->moved_at,
		.has_request = columns->request_id.p != NULL,
		.expires_us = columns->expires_at_is_null ? 0 : columns->expires_at,
	};

	uuid_from_bytes(columns->uid, &forward.uid);
	if (forward.has_request)
		uuid_from_bytes(columns->request_id, &forward.request_id);
	return forward;
}

// Forwards to namespaces that were merged lead on to where their content is. columns[i]: of list[i].
static enum outcome lead_on(struct registry *registry, const struct sql_forward *const *columns, struct forward *list, size_t n)
{
	struct db_call *calls = POOL_ARRAY(registry->pool, struct db_call, n);
	size_t n_calls = 0;

	for (size_t i = 0; i < n; i++) {
		const struct sql_resource_merged_into in = { .id = columns[i]->resource_id };
		if (columns[i]->merged != 0)
			calls[n_calls++] = sql_resource_merged_into_call(registry->pool, &in);
	}
	for (size_t done = 0; done < n_calls; done += DB_MAX_BATCH) {
		size_t part = n_calls - done < DB_MAX_BATCH ? n_calls - done : DB_MAX_BATCH;
		enum outcome outcome = registry_run_calls(registry, &calls[done], part);
		if (outcome != OUTCOME_OK)
			return outcome;
	}
	n_calls = 0;
	for (size_t i = 0; i < n; i++) {
		const struct db_rows *rows = columns[i]->merged != 0 ? &calls[n_calls++].rows : NULL;
		const struct sql_resource_merged_into_row *end = rows != NULL && rows->n > 0 ? sql_resource_merged_into_row(rows, 0) : NULL;

		if (end == NULL || end->home.tenant.p == NULL) // it leads to no merged namespace; or that, or the tenant, was purged, and it is gone
			continue;
		uuid_from_bytes(end->r.data.uid, &list[i].uid);
		list[i].dest = end->home.tenant;
		list[i].gone = end->r.live_is_null || !end->home.tenant_deleted_at_is_null;
	}
	return OUTCOME_OK;
}

enum outcome forward_list(struct registry *registry, struct str tenant, const struct forward_place *after, uint64_t limit,
	struct forward_page *page)
{
	assert(limit > 0 && after != NULL);
	struct tenant owner;
	struct db_rows rows;
	enum outcome outcome = tenant_get(registry, tenant, &owner);

	if (outcome != OUTCOME_OK)
		return outcome;
	const struct sql_forward_list in = {
		.tenant_id = owner.id,
		.type_id = after->type_id,
		.namespace = after->space.p != NULL ? after->space : STR(""),
		.name = after->name.p != NULL ? after->name : STR(""),
		.now = registry->now_us,
		.limit = limit + 1,
	};
	enum db_result result = sql_forward_list_run(registry->db, registry->pool, &in, &rows);
	if (result != DB_OK)
		return registry_db_failed(result);
	page->more = rows.n > limit;
	page->n = page->more ? (size_t)limit : rows.n;
	page->list = POOL_ARRAY(registry->pool, struct forward, page->n);
	const struct sql_forward **columns = POOL_ARRAY(registry->pool, const struct sql_forward *, page->n);
	for (size_t i = 0; i < page->n; i++) {
		columns[i] = &sql_forward_list_row(&rows, i)->f;
		page->list[i] = forward_of_columns(registry, columns[i]);
	}
	return lead_on(registry, columns, page->list, page->n);
}

// Locks the tenant's row in share mode, and reads the forward at the address.
static enum outcome lock_forward(struct registry *registry, const struct address *address, struct locked_tenant *owner, struct forward *forward)
{
	struct db_call lock = tenant_lock_call(registry, address->tenant);
	struct db_rows rows;
	enum outcome outcome = registry_take_locks(registry, &address->tenant, 1, &lock, 1);

	if (outcome == OUTCOME_OK)
		outcome = locked_tenant_of(registry, address->tenant, &lock, owner);
	if (outcome != OUTCOME_OK)
		return outcome;
	registry_concerns(registry, address->tenant);
	const struct sql_forward_get in = {
		.tenant_id = owner->id,
		.type_id = address->type->id,
		.namespace = address->space,
		.name = address->name,
		.now = registry->now_us,
	};
	enum db_result result = sql_forward_get_run(registry->db, registry->pool, &in, &rows);
	if (result != DB_OK)
		return registry_db_failed(result);
	if (rows.n == 0) {
		struct str path = resource_path(registry->pool, address->type, address->space, address->name);
		return registry_fail(registry, OUTCOME_NOT_FOUND, "no forward stands at %.*s", STR_ARG(path));
	}
	const struct sql_forward *columns = &sql_forward_get_row(&rows, 0)->f;
	*forward = forward_of_columns(registry, columns);
	return lead_on(registry, &columns, forward, 1);
}

enum outcome forward_expire(struct registry *registry, const struct address *address, int64_t expires_us, struct forward *forward)
{
	assert(db_txn_writes(registry->db) && address->type != NULL);
	assert(expires_us == 0 || expires_us > registry->now_us);
	struct locked_tenant owner;
	enum outcome outcome = lock_forward(registry, address, &owner, forward);
	if (outcome != OUTCOME_OK)
		return outcome;
	const struct sql_forward_expire in = {
		.tenant_id = owner.id,
		.type_id = address->type->id,
		.namespace = address->space,
		.name = address->name,
		.expires_at = expires_us,
		.expires_at_is_null = expires_us == 0,
	};
	enum db_result result = sql_forward_expire_run(registry->db, registry->pool, &in, NULL);
	if (result != DB_OK)
		return registry_db_failed(result);
	forward->expires_us = expires_us;
	return OUTCOME_OK;
}

// It leaves no change row by which a run after an uncertain COMMIT would be recognised. Such a run finds nothing, and that is
// what was asked for. After a run that ended before COMMIT, there was nothing.
enum outcome forward_revoke(struct registry *registry, const struct address *address)
{
	assert(db_txn_writes(registry->db) && address->type != NULL);
	struct locked_tenant owner;
	struct forward forward;
	enum outcome outcome = lock_forward(registry, address, &owner, &forward);

	if (outcome == OUTCOME_NOT_FOUND && db_txn_commit_was_lost(registry->db))
		return OUTCOME_NO_CONTENT;
	if (outcome != OUTCOME_OK)
		return outcome;
	const struct sql_forward_delete in = {
		.tenant_id = owner.id,
		.type_id = address->type->id,
		.namespace = address->space,
		.name = address->name,
	};
	enum db_result result = sql_forward_delete_run(registry->db, registry->pool, &in, NULL);
	return result == DB_OK ? OUTCOME_NO_CONTENT : registry_db_failed(result);
}

// SPDX-License-Identifier: Apache-2.0
// Reads the change log of all tenants, and what the changed resources are now. A change has the name of its tenant only while
// that tenant has the name: another tenant of the same name must not be taken for it.
#include "base/base.h"

#include "registry/watch/change_stream.h"

#include "base/pool.h"
#include "registry/log/selectable.h"
#include "registry/resource/internal.h"
#include "registry/tags/etag.h"
#include "registry/tenant/internal.h"
#include "registry/type/type.h"
#include "sql/change_stream.h"
#include "sql/session.h"

static enum outcome followed_of(struct registry *registry, const struct sql_streamed *c, struct streamed_change *change)
{
	*change = (struct streamed_change){
		.id = c->id,
		.verb = c->verb,
		.tenant = c->tenant_live_is_null ? STR_NONE : c->tenant,
		.former = c->tenant_live_is_null ? c->tenant : STR_NONE,
		.tenant_id = c->tenant_id,
		.from = c->from_tenant,
		.beside = c->beside != 0,
		.resource = {
			.id = c->resource_id,
			.space = c->namespace,
			.name = c->name,
			.revision = c->revision,
			.changed = c->id,
			.generation = 1,
			.meta = STR("{}"),
			.body = STR("{}"),
			.created_us = c->at,
		},
	};

	uuid_from_bytes(c->uid, &change->resource.uid);
	return c->type_id_is_null ? OUTCOME_OK : type_look_up(registry, c->type_id, &change->resource.type);
}

enum outcome change_stream_read(struct registry *registry, struct change_range range, struct streamed_change **list, size_t *n)
{
	assert(range.limit > 0);
	const struct sql_stream_page in = { .after = range.after, .up_to = range.up_to, .limit = range.limit };
	struct db_rows rows;
	enum outcome outcome = OUTCOME_OK;
	enum db_result result = sql_stream_page_run(registry->db, registry->pool, &in, &rows);

	if (result != DB_OK)
		return registry_db_failed(result);
	*n = rows.n;
	*list = POOL_ARRAY(registry->pool, struct streamed_change, rows.n);
	for (size_t i = 0; i < rows.n && outcome == OUTCOME_OK; i++)
		outcome = followed_of(registry, &sql_stream_page_row(&rows, i)->c, &(*list)[i]);
	return outcome;
}

enum outcome change_stream_read_of(struct registry *registry, const uint64_t tenants[2], struct change_range range,
	struct streamed_change **list, size_t *n)
{
	assert(range.limit > 0);
	const struct sql_stream_page_of_two in = {
		.tenants = { { .id = tenants[0] }, { .id = tenants[1] } },
		.after = range.after,
		.up_to = range.up_to,
		.limit = range.limit,
	};
	struct db_rows rows;
	enum outcome outcome = OUTCOME_OK;
	enum db_result result = sql_stream_page_of_two_run(registry->db, registry->pool, &in, &rows);

	if (result != DB_OK)
		return registry_db_failed(result);
	*n = rows.n;
	*list = POOL_ARRAY(registry->pool, struct streamed_change, rows.n);
	for (size_t i = 0; i < rows.n && outcome == OUTCOME_OK; i++)
		outcome = followed_of(registry, &sql_stream_page_of_two_row(&rows, i)->c, &(*list)[i]);
	return outcome;
}

enum outcome change_stream_tenants(struct registry *registry, uint64_t after, uint64_t up_to, uint64_t **ids, size_t *n)
{
	assert(!db_txn_writes(registry->db));
	const struct sql_stream_tenants in = { .after = after, .up_to = up_to };
	struct db_call calls[] = {
		sql_session_read_uncommitted_call(registry->pool),
		sql_stream_tenants_call(registry->pool, &in),
	};
	const struct db_rows *rows = &calls[1].rows;
	enum db_result result = db_run_batch(registry->db, registry->pool, calls, COUNT_OF(calls));

	if (result != DB_OK)
		return registry_db_failed(result);
	*n = rows->n;
	*ids = POOL_ARRAY(registry->pool, uint64_t, rows->n);
	for (size_t i = 0; i < rows->n; i++)
		(*ids)[i] = sql_stream_tenants_row(rows, i)->tenant_id;
	return OUTCOME_OK;
}

enum outcome change_stream_tenant(struct registry *registry, struct str name, uint64_t *id)
{
	const struct sql_stream_tenant_named in = { .name = name };
	struct db_rows rows;
	enum db_result result = sql_stream_tenant_named_run(registry->db, registry->pool, &in, &rows);

	if (result != DB_OK)
		return registry_db_failed(result);
	*id = rows.n > 0 ? sql_stream_tenant_named_row(&rows, 0)->id : 0;
	return OUTCOME_OK;
}

static struct db_call content_call(struct registry *registry, const struct streamed_change *change)
{
	const struct sql_stream_tenant of_tenant = { .id = change->tenant_id };
	const struct sql_resource_by_id of_resource = { .id = change->resource.id };

	return change->resource.id == 0 ? sql_stream_tenant_call(registry->pool, &of_tenant) :
		sql_resource_by_id_call(registry->pool, &of_resource);
}

// Takes what the database has of the changed resource or tenant now. newest: it has not changed again since this change.
static void take_content(struct registry *registry, struct streamed_change *change, const struct db_rows *rows)
{
	if (change->resource.id == 0) {
		struct tenant *tenant = POOL_NEW(registry->pool, struct tenant);
		*tenant = tenant_of_columns(&sql_stream_tenant_row(rows, 0)->t);
		change->newest = tenant->changed <= change->id;
		tenant->changed = change->id;
		change->itself = tenant;
		return;
	}
	change->resource = resource_of_columns(registry, &sql_resource_by_id_row(rows, 0)->r);
	etag_derive(registry, &change->resource); // once, for all watches that are told of it
	change->newest = change->resource.changed <= change->id;
	change->resource.changed = change->id;
}

// Returns the labels and selectable fields before the change. telling: the first later row of the log that altered them, which
// records what they were. If there is none, they are those of the present content. That content must have been read before
// telling, so that telling has each change that was committed in between.
static struct str state_before(struct registry *registry, const struct streamed_change *change, const struct db_rows *telling,
	bool is_stored)
{
	if (telling->n > 0)
		return sql_stream_before_row(telling, 0)->selectable_before;
	if (!is_stored || change->former.p != NULL) // a purged tenant's row has only its name
		return STR_NONE;
	if (change->resource.id == 0)
		return selectable_of_tenant(registry->pool, change->itself);
	return selectable_of_resource(registry->pool, &change->resource);
}

static enum outcome read_before(struct registry *registry, struct streamed_change *const *list, const bool *is_stored, size_t n)
{
	struct db_call calls[DB_MAX_BATCH];
	size_t asking = 0, at = 0;

	for (size_t i = 0; i < n; i++) {
		bool of_tenant = list[i]->resource.id == 0;
		if (!list[i]->asks_before)
			continue;
		const struct sql_stream_before in = {
			.id = of_tenant ? list[i]->tenant_id : list[i]->resource.id,
			.from = list[i]->id,
		};
		calls[asking++] = sql_stream_before_call(registry->pool,
			of_tenant ? SQL_STREAM_THING_TENANT : SQL_STREAM_THING_RESOURCE, &in);
	}
	if (asking == 0)
		return OUTCOME_OK;
	enum db_result result = db_run_batch(registry->db, registry->pool, calls, asking);
	if (result != DB_OK)
		return registry_db_failed(result);
	for (size_t i = 0; i < n; i++) {
		if (list[i]->asks_before)
			list[i]->before = state_before(registry, list[i], &calls[at++].rows, is_stored[i]);
	}
	return OUTCOME_OK;
}

enum outcome change_stream_contents(struct registry *registry, struct streamed_change *const *list, size_t n)
{
	bool is_stored[DB_MAX_BATCH];
	struct db_call calls[DB_MAX_BATCH];

	assert(n > 0 && n <= DB_MAX_BATCH);
	for (size_t i = 0; i < n; i++)
		calls[i] = content_call(registry, list[i]);
	enum db_result result = db_run_batch(registry->db, registry->pool, calls, n);
	if (result != DB_OK)
		return registry_db_failed(result);
	for (size_t i = 0; i < n; i++) {
		is_stored[i] = calls[i].rows.n > 0;
		if (is_stored[i])
			take_content(registry, list[i], &calls[i].rows);
	}
	return read_before(registry, list, is_stored, n);
}

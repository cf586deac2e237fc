// SPDX-License-Identifier: Apache-2.0
#include "base/base.h"

#include "registry/placement/aggregate.h"

#include "base/buf.h"
#include "base/pool.h"
#include "db/list.h"
#include "registry/core/stored.h"
#include "registry/placement/provider_internal.h"
#include "repr/json/doc.h"
#include "sql/aggregates.h"

static int by_bytes(const void *a, const void *b)
{
	return memcmp(a, b, sizeof(struct uuid));
}

enum outcome aggregate_list(struct registry *registry, const struct uuid *uid, struct provider *provider,
	struct uuid **list, size_t *n)
{
	const struct sql_aggregate_list in = { .uid = uuid_bytes(uid), .type_id = provider_type(registry)->id };
	struct db_call call = sql_aggregate_list_call(registry->pool, &in);
	enum outcome outcome = provider_get_with(registry, uid, provider, &call);

	if (outcome != OUTCOME_OK)
		return outcome;
	*n = call.rows.n;
	*list = POOL_ARRAY(registry->pool, struct uuid, *n);
	for (size_t i = 0; i < *n; i++)
		uuid_from_bytes(sql_aggregate_list_row(&call.rows, i)->aggregate, &(*list)[i]);
	return OUTCOME_OK;
}

// Sorts the list and removes repetitions; returns its new length.
static size_t sort_unique(struct uuid *list, size_t n)
{
	size_t kept = 0;

	if (n > 0)
		qsort(list, n, sizeof(*list), by_bytes);
	for (size_t i = 0; i < n; i++) {
		if (kept == 0 || !uuid_eq(list[kept - 1], list[i]))
			list[kept++] = list[i];
	}
	return kept;
}

static struct str as_json(struct pool *pool, const struct uuid *list, size_t n)
{
	struct db_list json = db_list_new(pool, 35 * n);

	for (size_t i = 0; i < n; i++)
		db_list_add_uuid(&json, &list[i]);
	return db_list_end(&json);
}

static struct db_call read_locked(struct pool *pool, uint64_t resource_id)
{
	return sql_aggregate_list_locked_call(pool, &(struct sql_aggregate_list_locked){ .resource_id = resource_id });
}

static bool is_same(const struct uuid *wanted, size_t n, const struct db_rows *rows)
{
	for (size_t i = 0; n == rows->n && i < n; i++) {
		if (!str_eq(uuid_bytes(&wanted[i]), sql_aggregate_list_locked_row(rows, i)->aggregate))
			return false;
	}
	return n == rows->n;
}

enum outcome aggregate_set(struct registry *registry, const struct uuid *uid, const struct provider_guard *guard,
	bool raises, const struct uuid *list, size_t n, struct provider *provider)
{
	struct pool *pool = registry->pool;
	struct uuid *wanted = POOL_ARRAY(pool, struct uuid, n);
	struct db_call calls[PROVIDER_TOUCHES + 2];
	struct db_rows rows;

	assert(db_txn_writes(registry->db) && (n == 0 || list != NULL));
	enum outcome outcome = provider_lock(registry, uid, guard, PROVIDER_CHANGED, provider, read_locked, &rows);
	if (outcome != OUTCOME_OK)
		return outcome;
	if (n > 0)
		memcpy(wanted, list, n * sizeof(*list));
	n = sort_unique(wanted, n);
	bool same = is_same(wanted, n, &rows);
	if (same && !raises)
		return OUTCOME_OK;
	struct uuid *former = POOL_ARRAY(pool, struct uuid, rows.n);
	for (size_t i = 0; i < rows.n; i++)
		uuid_from_bytes(sql_aggregate_list_locked_row(&rows, i)->aggregate, &former[i]);
	size_t n_calls = provider_touch(registry, provider, "/aggregates", aggregate_list_text(pool, former, rows.n), raises, calls);
	uint64_t id = provider->resource.id;
	if (!same && rows.n > 0)
		calls[n_calls++] = sql_aggregate_leave_call(pool, &(struct sql_aggregate_leave){ .resource_id = id });
	if (!same && n > 0)
		calls[n_calls++] = sql_aggregate_join_call(pool,
			&(struct sql_aggregate_join){ .resource_id = id, .uids = as_json(pool, wanted, n) });
	return provider_run(registry, calls, n_calls);
}

// ---- what a change replaced

struct str aggregate_list_text(struct pool *pool, const struct uuid *list, size_t n)
{
	struct doc *array = doc_new_array(pool);
	struct buf text = buf_new(pool, 40 * n + 2);

	for (size_t i = 0; i < n; i++)
		doc_push(array, doc_new_string(pool, uuid_str(pool, list[i])));
	doc_write_json(array, &text);
	return buf_str(&text);
}

enum outcome aggregate_restore(struct registry *registry, const struct uuid *uid, struct str former, struct provider *provider)
{
	const struct provider_guard guard = { .guard = { .prevents_lost_update = true } };
	const struct doc *array =
		stored_document(registry->pool, (struct stored_place){ .table = "former_resources", .column = "body" }, former);
	struct uuid *list = POOL_ARRAY(registry->pool, struct uuid, doc_elements(array));
	size_t n = 0;

	assert(db_txn_writes(registry->db));
	for (size_t i = 0; i < doc_elements(array); i++)
		if (uuid_parse(doc_string(doc_at(array, i)), &list[n]))
			n++;
	return aggregate_set(registry, uid, &guard, true, list, n, provider);
}

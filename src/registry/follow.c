// SPDX-License-Identifier: Apache-2.0
// Tenants are told by name, and only those that hold it: what one of the same name did before is nobody's.
#include "base/base.h"

#include "registry/follow.h"

#include "base/pool.h"
#include "registry/internal.h"

static const struct db_query q_bounds = { "SELECT COALESCE(MIN(id), 0), COALESCE(MAX(id), 0) FROM changes", "", "uu" };
static const struct db_query q_follow = {
	"SELECT c.id, c.verb, t.name, f.name, c.resource_id, c.type_id, c.namespace, c.name, c.uid, c.revision, c.at, "
	"c.tenant_id, t.live "
	"FROM changes c LEFT JOIN tenants t ON t.id = c.tenant_id "
	"LEFT JOIN tenants f ON f.id = c.from_tenant_id AND f.live = 1 "
	"WHERE c.id > ? AND c.id <= ? ORDER BY c.id LIMIT ?",
	"uuu", "usssuussbutuu"
};
static const struct db_query q_count = { "SELECT COUNT(*) FROM changes WHERE id > ? AND id <= ?", "uu", "u" };
// A tombstone has no count.
static const struct db_query q_tenant = {
	"SELECT " TENANT_COLUMNS " FROM tenants t JOIN tiers i ON i.id = t.tier_id LEFT JOIN tenant_counts c ON "
	"c.tenant_id = t.id WHERE t.id = ?",
	"u", TENANT_OUT
};

enum outcome follow_bounds(struct registry *registry, uint64_t *oldest, uint64_t *newest)
{
	struct db_rows rows;
	enum db_result result = db_run(registry->db, registry->pool, &q_bounds, NULL, &rows);

	if (result != DB_OK)
		return registry_db_failed(result);
	*oldest = db_at(&rows, 0, 0)->u;
	*newest = db_at(&rows, 0, 1)->u;
	return OUTCOME_OK;
}

static struct str text_or_none(const struct db_value *value)
{
	return value->null ? STR_NONE : value->s;
}

static void from_row(struct registry *registry, struct followed *change, const struct db_value *v)
{
	*change = (struct followed){
		.id = v[0].u,
		.verb = v[1].s,
		.tenant = v[12].null ? STR_NONE : text_or_none(&v[2]),
		.former = v[12].null ? text_or_none(&v[2]) : STR_NONE,
		.tenant_id = v[11].u,
		.from = text_or_none(&v[3]),
		.resource = {
			.id = v[4].null ? 0 : v[4].u,
			.type = v[5].null ? NULL : type_by_id(registry, v[5].u),
			.space = text_or_none(&v[6]),
			.name = text_or_none(&v[7]),
			.revision = v[9].u,
			.changed = v[0].u,
			.generation = 1,
			.meta = STR("{}"),
			.body = STR("{}"),
			.created_us = v[10].i,
		},
	};
	uuid_from_bytes(v[8].s, &change->resource.uid);
}

enum outcome follow_changes(struct registry *registry, uint64_t after, uint64_t up_to, uint64_t limit,
	struct followed **list, size_t *n)
{
	struct db_rows rows;
	enum db_result result = db_run(registry->db, registry->pool, &q_follow, DB_IN(db_u(after), db_u(up_to), db_u(limit)),
		&rows);

	if (result != DB_OK)
		return registry_db_failed(result);
	*n = rows.n;
	*list = POOL_ARRAY(registry->pool, struct followed, rows.n);
	for (size_t i = 0; i < rows.n; i++)
		from_row(registry, &(*list)[i], db_at(&rows, i, 0));
	return OUTCOME_OK;
}

enum outcome follow_count(struct registry *registry, uint64_t after, uint64_t up_to, uint64_t *n)
{
	struct db_rows rows;
	enum db_result result = db_run(registry->db, registry->pool, &q_count, DB_IN(db_u(after), db_u(up_to)), &rows);

	if (result != DB_OK)
		return registry_db_failed(result);
	*n = db_at(&rows, 0, 0)->u;
	return OUTCOME_OK;
}

static struct db_call content_call(struct registry *registry, const struct followed *change)
{
	bool of_tenant = change->resource.id == 0;

	return (struct db_call){
		.query = of_tenant ? &q_tenant : &resource_of_id,
		.in = CALL_VALUES(registry->pool, db_u(of_tenant ? change->tenant_id : change->resource.id)),
	};
}

static const struct tenant *tenant_of(struct registry *registry, const struct followed *change, const struct db_rows *rows)
{
	struct tenant *tenant = POOL_NEW(registry->pool, struct tenant);

	tenant_from_row(tenant, rows, 0);
	tenant->changed = change->id;
	return tenant;
}

enum outcome follow_contents(struct registry *registry, struct followed *const *list, size_t n)
{
	struct db_call calls[DB_MAX_BATCH];

	assert(n > 0 && n <= DB_MAX_BATCH);
	for (size_t i = 0; i < n; i++)
		calls[i] = content_call(registry, list[i]);
	enum db_result result = db_run_batch(registry->db, registry->pool, calls, n);
	if (result != DB_OK)
		return registry_db_failed(result);
	for (size_t i = 0; i < n; i++) {
		if (calls[i].rows.n > 0 && list[i]->resource.id == 0) {
			list[i]->itself = tenant_of(registry, list[i], &calls[i].rows);
		} else if (calls[i].rows.n > 0) {
			resource_from_row(registry, &list[i]->resource, &calls[i].rows, 0, 0);
			list[i]->resource.changed = list[i]->id;
		}
	}
	return OUTCOME_OK;
}

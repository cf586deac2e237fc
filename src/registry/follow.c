// SPDX-License-Identifier: Apache-2.0
// Tenants are told by name, and only those that hold it: what one of the same name did before is nobody's.
#include "base/base.h"

#include "registry/follow.h"

#include "base/pool.h"
#include "registry/internal.h"

static const struct db_query q_bounds = { "SELECT COALESCE(MIN(id), 0), COALESCE(MAX(id), 0) FROM changes", "", "uu" };
static const struct db_query q_follow = {
	"SELECT c.id, c.verb, t.name, f.name, c.resource_id, c.type_id, c.namespace, c.name, c.uid, c.revision, c.at "
	"FROM changes c LEFT JOIN tenants t ON t.id = c.tenant_id AND t.live = 1 "
	"LEFT JOIN tenants f ON f.id = c.from_tenant_id AND f.live = 1 "
	"WHERE c.id > ? AND c.id <= ? ORDER BY c.id LIMIT ?",
	"uuu", "usssuussbut"
};
static const struct db_query q_count = { "SELECT COUNT(*) FROM changes WHERE id > ? AND id <= ?", "uu", "u" };
static const struct db_query q_content = { "SELECT " RESOURCE_COLUMNS " FROM resources r WHERE r.id = ?", "u", RESOURCE_OUT };

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
		.tenant = text_or_none(&v[2]),
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

enum outcome follow_contents(struct registry *registry, struct followed *const *list, size_t n)
{
	struct db_call calls[DB_MAX_BATCH];

	assert(n > 0 && n <= DB_MAX_BATCH);
	for (size_t i = 0; i < n; i++)
		calls[i] = (struct db_call){
			.query = &q_content, .in = CALL_VALUES(registry->pool, db_u(list[i]->resource.id))
		};
	enum db_result result = db_run_batch(registry->db, registry->pool, calls, n);
	if (result != DB_OK)
		return registry_db_failed(result);
	for (size_t i = 0; i < n; i++) {
		if (calls[i].rows.n == 0)
			continue;
		resource_from_row(registry, &list[i]->resource, &calls[i].rows, 0, 0);
		list[i]->resource.changed = list[i]->id;
	}
	return OUTCOME_OK;
}

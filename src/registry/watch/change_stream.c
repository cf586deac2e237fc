// SPDX-License-Identifier: Apache-2.0
// Tenants are told by name, and only those that hold it: what one of the same name did before is nobody's.
#include "base/base.h"

#include "registry/watch/change_stream.h"

#include "base/pool.h"
#include "registry/core/internal.h"
#include "registry/log/selectable.h"

static const struct db_query q_bounds = {
	"SELECT COALESCE((SELECT MIN(c.id) FROM changes c), h.published + 1), "
	"GREATEST(COALESCE((SELECT MAX(c.id) FROM changes c), 0), h.published) FROM log_horizon h WHERE h.id = 1",
	"", "uu"
};
#define FOLLOWED                                                                                                     \
	"SELECT c.id, c.verb, t.name, f.name, c.resource_id, c.type_id, c.namespace, c.name, c.uid, c.revision, c.at, " \
	"c.tenant_id, t.live FROM "
#define THEIR_TENANTS                                 \
	" LEFT JOIN tenants t ON t.id = c.tenant_id " \
	"LEFT JOIN tenants f ON f.id = c.from_tenant_id AND f.live = 1 "
#define FOLLOWED_OUT "usssuussbutuu"
static const struct db_query q_follow = {
	FOLLOWED "changes c" THEIR_TENANTS "WHERE c.id > ? AND c.id <= ? ORDER BY c.id LIMIT ?", "uuu", FOLLOWED_OUT
};
static const struct db_query q_follow_two = {
	FOLLOWED "(" CHANGES_OF_TWO ") i STRAIGHT_JOIN changes c ON c.id = i.id" THEIR_TENANTS "ORDER BY c.id",
	CHANGES_OF_TWO_IN, FOLLOWED_OUT
};
// For the next statement alone.
static const struct db_query q_read_uncommitted = { "SET TRANSACTION ISOLATION LEVEL READ UNCOMMITTED", "", "" };
static const struct db_query q_tenants = {
	"SELECT c.tenant_id FROM changes c WHERE c.id > ? AND c.id <= ? UNION "
	"SELECT c.from_tenant_id FROM changes c WHERE c.id > ? AND c.id <= ? AND c.from_tenant_id IS NOT NULL",
	"uuuu", "u"
};
static const struct db_query q_named = { "SELECT t.id FROM tenants t WHERE t.name = ? AND t.live = 1", "s", "u" };
// A tombstone has no count.
static const struct db_query q_tenant = {
	"SELECT " TENANT_COLUMNS " FROM tenants t JOIN tiers i ON i.id = t.tier_id LEFT JOIN tenant_counts c ON "
	"c.tenant_id = t.id WHERE t.id = ?",
	"u", TENANT_OUT
};

// The first change, this one or a later one, that tells what selectors could ask before it: those in between left that as
// it was. NULL: it was written by a version that does not tell.
#define TELLING                                                                                                      \
	"AND c.id >= ? AND c.verb = 'updated' AND (c.selectable_before IS NULL OR c.selectable_before <> '') " \
	"ORDER BY c.id LIMIT 1"
static const struct db_query q_before = {
	"SELECT c.selectable_before FROM changes c FORCE INDEX (resource) WHERE c.resource_id = ? " TELLING, "uu", "s"
};
static const struct db_query q_before_tenant = {
	"SELECT c.selectable_before FROM changes c FORCE INDEX (resource) WHERE c.resource_id IS NULL AND c.tenant_id = ? "
	TELLING, "uu", "s"
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

static enum outcome read_followed(struct registry *registry, const struct db_query *query, const struct db_value *in,
	struct followed **list, size_t *n)
{
	struct db_rows rows;
	enum db_result result = db_run(registry->db, registry->pool, query, in, &rows);

	if (result != DB_OK)
		return registry_db_failed(result);
	*n = rows.n;
	*list = POOL_ARRAY(registry->pool, struct followed, rows.n);
	for (size_t i = 0; i < rows.n; i++)
		from_row(registry, &(*list)[i], db_at(&rows, i, 0));
	return OUTCOME_OK;
}

enum outcome follow_changes(struct registry *registry, uint64_t after, uint64_t up_to, uint64_t limit,
	struct followed **list, size_t *n)
{
	return read_followed(registry, &q_follow, DB_IN(db_u(after), db_u(up_to), db_u(limit)), list, n);
}

enum outcome follow_changes_of(struct registry *registry, const uint64_t tenants[2], uint64_t after, uint64_t up_to,
	uint64_t limit, struct followed **list, size_t *n)
{
	return read_followed(registry, &q_follow_two, CHANGES_OF_TWO_VALUES(tenants, after, up_to, limit), list, n);
}

enum outcome follow_tenants(struct registry *registry, uint64_t after, uint64_t up_to, uint64_t **ids, size_t *n)
{
	struct db_call calls[] = { { .query = &q_read_uncommitted },
		{ .query = &q_tenants, .in = DB_IN(db_u(after), db_u(up_to), db_u(after), db_u(up_to)) } };
	const struct db_rows *rows = &calls[1].rows;
	enum db_result result = db_run_batch(registry->db, registry->pool, calls, COUNT_OF(calls));

	if (result != DB_OK)
		return registry_db_failed(result);
	*n = rows->n;
	*ids = POOL_ARRAY(registry->pool, uint64_t, rows->n);
	for (size_t i = 0; i < rows->n; i++)
		(*ids)[i] = db_at(rows, i, 0)->u;
	return OUTCOME_OK;
}

enum outcome follow_tenant(struct registry *registry, struct str name, uint64_t *id)
{
	struct db_rows rows;
	enum db_result result = db_run(registry->db, registry->pool, &q_named, DB_IN(db_s(name)), &rows);

	if (result != DB_OK)
		return registry_db_failed(result);
	*id = rows.n > 0 ? db_at(&rows, 0, 0)->u : 0;
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

static const struct tenant *tenant_of(struct registry *registry, struct followed *change, const struct db_rows *rows)
{
	struct tenant *tenant = POOL_NEW(registry->pool, struct tenant);

	tenant_from_row(tenant, rows, 0);
	change->newest = tenant->changed <= change->id;
	tenant->changed = change->id;
	return tenant;
}

// The content must have been read: a change that was committed meanwhile then tells what that content was, and without
// one it is still so.
static struct str state_before(struct registry *registry, const struct followed *change, const struct db_rows *telling,
	bool is_stored)
{
	if (telling->n > 0)
		return text_or_none(db_at(telling, 0, 0));
	if (!is_stored || change->former.p != NULL) // of a tenant that is no more only the name is left
		return STR_NONE;
	if (change->resource.id == 0)
		return selectable_of_tenant(registry->pool, change->itself);
	return selectable_of_resource(registry->pool, &change->resource);
}

static enum outcome read_before(struct registry *registry, struct followed *const *list, const bool *is_stored, size_t n)
{
	struct db_call calls[DB_MAX_BATCH];
	size_t asking = 0, at = 0;

	for (size_t i = 0; i < n; i++) {
		bool of_tenant = list[i]->resource.id == 0;
		if (!list[i]->asks_before)
			continue;
		calls[asking++] = (struct db_call){
			.query = of_tenant ? &q_before_tenant : &q_before,
			.in = CALL_VALUES(registry->pool, db_u(of_tenant ? list[i]->tenant_id : list[i]->resource.id),
				db_u(list[i]->id)),
		};
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

enum outcome follow_contents(struct registry *registry, struct followed *const *list, size_t n)
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
		if (is_stored[i] && list[i]->resource.id == 0) {
			list[i]->itself = tenant_of(registry, list[i], &calls[i].rows);
		} else if (is_stored[i]) {
			resource_from_row(registry, &list[i]->resource, &calls[i].rows, 0, 0);
			list[i]->newest = list[i]->resource.changed <= list[i]->id;
			list[i]->resource.changed = list[i]->id;
		}
	}
	return read_before(registry, list, is_stored, n);
}

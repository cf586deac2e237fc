// SPDX-License-Identifier: Apache-2.0
// Reading a resource, and what stands at an address that no live resource has.
#include "base/base.h"

#include "registry/resource.h"

#include "base/clock.h"
#include "base/pool.h"
#include "registry/etag.h"
#include "registry/internal.h"
#include "registry/recall.h"

#define THIS_TENANT "(SELECT id FROM tenants WHERE name = ? AND live = 1)"
#define AT_ADDRESS "r.type_id = ? AND r.namespace = ? AND r.name = ?"

// Every column of each key is given, live too, so that the server looks both rows up while it optimizes and plans nothing;
// and what the address says is not asked back. A resource of another kind of life is left to q_elsewhere.
static const struct db_query q_get = {
	"SELECT t.id, t.deleted_at, t.purge_at, r.id, r.uid, r.locked, r.revision, r.edits, r.etag, r.meta, r.body, "
	"r.created_at, r.updated_at, r.root, r.traits, r.changed, r.generation, r.doomed_at, r.moves FROM tenants t "
	"LEFT JOIN resources r ON r.tenant_id = t.id AND " AT_ADDRESS " AND r.live = 1 "
	"WHERE t.name = ? AND t.live = 1",
	"usss", "uttubuuubssttbsuutu"
};

// Is what was read of it still so? Two rows by their primary keys, and of each the one column that tells: half the price of
// finding and sending it. Whose a resource is, and whether it lives, change with its number; a tenant that is no more was
// deleted before.
static const struct db_query q_still = {
	"SELECT r.changed, t.deleted_at FROM resources r, tenants t WHERE r.id = ? AND t.id = ?", "uu", "ut"
};

// What an address without a live resource leads to: a forward, or the resource deleted there last. One statement, so
// that a move that commits meanwhile is seen wholly or not at all.
static const struct db_query q_elsewhere = {
	"SELECT 1, t.name, t.deleted_at, t.purge_at, " RESOURCE_COLUMNS " FROM forwards f "
	"JOIN resources r ON r.id = f.resource_id JOIN tenants t ON t.id = r.tenant_id AND t.live = 1 "
	"WHERE f.tenant_id = " THIS_TENANT " AND f.type_id = ? AND f.namespace = ? AND f.name = ? "
	"UNION ALL "
	"(SELECT 2, t.name, t.deleted_at, t.purge_at, " RESOURCE_COLUMNS " FROM resources r "
	"JOIN tenants t ON t.id = r.tenant_id WHERE r.tenant_id = " THIS_TENANT " AND " AT_ADDRESS
	" ORDER BY r.live DESC, r.changed DESC, r.id DESC LIMIT 1)",
	"susssuss", "ustt" RESOURCE_OUT
};

const struct db_query resource_of_id = { "SELECT " RESOURCE_COLUMNS " FROM resources r WHERE r.id = ?", "u", RESOURCE_OUT };
// Whoever's it is.
#define FOUND                                                                                        \
	"SELECT t.name, " RESOURCE_COLUMNS " FROM resources r JOIN tenants t ON t.id = r.tenant_id " \
	"AND t.live = 1 AND t.deleted_at IS NULL "
static const struct db_query q_find_uid = {
	FOUND "WHERE r.uid = ? AND r.type_id = ? AND r.live = 1", "bu", "s" RESOURCE_OUT
};
static const struct db_query q_find_alias = {
	FOUND "JOIN resource_aliases a ON a.resource_id = r.id WHERE a.type_id = ? AND a.kind = ? AND a.value = ? AND a.live = 1 "
	"AND r.live = 1",
	"uss", "s" RESOURCE_OUT
};

static int64_t time_or_0(const struct db_value *value)
{
	return value->null ? 0 : value->i;
}

static void set_root_and_traits(struct resource *resource, struct str root, struct str traits)
{
	resource->has_root = tree_root(root, &resource->root);
	resource->traits = traits;
}

struct resource resource_of_columns(struct registry *registry, const struct sql_resource *r)
{
	struct resource resource = {
		.id = r->id,
		.tenant_id = r->tenant_id,
		.type = type_by_id(registry, r->type_id),
		.space = r->namespace,
		.name = r->name,
		.live = r->live_is_null ? RESOURCE_DELETED : (enum resource_live)r->live,
		.locked = r->locked != 0,
		.revision = r->revision,
		.edits = r->edits,
		.meta = r->meta,
		.body = r->body,
		.created_us = r->created_at,
		.updated_us = r->updated_at,
		.deleted_us = r->deleted_at,
		.purge_us = r->purge_at,
		.changed = r->changed,
		.generation = r->generation,
		.doomed_us = r->doomed_at,
		.moves = r->moves,
	};

	uuid_from_bytes(r->uid, &resource.uid);
	memcpy(resource.stored_etag, r->etag.p, sizeof(resource.stored_etag));
	etag_show(registry, &resource);
	set_root_and_traits(&resource, r->root, r->traits);
	return resource;
}

void resource_from_row(struct registry *registry, struct resource *resource, const struct db_rows *rows, size_t row,
	size_t first)
{
	const struct db_value *v = db_at(rows, row, first);

	*resource = (struct resource){
		.id = v[0].u,
		.tenant_id = v[2].u,
		.type = type_by_id(registry, v[3].u),
		.space = v[4].s,
		.name = v[5].s,
		.live = v[6].null ? RESOURCE_DELETED : (enum resource_live)v[6].u,
		.locked = v[7].u != 0,
		.revision = v[8].u,
		.edits = v[9].u,
		.meta = v[11].s,
		.body = v[12].s,
		.created_us = v[13].i,
		.updated_us = v[14].i,
		.deleted_us = time_or_0(&v[15]),
		.purge_us = time_or_0(&v[16]),
		.changed = v[19].u,
		.generation = v[20].u,
		.doomed_us = time_or_0(&v[21]),
		.moves = v[22].u,
	};
	uuid_from_bytes(v[1].s, &resource->uid);
	memcpy(resource->stored_etag, v[10].s.p, sizeof(resource->stored_etag));
	etag_show(registry, resource);
	set_root_and_traits(resource, v[17].s, v[18].s);
}

struct str resource_path(struct pool *pool, const struct type *type, struct str space, struct str name)
{
	struct str type_text = type_name(pool, type);

	if (space.n == 0)
		return str_printf(pool, "%.*s/%.*s", STR_ARG(type_text), STR_ARG(name));
	return str_printf(pool, "namespaces/%.*s/%.*s/%.*s", STR_ARG(space), STR_ARG(type_text), STR_ARG(name));
}

enum outcome fail_no_resource(struct registry *registry, const struct address *address)
{
	struct str path = resource_path(registry->pool, address->type, address->space, address->name);

	return registry_fail(registry, OUTCOME_NOT_FOUND, "there is no %.*s", STR_ARG(path));
}

enum outcome fail_not_there(struct registry *registry, const struct ident *ident)
{
	struct str what = ident->kind == NULL ? uuid_str(registry->pool, ident->uid) : ident->value;

	return registry_fail(registry, OUTCOME_NOT_FOUND, "there is no %.*s %.*s", STR_ARG(ident->type->singular),
		STR_ARG(what));
}

enum outcome fail_tenant_gone(struct registry *registry, struct str name, int64_t purge_us)
{
	if (purge_us <= registry->now_us)
		return fail_no_tenant(registry, name);
	return fail_gone(registry, purge_us, "tenant \"%.*s\" was deleted; it can be recovered until it is purged",
		STR_ARG(name));
}

static enum outcome fail_deleted(struct registry *registry, const struct address *address,
	const struct resource *resource)
{
	struct str path = resource_path(registry->pool, address->type, address->space, address->name);

	if (resource->purge_us <= registry->now_us)
		return fail_no_resource(registry, address);
	return fail_gone(registry, resource->purge_us, "%.*s was deleted; it can be recovered until it is purged",
		STR_ARG(path));
}

// The row a forward leads to.
static enum outcome follow(struct registry *registry, const struct address *address, const struct db_rows *rows,
	struct resource *resource)
{
	struct str path = resource_path(registry->pool, address->type, address->space, address->name);
	bool tenant_deleted = !db_at(rows, 0, 2)->null;
	int64_t tenant_purge_us = time_or_0(db_at(rows, 0, 3));

	if (tenant_deleted && tenant_purge_us <= registry->now_us)
		return fail_no_resource(registry, address);
	if (tenant_deleted)
		return fail_gone(registry, tenant_purge_us, "%.*s was moved to a tenant that has since been deleted",
			STR_ARG(path));
	if (resource->deleted_us != 0)
		return fail_deleted(registry, address, resource);
	return registry_fail(registry, OUTCOME_MOVED, "%.*s was moved to another tenant", STR_ARG(path));
}

enum outcome resource_elsewhere(struct registry *registry, const struct address *address, struct resource *resource)
{
	struct db_rows rows;
	enum db_result result = db_run(registry->db, registry->pool, &q_elsewhere,
		DB_IN(db_s(address->tenant), db_u(address->type->id), db_s(address->space), db_s(address->name),
			db_s(address->tenant), db_u(address->type->id), db_s(address->space), db_s(address->name)),
		&rows);

	if (result != DB_OK)
		return registry_db_failed(result);
	if (rows.n == 0)
		return fail_no_resource(registry, address);
	resource_from_row(registry, resource, &rows, 0, 4);
	resource->tenant = db_at(&rows, 0, 1)->s;
	if (db_at(&rows, 0, 0)->u == 1)
		return follow(registry, address, &rows, resource);
	return resource->live != RESOURCE_DELETED ? OUTCOME_OK : fail_deleted(registry, address, resource);
}

static void resource_at_address(struct registry *registry, struct resource *resource, const struct address *address,
	const struct db_rows *rows)
{
	const struct db_value *v = db_at(rows, 0, 3);

	*resource = (struct resource){
		.id = v[0].u,
		.tenant_id = db_at(rows, 0, 0)->u,
		.tenant = address->tenant,
		.type = address->type,
		.space = address->space,
		.name = address->name,
		.live = RESOURCE_COUNTED,
		.locked = v[2].u != 0,
		.revision = v[3].u,
		.edits = v[4].u,
		.meta = v[6].s,
		.body = v[7].s,
		.created_us = v[8].i,
		.updated_us = v[9].i,
		.changed = v[12].u,
		.generation = v[13].u,
		.doomed_us = time_or_0(&v[14]),
		.moves = v[15].u,
	};
	uuid_from_bytes(v[1].s, &resource->uid);
	memcpy(resource->stored_etag, v[5].s.p, sizeof(resource->stored_etag));
	etag_show(registry, resource);
	set_root_and_traits(resource, v[10].s, v[11].s);
}

static enum outcome read_at_address(struct registry *registry, const struct address *address, struct resource *resource)
{
	struct db_rows rows;
	enum db_result result = db_run(registry->db, registry->pool, &q_get,
		DB_IN(db_u(address->type->id), db_s(address->space), db_s(address->name), db_s(address->tenant)), &rows);

	*resource = (struct resource){ .tenant = address->tenant };
	if (result != DB_OK)
		return registry_db_failed(result);
	if (rows.n == 0)
		return fail_no_tenant(registry, address->tenant);
	if (!db_at(&rows, 0, 1)->null) {
		resource->purge_us = db_at(&rows, 0, 2)->i;
		return fail_tenant_gone(registry, address->tenant, resource->purge_us);
	}
	if (db_at(&rows, 0, 3)->null)
		return resource_elsewhere(registry, address, resource);
	resource_at_address(registry, resource, address, &rows);
	return OUTCOME_OK;
}

// *found: it was remembered, and is still so.
static enum outcome recall(struct registry *registry, const struct address *address, struct resource *resource, bool *found)
{
	struct db_rows rows;

	*found = recall_at(registry->recall, registry->pool, address, clock_tick_us(), resource);
	if (!*found)
		return OUTCOME_OK;
	enum db_result result = db_run(registry->db, registry->pool, &q_still,
		DB_IN(db_u(resource->id), db_u(resource->tenant_id)), &rows);
	if (result != DB_OK)
		return registry_db_failed(result);
	resource->type = address->type;
	*found = rows.n == 1 && db_at(&rows, 0, 0)->u == resource->changed && db_at(&rows, 0, 1)->null;
	return OUTCOME_OK;
}

enum outcome resource_get(struct registry *registry, const struct address *address, struct resource *resource)
{
	bool found;

	if (db_txn_writes(registry->db))
		return read_at_address(registry, address, resource);
	enum outcome outcome = recall(registry, address, resource, &found);
	if (outcome != OUTCOME_OK || found)
		return outcome;
	outcome = read_at_address(registry, address, resource);
	if (outcome == OUTCOME_OK)
		recall_keep(registry->recall, resource, clock_tick_us());
	return outcome;
}

enum outcome resource_find(struct registry *registry, const struct ident *ident, struct resource *resource)
{
	struct db_rows rows;
	enum db_result result;

	if (ident->kind == NULL)
		result = db_run(registry->db, registry->pool, &q_find_uid, DB_IN(db_uuid(&ident->uid), db_u(ident->type->id)),
			&rows);
	else
		result = db_run(registry->db, registry->pool, &q_find_alias,
			DB_IN(db_u(ident->type->id), db_s(str_c(ident->kind)), db_s(ident->value)), &rows);
	if (result != DB_OK)
		return registry_db_failed(result);
	if (rows.n == 0 || (ident->tenant.p != NULL && !str_eq(ident->tenant, db_at(&rows, 0, 0)->s)))
		return fail_not_there(registry, ident);
	resource_from_row(registry, resource, &rows, 0, 1);
	resource->tenant = db_at(&rows, 0, 0)->s;
	registry_concerns(registry, resource->tenant);
	return OUTCOME_OK;
}

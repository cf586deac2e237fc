// SPDX-License-Identifier: Apache-2.0
// Reads a resource at its address, or finds out where it went.
#include "base/base.h"

#include "registry/resource/resource.h"

#include "base/clock.h"
#include "base/pool.h"
#include "registry/cache/page_cache.h"
#include "registry/cache/resource_cache.h"
#include "registry/resource/internal.h"
#include "registry/resource/secret.h"
#include "registry/tags/etag.h"
#include "registry/type/internal.h"
#include "registry/type/stored_type.h"
#include "registry/type/tree.h"
#include "sql/resources.h"

// Sets the members that do not say where the resource is, or whether it was deleted.
static void take_data(struct resource *resource, const struct sql_resource_data *data)
{
	uuid_from_bytes(data->uid, &resource->uid);
	resource->locked = data->locked != 0;
	resource->revision = data->revision;
	resource->edits = data->edits;
	etag_replace(resource, (const uint8_t *)data->etag.p);
	resource->meta = data->meta;
	resource->body = data->body;
	resource->created_us = data->created_at;
	resource->updated_us = data->updated_at;
	resource->has_root = tree_root(data->root, &resource->root);
	resource->traits = data->traits;
	resource->changed = data->changed;
	resource->generation = data->generation;
	resource->deletion_requested_us = data->deletion_requested_at;
	resource->moves = data->moves;
}

struct resource resource_of_columns(struct registry *registry, const struct sql_resource *r)
{
	struct resource resource = {
		.id = r->id,
		.tenant_id = r->tenant_id,
		.type = type_of_resource(registry, r->id, r->type_id),
		.space = r->namespace,
		.name = r->name,
		.live = r->live_is_null ? RESOURCE_DELETED : (enum resource_live)r->live,
		.deleted_us = r->deleted_at,
		.purge_us = r->purge_at,
	};

	take_data(&resource, &r->data);
	return resource;
}

struct str resource_path(struct pool *pool, const struct type *type, struct str space, struct str name)
{
	struct str type_text = type_name(pool, type);

	if (space.n == 0)
		return str_printf(pool, "%.*s/%.*s", STR_ARG(type_text), STR_ARG(name));
	return str_printf(pool, "namespaces/%.*s/%.*s/%.*s", STR_ARG(space), STR_ARG(type_text), STR_ARG(name));
}

static enum outcome fail_not_found(struct registry *registry, const struct address *address)
{
	struct str path = resource_path(registry->pool, address->type, address->space, address->name);

	return registry_fail(registry, OUTCOME_NOT_FOUND, "there is no %.*s", STR_ARG(path));
}

enum outcome ident_fail_not_found(struct registry *registry, const struct ident *ident)
{
	struct str what = ident->kind == NULL ? uuid_str(registry->pool, ident->uid) : ident->value;

	return registry_fail(registry, OUTCOME_NOT_FOUND, "there is no %.*s %.*s", STR_ARG(ident->type->singular),
		STR_ARG(what));
}

static enum outcome fail_deleted(struct registry *registry, const struct address *address,
	const struct resource *resource)
{
	struct str path = resource_path(registry->pool, address->type, address->space, address->name);

	if (resource->purge_us <= registry->now_us)
		return fail_not_found(registry, address);
	return registry_fail_deleted(registry, resource->purge_us, "%.*s was deleted; it can be recovered until it is purged",
		STR_ARG(path));
}

// The answer for a forward, whose moved resource is resource, of the tenant home.
static enum outcome answer_forward(struct registry *registry, const struct address *address, const struct sql_home *home,
	const struct resource *resource)
{
	struct str path = resource_path(registry->pool, address->type, address->space, address->name);

	if (home->tenant.p == NULL || (!home->tenant_deleted_at_is_null && home->tenant_purge_at <= registry->now_us))
		return fail_not_found(registry, address);
	if (!home->tenant_deleted_at_is_null)
		return registry_fail_deleted(registry, home->tenant_purge_at,
			"%.*s was moved to a tenant that has since been deleted",
			STR_ARG(path));
	if (resource->deleted_us != 0)
		return fail_deleted(registry, address, resource);
	return registry_fail(registry, OUTCOME_MOVED, "%.*s was moved to another tenant", STR_ARG(path));
}

enum outcome resource_elsewhere(struct registry *registry, const struct address *address, struct resource *resource)
{
	const struct sql_resource_elsewhere in = {
		.tenant = address->tenant,
		.type_id = address->type->id,
		.namespace = address->space,
		.name = address->name,
		.now = registry->now_us,
	};
	const struct sql_resource_elsewhere_row *row;
	struct db_rows rows, ends = { .n = 0 };

	do {
		enum db_result result = sql_resource_elsewhere_run(registry->db, registry->pool, &in, &rows);
		if (result != DB_OK)
			return registry_db_failed(result);
		if (rows.n == 0)
			return fail_not_found(registry, address);
		row = sql_resource_elsewhere_row(&rows, 0);
		if (row->merged == 0)
			break;
		const struct sql_resource_merged_into merged = { .id = row->r.id };
		result = sql_resource_merged_into_run(registry->db, registry->pool, &merged, &ends);
		if (result != DB_OK)
			return registry_db_failed(result);
	} while (ends.n == 0); // the namespace was purged meanwhile, so the forward leads elsewhere
	const struct sql_resource_merged_into_row *end = row->merged != 0 ? sql_resource_merged_into_row(&ends, 0) : NULL;
	const struct sql_home *home = end != NULL ? &end->home : &row->home;

	*resource = resource_of_columns(registry, end != NULL ? &end->r : &row->r);
	resource->tenant = home->tenant;
	if (row->forwarded != 0)
		return answer_forward(registry, address, home, resource);
	return resource->live != RESOURCE_DELETED ? OUTCOME_OK : fail_deleted(registry, address, resource);
}

static void resource_at_address(struct resource *resource, const struct address *address, uint64_t tenant_id, const struct sql_resource_there *r)
{
	*resource = (struct resource){
		.id = r->id,
		.tenant_id = tenant_id,
		.tenant = address->tenant,
		.type = address->type,
		.space = address->space,
		.name = address->name,
		.live = RESOURCE_COUNTED,
	};
	take_data(resource, &r->data);
}

// found: the columns of the resource at the address, of a tenant that is not deleted; NULL where there is none.
static enum outcome take_found(struct registry *registry, const struct address *address, uint64_t tenant_id,
	const struct sql_resource_there *found, struct resource *resource)
{
	*resource = (struct resource){ .tenant = address->tenant };
	if (found->id_is_null)
		return resource_elsewhere(registry, address, resource);
	resource_at_address(resource, address, tenant_id, found);
	return OUTCOME_OK;
}

static enum outcome read_at_address(struct registry *registry, const struct address *address, struct resource *resource)
{
	const struct sql_resource_get in = {
		.type_id = address->type->id,
		.namespace = address->space,
		.name = address->name,
		.tenant = address->tenant,
	};
	struct db_rows rows;
	enum db_result result = sql_resource_get_run(registry->db, registry->pool, &in, &rows);

	*resource = (struct resource){ .tenant = address->tenant };
	if (result != DB_OK)
		return registry_db_failed(result);
	if (rows.n == 0)
		return registry_fail_no_tenant(registry, address->tenant);
	const struct sql_resource_get_row *row = sql_resource_get_row(&rows, 0);

	if (!row->tenant_deleted_at_is_null) {
		resource->purge_us = row->tenant_purge_at;
		return registry_fail_tenant_deleted(registry, address->tenant, resource->purge_us);
	}
	return take_found(registry, address, row->tenant_id, &row->r, resource);
}

// ---- read together with the type's definition

void resource_expect(struct registry *registry, struct str tenant, struct str group, struct str plural, struct str space, struct str name)
{
	registry->expected = POOL_NEW(registry->pool, struct resource_expected);
	*registry->expected = (struct resource_expected){ .tenant = tenant, .group = group, .plural = plural, .space = space, .name = name };
}

// Returns what was expected by resource_expect() if it was read together with its type's definition, and is the resource at the
// address; else NULL. Ask once: what was read is forgotten then, even if it is for another address.
static const struct resource_expected *take_expected(struct registry *registry, const struct address *address)
{
	const struct resource_expected *expected = registry->expected;

	if (expected == NULL || expected->found == NULL)
		return NULL;
	registry->expected = NULL;
	return expected->type_id == address->type->id && str_eq(expected->tenant, address->tenant) && str_eq(expected->space, address->space) &&
				str_eq(expected->name, address->name) ? expected : NULL;
}

bool resource_caches_hold(struct registry *registry)
{
	struct registry_store *store = registry->store;
	uint64_t sessions = db_sessions(registry->db);

	if (store->cached_sessions == sessions)
		return true;
	resource_cache_clear(store->resource_cache);
	page_cache_clear(store->page_cache);
	store->cached_sessions = sessions;
	return false;
}

// Asks the database about a resource that was cached. *same: it has not changed since, and its tenant is not deleted.
static enum outcome confirm(struct registry *registry, const struct resource *resource, bool *same)
{
	struct db_rows rows;
	const struct sql_resource_still in = { .id = resource->id, .tenant_id = resource->tenant_id };
	enum db_result result = sql_resource_still_run(registry->db, registry->pool, &in, &rows);
	if (result != DB_OK)
		return registry_db_failed(result);
	*same = false;
	if (resource_caches_hold(registry) && rows.n == 1) {
		const struct sql_resource_still_row *row = sql_resource_still_row(&rows, 0);
		*same = row->changed == resource->changed && row->tenant_deleted_at_is_null;
	}
	return OUTCOME_OK;
}

void resource_remember(struct registry *registry, struct resource *resource)
{
	const struct type_rules *rules = resource->type != NULL ? resource->type->rules : NULL;

	assert(!db_txn_writes(registry->db) && resource->tenant.p != NULL);
	if (rules != NULL && rules->is_secret != NULL)
		resource->shown = resource_shown(registry->pool, resource);
	etag_derive(registry, resource);
	(void)resource_caches_hold(registry);
	resource_cache_add(registry->store->resource_cache, resource, clock_tick_us());
}

void resource_keep_answer(struct registry *registry, struct resource *resource, struct str made_for, struct str answer)
{
	if (!resource->cached)
		return;
	resource->answer = answer;
	resource->answer_for = made_for;
	resource_cache_set_answer(registry->store->resource_cache, resource);
}

enum outcome resource_get(struct registry *registry, const struct address *address, struct resource *resource)
{
	enum outcome outcome = OUTCOME_OK;
	bool same = false;

	assert(address->type != NULL);
	if (db_txn_writes(registry->db))
		return read_at_address(registry, address, resource);
	const struct resource_expected *expected = take_expected(registry, address);
	if (expected != NULL) {
		outcome = take_found(registry, address, expected->tenant_id, expected->found, resource);
		if (outcome == OUTCOME_OK)
			resource_remember(registry, resource);
		return outcome;
	}
	if (resource_cache_find_at(registry->store->resource_cache, registry->pool, address, clock_tick_us(), resource))
		outcome = confirm(registry, resource, &same);
	resource->type = address->type;
	if (outcome != OUTCOME_OK || same)
		return outcome;
	outcome = read_at_address(registry, address, resource);
	if (outcome == OUTCOME_OK)
		resource_remember(registry, resource);
	return outcome;
}

static enum outcome read_ident(struct registry *registry, const struct ident *ident, struct resource *resource)
{
	const struct sql_resource_find in = {
		.type_id = ident->type->id,
		.uid = uuid_bytes(&ident->uid),
		.key_kind = str_c(ident->kind),
		.key_value = ident->value,
	};
	struct db_rows rows;
	enum db_result result = sql_resource_find_run(registry->db, registry->pool,
		ident->kind == NULL ? SQL_RESOURCE_IDENT_UID : SQL_RESOURCE_IDENT_KEY, &in, &rows);

	if (result != DB_OK)
		return registry_db_failed(result);
	if (rows.n == 0)
		return ident_fail_not_found(registry, ident);
	const struct sql_resource_find_row *row = sql_resource_find_row(&rows, 0);

	*resource = resource_of_columns(registry, &row->r);
	resource->tenant = row->tenant;
	return OUTCOME_OK;
}

// Asks the cache for a uid only, not for a lookup key: to follow the key takes the database as long as to read the resource.
enum outcome resource_find(struct registry *registry, const struct ident *ident, struct resource *resource)
{
	bool may_cache = ident->kind == NULL && !db_txn_writes(registry->db), same = false;
	enum outcome outcome = OUTCOME_OK;

	assert(ident->type != NULL);
	if (may_cache && resource_cache_find_uid(registry->store->resource_cache, registry->pool, ident->type, &ident->uid,
		clock_tick_us(), resource)) {
		resource->type = ident->type;
		outcome = confirm(registry, resource, &same);
	}
	if (outcome == OUTCOME_OK && !same) {
		outcome = read_ident(registry, ident, resource);
		if (outcome == OUTCOME_OK && may_cache)
			resource_remember(registry, resource);
	}
	if (outcome != OUTCOME_OK)
		return outcome;
	if (ident->tenant.p != NULL && !str_eq(ident->tenant, resource->tenant))
		return ident_fail_not_found(registry, ident);
	registry_concerns(registry, resource->tenant);
	return OUTCOME_OK;
}

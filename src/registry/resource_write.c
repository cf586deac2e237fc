// SPDX-License-Identifier: Apache-2.0
// Creating and changing a resource: the locks in one round trip, the writes in another, COMMIT in a third.
#include "base/base.h"

#include "base/pool.h"
#include "registry/change.h"
#include "registry/etag.h"
#include "registry/internal.h"

#define THIS_TENANT "(SELECT id FROM tenants WHERE name = ? AND live = 1)"

static const struct db_query q_hold_tenant[2] =
	LOCKING("SELECT t.id, t.deleted_at, t.purge_at, i.max_resources FROM tenants t JOIN tiers i ON i.id = t.tier_id "
		"WHERE t.name = ? AND t.live = 1",
		"LOCK IN SHARE MODE", "s", "uttu");
// live IN (1, 2), not IS NOT NULL: that would be a range, whose end is found by locking the row behind it, and writers
// of neighbours, or of the first row behind the namespaces, would be in each other's way.
static const struct db_query q_hold_space[2] =
	LOCKING("SELECT r.id FROM resources r WHERE r.tenant_id = " THIS_TENANT
		" AND r.type_id = ? AND r.namespace = '' AND r.name = ? AND r.live IN (1, 2)",
		"LOCK IN SHARE MODE", "sus", "u");
static const struct db_query q_lock[2] =
	LOCKING("SELECT " RESOURCE_COLUMNS " FROM resources r WHERE r.tenant_id = " THIS_TENANT
		" AND r.type_id = ? AND r.namespace = ? AND r.name = ? AND r.live IN (1, 2)",
		"FOR UPDATE", "suss", RESOURCE_OUT);
static const struct db_query q_insert = {
	"INSERT INTO resources (uid, tenant_id, type_id, namespace, name, live, locked, bytes, revision, edits, h0, h1, h2, "
	"h3, etag, meta, body, created_at, updated_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
	"buussuuuuuuuuubsstt", ""
};
static const struct db_query q_update = {
	"UPDATE resources SET locked = ?, bytes = ?, revision = ?, edits = ?, etag = ?, meta = ?, body = ?, updated_at = ? "
	"WHERE id = ?",
	"uuuubsstu", ""
};
static const struct db_query q_retire_forward = {
	"DELETE FROM forwards WHERE tenant_id = ? AND type_id = ? AND namespace = ? AND name = ?", "uuss", ""
};
// The quota is held here, in the statement that counts: two creators at once cannot both take the last place.
static const struct db_query q_count_up = {
	"UPDATE tenant_counts SET resources = resources + ? WHERE tenant_id = ? AND resources + ? <= ?", "uuuu", ""
};
static const struct db_query q_count_down = {
	"UPDATE tenant_counts SET resources = resources - ? WHERE tenant_id = ?", "uu", ""
};

struct db_call hold_tenant_call(struct registry *registry, struct str name)
{
	return (struct db_call){ .query = locking(registry, q_hold_tenant), .in = CALL_VALUES(registry->pool, db_s(name)) };
}

enum outcome held_tenant(struct registry *registry, struct str name, const struct db_call *call, struct held_tenant *held)
{
	const struct db_rows *rows = &call->rows;

	if (rows->n == 0)
		return fail_no_tenant(registry, name);
	held->id = db_at(rows, 0, 0)->u;
	held->has_limit = !db_at(rows, 0, 3)->null;
	held->max_resources = held->has_limit ? db_at(rows, 0, 3)->u : 0;
	if (db_at(rows, 0, 1)->null)
		return OUTCOME_OK;
	int64_t purge_us = db_at(rows, 0, 2)->i;
	if (purge_us <= registry->now_us)
		return fail_no_tenant(registry, name);
	return fail_gone(registry, purge_us, "tenant \"%.*s\" was deleted; recover it before you change what is in it",
		STR_ARG(name));
}

struct db_call hold_space_call(struct registry *registry, struct str tenant, struct str space)
{
	return (struct db_call){
		.query = locking(registry, q_hold_space),
		.in = CALL_VALUES(registry->pool, db_s(tenant), db_u(type_namespaces(registry)->id), db_s(space)),
	};
}

struct db_call lock_resource_call(struct registry *registry, const struct address *address)
{
	return (struct db_call){
		.query = locking(registry, q_lock),
		.in = CALL_VALUES(registry->pool, db_s(address->tenant), db_u(address->type->id), db_s(address->space),
			db_s(address->name)),
	};
}

struct db_call count_up_call(struct registry *registry, const struct held_tenant *held, uint64_t n)
{
	uint64_t most = held->has_limit ? held->max_resources : INT64_MAX;

	return (struct db_call){
		.query = &q_count_up,
		.in = CALL_VALUES(registry->pool, db_u(n), db_u(held->id), db_u(n), db_u(most)),
	};
}

struct db_call count_down_call(struct registry *registry, uint64_t tenant_id, uint64_t n)
{
	return (struct db_call){ .query = &q_count_down, .in = CALL_VALUES(registry->pool, db_u(n), db_u(tenant_id)) };
}

enum outcome fail_quota(struct registry *registry, const struct held_tenant *held)
{
	return registry_fail(registry, OUTCOME_OVER_QUOTA,
		"the tenant's tier allows %llu resources, and they are all there: delete some, or ask for another tier",
		(unsigned long long)held->max_resources);
}

enum outcome fail_no_space(struct registry *registry, struct str space)
{
	return registry_fail(registry, OUTCOME_NOT_FOUND,
		"there is no namespace \"%.*s\": make it first, by PUT of namespaces/%.*s", STR_ARG(space), STR_ARG(space));
}

struct db_call insert_resource_call(struct registry *registry, struct resource *resource)
{
	struct uuid *uid = POOL_NEW(registry->pool, struct uuid);
	uint64_t h[4];

	*uid = resource->uid;
	state_lanes(registry, uid, h);
	resource->revision = resource->edits = 1;
	resource->created_us = resource->updated_us = registry->now_us;
	etag_of_resource(registry, resource);
	struct str etag = str_dup(registry->pool, str_n((const char *)resource->etag, sizeof(resource->etag)));
	return (struct db_call){
		.query = &q_insert,
		.in = CALL_VALUES(registry->pool, db_uuid(uid), db_u(resource->tenant_id), db_u(resource->type->id),
			db_s(resource->space), db_s(resource->name), db_u((uint64_t)resource->live),
			db_u(resource->locked ? 1 : 0), db_u(resource->meta.n + resource->body.n), db_u(1), db_u(1), db_u(h[0]),
			db_u(h[1]), db_u(h[2]), db_u(h[3]), db_b(etag), db_s(resource->meta), db_s(resource->body),
			db_t(registry->now_us), db_t(registry->now_us)),
	};
}

static enum outcome insert(struct registry *registry, const struct held_tenant *held, struct resource *resource)
{
	struct db_call calls[] = {
		insert_resource_call(registry, resource),
		change_of_resource(registry, "created", resource, NULL, resource->etag),
		{ .query = &q_retire_forward,
			.in = DB_IN(db_u(resource->tenant_id), db_u(resource->type->id), db_s(resource->space),
				db_s(resource->name)) },
		count_up_call(registry, held, 1),
	};
	enum db_result result = db_run_batch(registry->db, registry->pool, calls, COUNT_OF(calls));

	if (result != DB_OK)
		return registry_db_failed(result);
	if (calls[0].result == DB_DUPLICATE) { // another request made it since we looked: all of this is undone
		db_txn_again(registry->db);
		return OUTCOME_UNAVAILABLE;
	}
	resource->id = calls[0].rows.insert_id;
	return calls[3].rows.affected == 1 ? OUTCOME_CREATED : fail_quota(registry, held);
}

static enum outcome create(struct registry *registry, const struct address *address, const struct edit *edit,
	struct guard guard, const struct held_tenant *held, struct resource *resource)
{
	struct content content;
	enum outcome outcome = guard_check(guard, NULL);

	if (outcome == OUTCOME_OK && !id_ok(address->name))
		outcome = registry_fail(registry, OUTCOME_BAD_PARAMETER,
			"a name is 1 to 255 characters of UTF-8, without \"/\" and NUL, and neither \".\" nor \"..\"");
	if (outcome == OUTCOME_OK)
		outcome = edit->apply(edit->arg, NULL, &content);
	if (outcome != OUTCOME_OK)
		return outcome;
	*resource = (struct resource){
		.uid = uuid_new(),
		.tenant_id = held->id,
		.tenant = address->tenant,
		.type = address->type,
		.space = address->space,
		.name = address->name,
		.live = RESOURCE_COUNTED,
		.locked = content.locked,
		.meta = content.meta,
		.body = content.body,
	};
	return insert(registry, held, resource);
}

static enum outcome update(struct registry *registry, const struct edit *edit, struct guard guard,
	struct resource *resource)
{
	const struct resource before = *resource;
	struct content content;
	enum outcome outcome = guard_check(guard, before.etag);

	if (outcome == OUTCOME_OK)
		outcome = edit->apply(edit->arg, &before, &content);
	if (outcome != OUTCOME_OK)
		return outcome;
	if (str_eq(content.meta, before.meta) && str_eq(content.body, before.body) && content.locked == before.locked)
		return OUTCOME_OK;
	resource->meta = content.meta;
	resource->body = content.body;
	resource->locked = content.locked;
	resource->revision++;
	resource->edits++;
	resource->updated_us = registry->now_us;
	etag_of_resource(registry, resource);
	struct db_call calls[] = {
		{ .query = &q_update,
			.in = DB_IN(db_u(resource->locked ? 1 : 0), db_u(resource->meta.n + resource->body.n),
				db_u(resource->revision), db_u(resource->edits),
				db_b(str_n((const char *)resource->etag, sizeof(resource->etag))), db_s(resource->meta),
				db_s(resource->body), db_t(resource->updated_us), db_u(resource->id)) },
		change_of_resource(registry, "updated", resource, before.etag, resource->etag),
	};
	enum db_result result = db_run_batch(registry->db, registry->pool, calls, COUNT_OF(calls));
	return result == DB_OK ? OUTCOME_OK : registry_db_failed(result);
}

enum outcome refuse_missing(struct registry *registry, const struct address *address, struct resource *resource)
{
	enum outcome outcome = resource_elsewhere(registry, address, resource);

	if (outcome != OUTCOME_OK)
		return outcome;
	db_txn_again(registry->db); // it came while we looked
	return OUTCOME_UNAVAILABLE;
}

enum outcome lock_address(struct registry *registry, const struct address *address, struct held_address *held,
	struct resource *resource)
{
	struct db_call calls[3] = {
		hold_tenant_call(registry, address->tenant),
		hold_space_call(registry, address->tenant, address->space),
	};
	size_t n = address->type->namespaced ? 3 : 2;
	struct db_call *own = &calls[n - 1];
	*own = lock_resource_call(registry, address);
	enum outcome outcome = take_locks(registry, &address->tenant, 1, calls, n);

	*resource = (struct resource){ .tenant = address->tenant };
	if (outcome != OUTCOME_OK)
		return outcome;
	outcome = held_tenant(registry, address->tenant, &calls[0], &held->tenant);
	if (outcome != OUTCOME_OK)
		return outcome;
	held->space_missing = n == 3 && calls[1].rows.n == 0;
	if (own->rows.n == 0)
		return OUTCOME_NO_CONTENT;
	resource_from_row(registry, resource, &own->rows, 0, 0);
	resource->tenant = address->tenant;
	return OUTCOME_OK;
}

enum outcome resource_write(struct registry *registry, const struct address *address, const struct edit *edit,
	struct guard guard, struct resource *resource)
{
	struct held_address held;
	enum outcome outcome = lock_address(registry, address, &held, resource);

	if (outcome == OUTCOME_OK)
		return update(registry, edit, guard, resource);
	if (outcome != OUTCOME_NO_CONTENT)
		return outcome;
	if (!edit->creates)
		return refuse_missing(registry, address, resource);
	if (held.space_missing)
		return fail_no_space(registry, address->space);
	return create(registry, address, edit, guard, &held.tenant, resource);
}

// SPDX-License-Identifier: Apache-2.0
// Deleting, and bringing back exactly what was deleted: a resource alone, or a namespace with all that is in it.
#include "base/base.h"

#include "base/pool.h"
#include "registry/change.h"
#include "registry/internal.h"

#define THIS_TENANT "(SELECT id FROM tenants WHERE name = ? AND live = 1)"
// All that lives in a namespace of a tenant.
#define IN_SPACE                                                                                           \
	"types y JOIN resources r ON r.tenant_id = ? AND r.type_id = y.id AND r.namespace = ? AND r.live = 1 " \
	"WHERE y.namespaced"
// What one deletion took: the resource itself and, when it is a namespace, what was in it. A namespace of "/" is none.
#define OF_DELETION "r.deletion = ? AND (r.id = ? OR r.namespace = ?)"
#define CHANGE_COLUMNS                                                                                       \
	"(request_id, at, actor, verb, tenant_id, resource_id, uid, type_id, namespace, name, revision, " \
	"etag_before, etag_after)"

static const struct db_query q_space_content = {
	"SELECT COUNT(*), COALESCE(SUM(r.locked), 0) FROM " IN_SPACE, "us", "uu"
};
static const struct db_query q_log_space = {
	"INSERT INTO changes " CHANGE_COLUMNS " SELECT ?, ?, ?, 'deleted', r.tenant_id, r.id, r.uid, r.type_id, r.namespace, "
	"r.name, r.revision, r.etag, NULL FROM " IN_SPACE,
	"btsus", ""
};
static const struct db_query q_delete_space = {
	"UPDATE types y JOIN resources r ON r.tenant_id = ? AND r.type_id = y.id AND r.namespace = ? AND r.live = 1 "
	"SET r.live = NULL, r.deleted_at = ?, r.purge_at = ?, r.deletion = ? WHERE y.namespaced",
	"usttb", ""
};
static const struct db_query q_delete = {
	"UPDATE resources SET live = NULL, deleted_at = ?, purge_at = ?, deletion = ? WHERE id = ?", "ttbu", ""
};
static const struct db_query q_deleted_last = {
	"SELECT " RESOURCE_COLUMNS ", r.deletion FROM resources r WHERE r.tenant_id = " THIS_TENANT
	" AND r.type_id = ? AND r.namespace = ? AND r.name = ? AND r.live IS NULL AND r.purge_at > ? "
	"ORDER BY r.deleted_at DESC, r.id DESC LIMIT 1 FOR UPDATE",
	"susst", RESOURCE_OUT "b"
};
static const struct db_query q_deleted_uid = {
	"SELECT " RESOURCE_COLUMNS ", r.deletion FROM resources r WHERE r.tenant_id = " THIS_TENANT
	" AND r.type_id = ? AND r.namespace = ? AND r.name = ? AND r.live IS NULL AND r.purge_at > ? "
	"AND r.uid = ? FOR UPDATE",
	"susstb", RESOURCE_OUT "b"
};
static const struct db_query q_count_deletion = { "SELECT COUNT(*) FROM resources r WHERE " OF_DELETION, "bus", "u" };
static const struct db_query q_log_recovered = {
	"INSERT INTO changes " CHANGE_COLUMNS " SELECT ?, ?, ?, 'recovered', r.tenant_id, r.id, r.uid, r.type_id, "
	"r.namespace, r.name, r.revision, NULL, r.etag FROM resources r WHERE " OF_DELETION,
	"btsbus", ""
};
static const struct db_query q_retire_forwards = {
	"DELETE f FROM resources r JOIN forwards f ON f.tenant_id = r.tenant_id AND f.type_id = r.type_id AND "
	"f.namespace = r.namespace AND f.name = r.name WHERE " OF_DELETION,
	"bus", ""
};
static const struct db_query q_recover = {
	"UPDATE resources r SET r.live = 1, r.deleted_at = NULL, r.purge_at = NULL, r.deletion = NULL WHERE " OF_DELETION,
	"bus", ""
};

static enum outcome fail_locked(struct registry *registry, const struct resource *resource, const char *what)
{
	return registry_fail(registry, OUTCOME_LOCKED, "%s is locked: set metadata.locked to false before you delete %.*s",
		what, STR_ARG(resource->name));
}

static enum outcome delete_content(struct registry *registry, const struct resource *space, uint64_t *n)
{
	struct db_rows rows;
	struct db_value tenant = db_u(space->tenant_id), name = db_s(space->name);
	enum db_result result = db_run(registry->db, registry->pool, &q_space_content, DB_IN(tenant, name), &rows);

	if (result != DB_OK)
		return registry_db_failed(result);
	*n = db_at(&rows, 0, 0)->u;
	if (db_at(&rows, 0, 1)->u > 0)
		return fail_locked(registry, space, "a resource in the namespace");
	struct db_call calls[] = {
		{ .query = &q_log_space,
			.in = DB_IN(db_uuid(&registry->request_id), db_t(registry->now_us), db_s(registry->actor), tenant,
				name) },
		{ .query = &q_delete_space,
			.in = DB_IN(tenant, name, db_t(space->deleted_us), db_t(space->purge_us),
				db_uuid(&registry->request_id)) },
	};
	result = db_run_batch(registry->db, registry->pool, calls, COUNT_OF(calls));
	return result == DB_OK ? OUTCOME_OK : registry_db_failed(result);
}

static enum outcome mark_deleted(struct registry *registry, const struct resource *resource, uint64_t with_it)
{
	struct db_call calls[] = {
		{ .query = &q_delete,
			.in = DB_IN(db_t(resource->deleted_us), db_t(resource->purge_us), db_uuid(&registry->request_id),
				db_u(resource->id)) },
		change_of_resource(registry, "deleted", resource, resource->etag, NULL),
		count_down_call(registry, resource->tenant_id, 1 + with_it),
	};
	enum db_result result = db_run_batch(registry->db, registry->pool, calls, COUNT_OF(calls));

	return result == DB_OK ? OUTCOME_NO_CONTENT : registry_db_failed(result);
}

enum outcome resource_delete(struct registry *registry, const struct address *address, struct guard guard,
	struct resource *resource)
{
	struct held_address held;
	uint64_t with_it = 0;
	enum outcome outcome = lock_address(registry, address, &held, resource);

	if (outcome == OUTCOME_NO_CONTENT)
		return refuse_missing(registry, address, resource);
	if (outcome == OUTCOME_OK)
		outcome = guard_check(guard, resource->etag);
	if (outcome != OUTCOME_OK)
		return outcome;
	if (resource->live == RESOURCE_KEPT)
		return registry_fail(registry, OUTCOME_CONFLICT,
			"the namespace \"default\" belongs to its tenant and goes only with it");
	if (resource->locked)
		return fail_locked(registry, resource, "the resource");
	resource->deleted_us = registry->now_us;
	resource->purge_us = registry->now_us + retention_us(registry);
	if (resource->type == type_namespaces(registry))
		outcome = delete_content(registry, resource, &with_it);
	return outcome == OUTCOME_OK ? mark_deleted(registry, resource, with_it) : outcome;
}

// A deleted resource, and the parameters that select what went with it.
struct deletion {
	struct resource resource;
	struct db_value of[3]; // OF_DELETION
	uint64_t n;
};

static enum outcome find_deleted(struct registry *registry, const struct address *address, const struct uuid *uid,
	struct held_tenant *held, struct deletion *deletion)
{
	struct db_value in[] = { db_s(address->tenant), db_u(address->type->id), db_s(address->space),
		db_s(address->name), db_t(registry->now_us), uid != NULL ? db_uuid(uid) : db_null('b') };
	struct db_call calls[3] = {
		hold_tenant_call(registry, address->tenant),
		hold_space_call(registry, address->tenant, address->space),
	};
	size_t n = address->type->namespaced ? 3 : 2;
	struct db_call *own = &calls[n - 1];
	*own = (struct db_call){ .query = uid != NULL ? &q_deleted_uid : &q_deleted_last, .in = in };
	enum outcome outcome = take_locks(registry, &address->tenant, 1, calls, n);

	if (outcome == OUTCOME_OK)
		outcome = held_tenant(registry, address->tenant, &calls[0], held);
	if (outcome != OUTCOME_OK)
		return outcome;
	if (own->rows.n == 0)
		return registry_fail(registry, OUTCOME_NOT_FOUND,
			"nothing deleted can be recovered there; a list with deleted=true shows what can");
	if (n == 3 && calls[1].rows.n == 0)
		return registry_fail(registry, OUTCOME_CONFLICT, "its namespace \"%.*s\" is gone: recover or make that first",
			STR_ARG(address->space));
	resource_from_row(registry, &deletion->resource, &own->rows, 0, 0);
	deletion->of[0] = *db_at(&own->rows, 0, RESOURCE_N_COLUMNS);
	deletion->of[1] = db_u(deletion->resource.id);
	deletion->of[2] = db_s(address->type == type_namespaces(registry) ? address->name : STR("/"));
	return OUTCOME_OK;
}

static enum outcome count_deletion(struct registry *registry, struct deletion *deletion)
{
	struct db_rows rows;
	enum db_result result = db_run(registry->db, registry->pool, &q_count_deletion, deletion->of, &rows);

	if (result != DB_OK)
		return registry_db_failed(result);
	deletion->n = db_at(&rows, 0, 0)->u;
	return OUTCOME_OK;
}

static enum outcome bring_back(struct registry *registry, const struct held_tenant *held, struct deletion *deletion)
{
	const struct db_value *of = deletion->of;
	struct db_call calls[] = {
		{ .query = &q_log_recovered,
			.in = DB_IN(db_uuid(&registry->request_id), db_t(registry->now_us), db_s(registry->actor), of[0],
				of[1], of[2]) },
		{ .query = &q_retire_forwards, .in = of },
		count_up_call(registry, held, deletion->n),
		{ .query = &q_recover, .in = of },
	};
	enum db_result result = db_run_batch(registry->db, registry->pool, calls, COUNT_OF(calls));

	if (result != DB_OK)
		return registry_db_failed(result);
	if (calls[3].result == DB_DUPLICATE)
		return registry_fail(registry, OUTCOME_NAME_TAKEN,
			"another resource has that name by now: delete or move it, then recover");
	return calls[2].rows.affected == 1 ? OUTCOME_NO_CONTENT : fail_quota(registry, held);
}

enum outcome resource_recover(struct registry *registry, const struct address *address, const struct uuid *uid,
	struct guard guard)
{
	struct held_tenant held;
	struct deletion deletion = { 0 };
	enum outcome outcome = find_deleted(registry, address, uid, &held, &deletion);

	if (outcome == OUTCOME_OK)
		outcome = guard_check(guard, deletion.resource.etag);
	if (outcome == OUTCOME_OK)
		outcome = count_deletion(registry, &deletion);
	return outcome == OUTCOME_OK ? bring_back(registry, &held, &deletion) : outcome;
}

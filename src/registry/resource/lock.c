// SPDX-License-Identifier: Apache-2.0
// The locks of a writer: tenant and namespace in share mode, the resource's row exclusively. The resource is found by its
// address, or by its uid or a lookup key.
#include "base/base.h"

#include "base/pool.h"
#include "registry/cache/resource_cache.h"
#include "registry/resource/internal.h"
#include "registry/type/type.h"
#include "sql/resources.h"

// ---- the calls, and what their rows mean

struct db_call tenant_lock_call(struct registry *registry, struct str name)
{
	const struct sql_resource_lock_tenant in = { .tenant = name };

	assert(db_txn_writes(registry->db));
	return sql_resource_lock_tenant_call(registry->pool, SQL_TENANT_LOCK_SHARED, lock_wait(registry), &in);
}

enum outcome locked_tenant_of(struct registry *registry, struct str name, const struct db_call *call, struct locked_tenant *owner)
{
	const struct db_rows *rows = &call->rows;

	if (rows->n == 0)
		return registry_fail_no_tenant(registry, name);
	const struct sql_resource_lock_tenant_row *row = sql_resource_lock_tenant_row(rows, 0);

	*owner = (struct locked_tenant){
		.id = row->id,
		.has_limit = !row->max_resources_is_null,
		.max_resources = row->max_resources,
		.etag_required = row->etag_required != 0,
		.ends = row->ends != 0,
	};
	if (row->deleted_at_is_null)
		return OUTCOME_OK;
	if (row->purge_at <= registry->now_us)
		return registry_fail_no_tenant(registry, name);
	return registry_fail_deleted(registry, row->purge_at,
		"tenant \"%.*s\" was deleted; recover it before you change what is in it",
		STR_ARG(name));
}

struct db_call resource_space_lock_call(struct registry *registry, struct str tenant, struct str space)
{
	const struct sql_resource_lock_namespace in = {
		.tenant = tenant,
		.type_id = type_namespaces(registry)->id,
		.name = space,
	};

	assert(db_txn_writes(registry->db));
	return sql_resource_lock_namespace_call(registry->pool, lock_wait(registry), &in);
}

struct db_call resource_lock_call(struct registry *registry, const struct address *address)
{
	assert(db_txn_writes(registry->db) && address->type != NULL);
	const struct sql_resource_lock in = {
		.tenant = address->tenant,
		.type_id = address->type->id,
		.namespace = address->space,
		.name = address->name,
	};

	return sql_resource_lock_call(registry->pool, lock_wait(registry), &in);
}

enum outcome resource_fail_no_space(struct registry *registry, struct str space)
{
	return registry_fail(registry, OUTCOME_NOT_FOUND,
		"there is no namespace \"%.*s\": make it first, by PUT of namespaces/%.*s", STR_ARG(space), STR_ARG(space));
}

static enum outcome fail_ends(struct registry *registry, const char *what, struct str name, const char *reason,
	const char *field)
{
	struct problem_cause *cause = POOL_NEW(registry->pool, struct problem_cause);

	registry_fail(registry, OUTCOME_FORBIDDEN,
		"unable to create new content in %s %.*s because it is being terminated", what, STR_ARG(name));
	*cause = (struct problem_cause){ reason, str_c(field),
		str_printf(registry->pool, "%s %.*s is being terminated", what, STR_ARG(name)) };
	registry->problem->causes = cause;
	registry->problem->n_causes = 1;
	return OUTCOME_FORBIDDEN;
}

enum outcome resource_fail_space_ends(struct registry *registry, struct str space)
{
	return fail_ends(registry, "namespace", space, "NamespaceTerminating", "metadata.namespace");
}

enum outcome tenant_fail_ending(struct registry *registry, struct str tenant)
{
	return fail_ends(registry, "tenant", tenant, "TenantTerminating", "metadata.tenant");
}

bool resource_space_is_ending(const struct db_call *call)
{
	return call->rows.n > 0 && !sql_resource_lock_namespace_row(&call->rows, 0)->doomed_at_is_null;
}

// ---- by its address

enum outcome resource_fail_missing(struct registry *registry, const struct address *address, struct resource *resource)
{
	enum outcome outcome = resource_elsewhere(registry, address, resource);

	if (outcome != OUTCOME_OK)
		return outcome;
	db_txn_again(registry->db); // it was created between the two statements
	return OUTCOME_UNAVAILABLE;
}

enum outcome resource_lock_address(struct registry *registry, const struct address *address, struct locked_address *place,
	struct resource *resource)
{
	assert(db_txn_writes(registry->db) && address->type != NULL);
	struct db_call calls[3] = {
		tenant_lock_call(registry, address->tenant),
		resource_space_lock_call(registry, address->tenant, address->space),
	};
	size_t n = address->type->namespaced ? 3 : 2;
	struct db_call *own = &calls[n - 1];
	*own = resource_lock_call(registry, address);
	enum outcome outcome = registry_take_locks(registry, &address->tenant, 1, calls, n);

	*resource = (struct resource){ .tenant = address->tenant };
	if (outcome != OUTCOME_OK)
		return outcome;
	registry_concerns(registry, address->tenant);
	outcome = locked_tenant_of(registry, address->tenant, &calls[0], &place->tenant);
	if (outcome != OUTCOME_OK)
		return outcome;
	place->space_missing = n == 3 && calls[1].rows.n == 0;
	place->space_ends = n == 3 && resource_space_is_ending(&calls[1]);
	if (own->rows.n == 0)
		return OUTCOME_NO_CONTENT;
	const struct sql_resource_lock_row *row = sql_resource_lock_row(&own->rows, 0);

	*resource = resource_of_columns(registry, &row->r);
	resource->tenant = address->tenant;
	registry_stamp_after(registry, row->last_change_at);
	resource_cache_remove(registry->store->resource_cache, resource->id); // the cached copy is about to become stale
	return OUTCOME_OK;
}

// ---- by uid or lookup key

// registry_take_locks() recognizes a large move by the names of its tenants, and the resource's tenant may not be known yet.
static enum outcome name_tenant(struct registry *registry, const struct ident *ident, struct str *tenant)
{
	struct resource resource;

	*tenant = ident->tenant;
	if (tenant->p != NULL || registry->lock_policy != LOCK_AFTER_CONFLICT)
		return OUTCOME_OK;
	enum outcome outcome = resource_find(registry, ident, &resource);
	*tenant = outcome == OUTCOME_OK ? resource.tenant : STR_NONE;
	return outcome;
}

static bool still_has_key(struct registry *registry, const struct ident *ident, const struct resource *resource)
{
	struct relations relations = { 0 };

	ident->type->rules->relate(registry->pool, resource_body_doc(registry->pool, resource), &resource->uid,
		&relations);
	for (size_t i = 0; i < relations.n_keys; i++) {
		if (strcmp(relations.keys[i].kind, ident->kind) == 0)
			return str_eq(relations.keys[i].value, ident->value);
	}
	return false;
}

// Is it still the resource that was asked for? Between the look-up and the locks it may have been moved or renamed.
static bool still_meant(struct registry *registry, const struct ident *ident, const struct locked_tenant *owner,
	const struct resource *resource)
{
	return resource->tenant_id == owner->id && (ident->kind == NULL || still_has_key(registry, ident, resource));
}

enum outcome resource_lock_ident_with(struct registry *registry, const struct ident *ident, struct locked_tenant *owner,
	struct resource *resource, struct db_call *more)
{
	assert(db_txn_writes(registry->db) && ident->type != NULL);
	enum sql_resource_ident by = ident->kind == NULL ? SQL_RESOURCE_IDENT_UID : SQL_RESOURCE_IDENT_KEY;
	const struct sql_resource_lock_own_tenant own_tenant = {
		.type_id = ident->type->id,
		.uid = uuid_bytes(&ident->uid),
		.key_kind = str_c(ident->kind),
		.key_value = ident->value,
	};
	const struct sql_resource_lock_own own = {
		.type_id = own_tenant.type_id,
		.uid = own_tenant.uid,
		.key_kind = own_tenant.key_kind,
		.key_value = own_tenant.key_value,
	};
	struct db_call calls[3] = {
		sql_resource_lock_own_tenant_call(registry->pool, by, lock_wait(registry), &own_tenant),
		sql_resource_lock_own_call(registry->pool, by, lock_wait(registry), &own),
	};
	struct str tenant;
	enum outcome outcome = name_tenant(registry, ident, &tenant);
	if (more != NULL)
		calls[2] = *more;
	if (outcome == OUTCOME_OK)
		outcome = registry_take_locks(registry, &tenant, tenant.p != NULL ? 1 : 0, calls, more != NULL ? 3 : 2);
	if (outcome != OUTCOME_OK)
		return outcome;
	if (more != NULL)
		*more = calls[2];
	if (calls[0].rows.n == 0 || calls[1].rows.n == 0)
		return ident_fail_not_found(registry, ident);
	const struct sql_resource_lock_own_tenant_row *locked = sql_resource_lock_own_tenant_row(&calls[0].rows, 0);
	const struct sql_resource_lock_own_row *row = sql_resource_lock_own_row(&calls[1].rows, 0);

	if (!locked->deleted_at_is_null)
		return ident_fail_not_found(registry, ident);
	*owner = (struct locked_tenant){
		.id = locked->id,
		.etag_required = locked->etag_required != 0,
	};
	*resource = resource_of_columns(registry, &row->r);
	resource->tenant = locked->name;
	registry_stamp_after(registry, row->last_change_at);
	if (!still_meant(registry, ident, owner, resource)) {
		db_txn_again(registry->db);
		return OUTCOME_UNAVAILABLE;
	}
	if (ident->tenant.p != NULL && !str_eq(ident->tenant, resource->tenant))
		return ident_fail_not_found(registry, ident);
	registry_concerns(registry, resource->tenant);
	return OUTCOME_OK;
}

enum outcome resource_lock_ident(struct registry *registry, const struct ident *ident, struct locked_tenant *owner,
	struct resource *resource)
{
	return resource_lock_ident_with(registry, ident, owner, resource, NULL);
}

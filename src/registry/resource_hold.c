// SPDX-License-Identifier: Apache-2.0
// What a writer locks: the tenant and the namespace shared, the resource's row exclusive, found by its address or by what
// it is.
#include "base/base.h"

#include "base/pool.h"
#include "registry/internal.h"
#include "registry/recall.h"

#define THIS_TENANT "(SELECT id FROM tenants WHERE name = ? AND live = 1)"

static const struct db_query q_hold_tenant[2] =
	LOCKING("SELECT t.id, t.deleted_at, t.purge_at, i.max_resources, t.etag_required FROM tenants t "
		"JOIN tiers i ON i.id = t.tier_id WHERE t.name = ? AND t.live = 1",
		"LOCK IN SHARE MODE", "s", "uttuu");
// live IN (1, 2), not IS NOT NULL: that would be a range, whose end is found by locking the row behind it, and writers
// of neighbours, or of the first row behind the namespaces, would be in each other's way.
static const struct db_query q_hold_space[2] =
	LOCKING("SELECT r.id, r.doomed_at FROM resources r WHERE r.tenant_id = " THIS_TENANT
		" AND r.type_id = ? AND r.namespace = '' AND r.name = ? AND r.live IN (1, 2)",
		"LOCK IN SHARE MODE", "sus", "ut");
static const struct db_query q_lock[2] =
	LOCKING("SELECT " RESOURCE_COLUMNS ", " LAST_TIME " FROM resources r WHERE r.tenant_id = " THIS_TENANT
		" AND r.type_id = ? AND r.namespace = ? AND r.name = ? AND r.live IN (1, 2)",
		"FOR UPDATE", "suss", RESOURCE_OUT "t");
// The same by what the resource is, whoever's it is. A subquery takes no lock: what it said is looked at again behind.
#define OWN_HOLD(own) \
	LOCKING("SELECT t.id, t.deleted_at, t.purge_at, i.max_resources, t.etag_required, t.name FROM tenants t " \
		"JOIN tiers i ON i.id = t.tier_id WHERE t.id = (SELECT r.tenant_id FROM resources r WHERE " own \
		" AND r.live = 1)", \
		"LOCK IN SHARE MODE", OWN_IN, "uttuus")
#define OWN_LOCK(own) \
	LOCKING("SELECT " RESOURCE_COLUMNS ", " LAST_TIME " FROM resources r WHERE " own " AND r.live = 1", "FOR UPDATE", OWN_IN, \
		RESOURCE_OUT "t")
#define BY_UID "r.uid = ? AND r.type_id = ?"
#define BY_ALIAS \
	"r.id = (SELECT a.resource_id FROM resource_aliases a WHERE a.type_id = ? AND a.kind = ? AND a.value = ? AND a.live = 1)"
#define OWN_IN "bu"
static const struct db_query q_hold_of_uid[2] = OWN_HOLD(BY_UID);
static const struct db_query q_lock_uid[2] = OWN_LOCK(BY_UID);
#undef OWN_IN
#define OWN_IN "uss"
static const struct db_query q_hold_of_alias[2] = OWN_HOLD(BY_ALIAS);
static const struct db_query q_lock_alias[2] = OWN_LOCK(BY_ALIAS);
#undef OWN_IN

// ---- the calls, and what their rows mean

struct db_call hold_tenant_call(struct registry *registry, struct str name)
{
	return (struct db_call){ .query = locking(registry, q_hold_tenant), .in = CALL_VALUES(registry->pool, db_s(name)) };
}

static void held_from_row(struct held_tenant *held, const struct db_rows *rows)
{
	held->id = db_at(rows, 0, 0)->u;
	held->has_limit = !db_at(rows, 0, 3)->null;
	held->max_resources = held->has_limit ? db_at(rows, 0, 3)->u : 0;
	held->etag_required = db_at(rows, 0, 4)->u != 0;
}

enum outcome held_tenant(struct registry *registry, struct str name, const struct db_call *call, struct held_tenant *held)
{
	const struct db_rows *rows = &call->rows;

	if (rows->n == 0)
		return fail_no_tenant(registry, name);
	held_from_row(held, rows);
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

enum outcome fail_no_space(struct registry *registry, struct str space)
{
	return registry_fail(registry, OUTCOME_NOT_FOUND,
		"there is no namespace \"%.*s\": make it first, by PUT of namespaces/%.*s", STR_ARG(space), STR_ARG(space));
}

enum outcome fail_space_ends(struct registry *registry, struct str space)
{
	struct problem_cause *cause = POOL_NEW(registry->pool, struct problem_cause);

	registry_fail(registry, OUTCOME_FORBIDDEN,
		"unable to create new content in namespace %.*s because it is being terminated", STR_ARG(space));
	*cause = (struct problem_cause){ "NamespaceTerminating", STR("metadata.namespace"),
		str_printf(registry->pool, "namespace %.*s is being terminated", STR_ARG(space)) };
	registry->problem.causes = cause;
	registry->problem.n_causes = 1;
	return OUTCOME_FORBIDDEN;
}

bool space_ends(const struct db_call *call)
{
	return call->rows.n > 0 && !db_at(&call->rows, 0, 1)->null;
}

// The row that a locking read yields, with the time of its last change behind it.
static void take_row(struct registry *registry, struct resource *resource, const struct db_rows *rows)
{
	resource_from_row(registry, resource, rows, 0, 0);
	registry_stamp_after(registry, db_at(rows, 0, RESOURCE_N_COLUMNS)->i);
}

// ---- by its address

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
	registry_concerns(registry, address->tenant);
	outcome = held_tenant(registry, address->tenant, &calls[0], &held->tenant);
	if (outcome != OUTCOME_OK)
		return outcome;
	held->space_missing = n == 3 && calls[1].rows.n == 0;
	held->space_ends = n == 3 && space_ends(&calls[1]);
	if (own->rows.n == 0)
		return OUTCOME_NO_CONTENT;
	take_row(registry, resource, &own->rows);
	resource->tenant = address->tenant;
	recall_forget(registry->recall, resource->id); // it is about to change
	return OUTCOME_OK;
}

// ---- by what it is

// A large move is told by the names of its tenants; which one has it may not be known yet.
static enum outcome name_tenant(struct registry *registry, const struct ident *ident, struct str *tenant)
{
	struct resource resource;

	*tenant = ident->tenant;
	if (tenant->p != NULL || registry->manner != LOCK_AFTER_CONFLICT)
		return OUTCOME_OK;
	enum outcome outcome = resource_find(registry, ident, &resource);
	*tenant = outcome == OUTCOME_OK ? resource.tenant : STR_NONE;
	return outcome;
}

static bool still_has_alias(struct registry *registry, const struct ident *ident, const struct resource *resource)
{
	struct relations relations = { 0 };

	ident->type->rules->relate(registry->pool, stored_document(registry->pool, resource->body), &resource->uid,
		&relations);
	for (size_t i = 0; i < relations.n_aliases; i++) {
		if (strcmp(relations.aliases[i].kind, ident->kind) == 0)
			return str_eq(relations.aliases[i].value, ident->value);
	}
	return false;
}

// Between the look-up and the locks it may have been moved or renamed.
static bool still_meant(struct registry *registry, const struct ident *ident, const struct held_tenant *held,
	const struct resource *resource)
{
	return resource->tenant_id == held->id && (ident->kind == NULL || still_has_alias(registry, ident, resource));
}

enum outcome lock_ident(struct registry *registry, const struct ident *ident, struct held_tenant *held,
	struct resource *resource)
{
	bool by_uid = ident->kind == NULL;
	struct db_value type = db_u(ident->type->id);
	const struct db_value *in = by_uid ? DB_IN(db_uuid(&ident->uid), type) :
					     DB_IN(type, db_s(str_c(ident->kind)), db_s(ident->value));
	struct db_call calls[] = {
		{ .query = locking(registry, by_uid ? q_hold_of_uid : q_hold_of_alias), .in = in },
		{ .query = locking(registry, by_uid ? q_lock_uid : q_lock_alias), .in = in },
	};
	struct str tenant;
	enum outcome outcome = name_tenant(registry, ident, &tenant);

	if (outcome == OUTCOME_OK)
		outcome = take_locks(registry, &tenant, tenant.p != NULL ? 1 : 0, calls, COUNT_OF(calls));
	if (outcome != OUTCOME_OK)
		return outcome;
	if (calls[0].rows.n == 0 || calls[1].rows.n == 0 || !db_at(&calls[0].rows, 0, 1)->null)
		return fail_not_there(registry, ident);
	held_from_row(held, &calls[0].rows);
	take_row(registry, resource, &calls[1].rows);
	resource->tenant = db_at(&calls[0].rows, 0, 5)->s;
	if (!still_meant(registry, ident, held, resource)) {
		db_txn_again(registry->db);
		return OUTCOME_UNAVAILABLE;
	}
	if (ident->tenant.p != NULL && !str_eq(ident->tenant, resource->tenant))
		return fail_not_there(registry, ident);
	registry_concerns(registry, resource->tenant);
	return OUTCOME_OK;
}

// SPDX-License-Identifier: Apache-2.0
// Who may take a request back.
#include "base/base.h"

#include "registry/undo/internal.h"

#include "base/pool.h"
#include "registry/core/failure.h"
#include "registry/resource/resource.h"
#include "registry/tenant/tenant.h"
#include "registry/type/internal.h"
#include "registry/type/policy.h"
#include "registry/type/rules.h"
#include "registry/type/stored_type.h"
#include "repr/json/doc.h"

// Finds out whether the request changed the policy for types alone, which the tenant's own admin sets; everything else about a
// tenant is set by operators. If the log names other fields, too, the two versions say it: the first policy of a tenant is a
// change of all of spec, and `kubectl apply` adds an annotation. OUTCOME_OK, or that of a failed statement.
static enum outcome find_policy(struct undo *undo)
{
	struct registry *registry = undo->registry;
	struct db_rows rows;

	if (undo->rows.n != 1 || !undo_row(undo, 0)->resource_id_is_null || !str_eq(undo_row(undo, 0)->verb, STR("updated")))
		return OUTCOME_OK;
	undo->of_policy = str_eq(undo_row(undo, 0)->fields, STR("[\"/spec/multiTenancyCRDPolicy\"]"));
	if (undo->of_policy)
		return OUTCOME_OK;
	const struct sql_undo_former_tenant in = { .change_id = undo_row(undo, 0)->id };
	enum db_result result = sql_undo_former_tenant_run(registry->db, registry->pool, &in, &rows);
	if (result != DB_OK)
		return registry_db_failed(result);
	if (rows.n == 0) // it is not kept, so nothing is taken back
		return OUTCOME_OK;
	struct tenant former = undo->tenant;
	former.tier = sql_undo_former_tenant_row(&rows, 0)->tier;
	former.metadata = sql_undo_former_tenant_row(&rows, 0)->metadata;
	former.object = sql_undo_former_tenant_row(&rows, 0)->object;
	former.etag_required = sql_undo_former_tenant_row(&rows, 0)->etag_required != 0;
	undo->of_policy = type_policy_is_all_that_differs(registry->pool, &former, &undo->tenant);
	return OUTCOME_OK;
}

// Inventories, aggregates and allocations of providers are changed by operators alone: a tenant does not even see them.
static bool is_about_providers(const struct undo *undo)
{
	for (size_t i = 0; i < undo->rows.n; i++)
		if (undo_beside(undo, undo_row(undo, i)) != BESIDE_NONE)
			return true;
	return false;
}

enum outcome undo_check_caller(struct undo *undo, enum kind kind)
{
	const struct undo_order *order = undo->order;
	enum outcome outcome = find_policy(undo);

	if (outcome != OUTCOME_OK)
		return outcome;
	if (order->may_operate || (kind != KIND_MOVED && !undo->plan->of_tenant && !is_about_providers(undo)))
		return OUTCOME_OK;
	if (order->may_administer && undo->of_policy)
		return OUTCOME_OK;
	return registry_fail(undo->registry, OUTCOME_FORBIDDEN, "only an operator may change this back");
}

static enum undo_call call_of(const struct undo *undo, enum kind kind, const struct sql_undo_rows_row *row)
{
	static const enum undo_call calls[] = {
		[KIND_UPDATED] = UNDO_CALL_WRITE,
		[KIND_CREATED] = UNDO_CALL_DELETE,
		[KIND_DELETED] = UNDO_CALL_RECOVER,
		[KIND_RECOVERED] = UNDO_CALL_DELETE,
		[KIND_MOVED] = UNDO_CALL_MOVE,
	};
	// A tenant has no traits: its metadata may have an entry of that name.
	if (kind == KIND_UPDATED && !row->resource_id_is_null && str_eq(row->fields, STR("[\"/metadata/traits\"]")))
		return UNDO_CALL_TRAITS;
	if (kind == KIND_UPDATED && undo_is_of_placement(undo))
		return undo_is_reshape(undo) ? UNDO_CALL_RESHAPE : UNDO_CALL_ALLOCATIONS;
	if (kind == KIND_UPDATED && undo_beside(undo, row) == BESIDE_INVENTORIES)
		return UNDO_CALL_INVENTORIES;
	if (kind == KIND_UPDATED && undo_beside(undo, row) == BESIDE_AGGREGATES)
		return UNDO_CALL_AGGREGATES;
	return calls[kind];
}

static enum undo_place place_of(struct undo *undo, const struct sql_undo_rows_row *row)
{
	if (row->resource_id_is_null)
		return undo->of_policy ? UNDO_PLACE_POLICY : UNDO_PLACE_TENANT;
	if (row->type_id == type_namespaces(undo->registry)->id)
		return UNDO_PLACE_NAMESPACE;
	return row->namespace.n > 0 ? UNDO_PLACE_NAMESPACED : UNDO_PLACE_AT_LARGE;
}

// Did something else that the request changed take this along? A namespace is deleted, recovered and moved with its content, and
// a tenant is deleted with its namespace "default".
static bool is_taken_along(struct undo *undo, enum kind kind, const struct sql_undo_rows_row *row)
{
	if (kind == KIND_UPDATED || row->resource_id_is_null)
		return false;
	if (undo->plan->of_tenant || undo_goes_along(undo, kind, row))
		return true;
	if (place_of(undo, row) != UNDO_PLACE_NAMESPACED)
		return false;
	for (size_t i = 0; i < undo->rows.n; i++) {
		const struct sql_undo_rows_row *other = undo_row(undo, i);
		if (place_of(undo, other) == UNDO_PLACE_NAMESPACE && str_eq(other->name, row->namespace))
			return true;
	}
	return false;
}

// NULL: a change of the tenant.
static const struct type *type_of(struct undo *undo, const struct sql_undo_rows_row *row)
{
	return row->resource_id_is_null ? NULL : type_of_resource(undo->registry, 0, row->type_id);
}

// Core types, others, and each kind of those that are for admins: the answer to undo_may_fn is the same for all types of one
// class.
enum { CLASSES = 4 };
static size_t class_of(const struct type *type)
{
	size_t for_admins = type != NULL && type->rules != NULL ? type->rules->for_admins : FOR_ADMINS_NOTHING;

	return for_admins > 0 ? 1 + for_admins : type != NULL && type->group.n > 0;
}

// Who may move all of a tenant may take that back, too. Such a move is recorded without a resource.
static bool may_move_all(struct undo *undo)
{
	struct str name;

	return undo->moved_all &&
	       undo->order->may(undo->order->may_arg, UNDO_CALL_MOVE, UNDO_PLACE_ALL, NULL, &name) == OUTCOME_OK;
}

// Asks for the right to a call. What this endpoint does not offer becomes a blocker of subject. OUTCOME_OK, _FORBIDDEN.
static enum outcome ask(struct undo *undo, enum undo_call call, enum undo_place place, const struct type *type, struct str subject)
{
	struct str name;
	enum outcome outcome = undo->order->may(undo->order->may_arg, call, place, type, &name);

	if (outcome == OUTCOME_FORBIDDEN)
		return registry_fail(undo->registry, OUTCOME_FORBIDDEN,
			"the reverse change is that of %.*s, which your role does not permit", STR_ARG(name));
	if (outcome != OUTCOME_OK)
		undo_block(undo, subject, "not-offered",
			str_printf(undo->registry->pool,
				"the reverse change is that of %.*s, which this endpoint does not offer", STR_ARG(name)));
	return OUTCOME_OK;
}

enum outcome undo_check_rights_to_move(struct undo *undo, const bool places[UNDO_PLACE__N])
{
	enum outcome outcome = OUTCOME_OK;

	if (may_move_all(undo))
		return OUTCOME_OK;
	for (enum undo_place place = 0; outcome == OUTCOME_OK && place < UNDO_PLACE__N; place++)
		if (places[place])
			outcome = ask(undo, UNDO_CALL_MOVE, place, NULL, STR(""));
	return outcome;
}

enum outcome undo_check_rights_to(struct undo *undo, enum undo_call call, const struct resource *resource)
{
	enum undo_place place = resource->type == type_namespaces(undo->registry) ? UNDO_PLACE_NAMESPACE :
				resource->space.n > 0			? UNDO_PLACE_NAMESPACED :
										  UNDO_PLACE_AT_LARGE;
	struct str path = resource_path(undo->registry->pool, resource->type, resource->space, resource->name);

	return ask(undo, call, place, resource->type, path);
}

// Each call is asked for once for each class of types.
enum outcome undo_check_rights(struct undo *undo, enum kind kind)
{
	bool checked[UNDO_CALL__N][UNDO_PLACE__N][CLASSES] = { 0 };

	if (kind == KIND_MOVED && may_move_all(undo))
		return OUTCOME_OK;
	for (size_t i = 0; i < undo->rows.n; i++) {
		const struct sql_undo_rows_row *row = undo_row(undo, i);
		enum undo_call call = call_of(undo, kind, row);
		enum undo_place place = place_of(undo, row);
		const struct type *type = type_of(undo, row);
		bool *done = &checked[call][place][class_of(type)];

		if (*done || is_taken_along(undo, kind, row))
			continue;
		*done = true;
		enum outcome outcome = ask(undo, call, place, type, undo_path(undo, row));
		if (outcome != OUTCOME_OK)
			return outcome;
	}
	return OUTCOME_OK;
}

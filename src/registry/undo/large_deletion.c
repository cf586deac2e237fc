// SPDX-License-Identifier: Apache-2.0
// How the deletion of a large namespace or tree is taken back, and how its recovery is. The one resource whose deletion or
// recovery took all others along is recovered or deleted again, by the functions that do so elsewhere; before, all of what it
// took is looked at together.
#include "base/base.h"

#include "registry/undo/internal.h"

#include "base/pool.h"
#include "registry/core/failure.h"
#include "registry/resource/internal.h"
#include "registry/resource/resource.h"
#include "registry/tenant/internal.h"
#include "registry/tenant/tenant.h"
#include "registry/type/internal.h"
#include "registry/type/stored_type.h"

static bool recovers(const struct large *large)
{
	return large->undo->large_kind == KIND_DELETED;
}

// ---- what the request did

static enum outcome read_top(struct large *large)
{
	struct undo *undo = large->undo;
	const struct sql_undo_top in = {
		.request_id = uuid_bytes(&undo->order->request),
		.namespaces = type_namespaces(undo->registry)->id,
	};
	struct db_rows rows;
	enum db_result result = sql_undo_top_run(undo->registry->db, undo->registry->pool,
		recovers(large) ? SQL_UNDO_WITH_REST_DELETED : SQL_UNDO_WITH_REST_RECOVERED, &in, &rows);

	if (result != DB_OK)
		return registry_db_failed(result);
	large->has_top = rows.n > 0;
	if (!large->has_top)
		return OUTCOME_OK;
	large->top = resource_of_columns(undo->registry, &sql_undo_top_row(&rows, 0)->r);
	large->top.tenant = undo->order->tenant;
	// Another tenant may have it by now: then it is not shown.
	large->has_top = large->top.tenant_id == large->did->owner;
	return OUTCOME_OK;
}

static enum outcome check_rights(struct large *large)
{
	if (!large->has_top) // there will be a blocker
		return OUTCOME_OK;
	return undo_check_rights_to(large->undo, recovers(large) ? UNDO_CALL_RECOVER : UNDO_CALL_DELETE, &large->top);
}

static struct str path_of(const struct large *large, const struct resource *resource)
{
	return resource_path(large->undo->registry->pool, resource->type, resource->space, resource->name);
}

static void add_item(struct large *large, const struct resource *resource)
{
	struct undo_plan *plan = large->undo->plan;
	struct undo_item *item = &plan->items[plan->n_items++];

	*item = (struct undo_item){
		.action = plan->action,
		.path = path_of(large, resource),
		.uid = resource->uid,
		.resource = *resource,
	};
	item->resource.tenant = large->undo->order->tenant;
}

// What took the rest along, and the first of these.
static enum outcome read_items(struct large *large)
{
	struct undo *undo = large->undo;
	const struct sql_undo_shown in = { .request_id = uuid_bytes(&undo->order->request), .limit = UNDO_SHOWN };
	struct db_rows rows;
	enum db_result result = sql_undo_shown_run(undo->registry->db, undo->registry->pool, &in, &rows);

	if (result != DB_OK)
		return registry_db_failed(result);
	undo->plan->items = POOL_ARRAY(undo->registry->pool, struct undo_item, UNDO_SHOWN);
	if (large->has_top)
		add_item(large, &large->top);
	for (size_t i = 0; i < rows.n && undo->plan->n_items < UNDO_SHOWN; i++) {
		const struct resource resource = resource_of_columns(undo->registry, &sql_undo_shown_row(&rows, i)->r);
		bool waits = recovers(large) && resource.live != RESOURCE_DELETED && resource.deletion_requested_us != 0;

		if (resource.tenant_id == large->did->owner && !waits && !(large->has_top && resource.id == large->top.id))
			add_item(large, &resource);
	}
	return OUTCOME_OK;
}

// ---- what is in the way

static enum outcome read_state(struct large *large)
{
	struct undo *undo = large->undo;
	const struct sql_undo_left in = { .request_id = uuid_bytes(&undo->order->request), .last = large->did->last };
	struct db_rows rows;
	enum db_result result = sql_undo_left_run(undo->registry->db, undo->registry->pool, &in, &rows);

	if (result != DB_OK)
		return registry_db_failed(result);
	large->changes = sql_undo_left_row(&rows, 0)->changes;
	large->state.n = sql_undo_left_row(&rows, 0)->unchanged;
	large->state.sums = &large->changes;
	large->state.n_sums = 1;
	return OUTCOME_OK;
}

// Did the deletion of large->top take along all that the request deleted? No: the request deleted several namespaces or trees.
static enum outcome is_of_top(struct large *large, bool *of_top)
{
	struct registry *registry = large->undo->registry;
	const struct sql_deletion_count in = { .of = resource_deletion(registry, &large->top, uuid_bytes(&large->undo->order->request)) };
	struct db_rows rows;
	enum db_result result = sql_deletion_count_run(registry->db, registry->pool, &in, &rows);

	if (result != DB_OK)
		return registry_db_failed(result);
	*of_top = sql_deletion_count_row(&rows, 0)->n == large->did->deleted;
	return OUTCOME_OK;
}

// All of what the request changed has to be as it left it, and one resource has to have taken all of the rest along. No request
// recovers more than one that is so large.
static enum outcome look_at_changes(struct large *large)
{
	size_t n = 0;
	bool of_top = large->has_top || large->did->updated > 0;
	enum outcome outcome = read_state(large);

	if (outcome == OUTCOME_OK && large->state.n < large->did->n)
		outcome = undo_note_changed(large, &n);
	if (outcome == OUTCOME_OK && n == 0 && recovers(large) && large->has_top && large->top.live == RESOURCE_DELETED)
		outcome = is_of_top(large, &of_top);
	if (outcome == OUTCOME_OK && n == 0 && !of_top)
		undo_block(large->undo, STR(""), "too-large",
			str_printf(large->undo->registry->pool, "the request changed more than %d resources one by one: change them back by the calls for that",
				UNDO_MAX));
	return outcome;
}

static enum outcome note_waiting(struct large *large)
{
	struct undo *undo = large->undo;
	const struct sql_undo_waiting in = { .request_id = uuid_bytes(&undo->order->request), .limit = MOVE_MAX_BLOCKERS + 1 };
	struct db_rows rows;

	if (large->did->updated == 0)
		return OUTCOME_OK;
	enum db_result result = sql_undo_waiting_run(undo->registry->db, undo->registry->pool, &in, &rows);
	if (result != DB_OK)
		return registry_db_failed(result);
	for (size_t i = 0; i < rows.n; i++) {
		const struct sql_undo_waiting_row *row = sql_undo_waiting_row(&rows, i);
		undo_block_waiting(undo,
			resource_path(undo->registry->pool, type_of_resource(undo->registry, 0, row->type_id), row->namespace, row->name));
	}
	return OUTCOME_OK;
}

static enum outcome note_obstacle(void *arg, struct str path, enum outcome outcome)
{
	return undo_block_by(arg, path, outcome);
}

static void look_at_tenant(struct undo *undo, uint64_t n)
{
	const struct tenant *tenant = &undo->tenant;
	const struct locked_tenant owner = { .has_limit = tenant->has_limit, .max_resources = tenant->max_resources };

	if (tenant_deletion_asked(tenant))
		(void)undo_block_by(undo, STR(""), tenant_fail_ending(undo->registry, tenant->name));
	if (tenant->has_limit && (tenant->resources > tenant->max_resources || n > tenant->max_resources - tenant->resources))
		(void)undo_block_by(undo, STR(""), resource_fail_quota(undo->registry, &owner, n));
}

static enum outcome look_at_deletion(struct large *large, bool locked)
{
	struct undo *undo = large->undo;
	struct registry *registry = undo->registry;
	enum outcome outcome = look_at_changes(large);

	UNUSED(locked);
	if (outcome == OUTCOME_OK)
		outcome = note_waiting(large);
	if (outcome != OUTCOME_OK || !large->has_top || large->top.live != RESOURCE_DELETED) // noted
		return outcome;
	if (large->top.purge_us <= registry->now_us)
		undo_block_purged(undo, path_of(large, &large->top));
	look_at_tenant(undo, large->did->deleted);
	const struct sql_deletion of = resource_deletion(registry, &large->top, uuid_bytes(&undo->order->request));
	return resource_recovery_look(registry, &of, MOVE_MAX_BLOCKERS + 1, (struct resource_obstacles){ note_obstacle, undo });
}

// Notes what was added since, and would be deleted with it.
static enum outcome note_added(struct large *large)
{
	struct undo *undo = large->undo;
	bool is_space = large->top.type == type_namespaces(undo->registry);
	const struct sql_undo_added in = {
		.request_id = uuid_bytes(&undo->order->request),
		.content = content_of(undo->registry, &large->top),
		.first = large->did->first,
		.last = large->did->last,
		.limit = MOVE_MAX_BLOCKERS + 1,
	};
	struct db_rows rows;
	enum db_result result = sql_undo_added_run(undo->registry->db, undo->registry->pool,
		is_space ? SQL_CONTENT_PART_NAMESPACE : SQL_CONTENT_PART_TREE, &in, &rows);

	if (result != DB_OK)
		return registry_db_failed(result);
	for (size_t i = 0; i < rows.n; i++) {
		const struct sql_undo_added_row *row = sql_undo_added_row(&rows, i);
		undo_block(undo, resource_path(undo->registry->pool, type_of_resource(undo->registry, 0, row->type_id), row->namespace, row->name),
			"not-empty", STR("it was added since, and would be deleted, too: move or delete it first"));
	}
	return OUTCOME_OK;
}

static enum outcome look_at_recovery(struct large *large, bool locked)
{
	struct undo *undo = large->undo;
	enum outcome outcome = look_at_changes(large);

	UNUSED(locked);
	if (outcome != OUTCOME_OK || !large->has_top || large->top.live == RESOURCE_DELETED) // noted
		return outcome;
	enum outcome may = resource_may_delete(undo->registry, &large->top);
	outcome = may == OUTCOME_OK ? OUTCOME_OK : undo_block_by(undo, path_of(large, &large->top), may);
	return outcome == OUTCOME_OK ? note_added(large) : outcome;
}

// ---- the mover

static enum outcome lock(struct large *large)
{
	struct undo *undo = large->undo;
	enum outcome outcome = tenant_lock(undo->registry, undo->order->tenant, &undo->tenant);

	// a policy or definition may have changed while this transaction waited for the lock
	definitions_invalidate(undo->registry);
	if (outcome == OUTCOME_OK && undo->tenant.deleted_us != 0)
		outcome = tenant_answer_deleted(undo->registry, &undo->tenant);
	if (outcome == OUTCOME_OK && undo->tenant.id != large->did->owner)
		undo_block(undo, STR(""), "purged", STR("the tenant was purged, and another one has its name"));
	return outcome == OUTCOME_OK ? OUTCOME_OK : undo_block_by(undo, STR(""), outcome);
}

// Compares what was done with what the request did. OUTCOME_SEE_OTHER, also if there is a blocker; or that of a failed statement.
static enum outcome check_all_done(struct large *large)
{
	struct undo *undo = large->undo;
	const struct sql_undo_count in = { .request_id = uuid_bytes(&undo->registry->request_id) };
	struct db_rows rows;
	enum db_result result = sql_undo_count_run(undo->registry->db, undo->registry->pool, &in, &rows);

	if (result != DB_OK)
		return registry_db_failed(result);
	if (sql_undo_count_row(&rows, 0)->n != large->did->n - large->did->updated)
		undo_block(undo, STR(""), "changed-since", STR("what the request changed is not all there as it was, or more is there"));
	return OUTCOME_SEE_OTHER;
}

static enum outcome carry_out(struct large *large)
{
	struct registry *registry = large->undo->registry;
	const struct address address = {
		.tenant = large->undo->order->tenant,
		.type = large->top.type,
		.space = large->top.space,
		.name = large->top.name,
	};
	const struct guard guard = { .prevents_lost_update = true };
	struct resource resource;
	enum outcome outcome;

	assert(large->has_top);
	registry->delete_at_once = large->did->n;
	outcome = recovers(large) ? resource_recover_deletion(registry, &address, &large->top.uid, uuid_bytes(&large->undo->order->request), guard) :
				    resource_delete(registry, &address, guard, &resource);
	if (outcome != OUTCOME_NO_CONTENT)
		return undo_block_by(large->undo, path_of(large, &large->top), outcome);
	return check_all_done(large);
}

const struct large_kind large_deletion = { UNDO_RECOVER, read_top, check_rights, read_items, lock, look_at_deletion, carry_out };
const struct large_kind large_recovery = { UNDO_DELETE, read_top, check_rights, read_items, lock, look_at_recovery, carry_out };

// SPDX-License-Identifier: Apache-2.0
// How a move of many resources is taken back: the numbers of large.c say which move in the other direction does so.
#include "base/base.h"

#include "registry/undo/internal.h"

#include "base/pool.h"
#include "registry/core/failure.h"
#include "registry/resource/internal.h"
#include "registry/resource/resource.h"
#include "registry/type/internal.h"
#include "registry/type/stored_type.h"

// Reads the namespaces that the move merged, and notes whose names are taken by now, and which are to be purged by now. *lost:
// one is no longer as the move left it.
static enum outcome read_merged(struct large *large, bool *lost)
{
	struct undo *undo = large->undo;
	const struct sql_undo_merged in = {
		.request_id = uuid_bytes(&undo->order->request),
		.namespaces = type_namespaces(undo->registry)->id,
		.last = large->did->last,
		.now = undo->registry->now_us,
		.limit = MOVE_MAX_BLOCKERS + 1,
	};
	struct db_rows rows;

	*lost = false;
	if (large->did->merged == 0)
		return OUTCOME_OK;
	enum db_result result = sql_undo_merged_run(undo->registry->db, undo->registry->pool, &in, &rows);
	if (result != DB_OK)
		return registry_db_failed(result);
	for (size_t i = 0; i < rows.n; i++) {
		const struct sql_undo_merged_row *row = sql_undo_merged_row(&rows, i);
		struct str path = resource_path(undo->registry->pool, type_namespaces(undo->registry), STR(""), row->name);

		*lost = *lost || row->lost != 0;
		if (row->expired != 0 && row->lost == 0) // what is lost is noted by look_at_tenants()
			undo_block_purged(undo, path);
		if (!row->taken_is_null)
			undo_block(undo, path, "name-taken", STR("another resource has that name by now: delete or move it first"));
	}
	return OUTCOME_OK;
}

static struct move_order order_of(const struct large *large)
{
	const struct sql_undo_did_row *did = large->did;

	return (struct move_order){
		.source = large->undo->plan->from,
		.dest = large->undo->plan->to,
		.changed = { did->first - 1, did->last, did->first_resource, did->last_resource, did->merged },
		.words = 2,
	};
}

// Plans the move in the other direction, and notes all that is in its way.
static enum outcome look_at_tenants(struct large *large, enum move_look how)
{
	struct undo *undo = large->undo;
	const struct move_order order = order_of(large);
	const struct sql_undo_did_row *did = large->did;
	bool lost;

	enum outcome outcome = read_merged(large, &lost);
	if (outcome != OUTCOME_OK)
		return outcome;
	large->plan.action = &large->action;
	outcome = move_plan(undo->registry, &order, how, &large->plan);
	if (outcome != OUTCOME_OK)
		return undo_block_by(undo, STR(""), outcome);
	if (large->action.source.id != did->tenant_id || large->action.dest.id != did->from_tenant_id) {
		undo_block(undo, STR(""), "purged", STR("one of the two tenants was purged, and another one has its name"));
		return OUTCOME_OK;
	}
	if (lost || large->action.count != did->moved + did->apart) {
		size_t n = 0;
		outcome = undo_note_changed(large, &n);
		if (outcome == OUTCOME_OK && n == 0)
			undo_block(undo, STR(""), "changed-since", STR("what was moved is not all there as it was"));
	}
	undo_block_by_action(undo, &large->action);
	// What is gone of those that would be merged again was noted.
	if (undo->plan->n_blockers == 0 || large->plan.found.merged.count > did->apart)
		undo_check_merged(undo, large->plan.found.merged.count, did->apart);
	return outcome;
}

static enum outcome look(struct large *large, bool locked)
{
	struct undo *undo = large->undo;

	if (undo->plan->to.p == NULL) {
		undo_block(undo, STR(""), "purged", STR("one of the two tenants was purged"));
		return OUTCOME_OK;
	}
	enum outcome outcome = look_at_tenants(large, locked ? MOVE_LOOK_LOCKED : MOVE_LOOK_PLAIN);
	large->state.n = large->plan.found.sum.count;
	large->state.sums = large->plan.found.sum.sums;
	large->state.n_sums = COUNT_OF(large->plan.found.sum.sums);
	return outcome;
}

// ---- the request

// The first resources, as they are now, but for those that another tenant has by now.
static enum outcome read_items(struct large *large)
{
	struct undo *undo = large->undo;
	struct undo_plan *plan = undo->plan;
	struct pool *pool = undo->registry->pool;
	const struct sql_undo_shown in = { .request_id = uuid_bytes(&undo->order->request), .limit = UNDO_SHOWN };
	struct db_rows rows;
	enum db_result result = sql_undo_shown_run(undo->registry->db, pool, &in, &rows);

	if (result != DB_OK)
		return registry_db_failed(result);
	plan->items = POOL_ARRAY(pool, struct undo_item, rows.n);
	for (size_t i = 0; i < rows.n; i++) {
		struct resource resource = resource_of_columns(undo->registry, &sql_undo_shown_row(&rows, i)->r);

		if (resource.tenant_id != undo->large->tenant_id && resource.tenant_id != undo->large->from_tenant_id)
			continue;
		resource.tenant = resource.tenant_id == undo->large->tenant_id ? plan->from : plan->to;
		plan->items[plan->n_items++] = (struct undo_item){
			.action = UNDO_MOVE,
			.path = resource_path(pool, resource.type, resource.space, resource.name),
			.uid = resource.uid,
			.resource = resource,
		};
	}
	return OUTCOME_OK;
}

// What the move took stands in such places, as the calls for moves tell them apart. A namespace is moved with its content.
static enum outcome check_rights(struct large *large)
{
	struct undo *undo = large->undo;
	const struct sql_undo_loose in = {
		.request_id = uuid_bytes(&undo->order->request),
		.namespaces = type_namespaces(undo->registry)->id,
	};
	bool places[UNDO_PLACE__N] = {
		[UNDO_PLACE_AT_LARGE] = undo->large->at_large > 0,
		[UNDO_PLACE_NAMESPACE] = undo->large->spaces > 0,
	};
	struct db_rows rows;

	if (undo->large->namespaced > 0 && !undo->moved_all) {
		enum db_result result = sql_undo_loose_run(undo->registry->db, undo->registry->pool, &in, &rows);
		if (result != DB_OK)
			return registry_db_failed(result);
		places[UNDO_PLACE_NAMESPACED] = rows.n > 0;
	}
	return undo_check_rights_to_move(undo, places);
}

// ---- the mover

// Brings the merged namespaces back, all that the move deleted, but for the end of their recovery. As the first changes of the
// move back: only when these are written may the log stand still.
static enum outcome recover_merged(void *arg)
{
	struct large *large = arg;
	struct undo *undo = large->undo;
	enum outcome outcome =
		resource_begin_recovery_at_large(undo->registry, undo->plan->to, uuid_bytes(&undo->order->request), &large->recovered);

	if (outcome == OUTCOME_NO_CONTENT)
		return OUTCOME_OK;
	outcome = undo_block_by(undo, STR(""), outcome);
	return outcome == OUTCOME_OK ? OUTCOME_BLOCKED : outcome;
}

static enum outcome read_nothing(struct large *large)
{
	UNUSED(large);
	return OUTCOME_OK;
}

static enum outcome lock(struct large *large)
{
	return undo_lock_move(large->undo);
}

static enum outcome carry_out(struct large *large)
{
	struct registry *registry = large->undo->registry;
	size_t n_recovered = large->did->merged > 0 ? 1 : 0;

	if (n_recovered > 0) {
		registry_stamp_after(registry, large->did->last_at);
		large->plan.first.write = recover_merged;
		large->plan.first.arg = large;
	}
	enum outcome outcome = move_execute(registry, &large->plan);
	if (outcome != OUTCOME_SEE_OTHER)
		return outcome;
	// Behind all else, since others wait for the lock with which it begins.
	outcome = resource_end_recoveries(registry, &large->recovered, n_recovered);
	return outcome == OUTCOME_OK ? OUTCOME_SEE_OTHER : outcome;
}

const struct large_kind large_move = { UNDO_MOVE, read_nothing, check_rights, read_items, lock, look, carry_out };

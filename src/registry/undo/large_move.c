// SPDX-License-Identifier: Apache-2.0
// Takes back a move of many resources: as what it did in numbers tells, by statements over the whole set. The request looks without locks,
// for the preview and before it queues the undo; the mover locks both tenants, looks again and carries it out. What the look shows and the
// etag covers cannot change unnoticed between the two: what the move took has to be as it left it, or nothing goes back.
#include "base/base.h"

#include "registry/undo/internal.h"

#include "base/buf.h"
#include "base/pool.h"
#include "registry/core/failure.h"
#include "registry/move/internal.h"
#include "registry/resource/internal.h"
#include "registry/resource/resource.h"
#include "registry/tenant/tenant.h"
#include "registry/type/internal.h"
#include "registry/type/stored_type.h"

struct large {
	struct undo *undo;
	const struct sql_undo_moved_row *did;
	struct db_rows merged; // of undo_merged
	struct move_action action;
	struct move_plan plan;
};

static const char condition_prefix[] = "undo:";

static const struct sql_undo_merged_row *merged_row(const struct large *large, size_t i)
{
	return sql_undo_merged_row(&large->merged, i);
}

// ---- is it one?

static bool is_move(const struct sql_undo_moved_row *did)
{
	return did->moved > 0 && did->moved + did->merged + did->apart == did->n && did->departed == did->moved &&
	       did->tenant_id == did->other_tenant_id && did->from_tenant_id == did->other_from_tenant_id;
}

static enum outcome read_numbers(struct undo *undo)
{
	struct registry *registry = undo->registry;
	const struct sql_undo_moved in = {
		.request_id = uuid_bytes(&undo->order->request),
		.namespaces = type_namespaces(registry)->id,
	};
	struct db_rows rows;
	enum db_result result = sql_undo_moved_run(registry->db, registry->pool, &in, &rows);

	if (result != DB_OK)
		return registry_db_failed(result);
	if (is_move(sql_undo_moved_row(&rows, 0)))
		undo->large = sql_undo_moved_row(&rows, 0);
	return OUTCOME_OK;
}

enum outcome undo_find_large_move(struct undo *undo)
{
	const struct sql_undo_beyond in = { .request_id = uuid_bytes(&undo->order->request), .than = UNDO_MAX };
	struct db_rows rows;
	enum db_result result = sql_undo_beyond_run(undo->registry->db, undo->registry->pool, &in, &rows);

	if (result != DB_OK)
		return registry_db_failed(result);
	return rows.n > 0 ? read_numbers(undo) : OUTCOME_OK;
}

// ---- what is in the way

// Notes each resource that is no longer as the move left it.
static enum outcome note_changed(struct large *large)
{
	struct undo *undo = large->undo;
	struct pool *pool = undo->registry->pool;
	const struct sql_undo_changed_since in = {
		.request_id = uuid_bytes(&undo->order->request),
		.last = large->did->last,
		.limit = MOVE_MAX_BLOCKERS,
	};
	struct db_rows rows;
	enum db_result result = sql_undo_changed_since_run(undo->registry->db, pool, &in, &rows);

	if (result != DB_OK)
		return registry_db_failed(result);
	for (size_t i = 0; i < rows.n; i++) {
		const struct sql_undo_changed_since_row *row = sql_undo_changed_since_row(&rows, i);
		struct str path = resource_path(pool, type_of_resource(undo->registry, 0, row->type_id), row->namespace, row->name);

		if (row->changed_is_null)
			undo_block(undo, path, "purged", STR("it was purged: nothing of it is left"));
		else if (row->owner_id != row->tenant_id)
			undo_block(undo, path, "changed-since", STR("it belongs to another tenant by now"));
		else if (row->later_actor.p == NULL)
			undo_block(undo, path, "changed-since", STR("it has changed since"));
		else
			undo_block(undo, path, "changed-since", undo_later_text(undo, row->later_verb, row->later_actor, row->later_at));
	}
	if (rows.n == 0)
		undo_block(undo, STR(""), "changed-since", STR("what was moved is not all there as it was"));
	return OUTCOME_OK;
}

// Reads the namespaces that the move merged, and notes whose names are taken by now. *lost: one is no longer as the move left it.
static enum outcome read_merged(struct large *large, bool *lost)
{
	struct undo *undo = large->undo;
	const struct sql_undo_merged in = {
		.request_id = uuid_bytes(&undo->order->request),
		.namespaces = type_namespaces(undo->registry)->id,
		.limit = large->did->merged,
	};

	*lost = false;
	if (large->did->merged == 0)
		return OUTCOME_OK;
	enum db_result result = sql_undo_merged_run(undo->registry->db, undo->registry->pool, &in, &large->merged);
	if (result != DB_OK)
		return registry_db_failed(result);
	for (size_t i = 0; i < large->merged.n; i++) {
		const struct sql_undo_merged_row *row = merged_row(large, i);

		*lost = *lost || row->changed_is_null || row->owner_id != row->tenant_id || row->changed > large->did->last;
		if (!row->taken_is_null)
			undo_block(undo, resource_path(undo->registry->pool, type_namespaces(undo->registry), STR(""), row->name), "name-taken",
				STR("another resource has that name by now: delete or move it first"));
	}
	return OUTCOME_OK;
}

static struct move_order order_of(const struct large *large)
{
	const struct sql_undo_moved_row *did = large->did;

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
	const struct sql_undo_moved_row *did = large->did;
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
	if (lost || large->action.count != did->moved + did->apart)
		outcome = note_changed(large);
	undo_block_by_action(undo, &large->action);
	// What is gone of those that would be merged again was noted.
	if (undo->plan->n_blockers == 0 || large->plan.found.merged.count > did->apart)
		undo_check_merged(undo, large->plan.found.merged.count, did->apart);
	return outcome;
}

static enum outcome look(struct large *large, enum move_look how)
{
	struct undo *undo = large->undo;

	if (undo->plan->to.p == NULL) {
		undo_block(undo, STR(""), "purged", STR("one of the two tenants was purged"));
		return OUTCOME_OK;
	}
	if (large->did->merged > UNDO_MERGED_MAX) {
		undo_block(undo, STR(""), "too-large",
			str_printf(undo->registry->pool,
				"the move merged more than %d namespaces, which would have to be brought back: move it back by another move",
				UNDO_MERGED_MAX));
		return OUTCOME_OK;
	}
	return look_at_tenants(large, how);
}

// ---- the request

// Who asked for the move, and when.
static enum outcome read_author(struct undo *undo)
{
	const struct sql_undo_rows in = { .request_id = uuid_bytes(&undo->order->request), .limit = 1 };
	struct db_rows rows;
	enum db_result result = sql_undo_rows_run(undo->registry->db, undo->registry->pool, &in, &rows);

	if (result != DB_OK)
		return registry_db_failed(result);
	if (rows.n == 0)
		return undo_fail_unknown(undo);
	undo->plan->at_us = sql_undo_rows_row(&rows, 0)->at;
	undo->plan->actor = sql_undo_rows_row(&rows, 0)->actor;
	undo->plan->count = undo->large->n;
	undo->plan->action = UNDO_MOVE;
	return OUTCOME_OK;
}

// The first resources, as they are now, but for those that another tenant has by now.
static enum outcome read_items(struct undo *undo)
{
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

// The tag covers what the move did, whether all of that is as it left it, and the blockers.
static void make_etag(struct large *large)
{
	struct undo *undo = large->undo;
	const struct state_sum *sum = &large->plan.found.sum;
	struct buf text = buf_new(undo->registry->pool, 1024);

	buf_add_u64(&text, large->did->n);
	buf_addc(&text, '/');
	buf_add_u64(&text, sum->count);
	for (size_t i = 0; i < COUNT_OF(sum->sums); i++) {
		buf_addc(&text, '/');
		buf_add(&text, sum->sums[i]);
	}
	undo_add_blockers(&text, undo->plan);
	const struct str parts[] = { STR("large undo:"), uuid_bytes(&undo->order->request), buf_str(&text) };
	state_tag_make(undo->registry, parts, COUNT_OF(parts), undo->plan->etag, &undo->plan->other_etags);
}

// What the move took stands in such places, as the calls for moves tell them apart. A namespace is moved with its content.
static enum outcome check_rights(struct undo *undo)
{
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

static enum outcome queue(struct large *large)
{
	struct undo *undo = large->undo;
	struct registry *registry = undo->registry;
	const struct sql_undo_queue in = {
		.uid = uuid_bytes(&registry->request_id),
		.source_id = large->did->tenant_id,
		.dest_id = large->did->from_tenant_id,
		.undone = uuid_bytes(&undo->order->request),
		.if_match = str_printf(registry->pool, "%s%.*s", condition_prefix, STR_ARG(uuid_str(registry->pool, undo->order->request))),
		.actor = registry->actor,
		.resources = large->did->n,
		.now = registry->stamp_us,
	};
	enum db_result result = sql_undo_queue_run(registry->db, registry->pool, &in, NULL);

	if (result != DB_OK && result != DB_DUPLICATE)
		return registry_db_failed(result);
	registry->left_work = true;
	return OUTCOME_ACCEPTED;
}

// Is the tenant one of the two, as far as they are there?
static enum outcome check_tenant(struct undo *undo)
{
	enum outcome outcome = tenant_get(undo->registry, undo->order->tenant, &undo->tenant);

	if (outcome != OUTCOME_OK && outcome != OUTCOME_GONE)
		return outcome;
	if (undo->tenant.id != undo->large->tenant_id && undo->tenant.id != undo->large->from_tenant_id)
		return undo_fail_unknown(undo);
	return outcome;
}

enum outcome undo_large_move(struct undo *undo, struct tag_guard guard)
{
	struct large large = { .undo = undo, .did = undo->large };
	enum outcome outcome = undo->order->preview ? OUTCOME_OK : move_find_queued(undo->registry);

	undo->plan->move = undo->registry->request_id;
	if (outcome == OUTCOME_OK || outcome == OUTCOME_ACCEPTED) {
		enum outcome read = undo_read_tenants(undo);
		outcome = read == OUTCOME_OK ? outcome : read;
	}
	if (outcome != OUTCOME_OK) // accepted by an earlier run, or failed
		return outcome;
	outcome = check_tenant(undo);
	if (outcome == OUTCOME_OK)
		outcome = undo_check_caller(undo, KIND_MOVED);
	if (outcome == OUTCOME_OK)
		outcome = read_author(undo);
	if (outcome == OUTCOME_OK)
		outcome = check_rights(undo);
	if (outcome == OUTCOME_OK)
		outcome = read_items(undo);
	if (outcome == OUTCOME_OK)
		outcome = look(&large, MOVE_LOOK_PLAIN);
	if (outcome != OUTCOME_OK)
		return outcome;
	make_etag(&large);
	outcome = undo_compare(undo, guard);
	if (outcome != OUTCOME_OK || undo->order->preview || undo->plan->n_blockers > 0)
		return outcome;
	return queue(&large);
}

// ---- the mover

bool undo_of_condition(struct str if_match, struct uuid *request)
{
	struct str prefix = str_c(condition_prefix);

	return str_starts(if_match, prefix) && uuid_parse(str_part(if_match, prefix.n, if_match.n), request);
}

// The mover's row keeps only one text.
static enum outcome fail_blocked(struct undo *undo)
{
	const struct move_blocker *first = &undo->plan->blockers[0];
	struct str what = first->resource.n > 0 ? first->resource : STR("all");

	undo_fail_blocked(undo->registry, undo->plan);
	return registry_fail(undo->registry, OUTCOME_BLOCKED,
		"nothing was taken back; %zu %s in the way, which the preview of the undo shows, the first: %.*s: %s: %.*s",
		undo->plan->n_blockers, undo->plan->n_blockers == 1 ? "thing stands" : "things stand", STR_ARG(what), first->reason,
		STR_ARG(first->detail));
}

// Brings the merged namespaces back.
static enum outcome recover_merged(struct large *large)
{
	struct undo *undo = large->undo;
	enum outcome outcome = OUTCOME_OK;

	for (size_t i = 0; outcome == OUTCOME_OK && i < large->merged.n; i++)
		outcome = undo_recover_merged(undo, merged_row(large, i)->name, merged_row(large, i)->uid);
	return outcome;
}

static enum outcome lock_and_look(struct large *large)
{
	struct undo *undo = large->undo;
	enum outcome outcome = undo_find_large_move(undo);

	if (outcome == OUTCOME_OK && undo->large == NULL)
		return registry_fail(undo->registry, OUTCOME_NOT_FOUND, "the change log has no longer what the move took");
	large->did = undo->large;
	if (outcome == OUTCOME_OK)
		outcome = undo_lock_move(undo);
	return outcome == OUTCOME_OK ? look(large, MOVE_LOOK_LOCKED) : outcome;
}

enum outcome undo_carry_out(struct registry *registry, const struct undo_task *task, struct move_progress progress, uint64_t *count,
	bool *begun)
{
	const struct undo_order order = { .tenant = task->tenant, .request = task->request };
	struct undo_plan plan = { .count = 0 };
	struct undo undo = { .registry = registry, .order = &order, .plan = &plan };
	struct large large = { .undo = &undo };

	*begun = false;
	enum outcome outcome = lock_and_look(&large);
	if (outcome != OUTCOME_OK)
		return outcome;
	*count = large.did->n;
	if (plan.n_blockers > 0)
		return fail_blocked(&undo);
	outcome = recover_merged(&large);
	if (outcome != OUTCOME_OK)
		return outcome;
	*begun = plan.n_blockers > 0;
	return *begun ? fail_blocked(&undo) : move_execute(registry, &large.plan, progress);
}

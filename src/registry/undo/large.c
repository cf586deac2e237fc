// SPDX-License-Identifier: Apache-2.0
// Takes back a request that changed very much, as what it did in numbers tells, by statements over the whole set. The request for
// the undo looks without locks, for the preview and before it queues the undo; the mover locks the tenants, looks again and
// carries it out. What the look shows and the etag covers cannot change unnoticed between the two: what was changed has to be as
// the request left it, or nothing is taken back.
#include "base/base.h"

#include "registry/undo/internal.h"

#include "base/buf.h"
#include "base/pool.h"
#include "registry/core/failure.h"
#include "registry/resource/resource.h"
#include "registry/tenant/tenant.h"
#include "registry/type/internal.h"
#include "registry/type/stored_type.h"

static const struct large_kind *kind_of(const struct undo *undo)
{
	switch (undo->large_kind) {
	case KIND_MOVED:
		return &large_move;
	case KIND_DELETED:
		return &large_deletion;
	default:
		assert(undo->large_kind == KIND_RECOVERED);
		return &large_recovery;
	}
}

// ---- is it one?

static bool is_move(const struct sql_undo_did_row *did)
{
	return did->moved > 0 && did->moved + did->merged + did->apart == did->n && did->departed == did->moved &&
	       did->tenant_id == did->other_tenant_id && did->from_tenant_id == did->other_from_tenant_id;
}

static bool is_of_one_tenant(const struct sql_undo_did_row *did)
{
	return did->of_tenant == 0 && did->owner == did->other_owner;
}

// A large namespace is marked before it is deleted in the background; what has finalizers is only marked.
static bool is_deletion(const struct sql_undo_did_row *did)
{
	return did->deleted > 0 && did->deleted + did->updated == did->n && is_of_one_tenant(did);
}

static bool is_recovery(const struct sql_undo_did_row *did)
{
	return did->recovered == did->n && is_of_one_tenant(did);
}

static enum outcome read_numbers(struct undo *undo)
{
	struct registry *registry = undo->registry;
	const struct sql_undo_did in = {
		.request_id = uuid_bytes(&undo->order->request),
		.namespaces = type_namespaces(registry)->id,
	};
	struct db_rows rows;
	enum db_result result = sql_undo_did_run(registry->db, registry->pool, &in, &rows);

	if (result != DB_OK)
		return registry_db_failed(result);
	const struct sql_undo_did_row *did = sql_undo_did_row(&rows, 0);
	undo->large_kind = is_move(did) ? KIND_MOVED : is_deletion(did) ? KIND_DELETED : is_recovery(did) ? KIND_RECOVERED : KIND_SEVERAL;
	undo->large = undo->large_kind != KIND_SEVERAL ? did : NULL;
	return OUTCOME_OK;
}

enum outcome undo_find_large(struct undo *undo)
{
	const struct sql_undo_beyond in = { .request_id = uuid_bytes(&undo->order->request), .than = UNDO_MAX };
	struct db_rows rows;
	enum db_result result = sql_undo_beyond_run(undo->registry->db, undo->registry->pool, &in, &rows);

	if (result != DB_OK)
		return registry_db_failed(result);
	return rows.n > 0 ? read_numbers(undo) : OUTCOME_OK;
}

// ---- what is in the way

enum outcome undo_note_changed(struct large *large, size_t *n)
{
	assert(large->did != NULL && large->did == large->undo->large);
	struct undo *undo = large->undo;
	struct pool *pool = undo->registry->pool;
	const struct sql_undo_changed_since in = {
		.request_id = uuid_bytes(&undo->order->request),
		.last = large->did->last,
		.limit = MOVE_MAX_BLOCKERS + 1,
	};
	struct db_rows rows;
	enum db_result result = sql_undo_changed_since_run(undo->registry->db, pool, &in, &rows);

	if (result != DB_OK)
		return registry_db_failed(result);
	for (size_t i = 0; i < rows.n; i++) {
		const struct sql_undo_changed_since_row *row = sql_undo_changed_since_row(&rows, i);
		struct str path = resource_path(pool, type_of_resource(undo->registry, 0, row->type_id), row->namespace, row->name);

		if (row->changed_is_null)
			undo_block_purged(undo, path);
		else if (row->owner_id != row->tenant_id)
			undo_block(undo, path, "changed-since", STR("it belongs to another tenant by now"));
		else if (row->later_actor.p == NULL)
			undo_block(undo, path, "changed-since", STR("it has changed since"));
		else
			undo_block(undo, path, "changed-since", undo_later_text(undo, row->later_verb, row->later_actor, row->later_at));
	}
	*n = rows.n;
	return OUTCOME_OK;
}

// ---- the request

// Who made the request, and when. Adds a blocker if that is too long ago.
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
	undo->plan->action = kind_of(undo)->action;
	undo_check_age(undo);
	return OUTCOME_OK;
}

// The tag covers what the request did, whether all of that is as it left it, and the blockers.
static void make_etag(struct large *large)
{
	struct undo *undo = large->undo;
	struct buf text = buf_new(undo->registry->pool, 1024);

	buf_add_u64(&text, large->did->n);
	buf_addc(&text, '/');
	buf_add_u64(&text, large->state.n);
	for (size_t i = 0; i < large->state.n_sums; i++) {
		buf_addc(&text, '/');
		buf_add(&text, large->state.sums[i]);
	}
	undo_add_blockers(&text, undo->plan);
	const struct str parts[] = { STR("large undo:"), uuid_bytes(&undo->order->request), buf_str(&text) };
	state_tag_make(undo->registry, parts, COUNT_OF(parts), undo->plan->etag, &undo->plan->other_etags);
}

// How many resources the undo of a large request changes.
static uint64_t count_of(const struct undo *undo)
{
	return undo->large->n - undo->large->updated;
}

static enum outcome queue(struct large *large)
{
	struct undo *undo = large->undo;
	struct registry *registry = undo->registry;
	bool moves = undo->large_kind == KIND_MOVED;
	const struct sql_undo_queue in = {
		.uid = uuid_bytes(&registry->request_id),
		.source_id = moves ? large->did->tenant_id : large->did->owner,
		.dest_id = moves ? large->did->from_tenant_id : large->did->owner,
		.resource_id = large->top.id,
		.resource_id_is_null = !large->has_top,
		.undone = uuid_bytes(&undo->order->request),
		.if_match = move_undo_condition(registry->pool, &undo->order->request),
		.actor = registry->actor,
		.resources = count_of(undo),
		.now = registry->stamp_us,
	};
	enum db_result result = sql_undo_queue_run(registry->db, registry->pool, &in, NULL);

	if (result != DB_OK && result != DB_DUPLICATE)
		return registry_db_failed(result);
	registry->left_work = true;
	return OUTCOME_ACCEPTED;
}

// Is the tenant the one that the request is of, or one of the two, as far as they are there?
static enum outcome check_tenant(struct undo *undo)
{
	const struct sql_undo_did_row *did = undo->large;
	enum outcome outcome = tenant_get(undo->registry, undo->order->tenant, &undo->tenant);

	if (outcome != OUTCOME_OK && outcome != OUTCOME_GONE)
		return outcome;
	bool concerns = undo->large_kind == KIND_MOVED ? undo->tenant.id == did->tenant_id || undo->tenant.id == did->from_tenant_id :
							 undo->tenant.id == did->owner;
	return concerns ? outcome : undo_fail_unknown(undo);
}

// Says where the undo is followed.
static enum outcome find_place(struct undo *undo)
{
	enum outcome outcome = undo->large_kind == KIND_MOVED ? undo_read_tenants(undo) : OUTCOME_OK;

	undo->plan->move = undo->registry->request_id;
	undo->plan->queued_in = undo->large_kind == KIND_MOVED ? undo->plan->from : undo->order->tenant;
	return outcome;
}

// Only of a request that is recent enough: of an older one, a part may have been purged.
static enum outcome look_unlocked(struct large *large)
{
	const struct large_kind *kind = kind_of(large->undo);
	enum outcome outcome = kind->read(large);

	if (outcome == OUTCOME_OK)
		outcome = kind->check_rights(large);
	if (outcome == OUTCOME_OK)
		outcome = kind->read_items(large);
	return outcome == OUTCOME_OK ? kind->look(large, false) : outcome;
}

enum outcome undo_large(struct undo *undo, struct tag_guard guard)
{
	assert(undo->large != NULL && undo->rows.n == 0);
	struct large large = { .undo = undo, .did = undo->large };
	enum outcome outcome = undo->order->preview ? OUTCOME_OK : move_find_queued(undo->registry);

	if (outcome == OUTCOME_OK || outcome == OUTCOME_ACCEPTED) {
		enum outcome found = find_place(undo);
		outcome = found == OUTCOME_OK ? outcome : found;
	}
	if (outcome != OUTCOME_OK) // accepted by an earlier run, or failed
		return outcome;
	outcome = check_tenant(undo);
	if (outcome == OUTCOME_OK)
		outcome = undo_check_caller(undo, undo->large_kind);
	if (outcome == OUTCOME_OK)
		outcome = read_author(undo);
	if (outcome == OUTCOME_OK && undo->plan->n_blockers == 0)
		outcome = look_unlocked(&large);
	if (outcome != OUTCOME_OK)
		return outcome;
	make_etag(&large);
	outcome = undo_compare(undo, guard);
	if (outcome != OUTCOME_OK || undo->order->preview || undo->plan->n_blockers > 0)
		return outcome;
	return queue(&large);
}

// ---- the mover

// The mover's row keeps only one text.
static enum outcome fail_blocked(struct undo *undo)
{
	struct str first = move_blocker_text(undo->registry->pool, &undo->plan->blockers[0]);
	struct str count = undo_blockers_text(undo->registry->pool, undo->plan);

	undo_fail_blocked(undo->registry, undo->plan);
	return registry_fail(undo->registry, OUTCOME_BLOCKED,
		"nothing was taken back; %.*s, which the preview of the undo shows, the first: %.*s", STR_ARG(count), STR_ARG(first));
}

static enum outcome lock_and_look(struct large *large)
{
	struct undo *undo = large->undo;
	enum outcome outcome = undo_find_large(undo);

	if (outcome == OUTCOME_OK && undo->large == NULL)
		return registry_fail(undo->registry, OUTCOME_NOT_FOUND, "the change log has no longer what the request changed");
	if (outcome != OUTCOME_OK)
		return outcome;
	large->did = undo->large;
	outcome = read_author(undo);
	if (outcome == OUTCOME_OK && undo->plan->n_blockers == 0)
		outcome = kind_of(undo)->lock(large);
	if (outcome == OUTCOME_OK && undo->plan->n_blockers == 0)
		outcome = kind_of(undo)->read(large);
	if (outcome == OUTCOME_OK && undo->plan->n_blockers == 0)
		outcome = kind_of(undo)->look(large, true);
	return outcome;
}

enum outcome undo_carry_out(struct registry *registry, const struct undo_task *task, uint64_t *count, bool *roll_back)
{
	// The request that queued the undo has checked that its caller may make it.
	const struct undo_order order = { .tenant = task->tenant, .request = task->request, .may_operate = true };
	struct undo_plan plan = { .count = 0 };
	struct undo undo = { .registry = registry, .order = &order, .plan = &plan };
	struct large large = { .undo = &undo };

	assert(db_txn_writes(registry->db));
	*roll_back = false;
	enum outcome outcome = lock_and_look(&large);
	if (outcome != OUTCOME_OK)
		return outcome;
	*count = count_of(&undo);
	if (plan.n_blockers > 0)
		return fail_blocked(&undo);
	outcome = kind_of(&undo)->carry_out(&large);
	*roll_back = plan.n_blockers > 0;
	return *roll_back ? fail_blocked(&undo) : outcome;
}

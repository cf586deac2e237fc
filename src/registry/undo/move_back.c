// SPDX-License-Identifier: Apache-2.0
// Takes a move back by a move in the other direction, of exactly what was moved. A namespace that was merged into the
// destination's is recovered first, and its content goes back into it; the undo of that merges it again.
#include "base/base.h"

#include "registry/undo/internal.h"

#include "base/pool.h"
#include "registry/core/failure.h"
#include "registry/move/internal.h"
#include "registry/resource/internal.h"
#include "registry/resource/resource.h"
#include "registry/type/internal.h"
#include "registry/type/stored_type.h"

struct back {
	struct undo *undo;
	uint64_t from, to; // the ids of the tenants: the one that has the resources, or the namespaces that others were merged into; and the other one
	size_t n_moved;    // resources that move back, without namespaces that are merged
	size_t n_apart;    // namespaces that the request recovered, and that are merged again
	struct move_order order;
	struct sql_deletion *recovered; // those of the merged namespaces that were recovered: for resource_end_recoveries()
	size_t n_recovered;
};

static bool is_verb(const struct sql_undo_rows_row *row, const char *verb)
{
	return str_eq_c(row->verb, verb);
}

// Reads a move that merged namespaces and moved nothing else. *row: NULL if the request was no such move.
static enum outcome read_merging(struct undo *undo, const struct sql_undo_merging_move_row **row)
{
	struct registry *registry = undo->registry;
	const struct sql_undo_merging_move in = { .request_id = uuid_bytes(&undo->order->request) };
	struct db_rows rows;
	enum db_result result = sql_undo_merging_move_run(registry->db, registry->pool, &in, &rows);

	*row = NULL;
	if (result != DB_OK)
		return registry_db_failed(result);
	if (rows.n == 0)
		return OUTCOME_OK;
	*row = sql_undo_merging_move_row(&rows, 0);
	undo->merging.found = true;
	undo->merging.source_id = (*row)->source_id;
	undo->merging.dest_id = (*row)->dest_id;
	return OUTCOME_OK;
}

static void note_tenants(struct undo *undo, struct str source, struct str dest, bool moved_all)
{
	if (source.p == NULL || dest.p == NULL) // one is purged: nothing will move
		return;
	// A request of other tenants is not found, and locks nothing.
	if (!str_eq(source, undo->order->tenant) && !str_eq(dest, undo->order->tenant))
		return;
	undo->moved_all = moved_all;
	undo->plan->from = dest;
	undo->plan->to = source;
}

enum outcome undo_read_tenants(struct undo *undo)
{
	struct registry *registry = undo->registry;
	const struct sql_undo_tenants in = { .request_id = uuid_bytes(&undo->order->request) };
	struct db_rows rows;
	enum db_result result = sql_undo_tenants_run(registry->db, registry->pool, &in, &rows);

	if (result != DB_OK)
		return registry_db_failed(result);
	if (rows.n > 0) {
		const struct sql_undo_tenants_row *row = sql_undo_tenants_row(&rows, 0);
		note_tenants(undo, row->source, row->dest, row->moved_all != 0);
		return OUTCOME_OK;
	}
	const struct sql_undo_merging_move_row *row;
	enum outcome outcome = read_merging(undo, &row);
	if (outcome == OUTCOME_OK && row != NULL)
		note_tenants(undo, row->source, row->dest, row->moved_all != 0);
	return outcome;
}

// Is the row one of a namespace that a move has merged, or that the undo of a move has recovered?
static bool is_of_merged(const struct undo *undo, const struct sql_undo_rows_row *row)
{
	return !row->resource_id_is_null && row->type_id == type_namespaces(undo->registry)->id &&
	       (is_verb(row, "deleted") || is_verb(row, "recovered"));
}

enum outcome undo_find_merging(struct undo *undo)
{
	const struct sql_undo_merging_move_row *row;

	for (size_t i = 0; i < undo->rows.n; i++)
		if (!is_of_merged(undo, undo_row(undo, i)))
			return OUTCOME_OK;
	return undo->order->may_operate ? OUTCOME_OK : read_merging(undo, &row);
}

enum outcome undo_lock_move(struct undo *undo)
{
	assert(db_txn_writes(undo->registry->db));
	if (!undo->order->may_operate) // the request is refused later, and must not keep writers of the other tenant waiting
		return OUTCOME_OK;
	enum outcome outcome = undo_read_tenants(undo);

	if (outcome != OUTCOME_OK || undo->plan->to.p == NULL)
		return outcome;
	return move_lock_tenants(undo->registry, undo->plan->from, undo->plan->to);
}

bool undo_is_owner_change(const struct undo *undo, const struct sql_undo_rows_row *row)
{
	if (row->resource_id_is_null || !is_verb(row, "updated") || !str_eq(row->fields, STR("[\"/metadata/tenant\"]")))
		return false;
	for (size_t i = 0; i < undo->rows.n; i++)
		if (is_verb(undo_row(undo, i), "moved") && undo_row(undo, i)->resource_id == row->resource_id)
			return true;
	return false;
}

// Rows of a move: moved resources; namespaces that it deleted, since it merged them; or namespaces that it recovered, since it
// took back such a move; the change of the owner that a document shows, by which it was moved.
bool undo_is_move(const struct undo *undo)
{
	const struct sql_undo_rows_row *first = NULL;

	for (size_t i = 0; i < undo->rows.n; i++) {
		const struct sql_undo_rows_row *row = undo_row(undo, i);
		if (row->resource_id_is_null)
			return false;
		if (undo_is_owner_change(undo, row))
			continue;
		if (!is_verb(row, "moved")) {
			if (!is_of_merged(undo, row))
				return false;
			continue;
		}
		first = first != NULL ? first : row;
		if (row->from_tenant_id_is_null || row->tenant_id != first->tenant_id || row->from_tenant_id != first->from_tenant_id)
			return false;
	}
	return first != NULL || undo->merging.found;
}

// Counts what moves, and sets the range of resources that the move looks at.
static void read_rows(struct back *back)
{
	const struct undo *undo = back->undo;
	uint64_t first = UINT64_MAX, last = 0;

	back->from = undo->merging.dest_id;
	back->to = undo->merging.source_id;
	for (size_t i = 0; i < undo->rows.n; i++) {
		const struct sql_undo_rows_row *row = undo_row(undo, i);
		if (is_verb(row, "deleted") || is_verb(row, "updated"))
			continue;
		if (is_verb(row, "moved")) {
			back->from = row->tenant_id;
			back->to = row->from_tenant_id;
			back->n_moved++;
		} else {
			back->n_apart++;
		}
		first = row->resource_id < first ? row->resource_id : first;
		last = row->resource_id > last ? row->resource_id : last;
	}
	back->order = (struct move_order){
		.source = undo->plan->from,
		.dest = undo->plan->to,
		.changed = { undo_row(undo, 0)->id - 1, undo->newest, first, last },
		.words = 2,
	};
}

// Recovers a namespace that the move merged into another, which deleted it. OUTCOME_OK, also if there is a blocker.
static enum outcome recover_one(struct back *back, struct str name, struct str uid)
{
	struct undo *undo = back->undo;
	const struct address address = {
		.tenant = undo->plan->to,
		.type = type_namespaces(undo->registry),
		.space = STR(""),
		.name = name,
	};
	struct uuid which;

	uuid_from_bytes(uid, &which);
	enum outcome outcome = resource_begin_recovery(undo->registry, &address, &which, (struct guard){ .prevents_lost_update = true },
		&back->recovered[back->n_recovered]);
	if (outcome != OUTCOME_NO_CONTENT)
		return undo_block_by(undo, resource_path(undo->registry->pool, address.type, address.space, name), outcome);
	back->n_recovered++;
	return OUTCOME_OK;
}

// Brings back the namespaces that the move deleted when it merged them, all but the end of their recoveries.
static enum outcome recover_merged(struct back *back)
{
	struct undo *undo = back->undo;
	enum outcome outcome = OUTCOME_OK;

	back->recovered = POOL_ARRAY(undo->registry->pool, struct sql_deletion, undo->rows.n);
	for (size_t i = 0; outcome == OUTCOME_OK && i < undo->rows.n; i++) {
		const struct sql_undo_rows_row *row = undo_row(undo, i);
		if (is_verb(row, "deleted") && !undo_is_purged(undo, row)) // a purged one was noted
			outcome = recover_one(back, row->name, row->uid);
	}
	return outcome;
}

void undo_block_by_action(struct undo *undo, const struct move_action *action)
{
	for (size_t i = 0; i < action->n_blockers; i++)
		undo_block(undo, action->blockers[i].resource, action->blockers[i].reason, action->blockers[i].detail);
	undo->plan->more_blockers = undo->plan->more_blockers || action->more_blockers;
}

void undo_check_merged(struct undo *undo, uint64_t merged, uint64_t n)
{
	if (merged > n)
		undo_block(undo, STR(""), "name-taken",
			STR("a namespace of that name was made since where one would move back to: move or delete it"));
	else if (merged < n)
		undo_block(undo, STR(""), "changed-since", STR("a namespace into which one would be merged is gone"));
}

// The move has to take as much as the request did, and to merge what the request took apart.
static void check_set(struct back *back, const struct move_plan *plan)
{
	if (plan->action->count != back->n_moved + back->n_apart)
		undo_block(back->undo, STR(""), "changed-since", STR("what was moved is not all there as it was"));
	else
		undo_check_merged(back->undo, plan->found.merged.count, back->n_apart);
}

// Everything is moved: ends the recoveries, which begins with a lock that others wait for, and records the move.
static enum outcome end(struct back *back)
{
	struct undo *undo = back->undo;
	struct registry *registry = undo->registry;
	enum outcome outcome = resource_end_recoveries(registry, back->recovered, back->n_recovered);
	const struct sql_undo_record_move in = {
		.uid = uuid_bytes(&registry->request_id),
		.actor = registry->actor,
		.now = registry->stamp_us,
		.undone = uuid_bytes(&undo->order->request),
	};
	if (outcome != OUTCOME_OK)
		return outcome;
	enum db_result result = sql_undo_record_move_run(registry->db, registry->pool, &in, NULL);
	return result == DB_OK || result == DB_DUPLICATE ? OUTCOME_OK : registry_db_failed(result);
}

enum outcome undo_move(struct undo *undo)
{
	struct back back = { .undo = undo };
	struct move_action action = { 0 };
	struct move_plan plan = { .action = &action };

	assert(db_txn_writes(undo->registry->db) && undo_is_move(undo) && undo->order->may_operate);
	if (undo->plan->to.p == NULL) {
		undo_block(undo, STR(""), "purged", STR("one of the two tenants was purged"));
		return OUTCOME_OK;
	}
	read_rows(&back);
	enum outcome outcome = recover_merged(&back);
	if (outcome != OUTCOME_OK)
		return outcome;
	if (back.n_moved + back.n_apart == 0) // it merged namespaces alone: they are back now
		return undo->plan->n_blockers > 0 ? OUTCOME_OK : end(&back);
	outcome = move_plan(undo->registry, &back.order, MOVE_LOOK_LOCKED, &plan);
	if (outcome != OUTCOME_OK)
		return undo_block_by(undo, STR(""), outcome);
	if (action.source.id != back.from || action.dest.id != back.to) {
		undo_block(undo, STR(""), "purged", STR("one of the two tenants was purged, and another one has its name"));
		return OUTCOME_OK;
	}
	undo_block_by_action(undo, &action);
	if (undo->plan->n_blockers == 0)
		check_set(&back, &plan);
	if (undo->plan->n_blockers > 0)
		return OUTCOME_OK;
	outcome = move_execute(undo->registry, &plan);
	return outcome == OUTCOME_SEE_OTHER ? end(&back) : outcome;
}

// SPDX-License-Identifier: Apache-2.0
// Carries out a move: with statements over whole sets, so the number of statements does not grow with the number of resources;
// all in the transaction that has locked both tenants.
#include "base/base.h"

#include "base/pool.h"
#include "registry/core/settings.h"
#include "registry/log/change.h"
#include "registry/move/internal.h"
#include "registry/resource/internal.h"
#include "registry/type/internal.h"

// Statements over more than this many rows are split by ranges of ids. INSERT … SELECT into the change log holds the table's
// AUTO-INC lock until it ends (innodb_autoinc_lock_mode=1), and writers of other tenants wait for that lock.
enum { CHUNK = 10000 };

// Runs the calls. If one finds a name taken, the plan has missed it, and nothing must be moved: so a duplicate is a failure
// here.
static enum outcome run_calls(struct registry *registry, struct db_call *calls, size_t n)
{
	enum db_result result = db_run_batch(registry->db, registry->pool, calls, n);

	for (size_t i = 0; result == DB_OK && i < n; i++)
		result = calls[i].result;
	return result == DB_OK ? OUTCOME_OK : registry_db_failed(result);
}

static enum outcome merge_spaces(struct registry *registry, const struct move_plan *plan)
{
	struct pool *pool = registry->pool;
	uint64_t dest = plan->action->dest.id, namespaces = type_namespaces(registry)->id;
	int64_t now = registry->stamp_us;
	const struct sql_move_forward_merged forward = {
		.request_id = uuid_bytes(&registry->request_id),
		.now = now,
		.dest_id = dest,
		.namespaces = namespaces,
		.set = plan->set.in,
	};
	const struct sql_move_note_merged note = {
		.request_id = uuid_bytes(&registry->request_id),
		.dest_id = dest,
		.namespaces = namespaces,
		.set = plan->set.in,
	};
	const struct sql_move_delete_merged deletion = {
		.request_id = uuid_bytes(&registry->request_id),
		.now = now,
		.purge_at = now + registry_retention_us(registry),
		.dest_id = dest,
		.namespaces = namespaces,
		.set = plan->set.in,
	};
	struct db_call calls[] = {
		changes_of_merged(registry, plan->set.kind, &plan->set.in, dest),
		sql_move_forward_merged_call(pool, plan->set.kind, &forward),
		sql_move_note_merged_call(pool, plan->set.kind, &note),
		sql_move_delete_merged_call(pool, plan->set.kind, &deletion),
	};

	return plan->found.merged.count > 0 ? run_calls(registry, calls, COUNT_OF(calls)) : OUTCOME_OK;
}

// Writes the first change rows: of what an undo recovers, then of the namespaces that are merged.
static enum outcome write_first_changes(struct registry *registry, const struct move_plan *plan)
{
	enum outcome outcome = plan->first.write != NULL ? plan->first.write(plan->first.arg) : OUTCOME_OK;

	return outcome == OUTCOME_OK ? merge_spaces(registry, plan) : outcome;
}

enum { MOVE_CALLS = 4 };

// The calls that change forwards: delete those at the new addresses, and insert those at the old ones.
static size_t forward_calls(struct registry *registry, const struct move_plan *plan, const struct move_set *set,
	struct db_call *calls)
{
	const struct sql_move_retire_forwards retire = { .dest_id = plan->action->dest.id, .set = set->in };
	const struct sql_move_forward forward = {
		.request_id = uuid_bytes(&registry->request_id),
		.now = registry->stamp_us,
		.set = set->in,
	};

	calls[0] = sql_move_retire_forwards_call(registry->pool, set->kind, &retire);
	calls[1] = sql_move_forward_call(registry->pool, set->kind, &forward);
	return 2;
}

static size_t take_calls(struct registry *registry, const struct move_plan *plan, const struct move_set *set,
	struct db_call *calls)
{
	const struct sql_move_resources move = { .dest_id = plan->action->dest.id, .set = set->in };

	calls[0] = changes_of_move(registry, set->kind, &set->in, plan->action->dest.id);
	calls[1] = sql_move_resources_call(registry->pool, set->kind, &move);
	return 2;
}

typedef size_t set_calls(struct registry *registry, const struct move_plan *plan, const struct move_set *set,
	struct db_call *calls);

static enum outcome move_at_once(struct registry *registry, const struct move_plan *plan)
{
	struct db_call calls[MOVE_CALLS];
	enum outcome outcome = write_first_changes(registry, plan);

	if (outcome != OUTCOME_OK)
		return outcome;
	size_t n = forward_calls(registry, plan, &plan->set, calls);
	n += take_calls(registry, plan, &plan->set, calls + n);
	return run_calls(registry, calls, n);
}

static enum sql_move_set range_of(enum sql_move_set kind)
{
	switch (kind) {
	case SQL_MOVE_SET_SPACE:
		return SQL_MOVE_SET_SPACE_RANGE;
	case SQL_MOVE_SET_TREE:
		return SQL_MOVE_SET_TREE_RANGE;
	case SQL_MOVE_SET_CHANGED: // it has a range anyway
		return SQL_MOVE_SET_CHANGED;
	default:
		return SQL_MOVE_SET_ALL_RANGE;
	}
}

// Whether the resources of a chunk have moved once its calls have run, so that the progress is told.
enum chunk_progress { CHUNK_PREPARED, CHUNK_MOVED };

// Runs the calls that make() makes for each chunk of the set. bounds: the ids that end all chunks but the last.
static enum outcome for_each_chunk(struct registry *registry, const struct move_plan *plan, const struct db_rows *bounds,
	set_calls *make, enum chunk_progress progress)
{
	struct db_call calls[MOVE_CALLS];
	struct move_set range = plan->set;
	enum outcome outcome = OUTCOME_OK;

	range.kind = range_of(plan->set.kind);
	for (size_t i = 0; outcome == OUTCOME_OK && i <= bounds->n; i++) {
		range.in.after = i > 0 ? sql_move_bounds_row(bounds, i - 1)->id : 0;
		range.in.upto = i < bounds->n ? sql_move_bounds_row(bounds, i)->id : UINT64_MAX;
		outcome = run_calls(registry, calls, make(registry, plan, &range, calls));
		if (outcome == OUTCOME_OK && progress == CHUNK_MOVED)
			registry_tell(registry, i < bounds->n ? (i + 1) * CHUNK : plan->action->count);
	}
	return outcome;
}

// From the first change row until COMMIT, no reader of the whole log or of the two tenants gets any further. So the change rows
// come last. Forwards of namespaces that are merged are written twice: merge_spaces() writes over those that lead to the source's
// own.
static enum outcome move_in_chunks(struct registry *registry, const struct move_plan *plan)
{
	const struct sql_move_bounds in = { .set = plan->set.in, .every = CHUNK };
	struct db_call call = sql_move_bounds_call(registry->pool, plan->set.kind, &in);
	enum outcome outcome = run_calls(registry, &call, 1);

	if (outcome == OUTCOME_OK)
		outcome = for_each_chunk(registry, plan, &call.rows, forward_calls, CHUNK_PREPARED);
	if (outcome == OUTCOME_OK)
		outcome = write_first_changes(registry, plan);
	if (outcome == OUTCOME_OK)
		outcome = for_each_chunk(registry, plan, &call.rows, take_calls, CHUNK_MOVED);
	return outcome;
}

static enum outcome adjust_counts(struct registry *registry, const struct move_plan *plan)
{
	const struct move_action *action = plan->action;
	// The plan has checked the quota under the lock of the tenant's row.
	struct locked_tenant dest = { .id = action->dest.id };
	struct db_call calls[] = {
		tenant_count_down_call(registry, action->source.id, action->count),
		tenant_count_up_call(registry, &dest, action->count - plan->found.merged.count),
	};

	return run_calls(registry, calls, COUNT_OF(calls));
}

static enum outcome tell_definitions(struct registry *registry, const struct move_action *action)
{
	enum outcome outcome = definitions_changed(registry, action->source.id);

	return outcome == OUTCOME_OK ? definitions_changed(registry, action->dest.id) : outcome;
}

enum outcome move_execute(struct registry *registry, const struct move_plan *plan)
{
	enum outcome outcome;

	assert(db_txn_writes(registry->db) && plan->action->n_blockers == 0);
	if (plan->action->count == 0)
		return OUTCOME_SEE_OTHER;
	enum db_result large = plan->action->count > CHUNK ? db_txn_large(registry->db) : DB_OK;
	if (large != DB_OK)
		return registry_db_failed(large);
	outcome = plan->action->count > CHUNK ? move_in_chunks(registry, plan) : move_at_once(registry, plan);
	if (outcome == OUTCOME_OK)
		outcome = adjust_counts(registry, plan);
	if (outcome == OUTCOME_OK && plan->found.definitions.n > 0)
		outcome = tell_definitions(registry, plan->action);
	return outcome == OUTCOME_OK ? OUTCOME_SEE_OTHER : outcome;
}

enum outcome move_fail_blocked(struct registry *registry, const struct move_action *action)
{
	struct problem_cause *causes = POOL_ARRAY(registry->pool, struct problem_cause, action->n_blockers);

	assert(action->n_blockers > 0);
	registry_fail(registry, OUTCOME_BLOCKED, "nothing was moved: %s%zu %s in the way",
		action->more_blockers ? "more than " : "", action->n_blockers,
		action->n_blockers == 1 ? "thing stands" : "things stand");
	for (size_t i = 0; i < action->n_blockers; i++) {
		const struct move_blocker *blocker = &action->blockers[i];

		causes[i] = (struct problem_cause){ .reason = blocker->reason, .subject = blocker->resource, .message =
			blocker->detail };
	}
	registry->problem->causes = causes;
	registry->problem->n_causes = action->n_blockers;
	return OUTCOME_BLOCKED;
}

struct str move_blocker_text(struct pool *pool, const struct move_blocker *blocker)
{
	struct str what = blocker->resource.n > 0 ? blocker->resource : STR("all");

	return str_printf(pool, "%.*s: %s: %.*s", STR_ARG(what), blocker->reason, STR_ARG(blocker->detail));
}

enum outcome move_record(struct registry *registry, const struct move_order *order, const struct move_plan *plan,
	struct str if_match, enum move_state state)
{
	assert(db_txn_writes(registry->db) && (state == MOVE_QUEUED || state == MOVE_DONE));
	const struct move_action *action = plan->action;
	bool done = state == MOVE_DONE;
	const struct sql_move_insert in = {
		.uid = uuid_bytes(&registry->request_id),
		.source_id = action->source.id,
		.dest_id = action->dest.id,
		.resource_id = action->resource.id,
		.resource_id_is_null = order->address == NULL,
		.state = done ? STR("done") : STR("queued"),
		.if_match = if_match,
		.words = (uint64_t)order->words,
		.actor = registry->actor,
		.resources = action->count,
		.created_at = registry->stamp_us,
		.finished_at = registry->stamp_us,
		.finished_at_is_null = !done,
	};
	enum db_result result = sql_move_insert_run(registry->db, registry->pool, &in, NULL);

	registry->left_work = registry->left_work || !done;
	return result == DB_OK || result == DB_DUPLICATE ? OUTCOME_OK : registry_db_failed(result);
}

// The locking read waits for a COMMIT that is still on its way.
enum outcome move_find_queued(struct registry *registry)
{
	const struct sql_move_recorded in = { .uid = uuid_bytes(&registry->request_id) };
	struct db_call calls[] = {
		sql_move_recorded_call(registry->pool, SQL_MOVE_READ_PLAIN, &in),
		sql_move_recorded_call(registry->pool, SQL_MOVE_READ_LOCKING, &in),
	};

	assert(db_txn_writes(registry->db));
	if (db_txn_tries(registry->db) < 2)
		return OUTCOME_OK;
	for (size_t i = 0; i < COUNT_OF(calls); i++) {
		enum outcome outcome = run_calls(registry, &calls[i], 1);
		if (outcome != OUTCOME_OK)
			return outcome;
		if (calls[i].rows.n > 0) {
			registry->left_work = true;
			return OUTCOME_ACCEPTED;
		}
	}
	return OUTCOME_OK;
}

enum outcome move_run(struct registry *registry, const struct move_order *order, struct tag_guard guard,
	struct move_result *result)
{
	struct move_plan plan = { .action = &result->action };
	bool conditional = guard.matches != NULL || guard.excludes != NULL;
	enum tag_check check = TAG_OK;
	struct str if_match = STR_NONE;

	assert(db_txn_writes(registry->db));
	*result = (struct move_result){ .uid = registry->request_id };
	enum outcome outcome = move_find_queued(registry);
	if (outcome == OUTCOME_ACCEPTED) {
		result->action.source.name = order->source;
		result->action.dest.name = order->dest;
	}
	if (outcome == OUTCOME_OK)
		outcome = move_plan(registry, order, conditional ? MOVE_LOOK_COMPARE : MOVE_LOOK_LOCKED, &plan);
	if (outcome != OUTCOME_OK)
		return outcome;
	if (conditional)
		check = tag_guard_check(guard, result->action.etag, &result->action.other_etags);
	if (check != TAG_OK)
		return tag_guard_fail(registry, check, result->action.etag);
	if (result->action.n_blockers > 0)
		return move_fail_blocked(registry, &result->action);
	if (guard.matches != NULL)
		if_match = str_c(result->action.tag);
	if (order->background || result->action.count > registry->settings->move_sync_max) {
		outcome = move_record(registry, order, &plan, if_match, MOVE_QUEUED);
		return outcome == OUTCOME_OK ? OUTCOME_ACCEPTED : outcome;
	}
	outcome = move_execute(registry, &plan);
	if (outcome != OUTCOME_SEE_OTHER || result->action.count == 0)
		return outcome;
	outcome = move_record(registry, order, &plan, if_match, MOVE_DONE);
	return outcome == OUTCOME_OK ? OUTCOME_SEE_OTHER : outcome;
}

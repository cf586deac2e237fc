// SPDX-License-Identifier: Apache-2.0
// Carrying a move out: set by set in SQL, so that ten thousand resources cost what the statements cost; all in the one
// transaction that holds both tenants.
#include "base/base.h"

#include "base/pool.h"
#include "registry/move_internal.h"

// Statements over more than this many rows are split by id: INSERT … SELECT into the change log holds the table's
// AUTO-INC lock until it ends (innodb_autoinc_lock_mode=1), and other tenants' writers wait for that.
enum { CHUNK = 10000 };

#define CHANGE_COLUMNS                                                                                       \
	"(request_id, at, actor, verb, tenant_id, from_tenant_id, resource_id, uid, type_id, namespace, name, " \
	"revision, etag_before, etag_after, moves)"
#define MERGES_INTO                                                                                           \
	"JOIN resources d ON d.tenant_id = ? AND d.type_id = r.type_id AND d.namespace = '' AND d.name = r.name " \
	"AND d.live IS NOT NULL "

static const struct db_query q_log[MOVE__KINDS] =
	MOVE_QUERIES("INSERT INTO changes " CHANGE_COLUMNS " SELECT ?, ?, ?, 'moved', ?, r.tenant_id, r.id, r.uid, r.type_id, "
		     "r.namespace, r.name, r.revision + 1, r.etag, r.etag, r.moves + 1 FROM resources r WHERE ",
		"", "btsu", "", "");
// Where something arrives, no forward leads away any more.
static const struct db_query q_retire[MOVE__KINDS] =
	MOVE_QUERIES("DELETE f FROM forwards f JOIN resources r ON r.type_id = f.type_id AND r.namespace = f.namespace AND "
		     "r.name = f.name WHERE f.tenant_id = ? AND ",
		"", "u", "", "");
static const struct db_query q_forward[MOVE__KINDS] =
	MOVE_QUERIES("INSERT INTO forwards (tenant_id, type_id, namespace, name, resource_id, moved_at) "
		     "SELECT r.tenant_id, r.type_id, r.namespace, r.name, r.id, ? FROM resources r WHERE ",
		" ON DUPLICATE KEY UPDATE resource_id = VALUES(resource_id), moved_at = VALUES(moved_at)", "t", "", "");
static const struct db_query q_move[MOVE__KINDS] = MOVE_QUERIES(
	"UPDATE resources r SET r.tenant_id = ?, r.revision = r.revision + 1, r.moves = r.moves + 1, r.changed = " LAST_CHANGE " WHERE ", "", "u", "",
	"");

// A namespace that exists in the destination is merged into that one: the source's own is deleted, recoverable by uid,
// and its address leads to the other.
static const struct db_query q_merge_log[MOVE__KINDS] =
	MOVE_QUERIES("INSERT INTO changes " CHANGE_COLUMNS " SELECT ?, ?, ?, 'deleted', r.tenant_id, NULL, r.id, r.uid, "
		     "r.type_id, r.namespace, r.name, r.revision, r.etag, NULL, r.moves FROM resources r " MERGES_INTO
		     "WHERE r.type_id = ? AND ",
		"", "btsuu", "", "");
static const struct db_query q_merge_forward[MOVE__KINDS] =
	MOVE_QUERIES("INSERT INTO forwards (tenant_id, type_id, namespace, name, resource_id, moved_at) "
		     "SELECT r.tenant_id, r.type_id, r.namespace, r.name, d.id, ? FROM resources r " MERGES_INTO
		     "WHERE r.type_id = ? AND ",
		" ON DUPLICATE KEY UPDATE resource_id = VALUES(resource_id), moved_at = VALUES(moved_at)", "tuu", "", "");
static const struct db_query q_merge[MOVE__KINDS] =
	MOVE_QUERIES("UPDATE resources r " MERGES_INTO "SET r.live = NULL, r.deleted_at = ?, r.purge_at = ?, r.deletion = ?, "
		     "r.changed = " LAST_CHANGE " WHERE r.type_id = ? AND ",
		"", "uttbu", "", "");

static const struct db_query q_bounds[MOVE__KINDS] =
	MOVE_QUERIES("SELECT id FROM (SELECT r.id, ROW_NUMBER() OVER (ORDER BY r.id) AS n FROM resources r WHERE ",
		") numbered WHERE n % ? = 0 ORDER BY id", "", "u", "u");
static const struct db_query q_insert_move = {
	"INSERT INTO moves (uid, source_id, dest_id, resource_id, state, if_match, words, actor, resources, created_at, "
	"finished_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
	"buuussusutt", ""
};

static const struct db_query q_recorded = { "SELECT 1 FROM moves WHERE uid = ?", "b", "u" };
static const struct db_query q_recorded_locking = { "SELECT 1 FROM moves WHERE uid = ? LOCK IN SHARE MODE", "b", "u" };

#define HEAD(...) DB_IN(__VA_ARGS__), COUNT_OF(((const struct db_value[]){ __VA_ARGS__ }))

// A name taken here is one that the plan overlooked: then nothing may be moved.
static enum outcome run_calls(struct registry *registry, struct db_call *calls, size_t n)
{
	enum db_result result = db_run_batch(registry->db, registry->pool, calls, n);

	for (size_t i = 0; result == DB_OK && i < n; i++)
		result = calls[i].result;
	return result == DB_OK ? OUTCOME_OK : registry_db_failed(result);
}

static enum outcome merge_spaces(struct registry *registry, const struct move_plan *plan)
{
	struct db_value dest = db_u(plan->action->dest.id), type = db_u(type_namespaces(registry)->id);
	struct db_value request = db_uuid(&registry->request_id), now = db_t(registry->stamp_us);
	struct db_value purge = db_t(registry->stamp_us + retention_us(registry));
	struct db_call calls[] = {
		set_call(registry, q_merge_log, &plan->set, HEAD(request, now, db_s(registry->actor), dest, type), NULL, 0),
		set_call(registry, q_merge_forward, &plan->set, HEAD(now, dest, type), NULL, 0),
		set_call(registry, q_merge, &plan->set, HEAD(dest, now, purge, request, type), NULL, 0),
	};

	return plan->found.merged.count > 0 ? run_calls(registry, calls, COUNT_OF(calls)) : OUTCOME_OK;
}

enum { MOVE_CALLS = 4 };

// Addresses: what led away from the new ones no longer does, what leads to them does.
static size_t forward_calls(struct registry *registry, const struct move_plan *plan, const struct move_set *set,
	struct db_call *calls)
{
	calls[0] = set_call(registry, q_retire, set, HEAD(db_u(plan->action->dest.id)), NULL, 0);
	calls[1] = set_call(registry, q_forward, set, HEAD(db_t(registry->stamp_us)), NULL, 0);
	return 2;
}

static size_t take_calls(struct registry *registry, const struct move_plan *plan, const struct move_set *set,
	struct db_call *calls)
{
	struct db_value dest = db_u(plan->action->dest.id), now = db_t(registry->stamp_us);

	calls[0] = set_call(registry, q_log, set, HEAD(db_uuid(&registry->request_id), now, db_s(registry->actor), dest),
		NULL, 0);
	calls[1] = set_call(registry, q_move, set, HEAD(dest), NULL, 0);
	return 2;
}

typedef size_t set_calls(struct registry *registry, const struct move_plan *plan, const struct move_set *set,
	struct db_call *calls);

static enum outcome move_at_once(struct registry *registry, const struct move_plan *plan)
{
	struct db_call calls[MOVE_CALLS];
	size_t n = forward_calls(registry, plan, &plan->set, calls);

	n += take_calls(registry, plan, &plan->set, calls + n);
	return run_calls(registry, calls, n);
}

static enum move_kind range_of(enum move_kind kind)
{
	switch (kind) {
	case MOVE_SPACE:
		return MOVE_SPACE_RANGE;
	case MOVE_TREE:
		return MOVE_TREE_RANGE;
	default:
		return MOVE_ALL_RANGE;
	}
}

static enum outcome for_each_chunk(struct registry *registry, const struct move_plan *plan, const struct db_rows *bounds,
	set_calls *make, struct move_progress progress)
{
	struct db_call calls[MOVE_CALLS];
	struct move_set range = plan->set;
	enum outcome outcome = OUTCOME_OK;

	range.kind = range_of(plan->set.kind);
	for (size_t i = 0; outcome == OUTCOME_OK && i <= bounds->n; i++) {
		range.after = i > 0 ? db_at(bounds, i - 1, 0)->u : 0;
		range.upto = i < bounds->n ? db_at(bounds, i, 0)->u : UINT64_MAX;
		outcome = run_calls(registry, calls, make(registry, plan, &range, calls));
		if (outcome == OUTCOME_OK && progress.tell != NULL)
			progress.tell(progress.arg, i < bounds->n ? (i + 1) * CHUNK : plan->action->count);
	}
	return outcome;
}

// From the first row in the change log to COMMIT nobody who follows all of the log, or one of the two tenants, is told
// anything: so that comes last.
static enum outcome move_in_chunks(struct registry *registry, const struct move_plan *plan,
	struct move_progress progress)
{
	struct db_value size = db_u(CHUNK);
	struct db_call call = set_call(registry, q_bounds, &plan->set, NULL, 0, &size, 1);
	enum outcome outcome = run_calls(registry, &call, 1);

	if (outcome == OUTCOME_OK)
		outcome = for_each_chunk(registry, plan, &call.rows, forward_calls, (struct move_progress){ 0 });
	if (outcome == OUTCOME_OK)
		outcome = for_each_chunk(registry, plan, &call.rows, take_calls, progress);
	return outcome;
}

static enum outcome adjust_counts(struct registry *registry, const struct move_plan *plan)
{
	const struct move_action *action = plan->action;
	// The plan has checked the quota under the lock of the tenant's row.
	struct held_tenant dest = { .id = action->dest.id };
	struct db_call calls[] = {
		count_down_call(registry, action->source.id, action->count),
		count_up_call(registry, &dest, action->count - plan->found.merged.count),
	};

	return run_calls(registry, calls, COUNT_OF(calls));
}

static enum outcome tell_definitions(struct registry *registry, const struct move_action *action)
{
	enum outcome outcome = definitions_changed(registry, action->source.id);

	return outcome == OUTCOME_OK ? definitions_changed(registry, action->dest.id) : outcome;
}

enum outcome move_execute(struct registry *registry, const struct move_plan *plan, struct move_progress progress)
{
	enum outcome outcome;

	if (plan->action->count == 0)
		return OUTCOME_SEE_OTHER;
	outcome = merge_spaces(registry, plan);
	if (outcome == OUTCOME_OK)
		outcome = plan->action->count > CHUNK ? move_in_chunks(registry, plan, progress) :
							move_at_once(registry, plan);
	if (outcome == OUTCOME_OK)
		outcome = adjust_counts(registry, plan);
	if (outcome == OUTCOME_OK && plan->found.definitions)
		outcome = tell_definitions(registry, plan->action);
	return outcome == OUTCOME_OK ? OUTCOME_SEE_OTHER : outcome;
}

enum outcome fail_blocked(struct registry *registry, const struct move_action *action)
{
	registry_fail(registry, OUTCOME_BLOCKED, "nothing was moved: %s%zu %s in the way",
		action->more_blockers ? "more than " : "", action->n_blockers,
		action->n_blockers == 1 ? "thing stands" : "things stand");
	registry->problem.blockers = action->blockers;
	registry->problem.n_blockers = action->n_blockers;
	return OUTCOME_BLOCKED;
}

enum outcome fail_stale_action(struct registry *registry, const struct move_action *action)
{
	registry_fail(registry, OUTCOME_STALE,
		"something changed since the move action with that tag was shown: look at the move action again");
	if (action->etag[0] != '\0') // a queued move has none by then
		registry_fail_member(registry, "etag", str_printf(registry->pool, "\"%s\"", action->etag));
	return OUTCOME_STALE;
}

enum outcome move_record(struct registry *registry, const struct move_order *order, const struct move_plan *plan,
	bool conditional, bool done)
{
	const struct move_action *action = plan->action;
	struct db_value in[] = { db_uuid(&registry->request_id), db_u(action->source.id), db_u(action->dest.id),
		order->address != NULL ? db_u(action->resource.id) : db_null('u'), db_s(done ? STR("done") : STR("queued")),
		conditional ? db_s(str_c(action->tag)) : db_null('s'), db_u((uint64_t)order->words), db_s(registry->actor),
		db_u(action->count), db_t(registry->stamp_us), done ? db_t(registry->stamp_us) : db_null('t') };
	enum db_result result = db_run(registry->db, registry->pool, &q_insert_move, in, NULL);

	return result == DB_OK || result == DB_DUPLICATE ? OUTCOME_OK : registry_db_failed(result);
}

// An earlier run of this request may have queued the move and lost the answer to its COMMIT: a waiting move leaves no
// change row, and by now it may be done. The locking read waits for a COMMIT that is still on its way.
static enum outcome find_recorded(struct registry *registry, const struct move_order *order, struct move_result *result)
{
	struct db_value uid = db_uuid(&registry->request_id);
	struct db_call calls[] = { { .query = &q_recorded, .in = &uid }, { .query = &q_recorded_locking, .in = &uid } };

	if (db_txn_tries(registry->db) < 2)
		return OUTCOME_OK;
	for (size_t i = 0; i < COUNT_OF(calls); i++) {
		enum outcome outcome = run_calls(registry, &calls[i], 1);
		if (outcome != OUTCOME_OK)
			return outcome;
		if (calls[i].rows.n > 0) {
			result->action.source.name = order->source;
			result->action.dest.name = order->dest;
			return OUTCOME_ACCEPTED;
		}
	}
	return OUTCOME_OK;
}

enum outcome move_run(struct registry *registry, const struct move_order *order, struct tag_guard guard,
	struct move_result *result)
{
	struct move_plan plan = { .action = &result->action };
	bool conditional = guard.matches != NULL;

	*result = (struct move_result){ .uid = registry->request_id };
	enum outcome outcome = find_recorded(registry, order, result);
	if (outcome == OUTCOME_OK)
		outcome = move_plan(registry, order, conditional ? MOVE_LOOK_COMPARE : MOVE_LOOK_LOCKED, &plan);
	if (outcome != OUTCOME_OK)
		return outcome;
	if (conditional && !guard.matches(guard.arg, str_c(result->action.etag)))
		return fail_stale_action(registry, &result->action);
	if (result->action.n_blockers > 0)
		return fail_blocked(registry, &result->action);
	if (order->background || result->action.count > registry->config->move_sync_max) {
		outcome = move_record(registry, order, &plan, conditional, false);
		return outcome == OUTCOME_OK ? OUTCOME_ACCEPTED : outcome;
	}
	outcome = move_execute(registry, &plan, (struct move_progress){ 0 });
	if (outcome != OUTCOME_SEE_OTHER || result->action.count == 0)
		return outcome;
	outcome = move_record(registry, order, &plan, conditional, true);
	return outcome == OUTCOME_OK ? OUTCOME_SEE_OTHER : outcome;
}

// SPDX-License-Identifier: Apache-2.0
// Work in the background: moves, and large namespaces that are being emptied. A waiting move is a row in moves; the mover that
// carries it out holds that row's lock for as long as it takes, so the lock is released if the mover dies. Progress is
// written by a second connection: the first one's transaction shows nothing before it ends. A namespace is a row in
// namespace_deletions, and is emptied piece by piece, each in a transaction of its own (resource/space_pieces.c).
#include "base/base.h"

#include "base/memory.h"
#include "db/maintenance.h"
#include "db/settings.h"
#include "registry/mover.h"

#include "base/buf.h"
#include "base/clock.h"
#include "base/control.h"
#include "base/log.h"
#include "base/metrics.h"
#include "base/pool.h"
#include "registry/cache/coherence.h"
#include "registry/move/internal.h"
#include "registry/registry.h"
#include "registry/resource/internal.h"
#include "registry/undo/undo.h"
#include "sql/namespace_ends.h"

enum { MOVES_A_TURN = 20 }; // that are looked at until one can be carried out
enum { IDLE_MS = 300, AWAY_MS = 2000 }; // the pause if nothing waits, and the pause if the database does not answer or refuses what waits

// How one attempt at a move ended.
enum attempt {
	ATTEMPT_ENDED,   // committed: the move is done, or has failed, and its row says so
	ATTEMPT_WAITS,   // rolled back: the move waits as before, or another mover carries it out
	ATTEMPT_REFUSED, // rolled back: mover->refusal says with what the move has to fail
	ATTEMPT_BROKEN,  // rolled back, and may end so each time: something that is stored can't be read
	ATTEMPT_FAILED,  // the database does not answer, or rows were locked for too long
};

// With what a move fails whose transaction was rolled back. Another transaction records it.
struct refusal {
	enum outcome outcome;
	char detail[1024];
	size_t n;
};

struct mover {
	struct db *db;
	struct db *progress_db;
	struct registry_store *store;
	struct registry registry[1]; // the registry session of the present move or namespace
	struct pool *pool;
	struct pool *progress_pool;
	struct problem problem; // why the present move failed
	uint64_t move_id; // the present move
	uint64_t after_id; // the next turn begins with the moves after this one, so that one that fails each time stops no other
	uint64_t space_id; // the namespace that a piece was taken of last; the next turn begins with the namespaces after it
	const struct shared *host; // NULL: none
	bool has_progress; // the present move's row of move_progress was written
	enum attempt attempt; // how the function of the present transaction left it; valid if db_txn_run() returned DB_OK
	struct refusal refusal; // of the present move, with ATTEMPT_REFUSED
	enum metrics_counter counter; // of the present move's end, with ATTEMPT_ENDED
	bool took_piece; // of a namespace, and its transaction was committed
};

static void mover_close(struct mover *mover)
{
	registry_store_free(&mover->store);
	db_close(&mover->db);
	db_close(&mover->progress_db);
	pool_free(&mover->pool);
	pool_free(&mover->progress_pool);
}

static void mover_open(struct mover *mover, const struct config *config, const struct shared *host)
{
	*mover = (struct mover){ .db = db_open(db_settings(config), DB_APPLICATION), .progress_db = db_open(db_settings(config), DB_APPLICATION),
		.pool = pool_new_or_end(), .progress_pool = pool_new_or_end() };
	mover->store = registry_store_new(config, mover->db);
	if (mover->store == NULL)
		memory_end(0);
	db_heed_maintenance(mover->db, true);
	coherence_join(mover->store, host);
	db_join(mover->progress_db, host);
	mover->host = host;
	registry_attach(mover->registry, mover->store);
}

// arg: the mover. moved: how many resources have moved so far.
static void report_progress(void *arg, uint64_t moved)
{
	struct mover *mover = arg;

	// Nothing depends on whether this succeeds: it informs those who ask for the progress.
	const struct sql_mover_progress in = { .id = mover->move_id, .moved = moved, .now = clock_now_us() };
	mover->has_progress = true;
	(void)sql_mover_progress_run(mover->progress_db, mover->progress_pool, &in, NULL);
	pool_clear(mover->progress_pool);
}

// Deletes the present move's row of progress, so that writers of its tenants are no longer refused.
static void forget_progress(struct mover *mover)
{
	const struct sql_mover_forget_progress in = { .id = mover->move_id };

	mover->has_progress = false;
	(void)sql_mover_forget_progress_run(mover->progress_db, mover->progress_pool, &in, NULL);
	pool_clear(mover->progress_pool);
}

static enum outcome read_resource(struct registry *registry, uint64_t id, struct str tenant, struct address *address)
{
	struct db_rows rows;
	enum db_result result =
		sql_resource_by_id_run(registry->db, registry->pool, &(struct sql_resource_by_id){ .id = id }, &rows);

	if (result != DB_OK)
		return registry_db_failed(result);
	if (rows.n == 0)
		return registry_fail(registry, OUTCOME_NOT_FOUND, "the resource was purged before its move");
	const struct resource resource = resource_of_columns(registry, &sql_resource_by_id_row(&rows, 0)->r);

	*address = (struct address){
		.tenant = tenant, .type = resource.type, .space = resource.space, .name = resource.name
	};
	return OUTCOME_OK;
}

// The move names tenants and resource by id, but planning looked them up by name. A name may belong to another one by now.
static enum outcome check_same(struct registry *registry, const struct sql_mover_order_row *move,
	const struct move_action *action)
{
	if (action->source.id != move->source_id)
		return registry_fail(registry, OUTCOME_NOT_FOUND, "the source tenant was purged before its move");
	if (action->dest.id != move->dest_id)
		return registry_fail(registry, OUTCOME_NOT_FOUND, "the destination tenant was purged before the move");
	if (!move->resource_id_is_null && action->resource.id != move->resource_id)
		return registry_fail(registry, OUTCOME_NOT_FOUND,
			"the resource was deleted or moved before its move, and another one has its name");
	return OUTCOME_OK;
}

// What is in the way by now may be gone when somebody looks, so the row keeps the first of it.
static enum outcome fail_blocked(struct registry *registry, const struct move_action *action)
{
	struct str first = move_blocker_text(registry->pool, &action->blockers[0]);

	(void)move_fail_blocked(registry, action);
	struct str count = registry->problem->detail;
	return registry_fail(registry, OUTCOME_BLOCKED, "%.*s, the first: %.*s", STR_ARG(count), STR_ARG(first));
}

// Carries out the move whose row is locked. Everything is checked again, since the move may have waited long.
// *count: changed to how many resources move as soon as that is known. *roll_back: set if it was refused after it had changed something.
static enum outcome carry_out_move(struct mover *mover, const struct sql_mover_order_row *move, uint64_t *count, bool *roll_back)
{
	struct registry *registry = mover->registry;
	struct move_action action = { 0 };
	struct move_plan plan = { .action = &action };
	struct address address;
	struct move_order order = { .source = move->source, .dest = move->dest };
	struct undo_task undo = { .tenant = move->source };
	enum outcome outcome = OUTCOME_OK;

	report_progress(mover, 0); // before the tenants are locked, as registry_take_locks() asks for rows of moves that have begun
	if (move_undoes(move->if_match, &undo.request))
		return undo_carry_out(registry, &undo, count, roll_back);
	if (!move->resource_id_is_null) {
		outcome = read_resource(registry, move->resource_id, order.source, &address);
		order.address = &address;
	}
	if (outcome == OUTCOME_OK)
		outcome = move_plan(registry, &order, MOVE_LOOK_LOCKED, &plan);
	if (outcome == OUTCOME_OK)
		outcome = check_same(registry, move, &action);
	if (outcome != OUTCOME_OK)
		return outcome;
	*count = action.count;
	// If-Match was compared with the tag of the whole action when the move was accepted. Since then the tenants may have
	// changed otherwise, but not the resources that move.
	if (move->if_match.p != NULL && !move_state_tag_is(&action, move->if_match))
		return tag_guard_fail(registry, TAG_DIFFERS, action.etag);
	if (action.n_blockers > 0)
		return fail_blocked(registry, &action);
	return move_execute(registry, &plan);
}

// Locks and reads the row of the present move, in a transaction that has just begun. OUTCOME_NO_CONTENT if another mover carries
// it out, or has done so.
static enum outcome claim(struct mover *mover, const struct sql_mover_order_row **move)
{
	struct registry *registry = mover->registry;

	registry_begin_run(registry);
	registry->lock_policy = LOCK_PATIENTLY; // no client waits for this process
	registry->progress.tell = report_progress;
	registry->progress.arg = mover;
	struct db_call calls[] = {
		sql_mover_claim_call(registry->pool, &(struct sql_mover_claim){ .id = mover->move_id }),
		sql_mover_order_call(registry->pool, &(struct sql_mover_order){ .id = mover->move_id }),
	};
	enum db_result result = db_run_batch(registry->db, registry->pool, calls, COUNT_OF(calls));
	if (result != DB_OK)
		return registry_db_failed(result);
	if (calls[0].rows.n == 0 || calls[1].rows.n == 0)
		return OUTCOME_NO_CONTENT;
	*move = sql_mover_order_row(&calls[1].rows, 0);
	registry->actor = (*move)->actor;
	return OUTCOME_OK;
}

// Records with which outcome the claimed move has ended. count: how many resources it moves.
static enum db_verdict record_end(struct mover *mover, enum outcome outcome, uint64_t count)
{
	struct registry *registry = mover->registry;
	int64_t now_us = clock_now_us();
	bool done = outcome == OUTCOME_SEE_OTHER;
	const struct sql_mover_finish in = {
		.id = mover->move_id,
		.state = done ? STR("done") : STR("failed"),
		.resources = count,
		.outcome = done ? STR("") : str_c(outcome_name(outcome)),
		.detail = done ? STR("") : registry->problem->detail,
		// The stamp is of the time when the locks were taken, which may be minutes ago, but never earlier than what the
		// transaction wrote.
		.now = now_us > registry->stamp_us ? now_us : registry->stamp_us,
	};

	if (sql_mover_finish_run(registry->db, registry->pool, &in, NULL) != DB_OK)
		return DB_ROLLBACK;
	mover->attempt = ATTEMPT_ENDED;
	mover->counter = done ? METRICS_MOVES_DONE : METRICS_MOVES_FAILED;
	return DB_COMMIT;
}

static void refuse(struct mover *mover, enum outcome outcome, struct str reason)
{
	struct str detail = str_utf8_head(reason, sizeof(mover->refusal.detail));

	memcpy(mover->refusal.detail, detail.p, detail.n);
	mover->refusal.n = detail.n;
	mover->refusal.outcome = outcome;
}

// Carries out the present move.
static enum db_verdict try_move(void *arg)
{
	struct mover *mover = arg;
	const struct sql_mover_order_row *move;
	bool roll_back = false;

	mover->attempt = ATTEMPT_WAITS;
	if (claim(mover, &move) != OUTCOME_OK)
		return DB_ROLLBACK;
	uint64_t count = move->resources;
	enum outcome outcome = carry_out_move(mover, move, &count, &roll_back);
	if (roll_back) {
		refuse(mover, OUTCOME_BLOCKED, mover->registry->problem->detail);
		mover->attempt = ATTEMPT_REFUSED;
		return DB_ROLLBACK;
	}
	if (outcome == OUTCOME_INTERNAL)
		mover->attempt = ATTEMPT_BROKEN;
	if (outcome == OUTCOME_UNAVAILABLE || outcome == OUTCOME_INTERNAL)
		return DB_ROLLBACK;
	return record_end(mover, outcome, count);
}

// Lets the present move fail with mover->refusal, whatever it would find.
static enum db_verdict record_refusal(void *arg)
{
	struct mover *mover = arg;
	const struct refusal *refusal = &mover->refusal;
	const struct sql_mover_order_row *move;

	mover->attempt = ATTEMPT_WAITS;
	if (claim(mover, &move) != OUTCOME_OK)
		return DB_ROLLBACK;
	enum outcome outcome = registry_fail(mover->registry, refusal->outcome, "%.*s", (int)refusal->n, refusal->detail);
	return record_end(mover, outcome, move->resources);
}

// Reads the waiting moves behind mover->after_id, oldest first. False: the database does not answer. It also asks for the
// revisions of what processes cache, on behalf of all processes of the host, some of which serve only what needs none: so all of
// them learn of an upgrade of the schema.
static bool read_waiting(struct mover *mover, struct db_rows *rows)
{
	struct uuid none = { 0 };

	pool_clear(mover->pool);
	if (registry_begin(mover->registry, mover->pool, &none, STR(""), &mover->problem) != OUTCOME_OK ||
		coherence_ask(mover->registry) != OUTCOME_OK)
		return false;
	const struct sql_mover_waiting in = { .after = mover->after_id, .limit = MOVES_A_TURN };
	return sql_mover_waiting_run(mover->db, mover->pool, &in, rows) == DB_OK;
}

// What a turn did. Of what two parts of a turn did, the later of these values counts, if neither worked.
enum step {
	STEP_WORKED, // it ended a move, or deleted a piece of a namespace
	STEP_IDLE,   // nothing waits, or others work on all that waits
	STEP_FAILED, // each move or namespace that waits failed for now, for a reason of its own
	STEP_AWAY,   // the database does not answer
};

// After a transaction that failed: STEP_FAILED if that had a reason of its own, such as rows that can't be read, or are locked
// for too long.
static enum step failed_or_away(struct mover *mover)
{
	struct uuid none = { 0 };

	return registry_begin(mover->registry, mover->pool, &none, STR(""), &mover->problem) == OUTCOME_OK &&
		registry_ping(mover->registry) == OUTCOME_OK ? STEP_FAILED : STEP_AWAY;
}

// One transaction of the present move.
static enum attempt run_attempt(struct mover *mover, const struct uuid *uid, enum db_verdict (*run)(void *arg))
{
	if (registry_begin(mover->registry, mover->pool, uid, STR(""), &mover->problem) != OUTCOME_OK)
		return ATTEMPT_FAILED;
	enum db_result result = db_txn_run(mover->db, DB_WRITE, uid, run, mover);
	if (result != DB_OK)
		return result == DB_ERROR ? ATTEMPT_BROKEN : ATTEMPT_FAILED;
	return mover->attempt;
}

// Carries out the present move, if nobody else does: in one transaction, or in another one that records why the first was given
// up.
static enum step run_move(struct mover *mover, const struct uuid *uid)
{
	mover->has_progress = false;
	enum attempt ended = run_attempt(mover, uid, try_move);
	if (ended == ATTEMPT_BROKEN && failed_or_away(mover) == STEP_FAILED) {
		refuse(mover, OUTCOME_INTERNAL, STR("the registry has something stored that can't be read; the operator finds it in the log, "
			"and by `tenure-manage doctor`"));
		ended = ATTEMPT_REFUSED;
	}
	if (ended == ATTEMPT_REFUSED)
		ended = run_attempt(mover, uid, record_refusal);
	if (ended != ATTEMPT_ENDED && mover->has_progress)
		forget_progress(mover);
	if (ended == ATTEMPT_ENDED)
		return STEP_WORKED;
	return ended == ATTEMPT_WAITS ? STEP_IDLE : failed_or_away(mover);
}

// One of the waiting moves: the oldest that nobody else carries out, and that does not fail by itself.
static enum step move_one(struct mover *mover)
{
	struct db_rows rows;
	enum step did = STEP_IDLE;

	if (!read_waiting(mover, &rows))
		return STEP_AWAY;
	for (size_t i = 0; i < rows.n; i++) {
		const struct sql_mover_waiting_row *row = sql_mover_waiting_row(&rows, i);
		struct uuid uid;

		uuid_from_bytes(row->uid, &uid);
		mover->move_id = row->id;
		enum step this_one = run_move(mover, &uid);
		if (this_one == STEP_AWAY)
			return STEP_AWAY;
		if (this_one == STEP_WORKED) {
			coherence_committed(mover->registry);
			metrics_add(mover->host, mover->counter, 1);
			return STEP_WORKED;
		}
		if (this_one == STEP_FAILED)
			did = STEP_FAILED;
		mover->after_id = row->id;
	}
	if (rows.n < MOVES_A_TURN)
		mover->after_id = 0; // the next turn begins with the oldest again
	return did;
}

// ---- namespaces

static enum db_verdict take_piece(void *arg)
{
	struct mover *mover = arg;

	registry_begin_run(mover->registry);
	mover->registry->lock_policy = LOCK_PATIENTLY;
	enum outcome outcome = resource_space_take_piece(mover->registry, mover->space_id);
	mover->took_piece = outcome == OUTCOME_OK;
	return mover->took_piece ? DB_COMMIT : DB_ROLLBACK;
}

// One piece of one namespace. Nobody looks for the request's id if the connection is lost during COMMIT, as other pieces have the
// same: what the next one finds done decides.
static enum step empty_one(struct mover *mover)
{
	const struct sql_namespace_deletions_waiting in = { .after = mover->space_id };
	struct uuid none = { 0 };
	struct db_rows rows;
	enum step did = STEP_IDLE;

	pool_clear(mover->pool);
	if (registry_begin(mover->registry, mover->pool, &none, STR(""), &mover->problem) != OUTCOME_OK ||
		sql_namespace_deletions_waiting_run(mover->db, mover->pool, &in, &rows) != DB_OK)
		return STEP_AWAY;
	for (size_t i = 0; i < rows.n; i++) {
		const struct sql_namespace_deletions_waiting_row *row = sql_namespace_deletions_waiting_row(&rows, i);

		mover->space_id = row->resource_id;
		if (registry_begin(mover->registry, mover->pool, &none, row->actor, &mover->problem) != OUTCOME_OK)
			return STEP_AWAY;
		mover->took_piece = false;
		if (db_txn_run(mover->db, DB_WRITE, NULL, take_piece, mover) != DB_OK) {
			did = failed_or_away(mover);
			if (did == STEP_AWAY)
				return STEP_AWAY;
		} else if (mover->took_piece) {
			coherence_committed(mover->registry);
			return STEP_WORKED;
		}
	}
	return did;
}

// A move and a piece: neither waits for the end of all of the other kind, nor for what fails by itself.
static enum step step(struct mover *mover)
{
	enum step moved = move_one(mover);
	enum step emptied = moved == STEP_AWAY ? STEP_AWAY : empty_one(mover);

	if (moved == STEP_WORKED || emptied == STEP_WORKED)
		return STEP_WORKED;
	return moved > emptied ? moved : emptied;
}

void mover_run(const struct config *config, struct shared *host, volatile sig_atomic_t *stop)
{
	struct mover mover;

	mover_open(&mover, config, host);
	while (!*stop) {
		if (host != NULL)
			(void)shared_refresh(host, clock_tick_us());
		control_apply(host);
		enum step did = step(&mover);
		if (did != STEP_WORKED && !*stop)
			clock_pause_ms(did == STEP_IDLE ? IDLE_MS : AWAY_MS); // a signal ends it early, and *stop is looked at
	}
	mover_close(&mover);
}

bool mover_once(const struct config *config, const struct shared *host)
{
	struct mover mover;

	mover_open(&mover, config, host);
	bool worked = step(&mover) == STEP_WORKED;
	mover_close(&mover);
	return worked;
}

// SPDX-License-Identifier: Apache-2.0
// Transactions: begun together with their first statement, and run again as long as they certainly did not happen. If the
// connection is lost during COMMIT, the change log is asked whether the transaction happened.
//
// A write transaction is not begun by BEGIN but by turning autocommit off. If Galera or a deadlock ends it amid a batch, the
// later statements of the batch, which were sent already, begin another transaction, and that is rolled back. After BEGIN they
// could commit, each on its own. Autocommit stays off until the next statement outside of a write transaction, in front of which
// it is turned on again.
#include "base/base.h"

#include "base/budget.h"
#include "base/clock.h"
#include "db/settings.h"
#include "base/digest.h"
#include "base/log.h"
#include "base/pool.h"
#include "db/db_internal.h"
#include "sql/session.h"

enum { FIRST_DELAY_US = 2000, LAST_DELAY_US = 400000 };

// ---- within a transaction

bool db_txn_writes(const struct db *db)
{
	return db->state != TXN_OUTSIDE && db->mode == DB_WRITE;
}

bool db_txn_is_snapshot(const struct db *db)
{
	return db->state != TXN_OUTSIDE && db->mode == DB_SNAPSHOT;
}

static bool begins_snapshot(const struct db *db)
{
	return db->state == TXN_WAITING && db->mode == DB_SNAPSHOT;
}

size_t db_txn_prelude(struct db *db, struct db_call prelude[TXN_MAX_PRELUDE])
{
	size_t n = 0;

	if (begins_snapshot(db)) {
		prelude[0].query = &sql_session_repeatable_read_query;
		prelude[1].query = &sql_session_begin_snapshot_query;
		return 2;
	}
	if (db->autocommit != !db_txn_writes(db) && !(db->state == TXN_OPEN && db->mode == DB_SNAPSHOT))
		prelude[n++].query = db_txn_writes(db) ? &sql_session_autocommit_off_query : &sql_session_autocommit_on_query;
	if (db->heeds && !db->apart && db_txn_writes(db) && db->state == TXN_WAITING)
		prelude[n++] = db_maintenance_gate();
	if (db->fenced && db_txn_writes(db) && db->faults[FAULT_NO_FENCE].kind == FAULT_NONE) {
		if (db->state == TXN_WAITING)
			prelude[n++] = db->large ? db_writer_stream() : db_writer_fence(db);
		else if (db->large)
			prelude[n++] = db_writer_check(db);
	}
	return n;
}

void db_txn_begun(struct db *db)
{
	if (!db_txn_is_snapshot(db))
		db->autocommit = !db_txn_writes(db);
	if (db->state == TXN_WAITING)
		db->state = TXN_OPEN;
}

enum db_result db_txn_check(const struct db *db)
{
	return db->failure;
}

enum db_result db_txn_note(struct db *db, enum db_result result)
{
	bool ends = result == DB_RETRY || result == DB_LOST || result == DB_FULL || result == DB_ERROR;

	if (db->state != TXN_OUTSIDE && ends && db->failure == DB_OK)
		db->failure = result;
	return result;
}

void db_txn_again(struct db *db)
{
	assert(db_txn_writes(db));
	db_txn_note(db, DB_RETRY);
}

enum db_result db_txn_large(struct db *db)
{
	assert(db_txn_writes(db));
	if (db->large || !db->fenced || !db->galera)
		return DB_OK;
	db->large = true;
	return db_txn_note(db, DB_RETRY);
}

// A large transaction ends with the fence, so there the server is asked before any other statement, which would begin the next
// transaction.
static enum db_result look_at_transaction(struct db *db, bool *goes_on)
{
	if (db->large)
		return db_writer_is_open(db, goes_on);
	struct pool *pool = pool_new_or_end();
	struct db_call look = db_writer_look(db);

	enum db_result result = db_batch_run(db, pool, &look, 1);
	*goes_on = result == DB_OK && look.rows.n == 1;
	pool_free(&pool);
	return result;
}

// A node of Galera may roll a transaction back while it prepares a statement, or runs one for many rows, and answer as if nothing
// had happened (MariaDB 10.11.19). With autocommit off the next statement then begins another transaction.
enum db_result db_txn_goes_on(struct db *db)
{
	bool goes_on = false;

	if (db->state != TXN_OPEN || db->mode != DB_WRITE || !db->fenced || !db->galera || db->faults[FAULT_NO_FENCE].kind != FAULT_NONE)
		return DB_OK;
	enum db_result result = look_at_transaction(db, &goes_on);
	if (result != DB_OK || goes_on)
		return result;
	(void)snprintf(db->error, sizeof(db->error), "the server ended the transaction without saying so");
	log_info("database: %s: it is done again", db->error);
	return DB_RETRY;
}

// ---- its end

static void roll_back(struct db *db)
{
	if (db->mysql == NULL || db->state != TXN_OPEN || db->mode == DB_AUTOCOMMIT)
		return;
	if (db_conn_query(db, "ROLLBACK", strlen("ROLLBACK")) != DB_OK)
		db_conn_drop(db); // then the server rolls back
}

static enum db_result send_commit(struct db *db)
{
	int64_t begun_us = db_trace_begin(db);

	assert(db->mysql != NULL && db->state == TXN_OPEN && db->failure == DB_OK);
	fault_pass(db, FAULT_BEFORE_COMMIT);
	db->round_trips++;
	int rc = mysql_send_query(db->mysql, "COMMIT", (unsigned long)strlen("COMMIT"));

	fault_pass(db, FAULT_AFTER_COMMIT);
	if (rc == 0 && !db_writer_await(db))
		return DB_LOST;
	bool committed = rc == 0 && mysql_read_query_result(db->mysql) == 0;
	db_trace_note(db, NULL, 1, "COMMIT", begun_us);
	if (committed)
		return DB_OK;
	return db_error_note(db, mysql_errno(db->mysql), mysql_error(db->mysql), NULL);
}

// Reads the log once, on a new connection.
static enum db_result find_own_change(struct db *db, const struct uuid *request_id, bool *happened)
{
	struct pool *pool = pool_new_or_end();

	const struct str id = uuid_bytes(request_id);
	enum { SYNC, FIND, NO_SYNC };
	struct db_call calls[] = {
		[SYNC] = sql_session_sync_call(pool),
		[FIND] = db_call_of(pool, db->log->find, &id),
		[NO_SYNC] = sql_session_no_sync_call(pool),
	};

	(void)db_batch_run(db, pool, calls, COUNT_OF(calls));
	// That nothing was found counts only behind all that other nodes have committed.
	enum db_result result = calls[SYNC].result == DB_OK ? calls[FIND].result : calls[SYNC].result;
	*happened = result == DB_OK && calls[FIND].rows.n > 0;
	pool_free(&pool);
	return result;
}

// Asks the log until it answers. The request has waited for COMMIT already, and the times of the tries must not add up to that.
// So no try begins later than twice lock_wait after the first one, and an answer is waited for as long as the log's query may
// wait for a lock, and a second more.
static enum db_result ask_log(struct db *db, const struct uuid *request_id, bool *happened)
{
	const struct db_settings *settings = db->settings;
	int64_t end_us = clock_tick_us() + 2 * settings->lock_wait * INT64_C(1000000);
	enum db_result result = DB_LOST;

	assert(db->answer_s == 0);
	db->answer_s = db_conn_answer_s(settings);
	for (unsigned i = 0; i <= settings->retries && (i == 0 || clock_tick_us() < end_us); i++) {
		result = find_own_change(db, request_id, happened);
		if (result == DB_OK || result == DB_ERROR || db->away)
			break;
	}
	db->answer_s = 0;
	return result;
}

// The connection was lost during COMMIT. DB_OK: it happened. DB_RETRY: it did not.
static enum db_result learn_outcome(struct db *db, const struct uuid *request_id)
{
	enum db_result result = DB_LOST;
	bool happened = false;

	assert(db->mode == DB_WRITE && db->mysql == NULL); // the connection is gone, and COMMIT was sent through it
	db->state = TXN_OUTSIDE;
	db->failure = DB_OK;
	if (request_id != NULL && db->log != NULL)
		result = ask_log(db, request_id, &happened);
	if (result == DB_OK) {
		log_info("database: the transaction whose COMMIT was lost %s", happened ? "happened" : "did not happen");
		db->commit_lost = !happened;
		return happened ? DB_OK : DB_RETRY;
	}
	log_error("database: a connection was lost during COMMIT and the outcome can't be learnt");
	db->uncertain = true;
	return DB_LOST;
}

// The fence as the last statement. DB_OK: COMMIT may follow. Else nothing happened, and nothing will.
static enum db_result fence_at_end(struct db *db)
{
	assert(db->large);
	struct db_call fence = db_writer_fence(db);
	enum db_result result = db_batch_run(db, NULL, &fence, 1);

	if (result == DB_OK && fence.rows.affected == 0)
		return db_writer_lost(db);
	if (result != DB_OK)
		roll_back(db);
	return result == DB_RETRY || result == DB_LOST || result == DB_FULL ? result : result == DB_OK ? DB_OK : DB_ERROR;
}

static enum db_result commit(struct db *db, const struct uuid *request_id)
{
	if (db->state != TXN_OPEN || db->mode == DB_AUTOCOMMIT)
		return DB_OK;
	bool fence = db->large && db->faults[FAULT_NO_FENCE].kind == FAULT_NONE;
	enum db_result fenced = fence ? fence_at_end(db) : DB_OK;
	if (fenced != DB_OK)
		return fenced;
	int64_t sent_us = db->fenced ? clock_tick_us() : 0;
	enum db_result result = send_commit(db);

	if (result == DB_OK && db->fenced && db->mode == DB_WRITE)
		db->confirmed_us = sent_us; // the cluster has certified it
	if (result == DB_OK)
		return DB_OK;
	bool unsure = db_error_is_unsure(db->error_number) || (db->fenced && !db_error_is_rollback(db->error_number));
	if (unsure && db->mode == DB_WRITE) {
		db_conn_drop(db);
		result = DB_LOST;
	}
	if (result == DB_LOST)
		return db->mode == DB_WRITE ? learn_outcome(db, request_id) : DB_OK; // a reader needs no COMMIT
	roll_back(db);
	return result == DB_RETRY || result == DB_FULL ? result : DB_ERROR;
}

enum db_result db_txn_apart(struct db *db, struct pool *pool, struct db_call *calls, size_t n)
{
	enum txn_state state = db->state;

	assert(state != TXN_OUTSIDE && db->mode == DB_AUTOCOMMIT);
	db->state = TXN_WAITING;
	db->mode = DB_WRITE;
	db->apart = true;
	enum db_result result = db_batch_run(db, pool, calls, n);
	if (result == DB_OK)
		result = commit(db, NULL);
	else
		roll_back(db);
	db->apart = false;
	db->uncertain = false; // what is written outside of transactions may be written again
	db->state = state;
	db->mode = DB_AUTOCOMMIT;
	for (size_t i = 0; i < n && result != DB_OK; i++)
		calls[i].result = result;
	return result;
}

static enum db_result finish(struct db *db, enum db_verdict verdict, const struct uuid *request_id)
{
	enum db_result result = db->failure;
	bool commits = result == DB_OK && verdict == DB_COMMIT && db->mode == DB_WRITE;
	bool reads = !commits && db->state == TXN_OPEN; // else no statement was answered

	assert(db->state != TXN_OUTSIDE);
	if (result == DB_OK && verdict == DB_COMMIT)
		result = commit(db, request_id);
	else
		roll_back(db);
	db->state = TXN_OUTSIDE;
	db->failure = DB_OK;
	if (db->large)
		db_writer_whole(db);
	// What was committed is done, whoever is the writer by now: the function must not run again.
	return result == DB_OK && reads ? db_writer_confirm(db) : result;
}

// ---- again and again

// A random delay, so that two transactions that deadlocked don't meet again; longer with each try.
static void wait_a_little(unsigned tries)
{
	uint64_t most = (uint64_t)FIRST_DELAY_US << (tries < 8 ? tries : 8), random;

	digest_random(&random, sizeof(random));
	most = most < LAST_DELAY_US ? most : LAST_DELAY_US;
	long us = (long)(random % most);

	clock_pause_us(us);
}

// Is there time left for another run? A run whose statement times out takes db_read_timeout, one that waits for a lock
// db_lock_wait. These times must not add up, since a worker that waits serves no other request.
static bool may_run_again(const struct db *db, enum db_result result, int64_t begun_us)
{
	unsigned seconds = result == DB_RETRY ? 2 * db->settings->lock_wait : db->settings->read_timeout;
	int64_t limit = (int64_t)seconds * 1000000;

	if (db->uncertain || (result != DB_RETRY && (result != DB_LOST || db->away)))
		return false;
	return db->tries <= db->settings->retries && (limit == 0 || clock_tick_us() - begun_us < limit);
}

struct body {
	enum db_verdict (*fn)(void *arg);
	void *arg;
	enum db_verdict verdict;
};

static void run_body(void *arg)
{
	struct body *body = arg;

	body->verdict = body->fn(body->arg);
}

// Runs the function once and ends its transaction. If the function is left by longjmp (base/budget.h), the transaction is rolled
// back, and then the outer guard is left. If there is none, as in the mover and in tenure-manage, the result is DB_ERROR. COMMIT
// and what follows are not charged to the budget, because a committed request must be reported as such.
static enum db_result attempt(struct db *db, struct body *body, const struct uuid *request_id)
{
	body->verdict = DB_ROLLBACK;
	enum budget_end end = budget_guard(run_body, body);
	budget_defer();
	budget_pause();
	enum db_result result = finish(db, end == BUDGET_KEPT ? body->verdict : DB_ROLLBACK, request_id);
	budget_resume();
	budget_release();
	if (end == BUDGET_KEPT)
		return result;
	if (end == BUDGET_BROKEN && result != DB_OK)
		return result; // a statement failed before, so what seemed broken may only not have been read
	if (budget_is_guarded())
		budget_leave(end);
	(void)snprintf(db->error, sizeof(db->error), "what is stored can't be read: the log names it");
	return DB_ERROR;
}

// apart: as db->apart.
static enum db_result run_again_and_again(struct db *db, enum db_mode mode, bool apart, const struct uuid *request_id,
	enum db_verdict (*fn)(void *arg), void *arg)
{
	struct body body = { .fn = fn, .arg = arg };

	int64_t begun_us = clock_tick_us();

	assert(db->state == TXN_OUTSIDE && fn != NULL);
	db->tries = 0;
	db->uncertain = db->commit_lost = false;
	db->error_number = 0;
	db->refused_s = 0;
	db->large = false;
	for (;;) {
		bool large = db->large;

		db->state = TXN_WAITING;
		db->mode = mode;
		db->apart = apart;
		db->failure = DB_OK;
		db->tries++;
		enum db_result result = attempt(db, &body, request_id);

		if (large != db->large)
			continue; // it was not known to be one when it began
		if (result == DB_OK || result == DB_FULL || result == DB_ERROR)
			return result;
		if (!may_run_again(db, result, begun_us)) {
			log_warning("database: given up after %u tries: %s", db->tries, db->error);
			return DB_LOST;
		}
		wait_a_little(db->tries);
	}
}

enum db_result db_txn_run(struct db *db, enum db_mode mode, const struct uuid *request_id,
	enum db_verdict (*fn)(void *arg), void *arg)
{
	return run_again_and_again(db, mode, false, request_id, fn, arg);
}

enum db_result db_txn_run_apart(struct db *db, enum db_mode mode, enum db_verdict (*fn)(void *arg), void *arg)
{
	return run_again_and_again(db, mode, true, NULL, fn, arg);
}

void db_set_log(struct db *db, const struct db_log *log)
{
	assert(log != NULL && log->find->n_in == 1 && log->find->in_size == sizeof(struct str));
	db->log = log;
}

bool db_txn_uncertain(const struct db *db)
{
	return db->uncertain;
}

bool db_txn_commit_was_lost(const struct db *db)
{
	return db->commit_lost;
}

unsigned db_txn_tries(const struct db *db)
{
	return db->tries;
}

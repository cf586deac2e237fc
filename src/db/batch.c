// SPDX-License-Identifier: Apache-2.0
// Sends statements and reads their answers: a single one, or several that are sent before the first answer is read.
#include "base/base.h"

#include <errmsg.h>

#include "base/budget.h"
#include "base/clock.h"
#include "base/pool.h"
#include "db/settings.h"
#include "db/db_internal.h"
#include "sql/cluster.h"
#include "sql/session.h"

enum {
	READ_TRIES = 3, // how often, at most, a read outside of a transaction is run again
	MAX_SENT = DB_MAX_BATCH + TXN_MAX_PRELUDE,
	// Bytes of requests in flight that the sockets' buffers hold on every system. A server that blocks on writing rows reads
	// no requests: with more in flight, client and server would wait for each other.
	MAX_UNDER_WAY = 64 * 1024,
};

struct batch {
	struct db *db;
	struct pool *pool;
	struct db_call *calls[MAX_SENT];
	struct db_stmt *stmts[MAX_SENT];
	bool sent[MAX_SENT];
	size_t n;
	size_t n_sent, n_read; // how many calls were sent, and of how many the answer was read
	bool rows_pending;     // a call that was sent, and whose answer was not read, returns rows
	const struct db_query *stale; // the server does not know it any more; freed at the end, since other calls may use the same statement
};

static enum db_result note_stmt(struct batch *batch, size_t i)
{
	struct db *db = batch->db;
	MYSQL_STMT *stmt = batch->stmts[i]->stmt;
	const struct db_query *query = batch->calls[i]->query;
	unsigned number = mysql_stmt_errno(stmt);
	const char *text = mysql_stmt_error(stmt);

	// If a statement fails after its first rows were sent, as a locking read may, only the connection has the error.
	if (number == 0 && db->mysql != NULL) {
		number = mysql_errno(db->mysql);
		text = mysql_error(db->mysql);
	}
	enum db_result result = number != 0 ? db_error_note(db, number, text, query)
		: db_error_note(db, CR_INVALID_PARAMETER_NO, "the statement's columns are not those of its query", query);

	if (db_error_is_stale(db->error_number))
		batch->stale = query;
	return result;
}

static void set_skip_response(MYSQL *mysql, my_bool skip)
{
	(void)mysql_options(mysql, MARIADB_OPT_SKIP_READ_RESPONSE, &skip);
}

// If the request has no memory left for the rows, the connection is dropped: a new one costs less than reading them.
// db_batch_run() then leaves the request.
static enum db_result fetch_failed(struct batch *batch, size_t i)
{
	if (!budget_is_over())
		return note_stmt(batch, i);
	db_conn_drop(batch->db);
	return DB_LOST;
}

static enum db_result read_one(struct batch *batch, size_t i)
{
	struct db_stmt *stmt = batch->stmts[i];
	struct db_call *call = batch->calls[i];

	if (!db_connector_read_response(batch->db->mysql, stmt->stmt))
		return note_stmt(batch, i);
	return db_bind_fetch(stmt, batch->pool, call) ? DB_OK : fetch_failed(batch, i);
}

// Does db_writer_await() wait for the answers, not the library?
static bool awaits(const struct db *db)
{
	return db->fenced || db->answer_s > 0;
}

// Reads the results of all calls that were sent. If the connection is lost, every call without a result gets DB_LOST.
static void read_sent(struct batch *batch)
{
	batch->db->round_trips += batch->n_read < batch->n_sent;
	for (bool first = true; batch->n_read < batch->n_sent; batch->n_read++, first = false) {
		struct db_call *call = batch->calls[batch->n_read];
		bool sent = batch->sent[batch->n_read];

		// The server may hang behind any of the answers.
		if (sent && awaits(batch->db) && batch->db->mysql != NULL && (first || !db_connector_has_more(batch->db->mysql)))
			(void)db_writer_await(batch->db);
		if (batch->db->mysql == NULL)
			call->result = DB_LOST;
		else if (sent)
			call->result = read_one(batch, batch->n_read);
	}
	batch->rows_pending = false;
}

static void send_one(struct batch *batch, size_t i)
{
	struct db_stmt *stmt = batch->stmts[i];
	struct db *db = batch->db;

	fault_pass(db, FAULT_STATEMENT);
	set_skip_response(db->mysql, 1);
	batch->sent[i] = mysql_stmt_execute(stmt->stmt) == 0;
	if (batch->sent[i])
		set_skip_response(db->mysql, 0);
	else
		batch->calls[i]->result = note_stmt(batch, i);
	if (!batch->sent[i] && db->mysql != NULL)
		set_skip_response(db->mysql, 0);
}

// Ends with the first call that can't be sent, as the library may be short of memory: without SET autocommit in front of them,
// statements would be committed one by one.
static void send_all(struct batch *batch)
{
	size_t under_way = 0;
	bool fails = false;

	assert(batch->n_sent == 0 && batch->n_read == 0);
	while (batch->n_sent < batch->n && batch->db->mysql != NULL && !fails) {
		size_t i = batch->n_sent;
		size_t bytes = db_bind_values(batch->stmts[i], batch->calls[i]->in);

		if (batch->rows_pending && under_way + bytes > MAX_UNDER_WAY) {
			read_sent(batch);
			under_way = 0;
			if (batch->db->mysql == NULL)
				break;
		}
		under_way += bytes;
		send_one(batch, i);
		fails = !batch->sent[i];
		batch->rows_pending = batch->rows_pending || (batch->db->mysql != NULL && batch->stmts[i]->n_out > 0);
		batch->n_sent++;
	}
	for (size_t i = batch->n_sent; fails && i < batch->n; i++)
		batch->calls[i]->result = batch->calls[i - 1]->result;
	batch->n_sent = batch->n; // calls that were not sent because the connection was lost get DB_LOST
}

// Plain execution, which waits for the answer itself.
static enum db_result run_one(struct batch *batch)
{
	struct db_stmt *stmt = batch->stmts[0];
	struct db *db = batch->db;

	assert(batch->n == 1);
	(void)db_bind_values(stmt, batch->calls[0]->in);
	fault_pass(db, FAULT_STATEMENT);
	db->round_trips++;
	if (mysql_stmt_execute(stmt->stmt) != 0)
		return note_stmt(batch, 0);
	return db_bind_fetch(stmt, batch->pool, batch->calls[0]) ? DB_OK : fetch_failed(batch, 0);
}

static enum db_result prepare_all(struct batch *batch)
{
	uint64_t prepared = batch->db->prepared;

	for (size_t i = 0; i < batch->n; i++) {
		enum db_result result = db_stmt_get(batch->db, batch->calls[i]->query, &batch->stmts[i]);

		if (result != DB_OK)
			return result;
	}
	return batch->db->prepared > prepared ? db_txn_goes_on(batch->db) : DB_OK;
}

static enum db_result first_failure(const struct batch *batch)
{
	for (size_t i = 0; i < batch->n; i++) {
		enum db_result result = batch->calls[i]->result;

		if (result != DB_OK && result != DB_DUPLICATE)
			return result;
	}
	return DB_OK;
}

// What the calls answered does not count, since their transaction was not begun as it had to be.
static enum db_result lose_all(struct batch *batch)
{
	for (size_t i = 0; i < batch->n; i++)
		batch->calls[i]->result = DB_LOST;
	return DB_LOST;
}

// The fence, or the look that large transactions take: another node is the writer by now.
static bool finds_nothing(const struct db_call *call)
{
	return (call->query == &sql_writer_fence_query && call->rows.affected == 0) || (call->query == &sql_writer_check_query && call->rows.n == 0);
}

static bool waits_in_vain(const struct db_call *call)
{
	return call->result == DB_RETRY && (db_maintenance_is_gate(call) || call->query == &sql_writer_fence_query);
}

static enum db_result end_all(struct batch *batch, enum db_result result)
{
	db_txn_begun(batch->db); // so that it is rolled back
	for (size_t i = 0; i < batch->n; i++)
		batch->calls[i]->result = result;
	return result;
}

static enum db_result run_pipelined(struct batch *batch, size_t n_prelude)
{
	send_all(batch);
	read_sent(batch);
	for (size_t i = 0; i < n_prelude; i++) {
		// Its lock was waited for in vain: the statements behind it are in the transaction, which is rolled back.
		if (waits_in_vain(batch->calls[i]))
			return end_all(batch, DB_RETRY);
		if (batch->calls[i]->result != DB_OK) {
			// The statements behind it may have run outside the transaction: this session can't be used any more.
			db_conn_drop(batch->db);
			return lose_all(batch);
		}
		if (finds_nothing(batch->calls[i])) {
			(void)db_writer_lost(batch->db);
			return lose_all(batch);
		}
		if (db_maintenance_is_gate(batch->calls[i]) && db_maintenance_refuses(batch->db, batch->calls[i]))
			return end_all(batch, DB_FULL);
	}
	db_txn_begun(batch->db);
	return first_failure(batch);
}

static void add_calls(struct batch *batch, struct db_call *calls, size_t n)
{
	assert(batch->n + n <= MAX_SENT);
	for (size_t i = 0; i < n; i++) {
		calls[i].rows = (struct db_rows){ 0 };
		calls[i].result = DB_OK;
		batch->calls[batch->n++] = &calls[i];
	}
}

static enum db_result fail_all(struct db_call *calls, size_t n, enum db_result result)
{
	for (size_t i = 0; i < n; i++)
		calls[i].result = result;
	return result;
}

static enum db_result run(struct batch *batch, size_t n_prelude)
{
	if (batch->n != 1 || batch->db->clustered || batch->db->answer_s > 0)
		return run_pipelined(batch, n_prelude);
	batch->calls[0]->result = run_one(batch);
	if (n_prelude == 0 || batch->calls[0]->result == DB_OK)
		db_txn_begun(batch->db);
	return first_failure(batch);
}

// Ends the statement of a session on that host whose connection was given up: the server does not notice that while the statement
// waits.
static void end_session(const struct db *db, size_t host, uint64_t session)
{
	struct db_settings settings = *db->settings;
	const struct sql_session_interrupt in = { .id = session };

	assert(db->mysql == NULL && host < db->n_hosts);
	settings.connect_timeout = settings.read_timeout = 1;
	struct db *other = db_open_node(&settings, db->hosts[host].index, db->account);
	other->probes = true;
	if (db_connect(other) == DB_OK)
		(void)sql_session_interrupt_run(other, NULL, &in, NULL);
	db_close(&other);
}

// Takes a slot for the fence of the write transactions to come. If the connection is unproven, also commits a transaction that is
// the fence alone. DB_LOST: one of these failed, and the connection was closed.
static enum db_result take_slot(struct db *db)
{
	bool proves = db->unproven;
	struct pool *pool = pool_new_or_end();
	enum txn_state state = db->state;
	unsigned answer_s = db->answer_s;
	size_t host = db->host;
	uint64_t session = mysql_thread_id(db->mysql);
	int64_t begun_us = clock_tick_us();

	// A primary whose replica has just vanished waits for its receipt without end. Each process would leave a session there
	// with every try, until the server has no more connections.
	if (proves)
		db->answer_s = db_conn_answer_s(db->settings);
	struct db_call calls[] = { { .query = &sql_writer_slot_take_query }, { .query = &sql_writer_slot_taken_query } };
	db->state = TXN_OUTSIDE;
	db->unproven = false;
	enum db_result result = db_batch_run(db, pool, calls, COUNT_OF(calls));
	if (result == DB_OK && db->galera) {
		// Prepared here, since db_txn_goes_on() can't prepare its own statement: a PREPARE amid the transaction is what
		// it looks for.
		struct db_stmt *look;
		result = db_stmt_get(db, &sql_writer_goes_on_query, &look);
	}
	if (result == DB_OK) {
		db->slot = sql_writer_slot_taken_row(&calls[1].rows, 0)->id;
		struct db_call fence = db_writer_fence(db);
		result = proves ? db_batch_run(db, pool, &fence, 1) : DB_OK;
		if (result == DB_OK && proves && fence.rows.affected == 0)
			result = db_writer_lost(db);
	}
	db->state = state;
	bool hangs = proves && result == DB_LOST && clock_tick_us() - begun_us >= db->answer_s * INT64_C(1000000);
	db->answer_s = answer_s;
	if (result != DB_OK)
		db_conn_drop(db);
	if (hangs) {
		db_writer_hangs(db, host);
		end_session(db, host, session);
	}
	pool_free(&pool);
	return result == DB_OK ? DB_OK : DB_LOST;
}

static enum db_result run_all(struct db *db, struct pool *pool, struct db_call *calls, size_t n)
{
	struct batch batch = { .db = db, .pool = pool };
	struct db_call prelude[TXN_MAX_PRELUDE] = { 0 };
	struct pool *own = NULL;
	enum db_result result = db->state == TXN_OPEN ? DB_OK : db_conn_ensure(db);

	assert(n <= DB_MAX_BATCH);
	bool begins = db->fenced && db->slot == 0 && db->state == TXN_WAITING && db->mode == DB_WRITE;
	if (result == DB_OK && (begins || db->unproven))
		result = take_slot(db);
	if (result != DB_OK)
		return fail_all(calls, n, result);
	size_t n_prelude = db_txn_prelude(db, prelude);

	add_calls(&batch, prelude, n_prelude);
	add_calls(&batch, calls, n);
	result = prepare_all(&batch);
	if (result != DB_OK)
		return fail_all(calls, n, result);
	if (batch.pool == NULL && n_prelude > 0 && (db->large || db->heeds))
		own = batch.pool = pool_new_or_end(); // rows of the prelude are wanted
	result = run(&batch, n_prelude);
	pool_free(&own);
	if (batch.stale != NULL && db->mysql != NULL)
		db_stmt_drop(db, batch.stale);
	return result;
}

// All answers are read before this returns, even if the budget is exceeded meanwhile: budget_defer().
enum db_result db_batch_run(struct db *db, struct pool *pool, struct db_call *calls, size_t n)
{
	int64_t begun_us = db_trace_begin(db);

	budget_defer();
	enum db_result result = run_all(db, pool, calls, n);
	db_trace_note(db, calls, n, NULL, begun_us);
	budget_release();
	return result;
}

// ---- what others call

struct db_call db_call_of(struct pool *pool, const struct db_query *query, const void *in)
{
	assert(query->in_size == 0 || in != NULL);
	void *copy = NULL;

	if (query->in_size > 0) {
		copy = pool_alloc(pool, query->in_size);
		memcpy(copy, in, query->in_size);
	}
	return (struct db_call){ .query = query, .in = copy };
}

// A SELECT whose rows nobody has seen yet.
static bool can_be_repeated(const struct db_call *call)
{
	return call->take == NULL && str_starts(str_c(call->query->sql), STR("SELECT"));
}

// Outside a transaction nobody else repeats what failed for a moment: the connection of an idle process was lost, as by a restart
// of the server, or a cluster's node gave way to another one.
static bool may_read_again(const struct db *db, const struct db_call *calls, size_t n, int64_t begun_us)
{
	int64_t limit_us = (int64_t)(db->answer_s > 0 ? db->answer_s : db->settings->read_timeout) * 1000000;

	if (db->state != TXN_OUTSIDE || db->away || (limit_us != 0 && clock_tick_us() - begun_us >= limit_us))
		return false;
	for (size_t i = 0; i < n; i++) {
		if (!can_be_repeated(&calls[i]))
			return false;
	}
	return true;
}

static enum db_result run_or_repeat(struct db *db, struct pool *pool, struct db_call *calls, size_t n)
{
	int64_t begun_us = clock_tick_us();
	enum db_result result = db_batch_run(db, pool, calls, n);

	for (unsigned tries = 1; (result == DB_LOST || result == DB_RETRY) && tries <= READ_TRIES; tries++) {
		if (!may_read_again(db, calls, n, begun_us))
			break;
		result = db_batch_run(db, pool, calls, n);
	}
	return result;
}

// Calls outside of db_txn_run(), on a cluster.
struct alone {
	struct db *db;
	struct pool *pool;
	struct db_call *calls;
	size_t n;
	enum db_result result;
};

static enum db_verdict run_alone(void *arg)
{
	struct alone *alone = arg;

	alone->result = db_txn_note(alone->db, db_batch_run(alone->db, alone->pool, alone->calls, alone->n));
	return DB_COMMIT;
}

static bool writes(const struct db_query *query)
{
	static const char *const words[] = { "INSERT ", "UPDATE ", "DELETE ", "REPLACE " };

	for (size_t i = 0; i < COUNT_OF(words); i++) {
		if (strncmp(query->sql, words[i], strlen(words[i])) == 0)
			return true;
	}
	return false;
}

// On a cluster a statement outside of db_txn_run() is run by it: writes need the fence, and reads that turn out not to be the
// writer's are repeated. Not those whose rows went to the caller already: these fail.
static enum db_result run_apart(struct db *db, struct pool *pool, struct db_call *calls, size_t n)
{
	struct alone alone = { db, pool, calls, n, DB_OK };
	enum db_mode mode = DB_AUTOCOMMIT;
	bool taken = false;

	assert(db->clustered && db->state == TXN_OUTSIDE);
	for (size_t i = 0; i < n; i++) {
		mode = writes(calls[i].query) ? DB_WRITE : mode;
		taken = taken || calls[i].take != NULL;
	}
	if (taken && mode == DB_AUTOCOMMIT) {
		enum db_result result = db_batch_run(db, pool, calls, n);
		return result == DB_OK && db_writer_confirm(db) != DB_OK ? fail_all(calls, n, DB_LOST) : result;
	}
	enum db_result result = db_txn_run_apart(db, mode, run_alone, &alone);
	return result == DB_OK ? alone.result : fail_all(calls, n, result);
}

// On a cluster: do these calls write, within db_txn_run() of mode DB_AUTOCOMMIT?
static bool writes_within_reads(const struct db *db, const struct db_call *calls, size_t n)
{
	bool any = false;

	if (!db->clustered || db->state == TXN_OUTSIDE || db->mode != DB_AUTOCOMMIT)
		return false;
	for (size_t i = 0; i < n; i++)
		any = any || writes(calls[i].query);
	return any;
}

// Within db_txn_run_on_reader(): do these calls go to the reader? From the first one that writes on, none does.
static bool go_to_reader(struct db *db, const struct db_call *calls, size_t n)
{
	if (db->reader == NULL || db->reader->state == TXN_OUTSIDE)
		return false;
	for (size_t i = 0; i < n; i++)
		db->uses_writer = db->uses_writer || writes(calls[i].query);
	return !db->uses_writer;
}

enum db_result db_run_batch(struct db *db, struct pool *pool, struct db_call *calls, size_t n)
{
	if (go_to_reader(db, calls, n))
		return db_run_batch(db->reader, pool, calls, n);

	assert(n <= DB_MAX_BATCH && (calls != NULL || n == 0));
	enum db_result result = db_txn_check(db);
	if (result == DB_OK && db->clustered && db->state == TXN_OUTSIDE && n > 0)
		return run_apart(db, pool, calls, n);
	if (result == DB_OK && writes_within_reads(db, calls, n))
		return db_txn_note(db, db_txn_apart(db, pool, calls, n));
	if (result == DB_OK)
		return db_txn_note(db, run_or_repeat(db, pool, calls, n));
	return fail_all(calls, n, result);
}

static enum db_result run_single(struct db *db, struct pool *pool, struct db_call *call)
{
	if (go_to_reader(db, call, 1))
		return run_single(db->reader, pool, call);

	assert(call->in != NULL || call->query->n_in == 0);
	assert(call->take == NULL || pool != NULL);
	enum db_result result = db_txn_check(db);
	if (result != DB_OK)
		return result;
	if (db->clustered && db->state == TXN_OUTSIDE) {
		(void)run_apart(db, pool, call, 1);
		return call->result;
	}
	if (writes_within_reads(db, call, 1)) {
		(void)db_txn_apart(db, pool, call, 1);
		return db_txn_note(db, call->result);
	}
	(void)run_or_repeat(db, pool, call, 1);
	// The server did not execute it, so the second attempt prepares it again. Inside a transaction the whole function runs
	// again instead.
	if (call->result == DB_RETRY && db->state == TXN_OUTSIDE && db_error_is_stale(db->error_number))
		(void)db_batch_run(db, pool, call, 1);
	return db_txn_note(db, call->result);
}

enum db_result db_run(struct db *db, struct pool *pool, const struct db_query *query, const void *in, struct db_rows *rows)
{
	struct db_call call = { .query = query, .in = in };

	assert(rows == NULL || pool != NULL);
	enum db_result result = run_single(db, rows != NULL ? pool : NULL, &call);
	if (rows != NULL)
		*rows = call.rows;
	return result;
}

enum db_result db_run_call(struct db *db, struct pool *pool, struct db_call *call)
{
	assert(pool != NULL);
	call->result = run_single(db, pool, call);
	return call->result;
}

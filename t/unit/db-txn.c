// SPDX-License-Identifier: Apache-2.0
// Transactions: what certainly did not happen runs again, what may have happened is found out, nothing happens twice.
#include "base/base.h"

#include <signal.h>

#include "db-server.h"
#include "db/db_internal.h"
#include "registry/log/change.h"
#include "sql/session.h"

static struct db *open_db(const struct db_settings *settings, enum db_account account)
{
	struct db *db = db_open(settings, account);

	db_set_log(db, &change_log);
	return db;
}

static const struct test_query q_log = { "INSERT INTO log (who) VALUES (?)", "s", "" };
static const struct test_query q_logged = { "SELECT COUNT(*) FROM log WHERE who = ?", "s", "u" };
static const struct test_query q_change = { "INSERT INTO changes (request_id) VALUES (?)", "b", "" };
static const struct test_query q_changes = { "SELECT COUNT(*) FROM changes WHERE request_id = ?", "b", "u" };
static const struct test_query q_add = { "UPDATE sums SET n = n + 1 WHERE id = ?", "u", "" };
static const struct test_query q_sum = { "SELECT n FROM sums WHERE id = ?", "u", "u" };
static const struct test_query q_id = { "SELECT CONNECTION_ID()", "", "u" };

static struct pool *pool;
static struct db *watcher; // a second connection

static uint64_t number(struct db *db, const struct db_query *query, const struct db_value *in)
{
	struct db_rows rows;

	if (db_run(db, pool, query, in, &rows) != DB_OK || rows.n != 1) {
		diag("%s: %s", query->sql, db_error(db));
		return UINT64_MAX;
	}
	return db_at(&rows, 0, 0)->u;
}

static uint64_t logged(const char *who)
{
	return number(watcher, test_query(&q_logged), DB_IN(db_s(str_c(who))));
}

static void kill_connection(struct db *db)
{
	uint64_t id = number(db, test_query(&q_id), NULL);

	if (db_run_script(watcher, str_printf(pool, "KILL %llu", (unsigned long long)id)) != DB_OK)
		diag("KILL: %s", db_error(watcher));
}

// One transaction that writes who into the log, and a change row; more as the test asks for.
struct work {
	struct db *db;
	const char *who;
	struct uuid request;
	enum db_verdict verdict;
	unsigned runs;
	void (*before)(struct work *work); // before the statements
	void (*after)(struct work *work);
	enum db_result result;
};

static enum db_verdict do_work(void *arg)
{
	struct work *work = arg;
	struct db_call calls[] = {
		{ .query = test_query(&q_log), .in = DB_IN(db_s(str_c(work->who))) },
		{ .query = test_query(&q_change), .in = DB_IN(db_uuid(&work->request)) },
	};

	work->runs++;
	if (work->before != NULL)
		work->before(work);
	work->result = db_run_batch(work->db, pool, calls, COUNT_OF(calls));
	if (work->after != NULL)
		work->after(work);
	return work->verdict;
}

static struct work new_work(struct db *db, const char *who)
{
	return (struct work){ .db = db, .who = who, .request = uuid_new(), .verdict = DB_COMMIT };
}

static enum db_result run_work(struct work *work)
{
	return db_txn_run(work->db, DB_WRITE, &work->request, do_work, work);
}

static void expect_once(struct work *work, unsigned runs, const char *what)
{
	is_int(run_work(work), DB_OK, "%s: committed", what);
	is_int(work->runs, runs, "%s: runs", what);
	is_int(db_txn_tries(work->db), runs, "%s: tries told", what);
	is_int((long long)logged(work->who), 1, "%s: happened once", what);
}

static struct db *open_faulty(const char *fault)
{
	(void)setenv("TENURE_FAULT", fault, 1);
	struct db *db = open_db(db_settings(server.config), DB_APPLICATION);

	(void)unsetenv("TENURE_FAULT");
	return db;
}

// ---- plain

static void test_verdicts(struct db *db)
{
	struct work work = new_work(db, "commit");

	expect_once(&work, 1, "commit");
	work = new_work(db, "roll back");
	work.verdict = DB_ROLLBACK;
	is_int(run_work(&work), DB_OK, "rolled back as the function said");
	is_int((long long)logged("roll back"), 0, "nothing of it stays");
	uint64_t before = db_round_trips(db);

	work = new_work(db, "counted");
	(void)run_work(&work);
	is_int((long long)(db_round_trips(db) - before), 2, "a write with one batch is two round trips");
	before = db_round_trips(db);
	(void)number(db, test_query(&q_sum), DB_IN(db_u(1)));
	(void)number(db, test_query(&q_sum), DB_IN(db_u(1)));
	before = db_round_trips(db);
	(void)run_work(&work);
	(void)number(db, test_query(&q_sum), DB_IN(db_u(1)));
	is_int((long long)(db_round_trips(db) - before), 3, "a read after a write is one more");
	is_int((long long)number(watcher, test_query(&q_logged), DB_IN(db_s(STR("counted")))), 2, "and both writes are there");
}

static enum db_verdict nothing(void *arg)
{
	UNUSED(arg);
	return DB_COMMIT;
}

static void test_empty(struct db *db)
{
	uint64_t before = db_round_trips(db);

	is_int(db_txn_run(db, DB_WRITE, NULL, nothing, NULL), DB_OK, "a transaction without statements");
	is_int((long long)(db_round_trips(db) - before), 0, "sends nothing");
}

static enum db_verdict autocommitted(void *arg)
{
	struct db *db = arg;

	(void)db_run(db, NULL, test_query(&q_log), DB_IN(db_s(STR("autocommit"))), NULL);
	return DB_ROLLBACK;
}

static void test_autocommit(struct db *db)
{
	is_int(db_txn_run(db, DB_AUTOCOMMIT, NULL, autocommitted, db), DB_OK, "no transaction, nothing to roll back");
	is_int((long long)logged("autocommit"), 1, "after a write transaction, too");
}

// ---- one state

struct snapshot {
	struct db *db;
	uint64_t first, second;
	enum db_result write;
};

static enum db_verdict look_twice(void *arg)
{
	struct snapshot *snapshot = arg;

	snapshot->first = number(snapshot->db, test_query(&q_sum), DB_IN(db_u(9)));
	(void)db_run(watcher, NULL, test_query(&q_add), DB_IN(db_u(9)), NULL);
	snapshot->second = number(snapshot->db, test_query(&q_sum), DB_IN(db_u(9)));
	return DB_COMMIT;
}

static enum db_verdict write_in_snapshot(void *arg)
{
	struct snapshot *snapshot = arg;

	snapshot->write = db_run(snapshot->db, NULL, test_query(&q_add), DB_IN(db_u(9)), NULL);
	return DB_COMMIT;
}

static void test_snapshot(struct db *db)
{
	struct snapshot snapshot = { .db = db };

	is_int(db_txn_run(db, DB_SNAPSHOT, NULL, look_twice, &snapshot), DB_OK, "a snapshot");
	is_int((long long)snapshot.first, 0, "the state before the write");
	is_int((long long)snapshot.second, 0, "is seen after it, too");
	is_int((long long)number(db, test_query(&q_sum), DB_IN(db_u(9))), 1, "and not any more behind the snapshot");
	is_int(db_txn_run(db, DB_SNAPSHOT, NULL, write_in_snapshot, &snapshot), DB_ERROR, "a write in it");
	is_int((long long)number(db, test_query(&q_sum), DB_IN(db_u(9))), 1, "does nothing");
	(void)db_txn_run(db, DB_AUTOCOMMIT, NULL, look_twice, &snapshot);
	is_int((long long)(snapshot.second - snapshot.first), 1, "without one each read sees what is");
}

// ---- beaten

static void ignore_lock_wait(struct work *work)
{
	(void)db_run(work->db, NULL, test_query(&q_log), DB_IN(db_s(str_c(work->who))), NULL);
	enum db_result result = db_run(work->db, NULL, test_query(&q_add), DB_IN(db_u(1)), NULL);

	if (work->runs == 1)
		is_int(result, DB_RETRY, "a lock wait that ends is told");
}

static void release_at_second(struct work *work)
{
	if (work->runs == 2)
		(void)db_run_script(watcher, STR("ROLLBACK"));
	ignore_lock_wait(work);
}

static void test_lock_wait(void)
{
	struct db_settings impatient = *db_settings(server.config);

	impatient.lock_wait = 1;
	impatient.retries = 1;
	struct db *db = open_db(&impatient, DB_APPLICATION);
	struct work work = new_work(db, "ignores");

	work.before = ignore_lock_wait;
	(void)db_run_script(watcher, STR("START TRANSACTION; UPDATE sums SET n = n + 1 WHERE id = 1"));
	is_int(run_work(&work), DB_LOST, "beaten as often as is allowed");
	is_int(work.runs, 2, "one try and one retry");
	is_int(work.result, DB_RETRY, "statements after the failed one are refused");
	(void)db_run_script(watcher, STR("ROLLBACK; START TRANSACTION; UPDATE sums SET n = n + 1 WHERE id = 1"));
	is_int((long long)logged("ignores"), 0, "what ignored the failure did not commit");
	work = new_work(db, "waits");
	work.before = release_at_second;
	is_int(run_work(&work), DB_OK, "the second try finds the lock free");
	is_int((long long)logged("waits"), 2, "and only its writes are there");
	db_close(&db);
}

// Locks of tables count as those of rows: the statement's wait ends, and the connection stays.
static void test_table_lock(void)
{
	struct db_settings impatient = *db_settings(server.config);

	impatient.lock_wait = 1;
	impatient.retries = 1;
	impatient.read_timeout = 8;
	struct db *db = open_db(&impatient, DB_APPLICATION);
	struct work work = new_work(db, "locked out");

	is_int(db_connect(db), DB_OK, "a connection");
	(void)db_run_script(watcher, STR("LOCK TABLES log WRITE"));
	is_int(run_work(&work), DB_LOST, "a table that is locked for longer");
	is_int(work.result, DB_RETRY, "is a lock wait that ends");
	(void)db_run_script(watcher, STR("UNLOCK TABLES"));
	is_int((long long)logged("locked out"), 0, "nothing is written");
	is_int((long long)db_sessions(db), 1, "the connection stays");
	db_close(&db);
}

static void hold_up_first_commit(struct work *work)
{
	if (work->runs == 1)
		(void)db_run_script(watcher, STR("BACKUP STAGE START;\nBACKUP STAGE BLOCK_COMMIT"));
}

static void let_second_commit(struct work *work)
{
	if (work->runs == 2)
		(void)db_run_script(watcher, STR("BACKUP STAGE END"));
}

static void test_commit_lock(void)
{
	struct db_settings impatient = *db_settings(server.config);

	impatient.lock_wait = 1;
	impatient.read_timeout = 8;
	struct db *db = open_db(&impatient, DB_APPLICATION);
	struct work work = new_work(db, "held up");

	work.before = let_second_commit;
	work.after = hold_up_first_commit;
	expect_once(&work, 2, "a COMMIT that waited too long");
	is_int((long long)db_sessions(db), 1, "the connection stays");
	db_close(&db);
}

// Two processes lock rows in opposite order; each writes the log behind the statement that may be the deadlock's
// victim.
struct duel {
	struct db *db;
	uint64_t mine, other;
	const char *who;
	int tell, hear;
	unsigned runs;
};

static enum db_verdict fight(void *arg)
{
	struct duel *duel = arg;
	struct db_call calls[] = {
		{ .query = test_query(&q_add), .in = DB_IN(db_u(duel->other)) },
		{ .query = test_query(&q_log), .in = DB_IN(db_s(str_c(duel->who))) },
	};
	char byte = 'x';

	(void)db_run(duel->db, NULL, test_query(&q_add), DB_IN(db_u(duel->mine)), NULL);
	if (duel->runs++ == 0 && (write(duel->tell, &byte, 1) != 1 || read(duel->hear, &byte, 1) != 1))
		return DB_ROLLBACK;
	(void)db_run_batch(duel->db, pool, calls, 2);
	return DB_COMMIT;
}

static int fight_in_child(struct duel duel)
{
	duel.db = open_db(db_settings(server.config), DB_APPLICATION);
	enum db_result result = db_txn_run(duel.db, DB_WRITE, NULL, fight, &duel);
	unsigned runs = duel.runs;

	db_close(&duel.db);
	return result == DB_OK ? (int)runs : 100;
}

static void again_at_first(struct work *work)
{
	if (work->runs == 1)
		db_txn_again(work->db);
}

static void test_again(struct db *db)
{
	struct work work = new_work(db, "again");

	work.after = again_at_first;
	expect_once(&work, 2, "asked to run again");
}

static void kill_query_at_first(struct work *work)
{
	static const struct test_query q = { "SIGNAL SQLSTATE '70100' SET MYSQL_ERRNO = 1317, MESSAGE_TEXT = 'Query execution was interrupted'", "", "" };

	if (work->runs == 1)
		(void)db_run(work->db, pool, test_query(&q), NULL, NULL);
}

static void test_interrupted(struct db *db)
{
	struct work work = new_work(db, "interrupted");

	work.after = kill_query_at_first;
	expect_once(&work, 2, "a statement that an administrator has ended");
}

// A locking read fails when its columns are told already.
static enum db_verdict lock_row(void *arg)
{
	static const struct test_query q = { "SELECT n FROM sums WHERE id = 1 FOR UPDATE", "", "u" };
	struct work *work = arg;
	struct db_rows rows;

	work->runs++;
	work->result = db_run(work->db, pool, test_query(&q), NULL, &rows);
	(void)db_run_script(watcher, STR("ROLLBACK"));
	return DB_COMMIT;
}

static void test_locking_read(void)
{
	struct db_settings impatient = *db_settings(server.config);

	impatient.lock_wait = 1;
	struct work work = new_work(open_db(&impatient, DB_APPLICATION), "");

	(void)db_run_script(watcher, STR("START TRANSACTION; UPDATE sums SET n = n + 1 WHERE id = 1"));
	is_int(db_txn_run(work.db, DB_WRITE, &work.request, lock_row, &work), DB_OK, "a locking read that waited too long");
	is_int(work.runs, 2, "runs again");
	is_int(work.result, DB_OK, "and reads");
	db_close(&work.db);
}

static void test_deadlock(void)
{
	int to_child[2], to_parent[2], status = 0;

	if (pipe(to_child) != 0 || pipe(to_parent) != 0)
		bail_out("no pipes");
	struct duel parent = { .mine = 2, .other = 3, .who = "parent", .tell = to_child[1], .hear = to_parent[0] };
	struct duel child = { .mine = 3, .other = 2, .who = "child", .tell = to_parent[1], .hear = to_child[0] };
	pid_t pid = fork();

	if (pid == 0)
		_exit(fight_in_child(child));
	parent.db = open_db(db_settings(server.config), DB_APPLICATION);
	is_int(db_txn_run(parent.db, DB_WRITE, NULL, fight, &parent), DB_OK, "deadlock: one commits");
	(void)waitpid(pid, &status, 0);
	int runs = WIFEXITED(status) ? WEXITSTATUS(status) : 100;

	ok(runs < 100, "deadlock: the other, too");
	is_int((int)parent.runs + runs, 3, "deadlock: one of them ran twice");
	is_int((long long)number(watcher, test_query(&q_sum), DB_IN(db_u(2))), 2, "deadlock: the first row has both additions");
	is_int((long long)number(watcher, test_query(&q_sum), DB_IN(db_u(3))), 2, "deadlock: the second, too");
	is_int((long long)logged("parent"), 1, "deadlock: what stood behind the victim in its batch is undone");
	is_int((long long)logged("child"), 1, "deadlock: in whichever process");
	db_close(&parent.db);
}

// ---- not begun

// The library can't send the statement that begins a write transaction, as if it had no memory for it: it lacks the value of a parameter.
static void keep_from_beginning(struct db *db)
{
	struct db_stmt *begin;

	if (number(db, test_query(&q_sum), DB_IN(db_u(1))) == UINT64_MAX || db_stmt_get(db, &sql_session_autocommit_off_query, &begin) != DB_OK)
		bail_out("a statement of the test itself failed");
	begin->stmt->param_count = 1;
	begin->stmt->bind_param_done = 0;
}

static void test_not_begun(struct db *db)
{
	struct work work = new_work(db, "not begun");
	uint64_t sessions = db_sessions(db);

	keep_from_beginning(db);
	expect_once(&work, 2, "a transaction whose beginning was not sent");
	is_int((long long)(db_sessions(db) - sessions), 1, "on a new connection");
}

// ---- connections lost

static void kill_at_first(struct work *work)
{
	if (work->runs == 1)
		kill_connection(work->db);
}

static void log_then_kill(struct work *work)
{
	(void)db_run(work->db, NULL, test_query(&q_sum), DB_IN(db_u(1)), NULL);
	kill_at_first(work);
}

static void test_killed(struct db *db)
{
	struct work work = new_work(db, "killed early");

	work.before = log_then_kill;
	expect_once(&work, 2, "killed between statements");
	work = new_work(db, "killed late");
	work.after = kill_at_first;
	expect_once(&work, 2, "killed before COMMIT");
	kill_connection(db);
	is_int(db_txn_run(db, DB_AUTOCOMMIT, NULL, autocommitted, db), DB_OK, "killed while idle: is run again");
	ok(number(db, test_query(&q_sum), DB_IN(db_u(1))) != UINT64_MAX, "statements are prepared again");
	kill_connection(db);
	struct db_rows rows;

	is_int(db_run(db, pool, test_query(&q_sum), DB_IN(db_u(1)), &rows), DB_OK, "outside of a transaction a read is run again");
	kill_connection(db);
	struct db_call calls[] = {
		{ .query = test_query(&q_sum), .in = DB_IN(db_u(1)) },
		{ .query = test_query(&q_sum), .in = DB_IN(db_u(1)) },
	};

	is_int(db_run_batch(db, pool, calls, COUNT_OF(calls)), DB_OK, "and a batch of reads");
	kill_connection(db);
	is_int(db_run(db, NULL, test_query(&q_log), DB_IN(db_s(STR("lost alone"))), NULL), DB_LOST, "of a write the caller is told");
	is_int(db_run(db, pool, test_query(&q_sum), DB_IN(db_u(1)), &rows), DB_OK, "and the next statement connects");
}

static void test_lost_commit(void)
{
	struct db *db = open_faulty("before-commit:1:conn");
	struct work work = new_work(db, "not sent");

	expect_once(&work, 2, "COMMIT that did not arrive");
	work = new_work(db, "afterwards");
	expect_once(&work, 1, "the fault is over");
	db_close(&db);
	db = open_faulty("after-commit:1");
	work = new_work(db, "not answered");
	is_int(run_work(&work), DB_OK, "COMMIT whose answer was lost");
	is_int((long long)logged("not answered"), 1, "happened once, in whichever run");
	is_int((long long)number(watcher, test_query(&q_changes), DB_IN(db_uuid(&work.request))), 1, "with its change row");
	db_close(&db);
	db = open_faulty("statement:2:conn");
	work = new_work(db, "statement");
	expect_once(&work, 2, "lost within a batch");
	db_close(&db);
}

// As many statements as the whole server takes are prepared: a connection that lets go of its own can go on.
static const struct test_query q_prepared = {
	"SELECT CAST(VARIABLE_VALUE AS UNSIGNED) FROM information_schema.GLOBAL_STATUS WHERE VARIABLE_NAME = 'PREPARED_STMT_COUNT'", "", "u"
};

static void limit_statements(const char *most)
{
	if (db_run_script(watcher, str_printf(pool, "SET GLOBAL max_prepared_stmt_count = %s", most)) != DB_OK)
		diag("max_prepared_stmt_count: %s", db_error(watcher));
}

static void prepare_two_more(struct work *work)
{
	(void)db_run(work->db, pool, TEST_QUERY("SELECT 1 + 1", "u"), NULL, NULL);
	(void)db_run(work->db, pool, TEST_QUERY("SELECT 1 + 2", "u"), NULL, NULL);
}

static void test_too_many_statements(void)
{
	struct db_settings hasty = *db_settings(server.config);

	hasty.retries = 1;
	struct db *db = open_db(&hasty, DB_APPLICATION);
	struct work work = new_work(db, "the first statements");

	expect_once(&work, 1, "statements that are prepared");
	for (uint64_t i = 1; i <= 3; i++)
		(void)number(db, TEST_QUERY("SELECT 1", "u"), NULL);
	(void)number(watcher, test_query(&q_prepared), NULL);
	uint64_t most = number(watcher, test_query(&q_prepared), NULL) + 1;
	limit_statements(str_cstr(pool, str_printf(pool, "%llu", (unsigned long long)most)));
	work = new_work(db, "one statement too many");
	work.before = prepare_two_more;
	expect_once(&work, 2, "more than the server takes");
	is_int((long long)db_sessions(db), 2, "on a new connection");
	db_close(&db);
	limit_statements("0");
	db = open_db(&hasty, DB_APPLICATION);
	work = new_work(db, "no statement at all");
	is_int(run_work(&work), DB_LOST, "while the server takes none");
	is_str(str_c(db_reason(db)), "the database has as many prepared statements as it takes", "that is told");
	db_close(&db);
	limit_statements("DEFAULT");
}

// A COMMIT that happened, its answer lost: told by a change row that a run of the function can't have made.
static void test_outcome_learnt(void)
{
	struct db *db = open_faulty("before-commit:1:conn");
	struct work work = new_work(db, "told");

	(void)db_run(watcher, NULL, test_query(&q_change), DB_IN(db_uuid(&work.request)), NULL);
	is_int(run_work(&work), DB_OK, "a change row says that it happened");
	is_int(work.runs, 1, "so it does not run again");
	db_close(&db);
	db = open_faulty("before-commit:1:conn");
	work = new_work(db, "nameless");
	is_int(db_txn_run(db, DB_WRITE, NULL, do_work, &work), DB_LOST, "without a request id nobody can tell");
	is_int(work.runs, 1, "and nothing runs twice");
	db_close(&db);
}

static const struct test_query q_waiting = { "SELECT COUNT(*) FROM information_schema.innodb_lock_waits", "", "u" };

// Holds a change row uncommitted until somebody waits for it; then it is committed, or not.
static int hold_change(struct uuid request, bool commits, int ready)
{
	struct db *holder = open_db(db_settings(server.config), DB_APPLICATION), *observer = open_db(db_settings(server.config), DB_APPLICATION);
	struct str id = uuid_str(pool, request);
	enum db_result result = db_run_script(holder, str_printf(pool,
		"START TRANSACTION; INSERT INTO changes (request_id) VALUES (UNHEX(REPLACE('%.*s', '-', '')))", STR_ARG(id)));

	if (result == DB_OK && write(ready, "x", 1) == 1) {
		for (int i = 0; i < 200 && number(observer, test_query(&q_waiting), NULL) == 0; i++)
			(void)usleep(150000); // the server renews these tables only when nobody has read them for 100 ms
		result = db_run_script(holder, str_c(commits ? "COMMIT" : "ROLLBACK"));
	}
	db_close(&holder);
	db_close(&observer);
	return result == DB_OK ? 0 : 1;
}

// The old session may still be about to commit when the question is asked: the answer has to wait for it.
static void test_outcome_awaited(bool commits)
{
	struct db *db = open_faulty("before-commit:1:conn");
	struct work work = new_work(db, commits ? "commits late" : "rolls back late");
	int ready[2], status = 1;
	char byte;

	if (pipe(ready) != 0)
		bail_out("no pipe");
	pid_t pid = fork();

	if (pid == 0)
		_exit(hold_change(work.request, commits, ready[1]));
	is_int(read(ready[0], &byte, 1), 1, "%s: under way", work.who);
	is_int(run_work(&work), DB_OK, "%s: the outcome is awaited", work.who);
	is_int(work.runs, commits ? 1 : 2, "%s: and believed", work.who);
	(void)waitpid(pid, &status, 0);
	is_int(status, 0, "%s: the other session did its part", work.who);
	db_close(&db);
}

static void test_process_killed(const char *fault, bool may_be_there)
{
	int status = 0;
	pid_t pid = fork();

	if (pid == 0) {
		struct db *db = open_faulty(fault);
		struct work work = new_work(db, fault);

		(void)run_work(&work);
		_exit(0);
	}
	(void)waitpid(pid, &status, 0);
	ok(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL, "%s kills the process", fault);
	uint64_t n = logged(fault);

	ok(n == 0 || (may_be_there && n == 1), "%s: all or nothing", fault);
}

// ---- processes and servers that end

static void test_fork(struct db *db)
{
	int status = 0;

	(void)number(db, test_query(&q_sum), DB_IN(db_u(1)));
	pid_t pid = fork();

	if (pid == 0) {
		db_forget_after_fork(&db);
		_exit(db == NULL ? 0 : 1);
	}
	(void)waitpid(pid, &status, 0);
	is_int(status, 0, "a child forgets the connection");
	is_int((long long)(number(db, test_query(&q_sum), DB_IN(db_u(1))) == UINT64_MAX), 0, "and the parent goes on with it");
}

static void test_server_killed(void)
{
	struct db_settings settings = *db_settings(server.config);

	settings.connect_timeout = 1;
	struct db *db = open_db(&settings, DB_APPLICATION);
	struct work work = new_work(db, "before the crash");

	expect_once(&work, 1, "before the crash");
	ok(server_do("kill"), "the server dies");
	work = new_work(db, "during");
	is_int(run_work(&work), DB_LOST, "no server: told after a while");
	is_int(db_txn_run(db, DB_AUTOCOMMIT, NULL, autocommitted, db), DB_LOST, "and again");
	ok(server_do("start"), "the server is back");
	work = new_work(db, "after");
	is_int(run_work(&work), DB_OK, "so are we");
	db_close(&watcher);
	watcher = open_db(&settings, DB_APPLICATION);
	is_int((long long)logged("before the crash"), 1, "what was committed survived");
	is_int((long long)logged("during"), 0, "what was refused did not happen");
	is_int((long long)logged("after"), 1, "what came after did");
	db_close(&db);
}

int main(void)
{
	server_start();
	server_sql("CREATE TABLE log (id BIGINT AUTO_INCREMENT PRIMARY KEY, who VARCHAR(255) NOT NULL) ENGINE=InnoDB;"
		"CREATE TABLE changes (id BIGINT AUTO_INCREMENT PRIMARY KEY, request_id BINARY(16) NOT NULL,"
		" KEY request (request_id)) ENGINE=InnoDB;"
		"CREATE TABLE sums (id INT PRIMARY KEY, n INT NOT NULL DEFAULT 0) ENGINE=InnoDB;"
		"INSERT INTO sums (id) VALUES (1), (2), (3), (9)");
	pool = pool_new();
	watcher = open_db(db_settings(server.config), DB_APPLICATION);
	struct db *db = open_db(db_settings(server.config), DB_APPLICATION);

	test_verdicts(db);
	test_empty(db);
	test_autocommit(db);
	test_snapshot(db);
	test_again(db);
	test_interrupted(db);
	test_lock_wait();
	test_locking_read();
	test_table_lock();
	test_commit_lock();
	test_deadlock();
	test_not_begun(db);
	test_killed(db);
	test_lost_commit();
	test_too_many_statements();
	test_outcome_learnt();
	test_outcome_awaited(true);
	test_outcome_awaited(false);
	test_process_killed("before-commit:1:process", false);
	test_process_killed("after-commit:1:process", true);
	test_process_killed("statement:1:process", false);
	test_fork(db);
	test_server_killed();
	db_close(&db);
	db_close(&watcher);
	pool_free(&pool);
	return done_testing();
}

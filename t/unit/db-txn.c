// SPDX-License-Identifier: Apache-2.0
// Transactions and those beside them: what certainly did not happen, as another was first, runs again, and nothing happens twice.
#include "base/base.h"

#include "db-work.h"

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

// ---- idle

static const struct test_query q_lock = { "SELECT n FROM sums WHERE id = ? FOR UPDATE", "u", "u" };

struct idle {
	struct db *db, *other;
	unsigned runs;
	enum db_result written; // by the other handle, while the first run of the transaction holds the lock and sends nothing
};

static enum db_verdict lock_and_wait(void *arg)
{
	struct idle *idle = arg;

	idle->runs++;
	(void)number(idle->db, test_query(&q_lock), DB_IN(db_u(9)));
	if (idle->runs == 1)
		idle->written = db_run(idle->other, NULL, test_query(&q_add), DB_IN(db_u(9)), NULL);
	return DB_COMMIT;
}

// A transaction that has locked a row, written nothing, and then sends nothing, as that of a process that is stopped. may_idle:
// db_may_idle().
static struct idle run_idle(const struct db_settings *settings, bool may_idle)
{
	struct idle idle = { .db = open_db(settings, DB_APPLICATION), .other = open_db(settings, DB_APPLICATION) };

	if (may_idle)
		db_may_idle(idle.db);
	const struct uuid request = uuid_new();
	is_int(db_txn_run(idle.db, DB_WRITE, &request, lock_and_wait, &idle), DB_OK, "a transaction that locks a row and waits");
	db_close(&idle.db);
	db_close(&idle.other);
	return idle;
}

static void test_idle(void)
{
	struct db_settings settings = *db_settings(server.config);

	settings.idle_write = 1;
	settings.lock_wait = 20;
	struct idle idle = run_idle(&settings, false);
	is_int(idle.written, DB_OK, "its lock is given up after idle_write, though it has written nothing");
	is_int(idle.runs, 2, "and it runs again");
	settings.lock_wait = 3;
	idle = run_idle(&settings, true);
	is_int(idle.written, DB_RETRY, "one that may be idle keeps its lock");
	is_int(idle.runs, 1, "and runs once");
}

int main(void)
{
	work_start();
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
	test_idle();
	db_close(&db);
	work_end();
	return done_testing();
}

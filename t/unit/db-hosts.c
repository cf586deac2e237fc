// SPDX-License-Identifier: Apache-2.0
// Several database hosts: the one that answers is found, and only the one that is the writer is written to.
#include "base/base.h"

#include "base/clock.h"
#include "db-server.h"
#include "registry/log/change.h"

static struct db *open_db(const struct db_settings *settings, enum db_account account)
{
	struct db *db = db_open(settings, account);

	db_set_log(db, &change_log);
	return db;
}

static const struct test_query q_add = { "UPDATE sums SET n = n + 1 WHERE id = ?", "u", "" };
static const struct test_query q_sum = { "SELECT n FROM sums WHERE id = ?", "u", "u" };

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

// ---- hosts

// Where there are several hosts, one has a second to greet. On a busy machine that may not be enough: then it is asked again.
static enum db_result connect_patiently(struct db *db)
{
	enum db_result result = DB_LOST;
	bool slow = true;

	for (int i = 0; i < 20 && result == DB_LOST && slow; i++) {
		int64_t begun_us = clock_tick_us();
		result = db_connect(db);
		slow = clock_tick_us() - begun_us > 900000;
	}
	return result;
}

static void test_hosts(void)
{
	struct db_settings settings = *db_settings(server.config);

	settings.host = "127.0.0.1:1, [::1]:1,localhost";
	for (int i = 0; i < 8; i++) {
		struct db *db = open_db(&settings, DB_OPERATOR); // as tenure-manage, which takes a database without a schema

		if (!ok(connect_patiently(db) == DB_OK, "the host of three that answers is found, round %d", i))
			diag("%s", db_error(db));
		db_close(&db);
	}
	settings.host = "127.0.0.1:1";
	struct db *db = open_db(&settings, DB_APPLICATION);

	is_int(db_connect(db), DB_LOST, "nobody answers");
	ok(db_error(db)[0] != '\0', "db_error() says why: %s", db_error(db));
	db_close(&db);
	settings = *db_settings(server.config);
	settings.name = "no_such_schema";
	db = open_db(&settings, DB_APPLICATION);
	is_int(db_connect(db), DB_ERROR, "a schema that is not there is no lost connection");
	db_close(&db);
}

// ---- the writer among them

static enum db_verdict add_once(void *arg)
{
	(void)db_run(arg, pool, test_query(&q_add), DB_IN(db_u(1)), NULL);
	return DB_COMMIT;
}

static enum db_verdict add_and_read(void *arg)
{
	(void)db_run(arg, pool, test_query(&q_add), DB_IN(db_u(1)), NULL);
	(void)number(arg, test_query(&q_sum), DB_IN(db_u(1)));
	return DB_COMMIT;
}

static void script(const char *text)
{
	if (db_run_script(watcher, str_c(text)) != DB_OK)
		diag("%s: %s", text, db_error(watcher));
}

static void appoint(const char *node, unsigned epoch)
{
	script(str_cstr(pool, str_printf(pool, "UPDATE writer SET node = %s, epoch = %u;\nUPDATE writer_slots SET epoch = %u;", node, epoch, epoch)));
}

#define SERVER_NAME "CONCAT(@@hostname, ':', @@port)"

static void make_writer_tables(void)
{
	script("CREATE TABLE writer (id TINYINT PRIMARY KEY, node VARCHAR(255), epoch BIGINT UNSIGNED, held TINYINT);\n"
	       "CREATE TABLE writer_slots (id SMALLINT UNSIGNED PRIMARY KEY, epoch BIGINT UNSIGNED, n BIGINT UNSIGNED, connection BIGINT UNSIGNED);\n"
	       "INSERT INTO writer VALUES (1, '', 0, 0);\nINSERT INTO writer_slots VALUES (1, 0, 0, 0), (2, 0, 0, 0);");
}

// Two hosts, one of which is there: it is written to only while the row of the writer names it, and under the epoch of the row.
static void test_fence(void)
{
	struct db_settings settings = *db_settings(server.config);
	const char *me = SERVER_NAME;

	make_writer_tables();
	settings.host = "127.0.0.1:1,localhost";
	settings.connect_timeout = 1; // so long it is asked again for what it refuses
	appoint(me, 1);
	struct db *db = open_db(&settings, DB_APPLICATION);
	uint64_t before = number(watcher, test_query(&q_sum), DB_IN(db_u(1)));

	is_int(connect_patiently(db), DB_OK, "the writer is found");
	is_int(db_txn_run(db, DB_WRITE, NULL, add_once, db), DB_OK, "it is written to");
	uint64_t trips = db_round_trips(db);
	is_int(db_txn_run(db, DB_WRITE, NULL, add_once, db), DB_OK, "and again");
	is_int((long long)(db_round_trips(db) - trips), 2, "the fence costs no round trip");
	is_int(db_run(db, pool, test_query(&q_add), DB_IN(db_u(1)), NULL), DB_OK, "a single statement, too");
	is_int(db_txn_run(db, DB_AUTOCOMMIT, NULL, add_and_read, db), DB_OK, "and a statement among reads without a transaction");
	is_int((long long)(number(watcher, test_query(&q_sum), DB_IN(db_u(1))) - before), 4, "all are done");
	appoint("'other'", 2);
	is_int(db_txn_run(db, DB_AUTOCOMMIT, NULL, add_and_read, db), DB_LOST, "once another is the writer, that is refused");
	appoint(me, 2);
	is_int(connect_patiently(db), DB_OK, "it is found");
	is_int(db_txn_run(db, DB_WRITE, NULL, add_once, db), DB_OK, "it is the writer again");
	appoint("'other'", 3);
	is_int(db_txn_run(db, DB_WRITE, NULL, add_once, db), DB_LOST, "once another is the writer, a transaction is refused");
	is_int(db_run(db, pool, test_query(&q_add), DB_IN(db_u(1)), NULL), DB_LOST, "and a single statement");
	ok(strstr(db_error(db), "is not the writer, other is") != NULL, "which is said: %s", db_error(db));
	appoint(me, 4);
	is_int(connect_patiently(db), DB_OK, "it is found");
	is_int(db_txn_run(db, DB_WRITE, NULL, add_once, db), DB_OK, "it is the writer again");
	appoint(me, 5);
	settings.connect_timeout = 10; // on a busy machine it may not greet within a second
	is_int(db_txn_run(db, DB_WRITE, NULL, add_once, db), DB_OK, "a later epoch is found at once");
	settings.connect_timeout = 1;
	is_int((long long)(number(watcher, test_query(&q_sum), DB_IN(db_u(1))) - before), 7, "what was refused was not done");
	(void)usleep((DB_LEASE_MS + 50) * 1000);
	appoint("'other'", 6);
	is_int(db_run(db, pool, test_query(&q_sum), DB_IN(db_u(1)), NULL), DB_LOST, "a read that may not be of the writer's state is refused");
	script("UPDATE writer SET node = '', held = 1;");
	is_int(connect_patiently(db), DB_LOST, "while an operator holds all writes, there is no connection");
	ok(strstr(db_error(db), "an operator has stopped all writes") != NULL, "which is said");
	db_close(&db);
	script("DROP TABLE writer;\nDROP TABLE writer_slots;");
}

// The table of the fence is locked: the transaction waits as for any other lock, and keeps its connection.
static void test_fence_waits(void)
{
	struct db_settings settings = *db_settings(server.config);

	make_writer_tables();
	settings.host = "127.0.0.1:1,localhost";
	settings.lock_wait = settings.retries = 1;
	appoint(SERVER_NAME, 1);
	struct db *db = open_db(&settings, DB_APPLICATION);

	is_int(connect_patiently(db), DB_OK, "the writer is found");
	is_int(db_txn_run(db, DB_WRITE, NULL, add_once, db), DB_OK, "the writer is written to");
	uint64_t before = number(watcher, test_query(&q_sum), DB_IN(db_u(1))), sessions = db_sessions(db);
	script("LOCK TABLES writer_slots WRITE;");
	is_int(db_txn_run(db, DB_WRITE, NULL, add_once, db), DB_LOST, "the fence waits in vain");
	is_int(db_txn_tries(db), 2, "twice");
	script("UNLOCK TABLES;");
	is_int((long long)number(watcher, test_query(&q_sum), DB_IN(db_u(1))), (long long)before, "nothing is done");
	is_int(db_txn_run(db, DB_WRITE, NULL, add_once, db), DB_OK, "then it goes on");
	is_int((long long)number(watcher, test_query(&q_sum), DB_IN(db_u(1))), (long long)before + 1, "once");
	is_int((long long)db_sessions(db), (long long)sessions, "on the same connection");
	db_close(&db);
	script("DROP TABLE writer;\nDROP TABLE writer_slots;");
}

// Texts of statements have no fence. The server that the handle is connected to is asked before each, however lately it was
// confirmed.
static void test_texts(void)
{
	struct db_settings settings = *db_settings(server.config);
	const struct str add = STR("UPDATE sums SET n = n + 1 WHERE id = 1");

	make_writer_tables();
	settings.host = "127.0.0.1:1,localhost";
	settings.connect_timeout = 1;
	appoint(SERVER_NAME, 1);
	struct db *db = open_db(&settings, DB_APPLICATION), *other = open_db(db_settings(server.config), DB_APPLICATION);
	uint64_t before = number(watcher, test_query(&q_sum), DB_IN(db_u(1)));

	is_int(connect_patiently(db), DB_OK, "the writer is found");
	is_int(db_run_script(db, add), DB_OK, "a script is run there");
	is_int(db_run_guarded(db, other, add, 1000), DB_OK, "and so is a statement that is guarded");
	appoint("'other'", 2);
	is_int(db_run_script(db, add), DB_LOST, "once another is the writer, a script is refused");
	ok(strstr(db_error(db), "no longer the writer") != NULL, "which is said: %s", db_error(db));
	appoint(SERVER_NAME, 3);
	is_int(connect_patiently(db), DB_OK, "the writer is found again");
	appoint("'other'", 4);
	is_int(db_run_guarded(db, other, add, 1000), DB_LOST, "a statement that is guarded is refused, too");
	is_int((long long)(number(watcher, test_query(&q_sum), DB_IN(db_u(1))) - before), 2, "what was refused was not done");
	db_close(&other);
	db_close(&db);
	script("DROP TABLE writer;\nDROP TABLE writer_slots;");
}

// A process that holds up every COMMIT for twice as long as a node counts as confirmed. It has begun when this returns.
static pid_t hold_up_commits(void)
{
	int begun[2];
	char byte;

	if (pipe(begun) != 0)
		abort();
	pid_t pid = fork();
	if (pid == 0) {
		db_forget_after_fork(&watcher);
		watcher = open_db(db_settings(server.config), DB_APPLICATION);
		script("BACKUP STAGE START;\nBACKUP STAGE BLOCK_COMMIT;");
		if (write(begun[1], "x", 1) != 1)
			_exit(1);
		script("DO SLEEP(0.5);\nBACKUP STAGE END;");
		_exit(0);
	}
	close(begun[1]);
	is_int(read(begun[0], &byte, 1), 1, "COMMIT is held up");
	close(begun[0]);
	return pid;
}

// The row of the writer names another one when COMMIT is answered, late; the slots did not when the transaction began.
static void test_commit_counts(void)
{
	struct db_settings settings = *db_settings(server.config);
	int status;

	static_assert(DB_LEASE_MS < 500, "COMMIT is held up for longer");
	make_writer_tables();
	settings.host = "127.0.0.1:1,localhost";
	appoint(SERVER_NAME, 1);
	struct db *db = open_db(&settings, DB_APPLICATION);
	is_int(connect_patiently(db), DB_OK, "the writer is found");
	is_int(db_txn_run(db, DB_WRITE, NULL, add_once, db), DB_OK, "the writer is written to");
	uint64_t before = number(watcher, test_query(&q_sum), DB_IN(db_u(1)));
	script("UPDATE writer SET node = 'other', epoch = 2;");
	pid_t pid = hold_up_commits();
	is_int(db_txn_run(db, DB_WRITE, NULL, add_once, db), DB_OK, "what was committed is done, though another is the writer by now");
	(void)waitpid(pid, &status, 0);
	is_int(status, 0, "the other process is done");
	is_int((long long)(number(watcher, test_query(&q_sum), DB_IN(db_u(1))) - before), 1, "and done once");
	db_close(&db);
	script("DROP TABLE writer;\nDROP TABLE writer_slots;");
}

int main(void)
{
	server_start();
	server_sql("CREATE TABLE changes (id BIGINT AUTO_INCREMENT PRIMARY KEY, request_id BINARY(16) NOT NULL,"
		" KEY request (request_id)) ENGINE=InnoDB;"
		"CREATE TABLE sums (id INT PRIMARY KEY, n INT NOT NULL DEFAULT 0) ENGINE=InnoDB;"
		"INSERT INTO sums (id) VALUES (1)");
	pool = pool_new();
	watcher = open_db(db_settings(server.config), DB_APPLICATION);

	test_hosts();
	test_fence();
	test_fence_waits();
	test_texts();
	test_commit_counts();
	db_close(&watcher);
	pool_free(&pool);
	return done_testing();
}

// SPDX-License-Identifier: Apache-2.0
// Transactions whose connection, process or server is lost: what certainly did not happen runs again, what may have happened is
// found out, nothing happens twice.
#include "base/base.h"

#include <netinet/tcp.h>
#include <signal.h>

#include "sql/session.h"
#include "db-relay.h"
#include "db-work.h"

static const struct test_query q_changes = { "SELECT COUNT(*) FROM changes WHERE request_id = ?", "b", "u" };
static const struct test_query q_id = { "SELECT CONNECTION_ID()", "", "u" };

static void kill_connection(struct db *db)
{
	uint64_t id = number(db, test_query(&q_id), NULL);

	if (db_run_script(watcher, str_printf(pool, "KILL %llu", (unsigned long long)id)) != DB_OK)
		diag("KILL: %s", db_error(watcher));
}

static struct db *open_faulty(const char *fault)
{
	(void)setenv("TENURE_FAULT", fault, 1);
	struct db *db = open_db(db_settings(server.config), DB_APPLICATION);

	(void)unsetenv("TENURE_FAULT");
	return db;
}

// ---- not begun

// The library can't send the statement that begins a write transaction, as if it had no memory for it: it lacks the value of a
// parameter.
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

	keep_from_beginning(db);
	uint64_t sessions = db_sessions(db);
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

enum { COM_STMT_EXECUTE_BYTE = 0x17 };

// Of each connection but the first, no prepared statement is executed.
static bool pass_no_execution(void *arg, unsigned connection, bool from_client, const char *data, size_t n)
{
	UNUSED(arg);
	return connection == 0 || !from_client || n < 5 || data[4] != COM_STMT_EXECUTE_BYTE;
}

// After a COMMIT that was lost, new connections are taken, and statements hang there: the question for the outcome does not take
// read_timeout for each try.
static void test_outcome_not_told(void)
{
	struct db_settings settings = *db_settings(server.config);
	pid_t relay;
	char host[32];

	(void)snprintf(host, sizeof(host), "127.0.0.1:%u", relay_start(&relay, pass_no_execution, NULL));
	settings.host = host;
	settings.tls = "off";
	settings.retries = 10;
	settings.read_timeout = 3;
	settings.lock_wait = 1;
	(void)setenv("TENURE_FAULT", "before-commit:1:conn", 1);
	struct db *db = open_db(&settings, DB_APPLICATION);
	(void)unsetenv("TENURE_FAULT");
	struct work work = new_work(db, "not told");

	is_int(run_work(&work), DB_LOST, "an outcome that nobody tells");
	ok(db_txn_uncertain(db), "is uncertain");
	is_int(work.runs, 1, "and nothing runs twice");
	ok(db_sessions(db) <= 3, "it is asked for during twice lock_wait");
	db_close(&db);
	relay_end(relay);
}

static int socket_option(const struct db *db, int level, int option)
{
	int value = -1;
	socklen_t n = sizeof(value);

	return getsockopt(mysql_get_socket(db->mysql), level, option, &value, &n) == 0 ? value : -1;
}

static bool pass_all(void *arg, unsigned connection, bool from_client, const char *data, size_t n)
{
	UNUSED(arg);
	UNUSED(connection);
	UNUSED(from_client);
	UNUSED(data);
	return n > 0;
}

// What makes the loss of a connection known that the network has dropped without a word.
static void test_network_watched(void)
{
	struct db_settings settings = *db_settings(server.config);
	pid_t relay;
	char host[32];

	(void)snprintf(host, sizeof(host), "127.0.0.1:%u", relay_start(&relay, pass_all, NULL));
	settings.host = host;
	settings.tls = "off";
	settings.read_timeout = 20;
	struct db *db = open_db(&settings, DB_APPLICATION);
	is_int(db_connect(db), DB_OK, "connected over TCP");
	is_int(socket_option(db, SOL_SOCKET, SO_KEEPALIVE), 1, "an idle connection is probed");
	is_int(socket_option(db, IPPROTO_TCP, TCP_KEEPIDLE), 30, "after half a minute");
	is_int(socket_option(db, IPPROTO_TCP, TCP_USER_TIMEOUT), 10000, "and lost long before read_timeout where nothing is acknowledged");
	db_close(&db);
	db = open_db(&settings, DB_OPERATOR);
	is_int(db_connect(db), DB_OK, "an operator's");
	is_int(socket_option(db, IPPROTO_TCP, TCP_USER_TIMEOUT), 0, "has no such limit, as it has no read_timeout");
	db_close(&db);
	relay_end(relay);
}

// The password is changed, and the configuration later. Connections that there are go on; the next one is refused, as if the
// server were away.
static void test_login_refused(void)
{
	struct db_settings settings = *db_settings(server.config);

	server_sql("CREATE USER rotated@localhost IDENTIFIED BY 'first';\nGRANT SELECT, INSERT ON t.* TO rotated@localhost");
	settings.user = "rotated";
	settings.password = "first";
	struct db *db = open_db(&settings, DB_APPLICATION);
	struct work work = new_work(db, "as before");

	expect_once(&work, 1, "with the password");
	server_sql("SET PASSWORD FOR rotated@localhost = PASSWORD('second')");
	kill_connection(db);
	work = new_work(db, "refused");
	is_int(run_work(&work), DB_LOST, "with one that was changed: as if the server were away");
	ok(db_is_refused(db) && !db_txn_uncertain(db), "which is told");
	is_str(str_c(db_reason(db)), "the database does not let the service in, and an operator has to repair that", "to clients, too");
	is_int((long long)logged("refused"), 0, "and nothing happened");
	server_sql("SET PASSWORD FOR rotated@localhost = PASSWORD('first')");
	work = new_work(db, "let in");
	expect_once(&work, 1, "set back");
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
	work_start();
	struct db *db = open_db(db_settings(server.config), DB_APPLICATION);

	test_not_begun(db);
	test_killed(db);
	test_lost_commit();
	test_too_many_statements();
	test_outcome_learnt();
	test_outcome_awaited(true);
	test_outcome_awaited(false);
	test_outcome_not_told();
	test_network_watched();
	test_login_refused();
	test_process_killed("before-commit:1:process", false);
	test_process_killed("after-commit:1:process", true);
	test_process_killed("statement:1:process", false);
	test_fork(db);
	test_server_killed();
	db_close(&db);
	work_end();
	return done_testing();
}

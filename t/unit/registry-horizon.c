// SPDX-License-Identifier: Apache-2.0
// The change log's horizon, state by state, with writers whose statements and transactions begin and end at will.
#include "base/base.h"

#include "registry-horizon.h"

enum { LARGE = 9000, MORE = 12000, LOOK = 10000 };

// Rows that this connection went through so far.
static long long rows_read(void)
{
	static const struct test_query query = {
		"SELECT CAST(VARIABLE_VALUE AS SIGNED) FROM information_schema.SESSION_STATUS "
		"WHERE VARIABLE_NAME = 'HANDLER_READ_NEXT'", "", "i"
	};
	struct db_rows rows;

	if (db_run(here.db, here.pool, test_query(&query), NULL, &rows) != DB_OK || rows.n != 1)
		bail_out("no status");
	return db_at(&rows, 0, 0)->i;
}

static void test_open(void)
{
	add(other, 1, 3);
	is_int(horizon(), 3, "all that is committed");
	is_int((long long)newest, 3, "is all");
	sql(writer, "START TRANSACTION");
	add(writer, 4, 4);
	is_int(horizon(), 3, "what is in flight is not there");
	add(other, 5, 5);
	is_int(horizon(), 3, "what is above it waits");
	is_int((long long)newest, 5, "and is seen");
	ok(!horizon_is_asking(here.registry) && horizon_settled(here.registry) == 5, "nothing else is uncertain");
	sql(writer, "COMMIT");
	is_int(horizon(), 5, "until it is committed");
	sql(writer, "START TRANSACTION");
	add(writer, 6, 6);
	add(other, 7, 7);
	is_int(horizon(), 5, "the next one is in flight");
	sql(writer, "ROLLBACK");
	is_int(horizon(), 7, "and void at once when it is rolled back");
	sql(writer, "START TRANSACTION");
	add(writer, 8, 9);
	sql(writer, "ROLLBACK");
	is_int(horizon(), 7, "void ids at the end are no news");
	add(other, 10, 10);
	is_int(horizon(), 10, "and do not hold up what follows");
	add(other, 12, 12);
	sql(writer, "START TRANSACTION");
	add(writer, 14, 14);
	add(other, 15, 15);
	is_int(horizon(), 12, "gaps are void, what is in flight between isn't");
	is_int((long long)horizon_settled(here.registry), 15, "which is all known");
	sql(writer, "COMMIT");
	is_int(horizon(), 15, "and now it is there");
}

// ---- statements in progress

// Executes an INSERT of those ids that stops before each row that is waited_at until the lock of the name is free, and after
// it commits or doesn't. The pid.
static pid_t write_and_wait(const char *lock, int first, int last, int waited_at, bool commits, bool as_batch)
{
	pid_t pid = fork();

	if (pid != 0)
		return pid;
	struct db *db = db_open(db_settings(server.config), DB_APPLICATION);
	char text[1024];
	struct db_call calls[] = { { .query = TEST_QUERY("SELECT 1", "u") }, { .query = TEST_QUERY(text, "") },
		{ .query = TEST_QUERY("SELECT 2", "u") } };

	(void)snprintf(text, sizeof(text),
		CHANGE_INSERT "(id, request_id, at, actor, verb, tenant_id, uid, revision) SELECT seq, "
		"REPEAT('r', 16), UTC_TIMESTAMP(6), 'tester', 'moved', 1, REPEAT('u', 16), IF(seq = %d, GET_LOCK('%s', 60), 1) "
		"FROM seq_%d_to_%d", waited_at, lock, first, last);
	sql(db, "START TRANSACTION");
	if (as_batch)
		(void)db_run_batch(db, here.pool, calls, COUNT_OF(calls));
	else
		sql(db, "%s", text);
	sql(db, commits ? "COMMIT" : "ROLLBACK");
	_exit(0);
}

static void await_lock_waiters(unsigned n)
{
	char text[200];

	(void)snprintf(text, sizeof(text), "SELECT CAST(COUNT(*) AS UNSIGNED) FROM information_schema.PROCESSLIST WHERE STATE = "
		"'User lock' AND %u = %u", n, n);
	await_value(text, n);
}

// A statement that has ids and not yet their rows.
static void test_statement(bool as_batch, int base)
{
	sql(other, "DO GET_LOCK('gate', 60)");
	pid_t pid = write_and_wait("gate", base + 1, base + 4, base + 1, true, as_batch); // no row of it is there
	await_lock_waiters(1);
	add(other, base + 10, base + 10);
	long long before = ask(&here);
	ok(before < base, "%s: what is above a statement in progress waits for it", as_batch ? "batch" : "text");
	ok(horizon_is_asking(here.registry), "which is known");
	is_int(ask(&here), before, "as long as it lasts");
	ok((long long)horizon_settled(here.registry) < base, "and nothing is settled");
	add(other, base + 11, base + 11);
	is_int(ask(&here), before, "while others go on");
	sql(other, "DO RELEASE_LOCK('gate')");
	is_int((waitpid(pid, NULL, 0) == pid), 1, "it ends");
	is_int(horizon(), base + 11, "and all is there");
	ok(!horizon_is_asking(here.registry), "nothing is asked");
}

// Its ids come to nothing: the same statement, rolled back; and one whose process is killed.
static void test_void_statement(int base)
{
	sql(other, "DO GET_LOCK('gate', 60)");
	pid_t rolled_back = write_and_wait("gate", base + 1, base + 4, base + 3, false, true);
	await_lock_waiters(1);
	add(other, base + 10, base + 10);
	ok(ask(&here) < base, "a statement in progress");
	sql(other, "DO RELEASE_LOCK('gate')");
	ok(waitpid(rolled_back, NULL, 0) == rolled_back, "is rolled back");
	is_int(horizon(), base + 10, "and its ids are void");
	sql(other, "DO GET_LOCK('gate', 60)");
	pid_t killed = write_and_wait("gate", base + 11, base + 14, base + 13, true, true);
	await_lock_waiters(1);
	add(other, base + 20, base + 20);
	ok(ask(&here) == base + 10, "another");
	(void)kill(killed, SIGKILL);
	ok(waitpid(killed, NULL, 0) == killed, "whose writer is killed");
	ok(ask(&here) == base + 10, "goes on in the server");
	sql(other, "DO RELEASE_LOCK('gate')");
	await_ends();
	is_int(horizon(), base + 20, "until that notices: its ids are void");
}

// A stopped writer holds the horizon up until the database ends its transaction, and no longer.
static void test_stopped(int base)
{
	struct db_settings hasty = *db_settings(server.config);
	int ready[2];
	char byte;

	hasty.idle_write = 10; // longer than all that is asked before
	if (pipe(ready) != 0)
		bail_out("no pipe");
	pid_t pid = fork();
	if (pid == 0) {
		struct db *db = db_open(&hasty, DB_APPLICATION);
		sql(db, "START TRANSACTION");
		add(db, base + 1, base + 1);
		(void)!write(ready[1], "x", 1);
		for (;;)
			(void)pause();
	}
	ok(read(ready[0], &byte, 1) == 1 && kill(pid, SIGSTOP) == 0, "a writer is stopped amid its transaction");
	add(other, base + 2, base + 2);
	ok(horizon() < base, "and holds up what is above");
	for (int i = 0; i < 25 && !horizon_is_held(here.registry); i++)
		(void)horizon();
	ok(horizon_is_held(here.registry), "which is known to be long");
	await_ends();
	is_int(horizon(), base + 2, "until the database ends it");
	(void)kill(pid, SIGKILL);
	(void)waitpid(pid, NULL, 0);
	(void)close(ready[0]);
	(void)close(ready[1]);
}

static void test_large(void)
{
	long long before, base = horizon();

	sql(writer, "START TRANSACTION");
	add(writer, 10001, 10000 + LARGE);
	add(other, 20001, 20001);
	is_int(horizon(), base, "a large transaction holds it up");
	before = rows_read();
	for (int i = 0; i < 20; i++)
		is_int(horizon(), base, "for long");
	ok(rows_read() - before < 200, "which is not gone through each time: %lld rows", rows_read() - before);
	sql(writer, "COMMIT");
	is_int(horizon(), 20001, "when it has ended all is there");
	sql(writer, "START TRANSACTION");
	add(writer, 20002, 20002);
	add(other, 20003, 20002 + LARGE);
	is_int(horizon(), 20001, "a small one below many");
	is_int((long long)horizon_backlog(here.registry), LARGE, "which are counted");
	sql(writer, "ROLLBACK");
	is_int(horizon(), 20002 + LARGE, "and then all is there");
	is_int((long long)horizon_backlog(here.registry), 0, "with nothing above");
	add(other, 30001, 30000 + 3 * LOOK);
	is_int(horizon(), 30000 + 3 * LOOK, "much is gone through in parts, at once");
	sql(other, "DELETE FROM changes");
	is_int(horizon(), 30000 + 3 * LOOK, "when the log was emptied it goes on");
}

static void test_others(void)
{
	struct client late;

	add(other, 60001, 60001);
	is_int(horizon(), 60001, "what one process finds out");
	client_open(&late);
	is_int(published(&late), 60001, "another has read");
	sql(writer, "START TRANSACTION");
	add(writer, 60002, 60002);
	add(other, 60003, 60002 + LARGE);
	is_int(horizon_of(&late), 60001, "one that comes while something is in flight");
	sql(writer, "COMMIT");
	is_int(horizon_of(&late), 60002 + LARGE, "comes up when it is not");
	is_int(published(&here), 60002 + LARGE, "for all");
	client_close(&late);
}

// What is in flight of 7, which had it from 8, is between what is committed of 5 and 6.
static void test_of_two(void)
{
	struct db *third = db_open(db_settings(server.config), DB_OPERATOR);
	struct streamed_change *list;
	uint64_t *ids;
	long long before;
	size_t n;

	add_of(other, 5, "NULL", 100001, 100001);
	is_int(horizon(), 100001, "nothing is in flight");
	sql(writer, "START TRANSACTION");
	add_of(writer, 7, "8", 100002, 100001 + LARGE);
	add_of(other, 5, "9", 120001, 120002);
	is_int(horizon(), 100001, "the horizon of all is held up");
	is_int((long long)horizon_settled(here.registry), 120002, "while all is known");
	before = rows_read();
	is_int(horizon_above(0, 5, 1), 120002, "that of who has nothing to do with it is not");
	is_outcome(change_stream_read_of(here.registry, (const uint64_t[]){ 5, 1 }, (struct change_range){ 100001, 120002, 10 }, &list, &n), OUTCOME_OK,
		"what there is of these");
	ok(rows_read() - before < 100, "is found without going through all: %lld rows", rows_read() - before);
	is_int((long long)n, 2, "two changes");
	is_int((long long)list[0].id, 120001, "in their order");
	is_outcome(change_stream_read_of(here.registry, (const uint64_t[]){ 1, 9 }, (struct change_range){ 120001, 120002, 10 }, &list, &n), OUTCOME_OK,
		"asked");
	is_int((long long)n, 1, "what left a tenant is its, too, above what is known");
	is_outcome(change_stream_tenants(here.registry, 100001, 120002, &ids, &n), OUTCOME_OK, "whose they are");
	is_int((long long)n, 4, "is known, what is in flight included");
	is_int(horizon_above(0, 4, 1), 120002, "nor that of who has nothing");
	is_int(horizon_above(0, 9, 4), 120002, "nor that of who had it");
	is_int(horizon_above(0, 7, 5), 100001, "whose it is waits");
	is_int(horizon_above(0, 5, 7), 100001, "whichever of two");
	is_int(horizon_above(0, 8, 5), 100001, "and who had it");
	is_int(horizon_above(0, 5, 8), 100001, "whichever");
	sql(third, "START TRANSACTION");
	add_of(third, 5, "NULL", 120003, 120003);
	add_of(other, 5, "NULL", 120004, 120004);
	(void)horizon();
	is_int(horizon_above(0, 5, 1), 120002, "what is in flight is not passed");
	is_int(horizon_above(0, 9, 4), 120004, "but by others");
	sql(third, "COMMIT");
	is_int(horizon_above(0, 5, 1), 120004, "until it is committed");
	sql(third, "START TRANSACTION");
	add_of(third, 7, "NULL", 125000, 125000);
	(void)horizon();
	is_int((long long)horizon_settled(here.registry), 125000, "an id that is in flight, which the next writer may give again,");
	is_int(horizon_above(0, 5, 1), 120004, "is passed by nobody");
	add_of(other, 5, "NULL", 124000, 124000);
	is_int(horizon_above(0, 5, 1), 124000, "but what is committed is, below it as well");
	sql(third, "ROLLBACK");
	add_of(other, 6, "NULL", 130001, 130000 + MORE);
	(void)horizon();
	is_int(horizon_above(0, 6, 1), 130000 + LOOK, "much is looked at in parts");
	is_int(horizon_above(130000 + LOOK, 6, 1), 130000 + MORE, "from where one has come to on");
	is_int(horizon_above(200000, 6, 1), 200000, "never back");
	sql(writer, "COMMIT");
	is_int(horizon(), 130000 + MORE, "in the end all is there");
	is_int(horizon_above(0, 7, 5), 130000 + MORE, "for everybody");
	db_close(&third);
}

// ---- connections, users, crashes

static void test_lost_connection(void)
{
	uint64_t at;

	add(other, 200001, 200002);
	begin_request(&here);
	do
		is_outcome(horizon_ask(here.registry, &at, NULL), OUTCOME_OK, "asked");
	while (horizon_is_asking(here.registry));
	is_int((long long)at, 200002, "and found out");
	sql(other, "KILL %llu", (unsigned long long)value_of(here.db, "SELECT CONNECTION_ID() + 0"));
	is_outcome(horizon_publish(here.registry), OUTCOME_UNAVAILABLE, "the connection is lost before it is published");
	is_outcome(horizon_publish(here.registry), OUTCOME_UNAVAILABLE, "over another one it can't be");
	is_int(published(&here), 130000 + MORE, "nothing was");
	is_int((long long)horizon_settled(here.registry), 130000 + MORE, "and nothing is known");
	is_int(horizon(), 200002, "until it is asked again");
}

// Writers that the asking user can't see.
static void test_blind(void)
{
	struct db_settings blind = *db_settings(server.config);
	struct client client;

	sql(other, "CREATE USER blind@localhost; GRANT SELECT, INSERT, UPDATE, DELETE ON t.* TO blind@localhost");
	blind.user = "blind";
	client = (struct client){ .db = db_open(&blind, DB_APPLICATION), .pool = pool_new() };
	client.store = registry_store_new(server.config, client.db);
	registry_attach(client.registry, client.store);
	add(other, 200003, 200003);
	is_int(ask(&client), 200002, "who can't see all writers does not go on");
	is_int((long long)value_of(other, "SELECT COUNT(*) + 0 FROM log_writers"), 2, "both are known");
	is_int(horizon(), 200003, "who can does");
	add(other, 200004, 200004);
	sql(other, "GRANT PROCESS ON *.* TO blind@localhost");
	client_close(&client);
	client = (struct client){ .db = db_open(&blind, DB_APPLICATION), .pool = pool_new() };
	client.store = registry_store_new(server.config, client.db);
	registry_attach(client.registry, client.store);
	is_int(horizon_of(&client), 200004, "and with the privilege everybody can");
	client_close(&client);
	sql(other, "DELETE FROM log_writers WHERE name = 'blind'; DROP USER blind@localhost");
}

static enum db_verdict insert_taken(void *arg)
{
	static const struct test_query query = {
		CHANGE_INSERT "(id, request_id, at, actor, verb, tenant_id, uid, revision) VALUES (200004, REPEAT('r', 16), "
		"UTC_TIMESTAMP(6), 'tester', 'moved', 1, REPEAT('u', 16), 1)", "", ""
	};
	struct db_call call = { .query = test_query(&query) };

	*(enum db_result *)arg = db_run_batch(here.db, here.pool, &call, 1);
	return DB_ROLLBACK;
}

static void test_taken_id(void)
{
	enum db_result result;
	struct uuid id = uuid_new();

	is_int(db_txn_run(here.db, DB_WRITE, &id, insert_taken, &result), DB_LOST, "an id of the log that is taken");
	is_int(result, DB_RETRY, "is no duplicate of anything: the transaction runs again");
	ok(db_txn_tries(here.db) > 1, "%u times", db_txn_tries(here.db));
}

int main(void)
{
	// With 1, the default, writers wait for each other while one inserts many, and hardly meet.
	horizon_start("2");
	test_open();
	count_connections();
	test_statement(false, 1000);
	test_statement(true, 2000);
	test_void_statement(3000);
	test_stopped(4000);
	test_large();
	test_others();
	test_of_two();
	test_lost_connection();
	test_blind();
	test_taken_id();
	return horizon_end();
}

// SPDX-License-Identifier: Apache-2.0
// A write transaction that a node of a cluster ends without saying so is done again, whole: what came after its end is never
// committed. Here the function ends it itself; the handle takes the server for a node of Galera. And what was read by a
// connection that is lost afterwards counts only if it is certainly the writer's state.
#include "base/base.h"

#include <sys/socket.h>

#include "base/budget.h"
#include "base/clock.h"
#include "db/maintenance.h"
#include "sql/cluster.h"
#include "sql/session.h"
#include "db-writer.h"

enum { FEW = DB_MAX_BATCH, MANY = DB_MAX_BATCH + 1 };

static const struct test_query q_add = { "UPDATE sums SET n = n + ? WHERE id = 1", "u", "" };
static const struct test_query q_other = { "UPDATE sums SET n = n + ? WHERE id = 2", "u", "" };
static const struct test_query q_row = { "INSERT INTO items (id) VALUES (?)", "u", "" };
static const struct test_query q_rows = { "SELECT COUNT(*) FROM items", "", "u" };
static const struct test_query q_rollback = { "ROLLBACK", "", "" };
static const struct test_query q_large = { "SELECT REPEAT('x', 1000000)", "", "s" };
static const struct test_query q_shared = { "UPDATE writer_slots SET n = n + 1, connection = 1", "", "" };

static struct db *watcher;

static uint64_t number(const struct test_query *query)
{
	struct db_rows rows;

	if (db_run(watcher, pool, test_query(query), NULL, &rows) != DB_OK || rows.n != 1)
		return UINT64_MAX;
	return db_at(&rows, 0, 0)->u;
}

static void add(struct db *db, const struct db_query *query)
{
	(void)db_run(db, pool, query, DB_IN(db_u(1)), NULL);
}

// What a transaction writes before and after the server ended its first attempt.
struct work {
	struct db *db;
	unsigned runs;
	void (*after)(struct work *work);
	bool shared;
	enum db_verdict verdict;
	enum db_result seen; // of the first statement behind the end
};

static enum db_verdict do_work(void *arg)
{
	struct work *work = arg;

	work->runs++;
	add(work->db, test_query(&q_add));
	if (work->runs == 1) {
		(void)db_run(work->db, pool, test_query(&q_rollback), NULL, NULL);
		if (work->shared)
			(void)db_run(watcher, pool, test_query(&q_shared), NULL, NULL);
		work->after(work);
		work->seen = work->db->failure;
		return work->verdict;
	}
	work->after(work);
	return DB_COMMIT;
}

// A statement that this connection has not prepared yet.
static void prepare_one(struct work *work)
{
	struct test_query fresh = q_other;

	add(work->db, test_query_made(NULL, &fresh));
}

static void fill(struct work *work, size_t n)
{
	struct db_value rows[MANY];

	for (size_t i = 0; i < n; i++)
		rows[i] = db_u(i + 1);
	(void)db_run_bulk(work->db, pool, test_query(&q_row), rows, n, NULL);
}

static void fill_many(struct work *work)
{
	fill(work, MANY);
}

static void expect_whole(struct work *work, uint64_t sums, uint64_t items, const char *what)
{
	uint64_t before = number(&q_sums);

	is_int(db_txn_run(work->db, DB_WRITE, NULL, do_work, work), DB_OK, "%s: committed", what);
	is_int(work->seen, DB_RETRY, "%s: the end is noticed at once", what);
	is_int(work->runs, 2, "%s: done again", what);
	is_int((long long)(number(&q_sums) - before), (long long)sums, "%s: what the transaction wrote before is there, once", what);
	is_int((long long)number(&q_rows), (long long)items, "%s: and what it wrote in one statement", what);
}

static void test_prepare(struct db *db)
{
	struct work work = { .db = db, .after = prepare_one, .verdict = DB_COMMIT };

	expect_whole(&work, 2, 0, "ended while a statement is prepared");
	work = (struct work){ .db = db, .after = prepare_one, .verdict = DB_ROLLBACK };
	expect_whole(&work, 2, 0, "the same, and the function gave up for what it saw then");
	work = (struct work){ .db = db, .after = prepare_one, .verdict = DB_COMMIT, .shared = true };
	expect_whole(&work, 2, 0, "the same, and another connection has used its slot since");
}

// One that goes to the other nodes in fragments, which this server does not do: only the look at it.
static enum db_verdict look_at_large(void *arg)
{
	struct db *db = arg;

	add(db, test_query(&q_add));
	db->large = true;
	is_int(db_txn_goes_on(db), DB_OK, "a large one goes on");
	db->large = false;
	(void)db_run(db, pool, test_query(&q_rollback), NULL, NULL);
	db->large = true;
	is_int(db_txn_goes_on(db), DB_RETRY, "and does not, once it was ended");
	db->large = false;
	return DB_ROLLBACK;
}

static enum db_verdict fill_few(void *arg)
{
	struct work *work = arg;

	add(work->db, test_query(&q_add));
	fill(work, FEW);
	return DB_COMMIT;
}

static void test_bulk(struct db *db)
{
	struct work work = { .db = db, .after = fill_many, .verdict = DB_COMMIT };

	expect_whole(&work, 1, MANY, "ended before a statement for many rows");
	server_sql("DELETE FROM items");
	uint64_t trips = db_round_trips(db);
	is_int(db_txn_run(db, DB_WRITE, NULL, fill_few, &work), DB_OK, "a statement for few rows");
	is_int((long long)(db_round_trips(db) - trips), 3, "needs no look at the transaction");
	is_int((long long)number(&q_rows), FEW, "and does all rows");
}

// ---- a beginning that is not sent

static enum db_verdict add_one(void *arg)
{
	add(arg, test_query(&q_add));
	return DB_COMMIT;
}

// The library can't send the statement that begins the transaction, as if it had no memory for it: neither the fence nor what is
// behind it may be committed by itself, and no answer is waited for.
static void test_not_begun(const struct db_settings *template)
{
	struct db_settings settings = *template;
	struct db_stmt *begin;
	struct db_rows rows;

	settings.read_timeout = 60;
	struct db *db = db_open(&settings, DB_APPLICATION);
	is_int(connect_patiently(db), DB_OK, "connected to the writer");
	is_int(db_run(db, pool, test_query(&q_sums), NULL, &rows), DB_OK, "outside of a transaction");
	if (db_stmt_get(db, &sql_session_autocommit_off_query, &begin) != DB_OK)
		bail_out("a statement of the test itself failed");
	begin->stmt->param_count = 1;
	begin->stmt->bind_param_done = 0;
	uint64_t before = number(&q_sums);
	int64_t begun_us = clock_tick_us();
	is_int(db_txn_run(db, DB_WRITE, NULL, add_one, db), DB_OK, "a transaction whose beginning was not sent: committed");
	is_int((long long)(number(&q_sums) - before), 1, "once");
	ok(clock_tick_us() - begun_us < settings.read_timeout * INT64_C(500000), "long before read_timeout");
	db_close(&db);
}

// ---- reads whose connection is lost at their end

struct look {
	struct db *db;
	unsigned runs;
	bool waits, cuts, reads;
	uint64_t seen;
};

// Another connection is the writer's after the first run has read, and writes.
static enum db_verdict do_look(void *arg)
{
	struct look *look = arg;
	struct db_rows rows;

	look->seen = 0;
	if (look->reads && db_run(look->db, pool, test_query(&q_sums), NULL, &rows) != DB_OK)
		return DB_ROLLBACK; // a server of a busy machine was not reached in time: a run that saw nothing does not count
	if (look->reads && rows.n == 1)
		look->seen = db_at(&rows, 0, 0)->u;
	if (++look->runs == 1 && look->waits)
		clock_pause_ms(DB_LEASE_MS + 50);
	if (look->runs == 1 && look->cuts)
		(void)shutdown(mysql_get_socket(look->db->mysql), SHUT_RDWR);
	if (look->runs == 1 && look->waits)
		server_sql("UPDATE writer SET epoch = epoch + 1;\nUPDATE writer_slots SET epoch = epoch + 1;\nUPDATE sums SET n = n + 1 WHERE id = 1;");
	return DB_ROLLBACK;
}

static enum db_verdict do_look_to_the_end(void *arg)
{
	(void)do_look(arg);
	return DB_COMMIT;
}

static void expect_look(struct look *look, enum db_mode mode, enum db_verdict (*fn)(void *arg), unsigned runs, const char *what)
{
	is_int(db_txn_run(look->db, mode, NULL, fn, look), DB_OK, "%s: answered", what);
	is_int(look->runs, runs, "%s: runs", what);
	if (look->reads && look->waits)
		is_int((long long)look->seen, (long long)number(&q_sums), "%s: the writer's state", what);
}

// The end of a read that is lost while the server was certainly the writer a moment before. What a busy machine does not do
// within that moment is done again.
static void test_lost_at_once(const struct db_settings *settings)
{
	struct look look;
	enum db_result result = DB_LOST;
	bool in_time = false;

	for (int i = 0; i < 100 && !in_time; i++) {
		int64_t begun_us = clock_tick_us();
		struct db *db = db_open(settings, DB_APPLICATION);

		look = (struct look){ .db = db, .reads = true, .cuts = true };
		result = db_txn_run(db, DB_WRITE, NULL, do_look, &look);
		in_time = result == DB_OK && clock_tick_us() - begun_us < DB_LEASE_MS * INT64_C(1000);
		db_close(&db);
	}
	ok(in_time, "the same at once: answered");
	is_int(look.runs, 1, "it was the writer when it answered: runs");
}

static void test_lost_reads(const struct db_settings *settings)
{
	(void)setenv("TENURE_FAULT", "before-commit:1:conn", 1);
	struct db *faulty = db_open(settings, DB_APPLICATION), *db;
	(void)unsetenv("TENURE_FAULT");
	struct look look = { .db = faulty, .waits = true, .reads = true };

	expect_look(&look, DB_SNAPSHOT, do_look_to_the_end, 2, "a snapshot whose COMMIT is lost");
	db_close(&faulty);
	db = db_open(settings, DB_APPLICATION);
	look = (struct look){ .db = db, .waits = true, .reads = true, .cuts = true };
	expect_look(&look, DB_WRITE, do_look, 2, "a write transaction whose ROLLBACK is lost");
	look = (struct look){ .db = db, .waits = true };
	expect_look(&look, DB_WRITE, do_look, 1, "without a connection, and nothing read");
	db_close(&db);
	test_lost_at_once(settings);
}

// ---- a server that is read-only

// What @@read_only is on a server, by its version, and whether such a server refuses changes.
static const struct read_only {
	const char *is;
	bool refuses;
} read_only[] = { { "0", false }, { "1", true }, { "'OFF'", false }, { "'ON'", true }, { "'NO_LOCK'", true }, { "'NO_LOCK_NO_ADMIN'", true } };

static void test_read_only(void)
{
	struct str asked = str_c(sql_writer_read_only_query.sql), name = STR("@@read_only");
	const char *at = strstr(asked.p, name.p);

	if (at == NULL)
		bail_out("no @@read_only in the statement");
	for (size_t i = 0; i < COUNT_OF(read_only); i++) {
		struct str sql = str_printf(pool, "%.*s%s%s", (int)(at - asked.p), asked.p, read_only[i].is, at + name.n);
		struct db_rows rows;
		bool is_known = db_run(watcher, pool, TEST_QUERY(str_cstr(pool, sql), "i"), NULL, &rows) == DB_OK && rows.n == 1;
		is_int(is_known ? (long long)db_at(&rows, 0, 0)->i : -1, read_only[i].refuses, "read_only is %s", read_only[i].is);
	}
}

// ---- maintenance

struct greedy {
	struct db *db;
	struct pool *pool;
};

static void read_too_much(void *arg)
{
	struct greedy *greedy = arg;
	struct db_rows rows;

	(void)db_run(greedy->db, greedy->pool, test_query(&q_large), NULL, &rows);
}

// A statement outside of a transaction, which does not heed maintenance, is left by its request: the next transaction heeds it.
static void test_left_apart(struct db *db)
{
	server_sql("CREATE TABLE settings (name VARCHAR(64) PRIMARY KEY, value VARBINARY(1000) NOT NULL) ENGINE=InnoDB;\n"
		"INSERT INTO settings VALUES ('etag_key', 'x'), ('maintenance', '60 0 repairs');");
	struct greedy greedy = { .db = db, .pool = pool_new() };
	db_heed_maintenance(db, true);
	is_int(connect_patiently(db), DB_OK, "connected to the writer again");
	is_int(db_txn_run(db, DB_WRITE, NULL, add_one, db), DB_FULL, "maintenance: nothing is written");
	budget_grant(100000, 0);
	is_int(budget_guard(read_too_much, &greedy), BUDGET_MEMORY, "a read that takes more than its request is granted");
	budget_end();
	is_int(db_txn_run(db, DB_WRITE, NULL, add_one, db), DB_FULL, "and nothing is written behind it");
	pool_free(&greedy.pool);
	server_sql("DROP TABLE settings");
}

int main(void)
{
	struct db_settings settings = writer_start();

	watcher = db_open(db_settings(server.config), DB_APPLICATION);
	struct db *db = db_open(&settings, DB_APPLICATION);
	is_int(connect_patiently(db), DB_OK, "connected to the writer");
	db->galera = true;
	test_prepare(db);
	test_bulk(db);
	(void)db_txn_run(db, DB_WRITE, NULL, look_at_large, db);
	db_close(&db);
	db = db_open(&settings, DB_APPLICATION);
	test_left_apart(db);
	db_close(&db);
	test_not_begun(&settings);
	test_lost_reads(&settings);
	test_read_only();
	db_close(&watcher);
	pool_free(&pool);
	return done_testing();
}

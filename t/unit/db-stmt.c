// SPDX-License-Identifier: Apache-2.0
// Statements: every type goes in and comes back as it was, batches share a round trip, bulk inserts, scripts.
#include "base/base.h"

#include "db-server.h"

static const struct test_query q_insert = {
	"INSERT INTO v (s, b, u, i, t) VALUES (?, ?, ?, ?, ?)", "sbuit", ""
};
static const struct test_query q_insert_named = { "INSERT INTO v (id, s) VALUES (?, ?)", "us", "" };
static const struct test_query q_select = { "SELECT s, b, u, i, t FROM v WHERE id = ?", "u", "sbuit" };
static const struct test_query q_count = { "SELECT COUNT(*) FROM v", "", "u" };
static const struct test_query q_all = { "SELECT id, s FROM v ORDER BY id", "", "us" };
static const struct test_query q_clear = { "DELETE FROM v", "", "" };
static const struct test_query q_returning = { "INSERT INTO v (s) VALUES (?) RETURNING id, s", "s", "us" };
static const struct test_query q_update = { "UPDATE v SET s = ? WHERE id = ?", "su", "" };
static const struct test_query q_repeat = { "SELECT REPEAT(?, ?)", "su", "s" };
static const struct test_query q_session = {
	"SELECT @@tx_isolation, @@time_zone, @@collation_connection, @@autocommit", "", "sssu"
};
static const struct test_query q_wrong_columns = { "SELECT 1, 2", "", "u" };
static const struct test_query q_wrong_params = { "SELECT ?", "uu", "u" };
static const struct test_query q_nonsense = { "SELEKT", "", "" };

static struct db *db;
static struct pool *pool;

static struct db_rows must(const struct db_query *query, const struct db_value *in, enum db_result want)
{
	struct db_rows rows;
	enum db_result got = db_run(db, pool, query, in, &rows);

	if (got != want) {
		is_int(got, want, "%s", query->sql);
		diag("%s", db_error(db));
	}
	return rows;
}

static uint64_t count(void)
{
	struct db_rows rows = must(test_query(&q_count), NULL, DB_OK);

	return db_at(&rows, 0, 0)->u;
}

static void test_session(void)
{
	struct db_rows rows = must(test_query(&q_session), NULL, DB_OK);

	is_str(db_at(&rows, 0, 0)->s, "READ-COMMITTED", "isolation is ours, not the server's default");
	is_str(db_at(&rows, 0, 1)->s, "+00:00", "the session's time is UTC");
	is_str(db_at(&rows, 0, 2)->s, "utf8mb4_nopad_bin", "literals compare as columns do");
	is_int((long long)db_at(&rows, 0, 3)->u, 1, "autocommit outside of transactions");
}

struct sample {
	const char *name;
	struct str s, b;
	uint64_t u;
	int64_t i, t;
};

static void test_values(void)
{
	static const struct sample samples[] = {
		{ "plain", { "Bob's Account", 13 }, { "\x00\xff\x80", 3 }, 1, -1, INT64_C(1795238640123456) },
		{ "empty", { "", 0 }, { "", 0 }, 0, 0, 0 },
		{ "NUL bytes", { "a\0b\0", 4 }, { "\0", 1 }, 0, 0, 1 },
		{ "four-byte characters", { "\xf0\x9f\x98\x80\xf0\x90\x8d\x88", 8 }, { "\\'\"", 3 }, 0, 0, 0 },
		{ "extremes", { " \t", 2 }, { "\r\n", 2 }, UINT64_MAX, INT64_MIN, INT64_C(-62135596800000000) },
		{ "the other extremes", { "~", 1 }, { "~", 1 }, UINT64_C(1) << 63, INT64_MAX, INT64_C(253402300799999999) },
		{ "a leap day", { "\xc3\xa9", 2 }, { "", 0 }, 3, 4, INT64_C(951825599000001) },
		{ "a century's day without leap", { "x", 1 }, { "", 0 }, 3, 4, INT64_C(-2203891200000001) },
	};

	for (size_t n = 0; n < COUNT_OF(samples); n++) {
		const struct sample *in = &samples[n];
		struct db_rows made =
			must(test_query(&q_insert), DB_IN(db_s(in->s), db_b(in->b), db_u(in->u), db_i(in->i), db_t(in->t)), DB_OK);
		struct db_rows rows = must(test_query(&q_select), DB_IN(db_u(made.insert_id)), DB_OK);

		is_int((long long)made.affected, 1, "%s: one row made", in->name);
		is_int((long long)rows.n, 1, "%s: one row found", in->name);
		is_strs(db_at(&rows, 0, 0)->s, in->s, "%s: text", in->name);
		is_strs(db_at(&rows, 0, 1)->s, in->b, "%s: bytes", in->name);
		ok(db_at(&rows, 0, 2)->u == in->u, "%s: unsigned", in->name);
		ok(db_at(&rows, 0, 3)->i == in->i, "%s: signed", in->name);
		is_int(db_at(&rows, 0, 4)->i, in->t, "%s: time", in->name);
	}
}

// The server's own opinion of a time, so that both directions being wrong alike is noticed.
static void test_time_text(void)
{
	static const struct test_query q = {
		"SELECT CAST(? AS CHAR), CAST('2024-02-29 23:59:59.000007' AS DATETIME(6))", "t", "st"
	};
	struct db_rows rows = must(test_query(&q), DB_IN(db_t(INT64_C(1709251199999999))), DB_OK);

	is_str(db_at(&rows, 0, 0)->s, "2024-02-29 23:59:59.999999", "a time as the server reads it");
	is_int(db_at(&rows, 0, 1)->i, INT64_C(1709251199000007), "a time as the server writes it");
}

static void test_nulls(void)
{
	struct db_rows made = must(test_query(&q_insert),
		DB_IN(db_null(), db_null(), db_null(), db_null(), db_null()), DB_OK);
	struct db_rows rows = must(test_query(&q_select), DB_IN(db_u(made.insert_id)), DB_OK);

	for (size_t i = 0; i < 5; i++)
		ok(db_at(&rows, 0, i)->null, "NULL in column %zu", i);
	made = must(test_query(&q_insert), DB_IN(db_s(STR_NONE), db_b(STR_NONE), db_u(7), db_null(), db_t(0)), DB_OK);
	rows = must(test_query(&q_select), DB_IN(db_u(made.insert_id)), DB_OK);
	ok(!db_at(&rows, 0, 0)->null && db_at(&rows, 0, 0)->s.n == 0, "STR_NONE is '', not NULL");
	ok(!db_at(&rows, 0, 2)->null && db_at(&rows, 0, 2)->u == 7, "a value after NULLs of the same statement");
}

static void test_long_text(void)
{
	struct db_rows rows = must(test_query(&q_repeat), DB_IN(db_s(STR("abc")), db_u(700000)), DB_OK);
	struct str s = db_at(&rows, 0, 0)->s;

	is_int((long long)s.n, 2100000, "a text of two megabytes");
	is_str(str_part(s, s.n - 6, s.n), "abcabc", "to its end");
	rows = must(test_query(&q_repeat), DB_IN(db_s(STR("z")), db_u(1)), DB_OK);
	is_str(db_at(&rows, 0, 0)->s, "z", "and a short one after it");
}

static void test_results(void)
{
	(void)must(test_query(&q_clear), NULL, DB_OK);
	is_int((long long)must(test_query(&q_select), DB_IN(db_u(99)), DB_OK).n, 0, "no row");
	struct db_rows rows = must(test_query(&q_returning), DB_IN(db_s(STR("r"))), DB_OK);

	is_str(db_at(&rows, 0, 1)->s, "r", "INSERT ... RETURNING gives its row");
	uint64_t id = db_at(&rows, 0, 0)->u;

	is_int((long long)must(test_query(&q_update), DB_IN(db_s(STR("r")), db_u(id)), DB_OK).affected, 1,
		"a row that matches counts, changed or not");
	(void)must(test_query(&q_insert_named), DB_IN(db_u(id), db_s(STR("twice"))), DB_DUPLICATE);
	char *longest = pool_alloc(pool, 300);

	memset(longest, 'x', 300);
	(void)must(test_query(&q_update), DB_IN(db_s(str_n(longest, 300)), db_u(id)), DB_REFUSED);
	(void)must(test_query(&q_update), DB_IN(db_s(STR("\xff\xfe")), db_u(id)), DB_REFUSED);
	(void)must(test_query(&q_wrong_columns), NULL, DB_ERROR);
	(void)must(test_query(&q_wrong_params), DB_IN(db_u(1), db_u(2)), DB_ERROR);
	(void)must(test_query(&q_nonsense), NULL, DB_ERROR);
	ok(strstr(db_error(db), "SELEKT") != NULL, "db_error() tells the server's words");
	is_int((long long)count(), 1, "the connection goes on after every one of them");
}

static void test_batch(void)
{
	(void)must(test_query(&q_clear), NULL, DB_OK);
	const struct db_value *a = DB_IN(db_u(1), db_s(STR("a"))), *twice = DB_IN(db_u(1), db_s(STR("b"))),
		*c = DB_IN(db_u(3), db_s(STR("c")));
	struct db_call calls[] = {
		{ .query = test_query(&q_insert_named), .in = a },
		{ .query = test_query(&q_insert_named), .in = twice },
		{ .query = test_query(&q_all) },
		{ .query = test_query(&q_insert_named), .in = c },
		{ .query = test_query(&q_all) },
	};

	is_int(db_run_batch(db, pool, calls, COUNT_OF(calls)), DB_OK, "a duplicate is an answer, the batch is OK");
	is_int(calls[0].result, DB_OK, "before the duplicate");
	is_int(calls[1].result, DB_DUPLICATE, "the duplicate");
	is_int((long long)calls[2].rows.n, 1, "rows in the middle");
	is_int(calls[3].result, DB_OK, "what follows is carried out");
	is_int((long long)calls[4].rows.n, 2, "rows at the end");
	is_str(db_at(&calls[4].rows, 1, 1)->s, "c", "of the same query, executed twice in the batch");
	struct db_call wrong[] = {
		{ .query = test_query(&q_update), .in = DB_IN(db_s(STR("\xff")), db_u(1)) },
		{ .query = test_query(&q_count) },
	};

	is_int(db_run_batch(db, pool, wrong, 2), DB_REFUSED, "the first failure is the batch's result");
	is_int((long long)db_at(&wrong[1].rows, 0, 0)->u, 2, "and what follows has its own");
	uint64_t before = db_round_trips(db);

	(void)db_run_batch(db, pool, calls, COUNT_OF(calls));
	is_int((long long)(db_round_trips(db) - before), 1, "five statements, one round trip");
	before = db_round_trips(db);
	(void)count();
	is_int((long long)(db_round_trips(db) - before), 1, "a read is one round trip");
}

// More than any socket buffer holds, in both directions at once: whoever only writes would block for ever.
static void test_large_batch(void)
{
	enum { N = 8, SIZE = 900000 };
	char *large = pool_alloc(pool, SIZE);
	struct db_call calls[N];

	memset(large, 'q', SIZE);
	for (size_t i = 0; i < N; i++) {
		struct db_value *in = POOL_ARRAY(pool, struct db_value, 2);

		in[0] = db_s(str_n(large, SIZE));
		in[1] = db_u(2);
		calls[i] = (struct db_call){ .query = test_query(&q_repeat), .in = in };
	}
	is_int(db_run_batch(db, pool, calls, N), DB_OK, "a batch of large statements with large answers");
	is_int((long long)db_at(&calls[N - 1].rows, 0, 0)->s.n, 2 * SIZE, "the last answer is whole");
}

struct bulk_case {
	size_t n;
	const struct db_value *values;
	uint64_t affected;
	enum db_result result;
};

static enum db_verdict run_bulk(void *arg)
{
	struct bulk_case *bulk = arg;

	bulk->result = db_run_bulk(db, pool, test_query(&q_insert), bulk->values, bulk->n, &bulk->affected);
	return bulk->result == DB_OK ? DB_COMMIT : DB_ROLLBACK;
}

static struct db_value *bulk_rows(size_t n)
{
	struct db_value *values = POOL_ARRAY(pool, struct db_value, n * 5);

	for (size_t i = 0; i < n; i++) {
		struct db_value *row = values + i * 5;

		row[0] = i % 7 == 0 ? db_null() : db_s(str_printf(pool, "row %zu", i));
		row[1] = db_b(STR("\0\1"));
		row[2] = db_u(i);
		row[3] = i % 5 == 0 ? db_null() : db_i(-(int64_t)i);
		row[4] = i % 3 == 0 ? db_null() : db_t((int64_t)i * 1000003);
	}
	return values;
}

static void test_bulk(void)
{
	static const struct test_query q_check = {
		"SELECT COUNT(*), SUM(u), SUM(s IS NULL), SUM(i IS NULL), SUM(t IS NULL),"
		" SUM(s = CONCAT('row ', u)), SUM(i = -CAST(u AS SIGNED)),"
		" SUM(t = '1970-01-01' + INTERVAL u * 1000003 MICROSECOND) FROM v",
		"", "uuuuuuuu"
	};
	static const uint64_t want[] = { 25000, 312487500, 3572, 5000, 8334, 21428, 20000, 16666 };
	struct bulk_case bulk = { .n = 25000, .values = bulk_rows(25000) };

	(void)must(test_query(&q_clear), NULL, DB_OK);
	uint64_t before = db_round_trips(db);

	is_int(db_txn_run(db, DB_WRITE, NULL, run_bulk, &bulk), DB_OK, "25,000 rows at once");
	ok(db_round_trips(db) - before < 10, "in a few round trips");
	is_int((long long)bulk.affected, 25000, "all counted");
	struct db_rows rows = must(test_query(&q_check), NULL, DB_OK);

	for (size_t i = 0; i < COUNT_OF(want); i++)
		is_int((long long)db_at(&rows, 0, i)->u, (long long)want[i], "bulk: sum %zu of what arrived", i);
	(void)must(test_query(&q_insert), DB_IN(db_s(STR("alone")), db_null(), db_u(1), db_i(2), db_t(3)), DB_OK);
	is_int((long long)count(), 25001, "the same statement with one row afterwards");
}

static void test_script(void)
{
	is_int(db_run_script(db, STR("-- a comment; with a semicolon\n"
		"CREATE TABLE s1 (a VARCHAR(20)); /* another; */ # and ; this\n"
		"INSERT INTO s1 VALUES ('a;b'), (\"c;''\"), ('d\\';'), ('it''s;');;\n"
		"SELECT * FROM s1;\n"
		"INSERT INTO\n s1 VALUES -- in the middle; of it\n ('2--1') /* end */")), DB_OK, "a script");
	static const struct test_query q = { "SELECT GROUP_CONCAT(a ORDER BY a SEPARATOR '|') FROM s1", "", "s" };
	struct db_rows rows = must(test_query(&q), NULL, DB_OK);

	is_str(db_at(&rows, 0, 0)->s, "2--1|a;b|c;''|d';|it's;", "semicolons in quotes and comments end nothing");
	is_int(db_run_script(db, STR("INSERT INTO s1 VALUES ('x'); NONSENSE; INSERT INTO s1 VALUES ('y')")), DB_ERROR,
		"stops at a failure");
	static const struct test_query q_n = { "SELECT COUNT(*) FROM s1", "", "u" };

	rows = must(test_query(&q_n), NULL, DB_OK);
	is_int((long long)db_at(&rows, 0, 0)->u, 6, "with what came before done, and nothing after it");
	is_int(db_run_script(db, STR("-- nothing\n ; ;\n")), DB_OK, "a script without statements");
}

// Names of tables may have quotes of both kinds; each line is there once for each name of its list, and not at all for none.
static void test_script_names(void)
{
	static const char *const lists[] = { "tables", "tab" };
	const struct str tables[] = { STR("x`y"), STR("it's") }, tab[] = { STR("a'b\\c`") };
	const struct db_names names[] = { { tables, 2 }, { tab, 1 } }, none[] = { { NULL, 0 }, { tab, 1 } };
	const char *script = "CREATE TABLE `:tables` (n INT) -- :tables\n, `of :tab :tables_`\n;\n':tab' `:ta`\n";

	is_str(db_script_text(pool, script, lists, names, 2),
		"CREATE TABLE `x``y` (n INT) -- :tables\nCREATE TABLE `it's` (n INT) -- :tables\n, `of a'b\\c`` :tables_`\n;\n"
		"'a''b\\\\c`' `:ta`\n", "names in their places");
	is_str(db_script_text(pool, script, lists, none, 2), ", `of a'b\\c`` :tables_`\n;\n'a''b\\\\c`' `:ta`\n",
		"without names of one list");
	struct str text = db_script_text(pool, "CREATE TABLE `:tables` (n INT);\nDROP TABLE `:tables`;\n", lists, names, 2);
	is_int(db_run_script(db, text), DB_OK, "as the server reads them");
}

// A statement that waits for a table, which a transaction of another connection uses.
static void test_guarded(void)
{
	struct db *other = db_open(db_settings(server.config), DB_APPLICATION), *holder = db_open(db_settings(server.config), DB_APPLICATION);
	const struct str change = STR("ALTER TABLE held ADD COLUMN m INT");

	server_sql("CREATE TABLE held (n INT)");
	is_int(db_run_script(holder, STR("SET autocommit = 0;\nINSERT INTO held VALUES (1);\n")), DB_OK, "a transaction uses a table");
	is_int(db_run_guarded(db, other, change, 50), DB_RETRY, "a statement that waits for the table is ended");
	is_str(str_c(db_error(db)), "a transaction holds the table", "with the reason");
	is_int(db_run_script(holder, STR("COMMIT;\n")), DB_OK, "the transaction ends");
	is_int(db_run_guarded(db, other, change, 50), DB_OK, "now the statement succeeds");
	db_close(&holder);
	db_close(&other);
}

int main(void)
{
	server_start();
	server_sql("CREATE TABLE v (id BIGINT UNSIGNED NOT NULL AUTO_INCREMENT PRIMARY KEY, s VARCHAR(255),"
		" b VARBINARY(255), u BIGINT UNSIGNED, i BIGINT, t DATETIME(6)) ENGINE=InnoDB CHARSET=utf8mb4 COLLATE=utf8mb4_nopad_bin");
	db = db_open(db_settings(server.config), DB_APPLICATION);
	pool = pool_new();
	is_int(db_connect(db), DB_OK, "connects");
	test_session();
	test_values();
	test_time_text();
	test_nulls();
	test_long_text();
	test_results();
	test_batch();
	test_large_batch();
	test_bulk();
	test_script();
	test_script_names();
	test_guarded();
	pool_free(&pool);
	db_close(&db);
	ok(db == NULL, "closed");
	return done_testing();
}

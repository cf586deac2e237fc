// SPDX-License-Identifier: Apache-2.0
// What the tests of transactions share: one that writes who into the log, and a change row, on a server with the tables log,
// changes and sums.
#ifndef TENURE_T_UNIT_DB_WORK_H
#define TENURE_T_UNIT_DB_WORK_H

#include "db-server.h"
#include "db/db_internal.h"
#include "registry/log/change.h"

static inline struct db *open_db(const struct db_settings *settings, enum db_account account)
{
	struct db *db = db_open(settings, account);

	db_set_log(db, &change_log);
	return db;
}

static const struct test_query q_log = { "INSERT INTO log (who) VALUES (?)", "s", "" };
static const struct test_query q_logged = { "SELECT COUNT(*) FROM log WHERE who = ?", "s", "u" };
static const struct test_query q_change = { "INSERT INTO changes (request_id) VALUES (?)", "b", "" };
static const struct test_query q_add = { "UPDATE sums SET n = n + 1 WHERE id = ?", "u", "" };
static const struct test_query q_sum = { "SELECT n FROM sums WHERE id = ?", "u", "u" };

static struct pool *pool;
static struct db *watcher; // a second connection

static inline uint64_t number(struct db *db, const struct db_query *query, const struct db_value *in)
{
	struct db_rows rows;

	if (db_run(db, pool, query, in, &rows) != DB_OK || rows.n != 1) {
		diag("%s: %s", query->sql, db_error(db));
		return UINT64_MAX;
	}
	return db_at(&rows, 0, 0)->u;
}

static inline uint64_t logged(const char *who)
{
	return number(watcher, test_query(&q_logged), DB_IN(db_s(str_c(who))));
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

static inline enum db_verdict do_work(void *arg)
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

static inline struct work new_work(struct db *db, const char *who)
{
	return (struct work){ .db = db, .who = who, .request = uuid_new(), .verdict = DB_COMMIT };
}

static inline enum db_result run_work(struct work *work)
{
	return db_txn_run(work->db, DB_WRITE, &work->request, do_work, work);
}

static inline void expect_once(struct work *work, unsigned runs, const char *what)
{
	is_int(run_work(work), DB_OK, "%s: committed", what);
	is_int(work->runs, runs, "%s: runs", what);
	is_int(db_txn_tries(work->db), runs, "%s: tries told", what);
	is_int((long long)logged(work->who), 1, "%s: happened once", what);
}

static inline enum db_verdict autocommitted(void *arg)
{
	struct db *db = arg;

	(void)db_run(db, NULL, test_query(&q_log), DB_IN(db_s(STR("autocommit"))), NULL);
	return DB_ROLLBACK;
}

// Starts the server with its tables, and opens watcher.
static inline void work_start(void)
{
	server_start();
	server_sql("CREATE TABLE log (id BIGINT AUTO_INCREMENT PRIMARY KEY, who VARCHAR(255) NOT NULL) ENGINE=InnoDB;"
		"CREATE TABLE changes (id BIGINT AUTO_INCREMENT PRIMARY KEY, request_id BINARY(16) NOT NULL,"
		" KEY request (request_id)) ENGINE=InnoDB;"
		"CREATE TABLE sums (id INT PRIMARY KEY, n INT NOT NULL DEFAULT 0) ENGINE=InnoDB;"
		"INSERT INTO sums (id) VALUES (1), (2), (3), (9)");
	pool = pool_new();
	watcher = open_db(db_settings(server.config), DB_APPLICATION);
}

static inline void work_end(void)
{
	db_close(&watcher);
	pool_free(&pool);
}

#endif

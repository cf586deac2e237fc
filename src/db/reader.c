// SPDX-License-Identifier: Apache-2.0
// The reader: a server beside the writer, which settings->read_from names. Before each transaction it has to have all that was
// committed in the cluster, so that what is read is never older than the transaction's beginning (doc/cluster.md, "Reads by
// another server").
#include "base/base.h"

#include "base/clock.h"
#include "base/log.h"
#include "base/pool.h"
#include "db/db_internal.h"
#include "db/settings.h"
#include "sql/reader.h"

enum { PAUSE_S = 5 }; // a server that failed, or lags behind, is not asked again for so long

static bool find_host(const struct db_settings *settings, size_t *index)
{
	for (size_t i = 0; i < db_hosts(settings); i++) {
		if (settings->read_from[0] != '\0' && str_eq_c(db_host(settings, i), settings->read_from)) {
			*index = i;
			return true;
		}
	}
	return false;
}

// The handle of the reader, made at the first call. False: there is none, or it is the writer.
static bool open_reader(struct db *db)
{
	size_t index;

	if (db_is_operator(db) || db->settings->read_from[0] == '\0' || !find_host(db->settings, &index) || db_connect(db) != DB_OK)
		return false;
	if (db->hosts[db->host].index == index) {
		if (db->reader != NULL)
			db_conn_drop(db->reader); // of the time before it became the writer: each server's max_connections counts
		return false;
	}
	if (db->reader != NULL)
		return true;
	db->reader_settings = malloc(sizeof(*db->reader_settings));
	if (db->reader_settings == NULL)
		return false;
	*db->reader_settings = *db->settings;
	db->reader_settings->connect_timeout = 1;
	db->reader_settings->retries = 0;
	db->reader = db_open_node(db->reader_settings, index, DB_APPLICATION);
	return true;
}

// A node of Galera waits itself for all that was committed in the cluster when it was asked.
static bool synchronize(struct db *db, struct pool *pool)
{
	struct db_rows rows;

	if (sql_reader_sync_run(db->reader, pool, &rows) != DB_OK || rows.n != 1)
		return false;
	db->reader_sessions = db->reader->sessions;
	db->reader_galera = sql_reader_sync_row(&rows, 0)->galera != 0;
	return true;
}

// A replica waits for the position that the primary has when it is asked. The epoch proves that it follows this primary: one that
// has changes of its own may have passed the position without them.
static bool follow(struct db *db, struct pool *pool)
{
	struct db_rows rows;

	if (sql_reader_position_run(db, pool, &rows) != DB_OK || rows.n != 1 || !db->fenced)
		return false;
	const struct sql_reader_await in = { .position = sql_reader_position_row(&rows, 0)->position, .seconds = db->settings->read_wait };
	enum { AWAIT, EPOCH };
	struct db_call calls[] = { [AWAIT] = sql_reader_await_call(pool, &in), [EPOCH] = sql_reader_epoch_call(pool) };
	if (in.position.n == 0 || db_run_batch(db->reader, pool, calls, COUNT_OF(calls)) != DB_OK || calls[EPOCH].rows.n != 1)
		return false;
	const struct sql_reader_await_row *row = sql_reader_await_row(&calls[AWAIT].rows, 0);
	return !row->result_is_null && row->result >= 0 && sql_reader_epoch_row(&calls[EPOCH].rows, 0)->epoch == db->epoch;
}

static bool catches_up(struct db *db)
{
	struct pool *pool = pool_new_or_end();

	assert(db->reader != NULL);
	db->reader->trace = db->trace;
	db->reader->answer_s = db->settings->read_wait + 1;
	bool known = db->reader->mysql != NULL && db->reader_sessions == db->reader->sessions;
	bool is_there = (known && !db->reader_galera) || synchronize(db, pool);
	if (is_there && !db->reader_galera && db->faults[FAULT_NO_WAIT].kind == FAULT_NONE)
		is_there = follow(db, pool);
	db->reader->answer_s = 0; // what is read then may take as long as anywhere else
	pool_free(&pool);
	return is_there;
}

static void pause_reader(struct db *db)
{
	log_warning("database: %s does not serve reads, or lags behind; the writer does for %d s", db->settings->read_from, PAUSE_S);
	db->reader_paused_until_us = clock_tick_us() + PAUSE_S * INT64_C(1000000);
}

enum db_result db_txn_run_on_reader(struct db *db, enum db_mode mode, const struct uuid *request_id,
	enum db_verdict (*fn)(void *arg), void *arg)
{
	bool may = db->clustered && mode != DB_WRITE && clock_tick_us() >= db->reader_paused_until_us && open_reader(db);

	assert(db->state == TXN_OUTSIDE && fn != NULL);
	if (may && catches_up(db)) {
		db->uses_writer = false;
		if (db_txn_run(db->reader, mode, NULL, fn, arg) == DB_OK)
			return DB_OK;
	}
	if (may)
		pause_reader(db);
	return db_txn_run(db, mode, request_id, fn, arg);
}

bool db_use_writer(struct db *db, bool use)
{
	bool before = db->uses_writer;

	db->uses_writer = use;
	return before;
}

// SPDX-License-Identifier: Apache-2.0
// Runs a statement that changes a table, and ends it if it waits for the table for too long. A lock on a table that is waited for
// stops everybody who comes later, and MariaDB's own limit, lock_wait_timeout, counts in seconds.
#include "base/base.h"

#include <errmsg.h>
#include <mysqld_error.h>
#include <poll.h>

#include "base/pool.h"
#include "db/db_internal.h"
#include "sql/session.h"

enum { LOOK_MS = 25 };

// Waits for the answer's first byte.
static bool has_answer(struct db *db)
{
	struct pollfd fd = { .fd = mysql_get_socket(db->mysql), .events = POLLIN };

	return poll(&fd, 1, LOOK_MS) > 0;
}

// If the other connection can't tell, the statement is left alone: lock_wait_timeout ends it.
static bool waits_for_table(struct db *other, uint64_t id)
{
	struct pool *pool = pool_new_or_end();
	const struct sql_session_waits_for_table in = { .id = id };
	struct db_rows rows;

	bool waits = sql_session_waits_for_table_run(other, pool, &in, &rows) == DB_OK &&
		sql_session_waits_for_table_row(&rows, 0)->waiting > 0;
	pool_free(&pool);
	return waits;
}

// True: it was ended before its answer came.
static bool guard_answer(struct db *db, struct db *other, unsigned patience_ms)
{
	const struct sql_session_interrupt in = { .id = mysql_thread_id(db->mysql) };
	unsigned waited_ms = 0;
	bool ended = false;

	while (!has_answer(db)) {
		waited_ms = waits_for_table(other, in.id) ? waited_ms + LOOK_MS : 0;
		if (waited_ms < patience_ms)
			continue;
		(void)sql_session_interrupt_run(other, NULL, &in, NULL);
		ended = true;
		waited_ms = 0;
	}
	return ended;
}

static enum db_result note_end(struct db *db)
{
	db->error_number = ER_QUERY_INTERRUPTED;
	(void)snprintf(db->error, sizeof(db->error), "a transaction holds the table");
	return DB_RETRY;
}

enum db_result db_run_guarded(struct db *db, struct db *other, struct str sql, unsigned patience_ms)
{
	assert(other != db);
	enum db_result result = db_script_begin(db);
	if (result != DB_OK)
		return result;
	fault_pass(db, FAULT_STATEMENT);
	db->round_trips++;
	if (db->mysql == NULL || mysql_send_query(db->mysql, sql.p, (unsigned long)sql.n) != 0)
		return db_error_note(db, CR_SERVER_LOST, "the connection was lost", NULL);
	bool ended = guard_answer(db, other, patience_ms);

	if (db_conn_skip_answer(db))
		result = DB_OK;
	else if (ended && mysql_errno(db->mysql) == ER_QUERY_INTERRUPTED)
		result = note_end(db);
	else
		result = db_error_note(db, mysql_errno(db->mysql), mysql_error(db->mysql), NULL);
	if (ended && db->mysql != NULL)
		(void)mysql_query(db->mysql, "DO 0"); // an interruption that arrives after the end hits this statement, not the next one
	return result;
}

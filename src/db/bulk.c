// SPDX-License-Identifier: Apache-2.0
// Runs a statement for many rows of parameters with one execute.
#include "base/base.h"

#include "base/memory.h"
#include "db/db_internal.h"
#include "sql/session.h"

// CHUNK_BYTES: what one round trip sends; more gains little and costs the worker memory. PACKET_SLACK: how far a packet stays
// below max_allowed_packet.
enum { CHUNK_BYTES = 512 * 1024, PACKET_SLACK = 1024 };

struct bulk {
	struct db_stmt *stmt;
	const char *in;                // structs of parameters, those of the chunk first
	size_t stride;                 // size in bytes of one of these structs
	char *indicators;              // one per parameter
};

static size_t row_bytes(const struct db_query *query, const void *in, unsigned n)
{
	size_t bytes = 0;

	for (unsigned i = 0; i < n; i++) {
		struct bind_item value = db_bind_parameter(query, in, i);

		bytes += 14 + (value.type == DB_TEXT || value.type == DB_BYTES ? value.s.n : 0);
	}
	return bytes;
}

// How many of the n rows go into one packet; at least one.
static size_t chunk_rows(const struct bulk *bulk, size_t n, size_t limit)
{
	size_t rows = 0, bytes = 0;

	while (rows < n) {
		bytes += row_bytes(bulk->stmt->query, bulk->in + rows * bulk->stride, bulk->stmt->n_in);
		if (rows > 0 && bytes > limit)
			break;
		rows++;
	}
	return rows;
}

// A callback by which Connector/C asks for one row after the other, so no arrays of columns are needed.
static my_bool give_row(void *data, MYSQL_BIND *binds, unsigned row)
{
	struct bulk *bulk = data;
	const char *in = bulk->in + (size_t)row * bulk->stride;

	for (unsigned i = 0; i < bulk->stmt->n_in; i++) {
		struct bind_item value = db_bind_parameter(bulk->stmt->query, in, i);

		(void)db_bind_value(&binds[i], &bulk->stmt->in_slots[i], &value);
		binds[i].length = &binds[i].buffer_length;
		bulk->indicators[i] = value.is_null ? STMT_INDICATOR_NULL : STMT_INDICATOR_NONE;
		binds[i].u.indicator = &bulk->indicators[i];
	}
	return 0;
}

static void set_bulk(MYSQL_STMT *stmt, struct bulk *bulk, unsigned rows)
{
	my_bool (*callback)(void *, MYSQL_BIND *, unsigned) = rows > 0 ? give_row : NULL;
	const void *pointer;

	// Attributes are passed by pointer; the callback's is the function itself.
	static_assert(sizeof(callback) == sizeof(pointer), "functions and data are addressed alike");
	memcpy(&pointer, &callback, sizeof(pointer));
	(void)mysql_stmt_attr_set(stmt, STMT_ATTR_ARRAY_SIZE, &rows);
	(void)mysql_stmt_attr_set(stmt, STMT_ATTR_CB_USER_DATA, bulk);
	(void)mysql_stmt_attr_set(stmt, STMT_ATTR_CB_PARAM, pointer);
}

// On a cluster the server may hang: the answer is waited for as that of a batch is.
static enum db_result execute_awaiting(struct db *db, const struct db_stmt *stmt, uint64_t *affected)
{
	const my_bool skip = 1, read = 0;

	(void)mysql_options(db->mysql, MARIADB_OPT_SKIP_READ_RESPONSE, &skip);
	bool sent = mysql_stmt_execute(stmt->stmt) == 0;
	(void)mysql_options(db->mysql, MARIADB_OPT_SKIP_READ_RESPONSE, &read);
	if (sent && !db_writer_await(db))
		return DB_LOST;
	if (!sent || !db_connector_read_response(db->mysql, stmt->stmt))
		return db_error_note(db, mysql_stmt_errno(stmt->stmt), mysql_stmt_error(stmt->stmt), stmt->query);
	if (affected != NULL)
		*affected += mysql_stmt_affected_rows(stmt->stmt);
	return DB_OK;
}

static enum db_result run_chunk(struct db *db, struct bulk *bulk, size_t rows, uint64_t *affected)
{
	MYSQL_STMT *stmt = bulk->stmt->stmt;
	const struct db_query *query = bulk->stmt->query; // bulk->stmt is freed with a connection that is lost
	enum db_result result = DB_OK;

	assert(rows > 0 && rows <= UINT32_MAX);
	int64_t begun_us = db_trace_begin(db);

	fault_pass(db, FAULT_STATEMENT);
	(void)db_bind_values(bulk->stmt, bulk->in); // for the types of the parameters, which are sent once per packet
	set_bulk(stmt, bulk, (unsigned)rows);
	db->round_trips++;
	if (db->clustered)
		result = execute_awaiting(db, bulk->stmt, affected);
	else if (mysql_stmt_execute(stmt) != 0)
		result = db_error_note(db, mysql_stmt_errno(stmt), mysql_stmt_error(stmt), query);
	else if (affected != NULL)
		*affected += mysql_stmt_affected_rows(stmt);
	db_trace_note(db, NULL, 1, query->name, begun_us);
	if (db->mysql != NULL)
		set_bulk(stmt, NULL, 0);
	return result;
}

static enum db_result run_chunks(struct db *db, struct bulk *bulk, size_t n, uint64_t *affected)
{
	size_t limit = CHUNK_BYTES;

	if (db->max_packet < CHUNK_BYTES + PACKET_SLACK)
		limit = db->max_packet > 2 * PACKET_SLACK ? (size_t)db->max_packet - PACKET_SLACK : PACKET_SLACK;
	for (size_t done = 0; done < n;) {
		size_t rows = chunk_rows(bulk, n - done, limit);
		enum db_result result = run_chunk(db, bulk, rows, affected);

		if (result != DB_OK)
			return result;
		done += rows;
		bulk->in += rows * bulk->stride;
	}
	return DB_OK;
}

// Begins the transaction if no statement has begun it yet, and reads max_allowed_packet.
static enum db_result get_ready(struct db *db, struct pool *pool)
{
	struct db_call call = sql_session_max_packet_call(pool);

	if (db->state != TXN_WAITING && db->max_packet > 0)
		return DB_OK;
	enum db_result result = db_batch_run(db, pool, &call, 1);

	if (result == DB_OK)
		db->max_packet = sql_session_max_packet_row(&call.rows, 0)->bytes;
	return result;
}

// Does the server execute a statement for many rows of parameters? MariaDB does from 10.2 on, MySQL does not.
static bool has_bulk(MYSQL *mysql)
{
	unsigned long more = 0;
	const unsigned long bulk = (unsigned long)(MARIADB_CLIENT_STMT_BULK_OPERATIONS >> 32);

	return mariadb_get_infov(mysql, MARIADB_CONNECTION_EXTENDED_SERVER_CAPABILITIES, &more) == 0 && (more & bulk) != 0;
}

// A node of Galera may end the transaction amid a statement that runs for many rows (db_txn_goes_on()). Few rows are done without
// one, as is what a large transaction writes, where only the end of the statement can be looked at.
static bool wants_one_by_one(const struct db *db, size_t n)
{
	return db->fenced && db->galera && (n <= DB_MAX_BATCH || db->large);
}

// For other servers: the statement once for each row, as many as fit into a batch in one round trip.
static enum db_result run_one_by_one(struct db *db, struct pool *pool, const struct db_query *query, const char *in, size_t n,
	uint64_t *affected)
{
	for (size_t done = 0; done < n;) {
		struct db_call calls[DB_MAX_BATCH];
		size_t part = n - done < DB_MAX_BATCH ? n - done : DB_MAX_BATCH;

		for (size_t i = 0; i < part; i++)
			calls[i] = db_call_of(pool, query, in + (done + i) * query->in_size);
		enum db_result result = db_batch_run(db, pool, calls, part);
		for (size_t i = 0; i < part; i++) {
			if (calls[i].result != DB_OK)
				return calls[i].result;
			if (affected != NULL)
				*affected += calls[i].rows.affected;
		}
		if (result != DB_OK)
			return result;
		done += part;
	}
	return DB_OK;
}

static enum db_result run_bulk(struct db *db, struct pool *pool, const struct db_query *query, const void *in, size_t n,
	uint64_t *affected)
{
	struct bulk bulk = { .in = in, .stride = query->in_size };

	assert(n > 0 && in != NULL);
	if (wants_one_by_one(db, n))
		return run_one_by_one(db, pool, query, in, n, affected);
	enum db_result result = get_ready(db, pool);

	if (result == DB_OK && db->foreign && !has_bulk(db->mysql))
		return run_one_by_one(db, pool, query, in, n, affected);
	uint64_t prepared = db->prepared;
	if (result == DB_OK)
		result = db_stmt_get(db, query, &bulk.stmt);
	if (result == DB_OK && db->prepared > prepared)
		result = db_txn_goes_on(db);
	if (result != DB_OK)
		return result;
	bulk.indicators = memory_zeroed(bulk.stmt->n_in, 1);
	result = run_chunks(db, &bulk, n, affected);
	free(bulk.indicators);
	enum db_result whole = result == DB_OK || result == DB_DUPLICATE ? db_txn_goes_on(db) : DB_OK;
	return whole == DB_OK ? result : whole;
}

enum db_result db_run_bulk(struct db *db, struct pool *pool, const struct db_query *query, const void *in, size_t n,
	uint64_t *affected)
{
	assert(db->state != TXN_OUTSIDE && query->n_in > 0 && query->n_out == 0);
	enum db_result result = db_txn_check(db);
	if (affected != NULL)
		*affected = 0;
	if (result != DB_OK || n == 0)
		return result;
	return db_txn_note(db, run_bulk(db, pool, query, in, n, affected));
}

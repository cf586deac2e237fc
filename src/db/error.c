// SPDX-License-Identifier: Apache-2.0
// Error numbers of MariaDB and Connector/C, and what each means. No other file knows such a number.
#include "base/base.h"

#include <errmsg.h>
#include <mysqld_error.h>

#include "base/clock.h"
#include "base/log.h"
#include "db/db_internal.h"

enum { LOST_AGAIN_S = 60, READ_ONLY_S = 5 };

struct error_row {
	unsigned number;
	enum db_result result;
	bool quotes; // the server's text repeats values, so it is not logged
	const char *reason; // a text for clients if an operator has to repair something; else NULL
};

static const char no_room[] =
	"the database has no room left on a disk or in a table: nothing was changed, and an operator has to make room";
static const char no_memory[] = "the database is short of memory: nothing was changed";
static const char read_only[] = "the database takes no changes at the moment: it is read-only";
static const char no_entry[] = "the database does not let the service in, and an operator has to repair that";
static const char crowded[] = "the database has as many connections as it takes";
static const char too_many_statements[] = "the database has as many prepared statements as it takes";

static const struct error_row rows[] = {
	{ 1062, DB_DUPLICATE, true, NULL }, // duplicate entry
	{ 1586, DB_DUPLICATE, true, NULL }, // the same, the key named

	{ 1048, DB_REFUSED, false, NULL }, // column cannot be null
	{ 1264, DB_REFUSED, false, NULL }, // out of range
	{ 1292, DB_REFUSED, true, NULL },  // truncated incorrect value
	{ 1366, DB_REFUSED, true, NULL },  // incorrect string value
	{ 1406, DB_REFUSED, false, NULL }, // data too long
	{ 1451, DB_REFUSED, true, NULL },  // foreign key, parent
	{ 1452, DB_REFUSED, true, NULL },  // foreign key, child
	{ 1690, DB_REFUSED, true, NULL },  // out of range in an expression
	{ 4025, DB_REFUSED, false, NULL }, // CHECK

	{ 1020, DB_RETRY, false, NULL }, // record has changed since last read (snapshot isolation)
	{ 1180, DB_RETRY, false, NULL }, // error during COMMIT: db_error_is_unsure()
	{ 1205, DB_RETRY, false, NULL }, // lock wait timeout; NOWAIT and WAIT n, too
	{ 1213, DB_RETRY, false, NULL }, // deadlock; Galera: beaten by another node
	{ 1243, DB_RETRY, false, NULL }, // unknown prepared statement
	{ 1317, DB_RETRY, false, NULL }, // an administrator has ended the statement (KILL QUERY)
	{ 1412, DB_RETRY, false, NULL }, // the table was altered after the transaction's snapshot: an upgrade of the schema
	{ 1467, DB_RETRY, false, NULL },
		// no auto-increment value: reported for a deadlock or timeout at the table's AUTO-INC lock
	{ 1615, DB_RETRY, false, NULL }, // prepared statement needs to be re-prepared

	// No room on a disk or in a table. Errors of file operations have numbers of their own, those of mysys.
	{ 3, DB_FULL, false, no_room },    // error writing a file
	{ 20, DB_FULL, false, no_room },   // disk full, waiting for room
	{ 1021, DB_FULL, false, no_room }, // disk full
	{ 1026, DB_FULL, false, no_room }, // error writing a file: the binary log, too
	{ 1114, DB_FULL, false, no_room }, // table full: a tablespace that may not grow, too
	{ 1197, DB_FULL, false, no_room }, // more than max_binlog_cache_size
	{ 1534, DB_FULL, false, no_room }, // writing one row to the row-based binary log failed
	{ 1598, DB_FULL, false, no_room }, // binary logging not possible
	{ 1705, DB_FULL, false, no_room }, // more than max_binlog_stmt_cache_size
	{ 1878, DB_FULL, false, no_room }, // temporary file write failure
	{ 1037, DB_FULL, false, no_memory }, // out of memory
	{ 1038, DB_FULL, false, no_memory }, // out of sort memory
	{ 1041, DB_FULL, false, no_memory }, // out of resources
	{ 1206, DB_FULL, false, no_memory }, // more locks than the lock table has room for
	{ 1637, DB_FULL, false, no_memory }, // too many transactions at once
	{ 5, DB_FULL, false, no_memory },    // of mysys: out of memory
	{ 1135, DB_LOST, false, no_memory }, // can't create a thread for the connection
	{ 1223, DB_FULL, false, read_only }, // under a global read lock
	{ 1874, DB_FULL, false, read_only }, // InnoDB in read-only mode

	{ 1040, DB_LOST, false, crowded }, // too many connections
	{ 1047, DB_LOST, false, NULL }, // Galera: node not ready
	{ 1053, DB_LOST, false, NULL }, // shutdown in progress
	{ 1077, DB_LOST, false, NULL }, // normal shutdown
	{ 1129, DB_LOST, false, NULL }, // host blocked
	// Amid a login these are DB_LOST: db_error_note().
	{ 1044, DB_ERROR, false, no_entry }, // no right to the database
	{ 1045, DB_ERROR, false, no_entry }, // wrong user or password
	{ 1130, DB_ERROR, false, no_entry }, // host not allowed
	{ 1698, DB_ERROR, false, no_entry }, // wrong user or password, of a plugin
	{ 4150, DB_ERROR, false, no_entry }, // too many wrong passwords
	{ 4151, DB_ERROR, false, no_entry }, // the account was locked
	{ 1158, DB_LOST, false, NULL }, // network
	{ 1159, DB_LOST, false, NULL }, // network
	{ 1160, DB_LOST, false, NULL }, // network
	{ 1161, DB_LOST, false, NULL }, // network
	{ 1203, DB_LOST, false, crowded }, // this user has too many connections
	{ 1226, DB_LOST, false, crowded }, // this user has used up a resource
	{ 1290, DB_LOST, false, read_only }, // read-only server
	// max_prepared_stmt_count, of the whole server: without this connection there are fewer, and a new one needs few at first
	{ 1461, DB_LOST, false, too_many_statements },
	{ 1836, DB_LOST, false, read_only }, // read-only mode
	{ 1927, DB_LOST, false, NULL }, // connection was killed
	{ 1792, DB_ERROR, false, NULL }, // a write in a READ ONLY transaction
	{ CR_SOCKET_CREATE_ERROR, DB_LOST, false, NULL }, // no descriptor or memory for a socket at the moment
	{ CR_IPSOCK_ERROR, DB_LOST, false, NULL },
	{ CR_CONNECTION_ERROR, DB_LOST, false, NULL },
	{ CR_CONN_HOST_ERROR, DB_LOST, false, NULL },
	{ CR_UNKNOWN_HOST, DB_LOST, false, NULL },
	{ CR_SERVER_GONE_ERROR, DB_LOST, false, NULL },
	{ CR_SERVER_HANDSHAKE_ERR, DB_LOST, false, NULL },
	{ CR_SERVER_LOST, DB_LOST, false, NULL },
	{ CR_COMMANDS_OUT_OF_SYNC, DB_LOST, false, NULL }, // whatever brought that about, this connection can't go on
	{ CR_MALFORMED_PACKET, DB_LOST, false, NULL },
	{ CR_SERVER_LOST_EXTENDED, DB_LOST, false, NULL },
	// With TLS the library says this of every loss that the server did not announce, amid the handshake as well; and of a
	// server whose certificate is refused, or that offers no TLS.
	{ CR_SSL_CONNECTION_ERROR, DB_LOST, false, NULL },
	{ CR_STMT_CLOSED, DB_LOST, false, NULL },
	{ CR_NEW_STMT_METADATA, DB_LOST, false, NULL }, // rows of an unknown form are on the wire
	{ CR_ERR_NET_READ, DB_LOST, false, NULL },
	{ CR_ERR_NET_WRITE, DB_LOST, false, NULL },
	{ CR_ERR_NET_UNCOMPRESS, DB_LOST, false, NULL },
};

// Errors after which the next attempt goes to another host.
static const unsigned other_host[] = { 1040, 1047, 1053, 1077, 1129, 1203, 1290, 1836 };

// The statement names a table, column or index which is not there, or leaves out a column that has to have a value.
static const unsigned of_schema[] = { 1054, 1072, 1136, 1146, 1176, 1364 };

static const struct error_row *find(unsigned number)
{
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		if (rows[i].number == number)
			return &rows[i];
	}
	return NULL;
}

// Errors of engines and of files (1030, 1004, 1005, 1016, 1025 and others) name the system's own number in their text.
static bool says_no_room(const char *message)
{
	static const char *const forms[] = { "No space left on device", "Disk quota exceeded", "Errcode: 28 ", "Errcode: 28)",
		"errno: 28 ", "errno: 28)", "error 28 ", "error: 28)", "error 135 ", "error 136 " };

	for (size_t i = 0; i < COUNT_OF(forms); i++) {
		if (strstr(message, forms[i]) != NULL)
			return true;
	}
	return false;
}

// What an error number of the server or of Connector/C means.
static enum db_result class_of(unsigned number)
{
	const struct error_row *row = find(number);

	return row != NULL ? row->result : DB_ERROR;
}

const char *db_reason(const struct db *db)
{
	const struct error_row *row = find(db->error_number);

	if (db->refused_s > 0)
		return db->refusal;
	if (row != NULL)
		return row->reason;
	return db->error_number != 0 && says_no_room(db->error) ? no_room : NULL;
}

bool db_error_refuses_login(unsigned number)
{
	const struct error_row *row = find(number);

	return row != NULL && row->reason == no_entry;
}

bool db_is_refused(const struct db *db)
{
	return db_error_refuses_login(db->error_number);
}

bool db_error_is_stale(unsigned number)
{
	return number == 1243 || number == 1615;
}

bool db_error_lacks_table(unsigned number)
{
	return number == 1046 || number == 1049 || number == 1109 || number == 1146;
}

bool db_error_is_rollback(unsigned number)
{
	return number == 1213;
}

// A node of Galera answers this when it is cut off or freezes during COMMIT: the rest of the cluster may have committed the
// transaction.
bool db_error_is_unsure(unsigned number)
{
	return number == 1180;
}

static bool needs_other_host(unsigned number)
{
	for (size_t i = 0; i < COUNT_OF(other_host); i++) {
		if (other_host[i] == number)
			return true;
	}
	return false;
}

static bool is_of_schema(unsigned number)
{
	for (size_t i = 0; i < COUNT_OF(of_schema); i++) {
		if (of_schema[i] == number)
			return true;
	}
	return false;
}

// While the database is away each attempt fails alike: that is logged once a minute, and again when it was there meanwhile.
// False: the caller logs it now, which is remembered.
static bool was_logged_lately(struct db *db, unsigned number)
{
	int64_t now_us = clock_tick_us();
	bool same = db->lost.number == number && db->lost.sessions == db->sessions;

	if (same && now_us - db->lost.logged_us < LOST_AGAIN_S * INT64_C(1000000))
		return true;
	db->lost.number = number;
	db->lost.sessions = db->sessions;
	db->lost.logged_us = now_us;
	return false;
}

static void log_failure(struct db *db, unsigned number, enum db_result result, const char *message, const struct db_query *query)
{
	const struct error_row *row = find(number);
	const char *text = row != NULL && row->quotes ? "(its text repeats values)" : message;
	const char *sql = query != NULL ? query->sql : "";
	const char *in = query != NULL ? " in: " : "";

	if (result == DB_DUPLICATE)
		log_debug("database: duplicate%s%s", in, sql);
	else if (result == DB_RETRY)
		log_info("database: %u %s%s%s", number, text, in, sql);
	else if (result == DB_LOST && (db->probes || was_logged_lately(db, number)))
		log_debug("database: connection lost: %u %s%s%s", number, text, in, sql);
	else if (result == DB_LOST && db_error_refuses_login(number))
		log_error("database: the login is refused: %u %s", number, text);
	else if (result == DB_LOST)
		log_warning("database: connection lost: %u %s%s%s", number, text, in, sql);
	else
		log_error("database: %u %s%s%s", number, text, in, sql);
}

// A server that crashed may give an id of the log that it had given before: nothing of the caller's is a duplicate.
static bool is_of_log(const struct db *db, const struct db_query *query)
{
	return db->log != NULL && query != NULL && strncmp(query->sql, db->log->insert, strlen(db->log->insert)) == 0;
}

// A server's address may be a proxy's, and lead to another server with the next connection. So a transaction that was refused
// because the server is read-only runs again on a new connection. If a connection of the last seconds is refused so, another one
// would be, too.
static bool stays_read_only(const struct db *db, const struct error_row *row)
{
	return row != NULL && row->reason == read_only && db->n_hosts == 1 && !db->node &&
		clock_tick_us() - db->connected_us < READ_ONLY_S * INT64_C(1000000);
}

enum db_result db_error_note(struct db *db, unsigned number, const char *message, const struct db_query *query)
{
	assert(message != NULL);
	enum db_result result = class_of(number);
	if (result == DB_DUPLICATE && is_of_log(db, query))
		result = DB_RETRY;
	if ((find(number) == NULL && says_no_room(message)) || stays_read_only(db, find(number)))
		result = DB_FULL;
	if (db->mysql == NULL && db_error_refuses_login(number))
		result = DB_LOST; // nothing was begun, and as soon as an operator has repaired it, the same is done
	db->schema_errors += is_of_schema(number);
	db->error_number = number;
	(void)snprintf(db->error, sizeof(db->error), "%u %s", number, message);
	log_failure(db, number, result, db->error + snprintf(NULL, 0, "%u ", number), query);
	if (result == DB_LOST) {
		if (needs_other_host(number) && db->n_hosts > 0) {
			db_writer_refuses(db, db->host);
			db->host = (db->host + 1) % db->n_hosts;
		}
		db_conn_drop(db);
	}
	return result;
}

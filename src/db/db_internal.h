// SPDX-License-Identifier: Apache-2.0
// For files in db/ only.
#ifndef TENURE_DB_DB_INTERNAL_H
#define TENURE_DB_DB_INTERNAL_H

#include <mysql.h>

#include "db/db.h"

enum { DB_MAX_HOSTS = 16, DB_ERROR_BYTES = 640 };

struct db_host {
	char *name; // NULL: the unix socket
	unsigned port;
	size_t index;          // its place in settings->host
	int64_t avoided_until_us; // clock_tick_us() until which it is not tried; 0: it is tried
	int64_t silent_until_us;  // clock_tick_us() until which it is not asked who is the writer while an answer is waited for; 0: it is asked
	bool hung;                // of several hosts: the last connection to it came to its short time-out
};

// ---- fault.c

enum fault_point { FAULT_STATEMENT, FAULT_BEFORE_COMMIT, FAULT_AFTER_COMMIT, FAULT_NO_FENCE, FAULT_NO_WAIT, FAULT__COUNT };
enum fault_kind { FAULT_NONE, FAULT_CONN, FAULT_PROCESS };

struct fault {
	enum fault_kind kind;
	uint64_t left; // how often the point will be passed until the fault happens
};

// Reads TENURE_FAULT: "NAME:COUNT[:conn|process],…". The default kind is conn.
void fault_parse(struct fault faults[FAULT__COUNT]);
// The part of fault_pass() for a handle with a fault: counts, and lets the fault happen.
void fault_count(struct db *db, enum fault_point point);

// ---- stmt.c

// Where a bound value lives while Connector/C reads or writes it.
union db_slot {
	uint64_t u;
	int64_t i;
	MYSQL_TIME t;
};

// A query prepared on this connection. The arrays have as many elements as the query has fields.
struct db_stmt {
	const struct db_query *query; // NULL: a free place in the cache
	MYSQL_STMT *stmt;
	unsigned n_in, n_out;
	bool bound; // its columns were bound by db_bind_columns()
	MYSQL_BIND *in, *out;
	union db_slot *in_slots, *out_slots;
};

// Open addressing with linear probing, keyed by the query's address; at most half full.
struct stmt_cache {
	struct db_stmt **places;
	size_t room; // a power of two, or 0
	size_t used;
};

// Sets *stmt to the query's statement on the present connection; prepares it if necessary, which costs a round trip.
enum db_result db_stmt_get(struct db *db, const struct db_query *query, struct db_stmt **stmt);
// Removes a statement that the server does not know any more.
void db_stmt_drop(struct db *db, const struct db_query *query);
// Removes all statements. Call it after mysql_close(), so that nothing is sent to the server.
void stmt_cache_clear(struct stmt_cache *cache);

// ---- bind.c

// A parameter or a column, on its way between a struct and Connector/C.
struct bind_item {
	enum db_type type;
	bool is_null;
	union {
		struct str s;
		uint64_t u;
		int64_t i;
	};
};
// Tells Connector/C where the columns go: once per prepared statement, when its columns are known. False: the statement has the
// error.
bool db_bind_columns(struct db_stmt *stmt);
// Hands the values to Connector/C, which reads them at the next execute; returns how many bytes that will send, about.
size_t db_bind_values(struct db_stmt *stmt, const void *in);
// Parameter i of a query's struct of parameters.
struct bind_item db_bind_parameter(const struct db_query *query, const void *in, unsigned i);
// One value's bind, its slot filled; returns its size in bytes.
size_t db_bind_value(MYSQL_BIND *bind, union db_slot *slot, const struct bind_item *value);
// Reads the answer of an executed statement into call->rows: all rows, allocated from pool, or the number of changed rows; or
// gives the rows to call->take. pool NULL: rows are not wanted. False: the statement has the error; without an error, its columns
// are not those that its query names.
bool db_bind_fetch(struct db_stmt *stmt, struct pool *pool, struct db_call *call);

// ---- the handle

enum txn_state {
	TXN_OUTSIDE, // no db_txn_run() is running
	TXN_WAITING, // db_txn_run() is running; its BEGIN will be sent together with the first statement
	TXN_OPEN,    // the server has begun the transaction
};

struct db {
	const struct db_settings *settings;
	enum db_account account;
	bool foreign; // db_open_foreign()
	bool may_idle; // db_may_idle()
	MYSQL *mysql; // NULL: not connected
	struct stmt_cache cache;
	struct db_host hosts[DB_MAX_HOSTS];
	size_t n_hosts;
	size_t host;     // the one tried first
	// Several hosts, one of which is the writer (writer.c).
	bool node;             // db_open_node()
	bool probes;           // only to ask what that server is: nothing fails if it is away, so that is logged at debug
	bool clustered;        // it looks for the writer when it connects
	bool galera;           // the server is a node of a cluster of Galera
	bool large;            // db_txn_large() of the running transaction
	bool fenced;           // connected to the writer: its transactions begin with the fence
	uint64_t epoch, slot;  // of the fence; slot 0: none was taken yet
	bool unproven;         // a server without Galera: the connection has yet to commit a transaction of the fence alone
	const struct shared *shared; // of the host's processes; NULL: none
	uint64_t newest_epoch; // that a server without Galera has named to this handle
	uint64_t fence[2];     // parameters of the fence on their way
	int64_t confirmed_us;  // clock_tick_us() at which the server was certainly the writer of that epoch
	// The reader, which is the server settings->read_from (reader.c).
	struct db *reader;     // NULL: none was needed yet
	unsigned answer_s;     // seconds: the longest wait for an answer; 0: settings->read_timeout is
	struct db_settings *reader_settings;
	uint64_t reader_sessions; // reader->sessions when reader_galera was read
	bool reader_galera;       // the reader is a node of Galera
	bool uses_writer;         // a transaction runs on the reader, and the statements that follow run on the writer
	int64_t reader_paused_until_us; // clock_tick_us() until which it is not used
	const struct db_log *log; // NULL: none was set
	bool away;       // no server answered the last attempt, so the next attempt does not wait for one

	bool autocommit; // the session's setting, as the server has it
	uint64_t max_packet; // max_allowed_packet; 0 until asked for

	enum txn_state state;
	enum db_mode mode;
	enum db_result failure; // of the statement that ended the transaction before its function returned; DB_OK: none
	unsigned tries;
	bool heeds;      // write transactions heed maintenance (maintenance.h)
	bool apart;      // the running transaction is of statements outside of db_txn_run(), or of those within one of mode DB_AUTOCOMMIT
	unsigned refused_s; // the last transaction was refused because of maintenance: when to try again; else 0
	char refusal[DB_ERROR_BYTES]; // what to tell clients then
	bool uncertain; // the connection was lost during COMMIT and it is unknown whether it happened: the transaction must not be retried
	bool commit_lost; // of an earlier run of the function: the log has no change of it

	uint64_t round_trips;
	uint64_t sessions; // connections so far
	int64_t connected_us; // clock_tick_us() when the last one was made
	uint64_t schema_errors; // statements that named what the schema does not have
	struct db_trace *trace; // NULL: none is wanted
	uint64_t prepared, reused; // statements that db_stmt_get() prepared, or found in the cache
	struct {
		unsigned number;
		uint64_t sessions;
		int64_t logged_us; // clock_tick_us()
	} lost;          // the last failure of the connection that was logged as a warning
	unsigned error_number;
	char error[DB_ERROR_BYTES];
	bool faulty; // a fault is set
	struct fault faults[FAULT__COUNT];
};

static inline void fault_pass(struct db *db, enum fault_point point)
{
	if (db->faulty)
		fault_count(db, point);
}

// Enters a round trip of these calls, begun at clock_tick_us() begun_us, into the trace; does nothing if there is none. calls
// NULL: of the one statement called name.
void db_trace_note(struct db *db, const struct db_call *calls, size_t n, const char *name, int64_t begun_us);
// The time for db_trace_note(); 0 if there is no trace.
int64_t db_trace_begin(const struct db *db);

// ---- conn.c

// Reads "host", "host:port", "[v6]" or "[v6]:port"; "" and localhost mean the unix socket. The caller frees host->name. False:
// the text is none of these; of *host at most the port was changed.
bool db_conn_parse_host(struct str text, unsigned default_port, struct db_host *host);
// Connects if needed. If a server that answered a moment ago does not, tries again for db_connect_timeout.
enum db_result db_conn_ensure(struct db *db);
// Closes the connection without reading from it again. The server rolls the transaction back.
void db_conn_drop(struct db *db);
// Runs a statement without parameters, given as text, and drops its result. For texts of the program and of sql/ only.
enum db_result db_conn_query(struct db *db, const char *sql, size_t n);
// Reads the answer of a statement that was sent by mysql_send_query(), and drops its rows. False: mysql_errno() says why.
bool db_conn_skip_answer(struct db *db);

// The longest wait, in seconds, for the answer of a small statement: the server ends one that waits for a lock before.
unsigned db_conn_answer_s(const struct db_settings *settings);

// ---- script.c

// For a text of statements, which have no fence: connects if needed, takes the session out of the last transaction, and on a
// cluster asks the server whether it is the writer now. DB_LOST: it is not, and the connection was closed; or there is none.
enum db_result db_script_begin(struct db *db);

// ---- writer.c

// Finds out whether the server just connected to is the writer. DB_LOST: it is not, and the connection was closed; DB_ERROR.
enum db_result db_writer_find(struct db *db);
// The statement that begins a write transaction of a fenced connection. If it matches no row, the transaction must not commit:
// db_writer_lost(). The call is valid until the next one is made.
struct db_call db_writer_fence(struct db *db);
// Begins a large transaction, in place of the fence: what it writes goes to the other nodes in fragments. The fence is its last
// statement, and db_writer_check() goes in front of its other ones: if that finds no row, the transaction is in vain,
// db_writer_lost().
struct db_call db_writer_stream(void);
struct db_call db_writer_check(const struct db *db);
// Finds a row if what the fence of this transaction wrote is there still. The call is valid until the next one is made.
struct db_call db_writer_look(struct db *db);
// Of a large transaction, which has not written the fence yet: is one open? Only if no statement came since it may have ended.
enum db_result db_writer_is_open(struct db *db, bool *is_open);
// Behind a large transaction: from here on nothing goes in fragments.
void db_writer_whole(struct db *db);
// Leaves a server that is not the writer any more. DB_LOST.
enum db_result db_writer_lost(struct db *db);
// Call it when reads outside of a write transaction have been answered, or a write transaction was rolled back, even if the
// connection was lost afterwards: DB_OK if what was read is the writer's state. DB_LOST: it may be older, and the connection was
// closed.
enum db_result db_writer_confirm(struct db *db);
// Waits for the first byte of an answer of the writer, or of a handle with answer_s; call it only when the library has read
// nothing of it (db_connector_has_more()). False: the server hangs and another one is the writer, or nothing came within
// answer_s, or else settings->read_timeout (a handle of the operator's waits longer); the connection was closed.
bool db_writer_await(struct db *db);
// The same for an answer that does not depend on locks, and for some seconds at most where the server is not known to be the
// writer. False: it does not come; the connection was closed.
bool db_writer_answers(struct db *db);
// That host does not answer: on a cluster, others are tried in the next seconds.
void db_writer_hangs(struct db *db, size_t host);
// That host has said that it does not serve. On a cluster, others are tried in the next second: a node that is being stopped
// accepts connections, and says nothing until it has ended.
void db_writer_refuses(struct db *db, size_t host);

// ---- maintenance.c

// The statement in front of a write transaction that heeds maintenance, whether a call is one, and whether its answer refuses the
// transaction: then db_reason() and db_maintenance_s() say so.
struct db_call db_maintenance_gate(void);
bool db_maintenance_is_gate(const struct db_call *call);
bool db_maintenance_refuses(struct db *db, const struct db_call *gate);

// ---- connector.c

// Reads the answer to a statement that was sent without waiting for it; answers come in the order of the statements. Blocks for
// db_read_timeout at most. False: mysql_stmt_errno() or mysql_errno() says why.
bool db_connector_read_response(MYSQL *mysql, MYSQL_STMT *stmt);
// Has the library taken more from the socket than it has handed out, so that waiting for the socket would be wrong? With TLS,
// where that can't be told: true.
bool db_connector_has_more(const MYSQL *mysql);
// Forgets the names of the statement's columns and of their tables, which nothing here asks for: the library copies what it has
// of them at each execution, as long as the server does not send them anew.
void db_connector_forget_names(MYSQL_STMT *stmt);

// ---- batch.c

// Sends the transaction's prelude and the calls, and reads their results. n may be 0. It neither checks nor records the state of
// the transaction: db_txn_check() and db_txn_note() do that.
enum db_result db_batch_run(struct db *db, struct pool *pool, struct db_call *calls, size_t n);

// ---- txn.c

enum { TXN_MAX_PRELUDE = 3 };
// What must be sent before the next statement so that it runs in the right transaction; returns how many calls.
size_t db_txn_prelude(struct db *db, struct db_call prelude[TXN_MAX_PRELUDE]);
// db_txn_run() of statements outside of it, which do not heed maintenance. Nobody asks what became of their COMMIT.
enum db_result db_txn_run_apart(struct db *db, enum db_mode mode, enum db_verdict (*fn)(void *arg), void *arg);
// On a cluster, within db_txn_run() of mode DB_AUTOCOMMIT: a write transaction of their own for calls that write, with the fence.
enum db_result db_txn_apart(struct db *db, struct pool *pool, struct db_call *calls, size_t n);
// Call it behind what may end a write transaction without a word: a PREPARE amid it, or a statement that ran for many rows.
// DB_OK: it goes on, or there is none. DB_RETRY: what follows would be committed without the fence, and without what was written
// before. Only Galera does so.
enum db_result db_txn_goes_on(struct db *db);
// The prelude was carried out.
void db_txn_begun(struct db *db);
// DB_OK, or the failure that ended the transaction: then no further statement may be sent in it.
enum db_result db_txn_check(const struct db *db);
// Records a statement's result, which may end the transaction. Returns result.
enum db_result db_txn_note(struct db *db, enum db_result result);

// ---- error.c: has the only table of error numbers of the server and of Connector/C

// The server does not know the prepared statement (any more), and has not executed it.
bool db_error_is_stale(unsigned number);
// There is no such table, or no database is there or selected.
bool db_error_lacks_table(unsigned number);
// An answer to COMMIT: the transaction was rolled back everywhere. After another error on a cluster it may have been committed.
bool db_error_is_rollback(unsigned number);
// An answer to COMMIT: the transaction may have been committed, on whatever connection.
bool db_error_is_unsure(unsigned number);
// The server refuses the login, until an operator changes the account or the configuration.
bool db_error_refuses_login(unsigned number);
// Keeps the text for db_error(), logs it once (values never), drops a lost connection. query NULL: none.
enum db_result db_error_note(struct db *db, unsigned number, const char *message, const struct db_query *query);

#endif

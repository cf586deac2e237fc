// SPDX-License-Identifier: Apache-2.0
// The database, as everything above db/ sees it: prepared statements with bound values, batches that share a round
// trip, transactions that run again what certainly did not happen. db/ alone includes <mysql.h>.
#ifndef TENURE_DB_DB_H
#define TENURE_DB_DB_H

#include "base/str.h"
#include "base/uuid.h"

struct db_settings;
struct pool;
struct db;

enum db_result {
	DB_OK,
	DB_DUPLICATE, // a unique key holds that value already (1062): an answer, the transaction goes on
	DB_REFUSED,   // a constraint or length refuses the value (4025, 1406, 1264, 1451, 1452): a bug of the caller
	DB_RETRY,     // deadlock, lock wait or certification: the transaction was rolled back. Return; db_txn_run() runs it again
	DB_LOST,      // the connection was lost, or there is no server. Return, as for DB_RETRY
	DB_FULL,      // the server can't take it now: no room on a disk or in a table, or it is read-only, which a new connection has
	              // confirmed. Nothing was done, and trying again at once would do no better
	DB_ERROR,     // anything else; logged here
};

// Types of parameters and columns, and their types in C: text and bytes are struct str, numbers uint64_t and int64_t, a time is
// int64_t in microseconds since the epoch (DATETIME(6) in UTC).
enum db_type { DB_TEXT, DB_BYTES, DB_UINT, DB_INT, DB_TIME };

// Where a parameter, or a column, stands in its statement's struct. A text or bytes of NULL have p NULL; anything else that
// may be NULL has a bool beside it, at null_at.
struct db_field {
	enum db_type type;
	bool nullable;
	uint16_t at, null_at; // bytes from the struct's beginning; null_at 0: no bool
};

// One statement. Statements are generated from sql/statements/ (build-aux/compile-sql), with a struct of parameters, a struct
// of a row and functions that take these; call those. The address of a db_query is the key of the statement cache.
struct db_query {
	const char *sql;
	const char *name; // with the case of each choice: "move_items/tree"
	const struct db_field *in_fields, *out_fields;
	uint16_t n_in, n_out;       // fields
	uint16_t in_size, row_size; // of the structs, in bytes
};

struct db_rows {
	size_t n;         // rows
	const void *rows; // n structs of row_size bytes, in pool
	size_t row_size;
	uint64_t affected; // rows matched (CLIENT_FOUND_ROWS), not only changed
	uint64_t insert_id;
};
// A row as its struct, whose size proves that it is this statement's. The generated NAME_row() call this.
static inline const void *db_row(const struct db_rows *rows, size_t row, size_t size)
{
	assert(row < rows->n && size == rows->row_size);
	return (const char *)rows->rows + row * size;
}

// ---- connection

// Whose account of the database server a handle uses, and what follows from that.
enum db_account {
	DB_APPLICATION, // settings->user, which may read and write rows: the processes that serve
	// settings->admin_user, or user if that is empty: tenure-manage. Its sessions have no idle_write, and wait for locks of
	// tables as long as the server says; those of db_open() have no read_timeout. It tries the servers in the order of
	// settings->host, and takes one whose schema is older or missing.
	DB_OPERATOR,
};

// A handle; connects on first use and again when a connection was lost, never inside a transaction. To the server of
// settings->host; or, if that names several, to the one that is the writer: it follows the writer when that changes, and what is
// run outside of db_txn_run() is then run by it, so that writes are fenced and reads are of the writer's state (doc/cluster.md).
// Session: READ COMMITTED, strict sql_mode, UTC, utf8mb4 with utf8mb4_nopad_bin, settings->lock_wait. settings must outlive it.
struct db *db_open(const struct db_settings *settings, enum db_account account);
// The same to the database of another service, on a MariaDB or MySQL server. Its session has the server's own default collation
// and no timeout of idle transactions; transactions of mode DB_WRITE are SERIALIZABLE: what they have read stays as it is.
struct db *db_open_foreign(const struct db_settings *settings);
// From its next connection on, a transaction of this handle that has written nothing may be idle for as long as the server says:
// for a tool that works on something else meanwhile, as with a snapshot of what it copies. Those of other handles are rolled back
// after settings->idle_write.
void db_may_idle(struct db *db);
// The number of servers in settings->host, and the text of one of them, which lives as long as settings.
size_t db_hosts(const struct db_settings *settings);
// Can text be an item of settings->host: HOST or HOST:PORT, with an IPv6 address in [ and ]? A malformed port makes it none.
bool db_is_host(struct str text);
struct str db_host(const struct db_settings *settings, size_t index);
// A handle to the server with that index in settings->host, whether it is the writer or not, without the fence: for code that
// looks at the nodes and appoints a writer.
struct db *db_open_node(const struct db_settings *settings, size_t index, enum db_account account);
// On a cluster a read counts as the writer's if its answer came within DB_LEASE_MS milliseconds after the server was surely the
// writer. A switch leaves the cluster without a writer for DB_VACANCY_MS between the last epoch of one writer and the first of
// the next: longer than any read of the earlier writer may count.
enum { DB_LEASE_MS = 250, DB_VACANCY_MS = DB_LEASE_MS + 150 };
void db_close(struct db **db);
// Connects now if needed. DB_OK, DB_LOST (no server answers, TLS fails, or the login is refused; db_error says why) or DB_ERROR
// (unknown schema).
enum db_result db_connect(struct db *db);

// From here on the handle knows which writer the processes of this host have last seen (db/writer.c). host must outlive it; NULL:
// none.
struct shared;
void db_join(struct db *db, const struct shared *host);

// A log in which each write transaction that changes something leaves a row with its request's id.
struct db_log {
	const char *insert;          // how each statement that inserts into it begins. A server that crashed may give an id of the log
	                             // again, so a duplicate there is DB_RETRY, never DB_DUPLICATE
	const struct db_query *find; // returns a row if there is one of that request, and waits for a transaction that is about to
	                             // commit one. Its only parameter is the request's id, 16 bytes as a struct str
};
// From here on db_txn_run() looks into that log for what became of a COMMIT whose answer was lost. log must outlive db.
void db_set_log(struct db *db, const struct db_log *log);

// Why the last transaction failed, as a text for clients, if an operator has to repair it (no disk space, read-only), or wants it
// so (maintenance.h); else NULL. It lives until the next db_txn_run().
const char *db_reason(const struct db *db);
// Text of the last failure, for logs and tools, never for clients.
const char *db_error(const struct db *db);

// Was the last failure that a server refused the login: user, password, address, or right to the database?
bool db_is_refused(const struct db *db);

// Number of connections so far: if it has grown, the server may have crashed since an earlier read.
uint64_t db_sessions(const struct db *db);
// Number of statements so far that named a table or column which the schema does not have: it may have been upgraded.
uint64_t db_schema_errors(const struct db *db);
bool db_is_operator(const struct db *db);

// In a forked child: frees the handle and sends nothing to the server, because the parent keeps using the connection. For tests.
void db_forget_after_fork(struct db **db);

// ---- statements. All results live in pool; in is copied before return. Call inside db_txn_run's function, or outside
// for single autocommitted statements. There, a SELECT that fails because the connection was lost (not because the database is
// away), or with DB_RETRY, is run again by itself.

// rows may be NULL when there is nothing to read.
enum db_result db_run(struct db *db, struct pool *pool, const struct db_query *query, const void *in, struct db_rows *rows);

// Several statements in one round trip. Each is executed whatever became of those before it, so no COMMIT, and nothing
// that must not happen when an earlier one fails, belongs in a batch outside a transaction.
// Returns the first result that is not DB_OK and not DB_DUPLICATE; each call's own result is in it.
struct db_call {
	const struct db_query *query;
	const void *in; // the query's struct of parameters
	struct db_rows rows;
	enum db_result result;
	// If not NULL, each row is given to this function as soon as it was read, so that the rows need not fit into memory. row
	// is one row; its texts, and what the function allocates from pool, are freed when it returns. rows.rows stays NULL,
	// rows.n counts. The function must not run statements. A call that fails may have given rows before.
	void (*take)(void *arg, const struct db_rows *row, struct pool *pool);
	void *arg;
};
// A call with a copy of its parameters in pool. The generated NAME_call() call this.
struct db_call db_call_of(struct pool *pool, const struct db_query *query, const void *in);
// Runs one; its rows and result are in it, the result is returned, too. As db_run() outside of batches.
enum db_result db_run_call(struct db *db, struct pool *pool, struct db_call *call);
enum { DB_MAX_BATCH = 16 }; // most calls of a batch: a caller with more of them sends several batches
enum db_result db_run_batch(struct db *db, struct pool *pool, struct db_call *calls, size_t n);

// Executes a statement that answers no rows once for each of n structs of parameters, all in one round trip where they fit
// (Connector/C bulk). Chunks itself so that no packet passes max_allowed_packet. Only inside a transaction.
enum db_result db_run_bulk(struct db *db, struct pool *pool, const struct db_query *query, const void *in, size_t n,
	uint64_t *affected);

// The text of an @script of sql/statements/ (README there), which lives in pool: each line that has ":LIST" in quotes or in
// backquotes, once for each name of that list, with the name in its place, escaped as these quotes need it. lists and names
// have n elements each. The generated NAME_text() call this.
struct db_names {
	const struct str *at;
	size_t n;
};
struct str db_script_text(struct pool *pool, const char *script, const char *const *lists, const struct db_names *names,
	size_t n);
// Text of one file of sql/, statement by statement (";" at a line's end; BEGIN NOT ATOMIC … END blocks and DELIMITER are not
// understood). Only tenure-manage: everything else binds. Stops at the first failure. No fence: on a cluster, DB_LOST if the
// server is not the writer when asked before.
enum db_result db_run_script(struct db *db, struct str sql);
// Runs a text of one SHOW statement whose columns differ from release to release. cells: its first row, in pool; n 0: there is
// none.
struct db_cells {
	size_t n;
	const struct str *names, *values; // of each column; a NULL has p NULL
};
enum db_result db_run_show(struct db *db, struct pool *pool, struct str sql, struct db_cells *cells);
// Takes the next statement off *rest, without its semicolon and without comments before it. False: there is none.
bool db_script_next(struct str *rest, struct str *statement);
// Runs one statement of such a text that changes a table. While it waits for the table, everybody who comes after it waits behind
// it. So, after patience_ms of waiting, it is ended through the handle other, which belongs to the same user. DB_RETRY: that
// happened, as db_error() says, or the statement waited for a row; nothing was changed. A statement that builds an index waits
// for the table at its end, too: if it is ended there, what it built is lost. On a cluster as db_run_script().
enum db_result db_run_guarded(struct db *db, struct db *other, struct str sql, unsigned patience_ms);

// ---- transactions

enum db_mode {
	DB_AUTOCOMMIT, // no transaction: single reads
	DB_SNAPSHOT,   // REPEATABLE READ, WITH CONSISTENT SNAPSHOT, READ ONLY
	DB_WRITE,
};
enum db_verdict { DB_COMMIT, DB_ROLLBACK };

// Runs fn(arg), commits or rolls back as it says. When a statement answered DB_RETRY or DB_LOST the transaction rolls
// back, whatever fn says, and fn runs again after a random delay, up to settings->retries times (so fn starts from
// nothing each time). A write transaction's BEGIN travels with its first statement.
// A connection lost during COMMIT leaves the outcome open: after reconnecting, a locking read of the log (db_set_log) for
// request_id tells what happened, so a writing fn must have left a row there with that id, or have changed nothing.
// That is tried anew during twice settings->lock_wait at most.
// request_id NULL, or no log: nobody looks, and the outcome of such a COMMIT stays unknown (DB_LOST, db_txn_uncertain()).
//   DB_OK     committed, or rolled back because fn said so
//   DB_LOST   the database is away, or the transaction was beaten settings->retries times: nothing happened, unless
//             db_txn_uncertain(); answer 503
//   DB_FULL   no room, or read-only, or refused by maintenance: nothing happened, and db_reason() says why; answer 503
//   DB_ERROR  nothing happened; answer 500
enum db_result db_txn_run(struct db *db, enum db_mode mode, const struct uuid *request_id,
	enum db_verdict (*fn)(void *arg), void *arg);
// db_txn_run() for a function that only reads. fn runs on the reader, which is the server settings->read_from, once that server
// has everything that was committed before this call. It runs on the writer if there is no reader, if the reader does not catch
// up within read_wait seconds, or if anything fails there; then fn may run a second time, from nothing. From its first statement
// that writes on, fn runs on the writer.
enum db_result db_txn_run_on_reader(struct db *db, enum db_mode mode, const struct uuid *request_id,
	enum db_verdict (*fn)(void *arg), void *arg);
// Within db_txn_run_on_reader(): use true: the statements that follow run on the writer; false: on the reader again. Elsewhere it
// has no effect. Returns the previous value, to be restored.
bool db_use_writer(struct db *db, bool use);
// Is a writing transaction running? What it reads may be rolled back, so it must not be cached.
bool db_txn_writes(const struct db *db);
// Is a transaction of mode DB_SNAPSHOT running on the writer? What it reads was committed before it began, and may be old by now.
bool db_txn_is_snapshot(const struct db *db);
// Marks the running transaction to be retried, as if a statement had answered DB_RETRY: another writer created the same thing,
// and the retry will see it.
void db_txn_again(struct db *db);
// Says that the running write transaction is going to write many thousands of rows; call it before it writes most of them. DB_OK:
// go on.
// DB_RETRY: return, as when a statement answers so; the function then runs again, and its writes go to the other nodes of the cluster
// in parts while it runs (doc/cluster.md, "Large transactions"). Without a cluster of Galera it does nothing.
enum db_result db_txn_large(struct db *db);
// The last db_txn_run returned DB_LOST although its transaction may have been committed: the connection was lost during COMMIT,
// and the database could not be reached to find out.
bool db_txn_uncertain(const struct db *db);
// Within fn: an earlier run of it sent COMMIT and lost the connection, and the log has no change of it. So what that run wrote
// may be there only if it leaves no row in the log.
bool db_txn_commit_was_lost(const struct db *db);
// Times the last db_txn_run ran fn.
unsigned db_txn_tries(const struct db *db);
// The round trips to the database, in their order, of which the first DB_TRACE_MAX are kept.
enum { DB_TRACE_MAX = 24, DB_TRACE_NAMES = 4 };
struct db_trace {
	size_t n;       // round trips; entries beyond DB_TRACE_MAX are not kept
	int64_t us;     // all together
	struct {
		const char *names[DB_TRACE_NAMES]; // of the first statements; COMMIT is one
		size_t n_names;                    // all of them
		int64_t us;                        // from before the first was sent until the last answer was read
	} trips[DB_TRACE_MAX];
};
// From here on each round trip is entered into the trace, which the caller owns and empties (n = 0, us = 0). NULL: no longer.
void db_set_trace(struct db *db, struct db_trace *trace);
// Counter of round trips since db_open, for monitoring, and for tests that hold us to a number.
uint64_t db_round_trips(const struct db *db);
// Statements since db_open that were prepared, and those that were in the cache of prepared ones.
void db_statement_uses(const struct db *db, uint64_t *prepared, uint64_t *reused);

// Faults for tests: if the environment has TENURE_FAULT="name:count[:conn|process],…" when the handle is opened, it cuts the
// connection, or kills the process, when it passes the point `name` for the count-th time. Points are "statement" (before each
// statement), "before-commit", and "after-commit" (COMMIT was sent, and its answer not read). "no-fence" leaves out the fence of
// a cluster, "no-wait" the wait before reads at settings->read_from: what would happen then is what the tests of these have to
// find.
#endif

// SPDX-License-Identifier: Apache-2.0
// The change log's horizon: the id up to which a reader can rely on that no further change becomes visible, ever.
//
// An id of the log is given when its row is inserted, long before the transaction commits. Each id is in one of these
// states, seen from outside:
//
//              row inserted            COMMIT           the log's disk write
//     given ────────────────> in flight ──────> committed ────────────────────> durable
//       │                         │
//       │ statement fails         │ ROLLBACK, or the writer is gone
//       └────────────> void <─────┘
//
// A row in flight can be read uncommitted, so it can be distinguished from a void id. But an id that is given and has no row
// yet looks like a void id. The statement that took it is still being executed, and SHOW PROCESSLIST shows that statement. So
// the horizon is found by asking:
//     ┌── IDLE ──────── something newer than reached is committed ─────────────┐
//     │                                                                        v
//     │     ceiling = highest id that has a row, read uncommitted; waited = the connections that execute
//     │     a statement which may write the log, as SHOW PROCESSLIST says after that
//     │                                                                        │
//     │                                     ASKING: each further look takes out of waited
//     │                                     the connections that it sees outside such a statement
//     │                                                                        │ waited is empty
//     │                                                                        v
//     │     settled = ceiling: an id up to it has a row by now, or is void
//     │     read the ids up to settled, uncommitted, then committed
//     │       in the first alone: in flight; in neither: void
//     │     reached = the highest committed id below the first in flight
//     │                                                                        │ horizon_publish
//     │     commit something durable: then all that was read is durable, too   │
//     └──── published = reached, in the database, where every process reads it <┘
//
// No step goes by the clock. A statement that hangs, or a transaction that does not end, holds the horizon up. The database
// ends a transaction whose client sends nothing for [database] idle_write_timeout.
//
// published <= reached <= settled always. If the connection to the database is lost, reached and settled go back to published:
// the server may have crashed, and may then give ids above published a second time.
//
// It relies on this:
// * Every statement that writes the log begins with CHANGE_INSERT (change.h).
// * The reader's connection sees the statements of all writers: they use the same database user, or the reader's user has the
//   privilege PROCESS. horizon_join() records which users write; horizon_ask() stops if it cannot see one of them.
// * All writers use the same server, and it has innodb_flush_log_at_trx_commit = 1.
#ifndef TENURE_REGISTRY_LOG_HORIZON_H
#define TENURE_REGISTRY_LOG_HORIZON_H

#include "registry/core/context.h"

struct db_call;
struct horizon;

// Returns a horizon of which nothing is known yet; NULL if there is no memory. The caller frees it by horizon_free().
struct horizon *horizon_new(void);
void horizon_free(struct horizon **horizon);

// Records that this connection's user writes the log. Call it before the first write. OUTCOME_OK, _UNAVAILABLE or _INTERNAL.
enum outcome horizon_join(struct registry *registry);

// None of the following functions may be called inside a transaction, and none waits for a writer. Each returns OUTCOME_OK,
// _UNAVAILABLE or _INTERNAL. Within db_txn_run_on_reader() these functions ask the writer, and all statements that the caller
// runs after them go to the writer, too.

// Reads, in one statement, the published horizon into *horizon, and the highest committed change id into *newest, which is at
// least *horizon. Either may be NULL.
enum outcome horizon_read(struct registry *registry, uint64_t *horizon, uint64_t *newest);
// Calls horizon_read() and, if there is a newer change, searches for a higher horizon: *horizon is what was reached. What the
// caller reads up to *horizon must not leave the process before horizon_publish() has succeeded.
enum outcome horizon_ask(struct registry *registry, uint64_t *horizon, uint64_t *newest);
// Makes durable all that was read from the database up to now, and publishes the horizon that horizon_ask() reached.
enum outcome horizon_publish(struct registry *registry);
// horizon_ask() and, if it reached more than is published, horizon_publish(). *horizon is the published horizon.
enum outcome horizon_advance(struct registry *registry, uint64_t *horizon, uint64_t *newest);

// The horizon for a reader of only two tenants' changes, whose ids are tenants. Changes of other tenants in flight do not hold it
// up. The caller has read all changes of the two tenants up to id after. All their changes up to *horizon, which is at least
// after, are committed or void, and *horizon is no id that a writer may give again. One call gets at most some thousand of their
// changes further. *all: up to horizon_settled() nothing of the two is in flight, and all their committed changes are at most
// *horizon. Call horizon_ask() first, and horizon_publish() before the changes leave the process.
enum outcome horizon_of_two(struct registry *registry, const uint64_t tenants[2], uint64_t after, uint64_t *horizon, bool *all);

// The published horizon as last read; 0: not known. Sends no statement.
uint64_t horizon_published(const struct registry *registry);
// The id up to which each id has a row or is void. Sends no statement.
uint64_t horizon_settled(const struct registry *registry);
// Can this connection's current statement be given ids of the log? command and info are columns of SHOW PROCESSLIST; info.p
// NULL: no statement. The server shows the command "Busy" for a session that it could not look into, and "Killed" for one that
// is being killed, both without the statement; so these count as yes. Exported for tests.
bool horizon_may_write_log(struct str command, struct str info);
// Does the last horizon_ask() wait for statements of other connections? They end soon, so ask again after milliseconds.
bool horizon_is_asking(const struct registry *registry);
// Has the same transaction held the horizon up during many calls of horizon_ask()? It may take long.
bool horizon_is_held(const struct registry *registry);
// At least so many committed changes were above the horizon at the last horizon_ask(). It counts no more than some thousand.
size_t horizon_backlog(const struct registry *registry);

// ---- for registry/

// The statement of horizon_read() as a member of a batch, and the *newest that it read.
struct db_call horizon_newest_change_call(struct registry *registry);
uint64_t horizon_newest_change(const struct db_call *call);

#endif

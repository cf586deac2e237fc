// SPDX-License-Identifier: Apache-2.0
// The change log's horizon: the id up to which a reader can trust that no further change comes to light, ever.
//
// An id of the log is given when its row is inserted, long before the transaction commits. Each id is in one of these
// states, seen from outside:
//
//                    row inserted            COMMIT               the log's disk write
//     given ─────────────────────> in flight ─────────> committed ────────────────────> durable
//       │                              │
//       │ statement fails              │ ROLLBACK, or the writer is gone
//       └────────────> void <──────────┘
//
// A row in flight can be read uncommitted, so it is told apart from a void id. Only an id that is given and has no row yet
// looks as if it were void. The statement that was given it is still being executed, and SHOW PROCESSLIST shows that. So
// the horizon is found by asking:
//
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
// There is no clock in it. A statement that hangs, or a transaction that does not end, holds the horizon up; the database
// ends a transaction whose writer is silent ([database] idle_write_timeout).
//
// published <= reached <= settled always. A connection to the database that was lost takes a horizon back to published: a
// server that crashed may give ids above it anew.
//
// What it relies on:
// * Every statement that writes the log begins with CHANGE_INSERT (change.h).
// * The asking connection sees the statements of all writers: they have the same user of the database, or its user has the
//   privilege PROCESS. horizon_join records who writes; horizon_ask refuses to go on where it can't see one of them.
// * All write to the same server, and it keeps innodb_flush_log_at_trx_commit = 1.
#ifndef TENURE_REGISTRY_LOG_HORIZON_H
#define TENURE_REGISTRY_LOG_HORIZON_H

#include "registry/core/context.h"

struct db_call;
struct horizon;

// NULL: no memory.
struct horizon *horizon_new(void);
void horizon_free(struct horizon **horizon);

// Records that this connection's user writes the log; before it first does. OUTCOME_OK, _UNAVAILABLE, _INTERNAL.
enum outcome horizon_join(struct registry *registry);

// None of the following functions may be called in a transaction, and none waits for a writer. Each returns OUTCOME_OK,
// _UNAVAILABLE or _INTERNAL.

// One statement: *horizon is the published one, *newest the highest id of a change that is committed, at least *horizon.
// Either may be NULL.
enum outcome horizon_read(struct registry *registry, uint64_t *horizon, uint64_t *newest);
// horizon_read, and one look more if there is something newer. What has become visible by *horizon must not leave the
// process before horizon_publish has succeeded.
enum outcome horizon_ask(struct registry *registry, uint64_t *horizon, uint64_t *newest);
// Makes all that was read from the database up to now durable, and publishes the horizon that horizon_ask reached.
enum outcome horizon_publish(struct registry *registry);
// horizon_ask and horizon_publish: what a reader of the horizon alone needs. *horizon is published.
enum outcome horizon_advance(struct registry *registry, uint64_t *horizon, uint64_t *newest);

// For a reader of two tenants' changes alone, ids tenants, who has read all of these up to after: what other tenants have
// in flight holds nothing up. Up to *horizon, at least after, all changes of the two are committed or void. At most some
// thousand of their changes further at a time. To be published like the result of horizon_ask, which must have been called.
enum outcome horizon_of_two(struct registry *registry, const uint64_t tenants[2], uint64_t after, uint64_t *horizon);

// What was published as of the last of these calls; 0: not known. No statement.
uint64_t horizon_published(const struct registry *registry);
// Up to this id everything given has a row or is void. No statement.
uint64_t horizon_settled(const struct registry *registry);
// May a connection be given ids of the log by the statement that it executes? command and info: its columns in SHOW PROCESSLIST;
// info.p NULL: none. Where the server could not look at the session's state the command is "Busy", and where the session is
// being killed, "Killed", both without the text of the statement.
bool horizon_may_write_log(struct str command, struct str info);
// Does the last horizon_ask wait for other connections' statements, which end by themselves? Ask again in milliseconds.
bool horizon_is_asking(const struct registry *registry);
// Is it held up by a transaction that was in flight at many asks in a row? Waiting for it may take long.
bool horizon_is_held(const struct registry *registry);
// So many committed changes at least were above the horizon at the last horizon_ask; some thousand are counted.
size_t horizon_backlog(const struct registry *registry);

// ---- for registry/

// What horizon_read reads, as a member of a batch; and its *newest.
struct db_call newest_change_call(struct registry *registry);
uint64_t newest_change(const struct db_call *call);

#endif

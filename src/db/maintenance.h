// SPDX-License-Identifier: Apache-2.0
// Maintenance: the operator stops all changes of the registry, while reads go on. A row of the database says so, so it holds for
// all processes of all hosts from one moment on, and through restarts.
//
// Each write transaction of a handle that heeds it (db_heed_maintenance()) begins with a statement that asks for the row and,
// until the transaction ends, holds a shared lock. It travels with the transaction's first statement and costs no round trip;
// reads don't ask. Single statements outside of db_txn_run() don't either: what they write is not the registry's content (the
// horizon of the change log, the progress of a move).
#ifndef TENURE_DB_MAINTENANCE_H
#define TENURE_DB_MAINTENANCE_H

#include "db/db.h"

enum { DB_MAINTENANCE_REASON = 500, DB_MAINTENANCE_RETRY = 30 * 86400 }; // bytes, and seconds, at most

struct db_maintenance {
	bool on;           // false: the other members mean nothing
	int64_t since_us;  // since 1970
	unsigned retry_s;  // when clients are to try again; at least 1
	struct str reason; // for clients; may be empty
};

// From here on the write transactions of the handle heed maintenance, or don't (as at first): they end with DB_FULL, having
// changed nothing, and db_reason() says what to tell the client. Not within a transaction.
void db_heed_maintenance(struct db *db, bool heed);
// Was the last transaction refused because of maintenance? Then the seconds after which to try again, else 0.
unsigned db_maintenance_s(const struct db *db);

// What the database says now; the reason lives in pool. DB_OK, DB_LOST, DB_ERROR.
enum db_result db_maintenance_read(struct db *db, struct pool *pool, struct db_maintenance *maintenance);
// Begins it, or changes the reason and the time: transactions that begin from now on are refused. The results of db_txn_run().
enum db_result db_maintenance_begin(struct db *db, const struct db_maintenance *maintenance);
// Waits for a second at most for the transactions that began before. DB_OK: there is none any more, so nothing changes until
// db_maintenance_end(). DB_RETRY: there still is one. DB_LOST, DB_ERROR.
enum db_result db_maintenance_await(struct db *db);
// Ends it. *was: was it on? The results of db_txn_run().
enum db_result db_maintenance_end(struct db *db, bool *was);

#endif

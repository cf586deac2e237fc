// SPDX-License-Identifier: Apache-2.0
// The database of a Placement service: how to reach it, whether it is one, and what it holds, as records. Whatever the database
// holds is checked before it becomes a record; each fault is reported by transfer_problem().
#ifndef TENURE_MANAGE_PLACEMENT_SOURCE_H
#define TENURE_MANAGE_PLACEMENT_SOURCE_H

#include "db/settings.h"
#include "manage/placement/transfer.h"

// Reads the option connection in section [placement_database] of a file, such as /etc/placement/placement.conf:
// mysql[+DRIVER]://USER:PASSWORD@HOST[:PORT]/DATABASE[?OPTIONS], in which user, password and options may be percent-encoded; the
// line is read as oslo.config does, the address as SQLAlchemy and PyMySQL do: without HOST, or with localhost, it
// leads to 127.0.0.1 by TCP. Of the options, unix_socket, which takes the place of HOST, and ssl_ca
// count. *to: ours, changed so that they lead there; their texts live in pool. NULL: good; else why not.
const char *source_read_config(struct pool *pool, const char *path, const struct db_settings *ours, struct db_settings *to);

// Connects transfer->foreign, and checks that the database has the tables and columns of Placement from 3.0 on, in their last
// version. Sets transfer->has_types. False: the transfer has ended.
bool source_check(struct transfer *transfer, struct db *foreign);

// One pass over the database, inside a transaction of it. Each function may be NULL, and returns false to end the pass.
struct source_pass {
	struct transfer *transfer;
	// n records, in any order, as many whole trees as make about TRANSFER_BATCH providers. row_ids: of their rows.
	bool (*providers)(struct source_pass *pass, const struct provider_record *list, const int64_t *row_ids, size_t n);
	bool (*consumers)(struct source_pass *pass, const struct consumer_record *list, const int64_t *row_ids, size_t n);
	void *arg;
	struct transfer_counts counts; // what was seen
	bool exports;    // the records are compared with the registry, and not taken over: what an import refuses in names and owners may be there
	bool notes_idle;               // consumers without allocations, and inventories that are used beyond capacity, are noted
};
// Records with faults are left out, and counted as seen. False: a statement failed, a function returned false, or the transfer
// has ended.
bool source_run(struct source_pass *pass, const char *label);

// Reports rows that belong to nothing.
bool source_check_faults(struct transfer *transfer);
// Counts the rows of the tables: as many as a pass must see.
bool source_count(struct transfer *transfer, struct transfer_counts *counts);
// Has a pass seen all the rows that were counted? total, seen: what source_count() and the pass have counted.
bool source_saw_everything(const struct transfer_counts *total, const struct transfer_counts *seen);
// The names of its classes and traits. They live in transfer->pool.
bool source_read_names(struct transfer *transfer, struct name_set *classes, struct name_set *traits);

#endif

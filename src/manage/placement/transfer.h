// SPDX-License-Identifier: Apache-2.0
// What an import from Placement and an export into it share: the two databases, memory by batches, messages, progress.
#ifndef TENURE_MANAGE_PLACEMENT_TRANSFER_H
#define TENURE_MANAGE_PLACEMENT_TRANSFER_H

#include <sysexits.h>

#include "base/digest.h"
#include "registry/placement/record.h"

struct db;
struct pool;

enum {
	TRANSFER_BATCH = 500, // providers, or consumers, that are read and written at a time
	TRANSFER_REMEMBERED = 16,
};

// Names of classes or traits in byte order, with their ids in their database.
struct name {
	struct str text;
	int64_t id;
};
struct name_set {
	struct name *names;
	size_t n, room;
};

// How many of which were seen by a pass over one of the databases.
struct transfer_counts {
	uint64_t providers, consumers;
	uint64_t inventories, allocations;
	uint64_t traits, aggregates; // of providers: one for each provider that has the trait, or is in the aggregate
	uint64_t idle; // consumers without allocations, which the registry does not have
	uint64_t overfull;  // inventories of which more is used than there is
};

// The sum of the hashes of all records: the same for the same records in any order.
struct transfer_digest {
	uint64_t providers[DIGEST_SHA256 / 8], consumers[DIGEST_SHA256 / 8];
};

struct transfer {
	struct registry *registry; // ours; its pool is cleared after each batch
	struct db *notes;          // our database by another connection, which can write while a snapshot is read
	struct db *foreign;        // Placement's database
	bool has_types;            // Placement's database has consumer types (from 6.0 on)
	struct pool *pool;         // memory that lasts
	bool dry_run;
	bool list;                 // an export prints each record that it takes away or writes
	bool progress_in_lines;    // stderr is not a terminal, so there is no bar

	bool in_snapshot; // of the registry, within a db_txn_run() that may run all of it again
	bool away;        // this run of that met a failed statement
	uint64_t problems; // found so far
	int code;          // 0, or the exit code with which the transfer ends
	struct name_set classes, traits; // of the registry

	// progress
	const char *label;
	uint64_t done, total;
	int64_t drawn_us;
	unsigned tenths; // the last tenth for which a line was printed
};

// Reports that something in the source, or in the way, has to be mended first: a line on stderr, without control characters.
void transfer_problem(struct transfer *transfer, const char *format, ...) PRINTF_LIKE(2, 3);
// Reports something that is no obstacle.
void transfer_note(struct transfer *transfer, const char *format, ...) PRINTF_LIKE(2, 3);
// Prints a line on stdout, likewise without control characters, if transfer->list.
void transfer_list(struct transfer *transfer, const char *format, ...) PRINTF_LIKE(2, 3);
// Ends the transfer with that exit code, unless it has ended already, and prints the text. Returns false.
bool transfer_fail(struct transfer *transfer, int code, const char *format, ...) PRINTF_LIKE(3, 4);
// Ends the transfer, unless it has ended already, because a transaction of Placement's database failed with result, which is
// not DB_OK. A function that only met a failed statement there prints nothing: db_txn_run() may run all of it again.
bool transfer_lost(struct transfer *transfer, enum db_result result);
// Did a statement of Placement's database succeed?
static inline bool transfer_ok(enum db_result result)
{
	return result == DB_OK;
}
// Did the registry's function do it? Else ends the transfer with its problem. In a snapshot of the registry, OUTCOME_UNAVAILABLE
// ends only this run of it: transfer->away is set, and nothing is printed.
bool transfer_done(struct transfer *transfer, enum outcome outcome);

// Stores the digest of what Placement's database holds after an import, or of what it will hold after the COMMIT of an export, as
// the newest of up to TRANSFER_REMEMBERED: an export may write over a database that is as one of these says. It may be called
// within a snapshot of the registry.
bool transfer_remember(struct transfer *transfer, const struct transfer_digest *digest);
// *same: the digest is one of those that are remembered; *any: some are.
bool transfer_recall(struct transfer *transfer, const struct transfer_digest *digest, bool *same, bool *any);

// Runs fn in a transaction of our database, as one request of the change log. True: it was committed.
bool transfer_write(struct transfer *transfer, enum outcome (*fn)(struct registry *registry, void *arg), void *arg);

// ---- progress: a bar on a terminal, else a line for each tenth

void transfer_begin(struct transfer *transfer, const char *label, uint64_t total);
void transfer_advance(struct transfer *transfer, uint64_t n);
void transfer_end(struct transfer *transfer);

// ---- names

// Reads the names of the registry's classes and traits.
bool transfer_read_names(struct transfer *transfer);
void name_set_add(struct pool *pool, struct name_set *set, struct str text, int64_t id);
void name_set_sort(struct name_set *set);
// Returns the id of the name; -1: it is not in the set.
int64_t name_set_find(const struct name_set *set, struct str text);
bool name_set_has(const struct name_set *set, struct str text);

#endif

// SPDX-License-Identifier: Apache-2.0
// For files in manage/dump/ only: writing dumps, and what the dump of a whole installation holds.
#ifndef TENURE_MANAGE_DUMP_DUMP_WRITER_H
#define TENURE_MANAGE_DUMP_DUMP_WRITER_H

#include <sys/types.h>

#include "db/db.h"
#include "manage/core/manage.h"
#include "manage/dump/dump_line.h"

struct doc;

// The tables that a dump of an installation has, in the order in which they stand in it. sql/statements/dump_all.sql has the
// statements of each, and says which tables are not in it.
#define DUMP_TABLES(X) \
	X(settings) X(tiers) X(types) X(traits) X(resource_classes) X(consumer_types) X(tenants) X(tenant_counts) \
	X(resources) X(resource_aliases) X(resource_traits) X(providers) X(inventories) X(provider_aggregates) \
	X(consumers) X(allocations) X(forwards) X(moves) X(move_progress) X(namespace_deletions) X(merged_namespaces) \
	X(changes) X(former_resources) X(former_tenants) X(tokens) X(webhooks) X(webhook_cursors) X(webhook_messages) \
	X(usage_progress) X(usage_opening) X(usage_suspended) X(usage_pending) X(usage_periods) X(usage_closings) \
	X(log_horizon) X(catalogues)

// DUMP_TABLE_tiers, … in that order, and how many there are.
#define DUMP_TABLE_NUMBER(name) DUMP_TABLE_##name,
enum { DUMP_TABLES(DUMP_TABLE_NUMBER) DUMP_TABLES__N };

struct dump {
	struct manage *manage;
	struct str tenant;   // p NULL: the whole installation
	bool without_tokens; // of the whole installation
	FILE *file;
	off_t beginning;     // of the dump in the file, which may hold more before it; -1: the dump can't be taken back
	struct dump_lines lines;
	const char *kind;    // of the records that come
	int code;            // EX_OK, or why the dump is not whole
	int error;           // errno of a write that failed; 0: none did
};

// Begins the dump with the line about what it holds. It may be called again, after a lost connection: then it takes the dump back
// and begins it anew; what stands before it in the file stays. False: it can't, and dump->code says so.
bool dump_begin(struct dump *dump);
// Writes a line. record: JSON text, an object; p NULL: the database had no room for it. What fails is noted in dump.
void dump_put(struct dump *dump, const char *kind, struct str record);
void dump_put_doc(struct dump *dump, const char *kind, struct doc *doc);
// Runs statements that answer records, and writes these. False: dump->code or dump->error says why not.
struct dump_part {
	const char *kind;
	struct db_call call;
};
bool dump_put_parts(struct dump *dump, const struct dump_part *parts, size_t n);

// In the snapshot of db_txn_run(): writes the whole installation. arg: a struct dump.
enum db_verdict dump_all(void *arg);

#endif

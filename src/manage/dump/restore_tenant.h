// SPDX-License-Identifier: Apache-2.0
// For the files manage/dump/restore_*.c that restore a tenant: the state that they share, and the work of each pass over the
// file.
//
// The reader of the dump (dump_reader.h) shows a pass each record: doc is the record, object its JSON text. Some records are
// gathered into batches, which go to the database as JSON arrays of one kind. The functions return false if they ended this run
// of the transaction: the file was refused (dump_reader_refuse()), or a message was printed and restore->code is the exit code,
// or a statement failed after which all of it may run again. So nothing else prints: what the last run came to is printed behind
// it.
#ifndef TENURE_MANAGE_DUMP_RESTORE_TENANT_H
#define TENURE_MANAGE_DUMP_RESTORE_TENANT_H

#include "base/buf.h"
#include "base/outcome.h"
#include "db/db.h"
#include "manage/dump/dump_reader.h"
#include "manage/dump/restore.h"
#include "registry/webhook/webhook.h"

struct doc;
struct registry;

enum { RESTORE_BATCH = 200 }; // records in a batch

// The kinds of lines, in the order in which a file has them.
enum restore_kind { KIND_DUMP, KIND_TENANT, KIND_TYPE, KIND_TRAIT, KIND_CLASS, KIND_RESOURCE, KIND_CONSUMER, KIND_ALLOCATION, KIND_WEBHOOK,
	KIND_END, KIND__N };

// The passes over the file, in their order. All but the first are in the transaction.
enum restore_pass {
	PASS_CHECK,     // is each record well-formed?
	PASS_CONFLICTS, // what is in the way?
	PASS_WRITE,
	PASS_VERIFY,    // could the registry have stored what was written?
};

struct restore {
	struct manage *manage;
	struct registry *registry;
	const struct restore_options *options;
	struct dump_reader reader;
	struct pool *lines;   // the reader's, which clears it when it begins a batch
	struct pool *told;    // of conflicts
	enum restore_pass pass;
	char webhook[WEBHOOK_NAME_MAX + 1]; // the name of the last one that was checked; "": none yet
	int code;             // EX_OK, or why it ends
	// Of this run of the transaction.
	bool whole;           // it came to its end
	uint64_t n_conflicts; // see restore_tell_conflict()
	struct buf conflicts; // their lines
	uint64_t n_resources; // written
	uint64_t tenant_id;   // of the tenant that was written
	struct str tenant;    // its name
};

// ---- restore_shared.c

// Ends this run because a statement failed: refuses the batch for a value that can't be stored, or prints a message, unless all
// of it may run again. Returns false.
bool restore_fail(struct restore *restore, enum db_result result);
// The same because a function of the registry came to that outcome, which is not the fault of the file.
bool restore_fail_by(struct restore *restore, enum outcome outcome);
// The name and the tier that the tenant of this record gets here.
struct str restore_name(const struct restore *restore, const struct doc *tenant);
struct str restore_tier(const struct restore *restore, const struct doc *tenant);

// Notes a line about something that forbids the restore, which goes on to find more. Counts them; keeps the first 10,000.
void restore_tell_conflict(struct restore *restore, struct str what);
// The same for the rows of a statement, each one text. False: the statement failed.
bool restore_tell_conflicts(struct restore *restore, enum db_result result, const struct db_rows *rows);
// Prints them, and how many they are; there must be some. Returns the exit code.
int restore_print_conflicts(const struct restore *restore);
// Adds the record of a resource to the batch, with the number of its line, by which conflicts are told. n: about how many bytes
// its text has.
void restore_add_resource(struct restore *restore, struct doc *doc, size_t n);

// ---- restore_check.c

bool restore_check_record(struct restore *restore, const struct doc *doc);

// ---- restore_conflicts.c

bool restore_find_conflicts_of_record(struct restore *restore, const struct doc *doc, struct str object);
bool restore_find_conflicts_of_batch(struct restore *restore, struct str rows);

// ---- restore_write.c

// Adds to doc what only this installation knows: the tier, the etag, the lanes of state tags, the number of the line.
bool restore_write_record(struct restore *restore, struct doc *doc, struct str object);
bool restore_write_batch(struct restore *restore, struct str rows);

// ---- restore_verify.c

// Begins the pass: counts what the tenant has now, and compares that with its tier, and its definitions with their bound.
bool restore_verify_counts(struct restore *restore);
// Adds the number of its line to doc.
bool restore_verify_record(struct restore *restore, struct doc *doc, struct str object);
bool restore_verify_batch(struct restore *restore, struct str rows);

#endif

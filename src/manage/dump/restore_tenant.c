// SPDX-License-Identifier: Apache-2.0
// tenure-manage restore of one tenant. The file is read four times: for its form and sums, before anything is written; for what
// is in the way; to write it; and to check what was written against the types, tiers and limits here. All but the first are in
// one transaction.
#include "base/base.h"

#include "manage/dump/record.h"
#include "manage/dump/restore_tenant.h"
#include "registry/cache/coherence.h"
#include "registry/registry.h"
#include "registry/tags/keys.h"
#include "repr/json/doc.h"

static const struct dump_kind kinds[KIND__N] = { { "dump", true }, { "tenant", true }, { "type", false }, { "trait", false }, { "class", false },
	{ "resource", false }, { "consumer", false }, { "allocation", false }, { "webhook", false }, { "end", false } };

static bool take_record(void *user, struct str object)
{
	struct restore *restore = user;
	struct doc *doc;

	if (!dump_reader_parse(&restore->reader, object, &doc))
		return false;
	if (restore->pass == PASS_CHECK)
		return restore_check_record(restore, doc);
	if (restore->reader.kind == KIND_DUMP || restore->reader.kind == KIND_END)
		return true;
	if (restore->pass == PASS_CONFLICTS)
		return restore_find_conflicts_of_record(restore, doc, object);
	return restore->pass == PASS_WRITE ? restore_write_record(restore, doc, object) : restore_verify_record(restore, doc, object);
}

static bool take_batch(void *user, struct str rows)
{
	struct restore *restore = user;

	assert(restore->pass != PASS_CHECK); // which gathers nothing
	if (restore->pass == PASS_CONFLICTS)
		return restore_find_conflicts_of_batch(restore, rows);
	return restore->pass == PASS_WRITE ? restore_write_batch(restore, rows) : restore_verify_batch(restore, rows);
}

static bool pass(struct restore *restore, enum restore_pass which)
{
	restore->pass = which;
	return dump_reader_run(&restore->reader);
}

// A pass that ends the restore if it finds something in the way.
static bool pass_without_conflicts(struct restore *restore, enum restore_pass which)
{
	return pass(restore, which) && restore->n_conflicts == 0;
}

// What workers keep of types and traits is stale once this commits.
static bool invalidate_caches(struct restore *restore)
{
	struct registry *registry = restore->registry;
	enum outcome outcome = coherence_raise(registry, COHERENCE_TYPES);

	if (outcome == OUTCOME_OK)
		outcome = coherence_raise(registry, COHERENCE_TRAITS);
	return outcome == OUTCOME_OK || restore_fail_by(restore, outcome);
}

// The tags that are made in this transaction, which may take long, are not to be of a key that is retired before COMMIT.
static bool hold_key(struct restore *restore)
{
	enum outcome outcome = etag_key_pin(restore->registry);

	if (outcome == OUTCOME_CONFLICT)
		restore->code = manage_fail(EX_TEMPFAIL, "the key that makes etags was retired meanwhile: run this again");
	return outcome == OUTCOME_OK || (outcome != OUTCOME_CONFLICT && restore_fail_by(restore, outcome));
}

// The transaction. It may run again, after a deadlock.
static enum db_verdict run(void *arg)
{
	struct restore *restore = arg;

	registry_begin_run(restore->registry);
	restore->code = EX_OK;
	restore->whole = false;
	restore->n_conflicts = restore->n_resources = 0;
	pool_clear(restore->told);
	restore->conflicts = buf_new(restore->told, 0);
	if (!hold_key(restore) || !pass_without_conflicts(restore, PASS_CONFLICTS))
		return DB_ROLLBACK;
	if (db_txn_large(restore->registry->db) != DB_OK || !pass(restore, PASS_WRITE))
		return DB_ROLLBACK;
	if (!restore_verify_counts(restore) || !pass_without_conflicts(restore, PASS_VERIFY))
		return DB_ROLLBACK;
	restore->whole = invalidate_caches(restore);
	return restore->whole && !restore->options->dry_run ? DB_COMMIT : DB_ROLLBACK;
}

// Says why the restore ended before its end. result: of its last transaction. Returns the exit code.
static int tell_end(const struct restore *restore, enum db_result result)
{
	if (restore->code != EX_OK)
		return restore->code;
	if (restore->reader.refusal[0] != '\0')
		return manage_fail(EX_DATAERR, "%s: %s", restore->options->path, restore->reader.refusal);
	if (result == DB_OK && restore->n_conflicts > 0)
		return restore_print_conflicts(restore);
	if (result != DB_OK && db_txn_uncertain(restore->manage->db))
		return manage_fail(EX_TEMPFAIL, "the connection was lost at the end: `tenure tenant show %.*s` shows whether it was restored",
			STR_ARG(restore->tenant));
	return manage_db_fail(restore->manage, result == DB_OK ? DB_LOST : result, "can't restore the tenant");
}

static int restore_file(struct restore *restore)
{
	struct manage *manage = restore->manage;

	if (!pass(restore, PASS_CHECK))
		return tell_end(restore, DB_OK);
	enum outcome outcome = etag_keys_refresh(restore->registry);
	if (outcome != OUTCOME_OK)
		return tell_end(restore, outcome == OUTCOME_UNAVAILABLE ? DB_LOST : DB_ERROR);
	enum db_result result = db_txn_run(manage->db, DB_WRITE, &restore->registry->request_id, run, restore);
	if (result != DB_OK || !restore->whole)
		return tell_end(restore, result);
	if (!restore->options->dry_run)
		coherence_committed(restore->registry);
	printf("%s %llu resource%s\n", restore->options->dry_run ? "would restore" : "restored", COUNT_ARG(restore->n_resources));
	return EX_OK;
}

int restore_tenant(struct manage *manage, FILE *file, const struct restore_options *options)
{
	struct registry_store *store = NULL;
	struct registry registry;
	struct restore restore = { .manage = manage, .registry = &registry, .options = options, .lines = pool_new_or_end(),
		.told = pool_new_or_end() };

	restore.reader = (struct dump_reader){ .file = file, .kinds = kinds, .n_kinds = KIND__N, .most = RESTORE_BATCH, .record = take_record,
		.batch = take_batch, .user = &restore, .pool = restore.lines };
	enum outcome outcome = manage_begin(manage, &store, &registry);
	int code = manage_exit_code(outcome);
	if (outcome == OUTCOME_OK)
		code = restore_file(&restore);
	else
		manage_tell_outcome(manage, outcome);
	registry_store_free(&store);
	pool_free(&restore.told);
	pool_free(&restore.lines);
	return code;
}

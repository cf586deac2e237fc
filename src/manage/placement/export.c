// SPDX-License-Identifier: Apache-2.0
// Writes Placement's database, in one transaction of it and one snapshot of the registry: compares both, takes away what is
// other or gone in the registry, writes what is missing, compares again.
#include "base/base.h"

#include "manage/placement/export.h"

#include "base/clock.h"
#include "base/pool.h"
#include "db/db.h"
#include "manage/core/manage.h"
#include "manage/placement/export_write.h"
#include "manage/placement/facts.h"
#include "manage/placement/source.h"
#include "registry/core/failure.h"
#include "registry/placement/resource_class.h"
#include "registry/trait/trait.h"
#include "sql/placement_db.h"
#include "sql/transfer.h"

// ---- Placement's records compared with ours

static bool take_provider_away(struct transfer *transfer, int64_t row_id, bool gone)
{
	struct pool *pool = transfer->registry->pool;
	const struct sql_placement_part_delete part = { .id = row_id };
	const struct sql_placement_provider_strip strip = { .id = row_id, .generation = gone ? -1 : 0 };
	struct db_call calls[SQL_PLACEMENT_PART__N + 1] = {
		[SQL_PLACEMENT_PART__N] = sql_placement_provider_strip_call(pool, &strip),
	};

	for (enum sql_placement_part i = 0; i < SQL_PLACEMENT_PART__N; i++)
		calls[i] = sql_placement_part_delete_call(pool, i, &part);
	return transfer_ok(db_run_batch(transfer->foreign, pool, calls, COUNT_OF(calls)));
}

static bool compare_providers(struct source_pass *pass, const struct provider_record *list, const int64_t *row_ids, size_t n)
{
	struct export *export = pass->arg;
	struct transfer *transfer = pass->transfer;
	struct pool *pool = transfer->registry->pool;
	struct uuid *uids = POOL_ARRAY(pool, struct uuid, n);
	struct provider_record *ours;
	size_t n_ours;

	for (size_t i = 0; i < n; i++)
		uids[i] = list[i].uid;
	if (!transfer_done(transfer, provider_records_read(transfer->registry, uids, n, &ours, &n_ours)))
		return false;
	for (size_t i = 0; i < n; i++) {
		const struct provider_record *in_registry = provider_record_find(ours, n_ours, &list[i].uid);
		const struct facts theirs = facts_of_provider(pool, &list[i], FACTS_WITHOUT_USAGE);
		const struct facts wanted = in_registry != NULL ? facts_of_provider(pool, in_registry, FACTS_WITHOUT_USAGE) : (struct facts){ .n = 0 };
		bool equal = in_registry != NULL && facts_equal(&theirs, &wanted);

		facts_add(pool, &theirs, export->digest.providers);
		export->equal.providers += equal;
		export->to_remove.providers += !equal;
		if (!equal && export->reports_differences) {
			struct str difference = in_registry != NULL ? facts_difference(pool, &theirs, &wanted) : STR("not here");
			transfer_problem(transfer, "provider %.*s: %.*s", UUID_ARG(pool, list[i].uid), STR_ARG(difference));
		}
		if (equal || !export->removes)
			continue;
		struct str difference = in_registry != NULL ? facts_difference(pool, &theirs, &wanted) : STR("taken away");
		transfer_list(transfer, "provider %.*s: %.*s", UUID_ARG(pool, list[i].uid), STR_ARG(difference));
		if (!take_provider_away(transfer, row_ids[i], in_registry == NULL))
			return false;
	}
	return true;
}

static bool compare_consumers(struct source_pass *pass, const struct consumer_record *list, const int64_t *row_ids, size_t n)
{
	struct export *export = pass->arg;
	struct transfer *transfer = pass->transfer;
	struct pool *pool = transfer->registry->pool;
	struct uuid *uids = POOL_ARRAY(pool, struct uuid, n);
	struct consumer_record *ours;
	size_t n_ours;

	for (size_t i = 0; i < n; i++)
		uids[i] = list[i].consumer.uid;
	if (!transfer_done(transfer, consumer_records_read(transfer->registry, uids, n, &ours, &n_ours)))
		return false;
	for (size_t i = 0; i < n; i++) {
		const struct consumer_record *in_registry = consumer_record_find(ours, n_ours, &list[i].consumer.uid);
		const struct facts theirs = facts_of_consumer(pool, &list[i]);
		const struct facts wanted = in_registry != NULL ? facts_of_consumer(pool, in_registry) : (struct facts){ .n = 0 };
		bool equal = in_registry != NULL && facts_equal(&theirs, &wanted);

		// A consumer without allocations is in no answer of the service, so it may stay. The digest leaves it out, as
		// that of an import does, even if the registry has such a consumer by now: it describes Placement's database
		// alone.
		if (list[i].n_allocations > 0)
			facts_add(pool, &theirs, export->digest.consumers);
		else if (in_registry == NULL)
			continue;
		export->equal.consumers += equal;
		export->to_remove.consumers += !equal;
		if (!equal && export->reports_differences) {
			struct str difference = in_registry != NULL ? facts_difference(pool, &theirs, &wanted) : STR("not here");
			transfer_problem(transfer, "consumer %.*s: %.*s", UUID_ARG(pool, list[i].consumer.uid),
				STR_ARG(difference));
		}
		if (equal || !export->removes)
			continue;
		struct str difference = in_registry != NULL ? facts_difference(pool, &theirs, &wanted) : STR("taken away");
		transfer_list(transfer, "consumer %.*s: %.*s", UUID_ARG(pool, list[i].consumer.uid), STR_ARG(difference));
		struct db_call calls[] = {
			sql_placement_allocations_delete_call(pool, &(struct sql_placement_allocations_delete){ row_ids[i] }),
			sql_placement_consumer_delete_call(pool, &(struct sql_placement_consumer_delete){ row_ids[i] }),
		};
		if (!transfer_ok(db_run_batch(transfer->foreign, pool, calls, COUNT_OF(calls))))
			return false;
	}
	return true;
}

// One pass over Placement's database. seen: may be NULL.
static bool compare(struct export *export, bool removes, bool reports_differences, const char *label, struct transfer_counts *seen)
{
	struct source_pass pass = { .transfer = export->transfer, .providers = compare_providers,
		.consumers = compare_consumers, .arg = export, .exports = true };

	export->removes = removes;
	export->reports_differences = reports_differences;
	export->equal = export->to_remove = (struct transfer_counts){ .providers = 0 };
	export->digest = (struct transfer_digest){ .providers = { 0 } };
	bool good = source_run(&pass, label);
	if (seen != NULL)
		*seen = pass.counts;
	return good;
}

// ---- may it be written?

// A consumer's allocations of a provider whose tenant is deleted are in the answers about the consumer, and the provider is in
// none, so Placement's database could not hold them.
static bool check_hidden(struct export *export)
{
	struct transfer *transfer = export->transfer;
	struct registry *registry = transfer->registry;
	const struct sql_transfer_hidden_in_use in = { .type_id = provider_type(registry)->id, .now = clock_now_us() };
	struct db_rows rows;
	enum db_result result = sql_transfer_hidden_in_use_run(registry->db, registry->pool, &in, &rows);

	if (result != DB_OK)
		return transfer_done(transfer, registry_db_failed(result));
	for (size_t i = 0; i < rows.n; i++) {
		const struct sql_transfer_hidden_in_use_row *row = sql_transfer_hidden_in_use_row(&rows, i);
		struct uuid uid;

		uuid_from_bytes(row->uid, &uid);
		transfer_problem(transfer, "provider %.*s has allocations, and its tenant %.*s is %s", UUID_ARG(registry->pool, uid), STR_ARG(row->tenant),
			row->is_purged != 0 ? "purged: `tenure-manage reap` removes it" : "deleted: recover that");
	}
	return rows.n == 0 || transfer_fail(transfer, EX_DATAERR, "%zu problem%s; nothing was written", rows.n, rows.n == 1 ? "" : "s");
}

static bool may_write(struct export *export)
{
	struct transfer *transfer = export->transfer;
	struct transfer_counts total;
	bool known;

	if (!source_count(transfer, &total) || !source_check_faults(transfer) ||
		!compare(export, false, false, "comparing", NULL) ||
		!transfer_recall(transfer, &export->digest, &export->found_is_known, &known))
		return false;
	export->found = export->digest;
	if (transfer->problems > 0)
		return transfer_fail(transfer, EX_DATAERR, "%llu problem%s in Placement's database; nothing was written",
			(unsigned long long)transfer->problems, transfer->problems == 1 ? "" : "s");
	export->nothing_to_do = export->to_remove.providers == 0 && export->to_remove.consumers == 0 &&
				export->equal.providers == export->in_registry.providers && export->equal.consumers == export->in_registry.consumers;
	if (export->nothing_to_do || export->found_is_known || (total.providers == 0 && total.consumers == 0))
		return true;
	return transfer_fail(transfer, EX_DATAERR,
		"Placement's database, which holds %llu provider%s and %llu consumer%s, %s: nothing was written. Export into an empty "
		"database, or import it into an empty registry", COUNT_ARG(total.providers), COUNT_ARG(total.consumers),
		known ? "was changed since it was imported or exported to" : "was not imported");
}

// ---- names and ids

// Inserts the custom names of the registry that Placement lacks. Those that only Placement has stay: its clients may have made
// them since the last import or export, which does not count as a change there, and no provider has them any more.
static bool insert_names(struct transfer *transfer, enum sql_placement_names_of which, const struct name_set *ours,
	const struct name_set *theirs, bool (*is_custom)(struct str name))
{
	for (size_t i = 0; i < ours->n; i++) {
		const struct sql_placement_name_insert in = { .name = ours->names[i].text };

		if (is_custom(in.name) && !name_set_has(theirs, in.name) &&
			!transfer_ok(sql_placement_name_insert_run(transfer->foreign, transfer->registry->pool, which, &in, NULL)))
			return false;
	}
	return true;
}

// ---- pages of ours

// One kind of the registry's records, which a pass reads page by page in the order of their uids.
struct record_pass {
	// Reads the uids of at most TRANSFER_BATCH records, the first of those from that uid on. OUTCOME_OK, or that of a failed
	// statement.
	enum outcome (*find)(struct registry *registry, struct uuid from, struct uuid **uids, size_t *n);
	// Reads these records and writes them. False: the transfer's code says why.
	bool (*write)(struct export *export, const struct uuid *uids, size_t n);
};

static enum outcome find_providers(struct registry *registry, struct uuid from, struct uuid **uids, size_t *n)
{
	const struct sql_transfer_provider_page in = {
		.from = uuid_bytes(&from), .type_id = provider_type(registry)->id, .limit = TRANSFER_BATCH
	};
	struct db_rows rows;
	enum db_result result = sql_transfer_provider_page_run(registry->db, registry->pool, &in, &rows);

	if (result != DB_OK)
		return registry_db_failed(result);
	*n = rows.n;
	*uids = POOL_ARRAY(registry->pool, struct uuid, rows.n);
	for (size_t i = 0; i < rows.n; i++)
		uuid_from_bytes(sql_transfer_provider_page_row(&rows, i)->uid, &(*uids)[i]);
	return OUTCOME_OK;
}

static enum outcome find_consumers(struct registry *registry, struct uuid from, struct uuid **uids, size_t *n)
{
	const struct sql_transfer_consumer_page in = { .from = uuid_bytes(&from), .limit = TRANSFER_BATCH };
	struct db_rows rows;
	enum db_result result = sql_transfer_consumer_page_run(registry->db, registry->pool, &in, &rows);

	if (result != DB_OK)
		return registry_db_failed(result);
	*n = rows.n;
	*uids = POOL_ARRAY(registry->pool, struct uuid, rows.n);
	for (size_t i = 0; i < rows.n; i++)
		uuid_from_bytes(sql_transfer_consumer_page_row(&rows, i)->uid, &(*uids)[i]);
	return OUTCOME_OK;
}

static bool write_providers(struct export *export, const struct uuid *uids, size_t n)
{
	struct provider_record *list;

	return transfer_done(export->transfer, provider_records_read(export->transfer->registry, uids, n, &list, &n)) &&
	       export_write_providers(export, list, n);
}

static bool plant_providers(struct export *export, const struct uuid *uids, size_t n)
{
	struct provider_record *list;

	return transfer_done(export->transfer, provider_records_read(export->transfer->registry, uids, n, &list, &n)) &&
	       export_plant_providers(export, list, n);
}

static bool write_consumers(struct export *export, const struct uuid *uids, size_t n)
{
	struct consumer_record *list;

	return transfer_done(export->transfer, consumer_records_read(export->transfer->registry, uids, n, &list, &n)) &&
	       export_write_consumers(export, list, n);
}

// Makes it the next one in their order. False: it was the last one.
static bool next_uid(struct uuid *uid)
{
	for (size_t i = sizeof(uid->b); i-- > 0;) {
		if (++uid->b[i] != 0)
			return true;
	}
	return false;
}

static bool write_pages(struct export *export, struct record_pass pass)
{
	struct transfer *transfer = export->transfer;
	struct pool *pool = transfer->registry->pool;
	struct uuid from = { { 0 } };
	bool more;

	do {
		struct pool_mark mark = pool_mark(pool);
		struct uuid *uids;
		size_t n;

		if (!transfer_done(transfer, pass.find(transfer->registry, from, &uids, &n)) ||
			(n > 0 && !pass.write(export, uids, n)))
			return false;
		if (n > 0)
			from = uids[n - 1];
		more = n == TRANSFER_BATCH && next_uid(&from);
		transfer_advance(transfer, n);
		pool_rewind(pool, mark);
	} while (more);
	return true;
}

// ---- the transaction

static bool write_all(struct export *export)
{
	struct transfer *transfer = export->transfer;
	struct db *db = transfer->foreign;
	struct pool *pool = transfer->registry->pool;

	if (!source_read_names(transfer, &export->classes, &export->traits) ||
		!compare(export, true, false, "taking away", NULL) ||
		!transfer_ok(sql_placement_stripped_delete_run(db, pool, NULL)) ||
		!insert_names(transfer, SQL_PLACEMENT_NAMES_OF_CLASSES, &transfer->classes, &export->classes,
			resource_class_is_custom) ||
		!insert_names(transfer, SQL_PLACEMENT_NAMES_OF_TRAITS, &transfer->traits, &export->traits, trait_is_custom) ||
		!source_read_names(transfer, &export->classes, &export->traits))
		return false;
	transfer_begin(transfer, "writing", 2 * export->in_registry.providers + export->in_registry.consumers);
	bool good = write_pages(export, (struct record_pass){ find_providers, write_providers }) &&
		write_pages(export, (struct record_pass){ find_providers, plant_providers }) &&
		write_pages(export, (struct record_pass){ find_consumers, write_consumers });
	transfer_end(transfer);
	if (good && transfer->problems > 0)
		return transfer_fail(transfer, EX_DATAERR, "%llu problem%s; nothing was written",
			(unsigned long long)transfer->problems, transfer->problems == 1 ? "" : "s");
	return good;
}

// Compares what the transaction has written with the registry.
static bool verify(struct export *export)
{
	struct transfer *transfer = export->transfer;
	struct transfer_counts total, seen;

	if (!compare(export, false, true, "verifying", &seen) || !source_count(transfer, &total))
		return false;
	if (transfer->problems == 0 && export->equal.providers == export->in_registry.providers &&
		export->equal.consumers == export->in_registry.consumers && source_saw_everything(&total, &seen))
		return true;
	return transfer_fail(transfer, EX_SOFTWARE,
		"what was written is not what the registry holds (%llu of %llu providers, %llu of %llu consumers): nothing was "
		"committed", (unsigned long long)export->equal.providers, (unsigned long long)export->in_registry.providers,
		(unsigned long long)export->equal.consumers, (unsigned long long)export->in_registry.consumers);
}

// Remembers what Placement's database will hold after COMMIT, unless this is a dry run. It is done before COMMIT because nothing
// behind COMMIT is certain to happen: the process may be killed, or the answer lost. What the database holds until then is
// remembered as the newest but one, so it is never pushed out, however many exports fail to commit.
static bool remember(struct export *export)
{
	struct transfer *transfer = export->transfer;

	if (transfer->dry_run)
		return true;
	return (!export->found_is_known || transfer_remember(transfer, &export->found)) && transfer_remember(transfer, &export->digest);
}

static enum db_verdict write_foreign(void *arg)
{
	struct export *export = arg;
	struct transfer *transfer = export->transfer;

	transfer->problems = 0;
	export->written = (struct transfer_counts){ .providers = 0 };
	export->complete = false;
	if (!check_hidden(export) || !may_write(export))
		return DB_ROLLBACK;
	export->complete = (export->nothing_to_do || (write_all(export) && verify(export))) && remember(export);
	return export->complete && !export->nothing_to_do && !transfer->dry_run ? DB_COMMIT : DB_ROLLBACK;
}

static bool count_ours(struct export *export)
{
	struct registry *registry = export->transfer->registry;
	const struct sql_transfer_counts in = { .type_id = provider_type(registry)->id };
	struct db_rows rows;
	enum db_result result = sql_transfer_counts_run(registry->db, registry->pool, &in, &rows);

	if (result != DB_OK)
		return transfer_done(export->transfer, registry_db_failed(result));
	export->in_registry = (struct transfer_counts){ .providers = sql_transfer_counts_row(&rows, 0)->providers,
		.consumers = sql_transfer_counts_row(&rows, 0)->consumers };
	return true;
}

static enum db_verdict run_export(void *arg)
{
	struct export *export = arg;
	struct transfer *transfer = export->transfer;

	export->result = DB_OK;
	export->complete = false;
	transfer->away = false;
	if (count_ours(export) && transfer_read_names(transfer))
		export->result = db_txn_run(transfer->foreign, DB_WRITE, NULL, write_foreign, export);
	return DB_ROLLBACK; // of a transaction that only reads
}

static void print_result(const struct export *export)
{
	const struct transfer *transfer = export->transfer;

	if (export->nothing_to_do) {
		printf("nothing to do: Placement's database holds the same %llu providers and %llu consumers\n",
			(unsigned long long)export->in_registry.providers, (unsigned long long)export->in_registry.consumers);
		return;
	}
	printf("%s: %llu providers and %llu consumers; as they were: %llu providers, %llu consumers\n",
		transfer->dry_run ? "would write" : "written", (unsigned long long)export->written.providers,
		(unsigned long long)export->written.consumers,
		(unsigned long long)(export->in_registry.providers - export->written.providers),
		(unsigned long long)(export->in_registry.consumers - export->written.consumers));
	if (!transfer->dry_run)
		printf("verified: all of it, before it was committed\n");
}

int export_run(struct transfer *transfer)
{
	struct export export = { .transfer = transfer };
	struct registry *registry = transfer->registry;

	transfer->in_snapshot = true;
	enum db_result result = db_txn_run(registry->db, DB_SNAPSHOT, NULL, run_export, &export);
	transfer->in_snapshot = false;
	if (result != DB_OK)
		(void)transfer_done(transfer, registry_db_failed(result));
	else if (transfer->away)
		(void)transfer_done(transfer, OUTCOME_UNAVAILABLE);
	else if (export.result != DB_OK && db_txn_uncertain(transfer->foreign))
		(void)transfer_fail(transfer, EX_TEMPFAIL,
			"the connection to Placement's database was lost during COMMIT: run this again, which finds out");
	else if (export.result != DB_OK)
		(void)transfer_lost(transfer, export.result);
	else if (!export.complete) // printed already, unless a row was refused: that ends no transaction
		(void)transfer_fail(transfer, EX_DATAERR, "Placement's database refuses a row: %s; nothing was written",
			db_error(transfer->foreign));
	if (transfer->code == EX_OK)
		print_result(&export);
	return transfer->code;
}

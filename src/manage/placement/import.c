// SPDX-License-Identifier: Apache-2.0
// Three passes over one snapshot of Placement's database: check, import, verify.
#include "base/base.h"

#include "manage/placement/import.h"

#include "base/buf.h"
#include "base/clock.h"
#include "base/pool.h"
#include "db/db.h"
#include "db/list.h"
#include "manage/core/manage.h"
#include "manage/placement/answers.h"
#include "manage/placement/facts.h"
#include "manage/placement/source.h"
#include "registry/core/failure.h"
#include "registry/placement/resource_class.h"
#include "registry/trait/catalogue.h"
#include "repr/json/doc.h"
#include "sql/placement_db.h"
#include "sql/transfer.h"

enum { SAMPLE = 50 /* providers, and consumers, whose answers are compared */, NAMES_AT_ONCE = 100 };

struct import {
	struct transfer *transfer;
	struct transfer_counts in_tables;   // rows of Placement's tables
	struct transfer_counts seen;        // by the last pass
	struct transfer_counts in_registry; // providers and consumers that the registry had when this run began
	struct transfer_counts to_import;   // those that it lacked then
	struct provider_owner *owners; // the tenants that get providers
	size_t n_owners, owners_room;
	struct name_set classes, traits; // custom ones that the registry lacks
	struct created {
		uint64_t classes, traits, providers, consumers;
	} created, created_before; // by this run of the transaction, and by earlier ones, whose connection was lost
	unsigned runs;
	struct transfer_digest digest;
	uint64_t sampled, n_providers, n_consumers; // of the verification
	bool registry_has_no_others; // the registry has no consumers but those of Placement
};

// ---- reading ours

static struct uuid *uids_of_providers(struct pool *pool, const struct provider_record *list, size_t n)
{
	struct uuid *uids = POOL_ARRAY(pool, struct uuid, n);

	for (size_t i = 0; i < n; i++)
		uids[i] = list[i].uid;
	return uids;
}

static struct uuid *uids_of_consumers(struct pool *pool, const struct consumer_record *list, size_t n)
{
	struct uuid *uids = POOL_ARRAY(pool, struct uuid, n);

	for (size_t i = 0; i < n; i++)
		uids[i] = list[i].consumer.uid;
	return uids;
}

static bool read_providers(struct transfer *transfer, const struct provider_record *list, size_t n, struct provider_record **ours,
	size_t *n_ours)
{
	struct registry *registry = transfer->registry;

	return transfer_done(transfer,
		provider_records_read(registry, uids_of_providers(registry->pool, list, n), n, ours, n_ours));
}

static bool read_consumers(struct transfer *transfer, const struct consumer_record *list, size_t n, struct consumer_record **ours,
	size_t *n_ours)
{
	struct registry *registry = transfer->registry;

	return transfer_done(transfer,
		consumer_records_read(registry, uids_of_consumers(registry->pool, list, n), n, ours, n_ours));
}

// Reports the difference of a record in Placement and the registry's record of the same UUID. True: there is none.
static bool same_provider(struct transfer *transfer, const struct provider_record *in_placement, const struct provider_record *in_registry,
	enum facts_usage usage)
{
	struct pool *pool = transfer->registry->pool;
	const struct facts a = facts_of_provider(pool, in_placement, usage), b = facts_of_provider(pool, in_registry, usage);

	if (facts_equal(&a, &b))
		return true;
	struct str difference = facts_difference(pool, &a, &b);
	transfer_problem(transfer, "provider %.*s is another one here: %.*s", UUID_ARG(pool, in_placement->uid), STR_ARG(difference));
	return false;
}

// The same of a consumer.
static bool same_consumer(struct transfer *transfer, const struct consumer_record *in_placement, const struct consumer_record *in_registry)
{
	struct pool *pool = transfer->registry->pool;
	const struct facts a = facts_of_consumer(pool, in_placement), b = facts_of_consumer(pool, in_registry);

	if (facts_equal(&a, &b))
		return true;
	struct str difference = facts_difference(pool, &a, &b);
	transfer_problem(transfer, "consumer %.*s is another one here: %.*s", UUID_ARG(pool, in_placement->consumer.uid),
		STR_ARG(difference));
	return false;
}

// ---- the first pass: check

static bool check_names_of_missing(struct transfer *transfer, const struct provider_record *missing, size_t n)
{
	struct registry *registry = transfer->registry;
	struct db_list list = db_list_new(registry->pool, 64 * n);
	struct db_rows rows;

	for (size_t i = 0; i < n; i++)
		json_add_string(db_list_item(&list), missing[i].name);
	const struct sql_transfer_names_taken in = { .names = db_list_end(&list), .type_id = provider_type(registry)->id };
	enum db_result result = sql_transfer_names_taken_run(registry->db, registry->pool, &in, &rows);
	if (result != DB_OK)
		return transfer_done(transfer, registry_db_failed(result));
	for (size_t i = 0; i < rows.n; i++) {
		const struct sql_transfer_names_taken_row *row = sql_transfer_names_taken_row(&rows, i);
		struct uuid uid;

		uuid_from_bytes(row->uid, &uid);
		for (size_t k = 0; k < n; k++) {
			if (str_eq(missing[k].name, row->name))
				transfer_problem(transfer, "provider %.*s has the name \"%.*s\", which provider %.*s has here",
					UUID_ARG(registry->pool, missing[k].uid), STR_ARG(row->name), UUID_ARG(registry->pool, uid));
		}
	}
	return true;
}

// Removes from the list the providers that the registry has in a deleted tenant, and reports them.
static bool check_hidden(struct transfer *transfer, struct provider_record *missing, size_t *n)
{
	struct registry *registry = transfer->registry;
	struct db_list uids = db_list_new(registry->pool, 40 * *n);
	struct db_rows rows;
	size_t kept = 0;

	for (size_t i = 0; i < *n; i++)
		db_list_add_uuid(&uids, &missing[i].uid);
	const struct sql_transfer_hidden in = { .uids = db_list_end(&uids), .type_id = provider_type(registry)->id,
		.now = clock_now_us() };
	enum db_result result = sql_transfer_hidden_run(registry->db, registry->pool, &in, &rows);
	if (result != DB_OK)
		return transfer_done(transfer, registry_db_failed(result));
	for (size_t i = 0; i < *n; i++) {
		const struct sql_transfer_hidden_row *hidden = NULL;

		for (size_t k = 0; k < rows.n && hidden == NULL; k++) {
			const struct sql_transfer_hidden_row *row = sql_transfer_hidden_row(&rows, k);
			hidden = str_eq(row->uid, uuid_bytes(&missing[i].uid)) ? row : NULL;
		}
		if (hidden != NULL)
			transfer_problem(transfer, "provider %.*s is here, and its tenant %.*s is %s",
				UUID_ARG(registry->pool, missing[i].uid), STR_ARG(hidden->tenant), hidden->is_purged != 0 ?
				"purged: `tenure-manage reap` removes it" : "deleted: recover that, or wait until it is purged");
		else
			missing[kept++] = missing[i];
	}
	*n = kept;
	return true;
}

static void add_owner(struct import *import, const struct provider_owner *owner)
{
	struct pool *pool = import->transfer->pool;
	size_t at = 0;

	while (at < import->n_owners && import->owners[at].id != owner->id)
		at++;
	if (at == import->owners_room) {
		struct provider_owner *old = import->owners;

		import->owners_room = 2 * at + 8;
		import->owners = POOL_ARRAY(pool, struct provider_owner, import->owners_room);
		if (at > 0)
			memcpy(import->owners, old, at * sizeof(*old));
	}
	if (at == import->n_owners)
		import->owners[import->n_owners++] = (struct provider_owner){ .id = owner->id, .name = str_dup(pool, owner->name) };
	import->owners[at].n += owner->n;
}

static bool count_owners_of_missing(struct import *import, const struct provider_record *missing, size_t n)
{
	struct provider_owner *owners;
	size_t n_owners;

	if (!transfer_done(import->transfer, provider_records_owners(import->transfer->registry, missing, n, &owners, &n_owners)))
		return false;
	for (size_t i = 0; i < n_owners; i++)
		add_owner(import, &owners[i]);
	return true;
}

static bool check_providers(struct source_pass *pass, const struct provider_record *list, const int64_t *row_ids, size_t n)
{
	struct import *import = pass->arg;
	struct transfer *transfer = pass->transfer;
	struct provider_record *ours;
	size_t n_ours, n_missing = 0;

	UNUSED(row_ids);
	if (!read_providers(transfer, list, n, &ours, &n_ours))
		return false;
	struct provider_record *missing = POOL_ARRAY(transfer->registry->pool, struct provider_record, n);
	for (size_t i = 0; i < n; i++) {
		const struct provider_record *in_registry = provider_record_find(ours, n_ours, &list[i].uid);

		if (in_registry == NULL)
			missing[n_missing++] = list[i];
		else if (same_provider(transfer, &list[i], in_registry, FACTS_WITHOUT_USAGE))
			import->in_registry.providers++;
	}
	if (n_missing > 0 && !check_hidden(transfer, missing, &n_missing))
		return false;
	import->to_import.providers += n_missing;
	return n_missing == 0 || (check_names_of_missing(transfer, missing, n_missing) && count_owners_of_missing(import, missing, n_missing));
}

static bool check_consumers(struct source_pass *pass, const struct consumer_record *list, const int64_t *row_ids, size_t n)
{
	struct import *import = pass->arg;
	struct transfer *transfer = pass->transfer;
	struct consumer_record *ours;
	size_t n_ours;

	UNUSED(row_ids);
	if (!read_consumers(transfer, list, n, &ours, &n_ours))
		return false;
	for (size_t i = 0; i < n; i++) {
		const struct consumer_record *in_registry = consumer_record_find(ours, n_ours, &list[i].consumer.uid);

		if (in_registry == NULL && list[i].n_allocations > 0)
			import->to_import.consumers++;
		else if (in_registry != NULL && same_consumer(transfer, &list[i], in_registry))
			import->in_registry.consumers++;
	}
	return true;
}

// Sets *missing to the custom names of Placement that the registry lacks.
static void select_custom(struct transfer *transfer, const struct name_set *in_placement, const struct name_set *in_registry,
	bool (*is_custom)(struct str name), struct name_set *missing)
{
	*missing = (struct name_set){ .n = 0 };
	for (size_t i = 0; i < in_placement->n; i++) {
		const struct name *name = &in_placement->names[i];

		if (is_custom(name->text) && !name_set_has(in_registry, name->text))
			name_set_add(transfer->pool, missing, name->text, name->id);
	}
}

// Have the tiers of the tenants room for the providers that they get?
static bool check_tiers(struct import *import)
{
	struct transfer *transfer = import->transfer;
	struct registry *registry = transfer->registry;

	for (size_t i = 0; i < import->n_owners; i++) {
		const struct provider_owner *owner = &import->owners[i];
		struct db_rows rows;
		enum db_result result = sql_transfer_tenant_run(registry->db, registry->pool, &(struct sql_transfer_tenant){ .name = owner->name }, &rows);

		if (result != DB_OK)
			return transfer_done(transfer, registry_db_failed(result));
		const struct sql_transfer_tenant_row *row = rows.n == 1 ? sql_transfer_tenant_row(&rows, 0) : NULL;
		if (row != NULL && !row->max_resources_is_null && row->resources + owner->n > row->max_resources)
			transfer_problem(transfer, "tenant %.*s has %llu resources, and its tier \"%.*s\" allows %llu, so there is no room for %llu provider%s: "
				"`tenure-manage tier set %.*s --max-resources N` allows more", STR_ARG(owner->name), (unsigned long long)row->resources,
				STR_ARG(row->tier), (unsigned long long)row->max_resources, COUNT_ARG(owner->n), STR_ARG(row->tier));
	}
	return true;
}

// Has the pass seen as many rows as the tables have? If not, some rows belong to no provider or consumer, and were reported.
static bool saw_everything(const struct import *import)
{
	return source_saw_everything(&import->in_tables, &import->seen);
}

static bool check(struct import *import)
{
	struct transfer *transfer = import->transfer;
	struct source_pass pass = { .transfer = transfer, .providers = check_providers, .consumers = check_consumers,
		.arg = import, .notes_idle = true };
	struct name_set classes, traits;

	if (!transfer_read_names(transfer) || !source_read_names(transfer, &classes, &traits) ||
		!source_count(transfer, &import->in_tables) || !source_check_faults(transfer))
		return false;
	select_custom(transfer, &classes, &transfer->classes, resource_class_is_custom, &import->classes);
	select_custom(transfer, &traits, &transfer->traits, trait_is_custom, &import->traits);
	if (!source_run(&pass, "checking"))
		return false;
	if (!check_tiers(import))
		return false;
	import->seen = pass.counts;
	if (transfer->problems == 0 && !saw_everything(import))
		transfer_problem(transfer, "Placement's tables hold other rows than those that belong together");
	if (transfer->problems > 0)
		return transfer_fail(transfer, EX_DATAERR, "%llu problem%s; nothing was imported",
			(unsigned long long)transfer->problems, transfer->problems == 1 ? "" : "s");
	return true;
}

// ---- the second pass: import

enum name_kind { NAMES_OF_CLASSES, NAMES_OF_TRAITS };

struct names_part {
	const struct name *names;
	size_t n;
	enum name_kind kind;
};

static enum outcome make_names(struct registry *registry, void *arg)
{
	const struct names_part *part = arg;
	enum outcome outcome = OUTCOME_OK;

	for (size_t i = 0; i < part->n && outcome_commits(outcome); i++) {
		struct resource_class class;

		outcome = part->kind == NAMES_OF_TRAITS ? trait_put(registry, part->names[i].text)
							: resource_class_put(registry, part->names[i].text, &class);
	}
	return outcome;
}

static bool make_all_names(struct transfer *transfer, const struct name_set *set, enum name_kind kind, uint64_t *n_created)
{
	for (size_t done = 0; done < set->n; done += NAMES_AT_ONCE) {
		size_t n = set->n - done < NAMES_AT_ONCE ? set->n - done : NAMES_AT_ONCE;
		struct names_part part = { set->names + done, n, kind };

		if (!transfer_write(transfer, make_names, &part))
			return false;
		*n_created += n;
	}
	return true;
}

// A batch of records, of which those that the registry lacks are created. Another import may have created some of them since the
// last run of the transaction, so each run looks for itself.
struct provider_part {
	const struct provider_record *list;
	size_t n, n_created;
};
struct consumer_part {
	const struct consumer_record *list;
	size_t n, n_created;
};

static enum outcome create_providers(struct registry *registry, void *arg)
{
	struct provider_part *part = arg;
	struct provider_record *missing = POOL_ARRAY(registry->pool, struct provider_record, part->n), *ours;
	size_t n_ours;
	enum outcome outcome = provider_records_read(registry, uids_of_providers(registry->pool, part->list, part->n), part->n, &ours, &n_ours);

	part->n_created = 0;
	for (size_t i = 0; outcome == OUTCOME_OK && i < part->n; i++) {
		if (provider_record_find(ours, n_ours, &part->list[i].uid) == NULL)
			missing[part->n_created++] = part->list[i];
	}
	return outcome == OUTCOME_OK && part->n_created > 0 ? provider_records_create(registry, missing, part->n_created) : outcome;
}

static enum outcome create_consumers(struct registry *registry, void *arg)
{
	struct consumer_part *part = arg;
	struct consumer_record *missing = POOL_ARRAY(registry->pool, struct consumer_record, part->n), *ours;
	size_t n_ours;
	enum outcome outcome = consumer_records_read(registry, uids_of_consumers(registry->pool, part->list, part->n), part->n, &ours, &n_ours);

	part->n_created = 0;
	for (size_t i = 0; outcome == OUTCOME_OK && i < part->n; i++) {
		if (part->list[i].n_allocations > 0 && consumer_record_find(ours, n_ours, &part->list[i].consumer.uid) == NULL)
			missing[part->n_created++] = part->list[i];
	}
	return outcome == OUTCOME_OK && part->n_created > 0 ? consumer_records_create(registry, missing, part->n_created) : outcome;
}

static bool load_providers(struct source_pass *pass, const struct provider_record *list, const int64_t *row_ids, size_t n)
{
	struct import *import = pass->arg;
	struct provider_part part = { .list = list, .n = n };

	UNUSED(row_ids);
	if (!transfer_write(pass->transfer, create_providers, &part))
		return false;
	import->created.providers += part.n_created;
	return true;
}

static bool load_consumers(struct source_pass *pass, const struct consumer_record *list, const int64_t *row_ids, size_t n)
{
	struct import *import = pass->arg;
	struct consumer_part part = { .list = list, .n = n };

	UNUSED(row_ids);
	if (!transfer_write(pass->transfer, create_consumers, &part))
		return false;
	import->created.consumers += part.n_created;
	return true;
}

static bool load(struct import *import)
{
	struct transfer *transfer = import->transfer;
	struct source_pass pass = { .transfer = transfer, .providers = load_providers, .consumers = load_consumers, .arg = import };

	return make_all_names(transfer, &import->classes, NAMES_OF_CLASSES, &import->created.classes) &&
	       make_all_names(transfer, &import->traits, NAMES_OF_TRAITS, &import->created.traits) && source_run(&pass, "importing");
}

// ---- the third pass: verify

// Is it the turn of the i-th of n for the sample?
static bool is_sampled(uint64_t i, uint64_t n)
{
	return n <= SAMPLE || i % (n / SAMPLE) == 0;
}

static bool verify_providers(struct source_pass *pass, const struct provider_record *list, const int64_t *row_ids, size_t n)
{
	struct import *import = pass->arg;
	struct transfer *transfer = pass->transfer;
	struct registry *registry = transfer->registry;
	struct provider_record *ours, answered;
	size_t n_ours;

	UNUSED(row_ids);
	if (!read_providers(transfer, list, n, &ours, &n_ours))
		return false;
	for (size_t i = 0; i < n; i++) {
		const struct provider_record *in_registry = provider_record_find(ours, n_ours, &list[i].uid);

		if (in_registry == NULL)
			transfer_problem(transfer, "provider %.*s is missing", UUID_ARG(registry->pool, list[i].uid));
		else if (same_provider(transfer, &list[i], in_registry, FACTS_WITH_USAGE)) {
			const struct facts facts = facts_of_provider(registry->pool, in_registry, FACTS_WITHOUT_USAGE);
			facts_add(registry->pool, &facts, import->digest.providers);
		}
		if (in_registry == NULL || !is_sampled(import->n_providers++, import->in_tables.providers))
			continue;
		if (!transfer_done(transfer, answers_of_provider(registry, transfer->pool, &list[i].uid, &answered)))
			return false;
		(void)same_provider(transfer, &list[i], &answered, FACTS_WITH_USAGE);
		import->sampled++;
	}
	return true;
}

// What a project uses in Placement, compared with what it uses in the registry, class by class.
struct project_usages {
	const struct db_rows *in_placement;
	size_t n_in_registry, n_equal;
};

static void compare_usage(void *arg, const struct usage *usage, struct pool *pool)
{
	struct project_usages *usages = arg;

	UNUSED(pool);
	usages->n_in_registry++;
	for (size_t i = 0; i < usages->in_placement->n; i++) {
		const struct sql_placement_usages_row *row = sql_placement_usages_row(usages->in_placement, i);
		uint64_t used;

		usages->n_equal += str_eq(row->class, usage->class) && str_to_u64(row->used, &used) && used == usage->used;
	}
}

// Compares the usages of a project, unless the registry has consumers that Placement has not, which would count too.
static bool verify_project(struct import *import, struct str project)
{
	struct transfer *transfer = import->transfer;
	struct registry *registry = transfer->registry;
	const struct sql_placement_usages in = { .project = project };
	const struct usage_query query = { .project = project };
	struct db_rows rows;
	struct project_usages usages = { .in_placement = &rows };
	const struct usage_taker taker = { compare_usage, &usages };

	if (!import->registry_has_no_others)
		return true;
	if (sql_placement_usages_run(transfer->foreign, registry->pool, &in, &rows) != DB_OK)
		return false;
	if (!transfer_done(transfer, usages_total(registry, &query, &taker)))
		return false;
	if (usages.n_equal != rows.n || usages.n_in_registry != rows.n)
		transfer_problem(transfer, "the usages of project %.*s are others here", STR_ARG(project));
	return true;
}

static bool verify_consumers(struct source_pass *pass, const struct consumer_record *list, const int64_t *row_ids, size_t n)
{
	struct import *import = pass->arg;
	struct transfer *transfer = pass->transfer;
	struct registry *registry = transfer->registry;
	struct consumer_record *ours, answered;
	size_t n_ours;
	bool lists;

	UNUSED(row_ids);
	if (!read_consumers(transfer, list, n, &ours, &n_ours))
		return false;
	for (size_t i = 0; i < n; i++) {
		const struct consumer_record *in_registry = consumer_record_find(ours, n_ours, &list[i].consumer.uid);

		if (list[i].n_allocations == 0)
			continue;
		if (in_registry == NULL)
			transfer_problem(transfer, "consumer %.*s is missing", UUID_ARG(registry->pool, list[i].consumer.uid));
		else if (same_consumer(transfer, &list[i], in_registry)) {
			const struct facts facts = facts_of_consumer(registry->pool, in_registry);
			facts_add(registry->pool, &facts, import->digest.consumers);
		}
		if (in_registry == NULL || !is_sampled(import->n_consumers++, import->in_tables.consumers - import->seen.idle))
			continue;
		if (!transfer_done(transfer, answers_of_consumer(registry, transfer->pool, &list[i].consumer.uid, &answered)) ||
			!transfer_done(transfer, answers_agree(registry, &list[i], &lists)) ||
			!verify_project(import, list[i].consumer.project))
			return false;
		(void)same_consumer(transfer, &list[i], &answered);
		if (!lists)
			transfer_problem(transfer, "the providers of consumer %.*s list other allocations of it",
				UUID_ARG(registry->pool, list[i].consumer.uid));
		import->sampled++;
	}
	return true;
}

static bool count_ours(struct transfer *transfer, struct transfer_counts *counts)
{
	struct registry *registry = transfer->registry;
	struct pool_mark mark = pool_mark(registry->pool);
	struct db_rows rows;
	const struct sql_transfer_counts in = { .type_id = provider_type(registry)->id };
	enum db_result result = sql_transfer_counts_run(registry->db, registry->pool, &in, &rows);

	if (result != DB_OK)
		return transfer_done(transfer, registry_db_failed(result));
	*counts = (struct transfer_counts){ .providers = sql_transfer_counts_row(&rows, 0)->providers,
		.consumers = sql_transfer_counts_row(&rows, 0)->consumers };
	pool_rewind(registry->pool, mark);
	return true;
}

static bool verify(struct import *import)
{
	struct transfer *transfer = import->transfer;
	struct source_pass pass = { .transfer = transfer, .providers = verify_providers, .consumers = verify_consumers,
		.arg = import };
	struct transfer_counts ours = { .consumers = 0 };

	if (!count_ours(transfer, &ours))
		return false;
	import->registry_has_no_others = ours.consumers == import->in_tables.consumers - import->seen.idle;
	if (!source_run(&pass, "verifying"))
		return false;
	import->seen = pass.counts;
	if (!saw_everything(import))
		transfer_problem(transfer, "Placement's tables hold other rows than those that belong together");
	if (transfer->problems > 0)
		return transfer_fail(transfer, EX_DATAERR, "%llu difference%s after the import: if a client wrote here meanwhile, stop it, "
			"delete here what is named above, and run this again",
			(unsigned long long)transfer->problems, transfer->problems == 1 ? "" : "s");
	return true;
}

// ---- all of it

static enum db_verdict run_import(void *arg)
{
	struct import *import = arg;
	struct transfer *transfer = import->transfer;
	const struct created *created = &import->created, *before = &import->created_before;

	*import = (struct import){
		.transfer = transfer,
		.created_before = { created->classes + before->classes, created->traits + before->traits,
			created->providers + before->providers, created->consumers + before->consumers },
		.runs = import->runs + 1,
	};
	transfer->problems = 0;
	if (import->runs > 1)
		transfer_note(transfer, "the connection to Placement's database was lost: all of it is read again");
	if (check(import) && !transfer->dry_run && load(import))
		(void)verify(import);
	return DB_ROLLBACK; // of a transaction that only reads
}

static void print_result(const struct import *import)
{
	bool dry = import->transfer->dry_run;
	const struct created *before = &import->created_before;

	// What an earlier run of the transaction has created counts as imported, though this run found it in the registry.
	printf("%s: %llu providers, %llu consumers, %llu classes and %llu traits of Placement's own making\n",
		dry ? "would import" : "imported", (unsigned long long)(import->to_import.providers + before->providers),
		(unsigned long long)(import->to_import.consumers + before->consumers), (unsigned long long)(import->classes.n + before->classes),
		(unsigned long long)(import->traits.n + before->traits));
	printf("there already: %llu providers, %llu consumers\n", (unsigned long long)(import->in_registry.providers - before->providers),
		(unsigned long long)(import->in_registry.consumers - before->consumers));
	if (import->seen.idle > 0)
		printf("left out: %llu consumer%s without allocations\n", COUNT_ARG(import->seen.idle));
	if (import->seen.overfull > 0)
		printf("more used than there is: %llu %s\n", (unsigned long long)import->seen.overfull,
			import->seen.overfull == 1 ? "inventory" : "inventories");
	if (!dry)
		printf("verified: all of it, and the answers about %llu of the providers and consumers\n", (unsigned long long)import->sampled);
}

int import_run(struct transfer *transfer)
{
	struct import import = { .transfer = transfer };
	enum db_result result = db_txn_run(transfer->foreign, DB_SNAPSHOT, NULL, run_import, &import);

	if (result != DB_OK)
		(void)transfer_lost(transfer, result);
	if (transfer->code == EX_OK && !transfer->dry_run)
		(void)transfer_remember(transfer, &import.digest);
	if (transfer->code == EX_OK)
		print_result(&import);
	return transfer->code;
}

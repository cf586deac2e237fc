// SPDX-License-Identifier: Apache-2.0
// Writes Placement's database, in one transaction of it and one snapshot of the registry: compares both, takes away what is
// other or gone in the registry, writes what is missing, compares again.
#include "base/base.h"

#include "manage/placement/export.h"

#include "base/pool.h"
#include "db/db.h"
#include "manage/placement/facts.h"
#include "manage/placement/source.h"
#include "registry/core/failure.h"
#include "registry/placement/resource_class.h"
#include "registry/trait/trait.h"
#include "sql/placement_db.h"
#include "sql/transfer.h"

struct export {
	struct transfer *transfer;
	struct transfer_counts ours;
	bool changes;             // the pass takes away what differs; else it only compares
	bool tells;               // the pass reports what differs
	struct transfer_counts same, other; // of the last pass, by records of Placement; other: different or gone here
	struct transfer_counts written;
	struct transfer_digest digest;  // of what Placement's database holds
	struct name_set classes, traits; // of Placement's database
	bool nothing_to_do;
	enum db_result result; // of the transaction of Placement's database
};

static bool ok(enum db_result result)
{
	return result == DB_OK;
}

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
	return ok(db_run_batch(transfer->foreign, pool, calls, COUNT_OF(calls)));
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
		const struct provider_record *here = provider_record_find(ours, n_ours, &list[i].uid);
		const struct facts there = facts_of_provider(pool, &list[i], false);
		const struct facts facts = here != NULL ? facts_of_provider(pool, here, false) : (struct facts){ .n = 0 };
		bool same = here != NULL && facts_equal(&there, &facts);

		facts_add(pool, &there, export->digest.providers);
		export->same.providers += same;
		export->other.providers += !same;
		if (!same && export->tells)
			transfer_problem(transfer, "provider %.*s: %.*s", STR_ARG(uuid_str(pool, list[i].uid)),
				STR_ARG(here != NULL ? facts_difference(pool, &there, &facts) : STR("not here")));
		if (!same && export->changes && !take_provider_away(transfer, row_ids[i], here == NULL))
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
		const struct consumer_record *here = consumer_record_find(ours, n_ours, &list[i].consumer.uid);
		const struct facts there = facts_of_consumer(pool, &list[i]);
		const struct facts facts = here != NULL ? facts_of_consumer(pool, here) : (struct facts){ .n = 0 };
		bool same = here != NULL && facts_equal(&there, &facts);

		if (list[i].n_allocations == 0 && here == NULL)
			continue; // it answers nothing, and may stay
		facts_add(pool, &there, export->digest.consumers);
		export->same.consumers += same;
		export->other.consumers += !same;
		if (!same && export->tells)
			transfer_problem(transfer, "consumer %.*s: %.*s", STR_ARG(uuid_str(pool, list[i].consumer.uid)),
				STR_ARG(here != NULL ? facts_difference(pool, &there, &facts) : STR("not here")));
		if (same || !export->changes)
			continue;
		struct db_call calls[] = {
			sql_placement_allocations_delete_call(pool, &(struct sql_placement_allocations_delete){ row_ids[i] }),
			sql_placement_consumer_delete_call(pool, &(struct sql_placement_consumer_delete){ row_ids[i] }),
		};
		if (!ok(db_run_batch(transfer->foreign, pool, calls, COUNT_OF(calls))))
			return false;
	}
	return true;
}

// One pass over Placement's database. seen: may be NULL.
static bool compare(struct export *export, bool changes, bool tells, const char *label, struct transfer_counts *seen)
{
	struct source_pass pass = { .transfer = export->transfer, .providers = compare_providers,
		.consumers = compare_consumers, .arg = export };

	export->changes = changes;
	export->tells = tells;
	export->same = export->other = (struct transfer_counts){ .providers = 0 };
	export->digest = (struct transfer_digest){ .providers = { 0 } };
	bool good = source_run(&pass, label);
	if (seen != NULL)
		*seen = pass.counts;
	return good;
}

// ---- may it be written?

static bool may_write(struct export *export)
{
	struct transfer *transfer = export->transfer;
	struct transfer_counts total;
	bool unchanged, known;

	if (!source_count(transfer, &total) || !source_check_faults(transfer) ||
		!compare(export, false, false, "comparing", NULL) ||
		!transfer_recall(transfer, &export->digest, &unchanged, &known))
		return false;
	if (transfer->problems > 0)
		return transfer_fail(transfer, EX_DATAERR, "%llu problem%s in Placement's database; nothing was written",
			(unsigned long long)transfer->problems, transfer->problems == 1 ? "" : "s");
	export->nothing_to_do = export->other.providers == 0 && export->other.consumers == 0 &&
				export->same.providers == export->ours.providers && export->same.consumers == export->ours.consumers;
	if (export->nothing_to_do || unchanged || (total.providers == 0 && total.consumers == 0))
		return true;
	return transfer_fail(transfer, EX_DATAERR,
		"Placement's database, which holds %llu providers and %llu consumers, %s: nothing was written. Export into an empty "
		"database, or import it into an empty registry", (unsigned long long)total.providers,
		(unsigned long long)total.consumers,
		known ? "was changed since it was imported or exported to" : "was not imported");
}

// ---- names and ids

static bool insert_names(struct transfer *transfer, enum sql_placement_names_of which, const struct name_set *ours,
	const struct name_set *theirs, bool (*is_custom)(struct str name))
{
	for (size_t i = 0; i < ours->n; i++) {
		const struct sql_placement_name_insert in = { .name = ours->names[i].text };

		if (is_custom(in.name) && !name_set_has(theirs, in.name) &&
			!ok(sql_placement_name_insert_run(transfer->foreign, transfer->registry->pool, which, &in, NULL)))
			return false;
	}
	return true;
}

// Deletes the custom names that the registry does not have any more. Nothing refers to them by then.
static bool delete_names(struct transfer *transfer, enum sql_placement_names_of which, const struct name_set *ours,
	const struct name_set *theirs, bool (*is_custom)(struct str name))
{
	for (size_t i = 0; i < theirs->n; i++) {
		const struct sql_placement_name_delete in = { .name = theirs->names[i].text };

		if (is_custom(in.name) && !name_set_has(ours, in.name) &&
			!ok(sql_placement_name_delete_run(transfer->foreign, transfer->registry->pool, which, &in, NULL)))
			return false;
	}
	return true;
}

// The id of a class or a trait in Placement's database; if it is not there, a problem of the provider.
static int64_t id_of_name(struct transfer *transfer, const struct name_set *theirs, const char *what, struct str name,
	const struct uuid *provider)
{
	int64_t id = name_set_find(theirs, name);

	if (id < 0)
		transfer_problem(transfer,
			"provider %.*s has %s %.*s, which that release of Placement does not know, or its database does not have "
			"yet: Placement adds the standard ones when it starts",
			STR_ARG(uuid_str(transfer->registry->pool, *provider)), what, STR_ARG(name));
	return id;
}

// Names of which the ids are looked up: each different one once.
struct lookup {
	struct str *names;
	size_t n;
	struct name_set found;
};

static struct lookup lookup_new(struct pool *pool, size_t most)
{
	return (struct lookup){ .names = POOL_ARRAY(pool, struct str, most) };
}

static int compare_strings(const void *a, const void *b)
{
	return str_cmp(*(const struct str *)a, *(const struct str *)b);
}

static bool find_ids(struct transfer *transfer, enum sql_placement_id_of which, struct lookup *lookup)
{
	struct pool *pool = transfer->registry->pool;
	size_t kept = 0;

	if (lookup->n > 0)
		qsort(lookup->names, lookup->n, sizeof(*lookup->names), compare_strings);
	for (size_t i = 0; i < lookup->n; i++) {
		if (kept == 0 || !str_eq(lookup->names[i], lookup->names[kept - 1]))
			lookup->names[kept++] = lookup->names[i];
	}
	lookup->n = kept;
	lookup->found = (struct name_set){ .n = 0 };
	for (size_t done = 0; done < lookup->n;) {
		struct db_call calls[DB_MAX_BATCH];
		size_t part = lookup->n - done < DB_MAX_BATCH ? lookup->n - done : DB_MAX_BATCH;

		for (size_t i = 0; i < part; i++)
			calls[i] = sql_placement_id_call(pool, which, &(struct sql_placement_id){ lookup->names[done + i] });
		if (!ok(db_run_batch(transfer->foreign, pool, calls, part)))
			return false;
		for (size_t i = 0; i < part; i++) {
			if (calls[i].rows.n > 0)
				name_set_add(pool, &lookup->found, lookup->names[done + i],
					sql_placement_id_row(&calls[i].rows, 0)->id);
		}
		done += part;
	}
	return true; // the names were in order
}

// Finds the ids, after inserting what is not there.
static bool ensure_ids(struct transfer *transfer, enum sql_placement_id_of which, enum sql_placement_named named,
	struct lookup *lookup)
{
	struct pool *pool = transfer->registry->pool;
	struct sql_placement_named_insert *rows = POOL_ARRAY(pool, struct sql_placement_named_insert, lookup->n);
	size_t n = 0;

	if (!find_ids(transfer, which, lookup))
		return false;
	for (size_t i = 0; i < lookup->n; i++) {
		if (!name_set_has(&lookup->found, lookup->names[i]))
			rows[n++] = (struct sql_placement_named_insert){ lookup->names[i] };
	}
	if (n == 0)
		return true;
	return ok(sql_placement_named_insert_bulk(transfer->foreign, pool, named, rows, n, NULL)) &&
	       find_ids(transfer, which, lookup);
}

// ---- writing providers

// A provider's row in Placement's database.
struct place {
	int64_t id; // -1: there is none
	bool in_tree;
};

static bool find_places(struct transfer *transfer, const struct provider_record *list, size_t n, struct place *places)
{
	struct pool *pool = transfer->registry->pool;

	for (size_t done = 0; done < n;) {
		struct db_call calls[DB_MAX_BATCH];
		size_t part = n - done < DB_MAX_BATCH ? n - done : DB_MAX_BATCH;

		for (size_t i = 0; i < part; i++)
			calls[i] = sql_placement_provider_find_call(pool,
				&(struct sql_placement_provider_find){ .uuid = uuid_str(pool, list[done + i].uid) });
		if (!ok(db_run_batch(transfer->foreign, pool, calls, part)))
			return false;
		for (size_t i = 0; i < part; i++) {
			const struct db_rows *rows = &calls[i].rows;
			const struct sql_placement_provider_find_row *row =
				rows->n > 0 ? sql_placement_provider_find_row(rows, 0) : NULL;

			places[done + i] = (struct place){ row != NULL ? row->id : -1, row != NULL && !row->root_id_is_null };
		}
		done += part;
	}
	return true;
}

// Inserts the rows of those providers that are not there, and updates those that were taken out of their trees.
static bool write_rows(struct export *export, const struct provider_record *list, size_t n, struct place *places)
{
	struct transfer *transfer = export->transfer;
	struct pool *pool = transfer->registry->pool;
	struct sql_placement_provider_insert *inserts = POOL_ARRAY(pool, struct sql_placement_provider_insert, n);
	struct sql_placement_provider_update *updates = POOL_ARRAY(pool, struct sql_placement_provider_update, n);
	size_t n_inserts = 0, n_updates = 0;

	for (size_t i = 0; i < n; i++) {
		if (places[i].id < 0)
			inserts[n_inserts++] = (struct sql_placement_provider_insert){
				uuid_str(pool, list[i].uid), list[i].name, list[i].generation
			};
		else if (!places[i].in_tree)
			updates[n_updates++] =
				(struct sql_placement_provider_update){ places[i].id, list[i].name, list[i].generation };
	}
	export->written.providers += n_inserts + n_updates;
	return ok(sql_placement_provider_update_bulk(transfer->foreign, pool, updates, n_updates, NULL)) &&
	       ok(sql_placement_provider_insert_bulk(transfer->foreign, pool, inserts, n_inserts, NULL)) &&
	       (n_inserts == 0 || find_places(transfer, list, n, places));
}

static bool write_inventories(struct export *export, const struct provider_record *list, size_t n, const struct place *places)
{
	struct transfer *transfer = export->transfer;
	struct pool *pool = transfer->registry->pool;
	size_t rows = 0;

	for (size_t i = 0; i < n; i++)
		rows += places[i].in_tree ? 0 : list[i].n_inventories;
	struct sql_placement_inventory_insert *all = POOL_ARRAY(pool, struct sql_placement_inventory_insert, rows);
	rows = 0;
	for (size_t i = 0; i < n; i++) {
		for (size_t k = 0; !places[i].in_tree && k < list[i].n_inventories; k++) {
			const struct inventory *inventory = &list[i].inventories[k];

			all[rows++] = (struct sql_placement_inventory_insert){
				.provider_id = places[i].id,
				.class_id = id_of_name(transfer, &export->classes, "inventory of class", inventory->class,
					&list[i].uid),
				.total = inventory->total,
				.reserved = inventory->reserved,
				.min_unit = inventory->min_unit,
				.max_unit = inventory->max_unit,
				.step_size = inventory->step_size,
				.ratio = str_printf(pool, "%.9g", inventory->allocation_ratio),
			};
		}
	}
	return transfer->problems > 0 || ok(sql_placement_inventory_insert_bulk(transfer->foreign, pool, all, rows, NULL));
}

static bool write_traits(struct export *export, const struct provider_record *list, size_t n, const struct place *places)
{
	struct transfer *transfer = export->transfer;
	struct pool *pool = transfer->registry->pool;
	size_t rows = 0;

	for (size_t i = 0; i < n; i++)
		rows += places[i].in_tree ? 0 : list[i].n_traits;
	struct sql_placement_trait_attach *all = POOL_ARRAY(pool, struct sql_placement_trait_attach, rows);
	rows = 0;
	for (size_t i = 0; i < n; i++) {
		for (size_t k = 0; !places[i].in_tree && k < list[i].n_traits; k++) {
			all[rows++] = (struct sql_placement_trait_attach){
				places[i].id, id_of_name(transfer, &export->traits, "trait", list[i].traits[k], &list[i].uid)
			};
		}
	}
	return transfer->problems > 0 || ok(sql_placement_trait_attach_bulk(transfer->foreign, pool, all, rows, NULL));
}

static bool write_aggregates(struct export *export, const struct provider_record *list, size_t n, const struct place *places)
{
	struct transfer *transfer = export->transfer;
	struct pool *pool = transfer->registry->pool;
	size_t rows = 0;

	for (size_t i = 0; i < n; i++)
		rows += places[i].in_tree ? 0 : list[i].n_aggregates;
	struct sql_placement_aggregate_join *all = POOL_ARRAY(pool, struct sql_placement_aggregate_join, rows);
	struct lookup lookup = lookup_new(pool, rows);
	for (size_t i = 0; i < n; i++) {
		for (size_t k = 0; !places[i].in_tree && k < list[i].n_aggregates; k++)
			lookup.names[lookup.n++] = uuid_str(pool, list[i].aggregates[k]);
	}
	if (!ensure_ids(transfer, SQL_PLACEMENT_ID_OF_AGGREGATE, SQL_PLACEMENT_NAMED_AGGREGATE, &lookup))
		return false;
	rows = 0;
	for (size_t i = 0; i < n; i++) {
		for (size_t k = 0; !places[i].in_tree && k < list[i].n_aggregates; k++)
			all[rows++] = (struct sql_placement_aggregate_join){
				places[i].id, name_set_find(&lookup.found, uuid_str(pool, list[i].aggregates[k]))
			};
	}
	return ok(sql_placement_aggregate_join_bulk(transfer->foreign, pool, all, rows, NULL));
}

static bool write_providers(struct export *export, const struct provider_record *list, size_t n)
{
	struct transfer *transfer = export->transfer;
	struct place *places = POOL_ARRAY(transfer->registry->pool, struct place, n);

	return find_places(transfer, list, n, places) && write_rows(export, list, n, places) &&
	       write_inventories(export, list, n, places) && write_traits(export, list, n, places) &&
	       write_aggregates(export, list, n, places);
}

// Gives the providers that were written their places in trees: now all of them are there.
static bool plant_providers(struct export *export, const struct provider_record *list, size_t n)
{
	struct transfer *transfer = export->transfer;
	struct pool *pool = transfer->registry->pool;
	struct sql_placement_provider_plant *rows = POOL_ARRAY(pool, struct sql_placement_provider_plant, n);
	struct place *places = POOL_ARRAY(pool, struct place, n);
	struct lookup lookup = lookup_new(pool, 2 * n);
	size_t n_rows = 0;

	if (!find_places(transfer, list, n, places))
		return false;
	for (size_t i = 0; i < n; i++) {
		if (places[i].in_tree)
			continue;
		lookup.names[lookup.n++] = uuid_str(pool, list[i].root);
		if (list[i].has_parent)
			lookup.names[lookup.n++] = uuid_str(pool, list[i].parent);
	}
	if (!find_ids(transfer, SQL_PLACEMENT_ID_OF_PROVIDER, &lookup))
		return false;
	for (size_t i = 0; i < n; i++) {
		if (!places[i].in_tree)
			rows[n_rows++] = (struct sql_placement_provider_plant){
				.id = places[i].id,
				.root_id = name_set_find(&lookup.found, uuid_str(pool, list[i].root)),
				.parent_id = list[i].has_parent ? name_set_find(&lookup.found, uuid_str(pool, list[i].parent)) : 0,
				.parent_id_is_null = !list[i].has_parent,
			};
	}
	return ok(sql_placement_provider_plant_bulk(transfer->foreign, pool, rows, n_rows, NULL));
}

// ---- writing consumers

// The ids of all that a page of consumers refers to.
struct consumer_ids {
	struct lookup consumers, projects, users, types, providers;
};

static size_t count_allocations(const struct consumer_record *list, size_t n)
{
	size_t count = 0;

	for (size_t i = 0; i < n; i++)
		count += list[i].n_allocations;
	return count;
}

static bool find_consumer_ids(struct transfer *transfer, const struct consumer_record *list, size_t n, struct consumer_ids *ids)
{
	struct pool *pool = transfer->registry->pool;

	*ids = (struct consumer_ids){ lookup_new(pool, n), lookup_new(pool, n), lookup_new(pool, n), lookup_new(pool, n),
		lookup_new(pool, count_allocations(list, n)) };
	for (size_t i = 0; i < n; i++)
		ids->consumers.names[ids->consumers.n++] = uuid_str(pool, list[i].consumer.uid);
	if (!find_ids(transfer, SQL_PLACEMENT_ID_OF_CONSUMER, &ids->consumers))
		return false;
	for (size_t i = 0; i < n; i++) {
		const struct consumer *consumer = &list[i].consumer;

		if (name_set_has(&ids->consumers.found, uuid_str(pool, consumer->uid)))
			continue;
		ids->projects.names[ids->projects.n++] = consumer->project;
		ids->users.names[ids->users.n++] = consumer->user;
		if (consumer->type.p != NULL && transfer->has_types)
			ids->types.names[ids->types.n++] = consumer->type;
		for (size_t k = 0; k < list[i].n_allocations; k++)
			ids->providers.names[ids->providers.n++] = uuid_str(pool, list[i].allocations[k].provider);
	}
	return ensure_ids(transfer, SQL_PLACEMENT_ID_OF_PROJECT, SQL_PLACEMENT_NAMED_PROJECT, &ids->projects) &&
	       ensure_ids(transfer, SQL_PLACEMENT_ID_OF_USER, SQL_PLACEMENT_NAMED_USER, &ids->users) &&
	       ensure_ids(transfer, SQL_PLACEMENT_ID_OF_TYPE, SQL_PLACEMENT_NAMED_TYPE, &ids->types) &&
	       find_ids(transfer, SQL_PLACEMENT_ID_OF_PROVIDER, &ids->providers);
}

static struct sql_placement_consumer_insert row_of_consumer(struct transfer *transfer, const struct consumer *consumer,
	const struct consumer_ids *ids)
{
	struct str uuid = uuid_str(transfer->registry->pool, consumer->uid);
	bool typed = consumer->type.p != NULL && transfer->has_types;

	if (consumer->type.p != NULL && !transfer->has_types)
		transfer_problem(transfer, "consumer %.*s has type %.*s, which Placement stores from 6.0 on", STR_ARG(uuid),
			STR_ARG(consumer->type));
	return (struct sql_placement_consumer_insert){
		.uuid = uuid,
		.project_id = name_set_find(&ids->projects.found, consumer->project),
		.user_id = name_set_find(&ids->users.found, consumer->user),
		.generation = consumer->generation,
		.type_id = typed ? name_set_find(&ids->types.found, consumer->type) : 0,
		.type_id_is_null = !typed,
	};
}

static void add_allocations(struct export *export, const struct consumer_record *record, const struct consumer_ids *ids,
	struct sql_placement_allocation_insert *rows, size_t *n_rows)
{
	struct transfer *transfer = export->transfer;
	struct pool *pool = transfer->registry->pool;

	for (size_t k = 0; k < record->n_allocations; k++) {
		const struct allocation *allocation = &record->allocations[k];
		int64_t provider = name_set_find(&ids->providers.found, uuid_str(pool, allocation->provider));

		if (provider < 0)
			transfer_problem(transfer, "consumer %.*s has an allocation of provider %.*s, whose tenant is deleted",
				STR_ARG(uuid_str(pool, record->consumer.uid)), STR_ARG(uuid_str(pool, allocation->provider)));
		rows[(*n_rows)++] = (struct sql_placement_allocation_insert){
			.provider_id = provider,
			.class_id = id_of_name(transfer, &export->classes, "an allocation of class", allocation->class,
				&allocation->provider),
			.consumer = uuid_str(pool, record->consumer.uid),
			.used = allocation->amount,
		};
	}
}

static bool write_consumers(struct export *export, const struct consumer_record *list, size_t n)
{
	struct transfer *transfer = export->transfer;
	struct pool *pool = transfer->registry->pool;
	struct sql_placement_consumer_insert *consumers = POOL_ARRAY(pool, struct sql_placement_consumer_insert, n);
	struct consumer_ids ids;
	size_t n_consumers = 0, n_allocations = 0;

	if (!find_consumer_ids(transfer, list, n, &ids))
		return false;
	struct sql_placement_allocation_insert *allocations =
		POOL_ARRAY(pool, struct sql_placement_allocation_insert, count_allocations(list, n));
	for (size_t i = 0; i < n; i++) {
		if (name_set_has(&ids.consumers.found, uuid_str(pool, list[i].consumer.uid)))
			continue;
		consumers[n_consumers++] = row_of_consumer(transfer, &list[i].consumer, &ids);
		add_allocations(export, &list[i], &ids, allocations, &n_allocations);
	}
	export->written.consumers += n_consumers;
	if (transfer->problems > 0)
		return true; // all of them are to be told
	return ok(sql_placement_consumer_insert_bulk(transfer->foreign, pool,
		       transfer->has_types ? SQL_PLACEMENT_TYPED_YES : SQL_PLACEMENT_TYPED_NO, consumers, n_consumers, NULL)) &&
	       ok(sql_placement_allocation_insert_bulk(transfer->foreign, pool, allocations, n_allocations, NULL));
}

// ---- pages of ours

static bool each_provider(struct export *export,
	bool (*fn)(struct export *export, const struct provider_record *list, size_t n))
{
	struct transfer *transfer = export->transfer;
	struct registry *registry = transfer->registry;
	struct uuid after = { { 0 } };
	size_t n;

	do {
		struct pool_mark mark = pool_mark(registry->pool);
		const struct sql_transfer_provider_page in = {
			.after = uuid_bytes(&after), .type_id = provider_type(registry)->id, .limit = TRANSFER_BATCH
		};
		struct provider_record *list;
		struct db_rows rows;
		enum db_result result = sql_transfer_provider_page_run(registry->db, registry->pool, &in, &rows);

		if (result != DB_OK)
			return transfer_done(transfer, registry_db_failed(result));
		struct uuid *uids = POOL_ARRAY(registry->pool, struct uuid, rows.n);
		for (size_t i = 0; i < rows.n; i++)
			uuid_from_bytes(sql_transfer_provider_page_row(&rows, i)->uid, &uids[i]);
		if (rows.n > 0) {
			if (!transfer_done(transfer, provider_records_read(registry, uids, rows.n, &list, &n)) ||
				!fn(export, list, n))
				return false;
			after = uids[rows.n - 1];
		}
		n = rows.n;
		transfer_advance(transfer, n);
		pool_rewind(registry->pool, mark);
	} while (n == TRANSFER_BATCH);
	return true;
}

static bool each_consumer(struct export *export)
{
	struct transfer *transfer = export->transfer;
	struct registry *registry = transfer->registry;
	struct uuid after = { { 0 } };
	size_t n;

	do {
		struct pool_mark mark = pool_mark(registry->pool);
		const struct sql_transfer_consumer_page in = { .after = uuid_bytes(&after), .limit = TRANSFER_BATCH };
		struct consumer_record *list;
		struct db_rows rows;
		enum db_result result = sql_transfer_consumer_page_run(registry->db, registry->pool, &in, &rows);

		if (result != DB_OK)
			return transfer_done(transfer, registry_db_failed(result));
		struct uuid *uids = POOL_ARRAY(registry->pool, struct uuid, rows.n);
		for (size_t i = 0; i < rows.n; i++)
			uuid_from_bytes(sql_transfer_consumer_page_row(&rows, i)->uid, &uids[i]);
		if (rows.n > 0) {
			if (!transfer_done(transfer, consumer_records_read(registry, uids, rows.n, &list, &n)) ||
				!write_consumers(export, list, n))
				return false;
			after = uids[rows.n - 1];
		}
		n = rows.n;
		transfer_advance(transfer, n);
		pool_rewind(registry->pool, mark);
	} while (n == TRANSFER_BATCH);
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
		!ok(sql_placement_stripped_delete_run(db, pool, NULL)) ||
		!insert_names(transfer, SQL_PLACEMENT_NAMES_OF_CLASSES, &transfer->classes, &export->classes,
			resource_class_is_custom) ||
		!insert_names(transfer, SQL_PLACEMENT_NAMES_OF_TRAITS, &transfer->traits, &export->traits, trait_is_custom) ||
		!delete_names(transfer, SQL_PLACEMENT_NAMES_OF_CLASSES, &transfer->classes, &export->classes,
			resource_class_is_custom) ||
		!delete_names(transfer, SQL_PLACEMENT_NAMES_OF_TRAITS, &transfer->traits, &export->traits, trait_is_custom) ||
		!source_read_names(transfer, &export->classes, &export->traits))
		return false;
	transfer_begin(transfer, "writing", 2 * export->ours.providers + export->ours.consumers);
	bool good = each_provider(export, write_providers) && each_provider(export, plant_providers) && each_consumer(export);
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
	if (transfer->problems == 0 && export->same.providers == export->ours.providers &&
		export->same.consumers == export->ours.consumers && total.providers == seen.providers &&
		total.allocations == seen.allocations && total.inventories == seen.inventories)
		return true;
	return transfer_fail(transfer, EX_SOFTWARE,
		"what was written is not what the registry holds (%llu of %llu providers, %llu of %llu consumers): nothing was "
		"committed", (unsigned long long)export->same.providers, (unsigned long long)export->ours.providers,
		(unsigned long long)export->same.consumers, (unsigned long long)export->ours.consumers);
}

static enum db_verdict write_foreign(void *arg)
{
	struct export *export = arg;
	struct transfer *transfer = export->transfer;

	transfer->problems = 0;
	export->written = (struct transfer_counts){ .providers = 0 };
	if (!may_write(export))
		return DB_ROLLBACK;
	if (export->nothing_to_do)
		return DB_ROLLBACK;
	if (!write_all(export) || !verify(export) || transfer->dry_run)
		return DB_ROLLBACK;
	return DB_COMMIT;
}

static bool count_ours(struct export *export)
{
	struct registry *registry = export->transfer->registry;
	const struct sql_transfer_counts in = { .type_id = provider_type(registry)->id };
	struct db_rows rows;
	enum db_result result = sql_transfer_counts_run(registry->db, registry->pool, &in, &rows);

	if (result != DB_OK)
		return transfer_done(export->transfer, registry_db_failed(result));
	export->ours = (struct transfer_counts){ .providers = sql_transfer_counts_row(&rows, 0)->providers,
		.consumers = sql_transfer_counts_row(&rows, 0)->consumers };
	return true;
}

static enum db_verdict run(void *arg)
{
	struct export *export = arg;
	struct transfer *transfer = export->transfer;

	export->result = DB_OK;
	if (count_ours(export) && transfer_read_names(transfer))
		export->result = db_txn_run(transfer->foreign, DB_WRITE, NULL, write_foreign, export);
	return DB_ROLLBACK; // of a transaction that only reads
}

static void tell(const struct export *export)
{
	const struct transfer *transfer = export->transfer;

	if (export->nothing_to_do) {
		printf("nothing to do: Placement's database holds the same %llu providers and %llu consumers\n",
			(unsigned long long)export->ours.providers, (unsigned long long)export->ours.consumers);
		return;
	}
	printf("%s: %llu providers and %llu consumers; as they were: %llu providers, %llu consumers\n",
		transfer->dry_run ? "would write" : "written", (unsigned long long)export->written.providers,
		(unsigned long long)export->written.consumers,
		(unsigned long long)(export->ours.providers - export->written.providers),
		(unsigned long long)(export->ours.consumers - export->written.consumers));
	if (!transfer->dry_run)
		printf("verified: all of it, before it was committed\n");
}

int export_run(struct transfer *transfer)
{
	struct export export = { .transfer = transfer };
	struct registry *registry = transfer->registry;
	enum db_result result = db_txn_run(registry->db, DB_SNAPSHOT, NULL, run, &export);

	if (result != DB_OK)
		(void)transfer_done(transfer, registry_db_failed(result));
	else if (export.result != DB_OK && db_txn_uncertain(transfer->foreign))
		(void)transfer_fail(transfer, EX_TEMPFAIL,
			"the connection to Placement's database was lost during COMMIT: run this again, which finds out");
	else if (export.result != DB_OK)
		(void)transfer_lost(transfer, export.result);
	if (transfer->code == EX_OK && !transfer->dry_run)
		(void)transfer_remember(transfer, &export.digest);
	if (transfer->code == EX_OK)
		tell(&export);
	return transfer->code;
}

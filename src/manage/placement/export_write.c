// SPDX-License-Identifier: Apache-2.0
// Writes pages of the registry's providers and consumers into Placement's database, with the ids that they have or get there.
#include "base/base.h"

#include "manage/placement/export_write.h"

#include "base/pool.h"
#include "db/db.h"
#include "manage/placement/source.h"
#include "sql/placement_db.h"

// The id of a class or a trait in Placement's database; if it is not there, a problem of the provider.
static int64_t id_of_name(struct transfer *transfer, const struct name_set *theirs, const char *what, struct str name,
	const struct uuid *provider)
{
	int64_t id = name_set_find(theirs, name);

	if (id < 0)
		transfer_problem(transfer,
			"provider %.*s has %s %.*s, which that release of Placement does not know, or its database does not have "
			"yet: Placement adds the standard ones when it starts",
			UUID_ARG(transfer->registry->pool, *provider), what, STR_ARG(name));
	return id;
}

// Names of which the ids are looked up: each different one once.
struct lookup {
	struct str *names;
	size_t n;
	struct name_set found;
	struct name_set others; // names of which a row there is equal by its collation, but has other bytes, as "U1" for "u1"; with the row's id
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
	lookup->found = lookup->others = (struct name_set){ .n = 0 };
	for (size_t done = 0; done < lookup->n;) {
		struct db_call calls[DB_MAX_BATCH];
		size_t part = lookup->n - done < DB_MAX_BATCH ? lookup->n - done : DB_MAX_BATCH;

		for (size_t i = 0; i < part; i++)
			calls[i] = sql_placement_id_call(pool, which, &(struct sql_placement_id){ lookup->names[done + i] });
		if (!transfer_ok(db_run_batch(transfer->foreign, pool, calls, part)))
			return false;
		for (size_t i = 0; i < part; i++) {
			const struct sql_placement_id_row *row = calls[i].rows.n > 0 ? sql_placement_id_row(&calls[i].rows, 0) : NULL;

			if (row != NULL)
				name_set_add(pool, str_eq(row->name, lookup->names[done + i]) ? &lookup->found : &lookup->others,
					lookup->names[done + i], row->id);
		}
		done += part;
	}
	return true; // the names were in order
}

// A table of rows that have nothing but a name.
struct named {
	const char *word;
	enum sql_placement_id_of id_of;
	enum sql_placement_named insert;
	enum sql_placement_respelled respell;
};
static const struct named aggregates = {
	"aggregate", SQL_PLACEMENT_ID_OF_AGGREGATE, SQL_PLACEMENT_NAMED_AGGREGATE, SQL_PLACEMENT_RESPELLED_AGGREGATE
};
static const struct named projects = {
	"project", SQL_PLACEMENT_ID_OF_PROJECT, SQL_PLACEMENT_NAMED_PROJECT, SQL_PLACEMENT_RESPELLED_PROJECT
};
static const struct named users = { "user", SQL_PLACEMENT_ID_OF_USER, SQL_PLACEMENT_NAMED_USER, SQL_PLACEMENT_RESPELLED_USER };
static const struct named types = { "consumer type", SQL_PLACEMENT_ID_OF_TYPE, SQL_PLACEMENT_NAMED_TYPE, SQL_PLACEMENT_RESPELLED_TYPE };

// Renames the rows that are in the way of names of ours, as far as nothing refers to them: Placement never deletes such rows. The
// others stay, and the database refuses our name when it is inserted.
static bool respell(struct transfer *transfer, const struct named *named, struct lookup *lookup)
{
	for (size_t i = 0; i < lookup->others.n; i++) {
		const struct name *name = &lookup->others.names[i];
		const struct sql_placement_respell in = { .id = name->id, .name = name->text };
		struct db_rows rows;

		if (!transfer_ok(sql_placement_respell_run(transfer->foreign, transfer->registry->pool, named->respell, &in, &rows)))
			return false;
		if (rows.affected > 0)
			transfer_list(transfer, "%s %.*s: an unused row gets this spelling", named->word, STR_ARG(name->text));
	}
	return lookup->others.n == 0 || find_ids(transfer, named->id_of, lookup);
}

// Finds the ids, after inserting what is not there.
static bool ensure_ids(struct transfer *transfer, const struct named *named, struct lookup *lookup)
{
	struct pool *pool = transfer->registry->pool;
	size_t n = 0;

	if (!find_ids(transfer, named->id_of, lookup) || !respell(transfer, named, lookup))
		return false;
	struct sql_placement_named_insert *rows = POOL_ARRAY(pool, struct sql_placement_named_insert, lookup->n);
	for (size_t i = 0; i < lookup->n; i++) {
		if (!name_set_has(&lookup->found, lookup->names[i]))
			rows[n++] = (struct sql_placement_named_insert){ lookup->names[i] };
	}
	if (n == 0)
		return true;
	return transfer_ok(sql_placement_named_insert_bulk(transfer->foreign, pool, named->insert, rows, n, NULL)) &&
	       find_ids(transfer, named->id_of, lookup);
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
		if (!transfer_ok(db_run_batch(transfer->foreign, pool, calls, part)))
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
		if (places[i].id < 0 || !places[i].in_tree)
			transfer_list(transfer, "provider %.*s: written: %.*s", UUID_ARG(pool, list[i].uid),
				STR_ARG(list[i].name));
		if (places[i].id < 0)
			inserts[n_inserts++] = (struct sql_placement_provider_insert){
				uuid_str(pool, list[i].uid), list[i].name, list[i].generation
			};
		else if (!places[i].in_tree)
			updates[n_updates++] =
				(struct sql_placement_provider_update){ places[i].id, list[i].name, list[i].generation };
	}
	export->written.providers += n_inserts + n_updates;
	return transfer_ok(sql_placement_provider_update_bulk(transfer->foreign, pool, updates, n_updates, NULL)) &&
	       transfer_ok(sql_placement_provider_insert_bulk(transfer->foreign, pool, inserts, n_inserts, NULL)) &&
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
				.ratio = str_printf(pool, "%.9g", (double)(float)inventory->allocation_ratio),
			};
		}
	}
	return transfer->problems > 0 || transfer_ok(sql_placement_inventory_insert_bulk(transfer->foreign, pool, all, rows, NULL));
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
	return transfer->problems > 0 || transfer_ok(sql_placement_trait_attach_bulk(transfer->foreign, pool, all, rows, NULL));
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
	if (!ensure_ids(transfer, &aggregates, &lookup))
		return false;
	rows = 0;
	for (size_t i = 0; i < n; i++) {
		for (size_t k = 0; !places[i].in_tree && k < list[i].n_aggregates; k++)
			all[rows++] = (struct sql_placement_aggregate_join){
				places[i].id, name_set_find(&lookup.found, uuid_str(pool, list[i].aggregates[k]))
			};
	}
	return transfer_ok(sql_placement_aggregate_join_bulk(transfer->foreign, pool, all, rows, NULL));
}

bool export_write_providers(struct export *export, const struct provider_record *list, size_t n)
{
	struct transfer *transfer = export->transfer;
	struct place *places = POOL_ARRAY(transfer->registry->pool, struct place, n);

	return find_places(transfer, list, n, places) && write_rows(export, list, n, places) &&
	       write_inventories(export, list, n, places) && write_traits(export, list, n, places) &&
	       write_aggregates(export, list, n, places);
}

bool export_plant_providers(struct export *export, const struct provider_record *list, size_t n)
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
	return transfer_ok(sql_placement_provider_plant_bulk(transfer->foreign, pool, rows, n_rows, NULL));
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
	return ensure_ids(transfer, &projects, &ids->projects) &&
	       ensure_ids(transfer, &users, &ids->users) &&
	       ensure_ids(transfer, &types, &ids->types) &&
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

		assert(provider >= 0 || transfer->problems > 0); // after a problem, providers are not written any more
		rows[(*n_rows)++] = (struct sql_placement_allocation_insert){
			.provider_id = provider,
			.class_id = id_of_name(transfer, &export->classes, "an allocation of class", allocation->class,
				&allocation->provider),
			.consumer = uuid_str(pool, record->consumer.uid),
			.used = allocation->amount,
		};
	}
}

bool export_write_consumers(struct export *export, const struct consumer_record *list, size_t n)
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
		transfer_list(transfer, "consumer %.*s: written: %zu allocation%s", UUID_ARG(pool, list[i].consumer.uid),
			list[i].n_allocations, list[i].n_allocations == 1 ? "" : "s");
		consumers[n_consumers++] = row_of_consumer(transfer, &list[i].consumer, &ids);
		add_allocations(export, &list[i], &ids, allocations, &n_allocations);
	}
	export->written.consumers += n_consumers;
	if (transfer->problems > 0)
		return true; // the export goes on, so that all problems are reported
	return transfer_ok(sql_placement_consumer_insert_bulk(transfer->foreign, pool,
		       transfer->has_types ? SQL_PLACEMENT_TYPED_YES : SQL_PLACEMENT_TYPED_NO, consumers, n_consumers, NULL)) &&
	       transfer_ok(sql_placement_allocation_insert_bulk(transfer->foreign, pool, allocations, n_allocations, NULL));
}

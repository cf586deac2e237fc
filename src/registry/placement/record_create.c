// SPDX-License-Identifier: Apache-2.0
// Creates providers and consumers from whole records, many in one transaction: each table gets its rows in one statement.
#include "base/base.h"

#include "base/buf.h"
#include "base/pool.h"
#include "db/db.h"
#include "db/list.h"
#include "registry/core/failure.h"
#include "registry/core/lock.h"
#include "registry/log/change.h"
#include "registry/placement/allocation_internal.h"
#include "registry/placement/inventory_internal.h"
#include "registry/placement/record_internal.h"
#include "registry/tags/etag.h"
#include "registry/type/tree.h"
#include "repr/json/doc.h"
#include "sql/transfer.h"

enum outcome record_fail_changed(struct registry *registry, const char *what)
{
	db_txn_again(registry->db);
	return registry_fail(registry, OUTCOME_UNAVAILABLE, "%s: the registry was changed meanwhile; run this again", what);
}

static enum outcome checked(struct registry *registry, enum db_result result, const char *what)
{
	if (result == DB_OK)
		return OUTCOME_OK;
	return result == DB_DUPLICATE ? record_fail_changed(registry, what) : registry_db_failed(result);
}

// ---- providers

struct creation {
	struct registry *registry;
	const struct type *type;
	const struct provider_record *list;
	size_t n;
	struct provider_places places;
	uint64_t *ids;  // resources.id of each record
	struct str ids_json;
};

static int compare_strings(const void *a, const void *b)
{
	return str_cmp(*(const struct str *)a, *(const struct str *)b);
}

// The column traits: names in byte order. p NULL: none.
static struct str traits_as_json(struct pool *pool, const struct provider_record *record)
{
	struct db_list list = db_list_new(pool, 32 * record->n_traits);
	struct str *names = POOL_ARRAY(pool, struct str, record->n_traits);

	if (record->n_traits == 0)
		return STR_NONE;
	memcpy(names, record->traits, record->n_traits * sizeof(*names));
	qsort(names, record->n_traits, sizeof(*names), compare_strings);
	for (size_t i = 0; i < record->n_traits; i++)
		json_add_string(db_list_item(&list), names[i]);
	return db_list_end(&list);
}

static struct sql_load_provider row_of_provider(const struct creation *creation, size_t i)
{
	const struct provider_record *record = &creation->list[i];
	const struct locked_tenant *owner = &creation->places.tenants[creation->places.owner_of[i]];
	struct registry *registry = creation->registry;
	struct pool *pool = registry->pool;
	struct doc *body = doc_new_object(pool);
	struct buf text = buf_new(pool, 256);
	struct str traits = traits_as_json(pool, record);
	uint64_t h[4];

	doc_set_str(pool, body, "name", record->name);
	doc_set(body, STR("parent_provider_uuid"),
		record->has_parent ? doc_new_string(pool, uuid_str(pool, record->parent)) : NULL);
	doc_write_json(body, &text);
	struct resource resource = {
		.uid = record->uid,
		.tenant_id = owner->id,
		.type = creation->type,
		.revision = 1,
		.edits = 1,
		.meta = STR("{}"),
		.body = buf_str(&text),
		.traits = traits,
	};
	etag_of_covered(registry, &resource, etag_covered(registry->pool, &resource));
	etag_state_lanes(registry, creation->type, &record->uid, h);
	return (struct sql_load_provider){
		.uid = uuid_bytes(&record->uid),
		.tenant_id = owner->id,
		.type_id = creation->type->id,
		.name = uuid_str(pool, record->uid),
		.bytes = resource.meta.n + resource.body.n,
		.h0 = h[0],
		.h1 = h[1],
		.h2 = h[2],
		.h3 = h[3],
		.etag = str_dup(pool, str_n((const char *)resource.stored_etag, sizeof(resource.stored_etag))),
		.body = resource.body,
		.now = registry->stamp_us,
		.root = tree_value(registry, creation->type, &record->root),
		.traits = traits,
	};
}

static enum outcome insert_providers(struct creation *creation)
{
	struct registry *registry = creation->registry;
	struct pool *pool = registry->pool;
	struct sql_load_provider *rows = POOL_ARRAY(pool, struct sql_load_provider, creation->n);

	for (size_t i = 0; i < creation->n; i++)
		rows[i] = row_of_provider(creation, i);
	return checked(registry, sql_load_provider_bulk(registry->db, pool, rows, creation->n, NULL), "a provider of that uid exists");
}

static int compare_uids(const void *a, const void *b)
{
	return memcmp((*(const struct provider_record *const *)a)->uid.b, (*(const struct provider_record *const *)b)->uid.b,
		sizeof(struct uuid));
}

static int compare_with_uid(const void *uid, const void *record)
{
	return memcmp(uid, (*(const struct provider_record *const *)record)->uid.b, sizeof(struct uuid));
}

// Reads the ids of the inserted rows.
static enum outcome find_ids(struct creation *creation)
{
	struct registry *registry = creation->registry;
	struct pool *pool = registry->pool;
	const struct provider_record **sorted = POOL_ARRAY(pool, const struct provider_record *, creation->n);
	struct db_list uids = db_list_new(pool, 40 * creation->n);
	struct db_rows rows;

	for (size_t i = 0; i < creation->n; i++) {
		sorted[i] = &creation->list[i];
		db_list_add_uuid(&uids, &creation->list[i].uid);
	}
	qsort(sorted, creation->n, sizeof(const void *), compare_uids);
	const struct sql_load_ids in = { .uids = db_list_end(&uids), .type_id = creation->type->id };
	enum db_result result = sql_load_ids_run(registry->db, pool, &in, &rows);
	if (result != DB_OK)
		return registry_db_failed(result);
	assert(rows.n == creation->n);
	creation->ids = POOL_ARRAY(pool, uint64_t, creation->n);
	uint64_t *in_order = POOL_ARRAY(pool, uint64_t, creation->n);
	for (size_t i = 0; i < rows.n; i++) {
		const struct sql_load_ids_row *row = sql_load_ids_row(&rows, i);
		const struct provider_record *const *hit =
			bsearch(row->uid.p, sorted, creation->n, sizeof(const void *), compare_with_uid);

		assert(hit != NULL);
		creation->ids[*hit - creation->list] = in_order[i] = row->id;
	}
	creation->ids_json = db_list_of_ids(pool, in_order, rows.n);
	return OUTCOME_OK;
}

static enum outcome log_creation(struct creation *creation)
{
	struct registry *registry = creation->registry;
	struct db_call calls[] = {
		changes_of_creation(registry, creation->ids_json),
		sql_load_number_call(registry->pool, &(struct sql_load_number){ .ids = creation->ids_json }),
		sql_load_unforward_call(registry->pool, &(struct sql_load_unforward){ .ids = creation->ids_json }),
	};

	return registry_run_calls(registry, calls, COUNT_OF(calls));
}

static enum outcome count_creation(struct creation *creation)
{
	struct registry *registry = creation->registry;

	for (size_t i = 0; i < creation->places.n_owners; i++) {
		const struct locked_tenant *tenant = &creation->places.tenants[i];
		uint64_t n = creation->places.owners[i].n;
		struct db_call count = tenant_count_up_call(registry, tenant, n);
		enum db_result result = db_run_batch(registry->db, registry->pool, &count, 1);

		if (result != DB_OK)
			return registry_db_failed(result);
		if (count.rows.affected != 1)
			return resource_fail_quota(registry, tenant, n);
	}
	return OUTCOME_OK;
}

static enum outcome insert_keys(struct creation *creation)
{
	struct registry *registry = creation->registry;
	struct pool *pool = registry->pool;
	struct sql_load_lookup_key *keys = POOL_ARRAY(pool, struct sql_load_lookup_key, 2 * creation->n);
	struct sql_load_generation *generations = POOL_ARRAY(pool, struct sql_load_generation, creation->n);
	size_t n = 0;

	for (size_t i = 0; i < creation->n; i++) {
		const struct provider_record *record = &creation->list[i];
		const struct sql_load_lookup_key name = { creation->ids[i], STR("name"), creation->type->id, record->name };

		keys[n++] = name;
		if (record->has_parent) {
			struct str above = uuid_str(pool, record->parent), own = uuid_str(pool, record->uid);

			keys[n] = name;
			keys[n].kind = STR("parent");
			keys[n++].value = str_printf(pool, "%.*s %.*s", STR_ARG(above), STR_ARG(own));
		}
		generations[i] = (struct sql_load_generation){ creation->ids[i], record->generation };
	}
	enum db_result result = sql_load_lookup_key_bulk(registry->db, pool, keys, n, NULL);
	if (result == DB_OK)
		result = sql_load_generation_bulk(registry->db, pool, generations, creation->n, NULL);
	return checked(registry, result, "a provider of that name exists");
}

static enum outcome insert_aggregates(struct creation *creation)
{
	struct registry *registry = creation->registry;
	size_t n = 0;

	for (size_t i = 0; i < creation->n; i++)
		n += creation->list[i].n_aggregates;
	struct sql_load_aggregate *rows = POOL_ARRAY(registry->pool, struct sql_load_aggregate, n);
	n = 0;
	for (size_t i = 0; i < creation->n; i++) {
		for (size_t k = 0; k < creation->list[i].n_aggregates; k++)
			rows[n++] = (struct sql_load_aggregate){
				creation->ids[i], uuid_bytes(&creation->list[i].aggregates[k])
			};
	}
	return checked(registry, sql_load_aggregate_bulk(registry->db, registry->pool, rows, n, NULL), "an aggregate comes twice");
}

static enum outcome insert_traits(struct creation *creation)
{
	struct registry *registry = creation->registry;
	struct db_list list = db_list_new(registry->pool, 1024);
	struct db_rows rows = { .n = 0 };

	for (size_t i = 0; i < creation->n; i++) {
		for (size_t k = 0; k < creation->list[i].n_traits; k++) {
			struct buf *json = db_list_item(&list);
			buf_addc(json, '[');
			buf_add_u64(json, creation->ids[i]);
			buf_addc(json, ',');
			json_add_string(json, creation->list[i].traits[k]);
			buf_addc(json, ']');
		}
	}
	if (list.n == 0)
		return OUTCOME_OK;
	const struct sql_load_traits in = { .rows = db_list_end(&list) };
	enum db_result result = sql_load_traits_run(registry->db, registry->pool, &in, &rows);
	if (result != DB_OK)
		return checked(registry, result, "a trait comes twice");
	return rows.affected == list.n ? OUTCOME_OK : record_fail_changed(registry, "a trait of a provider does not exist");
}

static void add_inventory(struct db_list *list, uint64_t id, const struct inventory *inventory)
{
	struct buf *json = db_list_item(list);

	buf_addc(json, '[');
	buf_add_u64(json, id);
	buf_addc(json, ',');
	json_add_string(json, inventory->class);
	buf_addf(json, ",%llu,%llu,%llu,%llu,%llu,\"%.17g\",%lld]", (unsigned long long)inventory->total,
		(unsigned long long)inventory->reserved, (unsigned long long)inventory->min_unit,
		(unsigned long long)inventory->max_unit, (unsigned long long)inventory->step_size, inventory->allocation_ratio,
		(long long)inventory_capacity(inventory));
}

static enum outcome insert_inventories(struct creation *creation)
{
	struct registry *registry = creation->registry;
	struct db_list list = db_list_new(registry->pool, 4096);
	struct db_rows rows = { .n = 0 };

	for (size_t i = 0; i < creation->n; i++) {
		for (size_t k = 0; k < creation->list[i].n_inventories; k++)
			add_inventory(&list, creation->ids[i], &creation->list[i].inventories[k]);
	}
	if (list.n == 0)
		return OUTCOME_OK;
	const struct sql_load_inventories in = { .rows = db_list_end(&list), .now = registry->stamp_us };
	enum db_result result = sql_load_inventories_run(registry->db, registry->pool, &in, &rows);
	if (result != DB_OK)
		return checked(registry, result, "an inventory comes twice");
	return rows.affected == list.n ? OUTCOME_OK : record_fail_changed(registry, "a class of an inventory does not exist");
}

enum outcome provider_records_create(struct registry *registry, const struct provider_record *list, size_t n)
{
	static enum outcome (*const steps[])(struct creation *creation) = {
		insert_providers, find_ids, log_creation, count_creation, insert_keys, insert_aggregates, insert_traits, insert_inventories,
	};
	struct creation creation = { .registry = registry, .type = provider_type(registry), .list = list, .n = n };

	assert(n > 0 && db_txn_writes(registry->db));
	enum outcome outcome = provider_places_find(registry, list, n, &creation.places);
	if (outcome == OUTCOME_OK)
		outcome = provider_places_lock(registry, &creation.places);
	for (size_t i = 0; outcome == OUTCOME_OK && i < COUNT_OF(steps); i++)
		outcome = steps[i](&creation);
	return outcome == OUTCOME_OK ? OUTCOME_CREATED : outcome;
}

// ---- consumers

struct allocating {
	struct registry *registry;
	const struct consumer_record *list;
	size_t n;
	struct str consumers; // their uids, and the rows of their allocations, as JSON
	struct str rows;
	size_t n_rows;
	struct str providers; // uids of all providers of the allocations
	struct str provider_ids;
};

static void list_allocations(struct allocating *all)
{
	struct pool *pool = all->registry->pool;
	struct db_list consumers = db_list_new(pool, 40 * all->n), rows = db_list_new(pool, 4096), providers = db_list_new(pool, 4096);

	for (size_t i = 0; i < all->n; i++) {
		const struct consumer_record *record = &all->list[i];

		db_list_add_uuid(&consumers, &record->consumer.uid);
		for (size_t k = 0; k < record->n_allocations; k++) {
			const struct allocation *allocation = &record->allocations[k];

			struct buf *row = db_list_item(&rows);
			buf_addc(row, '[');
			db_item_uuid(row, &record->consumer.uid);
			buf_addc(row, ',');
			db_item_uuid(row, &allocation->provider);
			buf_addc(row, ',');
			json_add_string(row, allocation->class);
			buf_addc(row, ',');
			buf_add_u64(row, allocation->amount);
			buf_addc(row, ']');
			if (k == 0 || !uuid_eq(allocation->provider, allocation[-1].provider))
				db_list_add_uuid(&providers, &allocation->provider);
		}
	}
	all->consumers = db_list_end(&consumers);
	all->n_rows = rows.n;
	all->rows = db_list_end(&rows);
	all->providers = db_list_end(&providers);
}

// Locks the tenants of the providers in share mode, then the providers, in order of their ids: as every writer of allocations.
static enum outcome lock_providers(struct allocating *all)
{
	struct registry *registry = all->registry;
	struct pool *pool = registry->pool;
	const struct sql_allocation_wanted_providers wanted = {
		.uids = all->providers, .type_id = provider_type(registry)->id
	};
	struct db_rows rows;
	enum db_result result = sql_allocation_wanted_providers_run(registry->db, pool, &wanted, &rows);

	if (result != DB_OK)
		return registry_db_failed(result);
	uint64_t *ids = POOL_ARRAY(pool, uint64_t, rows.n), *tenants = POOL_ARRAY(pool, uint64_t, rows.n);
	struct str *names = POOL_ARRAY(pool, struct str, rows.n); // of the tenants, each once
	size_t n_names = 0;
	for (size_t i = 0; i < rows.n; i++) {
		const struct sql_allocation_wanted_providers_row *row = sql_allocation_wanted_providers_row(&rows, i);

		ids[i] = row->id;
		tenants[i] = row->tenant_id;
		bool known = false;
		for (size_t k = 0; k < n_names && !known; k++)
			known = str_eq(names[k], row->tenant);
		if (!known)
			names[n_names++] = row->tenant;
	}
	all->provider_ids = db_list_of_id_set(pool, ids, rows.n);
	struct db_call calls[] = {
		sql_allocation_lock_tenants_call(pool, lock_wait(registry), &(struct sql_allocation_lock_tenants){
			.ids = db_list_of_id_set(pool, tenants, rows.n) }),
		sql_allocation_lock_providers_call(pool, lock_wait(registry), &(struct sql_allocation_lock_providers){
			.ids = all->provider_ids }),
	};
	enum outcome outcome = registry_take_locks(registry, names, n_names, calls, COUNT_OF(calls));
	for (size_t i = 0; outcome == OUTCOME_OK && i < calls[1].rows.n; i++)
		registry_stamp_after(registry, sql_allocation_lock_providers_row(&calls[1].rows, i)->last_time);
	return outcome;
}

static void add_consumer(struct db_list *list, const struct consumer *consumer)
{
	struct buf *json = db_list_item(list);

	buf_addc(json, '[');
	db_item_uuid(json, &consumer->uid);
	buf_addc(json, ',');
	json_add_string(json, consumer->project);
	buf_addc(json, ',');
	json_add_string(json, consumer->user);
	buf_addc(json, ',');
	if (consumer->type.p != NULL)
		json_add_string(json, consumer->type);
	else
		BUF_LIT(json, "null");
	buf_addf(json, ",%llu]", (unsigned long long)consumer->generation);
}

static enum outcome insert_consumers(struct allocating *all)
{
	struct registry *registry = all->registry;
	struct pool *pool = registry->pool;
	struct db_list rows = db_list_new(pool, 128 * all->n), types = db_list_new(pool, 64);

	for (size_t i = 0; i < all->n; i++) {
		const struct consumer *consumer = &all->list[i].consumer;

		add_consumer(&rows, consumer);
		if (consumer->type.p == NULL)
			continue;
		json_add_string(db_list_item(&types), consumer->type);
	}
	const struct sql_load_consumers in = { .now = registry->stamp_us, .rows = db_list_end(&rows) };
	enum db_result result = DB_OK;
	if (types.n > 0)
		result = sql_consumer_types_add_run(registry->db, pool,
			&(struct sql_consumer_types_add){ .names = db_list_end(&types) }, NULL);
	if (result == DB_OK)
		result = sql_load_consumers_run(registry->db, pool, &in, NULL);
	return checked(registry, result, "a consumer of that uid exists");
}

static enum outcome insert_allocations(struct allocating *all)
{
	struct registry *registry = all->registry;
	struct pool *pool = registry->pool;
	const struct sql_load_allocations in = {
		.rows = all->rows, .now = registry->stamp_us, .type_id = provider_type(registry)->id
	};
	const struct sql_providers_touch touch = { .ids = all->provider_ids, .now = registry->stamp_us };
	struct db_call calls[] = {
		sql_load_allocations_call(pool, &in),
		sql_load_use_call(pool, &(struct sql_load_use){ .uids = all->consumers }),
		changes_of_allocations(registry, all->provider_ids),
		sql_providers_touch_call(pool, &touch),
	};
	enum db_result result = db_run_batch(registry->db, pool, calls, COUNT_OF(calls));

	if (result != DB_OK)
		return registry_db_failed(result);
	if (calls[0].result == DB_DUPLICATE || calls[0].rows.affected != all->n_rows)
		return record_fail_changed(registry, "an allocation's provider or inventory does not exist");
	return OUTCOME_OK;
}

typedef enum outcome step_fn(struct allocating *all);

enum outcome consumer_records_create(struct registry *registry, const struct consumer_record *list, size_t n)
{
	static step_fn *const steps[] = { lock_providers, insert_consumers, insert_allocations };
	struct allocating all = { .registry = registry, .list = list, .n = n };
	enum outcome outcome = OUTCOME_OK;

	assert(n > 0 && db_txn_writes(registry->db));
	list_allocations(&all);
	for (size_t i = 0; outcome == OUTCOME_OK && i < COUNT_OF(steps); i++)
		outcome = steps[i](&all);
	return outcome == OUTCOME_OK ? OUTCOME_CREATED : outcome;
}

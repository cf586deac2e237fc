// SPDX-License-Identifier: Apache-2.0
// Finds, locks and reads what a write of allocations concerns, before anything is checked.
#include "base/base.h"

#include "registry/core/failure.h"
#include "registry/core/lock.h"
#include "registry/placement/allocation_internal.h"

// ---- JSON

void add_hex(struct buf *json, const struct uuid *uid)
{
	buf_addc(json, '"');
	buf_add_hex(json, uid->b, sizeof(uid->b));
	buf_addc(json, '"');
}

void begin_item(struct buf *json)
{
	buf_addc(json, json->n == 0 ? '[' : ',');
}

struct str end_list(struct buf *json)
{
	if (json->n == 0)
		buf_addc(json, '[');
	buf_addc(json, ']');
	return buf_str(json);
}

void add_id(struct buf *json, uint64_t id)
{
	begin_item(json);
	buf_add_u64(json, id);
}

// ---- providers and consumers

static int by_uid(const void *a, const void *b)
{
	return memcmp(a, b, sizeof(struct uuid));
}

static int by_number(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

// Sorted, so that all writers lock consumers in the same order.
static struct str uids_json(struct pool *pool, struct uuid *uids, size_t n)
{
	struct buf json = buf_new(pool, 36 * n + 2);

	if (n > 0)
		qsort(uids, n, sizeof(*uids), by_uid);
	for (size_t i = 0; i < n; i++) {
		if (i > 0 && uuid_eq(uids[i - 1], uids[i]))
			continue;
		begin_item(&json);
		add_hex(&json, &uids[i]);
	}
	return end_list(&json);
}

static struct str ids_json(struct pool *pool, uint64_t *ids, size_t n)
{
	struct buf json = buf_new(pool, 64);

	if (n > 0)
		qsort(ids, n, sizeof(*ids), by_number);
	for (size_t i = 0; i < n; i++) {
		if (i == 0 || ids[i - 1] != ids[i])
			add_id(&json, ids[i]);
	}
	return end_list(&json);
}

// The providers with their tenants: those that the sets name, and those where the consumers have allocations now.
struct concern {
	struct db_rows wanted, had;
};

static enum outcome find_concern(struct deal *deal, struct concern *concern)
{
	struct registry *registry = deal->registry;
	struct uuid *consumers = POOL_ARRAY(registry->pool, struct uuid, deal->n);
	struct uuid *providers = POOL_ARRAY(registry->pool, struct uuid, deal->n_allocations + deal->n_reshaped);
	size_t at = 0;

	for (size_t i = 0; i < deal->n; i++) {
		consumers[i] = deal->sets[i].consumer;
		for (size_t k = 0; k < deal->sets[i].n; k++)
			providers[at++] = deal->sets[i].allocations[k].provider;
	}
	for (size_t i = 0; i < deal->n_reshaped; i++)
		providers[at++] = deal->reshaped[i].provider;
	deal->consumers = uids_json(registry->pool, consumers, deal->n);
	const struct sql_allocation_wanted_providers wanted = {
		.uids = uids_json(registry->pool, providers, at),
		.type_id = provider_type(registry)->id,
	};
	const struct sql_allocation_had_providers had = { .uids = deal->consumers };
	struct db_call calls[] = {
		sql_allocation_wanted_providers_call(registry->pool, &wanted),
		sql_allocation_had_providers_call(registry->pool, &had),
	};
	enum db_result result = db_run_batch(registry->db, registry->pool, calls, COUNT_OF(calls));
	if (result != DB_OK)
		return registry_db_failed(result);
	*concern = (struct concern){ calls[0].rows, calls[1].rows };
	return OUTCOME_OK;
}

static enum outcome name_classes(struct deal *deal)
{
	struct registry *registry = deal->registry;
	size_t at = 0;

	for (size_t i = 0; i < deal->n; i++)
		deal->n_allocations += deal->sets[i].n;
	deal->classes = POOL_ARRAY(registry->pool, struct str, deal->n_allocations);
	deal->class_ids = POOL_ARRAY(registry->pool, uint64_t, deal->n_allocations);
	for (size_t i = 0; i < deal->n; i++) {
		for (size_t k = 0; k < deal->sets[i].n; k++)
			deal->classes[at++] = deal->sets[i].allocations[k].class;
	}
	return classes_find(registry, deal->classes, deal->n_allocations, false, deal->class_ids, NULL);
}

// ---- the locks

static int by_holding(const void *a, const void *b)
{
	return by_uid(&((const struct holding *)a)->uid, &((const struct holding *)b)->uid);
}

static int by_cell(const void *a, const void *b)
{
	const struct cell *x = a, *y = b;
	int order = by_number(&x->resource_id, &y->resource_id);

	return order != 0 ? order : by_number(&x->class_id, &y->class_id);
}

struct cell *deal_cell(const struct deal *deal, uint64_t resource_id, uint64_t class_id)
{
	const struct cell key = { .resource_id = resource_id, .class_id = class_id };

	return deal->n_cells == 0 ? NULL : bsearch(&key, deal->cells, deal->n_cells, sizeof(key), by_cell);
}

struct holding *deal_provider(const struct deal *deal, const struct uuid *uid)
{
	const struct holding key = { .uid = *uid };
	struct holding *found =
		deal->n_holdings == 0 ? NULL : bsearch(&key, deal->holdings, deal->n_holdings, sizeof(key), by_holding);

	return found != NULL && found->there ? found : NULL;
}

static int by_holding_id(const void *a, const void *b)
{
	const struct holding *const *x = a, *const *y = b;

	return by_number(&(*x)->id, &(*y)->id);
}

struct holding *deal_provider_of_id(const struct deal *deal, uint64_t id)
{
	const struct holding key = { .id = id }, *wanted = &key;
	struct holding **found = deal->n_holdings == 0
		? NULL : bsearch(&wanted, deal->by_id, deal->n_holdings, sizeof(*deal->by_id), by_holding_id);

	return found != NULL ? *found : NULL;
}

void deal_sort_cells(struct deal *deal)
{
	if (deal->n_cells > 0)
		qsort(deal->cells, deal->n_cells, sizeof(*deal->cells), by_cell);
}

static int by_consumer(const void *key, const void *set)
{
	return by_uid(key, &((const struct allocation_set *)set)->consumer);
}

// The set of that consumer, NULL: it has none.
static const struct allocation_set *set_of(const struct deal *deal, struct str uid)
{
	struct uuid consumer;

	uuid_from_bytes(uid, &consumer);
	return deal->n == 0 ? NULL : bsearch(&consumer, deal->sets, deal->n, sizeof(*deal->sets), by_consumer);
}

static bool tenant_held(const struct db_rows *tenants, uint64_t id, bool *active)
{
	for (size_t i = 0; i < tenants->n; i++) {
		const struct sql_allocation_lock_tenants_row *row = sql_allocation_lock_tenants_row(tenants, i);

		if (row->id != id)
			continue;
		*active = !row->live_is_null && row->deleted_at_is_null;
		return true;
	}
	return false;
}

// Takes over the locked providers. False: one was moved to another tenant before its lock was taken.
static bool take_providers(struct deal *deal, const struct db_rows *providers, const struct db_rows *tenants)
{
	deal->holdings = POOL_ARRAY(deal->registry->pool, struct holding, providers->n);
	deal->n_holdings = providers->n;
	for (size_t i = 0; i < providers->n; i++) {
		const struct sql_allocation_lock_providers_row *row = sql_allocation_lock_providers_row(providers, i);
		struct holding *holding = &deal->holdings[i];
		bool active = false;

		*holding = (struct holding){ .id = row->id, .tenant_id = row->tenant_id };
		uuid_from_bytes(row->uid, &holding->uid);
		registry_stamp_after(deal->registry, row->last_time);
		if (!tenant_held(tenants, holding->tenant_id, &active))
			return false;
		holding->there = active && !row->live_is_null;
	}
	if (deal->n_holdings > 0)
		qsort(deal->holdings, deal->n_holdings, sizeof(*deal->holdings), by_holding);
	deal->by_id = POOL_ARRAY(deal->registry->pool, struct holding *, deal->n_holdings);
	for (size_t i = 0; i < deal->n_holdings; i++)
		deal->by_id[i] = &deal->holdings[i];
	if (deal->n_holdings > 0)
		qsort(deal->by_id, deal->n_holdings, sizeof(*deal->by_id), by_holding_id);
	return true;
}

static void take_inventories(struct deal *deal, const struct db_rows *rows)
{
	deal->cells = POOL_ARRAY(deal->registry->pool, struct cell, rows->n);
	deal->n_cells = rows->n;
	for (size_t i = 0; i < rows->n; i++) {
		const struct sql_allocation_inventories_row *row = sql_allocation_inventories_row(rows, i);

		deal->cells[i] = (struct cell){
			.resource_id = row->resource_id,
			.class_id = row->class_id,
			.min_unit = row->min_unit,
			.max_unit = row->max_unit,
			.step_size = row->step_size,
			.capacity = row->capacity,
			.used = row->used,
		};
	}
	deal_sort_cells(deal);
}

// Adds up what the consumers have now. False: one got allocations of another provider before its lock was taken.
static bool take_allocations(struct deal *deal, const struct db_rows *rows)
{
	for (size_t i = 0; i < rows->n; i++) {
		const struct sql_allocation_present_row *row = sql_allocation_present_row(rows, i);
		struct cell *cell = deal_cell(deal, row->resource_id, row->class_id);
		struct holding *holding = deal_provider_of_id(deal, row->resource_id);
		const struct allocation_set *set = set_of(deal, row->consumer);

		if (cell == NULL || holding == NULL || set == NULL)
			return false;
		cell->before += (int64_t)row->used;
		holding->gives = true;
		holding->emptied = holding->emptied || set->n == 0;
	}
	return true;
}

static void take_consumers(struct deal *deal, const struct db_rows *rows)
{
	deal->known = POOL_ARRAY(deal->registry->pool, struct known, deal->n);
	for (size_t k = 0; k < rows->n; k++) {
		const struct sql_allocation_lock_consumers_row *row = sql_allocation_lock_consumers_row(rows, k);
		const struct allocation_set *set = set_of(deal, row->uid);

		if (set != NULL)
			deal->known[set - deal->sets] = (struct known){ true, row->generation, row->type };
	}
}

enum outcome lose_race(struct registry *registry)
{
	db_txn_again(registry->db);
	return OUTCOME_UNAVAILABLE;
}

// The ids of what has to be locked; no tenant twice.
struct locks {
	uint64_t *providers, *tenants;
	struct str *names; // of the tenants
	size_t n_providers, n_tenants;
};

static void add_tenant(struct locks *locks, uint64_t id, struct str name)
{
	for (size_t i = 0; i < locks->n_tenants; i++) {
		if (locks->tenants[i] == id)
			return;
	}
	locks->names[locks->n_tenants] = name;
	locks->tenants[locks->n_tenants++] = id;
}

static struct locks collect_locks(struct pool *pool, const struct concern *concern)
{
	size_t most = concern->wanted.n + concern->had.n;
	struct locks locks = {
		.providers = POOL_ARRAY(pool, uint64_t, most),
		.tenants = POOL_ARRAY(pool, uint64_t, most),
		.names = POOL_ARRAY(pool, struct str, most),
	};

	for (size_t i = 0; i < concern->wanted.n; i++) {
		const struct sql_allocation_wanted_providers_row *row =
			sql_allocation_wanted_providers_row(&concern->wanted, i);
		locks.providers[locks.n_providers++] = row->id;
		add_tenant(&locks, row->tenant_id, row->tenant);
	}
	for (size_t i = 0; i < concern->had.n; i++) {
		const struct sql_allocation_had_providers_row *row = sql_allocation_had_providers_row(&concern->had, i);
		locks.providers[locks.n_providers++] = row->id;
		add_tenant(&locks, row->tenant_id, row->tenant);
	}
	return locks;
}

// Locks and reads everything in one round trip.
static enum outcome hold(struct deal *deal, const struct concern *concern)
{
	struct registry *registry = deal->registry;
	struct pool *pool = registry->pool;
	struct locks locks = collect_locks(pool, concern);
	enum sql_wait wait = lock_wait(registry);
	struct str providers = ids_json(pool, locks.providers, locks.n_providers);
	struct str tenants = ids_json(pool, locks.tenants, locks.n_tenants);
	struct str consumers = deal->consumers;
	struct db_call calls[] = {
		sql_allocation_lock_tenants_call(pool, wait, &(struct sql_allocation_lock_tenants){ .ids = tenants }),
		sql_allocation_lock_providers_call(pool, wait, &(struct sql_allocation_lock_providers){ .ids = providers }),
		sql_allocation_lock_consumers_call(pool, wait, &(struct sql_allocation_lock_consumers){ .uids = consumers }),
		sql_allocation_inventories_call(pool, &(struct sql_allocation_inventories){ .ids = providers }),
		sql_allocation_present_call(pool, &(struct sql_allocation_present){ .uids = consumers }),
	};
	enum outcome outcome = take_locks(registry, locks.names, locks.n_tenants, calls, COUNT_OF(calls));
	if (outcome != OUTCOME_OK)
		return outcome;
	for (size_t k = 0; k < locks.n_tenants; k++)
		registry_concerns(registry, locks.names[k]);
	take_consumers(deal, &calls[2].rows);
	take_inventories(deal, &calls[3].rows);
	if (!take_providers(deal, &calls[1].rows, &calls[0].rows) || !take_allocations(deal, &calls[4].rows))
		return lose_race(registry);
	return OUTCOME_OK;
}

enum outcome deal_prepare(struct deal *deal)
{
	struct concern concern = { .wanted.n = 0 };
	enum outcome outcome = name_classes(deal);

	if (outcome == OUTCOME_OK)
		outcome = find_concern(deal, &concern);
	return outcome == OUTCOME_OK ? hold(deal, &concern) : outcome;
}

// SPDX-License-Identifier: Apache-2.0
// Finds, locks and reads what a write of allocations concerns, before anything is checked.
#include "base/base.h"

#include "db/list.h"
#include "registry/core/failure.h"
#include "registry/core/lock.h"
#include "registry/placement/allocation_internal.h"

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
	struct db_list list = db_list_new(pool, 36 * n);

	if (n > 0)
		qsort(uids, n, sizeof(*uids), by_uid);
	for (size_t i = 0; i < n; i++) {
		if (i > 0 && uuid_eq(uids[i - 1], uids[i]))
			continue;
		db_list_add_uuid(&list, &uids[i]);
	}
	return db_list_end(&list);
}

// The providers with their tenants: those that the sets name, and those where the consumers have allocations now.
struct concern {
	struct db_rows wanted, had;
};

static enum outcome find_concern(struct allocation_write *write, struct concern *concern)
{
	struct registry *registry = write->registry;
	struct uuid *consumers = POOL_ARRAY(registry->pool, struct uuid, write->n);
	struct uuid *providers = POOL_ARRAY(registry->pool, struct uuid, write->n_allocations + write->n_reshaped);
	size_t at = 0;

	for (size_t i = 0; i < write->n; i++) {
		consumers[i] = write->sets[i].consumer;
		for (size_t k = 0; k < write->sets[i].n; k++)
			providers[at++] = write->sets[i].allocations[k].provider;
	}
	for (size_t i = 0; i < write->n_reshaped; i++)
		providers[at++] = write->reshaped[i].provider;
	write->consumers = uids_json(registry->pool, consumers, write->n);
	const struct sql_allocation_wanted_providers wanted = {
		.uids = uids_json(registry->pool, providers, at),
		.type_id = provider_type(registry)->id,
	};
	const struct sql_allocation_had_providers had = { .uids = write->consumers };
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

static enum outcome name_classes(struct allocation_write *write)
{
	struct registry *registry = write->registry;
	size_t at = 0;

	for (size_t i = 0; i < write->n; i++)
		write->n_allocations += write->sets[i].n;
	write->classes = POOL_ARRAY(registry->pool, struct str, write->n_allocations);
	write->class_ids = POOL_ARRAY(registry->pool, uint64_t, write->n_allocations);
	for (size_t i = 0; i < write->n; i++) {
		for (size_t k = 0; k < write->sets[i].n; k++)
			write->classes[at++] = write->sets[i].allocations[k].class;
	}
	return provider_find_classes(registry, write->classes, write->n_allocations, write->class_ids, NULL);
}

// ---- the locks

static int by_locked_uid(const void *a, const void *b)
{
	return by_uid(&((const struct locked_provider *)a)->uid, &((const struct locked_provider *)b)->uid);
}

static int by_provider_and_class(const void *a, const void *b)
{
	const struct inventory_delta *x = a, *y = b;
	int order = by_number(&x->resource_id, &y->resource_id);

	return order != 0 ? order : by_number(&x->class_id, &y->class_id);
}

struct inventory_delta *allocation_write_inventory(const struct allocation_write *write, uint64_t resource_id, uint64_t class_id)
{
	const struct inventory_delta key = { .resource_id = resource_id, .class_id = class_id };

	return write->n_deltas == 0 ? NULL : bsearch(&key, write->deltas, write->n_deltas, sizeof(key), by_provider_and_class);
}

struct locked_provider *allocation_write_provider(const struct allocation_write *write, const struct uuid *uid)
{
	const struct locked_provider key = { .uid = *uid };
	struct locked_provider *found =
		write->n_locked_providers == 0 ? NULL : bsearch(&key, write->locked_providers, write->n_locked_providers,
		sizeof(key), by_locked_uid);

	return found != NULL && found->there ? found : NULL;
}

static int by_locked_id(const void *a, const void *b)
{
	const struct locked_provider *const *x = a, *const *y = b;

	return by_number(&(*x)->id, &(*y)->id);
}

struct locked_provider *allocation_write_provider_of_id(const struct allocation_write *write, uint64_t id)
{
	const struct locked_provider key = { .id = id }, *wanted = &key;
	struct locked_provider **found = write->n_locked_providers == 0
		? NULL : bsearch(&wanted, write->by_id, write->n_locked_providers, sizeof(*write->by_id), by_locked_id);

	return found != NULL ? *found : NULL;
}

void allocation_write_sort(struct allocation_write *write)
{
	if (write->n_deltas > 0)
		qsort(write->deltas, write->n_deltas, sizeof(*write->deltas), by_provider_and_class);
}

static int by_consumer(const void *key, const void *set)
{
	return by_uid(key, &((const struct allocation_set *)set)->consumer);
}

// The set of that consumer, NULL: it has none.
static const struct allocation_set *set_of(const struct allocation_write *write, struct str uid)
{
	struct uuid consumer;

	uuid_from_bytes(uid, &consumer);
	return write->n == 0 ? NULL : bsearch(&consumer, write->sets, write->n, sizeof(*write->sets), by_consumer);
}

static bool tenant_is_locked(const struct db_rows *tenants, uint64_t id, bool *active)
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
static bool take_providers(struct allocation_write *write, const struct db_rows *providers, const struct db_rows *tenants)
{
	write->locked_providers = POOL_ARRAY(write->registry->pool, struct locked_provider, providers->n);
	write->n_locked_providers = providers->n;
	for (size_t i = 0; i < providers->n; i++) {
		const struct sql_allocation_lock_providers_row *row = sql_allocation_lock_providers_row(providers, i);
		struct locked_provider *locked_provider = &write->locked_providers[i];
		bool active = false;

		*locked_provider = (struct locked_provider){ .id = row->id, .tenant_id = row->tenant_id };
		uuid_from_bytes(row->uid, &locked_provider->uid);
		registry_stamp_after(write->registry, row->last_time);
		if (!tenant_is_locked(tenants, locked_provider->tenant_id, &active))
			return false;
		locked_provider->there = active && !row->live_is_null;
	}
	if (write->n_locked_providers > 0)
		qsort(write->locked_providers, write->n_locked_providers, sizeof(*write->locked_providers), by_locked_uid);
	write->by_id = POOL_ARRAY(write->registry->pool, struct locked_provider *, write->n_locked_providers);
	for (size_t i = 0; i < write->n_locked_providers; i++)
		write->by_id[i] = &write->locked_providers[i];
	if (write->n_locked_providers > 0)
		qsort(write->by_id, write->n_locked_providers, sizeof(*write->by_id), by_locked_id);
	return true;
}

static void take_inventories(struct allocation_write *write, const struct db_rows *rows)
{
	write->deltas = POOL_ARRAY(write->registry->pool, struct inventory_delta, rows->n);
	write->n_deltas = rows->n;
	for (size_t i = 0; i < rows->n; i++) {
		const struct sql_allocation_inventories_row *row = sql_allocation_inventories_row(rows, i);

		write->deltas[i] = (struct inventory_delta){
			.resource_id = row->resource_id,
			.class_id = row->class_id,
			.min_unit = row->min_unit,
			.max_unit = row->max_unit,
			.step_size = row->step_size,
			.capacity = row->capacity,
			.used = row->used,
		};
	}
	allocation_write_sort(write);
}

// Takes over and adds up what the consumers have now. False: one got allocations of another provider before its lock was taken.
static bool take_allocations(struct allocation_write *write, const struct db_rows *rows)
{
	write->before = POOL_ARRAY(write->registry->pool, struct allocated_before, rows->n);
	write->n_before = rows->n;
	for (size_t i = 0; i < rows->n; i++) {
		const struct sql_allocation_present_row *row = sql_allocation_present_row(rows, i);
		struct inventory_delta *delta = allocation_write_inventory(write, row->resource_id, row->class_id);
		struct locked_provider *locked_provider = allocation_write_provider_of_id(write, row->resource_id);
		const struct allocation_set *set = set_of(write, row->consumer);

		if (delta == NULL || locked_provider == NULL || set == NULL)
			return false;
		write->before[i] = (struct allocated_before){
			.resource_id = row->resource_id, .set = (size_t)(set - write->sets), .class = row->class, .class_id = row->class_id, .used = row->used,
		};
		delta->before += (int64_t)row->used;
		locked_provider->gives = true;
		locked_provider->emptied = locked_provider->emptied || set->n == 0;
	}
	return true;
}

static void take_consumers(struct allocation_write *write, const struct db_rows *rows)
{
	write->known = POOL_ARRAY(write->registry->pool, struct known, write->n);
	for (size_t k = 0; k < rows->n; k++) {
		const struct sql_allocation_lock_consumers_row *row = sql_allocation_lock_consumers_row(rows, k);
		const struct allocation_set *set = set_of(write, row->uid);

		if (set != NULL)
			write->known[set - write->sets] = (struct known){ true, row->generation, row->updated_at, row->type, row->project,
				row->user };
		consumer_concerns(write->registry, row->project);
	}
}

enum outcome allocation_write_again(struct registry *registry)
{
	assert(db_txn_writes(registry->db));
	db_txn_again(registry->db);
	return OUTCOME_UNAVAILABLE;
}

// The ids of the rows that have to be locked. Each tenant occurs once.
struct locks {
	uint64_t *providers, *tenants;
	struct str *names; // of these tenants, in the order in which they were found; db_list_of_id_set() sorts tenants, so the
	                   // indexes do not correspond then
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

// Locks the rows of the tenants, providers and consumers, in this order, and reads what the write depends on, all in one round
// trip.
static enum outcome lock_and_read(struct allocation_write *write, const struct concern *concern)
{
	struct registry *registry = write->registry;
	struct pool *pool = registry->pool;
	struct locks locks = collect_locks(pool, concern);
	enum sql_wait wait = lock_wait(registry);
	struct str providers = db_list_of_id_set(pool, locks.providers, locks.n_providers);
	struct str tenants = db_list_of_id_set(pool, locks.tenants, locks.n_tenants);
	struct str consumers = write->consumers;
	struct db_call calls[] = {
		sql_allocation_lock_tenants_call(pool, wait, &(struct sql_allocation_lock_tenants){ .ids = tenants }),
		sql_allocation_lock_providers_call(pool, wait, &(struct sql_allocation_lock_providers){ .ids = providers }),
		sql_allocation_lock_consumers_call(pool, wait, &(struct sql_allocation_lock_consumers){ .uids = consumers }),
		sql_allocation_inventories_call(pool, &(struct sql_allocation_inventories){ .ids = providers }),
		sql_allocation_present_call(pool, &(struct sql_allocation_present){ .uids = consumers }),
	};
	enum outcome outcome = registry_take_locks(registry, locks.names, locks.n_tenants, calls, COUNT_OF(calls));
	if (outcome != OUTCOME_OK)
		return outcome;
	// Allocations concern the projects of the consumers, a reshape the owners of the providers as well.
	for (size_t k = 0; write->n_reshaped > 0 && k < locks.n_tenants; k++)
		registry_concerns(registry, locks.names[k]);
	take_consumers(write, &calls[2].rows);
	take_inventories(write, &calls[3].rows);
	if (!take_providers(write, &calls[1].rows, &calls[0].rows) || !take_allocations(write, &calls[4].rows))
		return allocation_write_again(registry);
	return OUTCOME_OK;
}

enum outcome allocation_write_prepare(struct allocation_write *write)
{
	struct concern concern = { .wanted.n = 0 };

	assert(db_txn_writes(write->registry->db) && (write->n == 0 || write->sets != NULL));
	enum outcome outcome = name_classes(write);
	if (outcome == OUTCOME_OK)
		outcome = find_concern(write, &concern);
	return outcome == OUTCOME_OK ? lock_and_read(write, &concern) : outcome;
}

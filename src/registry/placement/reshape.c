// SPDX-License-Identifier: Apache-2.0
// Reshaping. It locks and reads what a write of allocations does (allocation_lock.c), for the reshaped providers as well. Then it
// replaces the inventories that were read by the new ones, in memory, so that all checks use the new ones. An inventory that will
// be removed stays in memory until the last check, which is that no consumer has allocations of it.
#include "base/base.h"

#include "db/list.h"
#include "registry/core/failure.h"
#include "registry/log/change.h"
#include "registry/placement/allocation_internal.h"
#include "registry/placement/inventory_internal.h"
#include "sql/providers.h"

// The beginning of errors about unknown classes.
static struct str context_of(const struct allocation_write *write)
{
	return write->refusals != NULL ? STR("it cannot be put back:") : STR("malformed reshaper data:");
}

// ---- rows by provider

// A row of a provider among the rows of a statement.
struct spot {
	uint64_t provider_id;
	size_t row;
};

static int compare_spots(const void *a, const void *b)
{
	const struct spot *x = a, *y = b;

	if (x->provider_id != y->provider_id)
		return x->provider_id < y->provider_id ? -1 : 1;
	return x->row < y->row ? -1 : x->row > y->row;
}

// Sorts the spots by provider; the rows of one provider keep their order.
static void sort_spots(struct spot *spots, size_t n)
{
	if (n > 0)
		qsort(spots, n, sizeof(*spots), compare_spots);
}

// The index of the provider's first spot among n sorted spots; if it has none, the index where that would be.
static size_t first_spot(const struct spot *spots, size_t n, uint64_t provider_id)
{
	size_t low = 0, high = n;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (spots[middle].provider_id < provider_id)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

// ---- checks of the providers

static enum outcome check_generation(struct registry *registry, const struct reshaped_provider *wanted,
	const struct provider *provider)
{
	struct str given = provider_generation_given(registry->pool, wanted->generation);

	if (wanted->any_generation || wanted->generation == provider->generation)
		return OUTCOME_OK;
	return provider_fail_coded(registry, OUTCOME_CONFLICT, "concurrent_update",
		"resource provider generation conflict for provider %.*s: actual: %llu, given: %.*s",
		UUID_ARG(registry->pool, wanted->provider), (unsigned long long)provider->generation, STR_ARG(given));
}

static enum outcome fail_unknown(struct registry *registry, const struct uuid *uid)
{
	struct str text = uuid_str(registry->pool, *uid);

	return provider_fail_coded(registry, OUTCOME_BAD_DOCUMENT, "resource_provider.not_found",
		"Resource provider %.*s in inventories not found: No resource provider with uuid %.*s found", STR_ARG(text),
		STR_ARG(text));
}

static const struct provider *find_by_id(const struct provider *providers, size_t n, uint64_t id)
{
	for (size_t i = 0; i < n; i++) {
		if (providers[i].resource.id == id)
			return &providers[i];
	}
	return NULL;
}

// Reads the reshaped providers, whose rows are locked, in the order of write->reshaped, and compares their generations.
// OUTCOME_NO_CONTENT: some are not there, or their tenant is not, and all of these were refused.
static enum outcome read_providers(const struct allocation_write *write, struct provider *providers)
{
	struct registry *registry = write->registry;
	struct db_list ids = db_list_new(registry->pool, 64);
	enum outcome outcome = OUTCOME_OK;
	bool lacks = false;
	struct db_rows rows;

	for (size_t i = 0; outcome == OUTCOME_OK && i < write->n_reshaped; i++) {
		const struct uuid *uid = &write->reshaped[i].provider;
		struct locked_provider *locked_provider = allocation_write_provider(write, uid);
		if (locked_provider == NULL) {
			lacks = true;
			outcome = allocation_write_refuse(write, NULL, uid, fail_unknown(registry, uid));
			continue;
		}
		locked_provider->reshaped = &write->reshaped[i];
		db_list_add_u64(&ids, locked_provider->id);
	}
	if (outcome == OUTCOME_OK && lacks)
		outcome = OUTCOME_NO_CONTENT;
	if (outcome != OUTCOME_OK)
		return outcome;
	const struct sql_providers_locked in = { .ids = db_list_end(&ids) };
	enum db_result result = sql_providers_locked_run(registry->db, registry->pool, &in, &rows);
	if (result != DB_OK)
		return registry_db_failed(result);
	struct spot *spots = POOL_ARRAY(registry->pool, struct spot, rows.n);
	for (size_t i = 0; i < rows.n; i++)
		spots[i] = (struct spot){ sql_providers_locked_row(&rows, i)->r.id, i };
	sort_spots(spots, rows.n);
	for (size_t i = 0; outcome == OUTCOME_OK && i < write->n_reshaped; i++) {
		uint64_t id = allocation_write_provider(write, &write->reshaped[i].provider)->id;
		size_t at = first_spot(spots, rows.n, id);
		assert(at < rows.n && spots[at].provider_id == id);
		const struct sql_providers_locked_row *row = sql_providers_locked_row(&rows, spots[at].row);
		providers[i] = provider_of_columns(registry, &row->r, row->tenant, row->provider_generation);
		outcome = check_generation(registry, &write->reshaped[i], &providers[i]);
	}
	return outcome;
}

// ---- the new inventories

static size_t count_inventories(const struct allocation_write *write)
{
	size_t n = 0;

	for (size_t i = 0; i < write->n_reshaped; i++)
		n += write->reshaped[i].n;
	return n;
}

// Looks up the classes of all new inventories, one provider after the other: ids gets their ids. Locks the rows of the classes,
// so that none is deleted before COMMIT.
static enum outcome name_classes(const struct allocation_write *write, uint64_t *ids)
{
	struct registry *registry = write->registry;
	struct str *names = POOL_ARRAY(registry->pool, struct str, count_inventories(write)), unknown;
	size_t n = 0;

	for (size_t i = 0; i < write->n_reshaped; i++) {
		for (size_t k = 0; k < write->reshaped[i].n; k++)
			names[n++] = write->reshaped[i].inventories[k].class;
	}
	enum outcome outcome = provider_lock_classes(registry, names, n, ids, &unknown);
	for (size_t i = 0; outcome == OUTCOME_OK && i < n; i++) {
		if (ids[i] != 0)
			continue;
		struct str context = context_of(write);
		outcome = registry_fail(registry, OUTCOME_BAD_DOCUMENT, "%.*s No such resource class %.*s.",
			STR_ARG(context), STR_HEAD_ARG(names[i], 256));
		outcome = allocation_write_refuse(write, NULL, NULL, outcome);
	}
	return outcome;
}

static enum outcome check_inventories(const struct allocation_write *write)
{
	enum outcome outcome = OUTCOME_OK;

	for (size_t i = 0; i < write->n_reshaped; i++) {
		const struct reshaped_provider *one = &write->reshaped[i];
		for (size_t k = 0; outcome == OUTCOME_OK && k < one->n; k++) {
			outcome = inventory_check(write->registry, &one->provider, &one->inventories[k], true, "update");
			outcome = allocation_write_refuse(write, NULL, &one->provider, outcome);
		}
	}
	return outcome;
}

// Gives a delta the figures of the new inventory. What is used of it stays.
static void set_inventory(struct inventory_delta *delta, const struct inventory *inventory)
{
	delta->former_capacity = delta->capacity;
	delta->min_unit = inventory->min_unit;
	delta->max_unit = inventory->max_unit;
	delta->step_size = inventory->step_size;
	delta->capacity = inventory_capacity(inventory);
	delta->reshaped = true;
	delta->ends = false;
}

// A copy of write->deltas with room for n_new more. The deltas of reshaped providers end, unless a new inventory is found for
// them.
static struct inventory_delta *deltas_before_reshape(const struct allocation_write *write, size_t n_new)
{
	struct inventory_delta *deltas = POOL_ARRAY(write->registry->pool, struct inventory_delta, write->n_deltas + n_new);

	for (size_t i = 0; i < write->n_deltas; i++) {
		const struct locked_provider *provider = allocation_write_provider_of_id(write, write->deltas[i].resource_id);
		deltas[i] = write->deltas[i];
		deltas[i].ends = provider != NULL && provider->reshaped != NULL;
	}
	return deltas;
}

// Changes write->deltas, which have the inventories as read from the database, to the new inventories: gives new figures to those
// that stay, adds new ones, and sets ends in those that will be removed. class_ids: as name_classes() looked them up, all of
// them.
static void reshape_deltas(struct allocation_write *write, const uint64_t *class_ids)
{
	size_t n = write->n_deltas;

	write->deltas = deltas_before_reshape(write, count_inventories(write));
	for (size_t i = 0; i < write->n_reshaped; i++) {
		const struct reshaped_provider *one = &write->reshaped[i];
		uint64_t id = allocation_write_provider(write, &one->provider)->id;
		for (size_t k = 0; k < one->n; k++) {
			uint64_t class_id = *class_ids++;
			// Looks among the n_deltas old ones only, which are sorted.
			struct inventory_delta *delta = allocation_write_inventory(write, id, class_id);
			if (delta == NULL) {
				delta = &write->deltas[n++];
				*delta = (struct inventory_delta){ .resource_id = id, .class_id = class_id };
			}
			set_inventory(delta, &one->inventories[k]);
		}
	}
	write->n_deltas = n;
	allocation_write_sort(write);
}

// ---- inventories that will be removed

static struct str class_name(const struct db_rows *rows, uint64_t class_id)
{
	for (size_t i = 0; i < rows->n; i++) {
		const struct sql_inventory *columns = &sql_inventory_list_locked_row(rows, i)->i;
		if (columns->class_id == class_id)
			return columns->class;
	}
	return STR("?");
}

static enum outcome fail_in_use(const struct allocation_write *write, const struct provider *provider)
{
	struct registry *registry = write->registry;
	const struct sql_inventory_list_locked in = { .resource_id = provider->resource.id };
	struct buf names = buf_new(registry->pool, 64);
	struct db_rows rows;
	enum db_result result = sql_inventory_list_locked_run(registry->db, registry->pool, &in, &rows);

	if (result != DB_OK)
		return registry_db_failed(result);
	for (size_t i = 0; i < write->n_deltas; i++) {
		const struct inventory_delta *delta = &write->deltas[i];
		if (delta->resource_id == provider->resource.id && delta->ends && delta->used - delta->before + delta->after > 0) {
			struct str class = class_name(&rows, delta->class_id);
			buf_addf(&names, "%s%.*s", names.n > 0 ? ", " : "", STR_ARG(class));
		}
	}
	return provider_fail_coded(registry, OUTCOME_CONFLICT, "inventory.inuse",
		"update conflict: Inventory for '%.*s' on resource provider '%.*s' in use.", STR_ARG(names),
		UUID_ARG(registry->pool, provider->resource.uid));
}

// Refuses to remove inventories that are in use. The deltas are sorted by provider; one error names all such inventories of a
// provider.
static enum outcome check_ends(const struct allocation_write *write, const struct provider *providers)
{
	enum outcome outcome = OUTCOME_OK;
	uint64_t told = 0;

	for (size_t i = 0; outcome == OUTCOME_OK && i < write->n_deltas; i++) {
		const struct inventory_delta *delta = &write->deltas[i];
		if (!delta->ends || delta->used - delta->before + delta->after <= 0 || delta->resource_id == told)
			continue;
		told = delta->resource_id;
		const struct provider *provider = find_by_id(providers, write->n_reshaped, told);
		outcome = allocation_write_refuse(write, NULL, &provider->resource.uid, fail_in_use(write, provider));
	}
	return outcome;
}

// For an undo: refuses to lower a capacity below what is allocated of it by now. (A reshape itself may do so, as in the placement
// service.)
static enum outcome check_claims(const struct allocation_write *write, const uint64_t *class_ids)
{
	enum outcome outcome = OUTCOME_OK;
	size_t at = 0;

	for (size_t i = 0; i < write->n_reshaped; i++) {
		const struct reshaped_provider *one = &write->reshaped[i];
		uint64_t id = allocation_write_provider(write, &one->provider)->id;
		for (size_t k = 0; outcome == OUTCOME_OK && k < one->n; k++, at++) {
			const struct inventory_delta *delta = allocation_write_inventory(write, id, class_ids[at]);
			int64_t used = delta->used - delta->before + delta->after;
			if (used <= delta->capacity || delta->capacity >= delta->former_capacity)
				continue;
			outcome = provider_fail_coded(write->registry, OUTCOME_CONFLICT, "inventory.inuse",
				"the capacity would be less than what is allocated by now (%.*s: %lld of %lld)",
				STR_ARG(one->inventories[k].class), (long long)delta->capacity, (long long)used);
			outcome = allocation_write_refuse(write, NULL, &one->provider, outcome);
		}
	}
	return outcome;
}

// ---- the write

static struct db_call put_call(const struct allocation_write *write, const uint64_t *class_ids)
{
	struct registry *registry = write->registry;
	struct db_list list = db_list_new(registry->pool, 256);
	size_t at = 0;

	for (size_t i = 0; i < write->n_reshaped; i++) {
		const struct reshaped_provider *one = &write->reshaped[i];
		uint64_t id = allocation_write_provider(write, &one->provider)->id;
		for (size_t k = 0; k < one->n; k++, at++) {
			const struct inventory *inventory = &one->inventories[k];
			buf_addf(db_list_item(&list), "[%llu,%llu,%llu,%llu,%llu,%llu,%llu,\"%.17g\",%lld]", (unsigned long long)id,
				(unsigned long long)class_ids[at], (unsigned long long)inventory->total,
				(unsigned long long)inventory->reserved, (unsigned long long)inventory->min_unit,
				(unsigned long long)inventory->max_unit, (unsigned long long)inventory->step_size,
				inventory->allocation_ratio, (long long)inventory_capacity(inventory));
		}
	}
	return sql_inventories_put_call(registry->pool,
		&(struct sql_inventories_put){ .inventories = db_list_end(&list), .now = registry->stamp_us });
}

static struct db_call drop_call(const struct allocation_write *write)
{
	struct db_list list = db_list_new(write->registry->pool, 64);

	for (size_t i = 0; i < write->n_deltas; i++) {
		if (!write->deltas[i].ends)
			continue;
		buf_addf(db_list_item(&list), "[%llu,%llu]", (unsigned long long)write->deltas[i].resource_id,
			(unsigned long long)write->deltas[i].class_id);
	}
	return sql_inventories_delete_call(write->registry->pool, &(struct sql_inventories_delete){ .inventories =
		db_list_end(&list) });
}

// Reads the inventories that the reshape replaces, if they are to be kept: former[i] is the text for providers[i].
static enum outcome read_former(const struct allocation_write *write, const struct provider *providers, struct str *former)
{
	struct registry *registry = write->registry;
	struct db_list ids = db_list_new(registry->pool, 64);
	struct db_rows rows;

	if (!change_keeps_content(registry))
		return OUTCOME_OK;
	for (size_t i = 0; i < write->n_reshaped; i++)
		db_list_add_u64(&ids, providers[i].resource.id);
	const struct sql_inventories_locked in = { .ids = db_list_end(&ids) };
	enum db_result result = sql_inventories_locked_run(registry->db, registry->pool, &in, &rows);
	if (result != DB_OK)
		return registry_db_failed(result);
	struct inventory *list = POOL_ARRAY(registry->pool, struct inventory, rows.n);
	struct spot *spots = POOL_ARRAY(registry->pool, struct spot, rows.n);
	for (size_t i = 0; i < rows.n; i++)
		spots[i] = (struct spot){ sql_inventories_locked_row(&rows, i)->resource_id, i };
	sort_spots(spots, rows.n);
	for (size_t i = 0; i < write->n_reshaped; i++) {
		uint64_t id = providers[i].resource.id;
		size_t n = 0;
		for (size_t at = first_spot(spots, rows.n, id); at < rows.n && spots[at].provider_id == id; at++)
			list[n++] = inventory_of_columns(registry->pool, &sql_inventories_locked_row(&rows, spots[at].row)->i);
		former[i] = inventory_list_text(registry->pool, list, n);
	}
	return OUTCOME_OK;
}

// Writes each provider's change row, revision and etag, and keeps what is replaced. allocation_write_store() raises the
// generations, together with the allocations.
static enum outcome touch_providers(const struct allocation_write *write, struct provider *providers)
{
	struct str *former = POOL_ARRAY(write->registry->pool, struct str, write->n_reshaped);
	struct db_call calls[DB_MAX_BATCH];
	enum outcome outcome = write->n_reshaped > 0 ? read_former(write, providers, former) : OUTCOME_OK;
	size_t n = 0;

	for (size_t i = 0; outcome == OUTCOME_OK && i < write->n_reshaped; i++) {
		n += provider_touch(write->registry, &providers[i], "/inventories", former[i], false, &calls[n]);
		if (n + PROVIDER_TOUCHES <= COUNT_OF(calls) && i + 1 < write->n_reshaped)
			continue;
		outcome = provider_run(write->registry, calls, n);
		n = 0;
	}
	return outcome;
}

enum outcome reshape_run(struct registry *registry, const struct reshape *reshape)
{
	struct allocation_write write = {
		.registry = registry,
		.sets = reshape->sets,
		.n = reshape->n_sets,
		.reshaped = reshape->providers,
		.n_reshaped = reshape->n_providers,
	};
	enum outcome outcome = allocation_write_prepare(&write);

	return outcome == OUTCOME_OK ? allocation_write_reshape(&write) : outcome;
}

enum outcome allocation_write_reshape(struct allocation_write *write)
{
	struct registry *registry = write->registry;
	struct provider *providers = POOL_ARRAY(registry->pool, struct provider, write->n_reshaped);
	uint64_t *class_ids = POOL_ARRAY(registry->pool, uint64_t, count_inventories(write));
	enum outcome outcome = read_providers(write, providers);

	if (outcome == OUTCOME_OK)
		outcome = allocation_write_check_consumers(write);
	if (outcome == OUTCOME_OK)
		outcome = allocation_write_check_providers(write);
	if (outcome == OUTCOME_OK)
		outcome = name_classes(write, class_ids);
	if (outcome == OUTCOME_OK)
		outcome = check_inventories(write);
	if (outcome != OUTCOME_OK)
		return outcome;
	reshape_deltas(write, class_ids);
	outcome = allocation_write_count(write, context_of(write));
	if (outcome == OUTCOME_OK)
		outcome = check_ends(write, providers);
	if (outcome == OUTCOME_OK && write->refusals != NULL)
		outcome = check_claims(write, class_ids);
	if (outcome == OUTCOME_OK && write->refusals != NULL && write->refusals->n > 0)
		return OUTCOME_NO_CONTENT;
	if (outcome == OUTCOME_OK)
		outcome = touch_providers(write, providers);
	if (outcome != OUTCOME_OK)
		return outcome;
	const struct db_call put = put_call(write, class_ids), drop = drop_call(write);
	return allocation_write_store(write, write->n_reshaped > 0 ? &put : NULL, write->n_reshaped > 0 ? &drop : NULL);
}

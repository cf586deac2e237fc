// SPDX-License-Identifier: Apache-2.0
// Reshaping. It locks and reads what a write of allocations does (allocation_lock.c), for the reshaped providers as well. Then it
// replaces the inventories that were read by the new ones, in memory, so that all checks use the new ones. An inventory that will
// be removed stays in memory until the last check, which is that no consumer has allocations of it.
#include "base/base.h"

#include "registry/core/failure.h"
#include "registry/placement/allocation_internal.h"
#include "registry/placement/inventory_internal.h"
#include "sql/providers.h"

#define MALFORMED "malformed reshaper data:"

// ---- checks of the providers

static enum outcome check_generation(struct registry *registry, const struct reshaped_provider *wanted,
	const struct provider *provider)
{
	struct str given = wanted->generation == UINT64_MAX ? STR("a negative number") :
		str_printf(registry->pool, "%llu", (unsigned long long)wanted->generation);

	if (wanted->generation == provider->generation)
		return OUTCOME_OK;
	return fail_coded(registry, OUTCOME_CONFLICT, "concurrent_update",
		"resource provider generation conflict for provider %.*s: actual: %llu, given: %.*s",
		STR_ARG(uuid_str(registry->pool, wanted->provider)), (unsigned long long)provider->generation, STR_ARG(given));
}

static enum outcome fail_unknown(struct registry *registry, const struct uuid *uid)
{
	struct str text = uuid_str(registry->pool, *uid);

	return fail_coded(registry, OUTCOME_BAD_DOCUMENT, "resource_provider.not_found",
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

// Reads the reshaped providers, whose rows are locked, in the order of deal->reshaped, and compares their generations.
static enum outcome read_providers(const struct deal *deal, struct provider *providers)
{
	struct registry *registry = deal->registry;
	struct buf ids = buf_new(registry->pool, 64);
	struct db_rows rows;

	for (size_t i = 0; i < deal->n_reshaped; i++) {
		struct holding *holding = deal_provider(deal, &deal->reshaped[i].provider);
		if (holding == NULL)
			return fail_unknown(registry, &deal->reshaped[i].provider);
		holding->reshaped = &deal->reshaped[i];
		add_id(&ids, holding->id);
	}
	const struct sql_providers_locked in = { .ids = end_list(&ids) };
	enum db_result result = sql_providers_locked_run(registry->db, registry->pool, &in, &rows);
	if (result != DB_OK)
		return registry_db_failed(result);
	struct provider *found = POOL_ARRAY(registry->pool, struct provider, rows.n);
	for (size_t i = 0; i < rows.n; i++) {
		const struct sql_providers_locked_row *row = sql_providers_locked_row(&rows, i);
		found[i] = provider_of_columns(registry, &row->r, row->tenant, row->provider_generation);
	}
	enum outcome outcome = OUTCOME_OK;
	for (size_t i = 0; outcome == OUTCOME_OK && i < deal->n_reshaped; i++) {
		const struct provider *one = find_by_id(found, rows.n, deal_provider(deal, &deal->reshaped[i].provider)->id);
		assert(one != NULL);
		providers[i] = *one;
		outcome = check_generation(registry, &deal->reshaped[i], one);
	}
	return outcome;
}

// ---- the new inventories

static size_t count_inventories(const struct deal *deal)
{
	size_t n = 0;

	for (size_t i = 0; i < deal->n_reshaped; i++)
		n += deal->reshaped[i].n;
	return n;
}

// Looks up the classes of all new inventories, one provider after the other: ids gets their ids. Locks the rows of the classes,
// so that none is deleted before COMMIT.
static enum outcome name_classes(const struct deal *deal, uint64_t *ids)
{
	struct registry *registry = deal->registry;
	struct str *names = POOL_ARRAY(registry->pool, struct str, count_inventories(deal)), unknown;
	size_t n = 0;

	for (size_t i = 0; i < deal->n_reshaped; i++) {
		for (size_t k = 0; k < deal->reshaped[i].n; k++)
			names[n++] = deal->reshaped[i].inventories[k].class;
	}
	enum outcome outcome = classes_find(registry, names, n, true, ids, &unknown);
	if (outcome == OUTCOME_OK && unknown.p != NULL)
		return registry_fail(registry, OUTCOME_BAD_DOCUMENT, MALFORMED " No such resource class %.*s.",
			STR_ARG(str_part(unknown, 0, 256)));
	return outcome;
}

static enum outcome check_inventories(const struct deal *deal)
{
	enum outcome outcome = OUTCOME_OK;

	for (size_t i = 0; i < deal->n_reshaped; i++) {
		const struct reshaped_provider *one = &deal->reshaped[i];
		for (size_t k = 0; outcome == OUTCOME_OK && k < one->n; k++)
			outcome = inventory_check(deal->registry, &one->provider, &one->inventories[k], true, "update");
	}
	return outcome;
}

// Changes deal->cells, which have the inventories as read from the database, to the new inventories: gives new figures to those
// that stay, adds new ones, and sets ends in those that will be removed.
static void reshape_cells(struct deal *deal, const uint64_t *class_ids)
{
	size_t n = deal->n_cells, at = 0;
	struct cell *cells = POOL_ARRAY(deal->registry->pool, struct cell, n + count_inventories(deal));

	for (size_t i = 0; i < n; i++) {
		const struct holding *holding = deal_provider_of_id(deal, deal->cells[i].resource_id);
		cells[i] = deal->cells[i];
		cells[i].ends = holding != NULL && holding->reshaped != NULL;
	}
	deal->cells = cells;
	for (size_t i = 0; i < deal->n_reshaped; i++) {
		const struct reshaped_provider *one = &deal->reshaped[i];
		uint64_t id = deal_provider(deal, &one->provider)->id;
		for (size_t k = 0; k < one->n; k++, at++) {
			const struct inventory *inventory = &one->inventories[k];
			struct cell *cell = deal_cell(deal, id, class_ids[at]); // of those that it had before
			if (cell == NULL) {
				cell = &cells[n++];
				*cell = (struct cell){ .resource_id = id, .class_id = class_ids[at] };
			}
			cell->min_unit = inventory->min_unit;
			cell->max_unit = inventory->max_unit;
			cell->step_size = inventory->step_size;
			cell->capacity = inventory_capacity(inventory);
			cell->reshaped = true;
			cell->ends = false;
		}
	}
	deal->n_cells = n;
	deal_sort_cells(deal);
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

static enum outcome fail_in_use(const struct deal *deal, const struct provider *provider)
{
	struct registry *registry = deal->registry;
	const struct sql_inventory_list_locked in = { .resource_id = provider->resource.id };
	struct buf names = buf_new(registry->pool, 64);
	struct db_rows rows;
	enum db_result result = sql_inventory_list_locked_run(registry->db, registry->pool, &in, &rows);

	if (result != DB_OK)
		return registry_db_failed(result);
	for (size_t i = 0; i < deal->n_cells; i++) {
		const struct cell *cell = &deal->cells[i];
		if (cell->resource_id == provider->resource.id && cell->ends && cell->used - cell->before + cell->after > 0)
			buf_addf(&names, "%s%.*s", names.n > 0 ? ", " : "", STR_ARG(class_name(&rows, cell->class_id)));
	}
	return fail_coded(registry, OUTCOME_CONFLICT, "inventory.inuse",
		"update conflict: Inventory for '%.*s' on resource provider '%.*s' in use.", STR_ARG(buf_str(&names)),
		STR_ARG(uuid_str(registry->pool, provider->resource.uid)));
}

static enum outcome check_ends(const struct deal *deal, const struct provider *providers)
{
	for (size_t i = 0; i < deal->n_cells; i++) {
		const struct cell *cell = &deal->cells[i];
		if (cell->ends && cell->used - cell->before + cell->after > 0)
			return fail_in_use(deal, find_by_id(providers, deal->n_reshaped, cell->resource_id));
	}
	return OUTCOME_OK;
}

// ---- the write

static struct db_call put_call(const struct deal *deal, const uint64_t *class_ids)
{
	struct registry *registry = deal->registry;
	struct buf json = buf_new(registry->pool, 256);
	size_t at = 0;

	for (size_t i = 0; i < deal->n_reshaped; i++) {
		const struct reshaped_provider *one = &deal->reshaped[i];
		uint64_t id = deal_provider(deal, &one->provider)->id;
		for (size_t k = 0; k < one->n; k++, at++) {
			const struct inventory *inventory = &one->inventories[k];
			begin_item(&json);
			buf_addf(&json, "[%llu,%llu,%llu,%llu,%llu,%llu,%llu,\"%.17g\",%lld]", (unsigned long long)id,
				(unsigned long long)class_ids[at], (unsigned long long)inventory->total,
				(unsigned long long)inventory->reserved, (unsigned long long)inventory->min_unit,
				(unsigned long long)inventory->max_unit, (unsigned long long)inventory->step_size,
				inventory->allocation_ratio, (long long)inventory_capacity(inventory));
		}
	}
	return sql_inventories_put_call(registry->pool,
		&(struct sql_inventories_put){ .inventories = end_list(&json), .now = registry->stamp_us });
}

static struct db_call drop_call(const struct deal *deal)
{
	struct buf json = buf_new(deal->registry->pool, 64);

	for (size_t i = 0; i < deal->n_cells; i++) {
		if (!deal->cells[i].ends)
			continue;
		begin_item(&json);
		buf_addf(&json, "[%llu,%llu]", (unsigned long long)deal->cells[i].resource_id,
			(unsigned long long)deal->cells[i].class_id);
	}
	return sql_inventories_delete_call(deal->registry->pool, &(struct sql_inventories_delete){ .inventories = end_list(&json) });
}

// Writes each provider's change row, revision and etag. deal_write() raises the generations, together with the allocations.
static enum outcome touch_providers(const struct deal *deal, struct provider *providers)
{
	struct db_call calls[DB_MAX_BATCH];
	enum outcome outcome = OUTCOME_OK;
	size_t n = 0;

	for (size_t i = 0; outcome == OUTCOME_OK && i < deal->n_reshaped; i++) {
		n += provider_touch(deal->registry, &providers[i], "/inventories", false, &calls[n]);
		if (n + PROVIDER_TOUCHES <= COUNT_OF(calls) && i + 1 < deal->n_reshaped)
			continue;
		outcome = provider_run(deal->registry, calls, n);
		n = 0;
	}
	return outcome;
}

enum outcome reshape_run(struct registry *registry, const struct reshape *reshape)
{
	struct deal deal = {
		.registry = registry,
		.sets = reshape->sets,
		.n = reshape->n_sets,
		.reshaped = reshape->providers,
		.n_reshaped = reshape->n_providers,
	};
	enum outcome outcome = deal_prepare(&deal);

	if (outcome != OUTCOME_OK)
		return outcome;
	struct provider *providers = POOL_ARRAY(registry->pool, struct provider, deal.n_reshaped);
	uint64_t *class_ids = POOL_ARRAY(registry->pool, uint64_t, count_inventories(&deal));
	outcome = read_providers(&deal, providers);
	if (outcome == OUTCOME_OK)
		outcome = deal_check_consumers(&deal);
	if (outcome == OUTCOME_OK)
		outcome = deal_check_providers(&deal);
	if (outcome == OUTCOME_OK)
		outcome = name_classes(&deal, class_ids);
	if (outcome == OUTCOME_OK)
		outcome = check_inventories(&deal);
	if (outcome != OUTCOME_OK)
		return outcome;
	reshape_cells(&deal, class_ids);
	outcome = deal_place(&deal, STR(MALFORMED));
	if (outcome == OUTCOME_OK)
		outcome = check_ends(&deal, providers);
	if (outcome == OUTCOME_OK)
		outcome = touch_providers(&deal, providers);
	if (outcome != OUTCOME_OK)
		return outcome;
	const struct db_call put = put_call(&deal, class_ids), drop = drop_call(&deal);
	return deal_write(&deal, &put, &drop);
}

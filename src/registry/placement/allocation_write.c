// SPDX-License-Identifier: Apache-2.0
// Writes allocations of one or several consumers. All that the write concerns is locked first, always in the order tenants,
// providers, consumers (allocation_lock.c). Then it is checked in memory, and written by a fixed number of statements, whatever
// the number of providers and consumers.
#include "base/base.h"

#include "registry/core/failure.h"
#include "registry/log/change.h"
#include "registry/placement/allocation_internal.h"
#include "repr/json/doc.h"

// ---- checks

static enum outcome check_consumer(struct registry *registry, const struct allocation_set *set, const struct known *known)
{
	bool fits = set->check == CONSUMER_UNCHECKED || (set->check == CONSUMER_IS_NEW && !known->there) ||
		    (set->check == CONSUMER_IS_AT && known->there && set->generation == known->generation);
	struct str is = STR("null"), got = STR("null");

	if (fits)
		return OUTCOME_OK;
	if (known->there)
		is = str_printf(registry->pool, "%llu", (unsigned long long)known->generation);
	if (set->check == CONSUMER_IS_AT)
		got = str_printf(registry->pool, "%llu", (unsigned long long)set->generation);
	return fail_coded(registry, OUTCOME_CONFLICT, "concurrent_update",
		"consumer generation conflict - expected %.*s but got %.*s", STR_ARG(is), STR_ARG(got));
}

static enum outcome fail_units(struct registry *registry, const struct allocation *allocation, const char *format)
{
	struct str uid = uuid_str(registry->pool, allocation->provider);

	return registry_fail(registry, OUTCOME_CONFLICT, "Unable to allocate inventory: %s '%.*s' on resource provider '%.*s'%s",
		format[0] == 'I' ? "Inventory for" : "Unable to create allocation for", STR_ARG(allocation->class), STR_ARG(uid),
		format[0] == 'I' ? " invalid." : format);
}

// Calls f for each allocation with the id of its class (0: unknown), as long as f returns OUTCOME_OK.
typedef enum outcome (*each_allocation)(const struct deal *deal, const struct allocation_set *set,
	const struct allocation *allocation, uint64_t class_id, struct str context);

static enum outcome for_each(const struct deal *deal, each_allocation f, struct str context)
{
	size_t at = 0;
	enum outcome outcome = OUTCOME_OK;

	for (size_t i = 0; outcome == OUTCOME_OK && i < deal->n; i++) {
		const struct allocation_set *set = &deal->sets[i];
		for (size_t k = 0; outcome == OUTCOME_OK && k < set->n; k++)
			outcome = f(deal, set, &set->allocations[k], deal->class_ids[at++], context);
	}
	return outcome;
}

static enum outcome check_provider(const struct deal *deal, const struct allocation_set *set,
	const struct allocation *allocation, uint64_t class_id, struct str context)
{
	UNUSED(set);
	UNUSED(class_id);
	UNUSED(context);
	if (deal_provider(deal, &allocation->provider) != NULL)
		return OUTCOME_OK;
	return registry_fail(deal->registry, OUTCOME_BAD_DOCUMENT, "Allocation for resource provider '%.*s' that does not exist.",
		STR_ARG(uuid_str(deal->registry->pool, allocation->provider)));
}

static enum outcome check_class(const struct deal *deal, const struct allocation_set *set,
	const struct allocation *allocation, uint64_t class_id, struct str context)
{
	UNUSED(set);
	if (class_id != 0)
		return OUTCOME_OK;
	return registry_fail(deal->registry, OUTCOME_BAD_DOCUMENT, "%.*s No such resource class %.*s.", STR_ARG(context),
		STR_ARG(str_part(allocation->class, 0, 256)));
}

// Checks one allocation against its inventory, and adds its amount there.
static enum outcome place(const struct deal *deal, const struct allocation_set *set,
	const struct allocation *allocation, uint64_t class_id, struct str context)
{
	struct holding *holding = deal_provider(deal, &allocation->provider);

	UNUSED(set);
	UNUSED(context);
	assert(holding != NULL && class_id != 0);
	struct cell *cell = deal_cell(deal, holding->id, class_id);
	if (cell == NULL)
		return fail_units(deal->registry, allocation, "I");
	if (allocation->amount < cell->min_unit || allocation->amount > cell->max_unit ||
		allocation->amount % cell->step_size != 0)
		return fail_units(deal->registry, allocation, ". The requested amount would violate inventory constraints.");
	cell->after += (int64_t)allocation->amount;
	holding->receives = true;
	return OUTCOME_OK;
}

// More than the capacity may be used if that was so before and the use does not rise: if a provider's capacity has shrunk, its
// allocations may still be reduced, or passed to another consumer. The new capacity in a reshape is never exceeded.
static enum outcome check_capacity(const struct deal *deal, const struct allocation_set *set,
	const struct allocation *allocation, uint64_t class_id, struct str context)
{
	const struct cell *cell = deal_cell(deal, deal_provider(deal, &allocation->provider)->id, class_id);
	int64_t used = cell->used - cell->before + cell->after;

	UNUSED(set);
	UNUSED(context);
	if (used <= cell->capacity || (!cell->reshaped && used <= cell->used))
		return OUTCOME_OK;
	return fail_units(deal->registry, allocation, ". The requested amount would exceed the capacity.");
}

enum outcome deal_check_consumers(const struct deal *deal)
{
	enum outcome outcome = OUTCOME_OK;

	for (size_t i = 0; outcome == OUTCOME_OK && i < deal->n; i++)
		outcome = check_consumer(deal->registry, &deal->sets[i], &deal->known[i]);
	return outcome;
}

enum outcome deal_check_providers(const struct deal *deal)
{
	return for_each(deal, check_provider, STR_NONE);
}

enum outcome deal_place(const struct deal *deal, struct str context)
{
	enum outcome outcome = for_each(deal, check_class, context);

	if (outcome == OUTCOME_OK)
		outcome = for_each(deal, place, context);
	return outcome == OUTCOME_OK ? for_each(deal, check_capacity, context) : outcome;
}

// ---- writing

static void add_text(struct buf *json, struct str text)
{
	buf_addc(json, ',');
	json_add_string(json, text);
}

// Clients from before 1.8 name neither project nor user.
static struct str or_incomplete(struct str told)
{
	return told.p != NULL ? told : STR(CONSUMER_INCOMPLETE);
}

static void add_consumer(struct buf *json, const struct allocation_set *set, const struct known *known)
{
	struct str type = set->type.p != NULL ? set->type : known->type;

	begin_item(json);
	buf_addc(json, '[');
	add_hex(json, &set->consumer);
	add_text(json, or_incomplete(set->project));
	add_text(json, or_incomplete(set->user));
	if (type.p == NULL || str_eq(type, STR(CONSUMER_TYPE_UNKNOWN)))
		BUF_LIT(json, ",null");
	else
		add_text(json, type);
	buf_addc(json, ']');
}

// The statements for the consumers. A consumer without allocations is deleted.
static size_t consumer_calls(const struct deal *deal, struct db_call *calls)
{
	struct pool *pool = deal->registry->pool;
	int64_t now = deal->registry->stamp_us;
	struct buf types = buf_new(pool, 64), made = buf_new(pool, 64), changed = buf_new(pool, 64), gone = buf_new(pool, 64);
	size_t n = 0;

	for (size_t i = 0; i < deal->n; i++) {
		const struct allocation_set *set = &deal->sets[i];
		if (set->n == 0) {
			begin_item(&gone);
			add_hex(&gone, &set->consumer);
			continue;
		}
		add_consumer(deal->known[i].there ? &changed : &made, set, &deal->known[i]);
		if (set->type.p == NULL || str_eq(set->type, STR(CONSUMER_TYPE_UNKNOWN)))
			continue;
		begin_item(&types);
		json_add_string(&types, set->type);
	}
	calls[n++] = sql_allocations_delete_call(pool, &(struct sql_allocations_delete){ .uids = deal->consumers });
	if (types.n > 0)
		calls[n++] = sql_consumer_types_add_call(pool, &(struct sql_consumer_types_add){ .names = end_list(&types) });
	if (made.n > 0)
		calls[n++] = sql_consumers_insert_call(pool,
			&(struct sql_consumers_insert){ .consumers = end_list(&made), .now = now });
	if (changed.n > 0)
		calls[n++] = sql_consumers_update_call(pool,
			&(struct sql_consumers_update){ .consumers = end_list(&changed), .now = now });
	if (gone.n > 0)
		calls[n++] = sql_consumers_delete_call(pool, &(struct sql_consumers_delete){ .uids = end_list(&gone) });
	return n;
}

static struct db_call allocate_call(const struct deal *deal)
{
	struct pool *pool = deal->registry->pool;
	struct buf json = buf_new(pool, 256);
	size_t at = 0;

	for (size_t i = 0; i < deal->n; i++) {
		const struct allocation_set *set = &deal->sets[i];
		for (size_t k = 0; k < set->n; k++, at++) {
			const struct allocation *allocation = &set->allocations[k];
			begin_item(&json);
			buf_addc(&json, '[');
			add_hex(&json, &set->consumer);
			buf_addf(&json, ",%llu,%llu,%llu]",
				(unsigned long long)deal_provider(deal, &allocation->provider)->id,
				(unsigned long long)deal->class_ids[at], (unsigned long long)allocation->amount);
		}
	}
	return sql_allocations_insert_call(pool,
		&(struct sql_allocations_insert){ .allocations = end_list(&json), .now = deal->registry->stamp_us });
}

static struct db_call use_call(const struct deal *deal)
{
	struct buf json = buf_new(deal->registry->pool, 256);

	for (size_t i = 0; i < deal->n_cells; i++) {
		const struct cell *cell = &deal->cells[i];
		if (cell->before == cell->after)
			continue;
		begin_item(&json);
		buf_addf(&json, "[%llu,%llu,%lld]", (unsigned long long)cell->resource_id, (unsigned long long)cell->class_id,
			(long long)(cell->after - cell->before));
	}
	return sql_inventories_use_call(deal->registry->pool, &(struct sql_inventories_use){ .deltas = end_list(&json) });
}

// By how much a provider's generation rises: by one where it gets allocations, or where a set without any takes some away; a
// provider that only gives some up keeps its own, as clients expect. By one for its new inventories, and by one more if there
// are any, since the real service writes them in two steps, and clients count along.
static unsigned steps_of(const struct deal *deal, const struct holding *holding)
{
	unsigned steps = holding->receives || (holding->emptied && !deal->deletes) ? 1 : 0;

	if (holding->reshaped != NULL)
		steps += holding->reshaped->n > 0 ? 2 : 1;
	return steps;
}

// The change rows, revisions and generations of the providers.
static size_t provider_calls(const struct deal *deal, struct db_call *calls)
{
	struct registry *registry = deal->registry;
	struct pool *pool = registry->pool;
	struct buf ids = buf_new(pool, 64), raises = buf_new(pool, 64);
	size_t n = 0;

	for (size_t i = 0; i < deal->n_holdings; i++) {
		const struct holding *holding = &deal->holdings[i];
		unsigned steps = steps_of(deal, holding);
		if (holding->receives || holding->gives)
			add_id(&ids, holding->id);
		if (steps > 0) {
			begin_item(&raises);
			buf_addf(&raises, "[%llu,%u]", (unsigned long long)holding->id, steps);
		}
	}
	if (ids.n > 0) {
		struct str list = end_list(&ids);
		calls[n++] = changes_of_allocations(registry, list);
		calls[n++] = sql_providers_touch_call(pool, &(struct sql_providers_touch){ .ids = list, .now = registry->stamp_us });
	}
	if (raises.n > 0)
		calls[n++] = sql_providers_raise_call(pool, &(struct sql_providers_raise){ .raises = end_list(&raises) });
	return n;
}

enum outcome deal_write(const struct deal *deal, const struct db_call *put, const struct db_call *drop)
{
	struct db_call calls[12];
	size_t n = 0, allocate = 0;

	if (put != NULL)
		calls[n++] = *put;
	n += consumer_calls(deal, &calls[n]);

	if (deal->n_allocations > 0) {
		allocate = n;
		calls[n++] = allocate_call(deal);
	}
	calls[n++] = use_call(deal);
	n += provider_calls(deal, &calls[n]);
	if (drop != NULL)
		calls[n++] = *drop;
	assert(n <= COUNT_OF(calls));
	enum db_result result = db_run_batch(deal->registry->db, deal->registry->pool, calls, n);
	if (result != DB_OK)
		return registry_db_failed(result);
	if (allocate > 0 && calls[allocate].result == DB_DUPLICATE)
		return registry_fail(deal->registry, OUTCOME_BAD_DOCUMENT,
			"the allocations name a resource class of one resource provider twice: add the amounts up");
	for (size_t i = 0; i < n; i++) {
		if (calls[i].result == DB_DUPLICATE)
			return lose_race(deal->registry);
	}
	return OUTCOME_NO_CONTENT;
}

enum outcome allocations_write(struct registry *registry, const struct allocation_set *sets, size_t n, struct str context)
{
	struct deal deal = { .registry = registry, .sets = sets, .n = n };
	enum outcome outcome = deal_prepare(&deal);

	if (outcome == OUTCOME_OK)
		outcome = deal_check_consumers(&deal);
	if (outcome == OUTCOME_OK)
		outcome = deal_check_providers(&deal);
	if (outcome == OUTCOME_OK)
		outcome = deal_place(&deal, context);
	if (outcome != OUTCOME_OK)
		return outcome;
	// No provider is concerned: the consumers have no allocations and get none.
	return deal.n_holdings == 0 ? OUTCOME_NO_CONTENT : deal_write(&deal, NULL, NULL);
}

enum outcome allocations_delete(struct registry *registry, const struct uuid *consumer)
{
	const struct allocation_set set = { .consumer = *consumer };
	struct deal deal = { .registry = registry, .sets = &set, .n = 1, .deletes = true };
	enum outcome outcome = deal_prepare(&deal);

	if (outcome != OUTCOME_OK)
		return outcome;
	if (!deal.known[0].there)
		return registry_fail(registry, OUTCOME_NOT_FOUND, "No allocations for consumer '%.*s'",
			STR_ARG(uuid_str(registry->pool, *consumer)));
	return deal_write(&deal, NULL, NULL);
}

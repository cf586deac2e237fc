// SPDX-License-Identifier: Apache-2.0
// Writes allocations of one or several consumers. All that the write concerns is locked first, always in the order tenants,
// providers, consumers (allocation_lock.c). Then it is checked in memory, and written by a fixed number of statements, whatever
// the number of providers and consumers.
#include "base/base.h"

#include "db/list.h"
#include "registry/core/failure.h"
#include "registry/log/change.h"
#include "registry/placement/allocation_internal.h"
#include "repr/json/doc.h"

// ---- checks

static enum outcome check_consumer(struct registry *registry, const struct allocation_set *set, const struct known *known)
{
	bool fits = set->check == CONSUMER_UNCHECKED || (set->check == CONSUMER_IS_NEW && !known->there) ||
		    (set->check == CONSUMER_IS_AT && known->there && set->generation == known->generation);
	struct str is = STR("null"), got = STR("None"); // two words for it, as OpenStack's service has them

	if (fits)
		return OUTCOME_OK;
	if (known->there)
		is = str_printf(registry->pool, "%llu", (unsigned long long)known->generation);
	if (set->check == CONSUMER_IS_AT)
		got = provider_generation_given(registry->pool, set->generation);
	return provider_fail_coded(registry, OUTCOME_CONFLICT, "concurrent_update",
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
typedef enum outcome (*each_allocation)(const struct allocation_write *write, const struct allocation_set *set,
	const struct allocation *allocation, uint64_t class_id, struct str context);

static enum outcome for_each(const struct allocation_write *write, each_allocation f, struct str context)
{
	size_t at = 0;
	enum outcome outcome = OUTCOME_OK;

	for (size_t i = 0; outcome == OUTCOME_OK && i < write->n; i++) {
		const struct allocation_set *set = &write->sets[i];
		for (size_t k = 0; outcome == OUTCOME_OK && k < set->n; k++) {
			const struct allocation *allocation = &set->allocations[k];
			outcome = f(write, set, allocation, write->class_ids[at++], context);
			outcome = allocation_write_refuse(write, &set->consumer, &allocation->provider, outcome);
		}
	}
	return outcome;
}

enum outcome allocation_write_refuse(const struct allocation_write *write, const struct uuid *consumer, const struct uuid *provider,
	enum outcome outcome)
{
	struct allocation_refusals *refusals = write->refusals;

	if (refusals == NULL || outcome == OUTCOME_OK || outcome == OUTCOME_UNAVAILABLE || outcome == OUTCOME_INTERNAL)
		return outcome;
	refusals->take(refusals->arg, consumer, provider, outcome);
	refusals->n++;
	*write->registry->problem = (struct problem){ .n_members = 0 };
	return OUTCOME_OK;
}

// Has an earlier check refused this allocation, because it has no provider, class or inventory? Only where refusals are collected
// does the write go on after one.
static bool is_refused(const struct allocation_write *write, const struct allocation *allocation, uint64_t class_id)
{
	const struct locked_provider *provider = allocation_write_provider(write, &allocation->provider);

	return write->refusals != NULL &&
	       (provider == NULL || class_id == 0 || allocation_write_inventory(write, provider->id, class_id) == NULL);
}

static enum outcome check_provider(const struct allocation_write *write, const struct allocation_set *set,
	const struct allocation *allocation, uint64_t class_id, struct str context)
{
	UNUSED(set);
	UNUSED(class_id);
	UNUSED(context);
	if (allocation_write_provider(write, &allocation->provider) != NULL)
		return OUTCOME_OK;
	return registry_fail(write->registry, OUTCOME_BAD_DOCUMENT,
		"Allocation for resource provider '%.*s' that does not exist.",
		UUID_ARG(write->registry->pool, allocation->provider));
}

static enum outcome check_class(const struct allocation_write *write, const struct allocation_set *set,
	const struct allocation *allocation, uint64_t class_id, struct str context)
{
	UNUSED(set);
	if (class_id != 0)
		return OUTCOME_OK;
	return registry_fail(write->registry, OUTCOME_BAD_DOCUMENT, "%.*s No such resource class %.*s.", STR_ARG(context),
		STR_HEAD_ARG(allocation->class, 256));
}

// Checks one allocation against the units of its inventory, and adds its amount to what will be used of it.
static enum outcome place_allocation(const struct allocation_write *write, const struct allocation_set *set,
	const struct allocation *allocation, uint64_t class_id, struct str context)
{
	struct locked_provider *locked_provider = allocation_write_provider(write, &allocation->provider);

	UNUSED(set);
	UNUSED(context);
	if (write->refusals != NULL && (locked_provider == NULL || class_id == 0)) // refused already
		return OUTCOME_OK;
	assert(locked_provider != NULL && class_id != 0);
	struct inventory_delta *delta = allocation_write_inventory(write, locked_provider->id, class_id);
	if (delta == NULL)
		return fail_units(write->registry, allocation, "I");
	if (allocation->amount < delta->min_unit || allocation->amount > delta->max_unit ||
		allocation->amount % delta->step_size != 0)
		return fail_units(write->registry, allocation, ". The requested amount would violate inventory constraints.");
	delta->after += (int64_t)allocation->amount;
	locked_provider->receives = true;
	return OUTCOME_OK;
}

// More than the capacity may be used if that was so before and the use does not rise: if a provider's capacity has shrunk, its
// allocations may still be reduced, or passed to another consumer. The new capacity in a reshape is never exceeded.
static enum outcome check_capacity(const struct allocation_write *write, const struct allocation_set *set,
	const struct allocation *allocation, uint64_t class_id, struct str context)
{
	if (is_refused(write, allocation, class_id))
		return OUTCOME_OK;
	const struct inventory_delta *delta = allocation_write_inventory(write, allocation_write_provider(write,
		&allocation->provider)->id, class_id);
	int64_t used = delta->used - delta->before + delta->after;

	UNUSED(set);
	UNUSED(context);
	if (used <= delta->capacity || (!delta->reshaped && used <= delta->used))
		return OUTCOME_OK;
	return fail_units(write->registry, allocation, ". The requested amount would exceed the capacity.");
}

enum outcome allocation_write_check_consumers(const struct allocation_write *write)
{
	enum outcome outcome = OUTCOME_OK;

	for (size_t i = 0; outcome == OUTCOME_OK && i < write->n; i++)
		outcome = check_consumer(write->registry, &write->sets[i], &write->known[i]);
	return outcome;
}

enum outcome allocation_write_check_providers(const struct allocation_write *write)
{
	return for_each(write, check_provider, STR_NONE);
}

enum outcome allocation_write_count(const struct allocation_write *write, struct str context)
{
	enum outcome outcome = for_each(write, check_class, context);

	if (outcome == OUTCOME_OK)
		outcome = for_each(write, place_allocation, context);
	return outcome == OUTCOME_OK ? for_each(write, check_capacity, context) : outcome;
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

static void add_consumer(struct db_list *list, const struct allocation_set *set, const struct known *known)
{
	struct str type = set->type.p != NULL ? set->type : known->type;

	struct buf *json = db_list_item(list);
	buf_addc(json, '[');
	db_item_uuid(json, &set->consumer);
	add_text(json, or_incomplete(set->project));
	add_text(json, or_incomplete(set->user));
	if (type.p == NULL || str_eq(type, STR(CONSUMER_TYPE_UNKNOWN)))
		BUF_LIT(json, ",null");
	else
		add_text(json, type);
	buf_addc(json, ']');
}

// The statements for the consumers. A consumer without allocations is deleted.
static size_t consumer_calls(const struct allocation_write *write, struct db_call *calls)
{
	struct pool *pool = write->registry->pool;
	int64_t now = write->registry->stamp_us;
	struct db_list types = db_list_new(pool, 64), made = db_list_new(pool, 64), changed = db_list_new(pool, 64),
		       gone = db_list_new(pool, 64);
	size_t n = 0;

	for (size_t i = 0; i < write->n; i++) {
		const struct allocation_set *set = &write->sets[i];
		if (set->n == 0) {
			db_list_add_uuid(&gone, &set->consumer);
			continue;
		}
		add_consumer(write->known[i].there ? &changed : &made, set, &write->known[i]);
		if (set->type.p == NULL || str_eq(set->type, STR(CONSUMER_TYPE_UNKNOWN)))
			continue;
		json_add_string(db_list_item(&types), set->type);
	}
	calls[n++] = sql_allocations_delete_call(pool, &(struct sql_allocations_delete){ .uids = write->consumers });
	if (types.n > 0)
		calls[n++] = sql_consumer_types_add_call(pool, &(struct sql_consumer_types_add){ .names =
			db_list_end(&types) });
	if (made.n > 0)
		calls[n++] = sql_consumers_insert_call(pool,
			&(struct sql_consumers_insert){ .consumers = db_list_end(&made), .now = now });
	if (changed.n > 0)
		calls[n++] = sql_consumers_update_call(pool,
			&(struct sql_consumers_update){ .consumers = db_list_end(&changed), .now = now });
	if (gone.n > 0)
		calls[n++] = sql_consumers_delete_call(pool, &(struct sql_consumers_delete){ .uids =
			db_list_end(&gone) });
	return n;
}

static struct db_call allocate_call(const struct allocation_write *write)
{
	struct pool *pool = write->registry->pool;
	struct db_list list = db_list_new(pool, 256);
	size_t at = 0;

	for (size_t i = 0; i < write->n; i++) {
		const struct allocation_set *set = &write->sets[i];
		for (size_t k = 0; k < set->n; k++, at++) {
			const struct allocation *allocation = &set->allocations[k];
			struct buf *json = db_list_item(&list);
			buf_addc(json, '[');
			db_item_uuid(json, &set->consumer);
			buf_addf(json, ",%llu,%llu,%llu]",
				(unsigned long long)allocation_write_provider(write, &allocation->provider)->id,
				(unsigned long long)write->class_ids[at], (unsigned long long)allocation->amount);
		}
	}
	return sql_allocations_insert_call(pool,
		&(struct sql_allocations_insert){ .allocations = db_list_end(&list), .now = write->registry->stamp_us });
}

static struct db_call use_call(const struct allocation_write *write)
{
	struct db_list list = db_list_new(write->registry->pool, 256);

	for (size_t i = 0; i < write->n_deltas; i++) {
		const struct inventory_delta *delta = &write->deltas[i];
		if (delta->before == delta->after)
			continue;
		buf_addf(db_list_item(&list), "[%llu,%llu,%lld]", (unsigned long long)delta->resource_id, (unsigned long long)delta->class_id,
			(long long)(delta->after - delta->before));
	}
	return sql_inventories_use_call(write->registry->pool, &(struct sql_inventories_use){ .deltas =
		db_list_end(&list) });
}

// By how much a provider's generation rises: by one where it gets allocations, or where a set without any takes some away; a
// provider that only gives some up keeps its own, as clients expect. By one for its new inventories, and by one more if there
// are any, since the real service writes them in two steps, and clients count along.
static unsigned steps_of(const struct allocation_write *write, const struct locked_provider *locked_provider)
{
	unsigned steps = locked_provider->receives || (locked_provider->emptied && !write->deletes) ? 1 : 0;

	if (locked_provider->reshaped != NULL)
		steps += locked_provider->reshaped->n > 0 ? 2 : 1;
	return steps;
}

// The consumers that this undo makes again.
static size_t renew_call(const struct allocation_write *write, uint64_t touched_id, struct db_call *call)
{
	struct pool *pool = write->registry->pool;
	struct db_list list = db_list_new(pool, 64);

	for (size_t i = 0; write->renewed != NULL && i < write->n; i++) {
		if (write->known[i].there || write->sets[i].n == 0)
			continue;
		struct buf *json = db_list_item(&list);
		buf_addc(json, '[');
		db_item_uuid(json, &write->sets[i].consumer);
		buf_addf(json, ",%llu]", (unsigned long long)write->renewed[i]);
	}
	if (list.n == 0)
		return 0;
	*call = sql_consumers_renew_call(pool,
		&(struct sql_consumers_renew){ .consumers = db_list_end(&list), .resource_id = touched_id });
	return 1;
}

// The change rows with what they replace, revisions and generations of the providers.
static size_t provider_calls(const struct allocation_write *write, struct db_call *calls)
{
	struct registry *registry = write->registry;
	struct pool *pool = registry->pool;
	struct db_list ids = db_list_new(pool, 64), raises = db_list_new(pool, 64);
	uint64_t touched_id = 0;
	size_t n = 0;

	for (size_t i = 0; i < write->n_locked_providers; i++) {
		const struct locked_provider *locked_provider = &write->locked_providers[i];
		unsigned steps = steps_of(write, locked_provider);
		if (locked_provider->receives || locked_provider->gives) {
			db_list_add_u64(&ids, locked_provider->id);
			touched_id = locked_provider->id;
		}
		if (steps > 0) {
			buf_addf(db_list_item(&raises), "[%llu,%u]", (unsigned long long)locked_provider->id, steps);
		}
	}
	if (ids.n > 0) {
		struct str list = db_list_end(&ids);
		calls[n++] = changes_of_allocations(registry, list);
		calls[n++] = sql_providers_touch_call(pool, &(struct sql_providers_touch){ .ids = list, .now =
			registry->stamp_us });
		n = change_keep_allocations(registry, allocation_write_former(write), calls, n);
		n += renew_call(write, touched_id, &calls[n]);
	}
	if (raises.n > 0)
		calls[n++] = sql_providers_raise_call(pool, &(struct sql_providers_raise){ .raises =
			db_list_end(&raises) });
	return n;
}

enum outcome allocation_write_store(const struct allocation_write *write, const struct db_call *put, const struct db_call *drop)
{
	struct db_call calls[DB_MAX_BATCH];
	size_t n = 0, allocate = 0;

	assert(db_txn_writes(write->registry->db));
	if (put != NULL)
		calls[n++] = *put;
	n += consumer_calls(write, &calls[n]);

	if (write->n_allocations > 0) {
		allocate = n;
		calls[n++] = allocate_call(write);
	}
	calls[n++] = use_call(write);
	n += provider_calls(write, &calls[n]);
	if (drop != NULL)
		calls[n++] = *drop;
	assert(n <= COUNT_OF(calls));
	enum db_result result = db_run_batch(write->registry->db, write->registry->pool, calls, n);
	if (result != DB_OK)
		return registry_db_failed(result);
	if (allocate > 0 && calls[allocate].result == DB_DUPLICATE)
		return registry_fail(write->registry, OUTCOME_BAD_DOCUMENT,
			"the allocations name a resource class of one resource provider twice: add the amounts up");
	for (size_t i = 0; i < n; i++) {
		if (calls[i].result == DB_DUPLICATE)
			return allocation_write_again(write->registry);
	}
	for (size_t i = 0; i < write->n; i++) {
		if (write->sets[i].n > 0)
			consumer_concerns(write->registry, or_incomplete(write->sets[i].project));
	}
	return OUTCOME_NO_CONTENT;
}

enum outcome allocations_write(struct registry *registry, const struct allocation_set *sets, size_t n, struct str context)
{
	struct allocation_write write = { .registry = registry, .sets = sets, .n = n };

	assert(db_txn_writes(registry->db) && n > 0);
	enum outcome outcome = allocation_write_prepare(&write);
	if (outcome == OUTCOME_OK)
		outcome = allocation_write_check_consumers(&write);
	if (outcome == OUTCOME_OK)
		outcome = allocation_write_check_providers(&write);
	if (outcome == OUTCOME_OK)
		outcome = allocation_write_count(&write, context);
	if (outcome != OUTCOME_OK)
		return outcome;
	// No provider is concerned: the consumers have no allocations and get none.
	return write.n_locked_providers == 0 ? OUTCOME_NO_CONTENT : allocation_write_store(&write, NULL, NULL);
}

enum outcome allocations_delete(struct registry *registry, const struct uuid *consumer)
{
	const struct allocation_set set = { .consumer = *consumer };
	struct allocation_write write = { .registry = registry, .sets = &set, .n = 1, .deletes = true };

	assert(db_txn_writes(registry->db));
	enum outcome outcome = allocation_write_prepare(&write);
	if (outcome != OUTCOME_OK)
		return outcome;
	if (!write.known[0].there)
		return registry_fail(registry, OUTCOME_NOT_FOUND, "No allocations for consumer '%.*s'",
			UUID_ARG(registry->pool, *consumer));
	return allocation_write_store(&write, NULL, NULL);
}

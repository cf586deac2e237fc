// SPDX-License-Identifier: Apache-2.0
// What changes add to the periods in which they are counted, by tenant and type.
#include "base/base.h"

#include "registry/usage/usage_verify_internal.h"

#include "base/pool.h"
#include "registry/core/failure.h"

enum { CHANGES_AT_ONCE = 5000, SLOTS_MIN = 1024 };

// What a change adds to a period after the present one.
struct usage_later {
	size_t pair;      // index
	int64_t until_us; // the end of that period
	struct usage_sums sums;
};

// ---- lists and pairs

// Appends an item of that size, the same for all items of the list, and returns it.
static void *list_add(struct usage_verifier *v, struct usage_items *list, size_t size)
{
	assert(list->n <= list->room);
	if (list->n == list->room) {
		size_t room = list->room > 0 ? list->room * 2 : SLOTS_MIN;
		void *items = pool_calloc(v->pool, room, size);
		if (list->n > 0)
			memcpy(items, list->items, list->n * size);
		list->items = items;
		list->room = room;
	}
	return (char *)list->items + list->n++ * size;
}

struct usage_pair *usage_pair_at(const struct usage_verifier *v, size_t index)
{
	assert(index < v->pairs.n);
	return (struct usage_pair *)v->pairs.items + index;
}

// The slot of that pair; if there is no such pair, the free slot where it belongs. At least one slot is free.
static size_t slot_of(const struct usage_verifier *v, uint64_t tenant_id, uint64_t type_id)
{
	uint64_t hash = (tenant_id * UINT64_C(0x9e3779b97f4a7c15) + type_id) * UINT64_C(0xbf58476d1ce4e5b9);

	assert(v->n_slots > 0 && (v->n_slots & (v->n_slots - 1)) == 0 && v->pairs.n < v->n_slots);
	size_t slot = (size_t)(hash >> 32) & (v->n_slots - 1);

	for (; v->slots[slot] != 0; slot = (slot + 1) & (v->n_slots - 1)) {
		const struct usage_pair *pair = usage_pair_at(v, v->slots[slot] - 1);
		if (pair->tenant_id == tenant_id && pair->type_id == type_id)
			break;
	}
	return slot;
}

static void grow_slots(struct usage_verifier *v)
{
	v->n_slots = v->n_slots > 0 ? v->n_slots * 2 : SLOTS_MIN;
	v->slots = POOL_ARRAY(v->pool, size_t, v->n_slots);
	for (size_t i = 0; i < v->pairs.n; i++) {
		const struct usage_pair *pair = usage_pair_at(v, i);
		v->slots[slot_of(v, pair->tenant_id, pair->type_id)] = i + 1;
	}
}

size_t usage_pair_find(struct usage_verifier *v, uint64_t tenant_id, uint64_t type_id)
{
	if (v->pairs.n * 2 >= v->n_slots)
		grow_slots(v);
	size_t slot = slot_of(v, tenant_id, type_id);
	if (v->slots[slot] != 0)
		return v->slots[slot] - 1;
	struct usage_pair *pair = list_add(v, &v->pairs, sizeof(*pair));
	size_t index = v->pairs.n - 1;
	*pair = (struct usage_pair){ .tenant_id = tenant_id, .type_id = type_id };
	v->slots[slot] = index + 1;
	if (type_id != USAGE_TYPE_OF_TENANT) {
		size_t head = usage_pair_find(v, tenant_id, USAGE_TYPE_OF_TENANT);
		usage_pair_at(v, index)->next_of_tenant = usage_pair_at(v, head)->next_of_tenant;
		usage_pair_at(v, head)->next_of_tenant = index + 1;
	}
	return index;
}

struct usage_pair *usage_pair_of_tenant(struct usage_verifier *v, uint64_t tenant_id)
{
	return usage_pair_at(v, usage_pair_find(v, tenant_id, USAGE_TYPE_OF_TENANT));
}

static void leave_out(struct usage_verifier *v, struct usage_pair *tenant)
{
	v->run->left_out += !tenant->left_out;
	tenant->left_out = true;
}

// ---- adding

void usage_add_sums(struct usage_sums *sums, const struct usage_sums *more)
{
	sums->resources += more->resources;
	sums->bytes += more->bytes;
	sums->resource_us += more->resource_us;
	sums->byte_us += more->byte_us;
}

static void add_to_period(struct usage_verifier *v, size_t index, const struct usage_sums *sums)
{
	struct usage_pair *pair = usage_pair_at(v, index);

	usage_add_sums(&pair->now, sums);
	if (!pair->touched)
		*(size_t *)list_add(v, &v->touched, sizeof(size_t)) = index;
	pair->touched = true;
}

// Adds the sums of a change to a pair. until_us: the end of the period in which the change counts, never an earlier one than the
// present period; 0: no closed period.
static void add_change(struct usage_verifier *v, size_t index, int64_t until_us, const struct usage_sums *sums)
{
	struct usage_pair *pair = usage_pair_at(v, index);

	pair->counted_resources += sums->resources;
	pair->counted_bytes += sums->bytes;
	if (until_us == 0)
		return;
	if (until_us == v->period.until)
		add_to_period(v, index, sums);
	else
		*(struct usage_later *)list_add(v, &v->later, sizeof(struct usage_later)) = (struct usage_later){ index, until_us, *sums };
}

void usage_recount_later(struct usage_verifier *v)
{
	struct usage_later *later = v->later.items;
	size_t kept = 0;

	for (size_t i = 0; i < v->later.n; i++) {
		if (later[i].until_us == v->period.until)
			add_to_period(v, later[i].pair, &later[i].sums);
		else
			later[kept++] = later[i];
	}
	v->later.n = kept;
}

struct usage_sums usage_sums_for(int64_t resources, int64_t bytes, int64_t us)
{
	return (struct usage_sums){ resources, bytes, (usage_sum)resources * us, (usage_sum)bytes * us };
}

// ---- changes

// Counts the changes of resources with after < id <= upto. The other arguments are those of usage_recount().
static enum outcome recount_resources(struct usage_verifier *v, uint64_t after, uint64_t upto, int64_t closed_until_us, int64_t since_us)
{
	struct registry *registry = v->registry;
	const struct sql_usage_recount in = {
		.after = after, .upto = upto, .closed_until = closed_until_us, .since = since_us, .first = v->first, .last = v->last
	};
	struct db_rows rows;
	enum db_result result = sql_usage_recount_run(registry->db, registry->pool, &in, &rows);

	if (result != DB_OK)
		return registry_db_failed(result);
	for (size_t i = 0; i < rows.n; i++) {
		const struct sql_usage_recount_row *row = sql_usage_recount_row(&rows, i);
		size_t index = usage_pair_find(v, row->tenant_id, row->type_id);
		const struct usage_pair *tenant = usage_pair_of_tenant(v, row->tenant_id);
		struct usage_pair *pair = usage_pair_at(v, index);
		const struct usage_sums sums = {
			row->resources, row->bytes, usage_sum_of_text(row->resource_us), usage_sum_of_text(row->byte_us)
		};
		if (tenant->left_out)
			continue;
		if (!tenant->deleted) {
			add_change(v, index, row->until_is_null ? 0 : row->until, &sums);
			continue;
		}
		pair->deleted_resources += sums.resources;
		pair->deleted_bytes += sums.bytes;
	}
	return OUTCOME_OK;
}

// Counts the change by which a tenant was deleted (all that it has no longer counts), recovered (it counts again) or purged.
static void apply_to_tenant(struct usage_verifier *v, const struct sql_usage_recount_tenant_row *change)
{
	struct usage_pair *tenant = usage_pair_of_tenant(v, change->tenant_id);
	bool deleted = str_eq_c(change->verb, "deleted"), recovered = str_eq_c(change->verb, "recovered");
	int64_t until_us = change->until_is_null ? 0 : change->until, rest_us = until_us != 0 ? until_us - change->at : 0;

	if (tenant->left_out || (deleted && tenant->deleted))
		return;
	if (recovered && tenant->deleted && tenant->unknown) {
		leave_out(v, tenant);
		return;
	}
	for (size_t next = tenant->next_of_tenant; next != 0; next = usage_pair_at(v, next - 1)->next_of_tenant) {
		struct usage_pair *pair = usage_pair_at(v, next - 1);
		struct usage_sums sums = { 0, 0, 0, 0 };
		if (deleted) {
			pair->deleted_resources = pair->counted_resources;
			pair->deleted_bytes = pair->counted_bytes;
			sums = usage_sums_for(-pair->counted_resources, -pair->counted_bytes, rest_us);
		} else {
			if (recovered)
				sums = usage_sums_for(pair->deleted_resources, pair->deleted_bytes, rest_us);
			pair->deleted_resources = pair->deleted_bytes = 0;
		}
		if (sums.resources != 0 || sums.bytes != 0)
			add_change(v, next - 1, until_us, &sums);
	}
	tenant->deleted = deleted;
	tenant->unknown = false;
}

// Counts the change with that id, by which some tenant was deleted, recovered or purged.
static enum outcome recount_tenant(struct usage_verifier *v, uint64_t id, int64_t closed_until_us, int64_t since_us)
{
	struct registry *registry = v->registry;
	const struct sql_usage_recount_tenant in = { .id = id, .closed_until = closed_until_us };
	struct db_rows rows;
	enum db_result result = sql_usage_recount_tenant_run(registry->db, registry->pool, &in, &rows);

	if (result != DB_OK)
		return registry_db_failed(result);
	if (rows.n == 0)
		return OUTCOME_OK; // the log was shortened: usage_verify() finds that out at its end
	const struct sql_usage_recount_tenant_row *change = sql_usage_recount_tenant_row(&rows, 0);
	if (change->tenant_id <= v->first || change->tenant_id > v->last)
		return OUTCOME_OK;
	if (since_us == 0)
		apply_to_tenant(v, change);
	else if (change->at >= since_us)
		// Part of the tenant's change is in the balance, though its time lies after the beginning.
		leave_out(v, usage_pair_of_tenant(v, change->tenant_id));
	return OUTCOME_OK;
}

enum outcome usage_recount(struct usage_verifier *v, uint64_t after, uint64_t upto, int64_t closed_until_us, int64_t since_us)
{
	struct registry *registry = v->registry;
	enum outcome outcome = OUTCOME_OK;
	struct db_rows rows;

	while (outcome == OUTCOME_OK && after < upto) {
		struct pool_mark mark = pool_mark(registry->pool);
		const struct sql_usage_slice slice = { .after = after, .upto = upto, .size = CHANGES_AT_ONCE };
		enum db_result result = sql_usage_slice_run(registry->db, registry->pool, SQL_USAGE_SLICE_OF_CHANGES, &slice, &rows);
		uint64_t end = result == DB_OK && rows.n > 0 ? sql_usage_slice_row(&rows, 0)->id : upto;
		const struct sql_usage_obstacles in = { .after = after, .upto = end };
		if (result == DB_OK)
			result = sql_usage_obstacles_run(registry->db, registry->pool, &in, &rows);
		if (result != DB_OK)
			return registry_db_failed(result);
		const struct sql_usage_obstacles_row *found = sql_usage_obstacles_row(&rows, 0);
		uint64_t of_tenant = found->of_tenant_is_null ? 0 : found->of_tenant;
		if (of_tenant != 0)
			end = of_tenant;
		outcome = recount_resources(v, after, end, closed_until_us, since_us);
		if (outcome == OUTCOME_OK && of_tenant != 0)
			outcome = recount_tenant(v, of_tenant, closed_until_us, since_us);
		after = end;
		pool_rewind(registry->pool, mark);
	}
	return outcome;
}

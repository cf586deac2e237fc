// SPDX-License-Identifier: Apache-2.0
// Counts a tenant's resources by type. To count all of them by an index takes a third of the time of their sum. So if all of a
// large tenant's resources are summed, only some of its types are counted: the sum tells which types there are, and how many
// resources in all. What is left belongs to the type that was not counted.
#include "base/base.h"

#include "base/pool.h"
#include "registry/core/failure.h"
#include "registry/move/internal.h"
#include "registry/type/stored_type.h"
#include "registry/type/type.h"

enum {
	LARGE = 5000, // resources of a tenant; fewer are counted together with the sum, in the same round trip
	FEW = 500,    // so many resources of each type are counted first, to find out which types are large
	TYPES_MAX = DB_MAX_BATCH,
};

struct db_call move_count_call(struct pool *pool, uint64_t tenant_id)
{
	return sql_move_count_types_call(pool, &(struct sql_move_count_types){ .tenant_id = tenant_id });
}

static int by_type_name(const void *a, const void *b)
{
	return str_cmp(((const struct type_count *)a)->type, ((const struct type_count *)b)->type);
}

static struct type_count count_of(struct registry *registry, uint64_t type_id, uint64_t n)
{
	return (struct type_count){ type_name(registry->pool, type_of_resource(registry, 0, type_id)), n };
}

static void sort(struct type_counts *counts)
{
	if (counts->n > 0)
		qsort(counts->list, counts->n, sizeof(*counts->list), by_type_name);
}

void move_read_counts(struct registry *registry, const struct db_rows *rows, struct type_counts *counts)
{
	counts->n = rows->n;
	counts->list = POOL_ARRAY(registry->pool, struct type_count, rows->n);
	for (size_t i = 0; i < rows->n; i++) {
		const struct sql_move_count_types_row *row = sql_move_count_types_row(rows, i);

		counts->list[i] = count_of(registry, row->type_id, row->n);
	}
	sort(counts);
}

bool move_counts_by_sum(const struct move_plan *plan)
{
	return plan->set.kind == SQL_MOVE_SET_ALL && plan->action->source.resources >= LARGE;
}

// The ids of the types that the sum has found. Returns how many; 0: there are more than TYPES_MAX, or ids that it does not tell.
static size_t types_of(uint64_t types, uint64_t ids[TYPES_MAX])
{
	size_t n = 0;

	if ((types & MOVE_OTHER_TYPES) != 0)
		return 0;
	for (uint64_t id = 0; id < 63; id++) {
		if ((types >> id & 1) == 0)
			continue;
		if (n == TYPES_MAX)
			return 0;
		ids[n++] = id;
	}
	return n;
}

// Counts each of the n types up to FEW, and then those that have more, but for one.
static enum db_result count_each(struct registry *registry, const struct move_plan *plan, const uint64_t *ids, size_t n,
	uint64_t *counts)
{
	struct db_call calls[TYPES_MAX];
	size_t large[TYPES_MAX], n_large = 0, rest;
	uint64_t tenant_id = plan->action->source.id, others = 0;

	for (size_t i = 0; i < n; i++) {
		const struct sql_move_count_few in = { .tenant_id = tenant_id, .type_id = ids[i], .limit = FEW };
		calls[i] = sql_move_count_few_call(registry->pool, &in);
	}
	enum db_result result = db_run_batch(registry->db, registry->pool, calls, n);
	for (size_t i = 0; result == DB_OK && i < n; i++) {
		counts[i] = sql_move_count_few_row(&calls[i].rows, 0)->n;
		if (counts[i] >= FEW)
			large[n_large++] = i;
	}
	rest = n_large > 0 ? large[--n_large] : 0;
	for (size_t i = 0; i < n_large; i++) {
		const struct sql_move_count_type in = { .tenant_id = tenant_id, .type_id = ids[large[i]] };
		calls[i] = sql_move_count_type_call(registry->pool, &in);
	}
	if (result == DB_OK && n_large > 0)
		result = db_run_batch(registry->db, registry->pool, calls, n_large);
	for (size_t i = 0; result == DB_OK && i < n_large; i++)
		counts[large[i]] = sql_move_count_type_row(&calls[i].rows, 0)->n;
	for (size_t i = 0; result == DB_OK && i < n; i++)
		others += i != rest ? counts[i] : 0;
	counts[rest] = plan->action->count - others;
	return result;
}

enum outcome move_count_by_sum(struct registry *registry, const struct move_plan *plan, struct type_counts *counts)
{
	uint64_t ids[TYPES_MAX], each[TYPES_MAX] = { plan->action->count };
	size_t n = types_of(plan->found.types, ids);
	enum db_result result = DB_OK;

	if (n == 0 && plan->action->count > 0) {
		struct db_call call = move_count_call(registry->pool, plan->action->source.id);
		result = db_run_call(registry->db, registry->pool, &call);
		if (result == DB_OK)
			move_read_counts(registry, &call.rows, counts);
		return result == DB_OK ? OUTCOME_OK : registry_db_failed(result);
	}
	if (n > 1)
		result = count_each(registry, plan, ids, n, each);
	if (result != DB_OK)
		return registry_db_failed(result);
	counts->n = n;
	counts->list = POOL_ARRAY(registry->pool, struct type_count, n);
	for (size_t i = 0; i < n; i++)
		counts->list[i] = count_of(registry, ids[i], each[i]);
	sort(counts);
	return OUTCOME_OK;
}

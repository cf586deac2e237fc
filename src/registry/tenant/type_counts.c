// SPDX-License-Identifier: Apache-2.0
#include "base/base.h"

#include "registry/tenant/type_counts.h"

#include "base/buf.h"
#include "base/pool.h"
#include "registry/core/failure.h"
#include "registry/type/stored_type.h"
#include "sql/type_counts.h"

// How many of the tenants are counted together.
static size_t how_many(const struct tenant *tenants, size_t n)
{
	uint64_t resources = tenants[0].resources;
	size_t i = 1;

	while (i < n && resources <= TYPE_COUNTS_TOGETHER && tenants[i].resources <= TYPE_COUNTS_TOGETHER - resources)
		resources += tenants[i++].resources;
	return i;
}

static struct str ids_of(struct pool *pool, const struct tenant *tenants, size_t n)
{
	struct buf ids = buf_new(pool, 16 + n * 8);

	for (size_t i = 0; i < n; i++) {
		buf_addc(&ids, i == 0 ? '[' : ',');
		buf_add_u64(&ids, tenants[i].id);
	}
	buf_addc(&ids, ']');
	return buf_str(&ids);
}

struct place {
	uint64_t id;
	size_t at;
};

static int by_id(const void *a, const void *b)
{
	const struct place *x = a, *y = b;

	return (x->id > y->id) - (x->id < y->id);
}

// The tenants' places by their ids: the rows come in the order of ids, tenants in that of their names.
static const struct place *places_of(struct pool *pool, const struct tenant *tenants, size_t n)
{
	struct place *places = POOL_ARRAY(pool, struct place, n);

	for (size_t i = 0; i < n; i++)
		places[i] = (struct place){ tenants[i].id, i };
	qsort(places, n, sizeof(*places), by_id);
	return places;
}

static int by_tenant_and_type(const void *a, const void *b)
{
	const struct type_count_row *x = a, *y = b;

	return x->tenant != y->tenant ? (x->tenant > y->tenant) - (x->tenant < y->tenant) : str_cmp(x->type, y->type);
}

enum outcome type_counts_list(struct registry *registry, const struct tenant *tenants, size_t n, size_t *counted,
	struct type_count_row **list, size_t *n_list)
{
	struct db_rows rows;

	assert(n > 0);
	*counted = how_many(tenants, n);
	const struct sql_type_counts in = { .ids = ids_of(registry->pool, tenants, *counted) };
	enum db_result result = sql_type_counts_run(registry->db, registry->pool, &in, &rows);
	if (result != DB_OK)
		return registry_db_failed(result);
	const struct place *place = places_of(registry->pool, tenants, *counted), *end = place + *counted;
	*list = POOL_ARRAY(registry->pool, struct type_count_row, rows.n);
	*n_list = rows.n;
	for (size_t i = 0; i < rows.n; i++) {
		const struct sql_type_counts_row *row = sql_type_counts_row(&rows, i);

		while (place->id != row->tenant_id) {
			place++;
			assert(place < end);
		}
		(*list)[i] = (struct type_count_row){
			.tenant = place->at,
			.type = type_name(registry->pool, type_of_resource(registry, 0, row->type_id)),
			.resources = row->resources,
		};
	}
	if (rows.n > 0)
		qsort(*list, rows.n, sizeof(**list), by_tenant_and_type);
	return OUTCOME_OK;
}

// SPDX-License-Identifier: Apache-2.0
// Reading inventories.
#include "base/base.h"

#include "registry/inventory.h"

#include "base/pool.h"
#include "registry/inventory_internal.h"

static const struct db_query q_list = {
	"SELECT " INVENTORY_COLUMNS " FROM " INVENTORY_TABLES " WHERE i.resource_id = " OF_PROVIDER " ORDER BY i.class_id", "bu",
	INVENTORY_OUT
};

void inventory_from_row(struct registry *registry, struct inventory *inventory, const struct db_rows *rows, size_t row)
{
	const struct db_value *v = db_at(rows, row, 0);

	*inventory = (struct inventory){
		.class = v[1].s,
		.total = v[2].u,
		.reserved = v[3].u,
		.min_unit = v[4].u,
		.max_unit = v[5].u,
		.step_size = v[6].u,
		.allocation_ratio = strtod(str_cstr(registry->pool, v[7].s), NULL),
		.used = v[8].u,
		.created_us = v[9].i,
		.updated_us = v[10].i,
	};
}

enum outcome inventory_list(struct registry *registry, const struct uuid *uid, struct provider *provider,
	struct inventory **list, size_t *n)
{
	struct db_rows rows;
	enum outcome outcome = provider_get_with(registry, uid, provider, &q_list, &rows);

	if (outcome != OUTCOME_OK)
		return outcome;
	*list = POOL_ARRAY(registry->pool, struct inventory, rows.n);
	*n = rows.n;
	for (size_t i = 0; i < rows.n; i++)
		inventory_from_row(registry, &(*list)[i], &rows, i);
	return OUTCOME_OK;
}

enum outcome inventory_get(struct registry *registry, const struct uuid *uid, struct str class,
	struct provider *provider, struct inventory *inventory)
{
	struct inventory *list;
	size_t n;
	enum outcome outcome = inventory_list(registry, uid, provider, &list, &n);

	if (outcome != OUTCOME_OK)
		return outcome;
	for (size_t i = 0; i < n; i++) {
		if (str_eq(list[i].class, class)) {
			*inventory = list[i];
			return OUTCOME_OK;
		}
	}
	return registry_fail(registry, OUTCOME_NOT_FOUND, "No inventory of class %.*s for %.*s",
		STR_ARG(str_part(class, 0, 256)), STR_ARG(uuid_str(registry->pool, *uid)));
}

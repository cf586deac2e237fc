// SPDX-License-Identifier: Apache-2.0
// Reads inventories.
#include "base/base.h"

#include "registry/placement/inventory.h"

#include "base/pool.h"
#include "registry/core/failure.h"
#include "registry/placement/inventory_internal.h"

struct inventory inventory_of_columns(struct registry *registry, const struct sql_inventory *i)
{
	return (struct inventory){
		.class = i->class,
		.total = i->total,
		.reserved = i->reserved,
		.min_unit = i->min_unit,
		.max_unit = i->max_unit,
		.step_size = i->step_size,
		.allocation_ratio = strtod(str_cstr(registry->pool, i->allocation_ratio), NULL),
		.used = i->used,
		.created_us = i->created_at,
		.updated_us = i->updated_at,
	};
}

enum outcome inventory_list(struct registry *registry, const struct uuid *uid, struct provider *provider,
	struct inventory **list, size_t *n)
{
	const struct sql_inventory_list in = { .uid = uuid_bytes(uid), .type_id = provider_type(registry)->id };
	struct db_call call = sql_inventory_list_call(registry->pool, &in);
	enum outcome outcome = provider_get_with(registry, uid, provider, &call);

	if (outcome != OUTCOME_OK)
		return outcome;
	*n = call.rows.n;
	*list = POOL_ARRAY(registry->pool, struct inventory, *n);
	for (size_t i = 0; i < *n; i++)
		(*list)[i] = inventory_of_columns(registry, &sql_inventory_list_row(&call.rows, i)->i);
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

// SPDX-License-Identifier: Apache-2.0
// Reads inventories.
#include "base/base.h"

#include "registry/placement/inventory.h"

#include "base/buf.h"
#include "base/pool.h"
#include "registry/core/failure.h"
#include "registry/placement/inventory_internal.h"

void inventory_add_ratio(struct buf *out, double ratio)
{
	char text[40];

	for (int digits = 15; digits <= 17; digits++) {
		(void)snprintf(text, sizeof(text), "%.*g", digits, ratio);
		if (strtod(text, NULL) == ratio)
			break;
	}
	buf_add(out, str_c(text));
}

struct inventory inventory_of_columns(struct pool *pool, const struct sql_inventory *i)
{
	return (struct inventory){
		.class = i->class,
		.class_id = i->class_id,
		.total = i->total,
		.reserved = i->reserved,
		.min_unit = i->min_unit,
		.max_unit = i->max_unit,
		.step_size = i->step_size,
		.allocation_ratio = strtod(str_cstr(pool, i->allocation_ratio), NULL),
		.used = i->used,
		.created_us = i->created_at,
		.updated_us = i->updated_at,
	};
}

static void give_row(void *arg, const struct db_rows *rows, struct pool *pool)
{
	const struct inventory_taker *taker = arg;
	struct inventory inventory = inventory_of_columns(pool, &sql_inventory_list_row(rows, 0)->i);

	taker->take(taker->arg, &inventory, pool);
}

enum outcome inventory_list(struct registry *registry, const struct uuid *uid, struct provider *provider,
	const struct inventory_taker *taker)
{
	const struct sql_inventory_list in = { .uid = uuid_bytes(uid), .type_id = provider_type(registry)->id };
	struct inventory_taker copy = *taker;
	struct db_call call = sql_inventory_list_call(registry->pool, &in);

	call.take = give_row;
	call.arg = &copy;
	return provider_get_with(registry, uid, provider, &call);
}

// Looks for the inventory of one class.
struct wanted {
	struct str class;
	struct inventory *inventory;
	bool found;
};

static void take_wanted(void *arg, const struct inventory *inventory, struct pool *pool)
{
	struct wanted *wanted = arg;

	UNUSED(pool);
	if (!str_eq(inventory->class, wanted->class))
		return;
	*wanted->inventory = *inventory;
	wanted->inventory->class = wanted->class; // the row's text is freed
	wanted->found = true;
}

enum outcome inventory_get(struct registry *registry, const struct uuid *uid, struct str class,
	struct provider *provider, struct inventory *inventory)
{
	struct wanted wanted = { .class = class, .inventory = inventory };
	const struct inventory_taker taker = { take_wanted, &wanted };
	enum outcome outcome = inventory_list(registry, uid, provider, &taker);

	if (outcome != OUTCOME_OK || wanted.found)
		return outcome;
	return registry_fail(registry, OUTCOME_NOT_FOUND, "No inventory of class %.*s for %.*s",
		STR_HEAD_ARG(class, 256), UUID_ARG(registry->pool, *uid));
}

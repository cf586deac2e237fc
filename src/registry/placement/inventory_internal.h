// SPDX-License-Identifier: Apache-2.0
// For the files about inventories and allocations only: makes an inventory of its row.
#ifndef TENURE_REGISTRY_PLACEMENT_INVENTORY_INTERNAL_H
#define TENURE_REGISTRY_PLACEMENT_INVENTORY_INTERNAL_H

#include "registry/placement/inventory.h"
#include "registry/placement/provider_internal.h"
#include "sql/inventories.h"

struct inventory inventory_of_columns(struct pool *pool, const struct sql_inventory *columns);
// (total - reserved) * allocation_ratio, rounded down, at most 9 * 10^18.
int64_t inventory_capacity(const struct inventory *inventory);
// OUTCOME_OK; _BAD_DOCUMENT if reserved is above the total, or, unless may_reserve_all, if the capacity is 0. what: "update".
enum outcome inventory_check(struct registry *registry, const struct uuid *provider, const struct inventory *inventory,
	bool may_reserve_all, const char *what);

#endif

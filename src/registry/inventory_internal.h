// SPDX-License-Identifier: Apache-2.0
// For the files about inventories and allocations only.
#ifndef TENURE_REGISTRY_INVENTORY_INTERNAL_H
#define TENURE_REGISTRY_INVENTORY_INTERNAL_H

#include "registry/inventory.h"
#include "registry/provider_internal.h"

// Columns of an inventory, the first being its class's id.
#define INVENTORY_COLUMNS                                                                          \
	"i.class_id, c.name, i.total, i.reserved, i.min_unit, i.max_unit, i.step_size, "           \
	"CAST(i.allocation_ratio AS CHAR), i.used, i.created_at, i.updated_at"
#define INVENTORY_OUT "usuuuuusutt"
#define INVENTORY_TABLES "inventories i STRAIGHT_JOIN resource_classes c ON c.id = i.class_id"
void inventory_from_row(struct registry *registry, struct inventory *inventory, const struct db_rows *rows, size_t row);

#endif

// SPDX-License-Identifier: Apache-2.0
// For the files about inventories and allocations only: makes an inventory of its row.
#ifndef TENURE_REGISTRY_PLACEMENT_INVENTORY_INTERNAL_H
#define TENURE_REGISTRY_PLACEMENT_INVENTORY_INTERNAL_H

#include "registry/placement/inventory.h"
#include "registry/placement/provider_internal.h"
#include "sql/inventories.h"

struct inventory inventory_of_columns(struct registry *registry, const struct sql_inventory *columns);

#endif

// SPDX-License-Identifier: Apache-2.0
// For the files of api/placement/ only: what a provider has of each resource class, and how much of it is in use.
#ifndef TENURE_API_PLACEMENT_INVENTORY_INVENTORY_H
#define TENURE_API_PLACEMENT_INVENTORY_INVENTORY_H

#include "api/call.h"

handler_fn list_inventories, create_inventory, put_inventories, delete_inventories;
handler_fn get_inventory, put_inventory, delete_inventory;
handler_fn list_usages;

#endif

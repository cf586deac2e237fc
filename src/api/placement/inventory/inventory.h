// SPDX-License-Identifier: Apache-2.0
// For the files of api/placement/ only: what a provider has of each resource class, and how much of it is in use.
#ifndef TENURE_API_PLACEMENT_INVENTORY_INVENTORY_H
#define TENURE_API_PLACEMENT_INVENTORY_INVENTORY_H

#include "api/call.h"
#include "registry/placement/inventory.h"
#include "repr/schema/json_schema.h"

// The schema of all inventories of a provider, with the generation that the provider must have: {"inventories": {CLASS: {…}},
// "resource_provider_generation": N}.
extern const struct json_schema inventories_schema;
// The n inventories of such a document, in the call's pool.
struct inventory *inventory_take(struct call *call, const struct doc *body, size_t *n);

handler_fn list_inventories, create_inventory, put_inventories, delete_inventories;
handler_fn get_inventory, put_inventory, delete_inventory;
handler_fn list_usages;

#endif

// SPDX-License-Identifier: Apache-2.0
// For the files of api/placement/ only: what consumers hold of providers.
#ifndef TENURE_API_PLACEMENT_ALLOCATION_ALLOCATION_H
#define TENURE_API_PLACEMENT_ALLOCATION_ALLOCATION_H

#include "api/call.h"
#include "repr/schema/json_schema.h"

// The schema of a PUT's body, and of a POST's (from version 1.13), at that minor version.
const struct json_schema *allocations_schema(unsigned version);
const struct json_schema *many_allocations_schema(unsigned version);

handler_fn list_provider_allocations, post_allocations, get_allocations, put_allocations, delete_allocations;
handler_fn get_total_usages;

#endif

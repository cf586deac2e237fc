// SPDX-License-Identifier: Apache-2.0
// For the files of api/placement/ only: what consumers hold of providers.
#ifndef TENURE_API_PLACEMENT_ALLOCATION_ALLOCATION_H
#define TENURE_API_PLACEMENT_ALLOCATION_ALLOCATION_H

#include "api/call.h"
#include "registry/placement/allocation.h"
#include "repr/schema/json_schema.h"

// The schema of the body of PUT /allocations/{consumer_uuid} in microversion 1.version.
const struct json_schema *allocations_schema(unsigned version);
// The same of POST /allocations, which there is from 1.13 on.
const struct json_schema *allocations_schema_many(unsigned version);
// The schema of the member "allocations" of POST /reshaper (from 1.30): that of a POST's body, but it may be empty.
const struct json_schema *allocations_schema_reshaped(unsigned version);

// Reads the allocations of a document of the last two schemas into the call's pool, sorted by consumer. OUTCOME_OK;
// _BAD_DOCUMENT: a consumer, or a resource class of a provider, occurs twice; _CONFLICT: an amount is larger than any inventory
// can be.
enum outcome allocation_take_sets(struct call *call, const struct doc *body, struct allocation_set **sets, size_t *n);

handler_fn list_provider_allocations, post_allocations, get_allocations, put_allocations, delete_allocations;
handler_fn get_total_usages;
handler_fn post_reshaper;

#endif

// SPDX-License-Identifier: Apache-2.0
// For the files of api/placement/ only: resource providers with their traits and aggregates, and what requests below a
// provider's address have in common.
#ifndef TENURE_API_PLACEMENT_PROVIDER_PROVIDER_H
#define TENURE_API_PLACEMENT_PROVIDER_PROVIDER_H

#include "api/call.h"
#include "api/conditions.h"
#include "registry/placement/provider.h"
#include "repr/schema/json_schema.h"

// Reads the provider's uid from the address. OUTCOME_OK; _NOT_FOUND: the address has no uuid there, so there is no such provider.
enum outcome provider_uid(struct call *call, struct uuid *uid);
// Like placement_read_body(), but returns OUTCOME_NOT_FOUND if the body is wrong and there is no such provider either.
enum outcome provider_read_body(struct call *call, const struct uuid *uid, const struct json_schema *schema,
	const struct doc **body);
// Reads the preconditions of a write: If-Match, and the body's resource_provider_generation (body NULL: none). The guard refers
// to *conditions, which must live as long. OUTCOME_OK, or an outcome with call->problem set.
enum outcome provider_read_guard(struct call *call, const struct doc *body, struct conditions *conditions,
	struct provider_guard *guard);

// Reads the filters of GET /resource_providers. OUTCOME_OK; _BAD_PARAMETER.
enum outcome provider_query_read(struct call *call, struct provider_query *query);

handler_fn list_providers, list_trait_providers, create_provider, get_provider, put_provider, delete_provider;
handler_fn get_provider_traits, put_provider_traits, delete_provider_traits, put_provider_trait, delete_provider_trait;
handler_fn get_aggregates, put_aggregates;

#endif

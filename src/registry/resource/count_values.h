// SPDX-License-Identifier: Apache-2.0
// Counts the resources of a type by the value of a member of their bodies.
#ifndef TENURE_REGISTRY_RESOURCE_COUNT_VALUES_H
#define TENURE_REGISTRY_RESOURCE_COUNT_VALUES_H

#include "registry/core/model.h"

struct value_counts {
	struct str value; // its first 255 characters; p NULL: the member is null
	uint64_t n;
};
// Counts the live resources of type in active tenants; tenant p NULL: in all tenants, else in this one. member is a name at the
// top of the body. *list, in the request's pool, has all values, the most frequent first, and those of equal count in byte order,
// null first; the setting request_memory bounds them. OUTCOME_OK, _UNAVAILABLE, _INTERNAL.
enum outcome resource_count_values(struct registry *registry, const struct type *type, struct str tenant, const char *member,
	struct value_counts **list, size_t *n);

#endif

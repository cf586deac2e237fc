// SPDX-License-Identifier: Apache-2.0
// Counts the resources of a type by the value of a member of their bodies.
#ifndef TENURE_REGISTRY_RESOURCE_COUNT_VALUES_H
#define TENURE_REGISTRY_RESOURCE_COUNT_VALUES_H

#include "registry/core/model.h"

enum { TALLY_MAX = 1000 }; // at most so many values are returned, the first ones in byte order

struct value_counts {
	struct str value; // its first 255 characters
	uint64_t n;
};
// Counts the live resources of type in active tenants; tenant p NULL: in all tenants, else in this one. member is a name at the
// top of the body. Resources where the member is null are not counted. *list is in the request's pool. OUTCOME_OK,
// _UNAVAILABLE, _INTERNAL.
enum outcome resource_count_values(struct registry *registry, const struct type *type, struct str tenant, const char *member,
	struct value_counts **list, size_t *n);

#endif

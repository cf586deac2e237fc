// SPDX-License-Identifier: Apache-2.0
// How many resources of a type have which value in a member of their bodies.
#ifndef TENURE_REGISTRY_RESOURCE_COUNT_VALUES_H
#define TENURE_REGISTRY_RESOURCE_COUNT_VALUES_H

#include "registry/core/model.h"

enum { TALLY_MAX = 1000 }; // values, the first in byte order

struct tally {
	struct str value; // its first 255 characters
	uint64_t n;
};
// Live resources of active tenants. tenant p NULL: of all. Those where the member is null are not counted.
// OUTCOME_OK, _UNAVAILABLE, _INTERNAL.
enum outcome resource_tally(struct registry *registry, const struct type *type, struct str tenant, const char *member,
	struct tally **list, size_t *n);

#endif

// SPDX-License-Identifier: Apache-2.0
// For the files of api/placement/ that are about allocations only.
#ifndef TENURE_API_PLACEMENT_ALLOCATION_ALLOCATION_H
#define TENURE_API_PLACEMENT_ALLOCATION_ALLOCATION_H

#include "repr/schema/json_schema.h"

// Of the body of a PUT, and of a POST (from 1.13), at that minor version.
const struct json_schema *allocations_schema(unsigned version);
const struct json_schema *many_allocations_schema(unsigned version);

#endif

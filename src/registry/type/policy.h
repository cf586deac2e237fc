// SPDX-License-Identifier: Apache-2.0
// A tenant's policy: does its own definition of a type come first, or the system's?
#ifndef TENURE_REGISTRY_TYPE_POLICY_H
#define TENURE_REGISTRY_TYPE_POLICY_H

#include "registry/core/model.h"

// Returns the policy of that name as one of TYPE_POLICY_…; NULL: there is none of that name.
const char *type_policy(struct str name);

#endif

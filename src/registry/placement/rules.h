// SPDX-License-Identifier: Apache-2.0
// The rules of resource providers.
#ifndef TENURE_REGISTRY_PLACEMENT_RULES_H
#define TENURE_REGISTRY_PLACEMENT_RULES_H

#include "registry/type/rules.h"

extern const struct type_rules provider_rules;

#endif

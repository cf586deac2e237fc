// SPDX-License-Identifier: Apache-2.0
// The rules of CustomResourceDefinitions.
#ifndef TENURE_REGISTRY_CRD_RULES_H
#define TENURE_REGISTRY_CRD_RULES_H

#include "registry/type/rules.h"

extern const struct type_rules crd_rules;

#endif

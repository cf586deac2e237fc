// SPDX-License-Identifier: Apache-2.0
// A tenant's policy: does its own definition of a type come first, or the system's?
#ifndef TENURE_REGISTRY_TYPE_POLICY_H
#define TENURE_REGISTRY_TYPE_POLICY_H

#include "registry/core/model.h"

// Returns the policy of that name as one of TYPE_POLICY_…; NULL: there is none of that name.
const char *type_policy(struct str name);
// The annotations of a Tenant object: the tenant's metadata, and those in object, its stored object, that metadata can't hold. A
// new document in pool.
struct doc *type_policy_annotations(struct pool *pool, const struct tenant *tenant, const struct doc *object);
// May the tenant's own admin change it from the one version to the other? That is so if nothing differs but the policy in its
// Tenant object (spec.multiTenancyCRDPolicy), and the annotation that `kubectl apply` writes. Everything else is for operators to
// decide: the other annotations say which definitions the tenant may use.
bool type_policy_is_all_that_differs(struct pool *pool, const struct tenant *before, const struct tenant *after);

#endif

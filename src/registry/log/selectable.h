// SPDX-License-Identifier: Apache-2.0
// What label and field selectors can ask of a resource, and what of that stands in the change log: the state before each
// change that altered it (sql/schema/011-selectable.sql).
#ifndef TENURE_REGISTRY_LOG_SELECTABLE_H
#define TENURE_REGISTRY_LOG_SELECTABLE_H

#include "registry/core/model.h"

// The fields of a type's objects that a field selector may name beside metadata.name and metadata.namespace, as
// "status.phase". Ends with NULL; static.
const char *const *selectable_fields(const struct type *type);
// {"metadata":{"labels":{…}},"status":{"phase":…}}: an object with those members alone, in pool. "{}" if there are none.
struct str selectable_of_resource(struct pool *pool, const struct resource *resource);
struct str selectable_of_tenant(struct pool *pool, const struct tenant *tenant);
// For the row of a change from before to after: "" where it leaves labels and fields as they are, else those of before.
// Costs a comparison of two texts where metadata did not change and the type has no fields that writers change.
struct str selectable_before_resource(struct pool *pool, const struct resource *before, const struct resource *after);
struct str selectable_before_tenant(struct pool *pool, const struct tenant *before, const struct tenant *after);

#endif

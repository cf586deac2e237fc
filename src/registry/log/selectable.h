// SPDX-License-Identifier: Apache-2.0
// The labels and fields of an object that label and field selectors can use, and their state before a change, which the change
// log keeps if the change altered them (sql/schema/011-selectable.sql).
#ifndef TENURE_REGISTRY_LOG_SELECTABLE_H
#define TENURE_REGISTRY_LOG_SELECTABLE_H

#include "registry/core/model.h"

// Returns the fields, such as "status.phase", that a field selector may name for objects of this type, besides metadata.name
// and metadata.namespace. The list ends with NULL and is static.
const char *const *selectable_fields(const struct type *type);
// Returns a JSON object in pool with only the labels and those fields: {"metadata":{"labels":{…}},"status":{"phase":…}}. "{}"
// if the object has none of them.
struct str selectable_of_resource(struct pool *pool, const struct resource *resource);
struct str selectable_of_tenant(struct pool *pool, const struct tenant *tenant);
// Returns what the change row of a change from before to after records: "" if the change leaves labels and fields as they are,
// else the labels and fields from before. It only compares two texts if metadata did not change and no write can alter the
// type's fields.
struct str selectable_before_resource(struct pool *pool, const struct resource *before, const struct resource *after);
struct str selectable_before_tenant(struct pool *pool, const struct tenant *before, const struct tenant *after);

#endif

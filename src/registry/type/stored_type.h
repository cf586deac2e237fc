// SPDX-License-Identifier: Apache-2.0
// The type that a row names.
#ifndef TENURE_REGISTRY_TYPE_STORED_TYPE_H
#define TENURE_REGISTRY_TYPE_STORED_TYPE_H

#include "registry/core/stored.h"
#include "registry/type/type.h"

// The type that column type_id of that row names. Does not return if table `types` has no such row, or if the database fails,
// which db_txn_run() then sees. NULL only outside of guards (base/budget.h): doctor, which reads so, counts such rows itself.
const struct type *type_of_row(struct registry *registry, struct stored_place place, uint64_t type_id);
// The same of a row of `resources`, of which often nothing else was read. id: 0 if it wasn't either.
const struct type *type_of_resource(struct registry *registry, uint64_t id, uint64_t type_id);

#endif

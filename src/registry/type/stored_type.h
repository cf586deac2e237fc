// SPDX-License-Identifier: Apache-2.0
// The type of a stored row, where it must exist.
#ifndef TENURE_REGISTRY_TYPE_STORED_TYPE_H
#define TENURE_REGISTRY_TYPE_STORED_TYPE_H

#include "registry/core/stored.h"
#include "registry/type/type.h"

// Returns the type that column type_id of the row at place names. Does not return if table `types` has no such row, or if the
// statement fails; db_txn_run() then sees the failure. Returns NULL only outside of guards (base/budget.h): the doctor reads
// there, and counts such rows itself.
const struct type *type_of_row(struct registry *registry, struct stored_place place, uint64_t type_id);
// The same for a row of `resources` of which only type_id was read. id: of the row; 0: not read either.
const struct type *type_of_resource(struct registry *registry, uint64_t id, uint64_t type_id);

#endif

// SPDX-License-Identifier: Apache-2.0
// CustomResourceDefinitions, for files of registry/ only.
#ifndef TENURE_REGISTRY_CRD_INTERNAL_H
#define TENURE_REGISTRY_CRD_INTERNAL_H

#include "db/db.h"
#include "registry/core/model.h"
#include "registry/type/definition_internal.h"

// Checks that no other definition of the address's tenant, in that group, has one of these names (spec.names). Locks the names
// until the transaction ends. is_new: the tenant gets one more definition. OUTCOME_OK, _CONFLICT, _OVER_QUOTA.
enum outcome definition_names_free(struct registry *registry, const struct address *address, struct str group,
	const struct doc *names, bool is_new);

// Checks definitions that move to a tenant, as rows of the statement move_definitions. *clashes lists those with a name that
// another definition in that tenant and group has, and those that would at once be shared with other tenants. *too_many: the
// most that a tenant may have if that would be exceeded, else 0. OUTCOME_OK, or that of a failed statement.
struct definition_clash {
	struct str name;          // of the definition that moves
	struct str common, other; // the name that both have, and which definition there has it; p NULL: it would be shared
};
enum outcome definitions_meet(struct registry *registry, struct str tenant, const struct db_rows *coming,
	struct definition_clash **clashes, size_t *n, unsigned *too_many);

#endif

// SPDX-License-Identifier: Apache-2.0
// CustomResourceDefinitions, for files of registry/ only.
#ifndef TENURE_REGISTRY_CRD_INTERNAL_H
#define TENURE_REGISTRY_CRD_INTERNAL_H

#include "db/db.h"
#include "registry/core/model.h"
#include "registry/type/definition_internal.h"

// Bytes of a definition, metadata and body, before and after a change; before is 0 if the tenant gets one more definition.
struct definition_bytes {
	uint64_t before, after;
};
// Checks that no other definition of the address's tenant, in that group, has one of these names (spec.names), and that the
// tenant may have as many definitions and bytes of them. Locks the tenant's names until the transaction ends, which must be one
// that writes. OUTCOME_OK;
// _CONFLICT: a name is taken; _OVER_QUOTA; or that of a failed statement.
enum outcome definition_fits(struct registry *registry, const struct address *address, struct str group,
	const struct doc *names, struct definition_bytes bytes);

// Why a definition can't move to a tenant.
struct definition_clash {
	struct str name;          // of the definition that moves
	struct str common, other; // the name that both have, and the definition there that has it; p NULL: it would be shared at once
};
// Checks definitions that move to a tenant, as rows of the statement move_definitions. *clashes lists those with a name that
// another definition in that tenant and group has, and those that would at once be shared with other tenants. *excess: a text
// that says what would be too much for that tenant, and what would be right; p NULL: nothing. OUTCOME_OK, or that of a failed
// statement.
enum outcome definitions_meet(struct registry *registry, struct str tenant, const struct db_rows *coming,
	struct definition_clash **clashes, size_t *n, struct str *excess);

#endif

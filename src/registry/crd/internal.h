// SPDX-License-Identifier: Apache-2.0
// CustomResourceDefinitions, for files of registry/ only.
#ifndef TENURE_REGISTRY_CRD_INTERNAL_H
#define TENURE_REGISTRY_CRD_INTERNAL_H

#include "db/db.h"
#include "registry/core/model.h"
#include "registry/type/definition_internal.h"

// Has no other definition of the address's tenant, in that group, one of these names (spec.names)? Held until the transaction
// ends. is_new: it is to be one more. OUTCOME_OK, _CONFLICT, _OVER_QUOTA.
enum outcome definition_names_free(struct registry *registry, const struct address *address, struct str group,
	const struct doc *names, bool is_new);

// Of definitions that are to come to a tenant, as rows of the statement move_definitions: those of
// which another there has a name in that group; and those that would be shared from there by what they say. too_many: how
// many a tenant may have, where that would be exceeded; else 0. OUTCOME_OK.
struct definition_clash {
	struct str name;          // of the one that comes
	struct str common, other; // the name both have, and whose it is there; p NULL: it would be shared
};
enum outcome definitions_meet(struct registry *registry, struct str tenant, const struct db_rows *coming,
	struct definition_clash **clashes, size_t *n, unsigned *too_many);

#endif

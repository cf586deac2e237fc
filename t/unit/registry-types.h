// SPDX-License-Identifier: Apache-2.0
// Types in few words: the tests of registry/ share this.
#ifndef TENURE_T_UNIT_REGISTRY_TYPES_H
#define TENURE_T_UNIT_REGISTRY_TYPES_H

#include "registry/type/definition.h"
#include "registry/type/type.h"
#include "tap.h"

// As the tenancy dialect resolves it for a regular tenant; NULL: there is none.
TAP_UNUSED_OK static const struct type *type_called(struct registry *registry, const char *plural)
{
	const struct definition *definition;

	if (definition_named(registry, STR("t"), str_c(plural), &definition) != OUTCOME_OK)
		return NULL;
	return definition->type;
}

// For that tenant; where nobody defines it for the tenant, what there is of the full name.
TAP_UNUSED_OK static const struct type *type_for(struct registry *registry, const char *tenant, const char *name)
{
	const struct definition *definition;
	struct str full = str_c(name);
	size_t dot = str_find(full, '.', 0);

	if (definition_named(registry, str_c(tenant), full, &definition) == OUTCOME_OK)
		return definition->type;
	const struct type *type =
		type_find(registry, str_part(full, dot + 1, full.n), str_part(full, 0, dot), true);
	return type != NULL ? type :
			      type_find(registry, str_part(full, dot + 1, full.n), str_part(full, 0, dot), false);
}

#endif

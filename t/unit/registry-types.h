// SPDX-License-Identifier: Apache-2.0
// Types in few words: the tests of registry/ share this.
#ifndef TENURE_T_UNIT_REGISTRY_TYPES_H
#define TENURE_T_UNIT_REGISTRY_TYPES_H

#include "registry/definition.h"
#include "tap.h"

// As the tenancy dialect resolves it for a regular tenant; NULL: there is none.
static const struct type *type_called(struct registry *registry, const char *plural)
{
	const struct definition *definition;

	if (definition_named(registry, STR("t"), str_c(plural), &definition) != OUTCOME_OK)
		return NULL;
	return definition->type;
}

#endif

// SPDX-License-Identifier: Apache-2.0
#include "base/base.h"

#include "registry/rules.h"

// A new type with rules is one line here.
static const struct type_rules *const all[] = {
	&node_rules, &port_rules, &portgroup_rules, &chassis_rules, &provider_rules, &crd_rules, NULL
};

const struct type_rules *rules_find(struct str group, struct str plural)
{
	for (size_t i = 0; all[i] != NULL; i++) {
		if (str_eq_c(group, all[i]->group) && str_eq_c(plural, all[i]->plural))
			return all[i];
	}
	return NULL;
}

bool resource_is_top(const struct resource *resource)
{
	const struct type_rules *rules = resource->type->rules;

	return rules != NULL && rules->is_root && (!resource->has_root || uuid_eq(resource->root, resource->uid));
}

// SPDX-License-Identifier: Apache-2.0
// The names of policies.
#include "base/base.h"

#include "registry/type/policy.h"

const char *type_policy(struct str name)
{
	static const char *const policies[] = { TYPE_POLICY_LOCAL, TYPE_POLICY_SYSTEM, TYPE_POLICY_NEVER };

	for (size_t i = 0; i < COUNT_OF(policies); i++) {
		if (str_eq_c(name, policies[i]))
			return policies[i];
	}
	return NULL;
}

// SPDX-License-Identifier: Apache-2.0
#include "base/base.h"

#include "auth/core/role.h"

const char *const role_names[ROLE_COUNT] = {
	[ROLE_NONE] = "none",
	[ROLE_READER] = "reader",
	[ROLE_MEMBER] = "member",
	[ROLE_ADMIN] = "admin",
	[ROLE_OPERATOR] = "operator",
};

const char *role_name(enum role role)
{
	assert((size_t)role < COUNT_OF(role_names));
	return role_names[role];
}

bool role_parse(struct str text, enum role *role)
{
	for (enum role r = ROLE_READER; r <= ROLE_OPERATOR; r++) {
		if (str_eq_c(text, role_names[r])) {
			*role = r;
			return true;
		}
	}
	return false;
}

// SPDX-License-Identifier: Apache-2.0
#include "base/base.h"

#include "api/type_role.h"

#include "api/call.h"
#include "registry/core/model.h"
#include "registry/type/rules.h"

enum role type_role_needed(const struct type *type, bool of_content)
{
	enum for_admins for_admins = type->rules != NULL ? type->rules->for_admins : FOR_ADMINS_NOTHING;
	enum for_admins least = of_content ? FOR_ADMINS_CHANGES : FOR_ADMINS_EXISTENCE;

	return for_admins >= least ? ROLE_ADMIN : ROLE_MEMBER;
}

enum outcome type_role_check(struct call *call, const struct type *type, bool of_content)
{
	enum role needed = type_role_needed(type, of_content);

	return call->who.role >= needed ? OUTCOME_OK : call_fail(call, OUTCOME_FORBIDDEN, "this needs the role %s", role_name(needed));
}

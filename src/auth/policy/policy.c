// SPDX-License-Identifier: Apache-2.0
// Decides whether a principal may use a method: compares its role with the method's and its tenant with the address's.
#include "base/base.h"

#include "auth/core/auth.h"
#include "auth/core/role_table.h"

// Is the realm the principal's own tenant? No tenant has a reserved name, so a principal with such a tenant name belongs to none.
static bool is_own(const struct principal *principal, struct realm realm)
{
	return realm.kind == REALM_TENANT && str_eq(realm.tenant, principal->tenant) &&
	       realm_reserved(principal->tenant) == NULL;
}

// A method for operators is refused before the tenant in the address is looked at, so the answer tells nothing about it.
enum outcome principal_may(const struct principal *principal, enum role needed, struct realm realm)
{
	assert(principal != NULL && needed <= ROLE_OPERATOR);
	if (needed == ROLE_NONE || principal->role == ROLE_OPERATOR)
		return OUTCOME_OK;
	if (principal->user.n == 0)
		return OUTCOME_UNAUTHENTICATED;
	if (needed == ROLE_OPERATOR)
		return OUTCOME_FORBIDDEN;
	if (realm.kind != REALM_NONE && !is_own(principal, realm))
		return OUTCOME_NOT_FOUND;
	return principal->role >= needed ? OUTCOME_OK : OUTCOME_FORBIDDEN;
}

enum outcome principal_may_read(const struct principal *principal, enum role needed, struct realm realm)
{
	return principal->reads_all ? OUTCOME_OK : principal_may(principal, needed, realm);
}

// ---- roles and scopes of OpenStack

struct openstack_scope principal_openstack(const struct principal *principal)
{
	static const struct str implied[] = {
		[ROLE_NONE] = STR_INIT(""),
		[ROLE_READER] = STR_INIT("reader"),
		[ROLE_MEMBER] = STR_INIT("member,reader"),
		[ROLE_ADMIN] = STR_INIT("member,reader"), // an admin of OpenStack may do all that an operator may
		[ROLE_OPERATOR] = STR_INIT("admin,member,reader"),
	};

	assert(principal != NULL && (size_t)principal->role < COUNT_OF(implied));
	if (principal->has_roles)
		return (struct openstack_scope){ principal->roles, principal->system_scope, principal->project };
	return (struct openstack_scope){ implied[principal->role], principal->role == ROLE_OPERATOR, principal->tenant };
}

bool principal_has_openstack_role(const struct openstack_scope *scope, struct str role)
{
	struct str rest = scope->roles, item;

	while (str_split(&rest, ',', &item)) {
		if (role_name_is(str_trim(item), role, ROLE_NAMES_OPENSTACK))
			return true;
	}
	return false;
}

bool openstack_scope_may_all(const struct principal *principal)
{
	const struct openstack_scope scope = principal_openstack(principal);

	return !principal->is_mapped && (principal_has_openstack_role(&scope, STR("admin")) ||
		principal_has_openstack_role(&scope, STR("service")));
}

enum outcome principal_may_see_usages(const struct principal *principal, struct str project)
{
	assert(principal != NULL);
	if (principal->user.n == 0)
		return OUTCOME_UNAUTHENTICATED;
	if (principal->role == ROLE_OPERATOR || principal->reads_all || openstack_scope_may_all(principal))
		return OUTCOME_OK;
	const struct str own = principal_openstack(principal).project; // not the tenant: of a token without a project that is default_tenant
	return own.n > 0 && str_eq(own, project) ? OUTCOME_OK : OUTCOME_FORBIDDEN;
}

// SPDX-License-Identifier: Apache-2.0
// auth/policy/policy.c: the roles and scope of a principal as OpenStack's policies know them.
#include "base/base.h"

#include "auth/core/principal.h"
#include "tap.h"

static void has(const char *what, struct principal principal, const char *role, bool wanted)
{
	const struct openstack_scope scope = principal_openstack(&principal);

	ok(principal_has_openstack_role(&scope, str_c(role)) == wanted, "%s: %s %s", what, wanted ? "has" : "has not", role);
}

static void test_own_roles(void)
{
	const struct principal operator = { .user = STR("o"), .role = ROLE_OPERATOR };
	const struct principal admin = { .user = STR("a"), .tenant = STR("red"), .role = ROLE_ADMIN };
	const struct principal member = { .user = STR("m"), .tenant = STR("red"), .role = ROLE_MEMBER };
	const struct principal reader = { .user = STR("r"), .tenant = STR("red"), .role = ROLE_READER };
	const struct principal none = { .user = STR("n") };

	has("an operator", operator, "admin", true);
	has("an operator", operator, "reader", true);
	has("an operator", operator, "service", false);
	has("a tenant's admin", admin, "admin", false);
	has("a tenant's admin", admin, "member", true);
	has("a tenant's admin", admin, "reader", true);
	has("a tenant's member", member, "admin", false);
	has("a tenant's member", member, "member", true);
	has("a tenant's member", member, "reader", true);
	has("a tenant's reader", reader, "member", false);
	has("a tenant's reader", reader, "reader", true);
	has("a user without role", none, "reader", false);
	ok(principal_openstack(&operator).system_scope, "an operator's scope is the system");
	ok(!principal_openstack(&admin).system_scope, "a tenant's admin's is not");
	ok(str_eq_c(principal_openstack(&admin).project, "red"), "but the project of the tenant's name");
}

static void test_given_roles(void)
{
	const struct principal given = { .user = STR("u"), .tenant = STR("red"), .role = ROLE_ADMIN, .has_roles = true,
		.roles = STR("Service, auditor"), .project = STR("blue") };

	has("roles of a credential", given, "service", true);
	has("roles of a credential", given, "auditor", true);
	has("roles of a credential", given, "member", false);
	has("roles of a credential", given, "audit", false);
	has("roles of a credential", given, "", false);
	ok(str_eq_c(principal_openstack(&given).project, "blue"), "its project counts, not the tenant");
}

static void test_reading(void)
{
	struct principal auditor = { .user = STR("a"), .role = ROLE_NONE };
	const struct realm red = realm_of_tenant(STR("red"));

	is_int(principal_may_read(&auditor, ROLE_READER, red), OUTCOME_NOT_FOUND, "a user without role may not read");
	auditor.reads_all = true;
	is_int(principal_may_read(&auditor, ROLE_READER, red), OUTCOME_OK, "who reads all may");
	is_int(principal_may_read(&auditor, ROLE_OPERATOR, (struct realm){ .kind = REALM_ALL }), OUTCOME_OK,
		"even what is for operators");
	is_int(principal_may(&auditor, ROLE_READER, red), OUTCOME_NOT_FOUND, "but not write");
}

int main(void)
{
	test_own_roles();
	test_given_roles();
	test_reading();
	return done_testing();
}

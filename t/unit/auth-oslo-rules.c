// SPDX-License-Identifier: Apache-2.0
// auth/policy/oslo_rules.c: the language of oslo.policy, its precedence, and what it compares.
#include "base/base.h"

#include "auth/policy/oslo_rules.h"
#include "base/buf.h"
#include "base/pool.h"
#include "tap.h"

static struct pool *pool;

static const struct principal admin = { .user = STR_INIT("u1"), .has_roles = true, .roles = STR_INIT("Admin,reader"), .project = STR_INIT("p1") };
static const struct principal reader = { .user = STR_INIT("u2"), .has_roles = true, .roles = STR_INIT("reader"), .system_scope = true };

static bool allowed(const char *check, const struct principal *principal)
{
	const struct oslo_rule rules[] = {
		{ .name = STR("tested"), .check = str_c(check) },
		{ .name = STR("yes"), .check = STR("@") },
		{ .name = STR("no"), .check = STR("!") },
	};
	const struct oslo_target target = { .project = STR("p1"), .user = STR("") };
	char *error = NULL;
	const struct oslo_rules *compiled = oslo_rules_compile(pool, rules, COUNT_OF(rules), &error);

	if (compiled == NULL)
		diag("%s: %s", check, error);
	free(error);
	return compiled != NULL && oslo_rules_allow(compiled, 0, principal, &target);
}

static void test_language(void)
{
	static const struct {
		const char *check;
		bool admin, reader;
	} cases[] = {
		{ "", true, true }, { "@", true, true }, { "!", false, false },
		{ "role:admin", true, false }, { "role:READER", true, true }, { "role:read", false, false },
		{ "not role:admin", false, true }, { "NOT role:admin", false, true }, { "not not role:admin", true, false },
		{ "rule:yes", true, true }, { "rule:no or role:admin", true, false },
		{ "system_scope:all", false, true }, { "system_scope:None", true, false },
		{ "project_id:%(project_id)s", true, false }, { "project_id:p1", true, false }, { "tenant:p1", true, false },
		{ "user_id:u2", false, true }, { "user_id:%(user_id)s", false, false }, // the target has none
		{ "'p1':%(project_id)s", true, true }, { "roles:admin", true, false }, { "is_admin:True", false, false },
		// "and" binds closer than "or", "not" closer than both
		{ "@ or ! and !", true, true }, { "(@ or !) and !", false, false }, { "! and ! or @", true, true },
		{ "not ! and !", false, false }, { "not (! and !)", true, true },
		{ "((role:admin))", true, false }, { "( role:admin ) or system_scope:all", true, true },
		{ "(role:reader and project_id:%(project_id)s)", true, false },
	};

	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		ok(allowed(cases[i].check, &admin) == cases[i].admin, "\"%s\" for an admin", cases[i].check);
		ok(allowed(cases[i].check, &reader) == cases[i].reader, "\"%s\" for a reader", cases[i].check);
	}
}

static void test_wrong(void)
{
	static const char *const checks[] = { "role:", ":x", "admin", "(role:a", "role:a)", "()", "and role:a", "role:a or", "role:a not role:b",
		"rule:unknown", "rule:tested", "not rule:tested", "role:%(x)s", "role:a%", "https:x", "domain:x", "@@", "not" };

	for (size_t i = 0; i < COUNT_OF(checks); i++) {
		const struct oslo_rule rule = { .name = STR("tested"), .check = str_c(checks[i]), .line = 7 };
		char *error = NULL;

		ok(oslo_rules_compile(pool, &rule, 1, &error) == NULL, "\"%s\" is wrong", checks[i]);
		ok(error != NULL && strncmp(error, "line 7: rule \"tested\": ", 23) == 0, "and it is said where: %s", error);
		free(error);
	}
}

// A ring of rules, and a long chain, which is none.
static void test_rings(void)
{
	enum { N = 100 };
	struct oslo_rule rules[N];
	char *error = NULL;

	for (size_t i = 0; i < N; i++)
		rules[i] = (struct oslo_rule){ .name = str_printf(pool, "r%zu", i), .check = str_printf(pool, "rule:r%zu", (i + 1) % N) };
	ok(oslo_rules_compile(pool, rules, N, &error) == NULL, "a ring");
	free(error);
	error = NULL;
	rules[N - 1].check = STR("role:admin");
	const struct oslo_rules *compiled = oslo_rules_compile(pool, rules, N, &error);
	ok(compiled != NULL && oslo_rules_allow(compiled, 0, &admin, &(struct oslo_target){ .project = STR("") }), "a chain");
}

// What a request could not pay for: rules that name others twice, and checks without end.
static void test_bounds(void)
{
	enum { N = 64 };
	struct oslo_rule rules[N];
	struct buf check = buf_new(pool, 0);
	char *error = NULL;

	for (size_t i = 0; i < N; i++)
		rules[i] = (struct oslo_rule){ .name = str_printf(pool, "r%zu", i), .check = str_printf(pool, "rule:r%zu or rule:r%zu", i + 1, i + 1) };
	rules[N - 1].check = STR("!");
	const struct oslo_rules *compiled = oslo_rules_compile(pool, rules, N, &error);
	ok(compiled != NULL && !oslo_rules_allow(compiled, 0, &admin, &(struct oslo_target){ .project = STR("") }), "each rule is asked once");
	for (size_t i = 0; i < OSLO_MAX_TERMS; i++)
		BUF_LIT(&check, "! or ");
	BUF_LIT(&check, "@");
	rules[0].check = buf_str(&check);
	ok(oslo_rules_compile(pool, rules, N, &error) == NULL && strstr(error, "too many terms") != NULL, "too many terms");
	free(error);
}

int main(void)
{
	pool = pool_new();
	test_language();
	test_wrong();
	test_rings();
	test_bounds();
	pool_free(&pool);
	return done_testing();
}

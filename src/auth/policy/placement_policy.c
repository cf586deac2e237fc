// SPDX-License-Identifier: Apache-2.0
// The built-in rules of Placement, and a file's in their place (auth/policy/placement_policy.h).
#include "base/base.h"

#include "auth/core/authenticator.h"
#include "auth/policy/placement_policy.h"
#include "base/config/config.h"
#include "base/config/setting.h"
#include "base/memory.h"

static const struct {
	const char *name, *check;
} builtin[] = {
#define RULE(symbol, name, check) { name, check },
#include "auth/policy/placement_rules.def"
#undef RULE
};

// The rules that all others stand on.
static const struct {
	enum placement_rule rule;
	const char *legacy, *secure;
} bases[] = {
	{ PLACEMENT_SYSTEM_ADMIN_API, "(role:admin and system_scope:all) or role:admin",
		"(role:admin and system_scope:all) or role:service" },
	{ PLACEMENT_SYSTEM_READER_API, "(role:reader and system_scope:all) or role:admin",
		"(role:reader and system_scope:all) or role:service" },
	{ PLACEMENT_PROJECT_READER_API, "(role:reader and project_id:%(project_id)s) or role:admin",
		"role:reader and project_id:%(project_id)s" },
	{ PLACEMENT_SYSTEM_OR_PROJECT_READER, "rule:system_reader_api or rule:project_reader_api or role:admin",
		"rule:system_reader_api or rule:project_reader_api" },
};

struct placement_policy {
	struct pool *pool;
	const struct oslo_rules *rules; // the first ones are those of enum placement_rule
};

const char *placement_rule_name(enum placement_rule rule)
{
	assert((size_t)rule < COUNT_OF(builtin));
	return builtin[rule].name;
}

static void fill_builtin(struct oslo_rule *rules, bool secure)
{
	for (size_t i = 0; i < COUNT_OF(builtin); i++)
		rules[i] = (struct oslo_rule){ .name = str_c(builtin[i].name),
			.check = builtin[i].check != NULL ? str_c(builtin[i].check) : STR_NONE };
	for (size_t i = 0; i < COUNT_OF(bases); i++)
		rules[bases[i].rule].check = str_c(secure ? bases[i].secure : bases[i].legacy);
}

// Puts the file's rules in the place of those of the same names, or behind all. A name of Placement's own that it doesn't have is
// refused: what was to be restricted by it would stay open.
static bool merge_rule(struct oslo_rule *rules, size_t *n, const struct oslo_rule *rule, char **error)
{
	size_t i = 0;

	while (i < COUNT_OF(builtin) && !str_eq(rules[i].name, rule->name))
		i++;
	if (i < COUNT_OF(builtin)) {
		rules[i] = *rule;
		return true;
	}
	if (str_starts(rule->name, STR("placement:"))) {
		*error = auth_message("line %u: there is no rule \"%.*s\"; the rules are those of Placement 8.0", rule->line,
			STR_HEAD_ARG(rule->name, 80));
		return false;
	}
	rules[(*n)++] = *rule;
	return true;
}

static bool compile(struct placement_policy *policy, const char *word, char **error)
{
	bool is_file = strcmp(word, "legacy") != 0 && strcmp(word, "secure") != 0, good = true;
	struct oslo_rule *rules = POOL_ARRAY(policy->pool, struct oslo_rule, COUNT_OF(builtin) + OSLO_MAX_RULES), *given = NULL;
	size_t n = COUNT_OF(builtin), n_given = 0;
	char *wrong = NULL;

	fill_builtin(rules, strcmp(word, "secure") == 0);
	if (is_file && !oslo_rules_read_file(policy->pool, word, &given, &n_given, error))
		return false;
	for (size_t i = 0; good && i < n_given; i++)
		good = merge_rule(rules, &n, &given[i], &wrong);
	policy->rules = good ? oslo_rules_compile(policy->pool, rules, n, &wrong) : NULL;
	if (policy->rules == NULL)
		*error = auth_message("%s, %s", word, wrong);
	free(wrong);
	return policy->rules != NULL;
}

// ---- the setting

#define PLACEMENT(key, type, member, ...) SETTING_ROW("placement", key, type, placement_policy_settings, member, __VA_ARGS__)

static const struct setting placement_policy_rows[] = {
	PLACEMENT("policy", TEXT, policy, "", 0, SETTING_TEXT_MAX, NULL,
	          "Who may do what in the placement dialect. Empty: operators, and OpenStack's roles admin and service; users may read traits and their own "
	          "project's usages. legacy, secure: Placement's rules. Otherwise the path of a file of rules in oslo.policy's YAML form, on top of legacy."),
};

const struct config_table placement_policy_settings_table = {
	.settings = placement_policy_rows, .n = COUNT_OF(placement_policy_rows), .size = sizeof(struct placement_policy_settings),
};

const struct placement_policy_settings *placement_policy_settings(const struct config *config)
{
	return config_values(config, &placement_policy_settings_table);
}

// ---- the policy

bool placement_policy_new(const struct config *config, struct placement_policy **policy, char **error)
{
	char *wrong = NULL;

	*policy = NULL;
	if (placement_policy_settings(config)->policy[0] == '\0')
		return true;
	*policy = memory_zeroed(1, sizeof(**policy));
	(*policy)->pool = pool_new_or_end();
	if (compile(*policy, placement_policy_settings(config)->policy, &wrong))
		return true;
	*error = auth_message("[placement] policy: %s", wrong);
	free(wrong);
	placement_policy_free(policy);
	return false;
}

void placement_policy_free(struct placement_policy **policy)
{
	if (*policy == NULL)
		return;
	pool_free(&(*policy)->pool);
	free(*policy);
	*policy = NULL;
}

bool placement_policy_allows(const struct placement_policy *policy, enum placement_rule rule, const struct principal *principal,
	const struct oslo_target *target)
{
	return oslo_rules_allow(policy->rules, rule, principal, target);
}

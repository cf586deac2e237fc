// SPDX-License-Identifier: Apache-2.0
// Who may use which method of the placement dialect, if [placement] policy says so: the rules of OpenStack's Placement service.
//   legacy  its rules by default: the role admin, whatever its scope, may do everything; the role reader with the scope of the system
//           may read; a project's reader may read the project's usages
//   secure  its rules with enforce_scope and enforce_new_defaults: as legacy, but admin only with the scope of the system; and the
//           role service may do everything, as the traits specification has it
//   FILE    as legacy, with the rules of that file in the place of those of the same names
#ifndef TENURE_AUTH_POLICY_PLACEMENT_POLICY_H
#define TENURE_AUTH_POLICY_PLACEMENT_POLICY_H

#include "auth/policy/oslo_rules.h"

struct config;
struct config_table;

enum placement_rule {
#define RULE(symbol, name, check) PLACEMENT_##symbol,
#include "auth/policy/placement_rules.def"
#undef RULE
};

struct placement_policy;

struct placement_policy_settings {
	const char *policy; // "": by Tenure's own roles; legacy, secure, or a file of rules
};
extern const struct config_table placement_policy_settings_table;
const struct placement_policy_settings *placement_policy_settings(const struct config *config);

// The policy that the configuration names; *policy is NULL if it names none. Reads the file. False and *error (malloc): what is
// wrong with it, and where.
bool placement_policy_new(const struct config *config, struct placement_policy **policy, char **error);
void placement_policy_free(struct placement_policy **policy);

bool placement_policy_allows(const struct placement_policy *policy, enum placement_rule rule, const struct principal *principal,
	const struct oslo_target *target);
// "placement:traits:list"
const char *placement_rule_name(enum placement_rule rule);

#endif

// SPDX-License-Identifier: Apache-2.0
// The check of a rule of the configured policy.
#include "base/base.h"

#include "api/placement/common/placement.h"

enum outcome placement_policy_check(struct call *call, enum placement_rule rule, const struct oslo_target *target)
{
	assert(call->placement_policy != NULL);
	if (placement_policy_allows(call->placement_policy, rule, &call->who, target))
		return OUTCOME_OK;
	return call_fail(call, OUTCOME_FORBIDDEN, "Policy does not allow %s to be performed.", placement_rule_name(rule));
}

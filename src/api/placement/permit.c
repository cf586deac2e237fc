// SPDX-License-Identifier: Apache-2.0
// Who may use which method. Without a configured policy, the roles of placement.wadl count; besides, a credential with the
// OpenStack role service, or admin of any project, may do what an operator may, as the traits specification demands. With a
// policy, its rules alone count.
#include "base/base.h"

#include "api/placement/allocation/allocation.h"
#include "api/placement/candidate/candidate.h"
#include "api/placement/catalogue/catalogue.h"
#include "api/placement/common/placement.h"
#include "api/placement/inventory/inventory.h"
#include "api/placement/permit.h"
#include "api/placement/provider/provider.h"
#include "auth/policy/placement_policy.h"

// The rule of each method. A method that only Tenure has goes by the rule of the method that is most like it.
static const struct {
	handler_fn *run;
	enum placement_rule rule;
} rules[] = {
	{ list_traits, PLACEMENT_TRAIT_LIST },
	{ show_trait, PLACEMENT_TRAIT_SHOW },
	{ make_trait, PLACEMENT_TRAIT_UPDATE },
	{ drop_trait, PLACEMENT_TRAIT_DELETE },
	{ get_trait_about, PLACEMENT_TRAIT_SHOW },
	{ put_trait_about, PLACEMENT_TRAIT_UPDATE },
	{ list_trait_providers, PLACEMENT_PROVIDER_LIST },
	{ list_resource_classes, PLACEMENT_CLASS_LIST },
	{ create_resource_class, PLACEMENT_CLASS_CREATE },
	{ get_resource_class, PLACEMENT_CLASS_SHOW },
	{ put_resource_class, PLACEMENT_CLASS_UPDATE },
	{ delete_resource_class, PLACEMENT_CLASS_DELETE },
	{ list_providers, PLACEMENT_PROVIDER_LIST },
	{ create_provider, PLACEMENT_PROVIDER_CREATE },
	{ get_provider, PLACEMENT_PROVIDER_SHOW },
	{ put_provider, PLACEMENT_PROVIDER_UPDATE },
	{ delete_provider, PLACEMENT_PROVIDER_DELETE },
	{ list_inventories, PLACEMENT_INVENTORY_LIST },
	{ create_inventory, PLACEMENT_INVENTORY_CREATE },
	{ put_inventories, PLACEMENT_INVENTORY_UPDATE },
	{ delete_inventories, PLACEMENT_INVENTORY_DELETE },
	{ get_inventory, PLACEMENT_INVENTORY_SHOW },
	{ put_inventory, PLACEMENT_INVENTORY_UPDATE },
	{ delete_inventory, PLACEMENT_INVENTORY_DELETE },
	{ get_aggregates, PLACEMENT_AGGREGATE_LIST },
	{ put_aggregates, PLACEMENT_AGGREGATE_UPDATE },
	{ get_provider_traits, PLACEMENT_PROVIDER_TRAIT_LIST },
	{ put_provider_traits, PLACEMENT_PROVIDER_TRAIT_UPDATE },
	{ delete_provider_traits, PLACEMENT_PROVIDER_TRAIT_DELETE },
	{ put_provider_trait, PLACEMENT_PROVIDER_TRAIT_UPDATE },
	{ delete_provider_trait, PLACEMENT_PROVIDER_TRAIT_DELETE },
	{ list_candidates, PLACEMENT_CANDIDATE_LIST },
	{ list_provider_allocations, PLACEMENT_PROVIDER_ALLOCATIONS },
	{ post_allocations, PLACEMENT_ALLOCATION_MANAGE },
	{ get_allocations, PLACEMENT_ALLOCATION_LIST },
	{ put_allocations, PLACEMENT_ALLOCATION_UPDATE },
	{ delete_allocations, PLACEMENT_ALLOCATION_DELETE },
	{ post_reshaper, PLACEMENT_RESHAPE },
	{ list_usages, PLACEMENT_PROVIDER_USAGES },
};

// Finds the rule of the requested method. False: it has none here. Everybody may read the version document; and
// get_total_usages() checks its rule itself, since it depends on the project that the query names.
static bool find_rule(const struct call *call, enum placement_rule *rule)
{
	const struct endpoint *endpoint = call->match.method->handler;

	for (size_t i = 0; i < COUNT_OF(rules); i++) {
		if (rules[i].run == endpoint->run) {
			*rule = rules[i].rule;
			return true;
		}
	}
	return false;
}

enum outcome placement_permit(struct call *call, enum outcome by_role)
{
	enum placement_rule rule;

	assert(call->match.method != NULL);
	if (by_role == OUTCOME_UNAUTHENTICATED || !find_rule(call, &rule))
		return by_role;
	if (call->placement_policy == NULL)
		return by_role == OUTCOME_FORBIDDEN && openstack_scope_may_all(&call->who) ? OUTCOME_OK : by_role;
	const struct openstack_scope scope = principal_openstack(&call->who);
	const struct oslo_target own = { .project = scope.project, .user = call->who.user };
	return placement_policy_check(call, rule, &own);
}

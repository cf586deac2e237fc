// SPDX-License-Identifier: Apache-2.0
// The rules of chassis. They are the operator's, and nodes of any tenant may be in them.
#include "base/base.h"

#include "registry/baremetal/internal.h"
#include "registry/baremetal/rules.h"
#include "registry/core/failure.h"

static enum outcome complete(struct draft *draft)
{
	return baremetal_normalise(draft, baremetal_chassis_members);
}

static void relate(struct pool *pool, const struct doc *body, const struct uuid *uid, struct relations *relations)
{
	UNUSED(pool);
	UNUSED(body);
	UNUSED(uid);
	*relations = (struct relations){ 0 };
}

static enum outcome may_delete(struct registry *registry, const struct resource *resource, const struct doc *body)
{
	bool has_nodes;
	enum outcome outcome = baremetal_pointed_at(registry, &node_rules, "chassis", &resource->uid, &has_nodes);

	UNUSED(body);
	if (outcome != OUTCOME_OK || !has_nodes)
		return outcome;
	return registry_fail(registry, OUTCOME_BAD_REQUEST,
		"Cannot complete the requested action because chassis %.*s contains nodes.",
		UUID_ARG(registry->pool, resource->uid));
}

static enum outcome taken(struct registry *registry, const struct uuid *uid, const struct lookup_key *key)
{
	return baremetal_fail_taken(registry, &chassis_rules, uid, key);
}

const struct type_rules chassis_rules = {
	.group = BAREMETAL_GROUP,
	.plural = "chassis",
	.noun = "chassis",
	.title = "Chassis",
	.of_system = true,
	.complete = complete,
	.relate = relate,
	.may_delete = may_delete,
	.taken = taken,
};

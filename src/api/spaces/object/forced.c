// SPDX-License-Identifier: Apache-2.0
// Definitions that the operator forces on every tenant. Each space shows them beside its own definitions, and they hide its own
// definitions of the same name. They belong to the system space, and can be changed only there.
#include "base/base.h"

#include "api/spaces/answer/answer.h"
#include "api/spaces/common/spaces.h"
#include "api/spaces/object/object.h"
#include "base/buf.h"
#include "base/pool.h"
#include "registry/resource/resource.h"

bool object_shows_forced(const struct target *target)
{
	return !target->is_system && !target->all && definition_has_identity(target->definition, CRD_GROUP, CRD_PLURAL);
}

enum outcome object_find_forced(struct call *call, const struct target *target, struct str name, bool *forced)
{
	size_t dot = str_find(name, '.', 0);
	struct definition_reason reason = { 0 };
	const struct definition *definition;

	*forced = false;
	if (!object_shows_forced(target) || dot == name.n)
		return OUTCOME_OK;
	enum outcome outcome = definition_find(call->registry, target->tenant, str_part(name, dot + 1, name.n),
		str_part(name, 0, dot), &definition, &reason);
	if (outcome != OUTCOME_OK && outcome != OUTCOME_NOT_FOUND)
		return outcome;
	call->problem = (struct problem){ .n_members = 0 };
	*forced = outcome == OUTCOME_OK && reason.rule != NULL && strcmp(reason.rule, "forced") == 0;
	return OUTCOME_OK;
}

enum outcome object_check_forced(struct call *call, const struct target *target)
{
	bool forced;
	enum outcome outcome = target->name.p != NULL ? object_find_forced(call, target, target->name, &forced) : OUTCOME_OK;

	if (outcome != OUTCOME_OK || target->name.p == NULL || !forced)
		return outcome;
	return call_fail(call, OUTCOME_FORBIDDEN,
		"the operator forces this definition on every tenant: it is changed in the system space alone");
}

enum outcome object_read_forced(struct call *call, const struct target *target, const struct str **names, size_t *n)
{
	const struct definition *const *list;
	struct str *found;
	size_t all = 0;

	*n = 0;
	*names = NULL;
	if (!object_shows_forced(target))
		return OUTCOME_OK;
	enum outcome outcome = definition_list(call->registry, target->tenant, &list, &all);
	if (outcome != OUTCOME_OK)
		return outcome;
	*names = found = POOL_ARRAY(call->pool, struct str, all + 1);
	for (size_t i = 0; i < all; i++)
		if (!list[i]->builtin && list[i]->forced)
			found[(*n)++] = type_qualified_name(call->pool, list[i]);
	return OUTCOME_OK;
}

enum outcome object_list_forced(struct listing *listing, const struct choice *choice, struct str name)
{
	struct call *call = listing->call;
	const struct target *target = listing->target;
	const struct address address = { STR(TENANT_SYSTEM), target->definition->type, STR(""), name };
	struct resource resource;
	struct buf object = buf_new(call->pool, 1024);
	enum outcome outcome = resource_get(call->registry, &address, &resource);

	// It was deleted after the list of forced definitions was read.
	if (outcome == OUTCOME_NOT_FOUND || outcome == OUTCOME_GONE || outcome == OUTCOME_MOVED)
		return OUTCOME_OK;
	if (outcome != OUTCOME_OK)
		return outcome;
	const struct stored_place place = resource_place(&resource, "meta or body");
	answer_object_json(call, target->definition, target->version, &resource, &object);
	if (selection_matches(choice, call->pool, place, buf_str(&object)))
		listing_add(listing, place, buf_str(&object));
	return OUTCOME_OK;
}

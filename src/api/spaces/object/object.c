// SPDX-License-Identifier: Apache-2.0
// One object: get, create, update, patch, delete, and its parts.
#include "base/base.h"

#include "api/spaces/answer/answer.h"
#include "api/spaces/common/spaces.h"
#include "api/spaces/kinds/kinds.h"
#include "api/spaces/object/object.h"
#include "auth/core/auth.h"
#include "auth/core/settings.h"
#include "base/pool.h"
#include "registry/log/stale.h"
#include "registry/resource/resource.h"
#include "registry/tags/etag.h"
#include "registry/tenant/tenant.h"

// ---- checks before writes

// Reads target and preconditions of a request that writes, and checks what every such request needs.
static enum outcome begin_write(struct call *call, unsigned verb, struct target *target, struct conditions *conditions)
{
	enum outcome outcome = spaces_read_target(call, verb, target);

	if (outcome == OUTCOME_OK) {
		target_warn_if_deprecated(call, target);
		outcome = spaces_check_role(call, target->definition, verb);
	}
	if (outcome == OUTCOME_OK)
		outcome = object_check_forced(call, target);
	if (outcome == OUTCOME_OK)
		outcome = spaces_read_dry_run(call);
	if (outcome == OUTCOME_OK && verb != VERB_DELETE)
		outcome = spaces_read_field_manager(call);
	if (outcome == OUTCOME_OK)
		outcome = conditions_read(call, conditions);
	return outcome;
}

// ---- get

enum outcome get_in_space(struct call *call)
{
	struct target target;
	struct conditions conditions;
	struct resource resource;
	uint64_t version;
	bool forced;
	enum outcome outcome = spaces_read_target(call, VERB_GET, &target);

	if (outcome == OUTCOME_OK) {
		target_warn_if_deprecated(call, &target);
		outcome = spaces_read_version(call, &version);
	}
	if (outcome == OUTCOME_OK)
		outcome = conditions_read(call, &conditions);
	if (outcome != OUTCOME_OK)
		return outcome;
	if (definition_has_identity(target.definition, "", "tenants"))
		return tenant_object_get(call, &target, conditions_guard(&conditions));
	if (!target.definition->stored) // events are never stored, so there are none
		return spaces_explain(call, &target, target.name, OUTCOME_NOT_FOUND);
	struct address address = target_address(&target);
	outcome = object_find_forced(call, &target, target.name, &forced);
	if (outcome == OUTCOME_OK && forced)
		address.tenant = STR(TENANT_SYSTEM);
	if (outcome == OUTCOME_OK)
		outcome = resource_get(call->registry, &address, &resource);
	if (outcome == OUTCOME_OK)
		outcome = resource_check(call->registry, &resource, conditions_guard(&conditions));
	if (outcome == OUTCOME_OK)
		answer_object(call, &target, &resource);
	else if (outcome == OUTCOME_NOT_MODIFIED)
		conditions_set_etag(call, etag_shown(call->registry, &resource));
	return spaces_explain(call, &target, target.name, outcome);
}

// ---- create

enum outcome object_must_be_absent(void *arg, const uint8_t *etag)
{
	UNUSED(arg);
	return etag == NULL ? OUTCOME_OK : OUTCOME_NAME_TAKEN;
}

// The name of a new object, which the address does not have: that of the body, or a generated one.
static enum outcome choose_name(struct call *call, struct target *target, const struct doc *object, struct str name)
{
	struct field_faults faults = field_faults_new(call->pool);
	struct str prefix = spaces_metadata_text(object, "generateName");

	if (name.n == 0 && prefix.n > 0)
		name = kind_generated_name(call->pool, prefix);
	check_name(target->definition, name, &faults);
	target->name = name;
	return faults.n == 0 ? OUTCOME_OK : spaces_fail_invalid(call, target->definition, name, &faults);
}

// Explains why the object can't be created: its tenant or its namespace does not exist.
static enum outcome explain_nowhere(struct call *call, const struct target *target)
{
	struct tenant tenant;
	enum outcome outcome = tenant_get(call->registry, target->tenant, &tenant);

	if (outcome == OUTCOME_NOT_FOUND || outcome == OUTCOME_GONE)
		return spaces_fail_absent(call, STR(""), STR("tenants"), target->tenant);
	if (outcome != OUTCOME_OK)
		return outcome;
	if (target->space.n > 0)
		return spaces_fail_absent(call, STR(""), STR("namespaces"), target->space);
	return OUTCOME_NOT_FOUND;
}

static enum outcome create_with(struct call *call, const struct target *target, const struct doc *object)
{
	struct change_of_object change = { .call = call, .target = target, .kind = CHANGE_CREATE, .document = object };
	const struct address address = target_address(target);
	const struct guard guard = { .check = object_must_be_absent, .prevents_lost_update = true };
	struct resource resource;
	enum outcome outcome = OUTCOME_OK;

	if (target->is_system || str_eq_c(target->tenant, auth_settings(call->config)->default_tenant))
		outcome = tenant_ensure(call->registry, target->tenant);
	if (outcome == OUTCOME_OK)
		outcome = resource_write(call->registry, &address,
			&(struct edit){ .apply = change_apply, .arg = &change, .creates = true, .version = target->version->name }, guard,
			&resource);
	switch (outcome) {
	case OUTCOME_CREATED:
		if (call->dry_run)
			answer_trial_object(call, target, &resource);
		else
			answer_object(call, target, &resource);
		return OUTCOME_CREATED;
	case OUTCOME_NAME_TAKEN:
		return spaces_fail_exists(call, target, target->name);
	case OUTCOME_NOT_FOUND:
	case OUTCOME_GONE:
		return explain_nowhere(call, target);
	default:
		return spaces_explain(call, target, target->name, outcome);
	}
}

enum outcome create_in_space(struct call *call)
{
	struct target target;
	struct conditions conditions;
	struct doc *object;
	struct str name;
	enum outcome outcome = begin_write(call, VERB_CREATE, &target, &conditions);

	if (outcome == OUTCOME_OK && (target.all_spaces || target.all || target.name.p != NULL))
		outcome = call_fail(call, OUTCOME_METHOD_NOT_ALLOWED,
			"an object is made in the namespace, and the space of the tenant, that it is to stand in");
	if (outcome == OUTCOME_OK)
		outcome = conditions_check_collection(&conditions);
	if (outcome == OUTCOME_OK)
		outcome = object_read(call, &target, &object, &name);
	if (outcome == OUTCOME_OK && object_said_version(object).n > 0)
		outcome = call_fail(call, OUTCOME_BAD_REQUEST, "resourceVersion should not be set on objects to be created");
	if (outcome == OUTCOME_OK)
		outcome = choose_name(call, &target, object, name);
	if (outcome != OUTCOME_OK)
		return outcome;
	if (!target.definition->stored)
		return tenant_object_create(call, &target, object);
	return create_with(call, &target, object);
}

// ---- update, patch

// PUT and PATCH need an address that names an object.
static enum outcome check_names_object(struct call *call, const struct target *target)
{
	if (target->name.p == NULL)
		return call_fail(call, OUTCOME_METHOD_NOT_ALLOWED, "a collection is not changed as a whole: name the object");
	return OUTCOME_OK;
}

static enum outcome change_with(struct call *call, const struct target *target, struct change_of_object *change,
	struct conditions *conditions)
{
	const struct address address = target_address(target);
	struct guard guard = conditions_guard(conditions);
	struct resource resource;

	// A resourceVersion in the body serves as a precondition, like If-Match: object_check_version() checks it. A JSON Patch
	// is an array, which has none.
	if (object_said_version(change->document).n > 0)
		guard.prevents_lost_update = true;
	if (!target->definition->stored)
		return tenant_object_change(call, target, change, guard);
	enum outcome outcome = resource_write(call->registry, &address,
		&(struct edit){ .apply = change_apply, .arg = change, .version = target->version->name }, guard, &resource);
	// After a dry run the answer has the old version and ETag, so that a diff shows only the changes that the client asked
	// for.
	if (outcome == OUTCOME_OK && call->dry_run) {
		resource.changed = change->version;
		etag_replace(&resource, change->etag);
	}
	if (outcome == OUTCOME_OK)
		answer_object(call, target, &resource);
	return spaces_explain(call, target, target->name, outcome);
}

enum outcome put_in_space(struct call *call)
{
	struct target target;
	struct conditions conditions;
	struct doc *object;
	struct str name;
	enum outcome outcome = begin_write(call, VERB_UPDATE, &target, &conditions);

	if (outcome == OUTCOME_OK)
		outcome = check_names_object(call, &target);
	if (outcome == OUTCOME_OK)
		outcome = object_read(call, &target, &object, &name);
	if (outcome != OUTCOME_OK)
		return outcome;
	struct change_of_object change = { .call = call, .target = &target, .kind = CHANGE_REPLACE, .document = object };
	return change_with(call, &target, &change, &conditions);
}

enum outcome patch_in_space(struct call *call)
{
	struct target target;
	struct conditions conditions;
	struct change_of_object change = { .call = call, .target = &target };
	enum outcome outcome = begin_write(call, VERB_PATCH, &target, &conditions);

	if (outcome == OUTCOME_OK)
		outcome = check_names_object(call, &target);
	if (outcome == OUTCOME_OK)
		outcome = object_read_patch(call, &target, &change);
	return outcome == OUTCOME_OK ? change_with(call, &target, &change, &conditions) : outcome;
}

// ---- delete

// Rewords the outcome of a deletion. The namespace "default" can't be deleted while its tenant exists.
static enum outcome explain_deletion(struct call *call, const struct target *target, enum outcome outcome)
{
	if (outcome == OUTCOME_CONFLICT && definition_has_identity(target->definition, "", "namespaces") &&
		str_eq(target->name, STR("default")))
		return call_fail(call, OUTCOME_FORBIDDEN, "this namespace may not be deleted");
	return spaces_explain(call, target, target->name, outcome);
}

enum outcome delete_in_space(struct call *call)
{
	struct target target;
	struct conditions conditions;
	struct resource resource;
	enum outcome outcome = begin_write(call, VERB_DELETE, &target, &conditions);

	if (outcome != OUTCOME_OK)
		return outcome;
	struct guard guard = conditions_guard(&conditions);
	outcome = object_read_delete_options(call, &guard);
	if (outcome != OUTCOME_OK)
		return outcome;
	if (!target.definition->stored)
		return tenant_object_delete(call, &target, guard);
	const struct address address = target_address(&target);
	outcome = resource_delete(call->registry, &address, guard, &resource);
	if (outcome == OUTCOME_ACCEPTED) {
		answer_object(call, &target, &resource);
		return OUTCOME_OK;
	}
	if (outcome != OUTCOME_NO_CONTENT)
		return explain_deletion(call, &target, outcome);
	spaces_write_success(call, &target, target.name, &resource.uid);
	return OUTCOME_OK;
}

// SPDX-License-Identifier: Apache-2.0
// Addresses: find the space that a path names, or else the caller's own, and the type in it. This grants no rights: if the path
// names a space, the policy step has checked the caller's right to it.
#include "base/base.h"

#include "api/spaces/common/spaces.h"
#include "api/type_role.h"
#include "auth/core/auth.h"
#include "base/buf.h"
#include "base/pool.h"
#include "http/uri.h"
#include "registry/resource/resource.h"

struct str spaces_caller_tenant(const struct call *call)
{
	bool of_system = call->who.role == ROLE_OPERATOR || (call->who.reads_all && call->who.tenant.n == 0);

	return of_system ? STR(TENANT_SYSTEM) : call->who.tenant;
}

bool spaces_may_as_operator(const struct call *call, unsigned verb)
{
	bool reads = (verb & ~(unsigned)(VERB_GET | VERB_LIST | VERB_WATCH)) == 0;

	return call->who.role == ROLE_OPERATOR || (call->who.reads_all && reads);
}

struct address target_address(const struct target *target)
{
	return (struct address){ target->tenant, target->definition->type, target->space, target->name };
}

// ---- the space

// A path that names no space means the caller's own.
static enum outcome read_realm(struct call *call, struct target *target)
{
	struct realm realm = call->realm;

	if (realm.kind == REALM_NONE && spaces_caller_tenant(call).n > 0)
		realm = realm_of_tenant(spaces_caller_tenant(call));
	if (realm.kind == REALM_NONE)
		return call_fail(call, OUTCOME_FORBIDDEN,
			"User \"%.*s\" is of no tenant, and so has no space: name one in the path, tenants/NAME/",
			STR_ARG(call->who.user));
	target->all = realm.kind == REALM_ALL;
	target->is_system = realm.kind == REALM_ALL || realm.kind == REALM_SYSTEM;
	target->tenant = target->is_system ? STR(TENANT_SYSTEM) : realm.tenant;
	return OUTCOME_OK;
}

enum outcome target_read_one_tenant(struct call *call, struct str *tenant)
{
	assert(call->realm.kind != REALM_NONE);
	*tenant = call->realm.tenant;
	if (call->realm.kind != REALM_ALL)
		return OUTCOME_OK;
	return call_fail(call, OUTCOME_BAD_REQUEST, "\"" REALM_WORD_ALL "\" means every tenant: name one");
}

// ---- the type

// "namespaces/N/status" is the status of namespace N, not a type "status" in that namespace.
static bool is_part_of_namespace(struct str plural)
{
	return str_eq(plural, STR("status")) || str_eq(plural, STR("finalize"));
}

const char *const part_names[] = {
	[PART_WHOLE] = "", [PART_STATUS] = "status", [PART_SCALE] = "scale", [PART_FINALIZE] = "finalize",
};

bool part_from(struct str text, enum part *part)
{
	for (enum part p = PART_WHOLE; p <= PART_FINALIZE; p++) {
		if (str_eq_c(text, part_names[p])) {
			*part = p;
			return true;
		}
	}
	return false;
}

static enum part part_of(struct str text)
{
	enum part part = PART_WHOLE;

	(void)part_from(text, &part);
	return part;
}

static void read_names(const struct call *call, struct target *target, struct str *plural)
{
	struct str space = call_param(call, "namespace");

	*plural = call_param(call, "plural");
	target->space = space.p != NULL ? space : STR("");
	target->name = call_param(call, "name");
	target->part = part_of(call_param(call, "subresource"));
	if (target->name.p != NULL || !is_part_of_namespace(*plural))
		return;
	if (space.p != NULL) {
		target->part = part_of(*plural);
		target->name = target->space;
		target->space = STR("");
		*plural = STR("namespaces");
	} else if (call_param(call, "tenant").p != NULL && call_param(call, "group").p == NULL) {
		// Likewise "tenants/T/status" is the status of the Tenant object T.
		target->part = part_of(*plural);
		target->name = call_param(call, "tenant");
		*plural = STR("tenants");
	}
}

// For types that exist in the system space only.
static enum outcome fail_system_only(struct call *call, const struct target *target)
{
	struct str type = type_qualified_name(call->pool, target->definition);

	return call_fail(call, OUTCOME_FORBIDDEN, "%.*s belong to the system space alone", STR_ARG(type));
}

unsigned part_verbs(const struct definition *definition, const struct definition_version *version, enum part part)
{
	switch (part) {
	case PART_WHOLE:
		return VERBS_ALL;
	case PART_STATUS:
		if (!version->has_status)
			return 0;
		// The status of a Tenant is computed, not stored.
		return definition_has_identity(definition, "", "tenants") ? VERB_GET : VERB_GET | VERB_PATCH | VERB_UPDATE;
	case PART_SCALE:
		return version->has_scale ? VERB_GET | VERB_PATCH | VERB_UPDATE : 0;
	case PART_FINALIZE:
		return definition_has_identity(definition, "", "namespaces") ? VERB_UPDATE : 0;
	}
	return 0;
}

static enum outcome find_type(struct call *call, unsigned verb, struct target *target, struct str plural)
{
	struct str group = call_param(call, "group"), version = call_param(call, "version");
	struct str name_of_group = group.p != NULL ? group : STR("");
	struct definition_reason reason = { 0 };

	// Lets the look-up of the type read the object along with it. Types without a group are built in, and need no look-up.
	if (verb == VERB_GET && group.n > 0 && target->name.p != NULL && !target->all)
		resource_expect(call->registry, target->tenant, group, plural, target->space, target->name);
	enum outcome outcome = target->all ? definition_find_for_all(call->registry, name_of_group, plural, &target->definition) :
		definition_find(call->registry, target->tenant, name_of_group, plural, &target->definition, &reason);

	if (outcome == OUTCOME_NOT_FOUND && reason.rule != NULL && strcmp(reason.rule, "system-only") == 0)
		return call_fail(call, OUTCOME_FORBIDDEN, "%.*s belong to the system space alone", STR_ARG(plural));
	if (outcome == OUTCOME_NOT_FOUND)
		return spaces_fail_unknown(call);
	if (outcome != OUTCOME_OK)
		return outcome;
	target->version = definition_version(target->definition, group.p != NULL ? version : STR("v1"));
	if (target->version == NULL || part_verbs(target->definition, target->version, target->part) == 0)
		return spaces_fail_unknown(call);
	return OUTCOME_OK;
}

static enum outcome check_scope(struct call *call, struct target *target)
{
	const struct definition *definition = target->definition;
	bool namespaced = definition_is_namespaced(definition);

	if (definition->system_only && !target->is_system)
		return fail_system_only(call, target);
	if (!namespaced && target->space.n > 0)
		return spaces_fail_unknown(call);
	if (namespaced && target->space.n == 0 && target->name.p != NULL)
		return spaces_fail_unknown(call);
	if (target->all && target->name.p != NULL)
		return call_fail(call, OUTCOME_BAD_REQUEST,
			"tenants/" REALM_WORD_ALL " lists; an object is in the space of one tenant");
	target->all_spaces = namespaced && target->space.n == 0;
	return OUTCOME_OK;
}

// Notes for the access log which tenant's space the request is about, since a path need not name it. A request for a Tenant
// object is about the tenant of that name, if this caller may ask about that one.
static void note_tenant(struct call *call, unsigned verb, const struct target *target, struct str plural)
{
	if (!str_eq(plural, STR("tenants")) || call_param(call, "group").p != NULL) {
		if (!target->all)
			registry_concerns(call->registry, target->tenant);
	} else if (target->name.p != NULL && (spaces_may_as_operator(call, verb) || str_eq(target->name, call->who.tenant))) {
		registry_concerns(call->registry, target->name);
	}
}

// Does the target have this verb, and may this caller's kind of user use it?
static enum outcome check_verb(struct call *call, unsigned verb, const struct target *target)
{
	const struct definition *definition = target->definition;

	// The route for lists of namespaced objects also matches "namespaces/N/status", which is one object.
	if (verb == VERB_LIST && target->name.p != NULL)
		verb = VERB_GET;
	if ((definition->verbs & part_verbs(definition, target->version, target->part) & verb) == 0)
		return call_fail(call, OUTCOME_METHOD_NOT_ALLOWED, target->part == PART_FINALIZE ? "finalize takes PUT alone" :
			"the server does not allow this method on the requested resource");
	if (!spaces_may_as_operator(call, verb) && (definition->tenant_verbs & verb) == 0)
		return call_fail(call, OUTCOME_FORBIDDEN, "this is the operator's");
	return OUTCOME_OK;
}

enum role spaces_role_needed(const struct definition *definition, unsigned verb)
{
	if ((verb & (VERB_GET | VERB_LIST | VERB_WATCH)) != 0)
		return ROLE_READER;
	if (definition_has_identity(definition, "", "tenants"))
		return ROLE_ADMIN;
	return type_role_needed(definition->type, (verb & (VERB_UPDATE | VERB_PATCH)) != 0);
}

enum outcome spaces_check_role(struct call *call, const struct definition *definition, unsigned verb)
{
	enum role needed = spaces_role_needed(definition, verb);

	return call->who.role >= needed ? OUTCOME_OK : call_fail(call, OUTCOME_FORBIDDEN, "this needs the role %s", role_name(needed));
}

enum outcome spaces_read_target(struct call *call, unsigned verb, struct target *target)
{
	struct str plural;

	*target = (struct target){ .all = false };
	enum outcome outcome = read_realm(call, target);
	if (outcome == OUTCOME_OK) {
		read_names(call, target, &plural);
		note_tenant(call, verb, target, plural);
		outcome = find_type(call, verb, target, plural);
	}
	if (outcome == OUTCOME_OK)
		outcome = check_scope(call, target);
	return outcome == OUTCOME_OK ? check_verb(call, verb, target) : outcome;
}

// ---- deprecated versions

void target_warn_if_deprecated(struct call *call, const struct target *target)
{
	const struct definition_version *version = target->version;
	struct buf text = buf_new(call->pool, 128);
	struct str warning = version->warning;

	if (!version->deprecated)
		return;
	if (warning.n == 0) {
		struct str group_version = type_group_version(call->pool, target->definition->type->group, version->name);
		warning = str_printf(call->pool, "%.*s %.*s is deprecated", STR_ARG(group_version),
			STR_ARG(target->definition->kind));
	}
	BUF_LIT(&text, "299 - \"");
	for (size_t i = 0; i < warning.n; i++) {
		if (warning.p[i] == '"' || warning.p[i] == '\\')
			buf_addc(&text, '\\');
		buf_addc(&text, warning.p[i]);
	}
	buf_addc(&text, '"');
	response_add(&call->response, "Warning", buf_str(&text));
}

// SPDX-License-Identifier: Apache-2.0
// Shows what a change of sharing or policy would do: makes the change, reads its effects, and rolls it back.
#include "base/base.h"

#include "api/spaces/common/spaces.h"
#include "api/spaces/discovery/discovery.h"
#include "api/spaces/object/object.h"
#include "auth/core/auth.h"
#include "base/config/config.h"
#include "base/pool.h"
#include "http/uri.h"
#include "registry/crd/effect.h"
#include "registry/resource/resource.h"
#include "registry/tenant/tenant.h"

enum { LIMIT = 500 };

// The change that the client asks about.
struct proposal {
	struct target target;
	struct change_of_object change;
	enum { MAKE, REPLACE, PATCH, DELETE } operation;
};

// ---- reading the proposed change

static enum outcome read_operation(struct call *call, const struct doc *body, struct proposal *proposal)
{
	static const char *const operations[] = { "create", "replace", "patch", "delete" };
	static const enum change_kind kinds[] = { CHANGE_CREATE, CHANGE_REPLACE, CHANGE_MERGE_PATCH, CHANGE_REPLACE };
	const struct doc *value;

	for (unsigned i = 0; i < COUNT_OF(operations); i++) {
		if (doc_get(body, STR("operation"), &value) && doc_kind(value) == DOC_STRING &&
			str_eq_c(doc_string(value), operations[i])) {
			proposal->operation = i;
			proposal->change.kind = kinds[i];
			return OUTCOME_OK;
		}
	}
	return call_fail(call, OUTCOME_BAD_DOCUMENT, "operation must be \"create\", \"replace\", \"patch\" or \"delete\"");
}

static struct str text_member(const struct doc *object, const char *name)
{
	const struct doc *value;

	return doc_get(object, str_c(name), &value) && doc_kind(value) == DOC_STRING ? doc_string(value) : STR_NONE;
}

// Finds the type by the object's kind and apiVersion.
static enum outcome read_type(struct call *call, const struct doc *object, struct target *target)
{
	bool is_tenant = str_eq(text_member(object, "kind"), STR("Tenant"));
	struct str group = is_tenant ? STR("") : STR(CRD_GROUP), version = text_member(object, "apiVersion");
	struct str plural = is_tenant ? STR("tenants") : STR(CRD_PLURAL);

	if (!is_tenant && !str_eq(text_member(object, "kind"), STR("CustomResourceDefinition")))
		return call_fail(call, OUTCOME_BAD_DOCUMENT,
			"object.kind must be CustomResourceDefinition or Tenant: nothing else decides what a type is");
	enum outcome outcome = definition_find(call->registry, target->tenant, group, plural, &target->definition, NULL);
	if (outcome != OUTCOME_OK)
		return outcome;
	target->version = &target->definition->versions[0];
	if (version.p == NULL)
		return OUTCOME_OK;
	if (group.n > 0)
		version = str_starts(version, STR(CRD_GROUP "/")) ? str_part(version, sizeof(CRD_GROUP), version.n) : STR("");
	target->version = definition_version(target->definition, version);
	if (target->version != NULL)
		return OUTCOME_OK;
	struct str group_version = type_group_version(call->pool, group, target->definition->versions[0].name);
	return call_fail(call, OUTCOME_BAD_DOCUMENT, "object.apiVersion is none of this kind: leave it out, or put %.*s",
		STR_ARG(group_version));
}

// A Tenant object must be the one that the address names, and only its policy and annotations may be proposed.
static enum outcome check_tenant(struct call *call, const struct proposal *proposal)
{
	const struct target *target = &proposal->target;

	if (proposal->operation == MAKE || proposal->operation == DELETE)
		return call_fail(call, OUTCOME_BAD_DOCUMENT, "of a Tenant, \"operation\" is \"replace\" or \"patch\"");
	if (str_eq(target->name, target->tenant))
		return OUTCOME_OK;
	return call_fail(call, OUTCOME_BAD_DOCUMENT, "object.metadata.name must be the tenant of the path, \"%.*s\"",
		STR_ARG(target->tenant));
}

static enum outcome read_proposal(struct call *call, struct proposal *proposal)
{
	struct doc *body;
	const struct doc *object = NULL;
	struct target *target = &proposal->target;
	enum outcome outcome = object_read_json(call, &body);

	*proposal = (struct proposal){ .change = { .call = call, .target = target } };
	if (outcome == OUTCOME_OK)
		outcome = target_read_one_tenant(call, &target->tenant);
	target->is_system = call->realm.kind == REALM_SYSTEM;
	target->space = STR("");
	if (outcome == OUTCOME_OK && (!doc_get(body, STR("object"), &object) || doc_kind(object) != DOC_OBJECT))
		outcome = call_fail(call, OUTCOME_BAD_DOCUMENT,
			"the body must be {\"operation\": …, \"object\": {…}}, of a CustomResourceDefinition or a Tenant");
	if (outcome == OUTCOME_OK)
		outcome = read_operation(call, body, proposal);
	if (outcome == OUTCOME_OK)
		outcome = read_type(call, object, target);
	if (outcome != OUTCOME_OK)
		return outcome;
	proposal->change.document = object;
	target->name = spaces_metadata_text(object, "name");
	if (target->name.n == 0)
		return call_fail(call, OUTCOME_BAD_DOCUMENT, "object.metadata.name must tell what is to change");
	return target->definition->stored ? OUTCOME_OK : check_tenant(call, proposal);
}

// ---- making the change

// Makes the change in the transaction of this request, which is rolled back at the end.
static enum outcome make_change(struct call *call, struct proposal *proposal)
{
	const struct target *target = &proposal->target;
	const struct address address = target_address(target);
	struct guard guard = { .prevents_lost_update = true }; // no other writer's change can be lost, since it is rolled back
	struct edit edit = {
		.apply = change_apply,
		.arg = &proposal->change,
		.creates = proposal->operation == MAKE,
		.version = target->version->name,
	};
	struct resource resource;
	enum outcome outcome = OUTCOME_OK;

	if (!target->definition->stored)
		return tenant_object_change(call, target, &proposal->change, guard);
	if (proposal->operation == MAKE) {
		guard.check = object_must_be_absent;
		outcome = target->is_system ? tenant_ensure(call->registry, target->tenant) : OUTCOME_OK;
	} else {
		outcome = object_check_forced(call, target);
	}
	if (outcome == OUTCOME_OK && proposal->operation == DELETE)
		outcome = resource_delete(call->registry, &address, guard, &resource);
	else if (outcome == OUTCOME_OK)
		outcome = resource_write(call->registry, &address, &edit, guard, &resource);
	switch (outcome) {
	case OUTCOME_CREATED:
	case OUTCOME_ACCEPTED:
	case OUTCOME_NO_CONTENT:
		return OUTCOME_OK;
	case OUTCOME_NAME_TAKEN:
		return spaces_fail_exists(call, target, target->name);
	default:
		return spaces_explain(call, target, target->name, outcome);
	}
}

// ---- the answer

static struct doc *effect_doc(struct pool *pool, const struct definition_effect *effect)
{
	struct doc *doc = doc_new_object(pool);

	doc_set_str(pool, doc, "tenant", effect->tenant);
	doc_set_str(pool, doc, "type", type_qualified_name(pool, effect->from != NULL ? effect->from : effect->to));
	doc_set(doc, STR("from"), definition_doc(pool, effect->from));
	doc_set(doc, STR("to"), definition_doc(pool, effect->to));
	doc_set_u64(pool, doc, "objects", effect->objects);
	return doc;
}

static void write_effects(struct call *call, const struct definition_effects *effects)
{
	struct doc *doc = doc_new_object(call->pool), *list = doc_new_array(call->pool);

	for (size_t i = 0; i < effects->n; i++)
		doc_push(list, effect_doc(call->pool, &effects->list[i]));
	doc_set(doc, STR("effects"), list);
	if (effects->next.p != NULL)
		doc_set_str(call->pool, doc, "continue", effects->next);
	spaces_write_json_doc(call, doc);
}

static enum outcome read_page(struct call *call, struct str *marker, uint64_t *limit)
{
	struct str text;

	*limit = LIMIT;
	if (uri_query(&call->request.uri, STR("limit"), &text) && text.n > 0 && !str_to_u64(text, limit))
		return call_fail(call, OUTCOME_BAD_PARAMETER, "limit must be a number");
	if (*limit == 0 || *limit > LIMIT)
		*limit = LIMIT;
	if (!uri_query(&call->request.uri, STR("continue"), marker))
		*marker = STR("");
	return OUTCOME_OK;
}

// The group and plural name of the definition, from "widgets.example.com"; plural p is NULL for a Tenant.
static void definition_names(const struct target *target, struct str *group, struct str *plural)
{
	size_t dot = str_find(target->name, '.', 0);

	*group = *plural = STR_NONE;
	if (!target->definition->stored)
		return;
	*plural = str_part(target->name, 0, dot);
	*group = dot < target->name.n ? str_part(target->name, dot + 1, target->name.n) : STR("");
}

enum outcome tell_effect(struct call *call)
{
	struct proposal proposal;
	struct definition_survey *survey;
	struct definition_effects effects;
	struct str marker, group, plural;
	uint64_t limit;
	enum outcome outcome = read_page(call, &marker, &limit);

	call->dry_run = true;
	if (outcome == OUTCOME_OK)
		outcome = read_proposal(call, &proposal);
	if (outcome != OUTCOME_OK)
		return outcome;
	definition_names(&proposal.target, &group, &plural);
	outcome = definition_survey_begin(call->registry, proposal.target.tenant, group, plural, &survey);
	if (outcome == OUTCOME_OK)
		outcome = make_change(call, &proposal);
	if (outcome == OUTCOME_OK)
		outcome = definition_survey_end(call->registry, survey, marker, limit, &effects);
	if (outcome != OUTCOME_OK)
		return outcome;
	response_reset(&call->response, call->pool); // discards what the change itself has answered
	write_effects(call, &effects);
	return OUTCOME_OK;
}

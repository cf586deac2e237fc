// SPDX-License-Identifier: Apache-2.0
// What the caller may do, asked by the caller: the answers follow from the same definitions and roles as the calls.
#include "base/base.h"

#include "api/spaces/spaces.h"
#include "base/pool.h"

static enum role role_for(const struct definition *definition, unsigned verb)
{
	if ((verb & (VERB_GET | VERB_LIST | VERB_WATCH)) != 0)
		return ROLE_READER;
	if (has_identity(definition, CRD_GROUP, CRD_PLURAL) || has_identity(definition, "", "tenants"))
		return ROLE_ADMIN;
	return ROLE_MEMBER;
}

static bool may(const struct call *call, const struct definition *definition, unsigned verb)
{
	return (verbs_for(call, definition) & verb) != 0 && call->who.role >= role_for(definition, verb);
}

// ---- one question

struct question {
	struct str verb, group, resource, name;
};

static struct str text_of(const struct doc *doc, const char *name)
{
	const struct doc *value;

	if (!doc_get(doc, str_c(name), &value) || doc_kind(value) != DOC_STRING)
		return STR("");
	return doc_string(value);
}

static unsigned verb_from(struct str name)
{
	for (size_t i = 0; verb_names[i].name != NULL; i++)
		if (str_eq_c(name, verb_names[i].name))
			return verb_names[i].verb;
	return 0;
}

static bool is_any(struct str s)
{
	return str_eq(s, STR("*"));
}

// Of everything ("*" for the verb) each has to be allowed.
static bool may_all(const struct call *call, const struct definition *definition, struct str verb)
{
	if (!is_any(verb))
		return may(call, definition, verb_from(verb));
	for (size_t i = 0; verb_names[i].name != NULL; i++)
		if (verb_names[i].verb != VERB_WATCH && !may(call, definition, verb_names[i].verb))
			return false;
	return true;
}

// Tenants have to do with their own Tenant object alone.
static bool is_other_tenant(const struct call *call, const struct definition *definition, struct str name)
{
	return has_identity(definition, "", "tenants") && call->who.role != ROLE_OPERATOR && name.n > 0 &&
	       !str_eq(name, call->who.tenant);
}

static enum outcome answer(struct call *call, const struct question *question, bool *allowed, struct str *reason)
{
	const struct definition *definition;

	*allowed = call->who.role == ROLE_OPERATOR;
	if (*allowed)
		return OUTCOME_OK;
	if (is_any(question->group) || is_any(question->resource)) {
		*reason = STR("not everything is a tenant's");
		return OUTCOME_OK;
	}
	enum outcome outcome = definition_find(call->registry, caller_tenant(call), question->group, question->resource,
		&definition, NULL);
	if (outcome == OUTCOME_NOT_FOUND) {
		*reason = STR("there is no such type for this tenant");
		return OUTCOME_OK;
	}
	if (outcome != OUTCOME_OK)
		return outcome;
	*allowed = may_all(call, definition, question->verb) && !is_other_tenant(call, definition, question->name);
	*reason = *allowed ? STR("") : STR("the role of this user in its tenant does not reach that far");
	return OUTCOME_OK;
}

// Discovery and versions are for everybody that is somebody.
static bool may_get_path(const struct call *call, const struct doc *attributes)
{
	struct str verb = text_of(attributes, "verb"), path = text_of(attributes, "path");
	static const char *const open[] = { "/version", "/api", "/apis", "/openapi/v2", "/healthz" };

	if (call->who.role == ROLE_OPERATOR)
		return true;
	for (size_t i = 0; i < COUNT_OF(open); i++)
		if (str_eq_c(path, open[i]))
			return str_eq(verb, STR("get"));
	return str_eq(verb, STR("get")) && (str_starts(path, STR("/api/")) || str_starts(path, STR("/apis/")));
}

static enum outcome read_review(struct call *call, const char *kind, struct doc **review, const struct doc **spec)
{
	enum outcome outcome = read_json(call, review);

	if (outcome != OUTCOME_OK)
		return outcome;
	if (doc_kind(*review) != DOC_OBJECT || !doc_get(*review, STR("spec"), spec) || doc_kind(*spec) != DOC_OBJECT)
		return call_fail(call, OUTCOME_BAD_DOCUMENT, "the body must be a %s with a spec", kind);
	doc_set_str(call->pool, *review, "kind", str_c(kind));
	doc_set_str(call->pool, *review, "apiVersion", STR("authorization.k8s.io/v1"));
	return OUTCOME_OK;
}

enum outcome create_access_review(struct call *call)
{
	struct pool *pool = call->pool;
	struct doc *review, *status = doc_new_object(pool);
	const struct doc *spec, *attributes;
	struct str reason = STR("");
	bool allowed = false;
	enum outcome outcome = read_review(call, "SelfSubjectAccessReview", &review, &spec);

	if (outcome != OUTCOME_OK)
		return outcome;
	if (doc_get(spec, STR("resourceAttributes"), &attributes) && doc_kind(attributes) == DOC_OBJECT) {
		const struct question question = { text_of(attributes, "verb"), text_of(attributes, "group"),
			text_of(attributes, "resource"), text_of(attributes, "name") };
		outcome = answer(call, &question, &allowed, &reason);
	} else if (doc_get(spec, STR("nonResourceAttributes"), &attributes) && doc_kind(attributes) == DOC_OBJECT) {
		allowed = may_get_path(call, attributes);
	} else {
		outcome = call_fail(call, OUTCOME_BAD_DOCUMENT,
			"spec must have resourceAttributes or nonResourceAttributes, an object");
	}
	if (outcome != OUTCOME_OK)
		return outcome;
	doc_set(status, STR("allowed"), doc_new_bool(pool, allowed));
	if (reason.n > 0)
		doc_set_str(pool, status, "reason", reason);
	doc_set(review, STR("status"), status);
	write_json_doc(call, review);
	return OUTCOME_CREATED;
}

// ---- all at once

static struct doc *list_of(struct pool *pool, struct str item)
{
	struct doc *list = doc_new_array(pool);

	doc_push(list, doc_new_string(pool, item));
	return list;
}

static struct doc *rule_doc(struct call *call, const struct definition *definition)
{
	struct pool *pool = call->pool;
	struct doc *rule = doc_new_object(pool), *verbs = doc_new_array(pool);

	for (size_t i = 0; verb_names[i].name != NULL; i++)
		if (may(call, definition, verb_names[i].verb))
			doc_push(verbs, doc_new_string(pool, str_c(verb_names[i].name)));
	doc_set(rule, STR("verbs"), verbs);
	doc_set(rule, STR("apiGroups"), list_of(pool, definition->type->group));
	doc_set(rule, STR("resources"), list_of(pool, definition->type->plural));
	if (has_identity(definition, "", "tenants") && call->who.role != ROLE_OPERATOR)
		doc_set(rule, STR("resourceNames"), list_of(pool, call->who.tenant));
	return rule;
}

static struct doc *path_rules(struct pool *pool)
{
	static const char *const paths[] = { "/version", "/api", "/api/*", "/apis", "/apis/*", "/openapi/v2", "/healthz" };
	struct doc *rules = doc_new_array(pool), *rule = doc_new_object(pool), *urls = doc_new_array(pool);

	for (size_t i = 0; i < COUNT_OF(paths); i++)
		doc_push(urls, doc_new_string(pool, str_c(paths[i])));
	doc_set(rule, STR("verbs"), list_of(pool, STR("get")));
	doc_set(rule, STR("nonResourceURLs"), urls);
	doc_push(rules, rule);
	return rules;
}

enum outcome create_rules_review(struct call *call)
{
	struct pool *pool = call->pool;
	struct doc *review, *status = doc_new_object(pool), *rules = doc_new_array(pool);
	const struct definition *const *list;
	const struct doc *spec;
	size_t n;
	enum outcome outcome = read_review(call, "SelfSubjectRulesReview", &review, &spec);

	if (outcome == OUTCOME_OK)
		outcome = read_definitions(call, &list, &n);
	if (outcome != OUTCOME_OK)
		return outcome;
	for (size_t i = 0; i < n; i++)
		doc_push(rules, rule_doc(call, list[i]));
	doc_set(status, STR("resourceRules"), rules);
	doc_set(status, STR("nonResourceRules"), path_rules(pool));
	doc_set(status, STR("incomplete"), doc_new_bool(pool, false));
	doc_set(review, STR("status"), status);
	write_json_doc(call, review);
	return OUTCOME_CREATED;
}

// SPDX-License-Identifier: Apache-2.0
// Reviews: a caller asks what it may do. The answers follow from the same definitions and roles as the calls themselves.
#include "base/base.h"

#include "api/spaces/common/spaces.h"
#include "api/spaces/discovery/discovery.h"
#include "api/spaces/object/object.h"
#include "auth/core/auth.h"
#include "base/pool.h"
#include "repr/json/member.h"

static bool may(const struct call *call, const struct definition *definition, unsigned verb)
{
	return (definition_verbs_for_caller(call, definition) & verb) != 0 &&
		(spaces_may_as_operator(call, verb) || call->who.role >= spaces_role_needed(definition, verb));
}

// ---- one question

struct question {
	struct str verb, group, version, resource, subresource, name;
};

static struct str text_of(const struct doc *doc, const char *name)
{
	return doc_string(doc_member(doc, name));
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

// If the verb is "*", all verbs that exist must be allowed.
static bool may_all(const struct call *call, const struct definition *definition, struct str verb, unsigned there)
{
	unsigned asked = is_any(verb) ? definition->verbs & there & ~(unsigned)VERB_WATCH : verb_from(verb);

	for (size_t i = 0; verb_names[i].name != NULL; i++)
		if ((asked & verb_names[i].verb) != 0 && !may(call, definition, verb_names[i].verb))
			return false;
	return asked != 0;
}

// May the caller do this in every space and with every type?
static bool may_everywhere(const struct call *call, struct str verb)
{
	unsigned asked = is_any(verb) ? (unsigned)VERBS_ALL : verb_from(verb);

	return call->who.role == ROLE_OPERATOR || (asked != 0 && spaces_may_as_operator(call, asked));
}

// A tenant may use only its own Tenant object.
static bool is_other_tenant(const struct call *call, const struct definition *definition, const struct question *question)
{
	return definition_has_identity(definition, "", "tenants") && !may_everywhere(call, question->verb) && question->name.n > 0 &&
	       !str_eq(question->name, call->who.tenant);
}

// Nobody can delete a namespace "default" or the system's Tenant object.
static bool is_kept(const struct definition *definition, const struct question *question)
{
	if (!str_eq(question->verb, STR("delete")) && !is_any(question->verb))
		return false;
	return (definition_has_identity(definition, "", "namespaces") && str_eq(question->name, STR("default"))) ||
	       (definition_has_identity(definition, "", "tenants") && str_eq_c(question->name, TENANT_SYSTEM));
}

static bool is_review(const struct question *question)
{
	for (const struct review_type *type = review_types; question->subresource.n == 0 && type->group != NULL; type++)
		if (str_eq_c(question->group, type->group) && str_eq_c(question->resource, type->plural))
			return true;
	return false;
}

// The verbs that exist for what the question is about; 0: the version or the subresource does not exist.
static unsigned verbs_there(const struct definition *definition, const struct question *question)
{
	const struct definition_version *version = definition_storage(definition);
	enum part part;

	if (question->version.n > 0 && !is_any(question->version))
		version = definition_version(definition, question->version);
	if (version == NULL)
		return 0;
	if (is_any(question->subresource))
		return VERBS_ALL;
	return part_from(question->subresource, &part) ? part_verbs(definition, version, part) : 0;
}

static void answer_about(struct call *call, const struct definition *definition, const struct question *question,
	bool *allowed, struct str *reason)
{
	unsigned there = verbs_there(definition, question);

	*allowed = false;
	if (there == 0)
		*reason = STR("the type has no such version or subresource");
	else if (is_kept(definition, question))
		*reason = STR("this one may not be deleted");
	else if (is_other_tenant(call, definition, question))
		*reason = STR("a tenant has to do with its own Tenant object alone");
	else if (!is_any(question->verb) && (definition->verbs & there & verb_from(question->verb)) == 0)
		*reason = STR("there is no such verb for this resource");
	else
		*allowed = may_all(call, definition, question->verb, there);
	if (!*allowed && reason->n == 0)
		*reason = STR("the role of this user in its tenant does not reach that far");
}

// Does the question ask for a change of a definition that the operator forces on the caller's tenant? *forced: yes, which is
// refused (object_check_forced()). OUTCOME_OK, or that of a failed statement.
static enum outcome find_forced(struct call *call, const struct definition *definition, const struct question *question, bool *forced)
{
	struct str tenant = spaces_caller_tenant(call);
	const struct target target = {
		.tenant = tenant, .is_system = str_eq_c(tenant, TENANT_SYSTEM), .definition = definition, .name = question->name,
	};
	unsigned changes = VERB_UPDATE | VERB_PATCH | VERB_DELETE;

	*forced = false;
	if (question->name.n == 0 || (!is_any(question->verb) && (verb_from(question->verb) & changes) == 0))
		return OUTCOME_OK;
	return object_find_forced(call, &target, question->name, forced);
}

static enum outcome answer(struct call *call, const struct question *question, bool *allowed, struct str *reason)
{
	bool everywhere = may_everywhere(call, question->verb), forced;
	const struct definition *definition;

	*allowed = everywhere;
	if (is_review(question)) {
		*allowed = str_eq(question->verb, STR("create"));
		return OUTCOME_OK;
	}
	if (is_any(question->group) || is_any(question->resource)) {
		*reason = everywhere ? STR("") : STR("not everything is a tenant's");
		return OUTCOME_OK;
	}
	enum outcome outcome = definition_find(call->registry, spaces_caller_tenant(call), question->group, question->resource,
		&definition, NULL);
	// Who may do it everywhere may use types of other tenants, although they don't apply to the caller's own space.
	if (outcome == OUTCOME_NOT_FOUND) {
		*reason = everywhere ? STR("") : STR("there is no such type for this tenant");
		return OUTCOME_OK;
	}
	if (outcome == OUTCOME_OK)
		outcome = find_forced(call, definition, question, &forced);
	if (outcome != OUTCOME_OK)
		return outcome;
	answer_about(call, definition, question, allowed, reason);
	if (*allowed && forced) {
		*allowed = false;
		*reason = STR("the operator forces this definition on every tenant");
	}
	return OUTCOME_OK;
}

// ---- paths

// The tenant in "/api/v1/tenants/T/…", "/apis/GROUP/v1/tenants/T/…" or "/spaces/T/…"; STR_NONE if the path names none.
static struct str tenant_in(struct str path)
{
	struct str rest = str_part(path, 1, path.n), segment, last = STR("");
	bool spaces = str_starts(path, STR("/spaces/"));
	size_t place = spaces ? 1 : str_starts(path, STR("/apis/")) ? 4 : 3; // elsewhere "tenants" is a name, as of a namespace

	for (size_t i = 0; str_split(&rest, '/', &segment) && i <= place; i++) {
		if (i == place && (spaces || str_eq(last, STR("tenants"))))
			return segment;
		last = segment;
	}
	return STR_NONE;
}

// All authenticated callers may read discovery and versions; below these a path may name a space.
static bool may_get_path(const struct call *call, const struct doc *attributes)
{
	struct str verb = text_of(attributes, "verb"), path = text_of(attributes, "path");
	static const char *const open[] = { "/version", "/api", "/apis", "/openapi/v2", "/healthz", "/application.wadl" };
	struct str tenant = tenant_in(path);

	if (call->who.role == ROLE_OPERATOR)
		return true;
	if (!str_eq(verb, STR("get")))
		return false;
	if (call->who.reads_all)
		return true;
	for (size_t i = 0; i < COUNT_OF(open); i++)
		if (str_eq_c(path, open[i]))
			return true;
	if (tenant.p != NULL)
		return str_eq(tenant, call->who.tenant);
	return str_starts(path, STR("/api/")) || str_starts(path, STR("/apis/"));
}

static enum outcome read_kind(struct call *call, const char *group, const char *kind, struct doc **review)
{
	const struct doc *said;
	enum outcome outcome = object_read_json(call, review);

	if (outcome != OUTCOME_OK)
		return outcome;
	if (doc_kind(*review) != DOC_OBJECT)
		return call_fail(call, OUTCOME_BAD_DOCUMENT, "the body must be a %s, an object", kind);
	if (doc_get(*review, STR("kind"), &said) && !(doc_kind(said) == DOC_STRING && str_eq_c(doc_string(said), kind)))
		return call_fail(call, OUTCOME_BAD_REQUEST, "the kind in the data does not match the expected kind (%s)", kind);
	doc_set_str(call->pool, *review, "kind", str_c(kind));
	doc_set_str(call->pool, *review, "apiVersion", str_printf(call->pool, "%s/v1", group));
	return OUTCOME_OK;
}

static enum outcome read_review(struct call *call, const char *kind, struct doc **review, const struct doc **spec)
{
	enum outcome outcome = read_kind(call, REVIEWS_GROUP, kind, review);

	if (outcome != OUTCOME_OK)
		return outcome;
	if (!doc_get(*review, STR("spec"), spec) || doc_kind(*spec) != DOC_OBJECT)
		return call_fail(call, OUTCOME_BAD_DOCUMENT, "the body must be a %s with a spec", kind);
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
			text_of(attributes, "version"), text_of(attributes, "resource"), text_of(attributes, "subresource"),
			text_of(attributes, "name") };
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
	spaces_write_json_doc(call, review);
	return OUTCOME_CREATED;
}

// ---- reviews of all rules

static struct doc *list_of(struct pool *pool, struct str item)
{
	struct doc *list = doc_new_array(pool);

	doc_push(list, doc_new_string(pool, item));
	return list;
}

static struct doc *new_rule(struct pool *pool, struct doc *rules, struct doc *verbs, struct str group, struct str resource)
{
	struct doc *rule = doc_new_object(pool);

	doc_set(rule, STR("verbs"), verbs);
	doc_set(rule, STR("apiGroups"), list_of(pool, group));
	doc_set(rule, STR("resources"), list_of(pool, resource));
	doc_push(rules, rule);
	return rule;
}

// Adds a rule with the verbs that the caller may use on a type's objects, or on a part of them; none if there are no verbs.
static void add_rule(struct call *call, const struct definition *definition, enum part part, struct doc *rules)
{
	unsigned there = part_verbs(definition, definition_storage(definition), part);
	struct pool *pool = call->pool;
	struct str resource = definition->type->plural;
	struct doc *verbs = doc_new_array(pool);

	for (size_t i = 0; verb_names[i].name != NULL; i++)
		if ((there & verb_names[i].verb) != 0 && may(call, definition, verb_names[i].verb))
			doc_push(verbs, doc_new_string(pool, str_c(verb_names[i].name)));
	if (doc_length(verbs) == 0)
		return;
	if (part != PART_WHOLE)
		resource = str_printf(pool, "%.*s/%s", STR_ARG(resource), part_names[part]);
	struct doc *rule = new_rule(pool, rules, verbs, definition->type->group, resource);
	if (definition_has_identity(definition, "", "tenants") && !spaces_may_as_operator(call, VERB_GET))
		doc_set(rule, STR("resourceNames"), list_of(pool, call->who.tenant));
}

static struct doc *reading_verbs(struct call *call)
{
	struct doc *verbs = doc_new_array(call->pool);

	for (size_t i = 0; verb_names[i].name != NULL; i++)
		if (spaces_may_as_operator(call, verb_names[i].verb) && (verb_names[i].verb != VERB_WATCH || call->may_hand_over))
			doc_push(verbs, doc_new_string(call->pool, str_c(verb_names[i].name)));
	return verbs;
}

static struct doc *rules_doc(struct call *call, const struct definition *const *list, size_t n)
{
	struct pool *pool = call->pool;
	struct doc *rules = doc_new_array(pool);

	// Operators may do everything, not only in their own space and with the types that apply to it; and who reads everything
	// may read so.
	if (call->who.role == ROLE_OPERATOR)
		new_rule(pool, rules, list_of(pool, STR("*")), STR("*"), STR("*"));
	else if (call->who.reads_all)
		new_rule(pool, rules, reading_verbs(call), STR("*"), STR("*"));
	for (const struct review_type *type = review_types; type->group != NULL; type++)
		new_rule(pool, rules, list_of(pool, STR("create")), str_c(type->group), str_c(type->plural));
	for (size_t i = 0; i < n; i++)
		for (enum part part = PART_WHOLE; part <= PART_FINALIZE; part++)
			add_rule(call, list[i], part, rules);
	return rules;
}

static struct doc *path_rules(const struct call *call)
{
	struct str own = str_printf(call->pool, "/spaces/%.*s/*", STR_ARG(call->who.tenant));
	struct str paths[] = { STR("/version"), STR("/api"), STR("/api/*"), STR("/apis"), STR("/apis/*"), STR("/openapi/v2"),
		STR("/healthz"), STR("/application.wadl"), own };
	struct pool *pool = call->pool;
	struct doc *rules = doc_new_array(pool), *rule = doc_new_object(pool), *urls = doc_new_array(pool);
	bool operator = call->who.role == ROLE_OPERATOR, all = spaces_may_as_operator(call, VERB_GET);

	for (size_t i = 0; !all && i < COUNT_OF(paths); i++)
		doc_push(urls, doc_new_string(pool, paths[i]));
	if (all)
		doc_push(urls, doc_new_string(pool, STR("*")));
	doc_set(rule, STR("verbs"), list_of(pool, operator ? STR("*") : STR("get")));
	doc_set(rule, STR("nonResourceURLs"), urls);
	doc_push(rules, rule);
	return rules;
}

enum outcome create_rules_review(struct call *call)
{
	struct pool *pool = call->pool;
	struct doc *review, *status = doc_new_object(pool);
	const struct definition *const *list;
	const struct doc *spec;
	size_t n;
	enum outcome outcome = read_review(call, "SelfSubjectRulesReview", &review, &spec);

	if (outcome == OUTCOME_OK)
		outcome = discovery_read_definitions(call, &list, &n);
	if (outcome != OUTCOME_OK)
		return outcome;
	doc_set(status, STR("resourceRules"), rules_doc(call, list, n));
	doc_set(status, STR("nonResourceRules"), path_rules(call));
	doc_set(status, STR("incomplete"), doc_new_bool(pool, false));
	doc_set(review, STR("status"), status);
	spaces_write_json_doc(call, review);
	return OUTCOME_CREATED;
}

// ---- reviews of the caller itself

enum outcome create_self_review(struct call *call)
{
	struct pool *pool = call->pool;
	struct doc *review, *status = doc_new_object(pool), *user = doc_new_object(pool), *extra = doc_new_object(pool);
	enum outcome outcome = read_kind(call, WHO_GROUP, "SelfSubjectReview", &review);

	if (outcome != OUTCOME_OK)
		return outcome;
	doc_set_str(pool, user, "username", call->who.user);
	doc_set(extra, STR("role"), list_of(pool, str_c(role_name(call->who.role))));
	doc_set(extra, STR("tenant"), list_of(pool, spaces_caller_tenant(call)));
	doc_set(user, STR("extra"), extra);
	doc_set(status, STR("userInfo"), user);
	doc_set(review, STR("status"), status);
	spaces_write_json_doc(call, review);
	return OUTCOME_CREATED;
}

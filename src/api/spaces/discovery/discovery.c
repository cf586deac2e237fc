// SPDX-License-Identifier: Apache-2.0
// Discovery: the groups, versions and types that the caller may use, and types that are announced to it.
#include "base/base.h"

#include "api/spaces/common/spaces.h"
#include "api/spaces/discovery/discovery.h"
#include "api/spaces/schema/openapi.h"
#include "base/buf.h"
#include "base/digest.h"
#include "base/pool.h"
#include "http/conditional.h"
#include "http/media.h"

// The version of the Kubernetes API that is reported; clients warn if theirs differs much from it.
#define VERSION_MAJOR "1"
#define VERSION_MINOR "20"

enum outcome get_server_version(struct call *call)
{
	struct pool *pool = call->pool;
	struct doc *doc = doc_new_object(pool);

	doc_set_str(pool, doc, "major", STR(VERSION_MAJOR));
	doc_set_str(pool, doc, "minor", STR(VERSION_MINOR));
	doc_set_str(pool, doc, "gitVersion", STR("v" VERSION_MAJOR "." VERSION_MINOR ".0-tenure"));
	doc_set_str(pool, doc, "gitCommit", STR(""));
	doc_set_str(pool, doc, "gitTreeState", STR(""));
	doc_set_str(pool, doc, "buildDate", STR("1970-01-01T00:00:00Z"));
	doc_set_str(pool, doc, "goVersion", STR(""));
	doc_set_str(pool, doc, "compiler", STR(""));
	doc_set_str(pool, doc, "platform", STR(""));
	spaces_write_json_doc(call, doc);
	return OUTCOME_OK;
}

static struct doc *kind_doc(struct pool *pool, const char *kind)
{
	struct doc *doc = doc_new_object(pool);

	doc_set_str(pool, doc, "kind", str_c(kind));
	doc_set_str(pool, doc, "apiVersion", STR("v1"));
	return doc;
}

enum outcome get_api(struct call *call)
{
	struct pool *pool = call->pool;
	struct doc *doc = kind_doc(pool, "APIVersions"), *versions = doc_new_array(pool);

	doc_push(versions, doc_new_string(pool, STR("v1")));
	doc_set(doc, STR("versions"), versions);
	doc_set(doc, STR("serverAddressByClientCIDRs"), doc_new_array(pool));
	spaces_write_json_doc(call, doc);
	return OUTCOME_OK;
}

enum outcome discovery_read_definitions(struct call *call, const struct definition *const **list, size_t *n)
{
	struct str tenant = spaces_caller_tenant(call);

	*n = 0;
	if (tenant.n == 0)
		return call_fail(call, OUTCOME_FORBIDDEN, "this user is of no tenant");
	return definition_announced(call->registry, tenant, list, n);
}

// ---- groups

static struct doc *version_of_group(struct pool *pool, struct str group, struct str version)
{
	struct doc *doc = doc_new_object(pool);

	doc_set_str(pool, doc, "groupVersion", type_group_version(pool, group, version));
	doc_set_str(pool, doc, "version", version);
	return doc;
}

static bool has_version(const struct doc *versions, struct str version)
{
	const struct doc *name;

	for (size_t i = 0; i < doc_length(versions); i++)
		if (doc_get(doc_at(versions, i), STR("version"), &name) && str_eq(doc_string(name), version))
			return true;
	return false;
}

static struct str best_version(const struct doc *versions)
{
	const struct doc *name;
	struct str best = STR_NONE;

	for (size_t i = 0; i < doc_length(versions); i++) {
		doc_get(doc_at(versions, i), STR("version"), &name);
		if (best.p == NULL || definition_compare_versions(doc_string(name), best) < 0)
			best = doc_string(name);
	}
	return best;
}

const struct review_type review_types[] = {
	{ WHO_GROUP, "selfsubjectreviews", "SelfSubjectReview" },
	{ REVIEWS_GROUP, "selfsubjectaccessreviews", "SelfSubjectAccessReview" },
	{ REVIEWS_GROUP, "selfsubjectrulesreviews", "SelfSubjectRulesReview" },
	{ NULL, NULL, NULL },
};

static bool has_reviews(struct str group)
{
	for (size_t i = 0; review_types[i].group != NULL; i++)
		if (str_eq_c(group, review_types[i].group))
			return true;
	return false;
}

// The versions of a group that any of its types has, the preferred one first. NULL: there is no such group.
static struct doc *group_doc(struct pool *pool, struct str group, const struct definition *const *list, size_t n)
{
	struct doc *doc = doc_new_object(pool), *found = doc_new_array(pool), *versions = doc_new_array(pool);

	if (has_reviews(group))
		doc_push(found, version_of_group(pool, group, STR("v1")));
	for (size_t i = 0; i < n; i++) {
		for (size_t k = 0; str_eq(list[i]->type->group, group) && k < list[i]->n_versions; k++) {
			const struct definition_version *version = &list[i]->versions[k];
			if (version->served && !has_version(found, version->name))
				doc_push(found, version_of_group(pool, group, version->name));
		}
	}
	if (doc_length(found) == 0)
		return NULL;
	struct str best = best_version(found);
	doc_push(versions, version_of_group(pool, group, best));
	for (size_t i = 0; i < doc_length(found); i++)
		if (!doc_equal(doc_at(found, i), doc_at(versions, 0)))
			doc_push(versions, doc_copy(pool, doc_at(found, i)));
	doc_set_str(pool, doc, "name", group);
	doc_set(doc, STR("versions"), versions);
	doc_set(doc, STR("preferredVersion"), version_of_group(pool, group, best));
	return doc;
}

enum outcome get_apis(struct call *call)
{
	struct pool *pool = call->pool;
	struct doc *doc = kind_doc(pool, "APIGroupList"), *groups = doc_new_array(pool);
	const struct definition *const *list;
	struct str last = STR("");
	size_t n;
	enum outcome outcome = discovery_read_definitions(call, &list, &n);

	if (outcome != OUTCOME_OK)
		return outcome;
	for (const struct review_type *type = review_types; type->group != NULL; type++)
		if (type == review_types || strcmp(type->group, type[-1].group) != 0)
			doc_push(groups, group_doc(pool, str_c(type->group), list, n));
	for (size_t i = 0; i < n; i++) { // sorted by group; the core group comes first and is not listed here
		struct str group = list[i]->type->group;
		struct doc *one = str_eq(group, last) || has_reviews(group) ? NULL : group_doc(pool, group, list, n);
		if (one != NULL)
			doc_push(groups, one);
		last = group;
	}
	doc_set(doc, STR("groups"), groups);
	spaces_write_json_doc(call, doc);
	return OUTCOME_OK;
}

enum outcome get_group(struct call *call)
{
	struct pool *pool = call->pool;
	struct str group = call_param(call, "group");
	const struct definition *const *list;
	size_t n;
	enum outcome outcome = discovery_read_definitions(call, &list, &n);

	if (outcome != OUTCOME_OK)
		return outcome;
	struct doc *found = group_doc(pool, group, list, n);
	if (found == NULL)
		return spaces_fail_unknown(call);
	doc_set_str(pool, found, "kind", STR("APIGroup"));
	doc_set_str(pool, found, "apiVersion", STR("v1"));
	spaces_write_json_doc(call, found);
	return OUTCOME_OK;
}

// ---- the types of a version

const struct verb_name verb_names[] = {
	{ VERB_CREATE, "create" }, { VERB_DELETE, "delete" }, { VERB_DELETECOLLECTION, "deletecollection" },
	{ VERB_GET, "get" }, { VERB_LIST, "list" }, { VERB_PATCH, "patch" }, { VERB_UPDATE, "update" },
	{ VERB_WATCH, "watch" }, { 0, NULL },
};

// The verbs that this process can serve.
static unsigned verbs_of_process(const struct call *call, unsigned verbs)
{
	return call->may_hand_over ? verbs : verbs & ~(unsigned)VERB_WATCH;
}

unsigned definition_verbs_for_caller(const struct call *call, const struct definition *definition)
{
	unsigned verbs = definition->tenant_verbs;

	for (size_t i = 0; verb_names[i].name != NULL; i++) {
		if (spaces_may_as_operator(call, verb_names[i].verb))
			verbs |= definition->verbs & verb_names[i].verb;
	}
	return verbs_of_process(call, verbs);
}

// The verbs that discovery names. If a type is only announced to the caller, they are all that the type has: a client that finds
// a verb missing gives no reason, whereas a request is answered with the reason why it is refused.
static unsigned verbs_named(const struct call *call, const struct definition *definition)
{
	return definition->announced ? verbs_of_process(call, definition->verbs) :
		definition_verbs_for_caller(call, definition);
}

static struct doc *verbs_doc(struct pool *pool, unsigned verbs)
{
	struct doc *list = doc_new_array(pool);

	for (size_t i = 0; verb_names[i].name != NULL; i++)
		if ((verbs & verb_names[i].verb) != 0)
			doc_push(list, doc_new_string(pool, str_c(verb_names[i].name)));
	return list;
}

static void set_names(struct pool *pool, struct doc *doc, const char *name, const struct str *names, size_t n)
{
	struct doc *list = doc_new_array(pool);

	for (size_t i = 0; i < n; i++)
		doc_push(list, doc_new_string(pool, names[i]));
	if (n > 0)
		doc_set(doc, str_c(name), list);
}

// Adds the tenant whose definition applies, if the type is a custom one.
static void set_tenant(struct pool *pool, struct doc *doc, const struct definition *definition)
{
	if (!definition->builtin)
		doc_set_str(pool, doc, "tenant", definition->owner);
}

static struct doc *type_doc(struct call *call, const struct definition *definition)
{
	struct pool *pool = call->pool;
	struct doc *doc = doc_new_object(pool);

	doc_set_str(pool, doc, "name", definition->type->plural);
	doc_set_str(pool, doc, "singularName", definition->builtin ? STR("") : definition->singular);
	doc_set(doc, STR("namespaced"), doc_new_bool(pool, definition_is_namespaced(definition)));
	doc_set(doc, STR("tenanted"), doc_new_bool(pool, definition->scope != SCOPE_CLUSTER));
	set_tenant(pool, doc, definition);
	doc_set_str(pool, doc, "kind", definition->kind);
	doc_set(doc, STR("verbs"), verbs_doc(pool, verbs_named(call, definition)));
	set_names(pool, doc, "shortNames", definition->short_names, definition->n_short_names);
	set_names(pool, doc, "categories", definition->categories, definition->n_categories);
	return doc;
}

// The entry for a part of a type, "widgets/status" or "widgets/scale".
static struct doc *part_of_type(struct call *call, const struct definition *definition, enum part part, unsigned verbs)
{
	struct pool *pool = call->pool;
	struct doc *doc = doc_new_object(pool);
	bool scale = part == PART_SCALE;

	doc_set_str(pool, doc, "name",
		str_printf(pool, "%.*s/%s", STR_ARG(definition->type->plural), part_names[part]));
	doc_set_str(pool, doc, "singularName", STR(""));
	doc_set(doc, STR("namespaced"), doc_new_bool(pool, definition_is_namespaced(definition)));
	if (scale) {
		doc_set_str(pool, doc, "group", STR("autoscaling"));
		doc_set_str(pool, doc, "version", STR("v1"));
	}
	set_tenant(pool, doc, definition);
	doc_set_str(pool, doc, "kind", scale ? STR("Scale") : definition->kind);
	doc_set(doc, STR("verbs"), verbs_doc(pool, verbs));
	return doc;
}

static struct doc *review_type_doc(struct pool *pool, const struct review_type *type)
{
	struct doc *doc = doc_new_object(pool);

	doc_set_str(pool, doc, "name", str_c(type->plural));
	doc_set_str(pool, doc, "singularName", STR(""));
	doc_set(doc, STR("namespaced"), doc_new_bool(pool, false));
	doc_set_str(pool, doc, "kind", str_c(type->kind));
	doc_set(doc, STR("verbs"), verbs_doc(pool, VERB_CREATE));
	return doc;
}

static void add_types(struct call *call, struct str group, struct str version, const struct definition *const *list,
	size_t n, struct doc *types)
{
	for (size_t i = 0; i < n; i++) {
		const struct definition *definition = list[i];
		const struct definition_version *found =
			str_eq(definition->type->group, group) ? definition_version(definition, version) : NULL;
		if (found == NULL)
			continue;
		doc_push(types, type_doc(call, definition));
		for (enum part part = PART_STATUS; part <= PART_FINALIZE; part++) {
			unsigned verbs = verbs_named(call, definition) & part_verbs(definition, found, part);
			if (verbs != 0)
				doc_push(types, part_of_type(call, definition, part, verbs));
		}
	}
	for (const struct review_type *type = review_types; str_eq(version, STR("v1")) && type->group != NULL; type++)
		if (str_eq_c(group, type->group))
			doc_push(types, review_type_doc(call->pool, type));
}

enum outcome get_types(struct call *call)
{
	struct pool *pool = call->pool;
	struct doc *doc = kind_doc(pool, "APIResourceList"), *types = doc_new_array(pool);
	struct str group = call_param(call, "group"), version = call_param(call, "version");
	const struct definition *const *list;
	size_t n;
	enum outcome outcome = discovery_read_definitions(call, &list, &n);

	if (outcome != OUTCOME_OK)
		return outcome;
	if (group.p == NULL) {
		group = STR("");
		version = STR("v1");
	}
	add_types(call, group, version, list, n, types);
	if (doc_length(types) == 0)
		return spaces_fail_unknown(call);
	doc_set_str(pool, doc, "groupVersion", type_group_version(pool, group, version));
	doc_set(doc, STR("resources"), types);
	spaces_write_json_doc(call, doc);
	return OUTCOME_OK;
}

// ---- schemas

static size_t count_versions(const struct definition *const *list, size_t n)
{
	size_t count = 0;

	for (size_t i = 0; i < n; i++)
		count += list[i]->n_versions;
	return count;
}

static struct openapi_type described(struct registry *registry, const struct definition *definition,
	const struct definition_version *version)
{
	return (struct openapi_type){
		.group = definition->type->group,
		.version = version->name,
		.kind = definition->kind,
		.plural = definition->type->plural,
		.namespaced = definition_is_namespaced(definition),
		.has_path = true,
		.builtin = definition->builtin,
		.schema = definition_details(registry, definition, version)->schema,
	};
}

// Does the client want the document as JSON? kubectl asks for protobuf by a name that is not a valid media type, because of its
// '@', so media_is() can't find it. If Accept contains that name, the client wants nothing else.
static bool wants_json(const struct call *call)
{
	struct str accept = request_header(&call->request, "accept");
	static const char protobuf[] = "com.github.proto-openapi.spec.v2";

	if (accept.n > 0 && memmem(accept.p, accept.n, protobuf, sizeof(protobuf) - 1) != NULL)
		return false;
	return media_is(str_c(call->produce_type), "application/json");
}

// Sets the ETag and returns whether the client has this document already. The tag is a hash of the document, so tenants with
// different documents have different tags; the JSON form has another tag, too.
static bool is_unchanged(struct call *call, struct str document)
{
	uint8_t digest[DIGEST_SHA256];
	struct buf tag = buf_new(call->pool, 80);
	struct tag_list list;

	digest_sha256(document, digest);
	buf_add_hex(&tag, digest, sizeof(digest));
	if (wants_json(call))
		BUF_LIT(&tag, "-json");
	response_set(&call->response, "ETag", str_printf(call->pool, "W/\"%.*s\"", STR_ARG(tag)));
	return conditional_parse(request_header(&call->request, "if-none-match"), &list) && list.present &&
	       conditional_matches(&list, buf_str(&tag));
}

enum outcome get_openapi(struct call *call)
{
	struct buf out = buf_new(call->pool, 65536);
	const struct definition *const *list;
	size_t n, count = 0;
	enum outcome outcome = discovery_read_definitions(call, &list, &n);

	if (outcome != OUTCOME_OK)
		return outcome;
	struct openapi_type *types = POOL_ARRAY(call->pool, struct openapi_type, count_versions(list, n));
	for (size_t i = 0; i < n; i++)
		for (size_t k = 0; k < list[i]->n_versions; k++)
			if (list[i]->versions[k].served)
				types[count++] = described(call->registry, list[i], &list[i]->versions[k]);
	openapi_add(call->pool, types, count, &out);
	if (is_unchanged(call, buf_str(&out)))
		return OUTCOME_NOT_MODIFIED;
	if (wants_json(call)) {
		spaces_write_json_doc(call, openapi_json(call->pool, buf_str(&out)));
		return OUTCOME_OK;
	}
	// kubectl refuses its own media type in an answer.
	call->response.content_type = STR("application/octet-stream");
	call->response.body = buf_str(&out);
	return OUTCOME_OK;
}

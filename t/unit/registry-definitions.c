// SPDX-License-Identifier: Apache-2.0
// Types that tenants define and the operator shares: which definition answers, what it makes of objects, what is left when
// it goes; moves between tenants of different types; finalizers; the change log's horizon.
#include "base/base.h"

#include <malloc.h>

#include "registry-fixture.h"
#include "registry/log/horizon.h"

#define CRDS "customresourcedefinitions.apiextensions.k8s.io"
#define WIDGETS "widgets.example.com"
#define SCHEMA(size) \
	"{\"type\":\"object\",\"properties\":{\"spec\":{\"type\":\"object\",\"properties\":{\"size\":" size "," \
	"\"color\":{\"type\":\"string\",\"default\":\"red\"}}},\"status\":{\"type\":\"object\"," \
	"\"x-kubernetes-preserve-unknown-fields\":true}}}"
#define CRD(plural, kind, scope, schema, more) \
	"{\"spec\":{\"group\":\"example.com\",\"scope\":\"" scope "\",\"names\":{\"plural\":\"" plural "\",\"kind\":\"" kind "\"}," \
	"\"versions\":[{\"name\":\"v1\",\"served\":true,\"storage\":true,\"schema\":{\"openAPIV3Schema\":" schema "}}]" more "}}"
#define WIDGET(size) CRD("widgets", "Widget", "Namespaced", SCHEMA(size), "")
#define SHARED(range) CRD("gadgets", "Gadget", "Cluster", SCHEMA("{\"type\":\"integer\"}"), ",\"applicableRange\":" range)
#define FORCED "{\"labels\":{\"" CRD_SHARING_LABEL "\":\"Forced\"}}"
#define SMALL "{\"type\":\"integer\",\"maximum\":9}"

// Who answers for a type in a tenant: its owner, or "" for nobody; with the rule.
static void answers(struct client *client, const char *tenant, const char *plural, const char *owner, const char *rule)
{
	const struct definition *definition;
	struct definition_reason reason;
	struct uuid id = uuid_new();

	registry_begin(client->registry, client->pool, &id, STR("tester"));
	enum outcome outcome =
		definition_find(client->registry, str_c(tenant), STR("example.com"), str_c(plural), &definition, &reason);
	ok(outcome == (owner[0] != '\0' ? OUTCOME_OK : OUTCOME_NOT_FOUND), "%s in %s: %s", plural, tenant, outcome_name(outcome));
	is_str(outcome == OUTCOME_OK ? definition->owner : STR(""), owner, "%s in %s: whose", plural, tenant);
	is_str(str_c(reason.rule), rule, "%s in %s: by which rule", plural, tenant);
}
#define ANSWERS(...) answers(&here, __VA_ARGS__)

static bool listed(const char *tenant, const char *group, const char *plural)
{
	const struct definition *const *list;
	size_t n;
	struct uuid id = uuid_new();

	registry_begin(here.registry, here.pool, &id, STR("tester"));
	if (definition_list(here.registry, str_c(tenant), &list, &n) != OUTCOME_OK)
		return false;
	for (size_t i = 0; i < n; i++) {
		if (str_eq_c(list[i]->type->group, group) && str_eq_c(list[i]->type->plural, plural))
			return true;
	}
	return false;
}

static void test_builtin(void)
{
	const struct definition *definition;
	struct uuid id = uuid_new();

	EXPECT(CREATED, "a tenant", PUT_TENANT, "a");
	EXPECT(CREATED, "another", PUT_TENANT, "b");
	EXPECT(CREATED, "the system", PUT_TENANT, TENANT_SYSTEM);
	registry_begin(here.registry, here.pool, &id, STR("tester"));
	uint64_t trips = db_round_trips(here.db);
	ok(definition_find(here.registry, STR("a"), STR(""), STR("configmaps"), &definition, NULL) == OUTCOME_OK, "config maps");
	ok(definition_named(here.registry, STR("a"), STR("nodes"), &definition) == OUTCOME_OK &&
			str_eq_c(definition->type->group, "baremetal.openstack.org"),
		"nodes are bare metal's");
	ok(definition_named(here.registry, STR(TENANT_SYSTEM), STR("nodes.core"), &definition) == OUTCOME_OK,
		"the system has those of the cluster");
	ok(definition_named(here.registry, STR("a"), STR("nodes.core"), &definition) == OUTCOME_NOT_FOUND, "others don't");
	is_int((long long)(db_round_trips(here.db) - trips), 0, "all of that without a query");
	ok(definition_named(here.registry, STR("a"), STR("tenants"), &definition) == OUTCOME_NOT_FOUND,
		"tenants are no resources");
	ok(listed("a", "", "pods") && !listed("a", "", "nodes") && !listed("a", "apps", "daemonsets"), "what a tenant sees");
	ok(listed(TENANT_SYSTEM, "", "nodes") && listed(TENANT_SYSTEM, "apps", "daemonsets"), "and the system");
}

static void test_own(void)
{
	EXPECT(CREATED, "a definition", PUT, "a", WIDGETS, .type = CRDS, .body = WIDGET(SMALL));
	ANSWERS("a", "widgets", "a", "own");
	ANSWERS("b", "widgets", "", "none");
	ok(listed("a", "example.com", "widgets") && !listed("b", "example.com", "widgets"), "only one sees it");
	EXPECT(CREATED, "another's of the same name", PUT, "b", WIDGETS, .type = CRDS, .body = WIDGET("{\"type\":\"string\"}"));
	EXPECT(CREATED, "an object", PUT, "a", "default/w1", .type = WIDGETS, .body = "{\"spec\":{\"size\":3,\"x\":1},\"y\":2}");
	is_str(here.resource.body, "{\"spec\":{\"size\":3,\"color\":\"red\"}}", "pruned, with its defaults");
	EXPECT(BAD_DOCUMENT, "not what the schema says", PUT, "a", "default/w2", .type = WIDGETS, .body = "{\"spec\":{\"size\":10}}");
	is_int((long long)here.registry->problem.n_causes, 1, "one cause");
	is_str(here.registry->problem.causes[0].field, "spec.size", "its field");
	EXPECT(CREATED, "where it says otherwise", PUT, "b", "default/w1", .type = WIDGETS, .body = "{\"spec\":{\"size\":\"10\"}}");
	EXPECT(OK, "a change of the spec", PUT, "a", "default/w1", .type = WIDGETS, .body = "{\"spec\":{\"size\":4}}");
	is_int((long long)here.resource.generation, 2, "is a generation");
	EXPECT(OK, "one of the status", PUT, "a", "default/w1", .type = WIDGETS,
		.body = "{\"spec\":{\"size\":4},\"status\":{\"ready\":true}}");
	is_int((long long)here.resource.generation, 2, "is none");
	is_sound("own types");
}

static void test_refused(void)
{
	EXPECT(BAD_DOCUMENT, "without anything", PUT, "a", "things.example.com", .type = CRDS, .body = "{}");
	ok(here.registry->problem.n_causes >= 4, "all that is missing is told");
	EXPECT(BAD_DOCUMENT, "of another name", PUT, "a", "things.example.com", .type = CRDS, .body = WIDGET(SMALL));
	EXPECT(BAD_DOCUMENT, "of a group of ours", PUT, "a", "pods.apps", .type = CRDS,
		.body = "{\"spec\":{\"group\":\"apps\",\"scope\":\"Cluster\",\"names\":{\"plural\":\"pods\",\"kind\":\"P\"},\"versions\":[]}}");
	EXPECT(CONFLICT, "a kind that is in use", PUT, "a", "wodgets.example.com", .type = CRDS,
		.body = CRD("wodgets", "Widget", "Namespaced", SCHEMA(SMALL), ""));
	EXPECT(BAD_DOCUMENT, "another scope", PUT, "a", WIDGETS, .type = CRDS,
		.body = CRD("widgets", "Widget", "Cluster", SCHEMA(SMALL), ""));
	EXPECT(BAD_DOCUMENT, "no schema", PUT, "a", "things.example.com", .type = CRDS,
		.body = CRD("things", "Thing", "Cluster", "{\"type\":\"nonsense\"}", ""));
	is_int(sql_number("SELECT COUNT(*) FROM types WHERE plural IN ('things', 'wodgets')"), 0, "no type half made");
}

// What rules find wrong, field by field and in order. Each is "widgets.example.com" unless said otherwise.
#define NAMES "\"names\":{\"plural\":\"things\",\"kind\":\"Thing\"}"
#define VERSION(name, storage) "{\"name\":\"" name "\",\"served\":true,\"storage\":" storage ",\"schema\":{\"openAPIV3Schema\":{\"type\":\"object\"}}}"
#define SPEC(names, scope, versions, more) \
	"{\"spec\":{\"group\":\"example.com\",\"scope\":\"" scope "\"," names ",\"versions\":[" versions "]" more "}}"
#define GOOD SPEC(NAMES, "Namespaced", VERSION("v1", "true"), "")
#define THINGS(names) SPEC("\"names\":{" names "}", "Namespaced", VERSION("v1", "true"), "")
#define LABEL_63 "abcdefghijklmnopqrstuvwxyz0123456789-abcdefghijklmnopqrstuvwxyz"

static const struct {
	const char *name, *body, *fields; // fields "": it is taken
} ruled[] = {
	{ "things.example.com", "{\"spec\":{\"group\":\"example.com\",\"scope\":\"Namespaced\"}}",
		"spec.names.plural spec.names.kind metadata.name spec.versions" },
	{ "things.example.com", "{\"spec\":{\"group\":7,\"scope\":7," NAMES ",\"versions\":7}}", "spec.group spec.scope metadata.name spec.versions" },
	{ "things.example", "{\"spec\":{\"group\":\"example\",\"scope\":\"Cluster\"," NAMES ",\"versions\":[" VERSION("v1", "true") "]}}", "spec.group" },
	{ "things.exa_mple.com", "{\"spec\":{\"group\":\"exa_mple.com\",\"scope\":\"Cluster\"," NAMES ",\"versions\":[" VERSION("v1", "true") "]}}",
		"spec.group" },
	{ "things.example.com.", "{\"spec\":{\"group\":\"example.com.\",\"scope\":\"Cluster\"," NAMES ",\"versions\":[" VERSION("v1", "true") "]}}",
		"spec.group" },
	{ "things..com", "{\"spec\":{\"group\":\".com\",\"scope\":\"Cluster\"," NAMES ",\"versions\":[" VERSION("v1", "true") "]}}", "spec.group" },
	{ "things.apps", "{\"spec\":{\"group\":\"apps\",\"scope\":\"Cluster\"," NAMES ",\"versions\":[" VERSION("v1", "true") "]}}", "spec.group" },
	{ "things.baremetal.openstack.org",
		"{\"spec\":{\"group\":\"baremetal.openstack.org\",\"scope\":\"Cluster\"," NAMES ",\"versions\":[" VERSION("v1", "true") "]}}", "spec.group" },
	{ "others.example.com", GOOD, "metadata.name" },
	{ "things.example.org", GOOD, "metadata.name" },
	{ "things.example.com", SPEC(NAMES, "Global", VERSION("v1", "true"), ""), "spec.scope" },
	{ "things.example.com", SPEC(NAMES, "", VERSION("v1", "true"), ""), "spec.scope" },
	{ "things.example.com", SPEC(NAMES, "namespaced", VERSION("v1", "true"), ""), "spec.scope" },
	{ "Things.example.com", THINGS("\"plural\":\"Things\",\"kind\":\"Thing\""), "spec.names.plural" },
	{ "1things.example.com", THINGS("\"plural\":\"1things\",\"kind\":\"Thing\""), "spec.names.plural" },
	{ "-things.example.com", THINGS("\"plural\":\"-things\",\"kind\":\"Thing\""), "spec.names.plural" },
	{ "things-.example.com", THINGS("\"plural\":\"things-\",\"kind\":\"Thing\""), "spec.names.plural" },
	{ "th{ings.example.com", THINGS("\"plural\":\"th{ings\",\"kind\":\"Thing\""), "spec.names.plural" },
	{ "th`ings.example.com", THINGS("\"plural\":\"th`ings\",\"kind\":\"Thing\""), "spec.names.plural" },
	{ "th:ings.example.com", THINGS("\"plural\":\"th:ings\",\"kind\":\"Thing\""), "spec.names.plural" },
	{ "`things.example.com", THINGS("\"plural\":\"`things\",\"kind\":\"Thing\""), "spec.names.plural" },
	{ "{things.example.com", THINGS("\"plural\":\"{things\",\"kind\":\"Thing\""), "spec.names.plural" },
	{ LABEL_63 "0.example.com", THINGS("\"plural\":\"" LABEL_63 "0\",\"kind\":\"Thing\""), "spec.names.plural" },
	{ "status.example.com", THINGS("\"plural\":\"status\",\"kind\":\"Thing\""), "spec.names.plural" },
	{ "finalize.example.com", THINGS("\"plural\":\"finalize\",\"kind\":\"Thing\""), "spec.names.plural" },
	{ "tenants.example.com", THINGS("\"plural\":\"tenants\",\"kind\":\"Thing\""), "spec.names.plural" },
	{ "namespaces.example.com", THINGS("\"plural\":\"namespaces\",\"kind\":\"Thing\""), "spec.names.plural" },
	{ "things.example.com", THINGS("\"plural\":\"things\",\"kind\":\"1Thing\""), "spec.names.kind" },
	{ "things.example.com", THINGS("\"plural\":\"things\",\"kind\":\"Th ing\""), "spec.names.kind" },
	{ "things.example.com", THINGS("\"plural\":\"things\",\"kind\":7"), "spec.names.kind" },
	{ "things.example.com", THINGS("\"plural\":\"things\",\"kind\":\"Thing\",\"singular\":\"Thing\""), "spec.names.singular" },
	{ "things.example.com", THINGS("\"plural\":\"things\",\"kind\":\"Thing\",\"singular\":7"), "spec.names.singular" },
	{ "things.example.com", THINGS("\"plural\":\"things\",\"kind\":\"Thing\",\"listKind\":\"Thing\""), "spec.names.listKind" },
	{ "things.example.com", THINGS("\"plural\":\"things\",\"kind\":\"Thing\",\"shortNames\":{}"), "spec.names.shortNames" },
	{ "things.example.com", THINGS("\"plural\":\"things\",\"kind\":\"Thing\",\"categories\":\"all\""), "spec.names.categories" },
	{ "things.example.com", THINGS("\"plural\":\"things\",\"kind\":\"Thing\",\"shortNames\":[\"th\",\"TH\",7],\"categories\":[\"x y\",\"all\"]"),
		"spec.names.shortNames[1] spec.names.shortNames[2] spec.names.categories[0]" },
	{ "things.example.com", SPEC(NAMES, "Namespaced", "", ""), "spec.versions" },
	{ "things.example.com", SPEC(NAMES, "Namespaced", VERSION("v1", "false"), ""), "spec.versions" },
	{ "things.example.com", SPEC(NAMES, "Namespaced", VERSION("v1", "true") "," VERSION("v2", "true"), ""), "spec.versions" },
	{ "things.example.com", SPEC(NAMES, "Namespaced", VERSION("v1", "true") "," VERSION("v1", "false"), ""), "spec.versions[1].name" },
	{ "things.example.com", SPEC(NAMES, "Namespaced", VERSION("v1", "true") "," VERSION("v2", "false") "," VERSION("v1", "false"), ""),
		"spec.versions[2].name" },
	{ "things.example.com", SPEC(NAMES, "Namespaced", VERSION("V1", "true"), ""), "spec.versions[0].name" },
	{ "things.example.com", SPEC(NAMES, "Namespaced", "{}", ""),
		"spec.versions[0].name spec.versions[0].served spec.versions[0].storage spec.versions[0].schema.openAPIV3Schema spec.versions" },
	{ "things.example.com", SPEC(NAMES, "Namespaced", "{\"name\":\"v1\",\"served\":\"true\",\"storage\":true,\"schema\":{\"openAPIV3Schema\":{\"type\":\"object\"}}}", ""),
		"spec.versions[0].served" },
	{ "things.example.com", SPEC(NAMES, "Namespaced", "{\"name\":\"v1\",\"served\":true,\"storage\":true,\"schema\":{}}", ""),
		"spec.versions[0].schema.openAPIV3Schema" },
	{ "things.example.com", SPEC(NAMES, "Namespaced", VERSION("v1", "true"), ",\"conversion\":{\"strategy\":\"Webhook\"}"), "spec.conversion.strategy" },
	{ "things.example.com", SPEC(NAMES, "Namespaced", VERSION("v1", "true"), ",\"applicableRange\":7"), "" },
	{ LABEL_63 ".example.com", THINGS("\"plural\":\"" LABEL_63 "\",\"kind\":\"Long\""), "" },
	{ "a-9z.example.com", THINGS("\"plural\":\"a-9z\",\"kind\":\"AZ\",\"listKind\":\"AZs\",\"singular\":\"az\",\"shortNames\":[\"z\"],\"categories\":[\"all\"]"), "" },
	{ "things.example.com", SPEC(NAMES, "Namespaced", "{\"name\":\"v1\",\"served\":true,\"storage\":true}", ",\"preserveUnknownFields\":true"), "" },
};

// All that a definition says, as it is read; its versions in the order of Kubernetes: releases, betas, alphas, the highest
// first, then other names by their bytes.
static void test_read(void)
{
#define SHORT_VERSION(name) "{\"name\":\"" name "\",\"served\":true,\"storage\":false},"
	static const char *const order[] = { "v10", "v2", "v1", "v11beta2", "v2beta10", "v2beta1", "v1beta1", "v2alpha1", "v1alpha2", "foo1",
		"v", "v01", "v1alpha", "v1beta", "v1gamma1", "v3x", "x1" };
	static const char body[] = "{\"spec\":{\"group\":\"example.com\",\"scope\":\"Cluster\",\"preserveUnknownFields\":true,\"names\":"
		"{\"plural\":\"manys\",\"kind\":\"Many\",\"singular\":\"one\",\"listKind\":\"Lots\",\"shortNames\":[\"m\",\"mm\"],"
		"\"categories\":[\"all\"]},\"versions\":[" SHORT_VERSION("x1") SHORT_VERSION("v1gamma1") SHORT_VERSION("v2alpha1")
		SHORT_VERSION("v1") SHORT_VERSION("v2beta1") SHORT_VERSION("v01") SHORT_VERSION("v1alpha2") SHORT_VERSION("foo1")
		SHORT_VERSION("v2beta10") SHORT_VERSION("v1beta") SHORT_VERSION("v10") SHORT_VERSION("v3x") SHORT_VERSION("v1beta1")
		SHORT_VERSION("v") SHORT_VERSION("v1alpha") SHORT_VERSION("v11beta2")
		"{\"name\":\"v2\",\"served\":true,\"storage\":true,\"deprecated\":true,\"deprecationWarning\":\"old\",\"subresources\":{\"status\":{},"
		"\"scale\":{\"specReplicasPath\":\".spec.r\",\"statusReplicasPath\":\".status.r\"}},\"additionalPrinterColumns\":"
		"[{\"name\":\"A\",\"type\":\"integer\",\"format\":\"int32\",\"description\":\"d\",\"jsonPath\":\".spec.a\",\"priority\":2},"
		"{\"name\":\"B\",\"type\":\"date\",\"jsonPath\":\".spec.b\"}]}]}}";
	const struct definition *d;
	struct uuid id = uuid_new();

	EXPECT(CREATED, "a definition of many versions", PUT, "rules", "manys.example.com", .type = CRDS, .body = body);
	registry_begin(here.registry, here.pool, &id, STR("tester"));
	if (!ok(definition_find(here.registry, STR("rules"), STR("example.com"), STR("manys"), &d, NULL) == OUTCOME_OK, "is found"))
		return;
	is_int((long long)d->n_versions, (long long)COUNT_OF(order), "all its versions");
	for (size_t i = 0; i < COUNT_OF(order) && i < d->n_versions; i++)
		is_str(d->versions[i].name, order[i], "in their order: %s", order[i]);
	is_str(d->kind, "Many", "kind");
	is_str(d->singular, "one", "singular");
	is_str(d->list_kind, "Lots", "listKind");
	ok(d->n_short_names == 2 && str_eq_c(d->short_names[0], "m") && str_eq_c(d->short_names[1], "mm"), "short names");
	ok(d->n_categories == 1 && str_eq_c(d->categories[0], "all"), "categories");
	ok(d->scope == SCOPE_TENANT && d->stored && !d->builtin && !d->forced && d->range == NULL, "scope; not shared");
	const struct definition_version *v = definition_storage(d);
	is_str(v->name, "v2", "the one that stores");
	ok(v->served && v->storage && v->deprecated && v->has_status && v->has_scale && v->scale != NULL && !v->prunes, "what it has");
	is_str(v->warning, "old", "its warning");
	is_int((long long)v->n_columns, 2, "its columns");
	is_str(v->columns[0].name, "A", "a name");
	is_str(v->columns[0].type, "integer", "a type");
	is_str(v->columns[0].format, "int32", "a format");
	is_str(v->columns[0].description, "d", "a description");
	is_str(v->columns[0].path, ".spec.a", "a path");
	ok(v->columns[0].priority == 2 && v->columns[1].priority == 0, "priorities");
	is_str(v->columns[1].type, "date", "another's type");
	ok(definition_version(d, STR("v1")) != NULL && definition_version(d, STR("v12")) == NULL, "by name");
	const struct definition_version *first = definition_version(d, STR("v10"));
	ok(first != NULL && !first->deprecated && !first->storage && !first->has_status && !first->has_scale && first->columns == NULL,
		"what another has not");
}

static struct str fields_told(void)
{
	struct buf fields = buf_new(here.pool, 64);

	for (size_t i = 0; i < here.registry->problem.n_causes; i++) {
		buf_add(&fields, i > 0 ? STR(" ") : STR(""));
		buf_add(&fields, here.registry->problem.causes[i].field);
	}
	return buf_str(&fields);
}

static void test_rules(void)
{
	struct op op = { .verb = PUT, .tenant = "rules", .type = CRDS };

	EXPECT(CREATED, "a tenant for rules", PUT_TENANT, "rules");
	for (size_t i = 0; i < COUNT_OF(ruled); i++) {
		op.path = ruled[i].name;
		op.body = ruled[i].body;
		enum outcome outcome = client_do(&here, &op);
		if (ruled[i].fields[0] == '\0') {
			ok(outcome == OUTCOME_CREATED || outcome == OUTCOME_OK, "%s: taken: %s", ruled[i].body, outcome_name(outcome));
			continue;
		}
		ok(outcome == OUTCOME_BAD_DOCUMENT, "%s: refused: %s", ruled[i].body, outcome_name(outcome));
		is_str(fields_told(), ruled[i].fields, "by its fields");
	}
}

// Ranges count in the system alone, and say whom they mean.
static void test_range_rules(void)
{
#define RANGE(range) SPEC("\"names\":{\"plural\":\"ranged\",\"kind\":\"Ranged\"}", "Cluster", VERSION("v1", "true"), ",\"applicableRange\":" range)
	static const struct {
		const char *body, *meta, *fields;
	} rows[] = {
		{ RANGE("{}"), "{}", "spec.applicableRange" },
		{ RANGE("[7,\"\",\"=v\",\"tier\",\"*\",\"a=b\",\"a=\"]"), "{}",
			"spec.applicableRange[0] spec.applicableRange[1] spec.applicableRange[2] spec.applicableRange[3]" },
		{ RANGE("[\"a=b\"]"), FORCED, "spec.applicableRange" },
		{ RANGE("[\"a=b\",\"*\"]"), FORCED, "" },
		{ RANGE("[]"), FORCED, "" },
		{ RANGE("[\"a=b\",\"a=\",\"*\"]"), "{}", "" },
	};

	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		const struct op op = { .verb = PUT, .tenant = TENANT_SYSTEM, .type = CRDS, .path = "ranged.example.com",
			.body = rows[i].body, .meta = rows[i].meta };
		enum outcome outcome = client_do(&here, &op);
		ok((outcome == OUTCOME_BAD_DOCUMENT) == (rows[i].fields[0] != '\0'), "%s: %s", rows[i].body, outcome_name(outcome));
		if (outcome == OUTCOME_BAD_DOCUMENT)
			is_str(fields_told(), rows[i].fields, "by its fields");
	}
	EXPECT(NO_CONTENT, "away", DELETE, TENANT_SYSTEM, "ranged.example.com", .type = CRDS);
}

static enum outcome set_policy(void *arg, const struct tenant *current, struct tenant_content *content)
{
	UNUSED(current);
	*content = (struct tenant_content){ .object = str_printf(here.pool, "{\"spec\":{\"multiTenancyCRDPolicy\":\"%s\"}}",
						    (const char *)arg) };
	return OUTCOME_OK;
}

static enum db_verdict run_policy(void *arg)
{
	const struct tenant_edit edit = { set_policy, arg };

	catalogue_begin(here.registry);
	return tenant_patch(here.registry, STR("a"), &edit, (struct guard){ 0 }, &here.tenant) == OUTCOME_OK ? DB_COMMIT :
													       DB_ROLLBACK;
}

static void policy(const char *name)
{
	char text[64];
	struct uuid id = uuid_new();

	(void)snprintf(text, sizeof(text), "%s", name);
	registry_begin(here.registry, here.pool, &id, STR("tester"));
	ok(db_txn_run(here.db, DB_WRITE, &id, run_policy, text) == DB_OK && strcmp(here.tenant.policy, name) == 0, "%s", name);
	catalogue_committed(here.registry);
}

static void test_shared(void)
{
	EXPECT(CREATED, "the system's", PUT, TENANT_SYSTEM, "gadgets.example.com", .type = CRDS, .body = SHARED("[]"));
	ANSWERS(TENANT_SYSTEM, "gadgets", TENANT_SYSTEM, "own");
	ANSWERS("a", "gadgets", "", "none");
	EXPECT(OK, "for some", PUT, TENANT_SYSTEM, "gadgets.example.com", .type = CRDS, .body = SHARED("[\"tier=gold\"]"));
	ANSWERS("a", "gadgets", "", "none");
	// A value counts whole, neither its beginning nor its end, and only that annotation's.
	static const char *const others[] = { "{\"tier\":\"goldish\"}", "{\"tier\":\"gol\"}", "{\"tier\":\"\"}",
		"{\"tier\":\"rosegold\"}", "{\"tier\":\"Gold\"}", "{\"tier\":\"gold=\"}", "{\"tiers\":\"gold\"}", "{\"tie\":\"gold\"}",
		"{\"tier=gold\":\"gold\"}" };
	for (size_t i = 0; i < COUNT_OF(others); i++) {
		EXPECT(OK, others[i], PUT_TENANT, "a", .meta = others[i]);
		ANSWERS("a", "gadgets", "", "none");
	}
	EXPECT(OK, "one of them", PUT_TENANT, "a", .meta = "{\"tier\":\"gold\"}");
	ANSWERS("a", "gadgets", TENANT_SYSTEM, "shared");
	ANSWERS("b", "gadgets", "", "none");
	EXPECT(CREATED, "an object of it", PUT, "a", "g1", .type = "gadgets.example.com", .body = "{\"spec\":{\"size\":1}}");
	EXPECT(CREATED, "one's own", PUT, "a", "gadgets.example.com", .type = CRDS,
		.body = CRD("gadgets", "Gadget", "Cluster", SCHEMA(SMALL), ""));
	ANSWERS("a", "gadgets", "a", "own");
	policy(TYPE_POLICY_SYSTEM);
	ANSWERS("a", "gadgets", TENANT_SYSTEM, "shared");
	policy(TYPE_POLICY_NEVER);
	ANSWERS("a", "gadgets", "a", "own");
	EXPECT(NO_CONTENT, "no longer", DELETE, "a", "gadgets.example.com", .type = CRDS);
	ANSWERS("a", "gadgets", "", "none");
	EXPECT(OK, "what is stored can be read", GET, "a", "g1", .type = "gadgets.example.com");
	EXPECT(NOT_FOUND, "and not written", PUT, "a", "g2", .type = "gadgets.example.com");
	policy(TYPE_POLICY_LOCAL);
	ANSWERS("a", "gadgets", TENANT_SYSTEM, "shared");
	EXPECT(NO_CONTENT, "withdrawn", DELETE, TENANT_SYSTEM, "gadgets.example.com", .type = CRDS);
	ANSWERS("a", "gadgets", "", "none");
	EXPECT(OK, "the object stays", GET, "a", "g1", .type = "gadgets.example.com");
	EXPECT(NO_CONTENT, "and back", RECOVER, TENANT_SYSTEM, "gadgets.example.com", .type = CRDS);
	ANSWERS("a", "gadgets", TENANT_SYSTEM, "shared");
	EXPECT(OK, "a change of it", PUT, "a", "g1", .type = "gadgets.example.com", .body = "{\"spec\":{\"size\":2}}");
}


static void test_forced(void)
{
	EXPECT(BAD_DOCUMENT, "forced on some", PUT, TENANT_SYSTEM, "gadgets.example.com", .type = CRDS,
		.body = SHARED("[\"tier=gold\"]"), .meta = FORCED);
	EXPECT(OK, "forced", PUT, TENANT_SYSTEM, "gadgets.example.com", .type = CRDS, .body = SHARED("[]"), .meta = FORCED);
	ANSWERS("b", "gadgets", TENANT_SYSTEM, "forced");
	policy(TYPE_POLICY_NEVER);
	ANSWERS("a", "gadgets", TENANT_SYSTEM, "forced");
	EXPECT(CONFLICT, "one's own beside it", PUT, "b", "gadgets.example.com", .type = CRDS,
		.body = CRD("gadgets", "Gadget", "Cluster", SCHEMA(SMALL), ""));
	policy(TYPE_POLICY_LOCAL);
	is_sound("shared types");
}

static void has_blocker(const char *reason)
{
	ok(here.action.n_blockers > 0 && strcmp(here.action.blockers[0].reason, reason) == 0, "by %s: %s", reason,
		here.action.n_blockers > 0 ? here.action.blockers[0].reason : "nothing");
}

static void test_moves(void)
{
	EXPECT(CREATED, "a third", PUT_TENANT, "c");
	EXPECT(BLOCKED, "to where there is no such type", MOVE, "a", "default/w1", .type = WIDGETS, .dest = "c");
	has_blocker("type-unavailable");
	EXPECT(NO_CONTENT, "out of the way", DELETE, "b", "default/w1", .type = WIDGETS);
	EXPECT(BLOCKED, "to where it is another", MOVE, "a", "default/w1", .type = WIDGETS, .dest = "b");
	has_blocker("type-differs");
	EXPECT(SEE_OTHER, "one that is shared", MOVE, "a", "g1", .type = "gadgets.example.com", .dest = "c");
	EXPECT(SEE_OTHER, "all, with its definition", MOVE, "a", .dest = "c");
	ANSWERS("c", "widgets", "c", "own");
	ANSWERS("a", "widgets", "", "none");
	EXPECT(OK, "and its object", GET, "c", "default/w1", .type = WIDGETS);
	ok(here.resource.changed > 1, "its last change");
	is_sound("moves");
}

// Another worker, under another master.
static void test_elsewhere(void)
{
	struct client other;

	client_open(&other);
	answers(&other, "c", "widgets", "c", "own");
	uint64_t trips = db_round_trips(other.db);
	answers(&other, "c", "widgets", "c", "own");
	ok(db_round_trips(other.db) - trips <= 1, "held");
	EXPECT(NO_CONTENT, "gone", DELETE, "c", WIDGETS, .type = CRDS);
	(void)usleep(600000);
	answers(&other, "c", "widgets", "", "none");
	EXPECT(NO_CONTENT, "and back", RECOVER, "c", WIDGETS, .type = CRDS);
	(void)usleep(600000);
	answers(&other, "c", "widgets", "c", "own");
	client_close(&other);
}

static void test_finalizers(void)
{
#define FINALIZERS "{\"finalizers\":[\"example.com/clean\"]}"
	EXPECT(CREATED, "a config map with a finalizer", PUT, "b", "default/f", .meta = FINALIZERS);
	uint64_t changed = here.resource.changed;
	EXPECT(ACCEPTED, "its deletion", DELETE, "b", "default/f");
	ok(here.resource.doomed_us > 0 && here.resource.changed > changed, "is marked, a change");
	EXPECT(OK, "it is still there", GET, "b", "default/f");
	changed = here.resource.changed;
	EXPECT(ACCEPTED, "once more", DELETE, "b", "default/f");
	is_int((long long)here.resource.changed, (long long)changed, "changes nothing");
	EXPECT(OK, "without it", PUT, "b", "default/f", .body = "{\"a\":1}");
	ok(here.resource.deleted_us > 0, "it goes");
	EXPECT(GONE, "it is gone", GET, "b", "default/f");
	EXPECT(NO_CONTENT, "and comes back", RECOVER, "b", "default/f");
	EXPECT(OK, "as what nobody wants to delete", GET, "b", "default/f");
	ok(here.resource.doomed_us == 0, "any more");
	EXPECT(CREATED, "a namespace with a finalizer", PUT, "b", "ending/", .meta = FINALIZERS);
	EXPECT(CREATED, "takes what comes", PUT, "b", "ending/c1");
	EXPECT(CREATED, "and more", PUT, "b", "ending/c2");
	EXPECT(NO_CONTENT, "of which one goes", DELETE, "b", "ending/c2");
	EXPECT(ACCEPTED, "its deletion", DELETE, "b", "ending/");
	EXPECT(FORBIDDEN, "nothing comes to it any more", PUT, "b", "ending/c3");
	is_int((long long)here.registry->problem.n_causes, 1, "with a cause");
	is_str(here.registry->problem.causes[0].field, "metadata.namespace", "its field");
	ok(strcmp(here.registry->problem.causes[0].reason, "NamespaceTerminating") == 0, "and its reason");
	EXPECT(FORBIDDEN, "nor back to it", RECOVER, "b", "ending/c2");
	is_sound("finalizers");
}

static uint64_t horizon_of(struct client *client)
{
	struct uuid id = uuid_new();
	uint64_t horizon = 0;

	registry_begin(client->registry, client->pool, &id, STR("tester"));
	ok(horizon_advance(client->registry, &horizon, NULL) == OUTCOME_OK, "a horizon");
	return horizon;
}

static struct client beside;
static uint64_t before_it, while_open;

static void look_at_horizon(void)
{
	while_open = horizon_of(&beside);
}

static void test_horizon(void)
{
	client_open(&beside);
	EXPECT(OK, "a change", PUT, "b", "default/f", .body = "{\"a\":2}");
	before_it = horizon_of(&beside);
	is_int((long long)before_it, (long long)here.resource.changed, "is within the horizon");
	is_outcome(client_do(&here, &(struct op){ PUT, "b", "default/f", .body = "{\"a\":3}", .before_commit = look_at_horizon }),
		OUTCOME_OK, "one that takes its time");
	is_int((long long)while_open, (long long)before_it, "is beyond it");
	is_int((long long)horizon_of(&beside), (long long)here.resource.changed, "until it is committed");
	client_close(&beside);
}

// Tenants with a type each, of a group of their own, as c has one.
#define MANY "FROM tenants WHERE name LIKE 'many-%'"
static const struct db_query q_many[] = {
	{ "INSERT INTO tenants (name, uid, tier_id, metadata, etag, revision, created_at, updated_at) "
	  "SELECT CONCAT('many-', s.seq), RANDOM_BYTES(16), t.tier_id, '{}', t.etag, 1, t.created_at, t.updated_at "
	  "FROM seq_1_to_5000 s JOIN tenants t ON t.name = 'c' AND t.live = 1", "", "" },
	{ "INSERT INTO tenant_counts (tenant_id, resources, types) SELECT id, 1, 1 " MANY, "", "" },
	{ "INSERT INTO types (group_name, version, kind, plural, singular, namespaced, builtin) "
	  "SELECT CONCAT(name, '.example'), 'v1', 'Widget', 'widgets', 'widget', TRUE, FALSE " MANY, "", "" },
	{ "INSERT INTO resources (uid, tenant_id, type_id, namespace, name, bytes, revision, edits, h0, h1, h2, h3, etag, "
	  "meta, body, created_at, updated_at) SELECT RANDOM_BYTES(16), t.id, r.type_id, '', CONCAT('widgets.', t.name, "
	  "'.example'), r.bytes, 1, 1, 0, 0, 0, 0, r.etag, r.meta, REPLACE(r.body, 'example.com', CONCAT(t.name, "
	  "'.example')), r.created_at, r.updated_at FROM tenants t JOIN resources r ON r.name = '" WIDGETS "' AND r.live = 1 "
	  "JOIN tenants c ON c.id = r.tenant_id AND c.name = 'c' WHERE t.name LIKE 'many-%'", "", "" },
};

static size_t allocated(void)
{
	struct mallinfo2 info = mallinfo2();

	return info.uordblks + info.hblkhd;
}

static bool has_its_own(struct client *client, unsigned number)
{
	const struct definition *definition;
	struct uuid id = uuid_new();

	pool_clear(client->pool);
	registry_begin(client->registry, client->pool, &id, STR("tester"));
	struct str tenant = str_printf(client->pool, "many-%u", number);
	struct str group = str_printf(client->pool, "many-%u.example", number);
	return definition_find(client->registry, tenant, group, STR("widgets"), &definition, NULL) == OUTCOME_OK &&
	       str_eq(definition->type->group, group) && str_eq(definition->owner, tenant);
}

// More than a worker is to hold.
static void test_many(void)
{
	const unsigned many = 5000;
	struct client other;
	unsigned found = 0;

	for (size_t i = 0; i < COUNT_OF(q_many); i++)
		ok(db_run(here.db, here.pool, &q_many[i], NULL, NULL) == DB_OK, "%s", i == 0 ? "many tenants" : "with types");
	client_open(&other);
	(void)has_its_own(&other, 1);
	size_t before = allocated();
	for (unsigned i = 1; i <= many; i++)
		found += has_its_own(&other, i) ? 1 : 0;
	size_t after = allocated();
	is_int(found, many, "each has its own");
	ok(after < before + (8U << 20), "of which a worker holds some: %zu kB more", (after - before) / 1024);
	uint64_t trips = db_round_trips(other.db);
	ok(has_its_own(&other, many) && has_its_own(&other, many - 1), "the last ones");
	ok(db_round_trips(other.db) - trips <= 1, "are held");
	client_close(&other);
}

// As many definitions as a tenant may have, each of a group of its own: one that comes from elsewhere is one too many.
static const struct db_query q_full[] = {
	{ "INSERT INTO types (group_name, version, kind, plural, singular, namespaced, builtin) SELECT CONCAT('full-', seq, "
	  "'.example'), 'v1', 'Widget', 'widgets', 'widget', TRUE, FALSE FROM seq_1_to_1000", "", "" },
	{ "INSERT INTO resources (uid, tenant_id, type_id, namespace, name, bytes, revision, edits, h0, h1, h2, h3, etag, "
	  "meta, body, created_at, updated_at) SELECT RANDOM_BYTES(16), t.id, r.type_id, '', CONCAT('widgets.full-', s.seq, "
	  "'.example'), r.bytes, 1, 1, 0, 0, 0, 0, r.etag, r.meta, REPLACE(r.body, 'example.com', CONCAT('full-', s.seq, "
	  "'.example')), r.created_at, r.updated_at FROM seq_1_to_1000 s JOIN tenants t ON t.name = 'full' JOIN resources r ON "
	  "r.name = '" WIDGETS "' AND r.live = 1 JOIN tenants c ON c.id = r.tenant_id AND c.name = 'c'", "", "" },
	{ "UPDATE tenant_counts SET resources = 1000 WHERE tenant_id = (SELECT id FROM tenants WHERE name = 'full')", "", "" },
};

static void test_full(void)
{
	EXPECT(CREATED, "a tenant", PUT_TENANT, "full");
	for (size_t i = 0; i < COUNT_OF(q_full); i++)
		ok(db_run(here.db, here.pool, &q_full[i], NULL, NULL) == DB_OK, "%s", i == 0 ? "many types" : "are its own");
	EXPECT(BLOCKED, "one more", MOVE, "c", WIDGETS, .type = CRDS, .dest = "full");
	has_blocker("quota");
	EXPECT(NO_CONTENT, "one less", DELETE, "full", "widgets.full-7.example", .type = CRDS);
	EXPECT(SEE_OTHER, "leaves room for it", MOVE, "c", WIDGETS, .type = CRDS, .dest = "full");
	EXPECT(OVER_QUOTA, "and none for what comes back", RECOVER, "full", "widgets.full-7.example", .type = CRDS);
}

int main(void)
{
	fixture_start();
	test_builtin();
	test_own();
	test_refused();
	test_shared();
	test_forced();
	test_moves();
	test_elsewhere();
	test_finalizers();
	test_horizon();
	test_many();
	test_full();
	test_rules();
	test_read();
	test_range_rules();
	return fixture_end();
}

// SPDX-License-Identifier: Apache-2.0
// What definitions of types have to be like, field by field, and how they are read.
#include "base/base.h"

#include "definition-texts.h"
#include "registry-fixture.h"
#include "registry/registry.h"

// What rules find wrong, field by field and in order. Each is "widgets.example.com" unless said otherwise.
#define NAMES "\"names\":{\"plural\":\"things\",\"kind\":\"Thing\"}"
#define VERSION(name, storage) "{\"name\":\"" name "\",\"served\":true,\"storage\":" storage ",\"schema\":{\"openAPIV3Schema\":{\"type\":\"object\"}}}"
#define SPEC(names, scope, versions, more) \
	"{\"spec\":{\"group\":\"example.com\",\"scope\":\"" scope "\"," names ",\"versions\":[" versions "]" more "}}"
#define GOOD SPEC(NAMES, "Namespaced", VERSION("v1", "true"), "")
#define THINGS(names) SPEC("\"names\":{" names "}", "Namespaced", VERSION("v1", "true"), "")
#define LABEL_63 "abcdefghijklmnopqrstuvwxyz0123456789-abcdefghijklmnopqrstuvwxyz"

#define VERSION_WITH_SCALE(spec, status, selector) \
	"{\"name\":\"v1\",\"served\":true,\"storage\":true,\"schema\":{\"openAPIV3Schema\":{\"type\":\"object\"}},\"subresources\":{\"scale\":" \
	"{\"specReplicasPath\":\"" spec "\",\"statusReplicasPath\":\"" status "\",\"labelSelectorPath\":\"" selector "\"}}}"
#define AT_SCALE "spec.versions[0].subresources.scale."
#define WITH_SCHEMA(schema) "{\"name\":\"v1\",\"served\":true,\"storage\":true,\"schema\":{\"openAPIV3Schema\":{" schema "}}}"
#define AT_SCHEMA "spec.versions[0].schema.openAPIV3Schema"
#define KEEPS ",\"preserveUnknownFields\":true"
// A list whose items need not have its key.
#define KEY_MISSING \
	"\"type\":\"object\",\"properties\":{\"l\":{\"type\":\"array\",\"x-kubernetes-list-type\":\"map\",\"x-kubernetes-list-map-keys\":[\"k\"]," \
	"\"items\":{\"type\":\"object\",\"properties\":{\"k\":{\"type\":\"string\"}}}}}"
#define KEY_FAULT AT_SCHEMA ".properties[l].items.properties[k].default"

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
	{ "things.example.com", SPEC(NAMES, "Namespaced", VERSION_WITH_SCALE(".spec.a\\u0000b", ".status.\\u0000", ".spec.\\u001f"), ""),
		AT_SCALE "specReplicasPath " AT_SCALE "statusReplicasPath " AT_SCALE "labelSelectorPath" },
	{ "things.example.com", SPEC(NAMES, "Namespaced", VERSION("v1", "true"), ",\"conversion\":{\"strategy\":\"Webhook\"}"), "spec.conversion.strategy" },
	{ "things.example.com", SPEC(NAMES, "Namespaced", VERSION("v1", "true"), ",\"applicableRange\":7"), "" },
	{ LABEL_63 ".example.com", THINGS("\"plural\":\"" LABEL_63 "\",\"kind\":\"Long\""), "" },
	{ "a-9z.example.com", THINGS("\"plural\":\"a-9z\",\"kind\":\"AZ\",\"listKind\":\"AZs\",\"singular\":\"az\",\"shortNames\":[\"z\"],\"categories\":[\"all\"]"), "" },
	{ "things.example.com", SPEC(NAMES, "Namespaced", "{\"name\":\"v1\",\"served\":true,\"storage\":true}", ",\"preserveUnknownFields\":true"), "" },
	{ "things.example.com", SPEC(NAMES, "Namespaced", WITH_SCHEMA("\"properties\":{\"a\":{\"default\":\"x\"}}"), KEEPS), "spec.preserveUnknownFields" },
	{ "things.example.com", SPEC(NAMES, "Namespaced", WITH_SCHEMA("\"properties\":{\"a\":{\"type\":\"array\",\"x-kubernetes-list-type\":\"map\"}}"), KEEPS),
		AT_SCHEMA ".type " AT_SCHEMA ".properties[a].x-kubernetes-list-map-keys " AT_SCHEMA ".properties[a].items" },
	{ "things.example.com", SPEC(NAMES, "Namespaced", WITH_SCHEMA("\"properties\":{\"a\":{}}"), KEEPS), "" },
	{ "things.example.com", SPEC(NAMES, "Namespaced", WITH_SCHEMA(KEY_MISSING), ""), KEY_FAULT },
};

// All that a definition says, as it is read; its versions in the order of Kubernetes: releases, betas, alphas, the highest
// first, then other names by their bytes.
static void test_read(void)
{
#define SHORT_VERSION(name) "{\"name\":\"" name "\",\"served\":true,\"storage\":false},"
	static const char *const order[] = { "v10", "v2", "v01", "v1", "v0", "v11beta2", "v2beta10", "v2beta1", "v1beta1", "v0beta1", "v2alpha1",
		"v1alpha2", "v0alpha1", "foo1", "v", "v1alpha", "v1beta", "v1gamma1", "v3x", "x1" };
	static const char body[] = "{\"spec\":{\"group\":\"example.com\",\"scope\":\"Cluster\",\"preserveUnknownFields\":true,\"names\":"
		"{\"plural\":\"manys\",\"kind\":\"Many\",\"singular\":\"one\",\"listKind\":\"Lots\",\"shortNames\":[\"m\",\"mm\"],"
		"\"categories\":[\"all\"]},\"versions\":[" SHORT_VERSION("x1") SHORT_VERSION("v1gamma1") SHORT_VERSION("v2alpha1")
		SHORT_VERSION("v1") SHORT_VERSION("v2beta1") SHORT_VERSION("v01") SHORT_VERSION("v1alpha2") SHORT_VERSION("foo1")
		SHORT_VERSION("v2beta10") SHORT_VERSION("v1beta") SHORT_VERSION("v10") SHORT_VERSION("v3x") SHORT_VERSION("v1beta1")
		SHORT_VERSION("v") SHORT_VERSION("v0alpha1") SHORT_VERSION("v0beta1") SHORT_VERSION("v0") SHORT_VERSION("v1alpha") SHORT_VERSION("v11beta2")
		"{\"name\":\"v2\",\"served\":true,\"storage\":true,\"deprecated\":true,\"deprecationWarning\":\"old\",\"subresources\":{\"status\":{},"
		"\"scale\":{\"specReplicasPath\":\".spec.r\",\"statusReplicasPath\":\".status.r\"}},\"additionalPrinterColumns\":"
		"[{\"name\":\"A\",\"type\":\"integer\",\"format\":\"int32\",\"description\":\"d\",\"jsonPath\":\".spec.a\",\"priority\":2},"
		"{\"name\":\"B\",\"type\":\"date\",\"jsonPath\":\".spec.b\"}]}]}}";
	const struct definition *d;
	struct uuid id = uuid_new();

	EXPECT(CREATED, "a definition of many versions", PUT, "rules", "manys.example.com", .type = CRDS, .body = body);
	registry_begin(here.registry, here.pool, &id, STR("tester"), &here.problem);
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
	const struct definition_details *details = definition_details(here.registry, d, v);
	is_int((long long)details->n_columns, 2, "its columns");
	is_str(details->columns[0].name, "A", "a name");
	is_str(details->columns[0].type, "integer", "a type");
	is_str(details->columns[0].format, "int32", "a format");
	is_str(details->columns[0].description, "d", "a description");
	is_str(details->columns[0].path, ".spec.a", "a path");
	ok(details->columns[0].priority == 2 && details->columns[1].priority == 0, "priorities");
	is_str(details->columns[1].type, "date", "another's type");
	ok(definition_version(d, STR("v1")) != NULL && definition_version(d, STR("v12")) == NULL, "by name");
	const struct definition_version *first = definition_version(d, STR("v10"));
	ok(first != NULL && !first->deprecated && !first->storage && !first->has_status && !first->has_scale &&
		definition_details(here.registry, d, first)->columns == NULL,
		"what another has not");
}

static struct str fields_told(void)
{
	struct buf fields = buf_new(here.pool, 64);

	for (size_t i = 0; i < here.registry->problem->n_causes; i++) {
		buf_add(&fields, i > 0 ? STR(" ") : STR(""));
		buf_add(&fields, here.registry->problem->causes[i].subject);
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

// A definition that was stored before there was a rule can be changed without obeying it.
static void test_rules_of_before(void)
{
	static const char *const broken[][2] = {
		{ WITH_SCHEMA(KEY_MISSING), "" },
		{ WITH_SCHEMA("\"properties\":{\"a\":{\"default\":\"x\"}}"), KEEPS },
		{ WITH_SCHEMA("\"properties\":{\"a\":{\"type\":\"array\",\"x-kubernetes-list-type\":\"map\"}}"), KEEPS },
	};
	const char *name = "things.example.com";

	for (size_t i = 0; i < COUNT_OF(broken); i++) {
		const char *body = str_printf(here.pool, "{\"spec\":{\"group\":\"example.com\",\"scope\":\"Namespaced\"," NAMES
			",\"versions\":[%s]%s}}", broken[i][0], broken[i][1]).p;
		const char *changed = str_printf(here.pool, "{\"spec\":{\"group\":\"example.com\",\"scope\":\"Namespaced\"," NAMES
			",\"applicableRange\":[],\"versions\":[%s]%s}}", broken[i][0], broken[i][1]).p;
		EXPECT(BAD_DOCUMENT, "refused", PUT, "rules", name, .type = CRDS, .body = body);
		server_sql(str_printf(here.pool, "UPDATE resources SET body = '%s' WHERE name = '%s' AND tenant_id = "
			"(SELECT id FROM tenants WHERE name = 'rules')", body, name).p);
		EXPECT(OK, "changed", PUT, "rules", name, .type = CRDS, .body = changed);
		EXPECT(OK, "as it should be", PUT, "rules", name, .type = CRDS, .body = GOOD);
		EXPECT(BAD_DOCUMENT, "not back again", PUT, "rules", name, .type = CRDS, .body = body);
	}
}

// A path with a NUL leads to no member. Where one is stored from before it was refused, its version has no part "scale".
static void test_scale_of_before(void)
{
	static const char body[] = "{\"spec\":{\"group\":\"example.com\",\"scope\":\"Namespaced\",\"names\":{\"plural\":\"scaled\",\"kind\":\"Scaled\"},"
		"\"versions\":[" VERSION_WITH_SCALE(".spec.n", ".status.n", ".status.s") "]}}";
	const struct definition *d;
	struct uuid id = uuid_new();

	EXPECT(CREATED, "a type with a scale", PUT, "rules", "scaled.example.com", .type = CRDS, .body = body);
	server_sql("UPDATE resources SET body = REPLACE(body, '.status.s', '.status.s\\\\u0000') WHERE name = 'scaled.example.com'");
	registry_begin(here.registry, here.pool, &id, STR("tester"), &here.problem);
	if (!ok(definition_find(here.registry, STR("rules"), STR("example.com"), STR("scaled"), &d, NULL) == OUTCOME_OK, "is found"))
		return;
	ok(d->n_versions == 1 && !d->versions[0].has_scale && d->versions[0].scale == NULL, "without it");
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
		ok(rows[i].fields[0] != '\0' ? outcome == OUTCOME_BAD_DOCUMENT : outcome == OUTCOME_OK || outcome == OUTCOME_CREATED,
			"%s: %s", rows[i].body, outcome_name(outcome));
		if (outcome == OUTCOME_BAD_DOCUMENT)
			is_str(fields_told(), rows[i].fields, "by its fields");
	}
	EXPECT(NO_CONTENT, "away", DELETE, TENANT_SYSTEM, "ranged.example.com", .type = CRDS);
}

// ---- in whole: what is stored, and every word of what is refused

#define NAMED(more) THINGS("\"plural\":\"things\",\"kind\":\"Thing\"" more)
#define IN_SPEC(more) SPEC(NAMES, "Namespaced", VERSION("v1", "true"), more)

// The outcome, and what is stored or why nothing is; with ' for ".
static struct str written(const char *tenant, const char *name, const char *body)
{
	const struct op op = { .verb = PUT, .tenant = tenant, .type = CRDS, .path = name, .body = body };
	enum outcome outcome = client_do(&here, &op);
	struct str text = outcome == OUTCOME_CREATED || outcome == OUTCOME_OK ? here.resource.body : here.registry->problem->detail;
	struct buf shown = buf_new(here.pool, text.n + 32);

	buf_addf(&shown, "%s ", outcome_name(outcome));
	for (size_t i = 0; i < text.n; i++) {
		// Times are not known before.
		bool time = i + 20 < text.n && text.p[i + 4] == '-' && text.p[i + 7] == '-' && text.p[i + 10] == 'T' && text.p[i + 19] == 'Z';
		if (time)
			i += 19;
		buf_add(&shown, time ? STR("TIME") : text.p[i] == '"' ? STR("'") : str_part(text, i, i + 1));
	}
	return buf_str(&shown);
}
#define WRITTEN(tenant, name, body, want)                                                                                  \
	do {                                                                                                               \
		struct str got = written(tenant, name, body);                                                              \
		is_str(got, want, "%s", body);                                                                             \
	} while (0)

// What is said of group, scope and versions that are missing or wrong.
static void test_words_of_spec(void)
{
	EXPECT(CREATED, "a tenant", PUT_TENANT, "words");
	WRITTEN("words", "things.example.com", "{\"spec\":{\"group\":7,\"scope\":7,\"names\":{\"plural\":7,\"kind\":7,\"singular\":7,\"listKind\":7},\"versions\":7}}",
		"bad-document CustomResourceDefinition 'things.example.com' is invalid: [spec.group: Invalid value: 7"
		": must be a string, spec.names.plural: Invalid value: 7: must be a string, spec.names.kind: Invalid "
		"value: 7: must be a string, spec.names.singular: Invalid value: 7: must be a string, spec.names.list"
		"Kind: Invalid value: 7: must be a string, spec.scope: Invalid value: 7: must be a string, metadata.n"
		"ame: Invalid value: 'things.example.com': must be spec.names.plural+'.'+spec.group, spec.versions: R"
		"equired value: at least one version]");
	WRITTEN("words", "things.example.com", "{\"spec\":7}",
		"bad-document CustomResourceDefinition 'things.example.com' is invalid: [spec.group: Required value, "
		"spec.names.plural: Required value, spec.names.kind: Required value, spec.scope: Required value, meta"
		"data.name: Invalid value: 'things.example.com': must be spec.names.plural+'.'+spec.group, spec.versi"
		"ons: Required value: at least one version]");
	WRITTEN("words", "things.example", "{\"spec\":{\"group\":\"example\",\"scope\":\"Global\"," NAMES ",\"versions\":[" VERSION("v1", "true") "]}}",
		"bad-document CustomResourceDefinition 'things.example' is invalid: [spec.group: Invalid value: 'exam"
		"ple': should be a domain with at least one dot, spec.scope: Unsupported value: 'Global': supported v"
		"alues: 'Namespaced', 'Cluster', 'Tenant']");
	WRITTEN("words", "things.apps", "{\"spec\":{\"group\":\"apps\",\"scope\":\"Cluster\"," NAMES ",\"versions\":[" VERSION("v1", "true") "]}}",
		"bad-document CustomResourceDefinition 'things.apps' is invalid: spec.group: Invalid value: 'apps': s"
		"hould be a domain with at least one dot");
	WRITTEN("words", "things.baremetal.openstack.org",
		"{\"spec\":{\"group\":\"baremetal.openstack.org\",\"scope\":\"Cluster\"," NAMES ",\"versions\":[" VERSION("v1", "true") "]}}",
		"bad-document CustomResourceDefinition 'things.baremetal.openstack.org' is invalid: spec.group: Inval"
		"id value: 'baremetal.openstack.org': is a group of the service itself: take one of your own");
	WRITTEN("words", "others.example.com", GOOD,
		"bad-document CustomResourceDefinition 'others.example.com' is invalid: metadata.name: Invalid value:"
		" 'others.example.com': must be spec.names.plural+'.'+spec.group");
	WRITTEN("words", "things.example.com", SPEC(NAMES, "Cluster", "{\"name\":7,\"served\":7,\"storage\":7,\"schema\":7},{\"name\":\"1\"}", ""),
		"bad-document CustomResourceDefinition 'things.example.com' is invalid: [spec.versions[0].name: Inval"
		"id value: 7: must be a string, spec.versions[0].served: Required value: true or false, spec.versions"
		"[0].storage: Required value: true or false, spec.versions[0].schema.openAPIV3Schema: Required value:"
		" schemas are required, spec.versions[1].name: Invalid value: '1': a DNS-1035 label must consist of l"
		"ower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphan"
		"umeric character (e.g. 'my-name',  or 'abc-123', regex used for validation is '[a-z]([-a-z0-9]*[a-z0"
		"-9])?'), spec.versions[1].served: Required value: true or false, spec.versions[1].storage: Required "
		"value: true or false, spec.versions[1].schema.openAPIV3Schema: Required value: schemas are required,"
		" spec.versions: Invalid value: [{'name':7,'served':7,'storage':7,'schema':7},{'name':'1'}]: must hav"
		"e exactly one version marked as storage version]");
}

// Of names.
static void test_words_of_names(void)
{
	WRITTEN("words", "status.example.com", THINGS("\"plural\":\"status\",\"kind\":\"Thing\""),
		"bad-document CustomResourceDefinition 'status.example.com' is invalid: spec.names.plural: Invalid va"
		"lue: 'status': addresses have this word with another meaning, so that the type could not be reached:"
		" take another");
	WRITTEN("words", "things.example.com", THINGS("\"plural\":\"things\",\"kind\":\"Thing\",\"singular\":\"-x\",\"listKind\":\"Thing\",\"shortNames\":[\"X\"],\"categories\":7"),
		"bad-document CustomResourceDefinition 'things.example.com' is invalid: [spec.names.singular: Invalid"
		" value: '-x': a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with"
		" an alphabetic character, and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', reg"
		"ex used for validation is '[a-z]([-a-z0-9]*[a-z0-9])?'), spec.names.listKind: Invalid value: 'Thing'"
		": kind and listKind may not be the same, spec.names.shortNames[0]: Invalid value: 'X': must be a DNS"
		"-1035 label, spec.names.categories: Invalid value: 7: must be an array]");
}

// Of versions of one name, and of conversion between them.
static void test_words_of_conversion(void)
{
	WRITTEN("words", "things.example.com", SPEC(NAMES, "Cluster", "{\"name\":\"v1\",\"schema\":{\"openAPIV3Schema\":{\"type\":\"object\"}}},{\"name\":\"v1\",\"served\":true,\"storage\":true}", ""),
		"bad-document CustomResourceDefinition 'things.example.com' is invalid: [spec.versions[0].served: Req"
		"uired value: true or false, spec.versions[0].storage: Required value: true or false, spec.versions[1"
		"].name: Duplicate value: 'v1', spec.versions[1].schema.openAPIV3Schema: Required value: schemas are "
		"required]");
	WRITTEN("words", "things.example.com", IN_SPEC(",\"conversion\":{\"strategy\":\"Webhook\"}"),
		"bad-document CustomResourceDefinition 'things.example.com' is invalid: spec.conversion.strategy: Uns"
		"upported value: 'Webhook': supported values: 'None'");
	WRITTEN("words", "things.example.com", IN_SPEC(",\"conversion\":{\"strategy\":7}"),
		"created {'spec':{'group':'example.com','scope':'Namespaced','names':{'plural':'things','kind':'Thing"
		"','singular':'thing','listKind':'ThingList'},'versions':[{'name':'v1','served':true,'storage':true,'"
		"schema':{'openAPIV3Schema':{'type':'object'}}}],'conversion':{'strategy':'None'}},'status':{'conditi"
		"ons':[{'lastTransitionTime':'TIME','message':'no conflicts found','reason':'NoConflicts','status':'T"
		"rue','type':'NamesAccepted'},{'lastTransitionTime':'TIME','message':'the initial names have been acc"
		"epted','reason':'InitialNamesAccepted','status':'True','type':'Established'}],'acceptedNames':{'plur"
		"al':'things','kind':'Thing','singular':'thing','listKind':'ThingList'},'storedVersions':['v1']}}");
}

// Of what can't be changed once the definition is there.
static void test_words_of_what_stays(void)
{
	WRITTEN("words", "things.example.com", THINGS("\"plural\":\"things\",\"kind\":\"Other\""),
		"bad-document CustomResourceDefinition 'things.example.com' is invalid: spec.names.kind: Invalid valu"
		"e: 'Other': field is immutable");
	WRITTEN("words", "things.example.com", SPEC(NAMES, "Cluster", VERSION("v1", "true"), ""),
		"bad-document CustomResourceDefinition 'things.example.com' is invalid: spec.scope: Invalid value: 'C"
		"luster': field is immutable");
	WRITTEN("words", "things.example.com", SPEC(NAMES, "Tenant", VERSION("v1", "true"), ""),
		"bad-document CustomResourceDefinition 'things.example.com' is invalid: spec.scope: Invalid value: 'T"
		"enant': field is immutable");
}

// Of status.storedVersions, to which each version that objects were stored in belongs.
static void test_words_of_stored_versions(void)
{
	WRITTEN("words", "t.e.f", "{\"spec\":{\"group\":\"e.f\",\"scope\":\"Tenant\",\"names\":{\"plural\":\"t\",\"kind\":\"T\",\"singular\":\"s\",\"listKind\":\"L\"},"
		"\"versions\":[" VERSION("v1", "true") "],\"conversion\":{\"strategy\":\"None\"}}}",
		"created {'spec':{'group':'e.f','scope':'Tenant','names':{'plural':'t','kind':'T','singular':'s','lis"
		"tKind':'L'},'versions':[{'name':'v1','served':true,'storage':true,'schema':{'openAPIV3Schema':{'type"
		"':'object'}}}],'conversion':{'strategy':'None'}},'status':{'conditions':[{'lastTransitionTime':'TIME"
		"','message':'no conflicts found','reason':'NoConflicts','status':'True','type':'NamesAccepted'},{'la"
		"stTransitionTime':'TIME','message':'the initial names have been accepted','reason':'InitialNamesAcce"
		"pted','status':'True','type':'Established'}],'acceptedNames':{'plural':'t','kind':'T','singular':'s'"
		",'listKind':'L'},'storedVersions':['v1']}}");
	WRITTEN("words", "t.e.f", "{\"spec\":{\"group\":\"e.f\",\"scope\":\"Cluster\",\"names\":{\"plural\":\"t\",\"kind\":\"T\",\"singular\":\"x\",\"listKind\":\"Y\"},"
		"\"versions\":[" VERSION("v1", "false") "," VERSION("v2", "true") "]}}",
		"ok {'spec':{'group':'e.f','scope':'Cluster','names':{'plural':'t','kind':'T','singular':'x','listKin"
		"d':'Y'},'versions':[{'name':'v1','served':true,'storage':false,'schema':{'openAPIV3Schema':{'type':'"
		"object'}}},{'name':'v2','served':true,'storage':true,'schema':{'openAPIV3Schema':{'type':'object'}}}"
		"],'conversion':{'strategy':'None'}},'status':{'conditions':[{'lastTransitionTime':'TIME','message':'"
		"no conflicts found','reason':'NoConflicts','status':'True','type':'NamesAccepted'},{'lastTransitionT"
		"ime':'TIME','message':'the initial names have been accepted','reason':'InitialNamesAccepted','status"
		"':'True','type':'Established'}],'acceptedNames':{'plural':'t','kind':'T','singular':'x','listKind':'"
		"Y'},'storedVersions':['v1','v2']}}");
	WRITTEN("words", "t.e.f", "{\"spec\":{\"group\":\"e.f\",\"scope\":\"Cluster\",\"names\":{\"plural\":\"t\",\"kind\":\"U\"},\"versions\":[" VERSION("v1", "false") ","
		VERSION("v2", "true") "]}}",
		"bad-document CustomResourceDefinition 't.e.f' is invalid: spec.names.kind: Invalid value: 'U': field is immutable");
	WRITTEN("words", "t.e.f", "{\"spec\":{\"group\":\"e.f\",\"scope\":\"Cluster\",\"names\":{\"plural\":\"t\",\"kind\":\"T\"},\"versions\":[" VERSION("v2", "true") "]}}",
		"bad-document CustomResourceDefinition 't.e.f' is invalid: status.storedVersions[0]: Invalid value: '"
		"v1': must appear in spec.versions");
	WRITTEN("words", "t.e.f", "{\"spec\":{\"group\":\"e.f\",\"scope\":\"Cluster\",\"names\":{\"plural\":\"t\",\"kind\":\"T\"},\"versions\":[" VERSION("v1", "false") ","
		VERSION("v2", "true") "]},\"status\":{\"storedVersions\":[\"v2\"]}}",
		"ok {'spec':{'group':'e.f','scope':'Cluster','names':{'plural':'t','kind':'T','singular':'t','listKin"
		"d':'TList'},'versions':[{'name':'v1','served':true,'storage':false,'schema':{'openAPIV3Schema':{'typ"
		"e':'object'}}},{'name':'v2','served':true,'storage':true,'schema':{'openAPIV3Schema':{'type':'object"
		"'}}}],'conversion':{'strategy':'None'}},'status':{'conditions':[{'lastTransitionTime':'TIME','messag"
		"e':'no conflicts found','reason':'NoConflicts','status':'True','type':'NamesAccepted'},{'lastTransit"
		"ionTime':'TIME','message':'the initial names have been accepted','reason':'InitialNamesAccepted','st"
		"atus':'True','type':'Established'}],'acceptedNames':{'plural':'t','kind':'T','singular':'t','listKin"
		"d':'TList'},'storedVersions':['v2']}}");
	WRITTEN("words", "t.e.f", "{\"spec\":{\"group\":\"e.f\",\"scope\":\"Cluster\",\"names\":{\"plural\":\"t\",\"kind\":\"T\"},\"versions\":[" VERSION("v2", "true")
		"]},\"status\":{\"storedVersions\":[]}}",
		"ok {'spec':{'group':'e.f','scope':'Cluster','names':{'plural':'t','kind':'T','singular':'t','listKin"
		"d':'TList'},'versions':[{'name':'v2','served':true,'storage':true,'schema':{'openAPIV3Schema':{'type"
		"':'object'}}}],'conversion':{'strategy':'None'}},'status':{'conditions':[{'lastTransitionTime':'TIME"
		"','message':'no conflicts found','reason':'NoConflicts','status':'True','type':'NamesAccepted'},{'la"
		"stTransitionTime':'TIME','message':'the initial names have been accepted','reason':'InitialNamesAcce"
		"pted','status':'True','type':'Established'}],'acceptedNames':{'plural':'t','kind':'T','singular':'t'"
		",'listKind':'TList'},'storedVersions':['v2']}}");
	WRITTEN("words", "t.e.f", "{\"spec\":{\"group\":\"e.f\",\"scope\":\"Cluster\",\"names\":{\"plural\":\"t\",\"kind\":\"T\"},\"versions\":[" VERSION("v2", "true")
		"]},\"status\":{\"storedVersions\":[\"v2\",\"v9\",7]}}",
		"bad-document CustomResourceDefinition 't.e.f' is invalid: [status.storedVersions[1]: Invalid value: "
		"'v9': must appear in spec.versions, status.storedVersions[2]: Invalid value: 7: must appear in spec."
		"versions]");
	is_int(sql_number("SELECT COUNT(*) FROM types WHERE group_name = 'e.f' AND version = 'v1' AND kind = 'T' AND plural = 't' AND singular = 's' AND "
		"NOT namespaced"), 1, "its type");
}

// ---- names in use

#define BOTH(plural, kind, more) SPEC("\"names\":{\"plural\":\"" plural "\",\"kind\":\"" kind "\"" more "}", "Cluster", VERSION("v1", "true"), "")

static void is_blocked(const char *reason, const char *path, const char *detail)
{
	const struct move_action *action = &here.action;

	if (!ok(action->n_blockers == 1, "one thing is in the way"))
		return;
	is_str(str_c(action->blockers[0].reason), reason, "by its reason");
	is_str(action->blockers[0].resource, path, "its path");
	is_str(action->blockers[0].detail, detail, "in words");
}

static void test_names(void)
{
	EXPECT(CREATED, "a tenant", PUT_TENANT, "names");
	WRITTEN("names", "firsts.example.com", BOTH("firsts", "First", ",\"singular\":\"first\",\"listKind\":\"FirstList\",\"shortNames\":[\"f1\",\"f2\"]"),
		"created {'spec':{'group':'example.com','scope':'Cluster','names':{'plural':'firsts','kind':'First','"
		"singular':'first','listKind':'FirstList','shortNames':['f1','f2']},'versions':[{'name':'v1','served'"
		":true,'storage':true,'schema':{'openAPIV3Schema':{'type':'object'}}}],'conversion':{'strategy':'None"
		"'}},'status':{'conditions':[{'lastTransitionTime':'TIME','message':'no conflicts found','reason':'No"
		"Conflicts','status':'True','type':'NamesAccepted'},{'lastTransitionTime':'TIME','message':'the initi"
		"al names have been accepted','reason':'InitialNamesAccepted','status':'True','type':'Established'}],"
		"'acceptedNames':{'plural':'firsts','kind':'First','singular':'first','listKind':'FirstList','shortNa"
		"mes':['f1','f2']},'storedVersions':['v1']}}");
	WRITTEN("names", "seconds.example.com", BOTH("seconds", "First", ""), "conflict 'First' is already in use by firsts.example.com: take another name");
	WRITTEN("names", "seconds.example.com", BOTH("seconds", "FirstList", ""), "conflict 'FirstList' is already in use by firsts.example.com: take another name");
	WRITTEN("names", "seconds.example.com", BOTH("seconds", "Second", ",\"listKind\":\"First\""), "conflict 'First' is already in use by firsts.example.com: take another name");
	WRITTEN("names", "seconds.example.com", BOTH("seconds", "Second", ",\"listKind\":\"FirstList\""), "conflict 'FirstList' is already in use by firsts.example.com: take another name");
	WRITTEN("names", "seconds.example.com", BOTH("seconds", "Second", ",\"singular\":\"first\""), "conflict 'first' is already in use by firsts.example.com: take another name");
	WRITTEN("names", "seconds.example.com", BOTH("seconds", "Second", ",\"singular\":\"firsts\""), "conflict 'firsts' is already in use by firsts.example.com: take another name");
	WRITTEN("names", "seconds.example.com", BOTH("seconds", "Second", ",\"singular\":\"f2\""), "conflict 'f2' is already in use by firsts.example.com: take another name");
	WRITTEN("names", "first.example.com", BOTH("first", "Second", ""), "conflict 'first' is already in use by firsts.example.com: take another name");
	WRITTEN("names", "f1.example.com", BOTH("f1", "Second", ""), "conflict 'f1' is already in use by firsts.example.com: take another name");
	WRITTEN("names", "seconds.example.com", BOTH("seconds", "Second", ",\"shortNames\":[\"s\",\"first\"]"), "conflict 'first' is already in use by firsts.example.com: take another name");
	WRITTEN("names", "seconds.example.com", BOTH("seconds", "Second", ",\"shortNames\":[\"firsts\",\"s\"]"), "conflict 'firsts' is already in use by firsts.example.com: take another name");
	WRITTEN("names", "seconds.example.com", BOTH("seconds", "Second", ",\"shortNames\":[\"s\",\"f1\"]"), "conflict 'f1' is already in use by firsts.example.com: take another name");
	// In another group, of another tenant, and of itself they are free.
	WRITTEN("names", "firsts.example.org", "{\"spec\":{\"group\":\"example.org\",\"scope\":\"Cluster\",\"names\":{\"plural\":\"firsts\",\"kind\":\"First\"},"
		"\"versions\":[" VERSION("v1", "true") "]}}",
		"created {'spec':{'group':'example.org','scope':'Cluster','names':{'plural':'firsts','kind':'First','"
		"singular':'first','listKind':'FirstList'},'versions':[{'name':'v1','served':true,'storage':true,'sch"
		"ema':{'openAPIV3Schema':{'type':'object'}}}],'conversion':{'strategy':'None'}},'status':{'conditions"
		"':[{'lastTransitionTime':'TIME','message':'no conflicts found','reason':'NoConflicts','status':'True"
		"','type':'NamesAccepted'},{'lastTransitionTime':'TIME','message':'the initial names have been accept"
		"ed','reason':'InitialNamesAccepted','status':'True','type':'Established'}],'acceptedNames':{'plural'"
		":'firsts','kind':'First','singular':'first','listKind':'FirstList'},'storedVersions':['v1']}}");
	EXPECT(CREATED, "another tenant", PUT_TENANT, "others");
	EXPECT(CREATED, "its own", PUT, "others", "seconds.example.com", .type = CRDS, .body = BOTH("seconds", "First", ",\"shortNames\":[\"f1\"]"));
	EXPECT(OK, "itself", PUT, "names", "firsts.example.com", .type = CRDS, .body = BOTH("firsts", "First", ",\"shortNames\":[\"f1\",\"f3\"]"));
	// Whichever way it comes.
	EXPECT(BLOCKED, "a move of it", MOVE, "others", "seconds.example.com", "names", .type = CRDS);
	is_blocked("name-taken", "customresourcedefinitions/seconds.example.com", "\"First\" is in use there by firsts.example.com: delete or move one of them");
	EXPECT(BLOCKED, "the other way", MOVE, "names", NULL, "others", .type = CRDS);
	is_blocked("name-taken", "customresourcedefinitions/firsts.example.com", "\"First\" is in use there by seconds.example.com: delete or move one of them");
	EXPECT(OK, "without the kind", PUT, "others", "seconds.example.com", .type = CRDS, .body = BOTH("seconds", "First", ",\"shortNames\":[\"f3\"]"));
	EXPECT(NO_CONTENT, "it is deleted", DELETE, "names", "firsts.example.com", .type = CRDS);
	EXPECT(SEE_OTHER, "then the other may come", MOVE, "others", "seconds.example.com", "names", .type = CRDS);
	EXPECT(CONFLICT, "and the first may not come back", RECOVER, "names", "firsts.example.com", .type = CRDS);
	is_str(here.registry->problem->detail, "\"First\" is already in use by seconds.example.com: take another name", "in words");
	EXPECT(NO_CONTENT, "until that one goes", DELETE, "names", "seconds.example.com", .type = CRDS);
	EXPECT(NO_CONTENT, "and then it may", RECOVER, "names", "firsts.example.com", .type = CRDS);
	// To the system's space nothing comes that would be shared at once.
	EXPECT(CREATED, "one with a range", PUT, "others", "thirds.example.com", .type = CRDS,
		.body = SPEC("\"names\":{\"plural\":\"thirds\",\"kind\":\"Third\"}", "Cluster", VERSION("v1", "true"), ",\"applicableRange\":[\"*\"]"));
	EXPECT(BLOCKED, "to the system", MOVE, "others", "thirds.example.com", TENANT_SYSTEM, .type = CRDS);
	is_blocked("type-shared", "customresourcedefinitions/thirds.example.com",
		"there it would be shared with other tenants: take its range, or the label that forces it, away first");
	EXPECT(SEE_OTHER, "to another tenant", MOVE, "others", "thirds.example.com", "names", .type = CRDS);
	EXPECT(OK, "with the label instead", PUT, "names", "thirds.example.com", .type = CRDS, .meta = FORCED, .body = BOTH("thirds", "Third", ""));
	EXPECT(BLOCKED, "to the system", MOVE, "names", "thirds.example.com", TENANT_SYSTEM, .type = CRDS);
	EXPECT(OK, "with neither", PUT, "names", "thirds.example.com", .type = CRDS, .body = BOTH("thirds", "Third", ""));
	EXPECT(SEE_OTHER, "to the system", MOVE, "names", "thirds.example.com", TENANT_SYSTEM, .type = CRDS);
	EXPECT(SEE_OTHER, "back", MOVE, TENANT_SYSTEM, "thirds.example.com", "names", .type = CRDS);
}

int main(void)
{
	fixture_start();
	test_rules();
	test_rules_of_before();
	test_scale_of_before();
	test_read();
	test_range_rules();
	test_words_of_spec();
	test_words_of_names();
	test_words_of_conversion();
	test_words_of_what_stays();
	test_words_of_stored_versions();
	test_names();
	return fixture_end();
}

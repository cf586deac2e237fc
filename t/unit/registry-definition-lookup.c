// SPDX-License-Identifier: Apache-2.0
// Which definition answers for a tenant, why, and under which name; what the built-in ones say; what a change of sharing or of
// policy does to whom; and what becomes of a type's resources in a move.
#include "base/base.h"

#include "definition-texts.h"
#include "registry-fixture.h"
#include "registry/crd/effect.h"
#include "registry/type/definition.h"
#include "types/common/parts.h"

static void begin(void)
{
	struct uuid id = uuid_new();

	registry_begin(here.registry, here.pool, &id, STR("tester"), &here.problem);
}

// ---- the built-in ones

static void add_texts(struct buf *text, const struct str *list, size_t n)
{
	for (size_t i = 0; i < n; i++)
		buf_addf(text, "%s%.*s", i > 0 ? "," : "", STR_ARG(list[i]));
	buf_addc(text, ';');
}

// Everything but the schema, on one line.
static void add_definition(struct buf *text, const struct definition *d)
{
	buf_addf(text, "%.*s/%.*s %.*s %.*s %.*s ", STR_ARG(d->type->group), STR_ARG(d->type->plural), STR_ARG(d->kind), STR_ARG(d->singular),
		STR_ARG(d->owner));
	add_texts(text, d->short_names, d->n_short_names);
	add_texts(text, d->categories, d->n_categories);
	buf_addf(text, " scope %d verbs %x %x%s%s%s%s", (int)d->scope, d->verbs, d->tenant_verbs, d->builtin ? " builtin" : "", d->stored ? " stored" : "",
		type_parts(d->type)->merge != NULL ? " strategic" : "", d->system_only ? " system-only" : "");
	for (size_t i = 0; i < d->n_versions; i++)
		buf_addf(text, " %.*s%s%s%s", STR_ARG(d->versions[i].name), d->versions[i].served ? "+served" : "", d->versions[i].storage ? "+storage" : "",
			d->versions[i].has_status ? "+status" : "");
	buf_addc(text, '\n');
}

static struct str all_of(const char *tenant)
{
	const struct definition *const *list;
	struct buf text = buf_new(here.pool, 4096);
	size_t n;

	begin();
	if (definition_list(here.registry, str_c(tenant), &list, &n) != OUTCOME_OK)
		return STR("(no list)");
	for (size_t i = 0; i < n; i++)
		add_definition(&text, list[i]);
	return buf_str(&text);
}

static struct str plurals_of(const char *tenant)
{
	const struct definition *const *list;
	struct buf text = buf_new(here.pool, 4096);
	size_t n;

	begin();
	if (definition_list(here.registry, str_c(tenant), &list, &n) != OUTCOME_OK)
		return STR("(no list)");
	for (size_t i = 0; i < n; i++)
		buf_addf(&text, "%.*s.%.*s(%.*s) ", STR_ARG(list[i]->type->plural), STR_ARG(list[i]->type->group), STR_ARG(list[i]->owner));
	return buf_str(&text);
}

// ---- one of them

static struct str found(const char *tenant, const char *group, const char *plural)
{
	const struct definition *d = NULL;
	struct definition_reason reason = { .rule = "(none told)" };

	begin();
	enum outcome outcome = definition_find(here.registry, str_c(tenant), str_c(group), str_c(plural), &d, &reason);
	return str_printf(here.pool, "%s%s%.*s by %s, policy %s, own %d, shared %d, in range %d: %.*s", outcome_name(outcome), d != NULL ? " of " : "",
		STR_ARG(d != NULL ? d->owner : STR("")), reason.rule, reason.policy != NULL ? reason.policy : "-", reason.own != NULL, reason.shared != NULL,
		reason.in_range, STR_ARG(reason.detail));
}

static struct str named(const char *tenant, const char *name)
{
	const struct definition *d = NULL;

	begin();
	enum outcome outcome = definition_named(here.registry, str_c(tenant), str_c(name), &d);
	if (outcome != OUTCOME_OK)
		return str_printf(here.pool, "%s: %.*s", outcome_name(outcome), STR_ARG(here.registry->problem->detail));
	struct str type = type_name(here.pool, d->type);
	return str_printf(here.pool, "%.*s of %.*s", STR_ARG(type), STR_ARG(d->owner));
}

#define ORG(plural, kind) \
	"{\"spec\":{\"group\":\"example.org\",\"scope\":\"Cluster\",\"names\":{\"plural\":\"" plural "\",\"kind\":\"" kind "\"}," \
	"\"versions\":[{\"name\":\"v1\",\"served\":true,\"storage\":true,\"schema\":{\"openAPIV3Schema\":{\"type\":\"object\"}}}]}}"
#define GADGETS CRD("gadgets", "Gadget", "Cluster", SCHEMA(SMALL), "")

static enum outcome set_policy(void *arg, const struct tenant *current, struct tenant_content *content)
{
	UNUSED(current);
	*content = (struct tenant_content){ .object = str_printf(here.pool, "{\"spec\":{\"multiTenancyCRDPolicy\":\"%s\"}}", (const char *)arg) };
	return OUTCOME_OK;
}

static const char *policy_of;

static enum db_verdict run_policy(void *arg)
{
	const struct tenant_edit edit = { set_policy, arg };

	coherence_begin(here.registry);
	return tenant_patch(here.registry, str_c(policy_of), &edit, (struct guard){ 0 }, &here.tenant) == OUTCOME_OK ? DB_COMMIT : DB_ROLLBACK;
}

static void policy(const char *tenant, const char *name)
{
	char text[64];
	struct uuid id = uuid_new();

	(void)snprintf(text, sizeof(text), "%s", name);
	policy_of = tenant;
	registry_begin(here.registry, here.pool, &id, STR("tester"), &here.problem);
	ok(db_txn_run(here.db, DB_WRITE, &id, run_policy, text) == DB_OK && strcmp(here.tenant.policy, name) == 0, "%s: %s", tenant, name);
	coherence_committed(here.registry);
}

static void test_builtin(void)
{
	is_str(all_of(TENANT_SYSTEM),
		"/configmaps ConfigMap configmap system cm;; scope 0 verbs ff ff builtin stored strategic v1+served+st"
		"orage\n"
		"/events Event event system ev;; scope 0 verbs 83 83 builtin v1+served+storage\n"
		"/namespaces Namespace namespace system ns;; scope 1 verbs bf bf builtin stored strategic v1+served+st"
		"orage+status\n"
		"/nodes Node node system no;; scope 2 verbs ff 0 builtin stored strategic system-only v1+served+stora"
		"ge+status\n"
		"/persistentvolumes PersistentVolume persistentvolume system pv;; scope 1 verbs ff ff builtin stored s"
		"trategic v1+served+storage+status\n"
		"/pods Pod pod system po;all; scope 0 verbs ff ff builtin stored strategic v1+served+storage+status\n"
		"/secrets Secret secret system ;; scope 0 verbs ff ff builtin stored strategic v1+served+storage\n"
		"/serviceaccounts ServiceAccount serviceaccount system sa;; scope 0 verbs ff ff builtin stored strateg"
		"ic v1+served+storage\n"
		"/services Service service system svc;all; scope 0 verbs ff ff builtin stored strategic v1+served+stor"
		"age+status\n"
		"/tenants Tenant tenant system ;; scope 2 verbs bf 9b builtin strategic v1+served+storage+status\n"
		"apiextensions.k8s.io/customresourcedefinitions CustomResourceDefinition customresourcedefinition syst"
		"em crd,crds;; scope 1 verbs ff ff builtin stored strategic v1+served+storage+status v1beta1+served+st"
		"atus\n"
		"apps/daemonsets DaemonSet daemonset system ds;all; scope 0 verbs ff 0 builtin stored strategic syste"
		"m-only v1+served+storage+status\n"
		"baremetal.openstack.org/allocations Allocation allocation system ;; scope 1 verbs ff ff builtin stored v1+served+"
		"storage\n"
		"baremetal.openstack.org/chassis Chassis chassis system ;; scope 1 verbs ff ff builtin stored v1+serve"
		"d+storage\n"
		"baremetal.openstack.org/deploytemplates DeployTemplate deploytemplate system ;; scope 1 verbs ff ff b"
		"uiltin stored v1+served+storage\n"
		"baremetal.openstack.org/nodes Node node system ;; scope 1 verbs ff ff builtin stored v1+served+storag"
		"e\n"
		"baremetal.openstack.org/portgroups PortGroup portgroup system ;; scope 1 verbs ff ff builtin stored v"
		"1+served+storage\n"
		"baremetal.openstack.org/ports Port port system ;; scope 1 verbs ff ff builtin stored v1+served+storag"
		"e\n"
		"baremetal.openstack.org/volumeconnectors VolumeConnector volumeconnector system ;; scope 1 verbs ff f"
		"f builtin stored v1+served+storage\n"
		"baremetal.openstack.org/volumetargets VolumeTarget volumetarget system ;; scope 1 verbs ff ff builtin"
		" stored v1+served+storage\n"
		"placement.openstack.org/resourceproviders ResourceProvider resourceprovider system ;; scope 1 verbs f"
		"f ff builtin stored v1+served+storage\n", "the system's");
	is_str(plurals_of("a"),
		"configmaps.(system) events.(system) namespaces.(system) persistentvolumes.(system) pods.(system) secr"
		"ets.(system) serviceaccounts.(system) services.(system) tenants.(system) customresourcedefinitions.ap"
		"iextensions.k8s.io(system) "
		"allocations.baremetal.openstack.org(system) chassis.baremetal.openstack.org(system) deploytemplates.baremetal.openstac"
		"k.org(system) nodes.baremetal.openstack.org(system) portgroups.baremetal.openstack.org(system) ports."
		"baremetal.openstack.org(system) volumeconnectors.baremetal.openstack.org(system) volumetargets.bareme"
		"tal.openstack.org(system) resourceproviders.placement.openstack.org(system) ", "a tenant's");
	is_str(plurals_of("none"),
		"configmaps.(system) events.(system) namespaces.(system) persistentvolumes.(system) pods.(system) secr"
		"ets.(system) serviceaccounts.(system) services.(system) tenants.(system) customresourcedefinitions.ap"
		"iextensions.k8s.io(system) "
		"allocations.baremetal.openstack.org(system) chassis.baremetal.openstack.org(system) deploytemplates.baremetal.openstac"
		"k.org(system) nodes.baremetal.openstack.org(system) portgroups.baremetal.openstack.org(system) ports."
		"baremetal.openstack.org(system) volumeconnectors.baremetal.openstack.org(system) volumetargets.bareme"
		"tal.openstack.org(system) resourceproviders.placement.openstack.org(system) ", "of a tenant that is not there");
}

static void test_builtin_decision(void)
{
	is_str(found("a", "", "pods"), "ok of system by built-in, policy -, own 0, shared 0, in range 0: it comes with the service", "a built-in one");
	is_str(found("a", "", "nodes"),
		"not-found by system-only, policy -, own 0, shared 0, in range 0: it is for the system's own space", "one of the system's space");
	is_str(found(TENANT_SYSTEM, "", "nodes"), "ok of system by built-in, policy -, own 0, shared 0, in range 0: it comes with the service", "there");
	is_str(found("a", "apps", "daemonsets"),
		"not-found by system-only, policy -, own 0, shared 0, in range 0: it is for the system's own space", "of a group");
	is_str(found("a", "example.com", "gadgets"),
		"not-found by none, policy LocalCRDFirst, own 0, shared 0, in range 0: nobody that the tenant could h"
		"ave it from defines it", "none");
	is_str(found("none", "example.com", "gadgets"), "not-found by built-in, policy -, own 0, shared 0, in range 0: it comes with the service", "of no tenant");
	is_str(found("none", "", "pods"), "ok of system by built-in, policy -, own 0, shared 0, in range 0: it comes with the service", "built-in ones are everybody's");
}

// By the names that the tenancy dialect takes.
static void test_builtin_names(void)
{
	static const char *const names[] = { "nodes", "nodes.core", "nodes.baremetal.openstack.org", "pods", "pods.core", "pods.", "daemonsets",
		"daemonsets.apps", "tenants", "tenants.core", "events", "events.core", "gadgets", "gadgets.example.com", "gadgets.g", "", ".", "resourceproviders" };
	struct buf text = buf_new(here.pool, 1024);
	for (size_t i = 0; i < COUNT_OF(names); i++) {
		struct str now = named("a", names[i]);
		buf_addf(&text, "%s: %.*s; ", names[i], STR_ARG(now));
		if (names[i][0] == 'n' || names[i][0] == 'd' || names[i][0] == 't' || names[i][0] == 'e') {
			struct str of_system = named(TENANT_SYSTEM, names[i]);
			buf_addf(&text, "system: %.*s\n", STR_ARG(of_system));
		} else {
			buf_addc(&text, '\n');
		}
	}
	is_str(buf_str(&text),
		"nodes: nodes of system; system: nodes of system\n"
		"nodes.core: not-found: there is no type of resource called \"nodes\"; system: nodes.core of system\n"
		"nodes.baremetal.openstack.org: nodes of system; system: nodes of system\n"
		"pods: pods of system; \n"
		"pods.core: pods of system; \n"
		"pods.: pods of system; \n"
		"daemonsets: not-found: there is no type of resource called \"daemonsets\"; system: daemonsets of system\n"
		"daemonsets.apps: not-found: there is no type of resource called \"daemonsets.apps\"; system: daemons"
		"ets of system\n"
		"tenants: not-found: there is no type of resource called \"tenants\"; system: not-found: there is no "
		"type of resource called \"tenants\"\n"
		"tenants.core: not-found: there is no type of resource called \"tenants.core\"; system: not-found: th"
		"ere is no type of resource called \"tenants.core\"\n"
		"events: not-found: there is no type of resource called \"events\"; system: not-found: there is no ty"
		"pe of resource called \"events\"\n"
		"events.core: not-found: there is no type of resource called \"events.core\"; system: not-found: ther"
		"e is no type of resource called \"events.core\"\n"
		"gadgets: not-found: there is no type of resource called \"gadgets\"; \n"
		"gadgets.example.com: not-found: there is no type of resource called \"gadgets.example.com\"; \n"
		"gadgets.g: not-found: there is no type of resource called \"gadgets.g\"; \n"
		": not-found: there is no type of resource called \"\"; \n"
		".: not-found: there is no type of resource called \"\"; \n"
		"resourceproviders: resourceproviders of system; \n", "by one name");
}

// Who answers, by the policy of a tenant without (own 0) and with (own 1) a definition of its own, and by what the system's says.
static const char decisions[] =
	"own 0, not shared: not-found by none, policy LocalCRDFirst, own 0, shared 1, in range 0: "
		"the tenant has none of its own, and is not in the range of the system's\n"
	"own 0, not shared: not-found by none, policy SystemCRDFirst, own 0, shared 1, in range 0: "
		"the tenant has none of its own, and is not in the range of the system's\n"
	"own 0, not shared: not-found by none, policy NeverUseSystemCRDUnlessForced, own 0, shared 1, in range 0: "
		"the tenant has none of its own, and its policy lets none of the system's in\n"
	"own 0, for others: not-found by none, policy LocalCRDFirst, own 0, shared 1, in range 0: "
		"the tenant has none of its own, and is not in the range of the system's\n"
	"own 0, for others: not-found by none, policy SystemCRDFirst, own 0, shared 1, in range 0: "
		"the tenant has none of its own, and is not in the range of the system's\n"
	"own 0, for others: not-found by none, policy NeverUseSystemCRDUnlessForced, own 0, shared 1, in range 0: "
		"the tenant has none of its own, and its policy lets none of the system's in\n"
	"own 0, for it: ok of system by shared, policy LocalCRDFirst, own 0, shared 1, in range 1: "
		"the system's, whose range the tenant is in; it has none of its own\n"
	"own 0, for it: ok of system by shared, policy SystemCRDFirst, own 0, shared 1, in range 1: "
		"the system's, whose range the tenant is in: its policy has that come first\n"
	"own 0, for it: not-found by none, policy NeverUseSystemCRDUnlessForced, own 0, shared 1, in range 1: "
		"the tenant has none of its own, and its policy lets none of the system's in\n"
	"own 0, forced: ok of system by forced, policy LocalCRDFirst, own 0, shared 1, in range 0: "
		"the system's definition is forced on every tenant\n"
	"own 0, forced: ok of system by forced, policy SystemCRDFirst, own 0, shared 1, in range 0: "
		"the system's definition is forced on every tenant\n"
	"own 0, forced: ok of system by forced, policy NeverUseSystemCRDUnlessForced, own 0, shared 1, in range 0: "
		"the system's definition is forced on every tenant\n"
	"system: ok of system by own, policy LocalCRDFirst, own 1, shared 0, in range 0: the tenant's own\n"
	"own alone: ok of a by own, policy NeverUseSystemCRDUnlessForced, own 1, shared 0, in range 0: "
		"the tenant's own; its policy lets none of the system's in\n"
	"own 1, not shared: ok of a by own, policy LocalCRDFirst, own 1, shared 1, in range 0: the tenant's own\n"
	"own 1, not shared: ok of a by own, policy SystemCRDFirst, own 1, shared 1, in range 0: the tenant's own\n"
	"own 1, not shared: ok of a by own, policy NeverUseSystemCRDUnlessForced, own 1, shared 1, in range 0: "
		"the tenant's own; its policy lets none of the system's in\n"
	"own 1, for others: ok of a by own, policy LocalCRDFirst, own 1, shared 1, in range 0: the tenant's own\n"
	"own 1, for others: ok of a by own, policy SystemCRDFirst, own 1, shared 1, in range 0: the tenant's own\n"
	"own 1, for others: ok of a by own, policy NeverUseSystemCRDUnlessForced, own 1, shared 1, in range 0: "
		"the tenant's own; its policy lets none of the system's in\n"
	"own 1, for it: ok of a by own, policy LocalCRDFirst, own 1, shared 1, in range 1: the tenant's own\n"
	"own 1, for it: ok of system by shared, policy SystemCRDFirst, own 1, shared 1, in range 1: "
		"the system's, whose range the tenant is in: its policy has that come first\n"
	"own 1, for it: ok of a by own, policy NeverUseSystemCRDUnlessForced, own 1, shared 1, in range 1: "
		"the tenant's own; its policy lets none of the system's in\n"
	"own 1, forced: ok of system by forced, policy LocalCRDFirst, own 1, shared 1, in range 0: "
		"the system's definition is forced on every tenant\n"
	"own 1, forced: ok of system by forced, policy SystemCRDFirst, own 1, shared 1, in range 0: "
		"the system's definition is forced on every tenant\n"
	"own 1, forced: ok of system by forced, policy NeverUseSystemCRDUnlessForced, own 1, shared 1, in range 0: "
		"the system's definition is forced on every tenant\n"
	"system: ok of system by own, policy LocalCRDFirst, own 1, shared 0, in range 0: the tenant's own\n";

// Which definition serves a tenant, by its policy, its own definition, and what the system's says of it.
static void test_decision(void)
{
	static const char *const policies[] = { TYPE_POLICY_LOCAL, TYPE_POLICY_SYSTEM, TYPE_POLICY_NEVER };
	struct buf text = buf_new(here.pool, 4096);
	static const struct {
		const char *what, *body, *meta;
	} shared[] = {
		{ "not shared", SHARED("[]"), "{}" },
		{ "for others", SHARED("[\"tier=gold\"]"), "{}" },
		{ "for it", SHARED("[\"tier=tin\"]"), "{}" },
		{ "forced", SHARED("[]"), FORCED },
	};

	EXPECT(OK, "a tier", PUT_TENANT, "a", .meta = "{\"tier\":\"tin\"}");
	for (size_t own = 0; own < 2; own++) {
		if (own == 1) {
			EXPECT(NO_CONTENT, "the system's goes", DELETE, TENANT_SYSTEM, "gadgets.example.com", .type = CRDS);
			EXPECT(CREATED, "its own", PUT, "a", "gadgets.example.com", .type = CRDS, .body = GADGETS);
			struct str now = found("a", "example.com", "gadgets");
			buf_addf(&text, "own alone: %.*s\n", STR_ARG(now));
			EXPECT(NO_CONTENT, "the system's is back", RECOVER, TENANT_SYSTEM, "gadgets.example.com", .type = CRDS);
		}
		for (size_t i = 0; i < COUNT_OF(shared); i++) {
			is_outcome(DO(PUT, TENANT_SYSTEM, "gadgets.example.com", .type = CRDS, .body = shared[i].body, .meta = shared[i].meta),
				own == 0 && i == 0 ? OUTCOME_CREATED : OUTCOME_OK, shared[i].what);
			for (size_t k = 0; k < COUNT_OF(policies); k++) {
				policy("a", policies[k]);
				struct str now = found("a", "example.com", "gadgets");
				buf_addf(&text, "own %zu, %s: %.*s\n", own, shared[i].what, STR_ARG(now));
			}
		}
		struct str of_system = found(TENANT_SYSTEM, "example.com", "gadgets");
		buf_addf(&text, "system: %.*s\n", STR_ARG(of_system));
	}
	is_str(buf_str(&text), decisions, "who answers");
}

// The types that this tenant has, another one, and the system.
static void test_types_of_each(void)
{
	is_str(plurals_of("a"),
		"configmaps.(system) events.(system) namespaces.(system) persistentvolumes.(system) pods.(system) secr"
		"ets.(system) serviceaccounts.(system) services.(system) tenants.(system) customresourcedefinitions.ap"
		"iextensions.k8s.io(system) "
		"allocations.baremetal.openstack.org(system) chassis.baremetal.openstack.org(system) deploytemplates.baremetal.openstac"
		"k.org(system) nodes.baremetal.openstack.org(system) portgroups.baremetal.openstack.org(system) ports."
		"baremetal.openstack.org(system) volumeconnectors.baremetal.openstack.org(system) volumetargets.bareme"
		"tal.openstack.org(system) gadgets.example.com(system) resourceproviders.placement.openstack.org(syste"
		"m) ", "a tenant's");
	is_str(plurals_of("b"),
		"configmaps.(system) events.(system) namespaces.(system) persistentvolumes.(system) pods.(system) secr"
		"ets.(system) serviceaccounts.(system) services.(system) tenants.(system) customresourcedefinitions.ap"
		"iextensions.k8s.io(system) "
		"allocations.baremetal.openstack.org(system) chassis.baremetal.openstack.org(system) deploytemplates.baremetal.openstac"
		"k.org(system) nodes.baremetal.openstack.org(system) portgroups.baremetal.openstack.org(system) ports."
		"baremetal.openstack.org(system) volumeconnectors.baremetal.openstack.org(system) volumetargets.bareme"
		"tal.openstack.org(system) gadgets.example.com(system) resourceproviders.placement.openstack.org(syste"
		"m) ", "another's");
	is_str(plurals_of(TENANT_SYSTEM),
		"configmaps.(system) events.(system) namespaces.(system) nodes.(system) persistentvolumes.(system) pod"
		"s.(system) secrets.(system) serviceaccounts.(system) services.(system) tenants.(system) customresourc"
		"edefinitions.apiextensions.k8s.io(system) daemonsets.apps(system) "
		"allocations.baremetal.openstack.org(system) chassis.baremetal.openstack.org(sys"
		"tem) deploytemplates.baremetal.openstack.org(system) nodes.baremetal.openstack.org(system) portgroups"
		".baremetal.openstack.org(system) ports.baremetal.openstack.org(system) volumeconnectors.baremetal.ope"
		"nstack.org(system) volumetargets.baremetal.openstack.org(system) gadgets.example.com(system) resource"
		"providers.placement.openstack.org(system) ", "the system's");
}

static void test_names(void)
{
	EXPECT(CREATED, "what is no definition", PUT, "a", "trinkets.example.com", .body = CRD("trinkets", "Trinket", "Cluster", SCHEMA(SMALL), ""));
	is_str(found("a", "example.com", "trinkets"), "not-found by none, policy NeverUseSystemCRDUnlessForced, own 0, shared 0, in range 0: the tenant "
		"has none of its own, and its policy lets none of the system's in", "defines nothing");
	EXPECT(BAD_DOCUMENT, "metadata that are too deep", PUT, "b", "cogs.example.org", .type = CRDS, .body = ORG("cogs", "Cog"),
		.meta = "{\"a\":{\"a\":{\"a\":{\"a\":{\"a\":{\"a\":{\"a\":{\"a\":{\"a\":{\"a\":{\"a\":{\"a\":{\"a\":{\"a\":{\"a\":{\"a\":{\"a\":"
			"{\"a\":{\"a\":{\"a\":{\"a\":{\"a\":{\"a\":{\"a\":{\"a\":{\"a\":{\"a\":{\"a\":{\"a\":{\"a\":{\"a\":{\"a\":{\"a\":{}"
			"}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}");
	is_str(named("a", "gadgets"), "gadgets.example.com of system", "by its plural");
	EXPECT(CREATED, "one of another group", PUT, "a", "gadgets.example.org", .type = CRDS, .body = ORG("gadgets", "Gadget"));
	is_str(named("a", "gadgets"),
		"not-found: several groups have a type called \"gadgets\": put a dot and the group behind it", "of two groups");
	is_str(named("a", "gadgets.example.org"), "gadgets.example.org of a", "by group");
	is_str(named("a", "gadgets.example.com"), "gadgets.example.com of system", "by the other");
	is_str(named("b", "gadgets"), "gadgets.example.com of system", "of one");
	EXPECT(CREATED, "one that is called like a built-in one", PUT, "a", "pods.example.org", .type = CRDS, .body = ORG("pods", "Pod"));
	is_str(named("a", "pods"), "pods of system", "the built-in one comes first");
	is_str(named("a", "pods.example.org"), "pods.example.org of a", "unless its group is told");
	EXPECT(NO_CONTENT, "away", DELETE, "a", "gadgets.example.org", .type = CRDS);
	const struct definition *d = NULL;
	EXPECT(OK, "two versions, of which one is not served", PUT, "a", "gadgets.example.com", .type = CRDS,
		.body = "{\"spec\":{\"group\":\"example.com\",\"scope\":\"Cluster\",\"names\":{\"plural\":\"gadgets\",\"kind\":\"Gadget\"},\"versions\":["
			"{\"name\":\"v2\",\"served\":false,\"storage\":false,\"schema\":{\"openAPIV3Schema\":{\"type\":\"object\"}}},"
			"{\"name\":\"v1\",\"served\":true,\"storage\":true,\"schema\":{\"openAPIV3Schema\":{\"type\":\"object\"}}}]}}");
	EXPECT(OK, "not forced", PUT, TENANT_SYSTEM, "gadgets.example.com", .type = CRDS, .body = SHARED("[]"));
	policy("a", TYPE_POLICY_LOCAL);
	begin();
	if (!ok(definition_find(here.registry, STR("a"), STR("example.com"), STR("gadgets"), &d, NULL) == OUTCOME_OK && d->n_versions == 2, "both"))
		return;
	ok(definition_version(d, STR("v2")) == NULL && definition_version(d, STR("v1")) == definition_storage(d), "one is served, and stored");
	is_str(definition_storage(d)->name, "v1", "by its name");
}

// ---- what a change does

static struct definition_survey *survey;
static const char *of_tenant, *of_group, *of_plural, *marker;
static size_t limit;
static struct str effects_told;

static void survey_begin(void)
{
	enum outcome outcome = definition_survey_begin(here.registry, str_c(of_tenant), of_plural != NULL ? str_c(of_group) : STR_NONE,
		of_plural != NULL ? str_c(of_plural) : STR_NONE, &survey);

	ok(outcome == OUTCOME_OK, "before");
}

static void survey_end(void)
{
	struct definition_effects effects;
	struct buf text = buf_new(here.pool, 1024);
	enum outcome outcome = definition_survey_end(here.registry, survey, str_c(marker), limit, &effects);

	ok(outcome == OUTCOME_OK, "after");
	for (size_t i = 0; outcome == OUTCOME_OK && i < effects.n; i++) {
		const struct definition_effect *e = &effects.list[i];
		struct str type = type_name(here.pool, e->type);
		buf_addf(&text, "%.*s %.*s from %.*s to %.*s, %llu objects; ", STR_ARG(e->tenant), STR_ARG(type),
			STR_ARG(e->from != NULL ? e->from->owner : STR("-")), STR_ARG(e->to != NULL ? e->to->owner : STR("-")), (unsigned long long)e->objects);
	}
	if (effects.next.p != NULL)
		buf_addf(&text, "next %.*s", STR_ARG(effects.next));
	effects_told = buf_str(&text);
}

#define SURVEYED(tenant, group, plural, from, most, ...)                                                  \
	do {                                                                                                      \
		of_tenant = tenant, of_group = group, of_plural = plural, marker = from, limit = most;            \
		is_outcome(DO(__VA_ARGS__, .at_start = survey_begin, .before_commit = survey_end), OUTCOME_OK, "the change"); \
	} while (0)
#undef OP
#define OP(...) ((struct op){ __VA_ARGS__, .match_action = NULL })
#define GADGETS_OF(range) PUT, TENANT_SYSTEM, "gadgets.example.com", .type = CRDS, .body = SHARED(range)

static void test_effects(void)
{
	EXPECT(CREATED, "more tenants", PUT_TENANT, "c", .meta = "{\"tier\":\"gold\"}");
	EXPECT(CREATED, "more tenants", PUT_TENANT, "d", .meta = "{\"tier\":\"gold\"}");
	EXPECT(CREATED, "one that is deleted", PUT_TENANT, "e", .meta = "{\"tier\":\"gold\"}");
	EXPECT(NO_CONTENT, "one that is deleted", DELETE_TENANT, "e");
	SURVEYED(TENANT_SYSTEM, "example.com", "gadgets", "", 10, GADGETS_OF("[\"tier=gold\"]"));
	is_str(effects_told,
		"c gadgets.example.com from - to system, 0 objects; "
		"d gadgets.example.com from - to system, 0 objects; ", "those in the range");
	EXPECT(CREATED, "an object", PUT, "c", "g1", .type = "gadgets.example.com", .body = "{\"spec\":{\"size\":1}}");
	EXPECT(CREATED, "a second", PUT, "c", "g2", .type = "gadgets.example.com", .body = "{\"spec\":{\"size\":1}}");
	EXPECT(NO_CONTENT, "of which one goes", DELETE, "c", "g2", .type = "gadgets.example.com");
	EXPECT(CREATED, "another's", PUT, "d", "g1", .type = "gadgets.example.com", .body = "{\"spec\":{\"size\":1}}");
	EXPECT(CREATED, "another's", PUT, "d", "g2", .type = "gadgets.example.com", .body = "{\"spec\":{\"size\":1}}");
	SURVEYED(TENANT_SYSTEM, "example.com", "gadgets", "", 1, GADGETS_OF("[\"tier=tin\"]"));
	is_str(effects_told, "c gadgets.example.com from system to -, 1 objects; next c", "the first of them");
	EXPECT(OK, "as before", GADGETS_OF("[\"tier=gold\"]"));
	SURVEYED(TENANT_SYSTEM, "example.com", "gadgets", "c", 1, GADGETS_OF("[\"tier=tin\"]"));
	is_str(effects_told, "d gadgets.example.com from system to -, 2 objects; next d", "the next");
	SURVEYED(TENANT_SYSTEM, "example.com", "gadgets", "", 10, GADGETS_OF("[\"*\"]"));
	is_str(effects_told,
		"b gadgets.example.com from - to system, 0 objects; "
		"c gadgets.example.com from - to system, 1 objects; "
		"d gadgets.example.com from - to system, 2 objects; ", "everybody but who has an own one");
	SURVEYED(TENANT_SYSTEM, "example.com", "gadgets", "", 10, PUT, TENANT_SYSTEM, "gadgets.example.com", .type = CRDS, .body = SHARED("[]"), .meta = FORCED);
	is_str(effects_told, "a gadgets.example.com from a to system, 0 objects; ", "forced");
	SURVEYED("c", "", NULL, "", 10, PUT_TENANT, "c", .meta = "{\"tier\":\"tin\"}");
	is_str(effects_told, "", "a forced one is everybody's");
	SURVEYED(TENANT_SYSTEM, "example.com", "gadgets", "", 10, GADGETS_OF("[\"tier=gold\"]"));
	is_str(effects_told,
		"a gadgets.example.com from system to a, 0 objects; "
		"b gadgets.example.com from system to -, 0 objects; "
		"c gadgets.example.com from system to -, 1 objects; ", "no more");
	SURVEYED("c", "", NULL, "", 10, PUT_TENANT, "c", .meta = "{\"tier\":\"gold\"}");
	is_str(effects_told, "c gadgets.example.com from - to system, 1 objects; ", "in the range again");
	SURVEYED("c", "", NULL, "", 10, PUT_TENANT, "c", .meta = "{\"tier\":\"gold\",\"x\":\"y\"}");
	is_str(effects_told, "", "nothing");
	SURVEYED("d", "example.com", "gadgets", "", 10, PUT_TENANT, "d", .meta = "{}");
	is_str(effects_told, "d gadgets.example.com from system to -, 2 objects; ", "out of it");
	EXPECT(OK, "in again", PUT_TENANT, "d", .meta = "{\"tier\":\"gold\"}");
	// One look goes through 5,000 tenants, and tells the last of them.
	server_sql("INSERT INTO tenants (name, uid, tier_id, metadata, etag, revision, created_at, updated_at) SELECT CONCAT('m', LPAD(seq, 5, '0')), "
		"UNHEX(MD5(CONCAT('m', seq))), (SELECT tier_id FROM tenants WHERE name = 'a' AND live = 1), '{}', REPEAT('e', 64), 1, UTC_TIMESTAMP(6), "
		"UTC_TIMESTAMP(6) FROM seq_1_to_5001;");
	SURVEYED(TENANT_SYSTEM, "example.com", "gadgets", "m", 10, GADGETS_OF("[\"tier=gold\",\"tier=none\"]"));
	is_str(effects_told, "next m05000", "none of 5,000");
	SURVEYED(TENANT_SYSTEM, "example.com", "gadgets", "m05000", 10, GADGETS_OF("[\"tier=gold\"]"));
	is_str(effects_told, "", "nor of the rest");
	server_sql("DELETE FROM tenants WHERE name LIKE 'm0%';");
}

// ---- what becomes of a type in a move

static struct str in_the_way(const char *source, const char *path, const char *dest)
{
	struct buf text = buf_new(here.pool, 256);
	enum outcome outcome = path == NULL ? DO(PREVIEW, source, NULL, dest) : DO(PREVIEW, source, path, dest, .type = "gadgets.example.com");

	buf_addf(&text, "%s", outcome_name(outcome));
	for (size_t i = 0; i < here.action.n_blockers; i++)
		buf_addf(&text, "; %s %.*s", here.action.blockers[i].reason, STR_ARG(here.action.blockers[i].resource));
	return buf_str(&text);
}

// By another worker, of another host: this one does not learn of it at once.
static void policy_elsewhere(const char *tenant, const char *name)
{
	struct client mine = here;

	client_open(&here);
	policy(tenant, name);
	client_close(&here);
	here = mine;
}

static void test_moves(void)
{
	is_str(in_the_way("c", "g1", "b"), "ok; type-unavailable gadgets.example.com/g1", "to whom the range leaves out");
	is_str(in_the_way("c", "g1", "d"), "ok; name-taken gadgets.example.com/g1", "to whom it is shared, where the name is taken");
	EXPECT(NO_CONTENT, "it goes", DELETE, "d", "g1", .type = "gadgets.example.com");
	is_str(in_the_way("c", "g1", "d"), "ok", "where it is free");
	policy_elsewhere("d", TYPE_POLICY_NEVER);
	EXPECT(BLOCKED, "not where another worker has just ended that", MOVE, "c", "g1", .type = "gadgets.example.com", .dest = "d");
	policy_elsewhere("d", TYPE_POLICY_LOCAL);
	is_str(in_the_way("c", "g1", "a"), "ok; type-differs gadgets.example.com/g1", "to who has an own one");
	is_str(in_the_way("c", NULL, "b"), "ok; type-unavailable gadgets.example.com/g1", "all, to whom the range leaves out");
	is_str(in_the_way("c", NULL, "d"), "ok", "all");
	EXPECT(CREATED, "an object of the own one", PUT, "a", "own", .type = "gadgets.example.com");
	is_str(in_the_way("a", "own", "b"), "ok; type-unavailable gadgets.example.com/own", "alone, to who has none");
	is_str(in_the_way("a", "own", "c"), "ok; type-differs gadgets.example.com/own", "alone, to who has another");
	is_str(in_the_way("a", NULL, "b"), "ok", "with its definition");
	is_str(in_the_way("a", NULL, "c"), "ok", "with its definition, to who has another: its own comes first then");
	policy("c", TYPE_POLICY_SYSTEM);
	is_str(in_the_way("a", NULL, "c"), "ok; type-differs gadgets.example.com/own", "where the system's comes first");
	policy("c", TYPE_POLICY_LOCAL);
	EXPECT(NO_CONTENT, "the own one goes", DELETE, "a", "gadgets.example.com", .type = CRDS);
	is_str(in_the_way("a", NULL, "b"), "ok; type-unavailable gadgets.example.com/own", "what nobody defines any more");
	is_str(in_the_way("a", NULL, "c"), "ok", "to who has one of that name");
	EXPECT(CREATED, "of the system's space", PUT, TENANT_SYSTEM, "default/ds", .type = "daemonsets.apps");
	is_outcome(DO(PREVIEW, TENANT_SYSTEM, "default/ds", "a", .type = "daemonsets.apps"), OUTCOME_OK, "what is the system's alone");
	ok(here.action.n_blockers > 0 && strcmp(here.action.blockers[0].reason, "type-unavailable") == 0, "stays there");
	is_str(here.action.n_blockers > 0 ? here.action.blockers[0].detail : STR("the type is the operator's alone; its resources stay in the system's space"), "the type is the operator's alone; its resources stay in the system's space", "in words");
}

int main(void)
{
	fixture_start();
	EXPECT(CREATED, "a tenant", PUT_TENANT, "a");
	EXPECT(CREATED, "another", PUT_TENANT, "b");
	test_builtin();
	test_builtin_decision();
	test_builtin_names();
	test_decision();
	test_types_of_each();
	test_names();
	test_effects();
	test_moves();
	return fixture_end();
}

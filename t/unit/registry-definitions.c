// SPDX-License-Identifier: Apache-2.0
// Types that tenants define and the operator shares: which definition answers, what it makes of objects, what is left when
// it goes; moves between tenants of different types; finalizers; the change log's horizon.
#include "base/base.h"

#include <malloc.h>

#include "definition-texts.h"
#include "registry-fixture.h"
#include "registry/cache/coherence.h"
#include "registry/log/horizon.h"
#include "registry/registry.h"
#include "registry/tenant/tenant.h"

// Who answers for a type in a tenant: its owner, or "" for nobody; with the rule.
static void answers(struct client *client, const char *tenant, const char *plural, const char *owner, const char *rule)
{
	const struct definition *definition;
	struct definition_reason reason;
	struct uuid id = uuid_new();

	registry_begin(client->registry, client->pool, &id, STR("tester"), &client->problem);
	enum outcome outcome =
		definition_find(client->registry, str_c(tenant), STR("example.com"), str_c(plural), &definition, &reason);
	ok(outcome == (owner[0] != '\0' ? OUTCOME_OK : OUTCOME_NOT_FOUND), "%s in %s: %s", plural, tenant, outcome_name(outcome));
	is_str(outcome == OUTCOME_OK ? definition->owner : STR(""), owner, "%s in %s: whose", plural, tenant);
	is_str(str_c(reason.rule), rule, "%s in %s: by which rule", plural, tenant);
}
static bool is_defined(struct client *client, const char *tenant, const char *plural)
{
	const struct definition *definition;
	struct uuid id = uuid_new();

	registry_begin(client->registry, client->pool, &id, STR("tester"), &client->problem);
	return definition_find(client->registry, str_c(tenant), STR("example.com"), str_c(plural), &definition, NULL) == OUTCOME_OK;
}

#define ANSWERS(...) answers(&here, __VA_ARGS__)

typedef enum outcome list_function(struct registry *registry, struct str tenant, const struct definition *const **list, size_t *n);

static bool is_in(list_function *read_list, const char *tenant, const char *group, const char *plural)
{
	const struct definition *const *list;
	size_t n;
	struct uuid id = uuid_new();

	registry_begin(here.registry, here.pool, &id, STR("tester"), &here.problem);
	if (read_list(here.registry, str_c(tenant), &list, &n) != OUTCOME_OK)
		return false;
	for (size_t i = 0; i < n; i++) {
		if (str_eq_c(list[i]->type->group, group) && str_eq_c(list[i]->type->plural, plural))
			return true;
	}
	return false;
}

static bool listed(const char *tenant, const char *group, const char *plural)
{
	return is_in(definition_list, tenant, group, plural);
}

static bool announced(const char *tenant, const char *group, const char *plural)
{
	return is_in(definition_announced, tenant, group, plural);
}

static void test_builtin(void)
{
	const struct definition *definition;
	struct uuid id = uuid_new();

	EXPECT(CREATED, "a tenant", PUT_TENANT, "a");
	EXPECT(CREATED, "another", PUT_TENANT, "b");
	EXPECT(CREATED, "the system", PUT_TENANT, TENANT_SYSTEM);
	registry_begin(here.registry, here.pool, &id, STR("tester"), &here.problem);
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
	ok(announced("a", "", "pods") && announced("a", "", "nodes") && announced("none", "", "nodes"), "the cluster's nodes are announced to all");
	ok(!announced("a", "apps", "daemonsets") && announced(TENANT_SYSTEM, "apps", "daemonsets"), "daemon sets are not");
}

static void test_own(void)
{
	EXPECT(CREATED, "a definition", PUT, "a", WIDGETS, .type = CRDS, .body = WIDGET(SMALL));
	ANSWERS("a", "widgets", "a", "own");
	ANSWERS("b", "widgets", "", "none");
	ok(listed("a", "example.com", "widgets") && !listed("b", "example.com", "widgets"), "only one sees it");
	EXPECT(CREATED, "another's of the same name", PUT, "b", WIDGETS, .type = CRDS, .body = WIDGET("{\"type\":\"string\"}"));
	const struct definition *definition;
	ok(definition_find_for_all(here.registry, STR("example.com"), STR("widgets"), &definition) == OUTCOME_OK &&
			str_eq_c(definition->owner, "a"), "the older one shows the objects of all");
	ok(definition_find_for_all(here.registry, STR("example.com"), STR("gadgets"), &definition) == OUTCOME_NOT_FOUND,
		"what nobody defines is not there");
	EXPECT(CREATED, "an object", PUT, "a", "default/w1", .type = WIDGETS, .body = "{\"spec\":{\"size\":3,\"x\":1},\"y\":2}");
	is_str(here.resource.body, "{\"spec\":{\"size\":3,\"color\":\"red\"}}", "pruned, with its defaults");
	EXPECT(BAD_DOCUMENT, "not what the schema says", PUT, "a", "default/w2", .type = WIDGETS, .body = "{\"spec\":{\"size\":10}}");
	is_int((long long)here.registry->problem->n_causes, 1, "one cause");
	is_str(here.registry->problem->causes[0].subject, "spec.size", "its field");
	EXPECT(CREATED, "where it says otherwise", PUT, "b", "default/w1", .type = WIDGETS, .body = "{\"spec\":{\"size\":\"10\"}}");
	EXPECT(OK, "a change of the spec", PUT, "a", "default/w1", .type = WIDGETS, .body = "{\"spec\":{\"size\":4}}");
	is_int((long long)here.resource.generation, 2, "is a generation");
	EXPECT(OK, "one of the status", PUT, "a", "default/w1", .type = WIDGETS,
		.body = "{\"spec\":{\"size\":4},\"status\":{\"ready\":true}}");
	is_int((long long)here.resource.generation, 3, "is one, too, as the type has no subresource status");
	is_sound("own types");
}

static void test_refused(void)
{
	EXPECT(BAD_DOCUMENT, "without anything", PUT, "a", "things.example.com", .type = CRDS, .body = "{}");
	ok(here.registry->problem->n_causes >= 4, "all that is missing is told");
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

	coherence_begin(here.registry);
	return tenant_patch(here.registry, STR("a"), &edit, (struct guard){ 0 }, &here.tenant) == OUTCOME_OK ? DB_COMMIT :
													       DB_ROLLBACK;
}

static void policy(const char *name)
{
	char text[64];
	struct uuid id = uuid_new();

	(void)snprintf(text, sizeof(text), "%s", name);
	registry_begin(here.registry, here.pool, &id, STR("tester"), &here.problem);
	ok(db_txn_run(here.db, DB_WRITE, &id, run_policy, text) == DB_OK && strcmp(here.tenant.policy, name) == 0, "%s", name);
	coherence_committed(here.registry);
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
	struct client other; // another worker
	client_open(&other);
	answers(&other, "c", "widgets", "", "none");
	EXPECT(SEE_OTHER, "all, with its definition", MOVE, "a", .dest = "c");
	ANSWERS("c", "widgets", "c", "own");
	for (int i = 0; i < 100 && !is_defined(&other, "c", "widgets"); i++)
		(void)usleep(100000);
	answers(&other, "c", "widgets", "c", "own");
	client_close(&other);
	ANSWERS("a", "widgets", "", "none");
	EXPECT(OK, "and its object", GET, "c", "default/w1", .type = WIDGETS);
	ok(here.resource.changed > 1, "its last change");
	is_sound("moves");
}

// How many round trips looks at what is cached may have taken since then: twice a second one of them asks whether it is stale.
static uint64_t asked_since(int64_t begun_us)
{
	return 1 + (uint64_t)(clock_tick_us() - begun_us) / 500000;
}

// Another worker, under another master.
static void test_elsewhere(void)
{
	struct client other;

	client_open(&other);
	answers(&other, "c", "widgets", "c", "own");
	(void)is_defined(&other, "c", "widgets"); // the revision of the schema is known by now, and looked at once more
	int64_t begun_us = clock_tick_us();
	uint64_t trips = db_round_trips(other.db);
	answers(&other, "c", "widgets", "c", "own");
	ok(db_round_trips(other.db) - trips <= asked_since(begun_us), "held");
	EXPECT(NO_CONTENT, "gone", DELETE, "c", WIDGETS, .type = CRDS);
	(void)usleep(600000);
	answers(&other, "c", "widgets", "", "none");
	EXPECT(NO_CONTENT, "and back", RECOVER, "c", WIDGETS, .type = CRDS);
	(void)usleep(600000);
	answers(&other, "c", "widgets", "c", "own");
	client_close(&other);
}

// Round trips of looking a type up, at most; *defined: whether there is one.
static unsigned trips_of(struct client *client, const char *tenant, const char *plural, bool *defined)
{
	uint64_t before = db_round_trips(client->db);

	*defined = is_defined(client, tenant, plural);
	return (unsigned)(db_round_trips(client->db) - before);
}

static bool sees_all(struct client *client, const char *tenant)
{
	const struct definition *const *list;
	struct uuid id = uuid_new();
	size_t n, found = 0;

	registry_begin(client->registry, client->pool, &id, STR("tester"), &client->problem);
	if (definition_list(client->registry, str_c(tenant), &list, &n) != OUTCOME_OK)
		return false;
	for (size_t i = 0; i < n; i++)
		found += str_eq_c(list[i]->type->group, "example.com") && str_eq_c(list[i]->owner, tenant);
	return found == 2;
}

// A worker that does not know a tenant reads the one definition that it was asked for, and all once it is asked for another.
static void test_one_by_one(void)
{
	struct client other;
	bool first, second;

	EXPECT(CREATED, "a tenant", PUT_TENANT, "one");
	EXPECT(CREATED, "with a type", PUT, "one", WIDGETS, .type = CRDS, .body = WIDGET(SMALL));
	EXPECT(CREATED, "and another", PUT, "one", "knobs.example.com", .type = CRDS,
		.body = CRD("knobs", "Knob", "Namespaced", SCHEMA(SMALL), ""));
	client_open(&other);
	for (int i = 0; i < 2; i++) // its statements are prepared, and the revision of the schema is known
		(void)is_defined(&other, "c", "widgets");
	int64_t begun_us = clock_tick_us();
	unsigned trips = trips_of(&other, "one", "widgets", &first);
	ok(first && trips <= 1 + asked_since(begun_us), "the first type of a tenant that nobody asked about: %u", trips);
	begun_us = clock_tick_us();
	trips = trips_of(&other, "one", "widgets", &first);
	ok(first && trips <= asked_since(begun_us), "is cached: %u", trips);
	(void)trips_of(&other, "one", "knobs", &second);
	ok(second, "there is another");
	begun_us = clock_tick_us();
	trips = trips_of(&other, "one", "widgets", &first) + trips_of(&other, "one", "knobs", &second);
	ok(first && second && trips <= asked_since(begun_us), "both are cached then: %u", trips);
	begun_us = clock_tick_us();
	trips = trips_of(&other, "one", "sprockets", &second);
	ok(!second && trips <= asked_since(begun_us), "and that there are no others: %u", trips);
	client_close(&other);

	client_open(&other);
	ok(!is_defined(&other, "one", "sprockets"), "one that there is not comes first");
	ok(is_defined(&other, "one", "knobs") && is_defined(&other, "one", "widgets"), "and hides no other");
	client_close(&other);

	client_open(&other);
	ok(is_defined(&other, "one", "knobs"), "one of them");
	ok(sees_all(&other, "one"), "does not stand for all in a list");
	client_close(&other);

	client_open(&other);
	ok(is_defined(&other, "one", "knobs"), "one of them");
	EXPECT(NO_CONTENT, "goes", DELETE, "one", "knobs.example.com", .type = CRDS);
	(void)usleep(600000);
	ok(!is_defined(&other, "one", "knobs"), "and is not cached any more");
	EXPECT(NO_CONTENT, "it comes back", RECOVER, "one", "knobs.example.com", .type = CRDS);
	(void)usleep(600000);
	ok(is_defined(&other, "one", "knobs"), "here as well");
	client_close(&other);
}

// A look-up that does not say whether it is about a namespace finds either scope in the round trip in which it finds the
// definition.
static void test_either_scope(void)
{
	enum { SEVERAL = 3 }; // twice a second a look-up also asks whether something is stale
	static const char *const plurals[2][SEVERAL] = { { "levers", "gears", "springs" }, { "cranks", "axles", "hubs" } };
	static const char *const scopes[2] = { "Cluster", "Namespaced" };
	struct client other;
	struct pool *texts = pool_new_or_end(); // here.pool is cleared by each request
	char tenant[16], name[64];

	for (size_t s = 0; s < 2; s++) {
		for (size_t i = 0; i < SEVERAL; i++) {
			const char *plural = plurals[s][i];
			struct str body = str_printf(texts, CRD("%s", "K%s", "%s", SCHEMA(SMALL), ""), scopes[s], plural, plural);
			(void)snprintf(tenant, sizeof(tenant), "s%zu-%zu", s, i);
			(void)snprintf(name, sizeof(name), "%s.example.com", plural);
			EXPECT(CREATED, tenant, PUT_TENANT, tenant);
			EXPECT(CREATED, name, PUT, tenant, name, .type = CRDS, .body = body.p);
		}
	}
	client_open(&other);
	for (int i = 0; i < 2; i++)
		(void)is_defined(&other, "c", "widgets");
	for (size_t s = 0; s < 2; s++) {
		unsigned least = 100;
		for (size_t i = 0; i < SEVERAL; i++) {
			bool found;
			(void)snprintf(tenant, sizeof(tenant), "s%zu-%zu", s, i);
			unsigned trips = trips_of(&other, tenant, plurals[s][i], &found);
			ok(found, "%s in %s", plurals[s][i], tenant);
			least = trips < least ? trips : least;
		}
		is_int(least, 1, "a type of scope %s takes one round trip", scopes[s]);
	}
	pool_free(&texts);
	client_close(&other);
}

static void test_finalizers(void)
{
#define FINALIZERS "{\"finalizers\":[\"example.com/clean\"]}"
	EXPECT(CREATED, "a config map with a finalizer", PUT, "b", "default/f", .meta = FINALIZERS);
	uint64_t changed = here.resource.changed;
	EXPECT(ACCEPTED, "its deletion", DELETE, "b", "default/f");
	ok(here.resource.deletion_requested_us > 0 && here.resource.changed > changed, "is marked, a change");
	EXPECT(OK, "it is still there", GET, "b", "default/f");
	changed = here.resource.changed;
	EXPECT(ACCEPTED, "once more", DELETE, "b", "default/f");
	is_int((long long)here.resource.changed, (long long)changed, "changes nothing");
	EXPECT(OK, "changed, with it", PUT, "b", "default/f", .body = "{\"a\":0}", .meta = FINALIZERS);
	EXPECT(OK, "it stays", GET, "b", "default/f");
	EXPECT(OK, "without it", PUT, "b", "default/f", .body = "{\"a\":1}");
	ok(here.resource.deleted_us > 0, "it goes");
	EXPECT(GONE, "it is gone", GET, "b", "default/f");
	EXPECT(NO_CONTENT, "and comes back", RECOVER, "b", "default/f");
	EXPECT(OK, "as what nobody wants to delete", GET, "b", "default/f");
	ok(here.resource.deletion_requested_us == 0, "any more");
	EXPECT(CREATED, "a namespace with a finalizer", PUT, "b", "ending/", .meta = FINALIZERS);
	EXPECT(CREATED, "takes what comes", PUT, "b", "ending/c1");
	EXPECT(CREATED, "and more", PUT, "b", "ending/c2");
	EXPECT(NO_CONTENT, "of which one goes", DELETE, "b", "ending/c2");
	EXPECT(ACCEPTED, "its deletion", DELETE, "b", "ending/");
	EXPECT(FORBIDDEN, "nothing comes to it any more", PUT, "b", "ending/c3");
	is_str(here.registry->problem->detail, "unable to create new content in namespace ending because it is being terminated", "it says so");
	is_int((long long)here.registry->problem->n_causes, 1, "with a cause");
	is_str(here.registry->problem->causes[0].message, "namespace ending is being terminated", "its text");
	is_str(here.registry->problem->causes[0].subject, "metadata.namespace", "its field");
	ok(strcmp(here.registry->problem->causes[0].reason, "NamespaceTerminating") == 0, "and its reason");
	EXPECT(FORBIDDEN, "nor back to it", RECOVER, "b", "ending/c2");
	is_sound("finalizers");
}

static uint64_t horizon_of(struct client *client)
{
	struct uuid id = uuid_new();
	uint64_t horizon = 0;

	registry_begin(client->registry, client->pool, &id, STR("tester"), &client->problem);
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
static const struct test_query q_many[] = {
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
	registry_begin(client->registry, client->pool, &id, STR("tester"), &client->problem);
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
		ok(db_run(here.db, here.pool, test_query(&q_many[i]), NULL, NULL) == DB_OK, "%s", i == 0 ? "many tenants" : "with types");
	client_open(&other);
	(void)has_its_own(&other, 1);
	size_t before = allocated();
	for (unsigned i = 1; i <= many; i++)
		found += has_its_own(&other, i) ? 1 : 0;
	size_t after = allocated();
	is_int(found, many, "each has its own");
	ok(after < before + (8U << 20), "of which a worker holds some: %zu kB more", (after - before) / 1024);
	int64_t begun_us = clock_tick_us();
	uint64_t trips = db_round_trips(other.db);
	ok(has_its_own(&other, many) && has_its_own(&other, many - 1), "the last ones");
	ok(db_round_trips(other.db) - trips <= asked_since(begun_us), "are held");
	client_close(&other);
}

// As many definitions as a tenant may have, each of a group of its own: one that comes from elsewhere is one too many.
static const struct test_query q_full[] = {
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
		ok(db_run(here.db, here.pool, test_query(&q_full[i]), NULL, NULL) == DB_OK, "%s", i == 0 ? "many types" : "are its own");
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
	test_one_by_one();
	test_either_scope();
	test_finalizers();
	test_horizon();
	test_many();
	test_full();
	return fixture_end();
}

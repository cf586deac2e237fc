// SPDX-License-Identifier: Apache-2.0
// Traits and classes that only deleted resources have: they go for everybody, and come back with the first of those.
#include "base/base.h"

#include <sys/wait.h>

#include "registry-placement.h"
#include "registry-sizes.h"
#include "registry/trait/catalogue.h"

// ---- the steps

static enum outcome do_trait_put(struct registry *registry, void *arg)
{
	return trait_put(registry, str_c(arg));
}

static enum outcome do_trait_get(struct registry *registry, void *arg)
{
	struct trait trait;

	return trait_get(registry, str_c(arg), &trait);
}

static enum outcome do_trait_delete(struct registry *registry, void *arg)
{
	const struct type *user;

	return trait_delete(registry, str_c(arg), &user);
}

static enum outcome do_trait_describe(struct registry *registry, void *arg)
{
	const struct trait_about about = { .sets_description = true, .sets_deprecated = true, .description = STR("told"), .deprecated = true };
	struct trait trait;

	return trait_describe(registry, str_c(arg), &about, &trait);
}

// Is it in the list of all? OUTCOME_OK, _NOT_FOUND.
static enum outcome do_trait_list(struct registry *registry, void *arg)
{
	const struct trait_query query = { .prefix = str_c(arg) };
	const struct trait *list;
	size_t n;
	enum outcome outcome = trait_list(registry, &query, &list, &n);

	return outcome == OUTCOME_OK && n == 0 ? OUTCOME_NOT_FOUND : outcome;
}

static enum outcome do_class_put(struct registry *registry, void *arg)
{
	return resource_class_put(registry, str_c(arg), &s.class);
}

static enum outcome do_class_create(struct registry *registry, void *arg)
{
	return resource_class_create(registry, str_c(arg), &s.class);
}

static enum outcome do_class_get(struct registry *registry, void *arg)
{
	return resource_class_get(registry, str_c(arg), &s.class);
}

static enum outcome do_class_delete(struct registry *registry, void *arg)
{
	return resource_class_delete(registry, str_c(arg));
}

static enum outcome do_class_rename(struct registry *registry, void *arg)
{
	return resource_class_rename(registry, STR("CUSTOM_OTHER"), str_c(arg), &s.class);
}

#define WITH(f, name, want, what) IS(client_run(&here, f, (void *)(uintptr_t)(name)), want, what)

static bool makes_custom;

// The trait, and no other, on the provider.
static enum outcome do_attach(struct registry *registry, void *arg)
{
	const struct str name = str_c(arg);
	const struct trait_edit edit = { .change = TRAITS_SET, .names = &name, .n = 1, .makes_custom = makes_custom };
	const struct ident ident = { .type = provider_type(registry), .uid = s.uid };

	return resource_change_traits(registry, &ident, &edit, (struct guard){ 0 }, &s.provider.resource);
}

static enum outcome attach(unsigned n, const char *name)
{
	s.uid = uid_n(n);
	return client_run(&here, do_attach, (void *)(uintptr_t)name);
}

static enum outcome do_recover(struct registry *registry, void *arg)
{
	struct address address = {
		.tenant = STR("system"), .type = provider_type(registry), .name = uuid_str(registry->pool, s.uid)
	};

	UNUSED(arg);
	return resource_recover(registry, &address, NULL, (struct guard){ 0 });
}

static enum outcome recover(unsigned n)
{
	s.uid = uid_n(n);
	return client_run(&here, do_recover, NULL);
}

static void take_none(void *arg, const struct provider *provider, struct pool *pool)
{
	UNUSED(arg);
	UNUSED(provider);
	UNUSED(pool);
}

static enum outcome do_search(struct registry *registry, void *arg)
{
	const struct str name = str_c(arg);
	const struct provider_requirement requirement = { .traits = &name, .n = 1 };
	const struct provider_query query = { .requirements = &requirement, .n_requirements = 1 };

	return provider_list(registry, &query, &(struct provider_taker){ take_none, NULL });
}

static long long hidden(const char *table, const char *name)
{
	return sql_number("SELECT COUNT(*) FROM %s WHERE name = '%s' AND live IS NULL", table, name);
}

static long long rows(const char *table, const char *name)
{
	return sql_number("SELECT COUNT(*) FROM %s WHERE name = '%s'", table, name);
}

// ---- the tests

// A provider that has a trait and inventory of a class, and is deleted, with both.
static void away(unsigned n)
{
	char name[16];

	(void)snprintf(name, sizeof(name), "p%u", n);
	WITH(do_trait_put, "CUSTOM_T", CREATED, "a trait");
	WITH(do_class_put, "CUSTOM_C", CREATED, "a class");
	IS(create(n, name, 0), CREATED, "a provider");
	IS(attach(n, "CUSTOM_T"), OK, "that has the trait");
	IS(stock(n, has("CUSTOM_C", 10), has("VCPU", 4)), OK, "and the class");
	WITH(do_trait_delete, "CUSTOM_T", CONFLICT, "the trait is in use");
	WITH(do_class_delete, "CUSTOM_C", CONFLICT, "so is the class");
	IS(drop(n), NO_CONTENT, "the provider goes");
	WITH(do_trait_describe, "CUSTOM_T", OK, "the trait is told about");
	WITH(do_trait_delete, "CUSTOM_T", NO_CONTENT, "then the trait");
	WITH(do_class_delete, "CUSTOM_C", NO_CONTENT, "and the class");
	is_int(hidden("traits", "CUSTOM_T") + hidden("resource_classes", "CUSTOM_C"), 2, "both are hidden");
}

static void gone_for_everybody(void)
{
	WITH(do_trait_get, "CUSTOM_T", NOT_FOUND, "the trait");
	WITH(do_trait_list, "CUSTOM_", NOT_FOUND, "the list of traits");
	WITH(do_trait_describe, "CUSTOM_T", NOT_FOUND, "what is told about it");
	WITH(do_trait_delete, "CUSTOM_T", NOT_FOUND, "its deletion");
	WITH(do_search, "CUSTOM_T", BAD_PARAMETER, "a search for it");
	WITH(do_class_get, "CUSTOM_C", NOT_FOUND, "the class");
	WITH(do_class_delete, "CUSTOM_C", NOT_FOUND, "its deletion");
	IS(create(9, "p9", 0), CREATED, "another provider");
	IS(attach(9, "CUSTOM_T"), BAD_PARAMETER, "does not get the trait");
	IS(stock(9, has("CUSTOM_C", 1), has("VCPU", 1)), BAD_DOCUMENT, "nor inventory of the class");
	says("No such resource class CUSTOM_C");
	WITH(do_class_put, "CUSTOM_OTHER", CREATED, "another class");
	WITH(do_class_rename, "CUSTOM_C", CONFLICT, "can't have its name");
	says("Deleted resource providers have inventory of it");
	WITH(do_class_delete, "CUSTOM_OTHER", NO_CONTENT, "what nothing refers to");
	is_int(rows("resource_classes", "CUSTOM_OTHER"), 0, "goes for good");
	IS(drop(9), NO_CONTENT, "the other provider, too");
	is_sound("with hidden ones");
}

static void back(unsigned n)
{
	uint64_t revision = (uint64_t)sql_number("SELECT revision FROM catalogues WHERE name = 'traits'");

	IS(recover(n), NO_CONTENT, "the provider comes back");
	is_int(sql_number("SELECT COUNT(*) FROM resources r JOIN resource_traits x ON x.resource_id = r.id JOIN traits t ON "
			  "t.id = x.trait_id AND t.live = 1 JOIN inventories i ON i.resource_id = r.id JOIN resource_classes c "
			  "ON c.id = i.class_id AND c.live = 1 AND c.name = 'CUSTOM_C' WHERE r.name = '%.*s' AND r.live = 1 AND "
			  "r.traits = '[\"CUSTOM_T\"]'",
		       UUID_ARG(here.pool, uid_n(n))),
		1, "with what it had");
	is_int(sql_number("SELECT revision > %llu FROM catalogues WHERE name = 'traits'", (unsigned long long)revision), 1,
		"and workers can see it");
	WITH(do_trait_get, "CUSTOM_T", OK, "the trait");
	WITH(do_class_get, "CUSTOM_C", OK, "and the class are there again");
	is_sound("back");
}

static void made_anew(void)
{
	long long trait = sql_number("SELECT id FROM traits WHERE name = 'CUSTOM_T'");

	IS(drop(1), NO_CONTENT, "deleted once more");
	WITH(do_trait_delete, "CUSTOM_T", NO_CONTENT, "with its trait");
	WITH(do_class_delete, "CUSTOM_C", NO_CONTENT, "and class");
	WITH(do_trait_put, "CUSTOM_T", CREATED, "made anew");
	WITH(do_trait_put, "CUSTOM_T", OK, "once");
	is_int(sql_number("SELECT id FROM traits WHERE name = 'CUSTOM_T' AND live = 1 AND description = '' AND NOT deprecated"),
		trait, "the same, and nothing is told about it");
	WITH(do_class_create, "CUSTOM_C", CREATED, "the class likewise");
	WITH(do_class_create, "CUSTOM_C", CONFLICT, "once");
	WITH(do_class_put, "CUSTOM_C", OK, "however it is asked for");
	IS(recover(1), NO_CONTENT, "who had them comes back to them");
	is_sound("made anew");
	IS(drop(1), NO_CONTENT, "deleted");
	WITH(do_trait_delete, "CUSTOM_T", NO_CONTENT, "with its trait");
	IS(create(2, "p2", 0), CREATED, "another provider");
	makes_custom = true;
	IS(attach(2, "CUSTOM_T"), OK, "that may make traits");
	makes_custom = false;
	is_int(hidden("traits", "CUSTOM_T"), 0, "finds the hidden one");
	WITH(do_trait_get, "CUSTOM_T", OK, "which is there again");
	WITH(do_class_delete, "CUSTOM_C", NO_CONTENT, "the class goes");
	IS(stock(2, has("CUSTOM_C", 1), has("VCPU", 1)), BAD_DOCUMENT, "which nobody can have");
	IS(drop(2), NO_CONTENT, "the provider, too");
	is_sound("by a provider");
}

// As if it had always been that tenant's.
static void give_to_t(unsigned n)
{
	char text[1024];

	(void)snprintf(text, sizeof(text),
		"UPDATE tenant_counts SET resources = resources - 1 WHERE tenant_id = (SELECT id FROM tenants WHERE "
		"name = 'system');\nUPDATE tenant_counts SET resources = resources + 1 WHERE tenant_id = (SELECT id FROM "
		"tenants WHERE name = 't');\nUPDATE resources SET tenant_id = (SELECT id FROM tenants WHERE name = 't') WHERE "
		"live = 1 AND name = '%.*s';\nUPDATE changes c JOIN resources r ON r.id = c.resource_id SET c.tenant_id = r.tenant_id;\n",
		UUID_ARG(here.pool, uid_n(n)));
	server_sql(text);
}

static void of_a_tenant(void)
{
	EXPECT(CREATED, "a tenant", PUT_TENANT, "t");
	IS(create(3, "p3", 0), CREATED, "a provider");
	IS(attach(3, "CUSTOM_T"), OK, "that has the trait");
	WITH(do_class_put, "CUSTOM_C", CREATED, "and the class");
	IS(stock(3, has("CUSTOM_C", 10), has("VCPU", 4)), OK, "of which it has inventory");
	give_to_t(3);
	EXPECT(NO_CONTENT, "the tenant is deleted", DELETE_TENANT, "t");
	WITH(do_trait_delete, "CUSTOM_T", NO_CONTENT, "so is the trait");
	WITH(do_class_delete, "CUSTOM_C", NO_CONTENT, "and the class");
	is_int(hidden("traits", "CUSTOM_T") + hidden("resource_classes", "CUSTOM_C"), 2, "both are hidden");
	is_sound("a tenant away");
	EXPECT(NO_CONTENT, "the tenant comes back", RECOVER_TENANT, "t");
	WITH(do_trait_get, "CUSTOM_T", OK, "the trait");
	WITH(do_class_get, "CUSTOM_C", OK, "and the class, too");
	is_sound("a tenant back");
	server_sql("INSERT INTO consumers (uid, project, user, generation, created_at, updated_at) VALUES (REPEAT('c', 16), 'p', "
		   "'u', 1, NOW(6), NOW(6));\nINSERT INTO allocations (consumer_id, resource_id, class_id, used, updated_at) "
		   "SELECT c.id, i.resource_id, i.class_id, 2, NOW(6) FROM consumers c, inventories i JOIN resources r ON "
		   "r.id = i.resource_id AND r.live = 1 JOIN resource_classes k ON k.id = i.class_id AND k.name = 'CUSTOM_C';\n"
		   "UPDATE inventories i JOIN allocations a ON a.resource_id = i.resource_id AND a.class_id = i.class_id SET "
		   "i.used = a.used;\n");
	EXPECT(NO_CONTENT, "the tenant is deleted again", DELETE_TENANT, "t");
	WITH(do_class_delete, "CUSTOM_C", CONFLICT, "a consumer has allocations of the class");
	EXPECT(NO_CONTENT, "the tenant comes back", RECOVER_TENANT, "t");
	server_sql("DELETE FROM allocations;\nDELETE FROM consumers;\nUPDATE inventories SET used = 0;\n");
	is_sound("of a tenant");
}

static void reaped(void)
{
	struct reap_counts counts;
	struct uuid id = uuid_new();

	IS(drop(3), NO_CONTENT, "the last that has them");
	WITH(do_trait_delete, "CUSTOM_T", NO_CONTENT, "the trait goes");
	WITH(do_class_delete, "CUSTOM_C", NO_CONTENT, "and the class");
	WITH(do_trait_put, "CUSTOM_SEEN", CREATED, "a trait that nobody has");
	(void)registry_begin(here.registry, here.pool, &id, STR("reaper"), &here.problem);
	is_outcome(reap(here.registry, REAP_PURGE, NULL, &counts), OUTCOME_OK, "reaping");
	is_int(hidden("traits", "CUSTOM_T") + hidden("resource_classes", "CUSTOM_C"), 2, "keeps what can come back");
	server_sql("UPDATE resources SET purge_at = UTC_TIMESTAMP(6) - INTERVAL 1 SECOND WHERE deleted_at IS NOT NULL;\n");
	(void)registry_begin(here.registry, here.pool, &id, STR("reaper"), &here.problem);
	is_outcome(reap(here.registry, REAP_PURGE, NULL, &counts), OUTCOME_OK, "reaping past its time");
	is_int(rows("traits", "CUSTOM_T") + rows("resource_classes", "CUSTOM_C"), 0, "drops what nothing refers to");
	is_int(rows("traits", "CUSTOM_SEEN"), 1, "but nothing that people see");
	is_sound("reaped");
}

// ---- the answer to COMMIT is lost, and no change row says what became of it

static void lost(enum outcome (*f)(struct registry *registry, void *arg), const char *name, enum outcome want, unsigned runs, const char *what)
{
	struct client client;

	(void)setenv("TENURE_FAULT", "after-commit:1:conn", 1);
	client_open(&client);
	(void)unsetenv("TENURE_FAULT");
	is_outcome(client_run(&client, f, (void *)(uintptr_t)name), want, what);
	is_int(db_txn_tries(client.db), runs, "%s: runs", what);
	client_close(&client);
}

// In the second run somebody else has made it.
static enum outcome do_late_trait_put(struct registry *registry, void *arg)
{
	if (db_txn_commit_was_lost(registry->db))
		server_sql("UPDATE traits SET created_at = created_at - INTERVAL 1 SECOND WHERE name = 'CUSTOM_L';");
	return trait_put(registry, str_c(arg));
}

static enum outcome do_late_class_put(struct registry *registry, void *arg)
{
	if (db_txn_commit_was_lost(registry->db))
		server_sql("UPDATE resource_classes SET updated_at = updated_at - INTERVAL 1 SECOND WHERE name = 'CUSTOM_L';");
	return resource_class_put(registry, str_c(arg), &s.class);
}

static void lost_commits(void)
{
	lost(do_trait_put, "CUSTOM_L", OUTCOME_CREATED, 2, "a trait");
	lost(do_trait_put, "CUSTOM_L", OUTCOME_OK, 2, "a trait that was there");
	lost(do_class_put, "CUSTOM_L", OUTCOME_CREATED, 2, "a class");
	lost(do_class_put, "CUSTOM_L", OUTCOME_OK, 2, "a class that was there");
	server_sql("UPDATE traits SET live = NULL WHERE name = 'CUSTOM_L';\nUPDATE resource_classes SET live = NULL WHERE name = 'CUSTOM_L';");
	lost(do_trait_put, "CUSTOM_L", OUTCOME_CREATED, 2, "a trait that was hidden");
	lost(do_class_put, "CUSTOM_L", OUTCOME_CREATED, 2, "a class that was hidden");
	is_int(rows("traits", "CUSTOM_L") + rows("resource_classes", "CUSTOM_L"), 2, "each is there once");
	lost(do_trait_delete, "CUSTOM_L", OUTCOME_NO_CONTENT, 2, "the trait's deletion");
	lost(do_trait_delete, "CUSTOM_L", OUTCOME_NOT_FOUND, 1, "once");
	lost(do_class_delete, "CUSTOM_L", OUTCOME_NO_CONTENT, 2, "the class's deletion");
	lost(do_class_delete, "CUSTOM_L", OUTCOME_NOT_FOUND, 1, "once");
	is_int(rows("traits", "CUSTOM_L") + rows("resource_classes", "CUSTOM_L"), 0, "both are gone");
	lost(do_late_trait_put, "CUSTOM_L", OUTCOME_OK, 2, "a trait that somebody else has made meanwhile");
	lost(do_late_class_put, "CUSTOM_L", OUTCOME_OK, 2, "a class that somebody else has made meanwhile");
	WITH(do_trait_delete, "CUSTOM_L", NO_CONTENT, "the trait goes");
	WITH(do_class_delete, "CUSTOM_L", NO_CONTENT, "and the class");
}

// ---- deletion meets recovery: whoever is second finds what the first has done

static struct {
	enum outcome (*first)(struct registry *registry, void *arg), (*second)(struct registry *registry, void *arg);
	const char *name; // what both are about
	pid_t pid;
	bool of_tenant; // it is the tenant that is deleted and recovered
} race;

static void let_second_run(void)
{
	struct client client;

	race.pid = fork_client(&client);
	if (race.pid == 0)
		_exit((int)client_run(&client, race.second, (void *)(uintptr_t)race.name));
	ok(waits_for_lock(race.pid), "the second waits");
}

static enum outcome do_first(struct registry *registry, void *arg)
{
	enum outcome outcome = race.first(registry, arg);

	if (race.pid == 0)
		let_second_run();
	return outcome;
}

static enum outcome do_recover_tenant(struct registry *registry, void *arg)
{
	UNUSED(arg);
	return tenant_recover(registry, STR("t"), (struct guard){ 0 });
}

static void meet(enum outcome (*first)(struct registry *, void *), enum outcome want_first,
	enum outcome (*second)(struct registry *, void *), enum outcome want_second, const char *name, const char *what)
{
	race.first = first;
	race.second = second;
	race.name = name;
	race.pid = 0;
	is_outcome(race.of_tenant ? DO(DELETE_TENANT, "t") : drop(4), OUTCOME_NO_CONTENT, what);
	s.uid = uid_n(4);
	is_outcome(client_run(&here, do_first, (void *)(uintptr_t)name), want_first, "the first");
	is_outcome(end_op(race.pid), want_second, "the second");
	is_sound(what);
}

static void racing(void)
{
	WITH(do_trait_put, "CUSTOM_T", CREATED, "a trait");
	WITH(do_class_put, "CUSTOM_C", CREATED, "a class");
	IS(create(4, "p4", 0), CREATED, "a provider");
	IS(attach(4, "CUSTOM_T"), OK, "that has the trait");
	IS(stock(4, has("CUSTOM_C", 10), has("VCPU", 4)), OK, "and the class");
	meet(do_recover, OUTCOME_NO_CONTENT, do_trait_delete, OUTCOME_CONFLICT, "CUSTOM_T", "recovery meets a trait's deletion");
	meet(do_trait_delete, OUTCOME_NO_CONTENT, do_recover, OUTCOME_NO_CONTENT, "CUSTOM_T", "a trait's deletion meets recovery");
	meet(do_recover, OUTCOME_NO_CONTENT, do_class_delete, OUTCOME_CONFLICT, "CUSTOM_C", "recovery meets a class's deletion");
	meet(do_class_delete, OUTCOME_NO_CONTENT, do_recover, OUTCOME_NO_CONTENT, "CUSTOM_C", "a class's deletion meets recovery");
	race.of_tenant = true;
	give_to_t(4);
	meet(do_recover_tenant, OUTCOME_NO_CONTENT, do_trait_delete, OUTCOME_CONFLICT, "CUSTOM_T",
		"recovery of a tenant meets a trait's deletion");
	meet(do_trait_delete, OUTCOME_NO_CONTENT, do_recover_tenant, OUTCOME_NO_CONTENT, "CUSTOM_T",
		"a trait's deletion meets recovery of a tenant");
	meet(do_recover_tenant, OUTCOME_NO_CONTENT, do_class_delete, OUTCOME_CONFLICT, "CUSTOM_C",
		"recovery of a tenant meets a class's deletion");
	meet(do_class_delete, OUTCOME_NO_CONTENT, do_recover_tenant, OUTCOME_NO_CONTENT, "CUSTOM_C",
		"a class's deletion meets recovery of a tenant");
	WITH(do_trait_get, "CUSTOM_T", OK, "the trait");
	WITH(do_class_get, "CUSTOM_C", OK, "and the class stay");
}

int main(void)
{
	fixture_start();
	away(1);
	gone_for_everybody();
	back(1);
	made_anew();
	of_a_tenant();
	reaped();
	lost_commits();
	racing();
	is_sized("at the end");
	return fixture_end();
}

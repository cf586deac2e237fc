// SPDX-License-Identifier: Apache-2.0
// What is past its retention is gone for everybody, reaped or not; doctor finds damage, and mends what it can.
#include "base/base.h"

#include "registry-fixture.h"

static void expire(const char *table, const char *name)
{
	char text[256];

	(void)snprintf(text, sizeof(text), "UPDATE %s SET purge_at = UTC_TIMESTAMP(6) - INTERVAL 1 SECOND WHERE name = '%s' AND "
					   "deleted_at IS NOT NULL;", table, name);
	server_sql(text);
}

static struct reap_counts do_reap(enum reap_mode mode, const char *what)
{
	struct reap_counts counts;
	struct uuid id = uuid_new();

	(void)registry_begin(here.registry, here.pool, &id, STR("reaper"), &here.problem);
	is_outcome(reap(here.registry, mode, NULL, &counts), OUTCOME_OK, what);
	return counts;
}

// ---- past its time, not yet reaped

static void expired(void)
{
	(void)DO(PUT_TENANT, "a");
	(void)DO(PUT_TENANT, "b");
	(void)DO(PUT, "a", "pv");
	(void)DO(DELETE, "a", "pv");
	EXPECT(GONE, "within its time", GET, "a", "pv");
	expire("resources", "pv");
	EXPECT(NOT_FOUND, "past it", GET, "a", "pv");
	EXPECT(NOT_FOUND, "recovery past it", RECOVER, "a", "pv");
	EXPECT(NOT_FOUND, "deletion past it", DELETE, "a", "pv");
	EXPECT(NOT_FOUND, "a patch past it", PATCH, "a", "pv");
	EXPECT(NOT_FOUND, "a move past it", MOVE, "a", "pv", "b");
	EXPECT(CREATED, "its name is free", PUT, "a", "pv");
	(void)DO(MOVE, "a", "pv", "b");
	(void)DO(DELETE, "b", "pv");
	EXPECT(GONE, "a forward to what is deleted", GET, "a", "pv");
	expire("resources", "pv");
	EXPECT(NOT_FOUND, "and past its time", GET, "a", "pv");
	is_sound("expired resources");
}

static void expired_tenants(void)
{
	(void)DO(PUT_TENANT, "t");
	(void)DO(PUT, "t", "n/");
	(void)DO(PUT, "t", "n/c");
	(void)DO(PUT, "a", "away");
	(void)DO(MOVE, "a", "away", "t");
	(void)DO(DELETE_TENANT, "t");
	EXPECT(RECOVERABLE, "PUT within its time", PUT_TENANT, "t");
	EXPECT(GONE, "a forward into it", GET, "a", "away");
	expire("tenants", "t");
	EXPECT(NOT_FOUND, "a resource past its tenant's time", GET, "t", "n/c");
	EXPECT(NOT_FOUND, "making past it", PUT, "t", "pv");
	EXPECT(NOT_FOUND, "deletion past it", DELETE_TENANT, "t");
	EXPECT(NOT_FOUND, "recovery past it", RECOVER_TENANT, "t");
	EXPECT(NOT_FOUND, "a move from it", MOVE, "t", NULL, "a");
	EXPECT(NOT_FOUND, "a move to it", MOVE, "a", NULL, "t");
	EXPECT(NOT_FOUND, "a forward into it past its time", GET, "a", "away");
	EXPECT(CREATED, "its name is free", PUT_TENANT, "t");
	is_int((long long)here.tenant.resources, 0, "and nothing is in the new one");
	EXPECT(NOT_FOUND, "the old one's resource is not the new one's", GET, "t", "n/c");
	is_sound("a new tenant of an expired one's name");
	struct reap_counts counts = do_reap(REAP_COUNT, "a dry run");
	is_int((long long)counts.resources, 6, "what it would purge");
	counts = do_reap(REAP_PURGE, "reaping");
	is_int((long long)counts.resources, 6, "and does");
	is_int(sql_number("SELECT COUNT(*) FROM changes WHERE verb = 'purged' AND resource_id IS NOT NULL AND "
			  "etag_before IS NOT NULL AND etag_after IS NULL"), 6, "each with its change row");
	EXPECT(NOT_FOUND, "a forward to what was purged", GET, "a", "away");
	is_sound("after reaping");
}

static void pages(void)
{
	(void)DO(PUT_TENANT, "p");
	(void)DO(PUT, "p", "n/");
	server_sql("INSERT INTO resources (uid, tenant_id, type_id, namespace, name, bytes, revision, edits, h0, h1, h2, h3, etag, meta, "
		   "body, created_at, updated_at) SELECT UNHEX(MD5(seq)), (SELECT id FROM tenants WHERE name = 'p' AND live = 1), "
		   "(SELECT id FROM types WHERE plural = 'configmaps'), 'n', CONCAT('c', seq), 4, 1, 1, 1, 1, 1, 1, REPEAT('e', 64), "
		   "'{}', '{}', UTC_TIMESTAMP(6), UTC_TIMESTAMP(6) FROM seq_1_to_2500;\n"
		   "UPDATE tenant_counts SET resources = 2501 WHERE tenant_id = (SELECT id FROM tenants WHERE name = 'p' AND live = 1);");
	SET(server.config, registry)->delete_sync_max = 3000; // in one transaction
	EXPECT(NO_CONTENT, "a large namespace is deleted", DELETE, "p", "n/");
	EXPECT(NO_CONTENT, "and recovered", RECOVER, "p", "n/");
	is_int(sql_number("SELECT resources FROM tenant_counts WHERE tenant_id = " TENANT_ID, "p"), 2501, "all of it");
	(void)DO(DELETE, "p", "n/");
	server_sql("UPDATE resources SET purge_at = '2020-01-01' WHERE live IS NULL;");
	struct reap_counts counts = do_reap(REAP_PURGE, "reaping in pages");
	is_int((long long)counts.resources, 2501, "all pages");
	is_int(sql_number("SELECT COUNT(*) FROM changes WHERE verb = 'purged' AND name LIKE 'c_%%'"), 2500, "each once");
	is_sound("reaped in pages");
}

// A run on a host whose clock is that far ahead of the database's.
static struct reap_counts reap_ahead(enum reap_mode mode, int64_t ahead_us, const char *what)
{
	struct reap_counts counts;
	struct uuid id = uuid_new();

	(void)registry_begin(here.registry, here.pool, &id, STR("reaper"), &here.problem);
	here.registry->now_us += ahead_us;
	here.registry->stamp_us += ahead_us;
	is_outcome(reap(here.registry, mode, NULL, &counts), OUTCOME_OK, what);
	return counts;
}

static void go_ahead(void)
{
	here.registry->now_us += INT64_C(400) * 86400 * 1000000;
	here.registry->stamp_us = here.registry->now_us;
}

// A new tenant takes the name of one that is past its time, which purges it.
static void making_ahead(void)
{
	(void)DO(PUT_TENANT, "early", .meta = "{\"contact\":\"ann\"}");
	(void)DO(PUT, "early", "pv");
	(void)DO(DELETE_TENANT, "early");
	EXPECT(RECOVERABLE, "PUT of a deleted tenant, 400 days ahead", PUT_TENANT, "early", .at_start = go_ahead);
	EXPECT(GONE, "a credential that names it, 400 days ahead", MAKE_TENANT, "early", .at_start = go_ahead);
	EXPECT(NO_CONTENT, "it can be recovered", RECOVER_TENANT, "early");
	EXPECT(OK, "with all it had", GET, "early", "pv");
	(void)DO(DELETE_TENANT, "early");
	expire("tenants", "early");
	EXPECT(CREATED, "past its time by both clocks its name is free", MAKE_TENANT, "early", .at_start = go_ahead);
	is_sound("a tenant made 400 days ahead");
}

static void clocks_apart(void)
{
	const int64_t day_us = INT64_C(86400000000);
	int64_t at_us;

	(void)DO(PUT_TENANT, "clock");
	(void)DO(PUT, "clock", "young");
	(void)DO(DELETE, "clock", "young");
	struct reap_counts counts = reap_ahead(REAP_COUNT, 400 * day_us, "a dry run, 400 days ahead");
	is_int((long long)(counts.resources + counts.changes), 0, "would purge nothing of today");
	counts = reap_ahead(REAP_PURGE, 400 * day_us, "a run, 400 days ahead");
	is_int((long long)(counts.tenants + counts.resources + counts.changes), 0, "purges nothing of today");
	ok(counts.ahead_s > 399 * 86400 && counts.ahead_s < 401 * 86400, "and says how wrong the clock is");
	ok(sql_number("SELECT COUNT(*) FROM changes WHERE at > UTC_TIMESTAMP(6) + INTERVAL 1 DAY") == 0, "no change has that time");
	is_outcome(reap_last(here.registry, &at_us), OUTCOME_OK, "when it was");
	ok(at_us <= clock_now_us(), "is no time to come");
	EXPECT(NO_CONTENT, "what was deleted can be recovered", RECOVER, "clock", "young");
	(void)DO(DELETE, "clock", "young");
	expire("resources", "young");
	is_int((long long)reap_ahead(REAP_PURGE, -day_us, "a day behind").resources, 0, "a clock that is behind purges nothing early, either");
	counts = reap_ahead(REAP_PURGE, day_us / 86400, "a second ahead");
	is_int((long long)counts.resources, 1, "what is past its time by both goes");
	is_int((long long)counts.ahead_s, 0, "and a second is not worth a word");
}

// ---- damage

struct finding {
	const char *want;
	uint64_t found, fixed, others;
};

static void note(void *arg, const char *check, uint64_t found, uint64_t fixed, const char *example)
{
	struct finding *finding = arg;

	if (strstr(check, finding->want) != NULL) {
		finding->found += found;
		finding->fixed += fixed;
		ok(found == 0 || example[0] != '\0', "%s: one of them is named", check);
	} else if (found > 0) {
		finding->others += found;
	}
}

static struct finding examine(const char *check, bool fix)
{
	struct finding finding = { .want = check };
	struct uuid id = uuid_new();

	(void)registry_begin(here.registry, here.pool, &id, STR("doctor"), &here.problem);
	is_outcome(doctor(here.registry, &(struct doctor_run){ .fix = fix, .report = note, .arg = &finding }), OUTCOME_OK, check);
	return finding;
}

// Damage done by SQL, which doctor finds under that check and, where it can, mends.
static void damage(const char *check, const char *sql, bool mends, const char *undo)
{
	server_sql(sql);
	struct finding finding = examine(check, false);
	is_int((long long)finding.found, 1, "%s: found", check);
	is_int((long long)finding.fixed, 0, "%s: only read", check);
	finding = examine(check, true);
	is_int((long long)finding.fixed, mends ? 1 : 0, "%s: mended", check);
	finding = examine(check, false);
	is_int((long long)finding.found, mends ? 0 : 1, "%s: afterwards", check);
	if (undo != NULL)
		server_sql(undo);
	is_sound(check);
}

static void doctors(void)
{
	(void)DO(PUT_TENANT, "d");
	(void)DO(PUT, "d", "n/");
	(void)DO(PUT, "d", "n/c");
	(void)DO(PUT, "d", "dv");
	(void)DO(PUT, "d", "fv");
	(void)DO(MOVE, "d", "fv", "a");
	(void)DO(PUT, "d", "gv");
	(void)DO(DELETE, "d", "gv");
	damage("count is that", "UPDATE tenant_counts SET resources = 77 WHERE tenant_id = (SELECT id FROM tenants WHERE name = 'd');",
		true, NULL);
	damage("count is that", "DELETE FROM tenant_counts WHERE tenant_id = (SELECT id FROM tenants WHERE name = 'd');", true, NULL);
	damage("etag, size and lanes", "UPDATE resources SET h2 = h2 ^ 1 WHERE name = 'dv';", true, NULL);
	damage("etag, size and lanes", "UPDATE resources SET etag = REPEAT('x', 64) WHERE name = 'dv';", true, NULL);
	damage("etag, size and lanes", "UPDATE resources SET bytes = bytes + 1 WHERE name = 'dv';", true, NULL);
	damage("tenant's etag", "UPDATE tenants SET etag = REPEAT('x', 64) WHERE name = 'd';", true, NULL);
	damage("locked when", "UPDATE resources SET locked = 1 WHERE name = 'dv';", true, NULL);
	damage("forward leads", "UPDATE forwards SET resource_id = 999999 WHERE name = 'fv';", true, NULL);
	damage("no forward stands", "INSERT INTO forwards (tenant_id, type_id, namespace, name, resource_id, moved_at) "
				    "SELECT tenant_id, type_id, namespace, name, id, created_at FROM "
				    "resources WHERE name = 'dv';", true, NULL);
	damage("type exists", "UPDATE resources SET type_id = type_id + 100 WHERE name = 'gv';", false,
		"UPDATE resources SET type_id = type_id - 100 WHERE name = 'gv';");
	damage("tier exists", "UPDATE tenants SET tier_id = tier_id + 100 WHERE name = 'd';", false,
		"UPDATE tenants SET tier_id = tier_id - 100 WHERE name = 'd';");
	damage("resource's tenant exists", "UPDATE resources SET tenant_id = tenant_id + 900 WHERE name = 'gv';", false,
		"UPDATE resources SET tenant_id = tenant_id - 900 WHERE name = 'gv';");
	damage("has that namespace", "UPDATE resources SET namespace = 'm' WHERE name = 'c';", false,
		"UPDATE resources SET namespace = 'n' WHERE name = 'c';");
	damage("namespace default", "UPDATE resources SET name = 'x' WHERE name = 'default' AND tenant_id = "
				    "(SELECT id FROM tenants WHERE name = 'd');", false,
		"UPDATE resources SET name = 'default' WHERE name = 'x';");
	damage("purge time", "UPDATE resources SET purge_at = UTC_TIMESTAMP() WHERE name = 'dv';", false,
		"UPDATE resources SET purge_at = NULL WHERE name = 'dv';");
	damage("document is JSON", "UPDATE resources SET body = '[1]' WHERE name = 'dv';", false,
		"UPDATE resources SET body = '{}' WHERE name = 'dv';\nUPDATE resources r JOIN changes c ON c.resource_id = r.id "
		"SET r.etag = c.etag_after, r.bytes = 4 WHERE r.name = 'dv';");
	damage("revision is that", "UPDATE resources SET revision = revision + 1 WHERE name = 'dv';", false,
		"UPDATE resources SET revision = revision - 1 WHERE name = 'dv';");
}

int main(void)
{
	fixture_start();
	expired();
	expired_tenants();
	pages();
	clocks_apart();
	making_ahead();
	doctors();
	return fixture_end();
}

// SPDX-License-Identifier: Apache-2.0
// Moves of more resources than one statement is to take: all of them move, each once, and nothing else.
#include "base/base.h"

#include "registry-fixture.h"

static struct uuid queued;

static void queue(const char *source, const char *path, const char *dest)
{
	is_outcome(DO(MOVE_ASYNC, source, path, dest), OUTCOME_ACCEPTED, "a move that waits");
	queued = here.request_id;
}

static void carry(const char *what)
{
	ok(mover_once(server.config, NULL), "%s: the mover finds it", what);
}

static void is_spread(const char *owner, const char *former, const char *what)
{
	is_int(sql_number("SELECT COUNT(*) FROM resources WHERE live = 1 AND tenant_id = " TENANT_ID, owner), 10006, "%s: all", what);
	is_int(sql_number("SELECT COUNT(*) FROM resources WHERE live = 1 AND tenant_id = " TENANT_ID, former), 1, "%s: but one", what);
	is_int(sql_number("SELECT resources FROM tenant_counts WHERE tenant_id = " TENANT_ID, owner), 10006, "%s: counted", what);
	is_int(sql_number("SELECT resources FROM tenant_counts WHERE tenant_id = " TENANT_ID, former), 1, "%s: and the other", what);
	is_changes(&queued, 10005, what);
	is_int(sql_number("SELECT COUNT(DISTINCT x.resource_id) FROM changes x JOIN resources r ON r.id = x.resource_id AND r.changed = x.id "
		"WHERE r.moves = 1 AND r.revision = 2 AND x.revision = 2 AND x.verb = 'moved' AND r.tenant_id = " TENANT_ID, owner), 10005,
		"%s: each once", what);
	is_int(sql_number("SELECT COUNT(*) FROM forwards f JOIN resources r ON r.id = f.resource_id AND r.tenant_id <> f.tenant_id WHERE f.tenant_id = "
		TENANT_ID, former), 10005, "%s: a way to each", what);
	is_int(sql_number("SELECT moved FROM move_progress ORDER BY move_id DESC LIMIT 1"), 10005, "%s: its progress", what);
}

// More than one statement is to take.
static void chunks(void)
{
	EXPECT(CREATED, "a tenant", PUT_TENANT, "large");
	EXPECT(CREATED, "its namespace", PUT, "large", "n1/");
	EXPECT(CREATED, "and something besides", PUT, "large", "pv1");
	EXPECT(CREATED, "where they go", PUT_TENANT, "wide");
	EXPECT(CREATED, "which has something", PUT, "wide", "pv7");
	server_sql("INSERT INTO resources (uid, tenant_id, type_id, namespace, name, live, bytes, revision, edits, h0, h1, h2, h3, etag, meta, body, "
		"created_at, updated_at) SELECT UNHEX(MD5(CONCAT('l', seq))), (SELECT id FROM tenants WHERE name = 'large'), (SELECT id FROM types WHERE "
		"plural = 'configmaps'), 'n1', CONCAT('l', seq), 1, 4, 1, 1, 1, 1, 1, 1, REPEAT('e', 64), '{}', '{}', UTC_TIMESTAMP(6), UTC_TIMESTAMP(6) "
		"FROM seq_1_to_10004;\nUPDATE tenant_counts SET resources = 10006 WHERE tenant_id = (SELECT id FROM tenants WHERE name = 'large');");
	queue("large", "n1/", "wide");
	carry("a large namespace");
	is_spread("wide", "large", "a large namespace");
	SET(server.config, registry)->move_sync_max = 10005;
	is_outcome(DO(MOVE, "wide", NULL, "large"), OUTCOME_ACCEPTED, "more than is moved at once");
	server_sql("DELETE FROM changes WHERE verb = 'moved'; UPDATE resources SET revision = 1, moves = 0; DELETE FROM forwards;");
	queued = here.request_id;
	carry("all of a large tenant");
	is_int(sql_number("SELECT COUNT(*) FROM resources WHERE live = 1 AND tenant_id = " TENANT_ID, "large"), 10007, "all of a large tenant");
	is_int(sql_number("SELECT COUNT(*) FROM resources WHERE live = 1 AND tenant_id = " TENANT_ID, "wide"), 0, "but none");
	is_changes(&queued, 10006, "all of a large tenant");
	is_int(sql_number("SELECT COUNT(*) FROM resources WHERE moves = 1 AND revision = 2"), 10006, "each once, and no others");
	is_int(sql_number("SELECT COUNT(*) FROM forwards"), 10006, "a way to each");
	SET(server.config, registry)->move_sync_max = 1;
	EXPECT(ACCEPTED, "two", MOVE, "large", NULL, "wide");
	ok(mover_once(server.config, NULL), "go");
	EXPECT(SEE_OTHER, "one", MOVE, "wide", "pv1", "large");
	SET(server.config, registry)->move_sync_max = 50000;
}

int main(void)
{
	fixture_start();
	chunks();
	return fixture_end();
}

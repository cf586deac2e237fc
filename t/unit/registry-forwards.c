// SPDX-License-Identifier: Apache-2.0
// Addresses that were left, merged namespaces, recovery exactly as it was, and the change log of it all.
#include "base/base.h"

#include "registry-fixture.h"

static void lives_in(const char *tenant, const char *path, const char *home)
{
	enum outcome outcome = DO(GET, tenant, path);
	char what[128];

	(void)snprintf(what, sizeof(what), "%s/%s", tenant, path);
	is_outcome(outcome, home == NULL ? OUTCOME_NOT_FOUND : strcmp(tenant, home) == 0 ? OUTCOME_OK : OUTCOME_MOVED, what);
	if (home != NULL)
		is_str(here.resource.tenant, home, "%s: its home", what);
}

// Everything of a resource but the times of its deletion, as text.
static struct str state_of(const char *tenant, const char *path)
{
	(void)DO(GET, tenant, path);
	struct resource r = here.resource;
	struct buf text = buf_new(here.pool, 512);

	uuid_add(&text, r.uid);
	buf_addf(&text, " %llu %llu %d %lld %lld %.*s %.*s ", (unsigned long long)r.revision, (unsigned long long)r.edits,
		r.locked, (long long)r.created_us, (long long)r.updated_us, STR_ARG(r.meta), STR_ARG(r.body));
	buf_add_hex(&text, etag_now(), sizeof(r.stored_etag));
	return buf_str(&text);
}

// ---- forwards

static void chains(void)
{
	(void)DO(PUT, "a", "pv");
	EXPECT(SEE_OTHER, "a to b", MOVE, "a", "pv", "b");
	EXPECT(SEE_OTHER, "b to c", MOVE, "b", "pv", "c");
	lives_in("a", "pv", "c");
	lives_in("b", "pv", "c");
	EXPECT(MOVED, "a move from where it is no more", MOVE, "a", "pv", "b");
	is_str(here.action.resource.tenant, "c", "tells where it is");
	EXPECT(MOVED, "its move action likewise", PREVIEW, "b", "pv", "a");
	EXPECT(MOVED, "a deletion there", DELETE, "a", "pv");
	EXPECT(MOVED, "a patch there", PATCH, "a", "pv", .body = "{\"n\":1}");
	EXPECT(SEE_OTHER, "back to a", MOVE, "c", "pv", "a");
	lives_in("a", "pv", "a");
	lives_in("b", "pv", "a");
	lives_in("c", "pv", "a");
	is_sound("a chain");
	EXPECT(NO_CONTENT, "deleted at the end of chains", DELETE, "a", "pv");
	EXPECT(GONE, "at its address", GET, "a", "pv");
	EXPECT(GONE, "at one it left", GET, "b", "pv");
	EXPECT(NO_CONTENT, "recovered", RECOVER, "a", "pv");
	lives_in("c", "pv", "a");
	EXPECT(CREATED, "a new one at an address it left", PUT, "b", "pv");
	lives_in("b", "pv", "b");
	lives_in("c", "pv", "a");
	EXPECT(BLOCKED, "stands in its way", MOVE, "a", "pv", "b");
	EXPECT(NO_CONTENT, "until it is deleted", DELETE, "b", "pv");
	EXPECT(GONE, "the deleted one is not forwarded", GET, "b", "pv");
	EXPECT(SEE_OTHER, "then it moves", MOVE, "a", "pv", "b");
	EXPECT(NAME_TAKEN, "and the deleted one cannot come back", RECOVER, "b", "pv");
	EXPECT(SEE_OTHER, "it moves on", MOVE, "b", "pv", "c");
	lives_in("b", "pv", "c");
	EXPECT(NO_CONTENT, "now it can", RECOVER, "b", "pv");
	lives_in("b", "pv", "b");
	is_sound("forwards");
	server_sql("DELETE FROM resources WHERE name = 'pv';\nDELETE FROM forwards;\nUPDATE tenant_counts SET resources = 0;");
}

// ---- namespaces

static void merging(void)
{
	(void)DO(PUT, "a", "n/");
	(void)DO(PUT, "a", "n/one");
	(void)DO(PUT, "a", "n/both");
	(void)DO(PUT, "a", "default/d");
	(void)DO(PUT, "b", "n/");
	(void)DO(PUT, "b", "n/both");
	(void)DO(GET, "a", "n/");
	struct uuid merged = here.resource.uid;
	EXPECT(BLOCKED, "what both have blocks", MOVE, "a", "n/", "b");
	is_int((long long)here.action.n_blockers, 1, "the namespace itself does not");
	is_str(here.action.blockers[0].resource, "namespaces/n/configmaps/both", "it is named");
	EXPECT(BLOCKED, "all likewise", MOVE, "a", NULL, "b");
	is_int((long long)here.action.n_blockers, 1, "one blocker");
	lives_in("a", "n/one", "a");
	(void)DO(DELETE, "b", "n/both");
	EXPECT(SEE_OTHER, "without it they merge", MOVE, "a", "n/", "b");
	is_changes(&here.request_id, 3, "the namespace and two in it");
	lives_in("a", "n/", "b");
	lives_in("a", "n/one", "b");
	is_int(sql_number("SELECT resources FROM tenant_counts WHERE tenant_id = " TENANT_ID, "a"), 1, "a keeps default's");
	is_int(sql_number("SELECT resources FROM tenant_counts WHERE tenant_id = " TENANT_ID, "b"), 3, "b has one namespace");
	is_sound("merged");
	EXPECT(NO_CONTENT, "the merged one comes back by uid", RECOVER, "a", "n/", .uid = merged);
	ok((lives_in("a", "n/", "a"), uuid_eq(here.resource.uid, merged)), "it is the same");
	lives_in("a", "n/one", "b");
	is_sound("recovered after the merge");
	EXPECT(SEE_OTHER, "all moves merge as well", MOVE, "a", NULL, "b");
	lives_in("a", "default/d", "b");
	lives_in("a", "default/", "a");
	EXPECT(CONFLICT, "default stays", MOVE, "a", "default/", "b");
	EXPECT(CONFLICT, "and is not deleted", DELETE, "a", "default/");
	EXPECT(SEE_OTHER, "a single one moves where its namespace is", MOVE, "b", "default/d", "c");
	EXPECT(BLOCKED, "and nowhere else", MOVE, "b", "n/one", "c");
	is_str(str_c(here.action.blockers[0].reason), "namespace-missing", "for want of it");
	is_sound("merged all");
}

// ---- recovery

static void recovery(void)
{
	(void)DO(PUT, "c", "m/", .meta = "{\"labels\":{\"x\":\"1\"}}");
	(void)DO(PUT, "c", "m/early");
	(void)DO(PUT, "c", "m/c1", .body = "{\"n\":1}");
	(void)DO(PUT, "c", "m/c1", .body = "{\"n\":2}", .meta = "{\"annotations\":{\"y\":\"2\"}}");
	(void)DO(PUT, "c", "m/c2");
	struct str space = state_of("c", "m/"), c1 = state_of("c", "m/c1");
	EXPECT(NO_CONTENT, "one is deleted before", DELETE, "c", "m/early");
	EXPECT(NO_CONTENT, "then the namespace", DELETE, "c", "m/");
	is_changes(&here.request_id, 3, "what went together");
	EXPECT(GONE, "what was in it is gone", GET, "c", "m/c1");
	EXPECT(CONFLICT, "and not recovered without it", RECOVER, "c", "m/c1");
	EXPECT(NO_CONTENT, "it comes back", RECOVER, "c", "m/");
	is_changes(&here.request_id, 3, "what came together");
	is_strs(state_of("c", "m/"), space, "as it was");
	is_strs(state_of("c", "m/c1"), c1, "with what was in it");
	EXPECT(GONE, "what went before does not", GET, "c", "m/early");
	(void)DO(DELETE, "c", "m/");
	(void)DO(PUT, "c", "m/");
	EXPECT(NO_CONTENT, "into a new namespace one is recovered", RECOVER, "c", "m/c1");
	is_strs(state_of("c", "m/c1"), c1, "as it was");
	EXPECT(GONE, "alone", GET, "c", "m/c2");
	EXPECT(NAME_TAKEN, "the old namespace finds its name taken", RECOVER, "c", "m/");
	(void)DO(DELETE, "c", "m/c1");
	EXPECT(NO_CONTENT, "again", RECOVER, "c", "m/c1");
	is_strs(state_of("c", "m/c1"), c1, "and as it was");
	is_sound("recovered");
}

static void tenant_recovery(void)
{
	struct str c1 = state_of("c", "m/c1"), d = state_of("c", "default/d");
	(void)DO(MOVE, "c", "default/d", "b");
	EXPECT(NO_CONTENT, "a tenant goes", DELETE_TENANT, "c");
	EXPECT(GONE, "with all in it", GET, "c", "m/c1");
	EXPECT(GONE, "its forwards as well", GET, "c", "default/d");
	EXPECT(GONE, "nothing is recovered in it", RECOVER, "c", "m/c2");
	EXPECT(NO_CONTENT, "and comes back", RECOVER_TENANT, "c");
	is_changes(&here.request_id, 1, "one change");
	is_strs(state_of("c", "m/c1"), c1, "as it was");
	lives_in("c", "default/d", "b");
	(void)DO(MOVE, "b", "default/d", "c");
	ok(!str_eq(state_of("c", "default/d"), d), "moves make revisions");
	is_sound("tenant recovered");
}

// ---- the change log

static void change_rows(void)
{
	EXPECT(CREATED, "made", PUT, "a", "log");
	is_changes(&here.request_id, 1, "made");
	uint8_t etag[64];
	memcpy(etag, etag_now(), sizeof(etag));
	EXPECT(OK, "the same again", PUT, "a", "log");
	is_changes(&here.request_id, 0, "the same again");
	EXPECT(OK, "changed", PUT, "a", "log", .body = "{\"n\":1}");
	is_changes(&here.request_id, 1, "changed");
	EXPECT(STALE, "a stale write", PUT, "a", "log", .body = "{\"n\":2}", .match = etag);
	is_changes(&here.request_id, 0, "a stale write");
	EXPECT(STALE, "a stale deletion", DELETE, "a", "log", .match = etag);
	is_changes(&here.request_id, 0, "a stale deletion");
	EXPECT(SEE_OTHER, "moved", MOVE, "a", "log", "b");
	EXPECT(SEE_OTHER, "moving nothing", MOVE, "e", NULL, "b");
	is_changes(&here.request_id, 0, "moving nothing");
	EXPECT(NO_CONTENT, "deleted", DELETE, "b", "log");
	EXPECT(NO_CONTENT, "recovered", RECOVER, "b", "log");
	is_int(sql_number("SELECT COUNT(*) FROM changes WHERE name = 'log'"), 5, "one row for each");
	is_int(sql_number("SELECT COUNT(*) FROM changes x WHERE name = 'log' AND (verb, revision, etag_before IS NULL, etag_after IS "
			  "NULL) IN (('created', 1, 1, 0), ('updated', 2, 0, 0), ('moved', 3, 0, 0), ('deleted', 3, 0, 1), "
			  "('recovered', 3, 1, 0))"), 5, "with revision and etags");
	is_int(sql_number("SELECT COUNT(*) FROM changes x JOIN changes y ON y.resource_id = x.resource_id AND y.id > x.id AND "
			  "y.verb IN ('updated', 'moved', 'deleted') AND x.verb IN ('created', 'updated', 'moved') WHERE "
			  "x.name = 'log' AND x.etag_after <> y.etag_before AND y.revision - x.revision < 2 AND x.id = (SELECT MAX(id) "
			  "FROM changes z WHERE z.resource_id = y.resource_id AND z.id < y.id)"), 0, "each begins where the last one ended");
	is_int(sql_number("SELECT COUNT(*) FROM changes c JOIN resources r ON r.id = c.resource_id WHERE c.verb IN ('created', "
			  "'updated', 'moved', 'recovered') AND c.id = (SELECT MAX(id) FROM changes m WHERE m.resource_id = r.id) AND "
			  "(c.etag_after <> r.etag OR c.revision <> r.revision OR c.tenant_id <> r.tenant_id)"), 0,
		"the last one says what is stored");
	EXPECT(OK, "a tenant's change", PUT_TENANT, "e", .meta = "{\"x\":\"1\"}");
	is_changes(&here.request_id, 1, "a tenant's change");
	EXPECT(OK, "the same again", PUT_TENANT, "e", .meta = "{\"x\":\"1\"}");
	is_changes(&here.request_id, 0, "the same again");
	EXPECT(CREATED, "a tenant made", PUT_TENANT, "e2");
	is_changes(&here.request_id, 2, "it and its namespace");
}

static void round_trips(void)
{
	(void)DO(PUT, "a", "warm");
	(void)DO(PUT, "a", "warm", .body = "{\"n\":1}");
	(void)DO(GET, "a", "warm");
	uint64_t before = db_round_trips(here.db);
	(void)DO(PUT, "a", "cold");
	is_int((long long)(db_round_trips(here.db) - before), 3, "making is three round trips");
	before = db_round_trips(here.db);
	(void)DO(PUT, "a", "cold", .body = "{\"n\":1}");
	is_int((long long)(db_round_trips(here.db) - before), 3, "a change is three");
	before = db_round_trips(here.db);
	(void)DO(GET, "a", "cold");
	is_int((long long)(db_round_trips(here.db) - before), 1, "a read is one");
	before = db_round_trips(here.db);
	(void)DO(GET, "a", "default/none");
	is_int((long long)(db_round_trips(here.db) - before), 2, "a read of what is not there is two");
}

// ---- so many that they move in several statements

// Etags of what SQL made are none.
static void note_but_etags(void *arg, const char *check, uint64_t found, uint64_t fixed, const char *example)
{
	if (strstr(check, "etag, size") == NULL)
		note_damage(arg, check, found, fixed, example);
}

static void is_sound_but_etags(const char *what)
{
	uint64_t found = 0;
	struct uuid id = uuid_new();

	(void)registry_begin(here.registry, here.pool, &id, STR("doctor"), &here.problem);
	is_outcome(doctor(here.registry, &(struct doctor_run){ .report = note_but_etags, .arg = &found }), OUTCOME_OK, what);
	is_int((long long)found, 0, "%s: the store is sound", what);
}

static void large(void)
{
	(void)DO(PUT_TENANT, "l1");
	(void)DO(PUT_TENANT, "l2");
	(void)DO(PUT, "l1", "n/");
	(void)DO(PUT, "l2", "n/");
	(void)DO(PUT, "l2", "pv");
	server_sql("INSERT INTO resources (uid, tenant_id, type_id, namespace, name, bytes, revision, edits, h0, h1, h2, h3, etag, meta, "
		   "body, created_at, updated_at) SELECT UNHEX(MD5(seq)), (SELECT id FROM tenants WHERE name = 'l1'), "
		   "(SELECT id FROM types WHERE plural = 'configmaps'), IF(seq % 2, 'n', 'default'), CONCAT('c', seq), 4, 1, 1, 1, 1, "
		   "1, 1, REPEAT('e', 64), '{}', '{}', UTC_TIMESTAMP(6), UTC_TIMESTAMP(6) FROM seq_1_to_20000;");
	server_sql("UPDATE tenant_counts SET resources = 20001 WHERE tenant_id = (SELECT id FROM tenants WHERE name = 'l1');");
	EXPECT(SEE_OTHER, "they move at once", MOVE, "l1", NULL, "l2");
	is_changes(&here.request_id, 20001, "each and the merged namespace");
	is_int(sql_number("SELECT resources FROM tenant_counts WHERE tenant_id = " TENANT_ID, "l2"), 20002, "all are counted");
	is_int(sql_number("SELECT COUNT(*) FROM forwards WHERE tenant_id = " TENANT_ID, "l1"), 20001, "all left a forward");
	is_sound_but_etags("many moved");
	EXPECT(ACCEPTED, "a namespace with many goes back in the background", MOVE_ASYNC, "l2", "n/", "l1");
	ok(mover_once(server.config, NULL), "it is carried out");
	is_int(sql_number("SELECT resources FROM tenant_counts WHERE tenant_id = " TENANT_ID, "l1"), 10001, "all of it went");
	is_int(sql_number("SELECT moved FROM move_progress ORDER BY move_id DESC LIMIT 1"), 10001, "progress was told");
	is_sound_but_etags("a large namespace moved");
}

int main(void)
{
	const char *const tenants[] = { "a", "b", "c", "e" };

	fixture_start();
	for (size_t i = 0; i < COUNT_OF(tenants); i++)
		(void)DO(PUT_TENANT, tenants[i]);
	chains();
	merging();
	recovery();
	tenant_recovery();
	change_rows();
	round_trips();
	is_sound("at the end");
	large();
	return fixture_end();
}

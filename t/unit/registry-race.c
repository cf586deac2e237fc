// SPDX-License-Identifier: Apache-2.0
// Two requests at once. The first has done all but its COMMIT when the second begins, in another process; it commits
// once the second one waits or has ended.
#include "base/base.h"

#include "registry-fixture.h"

static struct op other;
static pid_t other_pid;
static bool started, waits;

static void let_other_run(void)
{
	if (!started)
		other_pid = start_op(&other);
	started = true;
	waits = waits || waits_for_lock(other_pid);
}

// one is inside its transaction while two runs. Both their ends are told.
static void race(const char *what, struct op one, enum outcome want_one, struct op two, enum outcome want_two)
{
	char text[160];

	other = two;
	started = waits = false;
	one.before_commit = let_other_run;
	(void)snprintf(text, sizeof(text), "%s: the first", what);
	is_outcome(client_do(&here, &one), want_one, text);
	(void)snprintf(text, sizeof(text), "%s: the second", what);
	is_outcome(end_op(other_pid), want_two, text);
	is_sound(what);
}

static void tenants(void)
{
	race("two make a tenant", OP(PUT_TENANT, "a"), OUTCOME_CREATED, OP(PUT_TENANT, "a"), OUTCOME_OK);
	is_int(sql_number("SELECT COUNT(*) FROM changes WHERE resource_id IS NULL"), 1, "one of them made it");
	race("a change meets another", OP(PUT_TENANT, "a", .meta = "{\"x\":\"1\"}"), OUTCOME_OK,
		OP(PUT_TENANT, "a", .tier = "free"), OUTCOME_OK);
	is_int(sql_number("SELECT revision FROM tenants WHERE name = 'a'"), 3, "both changes are there");
	race("a credential's tenant meets an operator's", OP(PUT_TENANT, "k", .meta = "{\"contact\":\"ann\"}"), OUTCOME_CREATED,
		OP(MAKE_TENANT, "k", .meta = "{\"name\":\"kit\"}"), OUTCOME_OK);
	is_int(sql_number("SELECT COUNT(*) FROM tenants WHERE name = 'k' AND revision = 1 AND metadata LIKE '%%ann%%'"), 1,
		"it is as the operator has made it");
	race("two credentials' tenant", OP(MAKE_TENANT, "k2", .meta = "{\"name\":\"1\"}"), OUTCOME_CREATED,
		OP(MAKE_TENANT, "k2", .meta = "{\"name\":\"2\"}"), OUTCOME_OK);
	race("deletion meets deletion", OP(DELETE_TENANT, "a"), OUTCOME_NO_CONTENT, OP(DELETE_TENANT, "a"), OUTCOME_GONE);
	race("recovery meets recovery", OP(RECOVER_TENANT, "a"), OUTCOME_NO_CONTENT, OP(RECOVER_TENANT, "a"), OUTCOME_CONFLICT);
}

static void writes(void)
{
	(void)DO(PUT_TENANT, "b");
	race("two make a resource", OP(PUT, "b", "pv"), OUTCOME_CREATED, OP(PUT, "b", "pv", .body = "{\"n\":2}"), OUTCOME_OK);
	is_int(sql_number("SELECT revision FROM resources WHERE name = 'pv'"), 2, "the second one changed it");
	race("two change a resource", OP(PUT, "b", "pv", .body = "{\"n\":3}"), OUTCOME_OK,
		OP(PUT, "b", "pv", .body = "{\"n\":4}"), OUTCOME_OK);
	is_int(sql_number("SELECT revision FROM resources WHERE name = 'pv'"), 4, "one after the other");
	(void)DO(GET, "b", "pv");
	uint8_t etag[64];
	memcpy(etag, etag_now(), sizeof(etag));
	race("a change meets a conditional one", OP(PUT, "b", "pv", .body = "{\"n\":5}"), OUTCOME_OK,
		OP(PUT, "b", "pv", .body = "{\"n\":6}", .match = etag), OUTCOME_STALE);
	race("a change meets a deletion", OP(PUT, "b", "pv", .body = "{\"n\":7}"), OUTCOME_OK, OP(DELETE, "b", "pv"),
		OUTCOME_NO_CONTENT);
	race("recovery meets making", OP(RECOVER, "b", "pv"), OUTCOME_NO_CONTENT, OP(PUT, "b", "pv", .body = "{\"n\":8}"),
		OUTCOME_OK);
	race("deletion meets recovery", OP(DELETE, "b", "pv"), OUTCOME_NO_CONTENT, OP(RECOVER, "b", "pv"), OUTCOME_NO_CONTENT);
	(void)DO(DELETE, "b", "pv");
	race("making meets recovery", OP(PUT, "b", "pv"), OUTCOME_CREATED, OP(RECOVER, "b", "pv"), OUTCOME_NAME_TAKEN);
	race("a change of nothing meets deletion", OP(PUT, "b", "pv"), OUTCOME_OK, OP(DELETE, "b", "pv"), OUTCOME_NO_CONTENT);
}

static void spaces(void)
{
	(void)DO(PUT_TENANT, "c");
	(void)DO(PUT, "c", "n/");
	(void)DO(PUT, "c", "n/old");
	race("making meets deletion of its namespace", OP(PUT, "c", "n/new"), OUTCOME_CREATED, OP(DELETE, "c", "n/"),
		OUTCOME_NO_CONTENT);
	is_int(sql_number("SELECT COUNT(*) FROM resources WHERE namespace = 'n' AND live = 1"), 0, "the new one went with it");
	race("recovery of a namespace meets making in it", OP(RECOVER, "c", "n/"), OUTCOME_NO_CONTENT,
		OP(PUT, "c", "n/new2"), OUTCOME_CREATED);
	race("deletion of a namespace meets making in it", OP(DELETE, "c", "n/"), OUTCOME_NO_CONTENT,
		OP(PUT, "c", "n/late"), OUTCOME_NOT_FOUND);
	race("the same with a change", OP(RECOVER, "c", "n/"), OUTCOME_NO_CONTENT, OP(PUT, "c", "n/old", .body = "{\"n\":1}"),
		OUTCOME_OK);
	race("a change meets deletion of its namespace", OP(PUT, "c", "n/old", .body = "{\"n\":2}"), OUTCOME_OK,
		OP(DELETE, "c", "n/"), OUTCOME_NO_CONTENT);
	(void)DO(RECOVER, "c", "n/");
	race("deletion of a namespace meets a change", OP(DELETE, "c", "n/"), OUTCOME_NO_CONTENT,
		OP(PATCH, "c", "n/old", .body = "{\"n\":3}"), OUTCOME_GONE);
	(void)DO(PUT, "c", "n/");
	race("recovery of one meets deletion of its namespace", OP(RECOVER, "c", "n/old"), OUTCOME_NO_CONTENT,
		OP(DELETE, "c", "n/"), OUTCOME_NO_CONTENT);
}

static void moves(void)
{
	(void)DO(PUT_TENANT, "d");
	(void)DO(PUT_TENANT, "e");
	(void)DO(PUT, "d", "pv");
	(void)DO(PUT, "e", "qv");
	race("a change meets a move", OP(PUT, "d", "pv", .body = "{\"n\":1}"), OUTCOME_OK, OP(MOVE, "d", NULL, "e"),
		OUTCOME_SEE_OTHER);
	race("a move meets a change", OP(MOVE, "e", "pv", "d"), OUTCOME_SEE_OTHER, OP(PATCH, "e", "pv", .body = "{\"n\":2}"),
		OUTCOME_MOVED);
	race("a move meets making at the old address", OP(MOVE, "d", "pv", "e"), OUTCOME_SEE_OTHER, OP(PUT, "d", "pv"),
		OUTCOME_CREATED);
	race("a move meets one back", OP(MOVE, "e", "qv", "d"), OUTCOME_SEE_OTHER, OP(MOVE, "d", "qv", "e"), OUTCOME_SEE_OTHER);
	(void)DO(DELETE, "d", "pv");
	(void)DO(PUT, "d", "rv");
	race("all moves meet all moves back", OP(MOVE, "d", NULL, "e"), OUTCOME_SEE_OTHER, OP(MOVE, "e", NULL, "d"),
		OUTCOME_SEE_OTHER);
	is_int(sql_number("SELECT COUNT(*) FROM resources WHERE live = 1 AND tenant_id = " TENANT_ID, "d"), 3, "all went back");
	race("a move meets deletion of its destination", OP(MOVE, "d", "pv", "e"), OUTCOME_SEE_OTHER, OP(DELETE_TENANT, "e"),
		OUTCOME_NO_CONTENT);
	race("recovery of a tenant meets a move into it", OP(RECOVER_TENANT, "e"), OUTCOME_NO_CONTENT,
		OP(MOVE, "d", "qv", "e"), OUTCOME_SEE_OTHER);
	race("deletion of a tenant meets a move into it", OP(DELETE_TENANT, "e"), OUTCOME_NO_CONTENT,
		OP(MOVE, "d", "rv", "e"), OUTCOME_GONE);
	race("making meets deletion of its tenant", OP(PUT, "d", "sv"), OUTCOME_CREATED, OP(DELETE_TENANT, "d"),
		OUTCOME_NO_CONTENT);
	(void)DO(RECOVER_TENANT, "d");
	race("deletion of a tenant meets making in it", OP(DELETE_TENANT, "d"), OUTCOME_NO_CONTENT, OP(PUT, "d", "tv"),
		OUTCOME_GONE);
}

static void conditional_moves(void)
{
	char etag[MOVE_TAG_HEX + 1];

	(void)DO(PUT_TENANT, "h");
	(void)DO(PUT_TENANT, "i");
	(void)DO(PUT, "h", "pv");
	(void)DO(PREVIEW, "h", NULL, "i");
	memcpy(etag, here.action.etag, sizeof(etag));
	race("a change meets a conditional move", OP(PUT, "h", "pv", .body = "{\"n\":1}"), OUTCOME_OK,
		OP(MOVE, "h", NULL, "i", .match_action = etag), OUTCOME_STALE);
	(void)DO(PREVIEW, "h", NULL, "i");
	memcpy(etag, here.action.etag, sizeof(etag));
	race("two carry out the same move", OP(MOVE, "h", NULL, "i", .match_action = etag), OUTCOME_SEE_OTHER,
		OP(MOVE, "h", NULL, "i", .match_action = etag), OUTCOME_STALE);
}

static void quotas(void)
{
	(void)DO(PUT_TENANT, "f", .tier = "tiny");
	(void)DO(PUT_TENANT, "g");
	(void)DO(PUT, "f", "f1");
	(void)DO(PUT, "f", "f2");
	(void)DO(PUT, "g", "g1");
	race("two want the last place", OP(PUT, "f", "f3"), OUTCOME_CREATED, OP(PUT, "f", "f4"), OUTCOME_OVER_QUOTA);
	(void)DO(DELETE, "f", "f3");
	race("making meets recovery at the last place", OP(PUT, "f", "f5"), OUTCOME_CREATED, OP(RECOVER, "f", "f3"),
		OUTCOME_OVER_QUOTA);
	(void)DO(DELETE, "f", "f5");
	race("recovery meets making at the last place", OP(RECOVER, "f", "f3"), OUTCOME_NO_CONTENT, OP(PUT, "f", "f6"),
		OUTCOME_OVER_QUOTA);
	(void)DO(DELETE, "f", "f3");
	race("making meets a move to the last place", OP(PUT, "f", "f7"), OUTCOME_CREATED, OP(MOVE, "g", "g1", "f"),
		OUTCOME_BLOCKED);
	(void)DO(DELETE, "f", "f7");
	race("a move meets making at the last place", OP(MOVE, "g", "g1", "f"), OUTCOME_SEE_OTHER, OP(PUT, "f", "f8"),
		OUTCOME_OVER_QUOTA);
	is_int(sql_number("SELECT resources FROM tenant_counts WHERE tenant_id = " TENANT_ID, "f"), 3, "never one too many");
	race("a smaller tier meets making", OP(PUT_TENANT, "g", .tier = "tiny"), OUTCOME_OK, OP(PUT, "g", "g2"), OUTCOME_CREATED);
}

int main(void)
{
	fixture_start();
	tenants();
	writes();
	spaces();
	moves();
	conditional_moves();
	quotas();
	return fixture_end();
}

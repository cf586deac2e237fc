// SPDX-License-Identifier: Apache-2.0
// Moves in the background: how a queued move stands, and what the mover does if something has changed since the move was queued.
#include "base/base.h"

#include "registry-moves.h"
#include "sql/locks.h"

static struct uuid queued;

// How the queued move stands.
static struct str standing(const char *source)
{
	static const char *const states[] = { "queued", "running", "done", "failed" };
	struct move_status status;
	struct uuid id = uuid_new();

	registry_begin(here.registry, here.pool, &id, STR("tester"), &here.problem);
	enum outcome outcome = move_get(here.registry, str_c(source), queued, &status);
	if (outcome != OUTCOME_OK)
		return str_printf(here.pool, "%s: %.*s", outcome_name(outcome), STR_ARG(here.registry->problem->detail));
	return str_printf(here.pool, "%s %.*s %.*s %llu/%llu '%.*s' %.*s %.*s '%.*s' '%.*s' %s", states[status.state], STR_ARG(status.source),
		STR_ARG(status.dest), (unsigned long long)status.moved, (unsigned long long)status.total, STR_ARG(status.resource),
		STR_ARG(status.dest_space), STR_ARG(status.dest_name), STR_ARG(status.outcome), STR_ARG(status.detail),
		status.finished_us == 0 ? "open" : status.finished_us >= status.created_us ? "ended" : "?");
}

static void queue(const char *source, const char *path, const char *dest, const char *match)
{
	is_outcome(DO(MOVE_ASYNC, source, path, dest, .match_action = match), OUTCOME_ACCEPTED, "a move that waits");
	queued = here.request_id;
}

static void carry(const char *what)
{
	ok(mover_once(server.config, NULL), "%s: the mover finds it", what);
	here.request_id = queued;
}

static void mover(void)
{
	char tag[MOVE_TAG_HEX + 1];

	ok(!mover_once(server.config, NULL), "nothing waits");
	queue("a", "pv1", "b", NULL);
	is_str(recorded(), "a b pv1 queued plain 2 tester 1 open  ", "its record");
	is_str(standing("a"), "queued a b 0/1 'persistentvolumes/pv1'  pv1 '' '' open", "waits");
	is_str(standing("b"), "not-found: there is no such move of tenant \"b\"", "is none of the destination's");
	server_sql("INSERT INTO move_progress (move_id, moved, updated_at) SELECT MAX(id), 5, UTC_TIMESTAMP(6) FROM moves;");
	is_str(standing("a"), "running a b 5/1 'persistentvolumes/pv1'  pv1 '' '' open", "runs");
	carry("one");
	is_str(standing("a"), "done a b 1/1 'persistentvolumes/pv1'  pv1 '' '' ended", "is done");
	is_str(log_of_last(), "moved a b /pe:pv1 2 same 1 tester last", "its change");
	is_str(recorded(), "a b pv1 done plain 2 tester 1 later  ", "its record");
	ok(!mover_once(server.config, NULL), "once");
	EXPECT(SEE_OTHER, "back", MOVE, "b", "pv1", "a");

	queue("a", "pv1", "b", NULL);
	EXPECT(OK, "a change meanwhile", PUT, "a", "pv1", .body = "{\"n\":1}");
	carry("a changed one");
	is_str(standing("a"), "done a b 1/1 'persistentvolumes/pv1'  pv1 '' '' ended", "goes as it is by then");
	EXPECT(SEE_OTHER, "back", MOVE, "b", "pv1", "a");

	EXPECT(OK, "a look", PREVIEW, "a", "pv1", "b");
	memcpy(tag, here.action.etag, sizeof(tag));
	queue("a", "pv1", "b", tag);
	EXPECT(OK, "a change meanwhile", PUT, "a", "pv1", .body = "{\"n\":2}");
	carry("a changed one under a condition");
	is_str(standing("a"),
		"failed a b 0/1 'persistentvolumes/pv1'  pv1 'stale' 'something changed since the preview with that tag was shown: look at it again' ended", "stays");

	EXPECT(OK, "a look", PREVIEW, "a", "pv1", "b");
	memcpy(tag, here.action.etag, sizeof(tag));
	queue("a", "pv1", "b", tag);
	EXPECT(CREATED, "something else comes to the destination", PUT, "b", "else");
	carry("one under a condition");
	is_str(standing("a"), "done a b 1/1 'persistentvolumes/pv1'  pv1 '' '' ended", "goes");
	EXPECT(SEE_OTHER, "back", MOVE, "b", "pv1", "a");

	queue("a", "pv1", "b", NULL);
	EXPECT(CREATED, "its name is taken", PUT, "b", "pv1");
	carry("a blocked one");
	is_str(standing("a"),
		"failed a b 0/1 'persistentvolumes/pv1'  pv1 'blocked' 'nothing was moved: 1 thing stands in the way, the first: persistentvolumes/pv1: "
		"name-taken: the destination has a resource of that name; rename, move or delete one of them' ended", "stays");
	server_sql("UPDATE move_progress SET moved = 5 ORDER BY move_id DESC LIMIT 1;");
	ok(str_starts(standing("a"), STR("failed a b 0/1 ")), "whatever its progress was");
	EXPECT(NO_CONTENT, "its name is free", DELETE, "b", "pv1");

	queue("a", "pv1", "b", NULL);
	EXPECT(NO_CONTENT, "it is deleted", DELETE, "a", "pv1");
	carry("a deleted one");
	is_str(standing("a"),
		"failed a b 0/1 'persistentvolumes/pv1'  pv1 'gone' 'persistentvolumes/pv1 was deleted; "
		"it can be recovered until it is purged' ended", "is gone");
	EXPECT(CREATED, "another of its name", PUT, "a", "pv1");
	queue("a", "pv1", "b", NULL);
	EXPECT(NO_CONTENT, "it is deleted", DELETE, "a", "pv1");
	EXPECT(CREATED, "another of its name", PUT, "a", "pv1");
	carry("another one of the name");
	is_str(standing("a"),
		"failed a b 0/1 'persistentvolumes/pv1'  pv1 'not-found' 'the resource was deleted or moved before its move, and another one has its name' ended", "is not taken for it");
	queue("a", "pv1", "b", NULL);
	EXPECT(SEE_OTHER, "it goes elsewhere", MOVE, "a", "pv1", "empty");
	carry("one that moved");
	is_str(standing("a"),
		"failed a b 0/1 'persistentvolumes/pv1'  pv1 'moved' 'persistentvolumes/pv1 was moved to another tenant' ended", "is not looked for");
	EXPECT(SEE_OTHER, "back", MOVE, "empty", "pv1", "a");
	queue("a", "pv1", "b", NULL);
	EXPECT(NO_CONTENT, "it is deleted", DELETE, "a", "pv1");
	server_sql("DELETE FROM resources WHERE name = 'pv1' AND live IS NULL;");
	carry("a purged one");
	is_str(standing("a"), "failed a b 0/1 ''   'not-found' 'the resource was purged before its move' ended", "is not there");
}

static void mover_of_tenants(void)
{
	EXPECT(CREATED, "a tenant", PUT_TENANT, "x");
	EXPECT(CREATED, "of something", PUT, "x", "pvx");
	EXPECT(CREATED, "another", PUT_TENANT, "y");
	queue("x", NULL, "y", NULL);
	struct uuid first = queued;
	queue("a", "pv2", "b", NULL);
	carry("two");
	is_str(standing("a"), "queued a b 0/1 'persistentvolumes/pv2'  pv2 '' '' open", "the later one waits");
	queued = first;
	is_str(standing("x"), "done x y 1/1 ''   '' '' ended", "the older one went");
	carry("the other");
	EXPECT(SEE_OTHER, "back", MOVE, "b", "pv2", "a");

	queue("y", NULL, "x", NULL);
	server_sql("UPDATE tenants SET live = NULL WHERE name = 'y';");
	EXPECT(CREATED, "another tenant of the source's name", PUT_TENANT, "y");
	carry("of another tenant");
	here.request_id = queued;
	is_str(recorded(),
		"y x all failed plain 2 tester 1 later not-found the source tenant was purged before its move", "is not done");
	EXPECT(CREATED, "of something", PUT, "y", "pvy");
	queue("y", NULL, "x", NULL);
	server_sql("UPDATE tenants SET live = NULL WHERE name = 'x';");
	EXPECT(CREATED, "another tenant of the destination's name", PUT_TENANT, "x");
	carry("to another tenant");
	is_str(recorded(),
		"y x all failed plain 2 tester 1 later not-found the destination tenant was purged before the move", "is not done");
	queue("y", NULL, "x", NULL);
	EXPECT(NO_CONTENT, "the destination goes", DELETE_TENANT, "x");
	carry("to a deleted tenant");
	is_str(recorded(), "y x all failed plain 2 tester 1 later gone the destination tenant \"x\" was deleted", "is not done");
}

// Is a large move of the tenant under way? The mover says so by its row of progress, on a connection of its own.
static void is_being_moved(const char *tenant, bool want, const char *what)
{
	const struct sql_tenant_being_moved in = { .tenant = str_c(tenant) };
	struct db_rows rows;

	ok(sql_tenant_being_moved_run(here.db, here.pool, &in, &rows) == DB_OK && (rows.n > 0) == want, "%s: %s", tenant, what);
}

static void being_moved(void)
{
	EXPECT(CREATED, "a tenant", PUT_TENANT, "from");
	EXPECT(CREATED, "with something", PUT, "from", "pv");
	EXPECT(CREATED, "another", PUT_TENANT, "to");
	EXPECT(CREATED, "a third", PUT_TENANT, "neither");
	server_sql("DELETE FROM move_progress;");
	queue("from", NULL, "to", NULL);
	is_being_moved("from", false, "it waits");
	server_sql("INSERT INTO move_progress (move_id, moved, updated_at) SELECT MAX(id), 0, UTC_TIMESTAMP(6) FROM moves;");
	is_being_moved("from", true, "it runs");
	is_being_moved("to", true, "the destination");
	is_being_moved("neither", false, "another tenant");
	is_being_moved("none", false, "no tenant");
	server_sql("UPDATE moves SET state = 'done' ORDER BY id DESC LIMIT 1;");
	is_being_moved("from", false, "it is done");
	server_sql("UPDATE moves SET state = 'queued' ORDER BY id DESC LIMIT 1; UPDATE tenants SET live = NULL WHERE name = 'from';");
	is_being_moved("from", false, "it is no more");
	is_being_moved("to", true, "the destination");
}

int main(void)
{
	fixture_start();
	fill();
	EXPECT(CREATED, "a tenant without resources", PUT_TENANT, "empty");
	mover();
	mover_of_tenants();
	being_moved();
	return fixture_end();
}

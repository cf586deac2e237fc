// SPDX-License-Identifier: Apache-2.0
// Deleting namespaces: at once, or piece by piece where there is much in them; what waits for finalizers; what comes back.
#include "base/base.h"

#include "registry-fixture.h"

enum { PIECE = 10, MANY = 45 };

#define SPACE_ID "(SELECT id FROM resources WHERE type_id = (SELECT id FROM types WHERE plural = 'namespaces') AND live = 1 AND name = '%s')"
#define FINALIZERS "{\"finalizers\":[\"example.com/f\"]}"

static struct uuid deletion; // the last deletion's request

static long long living(const char *space)
{
	return sql_number("SELECT COUNT(*) FROM resources WHERE live = 1 AND namespace = '%s'", space);
}

static long long waiting(const char *space)
{
	return sql_number("SELECT COUNT(*) FROM resources WHERE live = 1 AND doomed_at IS NOT NULL AND namespace = '%s'", space);
}

static long long counted(void)
{
	return sql_number("SELECT resources FROM tenant_counts WHERE tenant_id = " TENANT_ID, "a");
}

static void put(const char *space, const char *name, int number, const char *meta)
{
	char path[64];

	(void)snprintf(path, sizeof(path), "%s/%s%d", space, name, number);
	if (DO(PUT, "a", path, .meta = meta) != OUTCOME_CREATED)
		bail_out(path);
}

static void fill(const char *space, int plain, int with_finalizers)
{
	char path[64];

	(void)snprintf(path, sizeof(path), "%s/", space);
	is_outcome(DO(PUT, "a", path), OUTCOME_CREATED, space);
	for (int i = 0; i < plain; i++)
		put(space, "c", i, NULL);
	for (int i = 0; i < with_finalizers; i++)
		put(space, "d", i, FINALIZERS);
}

static enum outcome delete_space(const char *path)
{
	enum outcome outcome = DO(DELETE, "a", path);

	deletion = here.request_id;
	return outcome;
}

// Pieces until nothing is left to do; how many there were.
static int empty(void)
{
	int n = 0;

	while (n < 1000 && mover_once(server.config, NULL))
		n++;
	return n;
}

static void at_once(void)
{
	fill("few", PIECE, 0);
	long long count = counted();
	is_outcome(delete_space("few/"), OUTCOME_NO_CONTENT, "as much as one transaction takes");
	is_int(living("few"), 0, "all is gone");
	is_int(counted(), count - PIECE - 1, "and counted");
	is_changes(&deletion, PIECE + 1, "a row each");
	ok(!mover_once(server.config, NULL), "nothing is left to do");
	EXPECT(NO_CONTENT, "it comes back", RECOVER, "a", "few/");
	is_int(living("few"), PIECE, "with all that went");
	is_int(counted(), count, "counted again");
	EXPECT(CREATED, "one more", PUT, "a", "few/x");
	is_outcome(delete_space("few/"), OUTCOME_ACCEPTED, "one more than one transaction takes");
	ok(empty() > 0, "is done in pieces");
	EXPECT(CREATED, "an empty one", PUT, "a", "none/");
	is_outcome(delete_space("none/"), OUTCOME_NO_CONTENT, "an empty one");
	is_changes(&deletion, 1, "an empty one");
	is_sound("at once");
}

static void in_pieces(void)
{
	fill("many", MANY, 0);
	long long count = counted();
	is_outcome(delete_space("many/"), OUTCOME_ACCEPTED, "much is accepted");
	is_int(living("many"), MANY, "and nothing of it gone yet");
	ok(here.resource.deletion_requested_us != 0, "the namespace is on its way");
	EXPECT(FORBIDDEN, "nothing new comes", PUT, "a", "many/new");
	EXPECT(OK, "what is there can change", PUT, "a", "many/c1", .body = "{\"n\":1}");
	EXPECT(ACCEPTED, "asked again", DELETE, "a", "many/");
	is_changes(&here.request_id, 0, "asked again");
	EXPECT(NO_CONTENT, "somebody deletes one of it", DELETE, "a", "many/c2");
	is_sound("before the first piece");
	for (long long left = MANY - 1; left > 0;) {
		ok(mover_once(server.config, NULL), "a piece");
		long long now = living("many");
		ok(now < left && left - now <= PIECE, "takes no more than a piece: %lld", left - now);
		left = now;
		is_sound("after a piece");
	}
	EXPECT(OK, "the namespace is still there", GET, "a", "many/");
	ok(mover_once(server.config, NULL), "it ends");
	EXPECT(GONE, "then it is gone", GET, "a", "many/");
	ok(!mover_once(server.config, NULL), "nothing is left to do");
	is_int(counted(), count - MANY - 1, "all is counted");
	// The namespace twice: first it was on its way.
	is_changes(&deletion, MANY - 1 + 2, "a row each");
	is_int(sql_number("SELECT COUNT(DISTINCT purge_at) FROM resources WHERE live IS NULL AND (namespace = 'many' OR name = 'many') AND name <> 'c2'"),
		1, "all has one purge time");
	EXPECT(NO_CONTENT, "it comes back", RECOVER, "a", "many/");
	is_int(living("many"), MANY - 1, "with all that went with it, and without what went before");
	EXPECT(OK, "the namespace", GET, "a", "many/");
	ok(here.resource.deletion_requested_us == 0, "is not on its way");
	EXPECT(CREATED, "it takes what comes", PUT, "a", "many/new");
	is_sound("in pieces");
	is_outcome(delete_space("many/"), OUTCOME_ACCEPTED, "it can go again");
	ok(empty() > 1, "it goes");
	is_sound("again");
}

static void finalizers(void)
{
	fill("held", MANY, 2 * PIECE + 5);
	is_outcome(delete_space("held/"), OUTCOME_ACCEPTED, "much, with finalizers");
	ok(empty() > 3, "all pieces");
	is_int(living("held"), 2 * PIECE + 5, "what has finalizers stays");
	is_int(waiting("held"), 2 * PIECE + 5, "and waits");
	is_int(sql_number("SELECT COUNT(*) FROM changes c JOIN resources r ON r.changed = c.id AND r.etag = c.etag_after AND r.revision = 2 "
		"WHERE r.namespace = 'held' AND c.verb = 'updated' AND c.fields = '[\"/metadata/deletionTimestamp\"]' AND r.live = 1"),
		2 * PIECE + 5, "each with its change");
	EXPECT(OK, "the namespace waits", GET, "a", "held/");
	ok(memmem(here.resource.body.p, here.resource.body.n, "has 25 resource instances", 25) != NULL, "and tells for what");
	is_sound("while it waits");
	for (int i = 0; i < 2 * PIECE + 5; i++) {
		char path[64];
		(void)snprintf(path, sizeof(path), "held/d%d", i);
		if (DO(PUT, "a", path) != OUTCOME_OK)
			bail_out(path);
	}
	EXPECT(GONE, "it goes with the last", GET, "a", "held/");
	is_sound("finalizers");

	fill("held2", 2, 3);
	is_outcome(delete_space("held2/"), OUTCOME_ACCEPTED, "few, with finalizers");
	is_int(waiting("held2"), 3, "all marked");
	is_int(living("held2"), 3, "the others gone");
	is_changes(&deletion, 2 + 3 + 1, "few, with finalizers");
	ok(!mover_once(server.config, NULL), "at once");
	is_sound("few");

	// A namespace that waits for its own first.
	fill("own", MANY, 0);
	EXPECT(OK, "one of its own", PUT, "a", "own/", .meta = FINALIZERS);
	is_outcome(delete_space("own/"), OUTCOME_ACCEPTED, "it waits for its own");
	ok(!mover_once(server.config, NULL), "and nothing goes");
	EXPECT(OK, "which is let go", PUT, "a", "own/");
	is_int(living("own"), MANY, "not at once");
	ok(empty() > 3, "but in pieces");
	EXPECT(GONE, "to the end", GET, "a", "own/");
	is_sound("own");
}

// Something in a piece is let go while others are still taken.
static void let_go_between(void)
{
	fill("mixed", MANY, 1);
	is_outcome(delete_space("mixed/"), OUTCOME_ACCEPTED, "asked to go");
	EXPECT(NO_CONTENT, "an object", DELETE, "a", "mixed/c40");
	EXPECT(ACCEPTED, "one that waits", DELETE, "a", "mixed/d0");
	EXPECT(OK, "is let go", PUT, "a", "mixed/d0");
	is_int(living("mixed"), MANY - 1, "takes no other along");
	ok(empty() > 3, "they go in pieces");
	EXPECT(GONE, "to the end", GET, "a", "mixed/");
	is_sound("mixed");
}

static void refused(void)
{
	fill("locked", MANY, 0);
	EXPECT(OK, "one is locked", PUT, "a", "locked/c7", .locked = true);
	is_outcome(delete_space("locked/"), OUTCOME_LOCKED, "it stays");
	is_changes(&deletion, 0, "it stays");
	ok(!mover_once(server.config, NULL), "nothing is left to do");
	EXPECT(CREATED, "it takes what comes", PUT, "a", "locked/new");
	is_sound("refused");
}

// Few, but more than is to be read at once.
static void large_ones(void)
{
	static char body[(1 << 20) + 16];

	// 1 MiB of content.
	(void)snprintf(body, sizeof(body), "{\"x\":\"%0*d\"}", 1 << 20, 0);
	EXPECT(CREATED, "a namespace", PUT, "a", "big/");
	for (int i = 0; i < 9; i++) {
		char path[24];
		(void)snprintf(path, sizeof(path), "big/b%d", i);
		is_outcome(DO(PUT, "a", path, .body = body, .meta = FINALIZERS), OUTCOME_CREATED, path);
	}
	is_outcome(delete_space("big/"), OUTCOME_ACCEPTED, "9 MiB to be read");
	is_int(waiting("big"), 0, "not at once");
	ok(mover_once(server.config, NULL), "a piece");
	is_int(waiting("big"), 7, "which has 8 MiB at most");
	ok(empty() > 0, "and the rest");
	is_int(waiting("big"), 9, "all wait");
	is_sound("large ones");
}

static bool is_blocked(const char *path, const char *reason)
{
	enum outcome outcome = DO(PREVIEW, "a", path, "b");

	if (outcome != OUTCOME_OK)
		diag("%s", outcome_name(outcome));
	return outcome == OUTCOME_OK && here.action.n_blockers == 1 && strcmp(here.action.blockers[0].reason, reason) == 0;
}

static void others(void)
{
	fill("stays", MANY, 0);
	is_outcome(delete_space("stays/"), OUTCOME_ACCEPTED, "asked to go");
	ok(is_blocked("stays/", "namespace-terminating"), "it does not move");
	EXPECT(CREATED, "something besides", PUT, "a", "pv1");
	ok(!is_blocked("pv1", "namespace-terminating"), "which can move");
	EXPECT(BLOCKED, "it does not move", MOVE, "a", "stays/", "b");
	ok(mover_once(server.config, NULL), "a piece");
	EXPECT(NO_CONTENT, "the tenant is deleted", DELETE_TENANT, "a");
	long long left = living("stays");
	ok(!mover_once(server.config, NULL), "then nothing more goes");
	is_int(living("stays"), left, "nothing");
	EXPECT(NO_CONTENT, "it comes back", RECOVER_TENANT, "a");
	ok(empty() > 2, "and it goes on");
	EXPECT(GONE, "to the end", GET, "a", "stays/");
	is_sound("others");

	// As an earlier release ends it, which knows nothing of pieces.
	fill("older", MANY, 0);
	is_outcome(delete_space("older/"), OUTCOME_ACCEPTED, "asked to go");
	server_sql("UPDATE resources SET doomed_at = NULL WHERE name = 'older';");
	ok(mover_once(server.config, NULL), "the mover sees");
	is_int(living("older"), MANY, "that it lives again");
	is_int(sql_number("SELECT COUNT(*) FROM namespace_deletions"), 0, "and forgets it");
	ok(!mover_once(server.config, NULL), "for good");
	server_sql("INSERT INTO namespace_deletions (resource_id, deletion, actor, purge_at) VALUES (999999999, REPEAT('x', 16), 'x', NOW());");
	ok(mover_once(server.config, NULL), "one that is no more");
	is_int(sql_number("SELECT COUNT(*) FROM namespace_deletions"), 0, "is forgotten");
}

// Two at once: each has its turn.
static void turns(void)
{
	fill("turn1", MANY, 0);
	fill("turn2", MANY, 0);
	is_outcome(delete_space("turn1/"), OUTCOME_ACCEPTED, "one");
	is_outcome(delete_space("turn2/"), OUTCOME_ACCEPTED, "another");
	ok(empty() > 6, "both go");
	is_int(living("turn1") + living("turn2"), 0, "to the end");
	is_int(sql_number("SELECT COUNT(*) FROM changes x JOIN changes y ON y.id > x.id WHERE x.verb = 'deleted' AND y.verb = 'deleted' AND x.name = 'turn1' "
		"AND y.name = 'turn2' AND x.type_id = y.type_id"), 1, "in their order");
}

static volatile sig_atomic_t never;

static pid_t start_mover(const char *fault)
{
	fflush(stdout);
	pid_t pid = fork();

	if (pid != 0)
		return pid;
	db_forget_after_fork(&here.db);
	(void)setenv("TENURE_FAULT", fault, 1);
	(void)alarm(60);
	mover_run(server.config, NULL, &never);
	_exit(0);
}

// Killed at some point, and gone on with by another.
static void killed(const char *fault)
{
	EXPECT(CREATED, fault, PUT, "a", "killed/");
	for (int i = 0; i < MANY; i++)
		put("killed", "c", i, i % 9 == 0 ? FINALIZERS : NULL);
	long long count = counted();
	is_outcome(delete_space("killed/"), OUTCOME_ACCEPTED, fault);
	ok(end_op(start_mover(fault)) == OUTCOME__COUNT, "%s: killed", fault);
	await_others(); // no mover goes on with a deletion whose row is still locked
	is_sound(fault);
	empty();
	is_int(waiting("killed"), 5, "%s: what has finalizers waits", fault);
	is_int(living("killed"), 5, "%s: all else is gone", fault);
	is_int(counted(), count - MANY + 5, "%s: and counted", fault);
	is_changes(&deletion, MANY + 2, fault); // each once, and the namespace when it began and when it waits
	is_sound(fault);
	for (int i = 0; i < MANY; i += 9) {
		char path[64];
		(void)snprintf(path, sizeof(path), "killed/c%d", i);
		if (DO(PUT, "a", path) != OUTCOME_OK)
			bail_out(path);
	}
	EXPECT(GONE, fault, GET, "a", "killed/");
	is_sound(fault);
	server_sql("UPDATE resources SET name = CONCAT('old', id) WHERE name = 'killed'; UPDATE resources SET namespace = CONCAT('old', id) "
		"WHERE namespace = 'killed';");
}

int main(void)
{
	fixture_start();
	SET(server.config, registry)->delete_sync_max = PIECE;
	EXPECT(CREATED, "a tenant", PUT_TENANT, "a");
	EXPECT(CREATED, "another", PUT_TENANT, "b");
	at_once();
	in_pieces();
	finalizers();
	let_go_between();
	refused();
	large_ones();
	others();
	turns();
	killed("statement:12:process");
	killed("statement:25:process");
	killed("before-commit:1:process");
	killed("after-commit:1:process");
	killed("before-commit:3:process");
	killed("after-commit:6:process");
	return fixture_end();
}

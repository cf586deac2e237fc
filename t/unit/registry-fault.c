// SPDX-License-Identifier: Apache-2.0
// Connections and processes that die at each point of an operation: all of it happened or nothing, never twice, and the
// answer is true.
#include "base/base.h"

#include "registry-fixture.h"
#include "registry/tenant/forward.h"

static void open_faulty(struct client *client, const char *fault)
{
	(void)setenv("TENURE_FAULT", fault, 1);
	client_open(client);
	(void)unsetenv("TENURE_FAULT");
	// Keys and types are read by statements too: the points are counted from the operation on.
}

static enum outcome do_faulty(const struct op *op, const char *fault, const char *what)
{
	struct client client;

	open_faulty(&client, fault);
	enum outcome outcome = client_do(&client, op);
	is_changes(&client.request_id, outcome_commits(outcome) ? 1 : 0, what);
	client_close(&client);
	return outcome;
}

// ---- the answer of COMMIT is lost

static void lost_answers(void)
{
	const char *fault = "after-commit:1:conn";

	is_outcome(do_faulty(&OP(PUT, "a", "lost"), fault, "making"), OUTCOME_CREATED, "making");
	is_outcome(do_faulty(&OP(PUT, "a", "lost", .body = "{\"n\":1}"), fault, "a change"), OUTCOME_OK, "a change");
	is_int(sql_number("SELECT revision FROM resources WHERE name = 'lost'"), 2, "one change");
	is_outcome(do_faulty(&OP(MOVE, "a", "lost", "b"), fault, "a move"), OUTCOME_SEE_OTHER, "a move");
	is_outcome(do_faulty(&OP(DELETE, "b", "lost"), fault, "a deletion"), OUTCOME_NO_CONTENT, "a deletion");
	is_outcome(do_faulty(&OP(RECOVER, "b", "lost"), fault, "a recovery"), OUTCOME_NO_CONTENT, "a recovery");
	is_outcome(do_faulty(&OP(PUT_TENANT, "b", .meta = "{\"x\":\"1\"}"), fault, "a tenant's change"), OUTCOME_OK,
		"a tenant's change");
	is_int(sql_number("SELECT revision FROM tenants WHERE name = 'b'"), 2, "one change");
	is_sound("lost answers");
	server_sql("DELETE FROM moves;");
}

// ---- revoking a forward, which leaves no change row

struct revoking {
	struct client *client;
	const char *name;
	enum outcome outcome;
};

static enum db_verdict run_revoke(void *arg)
{
	struct revoking *revoking = arg;
	struct registry *registry = revoking->client->registry;

	revoking->client->runs++;
	coherence_begin(registry);
	const struct address address = { .tenant = STR("a"), .type = type_called(registry, "persistentvolumes"), .space = STR(""),
		.name = str_c(revoking->name) };
	revoking->outcome = forward_revoke(registry, &address);
	return outcome_commits(revoking->outcome) ? DB_COMMIT : DB_ROLLBACK;
}

static void revokes(const char *name, const char *fault, enum outcome want, unsigned want_runs)
{
	struct client client;
	struct revoking revoking = { &client, name, OUTCOME_INTERNAL };

	open_faulty(&client, fault);
	client.request_id = uuid_new();
	enum outcome outcome = registry_begin(client.registry, client.pool, &client.request_id, STR("tester"), &client.problem);
	if (outcome == OUTCOME_OK && db_txn_run(client.db, DB_WRITE, &client.request_id, run_revoke, &revoking) == DB_OK)
		outcome = revoking.outcome;
	is_outcome(outcome, want, fault);
	// There are more than two if the server still has the first in hand, whose locks are not waited for.
	ok(want_runs == 1 ? client.runs == 1 : client.runs >= want_runs, "%s: %u runs", fault, client.runs);
	client_close(&client);
}

static void revokes_once(void)
{
	static const char *const faults[] = { "before-commit:1:conn", "after-commit:1:conn" };

	for (size_t i = 0; i < COUNT_OF(faults); i++) {
		(void)DO(PUT, "a", "fw");
		(void)DO(MOVE, "a", "fw", "b");
		revokes("fw", faults[i], OUTCOME_NO_CONTENT, 2);
		is_int(sql_number("SELECT COUNT(*) FROM forwards WHERE name = 'fw'"), 0, "%s: it is gone", faults[i]);
		(void)DO(DELETE, "b", "fw");
	}
	revokes("fw", "after-commit:1:conn", OUTCOME_NOT_FOUND, 1);
	is_sound("revoking");
	server_sql("DELETE FROM moves;");
}

// Before COMMIT was sent, a run that is repeated has deleted nothing.
static void revokes_nothing(void)
{
	unsigned repeated = 0;
	char fault[32];

	for (int i = 1; i <= 12; i++) {
		struct client client;
		struct revoking revoking = { &client, "none", OUTCOME_INTERNAL };

		(void)snprintf(fault, sizeof(fault), "statement:%d:conn", i);
		open_faulty(&client, fault);
		client.request_id = uuid_new();
		if (registry_begin(client.registry, client.pool, &client.request_id, STR("tester"), &client.problem) == OUTCOME_OK &&
			db_txn_run(client.db, DB_WRITE, &client.request_id, run_revoke, &revoking) == DB_OK)
			is_outcome(revoking.outcome, OUTCOME_NOT_FOUND, fault);
		repeated += client.runs > 1 ? 1 : 0;
		client_close(&client);
	}
	ok(repeated > 0, "some were repeated (%u)", repeated);
}

// ---- queueing a move, which leaves no change row

static void queue_one(const char *fault, const char *what, void (*at_start)(void))
{
	struct client client;
	struct op op = OP(MOVE_ASYNC, "a", "q", "b", .at_start = at_start);

	(void)DO(PUT, "a", "q");
	open_faulty(&client, fault);
	is_outcome(client_do(&client, &op), OUTCOME_ACCEPTED, what);
	ok(uuid_eq(client.moved.uid, client.request_id), "%s: the answer names the move", what);
	is_str(client.moved.action.source.name, "a", "%s: and whose it was", what);
	is_int(sql_number("SELECT COUNT(*) FROM moves"), 1, "%s: once", what);
	client_close(&client);
	(void)mover_once(server.config, NULL);
	is_int(sql_number("SELECT COUNT(*) FROM changes WHERE name = 'q' AND verb = 'moved'"), 1, "%s: it moved once", what);
	ok(!mover_once(server.config, NULL), "%s: nothing waits", what);
	(void)DO(DELETE, "b", "q");
	server_sql("DELETE FROM changes WHERE name = 'q';\nDELETE FROM resources WHERE name = 'q';\n"
		   "DELETE FROM forwards WHERE name = 'q';\nDELETE FROM moves;");
}

// Between the lost answer and the second try somebody carries the move out. The server may still have to carry out the COMMIT
// whose answer is lost.
static void carry_out_early(void)
{
	static int runs;

	if (++runs != 2)
		return;
	for (int i = 0; i < 10000 && sql_number("SELECT COUNT(*) FROM moves") == 0; i++)
		clock_pause_ms(5);
	ok(mover_once(server.config, NULL), "the move waits");
}

static void queueing(void)
{
	queue_one("after-commit:1:conn", "queueing, the answer lost", NULL);
	queue_one("before-commit:1:conn", "queueing, the connection lost", NULL);
	queue_one("after-commit:1:conn", "queueing, carried out before the second try", carry_out_early);
	is_sound("queueing");
}

// ---- what a move was asked for is no more when its turn comes

static void is_failed(const char *what)
{
	ok(mover_once(server.config, NULL), "%s: its turn comes", what);
	is_int(sql_number("SELECT COUNT(*) FROM moves WHERE state = 'failed' AND outcome <> '' AND detail <> ''"), 1,
		"%s: it fails, with a reason", what);
	is_int(sql_number("SELECT COUNT(*) FROM changes c JOIN moves m ON m.uid = c.request_id"), 0, "%s: nothing moves", what);
	server_sql("DELETE FROM moves;");
	is_sound(what);
}

static void other_things_of_that_name(void)
{
	(void)DO(PUT, "a", "r");
	(void)DO(MOVE_ASYNC, "a", "r", "b");
	(void)DO(DELETE, "a", "r");
	(void)DO(PUT, "a", "r");
	is_failed("the resource was deleted, and another one has its name");
	(void)DO(PUT_TENANT, "s1");
	(void)DO(PUT_TENANT, "s2");
	(void)DO(MOVE_ASYNC, "a", "r", "s2");
	(void)DO(DELETE_TENANT, "s2");
	server_sql("UPDATE tenants SET purge_at = '2000-01-01' WHERE name = 's2';");
	(void)DO(PUT_TENANT, "s2");
	is_failed("another tenant has the destination's name");
	(void)DO(PUT, "s1", "u");
	(void)DO(MOVE_ASYNC, "s1", NULL, "a");
	(void)DO(DELETE_TENANT, "s1");
	server_sql("UPDATE tenants SET purge_at = '2000-01-01' WHERE name = 's1';");
	(void)DO(PUT_TENANT, "s1");
	(void)DO(PUT, "s1", "v");
	is_failed("another tenant has the source's name");
}

// ---- a mover that dies

static pid_t start_mover(const char *fault)
{
	fflush(stdout);
	pid_t pid = fork();

	if (pid != 0)
		return pid;
	db_forget_after_fork(&here.db);
	(void)setenv("TENURE_FAULT", fault, 1);
	_exit(mover_once(server.config, NULL) ? 0 : 1);
}

static long long moved_count(void)
{
	return sql_number("SELECT COUNT(*) FROM resources WHERE live = 1 AND tenant_id = " TENANT_ID, "to");
}

static void mover_dies(const char *fault)
{
	(void)DO(MOVE_ASYNC, "from", NULL, "to");
	(void)end_op(start_mover(fault));
	await_others(); // no mover takes a move whose row is still locked
	long long now = moved_count();
	ok(now == 0 || now == 6, "%s: all or nothing (%lld)", fault, now);
	is_sound(fault);
	for (int i = 0; i < 5 && mover_once(server.config, NULL); i++)
		continue;
	is_int(moved_count(), 6, "%s: done in the end", fault);
	is_int(sql_number("SELECT COUNT(*) FROM moves WHERE state = 'done' AND resources = 6 AND resource_id IS NULL"), 1,
		"%s: known as done", fault);
	is_int(sql_number("SELECT COUNT(*) FROM changes c JOIN moves m ON m.uid = c.request_id WHERE m.resource_id IS NULL"), 6,
		"%s: each moved once", fault);
	is_sound(fault);
	server_sql("DELETE FROM moves;\nDELETE FROM move_progress;");
	(void)DO(MOVE, "to", NULL, "from");
	server_sql("DELETE FROM moves;");
}

static void movers(void)
{
	char fault[64];

	(void)DO(PUT_TENANT, "from");
	(void)DO(PUT_TENANT, "to");
	(void)DO(PUT, "from", "n/");
	(void)DO(PUT, "from", "n/c1");
	(void)DO(PUT, "from", "n/c2");
	(void)DO(PUT, "from", "default/c1");
	(void)DO(PUT, "from", "p1");
	(void)DO(PUT, "from", "p2");
	for (int i = 1; i <= 24; i += 1) {
		(void)snprintf(fault, sizeof(fault), "statement:%d:%s", i, i % 2 == 0 ? "conn" : "process");
		mover_dies(fault);
	}
	mover_dies("before-commit:1:process");
	mover_dies("before-commit:1:conn");
	mover_dies("after-commit:1:process");
	mover_dies("after-commit:1:conn");
}

int main(void)
{
	fixture_start();
	SET(server.config, db)->retries = 1000; // a busy server takes its time to end what a connection had begun that was cut
	(void)DO(PUT_TENANT, "a");
	(void)DO(PUT_TENANT, "b");
	lost_answers();
	revokes_once();
	revokes_nothing();
	queueing();
	other_things_of_that_name();
	movers();
	return fixture_end();
}

// SPDX-License-Identifier: Apache-2.0
// A registry on a private MariaDB, and single operations on it in few words: the tests of registry/ share this.
#ifndef TENURE_T_UNIT_REGISTRY_FIXTURE_H
#define TENURE_T_UNIT_REGISTRY_FIXTURE_H

#include <errno.h>
#include <signal.h>

#include "base/buf.h"
#include "base/clock.h"
#include "db-server.h"
#include "registry-types.h"
#include "registry/cache/coherence.h"
#include "registry/core/settings.h"
#include "registry/move/move.h"
#include "registry/mover.h"
#include "registry/registry.h"
#include "registry/resource/resource.h"
#include "registry/tags/etag.h"
#include "registry/tenant/system_space.h"
#include "registry/tenant/tenant.h"
#include "registry/trait/catalogue.h"
#include "registry/upkeep/doctor.h"
#include "registry/upkeep/reap.h"

// One client: a connection, its registry, and what the last operation came to.
struct client {
	struct db *db;
	struct registry_store *store;
	struct registry registry[1];
	struct pool *pool;
	struct tenant tenant;
	struct resource resource;
	struct move_action action;
	struct move_result moved;
	struct uuid request_id;
	struct problem problem; // why the last operation failed
	unsigned runs; // of the last operation's function
};

static struct client here; // the test's own

static void client_open(struct client *client)
{
	*client = (struct client){ .db = db_open(db_settings(server.config), DB_APPLICATION), .pool = pool_new() };
	if (client->db == NULL || client->pool == NULL)
		bail_out("no connection");
	client->store = registry_store_new(server.config, client->db);
	if (client->store == NULL)
		bail_out("no registry");
	registry_attach(client->registry, client->store);
}

static void client_close(struct client *client)
{
	registry_store_free(&client->store);
	db_close(&client->db);
	pool_free(&client->pool);
}

// ---- operations

enum verb { PUT_TENANT, MAKE_TENANT /* as a credential does that names it */, DELETE_TENANT, RECOVER_TENANT, PUT, PATCH, DELETE, RECOVER, GET, MOVE, MOVE_ASYNC, PREVIEW };

// Names are C strings. path: "pv1", a persistent volume; "ns1/", a namespace; "ns1/c1", a config map; of another type,
// where that is set.
struct op {
	enum verb verb;
	const char *tenant, *path;
	const char *dest;              // moves; path NULL: all
	const char *body, *meta, *tier; // NULL: {}; of a tenant, meta and tier NULL: kept
	bool locked;
	const uint8_t *match;          // If-Match: 64 bytes of an etag
	const char *match_action;      // the same for a move
	struct uuid uid;               // RECOVER: that one, unless zero
	void (*at_start)(void);        // called before each run of the operation
	void (*before_commit)(void);   // called when it has answered
	const char *type;              // of the path; NULL: one of those above
};

static enum outcome op_apply(void *arg, const struct resource *current, struct content *content)
{
	const struct op *op = arg;

	UNUSED(current);
	*content = (struct content){
		.meta = str_c(op->meta != NULL ? op->meta : op->locked ? "{\"locked\":true}" : "{}"),
		.body = str_c(op->body != NULL ? op->body : "{}"),
		.locked = op->locked,
	};
	return OUTCOME_OK;
}

static enum outcome op_guard(void *arg, const uint8_t *etag)
{
	return etag != NULL && memcmp(etag, arg, 64) == 0 ? OUTCOME_OK : OUTCOME_STALE;
}

static bool op_guard_action(void *arg, struct str etag)
{
	return str_eq_c(etag, arg);
}

static void op_address(struct client *client, const struct op *op, struct address *address)
{
	struct str path = str_c(op->path);
	size_t slash = str_find(path, '/', 0);
	const char *plural = slash == path.n ? "persistentvolumes" : slash + 1 == path.n ? "namespaces" : "configmaps";

	*address = (struct address){
		.tenant = str_c(op->tenant),
		.type = op->type != NULL ? type_for(client->registry, op->tenant, op->type) : type_called(client->registry, plural),
		.space = slash + 1 < path.n ? str_part(path, 0, slash) : STR(""),
		.name = slash + 1 < path.n ? str_part(path, slash + 1, path.n) : str_part(path, 0, slash),
	};
}

static enum outcome op_move(struct client *client, const struct op *op)
{
	struct address address;
	struct move_order order = {
		.source = str_c(op->tenant), .dest = str_c(op->dest), .background = op->verb == MOVE_ASYNC, .words = 2
	};
	struct tag_guard guard = { 0 };

	if (op->path != NULL) {
		op_address(client, op, &address);
		order.address = &address;
	}
	if (op->match_action != NULL)
		guard = (struct tag_guard){ .matches = op_guard_action, .arg = (void *)(uintptr_t)op->match_action };
	if (op->verb == PREVIEW)
		return move_preview(client->registry, &order, &client->action);
	enum outcome outcome = move_run(client->registry, &order, guard, &client->moved);
	client->action = client->moved.action;
	return outcome;
}

static enum outcome op_tenant(struct client *client, const struct op *op, struct guard guard)
{
	struct str name = str_c(op->tenant);
	struct tenant_content content = {
		.tier = op->tier != NULL ? str_c(op->tier) : STR_NONE, .metadata = op->meta != NULL ? str_c(op->meta) : STR_NONE
	};

	// The system tenant is not made by a client: it comes with the first thing that needs it.
	if (op->verb == PUT_TENANT && str_eq_c(name, TENANT_SYSTEM))
		return tenant_ensure(client->registry, name) == OUTCOME_OK ? OUTCOME_CREATED : OUTCOME_INTERNAL;
	if (op->verb == PUT_TENANT)
		return tenant_put(client->registry, name, &content, guard, &client->tenant);
	if (op->verb == MAKE_TENANT) {
		bool made;
		enum outcome outcome = tenant_find_or_make_with(client->registry, name, &content, &made);
		return made ? OUTCOME_CREATED : outcome;
	}
	if (op->verb == DELETE_TENANT)
		return tenant_delete(client->registry, name, guard, &client->tenant);
	return tenant_recover(client->registry, name, guard);
}

static enum outcome op_resource(struct client *client, const struct op *op, struct guard guard)
{
	struct address address;
	struct edit edit = { .apply = op_apply, .arg = (void *)(uintptr_t)op, .creates = op->verb == PUT };

	op_address(client, op, &address);
	switch (op->verb) {
	case DELETE:
		return resource_delete(client->registry, &address, guard, &client->resource);
	case RECOVER:
		return resource_recover(client->registry, &address, uuid_is_zero(op->uid) ? NULL : &op->uid,
			(struct guard){ 0 });
	case GET:
		return resource_get(client->registry, &address, &client->resource);
	default:
		return resource_write(client->registry, &address, &edit, guard, &client->resource);
	}
}

struct run {
	struct client *client;
	const struct op *op;
	enum outcome outcome;
};

static enum db_verdict op_run(void *arg)
{
	struct run *run = arg;
	const struct op *op = run->op;
	struct guard guard = { 0 };

	run->client->runs++;
	coherence_begin(run->client->registry);
	if (op->at_start != NULL)
		op->at_start();
	if (op->match != NULL)
		guard = (struct guard){ .check = op_guard, .arg = (void *)(uintptr_t)op->match };
	if (op->verb == MOVE || op->verb == MOVE_ASYNC || op->verb == PREVIEW)
		run->outcome = op_move(run->client, op);
	else if (op->verb <= RECOVER_TENANT)
		run->outcome = op_tenant(run->client, op, guard);
	else
		run->outcome = op_resource(run->client, op, guard);
	if (op->before_commit != NULL)
		op->before_commit();
	return outcome_commits(run->outcome) ? DB_COMMIT : DB_ROLLBACK;
}

// As a worker runs a request.
static enum outcome client_do(struct client *client, const struct op *op)
{
	struct run run = { client, op, OUTCOME_INTERNAL };
	enum db_mode mode = op->verb == GET ? DB_AUTOCOMMIT : op->verb == PREVIEW ? DB_SNAPSHOT : DB_WRITE;

	client->request_id = uuid_new();
	client->runs = 0;
	enum outcome outcome = registry_begin(client->registry, client->pool, &client->request_id, STR("tester"), &client->problem);
	if (outcome != OUTCOME_OK)
		return outcome;
	enum db_result result = db_txn_run(client->db, mode, &client->request_id, op_run, &run);
	if (result != DB_OK)
		return result == DB_LOST || result == DB_RETRY ? OUTCOME_UNAVAILABLE : OUTCOME_INTERNAL;
	if (outcome_commits(run.outcome))
		coherence_committed(client->registry);
	return run.outcome;
}

#define OP(...) ((struct op){ __VA_ARGS__, .before_commit = NULL })
#define DO(...) client_do(&here, &OP(__VA_ARGS__))

// The etag that clients see of the resource that the last operation read or changed.
TAP_UNUSED_OK static const uint8_t *etag_now(void)
{
	return etag_shown(here.registry, &here.resource);
}

TAP_UNUSED_OK static void is_outcome(enum outcome got, enum outcome want, const char *what)
{
	if (!ok(got == want, "%s: %s", what, outcome_name(want))) {
		diag("  got %s", outcome_name(got));
		if (here.registry->problem->detail.n > 0)
			diag("  %.*s", STR_ARG(here.registry->problem->detail));
	}
}
#define EXPECT(want, what, ...) is_outcome(DO(__VA_ARGS__), OUTCOME_##want, what)

// As fork(); in the child the client is open, on a connection of its own.
TAP_UNUSED_OK static pid_t fork_client(struct client *client)
{
	fflush(stdout);
	pid_t pid = fork();

	if (pid == 0) {
		db_forget_after_fork(&here.db);
		client_open(client);
	}
	return pid;
}

// The same in another process; the child's exit status is the outcome.
TAP_UNUSED_OK static pid_t start_op(const struct op *op)
{
	struct client client;
	pid_t pid = fork_client(&client);

	if (pid == 0)
		_exit((int)client_do(&client, op));
	return pid;
}

TAP_UNUSED_OK static enum outcome end_op(pid_t pid)
{
	int status = 0;

	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		continue;
	return WIFEXITED(status) ? (enum outcome)WEXITSTATUS(status) : OUTCOME__COUNT; // killed
}

// ---- what is stored

TAP_UNUSED_OK static long long sql_number(const char *format, ...) PRINTF_LIKE(1, 2);

// A query of the test's own, made and forgotten on a connection of its own.
TAP_UNUSED_OK static long long sql_number(const char *format, ...)
{
	char text[2048];
	va_list args;
	struct db *db = db_open(db_settings(server.config), DB_OPERATOR);
	struct db_rows rows;
	struct pool *pool = pool_new();
	long long number = -1;

	va_start(args, format);
	(void)vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	if (db_run(db, pool, TEST_QUERY(text, "i"), NULL, &rows) == DB_OK && rows.n == 1 && !db_at(&rows, 0, 0)->null)
		number = db_at(&rows, 0, 0)->i;
	else
		diag("%s: %s", text, db_error(db));
	db_close(&db);
	pool_free(&pool);
	return number;
}

// Waits until a statement waits for a row lock, on whichever connection, or the process has ended; for a minute at most. Was it
// the former? The counter is up to date with each reading. information_schema.innodb_trx is not: InnoDB refreshes that table only
// if nobody has read it for 100 ms.
TAP_UNUSED_OK static bool waits_for_lock(pid_t process)
{
	const struct timespec pause = { .tv_nsec = 2000000 };
	bool waits = false, ended = false;

	for (int64_t until_us = clock_tick_us() + 60000000; !waits && !ended && clock_tick_us() < until_us; (void)nanosleep(&pause, NULL)) {
		siginfo_t info = { 0 };

		ended = waitid(P_PID, (id_t)process, &info, WEXITED | WNOHANG | WNOWAIT) == 0 && info.si_pid == process;
		waits = sql_number("SELECT CAST(VARIABLE_VALUE AS SIGNED) FROM information_schema.GLOBAL_STATUS "
			"WHERE VARIABLE_NAME = 'INNODB_ROW_LOCK_CURRENT_WAITS'") > 0;
	}
	return waits;
}

// Waits until the server has ended the connections of processes that are gone, and what they had begun; for a minute at most.
// `here` is the only client then.
TAP_UNUSED_OK static void await_others(void)
{
	const struct timespec pause = { .tv_nsec = 2000000 };

	for (int64_t until_us = clock_tick_us() + 60000000; clock_tick_us() < until_us; (void)nanosleep(&pause, NULL)) {
		if (sql_number("SELECT COUNT(*) FROM information_schema.PROCESSLIST WHERE db = 't'") <= 2) // here's, and this one
			return;
	}
	diag("connections of others go on");
}

#define TENANT_ID "(SELECT id FROM tenants WHERE name = '%s' AND live = 1)"

TAP_UNUSED_OK static void is_changes(const struct uuid *request, long long want, const char *what)
{
	struct buf hex = buf_new(here.pool, 64);

	buf_add_hex(&hex, uuid_bytes(request).p, 16);
	is_int(sql_number("SELECT COUNT(*) FROM changes WHERE request_id = x'%.*s'", STR_ARG(hex)), want,
		"%s: change rows", what);
}

static void note_damage(void *arg, const char *check, uint64_t found, uint64_t fixed, const char *example)
{
	uint64_t *sum = arg;

	UNUSED(fixed);
	*sum += found;
	if (found > 0)
		diag("doctor: %s: %llu, %s", check, (unsigned long long)found, example);
}

// Every invariant that doctor proves.
TAP_UNUSED_OK static void is_sound(const char *what)
{
	uint64_t found = 0;
	struct client client;
	struct uuid id = uuid_new();

	client_open(&client);
	enum outcome outcome = registry_begin(client.registry, client.pool, &id, STR("doctor"), &client.problem);
	if (outcome == OUTCOME_OK)
		outcome = doctor(client.registry, &(struct doctor_run){ .report = note_damage, .arg = &found });
	ok(outcome == OUTCOME_OK && found == 0, "%s: the store is sound", what);
	client_close(&client);
}

// As `tenure-manage db init` does.
static void make_system_space(void)
{
	struct uuid id = uuid_new();
	bool made;
	enum outcome outcome = registry_begin(here.registry, here.pool, &id, STR("fixture"), &here.problem);

	if (outcome == OUTCOME_OK)
		outcome = system_space_ensure(here.registry, &made);
	if (outcome != OUTCOME_OK || !made)
		bail_out("the system space can't be made");
}

static void fixture_start(void)
{
	server_start();
	server_schema();
	server_sql("INSERT INTO settings (name, value) VALUES ('etag_key', REPEAT('e', 32)), ('state_key', REPEAT('s', 32));\n"
		   "INSERT INTO tiers (name, max_resources) VALUES ('tiny', 3);\n");
	SET(server.config, registry)->default_tier = "standard";
	SET(server.config, registry)->etag_required = "no";
	SET(server.config, registry)->retention = 3600;
	SET(server.config, registry)->change_retention = 0;
	SET(server.config, registry)->move_list_max = 100;
	SET(server.config, registry)->move_sync_max = 50000;
	SET(server.config, registry)->delete_sync_max = 2000;
	SET(server.config, registry)->max_body = 1 << 20;
	SET(server.config, registry)->resource_cache = 1 << 20;
	client_open(&here);
	make_system_space();
}

static int fixture_end(void)
{
	client_close(&here);
	return done_testing();
}

#endif

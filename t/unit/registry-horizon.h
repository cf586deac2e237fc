// SPDX-License-Identifier: Apache-2.0
// For the tests of the change log's horizon: two connections that write the log, and the questions that all ask.
#ifndef TENURE_UNIT_REGISTRY_HORIZON_H
#define TENURE_UNIT_REGISTRY_HORIZON_H

#include "registry-fixture.h"
#include "registry/log/change.h"
#include "registry/log/horizon.h"
#include "registry/watch/change_stream.h"

static struct db *writer; // whose transactions are begun and ended at will
static struct db *other;  // that commits at once
static uint64_t newest;

static void sql(struct db *db, const char *format, ...) PRINTF_LIKE(2, 3);
TAP_UNUSED_OK static void sql(struct db *db, const char *format, ...)
{
	char text[2048];
	va_list args;

	va_start(args, format);
	(void)vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	if (db_run_script(db, str_c(text)) != DB_OK) {
		diag("%s: %s", text, db_error(db));
		bail_out("a statement of the test itself failed");
	}
}

// Changes of a tenant's; from: of one that had them before, or "NULL".
TAP_UNUSED_OK static void add_of(struct db *db, int tenant, const char *from, int first, int last)
{
	sql(db, CHANGE_INSERT "(id, request_id, at, actor, verb, tenant_id, from_tenant_id, uid, revision) SELECT seq, "
		"REPEAT('r', 16), UTC_TIMESTAMP(6), 'tester', 'moved', %d, %s, REPEAT('u', 16), seq FROM seq_%d_to_%d",
		tenant, from, first, last);
}

TAP_UNUSED_OK static void add(struct db *db, int first, int last)
{
	add_of(db, 1, "NULL", first, last);
}

TAP_UNUSED_OK static void begin_request(struct client *client)
{
	pool_clear(client->pool);
	client->request_id = uuid_new();
	if (registry_begin(client->registry, client->pool, &client->request_id, STR("tester"), &client->problem) != OUTCOME_OK)
		bail_out("no request");
}

// One question.
TAP_UNUSED_OK static long long ask(struct client *client)
{
	uint64_t at = 0;

	begin_request(client);
	is_outcome(horizon_advance(client->registry, &at, &newest), OUTCOME_OK, "asked");
	return (long long)at;
}

// As many as it takes: a statement is in the list of processes for some time after its client has the answer.
TAP_UNUSED_OK static long long horizon_of(struct client *client)
{
	uint64_t at = 0;

	for (int i = 0; i < 10000; i++) {
		begin_request(client);
		if (horizon_advance(client->registry, &at, &newest) != OUTCOME_OK)
			bail_out("no horizon");
		if (!horizon_is_asking(client->registry))
			return (long long)at;
		(void)usleep(1000);
	}
	bail_out("a statement does not end");
	return 0;
}

TAP_UNUSED_OK static long long horizon(void)
{
	return horizon_of(&here);
}

TAP_UNUSED_OK static long long published(struct client *client)
{
	uint64_t at = 0;

	begin_request(client);
	is_outcome(horizon_read(client->registry, &at, NULL), OUTCOME_OK, "read");
	return (long long)at;
}

TAP_UNUSED_OK static long long horizon_above(uint64_t after, uint64_t one, uint64_t two)
{
	uint64_t at = 0;
	bool all;

	is_outcome(horizon_of_two(here.registry, (const uint64_t[]){ one, two }, after, &at, &all), OUTCOME_OK, "asked for two");
	return (long long)at;
}

// Statements are found by their address, so that of a text stays.
TAP_UNUSED_OK static const struct db_query *query_of(const char *text)
{
	static struct test_query queries[32];
	size_t i = 0;

	while (i < COUNT_OF(queries) && queries[i].sql != NULL && strcmp(queries[i].sql, text) != 0)
		i++;
	if (i == COUNT_OF(queries))
		bail_out("too many statements");
	if (queries[i].sql == NULL)
		queries[i] = (struct test_query){ .sql = strdup(text), .in = "", .out = "u" };
	return test_query(&queries[i]);
}

TAP_UNUSED_OK static uint64_t value_of(struct db *db, const char *text)
{
	struct db_rows rows;

	if (db_run(db, here.pool, query_of(text), NULL, &rows) != DB_OK || rows.n != 1)
		bail_out("no value");
	return db_at(&rows, 0, 0)->u;
}

TAP_UNUSED_OK static void await_value(const char *text, uint64_t value)
{
	for (int i = 0; i < 6000; i++) {
		if (value_of(other, text) == value)
			return;
		(void)usleep(10000);
	}
	bail_out("what the test waits for does not happen");
}

static unsigned n_connections;

// All connections but those of the test itself are gone, and so are their transactions. information_schema.INNODB_TRX is up
// to 100 ms old.
TAP_UNUSED_OK static void await_ends(void)
{
	char text[200];

	(void)snprintf(text, sizeof(text), "SELECT CAST(COUNT(*) AS UNSIGNED) FROM information_schema.PROCESSLIST WHERE USER = 'root' "
		"AND %u = %u", n_connections, n_connections);
	await_value(text, n_connections);
}

TAP_UNUSED_OK static void count_connections(void)
{
	(void)horizon();
	(void)value_of(writer, "SELECT 1 + 0");
	n_connections = (unsigned)value_of(other, "SELECT CAST(COUNT(*) AS UNSIGNED) FROM information_schema.PROCESSLIST WHERE USER = 'root'");
}

// Starts a server with that innodb_autoinc_lock_mode ("0" to "2"), an empty log, and both connections.
static void horizon_start(const char *mode)
{
	(void)snprintf(server.option, sizeof(server.option), "--innodb-autoinc-lock-mode=%s", mode);
	fixture_start();
	server_sql("DELETE FROM changes; UPDATE log_horizon SET published = 0");
	writer = db_open(db_settings(server.config), DB_OPERATOR);
	other = db_open(db_settings(server.config), DB_OPERATOR);
}

static int horizon_end(void)
{
	db_close(&writer);
	db_close(&other);
	return fixture_end();
}

#endif

// SPDX-License-Identifier: Apache-2.0
// The change log's horizon: never beyond what is open or may yet come, not held up by what never will, and cheap to ask
// for while it is held up.
#include "base/base.h"

#include "registry-fixture.h"
#include "registry/feed.h"

enum { LARGE = 9000, SETTLED_US = 1100000 };

static struct db *writer; // whose transactions are begun and ended at will
static uint64_t newest;
static int64_t waited_us;

static void sql(struct db *db, const char *format, ...) PRINTF_LIKE(2, 3);

static void sql(struct db *db, const char *format, ...)
{
	char text[1024];
	va_list args;

	va_start(args, format);
	(void)vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	if (db_run_script(db, str_c(text)) != DB_OK) {
		diag("%s: %s", text, db_error(db));
		bail_out("a statement of the test itself failed");
	}
}

// Changes of these ids, that old.
static void add_aged(struct db *db, int first, int last, int seconds)
{
	sql(db, "INSERT INTO changes (id, request_id, at, actor, verb, tenant_id, uid, revision) SELECT seq, REPEAT('r', 16), "
		"UTC_TIMESTAMP(6) - INTERVAL %d SECOND, 'tester', 'updated', 1, REPEAT('u', 16), seq FROM seq_%d_to_%d",
		seconds, first, last);
}

static void add(struct db *db, int first, int last)
{
	add_aged(db, first, last, 0);
}

static long long horizon_of(struct client *client)
{
	uint64_t at = 0;

	pool_clear(client->pool);
	client->request_id = uuid_new();
	if (registry_begin(client->registry, client->pool, &client->request_id, STR("tester")) != OUTCOME_OK)
		bail_out("no request");
	// However long the machine takes.
	if (client->registry->horizon.seen_us != 0)
		client->registry->horizon.seen_us = clock_tick_us() - waited_us;
	waited_us = 0;
	is_outcome(change_reach(client->registry, &at, &newest), OUTCOME_OK, "asked");
	return (long long)at;
}

static long long horizon(void)
{
	return horizon_of(&here);
}

// As if so long had passed since something began to hold it up.
static void wait_us(int64_t time_us)
{
	waited_us = time_us;
}

// Rows that this connection went through so far.
static long long rows_read(void)
{
	static const struct db_query query = {
		"SELECT CAST(VARIABLE_VALUE AS SIGNED) FROM information_schema.SESSION_STATUS "
		"WHERE VARIABLE_NAME = 'HANDLER_READ_NEXT'", "", "i"
	};
	struct db_rows rows;

	if (db_run(here.db, here.pool, &query, NULL, &rows) != DB_OK || rows.n != 1)
		bail_out("no status");
	return db_at(&rows, 0, 0)->i;
}

static void test_open(void)
{
	struct db *other = db_open(&server.config, true);

	add(other, 1, 3);
	is_int(horizon(), 3, "all that is committed");
	is_int((long long)newest, 3, "is all");
	sql(writer, "START TRANSACTION");
	add(writer, 4, 4);
	is_int(horizon(), 3, "what is open is not there");
	add(other, 5, 5);
	is_int(horizon(), 3, "what is behind it waits");
	is_int((long long)newest, 5, "and is seen");
	is_int(horizon(), 3, "still");
	wait_us(SETTLED_US);
	is_int(horizon(), 3, "as long as it takes");
	sql(writer, "COMMIT");
	is_int(horizon(), 5, "until it is committed");
	sql(writer, "START TRANSACTION");
	add(writer, 6, 6);
	add(other, 7, 7);
	is_int(horizon(), 5, "the next one is open");
	sql(writer, "ROLLBACK");
	is_int(horizon(), 5, "what is missing may come");
	is_int(horizon(), 5, "yet");
	wait_us(SETTLED_US);
	is_int(horizon(), 7, "and after a second does not");
	add(other, 9, 9);
	is_int(horizon(), 7, "a gap");
	sql(writer, "START TRANSACTION");
	add(writer, 8, 8);
	wait_us(SETTLED_US);
	is_int(horizon(), 7, "that is being filled");
	add(other, 10, 12);
	is_int(horizon(), 7, "while others go on");
	is_int((long long)newest, 12, "which is seen");
	sql(writer, "COMMIT");
	is_int(horizon(), 12, "all");
	add(other, 14, 14);
	is_int(horizon(), 12, "a gap again");
	add(other, 13, 13);
	is_int(horizon(), 14, "that is filled between two looks");
	add_aged(other, 20, 20, 60);
	is_int(horizon(), 20, "what is missing below what is old never comes");
	db_close(&other);
}

static void test_two_gaps(void)
{
	struct db *other = db_open(&server.config, true);

	add(other, 22, 22);
	sql(writer, "START TRANSACTION");
	add(writer, 24, 24);
	add(other, 25, 25);
	is_int(horizon(), 20, "a gap and what is open");
	wait_us(SETTLED_US);
	is_int(horizon(), 23, "the gaps are void, what is open isn't");
	sql(writer, "COMMIT");
	is_int(horizon(), 25, "and now it is");
	sql(writer, "START TRANSACTION");
	add(writer, 26, 26);
	add(other, 27, 27);
	is_int(horizon(), 25, "what is open");
	wait_us(SETTLED_US / 2);
	sql(writer, "COMMIT");
	add(other, 29, 29);
	is_int(horizon(), 27, "and a gap next");
	wait_us(SETTLED_US);
	is_int(horizon(), 29, "which has its own second, and no more");
	db_close(&other);
}

static void test_large(void)
{
	struct db *other = db_open(&server.config, true);
	long long before;

	sql(writer, "START TRANSACTION");
	add(writer, 101, 100 + LARGE);
	add(other, 20001, 20001);
	is_int(horizon(), 29, "a large transaction");
	wait_us(SETTLED_US);
	is_int(horizon(), 100, "holds it up");
	before = rows_read();
	for (int i = 0; i < 20; i++)
		is_int(horizon(), 100, "for long");
	ok(rows_read() - before < 100, "which is not gone through each time: %lld rows", rows_read() - before);
	sql(writer, "COMMIT");
	is_int(horizon(), 20001, "when it has ended all is there, and what is missing behind it was missing long enough");
	add(other, 20003, 20002 + LARGE);
	is_int(horizon(), 20001, "a gap before many");
	is_int((long long)change_backlog(here.registry, 20001), LARGE, "which are counted");
	before = rows_read();
	for (int i = 0; i < 20; i++)
		is_int(horizon(), 20001, "for a second");
	ok(rows_read() - before < 100, "which are not gone through either: %lld rows", rows_read() - before);
	wait_us(SETTLED_US);
	is_int(horizon(), 20002 + LARGE, "and then all is there");
	is_int((long long)change_backlog(here.registry, 20002 + LARGE), 0, "with nothing above");
	sql(other, "DELETE FROM changes");
	is_int(horizon(), 20002 + LARGE, "when the log was emptied it goes on");
	db_close(&other);
}

// A process that begins while a large transaction is on knows nothing of what was before.
static void test_late(void)
{
	struct db *other = db_open(&server.config, true);
	struct client late;

	add(other, 40000, 40000);
	sql(writer, "START TRANSACTION");
	add(writer, 40001, 40001);
	add(other, 40002, 40001 + 3 * LARGE);
	client_open(&late);
	is_int(horizon_of(&late), 40000, "it sees what is open far below");
	sql(writer, "COMMIT");
	is_int(horizon_of(&late), 40001 + 3 * LARGE, "and comes up at once when it is not");
	client_close(&late);
	sql(other, "DELETE FROM changes");
	client_open(&late);
	is_int(horizon_of(&late), 0, "of an empty log it knows nothing");
	add(other, 90000, 90001);
	is_int(horizon_of(&late), 90001, "what comes first there has nothing missing before it");
	is_int((long long)change_solid(late.registry), 0, "nothing is solid yet");
	add(other, 90002, 90002);
	is_int(horizon_of(&late), 90002, "it goes on");
	late.registry->horizon.setting_us -= 10000000;
	add(other, 90003, 90003);
	is_int(horizon_of(&late), 90003, "and on");
	long long solid = (long long)change_solid(late.registry);
	ok(solid > 0 && solid < 90003, "what it was ten seconds ago is (%lld)", solid);
	is_int(horizon_of(&late), 90003, "not more");
	is_int((long long)change_solid(late.registry), solid, "at once");
	late.registry->horizon.setting_us -= 10000000;
	is_int(horizon_of(&late), 90003, "later");
	is_int((long long)change_solid(late.registry), 90003, "all of it");
	client_close(&late);
	db_close(&other);
}

int main(void)
{
	fixture_start();
	server_sql("DELETE FROM changes");
	writer = db_open(&server.config, true);
	if (writer == NULL)
		bail_out("no connection");
	test_open();
	test_two_gaps();
	test_large();
	test_late();
	db_close(&writer);
	return fixture_end();
}

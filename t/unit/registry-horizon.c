// SPDX-License-Identifier: Apache-2.0
// The change log's horizon: never beyond what is open or may yet come, not held up by what never will, and cheap to ask
// for while it is held up.
#include "base/base.h"

#include "registry-fixture.h"
#include "registry/feed.h"
#include "registry/follow.h"

enum { LARGE = 9000, MORE = 12000, LOOK = 10000, SETTLED_US = 1100000 };

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

// Changes of a tenant's; from: of one that had them before, or "NULL".
static void add_of(struct db *db, int tenant, const char *from, int first, int last)
{
	sql(db, "INSERT INTO changes (id, request_id, at, actor, verb, tenant_id, from_tenant_id, uid, revision) SELECT seq, "
		"REPEAT('r', 16), UTC_TIMESTAMP(6), 'tester', 'moved', %d, %s, REPEAT('u', 16), seq FROM seq_%d_to_%d",
		tenant, from, first, last);
}

// A look when the last one that counted was long ago.
static void look_later(void)
{
	here.registry->horizon.given_us -= SETTLED_US;
	(void)horizon();
}

// All ids that were given by now were given long enough ago.
static void settle(void)
{
	look_later();
	look_later();
}

static long long horizon_above(uint64_t after, uint64_t one, uint64_t other)
{
	uint64_t at = 0;

	is_outcome(change_horizon_of(here.registry, (const uint64_t[]){ one, other }, after, &at), OUTCOME_OK, "asked for two");
	return (long long)at;
}

static long long horizon_of_two(uint64_t one, uint64_t other)
{
	return horizon_above(0, one, other);
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

// What is open of 7, which had it from 8, is between what is committed of 5 and 6.
static void test_of_two(void)
{
	struct db *other = db_open(&server.config, true), *third = db_open(&server.config, true);
	struct followed *list;
	uint64_t *ids;
	long long before;
	size_t n;

	add_of(other, 5, "NULL", 100001, 100001);
	(void)horizon();
	wait_us(SETTLED_US);
	is_int(horizon(), 100001, "nothing is open");
	sql(writer, "START TRANSACTION");
	add_of(writer, 7, "8", 100002, 100001 + LARGE);
	add_of(other, 5, "9", 120001, 120002);
	settle();
	is_int((long long)change_settled(here.registry), 120002, "given long ago");
	is_int(horizon(), 100001, "the horizon of all is held up");
	before = rows_read();
	is_int(horizon_of_two(5, 1), 120002, "that of who has nothing to do with it is not");
	is_outcome(follow_changes_of(here.registry, (const uint64_t[]){ 5, 1 }, 100001, 120002, 10, &list, &n), OUTCOME_OK,
		"what there is of these");
	ok(rows_read() - before < 100, "is found without going through all: %lld rows", rows_read() - before);
	is_int((long long)n, 2, "two changes");
	is_int((long long)list[0].id, 120001, "in their order");
	is_outcome(follow_changes_of(here.registry, (const uint64_t[]){ 1, 9 }, 120001, 120002, 10, &list, &n), OUTCOME_OK, "asked");
	is_int((long long)n, 1, "what left a tenant is its, too, behind what is known");
	is_outcome(follow_tenants(here.registry, 100001, 120002, &ids, &n), OUTCOME_OK, "whose they are");
	ok(n == 2 && ids[0] + ids[1] == 5 + 9, "is known");
	is_int(horizon_of_two(4, 1), 120002, "nor that of who has nothing");
	is_int(horizon_of_two(9, 4), 120002, "nor that of who had it");
	is_int(horizon_of_two(7, 5), 100001, "whose it is waits");
	is_int(horizon_of_two(5, 7), 100001, "whichever of two");
	is_int(horizon_of_two(8, 5), 100001, "and who had it");
	is_int(horizon_of_two(5, 8), 100001, "whichever");
	sql(third, "START TRANSACTION");
	add_of(third, 5, "NULL", 120003, 120003);
	add_of(other, 5, "NULL", 120004, 120004);
	look_later();
	is_int((long long)change_settled(here.registry), 120002, "what is seen for the first time was given just now");
	is_int(horizon_of_two(9, 4), 120002, "and is not passed");
	settle();
	is_int(horizon_of_two(5, 1), 120002, "what is open is not passed");
	is_int(horizon_of_two(9, 4), 120004, "but by others");
	sql(third, "COMMIT");
	is_int(horizon_of_two(5, 1), 120004, "until it is committed");
	add_of(other, 6, "NULL", 130001, 130000 + MORE);
	settle();
	is_int(horizon_of_two(6, 1), 130000 + LOOK, "much is looked at in parts");
	is_int(horizon_above(130000 + LOOK, 6, 1), 130000 + MORE, "from where one has come to on");
	is_int(horizon_above(200000, 6, 1), 200000, "never back");
	sql(writer, "COMMIT");
	(void)horizon();
	wait_us(SETTLED_US);
	is_int(horizon(), 130000 + MORE, "in the end all is there");
	is_int(horizon_of_two(7, 5), 130000 + MORE, "for everybody");
	db_close(&other);
	db_close(&third);
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
	test_of_two();
	db_close(&writer);
	return fixture_end();
}

// SPDX-License-Identifier: Apache-2.0
// Servers of a list that are slow, silent or hang: a new writer that is slow is waited for, and servers that are silent are not
// waited for without need.
#include "base/base.h"

#include <stdatomic.h>
#include <sys/mman.h>

#include "base/clock.h"
#include "base/shared.h"
#include "logged.h"
#include "db-relay.h"
#include "db-writer.h"

static const struct test_query q_while = { "SELECT SLEEP(0.4)", "", "u" };
static const struct test_query q_long = { "SELECT SLEEP(2.5)", "", "u" };

// ---- a new connection to a server that is slow

// What relays do with the first statement of a connection before they pass it on, in memory that they share with the test.
struct relaying {
	const struct shared *finds; // where another process notes a server of a later epoch
	_Atomic bool is_on;
	_Atomic bool hangs; // nothing passes
};
enum { LATER = 1000 }; // epoch

static _Atomic uint64_t *newest_epoch(const struct shared *shared)
{
	return shared_area(shared, SHARED_CLUSTER, sizeof(_Atomic uint64_t));
}

static bool pass_slowly(void *arg, unsigned connection, bool from_client, const char *data, size_t n)
{
	const struct relaying *relaying = arg;

	UNUSED(connection);
	if (from_client && memmem(data, n, "SET NAMES", strlen("SET NAMES")) != NULL) {
		if (relaying != NULL && atomic_load(&relaying->is_on))
			atomic_store(newest_epoch(relaying->finds), LATER);
		clock_pause_ms(500);
	}
	for (int tries = 0; tries < 1000 && relaying != NULL && atomic_load(&relaying->hangs); tries++)
		clock_pause_ms(20);
	return true;
}

// A server that takes half a second for the first answer of each connection. *pid: the process to be ended. relaying: NULL for
// none.
static unsigned start_slow(pid_t *pid, struct relaying *relaying)
{
	return relay_start(pid, pass_slowly, relaying);
}

static struct relaying *new_relaying(void)
{
	struct relaying *relaying = mmap(NULL, sizeof(*relaying), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	if (relaying == MAP_FAILED)
		bail_out("no shared memory");
	return relaying;
}

static void end_slow(pid_t slow, struct relaying *relaying)
{
	relay_end(slow);
	(void)munmap(relaying, sizeof(*relaying));
}

// After a switch, where the new writer is slow: it is not taken for one that hangs, although others have heard of a later epoch
// than that of the last connection. at: its place. DB_OK: it is used.
static enum db_result switch_to_slow(struct db *db, size_t at)
{
	db->host = 1 - at;
	if (connect_patiently(db) != DB_OK)
		return DB_LOST;
	server_sql("UPDATE writer SET epoch = epoch + 1;\nUPDATE writer_slots SET epoch = epoch + 1;");
	db_conn_drop(db);
	db->host = at;
	return db_connect(db) == DB_OK && db->host == at ? DB_OK : DB_LOST;
}

// On a busy machine the other server may not be reached in time, and even this one may seem to hang: then it is done again.
static void test_slow(const struct db_settings *template)
{
	struct db_settings settings = *template;
	enum db_result result = DB_LOST;
	bool avoided = true;
	char host[64];
	pid_t slow;

	(void)snprintf(host, sizeof(host), "127.0.0.1:%u,localhost", start_slow(&slow, NULL));
	settings.host = host;
	settings.tls = "off";
	for (int i = 0; i < 10 && (result != DB_OK || avoided); i++) {
		struct db *db = db_open(&settings, DB_APPLICATION);
		size_t at = db->hosts[0].name != NULL ? 0 : 1;

		result = switch_to_slow(db, at);
		avoided = db->hosts[at].avoided_until_us != 0;
		db_close(&db);
	}
	is_int(result, DB_OK, "connected to the next one, which is slow");
	ok(!avoided, "and not avoided");
	relay_end(slow);
}

// ---- what the processes of a host remember

// While a server is asked about, another process finds one of a later epoch.
static void test_remembered(const struct db_settings *template)
{
	struct db_settings settings = *template;
	char host[64], dir[] = "/tmp/tenure-epoch-XXXXXX";
	struct shared *shared = mkdtemp(dir) != NULL ? shared_open(dir, STR("a cluster")) : NULL;
	struct relaying *relaying = new_relaying();
	enum db_result result = DB_LOST;
	pid_t slow;

	if (shared == NULL)
		bail_out("no shared memory");
	relaying->finds = shared;
	atomic_store(&relaying->is_on, true);
	atomic_store(newest_epoch(shared), LATER - 1);
	(void)snprintf(host, sizeof(host), "127.0.0.1:%u,localhost", start_slow(&slow, relaying));
	settings.host = host;
	settings.tls = "off";
	struct db *db = db_open(&settings, DB_APPLICATION);
	size_t at = db->hosts[0].name != NULL ? 0 : 1;

	db->host = 1 - at;
	db->hosts[at].avoided_until_us = INT64_MAX; // it is asked, and not used
	db_join(db, shared);
	for (int i = 0; i < 20 && result == DB_LOST && atomic_load(newest_epoch(shared)) != LATER; i++) // a busy machine may ask nobody
		result = db_connect(db);
	is_int(result, DB_LOST, "while another process finds a later one, no server is used");
	is_int((long long)atomic_load(newest_epoch(shared)), LATER, "which is not forgotten");
	atomic_store(&relaying->is_on, false);
	is_int(connect_patiently(db), DB_OK, "later, as all servers answer, an earlier one is as good");
	db_close(&db);
	end_slow(slow, relaying);
	shared_close(&shared);
	(void)nftw(dir, server_remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

// ---- servers that hang

// How many connections were made to a server that takes none, since this was asked last.
static int asked(int listener)
{
	int n = 0, fd;

	while ((fd = accept(listener, NULL, NULL)) >= 0) {
		(void)close(fd);
		n++;
	}
	return n;
}

// Connects to the unix socket without asking other hosts, which takes seconds each if they are silent.
static struct db *open_writer_first(const struct db_settings *settings)
{
	struct db *db = db_open(settings, DB_APPLICATION);
	size_t n_hosts = db->n_hosts, at = 0;

	while (db->hosts[at].name != NULL)
		at++;
	struct db_host writer = db->hosts[at];
	db->hosts[at] = db->hosts[0];
	db->hosts[0] = writer;
	db->n_hosts = 1;
	is_int(connect_patiently(db), DB_OK, "connected to the writer");
	db->n_hosts = n_hosts;
	return db;
}

// Statements that take longer than the silence after which others are asked, until so many connections were made to these; how
// many there were.
static int run_until_asked(struct db *db, const int silent[2], int n)
{
	int connections = 0;

	for (int i = 0; i < 20 && connections < n; i++) { // on a busy machine the answer may be there first
		is_int(db_run(db, pool, test_query(&q_while), NULL, NULL), DB_OK, "a statement that takes its time");
		connections += asked(silent[0]) + asked(silent[1]);
	}
	return connections;
}

// How many connections to silent servers a handle made, by its first two statements that make any, and by one more soon after.
struct silent_asked {
	int first, second, further;
	bool warned; // the log has a connection that was lost
};

static struct silent_asked ask_silent(const struct db_settings *settings, const int silent[2])
{
	struct silent_asked n = { 0 };
	struct db *db = open_writer_first(settings);

	log_open("test", LOG_SINK_STDERR, LOG_LEVEL_WARNING);
	logged_begin();
	n.first = run_until_asked(db, silent, 1);
	n.second = run_until_asked(db, silent, 1);
	is_int(db_run(db, pool, test_query(&q_while), NULL, NULL), DB_OK, "a further one");
	n.further = asked(silent[0]) + asked(silent[1]);
	if (clock_tick_us() >= db->hosts[1].silent_until_us || clock_tick_us() >= db->hosts[2].silent_until_us)
		n.further = 0; // the while is over, or may have been
	n.warned = logged_end_has("connection lost");
	log_open("test", LOG_SINK_STDERR, LOG_LEVEL_ERROR);
	db_close(&db);
	return n;
}

// Two other servers are silent. They delay one statement each, not all. On a busy machine the answer to one may take so long that
// both are asked for it: then it is done again.
static void test_silent_others(const struct db_settings *template)
{
	struct db_settings settings = *template;
	struct silent_asked n = { 0 };
	unsigned ports[2];
	const int silent[2] = { relay_listen(SOCK_NONBLOCK, &ports[0]), relay_listen(SOCK_NONBLOCK, &ports[1]) };
	char host[96];

	(void)snprintf(host, sizeof(host), "localhost,127.0.0.1:%u,127.0.0.1:%u", ports[0], ports[1]);
	settings.host = host;
	settings.tls = "off";
	for (int i = 0; i < 10 && (n.first != 1 || n.second != 1); i++)
		n = ask_silent(&settings, silent);
	is_int(n.first, 1, "one is asked; the answer is there then, so the next one is not");
	is_int(n.second, 1, "the next statement has the other one asked");
	is_int(n.further, 0, "further ones nobody for a while");
	ok(!n.warned, "and the log has no connection that was lost, since none was");
	(void)close(silent[0]);
	(void)close(silent[1]);
}

// The writer is silent, and nobody else is the writer: read_timeout is waited for once, not once more by the library.
static void test_silent_writer(const struct db_settings *template)
{
	struct db_settings settings = *template;
	struct relaying *relaying = new_relaying();
	char host[64];
	pid_t slow;

	(void)snprintf(host, sizeof(host), "127.0.0.1:%u,127.0.0.1:1", start_slow(&slow, relaying));
	settings.host = host;
	settings.tls = "off";
	settings.read_timeout = 1;
	struct db *db = db_open(&settings, DB_APPLICATION);
	is_int(connect_patiently(db), DB_OK, "connected to a writer");
	atomic_store(&relaying->hangs, true);
	is_int(db_conn_query(db, "DO 0", strlen("DO 0")), DB_LOST, "which hangs");
	is_str(str_c(db_error(db)), "2013 the server does not answer", "and the library does not wait once more");
	atomic_store(&relaying->hangs, false);
	db_close(&db);
	end_slow(slow, relaying);
}

// ---- reads by another server

struct reader_read {
	struct db *db;
	const struct test_query *query;
};

static enum db_verdict read_on_reader(void *arg)
{
	struct reader_read *read = arg;
	struct db_rows rows;

	(void)db_run(read->db, pool, test_query(read->query), NULL, &rows);
	return DB_COMMIT;
}

// Was it read at read_from? On a busy machine that may not be reached in time: then again.
static bool is_read_on_reader(struct db *db, const struct test_query *query)
{
	struct reader_read read = { db, query };
	bool there = false;

	for (int i = 0; i < 5 && !there; i++) {
		db->reader_paused_until_us = 0;
		is_int(db_txn_run_on_reader(db, DB_AUTOCOMMIT, NULL, read_on_reader, &read), DB_OK, "a read");
		there = db->reader_paused_until_us == 0;
	}
	return there;
}

// The server is the same by two addresses, one of which passes for a replica that has all.
static void test_reader(const struct db_settings *template)
{
	struct db_settings settings = *template;
	struct relaying *relaying = new_relaying();
	char host[64], reader[32];
	pid_t slow;

	(void)snprintf(reader, sizeof(reader), "127.0.0.1:%u", start_slow(&slow, relaying));
	(void)snprintf(host, sizeof(host), "localhost,%s", reader);
	settings.host = host;
	settings.read_from = reader;
	settings.tls = "off";
	settings.read_timeout = 20;
	(void)setenv("TENURE_FAULT", "no-wait:1", 1);
	struct db *db = open_writer_first(&settings);
	(void)unsetenv("TENURE_FAULT");
	ok(is_read_on_reader(db, &q_long), "a statement of read_from may take longer than the wait for it to catch up");
	struct reader_read read = { db, &q_sums };
	int64_t begun_us = clock_tick_us();
	atomic_store(&relaying->hangs, true);
	db->reader_galera = true; // such a node is asked before each transaction
	is_int(db_txn_run_on_reader(db, DB_AUTOCOMMIT, NULL, read_on_reader, &read), DB_OK, "while it hangs, the writer reads");
	ok(db->reader_paused_until_us != 0 && clock_tick_us() - begun_us < settings.read_timeout * INT64_C(1000000), "long before read_timeout");
	atomic_store(&relaying->hangs, false);
	ok(is_read_on_reader(db, &q_sums), "when it answers, it reads again");
	for (size_t i = 0; i < db->n_hosts; i++)
		db->host = db->hosts[i].name != NULL ? i : db->host;
	db_conn_drop(db);
	is_int(connect_patiently(db), DB_OK, "connected to another writer");
	if (db->hosts[db->host].name != NULL) { // else a busy machine did not reach it in time
		is_int(db_txn_run_on_reader(db, DB_AUTOCOMMIT, NULL, read_on_reader, &read), DB_OK, "read_from is the writer now: it reads");
		ok(db->reader->mysql == NULL, "and there is no other connection to it");
	}
	db_close(&db);
	end_slow(slow, relaying);
}

int main(void)
{
	struct db_settings settings = writer_start();

	test_slow(&settings);
	test_remembered(&settings);
	test_silent_others(&settings);
	test_silent_writer(&settings);
	test_reader(&settings);
	pool_free(&pool);
	return done_testing();
}

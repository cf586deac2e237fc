// SPDX-License-Identifier: Apache-2.0
// A write transaction that a node of a cluster ends without saying so is done again, whole: what came after its end is never committed. Here the
// function ends it itself; the handle takes the server for a node of Galera. And what was read by a connection that is lost afterwards counts only
// if it is certainly the writer's state; a new writer that is slow is waited for, and servers that are silent are not waited for without need.
#include "base/base.h"

#include <netinet/in.h>
#include <poll.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "base/budget.h"
#include "base/clock.h"
#include "base/shared.h"
#include "db-server.h"
#include "db/db_internal.h"
#include "db/maintenance.h"
#include "logged.h"
#include "sql/cluster.h"
#include "sql/session.h"

enum { FEW = DB_MAX_BATCH, MANY = DB_MAX_BATCH + 1 };

static const struct test_query q_add = { "UPDATE sums SET n = n + ? WHERE id = 1", "u", "" };
static const struct test_query q_other = { "UPDATE sums SET n = n + ? WHERE id = 2", "u", "" };
static const struct test_query q_sums = { "SELECT CAST(SUM(n) AS UNSIGNED) FROM sums", "", "u" };
static const struct test_query q_row = { "INSERT INTO items (id) VALUES (?)", "u", "" };
static const struct test_query q_rows = { "SELECT COUNT(*) FROM items", "", "u" };
static const struct test_query q_rollback = { "ROLLBACK", "", "" };
static const struct test_query q_while = { "SELECT SLEEP(0.4)", "", "u" };
static const struct test_query q_long = { "SELECT SLEEP(2.5)", "", "u" };
static const struct test_query q_large = { "SELECT REPEAT('x', 1000000)", "", "s" };
static const struct test_query q_shared = { "UPDATE writer_slots SET n = n + 1, connection = 1", "", "" };

static struct pool *pool;
static struct db *watcher;

// A server of a busy machine may not be reached in time: it is tried again.
static enum db_result connect_patiently(struct db *db)
{
	enum db_result result = db_connect(db);

	for (int i = 0; i < 20 && result == DB_LOST; i++)
		result = db_connect(db);
	return result;
}

static uint64_t number(const struct test_query *query)
{
	struct db_rows rows;

	if (db_run(watcher, pool, test_query(query), NULL, &rows) != DB_OK || rows.n != 1)
		return UINT64_MAX;
	return db_at(&rows, 0, 0)->u;
}

static void add(struct db *db, const struct db_query *query)
{
	(void)db_run(db, pool, query, DB_IN(db_u(1)), NULL);
}

// What a transaction writes before and after the server ended its first attempt.
struct work {
	struct db *db;
	unsigned runs;
	void (*after)(struct work *work);
	bool shared;
	enum db_verdict verdict;
	enum db_result seen; // of the first statement behind the end
};

static enum db_verdict do_work(void *arg)
{
	struct work *work = arg;

	work->runs++;
	add(work->db, test_query(&q_add));
	if (work->runs == 1) {
		(void)db_run(work->db, pool, test_query(&q_rollback), NULL, NULL);
		if (work->shared)
			(void)db_run(watcher, pool, test_query(&q_shared), NULL, NULL);
		work->after(work);
		work->seen = work->db->failure;
		return work->verdict;
	}
	work->after(work);
	return DB_COMMIT;
}

// A statement that this connection has not prepared yet.
static void prepare_one(struct work *work)
{
	struct test_query fresh = q_other;

	add(work->db, test_query_made(NULL, &fresh));
}

static void fill(struct work *work, size_t n)
{
	struct db_value rows[MANY];

	for (size_t i = 0; i < n; i++)
		rows[i] = db_u(i + 1);
	(void)db_run_bulk(work->db, pool, test_query(&q_row), rows, n, NULL);
}

static void fill_many(struct work *work)
{
	fill(work, MANY);
}

static void expect_whole(struct work *work, uint64_t sums, uint64_t items, const char *what)
{
	uint64_t before = number(&q_sums);

	is_int(db_txn_run(work->db, DB_WRITE, NULL, do_work, work), DB_OK, "%s: committed", what);
	is_int(work->seen, DB_RETRY, "%s: the end is noticed at once", what);
	is_int(work->runs, 2, "%s: done again", what);
	is_int((long long)(number(&q_sums) - before), (long long)sums, "%s: what the transaction wrote before is there, once", what);
	is_int((long long)number(&q_rows), (long long)items, "%s: and what it wrote in one statement", what);
}

static void test_prepare(struct db *db)
{
	struct work work = { .db = db, .after = prepare_one, .verdict = DB_COMMIT };

	expect_whole(&work, 2, 0, "ended while a statement is prepared");
	work = (struct work){ .db = db, .after = prepare_one, .verdict = DB_ROLLBACK };
	expect_whole(&work, 2, 0, "the same, and the function gave up for what it saw then");
	work = (struct work){ .db = db, .after = prepare_one, .verdict = DB_COMMIT, .shared = true };
	expect_whole(&work, 2, 0, "the same, and another connection has used its slot since");
}

// One that goes to the other nodes in fragments, which this server does not do: only the look at it.
static enum db_verdict look_at_large(void *arg)
{
	struct db *db = arg;

	add(db, test_query(&q_add));
	db->large = true;
	is_int(db_txn_goes_on(db), DB_OK, "a large one goes on");
	db->large = false;
	(void)db_run(db, pool, test_query(&q_rollback), NULL, NULL);
	db->large = true;
	is_int(db_txn_goes_on(db), DB_RETRY, "and does not, once it was ended");
	db->large = false;
	return DB_ROLLBACK;
}

static enum db_verdict fill_few(void *arg)
{
	struct work *work = arg;

	add(work->db, test_query(&q_add));
	fill(work, FEW);
	return DB_COMMIT;
}

static void test_bulk(struct db *db)
{
	struct work work = { .db = db, .after = fill_many, .verdict = DB_COMMIT };

	expect_whole(&work, 1, MANY, "ended before a statement for many rows");
	server_sql("DELETE FROM items");
	uint64_t trips = db_round_trips(db);
	is_int(db_txn_run(db, DB_WRITE, NULL, fill_few, &work), DB_OK, "a statement for few rows");
	is_int((long long)(db_round_trips(db) - trips), 3, "needs no look at the transaction");
	is_int((long long)number(&q_rows), FEW, "and does all rows");
}

// ---- a beginning that is not sent

static enum db_verdict add_one(void *arg)
{
	add(arg, test_query(&q_add));
	return DB_COMMIT;
}

// The library can't send the statement that begins the transaction, as if it had no memory for it: neither the fence nor what is behind it may be
// committed by itself, and no answer is waited for.
static void test_not_begun(const struct db_settings *template)
{
	struct db_settings settings = *template;
	struct db_stmt *begin;
	struct db_rows rows;

	settings.read_timeout = 60;
	struct db *db = db_open(&settings, DB_APPLICATION);
	is_int(connect_patiently(db), DB_OK, "connected to the writer");
	is_int(db_run(db, pool, test_query(&q_sums), NULL, &rows), DB_OK, "outside of a transaction");
	if (db_stmt_get(db, &sql_session_autocommit_off_query, &begin) != DB_OK)
		bail_out("a statement of the test itself failed");
	begin->stmt->param_count = 1;
	begin->stmt->bind_param_done = 0;
	uint64_t before = number(&q_sums);
	int64_t begun_us = clock_tick_us();
	is_int(db_txn_run(db, DB_WRITE, NULL, add_one, db), DB_OK, "a transaction whose beginning was not sent: committed");
	is_int((long long)(number(&q_sums) - before), 1, "once");
	ok(clock_tick_us() - begun_us < settings.read_timeout * INT64_C(500000), "long before read_timeout");
	db_close(&db);
}

// ---- reads whose connection is lost at their end

struct look {
	struct db *db;
	unsigned runs;
	bool waits, cuts, reads;
	uint64_t seen;
};

// Another connection is the writer's after the first run has read, and writes.
static enum db_verdict do_look(void *arg)
{
	struct look *look = arg;
	struct db_rows rows;

	look->seen = 0;
	if (look->reads && db_run(look->db, pool, test_query(&q_sums), NULL, &rows) != DB_OK)
		return DB_ROLLBACK; // a server of a busy machine was not reached in time: a run that saw nothing does not count
	if (look->reads && rows.n == 1)
		look->seen = db_at(&rows, 0, 0)->u;
	if (++look->runs == 1 && look->waits)
		clock_pause_ms(DB_LEASE_MS + 50);
	if (look->runs == 1 && look->cuts)
		(void)shutdown(mysql_get_socket(look->db->mysql), SHUT_RDWR);
	if (look->runs == 1 && look->waits)
		server_sql("UPDATE writer SET epoch = epoch + 1;\nUPDATE writer_slots SET epoch = epoch + 1;\nUPDATE sums SET n = n + 1 WHERE id = 1;");
	return DB_ROLLBACK;
}

static enum db_verdict do_look_to_the_end(void *arg)
{
	(void)do_look(arg);
	return DB_COMMIT;
}

static void expect_look(struct look *look, enum db_mode mode, enum db_verdict (*fn)(void *arg), unsigned runs, const char *what)
{
	is_int(db_txn_run(look->db, mode, NULL, fn, look), DB_OK, "%s: answered", what);
	is_int(look->runs, runs, "%s: runs", what);
	if (look->reads && look->waits)
		is_int((long long)look->seen, (long long)number(&q_sums), "%s: the writer's state", what);
}

// The end of a read that is lost while the server was certainly the writer a moment before. What a busy machine does not do within that moment is
// done again.
static void test_lost_at_once(const struct db_settings *settings)
{
	struct look look;
	enum db_result result = DB_LOST;
	bool in_time = false;

	for (int i = 0; i < 100 && !in_time; i++) {
		int64_t begun_us = clock_tick_us();
		struct db *db = db_open(settings, DB_APPLICATION);

		look = (struct look){ .db = db, .reads = true, .cuts = true };
		result = db_txn_run(db, DB_WRITE, NULL, do_look, &look);
		in_time = result == DB_OK && clock_tick_us() - begun_us < DB_LEASE_MS * INT64_C(1000);
		db_close(&db);
	}
	ok(in_time, "the same at once: answered");
	is_int(look.runs, 1, "it was the writer when it answered: runs");
}

static void test_lost_reads(const struct db_settings *settings)
{
	(void)setenv("TENURE_FAULT", "before-commit:1:conn", 1);
	struct db *faulty = db_open(settings, DB_APPLICATION), *db;
	(void)unsetenv("TENURE_FAULT");
	struct look look = { .db = faulty, .waits = true, .reads = true };

	expect_look(&look, DB_SNAPSHOT, do_look_to_the_end, 2, "a snapshot whose COMMIT is lost");
	db_close(&faulty);
	db = db_open(settings, DB_APPLICATION);
	look = (struct look){ .db = db, .waits = true, .reads = true, .cuts = true };
	expect_look(&look, DB_WRITE, do_look, 2, "a write transaction whose ROLLBACK is lost");
	look = (struct look){ .db = db, .waits = true };
	expect_look(&look, DB_WRITE, do_look, 1, "without a connection, and nothing read");
	db_close(&db);
	test_lost_at_once(settings);
}

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

// Relays one connection to the private server; the first statement waits.
static void relay(int client, const struct relaying *relaying)
{
	struct sockaddr_un to = { .sun_family = AF_UNIX };
	int at = socket(AF_UNIX, SOCK_STREAM, 0);
	static char data[65536];

	(void)snprintf(to.sun_path, sizeof(to.sun_path), "%s", server.socket);
	if (at < 0 || connect(at, (const struct sockaddr *)&to, sizeof(to)) != 0)
		_exit(1);
	struct pollfd fds[] = { { .fd = client, .events = POLLIN }, { .fd = at, .events = POLLIN } };
	while (poll(fds, 2, -1) > 0) {
		for (int i = 0; i < 2; i++) {
			ssize_t n = fds[i].revents != 0 ? read(fds[i].fd, data, sizeof(data)) : -1;
			if (n == 0)
				_exit(0);
			if (n > 0 && i == 0 && memmem(data, (size_t)n, "SET NAMES", strlen("SET NAMES")) != NULL) {
				if (relaying != NULL && atomic_load(&relaying->is_on))
					atomic_store(newest_epoch(relaying->finds), LATER);
				clock_pause_ms(500);
			}
			for (int tries = 0; tries < 1000 && relaying != NULL && atomic_load(&relaying->hangs); tries++)
				clock_pause_ms(20);
			if (n > 0 && write(fds[1 - i].fd, data, (size_t)n) != n)
				_exit(1);
		}
	}
	_exit(0);
}

// A listening socket on loopback.
static int listen_somewhere(int flags, unsigned *port)
{
	struct sockaddr_in address = { .sin_family = AF_INET, .sin_addr = { htonl(INADDR_LOOPBACK) } };
	socklen_t n = sizeof(address);
	int listener = socket(AF_INET, SOCK_STREAM | flags, 0);

	if (listener < 0 || bind(listener, (const struct sockaddr *)&address, n) != 0 || listen(listener, 8) != 0 ||
		getsockname(listener, (struct sockaddr *)&address, &n) != 0)
		bail_out("no socket");
	*port = ntohs(address.sin_port);
	return listener;
}

// A server that takes half a second for the first answer of each connection. *pid: the process to be ended. relaying: NULL for none.
static unsigned start_slow(pid_t *pid, const struct relaying *relaying)
{
	unsigned port;
	int listener = listen_somewhere(0, &port);

	*pid = fork();
	if (*pid == 0) {
		(void)signal(SIGCHLD, SIG_IGN);
		for (;;) {
			int client = accept(listener, NULL, NULL);
			if (client >= 0 && fork() == 0)
				relay(client, relaying);
			(void)close(client);
		}
	}
	(void)close(listener);
	return port;
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
	(void)kill(slow, SIGKILL);
	(void)waitpid(slow, NULL, 0);
	(void)munmap(relaying, sizeof(*relaying));
}

// After a switch, where the new writer is slow: it is not taken for one that hangs, although others have heard of a later epoch than
// that of the last connection. at: its place. DB_OK: it is used.
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
	(void)kill(slow, SIGKILL);
	(void)waitpid(slow, NULL, 0);
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

// Statements that take longer than the silence after which others are asked, until so many connections were made to these; how many there were.
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

// Two other servers are silent. They delay one statement each, not all. On a busy machine the answer to one may take so long that both are
// asked for it: then it is done again.
static void test_silent_others(const struct db_settings *template)
{
	struct db_settings settings = *template;
	struct silent_asked n = { 0 };
	unsigned ports[2];
	const int silent[2] = { listen_somewhere(SOCK_NONBLOCK, &ports[0]), listen_somewhere(SOCK_NONBLOCK, &ports[1]) };
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

struct near_read {
	struct db *db;
	const struct test_query *query;
};

static enum db_verdict read_near(void *arg)
{
	struct near_read *read = arg;
	struct db_rows rows;

	(void)db_run(read->db, pool, test_query(read->query), NULL, &rows);
	return DB_COMMIT;
}

// Was it read at read_from? On a busy machine that may not be reached in time: then again.
static bool is_read_near(struct db *db, const struct test_query *query)
{
	struct near_read read = { db, query };
	bool there = false;

	for (int i = 0; i < 5 && !there; i++) {
		db->near_paused_until_us = 0;
		is_int(db_txn_run_near(db, DB_AUTOCOMMIT, NULL, read_near, &read), DB_OK, "a read");
		there = db->near_paused_until_us == 0;
	}
	return there;
}

// The server is the same by two addresses, one of which passes for a replica that has all.
static void test_near(const struct db_settings *template)
{
	struct db_settings settings = *template;
	struct relaying *relaying = new_relaying();
	char host[64], near[32];
	pid_t slow;

	(void)snprintf(near, sizeof(near), "127.0.0.1:%u", start_slow(&slow, relaying));
	(void)snprintf(host, sizeof(host), "localhost,%s", near);
	settings.host = host;
	settings.read_from = near;
	settings.tls = "off";
	settings.read_timeout = 20;
	(void)setenv("TENURE_FAULT", "no-wait:1", 1);
	struct db *db = open_writer_first(&settings);
	(void)unsetenv("TENURE_FAULT");
	ok(is_read_near(db, &q_long), "a statement of read_from may take longer than the wait for it to catch up");
	struct near_read read = { db, &q_sums };
	int64_t begun_us = clock_tick_us();
	atomic_store(&relaying->hangs, true);
	db->near_galera = true; // such a node is asked before each transaction
	is_int(db_txn_run_near(db, DB_AUTOCOMMIT, NULL, read_near, &read), DB_OK, "while it hangs, the writer reads");
	ok(db->near_paused_until_us != 0 && clock_tick_us() - begun_us < settings.read_timeout * INT64_C(1000000), "long before read_timeout");
	atomic_store(&relaying->hangs, false);
	ok(is_read_near(db, &q_sums), "when it answers, it reads again");
	for (size_t i = 0; i < db->n_hosts; i++)
		db->host = db->hosts[i].name != NULL ? i : db->host;
	db_conn_drop(db);
	is_int(connect_patiently(db), DB_OK, "connected to another writer");
	if (db->hosts[db->host].name != NULL) { // else a busy machine did not reach it in time
		is_int(db_txn_run_near(db, DB_AUTOCOMMIT, NULL, read_near, &read), DB_OK, "read_from is the writer now: it reads");
		ok(db->near->mysql == NULL, "and there is no other connection to it");
	}
	db_close(&db);
	end_slow(slow, relaying);
}

// ---- a server that is read-only

// What @@read_only is on a server, by its version, and whether such a server refuses changes.
static const struct read_only {
	const char *is;
	bool refuses;
} read_only[] = { { "0", false }, { "1", true }, { "'OFF'", false }, { "'ON'", true }, { "'NO_LOCK'", true }, { "'NO_LOCK_NO_ADMIN'", true } };

static void test_read_only(void)
{
	struct str asked = str_c(sql_writer_read_only_query.sql), name = STR("@@read_only");
	const char *at = strstr(asked.p, name.p);

	if (at == NULL)
		bail_out("no @@read_only in the statement");
	for (size_t i = 0; i < COUNT_OF(read_only); i++) {
		struct str sql = str_printf(pool, "%.*s%s%s", (int)(at - asked.p), asked.p, read_only[i].is, at + name.n);
		struct db_rows rows;
		bool is_known = db_run(watcher, pool, TEST_QUERY(str_cstr(pool, sql), "i"), NULL, &rows) == DB_OK && rows.n == 1;
		is_int(is_known ? (long long)db_at(&rows, 0, 0)->i : -1, read_only[i].refuses, "read_only is %s", read_only[i].is);
	}
}

// ---- maintenance

struct greedy {
	struct db *db;
	struct pool *pool;
};

static void read_too_much(void *arg)
{
	struct greedy *greedy = arg;
	struct db_rows rows;

	(void)db_run(greedy->db, greedy->pool, test_query(&q_large), NULL, &rows);
}


// A statement outside of a transaction, which does not heed maintenance, is left by its request: the next transaction heeds it.
static void test_left_apart(struct db *db)
{
	server_sql("CREATE TABLE settings (name VARCHAR(64) PRIMARY KEY, value VARBINARY(1000) NOT NULL) ENGINE=InnoDB;\n"
		"INSERT INTO settings VALUES ('etag_key', 'x'), ('maintenance', '60 0 repairs');");
	struct greedy greedy = { .db = db, .pool = pool_new() };
	db_heed_maintenance(db, true);
	is_int(connect_patiently(db), DB_OK, "connected to the writer again");
	is_int(db_txn_run(db, DB_WRITE, NULL, add_one, db), DB_FULL, "maintenance: nothing is written");
	budget_grant(100000, 0);
	is_int(budget_guard(read_too_much, &greedy), BUDGET_MEMORY, "a read that takes more than its request is granted");
	budget_end();
	is_int(db_txn_run(db, DB_WRITE, NULL, add_one, db), DB_FULL, "and nothing is written behind it");
	pool_free(&greedy.pool);
	server_sql("DROP TABLE settings");
}

int main(void)
{
	server_start();
	server_sql("CREATE TABLE sums (id INT PRIMARY KEY, n INT NOT NULL DEFAULT 0) ENGINE=InnoDB;\nINSERT INTO sums (id) VALUES (1), (2);\n"
		"CREATE TABLE items (id INT PRIMARY KEY) ENGINE=InnoDB;\n"
		"CREATE TABLE writer (id TINYINT PRIMARY KEY, node VARCHAR(255), epoch BIGINT UNSIGNED, held TINYINT);\n"
		"CREATE TABLE writer_slots (id SMALLINT UNSIGNED PRIMARY KEY, epoch BIGINT UNSIGNED, n BIGINT UNSIGNED, connection BIGINT UNSIGNED);\n"
		"INSERT INTO writer VALUES (1, CONCAT(@@hostname, ':', @@port), 1, 0);\nINSERT INTO writer_slots VALUES (1, 1, 0, 0);");
	pool = pool_new();
	watcher = db_open(db_settings(server.config), DB_APPLICATION);
	struct db_settings settings = *db_settings(server.config);

	settings.host = "127.0.0.1:1,localhost";
	settings.connect_timeout = 1;
	struct db *db = db_open(&settings, DB_APPLICATION);
	is_int(connect_patiently(db), DB_OK, "connected to the writer");
	db->galera = true;
	test_prepare(db);
	test_bulk(db);
	(void)db_txn_run(db, DB_WRITE, NULL, look_at_large, db);
	db_close(&db);
	db = db_open(&settings, DB_APPLICATION);
	test_left_apart(db);
	db_close(&db);
	test_not_begun(&settings);
	test_lost_reads(&settings);
	test_slow(&settings);
	test_remembered(&settings);
	test_silent_others(&settings);
	test_silent_writer(&settings);
	test_near(&settings);
	test_read_only();
	db_close(&watcher);
	pool_free(&pool);
	return done_testing();
}

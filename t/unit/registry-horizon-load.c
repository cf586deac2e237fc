// SPDX-License-Identifier: Apache-2.0
// The change log's horizon under a load of writers that roll back, are stopped and are killed: all that readers were told is
// compared with the table. A reader that takes what is missing for void proves that the comparison finds what comes to light
// late.
#include "base/base.h"

#include "registry-horizon.h"

enum { WRITERS = 6, LOAD_MS = 4000, TOLD_MAX = 4000000 };

static const struct test_query q_insert = {
	CHANGE_INSERT "(request_id, at, actor, verb, tenant_id, uid, revision) VALUES (?, UTC_TIMESTAMP(6), 'w', 'updated', ?, ?, 1)",
	"bub", ""
};
static const struct test_query q_insert_many = {
	CHANGE_INSERT "(request_id, at, actor, verb, tenant_id, uid, revision) SELECT ?, UTC_TIMESTAMP(6), 'w', 'moved', ?, ?, seq "
	"FROM seq_1_to_3000 WHERE seq <= ?",
	"bubu", ""
};
static const struct test_query q_nothing = { "SELECT 1", "", "u" };

static uint64_t dice = 88172645463325252U;

static uint64_t roll(uint64_t n)
{
	dice ^= dice << 13;
	dice ^= dice >> 7;
	dice ^= dice << 17;
	return dice % n;
}

static struct db *load_db;
static struct pool *load_pool;

static enum db_verdict write_some(void *arg)
{
	struct uuid *id = arg;
	struct db_value in[] = { db_uuid(id), db_u(1 + roll(4)), db_uuid(id), db_u(1 + roll(3000)) };
	struct db_call calls[] = { { .query = test_query(&q_nothing) }, { .query = test_query(&q_insert), .in = in }, { .query = test_query(&q_insert), .in = in },
		{ .query = test_query(&q_nothing) } };
	uint64_t kind = roll(20);

	if (kind == 0) {
		(void)db_run(load_db, load_pool, test_query(&q_insert_many), in, NULL);
	} else if (kind == 1) {
		enum { BULK = 300 };
		struct db_value *values = POOL_ARRAY(load_pool, struct db_value, 3 * BULK);
		for (size_t i = 0; i < 3 * BULK; i++)
			values[i] = in[i % 3];
		(void)db_run_bulk(load_db, load_pool, test_query(&q_insert), values, BULK, NULL);
	} else {
		(void)db_run_batch(load_db, load_pool, calls, COUNT_OF(calls));
		if (kind < 8)
			(void)db_run_batch(load_db, load_pool, calls, COUNT_OF(calls));
	}
	if (roll(50) == 0)
		(void)usleep((useconds_t)roll(200000));
	return roll(10) < 3 ? DB_ROLLBACK : DB_COMMIT;
}

static pid_t load_writer(unsigned seed)
{
	pid_t pid = fork();

	if (pid != 0)
		return pid;
	(void)close(STDERR_FILENO); // lost connections are the purpose
	dice += seed * UINT64_C(0x9E3779B97F4A7C15);
	load_db = db_open(db_settings(server.config), DB_APPLICATION);
	load_pool = pool_new();
	for (;;) {
		struct uuid id = uuid_new();
		(void)db_txn_run(load_db, DB_WRITE, &id, write_some, &id);
		pool_clear(load_pool);
	}
}

struct reader {
	uint64_t at;     // told up to here
	uint64_t *told;  // ids, in their order
	size_t n;
	uint64_t of[2];  // of those tenants alone; 0: of all
};

static void read_up_to(struct reader *reader, uint64_t up_to)
{
	static const struct test_query all = { "SELECT id FROM changes WHERE id > ? AND id <= ? ORDER BY id", "uu", "u" };
	static const struct test_query some = {
		"SELECT id FROM changes WHERE id > ? AND id <= ? AND tenant_id IN (?, ?) ORDER BY id", "uuuu", "u"
	};
	struct db_rows rows;

	if (up_to <= reader->at)
		return;
	if (db_run(here.db, here.pool, reader->of[0] != 0 ? test_query(&some) : test_query(&all),
		DB_IN(db_u(reader->at), db_u(up_to), db_u(reader->of[0]), db_u(reader->of[1])), &rows) != DB_OK)
		bail_out("can't read");
	for (size_t i = 0; i < rows.n && reader->n < TOLD_MAX; i++)
		reader->told[reader->n++] = db_at(&rows, i, 0)->u;
	reader->at = up_to;
}

// How many rows of the table, up to where the reader is, it was not told of.
static size_t count_late(const struct reader *reader, uint64_t from)
{
	struct reader again = { .at = from, .told = POOL_ARRAY(here.pool, uint64_t, TOLD_MAX), .of = { reader->of[0], reader->of[1] } };
	size_t late = 0, k = 0;

	read_up_to(&again, reader->at);
	for (size_t i = 0; i < again.n; i++) {
		while (k < reader->n && reader->told[k] < again.told[i])
			k++;
		late += k == reader->n || reader->told[k] != again.told[i] ? 1 : 0;
	}
	return late;
}

static void disturb(pid_t *pids, unsigned *made)
{
	size_t i = (size_t)roll(WRITERS);

	switch (roll(3)) {
	case 0:
		(void)kill(pids[i], SIGKILL);
		(void)waitpid(pids[i], NULL, 0);
		pids[i] = load_writer(++*made);
		break;
	case 1:
		(void)kill(pids[i], SIGSTOP);
		break;
	default:
		for (i = 0; i < WRITERS; i++)
			(void)kill(pids[i], SIGCONT);
	}
}

static bool much_is_told(const struct reader *exact, const struct reader *two, unsigned ahead)
{
	return exact->n > 1000 && two->n > 500 && ahead > 0;
}

static void test_load(void)
{
	struct reader exact = { .n = 0 }, two = { .of = { 2, 3 } }, hasty = { .n = 0 };
	struct reader *const readers[] = { &exact, &two, &hasty };
	pid_t pids[WRITERS];
	unsigned made = 0, asks = 0, ahead = 0;
	uint64_t from = (uint64_t)horizon(), highest;

	for (size_t i = 0; i < COUNT_OF(readers); i++) {
		readers[i]->at = from;
		readers[i]->told = malloc(TOLD_MAX * sizeof(uint64_t));
	}
	for (size_t i = 0; i < WRITERS; i++)
		pids[i] = load_writer(++made);
	// On a slow machine, or under valgrind, it takes longer until there is something to see.
	int64_t end = clock_tick_us() + LOAD_MS * 1000, last = end + 9 * LOAD_MS * 1000;
	for (int64_t next = 0; clock_tick_us() < end; asks++) {
		uint64_t at = 0, of_two = 0;
		bool all;
		begin_request(&here);
		if (horizon_advance(here.registry, &at, &highest) != OUTCOME_OK ||
			horizon_of_two(here.registry, two.of, two.at, &of_two, &all) != OUTCOME_OK)
			bail_out("no horizon");
		read_up_to(&exact, at);
		read_up_to(&two, of_two);
		read_up_to(&hasty, highest); // what is missing is taken to be void
		ahead += of_two > at ? 1 : 0;
		if (clock_tick_us() > next) {
			disturb(pids, &made);
			next = clock_tick_us() + 30000;
		}
		if (clock_tick_us() >= end && end < last && !(much_is_told(&exact, &two, ahead) && count_late(&hasty, from) > 0))
			end += LOAD_MS * 1000;
	}
	for (size_t i = 0; i < WRITERS; i++) {
		(void)kill(pids[i], SIGKILL);
		(void)waitpid(pids[i], NULL, 0);
	}
	await_ends();
	begin_request(&here);
	diag("%zu changes told, %zu of two tenants, %u asks, %u of them ahead for the two, %u writers", exact.n, two.n, asks, ahead, made);
	ok(much_is_told(&exact, &two, ahead), "much was told");
	is_int((long long)count_late(&exact, from), 0, "nothing came to light below the horizon");
	is_int((long long)count_late(&two, from), 0, "nor below that of two tenants");
	ok(count_late(&hasty, from) > 0, "a reader who does not ask would have missed some, which the check finds: %zu",
		count_late(&hasty, from));
	begin_request(&here);
	// One call reads a bounded number of rows, and a slow reader is further behind than that.
	uint64_t at = 0, before;
	enum outcome asked;
	do {
		before = at;
		asked = horizon_advance(here.registry, &at, &highest);
	} while (asked == OUTCOME_OK && at > before);
	is_outcome(asked, OUTCOME_OK, "asked at the end");
	is_int((long long)at, (long long)highest, "in the end all is told");
	for (size_t i = 0; i < COUNT_OF(readers); i++)
		free(readers[i]->told);
}

static int number_of(const char *variable)
{
	const char *text = getenv(variable);
	uint64_t number = 0;

	return text != NULL && str_to_u64(str_c(text), &number) ? (int)number : 0;
}

// TENURE_LOAD_ROUNDS: so many rounds, with any TENURE_AUTOINC_LOCK_MODE; TENURE_SEED: of its dice.
int main(void)
{
	const char *mode = getenv("TENURE_AUTOINC_LOCK_MODE");
	int rounds = number_of("TENURE_LOAD_ROUNDS");

	dice += (uint64_t)number_of("TENURE_SEED");
	// With 1, the default, writers wait for each other while one inserts many, and hardly meet.
	horizon_start(mode != NULL ? mode : "2");
	add(other, 1, 3);
	count_connections();
	for (int i = 0; i == 0 || i < rounds; i++)
		test_load();
	return horizon_end();
}

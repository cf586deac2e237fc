// SPDX-License-Identifier: Apache-2.0
// Counters of several processes: nothing is lost when they are killed, rows run out, the file is damaged or replaced.
#include "base/base.h"

#include <glob.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/control.h"
#include "base/log.h"
#include "base/metrics_text.h"
#include "base/pool.h"
#include "tap.h"

enum { PROCESSES = 4, EACH = 5000, SECOND = 1000000 };

#define is_count(got, want, ...) is_int((long long)(got), (long long)(want), __VA_ARGS__)

static char dir[] = "/tmp/tenure-metrics-XXXXXX";

static struct metrics_of_request request_of(const void *method, const char *id, int status, int64_t us)
{
	return (struct metrics_of_request){ .method = method, .dialect = "tenancy", .id = id, .status = status, .us = us,
		.outcome = status < 400 ? OUTCOME_OK : OUTCOME_NOT_FOUND };
}

static bool has_line(struct str text, const char *line)
{
	return memmem(text.p, text.n, line, strlen(line)) != NULL;
}

// Counts and is killed, or ends without having closed anything.
_Noreturn static void count(bool is_killed)
{
	static const char method[] = "a method of this process";
	struct metrics_rows *rows = calloc(1, sizeof(*rows));
	struct shared *shared = shared_open(dir, STR("here"));

	if (rows == NULL || shared == NULL || !shared_claim(shared))
		_exit(1);
	metrics_process(shared, METRICS_WORKER, 1);
	for (int i = 0; i < EACH; i++) {
		const struct metrics_of_request request = request_of(method, "getTenant", i % 2 == 0 ? 200 : 404, 700);
		metrics_request(shared, rows, &request);
	}
	metrics_add(shared, METRICS_ROUND_TRIPS, EACH);
	if (is_killed)
		(void)raise(SIGKILL);
	_exit(0);
}

static void test_processes(struct pool *pool, struct shared *shared)
{
	struct metrics_summary sum;
	pid_t pids[PROCESSES];

	for (int i = 0; i < PROCESSES; i++) {
		pids[i] = fork();
		if (pids[i] == 0)
			count(i % 2 == 0);
	}
	for (int i = 0; i < PROCESSES; i++)
		(void)waitpid(pids[i], NULL, 0);
	(void)shared_refresh(shared, clock_tick_us() + 2 * SECOND); // finds them dead
	metrics_summarize(shared, &sum);
	is_count(sum.requests, PROCESSES * EACH, "requests of all processes, those of killed ones included");
	is_count(sum.by_class[2], PROCESSES * EACH / 2, "by class of status");
	is_count(sum.by_class[4], PROCESSES * EACH / 2, "each");
	is_count(sum.by_outcome[OUTCOME_NOT_FOUND], PROCESSES * EACH / 2, "by outcome");
	is_count(sum.buckets[2], PROCESSES * EACH, "0.7 ms is in the bucket up to 1 ms");
	is_count(sum.sum_us, 700LL * PROCESSES * EACH, "their sum");
	is_count(sum.counters[METRICS_ROUND_TRIPS], PROCESSES * EACH, "another counter");
	is_count(sum.workers_busy + sum.workers_idle, 0, "the dead are no workers");

	struct buf text = buf_new(pool, 0);
	metrics_text(&text, shared, "1.2.3");
	const struct str s = buf_str(&text);
	ok(has_line(s, "\ntenure_requests_total{dialect=\"tenancy\",route=\"getTenant\",code=\"2xx\"} 10000\n"), "as text");
	ok(has_line(s, "_bucket{dialect=\"tenancy\",route=\"getTenant\",le=\"0.0005\"} 0\n"), "buckets are cumulative: none below");
	ok(has_line(s, "_bucket{dialect=\"tenancy\",route=\"getTenant\",le=\"0.001\"} 20000\n"), "all here");
	ok(has_line(s, "_bucket{dialect=\"tenancy\",route=\"getTenant\",le=\"+Inf\"} 20000\n"), "and in the last");
	ok(has_line(s, "_sum{dialect=\"tenancy\",route=\"getTenant\"} 14.000000\n"), "seconds");
	ok(has_line(s, "tenure_build_info{version=\"1.2.3\"} 1\n"), "the version");
	ok(!has_line(s, "tenure_moves_queued"), "what nobody has looked at is not there");
}

static void test_alive(struct shared *shared)
{
	struct metrics_summary sum;

	metrics_process(shared, METRICS_WORKER, 0);
	metrics_summarize(shared, &sum);
	is_count(sum.workers_idle, 1, "an idle worker");
	metrics_process_value(shared, 1);
	metrics_summarize(shared, &sum);
	is_count(sum.workers_busy, 1, "a busy one");
	metrics_process(shared, METRICS_WATCH, 7);
	metrics_summarize(shared, &sum);
	is_count(sum.watches, 7, "watches");
	is_count(sum.workers_busy, 0, "of a process that is no worker");
}

static void test_times(struct shared *shared)
{
	static const char method[] = "times";
	static struct metrics_rows rows;
	struct metrics_summary before, after;
	const int64_t us[] = { -5, 0, 250, 251, 5000000, 5000001, INT64_C(1) << 40 };

	metrics_summarize(shared, &before);
	for (size_t i = 0; i < COUNT_OF(us); i++) {
		const struct metrics_of_request request = request_of(method, "times", 999, us[i]);
		metrics_request(shared, &rows, &request);
	}
	metrics_summarize(shared, &after);
	is_count(after.buckets[0] - before.buckets[0], 3, "up to 250 us, the bound included");
	is_count(after.buckets[1] - before.buckets[1], 1, "the next one");
	is_count(after.buckets[METRICS_BUCKETS - 1] - before.buckets[METRICS_BUCKETS - 1], 1, "up to five seconds");
	is_count(after.requests - before.requests, COUNT_OF(us), "longer ones count, in no bucket");
	is_count(after.by_class[0] - before.by_class[0], COUNT_OF(us), "a status that is none");
}

// More methods than there are rows, and more than a worker remembers.
static void test_crowd(struct pool *pool, struct shared *shared)
{
	static char methods[METRICS_ROUTES * 3][16];
	static struct metrics_rows rows;
	struct metrics_summary before, after;
	char id[128];

	metrics_summarize(shared, &before);
	for (int round = 0; round < 2; round++) {
		for (size_t i = 0; i < COUNT_OF(methods); i++) {
			int n = snprintf(id, sizeof(id), "method%zu-with-a-name-that-is-longer-than-any-row-of-them-has-room-for", i);
			const struct metrics_of_request request = request_of(methods[i], id, 200, 1);
			metrics_request(shared, &rows, &request);
			assert(n > METRICS_NAME);
		}
	}
	metrics_summarize(shared, &after);
	is_count(after.requests - before.requests, 2 * COUNT_OF(methods), "all are counted");
	struct buf text = buf_new(pool, 0);
	metrics_text(&text, shared, "1");
	ok(has_line(buf_str(&text), "tenure_requests_total{dialect=\"other\",route=\"\",code=\"2xx\"}"), "the rest under one name");
}

// Whatever is in the file, reading it harms nobody, and no name ends a label.
static void test_damage(struct pool *pool, struct shared *shared)
{
	struct metrics *metrics = metrics_area(shared);
	struct buf text = buf_new(pool, 0);

	memset((void *)metrics, 0xff, sizeof(*metrics));
	metrics_text(&text, shared, "1");
	ok(text.n > 1000, "a text all the same");
	memset((void *)metrics, '"', sizeof(*metrics));
	text.n = 0;
	metrics_text(&text, shared, "1");
	ok(!has_line(buf_str(&text), "\"\"\""), "quotes in names are replaced");
	memset((void *)metrics, 0, sizeof(*metrics));
}

static void test_control(struct shared *shared)
{
	enum log_level level = LOG_LEVEL_INFO;

	ok(!control_log_level(shared, &level), "no level is set at first");
	control_set_log_level(shared, true, LOG_LEVEL_DEBUG);
	ok(control_log_level(shared, &level) && level == LOG_LEVEL_DEBUG, "set");
	control_set_log_level(shared, false, LOG_LEVEL_DEBUG);
	ok(!control_log_level(shared, &level), "and no more");
	control_set_log_level(shared, true, (enum log_level)77);
	ok(!control_log_level(shared, &level), "nonsense counts as none");
	control_apply(shared);
	control_apply(NULL);
}

static void test_attach(void)
{
	struct shared *tool = shared_attach(dir, STR("elsewhere"));
	struct stat st;
	char none[64];

	ok(tool == NULL, "a tool makes no file");
	(void)snprintf(none, sizeof(none), "%s/none", dir);
	ok(shared_attach(none, STR("here")) == NULL && stat(none, &st) != 0, "nor a folder");
	tool = shared_attach(dir, STR("here"));
	ok(tool != NULL && shared_is_file(tool), "it sees the file that is there");
	shared_close(&tool);
}

int main(void)
{
	static struct metrics_rows rows;
	const struct metrics_of_request request = request_of(dir, "x", 200, 1);
	struct pool *pool = pool_new();

	log_open("test", LOG_SINK_STDERR, LOG_LEVEL_ERROR);
	if (mkdtemp(dir) == NULL || pool == NULL)
		bail_out("no folder");
	metrics_request(NULL, &rows, &request);
	metrics_add(NULL, METRICS_ROUND_TRIPS, 1);
	metrics_process(NULL, METRICS_WORKER, 1);
	struct shared *shared = shared_open(dir, STR("here"));
	if (shared == NULL || !shared_claim(shared))
		bail_out("no memory");
	test_processes(pool, shared);
	test_alive(shared);
	test_times(shared);
	test_crowd(pool, shared);
	test_damage(pool, shared);
	test_control(shared);
	test_attach();
	shared_close(&shared);
	pool_free(&pool);
	return done_testing();
}

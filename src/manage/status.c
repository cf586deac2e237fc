// SPDX-License-Identifier: Apache-2.0
// tenure-manage status: what the processes of this host have counted, and what the host service saw, for people or as JSON.
#include "base/base.h"

#include <errno.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/metrics_text.h"
#include "manage/commands.h"
#include "repr/json/doc.h"
#include "server/setup/host.h"
#include "server/setup/settings.h"

enum { WATCH_S = 2, STALE_S = 60 }; // between two screens; a host service that runs looks more often

// One look.
struct status {
	struct metrics_summary sum;
	int64_t now_us;
	enum host_service service;
	pid_t holder; // 0: not known
};

static bool take_status(const struct manage *manage, struct status *status)
{
	struct shared *shared = host_shared_attach(manage->config);

	if (shared == NULL)
		return false;
	metrics_summarize(shared, &status->sum);
	shared_close(&shared);
	status->now_us = clock_now_us();
	status->service = host_service_find(manage->config, &status->holder);
	return true;
}

// Has the host service looked at the database lately?
static bool is_seen(const struct status *status)
{
	return status->sum.gauges_at_us > 0 && status->now_us - status->sum.gauges_at_us < STALE_S * INT64_C(1000000);
}

// Seconds since a point of time; -1 if it is none.
static int64_t age_s(const struct status *status, int64_t at_us)
{
	return at_us <= 0 ? -1 : at_us > status->now_us ? 0 : (status->now_us - at_us) / 1000000;
}

// ---- JSON

// NULL for an age that there is none of.
static void set_age(struct pool *pool, struct doc *doc, const char *name, int64_t age)
{
	if (age < 0)
		doc_set(doc, str_c(name), NULL);
	else
		doc_set_u64(pool, doc, name, (uint64_t)age);
}

static void add_requests(struct pool *pool, struct doc *doc, const struct metrics_summary *sum)
{
	static const char *const classes[METRICS_CLASSES] = { "other", "1xx", "2xx", "3xx", "4xx", "5xx" };
	struct doc *requests = doc_new_object(pool), *outcomes = doc_new_object(pool);

	doc_set_u64(pool, requests, "total", sum->requests);
	for (size_t i = 0; i < METRICS_CLASSES; i++)
		doc_set_u64(pool, requests, classes[i], sum->by_class[i]);
	doc_set_u64(pool, requests, "microseconds", sum->sum_us);
	for (enum outcome i = 0; i < OUTCOME__COUNT; i++) {
		if (sum->by_outcome[i] > 0)
			doc_set_u64(pool, outcomes, outcome_name(i), sum->by_outcome[i]);
	}
	doc_set(doc, STR("requests"), requests);
	doc_set(doc, STR("outcomes"), outcomes);
}

static const struct { const char *name; enum metrics_counter counter; } counters[] = {
	{ "round_trips", METRICS_ROUND_TRIPS },
	{ "connections", METRICS_CONNECTIONS },
	{ "retries", METRICS_RETRIES },
	{ "statements_prepared", METRICS_STATEMENTS_PREPARED },
	{ "statements_reused", METRICS_STATEMENTS_REUSED },
	{ "resource_cache_hits", METRICS_RESOURCE_CACHE_HITS },
	{ "resource_cache_misses", METRICS_RESOURCE_CACHE_MISSES },
	{ "page_cache_hits", METRICS_PAGE_CACHE_HITS },
	{ "page_cache_misses", METRICS_PAGE_CACHE_MISSES },
	{ "workers_started", METRICS_WORKERS_STARTED },
	{ "workers_failed", METRICS_WORKERS_FAILED },
	{ "moves_done", METRICS_MOVES_DONE },
	{ "moves_failed", METRICS_MOVES_FAILED },
	{ "webhook_messages_received", METRICS_WEBHOOK_RECEIVED },
	{ "webhook_attempts_failed", METRICS_WEBHOOK_FAILED },
	{ "webhook_messages_given_up", METRICS_WEBHOOK_GIVEN_UP },
};

static struct doc *webhooks_doc(struct pool *pool, const struct status *status)
{
	const int64_t *gauges = status->sum.gauges;
	struct doc *doc = doc_new_object(pool);

	doc_set_u64(pool, doc, "active", (uint64_t)gauges[METRICS_WEBHOOKS_ACTIVE]);
	doc_set_u64(pool, doc, "failing", (uint64_t)gauges[METRICS_WEBHOOKS_FAILING]);
	doc_set_u64(pool, doc, "paused", (uint64_t)gauges[METRICS_WEBHOOKS_PAUSED]);
	doc_set_u64(pool, doc, "disabled", (uint64_t)gauges[METRICS_WEBHOOKS_DISABLED]);
	doc_set_u64(pool, doc, "messages_dead", (uint64_t)gauges[METRICS_WEBHOOK_MESSAGES_DEAD]);
	doc_set_u64(pool, doc, "messages_queued", (uint64_t)gauges[METRICS_WEBHOOK_MESSAGES_QUEUED]);
	doc_set(doc, STR("sender_works"), doc_new_bool(pool, gauges[METRICS_WEBHOOK_SENDER_WORKS] != 0));
	set_age(pool, doc, "oldest_waiting_seconds", age_s(status, gauges[METRICS_WEBHOOK_WAITING_US]));
	set_age(pool, doc, "oldest_failing_seconds", age_s(status, gauges[METRICS_WEBHOOK_FAILING_US]));
	return doc;
}

// The gauges, as the host service measured them last; null if that is too long ago.
static struct doc *seen_doc(struct pool *pool, const struct status *status)
{
	const int64_t *gauges = status->sum.gauges;
	struct doc *doc = doc_new_object(pool);

	if (!is_seen(status))
		return NULL;
	doc_set(doc, STR("database_answers"), doc_new_bool(pool, gauges[METRICS_DATABASE_ANSWERS] != 0));
	doc_set_u64(pool, doc, "schema_version", (uint64_t)gauges[METRICS_SCHEMA_VERSION]);
	doc_set_u64(pool, doc, "moves_queued", (uint64_t)gauges[METRICS_MOVES_QUEUED]);
	doc_set_u64(pool, doc, "moves_running", (uint64_t)gauges[METRICS_MOVES_RUNNING]);
	set_age(pool, doc, "oldest_move_seconds", age_s(status, gauges[METRICS_OLDEST_MOVE_US]));
	doc_set_u64(pool, doc, "namespaces_deleting", (uint64_t)gauges[METRICS_NAMESPACES_DELETING]);
	doc_set_u64(pool, doc, "horizon_lag", (uint64_t)gauges[METRICS_HORIZON_LAG]);
	set_age(pool, doc, "horizon_held_seconds", age_s(status, gauges[METRICS_HORIZON_HELD_SINCE_US]));
	set_age(pool, doc, "reaped_seconds_ago", age_s(status, gauges[METRICS_REAPED_AT_US]));
	set_age(pool, doc, "maintenance_seconds", age_s(status, gauges[METRICS_MAINTENANCE_SINCE_US]));
	set_age(pool, doc, "usage_closed_seconds_ago", age_s(status, gauges[METRICS_USAGE_CLOSED_US]));
	set_age(pool, doc, "usage_due_seconds", age_s(status, gauges[METRICS_USAGE_DUE_SINCE_US]));
	doc_set(doc, STR("webhooks"), webhooks_doc(pool, status));
	return doc;
}

static const char *service_word(enum host_service service)
{
	return service == HOST_SERVICE_RUNS ? "runs" : service == HOST_SERVICE_ABSENT ? "absent" : "unknown";
}

static void print_json(struct pool *pool, const struct status *status)
{
	struct doc *doc = doc_new_object(pool);
	struct buf text = buf_new(pool, 2048);

	doc_set_str(pool, doc, "host_service", str_c(service_word(status->service)));
	add_requests(pool, doc, &status->sum);
	doc_set_u64(pool, doc, "workers_busy", status->sum.workers_busy);
	doc_set_u64(pool, doc, "workers_idle", status->sum.workers_idle);
	doc_set_u64(pool, doc, "watches", status->sum.watches);
	for (size_t i = 0; i < COUNT_OF(counters); i++)
		doc_set_u64(pool, doc, counters[i].name, status->sum.counters[counters[i].counter]);
	doc_set(doc, STR("seen"), seen_doc(pool, status));
	doc_write_json(doc, &text);
	buf_addc(&text, '\n');
	(void)fwrite(text.p, 1, text.n, stdout);
}

// ---- for people

// "12 s", "3 min", "5 h", "2 d".
static void print_age(int64_t s)
{
	if (s < 120)
		printf("%lld s", (long long)s);
	else if (s < 7200)
		printf("%lld min", (long long)(s / 60));
	else if (s < 172800)
		printf("%lld h", (long long)(s / 3600));
	else
		printf("%lld d", (long long)(s / 86400));
}

static void print_service(const struct status *status)
{
	printf("host service    ");
	switch (status->service) {
	case HOST_SERVICE_RUNS:
		if (status->holder != 0)
			printf("process %ld\n", (long)status->holder);
		else
			puts("runs");
		break;
	case HOST_SERVICE_ABSENT:
		puts("none: start tenured-host");
		break;
	case HOST_SERVICE_UNKNOWN:
		puts("this user may not look");
		break;
	}
}

// The time below which the given percentage of requests were, by the buckets; -1: above all of them, or there were none.
static int64_t percentile_us(const struct metrics_summary *sum, unsigned percent)
{
	uint64_t below = 0;

	for (size_t i = 0; i < METRICS_BUCKETS && sum->requests > 0; i++) {
		below += sum->buckets[i];
		if (below * 100 >= sum->requests * percent)
			return metrics_bounds_us[i];
	}
	return -1;
}

static void print_percentile(const struct metrics_summary *sum, unsigned percent)
{
	int64_t us = percentile_us(sum, percent);

	if (us >= 0)
		printf(", %u %% below %g ms", percent, (double)us / 1000);
}

static void print_share(const char *name, uint64_t hits, uint64_t misses)
{
	if (hits + misses > 0)
		printf("%-15s %.1f %% of %llu lookups\n", name, 100.0 * (double)hits / (double)(hits + misses),
			(unsigned long long)(hits + misses));
}

static void print_late(const char *what, int64_t s)
{
	if (s < 0)
		return;
	printf("%s", what);
	print_age(s);
}

static void print_webhooks(const struct status *status)
{
	const int64_t *gauges = status->sum.gauges;
	int64_t all = gauges[METRICS_WEBHOOKS_ACTIVE] + gauges[METRICS_WEBHOOKS_FAILING] + gauges[METRICS_WEBHOOKS_PAUSED] +
		gauges[METRICS_WEBHOOKS_DISABLED];

	printf("webhooks        ");
	if (all == 0) {
		puts("none");
		return;
	}
	printf("%lld active, %lld failing, %lld paused, %lld disabled; %lld messages given up", (long long)gauges[METRICS_WEBHOOKS_ACTIVE],
		(long long)gauges[METRICS_WEBHOOKS_FAILING], (long long)gauges[METRICS_WEBHOOKS_PAUSED],
		(long long)gauges[METRICS_WEBHOOKS_DISABLED], (long long)gauges[METRICS_WEBHOOK_MESSAGES_DEAD]);
	print_late("; the oldest change waits to be sent for ", age_s(status, gauges[METRICS_WEBHOOK_WAITING_US]));
	print_late("; the oldest that a receiver did not take is from ", age_s(status, gauges[METRICS_WEBHOOK_FAILING_US]));
	puts(gauges[METRICS_WEBHOOK_FAILING_US] > 0 ? " ago" : "");
	if (gauges[METRICS_WEBHOOK_SENDER_WORKS] == 0)
		puts("NOBODY SENDS    no host service, here or elsewhere, sends to webhooks");
}

// The host service looks every few seconds, so one that runs and has not looked waits for an answer.
static void print_not_seen(const struct status *status)
{
	int64_t age = age_s(status, status->sum.gauges_at_us);

	if (status->service != HOST_SERVICE_RUNS) {
		printf("database        not looked at lately%s\n", status->service == HOST_SERVICE_ABSENT ? ", as no host service runs" : "");
	} else if (age < 0) {
		puts("database        the host service waits for its first answer");
	} else {
		printf("database        DOES NOT ANSWER the host service, whose last look was ");
		print_age(age);
		puts(" ago");
	}
}

static void print_seen(const struct status *status)
{
	const int64_t *gauges = status->sum.gauges;

	if (!is_seen(status)) {
		print_not_seen(status);
		return;
	}
	printf("database        %s, schema version %lld\n", gauges[METRICS_DATABASE_ANSWERS] != 0 ? "answers" : "DOES NOT ANSWER; what follows is older",
		(long long)gauges[METRICS_SCHEMA_VERSION]);
	printf("moves           %lld queued, %lld of them run", (long long)gauges[METRICS_MOVES_QUEUED], (long long)gauges[METRICS_MOVES_RUNNING]);
	if (gauges[METRICS_OLDEST_MOVE_US] > 0) {
		printf("; the oldest waits for ");
		print_age(age_s(status, gauges[METRICS_OLDEST_MOVE_US]));
	}
	printf("\nnamespaces      %lld being deleted\nhorizon         %lld changes behind", (long long)gauges[METRICS_NAMESPACES_DELETING],
		(long long)gauges[METRICS_HORIZON_LAG]);
	if (gauges[METRICS_HORIZON_HELD_SINCE_US] > 0) {
		printf(", held up for ");
		print_age(age_s(status, gauges[METRICS_HORIZON_HELD_SINCE_US]));
	}
	printf("\nlast purge      ");
	if (gauges[METRICS_REAPED_AT_US] > 0) {
		print_age(age_s(status, gauges[METRICS_REAPED_AT_US]));
		puts(" ago");
	} else {
		puts("never");
	}
	printf("usage           ");
	if (gauges[METRICS_USAGE_CLOSED_US] > 0) {
		printf("closed up to ");
		print_age(age_s(status, gauges[METRICS_USAGE_CLOSED_US]));
		printf(" ago");
	} else {
		printf("no period is closed yet");
	}
	if (gauges[METRICS_USAGE_DUE_SINCE_US] > 0) {
		printf("; the next one has been over for ");
		print_age(age_s(status, gauges[METRICS_USAGE_DUE_SINCE_US]));
	}
	putchar('\n');
	print_webhooks(status);
	if (gauges[METRICS_MAINTENANCE_SINCE_US] > 0) {
		printf("MAINTENANCE     no changes for ");
		print_age(age_s(status, gauges[METRICS_MAINTENANCE_SINCE_US]));
		puts("; see tenure-manage maintenance status");
	}
}

// before: an earlier look, for the requests a second; NULL: there is none.
static void print_text(const struct status *status, const struct status *before)
{
	const struct metrics_summary *sum = &status->sum;
	const uint64_t *n = sum->counters;

	print_service(status);
	printf("workers         %llu busy, %llu idle; %llu started, %llu failed\n", (unsigned long long)sum->workers_busy,
		(unsigned long long)sum->workers_idle, (unsigned long long)n[METRICS_WORKERS_STARTED],
		(unsigned long long)n[METRICS_WORKERS_FAILED]);
	printf("watches         %llu\n", (unsigned long long)sum->watches);
	printf("requests        %llu: %llu 2xx, %llu 3xx, %llu 4xx, %llu 5xx", (unsigned long long)sum->requests,
		(unsigned long long)sum->by_class[2], (unsigned long long)sum->by_class[3], (unsigned long long)sum->by_class[4],
		(unsigned long long)sum->by_class[5]);
	// Fewer than before: somebody removed the shared file.
	if (before != NULL && status->now_us > before->now_us && sum->requests >= before->sum.requests)
		printf("; %.1f a second", (double)(sum->requests - before->sum.requests) * 1e6 / (double)(status->now_us - before->now_us));
	printf("\nworker time     ");
	if (sum->requests > 0)
		printf("%.3f ms a request", (double)sum->sum_us / 1000 / (double)sum->requests);
	else
		printf("-");
	print_percentile(sum, 50);
	print_percentile(sum, 95);
	print_percentile(sum, 99);
	printf("\nround trips     %llu; %llu transactions run again\n", (unsigned long long)n[METRICS_ROUND_TRIPS],
		(unsigned long long)n[METRICS_RETRIES]);
	print_share("statements", n[METRICS_STATEMENTS_REUSED], n[METRICS_STATEMENTS_PREPARED]);
	print_share("resource cache", n[METRICS_RESOURCE_CACHE_HITS], n[METRICS_RESOURCE_CACHE_MISSES]);
	print_share("page cache", n[METRICS_PAGE_CACHE_HITS], n[METRICS_PAGE_CACHE_MISSES]);
	print_seen(status);
}

int command_status(struct manage *manage)
{
	const char *format = manage_option(manage, "--format");
	bool json = format != NULL && strcmp(format, "json") == 0, watch = manage_option(manage, "--watch") != NULL;
	struct status now, before = { .now_us = 0 };

	if (format != NULL && !json && strcmp(format, "text") != 0)
		return manage_fail(EX_USAGE, "--format takes text or json, not \"%s\"", format);
	for (;;) {
		if (!take_status(manage, &now))
			return manage_fail(EX_NOINPUT, "no process of this version has served this registry on this host, or this user may not "
				"read its file in %s: %s", server_settings(manage->config)->runtime_dir, strerror(errno));
		if (watch && !json && isatty(STDOUT_FILENO))
			fputs("\033[H\033[J", stdout); // to the upper left corner, and clear the screen
		if (json)
			print_json(manage->pool, &now);
		else
			print_text(&now, before.now_us != 0 ? &before : NULL);
		if (!watch)
			return EX_OK;
		if (!json && !isatty(STDOUT_FILENO))
			puts("");
		if (fflush(stdout) != 0)
			return EX_IOERR;
		before = now;
		pool_clear(manage->pool);
		clock_pause_ms(WATCH_S * 1000);
	}
}

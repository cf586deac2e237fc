// SPDX-License-Identifier: Apache-2.0
#include "base/base.h"

#include "base/metrics_text.h"

#include "base/buf.h"

static uint64_t load(const _Atomic uint64_t *counter)
{
	return atomic_load_explicit(counter, memory_order_relaxed);
}

// ---- sums

static void sum_routes(const struct metrics *metrics, struct metrics_summary *sum)
{
	for (size_t i = 0; i < METRICS_ROUTES; i++) {
		const struct metrics_route *route = &metrics->routes[i];

		if (load(&route->key) == 0)
			continue;
		sum->requests += load(&route->times.n);
		sum->sum_us += load(&route->times.sum_us);
		for (size_t k = 0; k < METRICS_CLASSES; k++)
			sum->by_class[k] += load(&route->by_class[k]);
		for (size_t k = 0; k < METRICS_BUCKETS; k++)
			sum->buckets[k] += load(&route->times.buckets[k]);
	}
	for (size_t i = 0; i < METRICS_DIALECTS; i++) {
		for (size_t k = 0; k < METRICS_OUTCOMES; k++)
			sum->by_outcome[k] += load(&metrics->dialects[i].by_outcome[k]);
	}
}

static void sum_processes(const struct shared *shared, const struct metrics *metrics, struct metrics_summary *sum)
{
	unsigned used = shared_used(shared);

	for (unsigned i = 0; i < used; i++) {
		const struct metrics_process *process = &metrics->processes[i];
		uint32_t value = atomic_load_explicit(&process->value, memory_order_relaxed);

		if (!shared_is_alive(shared, load(&process->mark)))
			continue;
		switch (atomic_load_explicit(&process->kind, memory_order_relaxed)) {
		case METRICS_WORKER:
			sum->workers_busy += value != 0;
			sum->workers_idle += value == 0;
			break;
		case METRICS_WATCH:
			sum->watches += value;
			break;
		default:
			break;
		}
	}
}

void metrics_summarize(const struct shared *shared, struct metrics_summary *summary)
{
	const struct metrics *metrics = metrics_area(shared);

	*summary = (struct metrics_summary){ .gauges_at_us = atomic_load(&metrics->gauges_at_us) };
	sum_routes(metrics, summary);
	sum_processes(shared, metrics, summary);
	for (size_t i = 0; i < METRICS__COUNTERS; i++)
		summary->counters[i] = load(&metrics->counters[i]);
	for (size_t i = 0; i < METRICS__GAUGES; i++)
		summary->gauges[i] = atomic_load_explicit(&metrics->gauges[i], memory_order_relaxed);
}

// ---- text

// The name of a row, up to its blank, and behind it. The file may be damaged, so what is no letter, digit or one of "-_." is
// replaced, and no name can end a label or a line.
struct row_name {
	char text[METRICS_NAME];
	const char *dialect, *id;
};

static void read_name(const _Atomic uint64_t from[METRICS_NAME / sizeof(uint64_t)], struct row_name *name)
{
	static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_. ";
	uint64_t words[METRICS_NAME / sizeof(uint64_t)];

	for (size_t i = 0; i < COUNT_OF(words); i++)
		words[i] = load(&from[i]);
	memcpy(name->text, words, METRICS_NAME);
	name->text[METRICS_NAME - 1] = '\0';
	for (char *c = name->text; *c != '\0'; c++) {
		if (strchr(letters, *c) == NULL)
			*c = '?';
	}
	char *blank = strchr(name->text, ' ');
	name->dialect = name->text;
	name->id = "";
	if (blank != NULL) {
		*blank = '\0';
		name->id = blank + 1;
	}
}

static void add_head(struct buf *out, const char *name, const char *type, const char *help)
{
	buf_addf(out, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, type);
}

static void add_one(struct buf *out, const char *name, const char *type, const char *help, uint64_t value)
{
	add_head(out, name, type, help);
	buf_addf(out, "%s %llu\n", name, (unsigned long long)value);
}

// Series of the same name, which differ by the value of a label.
struct family {
	const char *name, *type, *help, *label;
	const char *const *values; // of the label
	size_t count;              // of values
};

// n: a number for each of the label's values.
static void add_family(struct buf *out, const struct family *family, const uint64_t *n)
{
	add_head(out, family->name, family->type, family->help);
	for (size_t i = 0; i < family->count; i++)
		buf_addf(out, "%s{%s=\"%s\"} %llu\n", family->name, family->label, family->values[i], (unsigned long long)n[i]);
}

// Microseconds as seconds.
static void add_seconds(struct buf *out, uint64_t us)
{
	buf_addf(out, "%llu.%06llu", (unsigned long long)(us / 1000000), (unsigned long long)(us % 1000000));
}

// A point of time; none: the series is left out.
static void add_time(struct buf *out, const char *name, const char *help, int64_t us)
{
	if (us <= 0)
		return;
	add_head(out, name, "gauge", help);
	buf_addf(out, "%s ", name);
	add_seconds(out, (uint64_t)us);
	buf_addc(out, '\n');
}

static void add_requests(struct buf *out, const struct metrics *metrics)
{
	static const char *const classes[METRICS_CLASSES] = { "other", "1xx", "2xx", "3xx", "4xx", "5xx" };

	add_head(out, "tenure_requests_total", "counter",
		"Requests by dialect, method (its id in the WADL; empty: none was found) and class of status.");
	for (size_t i = 0; i < METRICS_ROUTES; i++) {
		const struct metrics_route *route = &metrics->routes[i];
		struct row_name name;

		if (load(&route->key) == 0)
			continue;
		read_name(route->name, &name);
		for (size_t k = 0; k < METRICS_CLASSES; k++) {
			uint64_t n = load(&route->by_class[k]);
			if (n > 0)
				buf_addf(out, "tenure_requests_total{dialect=\"%s\",route=\"%s\",code=\"%s\"} %llu\n", name.dialect,
					name.id, classes[k], (unsigned long long)n);
		}
	}
}

static void add_times(struct buf *out, const struct row_name *name, const struct metrics_times *times)
{
	uint64_t below = 0, n = load(&times->n);

	for (size_t k = 0; k < METRICS_BUCKETS; k++) {
		below += load(&times->buckets[k]);
		buf_addf(out, "tenure_request_duration_seconds_bucket{dialect=\"%s\",route=\"%s\",le=\"%g\"} %llu\n", name->dialect,
			name->id, (double)metrics_bounds_us[k] / 1e6, (unsigned long long)below);
	}
	n = n > below ? n : below; // a request may have been counted between the two
	buf_addf(out, "tenure_request_duration_seconds_bucket{dialect=\"%s\",route=\"%s\",le=\"+Inf\"} %llu\n", name->dialect, name->id,
		(unsigned long long)n);
	buf_addf(out, "tenure_request_duration_seconds_sum{dialect=\"%s\",route=\"%s\"} ", name->dialect, name->id);
	add_seconds(out, load(&times->sum_us));
	buf_addf(out, "\ntenure_request_duration_seconds_count{dialect=\"%s\",route=\"%s\"} %llu\n", name->dialect, name->id,
		(unsigned long long)n);
}

static void add_durations(struct buf *out, const struct metrics *metrics)
{
	add_head(out, "tenure_request_duration_seconds", "histogram", "Time that a worker took for a request, without sending the answer.");
	for (size_t i = 0; i < METRICS_ROUTES; i++) {
		struct row_name name;

		if (load(&metrics->routes[i].key) == 0)
			continue;
		read_name(metrics->routes[i].name, &name);
		add_times(out, &name, &metrics->routes[i].times);
	}
}

static void add_outcomes(struct buf *out, const struct metrics *metrics)
{
	add_head(out, "tenure_outcomes_total", "counter", "Requests by dialect and outcome, the word of the access log.");
	for (size_t i = 0; i < METRICS_DIALECTS; i++) {
		const struct metrics_dialect *dialect = &metrics->dialects[i];
		struct row_name name;

		if (load(&dialect->key) == 0)
			continue;
		read_name(dialect->name, &name);
		for (enum outcome k = 0; k < OUTCOME__COUNT; k++) {
			uint64_t n = load(&dialect->by_outcome[k]);
			if (n > 0)
				buf_addf(out, "tenure_outcomes_total{dialect=\"%s\",outcome=\"%s\"} %llu\n", name.dialect, outcome_name(k),
					(unsigned long long)n);
		}
	}
}

static void add_counters(struct buf *out, const uint64_t n[METRICS__COUNTERS])
{
	static const char *const results[2] = { "hit", "miss" }, *const ends[2] = { "done", "failed" };
	static const char *const attempts[3] = { "received", "failed", "given_up" };
	static const struct family statements = { "tenure_statement_cache_lookups_total", "counter", "Prepared statements that were cached, or not.",
		"result", results, COUNT_OF(results) };
	static const struct family resources = { "tenure_resource_cache_lookups_total", "counter", "Resources that were cached, or not.", "result",
		results, COUNT_OF(results) };
	static const struct family pages = { "tenure_page_cache_lookups_total", "counter", "Pages of lists that were cached, or not.", "result",
		results, COUNT_OF(results) };
	static const struct family moves = { "tenure_background_moves_total", "counter", "Moves that were carried out in the background.", "result",
		ends, COUNT_OF(ends) };
	static const struct family deliveries = { "tenure_webhook_deliveries_total", "counter",
		"Attempts to send a message to a webhook: the receiver took it, will be asked again, or the message was given up.", "result", attempts,
		COUNT_OF(attempts) };

	add_one(out, "tenure_database_round_trips_total", "counter", "Round trips of workers to the database.", n[METRICS_ROUND_TRIPS]);
	add_one(out, "tenure_database_connections_total", "counter", "Connections to the database that workers have opened.",
		n[METRICS_CONNECTIONS]);
	add_one(out, "tenure_transaction_retries_total", "counter",
		"Transactions of requests that were run again, after a deadlock or a lost connection.", n[METRICS_RETRIES]);
	add_family(out, &statements, (uint64_t[]){ n[METRICS_STATEMENTS_REUSED], n[METRICS_STATEMENTS_PREPARED] });
	add_family(out, &resources, (uint64_t[]){ n[METRICS_RESOURCE_CACHE_HITS], n[METRICS_RESOURCE_CACHE_MISSES] });
	add_family(out, &pages, (uint64_t[]){ n[METRICS_PAGE_CACHE_HITS], n[METRICS_PAGE_CACHE_MISSES] });
	add_family(out, &moves, (uint64_t[]){ n[METRICS_MOVES_DONE], n[METRICS_MOVES_FAILED] });
	add_one(out, "tenure_workers_started_total", "counter", "Workers that began to serve.", n[METRICS_WORKERS_STARTED]);
	add_one(out, "tenure_workers_failed_total", "counter", "Workers that ended or were killed unasked, and were replaced by a master.",
		n[METRICS_WORKERS_FAILED]);
	add_one(out, "tenure_slow_requests_total", "counter", "Requests that took longer than slow_request.", n[METRICS_SLOW_REQUESTS]);
	add_family(out, &deliveries, (uint64_t[]){ n[METRICS_WEBHOOK_RECEIVED], n[METRICS_WEBHOOK_FAILED], n[METRICS_WEBHOOK_GIVEN_UP] });
}

static void add_webhooks(struct buf *out, const int64_t *gauges)
{
	static const char *const states[4] = { "active", "failing", "paused", "disabled" }, *const kinds[2] = { "dead", "queued" };
	static const struct family webhooks = { "tenure_webhooks", "gauge", "Webhooks by state.", "state", states, COUNT_OF(states) };
	static const struct family messages = { "tenure_webhook_messages", "gauge",
		"Messages that were given up, and those beside the changes that are to be sent.", "state", kinds, COUNT_OF(kinds) };

	add_family(out, &webhooks,
		(uint64_t[]){ (uint64_t)gauges[METRICS_WEBHOOKS_ACTIVE], (uint64_t)gauges[METRICS_WEBHOOKS_FAILING],
			(uint64_t)gauges[METRICS_WEBHOOKS_PAUSED], (uint64_t)gauges[METRICS_WEBHOOKS_DISABLED] });
	add_family(out, &messages,
		(uint64_t[]){ (uint64_t)gauges[METRICS_WEBHOOK_MESSAGES_DEAD], (uint64_t)gauges[METRICS_WEBHOOK_MESSAGES_QUEUED] });
	add_one(out, "tenure_webhook_sender_up", "gauge", "1 if a host service, here or on another host, sends to webhooks.",
		(uint64_t)gauges[METRICS_WEBHOOK_SENDER_WORKS]);
	add_time(out, "tenure_webhook_oldest_waiting_timestamp_seconds",
		"When the oldest change was made that a webhook has yet to be told of whose receiver takes messages.", gauges[METRICS_WEBHOOK_WAITING_US]);
	add_time(out, "tenure_webhook_oldest_failing_timestamp_seconds", "The same of webhooks whose receivers fail.",
		gauges[METRICS_WEBHOOK_FAILING_US]);
}

// The gauges, as the host service measured them last.
static void add_gauges(struct buf *out, const struct metrics_summary *sum)
{
	const int64_t *gauges = sum->gauges;

	if (sum->gauges_at_us == 0)
		return;
	add_time(out, "tenure_host_observed_timestamp_seconds", "When the host service last looked at what follows.", sum->gauges_at_us);
	add_one(out, "tenure_database_up", "gauge", "1 if the database answered the host service.", (uint64_t)gauges[METRICS_DATABASE_ANSWERS]);
	add_one(out, "tenure_schema_version", "gauge", "Version of the database's schema.", (uint64_t)gauges[METRICS_SCHEMA_VERSION]);
	add_one(out, "tenure_moves_queued", "gauge", "Moves that wait or run in the background.", (uint64_t)gauges[METRICS_MOVES_QUEUED]);
	add_one(out, "tenure_moves_running", "gauge", "Moves of the background that have begun.", (uint64_t)gauges[METRICS_MOVES_RUNNING]);
	add_time(out, "tenure_oldest_queued_move_timestamp_seconds", "When the oldest move that is queued was accepted.",
		gauges[METRICS_OLDEST_MOVE_US]);
	add_one(out, "tenure_namespaces_deleting", "gauge", "Large namespaces that are being emptied.",
		(uint64_t)gauges[METRICS_NAMESPACES_DELETING]);
	add_one(out, "tenure_horizon_lag_changes", "gauge", "Committed changes that watches may not be told of yet.",
		(uint64_t)gauges[METRICS_HORIZON_LAG]);
	add_time(out, "tenure_horizon_held_since_timestamp_seconds", "Since when a transaction keeps watches from newer changes.",
		gauges[METRICS_HORIZON_HELD_SINCE_US]);
	add_time(out, "tenure_last_reap_timestamp_seconds", "When what is past its retention was last purged.", gauges[METRICS_REAPED_AT_US]);
	add_time(out, "tenure_maintenance_since_timestamp_seconds", "Since when the operator lets nobody change anything (tenure-manage maintenance).",
		gauges[METRICS_MAINTENANCE_SINCE_US]);
	add_time(out, "tenure_usage_closed_timestamp_seconds", "Up to when usage is closed.", gauges[METRICS_USAGE_CLOSED_US]);
	add_time(out, "tenure_usage_due_since_timestamp_seconds", "Since when a period of usage is over and not closed.",
		gauges[METRICS_USAGE_DUE_SINCE_US]);
	add_webhooks(out, gauges);
}

void metrics_text(struct buf *out, const struct shared *shared, const char *version)
{
	static const char *const states[2] = { "busy", "idle" };
	static const struct family workers = { "tenure_workers", "gauge", "Workers of all endpoints, by what they do now.", "state", states,
		COUNT_OF(states) };
	struct metrics_summary sum;

	add_head(out, "tenure_build_info", "gauge", "1, with the version of the program that answers.");
	buf_addf(out, "tenure_build_info{version=\"%s\"} 1\n", version);
	if (shared == NULL)
		return;
	metrics_summarize(shared, &sum);
	add_requests(out, metrics_area(shared));
	add_durations(out, metrics_area(shared));
	add_outcomes(out, metrics_area(shared));
	add_counters(out, sum.counters);
	add_family(out, &workers, (uint64_t[]){ sum.workers_busy, sum.workers_idle });
	add_one(out, "tenure_watches", "gauge", "Open watches.", sum.watches);
	add_gauges(out, &sum);
}

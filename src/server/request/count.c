// SPDX-License-Identifier: Apache-2.0
// Counts each request, for monitoring (base/metrics.h), and logs slow ones.
#include "base/base.h"

#include "base/buf.h"
#include "base/log.h"
#include "db/db.h"
#include "registry/cache/page_cache.h"
#include "registry/cache/resource_cache.h"
#include "server/request/steps.h"
#include "server/setup/settings.h"

enum { COUNT_EVERY_US = 1000000 };

void pipeline_count(struct pipeline *pipeline, int64_t now_us)
{
	uint64_t now[METRICS__OWN];

	pipeline->counted_us = now_us;
	now[METRICS_ROUND_TRIPS] = db_round_trips(pipeline->db);
	now[METRICS_CONNECTIONS] = db_sessions(pipeline->db);
	db_statement_uses(pipeline->db, &now[METRICS_STATEMENTS_PREPARED], &now[METRICS_STATEMENTS_REUSED]);
	resource_cache_lookups(pipeline->store->resource_cache, &now[METRICS_RESOURCE_CACHE_HITS], &now[METRICS_RESOURCE_CACHE_MISSES]);
	page_cache_lookups(pipeline->store->page_cache, &now[METRICS_PAGE_CACHE_HITS], &now[METRICS_PAGE_CACHE_MISSES]);
	metrics_add_own(pipeline->host, now, pipeline->counted);
}

// Appends the time, as " 12.5 ms".
static void add_ms(struct buf *text, int64_t us)
{
	buf_addf(text, " %lld.%lld ms", (long long)(us / 1000), (long long)(us % 1000 / 100));
}

// Appends one round trip, as "move_sum+move_count_types 12.5 ms".
static void add_trip(struct buf *text, const struct db_trace *trace, size_t trip)
{
	size_t n = trace->trips[trip].n_names;

	for (size_t i = 0; i < n && i < DB_TRACE_NAMES; i++)
		buf_addf(text, "%s%s", i > 0 ? "+" : "", trace->trips[trip].names[i]);
	if (n > DB_TRACE_NAMES)
		buf_addf(text, "+%zu more", n - DB_TRACE_NAMES);
	add_ms(text, trace->trips[trip].us);
}

static void log_slow(const struct exchange *exchange)
{
	const struct call *call = exchange->call;
	const struct db_trace *trace = exchange->pipeline->trace;
	struct buf text = buf_new(exchange->pool, 1024);

	BUF_LIT(&text, "took");
	add_ms(&text, exchange->us);
	BUF_LIT(&text, ", of which the database");
	add_ms(&text, trace->us);
	buf_addf(&text, " in %zu round trips", trace->n);
	for (size_t i = 0; i < trace->n && i < DB_TRACE_MAX; i++) {
		buf_addf(&text, "%s", i > 0 ? ", " : ": ");
		add_trip(&text, trace, i);
	}
	if (trace->n > DB_TRACE_MAX)
		buf_addf(&text, ", %zu more", trace->n - DB_TRACE_MAX);
	log_warning("slow: %.*s %.*s %.*s", STR_ARG(call->request.method_text), STR_HEAD_ARG(call->request.target, 256),
		STR_ARG(text));
}

void step_count(struct exchange *exchange)
{
	struct pipeline *pipeline = exchange->pipeline;
	const struct call *call = exchange->call;
	const struct route_method *method = call->match.method;

	if (pipeline->trace != NULL) {
		if (exchange->us > server_settings(pipeline->config)->slow_request * INT64_C(1000)) {
			log_slow(exchange);
			metrics_add(pipeline->host, METRICS_SLOW_REQUESTS, 1);
		}
		pipeline->trace->n = 0;
		pipeline->trace->us = 0;
	}
	if (pipeline->host == NULL)
		return;
	const struct metrics_of_request request = {
		.method = method,
		.dialect = method != NULL ? method->dialect : call->match.dialect,
		.id = method != NULL ? method->id : "",
		.outcome = exchange->outcome,
		.status = call->response.status,
		.us = exchange->us,
	};
	metrics_request(pipeline->host, &pipeline->rows, &request);
	if (exchange->tries > 1)
		metrics_add(pipeline->host, METRICS_RETRIES, exchange->tries - 1);
	if (call->started_us - pipeline->counted_us > COUNT_EVERY_US)
		pipeline_count(pipeline, call->started_us);
}

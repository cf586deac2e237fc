// SPDX-License-Identifier: Apache-2.0
// Counts each request, for monitoring (base/metrics.h).
#include "base/base.h"

#include "base/clock.h"
#include "db/db.h"
#include "registry/cache/page_cache.h"
#include "registry/cache/resource_cache.h"
#include "server/request/steps.h"

// The counters that this process's connection and caches keep for themselves.
static void read_own(const struct pipeline *pipeline, uint64_t now[METRICS__OWN])
{
	now[METRICS_ROUND_TRIPS] = db_round_trips(pipeline->db);
	now[METRICS_CONNECTIONS] = db_sessions(pipeline->db);
	db_statement_uses(pipeline->db, &now[METRICS_STATEMENTS_PREPARED], &now[METRICS_STATEMENTS_REUSED]);
	resource_cache_lookups(pipeline->store->resource_cache, &now[METRICS_RESOURCE_CACHE_HITS], &now[METRICS_RESOURCE_CACHE_MISSES]);
	page_cache_lookups(pipeline->store->page_cache, &now[METRICS_PAGE_CACHE_HITS], &now[METRICS_PAGE_CACHE_MISSES]);
}

void step_count(struct exchange *exchange)
{
	struct pipeline *pipeline = exchange->pipeline;
	const struct call *call = exchange->call;
	const struct route_method *method = call->match.method;
	uint64_t now[METRICS__OWN];

	if (pipeline->host == NULL)
		return;
	metrics_request(pipeline->host, &pipeline->rows, &(struct metrics_of_request){
		.method = method,
		.dialect = method != NULL ? method->dialect : call->match.dialect,
		.id = method != NULL ? method->id : "",
		.outcome = exchange->outcome,
		.status = call->response.status,
		.us = clock_tick_us() - call->started_us,
	});
	if (exchange->tries > 1)
		metrics_add(pipeline->host, METRICS_RETRIES, exchange->tries - 1);
	read_own(pipeline, now);
	for (enum metrics_counter i = 0; i < METRICS__OWN; i++) {
		if (now[i] == pipeline->counted[i])
			continue;
		metrics_add(pipeline->host, i, now[i] - pipeline->counted[i]);
		pipeline->counted[i] = now[i];
	}
}

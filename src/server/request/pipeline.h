// SPDX-License-Identifier: Apache-2.0
// The one table of steps through which every request goes: identify, route, receive, authenticate, permit, admit, negotiate, run.
// A step that ends the request skips the rest; encode and log always follow. No FastCGI here: the worker fills call->request
// before and sends call->response after.
#ifndef TENURE_SERVER_REQUEST_PIPELINE_H
#define TENURE_SERVER_REQUEST_PIPELINE_H

#include "api/call.h"
#include "base/metrics.h"
#include "server/request/limits.h"
#include "server/wire/transport.h"

struct auth;

// What a worker uses for all its requests.
struct pipeline {
	const struct config *config;
	const struct endpoint_config *endpoint;
	const struct route_table *routes;
	struct auth *auth;
	const struct placement_policy *placement_policy; // NULL: none is configured
	struct registry_store *store;
	struct db *db;
	struct limits *limits; // limits on what one client may use; NULL: none
	bool logs_json;          // the access log's format
	bool may_hand_over;      // as call->may_hand_over
	bool busy;           // fcgi_is_busy() of the request: others may be waiting behind it
	struct limits_watch watch; // the watch that the last request's order is about
	uint64_t callers[256]; // hashes of tenants that credentials name and that were looked for, until one is missing; 0: none
	bool has_home;       // true once the default tenant, if one is set, is known to exist, until it is missing
	int64_t complained_us; // by clock_tick_us(): when it was last logged that a tenant can't be created; 0: never
	const struct shared *host; // where requests are counted (base/metrics.h); NULL: nowhere
	struct metrics_rows rows;  // of the methods, for counting
	struct db_trace *trace;    // of the present request's round trips; NULL: slow requests are not logged
	uint64_t counted[METRICS__OWN]; // what the counters of this process's connection and caches were when they were last added
	int64_t counted_us;             // when that was, by clock_tick_us()
};

// Runs the steps. pool is the request's; the caller has zeroed *call except request and pool. Afterwards call->response is
// complete, the transaction has ended, and the access line is written; a busy worker may put the line off.
void pipeline_run(struct pipeline *pipeline, struct call *call, enum transport_fault fault);
// Adds what this process's connection and caches have counted to the host's counters. pipeline_run() does so once a second. To be
// called when there is nothing to do, too, and before the process ends. now_us: clock_tick_us().
void pipeline_count(struct pipeline *pipeline, int64_t now_us);

#endif

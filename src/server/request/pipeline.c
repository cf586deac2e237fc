// SPDX-License-Identifier: Apache-2.0
#include "base/base.h"

#include "base/budget.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/pool.h"
#include "registry/core/settings.h"
#include "server/request/pipeline.h"
#include "server/request/steps.h"
#include "server/setup/settings.h"

// The order decides which error a request with several gets: first whether the address exists, then who is calling, then the
// details of the request.
static step_fn *const steps[] = {
	step_identify,
	step_route,
	step_receive,
	step_authenticate,
	step_permit,
	step_admit,
	step_negotiate,
	step_run,
};

// Bytes granted for each byte of the body, besides the body itself, which is read before anything is granted: for the tree parsed
// from it, for what is made of the tree, and for what goes to the database.
enum { BYTES_PER_BODY_BYTE = 3 };

static void run_steps(void *arg)
{
	struct exchange *exchange = arg;

	for (size_t i = 0; i < COUNT_OF(steps); i++) {
		if (steps[i](exchange) == STEP_DONE)
			break;
	}
}

// A client that sent a large body is told to send less, any other to ask for less. Not 503, which clients repeat: the same
// request would fail again. If the system has no memory, that may pass.
static enum outcome explain(struct call *call, enum budget_end end)
{
	bool sent = call->request.body.n > 0;

	if (end == BUDGET_BROKEN)
		return call_fail(call, OUTCOME_INTERNAL,
			"what is stored of this can't be read, and nothing was changed: tell the operator, whose log names the row");
	if (end == BUDGET_STARVED)
		return call_fail(call, OUTCOME_UNAVAILABLE, "the service is short of memory, and nothing was changed: try again");
	if (end == BUDGET_TIME)
		return call_fail(call, OUTCOME_TOO_COSTLY,
			"this takes more than the %u milliseconds of computing time that a request is granted: %s less at a time",
			server_settings(call->config)->request_cpu, sent ? "send" : "ask for");
	return call_fail(call, sent ? OUTCOME_BODY_TOO_LARGE : OUTCOME_TOO_COSTLY,
		"this takes more than the %llu bytes of memory that a request is granted: %s less at a time",
		(unsigned long long)registry_settings(call->config)->request_memory, sent ? "send" : "ask for");
}

// A step was left by longjmp. Its transaction was rolled back (db_txn_run).
static void give_up(struct exchange *exchange, enum budget_end end)
{
	struct call *call = exchange->call;

	call->pool = call->scratch = exchange->pool; // the step may have set another pool
	if (exchange->marked)
		pool_rewind(call->pool, exchange->mark);
	call->registry->pool = call->pool;
	registry_concerns_nobody(call->registry); // the tenant's name that it holds was freed by pool_rewind()
	call->handover = STR_NONE;
	response_reset(&call->response, call->pool);
	exchange->outcome = explain(call, end);
	if (end == BUDGET_STARVED)
		log_error("the system has no memory for %.*s %.*s", STR_ARG(call->request.method_text),
			STR_HEAD_ARG(call->request.target, 256));
	else if (end != BUDGET_BROKEN) // the function that found the database broken has logged it
		log_warning("%.*s %.*s took more %s than a request is granted", STR_ARG(call->request.method_text),
			STR_HEAD_ARG(call->request.target, 256), end == BUDGET_TIME ? "CPU time" : "memory");
}

void pipeline_run(struct pipeline *pipeline, struct call *call, enum transport_fault fault)
{
	struct exchange exchange = { .pipeline = pipeline, .call = call, .fault = fault, .pool = call->pool };

	assert(call->pool != NULL && pipeline->db != NULL);
	budget_grant((size_t)registry_settings(pipeline->config)->request_memory + BYTES_PER_BODY_BYTE * call->request.body.n,
		server_settings(pipeline->config)->request_cpu * INT64_C(1000));
	enum budget_end end = budget_guard(run_steps, &exchange);
	budget_end(); // from here on no limit: an answer can always be made
	if (end != BUDGET_KEPT)
		give_up(&exchange, end);
	step_encode(&exchange);
	exchange.us = clock_tick_us() - call->started_us;
	step_count(&exchange);
	step_log(&exchange);
	log_request(STR(""));
}

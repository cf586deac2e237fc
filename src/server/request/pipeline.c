// SPDX-License-Identifier: Apache-2.0
#include "base/base.h"

#include "base/budget.h"
#include "base/config/config.h"
#include "base/log.h"
#include "base/pool.h"
#include "server/request/pipeline.h"
#include "server/request/steps.h"

// A request that could fail in several ways is told the first in this order: whether the address exists comes before
// who asks, and that before what exactly was asked.
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

// Bytes for each byte of the body, beside the text itself, which is there before anything is granted: the tree read from it,
// what is made of that, and what goes to the database.
enum { BYTES_PER_BODY_BYTE = 3 };

static void run_steps(void *arg)
{
	struct passage *passage = arg;

	for (size_t i = 0; i < COUNT_OF(steps); i++) {
		if (steps[i](passage) == STEP_DONE)
			break;
	}
}

// A client that sent much is told to send less, another to ask for less. The same request again would end the same way,
// so it isn't 503, which clients repeat.
static enum outcome explain(struct call *call, enum budget_end end)
{
	bool sent = call->request.body.n > 0;

	if (end == BUDGET_BROKEN)
		return call_fail(call, OUTCOME_INTERNAL,
			"what is stored of this can't be read, and nothing was changed: tell the operator, whose log names the row");
	if (end == BUDGET_TIME)
		return call_fail(call, OUTCOME_TOO_COSTLY,
			"this takes more than the %u milliseconds of computing time that a request is granted: %s less at a time",
			call->config->request_cpu, sent ? "send" : "ask for");
	return call_fail(call, sent ? OUTCOME_BODY_TOO_LARGE : OUTCOME_TOO_COSTLY,
		"this takes more than the %llu bytes of memory that a request is granted: %s less at a time",
		(unsigned long long)call->config->request_memory, sent ? "send" : "ask for");
}

// The step was left in the middle. Its transaction was rolled back (db_txn_run).
static void give_up(struct passage *passage, enum budget_end end)
{
	struct call *call = passage->call;

	call->pool = call->scratch = passage->pool; // in the middle of something it may be another one
	if (passage->marked)
		pool_rewind(call->pool, passage->mark);
	passage->pipeline->registry->pool = call->pool;
	registry_concerns_nobody(passage->pipeline->registry); // its text is gone with what the pool was rewound by
	call->order = STR_NONE;
	response_reset(&call->response, call->pool);
	passage->outcome = explain(call, end);
	if (end != BUDGET_BROKEN) // who found it broken has logged what
		log_warning("%.*s %.*s took more %s than a request is granted", STR_ARG(call->request.method_text),
			STR_ARG(str_part(call->request.target, 0, 256)), end == BUDGET_TIME ? "CPU time" : "memory");
}

void pipeline_run(struct pipeline *pipeline, struct call *call, enum transport_fault fault)
{
	struct passage passage = { .pipeline = pipeline, .call = call, .fault = fault, .pool = call->pool };

	budget_grant((size_t)pipeline->config->request_memory + BYTES_PER_BODY_BYTE * call->request.body.n,
		pipeline->config->request_cpu * INT64_C(1000));
	enum budget_end end = budget_guard(run_steps, &passage);
	budget_end(); // an answer is always made
	if (end != BUDGET_KEPT)
		give_up(&passage, end);
	step_encode(&passage);
	step_log(&passage);
	log_request(STR(""));
}

// SPDX-License-Identifier: Apache-2.0
// The steps of pipeline.c's table. Only pipeline.c and the files of the steps include this.
#ifndef TENURE_SERVER_REQUEST_STEPS_H
#define TENURE_SERVER_REQUEST_STEPS_H

#include "base/pool.h"
#include "server/request/pipeline.h"

// One request's way through the steps.
struct exchange {
	struct pipeline *pipeline;
	struct call *call;
	enum transport_fault fault;
	enum outcome outcome; // outcome of the last step
	unsigned tries;       // how many times the handler ran
	bool in_doubt;        // the handler's transaction may have been committed, whatever the outcome says
	int64_t us;           // microseconds that the request took a worker, once its answer is made
	struct pool *pool;     // the request's
	bool marked;
	struct pool_mark mark; // if marked: the pool when the handler began
};

enum step_result {
	STEP_NEXT,
	STEP_DONE, // exchange->outcome is the answer; only encode and log follow
};
typedef enum step_result step_fn(struct exchange *exchange);

step_fn step_identify;     // gives the request an id and takes the time
step_fn step_route;        // address and method: 400 404 405 414 501, OPTIONS
step_fn step_receive;      // was the whole request received? 400 413 431
step_fn step_authenticate; // 401 429
step_fn step_permit;       // 401 403 404
step_fn step_admit;        // 429
step_fn step_negotiate;    // parameters and media types: 400 406 415
step_fn step_run;          // runs the handler in its transaction

void step_encode(struct exchange *exchange);
void step_count(struct exchange *exchange); // adds the request to the host's counters
void step_log(struct exchange *exchange);

#endif

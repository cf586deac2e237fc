// SPDX-License-Identifier: Apache-2.0
// The steps of pipeline.c's table. Only pipeline.c and the files of the steps include this.
#ifndef TENURE_SERVER_REQUEST_STEPS_H
#define TENURE_SERVER_REQUEST_STEPS_H

#include "base/pool.h"
#include "server/request/pipeline.h"

// One request's way through the steps.
struct passage {
	struct pipeline *pipeline;
	struct call *call;
	enum transport_fault fault;
	enum outcome outcome; // of the step that was done last
	unsigned tries;       // times the handler ran
	struct pool *pool;     // the request's
	bool marked;
	struct pool_mark mark; // if marked: where the handler began to allocate
};

enum step_result {
	STEP_NEXT,
	STEP_DONE, // passage->outcome is the answer; what remains is to encode and to log it
};
typedef enum step_result step_fn(struct passage *passage);

step_fn step_identify;     // request id, clock
step_fn step_route;        // address and method: 400 404 405 414 501, OPTIONS
step_fn step_receive;      // was it all there? 400 413 431
step_fn step_authenticate; // 401 429
step_fn step_permit;       // 401 403 404
step_fn step_admit;        // 429
step_fn step_negotiate;    // parameters and media types: 400 406 415
step_fn step_run;          // the handler, in its transaction

void step_encode(struct passage *passage);
void step_log(struct passage *passage);

#endif

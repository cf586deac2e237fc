// SPDX-License-Identifier: Apache-2.0
#include "base/base.h"

#include "base/log.h"
#include "server/pipeline.h"
#include "server/steps.h"

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

void pipeline_run(struct pipeline *pipeline, struct call *call, enum transport_fault fault)
{
	struct passage passage = { .pipeline = pipeline, .call = call, .fault = fault };

	for (size_t i = 0; i < COUNT_OF(steps); i++) {
		if (steps[i](&passage) == STEP_DONE)
			break;
	}
	step_encode(&passage);
	step_log(&passage);
	log_request(STR(""));
}

// SPDX-License-Identifier: Apache-2.0
// How all webhooks are, for monitoring: how many there are, and for how long changes wait to be sent.
#ifndef TENURE_REGISTRY_WEBHOOK_HEALTH_H
#define TENURE_REGISTRY_WEBHOOK_HEALTH_H

#include "registry/core/context.h"

// Webhooks of deleted tenants send nothing, and are not counted.
struct webhook_health {
	uint64_t active, failing, paused, disabled; // webhooks, by the state that their owners see
	// Messages that were given up, and pings and revived messages that are to be sent. Each is counted up to
	// WEBHOOK_MESSAGES_COUNTED.
	uint64_t dead, queued;
	struct uuid claim; // of the process that sends (delivery.h); zero: none does
	uint64_t beat;     // grows while that process lives
	// When the oldest change was made that is still to be looked at or sent, in microseconds since 1970; 0: there is none.
	int64_t waiting_us; // of active webhooks: the process that sends is late
	int64_t failing_us; // of failing ones: their receivers did not take it
};
enum { WEBHOOK_MESSAGES_COUNTED = 10000 };

// Reads the whole struct, with some statements for each webhook that is behind, up to a bound. horizon: of the change log;
// changes above it may not be sent yet and do not count. A change of the last half minute may count although its webhook's
// filters do not let it pass, since the process that sends stores only that often how far it is. Call registry_begin() first,
// outside of a transaction. OUTCOME_OK, _UNAVAILABLE, _INTERNAL.
enum outcome webhook_health(struct registry *registry, uint64_t horizon, struct webhook_health *health);

#endif

// SPDX-License-Identifier: Apache-2.0
// The process that serves watches: a child of the master's, to which workers hand over the connections (handover.h).
#ifndef TENURE_SERVER_WATCH_PROCESS_H
#define TENURE_SERVER_WATCH_PROCESS_H

#include "server/setup/setup.h"

struct coherence_shared;
struct child_life;
struct shared;

// Takes what comes from that descriptor, until SIGTERM, SIGINT or SIGQUIT, which come blocked; then every watch ends, and its
// client begins another. Returns the exit code.
int watch_main(const struct setup *setup, int from, struct coherence_shared *shared, struct shared *host,
	struct child_life *life);

#endif

// SPDX-License-Identifier: Apache-2.0
// The watch process: a child of the master that serves watches. Workers hand over the connections (handover.h).
#ifndef TENURE_SERVER_WATCH_PROCESS_H
#define TENURE_SERVER_WATCH_PROCESS_H

#include "server/setup/setup.h"

struct child_life;
struct shared;

// Receives watches from the descriptor until SIGTERM, SIGINT or SIGQUIT, which the caller has blocked. Then it ends every watch,
// so that its client begins a new one. Returns the exit code.
int watch_main(const struct setup *setup, int from, struct shared *host,
	struct child_life *life);

#endif

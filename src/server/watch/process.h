// SPDX-License-Identifier: Apache-2.0
// The watch process: a child of the master that serves watches. Workers hand over the connections (handover.h).
#ifndef TENURE_SERVER_WATCH_PROCESS_H
#define TENURE_SERVER_WATCH_PROCESS_H

#include "server/setup/setup.h"

struct child_life;
struct shared;

// Receives watches from the descriptor, which is the watch process's from now on, until SIGTERM, SIGINT or SIGQUIT, which the
// caller has blocked, or until no process has the workers' end any more. Then it ends every watch, so that its client begins a
// new one, and returns when the clients have read all, or read nothing for WATCH_STUCK_S. After SIGQUIT, with which a reload
// retires it, it receives no more. After SIGTERM and SIGINT it does so until the workers have ended, and returns after 25 seconds
// in any case. Returns the exit code.
int watch_main(const struct setup *setup, int from, struct shared *host,
	struct child_life *life);

#endif

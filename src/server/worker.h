// SPDX-License-Identifier: Apache-2.0
// A worker: one process, one connection to the database, one request at a time.
#ifndef TENURE_SERVER_WORKER_H
#define TENURE_SERVER_WORKER_H

#include <signal.h>

#include "server/setup/setup.h"

struct child_life;
struct shared;

// What a worker gets from its master. If life is NULL there is no master, and the worker starts background moves itself.
struct worker_tools {
	int watch_fd;                    // socket to the watch process; -1: there is none
	int sender_fd;                   // socket to the sender (sender.h); -1: there is none
	struct child_life *life;         // shared with the master, which checks it; NULL: there is no master
	unsigned processes;              // how many serve the endpoint, this one included
	struct shared *host;             // memory shared by the processes of the host; NULL: none
};

// Serves listen_fd until a signal ends it. Returns the exit code.
int worker_run(const struct setup *setup, int listen_fd, const struct worker_tools *tools);

#endif

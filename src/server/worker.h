// SPDX-License-Identifier: Apache-2.0
// A worker: one process, one connection to the database, one request at a time.
#ifndef TENURE_SERVER_WORKER_H
#define TENURE_SERVER_WORKER_H

#include <signal.h>

#include "server/setup/setup.h"

struct coherence_shared;
struct child_life;
struct shared;

// What workers have from their master. Nothing of it: there is none, so background moves are this worker's to start.
struct worker_tools {
	int orders;                      // where watches are handed over to; -1: nowhere
	int slow;                        // the same of the rests of answers (sender.h)
	struct coherence_shared *shared; // NULL: there is no master
	struct child_life *life;         // what the master looks at; NULL: nobody does
	unsigned processes;              // that serve the endpoint, this one included
	struct shared *host;             // what the processes of the host share; NULL: nothing
};

// Serves listen_fd until it is told to end. Returns the exit code.
int worker_run(const struct setup *setup, int listen_fd, const struct worker_tools *tools);

#endif

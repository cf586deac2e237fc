// SPDX-License-Identifier: Apache-2.0
// A worker: one process, one connection to the database, one request at a time.
#ifndef TENURE_SERVER_WORKER_H
#define TENURE_SERVER_WORKER_H

#include <signal.h>

#include "server/setup.h"

// The signals that a worker takes: TERM and INT finish what is waiting and end, QUIT leaves what is waiting to others,
// HUP and USR1 reopen the access log. They must be blocked before worker_run.
void worker_signals(sigset_t *set);

struct catalogue_shared;

// Serves listen_fd until it is told to end. shared: what the workers of one master share; NULL: there is no master, so
// background moves are this worker's to start. orders: where watches are handed over to; -1: nowhere. Returns the exit code.
int worker_run(const struct setup *setup, int listen_fd, int orders, struct catalogue_shared *shared);

#endif

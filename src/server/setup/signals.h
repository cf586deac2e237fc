// SPDX-License-Identifier: Apache-2.0
// The signals that each process of the service waits for.
#ifndef TENURE_SERVER_SETUP_SIGNALS_H
#define TENURE_SERVER_SETUP_SIGNALS_H

#include <signal.h>

// Fills the set with the signals that a worker reads. TERM and INT: serve waiting requests, then end. QUIT: leave waiting
// requests to other workers, then end. HUP and USR1: reopen the access log. The caller blocks them before worker_run().
void signals_fill(sigset_t *set);

// For a process that does not read signals but handles them: TERM, INT and QUIT, which the caller may have blocked, call handler
// from now on. SIG_DFL: they end the process.
void signals_stop_by(void (*handler)(int signal));

#endif

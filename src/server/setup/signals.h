// SPDX-License-Identifier: Apache-2.0
// The signals that each process of the service waits for.
#ifndef TENURE_SERVER_SETUP_SIGNALS_H
#define TENURE_SERVER_SETUP_SIGNALS_H

#include <signal.h>

// The signals that a worker takes: TERM and INT finish what is waiting and end, QUIT leaves what is waiting to others,
// HUP and USR1 reopen the access log. They must be blocked before worker_run.
void signals_fill(sigset_t *set);

#endif

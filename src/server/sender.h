// SPDX-License-Identifier: Apache-2.0
// The sender: a child process of the master that sends answers to slow clients. If a client does not take a large answer within a
// moment, the worker hands over the connection with the rest of the answer and serves other requests.
//
// The unsent answers wait in memory, at most `unsent` bytes of the configuration. If there are more, the tenant with the most
// waiting bytes loses the connection that has made no progress for the longest time. A connection that takes no byte for
// SENDER_STUCK_S is closed.
#ifndef TENURE_SERVER_SENDER_H
#define TENURE_SERVER_SENDER_H

#include "server/setup/setup.h"

struct shared;

enum { SENDER_STUCK_S = 30 };

// Receives connections from the descriptor (handover_receive_rest()), which is the sender's from now on, until no process has the
// workers' end any more, or until SIGQUIT, with which a reload retires the sender: then it sends all that it has. After SIGTERM
// or SIGINT, with which the service stops, it goes on to receive, since workers that finish their requests hand over unsent
// answers until they have ended, but ends after stuck_s, whatever it has. The caller has blocked these signals.
// host: the memory that all processes of the host share, which has the level of log lines; NULL: none. stuck_s: how many
// seconds a connection may take no byte; SENDER_STUCK_S, but in tests. Returns the exit code.
int sender_main(const struct setup *setup, int from, struct shared *host, unsigned stuck_s);

#endif

// SPDX-License-Identifier: Apache-2.0
// The process that sends what clients are slow to take: a child of the master's. A worker that has tried for a moment to send
// a large answer hands the connection over with the rest, and serves others.
//
// What waits is memory: `unsent` of the configuration at most. Beyond that the tenant with the most of it loses, of its
// connections, the one that has taken nothing for longest. One that takes no byte for SENDER_STUCK_S is closed.
#ifndef TENURE_SERVER_SENDER_H
#define TENURE_SERVER_SENDER_H

#include "server/setup/setup.h"

enum { SENDER_STUCK_S = 30 };

// Takes what comes from that descriptor (handover_take) until SIGTERM, SIGINT or SIGQUIT, which come blocked; then what it has
// is sent, for SENDER_STUCK_S at most. Returns the exit code.
int sender_main(const struct setup *setup, int from);

#endif

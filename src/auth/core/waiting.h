// SPDX-License-Identifier: Apache-2.0
// How many workers of an endpoint wait for another service at a time, counted in memory that the processes of the host share, so that
// a service that is slow never keeps all of them. For files in auth/ only.
#ifndef TENURE_AUTH_CORE_WAITING_H
#define TENURE_AUTH_CORE_WAITING_H

#include "base/base.h"

struct shared;

// This process begins to wait on behalf of the endpoint, a hash of its name. False, and it doesn't: as many as most do already. A
// process waits once at a time. shared NULL, or a process without a slot there: it isn't counted.
bool waiting_begin(struct shared *shared, uint64_t endpoint, unsigned most);
void waiting_end(struct shared *shared);

#endif

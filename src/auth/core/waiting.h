// SPDX-License-Identifier: Apache-2.0
// How many workers of an endpoint wait for other services at a time, counted in memory that the processes of the host share, so
// that services that are slow never keep all of them. Whatever services an endpoint's authenticators ask, their waiting counts
// together: if each had a count of its own, two slow services could keep all workers. For files in auth/ only.
#ifndef TENURE_AUTH_CORE_WAITING_H
#define TENURE_AUTH_CORE_WAITING_H

#include "base/base.h"

struct shared;

// The number of the endpoint of that name.
uint64_t waiting_endpoint(const char *name);
// This process begins to wait on behalf of the endpoint, by its number. False, and it doesn't: as many as most do already. A
// process waits once at a time. shared NULL, or a process without a slot there: it isn't counted.
bool waiting_begin(struct shared *shared, uint64_t endpoint, unsigned most);
void waiting_end(struct shared *shared);

#endif

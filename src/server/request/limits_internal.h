// SPDX-License-Identifier: Apache-2.0
// The counts of limits.h, which all processes of a host share, and the functions that limits.c, limits_requests.c,
// limits_tokens.c and limits_watches.c have in common. No other file includes it.
#ifndef TENURE_SERVER_REQUEST_LIMITS_INTERNAL_H
#define TENURE_SERVER_REQUEST_LIMITS_INTERNAL_H

#include <stdatomic.h>

#include "server/request/limits.h"

// One entry per process slot; 0 means none. endpoint is set as long as the process lives; the other members while it has a
// request. tenant not 0: the request is in progress; else it waits for a worker.
struct requests {
	_Atomic uint64_t endpoint[SHARED_PROCESSES];
	_Atomic uint64_t mark[SHARED_PROCESSES]; // shared_self() of the process
	_Atomic uint64_t tenant[SHARED_PROCESSES];
	_Atomic uint64_t user[SHARED_PROCESSES];
	_Atomic int64_t since_us[SHARED_PROCESSES]; // clock_tick_us() when the request was admitted
	_Atomic uint64_t waiting[SHARED_PROCESSES]; // tenant of a request that has waited so long that it is admitted before new
	                                            // ones
};

struct recent; // limits.c

struct limits {
	struct recent *recent; // hashes computed lately, under the key of the file that is mapped now
	const struct server_settings *settings;
	const struct endpoint_config *endpoint;
	struct shared *shared; // NULL: nothing is limited
	unsigned processes;    // that serve the endpoint once all have started
	bool entered;
	uint64_t endpoint_key;
	// How long a request may wait depends on the tenants that this worker has met.
	uint64_t last_tenant;
	int64_t others_us;     // clock_tick_us() when it last met a different tenant
	uint64_t refused_tenant;
	int64_t refused_us;
	uint32_t checks;
};

// Of limits_requests.c.
struct requests *limits_requests(const struct limits *limits);
// A hash of the pair of names (a, b) within this endpoint. kind, such as 'k', keeps equal names of different kinds of things
// apart.
uint64_t limits_key(const struct limits *limits, char kind, struct str a, struct str b);

#endif

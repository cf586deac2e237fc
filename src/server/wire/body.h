// SPDX-License-Identifier: Apache-2.0
// Reads the body of a request, within a limited time.
#ifndef TENURE_SERVER_WIRE_BODY_H
#define TENURE_SERVER_WIRE_BODY_H

#include "base/str.h"
#include "server/wire/fcgx.h"

struct pool;

struct body {
	struct str text; // lives in the pool; "" if the body is longer than the limit
	uint64_t n;      // bytes read, those beyond the limit included
	bool whole;      // the body was read to its end, so the next request of the connection can be read
	bool late;       // the time was over, and more of it was to come
};

// Reads the request's body to its end. When clock_tick_us() is until_us, what has arrived is read, and a body that has not
// arrived as a whole is given up. max: the most bytes that are kept; a longer body is read and discarded, up to max + drain
// bytes. expected: bytes to make room for at first. Blocks for the connection's SO_RCVTIMEO at most while nothing comes in, and
// so for at most that much longer than until_us.
struct body body_read(struct pool *pool, FCGX_Request *request, size_t expected, uint64_t max, uint64_t drain, int64_t until_us);

#endif

// SPDX-License-Identifier: Apache-2.0
// From a worker to another process of its master: a connection whose request is answered further there. To the watch process
// with an order that says how; to the sender with the rest of the answer, as a file.
#ifndef TENURE_SERVER_WIRE_HANDOVER_H
#define TENURE_SERVER_WIRE_HANDOVER_H

#include "base/str.h"
#include "server/wire/transport.h"

struct handover {
	int fd;              // the connection to the web server
	uint16_t request_id; // FastCGI's, of the request that is being answered
	struct limits_watch watch; // as it is counted
	char *order;         // from malloc
	size_t n;
};

// Two ends, for workers and for the watch process: [0] and [1]. False, logged, when the system refuses.
bool handover_pair(int ends[2]);
// False, logged, when it can't be; fd stays the caller's in any case.
bool handover_send(int to, int fd, uint16_t request_id, struct limits_watch watch, struct str order);
// Waits for nothing. False: there is none, or it could not be taken whole.
bool handover_receive(int from, struct handover *handover);

// To the sender: file has the bytes that are still to be sent. tenant: whose answer it is, as limits_tenant() says.
// False, logged, when it can't be; both descriptors stay the caller's in any case.
bool handover_pass(int to, int fd, int file, uint64_t tenant);
// Waits for nothing; both become the caller's. False: there is none, or it could not be taken whole.
bool handover_take(int from, int *fd, int *file, uint64_t *tenant);

#endif

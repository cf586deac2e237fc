// SPDX-License-Identifier: Apache-2.0
// Hands a connection from a worker to another process of the same master, which continues the answer: to the watch process with
// a text that describes the watch (call->handover), or to the sender with the rest of the answer as a file.
#ifndef TENURE_SERVER_WIRE_HANDOVER_H
#define TENURE_SERVER_WIRE_HANDOVER_H

#include "base/str.h"
#include "server/wire/transport.h"

// What a receiver found. NONE: nothing is waiting, or what came was incomplete. END: nothing is waiting, and nothing can come any
// more, since no process has the workers' end.
enum handover_found { HANDOVER_ONE, HANDOVER_NONE, HANDOVER_END };

struct handover {
	int fd;              // the connection to the web server
	uint16_t request_id; // FastCGI's id of the request being answered
	struct limits_watch watch; // its place in the host's count of open watches, which the receiver gives back
	char *text;          // describes the watch; n bytes from malloc, which the receiver frees
	size_t n;
	int beginning;       // a file with what is still to be written to fd of the answer's beginning, FastCGI records; -1: none
};

// Makes a pair of sockets: [0] for workers, [1] for the process that receives. False if the system refuses; logged.
bool handover_pair(int ends[2]);
// Closes both ends in this process. Once no worker has its end any more, the receiver finds HANDOVER_END; once no receiver has
// its own, what a worker sends fails.
void handover_pair_close(int ends[2]);
// Sends a connection with the text that describes its watch, and the file with the rest of the answer's beginning; -1: there is
// none. False if that fails; logged. Both descriptors stay the caller's in any case.
bool handover_send(int to, int fd, uint16_t request_id, struct limits_watch watch, struct str text, int beginning);
// Receives a connection with that text; the caller owns both descriptors. Never blocks. If it is not HANDOVER_ONE, only
// handover->watch is set, to the place of the one that was incomplete, which the caller gives back as well; index 0: there is
// none.
enum handover_found handover_receive(int from, struct handover *handover);

// Sends a connection to the sender. file holds the bytes still to be sent; tenant is limits_tenant() of the request. False if
// that fails; logged. Both descriptors stay the caller's in any case.
bool handover_send_rest(int to, int fd, int file, uint64_t tenant);
// Receives what handover_send_rest() sent; the caller owns both descriptors. Never blocks.
enum handover_found handover_receive_rest(int from, int *fd, int *file, uint64_t *tenant);

#endif

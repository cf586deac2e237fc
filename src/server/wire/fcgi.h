// SPDX-License-Identifier: Apache-2.0
// A worker's end of FastCGI: many connections, one request at a time. It wraps libfcgi, whose own loop has three faults: a
// connection kept open delays all others, a truncated body is taken for a complete one, and the rest of an unread body for the
// next request.
//
//   while ((event = fcgi_next(fcgi, …)) != FCGI_END)
//           if (event == FCGI_REQUEST) { … fcgi_answer(fcgi, &response); } else …
#ifndef TENURE_SERVER_WIRE_FCGI_H
#define TENURE_SERVER_WIRE_FCGI_H

#include "http/request.h"
#include "http/response.h"
#include "server/wire/transport.h"

struct config;
struct fcgi;

enum fcgi_event {
	FCGI_REQUEST, // *request is filled, or *fault says why it is incomplete; fcgi_answer() must follow
	FCGI_WAKE,    // wake_fd is readable, or the time is over
	FCGI_END,     // only after fcgi_stop(): everything is served
};

enum fcgi_stop {
	FCGI_FINISH, // serves requests waiting in kept connections and in the listening socket's queue, then ends
	FCGI_RETIRE, // leaves the queue to other workers on the same socket; each kept connection gets one more answer
};

// listen_fd: a listening socket, which becomes non-blocking. wake_fd: another descriptor to wait for (signalfd). The caller owns
// both, and has blocked all signals that it handles: a signal that interrupts a read would truncate a body. NULL if the system
// refuses; logged.
struct fcgi *fcgi_new(int listen_fd, int wake_fd, const struct config *config);
// Closes all connections.
void fcgi_free(struct fcgi **fcgi);

// Writes the access log lines that were put off, then waits for a request, for at most timeout_ms (-1: for ever). The caller has
// zeroed *request; its contents live in pool or until fcgi_answer(). The whole body is read, for
// TRANSPORT_BODY_S at most; a body that is too large is read and discarded.
enum fcgi_event fcgi_next(struct fcgi *fcgi, int timeout_ms, struct pool *pool, struct request *request,
	enum transport_fault *fault);
// Was the current request waiting already when the one before it was answered, so that the worker did not sleep in between?
bool fcgi_is_busy(const struct fcgi *fcgi);
// Who sends the rest of an answer that the web server takes slowly.
struct fcgi_slow {
	int to;          // socket to the sender (sender.h); -1: there is none, and the worker waits
	uint64_t tenant; // the tenant of the request (limits_tenant())
};
// Sends the response; for HEAD without its body. pool is that of fcgi_next(), not cleared since.
void fcgi_answer(struct fcgi *fcgi, struct pool *pool, enum http_method method, const struct response *response,
	const struct fcgi_slow *slow);
// Sends the response's head and, of the body that it has, what the web server accepts within a moment, and hands the connection
// over with the rest and the handover (call->handover), so that the answer continues there (handover.h). Called instead of
// fcgi_answer(). False: it could not be handed over, and the response has ended.
bool fcgi_hand_over(struct fcgi *fcgi, struct pool *pool, const struct response *response, int to, struct limits_watch watch,
	struct str handover);
// A second call may only turn FCGI_RETIRE into FCGI_FINISH.
void fcgi_stop(struct fcgi *fcgi, enum fcgi_stop stop);

#endif

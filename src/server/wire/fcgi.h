// SPDX-License-Identifier: Apache-2.0
// A worker's end of FastCGI: many connections, one request at a time. Wraps libfcgi, whose own loop starves other
// connections behind a kept one, takes cut bodies for whole ones and the rest of an unread body for a next request.
//
//   while ((event = fcgi_next(fcgi, …)) != FCGI_END)
//           if (event == FCGI_REQUEST) { … fcgi_answer(fcgi, &response); } else …
#ifndef TENURE_SERVER_WIRE_FCGI_H
#define TENURE_SERVER_WIRE_FCGI_H

#include "http/request.h"
#include "http/response.h"
#include "server/wire/transport.h"

struct fcgi;

enum fcgi_event {
	FCGI_REQUEST, // *request is filled, or *fault says why not wholly; fcgi_answer() must follow
	FCGI_WAKE,    // wake_fd is readable, or the time is over
	FCGI_END,     // only after fcgi_stop(): all is served
};

enum fcgi_stop {
	FCGI_FINISH, // serves what is waiting, in kept connections and in the listening socket's queue, then ends
	FCGI_RETIRE, // leaves the queue to successors on the same socket; each kept connection gets one more answer
};

// listen_fd: a listening socket, which becomes non-blocking; wake_fd: a descriptor to wait for as well (signalfd).
// The caller keeps both, and has blocked all signals it handles: a signal that broke off a read would cut a body.
// NULL, logged, when the system refuses.
struct fcgi *fcgi_new(int listen_fd, int wake_fd, const struct config *config);
// Closes all connections.
void fcgi_free(struct fcgi **fcgi);

// Waits, timeout_ms at most (-1: for ever); before that, writes the lines of the access log that were put off. *request is
// zeroed by the caller; what is in it lives in pool or until fcgi_answer(). The body is read whole; of one that is too large
// nothing is kept.
enum fcgi_event fcgi_next(struct fcgi *fcgi, int timeout_ms, struct pool *pool, struct request *request,
	enum transport_fault *fault);
// The current request was waiting when the one before it had been answered: it did not wake the worker.
bool fcgi_is_busy(const struct fcgi *fcgi);
// Where the rest of an answer goes that the web server is slow to take.
struct fcgi_slow {
	int to;          // the sender (sender.h); -1: there is none, and the worker waits
	uint64_t tenant; // whose it is (limits.h)
};
// Sends the response; for HEAD without its body. pool as given to fcgi_next, not yet cleared.
void fcgi_answer(struct fcgi *fcgi, struct pool *pool, enum http_method method, const struct response *response,
	const struct fcgi_slow *slow);
// Sends the response's head and what it has of a body, and hands the connection over with the order, for the rest to
// follow from there (handover.h). Instead of fcgi_answer; where it can't be done, false: the response ended with that body.
bool fcgi_hand_over(struct fcgi *fcgi, struct pool *pool, const struct response *response, int to, struct limits_watch watch,
	struct str order);
// A second call may only turn FCGI_RETIRE into FCGI_FINISH.
void fcgi_stop(struct fcgi *fcgi, enum fcgi_stop stop);

#endif

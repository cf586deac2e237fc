// SPDX-License-Identifier: Apache-2.0
// One HTTP exchange with another service, for authenticators. It never follows a redirect, since a token would go along; it reads
// a bounded number of bytes, and it ends within the time that the caller gives it. For files in auth/ only.
#ifndef TENURE_AUTH_CORE_FETCH_H
#define TENURE_AUTH_CORE_FETCH_H

#include "base/str.h"

struct pool;
struct fetcher; // a kept connection and its settings; one for each service and process

enum { FETCH_HEADERS_MAX = 4 };

struct fetch_request {
	const char *url;
	const char *headers[FETCH_HEADERS_MAX]; // "Name: value" without control characters; NULL: none
	const char *body;                       // JSON, sent by POST; NULL: GET
	unsigned timeout_ms;                    // for the whole exchange, at least 1
	size_t max_body;                        // bytes of the answer's body
};

struct fetch_answer {
	long status;
	struct str body;          // in the pool
	struct str subject_token; // X-Subject-Token; "" if there is none
};

// ca_file: certificate authorities to trust, PEM; "": those of the system. The result makes nothing yet: the connection, and
// libcurl's own set-up, come with the first exchange. NULL: no memory.
struct fetcher *fetcher_new(const char *ca_file);
void fetcher_free(struct fetcher **fetcher);
// Sends the request and reads the answer. False: there is no whole answer (refused, too late, too large, cut off), and *error
// says why. Blocks up to timeout_ms.
bool fetch(struct fetcher *fetcher, struct pool *pool, const struct fetch_request *request, struct fetch_answer *answer,
	struct str *error);

// Runs run(arg) in a process of its own, which ends with it, and returns at once. That process is nobody's child, so nobody waits
// for it; it keeps no descriptor but standard output and error, or the listening socket and the connections of clients would stay
// open with it. False: there is no such process.
bool fetch_apart(void (*run)(void *arg), void *arg);

#endif

// SPDX-License-Identifier: Apache-2.0
// HTTP POSTs side by side: none waits for another one. Each is sent to an address that network.h allows, looked at when its
// socket is made, so a name that resolves otherwise a moment later changes nothing. No redirect is followed, no proxy is asked,
// certificates are verified, and of an answer's body nothing is kept.
#ifndef TENURE_SERVER_WEBHOOK_TRANSFER_H
#define TENURE_SERVER_WEBHOOK_TRANSFER_H

#include "base/network.h"
#include "base/str.h"

struct transfers;

enum { TRANSFER_HEADERS_MAX = 6, TRANSFER_ERROR_MAX = 200, TRANSFER_ANSWER_MAX = 65536 };

struct transfer_rules {
	struct networks networks;
	struct ports ports;
	bool http;           // http URLs, too
	const char *ca_file; // "": the system's
	unsigned timeout_ms; // of one transfer
};
// rules must outlive the result. NULL: no memory, or libcurl can't be set up.
struct transfers *transfers_new(const struct transfer_rules *rules);
// Ends all that go on.
void transfers_free(struct transfers **transfers);

struct transfer_request {
	struct str url;
	struct str headers[TRANSFER_HEADERS_MAX]; // "Name: value" without control characters; p NULL: none
	struct str body;
};
// Begins a transfer; the request is copied. arg is given back at its end. False: no memory, or no more of something else; nothing
// was begun.
bool transfers_start(struct transfers *transfers, const struct transfer_request *request, void *arg);
// Goes on with all of them. Blocks until something can be done, at most ms.
void transfers_wait(struct transfers *transfers, int ms);

struct transfer_end {
	void *arg;
	unsigned status; // of the answer; 0: there was none
	char error[TRANSFER_ERROR_MAX]; // "": the whole answer came, whatever its status
	// Why no address was tried, for operators; "": one was. Whoever made the webhook is told `error`, which is the same for a
	// name that is unknown and for one that leads to a forbidden address: otherwise webhooks would tell which names the
	// operator's network knows.
	char reason[TRANSFER_ERROR_MAX];
};
// Takes one that has ended. False: there is none.
bool transfers_next(struct transfers *transfers, struct transfer_end *end);
// Aborts one transfer, for which transfers_next() then reports no end, and returns its arg. NULL: there is none under way.
void *transfers_drop(struct transfers *transfers);

#endif

// SPDX-License-Identifier: Apache-2.0
// Limits on what one client may use of a host, counted over all workers in memory that they share (base/shared.h).
//
// Requests. A worker serves one request at a time, so a client that keeps all workers busy locks out everybody else. `reserve` of
// the processes that serve an endpoint (as many as run, or as should run) are held back from any one tenant and from any one
// user. A request that would take one of these waits until another request of the same tenant ends. It is refused (429) if all
// the others have been busy for STUCK_MS, and after WAIT_MS; WAIT_ALONE_MS if no other tenant sent requests lately. After a
// refusal, the tenant's next requests are refused without waiting, so that a queue of them does not block this worker. Short
// requests are never refused, because they only take turns. tenant_requests and user_requests set lower limits.
//
// Wrong tokens. Each is counted for the address from which the web server received it (REMOTE_ADDR; of an IPv6 address the first
// 64 bits, unless it stands for an IPv4 address, "::ffff:192.0.2.1"). If an address has sent wrong_tokens of them within a
// minute, it gets 429 until the minute is over. Tokens that were right within the last three hours are accepted all the same,
// because many clients may share an address: behind a proxy, in a company.
//
// Watches. Each lasts for minutes and uses a connection of the web server. They are counted per token, per tenant and per
// endpoint; the last tenth of the endpoint's number is for operators only.
//
// All counts are approximate while processes race. No count makes a process wait for another one. If memory can't be shared,
// nothing is limited.
#ifndef TENURE_SERVER_REQUEST_LIMITS_H
#define TENURE_SERVER_REQUEST_LIMITS_H

#include "auth/core/principal.h"
#include "base/shared.h"
#include "server/wire/transport.h"

enum {
	// A request that takes longer than STUCK counts as stuck. A request beyond its tenant's share waits at most WAIT for a
	// worker. If no other tenant sent requests lately, waiting delays nobody else, and a busy machine with one tenant is no
	// attack: the ..._ALONE values apply then.
	LIMITS_STUCK_MS = 100,
	LIMITS_WAIT_MS = 100,
	LIMITS_STUCK_ALONE_MS = 1000,
	LIMITS_WAIT_ALONE_MS = 3000,
	LIMITS_WINDOW_S = 60,     // wrong tokens count within this time
	LIMITS_REMEMBER_S = 3 * 3600, // how long a token that was right is remembered; renewed when half of it is over
};

struct config;
struct endpoint_config;
struct limits;

// Which limit was reached; the text is for the client.
struct limits_refusal {
	unsigned retry_s;  // for Retry-After
	const char *what;  // "requests in progress for your tenant"
};

// Claims a slot of shared, which the caller owns and keeps open. shared NULL: nothing is limited. processes: how many serve the
// endpoint once all have started, this one included; 0: this process serves no requests. NULL: no memory.
struct limits *limits_new(const struct config *config, const struct endpoint_config *endpoint, struct shared *shared,
	unsigned processes);
void limits_free(struct limits **limits);
// Keeps the shared memory in order. Call it at least once a second, also while the process is idle.
void limits_tick(struct limits *limits);

// ---- requests

// Counts the request from now on. May sleep for the times above. False: it is refused, and *refusal says why.
bool limits_enter(struct limits *limits, const struct principal *who, struct str address, struct limits_refusal *refusal);
// The answer was sent: the request no longer counts. Call it also after a refusal, and if limits_enter() was never called.
void limits_leave(struct limits *limits);

// A number for the tenant of the request admitted last, the same in all processes; 0: none.
uint64_t limits_tenant(const struct limits *limits);

// ---- wrong tokens

// Call it before a token is validated; token is "" if there is none, and of two tokens in one request both, as one text. False:
// the request is refused.
bool limits_may_try(struct limits *limits, struct str address, struct str token, struct limits_refusal *refusal);
void limits_was_wrong(struct limits *limits, struct str address);
void limits_was_right(struct limits *limits, struct str token);

// ---- watches

// Counts a watch for the calling process. credential: the token, or what else distinguishes the clients of a tenant. False: it is
// refused.
bool limits_watch_begin(struct limits *limits, const struct principal *who, struct str credential, struct limits_watch *watch,
	struct limits_refusal *refusal);
// Makes a watch, begun by another process, the calling process's: its count ends when this process ends.
void limits_watch_take(struct limits *limits, const struct limits_watch *watch);
// Since the last call for this watch, did a new watch reach a limit, or half of a limit, to which this watch counts? If so, the
// caller writes something to the client: a web server may notice only then that the client has closed its connection.
bool limits_watch_is_suspect(struct limits *limits, const struct limits_watch *watch);
// Ends the count of a watch, if it is this process's.
void limits_watch_end(struct limits *limits, const struct limits_watch *watch);

#endif

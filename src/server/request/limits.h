// SPDX-License-Identifier: Apache-2.0
// What one client may take of a host, counted over all its workers in memory that they share (base/shared.h).
//
// Requests. One worker serves one request at a time, so whoever keeps all of them busy locks everybody else out. Of the
// processes that serve an endpoint, as many as there are or should be, `reserve` are held back from any one tenant, and from any one user: a request that would
// take the last of them waits for another of the same tenant to end. It is refused (429) once all of these have been held for
// STUCK_MS, and after WAIT_MS, or WAIT_ALONE_MS where no other tenant has been about lately; those that come right behind it are
// refused at once, so that a queue of them does not keep this worker. Requests that are short never are: they only take turns.
// tenant_requests and user_requests set lower limits.
//
// Wrong tokens. Each counts against the address that the web server says it came from (REMOTE_ADDR; of IPv6 the first 64 bits).
// An address with wrong_tokens of them within a minute is answered 429 until the minute is over. Tokens that were right within
// the last hour go on being looked at, since an address may be that of many: a proxy, a company.
//
// Watches. Each lasts for minutes and takes a connection of the web server. They are counted per token, per tenant and per
// endpoint; of the endpoint's number operators alone may take the last tenth.
//
// All of it is approximate where processes race, never waits for another process, and lets everything pass where memory can't
// be shared.
#ifndef TENURE_SERVER_REQUEST_LIMITS_H
#define TENURE_SERVER_REQUEST_LIMITS_H

#include "auth/principal.h"
#include "base/shared.h"
#include "server/wire/transport.h"

enum {
	// A request that takes longer than STUCK holds its worker, and one that comes beyond its tenant's share waits for a place for
	// so long as WAIT. Where no other tenant has been about lately nobody is kept waiting by that, and both may be longer: a busy
	// machine with one tenant's clients is no attack.
	LIMITS_STUCK_MS = 100,
	LIMITS_WAIT_MS = 100,
	LIMITS_STUCK_ALONE_MS = 1000,
	LIMITS_WAIT_ALONE_MS = 3000,
	LIMITS_WINDOW_S = 60,     // in which wrong tokens count
	LIMITS_REMEMBER_S = 3600, // a token that was right
};

struct config;
struct endpoint_config;
struct limits;

// Which limit was met; the texts are for the client.
struct limits_refusal {
	unsigned retry_s;  // for Retry-After
	const char *what;  // "requests in progress for your tenant"
};

// Shared memory for the registry of this configuration. NULL, logged: there is no memory. See shared_open().
struct shared *limits_share(const struct config *config);

// Claims a slot of shared, which stays the caller's and outlives it. shared NULL: nothing is limited. processes: how many
// serve the endpoint once all have started, this one included; 0: this one serves no requests. NULL: no memory.
struct limits *limits_new(const struct config *config, const struct endpoint_config *endpoint, struct shared *shared,
	unsigned processes);
void limits_free(struct limits **limits);
// Once a second or more often, also while there is nothing to do: keeps the shared memory in order.
void limits_tick(struct limits *limits);

// ---- requests

// The request counts from now on. May wait as told above. False: it is refused.
bool limits_enter(struct limits *limits, const struct principal *who, struct str address, struct limits_refusal *refusal);
// Its answer is with the web server. Also if limits_enter refused, or was never called.
void limits_leave(struct limits *limits);

// Whose request was admitted last, as a number that is the same in all processes; 0: nobody's.
uint64_t limits_tenant(const struct limits *limits);

// ---- wrong tokens

// Asked before the token is looked at; token "" if there is none. False: it is refused.
bool limits_may_try(struct limits *limits, struct str address, struct str token, struct limits_refusal *refusal);
void limits_was_wrong(struct limits *limits, struct str address);
void limits_was_right(struct limits *limits, struct str token);

// ---- watches

// Counts a watch of the calling process. credential: the token, or whatever else tells one client of a tenant from another.
// False: it is refused.
bool limits_watch_begin(struct limits *limits, const struct principal *who, struct str credential, struct limits_watch *watch,
	struct limits_refusal *refusal);
// It is this process's from now on: it goes when this process ends.
void limits_watch_take(struct limits *limits, const struct limits_watch *watch);
// Was another watch begun since this was asked last that met a limit with this one, or half of a limit? A web server may find out that a client
// has closed its connection only when it writes to it: so the caller writes something.
bool limits_watch_is_suspect(struct limits *limits, const struct limits_watch *watch);
// If it is this process's.
void limits_watch_end(struct limits *limits, const struct limits_watch *watch);

#endif

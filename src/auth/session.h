// SPDX-License-Identifier: Apache-2.0
// Sessions of the console: a cookie that scripts can't read, in the place of a token.
//
// A session holds the credential that began it, encrypted under a key that only the cookie gives. session_open() puts that
// credential into the request, and the endpoint's authenticators decide on it as if the client had sent it: a token that was
// revoked or has expired, or a user whose secret was changed, has no session any more. The row in table `sessions` is known to
// all processes of all hosts.
//
// CSRF. A browser adds the cookie to whatever a page of another origin makes it send. So the cookie counts only together with the
// header field X-Tenure-Console: 1, which a page of another origin can't add without asking first by OPTIONS, and no dialect
// permits that (Fetch standard, CORS-preflight). The cookie is SameSite=Strict as well, and a request is refused if the browser
// says by Sec-Fetch-Site or Origin that it comes from elsewhere. Ports don't separate cookies, so the cookie's name has the
// endpoint's name.
#ifndef TENURE_AUTH_SESSION_H
#define TENURE_AUTH_SESSION_H

#include "auth/core/principal.h"
#include "http/request.h"

struct config;
struct db;
struct endpoint_config;
struct pool;

// Where the functions work. All that it points to must outlive the call.
struct session_place {
	const struct config *config;
	const struct endpoint_config *endpoint;
	struct db *db;
	struct pool *pool;
	bool secure; // the browser reaches the service by https: the cookie has another name then, which other hosts can't set
};

struct session {
	struct str id; // p NULL: none
	int64_t created_us, used_us, ends_us; // by the wall clock. used: when it was used last, to the minute
};

// Has the request been sent by the console's page? It has X-Tenure-Console: 1 then. Other clients may send that, too.
bool session_by_console(const struct request *request);
// The value of the session's cookie if the request has one that may count: it has X-Tenure-Console: 1, and no token or user of
// its own. p NULL: it has none.
struct str session_cookie(const struct session_place *place, const struct request *request);
// Does the request come from a page of the service's own origin, as far as the browser tells? False: *detail says what is wrong.
// Clients that are no browsers send none of the fields that would tell.
bool session_same_origin(const struct request *request, struct str *detail);
// Looks up the session of the request, and adds its credential to the request. Sends one statement, and a second one in a
// transaction of its own if the session was not used for a while. Not inside a transaction.
//   OUTCOME_OK               *session is set; or its id is NULL, and the request is as it was: it brings no session that counts
//   OUTCOME_UNAUTHENTICATED  unknown, ended, for too long not used, or another one than X-Tenure-Session names: *detail
//   OUTCOME_FORBIDDEN        the request comes from a page of another origin: *detail
//   OUTCOME_UNAVAILABLE      the database can't be asked
enum outcome session_open(const struct session_place *place, struct request *request, struct session *session, struct str *detail);

// These run inside the request's write transaction, and may run again with it. A statement that fails is OUTCOME_UNAVAILABLE or
// OUTCOME_INTERNAL.

// Begins a session with the credential that the request came with, for its user. Of the user's sessions at most session_count
// stay (one more for a while if several begin at once): those that were not used for the longest time are ended. *value: for
// session_set_cookie(). OUTCOME_CREATED; OUTCOME_BAD_PARAMETER with *detail: the credential is none that a session can hold.
enum outcome session_begin(const struct session_place *place, const struct request *request, const struct principal *who,
	struct session *session, struct str *value, struct str *detail);
// Ends the session; that it has ended already is OUTCOME_OK as well.
enum outcome session_end(const struct session_place *place, struct str id);
// Ends all sessions of the user, on all endpoints.
enum outcome session_end_all(const struct session_place *place, const struct principal *who);

// The value of Set-Cookie. value "": the browser forgets the cookie.
struct str session_set_cookie(const struct session_place *place, struct str value);
// How long a session lasts without being used, in seconds.
unsigned session_idle_s(const struct session_place *place);

#endif

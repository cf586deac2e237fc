// SPDX-License-Identifier: Apache-2.0
// The interface of authenticators. A new one is a file in auth/ that defines such a row, and a line in
// auth/core/authenticators.def. For files in auth/ only.
#ifndef TENURE_AUTH_CORE_AUTHENTICATOR_H
#define TENURE_AUTH_CORE_AUTHENTICATOR_H

#include "auth/core/auth.h"

// The input and output of one identification.
struct identity {
	struct db *db;
	struct pool *pool; // for the principal's strings
	const struct request *request;
	const char *dialect; // of the request's address
	bool may_wait;     // false: the caller is the watch process, which must not block, and checks a request that was let in before
	struct principal *principal; // zeroed; to be filled
	struct str *detail;          // of an outcome that isn't OK: what is wrong with the credential
};

struct authenticator {
	const char *challenge; // for WWW-Authenticate of a request that it has not decided; NULL: challenge_of() has that as well
	// One that depends on the settings, or on the request that it has decided last; valid as long as state, until the next
	// identify(). NULL: challenge is for every request.
	const char *(*challenge_of)(const void *state);
	// The header fields that it reads, in lower case; ends with NULL. A watch keeps them, so that its user can be identified
	// again later.
	const char *const *headers;
	// The tables of its own settings (base/config/setting.h), for the whole configuration or for an endpoint; ends with NULL.
	// NULL: it has none.
	const struct config_table *const *tables;
	// Reads the endpoint's settings. The result, which may be NULL, goes to the functions below. *error (malloc): what is
	// wrong with them. NULL: there is nothing to read.
	// setup must outlive the call only; what it points to outlives the state.
	void *(*open)(const struct auth_setup *setup, char **error);
	void (*close)(void *state); // NULL: nothing is to be released
	// Could this be a token of this kind, by its form alone? Asked only while another authenticator comes behind: one that
	// reads tokens then gets what could not. pool: for what it needs meanwhile. NULL: every token could be.
	bool (*has_form)(struct pool *pool, struct str token);
	// *recognised: the request has a credential of this kind, so its outcome decides, and no later authenticator runs.
	// OUTCOME_OK, _UNAUTHENTICATED, _FORBIDDEN (the credential does not count for such a request), _UNAVAILABLE (it can't be
	// decided now). It may ask the database, and, with libcurl and a timeout of its own, another service. If
	// identity->may_wait is false it answers from its cache, or returns OUTCOME_UNAVAILABLE: a watch then goes on until the
	// next check, within AUTH_POLL_S, by which it knows what the service has answered meanwhile.
	enum outcome (*identify)(void *state, const struct identity *identity, bool *recognised);
	// Did the last identify() validate its token now: did it ask the database or a service, or verify a signature, instead of
	// looking into its cache alone? NULL: it never does.
	bool (*has_validated)(const void *state);
	// Did the last identify() return OUTCOME_UNAUTHENTICATED for a token that is good, because the token's own rules don't
	// permit such a request? NULL: it never does.
	bool (*refused_a_good_token)(const void *state);
	// The role, in the endpoint's default_tenant, of users without tenant and role. NULL: this authenticator sets no such
	// role.
	enum role (*default_role)(const void *state);
};

#define AUTHENTICATOR(symbol, name) extern const struct authenticator symbol##_authenticator;
#include "auth/core/authenticators.def"
#undef AUTHENTICATOR

enum { AUTH_MAX_NAME = 255 }; // characters of a user's, or tenant's, name

// Has a user or tenant such a name? Up to AUTH_MAX_NAME characters, UTF-8 without NUL.
bool auth_is_name(struct str name);
// The token of X-Auth-Token or Authorization: Bearer; other schemes of Authorization are for the web server. False: there is
// none. True with an empty *token for "Authorization: Bearer" alone.
bool auth_read_token(const struct request *request, struct str *token);
extern const char *const auth_token_headers[]; // those that auth_read_token() reads; ends with NULL
// Is Origin, if the request has it, "http://" or "https://" with the host and port of the request's Host? True for requests of
// programs, which send no Origin.
bool auth_has_own_origin(const struct request *request);
// Is it a change that a page of another site made the browser send? For credentials that browsers send by themselves with any
// request to the web server, passwords and certificates: such a page's form comes with them, maybe without its user. True:
// *detail says so, and the outcome is OUTCOME_FORBIDDEN. False for requests of programs, which don't say where they come from,
// and for all that only read.
bool auth_is_of_another_site(const struct request *request, struct str *detail);
// NULL, or what is wrong with the secret by which the web server vouches for variables (malloc): it is missing, shorter than 16
// characters, or has some that a web server's configuration would need quotes for. For the message: the endpoint, the
// authenticator, the name of the setting, a variable that it vouches for, and the parameter by which the secret comes.
char *auth_check_secret(const char *endpoint, const char *authenticator, const char *setting, struct str secret, const char *variable,
	const char *parameter);
// For *error, from malloc.
char *auth_message(const char *format, ...) PRINTF_LIKE(1, 2);

#endif

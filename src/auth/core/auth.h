// SPDX-License-Identifier: Apache-2.0
// Authenticators (auth/core/authenticator.h) find the user who sent a request. An endpoint's `auth` setting lists them; the first
// that finds a credential of its kind decides. Tokens come as "X-Auth-Token: T" or "Authorization: Bearer T".
//   token        opaque "id.secret"; SHA-256 of the secret in table tokens; expiry, revocation, tenant and role there
//   remote-user  the user whom the web server has authenticated, REMOTE_USER; refused unless TENURE_REMOTE_USER_SECRET equals
//                the endpoint's remote_user_secret, which the web server sets only where it authenticates (nginx fills
//                $remote_user from any Basic header); role and tenant by remote_user_role, remote_user_tenant
//   keystone     a token of OpenStack's Identity service (auth/keystone/keystone.c)
//   jwt          a signed JSON Web Token of an OpenID Connect provider (auth/jwt/jwt.c)
//   certificate  a client's certificate that the web server has verified (auth/certificate.c)
//   noauth       for development: the token names the user: USER[:TENANT[:ROLE]], parts percent-decoded, role reader, member
//                or admin (default admin); "admin" alone is the operator; "admin:TENANT" has the OpenStack role admin as well.
//                X-Roles overrides the token's role, and X-Project-Id then its tenant, as behind OpenStack's keystonemiddleware
//                (a token must come all the same): the role admin is the operator, reader with OpenStack-System-Scope: all may
//                read everything, any other role has no rights
#ifndef TENURE_AUTH_CORE_AUTH_H
#define TENURE_AUTH_CORE_AUTH_H

#include "auth/core/principal.h"
#include "http/request.h"

struct auth; // an endpoint's authenticators and their caches
struct config;
struct config_table;
struct endpoint_config;
struct db;
struct shared;

// What authenticators of an endpoint are made from. All that it points to must outlive them.
struct auth_setup {
	const struct config *config;
	const struct endpoint_config *endpoint;
	unsigned processes;    // of the endpoint that can each serve one request; 0: none, the program only checks the settings
	struct shared *shared; // memory of all processes of the host; NULL: an authenticator keeps what it learns to itself
};
// NULL and *error (malloc) when the setting auth names an unknown authenticator, or when an authenticator's settings are wrong.
struct auth *auth_new(const struct auth_setup *setup, char **error);
void auth_free(struct auth **auth);
// The i-th table of settings of all authenticators together, from 0; NULL: there are no more.
const struct config_table *auth_table(size_t i);

// A caller that must not block (the watch process) repeats auth_identify() for a credential at least this often, in seconds,
// until it returns another outcome than OUTCOME_UNAVAILABLE.
enum { AUTH_POLL_S = 15 };

// One request whose user is to be found.
struct auth_question {
	struct db *db;
	struct pool *pool; // for the principal's strings
	const struct request *request;
	const char *dialect; // of the request's address, "placement": in some dialects a role may count for more than in others
	// False in the watch process, which must not block. An authenticator that needs another service than the database returns
	// OUTCOME_UNAVAILABLE then, or what it has known for a short while, and has the service's answer at a later call. What is
	// checked so is no request, so it is no use of a token.
	bool may_wait;
};

// *principal's strings live in the question's pool. Without a credential: an empty principal and OUTCOME_OK; the permit step
// answers 401 if the method needs a user. A malformed, unknown, expired or revoked credential: OUTCOME_UNAUTHENTICATED with
// *detail.
// A valid credential whose tenant has a reserved name (auth/core/realm.h): OUTCOME_FORBIDDEN with *detail.
// Sends one statement to the database, only for a token that was not validated within token_cache milliseconds;
// OUTCOME_UNAVAILABLE if the database, or the service that knows the token, can't be reached.
enum outcome auth_identify(struct auth *auth, const struct auth_question *question, struct principal *principal,
	struct str *detail);
// The header fields of the request that any authenticator reads, as lines "name:value", each once: by which auth_identify()
// can be called again later. In pool.
struct str auth_header_lines(struct pool *pool, const struct request *request);
// The token that the request brings, whether or not the endpoint looks at tokens; "" if there is none.
struct str auth_token(const struct request *request);
// Did the last auth_identify() validate the token now, by the database, a service or its signature, instead of using a cache
// entry? False if the token was refused by its form alone.
bool auth_has_validated(const struct auth *auth);
// Did the last auth_identify() return OUTCOME_UNAUTHENTICATED for a token that is good, because the token's own rules don't
// permit such a request? Then no wrong token came.
bool auth_refused_a_good_token(const struct auth *auth);
enum {
	AUTH_REVALIDATE_S = 1800,      // a cached validation is repeated after so many seconds, unless a setting gives another time
	AUTH_REVALIDATE_MOST_S = 3600, // the most that such a setting may give
};
// Forgets which authenticator decided last. To be called when a request begins: it may be refused before auth_identify() is
// called for it.
void auth_forget(struct auth *auth);
// Value for WWW-Authenticate with a 401: that of the authenticator which decided last, or, if none did since auth_forget() or
// within the last auth_identify(), of the first one. Valid until the next auth_identify().
const char *auth_challenge(const struct auth *auth);

// ---- tokens as tenure-manage makes them

struct token_info {
	struct str id;
	struct str user, tenant; // tenant "" for operators
	enum role role;
	int64_t created_us, expires_us; // expires 0: never
	int64_t revoked_us;             // 0: valid
	int64_t used_us;                // when it was used last, some minutes late (auth/core/token_uses.h); 0: never, or no use
	                                // was recorded yet
	struct str description;
};
// Makes a token (24 random bytes of secret), stores its hash, and returns the token, which can't be read again later.
// OUTCOME_CREATED, _NOT_FOUND (no such tenant, or deleted), _BAD_PARAMETER, _UNAVAILABLE.
enum outcome auth_token_create(struct db *db, struct pool *pool, const struct token_info *info, struct str *token,
	struct str *detail);
// id: the token's id, or the whole token. OUTCOME_OK (also if it was revoked before), _NOT_FOUND, _UNAVAILABLE.
enum outcome auth_token_revoke(struct db *db, struct pool *pool, struct str id);
// Revokes all tokens that are not revoked yet, or those of one tenant (tenant.p not NULL; n 0: the operators'); *n: how many.
// OUTCOME_OK, _UNAVAILABLE.
enum outcome auth_token_revoke_all(struct db *db, struct pool *pool, struct str tenant, uint64_t *n);
// All tokens, or those of one tenant (tenant.p not NULL), by creation.
enum outcome auth_token_list(struct db *db, struct pool *pool, struct str tenant, struct token_info **list, size_t *n);

// ---- tokens of one tenant, within a transaction of the caller. A statement that fails is OUTCOME_UNAVAILABLE or OUTCOME_INTERNAL.

// Whose tokens are meant.
struct token_holder {
	uint64_t tenant_id; // of the tenant's row; 0: the operators' tokens
	struct str tenant;  // its name; "" for the operators
};
struct token_page {
	struct token_info *list; // allocated from the pool that was passed
	size_t n;
	bool more; // there are more tokens after the last one here
};
// Reads the tokens whose ids are behind after ("": from the first), at most limit, > 0, in the order of their ids. OUTCOME_OK.
enum outcome auth_token_page(struct db *db, struct pool *pool, const struct token_holder *holder, struct str after,
	uint64_t limit, struct token_page *page);
// Reads the token of that id, ended or not. OUTCOME_OK, _NOT_FOUND.
enum outcome auth_token_get(struct db *db, struct pool *pool, const struct token_holder *holder, struct str id,
	struct token_info *info);
// Makes a token for info->user with info->role, info->description and info->expires_us; info->created_us is the present time.
// Sets info->id and *token, which can't be read again later. A tenant may have at most most tokens, ended ones included.
// OUTCOME_CREATED; with *detail: _BAD_DOCUMENT (a value is wrong), _OVER_QUOTA, _FORBIDDEN (most is 0). The caller holds the lock
// of the tenant's row.
enum outcome auth_token_add(struct db *db, struct pool *pool, const struct token_holder *holder, uint64_t most,
	struct token_info *info, struct str *token, struct str *detail);
// Revokes the token if it was not revoked before. *revoked: it was not. OUTCOME_OK, _NOT_FOUND.
enum outcome auth_token_end(struct db *db, struct pool *pool, const struct token_holder *holder, struct str id,
	int64_t now_us, bool *revoked);
// When a token has ended: "revoked", "expired", or else "valid".
const char *auth_token_state(const struct token_info *info, int64_t now_us);

#endif

// SPDX-License-Identifier: Apache-2.0
// An endpoint's authenticators, asked in the order its configuration lists them.
#include "base/base.h"

#include <stdarg.h>

#include "auth/auth.h"
#include "auth/token.h"
#include "base/clock.h"
#include "base/config/config.h"
#include "base/digest.h"
#include "base/log.h"
#include "base/pool.h"
#include "http/uri.h"

enum { MAX_METHODS = 8, MAX_NAME = 255 };
enum { SECRET_LEAST = 16 };                       // characters of remote_user_secret
enum { COMPLAINT_INTERVAL_US = 60 * 1000 * 1000 }; // between two log lines about a web server that does not vouch

struct identity {
	struct auth *auth;
	struct db *db;
	struct pool *pool;
	const struct request *request;
	struct principal *principal;
	struct str *detail;
};

// *recognised: the request carries a credential of its kind, so that its outcome decides.
struct authenticator {
	const char *name;
	const char *challenge;
	enum outcome (*identify)(const struct identity *identity, bool *recognised);
};

struct auth {
	const struct endpoint_config *endpoint;
	const struct authenticator *methods[MAX_METHODS];
	size_t n_methods;
	enum role remote_role;
	struct str remote_secret;
	int64_t complained_us; // when the log was told last of an unvouched REMOTE_USER; 0: never
	struct str default_tenant; // "": none
	struct token_cache *tokens;
};

// ---- tokens

// X-Auth-Token, or what stands behind "Bearer"; other schemes of Authorization are the web server's. False: none.
static bool find_token(const struct request *request, struct str *token)
{
	struct str authorization = str_trim(request_header(request, "authorization"));
	size_t blank = str_find(authorization, ' ', 0);

	*token = str_trim(request_header(request, "x-auth-token"));
	if (token->n > 0)
		return true;
	if (!str_eq_nocase(str_part(authorization, 0, blank), STR("Bearer")))
		return false;
	*token = str_trim(str_part(authorization, blank, authorization.n));
	return true;
}

static enum outcome identify_token(const struct identity *identity, bool *recognised)
{
	struct str token;

	*recognised = find_token(identity->request, &token);
	if (!*recognised)
		return OUTCOME_OK;
	return token_check(identity->auth->tokens, identity->db, identity->pool, token, identity->principal,
		identity->detail);
}

// ---- noauth

static bool is_name(struct str s)
{
	return str_utf8_ok(s, NULL) && str_find(s, '\0', 0) == s.n && str_utf8_length(s) <= MAX_NAME;
}

static bool decode_name(struct pool *pool, struct str part, struct str *name)
{
	return uri_decode(pool, part, name) && name->n > 0 && str_utf8_length(*name) <= MAX_NAME;
}

static bool parse_noauth(struct pool *pool, struct str token, struct principal *principal)
{
	struct str rest = token, user, tenant, role;
	enum role parsed = ROLE_ADMIN;

	if (!str_split(&rest, ':', &user) || !decode_name(pool, user, &principal->user))
		return false;
	principal->role = str_eq_c(token, "admin") ? ROLE_OPERATOR : ROLE_ADMIN;
	if (!str_split(&rest, ':', &tenant))
		return true;
	if (!decode_name(pool, tenant, &principal->tenant))
		return false;
	if (!str_split(&rest, ':', &role))
		return true;
	if (rest.p != NULL || !uri_decode(pool, role, &role) || !role_parse(role, &parsed) || parsed == ROLE_OPERATOR)
		return false;
	principal->role = parsed;
	return true;
}

static bool has_role(struct str roles, struct str role)
{
	struct str item;

	while (str_split(&roles, ',', &item)) {
		if (str_eq(str_trim(item), role))
			return true;
	}
	return false;
}

static void take_roles(const struct request *request, struct principal *principal)
{
	struct str roles = request_header(request, "x-roles"), project = request_header(request, "x-project-id");

	if (roles.p == NULL)
		return;
	principal->role = has_role(roles, STR("admin")) ? ROLE_OPERATOR : ROLE_NONE;
	principal->reads_all = has_role(roles, STR("reader")) &&
		str_eq(str_trim(request_header(request, "openstack-system-scope")), STR("all"));
	if (project.p != NULL && is_name(str_trim(project)))
		principal->tenant = str_trim(project);
}

static enum outcome identify_noauth(const struct identity *identity, bool *recognised)
{
	struct str token;

	*recognised = find_token(identity->request, &token);
	if (!*recognised)
		return OUTCOME_OK;
	if (parse_noauth(identity->pool, token, identity->principal)) {
		take_roles(identity->request, identity->principal);
		return OUTCOME_OK;
	}
	*identity->principal = (struct principal){ 0 };
	*identity->detail = STR("token must be USER[:TENANT[:ROLE]], percent-encoded parts of up to 255 characters, "
		"role reader, member or admin");
	return OUTCOME_UNAUTHENTICATED;
}

// ---- remote-user

static struct str remote_tenant(const struct endpoint_config *endpoint, struct str user)
{
	if (strcmp(endpoint->remote_user_tenant, "user") == 0)
		return user;
	for (size_t i = user.n; i > 0; i--) {
		if (user.p[i - 1] == '@')
			return str_part(user, i, user.n);
	}
	return STR("");
}

// Clients can cause it at will, so the log is told now and then only.
static void complain_unvouched(struct auth *auth, bool has_secret)
{
	int64_t now = clock_tick_us();

	if (auth->complained_us != 0 && now - auth->complained_us < COMPLAINT_INTERVAL_US)
		return;
	auth->complained_us = now;
	log_error("endpoint %s: the web server sent REMOTE_USER %s; refused. It has to send remote_user_secret as "
		"TENURE_REMOTE_USER_SECRET where it authenticates, and REMOTE_USER nowhere else: see httpd-conf/",
		auth->endpoint->name, has_secret ? "with another TENURE_REMOTE_USER_SECRET than remote_user_secret"
		: "without TENURE_REMOTE_USER_SECRET");
}

static enum outcome identify_remote_user(const struct identity *identity, bool *recognised)
{
	struct str user = identity->request->remote_user;
	struct principal *principal = identity->principal;

	*recognised = user.n > 0;
	if (!*recognised)
		return OUTCOME_OK;
	if (!digest_equal(identity->request->remote_user_secret, identity->auth->remote_secret)) {
		complain_unvouched(identity->auth, identity->request->remote_user_secret.n > 0);
		*identity->detail = STR("the web server named a user without vouching for the name; its configuration has to send "
			"TENURE_REMOTE_USER_SECRET where it authenticates");
		return OUTCOME_UNAUTHENTICATED;
	}
	if (!is_name(user)) {
		*identity->detail = STR("the user's name must have up to 255 characters, UTF-8 without NUL");
		return OUTCOME_UNAUTHENTICATED;
	}
	principal->user = str_dup(identity->pool, user);
	principal->role = identity->auth->remote_role;
	if (principal->role == ROLE_OPERATOR)
		return OUTCOME_OK;
	principal->tenant = str_dup(identity->pool, remote_tenant(identity->auth->endpoint, user));
	if (principal->tenant.n == 0)
		principal->role = ROLE_NONE; // somebody, of no tenant
	return OUTCOME_OK;
}

// ---- the endpoint's list

static const struct authenticator authenticators[] = {
	{ "token", "Bearer realm=\"tenure\"", identify_token },
	{ "remote-user", "Basic realm=\"tenure\"", identify_remote_user },
	{ "noauth", "Bearer realm=\"tenure\"", identify_noauth },
};

PRINTF_LIKE(1, 2) static char *message(const char *format, ...)
{
	va_list args;
	char *text = NULL;

	va_start(args, format);
	if (vasprintf(&text, format, args) < 0)
		abort();
	va_end(args);
	return text;
}

static const struct authenticator *find_authenticator(struct str name)
{
	for (size_t i = 0; i < COUNT_OF(authenticators); i++) {
		if (str_eq_c(name, authenticators[i].name))
			return &authenticators[i];
	}
	return NULL;
}

static char *read_methods(struct auth *auth)
{
	const struct endpoint_config *endpoint = auth->endpoint;
	struct str rest = str_c(endpoint->auth), item;

	while (str_split(&rest, ',', &item)) {
		const struct authenticator *found = find_authenticator(str_trim(item));

		if (found == NULL || auth->n_methods == MAX_METHODS)
			return message("endpoint %s: auth: \"%.*s\" is none of token, remote-user, noauth", endpoint->name,
				STR_ARG(str_trim(item)));
		auth->methods[auth->n_methods++] = found;
	}
	return NULL;
}

static bool uses(const struct auth *auth, const char *name)
{
	for (size_t i = 0; i < auth->n_methods; i++) {
		if (strcmp(auth->methods[i]->name, name) == 0)
			return true;
	}
	return false;
}

static char *read_default_tenant(struct auth *auth, const struct config *config)
{
	const char *reserved = realm_reserved(str_c(config->default_tenant));

	if (reserved != NULL)
		return message("default_tenant: %s", reserved);
	auth->default_tenant = str_c(config->default_tenant);
	return NULL;
}

// Characters that need no quoting in any web server's configuration: what openssl rand -hex or -base64 prints.
static bool is_secret(struct str secret)
{
	for (size_t i = 0; i < secret.n; i++) {
		char c = secret.p[i];
		if (!(c >= 'a' && c <= 'z') && !(c >= 'A' && c <= 'Z') && !(c >= '0' && c <= '9') && strchr("+/=-_.~", c) == NULL)
			return false;
	}
	return secret.n >= SECRET_LEAST;
}

static char *read_remote_user(struct auth *auth)
{
	const struct endpoint_config *endpoint = auth->endpoint;

	if (!uses(auth, "remote-user"))
		return NULL;
	auth->remote_secret = str_c(endpoint->remote_user_secret);
	if (auth->remote_secret.n == 0)
		return message("endpoint %s: auth = remote-user needs remote_user_secret, by which the web server vouches for "
			"REMOTE_USER: set it to what `openssl rand -hex 32` prints, and have the web server send the same as parameter "
			"TENURE_REMOTE_USER_SECRET, only where it authenticates; the files of httpd-conf/ show how", endpoint->name);
	if (!is_secret(auth->remote_secret))
		return message("endpoint %s: remote_user_secret must be %d characters or more of A-Z a-z 0-9 + / = - _ . ~, such as "
			"`openssl rand -hex 32` prints", endpoint->name, SECRET_LEAST);
	if (!role_parse(str_c(endpoint->remote_user_role), &auth->remote_role))
		return message("endpoint %s: remote_user_role: \"%s\" is none of reader, member, admin, operator",
			endpoint->name, endpoint->remote_user_role);
	if (strcmp(endpoint->remote_user_tenant, "user") != 0 && strcmp(endpoint->remote_user_tenant, "domain") != 0)
		return message("endpoint %s: remote_user_tenant: \"%s\" is neither user nor domain", endpoint->name,
			endpoint->remote_user_tenant);
	return NULL;
}

struct auth *auth_new(const struct config *config, const struct endpoint_config *endpoint, char **error)
{
	struct auth *auth = calloc(1, sizeof(*auth));

	if (auth == NULL)
		abort();
	auth->endpoint = endpoint;
	auth->tokens = token_cache_new(config->token_cache);
	*error = read_default_tenant(auth, config);
	if (*error == NULL)
		*error = read_methods(auth);
	if (*error == NULL)
		*error = read_remote_user(auth);
	if (*error != NULL)
		auth_free(&auth);
	else if (uses(auth, "noauth"))
		log_warning("endpoint %s believes every token (auth = noauth): for development only", endpoint->name);
	return auth;
}

void auth_free(struct auth **auth)
{
	if (*auth == NULL)
		return;
	token_cache_free(&(*auth)->tokens);
	free(*auth);
	*auth = NULL;
}

// Where those who say who asks don't say of which tenant.
static void set_default_tenant(const struct auth *auth, struct principal *principal)
{
	if (auth->default_tenant.n == 0 || principal->tenant.n > 0 || principal->role == ROLE_OPERATOR)
		return;
	principal->tenant = auth->default_tenant;
	if (principal->role == ROLE_NONE)
		principal->role = auth->remote_role;
}

// Nobody belongs to a tenant of a reserved name, whichever authenticator says so.
static enum outcome check_tenant(const struct principal *principal, struct str *detail)
{
	const char *reserved = realm_reserved(principal->tenant);

	if (principal->role == ROLE_OPERATOR || reserved == NULL)
		return OUTCOME_OK;
	*detail = str_c(reserved);
	return OUTCOME_FORBIDDEN;
}

enum outcome auth_identify(struct auth *auth, struct db *db, struct pool *pool, const struct request *request,
	struct principal *principal, struct str *detail)
{
	struct identity identity = { auth, db, pool, request, principal, detail };

	*principal = (struct principal){ 0 };
	*detail = STR_NONE;
	for (size_t i = 0; i < auth->n_methods; i++) {
		bool recognised = false;
		enum outcome outcome = auth->methods[i]->identify(&identity, &recognised);

		if (!recognised)
			continue;
		if (outcome == OUTCOME_OK)
			set_default_tenant(auth, principal);
		return outcome == OUTCOME_OK ? check_tenant(principal, detail) : outcome;
	}
	return OUTCOME_OK;
}

struct str auth_token(const struct request *request)
{
	struct str token;

	return find_token(request, &token) ? token : STR("");
}

bool auth_has_asked(const struct auth *auth)
{
	return token_has_asked(auth->tokens);
}

const char *auth_challenge(const struct auth *auth)
{
	return auth->methods[0]->challenge;
}

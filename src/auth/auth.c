// SPDX-License-Identifier: Apache-2.0
// Runs an endpoint's authenticators, in the order of its configuration.
#include "base/base.h"

#include "auth/core/authenticator.h"
#include "auth/core/settings.h"
#include "base/buf.h"
#include "base/config/config.h"
#include "base/memory.h"
#include "base/pool.h"

enum { MAX_ACTIVE = 8 };

static const struct {
	const char *name;
	const struct authenticator *authenticator;
} authenticators[] = {
#define AUTHENTICATOR(symbol, name) { name, &symbol##_authenticator },
#include "auth/core/authenticators.def"
#undef AUTHENTICATOR
};

const struct config_table *auth_table(size_t i)
{
	for (size_t a = 0; a < COUNT_OF(authenticators); a++) {
		const struct config_table *const *tables = authenticators[a].authenticator->tables;

		for (; tables != NULL && *tables != NULL; tables++) {
			if (i-- == 0)
				return *tables;
		}
	}
	return NULL;
}

// An authenticator of the endpoint's list.
struct active_authenticator {
	const struct authenticator *authenticator;
	void *state; // what its open() returned
};

struct auth {
	const struct endpoint_config *endpoint;
	struct active_authenticator active[MAX_ACTIVE];
	size_t n_active;
	struct str default_tenant; // "": none
	const struct active_authenticator *decided_by; // the authenticator that decided last; NULL: none did
};

// ---- the endpoint's list of authenticators

static char *fail_unknown(const struct endpoint_config *endpoint, struct str name)
{
	const char *names = "" // each name has a comma in front
#define AUTHENTICATOR(symbol, name) ", " name
#include "auth/core/authenticators.def"
#undef AUTHENTICATOR
		;

	return auth_message("endpoint %s: auth: \"%.*s\" is none of %s", endpoint->name, STR_ARG(name), names + 2);
}

static char *add_authenticator(struct auth *auth, const struct auth_setup *setup, struct str name)
{
	struct active_authenticator *active = &auth->active[auth->n_active];
	char *error = NULL;
	size_t i = 0;

	while (i < COUNT_OF(authenticators) && !str_eq_c(name, authenticators[i].name))
		i++;
	if (i == COUNT_OF(authenticators) || auth->n_active == MAX_ACTIVE)
		return fail_unknown(auth->endpoint, name);
	auth->n_active++;
	active->authenticator = authenticators[i].authenticator;
	if (active->authenticator->open != NULL)
		active->state = active->authenticator->open(setup, &error);
	return error;
}

static char *read_authenticators(struct auth *auth, const struct auth_setup *setup)
{
	struct str rest = str_c(auth_endpoint_settings(auth->endpoint)->auth), item;
	char *error = NULL;

	while (error == NULL && str_split(&rest, ',', &item))
		error = add_authenticator(auth, setup, str_trim(item));
	return error;
}

static char *read_default_tenant(struct auth *auth, const struct config *config)
{
	const char *reserved = realm_reserved(str_c(auth_settings(config)->default_tenant));

	if (reserved != NULL)
		return auth_message("default_tenant: %s", reserved);
	auth->default_tenant = str_c(auth_settings(config)->default_tenant);
	return NULL;
}

struct auth *auth_new(const struct auth_setup *setup, char **error)
{
	struct auth *auth = memory_zeroed(1, sizeof(*auth));

	auth->endpoint = setup->endpoint;
	*error = read_default_tenant(auth, setup->config);
	if (*error == NULL)
		*error = read_authenticators(auth, setup);
	if (*error != NULL)
		auth_free(&auth);
	return auth;
}

void auth_free(struct auth **auth)
{
	if (*auth == NULL)
		return;
	for (size_t i = 0; i < (*auth)->n_active; i++) {
		const struct active_authenticator *active = &(*auth)->active[i];
		if (active->authenticator->close != NULL)
			active->authenticator->close(active->state);
	}
	free(*auth);
	*auth = NULL;
}

// Applies default_tenant if the credential names no tenant.
static void set_default_tenant(const struct auth *auth, const struct active_authenticator *active, struct principal *principal)
{
	if (auth->default_tenant.n == 0 || principal->tenant.n > 0 || principal->role == ROLE_OPERATOR)
		return;
	principal->tenant = auth->default_tenant;
	if (principal->role == ROLE_NONE && active->authenticator->default_role != NULL)
		principal->role = active->authenticator->default_role(active->state);
}

// No user belongs to a tenant of a reserved name, whatever an authenticator returned.
static enum outcome check_tenant(const struct principal *principal, struct str *detail)
{
	const char *reserved = realm_reserved(principal->tenant);

	if (principal->role == ROLE_OPERATOR || reserved == NULL)
		return OUTCOME_OK;
	*detail = str_c(reserved);
	return OUTCOME_FORBIDDEN;
}

static bool reads_tokens(const struct authenticator *authenticator)
{
	for (const char *const *name = authenticator->headers; *name != NULL; name++) {
		if (strcmp(*name, auth_token_headers[0]) == 0)
			return true;
	}
	return false;
}

// Could a token of this form be one of this authenticator's?
static bool may_know(const struct authenticator *authenticator, struct pool *pool, struct str token)
{
	return reads_tokens(authenticator) && (authenticator->has_form == NULL || authenticator->has_form(pool, token));
}

// Is the request's token, by its form, for an authenticator that comes behind this one? A token that none of them could have made
// is never passed on to one that reads no tokens: otherwise a request with a wrong token would be done as the user whom the web
// server names.
static bool is_for_another(const struct auth *auth, size_t i, struct pool *pool, const struct request *request)
{
	const struct authenticator *authenticator = auth->active[i].authenticator;
	struct str token;

	if (authenticator->has_form == NULL || i + 1 == auth->n_active || !auth_read_token(request, &token) ||
		authenticator->has_form(pool, token))
		return false;
	bool found = reads_tokens(auth->active[i + 1].authenticator); // which has its own turn, and refuses the token if it is nobody's

	for (size_t j = i + 2; j < auth->n_active && !found; j++)
		found = may_know(auth->active[j].authenticator, pool, token);
	return found;
}

enum outcome auth_identify(struct auth *auth, const struct auth_question *question, struct principal *principal,
	struct str *detail)
{
	assert(auth != NULL && question->request != NULL && principal != NULL && detail != NULL);
	const struct identity identity = {
		.db = question->db,
		.pool = question->pool,
		.request = question->request,
		.dialect = question->dialect,
		.may_wait = question->may_wait,
		.principal = principal,
		.detail = detail,
	};

	*principal = (struct principal){ 0 };
	*detail = STR_NONE;
	auth->decided_by = NULL;
	for (size_t i = 0; i < auth->n_active; i++) {
		const struct active_authenticator *active = &auth->active[i];
		bool recognised = false;

		if (is_for_another(auth, i, question->pool, question->request))
			continue;
		enum outcome outcome = active->authenticator->identify(active->state, &identity, &recognised);

		if (!recognised)
			continue;
		auth->decided_by = active;
		if (outcome == OUTCOME_OK)
			set_default_tenant(auth, active, principal);
		return outcome == OUTCOME_OK ? check_tenant(principal, detail) : outcome;
	}
	return OUTCOME_OK;
}

struct str auth_token(const struct request *request)
{
	struct str token;

	return auth_read_token(request, &token) ? token : STR("");
}

// ---- the header fields that a watch keeps

static void add_header_line(const struct request *request, const char *name, struct buf *lines)
{
	struct str value = request_header(request, name), rest = buf_str(lines), line;

	if (value.p == NULL)
		return;
	while (str_split(&rest, '\n', &line)) { // several authenticators may read the same field, which is added once
		if (str_eq_c(str_part(line, 0, str_find(line, ':', 0)), name))
			return;
	}
	buf_addf(lines, "%s:%.*s\n", name, STR_ARG(value));
}

struct str auth_header_lines(struct pool *pool, const struct request *request)
{
	struct buf lines = buf_new(pool, 256);

	for (size_t i = 0; i < COUNT_OF(authenticators); i++) {
		for (const char *const *name = authenticators[i].authenticator->headers; *name != NULL; name++)
			add_header_line(request, *name, &lines);
	}
	return buf_str(&lines);
}

bool auth_has_validated(const struct auth *auth)
{
	const struct active_authenticator *active = auth->decided_by;

	return active != NULL && active->authenticator->has_validated != NULL &&
		active->authenticator->has_validated(active->state);
}

bool auth_refused_a_good_token(const struct auth *auth)
{
	const struct active_authenticator *active = auth->decided_by;

	return active != NULL && active->authenticator->refused_a_good_token != NULL &&
		active->authenticator->refused_a_good_token(active->state);
}

void auth_forget(struct auth *auth)
{
	auth->decided_by = NULL;
}

const char *auth_challenge(const struct auth *auth)
{
	const struct active_authenticator *active = auth->decided_by != NULL ? auth->decided_by : &auth->active[0];
	const struct authenticator *authenticator = active->authenticator;

	// What challenge_of() says may be about the last request that this authenticator has decided.
	if (authenticator->challenge_of == NULL || (auth->decided_by == NULL && authenticator->challenge != NULL))
		return authenticator->challenge;
	return authenticator->challenge_of(active->state);
}

// SPDX-License-Identifier: Apache-2.0
// Authenticator for development: the token itself names user, tenant and role (auth/core/auth.h).
#include "base/base.h"

#include "auth/core/authenticator.h"
#include "base/config/config.h"
#include "base/log.h"
#include "http/uri.h"

static bool decode_name(struct pool *pool, struct str part, struct str *name)
{
	return uri_decode(pool, part, name) && name->n > 0 && str_utf8_length(*name) <= AUTH_MAX_NAME;
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
	if (!str_split(&rest, ':', &role)) {
		// As Placement's own authenticator for development: the user "admin" has the role "admin" in every project. Only
		// if the token names no role.
		principal->has_roles = str_eq(principal->user, STR("admin"));
		principal->roles = STR("admin");
		principal->project = principal->tenant;
		return true;
	}
	if (rest.p != NULL || !uri_decode(pool, role, &role) || !role_parse(role, &parsed) || parsed == ROLE_OPERATOR)
		return false;
	principal->role = parsed;
	return true;
}

// The scope is the system if the header says so, otherwise the project of X-Project-Id, or the token's tenant.
static void take_roles(const struct request *request, struct principal *principal)
{
	struct str roles = request_header(request, "x-roles"), project = request_header(request, "x-project-id");

	if (roles.p == NULL)
		return;
	if (project.p != NULL && auth_is_name(str_trim(project)))
		principal->tenant = str_trim(project);
	principal->has_roles = true;
	principal->roles = roles;
	principal->system_scope = str_eq(str_trim(request_header(request, "openstack-system-scope")), STR("all"));
	principal->project = principal->system_scope ? STR("") : principal->tenant;
	const struct openstack_scope scope = principal_openstack(principal);
	principal->role = principal_has_openstack_role(&scope, STR("admin")) ? ROLE_OPERATOR : ROLE_NONE;
	principal->reads_all = principal->system_scope && principal_has_openstack_role(&scope, STR("reader"));
}

static enum outcome identify(void *state, const struct identity *identity, bool *recognised)
{
	struct str token;

	UNUSED(state);
	*recognised = auth_read_token(identity->request, &token);
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

static void *warn(const struct auth_setup *setup, char **error)
{
	UNUSED(error);
	log_warning("endpoint %s believes every token (auth = noauth): for development only", setup->endpoint->name);
	return NULL;
}

static const char *const headers[] = { "x-auth-token", "authorization", "x-roles", "x-project-id", "openstack-system-scope",
	NULL };

const struct authenticator noauth_authenticator = {
	.challenge = "Bearer realm=\"tenure\"",
	.headers = headers,
	.open = warn,
	.identify = identify,
};

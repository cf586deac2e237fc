// SPDX-License-Identifier: Apache-2.0
// An authenticator that Tenure does not have: t/463-new-authenticator.t adds it to a build by this file and the row beside it.
// X-Stamp names the user, who belongs to the tenant of the same name if the setting stamp_tenant is "user".
#include "base/base.h"

#include "auth/core/authenticator.h"
#include "base/config/config.h"
#include "base/config/setting.h"

struct stamp_settings {
	const char *tenant;
};

#define ENDPOINT(key, type, member, ...) SETTING_ROW("endpoint", key, type, stamp_settings, member, __VA_ARGS__)

static const struct setting rows[] = {
	ENDPOINT("stamp_tenant", CHOICE, tenant, "none", 0, 0, "none,user", "The tenant of users with a stamp."),
};
static const struct config_table stamp_table = {
	.settings = rows, .n = COUNT_OF(rows), .size = sizeof(struct stamp_settings), .of_endpoint = true,
};
static const struct config_table *const tables[] = { &stamp_table, NULL };

// Do users have a tenant? The settings of the endpoint are the state.
static void *open_stamp(const struct auth_setup *setup, char **error)
{
	UNUSED(error);
	return config_endpoint_values(setup->endpoint, &stamp_table);
}

static enum outcome identify(void *state, const struct identity *identity, bool *recognised)
{
	struct str name = request_header(identity->request, "x-stamp");
	const struct stamp_settings *settings = state;

	*recognised = name.p != NULL;
	if (!*recognised)
		return OUTCOME_OK;
	*identity->detail = STR("X-Stamp must be the name of a user");
	if (!auth_is_name(name))
		return OUTCOME_UNAUTHENTICATED;
	identity->principal->user = name;
	if (strcmp(settings->tenant, "user") == 0) {
		identity->principal->tenant = name;
		identity->principal->role = ROLE_ADMIN;
	}
	return OUTCOME_OK;
}

static const char *const headers[] = { "x-stamp", NULL };

const struct authenticator stamp_authenticator = {
	.challenge = "Stamp realm=\"tenure\"",
	.headers = headers,
	.tables = tables,
	.open = open_stamp,
	.identify = identify,
};

// SPDX-License-Identifier: Apache-2.0
#include "base/base.h"

#include "auth/core/auth.h"
#include "auth/core/settings.h"
#include "base/config/config.h"
#include "base/config/setting.h"

#define TENURE(key, type, member, ...) SETTING_ROW("tenure", key, type, auth_settings, member, __VA_ARGS__)

static const struct setting auth_rows[] = {
	TENURE("default_tenant", TEXT, default_tenant, "", 0, 255, NULL,
		"The tenant of users whose credential names none. Empty: such users have no tenant."),
	TENURE("token_cache", NUMBER, token_cache, "1000", 0, AUTH_REVALIDATE_MOST_S * 1000, NULL,
		"Milliseconds for which a validated token is cached. 0: the database is asked for every request."),
	TENURE("tenant_tokens", NUMBER, tenant_tokens, "1000", 0, 1000000, NULL,
		"Tokens that a tenant may have by the API, those that have ended and are not purged yet included. 0: the API makes none."),
	TENURE("session_idle", SECONDS, session_idle, "1800", 1, SETTING_DAY, NULL,
		"A session of the console ends when it was not used for this long."),
	TENURE("session_max", SECONDS, session_max, "36000", 1, 7 * SETTING_DAY, NULL,
		"A session of the console ends after this time in any case."),
	TENURE("session_count", NUMBER, session_count, "8", 1, 1000, NULL,
		"Sessions of the console that one user may have; beyond them, the one that was not used for the longest time ends."),
};

const struct config_table auth_settings_table = {
	.settings = auth_rows, .n = COUNT_OF(auth_rows), .size = sizeof(struct auth_settings),
};

const struct auth_settings *auth_settings(const struct config *config)
{
	return config_values(config, &auth_settings_table);
}

// The choices of the setting auth, each after a comma: ",token,remote-user,…".
static const char authenticator_names[] =
#define AUTHENTICATOR(symbol, name) "," name
#include "auth/core/authenticators.def"
#undef AUTHENTICATOR
	;

#define ENDPOINT(key, type, member, ...) SETTING_ROW("endpoint", key, type, auth_endpoint_settings, member, __VA_ARGS__)

static const struct setting auth_endpoint_rows[] = {
	ENDPOINT("auth", LIST, auth, "token", 0, 0, authenticator_names + 1,
		"Authenticators, comma-separated, tried in this order. noauth is for development only."),
};

const struct config_table auth_endpoint_settings_table = {
	.settings = auth_endpoint_rows, .n = COUNT_OF(auth_endpoint_rows), .size = sizeof(struct auth_endpoint_settings), .of_endpoint = true,
};

const struct auth_endpoint_settings *auth_endpoint_settings(const struct endpoint_config *endpoint)
{
	return config_endpoint_values(endpoint, &auth_endpoint_settings_table);
}

// SPDX-License-Identifier: Apache-2.0
// The settings that all authenticators share. One that only a single authenticator has stands in a table of that authenticator
// (auth/core/authenticator.h).
#ifndef TENURE_AUTH_CORE_SETTINGS_H
#define TENURE_AUTH_CORE_SETTINGS_H

struct config;
struct config_table;
struct endpoint_config;

struct auth_settings {
	const char *default_tenant; // tenant of users whose credential names none; "": they have no tenant
	unsigned token_cache;       // milliseconds for which a validated token is cached; 0: no cache
	unsigned tenant_tokens;     // tokens that a tenant may have; 0: none is made by API
	unsigned session_idle;      // seconds for which a session of the console lasts without being used
	unsigned session_max;       // seconds after which it ends in any case
	unsigned session_count;     // sessions that one user may have
};
extern const struct config_table auth_settings_table;
const struct auth_settings *auth_settings(const struct config *config);

struct auth_endpoint_settings {
	const char *auth; // names of auth/core/authenticators.def, comma-separated, tried in this order
};
extern const struct config_table auth_endpoint_settings_table;
const struct auth_endpoint_settings *auth_endpoint_settings(const struct endpoint_config *endpoint);

#endif

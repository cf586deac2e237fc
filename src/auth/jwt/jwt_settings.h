// SPDX-License-Identifier: Apache-2.0
// The settings of the authenticator jwt.
#ifndef TENURE_AUTH_JWT_JWT_SETTINGS_H
#define TENURE_AUTH_JWT_JWT_SETTINGS_H

struct config;
struct config_table;

// "" where nothing is said.
struct jwt_settings {
	const char *issuer;
	const char *audience;          // with commas
	const char *keys_file;
	const char *jwks_url;
	const char *ca_file;
	unsigned timeout;              // seconds, default 5
	unsigned keys_refresh;         // seconds after which keys are fetched again, default an hour
	unsigned keys_lifetime;        // seconds for which keys are used without that, default a day
	unsigned keys_retry;           // seconds between two fetches for unknown key ids, default 30
	const char *algorithms;        // names of signature_names, with commas
	const char *type;              // what "typ" has to be; "": JWT, at+jwt or none
	unsigned leeway;               // seconds that clocks may differ, default 30
	const char *user_claim;        // a name, or a path that begins with a slash
	const char *tenant_claim;
	const char *roles_claim;
	const char *roles;             // "NAME:ROLE", with commas
	const char *operator_roles;    // with commas
	const char *create_tenants;    // yes | no
};
extern const struct config_table jwt_settings_table;
const struct jwt_settings *jwt_settings(const struct config *config);

#endif

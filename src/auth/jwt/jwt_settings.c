// SPDX-License-Identifier: Apache-2.0
#include "base/base.h"

#include "auth/jwt/jwt_settings.h"
#include "base/config/config.h"
#include "base/config/setting.h"

#define JWT(key, type, member, ...) SETTING_ROW("jwt", key, type, jwt_settings, member, __VA_ARGS__)

static const struct setting jwt_rows[] = {
	JWT("issuer", TEXT, issuer, "", 0, SETTING_TEXT_MAX, NULL,
		"Who issues the tokens: exactly what their claim iss says, mostly an address by https. Required with auth = jwt."),
	JWT("audience", TEXT, audience, "", 0, SETTING_TEXT_MAX, NULL,
		"Names of this service, comma-separated, one of which the claim aud of a token must have. Required with auth = jwt."),
	JWT("keys_file", TEXT, keys_file, "", 0, SETTING_TEXT_MAX, NULL,
		"File with the issuer's public keys, a JSON Web Key Set or PEM; read at the start and on SIGHUP. Empty: they are fetched."),
	JWT("jwks_url", URLS, jwks_url, "", 0, SETTING_TEXT_MAX, NULL,
		"Address of the issuer's JSON Web Key Set. Empty, and no keys_file: the address is in the issuer's discovery document, below "
		"/.well-known/openid-configuration."),
	JWT("ca_file", TEXT, ca_file, "", 0, SETTING_TEXT_MAX, NULL,
		"PEM file with the certificate authorities to trust when keys are fetched. Empty: those of the system."),
	JWT("timeout", SECONDS, timeout, "5", 1, 60, NULL,
		"Longest time that fetching keys takes. A request waits for half of it at most, and while the issuer is away not at all."),
	JWT("keys_refresh", SECONDS, keys_refresh, "1h", 1, 30 * SETTING_DAY, NULL,
		"Age at which keys are fetched again, in the background."),
	JWT("keys_lifetime", SECONDS, keys_lifetime, "1d", 1, 365 * SETTING_DAY, NULL,
		"Age up to which keys are used while fetching them fails."),
	JWT("keys_retry", SECONDS, keys_retry, "30", 1, SETTING_DAY, NULL,
		"Keys younger than this are not fetched again because a token names an unknown key."),
	JWT("algorithms", LIST, algorithms, "RS256,PS256,ES256,EdDSA", 0, 0,
		"RS256,RS384,RS512,PS256,PS384,PS512,ES256,ES384,ES512,EdDSA",
		"Algorithms of signatures that are accepted, comma-separated."),
	JWT("type", TEXT, type, "", 0, 255, NULL,
		"What the header parameter typ of a token must be, such as at+jwt for access tokens alone. Empty: JWT, at+jwt, or none."),
	JWT("leeway", SECONDS, leeway, "30", 0, SETTING_HOUR, NULL,
		"How much the issuer's clock may differ."),
	JWT("user_claim", TEXT, user_claim, "sub", 1, 255, NULL,
		"The claim that names the user: its name, or a path of names, each after a slash: /ext/user."),
	JWT("tenant_claim", TEXT, tenant_claim, "tenant", 1, 255, NULL,
		"The claim that names the user's tenant."),
	JWT("roles_claim", TEXT, roles_claim, "roles", 1, 255, NULL,
		"The claim with the user's roles: a list, or a text with blanks between them, such as scope. For Keycloak: /realm_access/roles."),
	JWT("roles", TEXT, roles, "reader:reader,member:member,admin:admin", 0, SETTING_TEXT_MAX, NULL,
		"Which role of a token gives which role in the tenant: NAME:reader, NAME:member or NAME:admin, comma-separated. The "
		"highest counts; other roles give nothing."),
	JWT("operator_roles", TEXT, operator_roles, "", 0, SETTING_TEXT_MAX, NULL,
		"Roles of a token, comma-separated, that make its user an operator, who may do everything in every tenant. Empty: none does."),
	JWT("create_tenants", CHOICE, create_tenants, "no", 0, 0, "no,yes",
		"yes: the tenant that a token names is created when it is used first."),
};

const struct config_table jwt_settings_table = {
	.settings = jwt_rows, .n = COUNT_OF(jwt_rows), .size = sizeof(struct jwt_settings),
};

const struct jwt_settings *jwt_settings(const struct config *config)
{
	return config_values(config, &jwt_settings_table);
}

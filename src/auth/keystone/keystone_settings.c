// SPDX-License-Identifier: Apache-2.0
#include "base/base.h"

#include "auth/core/auth.h"
#include "auth/keystone/keystone_settings.h"
#include "base/config/config.h"
#include "base/config/setting.h"

#define KEYSTONE(key, type, member, ...) SETTING_ROW("keystone", key, type, keystone_settings, member, __VA_ARGS__)

static const struct setting keystone_rows[] = {
	KEYSTONE("auth_url", URLS, auth_url, "", 0, SETTING_TEXT_MAX, NULL,
		"Address of OpenStack's Identity service (Keystone), with or without /v3. Required with auth = keystone."),
	KEYSTONE("www_authenticate_uri", URLS, challenge, "", 0, SETTING_TEXT_MAX, NULL,
		"Address of the Identity service that clients are told with 401. Empty: auth_url."),
	KEYSTONE("username", TEXT, username, "", 0, 255, NULL,
		"The service user, who may validate tokens: role service or admin on its project."),
	KEYSTONE("user_domain_name", TEXT, user_domain, "Default", 1, 255, NULL,
		"Name of that user's domain."),
	KEYSTONE("password", SECRET, password, "", 0, SETTING_TEXT_MAX, NULL,
		"That user's password; @FILE reads it from a file."),
	KEYSTONE("project_name", TEXT, project, "service", 0, 255, NULL,
		"Name of the project that the service user logs in to."),
	KEYSTONE("project_domain_name", TEXT, project_domain, "Default", 1, 255, NULL,
		"Name of that project's domain."),
	KEYSTONE("application_credential_id", TEXT, credential_id, "", 0, 255, NULL,
		"Id of an application credential of the service user, in place of username and password."),
	KEYSTONE("application_credential_secret", SECRET, credential_secret, "", 0, SETTING_TEXT_MAX, NULL,
		"That credential's secret; @FILE reads it from a file."),
	KEYSTONE("ca_file", TEXT, ca_file, "", 0, SETTING_TEXT_MAX, NULL,
		"PEM file with the certificate authorities to trust for an https auth_url. Empty: those of the system."),
	KEYSTONE("timeout", SECONDS, timeout, "5", 1, 60, NULL,
		"Longest time that a request waits for Keystone's answer about its tokens. Where there is none, a second is added at most, to see "
		"whether Keystone answers about other tokens."),
	KEYSTONE("token_cache_time", SECONDS, cache, "30", 0, AUTH_REVALIDATE_MOST_S, NULL,
		"How long a validated token is cached for all workers of the host; a revoked token, or a role taken away, counts for "
		"so long. 0: Keystone is asked for every request."),
	KEYSTONE("invalid_cache_time", SECONDS, bad_cache, "5", 0, SETTING_HOUR, NULL,
		"How long it is cached that a token is invalid."),
	KEYSTONE("max_waiting", NUMBER, waiting, "0", 0, 1024, NULL,
		"Workers of an endpoint that may wait for Keystone at a time; further requests wait a fifth of timeout for a place, half a "
		"second at most while Keystone answers nobody, then get 503. Those that wait for the keys of jwt count as well. 0: all but one."),
	KEYSTONE("roles", TEXT, roles, "reader:reader,member:member,manager:member,admin:admin", 0, SETTING_TEXT_MAX, NULL,
		"Which role of Keystone gives which role in the project's tenant: NAME:reader, NAME:member or NAME:admin, "
		"comma-separated. The highest counts."),
	KEYSTONE("service_token_roles", TEXT, service_roles, "service", 0, SETTING_TEXT_MAX, NULL,
		"Roles, comma-separated, one of which X-Service-Token must have so that the user's own token may have expired."),
	KEYSTONE("operator_roles", TEXT, operator_roles, "admin,service", 0, SETTING_TEXT_MAX, NULL,
		"Roles, comma-separated, that count as operator in the dialects of operator_dialects, on whichever project. "
		"For service in baremetal see service_projects."),
	KEYSTONE("operator_dialects", LIST, operator_dialects, "placement,baremetal", 0, 0,
		"none,placement,baremetal,tenancy,spaces",
		"Dialects in which operator_roles count as operator, comma-separated. With tenancy or spaces here, the admin of any "
		"project reads and changes what is every tenant's."),
	KEYSTONE("service_projects", TEXT, service_projects, "service", 0, SETTING_TEXT_MAX, NULL,
		"Names of projects of the domain project_domain_name, comma-separated: in baremetal, the role service counts as operator on "
		"these and on the system scope alone, and as member of its tenant on other projects. Empty: on whichever project."),
	KEYSTONE("operator_projects", TEXT, operator_projects, "", 0, SETTING_TEXT_MAX, NULL,
		"Ids of projects, comma-separated, whose admins are operators in all dialects."),
	KEYSTONE("system_admin_is_operator", CHOICE, system_operator, "yes", 0, 0, "no,yes",
		"yes: the role admin on the system is the operator in all dialects."),
	KEYSTONE("create_tenants", CHOICE, create_tenants, "no", 0, 0, "no,yes",
		"yes: the tenant of a project is created when a token of the project is used first; its name is the project's id."),
};

const struct config_table keystone_settings_table = {
	.settings = keystone_rows, .n = COUNT_OF(keystone_rows), .size = sizeof(struct keystone_settings),
};

const struct keystone_settings *keystone_settings(const struct config *config)
{
	return config_values(config, &keystone_settings_table);
}

// SPDX-License-Identifier: Apache-2.0
// The settings of the authenticator keystone.
#ifndef TENURE_AUTH_KEYSTONE_KEYSTONE_SETTINGS_H
#define TENURE_AUTH_KEYSTONE_KEYSTONE_SETTINGS_H

struct config;
struct config_table;

struct keystone_settings {
	const char *auth_url;
	const char *challenge;         // www_authenticate_uri
	const char *username;
	const char *user_domain;       // names of domains and projects, not ids
	const char *password;
	const char *project;
	const char *project_domain;
	const char *credential_id;
	const char *credential_secret;
	const char *ca_file;
	unsigned timeout;              // seconds
	unsigned cache;                // seconds for which a valid token is cached
	unsigned bad_cache;            // seconds for which an invalid token is cached
	unsigned waiting;              // workers of an endpoint that wait at a time; 0: all but one
	const char *roles;             // "NAME:ROLE", with commas
	const char *service_roles;     // of X-Service-Token
	const char *operator_roles;    // roles of which one makes its holder an operator
	const char *operator_dialects; // in these dialects, whatever the project
	const char *service_projects;  // names; but in bare metal the role service only on these and on the system scope
	const char *operator_projects; // ids of projects whose admins are operators everywhere
	const char *system_operator;   // yes | no: admins of the system scope are operators everywhere
	const char *create_tenants;    // yes | no
};
extern const struct config_table keystone_settings_table;
const struct keystone_settings *keystone_settings(const struct config *config);

#endif

// SPDX-License-Identifier: Apache-2.0
// The settings of the authenticator remote-user.
#ifndef TENURE_AUTH_REMOTE_USER_H
#define TENURE_AUTH_REMOTE_USER_H

struct config;
struct config_table;
struct endpoint_config;

struct remote_user_settings {
	const char *secret; // secret by which the web server vouches for REMOTE_USER; required with remote-user
	const char *role;   // reader | member | admin | operator
	const char *tenant; // user (the tenant has the user's name) | domain (the part of the user's name after the last @)
};
extern const struct config_table remote_user_settings_table;
const struct remote_user_settings *remote_user_settings(const struct endpoint_config *endpoint);

#endif

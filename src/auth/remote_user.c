// SPDX-License-Identifier: Apache-2.0
// Authenticator for users whom the web server has authenticated: REMOTE_USER (auth/core/auth.h).
#include "base/base.h"

#include "auth/core/authenticator.h"
#include "auth/remote_user.h"
#include "base/clock.h"
#include "base/config/config.h"
#include "base/config/setting.h"
#include "base/digest.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/pool.h"

enum { COMPLAINT_INTERVAL_US = 60 * 1000 * 1000 }; // between two log lines about REMOTE_USER without the right secret

struct remote_user {
	const struct endpoint_config *endpoint;
	enum role role;
	struct str secret;
	int64_t complained_us; // clock_tick_us() when that was logged last; 0: never
};

static struct str remote_tenant(const struct remote_user_settings *settings, struct str user)
{
	if (strcmp(settings->tenant, "user") == 0)
		return user;
	for (size_t i = user.n; i > 0; i--) {
		if (user.p[i - 1] == '@')
			return str_part(user, i, user.n);
	}
	return STR("");
}

// Clients can send REMOTE_USER without the secret at any rate, so it is logged only once in a while.
static void complain_unvouched(struct remote_user *remote, bool has_secret)
{
	int64_t now = clock_tick_us();

	if (remote->complained_us != 0 && now - remote->complained_us < COMPLAINT_INTERVAL_US)
		return;
	remote->complained_us = now;
	log_error("endpoint %s: the web server sent REMOTE_USER %s; refused. It has to send remote_user_secret as "
		"TENURE_REMOTE_USER_SECRET where it authenticates, and REMOTE_USER nowhere else: see httpd-conf/",
		remote->endpoint->name, has_secret ? "with another TENURE_REMOTE_USER_SECRET than remote_user_secret"
		: "without TENURE_REMOTE_USER_SECRET");
}

static enum outcome identify(void *state, const struct identity *identity, bool *recognised)
{
	struct remote_user *remote = state;
	struct str user = identity->request->remote_user;
	struct principal *principal = identity->principal;

	*recognised = user.n > 0;
	if (!*recognised)
		return OUTCOME_OK;
	if (!digest_equal(identity->request->remote_user_secret, remote->secret)) {
		complain_unvouched(remote, identity->request->remote_user_secret.n > 0);
		*identity->detail = STR("the web server named a user without vouching for the name; its configuration has to send "
			"TENURE_REMOTE_USER_SECRET where it authenticates");
		return OUTCOME_UNAUTHENTICATED;
	}
	if (auth_is_of_another_site(identity->request, identity->detail))
		return OUTCOME_FORBIDDEN;
	if (!auth_is_name(user)) {
		*identity->detail = STR("the user's name must have up to 255 characters, UTF-8 without NUL");
		return OUTCOME_UNAUTHENTICATED;
	}
	principal->user = str_dup(identity->pool, user);
	principal->role = remote->role;
	if (principal->role == ROLE_OPERATOR)
		return OUTCOME_OK;
	principal->tenant = str_dup(identity->pool, remote_tenant(remote_user_settings(remote->endpoint), user));
	if (principal->tenant.n == 0)
		principal->role = ROLE_NONE; // an authenticated user without a tenant
	return OUTCOME_OK;
}

// ---- settings

#define ENDPOINT(key, type, member, ...) SETTING_ROW("endpoint", key, type, remote_user_settings, member, __VA_ARGS__)

static const struct setting remote_user_rows[] = {
	ENDPOINT("remote_user_secret", SECRET, secret, "", 0, SETTING_TEXT_MAX, NULL,
		"Shared secret that the web server sends as TENURE_REMOTE_USER_SECRET where it has authenticated the user, and "
		"nowhere else. Required with auth = remote-user."),
	ENDPOINT("remote_user_role", CHOICE, role, "member", 0, 0,
	         "reader,member,admin,operator", "Role of users authenticated by the web server."),
	ENDPOINT("remote_user_tenant", CHOICE, tenant, "user", 0, 0, "user,domain",
		"Tenant of users authenticated by the web server. user: has the user's name. domain: the part of the name "
		"after the last @."),
};

const struct config_table remote_user_settings_table = {
	.settings = remote_user_rows, .n = COUNT_OF(remote_user_rows), .size = sizeof(struct remote_user_settings), .of_endpoint = true,
};

const struct remote_user_settings *remote_user_settings(const struct endpoint_config *endpoint)
{
	return config_endpoint_values(endpoint, &remote_user_settings_table);
}

static char *read_settings(struct remote_user *remote)
{
	const struct endpoint_config *endpoint = remote->endpoint;
	const struct remote_user_settings *settings = remote_user_settings(endpoint);

	remote->secret = str_c(settings->secret);
	char *error = auth_check_secret(endpoint->name, "remote-user", "remote_user_secret", remote->secret, "REMOTE_USER",
		"TENURE_REMOTE_USER_SECRET");
	if (error != NULL)
		return error;
	if (!role_parse(str_c(settings->role), &remote->role))
		return auth_message("endpoint %s: remote_user_role: \"%s\" is none of reader, member, admin, operator",
			endpoint->name, settings->role);
	if (strcmp(settings->tenant, "user") != 0 && strcmp(settings->tenant, "domain") != 0)
		return auth_message("endpoint %s: remote_user_tenant: \"%s\" is neither user nor domain", endpoint->name,
			settings->tenant);
	return NULL;
}

static void *open_remote_user(const struct auth_setup *setup, char **error)
{
	struct remote_user *remote = memory_zeroed(1, sizeof(*remote));

	remote->endpoint = setup->endpoint;
	*error = read_settings(remote);
	return remote;
}

static enum role default_role(const void *state)
{
	return ((const struct remote_user *)state)->role;
}

static const char *const headers[] = { NULL }; // none: it reads only variables that the web server sets

static const struct config_table *const tables[] = { &remote_user_settings_table, NULL };

const struct authenticator remote_user_authenticator = {
	.challenge = "Basic realm=\"tenure\"",
	.tables = tables,
	.headers = headers,
	.open = open_remote_user,
	.close = free,
	.identify = identify,
	.default_role = default_role,
};

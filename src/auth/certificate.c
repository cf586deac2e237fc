// SPDX-License-Identifier: Apache-2.0
// Authenticator for clients whose certificate the web server has verified. It believes SSL_CLIENT_VERIFY and SSL_CLIENT_CERT only
// beside TENURE_CERTIFICATE_SECRET, which the web server sends where it demands certificates: it is not the secret of the
// authenticator remote-user, so that a place which vouches for certificates doesn't vouch for REMOTE_USER. The names are read
// from the certificate itself, since web servers write subjects in different ways, and nginx has no alternative names.
#include "base/base.h"

#include <errno.h>

#include "auth/core/authenticator.h"
#include "auth/certificate_map.h"
#include "auth/core/client_certificate.h"
#include "auth/core/principal_cache.h"
#include "base/crypto/certificate.h"
#include "base/clock.h"
#include "base/config/config.h"
#include "base/config/setting.h"
#include "base/digest.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/pool.h"

enum {
	COMPLAINT_INTERVAL_US = 60 * 1000 * 1000, // between two log lines about certificates without the right secret
	RULES_MAX = 256 * 1024,                   // bytes of a file of rules
};

struct certificate_settings {
	const char *map;            // rules (auth/certificate_map.h), or an absolute path
	const char *create_tenants; // yes | no
};

#define CERTIFICATE(key, type, member, ...) SETTING_ROW("certificate", key, type, certificate_settings, member, __VA_ARGS__)

static const struct setting certificate_rows[] = {
	CERTIFICATE("map", TEXT, map, "", 0, SETTING_TEXT_MAX, NULL,
		"Rules that say whom a certificate stands for, with semicolons between them, or the path of a file of them, read at the start and on "
		"SIGHUP. Required with auth = certificate."),
	CERTIFICATE("create_tenants", CHOICE, create_tenants, "no", 0, 0, "no,yes",
		"yes: the tenant that a certificate names is created when it is used first."),
};
static const struct config_table certificate_table = {
	.settings = certificate_rows, .n = COUNT_OF(certificate_rows), .size = sizeof(struct certificate_settings),
};

static const struct config_table *const tables[] = { &certificate_table, &client_certificate_table, NULL };

struct certificate_state {
	const struct certificate_settings *settings;
	struct str secret;             // certificate_secret of the endpoint
	const struct endpoint_config *endpoint;
	struct certificate_map *map;
	char *rules;                   // the text that the map was read from, if that is a file
	struct principal_cache *cache; // of certificates, by their text
	int64_t complained_us;         // clock_tick_us() when a wrong secret was logged last; 0: never
};

static void complain_unvouched(struct certificate_state *state, bool has_secret)
{
	int64_t now = clock_tick_us();

	if (state->complained_us != 0 && now - state->complained_us < COMPLAINT_INTERVAL_US)
		return;
	state->complained_us = now;
	log_error("endpoint %s: the web server sent SSL_CLIENT_VERIFY %s; refused. It has to send certificate_secret as "
		"TENURE_CERTIFICATE_SECRET where it verifies certificates: see httpd-conf/", state->endpoint->name,
		has_secret ? "with another TENURE_CERTIFICATE_SECRET than certificate_secret" : "without TENURE_CERTIFICATE_SECRET");
}

static enum outcome refuse(const struct identity *identity, const char *why)
{
	*identity->detail = str_c(why);
	return OUTCOME_UNAUTHENTICATED;
}

// Finds the certificate's principal in the cache, or else by the rules; then the cache gets it. NULL, or why there is none.
static const char *look_up(struct certificate_state *state, const struct identity *identity)
{
	struct certificate *certificate;
	uint8_t key[DIGEST_SHA256];
	const char *wrong;

	digest_sha256(identity->request->client_certificate, key);
	if (principal_cache_find(state->cache, key, identity->pool, identity->principal))
		return NULL;
	certificate = POOL_NEW(identity->pool, struct certificate);
	wrong = client_certificate_read(identity->pool, identity->request, certificate);
	if (wrong != NULL)
		return wrong;
	wrong = certificate_map_apply(state->map, identity->pool, certificate, identity->principal);
	if (wrong != NULL)
		return wrong;
	identity->principal->expires_us = certificate->until_us;
	principal_cache_keep(state->cache, key, identity->principal);
	return NULL;
}

static enum outcome identify(void *arg, const struct identity *identity, bool *recognised)
{
	struct certificate_state *state = arg;
	const struct request *request = identity->request;
	struct principal *principal = identity->principal;
	const char *wrong;

	*recognised = client_certificate_came(request);
	if (!*recognised)
		return OUTCOME_OK;
	wrong = client_certificate_check(request, state->secret);
	if (wrong != NULL) {
		if (!digest_equal(request->certificate_secret, state->secret))
			complain_unvouched(state, request->certificate_secret.n > 0);
		return refuse(identity, wrong);
	}
	if (auth_is_of_another_site(request, identity->detail))
		return OUTCOME_FORBIDDEN;
	wrong = look_up(state, identity);
	if (wrong != NULL)
		return refuse(identity, wrong);
	principal->makes_tenant = principal->tenant.n > 0 && strcmp(state->settings->create_tenants, "yes") == 0;
	return OUTCOME_OK;
}

// ---- settings

static void close_certificate(void *arg)
{
	struct certificate_state *state = arg;

	if (state == NULL)
		return;
	certificate_map_free(&state->map);
	free(state->rules);
	principal_cache_free(&state->cache);
	free(state);
}

// The rules of the setting map: a file's, if it is a path, or those that stand there.
static char *read_rules(struct certificate_state *state, const char *setting)
{
	struct str rules = str_c(setting);
	char *error = NULL;

	if (str_starts(rules, STR("/"))) {
		FILE *file = fopen(setting, "re");
		if (file == NULL)
			return auth_message("[certificate] map: can't open \"%s\": %s", setting, strerror(errno));
		state->rules = memory_zeroed(1, RULES_MAX);
		size_t n = fread(state->rules, 1, RULES_MAX, file);
		fclose(file);
		if (n == RULES_MAX)
			return auth_message("[certificate] map: \"%s\" has %d bytes or more", setting, RULES_MAX);
		rules = str_n(state->rules, n);
	}
	state->map = certificate_map_new(rules, &error);
	return error;
}

static void *open_certificate(const struct auth_setup *setup, char **error)
{
	struct certificate_state *state = memory_zeroed(1, sizeof(*state));

	state->settings = config_values(setup->config, &certificate_table);
	state->endpoint = setup->endpoint;
	state->secret = client_certificate_secret(setup->endpoint);
	*error = auth_check_secret(setup->endpoint->name, "certificate", "certificate_secret", state->secret,
		"SSL_CLIENT_CERT", "TENURE_CERTIFICATE_SECRET");
	if (*error == NULL)
		*error = read_rules(state, state->settings->map);
	if (*error == NULL)
		state->cache = principal_cache_new(INT64_MAX);
	return state;
}

static const char *const headers[] = { NULL }; // none: it reads only variables that the web server sets

const struct authenticator certificate_authenticator = {
	.tables = tables,
	.challenge = "ClientCertificate realm=\"tenure\"",
	.headers = headers,
	.open = open_certificate,
	.close = close_certificate,
	.identify = identify,
};

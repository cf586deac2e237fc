// SPDX-License-Identifier: Apache-2.0
// max_len: 65536
// Credentials: lines of "NAME: VALUE", the web server's user first. Who asks is nobody, somebody whole, or refused with a
// reason. The database is one that is never there.
#include "fuzz.h"

#include "auth/core/auth.h"
#include "auth/remote_user.h"
#include "auth/core/settings.h"
#include "db/db.h"
#include "db/settings.h"
#include "set.h"
#include "settings/settings.h"

#define SECRET "abcdefghijklmnop0123"
static const struct {
	const char *name, *auth, *role, *tenant;
} endpoints[] = {
	{ "a", "noauth", "member", "user" },
	{ "b", "remote-user", "admin", "domain" },
	{ "c", "remote-user,noauth", "operator", "user" },
	{ "d", "token", "member", "user" },
};

static struct config *new_config(void)
{
	struct config *config = config_new(settings_tables());

	MUST(config != NULL);
	struct db_settings *db = SET(config, db);
	db->host = "";
	db->socket = "/nonexistent/mysql.sock";
	db->connect_timeout = db->read_timeout = db->lock_wait = 1;
	db->retries = 0;
	SET(config, auth)->default_tenant = "home";
	for (size_t i = 0; i < COUNT_OF(endpoints); i++) {
		const struct endpoint_config *endpoint = config_add_endpoint(config, str_c(endpoints[i].name));
		SET_ENDPOINT(endpoint, auth_endpoint)->auth = endpoints[i].auth;
		*SET_ENDPOINT(endpoint, remote_user) = (struct remote_user_settings){
			.secret = SECRET, .role = endpoints[i].role, .tenant = endpoints[i].tenant
		};
	}
	return config;
}

// Is it somebody, or nobody?
static bool identify(struct pool *pool, size_t i, const struct request *request)
{
	static struct auth *auths[COUNT_OF(endpoints)];
	static struct config *config;
	static struct db *db;
	char *error = NULL;
	struct principal principal;
	struct str detail = STR_NONE;

	if (config == NULL)
		config = new_config();
	if (db == NULL)
		MUST((db = db_open(db_settings(config), false)) != NULL);
	if (auths[i] == NULL)
		MUST((auths[i] = auth_new(&(struct auth_setup){ .config = config, .endpoint = &config->endpoints[i] }, &error)) != NULL);
	const struct auth_question question = { .db = db, .pool = pool, .request = request, .may_wait = true };
	enum outcome outcome = auth_identify(auths[i], &question, &principal, &detail);
	if (outcome != OUTCOME_OK) {
		MUST(outcome == OUTCOME_UNAUTHENTICATED || outcome == OUTCOME_FORBIDDEN || outcome == OUTCOME_UNAVAILABLE ||
			outcome == OUTCOME_BAD_PARAMETER);
		MUST(detail.n > 0);
		return false;
	}
	MUST(principal.role <= ROLE_OPERATOR);
	MUST((principal.user.n == 0) <= (principal.role == ROLE_NONE || principal.tenant.n == 0));
	MUST(str_utf8_ok(principal.user, NULL) && str_utf8_ok(principal.tenant, NULL));
	MUST(memchr(principal.tenant.p != NULL ? principal.tenant.p : "", '\0', principal.tenant.n) == NULL);
	return principal.user.n > 0;
}

static void fuzz_one(struct pool *pool, struct str input)
{
	struct request *request = POOL_NEW(pool, struct request);
	struct str line;

	request->remote_user = fuzz_first(&input);
	// A name that the web server does not vouch for is nobody's.
	bool vouched = request->remote_user.n == 0 || request->remote_user.p[0] != '!';
	request->remote_user_secret = vouched ? STR(SECRET) : STR("abcdefghijklmnop0124");
	while (str_split(&input, '\n', &line)) {
		size_t colon = str_find(line, ':', 0);
		if (colon > 0 && colon < line.n &&
			request_add_header(pool, request, str_part(line, 0, colon), str_trim(str_part(line, colon + 1, line.n))) != OUTCOME_OK)
			break;
	}
	for (size_t i = 0; i < COUNT_OF(endpoints); i++)
		MUST(!identify(pool, i, request) || vouched || i == 0 || i == 3);
}

// SPDX-License-Identifier: Apache-2.0
// max_len: 65536
// Credentials: lines of "NAME: VALUE", the web server's user first. Who asks is nobody, somebody whole, or refused with a
// reason. The database is one that is never there.
#include "fuzz.h"

#include "auth/auth.h"
#include "base/config/config.h"
#include "db/db.h"

static const struct config config = {
	.db_host = "", .db_socket = "/nonexistent/mysql.sock", .db_name = "t", .db_user = "t", .db_password = "",
	.db_admin_user = "", .db_admin_password = "", .db_tls = "off", .db_tls_ca = "", .db_tls_cert = "", .db_tls_key = "",
	.db_connect_timeout = 1, .db_read_timeout = 1, .db_lock_wait = 1, .db_retries = 0, .default_tenant = "home",
	.token_cache = 1000,
};
#define SECRET .remote_user_secret = "abcdefghijklmnop0123"
static const struct endpoint_config endpoints[] = {
	{ .name = "a", .auth = "noauth", .remote_user_role = "member", .remote_user_tenant = "user", SECRET },
	{ .name = "b", .auth = "remote-user", .remote_user_role = "admin", .remote_user_tenant = "domain", SECRET },
	{ .name = "c", .auth = "remote-user,noauth", .remote_user_role = "operator", .remote_user_tenant = "user", SECRET },
	{ .name = "d", .auth = "token", .remote_user_role = "member", .remote_user_tenant = "user", SECRET },
};

// Is it somebody, or nobody?
static bool identify(struct pool *pool, size_t i, const struct request *request)
{
	static struct auth *auths[COUNT_OF(endpoints)];
	static struct db *db;
	char *error = NULL;
	struct principal principal;
	struct str detail = STR_NONE;

	if (db == NULL)
		MUST((db = db_open(&config, false)) != NULL);
	if (auths[i] == NULL)
		MUST((auths[i] = auth_new(&config, &endpoints[i], NULL, &error)) != NULL);
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
	request->remote_user_secret = vouched ? str_c(endpoints[0].remote_user_secret) : STR("abcdefghijklmnop0124");
	while (str_split(&input, '\n', &line)) {
		size_t colon = str_find(line, ':', 0);
		if (colon > 0 && colon < line.n &&
			request_add_header(pool, request, str_part(line, 0, colon), str_trim(str_part(line, colon + 1, line.n))) != OUTCOME_OK)
			break;
	}
	for (size_t i = 0; i < COUNT_OF(endpoints); i++)
		MUST(!identify(pool, i, request) || vouched || i == 0 || i == 3);
}

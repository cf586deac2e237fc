// SPDX-License-Identifier: Apache-2.0
// noauth and remote-user in all their forms, several authenticators of one endpoint, and what roles may do.
#include "base/base.h"

#include <unistd.h>

#include "auth/core/auth.h"
#include "auth/core/role_table.h"
#include "auth/core/settings.h"
#include "auth/jwt/jwt_settings.h"
#include "auth/remote_user.h"
#include "base/log.h"
#include "base/pool.h"
#include "set.h"
#include "settings/settings.h"
#include "tap.h"

#define SECRET "0123456789abcdef"

static struct pool *pool;
static struct config *config;

// Of an endpoint.
struct settings {
	const char *auth, *role, *tenant, *secret; // the last three of remote-user
};

static struct settings endpoint(const char *methods)
{
	return (struct settings){ .auth = methods, .role = "member", .tenant = "user", .secret = SECRET };
}

// As auth_new(), for an endpoint "service" with these settings. A test has up to eight at a time.
static struct auth *try(const struct settings *settings, char **error)
{
	static const struct endpoint_config *endpoints[8];
	static size_t turn;
	const struct endpoint_config **one = &endpoints[turn++ % COUNT_OF(endpoints)];

	if (*one == NULL)
		*one = config_add_endpoint(config, STR("service"));
	SET_ENDPOINT(*one, auth_endpoint)->auth = settings->auth;
	*SET_ENDPOINT(*one, remote_user) = (struct remote_user_settings){
		.secret = settings->secret, .role = settings->role, .tenant = settings->tenant
	};
	return auth_new(&(struct auth_setup){ .config = config, .endpoint = *one }, error);
}

static struct auth *make(const struct settings *settings)
{
	char *error = NULL;
	struct auth *auth = try(settings, &error);

	if (auth == NULL) {
		diag("%s", error);
		bail_out("no authenticators");
	}
	return auth;
}

static enum outcome identify(struct auth *auth, struct str header, struct str value, struct str remote_user,
	struct principal *who)
{
	struct request request = { .remote_user = remote_user, .remote_user_secret = STR(SECRET) };
	struct str detail;

	if (header.n > 0)
		(void)request_add_header(pool, &request, header, value);
	return auth_identify(auth, &(struct auth_question){ .db = NULL, .pool = pool, .request = &request, .may_wait = true },
		who, &detail);
}

struct noauth_case {
	struct str token;
	enum outcome outcome;
	const char *user, *tenant;
	enum role role;
};

static void test_noauth(void)
{
	static const struct noauth_case cases[] = {
		{ { "admin", 5 }, OUTCOME_OK, "admin", "", ROLE_OPERATOR },
		{ { "admin:t", 7 }, OUTCOME_OK, "admin", "t", ROLE_ADMIN },
		{ { "adm%69n", 7 }, OUTCOME_OK, "admin", "", ROLE_ADMIN },
		{ { "bob:Bob's%20Account", 19 }, OUTCOME_OK, "bob", "Bob's Account", ROLE_ADMIN },
		{ { "bob:t:reader", 12 }, OUTCOME_OK, "bob", "t", ROLE_READER },
		{ { "b%3Ab:t%3At:member", 18 }, OUTCOME_OK, "b:b", "t:t", ROLE_MEMBER },
		{ { "bob:t:admin", 11 }, OUTCOME_OK, "bob", "t", ROLE_ADMIN },
		{ { "b:%E2%88%91", 11 }, OUTCOME_OK, "b", "\xe2\x88\x91", ROLE_ADMIN },
		{ { "bob:t:operator", 14 }, OUTCOME_UNAUTHENTICATED, "", "", ROLE_NONE },
		{ { "bob:t:none", 10 }, OUTCOME_UNAUTHENTICATED, "", "", ROLE_NONE },
		{ { "bob:t:Admin", 11 }, OUTCOME_UNAUTHENTICATED, "", "", ROLE_NONE },
		{ { "bob:t:admin:x", 13 }, OUTCOME_UNAUTHENTICATED, "", "", ROLE_NONE },
		{ { "bob:t:", 6 }, OUTCOME_UNAUTHENTICATED, "", "", ROLE_NONE },
		{ { "bob:", 4 }, OUTCOME_UNAUTHENTICATED, "", "", ROLE_NONE },
		{ { ":t", 2 }, OUTCOME_UNAUTHENTICATED, "", "", ROLE_NONE },
		{ { "bob%00:t", 8 }, OUTCOME_UNAUTHENTICATED, "", "", ROLE_NONE },
		{ { "bo\0b:t", 6 }, OUTCOME_UNAUTHENTICATED, "", "", ROLE_NONE },
		{ { "bob:%C0%AF", 10 }, OUTCOME_UNAUTHENTICATED, "", "", ROLE_NONE },
		{ { "bob:\xff", 5 }, OUTCOME_UNAUTHENTICATED, "", "", ROLE_NONE },
		{ { "bob:%ED%A0%80", 13 }, OUTCOME_UNAUTHENTICATED, "", "", ROLE_NONE },
		{ { "bob:%4", 6 }, OUTCOME_UNAUTHENTICATED, "", "", ROLE_NONE },
		{ { "bob:%zz", 7 }, OUTCOME_UNAUTHENTICATED, "", "", ROLE_NONE },
	};
	struct settings settings = endpoint("noauth");
	struct auth *auth = make(&settings);

	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		const struct noauth_case *want = &cases[i];
		struct principal who;

		is_int(identify(auth, STR("X-Auth-Token"), want->token, STR_NONE, &who), want->outcome, "noauth %zu: outcome",
			i);
		is_str(who.user, want->user, "noauth %zu: user", i);
		is_str(who.tenant, want->tenant, "noauth %zu: tenant", i);
		is_int(who.role, want->role, "noauth %zu: role", i);
	}
	auth_free(&auth);
}

// As a gatekeeper of OpenStack's puts roles and projects into headers.
static void test_roles(void)
{
	static const struct {
		const char *token, *roles, *scope, *project;
		const char *tenant;
		enum role role;
		bool reads_all;
	} cases[] = {
		{ "user", "admin,member,reader", NULL, "p", "p", ROLE_OPERATOR, false },
		{ "user", "reader, admin", "all", NULL, "", ROLE_OPERATOR, true },
		{ "user", "reader", "all", NULL, "", ROLE_NONE, true },
		{ "user:t", "member,reader", NULL, NULL, "t", ROLE_NONE, false },
		{ "user:t", "reader", "some", "p", "p", ROLE_NONE, false },
		{ "admin", "", NULL, NULL, "", ROLE_NONE, false },
		{ "admin", "Admin", "all", "", "", ROLE_OPERATOR, false }, // oslo.policy compares without regard to case
		{ "user:t", " admin ", NULL, " p ", "p", ROLE_OPERATOR, false },
		{ "user:t", "member,reader ", " all ", "p\xff", "t", ROLE_NONE, true },
		{ "user:t", "administrator,readers", "all", "p", "p", ROLE_NONE, false },
		{ "user:t", "", "all", "\xe2\x88\x91", "\xe2\x88\x91", ROLE_NONE, false },
		// An operator is of no tenant that could be reserved.
		{ "user:t", "admin", NULL, "all", "all", ROLE_OPERATOR, false },
	};
	struct settings settings = endpoint("noauth");
	struct auth *auth = make(&settings);

	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		struct request request = { .n_headers = 0 };
		struct principal who;
		struct str detail;

		(void)request_add_header(pool, &request, STR("X-Auth-Token"), str_c(cases[i].token));
		(void)request_add_header(pool, &request, STR("X-Roles"), str_c(cases[i].roles));
		if (cases[i].scope != NULL)
			(void)request_add_header(pool, &request, STR("OpenStack-System-Scope"), str_c(cases[i].scope));
		if (cases[i].project != NULL)
			(void)request_add_header(pool, &request, STR("X-Project-Id"), str_c(cases[i].project));
		is_int(auth_identify(auth, &(struct auth_question){ .db = NULL, .pool = pool, .request = &request, .may_wait =
			true }, &who, &detail), OUTCOME_OK, "roles %zu", i);
		is_str(who.tenant, cases[i].tenant, "roles %zu: tenant", i);
		is_int(who.role, cases[i].role, "roles %zu: role", i);
		is_int(who.reads_all, cases[i].reads_all, "roles %zu: reads all", i);
	}
	auth_free(&auth);
}

static void test_lengths(void)
{
	struct settings settings = endpoint("noauth");
	struct auth *auth = make(&settings);
	struct principal who;
	char text[2048];

	// 255 characters of four bytes each, percent-encoded nowhere.
	for (size_t i = 0; i < 256; i++)
		memcpy(text + 2 + 4 * i, "\xf0\x9f\x98\x80", 4);
	memcpy(text, "u:", 2);
	is_int(identify(auth, STR("X-Auth-Token"), str_n(text, 2 + 4 * 255), STR_NONE, &who), OUTCOME_OK,
		"a tenant of 255 characters");
	is_int((long long)who.tenant.n, 1020, "whole");
	is_int(identify(auth, STR("X-Auth-Token"), str_n(text, 2 + 4 * 256), STR_NONE, &who), OUTCOME_UNAUTHENTICATED,
		"one of 256");
	for (size_t n = 255; n <= 256; n++) {
		struct request request = { .n_headers = 0 };
		struct str detail;

		(void)request_add_header(pool, &request, STR("X-Auth-Token"), STR("u:t"));
		(void)request_add_header(pool, &request, STR("X-Roles"), STR("reader"));
		(void)request_add_header(pool, &request, STR("X-Project-Id"), str_n(text + 2, 4 * n));
		is_int(auth_identify(auth, &(struct auth_question){ .db = NULL, .pool = pool, .request = &request, .may_wait =
			true }, &who, &detail), OUTCOME_OK, "a project of %zu characters", n);
		is_int((long long)who.tenant.n, n == 255 ? 4 * 255 : 1, "counts as far as it is a name");
	}
	struct settings users = endpoint("remote-user");
	struct auth *by_server = make(&users);
	is_int(identify(by_server, STR(""), STR(""), str_n(text + 2, 4 * 255), &who), OUTCOME_OK, "a user of 255 characters");
	is_int(identify(by_server, STR(""), STR(""), str_n(text + 2, 4 * 256), &who), OUTCOME_UNAUTHENTICATED, "one of 256");
	auth_free(&by_server);
	auth_free(&auth);
}

static void test_headers(void)
{
	struct settings settings = endpoint("noauth");
	struct auth *auth = make(&settings);
	struct principal who;

	is_int(identify(auth, STR(""), STR(""), STR_NONE, &who), OUTCOME_OK, "no credential is no error");
	is_int((long long)who.user.n, 0, "and gives nobody");
	is_int(who.role, ROLE_NONE, "of no role");
	is_int(identify(auth, STR("Authorization"), STR("bEaReR  bob:t"), STR_NONE, &who), OUTCOME_OK,
		"Bearer in any case");
	is_str(who.user, "bob", "its token");
	is_int(identify(auth, STR("Authorization"), STR("Bearer"), STR_NONE, &who), OUTCOME_UNAUTHENTICATED,
		"Bearer without a token");
	(void)identify(auth, STR("Authorization"), STR("Basic Ym9iOmJvYg=="), STR_NONE, &who);
	is_int((long long)who.user.n, 0, "another scheme is not ours");
	(void)identify(auth, STR("X-Auth-Token"), STR(""), STR("apache-user"), &who);
	is_int((long long)who.user.n, 0, "REMOTE_USER counts only where it is configured");
	struct request both = { 0 };
	struct str detail;

	(void)request_add_header(pool, &both, STR("Authorization"), STR("Bearer bob"));
	(void)request_add_header(pool, &both, STR("X-Auth-Token"), STR("alice:t"));
	is_int(auth_identify(auth, &(struct auth_question){ .db = NULL, .pool = pool, .request = &both, .may_wait = true }, &who,
		&detail), OUTCOME_OK, "both headers");
	is_str(who.user, "alice", "X-Auth-Token wins");
	is_str(auth_token(&both), "alice:t", "and is the request's token");
	struct request bearer = { 0 }, none = { 0 };
	(void)request_add_header(pool, &bearer, STR("Authorization"), STR(" Bearer  bob:t "));
	is_str(auth_token(&bearer), "bob:t", "as that of Authorization is, without its blanks");
	is_str(auth_token(&none), "", "or there is none");
	auth_free(&auth);
	auth_free(&auth);
	ok(auth == NULL, "freed twice is freed once");
}

static void remote(struct settings settings, struct str name, enum outcome outcome, const char *tenant,
	enum role role, const char *what)
{
	struct auth *auth = make(&settings);
	struct principal who;

	is_int(identify(auth, STR(""), STR(""), name, &who), outcome, "remote-user, %s: outcome", what);
	is_str(who.tenant, tenant, "remote-user, %s: tenant", what);
	is_int(who.role, role, "remote-user, %s: role", what);
	auth_free(&auth);
}

static void test_remote_user(void)
{
	struct settings user = endpoint("remote-user"), domain = user, operators = user;

	domain.tenant = "domain";
	operators.role = "operator";
	remote(user, STR("bob"), OUTCOME_OK, "bob", ROLE_MEMBER, "tenant by user");
	remote(user, STR(""), OUTCOME_OK, "", ROLE_NONE, "nobody");
	remote(user, STR("b\0b"), OUTCOME_UNAUTHENTICATED, "", ROLE_NONE, "with NUL");
	remote(user, STR("\xc3"), OUTCOME_UNAUTHENTICATED, "", ROLE_NONE, "not UTF-8");
	remote(domain, STR("bob@x@y"), OUTCOME_OK, "y", ROLE_MEMBER, "tenant by domain");
	remote(domain, STR("bob@"), OUTCOME_OK, "", ROLE_NONE, "empty domain");
	remote(domain, STR("bob"), OUTCOME_OK, "", ROLE_NONE, "no domain");
	remote(domain, STR("@x"), OUTCOME_OK, "x", ROLE_MEMBER, "a domain alone");
	remote(domain, str_n("bob@x@y", 5), OUTCOME_OK, "x", ROLE_MEMBER, "nothing behind the end");
	remote(domain, str_n("bob@x", 3), OUTCOME_OK, "", ROLE_NONE, "nor a domain there");
	remote(operators, STR("root"), OUTCOME_OK, "", ROLE_OPERATOR, "operators");
	remote(operators, STR("all"), OUTCOME_OK, "", ROLE_OPERATOR, "whatever their names");
	remote(user, STR("all"), OUTCOME_FORBIDDEN, "all", ROLE_MEMBER, "the word for every tenant");
	remote(user, STR("system"), OUTCOME_FORBIDDEN, "system", ROLE_MEMBER, "the word for the operator's space");
	remote(domain, STR("bob@all"), OUTCOME_FORBIDDEN, "all", ROLE_MEMBER, "such a domain");
	remote(user, STR("All"), OUTCOME_OK, "All", ROLE_MEMBER, "in other case it is none");
}

// Whatever comes with it, a name without the endpoint's secret is nobody's.
static void test_unvouched(void)
{
	static const char *const secrets[] = { "", "0", "0123456789abcde", "0123456789abcdef0", "0123456789ABCDEF", " " SECRET };
	struct settings settings = endpoint("remote-user, noauth");
	struct auth *auth = make(&settings);
	struct principal who;
	struct str detail;

	for (size_t i = 0; i < COUNT_OF(secrets); i++) {
		struct request request = { .remote_user = STR("root"), .remote_user_secret = str_c(secrets[i]) };

		(void)request_add_header(pool, &request, STR("X-Auth-Token"), STR("admin"));
		(void)request_add_header(pool, &request, STR("TENURE_REMOTE_USER_SECRET"), STR(SECRET));
		is_int(auth_identify(auth, &(struct auth_question){ .db = NULL, .pool = pool, .request = &request, .may_wait =
			true }, &who, &detail), OUTCOME_UNAUTHENTICATED, "unvouched %zu", i);
		ok(who.user.n == 0 && who.role == ROLE_NONE, "unvouched %zu: nobody", i);
		ok(strstr(str_cstr(pool, detail), "TENURE_REMOTE_USER_SECRET") != NULL, "unvouched %zu: the answer says why", i);
	}
	auth_free(&auth);
}

// The log is told of what a web server does not vouch for, once in a while, and of noauth.
static void test_told(void)
{
	char path[] = "/tmp/tenure-auth-XXXXXX", text[4096] = "";
	int file = mkstemp(path), err = dup(STDERR_FILENO);
	struct settings vouched = endpoint("remote-user"), any = endpoint("noauth"), tokens = endpoint("token");
	struct principal who;
	struct str detail;

	if (file < 0 || err < 0 || unlink(path) != 0 || dup2(file, STDERR_FILENO) < 0)
		bail_out("no file for the log");
	log_open("test", LOG_SINK_STDERR, LOG_LEVEL_WARNING);
	struct auth *auth = make(&vouched), *noauth = make(&any), *token = make(&tokens);
	for (int i = 0; i < 3; i++) {
		struct request request = { .remote_user = STR("root"), .remote_user_secret = i < 2 ? STR("wrong") : STR("") };
		(void)auth_identify(auth, &(struct auth_question){ .db = NULL, .pool = pool, .request = &request, .may_wait =
			true }, &who, &detail);
	}
	log_open("test", LOG_SINK_STDERR, LOG_LEVEL_ERROR);
	(void)dup2(err, STDERR_FILENO);
	(void)close(err);
	ssize_t n = pread(file, text, sizeof(text) - 1, 0);
	(void)close(file);
	size_t lines = 0;
	for (ssize_t i = 0; i < n; i++)
		lines += text[i] == '\n';
	is_int((long long)lines, 2, "two lines for the log");
	ok(strstr(text, "with another TENURE_REMOTE_USER_SECRET") != NULL, "that of a wrong secret");
	ok(strstr(text, "believes every token") != NULL, "and that of an endpoint that believes everybody");
	auth_free(&auth);
	auth_free(&noauth);
	auth_free(&token);
}

static void test_secrets(void)
{
	static const char *const bad[] = { "", "0123456789abcde", "0123456789abcde\"", "0123456789 abcdef", "0123456789abcde\n",
		"0123456789abcdef\xc3\xa4", "$ecret0123456789", "0123456789abcde`", "0123456789abcde{", "0123456789abcde@",
		"0123456789abcde[", "0123456789abcde:", "0123456789abcde,", "\"123456789abcdef" };
	static const char *const good[] = { "azAZ09azAZ09azAZ", "+/=-_.~+/=-_.~az", "0123456789abcdef" };

	for (size_t i = 0; i < COUNT_OF(good); i++) {
		struct settings settings = endpoint("remote-user");
		settings.secret = good[i];
		struct auth *auth = make(&settings);
		ok(auth != NULL, "a good secret: %s", good[i]);
		auth_free(&auth);
	}

	for (size_t i = 0; i < COUNT_OF(bad); i++) {
		struct settings settings = endpoint("token, remote-user");
		char *error = NULL;

		settings.secret = bad[i];
		ok(try(&settings, &error) == NULL && strstr(error, "endpoint service: ") == error &&
			strstr(error, "remote_user_secret") != NULL && strstr(error, "openssl rand") != NULL, "secret %zu", i);
		free(error);
		settings.auth = "token";
		struct auth *auth = make(&settings);
		ok(auth != NULL, "secret %zu: nobody asks for it where users of the web server are not taken", i);
		auth_free(&auth);
	}
}

// A service in front that knows no tenants: its users are all of one.
static void test_default_tenant(void)
{
	struct settings domain = endpoint("remote-user, noauth"), operators = domain;
	struct principal who;

	domain.tenant = "domain";
	operators.role = "operator";
	SET(config, auth)->default_tenant = "home";
	remote(domain, STR("bob"), OUTCOME_OK, "home", ROLE_MEMBER, "whose user names no tenant");
	remote(domain, STR("bob@x"), OUTCOME_OK, "x", ROLE_MEMBER, "whose user names one");
	remote(domain, STR(""), OUTCOME_OK, "", ROLE_NONE, "nobody is of no tenant");
	remote(operators, STR("root"), OUTCOME_OK, "", ROLE_OPERATOR, "nor are operators");
	struct auth *auth = make(&domain);
	(void)identify(auth, STR("X-Auth-Token"), STR("carol"), STR_NONE, &who);
	ok(str_eq_c(who.tenant, "home") && who.role == ROLE_ADMIN, "a token without tenant");
	(void)identify(auth, STR("X-Auth-Token"), STR("carol:t"), STR_NONE, &who);
	is_str(who.tenant, "t", "a token with one");
	is_int(identify(auth, STR("X-Auth-Token"), STR("carol:%61ll"), STR_NONE, &who), OUTCOME_FORBIDDEN,
		"one of a reserved name");
	auth_free(&auth);
	SET(config, auth)->default_tenant = "";
}

static void test_order(void)
{
	struct settings settings = endpoint("remote-user, noauth");
	struct auth *auth = make(&settings);
	struct principal who;

	(void)identify(auth, STR("X-Auth-Token"), STR("alice:t"), STR("bob"), &who);
	is_str(who.user, "bob", "the first that recognises its credential decides");
	(void)identify(auth, STR("X-Auth-Token"), STR("alice:t"), STR_NONE, &who);
	is_str(who.user, "alice", "the second where the first has none");
	is_str(str_c(auth_challenge(auth)), "Bearer realm=\"tenure\"", "the challenge of the one that decided");
	(void)identify(auth, STR("Accept"), STR("*"), STR_NONE, &who);
	is_str(str_c(auth_challenge(auth)), "Basic realm=\"tenure\"", "where none did, the first one's");
	auth_free(&auth);
}

// A token that is nobody's by its form is wrong. It never leaves the request to an authenticator that reads no tokens.
static void test_form(void)
{
	static const struct {
		const char *methods, *token, *remote_user;
		enum outcome outcome;
		const char *user;
	} cases[] = {
		{ "token, remote-user", "0f3c9a71b2d4", "root", OUTCOME_UNAUTHENTICATED, "" },
		{ "token, remote-user", "a.b c", "root", OUTCOME_UNAUTHENTICATED, "" },
		{ "token, remote-user", "0f3c9a71b2d4", "", OUTCOME_UNAUTHENTICATED, "" },
		{ "token, token, remote-user", "0f3c9a71b2d4", "root", OUTCOME_UNAUTHENTICATED, "" },
		{ "token, remote-user, token", "0f3c9a71b2d4", "root", OUTCOME_UNAUTHENTICATED, "" },
		{ "token, remote-user", NULL, "root", OUTCOME_OK, "root" },
		{ "remote-user, token", "0f3c9a71b2d4", "root", OUTCOME_OK, "root" },
		{ "token, noauth", "ann:t", "", OUTCOME_OK, "ann" },
		{ "token, noauth, remote-user", "ann:t", "root", OUTCOME_OK, "ann" },
		{ "token, remote-user, noauth", "ann:t", "", OUTCOME_OK, "ann" },
	};

	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		struct settings settings = endpoint(cases[i].methods);
		struct auth *auth = make(&settings);
		struct principal who;

		is_int(identify(auth, cases[i].token != NULL ? STR("X-Auth-Token") : STR(""), str_c(cases[i].token), str_c(cases[i].remote_user),
			&who), cases[i].outcome, "form %zu: outcome", i);
		is_str(who.user, cases[i].user, "form %zu: user", i);
		if (cases[i].outcome == OUTCOME_UNAUTHENTICATED)
			is_str(str_c(auth_challenge(auth)), "Bearer realm=\"tenure\"", "form %zu: the challenge is that of tokens", i);
		auth_free(&auth);
	}
}

// A request that is refused before anybody looked for its credential gets nothing of the request before it.
static void test_challenge(void)
{
	struct settings settings = endpoint("jwt, remote-user");
	struct principal who;

	SET(config, jwt)->issuer = "https://id.example.org";
	SET(config, jwt)->audience = "tenure";
	struct auth *auth = make(&settings);
	is_int(identify(auth, STR("X-Auth-Token"), STR("x.y.z"), STR_NONE, &who), OUTCOME_UNAUTHENTICATED, "a token that is no JWT");
	ok(strstr(auth_challenge(auth), "error=\"invalid_token\"") != NULL, "the challenge says so");
	auth_forget(auth);
	is_str(str_c(auth_challenge(auth)), "Bearer realm=\"tenure\"", "that of the next request does not");
	is_int(identify(auth, STR(""), STR(""), STR("bob"), &who), OUTCOME_OK, "a user of the web server");
	is_str(str_c(auth_challenge(auth)), "Basic realm=\"tenure\"", "has decided");
	auth_forget(auth);
	is_str(str_c(auth_challenge(auth)), "Bearer realm=\"tenure\"", "and not on the next request");
	auth_free(&auth);
}

// Rows that say which role of another service gives which role here.
static void test_role_table(void)
{
	static const char *const bad[] = { "a", ":reader", " : reader", "a:", "a:b", "a:operator", "a:none", "a:reader:", "a:reader:b", "a:reader,:admin" };
	static const char good[] = "tenure:read:reader, tenure:admin : admin ,member:member,a:reader:member,::reader";
	static const struct {
		const char *names;
		enum role role;
	} cases[] = {
		{ "tenure:read", ROLE_READER }, { "tenure:admin", ROLE_ADMIN }, { "member", ROLE_MEMBER }, { "a:reader", ROLE_MEMBER }, { ":", ROLE_READER },
		{ "tenure:read,tenure:admin,other", ROLE_ADMIN }, { "tenure", ROLE_NONE }, { "tenure:", ROLE_NONE }, { "read", ROLE_NONE },
		{ "tenure:read:reader", ROLE_NONE }, { "a", ROLE_NONE }, { "", ROLE_NONE },
	};

	char *error = role_table_check("roles", str_c(good));
	ok(error == NULL, "names with colons");
	free(error);
	for (size_t i = 0; i < COUNT_OF(cases); i++)
		is_int(role_table_highest(str_c(good), str_c(cases[i].names), ROLE_NAMES_EXACT), cases[i].role, "the role of \"%s\"", cases[i].names);
	is_int(role_table_highest(str_c(good), STR("Member"), ROLE_NAMES_EXACT), ROLE_NONE, "a name in another case is another name");
	is_int(role_table_highest(str_c(good), STR("x,MemBer"), ROLE_NAMES_OPENSTACK), ROLE_MEMBER, "but not in OpenStack");
	ok(!role_list_overlaps(STR("a,Admin"), STR("b, admin"), ROLE_NAMES_EXACT), "so it is in a list");
	ok(role_list_overlaps(STR("a,Admin"), STR("b, ADMIN "), ROLE_NAMES_OPENSTACK), "of roles of OpenStack");
	ok(!role_list_overlaps(STR("a,,administrator"), STR("b,,admin"), ROLE_NAMES_OPENSTACK), "and no part of a name is one");
	for (size_t i = 0; i < COUNT_OF(bad); i++) {
		error = role_table_check("roles", str_c(bad[i]));
		ok(error != NULL && strstr(error, "expected NAME:reader") != NULL, "no table: \"%s\"", bad[i]);
		free(error);
	}
	ok(role_table_check("roles", STR("")) == NULL, "an empty one is good");
}

static void test_mistakes(void)
{
	struct settings settings = endpoint("token");
	char *error = NULL;

	SET(config, auth)->default_tenant = "all";
	ok(try(&settings, &error) == NULL && strstr(error, "reserved") != NULL,
		"a reserved name as default_tenant");
	free(error);
	SET(config, auth)->default_tenant = "";
	settings = endpoint("token,ldap");
	ok(try(&settings, &error) == NULL && strstr(error, "ldap") != NULL, "an unknown authenticator");
	free(error);
	settings = endpoint("");
	ok(try(&settings, &error) == NULL && error != NULL, "none at all");
	free(error);
	settings = endpoint("noauth, remote-user, noauth, noauth, noauth, noauth, noauth, token");
	struct auth *auth = make(&settings);
	ok(auth != NULL, "eight");
	is_str(str_c(auth_challenge(auth)), "Bearer realm=\"tenure\"", "the first one's challenge");
	auth_free(&auth);
	settings = endpoint("token,token,token,token,token,token,token,token,token");
	ok(try(&settings, &error) == NULL && error != NULL, "nine");
	free(error);
	settings = endpoint("remote-user");
	settings.tenant = "users";
	ok(try(&settings, &error) == NULL && strstr(error, "neither user nor domain") != NULL,
		"an unknown rule for tenants");
	free(error);
	SET(config, auth)->default_tenant = "home";
	settings.tenant = "domain";
	settings.role = "reader";
	remote(settings, STR("bob"), OUTCOME_OK, "home", ROLE_READER, "whose role is the configured one");
	SET(config, auth)->default_tenant = "";
	settings = endpoint("remote-user");
	settings.role = "root";
	ok(try(&settings, &error) == NULL && strstr(error, "root") != NULL, "an unknown role");
	free(error);
}

struct policy_case {
	struct principal who;
	enum role needed;
	struct realm realm;
	enum outcome want;
};

static void test_policy(void)
{
#define WHO(u, t, r) { .user = STR_INIT(u), .tenant = STR_INIT(t), .role = (r) }
#define OF(tenant) { REALM_TENANT, STR_INIT(tenant) }
#define NOBODYS { REALM_NONE, { NULL, 0 } }
#define OF_SYSTEM { REALM_SYSTEM, STR_INIT("system") }
#define OF_ALL { REALM_ALL, { NULL, 0 } }
	static const struct policy_case cases[] = {
		{ WHO("", "", ROLE_NONE), ROLE_NONE, OF("t"), OUTCOME_OK },
		{ WHO("", "", ROLE_NONE), ROLE_READER, OF("t"), OUTCOME_UNAUTHENTICATED },
		{ WHO("", "", ROLE_NONE), ROLE_OPERATOR, NOBODYS, OUTCOME_UNAUTHENTICATED },
		{ WHO("b", "t", ROLE_READER), ROLE_READER, OF("t"), OUTCOME_OK },
		{ WHO("b", "t", ROLE_READER), ROLE_MEMBER, OF("t"), OUTCOME_FORBIDDEN },
		{ WHO("b", "t", ROLE_ADMIN), ROLE_MEMBER, OF("t"), OUTCOME_OK },
		{ WHO("b", "t", ROLE_ADMIN), ROLE_READER, OF("T"), OUTCOME_NOT_FOUND },
		{ WHO("b", "t", ROLE_ADMIN), ROLE_READER, OF("t "), OUTCOME_NOT_FOUND },
		{ WHO("b", "t", ROLE_ADMIN), ROLE_READER, OF(""), OUTCOME_NOT_FOUND },
		{ WHO("b", "t", ROLE_ADMIN), ROLE_READER, NOBODYS, OUTCOME_OK },
		{ WHO("b", "t", ROLE_ADMIN), ROLE_READER, OF_ALL, OUTCOME_NOT_FOUND },
		{ WHO("b", "t", ROLE_ADMIN), ROLE_READER, OF_SYSTEM, OUTCOME_NOT_FOUND },
		{ WHO("b", "t", ROLE_ADMIN), ROLE_OPERATOR, OF("t"), OUTCOME_FORBIDDEN },
		{ WHO("b", "t", ROLE_ADMIN), ROLE_OPERATOR, OF("other"), OUTCOME_FORBIDDEN },
		{ WHO("b", "t", ROLE_ADMIN), ROLE_OPERATOR, OF_ALL, OUTCOME_FORBIDDEN },
		{ WHO("b", "", ROLE_NONE), ROLE_READER, OF("t"), OUTCOME_NOT_FOUND },
		{ WHO("b", "", ROLE_NONE), ROLE_READER, NOBODYS, OUTCOME_FORBIDDEN },
		{ WHO("b", "", ROLE_NONE), ROLE_READER, OF_ALL, OUTCOME_NOT_FOUND },
		{ WHO("b", "", ROLE_NONE), ROLE_READER, OF_SYSTEM, OUTCOME_NOT_FOUND },
		// Authentication lets nobody through who says so; if it did, this would not.
		{ WHO("b", "all", ROLE_ADMIN), ROLE_READER, OF_ALL, OUTCOME_NOT_FOUND },
		{ WHO("b", "all", ROLE_ADMIN), ROLE_READER, OF("all"), OUTCOME_NOT_FOUND },
		{ WHO("b", "system", ROLE_ADMIN), ROLE_READER, OF_SYSTEM, OUTCOME_NOT_FOUND },
		{ WHO("b", "system", ROLE_ADMIN), ROLE_READER, OF("system"), OUTCOME_NOT_FOUND },
		{ WHO("o", "", ROLE_OPERATOR), ROLE_OPERATOR, OF("any"), OUTCOME_OK },
		{ WHO("o", "", ROLE_OPERATOR), ROLE_READER, OF("any"), OUTCOME_OK },
		{ WHO("o", "", ROLE_OPERATOR), ROLE_READER, OF_ALL, OUTCOME_OK },
		{ WHO("o", "", ROLE_OPERATOR), ROLE_ADMIN, OF_SYSTEM, OUTCOME_OK },
	};

	static const char *const names[] = { "none", "reader", "member", "admin", "operator" };
	for (enum role role = ROLE_NONE; role <= ROLE_OPERATOR; role++) {
		enum role parsed = ROLE_NONE;
		is_str(str_c(role_name(role)), names[role], "the role's name");
		ok(role_parse(str_c(names[role]), &parsed) == (role != ROLE_NONE) && parsed == role, "and back: %s", names[role]);
	}
	for (size_t i = 0; i < COUNT_OF(cases); i++)
		is_int(principal_may(&cases[i].who, cases[i].needed, cases[i].realm), cases[i].want, "policy %zu", i);
}

// The tenant of a project's name sees what the project uses, and so do those who see everything.
static void test_usages(void)
{
	static const struct {
		struct principal who;
		enum outcome want;
	} cases[] = {
		{ WHO("", "", ROLE_NONE), OUTCOME_UNAUTHENTICATED },
		{ WHO("b", "p", ROLE_READER), OUTCOME_OK },
		{ WHO("b", "P", ROLE_ADMIN), OUTCOME_FORBIDDEN },
		{ WHO("b", "", ROLE_NONE), OUTCOME_FORBIDDEN },
		{ WHO("o", "", ROLE_OPERATOR), OUTCOME_OK },
		{ { .user = STR_INIT("b"), .tenant = STR_INIT("t"), .role = ROLE_READER, .reads_all = true }, OUTCOME_OK },
		{ { .user = STR_INIT("b"), .tenant = STR_INIT("t"), .role = ROLE_MEMBER, .has_roles = true, .roles = STR_INIT("service") },
			OUTCOME_OK },
		{ { .user = STR_INIT("b"), .tenant = STR_INIT("t"), .role = ROLE_MEMBER, .has_roles = true, .roles = STR_INIT("service"),
			.is_mapped = true }, OUTCOME_FORBIDDEN },
		// The tenant may be default_tenant; the project is what the token has.
		{ { .user = STR_INIT("b"), .tenant = STR_INIT("p"), .has_roles = true, .is_mapped = true }, OUTCOME_FORBIDDEN },
		{ { .user = STR_INIT("b"), .tenant = STR_INIT("p"), .project = STR_INIT("p"), .has_roles = true, .is_mapped = true }, OUTCOME_OK },
	};
	static const struct principal nowhere = WHO("b", "", ROLE_READER);

	for (size_t i = 0; i < COUNT_OF(cases); i++)
		is_int(principal_may_see_usages(&cases[i].who, STR("p")), cases[i].want, "usages %zu", i);
	is_int(principal_may_see_usages(&nowhere, STR("")), OUTCOME_FORBIDDEN, "no tenant is not the project without a name");
}

// A word means something by all of its bytes.
static void test_realms(void)
{
	static const char *const others[] = { "All", "ALL", "System", "al", "alll", "all ", " all", "", "al\xcc\x82l" };

	is_int(realm_of_word(STR("all")).kind, REALM_ALL, "all, where that word means every tenant");
	is_int(realm_of_tenant(STR("all")).kind, REALM_TENANT, "and where it does not");
	is_int(realm_of_word(STR("system")).kind, REALM_SYSTEM, "system");
	is_int(realm_of_tenant(STR("system")).kind, REALM_SYSTEM, "in each");
	ok(realm_reserved(STR("all")) != NULL && realm_reserved(STR("system")) != NULL, "both are reserved");
	ok(realm_reserved(STR_NONE) == NULL, "no name is not");
	ok(realm_of_word(str_n("all\0", 4)).kind == REALM_TENANT && realm_reserved(str_n("all\0", 4)) == NULL, "a NUL is a byte");
	for (size_t i = 0; i < COUNT_OF(others); i++) {
		struct realm realm = realm_of_word(str_c(others[i]));
		ok(realm.kind == REALM_TENANT && str_eq_c(realm.tenant, others[i]) && realm_reserved(realm.tenant) == NULL,
			"\"%s\" is a tenant", others[i]);
	}
}

static void test_kept_headers(void)
{
	static const char *const sent[][2] = {
		{ "accept", "application/json" }, { "x-auth-token", "ann:t1" }, { "cookie", "a=b" }, { "x-roles", "reader" },
		{ "authorization", "Bearer x" }, { "x-project-id", "p" }, { "openstack-system-scope", "all" },
	};
	struct request request = { .remote_user = STR("") };

	is_str(auth_header_lines(pool, &request), "", "no credential");
	for (size_t i = 0; i < COUNT_OF(sent); i++)
		(void)request_add_header(pool, &request, str_c(sent[i][0]), str_c(sent[i][1]));
	is_str(auth_header_lines(pool, &request),
		"x-auth-token:ann:t1\nauthorization:Bearer x\nx-roles:reader\nx-project-id:p\nopenstack-system-scope:all\n",
		"all that an authenticator reads, each once");
}

int main(void)
{
	log_open("test", LOG_SINK_STDERR, LOG_LEVEL_ERROR);
	pool = pool_new();
	config = config_new(settings_tables());
	test_noauth();
	test_roles();
	test_lengths();
	test_headers();
	test_kept_headers();
	test_remote_user();
	test_unvouched();
	test_told();
	test_secrets();
	test_default_tenant();
	test_order();
	test_form();
	test_challenge();
	test_role_table();
	test_mistakes();
	test_policy();
	test_usages();
	test_realms();
	config_free(&config);
	pool_free(&pool);
	return done_testing();
}

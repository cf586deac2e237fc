// SPDX-License-Identifier: Apache-2.0
// Tokens against the schema of sql/: made, believed, cached, expired, revoked.
#include "base/base.h"

#include "auth/core/auth.h"
#include "auth/core/settings.h"
#include "auth/core/token_uses.h"
#include "base/clock.h"
#include "base/digest.h"
#include "base/shared.h"
#include "db-server.h"

static struct pool *pool;
static struct db *db;
static const struct endpoint_config *endpoint; // whose setting auth is "token"

static struct auth *make_with(unsigned cache_ms, struct shared *shared)
{
	char *error = NULL;

	SET(server.config, auth)->token_cache = cache_ms;
	struct auth *auth = auth_new(&(struct auth_setup){ .config = server.config, .endpoint = endpoint, .shared = shared }, &error);

	if (auth == NULL)
		bail_out("no authenticator");
	return auth;
}

static struct auth *make(unsigned cache_ms)
{
	return make_with(cache_ms, NULL);
}

// may_wait: false as in the watch process.
static enum outcome identify_as(struct auth *auth, struct str token, bool may_wait, struct principal *who)
{
	struct request request = { 0 };
	struct str detail;

	(void)request_add_header(pool, &request, STR("X-Auth-Token"), token);
	enum outcome outcome = auth_identify(auth, &(struct auth_question){ .db = db, .pool = pool, .request = &request,
		.may_wait = may_wait }, who, &detail);

	if (outcome == OUTCOME_UNAUTHENTICATED)
		is_str(detail, "token unknown, expired or revoked", "the sentence is always the same");
	return outcome;
}

static enum outcome identify(struct auth *auth, struct str token, struct principal *who)
{
	return identify_as(auth, token, true, who);
}

static struct str create(struct str user, struct str tenant, enum role role, int64_t expires_us)
{
	struct token_info info = { .user = user, .tenant = tenant, .role = role, .expires_us = expires_us,
		.description = STR("a test's") };
	struct str token, detail;

	if (!is_int(auth_token_create(db, pool, &info, &token, &detail), OUTCOME_CREATED, "token for %.*s", STR_ARG(user)))
		diag("%.*s", STR_ARG(detail));
	return token;
}

static void test_create(void)
{
	struct token_info info = { .user = STR("u"), .tenant = STR("nowhere"), .role = ROLE_MEMBER };
	struct str token, detail;

	is_int(auth_token_create(db, pool, &info, &token, &detail), OUTCOME_NOT_FOUND, "a tenant that is not there");
	info.tenant = STR("deleted");
	is_int(auth_token_create(db, pool, &info, &token, &detail), OUTCOME_NOT_FOUND, "one that is deleted");
	info.tenant = STR("");
	is_int(auth_token_create(db, pool, &info, &token, &detail), OUTCOME_BAD_PARAMETER, "a member of no tenant");
	info.tenant = STR("one");
	info.role = ROLE_OPERATOR;
	is_int(auth_token_create(db, pool, &info, &token, &detail), OUTCOME_BAD_PARAMETER, "an operator of one");
	info.role = ROLE_READER;
	info.expires_us = clock_now_us() - 1;
	is_int(auth_token_create(db, pool, &info, &token, &detail), OUTCOME_BAD_PARAMETER, "expired before it is made");
	info.expires_us = 0;
	info.user = STR("a\0b");
	is_int(auth_token_create(db, pool, &info, &token, &detail), OUTCOME_BAD_PARAMETER, "a user with NUL");
	ok(token.p == NULL && detail.n > 0, "no token, and a reason");
}

static void test_identify(struct auth *auth)
{
	struct principal who;
	struct str member = create(STR("bob"), STR("one"), ROLE_MEMBER, 0);
	struct str operator_token = create(STR("root"), STR(""), ROLE_OPERATOR, 0);

	is_int((long long)str_find(member, '.', 0), 12, "an id of 12 characters");
	is_int((long long)member.n, 12 + 1 + 32, "a dot and a secret of 32");
	is_int(identify(auth, member, &who), OUTCOME_OK, "a member");
	is_str(who.user, "bob", "its user");
	is_str(who.tenant, "one", "its tenant");
	is_int(who.role, ROLE_MEMBER, "its role");
	is_int(identify(auth, operator_token, &who), OUTCOME_OK, "an operator");
	is_int(who.role, ROLE_OPERATOR, "its role");
	is_int((long long)who.tenant.n, 0, "of no tenant");
}

static void test_refused(struct auth *auth)
{
	struct str good = create(STR("eve"), STR("one"), ROLE_ADMIN, 0);
	struct str other = create(STR("x"), STR("one"), ROLE_ADMIN, 0);
	struct principal who;
	struct str other_secret = str_part(other, 13, other.n);
	char *wrong = str_cstr(pool, good);
	struct str cases[] = {
		STR("x"), STR("."), STR("a."), STR(".b"), STR("nobody.secret"), STR("a.b.c"), STR("'; DROP TABLE tokens; --"),
		str_part(good, 0, 13), str_part(good, 0, good.n - 1), str_printf(pool, "%.*sA", STR_ARG(good)),
		str_printf(pool, "%.*s%.*s", 13, good.p, STR_ARG(other_secret)),
		str_n(wrong, good.n), str_printf(pool, "%.*s, %.*s", STR_ARG(good), STR_ARG(good)), str_n("a\0b.c", 5),
		str_printf(pool, "%.*s%0200d", 13, good.p, 0),
	};

	wrong[good.n - 1] = wrong[good.n - 1] == 'A' ? 'B' : 'A';
	is_int(identify(auth, good, &who), OUTCOME_OK, "the good one, before");
	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		is_int(identify(auth, cases[i], &who), OUTCOME_UNAUTHENTICATED, "refused %zu", i);
		is_int((long long)(who.user.n + who.tenant.n) + who.role, 0, "refused %zu: nobody", i);
	}
	is_int(identify(auth, good, &who), OUTCOME_OK, "the good one, after");
}

static uint64_t trips(struct auth *auth, struct str token)
{
	uint64_t before = db_round_trips(db);
	struct principal who;

	(void)identify(auth, token, &who);
	return db_round_trips(db) - before;
}

// What no token can be like is refused without a question; what one can be like is asked for.
static void test_form(struct auth *asking)
{
	static const char *const asked[] = { "a.b", "azAZ09-_.azAZ09-_", "abcdefghijklmnopqrstuvwxyz012345.x" }; // 32 at most
	static const char *const not_asked[] = { "", ".", "a", "a.", ".b", "a.b.c", "a..b", "a.b c", "a.`", "a.{", "a.@", "a.[",
		"a./",
		"a.:", "`.b", "{.b", "@.b", "[.b", "/.b", ":.b", "a.b,", "abcdefghijklmnopqrstuvwxyz0123456.x" };

	for (size_t i = 0; i < COUNT_OF(asked); i++)
		is_int((long long)trips(asking, str_c(asked[i])), 1, "\"%s\" is asked for", asked[i]);
	for (size_t i = 1; i < COUNT_OF(not_asked); i++)
		is_int((long long)trips(asking, str_c(not_asked[i])), 0, "\"%s\" is not", not_asked[i]);
	for (size_t n = 127; n <= 129; n++) {
		struct str token = str_printf(pool, "a.%0*d", (int)n, 0);
		is_int((long long)trips(asking, token), n <= 128 ? 1 : 0, "a secret of %zu", n);
	}
}

// Limits of what a token is made for, and that all of it comes back.
static void test_limits(struct auth *asking)
{
	struct token_info info = { .tenant = STR("one"), .role = ROLE_MEMBER };
	struct str token, detail, long_user = str_printf(pool, "%0256d", 0), long_text = str_printf(pool, "%01025d", 0);
	struct principal who;
	struct token_info *list;
	size_t n;

	is_int(auth_token_create(db, pool, &info, &token, &detail), OUTCOME_BAD_PARAMETER, "no user");
	info.user = long_user;
	is_int(auth_token_create(db, pool, &info, &token, &detail), OUTCOME_BAD_PARAMETER, "256 characters of a user");
	info.user = str_part(long_user, 0, 255);
	info.description = long_text;
	is_int(auth_token_create(db, pool, &info, &token, &detail), OUTCOME_BAD_PARAMETER, "1025 of a description");
	info.description = STR("a\xff");
	is_int(auth_token_create(db, pool, &info, &token, &detail), OUTCOME_BAD_PARAMETER, "one that is no UTF-8");
	info.description = str_part(long_text, 0, 1024);
	info.role = ROLE_NONE;
	is_int(auth_token_create(db, pool, &info, &token, &detail), OUTCOME_BAD_PARAMETER, "no role");
	info.role = ROLE_OPERATOR + 1;
	is_int(auth_token_create(db, pool, &info, &token, &detail), OUTCOME_BAD_PARAMETER, "a role that there is not");
	info.role = ROLE_READER;
	info.tenant = str_printf(pool, "%0256d", 0);
	is_int(auth_token_create(db, pool, &info, &token, &detail), OUTCOME_BAD_PARAMETER, "256 characters of a tenant");
	info.tenant = STR("all");
	is_int(auth_token_create(db, pool, &info, &token, &detail), OUTCOME_BAD_PARAMETER, "a tenant that is a reserved word");
	info.tenant = STR("one");
	info.expires_us = clock_now_us() + 3600 * INT64_C(1000000);
	is_int(auth_token_create(db, pool, &info, &token, &detail), OUTCOME_CREATED, "the most there may be");
	is_int(identify(asking, token, &who), OUTCOME_OK, "which is good");
	ok(str_eq(who.user, info.user) && who.role == ROLE_READER, "with its user and role");
	is_int(auth_token_list(db, pool, STR("one"), &list, &n), OUTCOME_OK, "listed");
	const struct token_info *last = &list[n - 1];
	ok(str_eq(last->id, str_part(token, 0, 12)) && str_eq(last->user, info.user) && str_eq(last->tenant, info.tenant),
		"id, user, tenant");
	ok(last->role == ROLE_READER && str_eq(last->description, info.description), "role, description");
	is_int(last->expires_us, info.expires_us, "expiry");
	is_int(last->revoked_us, 0, "not revoked");
	is_int(auth_token_revoke(db, pool, STR("")), OUTCOME_NOT_FOUND, "no id revokes nothing");
	is_int(auth_token_revoke(db, pool, str_part(token, 1, 12)), OUTCOME_NOT_FOUND, "nor does a part of one");
	is_int(auth_token_revoke(db, pool, token), OUTCOME_OK, "revoked");
	is_int(auth_token_list(db, pool, STR("one"), &list, &n), OUTCOME_OK, "listed again");
	ok(list[n - 1].revoked_us > 0, "as revoked");
	int64_t revoked_us = list[n - 1].revoked_us;
	is_int(auth_token_revoke(db, pool, token), OUTCOME_OK, "revoked again");
	is_int(auth_token_list(db, pool, STR("one"), &list, &n), OUTCOME_OK, "listed again");
	is_int(list[n - 1].revoked_us, revoked_us, "it stays revoked since then");
	size_t revoked = 0;
	for (size_t i = 0; i < n; i++)
		revoked += list[i].revoked_us > 0;
	is_int((long long)revoked, 1, "and no other");
}

static void test_cache(struct auth *asking, struct auth *believing)
{
	struct str token = create(STR("carl"), STR("one"), ROLE_READER, 0);
	struct str short_lived = create(STR("dora"), STR("one"), ROLE_READER, clock_now_us() + 3600 * INT64_C(1000000));
	struct principal who;

	is_int((long long)trips(believing, token), 1, "one question for a token not seen lately");
	is_int((long long)trips(believing, token), 0, "none for one that was");
	is_int(identify(believing, token, &who), OUTCOME_OK, "it is believed");
	is_str(who.user, "carl", "with its user");
	is_str(who.tenant, "one", "and tenant");
	struct str brief = create(STR("c"), STR("x"), ROLE_READER, 0);
	is_int(identify(believing, brief, &who), OUTCOME_OK, "one of a tenant whose name is a letter");
	is_int(identify(believing, brief, &who), OUTCOME_OK, "and again");
	is_str(who.tenant, "x", "its tenant");
	is_int((long long)trips(asking, token), 1, "token_cache 0 asks");
	is_int((long long)trips(asking, token), 1, "each time");
	is_int(auth_token_revoke(db, pool, str_part(token, 0, 12)), OUTCOME_OK, "revoked by id");
	is_int(identify(asking, token, &who), OUTCOME_UNAUTHENTICATED, "who asks knows at once");
	is_int(identify(believing, token, &who), OUTCOME_OK, "who believes, a little later");
	is_int(auth_token_revoke(db, pool, token), OUTCOME_OK, "revoked again, by the whole token");
	is_int(auth_token_revoke(db, pool, STR("nobody")), OUTCOME_NOT_FOUND, "an unknown one");
	is_int(identify(asking, short_lived, &who), OUTCOME_OK, "before its expiry");
	server_sql("UPDATE tokens SET expires_at = UTC_TIMESTAMP(6) WHERE user = 'dora'");
	is_int(identify(asking, short_lived, &who), OUTCOME_UNAUTHENTICATED, "after it");
}

static uint8_t place_of(struct str token)
{
	uint8_t hash[DIGEST_SHA256];

	digest_sha256(token, hash);
	return hash[0];
}

// Tokens that take the same place in the cache are not taken for each other, and one that is refused leaves the other there.
static void test_places(struct auth *believing)
{
	struct str seen[256] = { STR_NONE }, one = STR_NONE, other = STR_NONE, wrong;
	struct principal who;

	for (int i = 0; i < 300 && other.p == NULL; i++) {
		struct token_info info = { .user = str_printf(pool, "p%d", i), .tenant = STR("one"), .role = ROLE_MEMBER };
		struct str token, detail;
		if (auth_token_create(db, pool, &info, &token, &detail) != OUTCOME_CREATED)
			bail_out("no token");
		if (seen[place_of(token)].p != NULL) {
			one = seen[place_of(token)];
			other = token;
		}
		seen[place_of(token)] = token;
	}
	is_int((long long)trips(believing, one), 1, "one is asked for");
	is_int((long long)trips(believing, one), 0, "and believed");
	is_int((long long)trips(believing, other), 1, "the other, too");
	is_int((long long)trips(believing, other), 0, "and is in its place");
	is_int((long long)trips(believing, one), 1, "so that the first is asked for again");
	is_int(identify(believing, one, &who), OUTCOME_OK, "it is good");
	struct str user = who.user;
	is_int(identify(believing, other, &who), OUTCOME_OK, "as is the other");
	ok(!str_eq(who.user, user) && user.p[0] == 'p' && who.user.p[0] == 'p', "of another user");
	for (int i = 0;; i++) {
		wrong = str_printf(pool, "%.*s%d", 13, other.p, i);
		if (place_of(wrong) == place_of(other))
			break;
	}
	is_int(identify(believing, wrong, &who), OUTCOME_UNAUTHENTICATED, "a wrong one of the same place");
	is_int((long long)trips(believing, other), 0, "takes it from nobody");
}

// What was found is believed for a while, and never beyond the token's own end.
static void test_ends(void)
{
	struct auth *briefly = make(30);
	struct str token = create(STR("brief"), STR("one"), ROLE_MEMBER, 0);
	struct principal who;

	is_int((long long)trips(briefly, token), 1, "asked for");
	(void)usleep(40000);
	is_int((long long)trips(briefly, token), 1, "and again, once that is over");
	auth_free(&briefly);
	struct auth *long_since = make(3600000);
	int64_t end_us = clock_now_us() + 5000000; // all that comes before it is done by then, on a busy machine and under valgrind, too
	token = create(STR("ending"), STR("one"), ROLE_MEMBER, end_us);
	is_int(identify(long_since, token, &who), OUTCOME_OK, "before its end");
	ok(auth_has_validated(long_since), "by the database");
	is_int(identify(long_since, token, &who), OUTCOME_OK, "once more");
	ok(!auth_has_validated(long_since), "without it");
	while (clock_now_us() <= end_us)
		(void)usleep(10000);
	is_int(identify(long_since, token, &who), OUTCOME_UNAUTHENTICATED, "after it");
	auth_free(&long_since);
}

// Requests use their token; the checks of an open watch don't.
static void test_uses(void)
{
	struct token_use uses[8];
	struct shared *shared = shared_open(server.dir, STR("here"));
	struct str token = create(STR("watcher"), STR("one"), ROLE_READER, 0);
	struct principal who;

	if (shared == NULL)
		bail_out("no memory to share");
	for (unsigned cache_ms = 0; cache_ms <= 3600000; cache_ms += 3600000) {
		struct auth *auth = make_with(cache_ms, shared);

		for (int i = 0; i < 2; i++)
			is_int(identify_as(auth, token, false, &who), OUTCOME_OK, "a watch is checked");
		auth_free(&auth);
	}
	is_int((long long)token_uses_due(shared, clock_now_us(), 0, uses, COUNT_OF(uses)), 0, "which is no use");
	struct auth *auth = make_with(0, shared);
	is_int(identify(auth, str_part(token, 0, token.n - 1), &who), OUTCOME_UNAUTHENTICATED, "a wrong token");
	is_int((long long)token_uses_due(shared, clock_now_us(), 0, uses, COUNT_OF(uses)), 0, "is not used either");
	is_int(identify(auth, token, &who), OUTCOME_OK, "a request");
	is_int((long long)token_uses_due(shared, clock_now_us(), 0, uses, COUNT_OF(uses)), 1, "is one");
	is_str(str_n(uses[0].id, uses[0].id_n), str_cstr(pool, str_part(token, 0, 12)), "of its token");
	auth_free(&auth);
	shared_close(&shared);
}

static void test_tenants(struct auth *asking)
{
	struct str token = create(STR("gone"), STR("two"), ROLE_ADMIN, 0);
	struct principal who;

	server_sql("UPDATE tenants SET deleted_at = UTC_TIMESTAMP(6), purge_at = '2100-01-01' WHERE name = 'two'");
	is_int(identify(asking, token, &who), OUTCOME_OK, "a deleted tenant's admin is still somebody");
	is_str(who.tenant, "two", "of that tenant");
	server_sql("UPDATE tenants SET live = NULL WHERE name = 'two'");
	is_int(identify(asking, token, &who), OUTCOME_UNAUTHENTICATED, "a purged one's is not");
	server_sql("INSERT INTO tenants (name, uid, tier_id, metadata, etag, revision, created_at, updated_at) VALUES"
		" ('two', 'new', 1, '{}', '', 1, UTC_TIMESTAMP(6), UTC_TIMESTAMP(6))");
	is_int(identify(asking, token, &who), OUTCOME_UNAUTHENTICATED, "nor where another took the name");
	struct token_info *list;
	size_t n;
	is_int(auth_token_list(db, pool, STR("two"), &list, &n), OUTCOME_OK, "that one's tokens");
	is_int((long long)n, 0, "are none");
	is_int(auth_token_list(db, pool, STR_NONE, &list, &n), OUTCOME_OK, "all");
	is_str(list[n - 1].user, "gone", "with that of a purged tenant");
	is_str(list[n - 1].tenant, "two", "and its name");
}

static void test_list(void)
{
	struct token_info *list;
	size_t all, n;

	is_int(auth_token_list(db, pool, STR_NONE, &list, &all), OUTCOME_OK, "all tokens");
	is_int(auth_token_list(db, pool, STR("one"), &list, &n), OUTCOME_OK, "one tenant's");
	ok(n > 0 && n < all, "are not all");
	is_str(list[0].user, "bob", "the oldest first");
	is_str(list[0].description, "a test's", "with its description");
	is_int(list[0].role, ROLE_MEMBER, "and role");
	is_int(list[0].revoked_us, 0, "not revoked");
	ok(list[0].created_us > 0 && list[0].created_us <= clock_now_us(), "made before now");
	is_int(auth_token_list(db, pool, STR(""), &list, &n), OUTCOME_OK, "operators'");
	is_int((long long)n, 1, "there is one");
	is_int(auth_token_list(db, pool, STR("nowhere"), &list, &n), OUTCOME_OK, "nobody's");
	is_int((long long)n, 0, "none");
}

static void test_away(struct auth *asking)
{
	struct principal who;

	ok(server_do("stop"), "the server stops");
	SET(server.config, db)->connect_timeout = 1;
	is_int(identify(asking, STR("aaaaaaaaaaaa.bbbb"), &who), OUTCOME_UNAVAILABLE, "no server, no answer");
	is_int((long long)who.user.n, 0, "and nobody");
}

int main(void)
{
	server_start();
	server_sql_file("sql/schema/001-tenancy.sql");
	server_sql_file("sql/schema/023-token-uses.sql");
	server_sql("INSERT INTO tenants (name, uid, tier_id, metadata, etag, revision, created_at, updated_at, deleted_at)"
		" VALUES ('one', '1', 1, '{}', '', 1, UTC_TIMESTAMP(6), UTC_TIMESTAMP(6), NULL),"
		" ('x', '4', 1, '{}', '', 1, UTC_TIMESTAMP(6), UTC_TIMESTAMP(6), NULL),"
		" ('two', '2', 1, '{}', '', 1, UTC_TIMESTAMP(6), UTC_TIMESTAMP(6), NULL),"
		" ('deleted', '3', 1, '{}', '', 1, UTC_TIMESTAMP(6), UTC_TIMESTAMP(6), UTC_TIMESTAMP(6))");
	pool = pool_new();
	db = db_open(db_settings(server.config), DB_APPLICATION);
	endpoint = config_add_endpoint(server.config, STR("service"));
	struct auth *believing = make(3600000), *asking = make(0);

	test_create();
	test_identify(believing);
	test_refused(believing);
	test_form(asking);
	test_limits(asking);
	test_cache(asking, believing);
	test_places(believing);
	test_ends();
	test_uses();
	test_tenants(asking);
	test_list();
	test_away(asking);
	auth_free(&believing);
	auth_free(&asking);
	db_close(&db);
	pool_free(&pool);
	return done_testing();
}

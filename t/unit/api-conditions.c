// SPDX-License-Identifier: Apache-2.0
// If-Match and If-None-Match against an etag, without a database: which outcome, which words, which ETag.
#include "base/base.h"

#include "api/conditions.h"
#include "base/config/config.h"
#include "base/pool.h"
#include "registry/core/context.h"
#include "registry/core/failure.h"
#include "tap.h"

static struct pool *pool;
static struct problem problem;
static struct call call;
static uint8_t etag[64];

static void begin(enum http_method method, const char *match, const char *none_match)
{
	problem = (struct problem){ .n_members = 0 };
	call = (struct call){ .pool = pool, .registry = { { .pool = pool, .problem = &problem } } };
	call.request.method = method;
	response_reset(&call.response, pool);
	if (match != NULL)
		(void)request_add_header(pool, &call.request, STR("If-Match"), str_c(match));
	if (none_match != NULL)
		(void)request_add_header(pool, &call.request, STR("If-None-Match"), str_c(none_match));
}

#define HEX "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f202122232425262728292a2b2c2d2e2f303132333435363738393a3b3c3d3e3f"
#define IS "\"" HEX "\""
#define OTHER "\"000102\""
#define CHANGED "it was changed since: read it again and repeat your change on what it is now"
#define NOTHING "If-Match was given, but there is nothing here that could match"
#define THERE "If-None-Match was given, and what is here matches"

static void test_guards(void)
{
	static const struct {
		const char *match, *none_match;
		bool there;
		enum http_method method;
		enum outcome want;
		const char *detail;
		bool prevents_lost_update;
	} rows[] = {
		{ NULL, NULL, true, METHOD_PUT, OUTCOME_OK, "", false },
		{ NULL, NULL, false, METHOD_PUT, OUTCOME_OK, "", false },
		{ IS, NULL, true, METHOD_PUT, OUTCOME_OK, "", true },
		{ "W/" IS, NULL, true, METHOD_GET, OUTCOME_OK, "", true },
		{ OTHER ", W/" IS, NULL, true, METHOD_PUT, OUTCOME_OK, "", true },
		{ "*", NULL, true, METHOD_PUT, OUTCOME_OK, "", true },
		{ "*", NULL, false, METHOD_PUT, OUTCOME_STALE, NOTHING, true },
		{ IS, NULL, false, METHOD_PUT, OUTCOME_STALE, NOTHING, true },
		{ OTHER, NULL, true, METHOD_PUT, OUTCOME_STALE, CHANGED, true },
		{ OTHER, NULL, true, METHOD_GET, OUTCOME_STALE, CHANGED, true },
		{ "\"" HEX "0\"", NULL, true, METHOD_PUT, OUTCOME_STALE, CHANGED, true },
		{ NULL, "*", false, METHOD_PUT, OUTCOME_OK, "", true },
		{ NULL, "*", true, METHOD_PUT, OUTCOME_STALE, THERE, true },
		{ NULL, "*", true, METHOD_GET, OUTCOME_NOT_MODIFIED, "", true },
		{ NULL, "*", true, METHOD_HEAD, OUTCOME_NOT_MODIFIED, "", true },
		{ NULL, "*", true, METHOD_DELETE, OUTCOME_STALE, THERE, true },
		{ NULL, "*", true, METHOD_PATCH, OUTCOME_STALE, THERE, true },
		{ NULL, IS, true, METHOD_GET, OUTCOME_NOT_MODIFIED, "", false },
		{ NULL, IS, true, METHOD_PUT, OUTCOME_STALE, THERE, false },
		{ NULL, OTHER, true, METHOD_PUT, OUTCOME_OK, "", false },
		{ NULL, OTHER, true, METHOD_GET, OUTCOME_OK, "", false },
		{ NULL, IS, false, METHOD_PUT, OUTCOME_OK, "", false },
		{ IS, OTHER, true, METHOD_PUT, OUTCOME_OK, "", true },
		{ IS, IS, true, METHOD_GET, OUTCOME_NOT_MODIFIED, "", true },
		{ IS, IS, true, METHOD_PUT, OUTCOME_STALE, THERE, true },
		{ OTHER, IS, true, METHOD_GET, OUTCOME_STALE, CHANGED, true },
		{ IS, "*", false, METHOD_PUT, OUTCOME_STALE, NOTHING, true },
	};

	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		struct conditions conditions;
		begin(rows[i].method, rows[i].match, rows[i].none_match);
		is_int(conditions_read(&call, &conditions), OUTCOME_OK, "row %zu: read", i);
		struct guard guard = conditions_guard(&conditions);
		is_int(guard_check(guard, rows[i].there ? etag : NULL), rows[i].want, "row %zu: its outcome", i);
		is_int(guard.check != NULL, rows[i].match != NULL || rows[i].none_match != NULL, "row %zu: is the etag asked for?", i);
		is_int(guard.prevents_lost_update, rows[i].prevents_lost_update, "row %zu: does it keep from losing an update?", i);
		is_str(problem.detail, rows[i].detail, "row %zu: in words", i);
		bool tells = rows[i].want == OUTCOME_STALE && rows[i].there;
		is_int((long long)problem.n_members, tells ? 1 : 0, "row %zu: a member", i);
		if (tells) {
			is_str(str_c(problem.members[0].name), "etag", "row %zu: of that name", i);
			is_str(problem.members[0].value, "W/" HEX, "row %zu: has the etag", i);
		}
		is_int((long long)call.response.n_headers, tells ? 1 : 0, "row %zu: a header field", i);
		if (tells) {
			is_str(call.response.headers[0].name, "ETag", "row %zu: of that name", i);
			is_str(call.response.headers[0].value, "W/" IS, "row %zu: has it, too", i);
		}
	}
}

static void test_reading(void)
{
	static const char *const bad[] = { "", ",", "\"a", "\"a\"b", "*, \"a\"" };
	struct conditions conditions;
	struct tag_guard action;

	for (size_t i = 0; i < COUNT_OF(bad); i++) {
		begin(METHOD_PUT, bad[i], NULL);
		is_int(conditions_read(&call, &conditions), OUTCOME_BAD_REQUEST, "If-Match: %s", bad[i]);
		is_str(call.problem.detail, "If-Match must be \"*\" or a list of up to 32 entity tags, like W/\"0a1b…\"",
			"in words");
		is_int(conditions_read_match(&call, &conditions), OUTCOME_BAD_REQUEST, "where that alone is read: %s", bad[i]);
		is_int(conditions_move_guard(&call, &conditions, &action), OUTCOME_BAD_REQUEST, "of a move: %s", bad[i]);
		ok(action.matches == NULL && action.excludes == NULL, "which has no guard then");
		begin(METHOD_PUT, IS, bad[i]);
		is_int(conditions_read(&call, &conditions), OUTCOME_BAD_REQUEST, "If-None-Match: %s", bad[i]);
		is_str(call.problem.detail, "If-None-Match must be \"*\" or a list of up to 32 entity tags, like W/\"0a1b…\"",
			"in words");
		is_int(conditions_read_match(&call, &conditions), OUTCOME_OK, "where If-Match alone is read, it does not matter");
	}
	begin(METHOD_PUT, "\"a\", \"b\"", NULL);
	(void)conditions_read(&call, &conditions);
	struct guard guard = conditions_guard(&conditions);
	ok(guard.n_tags == 2 && str_eq_c(guard.tags[0], "a") && str_eq_c(guard.tags[1], "b"), "the tags themselves");
	ok(!conditions.reads && conditions.response == &call.response && conditions.registry == call.registry,
		"where answers go");
	begin(METHOD_POST, NULL, NULL);
	is_int(conditions_move_guard(&call, &conditions, &action), OUTCOME_OK, "a move without a condition");
	ok(action.matches == NULL && action.excludes == NULL, "has no guard");
	begin(METHOD_POST, "\"0a\", W/\"0b\"", NULL);
	is_int(conditions_move_guard(&call, &conditions, &action), OUTCOME_OK, "a move under one");
	ok(action.matches != NULL && action.matches(action.arg, STR("0a")) && action.matches(action.arg, STR("0B")) &&
		!action.matches(action.arg, STR("0")) && !action.matches(action.arg, STR("0c")), "which compares texts");
	ok(action.excludes == NULL, "and excludes nothing");
	begin(METHOD_POST, NULL, "\"0a\"");
	is_int(conditions_move_guard(&call, &conditions, &action), OUTCOME_OK, "a move that is not wanted for one preview");
	ok(action.matches == NULL && action.excludes != NULL && action.excludes(action.arg, STR("0a")) && !action.excludes(action.arg, STR("0b")),
		"which that one excludes");
	const struct state_tags former = { .n = 1, .other = { "0a" } }, none = { .n = 0 };
	is_int(tag_guard_check(action, "0b", &none), TAG_OK, "another one may be");
	is_int(tag_guard_check(action, "0b", &former), TAG_EXCLUDED, "but not the same under a key of before");
	begin(METHOD_POST, "\"0a\"", "\"0a\"");
	is_int(conditions_move_guard(&call, &conditions, &action), OUTCOME_OK, "under both");
	is_int(tag_guard_check(action, "0a", &none), TAG_EXCLUDED, "neither of which may fail");
	is_int(tag_guard_check(action, "0b", &former), TAG_EXCLUDED, "whatever the key");
	is_int(tag_guard_check(action, "0b", &none), TAG_DIFFERS, "If-Match comes first");
	begin(METHOD_GET, NULL, NULL);
	conditions_set_etag(&call, etag);
	ok(call.response.n_headers == 1 && str_eq_c(call.response.headers[0].name, "ETag"), "an ETag");
	is_str(call.response.headers[0].value, "W/" IS, "as header fields have it");
	is_str(conditions_etag_text(pool, etag), "W/" HEX, "and as bodies do");
}

int main(void)
{
	pool = pool_new();
	for (size_t i = 0; i < sizeof(etag); i++)
		etag[i] = (uint8_t)i;
	test_guards();
	test_reading();
	pool_free(&pool);
	return done_testing();
}

// SPDX-License-Identifier: Apache-2.0
// What handlers ask of their call.
#include "base/base.h"

#include "api/call.h"
#include "api/settings.h"
#include "base/pool.h"
#include "registry/core/settings.h"
#include "set.h"
#include "settings/settings.h"
#include "tap.h"

static struct pool *pool;
static struct call call;
static struct config *config;

static void begin(const char *public_url)
{
	const struct endpoint_config *endpoint = config_endpoint(config, "service");

	SET_ENDPOINT(endpoint, api_endpoint)->public_url = public_url;
	call = (struct call){ .pool = pool, .endpoint = endpoint, .config = config };
	response_reset(&call.response, pool);
}

static void failing(void)
{
	char huge[3000];

	begin("");
	is_int(call_fail(&call, OUTCOME_GONE, "%s is %d", "it", 3), OUTCOME_GONE, "call_fail gives the outcome back");
	is_str(call.problem.detail, "it is 3", "and keeps the text");
	for (size_t i = 0; i + 1 < sizeof(huge); i += 2)
		memcpy(huge + i, "é", 2);
	(void)call_fail(&call, OUTCOME_GONE, "x%.2998s", huge);
	ok(call.problem.detail.n > 1000, "a long text is cut");
	ok(str_utf8_ok(call.problem.detail, NULL), "between characters");
}

static void urls_of_hosts(void)
{
	static const struct {
		const char *host, *want;
	} rows[] = {
		{ "tenure.example", "http://tenure.example/a" },
		{ "tenure.example:8080", "http://tenure.example:8080/a" },
		{ "192.0.2.1:80", "http://192.0.2.1:80/a" },
		{ "[2001:db8::1]", "http://[2001:db8::1]/a" },
		{ "[::1]:8080", "http://[::1]:8080/a" },
		{ "", "/a" },
		{ "evil/path", "/a" },
		{ "user@evil", "/a" },
		{ "a:b", "/a" },
		{ "a:", "/a" },
		{ ":80", "/a" },
		{ "a:123456", "/a" },
		{ "a:80:90", "/a" },
		{ "a b", "/a" },
		{ "a, b", "/a" },
		{ "[::1", "/a" },
		{ "[]", "/a" },
		{ "[::1]x", "/a" },
		{ "[::1]:", "/a" },
		{ "[g::1]", "/a" },
		{ "a\xc3\xa9", "/a" },
	};

	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		begin("");
		call.request.host = str_c(rows[i].host);
		is_str(call_url(&call, STR("/a")), rows[i].want, "Host \"%s\"", rows[i].host);
	}
	call.request.host = str_n("a\0b", 3);
	is_str(call_url(&call, STR("/a")), "/a", "Host with NUL");
	call.request.host = STR("a");
	call.request.https = true;
	is_str(call_url(&call, STR("/a")), "https://a/a", "https");
}

static void urls_of_the_configuration(void)
{
	begin("https://cloud.example/tenure");
	call.request.host = STR("other");
	is_str(call_url(&call, STR("/a")), "https://cloud.example/tenure/a", "public_url wins");
	begin("https://cloud.example/");
	is_str(call_url(&call, STR("/a")), "https://cloud.example/a", "its last slash is not doubled");

	ok(request_add_header(pool, &call.request, STR("X-Tenure-Console"), STR("1")) == OUTCOME_OK, "a header field");
	is_str(call_url(&call, STR("/a")), "/a", "the console gets a path, by whatever name it came");

	static const struct {
		const char *host;
		bool https;
		const char *want;
	} rows[] = {
		{ "one.example", true, "https://one.example/t/a" },
		{ "ONE.example:443", true, "https://one.example/t/a" },
		{ "one.example", false, "https://one.example/t/a" },
		{ "four.example", false, "https://four.example/a" },
		{ "four.example:443", false, "https://four.example/a" },
		{ "four.example:8443", false, "https://one.example/t/a" },
		{ "five.example", false, "http://five.example/a" },
		{ "five.example", true, "https://five.example/a" },
		{ "two.example:8080", false, "http://two.example:8080/a" },
		{ "two.example", false, "https://one.example/t/a" },
		{ "three.example:80", false, "http://three.example/a" },
		{ "three.example", false, "http://three.example/a" },
		{ "three.example:443", false, "https://one.example/t/a" },
		{ "three.example.evil", false, "https://one.example/t/a" },
		{ "evil.test", false, "https://one.example/t/a" },
		{ "", false, "https://one.example/t/a" },
	};
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		begin("https://one.example/t, http://two.example:8080 ,http://three.example,https://four.example,"
		      "https://five.example,http://five.example");
		call.request.host = str_c(rows[i].host);
		call.request.https = rows[i].https;
		is_str(call_url(&call, STR("/a")), rows[i].want, "of several, by Host \"%s\"", rows[i].host);
	}
}

static const struct shape members[] = {
	{ .name = "id", .kind = SHAPE_STRING, .flags = SHAPE_REQUIRED },
	{ .name = NULL },
};
static const struct repr_document thing = { .root = "thing", .body = { .kind = SHAPE_OBJECT, .members = members } };

static void bodies(void)
{
	struct doc *body;

	begin("");
	is_int(call_read(&call, &thing, &body), OUTCOME_OK, "no body");
	ok(body == NULL, "is no document");
	call.request.body = STR("{\"thing\": {\"id\": \"x\"}}");
	is_int(call_read(&call, &thing, &body), OUTCOME_OK, "a body");
	const struct doc *id = NULL;
	ok(doc_get(body, STR("id"), &id) && str_eq_c(doc_string(id), "x"), "is read");
	call.request.body = STR("{\"other\": {}}");
	is_int(call_read(&call, &thing, &body), OUTCOME_BAD_DOCUMENT, "another document");
	ok(call.problem.detail.n > 0, "is refused with a reason");
	call.request.body = STR("{\"thing\": {\"id\": \"x\"}}");
	(void)call_read(&call, &thing, &body);
	call_write(&call, &thing, body);
	is_str(call.response.body, "{\"thing\":{\"id\":\"x\"}}", "what is written");
	is_str(call.response.content_type, "application/json", "has its format's type");
	call.produce_type = "application/vnd.example+json";
	call_write(&call, &thing, body);
	is_str(call.response.content_type, "application/vnd.example+json", "or the negotiated one");
}

int main(void)
{
	pool = pool_new();
	config = config_new(settings_tables());
	(void)config_add_endpoint(config, STR("service"));
	SET(config, registry)->max_body = 1000;
	SET(config, api)->max_depth = 8;
	failing();
	urls_of_hosts();
	urls_of_the_configuration();
	bodies();
	config_free(&config);
	pool_free(&pool);
	return done_testing();
}

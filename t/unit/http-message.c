// SPDX-License-Identifier: Apache-2.0
// Requests and responses: methods, headers, preferences.
#include "base/base.h"

#include "base/pool.h"
#include "http/response.h"
#include "tap.h"
#include "logged.h"

static void test_methods(void)
{
	is_int(http_method_parse(STR("GET")), METHOD_GET, "GET");
	is_int(http_method_parse(STR("OPTIONS")), METHOD_OPTIONS, "OPTIONS");
	is_int(http_method_parse(STR("get")), METHOD_OTHER, "methods have case");
	is_int(http_method_parse(STR("GETX")), METHOD_OTHER, "longer");
	is_int(http_method_parse(STR("GE")), METHOD_OTHER, "shorter");
	is_int(http_method_parse(STR("GET\0")), METHOD_OTHER, "with a NUL");
	is_int(http_method_parse(STR_NONE), METHOD_OTHER, "none");
	for (int i = 0; i < METHOD__COUNT; i++) {
		enum http_method method = (enum http_method)i;
		is_int(http_method_parse(str_c(http_method_name(method))), i, "name of %s", http_method_name(method));
	}
	is_str(str_c(http_method_name(METHOD_OTHER)), "OTHER", "name of others");
}

static void test_headers(struct pool *pool)
{
	struct request *request = POOL_NEW(pool, struct request);

	request_add_header(pool, request, STR("IF_MATCH"), STR("\"a\""));
	request_add_header(pool, request, STR("If-Match"), STR("\"b\""));
	request_add_header(pool, request, STR("X-Empty"), STR_NONE);
	request_add_header(pool, request, STR("X-Nul"), STR("a\0b"));
	request_add_header(pool, request, STR("x-nul"), STR("c"));
	is_str(request_header(request, "if-match"), "\"a\", \"b\"", "repeated headers are joined");
	ok(request_has_header(request, "x-empty"), "an empty header is there");
	ok(request_header(request, "x-empty").p != NULL, "its value has a place");
	ok(request_header(request, "x-none").p == NULL, "an absent one has none");
	ok(!request_has_header(request, "x-none"), "and is not there");
	ok(str_eq(request_header(request, "x-nul"), STR("a\0b, c")), "joined beyond a NUL");
	is_int((long long)request->n_headers, 3, "one place per name");
	request_add_header(pool, request, STR("x-empty"), STR("d"));
	request_add_header(pool, request, STR("x-empty"), STR(""));
	is_str(request_header(request, "x-empty"), "d", "an empty value is no element of a list");

	enum outcome outcome = OUTCOME_OK;
	for (int i = 0; outcome == OUTCOME_OK && i < 1000; i++)
		outcome = request_add_header(pool, request, str_printf(pool, "x-%d", i), STR("1"));
	is_int(outcome, OUTCOME_HEADERS_TOO_LARGE, "too many");
	is_int((long long)request->n_headers, REQUEST_MAX_HEADERS, "all places are used");
	is_int(request_add_header(pool, request, STR("X-1"), STR("2")), OUTCOME_OK, "a repeated one needs no place");
}

static bool prefers(struct pool *pool, const char *header, const char *name, const char *value)
{
	struct request *request = POOL_NEW(pool, struct request);

	request_add_header(pool, request, STR("Prefer"), str_c(header));
	return request_prefers(request, name, value);
}

static void test_preferences(struct pool *pool)
{
	struct request *request = POOL_NEW(pool, struct request);

	ok(!request_prefers(request, "return", "minimal"), "no header");
	ok(prefers(pool, "return=minimal", "return", "minimal"), "alone");
	ok(prefers(pool, "foo; bar=1, Return = \"minimal\" ; x", "return", "minimal"),
		"in a list, quoted, with a parameter");
	ok(!prefers(pool, "return=representation", "return", "minimal"), "another value");
	ok(!prefers(pool, "return=representation, return=minimal", "return", "minimal"), "the first counts");
	ok(!prefers(pool, "foo; return=minimal", "return", "minimal"), "a parameter is no preference");
	ok(!prefers(pool, "foo=\"a, return=minimal\"", "return", "minimal"), "nor is what is quoted");
	ok(prefers(pool, "respond-async, wait=10", "respond-async", NULL), "without value");
	ok(prefers(pool, "respond-async=\"\"", "respond-async", NULL), "an empty value is none");
	ok(!prefers(pool, "respond-asynchronously", "respond-async", NULL), "not a part of a name");
	ok(!prefers(pool, "", "respond-async", NULL), "empty header");
}

// Any byte at any place of values of many lengths: control characters but the tab become blanks, and all others stay.
static void test_one_line(struct response *response)
{
	size_t wrong = 0;
	char text[40];

	for (size_t n = 0; n <= sizeof(text); n++) {
		for (size_t at = 0; at < n; at++) {
			for (int byte = 0; byte < 256; byte++) {
				memset(text, at % 2 == 0 ? 'x' : 0xff, n);
				text[at] = (char)byte;
				response_set(response, "X-Line", str_n(text, n));
				text[at] = (byte < ' ' && byte != '\t') || byte == 0x7f ? ' ' : (char)byte;
				wrong += !str_eq(response_get(response, "X-Line"), str_n(text, n));
			}
		}
	}
	is_int((long long)wrong, 0, "no byte but these is replaced, and each of these is");
	response_unset(response, "X-Line");
}

static void test_response(struct pool *pool)
{
	struct response *response = POOL_NEW(pool, struct response);

	response_reset(response, pool);
	ok(response_get(response, "Location").p == NULL, "nothing set");
	response_set(response, "Location", STR("/a"));
	response_set(response, "location", STR("/b"));
	is_int((long long)response->n_headers, 1, "set replaces");
	is_str(response_get(response, "LOCATION"), "/b", "names have no case");
	response_add(response, "Vary", STR("Accept"));
	response_add(response, "Vary", STR("Prefer"));
	is_int((long long)response->n_headers, 3, "add adds");
	response_set(response, "X-Evil", STR("a\r\nSet-Cookie: x\0y"));
	is_str(response_get(response, "X-Evil"), "a  Set-Cookie: x y", "no line ends in a value");
	test_one_line(response);
	response_set_default(response, "x-evil", STR("2"));
	is_str(response_get(response, "X-Evil"), "a  Set-Cookie: x y", "a default does not replace what is set");
	response_set_default(response, "X-Default", STR("d"));
	is_str(response_get(response, "X-Default"), "d", "... but stands where nothing is");
	response_unset(response, "X-Default");
	logged_begin();
	for (int i = 0; i < 2 * RESPONSE_MAX_HEADERS; i++)
		response_add(response, "X-Many", STR("1"));
	ok(logged_end_has("response header X-Many dropped: there are "), "a header too many is logged");
	is_int((long long)response->n_headers, RESPONSE_MAX_HEADERS, "never more than there is room for");
	response->status = 200;
	response_reset(response, pool);
	is_int((long long)response->n_headers, 0, "reset forgets the headers");
	is_int(response->status, 0, "and the status");
}

// A file that can't be made, or takes a part, leaves all of the answer in memory, and the log has one line.
static void test_spill(struct pool *pool)
{
	struct response *response = POOL_NEW(pool, struct response);
	struct buf text = buf_new(pool, 16);

	response_reset(response, pool);
	(void)setenv("TMPDIR", "/nowhere", 1);
	logged_begin();
	for (int i = 0; i < 3; i++) {
		BUF_LIT(&text, "abc");
		is_int((long long)response_spill(response, &text), 0, "without a folder there is no file");
	}
	ok(logged_end_count("no file for a long answer can be made in /nowhere") == 1, "which is logged once");
	is_str(buf_str(&text), "abcabcabc", "all is in memory");
	(void)unsetenv("TMPDIR");
	response_unspill(response);
	is_int((long long)response_spill(response, &text), 9, "the next attempt of the request tries again");
	is_int((long long)text.n, 0, "and has it in the file");
	is_int((long long)response_length(response), 9, "the whole length");
}

int main(void)
{
	struct pool *pool = pool_new();

	test_methods();
	test_headers(pool);
	test_preferences(pool);
	test_response(pool);
	test_spill(pool);
	pool_free(&pool);
	return done_testing();
}

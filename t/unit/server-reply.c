// SPDX-License-Identifier: Apache-2.0
// Response → header block; call → access line.
#include "base/base.h"

#include "base/buf.h"
#include "base/config/config.h"
#include "base/pool.h"
#include "server/request/access.h"
#include "server/wire/reply.h"
#include "tap.h"

static struct pool *pool;

static struct str head_of(const struct response *response)
{
	struct buf out = buf_new(pool, 0);

	reply_head(&out, response);
	return buf_str(&out);
}

static struct response make(int status, const char *type, const char *body)
{
	struct response response;

	response_reset(&response, pool);
	response.status = status;
	response.content_type = str_c(type);
	response.body = str_c(body);
	return response;
}

static void heads(void)
{
	struct response response = make(200, "application/json", "{}");
	response_set(&response, "ETag", STR("\"a\""));
	response_add(&response, "Link", STR("<b>\r\nStatus: 500"));
	is_str(head_of(&response),
		"Status: 200 OK\r\nContent-Type: application/json\r\nContent-Length: 2\r\nETag: \"a\"\r\n"
		"Link: <b>  Status: 500\r\n\r\n", "with a body");
	response = make(201, "", "");
	is_str(head_of(&response), "Status: 201 Created\r\nContent-Length: 0\r\n\r\n", "with an empty one");
	response = make(204, "application/json", "{}");
	is_str(head_of(&response), "Status: 204 No Content\r\n\r\n", "204 has neither type nor length");
	response = make(304, "application/json", "{}");
	is_str(head_of(&response), "Status: 304 Not Modified\r\n\r\n", "nor has 304");
	response = make(418, "", "");
	ok(str_starts(head_of(&response), STR("Status: 418 ")), "a status without a known reason has one, too");
	for (int outcome = 0; outcome < OUTCOME__COUNT; outcome++) {
		response = make(outcome_status((enum outcome)outcome), "", "");
		ok(!str_starts(str_part(head_of(&response), sizeof("Status: 200"), 100), STR("Status")),
			"a reason for %s", outcome_name((enum outcome)outcome));
	}
}

// From the time's end on: what stands before and in it changes.
static struct str line_of(const struct call *call)
{
	struct buf line = buf_new(pool, 0);

	access_line(&line, call, OUTCOME_OK, 2, 1234);
	return buf_str(&line);
}

static bool contains(struct str s, const char *part)
{
	return memmem(s.p, s.n, part, strlen(part)) != NULL;
}

static void access_lines(void)
{
	static struct call call;
	const struct endpoint_config endpoint = { .name = "service" };

	call = (struct call){ .pool = pool, .endpoint = &endpoint };
	call.response = make(200, "text/plain", "12345");
	call.request.method_text = STR("GET");
	call.request.target = STR("/a\"b\nc");
	call.request.protocol = STR("HTTP/1.1");
	call.request.remote_addr = STR("2001:db8::1");
	call.who.user = STR("jane doe\n");
	call.who.tenant = STR("a\\b\xff");
	struct str line = line_of(&call);
	ok(str_starts(line, STR("2001:db8::1 - jane\\x20doe\\x0a [")), "the user can't end its field");
	ok(contains(line, "] \"GET /a\\x22b\\x0ac HTTP/1.1\" 200 5 \"-\" \"-\" "), "nor the target its quotes");
	ok(contains(line, " service ok 2 "), "endpoint, outcome, tries");
	ok(str_ends(line, STR(" \"a\\x5cb\\xff\"")), "the tenant comes last, escaped");
	ok(str_find(line, '\n', 0) == line.n, "one line");

	call.request.method = METHOD_HEAD;
	ok(contains(line_of(&call), " 200 - \"-\""), "HEAD sends no bytes");
	call.who.user = STR("");
	call.who.tenant = STR("");
	line = line_of(&call);
	ok(str_starts(line, STR("2001:db8::1 - - [")), "nobody");
	ok(str_ends(line, STR(" \"-\"")), "no tenant");

	char *huge = pool_alloc(pool, 100000);
	memset(huge, 'a', 100000);
	call.request.target = str_n(huge, 100000);
	ok(line_of(&call).n < 10000, "a target without end is cut");
}

static void json_lines(void)
{
	static struct call call;
	const struct endpoint_config endpoint = { .name = "service" };

	call = (struct call){ .pool = pool, .endpoint = &endpoint };
	call.response = make(200, "text/plain", "12345");
	call.request.method_text = STR("GET");
	call.request.target = STR("/a\"b\nc");
	call.request.protocol = STR("HTTP/1.1");
	call.request.remote_addr = STR("2001:db8::1");
	call.who.tenant = STR("a\\b\"\xff");
	struct buf line = buf_new(pool, 0);
	access_line_json(&line, &call, OUTCOME_OK, 2, 1234);
	struct str s = buf_str(&line);
	ok(str_starts(s, STR("{\"time\":\"")), "an object");
	ok(contains(s, ",\"address\":\"2001:db8::1\",\"user\":null,\"method\":\"GET\",\"target\":\"/a\\\"b\\nc\","), "quotes and newlines are JSON's");
	ok(contains(s, "\"status\":200,\"bytes\":5,\"referer\":null,\"user_agent\":null,\"request_id\":\""), "status and bytes");
	ok(str_ends(s, STR(",\"endpoint\":\"service\",\"outcome\":\"ok\",\"tries\":2,\"tenant\":\"a\\\\x5cb\\\\x22\\\\xff\"}")),
		"what is not UTF-8 is escaped as in the other format");
	ok(str_find(s, '\n', 0) == s.n, "one line");

	call.who.tenant = STR("\x1b[1m \xc2\x9b" "31m \x7f \xc3\xa9");
	line.n = 0;
	access_line_json(&line, &call, OUTCOME_OK, 2, 1234);
	ok(str_ends(buf_str(&line), STR(",\"tenant\":\"\\u001b[1m \\u009b31m \\u007f \xc3\xa9\"}")),
		"nor does a terminal obey what it shows");
	call.who.tenant = STR("a\0b\x01");
	line.n = 0;
	access_line_json(&line, &call, OUTCOME_OK, 2, 1234);
	ok(str_ends(buf_str(&line), STR(",\"tenant\":\"a\\u0000b\\u0001\"}")), "a NUL ends nothing");
}

int main(void)
{
	pool = pool_new();
	json_lines();
	heads();
	access_lines();
	pool_free(&pool);
	return done_testing();
}

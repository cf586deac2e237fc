// SPDX-License-Identifier: Apache-2.0
// Request targets: what is accepted, as what, and what is refused.
#include "base/base.h"

#include "base/buf.h"
#include "base/pool.h"
#include "http/uri.h"
#include "tap.h"

enum { MAX = 8192 };

// The segments joined by '|', a trailing slash as "/", then "?" and name=value pairs joined by '&', decoded.
static struct str shown(struct pool *pool, const struct uri *uri)
{
	struct buf out = buf_new(pool, 0);

	for (size_t i = 0; i < uri->n_segments; i++) {
		if (i > 0)
			buf_addc(&out, '|');
		buf_add(&out, uri->segments[i]);
	}
	if (uri->trailing_slash)
		buf_addc(&out, '/');
	for (size_t i = 0; i < uri->n_pairs; i++) {
		buf_addc(&out, i == 0 ? '?' : '&');
		buf_add(&out, uri->pairs[i].name);
		if (uri->pairs[i].has_value)
			buf_addc(&out, '=');
		buf_add(&out, uri->pairs[i].value);
	}
	return buf_str(&out);
}

static void test_accepted(struct pool *pool)
{
	static const struct { const char *target, *shown; } cases[] = {
		{ "/", "" },
		{ "/v1.0", "v1.0" },
		{ "/v1.0/", "v1.0/" },
		{ "/v1.0/Bob's%20Account/widgets", "v1.0|Bob's Account|widgets" },
		{ "/v1.0/%E2%88%91%E2%88%9E", "v1.0|∑∞" },
		{ "/v1.0/%e2%88%91", "v1.0|∑" },
		{ "/v1.0/∑∞", "v1.0|∑∞" },
		{ "/v1.0/%F0%9F%98%80", "v1.0|😀" },
		{ "/v1.0/%E2\x88\x91", "v1.0|∑" },
		{ "/v1.0/resel%5Csub", "v1.0|resel\\sub" },
		{ "/a%3Fb%23c%25d", "a?b#c%d" },
		{ "/a+b", "a+b" },
		{ "/...", "..." },
		{ "/.a", ".a" },
		{ "/%252e%252e", "%2e%2e" },
		{ "/a%0Ab", "a\nb" },
		{ "/a|b\"<>", "a|b\"<>" },
		{ "/a?", "a" },
		{ "/a?x", "a?x" },
		{ "/a?x=", "a?x=" },
		{ "/a?x=1&y=2", "a?x=1&y=2" },
		{ "/a?x=1&&y=2&", "a?x=1&y=2" },
		{ "/a?x=a+b%2Bc", "a?x=a b+c" },
		{ "/a?x=a%2Fb/../c?d", "a?x=a/b/../c?d" },
		{ "/a?x=b=c", "a?x=b=c" },
		{ "/a?%78=%C3%A4", "a?x=ä" },
		{ "http://host:80/v1.0/x?y=1", "v1.0|x?y=1" },
		{ "HTTPS://host/v1.0", "v1.0" },
		{ "https:///v1.0", "v1.0" },
		{ "http:///v1.0", "v1.0" },
		{ "/a?=b", "a?=b" },
		{ "/a?=", "a?=" },
		{ "/%7E%7e%7f", "~~\x7f" },
		{ "/a?x=%2B+%20", "a?x=+  " },
		{ "/a?x=+b&+=1", "a?x= b& =1" },
		{ "/%41", "A" },
		{ "http://host", "" },
		{ "http://host?x=1", "?x=1" },
		{ "http://host?x=/a", "?x=/a" },
	};
	struct uri uri;
	struct str detail;

	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		enum outcome outcome = uri_parse(pool, str_c(cases[i].target), MAX, &uri, &detail);
		is_int(outcome, OUTCOME_OK, "accepted: %s", cases[i].target);
		is_str(shown(pool, &uri), cases[i].shown, "decoded: %s", cases[i].target);
	}
}

static void test_refused(struct pool *pool)
{
	static const struct { const char *target, *says; } cases[] = {
		{ "", "begin with '/'" },
		{ "*", "begin with '/'" },
		{ "v1.0", "begin with '/'" },
		{ "ftp://host/x", "begin with '/'" },
		{ "?x=1", "begin with '/'" },
		{ "//", "segment 1 of the path: it is empty" },
		{ "//host/x", "segment 1 of the path: it is empty" },
		{ "/a//b", "segment 2 of the path: it is empty" },
		{ "/a//", "segment 2 of the path: it is empty" },
		{ "/a/./b", "\"..\"" },
		{ "/a/../b", "segment 2" },
		{ "/a/..", "\"..\"" },
		{ "/a/%2e%2e/b", "\"..\"" },
		{ "/a/.%2E", "\"..\"" },
		{ "/%2e", "\"..\"" },
		{ "/a%2Fb", "%2F" },
		{ "/a%2f..%2fb", "%2F" },
		{ "/a%00b", "NUL" },
		{ "/a?x=%00", "parameter 1 of the query" },
		{ "/a%", "two hexadecimal digits" },
		{ "/a%4", "two hexadecimal digits" },
		{ "/a%zz", "two hexadecimal digits" },
		{ "/a%4g", "two hexadecimal digits" },
		{ "/a%g4", "two hexadecimal digits" },
		{ "/a%%34", "two hexadecimal digits" },
		{ "/a% 1", "blank" },
		{ "/a?b=%g0", "two hexadecimal digits" },
		{ "/a?b=1&c=%", "parameter 2" },
		{ "/%FF", "UTF-8" },
		{ "/%C0%AF", "UTF-8" },           // overlong '/'
		{ "/%C0%AE%C0%AE", "UTF-8" },     // overlong ".."
		{ "/%E0%80%AF", "UTF-8" },
		{ "/%F0%80%80%AF", "UTF-8" },
		{ "/%C1%81", "UTF-8" },
		{ "/%C0%80", "UTF-8" },           // overlong NUL
		{ "/%ED%A0%80", "UTF-8" },        // surrogate
		{ "/%ED%BF%BF", "UTF-8" },
		{ "/%F4%90%80%80", "UTF-8" },     // above U+10FFFF
		{ "/%E2%88", "UTF-8" },           // cut
		{ "/%E2/%88%91", "UTF-8" },       // cut by a '/'
		{ "/\xff", "UTF-8" },
		{ "/a?x=\xc0\xaf", "UTF-8" },
		{ "/a b", "blank" },
		{ "/a#b", "'#'" },
		{ "/a?b#c", "'#'" },
		{ "/a\tb", "control" },
		{ "/a\x7f", "control" },
	};
	struct uri uri;

	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		struct str detail = STR("");
		enum outcome outcome = uri_parse(pool, str_c(cases[i].target), MAX, &uri, &detail);
		is_int(outcome, OUTCOME_BAD_ADDRESS, "refused: %s", cases[i].target);
		const char *text = str_cstr(pool, detail);
		if (!ok(strstr(text, cases[i].says) != NULL, "the detail says %s", cases[i].says))
			diag("%s", text);
		ok(str_utf8_ok(detail, NULL), "the detail is UTF-8");
	}
}

static void test_limits(struct pool *pool)
{
	struct buf path = buf_new(pool, 0), query = buf_new(pool, 0);
	struct uri uri;
	struct str detail;

	for (int i = 0; i < URI_MAX_SEGMENTS; i++)
		BUF_LIT(&path, "/a");
	is_int(uri_parse(pool, buf_str(&path), MAX, &uri, &detail), OUTCOME_OK, "as many segments as allowed");
	is_int((long long)uri.n_segments, URI_MAX_SEGMENTS, "all are there");
	BUF_LIT(&path, "/");
	is_int(uri_parse(pool, buf_str(&path), MAX, &uri, &detail), OUTCOME_OK, "a trailing slash is no segment");
	BUF_LIT(&path, "a");
	is_int(uri_parse(pool, buf_str(&path), MAX, &uri, &detail), OUTCOME_BAD_ADDRESS, "one segment more");
	is_str(detail, "the path has more than 32 segments", "names the limit");

	BUF_LIT(&query, "/?a");
	for (int i = 1; i < URI_MAX_QUERY; i++)
		BUF_LIT(&query, "&a=1");
	is_int(uri_parse(pool, buf_str(&query), MAX, &uri, &detail), OUTCOME_OK, "as many parameters as allowed");
	is_int((long long)uri.n_pairs, URI_MAX_QUERY, "all are there");
	BUF_LIT(&query, "&a");
	is_int(uri_parse(pool, buf_str(&query), MAX, &uri, &detail), OUTCOME_BAD_ADDRESS, "one parameter more");
	is_str(detail, "the query has more than 320 parameters", "names the limit");

	is_int(uri_parse(pool, STR("/abc"), 4, &uri, &detail), OUTCOME_OK, "just as long as allowed");
	is_int(uri_parse(pool, STR("/abc"), 3, &uri, &detail), OUTCOME_TARGET_TOO_LONG, "too long");
	is_int(uri_parse(pool, STR_NONE, 3, &uri, &detail), OUTCOME_BAD_ADDRESS, "no target at all");
	for (size_t n = 3; n < 5; n++)
		is_int(uri_parse(pool, str_n("/a%41", n), 9, &uri, &detail), OUTCOME_BAD_ADDRESS, "an escape cut at %zu", n);
	is_int(uri_parse(pool, str_n("/a%41", 5), 9, &uri, &detail), OUTCOME_OK, "and a whole one at the end");
	is_int(uri_parse(pool, STR("/a\0b"), 9, &uri, &detail), OUTCOME_BAD_ADDRESS, "a raw NUL");
	// Of what stands behind the end, nothing counts.
	is_int(uri_parse(pool, str_n("/a?x=%41", 7), 9, &uri, &detail), OUTCOME_BAD_ADDRESS, "a value's escape that is cut");
	is_int(uri_parse(pool, str_n("/a?x=1", 4), 9, &uri, &detail), OUTCOME_OK, "a parameter that is cut");
	ok(uri.n_pairs == 1 && !uri.pairs[0].has_value && uri.pairs[0].value.p != NULL && uri.pairs[0].value.n == 0, "has no value");
	is_int(uri_parse(pool, str_n("http://h/a", 8), 90, &uri, &detail), OUTCOME_OK, "a host alone");
	is_int((long long)uri.n_segments, 0, "has no segments");
}

static void test_views(struct pool *pool)
{
	struct uri uri;
	struct str detail, value;

	uri_parse(pool, STR("http://h/a%20b?x=1&x=2&y"), MAX, &uri, &detail);
	is_str(uri.target, "/a%20b?x=1&x=2&y", "target without scheme and authority");
	is_str(uri.path, "/a%20b", "path as sent");
	is_str(uri.query, "x=1&x=2&y", "query as sent");
	ok(uri_query(&uri, STR("x"), &value) && str_eq_c(value, "1"), "the first of a name");
	ok(uri_query(&uri, STR("y"), &value) && value.n == 0, "a name without value");
	ok(!uri_query(&uri, STR("z"), &value), "a name that is not there");
	ok(!uri_query(&uri, STR(""), &value), "nor is one without a name");
	uri_parse(pool, STR("/a"), MAX, &uri, &detail);
	ok(uri.query.p == NULL, "no '?', no query");
	uri_parse(pool, STR("/a?"), MAX, &uri, &detail);
	ok(uri.query.p != NULL && uri.query.n == 0, "an empty query is one");
}

static void test_encoding(struct pool *pool)
{
	struct buf out = buf_new(pool, 0);
	char all[255];
	struct uri uri;
	struct str detail, decoded;

	uri_add_segment(&out, STR("a-._~!$&'()*+,;=:@/?#[] %\0ä"));
	is_str(buf_str(&out), "a-._~!$%26'()*%2B,;%3D:@%2F%3F%23%5B%5D%20%25%00%C3%A4", "a segment");
	out = buf_new(pool, 0);
	uri_add_segment(&out, STR("`az{@AZ[/09:"));
	is_str(buf_str(&out), "%60az%7B@AZ%5B%2F09:", "the ends of ranges of characters");
	out = buf_new(pool, 0);
	uri_add_value(&out, STR("`az{@AZ[/09:\x7f\x80\xff"));
	is_str(buf_str(&out), "%60az%7B%40AZ%5B%2F09%3A%7F%80%FF", "and in a value");
	out = buf_new(pool, 0);
	uri_add_value(&out, STR("a-._~!&=+ /"));
	is_str(buf_str(&out), "a-._~%21%26%3D%2B%20%2F", "a value");

	size_t n = 0;
	for (int c = 1; c < 128; c++) {
		if (c != '/')
			all[n++] = (char)c;
	}
	out = buf_new(pool, 0);
	buf_addc(&out, '/');
	uri_add_segment(&out, str_n(all, n));
	BUF_LIT(&out, "?x=");
	uri_add_value(&out, str_n(all, n));
	is_int(uri_parse(pool, buf_str(&out), MAX, &uri, &detail), OUTCOME_OK, "what was encoded is accepted");
	ok(str_eq(uri.segments[0], str_n(all, n)), "and decoded to the same segment");
	ok(str_eq(uri.pairs[0].value, str_n(all, n)), "and to the same value");

	ok(uri_decode(pool, STR("a%3Ab+%C3%A4"), &decoded) && str_eq_c(decoded, "a:b+ä"), "decoding leaves '+'");
	ok(!uri_decode(pool, STR("a%"), &decoded), "not a cut escape");
	ok(!uri_decode(pool, STR("a%00"), &decoded), "not a NUL");
	ok(!uri_decode(pool, STR("%C3"), &decoded), "not a cut character");
}

int main(void)
{
	struct pool *pool = pool_new();

	test_accepted(pool);
	test_refused(pool);
	test_limits(pool);
	test_views(pool);
	test_encoding(pool);
	pool_free(&pool);
	return done_testing();
}

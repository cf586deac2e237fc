// SPDX-License-Identifier: Apache-2.0
// The examples of RFC 4648, section 10, what is no base64, and every sequence of one and two bytes, there and back.
#include "base/base.h"

#include "base/base64.h"
#include "base/buf.h"
#include "base/pool.h"
#include "tap.h"

static void test_base64(struct pool *pool)
{
	static const struct { const char *text; struct str bytes; } good[] = {
		{ "", STR_INIT("") }, { "Zg==", STR_INIT("f") }, { "Zm8=", STR_INIT("fo") }, { "Zm9v", STR_INIT("foo") },
		{ "Zm9vYg==", STR_INIT("foob") }, { "Zm9vYmE=", STR_INIT("fooba") }, { "Zm9vYmFy", STR_INIT("foobar") },
		{ "AAAA", STR_INIT("\0\0\0") }, { "+/+/", STR_INIT("\xfb\xff\xbf") }, { "AA==", STR_INIT("\0") },
		// The bits behind the last byte are not looked at.
		{ "Zn==", STR_INIT("f") },
	};
	static const struct str bad[] = {
		STR_INIT("Z"), STR_INIT("Zg"), STR_INIT("Zg="), STR_INIT("Zm9vY"), STR_INIT("="), STR_INIT("===="), STR_INIT("Z==="),
		STR_INIT("Zg==Zg=="), STR_INIT("Zm=v"), STR_INIT("Zm 8"), STR_INIT("Zm8\n"), STR_INIT("Zm9v\n"), STR_INIT("-_-_"),
		STR_INIT("Zm9\0"), STR_INIT("Zm9\xc3"),
	};

	for (size_t i = 0; i < COUNT_OF(good); i++) {
		struct str text = str_c(good[i].text);
		ok(base64_is_valid(text), "\"%s\" is base64", good[i].text);
		is_int((long long)base64_size(text), (long long)good[i].bytes.n, "\"%s\" stands for so many bytes", good[i].text);
		is_strs(base64_decoded(pool, text), good[i].bytes, "\"%s\" stands for these", good[i].text);
	}
	for (size_t i = 0; i < COUNT_OF(bad); i++)
		ok(!base64_is_valid(bad[i]), "\"%.*s\" is none", STR_ARG(bad[i]));
	ok(base64_is_valid(STR_NONE) && base64_decoded(pool, STR_NONE).n == 0, "nothing stands for nothing");
}

static void test_base64url(struct pool *pool)
{
	static const struct { const char *text; struct str bytes; } good[] = {
		{ "", STR_INIT("") }, { "Zg", STR_INIT("f") }, { "Zm8", STR_INIT("fo") }, { "Zm9v", STR_INIT("foo") },
		{ "Zm9vYg", STR_INIT("foob") }, { "Zm9vYmE", STR_INIT("fooba") }, { "Zm9vYmFy", STR_INIT("foobar") },
		{ "-__-", STR_INIT("\xfb\xff\xfe") }, { "AA", STR_INIT("\0") },
	};
	static const struct str bad[] = {
		STR_INIT("Z"), STR_INIT("Zm9vY"), STR_INIT("Zh"), STR_INIT("Zm9=" ), STR_INIT("Zg=="), STR_INIT("Zm 8"), STR_INIT("Zm+v"),
		STR_INIT("Zm/v"), STR_INIT("Zm8\n"), STR_INIT("Zm9"), STR_INIT("Zm9\0"), STR_INIT("Zm9\xc3"),
	};
	uint8_t out[16];
	size_t n;

	for (size_t i = 0; i < COUNT_OF(good); i++) {
		struct buf buf = buf_new(pool, 0);
		base64_url_add(&buf, good[i].bytes.p, good[i].bytes.n);
		is_str(buf_str(&buf), good[i].text, "writes \"%s\"", good[i].text);
		ok(base64_url_read(str_c(good[i].text), out, &n) && str_eq(str_n((const char *)out, n), good[i].bytes), "reads \"%s\"",
			good[i].text);
	}
	for (size_t i = 0; i < COUNT_OF(bad); i++)
		ok(!base64_url_read(bad[i], out, &n), "not \"%.*s\"", STR_ARG(bad[i]));
}

// Each text is another, and is read as the bytes that it was made of.
static void test_there_and_back(struct pool *pool)
{
	unsigned wrong = 0, wrong_url = 0;

	for (unsigned i = 0; i < 0x10100; i++) {
		const char bytes[] = { (char)(i & 0xff), (char)(i >> 8 & 0xff) };
		struct str given = str_n(bytes, i >= 0x10000 ? 1 : 2);
		struct pool_mark mark = pool_mark(pool);
		struct buf text = buf_new(pool, 0), url = buf_new(pool, 0);
		uint8_t out[3];
		size_t n;

		buf_add_base64(&text, given.p, given.n);
		wrong += !base64_is_valid(buf_str(&text)) || !str_eq(base64_decoded(pool, buf_str(&text)), given);
		base64_url_add(&url, given.p, given.n);
		wrong_url += !base64_url_read(buf_str(&url), out, &n) || !str_eq(str_n((const char *)out, n), given);
		pool_rewind(pool, mark);
	}
	is_int(wrong, 0, "one or two bytes as base64, there and back");
	is_int(wrong_url, 0, "the same as base64url");
}

int main(void)
{
	struct pool *pool = pool_new();

	test_base64(pool);
	test_base64url(pool);
	test_there_and_back(pool);
	pool_free(&pool);
	return done_testing();
}

// SPDX-License-Identifier: Apache-2.0
// If-Match and If-None-Match: the forms that clients and proxies give a tag.
#include "base/base.h"

#include "base/buf.h"
#include "base/pool.h"
#include "http/conditional.h"
#include "tap.h"

// The tags joined by '|', "*" for any, "(absent)", or "(refused)".
static struct str shown(struct pool *pool, struct str value)
{
	struct buf out = buf_new(pool, 0);
	struct tag_list list;

	if (!conditional_parse(value, &list))
		return STR("(refused)");
	if (!list.present)
		return STR("(absent)");
	if (list.any)
		return STR("*");
	for (size_t i = 0; i < list.n; i++) {
		if (i > 0)
			buf_addc(&out, '|');
		buf_add(&out, list.tags[i]);
	}
	return buf_str(&out);
}

static void test_parse(struct pool *pool)
{
	static const struct { const char *value, *shown; } cases[] = {
		{ "*", "*" }, { " * ", "*" },
		{ "\"abc\"", "abc" }, { "W/\"abc\"", "abc" }, { "w/\"abc\"", "abc" }, { "W/abc", "abc" }, { "abc", "abc" },
		{ "\"W/abc\"", "abc" },
		{ "\"abc-gzip\"", "abc" }, { "\"abc-br\"", "abc" }, { "\"abc;gzip\"", "abc" }, { "W/\"abc-deflate\"", "abc" },
		{ "\"abc-zstd\"", "abc" }, { "abc-gzip", "abc" },
		{ "\"-gzip\"", "-gzip" },
		{ "\"a\", W/\"b\" ,c", "a|b|c" },
		{ "\"a,b\"", "a,b" },
		{ ",\"a\",,\"b\",", "a|b" },
		{ "\"a\"\t,\t\"b\"", "a|b" },
		{ "\"\xc3\xa4\"", "ä" },
		{ "", "(refused)" }, { "  ", "(refused)" }, { ",", "(refused)" },
		{ "\"abc", "(refused)" }, { "abc\"", "(refused)" }, { "\"a\"b", "(refused)" }, { "\"a\" \"b\"", "(refused)" },
		{ "a b", "(refused)" }, { "\"\"", "(refused)" }, { "W/", "(refused)" }, { "W/\"\"", "(refused)" },
		{ "*, \"a\"", "(refused)" }, { "\"a\", *", "(refused)" }, { "\"a b\"", "(refused)" },
		{ "W /\"a\"", "(refused)" },
		{ "\"\x01\"", "(refused)" }, { "\"\x7f\"", "(refused)" }, { "\x01", "(refused)" }, { "\x7f" "a", "(refused)" },
		{ "\" \"", "(refused)" },
		{ "\"a\x01\"", "(refused)" }, { "\"a\x1f\"", "(refused)" }, { "\"a\x7f\"", "(refused)" }, { "\"a\x80\"",
		"a\x80" },
		{ "\"!\"", "!" }, { "\"#~\"", "#~" }, { "W\"abc\"", "(refused)" }, { "w\"abc\"", "(refused)" }, { "Wabc",
		"Wabc" },
		{ "\"Wabc\"", "Wabc" }, { "\"abc-br-gzip\"", "abc-br" }, { "\"a*\"", "a*" },
	};

	for (size_t i = 0; i < COUNT_OF(cases); i++)
		is_str(shown(pool, str_c(cases[i].value)), cases[i].shown, "If-Match: %s", cases[i].value);
	is_str(shown(pool, STR_NONE), "(absent)", "no header");
	is_str(shown(pool, STR("\"a\0b\"")), "(refused)", "a NUL");
}

static void test_many(struct pool *pool)
{
	struct buf out = buf_new(pool, 0);
	struct tag_list list;

	for (int i = 0; i < CONDITIONAL_MAX_TAGS; i++)
		buf_addf(&out, "\"%d\",", i);
	ok(conditional_parse(buf_str(&out), &list), "as many tags as allowed");
	ok(conditional_matches(&list, STR("31")), "the last is there");
	BUF_LIT(&out, "\"x\"");
	ok(!conditional_parse(buf_str(&out), &list), "one more is refused");
}

static void test_matches(void)
{
	struct tag_list list;

	conditional_parse(STR("W/\"ABCdef\", \"12\""), &list);
	ok(conditional_matches(&list, STR("abcDEF")), "hex has no case");
	ok(conditional_matches(&list, STR("12")), "the second");
	ok(!conditional_matches(&list, STR("1")), "a part does not match");
	ok(!conditional_matches(&list, STR("123")), "nor does a longer one");
	conditional_parse(STR("*"), &list);
	ok(conditional_matches(&list, STR("anything")), "* matches all");
	conditional_parse(STR_NONE, &list);
	ok(!conditional_matches(&list, STR("12")), "no header, no match");
}

// Nothing is read behind the end: what stands there would make another value of it.
static void test_more_behind(struct pool *pool)
{
	static const struct { const char *value; size_t n; const char *shown; } cases[] = {
		{ "\"a\"", 2, "(refused)" }, { "\"abc\",x", 5, "abc" }, { "a,\"", 2, "a" }, { "a,b", 1, "a" }, { "W/x", 2,
			"(refused)" },
		{ "W/\"a\"", 2, "(refused)" }, { "\"a\" \t,b", 3, "a" }, { "\"a\" \t,b", 5, "a" }, { "\"a\"x", 3, "a" }, { "*,",
		1, "*" },
		{ ",,a", 2, "(refused)" }, { ", x", 1, "(refused)" }, { "a\t ,b", 4, "a" },
	};

	for (size_t i = 0; i < COUNT_OF(cases); i++)
		is_str(shown(pool, str_n(cases[i].value, cases[i].n)), cases[i].shown, "%zu bytes of %s", cases[i].n,
			cases[i].value);
}

// The same, as sanitizers and valgrind see it.
static void test_ends(void)
{
	static const char *const cut[] = { "W/", "w/", "\"", "W/\"", ",", "\"a", "\"a\",", "a,", " ", "\"a\" " };

	for (size_t i = 0; i < COUNT_OF(cut); i++) {
		size_t n = strlen(cut[i]);
		char *exact = malloc(n);
		struct tag_list list;
		if (exact == NULL)
			bail_out("no memory");
		memcpy(exact, cut[i], n);
		bool good = conditional_parse(str_n(exact, n), &list);
		ok(good == (strchr(cut[i], 'a') != NULL && strcmp(cut[i], "\"a") != 0), "the end of %s", cut[i]);
		free(exact);
	}
}

int main(void)
{
	struct pool *pool = pool_new();

	test_parse(pool);
	test_many(pool);
	test_more_behind(pool);
	test_matches();
	pool_free(&pool);
	test_ends();
	return done_testing();
}

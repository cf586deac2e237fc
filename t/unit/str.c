// SPDX-License-Identifier: Apache-2.0
#include "base/base.h"

#include "base/pool.h"
#include "base/str.h"
#include "tap.h"

static void compare(void)
{
	ok(str_eq(STR("a\0b"), STR("a\0b")), "equal over a NUL");
	ok(!str_eq(STR("a\0b"), STR("a\0c")), "bytes after a NUL count");
	ok(!str_eq(STR("ab"), STR("abc")), "a prefix is not equal");
	ok(str_eq(STR_NONE, STR("")), "none equals the empty string");
	ok(str_eq_c(STR_NONE, NULL), "none equals NULL");
	ok(str_eq_nocase(STR("If-MATCH"), STR("if-match")), "ASCII case is folded");
	ok(!str_eq_nocase(STR("@"), STR("`")), "only letters are folded: @ is not `");
	ok(!str_eq_nocase(STR("["), STR("{")), "only letters are folded: [ is not {");
	ok(!str_eq_nocase(STR("\xc3\x84"), STR("\xc3\xa4")), "letters beyond ASCII are not folded");
	ok(str_cmp(STR("a"), STR("b")) < 0, "a before b");
	ok(str_cmp(STR("b"), STR("a")) > 0, "b after a");
	ok(str_cmp(STR("a"), STR("ab")) < 0, "shorter before longer");
	ok(str_cmp(STR("\x7f"), STR("\x80")) < 0, "bytes are unsigned");
	is_int(str_cmp(STR_NONE, STR("")), 0, "none and empty are the same in order");
	ok(str_starts(STR("CUSTOM_X"), STR("CUSTOM_")), "starts");
	ok(!str_starts(STR("CUST"), STR("CUSTOM_")), "shorter than its prefix");
	ok(str_starts(STR_NONE, STR_NONE), "nothing starts with nothing");
	ok(str_ends(STR("abc-gzip"), STR("-gzip")), "ends");
	ok(!str_ends(STR("gzip"), STR("-gzip")), "shorter than its suffix");
}

static void parts(void)
{
	struct str s = STR("hello");

	is_int((long long)str_find(s, 'l', 0), 2, "first l");
	is_int((long long)str_find(s, 'l', 3), 3, "next l");
	is_int((long long)str_find(s, 'x', 0), 5, "absent: the length");
	is_int((long long)str_find(s, 'h', 99), 5, "from beyond the end: the length");
	is_int((long long)str_find(STR_NONE, 'h', 0), 0, "in nothing");
	is_str(str_part(s, 1, 3), "el", "a part");
	is_str(str_part(s, 3, 99), "lo", "clipped at the end");
	is_str(str_part(s, 4, 2), "", "from after to is empty");
	is_str(str_part(s, 99, 120), "", "beyond the end is empty");
	is_str(str_trim(STR(" \t a b\t ")), "a b", "blanks and tabs go at both ends");
	is_str(str_trim(STR("\n a")), "\n a", "newlines stay");
	is_str(str_trim(STR(" \t ")), "", "only blanks");
	is_str(str_trim(STR_NONE), "", "trimming nothing");
}

static void split(void)
{
	struct str rest = STR("a,,b"), item;

	ok(str_split(&rest, ',', &item), "first item");
	is_str(item, "a", "is a");
	ok(str_split(&rest, ',', &item), "second item");
	is_str(item, "", "is empty");
	ok(str_split(&rest, ',', &item), "third item");
	is_str(item, "b", "is b");
	ok(!str_split(&rest, ',', &item), "no fourth");

	rest = STR("a,");
	ok(str_split(&rest, ',', &item) && str_split(&rest, ',', &item), "a trailing separator ends an empty item");
	is_str(item, "", "which is empty");
	ok(!str_split(&rest, ',', &item), "and the last");

	rest = STR("");
	ok(str_split(&rest, ',', &item), "the empty string has an item");
	is_str(item, "", "an empty one");
	ok(!str_split(&rest, ',', &item), "one alone");
	rest = STR_NONE;
	ok(!str_split(&rest, ',', &item), "nothing has none");
}

static void copies(struct pool *pool)
{
	char bytes[] = "a\0b";
	struct str copy = str_dup(pool, str_n(bytes, 3));

	bytes[0] = 'x';
	is_strs(copy, STR("a\0b"), "a copy keeps its bytes");
	is_int(copy.p[3], 0, "and ends in a NUL that does not count");
	is_int(str_dup(pool, STR_NONE).p[0], 0, "a copy of nothing is a C string");
	ok(strcmp(str_cstr(pool, STR("abc")), "abc") == 0, "as a C string");
	struct str joined = str_joined(pool, STR("a\0b"), '.', STR("cd"));
	is_strs(joined, STR("a\0b.cd"), "two joined");
	is_int(joined.p[joined.n], 0, "end in a NUL that does not count");
	is_str(str_joined(pool, STR_NONE, '/', STR_NONE), "/", "nothing joined to nothing");
	is_str(str_printf(pool, "%s-%d", "x", 42), "x-42", "printf");
	is_int((long long)str_printf(pool, "%0*d", 5000, 7).n, 5000, "printf of any length");
}

static void numbers(void)
{
	static const struct {
		struct str text;
		bool good;
		uint64_t value;
	} cases[] = {
		{ STR_INIT("0"), true, 0 },
		{ STR_INIT("007"), true, 7 },
		{ STR_INIT("18446744073709551615"), true, UINT64_MAX },
		{ STR_INIT("18446744073709551616"), false, 0 },
		{ STR_INIT("99999999999999999999999"), false, 0 },
		{ STR_INIT(""), false, 0 },
		{ STR_INIT("-1"), false, 0 },
		{ STR_INIT("+1"), false, 0 },
		{ STR_INIT(" 1"), false, 0 },
		{ STR_INIT("1\0"), false, 0 },
		{ STR_INIT("0x10"), false, 0 },
	};

	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		uint64_t value = 12345;
		bool good = str_to_u64(cases[i].text, &value);

		ok(good == cases[i].good && value == (good ? cases[i].value : 12345), "number %zu: \"%.*s\"", i,
		   STR_ARG(cases[i].text));
	}
}

static void utf8(void)
{
	static const struct {
		struct str text;
		int bad; // offset, -1 when well-formed
		const char *what;
	} cases[] = {
		{ STR_INIT(""), -1, "empty" },
		{ STR_INIT("a\0b"), -1, "NUL" },
		{ STR_INIT("\x7f"), -1, "DEL" },
		{ STR_INIT("\xc2\x80"), -1, "U+0080" },
		{ STR_INIT("\xdf\xbf"), -1, "U+07FF" },
		{ STR_INIT("\xe0\xa0\x80"), -1, "U+0800" },
		{ STR_INIT("\xed\x9f\xbf"), -1, "U+D7FF" },
		{ STR_INIT("\xee\x80\x80"), -1, "U+E000" },
		{ STR_INIT("\xef\xbf\xbf"), -1, "U+FFFF" },
		{ STR_INIT("\xf0\x90\x80\x80"), -1, "U+10000" },
		{ STR_INIT("\xf4\x8f\xbf\xbf"), -1, "U+10FFFF" },
		{ STR_INIT("\xe2\x88\x91\xe2\x88\x9e"), -1, "sum and infinity" },
		{ STR_INIT("ab\x80"), 2, "a continuation alone" },
		{ STR_INIT("\xc0\xaf"), 0, "overlong slash in two" },
		{ STR_INIT("\xc1\xbf"), 0, "overlong DEL" },
		{ STR_INIT("\xe0\x80\xaf"), 0, "overlong slash in three" },
		{ STR_INIT("\xe0\x9f\xbf"), 0, "overlong U+07FF" },
		{ STR_INIT("\xf0\x80\x80\xaf"), 0, "overlong slash in four" },
		{ STR_INIT("\xf0\x8f\xbf\xbf"), 0, "overlong U+FFFF" },
		{ STR_INIT("\xed\xa0\x80"), 0, "first surrogate" },
		{ STR_INIT("\xed\xbf\xbf"), 0, "last surrogate" },
		{ STR_INIT("\xf4\x90\x80\x80"), 0, "beyond U+10FFFF" },
		{ STR_INIT("\xf5\x80\x80\x80"), 0, "F5" },
		{ STR_INIT("\xff"), 0, "FF" },
		{ STR_INIT("a\xe2\x88"), 1, "cut short" },
		{ STR_INIT("a\xe2\x88z"), 1, "third byte wrong" },
		{ STR_INIT("\xf0\x90\x80z"), 0, "fourth byte wrong" },
		{ STR_INIT("\xc3\xc3"), 0, "a lead byte after a lead byte" },
	};

	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		size_t bad = 999;
		bool good = str_utf8_ok(cases[i].text, &bad);

		ok(good == (cases[i].bad < 0) && (good || bad == (size_t)cases[i].bad), "UTF-8: %s", cases[i].what);
		ok(good == str_utf8_ok(cases[i].text, NULL), "UTF-8: %s, without offset", cases[i].what);
	}
	// The byte beyond the end would complete the sequence: it must not be read.
	ok(!str_utf8_ok(str_n("\xe2\x88\x91", 2), NULL), "nothing beyond the end is read");
	is_int((long long)str_utf8_length(STR("a\xc3\xa9\xe2\x88\x91\xf0\x9f\x90\x98")), 4, "code points are counted");

	static const size_t heads[] = { 0, 1, 1, 3, 3, 3, 6, 6, 6, 6, 10, 10 };
	for (size_t most = 0; most < COUNT_OF(heads); most++)
		is_int((long long)str_utf8_head(STR("a\xc3\xa9\xe2\x88\x91\xf0\x9f\x90\x98"), most).n, (long long)heads[most],
			"of %zu bytes at most, no character is cut", most);
	is_int((long long)str_utf8_head(STR("\x80\x80\x80\x80"), 2).n, 0, "... of bytes that are no character, at most 3 are left out");
	is_int((long long)str_utf8_head(STR("a\x80\x80\x80\x80\x80\x80\x80"), 6).n, 3, "... wherever they are cut");
}

int main(void)
{
	struct pool *pool = pool_new();

	compare();
	parts();
	split();
	copies(pool);
	numbers();
	utf8();
	pool_free(&pool);
	return done_testing();
}

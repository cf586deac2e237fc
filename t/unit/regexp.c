// SPDX-License-Identifier: Apache-2.0
// Regular expressions: what each piece of the syntax finds, what is refused, and that nothing takes long.
#include "base/base.h"

#include "base/buf.h"
#include "base/pool.h"
#include "base/regexp/regexp.h"
#include "tap.h"

static uint64_t steps_left;

static enum regexp_answer finds(struct pool *pool, const char *expression, struct str text, uint64_t steps)
{
	struct str why;
	struct regexp *regexp = regexp_new(pool, str_c(expression), REGEXP_SIZE_MAX, &why);

	if (regexp == NULL) {
		diag("%s: %.*s", expression, STR_ARG(why));
		return REGEXP_TOO_COSTLY;
	}
	steps_left = steps;
	return regexp_finds(regexp, pool, text, &steps_left);
}

// yes, no: texts that match and that don't, with '\n' between them; NULL: none.
struct found_case {
	const char *expression, *yes, *no;
};

static const struct found_case cases[] = {
	// characters
	{ "", "\na", NULL },
	{ "a", "a\nba\nab", "\nb\nA" },
	{ "a.c", "abc\na.c\na\xC3\xA9""c\na\xF0\x9F\x98\x80""c", "ac\nabbc" },
	{ "^\xC3\xA9$", "\xC3\xA9", "\xC3\nee" },
	{ "^[a-cx]$", "a\nb\nc\nx", "d\n-\n" },
	{ "^[^a-c]$", "d\n\xC3\xA9", "a\nb\nc\n" },
	{ "^[]a]$", "]\na", "b" },
	{ "[^\\x00-\\x{10FFFF}]", NULL, "a\n" },
	{ "^[^]a]$", "b", "]\na" },
	{ "^[a-]$", "a\n-", "b" },
	{ "^[-a]$", "a\n-", "b" },
	{ "^[a\\]b]$", "]\na\nb", "\\" },
	{ "^[\\d.]+$", "1.2.3", "a" },
	{ "^[\\d-z]+$", "1-z", "a" },
	{ "^[\\w-]+$", "a-b_C9", "a b" },
	{ "^[\\x41-\\x{43}]$", "A\nB\nC", "D" },
	{ "^[[:alpha:]_]$", "a\nZ\n_", "1\n[\n:" },
	{ "^[[:^alpha:]]$", "1", "a" },
	{ "^[[:x]$", "[\n:\nx", "a" },
	{ "^\\d\\D\\w\\W\\s\\S$", "1aa- a", "aaa- a" },
	{ "^\\.\\*\\\\\\_\\-$", ".*\\_-", "a*\\_-" },
	{ "^\\x41\\101\\x{e9}\\t$", "AA\xC3\xA9\t", "AAA\t" },
	{ "^\\Qa.b*\\E+$", "a.b*\na.b**", "aXb" },
	{ "^\\Qa.b", "a.b", "axb" },
	{ "^a{,3}$", "a{,3}", "aa" },
	{ "^{$", "{", "" },
	// edges
	{ "^a", "ab", "ba" },
	{ "a$", "ba", "ab" },
	{ "\\Aa\\z", "a", "ab\nba" },
	{ "^$", "", "a" },
	{ "\\bfoo\\b", "foo\na foo b\n(foo)", "afoo\nfoo1" },
	{ "o\\Bo", "foo", "o o" },
	// ways
	{ "^(a|b)$", "a\nb", "c\nab" },
	{ "^(a|b|cd|)$", "a\nb\ncd\n", "c\nd\ne" },
	{ "^a|b$", "ax\nxb", "xa\nbx" },
	{ "^(?:a|b)c$", "ac\nbc", "a\nb" },
	{ "^(?P<x>a)(?<y>b)$", "ab", "a" },
	{ "^(|a)*$", "\na\naaa", "b" },
	{ "^(a*)*$", "\na\naaa", "b" },
	{ "^(a+|b?)+c$", "c\naac\nabac", "ab" },
	// how often
	{ "^a*$", "\na\naaaa", "b\nab" },
	{ "^a+$", "a\naaaa", "\nb" },
	{ "^a?$", "\na", "aa" },
	{ "^a*?b+?c??$", "b\naab\nabbc", "a" },
	{ "^a{3}$", "aaa", "aa\naaaa" },
	{ "^a{2,}$", "aa\naaaaa", "a\n" },
	{ "^a{2,4}$", "aa\naaa\naaaa", "a\naaaaa" },
	{ "^a{0,2}$", "\na\naa", "aaa" },
	{ "^a{0}b$", "b", "ab" },
	{ "^a{1}$", "a", "\naa" },
	{ "^a{0,}$", "\naaa", "b" },
	{ "^(ab|c){2,3}$", "abab\nabc\nccc\nabcab", "ab\ncccc" },
	{ "^(a{2}){2}$", "aaaa", "aaa\naaaaa" },
	{ "^(a{0,2}b){1,2}$", "b\naab\naabab", "\naaab\nbbb" },
	{ "^ab{2}$", "abb", "abab" },
	// flags
	{ "(?i)^aBc$", "abc\nABC", "abd" },
	{ "(?i)^[a-c]+$", "aBC", "d" },
	{ "^(?i:a)b$", "ab\nAb", "aB" },
	{ "^((?i)a)b$", "Ab", "aB" },
	{ "(?i)^a(?-i)b$", "Ab", "AB" },
	{ "(?U)^a+$", "aa", "b" },
	// what people write in types
	{ "^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$", "a\na-b.c\nexample.com", "-a\na-\na..b\nA" },
	{ "^(\\d+|\\d+m)$", "5\n250m", "m5\n5 m" },
	{ "^\\+?\\d{1,3}$", "+49\n7", "+\n1234" },
	{ "^([0-9]{1,3}\\.){3}[0-9]{1,3}$", "10.0.0.1", "10.0.0\n10.0.0.1.2" },
};

static void test_cases(struct pool *pool)
{
	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		struct str rest = str_c(cases[i].yes), text;
		while (str_split(&rest, '\n', &text))
			ok(finds(pool, cases[i].expression, text, 1000000) == REGEXP_YES, "%s finds \"%.*s\"", cases[i].expression,
				STR_ARG(text));
		rest = str_c(cases[i].no);
		while (str_split(&rest, '\n', &text))
			ok(finds(pool, cases[i].expression, text, 1000000) == REGEXP_NO, "%s does not find \"%.*s\"",
				cases[i].expression, STR_ARG(text));
	}
	ok(finds(pool, "^.$", STR("\n"), 100) == REGEXP_NO && finds(pool, "(?s)^.$", STR("\n"), 100) == REGEXP_YES,
		"the dot takes a line feed with (?s)");
	ok(finds(pool, "^[^a]$", STR("\n"), 100) == REGEXP_YES, "a negated class takes a line feed");
	ok(finds(pool, "^b$", STR("a\nb\nc"), 100) == REGEXP_NO && finds(pool, "(?m)^b$", STR("a\nb\nc"), 100) == REGEXP_YES,
		"edges of lines with (?m)");
	ok(finds(pool, "^a\\x00b$", STR("a\0b"), 100) == REGEXP_YES, "NUL is a character");
	ok(finds(pool, "^[[:ascii:]]$", STR("\0"), 100) == REGEXP_YES && finds(pool, "^[[:^ascii:]]$", STR("\0"), 100) == REGEXP_NO,
		"and one of ASCII's");
	ok(finds(pool, "^a\\x{FFFD}b$", STR("a\xFF""b"), 100) == REGEXP_YES, "an ill-formed byte is U+FFFD");
}

static void test_refused(struct pool *pool)
{
	static const struct { const char *expression, *word; } refused[] = {
		{ "(a", "missing" }, { "a)", "ends no group" }, { "[a", "missing" }, { "[b-a]", "later" }, { "[]", "missing" },
		{ "*a", "nothing before" }, { "a|*", "nothing before" }, { "a**", "repeated already" }, { "a{2}{3}", "repeated already" },
		{ "a{2,1}", "not below" }, { "a{1001}", "1000 times" }, { "a{99999999999999999999}", "1000 times" },
		{ "a\\", "backslash" }, { "\\1", "no escape" }, { "(a)\\1", "no escape" }, { "\\pN", "no escape" },
		{ "\\x4", "hexadecimal" }, { "\\x{110000}", "hexadecimal" }, { "[[:foo:]]", "no class" }, { "(?=a)", "look-around" },
		{ "(?<!a)", "look-around" }, { "(?P<a", "name" }, { "(?P<a-b>c)", "name" }, { "(?i", "look-around" },
		{ "[\\d-", "missing" }, { "[a-\\d]", "later" }, { "(?:a{1000}){1000}", "too large" },
		{ "((((a{100}){100}){100}){100})", "too large" },
	};
	struct str why;

	for (size_t i = 0; i < COUNT_OF(refused); i++) {
		bool none = regexp_new(pool, str_c(refused[i].expression), REGEXP_SIZE_MAX, &why) == NULL;
		ok(none && strstr(str_cstr(pool, why), refused[i].word) != NULL, "%s is refused: %.*s", refused[i].expression,
			STR_ARG(why));
	}
	ok(regexp_new(pool, STR("a{5}"), 4, &why) == NULL, "no larger than asked for");
	struct regexp *five = regexp_new(pool, STR("a{5}"), 5, &why);
	ok(five != NULL && regexp_size(five) == 5, "but as large");
	struct buf deep = buf_new(pool, 0);
	for (int i = 0; i < 15000; i++)
		buf_addc(&deep, '(');
	const struct regexp *read = regexp_new(pool, buf_str(&deep), REGEXP_SIZE_MAX, &why);
	ok(read == NULL, "fifteen thousand groups: %.*s", STR_ARG(why));
	for (int i = 0; i < 15000; i++)
		buf_addc(&deep, ')');
	read = regexp_new(pool, buf_str(&deep), REGEXP_SIZE_MAX, &why);
	ok(read == NULL, "too long: %.*s", STR_ARG(why));
}

// What makes others take forever.
static void test_hostile(struct pool *pool)
{
	static const char *const slow[] = {
		"(a*)*b", "(a|a)*b", "(a+)+$", "^(([a-z])+.)+[A-Z]([a-z])+$", "(.*)(.*)(.*)(.*)(.*)b", "(x+x+)+y",
		"((a{0,30}){0,30}){0,5}b", "(?:(?:(?:(?:){1000}){1000}){1000}){1000}b",
	};
	char text[20001];
	size_t size = pool_size(pool);

	memset(text, 'a', sizeof(text));
	for (size_t i = 0; i < COUNT_OF(slow); i++) {
		bool large = i == 6; // it has thousands of states
		size_t n = large ? 200 : sizeof(text) - 1;
		enum regexp_answer answer = finds(pool, slow[i], str_n(text, n), UINT64_MAX);
		ok(answer == (strchr(slow[i], '$') != NULL && slow[i][0] == '(' ? REGEXP_YES : REGEXP_NO), "%s comes to an end",
			slow[i]);
		uint64_t steps = UINT64_MAX - steps_left;
		ok(steps <= n * (large ? 20000 : 100), "in %llu steps, few for each byte", (unsigned long long)steps);
	}
	ok(pool_size(pool) - size < 4000000, "and without much memory: %zu bytes", pool_size(pool) - size);
	ok(finds(pool, "(a*)*b", str_n(text, 20000), 5000) == REGEXP_TOO_COSTLY && steps_left == 0, "or before that, when told so");
	ok(finds(pool, "a", STR("xxa"), 5000) == REGEXP_YES && steps_left > 4980 && steps_left < 5000, "what it cost is counted");
}

int main(void)
{
	struct pool *pool = pool_new();

	test_cases(pool);
	test_refused(pool);
	test_hostile(pool);
	pool_free(&pool);
	return done_testing();
}

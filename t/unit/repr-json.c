// SPDX-License-Identifier: Apache-2.0
// JSON texts: what is accepted and comes back as it was, and what is refused, where and why.
#include "base/base.h"

#include "documents.h"
#include "repr/json/part.h"

static const struct doc_limits limits = { .depth = 64, .nodes = 0 };

// out NULL: comes back as it was.
static void test_accepted(struct pool *pool)
{
	static const struct { const char *in, *out; } cases[] = {
		{ "null", NULL }, { "true", NULL }, { "false", NULL }, { "\"\"", NULL }, { "[]", NULL }, { "{}", NULL },
		{ " \t\r\n[ 1 , 2 ] \n", "[1,2]" },
		{ "{ \"a\" : { \"b\" : [ ] } }", "{\"a\":{\"b\":[]}}" },
		{ "{\"b\":1,\"a\":2}", NULL },
		{ "{\"\":0}", NULL },
		{ "[null,[null]]", NULL },
		// numbers keep their text
		{ "0", NULL }, { "-0", NULL }, { "-0.0", NULL }, { "1.0", NULL }, { "1.10", NULL }, { "0.1", NULL },
		{ "1e5", NULL }, { "1E+5", NULL }, { "1e-05", NULL }, { "1e-400", NULL }, { "0e999999", NULL },
		{ "123456789012345678.9", NULL }, { "1.7976931348623157e308", NULL }, { "-1.7976931348623157e308", NULL },
		{ "9223372036854775807", NULL }, { "9223372036854775808", NULL }, { "18446744073709551615", NULL },
		{ "-9223372036854775808", NULL }, { "-9223372036854775807", NULL }, { "-1", NULL },
		{ "100000000000000000000000000000.0", NULL },
		// strings
		{ "\"a/b\"", NULL }, { "\"a\\/b\"", "\"a/b\"" },
		{ "\"\\\"\\\\\\b\\f\\n\\r\\t\"", NULL },
		{ "\"\\u0041\\u00e4\\u2211\"", "\"Aä∑\"" },
		{ "\"\\uD83D\\uDE00\"", "\"😀\"" }, { "\"\\udbff\\udfff\"", "\"\xf4\x8f\xbf\xbf\"" },
		{ "\"\\u0000\"", NULL }, { "\"a\\u0000b\\u001f\"", NULL }, { "\"\\u001F\"", "\"\\u001f\"" },
		{ "\"\\u000a\"", "\"\\n\"" }, { "\"\x7f\"", NULL }, { "\"\xe2\x80\xa8\"", NULL },
		{ "\"\xef\xbf\xbf\"", NULL }, { "\"\\uFFFF\"", "\"\xef\xbf\xbf\"" }, { "\"\xef\xbb\xbf\"", NULL },
		{ "\"\\\\u0041\"", NULL },
		{ "{\"\\u0061\":1,\"A\":2}", "{\"a\":1,\"A\":2}" },
		{ "{\"ä\":1,\"a\xcc\x88\":2}", NULL }, // the same letter, other characters
		{ "{\"a\\tb\":\"\\tc\"}", NULL },
		{ "{\"a\":1,\"b\":{\"a\":1}}", NULL },
	};

	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		struct str error = STR("");
		struct doc *doc;
		const char *want = cases[i].out != NULL ? cases[i].out : cases[i].in;
		if (ok(doc_parse_json(pool, str_c(cases[i].in), limits, &doc, &error), "accepted: %s", cases[i].in))
			is_str(written(pool, doc), want, "written: %s", want);
		else
			diag("%.*s", STR_ARG(error));
	}
}

static void test_refused(struct pool *pool)
{
	static const struct { const char *in, *error; } cases[] = {
		{ "", "line 1, column 1: expected a JSON value, found the end of the text" },
		{ "  ", "line 1, column 3" },
		{ "nul", "line 1, column 1" }, { "nulll", "line 1, column 5" }, { "True", "found 'T'" },
		{ "NaN", "found 'N'" }, { "Infinity", "found 'I'" }, { "-Infinity", "begins with a digit" },
		{ "-NaN", "begins with a digit" }, { "undefined", "expected a JSON value" },
		{ "1 2", "nothing more after the value" }, { "{}x", "line 1, column 3" }, { "[][]", "line 1, column 3" },
		{ "[", "found the end" }, { "[1", "',' or ']'" }, { "[1,", "found the end" }, { "[1,]", "found ']'" },
		{ "[,1]", "found ','" }, { "[1 2]", "',' or ']'" }, { "[1}", "',' or ']'" }, { "]", "found ']'" },
		{ "{", "name in double quotes" }, { "{\"a\"", "':'" }, { "{\"a\":", "found the end" }, { "{\"a\" 1}", "':'" },
		{ "{\"a\":1", "',' or '}'" }, { "{\"a\":1,}", "name in double quotes" }, { "{,}", "name in double quotes" },
		{ "{a:1}", "name in double quotes" }, { "{'a':1}", "name in double quotes" }, { "{1:1}", "name in double" },
		{ "{\"a\":1]", "',' or '}'" }, { "{\"a\":}", "found '}'" }, { "{\"a\"::1}", "found ':'" },
		{ "[1:2]", "',' or" },
		{ "'a'", "found '''" },
		{ "// c\n1", "found '/'" }, { "1 // c", "found '/'" }, { "[1/**/]", "',' or ']'" }, { "# c\n1", "found '#'" },
		// numbers
		{ "01", "leading zeros" }, { "-01", "leading zeros" }, { "00", "leading zeros" }, { "+1", "found '+'" },
		{ ".5", "found '.'" }, { "-", "begins with a digit" }, { "-.5", "begins with a digit" },
		{ "1.", "digits must" },
		{ "1.e1", "digits must" }, { "1e", "digits must" }, { "1e+", "digits must" }, { "1.5.5", "no JSON number" },
		{ "1-2", "no JSON number" }, { "0x10", "found 'x'" }, { "1_000", "found '_'" }, { "1e5.5", "no JSON number" },
		{ "--1", "begins with a digit" },
		{ "18446744073709551616", "larger ones go as strings" },
		{ "-9223372036854775809", "larger ones go as strings" },
		{ "100000000000000000000000000000", "larger ones go as strings" },
		{ "1e309", "too large for a double" }, { "-1e309", "too large for a double" },
		{ "1e999999999999", "too large" },
		{ "1.7976931348623159e308", "too large" },
		// strings
		{ "\"", "ends within a string" }, { "\"abc", "ends within a string" }, { "\"a\\", "not closed" },
		{ "\"a\\\"", "ends within a string" }, { "\"\t\"", "control characters" }, { "\"a\nb\"", "\\u000a" },
		{ "\"\\x41\"", "no escape" }, { "\"\\'\"", "no escape" }, { "\"\\U0041\"", "no escape" },
		{ "\"\\u\"", "four hexadecimal" }, { "\"\\u004\"", "four hexadecimal" }, { "\"\\u00g1\"", "four hexadecimal" },
		{ "\"\\u-123\"", "four hexadecimal" }, { "\"\\ud800\"", "high surrogate" },
		{ "\"\\ud800x\"", "high surrogate" },
		{ "\"\\ud800\\u0041\"", "high surrogate" }, { "\"\\ud800\\ud800\"", "high surrogate" },
		{ "\"\\ud800\\n\"", "high surrogate" }, { "\"\\udc00\"", "low surrogate" }, { "\"\\udc00\\ud800\"", "low" },
		{ "{\"a\\u0000b\":1}", "can't hold \\u0000" }, { "{\"\\ud800\":1}", "high surrogate" },
		// bytes
		{ "\xef\xbb\xbf{}", "byte order mark" }, { "\"\xc0\xaf\"", "UTF-8" }, { "\"\xed\xa0\x80\"", "UTF-8" },
		{ "\"\xff\"", "UTF-8" }, { "\"\xe2\x88\"", "UTF-8" }, { "\"\x80\"", "UTF-8" },
		{ "\"\xf4\x90\x80\x80\"", "UTF-8" },
		{ "\"\xf0\x80\x80\x80\"", "UTF-8" }, { "[\xe2\x80\x8b]", "a character that can't stand here" },
		{ "\f1", "a character that can't stand here" },
		// duplicates
		{ "{\"a\":1,\"a\":1}", "line 1, column 8: the member \"a\" is there twice" },
		{ "{\"a\":1,\"\\u0061\":2}", "\"a\" is there twice" }, { "{\"\":1,\"\":2}", "\"\" is there twice" },
		{ "{\"/\":1,\"\\/\":2}", "twice" }, { "{\"a\":null,\"a\":null}", "twice" },
		{ "[{\"x\":{\"y\":1,\"y\":[]}}]", "\"y\" is there twice" },
		// places
		{ "{\n  \"a\": 1,\n  \"b\": x\n}", "line 3, column 8" }, { "[\"äöü\",x]", "line 1, column 8" },
		{ "[\r\n1,\r\n\r\nx]", "line 4, column 1" },
	};

	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		struct str error = STR("");
		struct doc *doc;
		ok(!doc_parse_json(pool, str_c(cases[i].in), limits, &doc, &error), "refused: %s", cases[i].in);
		const char *text = str_cstr(pool, error);
		if (!ok(strstr(text, cases[i].error) != NULL, "the error says: %s", cases[i].error))
			diag("%s", text);
	}
}

static void test_nul_bytes(struct pool *pool)
{
	struct str error;
	struct doc *doc;

	ok(!doc_parse_json(pool, STR("1\0"), limits, &doc, &error), "a NUL behind the value");
	ok(!doc_parse_json(pool, STR("[\0]"), limits, &doc, &error), "a NUL in an array");
	ok(!doc_parse_json(pool, STR("\0"), limits, &doc, &error), "a NUL alone");
	ok(!doc_parse_json(pool, STR("{\"a\":1\0}"), limits, &doc, &error), "a NUL in an object");
	ok(!doc_parse_json(pool, STR("\"a\0b\""), limits, &doc, &error), "a raw NUL in a string");
	ok(!doc_parse_json(pool, STR_NONE, limits, &doc, &error), "no text");
	ok(doc_parse_json(pool, str_n("[1]x", 3), limits, &doc, &error), "bytes beyond the text are not read");
	ok(!doc_parse_json(pool, str_n("12345678901234567890123", 21), limits, &doc, &error), "nor digits beyond it");
	ok(doc_parse_json(pool, str_n("1234", 2), limits, &doc, &error), "a number ends with the text");
	is_str(written(pool, doc), "12", "and there");
}

static struct str repeated(struct pool *pool, const char *before, const char *middle, const char *after, int n)
{
	struct buf out = buf_new(pool, 0);

	for (int i = 0; i < n; i++)
		buf_add(&out, str_c(before));
	buf_add(&out, str_c(middle));
	for (int i = 0; i < n; i++)
		buf_add(&out, str_c(after));
	return buf_str(&out);
}

static void test_limits(struct pool *pool)
{
	struct doc_limits few = { .depth = 3, .nodes = 4 };
	struct str error;
	struct doc *doc;

	ok(doc_parse_json(pool, STR("[[[1]]]"), few, &doc, &error), "as deep as allowed");
	ok(!doc_parse_json(pool, STR("[[{\"a\":[1]}]]"), few, &doc, &error), "one deeper");
	is_str(error, "line 1, column 8: the document is nested more than 3 levels deep", "the error names the limit");
	ok(doc_parse_json(pool, STR("[[],[],[]]"), few, &doc, &error), "depth does not add up over neighbours");
	ok(!doc_parse_json(pool, STR("[1,2,3,4]"), few, &doc, &error), "too many values");
	is_str(error, "line 1, column 8: the document has more than 4 values", "the error names the limit");
	ok(doc_parse_json(pool, STR("1"), (struct doc_limits){ 0, 0 }, &doc, &error), "a scalar has no depth");

	struct doc_limits deep = { .depth = SIZE_MAX, .nodes = 0 };
	ok(!doc_parse_json(pool, repeated(pool, "[", "", "]", 1000000), deep, &doc, &error), "a million arrays");
	ok(!doc_parse_json(pool, repeated(pool, "{\"a\":", "1", "}", 200000), deep, &doc, &error), "as many objects");
	ok(!doc_parse_json(pool, repeated(pool, "[", "", "", 1000000), limits, &doc, &error), "and none of them closed");
}

static void test_many_members(struct pool *pool)
{
	enum { N = 100000 };
	struct buf text = buf_new(pool, 0);
	struct str error = STR("");
	struct doc *doc;

	for (int i = 0; i < N; i++)
		buf_addf(&text, "%s\"k%d\":%d", i == 0 ? "{" : ",", i, i);
	size_t all = text.n;
	buf_addc(&text, '}');
	ok(doc_parse_json(pool, buf_str(&text), limits, &doc, &error), "many members");
	is_int((long long)doc_length(doc), N, "are all there");
	ok(str_eq(written(pool, doc), buf_str(&text)), "in their order");
	text.n = all;
	BUF_LIT(&text, ",\"k5\":1}");
	ok(!doc_parse_json(pool, buf_str(&text), limits, &doc, &error), "the one that is there twice is found");
}

static void test_many_objects(struct pool *pool)
{
	struct buf text = buf_new(pool, 0);
	struct str error = STR("");
	struct doc *doc;

	for (int i = 0; i < 4000; i++) {
		buf_addc(&text, i == 0 ? '[' : ',');
		buf_addc(&text, '{');
		for (int k = 0; k < i % 9; k++)
			buf_addf(&text, "%s\"k%d\":%d", k == 0 ? "" : ",", k, i);
		buf_addc(&text, '}');
	}
	buf_addc(&text, ']');
	ok(doc_parse_json(pool, buf_str(&text), limits, &doc, &error), "many objects of all small sizes");
	ok(str_eq(written(pool, doc), buf_str(&text)), "come back");
	bool found = true;
	for (size_t i = 0; i < 4000; i++) {
		const struct doc *value;
		found = found && doc_get(doc_at(doc, i), STR("k0"), &value) == (i % 9 > 0);
		found = found && doc_get(doc_at(doc, i), STR("k7"), &value) == (i % 9 > 7);
	}
	ok(found, "with their members, and no others");
	struct doc *changed = (struct doc *)doc_at(doc, 3999);
	for (uint64_t i = 0; i < 40; i++)
		doc_set_u64(pool, changed, str_cstr(pool, str_printf(pool, "new%d", (int)i)), i);
	is_int((long long)doc_length(changed), 40 + 3999 % 9, "and can grow");
}

static void test_long_numbers(struct pool *pool)
{
	struct str error = STR("");
	struct doc *doc;

	struct str fraction = repeated(pool, "0.", "", "", 1);
	struct str digits = repeated(pool, "7", "", "", 5000);
	struct str text = str_printf(pool, "%.*s%.*s", STR_ARG(fraction), STR_ARG(digits));
	ok(doc_parse_json(pool, text, limits, &doc, &error), "5000 digits behind the point");
	ok(str_eq(written(pool, doc), text), "all come back");
	ok(!doc_parse_json(pool, digits, limits, &doc, &error), "5000 digits before it");
	text = str_printf(pool, "%.*s.0", STR_ARG(digits));
	ok(!doc_parse_json(pool, text, limits, &doc, &error), "5000 digits are too large with a fraction, too");
	text = str_printf(pool, "%.*s.0e-4999", STR_ARG(digits));
	ok(doc_parse_json(pool, text, limits, &doc, &error), "but not with an exponent that makes it small");
	ok(str_eq(written(pool, doc), text), "which comes back");
}

static void test_long_names(struct pool *pool)
{
	struct str name = repeated(pool, "é", "", "", 3000);
	struct str text = str_printf(pool, "{\"%.*s\":1}", STR_ARG(name));
	struct str error = STR("");
	const struct doc *value;
	struct doc *doc;

	ok(doc_parse_json(pool, text, limits, &doc, &error), "a long name");
	ok(doc_get(doc, name, &value), "is found");
	ok(str_eq(written(pool, doc), text), "and written");
	text = str_printf(pool, "{\"%.*s\":1,\"%.*s\":2}", STR_ARG(name), STR_ARG(name));
	ok(!doc_parse_json(pool, text, limits, &doc, &error), "twice");
	ok(error.n < 300 && str_utf8_ok(error, NULL), "the error cuts it at a character");
}

// Looks for the names, which are single letters, in turn; writes their values with blanks between, "-" for none.
static struct str members_found(struct pool *pool, struct str object, const char *names)
{
	struct json_members members = json_members(object);
	struct buf out = buf_new(pool, 64);
	struct str value;

	for (; *names != '\0'; names++) {
		if (out.n > 0)
			buf_addc(&out, ' ');
		bool found = json_members_find(&members, str_n(names, 1), &value);
		ok(found == (value.p != NULL), "a value if there is one");
		buf_add(&out, found ? value : STR("-"));
	}
	return buf_str(&out);
}

static void test_members(struct pool *pool)
{
	static const struct { const char *object, *names, *values; } cases[] = {
		{ "{}", "a", "-" },
		{ "{\"a\":1}", "aa", "1 1" },
		{ "{\"a\":1,\"b\":null,\"c\":\"\"}", "abc", "1 null \"\"" },
		{ "{\"a\":1,\"b\":true,\"c\":-1.5e3}", "cbaxb", "-1.5e3 true 1 - true" },
		{ "{\"a\":{\"b\":1},\"b\":[{\"c\":2},[]],\"c\":{}}", "bca", "[{\"c\":2},[]] {} {\"b\":1}" },
		{ "{\"a\":\"\\\"b\\\":1,\",\"b\":\"\\\\\",\"c\":\"}],{[\"}", "abc", "\"\\\"b\\\":1,\" \"\\\\\" \"}],{[\"" },
		{ "{\"\\\"\":1,\"a\\\\\":2,\"a\":3}", "a", "3" },
		{ "{\"a\":[\"\\\\\\\"\",\"]\"],\"b\":[[[[]]]]}", "ba", "[[[[]]]] [\"\\\\\\\"\",\"]\"]" },
	};

	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		struct str found = members_found(pool, str_c(cases[i].object), cases[i].names);
		is_str(found, cases[i].values, "%s in %s", cases[i].names, cases[i].object);
	}
	// What is no compact object: only that nothing outside is read, which the sanitizers see.
	const struct str whole = STR("{\"a\":[\"\\\\\\\"\",{\"b\":1}],\"b\":\"\\\"\"}");
	for (size_t from = 0; from <= whole.n; from++) {
		for (size_t to = from; to <= whole.n; to++) {
			char *part = malloc(to - from + 1);
			if (to > from)
				memcpy(part, whole.p + from, to - from);
			struct json_members members = json_members(str_n(part, to - from));
			struct str value;
			json_members_find(&members, STR("b"), &value);
			json_members_find(&members, STR("x"), &value);
			free(part);
		}
	}
}

// Without "x" and "yy", at any depth.
static void test_without(struct pool *pool)
{
	static const struct str names[] = { STR_INIT("x"), STR_INIT("yy"), { NULL, 0 } };
	static const struct { const char *in, *out; } cases[] = {
		{ "{}", "{}" }, { "{\"x\":1}", "{}" }, { "{\"a\":1,\"x\":{\"a\":[1,{\"b\":\"}\"}]},\"b\":2}", "{\"a\":1,\"b\":2}" },
		{ "[{\"x\":\"\\\"]}\"},{\"yy\":[[]],\"y\":{\"x\":null}}]", "[{},{\"y\":{}}]" },
		{ " { \"x\" : [ 1 , 2 ] , \"a\" : \"x\" } ", "{\"a\":\"x\"}" }, { "{\"xx\":1,\"y\":2}", "{\"xx\":1,\"y\":2}" },
		{ "{\"\\u0078\":1,\"a\":2}", "{\"a\":2}" }, { "\"x\"", "\"x\"" },
		// what is skipped is not looked at, the rest is
		{ "{\"x\":tru,\"a\":1}", "{\"a\":1}" }, { "{\"a\":1,\"x\":2,\"x\":3}", "{\"a\":1}" },
		{ "{\"a\":tru,\"x\":1}", NULL }, { "{\"x\":{", NULL }, { "{\"x\":\"", NULL }, { "{\"x\":", NULL }, { "{\"x\"", NULL },
	};
	struct doc *doc;
	struct str error;

	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		bool read = doc_parse_json_without(pool, str_c(cases[i].in), limits, names, &doc, &error);
		ok(read == (cases[i].out != NULL), "%s: read or refused", cases[i].in);
		if (read)
			is_str(written(pool, doc), cases[i].out, "%s without x and yy", cases[i].in);
	}
}

int main(void)
{
	struct pool *pool = pool_new();

	test_accepted(pool);
	test_members(pool);
	test_without(pool);
	test_refused(pool);
	test_nul_bytes(pool);
	test_limits(pool);
	test_many_members(pool);
	test_many_objects(pool);
	test_long_numbers(pool);
	test_long_names(pool);
	pool_free(&pool);
	return done_testing();
}

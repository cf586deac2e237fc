// SPDX-License-Identifier: Apache-2.0
// Trees: looking at values, building, comparing, memory.
#include "base/base.h"

#include "documents.h"

static void test_looking(struct pool *pool)
{
	struct doc *doc = parsed(pool, "{\"s\":\"a\\u0000b\",\"n\":null,\"t\":true,\"a\":[1,\"x\"],\"o\":{}}");
	const struct doc *value;

	is_int(doc_kind(doc), DOC_OBJECT, "an object");
	is_int(doc_kind(NULL), DOC_NULL, "NULL is null");
	is_int((long long)doc_length(doc), 5, "its members");
	ok(doc_get(doc, STR("s"), &value) && str_eq(doc_string(value), STR("a\0b")), "a string with a NUL");
	ok(doc_get(doc, STR("n"), &value) && value == NULL, "a null member is there");
	ok(!doc_get(doc, STR("x"), &value) && value == NULL, "another is not");
	ok(!doc_get(doc, STR("s\0"), &value), "a name with NUL is not");
	ok(doc_get(doc, STR("t"), &value) && doc_kind(value) == DOC_BOOL && doc_bool(value), "true");
	ok(!doc_get(value, STR("t"), &value), "no members in what is no object");
	ok(!doc_get(NULL, STR("t"), &value), "nor in null");
	ok(doc_get(doc, STR("a"), &value) && doc_length(value) == 2, "an array");
	is_str(doc_string(doc_at(value, 1)), "x", "its second element");
	ok(doc_at(value, 2) == NULL, "no third");
	ok(doc_at(doc, 0) == NULL, "an object has no elements");
	is_int((long long)doc_length(doc_at(value, 1)), 0, "a string has no length here");

	struct buf names = buf_new(pool, 0);
	for (struct doc_iter it = doc_iter(doc); doc_next(&it);)
		buf_add(&names, it.name);
	is_str(buf_str(&names), "sntao", "members in their order");
	struct doc_iter it = doc_iter(NULL);
	ok(!doc_next(&it), "nothing to go through in null");
}

static void test_integers(struct pool *pool)
{
	static const struct { const char *text; bool is_i, is_u; int64_t i; uint64_t u; } cases[] = {
		{ "0", true, true, 0, 0 },
		{ "-0", true, true, 0, 0 },
		{ "-1", true, false, -1, 0 },
		{ "9223372036854775807", true, true, INT64_MAX, INT64_MAX },
		{ "9223372036854775808", false, true, 0, (uint64_t)INT64_MAX + 1 },
		{ "18446744073709551615", false, true, 0, UINT64_MAX },
		{ "-9223372036854775808", true, false, INT64_MIN, 0 },
		{ "1.0", false, false, 0, 0 },
		{ "1e3", false, false, 0, 0 },
		{ "-0.0", false, false, 0, 0 },
		{ "\"1\"", false, false, 0, 0 },
		{ "null", false, false, 0, 0 },
		{ "true", false, false, 0, 0 },
	};

	for (size_t k = 0; k < COUNT_OF(cases); k++) {
		struct doc *doc = parsed(pool, cases[k].text);
		int64_t i;
		uint64_t u;
		bool is_i = doc_i64(doc, &i), is_u = doc_u64(doc, &u);
		ok(is_i == cases[k].is_i && i == cases[k].i, "%s as int64", cases[k].text);
		ok(is_u == cases[k].is_u && (!is_u || u == cases[k].u), "%s as uint64", cases[k].text);
		if (doc_kind(doc) == DOC_NUMBER)
			is_str(doc_number_text(pool, doc), cases[k].text, "text of %s", cases[k].text);
	}
}

// By their value, however they are written.
static void test_whole(struct pool *pool)
{
	static const struct { const char *text; bool whole; int64_t value; } cases[] = {
		{ "3", true, 3 }, { "3.0", true, 3 }, { "-3.000", true, -3 }, { "30e-1", true, 3 }, { "0.3e1", true, 3 }, { "1e3", true, 1000 },
		{ "12.5e1", true, 125 }, { "-0", true, 0 }, { "-0.0e9", true, 0 }, { "0e999999999", true, 0 }, { "3.5", false, 0 }, { "1e-1", false, 0 },
		{ "9223372036854775807", true, INT64_MAX }, { "9223372036854775807.0", true, INT64_MAX }, { "9223372036854775808.0", false, 0 },
		{ "-9223372036854775808.0", true, INT64_MIN }, { "-9223372036854775809.0", false, 0 }, { "18446744073709551615", false, 0 },
		{ "9.9e18", false, 0 }, { "1e19", false, 0 }, { "1e300", false, 0 }, { "\"3\"", false, 0 }, { "null", false, 0 }, { "[3]", false, 0 },
	};
	int64_t value;

	for (size_t k = 0; k < COUNT_OF(cases); k++) {
		bool whole = doc_whole_i64(parsed(pool, cases[k].text), &value);
		ok(whole == cases[k].whole && value == cases[k].value, "%s by its value", cases[k].text);
	}
	ok(doc_whole_i64(doc_new_i64(pool, -7), &value) && value == -7, "one that was made, not read");
	ok(!doc_whole_i64(doc_new_u64(pool, UINT64_MAX), &value) && value == 0, "one that is too large");
}

static void test_building(struct pool *pool)
{
	struct doc *object = doc_new_object(pool), *array = doc_new_array(pool);

	doc_set(object, STR("a"), doc_new_string(pool, STR("x/\"\0y")));
	doc_set(object, STR("b"), array);
	doc_push(array, doc_new_i64(pool, INT64_MIN));
	doc_push(array, doc_new_u64(pool, UINT64_MAX));
	doc_push(array, doc_new_bool(pool, true));
	doc_push(array, NULL);
	doc_set(object, STR("c"), NULL);
	doc_set_str(pool, object, "d", STR_NONE);
	doc_set_u64(pool, object, "e", 7);
	is_str(written(pool, object),
		"{\"a\":\"x/\\\"\\u0000y\",\"b\":[-9223372036854775808,18446744073709551615,true,null],"
			"\"c\":null,\"d\":\"\",\"e\":7}",
		"built");
	doc_set_u64(pool, object, "a", 1);
	doc_remove(object, STR("b"));
	doc_remove(object, STR("not there"));
	is_str(written(pool, object), "{\"a\":1,\"c\":null,\"d\":\"\",\"e\":7}", "replaced in its place, and removed");
	doc_push(array, doc_new_array(pool));
	is_int((long long)doc_length(array), 5, "what was removed still lives");
	doc_set(object, STR("f"), array);
	doc_set(object, STR("g"), array);
	is_int((long long)doc_length(object), 6, "a value may have two parents");
}

static void test_copy(struct pool *pool)
{
	struct doc *doc = parsed(pool, "{\"a\":[1.50,{\"b\":null}],\"c\":\"x\",\"d\":-0}");
	struct doc *copy = doc_copy(pool, doc);
	const struct doc *value;

	ok(doc_equal(doc, copy), "a copy equals");
	is_str(written(pool, copy), "{\"a\":[1.50,{\"b\":null}],\"c\":\"x\",\"d\":-0}", "to the byte");
	doc_remove(copy, STR("c"));
	ok(doc_get(doc, STR("c"), &value), "and has a life of its own");
	ok(!doc_equal(doc, copy), "then it differs");
	ok(doc_copy(pool, NULL) == NULL, "a copy of null");
}

static void test_equal(struct pool *pool)
{
	static const struct { const char *a, *b; bool equal; } cases[] = {
		{ "null", "null", true }, { "null", "false", false }, { "true", "true", true }, { "true", "false", false },
		{ "1", "1", true }, { "1", "1.0", false }, { "1.0", "1.0", true }, { "1.0", "1.00", false },
		{ "0", "-0", false },
		{ "1e2", "1E2", false }, { "18446744073709551615", "-1", false }, { "-1", "-1", true },
		{ "9223372036854775808", "18446744073709551615", false },
		{ "\"a\"", "\"\\u0061\"", true }, { "\"a\\u0000b\"", "\"a\\u0000c\"", false }, { "\"1\"", "1", false },
		{ "[1,2]", "[1,2]", true }, { "[1,2]", "[2,1]", false }, { "[1]", "[1,2]", false }, { "[]", "{}", false },
		{ "{\"a\":1,\"b\":2}", "{\"b\":2,\"a\":1}", true }, { "{\"a\":1}", "{\"a\":2}", false },
		{ "{\"a\":1}", "{\"b\":1}", false }, { "{\"a\":null}", "{}", false }, { "{\"a\":null}", "{\"b\":null}", false },
		{ "[[{\"a\":[1]}]]", "[[{\"a\":[1]}]]", true }, { "[[{\"a\":[1]}]]", "[[{\"a\":[2]}]]", false },
	};

	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		struct doc *a = parsed(pool, cases[i].a), *b = parsed(pool, cases[i].b);
		ok(doc_equal(a, b) == cases[i].equal && doc_equal(b, a) == cases[i].equal, "%s %s %s", cases[i].a,
			cases[i].equal ? "equals" : "differs from", cases[i].b);
	}
}

// The address sanitizer says whether a copy uses memory of the original's pool.
static void test_sorted(struct pool *pool)
{
	static const char *const equal[] = { "{'b':[{},[],null,-0.0],'a':{'d':'x','c':10.0}}", "{'a':{'c':1e1,'d':'x'},'b':[{},[],null,0]}" };
	struct buf out = buf_new(pool, 0);

	for (size_t i = 0; i < COUNT_OF(equal); i++) {
		out.n = 0;
		doc_write_sorted(parsed_quoted(pool, equal[i]), &out);
		is_strs(buf_str(&out), replaced(pool, STR("{'a':{'c':10,'d':'x'},'b':[{},[],null,0]}"), '\'', '"'), "%s sorted", equal[i]);
	}
	out.n = 0;
	doc_write_sorted(parsed(pool, "[0.5,18446744073709551615,9007199254740993,true]"), &out);
	is_str(buf_str(&out), "[0.5,18446744073709551615,9007199254740993,true]", "other numbers stay");
}

static void test_lifetimes(struct pool *pool)
{
	struct pool *other = pool_new();
	struct doc *root = doc_new_object(pool);
	struct buf text = buf_new(other, 64);

	BUF_LIT(&text, "{\"a\":[\"x\\ny\",1.50,12,{\"b\":null}]}");
	struct doc *parsed = parsed_str(other, buf_str(&text));
	memset(text.p, 'z', text.n);
	is_str(written(pool, parsed), "{\"a\":[\"x\\ny\",1.50,12,{\"b\":null}]}", "a tree does not need the text that it was parsed from");
	doc_set(root, STR("c"), doc_copy(pool, parsed));
	doc_set(root, STR("d"), doc_copy(pool, root));
	pool_free(&other);
	is_str(written(pool, root), "{\"c\":{\"a\":[\"x\\ny\",1.50,12,{\"b\":null}]},\"d\":{\"c\":{\"a\":[\"x\\ny\",1.50,12,{\"b\":null}]}}}",
		"a copy does not need the original's pool");
}

// Objects with few members, as many as are searched one by one, and more: those have an index.
static void test_sizes(struct pool *pool)
{
	static const size_t sizes[] = { 0, 1, 4, 5, 63, 64, 65, 128, 129, 1000, 20000 };
	const struct doc *value;
	uint64_t n;

	for (size_t k = 0; k < COUNT_OF(sizes); k++) {
		struct doc *object = doc_new_object(pool);
		size_t wrong = 0;
		for (size_t i = 0; i < sizes[k]; i++)
			doc_set(object, str_printf(pool, "%zu", i), doc_new_u64(pool, i));
		struct doc *copy = doc_copy(pool, object), *again = parsed_str(pool, written(pool, object));
		ok(doc_equal(object, copy) && doc_equal(again, copy), "%zu members: copied, written and read", sizes[k]);
		for (size_t i = 0; i < sizes[k]; i += 2)
			doc_remove(object, str_printf(pool, "%zu", i));
		for (size_t i = 0; i < sizes[k]; i += 4)
			doc_set(object, str_printf(pool, "%zu", i), doc_new_u64(pool, i + 1));
		for (size_t i = 0; i < sizes[k] + 4; i++) {
			bool there = i < sizes[k] && (i % 2 == 1 || i % 4 == 0);
			bool found = doc_get(object, str_printf(pool, "%zu", i), &value);
			wrong += found != there || (found && (!doc_u64(value, &n) || n != i + (i % 4 == 0 ? 1 : 0))) ? 1 : 0;
			found = doc_get(copy, str_printf(pool, "%zu", i), &value);
			wrong += found != (i < sizes[k]) || (found && (!doc_u64(value, &n) || n != i)) ? 1 : 0;
		}
		is_int((long long)wrong, 0, "half of them removed, a quarter put there again: all are found, and the copy is as it was");
		size_t seen = 0;
		for (struct doc_iter it = doc_iter(object); doc_next(&it);)
			seen++;
		is_int((long long)seen, (long long)doc_length(object), "and passed once each");
		ok(doc_equal(doc_copy(pool, object), object), "a copy with gaps equals");
	}
}

static void test_removal_on_the_way(struct pool *pool)
{
	struct doc *object = parsed(pool, "{\"a\":1,\"b\":2,\"c\":3,\"d\":4,\"e\":5}");

	for (struct doc_iter it = doc_iter(object); doc_next(&it);) {
		if (!str_eq(it.name, STR("c")))
			doc_remove(object, it.name);
	}
	is_str(written(pool, object), "{\"c\":3}", "members may be removed while they are passed");
}

static void test_doubled(struct pool *pool)
{
	for (size_t n = 2; n <= 200; n += 33) {
		struct buf text = buf_new(pool, 0);
		struct doc *doc;
		struct str error;
		for (size_t i = 0; i < n; i++)
			buf_addf(&text, "%s\"%zu\":0", i == 0 ? "{" : ",", i);
		BUF_LIT(&text, ",\"\\u0031\":0}");
		ok(!doc_parse_json(pool, buf_str(&text), (struct doc_limits){ 2, 0 }, &doc, &error), "the second member twice among %zu", n);
		struct str right = str_printf(pool, "line 1, column %zu: the member \"1\" is there twice", text.n - 10);
		ok(str_eq(error, right), "%.*s", STR_ARG(error));
	}
}

// Each byte that is escaped, and each that is not, at each place of texts that are looked at by the word.
static void test_strings(struct pool *pool)
{
	size_t wrong = 0, unread = 0, unbounded = 0;

	for (unsigned c = 0; c < 128; c++) {
		for (size_t n = 1; n <= 20; n++) {
			for (size_t at = 0; at < n; at++) {
				char text[20];
				struct buf json = buf_new(pool, 0), plain = buf_new(pool, 0);
				memset(text, 'z', n);
				text[at] = (char)c;
				json_add_string(&json, str_n(text, n));
				buf_addf(&plain, "\"%.*s", (int)at, text);
				if (c == '"' || c == '\\')
					buf_addf(&plain, "\\%c", (int)c);
				else if (c < ' ')
					buf_addf(&plain, strchr("\b\f\n\r\t", (int)c) != NULL && c != 0 ? "\\%c" : "\\u%04x",
						c == '\b' ? 'b' : c == '\f' ? 'f' : c == '\n' ? 'n' : c == '\r' ? 'r' : c == '\t' ? 't' : (int)c);
				else
					buf_addc(&plain, (char)c);
				buf_addf(&plain, "%.*s\"", (int)(n - at - 1), text + at + 1);
				wrong += str_eq(buf_str(&json), buf_str(&plain)) ? 0 : 1;
				struct doc *read = parsed(pool, str_cstr(pool, buf_str(&json)));
				unread += str_eq(doc_string(read), str_n(text, n)) ? 0 : 1;
				unbounded += doc_json_bound(read) >= json.n ? 0 : 1;
			}
		}
		pool_clear(pool);
	}
	is_int((long long)wrong, 0, "every byte is escaped where it has to be, wherever it stands");
	is_int((long long)unread, 0, "and read again");
	is_int((long long)unbounded, 0, "within its bound");
}

static void test_bound(struct pool *pool)
{
	static const char *const texts[] = { "null", "true", "false", "0", "-9223372036854775808", "18446744073709551615", "1.5e300",
		"1.000000000000000000000000000000000000000000000000000001", "\"\"", "[]", "{}", "[null,true,[],{}]",
		"{\"\":0}", "{\"\\u0001\":\"\\u0002\",\"b\":[1,2,{\"c\":false}]}" };

	for (size_t i = 0; i < COUNT_OF(texts); i++) {
		struct doc *doc = parsed(pool, texts[i]);
		struct buf json = buf_new(pool, 0);
		doc_write_json(doc, &json);
		ok(doc_json_bound(doc) >= json.n, "the bound of %s", texts[i]);
	}
}

static void test_beside(struct pool *pool)
{
	struct doc *object = parsed(pool, "{\"a\":1,\"b\":null,\"c\":3}");
	struct doc_iter beside = doc_iter(object), none = doc_iter(NULL);
	const struct doc *value;
	int64_t n;

	ok(doc_get_beside(&beside, object, STR("a"), &value) && doc_i64(value, &n) && n == 1, "the first");
	ok(!doc_get_beside(&beside, object, STR("x"), &value) && value == NULL, "none of that name");
	ok(doc_get_beside(&beside, object, STR("c"), &value) && doc_i64(value, &n) && n == 3, "one that comes later");
	ok(doc_get_beside(&beside, object, STR("b"), &value) && value == NULL, "the second, null");
	ok(doc_get_beside(&beside, object, STR("c"), &value) && doc_i64(value, &n) && n == 3, "the last");
	ok(doc_get_beside(&beside, object, STR("a"), &value) && doc_i64(value, &n) && n == 1, "the first again");
	ok(!doc_get_beside(&none, NULL, STR("a"), &value) && value == NULL, "nothing in null");
}

static void test_make_integers(struct pool *pool)
{
	static const struct { const char *text, *made; } cases[] = {
		{ "{\"a\":3.0,\"b\":[1e3,{\"c\":-2.50e1}],\"d\":\"3.0\"}", "{\"a\":3,\"b\":[1000,{\"c\":-25}],\"d\":\"3.0\"}" },
		{ "[0.5,-0,-0.0,3,null,true,[],{}]", "[0.5,0,0,3,null,true,[],{}]" },
		{ "[9223372036854775807.0,-9223372036854775808.0]", "[9223372036854775807,-9223372036854775808]" },
		{ "[9223372036854775808.0,18446744073709551615,1e300]", "[9223372036854775808.0,18446744073709551615,1e300]" },
		{ "3.0", "3.0" },
	};

	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		struct doc *doc = parsed(pool, cases[i].text);
		struct buf out = buf_new(pool, 0);
		doc_make_integers(pool, doc);
		doc_write_json(doc, &out);
		is_str(buf_str(&out), cases[i].made, "%s", cases[i].text);
	}
	doc_make_integers(pool, NULL);
}

int main(void)
{
	struct pool *pool = pool_new();

	test_strings(pool);
	test_bound(pool);
	test_beside(pool);
	test_looking(pool);
	test_integers(pool);
	test_whole(pool);
	test_building(pool);
	test_copy(pool);
	test_equal(pool);
	test_sorted(pool);
	test_lifetimes(pool);
	test_sizes(pool);
	test_removal_on_the_way(pool);
	test_doubled(pool);
	test_make_integers(pool);
	pool_free(&pool);
	return done_testing();
}

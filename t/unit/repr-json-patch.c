// SPDX-License-Identifier: Apache-2.0
// JSON Patch and JSON Pointer: the examples of RFC 6902, appendix A, and RFC 6901, and what hostile clients send.
#include "base/base.h"

#include "documents.h"

static const struct doc_limits limits = { 16, 1000 };

// want: the result; NULL when it must fail, with a word of the error. malformed: already the check must refuse it.
struct patch_case {
	const char *what, *target, *patch, *want, *error;
	bool malformed;
};

static const struct patch_case cases[] = {
	// RFC 6902, appendix A
	{ "A.1 adding an object member", "{\"foo\":\"bar\"}", "[{\"op\":\"add\",\"path\":\"/baz\",\"value\":\"qux\"}]",
		"{\"foo\":\"bar\",\"baz\":\"qux\"}", NULL, false },
	{ "A.2 adding an array element", "{\"foo\":[\"bar\",\"baz\"]}",
		"[{\"op\":\"add\",\"path\":\"/foo/1\",\"value\":\"qux\"}]", "{\"foo\":[\"bar\",\"qux\",\"baz\"]}", NULL, false },
	{ "A.3 removing an object member", "{\"baz\":\"qux\",\"foo\":\"bar\"}", "[{\"op\":\"remove\",\"path\":\"/baz\"}]",
		"{\"foo\":\"bar\"}", NULL, false },
	{ "A.4 removing an array element", "{\"foo\":[\"bar\",\"qux\",\"baz\"]}",
		"[{\"op\":\"remove\",\"path\":\"/foo/1\"}]", "{\"foo\":[\"bar\",\"baz\"]}", NULL, false },
	{ "A.5 replacing a value", "{\"baz\":\"qux\",\"foo\":\"bar\"}",
		"[{\"op\":\"replace\",\"path\":\"/baz\",\"value\":\"boo\"}]", "{\"baz\":\"boo\",\"foo\":\"bar\"}", NULL, false },
	{ "A.6 moving a value", "{\"foo\":{\"bar\":\"baz\",\"waldo\":\"fred\"},\"qux\":{\"corge\":\"grault\"}}",
		"[{\"op\":\"move\",\"from\":\"/foo/waldo\",\"path\":\"/qux/thud\"}]",
		"{\"foo\":{\"bar\":\"baz\"},\"qux\":{\"corge\":\"grault\",\"thud\":\"fred\"}}", NULL, false },
	{ "A.7 moving an array element", "{\"foo\":[\"all\",\"grass\",\"cows\",\"eat\"]}",
		"[{\"op\":\"move\",\"from\":\"/foo/1\",\"path\":\"/foo/3\"}]",
		"{\"foo\":[\"all\",\"cows\",\"eat\",\"grass\"]}", NULL, false },
	{ "A.8 testing a value: success", "{\"baz\":\"qux\",\"foo\":[\"a\",2,\"c\"]}",
		"[{\"op\":\"test\",\"path\":\"/baz\",\"value\":\"qux\"},{\"op\":\"test\",\"path\":\"/foo/1\",\"value\":2}]",
		"{\"baz\":\"qux\",\"foo\":[\"a\",2,\"c\"]}", NULL, false },
	{ "A.9 testing a value: error", "{\"baz\":\"qux\"}", "[{\"op\":\"test\",\"path\":\"/baz\",\"value\":\"bar\"}]", NULL,
		"tested", false },
	{ "A.10 adding a nested member object", "{\"foo\":\"bar\"}",
		"[{\"op\":\"add\",\"path\":\"/child\",\"value\":{\"grandchild\":{}}}]",
		"{\"foo\":\"bar\",\"child\":{\"grandchild\":{}}}", NULL, false },
	{ "A.11 ignoring unrecognized elements", "{\"foo\":\"bar\"}",
		"[{\"op\":\"add\",\"path\":\"/baz\",\"value\":\"qux\",\"xyz\":123}]", "{\"foo\":\"bar\",\"baz\":\"qux\"}", NULL, false },
	{ "A.12 adding to a nonexistent target", "{\"foo\":\"bar\"}",
		"[{\"op\":\"add\",\"path\":\"/baz/bat\",\"value\":\"qux\"}]", NULL, "/baz/bat", false },
	{ "A.14 ~ escape ordering", "{\"/\":9,\"~1\":10}", "[{\"op\":\"test\",\"path\":\"/~01\",\"value\":10}]",
		"{\"/\":9,\"~1\":10}", NULL, false },
	{ "A.15 comparing strings and numbers", "{\"/\":9,\"~1\":10}", "[{\"op\":\"test\",\"path\":\"/~01\",\"value\":\"10\"}]",
		NULL, "tested", false },
	{ "A.16 adding an array value", "{\"foo\":[\"bar\"]}",
		"[{\"op\":\"add\",\"path\":\"/foo/-\",\"value\":[\"abc\",\"def\"]}]", "{\"foo\":[\"bar\",[\"abc\",\"def\"]]}", NULL, false },

	// the whole document
	{ "replacing the root", "{\"a\":1}", "[{\"op\":\"replace\",\"path\":\"\",\"value\":[1]}]", "[1]", NULL, false },
	{ "adding at the root", "{\"a\":1}", "[{\"op\":\"add\",\"path\":\"\",\"value\":{\"b\":2}}]", "{\"b\":2}", NULL, false },
	{ "copying to the root", "{\"a\":{\"b\":2}}", "[{\"op\":\"copy\",\"from\":\"/a\",\"path\":\"\"}]", "{\"b\":2}", NULL, false },
	{ "moving to the root", "{\"a\":{\"b\":2}}", "[{\"op\":\"move\",\"from\":\"/a\",\"path\":\"\"}]", "{\"b\":2}", NULL, false },
	{ "testing the root", "{\"a\":1}", "[{\"op\":\"test\",\"path\":\"\",\"value\":{\"a\":1}}]", "{\"a\":1}", NULL, false },
	{ "removing the root", "{\"a\":1}", "[{\"op\":\"remove\",\"path\":\"\"}]", NULL, "whole", false },
	{ "the root to null, and on", "{\"a\":1}",
		"[{\"op\":\"replace\",\"path\":\"\",\"value\":null},{\"op\":\"test\",\"path\":\"\",\"value\":null}]", "null", NULL, false },
	{ "the root into itself", "{\"a\":1}", "[{\"op\":\"move\",\"from\":\"\",\"path\":\"/a\"}]", NULL, "into", true },
	{ "the root onto itself", "{\"a\":1}", "[{\"op\":\"move\",\"from\":\"\",\"path\":\"\"}]", "{\"a\":1}", NULL, false },

	// members
	{ "adding replaces a member, in its place", "{\"a\":1,\"b\":2}", "[{\"op\":\"add\",\"path\":\"/a\",\"value\":3}]",
		"{\"a\":3,\"b\":2}", NULL, false },
	{ "null is a value", "{\"a\":null}", "[{\"op\":\"test\",\"path\":\"/a\",\"value\":null},"
		"{\"op\":\"copy\",\"from\":\"/a\",\"path\":\"/b\"},{\"op\":\"remove\",\"path\":\"/a\"}]", "{\"b\":null}", NULL, false },
	{ "nothing is not null", "{}", "[{\"op\":\"test\",\"path\":\"/a\",\"value\":null}]", NULL, "nothing at", false },
	{ "an empty name", "{\"\":1}", "[{\"op\":\"replace\",\"path\":\"/\",\"value\":2}]", "{\"\":2}", NULL, false },
	{ "escapes", "{\"a/b\":1,\"m~n\":2}", "[{\"op\":\"move\",\"from\":\"/a~1b\",\"path\":\"/m~0n\"}]", "{\"m~n\":1}", NULL, false },
	{ "a member called 0", "{\"0\":1}", "[{\"op\":\"remove\",\"path\":\"/0\"}]", "{}", NULL, false },
	{ "a member called -", "{}", "[{\"op\":\"add\",\"path\":\"/-\",\"value\":1}]", "{\"-\":1}", NULL, false },
	{ "removing nothing", "{}", "[{\"op\":\"remove\",\"path\":\"/a\"}]", NULL, "nothing at", false },
	{ "replacing nothing", "{}", "[{\"op\":\"replace\",\"path\":\"/a\",\"value\":1}]", NULL, "nothing at", false },
	{ "moving nothing", "{}", "[{\"op\":\"move\",\"from\":\"/a\",\"path\":\"/b\"}]", NULL, "its from", false },
	{ "copying nothing", "{}", "[{\"op\":\"copy\",\"from\":\"/a\",\"path\":\"/b\"}]", NULL, "its from", false },
	{ "into a string", "{\"a\":\"x\"}", "[{\"op\":\"add\",\"path\":\"/a/0\",\"value\":1}]", NULL, "around", false },
	{ "a move onto itself", "{\"a\":{\"b\":1}}", "[{\"op\":\"move\",\"from\":\"/a\",\"path\":\"/a\"}]", "{\"a\":{\"b\":1}}", NULL,
		false },
	{ "a move into its own child", "{\"a\":{\"b\":1}}", "[{\"op\":\"move\",\"from\":\"/a\",\"path\":\"/a/b\"}]", NULL, "into",
		true },
	{ "a name that only begins alike", "{\"a\":1,\"ab\":{}}", "[{\"op\":\"move\",\"from\":\"/a\",\"path\":\"/ab/c\"}]",
		"{\"ab\":{\"c\":1}}", NULL, false },
	{ "a copy into its own child", "{\"a\":{\"b\":1}}", "[{\"op\":\"copy\",\"from\":\"/a\",\"path\":\"/a/c\"}]",
		"{\"a\":{\"b\":1,\"c\":{\"b\":1}}}", NULL, false },
	{ "a NUL in a name", "{}", "[{\"op\":\"add\",\"path\":\"/a\\u0000b\",\"value\":1}]", NULL, "NUL", false },
	{ "a NUL in what is looked for", "{\"a\":1}", "[{\"op\":\"remove\",\"path\":\"/a\\u0000\"}]", NULL, "nothing at", false },

	// arrays
	{ "at the front", "[1,2]", "[{\"op\":\"add\",\"path\":\"/0\",\"value\":0}]", "[0,1,2]", NULL, false },
	{ "at the end by its number", "[1,2]", "[{\"op\":\"add\",\"path\":\"/2\",\"value\":3}]", "[1,2,3]", NULL, false },
	{ "behind the end", "[1,2]", "[{\"op\":\"add\",\"path\":\"/3\",\"value\":3}]", NULL, "2 elements", false },
	{ "replacing an element", "[1,2]", "[{\"op\":\"replace\",\"path\":\"/0\",\"value\":[]}]", "[[],2]", NULL, false },
	{ "replacing by null", "[1,2]", "[{\"op\":\"replace\",\"path\":\"/1\",\"value\":null}]", "[1,null]", NULL, false },
	{ "the element behind the last", "[1,2]", "[{\"op\":\"remove\",\"path\":\"/-\"}]", NULL, "nothing at", false },
	{ "a leading zero", "[1,2]", "[{\"op\":\"remove\",\"path\":\"/01\"}]", NULL, "nothing at", false },
	{ "adding at a leading zero", "[1,2]", "[{\"op\":\"add\",\"path\":\"/01\",\"value\":1}]", NULL, "no index", false },
	{ "a sign", "[1,2]", "[{\"op\":\"add\",\"path\":\"/+1\",\"value\":1}]", NULL, "no index", false },
	{ "a negative index", "[1,2]", "[{\"op\":\"add\",\"path\":\"/-1\",\"value\":1}]", NULL, "no index", false },
	{ "an exponent", "[1,2]", "[{\"op\":\"test\",\"path\":\"/1e0\",\"value\":2}]", NULL, "nothing at", false },
	{ "an index beyond all numbers", "[1,2]",
		"[{\"op\":\"add\",\"path\":\"/18446744073709551617\",\"value\":1}]", NULL, "no index", false },
	{ "a name", "[1,2]", "[{\"op\":\"add\",\"path\":\"/a\",\"value\":1}]", NULL, "no index", false },
	{ "an empty name in an array", "[1,2]", "[{\"op\":\"add\",\"path\":\"/\",\"value\":1}]", NULL, "no index", false },
	{ "moving backward", "[1,2,3]", "[{\"op\":\"move\",\"from\":\"/2\",\"path\":\"/0\"}]", "[3,1,2]", NULL, false },
	{ "a move's path counts without what it took", "[1,2]", "[{\"op\":\"move\",\"from\":\"/0\",\"path\":\"/2\"}]", NULL,
		"1 elements", false },

	// numbers in tests
	{ "numbers by value", "[1,1.0,1e2,-0,0.1,12300,9007199254740993]",
		"[{\"op\":\"test\",\"path\":\"\",\"value\":[1.0,1,100,0,1e-1,1.23E+4,9007199254740993.000]}]",
		"[1,1.0,1e2,-0,0.1,12300,9007199254740993]", NULL, false },
	{ "not by what a double makes of them", "[9007199254740993]",
		"[{\"op\":\"test\",\"path\":\"/0\",\"value\":9007199254740992.0}]",
		NULL, "tested", false },
	{ "nor by their sign", "[1.5]", "[{\"op\":\"test\",\"path\":\"/0\",\"value\":-1.5}]", NULL, "tested", false },
	{ "nor by their digits alone", "[1.5]", "[{\"op\":\"test\",\"path\":\"/0\",\"value\":15}]", NULL, "tested", false },
	{ "a part of the digits", "[1.25]", "[{\"op\":\"test\",\"path\":\"/0\",\"value\":1.2}]", NULL, "tested", false },
	{ "members in any order", "{\"a\":{\"x\":1,\"y\":2}}",
		"[{\"op\":\"test\",\"path\":\"/a\",\"value\":{\"y\":2.0,\"x\":1}}]", "{\"a\":{\"x\":1,\"y\":2}}", NULL, false },
	{ "one member more", "{\"a\":{\"x\":1}}", "[{\"op\":\"test\",\"path\":\"/a\",\"value\":{\"x\":1,\"y\":2}}]", NULL, "tested",
		false },
	{ "true is not \"true\"", "[true]", "[{\"op\":\"test\",\"path\":\"/0\",\"value\":\"true\"}]", NULL, "tested", false },

	// all or nothing, and which one it was
	{ "the third fails", "{}", "[{\"op\":\"add\",\"path\":\"/a\",\"value\":1},{\"op\":\"add\",\"path\":\"/b\",\"value\":1},"
		"{\"op\":\"remove\",\"path\":\"/c\"}]", NULL, "operation 2", false },
	{ "no operation", "{\"a\":1}", "[]", "{\"a\":1}", NULL, false },

	// malformed
	{ "not an array", "{}", "{\"op\":\"add\"}", NULL, "array", true },
	{ "null", "{}", "null", NULL, "array", true },
	{ "not an object", "{}", "[1]", NULL, "operation 0", true },
	{ "no op", "{}", "[{\"path\":\"/a\",\"value\":1}]", NULL, "\"op\"", true },
	{ "an op that is none", "{}", "[{\"op\":\"spam\",\"path\":\"/a\",\"value\":1}]", NULL, "\"op\"", true },
	{ "an op in capitals", "{}", "[{\"op\":\"ADD\",\"path\":\"/a\",\"value\":1}]", NULL, "\"op\"", true },
	{ "an op that is a number", "{}", "[{\"op\":1,\"path\":\"/a\",\"value\":1}]", NULL, "\"op\"", true },
	{ "no path", "{}", "[{\"op\":\"add\",\"value\":1}]", NULL, "\"path\"", true },
	{ "a path without /", "{}", "[{\"op\":\"add\",\"path\":\"a\",\"value\":1}]", NULL, "begins with", true },
	{ "a path in a fragment", "{}", "[{\"op\":\"add\",\"path\":\"#/a\",\"value\":1}]", NULL, "begins with", true },
	{ "~2", "{}", "[{\"op\":\"add\",\"path\":\"/~2\",\"value\":1}]", NULL, "~0", true },
	{ "~ at the end", "{}", "[{\"op\":\"add\",\"path\":\"/a~\",\"value\":1}]", NULL, "~0", true },
	{ "no value to add", "{}", "[{\"op\":\"add\",\"path\":\"/a\"}]", NULL, "\"value\"", true },
	{ "no value to replace", "{\"a\":1}", "[{\"op\":\"replace\",\"path\":\"/a\"}]", NULL, "\"value\"", true },
	{ "no value to test", "{\"a\":1}", "[{\"op\":\"test\",\"path\":\"/a\"}]", NULL, "\"value\"", true },
	{ "no from", "{\"a\":1}", "[{\"op\":\"copy\",\"path\":\"/a\"}]", NULL, "\"from\"", true },
	{ "a malformed one behind a good one", "{}",
		"[{\"op\":\"add\",\"path\":\"/a\",\"value\":1},{\"op\":\"x\"}]", NULL, "operation 1",
		true },
};

static bool contains(struct str text, const char *word)
{
	for (size_t i = 0; i < text.n; i++) {
		if (str_starts(str_part(text, i, text.n), str_c(word)))
			return true;
	}
	return false;
}

static void check_case(struct pool *pool, const struct patch_case *c)
{
	struct doc *target = parsed(pool, c->target), *patch = parsed(pool, c->patch), *result = NULL;
	struct str error = STR("");

	ok(doc_json_patch_check(pool, patch, &error) == !c->malformed, "%s: %s", c->what,
		c->malformed ? "malformed" : "well-formed");
	bool done = doc_json_patch(pool, target, patch, limits, &result, &error);
	if (!ok(done == (c->want != NULL), "%s: %s", c->what, c->want != NULL ? "done" : "refused"))
		diag("%.*s", STR_ARG(error));
	if (c->want != NULL)
		is_str(written(pool, result), c->want, "%s: the result", c->what);
	else if (!ok(contains(error, c->error), "%s: the error says \"%s\"", c->what, c->error))
		diag("%.*s", STR_ARG(error));
	is_str(written(pool, target), c->target, "%s: the target is as before", c->what);
	is_str(written(pool, patch), c->patch, "%s: the patch is as before", c->what);
}

// A.13, an operation with two "op", is refused before: the reader takes no name twice.
static void test_duplicate_op(struct pool *pool)
{
	struct doc *doc;
	struct str error;

	struct str patch = STR("[{\"op\":\"add\",\"path\":\"/baz\",\"value\":\"qux\",\"op\":\"remove\"}]");

	ok(!doc_parse_json(pool, patch, limits, &doc, &error), "A.13 invalid JSON Patch document");
}

// RFC 6901 section 5.
static void test_pointers(struct pool *pool)
{
	static const char document[] = "{\"foo\":[\"bar\",\"baz\"],\"\":0,\"a/b\":1,\"c%d\":2,\"e^f\":3,\"g|h\":4,\"i\\\\j\":5,"
		"\"k\\\"l\":6,\" \":7,\"m~n\":8}";
	static const struct { const char *pointer, *value; } rows[] = {
		{ "", document }, { "/foo", "[\"bar\",\"baz\"]" }, { "/foo/0", "\"bar\"" }, { "/", "0" }, { "/a~1b", "1" },
		{ "/c%d", "2" }, { "/e^f", "3" }, { "/g|h", "4" }, { "/i\\\\j", "5" }, { "/k\\\"l", "6" }, { "/ ", "7" },
		{ "/m~0n", "8" },
	};
	struct doc *result;
	struct str error;

	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		struct str patch = str_printf(pool, "[{\"op\":\"test\",\"path\":\"%s\",\"value\":%s}]", rows[i].pointer,
			rows[i].value);
		ok(doc_json_patch(pool, parsed(pool, document), parsed(pool, patch.p), limits, &result, &error),
			"\"%s\" is %s", rows[i].pointer, rows[i].value);
	}
	struct buf out = buf_new(pool, 0);
	pointer_add_token(&out, STR("a/b~c"));
	is_str(buf_str(&out), "/a~1b~0c", "a token is escaped");
}

static struct str repeated(struct pool *pool, const char *operation, size_t n)
{
	struct buf out = buf_new(pool, 0);

	for (size_t i = 0; i < n; i++) {
		buf_addc(&out, i == 0 ? '[' : ',');
		buf_add(&out, str_c(operation));
	}
	buf_addc(&out, ']');
	return str_dup(pool, buf_str(&out));
}

// n times the operation: refused with that word in the error; NULL: done.
static void refuse(struct pool *pool, const char *what, const char *target, const char *operation, size_t n,
	const char *word)
{
	struct doc *result = NULL;
	struct str error = STR("");
	struct doc *patch = parsed(pool, repeated(pool, operation, n).p);
	bool done = doc_json_patch(pool, parsed(pool, target), patch, limits, &result, &error);

	if (!ok(word == NULL ? done : !done && contains(error, word), "%s: %s", what, word != NULL ? word : "done"))
		diag("%.*s", STR_ARG(error));
}

static void test_bombs(struct pool *pool)
{
	struct buf large = buf_new(pool, 0);
	struct doc *result;
	struct str error;

	BUF_LIT(&large, "{\"a\":[0");
	for (int i = 0; i < 900; i++)
		BUF_LIT(&large, ",0");
	BUF_LIT(&large, "]}");
	const char *wide = str_cstr(pool, buf_str(&large));
	refuse(pool, "doubling", "{\"a\":[1]}", "{\"op\":\"copy\",\"from\":\"/a\",\"path\":\"/a/-\"}", 40, "more than 1000 values");
	refuse(pool, "nesting", "{}", "{\"op\":\"copy\",\"from\":\"\",\"path\":\"/a\"}", 40, "deeper than 16");
	refuse(pool, "moving deeper", "{\"a\":[],\"b\":{}}",
		"{\"op\":\"move\",\"from\":\"/a\",\"path\":\"/b/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a\"}",
		1, "deeper than 16");
	refuse(pool, "copying a large value over itself", wide, "{\"op\":\"copy\",\"from\":\"/a\",\"path\":\"/a\"}", 15, NULL);
	refuse(pool, "the same without end", wide, "{\"op\":\"copy\",\"from\":\"/a\",\"path\":\"/a\"}", 100,
		"copies and shifts");
	refuse(pool, "shifting without end", wide,
		"{\"op\":\"add\",\"path\":\"/a/0\",\"value\":0},{\"op\":\"remove\",\"path\":\"/a/0\"}", 1000, "copies and shifts");
	struct doc_limits none = { 2000, 0 };
	struct str patch = repeated(pool, "{\"op\":\"copy\",\"from\":\"\",\"path\":\"/a\"}", 2000);
	ok(!doc_json_patch(pool, parsed(pool, "{}"), parsed(pool, patch.p), none, &result, &error),
		"no limit admits more depth than the stack bears");
	patch = repeated(pool, "{\"op\":\"add\",\"path\":\"/a/-\",\"value\":1}", 500);
	ok(doc_json_patch(pool, parsed(pool, "{\"a\":[]}"), parsed(pool, patch.p), limits, &result, &error) &&
		doc_length(result) == 1,
		"an honest patch of 500 operations is done");
}

int main(void)
{
	struct pool *pool = pool_new();

	for (size_t i = 0; i < COUNT_OF(cases); i++)
		check_case(pool, &cases[i]);
	test_duplicate_op(pool);
	test_pointers(pool);
	test_bombs(pool);
	pool_free(&pool);
	return done_testing();
}

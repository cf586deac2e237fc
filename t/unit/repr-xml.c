// SPDX-License-Identifier: Apache-2.0
// XML texts that attack the parser, break the rules of XML, or exceed the limits.
#include "base/base.h"

#include "base/pool.h"
#include "repr/shape/shape.h"
#include "tap.h"

static const struct repr_document any = { .body = { .kind = SHAPE_ANY } };
static const struct shape map_shape = { .name = "m", .kind = SHAPE_MAP };
static const struct repr_document map = { .body = map_shape };

static bool read_xml(struct pool *pool, struct str text, struct doc_limits limits, struct doc **doc, struct str *error)
{
	*error = STR("");
	return repr_read(pool, &any, REPR_XML, text, limits, doc, error);
}

static void test_refused(struct pool *pool)
{
	static const struct { const char *text, *error; } cases[] = {
		{ "<!DOCTYPE string><string/>", "DOCTYPE is not accepted" },
		{ "<?xml version='1.0'?>\n<!-- <string/> --><?pi ?> <!DOCTYPE string [<!ENTITY a 'b'>]><string>&a;</string>",
			"DOCTYPE is not accepted" },
		{ "<!DOCTYPE string SYSTEM 'file:///etc/passwd'><string/>", "DOCTYPE is not accepted" },
		{ "<!doctype string><string/>", "DOCTYPE is not accepted" },
		{ "<!ENTITY a 'b'><string/>", "DOCTYPE is not accepted" },
		{ "<string><!DOCTYPE string></string>", "line 1" },
		{ "<string/><!DOCTYPE string>", "line 1" },
		{ "<string>&a;</string>", "'a' not defined" },
		{ "<string>&#0;</string>", "line 1" }, { "<string>&#xD800;</string>", "line 1" },
		{ "<string>\x01</string>", "line 1" },
		{ "<string>a & b</string>", "line 1" }, { "<string>a < b</string>", "line 1" },
		{ "<string>]]></string>", "line 1" },
		{ "<?xml version='1.0' encoding='ISO-8859-1'?><string/>", "another encoding" },
		{ "<?xml version='1.0' encoding='UTF-16'?><string/>", "another encoding" },
		{ "<?xml version='1.0' encoding='UTF-7'?><string/>", "another encoding" },
		{ "<string>\xe4</string>", "UTF-8" }, { "<string>\xc0\xbc</string>", "UTF-8" },
		{ "<string>\xed\xa0\x80</string>", "UTF-8" },
		{ "\xff\xfe<\x01", "UTF-8" },
		{ "", "is empty" }, { "   ", "document" }, { "x", "line 1" }, { "{}", "line 1" }, { "<!-- c -->", "line 1" },
		{ "<!-- c", "line 1" }, { "<?pi", "line 1" }, { "<", "line 1" }, { "<string", "line 1" },
		{ "<string>", "not closed" },
		{ "<string>abc", "line 1" }, { "<map><string key='a'>\n", "line" }, { "<map></string>", "line 1" },
		{ "<string></string", "line 1" }, { "<string/><string/>", "follows its end" },
		{ "<string/>x", "follows its end" },
		{ "<string a='1' a='2'/>", "line 1" }, { "<string a=1/>", "line 1" }, { "<string a/>", "line 1" },
		{ " <?xml version='1.0'?><string/>", "line 1" },
		{ "<string><![CDATA[x</string>", "line 1" }, { "<string><!-- -- --></string>", "line 1" },
	};
	struct doc *doc;
	struct str error;

	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		ok(!read_xml(pool, str_c(cases[i].text), (struct doc_limits){ 16, 0 }, &doc, &error), "refused: %s",
			cases[i].text);
		const char *text = str_cstr(pool, error);
		if (!ok(strstr(text, cases[i].error) != NULL, "the error says: %s", cases[i].error))
			diag("%s", text);
		ok(str_utf8_ok(error, NULL) && str_find(error, '\n', 0) == error.n, "in one line of UTF-8");
	}
	ok(!read_xml(pool, STR("<string/>\0<x"), (struct doc_limits){ 16, 0 }, &doc, &error), "a NUL behind the document");
	ok(!read_xml(pool, STR("<string>a\0b</string>"), (struct doc_limits){ 16, 0 }, &doc, &error), "a NUL within");
	ok(read_xml(pool, str_n("<string/>x", 9), (struct doc_limits){ 16, 0 }, &doc, &error),
		"nothing beyond the text is read");
}

static struct str repeated(struct pool *pool, const char *before, const char *after, int n)
{
	struct buf out = buf_new(pool, 0);

	for (int i = 0; i < n; i++)
		buf_add(&out, str_c(before));
	for (int i = 0; i < n; i++)
		buf_add(&out, str_c(after));
	return buf_str(&out);
}

static void test_limits(struct pool *pool)
{
	struct doc_limits few = { .depth = 3, .nodes = 4 }, wide = { .depth = 1000, .nodes = 0 };
	struct doc *doc;
	struct str error;

	ok(read_xml(pool, repeated(pool, "<array>", "</array>", 3), few, &doc, &error), "as deep as allowed");
	ok(!read_xml(pool, repeated(pool, "<array>", "</array>", 4), few, &doc, &error), "one deeper");
	is_str(error, "line 1: the document is nested more than 3 levels deep", "the error names the limit");
	ok(read_xml(pool, STR("<array><null/><null/><null/></array>"), few, &doc, &error), "as many values as allowed");
	ok(!read_xml(pool, STR("<array><null/><null/><null/><null/></array>"), few, &doc, &error), "one more");
	is_str(error, "line 1: the document has more than 4 values", "the error names the limit");
	ok(!read_xml(pool, repeated(pool, "<array>", "</array>", 20000), wide, &doc, &error), "very deep");
	ok(!read_xml(pool, repeated(pool, "<array>", "", 20000), wide, &doc, &error), "and not closed");

	struct doc_limits flat = { .depth = 0, .nodes = 0 };
	ok(!repr_read(pool, &map, REPR_XML, STR("<m><a>1</a></m>"), flat, &doc, &error), "a map has a level too");
	ok(read_xml(pool, STR("<null/>"), flat, &doc, &error), "a scalar has none");
}

static void test_large(struct pool *pool)
{
	enum { N = 20000 };
	struct buf text = buf_new(pool, 0);
	struct doc_limits limits = { .depth = 4, .nodes = 0 };
	struct doc *doc;
	struct str error;

	BUF_LIT(&text, "<map>");
	for (int i = 0; i < N; i++)
		buf_addf(&text, "<number key=\"k%d\">%d</number>", i, i);
	BUF_LIT(&text, "</map>");
	ok(read_xml(pool, buf_str(&text), limits, &doc, &error), "many members");
	is_int((long long)doc_length(doc), N, "are all there");

	text = buf_new(pool, 0);
	BUF_LIT(&text, "<string>");
	for (int i = 0; i < 100000; i++)
		BUF_LIT(&text, "aä&amp;\n");
	BUF_LIT(&text, "</string>");
	ok(read_xml(pool, buf_str(&text), limits, &doc, &error), "a long text in many pieces");
	is_int((long long)doc_string(doc).n, 100000 * 5, "is whole");
}

// libxml2 has this limit, whatever a document may have.
static void test_long_text(struct pool *pool)
{
	enum { MOST = 10000000 };
	struct buf text = buf_new(pool, MOST + 100);
	struct doc *doc;
	struct str error;

	BUF_LIT(&text, "<map>\n<string key=\"a\">");
	for (int i = 0; i < MOST / 10; i++)
		BUF_LIT(&text, "abcdefghij");
	struct buf longer = buf_new(pool, MOST + 100);
	buf_add(&longer, buf_str(&text));
	BUF_LIT(&text, "</string></map>");
	BUF_LIT(&longer, "k</string></map>");
	ok(read_xml(pool, buf_str(&text), (struct doc_limits){ 4, 0 }, &doc, &error), "a text of 10,000,000 bytes");
	ok(!read_xml(pool, buf_str(&longer), (struct doc_limits){ 4, 0 }, &doc, &error), "one byte more");
	is_str(error, "line 2: a text in XML may have 10,000,000 bytes: send a longer one as JSON", "and what to do");
}

int main(void)
{
	struct pool *pool = pool_new();

	test_refused(pool);
	test_limits(pool);
	test_large(pool);
	test_long_text(pool);
	pool_free(&pool);
	return done_testing();
}

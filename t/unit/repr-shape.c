// SPDX-License-Identifier: Apache-2.0
// Documents by their shapes, in JSON and in XML, with shapes like the application's.
#include "base/base.h"

#include "base/pool.h"
#include "repr/shape/shape.h"
#include "tap.h"

static const struct doc_limits limits = { .depth = 16, .nodes = 1000 };

static const struct shape account_members[] = {
	{ .name = "id", .kind = SHAPE_STRING, .flags = SHAPE_ATTR },
	{ .name = "tier", .kind = SHAPE_STRING, .flags = SHAPE_ATTR | SHAPE_REQUIRED },
	{ .name = "state", .kind = SHAPE_STRING, .flags = SHAPE_ATTR | SHAPE_NOT_READ },
	{ .name = "resources", .kind = SHAPE_NUMBER, .flags = SHAPE_ATTR },
	{ .name = "frozen", .kind = SHAPE_BOOL, .flags = SHAPE_ATTR },
	{ .name = "links", .kind = SHAPE_ANY, .flags = SHAPE_NOT_READ },
	{ .name = "metadata", .kind = SHAPE_MAP, .flags = SHAPE_INLINE },
	{ .name = NULL },
};
static const struct repr_document account = {
	.root = "account", .xmlns = "urn:example:accounts", .body = { .kind = SHAPE_OBJECT, .members = account_members },
};

static const struct shape id_members[] = { { .name = "id", .kind = SHAPE_STRING, .flags = SHAPE_ATTR },
{ .name = NULL } };
static const struct shape account_item = { .name = "account", .kind = SHAPE_OBJECT, .members = id_members };
static const struct shape resource_members[] = {
	{ .name = "id", .kind = SHAPE_STRING, .flags = SHAPE_ATTR },
	{ .name = "uid", .kind = SHAPE_STRING, .flags = SHAPE_ATTR },
	{ .name = "tag", .kind = SHAPE_STRING, .flags = SHAPE_ATTR },
	{ .name = NULL },
};
static const struct shape resource_item = { .name = "resource", .kind = SHAPE_OBJECT, .members = resource_members };
static const struct shape tagged_members[] = {
	{ .name = "tag", .kind = SHAPE_STRING, .flags = SHAPE_ATTR },
	{ .name = "size", .kind = SHAPE_NUMBER, .flags = SHAPE_ATTR },
	{ .name = "total-usage", .kind = SHAPE_NUMBER, .flags = SHAPE_ATTR },
	{ .name = NULL },
};
static const struct shape blocker_members[] = {
	{ .name = "resource", .kind = SHAPE_STRING, .flags = SHAPE_ATTR },
	{ .name = "reason", .kind = SHAPE_STRING, .flags = SHAPE_ATTR },
	{ .name = "detail", .kind = SHAPE_STRING, .flags = SHAPE_ATTR },
	{ .name = NULL },
};
static const struct shape blocker_item = { .name = "blocker", .kind = SHAPE_OBJECT, .members = blocker_members };

#define MOVE_MEMBERS(...) { \
	{ .name = "dest", .kind = SHAPE_STRING, .flags = SHAPE_ATTR }, \
	{ .name = "accounts", .kind = SHAPE_LIST, .item = &account_item }, \
	{ .name = "resources", __VA_ARGS__ }, \
	{ .name = "blockers", .kind = SHAPE_LIST, .flags = SHAPE_SKIP_EMPTY, .item = &blocker_item }, \
	{ .name = NULL }, \
}
static const struct shape move_members[] = MOVE_MEMBERS(.kind = SHAPE_LIST, .item = &resource_item);
static const struct shape tagged_move_members[] = MOVE_MEMBERS(.kind = SHAPE_OBJECT, .members = tagged_members);
static const struct repr_document move = {
	.root = "move", .xmlns = "http://service.openstack.com/actions",
	.body = { .kind = SHAPE_OBJECT, .members = move_members },
};
static const struct repr_document tagged_move = {
	.root = "move", .xmlns = "http://service.openstack.com/actions",
	.body = { .kind = SHAPE_OBJECT, .members = tagged_move_members },
};

// JSON bare, XML with an element of its name.
static const struct shape problem_members[] = {
	{ .name = "type", .kind = SHAPE_STRING },
	{ .name = "title", .kind = SHAPE_STRING },
	{ .name = "status", .kind = SHAPE_NUMBER },
	{ .name = "detail", .kind = SHAPE_STRING },
	{ .name = "extra", .kind = SHAPE_MAP },
	{ .name = NULL },
};
static const struct repr_document problem = {
	.xmlns = "urn:ietf:rfc:7807", .body = { .name = "problem", .kind = SHAPE_OBJECT, .members = problem_members },
};

static const struct shape any_item = { .name = "resource", .kind = SHAPE_ANY };
static const struct shape tag_item = { .name = "tag", .kind = SHAPE_STRING };
static const struct shape list_members[] = {
	{ .name = "resources", .kind = SHAPE_LIST, .item = &any_item },
	{ .name = "tags", .kind = SHAPE_LIST, .flags = SHAPE_INLINE, .item = &tag_item },
	{ .name = "next", .kind = SHAPE_STRING, .flags = SHAPE_ATTR },
	{ .name = NULL },
};
static const struct repr_document list = { .body = { .name = "list", .kind = SHAPE_OBJECT, .members = list_members } };
static const struct repr_document any = { .body = { .kind = SHAPE_ANY } };
static const struct repr_document json_only = { .body = { .kind = SHAPE_OBJECT, .members = list_members } };

struct example {
	const char *name;
	const struct repr_document *document;
	const char *json, *xml; // without the declaration; each written form of the other
};

#define W3C "http://www.w3.org/2005/xpath-functions"
static const struct example examples[] = {
	{ "account", &account,
		"{\"account\":{\"id\":\"Bob's Account\",\"tier\":\"gold\",\"resources\":3,\"frozen\":true,"
			"\"metadata\":{\"colour\":\"red & <blue>\",\"größe\":\"7\",\"empty\":\"\"}}}",
		"<account xmlns=\"urn:example:accounts\" id=\"Bob's Account\" tier=\"gold\" resources=\"3\" frozen=\"true\">\n"
			"  <colour>red &amp; &lt;blue&gt;</colour>\n"
			"  <größe>7</größe>\n"
			"  <empty/>\n"
			"</account>\n" },
	{ "account without metadata", &account,
		"{\"account\":{\"tier\":\"\"}}",
		"<account xmlns=\"urn:example:accounts\" tier=\"\"/>\n" },
	{ "keys that are no names, or other elements' names", &account,
		"{\"account\":{\"tier\":\"x\",\"metadata\":{\"a b\":\"1\",\"\":\"2\",\"1a\":\"3\",\"a:b\":\"4\","
			"\"entry\":\"5\","
			"\"links\":\"6\",\"id\":\"7\",\"metadata\":\"m\",\"xmlns\":\"8\",\"<&\\\"\\n\":\"9\",\"-\":\"\"}}}",
		"<account xmlns=\"urn:example:accounts\" tier=\"x\">\n"
			"  <entry key=\"a b\">1</entry>\n"
			"  <entry key=\"\">2</entry>\n"
			"  <entry key=\"1a\">3</entry>\n"
			"  <entry key=\"a:b\">4</entry>\n"
			"  <entry key=\"entry\">5</entry>\n"
			"  <entry key=\"links\">6</entry>\n"
			"  <id>7</id>\n"
			"  <metadata>m</metadata>\n"
			"  <entry key=\"xmlns\">8</entry>\n"
			"  <entry key=\"&lt;&amp;&quot;&#10;\">9</entry>\n"
			"  <entry key=\"-\"/>\n"
			"</account>\n" },
	{ "blanks are kept", &account,
		"{\"account\":{\"id\":\" a\\t\\r\\n b \",\"tier\":\"x\","
			"\"metadata\":{\"a\":\"  \",\"b\":\"\\r\\n\\t x \\n\"}}}",
		"<account xmlns=\"urn:example:accounts\" id=\" a&#9;&#13;&#10; b \" tier=\"x\">\n"
			"  <a>  </a>\n"
			"  <b>&#13;\n\t x \n</b>\n"
			"</account>\n" },
	{ "move", &move,
		"{\"move\":{\"dest\":\"b\",\"accounts\":[{\"id\":\"a\"},{\"id\":\"b\"}],"
			"\"resources\":[{\"id\":\"volumes/v1\",\"uid\":\"u\",\"tag\":\"W/1\"}],"
			"\"blockers\":[{\"resource\":\"volumes/v1\",\"reason\":\"locked\",\"detail\":\"It is locked.\"}]}}",
		"<move xmlns=\"http://service.openstack.com/actions\" dest=\"b\">\n"
			"  <accounts>\n"
			"    <account id=\"a\"/>\n"
			"    <account id=\"b\"/>\n"
			"  </accounts>\n"
			"  <resources>\n"
			"    <resource id=\"volumes/v1\" uid=\"u\" tag=\"W/1\"/>\n"
			"  </resources>\n"
			"  <blockers>\n"
			"    <blocker resource=\"volumes/v1\" reason=\"locked\" detail=\"It is locked.\"/>\n"
			"  </blockers>\n"
			"</move>\n" },
	{ "tagged move", &tagged_move,
		"{\"move\":{\"dest\":\"b\",\"accounts\":[],\"resources\":{\"tag\":\"t\",\"size\":100000,\"total-usage\":5}}}",
		"<move xmlns=\"http://service.openstack.com/actions\" dest=\"b\">\n"
			"  <accounts/>\n"
			"  <resources tag=\"t\" size=\"100000\" total-usage=\"5\"/>\n"
			"</move>\n" },
	{ "problem", &problem,
		"{\"type\":\"about:blank\",\"title\":\"Gone\",\"status\":410,\"detail\":\"It \\\"was\\\" > here.\","
			"\"extra\":{\"purge_at\":\"2026-01-01\"}}",
		"<problem xmlns=\"urn:ietf:rfc:7807\">\n"
			"  <type>about:blank</type>\n"
			"  <title>Gone</title>\n"
			"  <status>410</status>\n"
			"  <detail>It \"was\" &gt; here.</detail>\n"
			"  <extra>\n"
			"    <purge_at>2026-01-01</purge_at>\n"
			"  </extra>\n"
			"</problem>\n" },
	{ "list", &list,
		"{\"resources\":[{\"a\":[1.0]},null],\"tags\":[\"x\",\"\"],\"next\":\"http://h/?a=1&b=2\"}",
		"<list next=\"http://h/?a=1&amp;b=2\">\n"
			"  <resources>\n"
			"    <resource><map xmlns=\"" W3C "\"><array key=\"a\"><number>1.0</number></array></map></resource>\n"
			"    <resource><null xmlns=\"" W3C "\"/></resource>\n"
			"  </resources>\n"
			"  <tag>x</tag>\n"
			"  <tag/>\n"
			"</list>\n" },
	{ "any", &any,
		"{\"a\":\"x\",\"n\":1e5,\"b\":true,\"z\":null,\"l\":[\"\",[],{}],\"\":false}",
		"<map xmlns=\"" W3C "\"><string key=\"a\">x</string><number key=\"n\">1e5</number>"
			"<boolean key=\"b\">true</boolean>"
			"<null key=\"z\"/><array key=\"l\"><string/><array/><map/></array>"
			"<boolean key=\"\">false</boolean></map>\n" },
	{ "a map with what XML can't hold", &account,
		"{\"account\":{\"tier\":\"x\",\"metadata\":{\"a\":\"b\\\\c\\u0001\",\"d\":\"e\\\\f\",\"k\\u0001\":\"\\u0000\"}}}",
		"<account xmlns=\"urn:example:accounts\" tier=\"x\">\n"
			"  <a escaped=\"true\">b\\\\c\\u0001</a>\n"
			"  <d>e\\f</d>\n"
			"  <entry escaped-key=\"true\" key=\"k\\u0001\" escaped=\"true\">\\u0000</entry>\n"
			"</account>\n" },
	{ "any with what XML can't hold", &any,
		"[\"a\\\\b\",\"a\\\\b\\u0000\\u001f\xef\xbf\xbe\\\"\",{\"k\\\\\\u0001\":1},\"\\r\\n\"]",
		"<array xmlns=\"" W3C "\"><string>a\\b</string><string escaped=\"true\">a\\\\b\\u0000\\u001f\\ufffe\"</string>"
			"<map><number escaped-key=\"true\" key=\"k\\\\\\u0001\">1</number></map>"
			"<string>&#13;\n</string></array>\n" },
	{ "any scalar", &any, "\"<\"", "<string xmlns=\"" W3C "\">&lt;</string>\n" },
};

static struct str write_as(struct pool *pool, const struct repr_document *document, enum repr_format format,
	const struct doc *body)
{
	struct buf out = buf_new(pool, 0);

	repr_write(document, format, body, &out);
	return buf_str(&out);
}

static void test_examples(struct pool *pool)
{
	static const char declaration[] = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n";
	struct str error = STR("");
	struct doc *body;

	for (size_t i = 0; i < COUNT_OF(examples); i++) {
		const struct example *e = &examples[i];
		const char *xml = str_cstr(pool, str_printf(pool, "%s%s", declaration, e->xml));
		if (!ok(repr_read(pool, e->document, REPR_JSON, str_c(e->json), limits, &body, &error), "%s: JSON", e->name))
			diag("%.*s", STR_ARG(error));
		is_str(write_as(pool, e->document, REPR_JSON, body), e->json, "%s: JSON from JSON", e->name);
		is_str(write_as(pool, e->document, REPR_XML, body), xml, "%s: XML from JSON", e->name);
		if (!ok(repr_read(pool, e->document, REPR_XML, str_c(xml), limits, &body, &error), "%s: XML", e->name))
			diag("%.*s", STR_ARG(error));
		is_str(write_as(pool, e->document, REPR_XML, body), xml, "%s: XML from XML", e->name);
		is_str(write_as(pool, e->document, REPR_JSON, body), e->json, "%s: JSON from XML", e->name);
	}
}

// What is read beside the form we write ourselves.
static void test_other_forms(struct pool *pool)
{
	static const struct { const struct repr_document *document; const char *text, *json; } cases[] = {
		{ &account, "<a:account xmlns:a='urn:any' tier='x' xml:lang='de'><a:k>v</a:k></a:account>",
			"{\"account\":{\"tier\":\"x\",\"metadata\":{\"k\":\"v\"}}}" },
		{ &account, "<account xmlns:x='urn:x' x:tier='gold' tier='x' x:id='b' id='a' x:other='c'><k x:l='m'>v</k></account>",
			"{\"account\":{\"id\":\"a\",\"tier\":\"x\",\"metadata\":{\"k\":\"v\"}}}" },
		{ &any, "<map xmlns:x='urn:x' x:schemaLocation='u'><string x:key='b' key='a' x:escaped='true'>\\</string></map>", "{\"a\":\"\\\\\"}" },
		{ &account, "\xef\xbb\xbf<?xml version='1.0' encoding='utf-8'?><!-- c --><?pi?><account tier='x'/><!-- d -->\n",
			"{\"account\":{\"tier\":\"x\"}}" },
		{ &account, "<?xml version=\"1.0\" encoding = \"US-ASCII\" standalone=\"yes\"?><account tier='x'/>",
			"{\"account\":{\"tier\":\"x\"}}" },
		{ &account, "<account tier='x'><!-- c --><k>a<!-- c -->b<![CDATA[<&]]>&#65;&amp;<?pi x?></k>\n</account>",
			"{\"account\":{\"tier\":\"x\",\"metadata\":{\"k\":\"ab<&A&\"}}}" },
		{ &account,
			"<account tier='x' state='gone' resources=' 12 ' frozen='1'><links><a b='c'>x<d/></a></links></account>",
			"{\"account\":{\"tier\":\"x\",\"resources\":12,\"frozen\":true}}" },
		{ &account, "{\"account\":{\"state\":[{}],\"links\":null,\"tier\":\"x\"}}", "{\"account\":{\"tier\":\"x\"}}" },
		{ &account, "<account tier='x'><entry>1</entry><entry key='b'>2</entry></account>",
			"{\"account\":{\"tier\":\"x\",\"metadata\":{\"entry\":\"1\",\"b\":\"2\"}}}" },
		{ &account,
			"<account tier='x'><a escaped='1'>\\u0041\\\\</a><b escaped='false'>\\</b>"
			"<entry escaped-key='true' key='\\u0063'>d</entry></account>",
			"{\"account\":{\"tier\":\"x\",\"metadata\":{\"a\":\"A\\\\\",\"b\":\"\\\\\",\"c\":\"d\"}}}" },
		{ &list, "<list><tag>a</tag><resources/><tag>b</tag></list>", "{\"resources\":[],\"tags\":[\"a\",\"b\"]}" },
		{ &any,
			"<map>\n<string key='a' escaped='true'>\\u00e4\\uD83D\\uDE00\"\\\"\\/</string> "
			"<boolean key='b'> 0 </boolean></map>",
			"{\"a\":\"ä😀\\\"\\\"/\",\"b\":false}" },
		{ &any, "<map><null key='\\u0041'/><null escaped-key='true' key='\\u0041'> </null></map>",
			"{\"\\\\u0041\":null,\"A\":null}" },
		{ &any, "<map><string escaped-key='true' key='' escaped='true'/></map>", "{\"\":\"\"}" },
		{ &any, "<map><string key=''>x</string></map>", "{\"\":\"x\"}" },
		{ &any, "<number>\n -0 \n</number>", "-0" },
		{ &any, "<string escaped='false'>\\u0041</string>", "\"\\\\u0041\"" },
	};
	struct doc *body;

	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		enum repr_format format = cases[i].text[0] == '{' ? REPR_JSON : REPR_XML;
		struct str error = STR("");
		bool read = repr_read(pool, cases[i].document, format, str_c(cases[i].text), limits, &body, &error);
		if (ok(read, "read: %s", cases[i].text))
			is_str(write_as(pool, cases[i].document, REPR_JSON, body), cases[i].json, "as JSON");
		else
			diag("%.*s", STR_ARG(error));
	}
}

static const struct { const struct repr_document *document; const char *text, *error; } refused[] = {
	{ &account, "{\"tenant\":{}}", "expected \"account\", found \"tenant\"" },
	{ &account, "{\"account\":{\"tier\":\"x\"},\"x\":1}", "expected \"account\" alone, found \"x\"" },
	{ &account, "{\"account\":null}", "\"account\" must be an object, not null" },
	{ &account, "{\"account\":[]}", "\"account\" must be an object, not an array" },
	{ &account, "{\"account\":{}}", "\"account.tier\" is missing" },
	{ &account, "{\"account\":{\"tier\":1}}", "\"account.tier\" must be a string, not a number" },
	{ &account, "{\"account\":{\"tier\":null}}", "\"account.tier\" must be a string, not null" },
	{ &account, "{\"account\":{\"tier\":\"x\",\"color\":\"y\"}}", "\"account.color\" is not known here" },
	{ &account, "{\"account\":{\"tier\":\"x\",\"resources\":\"1\"}}", "must be a number, not a string" },
	{ &account, "{\"account\":{\"tier\":\"x\",\"frozen\":0}}", "must be true or false, not a number" },
	{ &account, "{\"account\":{\"tier\":\"x\",\"metadata\":{\"a\":1}}}",
		"\"account.metadata.a\" must be a string" },
	{ &move, "{\"move\":{\"accounts\":[{\"id\":\"a\"},{\"id\":2}]}}", "\"move.accounts[1].id\" must be a string" },
	{ &move, "{\"move\":{\"accounts\":{}}}", "\"move.accounts\" must be an array, not an object" },
	{ &problem, "{\"status\":\"1\"}", "\"status\" must be a number" },
	{ &problem, "{\"problem\":{}}", "\"problem\" is not known here" },
	{ &problem, "[]", "the document must be an object" },
	{ &account, "<tenant tier='x'/>", "line 1: expected \"account\", found \"tenant\"" },
	{ &account, "<account/>", "\"account.tier\" is missing" },
	{ &account, "<account tier='x' color='y'/>", "the attribute \"account.color\" is not known here" },
	{ &account, "<account tier='x' x:id='y'/>", "the attribute \"account.x:id\" is not known here" },
	{ &account, "<account tier='x' metadata='y'/>", "the attribute \"account.metadata\" is not known here" },
	{ &account, "<account tier='x' resources='ten'/>", "number" },
	{ &account, "<account tier='x' resources='01'/>", "leading zeros" },
	{ &account, "<account tier='x' resources='18446744073709551616'/>", "larger ones go as strings" },
	{ &account, "<account tier='x' frozen='yes'/>", "\"true\" or \"false\"" },
	{ &account, "<account tier='x'>\n<a>1</a>\n<a>2</a></account>",
		"line 3: \"account.metadata.a\" is there twice" },
	{ &account, "<account tier='x'><a>1</a><entry key='a'>2</entry></account>", "is there twice" },
	{ &account, "<account tier='x'><a b='1'/></account>", "the attribute \"account.metadata.b\" is not known" },
	{ &account, "<account tier='x'><entry kee='1'/></account>", "known are \"key\"" },
	{ &account, "<account tier='x'><a escaped='x'>1</a></account>", "\"true\" or \"false\"" },
	{ &account, "<account tier='x'><a escaped-key='true'>1</a></account>", "known are \"escaped\"" },
	{ &account, "<account tier='x'><entry escaped-key='true' key='a\\u0000'>1</entry></account>", "can't hold \\u0000" },
	{ &account, "<account tier='x'><a><b/></a></account>", "an element stands where only text" },
	{ &account, "<account tier='x'>text</account>", "text stands where only elements" },
	{ &account, "<account tier='x'><![CDATA[x]]></account>", "text stands where only elements" },
	{ &move, "<move><account id='a'/></move>",
		"the element \"move.account\" is not known here; known are \"accounts\"" },
	{ &move, "<move><accounts><acount id='a'/></accounts></move>", "known are \"account\"" },
	{ &move, "<move><accounts/><accounts/></move>", "\"move.accounts\" is there twice" },
	{ &move, "<move><accounts x='1'/></move>", "the attribute \"move.accounts.x\" is not known" },
	{ &problem, "<problem><type>a</type><type>b</type></problem>", "\"problem.type\" is there twice" },
	{ &problem, "<problem><type x='1'>a</type></problem>", "the attribute \"problem.type.x\"" },
	{ &problem, "<problem><extra><a>1</a><a>1</a></extra></problem>", "\"problem.extra.a\" is there twice" },
	{ &list, "<list><resources><resource/></resources></list>", "\"list.resources[0]\" is empty" },
	{ &list, "<list><resources><resource><null/><null/></resource></resources></list>", "more than one value" },
	{ &list, "<list><resources><resource>x</resource></resources></list>", "text stands" },
	{ &json_only, "<list/>", "no XML form" },
	{ &any, "<map><string>x</string></map>", "has the attribute \"key\"" },
	{ &any, "<map><string key='a'>x</string><null key='a'/></map>", "the key \"a\" is there twice" },
	{ &any, "<map><null key='A'/><null escaped-key='true' key='\\u0041'/></map>", "the key \"A\" is there twice" },
	{ &any, "<map><null escaped-key='true' key='\\u0000'/></map>", "can't hold \\u0000" },
	{ &any, "<array><null key='a'/></array>", "the attribute \"key\" is not known" },
	{ &any, "<map key='a'/>", "the attribute \"key\" is not known" },
	{ &any, "<map x='a'/>", "the attribute \"x\" is not known" },
	{ &any, "<object/>", "the element <object> is not known" },
	{ &any, "<string escaped='maybe'>x</string>", "\"true\" or \"false\"" },
	{ &any, "<string escaped='true'>\\</string>", "backslash" },
	{ &any, "<string escaped='true'>\\x</string>", "no escape" },
	{ &any, "<string escaped='true'>\\ud800</string>", "high surrogate" },
	{ &any, "<string><b/></string>", "only text" },
	{ &any, "<number>NaN</number>", "number" }, { &any, "<number>1.</number>", "digits must" },
	{ &any, "<number>1e309</number>", "too large" }, { &any, "<number/>", "number" },
	{ &any, "<number escaped='true'>1</number>", "only <string>" },
	{ &any, "<boolean>TRUE</boolean>", "\"true\" or \"false\"" },
	{ &any, "<null>x</null>", "<null> holds nothing" },
};

static void test_refused(struct pool *pool)
{
	struct doc *body;

	for (size_t i = 0; i < COUNT_OF(refused); i++) {
		bool json = refused[i].text[0] == '{' || refused[i].text[0] == '[';
		struct str error = STR("");
		ok(!repr_read(pool, refused[i].document, json ? REPR_JSON : REPR_XML, str_c(refused[i].text), limits, &body,
			&error),
			"refused: %s", refused[i].text);
		const char *text = str_cstr(pool, error);
		if (!ok(strstr(text, refused[i].error) != NULL, "the error says: %s", refused[i].error))
			diag("%s", text);
		ok(body == NULL, "and there is no body");
	}
}

// What a handler's tree has beyond the shape, or lacks.
static void test_writing(struct pool *pool)
{
	struct doc *body = doc_new_object(pool), *map = doc_new_object(pool);

	doc_set_str(pool, body, "secret", STR("x"));
	doc_set_str(pool, body, "tier", STR("a\x01\xff\xef\xbf\xbf"));
	doc_set(body, STR("id"), NULL);
	doc_set(body, STR("metadata"), map);
	doc_set_str(pool, map, "k\x01", STR("\x02"));
	is_str(write_as(pool, &account, REPR_XML, body),
		"<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
		"<account xmlns=\"urn:example:accounts\" tier=\"a\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\">\n"
		"  <entry escaped-key=\"true\" key=\"k\\u0001\" escaped=\"true\">\\u0002</entry>\n"
		"</account>\n", "XML never holds what it can't");
	doc_set_str(pool, body, "tier", STR("x"));
	is_str(write_as(pool, &account, REPR_JSON, body),
		"{\"account\":{\"id\":null,\"tier\":\"x\",\"metadata\":{\"k\\u0001\":\"\\u0002\"}}}",
		"JSON: in the shape's order, nothing that it doesn't list");
	is_str(str_c(repr_media_type(REPR_JSON)), "application/json", "JSON's media type");
	is_str(str_c(repr_media_type(REPR_XML)), "application/xml", "XML's media type");
}

int main(void)
{
	struct pool *pool = pool_new();

	test_examples(pool);
	test_other_forms(pool);
	test_refused(pool);
	test_writing(pool);
	pool_free(&pool);
	return done_testing();
}

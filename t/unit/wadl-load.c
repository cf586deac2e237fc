// SPDX-License-Identifier: Apache-2.0
// What the loader takes, and what it refuses, naming file and line.
#include "base/base.h"

#include <sys/stat.h>

#include "wadl-files.h"

#define MODE " t:role='none' t:txn='none'"
#define LONG_PATH "a/b/c/d/e/f/g/h/i/j/k/l/m/n/o/p/q/r/s/t/u/v/w/x/y/z/1/2/3/4/5/6/7"

// The line is that of the mistake; `says` is a part of the message.
static const struct refusal {
	const char *what;
	const char *text;
	long line;
	const char *says;
} refusals[] = {
	{ "text that is no XML", "hello\n", 1, "well-formed" },
	{ "a tag left open", HEAD "<resources>\n</application>\n", 3, "well-formed" },
	{ "an empty file", "", 1, "well-formed" },
	{ "another outermost element", "<app xmlns='http://wadl.dev.java.net/2009/02'/>\n", 1, "<application>" },
	{ "another namespace", "<application/>\n", 1, "no WADL" },
	{ "a DOCTYPE",
	  "<?xml version='1.0'?>\n<!DOCTYPE application [\n<!ENTITY e 'x'>]>\n" HEAD "</application>", 2, "DOCTYPE" },
	{ "an external DTD",
	  "\n\n<!DOCTYPE application SYSTEM 'file:///etc/passwd'>\n" HEAD "</application>", 3, "DOCTYPE" },
	{ "no method", HEAD "<resources/></application>", 1, "no method" },
	{ "an unknown element", HEAD "<resources>\n<resorce path='a'/>\n" TAIL, 3, "<resorce>" },
	{ "an element of another namespace", HEAD "<resources>\n<x:resource path='a'/>\n" TAIL, 3, "namespace" },
	{ "text between elements", HEAD "<resources>\nhello\n" TAIL, 2, "text" },
	{ "an unknown attribute", HEAD "<resources>\n<resource pth='a'/>\n" TAIL, 3, "pth" },
	{ "a resource without path", HEAD "<resources>\n<resource/>\n" TAIL, 3, "path" },
	{ "a foreign attribute", HEAD "<resources>\n<resource path='a' x:y='1'/>\n" TAIL, 3, "x:y" },
	{ "a method without role",
	  HEAD "<resources>\n<resource path='a'>\n<method id='m' name='GET' t:txn='none'/></resource>" TAIL,
	  4, "t:role" },
	{ "a method without transaction",
	  HEAD "<resources>\n<resource path='a'>\n<method id='m' name='GET' t:role='none'/></resource>" TAIL,
	  4, "t:txn" },
	{ "an unknown role",
	  HEAD "<resources>\n<resource path='a'>\n<method id='m' name='GET' t:role='king' t:txn='none'/>"
	  "</resource>" TAIL, 4, "reader" },
	{ "a method without id",
	  HEAD "<resources>\n<resource path='a'>\n<method name='GET'" MODE "/></resource>" TAIL, 4, "id" },
	{ "an unknown method",
	  HEAD "<resources>\n<resource path='a'>\n<method id='m' name='FETCH'" MODE "/></resource>" TAIL, 4, "FETCH" },
	{ "a method without handler",
	  HEAD "<resources>\n<resource path='a'>\n<method id='missingOne' name='GET'" MODE "/></resource>" TAIL,
	  4, "missingOne has no handler" },
	{ "one id twice",
	  HEAD "<resources><resource path='a'>\n<method id='m' name='GET'" MODE "/>\n<method id='m' name='PUT'"
	  MODE "/></resource>" TAIL, 4, "second method" },
	{ "one name twice at a path",
	  HEAD "<resources><resource path='a'>\n<method id='m' name='GET'" MODE "/>\n<method id='n' name='GET'"
	  MODE "/></resource>" TAIL, 4, "second GET at /a" },
	{ "one name twice, by two resources",
	  HEAD "<resources><resource path='a/b'>\n<method id='m' name='GET'" MODE "/></resource>\n"
	  "<resource path='/a/b/'>\n<method id='n' name='GET'" MODE "/></resource>" TAIL, 5, "second GET" },
	{ "an undeclared template",
	  HEAD "<resources><resource path='{a}'>\n<method id='m' name='GET'" MODE "/></resource>" TAIL, 3, "{a}" },
	{ "a template that is not in the path",
	  HEAD "<resources><resource path='{a}'>\n<param name='b' style='template'/></resource>" TAIL, 3, "{b}" },
	{ "half a template", HEAD "<resources>\n<resource path='a{b}'/>" TAIL, 3, "a{b}" },
	{ "an empty part of a path", HEAD "<resources>\n<resource path='a//b'/>" TAIL, 3, "must be" },
	{ "one template twice", HEAD "<resources>\n<resource path='{a}/b/{a}'/>" TAIL, 3, "twice" },
	{ "too long a path", HEAD "<resources>\n<resource path='" LONG_PATH "'/>" TAIL, 3, "parts" },
	{ "an unknown type",
	  HEAD "<resources><resource path='{a}'>\n<param name='a' style='template' type='x:T'/></resource>" TAIL,
	  3, "x:T" },
	{ "an unknown built-in type",
	  HEAD "<resources><resource path='{a}'>\n<param name='a' style='template' type='xsd:foo'/></resource>"
	  TAIL, 3, "xsd:foo" },
	{ "an undeclared prefix",
	  HEAD "<resources><resource path='{a}'>\n<param name='a' style='template' type='y:T'/></resource>" TAIL,
	  3, "prefix" },
	{ "a matrix parameter",
	  HEAD "<resources><resource path='a'>\n<param name='a' style='matrix'/></resource>" TAIL, 3, "style" },
	{ "one parameter twice",
	  HEAD "<resources><resource path='a'>\n<method id='m' name='GET'" MODE "><request>"
	  "<param name='q' style='query'/>\n<param name='q' style='query'/></request></method></resource>" TAIL,
	  4, "second" },
	{ "one header in two spellings",
	  HEAD "<resources><resource path='a'>\n<method id='m' name='GET'" MODE "><request>"
	  "<param name='If-Match' style='header'/>\n<param name='if-match' style='header'/></request></method>"
	  "</resource>" TAIL, 4, "second" },
	{ "a query parameter of a template's name",
	  HEAD "<resources><resource path='{a}'><param name='a' style='template'/>\n<method id='m' name='GET'"
	  MODE "><request><param name='a' style='query'/></request></method></resource>" TAIL, 3, "twice" },
	{ "a default that breaks the type",
	  HEAD "<resources><resource path='a'>\n<param name='q' style='query' type='xsd:int' default='many'/>"
	  "</resource>" TAIL, 3, "many" },
	{ "a default that is no option",
	  HEAD "<resources><resource path='a'>\n<param name='q' style='query' default='up'><option value='asc'/>"
	  "<option value='desc'/></param></resource>" TAIL, 3, "\"up\" is no option of q, which must be asc or desc" },
	{ "a fixed value that is no option",
	  HEAD "<resources><resource path='a'>\n<param name='q' style='query' fixed='up'><option value='asc'/></param>"
	  "</resource>" TAIL, 3, "\"up\" is no option of q" },
	{ "an option that breaks the type",
	  HEAD "<resources><resource path='a'>\n<param name='q' style='query' type='xsd:int'>\n"
	  "<option value='many'/></param></resource>" TAIL, 4, "many" },
	{ "required with a default",
	  HEAD "<resources><resource path='a'>\n<param name='q' style='query' required='true' default='x'/>"
	  "</resource>" TAIL, 3, "default" },
	{ "a reference to no parameter",
	  HEAD "<resources><resource path='a'>\n<param href='#nothing'/></resource>" TAIL, 3, "#nothing" },
	{ "a bad status",
	  HEAD "<resources><resource path='a'><method id='m' name='GET'" MODE ">\n<response status='200 OK'/>"
	  "</method></resource>" TAIL, 3, "status" },
	{ "a bad media type",
	  HEAD "<resources><resource path='a'><method id='m' name='GET'" MODE "><response>\n"
	  "<representation mediaType='json'/></response></method></resource>" TAIL, 3, "json" },
	{ "a broken pattern",
	  HEAD "<grammars><xsd:schema targetNamespace='urn:x'><xsd:simpleType name='T'>"
	  "<xsd:restriction base='xsd:string'>\n<xsd:pattern value='[a'/></xsd:restriction></xsd:simpleType>"
	  "</xsd:schema></grammars></application>", 3, "[a" },
	{ "a facet we do not know",
	  HEAD "<grammars><xsd:schema targetNamespace='urn:x'><xsd:simpleType name='T'>"
	  "<xsd:restriction base='xsd:string'>\n<xsd:whiteSpace value='collapse'/></xsd:restriction>"
	  "</xsd:simpleType></xsd:schema></grammars></application>", 3, "whiteSpace" },
	{ "a complex type",
	  HEAD "<grammars><xsd:schema targetNamespace='urn:x'>\n<xsd:complexType name='T'/></xsd:schema>"
	  "</grammars></application>", 3, "complexType" },
	{ "an included grammar",
	  HEAD "<grammars>\n<include href='http://127.0.0.1/x.xsd'/></grammars></application>", 3, "inline" },
	{ "a subtree of no file",
	  HEAD "<resources>\n<resource path='a' type='none.wadl#t'/>" TAIL, 1, "none.wadl" },
	{ "a subtree without an id",
	  HEAD "<resources>\n<resource path='a' type='none.wadl'/>" TAIL, 3, "must name a <resource_type>" },
	{ "a subtree that isn't there",
	  HEAD "<resource_type id='s'/><resources>\n<resource path='a' type='#t'/>" TAIL, 3, "no <resource_type> t" },
	{ "a subtree in itself",
	  HEAD "<resource_type id='t'>\n<resource path='b' type='#t'/></resource_type><resources><resource path='a' type='#t'/>"
	  TAIL, 3, "includes itself" },
	{ "subtrees that double",
	  HEAD "<resource_type id='x9'/>"
	  "<resource_type id='x8'><resource path='a' type='#x9 #x9'/><resource path='b' type='#x9 #x9'/></resource_type>"
	  "<resource_type id='x7'><resource path='a' type='#x8 #x8'/><resource path='b' type='#x8 #x8'/></resource_type>"
	  "<resource_type id='x6'><resource path='a' type='#x7 #x7'/><resource path='b' type='#x7 #x7'/></resource_type>"
	  "<resource_type id='x5'><resource path='a' type='#x6 #x6'/><resource path='b' type='#x6 #x6'/></resource_type>"
	  "<resources><resource path='a' type='#x5'/>" TAIL, 2, "subtrees" },
	{ "a method of a subtree that is no reference",
	  HEAD "<resource_type id='t'>\n<method id='m' name='GET'" MODE "/></resource_type><resources><resource path='a' type='#t'/>"
	  TAIL, 3, "only refer" },
	{ "a parameter in a subtree",
	  HEAD "<resource_type id='t'>\n<param name='q' style='query'/></resource_type><resources><resource path='a' type='#t'/>"
	  TAIL, 3, "<param>" },
	{ "a reference to no file",
	  HEAD "<resources><resource path='a'>\n<method href='none.wadl#m'/></resource>" TAIL, 1, "none.wadl" },
	{ "a reference out of the folder",
	  HEAD "<resources><resource path='a'>\n<method href='../good.wadl#m'/></resource>" TAIL, 3, "folder" },
	{ "a reference to no id",
	  HEAD "<resources><resource path='a'>\n<method href='good.wadl#other'/></resource>" TAIL,
	  3, "no method other in good.wadl" },
	{ "a reference without id",
	  HEAD "<resources><resource path='a'>\n<method href='good.wadl'/></resource>" TAIL, 3, "FILE.wadl#ID" },
	{ "a reference with a role",
	  HEAD "<resources><resource path='a'>\n<method href='good.wadl#root' t:role='none'/></resource>" TAIL,
	  3, "t:role" },
	{ "a reference at a path with other names",
	  HEAD "<resources><resource path='{b}'>\n<method href='good.wadl#item'/></resource>" TAIL,
	  3, "/{version}/{thing}" },
	{ "a reference at a path with names in another order",
	  HEAD "<resources><resource path='{thing}/{version}'>\n<method href='good.wadl#item'/></resource>" TAIL,
	  3, "/{version}/{thing}" },
	{ "a reference at a path with a name more",
	  HEAD "<resources><resource path='{version}/{thing}/{c}'>\n<method href='good.wadl#item'/></resource>"
	  TAIL, 3, "braces" },
	{ "parameters beside a reference",
	  HEAD "<resources><resource path='{version}/{thing}'><param name='version' style='template'/>\n"
	  "<method href='good.wadl#item'/></resource>" TAIL, 3, "ignored" },
	{ "a method that refers to itself",
	  HEAD "<resources><resource path='a'>\n<method id='m' href='#m'/></resource>" TAIL, 3, "circle" },
	{ "methods that refer to each other",
	  HEAD "<resources><resource path='a'>\n<method id='m' href='#n'/>\n<method id='n' href='#m'/>"
	  "</resource>" TAIL, 3, "circle" },
	{ "files that refer to each other",
	  HEAD "<resources><resource path='a'>\n<method href='back.wadl#n'/></resource>" TAIL, 3, "circle" },
	{ "a base with templates", HEAD "\n<resources base='/{a}'/></application>", 3, "base" },
	{ "microversions the wrong way round",
	  HEAD "<resources><resource path='a'>\n"
	  "<method id='m' name='GET' t:role='none' t:txn='none' t:min='5' t:max='4'/></resource>" TAIL, 3, "t:min" },
};

static const char good[] = HEAD
	"<grammars><schema xmlns='http://www.w3.org/2001/XMLSchema' targetNamespace='urn:x'>"
	"<simpleType name='V'><restriction base='xsd:string'><pattern value='v1|v2'/></restriction></simpleType>"
	"</schema></grammars>\n"
	"<resources><resource path=''><method id='root' name='GET'" MODE "/></resource>\n"
	"<resource path='{version}'><param name='version' style='template' type='x:V'/>"
	"<resource path='{thing}'><param name='thing' style='template'/>"
	"<method id='item' name='GET' t:role='reader' t:txn='read'/></resource></resource>" TAIL;

// circle-N.wadl refers to back.wadl, which refers to the file under test: they all have one name.
static void write_neighbours(void)
{
	write_file("good.wadl", good);
	write_file("back.wadl", HEAD "<resources><resource path='a'>\n<method id='n' href='bad.wadl#m'/></resource>" TAIL);
}

static void check_error(const struct refusal *refusal, const char *error)
{
	char expect[64];

	(void)snprintf(expect, sizeof(expect), ".wadl:%ld: ", refusal->line);
	bool line = error != NULL && strstr(error, expect) != NULL;
	bool says = error != NULL && strstr(error, refusal->says) != NULL;
	ok(line && says, "%s is refused at line %ld, saying \"%s\"", refusal->what, refusal->line, refusal->says);
	if (!line || !says)
		diag("%s", error != NULL ? error : "no error");
}

static void test_refusals(void)
{
	for (size_t i = 0; i < COUNT_OF(refusals); i++) {
		char *error = NULL;

		write_file("bad.wadl", refusals[i].text);
		struct route_table *table = wadl_load(dir, "bad.wadl", find_most, NULL, &error);
		if (table != NULL)
			diag("%s loads", refusals[i].what);
		wadl_free(&table);
		check_error(&refusals[i], error);
		free(error);
	}
}

static void refuse_bytes(const char *what, struct str text, const char *says)
{
	char *error = NULL;

	write_bytes("bytes.wadl", text);
	struct route_table *table = wadl_load(dir, "bytes.wadl", find_most, NULL, &error);
	ok(table == NULL && error != NULL && strstr(error, says) != NULL, "%s is refused", what);
	if (error != NULL && strstr(error, says) == NULL)
		diag("%s", error);
	free(error);
	wadl_free(&table);
}

static void test_bytes(struct pool *pool)
{
	struct str whole = STR(HEAD "<resources><resource path='a'/>" TAIL);
	char *large = pool_alloc(pool, (1 << 20) + 1);
	char *deep = pool_alloc(pool, 64 * 20);
	size_t n = 0;

	memset(large, ' ', (1 << 20) + 1);
	memcpy(large, whole.p, whole.n);
	refuse_bytes("a file of more than 1 MiB", str_n(large, (1 << 20) + 1), "bytes");
	refuse_bytes("a NUL byte", STR("<?xml version='1.0'?>\n\n<a/>\0<b/>"), ":3: a NUL");
	refuse_bytes("bytes that are not UTF-8", STR(HEAD "<doc>\xff</doc></application>"), "well-formed");
	memcpy(deep, HEAD, sizeof(HEAD) - 1);
	struct str text = str_printf(pool, "%s<resources>", HEAD);
	for (n = 0; n < 70; n++)
		text = str_printf(pool, "%.*s<resource path=''>", STR_ARG(text));
	for (n = 0; n < 70; n++)
		text = str_printf(pool, "%.*s</resource>", STR_ARG(text));
	refuse_bytes("deep nesting", str_printf(pool, "%.*s%s", STR_ARG(text), TAIL), "deeper than 64");
}

static void refuse_name(const char *name)
{
	char *error = NULL;
	struct route_table *table = wadl_load(dir, name, find_most, NULL, &error);

	ok(table == NULL && error != NULL, "the file name \"%s\" is refused", name);
	free(error);
	wadl_free(&table);
}

static void test_names(void)
{
	char path[512];

	refuse_name("nothing.wadl");
	refuse_name("../good.wadl");
	refuse_name("/etc/passwd");
	refuse_name(".wadl");
	refuse_name("good.xml");
	refuse_name("");
	(void)snprintf(path, sizeof(path), "%s/fifo.wadl", dir);
	if (mkfifo(path, 0600) != 0)
		bail_out("mkfifo");
	refuse_name("fifo.wadl");
	(void)unlink(path);
}

static const struct route_method *method_named(const struct route_table *table, const char *id, const char **path)
{
	const struct route_method *method;

	for (size_t i = 0; (method = route_nth(table, i, path)) != NULL; i++) {
		if (strcmp(method->id, id) == 0)
			return method;
	}
	return NULL;
}

static void test_composition(void)
{
	const char *path = NULL;

	write_file("middle.wadl", HEAD "<resources><resource path='m/{version}/{thing}'>"
		"<method id='chained' href='good.wadl#item'/></resource>" TAIL);
	write_file("top.wadl", "<application xmlns='http://wadl.dev.java.net/2009/02' xmlns:t='urn:tenure:wadl'"
		" t:role='member'><resources base='https://example.org/prefix/'>"
		"<resource path='{version}'><resource path='things/{thing}'><method href='middle.wadl#chained'/></resource>"
		"</resource><resource path='shared'><method href='#reusable'/></resource></resources>"
		"<method id='reusable' name='PUT' t:role='operator' t:txn='write'><request><param href='#q'/>"
		"<representation href='#json'/></request></method>"
		"<representation id='json' mediaType='application/json' t:body='required'/>"
		"<param id='q' name='q' style='query'/></application>");
	struct route_table *table = load("top.wadl");
	const struct route_method *item = table != NULL ? method_named(table, "item", &path) : NULL;

	if (ok(item != NULL, "a reference to a reference is followed")) {
		is_str(str_c(path), "/prefix/{version}/things/{thing}", "it is at the composition's path, under the base");
		is_str(str_c(item->dialect), "good", "its dialect is the file that defines it");
		is_int(item->role, ROLE_MEMBER, "the composition's role is the least");
		is_int(item->txn, TXN_READ, "its mode is its own");
		is_str(str_c(item->handler), "handler", "it has the handler that was found");
	}
	const struct route_method *shared = table != NULL ? method_named(table, "reusable", &path) : NULL;
	if (ok(shared != NULL, "a method of the application is offered where it is referred to")) {
		is_int(shared->role, ROLE_OPERATOR, "a role above the composition's stays");
		is_str(str_c(path), "/prefix/shared", "its path");
		ok(shared->body_required && shared->n_consumes == 1, "its representation is the one referred to");
		is_int((long long)shared->n_params, 1, "so is its parameter");
	}
	wadl_free(&table);
	ok(table == NULL, "wadl_free forgets the table");
	wadl_free(&table);
}

static void test_mounted_twice(void)
{
	write_file("twice.wadl", HEAD "<resources><resource path='a'><method href='good.wadl#root'/></resource>"
		"<resource path='b'><method href='good.wadl#root'/></resource>" TAIL);
	struct route_table *table = load("twice.wadl");
	if (table == NULL)
		return;
	write_bytes("again.wadl", route_document(table));
	struct route_table *again = load("again.wadl");
	const char *path;
	ok(again != NULL && route_nth(again, 1, &path) != NULL, "a method at two paths is in the composed WADL twice");
	wadl_free(&again);
	wadl_free(&table);
}

int main(void)
{
	struct pool *pool = pool_new();

	make_dir();
	write_neighbours();
	test_refusals();
	test_bytes(pool);
	test_names();
	test_composition();
	test_mounted_twice();
	remove_dir();
	pool_free(&pool);
	return done_testing();
}

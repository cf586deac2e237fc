// SPDX-License-Identifier: Apache-2.0
// Two dialects at one endpoint: whose an address is, addresses that end in "/", where HEAD is not GET's, bodies of any type.
#include "base/base.h"

#include "wadl-files.h"

#define MODE " t:role='none' t:txn='none'"
#define DECLARE(name) "<param name='" name "' style='template'/>"

// Addresses of any depth: {version} takes v1 alone.
static const char broad[] = HEAD
	"<grammars><schema xmlns='http://www.w3.org/2001/XMLSchema' targetNamespace='urn:x'>"
	"<simpleType name='V'><restriction base='xsd:string'><pattern value='v1'/></restriction></simpleType>"
	"</schema></grammars><resources>"
	"<resource path='{version}'><param name='version' style='template' type='x:V' t:mismatch='404'/>"
	"<resource path='{a}'>" DECLARE("a") "<method id='one' name='GET'" MODE "/>"
	"<resource path='{b}/{c}'>" DECLARE("b") DECLARE("c") "<method id='three' name='GET'" MODE "/></resource>"
	"</resource></resource>" TAIL;

static const char metal[] = HEAD
	"<resources t:slash='optional' t:head='none'><resource path='metal'><method id='top' name='GET'" MODE " t:accept='any'>"
	"<response status='200'><representation mediaType='application/x'/><representation mediaType='text/x'/></response></method>"
	"<resource path='things'><method id='list' name='GET'" MODE "/>"
	"<method id='make' name='POST'" MODE "><request><representation mediaType='application/x'/>"
	"<representation mediaType='*/*' t:body='required'/></request></method>"
	"<resource path='{thing}'>" DECLARE("thing") "<method id='get' name='GET'" MODE "/>"
	"<method id='head' name='HEAD'" MODE "/>"
	"<resource path='exact' t:slash='none' t:head='get' t:query='any'><method id='exact' name='GET'" MODE "/></resource>"
	"</resource></resource></resource>" TAIL;

static const char both[] = HEAD
	"<resources><resource path='metal'><method href='metal.wadl#top'/>"
	"<resource path='things'><method href='metal.wadl#list'/><method href='metal.wadl#make'/>"
	"<resource path='{thing}'><method href='metal.wadl#get'/><method href='metal.wadl#head'/>"
	"<resource path='exact'><method href='metal.wadl#exact'/></resource></resource></resource></resource>"
	"<resource path='{version}'><resource path='{a}'><method href='broad.wadl#one'/>"
	"<resource path='{b}/{c}'><method href='broad.wadl#three'/></resource></resource></resource>" TAIL;

static const struct {
	const char *method, *target;
	enum outcome outcome;
	const char *id;      // when it is found
	const char *dialect;
} addresses[] = {
	{ "GET", "/metal", OUTCOME_OK, "top", "metal" },
	{ "GET", "/metal/", OUTCOME_OK, "top", "metal" },
	{ "GET", "/metal/things/?a=b", OUTCOME_OK, "list", "metal" },
	{ "GET", "/metal/things/t/", OUTCOME_OK, "get", "metal" },
	{ "POST", "/metal/things/", OUTCOME_OK, "make", "metal" },
	{ "GET", "/metal/things/t/exact", OUTCOME_OK, "exact", "metal" },
	{ "GET", "/metal/things/t/exact/", OUTCOME_NOT_FOUND, NULL, "metal" },
	{ "GET", "/v1/a", OUTCOME_OK, "one", "broad" },
	{ "GET", "/v1/a/", OUTCOME_NOT_FOUND, NULL, "broad" },
	{ "HEAD", "/v1/a", OUTCOME_OK, "one", "broad" },
	{ "HEAD", "/metal", OUTCOME_METHOD_NOT_ALLOWED, NULL, "metal" },
	{ "HEAD", "/metal/things/", OUTCOME_METHOD_NOT_ALLOWED, NULL, "metal" },
	{ "HEAD", "/metal/things/t", OUTCOME_OK, "head", "metal" },
	{ "HEAD", "/metal/things/t/exact", OUTCOME_OK, "exact", "metal" },
	{ "PUT", "/metal/things/", OUTCOME_METHOD_NOT_ALLOWED, NULL, "metal" },
	{ "OPTIONS", "/metal/things/", OUTCOME_NO_CONTENT, NULL, "metal" },
	{ "GET", "/metal/nothing", OUTCOME_NOT_FOUND, NULL, "metal" },
	{ "GET", "/metal/nothing/at/all", OUTCOME_NOT_FOUND, NULL, "metal" },
	{ "GET", "/metal/things/t/nothing", OUTCOME_NOT_FOUND, NULL, "metal" },
	{ "BREW", "/metal/nothing", OUTCOME_UNKNOWN_METHOD, NULL, "metal" },
	{ "GET", "/v1/a/b/c/d", OUTCOME_NOT_FOUND, NULL, "broad" },
	{ "GET", "/v2/a", OUTCOME_NOT_FOUND, NULL, "broad" },
};

static void test_addresses(const struct route_table *table, struct pool *pool)
{
	for (size_t i = 0; i < COUNT_OF(addresses); i++) {
		struct request *request = request_for(pool, addresses[i].method, addresses[i].target);
		struct route_match match;
		struct str detail = STR("");
		enum outcome outcome = route_find(table, pool, request, &match, &detail);

		is_int(outcome, addresses[i].outcome, "%s %s", addresses[i].method, addresses[i].target);
		is_str(str_c(match.dialect), addresses[i].dialect, "whose it is");
		if (addresses[i].id != NULL && match.method != NULL)
			is_str(str_c(match.method->id), addresses[i].id, "which it is");
	}
}

static void test_words(const struct route_table *table, struct pool *pool)
{
	struct route_match match;
	struct str detail = STR("");

	(void)route_find(table, pool, request_for(pool, "PUT", "/metal/things"), &match, &detail);
	is_str(match.allow, "GET, POST, OPTIONS", "Allow has no HEAD where that is none");
	(void)route_find(table, pool, request_for(pool, "PUT", "/metal/things/t"), &match, &detail);
	is_str(match.allow, "GET, HEAD, OPTIONS", "and has it where it is a method of its own");
	(void)route_find(table, pool, request_for(pool, "GET", "/v1/a/"), &match, &detail);
	ok(strstr(str_cstr(pool, detail), "without the '/'") != NULL, "a '/' too many is told");
	(void)route_find(table, pool, request_for(pool, "GET", "/v1/a/b/"), &match, &detail);
	ok(strstr(str_cstr(pool, detail), "application.wadl") != NULL, "not where the address is wrong without it as well");
}

// What could not be read to its end.
static void test_broken_addresses(const struct route_table *table, struct pool *pool)
{
	static const struct {
		const char *target, *dialect;
	} broken[] = {
		{ "/metal/things/%zz", "metal" },
		{ "/metal//things", "metal" },
		{ "/metal?a=%zz", "metal" },
		{ "/v1/%ff", "broad" },
		{ "/%ff", "metal" }, // nobody's: as /
	};

	for (size_t i = 0; i < COUNT_OF(broken); i++) {
		struct uri uri;
		struct str detail;

		is_int(uri_parse(pool, str_c(broken[i].target), 8192, &uri, &detail), OUTCOME_BAD_ADDRESS, "%s is malformed",
			broken[i].target);
		is_str(str_c(route_dialect(table, &uri)), broken[i].dialect, "and yet somebody's");
	}
}

static void negotiate(const struct route_table *table, struct pool *pool, const char *type, int index)
{
	struct request *request = request_for(pool, "POST", "/metal/things");
	struct route_match match;
	struct str detail = STR("");
	int produce, consume = 99;

	request->body = STR("{}");
	request->content_type = type != NULL ? str_c(type) : STR("");
	(void)route_find(table, pool, request, &match, &detail);
	is_int(route_negotiate(pool, request, match.method, &produce, &consume, &detail), OUTCOME_OK, "%s is taken",
		type != NULL ? type : "no type");
	is_int(consume, index, "as which");
}

static void test_any_media(const struct route_table *table, struct pool *pool)
{
	negotiate(table, pool, "application/x", 0);
	negotiate(table, pool, "application/json", 1);
	negotiate(table, pool, "nonsense", 1);
	negotiate(table, pool, NULL, 1);
}

static void accept(const struct route_table *table, struct pool *pool, const char *type, int index)
{
	struct request *request = request_for(pool, "GET", "/metal");
	struct route_match match;
	struct str detail = STR("");
	int produce, consume;

	request_add_header(pool, request, STR("Accept"), str_c(type));
	(void)route_find(table, pool, request, &match, &detail);
	is_int(route_negotiate(pool, request, match.method, &produce, &consume, &detail), OUTCOME_OK, "accepting %s", type);
	is_int(produce, index, "as which");
}

static void test_any_accept(const struct route_table *table, struct pool *pool)
{
	accept(table, pool, "text/x", 1);
	accept(table, pool, "text/html", 0);
}

static void check_query(const struct route_table *table, struct pool *pool, const char *target, enum outcome outcome)
{
	struct request *request = request_for(pool, "GET", target);
	struct route_match match;
	struct str detail = STR("");

	(void)route_find(table, pool, request, &match, &detail);
	is_int(route_check_params(pool, request, &match, &detail), outcome, "parameters of %s", target);
}

static void test_any_query(const struct route_table *table, struct pool *pool)
{
	check_query(table, pool, "/metal/things?a=b", OUTCOME_BAD_PARAMETER);
	check_query(table, pool, "/metal/things/t/exact?a=b&a=c", OUTCOME_OK);
}

static void test_declared(const struct route_table *table, struct pool *pool)
{
	struct route_match match;
	struct str detail = STR("");

	(void)route_find(table, pool, request_for(pool, "GET", "/metal/things/t"), &match, &detail);
	ok(!route_declares(match.method, STR("thing")), "a template's name is no query parameter");
}

// The composed WADL says the same: the table made of it answers as this one does.
static void test_document(const struct route_table *table, struct pool *pool)
{
	write_bytes("again.wadl", route_document(table));
	struct route_table *again = load("again.wadl");

	if (again == NULL)
		return;
	for (size_t i = 0; i < COUNT_OF(addresses); i++) {
		struct request *request = request_for(pool, addresses[i].method, addresses[i].target);
		struct route_match match;
		struct str detail = STR("");
		is_int(route_find(again, pool, request, &match, &detail), addresses[i].outcome, "composed: %s %s",
			addresses[i].method, addresses[i].target);
	}
	wadl_free(&again);
}

static void refuse(const char *text, const char *says)
{
	char *error = NULL;

	write_file("bad.wadl", text);
	struct route_table *table = wadl_load(dir, "bad.wadl", find_most, NULL, &error);
	if (!ok(table == NULL && error != NULL && strstr(error, says) != NULL, "refused, with \"%s\"", says))
		diag("%s", error != NULL ? error : "loaded");
	free(error);
	wadl_free(&table);
}

int main(void)
{
	struct pool *pool = pool_new();

	make_dir();
	write_file("broad.wadl", broad);
	write_file("metal.wadl", metal);
	write_file("both.wadl", both);
	struct route_table *table = load("both.wadl");
	if (table == NULL)
		bail_out("without a table there is nothing to test");
	test_addresses(table, pool);
	test_words(table, pool);
	test_broken_addresses(table, pool);
	test_any_media(table, pool);
	test_any_accept(table, pool);
	test_any_query(table, pool);
	test_declared(table, pool);
	test_document(table, pool);
	refuse(HEAD "<resources t:slash='maybe'/></application>", "none, optional");
	refuse(HEAD "<resources><resource path='a' t:head='yes'/>" TAIL, "none, get");
	refuse(HEAD "<resources><resource path='a'><method id='m' name='GET'" MODE "><response>"
		"<representation mediaType='*/*'/></response></method></resource>" TAIL, "only a request");
	wadl_free(&table);
	remove_dir();
	pool_free(&pool);
	return done_testing();
}

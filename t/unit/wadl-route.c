// SPDX-License-Identifier: Apache-2.0
// Which method answers, with which parameters and representations.
#include "base/base.h"

#include "base/buf.h"
#include "wadl-files.h"

#define MODE " t:role='none' t:txn='none'"

static const char file[] = HEAD
	"<grammars><schema xmlns='http://www.w3.org/2001/XMLSchema' targetNamespace='urn:x'>"
	"<simpleType name='V'><restriction base='xsd:string'><pattern value='v1\\.0|v2\\.0'/></restriction></simpleType>"
	"<simpleType name='ID'><restriction base='xsd:string'><pattern value='[^/]+'/><maxLength value='5'/>"
	"</restriction></simpleType>"
	"<simpleType name='Word'><restriction base='xsd:string'>"
	"<pattern value='[a-z]([-a-z0-9.]*[a-z0-9])?'/></restriction></simpleType>"
	"<simpleType name='N'><restriction base='xsd:positiveInteger'><maxInclusive value='10'/></restriction></simpleType>"
	"<simpleType name='Size'><restriction base='xsd:string'><enumeration value='small'/><enumeration value='large'/>"
	"</restriction></simpleType>"
	"<simpleType name='Pair'><restriction base='xsd:string'><minLength value='2'/><maxLength value='2'/>"
	"</restriction></simpleType>"
	"</schema></grammars><resources base='/'>"
	"<resource path='/'><method id='root' name='GET'" MODE "/></resource>"
	"<resource path='{version}'><param name='version' style='template' type='x:V' t:mismatch='404'/>"
	"<method id='versionIndex' name='GET'" MODE "/>"
	"<resource path='{tenant}'><param name='tenant' style='template' type='x:ID'/>"
	"<method id='getTenant' name='GET'" MODE "><response status='200 304'>"
	"<representation mediaType='application/json'/><representation mediaType='application/xml'/></response></method>"
	"<method id='putTenant' name='PUT'" MODE "><request><representation mediaType='application/json'/>"
	"<representation mediaType='application/xml'/></request><response status='201'/></method>"
	"<method id='deleteTenant' name='DELETE'" MODE "/>"
	"<resource path='{plural}'><param name='plural' style='template' type='x:Word'/>"
	"<method id='list' name='GET'" MODE "/>"
	"<resource path='{name}'><param name='name' style='template' type='x:ID'/>"
	"<method id='get' name='GET'" MODE "/><method id='head' name='HEAD'" MODE "/></resource></resource>"
	"<resource path='action/move'><method id='move' name='POST'" MODE "/></resource>"
	"<resource path='spaces/{space}/{kind}'><param name='space' style='template' type='x:ID'/>"
	"<param name='kind' style='template' type='x:Word'/><method id='listSpaced' name='GET'" MODE "/></resource>"
	"<resource path='moves/{move}'><param name='move' style='template' type='xsd:int'/>"
	"<method id='getMove' name='GET'" MODE "/></resource>"
	"</resource></resource>"
	"<resource path='params'><method id='params' name='GET'" MODE "><request>"
	"<param name='n' style='query' type='x:N' default='7'/><param name='must' style='query' required='true'/>"
	"<param name='many' style='query' type='xsd:int' repeating='true'/>"
	"<param name='on' style='query' type='xsd:boolean'/><param name='when' style='query' type='xsd:dateTime'/>"
	"<param name='where' style='query' type='xsd:anyURI'/><param name='size' style='query' type='x:Size'/>"
	"<param name='pair' style='query' type='x:Pair'/><param name='word' style='query' type='x:Word'/>"
	"<param name='state' style='query'><option value='a'/><option value='b'/></param>"
	"<param name='same' style='query' fixed='yes'/>"
	"<param name='X-Count' style='header' type='xsd:nonNegativeInteger'/></request></method></resource>"
	"<resource path='patch'><method id='patch' name='PATCH'" MODE "><request>"
	"<representation mediaType='application/merge-patch+json'/><representation mediaType='application/json'/></request>"
	"<response status='200'><representation mediaType='text/xml'/></response>"
	"<response status='409'><representation mediaType='text/plain'/></response></method></resource>" TAIL;

static struct route_table *table;

// ---- finding

struct found {
	enum outcome outcome;
	struct route_match match;
	struct str detail;
};

static struct found find(struct pool *pool, const char *method, const char *target)
{
	struct found found = { .outcome = OUTCOME__COUNT };
	struct request *request = request_for(pool, method, target);

	if (request != NULL)
		found.outcome = route_find(table, pool, request, &found.match, &found.detail);
	ok(found.match.dialect != NULL, "%s %s has a dialect", method, target);
	return found;
}

static void leads_to(struct pool *pool, const char *method, const char *target, const char *id)
{
	struct found found = find(pool, method, target);

	if (ok(found.outcome == OUTCOME_OK && found.match.method != NULL, "%s %s is found", method, target))
		is_str(str_c(found.match.method->id), id, "%s %s is %s", method, target, id);
	else
		diag("%s", outcome_name(found.outcome));
}

static struct found fails(struct pool *pool, const char *method, const char *target, enum outcome outcome)
{
	struct found found = find(pool, method, target);

	is_int(found.outcome, outcome, "%s %s is %s", method, target, outcome_name(outcome));
	ok(found.match.method == NULL, "and gives no method");
	ok(outcome < OUTCOME_BAD_REQUEST || found.detail.n > 0, "and says why");
	return found;
}

static void test_priorities(struct pool *pool)
{
	leads_to(pool, "GET", "/", "root");
	leads_to(pool, "GET", "/v1.0", "versionIndex");
	leads_to(pool, "GET", "/v2.0/t", "getTenant");
	leads_to(pool, "GET", "/v2.0/t?x=y", "getTenant");
	leads_to(pool, "HEAD", "/v2.0/t", "getTenant");
	leads_to(pool, "HEAD", "/v2.0/t/nodes/n", "head");
	leads_to(pool, "POST", "/v2.0/t/action/move", "move");
	leads_to(pool, "GET", "/v2.0/t/action", "list");
	leads_to(pool, "GET", "/v2.0/t/spaces", "list");
	leads_to(pool, "GET", "/v2.0/t/spaces/s", "get");
	leads_to(pool, "GET", "/v2.0/t/spaces/s/kinds", "listSpaced");
	leads_to(pool, "GET", "/v2.0/t/moves/12", "getMove");
	leads_to(pool, "GET", "/v2.0/t/moves/abc", "get");
	leads_to(pool, "GET", "/params", "params");
	leads_to(pool, "GET", "/v2.0/%CE%A3%E2%88%9E%CE%94%CE%A0", "getTenant");
}

static void test_values(struct pool *pool)
{
	struct found found = find(pool, "GET", "/v2.0/a%20b/spaces/%C3%A4/kinds");

	is_int((long long)found.match.n, 4, "every template parameter has a value");
	is_str(route_value(&found.match, "version"), "v2.0", "version");
	is_str(route_value(&found.match, "tenant"), "a b", "tenant, decoded");
	is_str(route_value(&found.match, "space"), "\xc3\xa4", "space");
	is_str(route_value(&found.match, "kind"), "kinds", "kind");
	ok(route_value(&found.match, "plural").p == NULL, "a name of another method has no value");
}

static void test_misses(struct pool *pool)
{
	struct found found = fails(pool, "GET", "/nonsense", OUTCOME_NOT_FOUND);

	ok(strstr(str_cstr(pool, found.detail), "v1.0 or v2.0") != NULL, "an unknown version is told the known ones");
	fails(pool, "GET", "/v1x0/t", OUTCOME_NOT_FOUND);
	fails(pool, "PUT", "/v9/t", OUTCOME_NOT_FOUND);
	fails(pool, "GET", "/v2.0/t/a/b/c/d", OUTCOME_NOT_FOUND);
	fails(pool, "GET", "/v2.0/t/", OUTCOME_NOT_FOUND);
	fails(pool, "OPTIONS", "/v2.0/t/", OUTCOME_NOT_FOUND);
	found = fails(pool, "GET", "/v2.0/sixsix", OUTCOME_BAD_ADDRESS);
	ok(strstr(str_cstr(pool, found.detail), "tenant in the address must be UTF-8, of 5 characters at most") != NULL,
		"too long an id is told the limit");
	leads_to(pool, "GET", "/v2.0/%E2%88%9E%E2%88%9E%E2%88%9E%E2%88%9E%E2%88%9E", "getTenant");
	fails(pool, "GET", "/v2.0/%E2%88%9E%E2%88%9E%E2%88%9E%E2%88%9E%E2%88%9E%E2%88%9E", OUTCOME_BAD_ADDRESS);
	fails(pool, "GET", "/v2.0/t/Nodes", OUTCOME_BAD_ADDRESS);
	fails(pool, "GET", "/v2.0/t/nodes-", OUTCOME_BAD_ADDRESS);
	fails(pool, "BREW", "/v2.0/t", OUTCOME_UNKNOWN_METHOD);
	fails(pool, "BREW", "/no/such/thing/at/all", OUTCOME_UNKNOWN_METHOD);
}

static void test_not_allowed(struct pool *pool)
{
	struct found found = fails(pool, "POST", "/v2.0/t", OUTCOME_METHOD_NOT_ALLOWED);

	is_str(found.match.allow, "GET, HEAD, PUT, DELETE, OPTIONS", "Allow, HEAD with GET");
	found = fails(pool, "GET", "/v2.0/t/action/move", OUTCOME_METHOD_NOT_ALLOWED);
	is_str(found.match.allow, "POST, OPTIONS", "Allow without GET has no HEAD");
	found = fails(pool, "HEAD", "/v2.0/t/action/move", OUTCOME_METHOD_NOT_ALLOWED);
	found = fails(pool, "OPTIONS", "/v2.0/t", OUTCOME_NO_CONTENT);
	is_str(found.match.allow, "GET, HEAD, PUT, DELETE, OPTIONS", "OPTIONS is told the same");
	fails(pool, "OPTIONS", "/nonsense", OUTCOME_NOT_FOUND);
}

// A pattern that a hostile value can't make expensive.
static void test_long_values(struct pool *pool)
{
	char target[8100];

	memset(target, 'a', sizeof(target));
	memcpy(target, "/v2.0/t/", 8);
	target[8 + 4000] = '\0';
	leads_to(pool, "GET", target, "list");
	target[8 + 3999] = '-';
	fails(pool, "GET", target, OUTCOME_BAD_ADDRESS);
	memset(target + 8, 'a', 8000);
	target[8 + 8000] = '\0';
	fails(pool, "GET", target, OUTCOME_BAD_ADDRESS);
}

// ---- parameters

static const struct {
	const char *query;
	const char *says; // NULL: taken
} queries[] = {
	{ "must=1", NULL },
	{ "must=", NULL },
	{ "", "must is missing" },
	{ "must=1&must=2", "once" },
	{ "must=1&other=2", "no parameter \"other\"; it takes n, must" },
	{ "must=1&version=v1.0", "no parameter \"version\"" },
	{ "must=1&X-Count=1", "no parameter" },
	{ "must=1&n=10", NULL },
	{ "must=1&n=%2B1", NULL },
	{ "must=1&n=11", "n must be a whole number, 1 or more and 10 or less" },
	{ "must=1&n=0", "whole number" },
	{ "must=1&n=-1", "whole number" },
	{ "must=1&n=", "whole number" },
	{ "must=1&n", "whole number" },
	{ "must=1&n=1.0", "whole number" },
	{ "must=1&n=0x1", "whole number" },
	{ "must=1&n=18446744073709551617", "whole number" },
	{ "must=1&many=1&many=2&many=-2147483648", NULL },
	{ "must=1&many=1&many=x", "many must" },
	{ "must=1&many=2147483648", "many must" },
	{ "must=1&on=true", NULL },
	{ "must=1&on=0", NULL },
	{ "must=1&on=yes", "true or false" },
	{ "must=1&on", "true or false" },
	{ "must=1&when=2026-11-21T05:24:00Z", NULL },
	{ "must=1&when=2026-11-21T05:24:00.123%2B01:00", NULL },
	{ "must=1&when=2026-13-21T05:24:00Z", "dateTime" },
	{ "must=1&when=2026-11-21", "dateTime" },
	{ "must=1&where=https://example.org/%C3%A4?b%23c", NULL },
	{ "must=1&where=a%20b", "anyURI" },
	{ "must=1&size=large", NULL },
	{ "must=1&size=medium", "small or large" },
	{ "must=1&pair=%C3%A4%C3%A4", NULL },
	{ "must=1&pair=a", "2 characters" },
	{ "must=1&pair=aaa", "2 characters" },
	{ "must=1&word=a-b.c", NULL },
	{ "must=1&word=a-", "[a-z]" },
	{ "must=1&word=a%0Ab", "[a-z]" },
	{ "must=1&state=b", NULL },
	{ "must=1&state=c", "a or b" },
	{ "must=1&same=yes", NULL },
	{ "must=1&same=no", "must be yes" },
};

static enum outcome check(struct pool *pool, struct request *request, struct route_match *match, struct str *detail)
{
	if (request == NULL || route_find(table, pool, request, match, detail) != OUTCOME_OK)
		return OUTCOME__COUNT;
	return route_check_params(pool, request, match, detail);
}

static void test_queries(struct pool *pool)
{
	for (size_t i = 0; i < COUNT_OF(queries); i++) {
		const char *target = str_printf(pool, "/params?%s", queries[i].query).p;
		struct route_match match;
		struct str detail = STR("");
		enum outcome outcome = check(pool, request_for(pool, "GET", target), &match, &detail);

		if (queries[i].says == NULL) {
			is_int(outcome, OUTCOME_OK, "%s is taken", target);
			continue;
		}
		is_int(outcome, OUTCOME_BAD_PARAMETER, "%s is refused", target);
		if (!ok(strstr(str_cstr(pool, detail), queries[i].says) != NULL, "and told \"%s\"", queries[i].says))
			diag("%.*s", STR_ARG(detail));
	}
}

static void test_given_values(struct pool *pool)
{
	struct route_match match;
	struct str detail;

	check(pool, request_for(pool, "GET", "/params?must=a%2Bb+c&many=1&many=2"), &match, &detail);
	is_str(route_value(&match, "must"), "a+b c", "a value is decoded");
	is_str(route_value(&match, "n"), "7", "a default is filled in");
	is_str(route_value(&match, "many"), "1", "the first of several");
	is_int((long long)match.n, 4, "the second has a place, too");
	ok(route_value(&match, "on").p == NULL, "what has no default has no value");
}

static void test_headers(struct pool *pool)
{
	struct route_match match;
	struct str detail;
	struct request *request = request_for(pool, "GET", "/params?must=1");

	request_add_header(pool, request, STR("X-COUNT"), STR("12"));
	is_int(check(pool, request, &match, &detail), OUTCOME_OK, "a header of its type is taken");
	is_str(route_value(&match, "X-Count"), "12", "and has its value under the name as declared");
	request = request_for(pool, "GET", "/params?must=1");
	request_add_header(pool, request, STR("x-count"), STR("-1"));
	is_int(check(pool, request, &match, &detail), OUTCOME_BAD_PARAMETER, "a header that breaks it is refused");
}

static void test_too_many(struct pool *pool)
{
	struct buf target = buf_new(pool, 256);
	struct route_match match;
	struct str detail;

	BUF_LIT(&target, "/params?on=true&when=2026-11-21T05:24:00Z&where=a&size=small&pair=ab&word=a&state=a&same=yes&must=1&many=1");
	for (int i = 0; i < ROUTE_MAX_REPEATS; i++)
		BUF_LIT(&target, "&many=1");
	is_int(check(pool, request_for(pool, "GET", str_cstr(pool, buf_str(&target))), &match, &detail), OUTCOME_OK,
		"as many repeated values as may be leave room for each other parameter");
	BUF_LIT(&target, "&many=1");
	is_int(check(pool, request_for(pool, "GET", str_cstr(pool, buf_str(&target))), &match, &detail),
		OUTCOME_BAD_PARAMETER, "one more is refused");
	is_str(detail, "parameter many is repeated too often: a request may repeat parameters 64 times", "and why");
}

// ---- negotiation

static const struct {
	const char *method, *target, *accept, *type; // NULL: no such header
	const char *body;
	enum outcome outcome;
	int produce, consume;
} negotiations[] = {
	{ "GET", "/v1.0/t", NULL, NULL, "", OUTCOME_OK, 0, -1 },
	{ "GET", "/v1.0/t", "*/*", NULL, "", OUTCOME_OK, 0, -1 },
	{ "GET", "/v1.0/t", "application/xml", NULL, "", OUTCOME_OK, 1, -1 },
	{ "GET", "/v1.0/t", "text/xml", NULL, "", OUTCOME_OK, 1, -1 },
	{ "GET", "/v1.0/t", "text/xml, application/json", NULL, "", OUTCOME_OK, 0, -1 },
	{ "GET", "/v1.0/t", "application/json;q=0.5, text/xml", NULL, "", OUTCOME_OK, 1, -1 },
	{ "GET", "/v1.0/t", "application/json; charset=utf-8", NULL, "", OUTCOME_OK, 0, -1 },
	{ "GET", "/v1.0/t", "text/html", NULL, "", OUTCOME_NOT_ACCEPTABLE, -1, -1 },
	{ "GET", "/v1.0/t", "application/json;q=0", NULL, "", OUTCOME_NOT_ACCEPTABLE, -1, -1 },
	{ "GET", "/v1.0/t", NULL, "text/plain", "ignored", OUTCOME_OK, 0, -1 },
	{ "DELETE", "/v1.0/t", "text/html", NULL, "", OUTCOME_OK, -1, -1 },
	{ "PUT", "/v1.0/t", NULL, NULL, "", OUTCOME_OK, -1, -1 },
	{ "PUT", "/v1.0/t", NULL, "text/plain", "", OUTCOME_OK, -1, -1 },
	{ "PUT", "/v1.0/t", NULL, "application/json", "{}", OUTCOME_OK, -1, 0 },
	{ "PUT", "/v1.0/t", NULL, "Application/JSON;charset=UTF-8", "{}", OUTCOME_OK, -1, 0 },
	{ "PUT", "/v1.0/t", NULL, "text/xml", "<a/>", OUTCOME_OK, -1, 1 },
	{ "PUT", "/v1.0/t", NULL, NULL, "{}", OUTCOME_UNSUPPORTED_MEDIA, -1, -1 },
	{ "PUT", "/v1.0/t", NULL, "application/x-www-form", "{}", OUTCOME_UNSUPPORTED_MEDIA, -1, -1 },
	{ "PATCH", "/patch", "application/xml", "application/json", "{}", OUTCOME_OK, 0, 1 },
	{ "PATCH", "/patch", "text/plain", "application/json", "{}", OUTCOME_NOT_ACCEPTABLE, -1, 1 },
	{ "PATCH", "/patch", NULL, "application/xml", "{}", OUTCOME_UNSUPPORTED_MEDIA, -1, -1 },
};

static void negotiate(struct pool *pool, size_t i)
{
	struct request *request = request_for(pool, negotiations[i].method, negotiations[i].target);
	struct route_match match;
	struct str detail = STR("");
	int produce = 99, consume = 99;

	request->body = str_c(negotiations[i].body);
	request->content_type = negotiations[i].type != NULL ? str_c(negotiations[i].type) : STR("");
	if (negotiations[i].accept != NULL)
		request_add_header(pool, request, STR("Accept"), str_c(negotiations[i].accept));
	is_int(route_find(table, pool, request, &match, &detail), OUTCOME_OK, "case %zu: found", i);
	enum outcome outcome = route_negotiate(pool, request, match.method, &produce, &consume, &detail);
	is_int(outcome, negotiations[i].outcome, "case %zu: outcome", i);
	is_int(produce, negotiations[i].produce, "case %zu: answer", i);
	is_int(consume, negotiations[i].consume, "case %zu: body", i);
	if (outcome == OUTCOME_NOT_ACCEPTABLE)
		ok(strstr(str_cstr(pool, detail), match.method->produces[0]) != NULL, "case %zu: 406 says what there is", i);
	if (outcome == OUTCOME_UNSUPPORTED_MEDIA)
		ok(strstr(str_cstr(pool, detail), match.method->consumes[0]) != NULL, "case %zu: 415 says what is taken", i);
}

static void test_statuses(struct pool *pool)
{
	struct found found = find(pool, "GET", "/v1.0/t");

	ok(route_lists_status(found.match.method, 200) && route_lists_status(found.match.method, 304), "listed statuses");
	ok(route_lists_status(found.match.method, 404) && route_lists_status(found.match.method, 503), "common ones");
	ok(!route_lists_status(found.match.method, 201) && !route_lists_status(found.match.method, 409), "no others");
}

int main(void)
{
	struct pool *pool = pool_new();

	make_dir();
	write_file("routes.wadl", file);
	table = load("routes.wadl");
	remove_dir();
	if (table == NULL)
		bail_out("without a table there is nothing to test");
	test_priorities(pool);
	test_values(pool);
	test_misses(pool);
	test_not_allowed(pool);
	test_long_values(pool);
	test_queries(pool);
	test_given_values(pool);
	test_headers(pool);
	test_too_many(pool);
	for (size_t i = 0; i < COUNT_OF(negotiations); i++)
		negotiate(pool, i);
	test_statuses(pool);
	wadl_free(&table);
	pool_free(&pool);
	return done_testing();
}

// SPDX-License-Identifier: Apache-2.0
// libtenure without a service: which URLs, tokens, ids and etags can be, and what is told.
#include "base/base.h"

#include "lib/client.h"
#include "tap.h"

static void test_clients(void)
{
	static const struct { const char *url, *token; bool good; } cases[] = {
		{ "http://localhost", NULL, true },
		{ "https://[::1]:8443/prefix/", "t", true },
		{ "http://localhost/", "a b", false },
		{ "http://localhost/", "a\r\nX-Evil: 1", false },
		{ "http://local host/", NULL, false },
		{ "http://localhost/\n", NULL, false },
		{ "ftp://localhost/", NULL, false },
		{ "file:///etc/passwd", NULL, false },
		{ "localhost", NULL, false },
		{ "http://", NULL, false },
		{ "http://user:secret@localhost/", NULL, false },
		{ "http://localhost/?a=b", NULL, false },
		{ "http://localhost/#a", NULL, false },
		{ "", NULL, false },
		{ NULL, NULL, false },
	};

	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		struct tenure_client *client = tenure_client_new(cases[i].url, cases[i].token);
		ok((client != NULL) == cases[i].good, "client %zu %s", i, cases[i].good ? "can be" : "can't be");
		tenure_client_free(&client);
		ok(client == NULL, "and is gone");
	}
}

static void test_etags(struct pool *pool)
{
	static const struct { const char *text, *header; } cases[] = {
		{ "W/\"ab\"", "W/\"ab\"" },
		{ "W/ab", "W/\"ab\"" },
		{ "ab", "\"ab\"" },
		{ "\"ab\"", "\"ab\"" },
		{ " W/ab ", "W/\"ab\"" },
		{ "*", "*" },
		{ "\"a\", W/\"b\"", NULL },
		{ "a,b", NULL },
		{ "a\"b", NULL },
		{ "W/", NULL },
		{ "", NULL },
		{ "a\r\nb", NULL },
		{ "\"a\r\nX: \"", NULL },
		{ "\"", NULL }, { "W/\"", NULL }, { "a\"", NULL }, { "W/a\"", NULL }, { "\"a\"", "\"a\"" }, { "\"\"", "\"\"" },
	};

	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		struct str header;
		bool good = client_etag_header(pool, str_c(cases[i].text), &header);
		ok(good == (cases[i].header != NULL), "etag %zu is %s", i, cases[i].header != NULL ? "one" : "none");
		is_str(header, cases[i].header != NULL ? cases[i].header : "", "as a header field has it");
	}
}

static void test_paths(struct tenure_client *client)
{
	static const struct { const char *space, *type, *name, *path; } cases[] = {
		{ NULL, "persistentvolumes", "disk", "/v2.0/a%20b/persistentvolumes/disk" },
		{ "default", "configmaps", "100% \xe2\x88\x91",
			"/v2.0/a%20b/namespaces/default/configmaps/100%25%20%E2%88%91" },
		{ NULL, "configmaps", "a?b#c", "/v2.0/a%20b/configmaps/a%3Fb%23c" },
		{ NULL, "configmaps", "%2e%2e", "/v2.0/a%20b/configmaps/%252e%252e" },
		{ NULL, "configmaps", "..", NULL },
		{ NULL, "configmaps", ".", NULL },
		{ NULL, "configmaps", "", NULL },
		{ NULL, "configmaps", NULL, NULL },
		{ NULL, "configmaps", "a/b", NULL },
		{ "", "configmaps", "a", NULL },
		{ NULL, "configmaps", "\xff", NULL },
	};

	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		struct tenure_resource *r = tenure_resource_new(client, "a b", cases[i].space, cases[i].type, cases[i].name);
		ok((r != NULL) == (cases[i].path != NULL), "address %zu", i);
		if (r != NULL && cases[i].path != NULL)
			is_str(str_c(tenure_resource_path(r)), cases[i].path, "its path");
		tenure_resource_free(&r);
	}
}

static void test_without_service(struct tenure_client *client)
{
	struct tenure_resource *r = tenure_tenant_new(client, "t");
	struct tenure_move *move = tenure_move_all(client, "t", "u");

	ok(tenure_resource_document(r, NULL) == NULL && tenure_resource_etag(r) == NULL, "a new object holds nothing");
	is_int(tenure_resource_delete(r, TENURE_ETAG_CURRENT), TENURE_INVALID, "no etag to be current");
	is_int(tenure_resource_set_etag(r, "a\nb"), TENURE_INVALID, "what is no etag is not taken");
	is_int(tenure_resource_set_etag(r, "W/ab"), TENURE_OK, "one is");
	is_str(str_c(tenure_resource_etag(r)), "W/\"ab\"", "and held");
	is_int(tenure_resource_delete(r, TENURE_ETAG_CURRENT), TENURE_UNAVAILABLE, "nobody is there");
	is_int(tenure_error_http(client), 0, "no status");
	ok(tenure_error_text(client)[0] != '\0' && tenure_error_document(client, NULL) == NULL, "but a reason");
	is_str(str_c(tenure_resource_etag(r)), "W/\"ab\"", "the object is as before");
	is_int(tenure_move_poll(move), TENURE_INVALID, "a move that does not run can't be watched");
	is_int(tenure_move_run(move, TENURE_ETAG_NEW, TENURE_MOVE_NOW), TENURE_INVALID, "a move makes nothing new");
	ok(tenure_move_known(client, "t", "a/b") == NULL && tenure_move_known(client, "t", NULL) == NULL && tenure_move_all(client, "t", "") == NULL,
		"moves that can't be");
	for (int status = TENURE_OK; status <= TENURE_FAILED; status++)
		ok(strcmp(tenure_status_text((enum tenure_status)status), "unknown") != 0, "status %d has words", status);
	tenure_move_free(&move);
	tenure_resource_free(&r);
}

static void test_next_pages(struct pool *pool)
{
	static const struct { const char *page, *query; bool good; } cases[] = {
		{ "{}", NULL, true },
		{ "{\"next\":null}", NULL, true },
		{ "{\"next\":\"http://evil.example/else?limit=7&marker=a%20b\"}", "?limit=7&marker=a%20b", true },
		{ "{\"next\":\"?x=1?y\"}", "?x=1?y", true },
		{ "{\"next\":\"/x?limit=7\"}", NULL, false }, // the page itself
		{ "{\"next\":\"/x\"}", NULL, false },
		{ "{\"next\":\"\"}", NULL, false },
		{ "{\"next\":7}", NULL, false },
		{ "{\"next\":\"/x?a b\"}", NULL, false },
		{ "{\"next\":\"/x?a\\r\\nX-Evil: 1\"}", NULL, false },
		{ "{\"next\":\"/x?a\\u0000\"}", NULL, false },
		{ "{\"next\":\"/x?a#b\"}", NULL, false },
		{ "{\"next\":\"/x?\\u00e4\"}", NULL, false },
	};

	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		struct doc *page;
		struct str query, error;
		ok(doc_parse_json(pool, str_c(cases[i].page), (struct doc_limits){ 10, 0 }, &page, &error), "%s", cases[i].page);
		ok(client_next_query(pool, page, STR("?limit=7"), &query) == cases[i].good, cases[i].good ? "can be" : "can't be");
		ok((query.p != NULL) == (cases[i].query != NULL), "whether there is one");
		if (cases[i].query != NULL)
			is_str(query, cases[i].query, "its query alone");
	}
}

int main(void)
{
	struct pool *pool = pool_new();
	struct tenure_client *client = tenure_client_new("http://127.0.0.1:1", "t");

	tenure_client_set_retries(client, 0, 0);
	test_clients();
	test_etags(pool);
	test_next_pages(pool);
	test_paths(client);
	test_without_service(client);
	tenure_client_free(&client);
	pool_free(&pool);
	return done_testing();
}

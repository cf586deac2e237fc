// SPDX-License-Identifier: Apache-2.0
// FastCGI parameters → request.
#include "base/base.h"

#include "base/pool.h"
#include "server/wire/params.h"
#include "tap.h"

static struct pool *pool;
static struct request request;
static struct str length;

static enum transport_fault read_params(const char *const *envp, size_t max_headers)
{
	char *copy[64];
	size_t n = 0;

	pool_clear(pool);
	request = (struct request){ .n_headers = 0 };
	for (; envp[n] != NULL; n++)
		copy[n] = str_cstr(pool, str_c(envp[n]));
	copy[n] = NULL;
	return params_read(pool, copy, max_headers, &request, &length);
}

static void a_whole_request(void)
{
	static const char *const envp[] = {
		"FCGI_ROLE=RESPONDER", "REQUEST_METHOD=PUT", "REQUEST_URI=/v1.0/a%2Cb?x=1=2", "SERVER_PROTOCOL=HTTP/1.1",
		"CONTENT_TYPE= application/json ", "CONTENT_LENGTH=12", "REMOTE_ADDR=192.0.2.7", "REMOTE_USER=jane",
		"TENURE_REMOTE_USER_SECRET=s", "SSL_CLIENT_VERIFY=SUCCESS", "SSL_CLIENT_CERT=-----\n", "TENURE_CERTIFICATE_SECRET=t",
		"HTTPS=on", "HTTP_HOST=tenure.example:8080", "HTTP_IF_MATCH=\"a=b\"", "HTTP_X_EMPTY=", "PATH_INFO=/wrong",
		"SCRIPT_NAME=/wrong", "QUERY_STRING=wrong", NULL,
	};

	is_int(read_params(envp, 1000), TRANSPORT_OK, "a request");
	is_int(request.method, METHOD_PUT, "method");
	is_str(request.target, "/v1.0/a%2Cb?x=1=2", "target");
	is_str(request.protocol, "HTTP/1.1", "protocol");
	is_str(request.content_type, "application/json", "media type, without blanks");
	is_str(length, "12", "length of the body");
	is_str(request.remote_addr, "192.0.2.7", "address");
	is_str(request.remote_user, "jane", "user");
	is_str(request.remote_user_secret, "s", "what vouches for the user");
	is_str(request.client_verify, "SUCCESS", "whether a certificate is verified");
	is_str(request.client_certificate, "-----\n", "the certificate");
	is_str(request.certificate_secret, "t", "what vouches for it");
	is_str(request.host, "tenure.example:8080", "host");
	is_str(request_header(&request, "if-match"), "\"a=b\"", "header");
	ok(request_has_header(&request, "x-empty"), "empty header is there");
	is_int((long long)request.n_headers, 3, "nothing else is a header");
	ok(request.https, "https");
}

static void what_is_missing(void)
{
	static const char *const minimal[] = { "REQUEST_METHOD=GET", "REQUEST_URI=/", "CONTENT_LENGTH=", NULL };
	static const char *const nothing[] = { "REQUEST_METHOD=GET", "PATH_INFO=/", NULL };

	is_int(read_params(minimal, 1000), TRANSPORT_OK, "the least a request can have");
	is_str(request.remote_user, "", "no user");
	is_str(request.host, "", "no host");
	is_str(request.content_type, "", "no media type");
	ok(length.p == NULL, "an empty length is none");
	ok(!request.https, "no https");
	is_int(read_params(nothing, 1000), TRANSPORT_NO_TARGET, "PATH_INFO does not stand in for REQUEST_URI");
}

static void headers_that_are_not_taken(void)
{
	static const char *const envp[] = {
		"REQUEST_URI=/", "HTTP_PROXY=http://evil/", "HTTP_=x", "HTTPS=off", "NONSENSE", "=x", NULL,
	};
	// What a client sends in a header comes with HTTP_ in front and is none of the parameters.
	static const char *const forged[] = {
		"REQUEST_URI=/", "HTTP_REMOTE_USER=root", "HTTP_TENURE_REMOTE_USER_SECRET=s", "HTTP_HTTP_REMOTE_USER=root",
		"REDIRECT_REMOTE_USER=root", "REMOTE_USER_=root", "remote_user=root", " REMOTE_USER=root",
		"tenure_remote_user_secret=s", "HTTP_SSL_CLIENT_VERIFY=SUCCESS", "HTTP_SSL_CLIENT_CERT=x", "HTTP_TENURE_CERTIFICATE_SECRET=s",
		"REDIRECT_SSL_CLIENT_CERT=x", "ssl_client_verify=SUCCESS", NULL,
	};

	is_int(read_params(envp, 1000), TRANSPORT_OK, "odd parameters");
	is_int((long long)request.n_headers, 0, "neither HTTP_PROXY nor a nameless header is taken");
	ok(!request.https, "HTTPS=off");
	is_int(read_params(forged, 1000), TRANSPORT_OK, "forged parameters");
	is_str(request.remote_user, "", "no user of a client's making");
	is_str(request.remote_user_secret, "", "nor what would vouch for one");
	ok(request.client_verify.n == 0 && request.client_certificate.n == 0 && request.certificate_secret.n == 0, "nor a certificate");
}

static void schemes(void)
{
	static const char *const by_scheme[] = { "REQUEST_URI=/", "REQUEST_SCHEME=https", NULL };
	static const char *const by_both[] = { "REQUEST_URI=/", "HTTPS=0", "REQUEST_SCHEME=https", NULL };

	(void)read_params(by_scheme, 1000);
	ok(request.https, "by REQUEST_SCHEME");
	(void)read_params(by_both, 1000);
	ok(!request.https, "HTTPS decides where it is set");
}

static void limits(void)
{
	// Names count without HTTP_: 4 + 3, 4 + 4.
	static const char *const envp[] = { "REQUEST_URI=/", "HTTP_AAAA=123", "HTTP_BBBB=4567", NULL };

	is_int(read_params(envp, 15), TRANSPORT_OK, "headers of just the limit");
	is_int(read_params(envp, 14), TRANSPORT_HEADERS_TOO_LARGE, "one byte more");
	is_str(request.target, "/", "the address is there nevertheless");
}

static void lengths(void)
{
	is_int(params_check_length(STR_NONE, 5), TRANSPORT_OK, "no length promises nothing");
	is_int(params_check_length(STR("5"), 5), TRANSPORT_OK, "as promised");
	is_int(params_check_length(STR("0"), 0), TRANSPORT_OK, "nothing, as promised");
	is_int(params_check_length(STR("6"), 5), TRANSPORT_BODY_CUT, "less than promised");
	is_int(params_check_length(STR("4"), 5), TRANSPORT_BODY_CUT, "more than promised");
	is_int(params_check_length(STR("-5"), 5), TRANSPORT_BODY_CUT, "a sign");
	is_int(params_check_length(STR("5 "), 5), TRANSPORT_BODY_CUT, "a blank");
	is_int(params_check_length(STR("18446744073709551621"), 5), TRANSPORT_BODY_CUT, "a number that overflows");
}

int main(void)
{
	pool = pool_new();
	a_whole_request();
	what_is_missing();
	headers_that_are_not_taken();
	schemes();
	limits();
	lengths();
	pool_free(&pool);
	return done_testing();
}

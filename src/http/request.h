// SPDX-License-Identifier: Apache-2.0
// A request as the application sees it. server/ fills it from FastCGI parameters.
#ifndef TENURE_HTTP_REQUEST_H
#define TENURE_HTTP_REQUEST_H

#include "http/uri.h"

// The known methods. Any other method is METHOD_OTHER and is answered with 501.
#define HTTP_METHODS(X) X(GET) X(HEAD) X(PUT) X(POST) X(PATCH) X(DELETE) X(OPTIONS)
enum http_method {
#define METHOD_ENUM(name) METHOD_##name,
	HTTP_METHODS(METHOD_ENUM)
#undef METHOD_ENUM
	METHOD_OTHER,
	METHOD__COUNT = METHOD_OTHER
};
enum http_method http_method_parse(struct str text);
const char *http_method_name(enum http_method method); // "OTHER" for METHOD_OTHER

struct http_header {
	struct str name; // lower case, words joined by '-': "if-match"
	struct str value;
};

enum { REQUEST_MAX_HEADERS = 128 };

struct request {
	enum http_method method;
	struct str method_text;
	struct str target; // REQUEST_URI
	struct uri uri;    // set by the route step
	size_t n_headers;
	struct str content_type; // "" if absent
	struct str body;
	struct str remote_addr;
	struct str remote_user;  // REMOTE_USER, "" if absent; valid only if the secret comes with it
	struct str remote_user_secret; // TENURE_REMOTE_USER_SECRET, by which the web server vouches for remote_user
	struct str client_verify;      // SSL_CLIENT_VERIFY, "SUCCESS" if the web server has verified the client's certificate
	struct str client_certificate; // SSL_CLIENT_CERT, PEM; valid only if the next one comes with it
	struct str certificate_secret; // TENURE_CERTIFICATE_SECRET, by which the web server vouches for both
	struct str protocol;     // "HTTP/1.1"
	struct str host;         // the Host header, "" if absent
	bool https;
	struct str location_name; // another field name for Location beside 200, for web servers that would redirect; mostly ""
	struct http_header headers[REQUEST_MAX_HEADERS];
};

// Adds a header field. name may be in any case, with '_' for '-'; its copy is in pool, value is kept as a view. The value of a
// repeated name is joined to the first one with ", ", unless either is empty (RFC 9110, section 5.6.1.2). OUTCOME_OK, or
// OUTCOME_HEADERS_TOO_LARGE if there are too many fields.
enum outcome request_add_header(struct pool *pool, struct request *request, struct str name, struct str value);
// Value of a header by its lower-case name; STR_NONE if absent (p of an empty value is not NULL).
struct str request_header(const struct request *request, const char *name);
bool request_has_header(const struct request *request, const char *name);
// Does Prefer (RFC 7240) contain this preference with this value? request_prefers(r, "return", "minimal"). value NULL: a
// preference without value, such as "respond-async".
bool request_prefers(const struct request *request, const char *name, const char *value);

#endif

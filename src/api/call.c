// SPDX-License-Identifier: Apache-2.0
// What handlers read from their call: parameters, bodies, addresses.
#include "base/base.h"

#include "api/call.h"
#include "api/settings.h"
#include "auth/session.h"
#include "base/ascii.h"
#include "base/buf.h"
#include "base/pool.h"
#include "registry/core/settings.h"

// A tree takes more memory than its text, so the number of a body's values is limited as well as its length.
enum { BYTES_PER_NODE = 8, MAX_HOST = 255 };

void call_clear(struct call *call, struct pool *pool)
{
	memset(call, 0, offsetof(struct call, request));
	memset(&call->request, 0, offsetof(struct request, headers));
	memset(&call->response, 0, offsetof(struct response, headers));
	call->pool = call->scratch = pool;
}

enum outcome call_fail(struct call *call, enum outcome outcome, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	call->problem = (struct problem){ .detail = str_vprintf(call->pool, format, args), .by_dialect = true };
	va_end(args);
	return outcome;
}

void call_set_realm(struct call *call, bool has_all_tenants)
{
	struct str tenant = route_value(&call->match, "tenant");

	call->realm = (struct realm){ .kind = REALM_NONE };
	if (tenant.p != NULL)
		call->realm = has_all_tenants ? realm_of_word(tenant) : realm_of_tenant(tenant);
}

struct str call_param(const struct call *call, const char *name)
{
	return route_value(&call->match, name);
}

bool call_parse_version(struct str text, uint64_t *major, uint64_t *minor)
{
	size_t dot = str_find(text, '.', 0);

	return str_to_u64(str_part(text, 0, dot), major) && dot < text.n &&
		str_to_u64(str_part(text, dot + 1, text.n), minor);
}

struct doc_limits call_limits(const struct call *call)
{
	return (struct doc_limits){
		.depth = api_settings(call->config)->max_depth,
		.nodes = (size_t)registry_settings(call->config)->max_body / BYTES_PER_NODE + 1,
	};
}

enum outcome call_read(struct call *call, const struct repr_document *document, struct doc **body)
{
	struct str error = STR_NONE;

	*body = NULL;
	if (call->request.body.n == 0)
		return OUTCOME_OK;
	if (!repr_read(call->pool, document, call->consume, call->request.body, call_limits(call), body, &error))
		return call_fail(call, OUTCOME_BAD_DOCUMENT, "%.*s", STR_ARG(error));
	return OUTCOME_OK;
}

void call_write(struct call *call, const struct repr_document *document, const struct doc *body)
{
	struct buf out = buf_new(call->pool, 1024);

	assert(document != NULL && body != NULL);
	repr_write(document, call->produce, body, &out);
	call->response.body = buf_str(&out);
	const char *type = call->produce_type != NULL ? call->produce_type : repr_media_type(call->produce);
	// With the charset as in the blueprints' examples; JSON has no such parameter.
	call->response.content_type = strcmp(type, "application/xml") == 0 ? STR("application/xml; charset=UTF-8") : str_c(type);
}

static bool is_host_char(char c)
{
	return ascii_is_alnum(c) || c == '-' || c == '.' || c == '_';
}

// Is c allowed between the brackets of an IPv6 address, "[::1]"?
static bool is_ipv6_char(char c)
{
	return str_hex_digit(c) >= 0 || c == ':' || c == '.';
}

static bool all(struct str s, bool (*is)(char c))
{
	for (size_t i = 0; i < s.n; i++) {
		if (!is(s.p[i]))
			return false;
	}
	return s.n > 0;
}

// Is it a plain host[:port] as in RFC 3986? A client's Host header is repeated in Location, where it must not become anything but
// an authority.
static bool host_is_plain(struct str host)
{
	struct str name, port;

	if (host.n == 0 || host.n > MAX_HOST)
		return false;
	if (host.p[0] == '[') {
		size_t end = str_find(host, ']', 1);
		if (end == host.n || !all(str_part(host, 1, end), is_ipv6_char))
			return false;
		if (end + 1 == host.n)
			return true;
		port = str_part(host, end + 2, host.n);
		return host.p[end + 1] == ':' && port.n <= 5 && all(port, ascii_is_digit);
	}
	size_t colon = str_find(host, ':', 0);
	name = str_part(host, 0, colon);
	port = str_part(host, colon + 1, host.n);
	return all(name, is_host_char) && (colon == host.n || (port.n <= 5 && all(port, ascii_is_digit)));
}

// The host[:port] of a URL; the port is left out if it is the scheme's default.
static struct str authority(struct str url_rest, bool https)
{
	struct str own = str_part(url_rest, 0, str_find(url_rest, '/', 0));

	const struct str port = https ? STR(":443") : STR(":80");

	return str_ends(own, port) ? str_part(own, 0, own.n - port.n) : own;
}

// Does the URL have this scheme and the request's host?
static bool came_by(const struct request *request, struct str url, bool https)
{
	const struct str scheme = https ? STR("https://") : STR("http://");

	return str_starts(url, scheme) &&
		str_eq_nocase(authority(str_part(url, scheme.n, url.n), https), authority(request->host, https));
}

// The first URL in the list with this scheme and the request's host; p NULL: there is none.
static struct str url_of_host(const struct request *request, struct str list, bool https)
{
	struct str item;

	while (list.n > 0 && str_split(&list, ',', &item)) {
		if (came_by(request, str_trim(item), https))
			return str_trim(item);
	}
	return STR_NONE;
}

// Of the URLs in the setting public_url the one that has the request's scheme and host; else, where a proxy may have ended the
// TLS, the one with https and this host; else the first one; "" if there is none.
static struct str public_url(const struct call *call)
{
	struct str list = str_c(api_endpoint_settings(call->endpoint)->public_url);
	struct str found = url_of_host(&call->request, list, call->request.https);

	if (found.p == NULL && !call->request.https)
		found = url_of_host(&call->request, list, true);
	return found.p != NULL ? found : str_trim(str_part(list, 0, str_find(list, ',', 0)));
}

struct str call_url(struct call *call, struct str path)
{
	// The console's page may follow no redirect to another origin, and is asked by names that public_url lacks, as through a
	// tunnel.
	if (session_by_console(&call->request))
		return path;
	struct str base = public_url(call);
	struct buf url = buf_new(call->pool, base.n + call->request.host.n + path.n + sizeof("https://"));

	if (base.n > 0) {
		buf_add(&url, str_ends(base, STR("/")) ? str_part(base, 0, base.n - 1) : base);
	} else if (host_is_plain(call->request.host)) {
		buf_add(&url, call->request.https ? STR("https://") : STR("http://"));
		buf_add(&url, call->request.host);
	}
	buf_add(&url, path);
	return buf_str(&url);
}

bool call_is_secure(const struct call *call)
{
	return call->request.https || str_starts(public_url(call), STR("https://"));
}

// SPDX-License-Identifier: Apache-2.0
// Cross-origin requests of web pages (the Fetch standard, section 3.2), answered as OpenStack's services answer them with
// oslo.middleware. The setting [placement] cors_allowed_origin lists the origins that are allowed.
#include "base/base.h"

#include "api/placement/common/placement.h"
#include "api/placement/common/settings.h"

#define MAX_AGE "3600" // seconds

// Header fields that a page may send and read besides those that every page may.
static const struct str request_headers[] = {
	STR_INIT("X-Auth-Token"), STR_INIT("X-OpenStack-Request-ID"), STR_INIT("X-Identity-Status"), STR_INIT("X-Roles"),
	STR_INIT("X-Service-Catalog"), STR_INIT("X-User-Id"), STR_INIT("X-Tenant-Id"), STR_INIT("OpenStack-API-Version"),
	STR_INIT("Accept"), STR_INIT("Accept-Language"), STR_INIT("Content-Type"), STR_INIT("Content-Language"),
	STR_INIT("Cache-Control"), STR_INIT("Expires"), STR_INIT("Last-Modified"), STR_INIT("Pragma"), STR_INIT("If-Match"),
};
#define SHOWN_HEADERS "X-Auth-Token,X-OpenStack-Request-ID,X-Subject-Token,X-Service-Token,OpenStack-API-Version,Location,ETag"

static bool is_method(struct str method)
{
	return str_eq(method, STR("GET")) || str_eq(method, STR("PUT")) || str_eq(method, STR("POST")) ||
	       str_eq(method, STR("DELETE")) || str_eq(method, STR("PATCH"));
}

// The origin that the answer allows: the request's, or "*" if all are allowed; p NULL: the request has none, or it is not
// allowed.
static struct str allowed_origin(const struct call *call)
{
	struct str origin = str_trim(request_header(&call->request, "origin")), item;
	struct str rest = str_c(placement_settings(call->config)->cors_origins);

	while (origin.n > 0 && rest.n > 0 && str_split(&rest, ',', &item)) {
		item = str_trim(item);
		if (str_eq(item, origin) || str_eq(item, STR("*")))
			return item;
	}
	return STR_NONE;
}

static bool may_send(struct str headers)
{
	struct str item;

	while (headers.p != NULL && str_split(&headers, ',', &item)) {
		size_t i = 0;
		item = str_trim(item);
		while (i < COUNT_OF(request_headers) && !str_eq_nocase(item, request_headers[i]))
			i++;
		if (item.n > 0 && i == COUNT_OF(request_headers))
			return false;
	}
	return true;
}

// Lets a page of that origin read the answer.
static void allow(struct response *response, struct str origin)
{
	response_add(response, "Vary", STR("Origin"));
	response_set(response, "Access-Control-Allow-Origin", origin);
	// A browser adds the user's password or certificate by itself: a page of any origin must not use these.
	if (!str_eq(origin, STR("*")))
		response_set(response, "Access-Control-Allow-Credentials", STR("true"));
}

bool placement_cors_answer_options(struct call *call)
{
	struct response *response = &call->response;
	struct str origin = allowed_origin(call);
	struct str method = str_trim(request_header(&call->request, "access-control-request-method"));
	struct str headers = request_header(&call->request, "access-control-request-headers");

	if (call->request.method != METHOD_OPTIONS || *placement_settings(call->config)->cors_origins == '\0')
		return false;
	response->status = 200;
	if (origin.p == NULL || !is_method(method) || !may_send(headers))
		return true; // the browser refuses what no header field allows
	allow(response, origin);
	response_set(response, "Access-Control-Max-Age", STR(MAX_AGE));
	response_set(response, "Access-Control-Allow-Methods", method);
	if (headers.p != NULL && str_trim(headers).n > 0)
		response_set(response, "Access-Control-Allow-Headers", str_trim(headers));
	return true;
}

void placement_cors_leave(struct call *call)
{
	struct response *response = &call->response;
	struct str origin = allowed_origin(call);

	if (origin.p == NULL || call->request.method == METHOD_OPTIONS)
		return;
	allow(response, origin);
	response_set(response, "Access-Control-Expose-Headers", STR(SHOWN_HEADERS));
}

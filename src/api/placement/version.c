// SPDX-License-Identifier: Apache-2.0
// Microversions, the document that lists them, and the checks of a request that come before its handler.
#include "base/base.h"

#include "api/placement/catalogue/catalogue.h"
#include "api/placement/common/placement.h"
#include "api/placement/inventory/inventory.h"
#include "api/placement/provider/provider.h"
#include "api/placement/version.h"
#include "api/settings.h"
#include "base/clock.h"
#include "base/pool.h"
#include "http/media.h"

#define HEADER "OpenStack-API-Version"

static const struct str service = STR_INIT("placement");

enum { SHOWN = 64 }; // bytes of a client's header that an error repeats

// ---- the request's version

// The last item for this service in "compute 2.1, placement 1.39"; STR_NONE: there is none.
static struct str asked_version(const struct call *call)
{
	struct str rest = request_header(&call->request, "openstack-api-version"), item, found = STR_NONE;

	while (str_split(&rest, ',', &item)) {
		item = str_trim(item);
		size_t blank = str_find(item, ' ', 0);
		if (blank < item.n && str_eq_nocase(str_part(item, 0, blank), service))
			found = str_trim(str_part(item, blank, item.n));
	}
	return found;
}

static enum outcome read_version(struct call *call)
{
	struct str text = asked_version(call);
	uint64_t major = 1, minor = VERSION_MIN;

	call->version = VERSION_NONE;
	if (str_eq_nocase(text, STR("latest")))
		minor = VERSION_MAX;
	else if (text.p != NULL && !call_parse_version(text, &major, &minor))
		return call_fail(call, OUTCOME_BAD_REQUEST,
			"invalid version string: %.*s; it must be \"latest\" or a version from 1.%d to 1.%d",
			STR_HEAD_ARG(text, SHOWN), VERSION_MIN, VERSION_MAX);
	if (major != 1 || minor > VERSION_MAX)
		return call_fail(call, OUTCOME_NOT_ACCEPTABLE, "Unacceptable version header: %.*s", STR_HEAD_ARG(text, SHOWN));
	call->version = (unsigned)minor;
	return OUTCOME_OK;
}

// ---- the address

static bool runs(const struct route_method *method, handler_fn *handler)
{
	return ((const struct endpoint *)method->handler)->run == handler;
}

// Answers 405. allow: the methods that the address has.
static enum outcome refuse_method(struct call *call, struct str allow)
{
	struct buf text = buf_new(call->pool, 64);
	struct str rest = allow, item;

	// OPTIONS is left out: it is a method of the other dialects only.
	while (str_split(&rest, ',', &item)) {
		item = str_trim(item);
		if (item.n > 0 && !str_eq(item, STR("OPTIONS")))
			buf_addf(&text, "%s%.*s", text.n > 0 ? ", " : "", STR_ARG(item));
	}
	response_set(&call->response, "Allow", buf_str(&text));
	return call_fail(call, OUTCOME_METHOD_NOT_ALLOWED, "There are %.*s here.", STR_ARG(text));
}

// A method with an unknown name is answered like any other that the address does not have.
static enum outcome refuse_unknown(struct call *call)
{
	struct request *request = &call->request;
	struct str detail = STR("");

	request->method = METHOD_OPTIONS;
	enum outcome outcome = route_find(call->routes, call->pool, request, &call->match, &detail);
	request->method = METHOD_OTHER;
	return outcome == OUTCOME_NO_CONTENT ? refuse_method(call, call->match.allow) :
		call_fail(call, outcome, "%.*s", STR_ARG(detail));
}

// Answers an address that can't be decoded. If its path can, the fault is in the query, and the error says so.
static enum outcome refuse_text(struct call *call)
{
	const struct uri *uri = &call->request.uri;
	struct uri path;
	struct str detail = STR("");

	if (uri->query.p == NULL ||
	    uri_parse(call->pool, uri->path, api_settings(call->config)->max_target, &path, &detail) != OUTCOME_OK)
		return OUTCOME_BAD_ADDRESS;
	return call_fail(call, OUTCOME_BAD_PARAMETER, "Invalid query string parameters: %.*s",
		STR_ARG(call->problem.detail));
}

static enum outcome refuse_address(struct call *call, enum outcome found)
{
	switch (found) {
	case OUTCOME_NO_CONTENT:
	case OUTCOME_METHOD_NOT_ALLOWED:
		return refuse_method(call, call->match.allow);
	case OUTCOME_UNKNOWN_METHOD:
		return refuse_unknown(call);
	case OUTCOME_BAD_ADDRESS:
		return refuse_text(call);
	default:
		return found;
	}
}

// ---- version and media types of a method

static enum outcome check_version(struct call *call)
{
	const struct route_method *method = call->match.method;

	if (call->version >= method->min_version)
		return OUTCOME_OK;
	if (runs(method, delete_inventories))
		return refuse_method(call, STR("GET, POST, PUT"));
	return call_fail(call, OUTCOME_NOT_FOUND, "This came with version 1.%u, and version 1.%u is asked for.",
		method->min_version, call->version);
}

// Does the method take a JSON body in this version? PUT of a resource class renames it before 1.7, by a body; from then on it
// creates it, without one.
static bool takes_json(const struct call *call)
{
	const struct route_method *method = call->match.method;

	if (runs(method, put_resource_class))
		return call->version < VERSION_CLASS_WITHOUT_BODY;
	return method->n_consumes > 0 && strcmp(method->consumes[0], "application/json") == 0;
}

static enum outcome check_media(struct call *call)
{
	const struct route_method *method = call->match.method;
	const struct request *request = &call->request;
	struct str type = request->content_type.n > 0 ? request->content_type : STR("None");

	if (takes_json(call) && !media_is(request->content_type, "application/json"))
		return call_fail(call, OUTCOME_UNSUPPORTED_MEDIA, "The media type %.*s is not supported, use application/json",
			STR_HEAD_ARG(type, SHOWN));
	if (request->method == METHOD_GET && method->n_produces > 0 && !method->any_accept &&
	    media_choose(request_header(request, "accept"), method->produces, method->n_produces) < 0)
		return call_fail(call, OUTCOME_NOT_ACCEPTABLE, "Only application/json is provided");
	return OUTCOME_OK;
}

// Checks version and media types. OpenStack's service checks them in the other order for aggregates.
static enum outcome check_method(struct call *call)
{
	const struct route_method *method = call->match.method;
	bool media_first = runs(method, get_aggregates) || runs(method, put_aggregates);
	enum outcome outcome = media_first ? check_media(call) : check_version(call);

	if (outcome != OUTCOME_OK)
		return outcome;
	return media_first ? check_version(call) : check_media(call);
}

enum outcome placement_enter(struct call *call, enum outcome found)
{
	if (placement_cors_answer_options(call)) {
		call->version = VERSION_NONE;
		return OUTCOME_NO_CONTENT;
	}
	enum outcome outcome = read_version(call);
	if (outcome != OUTCOME_OK)
		return outcome;
	if (call->request.body.n > 0 && call->request.content_type.n == 0)
		return call_fail(call, OUTCOME_BAD_REQUEST, "content-type header required when content-length > 0");
	return found == OUTCOME_OK ? check_method(call) : refuse_address(call, found);
}

// ---- the last changes of an answer

// The pipeline sets Cache-Control in all dialects, but before 1.15 this API has no such field.
static void check_caching(struct call *call)
{
	if (call->version < VERSION_CACHE_HEADERS)
		response_unset(&call->response, "Cache-Control");
}

void placement_leave(struct call *call)
{
	struct response *response = &call->response;

	response_add(response, "X-OpenStack-Request-Id", placement_request_id(call));
	placement_cors_leave(call);
	if (call->version == VERSION_NONE || response->status == 401)
		return;
	check_caching(call);
	response_add(response, HEADER, str_printf(call->pool, "placement 1.%u", call->version));
	// A 404 of an address that this API has depends on the version, since another version may have the method. A 404 of any
	// other address does not, and neither does a 403 in OpenStack's service.
	bool varies = response->status == 404 ? call->match.method != NULL : response->status != 403;
	if (varies)
		response_add(response, "Vary", STR("openstack-api-version"));
}

// ---- the document

enum outcome get_version(struct call *call)
{
	struct buf json = buf_new(call->pool, 256);

	buf_addf(&json, "{\"versions\":[{\"id\":\"v1.%d\",\"max_version\":\"1.%d\",\"min_version\":\"1.%d\","
		"\"status\":\"CURRENT\",\"links\":[{\"rel\":\"self\",\"href\":\"\"}]}]}", VERSION_MIN, VERSION_MAX, VERSION_MIN);
	placement_answer_json(call, &json);
	placement_answer_cache_headers(call, clock_now_us());
	return OUTCOME_OK;
}

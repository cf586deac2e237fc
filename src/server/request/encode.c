// SPDX-License-Identifier: Apache-2.0
// The last steps of every request: they complete the answer and write the log lines.
#include "base/base.h"

#include "auth/core/auth.h"
#include "base/buf.h"
#include "base/log.h"
#include "base/pool.h"
#include "server/request/access.h"
#include "server/request/steps.h"
#include "server/setup/dialects.h"

static bool reads(const struct call *call)
{
	return call->request.method == METHOD_GET || call->request.method == METHOD_HEAD;
}

// Headers that the handler set before it failed stay (such as an ETag with 412). Its body is replaced by the problem document.
static void render_problem(struct exchange *exchange)
{
	struct call *call = exchange->call;

	call->response.status = 0;
	call->response.body = STR("");
	call->response.spill = NULL;
	call->response.content_type = STR("");
	call->problem.nothing_done = exchange->outcome == OUTCOME_UNAVAILABLE && !exchange->in_doubt && !reads(call);
	dialect_of(&call->match)->render_problem(call, exchange->outcome, &call->problem);
}

static void add_headers_of_status(struct exchange *exchange)
{
	struct response *response = &exchange->call->response;

	if (response->status == 401)
		response_set_default(response, "WWW-Authenticate", str_c(auth_challenge(exchange->pipeline->auth)));
	if (response->status == 503 || response->status == 504)
		response_set_default(response, "Retry-After", STR("1"));
}

static void add_headers_of_all(struct call *call)
{
	struct response *response = &call->response;
	const struct route_method *method = call->match.method;

	response_add(response, "X-Request-Id", uuid_str(call->pool, call->request_id));
	if (reads(call))
		response_set_default(response, "Cache-Control", STR("private, no-cache"));
	if (reads(call) && method != NULL && method->n_produces > 1)
		response_set_default(response, "Vary", STR("Accept"));
	// Without this field lighttpd would serve byte ranges of an answer by itself.
	response_set_default(response, "Accept-Ranges", STR("none"));
	response_set_default(response, "X-Content-Type-Options", STR("nosniff"));
}

// CGI turns an answer of 200 with Location into a redirect, and some web servers do that. Their configuration asks for another
// field name, which they change back to Location.
static void rename_location(struct call *call)
{
	struct response *response = &call->response;
	struct str name = call->request.location_name, location = response_get(response, "Location");

	if (name.n == 0 || response->status != 200 || location.p == NULL)
		return;
	response_set(response, str_cstr(call->pool, name), location);
	response_unset(response, "Location");
}

void step_encode(struct exchange *exchange)
{
	struct call *call = exchange->call;
	struct response *response = &call->response;
	const struct route_method *method = call->match.method;

	assert(exchange->call->pool != NULL);
	if (outcome_status(exchange->outcome) >= 400)
		render_problem(exchange);
	if (response->status == 0)
		response->status = outcome_status(exchange->outcome);
	add_headers_of_status(exchange);
	add_headers_of_all(call);
	if (dialect_of(&call->match)->leave != NULL)
		dialect_of(&call->match)->leave(call);
	rename_location(call);
	// The WADL has to list every status of a method; the tests fail if they find this line in the log.
	if (method != NULL && !route_lists_status(method, response->status))
		log_error("status %d is not in the WADL of %s", response->status, method->id);
}

// May the access log line be written later? Only a busy worker's, for reads that succeeded. Lines about changes and refusals are
// written before the answer is sent.
static bool may_wait(const struct exchange *exchange)
{
	const struct call *call = exchange->call;

	return exchange->pipeline->busy && call->response.status < 400 &&
		(call->request.method == METHOD_GET || call->request.method == METHOD_HEAD);
}

void step_log(struct exchange *exchange)
{
	const struct call *call = exchange->call;
	struct buf line = buf_new(call->pool, 512);

	if (call->response.status >= 500)
		log_warning("%.*s %.*s answered %d (%s)", STR_ARG(call->request.method_text),
			STR_HEAD_ARG(call->request.target, 256), call->response.status, outcome_name(exchange->outcome));
	if (exchange->pipeline->logs_json)
		access_line_json(&line, call, exchange->outcome, exchange->tries, exchange->us);
	else
		access_line(&line, call, exchange->outcome, exchange->tries, exchange->us);
	if (may_wait(exchange))
		log_access_later(buf_str(&line));
	else
		log_access(buf_str(&line));
}

// SPDX-License-Identifier: Apache-2.0
// Errors in the form of this API: {"errors": [{status, title, detail, request_id, code}]}. detail begins with a sentence that is
// the same for all errors of that status; its last line says what went wrong.
#include "base/base.h"

#include "api/placement/common/placement.h"
#include "base/pool.h"
#include "http/media.h"

static const struct {
	int status;
	const char *title;
	const char *sentence;
} statuses[] = {
	{ 400, "Bad Request", "The server could not comply with the request since it is either malformed or otherwise "
		"incorrect." },
	{ 401, "Unauthorized", "This server could not verify that you are authorized to access the document you requested." },
	{ 403, "Forbidden", "Access was denied to this resource." },
	{ 404, "Not Found", "The resource could not be found." },
	{ 405, "Method Not Allowed", NULL },
	{ 406, "Not Acceptable", "The resource could not be generated that was acceptable to your browser." },
	{ 409, "Conflict", "There was a conflict when trying to complete your request." },
	{ 412, "Precondition Failed", "Request precondition failed." },
	{ 413, "Request Entity Too Large", "The body of your request was too large for this server." },
	{ 414, "Request URI Too Long", "The request URI was too long for this server." },
	{ 415, "Unsupported Media Type", "The request media type is not supported by this server." },
	{ 422, "Unprocessable Entity", "The request could not be processed." },
	{ 428, "Precondition Required", "This request is required to be conditional." },
	{ 429, "Too Many Requests", "Too many requests were made at once: try again later." },
	{ 431, "Request Header Fields Too Large", "The header fields were too large for this server." },
	{ 503, "Service Unavailable", "The server is currently unavailable. Please try again at a later time." },
	{ 500, "Internal Server Error", "The server has either erred or is incapable of performing the requested "
		"operation." }, // the last row is for every status that has none of its own
};

static size_t row_of(int status)
{
	size_t i = 0;

	while (i + 1 < COUNT_OF(statuses) && statuses[i].status != status)
		i++;
	return i;
}

// This API has no 410.
static int status_of(enum outcome outcome)
{
	return outcome == OUTCOME_GONE ? 404 : outcome_status(outcome);
}

struct str placement_request_id(struct call *call)
{
	return str_printf(call->pool, "req-%.*s", UUID_ARG(call->pool, call->request_id));
}

enum outcome placement_fail(struct call *call, enum outcome outcome, const char *code, const char *format, ...)
{
	assert(outcome != OUTCOME_OK && code != NULL);
	va_list args;

	va_start(args, format);
	call->problem = (struct problem){ .detail = str_vprintf(call->pool, format, args), .by_dialect = true };
	va_end(args);
	call->problem.members[call->problem.n_members++] = (struct problem_member){ "code", str_c(code) };
	return outcome;
}

static struct str message_of(enum outcome outcome, const struct problem *problem)
{
	if (problem->detail.n > 0)
		return problem->detail;
	switch (outcome) {
	case OUTCOME_UNAVAILABLE:
		return STR("The database is away or too busy: try again.");
	case OUTCOME_INTERNAL:
		return STR("Nothing was changed; the log tells more under this request id.");
	default:
		return STR("");
	}
}

// Adds a message as one line, since clients show their users the last line of detail alone.
static void add_line(struct buf *out, struct str message)
{
	for (size_t i = 0; i < message.n; i++) {
		if (message.p[i] != '\r')
			buf_addc(out, message.p[i] == '\n' ? ' ' : message.p[i]);
	}
}

static void add_detail(struct call *call, struct buf *out, enum outcome outcome, const struct problem *problem)
{
	const char *sentence = statuses[row_of(status_of(outcome))].sentence;

	if (sentence != NULL)
		buf_add(out, str_c(sentence));
	else
		buf_addf(out, "The method %.*s is not allowed for this resource.", STR_HEAD_ARG(call->request.method_text, 32));
	BUF_LIT(out, "\n\n ");
	add_line(out, message_of(outcome, problem));
	BUF_LIT(out, "  ");
}

// ---- JSON

static struct str code_of(const struct problem *problem)
{
	for (size_t i = 0; i < problem->n_members; i++) {
		if (strcmp(problem->members[i].name, "code") == 0)
			return problem->members[i].value;
	}
	return STR("undefined_code");
}

// The form of a 401, which differs from that of all other errors.
static void add_unauthenticated(struct buf *json, struct str detail)
{
	buf_addc(json, '{');
	placement_add_string(json, "message", detail);
	placement_add_string(json, "code", STR("401 Unauthorized"));
	placement_add_string(json, "title", STR("Unauthorized"));
	buf_addc(json, '}');
}

static void add_error(struct call *call, struct buf *json, enum outcome outcome, const struct problem *problem,
	struct str detail)
{
	int status = status_of(outcome);

	BUF_LIT(json, "{\"errors\":[{");
	placement_add_number(json, "status", (uint64_t)status);
	placement_add_string(json, "title", str_c(statuses[row_of(status)].title));
	placement_add_string(json, "detail", detail);
	placement_add_string(json, "request_id", placement_request_id(call));
	if (call->version != VERSION_NONE && call->version >= VERSION_ERROR_CODES) {
		struct str code = code_of(problem);
		placement_add_string(json, "code", str_printf(call->pool, "placement.%.*s", STR_ARG(code)));
	}
	if (call->version == VERSION_NONE && outcome == OUTCOME_NOT_ACCEPTABLE) {
		placement_add_string(json, "max_version", str_printf(call->pool, "1.%d", VERSION_MAX));
		placement_add_string(json, "min_version", str_printf(call->pool, "1.%d", VERSION_MIN));
	}
	for (size_t i = 0; i < problem->n_members; i++) {
		if (strcmp(problem->members[i].name, "code") != 0)
			placement_add_string(json, problem->members[i].name, problem->members[i].value);
	}
	if (problem->nothing_done)
		placement_add_bool(json, "done", false);
	BUF_LIT(json, "}]}");
}

// ---- JSON, HTML or plain text

static void add_html(struct buf *out, struct str text)
{
	for (size_t i = 0; i < text.n; i++) {
		switch (text.p[i]) {
		case '<': BUF_LIT(out, "&lt;"); break;
		case '>': BUF_LIT(out, "&gt;"); break;
		case '&': BUF_LIT(out, "&amp;"); break;
		case '"': BUF_LIT(out, "&quot;"); break;
		case '\n': BUF_LIT(out, "<br />\n"); break;
		default: buf_addc(out, text.p[i]);
		}
	}
}

static void write_html(struct call *call, int status, struct str detail)
{
	struct buf out = buf_new(call->pool, 512);
	const char *title = statuses[row_of(status)].title;

	buf_addf(&out, "<html>\n <head>\n  <title>%d %s</title>\n </head>\n <body>\n  <h1>%d %s</h1>\n  ", status, title,
		status, title);
	add_html(&out, detail);
	BUF_LIT(&out, "\n </body>\n</html>\n");
	call->response.body = buf_str(&out);
	call->response.content_type = STR("text/html; charset=UTF-8");
}

static void write_plain(struct call *call, int status, struct str detail)
{
	call->response.body = str_printf(call->pool, "%d %s\n\n%.*s\n", status, statuses[row_of(status)].title,
		STR_ARG(detail));
	call->response.content_type = STR("text/plain; charset=UTF-8");
}

void placement_render_problem(struct call *call, enum outcome outcome, const struct problem *problem)
{
	static const char *const offers[] = { "application/json", "text/html", "text/plain" };
	struct buf detail = buf_new(call->pool, 256), json;

	call->response.status = status_of(outcome);
	add_detail(call, &detail, outcome, problem);
	switch (media_choose(request_header(&call->request, "accept"), offers, COUNT_OF(offers))) {
	case 0:
		json = buf_new(call->pool, 512);
		if (outcome == OUTCOME_UNAUTHENTICATED)
			add_unauthenticated(&json, buf_str(&detail));
		else
			add_error(call, &json, outcome, problem, buf_str(&detail));
		placement_answer_json(call, &json);
		break;
	case 1:
		write_html(call, call->response.status, buf_str(&detail));
		break;
	default: // another format can't be negotiated; plain text does the least harm
		write_plain(call, call->response.status, buf_str(&detail));
		break;
	}
}

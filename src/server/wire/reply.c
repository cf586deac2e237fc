// SPDX-License-Identifier: Apache-2.0
#include "base/base.h"

#include "server/wire/reply.h"

static const struct {
	int status;
	struct str reason;
} reasons[] = {
#define REASON(status, text) { status, { text, sizeof(text) - 1 } }
	REASON(200, "OK"),
	REASON(201, "Created"),
	REASON(202, "Accepted"),
	REASON(204, "No Content"),
	REASON(207, "Multi-Status"),
	REASON(300, "Multiple Choices"),
	REASON(301, "Moved Permanently"),
	REASON(302, "Found"),
	REASON(303, "See Other"),
	REASON(304, "Not Modified"),
	REASON(307, "Temporary Redirect"),
	REASON(308, "Permanent Redirect"),
	REASON(400, "Bad Request"),
	REASON(401, "Unauthorized"),
	REASON(403, "Forbidden"),
	REASON(404, "Not Found"),
	REASON(405, "Method Not Allowed"),
	REASON(406, "Not Acceptable"),
	REASON(409, "Conflict"),
	REASON(410, "Gone"),
	REASON(411, "Length Required"),
	REASON(412, "Precondition Failed"),
	REASON(413, "Content Too Large"),
	REASON(414, "URI Too Long"),
	REASON(415, "Unsupported Media Type"),
	REASON(422, "Unprocessable Content"),
	REASON(423, "Locked"),
	REASON(428, "Precondition Required"),
	REASON(429, "Too Many Requests"),
	REASON(431, "Request Header Fields Too Large"),
	REASON(500, "Internal Server Error"),
	REASON(501, "Not Implemented"),
	REASON(503, "Service Unavailable"),
	REASON(504, "Gateway Timeout"),
#undef REASON
};

static struct str reason_of(int status)
{
	for (size_t i = 0; i < COUNT_OF(reasons); i++) {
		if (reasons[i].status == status)
			return reasons[i].reason;
	}
	// Clients ignore the phrase, so any text will do for a status that is not in the table.
	return STR("Status");
}

static void add_header(struct buf *out, struct str name, struct str value)
{
	buf_add(out, name);
	BUF_LIT(out, ": ");
	buf_add(out, value);
	BUF_LIT(out, "\r\n");
}

bool reply_has_body(const struct response *response)
{
	return response->status != 204 && response->status != 304;
}

static void add_status(struct buf *out, const struct response *response)
{
	assert(response->status >= 200 && response->status <= 599);
	BUF_LIT(out, "Status: ");
	buf_add_i64(out, response->status);
	buf_addc(out, ' ');
	buf_add(out, reason_of(response->status));
	BUF_LIT(out, "\r\n");
}

static void add_headers(struct buf *out, const struct response *response)
{
	for (size_t i = 0; i < response->n_headers; i++)
		add_header(out, response->headers[i].name, response->headers[i].value);
	BUF_LIT(out, "\r\n");
}

void reply_head(struct buf *out, const struct response *response)
{
	add_status(out, response);
	if (reply_has_body(response)) {
		// An empty body has no media type.
		if (response_length(response) > 0)
			add_header(out, STR("Content-Type"), response->content_type);
		BUF_LIT(out, "Content-Length: ");
		buf_add_u64(out, response_length(response));
		BUF_LIT(out, "\r\n");
	}
	add_headers(out, response);
}

void reply_head_open(struct buf *out, const struct response *response)
{
	add_status(out, response);
	add_header(out, STR("Content-Type"), response->content_type);
	add_headers(out, response);
}

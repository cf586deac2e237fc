// SPDX-License-Identifier: Apache-2.0
#include "base/base.h"

#include "base/buf.h"
#include "base/clock.h"
#include "base/config/config.h"
#include "base/log.h"
#include "repr/json/doc.h"
#include "server/request/access.h"
#include "server/wire/reply.h"

enum { MAX_TARGET = 8192, MAX_FIELD = 1024 };

// Appends a field without quotes, so blanks are escaped: a blank would end the field.
static void add_word(struct buf *line, struct str word)
{
	struct str rest = str_part(word, 0, MAX_FIELD), part;
	bool first = true;

	if (rest.n == 0) {
		buf_addc(line, '-');
		return;
	}
	while (str_split(&rest, ' ', &part)) {
		if (!first)
			BUF_LIT(line, "\\x20");
		log_escape(line, part);
		first = false;
	}
}

static void add_quoted(struct buf *line, struct str value)
{
	buf_addc(line, '"');
	if (value.n == 0)
		buf_addc(line, '-');
	else
		log_escape(line, str_part(value, 0, MAX_FIELD));
	buf_addc(line, '"');
}

static void add_request_line(struct buf *line, const struct request *request)
{
	buf_addc(line, '"');
	add_word(line, request->method_text);
	buf_addc(line, ' ');
	log_escape(line, str_part(request->target, 0, MAX_TARGET));
	buf_addc(line, ' ');
	add_word(line, request->protocol);
	buf_addc(line, '"');
}

static void add_sizes(struct buf *line, const struct call *call)
{
	const struct response *response = &call->response;

	buf_addc(line, ' ');
	buf_add_i64(line, response->status);
	buf_addc(line, ' ');
	if (response_length(response) == 0 || call->request.method == METHOD_HEAD || !reply_has_body(response))
		buf_addc(line, '-');
	else
		buf_add_u64(line, response_length(response));
}

// Is the tenant that the address names concerned? Not if the caller may not ask about it, since anybody can name any tenant; nor
// if the request found that it does not exist.
static bool concerns_address(const struct call *call)
{
	const struct principal *who = &call->who;

	if (call->realm.tenant.n == 0 || (call->registry->store != NULL && registry_misses(call->registry, call->realm.tenant)))
		return false;
	return who->role == ROLE_OPERATOR || who->reads_all || str_eq(who->tenant, call->realm.tenant);
}

// The tenant for the line: the one in the address; else the owner of the resources that the call was about; else the caller's
// own, unless the caller is an operator, whose own tenant is not concerned.
static struct str tenant_of(const struct call *call)
{
	struct str tenant = STR_NONE;

	if (concerns_address(call))
		return call->realm.tenant;
	if (call->registry->store != NULL)
		tenant = registry_concerned(call->registry);
	if (tenant.n > 0 || call->who.role == ROLE_OPERATOR)
		return tenant;
	return call->who.tenant;
}

void access_line(struct buf *line, const struct call *call, enum outcome outcome, unsigned tries, int64_t us)
{
	const struct request *request = &call->request;

	assert(us >= 0);
	add_word(line, request->remote_addr);
	BUF_LIT(line, " - ");
	add_word(line, call->who.user);
	BUF_LIT(line, " [");
	clock_add_clf(line, clock_now_us());
	BUF_LIT(line, "] ");
	add_request_line(line, request);
	add_sizes(line, call);
	buf_addc(line, ' ');
	add_quoted(line, request_header(request, "referer"));
	buf_addc(line, ' ');
	add_quoted(line, request_header(request, "user-agent"));
	buf_addc(line, ' ');
	uuid_add(line, call->request_id);
	buf_addc(line, ' ');
	buf_add_i64(line, us);
	buf_addc(line, ' ');
	buf_add(line, str_c(call->endpoint->name));
	buf_addc(line, ' ');
	buf_add(line, str_c(outcome_name(outcome)));
	buf_addc(line, ' ');
	buf_add_u64(line, tries);
	buf_addc(line, ' ');
	add_quoted(line, tenant_of(call));
}

// ---- JSON

// DEL, and the first byte of U+0080 to U+00BF: JSON has them as they are, but terminals obey DEL and U+0080 to U+009F.
enum { DEL = 0x7f, C1_LEAD = 0xc2, C1_END = 0xa0 };

// Adds a string of JSON without control characters, which stand as \u0000. value: UTF-8.
static void add_json(struct buf *line, struct str value)
{
	if (memchr(value.p, DEL, value.n) == NULL && memchr(value.p, C1_LEAD, value.n) == NULL) {
		json_add_string(line, value);
		return;
	}
	struct buf text = buf_new(line->pool, value.n + 64);
	json_add_string(&text, value);
	for (size_t i = 0; i < text.n; i++) {
		uint8_t c = (uint8_t)text.p[i], next = i + 1 < text.n ? (uint8_t)text.p[i + 1] : 0;

		if (c == DEL)
			BUF_LIT(line, "\\u007f");
		else if (c == C1_LEAD && next < C1_END)
			buf_addf(line, "\\u%04x", (unsigned)(uint8_t)text.p[++i]);
		else
			buf_addc(line, (char)c);
	}
}

static void add_text(struct buf *line, const char *name, struct str value, size_t most)
{
	value = str_part(value, 0, most);
	buf_addf(line, ",\"%s\":", name);
	if (value.n == 0) {
		BUF_LIT(line, "null");
	} else if (str_utf8_ok(value, NULL)) {
		add_json(line, value);
	} else {
		struct buf escaped = buf_new(line->pool, value.n + 64);
		log_escape(&escaped, value);
		json_add_string(line, buf_str(&escaped));
	}
}

void access_line_json(struct buf *line, const struct call *call, enum outcome outcome, unsigned tries, int64_t us)
{
	const struct request *request = &call->request;
	const struct response *response = &call->response;
	bool has_body = response_length(response) > 0 && request->method != METHOD_HEAD && reply_has_body(response);

	assert(us >= 0);
	BUF_LIT(line, "{\"time\":\"");
	clock_add_rfc3339(line, clock_now_us());
	buf_addc(line, '"');
	add_text(line, "address", request->remote_addr, MAX_FIELD);
	add_text(line, "user", call->who.user, MAX_FIELD);
	add_text(line, "method", request->method_text, MAX_FIELD);
	add_text(line, "target", request->target, MAX_TARGET);
	add_text(line, "protocol", request->protocol, MAX_FIELD);
	buf_addf(line, ",\"status\":%d,\"bytes\":%llu", response->status, has_body ? (unsigned long long)response_length(response) : 0);
	add_text(line, "referer", request_header(request, "referer"), MAX_FIELD);
	add_text(line, "user_agent", request_header(request, "user-agent"), MAX_FIELD);
	BUF_LIT(line, ",\"request_id\":\"");
	uuid_add(line, call->request_id);
	buf_addf(line, "\",\"microseconds\":%lld", (long long)us);
	add_text(line, "endpoint", str_c(call->endpoint->name), MAX_FIELD);
	add_text(line, "outcome", str_c(outcome_name(outcome)), MAX_FIELD);
	buf_addf(line, ",\"tries\":%u", tries);
	add_text(line, "tenant", tenant_of(call), MAX_FIELD);
	buf_addc(line, '}');
}

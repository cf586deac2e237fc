// SPDX-License-Identifier: Apache-2.0
// Writes answers: JSON, links, and header fields for caching.
#include "base/base.h"

#include "api/placement/common/placement.h"
#include "base/clock.h"
#include "base/pool.h"
#include "http/uri.h"
#include "registry/placement/inventory.h"

// ---- addresses

// The first segments of the dialect's addresses.
static const struct str roots[] = {
	STR_INIT("allocation_candidates"), STR_INIT("allocations"), STR_INIT("resource_classes"), STR_INIT("resource_providers"),
	STR_INIT("reshaper"), STR_INIT("traits"), STR_INIT("usages"),
};

static bool is_root(struct str segment)
{
	for (size_t i = 0; i < COUNT_OF(roots); i++) {
		if (str_eq(segment, roots[i]))
			return true;
	}
	return false;
}

// placement_add_path() with a va_list, which is used up.
static void add_path_v(struct buf *out, const struct call *call, const char *format, va_list args)
{
	const struct uri *uri = &call->request.uri;

	for (size_t i = 0; i < uri->n_segments && !is_root(uri->segments[i]); i++) {
		buf_addc(out, '/');
		uri_add_segment(out, uri->segments[i]);
	}
	buf_add(out, str_vprintf(call->scratch, format, args));
}

void placement_add_path(struct buf *out, const struct call *call, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	add_path_v(out, call, format, args);
	va_end(args);
}

void placement_set_location(struct call *call, const char *format, ...)
{
	struct buf path = buf_new(call->pool, 128);
	va_list args;

	va_start(args, format);
	add_path_v(&path, call, format, args);
	va_end(args);
	response_set(&call->response, "Location", call_url(call, buf_str(&path)));
}

// ---- bodies

static bool is_ascii(struct str text)
{
	for (size_t i = 0; i < text.n; i++) {
		if ((unsigned char)text.p[i] >= 0x80)
			return false;
	}
	return true;
}

// The code point at offset *i of well-formed UTF-8; moves *i behind it.
static uint32_t next_point(struct str text, size_t *i)
{
	unsigned char first = (unsigned char)text.p[(*i)++];
	uint32_t point = first < 0x80 ? first : first < 0xe0 ? first & 0x1fU : first < 0xf0 ? first & 0x0fU : first & 0x07U;

	while (*i < text.n && ((unsigned char)text.p[*i] & 0xc0) == 0x80)
		point = point << 6 | ((unsigned char)text.p[(*i)++] & 0x3fU);
	return point;
}

// JSON text with all characters other than ASCII escaped, as in the answers of OpenStack's service: clients search answers for
// such texts.
static struct str in_ascii(struct pool *pool, struct str text)
{
	struct buf out = buf_new(pool, text.n + text.n / 2);

	for (size_t i = 0; i < text.n;) {
		uint32_t point = next_point(text, &i);
		if (point < 0x80)
			buf_addc(&out, (char)point);
		else if (point < 0x10000)
			buf_addf(&out, "\\u%04x", (unsigned)point);
		else
			buf_addf(&out, "\\u%04x\\u%04x", (unsigned)(0xd800 + ((point - 0x10000) >> 10)),
				(unsigned)(0xdc00 + ((point - 0x10000) & 0x3ff)));
	}
	return buf_str(&out);
}

void placement_answer_json(struct call *call, struct buf *json)
{
	struct str text = buf_str(json);

	call->response.body = is_ascii(text) ? text : in_ascii(call->pool, text);
	call->response.content_type = STR("application/json");
}

// ---- long answers

enum { SPILL_BYTES = 1 << 20, LONG_MAX_BYTES = 256 << 20 };

struct placement_long placement_long_begin(struct call *call)
{
	response_unspill(&call->response); // the transaction, and with it the handler, may run again
	return (struct placement_long){ .call = call, .json = buf_new(call->pool, 4096) };
}

// Moves what is in memory to the response's file.
static void spill(struct placement_long *answer)
{
	struct call *call = answer->call;
	struct pool *scratch;

	if (is_ascii(buf_str(&answer->json))) {
		answer->spilled = response_spill(&call->response, &answer->json);
		return;
	}
	scratch = pool_scratch(call->pool, SIZE_MAX);
	struct buf escaped = buf_new(scratch, answer->json.n);
	buf_add(&escaped, in_ascii(scratch, buf_str(&answer->json)));
	answer->spilled = response_spill(&call->response, &escaped);
	if (escaped.n == 0)
		answer->json.n = 0;
	pool_scratch_end(call->pool, scratch);
}

bool placement_long_next(struct placement_long *answer)
{
	if (answer->json.n > SPILL_BYTES && !answer->call->response.no_spill)
		spill(answer);
	answer->n++;
	return answer->spilled + answer->json.n <= LONG_MAX_BYTES;
}

enum outcome placement_long_end(struct placement_long *answer)
{
	if (answer->spilled + answer->json.n > LONG_MAX_BYTES)
		return call_fail(answer->call, OUTCOME_TOO_COSTLY, "The answer has more than %d MiB: ask for less, with a limit or filters.",
			LONG_MAX_BYTES >> 20);
	placement_answer_json(answer->call, &answer->json);
	return OUTCOME_OK;
}

void placement_answer_cache_headers(struct call *call, int64_t us)
{
	struct buf date = buf_new(call->pool, 40);

	if (call->version < VERSION_CACHE_HEADERS)
		return;
	response_set(&call->response, "Cache-Control", STR("no-cache"));
	if (us == 0)
		return;
	clock_add_http_date(&date, us);
	response_set(&call->response, "Last-Modified", buf_str(&date));
}

void placement_add_name(struct buf *out, const char *name)
{
	if (out->n > 0 && out->p[out->n - 1] != '{')
		buf_addc(out, ',');
	buf_addc(out, '"');
	buf_add(out, str_c(name));
	BUF_LIT(out, "\":");
}

void placement_add_string(struct buf *out, const char *name, struct str value)
{
	placement_add_name(out, name);
	json_add_string(out, value);
}

void placement_add_number(struct buf *out, const char *name, uint64_t value)
{
	placement_add_name(out, name);
	buf_add_u64(out, value);
}

void placement_add_uuid(struct buf *out, const char *name, struct uuid uuid)
{
	placement_add_name(out, name);
	buf_addc(out, '"');
	uuid_add(out, uuid);
	buf_addc(out, '"');
}

void placement_add_bool(struct buf *out, const char *name, bool value)
{
	placement_add_name(out, name);
	buf_add(out, value ? STR("true") : STR("false"));
}

void placement_add_fraction(struct buf *out, const char *name, double value)
{
	placement_add_name(out, name);
	size_t at = out->n;
	inventory_add_ratio(out, value);
	if (memchr(out->p + at, '.', out->n - at) == NULL && memchr(out->p + at, 'e', out->n - at) == NULL)
		BUF_LIT(out, ".0");
}

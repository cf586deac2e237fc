// SPDX-License-Identifier: Apache-2.0
// Usage: what a tenant, or each tenant, had of each type in closed periods, as JSON, XML or CSV.
#include "base/base.h"

#include "api/documents.h"
#include "api/tenancy/tenancy.h"
#include "base/buf.h"
#include "base/clock.h"
#include "base/pool.h"
#include "registry/core/settings.h"
#include "registry/tenant/tenant.h"
#include "registry/usage/usage_list.h"

#define CSV_TYPE "text/csv"
#define EXAMPLE "2026-11-01T00:00:00Z"

enum { DEFAULT_DAYS = 30, TEXT_MAX = 4 * REGISTRY_MAX_ID };
static const int64_t second_us = 1000000, day_us = INT64_C(86400000000);

// ---- the document

static const struct shape row_members[] = {
	{ .name = "account", .kind = SHAPE_STRING, .flags = SHAPE_ATTR },
	{ .name = "tenant", .kind = SHAPE_STRING, .flags = SHAPE_ATTR },
	{ .name = "uid", .kind = SHAPE_STRING, .flags = SHAPE_ATTR },
	{ .name = "type", .kind = SHAPE_STRING, .flags = SHAPE_ATTR },
	{ .name = "from", .kind = SHAPE_STRING, .flags = SHAPE_ATTR },
	{ .name = "to", .kind = SHAPE_STRING, .flags = SHAPE_ATTR },
	{ .name = "resources", .kind = SHAPE_NUMBER, .flags = SHAPE_ATTR },
	{ .name = "bytes", .kind = SHAPE_NUMBER, .flags = SHAPE_ATTR },
	{ .name = "resource_seconds", .kind = SHAPE_STRING, .flags = SHAPE_ATTR },
	{ .name = "byte_seconds", .kind = SHAPE_STRING, .flags = SHAPE_ATTR },
	{ .name = NULL },
};
static const struct shape row_item = { .name = "of", .kind = SHAPE_OBJECT, .members = row_members };
static const struct shape list_members[] = {
	{ .name = "usage", .kind = SHAPE_LIST, .flags = SHAPE_INLINE, .item = &row_item },
	{ .name = "closed_until", .kind = SHAPE_STRING, .flags = SHAPE_ATTR },
	{ .name = "next", .kind = SHAPE_STRING, .flags = SHAPE_ATTR },
	{ .name = NULL },
};
static const struct repr_document list_document = { .body = { .name = "usage", .kind = SHAPE_OBJECT, .members = list_members } };

// ---- what is asked for

// Times are whole seconds: the addresses of the next pages have them so, and all pages of a list have to be about the same time.
// Periods end at whole seconds, so those that lie between the times stay the same.
static enum outcome read_times(struct call *call, struct usage_query *query)
{
	query->until_us = call->registry->now_us;
	enum outcome outcome = tenancy_read_time(call, "to", &query->until_us);
	query->since_us = query->until_us - DEFAULT_DAYS * day_us;
	if (query->since_us < 0)
		query->since_us = 0;
	if (outcome == OUTCOME_OK)
		outcome = tenancy_read_time(call, "from", &query->since_us);
	if (outcome == OUTCOME_OK && query->since_us >= query->until_us)
		return call_fail(call, OUTCOME_BAD_PARAMETER,
			"from must be before to, as in from=" EXAMPLE "&to=2026-12-01T00:00:00Z; without to, it is the present");
	query->until_us -= query->until_us % second_us;
	query->since_us += (second_us - query->since_us % second_us) % second_us;
	return outcome;
}

static enum outcome read_step(struct call *call, struct usage_query *query)
{
	static const char *const names[] = {
		[USAGE_STEP_PERIOD] = "period", [USAGE_STEP_HOUR] = "hour", [USAGE_STEP_DAY] = "day", [USAGE_STEP_MONTH] = "month"
	};
	struct str text = call_param(call, "step");

	for (size_t i = 0; i < COUNT_OF(names); i++) {
		if (str_eq_c(text, names[i]))
			query->step = (enum usage_step)i;
	}
	if (query->step == USAGE_STEP_HOUR && registry_settings(call->config)->usage_period > 3600)
		return call_fail(call, OUTCOME_BAD_PARAMETER,
			"step must not be shorter than a period, which is %llu seconds here: period, day or month",
			(unsigned long long)registry_settings(call->config)->usage_period);
	return OUTCOME_OK;
}

// Reads "configmaps", "widgets.example.com" or "nodes.core", as in a list of changes.
static enum outcome read_type(struct call *call, struct usage_query *query)
{
	struct str text = call_param(call, "type");
	size_t dot = str_find(text, '.', 0);

	if (text.p == NULL)
		return OUTCOME_OK;
	if (text.n == 0 || text.n > TEXT_MAX || !str_utf8_ok(text, NULL))
		return call_fail(call, OUTCOME_BAD_PARAMETER, "type must be that of resources, such as configmaps or widgets.example.com");
	query->plural = str_part(text, 0, dot);
	if (dot < text.n)
		query->group = str_eq(str_part(text, dot + 1, text.n), STR("core")) ? STR("") : str_part(text, dot + 1, text.n);
	return OUTCOME_OK;
}

// A page's end, as the address of the next page has it: "TENANT.TYPE.TIME", in numbers. TIME 0: behind all of that type.
static enum outcome read_marker(struct call *call, struct usage_query *query)
{
	struct str text = call_param(call, "marker"), part[3];
	uint64_t numbers[3];

	if (text.p == NULL)
		return OUTCOME_OK;
	for (size_t i = 0; i < COUNT_OF(part); i++) {
		if (!str_split(&text, '.', &part[i]) || !str_to_u64(part[i], &numbers[i]) || (numbers[i] == 0 && i < 2) || numbers[i] > INT64_MAX)
			return call_fail(call, OUTCOME_BAD_PARAMETER, "marker must be that of the page before: follow its \"next\"");
	}
	if (text.n > 0 || (query->tenant_id != 0 && numbers[0] != query->tenant_id))
		return call_fail(call, OUTCOME_BAD_PARAMETER, "marker must be that of the page before: follow its \"next\"");
	query->after = (struct usage_place){ .tenant_id = numbers[0], .type_id = numbers[1], .until_us = (int64_t)numbers[2] };
	return OUTCOME_OK;
}

// The WADL lets any Accept through (t:accept="any"), since format=csv is answered whatever Accept says.
static enum outcome check_accept(struct call *call)
{
	int produce;
	struct str detail;

	if (str_eq(call_param(call, "format"), STR("csv")) ||
		route_accept(call->pool, &call->request, call->match.method, &produce, &detail) == OUTCOME_OK)
		return OUTCOME_OK;
	return call_fail(call, OUTCOME_NOT_ACCEPTABLE, "%.*s", STR_ARG(detail));
}

static enum outcome read_query(struct call *call, struct usage_query *query)
{
	uint64_t limit;
	enum outcome outcome = tenancy_read_limit(call, &limit);

	if (outcome != OUTCOME_OK)
		return outcome;
	query->limit = (size_t)limit;
	outcome = read_times(call, query);
	if (outcome == OUTCOME_OK)
		outcome = read_step(call, query);
	if (outcome == OUTCOME_OK)
		outcome = read_type(call, query);
	if (outcome == OUTCOME_OK)
		outcome = read_marker(call, query);
	return outcome == OUTCOME_OK ? check_accept(call) : outcome;
}

// ---- the answer

static struct str next_url(struct call *call, struct str path, const struct usage_query *query, const struct usage_page *page)
{
	static const char *const kept[] = { "limit", "step", "type", "format" };
	const struct usage_place *place = &page->next;
	struct buf url = buf_new(call->pool, 256);

	buf_add(&url, path);
	struct str since = document_time_text(call->pool, query->since_us);
	struct str until = document_time_text(call->pool, query->until_us);
	buf_addf(&url, "?marker=%llu.%llu.%lld&from=%.*s&to=%.*s", (unsigned long long)place->tenant_id,
		(unsigned long long)place->type_id, (long long)place->until_us, STR_ARG(since), STR_ARG(until));
	tenancy_keep_params(call, kept, COUNT_OF(kept), &url);
	return call_url(call, buf_str(&url));
}

static uint64_t count_of(int64_t n)
{
	return n > 0 ? (uint64_t)n : 0;
}

static struct doc *row_doc(struct call *call, const struct usage_row *row)
{
	struct pool *pool = call->pool;
	struct doc *doc = doc_new_object(pool);

	doc_set_str(pool, doc, call_vocabulary(call)->singular, row->tenant);
	doc_set_str(pool, doc, "uid", uuid_str(pool, row->tenant_uid));
	doc_set_str(pool, doc, "type", row->type);
	doc_set_str(pool, doc, "from", document_time_text(pool, row->since_us));
	doc_set_str(pool, doc, "to", document_time_text(pool, row->until_us));
	doc_set_u64(pool, doc, "resources", count_of(row->resources));
	doc_set_u64(pool, doc, "bytes", count_of(row->bytes));
	doc_set_str(pool, doc, "resource_seconds", str_c(row->resource_seconds));
	doc_set_str(pool, doc, "byte_seconds", str_c(row->byte_seconds));
	return doc;
}

// RFC 4180: a field with a comma, a quote or a line break stands in quotes. A spreadsheet takes a field that begins with one of
// =+-@ for a formula, even in quotes, so such a name gets an apostrophe in front.
static void add_field(struct buf *out, struct str text)
{
	bool is_formula = text.n > 0 && memchr("=+-@\t\r", text.p[0], 6) != NULL, quoted = is_formula;

	for (size_t i = 0; i < text.n && !quoted; i++)
		quoted = memchr(",\"\r\n", text.p[i], 4) != NULL;
	if (!quoted) {
		buf_add(out, text);
		return;
	}
	buf_addc(out, '"');
	if (is_formula)
		buf_addc(out, '\'');
	for (size_t i = 0; i < text.n; i++) {
		if (text.p[i] == '"')
			buf_addc(out, '"');
		buf_addc(out, text.p[i]);
	}
	buf_addc(out, '"');
}

// The first page alone begins with the names of the columns, so pages one behind the other are one table.
static void write_csv(struct call *call, const struct usage_page *page)
{
	struct pool *pool = call->pool;
	struct buf out = buf_new(pool, 128 + page->n * 160);

	if (call_param(call, "marker").p == NULL)
		buf_addf(&out, "%s,uid,type,from,to,resources,bytes,resource_seconds,byte_seconds\r\n",
			call_vocabulary(call)->singular);
	for (size_t i = 0; i < page->n; i++) {
		const struct usage_row *row = &page->list[i];
		add_field(&out, row->tenant);
		buf_addf(&out, ",%.*s,", UUID_ARG(pool, row->tenant_uid));
		add_field(&out, row->type);
		struct str since = document_time_text(pool, row->since_us);
		struct str until = document_time_text(pool, row->until_us);
		buf_addf(&out, ",%.*s,%.*s,%llu,%llu,%s,%s\r\n", STR_ARG(since), STR_ARG(until),
			(unsigned long long)count_of(row->resources),
			(unsigned long long)count_of(row->bytes), row->resource_seconds, row->byte_seconds);
	}
	call->response.body = buf_str(&out);
	call->response.content_type = STR(CSV_TYPE "; charset=utf-8");
}

static bool wants_csv(const struct call *call)
{
	struct str format = call_param(call, "format");

	if (format.p != NULL)
		return str_eq(format, STR("csv"));
	return call->produce_type != NULL && str_eq_c(STR(CSV_TYPE), call->produce_type);
}

static void write_document(struct call *call, const struct usage_page *page, struct str next)
{
	struct doc *doc = doc_new_object(call->pool), *items = doc_new_array(call->pool);

	for (size_t i = 0; i < page->n; i++)
		doc_push(items, row_doc(call, &page->list[i]));
	doc_set(doc, STR("usage"), items);
	if (page->closed_until_us != 0)
		doc_set_str(call->pool, doc, "closed_until", document_time_text(call->pool, page->closed_until_us));
	if (next.p != NULL)
		doc_set_str(call->pool, doc, "next", next);
	if (call->produce_type != NULL && str_eq_c(STR(CSV_TYPE), call->produce_type))
		call->produce_type = NULL; // the parameter format asks for a document
	call_write(call, &list_document, doc);
}

static enum outcome answer(struct call *call, struct str path, struct usage_query *query)
{
	struct usage_page page;
	struct str next = STR_NONE;
	enum outcome outcome = read_query(call, query);

	if (outcome == OUTCOME_OK)
		outcome = usage_list(call->registry, query, &page);
	if (outcome != OUTCOME_OK)
		return outcome;
	if (page.more)
		next = next_url(call, path, query, &page);
	if (next.p != NULL)
		response_add(&call->response, "Link", str_printf(call->pool, "<%.*s>; rel=\"next\"", STR_ARG(next)));
	if (wants_csv(call))
		write_csv(call, &page);
	else
		write_document(call, &page, next);
	return OUTCOME_OK;
}

enum outcome list_usage(struct call *call)
{
	struct str name = call_param(call, "tenant");
	struct tenant tenant;
	enum outcome outcome = tenant_get(call->registry, name, &tenant);

	if (outcome != OUTCOME_OK)
		return outcome;
	struct usage_query query = { .tenant_id = tenant.id };
	struct str path = tenant_path(call, name);
	return answer(call, str_printf(call->pool, "%.*s/usage", STR_ARG(path)), &query);
}

enum outcome list_all_usage(struct call *call)
{
	struct usage_query query = { .tenant_id = 0 };
	struct str path = tenant_path(call, STR(REALM_WORD_ALL));

	return answer(call, str_printf(call->pool, "%.*s/usage", STR_ARG(path)), &query);
}

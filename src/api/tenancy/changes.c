// SPDX-License-Identifier: Apache-2.0
// The change log: what happened to a tenant and its resources, or to all, in order or the newest first.
#include "base/base.h"

#include "api/documents.h"
#include "api/tenancy/tenancy.h"
#include "base/buf.h"
#include "base/clock.h"
#include "base/pool.h"
#include "registry/resource/resource.h"
#include "registry/tenant/change_list.h"

struct doc *tenancy_change_doc(struct pool *pool, uint64_t id, int64_t at_us, struct str actor, struct uuid request_id, struct str verb)
{
	struct doc *doc = doc_new_object(pool);

	doc_set_u64(pool, doc, "id", id);
	doc_set_str(pool, doc, "at", document_time_text(pool, at_us));
	doc_set_str(pool, doc, "actor", actor);
	doc_set_str(pool, doc, "request_id", uuid_str(pool, request_id));
	doc_set_str(pool, doc, "verb", verb);
	return doc;
}

static void set_etag_text(struct pool *pool, struct doc *doc, const char *name, struct str bytes)
{
	if (bytes.n == 64)
		doc_set_str(pool, doc, name, conditions_etag_text(pool, (const uint8_t *)bytes.p));
}

// A list of all tenants, for operators, tells whose the resource is, and whose it was before a move. That of one tenant tells
// whether it came or left, without the other tenant's name.
static void set_owner(struct pool *pool, struct doc *doc, const struct change *change, struct str tenant)
{
	bool moved = change->from_tenant.p != NULL;

	if (tenant.p == NULL)
		doc_set_str(pool, doc, "tenant", change->tenant);
	if (tenant.p == NULL && moved)
		doc_set_str(pool, doc, "from_tenant", change->from_tenant);
	if (tenant.p != NULL && moved)
		doc_set_str(pool, doc, "moved", str_eq(change->tenant, tenant) ? STR("in") : STR("out"));
}

// tenant: whose list it is in; p NULL: that of all.
static struct doc *change_doc(struct call *call, const struct change *change, struct str tenant)
{
	struct pool *pool = call->pool;
	struct doc *doc = tenancy_change_doc(pool, change->id, change->at_us, change->actor, change->request_id, change->verb);
	const struct stored_place place = { .table = "changes", .column = "fields", .id = change->id };

	set_owner(pool, doc, change, tenant);
	if (change->type != NULL)
		doc_set_str(pool, doc, "resource", resource_path(pool, change->type, change->space, change->name));
	doc_set_str(pool, doc, "uid", uuid_str(pool, change->uid));
	doc_set_u64(pool, doc, "revision", change->revision);
	set_etag_text(pool, doc, "etag_before", change->etag_before);
	set_etag_text(pool, doc, "etag_after", change->etag_after);
	if (change->fields.p != NULL)
		doc_set(doc, STR("fields"), stored_document(pool, place, change->fields));
	return doc;
}

// ---- what is asked for

// The longest text of a condition, in bytes: no member of a change that it is compared with is longer than a name. "resource" has
// two names, and has a form to be checked by.
enum { TEXT_MAX = 4 * REGISTRY_MAX_ID };

// Reads "configmaps", "widgets.example.com" or "nodes.core", as addresses and the log have it.
static void read_type(struct str text, struct change_query *query)
{
	size_t dot = str_find(text, '.', 0);

	query->plural = str_part(text, 0, dot);
	if (dot < text.n)
		query->group = str_eq(str_part(text, dot + 1, text.n), STR("core")) ? STR("") : str_part(text, dot + 1, text.n);
}

// Reads a uid, or what the log has as "resource": "persistentvolumes/disk1", "namespaces/default/configmaps/web".
static bool read_resource(struct str text, struct change_query *query)
{
	struct str plural, space;

	query->has_uid = uuid_parse(text, &query->uid);
	if (query->has_uid)
		return true;
	if (!str_utf8_ok(text, NULL) || !address_split_path(text, &plural, &space, &query->name))
		return false;
	query->space = space.p != NULL ? space : STR("");
	read_type(plural, query);
	return true;
}

static enum outcome fail_no_day(struct call *call, enum outcome outcome, const char *name, struct str text, int days)
{
	return call_fail(call, outcome, "%s must be a day of the calendar: %.*s has %d days", name, STR_HEAD_ARG(text, strlen("2026-02")), days);
}

enum outcome tenancy_read_time(struct call *call, const char *name, int64_t *us)
{
	struct str text = call_param(call, name);
	int days;

	if (text.p == NULL || (clock_parse_rfc3339(text, us) && *us >= CHANGES_SINCE && *us <= CHANGES_UNTIL))
		return OUTCOME_OK;
	if (clock_is_no_day(text, &days))
		return fail_no_day(call, OUTCOME_BAD_PARAMETER, name, text, days);
	return call_fail(call, OUTCOME_BAD_PARAMETER, "%s must be a time from 1970 on, such as 2026-11-21T05:24:00Z", name);
}

enum outcome tenancy_read_expiry(struct call *call, const struct doc *member, const char *without, int64_t *us)
{
	struct str text = doc_string(member);
	int days;

	if (clock_parse_rfc3339(text, us) && *us > call->registry->now_us && *us <= CLOCK_LAST_US)
		return OUTCOME_OK;
	if (clock_is_no_day(text, &days))
		return fail_no_day(call, OUTCOME_BAD_DOCUMENT, "expires_at", text, days);
	return call_fail(call, OUTCOME_BAD_DOCUMENT, "expires_at must be a time in the future, such as 2030-11-21T05:24:00Z; without it %s", without);
}

enum outcome tenancy_check_text(struct call *call, const char *name)
{
	struct str text = call_param(call, name);

	if (text.p == NULL || (text.n > 0 && text.n <= TEXT_MAX && str_utf8_ok(text, NULL)))
		return OUTCOME_OK;
	return call_fail(call, OUTCOME_BAD_PARAMETER, "%s must be a text of 1 to %d bytes", name, TEXT_MAX);
}

static enum outcome read_conditions(struct call *call, struct change_query *query)
{
	static const char *const texts[] = { "actor", "verb", "type", "text" };
	struct str type = call_param(call, "type"), resource = call_param(call, "resource");
	enum outcome outcome = tenancy_read_time(call, "from", &query->since_us);

	if (outcome == OUTCOME_OK)
		outcome = tenancy_read_time(call, "to", &query->until_us);
	for (size_t i = 0; outcome == OUTCOME_OK && i < COUNT_OF(texts); i++)
		outcome = tenancy_check_text(call, texts[i]);
	if (outcome != OUTCOME_OK)
		return outcome;
	query->actor = call_param(call, "actor");
	query->verb = call_param(call, "verb");
	query->text = call_param(call, "text");
	if (type.p != NULL && resource.p != NULL)
		return call_fail(call, OUTCOME_BAD_PARAMETER, "type and resource can't be given together: a resource names its type");
	if (type.p != NULL)
		read_type(type, query);
	if (resource.p != NULL && !read_resource(resource, query))
		return call_fail(call, OUTCOME_BAD_PARAMETER, ADDRESS_PATH_FORM);
	return OUTCOME_OK;
}

static enum outcome read_query(struct call *call, struct change_query *query)
{
	struct str after = call_param(call, "after"), before = call_param(call, "before");

	*query = (struct change_query){ .below = INT64_MAX, .since_us = CHANGES_SINCE, .until_us = CHANGES_UNTIL };
	query->newest_first = str_eq(call_param(call, "order"), STR("newest"));
	enum outcome outcome = tenancy_read_limit(call, &query->limit);
	if (outcome != OUTCOME_OK)
		return outcome;
	if (after.p != NULL && !str_to_u64(after, &query->above))
		return call_fail(call, OUTCOME_BAD_PARAMETER, "after must be the id of a change, or 0");
	if (before.p != NULL && !str_to_u64(before, &query->below))
		return call_fail(call, OUTCOME_BAD_PARAMETER, "before must be the id of a change");
	return read_conditions(call, query);
}

// ---- the answer

// The address of the next page: the same query from another change on.
static struct str next_url(struct call *call, struct str path, const struct change_query *query, uint64_t next)
{
	static const char *const kept[] = { "limit", "actor", "verb", "type", "resource", "from", "to", "text" };
	struct buf url = buf_new(call->pool, 256);
	uint64_t above = query->newest_first ? query->above : next, below = query->newest_first ? next : query->below;

	buf_add(&url, path);
	if (above > 0 || !query->newest_first)
		buf_addf(&url, "?after=%llu", (unsigned long long)above);
	if (below < INT64_MAX)
		buf_addf(&url, "%cbefore=%llu", above > 0 || !query->newest_first ? '&' : '?', (unsigned long long)below);
	if (query->newest_first)
		BUF_LIT(&url, "&order=newest");
	tenancy_keep_params(call, kept, COUNT_OF(kept), &url);
	return call_url(call, buf_str(&url));
}

static enum outcome answer(struct call *call, struct str path, const struct change_query *query, const struct change_page *page)
{
	struct doc *doc = doc_new_object(call->pool), *items = doc_new_array(call->pool);

	for (size_t i = 0; i < page->n; i++)
		doc_push(items, change_doc(call, &page->list[i], query->tenant));
	doc_set(doc, STR("changes"), items);
	doc_set_u64(call->pool, doc, "upto", page->upto);
	if (page->oldest > 0)
		doc_set_u64(call->pool, doc, "oldest", page->oldest);
	if (page->more)
		doc_set_str(call->pool, doc, "next", next_url(call, path, query, page->next));
	call_write(call, &change_list_document, doc);
	return OUTCOME_OK;
}

enum outcome list_changes(struct call *call)
{
	struct change_query query;
	struct change_page page;
	struct str tenant = call_param(call, "tenant");
	enum outcome outcome = read_query(call, &query);

	query.tenant = tenant;
	if (outcome == OUTCOME_OK)
		outcome = change_list(call->registry, &query, &page);
	if (outcome != OUTCOME_OK)
		return outcome;
	struct str path = tenant_path(call, tenant);
	return answer(call, str_printf(call->pool, "%.*s/changes", STR_ARG(path)), &query, &page);
}

enum outcome list_all_changes(struct call *call)
{
	struct change_query query;
	struct change_page page;
	enum outcome outcome = read_query(call, &query);

	if (outcome == OUTCOME_OK)
		outcome = change_list_all(call->registry, &query, &page);
	if (outcome != OUTCOME_OK)
		return outcome;
	struct str path = tenant_path(call, STR(REALM_WORD_ALL));
	return answer(call, str_printf(call->pool, "%.*s/changes", STR_ARG(path)), &query, &page);
}

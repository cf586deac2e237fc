// SPDX-License-Identifier: Apache-2.0
// The history of one resource: what it was before and after each change. What today's rules mask in it is masked in all of its
// versions.
#include "base/base.h"

#include "api/documents.h"
#include "api/tenancy/tenancy.h"
#include "base/buf.h"
#include "base/pool.h"
#include "http/uri.h"
#include "registry/resource/resource.h"
#include "registry/undo/former.h"

static void set_content(struct call *call, struct doc *doc, const char *name, const struct resource *resource,
	const struct former_content *content)
{
	if (content->state != FORMER_UNKNOWN)
		doc_set(doc, str_c(name), content->state == FORMER_KNOWN ? tenancy_content_doc(call, resource, content) : NULL);
}

// Of inventories and aggregates of a provider: {"inventories": {…}}.
static void set_beside(struct call *call, struct doc *doc, const char *name, struct str beside, const struct doc *value)
{
	if (value == NULL)
		return;
	struct doc *content = doc_new_object(call->pool);
	doc_set(content, beside, doc_copy(call->pool, value));
	doc_set(doc, str_c(name), content);
}

static struct doc *change_doc(struct call *call, const struct resource *resource, const struct former_change *change)
{
	struct pool *pool = call->pool;
	struct doc *doc = tenancy_change_doc(pool, change->id, change->at_us, change->actor, change->request_id, change->verb);
	const struct stored_place place = { .table = "changes", .column = "fields", .id = change->id };

	doc_set_u64(pool, doc, "revision", change->revision);
	if (change->fields.p != NULL)
		doc_set(doc, STR("fields"), stored_document(pool, place, change->fields));
	if (change->beside.p != NULL) {
		set_beside(call, doc, "before", change->beside, change->beside_before);
		set_beside(call, doc, "after", change->beside, change->beside_after);
		return doc;
	}
	set_content(call, doc, "before", resource, &change->before);
	set_content(call, doc, "after", resource, &change->after);
	return doc;
}

static struct str next_url(struct call *call, const struct former_query *query, uint64_t below)
{
	struct buf path = buf_new(call->pool, 256);

	buf_add(&path, tenant_path(call, query->tenant));
	BUF_LIT(&path, "/history?resource=");
	uri_add_value(&path, call_param(call, "resource"));
	buf_addf(&path, "&limit=%llu&before=%llu", (unsigned long long)query->limit, (unsigned long long)below);
	return call_url(call, buf_str(&path));
}

static enum outcome read_query(struct call *call, struct address *address, struct former_query *query)
{
	struct str resource = call_param(call, "resource"), before = call_param(call, "before");

	*query = (struct former_query){ .tenant = call_param(call, "tenant"), .below = INT64_MAX };
	if (!str_to_u64(call_param(call, "limit"), &query->limit) || query->limit == 0)
		return call_fail(call, OUTCOME_BAD_PARAMETER, "limit must be a number from 1 to 100");
	if (before.p != NULL && (!str_to_u64(before, &query->below) || query->below > INT64_MAX))
		return call_fail(call, OUTCOME_BAD_PARAMETER, "before must be the id of a change");
	if (uuid_parse(resource, &query->uid))
		return OUTCOME_OK;
	query->address = address;
	return address_read_path(call, resource, address);
}

enum outcome get_resource_history(struct call *call)
{
	struct address address;
	struct former_query query;
	struct resource resource;
	struct former_change *list;
	size_t n;
	bool more;
	enum outcome outcome = read_query(call, &address, &query);

	if (outcome == OUTCOME_OK)
		outcome = former_history(call->registry, &query, &resource, &list, &n, &more);
	if (outcome != OUTCOME_OK)
		return outcome;
	struct doc *doc = doc_new_object(call->pool), *items = doc_new_array(call->pool);
	doc_set_str(call->pool, doc, "resource", resource_path(call->pool, resource.type, resource.space, resource.name));
	doc_set_str(call->pool, doc, "uid", uuid_str(call->pool, resource.uid));
	for (size_t i = 0; i < n; i++)
		doc_push(items, change_doc(call, &resource, &list[i]));
	doc_set(doc, STR("history"), items);
	if (more)
		doc_set_str(call->pool, doc, "next", next_url(call, &query, list[n - 1].id));
	call_write(call, &history_document, doc);
	return OUTCOME_OK;
}

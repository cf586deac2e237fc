// SPDX-License-Identifier: Apache-2.0
// The feed of changes: what happened to a tenant and its resources, in order.
#include "base/base.h"

#include "api/documents.h"
#include "api/tenancy/tenancy.h"
#include "base/buf.h"
#include "base/pool.h"
#include "registry/resource/resource.h"
#include "registry/tenant/change_list.h"

static void set_etag_text(struct pool *pool, struct doc *doc, const char *name, struct str bytes)
{
	if (bytes.n == 64)
		doc_set_str(pool, doc, name, conditions_etag_text(pool, (const uint8_t *)bytes.p));
}

static struct doc *change_doc(struct call *call, const struct change *change)
{
	struct pool *pool = call->pool;
	struct doc *doc = doc_new_object(pool);
	const struct stored_place place = { .table = "changes", .column = "fields", .id = change->id };

	doc_set_u64(pool, doc, "id", change->id);
	doc_set_str(pool, doc, "at", document_time_text(pool, change->at_us));
	doc_set_str(pool, doc, "actor", change->actor);
	doc_set_str(pool, doc, "request_id", uuid_str(pool, change->request_id));
	doc_set_str(pool, doc, "verb", change->verb);
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

enum outcome list_changes(struct call *call)
{
	struct change *list;
	size_t n;
	bool more;
	uint64_t after = 0, limit = 0;
	struct str tenant = call_param(call, "tenant");

	if (!str_to_u64(call_param(call, "limit"), &limit) || limit == 0)
		return call_fail(call, OUTCOME_BAD_PARAMETER, "limit must be a number from 1 to 1000");
	if (!str_to_u64(call_param(call, "after"), &after))
		return call_fail(call, OUTCOME_BAD_PARAMETER, "after must be the id of a change, or 0");
	enum outcome outcome = change_list(call->registry, tenant, after, limit, &list, &n, &more);
	if (outcome != OUTCOME_OK)
		return outcome;
	struct doc *doc = doc_new_object(call->pool), *items = doc_new_array(call->pool);
	for (size_t i = 0; i < n; i++)
		doc_push(items, change_doc(call, &list[i]));
	doc_set(doc, STR("changes"), items);
	if (more) {
		struct str path = str_printf(call->pool, "%.*s/changes?after=%llu&limit=%llu", STR_ARG(tenant_path(call, tenant)),
			(unsigned long long)list[n - 1].id, (unsigned long long)limit);
		doc_set_str(call->pool, doc, "next", call_url(call, path));
	}
	call_write(call, &change_list_document, doc);
	return OUTCOME_OK;
}

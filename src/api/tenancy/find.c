// SPDX-License-Identifier: Apache-2.0
// Finds resources of all tenants, for operators: tenant and address of each, without its content.
#include "base/base.h"

#include "api/documents.h"
#include "api/tenancy/tenancy.h"
#include "base/buf.h"
#include "base/pool.h"
#include "registry/resource/resource.h"
#include "registry/resource/selection.h"
#include "registry/type/type.h"

static struct doc *found_doc(struct call *call, const struct resource *resource)
{
	struct pool *pool = call->pool;
	struct doc *doc = doc_new_object(pool);

	doc_set_str(pool, doc, call_vocabulary(call)->singular, resource->tenant);
	doc_set_str(pool, doc, "type", type_name(pool, resource->type));
	if (resource->type->namespaced)
		doc_set_str(pool, doc, "namespace", resource->space);
	doc_set_str(pool, doc, "name", resource->name);
	doc_set_str(pool, doc, "resource", resource_path(pool, resource->type, resource->space, resource->name));
	doc_set_str(pool, doc, "uid", uuid_str(pool, resource->uid));
	doc_set_str(pool, doc, "created_at", document_time_text(pool, resource->created_us));
	doc_set_str(pool, doc, "updated_at", document_time_text(pool, resource->updated_us));
	if (resource->deleted_us != 0) {
		doc_set_str(pool, doc, "deleted_at", document_time_text(pool, resource->deleted_us));
		doc_set_str(pool, doc, "purge_at", document_time_text(pool, resource->purge_us));
	}
	return doc;
}

static struct str next_url(struct call *call, const struct resource_query *query, struct str marker)
{
	static const char *const kept[] = { "type", "name", "uid" };
	struct buf url = buf_new(call->pool, 256);
	struct str path = tenant_path(call, STR(REALM_WORD_ALL));

	buf_addf(&url, "%.*s/resources", STR_ARG(path));
	tenancy_keep_list(call, query, marker, &url);
	tenancy_keep_params(call, kept, COUNT_OF(kept), &url);
	return call_url(call, buf_str(&url));
}

enum outcome list_all_resources(struct call *call)
{
	struct resource_query query = { 0 };
	struct resource_selected selected;
	struct doc *doc = doc_new_object(call->pool), *items = doc_new_array(call->pool);
	enum outcome outcome = tenancy_read_list(call, &query);

	if (outcome == OUTCOME_OK)
		outcome = tenancy_select_of_all(call, &query, &selected);
	if (outcome != OUTCOME_OK)
		return outcome;
	for (size_t i = 0; i < selected.n; i++)
		doc_push(items, found_doc(call, &selected.list[i]));
	doc_set(doc, STR("resources"), items);
	if (selected.next.p != NULL)
		doc_set_str(call->pool, doc, "next", next_url(call, &query, selected.next));
	call_write(call, tenancy_found_list_document(call_vocabulary(call)), doc);
	return OUTCOME_OK;
}

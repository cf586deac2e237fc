// SPDX-License-Identifier: Apache-2.0
// How many resources of each type a tenant has now; for operators, each tenant.
#include "base/base.h"

#include "api/tenancy/tenancy.h"
#include "base/pool.h"
#include "registry/tenant/tenant.h"
#include "registry/tenant/type_counts.h"

// *counted: how many of the tenants the document is about, from the first.
static enum outcome count(struct call *call, const struct tenant *tenants, size_t n, size_t *counted, struct doc **doc)
{
	struct doc *items = doc_new_array(call->pool);
	struct type_count_row *list;
	size_t n_list = 0;
	enum outcome outcome = OUTCOME_OK;

	*counted = 0;
	if (n > 0)
		outcome = type_counts_list(call->registry, tenants, n, counted, &list, &n_list);
	if (outcome != OUTCOME_OK)
		return outcome;
	for (size_t i = 0; i < n_list; i++) {
		struct doc *item = doc_new_object(call->pool);

		doc_set_str(call->pool, item, call_vocabulary(call)->singular, tenants[list[i].tenant].name);
		doc_set_str(call->pool, item, "type", list[i].type);
		doc_set_u64(call->pool, item, "resources", list[i].resources);
		doc_push(items, item);
	}
	*doc = doc_new_object(call->pool);
	doc_set(*doc, STR("counts"), items);
	return OUTCOME_OK;
}

enum outcome list_counts(struct call *call)
{
	struct tenant tenant;
	struct doc *doc;
	size_t counted;
	enum outcome outcome = tenant_get(call->registry, call_param(call, "tenant"), &tenant);

	if (outcome == OUTCOME_OK)
		outcome = count(call, &tenant, 1, &counted, &doc);
	if (outcome == OUTCOME_OK)
		call_write(call, tenancy_count_list_document(call_vocabulary(call)), doc);
	return outcome;
}

enum outcome list_all_counts(struct call *call)
{
	struct tenant_page page;
	struct doc *doc;
	size_t counted;
	uint64_t limit = 0;
	enum outcome outcome = tenancy_read_limit(call, &limit);

	if (outcome != OUTCOME_OK)
		return outcome;
	outcome = tenant_list(call->registry, call->pool, TENANTS_LIVE, call_param(call, "marker"), limit, &page);
	if (outcome == OUTCOME_OK)
		outcome = count(call, page.list, page.n, &counted, &doc);
	if (outcome != OUTCOME_OK)
		return outcome;
	if (page.more || counted < page.n) {
		struct str all = tenant_path(call, STR(REALM_WORD_ALL));
		struct str path = str_printf(call->pool, "%.*s/counts", STR_ARG(all));
		doc_set_str(call->pool, doc, "next", tenancy_next_url(call, path, limit, page.list[counted - 1].name));
	}
	call_write(call, tenancy_count_list_document(call_vocabulary(call)), doc);
	return OUTCOME_OK;
}

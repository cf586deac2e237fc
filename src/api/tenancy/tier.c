// SPDX-License-Identifier: Apache-2.0
// The tiers that operators may put tenants into.
#include "base/base.h"

#include "api/tenancy/tenancy.h"
#include "base/buf.h"
#include "base/pool.h"
#include "http/uri.h"
#include "registry/tenant/tier.h"

static struct doc *tier_doc(struct call *call, const struct tier *tier)
{
	struct pool *pool = call->pool;
	struct doc *doc = doc_new_object(pool);

	doc_set_str(pool, doc, "name", tier->name);
	if (tier->has_limit)
		doc_set_u64(pool, doc, "max_resources", tier->max_resources);
	if (tier->description.n > 0)
		doc_set_str(pool, doc, "description", tier->description);
	return doc;
}

static struct str next_url(struct call *call, uint64_t limit, struct str marker)
{
	struct buf path = buf_new(call->pool, 128);

	buf_add(&path, tenant_path(call, STR(REALM_WORD_ALL)));
	buf_addf(&path, "/tiers?limit=%llu&marker=", (unsigned long long)limit);
	uri_add_value(&path, marker);
	return call_url(call, buf_str(&path));
}

enum outcome list_tiers(struct call *call)
{
	struct tier *list;
	size_t n;
	bool more;
	uint64_t limit = 0;

	if (!str_to_u64(call_param(call, "limit"), &limit) || limit == 0)
		return call_fail(call, OUTCOME_BAD_PARAMETER, "limit must be a number from 1 to 1000");
	enum outcome outcome = tier_list(call->registry, call_param(call, "marker"), limit, &list, &n, &more);
	if (outcome != OUTCOME_OK)
		return outcome;
	struct doc *doc = doc_new_object(call->pool), *items = doc_new_array(call->pool);
	for (size_t i = 0; i < n; i++)
		doc_push(items, tier_doc(call, &list[i]));
	doc_set(doc, STR("tiers"), items);
	if (more)
		doc_set_str(call->pool, doc, "next", next_url(call, limit, list[n - 1].name));
	call_write(call, &tier_list_document, doc);
	return OUTCOME_OK;
}

// SPDX-License-Identifier: Apache-2.0
// The tiers that operators may put tenants into: they list, make, change and delete them.
#include "base/base.h"

#include "api/tenancy/tenancy.h"
#include "base/buf.h"
#include "base/pool.h"
#include "http/uri.h"
#include "registry/core/failure.h"
#include "registry/tenant/tier.h"

// ---- documents

static struct doc *tier_doc(struct call *call, const struct tier *tier)
{
	struct pool *pool = call->pool;
	struct doc *doc = doc_new_object(pool);

	doc_set_str(pool, doc, "name", tier->name);
	if (tier->has_limit)
		doc_set_u64(pool, doc, "max_resources", tier->max_resources);
	if (tier->description.n > 0)
		doc_set_str(pool, doc, "description", tier->description);
	doc_set_str(pool, doc, "etag", conditions_etag_text(pool, tier->etag));
	return doc;
}

static struct str tiers_path(struct call *call)
{
	struct str path = tenant_path(call, STR(REALM_WORD_ALL));

	return str_printf(call->pool, "%.*s/tiers", STR_ARG(path));
}

static struct str tier_url(struct call *call, struct str name)
{
	struct buf path = buf_new(call->pool, 128);

	buf_add(&path, tiers_path(call));
	buf_addc(&path, '/');
	uri_add_segment(&path, name);
	return call_url(call, buf_str(&path));
}

// ---- reading

enum outcome list_tiers(struct call *call)
{
	struct tier_page page;
	uint64_t limit = 0;
	enum outcome outcome = tenancy_read_limit(call, &limit);

	if (outcome != OUTCOME_OK)
		return outcome;
	outcome = tier_list(call->registry, call_param(call, "marker"), limit, &page);
	if (outcome != OUTCOME_OK)
		return outcome;
	struct doc *doc = doc_new_object(call->pool), *items = doc_new_array(call->pool);
	for (size_t i = 0; i < page.n; i++)
		doc_push(items, tier_doc(call, &page.list[i]));
	doc_set(doc, STR("tiers"), items);
	if (page.more)
		doc_set_str(call->pool, doc, "next", tenancy_next_url(call, tiers_path(call), limit, page.list[page.n - 1].name));
	call_write(call, &tier_list_document, doc);
	return OUTCOME_OK;
}

enum outcome get_tier(struct call *call)
{
	struct conditions conditions;
	struct tier tier;
	uint64_t tenants;
	// The etag does not cover the count of tenants, so If-None-Match would be answered 304 though the count has changed.
	enum outcome outcome = conditions_read_match(call, &conditions);

	if (outcome == OUTCOME_OK)
		outcome = tier_get(call->registry, call_param(call, "tier"), &tier, &tenants);
	if (outcome != OUTCOME_OK)
		return outcome;
	struct guard guard = conditions_guard(&conditions);
	conditions_set_etag(call, tier.etag);
	outcome = guard_check(guard, tier.etag);
	if (outcome != OUTCOME_OK)
		return outcome;
	struct doc *doc = tier_doc(call, &tier);
	doc_set_u64(call->pool, doc, "tenants", tenants);
	call_write(call, &tier_document, doc);
	return OUTCOME_OK;
}

// ---- writing

static enum outcome read_content(struct call *call, struct tier *content)
{
	struct doc *body;
	const struct doc *member;
	enum outcome outcome = call_read(call, &tier_document, &body);

	*content = (struct tier){ .name = call_param(call, "tier"), .description = STR("") };
	if (outcome != OUTCOME_OK)
		return outcome;
	if (doc_get(body, STR("name"), &member) && !str_eq(doc_string(member), content->name))
		return call_fail(call, OUTCOME_BAD_DOCUMENT, "name contradicts the address, which says \"%.*s\": leave it out",
			STR_ARG(content->name));
	content->has_limit = doc_get(body, STR("max_resources"), &member);
	if (content->has_limit && (!doc_u64(member, &content->max_resources) || content->max_resources > TIER_MOST_RESOURCES))
		return call_fail(call, OUTCOME_BAD_DOCUMENT, "max_resources must be a whole number from 0 to %llu; without it there is no limit",
			(unsigned long long)TIER_MOST_RESOURCES);
	if (doc_get(body, STR("description"), &member))
		content->description = doc_string(member);
	if (str_utf8_length(content->description) > TIER_DESCRIPTION_MAX)
		return call_fail(call, OUTCOME_BAD_DOCUMENT, "description may have %d characters", TIER_DESCRIPTION_MAX);
	return OUTCOME_OK;
}

enum outcome put_tier(struct call *call)
{
	struct conditions conditions;
	struct tier content, tier;
	enum outcome outcome = conditions_read(call, &conditions);

	if (outcome == OUTCOME_OK)
		outcome = read_content(call, &content);
	if (outcome == OUTCOME_OK)
		outcome = tier_put(call->registry, &content, conditions_guard(&conditions), &tier);
	if (outcome != OUTCOME_OK && outcome != OUTCOME_CREATED)
		return outcome;
	conditions_set_etag(call, tier.etag);
	call_write(call, &tier_document, tier_doc(call, &tier));
	if (outcome == OUTCOME_CREATED)
		response_set(&call->response, "Location", tier_url(call, tier.name));
	return outcome;
}

enum outcome delete_tier(struct call *call)
{
	struct conditions conditions;
	enum outcome outcome = conditions_read_match(call, &conditions);

	if (outcome == OUTCOME_OK)
		outcome = tier_delete(call->registry, call_param(call, "tier"), conditions_guard(&conditions));
	return outcome;
}

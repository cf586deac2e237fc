// SPDX-License-Identifier: Apache-2.0
// /resource_providers/{uuid}/traits and /resource_providers/{uuid}/aggregates
#include "base/base.h"

#include "api/placement/common/placement.h"
#include "api/placement/common/schema.h"
#include "api/placement/provider/provider.h"
#include "base/pool.h"
#include "registry/placement/aggregate.h"
#include "registry/trait/trait.h"

// ---- schemas

#define GENERATION { "resource_provider_generation", &generation_number }
#define END { NULL, NULL }

static const struct json_schema trait_list = { .types = SCHEMA_ARRAY, .items = &trait_string };
static const struct json_property traits_members[] = { { "traits", &trait_list }, GENERATION, END };
static const char *const traits_required[] = { "traits", "resource_provider_generation", NULL };
static const struct json_schema traits_schema = { .types = SCHEMA_OBJECT, .properties = traits_members,
	.required = traits_required, .closed = true };

static const struct json_schema aggregate_list_schema = { .types = SCHEMA_ARRAY, .items = &uuid_string,
	.unique = true };
static const struct json_property aggregates_members[] = {
	{ "aggregates", &aggregate_list_schema }, GENERATION, END,
};
static const char *const aggregates_required[] = { "aggregates", "resource_provider_generation", NULL };
static const struct json_schema aggregates_schema = { .types = SCHEMA_OBJECT, .properties = aggregates_members,
	.required = aggregates_required, .closed = true };

// ---- traits

static void write_traits(struct call *call, const struct provider *provider)
{
	struct buf json = buf_new(call->pool, 128 + provider->resource.traits.n);

	BUF_LIT(&json, "{\"traits\":");
	buf_add(&json, provider->resource.traits.n > 0 ? provider->resource.traits : STR("[]"));
	placement_add_number(&json, "resource_provider_generation", provider->generation);
	buf_addc(&json, '}');
	placement_answer_json(call, &json);
	placement_answer_cache_headers(call, provider->resource.updated_us);
}

enum outcome get_provider_traits(struct call *call)
{
	struct uuid uid;
	struct provider provider;
	enum outcome outcome = provider_uid(call, &uid);

	if (outcome == OUTCOME_OK)
		outcome = provider_get(call->registry, &uid, &provider);
	if (outcome == OUTCOME_OK)
		write_traits(call, &provider);
	return outcome;
}

static enum outcome change_traits(struct call *call, const struct doc *body, const struct trait_edit *edit,
	struct provider *provider)
{
	struct uuid uid;
	struct conditions conditions;
	struct provider_guard guard;
	enum outcome outcome = provider_uid(call, &uid);

	if (outcome == OUTCOME_OK)
		outcome = provider_read_guard(call, body, &conditions, &guard);
	if (outcome == OUTCOME_OK)
		outcome = provider_change_traits(call->registry, &uid, &guard, edit, provider);
	return outcome;
}

enum outcome put_provider_traits(struct call *call)
{
	struct provider provider;
	const struct doc *body, *list = NULL;
	enum outcome outcome = placement_read_body(call, &traits_schema, &body);
	struct trait_edit edit = { .change = TRAITS_SET };

	if (outcome != OUTCOME_OK)
		return outcome;
	(void)doc_get(body, STR("traits"), &list);
	struct str *names = POOL_ARRAY(call->pool, struct str, doc_length(list));
	for (edit.n = 0; edit.n < doc_length(list); edit.n++)
		names[edit.n] = doc_string(doc_at(list, edit.n));
	edit.names = names;
	outcome = change_traits(call, body, &edit, &provider);
	if (outcome == OUTCOME_OK)
		write_traits(call, &provider);
	return outcome;
}

// The outcome of a call whose answer has no body.
static enum outcome without_answer(enum outcome outcome)
{
	return outcome == OUTCOME_OK ? OUTCOME_NO_CONTENT : outcome;
}

enum outcome delete_provider_traits(struct call *call)
{
	struct provider provider;

	return without_answer(change_traits(call, NULL, &(struct trait_edit){ .change = TRAITS_CLEAR }, &provider));
}

static enum outcome change_one(struct call *call, enum trait_change change)
{
	const struct str name = call_param(call, "name");
	struct provider provider;

	return without_answer(change_traits(call, NULL, &(struct trait_edit){ .change = change, .names = &name, .n = 1 },
		&provider));
}

enum outcome put_provider_trait(struct call *call)
{
	return change_one(call, TRAITS_ADD);
}

enum outcome delete_provider_trait(struct call *call)
{
	return change_one(call, TRAITS_REMOVE);
}

// ---- aggregates

static void write_aggregates(struct call *call, const struct provider *provider, const struct uuid *list, size_t n)
{
	struct buf json = buf_new(call->pool, 96 + 40 * n);

	BUF_LIT(&json, "{\"aggregates\":[");
	for (size_t i = 0; i < n; i++) {
		buf_add(&json, i > 0 ? STR(",\"") : STR("\""));
		uuid_add(&json, list[i]);
		buf_addc(&json, '"');
	}
	buf_addc(&json, ']');
	if (call->version >= VERSION_AGGREGATE_GENERATION)
		placement_add_number(&json, "resource_provider_generation", provider->generation);
	buf_addc(&json, '}');
	placement_answer_json(call, &json);
	placement_answer_cache_headers(call, provider->resource.updated_us);
}

enum outcome get_aggregates(struct call *call)
{
	struct uuid uid, *list;
	struct provider provider;
	size_t n;
	enum outcome outcome = provider_uid(call, &uid);

	if (outcome == OUTCOME_OK)
		outcome = aggregate_list(call->registry, &uid, &provider, &list, &n);
	if (outcome == OUTCOME_OK)
		write_aggregates(call, &provider, list, n);
	return outcome;
}

// The n aggregates that the body names. Before 1.19 the body is the list itself; from then on the list is a member of it.
static struct uuid *take_aggregates(struct call *call, const struct doc *body, size_t *n)
{
	const struct doc *list = body;
	struct uuid *aggregates;

	if (call->version >= VERSION_AGGREGATE_GENERATION)
		(void)doc_get(body, STR("aggregates"), &list);
	aggregates = POOL_ARRAY(call->pool, struct uuid, doc_length(list));
	for (*n = 0; *n < doc_length(list); (*n)++)
		(void)placement_uuid_parse(doc_string(doc_at(list, *n)), &aggregates[*n]);
	return aggregates;
}

enum outcome put_aggregates(struct call *call)
{
	bool with_generation = call->version >= VERSION_AGGREGATE_GENERATION;
	struct uuid uid;
	struct provider provider;
	struct conditions conditions;
	struct provider_guard guard;
	const struct doc *body;
	size_t n;
	enum outcome outcome = provider_uid(call, &uid);

	if (outcome == OUTCOME_OK)
		outcome = provider_read_body(call, &uid, with_generation ? &aggregates_schema : &aggregate_list_schema, &body);
	if (outcome == OUTCOME_OK)
		outcome = provider_read_guard(call, body, &conditions, &guard);
	if (outcome != OUTCOME_OK)
		return outcome;
	struct uuid *list = take_aggregates(call, body, &n);
	outcome = aggregate_set(call->registry, &uid, &guard, with_generation, list, n, &provider);
	if (outcome == OUTCOME_OK)
		write_aggregates(call, &provider, list, n);
	return outcome;
}

// SPDX-License-Identifier: Apache-2.0
// POST /reshaper: replaces inventories of several providers and allocations of several consumers together.
#include "base/base.h"

#include "api/placement/allocation/allocation.h"
#include "api/placement/common/placement.h"
#include "api/placement/common/schema.h"
#include "api/placement/inventory/inventory.h"
#include "base/pool.h"
#include "registry/placement/reshape.h"

#define END { NULL, NULL }

// ---- schemas

static const struct json_pattern_property by_provider[] = { { &uuid_pattern, &inventories_schema }, END };
static const struct json_schema inventories = { .types = SCHEMA_OBJECT, .pattern_properties = by_provider,
	.min_properties = 1, .closed = true };
static const char *const required[] = { "inventories", "allocations", NULL };

// Reads the body. The form of its allocations depends on the request's microversion.
static enum outcome read_reshape(struct call *call, const struct doc **body)
{
	const struct json_property members[] = {
		{ "inventories", &inventories },
		{ "allocations", allocations_schema_reshaped(call->version) },
		END,
	};
	const struct json_schema schema = { .types = SCHEMA_OBJECT, .properties = members, .required = required, .closed = true };

	return placement_read_body(call, &schema, body);
}

// ---- reading the body

static int compare_uuids(const void *a, const void *b)
{
	return memcmp(a, b, sizeof(struct uuid));
}

// Uuids ignore case, so an object may name one provider twice.
static enum outcome check_providers(struct call *call, const struct reshaped_provider *providers, size_t n)
{
	struct uuid *uuids = POOL_ARRAY(call->pool, struct uuid, n);

	for (size_t i = 0; i < n; i++)
		uuids[i] = providers[i].provider;
	qsort(uuids, n, sizeof(*uuids), compare_uuids);
	for (size_t i = 1; i < n; i++) {
		if (uuid_eq(uuids[i - 1], uuids[i]))
			return call_fail(call, OUTCOME_BAD_DOCUMENT, "Resource provider '%.*s' is there twice.",
				UUID_ARG(call->pool, uuids[i]));
	}
	return OUTCOME_OK;
}

// Keeps the order of the document, in which errors are reported.
static enum outcome take_providers(struct call *call, const struct doc *given, struct reshape *reshape)
{
	struct reshaped_provider *providers = POOL_ARRAY(call->pool, struct reshaped_provider, doc_length(given));
	size_t n = 0;

	for (struct doc_iter it = doc_iter(given); doc_next(&it);) {
		struct reshaped_provider *one = &providers[n];
		if (!uuid_parse(it.name, &one->provider))
			continue;
		one->generation = placement_member_generation(it.value, "resource_provider_generation");
		one->inventories = inventory_take(call, it.value, &one->n);
		n++;
	}
	reshape->providers = providers;
	reshape->n_providers = n;
	return check_providers(call, providers, n);
}

enum outcome post_reshaper(struct call *call)
{
	struct reshape reshape = { .n_sets = 0 };
	struct allocation_set *sets;
	const struct doc *body, *given = NULL, *allocations = NULL;
	enum outcome outcome = read_reshape(call, &body);

	if (outcome != OUTCOME_OK)
		return outcome;
	(void)doc_get(body, STR("inventories"), &given);
	(void)doc_get(body, STR("allocations"), &allocations);
	outcome = take_providers(call, given, &reshape);
	if (outcome == OUTCOME_OK)
		outcome = allocation_take_sets(call, allocations, &sets, &reshape.n_sets);
	if (outcome != OUTCOME_OK)
		return outcome;
	reshape.sets = sets;
	return reshape_run(call->registry, &reshape);
}

// SPDX-License-Identifier: Apache-2.0
// /resource_providers/{uuid}/inventories and /resource_providers/{uuid}/usages: capacity and usage of a provider are columns of
// the same rows.
#include "base/base.h"

#include "api/placement/common/placement.h"
#include "api/placement/common/schema.h"
#include "api/placement/inventory/inventory.h"
#include "api/placement/provider/provider.h"
#include "base/clock.h"
#include "base/pool.h"
#include "http/uri.h"
#include "registry/placement/inventory.h"

#define RATIO_MAX 3.40282e+38

// ---- schemas

static const struct json_schema count = { .types = SCHEMA_INTEGER, .has_minimum = true, .minimum = 1,
	.has_maximum = true, .maximum = INVENTORY_MAX };
static const struct json_schema reserved_count = { .types = SCHEMA_INTEGER, .has_minimum = true, .minimum = 0,
	.has_maximum = true, .maximum = INVENTORY_MAX };
static const struct json_schema ratio = { .types = SCHEMA_NUMBER, .has_minimum = true, .minimum = 0,
	.has_maximum = true, .maximum = RATIO_MAX };
static const struct json_schema class_string = { .types = SCHEMA_STRING, .pattern = &class_pattern };

#define COUNTS                                                                                              \
	{ "total", &count }, { "reserved", &reserved_count }, { "min_unit", &count }, { "max_unit", &count },   \
		{ "step_size", &count }, { "allocation_ratio", &ratio }
#define GENERATION { "resource_provider_generation", &generation_number }
#define END { NULL, NULL }

static const struct json_property one_members[] = { GENERATION, COUNTS, END };
static const struct json_property new_members[] = { GENERATION, { "resource_class", &class_string }, COUNTS, END };
static const struct json_property listed_members[] = { GENERATION, COUNTS, END }; // a generation is taken, and ignored
static const char *const one_required[] = { "total", "resource_provider_generation", NULL };
static const char *const new_required[] = { "total", "resource_class", NULL };
static const char *const listed_required[] = { "total", NULL };
static const struct json_schema one_schema = { .types = SCHEMA_OBJECT, .properties = one_members,
	.required = one_required, .closed = true };
static const struct json_schema new_schema = { .types = SCHEMA_OBJECT, .properties = new_members,
	.required = new_required, .closed = true };
static const struct json_schema listed_schema = { .types = SCHEMA_OBJECT, .properties = listed_members,
	.required = listed_required, .closed = true };

static const struct json_pattern_property by_class[] = { { &class_pattern, &listed_schema }, { NULL, NULL } };
// Other names are refused as unknown classes, after the provider's generation was compared; so their values may be anything.
static const struct json_schema listed = { .types = SCHEMA_OBJECT, .pattern_properties = by_class };
static const struct json_property all_members[] = { GENERATION, { "inventories", &listed }, END };
static const char *const all_required[] = { "resource_provider_generation", "inventories", NULL };
const struct json_schema inventories_schema = { .types = SCHEMA_OBJECT, .properties = all_members,
	.required = all_required, .closed = true };

// ---- reading bodies

// The inventory of a document that fits its schema, with the defaults of the API.
static struct inventory take_inventory(const struct doc *doc, struct str class)
{
	struct inventory inventory = {
		.class = class,
		.total = placement_member_u64(doc, "total", 0),
		.reserved = placement_member_u64(doc, "reserved", 0),
		.min_unit = placement_member_u64(doc, "min_unit", 1),
		.max_unit = placement_member_u64(doc, "max_unit", INVENTORY_MAX),
		.step_size = placement_member_u64(doc, "step_size", 1),
		.allocation_ratio = 1.0,
	};
	const struct doc *value;

	if (doc_get(doc, STR("allocation_ratio"), &value))
		(void)doc_double(value, &inventory.allocation_ratio);
	return inventory;
}

// An inventory whose class has a name that no class can have. The registry refuses the name, after the generation and the
// capacities of all inventories; the value, which no schema has checked, must not be refused before.
static struct inventory take_unknown(struct str class)
{
	return (struct inventory){
		.class = class, .total = 1, .min_unit = 1, .max_unit = 1, .step_size = 1, .allocation_ratio = 1.0,
	};
}

struct inventory *inventory_take(struct call *call, const struct doc *body, size_t *n)
{
	const struct doc *list = NULL;
	struct inventory *inventories;

	*n = 0;
	(void)doc_get(body, STR("inventories"), &list);
	inventories = POOL_ARRAY(call->pool, struct inventory, doc_length(list));
	for (struct doc_iter it = doc_iter(list); doc_next(&it);)
		inventories[(*n)++] = class_pattern.allows(class_pattern.arg, it.name) ? take_inventory(it.value, it.name) :
											take_unknown(it.name);
	return inventories;
}

// ---- writing answers

static void add_counts(struct buf *json, const struct inventory *inventory)
{
	placement_add_number(json, "total", inventory->total);
	placement_add_number(json, "reserved", inventory->reserved);
	placement_add_number(json, "min_unit", inventory->min_unit);
	placement_add_number(json, "max_unit", inventory->max_unit);
	placement_add_number(json, "step_size", inventory->step_size);
	placement_add_fraction(json, "allocation_ratio", inventory->allocation_ratio);
}

static void write_one(struct call *call, const struct provider *provider, const struct inventory *inventory)
{
	struct buf json = buf_new(call->pool, 256);

	buf_addc(&json, '{');
	placement_add_number(&json, "resource_provider_generation", provider->generation);
	add_counts(&json, inventory);
	buf_addc(&json, '}');
	placement_answer_json(call, &json);
	placement_answer_cache_headers(call, inventory->updated_us != 0 ? inventory->updated_us : call->registry->now_us);
}

// Appends one member "CLASS":{…} of inventories.
static void add_inventory(struct buf *json, const struct inventory *inventory)
{
	json_add_string(json, inventory->class);
	BUF_LIT(json, ":{");
	add_counts(json, inventory);
	buf_addc(json, '}');
}

static void write_all(struct call *call, const struct provider *provider, const struct inventory *list, size_t n)
{
	struct buf json = buf_new(call->pool, 64 + 160 * n);

	buf_addc(&json, '{');
	placement_add_number(&json, "resource_provider_generation", provider->generation);
	BUF_LIT(&json, ",\"inventories\":{");
	for (size_t i = 0; i < n; i++) {
		if (i > 0)
			buf_addc(&json, ',');
		add_inventory(&json, &list[i]);
	}
	BUF_LIT(&json, "}}");
	placement_answer_json(call, &json);
}

// ---- GET

// A list of a provider's inventories, or of their usages, that is being written.
struct listing {
	struct placement_long answer;
	bool usages;
	int64_t newest; // the time of the latest change, for Last-Modified; 0 if there is none
	bool full;      // the answer is too long: no more is written
};

static void list_one(void *arg, const struct inventory *inventory, struct pool *pool)
{
	struct listing *listing = arg;
	struct buf *json = &listing->answer.json;

	UNUSED(pool);
	if (listing->full)
		return;
	if (listing->answer.n > 0)
		buf_addc(json, ',');
	if (listing->usages) {
		json_add_string(json, inventory->class);
		buf_addc(json, ':');
		buf_add_u64(json, inventory->used);
	} else {
		add_inventory(json, inventory);
	}
	if (inventory->updated_us > listing->newest)
		listing->newest = inventory->updated_us;
	listing->full = !placement_long_next(&listing->answer);
}

// Reads the list and answers with it. The provider's generation is known only when all was read, so it comes last.
static enum outcome write_list(struct listing *listing)
{
	struct call *call = listing->answer.call;
	const struct inventory_taker taker = { list_one, listing };
	struct uuid uid;
	struct provider provider;
	enum outcome outcome = provider_uid(call, &uid);

	if (outcome != OUTCOME_OK)
		return outcome;
	buf_add(&listing->answer.json, listing->usages ? STR("{\"usages\":{") : STR("{\"inventories\":{"));
	outcome = inventory_list(call->registry, &uid, &provider, &taker);
	if (outcome != OUTCOME_OK)
		return outcome;
	BUF_LIT(&listing->answer.json, "},\"resource_provider_generation\":");
	buf_add_u64(&listing->answer.json, provider.generation);
	buf_addc(&listing->answer.json, '}');
	return placement_long_end(&listing->answer);
}

enum outcome list_inventories(struct call *call)
{
	struct listing listing = { .answer = placement_long_begin(call) };
	enum outcome outcome = write_list(&listing);

	if (outcome == OUTCOME_OK)
		placement_answer_cache_headers(call, listing.newest);
	return outcome;
}

enum outcome get_inventory(struct call *call)
{
	struct uuid uid;
	struct provider provider;
	struct inventory inventory;
	enum outcome outcome = provider_uid(call, &uid);

	if (outcome == OUTCOME_OK)
		outcome = inventory_get(call->registry, &uid, call_param(call, "resource_class"), &provider, &inventory);
	if (outcome == OUTCOME_OK)
		write_one(call, &provider, &inventory);
	return outcome;
}

enum outcome list_usages(struct call *call)
{
	struct listing listing = { .answer = placement_long_begin(call), .usages = true };
	enum outcome outcome = write_list(&listing);

	if (outcome == OUTCOME_OK)
		placement_answer_cache_headers(call, clock_now_us());
	return outcome;
}

// ---- PUT, POST, DELETE

// A request that writes inventories.
struct writing {
	struct uuid uid;
	const struct doc *body;
	struct conditions conditions;
	struct inventory_write write;
	struct inventory *inventories; // the only one, if the request writes one
	struct provider provider;      // as it is after the write
};

// Reads the address, the body (schema NULL: it has none) and the preconditions. The generation in the body of a POST is none, as
// in OpenStack's service: POST replaces nothing, and is refused if the class has an inventory.
static enum outcome begin(struct call *call, const struct json_schema *schema, struct writing *writing)
{
	enum outcome outcome = provider_uid(call, &writing->uid);

	writing->body = NULL;
	writing->write = (struct inventory_write){ .may_reserve_all = call->version >= VERSION_RESERVE_ALL };
	if (outcome == OUTCOME_OK && schema != NULL)
		outcome = provider_read_body(call, &writing->uid, schema, &writing->body);
	if (outcome == OUTCOME_OK)
		outcome = provider_read_guard(call, call->request.method == METHOD_POST ? NULL : writing->body, &writing->conditions, &writing->write.guard);
	return outcome;
}

// Takes the only inventory that the request writes.
static void take_one(struct call *call, struct writing *writing, struct str class)
{
	writing->inventories = POOL_NEW(call->pool, struct inventory);
	*writing->inventories = take_inventory(writing->body, class);
	writing->write.inventories = writing->inventories;
	writing->write.n = 1;
}

enum outcome create_inventory(struct call *call)
{
	struct writing writing;
	enum outcome outcome = begin(call, &new_schema, &writing);

	if (outcome != OUTCOME_OK)
		return outcome;
	take_one(call, &writing, placement_member_str(writing.body, "resource_class"));
	outcome = inventory_add(call->registry, &writing.uid, &writing.write, &writing.provider);
	if (outcome != OUTCOME_CREATED)
		return outcome;
	placement_set_location(call, "/resource_providers/%.*s/inventories/%.*s", UUID_ARG(call->pool, writing.uid),
		STR_ARG(writing.inventories->class));
	write_one(call, &writing.provider, writing.inventories);
	return outcome;
}

enum outcome put_inventory(struct call *call)
{
	struct writing writing;
	enum outcome outcome = begin(call, &one_schema, &writing);

	if (outcome != OUTCOME_OK)
		return outcome;
	take_one(call, &writing, call_param(call, "resource_class"));
	outcome = inventory_change(call->registry, &writing.uid, &writing.write, &writing.provider);
	if (outcome == OUTCOME_OK)
		write_one(call, &writing.provider, writing.inventories);
	return outcome;
}

enum outcome put_inventories(struct call *call)
{
	struct writing writing;
	enum outcome outcome = begin(call, &inventories_schema, &writing);

	if (outcome != OUTCOME_OK)
		return outcome;
	writing.write.inventories = inventory_take(call, writing.body, &writing.write.n);
	outcome = inventory_set_all(call->registry, &writing.uid, &writing.write, &writing.provider);
	if (outcome != OUTCOME_OK)
		return outcome;
	write_all(call, &writing.provider, writing.write.inventories, writing.write.n);
	placement_answer_cache_headers(call, writing.write.n > 0 ? call->registry->now_us : 0);
	return outcome;
}

enum outcome delete_inventory(struct call *call)
{
	struct writing writing;
	enum outcome outcome = begin(call, NULL, &writing);

	if (outcome == OUTCOME_OK)
		outcome = inventory_delete(call->registry, &writing.uid, call_param(call, "resource_class"),
			&writing.write.guard, &writing.provider);
	return outcome;
}

enum outcome delete_inventories(struct call *call)
{
	struct writing writing;
	enum outcome outcome = begin(call, NULL, &writing);

	if (outcome == OUTCOME_OK)
		outcome = inventory_delete_all(call->registry, &writing.uid, &writing.write.guard, &writing.provider);
	return outcome;
}

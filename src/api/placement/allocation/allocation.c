// SPDX-License-Identifier: Apache-2.0
// /allocations, /resource_providers/{uuid}/allocations and /usages
#include "base/base.h"

#include "api/placement/allocation/allocation.h"
#include "api/placement/common/placement.h"
#include "api/placement/common/schema.h"
#include "api/placement/provider/provider.h"
#include "base/clock.h"
#include "base/pool.h"
#include "registry/placement/allocation.h"

// ---- reading bodies

static enum outcome consumer_uid(struct call *call, struct uuid *uid)
{
	struct str text = call_param(call, "consumer_uuid");

	if (placement_uuid_parse(text, uid))
		return OUTCOME_OK;
	return call_fail(call, OUTCOME_BAD_PARAMETER, "Malformed consumer_uuid: %.*s", STR_ARG(placement_shorten(text, 255)));
}

struct gathering {
	struct call *call;
	struct allocation *list;
	size_t n, room;
	bool too_much; // an amount is larger than any inventory can be
};

static void add_allocation(struct gathering *all, struct allocation one)
{
	if (all->n == all->room) {
		size_t room = all->room > 0 ? 2 * all->room : 16;
		struct allocation *list = POOL_ARRAY(all->call->pool, struct allocation, room);
		for (size_t i = 0; i < all->n; i++)
			list[i] = all->list[i];
		all->list = list;
		all->room = room;
	}
	all->list[all->n++] = one;
	all->too_much = all->too_much || one.amount > INVENTORY_MAX;
}

static void add_resources(struct gathering *all, struct uuid provider, const struct doc *value)
{
	const struct doc *resources = NULL;

	(void)doc_get(value, STR("resources"), &resources);
	for (struct doc_iter it = doc_iter(resources); doc_next(&it);) {
		uint64_t amount = 0;
		double fraction;
		if (!doc_u64(it.value, &amount) && doc_double(it.value, &fraction))
			amount = (uint64_t)fraction;
		add_allocation(all, (struct allocation){ provider, it.name, amount });
	}
}

// Before version 1.12 it is a list, from then on an object whose names are the providers' uuids.
static void gather(struct gathering *all, const struct doc *allocations)
{
	const struct doc *provider;
	struct uuid uuid;

	for (size_t i = 0; doc_kind(allocations) == DOC_ARRAY && i < doc_length(allocations); i++) {
		if (doc_get(doc_at(allocations, i), STR("resource_provider"), &provider) &&
		    placement_uuid_parse(placement_member_str(provider, "uuid"), &uuid))
			add_resources(all, uuid, doc_at(allocations, i));
	}
	for (struct doc_iter it = doc_iter(allocations); doc_kind(allocations) == DOC_OBJECT && doc_next(&it);) {
		if (uuid_parse(it.name, &uuid))
			add_resources(all, uuid, it.value);
	}
}

static int compare_allocations(const void *a, const void *b)
{
	const struct allocation *one = a, *other = b;
	int order = memcmp(&one->provider, &other->provider, sizeof(one->provider));

	return order != 0 ? order : str_cmp(one->class, other->class);
}

// A uuid can be written in several ways, so one object may name a provider twice.
static enum outcome check_pairs(struct gathering *all)
{
	if (all->n > 1)
		qsort(all->list, all->n, sizeof(*all->list), compare_allocations);
	for (size_t i = 1; i < all->n; i++) {
		if (compare_allocations(&all->list[i - 1], &all->list[i]) == 0)
			return call_fail(all->call, OUTCOME_BAD_DOCUMENT,
				"Allocation of %.*s for resource provider '%.*s' is there twice.",
				STR_ARG(placement_shorten(all->list[i].class, 255)), STR_ARG(uuid_str(all->call->pool,
				all->list[i].provider)));
	}
	if (all->too_much)
		return call_fail(all->call, OUTCOME_CONFLICT,
			"Unable to allocate inventory: an amount may be %d at most.", INVENTORY_MAX);
	return OUTCOME_OK;
}

static enum outcome take_set(struct call *call, struct uuid consumer, const struct doc *doc,
	struct allocation_set *set)
{
	struct gathering all = { .call = call };
	const struct doc *generation, *allocations = NULL;

	(void)doc_get(doc, STR("allocations"), &allocations);
	gather(&all, allocations);
	enum outcome outcome = check_pairs(&all);
	*set = (struct allocation_set){
		.consumer = consumer,
		.project = placement_member_str(doc, "project_id"),
		.user = placement_member_str(doc, "user_id"),
		.type = placement_member_str(doc, "consumer_type"),
		.allocations = all.list,
		.n = all.n,
	};
	if (doc_get(doc, STR("consumer_generation"), &generation)) {
		set->check = generation == NULL ? CONSUMER_IS_NEW : CONSUMER_IS_AT;
		set->generation = placement_member_generation(doc, "consumer_generation");
	}
	return outcome;
}

// ---- writing

enum outcome put_allocations(struct call *call)
{
	struct uuid consumer;
	struct allocation_set set;
	const struct doc *body;
	enum outcome outcome = consumer_uid(call, &consumer);

	if (outcome == OUTCOME_OK)
		outcome = placement_read_body(call, allocations_schema(call->version), &body);
	if (outcome == OUTCOME_OK)
		outcome = take_set(call, consumer, body, &set);
	if (outcome == OUTCOME_OK)
		outcome = allocations_write(call->registry, &set, 1,
			str_printf(call->pool, "Unable to allocate inventory for consumer %.*s:", STR_ARG(uuid_str(call->pool,
			consumer))));
	return outcome;
}

static int compare_sets(const void *a, const void *b)
{
	const struct allocation_set *one = a, *other = b;

	return memcmp(&one->consumer, &other->consumer, sizeof(one->consumer));
}

static enum outcome check_consumers(struct call *call, struct allocation_set *sets, size_t n)
{
	if (n > 1)
		qsort(sets, n, sizeof(*sets), compare_sets);
	for (size_t i = 1; i < n; i++) {
		if (compare_sets(&sets[i - 1], &sets[i]) == 0)
			return call_fail(call, OUTCOME_BAD_DOCUMENT, "Consumer '%.*s' is there twice.",
				STR_ARG(uuid_str(call->pool, sets[i].consumer)));
	}
	return OUTCOME_OK;
}

enum outcome allocation_take_sets(struct call *call, const struct doc *body, struct allocation_set **sets, size_t *n)
{
	enum outcome outcome = OUTCOME_OK;
	struct uuid consumer;

	*n = 0;
	*sets = POOL_ARRAY(call->pool, struct allocation_set, doc_length(body));
	for (struct doc_iter it = doc_iter(body); outcome == OUTCOME_OK && doc_next(&it);) {
		if (uuid_parse(it.name, &consumer))
			outcome = take_set(call, consumer, it.value, &(*sets)[(*n)++]);
	}
	return outcome == OUTCOME_OK ? check_consumers(call, *sets, *n) : outcome;
}

enum outcome post_allocations(struct call *call)
{
	const struct doc *body;
	struct allocation_set *sets;
	size_t n;
	enum outcome outcome = placement_read_body(call, allocations_schema_many(call->version), &body);

	if (outcome == OUTCOME_OK)
		outcome = allocation_take_sets(call, body, &sets, &n);
	return outcome == OUTCOME_OK ? allocations_write(call->registry, sets, n, STR("Unable to allocate inventory")) : outcome;
}

enum outcome delete_allocations(struct call *call)
{
	struct uuid consumer;

	// An id that can't be a consumer's has no allocations.
	if (!placement_uuid_parse(call_param(call, "consumer_uuid"), &consumer))
		return call_fail(call, OUTCOME_NOT_FOUND, "No allocations for consumer '%.*s'",
			STR_ARG(placement_shorten(call_param(call, "consumer_uuid"), 255)));
	return allocations_delete(call->registry, &consumer);
}

// ---- answers

static int64_t newest_of(const struct allocated *list, size_t n)
{
	int64_t newest = 0;

	for (size_t i = 0; i < n; i++)
		newest = list[i].updated_us > newest ? list[i].updated_us : newest;
	return n > 0 ? newest : clock_now_us();
}

// Appends one member "CLASS":N of an object.
static void add_amount(struct buf *json, struct str class, uint64_t amount)
{
	if (json->p[json->n - 1] != '{')
		buf_addc(json, ',');
	json_add_string(json, class);
	buf_addc(json, ':');
	buf_add_u64(json, amount);
}

// Appends all allocations from item i on with the same provider, or the same consumer. Returns the index behind them.
static size_t add_same(struct buf *json, const struct allocated *list, size_t n, size_t i, bool by_provider)
{
	size_t first = i;

	placement_add_name(json, "resources");
	buf_addc(json, '{');
	for (; i < n; i++) {
		if (!(by_provider ? uuid_eq(list[i].provider, list[first].provider) :
				    uuid_eq(list[i].consumer.uid, list[first].consumer.uid)))
			break;
		add_amount(json, list[i].class, list[i].used);
	}
	buf_addc(json, '}');
	return i;
}

static void add_key(struct buf *json, struct uuid uuid)
{
	if (json->p[json->n - 1] != '{')
		buf_addc(json, ',');
	buf_addc(json, '"');
	uuid_add(json, uuid);
	BUF_LIT(json, "\":{");
}

static void add_consumer(struct call *call, struct buf *json, const struct consumer *consumer)
{
	if (call->version >= VERSION_ALLOCATIONS_BY_PROVIDER) {
		placement_add_string(json, "project_id", consumer->project);
		placement_add_string(json, "user_id", consumer->user);
	}
	if (call->version >= VERSION_CONSUMER_GENERATION)
		placement_add_number(json, "consumer_generation", consumer->generation);
	if (call->version >= VERSION_CONSUMER_TYPE)
		placement_add_string(json, "consumer_type", consumer->type);
}

enum outcome get_allocations(struct call *call)
{
	struct uuid uid;
	struct consumer consumer;
	struct allocated *list = NULL;
	struct buf json = buf_new(call->pool, 512);
	size_t n = 0;
	enum outcome outcome = OUTCOME_OK;

	// An id that can't be a consumer's has no allocations.
	if (placement_uuid_parse(call_param(call, "consumer_uuid"), &uid))
		outcome = allocations_of_consumer(call->registry, &uid, &consumer, &list, &n);
	if (outcome != OUTCOME_OK)
		return outcome;
	BUF_LIT(&json, "{\"allocations\":{");
	for (size_t i = 0; i < n;) {
		add_key(&json, list[i].provider);
		placement_add_number(&json, "generation", list[i].provider_generation);
		i = add_same(&json, list, n, i, true);
		buf_addc(&json, '}');
	}
	buf_addc(&json, '}');
	if (n > 0)
		add_consumer(call, &json, &consumer);
	buf_addc(&json, '}');
	placement_answer_json(call, &json);
	placement_answer_cache_headers(call, newest_of(list, n));
	return OUTCOME_OK;
}

enum outcome list_provider_allocations(struct call *call)
{
	struct uuid uid;
	struct provider provider;
	struct allocated *list;
	struct buf json = buf_new(call->pool, 512);
	size_t n;
	enum outcome outcome = provider_uid(call, &uid);

	if (outcome == OUTCOME_OK)
		outcome = allocations_of_provider(call->registry, &uid, &provider, &list, &n);
	if (outcome != OUTCOME_OK)
		return outcome;
	BUF_LIT(&json, "{\"allocations\":{");
	for (size_t i = 0; i < n;) {
		add_key(&json, list[i].consumer.uid);
		if (call->version >= VERSION_CONSUMER_GENERATION)
			placement_add_number(&json, "consumer_generation", list[i].consumer.generation);
		i = add_same(&json, list, n, i, false);
		buf_addc(&json, '}');
	}
	buf_addc(&json, '}');
	placement_add_number(&json, "resource_provider_generation", provider.generation);
	buf_addc(&json, '}');
	placement_answer_json(call, &json);
	placement_answer_cache_headers(call, newest_of(list, n));
	return OUTCOME_OK;
}

// ---- usages of a project

static const char *const usages_required[] = { "project_id", NULL };
static const struct json_property usages_members[] = {
	{ "project_id", &identity_string }, { "user_id", &identity_string }, { NULL, NULL },
};
static const struct json_property typed_members[] = {
	{ "project_id", &identity_string }, { "user_id", &identity_string }, { "consumer_type", &consumer_type_asked },
	{ NULL, NULL },
};
static const struct json_schema usages_schema = { .types = SCHEMA_OBJECT, .properties = usages_members,
	.required = usages_required, .closed = true };
static const struct json_schema typed_schema = { .types = SCHEMA_OBJECT, .properties = typed_members,
	.required = usages_required, .closed = true };

static enum outcome read_usage_query(struct call *call, struct usage_query *query)
{
	bool typed = call->version >= VERSION_CONSUMER_TYPE;
	const struct doc *given;
	enum outcome outcome = placement_read_query(call, typed ? &typed_schema : &usages_schema, &given);

	if (outcome != OUTCOME_OK)
		return outcome;
	struct str type = placement_member_str(given, "consumer_type");
	bool all = str_eq(type, STR("all"));
	*query = (struct usage_query){
		.project = placement_member_str(given, "project_id"),
		.user = placement_member_str(given, "user_id"),
		.type = all ? STR_NONE : type,
		.by_type = typed && !all,
	};
	return OUTCOME_OK;
}

// May the caller ask about that project? A project is the tenant of that name.
static enum outcome may_ask_about(struct call *call, struct str project)
{
	const struct principal *who = &call->who;

	if (who->user.n == 0)
		return call_fail(call, OUTCOME_UNAUTHENTICATED, "this needs a credential");
	if (call->placement_policy != NULL)
		return placement_policy_check(call, PLACEMENT_TOTAL_USAGES, &(struct oslo_target){ .project = project });
	if (openstack_scope_may_all(who))
		return OUTCOME_OK;
	if (who->role == ROLE_OPERATOR || who->reads_all || (who->tenant.n > 0 && str_eq(who->tenant, project)))
		return OUTCOME_OK;
	return call_fail(call, OUTCOME_FORBIDDEN, "Usages of other projects than one's own are the operator's to see.");
}

static void add_usages(struct buf *json, const struct usage_group *group)
{
	for (size_t i = 0; i < group->n; i++)
		add_amount(json, group->usages[i].class, group->usages[i].used);
}

enum outcome get_total_usages(struct call *call)
{
	struct usage_query query;
	struct usage_group *groups;
	struct buf json = buf_new(call->pool, 512);
	size_t n;
	enum outcome outcome = read_usage_query(call, &query);

	if (outcome == OUTCOME_OK)
		outcome = may_ask_about(call, query.project);
	if (outcome == OUTCOME_OK)
		outcome = usages_total(call->registry, &query, &groups, &n);
	if (outcome != OUTCOME_OK)
		return outcome;
	BUF_LIT(&json, "{\"usages\":{");
	for (size_t i = 0; i < n; i++) {
		if (call->version < VERSION_CONSUMER_TYPE) {
			add_usages(&json, &groups[i]);
			continue;
		}
		if (i > 0)
			buf_addc(&json, ',');
		json_add_string(&json, groups[i].type);
		BUF_LIT(&json, ":{");
		placement_add_number(&json, "consumer_count", groups[i].consumers);
		add_usages(&json, &groups[i]);
		buf_addc(&json, '}');
	}
	BUF_LIT(&json, "}}");
	placement_answer_json(call, &json);
	placement_answer_cache_headers(call, clock_now_us());
	return OUTCOME_OK;
}

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
	return call_fail(call, OUTCOME_BAD_PARAMETER, "Malformed consumer_uuid: %.*s", STR_HEAD_ARG(text, 255));
}

// The allocations of one consumer, while they are read.
struct gathering {
	struct call *call;
	struct allocation *list;
	size_t n, room;
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

// Adds all allocations of the member "allocations". Before version 1.12 that is a list, from then on an object whose names are
// the providers' uuids.
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

// Refuses a class that is named twice for one provider. A uuid can be written in several ways, so an object may name a provider
// twice.
static enum outcome check_pairs(struct gathering *all)
{
	if (all->n > 1)
		qsort(all->list, all->n, sizeof(*all->list), compare_allocations);
	for (size_t i = 1; i < all->n; i++) {
		if (compare_allocations(&all->list[i - 1], &all->list[i]) == 0)
			return call_fail(all->call, OUTCOME_BAD_DOCUMENT,
				"Allocation of %.*s for resource provider '%.*s' is there twice.",
				STR_HEAD_ARG(all->list[i].class, 255), UUID_ARG(all->call->pool, all->list[i].provider));
	}
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
			str_printf(call->pool, "Unable to allocate inventory for consumer %.*s:", UUID_ARG(call->pool, consumer)));
	return outcome;
}

static int compare_sets(const void *a, const void *b)
{
	const struct allocation_set *one = a, *other = b;

	return memcmp(&one->consumer, &other->consumer, sizeof(one->consumer));
}

// Sorts the sets by consumer, and refuses a consumer that is named twice.
static enum outcome check_consumers(struct call *call, struct allocation_set *sets, size_t n)
{
	if (n > 1)
		qsort(sets, n, sizeof(*sets), compare_sets);
	for (size_t i = 1; i < n; i++) {
		if (compare_sets(&sets[i - 1], &sets[i]) == 0)
			return call_fail(call, OUTCOME_BAD_DOCUMENT, "Consumer '%.*s' is there twice.",
				UUID_ARG(call->pool, sets[i].consumer));
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
	struct str text = call_param(call, "consumer_uuid");
	struct uuid consumer;

	// An id that can't be a consumer's has no allocations.
	if (!placement_uuid_parse(text, &consumer))
		return call_fail(call, OUTCOME_NOT_FOUND, "No allocations for consumer '%.*s'", STR_HEAD_ARG(text, 255));
	return allocations_delete(call->registry, &consumer);
}

// ---- answers

// A list of allocations that is being written: an object with a member for each provider, or each consumer. That is an object
// itself, whose member "resources" has the classes.
struct listing {
	struct placement_long answer;
	bool of_consumer;         // the list is of one consumer, so its members are providers; else they are consumers
	struct uuid last;         // the member that is being written
	struct consumer consumer; // of the first allocation; its texts live in the call's pool
	int64_t newest;           // the time of the latest change, for Last-Modified
	bool full;                // the answer is too long: no more is written
};

static void begin_member(struct listing *listing, const struct allocated *allocated)
{
	struct call *call = listing->answer.call;
	struct buf *json = &listing->answer.json;

	buf_add(json, listing->answer.n > 0 ? STR("}},\"") : STR("\""));
	uuid_add(json, listing->last);
	BUF_LIT(json, "\":{");
	if (listing->of_consumer)
		placement_add_number(json, "generation", allocated->provider_generation);
	else if (call->version >= VERSION_CONSUMER_GENERATION)
		placement_add_number(json, "consumer_generation", allocated->consumer.generation);
	placement_add_name(json, "resources");
	buf_addc(json, '{');
}

static void list_one(void *arg, const struct allocated *allocated, struct pool *pool)
{
	struct listing *listing = arg;
	struct buf *json = &listing->answer.json;
	struct uuid uid = listing->of_consumer ? allocated->provider : allocated->consumer.uid;
	struct pool *kept = listing->answer.call->pool;

	UNUSED(pool);
	if (listing->full)
		return;
	if (listing->answer.n == 0) {
		listing->consumer = allocated->consumer;
		listing->consumer.project = str_dup(kept, allocated->consumer.project);
		listing->consumer.user = str_dup(kept, allocated->consumer.user);
		listing->consumer.type = str_dup(kept, allocated->consumer.type);
	}
	if (listing->answer.n == 0 || !uuid_eq(uid, listing->last)) {
		listing->last = uid;
		begin_member(listing, allocated);
	} else {
		buf_addc(json, ',');
	}
	json_add_string(json, allocated->class);
	buf_addc(json, ':');
	buf_add_u64(json, allocated->used);
	if (allocated->updated_us > listing->newest)
		listing->newest = allocated->updated_us;
	listing->full = !placement_long_next(&listing->answer);
}

static enum outcome end_list(struct listing *listing)
{
	buf_addc(&listing->answer.json, '}');
	placement_answer_cache_headers(listing->answer.call, listing->answer.n > 0 ? listing->newest : clock_now_us());
	return placement_long_end(&listing->answer);
}

// Appends the consumer's own members, after those that json has.
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
	struct listing listing = { .answer = placement_long_begin(call), .of_consumer = true };
	const struct allocated_taker taker = { list_one, &listing };
	struct buf *json = &listing.answer.json;
	struct uuid uid;
	enum outcome outcome = OUTCOME_OK;

	BUF_LIT(json, "{\"allocations\":{");
	// An id that can't be a consumer's has no allocations.
	if (placement_uuid_parse(call_param(call, "consumer_uuid"), &uid))
		outcome = allocations_of_consumer(call->registry, &uid, &taker);
	if (outcome != OUTCOME_OK)
		return outcome;
	buf_add(json, listing.answer.n > 0 ? STR("}}}") : STR("}"));
	if (listing.answer.n > 0) {
		consumer_concerns(call->registry, listing.consumer.project);
		add_consumer(call, json, &listing.consumer);
	}
	return end_list(&listing);
}

enum outcome list_provider_allocations(struct call *call)
{
	struct listing listing = { .answer = placement_long_begin(call) };
	const struct allocated_taker taker = { list_one, &listing };
	struct buf *json = &listing.answer.json;
	struct uuid uid;
	struct provider provider;
	enum outcome outcome = provider_uid(call, &uid);

	BUF_LIT(json, "{\"allocations\":{");
	if (outcome == OUTCOME_OK)
		outcome = allocations_of_provider(call->registry, &uid, &provider, &taker);
	if (outcome != OUTCOME_OK)
		return outcome;
	buf_add(json, listing.answer.n > 0 ? STR("}}}") : STR("}"));
	placement_add_number(json, "resource_provider_generation", provider.generation);
	return end_list(&listing);
}

// ---- usages of a project

static const char *const usages_required[] = { "project_id", NULL };
static const struct json_property usages_members[] = {
	{ "project_id", &identity_string }, { "user_id", &identity_string }, { NULL, NULL },
};
static const struct json_property typed_members[] = {
	{ "project_id", &identity_string }, { "user_id", &identity_string }, { "consumer_type", &consumer_type_or_all },
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

// May the caller see the usages of the query's project? The step "permit" could not decide this. Rights are checked before the
// query, because clients renew an expired token after a 401.
static enum outcome permit_project(struct call *call)
{
	const struct uri *uri = &call->request.uri;
	struct str project = STR_NONE; // the last value counts, as everywhere; of none, usages are refused to whoever may not see all

	for (size_t i = 0; i < uri->n_pairs; i++) {
		if (str_eq_c(uri->pairs[i].name, "project_id"))
			project = uri->pairs[i].value;
	}
	enum outcome outcome = principal_may_see_usages(&call->who, project);

	if (outcome == OUTCOME_UNAUTHENTICATED)
		return call_fail(call, outcome, "this needs a credential");
	if (call->placement_policy != NULL)
		return placement_policy_check(call, PLACEMENT_TOTAL_USAGES, &(struct oslo_target){ .project = project });
	if (outcome != OUTCOME_OK)
		return call_fail(call, outcome, "Usages of other projects than one's own are the operator's to see.");
	return OUTCOME_OK;
}

// Usages that are being written.
struct usages {
	struct placement_long answer;
	struct str type; // the type whose member is being written
	bool full;       // the answer is too long: no more is written
};

// From 1.38 on each type is a member, with the number of its consumers; before, the classes are members.
static void list_usage(void *arg, const struct usage *usage, struct pool *pool)
{
	struct usages *usages = arg;
	struct call *call = usages->answer.call;
	struct buf *json = &usages->answer.json;
	bool first = usages->answer.n == 0;

	UNUSED(pool);
	if (usages->full)
		return;
	if (call->version >= VERSION_CONSUMER_TYPE && (first || !str_eq(usage->type, usages->type))) {
		usages->type = str_dup(call->pool, usage->type);
		buf_add(json, first ? STR_NONE : STR("},"));
		json_add_string(json, usage->type);
		BUF_LIT(json, ":{\"consumer_count\":");
		buf_add_u64(json, usage->consumers);
		first = false;
	}
	buf_add(json, first ? STR_NONE : STR(","));
	json_add_string(json, usage->class);
	buf_addc(json, ':');
	buf_add_u64(json, usage->used);
	usages->full = !placement_long_next(&usages->answer);
}

enum outcome get_total_usages(struct call *call)
{
	struct usage_query query;
	struct usages usages = { .answer = placement_long_begin(call) };
	const struct usage_taker taker = { list_usage, &usages };
	enum outcome outcome = permit_project(call);

	BUF_LIT(&usages.answer.json, "{\"usages\":{");
	if (outcome == OUTCOME_OK)
		outcome = read_usage_query(call, &query);
	if (outcome == OUTCOME_OK)
		outcome = usages_total(call->registry, &query, &taker);
	if (outcome != OUTCOME_OK)
		return outcome;
	buf_add(&usages.answer.json, call->version >= VERSION_CONSUMER_TYPE && usages.answer.n > 0 ? STR("}}}") : STR("}}"));
	placement_answer_cache_headers(call, clock_now_us());
	return placement_long_end(&usages.answer);
}

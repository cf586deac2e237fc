// SPDX-License-Identifier: Apache-2.0
#include "base/base.h"

#include "manage/placement/answers.h"

#include "base/pool.h"
#include "registry/placement/aggregate.h"
#include "repr/json/doc.h"

// A record that is being collected: the registry's functions hand over lists element by element, in memory that they reuse for
// the next.
struct collecting {
	struct pool *pool;
	size_t room;
	struct provider_record *provider;
	struct consumer_record *consumer;
};

static void *grown(struct collecting *collecting, void *list, size_t n, size_t size)
{
	if (n < collecting->room)
		return list;
	collecting->room = collecting->room > 0 ? 2 * collecting->room : 16;
	void *larger = pool_calloc(collecting->pool, collecting->room, size);
	if (n > 0)
		memcpy(larger, list, n * size);
	return larger;
}

static void take_inventory(void *arg, const struct inventory *inventory, struct pool *pool)
{
	struct collecting *collecting = arg;
	struct provider_record *record = collecting->provider;

	UNUSED(pool);
	record->inventories = grown(collecting, record->inventories, record->n_inventories, sizeof(*inventory));
	record->inventories[record->n_inventories] = *inventory;
	record->inventories[record->n_inventories++].class = str_dup(collecting->pool, inventory->class);
}

static void take_traits(struct pool *pool, struct str text, struct provider_record *record)
{
	const struct doc_limits limits = { .depth = 2 };
	struct doc *traits = NULL;
	struct str error;

	if (text.n == 0 || !doc_parse_json(pool, text, limits, &traits, &error))
		return;
	record->traits = POOL_ARRAY(pool, struct str, doc_elements(traits));
	for (size_t i = 0; i < doc_elements(traits); i++)
		record->traits[record->n_traits++] = doc_string(doc_at(traits, i));
}

enum outcome answers_of_provider(struct registry *registry, struct pool *pool, const struct uuid *uid,
	struct provider_record *record)
{
	struct collecting collecting = { .pool = pool, .provider = record };
	const struct inventory_taker taker = { take_inventory, &collecting };
	struct provider provider;
	enum outcome outcome = provider_get(registry, uid, &provider);

	*record = (struct provider_record){ .uid = *uid };
	if (outcome != OUTCOME_OK)
		return outcome;
	record->name = str_dup(pool, provider.name);
	record->has_parent = provider.has_parent;
	record->parent = provider.parent;
	record->root = provider.root;
	record->generation = provider.generation;
	take_traits(pool, str_dup(pool, provider.resource.traits), record);
	outcome = inventory_list(registry, uid, &provider, &taker);
	return outcome == OUTCOME_OK ? aggregate_list(registry, uid, &provider, &record->aggregates, &record->n_aggregates)
				     : outcome;
}

static void take_allocation(void *arg, const struct allocated *allocated, struct pool *pool)
{
	struct collecting *collecting = arg;
	struct consumer_record *record = collecting->consumer;
	struct consumer *consumer = &record->consumer;

	UNUSED(pool);
	if (record->n_allocations == 0) {
		*consumer = allocated->consumer;
		consumer->project = str_dup(collecting->pool, consumer->project);
		consumer->user = str_dup(collecting->pool, consumer->user);
		consumer->type = str_eq(consumer->type, STR(CONSUMER_TYPE_UNKNOWN)) ? STR_NONE
										     : str_dup(collecting->pool, consumer->type);
	}
	record->allocations =
		grown(collecting, record->allocations, record->n_allocations, sizeof(*record->allocations));
	record->allocations[record->n_allocations++] = (struct allocation){ allocated->provider,
		str_dup(collecting->pool, allocated->class), allocated->used };
}

enum outcome answers_of_consumer(struct registry *registry, struct pool *pool, const struct uuid *uid,
	struct consumer_record *record)
{
	struct collecting collecting = { .pool = pool, .consumer = record };
	const struct allocated_taker taker = { take_allocation, &collecting };

	*record = (struct consumer_record){ .consumer = { .uid = *uid } };
	return allocations_of_consumer(registry, uid, &taker);
}

// The allocations of a consumer as one of its providers lists them.
struct agreement {
	const struct consumer_record *record;
	struct uuid provider;
	size_t found, listed;
};

static void look_for_allocation(void *arg, const struct allocated *allocated, struct pool *pool)
{
	struct agreement *agreement = arg;
	const struct consumer_record *record = agreement->record;

	UNUSED(pool);
	if (!uuid_eq(allocated->consumer.uid, record->consumer.uid))
		return;
	agreement->listed++;
	for (size_t i = 0; i < record->n_allocations; i++)
		agreement->found += uuid_eq(record->allocations[i].provider, agreement->provider) &&
				    str_eq(record->allocations[i].class, allocated->class) &&
				    record->allocations[i].amount == allocated->used;
}

enum outcome answers_agree(struct registry *registry, const struct consumer_record *record, bool *lists)
{
	struct agreement agreement = { .record = record };
	const struct allocated_taker taker = { look_for_allocation, &agreement };
	enum outcome outcome = OUTCOME_OK;

	for (size_t i = 0; outcome == OUTCOME_OK && i < record->n_allocations; i++) {
		struct provider provider;

		agreement.provider = record->allocations[i].provider;
		if (i == 0 || !uuid_eq(agreement.provider, record->allocations[i - 1].provider))
			outcome = allocations_of_provider(registry, &agreement.provider, &provider, &taker);
	}
	*lists = agreement.found == record->n_allocations && agreement.listed == record->n_allocations;
	return outcome;
}

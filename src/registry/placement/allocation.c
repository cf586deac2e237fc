// SPDX-License-Identifier: Apache-2.0
// Reads allocations and usages.
#include "base/base.h"

#include "registry/placement/allocation.h"

#include "base/pool.h"
#include "registry/core/failure.h"
#include "registry/placement/provider_internal.h"
#include "sql/allocations.h"

// ---- allocations

static struct allocated allocated_of(const struct sql_consumer *c, struct str class, uint64_t used, int64_t updated_us)
{
	struct allocated allocated = {
		.class = class,
		.used = used,
		.updated_us = updated_us,
		.consumer = {
			.project = c->project,
			.user = c->user,
			.type = c->type,
			.generation = c->generation,
			.created_us = c->created_at,
			.updated_us = c->updated_at,
		},
	};

	uuid_from_bytes(c->uid, &allocated.consumer.uid);
	return allocated;
}

enum outcome allocations_of_consumer(struct registry *registry, const struct uuid *uid, struct consumer *consumer,
	struct allocated **list, size_t *n)
{
	const struct sql_allocations_of_consumer in = { .uid = uuid_bytes(uid) };
	struct db_rows rows;
	enum db_result result = sql_allocations_of_consumer_run(registry->db, registry->pool, &in, &rows);

	*consumer = (struct consumer){ .uid = *uid };
	if (result != DB_OK)
		return registry_db_failed(result);
	*list = POOL_ARRAY(registry->pool, struct allocated, rows.n);
	*n = rows.n;
	for (size_t i = 0; i < rows.n; i++) {
		const struct sql_allocations_of_consumer_row *row = sql_allocations_of_consumer_row(&rows, i);
		struct allocated *allocated = &(*list)[i];

		*allocated = allocated_of(&row->c, row->class, row->used, row->allocated_at);
		uuid_from_bytes(row->provider, &allocated->provider);
		allocated->provider_generation = row->provider_generation;
		*consumer = allocated->consumer;
	}
	return OUTCOME_OK;
}

enum outcome allocations_of_provider(struct registry *registry, const struct uuid *uid, struct provider *provider,
	struct allocated **list, size_t *n)
{
	const struct sql_allocations_of_provider in = { .uid = uuid_bytes(uid), .type_id = provider_type(registry)->id };
	struct db_call call = sql_allocations_of_provider_call(registry->pool, &in);
	enum outcome outcome = provider_get_with(registry, uid, provider, &call);

	if (outcome != OUTCOME_OK)
		return outcome;
	*n = call.rows.n;
	*list = POOL_ARRAY(registry->pool, struct allocated, *n);
	for (size_t i = 0; i < *n; i++) {
		const struct sql_allocations_of_provider_row *row = sql_allocations_of_provider_row(&call.rows, i);

		(*list)[i] = allocated_of(&row->c, row->class, row->used, row->allocated_at);
		(*list)[i].provider = *uid;
		(*list)[i].provider_generation = provider->generation;
	}
	return OUTCOME_OK;
}

// ---- usages

// Adds to the usage of class, which may be a new one: the group has room for it.
static void add_usage(struct usage_group *group, struct str class, uint64_t used)
{
	for (size_t i = 0; i < group->n; i++) {
		if (str_eq(group->usages[i].class, class)) {
			group->usages[i].used += used;
			return;
		}
	}
	group->usages[group->n++] = (struct usage){ class, used };
}

static void group_rows(struct pool *pool, bool by_type, const struct db_rows *consumers, const struct db_rows *usages,
	struct usage_group *groups, size_t *n)
{
	*n = 0;
	for (size_t i = 0; i < consumers->n; i++) {
		const struct sql_usage_consumers_row *counted = sql_usage_consumers_row(consumers, i);

		if (*n == 0 || by_type)
			groups[(*n)++] = (struct usage_group){
				.type = by_type ? counted->type : STR("all"),
				.usages = POOL_ARRAY(pool, struct usage, usages->n),
			};
		struct usage_group *group = &groups[*n - 1];
		group->consumers += counted->consumers;
		for (size_t k = 0; k < usages->n; k++) {
			const struct sql_usage_classes_row *row = sql_usage_classes_row(usages, k);

			if (str_eq(row->type, counted->type))
				add_usage(group, row->class, row->used);
		}
	}
}

enum outcome usages_total(struct registry *registry, const struct usage_query *query, struct usage_group **groups,
	size_t *n)
{
	enum sql_consumer_type type = query->type.p == NULL ? SQL_CONSUMER_TYPE_ANY
		: str_eq(query->type, STR(CONSUMER_TYPE_UNKNOWN)) ? SQL_CONSUMER_TYPE_UNKNOWN : SQL_CONSUMER_TYPE_ONE;
	const struct sql_usage_consumers consumers = { query->project, query->user, query->type };
	const struct sql_usage_classes classes = { query->project, query->user, query->type };
	struct db_call calls[] = {
		sql_usage_consumers_call(registry->pool, type, &consumers),
		sql_usage_classes_call(registry->pool, type, &classes),
	};
	enum db_result result = db_run_batch(registry->db, registry->pool, calls, COUNT_OF(calls));

	if (result != DB_OK)
		return registry_db_failed(result);
	*groups = POOL_ARRAY(registry->pool, struct usage_group, calls[0].rows.n);
	group_rows(registry->pool, query->by_type, &calls[0].rows, &calls[1].rows, *groups, n);
	return OUTCOME_OK;
}

// SPDX-License-Identifier: Apache-2.0
// Reads allocations and usages.
#include "base/base.h"

#include "registry/placement/allocation.h"

#include "base/pool.h"
#include "registry/core/failure.h"
#include "registry/placement/provider_internal.h"
#include "sql/allocations.h"

void consumer_concerns(struct registry *registry, struct str project)
{
	if (!str_eq(project, STR(CONSUMER_INCOMPLETE)))
		registry_concerns(registry, project);
}

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

// The function that receives the rows of a list, one by one.
struct giving {
	const struct allocated_taker *taker;
	const struct uuid *provider; // of allocations_of_provider()
};

static void give_of_consumer(void *arg, const struct db_rows *rows, struct pool *pool)
{
	const struct giving *giving = arg;
	const struct sql_allocations_of_consumer_row *row = sql_allocations_of_consumer_row(rows, 0);
	struct allocated allocated = allocated_of(&row->c, row->class, row->used, row->allocated_at);

	uuid_from_bytes(row->provider, &allocated.provider);
	allocated.provider_generation = row->provider_generation;
	giving->taker->take(giving->taker->arg, &allocated, pool);
}

enum outcome allocations_of_consumer(struct registry *registry, const struct uuid *uid, const struct allocated_taker *taker)
{
	const struct sql_allocations_of_consumer in = { .uid = uuid_bytes(uid) };
	struct db_call call = sql_allocations_of_consumer_call(registry->pool, &in);
	struct giving giving = { .taker = taker };

	call.take = give_of_consumer;
	call.arg = &giving;
	enum db_result result = db_run_call(registry->db, registry->pool, &call);
	return result == DB_OK ? OUTCOME_OK : registry_db_failed(result);
}

static void give_of_provider(void *arg, const struct db_rows *rows, struct pool *pool)
{
	const struct giving *giving = arg;
	const struct sql_allocations_of_provider_row *row = sql_allocations_of_provider_row(rows, 0);
	struct allocated allocated = allocated_of(&row->c, row->class, row->used, row->allocated_at);

	allocated.provider = *giving->provider;
	giving->taker->take(giving->taker->arg, &allocated, pool);
}

enum outcome allocations_of_provider(struct registry *registry, const struct uuid *uid, struct provider *provider,
	const struct allocated_taker *taker)
{
	const struct sql_allocations_of_provider in = { .uid = uuid_bytes(uid), .type_id = provider_type(registry)->id };
	struct db_call call = sql_allocations_of_provider_call(registry->pool, &in);
	struct giving giving = { taker, uid };

	call.take = give_of_provider;
	call.arg = &giving;
	return provider_get_with(registry, uid, provider, &call);
}

// ---- usages

struct adding_up {
	const struct usage_taker *taker;
	const struct db_rows *consumers; // of usage_consumers, in the order of types
	size_t at;                       // the row of the type that is being given
};

// Both statements return the types in the same order.
static void give_usage(void *arg, const struct db_rows *rows, struct pool *pool)
{
	struct adding_up *adding = arg;
	const struct sql_usage_classes_row *row = sql_usage_classes_row(rows, 0);
	size_t at = adding->at;

	while (at < adding->consumers->n && !str_eq(sql_usage_consumers_row(adding->consumers, at)->type, row->type))
		at++;
	if (at == adding->consumers->n) // its first consumer came between the two statements
		return;
	adding->at = at;
	const struct usage usage = {
		.type = row->type,
		.consumers = sql_usage_consumers_row(adding->consumers, at)->consumers,
		.class = row->class,
		.used = row->used,
	};
	adding->taker->take(adding->taker->arg, &usage, pool);
}

enum outcome usages_total(struct registry *registry, const struct usage_query *query, const struct usage_taker *taker)
{
	enum sql_consumer_type type = query->type.p == NULL ? SQL_CONSUMER_TYPE_ANY
		: str_eq(query->type, STR(CONSUMER_TYPE_UNKNOWN)) ? SQL_CONSUMER_TYPE_UNKNOWN : SQL_CONSUMER_TYPE_ONE;
	enum sql_usage_group group = query->by_type ? SQL_USAGE_GROUP_TYPE : SQL_USAGE_GROUP_ALL;
	const struct sql_usage_consumers consumers = { query->project, query->user, query->type };
	const struct sql_usage_classes classes = { query->project, query->user, query->type };
	struct db_call calls[] = {
		sql_usage_consumers_call(registry->pool, group, type, &consumers),
		sql_usage_classes_call(registry->pool, group, type, &classes),
	};
	struct adding_up adding = { .taker = taker, .consumers = &calls[0].rows };

	calls[1].take = give_usage;
	calls[1].arg = &adding;
	enum db_result result = db_run_batch(registry->db, registry->pool, calls, COUNT_OF(calls));
	if (result != DB_OK)
		return registry_db_failed(result);
	if (calls[0].rows.n > 0) // only the client knows of a project without consumers
		consumer_concerns(registry, query->project);
	return OUTCOME_OK;
}

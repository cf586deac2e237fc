// SPDX-License-Identifier: Apache-2.0
// Reading allocations and usages.
#include "base/base.h"

#include "registry/allocation.h"

#include "base/pool.h"
#include "registry/provider_internal.h"

#define CONSUMER_COLUMNS                                                                                             \
	"c.uid, c.project, c.user, COALESCE(y.name, '" CONSUMER_TYPE_UNKNOWN "'), c.generation, c.created_at, " \
	"c.updated_at"
#define CONSUMER_OUT "bsssutt"
enum { CONSUMER_N_COLUMNS = 7 };

static const struct db_query q_of_consumer = {
	"SELECT " CONSUMER_COLUMNS ", k.name, a.used, a.updated_at, r.uid, COALESCE(p.generation, 0) FROM consumers c "
	"STRAIGHT_JOIN allocations a ON a.consumer_id = c.id STRAIGHT_JOIN resources r ON r.id = a.resource_id "
	"STRAIGHT_JOIN resource_classes k ON k.id = a.class_id LEFT JOIN providers p ON p.resource_id = r.id "
	"LEFT JOIN consumer_types y ON y.id = c.type_id WHERE c.uid = ? ORDER BY a.resource_id, a.class_id",
	"b", CONSUMER_OUT "sutbu"
};
static const struct db_query q_of_provider = {
	"SELECT " CONSUMER_COLUMNS ", k.name, a.used, a.updated_at FROM allocations a "
	"STRAIGHT_JOIN consumers c ON c.id = a.consumer_id STRAIGHT_JOIN resource_classes k ON k.id = a.class_id "
	"LEFT JOIN consumer_types y ON y.id = c.type_id WHERE a.resource_id = " OF_PROVIDER " ORDER BY c.id, a.class_id",
	"bu", CONSUMER_OUT "sut"
};

// Of a project, and a user, and a type: any (0), none (1), that one (2).
#define OF_QUERY                                                                                            \
	"c.project = ? AND (? OR c.user = ?) AND CASE ? WHEN 0 THEN 1 WHEN 1 THEN c.type_id IS NULL ELSE " \
	"c.type_id = (SELECT id FROM consumer_types WHERE name = ?) END"
#define OF_QUERY_IN "susus"
static const struct db_query q_consumers = {
	"SELECT COALESCE(y.name, '" CONSUMER_TYPE_UNKNOWN "') AS type, COUNT(*) FROM consumers c LEFT JOIN consumer_types y ON "
	"y.id = c.type_id WHERE " OF_QUERY " GROUP BY c.type_id ORDER BY type",
	OF_QUERY_IN, "su"
};
static const struct db_query q_usages = {
	"SELECT COALESCE(y.name, '" CONSUMER_TYPE_UNKNOWN "') AS type, k.name, CAST(SUM(a.used) AS UNSIGNED) FROM consumers c "
	"STRAIGHT_JOIN allocations a ON a.consumer_id = c.id STRAIGHT_JOIN resource_classes k ON k.id = a.class_id "
	"LEFT JOIN consumer_types y ON y.id = c.type_id WHERE " OF_QUERY " GROUP BY c.type_id, a.class_id "
	"ORDER BY type, a.class_id",
	OF_QUERY_IN, "ssu"
};

// ---- allocations

static void consumer_from_row(struct consumer *consumer, const struct db_rows *rows, size_t row)
{
	const struct db_value *v = db_at(rows, row, 0);

	*consumer = (struct consumer){
		.project = v[1].s,
		.user = v[2].s,
		.type = v[3].s,
		.generation = v[4].u,
		.created_us = v[5].i,
		.updated_us = v[6].i,
	};
	uuid_from_bytes(v[0].s, &consumer->uid);
}

static void allocated_from_row(struct allocated *allocated, const struct db_rows *rows, size_t row)
{
	const struct db_value *v = db_at(rows, row, CONSUMER_N_COLUMNS);

	*allocated = (struct allocated){ .class = v[0].s, .used = v[1].u, .updated_us = v[2].i };
	consumer_from_row(&allocated->consumer, rows, row);
}

enum outcome allocations_of_consumer(struct registry *registry, const struct uuid *uid, struct consumer *consumer,
	struct allocated **list, size_t *n)
{
	struct db_rows rows;
	enum db_result result = db_run(registry->db, registry->pool, &q_of_consumer, DB_IN(db_uuid(uid)), &rows);

	*consumer = (struct consumer){ .uid = *uid };
	if (result != DB_OK)
		return registry_db_failed(result);
	*list = POOL_ARRAY(registry->pool, struct allocated, rows.n);
	*n = rows.n;
	for (size_t i = 0; i < rows.n; i++) {
		struct allocated *allocated = &(*list)[i];
		allocated_from_row(allocated, &rows, i);
		uuid_from_bytes(db_at(&rows, i, CONSUMER_N_COLUMNS + 3)->s, &allocated->provider);
		allocated->provider_generation = db_at(&rows, i, CONSUMER_N_COLUMNS + 4)->u;
		*consumer = allocated->consumer;
	}
	return OUTCOME_OK;
}

enum outcome allocations_of_provider(struct registry *registry, const struct uuid *uid, struct provider *provider,
	struct allocated **list, size_t *n)
{
	struct db_rows rows;
	enum outcome outcome = provider_get_with(registry, uid, provider, &q_of_provider, &rows);

	if (outcome != OUTCOME_OK)
		return outcome;
	*list = POOL_ARRAY(registry->pool, struct allocated, rows.n);
	*n = rows.n;
	for (size_t i = 0; i < rows.n; i++) {
		allocated_from_row(&(*list)[i], &rows, i);
		(*list)[i].provider = *uid;
		(*list)[i].provider_generation = provider->generation;
	}
	return OUTCOME_OK;
}

// ---- usages

// Adds to the group, which has room for another.
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
		if (*n == 0 || by_type)
			groups[(*n)++] = (struct usage_group){
				.type = by_type ? db_at(consumers, i, 0)->s : STR("all"),
				.usages = POOL_ARRAY(pool, struct usage, usages->n),
			};
		struct usage_group *group = &groups[*n - 1];
		group->consumers += db_at(consumers, i, 1)->u;
		for (size_t k = 0; k < usages->n; k++) {
			if (str_eq(db_at(usages, k, 0)->s, db_at(consumers, i, 0)->s))
				add_usage(group, db_at(usages, k, 1)->s, db_at(usages, k, 2)->u);
		}
	}
}

enum outcome usages_total(struct registry *registry, const struct usage_query *query, struct usage_group **groups,
	size_t *n)
{
	uint64_t type = query->type.p == NULL ? 0 : str_eq(query->type, STR(CONSUMER_TYPE_UNKNOWN)) ? 1 : 2;
	const struct db_value *in = CALL_VALUES(registry->pool, db_s(query->project), db_u(query->user.p == NULL),
		db_s(query->user), db_u(type), db_s(query->type));
	struct db_call calls[] = { { .query = &q_consumers, .in = in }, { .query = &q_usages, .in = in } };
	enum db_result result = db_run_batch(registry->db, registry->pool, calls, COUNT_OF(calls));

	if (result != DB_OK)
		return registry_db_failed(result);
	*groups = POOL_ARRAY(registry->pool, struct usage_group, calls[0].rows.n);
	group_rows(registry->pool, query->by_type, &calls[0].rows, &calls[1].rows, *groups, n);
	return OUTCOME_OK;
}

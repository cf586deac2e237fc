// SPDX-License-Identifier: Apache-2.0
// Reads providers and consumers as whole records: each table once for a list of uids, in one round trip.
#include "base/base.h"

#include "registry/placement/record.h"

#include "base/buf.h"
#include "base/pool.h"
#include "db/list.h"
#include "registry/core/failure.h"
#include "registry/placement/allocation_internal.h"
#include "registry/type/tree.h"
#include "sql/transfer.h"

static struct str uids_as_json(struct pool *pool, const struct uuid *uids, size_t n)
{
	struct db_list list = db_list_new(pool, 40 * n);

	for (size_t i = 0; i < n; i++)
		db_list_add_uuid(&list, &uids[i]);
	return db_list_end(&list);
}

// The rows of a table that belong to the record of a uid: the rows are in order of uids, as the records are. count: how many
// rows from at on are of that uid.
#define COUNT_ROWS(count, rows, row_of, at, member, uid)                                                       \
	do {                                                                                                   \
		(count) = 0;                                                                                   \
		while ((at) + (count) < (rows)->n && str_eq(row_of((rows), (at) + (count))->member, (uid)))    \
			(count)++;                                                                             \
	} while (0)

static double ratio_of(struct pool *pool, struct str text)
{
	return strtod(str_cstr(pool, text), NULL);
}

static void take_inventories(struct pool *pool, const struct db_rows *rows, size_t *at, struct provider_record *record)
{
	COUNT_ROWS(record->n_inventories, rows, sql_transfer_inventories_row, *at, provider, uuid_bytes(&record->uid));
	record->inventories = POOL_ARRAY(pool, struct inventory, record->n_inventories);
	for (size_t i = 0; i < record->n_inventories; i++) {
		const struct sql_transfer_inventories_row *row = sql_transfer_inventories_row(rows, (*at)++);

		record->inventories[i] = (struct inventory){
			.class = row->class,
			.total = row->total,
			.reserved = row->reserved,
			.min_unit = row->min_unit,
			.max_unit = row->max_unit,
			.step_size = row->step_size,
			.allocation_ratio = ratio_of(pool, row->ratio),
			.used = row->used > 0 ? (uint64_t)row->used : 0,
		};
	}
}

static void take_aggregates(struct pool *pool, const struct db_rows *rows, size_t *at, struct provider_record *record)
{
	COUNT_ROWS(record->n_aggregates, rows, sql_transfer_aggregates_row, *at, provider, uuid_bytes(&record->uid));
	record->aggregates = POOL_ARRAY(pool, struct uuid, record->n_aggregates);
	for (size_t i = 0; i < record->n_aggregates; i++)
		uuid_from_bytes(sql_transfer_aggregates_row(rows, (*at)++)->aggregate, &record->aggregates[i]);
}

static void take_traits(struct pool *pool, const struct db_rows *rows, size_t *at, struct provider_record *record)
{
	COUNT_ROWS(record->n_traits, rows, sql_transfer_traits_row, *at, provider, uuid_bytes(&record->uid));
	record->traits = POOL_ARRAY(pool, struct str, record->n_traits);
	for (size_t i = 0; i < record->n_traits; i++)
		record->traits[i] = sql_transfer_traits_row(rows, (*at)++)->trait;
}

enum outcome provider_records_read(struct registry *registry, const struct uuid *uids, size_t n, struct provider_record **list,
	size_t *n_found)
{
	struct pool *pool = registry->pool;
	struct str json = uids_as_json(pool, uids, n);
	uint64_t type_id = provider_type(registry)->id;
	struct db_call calls[] = {
		sql_transfer_providers_call(pool, &(struct sql_transfer_providers){ .uids = json, .type_id = type_id }),
		sql_transfer_inventories_call(pool, &(struct sql_transfer_inventories){ .uids = json, .type_id = type_id }),
		sql_transfer_aggregates_call(pool, &(struct sql_transfer_aggregates){ .uids = json, .type_id = type_id }),
		sql_transfer_traits_call(pool, &(struct sql_transfer_traits){ .uids = json, .type_id = type_id }),
	};
	enum db_result result = db_run_batch(registry->db, pool, calls, COUNT_OF(calls));
	size_t at[3] = { 0 };

	if (result != DB_OK)
		return registry_db_failed(result);
	*n_found = calls[0].rows.n;
	*list = POOL_ARRAY(pool, struct provider_record, *n_found);
	for (size_t i = 0; i < *n_found; i++) {
		const struct sql_transfer_providers_row *row = sql_transfer_providers_row(&calls[0].rows, i);
		struct provider_record *record = &(*list)[i];
		struct str parent = row->parent;

		uuid_from_bytes(row->uid, &record->uid);
		record->name = row->name;
		record->has_parent =
			parent.p != NULL && uuid_parse(str_part(parent, 0, str_find(parent, ' ', 0)), &record->parent);
		if (!tree_root(row->root, &record->root))
			record->root = record->uid;
		record->generation = row->generation;
		take_inventories(pool, &calls[1].rows, &at[0], record);
		take_aggregates(pool, &calls[2].rows, &at[1], record);
		take_traits(pool, &calls[3].rows, &at[2], record);
	}
	return OUTCOME_OK;
}

static void take_allocations(struct pool *pool, const struct db_rows *rows, size_t *at, struct consumer_record *record)
{
	COUNT_ROWS(record->n_allocations, rows, sql_transfer_allocations_row, *at, consumer, uuid_bytes(&record->consumer.uid));
	record->allocations = POOL_ARRAY(pool, struct allocation, record->n_allocations);
	for (size_t i = 0; i < record->n_allocations; i++) {
		const struct sql_transfer_allocations_row *row = sql_transfer_allocations_row(rows, (*at)++);
		struct allocation *allocation = &record->allocations[i];

		uuid_from_bytes(row->provider, &allocation->provider);
		allocation->class = row->class;
		allocation->amount = row->used;
	}
}

enum outcome consumer_records_read(struct registry *registry, const struct uuid *uids, size_t n, struct consumer_record **list,
	size_t *n_found)
{
	struct pool *pool = registry->pool;
	struct str json = uids_as_json(pool, uids, n);
	struct db_call calls[] = {
		sql_transfer_consumers_call(pool, &(struct sql_transfer_consumers){ .uids = json }),
		sql_transfer_allocations_call(pool, &(struct sql_transfer_allocations){ .uids = json }),
	};
	enum db_result result = db_run_batch(registry->db, pool, calls, COUNT_OF(calls));
	size_t at = 0;

	if (result != DB_OK)
		return registry_db_failed(result);
	*n_found = calls[0].rows.n;
	*list = POOL_ARRAY(pool, struct consumer_record, *n_found);
	for (size_t i = 0; i < *n_found; i++) {
		const struct sql_transfer_consumers_row *row = sql_transfer_consumers_row(&calls[0].rows, i);
		struct consumer_record *record = &(*list)[i];

		record->consumer = (struct consumer){
			.project = row->project, .user = row->user, .type = row->type, .generation = row->generation
		};
		uuid_from_bytes(row->uid, &record->consumer.uid);
		take_allocations(pool, &calls[1].rows, &at, record);
	}
	return OUTCOME_OK;
}

// ---- finding in a list

static int compare_uids(const void *a, const void *b)
{
	return memcmp(a, b, sizeof(struct uuid));
}

// bsearch() by the first member of each record, which is its uid.
static_assert(offsetof(struct provider_record, uid) == 0, "a provider's record begins with its uid");
static_assert(offsetof(struct consumer_record, consumer.uid) == 0, "a consumer's record begins with its uid");

struct provider_record *provider_record_find(struct provider_record *list, size_t n, const struct uuid *uid)
{
	return n > 0 ? bsearch(uid, list, n, sizeof(*list), compare_uids) : NULL;
}

struct consumer_record *consumer_record_find(struct consumer_record *list, size_t n, const struct uuid *uid)
{
	return n > 0 ? bsearch(uid, list, n, sizeof(*list), compare_uids) : NULL;
}

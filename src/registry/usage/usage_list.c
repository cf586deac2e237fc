// SPDX-License-Identifier: Apache-2.0
#include "base/base.h"

#include "registry/usage/usage_list.h"

#include "base/pool.h"
#include "registry/core/failure.h"
#include "registry/type/type.h"
#include "sql/usage.h"

// How many pairs of a tenant and a type are read by one statement, and looked at for one page, whether or not they had anything
// in that time: each costs a round trip, and purged tenants keep theirs for years.
enum { PAIRS_AT_ONCE = 50, PAIRS_OF_PAGE = 2000 };

// ---- one tenant and type

// An answer that is being put together.
struct walk {
	struct registry *registry;
	const struct usage_query *query;
	const struct db_rows *steps; // the query's steps, in the order of time
	struct usage_page *page;
	struct str type; // the name of the type that is at hand
};

// The balance at at_us, and the integrals from the beginning of the step up to that time.
struct sums {
	int64_t resources, bytes, at_us;
	usage_sum resource_us, byte_us;
};

// Goes on to until_us, up to which the balance did not change.
static void extend(struct sums *sums, int64_t until_us)
{
	int64_t us = until_us > sums->at_us ? until_us - sums->at_us : 0;

	sums->resource_us += (usage_sum)sums->resources * us;
	sums->byte_us += (usage_sum)sums->bytes * us;
	sums->at_us = until_us;
}

static void add_row(struct walk *walk, const struct sql_usage_pairs_row *pair, const struct sql_usage_steps_row *step,
	const struct sums *sums)
{
	struct usage_row *row = &walk->page->list[walk->page->n++];

	*row = (struct usage_row){
		.tenant = pair->tenant.p != NULL ? pair->tenant : STR(""),
		.type = walk->type,
		.since_us = step->since,
		.until_us = step->until,
		.resources = sums->resources,
		.bytes = sums->bytes,
	};
	walk->page->next = (struct usage_place){ .tenant_id = pair->tenant_id, .type_id = pair->type_id, .until_us = step->until };
	usage_sum_write(row->resource_seconds, sums->resource_us);
	usage_sum_write(row->byte_seconds, sums->byte_us);
	if (pair->uid.n == sizeof(row->tenant_uid.b))
		memcpy(row->tenant_uid.b, pair->uid.p, sizeof(row->tenant_uid.b));
}

// Adds a row for each step that ends after after_us and in which the tenant had something. rows: the stored rows of the pair, in
// the order of time. False: the page is full.
static bool walk_pair(struct walk *walk, const struct sql_usage_pairs_row *pair, const struct db_rows *rows, int64_t after_us)
{
	struct sums sums = {
		.resources = pair->resources_is_null ? 0 : pair->resources,
		.bytes = pair->bytes_is_null ? 0 : pair->bytes,
	};
	size_t k = 0;

	for (size_t i = 0; i < walk->steps->n; i++) {
		const struct sql_usage_steps_row *step = sql_usage_steps_row(walk->steps, i);
		sums.resource_us = sums.byte_us = 0;
		sums.at_us = step->since;
		for (; k < rows->n && sql_usage_of_pair_row(rows, k)->until <= step->until; k++) {
			const struct sql_usage_of_pair_row *row = sql_usage_of_pair_row(rows, k);
			extend(&sums, row->since);
			sums.resource_us += usage_sum_of_text(row->resource_us);
			sums.byte_us += usage_sum_of_text(row->byte_us);
			sums.resources = row->resources;
			sums.bytes = row->bytes;
			sums.at_us = row->until;
		}
		extend(&sums, step->until);
		if (step->until <= after_us || (sums.resources == 0 && sums.resource_us == 0 && sums.bytes == 0 && sums.byte_us == 0))
			continue;
		if (walk->page->n == walk->query->limit)
			return false;
		add_row(walk, pair, step, &sums);
	}
	return true;
}

// ---- all of them

static enum outcome find_pairs(struct walk *walk, struct usage_place after, int64_t first_us, struct db_rows *rows)
{
	const struct usage_query *query = walk->query;
	const struct sql_usage_pairs in = {
		.tenant_id = query->tenant_id != 0 ? query->tenant_id : after.tenant_id,
		.type_id = after.type_id,
		.plural = query->plural,
		.group = query->group,
		.first = first_us,
		.limit = PAIRS_AT_ONCE,
	};
	enum db_result result = sql_usage_pairs_run(walk->registry->db, walk->registry->pool,
		query->tenant_id != 0 ? SQL_USAGE_PAIR_OF_TENANT : SQL_USAGE_PAIR_OF_ALL, &in, rows);

	return result == DB_OK ? OUTCOME_OK : registry_db_failed(result);
}

// Reads what the pair had, and adds its rows.
static enum outcome read_pair(struct walk *walk, const struct sql_usage_pairs_row *pair, int64_t first_us, int64_t last_us)
{
	const struct usage_place *after = &walk->query->after;
	const struct sql_usage_of_pair in = {
		.tenant_id = pair->tenant_id, .type_id = pair->type_id, .first = first_us, .last = last_us
	};
	bool is_begun = pair->tenant_id == after->tenant_id && pair->type_id == after->type_id;
	struct db_rows rows;
	enum db_result result = sql_usage_of_pair_run(walk->registry->db, walk->registry->pool, &in, &rows);

	if (result != DB_OK)
		return registry_db_failed(result);
	walk->page->more = !walk_pair(walk, pair, &rows, is_begun ? after->until_us : 0);
	return OUTCOME_OK;
}

// Goes through the pairs behind after, until there are none, the page is full, or so many were looked at.
static enum outcome walk_pairs(struct walk *walk, struct usage_place after, int64_t first_us, int64_t last_us)
{
	struct registry *registry = walk->registry;
	struct db_rows pairs;
	size_t looked_at = 0;

	// Begins with the pair (tenant, type) in which the last page ended, and reads it again from its beginning.
	if (after.until_us != 0)
		after.type_id--;
	do {
		enum outcome outcome = find_pairs(walk, after, first_us, &pairs);
		if (outcome != OUTCOME_OK)
			return outcome;
		for (size_t i = 0; i < pairs.n; i++) {
			const struct sql_usage_pairs_row *pair = sql_usage_pairs_row(&pairs, i);
			const struct type *type = type_by_id(registry, pair->type_id);
			if (type == NULL)
				return OUTCOME_UNAVAILABLE; // types are never deleted, so the statement failed
			walk->type = type_name(registry->pool, type);
			struct pool_mark mark = pool_mark(registry->pool);
			outcome = read_pair(walk, pair, first_us, last_us);
			pool_rewind(registry->pool, mark);
			if (outcome != OUTCOME_OK || walk->page->more)
				return outcome;
			after = (struct usage_place){ .tenant_id = pair->tenant_id, .type_id = pair->type_id };
		}
		looked_at += pairs.n;
	} while (pairs.n == PAIRS_AT_ONCE && looked_at < PAIRS_OF_PAGE);
	if (pairs.n == PAIRS_AT_ONCE) {
		walk->page->more = true;
		walk->page->next = after;
	}
	return OUTCOME_OK;
}

enum outcome usage_list(struct registry *registry, const struct usage_query *query, struct usage_page *page)
{
	static const enum sql_usage_step steps_of[] = {
		[USAGE_STEP_PERIOD] = SQL_USAGE_STEP_PERIOD,
		[USAGE_STEP_HOUR] = SQL_USAGE_STEP_HOUR,
		[USAGE_STEP_DAY] = SQL_USAGE_STEP_DAY,
		[USAGE_STEP_MONTH] = SQL_USAGE_STEP_MONTH,
	};
	const struct sql_usage_span span = { .since = query->since_us, .until = query->until_us };
	struct db_rows rows, steps;

	assert(query->limit > 0);
	*page = (struct usage_page){ .list = POOL_ARRAY(registry->pool, struct usage_row, query->limit) };
	enum db_result result = sql_usage_span_run(registry->db, registry->pool, &span, &rows);
	if (result != DB_OK)
		return registry_db_failed(result);
	const struct sql_usage_span_row *found = sql_usage_span_row(&rows, 0);
	page->closed_until_us = found->closed_until_is_null ? 0 : found->closed_until;
	if (found->first_is_null || found->last_is_null || found->first >= found->last)
		return OUTCOME_OK;
	const struct sql_usage_steps in = { .first = found->first, .last = found->last, .limit = USAGE_STEPS_MAX + 1 };
	result = sql_usage_steps_run(registry->db, registry->pool, steps_of[query->step], &in, &steps);
	if (result != DB_OK)
		return registry_db_failed(result);
	if (steps.n > USAGE_STEPS_MAX)
		return registry_fail(registry, OUTCOME_BAD_PARAMETER,
			"there are more than %d steps between from and to: ask for a shorter time, or for longer steps, such as step=day",
			USAGE_STEPS_MAX);
	struct walk walk = { .registry = registry, .query = query, .steps = &steps, .page = page };
	return walk_pairs(&walk, query->after, found->first, found->last);
}

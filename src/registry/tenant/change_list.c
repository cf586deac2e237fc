// SPDX-License-Identifier: Apache-2.0
// Reads the change log, of one tenant or of all. Ids of changes are given before their transactions commit, so a reader could see
// 7 first and 6 later. But a writer of a change row holds the lock of the tenant's row. Once the reader of one tenant has locked
// it exclusively, each id that was given in the tenant has a committed row or is void. The reader of all goes by the horizon.
#include "base/base.h"

#include "registry/tenant/change_list.h"

#include "base/clock.h"
#include "base/digest.h"
#include "base/pool.h"
#include "registry/core/failure.h"
#include "registry/log/horizon.h"
#include "registry/log/log_position.h"
#include "registry/resource/internal.h"
#include "registry/tags/etag.h"
#include "registry/tenant/internal.h"
#include "registry/type/type.h"
#include "sql/resources.h"
#include "sql/tenant_changes.h"

// The etag that clients saw, derived from a stored one, which may be NULL.
static struct str told_etag(struct registry *registry, const struct type *type, uint64_t tenant_id, uint64_t moves,
	struct str stored)
{
	if (stored.p == NULL || stored.n != DIGEST_SHA512)
		return STR_NONE;
	uint8_t *etag = pool_alloc(registry->pool, DIGEST_SHA512);
	etag_of_owned(registry, type, tenant_id, moves, (const uint8_t *)stored.p, etag);
	return str_n((const char *)etag, DIGEST_SHA512);
}

enum outcome change_of_columns(struct registry *registry, const struct sql_told_change *row, struct change *change)
{
	enum outcome outcome = OUTCOME_OK;

	*change = (struct change){
		.id = row->id,
		.at_us = row->at,
		.actor = row->actor,
		.verb = row->verb,
		.space = row->namespace,
		.name = row->name,
		.revision = row->revision,
		.fields = row->fields,
		.tenant = row->tenant,
		.from_tenant = row->from_tenant,
	};

	if (!row->type_id_is_null)
		outcome = type_look_up(registry, row->type_id, &change->type);
	if (outcome != OUTCOME_OK)
		return outcome;
	uuid_from_bytes(row->request_id, &change->request_id);
	uuid_from_bytes(row->uid, &change->uid);
	// The move itself raises the count of moves, so the etag before it has one less. Rows of older versions have 0.
	bool moved = !row->from_tenant_id_is_null;
	uint64_t tenant_before = moved ? row->from_tenant_id : row->tenant_id;
	uint64_t moves_before = moved && row->moves > 0 ? row->moves - 1 : row->moves;
	change->etag_before = told_etag(registry, change->type, tenant_before, moves_before, row->etag_before);
	change->etag_after = told_etag(registry, change->type, row->tenant_id, row->moves, row->etag_after);
	return OUTCOME_OK;
}

// ---- which changes are looked at

// How far clocks of hosts, and the beginning and the end of a transaction, may be apart.
#define SLACK_US (INT64_C(3600) * 1000000)

static bool has_conditions(const struct change_query *query)
{
	return query->actor.p != NULL || query->verb.p != NULL || query->plural.p != NULL || query->has_uid || query->space.p != NULL ||
		query->name.p != NULL || query->text.p != NULL || query->since_us > CHANGES_SINCE || query->until_us < CHANGES_UNTIL;
}

// Narrows the ids to those of the times, by the index of times: what is long ago is found at once.
static enum outcome narrow(struct registry *registry, const struct change_query *query, uint64_t *above, uint64_t *below)
{
	const struct sql_change_bounds in = {
		.since = query->since_us > SLACK_US ? query->since_us - SLACK_US : CHANGES_SINCE,
		.until = query->until_us < CHANGES_UNTIL - SLACK_US ? query->until_us + SLACK_US : CHANGES_UNTIL,
	};
	struct db_rows rows;

	if (query->since_us <= CHANGES_SINCE && query->until_us >= CHANGES_UNTIL)
		return OUTCOME_OK;
	enum db_result result = sql_change_bounds_run(registry->db, registry->pool, &in, &rows);
	if (result != DB_OK)
		return registry_db_failed(result);
	const struct sql_change_bounds_row *row = sql_change_bounds_row(&rows, 0);
	if (row->above > *above)
		*above = row->above;
	if (row->below < *below)
		*below = row->below;
	return OUTCOME_OK;
}

// ---- reading them

// Where the call ends: behind the last change of a full page, else behind the last one that was looked at. The changes may have
// been trimmed between the two statements: then the list goes beyond what the first of them counted, and ends there.
static void end_page(const struct change_query *query, uint64_t scan, const struct sql_change_extent_row *extent, uint64_t top,
	struct change_page *page)
{
	bool up = !query->newest_first;
	uint64_t last = up ? extent->highest : extent->lowest;

	while (page->n > 0 && (extent->n == 0 || (up ? page->list[page->n - 1].id > last : page->list[page->n - 1].id < last)))
		page->n--;
	page->more = extent->n >= scan;
	if (page->n > query->limit) {
		page->n = (size_t)query->limit;
		page->more = true;
		last = page->list[page->n - 1].id;
	}
	page->next = last;
	if (up)
		page->upto = page->more ? last : extent->n > 0 ? extent->highest : query->above;
	else
		page->upto = extent->n > 0 ? extent->highest : top;
}

// Refuses a query for what follows a change that the log can't know. *oldest: as in struct change_page.
static enum outcome check_position(struct registry *registry, uint64_t above, uint64_t *oldest)
{
	struct log_place place;
	enum outcome outcome = above > 0 ? log_position_find(registry, above, &place) : OUTCOME_OK;

	*oldest = 0;
	if (outcome != OUTCOME_OK || above == 0)
		return outcome;
	if (place.position == LOG_POSITION_PURGED)
		*oldest = place.oldest;
	if (place.position != LOG_POSITION_LOST && place.position != LOG_POSITION_AHEAD)
		return OUTCOME_OK;
	return registry_fail(registry, OUTCOME_GONE, "the change log has no change %llu: it never was, or was lost when the database was restored. Read again what you know of "
		"the tenant, and begin with after=0", (unsigned long long)above);
}

static enum outcome read_page(struct registry *registry, enum sql_change_whose whose, uint64_t tenant_id, const struct change_query *query,
	struct change_page *page)
{
	enum sql_change_order order = query->newest_first ? SQL_CHANGE_ORDER_NEWEST : SQL_CHANGE_ORDER_OLDEST;
	uint64_t scan = has_conditions(query) ? CHANGES_LOOKED_AT : query->limit + 1, above = query->above, below = query->below, oldest;
	enum outcome outcome = check_position(registry, query->above, &oldest);

	*page = (struct change_page){ .oldest = oldest };
	if (outcome == OUTCOME_OK)
		outcome = narrow(registry, query, &above, &below);
	if (outcome != OUTCOME_OK)
		return outcome;
	const struct sql_change_extent extent = { .tenant_id = tenant_id, .above = above, .below = below, .scan = scan };
	const struct sql_change_list in = {
		.tenant_id = tenant_id, .above = above, .below = below, .scan = scan, .limit = query->limit + 1,
		.actor = query->actor, .verb = query->verb, .plural = query->plural, .group = query->group,
		.uid = query->has_uid ? uuid_bytes(&query->uid) : STR_NONE, .namespace = query->space, .name = query->name,
		.since = query->since_us, .until = query->until_us, .text = query->text,
	};
	struct db_call calls[] = {
		sql_change_extent_call(registry->pool, order, whose, &extent),
		sql_change_list_call(registry->pool, whose, order, &in),
	};
	enum db_result result = db_run_batch(registry->db, registry->pool, calls, COUNT_OF(calls));
	if (result != DB_OK)
		return registry_db_failed(result);
	page->n = calls[1].rows.n;
	page->list = POOL_ARRAY(registry->pool, struct change, page->n);
	for (size_t i = 0; i < page->n && outcome == OUTCOME_OK; i++)
		outcome = change_of_columns(registry, &sql_change_list_row(&calls[1].rows, i)->c, &page->list[i]);
	if (outcome == OUTCOME_OK)
		end_page(query, scan, sql_change_extent_row(&calls[0].rows, 0), above, page);
	return outcome;
}

enum outcome change_list(struct registry *registry, const struct change_query *query, struct change_page *page)
{
	struct locked_tenant owner;
	const struct sql_resource_lock_tenant lock = { .tenant = query->tenant };
	struct db_call hold =
		sql_resource_lock_tenant_call(registry->pool, SQL_TENANT_LOCK_EXCLUSIVE, lock_wait(registry), &lock);

	assert(db_txn_writes(registry->db));
	assert(query->tenant.p != NULL && query->limit > 0);
	enum outcome outcome = registry_take_locks(registry, &query->tenant, 1, &hold, 1);
	if (outcome == OUTCOME_OK)
		outcome = locked_tenant_of(registry, query->tenant, &hold, &owner);
	return outcome == OUTCOME_OK ? read_page(registry, SQL_CHANGE_WHOSE_TENANT, owner.id, query, page) : outcome;
}

// Moves the horizon up to what is committed, as far as that goes at once.
static enum outcome move_horizon(struct registry *registry, uint64_t *horizon)
{
	int64_t until = clock_tick_us() + 200000;
	uint64_t newest;

	for (;;) {
		enum outcome outcome = horizon_advance(registry, horizon, &newest);
		if (outcome != OUTCOME_OK || *horizon >= newest || horizon_is_held(registry) || clock_tick_us() >= until)
			return outcome;
		clock_pause_ms(2);
	}
}

enum outcome change_list_all(struct registry *registry, const struct change_query *query, struct change_page *page)
{
	struct change_query known = *query;
	uint64_t horizon = 0;

	assert(!db_txn_writes(registry->db));
	assert(query->tenant.p == NULL && query->limit > 0);
	enum outcome outcome = move_horizon(registry, &horizon);
	if (outcome != OUTCOME_OK)
		return outcome;
	if (known.below > horizon)
		known.below = horizon + 1;
	return read_page(registry, SQL_CHANGE_WHOSE_ALL, 0, &known, page);
}

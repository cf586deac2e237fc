// SPDX-License-Identifier: Apache-2.0
// Lists of tenants that meet conditions, a page at a time. An index says first where the page's share of the work ends; then
// which tenants up to there meet the conditions, and how large they are; only the documents of as many as fit into a page are
// read.
#include "base/base.h"

#include "registry/tenant/selection.h"

#include "base/buf.h"
#include "base/pool.h"
#include "db/list.h"
#include "registry/resource/internal.h"
#include "registry/tenant/internal.h"
#include "sql/tenant_selections.h"
#include "sql/tiers.h"

// Before the first place: the page begins at the list's beginning, and may look up to its end.
static enum outcome begin_range(struct registry *registry, const struct tenant_selection *selection, struct sql_tenant_selection_page *page)
{
	struct str last = resource_last_text(registry->pool);

	page->after_name = selection->descending ? last : STR("");
	page->until_name = selection->descending ? STR("") : last;
	page->after_at = selection->descending ? TIME_SPAN_ANY.before_us : TIME_SPAN_ANY.since_us;
	page->until_at = selection->descending ? TIME_SPAN_ANY.since_us : TIME_SPAN_ANY.before_us;
	page->after_id = selection->descending ? UINT64_MAX : 0;
	page->until_id = selection->descending ? 0 : UINT64_MAX;
	if (selection->marker.p == NULL)
		return OUTCOME_OK;
	if (selection->order == SELECTION_BY_NAME)
		page->after_name = selection->marker;
	else if (!selection_place_read(selection->marker, selection->order, &page->after_at, &page->after_id))
		return registry_fail(registry, OUTCOME_BAD_PARAMETER,
			"marker must be the one of the \"next\" link of the page before, in a list with the same sort and order");
	return OUTCOME_OK;
}

static struct str marker_of(struct pool *pool, const struct tenant_selection *selection, int64_t at_us, uint64_t id, struct str name)
{
	return selection->order == SELECTION_BY_NAME ? name : selection_place(pool, selection->order, at_us, id);
}

static enum sql_tenant_selection_up_to order_of(const struct tenant_selection *selection)
{
	if (selection->order == SELECTION_BY_NAME)
		return selection->descending ? SQL_TENANT_SELECTION_UP_TO_NAME_DOWN : SQL_TENANT_SELECTION_UP_TO_NAME;
	if (selection->order == SELECTION_BY_CHANGE)
		return selection->descending ? SQL_TENANT_SELECTION_UP_TO_CHANGE_DOWN : SQL_TENANT_SELECTION_UP_TO_CHANGE;
	return selection->descending ? SQL_TENANT_SELECTION_UP_TO_CREATION_DOWN : SQL_TENANT_SELECTION_UP_TO_CREATION;
}

// The choices have the same cases in the same order.
static_assert((int)SQL_TENANT_SELECTION_UP_TO_NAME == (int)SQL_TENANT_SELECTION_OF_NAME, "cases of one order");
static_assert((int)SQL_TENANT_SELECTION_UP_TO_CHANGE_DOWN == (int)SQL_TENANT_SELECTION_OF_CHANGE_DOWN, "cases of one order");

// Sets the last place that the page looks at. *end: the marker of that place; p NULL: the page looks at all that is left. Looks
// up the tier, if one is wanted.
static enum outcome read_extent(struct registry *registry, const struct tenant_selection *selection, struct sql_tenant_selection_page *page,
	uint64_t *tier_id, struct str *end)
{
	const struct sql_tenant_selection_extent extent = { .page = *page, .skip = SELECTION_LOOKED_AT - 1 };
	const struct sql_tier_get tier = { .name = selection->tier };
	struct db_call calls[] = {
		sql_tenant_selection_extent_call(registry->pool, order_of(selection), &extent),
		sql_tier_get_call(registry->pool, &tier),
	};
	bool has_tier = selection->tier.p != NULL;
	enum db_result result = db_run_batch(registry->db, registry->pool, calls, has_tier ? 2 : 1);

	*end = STR_NONE;
	if (result != DB_OK)
		return registry_db_failed(result);
	if (has_tier && calls[1].rows.n == 0)
		return registry_fail(registry, OUTCOME_BAD_PARAMETER, "there is no tier \"%.*s\": GET /v2.0/all/tiers lists them",
			STR_ARG(selection->tier));
	if (has_tier)
		*tier_id = sql_tier_get_row(&calls[1].rows, 0)->id;
	if (calls[0].rows.n < 2)
		return OUTCOME_OK;
	const struct sql_tenant_selection_extent_row *last = sql_tenant_selection_extent_row(&calls[0].rows, 0);
	page->until_name = last->name;
	page->until_at = last->updated_at;
	page->until_id = last->id;
	*end = marker_of(registry->pool, selection, last->updated_at, last->id, last->name);
	return OUTCOME_OK;
}

static enum outcome read_index(struct registry *registry, const struct tenant_selection *selection,
	const struct sql_tenant_selection_page *page, uint64_t tier_id, uint64_t limit, struct db_rows *rows)
{
	const struct sql_tenant_selection_index in = {
		.page = *page,
		.want = {
			.deleted = selection->deleted,
			.now = registry->now_us,
			.system_name = STR(TENANT_SYSTEM),
			.tier_id = tier_id,
			.tier_id_is_null = selection->tier.p == NULL,
			.text = selection->text,
			.created_since = selection->created.since_us,
			.created_before = selection->created.before_us,
			.updated_since = selection->updated.since_us,
			.updated_before = selection->updated.before_us,
			.metadata_has = selection->metadata_has,
			.object_has = selection->object_has,
		},
		.limit = limit,
	};
	enum db_result result = sql_tenant_selection_index_run(registry->db, registry->pool,
		(enum sql_tenant_selection_of)order_of(selection), &in, rows);

	return result == DB_OK ? OUTCOME_OK : registry_db_failed(result);
}

// Reads the documents of the first `fit` rows of the index, and lists those that are wanted until the list is full. *looked_at:
// of how many of these rows that was decided.
static enum outcome read_documents(struct registry *registry, const struct tenant_selection *selection, const struct db_rows *index,
	size_t fit, struct tenant_selected *selected, size_t *looked_at)
{
	struct db_list ids = db_list_new(registry->pool, fit * 8);
	struct db_rows rows;

	assert(fit <= index->n);
	for (size_t i = 0; i < fit; i++)
		db_list_add_u64(&ids, sql_tenant_selection_index_row(index, i)->id);
	const struct sql_tenant_selection_documents in = { .ids = db_list_end(&ids), .deleted = selection->deleted };
	enum db_result result = sql_tenant_selection_documents_run(registry->db, registry->pool, &in, &rows);
	if (result != DB_OK)
		return registry_db_failed(result);
	// The rows come in any order: n, from 1, is the place of a row's id in the list.
	const struct sql_tenant **by_place = POOL_ARRAY(registry->pool, const struct sql_tenant *, fit);
	for (size_t i = 0; i < rows.n; i++)
		by_place[sql_tenant_selection_documents_row(&rows, i)->n - 1] = &sql_tenant_selection_documents_row(&rows, i)->t;
	for (*looked_at = 0; *looked_at < fit && selected->n < selection->limit; (*looked_at)++) {
		if (by_place[*looked_at] == NULL)
			continue; // deleted since the index was read
		struct tenant *tenant = &selected->list[selected->n];
		*tenant = tenant_of_columns(by_place[*looked_at]);
		if (selection->wants == NULL || selection->wants(selection->arg, tenant))
			selected->n++;
	}
	return OUTCOME_OK;
}

static enum outcome read_page(struct registry *registry, const struct tenant_selection *selection, const struct db_rows *index,
	size_t most, struct str end, struct tenant_selected *selected)
{
	uint64_t *bytes = POOL_ARRAY(registry->pool, uint64_t, index->n);
	size_t looked_at = 0;
	enum outcome outcome = OUTCOME_OK;

	for (size_t i = 0; i < index->n; i++)
		bytes[i] = sql_tenant_selection_index_row(index, i)->bytes;
	size_t fit = resource_page_fitting(bytes, index->n, most);
	selected->list = POOL_ARRAY(registry->pool, struct tenant, selection->limit);
	if (fit > 0)
		outcome = read_documents(registry, selection, index, fit, selected, &looked_at);
	if (outcome == OUTCOME_OK && looked_at < index->n) {
		const struct sql_tenant_selection_index_row *last = sql_tenant_selection_index_row(index, looked_at - 1);
		selected->next = marker_of(registry->pool, selection, last->updated_at, last->id, last->name);
	} else {
		selected->next = end;
	}
	return outcome;
}

enum outcome tenant_select(struct registry *registry, const struct tenant_selection *selection, struct tenant_selected *selected)
{
	struct sql_tenant_selection_page page = { 0 };
	uint64_t tier_id = 0, most = selection->limit;
	struct db_rows index = { 0 };
	struct str end;

	assert(selection->limit > 0);
	*selected = (struct tenant_selected){ .next = STR_NONE };
	if (selection->wants != NULL && most < SELECTION_READ)
		most = SELECTION_READ;
	enum outcome outcome = begin_range(registry, selection, &page);
	if (outcome == OUTCOME_OK)
		outcome = read_extent(registry, selection, &page, &tier_id, &end);
	if (outcome == OUTCOME_OK)
		outcome = read_index(registry, selection, &page, tier_id, most + 1, &index);
	return outcome == OUTCOME_OK ? read_page(registry, selection, &index, (size_t)most, end, selected) : outcome;
}

// SPDX-License-Identifier: Apache-2.0
// Lists of resources, of a tenant or of all, that meet conditions, a page at a time. An index says first where the page's share
// of the work ends. The database compares what is up to there with the conditions on columns; only the documents of what is left
// are read, and shown to wants().
#include "base/base.h"

#include "registry/resource/selection.h"

#include "base/pool.h"
#include "registry/resource/internal.h"
#include "registry/trait/filter.h"
#include "registry/type/type.h"
#include "sql/resource_lists.h"
#include "sql/resource_selections.h"

// How many documents are read at a time for wants(): few where most are wanted.
enum { STEP_LEAST = 100 };

static bool is_of_all(const struct resource_selection *selection)
{
	return selection->tenant.p == NULL;
}

// ---- places in the order of a list

// No name comes behind this text: it has more characters than a name may have, all of them the last one of Unicode.
struct str resource_last_text(struct pool *pool)
{
	static const char last[] = { '\xF4', '\x8F', '\xBF', '\xBF' };
	size_t n = sizeof(last) * (REGISTRY_MAX_ID + 1);
	char *text = pool_alloc(pool, n);

	for (size_t i = 0; i < n; i++)
		text[i] = last[i % sizeof(last)];
	return str_n(text, n);
}

// Before the first place: the page begins at the list's beginning, and may look up to its end.
static void whole_range(struct pool *pool, bool descending, struct sql_selection_page *page)
{
	struct str last = resource_last_text(pool);

	page->after_namespace = page->after_name = descending ? last : STR("");
	page->until_namespace = page->until_name = descending ? STR("") : last;
	page->after_at = descending ? TIME_SPAN_ANY.before_us : TIME_SPAN_ANY.since_us;
	page->until_at = descending ? TIME_SPAN_ANY.since_us : TIME_SPAN_ANY.before_us;
	page->after_id = descending ? UINT64_MAX : 0;
	page->until_id = descending ? 0 : UINT64_MAX;
}

bool selection_place_read(struct str marker, enum selection_order order, int64_t *at_us, uint64_t *id)
{
	size_t dot = str_find(marker, '.', 0);
	uint64_t at = 0;

	if (order == SELECTION_BY_CREATION)
		return str_to_u64(marker, id);
	if (!str_to_u64(str_part(marker, 0, dot), &at) || at > (uint64_t)TIME_SPAN_ANY.before_us)
		return false;
	*at_us = (int64_t)at;
	return dot < marker.n && str_to_u64(str_part(marker, dot + 1, marker.n), id);
}

struct str selection_place(struct pool *pool, enum selection_order order, int64_t at_us, uint64_t id)
{
	if (order == SELECTION_BY_CREATION)
		return str_printf(pool, "%llu", (unsigned long long)id);
	return str_printf(pool, "%llu.%llu", (unsigned long long)at_us, (unsigned long long)id);
}

static enum outcome begin_range(struct registry *registry, const struct resource_selection *selection, struct sql_selection_page *page)
{
	struct str marker = selection->marker;
	size_t slash = selection->all_spaces ? str_find(marker, '/', 0) : marker.n;

	whole_range(registry->pool, selection->descending, page);
	if (marker.p == NULL)
		return OUTCOME_OK;
	if (selection->order != SELECTION_BY_NAME) {
		if (selection_place_read(marker, selection->order, &page->after_at, &page->after_id))
			return OUTCOME_OK;
		return registry_fail(registry, OUTCOME_BAD_PARAMETER,
			"marker must be the one of the \"next\" link of the page before, in a list with the same sort and order");
	}
	page->after_namespace = slash < marker.n ? str_part(marker, 0, slash) : STR("");
	page->after_name = slash < marker.n ? str_part(marker, slash + 1, marker.n) : marker;
	return OUTCOME_OK;
}

static struct str marker_of(struct pool *pool, const struct resource_selection *selection, int64_t at_us, uint64_t id, struct str space,
	struct str name)
{
	if (selection->order != SELECTION_BY_NAME)
		return selection_place(pool, selection->order, at_us, id);
	if (selection->all_spaces)
		return str_printf(pool, "%.*s/%.*s", STR_ARG(space), STR_ARG(name));
	return name;
}

// ---- how far the page looks

// By the type if there is one: that of a tenant's list, or the only one that is wanted of all tenants. The index by type has the
// namespaces "default" in a place of their own, out of order.
static const struct type *type_to_look_by(struct registry *registry, const struct resource_selection *selection)
{
	if (!is_of_all(selection))
		return selection->type;
	return selection->n_types == 1 && selection->types[0] != type_namespaces(registry) ? selection->types[0] : NULL;
}

static enum sql_selection_up_to order_of_all(const struct resource_selection *selection, const struct sql_selection_page *page)
{
	bool down = selection->descending;

	if (page->called.p != NULL || page->called_uid.p != NULL)
		return down ? SQL_SELECTION_UP_TO_ALL_CALLED_DOWN : SQL_SELECTION_UP_TO_ALL_CALLED;
	if (page->type_id == 0)
		return down ? SQL_SELECTION_UP_TO_ALL_DOWN : SQL_SELECTION_UP_TO_ALL;
	if (selection->deleted)
		return down ? SQL_SELECTION_UP_TO_ALL_DELETED_OF_TYPE_DOWN : SQL_SELECTION_UP_TO_ALL_DELETED_OF_TYPE;
	return down ? SQL_SELECTION_UP_TO_ALL_OF_TYPE_DOWN : SQL_SELECTION_UP_TO_ALL_OF_TYPE;
}

static enum sql_selection_up_to order_of(const struct resource_selection *selection, const struct sql_selection_page *page)
{
	if (is_of_all(selection))
		return order_of_all(selection, page);
	enum sql_selection_up_to up = SQL_SELECTION_UP_TO_CREATION, down = SQL_SELECTION_UP_TO_CREATION_DOWN;

	if (selection->deleted) {
		up = SQL_SELECTION_UP_TO_DELETED;
		down = SQL_SELECTION_UP_TO_DELETED_DOWN;
	} else if (selection->order == SELECTION_BY_CHANGE) {
		up = SQL_SELECTION_UP_TO_CHANGE;
		down = SQL_SELECTION_UP_TO_CHANGE_DOWN;
	} else if (selection->order == SELECTION_BY_NAME) {
		up = selection->all_spaces ? SQL_SELECTION_UP_TO_ADDRESS : SQL_SELECTION_UP_TO_NAME;
		down = selection->all_spaces ? SQL_SELECTION_UP_TO_ADDRESS_DOWN : SQL_SELECTION_UP_TO_NAME_DOWN;
	}
	return selection->descending ? down : up;
}

// The choices have the same cases in the same order.
static_assert((int)SQL_SELECTION_UP_TO_NAME == (int)SQL_SELECTION_OF_NAME, "cases of one order");
static_assert((int)SQL_SELECTION_UP_TO_DELETED_DOWN == (int)SQL_SELECTION_OF_DELETED_DOWN, "cases of one order");
static_assert((int)SQL_SELECTION_UP_TO_ALL_CALLED_DOWN == (int)SQL_SELECTION_OF_ALL_CALLED_DOWN, "cases of one order");

static enum outcome check_tenant(struct registry *registry, const struct resource_selection *selection, const struct db_rows *rows,
	uint64_t *tenant_id)
{
	if (rows->n == 0)
		return registry_fail_no_tenant(registry, selection->tenant);
	const struct sql_list_tenant_row *found = sql_list_tenant_row(rows, 0);
	if (!found->deleted_at_is_null)
		return registry_fail_tenant_deleted(registry, selection->tenant, found->purge_at);
	*tenant_id = found->id;
	return OUTCOME_OK;
}

// Checks the tenant, if it is a list of one, and sets the last place that the page looks at. *end: the marker of that place; p
// NULL: the page looks at all that is left.
static enum outcome read_extent(struct registry *registry, const struct resource_selection *selection, struct sql_selection_page *page,
	uint64_t *tenant_id, struct str *end)
{
	const struct sql_list_tenant tenant = { .tenant = selection->tenant };
	const struct sql_selection_extent extent = { .page = *page, .skip = SELECTION_LOOKED_AT - 1 };
	struct db_call calls[] = {
		sql_selection_extent_call(registry->pool, order_of(selection, page), &extent),
		sql_list_tenant_call(registry->pool, &tenant),
	};
	enum db_result result = db_run_batch(registry->db, registry->pool, calls, is_of_all(selection) ? 1 : 2);
	enum outcome outcome = OUTCOME_OK;

	*end = STR_NONE;
	if (result != DB_OK)
		return registry_db_failed(result);
	if (!is_of_all(selection))
		outcome = check_tenant(registry, selection, &calls[1].rows, tenant_id);
	if (outcome != OUTCOME_OK || calls[0].rows.n < 2)
		return outcome;
	const struct sql_selection_extent_row *last = sql_selection_extent_row(&calls[0].rows, 0);
	page->until_namespace = last->namespace;
	page->until_name = last->name;
	page->until_at = last->updated_at;
	page->until_id = last->id;
	*end = marker_of(registry->pool, selection, last->updated_at, last->id, last->namespace, last->name);
	return OUTCOME_OK;
}

// ---- which resources meet the conditions on columns

// The types that count, for FIND_IN_SET. p NULL: any.
static struct str type_ids(struct pool *pool, const struct resource_selection *selection)
{
	struct buf ids = buf_new(pool, 32);

	if (selection->types == NULL)
		return STR_NONE;
	for (size_t i = 0; i < selection->n_types; i++) {
		if (i > 0)
			buf_addc(&ids, ',');
		buf_add_u64(&ids, selection->types[i]->id);
	}
	return buf_str(&ids);
}

static enum outcome read_index(struct registry *registry, const struct resource_selection *selection, const struct sql_selection_page *page,
	uint64_t limit, struct db_rows *rows)
{
	struct uuid *uid = POOL_NEW(registry->pool, struct uuid);
	bool is_uid = uuid_parse(selection->text, uid);
	const struct sql_selection_index in = {
		.page = *page,
		.want = {
			.deleted = selection->deleted,
			.type_ids = type_ids(registry->pool, selection),
			.in_namespace = !is_of_all(selection) && selection->type->namespaced && !selection->all_spaces,
			.name = selection->name,
			.text = selection->text,
			.uid = is_uid ? uuid_bytes(uid) : STR_NONE,
			.created_since = selection->created.since_us,
			.created_before = selection->created.before_us,
			.updated_since = selection->updated.since_us,
			.updated_before = selection->updated.before_us,
			.meta_has = selection->meta_has,
			.body_has = selection->body_has,
			.has_traits = selection->traits != NULL,
			.now = registry->now_us,
		},
		.limit = limit,
	};
	enum db_result result = sql_selection_index_run(registry->db, registry->pool, (enum sql_selection_of)order_of(selection, page), &in,
		rows);

	return result == DB_OK ? OUTCOME_OK : registry_db_failed(result);
}

// ---- their documents

// A page that is being read: the documents of the index's rows, one after the other, until the list is full.
struct reading {
	struct registry *registry;
	const struct resource_selection *selection;
	uint64_t tenant_id;
	const struct db_rows *index;
	size_t at; // the first row of the index that was not looked at yet
	struct resource_selected *selected;
};

// Reads the documents of the rows from reading->at to before end, and adds those that are wanted to the list until it is full.
static enum outcome read_documents(struct reading *reading, size_t end)
{
	struct registry *registry = reading->registry;
	const struct resource_selection *selection = reading->selection;
	struct resource_selected *selected = reading->selected;
	const size_t first = reading->at;

	assert(first < end && end <= reading->index->n && selected->n < selection->limit);
	struct buf ids = buf_new(registry->pool, 16 + (end - first) * 8);
	struct db_rows rows;

	for (size_t i = first; i < end; i++) {
		buf_addc(&ids, i == first ? '[' : ',');
		buf_add_u64(&ids, sql_selection_index_row(reading->index, i)->id);
	}
	buf_addc(&ids, ']');
	const struct sql_selection_documents in = { .ids = buf_str(&ids), .tenant_id = reading->tenant_id, .deleted = selection->deleted };
	enum db_result result = sql_selection_documents_run(registry->db, registry->pool, &in, &rows);
	if (result != DB_OK)
		return registry_db_failed(result);
	// The rows come in any order: n, from 1, is the place of a row's id in the list.
	const struct sql_selection_documents_row **by_place = POOL_ARRAY(registry->pool, const struct sql_selection_documents_row *, end - first);
	for (size_t i = 0; i < rows.n; i++)
		by_place[sql_selection_documents_row(&rows, i)->n - 1] = sql_selection_documents_row(&rows, i);
	for (; reading->at < end && selected->n < selection->limit; reading->at++) {
		const struct sql_selection_documents_row *row = by_place[reading->at - first];
		if (row == NULL)
			continue; // deleted since the index was read
		struct resource *resource = &selected->list[selected->n];
		*resource = resource_of_columns(registry, &row->r);
		resource->tenant = row->tenant;
		if (selection->wants == NULL || selection->wants(selection->arg, resource))
			selected->n++;
	}
	return OUTCOME_OK;
}

static enum outcome read_page(struct registry *registry, const struct resource_selection *selection, uint64_t tenant_id,
	const struct db_rows *index, size_t most, struct str end, struct resource_selected *selected)
{
	uint64_t *bytes = POOL_ARRAY(registry->pool, uint64_t, index->n);
	struct reading reading = {
		.registry = registry, .selection = selection, .tenant_id = tenant_id, .index = index, .selected = selected
	};
	size_t step = selection->limit < STEP_LEAST ? STEP_LEAST : (size_t)selection->limit;
	enum outcome outcome = OUTCOME_OK;

	for (size_t i = 0; i < index->n; i++)
		bytes[i] = sql_selection_index_row(index, i)->bytes;
	size_t fit = resource_page_fitting(bytes, index->n, most);
	selected->list = POOL_ARRAY(registry->pool, struct resource, selection->limit);
	while (outcome == OUTCOME_OK && reading.at < fit && selected->n < selection->limit)
		outcome = read_documents(&reading, fit - reading.at < step ? fit : reading.at + step);
	if (outcome == OUTCOME_OK && reading.at > 0 && reading.at < index->n) {
		const struct sql_selection_index_row *last = sql_selection_index_row(index, reading.at - 1);
		selected->next = marker_of(registry->pool, selection, last->updated_at, last->id, last->namespace, last->name);
	} else {
		selected->next = end;
	}
	return outcome;
}

// Of all tenants, what must have a name is looked for by it.
static struct sql_selection_page page_of(struct registry *registry, const struct resource_selection *selection)
{
	const struct type *type = type_to_look_by(registry, selection);
	struct sql_selection_page page = { .tenant = selection->tenant, .type_id = type != NULL ? type->id : 0, .namespace = selection->space };
	struct uuid *uid = POOL_NEW(registry->pool, struct uuid);

	if (is_of_all(selection)) {
		page.called = selection->called.p != NULL ? selection->called : selection->name;
		if (uuid_parse(selection->uid.p != NULL ? selection->uid : page.called, uid))
			page.called_uid = uuid_bytes(uid);
	}
	return page;
}

enum outcome resource_select(struct registry *registry, const struct resource_selection *selection, struct resource_selected *selected)
{
	struct sql_selection_page page = page_of(registry, selection);
	uint64_t tenant_id = 0, most = selection->limit;
	struct db_rows index = { 0 };
	struct str end;

	assert(selection->limit > 0 && ((!selection->deleted && !is_of_all(selection)) || selection->order == SELECTION_BY_CREATION));
	*selected = (struct resource_selected){ .next = STR_NONE };
	if (selection->wants != NULL && most < SELECTION_READ)
		most = SELECTION_READ;
	enum outcome outcome = begin_range(registry, selection, &page);
	if (outcome == OUTCOME_OK && selection->traits != NULL)
		outcome = trait_filter_resolve(registry, selection->traits, &page.traits);
	if (outcome == OUTCOME_OK)
		outcome = read_extent(registry, selection, &page, &tenant_id, &end);
	if (outcome == OUTCOME_OK)
		outcome = read_index(registry, selection, &page, most + 1, &index);
	if (outcome == OUTCOME_OK)
		outcome = read_page(registry, selection, tenant_id, &index, (size_t)most, end, selected);
	if (outcome != OUTCOME_OK || is_of_all(selection) || selected->n > 0 || selection->marker.p != NULL || selected->next.p != NULL)
		return outcome;
	return selection->type->namespaced && !selection->all_spaces && !selection->deleted ?
		resource_check_space(registry, selection->tenant, selection->space) : OUTCOME_OK;
}

// SPDX-License-Identifier: Apache-2.0
// Searches for resources of a type, a page at a time: by tenant, tree, lookup key and members of their bodies, in order of
// creation or of a member. First the ids, last changes and sizes are read, then the documents, so many at a time as a worker may
// hold, but for those that the worker's cache has as of that change.
#include "base/base.h"

#include "base/budget.h"
#include "base/clock.h"
#include "base/pool.h"
#include "db/list.h"
#include "registry/cache/resource_cache.h"
#include "registry/resource/internal.h"
#include "registry/type/tree.h"
#include "sql/searches.h"

// Adds text to a pattern of LIKE so that each of its characters stands for itself.
static void add_escaped(struct buf *pattern, struct str text)
{
	for (size_t i = 0; i < text.n; i++) {
		if (text.p[i] == '%' || text.p[i] == '_' || text.p[i] == '\\')
			buf_addc(pattern, '\\');
		buf_addc(pattern, text.p[i]);
	}
}

static struct str pattern_of(struct pool *pool, const char *before, struct str text, const char *behind)
{
	struct buf pattern = buf_new(pool, text.n + 8);

	buf_add(&pattern, str_c(before));
	add_escaped(&pattern, text);
	buf_add(&pattern, str_c(behind));
	return buf_str(&pattern);
}

static struct str json_path(struct pool *pool, const char *member)
{
	return str_printf(pool, "$.%s", member);
}

// The kinds of terms in sql/statements/searches.sql.
enum { TERM_LIKE = 1, TERM_WORD = 2, TERM_AMONG = 3, TERM_CONCERNS = 4 };

static struct sql_search_term term_of(struct pool *pool, const struct search_condition *condition)
{
	struct sql_search_term term = { .kind = TERM_WORD, .path = json_path(pool, condition->member), .same = 1 };

	switch (condition->test) {
	case SEARCH_IS:
		term.kind = TERM_LIKE;
		term.text = pattern_of(pool, "", condition->value, "");
		break;
	case SEARCH_CONTAINS:
		term.kind = TERM_LIKE;
		term.text = pattern_of(pool, "%", condition->value, "%");
		break;
	case SEARCH_AMONG:
		term.kind = TERM_AMONG;
		term.text = condition->value;
		break;
	case SEARCH_CONCERNS:
		term.kind = TERM_CONCERNS;
		term.text = condition->value;
		break;
	case SEARCH_TRUE:
		term.text = STR("true");
		break;
	case SEARCH_FALSE:
		term.text = STR("false");
		break;
	case SEARCH_NULL:
		term.text = STR("null");
		break;
	case SEARCH_NOT_NULL:
		term.text = STR("null");
		term.same = 0;
		break;
	}
	return term;
}

// The number of the sort key in searches.sql: 1 to 4 for a column, 0 for the member of the body at *path, 5 if its values are
// numbers.
static uint64_t sort_of(struct pool *pool, const char *sort, bool numbers, struct str *path)
{
	static const char *const columns[] = { "uuid", "created_at", "updated_at", "owner" };

	*path = json_path(pool, sort);
	for (size_t i = 0; i < COUNT_OF(columns); i++) {
		if (strcmp(sort, columns[i]) == 0)
			return i + 1;
	}
	return numbers ? 5 : 0;
}

// ---- the page

// Where the last page ended: the id and the sort key, which may be NULL.
static enum outcome find_marker(struct registry *registry, const struct resource_search *search,
	struct sql_search_page *page)
{
	const struct sql_search_marker in = {
		.uid = uuid_bytes(search->marker),
		.type_id = search->type->id,
		.tenant = search->marker_tenant,
		.sort = page->sort,
		.sort_path = page->sort_path,
	};
	struct db_rows rows;
	enum db_result result = sql_search_marker_run(registry->db, registry->pool, &in, &rows);

	if (result != DB_OK)
		return registry_db_failed(result);
	if (rows.n == 0)
		return registry_fail(registry, OUTCOME_NOT_FOUND, "there is no %.*s %.*s: marker is to be the last of a page",
			STR_ARG(search->type->singular), UUID_ARG(registry->pool, *search->marker));
	page->after_id = sql_search_marker_row(&rows, 0)->id;
	page->after_key = sql_search_marker_row(&rows, 0)->sort_key;
	return OUTCOME_OK;
}

static enum sql_search_way way_of(const struct resource_search *search)
{
	if (search->key_kind != NULL)
		return SQL_SEARCH_WAY_KEY;
	if (search->root != NULL)
		return SQL_SEARCH_WAY_TREE;
	return search->tenant.p != NULL ? SQL_SEARCH_WAY_TENANT : SQL_SEARCH_WAY_TYPE;
}

static enum sql_search_order order_of(const struct resource_search *search)
{
	if (search->sort == NULL)
		return search->descending ? SQL_SEARCH_ORDER_ID_DOWN : SQL_SEARCH_ORDER_ID;
	return search->descending ? SQL_SEARCH_ORDER_KEY_DOWN : SQL_SEARCH_ORDER_KEY;
}

// What is searched for, and where the page begins. OUTCOME_OK, or what find_marker() returns.
static enum outcome begin_page(struct registry *registry, const struct resource_search *search, struct sql_search_page *page)
{
	struct pool *pool = registry->pool;

	*page = (struct sql_search_page){
		.type_id = search->type->id,
		.tenant = search->tenant,
		.from_start = search->marker == NULL,
		.after_id = search->descending ? UINT64_MAX : 0,
		.limit = search->limit + 1,
	};
	if (search->root != NULL)
		page->root = tree_value(registry, search->type, search->root);
	if (search->key_kind != NULL) {
		page->key_kind = str_c(search->key_kind);
		page->key_pattern = pattern_of(pool, "", search->key_prefix, "%");
	}
	static_assert(COUNT_OF(page->terms) == SEARCH_MAX_CONDITIONS, "as many as the statement takes");
	assert(search->n_conditions <= COUNT_OF(page->terms));
	for (size_t i = 0; i < search->n_conditions; i++)
		page->terms[i] = term_of(pool, &search->conditions[i]);
	page->top_path = json_path(pool, search->top_member != NULL ? search->top_member : "");
	page->top_among = search->top_member != NULL ? search->top_among : STR("[]");
	page->sort = sort_of(pool, search->sort != NULL ? search->sort : "", search->sorts_numbers, &page->sort_path);
	return search->marker != NULL ? find_marker(registry, search, page) : OUTCOME_OK;
}

// Lets the page begin behind that resource.
static void go_on_behind(struct sql_search_page *page, const struct sql_search_page_row *row)
{
	page->from_start = false;
	page->after_id = row->id;
	page->after_key = row->sort_key;
}

// Reads id, last change and size of the resources that the page may have, and of one more.
static enum outcome measure(struct registry *registry, const struct resource_search *search, const struct sql_search_page *page,
	struct db_rows *sizes)
{
	enum db_result result = sql_search_page_run(registry->db, registry->pool,
		search->sort != NULL ? SQL_SEARCH_KEY_OF_ROW : SQL_SEARCH_KEY_NONE, way_of(search),
		search->n_conditions > 0 ? SQL_SEARCH_TERMS_SOME : SQL_SEARCH_TERMS_NONE,
		search->top_member != NULL ? SQL_SEARCH_TOP_AMONG : SQL_SEARCH_TOP_ANY, order_of(search), page, sizes);

	return result == DB_OK ? OUTCOME_OK : registry_db_failed(result);
}

// Puts those of the n resources from `first` on into their places in list that are cached as of their last change, and leaves the
// type NULL in the places of the others. *missing: the ids of these as a JSON array, and their places. Returns how many they are.
static size_t take_cached(struct registry *registry, const struct resource_search *search, const struct db_rows *sizes,
	size_t first, struct resource *list, size_t n, struct str *missing, size_t *places)
{
	struct db_list ids = db_list_new(registry->pool, 64);
	int64_t now_us = clock_tick_us();
	bool writes = db_txn_writes(registry->db);

	(void)resource_caches_hold(registry);
	for (size_t i = 0; i < n; i++) {
		const struct sql_search_page_row *row = sql_search_page_row(sizes, first + i);

		list[i].type = NULL;
		if (!writes && resource_cache_find_id(registry->store->resource_cache, registry->pool, row->id, row->changed, now_us,
			&list[i])) {
			list[i].type = search->type;
			continue;
		}
		places[ids.n] = i;
		db_list_add_u64(&ids, row->id);
	}
	*missing = db_list_end(&ids);
	return ids.n;
}

// Reads the missing resources and puts them into their places.
static enum outcome read_missing(struct registry *registry, const struct resource_search *search, struct str missing,
	const size_t *places, struct resource *list)
{
	const struct sql_search_documents in = { .ids = missing, .tenant = search->tenant };
	struct db_rows rows;
	enum db_result result = sql_search_documents_run(registry->db, registry->pool, &in, &rows);

	if (result != DB_OK)
		return registry_db_failed(result);
	for (size_t i = 0; i < rows.n; i++) {
		const struct sql_search_documents_row *row = sql_search_documents_row(&rows, i);
		struct resource *resource = &list[places[row->n - 1]];

		*resource = resource_of_columns(registry, &row->r);
		resource->tenant = row->tenant;
		if (!db_txn_writes(registry->db))
			resource_remember(registry, resource);
	}
	return OUTCOME_OK;
}

// What a search has done so far.
struct progress {
	uint64_t left; // how many resources the page may still take
	bool ends;     // the page ends, and there is something behind it
};

// Reads the n resources from `first` on, and passes those to the visit that were not deleted since their sizes were read.
static enum outcome visit_piece(struct registry *registry, const struct resource_search *search, const struct search_visit *visit,
	const struct db_rows *sizes, size_t first, size_t n, struct progress *progress)
{
	size_t *places = POOL_ARRAY(registry->pool, size_t, n), found = 0;
	struct resource *list = POOL_ARRAY(registry->pool, struct resource, n);
	enum outcome outcome = OUTCOME_OK;
	struct str missing;

	if (take_cached(registry, search, sizes, first, list, n, &missing, places) > 0)
		outcome = read_missing(registry, search, missing, places, list);
	if (outcome != OUTCOME_OK)
		return outcome;
	for (size_t i = 0; i < n; i++) {
		if (list[i].type != NULL)
			list[found++] = list[i];
	}
	size_t taken = visit->take(visit->arg, list, found);
	assert(taken <= found && found <= progress->left);
	progress->left -= taken;
	progress->ends = taken < found;
	return OUTCOME_OK;
}

// Visits the first n resources, so many at a time that their documents are no larger than those of a page of a list, until the
// page ends.
static enum outcome visit_measured(struct registry *registry, const struct resource_search *search, const struct search_visit *visit,
	const struct db_rows *sizes, size_t n, struct progress *progress)
{
	struct pool *own = registry->pool;
	uint64_t *bytes = POOL_ARRAY(own, uint64_t, n);
	enum outcome outcome = OUTCOME_OK;

	for (size_t i = 0; i < n; i++)
		bytes[i] = sql_search_page_row(sizes, i)->bytes;
	for (size_t first = 0; outcome == OUTCOME_OK && first < n && !progress->ends;) {
		if (progress->left < search->limit && budget_is_half_used()) {
			progress->ends = true;
			break;
		}
		size_t end = first + resource_page_fitting(&bytes[first], n - first, n - first);
		registry->pool = visit->scratch;
		outcome = visit_piece(registry, search, visit, sizes, first, end - first, progress);
		registry->pool = own;
		if (outcome == OUTCOME_OK) // else the scratch pool has what the error says
			pool_clear(visit->scratch);
		first = end;
	}
	return outcome;
}

enum outcome resource_search(struct registry *registry, const struct resource_search *search, const struct search_visit *visit,
	bool *more)
{
	struct progress progress = { .left = search->limit };
	struct sql_search_page page;

	assert(search->limit > 0 && visit->scratch != registry->pool);
	enum outcome outcome = begin_page(registry, search, &page);
	*more = outcome == OUTCOME_OK;
	// What was found may be deleted before its documents are read; then the page is filled with what comes next. Clients take
	// a short page for the last one, and an empty one has no last resource behind which the next could begin.
	while (outcome == OUTCOME_OK && *more && progress.left > 0 && !progress.ends) {
		struct db_rows sizes = { 0 };

		page.limit = progress.left + 1;
		outcome = measure(registry, search, &page, &sizes);
		size_t n = sizes.n > progress.left ? (size_t)progress.left : sizes.n;
		*more = sizes.n > n;
		if (outcome != OUTCOME_OK || n == 0)
			break;
		outcome = visit_measured(registry, search, visit, &sizes, n, &progress);
		*more = *more || progress.ends;
		go_on_behind(&page, sql_search_page_row(&sizes, n - 1));
	}
	return outcome;
}

// SPDX-License-Identifier: Apache-2.0
// Lists of resources, a page at a time. First the index is asked which resources the page has, with the size and the last
// change of each. A page is bounded by bytes, too, since a thousand documents of a megabyte each would be more than a worker
// may hold. Resources that the cache has as of that change are not read again. Only then the missing documents are read.
#include "base/base.h"

#include "base/clock.h"
#include "base/pool.h"
#include "registry/cache/page_cache.h"
#include "registry/cache/resource_cache.h"
#include "registry/log/horizon.h"
#include "registry/resource/internal.h"
#include "registry/trait/filter.h"
#include "registry/type/type.h"
#include "sql/resource_lists.h"

enum { PAGE_MAX_BYTES = 4 << 20 };

// The page's statement and its parameters.
struct page {
	bool of_all; // of all tenants
	enum sql_listed listed;
	struct sql_list_page in;
};

static struct db_call index_call(struct pool *pool, const struct page *page)
{
	const struct sql_list_index in = { .page = page->in };
	const struct sql_list_index_of_all of_all = { .page = page->in };

	return page->of_all ? sql_list_index_of_all_call(pool, &of_all) : sql_list_index_call(pool, page->listed, &in);
}

static struct db_call documents_call(struct pool *pool, const struct page *page)
{
	const struct sql_list_documents in = { .page = page->in };
	const struct sql_list_documents_of_all of_all = { .page = page->in };

	return page->of_all ? sql_list_documents_of_all_call(pool, &of_all) :
			      sql_list_documents_call(pool, page->listed, &in);
}

// ---- where a page begins

// The marker is an id: what it names may be gone by now, and several deleted resources may have one name.
static enum outcome take_id_marker(struct registry *registry, const struct resource_query *query, struct page *page)
{
	if (query->marker.p != NULL && !str_to_u64(query->marker, &page->in.after_id))
		return registry_fail(registry, OUTCOME_BAD_PARAMETER, "marker must be the one that the list before ended with");
	return OUTCOME_OK;
}

static void take_namespaces(const struct resource_query *query, struct page *page)
{
	page->in.all_namespaces = query->all_spaces ? 1 : 0;
	page->in.namespace = query->space;
}

static enum outcome deleted_page(struct registry *registry, const struct resource_query *query, struct page *page)
{
	page->listed = SQL_LISTED_DELETED;
	take_namespaces(query, page);
	page->in.now = registry->now_us;
	return take_id_marker(registry, query, page);
}

static enum outcome live_page(struct registry *registry, const struct resource_query *query, struct page *page)
{
	size_t slash = str_find(query->marker, '/', 0);

	page->listed = query->all_spaces ? SQL_LISTED_TENANT : SQL_LISTED_NAMESPACE;
	page->in.namespace = query->space;
	page->in.name = query->marker;
	if (query->all_spaces) {
		bool has_space = slash < query->marker.n;
		page->in.namespace = has_space ? str_part(query->marker, 0, slash) : STR("");
		page->in.name = has_space ? str_part(query->marker, slash + 1, query->marker.n) : query->marker;
	}
	if (query->traits == NULL)
		return OUTCOME_OK;
	enum outcome outcome = trait_filter_resolve(registry, query->traits, &page->in.traits);
	if (outcome != OUTCOME_OK)
		return outcome;
	if (page->in.traits.rare.n > 0)
		page->listed = query->all_spaces ? SQL_LISTED_TENANT_WITH_RARE_TRAIT : SQL_LISTED_NAMESPACE_WITH_RARE_TRAIT;
	else
		page->listed = query->all_spaces ? SQL_LISTED_TENANT_WITH_TRAITS : SQL_LISTED_NAMESPACE_WITH_TRAITS;
	return OUTCOME_OK;
}

static enum outcome page_of_all(struct registry *registry, const struct resource_query *query, struct page *page)
{
	assert(!query->deleted && query->traits == NULL);
	page->of_all = true;
	take_namespaces(query, page);
	return take_id_marker(registry, query, page);
}

static enum outcome begin_page(struct registry *registry, const struct resource_query *query, struct page *page)
{
	*page = (struct page){
		.in = { .tenant = query->tenant, .type_id = query->type->id, .limit = query->limit + 1 },
	};
	assert(!query->deleted || query->traits == NULL);
	if (query->all_tenants)
		return page_of_all(registry, query, page);
	return query->deleted ? deleted_page(registry, query, page) : live_page(registry, query, page);
}

size_t resource_page_fitting(const uint64_t *bytes, size_t n, uint64_t limit)
{
	uint64_t sum = 0;
	size_t fitting = 0;

	while (fitting < n && fitting < limit) {
		sum += bytes[fitting];
		if (fitting > 0 && sum > PAGE_MAX_BYTES)
			break;
		fitting++;
	}
	return fitting;
}

enum outcome resource_check_space(struct registry *registry, struct str tenant, struct str space)
{
	const struct sql_list_namespace in = { .tenant = tenant, .type_id = type_namespaces(registry)->id, .name = space };
	struct db_rows rows;
	enum db_result result = sql_list_namespace_run(registry->db, registry->pool, &in, &rows);

	if (result != DB_OK)
		return registry_db_failed(result);
	return rows.n > 0 ? OUTCOME_OK : resource_fail_no_space(registry, space);
}

// If a list is empty: OUTCOME_OK if its namespace exists, else OUTCOME_NOT_FOUND.
static enum outcome explain_empty(struct registry *registry, const struct resource_query *query)
{
	if (!query->type->namespaced || query->all_spaces || query->all_tenants || query->deleted)
		return OUTCOME_OK;
	return resource_check_space(registry, query->tenant, query->space);
}

// ---- what a page has: its index

// The resources that the page may have, in order: as many as were asked for, and one more if there are more.
struct index {
	const struct page_item *items;
	size_t n;
};

// May the page be cached? Later it is compared with the change log from the horizon on, so only if the caller wants the newest
// change (query->newest), for which the horizon is read.
static bool may_be_cached(const struct registry *registry, const struct resource_query *query)
{
	return query->newest != NULL && !query->all_tenants && !query->deleted && query->traits == NULL &&
	       !db_txn_writes(registry->db);
}

static struct page_key key_of(const struct resource_query *query)
{
	return (struct page_key){
		.tenant = query->tenant,
		.type_id = query->type->id,
		.all_spaces = query->all_spaces,
		.space = query->all_spaces ? STR_NONE : query->space,
		.marker = query->marker,
		.limit = query->limit,
	};
}

// Does the log still have every change after the page was read, and none of them is of this tenant?
static bool is_unchanged(const struct known_page *page, const struct sql_list_since_row *since)
{
	return since->id == page->tenant_id && since->changed == 0 && since->oldest <= page->complete + 1 &&
	       since->newest >= page->complete;
}

// *known: the page was cached, and no change since then concerns the tenant.
static enum outcome cached_index(struct registry *registry, const struct resource_query *query, struct index *index,
	bool *known)
{
	const struct page_key key = key_of(query);
	const struct known_page *page = may_be_cached(registry, query) ?
						page_cache_find(registry->store->page_cache, &key, clock_tick_us()) : NULL;
	struct db_rows rows;

	*known = false;
	if (page == NULL)
		return OUTCOME_OK;
	const struct sql_list_since in = {
		.tenant = query->tenant,
		.tenant_id = page->tenant_id,
		.after = page->complete,
	};
	enum db_result result = sql_list_since_run(registry->db, registry->pool, &in, &rows);
	if (result != DB_OK)
		return registry_db_failed(result);
	*query->newest = horizon_published(registry);
	if (rows.n == 0)
		return registry_fail_no_tenant(registry, query->tenant);
	const struct sql_list_since_row *since = sql_list_since_row(&rows, 0);
	if (since->newest > *query->newest)
		*query->newest = since->newest;
	if (!since->deleted_at_is_null)
		return registry_fail_tenant_deleted(registry, query->tenant, since->purge_at);
	if (!resource_caches_hold(registry))
		return OUTCOME_OK;
	*known = is_unchanged(page, since);
	page_cache_note_use(registry->store->page_cache, *known);
	if (!*known)
		return OUTCOME_OK;
	// The cached page itself is only valid until the next page_cache_add().
	struct page_item *items = POOL_ARRAY(registry->pool, struct page_item, page->n);
	memcpy(items, page->items, page->n * sizeof(*items));
	*index = (struct index){ items, page->n };
	return OUTCOME_OK;
}

static struct index index_of_rows(struct pool *pool, const struct page *page, const struct db_rows *rows)
{
	struct page_item *items = POOL_ARRAY(pool, struct page_item, rows->n);

	for (size_t i = 0; i < rows->n; i++) {
		if (page->of_all) {
			const struct sql_list_index_of_all_row *row = sql_list_index_of_all_row(rows, i);
			items[i] = (struct page_item){ row->id, row->changed, row->bytes };
		} else {
			const struct sql_list_index_row *row = sql_list_index_row(rows, i);
			items[i] = (struct page_item){ row->id, row->changed, row->bytes };
		}
	}
	return (struct index){ items, rows->n };
}

// OUTCOME_OK: the tenant is active, and *id is its id.
static enum outcome check_tenant(struct registry *registry, const struct resource_query *query,
	const struct db_rows *rows, uint64_t *id)
{
	if (rows->n == 0)
		return registry_fail_no_tenant(registry, query->tenant);
	const struct sql_list_tenant_row *tenant = sql_list_tenant_row(rows, 0);
	if (!tenant->deleted_at_is_null)
		return registry_fail_tenant_deleted(registry, query->tenant, tenant->purge_at);
	*id = tenant->id;
	return OUTCOME_OK;
}

// Reads the state of the tenant and the index. Usually nothing else needs to be read.
static enum outcome read_index(struct registry *registry, const struct resource_query *query, const struct page *page,
	struct index *index)
{
	const struct sql_list_tenant tenant = { .tenant = query->tenant };
	struct db_call calls[] = {
		sql_list_tenant_call(registry->pool, &tenant),
		index_call(registry->pool, page),
		horizon_newest_change_call(registry),
	};
	size_t first = query->all_tenants ? 1 : 0, end = query->newest != NULL ? 3 : 2;
	uint64_t complete = horizon_published(registry), tenant_id = 0;
	enum db_result result = db_run_batch(registry->db, registry->pool, &calls[first], end - first);

	if (result != DB_OK)
		return registry_db_failed(result);
	if (query->newest != NULL)
		*query->newest = horizon_newest_change(&calls[2]);
	enum outcome outcome =
		query->all_tenants ? OUTCOME_OK : check_tenant(registry, query, &calls[0].rows, &tenant_id);
	if (outcome != OUTCOME_OK)
		return outcome;
	*index = index_of_rows(registry->pool, page, &calls[1].rows);
	// complete is the horizon from before the page was read: the page shows every change up to it.
	if (index->n > 0 && complete > 0 && may_be_cached(registry, query)) {
		(void)resource_caches_hold(registry);
		const struct page_key key = key_of(query);
		const struct known_page known = { tenant_id, complete, index->n, index->items };
		page_cache_add(registry->store->page_cache, &key, &known, clock_tick_us());
	}
	return OUTCOME_OK;
}

// ---- cached resources

// Reads the n resources of the page that were not cached. *same is false if one of them has changed since the index was read.
static enum outcome read_missing(struct registry *registry, const struct resource_query *query, const struct page_item *items,
	const size_t *missing, size_t n, struct resource *list, bool *same)
{
	struct db_call calls[DB_MAX_BATCH];

	for (size_t i = 0; i < n; i++) {
		const struct sql_resource_by_id in = { .id = items[missing[i]].id };
		calls[i] = sql_resource_by_id_call(registry->pool, &in);
	}
	enum db_result result = db_run_batch(registry->db, registry->pool, calls, n);
	if (result != DB_OK)
		return registry_db_failed(result);
	*same = true;
	for (size_t i = 0; i < n && *same; i++) {
		struct resource *resource = &list[missing[i]];

		if (calls[i].rows.n == 1)
			*resource = resource_of_columns(registry, &sql_resource_by_id_row(&calls[i].rows, 0)->r);
		resource->tenant = query->tenant;
		*same = calls[i].rows.n == 1 && resource->changed == items[missing[i]].changed;
		if (*same)
			resource_remember(registry, resource);
	}
	return OUTCOME_OK;
}

// Takes the first n resources of the page from the cache, and reads a few missing ones one by one. *done: the list is complete,
// and all are as of the moment when the index was read. Else the caller reads the whole page.
static enum outcome page_from_cache(struct registry *registry, const struct resource_query *query,
	const struct page_item *items, size_t n, struct resource **list, bool *done)
{
	struct resource *resources = pool_alloc(registry->pool, n * sizeof(*resources));
	size_t missing[DB_MAX_BATCH], n_missing = 0;
	size_t may_miss = query->all_tenants ? 0 : DB_MAX_BATCH;
	int64_t now_us = clock_tick_us();

	(void)resource_caches_hold(registry);
	*done = false;
	for (size_t i = 0; i < n; i++) {
		if (!resource_cache_find_id(registry->store->resource_cache, registry->pool, items[i].id, items[i].changed,
			now_us, &resources[i])) {
			if (n_missing == may_miss)
				return OUTCOME_OK;
			missing[n_missing++] = i;
		}
		resources[i].type = query->type;
	}
	*list = resources;
	*done = true;
	return n_missing == 0 ? OUTCOME_OK : read_missing(registry, query, items, missing, n_missing, resources, done);
}

// ---- the page

// What list_page() returns.
struct listed {
	struct resource *list;
	size_t n;
	bool more;
};

// Reads the page's documents. fit: how many fit into an answer. cut: there are more in the index; else all do.
// If the page is not cut, one more document is read than fits: what others insert meanwhile must not push out the last one
// unnoticed.
static enum outcome read_page(struct registry *registry, const struct resource_query *query, struct page *page,
	size_t fit, bool cut, struct listed *listed)
{
	page->in.limit = cut ? fit : query->limit + 1;
	struct db_call calls[] = { documents_call(registry->pool, page), horizon_newest_change_call(registry) };
	const struct db_rows *rows = &calls[0].rows;
	enum db_result result = db_run_batch(registry->db, registry->pool, calls, query->newest != NULL ? 2 : 1);
	if (result != DB_OK)
		return registry_db_failed(result);
	if (query->newest != NULL)
		*query->newest = horizon_newest_change(&calls[1]);
	listed->n = rows->n > query->limit ? (size_t)query->limit : rows->n;
	listed->more = cut ? rows->n == fit : rows->n > query->limit;
	listed->list = POOL_ARRAY(registry->pool, struct resource, listed->n);
	for (size_t i = 0; i < listed->n; i++) {
		struct resource *resource = &listed->list[i];
		if (page->of_all) {
			const struct sql_list_documents_of_all_row *row = sql_list_documents_of_all_row(rows, i);
			*resource = resource_of_columns(registry, &row->r);
			resource->tenant = row->tenant;
		} else {
			*resource = resource_of_columns(registry, &sql_list_documents_row(rows, i)->r);
			resource->tenant = query->tenant;
		}
		if (!db_txn_writes(registry->db))
			resource_remember(registry, resource);
	}
	return OUTCOME_OK;
}

static enum outcome read_documents(struct registry *registry, const struct resource_query *query, struct page *page,
	const struct index *index, struct listed *listed)
{
	uint64_t *bytes = POOL_ARRAY(registry->pool, uint64_t, index->n);
	for (size_t i = 0; i < index->n; i++)
		bytes[i] = index->items[i].bytes;
	size_t fit = resource_page_fitting(bytes, index->n, query->limit);
	bool done = fit == 0;
	enum outcome outcome = OUTCOME_OK;

	listed->n = fit;
	listed->more = fit < index->n;
	if (!done && !query->deleted && !db_txn_writes(registry->db))
		outcome = page_from_cache(registry, query, index->items, fit, &listed->list, &done);
	if (outcome == OUTCOME_OK && !done)
		outcome = read_page(registry, query, page, fit, listed->more, listed);
	return outcome;
}

static enum outcome list_page(struct registry *registry, const struct resource_query *query, struct listed *listed)
{
	struct page page;
	struct index index = { 0 };
	bool known = false;

	*listed = (struct listed){ .n = 0 };
	enum outcome outcome = begin_page(registry, query, &page);
	if (outcome == OUTCOME_OK)
		outcome = cached_index(registry, query, &index, &known);
	if (outcome == OUTCOME_OK && !known)
		outcome = read_index(registry, query, &page, &index);
	if (outcome == OUTCOME_OK)
		outcome = read_documents(registry, query, &page, &index, listed);
	if (outcome != OUTCOME_OK)
		return outcome;
	return listed->n == 0 && query->marker.p == NULL ? explain_empty(registry, query) : OUTCOME_OK;
}

struct str resource_marker(struct pool *pool, const struct resource_query *query, const struct resource *last)
{
	if (query->all_tenants || query->deleted)
		return str_printf(pool, "%llu", (unsigned long long)last->id);
	if (query->all_spaces)
		return str_printf(pool, "%.*s/%.*s", STR_ARG(last->space), STR_ARG(last->name));
	return last->name;
}

// A caller that reads many pages passes a pool of its own, and clears it after each page.
enum outcome resource_list(struct registry *registry, const struct resource_query *query, struct resource **list,
	size_t *n, bool *more)
{
	struct pool *own = registry->pool;
	struct listed listed;

	assert(query->type != NULL);
	if (query->pool != NULL)
		registry->pool = query->pool;
	enum outcome outcome = list_page(registry, query, &listed);
	registry->pool = own;
	*list = listed.list;
	*n = listed.n;
	*more = listed.more;
	return outcome;
}

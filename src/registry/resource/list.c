// SPDX-License-Identifier: Apache-2.0
// Lists of resources, a page at a time. What a page has is asked first, of an index: which resources, how large each is and
// which change was its last. A page is bounded by its bytes as well, since a thousand documents of a megabyte each would be
// more than a worker may hold; and what the worker remembers as it still is need not be read. Only then come the documents.
#include "base/base.h"

#include "base/clock.h"
#include "base/pool.h"
#include "registry/cache/page_cache.h"
#include "registry/cache/resource_cache.h"
#include "registry/core/internal.h"
#include "registry/log/horizon.h"
#include "registry/trait/filter.h"

enum { PAGE_MAX_BYTES = 4 << 20 };

#define THIS_TENANT "(SELECT id FROM tenants WHERE name = ? AND live = 1)"

// The two statements of a page take the same values, the last of which is the limit.
struct page_queries {
	struct db_query index, rows;
};
enum { INDEX_ID, INDEX_CHANGED, INDEX_BYTES };
#define INDEX_COLUMNS "r.id, r.changed, r.bytes"
#define INDEX_OUT "uuu"
#define PAGE(table, rest, in)                                                                                               \
	{ { "SELECT " INDEX_COLUMNS " FROM " table " WHERE r.tenant_id = " THIS_TENANT " AND r.type_id = ? " rest, in,       \
		  INDEX_OUT },                                                                                                  \
		{ "SELECT " RESOURCE_COLUMNS " FROM " table " WHERE r.tenant_id = " THIS_TENANT " AND r.type_id = ? " rest, in, \
			RESOURCE_OUT } }

// All; those with certain traits, looked for where they stand; the same, looked for among those that have a rare one.
enum { LOOK_AT_ALL, LOOK_AT_TRAITS, LOOK_AT_RARE, LOOK__COUNT };
// In the order of the address, so that a page costs as much as it has, not as much as is sorted for it.
#define IN_ORDER "resources r FORCE INDEX (page)"
#define LIVE_PAGES(where, order, in)                                                                            \
	{                                                                                                       \
		[LOOK_AT_ALL] = PAGE(IN_ORDER, where order, in "u"),                                            \
		[LOOK_AT_TRAITS] = PAGE(IN_ORDER, where TRAIT_CONDITION order, in TRAIT_CONDITION_IN "u"),      \
		[LOOK_AT_RARE] = PAGE(TRAIT_RARE " STRAIGHT_JOIN resources r ON r.id = f.resource_id",          \
			where TRAIT_CONDITION order, "s" in TRAIT_CONDITION_IN "u"),                            \
	}
static const struct page_queries of_space[LOOK__COUNT] =
	LIVE_PAGES("AND r.namespace = ? AND r.name > ? AND r.live IS NOT NULL", " ORDER BY r.name LIMIT ?", "suss");
static const struct page_queries of_all_spaces[LOOK__COUNT] =
	LIVE_PAGES("AND r.namespace >= ? AND (r.namespace > ? OR r.name > ?) AND r.live IS NOT NULL",
		" ORDER BY r.namespace, r.name LIMIT ?", "susss");
// The index with live in front of the names: what is deleted stands together in it.
static const struct page_queries of_deleted = PAGE("resources r FORCE INDEX (state)",
	"AND (? OR r.namespace = ?) AND r.live IS NULL AND r.purge_at > ? "
	"AND r.id > COALESCE((SELECT MAX(m.id) FROM resources m WHERE m.uid = ? AND m.live IS NULL AND m.changed = ?), 0) "
	"ORDER BY r.id LIMIT ?",
	"suustbuu");

// In order of ids, the key's last part.
#define ALL_TENANTS(columns, out)                                                                                       \
	{ "SELECT " columns " FROM resources r FORCE INDEX (type) JOIN tenants t ON t.id = r.tenant_id AND t.live = 1 AND " \
	  "t.deleted_at IS NULL WHERE r.type_id = ? AND r.live IN (1, 2) AND r.id > ? ORDER BY r.id LIMIT ?",                \
		"uuu", out }
static const struct page_queries of_all_tenants = { ALL_TENANTS(INDEX_COLUMNS, INDEX_OUT),
	ALL_TENANTS(RESOURCE_COLUMNS ", t.name", RESOURCE_OUT "s") };

static const struct db_query q_tenant_state = {
	"SELECT deleted_at, purge_at, id FROM tenants WHERE name = ? AND live = 1", "s", "ttu"
};
// Has anything changed in the tenant, or left it, since that change? All in one moment.
enum { SINCE_DELETED, SINCE_PURGE, SINCE_TENANT, SINCE_CHANGED, SINCE_OLDEST, SINCE_NEWEST };
static const struct db_query q_since = {
	"SELECT t.deleted_at, t.purge_at, t.id, "
	"EXISTS (SELECT 1 FROM changes c FORCE INDEX (tenant) WHERE c.tenant_id = ? AND c.id > ?) OR "
	"EXISTS (SELECT 1 FROM changes c FORCE INDEX (from_tenant) WHERE c.from_tenant_id = ? AND c.id > ?), "
	"COALESCE((SELECT MIN(c.id) FROM changes c), 0), COALESCE((SELECT MAX(c.id) FROM changes c), 0) "
	"FROM tenants t WHERE t.name = ? AND t.live = 1",
	"uuuus", "ttuuuu"
};
static const struct db_query q_space = {
	"SELECT r.id FROM resources r WHERE r.tenant_id = " THIS_TENANT
	" AND r.type_id = ? AND r.namespace = '' AND r.name = ? AND r.live IS NOT NULL",
	"sus", "u"
};

struct page {
	const struct page_queries *queries;
	struct db_value *in;
	struct db_value *limit; // in in
};

static struct page page_of(struct registry *registry, const struct page_queries *queries, const struct db_value *in,
	size_t n)
{
	struct db_value *values = call_values(registry->pool, in, n);

	return (struct page){ queries, values, &values[n - 1] };
}
#define PAGE_OF(registry, queries, ...) \
	page_of((registry), (queries), DB_IN(__VA_ARGS__), COUNT_OF(((const struct db_value[]){ __VA_ARGS__ })))

static enum outcome deleted_page(struct registry *registry, const struct resource_query *query, struct page *page)
{
	struct uuid *after = POOL_NEW(registry->pool, struct uuid);
	size_t slash = str_find(query->marker, '/', 0);
	uint64_t changed = 0; // by which of its changes that resource was deleted

	// The uid alone would not do: a resource made anew with it may have been deleted, too.
	if (query->marker.p != NULL &&
		!(uuid_parse(str_part(query->marker, 0, slash), after) && slash < query->marker.n &&
			str_to_u64(str_part(query->marker, slash + 1, query->marker.n), &changed)))
		return registry_fail(registry, OUTCOME_BAD_PARAMETER,
			"marker must be that of a deleted resource, as a list's next link has it");
	*page = PAGE_OF(registry, &of_deleted, db_s(query->tenant), db_u(query->type->id), db_u(query->all_spaces ? 1 : 0),
		db_s(query->space), db_t(registry->now_us), db_uuid(after), db_u(changed),
		db_u(query->limit + 1));
	return OUTCOME_OK;
}

// Where the page begins. Returns how many values that takes.
static size_t place_values(const struct resource_query *query, struct db_value *values)
{
	struct str space = STR_NONE, name = query->marker;
	size_t slash = str_find(query->marker, '/', 0), n = 0;

	values[n++] = db_s(query->tenant);
	values[n++] = db_u(query->type->id);
	if (!query->all_spaces) {
		values[n++] = db_s(query->space);
		values[n++] = db_s(query->marker);
		return n;
	}
	if (slash < query->marker.n) {
		space = str_part(query->marker, 0, slash);
		name = str_part(query->marker, slash + 1, query->marker.n);
	}
	values[n++] = db_s(space);
	values[n++] = db_s(space);
	values[n++] = db_s(name);
	return n;
}

static enum outcome live_page(struct registry *registry, const struct resource_query *query, struct page *page)
{
	const struct page_queries *queries = query->all_spaces ? of_all_spaces : of_space;
	struct db_value values[1 + 5 + TRAIT_CONDITION_VALUES + 1];
	struct trait_condition condition = { .n_all = 0 };
	int look = LOOK_AT_ALL;
	size_t n = 0;

	if (query->traits != NULL) {
		enum outcome outcome = trait_filter_resolve(registry, query->traits, &condition);
		if (outcome != OUTCOME_OK)
			return outcome;
		look = condition.rare.n > 0 ? LOOK_AT_RARE : LOOK_AT_TRAITS;
	}
	if (look == LOOK_AT_RARE)
		values[n++] = db_s(condition.rare);
	n += place_values(query, &values[n]);
	if (look != LOOK_AT_ALL) {
		trait_condition_values(&condition, &values[n]);
		n += TRAIT_CONDITION_VALUES;
	}
	values[n++] = db_u(query->limit + 1);
	*page = page_of(registry, &queries[look], values, n);
	return OUTCOME_OK;
}

size_t page_fitting(const uint64_t *bytes, size_t n, uint64_t limit)
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

static enum outcome page_of_all(struct registry *registry, const struct resource_query *query, struct page *page)
{
	uint64_t after = 0;

	if (query->marker.p != NULL && !str_to_u64(query->marker, &after))
		return registry_fail(registry, OUTCOME_BAD_PARAMETER, "marker must be the one that the list before ended with");
	*page = PAGE_OF(registry, &of_all_tenants, db_u(query->type->id), db_u(after), db_u(query->limit + 1));
	return OUTCOME_OK;
}

// Why is a list empty? Because its namespace is not there, or because there is nothing in it.
static enum outcome explain_empty(struct registry *registry, const struct resource_query *query)
{
	struct db_rows rows;

	if (!query->type->namespaced || query->all_spaces || query->all_tenants)
		return OUTCOME_OK;
	enum db_result result = db_run(registry->db, registry->pool, &q_space,
		DB_IN(db_s(query->tenant), db_u(type_namespaces(registry)->id), db_s(query->space)), &rows);
	if (result != DB_OK)
		return registry_db_failed(result);
	return rows.n > 0 || query->deleted ? OUTCOME_OK : fail_no_space(registry, query->space);
}

static enum outcome check_tenant(struct registry *registry, const struct resource_query *query,
	const struct db_rows *state)
{
	if (state->n == 0)
		return fail_no_tenant(registry, query->tenant);
	if (!db_at(state, 0, 0)->null)
		return fail_tenant_gone(registry, query->tenant, db_at(state, 0, 1)->i);
	return OUTCOME_OK;
}

// ---- remembered pages

// Who asks for the newest change has asked for the horizon (horizon.h), from which on a page can be compared.
static bool is_memorable(const struct registry *registry, const struct resource_query *query)
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

static void index_of_page(struct registry *registry, const struct known_page *page, struct db_rows *index)
{
	struct db_value *values = POOL_ARRAY(registry->pool, struct db_value, page->n * 3);

	*index = (struct db_rows){ .n = page->n, .columns = 3, .values = values };
	for (size_t i = 0; i < page->n; i++, values += 3) {
		values[INDEX_ID] = db_u(page->items[i].id);
		values[INDEX_CHANGED] = db_u(page->items[i].changed);
		values[INDEX_BYTES] = db_u(page->items[i].bytes);
	}
}

// The log has all that came after the page, and none of it is of this tenant.
static bool is_unchanged(const struct known_page *page, const struct db_value *since)
{
	return since[SINCE_TENANT].u == page->tenant_id && since[SINCE_CHANGED].u == 0 &&
	       since[SINCE_OLDEST].u <= page->complete + 1 && since[SINCE_NEWEST].u >= page->complete;
}

// *known: the page was remembered and nothing has changed since.
static enum outcome recall_index(struct registry *registry, const struct resource_query *query, struct db_rows *index,
	bool *known)
{
	const struct page_key key = key_of(query);
	const struct known_page *page = is_memorable(registry, query) ?
						pages_find(registry->pages, &key, clock_tick_us()) : NULL;
	struct db_rows state;

	*known = false;
	if (page == NULL)
		return OUTCOME_OK;
	enum db_result result = db_run(registry->db, registry->pool, &q_since,
		DB_IN(db_u(page->tenant_id), db_u(page->complete), db_u(page->tenant_id), db_u(page->complete),
			db_s(query->tenant)),
		&state);
	if (result != DB_OK)
		return registry_db_failed(result);
	*query->newest = horizon_published(registry);
	if (state.n > 0 && db_at(&state, 0, SINCE_NEWEST)->u > *query->newest)
		*query->newest = db_at(&state, 0, SINCE_NEWEST)->u;
	enum outcome outcome = check_tenant(registry, query, &state);
	*known = outcome == OUTCOME_OK && is_unchanged(page, db_at(&state, 0, 0));
	pages_tell(registry->pages, *known);
	if (*known)
		index_of_page(registry, page, index);
	return outcome;
}

// complete: how far the log was known to be so before the page was read.
static void keep_index(struct registry *registry, const struct resource_query *query, uint64_t tenant_id, uint64_t complete,
	const struct db_rows *index)
{
	const struct page_key key = key_of(query);
	struct page_item *items = pool_alloc(registry->pool, index->n * sizeof(*items));

	for (size_t i = 0; i < index->n; i++)
		items[i] = (struct page_item){ db_at(index, i, INDEX_ID)->u, db_at(index, i, INDEX_CHANGED)->u,
			db_at(index, i, INDEX_BYTES)->u };
	pages_keep(registry->pages, &key, &(struct known_page){ tenant_id, complete, index->n, items }, clock_tick_us());
}

// The tenant's state and what the page could have; in most cases that is all that is read.
static enum outcome read_index(struct registry *registry, const struct resource_query *query, const struct page *page,
	struct db_rows *index)
{
	struct db_call calls[] = {
		{ .query = &q_tenant_state, .in = DB_IN(db_s(query->tenant)) },
		{ .query = &page->queries->index, .in = page->in },
		newest_change_call(),
	};
	size_t first = query->all_tenants ? 1 : 0, end = query->newest != NULL ? 3 : 2;
	uint64_t complete = horizon_published(registry);
	enum db_result result = db_run_batch(registry->db, registry->pool, &calls[first], end - first);

	*index = calls[1].rows;
	if (result != DB_OK)
		return registry_db_failed(result);
	if (query->newest != NULL)
		*query->newest = newest_change(&calls[2]);
	enum outcome outcome = query->all_tenants ? OUTCOME_OK : check_tenant(registry, query, &calls[0].rows);
	if (outcome == OUTCOME_OK && index->n > 0 && complete > 0 && is_memorable(registry, query))
		keep_index(registry, query, db_at(&calls[0].rows, 0, 2)->u, complete, index);
	return outcome;
}

// ---- remembered resources

// Those of the page that were not. False: one of them is no longer what the index said.
static enum outcome read_missing(struct registry *registry, const struct resource_query *query, const struct db_rows *index,
	const size_t *missing, size_t n, struct resource *list, bool *same)
{
	struct db_call calls[DB_MAX_BATCH];

	for (size_t i = 0; i < n; i++)
		calls[i] = (struct db_call){
			.query = &resource_of_id,
			.in = CALL_VALUES(registry->pool, db_u(db_at(index, missing[i], INDEX_ID)->u)),
		};
	enum db_result result = db_run_batch(registry->db, registry->pool, calls, n);
	if (result != DB_OK)
		return registry_db_failed(result);
	*same = true;
	for (size_t i = 0; i < n && *same; i++) {
		struct resource *resource = &list[missing[i]];

		if (calls[i].rows.n == 1)
			resource_from_row(registry, resource, &calls[i].rows, 0, 0);
		resource->tenant = query->tenant;
		*same = calls[i].rows.n == 1 && resource->changed == db_at(index, missing[i], INDEX_CHANGED)->u;
		if (*same)
			recall_keep(registry->recall, resource, clock_tick_us());
	}
	return OUTCOME_OK;
}

// The first n of the index from memory, but for a few that are read one by one. *done: so it is, all of them as they stood
// together when the index was read; else as if nothing had been tried.
static enum outcome remember_page(struct registry *registry, const struct resource_query *query,
	const struct db_rows *index, size_t n, struct resource **list, bool *done)
{
	struct resource *resources = pool_alloc(registry->pool, n * sizeof(*resources));
	size_t missing[DB_MAX_BATCH], n_missing = 0;
	size_t may_miss = query->all_tenants ? 0 : DB_MAX_BATCH;
	int64_t now_us = clock_tick_us();

	*done = false;
	for (size_t i = 0; i < n; i++) {
		if (!recall_id(registry->recall, registry->pool, db_at(index, i, INDEX_ID)->u,
			    db_at(index, i, INDEX_CHANGED)->u, now_us, &resources[i])) {
			if (n_missing == may_miss)
				return OUTCOME_OK;
			missing[n_missing++] = i;
		}
		resources[i].type = query->type;
	}
	*list = resources;
	*done = true;
	return n_missing == 0 ? OUTCOME_OK : read_missing(registry, query, index, missing, n_missing, resources, done);
}

// ---- the page

// Where all fit, what others add meanwhile must not push out the last: then there is one more than a page may have.
static enum outcome read_page(struct registry *registry, const struct resource_query *query, const struct page *page,
	size_t fit, bool cut, struct resource **list, size_t *n, bool *more)
{
	struct db_call calls[] = { { .query = &page->queries->rows, .in = page->in }, newest_change_call() };
	const struct db_rows *rows = &calls[0].rows;

	page->limit->u = cut ? fit : query->limit + 1;
	enum db_result result = db_run_batch(registry->db, registry->pool, calls, query->newest != NULL ? 2 : 1);
	if (result != DB_OK)
		return registry_db_failed(result);
	if (query->newest != NULL)
		*query->newest = newest_change(&calls[1]);
	*n = rows->n > query->limit ? (size_t)query->limit : rows->n;
	*more = cut ? rows->n == fit : rows->n > query->limit;
	*list = POOL_ARRAY(registry->pool, struct resource, *n);
	for (size_t i = 0; i < *n; i++) {
		resource_from_row(registry, &(*list)[i], rows, i, 0);
		(*list)[i].tenant = query->all_tenants ? db_at(rows, i, RESOURCE_N_COLUMNS)->s : query->tenant;
		if (!db_txn_writes(registry->db))
			recall_keep(registry->recall, &(*list)[i], clock_tick_us());
	}
	return OUTCOME_OK;
}

static enum outcome read_documents(struct registry *registry, const struct resource_query *query, const struct page *page,
	const struct db_rows *index, struct resource **list, size_t *n, bool *more)
{
	uint64_t *bytes = POOL_ARRAY(registry->pool, uint64_t, index->n);
	for (size_t i = 0; i < index->n; i++)
		bytes[i] = db_at(index, i, INDEX_BYTES)->u;
	size_t fit = page_fitting(bytes, index->n, query->limit);
	bool done = fit == 0;
	enum outcome outcome = OUTCOME_OK;

	*n = fit;
	*more = fit < index->n;
	if (!done && !query->deleted && !db_txn_writes(registry->db))
		outcome = remember_page(registry, query, index, fit, list, &done);
	if (outcome == OUTCOME_OK && !done)
		outcome = read_page(registry, query, page, fit, *more, list, n, more);
	return outcome;
}

enum outcome resource_list(struct registry *registry, const struct resource_query *query, struct resource **list,
	size_t *n, bool *more)
{
	struct page page = { .in = NULL };
	struct db_rows index = { 0 };
	bool known = false;

	*n = 0;
	*more = false;
	assert(!query->deleted || query->traits == NULL);
	enum outcome outcome = query->all_tenants ? page_of_all(registry, query, &page) :
			       query->deleted     ? deleted_page(registry, query, &page) :
						    live_page(registry, query, &page);
	if (outcome == OUTCOME_OK)
		outcome = recall_index(registry, query, &index, &known);
	if (outcome == OUTCOME_OK && !known)
		outcome = read_index(registry, query, &page, &index);
	if (outcome == OUTCOME_OK)
		outcome = read_documents(registry, query, &page, &index, list, n, more);
	if (outcome != OUTCOME_OK)
		return outcome;
	return *n == 0 && query->marker.p == NULL ? explain_empty(registry, query) : OUTCOME_OK;
}

struct str resource_marker(struct pool *pool, const struct resource_query *query, const struct resource *last)
{
	if (query->all_tenants)
		return str_printf(pool, "%llu", (unsigned long long)last->id);
	if (query->deleted)
		return str_printf(pool, "%.*s/%llu", STR_ARG(uuid_str(pool, last->uid)), (unsigned long long)last->changed);
	if (query->all_spaces)
		return str_printf(pool, "%.*s/%.*s", STR_ARG(last->space), STR_ARG(last->name));
	return last->name;
}

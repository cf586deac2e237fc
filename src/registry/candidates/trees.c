// SPDX-License-Identifier: Apache-2.0
// Reads trees of providers, many at a time.
#include "base/base.h"

#include "registry/candidates/internal.h"

#include "base/buf.h"
#include "base/pool.h"
#include "db/list.h"
#include "registry/core/failure.h"
#include "registry/type/tree.h"

enum outcome portion_read(struct candidates *found, struct pool *pool, const struct str *roots, size_t n,
	struct portion *portion)
{
	struct registry *registry = found->registry;
	uint64_t type_id = provider_type(registry)->id;
	struct db_list list = db_list_new(pool, 48 * n);

	assert(n > 0);
	for (size_t i = 0; i < n; i++) {
		struct buf *item = db_list_item(&list);
		buf_addc(item, '"');
		buf_add_hex(item, roots[i].p, roots[i].n);
		buf_addc(item, '"');
	}
	const struct str json = db_list_end(&list);
	const struct sql_candidate_providers providers = { .roots = json, .type_id = type_id };
	const struct sql_candidate_inventories inventories = { .roots = json, .type_id = type_id };
	const struct sql_candidate_aggregates aggregates = { .roots = json, .type_id = type_id };
	struct db_call calls[] = { sql_candidate_providers_call(pool, &providers),
		sql_candidate_inventories_call(pool, &inventories), sql_candidate_aggregates_call(pool, &aggregates) };
	enum db_result result = db_run_batch(registry->db, pool, calls, found->reads_aggregates ? 3 : 2);
	*portion = (struct portion){ calls[0].rows, calls[1].rows, calls[2].rows };
	return result == DB_OK ? OUTCOME_OK : registry_db_failed(result);
}

// The first row whose id is at least id; the rows are sorted by it.
static size_t first_row(const struct db_rows *rows, uint64_t id, uint64_t (*id_of)(const struct db_rows *rows, size_t row))
{
	size_t low = 0, high = rows->n;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (id_of(rows, middle) < id)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static uint64_t inventory_owner(const struct db_rows *rows, size_t row)
{
	return sql_candidate_inventories_row(rows, row)->resource_id;
}

static uint64_t aggregate_owner(const struct db_rows *rows, size_t row)
{
	return sql_candidate_aggregates_row(rows, row)->resource_id;
}

static void take_inventories(struct pool *pool, const struct db_rows *rows, struct candidate_provider *provider)
{
	size_t from = first_row(rows, provider->id, inventory_owner), end = from;

	while (end < rows->n && inventory_owner(rows, end) == provider->id)
		end++;
	struct candidate_inventory *list = POOL_ARRAY(pool, struct candidate_inventory, end - from);
	for (size_t i = from; i < end; i++) {
		const struct sql_candidate_inventories_row *row = sql_candidate_inventories_row(rows, i);
		list[i - from] = (struct candidate_inventory){
			.class_id = row->class_id,
			.capacity = row->capacity,
			.used = row->used,
			.min_unit = row->min_unit,
			.max_unit = row->max_unit,
			.step_size = row->step_size,
		};
	}
	provider->inventories = list;
	provider->n_inventories = end - from;
}

static void take_aggregates(struct pool *pool, const struct db_rows *rows, struct candidate_provider *provider)
{
	size_t from = first_row(rows, provider->id, aggregate_owner), end = from;

	while (end < rows->n && aggregate_owner(rows, end) == provider->id)
		end++;
	struct uuid *list = POOL_ARRAY(pool, struct uuid, end - from);
	for (size_t i = from; i < end; i++)
		(void)uuid_from_bytes(sql_candidate_aggregates_row(rows, i)->aggregate, &list[i - from]);
	provider->aggregates = list;
	provider->n_aggregates = end - from;
}

// Sets the provider's traits to the numbers of those names in the JSON array that the query names. Names in the array are in
// byte order, so the numbers are ascending.
static void take_traits(const struct candidates *found, struct pool *pool, struct str json, struct candidate_provider *provider)
{
	uint64_t *list = POOL_ARRAY(pool, uint64_t, found->n_traits);
	size_t at = str_find(json, '"', 0);

	while (at < json.n) {
		size_t end = str_find(json, '"', at + 1);
		struct str name = str_part(json, at + 1, end);
		size_t number = candidate_query_trait_number(found, name);
		if (number != 0 && provider->n_traits < found->n_traits)
			list[provider->n_traits++] = number;
		provider->shares = provider->shares || str_eq(name, STR(SHARING_TRAIT));
		at = str_find(json, '"', end + 1);
	}
	provider->traits = list;
}

static int by_uid(const void *a, const void *b)
{
	const struct candidate_provider *const *x = a, *const *y = b;

	return memcmp((*x)->uid.b, (*y)->uid.b, sizeof((*x)->uid.b));
}

// The n providers of a tree, ordered by uid.
static const struct candidate_provider **sort_by_uid(struct pool *pool, const struct candidate_provider *list, size_t n)
{
	const struct candidate_provider **sorted = POOL_ARRAY(pool, const struct candidate_provider *, n);

	for (size_t i = 0; i < n; i++)
		sorted[i] = &list[i];
	qsort(sorted, n, sizeof(*sorted), by_uid);
	return sorted;
}

// The provider among these with that uid; NULL: there is none.
static const struct candidate_provider *find_provider(const struct candidate_provider **sorted, size_t n, struct uuid uid)
{
	const struct candidate_provider key = { .uid = uid }, *wanted = &key;
	const struct candidate_provider **hit = bsearch(&wanted, sorted, n, sizeof(*sorted), by_uid);

	return hit != NULL ? *hit : NULL;
}

// Builds the tree of the n rows from first on. False: its root is not among them, since it was deleted meanwhile.
static bool build(const struct candidates *found, struct pool *pool, const struct portion *portion, size_t first, size_t n,
	struct grove *grove)
{
	struct candidate_provider *list = POOL_ARRAY(pool, struct candidate_provider, n);
	size_t root = n;

	for (size_t i = 0; i < n; i++) {
		const struct sql_candidate_providers_row *row = sql_candidate_providers_row(&portion->providers, first + i);
		if (str_eq(row->uid, str_part(row->root, TREE_TYPE_BYTES, row->root.n)))
			root = i;
	}
	if (root == n)
		return false;
	grove->tree = (struct candidate_tree){ list, n };
	grove->traits = POOL_ARRAY(pool, struct str, n);
	for (size_t i = 0; i < n; i++) {
		size_t from = i == 0 ? root : i <= root ? i - 1 : i; // the root first, then the others in their order
		const struct sql_candidate_providers_row *row = sql_candidate_providers_row(&portion->providers, first + from);
		list[i] = (struct candidate_provider){ .id = row->id, .root = list };
		(void)uuid_from_bytes(row->uid, &list[i].uid);
		grove->traits[i] = str_dup(pool, row->traits.p != NULL ? row->traits : STR("[]"));
		take_traits(found, pool, grove->traits[i], &list[i]);
		take_inventories(pool, &portion->inventories, &list[i]);
		take_aggregates(pool, &portion->aggregates, &list[i]);
	}
	const struct candidate_provider **sorted = sort_by_uid(pool, list, n);
	for (size_t i = 1; i < n; i++) {
		size_t from = i <= root ? i - 1 : i;
		struct uuid parent;
		if (uuid_parse(sql_candidate_providers_row(&portion->providers, first + from)->parent, &parent))
			list[i].parent = find_provider(sorted, n, parent);
		if (list[i].parent == NULL)
			list[i].parent = list;
	}
	return true;
}

static size_t rows_of_tree(const struct portion *portion, size_t first)
{
	struct str root = sql_candidate_providers_row(&portion->providers, first)->root;
	size_t end = first + 1;

	while (end < portion->providers.n && str_eq(sql_candidate_providers_row(&portion->providers, end)->root, root))
		end++;
	return end - first;
}

// The index of the first row of the tree with that root; the rows are sorted by root. If there is none, the number of rows.
static size_t find_rows(const struct portion *portion, struct str root)
{
	size_t low = 0, high = portion->providers.n;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (str_cmp(sql_candidate_providers_row(&portion->providers, middle)->root, root) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	bool there = low < portion->providers.n && str_eq(sql_candidate_providers_row(&portion->providers, low)->root, root);
	return there ? low : portion->providers.n;
}

bool grove_build(const struct candidates *found, struct pool *pool, const struct portion *portion, struct grove *grove)
{
	size_t first = find_rows(portion, grove->root);

	return first < portion->providers.n && build(found, pool, portion, first, rows_of_tree(portion, first), grove);
}

// ---- sharing providers

enum outcome candidate_sharing_read(struct candidates *found, const struct db_rows *roots)
{
	struct str *list = POOL_ARRAY(found->pool, struct str, roots->n);
	struct portion portion;
	size_t n = 0;

	if (roots->n == 0)
		return OUTCOME_OK;
	found->reads_aggregates = true;
	for (size_t i = 0; i < roots->n; i++)
		list[i] = sql_candidate_sharing_trees_row(roots, i)->root;
	enum outcome outcome = portion_read(found, found->pool, list, roots->n, &portion);
	if (outcome != OUTCOME_OK)
		return outcome;
	found->shared_groves = POOL_ARRAY(found->pool, struct grove, roots->n);
	found->sharing = POOL_ARRAY(found->pool, const struct candidate_provider *, portion.providers.n);
	for (size_t at = 0; at < portion.providers.n; at += n) {
		struct grove *grove = &found->shared_groves[found->n_shared_groves];
		n = rows_of_tree(&portion, at);
		if (!build(found, found->pool, &portion, at, n, grove))
			continue;
		found->n_shared_groves++;
		for (size_t i = 0; i < grove->tree.n; i++) {
			if (grove->tree.providers[i].shares)
				found->sharing[found->n_sharing++] = &grove->tree.providers[i];
		}
	}
	return OUTCOME_OK;
}

struct grove *candidate_sharing_grove(const struct candidates *found, struct uuid root)
{
	for (size_t i = 0; i < found->n_shared_groves; i++) {
		if (uuid_eq(found->shared_groves[i].tree.providers[0].uid, root))
			return &found->shared_groves[i];
	}
	return NULL;
}

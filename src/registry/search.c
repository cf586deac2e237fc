// SPDX-License-Identifier: Apache-2.0
// Searching resources of a type, a page at a time: by whose they are, by tree, by alias, by members of their bodies; in order
// of creation or by a member. Which ones and how large is asked first, and then the documents of as many as fit.
#include "base/base.h"

#include "base/pool.h"
#include "registry/internal.h"

// ---- statements: one for each way of looking, with and without conditions, and for each order

// Where the search begins, so that the default order is that of an index. The tenant's row tells whether it is active.
#define OF_TENANT "t.id = r.tenant_id AND t.live = 1 AND t.deleted_at IS NULL"
#define ANY_TYPE "resources r FORCE INDEX (type) STRAIGHT_JOIN tenants t ON " OF_TENANT " WHERE r.type_id = ? AND r.live = 1"
#define IN_TENANT                                                                     \
	"tenants t STRAIGHT_JOIN resources r FORCE INDEX (owner) ON " OF_TENANT " WHERE " \
	"t.name = ? AND r.type_id = ? AND r.live = 1"
#define IN_TREE                                                                    \
	"resources r FORCE INDEX (root) STRAIGHT_JOIN tenants t ON " OF_TENANT " " \
	"WHERE r.root = ? AND r.type_id = ? AND r.live = 1 AND (? OR t.name = ?)"
// As many as have the alias are sorted.
#define BY_ALIAS                                                                                                      \
	"resource_aliases a STRAIGHT_JOIN resources r ON r.id = a.resource_id AND r.live = 1 STRAIGHT_JOIN tenants t ON " \
	OF_TENANT " WHERE a.type_id = ? AND a.kind = ? AND a.value LIKE ? AND a.live = 1 AND (? OR t.name = ?) "          \
	"AND (? OR r.root = ?)"

// A condition: 0 there is none, 1 a string like a pattern, 2 the JSON text of the member is, or is not, a word.
#define CONDITION                                                                                                            \
	" AND CASE ? WHEN 0 THEN 1 WHEN 1 THEN JSON_VALUE(r.body, ?) LIKE ? AND JSON_TYPE(JSON_EXTRACT(r.body, ?)) = 'STRING' " \
	"ELSE (CONCAT(COALESCE(JSON_EXTRACT(r.body, ?), 'null')) = ?) = ? END"
#define CONDITION_IN "usssssu"
#define CONDITIONS CONDITION CONDITION CONDITION CONDITION CONDITION CONDITION CONDITION CONDITION
#define CONDITIONS_IN \
	CONDITION_IN CONDITION_IN CONDITION_IN CONDITION_IN CONDITION_IN CONDITION_IN CONDITION_IN CONDITION_IN

// What is sorted by: enum sort_key. Bounded, so that the server sorts by all of it.
#define SORT_KEY                                                                                                         \
	"CASE ? WHEN 0 THEN LEFT(JSON_VALUE(r.body, ?), 255) WHEN 1 THEN HEX(r.uid) WHEN 2 THEN CAST(r.created_at AS CHAR(32)) " \
	"WHEN 3 THEN CAST(NULLIF(r.updated_at, r.created_at) AS CHAR(32)) ELSE NULLIF(t.name, '" TENANT_SYSTEM "') END"
#define SORT_KEY_IN "us"
enum sort_key { KEY_MEMBER, KEY_UID, KEY_CREATED, KEY_UPDATED, KEY_OWNER };

// Nulls come first, and last where all is turned around.
#define BEHIND "HAVING (? OR k > ? OR (k <=> ? AND r.id > ?) OR (? AND k IS NOT NULL)) ORDER BY k, r.id LIMIT ?"
#define BEFORE "HAVING (? OR k < ? OR (k <=> ? AND r.id < ?) OR (? AND k IS NULL)) ORDER BY k DESC, r.id DESC LIMIT ?"
#define SIDE_IN "ussuuu"

#define QUERIES(from, in)                                                                                                 \
	{                                                                                                                 \
		[BY_ID] = { "SELECT r.id, r.bytes FROM " from " AND r.id > ? ORDER BY r.id LIMIT ?", in "uu", "uu" },     \
		[BY_ID_DOWN] = { "SELECT r.id, r.bytes FROM " from " AND r.id < ? ORDER BY r.id DESC LIMIT ?", in "uu",   \
			"uu" },                                                                                           \
		[BY_KEY] = { "SELECT r.id, r.bytes, " SORT_KEY " AS k FROM " from " " BEHIND, SORT_KEY_IN in SIDE_IN,     \
			"uus" },                                                                                          \
		[BY_KEY_DOWN] = { "SELECT r.id, r.bytes, " SORT_KEY " AS k FROM " from " " BEFORE,                        \
			SORT_KEY_IN in SIDE_IN, "uus" },                                                                  \
	}
enum order { BY_ID, BY_ID_DOWN, BY_KEY, BY_KEY_DOWN, ORDER__COUNT };
enum way { WAY_TYPE, WAY_TENANT, WAY_TREE, WAY_ALIAS, WAY__COUNT };

static const struct db_query q_search[WAY__COUNT][2][ORDER__COUNT] = {
	[WAY_TYPE] = { QUERIES(ANY_TYPE, "u"), QUERIES(ANY_TYPE CONDITIONS, "u" CONDITIONS_IN) },
	[WAY_TENANT] = { QUERIES(IN_TENANT, "su"), QUERIES(IN_TENANT CONDITIONS, "su" CONDITIONS_IN) },
	[WAY_TREE] = { QUERIES(IN_TREE, "buus"), QUERIES(IN_TREE CONDITIONS, "buus" CONDITIONS_IN) },
	[WAY_ALIAS] = { QUERIES(BY_ALIAS, "ussusub"), QUERIES(BY_ALIAS CONDITIONS, "ussusub" CONDITIONS_IN) },
};
// One that was deleted since the page before it still tells where that ended.
static const struct db_query q_marker = {
	"SELECT r.id, " SORT_KEY " FROM resources r JOIN tenants t ON " OF_TENANT " WHERE r.uid = ? AND r.type_id = ? "
	"AND (? OR t.name = ?) ORDER BY r.live DESC, r.changed DESC, r.id DESC LIMIT 1",
	SORT_KEY_IN "buus", "us"
};
// n: its place in the page.
static const struct db_query q_documents = {
	"SELECT x.n, t.name, " RESOURCE_COLUMNS " FROM JSON_TABLE(?, '$[*]' COLUMNS (n FOR ORDINALITY, id BIGINT UNSIGNED "
	"PATH '$')) x STRAIGHT_JOIN resources r ON r.id = x.id AND r.live = 1 STRAIGHT_JOIN tenants t ON " OF_TENANT
	" WHERE (? OR t.name = ?)",
	"sus", "us" RESOURCE_OUT
};

// ---- values

enum { MAX_VALUES = 96 };

struct values {
	struct db_value at[MAX_VALUES];
	size_t n;
};

static void add(struct values *values, struct db_value value)
{
	assert(values->n < MAX_VALUES);
	values->at[values->n++] = value;
}

static void add_flag(struct values *values, bool flag)
{
	add(values, db_u(flag ? 1 : 0));
}

// (? OR t.name = ?)
static void add_tenant(struct values *values, struct str tenant)
{
	add_flag(values, tenant.p == NULL);
	add(values, db_s(tenant));
}

static struct str json_path(struct pool *pool, const char *member)
{
	return str_printf(pool, "$.%s", member);
}

// Text of any characters as part of a pattern.
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

static void add_word_condition(struct values *values, struct str path, const char *word, bool is)
{
	const struct str none = STR("");

	add(values, db_u(2));
	add(values, db_s(none));
	add(values, db_s(none));
	add(values, db_s(none));
	add(values, db_s(path));
	add(values, db_s(str_c(word)));
	add_flag(values, is);
}

static void add_string_condition(struct values *values, struct str path, struct str pattern)
{
	const struct str none = STR("");

	add(values, db_u(1));
	add(values, db_s(path));
	add(values, db_s(pattern));
	add(values, db_s(path));
	add(values, db_s(none));
	add(values, db_s(none));
	add(values, db_u(0));
}

static void add_condition(struct pool *pool, struct values *values, const struct search_condition *condition)
{
	struct str path = json_path(pool, condition->member);

	switch (condition->test) {
	case SEARCH_IS:
		add_string_condition(values, path, pattern_of(pool, "", condition->value, ""));
		break;
	case SEARCH_CONTAINS:
		add_string_condition(values, path, pattern_of(pool, "%", condition->value, "%"));
		break;
	case SEARCH_TRUE:
		add_word_condition(values, path, "true", true);
		break;
	case SEARCH_FALSE:
		add_word_condition(values, path, "false", true);
		break;
	case SEARCH_NULL:
		add_word_condition(values, path, "null", true);
		break;
	case SEARCH_NOT_NULL:
		add_word_condition(values, path, "null", false);
		break;
	}
}

static void add_conditions(struct pool *pool, struct values *values, const struct resource_search *search)
{
	const char *letters = CONDITION_IN;

	assert(search->n_conditions <= SEARCH_MAX_CONDITIONS);
	for (size_t i = 0; i < search->n_conditions; i++)
		add_condition(pool, values, &search->conditions[i]);
	for (size_t i = search->n_conditions; search->n_conditions > 0 && i < SEARCH_MAX_CONDITIONS; i++)
		for (size_t j = 0; letters[j] != '\0'; j++)
			add(values, letters[j] == 'u' ? db_u(0) : db_s(STR("")));
}

static void add_sort_key(struct pool *pool, struct values *values, const char *sort)
{
	static const char *const names[] = {
		[KEY_UID] = "uuid", [KEY_CREATED] = "created_at", [KEY_UPDATED] = "updated_at", [KEY_OWNER] = "owner"
	};
	enum sort_key key = KEY_MEMBER;

	for (size_t i = KEY_UID; sort != NULL && i < COUNT_OF(names); i++)
		if (strcmp(sort, names[i]) == 0)
			key = i;
	add(values, db_u(key));
	add(values, db_s(json_path(pool, sort != NULL ? sort : "")));
}

static enum way add_way(struct registry *registry, struct values *values, const struct resource_search *search)
{
	struct pool *pool = registry->pool;
	struct db_value root = search->root != NULL ? db_b(tree_value(registry, search->type, search->root)) : db_null('b');
	struct db_value type = db_u(search->type->id);

	if (search->alias_kind != NULL) {
		add(values, type);
		add(values, db_s(str_c(search->alias_kind)));
		add(values, db_s(pattern_of(pool, "", search->alias_prefix, "%")));
		add_tenant(values, search->tenant);
		add_flag(values, search->root == NULL);
		add(values, root);
		return WAY_ALIAS;
	}
	if (search->root != NULL) {
		add(values, root);
		add(values, type);
		add_tenant(values, search->tenant);
		return WAY_TREE;
	}
	if (search->tenant.p != NULL)
		add(values, db_s(search->tenant));
	add(values, type);
	return search->tenant.p != NULL ? WAY_TENANT : WAY_TYPE;
}

// ---- the page

// Where the page before this one ended.
struct marker {
	bool set;
	uint64_t id;
	struct db_value key; // of BY_KEY
};

static enum outcome find_marker(struct registry *registry, const struct resource_search *search, struct marker *marker)
{
	struct values values = { .n = 0 };
	struct db_rows rows;

	*marker = (struct marker){ .set = search->marker != NULL, .id = search->descending ? UINT64_MAX : 0, .key = db_null('s') };
	if (!marker->set)
		return OUTCOME_OK;
	add_sort_key(registry->pool, &values, search->sort);
	add(&values, db_uuid(search->marker));
	add(&values, db_u(search->type->id));
	add_tenant(&values, search->tenant);
	enum db_result result = db_run(registry->db, registry->pool, &q_marker, values.at, &rows);
	if (result != DB_OK)
		return registry_db_failed(result);
	if (rows.n == 0)
		return registry_fail(registry, OUTCOME_NOT_FOUND, "there is no %.*s %.*s: marker is to be the last of a page",
			STR_ARG(search->type->singular), STR_ARG(uuid_str(registry->pool, *search->marker)));
	marker->id = db_at(&rows, 0, 0)->u;
	marker->key = *db_at(&rows, 0, 1);
	return OUTCOME_OK;
}

static void add_side(struct values *values, const struct resource_search *search, const struct marker *marker)
{
	if (search->sort == NULL) {
		add(values, db_u(marker->id));
	} else {
		add_flag(values, !marker->set);
		add(values, marker->key);
		add(values, marker->key);
		add(values, db_u(marker->id));
		add_flag(values, search->descending ? !marker->key.null : marker->key.null);
	}
	add(values, db_u(search->limit + 1));
}

// (id, bytes) of what the page could have, and of one more.
static enum outcome measure(struct registry *registry, const struct resource_search *search, struct db_rows *sizes)
{
	struct values values = { .n = 0 };
	struct marker marker;
	enum order order = search->sort == NULL ? BY_ID : BY_KEY;
	enum outcome outcome = find_marker(registry, search, &marker);

	if (outcome != OUTCOME_OK)
		return outcome;
	if (search->sort != NULL)
		add_sort_key(registry->pool, &values, search->sort);
	enum way way = add_way(registry, &values, search);
	add_conditions(registry->pool, &values, search);
	add_side(&values, search, &marker);
	const struct db_query *query = &q_search[way][search->n_conditions > 0 ? 1 : 0][search->descending ? order + 1 : order];
	enum db_result result = db_run(registry->db, registry->pool, query, values.at, sizes);
	return result == DB_OK ? OUTCOME_OK : registry_db_failed(result);
}

static struct str id_list(struct pool *pool, const struct db_rows *sizes, size_t n)
{
	struct buf list = buf_new(pool, 16 + n * 8);

	for (size_t i = 0; i < n; i++) {
		buf_addc(&list, i == 0 ? '[' : ',');
		buf_add_u64(&list, db_at(sizes, i, 0)->u);
	}
	buf_addc(&list, ']');
	return buf_str(&list);
}

// Puts the documents into their places. What has left since its size was asked leaves no gap.
static size_t place(struct registry *registry, const struct db_rows *rows, struct resource *list, size_t n)
{
	size_t placed = 0;

	for (size_t i = 0; i < n; i++)
		list[i].type = NULL;
	for (size_t i = 0; i < rows->n; i++) {
		struct resource *resource = &list[db_at(rows, i, 0)->u - 1];
		resource_from_row(registry, resource, rows, i, 2);
		resource->tenant = db_at(rows, i, 1)->s;
	}
	for (size_t i = 0; i < n; i++)
		if (list[i].type != NULL)
			list[placed++] = list[i];
	return placed;
}

enum outcome resource_search(struct registry *registry, const struct resource_search *search, struct resource **list,
	size_t *n, bool *more)
{
	struct db_rows sizes = { 0 }, rows;

	*n = 0;
	*more = false;
	enum outcome outcome = measure(registry, search, &sizes);
	if (outcome != OUTCOME_OK || sizes.n == 0)
		return outcome;
	size_t fitting = page_fitting(&sizes, 1, search->limit);
	enum db_result result = db_run(registry->db, registry->pool, &q_documents,
		DB_IN(db_s(id_list(registry->pool, &sizes, fitting)), db_u(search->tenant.p == NULL ? 1 : 0),
			db_s(search->tenant)),
		&rows);
	if (result != DB_OK)
		return registry_db_failed(result);
	*list = POOL_ARRAY(registry->pool, struct resource, fitting);
	*n = place(registry, &rows, *list, fitting);
	*more = sizes.n > fitting && *n > 0;
	return OUTCOME_OK;
}

// SPDX-License-Identifier: Apache-2.0
// Lists of providers. A statement begins with the filter that few providers pass, by its index, and asks each of those for
// the rest: so it costs what is found, and not how many providers there are.
#include "base/base.h"

#include "base/buf.h"
#include "base/pool.h"
#include "registry/catalogue.h"
#include "registry/provider_internal.h"

enum { COUNT_UP_TO = 1000, MAX_TOLD = 1024 /* bytes of names in a message */ };

// What is given as JSON: pairs of a term's number and an id or 32 hex digits, lists of ids or hex digits, pairs of a class
// and an amount.
#define TERM_IDS "JSON_TABLE(?, '$[*]' COLUMNS (term INT PATH '$[0]', id INT UNSIGNED PATH '$[1]')) q"
#define TERM_HEXES \
	"JSON_TABLE(?, '$[*]' COLUMNS (term INT PATH '$[0]', hex CHAR(32) CHARACTER SET ascii PATH '$[1]')) q"
#define LIST_OF_IDS "JSON_TABLE(?, '$[*]' COLUMNS (id INT UNSIGNED PATH '$')) q"
#define LIST_OF_HEXES "JSON_TABLE(?, '$[*]' COLUMNS (hex CHAR(32) CHARACTER SET ascii PATH '$')) q"
#define AMOUNTS "JSON_TABLE(?, '$[*]' COLUMNS (class INT UNSIGNED PATH '$[0]', amount BIGINT PATH '$[1]')) q"

// Which filter a statement begins with.
enum way { BY_NAME, BY_UID, BY_TREE, BY_TRAIT, BY_AGGREGATE, BY_CLASS, BY_TYPE, N_WAYS };
#define FROM_NAME                                                                                             \
	"resource_aliases a STRAIGHT_JOIN resources r ON a.type_id = ? AND a.kind = 'name' AND a.value = ? AND " \
	"a.live = 1 AND r.id = a.resource_id"
#define FROM_UID "resources o STRAIGHT_JOIN resources r ON o.uid = ? AND o.type_id = ? AND o.live = 1 AND r.id = o.id"
#define FROM_TREE                                                                                               \
	"resources o STRAIGHT_JOIN resources r FORCE INDEX (root) ON o.uid = ? AND o.type_id = ? AND o.live = 1 AND " \
	"r.root = o.root"
#define FROM_TRAIT                                                                                            \
	"(SELECT DISTINCT x.resource_id FROM " LIST_OF_IDS " STRAIGHT_JOIN resource_traits x ON x.trait_id = q.id) d " \
	"STRAIGHT_JOIN resources r ON r.id = d.resource_id"
#define FROM_AGGREGATE                                                                                          \
	"(SELECT DISTINCT x.resource_id FROM " LIST_OF_HEXES " STRAIGHT_JOIN provider_aggregates x ON x.aggregate = " \
	"UNHEX(q.hex)) d STRAIGHT_JOIN resources r ON r.id = d.resource_id"
#define FROM_CLASS \
	"inventories v STRAIGHT_JOIN resources r ON v.class_id = ? AND v.free >= ? AND r.id = v.resource_id"
#define FROM_TYPE "resources r FORCE INDEX (type)"

// What all have to pass. Behind each number of terms, 0 where there are none, stand the terms, and, where all are to be
// found, their number again.
#define ALL_OF(terms, table) \
	"(? = 0 OR (SELECT COUNT(DISTINCT q.term) FROM " terms " STRAIGHT_JOIN " table ") = ?)"
#define NONE_OF(terms, table) "(? = 0 OR NOT EXISTS (SELECT 1 FROM " terms " STRAIGHT_JOIN " table "))"
#define FILTER                                                                                                        \
	"r.type_id = ? AND r.live = 1 AND (? OR r.uid = ?) "                                                          \
	"AND (? OR r.root = (SELECT w.root FROM resources w WHERE w.uid = ? AND w.type_id = ? AND w.live = 1)) "      \
	"AND " ALL_OF(TERM_IDS, "resource_traits x ON x.resource_id = r.id AND x.trait_id = q.id")                    \
	" AND " NONE_OF(LIST_OF_IDS, "resource_traits x ON x.resource_id = r.id AND x.trait_id = q.id")               \
	" AND " ALL_OF(TERM_HEXES, "provider_aggregates x ON x.resource_id = r.id AND x.aggregate = UNHEX(q.hex)")    \
	" AND " NONE_OF(LIST_OF_HEXES, "provider_aggregates x ON x.resource_id = r.id AND x.aggregate = UNHEX(q.hex)") \
	" AND (? = 0 OR (SELECT COUNT(*) FROM " AMOUNTS " STRAIGHT_JOIN inventories i ON i.resource_id = r.id AND "   \
	"i.class_id = q.class WHERE i.free >= q.amount AND i.min_unit <= q.amount AND i.max_unit >= q.amount AND "    \
	"q.amount MOD i.step_size = 0) = ?)"
#define FILTER_IN "u" "ub" "ubu" "usu" "us" "usu" "us" "usu"

#define LIST(from, in)                                                                                                \
	{ "SELECT r.id, r.uid, r.tenant_id, t.name, r.root, r.body, r.created_at, r.updated_at, COALESCE(p.generation, 0) " \
	  "FROM " from " STRAIGHT_JOIN tenants t ON t.id = r.tenant_id AND t.deleted_at IS NULL "                      \
	  "LEFT JOIN providers p ON p.resource_id = r.id WHERE " FILTER " ORDER BY r.id",                              \
		in FILTER_IN, "ubusbsttu" }
static const struct db_query q_list[N_WAYS] = {
	[BY_NAME] = LIST(FROM_NAME, "us"),
	[BY_UID] = LIST(FROM_UID, "bu"),
	[BY_TREE] = LIST(FROM_TREE, "bu"),
	[BY_TRAIT] = LIST(FROM_TRAIT, "s"),
	[BY_AGGREGATE] = LIST(FROM_AGGREGATE, "s"),
	[BY_CLASS] = LIST(FROM_CLASS, "uu"),
	[BY_TYPE] = LIST(FROM_TYPE, ""),
};

// How many pass a term, so far as it matters.
#define COUNTED(from, in) { "SELECT COUNT(*) FROM (SELECT 1 FROM " from " LIMIT ?) c", in "u", "u" }
static const struct db_query q_count[N_WAYS] = {
	[BY_TRAIT] = COUNTED(LIST_OF_IDS " STRAIGHT_JOIN resource_traits x ON x.trait_id = q.id", "s"),
	[BY_AGGREGATE] = COUNTED(LIST_OF_HEXES " STRAIGHT_JOIN provider_aggregates x ON x.aggregate = UNHEX(q.hex)", "s"),
	[BY_CLASS] = COUNTED("inventories v WHERE v.class_id = ? AND v.free >= ?", "uu"),
};

static const struct db_query q_trait_ids = {
	"SELECT t.name, t.id FROM " TRAIT_NAMES " STRAIGHT_JOIN traits t ON t.name = j.name AND t.live = 1 ORDER BY t.name",
	"s", "su"
};

// Where a statement may begin: a term and its values.
struct beginning {
	enum way way;
	const struct db_value *values;
	size_t n;
};

// A query with its names as ids.
struct search {
	struct registry *registry;
	const struct provider_query *query;
	uint64_t *trait_ids; // of all requirements, one after the other
	uint64_t *class_ids; // of the demands
	struct beginning *beginnings;
	size_t n_beginnings;
	struct buf all_traits, no_traits, all_aggregates, no_aggregates, amounts; // JSON
	uint64_t n_all_traits, n_no_traits, n_all_aggregates, n_no_aggregates;
};

// ---- names

static enum outcome check_size(struct registry *registry, const struct provider_query *query)
{
	if (query->n_memberships <= PROVIDER_MAX_TERMS && query->n_requirements <= PROVIDER_MAX_TERMS &&
		query->n_demands <= PROVIDER_MAX_TERMS)
		return OUTCOME_OK;
	return registry_fail(registry, OUTCOME_BAD_PARAMETER,
		"Invalid query string parameters: each of member_of, required and resources may have %d terms at most",
		PROVIDER_MAX_TERMS);
}

static int by_name(const void *name, const void *trait)
{
	return str_cmp(*(const struct str *)name, ((const struct trait *)trait)->name);
}

static int by_first(const void *name, const void *row)
{
	return str_cmp(*(const struct str *)name, ((const struct db_value *)row)->s);
}

// From the catalogue that the worker holds. *missing: how many it does not have.
static enum outcome look_up_held(struct search *search, const struct str *names, size_t n, size_t *missing)
{
	const struct trait_query query = { .named = true, .names = names, .n_names = n };
	const struct trait *list;
	size_t n_list;
	enum outcome outcome = trait_list(search->registry, &query, &list, &n_list);

	if (outcome != OUTCOME_OK)
		return outcome;
	*missing = 0;
	for (size_t i = 0; i < n; i++) {
		const struct trait *trait = n_list > 0 ? bsearch(&names[i], list, n_list, sizeof(*list), by_name) : NULL;
		search->trait_ids[i] = trait != NULL ? trait->id : 0;
		*missing += trait == NULL;
	}
	return OUTCOME_OK;
}

// What is not held may have been made a moment ago.
static enum outcome look_up_stored(struct search *search, const struct str *names, size_t n)
{
	struct registry *registry = search->registry;
	struct db_rows rows;
	enum db_result result = db_run(registry->db, registry->pool, &q_trait_ids,
		DB_IN(db_s(names_as_json(registry->pool, names, n))), &rows);

	if (result != DB_OK)
		return registry_db_failed(result);
	for (size_t i = 0; i < n; i++) {
		const struct db_value *row =
			rows.n > 0 ? bsearch(&names[i], rows.values, rows.n, 2 * sizeof(*rows.values), by_first) : NULL;
		search->trait_ids[i] = row != NULL ? row[1].u : 0;
	}
	return OUTCOME_OK;
}

static enum outcome check_traits(const struct search *search, const struct str *names, size_t n)
{
	struct buf unknown = buf_new(search->registry->pool, 64);

	for (size_t i = 0; i < n; i++) {
		if (search->trait_ids[i] == 0 && unknown.n < MAX_TOLD)
			buf_addf(&unknown, "%s%.*s", unknown.n > 0 ? ", " : "", STR_ARG(str_part(names[i], 0, 256)));
	}
	if (unknown.n == 0)
		return OUTCOME_OK;
	return registry_fail(search->registry, OUTCOME_BAD_PARAMETER, "No such trait(s): %.*s.", STR_ARG(buf_str(&unknown)));
}

static enum outcome name_traits(struct search *search)
{
	struct pool *pool = search->registry->pool;
	const struct provider_query *query = search->query;
	size_t n = 0, at = 0, missing = 0;

	for (size_t i = 0; i < query->n_requirements; i++)
		n += query->requirements[i].n;
	if (n == 0)
		return OUTCOME_OK;
	struct str *names = POOL_ARRAY(pool, struct str, n);
	for (size_t i = 0; i < query->n_requirements; i++) {
		for (size_t k = 0; k < query->requirements[i].n; k++)
			names[at++] = query->requirements[i].traits[k];
	}
	search->trait_ids = POOL_ARRAY(pool, uint64_t, n);
	enum outcome outcome = look_up_held(search, names, n, &missing);
	if (outcome == OUTCOME_OK && missing > 0)
		outcome = look_up_stored(search, names, n);
	return outcome == OUTCOME_OK ? check_traits(search, names, n) : outcome;
}

static enum outcome name_classes(struct search *search)
{
	struct registry *registry = search->registry;
	const struct provider_query *query = search->query;
	struct str *names = POOL_ARRAY(registry->pool, struct str, query->n_demands), unknown;

	search->class_ids = POOL_ARRAY(registry->pool, uint64_t, query->n_demands);
	for (size_t i = 0; i < query->n_demands; i++)
		names[i] = query->demands[i].class;
	enum outcome outcome = classes_find(registry, names, query->n_demands, false, search->class_ids, &unknown);
	if (outcome != OUTCOME_OK || unknown.p == NULL)
		return outcome;
	return registry_fail(registry, OUTCOME_BAD_PARAMETER,
		"Invalid resource class in resources parameter: No such resource class %.*s.", STR_ARG(str_part(unknown, 0, 256)));
}

// ---- terms

static void add_beginning(struct search *search, enum way way, const struct db_value *values, size_t n)
{
	search->beginnings[search->n_beginnings++] = (struct beginning){ way, values, n };
}

static void add_item(struct buf *json, struct str item)
{
	buf_add(json, json->n > 1 ? STR(",") : STR_NONE);
	buf_add(json, item);
}

// A term's own list, for a statement that begins with it, stands beside the list of all pairs.
static void add_requirement(struct search *search, size_t index, const uint64_t *ids)
{
	struct pool *pool = search->registry->pool;
	const struct provider_requirement *requirement = &search->query->requirements[index];
	struct buf own = buf_new(pool, 32);

	buf_addc(&own, '[');
	for (size_t i = 0; i < requirement->n; i++) {
		struct str id = str_printf(pool, "%llu", (unsigned long long)ids[i]);
		add_item(&own, id);
		if (requirement->forbidden)
			add_item(&search->no_traits, id);
		else
			add_item(&search->all_traits, str_printf(pool, "[%zu,%.*s]", index, STR_ARG(id)));
	}
	buf_addc(&own, ']');
	if (requirement->forbidden) {
		search->n_no_traits++;
		return;
	}
	search->n_all_traits++;
	add_beginning(search, BY_TRAIT, CALL_VALUES(pool, db_s(buf_str(&own))), 1);
}

static void add_membership(struct search *search, size_t index)
{
	struct pool *pool = search->registry->pool;
	const struct provider_membership *membership = &search->query->memberships[index];
	struct buf own = buf_new(pool, 64);

	buf_addc(&own, '[');
	for (size_t i = 0; i < membership->n; i++) {
		struct buf hex = buf_new(pool, 36);
		buf_addc(&hex, '"');
		buf_add_hex(&hex, membership->aggregates[i].b, sizeof(membership->aggregates[i].b));
		buf_addc(&hex, '"');
		add_item(&own, buf_str(&hex));
		if (membership->forbidden)
			add_item(&search->no_aggregates, buf_str(&hex));
		else
			add_item(&search->all_aggregates, str_printf(pool, "[%zu,%.*s]", index, STR_ARG(buf_str(&hex))));
	}
	buf_addc(&own, ']');
	if (membership->forbidden) {
		search->n_no_aggregates++;
		return;
	}
	search->n_all_aggregates++;
	add_beginning(search, BY_AGGREGATE, CALL_VALUES(pool, db_s(buf_str(&own))), 1);
}

static void add_demand(struct search *search, size_t index)
{
	struct pool *pool = search->registry->pool;
	uint64_t class = search->class_ids[index], amount = search->query->demands[index].amount;

	// More than any inventory has is as good as all numbers above it.
	if (amount > INT64_MAX)
		amount = INT64_MAX;
	add_item(&search->amounts,
		str_printf(pool, "[%llu,%llu]", (unsigned long long)class, (unsigned long long)amount));
	add_beginning(search, BY_CLASS, CALL_VALUES(pool, db_u(class), db_u(amount)), 2);
}

static struct buf new_list(struct pool *pool)
{
	struct buf json = buf_new(pool, 64);

	buf_addc(&json, '[');
	return json;
}

static void add_terms(struct search *search)
{
	const struct provider_query *query = search->query;
	struct pool *pool = search->registry->pool;
	const uint64_t *ids = search->trait_ids;
	struct buf *lists[] = { &search->all_traits, &search->no_traits, &search->all_aggregates, &search->no_aggregates,
		&search->amounts };

	search->beginnings =
		POOL_ARRAY(pool, struct beginning, query->n_requirements + query->n_memberships + query->n_demands);
	for (size_t i = 0; i < COUNT_OF(lists); i++)
		*lists[i] = new_list(pool);
	for (size_t i = 0; i < query->n_requirements; ids += query->requirements[i++].n)
		add_requirement(search, i, ids);
	for (size_t i = 0; i < query->n_memberships; i++)
		add_membership(search, i);
	for (size_t i = 0; i < query->n_demands; i++)
		add_demand(search, i);
	for (size_t i = 0; i < COUNT_OF(lists); i++)
		buf_addc(lists[i], ']');
}

// ---- where to begin

// The one that the fewest pass. Beyond what a batch can count it does not look.
static enum outcome choose_term(const struct search *search, struct beginning *best)
{
	struct registry *registry = search->registry;
	struct db_call calls[DB_MAX_BATCH] = { 0 };
	size_t n = search->n_beginnings < DB_MAX_BATCH ? search->n_beginnings : DB_MAX_BATCH, least = 0;

	for (size_t i = 0; i < n; i++) {
		const struct beginning *beginning = &search->beginnings[i];
		struct db_value *in = POOL_ARRAY(registry->pool, struct db_value, beginning->n + 1);
		memcpy(in, beginning->values, beginning->n * sizeof(*in));
		in[beginning->n] = db_u(COUNT_UP_TO);
		calls[i] = (struct db_call){ .query = &q_count[beginning->way], .in = in };
	}
	enum db_result result = n > 1 ? db_run_batch(registry->db, registry->pool, calls, n) : DB_OK;
	if (result != DB_OK)
		return registry_db_failed(result);
	for (size_t i = 1; i < n; i++) {
		if (db_at(&calls[i].rows, 0, 0)->u < db_at(&calls[least].rows, 0, 0)->u)
			least = i;
	}
	*best = search->beginnings[least];
	return OUTCOME_OK;
}

static enum outcome choose_beginning(const struct search *search, struct beginning *beginning)
{
	struct registry *registry = search->registry;
	const struct provider_query *query = search->query;
	struct db_value type = db_u(provider_type(registry)->id);

	*beginning = (struct beginning){ .way = BY_TYPE };
	if (query->name.p != NULL)
		*beginning = (struct beginning){ BY_NAME, CALL_VALUES(registry->pool, type, db_s(query->name)), 2 };
	else if (query->uid != NULL)
		*beginning = (struct beginning){ BY_UID, CALL_VALUES(registry->pool, db_uuid(query->uid), type), 2 };
	else if (query->in_tree != NULL)
		*beginning = (struct beginning){ BY_TREE, CALL_VALUES(registry->pool, db_uuid(query->in_tree), type), 2 };
	else if (search->n_beginnings > 0)
		return choose_term(search, beginning);
	return OUTCOME_OK;
}

// ---- the list

static enum outcome run(const struct search *search, const struct beginning *beginning, struct db_rows *rows)
{
	struct registry *registry = search->registry;
	const struct provider_query *query = search->query;
	const struct db_value filter[] = {
		db_u(provider_type(registry)->id),
		db_u(query->uid == NULL), query->uid != NULL ? db_uuid(query->uid) : db_null('b'),
		db_u(query->in_tree == NULL), query->in_tree != NULL ? db_uuid(query->in_tree) : db_null('b'),
		db_u(provider_type(registry)->id),
		db_u(search->n_all_traits), db_s(buf_str(&search->all_traits)), db_u(search->n_all_traits),
		db_u(search->n_no_traits), db_s(buf_str(&search->no_traits)),
		db_u(search->n_all_aggregates), db_s(buf_str(&search->all_aggregates)), db_u(search->n_all_aggregates),
		db_u(search->n_no_aggregates), db_s(buf_str(&search->no_aggregates)),
		db_u(query->n_demands), db_s(buf_str(&search->amounts)), db_u(query->n_demands),
	};
	struct db_value *in = POOL_ARRAY(registry->pool, struct db_value, beginning->n + COUNT_OF(filter));

	if (beginning->n > 0)
		memcpy(in, beginning->values, beginning->n * sizeof(*in));
	memcpy(in + beginning->n, filter, sizeof(filter));
	enum db_result result = db_run(registry->db, registry->pool, &q_list[beginning->way], in, rows);
	return result == DB_OK ? OUTCOME_OK : registry_db_failed(result);
}

static void provider_from_row(struct registry *registry, struct provider *provider, const struct db_rows *rows, size_t row)
{
	const struct db_value *v = db_at(rows, row, 0);
	struct resource *resource = &provider->resource;

	*provider = (struct provider){ .generation = v[8].u };
	*resource = (struct resource){
		.id = v[0].u,
		.tenant_id = v[2].u,
		.tenant = v[3].s,
		.type = provider_type(registry),
		.live = RESOURCE_COUNTED,
		.body = v[5].s,
		.created_us = v[6].i,
		.updated_us = v[7].i,
	};
	uuid_from_bytes(v[1].s, &resource->uid);
	resource->name = uuid_str(registry->pool, resource->uid);
	resource->has_root = tree_root(&v[4], &resource->root);
	provider_read(registry, provider);
}

enum outcome provider_list(struct registry *registry, const struct provider_query *query, struct provider **list,
	size_t *n)
{
	struct search search = { .registry = registry, .query = query };
	struct beginning beginning;
	struct db_rows rows;
	enum outcome outcome = check_size(registry, query);

	if (outcome == OUTCOME_OK)
		outcome = name_traits(&search);
	if (outcome == OUTCOME_OK)
		outcome = name_classes(&search);
	if (outcome != OUTCOME_OK)
		return outcome;
	add_terms(&search);
	outcome = choose_beginning(&search, &beginning);
	if (outcome == OUTCOME_OK)
		outcome = run(&search, &beginning, &rows);
	if (outcome != OUTCOME_OK)
		return outcome;
	*list = POOL_ARRAY(registry->pool, struct provider, rows.n);
	*n = rows.n;
	for (size_t i = 0; i < rows.n; i++)
		provider_from_row(registry, &(*list)[i], &rows, i);
	return OUTCOME_OK;
}

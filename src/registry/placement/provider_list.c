// SPDX-License-Identifier: Apache-2.0
// Lists of providers. The statement begins with the filter that the fewest providers pass, using its index, and checks the
// other filters for each of these. So the cost depends on what is found, not on how many providers there are.
#include "base/base.h"

#include "base/buf.h"
#include "base/pool.h"
#include "db/list.h"
#include "registry/core/failure.h"
#include "registry/placement/provider_internal.h"
#include "registry/trait/catalogue.h"
#include "registry/type/tree.h"
#include "sql/provider_lists.h"

// COUNT_UP_TO: filters are compared by counting up to so many providers. MAX_TOLD: bytes of names in a message.
enum { COUNT_UP_TO = 1000, MAX_TOLD = 1024 };

// A filter that the statement may begin with, and its values.
struct beginning {
	enum sql_provider_way way;
	enum sql_provider_term term; // the same filter, in the statement that counts
	struct str list;             // of traits or aggregates: a JSON array
	uint64_t class, amount;
};

// A query whose names were looked up.
struct search {
	struct registry *registry;
	const struct provider_query *query;
	const struct provider_taker *taker;
	uint64_t *trait_ids; // of all requirements in order
	uint64_t *class_ids; // of the demands
	struct beginning *beginnings;
	size_t n_beginnings;
	struct db_list all_traits, no_traits, all_aggregates, no_aggregates, amounts;
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

static int by_row_name(const void *name, const void *row)
{
	return str_cmp(*(const struct str *)name, ((const struct sql_provider_trait_ids_row *)row)->name);
}

// Looks the names up in the worker's catalogue; 0: it lacks the name. *missing: how many it lacks.
static enum outcome look_up_cached(struct registry *registry, const struct str *names, size_t n, uint64_t *ids, size_t *missing)
{
	const struct trait_query query = { .named = true, .names = names, .n_names = n };
	const struct trait *list;
	size_t n_list;
	enum outcome outcome = trait_list(registry, &query, &list, &n_list);

	if (outcome != OUTCOME_OK)
		return outcome;
	*missing = 0;
	for (size_t i = 0; i < n; i++) {
		const struct trait *trait = n_list > 0 ? bsearch(&names[i], list, n_list, sizeof(*list), by_name) : NULL;
		ids[i] = trait != NULL ? trait->id : 0;
		*missing += trait == NULL;
	}
	return OUTCOME_OK;
}

// Looks the names up in the database: the worker's catalogue may lack a trait that was created a moment ago.
static enum outcome look_up_stored(struct registry *registry, const struct str *names, size_t n, uint64_t *ids)
{
	struct db_rows rows;
	const struct sql_provider_trait_ids in = { .names = provider_names_as_json(registry->pool, names, n) };
	enum db_result result = sql_provider_trait_ids_run(registry->db, registry->pool, &in, &rows);

	if (result != DB_OK)
		return registry_db_failed(result);
	for (size_t i = 0; i < n; i++) {
		const struct sql_provider_trait_ids_row *row =
			rows.n > 0 ? bsearch(&names[i], rows.rows, rows.n, rows.row_size, by_row_name) : NULL;
		ids[i] = row != NULL ? row->id : 0;
	}
	return OUTCOME_OK;
}

enum outcome provider_find_traits(struct registry *registry, const struct str *names, size_t n, uint64_t *ids)
{
	struct buf unknown = buf_new(registry->pool, 64);
	size_t missing = 0;
	enum outcome outcome = n > 0 ? look_up_cached(registry, names, n, ids, &missing) : OUTCOME_OK;

	if (outcome == OUTCOME_OK && missing > 0)
		outcome = look_up_stored(registry, names, n, ids);
	if (outcome != OUTCOME_OK)
		return outcome;
	for (size_t i = 0; i < n; i++) {
		if (ids[i] == 0 && unknown.n < MAX_TOLD)
			buf_addf(&unknown, "%s%.*s", unknown.n > 0 ? ", " : "", STR_HEAD_ARG(names[i], 256));
	}
	if (unknown.n == 0)
		return OUTCOME_OK;
	return registry_fail(registry, OUTCOME_BAD_PARAMETER, "No such trait(s): %.*s.", STR_ARG(unknown));
}

static enum outcome name_traits(struct search *search)
{
	struct pool *pool = search->registry->pool;
	const struct provider_query *query = search->query;
	size_t n = 0, at = 0;

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
	enum outcome outcome = provider_find_traits(search->registry, names, n, search->trait_ids);
	if (outcome == OUTCOME_BAD_PARAMETER)
		provider_fail_context(search->registry, "Invalid trait(s) in \"required\" parameter:");
	return outcome;
}

static enum outcome name_classes(struct search *search)
{
	struct registry *registry = search->registry;
	const struct provider_query *query = search->query;
	struct str *names = POOL_ARRAY(registry->pool, struct str, query->n_demands), unknown;

	search->class_ids = POOL_ARRAY(registry->pool, uint64_t, query->n_demands);
	for (size_t i = 0; i < query->n_demands; i++)
		names[i] = query->demands[i].class;
	enum outcome outcome = provider_find_classes(registry, names, query->n_demands, search->class_ids, &unknown);
	if (outcome != OUTCOME_OK || unknown.p == NULL)
		return outcome;
	return registry_fail(registry, OUTCOME_BAD_PARAMETER,
		"Invalid resource class in resources parameter: No such resource class %.*s.", STR_HEAD_ARG(unknown, 256));
}

// ---- terms

static void add_beginning(struct search *search, struct beginning beginning)
{
	search->beginnings[search->n_beginnings++] = beginning;
}

// The filter's own list is for a statement that begins with it; the list of pairs (filter, id) is for checking all filters.
static void add_requirement(struct search *search, size_t index, const uint64_t *ids)
{
	struct pool *pool = search->registry->pool;
	const struct provider_requirement *requirement = &search->query->requirements[index];
	struct db_list own = db_list_new(pool, 32);

	for (size_t i = 0; i < requirement->n; i++) {
		db_list_add_u64(&own, ids[i]);
		if (requirement->forbidden)
			db_list_add_u64(&search->no_traits, ids[i]);
		else
			buf_addf(db_list_item(&search->all_traits), "[%zu,%llu]", index, (unsigned long long)ids[i]);
	}
	if (requirement->forbidden) {
		search->n_no_traits++;
		return;
	}
	search->n_all_traits++;
	add_beginning(search, (struct beginning){ SQL_PROVIDER_WAY_TRAIT, SQL_PROVIDER_TERM_TRAIT, .list = db_list_end(&own) });
}

static void add_membership(struct search *search, size_t index)
{
	struct pool *pool = search->registry->pool;
	const struct provider_membership *membership = &search->query->memberships[index];
	struct db_list own = db_list_new(pool, 64);

	for (size_t i = 0; i < membership->n; i++) {
		const struct uuid *aggregate = &membership->aggregates[i];
		db_list_add_uuid(&own, aggregate);
		if (membership->forbidden) {
			db_list_add_uuid(&search->no_aggregates, aggregate);
			continue;
		}
		struct buf *pair = db_list_item(&search->all_aggregates);
		buf_addf(pair, "[%zu,", index);
		db_item_uuid(pair, aggregate);
		buf_addc(pair, ']');
	}
	if (membership->forbidden) {
		search->n_no_aggregates++;
		return;
	}
	search->n_all_aggregates++;
	add_beginning(search, (struct beginning){ SQL_PROVIDER_WAY_AGGREGATE, SQL_PROVIDER_TERM_AGGREGATE, .list =
		db_list_end(&own) });
}

static void add_demand(struct search *search, size_t index)
{
	uint64_t class = search->class_ids[index], amount = search->query->demands[index].amount;

	// No inventory has so much, so any larger number means the same.
	if (amount > INT64_MAX)
		amount = INT64_MAX;
	buf_addf(db_list_item(&search->amounts), "[%llu,%llu]", (unsigned long long)class, (unsigned long long)amount);
	add_beginning(search,
		(struct beginning){ SQL_PROVIDER_WAY_CLASS, SQL_PROVIDER_TERM_CLASS, .class = class, .amount = amount });
}

static void add_terms(struct search *search)
{
	const struct provider_query *query = search->query;
	struct pool *pool = search->registry->pool;
	const uint64_t *ids = search->trait_ids;
	struct db_list *lists[] = { &search->all_traits, &search->no_traits, &search->all_aggregates, &search->no_aggregates,
		&search->amounts };

	search->beginnings =
		POOL_ARRAY(pool, struct beginning, query->n_requirements + query->n_memberships + query->n_demands);
	for (size_t i = 0; i < COUNT_OF(lists); i++)
		*lists[i] = db_list_new(pool, 64);
	for (size_t i = 0; i < query->n_requirements; ids += query->requirements[i++].n)
		add_requirement(search, i, ids);
	for (size_t i = 0; i < query->n_memberships; i++)
		add_membership(search, i);
	for (size_t i = 0; i < query->n_demands; i++)
		add_demand(search, i);
}

// ---- where to begin

// Chooses the filter that the fewest providers pass. Filters that do not fit into one batch are not considered.
static enum outcome choose_term(const struct search *search, struct beginning *best)
{
	struct registry *registry = search->registry;
	struct db_call calls[DB_MAX_BATCH] = { 0 };
	size_t n = search->n_beginnings < DB_MAX_BATCH ? search->n_beginnings : DB_MAX_BATCH, least = 0;

	for (size_t i = 0; i < n; i++) {
		const struct beginning *beginning = &search->beginnings[i];
		const struct sql_provider_count_term in = {
			.first = beginning->list,
			.first_class = beginning->class,
			.first_amount = beginning->amount,
			.limit = COUNT_UP_TO,
		};
		calls[i] = sql_provider_count_term_call(registry->pool, beginning->term, &in);
	}
	enum db_result result = n > 1 ? db_run_batch(registry->db, registry->pool, calls, n) : DB_OK;
	if (result != DB_OK)
		return registry_db_failed(result);
	for (size_t i = 1; i < n; i++) {
		if (sql_provider_count_term_row(&calls[i].rows, 0)->n < sql_provider_count_term_row(&calls[least].rows, 0)->n)
			least = i;
	}
	*best = search->beginnings[least];
	return OUTCOME_OK;
}

static enum outcome choose_beginning(const struct search *search, struct beginning *beginning)
{
	const struct provider_query *query = search->query;

	*beginning = (struct beginning){ .way = SQL_PROVIDER_WAY_TYPE };
	if (query->plain.name.p != NULL)
		beginning->way = SQL_PROVIDER_WAY_NAME;
	else if (query->plain.uid.p != NULL)
		beginning->way = SQL_PROVIDER_WAY_UID;
	else if (query->plain.in_tree.p != NULL)
		beginning->way = SQL_PROVIDER_WAY_TREE;
	else if (search->n_beginnings > 0)
		return choose_term(search, beginning);
	return OUTCOME_OK;
}

// ---- the list

static struct provider provider_of_row(struct registry *registry, const struct sql_provider_list_row *row, struct pool *pool)
{
	struct provider provider = {
		.generation = row->generation,
		.resource = {
			.id = row->id,
			.tenant_id = row->tenant_id,
			.tenant = row->tenant,
			.type = provider_type(registry),
			.live = RESOURCE_COUNTED,
			.body = row->body,
			.created_us = row->created_at,
			.updated_us = row->updated_at,
		},
	};
	struct resource *resource = &provider.resource;

	uuid_from_bytes(row->uid, &resource->uid);
	resource->name = uuid_str(pool, resource->uid);
	resource->has_root = tree_root(row->root, &resource->root);
	provider_read(pool, &provider);
	return provider;
}

static void take_row(void *arg, const struct db_rows *rows, struct pool *pool)
{
	const struct search *search = arg;
	struct provider provider = provider_of_row(search->registry, sql_provider_list_row(rows, 0), pool);

	search->taker->take(search->taker->arg, &provider, pool);
}

static enum outcome run(struct search *search, const struct beginning *beginning)
{
	struct registry *registry = search->registry;
	const struct provider_query *query = search->query;
	const struct sql_provider_list in = {
		.type_id = provider_type(registry)->id,
		.plain = query->plain,
		.first = beginning->list,
		.first_class = beginning->class,
		.first_amount = beginning->amount,
		.filter = {
			.all_traits = db_list_end(&search->all_traits),
			.n_all_traits = search->n_all_traits,
			.no_traits = db_list_end(&search->no_traits),
			.n_no_traits = search->n_no_traits,
			.all_aggregates = db_list_end(&search->all_aggregates),
			.n_all_aggregates = search->n_all_aggregates,
			.no_aggregates = db_list_end(&search->no_aggregates),
			.n_no_aggregates = search->n_no_aggregates,
			.amounts = db_list_end(&search->amounts),
			.n_amounts = query->n_demands,
		},
	};
	struct db_call call = sql_provider_list_call(registry->pool, beginning->way, &in);

	call.take = take_row;
	call.arg = search;
	enum db_result result = db_run_call(registry->db, registry->pool, &call);
	return result == DB_OK ? OUTCOME_OK : registry_db_failed(result);
}

enum outcome provider_list(struct registry *registry, const struct provider_query *query, const struct provider_taker *taker)
{
	assert(taker->take != NULL);
	struct search search = { .registry = registry, .query = query, .taker = taker };
	struct beginning beginning;
	enum outcome outcome = check_size(registry, query);

	if (outcome == OUTCOME_OK)
		outcome = name_traits(&search);
	if (outcome == OUTCOME_OK)
		outcome = name_classes(&search);
	if (outcome != OUTCOME_OK)
		return outcome;
	add_terms(&search);
	outcome = choose_beginning(&search, &beginning);
	return outcome == OUTCOME_OK ? run(&search, &beginning) : outcome;
}

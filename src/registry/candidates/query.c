// SPDX-License-Identifier: Apache-2.0
// Looks up the classes and traits that a query names, and collects the terms that a search may begin with.
#include "base/base.h"

#include "registry/candidates/internal.h"

#include "base/buf.h"
#include "base/pool.h"
#include "db/list.h"
#include "registry/core/failure.h"
#include "registry/type/tree.h"
#include "sql/provider_lists.h"

// Terms are compared by counting up to so many providers.
enum { COUNT_UP_TO = 1000 };

// ---- names

static int by_name(const void *a, const void *b)
{
	return str_cmp(((const struct named_trait *)a)->name, ((const struct named_trait *)b)->name);
}

size_t candidate_query_trait_number(const struct candidates *found, struct str name)
{
	const struct named_trait wanted = { .name = name };
	const struct named_trait *at =
		found->n_traits > 0 ? bsearch(&wanted, found->traits, found->n_traits, sizeof(wanted), by_name) : NULL;

	return at != NULL ? (size_t)(at - found->traits) + 1 : 0;
}

static size_t count_traits(const struct provider_requirement *list, size_t n)
{
	size_t sum = 0;

	for (size_t i = 0; i < n; i++)
		sum += list[i].n;
	return sum;
}

static void add_names(struct str *names, size_t *n_names, const struct provider_requirement *list, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		for (size_t k = 0; k < list[i].n; k++)
			names[(*n_names)++] = list[i].traits[k];
	}
}

static enum outcome name_traits(struct candidates *found)
{
	const struct candidate_query *query = found->query;
	size_t most = count_traits(query->root_requirements, query->n_root_requirements), n = 0;

	for (size_t i = 0; i < query->n_groups; i++)
		most += count_traits(query->groups[i].requirements, query->groups[i].n_requirements);
	struct str *names = POOL_ARRAY(found->pool, struct str, most);
	uint64_t *ids = POOL_ARRAY(found->pool, uint64_t, most);
	add_names(names, &n, query->root_requirements, query->n_root_requirements);
	for (size_t i = 0; i < query->n_groups; i++)
		add_names(names, &n, query->groups[i].requirements, query->groups[i].n_requirements);
	enum outcome outcome = provider_find_traits(found->registry, names, n, ids);
	if (outcome != OUTCOME_OK)
		return outcome;
	struct named_trait *traits = POOL_ARRAY(found->pool, struct named_trait, n);
	for (size_t i = 0; i < n; i++)
		traits[i] = (struct named_trait){ names[i], ids[i] };
	if (n > 0)
		qsort(traits, n, sizeof(*traits), by_name);
	found->traits = traits;
	for (size_t i = 0; i < n; i++) {
		if (i == 0 || !str_eq(traits[i].name, traits[found->n_traits - 1].name))
			traits[found->n_traits++] = traits[i];
	}
	return OUTCOME_OK;
}

static enum outcome resolve_demands(struct candidates *found, const struct candidate_wish *wish, struct candidate_group *group)
{
	struct registry *registry = found->registry;
	struct candidate_demand *demands = POOL_ARRAY(found->pool, struct candidate_demand, wish->n_demands);
	struct str *names = POOL_ARRAY(found->pool, struct str, wish->n_demands), unknown = STR_NONE;
	uint64_t *ids = POOL_ARRAY(found->pool, uint64_t, wish->n_demands);

	for (size_t i = 0; i < wish->n_demands; i++)
		names[i] = wish->demands[i].class;
	enum outcome outcome = wish->n_demands > 0 ? provider_find_classes(registry, names, wish->n_demands, ids,
		&unknown) : OUTCOME_OK;
	if (outcome != OUTCOME_OK)
		return outcome;
	if (unknown.p != NULL)
		return registry_fail(registry, OUTCOME_BAD_PARAMETER,
			"Invalid resource class in resources parameter: No such resource class %.*s.",
			STR_HEAD_ARG(unknown, 256));
	for (size_t i = 0; i < wish->n_demands; i++)
		demands[i] = (struct candidate_demand){ ids[i], wish->demands[i].amount };
	group->demands = demands;
	group->n_demands = wish->n_demands;
	return OUTCOME_OK;
}

static int by_number(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

// The numbers of these traits, ascending (candidate_query_trait_number()).
static struct candidate_traits local_traits(const struct candidates *found, const struct str *names, size_t n)
{
	uint64_t *list = POOL_ARRAY(found->pool, uint64_t, n);

	for (size_t i = 0; i < n; i++)
		list[i] = candidate_query_trait_number(found, names[i]);
	qsort(list, n, sizeof(*list), by_number);
	return (struct candidate_traits){ list, n };
}

// Each required entry is a set of its own; all forbidden entries together are one set.
static void resolve_requirements(const struct candidates *found, const struct provider_requirement *list, size_t n,
	struct candidate_traits **required, size_t *n_required, struct candidate_traits *forbidden)
{
	struct str *names = POOL_ARRAY(found->pool, struct str, count_traits(list, n));
	size_t n_names = 0;

	*required = POOL_ARRAY(found->pool, struct candidate_traits, n);
	*n_required = 0;
	for (size_t i = 0; i < n; i++) {
		if (!list[i].forbidden)
			(*required)[(*n_required)++] = local_traits(found, list[i].traits, list[i].n);
		for (size_t k = 0; list[i].forbidden && k < list[i].n; k++)
			names[n_names++] = list[i].traits[k];
	}
	*forbidden = local_traits(found, names, n_names);
}

static void resolve_memberships(struct candidates *found, const struct candidate_wish *wish, struct candidate_group *group)
{
	struct candidate_aggregates *member_of = POOL_ARRAY(found->pool, struct candidate_aggregates, wish->n_memberships);
	size_t n = 0;

	for (size_t i = 0; i < wish->n_memberships; i++)
		n += wish->memberships[i].n;
	struct uuid *forbidden = POOL_ARRAY(found->pool, struct uuid, n);
	for (size_t i = 0; i < wish->n_memberships; i++) {
		const struct provider_membership *membership = &wish->memberships[i];
		found->reads_aggregates = true;
		if (!membership->forbidden)
			member_of[group->n_member_of++] = (struct candidate_aggregates){ membership->aggregates, membership->n };
		for (size_t k = 0; membership->forbidden && k < membership->n; k++)
			forbidden[group->not_member_of.n++] = membership->aggregates[k];
	}
	group->member_of = member_of;
	group->not_member_of.list = forbidden;
}

static enum outcome check_size(struct registry *registry, const struct candidate_query *query)
{
	bool fits = query->n_groups <= CANDIDATE_MAX_TERMS && query->n_root_requirements <= CANDIDATE_MAX_TERMS;

	for (size_t i = 0; i < query->n_groups; i++)
		fits = fits && query->groups[i].n_demands <= CANDIDATE_MAX_TERMS &&
			query->groups[i].n_requirements <= CANDIDATE_MAX_TERMS &&
			query->groups[i].n_memberships <= CANDIDATE_MAX_TERMS;
	if (fits)
		return OUTCOME_OK;
	return registry_fail(registry, OUTCOME_BAD_PARAMETER,
		"Invalid query string parameters: there may be %d groups at most, and in each of them %d terms of a kind",
		CANDIDATE_MAX_TERMS, CANDIDATE_MAX_TERMS);
}

// ---- terms

// The term that a provider passes if it has any of these traits.
static struct term trait_term(struct candidates *found, struct candidate_traits any)
{
	uint64_t *ids = POOL_ARRAY(found->pool, uint64_t, any.n);

	for (size_t i = 0; i < any.n; i++)
		ids[i] = found->traits[any.list[i] - 1].id;
	return (struct term){ .way = CANDIDATE_BY_TRAIT, .trait_ids = ids, .local = any };
}

static void add_terms(struct candidates *found)
{
	const struct candidate_request *request = &found->request;
	size_t most = request->root_required.n;

	for (size_t i = 0; i < request->n_groups; i++)
		most += request->groups[i].n_demands + request->groups[i].n_required + request->groups[i].n_member_of;
	found->terms = POOL_ARRAY(found->pool, struct term, most);
	for (size_t i = 0; i < request->n_groups; i++) {
		const struct candidate_group *group = &request->groups[i];
		for (size_t k = 0; k < group->n_demands; k++)
			found->terms[found->n_terms++] = (struct term){
				.way = CANDIDATE_BY_CLASS, .class_id = group->demands[k].class_id, .amount = group->demands[k].amount,
			};
		for (size_t k = 0; k < group->n_required; k++)
			found->terms[found->n_terms++] = trait_term(found, group->required[k]);
		for (size_t k = 0; k < group->n_member_of; k++)
			found->terms[found->n_terms++] =
				(struct term){ .way = CANDIDATE_BY_AGGREGATE, .aggregates = group->member_of[k] };
	}
	for (size_t i = 0; i < request->root_required.n; i++) {
		struct term *term = &found->terms[found->n_terms++];

		*term = trait_term(found, (struct candidate_traits){ &request->root_required.list[i], 1 });
		term->of_root = true;
	}
}

uint64_t term_amount(uint64_t amount)
{
	return amount > INT64_MAX ? INT64_MAX : amount;
}

// The term's ids or aggregates as a JSON array, for the statements that count.
static struct str list_of_term(struct pool *pool, const struct term *term)
{
	size_t n = term->way == CANDIDATE_BY_TRAIT ? term->local.n : term->aggregates.n;
	struct db_list list = db_list_new(pool, 64);

	for (size_t i = 0; i < n; i++) {
		if (term->way == CANDIDATE_BY_TRAIT)
			db_list_add_u64(&list, term->trait_ids[i]);
		else
			db_list_add_uuid(&list, &term->aggregates.list[i]);
	}
	return db_list_end(&list);
}

struct db_call term_count_call(struct pool *pool, const struct term *term)
{
	struct sql_provider_count_term in = { .limit = COUNT_UP_TO };

	if (term->way == CANDIDATE_BY_CLASS) {
		in.first_class = term->class_id;
		in.first_amount = term_amount(term->amount);
		return sql_provider_count_term_call(pool, SQL_PROVIDER_TERM_CLASS, &in);
	}
	in.first = list_of_term(pool, term);
	return sql_provider_count_term_call(pool,
		term->way == CANDIDATE_BY_TRAIT ? SQL_PROVIDER_TERM_TRAIT : SQL_PROVIDER_TERM_AGGREGATE, &in);
}

struct str term_amounts(const struct candidates *found)
{
	struct buf json = buf_new(found->pool, 64);

	for (size_t i = 0; i < found->n_terms; i++) {
		if (found->terms[i].way == CANDIDATE_BY_CLASS)
			buf_addf(&json, "%s[%llu,%llu]", json.n > 0 ? "," : "", (unsigned long long)found->terms[i].class_id,
				(unsigned long long)term_amount(found->terms[i].amount));
	}
	return str_printf(found->pool, "[%.*s]", STR_ARG(json));
}

bool term_passes(const struct candidate_provider *provider, const struct term *term)
{
	if (term->of_root)
		return false;
	if (term->is_tree)
		return uuid_eq(provider->root->uid, term->tree);
	if (term->way == CANDIDATE_BY_TRAIT)
		return candidate_has_trait(provider, term->local);
	if (term->way == CANDIDATE_BY_AGGREGATE)
		return candidate_has_aggregate(provider, term->aggregates);
	for (size_t i = 0; i < provider->n_inventories; i++) {
		if (provider->inventories[i].class_id == term->class_id)
			return true;
	}
	return false;
}

// ---- the whole

enum outcome candidate_query_resolve(struct candidates *found)
{
	const struct candidate_query *query = found->query;
	struct candidate_group *groups = POOL_ARRAY(found->pool, struct candidate_group, query->n_groups);
	struct candidate_traits *required;
	size_t n_required;
	enum outcome outcome = check_size(found->registry, query);

	for (size_t i = 0; outcome == OUTCOME_OK && i < query->n_groups; i++)
		outcome = resolve_demands(found, &query->groups[i], &groups[i]);
	if (outcome == OUTCOME_OK)
		outcome = name_traits(found);
	if (outcome != OUTCOME_OK)
		return outcome;
	for (size_t i = 0; i < query->n_groups; i++) {
		const struct candidate_wish *wish = &query->groups[i];
		groups[i].suffix = wish->suffix;
		resolve_requirements(found, wish->requirements, wish->n_requirements, &required, &groups[i].n_required,
			&groups[i].forbidden);
		groups[i].required = required;
		resolve_memberships(found, wish, &groups[i]);
	}
	found->request = (struct candidate_request){ .groups = groups, .n_groups = query->n_groups, .subtrees = query->subtrees,
		.n_subtrees = query->n_subtrees, .isolate = query->isolate, .one_per_tree = query->one_per_tree };
	resolve_requirements(found, query->root_requirements, query->n_root_requirements, &required, &n_required,
		&found->request.root_forbidden);
	uint64_t *all = POOL_ARRAY(found->pool, uint64_t, n_required);
	for (size_t i = 0; i < n_required; i++)
		all[i] = required[i].list[0];
	found->request.root_required = (struct candidate_traits){ all, n_required };
	add_terms(found);
	return OUTCOME_OK;
}

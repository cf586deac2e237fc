// SPDX-License-Identifier: Apache-2.0
// Resolves a filter by traits to ids, and decides whether a list should begin with the rarest of them.
#include "base/base.h"

#include "registry/trait/filter.h"

#include "base/buf.h"
#include "base/pool.h"
#include "registry/core/failure.h"
#include "registry/trait/catalogue.h"
#include "sql/traits.h"

// FEW: if at most so many resources have a trait, it is quicker to look at each of them, wherever they are, than to go through
// the list's own range. TOLD_MAX: how many unknown names an error lists.
enum { FEW = 5000, TOLD_MAX = 20 };

// A resource must have at least one trait of each choice.
struct choice {
	const uint64_t *ids;
	size_t n;
};

// The names that the catalogue lacks, collected over all parts of a filter.
struct resolving {
	struct registry *registry;
	struct buf unknown;
	size_t n_unknown;
};

static void note_unknown(struct resolving *resolving, struct str name)
{
	if (resolving->n_unknown < TOLD_MAX)
		buf_addf(&resolving->unknown, "%s%.*s", resolving->n_unknown > 0 ? ", " : "", STR_ARG(name));
	resolving->n_unknown++;
}

static int by_id(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

// Sets ids to the sorted ids of the names, without repetitions; *n: how many.
static enum outcome look_up(struct resolving *resolving, const struct str *names, size_t n_names, uint64_t *ids,
	size_t *n)
{
	struct trait trait;

	*n = 0;
	for (size_t i = 0; i < n_names; i++) {
		enum outcome outcome = trait_get(resolving->registry, names[i], &trait);
		if (outcome == OUTCOME_NOT_FOUND)
			note_unknown(resolving, names[i]);
		else if (outcome != OUTCOME_OK)
			return outcome;
		else
			ids[(*n)++] = trait.id;
	}
	size_t found = *n;
	qsort(ids, found, sizeof(*ids), by_id);
	*n = 0;
	for (size_t i = 0; i < found; i++) {
		if (i == 0 || ids[i] != ids[i - 1])
			ids[(*n)++] = ids[i];
	}
	return OUTCOME_OK;
}

static struct str id_set(struct pool *pool, const uint64_t *ids, size_t n)
{
	struct buf set = buf_new(pool, 8 * n + 1);

	for (size_t i = 0; i < n; i++) {
		if (i > 0)
			buf_addc(&set, ',');
		buf_add_u64(&set, ids[i]);
	}
	return buf_str(&set);
}

static enum outcome resolve(struct resolving *resolving, const struct str *names, size_t n_names, uint64_t **ids,
	size_t *n, struct str *set)
{
	struct pool *pool = resolving->registry->pool;

	*ids = POOL_ARRAY(pool, uint64_t, n_names);
	enum outcome outcome = look_up(resolving, names, n_names, *ids, n);
	*set = id_set(pool, *ids, *n);
	return outcome;
}

// Counts the resources with each trait, up to FEW + 1.
static enum outcome count_users(struct registry *registry, const struct choice *choices, size_t n,
	struct db_call *calls)
{
	size_t k = 0;

	for (size_t i = 0; i < n; i++)
		for (size_t j = 0; j < choices[i].n; j++)
			calls[k++] = sql_trait_count_users_call(registry->pool,
				&(struct sql_trait_count_users){ .trait_id = choices[i].ids[j], .limit = FEW + 1 });
	enum db_result result = k > 0 ? db_run_batch(registry->db, registry->pool, calls, k) : DB_OK;
	return result == DB_OK ? OUTCOME_OK : registry_db_failed(result);
}

// Chooses the choice that the fewest resources fulfil, at most FEW; *rare stays empty if there is none. Only as many choices
// are counted as fit into one batch.
static enum outcome choose_rare(struct registry *registry, const struct choice *choices, size_t n, struct str *rare)
{
	struct db_call calls[DB_MAX_BATCH];
	uint64_t least = FEW + 1;
	size_t weighed = 0, k = 0;

	for (size_t traits = 0; weighed < n && traits + choices[weighed].n <= DB_MAX_BATCH; weighed++)
		traits += choices[weighed].n;
	enum outcome outcome = count_users(registry, choices, weighed, calls);
	for (size_t i = 0; outcome == OUTCOME_OK && i < weighed; i++) {
		uint64_t users = 0;
		for (size_t j = 0; j < choices[i].n; j++)
			users += sql_trait_count_users_row(&calls[k++].rows, 0)->n;
		if (users >= least)
			continue;
		least = users;
		struct str ids = id_set(registry->pool, choices[i].ids, choices[i].n);
		*rare = str_printf(registry->pool, "[%.*s]", STR_ARG(ids));
	}
	return outcome;
}

enum outcome trait_filter_resolve(struct registry *registry, const struct trait_filter *filter,
	struct sql_trait_condition *condition)
{
	struct resolving resolving = { .registry = registry, .unknown = buf_new(registry->pool, 256) };
	struct pool *pool = registry->pool;
	struct choice *choices = POOL_ARRAY(pool, struct choice, filter->n_required + TRAIT_GROUPS_MAX);
	uint64_t *ids;
	size_t n, n_choices = 0;

	assert(filter->n_any <= TRAIT_GROUPS_MAX);
	static_assert(COUNT_OF(condition->any) == TRAIT_GROUPS_MAX, "as many as the statements take");
	*condition = (struct sql_trait_condition){ .n_all = 0 };
	enum outcome outcome =
		resolve(&resolving, filter->required, filter->n_required, &ids, &n, &condition->all);
	for (; outcome == OUTCOME_OK && n_choices < n; n_choices++)
		choices[n_choices] = (struct choice){ &ids[n_choices], 1 };
	condition->n_all = n_choices;
	for (size_t i = 0; outcome == OUTCOME_OK && i < filter->n_any; i++) {
		outcome = resolve(&resolving, filter->any[i].names, filter->any[i].n, &ids, &n, &condition->any[i].ids);
		choices[n_choices++] = (struct choice){ ids, n };
	}
	if (outcome == OUTCOME_OK)
		outcome = resolve(&resolving, filter->forbidden, filter->n_forbidden, &ids, &n, &condition->none);
	if (outcome != OUTCOME_OK)
		return outcome;
	if (resolving.n_unknown > TOLD_MAX)
		buf_addf(&resolving.unknown, " and %zu more", resolving.n_unknown - TOLD_MAX);
	if (resolving.n_unknown > 0)
		return registry_fail(registry, OUTCOME_BAD_PARAMETER, "the catalogue of traits does not have %.*s",
			STR_ARG(resolving.unknown));
	return choose_rare(registry, choices, n_choices, &condition->rare);
}

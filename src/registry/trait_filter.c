// SPDX-License-Identifier: Apache-2.0
// Which traits a search is about, and where it had better begin.
#include "base/base.h"

#include "registry/trait_filter.h"

#include "base/buf.h"
#include "base/pool.h"
#include "registry/catalogue.h"
#include "registry/internal.h"

// Up to FEW resources are looked at one by one, wherever they are; beyond that a page is found sooner among those that
// stand where it is asked for. CHOICES: so many of the required traits are weighed.
enum { FEW = 5000, CHOICES = 8, TOLD_MAX = 20 };

static const struct db_query q_count = {
	"SELECT COUNT(*) FROM (SELECT 1 FROM resource_traits WHERE trait_id = ? LIMIT ?) few", "uu", "u"
};

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

// Ids of the names, each once; *n of them.
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

static enum outcome choose_rare(struct registry *registry, const uint64_t *ids, size_t n, uint64_t *rare)
{
	struct db_call calls[CHOICES];
	uint64_t least = FEW + 1;

	n = n < CHOICES ? n : CHOICES;
	if (n == 0)
		return OUTCOME_OK;
	for (size_t i = 0; i < n; i++)
		calls[i] = (struct db_call){
			.query = &q_count, .in = CALL_VALUES(registry->pool, db_u(ids[i]), db_u(FEW + 1))
		};
	enum db_result result = db_run_batch(registry->db, registry->pool, calls, n);
	if (result != DB_OK)
		return registry_db_failed(result);
	for (size_t i = 0; i < n; i++) {
		uint64_t count = db_at(&calls[i].rows, 0, 0)->u;
		if (count < least) {
			least = count;
			*rare = ids[i];
		}
	}
	return OUTCOME_OK;
}

enum outcome trait_filter_resolve(struct registry *registry, const struct trait_filter *filter,
	struct trait_condition *condition)
{
	struct resolving resolving = { .registry = registry, .unknown = buf_new(registry->pool, 256) };
	uint64_t *required, *others;
	size_t n_required, n;

	assert(filter->n_any <= TRAIT_GROUPS_MAX);
	*condition = (struct trait_condition){ .n_all = 0 };
	enum outcome outcome =
		resolve(&resolving, filter->required, filter->n_required, &required, &n_required, &condition->all);
	if (outcome == OUTCOME_OK)
		outcome = resolve(&resolving, filter->forbidden, filter->n_forbidden, &others, &n, &condition->none);
	for (size_t i = 0; outcome == OUTCOME_OK && i < filter->n_any; i++)
		outcome = resolve(&resolving, filter->any[i].names, filter->any[i].n, &others, &n, &condition->any[i]);
	if (outcome != OUTCOME_OK)
		return outcome;
	if (resolving.n_unknown > TOLD_MAX)
		buf_addf(&resolving.unknown, " and %zu more", resolving.n_unknown - TOLD_MAX);
	if (resolving.n_unknown > 0)
		return registry_fail(registry, OUTCOME_BAD_PARAMETER, "the catalogue of traits does not have %.*s",
			STR_ARG(buf_str(&resolving.unknown)));
	condition->n_all = n_required;
	return choose_rare(registry, required, n_required, &condition->rare);
}

void trait_condition_values(const struct trait_condition *condition, struct db_value *values)
{
	*values++ = db_s(condition->all);
	*values++ = db_u(condition->n_all);
	*values++ = db_s(condition->none);
	for (size_t i = 0; i < TRAIT_GROUPS_MAX; i++) {
		*values++ = db_s(condition->any[i]);
		*values++ = db_s(condition->any[i]);
	}
}

// SPDX-License-Identifier: Apache-2.0
// Takes candidates from each tree in turn, and their summaries.
#include "base/base.h"

#include "registry/candidates/internal.h"

#include "base/digest.h"
#include "base/pool.h"
#include "db/list.h"
#include "registry/core/failure.h"
#include "registry/core/stored.h"
#include "registry/type/tree.h"

enum {
	PORTION_MIN = 16, // trees that are read at a time
	PORTION_MAX = 256,
	KEPT_BYTES = 8 << 20, // trees beyond these are read again: 1,000 hosts with 2.5 KB of traits each take 4 MB
};

// ---- emitting candidates

size_t candidate_group_index(const struct candidates *candidates, const struct candidate_part *part)
{
	assert(part->group >= candidates->request.groups && part->group < candidates->request.groups + candidates->request.n_groups);
	return (size_t)(part->group - candidates->request.groups);
}

size_t candidate_demand_index(const struct candidate_part *part)
{
	assert(part->n_demands > 0 && part->demands >= part->group->demands);
	return (size_t)(part->demands - part->group->demands);
}

struct key_part {
	uint64_t group, demand, provider;
};

static int by_part(const void *a, const void *b)
{
	return memcmp(a, b, sizeof(struct key_part));
}

static bool all_share(const struct candidate *candidate)
{
	for (size_t i = 0; i < candidate->n_parts; i++) {
		if (!candidate->providers[i]->shares)
			return false;
	}
	return true;
}

// False if this candidate was emitted before. Only a candidate of sharing providers alone can be found for several anchors, so
// only such candidates are remembered.
static bool is_new(struct candidates *found, const struct candidate *candidate)
{
	struct pool_mark mark = pool_mark(found->scratch);

	if (!all_share(candidate))
		return true;
	struct key_part *parts = POOL_ARRAY(found->scratch, struct key_part, candidate->n_parts);
	for (size_t i = 0; i < candidate->n_parts; i++) {
		const struct candidate_part *part = &candidate->parts[i];
		parts[i] = (struct key_part){ candidate_group_index(found, part),
			part->n_demands > 0 ? candidate_demand_index(part) : 0, candidate->providers[i]->id };
	}
	qsort(parts, candidate->n_parts, sizeof(*parts), by_part);
	struct str key = str_n((const char *)parts, candidate->n_parts * sizeof(*parts));
	bool is_first = key_set_add(&found->emitted, key).p != NULL;
	pool_rewind(found->scratch, mark);
	return is_first;
}

// Notes the classes of the tree's inventories, which its summary names.
static void note_classes(struct candidates *found, const struct candidate_tree *tree)
{
	for (size_t i = 0; i < tree->n; i++) {
		for (size_t k = 0; k < tree->providers[i].n_inventories; k++) {
			uint64_t id = tree->providers[i].inventories[k].class_id;
			if (key_set_add(&found->classes, str_n((const char *)&id, sizeof(id))).p != NULL)
				db_list_add_u64(&found->class_ids, id);
		}
	}
}

// Notes for the summaries that a candidate takes something from this provider.
static void note_giver(struct candidates *found, struct grove *grove, const struct candidate_provider *provider)
{
	if (provider->root != grove->tree.providers)
		grove = candidate_sharing_grove(found, provider->root->uid);
	assert(grove != NULL && provider->root == grove->tree.providers);
	if (grove->gives == NULL) {
		grove->gives = POOL_ARRAY(found->pool, bool, grove->tree.n);
		note_classes(found, &grove->tree);
	}
	grove->gives[provider - grove->tree.providers] = true;
}

static bool is_enough(const struct candidates *found)
{
	return found->refused || (found->query->limit > 0 && found->found >= found->query->limit);
}

static void emit(struct candidates *found, struct grove *grove, const struct candidate *candidate)
{
	for (size_t i = 0; i < candidate->n_parts; i++) {
		if (candidate->parts[i].n_demands > 0)
			note_giver(found, grove, candidate->providers[i]);
	}
	found->refused = !found->take(found->arg, found, candidate);
	found->found++;
}

// Hands up to n candidates of the grove to the caller: those after the ones that its searches have returned before. Its tree must
// be in memory; the search lives in scratch memory.
static void emit_some(struct candidates *found, struct grove *grove, uint64_t n)
{
	struct pool_mark mark = pool_mark(found->scratch);
	struct candidate_search *search =
		candidate_search_new(found->scratch, &found->request, &grove->tree, found->sharing, found->n_sharing, grove->shuffle);
	struct candidate candidate;

	assert(n > 0 && !is_enough(found) && (search != NULL || grove->searched == 0));
	for (uint64_t i = 0; i < grove->searched; i++)
		(void)candidate_search_next(search, &candidate);
	grove->may_have_more = false;
	while (search != NULL && candidate_search_next(search, &candidate)) {
		grove->searched++;
		if (is_new(found, &candidate)) {
			emit(found, grove, &candidate);
			n--;
		}
		if (n == 0 || is_enough(found)) {
			grove->may_have_more = candidate_search_may_have_more(search);
			break;
		}
	}
	pool_rewind(found->scratch, mark);
}

// ---- trees with candidates

static void add_grove(struct candidates *found, struct grove *grove)
{
	if (found->n_groves == found->max_groves) {
		size_t more = found->max_groves > 0 ? 2 * found->max_groves : PORTION_MIN;
		struct grove **larger = POOL_ARRAY(found->pool, struct grove *, more);
		if (found->n_groves > 0)
			memcpy(larger, found->groves, found->n_groves * sizeof(struct grove *));
		found->groves = larger;
		found->max_groves = more;
	}
	found->groves[found->n_groves++] = grove;
	grove->is_listed = true;
}

// Emits the grove's first candidate; without a limit all of them, so that its tree need not be searched again. False: neither its
// summary nor another candidate will need the grove.
static bool emit_first(struct candidates *found, struct grove *grove)
{
	if (found->query->by_chance)
		digest_random(&grove->shuffle, sizeof(grove->shuffle));
	emit_some(found, grove, found->query->limit > 0 ? 1 : UINT64_MAX);
	return grove->gives != NULL || grove->may_have_more;
}

static void forget_tree(struct grove *grove)
{
	grove->tree.providers = NULL;
	grove->traits = NULL;
}

// Emits the first candidate of this tree.
static void try_tree(struct candidates *found, const struct portion *portion, struct str root)
{
	struct grove tried = { .root = root }, *grove;
	struct uuid uid;

	if (!tree_root(root, &uid))
		return;
	grove = candidate_sharing_grove(found, uid);
	if (grove != NULL) {
		if (emit_first(found, grove))
			add_grove(found, grove);
		return;
	}
	bool keep = pool_size(found->kept) < KEPT_BYTES;
	struct pool *pool = keep ? found->kept : found->scratch;
	struct pool_mark mark = pool_mark(pool);
	bool is_needed = grove_build(found, pool, portion, &tried) && emit_first(found, &tried);
	if (is_needed) {
		grove = POOL_NEW(found->pool, struct grove);
		*grove = tried;
		add_grove(found, grove);
		if (!keep)
			forget_tree(grove);
	}
	if (!keep || !is_needed)
		pool_rewind(pool, mark);
}

// Emits the first candidate of each of these trees.
static enum outcome try_trees(struct candidates *found, const struct str *roots, size_t n)
{
	struct portion portion;
	enum outcome outcome = portion_read(found, found->scratch, roots, n, &portion);

	for (size_t i = 0; i < n && outcome == OUTCOME_OK && !is_enough(found); i++)
		try_tree(found, &portion, roots[i]);
	pool_clear(found->scratch);
	return outcome;
}

// ---- trees again

// What is done with some of the groves.
struct visit {
	bool (*wants)(const struct grove *grove); // the answer for a grove may change only by its own visit
	bool (*run)(struct candidates *found, struct grove *grove, void *arg); // with its tree in memory; false: no other visit
	void *arg;
};

// A visit to a grove whose tree is in memory or, if not, in the portion.
static bool visit_grove(struct candidates *found, const struct visit *visit, const struct portion *portion, struct grove *grove)
{
	struct pool_mark mark = pool_mark(found->scratch);
	size_t n = grove->tree.n;

	if (grove->tree.providers != NULL)
		return visit->run(found, grove, visit->arg);
	if (!grove_build(found, found->scratch, portion, grove) || grove->tree.n != n) {
		struct stored_place place = { .table = "resources", .column = "root" };
		(void)tree_root(grove->root, &place.uid);
		stored_is_broken(found->pool, place, STR("its tree has changed within a transaction that reads a snapshot"));
		return false;
	}
	bool more = visit->run(found, grove, visit->arg);
	forget_tree(grove);
	pool_rewind(found->scratch, mark);
	return more;
}

// Visits the wanted groves in order, and reads again, a portion at a time, the trees that were not kept. OUTCOME_OK, or that of a
// failed statement.
static enum outcome visit_groves(struct candidates *found, const struct visit *visit)
{
	enum outcome outcome = OUTCOME_OK;
	bool more = true;

	for (size_t from = 0, end = 0; more && outcome == OUTCOME_OK && from < found->n_groves; from = end) {
		struct portion portion = { 0 };
		struct str roots[PORTION_MAX];
		size_t n = 0;
		for (; end < found->n_groves && n < PORTION_MAX; end++) {
			if (found->groves[end]->tree.providers == NULL && visit->wants(found->groves[end]))
				roots[n++] = found->groves[end]->root;
		}
		if (n > 0)
			outcome = portion_read(found, found->scratch, roots, n, &portion);
		for (size_t i = from; i < end && more && outcome == OUTCOME_OK; i++) {
			if (visit->wants(found->groves[i]))
				more = visit_grove(found, visit, &portion, found->groves[i]);
		}
		pool_clear(found->scratch);
	}
	return outcome;
}

static bool may_have_more(const struct grove *grove)
{
	return grove->may_have_more;
}

static bool emit_share(struct candidates *found, struct grove *grove, void *arg)
{
	const uint64_t *share = arg;

	emit_some(found, grove, *share);
	return !is_enough(found);
}

static size_t count_unfinished(const struct candidates *found)
{
	size_t n = 0;

	for (size_t i = 0; i < found->n_groves; i++)
		n += may_have_more(found->groves[i]);
	return n;
}

// Emits the candidates after the first of each tree. Each tree gives an equal share of those that are missing. If some trees have
// fewer, the others share what is still missing. So the answer has the candidates that the trees would give one by one, in turn,
// but each search begins anew only a few times.
static enum outcome emit_rest(struct candidates *found)
{
	enum outcome outcome = OUTCOME_OK;
	size_t n;

	while (outcome == OUTCOME_OK && !is_enough(found) && (n = count_unfinished(found)) > 0) {
		assert(found->query->limit > 0); // else each tree has given all that it has
		uint64_t missing = found->query->limit - found->found, share = missing > n ? missing / n : 1;
		outcome = visit_groves(found, &(struct visit){ may_have_more, emit_share, &share });
	}
	return outcome;
}

// How many trees are tried next.
static size_t portion_size(const struct candidates *found)
{
	uint64_t limit = found->query->limit, left = limit > found->found ? limit - found->found : 0;

	if (limit == 0 || left > PORTION_MAX)
		return PORTION_MAX;
	return left < PORTION_MIN ? PORTION_MIN : (size_t)left;
}

// Emits the first candidate of each tree.
static enum outcome emit_firsts(struct candidates *found, struct roots *roots)
{
	struct str list[PORTION_MAX];
	enum outcome outcome = OUTCOME_OK;
	size_t n = 1;

	while (outcome == OUTCOME_OK && n > 0 && !is_enough(found)) {
		outcome = roots_next(found, roots, list, portion_size(found), &n);
		if (outcome == OUTCOME_OK && n > 0)
			outcome = try_trees(found, list, n);
	}
	return outcome;
}

// ---- summaries

static bool has_given(const struct grove *grove)
{
	return grove->gives != NULL;
}

struct summary_taker {
	candidate_summary_fn *take;
	void *arg;
};

static bool summarize(struct candidates *found, struct grove *grove, void *arg)
{
	const struct summary_taker *taker = arg;
	const struct candidate_summary summary = { grove->tree.providers, grove->traits, grove->gives, grove->tree.n };

	return taker->take(taker->arg, found, &summary);
}

enum outcome candidates_summarize(struct candidates *candidates, candidate_summary_fn *take, void *arg)
{
	struct registry *registry = candidates->registry;
	struct summary_taker taker = { take, arg };
	const struct sql_candidate_class_names in = { .ids = db_list_end(&candidates->class_ids) };

	assert(take != NULL);
	if (candidates->classes.n > 0) {
		enum db_result result = sql_candidate_class_names_run(registry->db, candidates->pool, &in, &candidates->class_names);
		if (result != DB_OK)
			return registry_db_failed(result);
	}
	for (size_t i = 0; i < candidates->n_shared_groves; i++) {
		if (!candidates->shared_groves[i].is_listed)
			add_grove(candidates, &candidates->shared_groves[i]);
	}
	return visit_groves(candidates, &(struct visit){ has_given, summarize, &taker });
}

struct str candidates_class_name(const struct candidates *candidates, uint64_t class_id)
{
	size_t low = 0, high = candidates->class_names.n;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		const struct sql_candidate_class_names_row *row = sql_candidate_class_names_row(&candidates->class_names, middle);
		if (row->id == class_id)
			return row->name;
		if (row->id < class_id)
			low = middle + 1;
		else
			high = middle;
	}
	return STR("");
}

// ---- the whole

enum outcome candidates_find(struct registry *registry, const struct candidate_query *query, candidate_fn *take, void *arg,
	struct candidates **candidates)
{
	struct candidates *found = POOL_NEW(registry->pool, struct candidates);
	struct roots *roots;

	assert(take != NULL);
	*found = (struct candidates){ .registry = registry, .pool = registry->pool, .query = query, .take = take, .arg = arg };
	*candidates = found;
	enum outcome outcome = candidate_query_resolve(found);
	if (outcome != OUTCOME_OK)
		return outcome;
	found->scratch = pool_scratch(found->pool, SIZE_MAX);
	found->kept = pool_scratch(found->pool, SIZE_MAX);
	key_set_init(&found->seen, found->pool);
	key_set_init(&found->emitted, found->pool);
	key_set_init(&found->classes, found->pool);
	found->class_ids = db_list_new(found->pool, 128);
	outcome = roots_open(found, &roots);
	if (outcome == OUTCOME_OK && roots != NULL)
		outcome = emit_firsts(found, roots);
	return outcome == OUTCOME_OK ? emit_rest(found) : outcome;
}

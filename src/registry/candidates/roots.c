// SPDX-License-Identifier: Apache-2.0
// Finds the roots of the trees that may have candidates, by one term of the query.
#include "base/base.h"

#include "registry/candidates/internal.h"

#include "base/digest.h"
#include "base/pool.h"
#include "db/list.h"
#include "registry/core/failure.h"
#include "registry/type/tree.h"
#include "sql/provider_lists.h"

enum {
	FEWEST_ROWS = 16, // that a statement reads: many providers may have the same root
	GATHERED_AT_ONCE = 256,
};

// ---- where the search begins

static bool has_resourceless_group(const struct candidate_request *request)
{
	for (size_t i = 0; i < request->n_groups; i++) {
		if (request->groups[i].n_demands == 0)
			return true;
	}
	return false;
}

// The calls of the first batch: the roots of the trees that the query names; trees with sharing providers; how many providers
// pass each term.
enum { CALL_TREES, CALL_SHARING, CALL_COUNTS };

static struct str named_trees(const struct candidates *found)
{
	struct db_list list = db_list_new(found->pool, 64);

	for (size_t i = 0; i < found->query->n_groups; i++) {
		if (found->query->groups[i].in_tree != NULL)
			db_list_add_uuid(&list, found->query->groups[i].in_tree);
	}
	return db_list_end(&list);
}

// Replaces in_tree of each group by the root of that tree. False: there is no such provider.
static bool resolve_trees(struct candidates *found, const struct db_rows *rows)
{
	const struct candidate_query *query = found->query;
	struct candidate_group *groups = POOL_ARRAY(found->pool, struct candidate_group, query->n_groups);

	memcpy(groups, found->request.groups, query->n_groups * sizeof(*groups));
	found->request.groups = groups;
	for (size_t i = 0; i < query->n_groups; i++) {
		struct uuid *root = POOL_NEW(found->pool, struct uuid);
		for (size_t k = 0; query->groups[i].in_tree != NULL && k < rows->n; k++) {
			const struct sql_candidate_trees_of_row *row = sql_candidate_trees_of_row(rows, k);
			if (str_eq(row->uid, uuid_bytes(query->groups[i].in_tree)) && tree_root(row->root, root))
				groups[i].in_tree = root;
		}
		if (query->groups[i].in_tree != NULL && groups[i].in_tree == NULL)
			return false;
	}
	return true;
}

// Chooses the term that the search begins with: a tree if the query names one, else the term that the fewest providers pass.
static const struct term *choose_term(const struct candidates *found, const struct db_call *counts, size_t n_counts)
{
	const struct term *best = &found->terms[0];
	uint64_t fewest = UINT64_MAX;

	for (size_t i = 0; i < found->request.n_groups; i++) {
		if (found->request.groups[i].in_tree == NULL)
			continue;
		struct term *term = POOL_NEW(found->pool, struct term);
		*term = (struct term){ .is_tree = true, .tree = *found->request.groups[i].in_tree };
		return term;
	}
	for (size_t i = 0; i < n_counts; i++) {
		uint64_t n = sql_provider_count_term_row(&counts[i].rows, 0)->n;
		if (n >= fewest)
			continue;
		fewest = n;
		best = &found->terms[i];
	}
	return best;
}

// Sends the first batch. *best: the term to begin with; NULL: a tree that the query names does not exist, so there are no
// candidates.
static enum outcome send_first_batch(struct candidates *found, const struct term **best)
{
	struct registry *registry = found->registry;
	struct db_call calls[DB_MAX_BATCH] = { 0 };
	uint64_t type_id = provider_type(registry)->id;
	size_t n_counts = found->n_terms < DB_MAX_BATCH - CALL_COUNTS ? found->n_terms : DB_MAX_BATCH - CALL_COUNTS;
	const struct sql_candidate_trees_of trees = { .uids = named_trees(found), .type_id = type_id };
	const struct sql_candidate_sharing_trees sharing = {
		.type_id = type_id,
		.trait = STR(SHARING_TRAIT),
		.amounts = term_amounts(found),
		.all_of_them = has_resourceless_group(&found->request),
	};

	calls[CALL_TREES] = sql_candidate_trees_of_call(found->pool, &trees);
	calls[CALL_SHARING] = sql_candidate_sharing_trees_call(found->pool, &sharing);
	if (found->n_terms == 1)
		n_counts = 0;
	for (size_t i = 0; i < n_counts; i++)
		calls[CALL_COUNTS + i] = term_count_call(found->pool, &found->terms[i]);
	enum db_result result = db_run_batch(registry->db, found->pool, calls, CALL_COUNTS + n_counts);
	if (result != DB_OK)
		return registry_db_failed(result);
	*best = NULL;
	if (!resolve_trees(found, &calls[CALL_TREES].rows))
		return OUTCOME_OK;
	*best = choose_term(found, &calls[CALL_COUNTS], n_counts);
	return candidate_sharing_read(found, &calls[CALL_SHARING].rows);
}

// ---- the streams of a term

// A position in the index of a term. A term may have several values (traits, aggregates), which are read one after the other.
struct stream {
	enum candidate_way way;
	const struct term *term;
	const struct uuid *aggregates; // the values if way is CANDIDATE_BY_AGGREGATE
	size_t n_values, value;
	int64_t before_free;
	uint64_t before_id;
};

// Before the first row of the value.
static void stream_rewind(struct stream *stream)
{
	stream->before_free = INT64_MAX;
	stream->before_id = UINT64_MAX;
}

// A row of any of the three statements that read roots.
struct found_tree {
	struct str root;
	uint64_t id;
	int64_t free;
};

static struct found_tree tree_of_row(enum candidate_way way, const struct db_rows *rows, size_t i)
{
	if (way == CANDIDATE_BY_CLASS) {
		const struct sql_candidate_trees_by_class_row *row = sql_candidate_trees_by_class_row(rows, i);
		return (struct found_tree){ row->root, row->id, row->free };
	}
	if (way == CANDIDATE_BY_TRAIT) {
		const struct sql_candidate_trees_by_trait_row *row = sql_candidate_trees_by_trait_row(rows, i);
		return (struct found_tree){ row->root, row->id, 0 };
	}
	const struct sql_candidate_trees_by_aggregate_row *row = sql_candidate_trees_by_aggregate_row(rows, i);
	return (struct found_tree){ row->root, row->id, 0 };
}

// If a sharing provider passes the term, every tree that it shares with can have a candidate. So this stream has the aggregates
// of such providers as its values.
static struct stream stream_of_sharing(struct candidates *found, const struct term *term)
{
	struct stream stream = { .way = CANDIDATE_BY_AGGREGATE, .term = term };
	size_t most = 0;

	for (size_t i = 0; i < found->n_sharing; i++)
		most += found->sharing[i]->n_aggregates;
	struct uuid *list = POOL_ARRAY(found->pool, struct uuid, most);
	for (size_t i = 0; i < found->n_sharing; i++) {
		const struct candidate_provider *provider = found->sharing[i];
		for (size_t k = 0; term_passes(provider, term) && k < provider->n_aggregates; k++) {
			size_t known = 0;
			while (known < stream.n_values && !uuid_eq(list[known], provider->aggregates[k]))
				known++;
			list[known] = provider->aggregates[k];
			stream.n_values += known == stream.n_values;
		}
	}
	stream.aggregates = list;
	stream_rewind(&stream);
	return stream;
}

static struct stream stream_of_term(const struct term *term)
{
	struct stream stream = { .way = term->way, .term = term, .aggregates = term->aggregates.list };

	switch (term->way) {
	case CANDIDATE_BY_CLASS:
		stream.n_values = 1;
		break;
	case CANDIDATE_BY_TRAIT:
		stream.n_values = term->local.n;
		break;
	case CANDIDATE_BY_AGGREGATE:
		stream.n_values = term->aggregates.n;
		break;
	}
	stream_rewind(&stream);
	return stream;
}

static enum db_result read_stream(struct candidates *found, const struct stream *stream, size_t limit, struct db_rows *rows)
{
	struct db *db = found->registry->db;
	uint64_t type_id = provider_type(found->registry)->id;

	if (stream->way == CANDIDATE_BY_CLASS) {
		const struct sql_candidate_trees_by_class in = {
			.type_id = type_id,
			.class_id = stream->term->class_id,
			.amount = term_amount(stream->term->amount),
			.before_free = stream->before_free,
			.before_id = stream->before_id,
			.limit = limit,
		};
		return sql_candidate_trees_by_class_run(db, found->scratch, &in, rows);
	}
	if (stream->way == CANDIDATE_BY_TRAIT) {
		const struct sql_candidate_trees_by_trait in = {
			.type_id = type_id,
			.trait_id = stream->term->trait_ids[stream->value],
			.before_id = stream->before_id,
			.limit = limit,
		};
		return sql_candidate_trees_by_trait_run(db, found->scratch, &in, rows);
	}
	const struct sql_candidate_trees_by_aggregate in = {
		.type_id = type_id,
		.aggregate = uuid_bytes(&stream->aggregates[stream->value]),
		.before_id = stream->before_id,
		.limit = limit,
	};
	return sql_candidate_trees_by_aggregate_run(db, found->scratch, &in, rows);
}

// Adds roots that no stream has given before, until the list has max of them. It adds fewer only if the stream has ended.
static enum outcome next_of_stream(struct candidates *found, struct stream *stream, struct str *list, size_t max, size_t *n)
{
	assert(max > 0 && *n <= max);
	while (*n < max && stream->value < stream->n_values) {
		struct db_rows rows;
		size_t limit = max - *n < FEWEST_ROWS ? FEWEST_ROWS : max - *n, i = 0;
		struct pool_mark mark = pool_mark(found->scratch);
		enum db_result result = read_stream(found, stream, limit, &rows);
		if (result != DB_OK)
			return registry_db_failed(result);
		for (; i < rows.n && *n < max; i++) {
			struct found_tree tree = tree_of_row(stream->way, &rows, i);
			struct str root = tree.root.n == TREE_BYTES ? key_set_add(&found->seen, tree.root) : STR_NONE;
			stream->before_free = tree.free;
			stream->before_id = tree.id;
			if (root.p != NULL)
				list[(*n)++] = root;
		}
		if (i == rows.n && rows.n < limit) {
			stream->value++;
			stream_rewind(stream);
		}
		pool_rewind(found->scratch, mark);
	}
	return OUTCOME_OK;
}

// ---- roots

struct roots {
	struct str named; // the tree that the query names; p NULL: none, or it was given
	struct stream streams[2];
	size_t n_streams, stream;
	struct str *shuffled; // by chance: all roots of the streams; NULL: not read yet
	size_t n_shuffled, given;
};

enum outcome roots_open(struct candidates *found, struct roots **roots)
{
	const struct term *best;
	enum outcome outcome = send_first_batch(found, &best);

	*roots = NULL;
	if (outcome != OUTCOME_OK || best == NULL)
		return outcome;
	*roots = POOL_NEW(found->pool, struct roots);
	if (best->is_tree)
		(*roots)->named = key_set_add(&found->seen, tree_value(found->registry, provider_type(found->registry), &best->tree));
	else
		(*roots)->streams[(*roots)->n_streams++] = stream_of_term(best);
	(*roots)->streams[(*roots)->n_streams++] = stream_of_sharing(found, best);
	return OUTCOME_OK;
}

// As roots_next(), from the streams in their order.
static enum outcome next_in_order(struct candidates *found, struct roots *roots, struct str *list, size_t max, size_t *n)
{
	enum outcome outcome = OUTCOME_OK;

	*n = 0;
	while (outcome == OUTCOME_OK && *n == 0 && roots->stream < roots->n_streams) {
		outcome = next_of_stream(found, &roots->streams[roots->stream], list, max, n);
		if (*n < max)
			roots->stream++;
	}
	return outcome;
}

// Reads all roots of the streams, and puts them in a random order.
static enum outcome shuffle_all(struct candidates *found, struct roots *roots)
{
	enum outcome outcome = OUTCOME_OK;
	size_t max = 0, n = 1;

	while (outcome == OUTCOME_OK && n > 0) {
		if (roots->n_shuffled + GATHERED_AT_ONCE > max) {
			max = 2 * max + GATHERED_AT_ONCE;
			struct str *larger = POOL_ARRAY(found->pool, struct str, max);
			if (roots->n_shuffled > 0)
				memcpy(larger, roots->shuffled, roots->n_shuffled * sizeof(*larger));
			roots->shuffled = larger;
		}
		outcome = next_in_order(found, roots, &roots->shuffled[roots->n_shuffled], GATHERED_AT_ONCE, &n);
		roots->n_shuffled += n;
	}
	for (size_t i = roots->n_shuffled; i > 1; i--) {
		uint64_t number;
		digest_random(&number, sizeof(number));
		struct str other = roots->shuffled[i - 1];
		roots->shuffled[i - 1] = roots->shuffled[number % i];
		roots->shuffled[number % i] = other;
	}
	return outcome;
}

enum outcome roots_next(struct candidates *found, struct roots *roots, struct str *list, size_t max, size_t *n)
{
	assert(max > 0);
	if (roots->named.p != NULL) {
		list[0] = roots->named;
		*n = 1;
		roots->named = STR_NONE;
		return OUTCOME_OK;
	}
	if (!found->query->by_chance)
		return next_in_order(found, roots, list, max, n);
	*n = 0;
	if (roots->shuffled == NULL) {
		enum outcome outcome = shuffle_all(found, roots);
		if (outcome != OUTCOME_OK)
			return outcome;
	}
	while (*n < max && roots->given < roots->n_shuffled)
		list[(*n)++] = roots->shuffled[roots->given++];
	return OUTCOME_OK;
}

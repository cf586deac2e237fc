// SPDX-License-Identifier: Apache-2.0
// For the files of registry/candidates/ only: a search for candidates while it runs.
#ifndef TENURE_REGISTRY_CANDIDATES_INTERNAL_H
#define TENURE_REGISTRY_CANDIDATES_INTERNAL_H

#include "base/siphash.h"
#include "registry/candidates/candidate.h"
#include "registry/placement/provider_internal.h"
#include "sql/candidates.h"

#define SHARING_TRAIT "MISC_SHARES_VIA_AGGREGATE"

// The index that finds the providers of a term.
enum candidate_way { CANDIDATE_BY_CLASS, CANDIDATE_BY_TRAIT, CANDIDATE_BY_AGGREGATE };

// Where a search for trees may begin: each candidate has a provider that passes it.
struct term {
	enum candidate_way way;
	uint64_t class_id, amount;
	const uint64_t *trait_ids; // any of them; local: their numbers in the finder's list of names
	struct candidate_traits local;
	struct candidate_aggregates aggregates; // any of them
	bool of_root; // asked of the anchor, which sharing providers do not stand for
	bool is_tree; // asks for one tree and those that its providers share with
	struct uuid tree;
};

// A trait that the query names, and its id in the catalogue.
struct named_trait {
	struct str name;
	uint64_t id;
};

// A tree as it was read.
struct grove {
	struct candidate_tree tree;
	struct str *traits; // of each provider: JSON
	bool *gives;        // of each provider: it has given something to a candidate
	bool has_given, is_anchor;
	struct candidate_search *search; // NULL: it has no more candidates
};

// A set of short keys.
struct key_set {
	struct pool *pool;
	uint64_t hash_key[SIPHASH_KEY];
	struct str *slots; // p NULL: free
	size_t n_slots, n;
};

struct candidates {
	struct registry *registry;
	struct pool *pool;    // of the answer
	struct pool *scratch; // of one portion of trees
	const struct candidate_query *query;
	struct candidate_request request;
	candidate_fn *take;
	void *arg;
	uint64_t found;
	bool refused; // the caller wants no more

	struct named_trait *traits; // that the query names, ordered by name. A trait's number is its index and one
	size_t n_traits;
	struct term *terms;
	size_t n_terms;
	bool reads_aggregates;

	struct grove *shared_groves; // with providers that share
	size_t n_shared_groves;
	const struct candidate_provider **sharing;
	size_t n_sharing;

	struct grove **groves; // whose roots are anchors of candidates
	size_t n_groves, max_groves;
	struct key_set seen;    // roots that were looked at
	struct key_set emitted; // candidates that several anchors may have

	struct candidate_summary *summaries;
	size_t n_summaries;
	struct db_rows class_names;
};

// ---- key_set.c

void key_set_init(struct key_set *set, struct pool *pool);
bool key_set_has(const struct key_set *set, struct str key);
// The key as the set keeps it; STR_NONE: it was there before.
struct str key_set_add(struct key_set *set, struct str key);

// ---- query.c: names become numbers

// Fills request, traits and terms. OUTCOME_OK, _BAD_PARAMETER.
enum outcome query_resolve(struct candidates *found);
// A trait's number in found->traits and one; 0: the query does not name it.
size_t query_trait_number(const struct candidates *found, struct str name);
// The call that counts who passes a term, up to a limit.
struct db_call term_count_call(struct pool *pool, const struct term *term);
// Does a provider pass the term? Loosely: an amount is not compared.
bool term_passes(const struct candidate_provider *provider, const struct term *term);
// The largest amount that a statement takes stands for all above it: no inventory has so much.
uint64_t term_amount(uint64_t amount);
// Pairs of all classes and amounts that are asked for, as JSON.
struct str term_amounts(const struct candidates *found);

// ---- trees.c: trees are read

// The rows of a portion of trees.
struct portion {
	struct db_rows providers, inventories, aggregates;
};
// roots: as resources.root has them. The rows live in pool.
enum outcome portion_read(struct candidates *found, struct pool *pool, const struct str *roots, size_t n,
	struct portion *portion);
// Builds the tree of that root in pool; it does not refer to the rows. False: it is not in the portion.
bool grove_build(const struct candidates *found, struct pool *pool, const struct portion *portion, struct str root,
	struct grove *grove);
// Reads the trees of these rows of candidate_sharing_trees, and notes who shares.
enum outcome sharing_read(struct candidates *found, const struct db_rows *roots);
// The tree of that root, if it is one of those; else NULL.
struct grove *sharing_grove(const struct candidates *found, struct uuid root);

#endif

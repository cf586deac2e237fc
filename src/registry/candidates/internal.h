// SPDX-License-Identifier: Apache-2.0
// For the files of registry/candidates/ only: the state of a search for candidates.
#ifndef TENURE_REGISTRY_CANDIDATES_INTERNAL_H
#define TENURE_REGISTRY_CANDIDATES_INTERNAL_H

#include "base/siphash.h"
#include "db/list.h"
#include "registry/candidates/candidate.h"
#include "registry/placement/provider_internal.h"
#include "sql/candidates.h"

#define SHARING_TRAIT "MISC_SHARES_VIA_AGGREGATE"

// The index by which a term's providers are found.
enum candidate_way { CANDIDATE_BY_CLASS, CANDIDATE_BY_TRAIT, CANDIDATE_BY_AGGREGATE };

// A condition that some provider of each candidate passes, so that the search for trees can begin with it.
struct term {
	enum candidate_way way;
	uint64_t class_id, amount;              // CANDIDATE_BY_CLASS: the provider has so much of that class
	const uint64_t *trait_ids;              // CANDIDATE_BY_TRAIT: the provider has any of these, by their ids in the catalogue
	struct candidate_traits local;          // the same traits by their numbers (candidate_query_trait_number()), as many
	struct candidate_aggregates aggregates; // CANDIDATE_BY_AGGREGATE: the provider is in any of these
	bool of_root;     // it is a condition on the anchor, so no sharing provider can pass it instead
	bool is_tree;     // instead of all these: the provider is in this tree, or shares with it
	struct uuid tree; // the root's uid
};

// A trait that the query names, with its id in the catalogue.
struct named_trait {
	struct str name;
	uint64_t id;
};

// A tree with candidates, and how far they have been emitted.
struct grove {
	struct str root;            // the value of resources.root
	struct candidate_tree tree; // providers NULL: the tree is read again when it is needed
	struct str *traits;         // for each provider a JSON array of names; NULL if the tree's providers are
	bool *gives;                // for each provider: a candidate takes something from it; NULL: none takes anything from the tree
	uint64_t shuffle;           // as in candidate_search_new()
	uint64_t searched;          // so many candidates have been found by a search
	bool may_have_more;         // it may have candidates after these
	bool is_listed;             // the grove is in struct candidates' groves
};

// A set of short byte strings.
struct key_set {
	struct pool *pool;
	uint64_t hash_key[SIPHASH_KEY];
	struct str *slots; // p NULL: free
	size_t n_slots, n;
};

// A request while it is answered.
struct candidates {
	struct registry *registry;
	struct pool *pool;    // for what the answer refers to
	struct pool *scratch; // cleared after each portion of trees
	struct pool *kept;    // trees with candidates, up to a size
	const struct candidate_query *query;
	struct candidate_request request;
	candidate_fn *take;
	void *arg;
	uint64_t found;
	bool refused; // the caller's function returned false

	struct named_trait *traits; // the traits that the query names, sorted by name; a trait's number is its index plus one
	size_t n_traits;
	struct term *terms;
	size_t n_terms;
	bool reads_aggregates;

	struct grove *shared_groves; // trees with sharing providers
	size_t n_shared_groves;
	const struct candidate_provider **sharing;
	size_t n_sharing;

	struct grove **groves; // trees whose roots are anchors of candidates; for the summaries shared_groves, too
	size_t n_groves, max_groves;
	struct key_set seen;    // roots that were tried
	struct key_set emitted; // candidates that could be found again for another anchor

	struct key_set classes;   // ids of the classes that the summaries name
	struct db_list class_ids; // the same, as the statement takes them
	struct db_rows class_names;
};

// ---- key_set.c

// Makes an empty set. The keys are copied to pool, which also has the slots.
void key_set_init(struct key_set *set, struct pool *pool);
// Adds a copy of the key, which it returns; STR_NONE: the set has the key already.
struct str key_set_add(struct key_set *set, struct str key);

// ---- query.c: looks up the names of the query

// Fills request, traits and terms from the query. OUTCOME_OK; _BAD_PARAMETER: an unknown name, or too many terms; or that of a
// failed statement.
enum outcome candidate_query_resolve(struct candidates *found);
// A trait's index in found->traits plus one; 0: the query does not name it.
size_t candidate_query_trait_number(const struct candidates *found, struct str name);
// The call that counts the providers that pass a term, up to a limit.
struct db_call term_count_call(struct pool *pool, const struct term *term);
// Can the provider pass the term? The amount of a class is not compared.
bool term_passes(const struct candidate_provider *provider, const struct term *term);
// The amount for a statement, at most INT64_MAX: no inventory has more.
uint64_t term_amount(uint64_t amount);
// All classes and amounts of the query, as a JSON array of pairs.
struct str term_amounts(const struct candidates *found);

// ---- roots.c: finds roots

struct roots;
// Chooses the term by which trees are found: a tree if the query names one, else the term that the fewest providers pass. Reads
// the trees with sharing providers (candidate_sharing_read()). *roots is allocated from the request's pool; NULL: a tree that the
// query names does not exist, so there are no candidates. OUTCOME_OK, or that of a failed statement.
enum outcome roots_open(struct candidates *found, struct roots **roots);
// Sets list to the next roots (values of resources.root), at most max > 0 of them, none of them twice; *n is 0 only after the
// last one. They live in the request's pool. The order is the index's; if the query is by chance, a random one. OUTCOME_OK, or
// that of a failed statement.
enum outcome roots_next(struct candidates *found, struct roots *roots, struct str *list, size_t max, size_t *n);

// ---- trees.c: reads trees

// The rows of several trees.
struct portion {
	struct db_rows providers, inventories, aggregates;
};
// Reads the trees with these n roots (values of resources.root), n > 0. The rows live in pool. OUTCOME_OK, or that of a failed
// statement.
enum outcome portion_read(struct candidates *found, struct pool *pool, const struct str *roots, size_t n,
	struct portion *portion);
// Sets the tree of grove->root and its traits from the rows, allocated from pool; they keep no pointer to the rows. False: the
// portion lacks the tree.
bool grove_build(const struct candidates *found, struct pool *pool, const struct portion *portion, struct grove *grove);
// Reads the trees of the rows of candidate_sharing_trees into shared_groves, and their sharing providers into sharing.
// OUTCOME_OK, or that of a failed statement.
enum outcome candidate_sharing_read(struct candidates *found, const struct db_rows *roots);
// The tree with that root if it has sharing providers; else NULL.
struct grove *candidate_sharing_grove(const struct candidates *found, struct uuid root);

#endif

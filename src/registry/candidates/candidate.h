// SPDX-License-Identifier: Apache-2.0
// Allocation candidates: which sets of providers can satisfy a request. The rules are in Placement's API reference, GET
// /allocation_candidates. candidate_search.h searches within one tree.
//
// Trees are found by the index of one term: the class with amount, trait, aggregate or tree that the fewest providers pass. They
// are read in portions, until as many trees as the limit have a candidate; then each tree gives an equal share of those that are
// missing. So the cost depends on the size of the answer. Trees with candidates stay in memory up to some MiB. Of each other tree
// about 250 bytes stay, and it is read again if it has to give more, and for its summary. A tree is called a grove where the
// state of its search is meant.
#ifndef TENURE_REGISTRY_CANDIDATES_CANDIDATE_H
#define TENURE_REGISTRY_CANDIDATES_CANDIDATE_H

#include "registry/candidates/candidate_search.h"
#include "registry/placement/provider.h"

// A group of the request, with names as the client sent them. The lists are as in struct provider_query: all of them must hold.
struct candidate_wish {
	struct str suffix; // "": its classes may come from several providers of the tree
	const struct provider_demand *demands; // of different classes
	size_t n_demands;
	const struct provider_requirement *requirements;
	size_t n_requirements;
	const struct provider_membership *memberships;
	size_t n_memberships;
	const struct uuid *in_tree; // the uid of any provider of the tree; NULL: any tree
};
// A request for candidates. All that it points to must outlive struct candidates.
struct candidate_query {
	const struct candidate_wish *groups; // at least one of them with demands
	size_t n_groups;
	const struct candidate_subtree *subtrees; // as in struct candidate_request, and so are the next three
	size_t n_subtrees;
	bool isolate, one_per_tree;
	const struct provider_requirement *root_requirements; // each has one trait
	size_t n_root_requirements;
	uint64_t limit;  // 0: all
	bool by_chance;  // return a random sample; else the same candidates each time
};

// A tree of which a provider is in a candidate, for the answer's summaries.
struct candidate_summary {
	const struct candidate_provider *providers; // the root first
	const struct str *traits; // for each provider a JSON array of names in byte order
	const bool *gives;        // for each provider: does some candidate take anything of it?
	size_t n;
};

// Receives a candidate. Returns false to stop the search. candidate_group_index() and candidate_demand_index() tell which part
// of the query each of its parts satisfies. The pointers are valid during the call only.
struct candidates;
typedef bool candidate_fn(void *arg, const struct candidates *candidates, const struct candidate *candidate);

// The index of the part's group in the query.
size_t candidate_group_index(const struct candidates *candidates, const struct candidate_part *part);
// The index of the part's first demand in that group. The part must have a demand.
size_t candidate_demand_index(const struct candidate_part *part);

// Calls take(arg, …) for each candidate, up to the limit, no candidate twice. The caller's transaction must read one snapshot.
// *candidates, in the request's pool, is what take() gets, too.
// OUTCOME_OK, also if there are none. OUTCOME_BAD_PARAMETER: unknown traits or classes ("No such trait(s): A, B.", "Invalid
// resource class in resources parameter: No such resource class A."), or more terms than CANDIDATE_MAX_TERMS. Or that of a failed
// statement.
enum outcome candidates_find(struct registry *registry, const struct candidate_query *query, candidate_fn *take, void *arg,
	struct candidates **candidates);
// Receives a summary. Returns false to stop. The pointers are valid during the call only.
typedef bool candidate_summary_fn(void *arg, const struct candidates *candidates, const struct candidate_summary *summary);
// Calls take(arg, …) for each tree of which a provider was in a candidate, in the transaction of candidates_find(), and once
// only. OUTCOME_OK, or that of a failed statement.
enum outcome candidates_summarize(struct candidates *candidates, candidate_summary_fn *take, void *arg);
// The name of a class in the inventories of a summary's provider; "" if it is unknown.
struct str candidates_class_name(const struct candidates *candidates, uint64_t class_id);

#endif

// SPDX-License-Identifier: Apache-2.0
// Allocation candidates: which providers could give what a request asks for. Rules: Placement's API reference, GET
// /allocation_candidates; the search within one tree is candidate_search.h's.
//
// Trees are found by an index: that of the term which the fewest providers pass (a class with an amount, a trait, an
// aggregate, a tree). They are read in portions until as many as the limit have a candidate; then each tree gives a candidate
// in turn. So a request costs what it answers, and memory is needed for the trees that give an answer.
#ifndef TENURE_REGISTRY_CANDIDATE_H
#define TENURE_REGISTRY_CANDIDATE_H

#include "registry/candidates/candidate_search.h"
#include "registry/placement/provider.h"

// A group as the client names things. The lists are as in struct provider_query: each requirement and membership holds.
struct candidate_wish {
	struct str suffix; // "": its classes may come from several providers of a tree
	const struct provider_demand *demands; // of different classes
	size_t n_demands;
	const struct provider_requirement *requirements;
	size_t n_requirements;
	const struct provider_membership *memberships;
	size_t n_memberships;
	const struct uuid *in_tree; // any provider of the tree
};
struct candidate_query {
	const struct candidate_wish *groups; // at least one of them with demands
	size_t n_groups;
	const struct candidate_subtree *subtrees;
	size_t n_subtrees;
	bool isolate, one_per_tree; // struct candidate_request says what they mean
	const struct provider_requirement *root_requirements; // of one trait each
	size_t n_root_requirements;
	uint64_t limit;  // 0: all
	bool by_chance;  // a sample, instead of the same ones each time
};

// A tree that gives something in an answer, for its summary.
struct candidate_summary {
	const struct candidate_provider *providers; // the root first
	const struct str *traits; // of each provider: a JSON array of names, in byte order
	const bool *gives;        // of each provider: it gives something in a candidate
	size_t n;
};

// Takes a candidate; false: no more are wanted. Its parts' groups and demands are in the order of the query's: part->group - groups, part->demands -
// part->group->demands. The pointers are valid during the call.
struct candidates;
typedef bool candidate_fn(void *arg, const struct candidates *candidates, const struct candidate *candidate);

// The group's index in the query, and that of the part's first demand in the group.
size_t candidate_group_index(const struct candidates *candidates, const struct candidate_part *part);
size_t candidate_demand_index(const struct candidate_part *part);

// Calls take for each candidate, up to the limit; each comes once. Reads one snapshot if the caller's transaction is one.
// OUTCOME_OK, also where there are none. _BAD_PARAMETER: a trait or class that does not exist ("No such trait(s): A, B.",
// "Invalid resource class in resources parameter: No such resource class A."), more terms than CANDIDATE_MAX_TERMS.
enum outcome candidates_find(struct registry *registry, const struct candidate_query *query, candidate_fn *take, void *arg,
	struct candidates **candidates);
// The trees that gave something to the candidates found. In the request's pool.
void candidates_summaries(const struct candidates *candidates, const struct candidate_summary **list, size_t *n);
// The name of a class that a provider of a summary has. "" if it is unknown.
struct str candidates_class_name(const struct candidates *candidates, uint64_t class_id);

#endif

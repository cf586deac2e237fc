// SPDX-License-Identifier: Apache-2.0
// The allocation candidates of one tree of providers, one after the other. It uses no database: the trees are in memory.
//
// A request consists of groups. The group without a suffix asks for amounts of resource classes, each of which may come from
// another provider. A group with a suffix is satisfied by a single provider. So a candidate names one provider for each class
// of the former, and one for each of the latter. All of these belong to one tree, whose root is the candidate's anchor, or
// share with that tree: a sharing provider (trait MISC_SHARES_VIA_AGGREGATE) shares with every tree that has a provider in one
// of its aggregates. The rules are in Placement's API reference, GET /allocation_candidates.
//
// The search is depth-first. It gives up a partial choice as soon as a quick test shows that nothing can complete it. So the
// cost depends on the number of candidates, not on the product of all choices.
#ifndef TENURE_REGISTRY_CANDIDATES_CANDIDATE_SEARCH_H
#define TENURE_REGISTRY_CANDIDATES_CANDIDATE_SEARCH_H

#include "base/uuid.h"

// ---- providers

struct candidate_inventory {
	uint64_t class_id;
	int64_t capacity, used; // used may exceed the capacity
	uint64_t min_unit, max_unit, step_size;
};
struct candidate_provider {
	uint64_t id;
	struct uuid uid;
	const struct candidate_provider *parent; // NULL: it is a root
	const struct candidate_provider *root;
	const struct candidate_inventory *inventories; // ordered by class_id
	size_t n_inventories;
	const uint64_t *traits; // ids, ascending
	size_t n_traits;
	const struct uuid *aggregates; // ascending, as memcmp() orders them
	size_t n_aggregates;
	bool shares; // it has the trait MISC_SHARES_VIA_AGGREGATE
};
// All providers of a tree; the first is the root.
struct candidate_tree {
	struct candidate_provider *providers;
	size_t n;
};

// ---- a request, its names looked up

// At most so many groups, and in each group demands, sets of required traits, and sets of aggregates.
enum { CANDIDATE_MAX_TERMS = 64 };

struct candidate_demand {
	uint64_t class_id, amount;
};
struct candidate_traits { // ids of traits
	const uint64_t *list;
	size_t n;
};
struct candidate_aggregates {
	const struct uuid *list;
	size_t n;
};
struct candidate_group {
	struct str suffix; // "": the group whose classes may come from several providers
	// of different classes; none: the group only takes part in same_subtree and isolation
	const struct candidate_demand *demands;
	size_t n_demands;
	const struct candidate_traits *required; // at least one trait of each set
	size_t n_required;
	struct candidate_traits forbidden;
	const struct candidate_aggregates *member_of; // at least one aggregate of each set
	size_t n_member_of;
	struct candidate_aggregates not_member_of;
	const struct uuid *in_tree; // the uid of the root of the tree that the providers must be in; NULL: any tree
};
// One of the providers chosen for these groups must be an ancestor of all the others.
struct candidate_subtree {
	const size_t *groups; // indexes into the request's groups
	size_t n;
};
struct candidate_request {
	const struct candidate_group *groups;
	size_t n_groups;
	const struct candidate_subtree *subtrees;
	size_t n_subtrees;
	bool isolate;      // groups with suffixes must be satisfied by different providers
	bool one_per_tree; // at most one provider of each tree gives resources: clients before microversion 1.29 know no trees
	struct candidate_traits root_required, root_forbidden; // traits that the anchor must have, and must not have
};

// ---- the search

// What one provider is chosen for: one class of the group without suffix, or all of a group with a suffix.
struct candidate_part {
	const struct candidate_group *group;
	const struct candidate_demand *demands;
	size_t n_demands;
};
struct candidate {
	const struct candidate_provider *anchor;
	const struct candidate_part *parts;
	const struct candidate_provider *const *providers; // one for each part; valid until the next candidate_search_next()
	size_t n_parts;
};

struct candidate_search;

// Begins a search, allocated from pool. pool, request, tree and sharing must outlive the search. sharing: providers of any
// trees that share; those that do not share with this tree are ignored. shuffle: a seed for a random order of the candidates;
// 0: a fixed order. NULL: the tree has no candidates.
struct candidate_search *candidate_search_new(struct pool *pool, const struct candidate_request *request,
	const struct candidate_tree *tree, const struct candidate_provider *const *sharing, size_t n_sharing, uint64_t shuffle);
// Returns the next candidate of the tree, no candidate twice. False: there are no more. Counts its steps as work
// (base/budget.h).
bool candidate_search_next(struct candidate_search *search, struct candidate *candidate);
// Can candidate_search_next() return true once more? It was called, and did. This searches for nothing: true if a choice was not
// tried yet.
bool candidate_search_may_have_more(const struct candidate_search *search);

// Does the provider have one of these traits; is it in one of these aggregates?
bool candidate_has_trait(const struct candidate_provider *provider, struct candidate_traits any);
bool candidate_has_aggregate(const struct candidate_provider *provider, struct candidate_aggregates any);

#endif

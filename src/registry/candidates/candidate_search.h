// SPDX-License-Identifier: Apache-2.0
// The allocation candidates of one tree of providers, one after the other. No database here: the trees are in memory.
//
// A request consists of groups. The group without a suffix asks for amounts of resource classes, and each class may come from
// another provider; a group with a suffix is satisfied by one provider alone. A candidate names a provider for each class of
// the first and for each of the others. All of them belong to one tree, whose root is the candidate's anchor, or share with it:
// a sharing provider (trait MISC_SHARES_VIA_AGGREGATE) shares with every tree that has any provider in one of its aggregates.
// Rules: Placement's API reference, GET /allocation_candidates.
//
// The search goes depth first and gives up a beginning as soon as nothing can complete it, as far as that can be told quickly:
// so it costs what it answers, and not the product of all choices.
#ifndef TENURE_REGISTRY_CANDIDATE_SEARCH_H
#define TENURE_REGISTRY_CANDIDATE_SEARCH_H

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
	const struct candidate_inventory *inventories; // ordered by class
	size_t n_inventories;
	const uint64_t *traits; // ids, ascending
	size_t n_traits;
	const struct uuid *aggregates; // ascending, as memcmp() orders them
	size_t n_aggregates;
	bool shares; // it has the trait MISC_SHARES_VIA_AGGREGATE
};
// All providers of a tree, the root first.
struct candidate_tree {
	struct candidate_provider *providers;
	size_t n;
};

// ---- a request, its names looked up

enum { CANDIDATE_MAX_TERMS = 64 /* groups, and of each group demands, sets of required traits, sets of aggregates */ };

struct candidate_demand {
	uint64_t class_id, amount;
};
struct candidate_traits { // ids
	const uint64_t *list;
	size_t n;
};
struct candidate_aggregates {
	const struct uuid *list;
	size_t n;
};
struct candidate_group {
	struct str suffix; // "": of the group whose classes may come from several providers
	const struct candidate_demand *demands; // of different classes; none: it only takes part in same_subtree and isolation
	size_t n_demands;
	const struct candidate_traits *required; // of each set one trait at least
	size_t n_required;
	struct candidate_traits forbidden;
	const struct candidate_aggregates *member_of; // of each set one aggregate at least
	size_t n_member_of;
	struct candidate_aggregates not_member_of;
	const struct uuid *in_tree; // the root of the tree that its providers are in; NULL: any
};
// Of the providers of these groups one is an ancestor of all others.
struct candidate_subtree {
	const size_t *groups; // indexes
	size_t n;
};
struct candidate_request {
	const struct candidate_group *groups;
	size_t n_groups;
	const struct candidate_subtree *subtrees;
	size_t n_subtrees;
	bool isolate;      // groups with suffixes are satisfied by different providers
	bool one_per_tree; // of one tree at most one provider gives resources: clients before 1.29 know no trees
	struct candidate_traits root_required, root_forbidden; // of the anchor
};

// ---- the search

// What one provider is chosen for: one class of the group without suffix, or all of another group.
struct candidate_part {
	const struct candidate_group *group;
	const struct candidate_demand *demands;
	size_t n_demands;
};
struct candidate {
	const struct candidate_provider *anchor;
	const struct candidate_part *parts;
	const struct candidate_provider *const *providers; // for each part; valid until the next candidate is asked for
	size_t n_parts;
};

struct candidate_search;

// In pool, which has to outlive it, as tree, sharing and request have to. sharing: providers of any trees that share; those
// that don't share with this tree are left alone. shuffle: 0, or a number that determines an order by chance.
// NULL: the tree has no candidates.
struct candidate_search *candidate_search_new(struct pool *pool, const struct candidate_request *request,
	const struct candidate_tree *tree, const struct candidate_provider *const *sharing, size_t n_sharing, uint64_t shuffle);
// The next candidate of the tree; each comes once. False: there are no more. Counts its steps as work (base/budget.h).
bool candidate_search_next(struct candidate_search *search, struct candidate *candidate);

// Has the provider one of these traits; is it in one of these aggregates?
bool candidate_has_trait(const struct candidate_provider *provider, struct candidate_traits any);
bool candidate_has_aggregate(const struct candidate_provider *provider, struct candidate_aggregates any);

#endif

// SPDX-License-Identifier: Apache-2.0
#include "base/base.h"

#include "registry/candidates/candidate_search.h"

#include "base/budget.h"
#include "base/pool.h"

struct part {
	struct candidate_part what;
	size_t *options; // indexes into the search's providers: those that can satisfy this part
	size_t n_options;
	uint64_t covers; // group without suffix: a bit for each set of required traits of which some option has a trait
};

struct candidate_search {
	const struct candidate_request *request;
	const struct candidate_provider *anchor;
	const struct candidate_provider **providers; // those of the tree, then those that share with it
	size_t n_providers;
	// for each provider: a bit for each set of required traits, of the group without suffix, of which it has a trait
	uint64_t *covers;
	uint64_t all_sets;
	struct part *parts; // ordered by n_options, the smallest first
	struct candidate_part *shown; // the same parts in the same order, for callers
	size_t n_parts;
	uint64_t *contested; // classes that several parts ask for: what one part takes of them is missing for the others
	size_t n_contested;

	// The state of the search: the parts 0 to depth have a provider (chosen); next is the option of each part to try next.
	size_t *next;
	size_t *chosen;
	const struct candidate_provider **answer;
	bool begun;

	// Scratch memory: the part that each provider is matched with, and the last round in which it was looked at.
	size_t *matched;
	unsigned *seen, round;
};

enum { NOBODY = -1 }; // in matched: no part

// ---- one provider

static bool in_traits(const struct candidate_provider *provider, uint64_t id)
{
	size_t low = 0, high = provider->n_traits;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (provider->traits[middle] == id)
			return true;
		if (provider->traits[middle] < id)
			low = middle + 1;
		else
			high = middle;
	}
	return false;
}

bool candidate_has_trait(const struct candidate_provider *provider, struct candidate_traits any)
{
	for (size_t i = 0; i < any.n; i++) {
		if (in_traits(provider, any.list[i]))
			return true;
	}
	return false;
}

bool candidate_has_aggregate(const struct candidate_provider *provider, struct candidate_aggregates any)
{
	for (size_t i = 0; i < any.n; i++) {
		for (size_t k = 0; k < provider->n_aggregates; k++) {
			if (uuid_eq(any.list[i], provider->aggregates[k]))
				return true;
		}
	}
	return false;
}

static bool in_all_aggregates(const struct candidate_provider *provider, const struct candidate_group *group)
{
	for (size_t i = 0; i < group->n_member_of; i++) {
		if (!candidate_has_aggregate(provider, group->member_of[i]))
			return false;
	}
	return true;
}

static bool has_all_traits(const struct candidate_provider *provider, const struct candidate_group *group)
{
	for (size_t i = 0; i < group->n_required; i++) {
		if (!candidate_has_trait(provider, group->required[i]))
			return false;
	}
	return true;
}

static const struct candidate_inventory *inventory_of(const struct candidate_provider *provider, uint64_t class_id)
{
	for (size_t i = 0; i < provider->n_inventories; i++) {
		if (provider->inventories[i].class_id == class_id)
			return &provider->inventories[i];
	}
	return NULL;
}

// The most that a single candidate can take of the inventory.
static uint64_t most_of(const struct candidate_inventory *inventory)
{
	int64_t free = inventory->capacity - inventory->used;

	if (free <= 0)
		return 0;
	return (uint64_t)free < inventory->max_unit ? (uint64_t)free : inventory->max_unit;
}

static bool has_resources(const struct candidate_provider *provider, const struct candidate_part *part)
{
	for (size_t i = 0; i < part->n_demands; i++) {
		const struct candidate_inventory *inventory = inventory_of(provider, part->demands[i].class_id);
		uint64_t amount = part->demands[i].amount;
		if (inventory == NULL || amount > most_of(inventory) || amount < inventory->min_unit ||
			amount % inventory->step_size != 0)
			return false;
	}
	return true;
}

static bool provider_fits(const struct candidate_provider *provider, const struct candidate_part *part,
	const struct candidate_provider *anchor)
{
	const struct candidate_group *group = part->group;
	bool several = group->suffix.n == 0, own = provider->root == anchor;

	if (group->in_tree != NULL && (!uuid_eq(provider->root->uid, *group->in_tree) || (several && !own)))
		return false;
	if (candidate_has_trait(provider, group->forbidden) || candidate_has_aggregate(provider, group->not_member_of))
		return false;
	// If classes may come from several providers of a tree, an aggregate of the root counts for the whole tree.
	if (several) {
		if (candidate_has_aggregate(anchor, group->not_member_of))
			return false;
		if (!in_all_aggregates(provider, group) && !(own && in_all_aggregates(anchor, group)))
			return false;
	} else if (!in_all_aggregates(provider, group) || !has_all_traits(provider, group)) {
		return false;
	}
	return has_resources(provider, part);
}

// ---- the providers of a search

static bool shares_with(const struct candidate_provider *provider, const struct candidate_tree *tree)
{
	const struct candidate_aggregates own = { provider->aggregates, provider->n_aggregates };

	for (size_t i = 0; i < tree->n; i++) {
		if (candidate_has_aggregate(&tree->providers[i], own))
			return true;
	}
	return false;
}

static bool anchor_passes(const struct candidate_request *request, const struct candidate_provider *anchor)
{
	for (size_t i = 0; i < request->root_required.n; i++) {
		if (!in_traits(anchor, request->root_required.list[i]))
			return false;
	}
	return !candidate_has_trait(anchor, request->root_forbidden);
}

static void take_providers(struct candidate_search *search, struct pool *pool, const struct candidate_tree *tree,
	const struct candidate_provider *const *sharing, size_t n_sharing)
{
	search->providers = POOL_ARRAY(pool, const struct candidate_provider *, tree->n + n_sharing);
	for (size_t i = 0; i < tree->n; i++)
		search->providers[search->n_providers++] = &tree->providers[i];
	for (size_t i = 0; i < n_sharing; i++) {
		if (sharing[i]->root != search->anchor && shares_with(sharing[i], tree))
			search->providers[search->n_providers++] = sharing[i];
	}
}

// ---- parts

static void add_part(struct candidate_search *search, const struct candidate_group *group,
	const struct candidate_demand *demands, size_t n)
{
	search->parts[search->n_parts++].what = (struct candidate_part){ group, demands, n };
}

static void add_parts(struct candidate_search *search, struct pool *pool)
{
	const struct candidate_request *request = search->request;
	size_t most = 0;

	for (size_t i = 0; i < request->n_groups; i++)
		most += request->groups[i].n_demands + 1;
	search->parts = POOL_ARRAY(pool, struct part, most);
	for (size_t i = 0; i < request->n_groups; i++) {
		const struct candidate_group *group = &request->groups[i];
		if (group->suffix.n > 0)
			add_part(search, group, group->demands, group->n_demands);
		for (size_t k = 0; group->suffix.n == 0 && k < group->n_demands; k++)
			add_part(search, group, &group->demands[k], 1);
	}
}

// Notes which providers have a trait of which set that the group without suffix requires.
static void note_sets(struct candidate_search *search, struct pool *pool)
{
	search->covers = POOL_ARRAY(pool, uint64_t, search->n_providers);
	for (size_t i = 0; i < search->request->n_groups; i++) {
		const struct candidate_group *group = &search->request->groups[i];
		for (size_t k = 0; group->suffix.n == 0 && k < group->n_required; k++) {
			search->all_sets |= UINT64_C(1) << k;
			for (size_t p = 0; p < search->n_providers; p++) {
				if (candidate_has_trait(search->providers[p], group->required[k]))
					search->covers[p] |= UINT64_C(1) << k;
			}
		}
	}
}

// The next number of a pseudo-random sequence (xorshift64*).
static uint64_t next_number(uint64_t *state)
{
	*state ^= *state >> 12;
	*state ^= *state << 25;
	*state ^= *state >> 27;
	return *state * UINT64_C(2685821657736338717);
}

static void shuffle_options(struct part *part, uint64_t *state)
{
	for (size_t i = part->n_options; i > 1; i--) {
		size_t k = (size_t)(next_number(state) % i), other = part->options[i - 1];
		part->options[i - 1] = part->options[k];
		part->options[k] = other;
	}
}

// Finds the providers that can satisfy the part.
static void find_options(struct candidate_search *search, struct pool *pool, struct part *part)
{
	part->options = POOL_ARRAY(pool, size_t, search->n_providers);
	for (size_t i = 0; i < search->n_providers; i++) {
		if (!provider_fits(search->providers[i], &part->what, search->anchor))
			continue;
		part->options[part->n_options++] = i;
		if (part->what.group->suffix.n == 0)
			part->covers |= search->covers[i];
	}
}

static int by_options(const void *a, const void *b)
{
	size_t x = ((const struct part *)a)->n_options, y = ((const struct part *)b)->n_options;

	return x < y ? -1 : x > y;
}

// Notes the classes that several parts ask for.
static void note_contested(struct candidate_search *search, struct pool *pool)
{
	size_t most = 0;

	for (size_t i = 0; i < search->n_parts; i++)
		most += search->parts[i].what.n_demands;
	search->contested = POOL_ARRAY(pool, uint64_t, most);
	for (size_t i = 0; i < search->n_parts; i++) {
		for (size_t k = 0; k < search->parts[i].what.n_demands; k++) {
			uint64_t class_id = search->parts[i].what.demands[k].class_id;
			size_t users = 0, known = 0;
			for (size_t j = 0; j < search->n_parts; j++) {
				for (size_t d = 0; d < search->parts[j].what.n_demands; d++)
					users += search->parts[j].what.demands[d].class_id == class_id;
			}
			while (known < search->n_contested && search->contested[known] != class_id)
				known++;
			if (users > 1 && known == search->n_contested)
				search->contested[search->n_contested++] = class_id;
		}
	}
}

struct candidate_search *candidate_search_new(struct pool *pool, const struct candidate_request *request,
	const struct candidate_tree *tree, const struct candidate_provider *const *sharing, size_t n_sharing, uint64_t shuffle)
{
	struct candidate_search *search = POOL_NEW(pool, struct candidate_search);

	assert(tree->n > 0 && tree->providers[0].root == &tree->providers[0] && request->n_groups > 0);
	search->request = request;
	search->anchor = &tree->providers[0];
	if (!anchor_passes(request, search->anchor))
		return NULL;
	take_providers(search, pool, tree, sharing, n_sharing);
	note_sets(search, pool);
	add_parts(search, pool);
	for (size_t i = 0; i < search->n_parts; i++) {
		find_options(search, pool, &search->parts[i]);
		if (search->parts[i].n_options == 0)
			return NULL;
		if (shuffle != 0)
			shuffle_options(&search->parts[i], &shuffle);
	}
	qsort(search->parts, search->n_parts, sizeof(*search->parts), by_options);
	note_contested(search, pool);
	search->shown = POOL_ARRAY(pool, struct candidate_part, search->n_parts);
	for (size_t i = 0; i < search->n_parts; i++)
		search->shown[i] = search->parts[i].what;
	search->next = POOL_ARRAY(pool, size_t, search->n_parts);
	search->chosen = POOL_ARRAY(pool, size_t, search->n_parts);
	search->answer = POOL_ARRAY(pool, const struct candidate_provider *, search->n_parts);
	search->matched = POOL_ARRAY(pool, size_t, search->n_providers);
	search->seen = POOL_ARRAY(pool, unsigned, search->n_providers);
	return search;
}

// ---- Is the choice allowed? In all of these functions the parts 0 to depth have a provider, and the choice for the parts before depth was
// found allowed. One answer may look at all options of all parts several times over, so the loops within these count their work
// themselves.

static bool is_single(const struct part *part)
{
	return part->what.group->suffix.n > 0;
}

// The amount of a class that the parts before end take from a provider.
static uint64_t taken_of(const struct candidate_search *search, size_t end, size_t provider, uint64_t class_id)
{
	uint64_t sum = 0;

	budget_work((int)end);
	for (size_t i = 0; i < end; i++) {
		if (search->chosen[i] != provider)
			continue;
		for (size_t k = 0; k < search->parts[i].what.n_demands; k++) {
			if (search->parts[i].what.demands[k].class_id == class_id)
				sum += search->parts[i].what.demands[k].amount;
		}
	}
	return sum;
}

static bool within_capacity(const struct candidate_search *search, size_t depth)
{
	const struct candidate_part *part = &search->parts[depth].what;
	size_t provider = search->chosen[depth];

	for (size_t i = 0; i < part->n_demands; i++) {
		uint64_t class_id = part->demands[i].class_id;
		if (taken_of(search, depth + 1, provider, class_id) > most_of(inventory_of(search->providers[provider], class_id)))
			return false;
	}
	return true;
}

// Is the provider, if the request isolates groups with a suffix, that of no other such group?
static bool is_isolated(const struct candidate_search *search, size_t depth)
{
	if (!search->request->isolate || !is_single(&search->parts[depth]))
		return true;
	for (size_t i = 0; i < depth; i++) {
		if (is_single(&search->parts[i]) && search->chosen[i] == search->chosen[depth])
			return false;
	}
	return true;
}

// Is the provider, if each tree may give resources by one provider only, the only one of its tree?
static bool is_alone_in_tree(const struct candidate_search *search, size_t depth)
{
	const struct candidate_provider *provider = search->providers[search->chosen[depth]];

	if (!search->request->one_per_tree || search->parts[depth].what.n_demands == 0)
		return true;
	for (size_t i = 0; i < depth; i++) {
		const struct candidate_provider *other = search->providers[search->chosen[i]];
		if (search->parts[i].what.n_demands > 0 && other != provider && other->root == provider->root)
			return false;
	}
	return true;
}

// Does each set of required traits have a provider with one of its traits, or can a remaining part still choose one?
static bool traits_reachable(const struct candidate_search *search, size_t depth)
{
	uint64_t covered = 0;

	for (size_t i = 0; i < search->n_parts; i++) {
		if (!is_single(&search->parts[i]))
			covered |= i <= depth ? search->covers[search->chosen[i]] : search->parts[i].covers;
	}
	return (search->all_sets & ~covered) == 0;
}

static bool is_above(const struct candidate_provider *above, const struct candidate_provider *provider)
{
	int steps = 1;

	for (; provider != NULL && provider != above; steps++)
		provider = provider->parent;
	budget_work(steps);
	return provider == above;
}

static bool in_subtree(const struct candidate_search *search, const struct candidate_subtree *subtree, size_t part)
{
	for (size_t i = 0; i < subtree->n; i++) {
		if (search->parts[part].what.group == &search->request->groups[subtree->groups[i]])
			return true; // is_above() counts what follows
	}
	budget_work((int)subtree->n);
	return false;
}

// Is top an ancestor of all providers chosen for the subtree's groups, or one of them?
static bool is_top(const struct candidate_search *search, const struct candidate_subtree *subtree, size_t depth,
	const struct candidate_provider *top)
{
	for (size_t i = 0; i <= depth; i++) {
		if (in_subtree(search, subtree, i) && !is_above(top, search->providers[search->chosen[i]]))
			return false;
	}
	return true;
}

// Can one of the providers that are chosen, or can be chosen, for the subtree's groups be an ancestor of all that are chosen for
// them?
static bool has_top(const struct candidate_search *search, const struct candidate_subtree *subtree, size_t depth)
{
	for (size_t i = 0; i < search->n_parts; i++) {
		if (!in_subtree(search, subtree, i))
			continue;
		if (i <= depth && is_top(search, subtree, depth, search->providers[search->chosen[i]]))
			return true;
		for (size_t k = 0; i > depth && k < search->parts[i].n_options; k++) {
			if (is_top(search, subtree, depth, search->providers[search->parts[i].options[k]]))
				return true;
		}
	}
	return false;
}

static bool subtrees_reachable(const struct candidate_search *search, size_t depth)
{
	for (size_t i = 0; i < search->request->n_subtrees; i++) {
		if (!has_top(search, &search->request->subtrees[i], depth))
			return false;
	}
	return true;
}

// Is enough of the class left in all providers that the remaining parts could choose?
static bool enough_left(struct candidate_search *search, size_t depth, uint64_t class_id)
{
	uint64_t asked = 0, left = 0;

	search->round++;
	for (size_t i = depth + 1; i < search->n_parts; i++) {
		const struct part *part = &search->parts[i];
		bool asks = false;
		for (size_t k = 0; k < part->what.n_demands; k++) {
			if (part->what.demands[k].class_id != class_id)
				continue;
			asks = true;
			asked += part->what.demands[k].amount;
		}
		budget_work(asks ? (int)part->n_options : 1);
		for (size_t k = 0; asks && k < part->n_options; k++) {
			size_t provider = part->options[k];
			if (search->seen[provider] == search->round)
				continue;
			search->seen[provider] = search->round;
			left += most_of(inventory_of(search->providers[provider], class_id)) -
				taken_of(search, depth + 1, provider, class_id);
		}
	}
	return asked <= left;
}

// Finds a provider for a part that no other part is matched with, giving other parts another provider if that helps (Kuhn's
// algorithm).
static bool match(struct candidate_search *search, size_t part)
{
	budget_work((int)search->parts[part].n_options);
	for (size_t i = 0; i < search->parts[part].n_options; i++) {
		size_t provider = search->parts[part].options[i];
		if (search->seen[provider] == search->round)
			continue;
		search->seen[provider] = search->round;
		if (search->matched[provider] == (size_t)NOBODY || match(search, search->matched[provider])) {
			search->matched[provider] = part;
			return true;
		}
	}
	return false;
}

// Can each remaining group with a suffix have a provider of its own?
static bool isolation_reachable(struct candidate_search *search, size_t depth)
{
	budget_work((int)search->n_providers / 8);
	for (size_t i = 0; i < search->n_providers; i++)
		search->matched[i] = (size_t)NOBODY;
	for (size_t i = depth + 1; i < search->n_parts; i++) {
		if (!is_single(&search->parts[i]))
			continue;
		search->round++;
		for (size_t k = 0; k <= depth; k++) {
			if (is_single(&search->parts[k]))
				search->seen[search->chosen[k]] = search->round;
		}
		if (!match(search, i))
			return false;
	}
	return true;
}

static bool is_allowed(struct candidate_search *search, size_t depth)
{
	if (!within_capacity(search, depth) || !is_isolated(search, depth) || !is_alone_in_tree(search, depth) ||
		!traits_reachable(search, depth) || !subtrees_reachable(search, depth))
		return false;
	for (size_t i = 0; i < search->n_contested; i++) {
		if (!enough_left(search, depth, search->contested[i]))
			return false;
	}
	return !search->request->isolate || isolation_reachable(search, depth);
}

// ---- from one candidate to the next

// Moves the part at depth to its next allowed option. False: there is none.
static bool choose(struct candidate_search *search, size_t depth)
{
	const struct part *part = &search->parts[depth];

	while (search->next[depth] < part->n_options) {
		budget_work((int)search->n_parts);
		search->chosen[depth] = part->options[search->next[depth]++];
		if (is_allowed(search, depth))
			return true;
	}
	return false;
}

bool candidate_search_next(struct candidate_search *search, struct candidate *candidate)
{
	assert(search->n_parts > 0);
	size_t depth = search->begun ? search->n_parts - 1 : 0;

	search->begun = true;
	for (;;) {
		if (!choose(search, depth)) {
			search->next[depth] = 0;
			if (depth == 0)
				return false;
			depth--;
		} else if (depth + 1 < search->n_parts) {
			search->next[++depth] = 0;
		} else {
			break;
		}
	}
	for (size_t i = 0; i < search->n_parts; i++)
		search->answer[i] = search->providers[search->chosen[i]];
	*candidate = (struct candidate){ search->anchor, search->shown, search->answer, search->n_parts };
	return true;
}

bool candidate_search_may_have_more(const struct candidate_search *search)
{
	assert(search->begun);
	for (size_t i = 0; i < search->n_parts; i++) {
		if (search->next[i] < search->parts[i].n_options)
			return true;
	}
	return false;
}

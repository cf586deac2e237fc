// SPDX-License-Identifier: Apache-2.0
// Allocation candidates of random forests: the search against an enumeration of everything that is as plain as the rules. The
// enumeration chooses a provider for each part in every possible way, and only then asks whether the whole is allowed.
#include "base/base.h"

#include <limits.h>

#include "base/budget.h"
#include "base/buf.h"
#include "base/pool.h"
#include "registry/candidates/candidate_search.h"
#include "tap.h"

enum { ROUNDS = 10000, TREES = 4, PER_TREE = 6, CLASSES = 3, TRAITS = 4, AGGREGATES = 3, GROUPS = 3, PARTS = 5, FOUND_MAX = 60000 };

static struct pool *pool;
static uint64_t seed;

static unsigned below(unsigned n)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return (unsigned)((seed >> 11) % n);
}

static bool one_in(unsigned n)
{
	return below(n) == 0;
}

// ---- forests

static struct candidate_tree trees[TREES];
static size_t n_trees;
static const struct candidate_provider *everyone[TREES * PER_TREE];
static size_t n_everyone;
static const struct candidate_provider *sharing[TREES * PER_TREE];
static size_t n_sharing;

static struct uuid numbered(unsigned n)
{
	struct uuid uuid = { .b = { (uint8_t)(n + 1) } };

	return uuid;
}

static struct candidate_traits some_traits(unsigned rarity)
{
	uint64_t *list = POOL_ARRAY(pool, uint64_t, TRAITS);
	size_t n = 0;

	for (unsigned i = 0; i < TRAITS; i++) {
		if (one_in(rarity))
			list[n++] = i + 1;
	}
	return (struct candidate_traits){ list, n };
}

static struct candidate_aggregates some_aggregates(unsigned rarity)
{
	struct uuid *list = POOL_ARRAY(pool, struct uuid, AGGREGATES);
	size_t n = 0;

	for (unsigned i = 0; i < AGGREGATES; i++) {
		if (one_in(rarity))
			list[n++] = numbered(100 + i);
	}
	return (struct candidate_aggregates){ list, n };
}

static void fill_provider(struct candidate_provider *provider, const struct candidate_tree *tree, size_t at)
{
	struct candidate_inventory *inventories = POOL_ARRAY(pool, struct candidate_inventory, CLASSES);
	struct candidate_traits traits = some_traits(2);
	struct candidate_aggregates aggregates = some_aggregates(4);

	*provider = (struct candidate_provider){ .id = n_everyone + 1, .uid = numbered((unsigned)n_everyone), .root = tree->providers,
		.parent = at > 0 ? &tree->providers[below((unsigned)at)] : NULL, .inventories = inventories, .traits = traits.list,
		.n_traits = traits.n, .aggregates = aggregates.list, .n_aggregates = aggregates.n, .shares = one_in(at > 0 ? 12 : 4) };
	for (unsigned i = 0; i < CLASSES; i++) {
		if (one_in(2))
			inventories[provider->n_inventories++] = (struct candidate_inventory){ .class_id = i + 1, .capacity = 1 + below(8),
				.used = below(3), .min_unit = 1 + one_in(6), .max_unit = 1 + below(5), .step_size = 1 + one_in(10) };
	}
	everyone[n_everyone++] = provider;
	if (provider->shares)
		sharing[n_sharing++] = provider;
}

static void make_forest(void)
{
	n_everyone = n_sharing = 0;
	n_trees = 1 + below(TREES);
	for (size_t i = 0; i < n_trees; i++) {
		trees[i].n = 1 + below(PER_TREE);
		trees[i].providers = POOL_ARRAY(pool, struct candidate_provider, trees[i].n);
		for (size_t k = 0; k < trees[i].n; k++)
			fill_provider(&trees[i].providers[k], &trees[i], k);
	}
}

// ---- requests

static struct candidate_group groups[GROUPS];
static struct candidate_request request;

static void make_group(struct candidate_group *group, struct str suffix)
{
	struct candidate_demand *demands = POOL_ARRAY(pool, struct candidate_demand, CLASSES);
	struct candidate_traits *required = POOL_ARRAY(pool, struct candidate_traits, 2);
	struct candidate_aggregates *member_of = POOL_ARRAY(pool, struct candidate_aggregates, 2);

	*group = (struct candidate_group){ .suffix = suffix, .demands = demands, .required = required, .member_of = member_of };
	for (unsigned i = 0; i < CLASSES; i++) {
		if (one_in(2))
			demands[group->n_demands++] = (struct candidate_demand){ i + 1, 1 + below(2) };
	}
	for (size_t i = 0; i < 2; i++) {
		required[group->n_required] = some_traits(3);
		if (one_in(5) && required[group->n_required].n > 0)
			group->n_required++;
		member_of[group->n_member_of] = some_aggregates(2);
		if (one_in(8) && member_of[group->n_member_of].n > 0)
			group->n_member_of++;
	}
	if (one_in(6))
		group->forbidden = some_traits(4);
	if (one_in(8))
		group->not_member_of = some_aggregates(3);
	if (one_in(10))
		group->in_tree = &trees[below((unsigned)n_trees)].providers[0].uid;
}

static void make_request(void)
{
	static const struct str suffixes[GROUPS] = { STR_INIT(""), STR_INIT("1"), STR_INIT("_A") };
	struct candidate_subtree *subtree = POOL_NEW(pool, struct candidate_subtree);
	size_t *members = POOL_ARRAY(pool, size_t, GROUPS);
	size_t n = 0, demands = 0;

	for (size_t i = 0; i < GROUPS; i++) {
		if (!one_in(2) && !(i + 1 == GROUPS && demands == 0))
			continue;
		make_group(&groups[n], suffixes[i]);
		if (suffixes[i].n == 0 && groups[n].n_demands == 0)
			continue;
		demands += groups[n].n_demands;
		n++;
	}
	if (demands == 0) {
		static const struct candidate_demand one = { 1, 1 };
		make_group(&groups[0], suffixes[1]);
		groups[0].demands = &one;
		groups[0].n_demands = 1;
		n = 1;
	}
	request = (struct candidate_request){ .groups = groups, .n_groups = n, .isolate = one_in(2), .one_per_tree = one_in(8) };
	if (one_in(5))
		request.root_required = some_traits(4);
	if (one_in(5))
		request.root_forbidden = some_traits(4);
	for (size_t i = 0; i < n; i++) {
		if (groups[i].suffix.n > 0)
			members[subtree->n++] = i;
	}
	subtree->groups = members;
	request.subtrees = subtree;
	request.n_subtrees = subtree->n > 0 && one_in(3);
}

// ---- the rules, for a whole choice

struct choice {
	size_t group, demand; // demand: of the group without suffix
	const struct candidate_provider *provider;
};
static struct choice choices[PARTS * CLASSES];
static size_t n_choices;

static bool has(const struct candidate_provider *p, uint64_t trait)
{
	for (size_t i = 0; i < p->n_traits; i++) {
		if (p->traits[i] == trait)
			return true;
	}
	return false;
}

static bool has_any(const struct candidate_provider *p, struct candidate_traits any)
{
	for (size_t i = 0; i < any.n; i++) {
		if (has(p, any.list[i]))
			return true;
	}
	return false;
}

static bool member(const struct candidate_provider *p, struct candidate_aggregates any)
{
	for (size_t i = 0; i < p->n_aggregates; i++) {
		for (size_t k = 0; k < any.n; k++) {
			if (memcmp(&p->aggregates[i], &any.list[k], sizeof(struct uuid)) == 0)
				return true;
		}
	}
	return false;
}

static bool members_of_all(const struct candidate_provider *p, const struct candidate_group *group)
{
	bool all = true;

	for (size_t i = 0; i < group->n_member_of; i++)
		all = all && member(p, group->member_of[i]);
	return all;
}

static bool takes_part(const struct candidate_provider *p, const struct candidate_tree *tree)
{
	if (p->root == tree->providers)
		return true;
	for (size_t i = 0; p->shares && i < tree->n; i++) {
		if (member(&tree->providers[i], (struct candidate_aggregates){ p->aggregates, p->n_aggregates }))
			return true;
	}
	return false;
}

static bool provider_allowed(const struct choice *choice, const struct candidate_tree *tree)
{
	const struct candidate_group *group = &groups[choice->group];
	const struct candidate_provider *p = choice->provider, *root = tree->providers;
	bool several = group->suffix.n == 0;

	if (!takes_part(p, tree) || has_any(p, group->forbidden) || member(p, group->not_member_of))
		return false;
	if (group->in_tree != NULL && memcmp(group->in_tree, &p->root->uid, sizeof(struct uuid)) != 0)
		return false;
	if (group->in_tree != NULL && several && p->root != root)
		return false;
	if (several && member(root, group->not_member_of))
		return false;
	if (!members_of_all(p, group) && !(several && p->root == root && members_of_all(root, group)))
		return false;
	for (size_t i = 0; !several && i < group->n_required; i++) {
		if (!has_any(p, group->required[i]))
			return false;
	}
	return true;
}

// Each amount alone has to fit the inventory, and all that one provider gives of a class together.
static bool amounts_allowed(void)
{
	for (size_t p = 0; p < n_everyone; p++) {
		for (uint64_t class_id = 1; class_id <= CLASSES; class_id++) {
			const struct candidate_inventory *inventory = NULL;
			uint64_t sum = 0;
			for (size_t i = 0; i < everyone[p]->n_inventories; i++) {
				if (everyone[p]->inventories[i].class_id == class_id)
					inventory = &everyone[p]->inventories[i];
			}
			for (size_t i = 0; i < n_choices; i++) {
				const struct candidate_group *group = &groups[choices[i].group];
				for (size_t k = 0; choices[i].provider == everyone[p] && k < group->n_demands; k++) {
					uint64_t amount = group->demands[k].amount;
					if (group->demands[k].class_id != class_id || (group->suffix.n == 0 && choices[i].demand != k))
						continue;
					if (inventory == NULL || amount < inventory->min_unit || amount > inventory->max_unit ||
						amount % inventory->step_size != 0)
						return false;
					sum += amount;
				}
			}
			if (sum > 0 && (sum > inventory->max_unit || inventory->used + (int64_t)sum > inventory->capacity))
				return false;
		}
	}
	return true;
}

static bool traits_allowed(void)
{
	for (size_t g = 0; g < request.n_groups; g++) {
		for (size_t i = 0; groups[g].suffix.n == 0 && i < groups[g].n_required; i++) {
			bool found = false;
			for (size_t k = 0; k < n_choices; k++)
				found = found || (choices[k].group == g && has_any(choices[k].provider, groups[g].required[i]));
			if (!found)
				return false;
		}
	}
	return true;
}

static bool pairs_allowed(void)
{
	for (size_t i = 0; i < n_choices; i++) {
		for (size_t k = 0; k < i; k++) {
			const struct candidate_group *a = &groups[choices[i].group], *b = &groups[choices[k].group];
			bool same = choices[i].provider == choices[k].provider;
			if (request.isolate && a->suffix.n > 0 && b->suffix.n > 0 && same)
				return false;
			if (request.one_per_tree && !same && choices[i].provider->root == choices[k].provider->root && a->n_demands > 0 &&
				b->n_demands > 0)
				return false;
		}
	}
	return true;
}

static bool at_or_below(const struct candidate_provider *p, const struct candidate_provider *top)
{
	for (; p != NULL; p = p->parent) {
		if (p == top)
			return true;
	}
	return false;
}

static bool in_the_subtree(size_t i)
{
	return groups[choices[i].group].suffix.n > 0;
}

static bool subtree_allowed(void)
{
	for (size_t i = 0; i < n_choices; i++) {
		bool top = in_the_subtree(i);
		for (size_t k = 0; k < n_choices; k++)
			top = top && (!in_the_subtree(k) || at_or_below(choices[k].provider, choices[i].provider));
		if (top)
			return true;
	}
	return request.n_subtrees == 0;
}

static bool root_allowed(const struct candidate_provider *root)
{
	for (size_t i = 0; i < request.root_required.n; i++) {
		if (!has(root, request.root_required.list[i]))
			return false;
	}
	return !has_any(root, request.root_forbidden);
}

// ---- comparing

static struct str found[FOUND_MAX], expected[FOUND_MAX];
static size_t n_found, n_expected;
static size_t n_denied; // candidates that came after a search had none left to try

// "suffix.class=provider" for each part, in order.
static void add_text(struct str *list, size_t *n, struct str *parts, size_t n_parts)
{
	struct buf text = buf_new(pool, 64);

	for (size_t i = 0; i < n_parts; i++) {
		for (size_t k = i + 1; k < n_parts; k++) {
			if (str_cmp(parts[k], parts[i]) < 0) {
				struct str other = parts[i];
				parts[i] = parts[k];
				parts[k] = other;
			}
		}
		buf_addf(&text, "%.*s ", STR_ARG(parts[i]));
	}
	if (*n == FOUND_MAX)
		bail_out("more candidates than this test has room for");
	list[(*n)++] = buf_str(&text);
}

static struct str part_text(struct str suffix, uint64_t class_id, const struct candidate_provider *provider)
{
	return str_printf(pool, "%.*s.%u=%u", STR_ARG(suffix), (unsigned)(suffix.n > 0 ? 0 : class_id), (unsigned)provider->id);
}

static void expect_choices(const struct candidate_tree *tree)
{
	struct str parts[PARTS * CLASSES];

	for (size_t i = 0; i < n_choices; i++) {
		if (!provider_allowed(&choices[i], tree))
			return;
		parts[i] = part_text(groups[choices[i].group].suffix,
			groups[choices[i].group].suffix.n > 0 ? 0 : groups[choices[i].group].demands[choices[i].demand].class_id, choices[i].provider);
	}
	if (amounts_allowed() && traits_allowed() && pairs_allowed() && subtree_allowed() && root_allowed(tree->providers))
		add_text(expected, &n_expected, parts, n_choices);
}

// A provider for the choices from this one on, in every way.
static void expect_from(const struct candidate_tree *tree, size_t at)
{
	if (at == n_choices) {
		expect_choices(tree);
		return;
	}
	for (size_t i = 0; i < n_everyone; i++) {
		choices[at].provider = everyone[i];
		if (provider_allowed(&choices[at], tree))
			expect_from(tree, at + 1);
	}
}

static void expect_all(const struct candidate_tree *tree)
{
	n_choices = n_expected = 0;
	for (size_t g = 0; g < request.n_groups; g++) {
		size_t n = groups[g].suffix.n > 0 ? 1 : groups[g].n_demands;
		for (size_t k = 0; k < n; k++)
			choices[n_choices++] = (struct choice){ .group = g, .demand = k };
	}
	expect_from(tree, 0);
}

static void find_all(const struct candidate_tree *tree)
{
	struct candidate_search *search =
		candidate_search_new(pool, &request, tree, sharing, n_sharing, one_in(2) ? 0 : seed);
	struct candidate candidate;
	bool may_have_more = true;

	n_found = 0;
	while (search != NULL && candidate_search_next(search, &candidate)) {
		struct str parts[PARTS * CLASSES];
		n_denied += !may_have_more;
		may_have_more = candidate_search_may_have_more(search);
		for (size_t i = 0; i < candidate.n_parts; i++)
			parts[i] = part_text(candidate.parts[i].group->suffix,
				candidate.parts[i].n_demands > 0 ? candidate.parts[i].demands[0].class_id : 0, candidate.providers[i]);
		add_text(found, &n_found, parts, candidate.n_parts);
	}
}

static int by_text(const void *a, const void *b)
{
	return str_cmp(*(const struct str *)a, *(const struct str *)b);
}

static bool same_lists(void)
{
	qsort(found, n_found, sizeof(*found), by_text);
	qsort(expected, n_expected, sizeof(*expected), by_text);
	for (size_t i = 0; i < n_found && i < n_expected; i++) {
		if (!str_eq(found[i], expected[i])) {
			diag("found %.*s, expected %.*s", STR_ARG(found[i]), STR_ARG(expected[i]));
			return false;
		}
	}
	return n_found == n_expected;
}

static void test_random_forests(uint64_t first)
{
	size_t differ = 0, some = 0, all = 0;

	for (unsigned round = 0; round < ROUNDS; round++) {
		struct pool_mark mark = pool_mark(pool);
		seed = (first + round) * UINT64_C(0x9e3779b97f4a7c15) | 1;
		make_forest();
		make_request();
		for (size_t i = 0; i < n_trees; i++) {
			expect_all(&trees[i]);
			find_all(&trees[i]);
			all += n_found;
			some += n_found > 0;
			if (!same_lists() && differ++ < 5)
				diag("round %u, tree %zu: %zu found, %zu expected", round, i, n_found, n_expected);
		}
		pool_rewind(pool, mark);
	}
	diag("seed %llu: %zu candidates in %zu trees", (unsigned long long)first, all, some);
	ok(differ == 0, "%d random forests and requests: what is found is what the rules allow", ROUNDS);
	ok(some > ROUNDS / 4, "and many have candidates");
	ok(n_denied == 0, "a search that has nothing left to try has no more candidates");
}

// ---- many equal devices: the first candidates come at once, and there are as many as arithmetic says

static void make_devices(size_t n, int64_t capacity, uint64_t max_unit)
{
	struct candidate_provider *list = POOL_ARRAY(pool, struct candidate_provider, n + 1);

	for (size_t i = 0; i <= n; i++) {
		struct candidate_inventory *inventory = POOL_NEW(pool, struct candidate_inventory);
		*inventory = (struct candidate_inventory){ 1, capacity, 0, 1, max_unit, 1 };
		list[i] = (struct candidate_provider){ .id = i, .uid = numbered((unsigned)i), .parent = i > 0 ? list : NULL, .root = list,
			.inventories = inventory, .n_inventories = i > 0 };
	}
	trees[0] = (struct candidate_tree){ list, n + 1 };
}

static bool may_have_more; // after the last candidate that was counted

static size_t count_candidates(size_t n_groups, bool isolate, size_t limit)
{
	static const struct candidate_demand one = { 1, 1 };
	struct candidate_group *list = POOL_ARRAY(pool, struct candidate_group, n_groups);
	struct candidate candidate;
	size_t n = 0;

	for (size_t i = 0; i < n_groups; i++)
		list[i] = (struct candidate_group){ .suffix = str_printf(pool, "%zu", i + 1), .demands = &one, .n_demands = 1 };
	request = (struct candidate_request){ .groups = list, .n_groups = n_groups, .isolate = isolate };
	struct candidate_search *search = candidate_search_new(pool, &request, &trees[0], NULL, 0, 0);
	while (search != NULL && n < limit && candidate_search_next(search, &candidate)) {
		n++;
		may_have_more = candidate_search_may_have_more(search);
	}
	return n;
}

static void test_devices(void)
{
	make_devices(8, 8, 8);
	is_int((long long)count_candidates(3, true, SIZE_MAX), 8 * 7 * 6, "three groups on eight devices, isolated");
	is_int((long long)count_candidates(3, false, SIZE_MAX), 8 * 8 * 8, "not isolated");
	is_int((long long)count_candidates(6, true, SIZE_MAX), 20160, "six groups, isolated");
	is_int((long long)count_candidates(30, false, 1000), 1000, "thirty groups: the first thousand");
	is_int((long long)count_candidates(9, true, SIZE_MAX), 0, "nine groups on eight devices: none, isolated");
	make_devices(16, 1, 1);
	is_int((long long)count_candidates(17, true, SIZE_MAX), 0, "seventeen groups on sixteen devices");
	is_int((long long)count_candidates(17, false, SIZE_MAX), 0, "and none where each has one unit");
	is_int((long long)count_candidates(16, false, 1000), 1000, "sixteen groups");
	make_devices(2, 8, 2);
	is_int((long long)count_candidates(4, false, SIZE_MAX), 6, "no more than max_unit of one provider, by all groups together");
	ok(may_have_more, "after the last of them the search has more to try");
	make_devices(1, 8, 8);
	is_int((long long)count_candidates(3, false, SIZE_MAX), 1, "three groups on one device");
	ok(!may_have_more, "and nothing is left to try");
}

// ---- what a search counts as work

// The steps that the search for the first candidate of a tree counts, where the request names the same subtree several times: a
// root has children that give each group something, but not the last group, of which each provider is an option.
static long long steps_of_subtrees(size_t times)
{
	enum { CHILDREN = 200, NAMED = 16 };
	static const struct candidate_demand demand = { .class_id = 1, .amount = 1 };
	static const char suffixes[NAMED + 1] = "abcdefghijklmnop";
	struct pool_mark mark = pool_mark(pool);
	struct candidate_provider *providers = POOL_ARRAY(pool, struct candidate_provider, CHILDREN + 1);
	struct candidate_inventory *inventories = POOL_ARRAY(pool, struct candidate_inventory, CHILDREN + 1);
	struct candidate_group *named = POOL_ARRAY(pool, struct candidate_group, NAMED);
	struct candidate_subtree *subtrees = POOL_ARRAY(pool, struct candidate_subtree, times);
	size_t *all = POOL_ARRAY(pool, size_t, NAMED);
	struct candidate candidate;

	for (size_t i = 0; i <= CHILDREN; i++) {
		inventories[i] = (struct candidate_inventory){ .class_id = 1, .capacity = 100, .min_unit = 1, .max_unit = 100, .step_size = 1 };
		providers[i] = (struct candidate_provider){ .id = i + 1, .uid = numbered((unsigned)i), .root = providers,
			.parent = i > 0 ? providers : NULL, .inventories = &inventories[i], .n_inventories = i > 0 ? 1 : 0 };
	}
	for (size_t i = 0; i < NAMED; i++) {
		named[i] = (struct candidate_group){ .suffix = { &suffixes[i], 1 }, .demands = &demand, .n_demands = i + 1 < NAMED ? 1 : 0 };
		all[i] = i;
	}
	for (size_t i = 0; i < times; i++)
		subtrees[i] = (struct candidate_subtree){ all, NAMED };
	const struct candidate_request asked = { .groups = named, .n_groups = NAMED, .subtrees = subtrees, .n_subtrees = times, .isolate = true };
	const struct candidate_tree tree = { providers, CHILDREN + 1 };
	struct candidate_search *search = candidate_search_new(pool, &asked, &tree, NULL, 0, 0);
	budget_fuel = INT_MAX;
	bool is_found = candidate_search_next(search, &candidate);
	int left = budget_fuel;
	budget_refuel();
	pool_rewind(pool, mark);
	return is_found ? INT_MAX - left : -1;
}

static void test_counted_work(void)
{
	long long none = steps_of_subtrees(0), one = steps_of_subtrees(1), eleven = steps_of_subtrees(11);

	ok(none > 0 && one > none, "a subtree is counted as work: %lld steps with one, %lld without", one, none);
	ok(eleven - none >= 10 * (one - none), "each of several as much: %lld steps", eleven);
	ok(one - none >= 16 * 200, "every provider that is looked at counts");
}

int main(void)
{
	const char *text = getenv("TENURE_SEED");

	pool = pool_new();
	test_random_forests(text != NULL ? strtoull(text, NULL, 10) : 1);
	test_devices();
	test_counted_work();
	pool_free(&pool);
	return done_testing();
}

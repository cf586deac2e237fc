// SPDX-License-Identifier: Apache-2.0
// GET /allocation_candidates. Each candidate, and then each summary of a tree, is written as soon as it is found, and a long
// answer is moved to a file meanwhile. So the request's memory holds neither all candidates nor all trees.
#include "base/base.h"

#include "api/placement/candidate/candidate.h"
#include "api/placement/common/placement.h"
#include "api/placement/common/settings.h"
#include "base/clock.h"

struct answer {
	struct call *call;
	const struct candidate_query *query;
	struct placement_long text;
	bool has_summaries; // one at least is written
};

// ---- allocation requests

// The name of the class of one of the part's demands.
static struct str class_of(const struct answer *answer, const struct candidates *candidates, const struct candidate_part *part,
	size_t demand)
{
	size_t group = candidate_group_index(candidates, part);

	return answer->query->groups[group].demands[candidate_demand_index(part) + demand].class;
}

// The part's demand of that class; NULL: it has none. A group's demands are of different classes, and so are a part's.
static const struct candidate_demand *demand_of(const struct candidate_part *part, uint64_t class_id)
{
	for (size_t i = 0; i < part->n_demands; i++) {
		if (part->demands[i].class_id == class_id)
			return &part->demands[i];
	}
	return NULL;
}

// The sum of what the provider of part `at` gives of a class. No part before `at` has that provider.
static uint64_t amount_given(const struct candidate *candidate, size_t at, uint64_t class_id)
{
	uint64_t sum = 0;

	for (size_t i = at; i < candidate->n_parts; i++) {
		const struct candidate_demand *demand = demand_of(&candidate->parts[i], class_id);
		if (demand != NULL && candidate->providers[i] == candidate->providers[at])
			sum += demand->amount;
	}
	return sum;
}

// Does the provider of part `at` give something of that class to a part before part `end`?
static bool is_given_before(const struct candidate *candidate, size_t at, size_t end, uint64_t class_id)
{
	for (size_t i = at; i < end; i++) {
		if (candidate->providers[i] == candidate->providers[at] && demand_of(&candidate->parts[i], class_id) != NULL)
			return true;
	}
	return false;
}

// Appends what the provider of part `at` gives to all parts together: for each resource class the sum, where the class first
// occurs.
static void add_resources(struct answer *answer, const struct candidates *candidates, const struct candidate *candidate,
	size_t at)
{
	struct buf *json = &answer->text.json;
	bool first = true;

	BUF_LIT(json, "\"resources\":{");
	for (size_t i = at; i < candidate->n_parts; i++) {
		const struct candidate_part *part = &candidate->parts[i];
		if (candidate->providers[i] != candidate->providers[at])
			continue;
		for (size_t k = 0; k < part->n_demands; k++) {
			uint64_t class_id = part->demands[k].class_id;
			if (is_given_before(candidate, at, i, class_id))
				continue;
			buf_add(json, first ? STR_NONE : STR(","));
			json_add_string(json, class_of(answer, candidates, part, k));
			buf_addc(json, ':');
			buf_add_u64(json, amount_given(candidate, at, class_id));
			first = false;
		}
	}
	buf_addc(json, '}');
}

// Is `at` the first part for which this provider gives something?
static bool gives_first(const struct candidate *candidate, size_t at)
{
	if (candidate->parts[at].n_demands == 0)
		return false;
	for (size_t i = 0; i < at; i++) {
		if (candidate->parts[i].n_demands > 0 && candidate->providers[i] == candidate->providers[at])
			return false;
	}
	return true;
}

static void add_uuid_string(struct buf *json, struct uuid uuid)
{
	buf_addc(json, '"');
	uuid_add(json, uuid);
	buf_addc(json, '"');
}

static void add_allocations(struct answer *answer, const struct candidates *candidates, const struct candidate *candidate)
{
	struct buf *json = &answer->text.json;
	bool by_provider = answer->call->version >= VERSION_ALLOCATIONS_BY_PROVIDER, first = true;

	buf_add(json, by_provider ? STR("\"allocations\":{") : STR("\"allocations\":["));
	for (size_t i = 0; i < candidate->n_parts; i++) {
		if (!gives_first(candidate, i))
			continue;
		buf_add(json, first ? STR_NONE : STR(","));
		first = false;
		if (by_provider) {
			add_uuid_string(json, candidate->providers[i]->uid);
			BUF_LIT(json, ":{");
		} else {
			BUF_LIT(json, "{\"resource_provider\":{\"uuid\":");
			add_uuid_string(json, candidate->providers[i]->uid);
			BUF_LIT(json, "},");
		}
		add_resources(answer, candidates, candidate, i);
		buf_addc(json, '}');
	}
	buf_addc(json, by_provider ? '}' : ']');
}

// Has a part before part `at` the same group and the same provider?
static bool is_mapped_before(const struct candidates *candidates, const struct candidate *candidate, size_t at)
{
	size_t group = candidate_group_index(candidates, &candidate->parts[at]);

	for (size_t i = 0; i < at; i++) {
		if (candidate_group_index(candidates, &candidate->parts[i]) == group && candidate->providers[i] == candidate->providers[at])
			return true;
	}
	return false;
}

// Appends the providers that satisfy a group, each of them once: ["uuid", …].
static void add_providers_of_group(struct buf *json, const struct candidates *candidates, const struct candidate *candidate,
	size_t group)
{
	bool first = true;

	buf_addc(json, '[');
	for (size_t i = 0; i < candidate->n_parts; i++) {
		if (candidate_group_index(candidates, &candidate->parts[i]) != group || is_mapped_before(candidates, candidate, i))
			continue;
		buf_add(json, first ? STR_NONE : STR(","));
		add_uuid_string(json, candidate->providers[i]->uid);
		first = false;
	}
	buf_addc(json, ']');
}

// Appends the mappings: {"suffix": [providers]}.
static void add_mappings(struct answer *answer, const struct candidates *candidates, const struct candidate *candidate)
{
	struct buf *json = &answer->text.json;

	BUF_LIT(json, ",\"mappings\":{");
	for (size_t i = 0; i < answer->query->n_groups; i++) {
		buf_add(json, i > 0 ? STR(",") : STR_NONE);
		json_add_string(json, answer->query->groups[i].suffix);
		buf_addc(json, ':');
		add_providers_of_group(json, candidates, candidate, i);
	}
	buf_addc(json, '}');
}

static bool add_candidate(void *arg, const struct candidates *candidates, const struct candidate *candidate)
{
	struct answer *answer = arg;
	struct buf *json = &answer->text.json;

	buf_add(json, answer->text.n > 0 ? STR(",{") : STR("{"));
	add_allocations(answer, candidates, candidate);
	if (answer->call->version >= VERSION_MAPPINGS)
		add_mappings(answer, candidates, candidate);
	buf_addc(json, '}');
	return placement_long_next(&answer->text);
}

// ---- provider summaries

// Does the request ask for this class?
static bool is_asked(const struct answer *answer, struct str class)
{
	for (size_t i = 0; i < answer->query->n_groups; i++) {
		for (size_t k = 0; k < answer->query->groups[i].n_demands; k++) {
			if (str_eq(answer->query->groups[i].demands[k].class, class))
				return true;
		}
	}
	return false;
}

static void add_provider(struct answer *answer, const struct candidates *candidates, const struct candidate_provider *provider,
	struct str traits)
{
	unsigned version = answer->call->version;
	struct buf *json = &answer->text.json;
	bool first = true;

	add_uuid_string(json, provider->uid);
	BUF_LIT(json, ":{\"resources\":{");
	for (size_t i = 0; i < provider->n_inventories; i++) {
		const struct candidate_inventory *inventory = &provider->inventories[i];
		struct str class = candidates_class_name(candidates, inventory->class_id);
		if (version < VERSION_ALL_CLASSES && !is_asked(answer, class))
			continue;
		buf_add(json, first ? STR_NONE : STR(","));
		first = false;
		json_add_string(json, class);
		buf_addf(json, ":{\"capacity\":%lld,\"used\":%lld}", (long long)inventory->capacity, (long long)inventory->used);
	}
	buf_addc(json, '}');
	if (version >= VERSION_CANDIDATE_REQUIRED) {
		BUF_LIT(json, ",\"traits\":");
		buf_add(json, traits);
	}
	if (version >= VERSION_CANDIDATE_NESTED) {
		BUF_LIT(json, ",\"parent_provider_uuid\":");
		if (provider->parent != NULL)
			add_uuid_string(json, provider->parent->uid);
		else
			BUF_LIT(json, "null");
		BUF_LIT(json, ",\"root_provider_uuid\":");
		add_uuid_string(json, provider->root->uid);
	}
	buf_addc(json, '}');
}

// From 1.29 on: all providers of those trees from which something is given; before 1.29: only the providers that give something.
static bool add_summary(void *arg, const struct candidates *candidates, const struct candidate_summary *summary)
{
	struct answer *answer = arg;
	bool whole = answer->call->version >= VERSION_CANDIDATE_NESTED, fits = true;

	for (size_t i = 0; i < summary->n && fits; i++) {
		if (!whole && !summary->gives[i])
			continue;
		buf_add(&answer->text.json, answer->has_summaries ? STR(",") : STR_NONE);
		answer->has_summaries = true;
		add_provider(answer, candidates, &summary->providers[i], summary->traits[i]);
		fits = placement_long_next(&answer->text);
	}
	return fits;
}

enum outcome list_candidates(struct call *call)
{
	struct candidate_query query;
	struct candidates *candidates;
	enum outcome outcome = candidate_query_read(call, &query);

	if (outcome != OUTCOME_OK)
		return outcome;
	struct answer answer = { .call = call, .query = &query, .text = placement_long_begin(call) };
	struct buf *json = &answer.text.json;
	const struct placement_settings *settings = placement_settings(call->config);
	query.by_chance = strcmp(settings->randomize_candidates, "yes") == 0;
	if (settings->max_candidates > 0 && (query.limit == 0 || query.limit > settings->max_candidates))
		query.limit = settings->max_candidates;
	BUF_LIT(json, "{\"allocation_requests\":[");
	outcome = candidates_find(call->registry, &query, add_candidate, &answer, &candidates);
	if (outcome != OUTCOME_OK)
		return outcome;
	BUF_LIT(json, "],\"provider_summaries\":{");
	outcome = candidates_summarize(candidates, add_summary, &answer);
	if (outcome != OUTCOME_OK)
		return outcome;
	BUF_LIT(json, "}}");
	placement_answer_cache_headers(call, clock_now_us());
	return placement_long_end(&answer.text);
}

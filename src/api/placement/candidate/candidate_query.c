// SPDX-License-Identifier: Apache-2.0
// The parameters of GET /allocation_candidates by microversion, and the checks whether they contradict each other. The parameters
// of a group end in its suffix: resources1, required1, member_of1 and in_tree1 belong together.
#include "base/base.h"

#include "api/placement/candidate/candidate.h"
#include "api/placement/common/placement.h"
#include "api/placement/common/schema.h"
#include "api/placement/provider/terms.h"
#include "base/ascii.h"
#include "base/buf.h"
#include "base/pool.h"

enum { SHOWN = 255, SUFFIX_MAX = 64 };

// ---- schemas

static bool is_number_suffix(struct str suffix)
{
	for (size_t i = 0; i < suffix.n; i++) {
		if (suffix.p[i] < (i == 0 ? '1' : '0') || suffix.p[i] > '9')
			return false;
	}
	return true;
}

static bool is_word_suffix(struct str suffix)
{
	for (size_t i = 0; i < suffix.n; i++) {
		char c = suffix.p[i];
		if (!ascii_is_alnum(c) && c != '_' && c != '-')
			return false;
	}
	return suffix.n <= SUFFIX_MAX;
}

// Does the name consist of the prefix, which is arg, and a number?
static bool has_number(const void *arg, struct str name)
{
	struct str prefix = str_c(arg);

	return str_starts(name, prefix) && is_number_suffix(str_part(name, prefix.n, name.n));
}

static bool has_word(const void *arg, struct str name)
{
	struct str prefix = str_c(arg);

	return str_starts(name, prefix) && is_word_suffix(str_part(name, prefix.n, name.n));
}

static bool is_limit(const void *arg, struct str text)
{
	UNUSED(arg);
	return text.n > 0 && text.p[0] != '0' && is_number_suffix(text);
}

static const struct json_rule limit_pattern = { "^[1-9][0-9]*$", is_limit, NULL };
static const char *const policies[] = { "none", "isolate", NULL };
static const struct json_schema limit_schema = { .types = SCHEMA_INTEGER | SCHEMA_STRING, .pattern = &limit_pattern,
	.has_minimum = true, .minimum = 1, .min_length = 1 };
static const struct json_schema policy_schema = { .types = SCHEMA_STRING, .values = policies };

#define NUMBERED(name) { "^" name "([1-9][0-9]*)?$", has_number, name }
#define WORDED(name) { "^" name "([a-zA-Z0-9_-]{1,64})?$", has_word, name }

static const struct json_rule numbered[] = { NUMBERED("in_tree"), NUMBERED("member_of"), NUMBERED("required"),
	NUMBERED("resources") };
static const struct json_rule worded[] = { WORDED("in_tree"), WORDED("member_of"), WORDED("required"), WORDED("resources") };
static const struct json_pattern_property groups_25[] = {
	{ &numbered[1], &any_string }, { &numbered[2], &any_string }, { &numbered[3], &any_string }, { NULL, NULL },
};
static const struct json_pattern_property groups_31[] = {
	{ &numbered[0], &any_string }, { &numbered[1], &any_string }, { &numbered[2], &any_string }, { &numbered[3], &any_string },
	{ NULL, NULL },
};
static const struct json_pattern_property groups_33[] = {
	{ &worded[0], &any_string }, { &worded[1], &any_string }, { &worded[2], &any_string }, { &worded[3], &any_string },
	{ NULL, NULL },
};

#define RESOURCES { "resources", &any_string }
#define LIMIT { "limit", &limit_schema }
#define REQUIRED { "required", &any_string }
#define MEMBER_OF { "member_of", &any_string }
#define POLICY { "group_policy", &policy_schema }
#define ROOT_REQUIRED { "root_required", &any_string }
#define END { NULL, NULL }

static const struct json_property members_10[] = { RESOURCES, END };
static const struct json_property members_16[] = { RESOURCES, LIMIT, END };
static const struct json_property members_17[] = { RESOURCES, LIMIT, REQUIRED, END };
static const struct json_property members_21[] = { RESOURCES, LIMIT, REQUIRED, MEMBER_OF, END };
static const struct json_property members_25[] = { LIMIT, POLICY, END };
static const struct json_property members_35[] = { LIMIT, POLICY, ROOT_REQUIRED, END };
static const struct json_property members_36[] = { LIMIT, POLICY, ROOT_REQUIRED, { "same_subtree", &any_string }, END };
static const char *const needs_resources[] = { "resources", NULL };

#define PLAIN(members) { .types = SCHEMA_OBJECT, .properties = (members), .required = needs_resources, .closed = true }
#define GROUPED(members, groups) \
	{ .types = SCHEMA_OBJECT, .properties = (members), .pattern_properties = (groups), .closed = true }

static const struct {
	unsigned since;
	struct json_schema schema;
} schemas[] = { // in descending order of versions
	{ VERSION_SAME_SUBTREE, GROUPED(members_36, groups_33) },
	{ VERSION_ROOT_REQUIRED, GROUPED(members_35, groups_33) },
	{ VERSION_SUFFIXES, GROUPED(members_25, groups_33) },
	{ VERSION_IN_TREE, GROUPED(members_25, groups_31) },
	{ VERSION_GROUPS, GROUPED(members_25, groups_25) },
	{ VERSION_CANDIDATE_MEMBER_OF, PLAIN(members_21) },
	{ VERSION_CANDIDATE_REQUIRED, PLAIN(members_17) },
	{ VERSION_CANDIDATE_LIMIT, PLAIN(members_16) },
	{ 0, PLAIN(members_10) },
};

static const struct json_schema *schema_of(unsigned version)
{
	size_t i = 0;

	while (schemas[i].since > version)
		i++;
	return &schemas[i].schema;
}

// ---- reading parameters

struct group {
	struct terms terms;
	const struct uuid *in_tree;
	size_t n_member_of_values; // how often the parameter occurs
	bool has_required;         // the parameter occurs
};

// The request's parameters, while they are read.
struct reading {
	struct call *call;
	struct group *groups[CANDIDATE_MAX_TERMS];
	size_t n_groups;
	struct terms root; // of the parameter root_required; call NULL: there is none
	struct str *subtrees; // values of the parameter same_subtree
	size_t n_subtrees;
	struct str limit, policy;
};

static enum outcome fail_value(struct call *call, const char *code, struct str detail)
{
	return placement_fail(call, OUTCOME_BAD_PARAMETER, code, "%.*s", STR_ARG(detail));
}

// The group of that suffix, which is made if there is none. NULL: there are too many groups.
static struct group *group_of(struct reading *reading, struct str suffix)
{
	for (size_t i = 0; i < reading->n_groups; i++) {
		if (str_eq(reading->groups[i]->terms.suffix, suffix))
			return reading->groups[i];
	}
	if (reading->n_groups == CANDIDATE_MAX_TERMS)
		return NULL;
	struct group *group = POOL_NEW(reading->call->pool, struct group);
	group->terms.call = reading->call;
	group->terms.suffix = suffix;
	reading->groups[reading->n_groups++] = group;
	return group;
}

static enum outcome take_in_tree(struct group *group, struct str value)
{
	struct uuid *uuid = POOL_NEW(group->terms.call->pool, struct uuid);

	if (!placement_uuid_parse(str_trim(value), uuid))
		return call_fail(group->terms.call, OUTCOME_BAD_PARAMETER,
			"Invalid query string parameters: Expected 'in_tree' parameter to be a format of uuid. Got: %.*s",
			STR_HEAD_ARG(value, SHOWN));
	group->in_tree = uuid;
	return OUTCOME_OK;
}

// The value of the last of the group's `required` parameters.
static struct str last_required(const struct group *group)
{
	const struct uri *uri = &group->terms.call->request.uri;
	const struct str prefix = STR("required");
	struct str value = STR_NONE;

	for (size_t i = 0; i < uri->n_pairs; i++) {
		struct str name = uri->pairs[i].name;
		if (str_starts(name, prefix) && str_eq(str_part(name, prefix.n, name.n), group->terms.suffix))
			value = uri->pairs[i].value;
	}
	return value;
}

// Up to 1.38 only the last of several `required` parameters counts, and the others may be anything. It is read where the first
// one stands, so that of several errors the client gets the one that OpenStack's service would answer with.
static enum outcome take_required(struct group *group, struct str value)
{
	if (group->terms.call->version >= VERSION_REQUIRED_ANY)
		return terms_take_required(&group->terms, value);
	if (group->has_required)
		return OUTCOME_OK;
	group->has_required = true;
	return terms_take_required(&group->terms, last_required(group));
}

static enum outcome take_member_of(struct group *group, struct str value)
{
	if (group->n_member_of_values++ > 0 && group->terms.call->version < VERSION_MEMBER_OF_REPEATED)
		return call_fail(group->terms.call, OUTCOME_BAD_PARAMETER, "Multiple member_of%.*s parameters are not supported",
			STR_ARG(group->terms.suffix));
	return terms_take_member_of(&group->terms, value);
}

static enum outcome take_resources(struct group *group, struct str value)
{
	return terms_take_resources(&group->terms, value);
}

static const struct {
	const char *name;
	enum outcome (*take)(struct group *group, struct str value);
} of_group[] = {
	{ "resources", take_resources }, { "required", take_required }, { "member_of", take_member_of }, { "in_tree", take_in_tree },
};

static enum outcome take_pair(struct reading *reading, struct str name, struct str value)
{
	for (size_t i = 0; i < COUNT_OF(of_group); i++) {
		struct str prefix = str_c(of_group[i].name);
		if (!str_starts(name, prefix))
			continue;
		struct group *group = group_of(reading, str_part(name, prefix.n, name.n));
		if (group == NULL)
			return call_fail(reading->call, OUTCOME_BAD_PARAMETER,
				"Invalid query string parameters: there may be %d groups at most", CANDIDATE_MAX_TERMS);
		return of_group[i].take(group, value);
	}
	return OUTCOME_OK;
}

static bool is_forbidden(const struct terms *terms, struct str trait)
{
	for (size_t i = 0; i < terms->n_requirements; i++) {
		if (terms->requirements[i].forbidden && str_eq(terms->requirements[i].traits[0], trait))
			return true;
	}
	return false;
}

static bool are_all_forbidden(const struct terms *terms, const struct provider_requirement *required)
{
	for (size_t i = 0; i < required->n; i++) {
		if (!is_forbidden(terms, required->traits[i]))
			return false;
	}
	return true;
}

// Lists the sets of required traits of which all traits are forbidden, so that no provider can pass: "A, B", or of a group
// "required1: (A, B)". STR_NONE: there are none.
static struct str conflicts_of(const struct terms *terms)
{
	struct buf out = buf_new(terms->call->pool, 64);

	for (size_t i = 0; i < terms->n_requirements; i++) {
		const struct provider_requirement *required = &terms->requirements[i];
		if (required->forbidden || !are_all_forbidden(terms, required))
			continue;
		buf_add(&out, out.n > 0 ? STR(", ") : STR_NONE);
		if (terms->suffix.p != NULL)
			buf_addf(&out, "required%.*s: (", STR_ARG(terms->suffix));
		for (size_t k = 0; k < required->n; k++)
			buf_addf(&out, "%s%.*s", k > 0 ? ", " : "", STR_ARG(required->traits[k]));
		buf_add(&out, terms->suffix.p != NULL ? STR(")") : STR_NONE);
	}
	return out.n > 0 ? buf_str(&out) : STR_NONE;
}

static enum outcome take_root_required(struct reading *reading, struct str value)
{
	struct call *call = reading->call;
	struct terms *root = &reading->root;

	if (root->call != NULL)
		return fail_value(call, "query.duplicate_key",
			STR("Query parameter 'root_required' may be specified only once."));
	root->call = call;
	enum outcome outcome = terms_take_required(root, value);
	if (outcome != OUTCOME_OK)
		return outcome;
	for (size_t i = 0; i < root->n_requirements; i++) {
		if (root->requirements[i].n > 1 || str_starts(value, STR("in:")))
			return call_fail(call, OUTCOME_BAD_PARAMETER,
				"Invalid query string parameters: The format 'in:HW_CPU_X86_VMX,CUSTOM_MAGIC' only supported since "
				"microversion 1.39. Got: %.*s", STR_HEAD_ARG(value, SHOWN));
	}
	struct str conflicts = conflicts_of(root);
	if (conflicts.p == NULL)
		return OUTCOME_OK;
	return fail_value(call, "query.bad_value", str_printf(call->pool,
		"Conflicting required and forbidden traits found in root_required: %.*s", STR_ARG(conflicts)));
}

static enum outcome check_subtree_value(struct reading *reading, struct str value)
{
	struct str rest = value, item;
	bool empty = str_trim(value).n == 0;

	while (str_split(&rest, ',', &item))
		empty = empty || str_trim(item).n == 0;
	if (empty)
		return fail_value(reading->call, "query.bad_value",
			STR("Empty string (unsuffixed group) can not be specified in `same_subtree` "));
	for (size_t i = 0; i < reading->n_subtrees; i++) {
		if (str_eq(reading->subtrees[i], value))
			return OUTCOME_OK; // it asks for nothing more
	}
	reading->subtrees[reading->n_subtrees++] = value;
	return OUTCOME_OK;
}

// The first limit counts, but it is the last one that placement_read_query() has checked.
static enum outcome take_limit(struct reading *reading, struct str value)
{
	struct call *call = reading->call;
	struct json_fault fault;

	reading->limit = value;
	if (json_schema_allows(call->pool, &limit_schema, doc_new_string(call->pool, value), &fault))
		return OUTCOME_OK;
	struct str why = json_fault_text(call->pool, &fault);
	return call_fail(call, OUTCOME_BAD_PARAMETER, "Invalid query string parameters: %.*s", STR_ARG(why));
}

// Reads the parameters of the whole request. Those of groups come later, so that of several errors the client gets the one that
// OpenStack's service would answer with.
static enum outcome take_request_parameters(struct reading *reading)
{
	const struct uri *uri = &reading->call->request.uri;
	enum outcome outcome = OUTCOME_OK;

	reading->subtrees = POOL_ARRAY(reading->call->pool, struct str, uri->n_pairs);
	for (size_t i = 0; i < uri->n_pairs && outcome == OUTCOME_OK; i++) {
		struct str name = uri->pairs[i].name, value = uri->pairs[i].value;
		if (str_eq_c(name, "root_required"))
			outcome = take_root_required(reading, value);
		else if (str_eq_c(name, "limit") && reading->limit.p == NULL)
			outcome = take_limit(reading, value);
		else if (str_eq_c(name, "group_policy") && reading->policy.p == NULL)
			reading->policy = value;
	}
	for (size_t i = 0; i < uri->n_pairs && outcome == OUTCOME_OK; i++) {
		if (str_eq_c(uri->pairs[i].name, "same_subtree"))
			outcome = check_subtree_value(reading, uri->pairs[i].value);
	}
	return outcome;
}

static enum outcome take_groups(struct reading *reading)
{
	const struct uri *uri = &reading->call->request.uri;
	enum outcome outcome = OUTCOME_OK;

	for (size_t i = 0; i < uri->n_pairs && outcome == OUTCOME_OK; i++)
		outcome = take_pair(reading, uri->pairs[i].name, uri->pairs[i].value);
	return outcome;
}

// ---- checks of parameters against each other

// Does a value of same_subtree name the group of that suffix?
static bool names_group(struct str subtree, struct str suffix)
{
	struct str item;

	while (str_split(&subtree, ',', &item)) {
		if (str_eq(str_trim(item), suffix))
			return true;
	}
	return false;
}

static bool is_in_a_subtree(const struct reading *reading, struct str suffix)
{
	for (size_t i = 0; i < reading->n_subtrees; i++) {
		if (names_group(reading->subtrees[i], suffix))
			return true;
	}
	return false;
}

static bool has_group(const struct reading *reading, struct str suffix)
{
	for (size_t i = 0; i < reading->n_groups; i++) {
		if (str_eq(reading->groups[i]->terms.suffix, suffix))
			return true;
	}
	return false;
}

static void add_quoted(struct buf *out, struct str item)
{
	buf_addf(out, "%s'%.*s'", out->n > 0 ? ", " : "", STR_HEAD_ARG(item, SHOWN));
}

// From 1.36 on, some group must have the parameter resources, and each other group must be named in same_subtree; and that may
// name only groups that there are.
static enum outcome check_subtrees(struct reading *reading)
{
	struct call *call = reading->call;
	struct buf resourceless = buf_new(call->pool, 64), all = buf_new(call->pool, 64), unknown = buf_new(call->pool, 64);
	size_t n_with = 0;

	for (size_t i = 0; i < reading->n_groups; i++) {
		struct str suffix = reading->groups[i]->terms.suffix;
		add_quoted(&all, suffix);
		n_with += reading->groups[i]->terms.n_demands > 0;
		if (reading->groups[i]->terms.n_demands == 0 && !is_in_a_subtree(reading, suffix))
			add_quoted(&resourceless, suffix);
	}
	if (n_with == 0)
		return fail_value(call, "query.missing_value",
			STR("There must be at least one resources or resources[$S] parameter."));
	if (resourceless.n > 0)
		return fail_value(call, "query.bad_value", str_printf(call->pool, "Resourceless suffixed group request should be "
			"specified in `same_subtree` query param: bad group(s) - [%.*s].", STR_ARG(resourceless)));
	for (size_t i = 0; i < reading->n_subtrees; i++) {
		struct str rest = reading->subtrees[i], item;
		while (str_split(&rest, ',', &item)) {
			if (!has_group(reading, str_trim(item)))
				add_quoted(&unknown, str_trim(item));
		}
	}
	if (unknown.n == 0)
		return OUTCOME_OK;
	return fail_value(call, "query.bad_value", str_printf(call->pool,
		"Real suffixes should be specified in `same_subtree`: [%.*s] "
		"not found in [%.*s].", STR_ARG(unknown), STR_ARG(all)));
}

static bool has_required(const struct terms *terms)
{
	for (size_t i = 0; i < terms->n_requirements; i++) {
		if (!terms->requirements[i].forbidden)
			return true;
	}
	return false;
}

// Before 1.36 a group must have the parameter resources.
static enum outcome check_groups_have_resources(struct reading *reading)
{
	struct call *call = reading->call;
	struct buf traits = buf_new(call->pool, 64), members = buf_new(call->pool, 64);
	size_t n_without = 0;

	for (size_t i = 0; i < reading->n_groups; i++) {
		const struct terms *terms = &reading->groups[i]->terms;
		if (terms->n_demands > 0)
			continue;
		n_without++;
		if (has_required(terms))
			buf_addf(&traits, "%srequired%.*s", traits.n > 0 ? ", " : "", STR_ARG(terms->suffix));
		if (terms->n_memberships > 0)
			buf_addf(&members, "%smember_of%.*s", members.n > 0 ? ", " : "", STR_ARG(terms->suffix));
	}
	if (traits.n > 0)
		return call_fail(call, OUTCOME_BAD_PARAMETER,
			"All traits parameters must be associated with resources.  Found the "
			"following orphaned traits keys: %.*s", STR_ARG(traits));
	if (members.n > 0)
		return call_fail(call, OUTCOME_BAD_PARAMETER,
			"All member_of parameters must be associated with resources. Found the "
			"following orphaned member_of keys: %.*s", STR_ARG(members));
	if (n_without > 0)
		return call_fail(call, OUTCOME_BAD_PARAMETER, "All request groups must specify resources.");
	if (reading->n_groups == 0)
		return call_fail(call, OUTCOME_BAD_PARAMETER,
			"At least one request group (`resources` or `resources{$S}`) is required.");
	return OUTCOME_OK;
}

// Refuses traits that a group both requires and forbids.
static enum outcome check_conflicts(struct reading *reading)
{
	struct buf all = buf_new(reading->call->pool, 64);

	for (size_t i = 0; i < reading->n_groups; i++) {
		struct str conflicts = conflicts_of(&reading->groups[i]->terms);
		if (conflicts.p != NULL)
			buf_addf(&all, "%s%.*s", all.n > 0 ? ", " : "", STR_ARG(conflicts));
	}
	if (all.n == 0)
		return OUTCOME_OK;
	return call_fail(reading->call, OUTCOME_BAD_PARAMETER,
		"Conflicting required and forbidden traits found in the following traits keys: %.*s", STR_ARG(all));
}

// Several groups with a suffix need the parameter group_policy.
static enum outcome check_policy(struct reading *reading)
{
	size_t n = 0;

	for (size_t i = 0; i < reading->n_groups; i++)
		n += reading->groups[i]->terms.suffix.n > 0;
	if (n <= 1 || reading->policy.p != NULL)
		return OUTCOME_OK;
	return call_fail(reading->call, OUTCOME_BAD_PARAMETER,
		"The \"group_policy\" parameter is required when specifying more than one \"resources{N}\" parameter.");
}

// ---- the registry's query

static const struct candidate_subtree *subtrees_of(const struct reading *reading)
{
	struct pool *pool = reading->call->pool;
	struct candidate_subtree *list = POOL_ARRAY(pool, struct candidate_subtree, reading->n_subtrees);

	for (size_t i = 0; i < reading->n_subtrees; i++) {
		size_t *groups = POOL_ARRAY(pool, size_t, reading->n_groups);
		for (size_t k = 0; k < reading->n_groups; k++) {
			if (names_group(reading->subtrees[i], reading->groups[k]->terms.suffix))
				groups[list[i].n++] = k;
		}
		list[i].groups = groups;
	}
	return list;
}

static void make_query(const struct reading *reading, struct candidate_query *query)
{
	struct call *call = reading->call;
	struct candidate_wish *groups = POOL_ARRAY(call->pool, struct candidate_wish, reading->n_groups);
	uint64_t limit = 0;

	for (size_t i = 0; i < reading->n_groups; i++) {
		const struct group *group = reading->groups[i];
		const struct terms *terms = &group->terms;
		groups[i] = (struct candidate_wish){
			.suffix = terms->suffix,
			.demands = terms->demands,
			.n_demands = terms->n_demands,
			.requirements = terms->requirements,
			.n_requirements = terms->n_requirements,
			.memberships = terms->memberships,
			.n_memberships = terms->n_memberships,
			.in_tree = group->in_tree,
		};
	}
	// A number with too many digits for 64 bits means no limit.
	if (reading->limit.p != NULL && !str_to_u64(reading->limit, &limit))
		limit = 0;
	*query = (struct candidate_query){
		.groups = groups,
		.n_groups = reading->n_groups,
		.subtrees = subtrees_of(reading),
		.n_subtrees = reading->n_subtrees,
		.isolate = str_eq(reading->policy, STR("isolate")),
		.one_per_tree = call->version < VERSION_CANDIDATE_NESTED,
		.root_requirements = reading->root.requirements,
		.n_root_requirements = reading->root.n_requirements,
		.limit = limit,
	};
}

enum outcome candidate_query_read(struct call *call, struct candidate_query *query)
{
	struct reading *reading = POOL_NEW(call->pool, struct reading);
	const struct doc *given;
	enum outcome outcome = placement_read_query(call, schema_of(call->version), &given);

	reading->call = call;
	if (outcome == OUTCOME_OK)
		outcome = take_request_parameters(reading);
	if (outcome == OUTCOME_OK)
		outcome = take_groups(reading);
	if (outcome == OUTCOME_OK)
		outcome = call->version >= VERSION_SAME_SUBTREE ? check_subtrees(reading) : check_groups_have_resources(reading);
	if (outcome == OUTCOME_OK)
		outcome = check_conflicts(reading);
	if (outcome == OUTCOME_OK)
		outcome = check_policy(reading);
	if (outcome == OUTCOME_OK)
		make_query(reading, query);
	return outcome;
}

// SPDX-License-Identifier: Apache-2.0
// /traits: the catalogue.
#include "base/base.h"

#include "api/placement/catalogue/catalogue.h"
#include "api/placement/common/placement.h"
#include "api/placement/common/schema.h"
#include "base/clock.h"
#include "base/pool.h"
#include "registry/placement/provider.h"
#include "registry/trait/catalogue.h"

// ---- the query's filters

static const struct json_property list_members[] = {
	{ "name", &any_string }, { "associated", &any_string }, { NULL, NULL },
};
static const struct json_schema list_schema = { .types = SCHEMA_OBJECT, .properties = list_members, .closed = true };

// Reads "A,B": the names of the traits that are listed.
static void take_names(struct call *call, struct str list, struct trait_query *query)
{
	struct str rest = list, name, *names;
	size_t n = 1;

	for (size_t i = 0; i < list.n; i++)
		n += list.p[i] == ',';
	names = POOL_ARRAY(call->pool, struct str, n);
	n = 0;
	while (str_split(&rest, ',', &name))
		names[n++] = name;
	query->named = true;
	query->names = names;
	query->n_names = n;
}

// An unknown operator is ignored, as in OpenStack's service.
static enum outcome take_name(struct call *call, struct str name, struct trait_query *query)
{
	size_t colon = str_find(name, ':', 0);
	struct str operator = str_part(name, 0, colon), value = str_part(name, colon + 1, name.n);

	if (colon == name.n)
		return call_fail(call, OUTCOME_BAD_PARAMETER,
			"Badly formatted name parameter. Expected name query string parameter in form: "
			"?name=[in|startswith]:[name1,name2|prefix]. Got: \"%.*s\"", STR_HEAD_ARG(name, 255));
	if (str_eq(operator, STR("in")))
		take_names(call, value, query);
	else if (str_eq(operator, STR("startswith")) || str_eq(operator, STR("starts_with")))
		query->prefix = value;
	return OUTCOME_OK;
}

static enum outcome take_associated(struct call *call, struct str value, struct trait_query *query)
{
	if (!str_eq_nocase(value, STR("true")) && !str_eq_nocase(value, STR("false")))
		return call_fail(call, OUTCOME_BAD_PARAMETER,
			"The query parameter \"associated\" only accepts \"true\" or \"false\"");
	query->use = str_eq_nocase(value, STR("true")) ? TRAITS_USED : TRAITS_UNUSED;
	query->user = provider_type(call->registry);
	return OUTCOME_OK;
}

static enum outcome read_list_query(struct call *call, struct trait_query *query)
{
	const struct doc *given;
	enum outcome outcome = placement_read_query(call, &list_schema, &given);

	*query = (struct trait_query){ .prefix = STR("") };
	if (outcome == OUTCOME_OK && placement_member_str(given, "name").p != NULL)
		outcome = take_name(call, placement_member_str(given, "name"), query);
	if (outcome == OUTCOME_OK && placement_member_str(given, "associated").p != NULL)
		outcome = take_associated(call, placement_member_str(given, "associated"), query);
	return outcome;
}

// ---- handlers

enum outcome list_traits(struct call *call)
{
	struct trait_query query;
	const struct trait *list;
	int64_t newest = 0;
	size_t n;
	bool fits = true;
	enum outcome outcome = read_list_query(call, &query);

	if (outcome == OUTCOME_OK)
		outcome = trait_list(call->registry, &query, &list, &n);
	if (outcome != OUTCOME_OK)
		return outcome;
	struct placement_long answer = placement_long_begin(call);
	BUF_LIT(&answer.json, "{\"traits\":[");
	for (size_t i = 0; i < n && fits; i++) { // names consist of letters, digits and "_", so they need no escapes
		buf_add(&answer.json, i > 0 ? STR(",\"") : STR("\""));
		buf_add(&answer.json, list[i].name);
		buf_addc(&answer.json, '"');
		fits = placement_long_next(&answer);
		newest = list[i].updated_us > newest ? list[i].updated_us : newest;
	}
	BUF_LIT(&answer.json, "]}");
	placement_answer_cache_headers(call, newest > 0 ? newest : clock_now_us());
	return placement_long_end(&answer);
}

enum outcome placement_fail_no_trait(struct call *call, struct str name)
{
	return call_fail(call, OUTCOME_NOT_FOUND, "No such trait(s): %.*s.", STR_HEAD_ARG(name, 255));
}

enum outcome placement_find_trait(struct call *call, struct trait *trait)
{
	struct str name = call_param(call, "name");
	enum outcome outcome = trait_get(call->registry, name, trait);

	return outcome == OUTCOME_NOT_FOUND ? placement_fail_no_trait(call, name) : outcome;
}

enum outcome show_trait(struct call *call)
{
	struct trait trait;
	enum outcome outcome = placement_find_trait(call, &trait);

	if (outcome != OUTCOME_OK)
		return outcome;
	placement_answer_cache_headers(call, trait.updated_us);
	return OUTCOME_NO_CONTENT;
}

enum outcome make_trait(struct call *call)
{
	struct trait trait;
	struct str name = call_param(call, "name");
	int64_t updated_us = call->registry->now_us;

	if (!trait_is_custom(name))
		return call_fail(call, OUTCOME_BAD_PARAMETER,
			"The trait is invalid. A valid trait must be no longer than 255 characters, start with the prefix \"CUSTOM_\" "
			"and use following characters: \"A\"-\"Z\", \"0\"-\"9\" and \"_\"");
	enum outcome outcome = trait_put(call->registry, name);
	if (outcome != OUTCOME_OK && outcome != OUTCOME_CREATED)
		return outcome;
	if (outcome == OUTCOME_OK && trait_get(call->registry, name, &trait) == OUTCOME_OK)
		updated_us = trait.updated_us;
	placement_set_location(call, "/traits/%.*s", STR_ARG(name));
	placement_answer_cache_headers(call, updated_us);
	return outcome == OUTCOME_OK ? OUTCOME_NO_CONTENT : OUTCOME_CREATED;
}

enum outcome drop_trait(struct call *call)
{
	struct str name = call_param(call, "name");
	const struct type *user;
	enum outcome outcome = trait_delete(call->registry, name, &user);

	switch (outcome) {
	case OUTCOME_NOT_FOUND:
		return placement_fail_no_trait(call, name);
	case OUTCOME_BAD_PARAMETER:
		return call_fail(call, outcome, "Cannot delete standard trait %.*s.", STR_HEAD_ARG(name, 255));
	case OUTCOME_CONFLICT: // of another type, the registry's words name it
		return user != provider_type(call->registry) ? outcome :
			call_fail(call, outcome, "The trait %.*s is in use by a resource provider.", STR_ARG(name));
	default:
		return outcome;
	}
}

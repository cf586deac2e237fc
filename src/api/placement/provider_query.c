// SPDX-License-Identifier: Apache-2.0
// What GET /resource_providers may ask for, by microversion.
#include "base/base.h"

#include "api/placement/placement.h"
#include "api/placement/schema.h"
#include "api/placement/terms.h"
#include "base/pool.h"

// ---- schemas

#define BASE { "name", &any_string }, { "uuid", &uuid_string }
#define MEMBER_OF { "member_of", &any_string }
#define RESOURCES { "resources", &any_string }
#define IN_TREE { "in_tree", &uuid_string }
#define REQUIRED { "required", &any_string }
#define END { NULL, NULL }
#define QUERY_SCHEMA(members) { .types = SCHEMA_OBJECT, .properties = (members), .closed = true }

static const struct json_property members_0[] = { BASE, END };
static const struct json_property members_3[] = { BASE, MEMBER_OF, END };
static const struct json_property members_4[] = { BASE, MEMBER_OF, RESOURCES, END };
static const struct json_property members_14[] = { BASE, MEMBER_OF, RESOURCES, IN_TREE, END };
static const struct json_property members_18[] = { BASE, MEMBER_OF, RESOURCES, IN_TREE, REQUIRED, END };
static const struct {
	unsigned since;
	struct json_schema schema;
} schemas[] = { // the newest first
	{ VERSION_REQUIRED, QUERY_SCHEMA(members_18) },
	{ VERSION_NESTED, QUERY_SCHEMA(members_14) },
	{ VERSION_RESOURCES, QUERY_SCHEMA(members_4) },
	{ VERSION_MEMBER_OF, QUERY_SCHEMA(members_3) },
	{ 0, QUERY_SCHEMA(members_0) },
};

static const struct json_schema *schema_of(unsigned version)
{
	size_t i = 0;

	while (schemas[i].since > version)
		i++;
	return &schemas[i].schema;
}

// ---- the whole

// Every value of a parameter, in turn.
static enum outcome take_each(struct terms *terms, const char *name,
	enum outcome (*take)(struct terms *terms, struct str value))
{
	const struct uri *uri = &terms->call->request.uri;
	enum outcome outcome = OUTCOME_OK;

	for (size_t i = 0; i < uri->n_pairs && outcome == OUTCOME_OK; i++) {
		if (str_eq_c(uri->pairs[i].name, name))
			outcome = take(terms, uri->pairs[i].value);
	}
	return outcome;
}

static size_t times_given(const struct call *call, const char *name)
{
	size_t n = 0;

	for (size_t i = 0; i < call->request.uri.n_pairs; i++)
		n += str_eq_c(call->request.uri.pairs[i].name, name);
	return n;
}

// Where a version takes a parameter once, the last one given counts.
static enum outcome take_last(struct terms *terms, const struct doc *given, const char *name,
	enum outcome (*take)(struct terms *terms, struct str value))
{
	struct str value = member_str(given, name);
	const struct doc *member;

	if (!doc_get(given, str_c(name), &member))
		return OUTCOME_OK;
	return take(terms, value.p != NULL ? value : STR(""));
}

static enum outcome take_lists(struct terms *terms, const struct doc *given)
{
	struct call *call = terms->call;

	if (call->version < VERSION_MEMBER_OF_REPEATED && times_given(call, "member_of") > 1)
		return call_fail(call, OUTCOME_BAD_PARAMETER, "Multiple member_of parameters are not supported");
	enum outcome outcome = take_each(terms, "member_of", terms_take_member_of);
	if (outcome == OUTCOME_OK)
		outcome = take_last(terms, given, "resources", terms_take_resources);
	if (outcome != OUTCOME_OK)
		return outcome;
	return call->version >= VERSION_REQUIRED_ANY ? take_each(terms, "required", terms_take_required) :
		take_last(terms, given, "required", terms_take_required);
}

static const struct uuid *take_uuid(struct call *call, const struct doc *given, const char *name)
{
	struct uuid *uuid = POOL_NEW(call->pool, struct uuid);

	return uuid_like(member_str(given, name), uuid) ? uuid : NULL;
}

enum outcome read_provider_query(struct call *call, struct provider_query *query)
{
	struct terms *terms = POOL_NEW(call->pool, struct terms);
	const struct doc *given;
	enum outcome outcome = read_query(call, schema_of(call->version), &given);

	terms->call = call;
	if (outcome == OUTCOME_OK)
		outcome = take_lists(terms, given);
	if (outcome != OUTCOME_OK)
		return outcome;
	*query = (struct provider_query){
		.name = member_str(given, "name"),
		.uid = take_uuid(call, given, "uuid"),
		.in_tree = take_uuid(call, given, "in_tree"),
		.memberships = terms->memberships,
		.n_memberships = terms->n_memberships,
		.requirements = terms->requirements,
		.n_requirements = terms->n_requirements,
		.demands = terms->demands,
		.n_demands = terms->n_demands,
	};
	return OUTCOME_OK;
}

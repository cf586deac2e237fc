// SPDX-License-Identifier: Apache-2.0
// What GET /resource_providers may ask for, by microversion.
#include "base/base.h"

#include "api/placement/placement.h"
#include "api/placement/schema.h"
#include "base/pool.h"

enum { SHOWN = 255 };

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

// ---- lists of the query, as they grow

struct reading {
	struct call *call;
	struct provider_membership memberships[PROVIDER_MAX_TERMS];
	size_t n_memberships;
	struct provider_requirement requirements[PROVIDER_MAX_TERMS];
	size_t n_requirements;
	struct provider_demand demands[PROVIDER_MAX_TERMS];
	size_t n_demands;
};

static enum outcome fail_many(const struct reading *reading, const char *name)
{
	return call_fail(reading->call, OUTCOME_BAD_PARAMETER,
		"Invalid query string parameters: '%s' may ask for %d things at most", name, PROVIDER_MAX_TERMS);
}

static size_t count_items(struct str list)
{
	size_t n = 1;

	for (size_t i = 0; i < list.n; i++)
		n += list.p[i] == ',';
	return n;
}

// ---- member_of

static enum outcome fail_member_of(const struct reading *reading, struct str value)
{
	return call_fail(reading->call, OUTCOME_BAD_PARAMETER,
		"Invalid query string parameters: Expected 'member_of' parameter to contain valid UUID(s). Got: %.*s",
		STR_ARG(shown(value, SHOWN)));
}

// "A", "in:A,B", "!A", "!in:A,B".
static enum outcome take_member_of(struct reading *reading, struct str value)
{
	const struct str any = STR("in:");
	bool forbidden = str_starts(value, STR("!"));
	struct str list = str_part(value, forbidden ? 1 : 0, value.n), item;
	struct uuid *aggregates;
	size_t n = 0;

	if (forbidden && reading->call->version < VERSION_MEMBER_OF_NONE)
		return call_fail(reading->call, OUTCOME_BAD_PARAMETER,
			"Forbidden member_of parameters are not supported in the specified microversion");
	bool several = str_starts(list, any);
	if (!several && str_find(list, ',', 0) < list.n)
		return call_fail(reading->call, OUTCOME_BAD_PARAMETER,
			"Multiple values for 'member_of' must be prefixed with the 'in:' keyword. Got: %.*s",
			STR_ARG(shown(value, SHOWN)));
	if (several)
		list = str_part(list, any.n, list.n);
	aggregates = POOL_ARRAY(reading->call->pool, struct uuid, count_items(list));
	while (str_split(&list, several ? ',' : '\0', &item)) {
		if (!uuid_like(item, &aggregates[n]))
			return fail_member_of(reading, value);
		n++;
	}
	if (n == 0)
		return fail_member_of(reading, value);
	if (reading->n_memberships == PROVIDER_MAX_TERMS || n > PROVIDER_MAX_TERMS)
		return fail_many(reading, "member_of");
	reading->memberships[reading->n_memberships++] = (struct provider_membership){ aggregates, n, forbidden };
	return OUTCOME_OK;
}

// ---- required

static enum outcome fail_required(const struct reading *reading, struct str value)
{
	return call_fail(reading->call, OUTCOME_BAD_PARAMETER,
		"Invalid query string parameters: Expected 'required' parameter value of the form: HW_CPU_X86_VMX,%sCUSTOM_MAGIC. "
		"Got: %.*s", reading->call->version >= VERSION_FORBIDDEN ? "!" : "", STR_ARG(shown(value, SHOWN)));
}

static enum outcome add_requirement(struct reading *reading, const struct str *traits, size_t n, bool forbidden)
{
	if (reading->n_requirements == PROVIDER_MAX_TERMS || n > PROVIDER_MAX_TERMS)
		return fail_many(reading, "required");
	reading->requirements[reading->n_requirements++] = (struct provider_requirement){ traits, n, forbidden };
	return OUTCOME_OK;
}

// "in:A,B": at least one of them.
static enum outcome take_any(struct reading *reading, struct str value)
{
	struct str rest = str_part(value, STR("in:").n, value.n), item;
	struct str *traits = POOL_ARRAY(reading->call->pool, struct str, count_items(rest));
	size_t n = 0;

	if (reading->call->version < VERSION_REQUIRED_ANY)
		return call_fail(reading->call, OUTCOME_BAD_PARAMETER,
			"Invalid query string parameters: The format 'in:HW_CPU_X86_VMX,CUSTOM_MAGIC' only supported since Placement API "
			"version 1.39.");
	while (str_split(&rest, ',', &item)) {
		traits[n] = str_trim(item);
		if (traits[n].n == 0 || traits[n].p[0] == '!')
			return fail_required(reading, value);
		n++;
	}
	return n > 0 ? add_requirement(reading, traits, n, false) : fail_required(reading, value);
}

static enum outcome take_required(struct reading *reading, struct str value)
{
	struct str rest = value, item;
	struct str *traits = POOL_ARRAY(reading->call->pool, struct str, count_items(value));
	enum outcome outcome = OUTCOME_OK;

	if (str_starts(value, STR("in:")))
		return take_any(reading, value);
	if (value.n == 0)
		return fail_required(reading, value);
	for (size_t i = 0; outcome == OUTCOME_OK && str_split(&rest, ',', &item); i++) {
		item = str_trim(item);
		bool forbidden = str_starts(item, STR("!"));
		traits[i] = forbidden ? str_part(item, 1, item.n) : item;
		if (traits[i].n == 0 || (forbidden && reading->call->version < VERSION_FORBIDDEN))
			return fail_required(reading, value);
		outcome = add_requirement(reading, &traits[i], 1, forbidden);
	}
	return outcome;
}

// ---- resources

#define RESOURCES_FORM \
	"Badly formed resources parameter. Expected resources query string parameter in form: " \
	"?resources=VCPU:2,MEMORY_MB:1024. Got: "

// The last counts, where a class is named twice.
static enum outcome add_demand(struct reading *reading, struct str class, uint64_t amount)
{
	size_t i = 0;

	while (i < reading->n_demands && !str_eq(reading->demands[i].class, class))
		i++;
	if (i == PROVIDER_MAX_TERMS)
		return fail_many(reading, "resources");
	reading->demands[i] = (struct provider_demand){ class, amount };
	reading->n_demands += i == reading->n_demands;
	return OUTCOME_OK;
}

static enum outcome take_demand(struct reading *reading, struct str item)
{
	size_t colon = str_find(item, ':', 0);
	struct str class = str_part(item, 0, colon), text = str_part(item, colon + 1, item.n);
	bool negative = str_starts(text, STR("-"));
	uint64_t amount = 0;

	if (colon == item.n || str_find(text, ':', 0) < text.n)
		return call_fail(reading->call, OUTCOME_BAD_PARAMETER, RESOURCES_FORM "%.*s.", STR_ARG(shown(item, SHOWN)));
	if (!str_to_u64(str_part(text, negative ? 1 : 0, text.n), &amount))
		return call_fail(reading->call, OUTCOME_BAD_PARAMETER,
			"Requested resource %.*s expected positive integer amount. Got: %.*s.", STR_ARG(shown(class, SHOWN)),
			STR_ARG(shown(text, SHOWN)));
	if (negative || amount < 1)
		return call_fail(reading->call, OUTCOME_BAD_PARAMETER, "Requested resource %.*s requires amount >= 1. Got: %.*s.",
			STR_ARG(shown(class, SHOWN)), STR_ARG(shown(text, SHOWN)));
	return add_demand(reading, class, amount);
}

static enum outcome take_resources(struct reading *reading, struct str value)
{
	struct str rest = value, item;
	enum outcome outcome = OUTCOME_OK;

	if (str_trim(value).n == 0)
		return call_fail(reading->call, OUTCOME_BAD_PARAMETER, RESOURCES_FORM "empty string.");
	while (outcome == OUTCOME_OK && str_split(&rest, ',', &item))
		outcome = take_demand(reading, item);
	return outcome;
}

// ---- the whole

// Every value of a parameter, in turn.
static enum outcome take_each(struct reading *reading, const char *name,
	enum outcome (*take)(struct reading *reading, struct str value))
{
	const struct uri *uri = &reading->call->request.uri;
	enum outcome outcome = OUTCOME_OK;

	for (size_t i = 0; i < uri->n_pairs && outcome == OUTCOME_OK; i++) {
		if (str_eq_c(uri->pairs[i].name, name))
			outcome = take(reading, uri->pairs[i].value);
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
static enum outcome take_last(struct reading *reading, const struct doc *given, const char *name,
	enum outcome (*take)(struct reading *reading, struct str value))
{
	struct str value = member_str(given, name);
	const struct doc *member;

	if (!doc_get(given, str_c(name), &member))
		return OUTCOME_OK;
	return take(reading, value.p != NULL ? value : STR(""));
}

static enum outcome take_lists(struct reading *reading, const struct doc *given)
{
	struct call *call = reading->call;

	if (call->version < VERSION_MEMBER_OF_REPEATED && times_given(call, "member_of") > 1)
		return call_fail(call, OUTCOME_BAD_PARAMETER, "Multiple member_of parameters are not supported");
	enum outcome outcome = take_each(reading, "member_of", take_member_of);
	if (outcome == OUTCOME_OK)
		outcome = take_last(reading, given, "resources", take_resources);
	if (outcome != OUTCOME_OK)
		return outcome;
	return call->version >= VERSION_REQUIRED_ANY ? take_each(reading, "required", take_required) :
		take_last(reading, given, "required", take_required);
}

static const struct uuid *take_uuid(struct call *call, const struct doc *given, const char *name)
{
	struct uuid *uuid = POOL_NEW(call->pool, struct uuid);

	return uuid_like(member_str(given, name), uuid) ? uuid : NULL;
}

enum outcome read_provider_query(struct call *call, struct provider_query *query)
{
	struct reading *reading = POOL_NEW(call->pool, struct reading);
	const struct doc *given;
	enum outcome outcome = read_query(call, schema_of(call->version), &given);

	reading->call = call;
	if (outcome == OUTCOME_OK)
		outcome = take_lists(reading, given);
	if (outcome != OUTCOME_OK)
		return outcome;
	*query = (struct provider_query){
		.name = member_str(given, "name"),
		.uid = take_uuid(call, given, "uuid"),
		.in_tree = take_uuid(call, given, "in_tree"),
		.memberships = reading->memberships,
		.n_memberships = reading->n_memberships,
		.requirements = reading->requirements,
		.n_requirements = reading->n_requirements,
		.demands = reading->demands,
		.n_demands = reading->n_demands,
	};
	return OUTCOME_OK;
}

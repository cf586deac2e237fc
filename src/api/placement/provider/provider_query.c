// SPDX-License-Identifier: Apache-2.0
// The parameters of GET /resource_providers, by microversion.
#include "base/base.h"

#include "api/placement/common/placement.h"
#include "api/placement/common/schema.h"
#include "api/placement/provider/provider.h"
#include "api/placement/provider/terms.h"
#include "base/pool.h"

struct reading {
	struct call *call;
	struct provider_query *query;
	struct terms terms;
};

// ---- readers

// An empty name is no condition, as in OpenStack's service.
static enum outcome take_name(struct reading *reading, struct str value)
{
	if (value.n > 0)
		reading->query->plain.name = value;
	return OUTCOME_OK;
}

// Parses a value that the schema has found to be a uuid.
static struct str uuid_of(const struct reading *reading, struct str value)
{
	struct uuid *uuid = POOL_NEW(reading->call->pool, struct uuid);

	return placement_uuid_parse(value, uuid) ? uuid_bytes(uuid) : STR_NONE;
}

static enum outcome take_uuid(struct reading *reading, struct str value)
{
	reading->query->plain.uid = uuid_of(reading, value);
	return OUTCOME_OK;
}

static enum outcome take_in_tree(struct reading *reading, struct str value)
{
	reading->query->plain.in_tree = uuid_of(reading, value);
	return OUTCOME_OK;
}

static enum outcome take_member_of(struct reading *reading, struct str value)
{
	return terms_take_member_of(&reading->terms, value);
}

static enum outcome take_required(struct reading *reading, struct str value)
{
	return terms_take_required(&reading->terms, value);
}

static enum outcome take_resources(struct reading *reading, struct str value)
{
	return terms_take_resources(&reading->terms, value);
}

// ---- the filters

enum { NEVER = VERSION_MAX + 1 };

// One row for each parameter. The condition that it stands for is in sql/statements/provider_lists.sql; a parameter with a single
// value is a member of provider_plain there.
static const struct filter {
	struct json_property property; // the parameter, and the syntax of its value
	unsigned since;                // the microversion that introduced the parameter
	unsigned repeated;             // the microversion from which on it may be repeated, and all values count
	const char *once;              // before that: the error if it is repeated; NULL: it is no error, and the last value counts
	enum outcome (*take)(struct reading *reading, struct str value);
} filters[] = { // read in the order of OpenStack's service, so that of several wrong values the same one is told
	{ { "name", &any_string }, 0, NEVER, NULL, take_name },
	{ { "uuid", &uuid_string }, 0, NEVER, NULL, take_uuid },
	{ { "in_tree", &uuid_string }, VERSION_NESTED, NEVER, NULL, take_in_tree },
	{ { "member_of", &any_string }, VERSION_MEMBER_OF, VERSION_MEMBER_OF_REPEATED,
	  "Multiple member_of parameters are not supported", take_member_of },
	{ { "required", &any_string }, VERSION_REQUIRED, VERSION_REQUIRED_ANY, NULL, take_required },
	{ { "resources", &any_string }, VERSION_RESOURCES, NEVER, NULL, take_resources },
};

// The schema of the query in the request's microversion: it refuses all other parameters.
static const struct json_schema *query_schema(struct call *call)
{
	struct json_schema *schema = POOL_NEW(call->pool, struct json_schema);
	struct json_property *properties = POOL_ARRAY(call->pool, struct json_property, COUNT_OF(filters) + 1);
	size_t n = 0;

	for (size_t i = 0; i < COUNT_OF(filters); i++) {
		if (filters[i].since <= call->version)
			properties[n++] = filters[i].property;
	}
	properties[n] = (struct json_property){ NULL, NULL };
	*schema = (struct json_schema){ .types = SCHEMA_OBJECT, .properties = properties, .closed = true };
	return schema;
}

static enum outcome read_filter(struct reading *reading, const struct filter *filter)
{
	const struct call *call = reading->call;
	const struct uri *uri = &call->request.uri;
	enum outcome outcome = OUTCOME_OK;
	struct str last = STR_NONE;
	size_t n = 0;

	for (size_t i = 0; i < uri->n_pairs && outcome == OUTCOME_OK; i++) {
		if (!str_eq_c(uri->pairs[i].name, filter->property.name))
			continue;
		n++;
		last = uri->pairs[i].value.p != NULL ? uri->pairs[i].value : STR("");
		if (call->version >= filter->repeated)
			outcome = filter->take(reading, last);
	}
	if (n == 0 || call->version >= filter->repeated)
		return outcome;
	if (n > 1 && filter->once != NULL)
		return call_fail(reading->call, OUTCOME_BAD_PARAMETER, "%s", filter->once);
	return filter->take(reading, last);
}

enum outcome provider_query_read(struct call *call, struct provider_query *query)
{
	struct reading *reading = POOL_NEW(call->pool, struct reading);
	const struct doc *given;
	enum outcome outcome = placement_read_query(call, query_schema(call), &given);

	reading->call = call;
	reading->query = query;
	reading->terms.call = call;
	*query = (struct provider_query){ 0 };
	for (size_t i = 0; outcome == OUTCOME_OK && i < COUNT_OF(filters); i++)
		outcome = read_filter(reading, &filters[i]);
	query->memberships = reading->terms.memberships;
	query->n_memberships = reading->terms.n_memberships;
	query->requirements = reading->terms.requirements;
	query->n_requirements = reading->terms.n_requirements;
	query->demands = reading->terms.demands;
	query->n_demands = reading->terms.n_demands;
	return outcome;
}

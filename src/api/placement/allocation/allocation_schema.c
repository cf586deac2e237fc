// SPDX-License-Identifier: Apache-2.0
// The schemas of PUT /allocations/{consumer_uuid} and POST /allocations, by microversion.
#include "base/base.h"

#include "api/placement/allocation/allocation.h"
#include "api/placement/common/placement.h"
#include "api/placement/common/schema.h"
#include "base/ascii.h"

#define END { NULL, NULL }
#define OBJECT(members, names) { .types = SCHEMA_OBJECT, .properties = (members), .required = (names), .closed = true }
// The whole bodies from 1.12 on: in OpenStack's service a member too many is told before one that is missing.
#define NEWER_OBJECT(members, names) \
	{ .types = SCHEMA_OBJECT, .properties = (members), .required = (names), .closed = true, .closed_first = true }

// ---- parts of all versions

static const struct json_schema amount = { .types = SCHEMA_INTEGER, .has_minimum = true, .minimum = 1 };
static const struct json_pattern_property by_class[] = { { &class_pattern, &amount }, END };
static const struct json_schema resources = { .types = SCHEMA_OBJECT, .pattern_properties = by_class,
	.min_properties = 1, .closed = true };

// ---- before 1.12: a list

static const struct json_property provider_members[] = { { "uuid", &uuid_string }, END };
static const char *const provider_required[] = { "uuid", NULL };
static const struct json_schema provider = OBJECT(provider_members, provider_required);
static const struct json_property item_members[] = {
	{ "resource_provider", &provider }, { "resources", &resources }, END,
};
static const char *const item_required[] = { "resource_provider", "resources", NULL };
static const struct json_schema item = OBJECT(item_members, item_required);
static const struct json_schema list = { .types = SCHEMA_ARRAY, .items = &item, .min_items = 1 };

// ---- from 1.12 on: an object whose names are the providers' uuids

static const struct json_property value_members[] = {
	{ "generation", &generation_number }, { "resources", &resources }, END,
};
static const char *const value_required[] = { "resources", NULL };
static const struct json_schema value = OBJECT(value_members, value_required);
static const struct json_pattern_property by_provider[] = { { &uuid_pattern, &value }, END };
static const struct json_schema one_or_more = { .types = SCHEMA_OBJECT, .pattern_properties = by_provider,
	.min_properties = 1, .closed = true };
static const struct json_schema any = { .types = SCHEMA_OBJECT, .pattern_properties = by_provider, .closed = true };

// ---- mappings: which providers serve which group of a request for candidates. They are checked, and not stored

// The pattern of OpenStack's service has no anchors, so it matches wherever one of the characters occurs.
static bool has_group(const void *arg, struct str text)
{
	UNUSED(arg);
	for (size_t i = 0; i < text.n; i++) {
		char c = text.p[i];
		if (ascii_is_alnum(c) || c == '_' || c == '-')
			return true;
	}
	return false;
}

static const struct json_rule group_pattern = { "[a-zA-Z0-9_-]{1,64}", has_group, NULL };
static const struct json_schema group = { .types = SCHEMA_ARRAY, .items = &uuid_string, .min_items = 1 };
static const struct json_pattern_property by_group[] = { { &group_pattern, &group }, END };
static const struct json_schema mappings = { .types = SCHEMA_OBJECT, .pattern_properties = by_group, .min_properties = 1 };

// ---- whole bodies

static const struct json_schema generation_or_null = { .types = SCHEMA_INTEGER | SCHEMA_NULL };

#define OWNERS { "project_id", &identity_string }, { "user_id", &identity_string }
#define CONSUMER { "consumer_generation", &generation_or_null }
#define MAPPINGS { "mappings", &mappings }
#define TYPE { "consumer_type", &consumer_type_string }

static const struct json_property members_0[] = { { "allocations", &list }, END };
static const struct json_property members_8[] = { { "allocations", &list }, OWNERS, END };
static const struct json_property members_12[] = { { "allocations", &one_or_more }, OWNERS, END };
static const struct json_property members_13[] = { { "allocations", &any }, OWNERS, END }; // of POST
static const struct json_property members_28[] = { { "allocations", &any }, OWNERS, CONSUMER, END };
static const struct json_property members_34[] = { { "allocations", &any }, OWNERS, CONSUMER, MAPPINGS, END };
static const struct json_property members_38[] = { { "allocations", &any }, OWNERS, CONSUMER, MAPPINGS, TYPE, END };
static const char *const required_0[] = { "allocations", NULL };
static const char *const required_8[] = { "allocations", "project_id", "user_id", NULL };
static const char *const required_28[] = { "allocations", "project_id", "user_id", "consumer_generation", NULL };
static const char *const required_38[] = {
	"allocations", "project_id", "user_id", "consumer_generation", "consumer_type", NULL,
};
static const struct json_schema set_0 = OBJECT(members_0, required_0);
static const struct json_schema set_8 = OBJECT(members_8, required_8);
static const struct json_schema set_12 = NEWER_OBJECT(members_12, required_8);
static const struct json_schema set_13 = NEWER_OBJECT(members_13, required_8);
static const struct json_schema set_28 = NEWER_OBJECT(members_28, required_28);
static const struct json_schema set_34 = NEWER_OBJECT(members_34, required_28);
static const struct json_schema set_38 = NEWER_OBJECT(members_38, required_38);

#define MANY(of) { .types = SCHEMA_OBJECT, .pattern_properties = (of), .min_properties = 1, .closed = true }
#define ANY(of) { .types = SCHEMA_OBJECT, .pattern_properties = (of), .closed = true }
static const struct json_pattern_property sets_13[] = { { &uuid_pattern, &set_13 }, END };
static const struct json_pattern_property sets_28[] = { { &uuid_pattern, &set_28 }, END };
static const struct json_pattern_property sets_34[] = { { &uuid_pattern, &set_34 }, END };
static const struct json_pattern_property sets_38[] = { { &uuid_pattern, &set_38 }, END };

static const struct {
	unsigned since;
	const struct json_schema *set;
	struct json_schema many, any_number;
} schemas[] = { // in descending order of versions
	{ VERSION_CONSUMER_TYPE, &set_38, MANY(sets_38), ANY(sets_38) },
	{ VERSION_MAPPINGS, &set_34, MANY(sets_34), ANY(sets_34) },
	{ VERSION_CONSUMER_GENERATION, &set_28, MANY(sets_28), ANY(sets_28) },
	{ VERSION_ALLOCATIONS_BY_PROVIDER, &set_12, MANY(sets_13), ANY(sets_13) },
	{ VERSION_CONSUMER_PROJECT, &set_8, MANY(sets_13), ANY(sets_13) },
	{ 0, &set_0, MANY(sets_13), ANY(sets_13) },
};

static size_t row_of(unsigned version)
{
	size_t i = 0;

	while (schemas[i].since > version)
		i++;
	return i;
}

const struct json_schema *allocations_schema(unsigned version)
{
	return schemas[row_of(version)].set;
}

const struct json_schema *allocations_schema_many(unsigned version)
{
	return &schemas[row_of(version)].many;
}

const struct json_schema *allocations_schema_reshaped(unsigned version)
{
	return &schemas[row_of(version)].any_number;
}

// SPDX-License-Identifier: Apache-2.0
// The members of built-in types, written as OpenAPI.
#include "base/base.h"

#include "api/spaces/schema/openapi_internal.h"

static void add_map(struct buf *out)
{
	size_t additional = openapi_proto_begin(out, SCHEMA_ADDITIONAL), schema = openapi_proto_begin(out, ADDITIONAL_SCHEMA);

	schema_type(out, "string");
	openapi_proto_end(out, schema);
	openapi_proto_end(out, additional);
}

static void add_items(struct buf *out, const struct type_field *field, const struct merge_rule *rules)
{
	size_t items = openapi_proto_begin(out, SCHEMA_ITEMS), schema = openapi_proto_begin(out, ITEMS_SCHEMA);

	schema_type(out, field->type == OF_STRINGS ? "string" : "object");
	if (field->type == OF_OBJECTS && field->inside != NULL)
		schema_add_fields(out, field->inside, rules, false);
	openapi_proto_end(out, schema);
	openapi_proto_end(out, items);
}

static void add_field_type(struct buf *out, const struct type_field *field, const struct merge_rule *rules)
{
	switch (field->type) {
	case OF_ANY:
		break;
	case OF_STRING:
		schema_type(out, "string");
		break;
	case OF_TIME:
		openapi_proto_text(out, SCHEMA_FORMAT, STR("date-time"));
		schema_type(out, "string");
		break;
	case OF_INT_OR_STRING:
		openapi_proto_text(out, SCHEMA_FORMAT, STR("int-or-string"));
		schema_type(out, "string");
		break;
	case OF_INTEGER:
		schema_type(out, "integer");
		break;
	case OF_BOOLEAN:
		schema_type(out, "boolean");
		break;
	case OF_OBJECT:
		schema_type(out, "object");
		if (field->inside != NULL)
			schema_add_fields(out, field->inside, rules, false);
		break;
	case OF_STRING_MAP:
	case OF_BYTES_MAP:
	case OF_QUANTITY_MAP:
		schema_type(out, "object");
		add_map(out);
		break;
	case OF_STRINGS:
	case OF_OBJECTS:
		schema_type(out, "array");
		add_items(out, field, rules);
		break;
	}
}

static const struct merge_rule *find_rule(const struct merge_rule *rules, const char *name)
{
	for (; rules != NULL && rules->name != NULL; rules++) {
		if (strcmp(rules->name, name) == 0)
			return rules;
	}
	return NULL;
}

// Clients that make strategic merge patches read here how lists are merged.
static void add_merging(struct buf *out, const struct merge_rule *rule)
{
	if (rule == NULL || rule->key == NULL)
		return;
	schema_extension(out, SCHEMA_EXTENSION, "x-kubernetes-patch-strategy", STR("merge"));
	if (rule->key[0] != '\0')
		schema_extension(out, SCHEMA_EXTENSION, "x-kubernetes-patch-merge-key", str_c(rule->key));
}

void schema_add_fields(struct buf *out, const struct type_field *fields, const struct merge_rule *rules, bool root)
{
	size_t properties = openapi_proto_begin(out, SCHEMA_PROPERTIES);

	if (root)
		schema_add_meta_properties(out);
	for (const struct type_field *field = fields; field->name != NULL; field++) {
		const struct merge_rule *rule = find_rule(rules, field->name);
		struct property_mark mark = property_begin(out, str_c(field->name));
		if (field->description[0] != '\0')
			openapi_proto_text(out, SCHEMA_DESCRIPTION, str_c(field->description));
		add_field_type(out, field, rule != NULL ? rule->inside : NULL);
		add_merging(out, rule);
		property_end(out, mark);
	}
	openapi_proto_end(out, properties);
	for (const struct type_field *field = fields; field->name != NULL; field++) {
		if (field->required)
			openapi_proto_text(out, SCHEMA_REQUIRED, str_c(field->name));
	}
}

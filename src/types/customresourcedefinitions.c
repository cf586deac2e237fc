// SPDX-License-Identifier: Apache-2.0
// CustomResourceDefinitions, from which registry/type/ makes the types of tenants. registry/crd/ has their rules.
#include "base/base.h"

#include "types/common/messages.h"
#include "types/common/parts.h"

static const struct type_field definition_names_fields[] = {
	MEMBER_TEXTS("categories", "Groups of types it is listed with, as in \"get all\"."),
	MEMBER_MUST("kind", OF_STRING, NULL, "CamelCase."), MEMBER_TEXT("listKind", "The kind of lists; the kind and List."),
	MEMBER_MUST("plural", OF_STRING, NULL, "As in its address."),
	MEMBER_TEXTS("shortNames", "Short forms for the command line."), MEMBER_TEXT("singular", "The kind in lower case."),
	MEMBER_END
};
static const struct type_field printer_column_fields[] = {
	MEMBER_TEXT("description", ""), MEMBER_TEXT("format", ""), MEMBER_TEXT("jsonPath", "Where the value is: .spec.size"),
	MEMBER_TEXT("JSONPath", "The same in v1beta1."), MEMBER_MUST("name", OF_STRING, NULL, "Its heading."),
	MEMBER_INTEGER("priority", "Above 0: in wide lists only."),
	MEMBER_MUST("type", OF_STRING, NULL, "string, integer, number, boolean or date."), MEMBER_END
};
static const struct type_field definition_version_fields[] = {
	MEMBER_OBJECTS("additionalPrinterColumns", printer_column_fields, "What lists show of it."),
	MEMBER_BOOLEAN("deprecated", ""), MEMBER_TEXT("deprecationWarning", ""),
	MEMBER_MUST("name", OF_STRING, NULL, "v1, v1beta1, …"),
	MEMBER_OBJECT("schema", NULL, "openAPIV3Schema: what its objects are like."),
	MEMBER_MUST("served", OF_BOOLEAN, NULL, "Whether it can be used."),
	MEMBER_MUST("storage", OF_BOOLEAN, NULL, "Whether objects are kept in it; true for one."), MEMBER_ANY("selectableFields"),
	MEMBER_OBJECT("subresources", NULL, "status, scale."), MEMBER_END
};
static const struct type_field definition_spec_fields[] = {
	MEMBER_OBJECTS("additionalPrinterColumns", printer_column_fields, "For all versions, in v1beta1."),
	MEMBER_TEXTS("applicableRange", "Of a definition of the system: which tenants may use it, as key=value of their "
		"annotations, * for all."),
	MEMBER_ANY("conversion"), MEMBER_MUST("group", OF_STRING, NULL, "The API group."),
	MEMBER_MUST("names", OF_OBJECT, definition_names_fields, "How it is called."),
	MEMBER_BOOLEAN("preserveUnknownFields", "Whether what the schema doesn't name is kept."),
	MEMBER_MUST("scope", OF_STRING, NULL, "Namespaced or Cluster; Cluster means the tenant's space."),
	MEMBER_OBJECT("subresources", NULL, "For all versions, in v1beta1."), MEMBER_ANY("validation"),
	MEMBER_TEXT("version", "In v1beta1."), MEMBER_OBJECTS("versions", definition_version_fields, "Its versions."), MEMBER_END
};
static const struct type_field definition_fields[] = {
	MEMBER_MUST("spec", OF_OBJECT, definition_spec_fields, "What the type is to be."),
	MEMBER_OBJECT("status", NULL, "What it is."), MEMBER_END
};

static const struct type_column of_definitions[] = {
	COLUMN_TEXT("Created At", ".metadata.creationTimestamp", "When the definition was created."), COLUMN_TENANT, COLUMN_END
};

// ---- protobuf

static PB_MESSAGE_CONVERTED(json, message_single_value, PB_JSON(1, "raw"));

// Declared here because schemas contain schemas.
static const struct protobuf_message proto_schema;

// *json becomes the value of the one of the two members that is present.
static bool either_to_json(struct pool *pool, const struct doc *object, struct doc **json, const char *schema,
	const char *other)
{
	const struct doc *value = NULL;

	if (!doc_get(object, str_c(schema), &value))
		doc_get(object, str_c(other), &value);
	*json = doc_copy(pool, value);
	return true;
}

static bool schema_or_bool_to_json(struct pool *pool, const struct doc *object, struct doc **json, const char **why)
{
	UNUSED(why);
	return either_to_json(pool, object, json, "schema", "allows");
}

static bool schema_or_list_to_json(struct pool *pool, const struct doc *object, struct doc **json, const char **why)
{
	UNUSED(why);
	return either_to_json(pool, object, json, "schema", "list");
}
static PB_MESSAGE_CONVERTED(schema_or_schemas, schema_or_list_to_json, PB_OBJECT(1, "schema", schema), PB_LIST(2, "list", schema));
static PB_MESSAGE_CONVERTED(schema_or_texts, schema_or_list_to_json, PB_OBJECT(1, "schema", schema), PB_TEXTS(2, "list"));
static PB_MESSAGE_CONVERTED(schema_or_bool, schema_or_bool_to_json, PB_BOOL_ZERO(1, "allows"), PB_OBJECT(2, "schema", schema));

PB_MESSAGE(external_documentation, PB_TEXT(1, "description"), PB_TEXT(2, "url"));
PB_MESSAGE(validation_rule,
	PB_TEXT_ZERO(1, "rule"), PB_TEXT(2, "message"), PB_TEXT(3, "messageExpression"), PB_TEXT_ZERO(4, "reason"),
	PB_TEXT(5, "fieldPath"), PB_BOOL_ZERO(6, "optionalOldSelf"));
PB_MESSAGE(schema,
	PB_TEXT(1, "id"), PB_TEXT(2, "$schema"), PB_TEXT_ZERO(3, "$ref"), PB_TEXT(4, "description"), PB_TEXT(5, "type"),
	PB_TEXT(6, "format"), PB_TEXT(7, "title"), PB_OBJECT(8, "default", json), PB_DOUBLE_ZERO(9, "maximum"),
	PB_BOOL(10, "exclusiveMaximum"), PB_DOUBLE_ZERO(11, "minimum"), PB_BOOL(12, "exclusiveMinimum"),
	PB_LONG_ZERO(13, "maxLength"), PB_LONG_ZERO(14, "minLength"), PB_TEXT(15, "pattern"), PB_LONG_ZERO(16, "maxItems"),
	PB_LONG_ZERO(17, "minItems"), PB_BOOL(18, "uniqueItems"), PB_DOUBLE_ZERO(19, "multipleOf"), PB_LIST(20, "enum", json),
	PB_LONG_ZERO(21, "maxProperties"), PB_LONG_ZERO(22, "minProperties"), PB_TEXTS(23, "required"),
	PB_OBJECT(24, "items", schema_or_schemas), PB_LIST(25, "allOf", schema), PB_LIST(26, "oneOf", schema),
	PB_LIST(27, "anyOf", schema), PB_OBJECT(28, "not", schema), PB_MAP_OF(29, "properties", schema),
	PB_OBJECT(30, "additionalProperties", schema_or_bool), PB_MAP_OF(31, "patternProperties", schema),
	PB_MAP_OF(32, "dependencies", schema_or_texts), PB_OBJECT(33, "additionalItems", schema_or_bool),
	PB_MAP_OF(34, "definitions", schema), PB_OBJECT(35, "externalDocs", external_documentation),
	PB_OBJECT(36, "example", json), PB_BOOL(37, "nullable"), PB_BOOL_ZERO(38, "x-kubernetes-preserve-unknown-fields"),
	PB_BOOL(39, "x-kubernetes-embedded-resource"), PB_BOOL(40, "x-kubernetes-int-or-string"),
	PB_TEXTS(41, "x-kubernetes-list-map-keys"), PB_TEXT_ZERO(42, "x-kubernetes-list-type"),
	PB_TEXT_ZERO(43, "x-kubernetes-map-type"), PB_LIST(44, "x-kubernetes-validations", validation_rule));

PB_MESSAGE(service_reference,
	PB_TEXT_ZERO(1, "namespace"), PB_TEXT_ZERO(2, "name"), PB_TEXT_ZERO(3, "path"), PB_INT_ZERO(4, "port"));
PB_MESSAGE(webhook_client_config, PB_OBJECT(1, "service", service_reference), PB_BYTES(2, "caBundle"), PB_TEXT_ZERO(3, "url"));
PB_MESSAGE(webhook_conversion, PB_OBJECT(2, "clientConfig", webhook_client_config), PB_TEXTS(3, "conversionReviewVersions"));
PB_MESSAGE(conversion, PB_TEXT_ZERO(1, "strategy"), PB_OBJECT(2, "webhook", webhook_conversion));

PB_MESSAGE(column,
	PB_TEXT_ZERO(1, "name"), PB_TEXT_ZERO(2, "type"), PB_TEXT(3, "format"), PB_TEXT(4, "description"), PB_INT(5, "priority"),
	PB_TEXT_ZERO(6, "jsonPath"));
PB_MESSAGE(scale,
	PB_TEXT_ZERO(1, "specReplicasPath"), PB_TEXT_ZERO(2, "statusReplicasPath"), PB_TEXT_ZERO(3, "labelSelectorPath"));
static const struct protobuf_message proto_empty = { (const struct protobuf_field[]){ { .number = 0 } }, NULL };
PB_MESSAGE(subresources, PB_OBJECT(1, "status", empty), PB_OBJECT(2, "scale", scale));
PB_MESSAGE(validation, PB_OBJECT(1, "openAPIV3Schema", schema));
PB_MESSAGE(selectable_field, PB_TEXT_ZERO(1, "jsonPath"));
PB_MESSAGE(version,
	PB_TEXT_ZERO(1, "name"), PB_BOOL_ZERO(2, "served"), PB_BOOL_ZERO(3, "storage"), PB_OBJECT(4, "schema", validation),
	PB_OBJECT(5, "subresources", subresources), PB_LIST(6, "additionalPrinterColumns", column), PB_BOOL(7, "deprecated"),
	PB_TEXT_ZERO(8, "deprecationWarning"), PB_LIST(9, "selectableFields", selectable_field));
PB_MESSAGE(names,
	PB_TEXT_ZERO(1, "plural"), PB_TEXT(2, "singular"), PB_TEXTS(3, "shortNames"), PB_TEXT_ZERO(4, "kind"),
	PB_TEXT(5, "listKind"), PB_TEXTS(6, "categories"));
PB_MESSAGE(spec,
	PB_TEXT_ZERO(1, "group"), PB_OBJECT(3, "names", names), PB_TEXT_ZERO(4, "scope"), PB_LIST(7, "versions", version),
	PB_OBJECT(9, "conversion", conversion), PB_BOOL(10, "preserveUnknownFields"));
PB_MESSAGE(definition_condition,
	PB_TEXT_ZERO(1, "type"), PB_TEXT_ZERO(2, "status"), PB_OBJECT(3, "lastTransitionTime", time), PB_TEXT(4, "reason"),
	PB_TEXT(5, "message"));
PB_MESSAGE(status,
	PB_LIST(1, "conditions", definition_condition), PB_OBJECT(2, "acceptedNames", names), PB_TEXTS(3, "storedVersions"));
PB_MESSAGE(custom_resource_definition,
	PB_OBJECT(1, "metadata", object_meta), PB_OBJECT(2, "spec", spec), PB_OBJECT(3, "status", status));

const struct type_parts customresourcedefinitions_parts = {
	.description = "A definition of a type of objects, for the tenant that makes it.",
	.fields = definition_fields,
	.merge = plain_merge,
	.columns = of_definitions,
	.message = &proto_custom_resource_definition,
};

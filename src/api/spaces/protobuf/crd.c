// SPDX-License-Identifier: Apache-2.0
// CustomResourceDefinitions.
#include "base/base.h"

#include "api/spaces/protobuf/tables.h"

static MESSAGE_TOLD(json, proto_tell_alone, JSON(1, "raw"));

// Declared here because schemas contain schemas.
static const struct protobuf_message proto_schema;

// *told becomes the value of the one of the two members that is present.
static bool tell_either(struct pool *pool, const struct doc *object, struct doc **told, const char *schema,
	const char *other)
{
	const struct doc *value = NULL;

	if (!doc_get(object, str_c(schema), &value))
		doc_get(object, str_c(other), &value);
	*told = doc_copy(pool, value);
	return true;
}

static bool tell_schema_or_bool(struct pool *pool, const struct doc *object, struct doc **told, const char **why)
{
	UNUSED(why);
	return tell_either(pool, object, told, "schema", "allows");
}

static bool tell_schema_or_list(struct pool *pool, const struct doc *object, struct doc **told, const char **why)
{
	UNUSED(why);
	return tell_either(pool, object, told, "schema", "list");
}
static MESSAGE_TOLD(schema_or_schemas, tell_schema_or_list, OBJECT(1, "schema", schema), LIST(2, "list", schema));
static MESSAGE_TOLD(schema_or_texts, tell_schema_or_list, OBJECT(1, "schema", schema), TEXTS(2, "list"));
static MESSAGE_TOLD(schema_or_bool, tell_schema_or_bool, BOOL_ZERO(1, "allows"), OBJECT(2, "schema", schema));

MESSAGE(external_documentation, TEXT(1, "description"), TEXT(2, "url"));
MESSAGE(validation_rule,
	TEXT_ZERO(1, "rule"), TEXT(2, "message"), TEXT(3, "messageExpression"), TEXT_ZERO(4, "reason"),
	TEXT(5, "fieldPath"), BOOL_ZERO(6, "optionalOldSelf"));
MESSAGE(schema,
	TEXT(1, "id"), TEXT(2, "$schema"), TEXT_ZERO(3, "$ref"), TEXT(4, "description"), TEXT(5, "type"),
	TEXT(6, "format"), TEXT(7, "title"), OBJECT(8, "default", json), DOUBLE_ZERO(9, "maximum"),
	BOOL(10, "exclusiveMaximum"), DOUBLE_ZERO(11, "minimum"), BOOL(12, "exclusiveMinimum"),
	INT_ZERO(13, "maxLength"), INT_ZERO(14, "minLength"), TEXT(15, "pattern"), INT_ZERO(16, "maxItems"),
	INT_ZERO(17, "minItems"), BOOL(18, "uniqueItems"), DOUBLE_ZERO(19, "multipleOf"), LIST(20, "enum", json),
	INT_ZERO(21, "maxProperties"), INT_ZERO(22, "minProperties"), TEXTS(23, "required"),
	OBJECT(24, "items", schema_or_schemas), LIST(25, "allOf", schema), LIST(26, "oneOf", schema),
	LIST(27, "anyOf", schema), OBJECT(28, "not", schema), MAP_OF(29, "properties", schema),
	OBJECT(30, "additionalProperties", schema_or_bool), MAP_OF(31, "patternProperties", schema),
	MAP_OF(32, "dependencies", schema_or_texts), OBJECT(33, "additionalItems", schema_or_bool),
	MAP_OF(34, "definitions", schema), OBJECT(35, "externalDocs", external_documentation),
	OBJECT(36, "example", json), BOOL(37, "nullable"), BOOL_ZERO(38, "x-kubernetes-preserve-unknown-fields"),
	BOOL(39, "x-kubernetes-embedded-resource"), BOOL(40, "x-kubernetes-int-or-string"),
	TEXTS(41, "x-kubernetes-list-map-keys"), TEXT_ZERO(42, "x-kubernetes-list-type"),
	TEXT_ZERO(43, "x-kubernetes-map-type"), LIST(44, "x-kubernetes-validations", validation_rule));

MESSAGE(service_reference,
	TEXT_ZERO(1, "namespace"), TEXT_ZERO(2, "name"), TEXT_ZERO(3, "path"), INT_ZERO(4, "port"));
MESSAGE(webhook_client_config, OBJECT(1, "service", service_reference), BYTES(2, "caBundle"), TEXT_ZERO(3, "url"));
MESSAGE(webhook_conversion,
	OBJECT(2, "clientConfig", webhook_client_config), TEXTS(3, "conversionReviewVersions"));
MESSAGE(conversion, TEXT_ZERO(1, "strategy"), OBJECT(2, "webhook", webhook_conversion));

MESSAGE(column,
	TEXT_ZERO(1, "name"), TEXT_ZERO(2, "type"), TEXT(3, "format"), TEXT(4, "description"), INT(5, "priority"),
	TEXT_ZERO(6, "jsonPath"));
MESSAGE(scale,
	TEXT_ZERO(1, "specReplicasPath"), TEXT_ZERO(2, "statusReplicasPath"), TEXT_ZERO(3, "labelSelectorPath"));
static const struct protobuf_message proto_empty = { (const struct protobuf_field[]){ { .number = 0 } }, NULL };
MESSAGE(subresources, OBJECT(1, "status", empty), OBJECT(2, "scale", scale));
MESSAGE(validation, OBJECT(1, "openAPIV3Schema", schema));
MESSAGE(selectable_field, TEXT_ZERO(1, "jsonPath"));
MESSAGE(version,
	TEXT_ZERO(1, "name"), BOOL_ZERO(2, "served"), BOOL_ZERO(3, "storage"), OBJECT(4, "schema", validation),
	OBJECT(5, "subresources", subresources), LIST(6, "additionalPrinterColumns", column), BOOL(7, "deprecated"),
	TEXT_ZERO(8, "deprecationWarning"), LIST(9, "selectableFields", selectable_field));
MESSAGE(names,
	TEXT_ZERO(1, "plural"), TEXT(2, "singular"), TEXTS(3, "shortNames"), TEXT_ZERO(4, "kind"), TEXT(5, "listKind"),
	TEXTS(6, "categories"));
MESSAGE(spec,
	TEXT_ZERO(1, "group"), OBJECT(3, "names", names), TEXT_ZERO(4, "scope"), LIST(7, "versions", version),
	OBJECT(9, "conversion", conversion), BOOL(10, "preserveUnknownFields"));
MESSAGE(definition_condition,
	TEXT_ZERO(1, "type"), TEXT_ZERO(2, "status"), OBJECT(3, "lastTransitionTime", time), TEXT(4, "reason"),
	TEXT(5, "message"));
MESSAGE(status,
	LIST(1, "conditions", definition_condition), OBJECT(2, "acceptedNames", names), TEXTS(3, "storedVersions"));
SHARED_MESSAGE(custom_resource_definition,
	OBJECT(1, "metadata", object_meta), OBJECT(2, "spec", spec), OBJECT(3, "status", status));

// SPDX-License-Identifier: Apache-2.0
// The same document as JSON, for clients that don't read protobuf: converts the protobuf text by a table of its messages.
#include "base/base.h"

#include "api/spaces/schema/openapi_internal.h"
#include "base/pool.h"

enum message {
	DOCUMENT, INFO, PATHS, PATH, OPERATION, PARAMETERS_ITEM, PARAMETER, NON_BODY, QUERY, DEFINITIONS, SCHEMA, ADDITIONAL,
	TYPES, ITEMS, PROPERTIES
};

// How a field appears in the JSON object of its message.
enum becomes {
	MEMBER_TEXT,    // a member: the text
	MEMBER_TEXTS,   // a member: the list of all texts in fields of this number
	MEMBER_OBJECT,  // a member: the inner message as an object
	MEMBER_OBJECTS, // a member: the list of all inner messages
	SAME_OBJECT,    // the members of the inner message belong to the same object
	NAMED_OBJECT,   // a member with the name in the inner message, whose value is an object
	NAMED_VALUE_OF, // a member with the name in the inner message, whose value is given as YAML
};

static const struct row {
	enum message message;
	unsigned field;
	enum becomes becomes;
	const char *name;
	enum message inside;
} rows[] = {
	{ DOCUMENT, DOCUMENT_SWAGGER, MEMBER_TEXT, "swagger", 0 },
	{ DOCUMENT, DOCUMENT_INFO, MEMBER_OBJECT, "info", INFO },
	{ DOCUMENT, DOCUMENT_PATHS, MEMBER_OBJECT, "paths", PATHS },
	{ DOCUMENT, DOCUMENT_DEFINITIONS, MEMBER_OBJECT, "definitions", DEFINITIONS },
	{ INFO, INFO_TITLE, MEMBER_TEXT, "title", 0 },
	{ INFO, INFO_VERSION, MEMBER_TEXT, "version", 0 },
	{ PATHS, PATHS_PATH, NAMED_OBJECT, NULL, PATH },
	{ PATH, PATH_PATCH, MEMBER_OBJECT, "patch", OPERATION },
	{ OPERATION, OPERATION_PARAMETERS, MEMBER_OBJECTS, "parameters", PARAMETERS_ITEM },
	{ OPERATION, OPERATION_EXTENSION, NAMED_VALUE_OF, NULL, 0 },
	{ PARAMETERS_ITEM, PARAMETERS_PARAMETER, SAME_OBJECT, NULL, PARAMETER },
	{ PARAMETER, PARAMETER_NON_BODY, SAME_OBJECT, NULL, NON_BODY },
	{ NON_BODY, NON_BODY_QUERY, SAME_OBJECT, NULL, QUERY },
	{ QUERY, QUERY_IN, MEMBER_TEXT, "in", 0 },
	{ QUERY, QUERY_NAME, MEMBER_TEXT, "name", 0 },
	{ QUERY, QUERY_TYPE, MEMBER_TEXT, "type", 0 },
	{ DEFINITIONS, DEFINITIONS_SCHEMA, NAMED_OBJECT, NULL, SCHEMA },
	{ SCHEMA, SCHEMA_REF, MEMBER_TEXT, "$ref", 0 },
	{ SCHEMA, SCHEMA_FORMAT, MEMBER_TEXT, "format", 0 },
	{ SCHEMA, SCHEMA_DESCRIPTION, MEMBER_TEXT, "description", 0 },
	{ SCHEMA, SCHEMA_REQUIRED, MEMBER_TEXTS, "required", 0 },
	{ SCHEMA, SCHEMA_ADDITIONAL, MEMBER_OBJECT, "additionalProperties", ADDITIONAL },
	{ SCHEMA, SCHEMA_TYPES, SAME_OBJECT, NULL, TYPES },
	{ SCHEMA, SCHEMA_ITEMS, MEMBER_OBJECT, "items", ITEMS },
	{ SCHEMA, SCHEMA_PROPERTIES, MEMBER_OBJECT, "properties", PROPERTIES },
	{ SCHEMA, SCHEMA_EXTENSION, NAMED_VALUE_OF, NULL, 0 },
	{ ADDITIONAL, ADDITIONAL_SCHEMA, SAME_OBJECT, NULL, SCHEMA },
	{ TYPES, TYPES_VALUE, MEMBER_TEXT, "type", 0 },
	{ ITEMS, ITEMS_SCHEMA, SAME_OBJECT, NULL, SCHEMA },
	{ PROPERTIES, PROPERTIES_PROPERTY, NAMED_OBJECT, NULL, SCHEMA },
};

static const struct row *find_row(enum message message, unsigned field)
{
	for (size_t i = 0; i < COUNT_OF(rows); i++)
		if (rows[i].message == message && rows[i].field == field)
			return &rows[i];
	return NULL;
}

static uint64_t take_varint(struct str *rest)
{
	uint64_t value = 0;

	for (unsigned shift = 0; rest->n > 0 && shift < 64; shift += 7) {
		unsigned char byte = (unsigned char)rest->p[0];
		*rest = str_part(*rest, 1, rest->n);
		value |= (uint64_t)(byte & 0x7f) << shift;
		if (byte < 0x80)
			break;
	}
	return value;
}

// Reads the next field; all fields are texts or messages.
static bool take_field(struct str *rest, unsigned *field, struct str *bytes)
{
	if (rest->n == 0)
		return false;
	*field = (unsigned)(take_varint(rest) >> 3);
	size_t length = (size_t)take_varint(rest);
	*bytes = str_part(*rest, 0, length);
	*rest = str_part(*rest, length < rest->n ? length : rest->n, rest->n);
	return true;
}

static struct str field_of(struct str message, unsigned wanted)
{
	unsigned field;
	struct str bytes;

	while (take_field(&message, &field, &bytes))
		if (field == wanted)
			return bytes;
	return STR("");
}

// YAML that is not JSON is a plain word in this document.
static struct doc *yaml_value(struct pool *pool, struct str text)
{
	const struct doc_limits limits = { .depth = 8 };
	struct doc *value;
	struct str error;

	return doc_parse_json(pool, text, limits, &value, &error) ? value : doc_new_string(pool, text);
}

static void add_fields(struct pool *pool, enum message message, struct str bytes, struct doc *object);

static struct doc *message_as_json(struct pool *pool, enum message message, struct str bytes)
{
	struct doc *object = doc_new_object(pool);

	add_fields(pool, message, bytes, object);
	return object;
}

// Converts all fields of that number in the message to one list.
static void add_list(struct pool *pool, const struct row *row, struct str message, struct doc *object)
{
	struct doc *list = doc_new_array(pool);
	const struct doc *added_before;
	unsigned field;
	struct str bytes;

	if (doc_get(object, str_c(row->name), &added_before))
		return;
	while (take_field(&message, &field, &bytes))
		if (field == row->field)
			doc_push(list,
				row->becomes == MEMBER_TEXTS ? doc_new_string(pool, bytes) : message_as_json(pool, row->inside, bytes));
	doc_set(object, str_c(row->name), list);
}

static void add_field(struct pool *pool, const struct row *row, struct str message, struct str bytes, struct doc *object)
{
	switch (row->becomes) {
	case MEMBER_TEXT:
		doc_set_str(pool, object, row->name, bytes);
		break;
	case MEMBER_OBJECT:
		doc_set(object, str_c(row->name), message_as_json(pool, row->inside, bytes));
		break;
	case MEMBER_TEXTS:
	case MEMBER_OBJECTS:
		add_list(pool, row, message, object);
		break;
	case SAME_OBJECT:
		add_fields(pool, row->inside, bytes, object);
		break;
	case NAMED_OBJECT:
		doc_set(object, field_of(bytes, NAMED_NAME), message_as_json(pool, row->inside, field_of(bytes, NAMED_VALUE)));
		break;
	case NAMED_VALUE_OF:
		doc_set(object, field_of(bytes, NAMED_NAME),
			yaml_value(pool, field_of(field_of(bytes, NAMED_VALUE), ANY_YAML)));
		break;
	}
}

static void add_fields(struct pool *pool, enum message message, struct str bytes, struct doc *object)
{
	unsigned field;
	struct str value, rest = bytes;

	while (take_field(&rest, &field, &value)) {
		const struct row *row = find_row(message, field);
		if (row != NULL)
			add_field(pool, row, bytes, value, object);
	}
	if (message != OPERATION)
		return;
	// Parsers of the JSON form require "responses".
	struct doc *responses = doc_new_object(pool), *ok = doc_new_object(pool);
	doc_set_str(pool, ok, "description", STR("OK"));
	doc_set(responses, STR("200"), ok);
	doc_set(object, STR("responses"), responses);
}

struct doc *openapi_json(struct pool *pool, struct str protobuf)
{
	return message_as_json(pool, DOCUMENT, protobuf);
}

// SPDX-License-Identifier: Apache-2.0
// For openapi*.c only: writing protobuf, and the members of built-in types.
#ifndef TENURE_API_SPACES_SCHEMA_OPENAPI_INTERNAL_H
#define TENURE_API_SPACES_SCHEMA_OPENAPI_INTERNAL_H

#include "api/spaces/schema/openapi.h"
#include "base/buf.h"
#include "types/common/fields.h"

// ---- protobuf: the fields of a message are appended one after the other

// Appends a field that is a text.
void openapi_proto_text(struct buf *out, unsigned field, struct str text);
// Begins a field that is a message: its own fields are appended next. Returns what openapi_proto_end() needs.
size_t openapi_proto_begin(struct buf *out, unsigned field);
// Ends the message.
void openapi_proto_end(struct buf *out, size_t begin);

// Numbers of fields in gnostic's OpenAPIv2.proto.
enum {
	DOCUMENT_SWAGGER = 1, DOCUMENT_INFO = 2, DOCUMENT_PATHS = 8, DOCUMENT_DEFINITIONS = 9,
	INFO_TITLE = 1, INFO_VERSION = 2,
	PATHS_PATH = 2, NAMED_NAME = 1, NAMED_VALUE = 2,
	PATH_PATCH = 8, OPERATION_PARAMETERS = 8, OPERATION_EXTENSION = 13,
	PARAMETERS_PARAMETER = 1, PARAMETER_NON_BODY = 2, NON_BODY_QUERY = 3, QUERY_IN = 2, QUERY_NAME = 4, QUERY_TYPE = 6,
	DEFINITIONS_SCHEMA = 1,
	SCHEMA_REF = 1, SCHEMA_FORMAT = 2, SCHEMA_DESCRIPTION = 4, SCHEMA_REQUIRED = 19, SCHEMA_ADDITIONAL = 21,
	SCHEMA_TYPES = 22, SCHEMA_ITEMS = 23, SCHEMA_PROPERTIES = 25, SCHEMA_EXTENSION = 31,
	ADDITIONAL_SCHEMA = 1, TYPES_VALUE = 1, ITEMS_SCHEMA = 1, PROPERTIES_PROPERTY = 1, ANY_YAML = 2,
};

// Appends the type of a schema: "object".
void schema_type(struct buf *out, const char *type);
// Appends an extension, in that field of a schema or an operation. value: JSON, which is also YAML.
void schema_extension(struct buf *out, unsigned field, const char *name, struct str value);
// Begins and ends a property of a schema; its own schema is appended in between.
struct property_mark {
	size_t property, schema;
};
struct property_mark property_begin(struct buf *out, struct str name);
void property_end(struct buf *out, struct property_mark mark);
// Appends the properties apiVersion, kind and metadata, which the root of every object has.
void schema_add_meta_properties(struct buf *out);

// ---- openapi_fields.c

// Appends the properties of an object and the list of required ones. rules: how patches merge its lists; NULL: they replace them.
// root: the object is a whole one, with apiVersion, kind and metadata.
void schema_add_fields(struct buf *out, const struct type_field *fields, const struct merge_rule *rules, bool root);

#endif

// SPDX-License-Identifier: Apache-2.0
// Writes the document: a definition of each type with a schema, and the path of each type's objects with what clients look for
// there.
#include "base/base.h"

#include "api/spaces/schema/openapi_internal.h"
#include "base/pool.h"
#include "repr/json/member.h"
#include "types/types.h"

#define OBJECT_META "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta"

// ---- protobuf

enum { VARINT_MAX = 10 };

static size_t put_varint(char bytes[VARINT_MAX], uint64_t value)
{
	size_t n = 0;

	for (; value >= 0x80; value >>= 7)
		bytes[n++] = (char)(value | 0x80);
	bytes[n++] = (char)value;
	return n;
}

static void add_varint(struct buf *out, uint64_t value)
{
	char bytes[VARINT_MAX];

	buf_add(out, str_n(bytes, put_varint(bytes, value)));
}

static void add_tag(struct buf *out, unsigned field, unsigned wire)
{
	add_varint(out, (uint64_t)field << 3 | wire);
}

void openapi_proto_text(struct buf *out, unsigned field, struct str text)
{
	add_tag(out, field, WIRE_BYTES);
	add_varint(out, text.n);
	buf_add(out, text);
}

size_t openapi_proto_begin(struct buf *out, unsigned field)
{
	add_tag(out, field, WIRE_BYTES);
	return out->n;
}

// The length of a message stands before it, and is known only at its end: moves the message to make room for it.
void openapi_proto_end(struct buf *out, size_t begin)
{
	char bytes[VARINT_MAX];
	size_t length = out->n - begin, n = put_varint(bytes, length);

	buf_add(out, str_n(bytes, n));
	memmove(out->p + begin + n, out->p + begin, length);
	memcpy(out->p + begin, bytes, n);
}

// ---- parts of schemas

void schema_type(struct buf *out, const char *type)
{
	size_t types = openapi_proto_begin(out, SCHEMA_TYPES);

	openapi_proto_text(out, TYPES_VALUE, str_c(type));
	openapi_proto_end(out, types);
}

void schema_extension(struct buf *out, unsigned field, const char *name, struct str value)
{
	size_t named = openapi_proto_begin(out, field), any;

	openapi_proto_text(out, NAMED_NAME, str_c(name));
	any = openapi_proto_begin(out, NAMED_VALUE);
	openapi_proto_text(out, ANY_YAML, value);
	openapi_proto_end(out, any);
	openapi_proto_end(out, named);
}

struct property_mark property_begin(struct buf *out, struct str name)
{
	struct property_mark mark = { .property = openapi_proto_begin(out, PROPERTIES_PROPERTY) };

	openapi_proto_text(out, NAMED_NAME, name);
	mark.schema = openapi_proto_begin(out, NAMED_VALUE);
	return mark;
}

void property_end(struct buf *out, struct property_mark mark)
{
	openapi_proto_end(out, mark.schema);
	openapi_proto_end(out, mark.property);
}

void schema_add_meta_properties(struct buf *out)
{
	static const struct { const char *name, *description; } texts[] = {
		{ "apiVersion", "The group and version of the API in which this object is written." },
		{ "kind", "The kind of this object." },
	};
	struct property_mark mark;

	for (size_t i = 0; i < COUNT_OF(texts); i++) {
		mark = property_begin(out, str_c(texts[i].name));
		openapi_proto_text(out, SCHEMA_DESCRIPTION, str_c(texts[i].description));
		schema_type(out, "string");
		property_end(out, mark);
	}
	mark = property_begin(out, STR("metadata"));
	openapi_proto_text(out, SCHEMA_REF, STR("#/definitions/" OBJECT_META));
	openapi_proto_text(out, SCHEMA_DESCRIPTION, STR("Its name, labels, annotations, and what the server keeps of it."));
	property_end(out, mark);
}

// ---- schemas of CustomResourceDefinitions

static void add_schema(struct buf *out, const struct doc *schema, bool root);

static bool is_meta(struct str name)
{
	return str_eq(name, STR("apiVersion")) || str_eq(name, STR("kind")) || str_eq(name, STR("metadata"));
}

static void add_properties(struct buf *out, const struct doc *properties, bool whole)
{
	size_t all = openapi_proto_begin(out, SCHEMA_PROPERTIES);

	if (whole)
		schema_add_meta_properties(out);
	for (struct doc_iter it = doc_iter(properties); doc_next(&it);) {
		if (whole && is_meta(it.name))
			continue;
		struct property_mark mark = property_begin(out, it.name);
		add_schema(out, it.value, false);
		property_end(out, mark);
	}
	openapi_proto_end(out, all);
}

static void add_required(struct buf *out, const struct doc *schema)
{
	const struct doc *required = doc_member(schema, "required");

	for (size_t i = 0; i < doc_length(required); i++) {
		if (doc_kind(doc_at(required, i)) == DOC_STRING)
			openapi_proto_text(out, SCHEMA_REQUIRED, doc_string(doc_at(required, i)));
	}
}

// whole: the schema is that of an object with apiVersion, kind and metadata. If unknown members are kept, the object's members
// are not described, because clients take members that are not described for errors.
static void add_object_schema(struct buf *out, const struct doc *schema, bool whole)
{
	const struct doc *properties = doc_member(schema, "properties"), *additional = doc_member(schema, "additionalProperties");
	size_t begin;

	schema_type(out, "object");
	if (doc_member_is_true(schema, "x-kubernetes-preserve-unknown-fields"))
		return;
	add_required(out, schema);
	if (whole || doc_length(properties) > 0) {
		add_properties(out, properties, whole);
	} else if (doc_kind(additional) == DOC_OBJECT) {
		begin = openapi_proto_begin(out, SCHEMA_ADDITIONAL);
		size_t inner = openapi_proto_begin(out, ADDITIONAL_SCHEMA);
		add_schema(out, additional, false);
		openapi_proto_end(out, inner);
		openapi_proto_end(out, begin);
	}
}

// Clients require exactly one schema of items; an empty one allows any value.
static void add_list_schema(struct buf *out, const struct doc *schema)
{
	size_t items, item;

	schema_type(out, "array");
	items = openapi_proto_begin(out, SCHEMA_ITEMS);
	item = openapi_proto_begin(out, ITEMS_SCHEMA);
	if (!doc_member_is_true(schema, "x-kubernetes-preserve-unknown-fields"))
		add_schema(out, doc_member(schema, "items"), false);
	openapi_proto_end(out, item);
	openapi_proto_end(out, items);
}

// A schema without a type that clients know allows any value.
static void add_schema(struct buf *out, const struct doc *schema, bool root)
{
	static const char *const scalars[] = { "string", "integer", "number", "boolean" };
	struct str type = doc_string(doc_member(schema, "type")), description = doc_string(doc_member(schema, "description"));
	struct str format = doc_string(doc_member(schema, "format"));

	if (description.n > 0)
		openapi_proto_text(out, SCHEMA_DESCRIPTION, description);
	if (doc_member_is_true(schema, "x-kubernetes-int-or-string")) {
		openapi_proto_text(out, SCHEMA_FORMAT, STR("int-or-string"));
		schema_type(out, "string"); // clients also accept numbers for this type
		return;
	}
	if (root || str_eq(type, STR("object")))
		add_object_schema(out, schema, root || doc_member_is_true(schema, "x-kubernetes-embedded-resource"));
	if (str_eq(type, STR("array")))
		add_list_schema(out, schema);
	for (size_t i = 0; i < COUNT_OF(scalars); i++) {
		if (!root && str_eq_c(type, scalars[i])) {
			if (format.n > 0)
				openapi_proto_text(out, SCHEMA_FORMAT, format);
			schema_type(out, scalars[i]);
		}
	}
}

// ---- definitions

// Writes {"group":"…","kind":"…","version":"…"}.
static struct str type_text(struct pool *pool, const struct openapi_type *type, bool in_list)
{
	struct buf text = buf_new(pool, 128);

	buf_add(&text, in_list ? STR("[{\"group\":") : STR("{\"group\":"));
	json_add_string(&text, type->group);
	BUF_LIT(&text, ",\"kind\":");
	json_add_string(&text, type->kind);
	BUF_LIT(&text, ",\"version\":");
	json_add_string(&text, type->version);
	buf_add(&text, in_list ? STR("}]") : STR("}"));
	return buf_str(&text);
}

// The name of a definition, "com.example.v1.Widget".
static struct str definition_name(struct pool *pool, const struct openapi_type *type)
{
	struct buf name = buf_new(pool, 64);
	size_t end = type->group.n;

	if (type->builtin)
		return str_printf(pool, "io.k8s.api.%.*s.%.*s.%.*s", STR_ARG(type->group.n > 0 ? type->group : STR("core")),
			STR_ARG(type->version), STR_ARG(type->kind));
	for (size_t i = type->group.n; i-- > 0;) {
		if (type->group.p[i] != '.' && i > 0)
			continue;
		size_t begin = type->group.p[i] == '.' ? i + 1 : i;
		struct str label = str_part(type->group, begin, end);
		buf_addf(&name, "%.*s.", STR_ARG(label));
		end = i;
	}
	buf_addf(&name, "%.*s.%.*s", STR_ARG(type->version), STR_ARG(type->kind));
	return buf_str(&name);
}

static void add_definition(struct pool *pool, const struct openapi_type *type, struct buf *out)
{
	const struct type_parts *parts = type->builtin && type->schema == NULL
		? type_parts_by_kind(type->group, type->kind) : &no_parts;
	size_t named, schema;

	if (type->schema == NULL && parts->description == NULL)
		return;
	named = openapi_proto_begin(out, DEFINITIONS_SCHEMA);
	openapi_proto_text(out, NAMED_NAME, definition_name(pool, type));
	schema = openapi_proto_begin(out, NAMED_VALUE);
	if (parts->description != NULL) {
		openapi_proto_text(out, SCHEMA_DESCRIPTION, str_c(parts->description));
		schema_type(out, "object");
		schema_add_fields(out, parts->fields, parts->merge, true);
	} else {
		add_schema(out, type->schema, true);
	}
	schema_extension(out, SCHEMA_EXTENSION, "x-kubernetes-group-version-kind", type_text(pool, type, true));
	openapi_proto_end(out, schema);
	openapi_proto_end(out, named);
}

static void add_object_meta(struct buf *out)
{
	size_t named = openapi_proto_begin(out, DEFINITIONS_SCHEMA), schema;

	openapi_proto_text(out, NAMED_NAME, STR(OBJECT_META));
	schema = openapi_proto_begin(out, NAMED_VALUE);
	openapi_proto_text(out, SCHEMA_DESCRIPTION, STR("What all objects have."));
	schema_type(out, "object");
	schema_add_fields(out, metadata_fields, metadata_merge, false);
	openapi_proto_end(out, schema);
	openapi_proto_end(out, named);
}

// ---- paths

static struct str path_of(struct pool *pool, const struct openapi_type *type)
{
	struct buf path = buf_new(pool, 128);

	if (type->group.n == 0)
		buf_addf(&path, "/api/%.*s/", STR_ARG(type->version));
	else
		buf_addf(&path, "/apis/%.*s/%.*s/", STR_ARG(type->group), STR_ARG(type->version));
	if (type->namespaced)
		BUF_LIT(&path, "namespaces/{namespace}/");
	buf_addf(&path, "%.*s/{name}", STR_ARG(type->plural));
	return buf_str(&path);
}

static void add_parameter(struct buf *out, const char *name)
{
	size_t item = openapi_proto_begin(out, OPERATION_PARAMETERS), parameter = openapi_proto_begin(out, PARAMETERS_PARAMETER);
	size_t non_body = openapi_proto_begin(out, PARAMETER_NON_BODY), query = openapi_proto_begin(out, NON_BODY_QUERY);

	openapi_proto_text(out, QUERY_IN, STR("query"));
	openapi_proto_text(out, QUERY_NAME, str_c(name));
	openapi_proto_text(out, QUERY_TYPE, STR("string"));
	openapi_proto_end(out, query);
	openapi_proto_end(out, non_body);
	openapi_proto_end(out, parameter);
	openapi_proto_end(out, item);
}

// kubectl takes the parameters of a type's PATCH for those of all its writes. Without fieldValidation it would validate objects
// itself, by the schemas in this document, and never show what the server says.
static void add_path(struct pool *pool, const struct openapi_type *type, struct buf *out)
{
	static const char *const parameters[] = { "dryRun", "fieldValidation" };
	size_t named, path, operation;

	if (!type->has_path)
		return;
	named = openapi_proto_begin(out, PATHS_PATH);
	openapi_proto_text(out, NAMED_NAME, path_of(pool, type));
	path = openapi_proto_begin(out, NAMED_VALUE);
	operation = openapi_proto_begin(out, PATH_PATCH);
	for (size_t i = 0; i < COUNT_OF(parameters); i++)
		add_parameter(out, parameters[i]);
	schema_extension(out, OPERATION_EXTENSION, "x-kubernetes-group-version-kind", type_text(pool, type, false));
	openapi_proto_end(out, operation);
	openapi_proto_end(out, path);
	openapi_proto_end(out, named);
}

void openapi_add(struct pool *pool, const struct openapi_type *types, size_t n, struct buf *out)
{
	size_t part;

	openapi_proto_text(out, DOCUMENT_SWAGGER, STR("2.0"));
	part = openapi_proto_begin(out, DOCUMENT_INFO);
	openapi_proto_text(out, INFO_TITLE, STR("Tenure"));
	openapi_proto_text(out, INFO_VERSION, STR(TENURE_VERSION));
	openapi_proto_end(out, part);
	part = openapi_proto_begin(out, DOCUMENT_PATHS);
	for (size_t i = 0; i < n; i++)
		add_path(pool, &types[i], out);
	openapi_proto_end(out, part);
	part = openapi_proto_begin(out, DOCUMENT_DEFINITIONS);
	add_object_meta(out);
	for (size_t i = 0; i < n; i++)
		add_definition(pool, &types[i], out);
	openapi_proto_end(out, part);
}

// SPDX-License-Identifier: Apache-2.0
// The OpenAPI document: well-formed protobuf with what kubectl looks for, read here by a small reader of its own.
#include "base/base.h"

#include "api/spaces/schema/openapi.h"
#include "base/buf.h"
#include "base/pool.h"
#include "tap.h"

struct field {
	unsigned number;
	struct str bytes;
};

static bool read_varint(struct str *rest, uint64_t *value)
{
	*value = 0;
	for (unsigned shift = 0; rest->n > 0 && shift < 64; shift += 7) {
		unsigned char byte = (unsigned char)rest->p[0];
		*rest = str_part(*rest, 1, rest->n);
		*value |= (uint64_t)(byte & 0x7f) << shift;
		if (byte < 0x80)
			return true;
	}
	return false;
}

// The next field of a message; all of them here are texts or messages.
static bool next_field(struct str *rest, struct field *field)
{
	uint64_t tag, length;

	if (rest->n == 0 || !read_varint(rest, &tag) || (tag & 7) != 2 || !read_varint(rest, &length) || length > rest->n)
		return false;
	*field = (struct field){ (unsigned)(tag >> 3), str_part(*rest, 0, length) };
	*rest = str_part(*rest, length, rest->n);
	return true;
}

// The n-th such field; p NULL when there is none.
static struct str get(struct str message, unsigned number, size_t n)
{
	struct field field;

	while (next_field(&message, &field)) {
		if (field.number == number && n-- == 0)
			return field.bytes;
	}
	return STR_NONE;
}

// The value of a {name=1, value=2} with that name among a message's fields of that number.
static struct str named(struct str message, unsigned number, const char *name)
{
	struct str pair;

	for (size_t i = 0; (pair = get(message, number, i)).p != NULL; i++) {
		if (str_eq_c(get(pair, 1, 0), name))
			return get(pair, 2, 0);
	}
	return STR_NONE;
}

enum { PATHS = 8, DEFINITIONS = 9, TYPES = 22, ITEMS = 23, PROPERTIES = 25, EXTENSION = 31, REQUIRED = 19, FORMAT = 2 };

static struct str property(struct str schema, const char *name)
{
	return named(get(schema, PROPERTIES, 0), 1, name);
}

static struct str type_of(struct str schema)
{
	return get(get(schema, TYPES, 0), 1, 0);
}

static struct str extension(struct str schema, unsigned number, const char *name)
{
	return get(named(schema, number, name), 2, 0);
}

static const char widget[] =
	"{\"type\":\"object\",\"description\":\"a widget\",\"required\":[\"spec\"],\"properties\":{\"kind\":{\"type\":\"string\"},"
	"\"spec\":{\"type\":\"object\",\"required\":[\"size\"],\"properties\":{\"size\":{\"type\":\"integer\",\"format\":\"int32\","
	"\"description\":\"how large\"},\"port\":{\"x-kubernetes-int-or-string\":true},\"tags\":{\"type\":\"array\",\"items\":"
	"{\"type\":\"string\"}},\"bare\":{\"type\":\"array\"},\"map\":{\"type\":\"object\",\"additionalProperties\":{\"type\":"
	"\"number\"}},\"any\":{\"type\":\"object\",\"x-kubernetes-preserve-unknown-fields\":true,\"properties\":{\"x\":{\"type\":"
	"\"string\"}}},\"free\":{\"x-kubernetes-preserve-unknown-fields\":true}}}}}";

static void test_custom(struct str document)
{
	struct str schema = named(get(document, DEFINITIONS, 0), 1, "com.example.apps.v1.Widget"), spec = property(schema, "spec");
	struct str size = property(spec, "size"), tags = property(spec, "tags"), map = property(spec, "map");

	ok(schema.p != NULL, "a definition by the group turned round");
	is_str(get(schema, 4, 0), "a widget", "its description");
	is_str(extension(schema, EXTENSION, "x-kubernetes-group-version-kind"),
		"[{\"group\":\"apps.example.com\",\"kind\":\"Widget\",\"version\":\"v1\"}]", "its kind");
	is_str(get(property(schema, "metadata"), 1, 0), "#/definitions/io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta", "metadata");
	is_str(type_of(property(schema, "apiVersion")), "string", "apiVersion");
	is_str(get(schema, REQUIRED, 0), "spec", "what is required");
	is_str(type_of(size), "integer", "an integer");
	is_str(get(size, FORMAT, 0), "int32", "its format");
	is_str(get(size, 4, 0), "how large", "its description");
	is_str(type_of(property(spec, "port")), "string", "an int or string");
	is_str(type_of(get(get(tags, ITEMS, 0), 1, 0)), "string", "items");
	ok(get(get(property(spec, "bare"), ITEMS, 0), 1, 0).p != NULL, "items of any form");
	is_str(type_of(get(get(map, 21, 0), 1, 0)), "number", "values of a map");
	ok(get(property(spec, "any"), PROPERTIES, 0).p == NULL, "what keeps unknown members isn't described further");
	ok(property(spec, "free").p != NULL && type_of(property(spec, "free")).p == NULL, "anything");
}

static void test_builtin(struct str document)
{
	struct str definitions = get(document, DEFINITIONS, 0), pod = named(definitions, 1, "io.k8s.api.core.v1.Pod");
	struct str containers = property(property(pod, "spec"), "containers");
	struct str container = get(get(containers, ITEMS, 0), 1, 0);
	struct str meta = named(definitions, 1, "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta");

	is_str(extension(containers, EXTENSION, "x-kubernetes-patch-merge-key"), "name", "containers merge by name");
	is_str(extension(containers, EXTENSION, "x-kubernetes-patch-strategy"), "merge", "and do merge");
	is_str(extension(property(container, "ports"), EXTENSION, "x-kubernetes-patch-merge-key"), "containerPort", "ports inside");
	ok(extension(property(container, "args"), EXTENSION, "x-kubernetes-patch-strategy").p == NULL, "arguments don't");
	// kubectl falls when it makes a patch of what is nested deeper than two levels without being described.
	ok(type_of(property(property(property(property(pod, "spec"), "affinity"), "nodeAffinity"),
		"preferredDuringSchedulingIgnoredDuringExecution")).p != NULL && property(property(container, "lifecycle"), "preStop").p != NULL,
		"what is deep is described");
	is_str(extension(property(meta, "finalizers"), EXTENSION, "x-kubernetes-patch-strategy"), "merge", "finalizers do");
	ok(property(meta, "tenant").p != NULL && property(meta, "selfLink").p != NULL, "metadata as they are here");
	ok(property(named(definitions, 1, "io.k8s.api.core.v1.ConfigMap"), "data").p != NULL, "config maps");
	ok(property(named(definitions, 1, "io.k8s.api.core.v1.Event"), "reason").p != NULL, "events");
	ok(named(definitions, 1, "com.example.v1.Plain").p == NULL, "nothing of what is not described");
}

static void test_paths(struct str document)
{
	struct str paths = get(document, PATHS, 0);
	struct str item = named(paths, 2, "/apis/apps.example.com/v1/namespaces/{namespace}/widgets/{name}"), patch = get(item, 8, 0);
	static const char *const parameters[] = { "dryRun", "fieldValidation" };

	for (size_t i = 0; i < COUNT_OF(parameters); i++) {
		struct str query = get(get(get(get(patch, 8, i), 1, 0), 2, 0), 3, 0);
		is_str(get(query, 4, 0), parameters[i], "a parameter");
		is_str(get(query, 2, 0), "query", "in the query");
	}
	ok(get(patch, 8, COUNT_OF(parameters)).p == NULL, "and no other");
	is_str(extension(patch, 13, "x-kubernetes-group-version-kind"),
		"{\"group\":\"apps.example.com\",\"kind\":\"Widget\",\"version\":\"v1\"}", "of which kind");
	ok(named(paths, 2, "/api/v1/pods/{name}").p == NULL && named(paths, 2, "/api/v1/namespaces/{namespace}/pods/{name}").p != NULL,
		"in a namespace");
	ok(named(paths, 2, "/api/v1/namespaces/{namespace}/events/{name}").p == NULL, "none where none can be");
}

// Every byte belongs to a field, as deep as messages go by the numbers of a schema's fields.
static bool is_well_formed(struct str schema)
{
	struct field field;
	size_t n = 0;

	while (next_field(&schema, &field)) {
		n++;
		if (field.number == PROPERTIES || field.number == ITEMS) {
			struct str rest = field.bytes;
			struct field inner;
			while (next_field(&rest, &inner)) {
				if (!is_well_formed(field.number == ITEMS ? inner.bytes : get(inner.bytes, 2, 0)))
					return false;
			}
			if (rest.n > 0)
				return false;
		}
	}
	return schema.n == 0 && n < 1000;
}

int main(void)
{
	struct pool *pool = pool_new();
	struct doc *schema;
	struct str error;
	struct buf out = buf_new(pool, 0);

	if (!doc_parse_json(pool, str_c(widget), (struct doc_limits){ 64, 0 }, &schema, &error))
		bail_out("test document is no JSON");
	const struct openapi_type types[] = {
		{ STR(""), STR("v1"), STR("ConfigMap"), STR("configmaps"), true, true, true, NULL },
		{ STR(""), STR("v1"), STR("Pod"), STR("pods"), true, true, true, NULL },
		{ STR(""), STR("v1"), STR("Event"), STR("events"), true, false, true, NULL },
		{ STR("apiextensions.k8s.io"), STR("v1"), STR("CustomResourceDefinition"), STR("customresourcedefinitions"), false, true,
			true, NULL },
		{ STR("apps.example.com"), STR("v1"), STR("Widget"), STR("widgets"), true, true, false, schema },
		{ STR("example.com"), STR("v1"), STR("Plain"), STR("plains"), true, true, false, NULL },
	};
	openapi_add(pool, types, COUNT_OF(types), &out);
	is_str(get(buf_str(&out), 1, 0), "2.0", "swagger");
	test_custom(buf_str(&out));
	test_builtin(buf_str(&out));
	test_paths(buf_str(&out));
	struct str definitions = get(buf_str(&out), DEFINITIONS, 0), pair;
	size_t n = 0;
	for (; (pair = get(definitions, 1, n)).p != NULL; n++) {
		struct str text = get(pair, 1, 0);
		ok(is_well_formed(get(pair, 2, 0)), "%.*s is well-formed", STR_ARG(text));
	}
	is_int((long long)n, 6, "definitions");
	pool_free(&pool);
	return done_testing();
}

// SPDX-License-Identifier: Apache-2.0
// CustomResourceDefinitions between apiextensions.k8s.io/v1beta1 and v1, the form they are stored in: what v1beta1 may say
// once for all versions, v1 says for each.
#include "base/base.h"

#include "registry/type/definition.h"
#include "repr/json/doc.h"
#include "repr/json/member.h"

static bool is_object(const struct doc *value)
{
	return doc_kind(value) == DOC_OBJECT;
}

// Copies the columns, with the member from renamed to to.
static struct doc *renamed_columns(struct pool *pool, const struct doc *columns, const char *from, const char *to)
{
	struct doc *list = doc_new_array(pool);

	if (doc_kind(columns) != DOC_ARRAY)
		return doc_copy(pool, columns);
	for (size_t i = 0; i < doc_length(columns); i++) {
		const struct doc *column = doc_at(columns, i), *path;
		struct doc *copy = doc_copy(pool, column);
		if (doc_get(column, str_c(from), &path)) {
			doc_set(copy, str_c(to), doc_copy(pool, path));
			doc_remove(copy, str_c(from));
		}
		doc_push(list, copy);
	}
	return list;
}

// A v1 version: copies from the top of the v1beta1 spec what the version does not have itself.
static struct doc *full_version(struct pool *pool, const struct doc *spec, const struct doc *version)
{
	struct doc *full = doc_copy(pool, version);
	const struct doc *validation = doc_member(spec, "validation"), *columns = doc_member(version, "additionalPrinterColumns");

	if (!is_object(version))
		return full;
	if (doc_member(version, "schema") == NULL && is_object(validation))
		doc_set(full, STR("schema"), doc_copy(pool, validation));
	if (doc_member(version, "subresources") == NULL && is_object(doc_member(spec, "subresources")))
		doc_set(full, STR("subresources"), doc_copy(pool, doc_member(spec, "subresources")));
	if (columns == NULL)
		columns = doc_member(spec, "additionalPrinterColumns");
	if (columns != NULL)
		doc_set(full, STR("additionalPrinterColumns"), renamed_columns(pool, columns, "JSONPath", "jsonPath"));
	return full;
}

static struct doc *full_versions(struct pool *pool, const struct doc *spec)
{
	const struct doc *versions = doc_member(spec, "versions"), *name = doc_member(spec, "version");
	struct doc *list = doc_new_array(pool);

	for (size_t i = 0; i < doc_elements(versions); i++)
		doc_push(list, full_version(pool, spec, doc_at(versions, i)));
	if (doc_length(list) == 0 && doc_kind(name) == DOC_STRING) {
		struct doc *only = doc_new_object(pool);
		doc_set_str(pool, only, "name", doc_string(name));
		doc_set(only, STR("served"), doc_new_bool(pool, true));
		doc_set(only, STR("storage"), doc_new_bool(pool, true));
		doc_push(list, full_version(pool, spec, only));
	}
	return list;
}

struct doc *definition_from_v1beta1(struct pool *pool, const struct doc *document)
{
	static const char *const gone[] = { "version", "validation", "subresources", "additionalPrinterColumns" };
	struct doc *copy = doc_copy(pool, document);
	const struct doc *spec = doc_member(document, "spec");

	if (!is_object(spec))
		return copy;
	struct doc *full = doc_copy(pool, spec);
	doc_set(full, STR("versions"), full_versions(pool, spec));
	for (size_t i = 0; i < COUNT_OF(gone); i++)
		doc_remove(full, str_c(gone[i]));
	if (doc_member(spec, "preserveUnknownFields") == NULL)
		doc_set(full, STR("preserveUnknownFields"), doc_new_bool(pool, true));
	if (doc_member(spec, "scope") == NULL)
		doc_set_str(pool, full, "scope", STR("Namespaced"));
	doc_set(copy, STR("spec"), full);
	return copy;
}

// ---- and back

// The member of that name if it is equal in all versions; NULL: they differ, or have none.
static const struct doc *alike(const struct doc *versions, const char *name)
{
	const struct doc *first = doc_member(doc_at(versions, 0), name);

	for (size_t i = 1; i < doc_length(versions); i++) {
		const struct doc *other = doc_member(doc_at(versions, i), name);
		if (!doc_equal(first, other))
			return NULL;
	}
	return first;
}

struct doc *definition_to_v1beta1(struct pool *pool, const struct doc *document)
{
	static const char *const in_version[] = { "schema", "subresources", "additionalPrinterColumns" };
	static const char *const at_top[] = { "validation", "subresources", "additionalPrinterColumns" };
	struct doc *copy = doc_copy(pool, document), *list = doc_new_array(pool);
	const struct doc *spec = doc_member(document, "spec"), *versions = doc_member(spec, "versions"), *same[COUNT_OF(at_top)];

	if (doc_elements(versions) == 0)
		return copy;
	struct doc *brief = doc_copy(pool, spec);
	doc_set(brief, STR("version"), doc_copy(pool, doc_member(doc_at(versions, 0), "name")));
	for (size_t i = 0; i < COUNT_OF(at_top); i++) {
		same[i] = alike(versions, in_version[i]);
		if (same[i] != NULL)
			doc_set(brief, str_c(at_top[i]), renamed_columns(pool, same[i], "jsonPath", "JSONPath"));
	}
	for (size_t i = 0; i < doc_length(versions); i++) {
		struct doc *version = doc_copy(pool, doc_at(versions, i));
		const struct doc *columns = doc_member(version, in_version[2]);
		if (columns != NULL)
			doc_set(version, str_c(in_version[2]), renamed_columns(pool, columns, "jsonPath", "JSONPath"));
		for (size_t k = 0; is_object(version) && k < COUNT_OF(at_top); k++) {
			if (same[k] != NULL)
				doc_remove(version, str_c(in_version[k]));
		}
		doc_push(list, version);
	}
	doc_set(brief, STR("versions"), list);
	if (doc_member(spec, "preserveUnknownFields") == NULL)
		doc_set(brief, STR("preserveUnknownFields"), doc_new_bool(pool, false));
	doc_set(copy, STR("spec"), brief);
	return copy;
}

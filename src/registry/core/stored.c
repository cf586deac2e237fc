// SPDX-License-Identifier: Apache-2.0
#include "base/base.h"

#include "registry/core/stored.h"

#include "base/budget.h"
#include "base/buf.h"
#include "base/log.h"
#include "base/pool.h"
#include "repr/json/doc.h"

struct stored_place resource_place(const struct resource *resource, const char *column)
{
	return (struct stored_place){ .table = "resources", .column = column, .id = resource->id, .uid = resource->uid };
}

struct stored_place tenant_place(const struct tenant *tenant, const char *column)
{
	return (struct stored_place){ .table = "tenants", .column = column, .id = tenant->id, .uid = tenant->uid };
}

void stored_is_broken(struct pool *pool, struct stored_place place, struct str why)
{
	struct buf row = buf_new(pool, 128);

	assert(place.table != NULL);
	buf_addf(&row, "table %s, ", place.table);
	if (place.id != 0)
		buf_addf(&row, "id %llu, ", (unsigned long long)place.id);
	if (!uuid_is_zero(place.uid)) {
		BUF_LIT(&row, "uid ");
		uuid_add(&row, place.uid);
		BUF_LIT(&row, ", ");
	}
	log_error("%.*s%s can't be read: %.*s; `tenure-manage doctor` lists such rows", STR_ARG(row),
		place.column, STR_ARG(why));
	budget_leave_if_broken();
}

bool stored_read(struct pool *pool, struct str text, struct doc **doc, struct str *error)
{
	// As deep as the parser goes, so that a text stored under a greater limit than today's stays readable.
	return doc_parse_json(pool, text, (struct doc_limits){ .depth = SIZE_MAX }, doc, error);
}

struct doc *stored_document(struct pool *pool, struct stored_place place, struct str text)
{
	struct doc *doc;
	struct str error;

	if (stored_read(pool, text, &doc, &error))
		return doc;
	// While leaving is deferred and the budget is exceeded, nothing more is read: the request is left at the release.
	if (!budget_is_over())
		stored_is_broken(pool, place, error);
	return doc_new_object(pool);
}

struct doc *resource_body_doc(struct pool *pool, const struct resource *resource)
{
	return stored_document(pool, resource_place(resource, "body"), resource->body);
}

const struct doc *resource_body_tree(struct pool *pool, const struct resource *resource)
{
	return resource->tree != NULL ? resource->tree : resource_body_doc(pool, resource);
}

struct doc *resource_meta_doc(struct pool *pool, const struct resource *resource)
{
	return stored_document(pool, resource_place(resource, "meta"), resource->meta);
}

struct doc *resource_traits_doc(struct pool *pool, const struct resource *resource)
{
	if (resource->traits.n == 0)
		return doc_new_array(pool);
	return stored_document(pool, resource_place(resource, "traits"), resource->traits);
}

struct doc *tenant_metadata_doc(struct pool *pool, const struct tenant *tenant)
{
	return stored_document(pool, tenant_place(tenant, "metadata"), tenant->metadata);
}

struct doc *tenant_object_doc(struct pool *pool, const struct tenant *tenant)
{
	if (tenant->object.n == 0)
		return doc_new_object(pool);
	return stored_document(pool, tenant_place(tenant, "object"), tenant->object);
}

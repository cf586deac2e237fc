// SPDX-License-Identifier: Apache-2.0
#include "base/base.h"

#include "registry/log/selectable.h"

#include "base/buf.h"
#include "base/pool.h"
#include "registry/core/stored.h"
#include "registry/type/type.h"
#include "repr/json/doc.h"
#include "types/common/parts.h"

static const char *const none[] = { NULL };

const char *const *selectable_fields(const struct type *type)
{
	const char *const *fields = type_parts(type)->selectable;

	return fields != NULL ? fields : none;
}

// ---- the state

static const struct doc *labels_of(const struct doc *meta)
{
	const struct doc *labels = NULL;

	return doc_get(meta, STR("labels"), &labels) && doc_kind(labels) == DOC_OBJECT && doc_length(labels) > 0 ? labels : NULL;
}

static void set_labels(struct pool *pool, struct doc *object, const struct doc *labels)
{
	struct doc *metadata;

	if (labels == NULL)
		return;
	metadata = doc_new_object(pool);
	doc_set(metadata, STR("labels"), doc_copy(pool, labels));
	doc_set(object, STR("metadata"), metadata);
}

// Copies from body the member at path, one or two names joined by a dot, if it exists.
static void set_field(struct pool *pool, struct doc *object, const struct doc *body, struct str path)
{
	size_t dot = str_find(path, '.', 0);
	struct str top = str_part(path, 0, dot), name = dot < path.n ? str_part(path, dot + 1, path.n) : STR("");
	const struct doc *value = NULL, *inner = NULL, *there = NULL;

	if (!doc_get(body, top, &value) || value == NULL)
		return;
	if (name.n == 0) {
		doc_set(object, top, doc_copy(pool, value));
		return;
	}
	if (!doc_get(value, name, &inner) || inner == NULL)
		return;
	struct doc *group = doc_get(object, top, &there) ? doc_copy(pool, there) : doc_new_object(pool);
	doc_set(group, name, doc_copy(pool, inner));
	doc_set(object, top, group);
}

static struct str json_of(struct pool *pool, const struct doc *object)
{
	struct buf out = buf_new(pool, 128);

	doc_write_json(object, &out);
	return buf_str(&out);
}

struct str selectable_of_resource(struct pool *pool, const struct resource *resource)
{
	const char *const *fields = selectable_fields(resource->type);
	struct doc *object = doc_new_object(pool), *status;
	const struct doc *body;

	// Most resources have no labels: search the text before parsing it.
	if (memmem(resource->meta.p, resource->meta.n, "\"labels\"", 8) != NULL)
		set_labels(pool, object, labels_of(resource_meta_doc(pool, resource)));
	if (fields[0] == NULL)
		return json_of(pool, object);
	if (resource->type->group.n == 0 && str_eq_c(resource->type->plural, "namespaces")) {
		// The phase is not stored. It follows from whether the deletion was asked for.
		status = doc_new_object(pool);
		doc_set_str(pool, status, "phase", resource->deletion_requested_us != 0 ? STR("Terminating") : STR("Active"));
		doc_set(object, STR("status"), status);
		return json_of(pool, object);
	}
	body = resource_body_doc(pool, resource);
	for (size_t i = 0; fields[i] != NULL; i++)
		set_field(pool, object, body, str_c(fields[i]));
	return json_of(pool, object);
}

struct str selectable_of_tenant(struct pool *pool, const struct tenant *tenant)
{
	struct doc *object = doc_new_object(pool);

	if (tenant->object.n > 0)
		set_labels(pool, object, labels_of(tenant_object_doc(pool, tenant)));
	return json_of(pool, object);
}

// ---- before a change

struct str selectable_before_resource(struct pool *pool, const struct resource *before, const struct resource *after)
{
	bool fields = selectable_fields(before->type)[0] != NULL && !type_parts(before->type)->selectable_fixed;

	assert(before->type == after->type);
	if (str_eq(before->meta, after->meta) &&
		(!fields || (str_eq(before->body, after->body) && before->deletion_requested_us == after->deletion_requested_us)))
		return STR("");
	struct str was = selectable_of_resource(pool, before);
	return str_eq(was, selectable_of_resource(pool, after)) ? STR("") : was;
}

struct str selectable_before_tenant(struct pool *pool, const struct tenant *before, const struct tenant *after)
{
	if (str_eq(before->object, after->object))
		return STR("");
	struct str was = selectable_of_tenant(pool, before);
	return str_eq(was, selectable_of_tenant(pool, after)) ? STR("") : was;
}

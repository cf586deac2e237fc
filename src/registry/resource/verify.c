// SPDX-License-Identifier: Apache-2.0
// Checks resources whose rows were written without resource_write().
#include "base/base.h"

#include "base/pool.h"
#include "registry/core/failure.h"
#include "registry/core/settings.h"
#include "registry/core/stored.h"
#include "registry/resource/meta.h"
#include "registry/resource/verify.h"
#include "registry/type/definition.h"
#include "registry/type/internal.h"
#include "repr/json/doc.h"

// The definition decides, too, whether the resources are in namespaces: it has another type with the same name otherwise.
static enum outcome check_type(struct registry *registry, const struct resource *resource)
{
	const struct type *type = resource->type;
	const struct definition *definition = NULL;
	enum outcome outcome = definition_find(registry, resource->tenant, type->group, type->plural, &definition, NULL);
	struct str name = type_name(registry->pool, type);

	if (outcome != OUTCOME_OK && outcome != OUTCOME_NOT_FOUND)
		return outcome;
	if (outcome == OUTCOME_NOT_FOUND || !definition->stored)
		return registry_fail(registry, OUTCOME_BAD_DOCUMENT, "no definition of %.*s serves this tenant here", STR_ARG(name));
	if (definition->type != type)
		return registry_fail(registry, OUTCOME_BAD_DOCUMENT, "%.*s stand %s here", STR_ARG(name),
			type->namespaced ? "in no namespace" : "in namespaces");
	if (type->namespaced == (resource->space.n > 0))
		return OUTCOME_OK;
	return registry_fail(registry, OUTCOME_BAD_DOCUMENT, "%.*s stand in %s", STR_ARG(name), type->namespaced ? "a namespace" : "no namespace");
}

static enum outcome check_size(struct registry *registry, const struct resource *resource)
{
	uint64_t most = registry->settings->max_body;
	bool deep = !json_within_depth(resource->meta, REGISTRY_DEPTH_MAX) ||
		(resource->type != type_definitions(registry) && !json_within_depth(resource->body, REGISTRY_DEPTH_MAX));

	// What a type's rules add to a document does not count.
	if (resource->type->rules == NULL && resource->meta.n + resource->body.n > most)
		return registry_fail(registry, OUTCOME_BAD_DOCUMENT, "has %zu bytes: a resource may have %llu here (max_body)",
			resource->meta.n + resource->body.n, (unsigned long long)most);
	if (deep)
		return registry_fail(registry, OUTCOME_BAD_DOCUMENT, "may be nested %d levels deep at most", REGISTRY_DEPTH_MAX);
	return OUTCOME_OK;
}

// strict: members that a client set, too, must be of the kind that a dialect takes.
static enum outcome check_meta(struct registry *registry, const struct resource *resource, bool strict)
{
	const struct doc *meta = resource_meta_doc(registry->pool, resource), *value;

	for (struct doc_iter it = doc_iter(meta); strict && doc_next(&it);) {
		const char *form = resource_meta_fault(it.name, it.value);
		if (form != NULL)
			return registry_fail(registry, OUTCOME_BAD_DOCUMENT, "metadata.%.*s has to be %s", STR_ARG(it.name), form);
	}
	bool locked = doc_get(meta, STR("locked"), &value) && doc_kind(value) == DOC_BOOL && doc_bool(value);
	if (locked != resource->locked)
		return registry_fail(registry, OUTCOME_BAD_DOCUMENT, "metadata.locked says that it is %slocked, and the row that it is%s",
			locked ? "" : "not ", locked ? " not" : "");
	return OUTCOME_OK;
}

// The rules see a change that changes nothing, made by the service.
static enum outcome check_rules(struct registry *registry, const struct address *address, const struct resource *resource)
{
	struct draft draft = {
		.registry = registry,
		.address = address,
		.current = resource,
		.before = resource_body_doc(registry->pool, resource),
		.uid = resource->uid,
		.meta = resource->meta,
		.body = resource_body_doc(registry->pool, resource),
		.by_service = true,
	};
	enum outcome outcome = type_complete(&draft);

	if (outcome == OUTCOME_FORBIDDEN || (outcome == OUTCOME_CONFLICT && resource->type == type_definitions(registry)))
		return OUTCOME_BAD_DOCUMENT;
	// Other refusals are of the moment: a connector may not change while its node is powered on, but may be there.
	return outcome == OUTCOME_BAD_DOCUMENT || outcome == OUTCOME_UNAVAILABLE || outcome == OUTCOME_INTERNAL ? outcome : OUTCOME_OK;
}

static enum outcome check_schema(struct registry *registry, const struct address *address, const struct resource *resource)
{
	struct doc *body = resource_body_doc(registry->pool, resource);
	enum outcome outcome = definition_complete(registry, address, STR_NONE, &body, NULL);

	return outcome == OUTCOME_NOT_FOUND || outcome == OUTCOME_BODY_TOO_LARGE ? OUTCOME_BAD_DOCUMENT : outcome;
}

enum outcome resource_verify(struct registry *registry, const struct resource *resource, bool strict, struct relations *relations)
{
	const struct address address = { resource->tenant, resource->type, resource->space, resource->name };

	assert(db_txn_writes(registry->db));
	enum outcome outcome = check_type(registry, resource);
	*relations = (struct relations){ .n_keys = 0 };
	if (outcome == OUTCOME_OK)
		outcome = check_size(registry, resource);
	if (outcome == OUTCOME_OK)
		outcome = check_meta(registry, resource, strict);
	if (outcome == OUTCOME_OK && resource->type->rules != NULL)
		outcome = check_rules(registry, &address, resource);
	else if (outcome == OUTCOME_OK && strict && !resource->type->builtin)
		outcome = check_schema(registry, &address, resource);
	if (outcome == OUTCOME_OK && resource->type->rules != NULL)
		resource->type->rules->relate(registry->pool, resource_body_doc(registry->pool, resource), &resource->uid, relations);
	return outcome;
}

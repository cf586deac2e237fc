// SPDX-License-Identifier: Apache-2.0
// Completes objects of custom types before they are stored: prunes, fills in defaults, validates, and writes whole numbers as
// integers. The same for every dialect.
#include "base/base.h"

#include "base/pool.h"
#include "registry/core/settings.h"
#include "registry/type/definition_internal.h"
#include "registry/type/internal.h"
#include "repr/json/doc.h"
#include "repr/schema/structural.h"

// The whole object, as the root of the schema describes it: the body with apiVersion, kind and metadata. A schema may restrict
// metadata.name.
static struct doc *whole_object(struct pool *pool, const struct definition *definition,
	const struct definition_version *version, const struct address *address, struct doc *body)
{
	struct doc *object = doc_new_object(pool), *metadata = doc_new_object(pool);

	doc_set_str(pool, object, "apiVersion",
		str_printf(pool, "%.*s/%.*s", STR_ARG(definition->type->group), STR_ARG(version->name)));
	doc_set_str(pool, object, "kind", definition->kind);
	doc_set_str(pool, metadata, "name", address->name);
	doc_set(object, STR("metadata"), metadata);
	for (struct doc_iter it = doc_iter(body); doc_next(&it);)
		doc_set(object, it.name, doc_copy(pool, it.value));
	return object;
}

static enum outcome find_version(struct registry *registry, const struct definition *definition, struct str name,
	const struct definition_version **version)
{
	*version = name.p != NULL ? definition_version(definition, name) : definition_storage(definition);
	if (*version != NULL)
		return OUTCOME_OK;
	return registry_fail(registry, OUTCOME_NOT_FOUND, "%.*s.%.*s have no version %.*s", STR_ARG(definition->type->plural),
		STR_ARG(definition->type->group), STR_ARG(name));
}

static enum outcome apply_schema(struct registry *registry, const struct definition *definition,
	const struct definition_version *version, const struct structural *schema, const struct address *address, struct doc **body)
{
	struct pool *pool = registry->pool;
	struct field_faults faults = field_faults_new(pool);
	struct doc *object = whole_object(pool, definition, version, address, *body);
	struct str what = str_printf(pool, "%.*s \"%.*s\"", STR_ARG(definition->kind), STR_ARG(address->name));

	if (version->prunes) {
		(void)structural_prune(schema, object);
		// Each value takes a byte at least, so with more values than bytes it is too large. What its text takes is
		// checked when that is made.
		if (!structural_default(schema, object, registry->settings->max_body))
			return registry_fail(registry, OUTCOME_BODY_TOO_LARGE, "%.*s has become too large by its defaults", STR_ARG(what));
	}
	structural_validate(schema, object, &faults);
	if (faults.n > 0)
		return registry_fail_faults(registry, what, &faults);
	doc_remove(object, STR("apiVersion"));
	doc_remove(object, STR("kind"));
	doc_remove(object, STR("metadata"));
	*body = object;
	return OUTCOME_OK;
}

enum outcome definition_complete(struct registry *registry, const struct address *address, struct str version_name,
	struct doc **body, bool *has_status)
{
	assert(address->type != NULL && *body != NULL);
	const struct definition *definition;
	const struct definition_version *version;
	const struct type *type = address->type;
	enum outcome outcome = definition_find(registry, address->tenant, type->group, type->plural, &definition, NULL);
	if (outcome == OUTCOME_OK && definition->type != type)
		outcome = registry_fail(registry, OUTCOME_NOT_FOUND, "%.*s.%.*s stand %s for this tenant", STR_ARG(type->plural),
			STR_ARG(type->group), type->namespaced ? "in no namespace" : "in namespaces");
	if (outcome == OUTCOME_OK)
		outcome = find_version(registry, definition, version_name, &version);
	if (outcome != OUTCOME_OK)
		return outcome;
	if (has_status != NULL)
		*has_status = version->has_status;
	const struct structural *schema = definition_details(registry, definition, version)->structural;
	if (schema != NULL)
		outcome = apply_schema(registry, definition, version, schema, address, body);
	else
		*body = doc_copy(registry->pool, *body);
	// A typed client can't read 3.0 into a member that is an integer, and fails with the whole list that has such an object.
	// In a cluster no client sees one: its objects go through Go's values, which are written as 3.
	if (outcome == OUTCOME_OK)
		doc_make_integers(registry->pool, *body);
	return outcome;
}

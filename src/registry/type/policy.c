// SPDX-License-Identifier: Apache-2.0
// The names of policies, and who sets them.
#include "base/base.h"

#include "registry/type/policy.h"

#include "base/pool.h"
#include "registry/core/stored.h"
#include "registry/type/definition.h"
#include "repr/json/doc.h"

const char *type_policy(struct str name)
{
	static const char *const policies[] = { TYPE_POLICY_LOCAL, TYPE_POLICY_SYSTEM, TYPE_POLICY_NEVER };

	for (size_t i = 0; i < COUNT_OF(policies); i++) {
		if (str_eq_c(name, policies[i]))
			return policies[i];
	}
	return NULL;
}

struct doc *type_policy_annotations(struct pool *pool, const struct tenant *tenant, const struct doc *object)
{
	// Of a name that is in both, the metadata is right: it was written after the object, which else would not have the name.
	struct doc *annotations = tenant_metadata_doc(pool, tenant);
	const struct doc *others = NULL, *written;

	(void)doc_get(object, STR("annotations"), &others);
	for (struct doc_iter it = doc_iter(others); doc_next(&it);)
		if (!doc_get(annotations, it.name, &written))
			doc_set(annotations, it.name, doc_copy(pool, it.value));
	return annotations;
}

// What operators decide of a Tenant object.
static struct doc *decided_by_operators(struct pool *pool, const struct tenant *tenant)
{
	struct doc *object = tenant_object_doc(pool, tenant), *annotations = type_policy_annotations(pool, tenant, object);
	const struct doc *spec;
	struct doc *rest = doc_get(object, STR("spec"), &spec) && spec != NULL ? doc_copy(pool, spec) : doc_new_object(pool);

	doc_remove(rest, STR("multiTenancyCRDPolicy"));
	doc_set(object, STR("spec"), rest);
	doc_remove(annotations, STR(LAST_APPLIED_ANNOTATION));
	doc_set(object, STR("annotations"), annotations);
	doc_remove(object, STR("deletionTimestamp")); // set by the registry
	return object;
}

bool type_policy_is_all_that_differs(struct pool *pool, const struct tenant *before, const struct tenant *after)
{
	return str_eq(before->tier, after->tier) && before->etag_required == after->etag_required &&
	       doc_equal(decided_by_operators(pool, before), decided_by_operators(pool, after));
}

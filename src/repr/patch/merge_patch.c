// SPDX-License-Identifier: Apache-2.0
// JSON Merge Patch (RFC 7396).
#include "base/base.h"

#include "base/budget.h"
#include "repr/json/internal.h"

// Members keep the target's order; new ones follow in the order of the patch.
static struct doc *merge(struct pool *pool, const struct doc *target, const struct doc *patch)
{
	const struct doc *other;

	if (doc_kind(patch) != DOC_OBJECT)
		return doc_copy(pool, patch);
	struct doc *result = doc_new_object(pool);
	for (struct doc_iter it = doc_iter(target); !budget_is_over() && doc_next(&it);) {
		if (!doc_get(patch, it.name, &other))
			doc_set(result, it.name, doc_copy(pool, it.value));
		else if (other != NULL)
			doc_set(result, it.name, merge(pool, it.value, other));
	}
	for (struct doc_iter it = doc_iter(patch); !budget_is_over() && doc_next(&it);) {
		if (it.value != NULL && !doc_get(target, it.name, &other))
			doc_set(result, it.name, merge(pool, NULL, it.value));
	}
	return result;
}

struct doc *doc_merge_patch(struct pool *pool, const struct doc *target, const struct doc *patch)
{
	return merge(pool, target, patch);
}

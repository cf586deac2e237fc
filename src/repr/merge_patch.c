// SPDX-License-Identifier: Apache-2.0
// JSON Merge Patch (RFC 7396).
#include "base/base.h"

#include "repr/repr_internal.h"

static void add(struct json_object *object, struct str name, struct json_object *value)
{
	json_object_object_add_ex(object, name.p, value, JSON_C_OBJECT_ADD_KEY_IS_NEW);
}

// The result, the caller's. Members keep the target's order; new ones follow in the patch's.
static struct json_object *merge(const struct doc *target, const struct doc *patch)
{
	const struct doc *other;

	if (doc_kind(patch) != DOC_OBJECT)
		return tree_copy(tree_of(patch));
	struct json_object *result = tree_made(json_object_new_object());
	for (struct doc_iter it = doc_iter(target); doc_next(&it);) {
		if (!doc_get(patch, it.name, &other))
			add(result, it.name, tree_copy(tree_of(it.value)));
		else if (other != NULL)
			add(result, it.name, merge(it.value, other));
	}
	for (struct doc_iter it = doc_iter(patch); doc_next(&it);) {
		if (it.value != NULL && !doc_get(target, it.name, &other))
			add(result, it.name, merge(NULL, it.value));
	}
	return result;
}

struct doc *doc_merge_patch(struct pool *pool, const struct doc *target, const struct doc *patch)
{
	return tree_keep(pool, merge(target, patch));
}

// SPDX-License-Identifier: Apache-2.0
// JSON Merge Patch (RFC 7396).
#include "base/base.h"

#include "base/budget.h"
#include "repr/json/internal.h"

static void add(struct json_object *object, struct str name, struct json_object *value)
{
	json_tree_charge_member(object, name.n);
	json_object_object_add_ex(object, name.p, value, JSON_C_OBJECT_ADD_KEY_IS_NEW);
}

// Returns the result with a reference for the caller. Members keep the target's order; new ones follow in the order of the
// patch.
static struct json_object *merge(const struct doc *target, const struct doc *patch)
{
	const struct doc *other;

	if (doc_kind(patch) != DOC_OBJECT)
		return json_tree_copy(json_tree_of(patch));
	json_tree_charge(TREE_EMPTY_OBJECT);
	struct json_object *result = json_tree_made(json_object_new_object());
	for (struct doc_iter it = doc_iter(target); !budget_is_over() && doc_next(&it);) {
		if (!doc_get(patch, it.name, &other))
			add(result, it.name, json_tree_copy(json_tree_of(it.value)));
		else if (other != NULL)
			add(result, it.name, merge(it.value, other));
	}
	for (struct doc_iter it = doc_iter(patch); !budget_is_over() && doc_next(&it);) {
		if (it.value != NULL && !doc_get(target, it.name, &other))
			add(result, it.name, merge(NULL, it.value));
	}
	return result;
}

struct doc *doc_merge_patch(struct pool *pool, const struct doc *target, const struct doc *patch)
{
	budget_hold(); // no pool has the tree yet
	struct doc *result = json_tree_keep(pool, merge(target, patch));

	budget_release();
	return result;
}

// SPDX-License-Identifier: Apache-2.0
// Applies a JSON Patch (RFC 6902) to a copy, which is dropped if an operation fails.
#include "base/base.h"

#include "base/budget.h"
#include "base/pool.h"
#include "repr/patch/json_patch.h"

// What a patch may cost beside its length: COST_PER_NODE units for each value that the result may have. A copied value costs
// COPY_COST; an element of an array that is moved to make room or close a gap costs 1/MOVED_PER_COST. Without such a bound,
// some ten thousand operations of thirty bytes each could copy a large value and drop it again, or shift a large array.
enum { COST_PER_NODE = 256, COPY_COST = 16, MOVED_PER_COST = 4 };

struct patching {
	struct pool *pool;
	struct doc_limits limits;
	struct json_object *root; // this code holds a reference
	size_t nodes;             // values in it
	uint64_t cost;
	struct str *error;
};

struct measure {
	size_t nodes, depth;
};

static struct measure measured(const struct doc *doc)
{
	struct measure all = { 1, 0 }, one;

	if (doc_kind(doc) == DOC_ARRAY) {
		for (size_t i = 0; i < doc_length(doc); i++) {
			one = measured(doc_at(doc, i));
			all.nodes += one.nodes;
			all.depth = one.depth > all.depth ? one.depth : all.depth;
		}
		all.depth++;
	} else if (doc_kind(doc) == DOC_OBJECT) {
		for (struct doc_iter it = doc_iter(doc); doc_next(&it);) {
			one = measured(it.value);
			all.nodes += one.nodes;
			all.depth = one.depth > all.depth ? one.depth : all.depth;
		}
		all.depth++;
	}
	return all;
}

static bool spend(struct patching *patching, size_t index, uint64_t cost)
{
	patching->cost += cost;
	if (patching->limits.nodes == 0 || patching->cost <= (uint64_t)patching->limits.nodes * COST_PER_NODE)
		return true;
	return patch_fail(patching->pool, patching->error, index,
		"the patch copies and shifts too much: send the result itself instead");
}

// ---- finding

static bool step(const struct doc *at, struct str token, const struct doc **next)
{
	size_t index;

	if (doc_kind(at) != DOC_ARRAY)
		return doc_get(at, token, next);
	if (!pointer_index(token, &index) || index >= doc_length(at))
		return false;
	*next = doc_at(at, index);
	return true;
}

// Finds the value that the first n tokens lead to.
static bool find(const struct patching *patching, const struct pointer *pointer, size_t n, const struct doc **found)
{
	*found = doc_of(patching->root);
	for (size_t i = 0; i < n; i++) {
		if (!step(*found, pointer->tokens[i], found))
			return false;
	}
	return true;
}

static bool fail_missing(struct patching *patching, size_t index, const char *name, struct str text)
{
	return patch_fail(patching->pool, patching->error, index, "there is nothing at its %s, \"%.*s\"", name,
		STR_ARG(json_clipped(patching->pool, text)));
}

// ---- changing. A function that takes a value takes over the caller's reference, also if it fails.

static bool drop_value(struct json_object *value)
{
	json_object_put(value);
	return false;
}

// json-c 0.16 cannot insert: this appends a place and moves it to index.
static void insert_element(struct json_object *array, size_t index, struct json_object *value)
{
	size_t n = json_object_array_length(array);

	if (json_object_array_add(array, NULL) != 0)
		json_tree_made(NULL);
	void **elements = json_object_get_array(array)->array;
	memmove(&elements[index + 1], &elements[index], (n - index) * sizeof(*elements));
	elements[index] = value;
}

static bool add_element(struct patching *patching, const struct patch_operation *operation, struct json_object *array,
	struct json_object *value)
{
	struct str token = operation->path.tokens[operation->path.n - 1];
	size_t n = json_object_array_length(array), index = n;

	if (!str_eq(token, STR("-")) && !pointer_index(token, &index)) {
		patch_fail(patching->pool, patching->error, operation->index,
			"\"%.*s\" is no index of an array: a number without leading zeros, or \"-\" for behind its end",
			STR_ARG(json_clipped(patching->pool, token)));
		return drop_value(value);
	}
	if (index > n) {
		patch_fail(patching->pool, patching->error, operation->index,
			"the array has %zu elements, and %zu is behind them", n, index);
		return drop_value(value);
	}
	if (!spend(patching, operation->index, (n - index) / MOVED_PER_COST))
		return drop_value(value);
	insert_element(array, index, value);
	return true;
}

static bool add_member(struct patching *patching, const struct patch_operation *operation, struct json_object *object,
	struct json_object *value)
{
	struct str name = operation->path.tokens[operation->path.n - 1];

	if (str_find(name, '\0', 0) < name.n) {
		patch_fail(patching->pool, patching->error, operation->index, "a member's name must hold no NUL");
		return drop_value(value);
	}
	doc_set(doc_of(object), name, doc_of(value));
	json_object_put(value);
	return true;
}

// size: the measure of the value that is added.
static bool fits(struct patching *patching, const struct patch_operation *operation, struct measure size)
{
	if (operation->path.n + size.depth > patching->limits.depth)
		return patch_fail(patching->pool, patching->error, operation->index,
			"the result would be nested deeper than %zu", patching->limits.depth);
	patching->nodes += size.nodes;
	if (patching->limits.nodes > 0 && patching->nodes > patching->limits.nodes)
		return patch_fail(patching->pool, patching->error, operation->index,
			"the result would have more than %zu values", patching->limits.nodes);
	return true;
}

static bool add(struct patching *patching, const struct patch_operation *operation, struct json_object *value,
	struct measure size)
{
	const struct doc *parent, *before;

	if (operation->path.n == 0) {
		json_object_put(patching->root);
		patching->root = value;
		patching->nodes = 0;
		return fits(patching, operation, size);
	}
	bool there = find(patching, &operation->path, operation->path.n - 1, &parent);
	if (there && doc_get(parent, operation->path.tokens[operation->path.n - 1], &before))
		patching->nodes -= measured(before).nodes; // it will be replaced
	if (!fits(patching, operation, size))
		return drop_value(value);
	if (there && doc_kind(parent) == DOC_ARRAY)
		return add_element(patching, operation, json_tree_of(parent), value);
	if (there && doc_kind(parent) == DOC_OBJECT)
		return add_member(patching, operation, json_tree_of(parent), value);
	patch_fail(patching->pool, patching->error, operation->index,
		"there is no object or array around its path, \"%.*s\"",
		STR_ARG(json_clipped(patching->pool, operation->path_text)));
	return drop_value(value);
}

// Removes the value at the pointer. *taken (may be NULL) gets it, with a reference for the caller.
static bool take(struct patching *patching, size_t index, const struct pointer *pointer, struct json_object **taken)
{
	struct str token = pointer->tokens[pointer->n - 1];
	const struct doc *parent, *value;
	size_t at;

	if (!find(patching, pointer, pointer->n - 1, &parent) || !step(parent, token, &value))
		return false;
	bool is_array = doc_kind(parent) == DOC_ARRAY && pointer_index(token, &at);
	if (is_array && !spend(patching, index, (doc_length(parent) - at) / MOVED_PER_COST))
		return false;
	patching->nodes -= measured(value).nodes;
	if (taken != NULL)
		*taken = json_object_get(json_tree_of(value));
	if (is_array)
		json_object_array_del_idx(json_tree_of(parent), at, 1);
	else
		doc_remove((struct doc *)parent, token);
	return true;
}

// ---- the operations

static bool apply_add(struct patching *patching, const struct patch_operation *operation, const struct doc *value)
{
	struct measure size = measured(value);

	if (!spend(patching, operation->index, operation->kind == PATCH_COPY ? size.nodes * COPY_COST : 0))
		return false;
	return add(patching, operation, json_tree_copy(json_tree_of(value)), size);
}

static bool apply_remove(struct patching *patching, const struct patch_operation *operation)
{
	const struct doc *value;

	if (operation->path.n == 0)
		return patch_fail(patching->pool, patching->error, operation->index,
			"the whole document can be replaced, not removed");
	if (!find(patching, &operation->path, operation->path.n, &value))
		return fail_missing(patching, operation->index, "path", operation->path_text);
	return take(patching, operation->index, &operation->path, NULL);
}

static bool apply_replace(struct patching *patching, const struct patch_operation *operation)
{
	const struct doc *parent, *value;
	struct measure size = measured(operation->value);
	size_t at;

	if (!find(patching, &operation->path, operation->path.n, &value))
		return fail_missing(patching, operation->index, "path", operation->path_text);
	if (operation->path.n == 0)
		return apply_add(patching, operation, operation->value);
	find(patching, &operation->path, operation->path.n - 1, &parent);
	if (doc_kind(parent) == DOC_OBJECT)
		return apply_add(patching, operation, operation->value);
	patching->nodes -= measured(value).nodes;
	if (!fits(patching, operation, size))
		return false;
	pointer_index(operation->path.tokens[operation->path.n - 1], &at);
	json_object_array_put_idx(json_tree_of(parent), at, json_tree_copy(json_tree_of(operation->value)));
	return true;
}

static bool apply_move(struct patching *patching, const struct patch_operation *operation)
{
	const struct doc *value;
	struct json_object *taken = NULL;

	if (!find(patching, &operation->from, operation->from.n, &value))
		return fail_missing(patching, operation->index, "from", operation->from_text);
	if (operation->from.n == 0)
		return true; // a move to itself; a move into itself was refused before
	struct measure size = measured(value);
	if (!spend(patching, operation->index, size.nodes * COPY_COST) ||
		!take(patching, operation->index, &operation->from, &taken))
		return false;
	return add(patching, operation, taken, size);
}

static bool apply_test(struct patching *patching, const struct patch_operation *operation)
{
	const struct doc *value;

	if (!find(patching, &operation->path, operation->path.n, &value))
		return fail_missing(patching, operation->index, "path", operation->path_text);
	if (doc_equal_by_value(value, operation->value))
		return true;
	return patch_fail(patching->pool, patching->error, operation->index,
		"what is at \"%.*s\" is not what it was tested for", STR_ARG(json_clipped(patching->pool, operation->path_text)));
}

static bool apply(struct patching *patching, const struct patch_operation *operation)
{
	const struct doc *value;

	switch (operation->kind) {
	case PATCH_ADD: return apply_add(patching, operation, operation->value);
	case PATCH_REMOVE: return apply_remove(patching, operation);
	case PATCH_REPLACE: return apply_replace(patching, operation);
	case PATCH_MOVE: return apply_move(patching, operation);
	case PATCH_TEST: return apply_test(patching, operation);
	case PATCH_COPY:
		if (!find(patching, &operation->from, operation->from.n, &value))
			return fail_missing(patching, operation->index, "from", operation->from_text);
		return apply_add(patching, operation, value);
	}
	return false;
}

static bool patch_copy(struct patching *patching, const struct doc *target, const struct doc *patch)
{
	struct patch_operation operation;

	patching->root = json_tree_copy(json_tree_of(target));
	patching->nodes = measured(target).nodes;
	for (size_t i = 0; i < doc_length(patch) && !budget_is_over(); i++) {
		if (!patch_read(patching->pool, patch, i, &operation, patching->error) || !apply(patching, &operation))
			return false;
	}
	return true;
}

bool doc_json_patch(struct pool *pool, const struct doc *target, const struct doc *patch, struct doc_limits limits,
	struct doc **result, struct str *error)
{
	struct patching patching = { .pool = pool, .limits = limits, .error = error };

	*result = NULL;
	*error = STR("");
	if (patching.limits.depth > REPR_DEPTH_MAX)
		patching.limits.depth = REPR_DEPTH_MAX;
	if (!doc_json_patch_check(pool, patch, error))
		return false;
	budget_hold(); // no pool has the tree yet
	bool patched = patch_copy(&patching, target, patch);
	if (patched)
		*result = json_tree_keep(pool, patching.root);
	else
		json_object_put(patching.root);
	budget_release();
	return patched;
}

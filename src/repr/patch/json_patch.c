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
	const struct doc_patch_rule *rule; // NULL: none
	struct doc *root;
	size_t nodes; // values in it
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
	*found = patching->root;
	for (size_t i = 0; i < n; i++) {
		if (!step(*found, pointer->tokens[i], found))
			return false;
	}
	return true;
}

static bool fail_missing(struct patching *patching, size_t index, const char *name, struct str text)
{
	struct str shown = json_clipped(patching->pool, text);

	return patch_fail(patching->pool, patching->error, index, "there is nothing at its %s, \"%.*s\"", name, STR_ARG(shown));
}

// ---- changing

static bool add_element(struct patching *patching, const struct patch_operation *operation, struct doc *array, struct doc *value)
{
	struct str token = operation->path.tokens[operation->path.n - 1];
	size_t n = doc_length(array), index = n;

	if (!str_eq(token, STR("-")) && !pointer_index(token, &index)) {
		struct str shown = json_clipped(patching->pool, token);
		return patch_fail(patching->pool, patching->error, operation->index,
			"\"%.*s\" is no index of an array: a number without leading zeros, or \"-\" for behind its end",
			STR_ARG(shown));
	}
	if (index > n)
		return patch_fail(patching->pool, patching->error, operation->index,
			"the array has %zu elements, and %zu is behind them", n, index);
	if (!spend(patching, operation->index, (n - index) / MOVED_PER_COST))
		return false;
	json_insert_element(array, index, value);
	return true;
}

static bool add_member(struct patching *patching, const struct patch_operation *operation, struct doc *object, struct doc *value)
{
	struct str name = operation->path.tokens[operation->path.n - 1];

	if (str_find(name, '\0', 0) < name.n)
		return patch_fail(patching->pool, patching->error, operation->index, "a member's name must hold no NUL");
	doc_set(object, name, value);
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

static bool add(struct patching *patching, const struct patch_operation *operation, struct doc *value, struct measure size)
{
	const struct doc *parent, *before;

	if (operation->path.n == 0) {
		patching->root = value;
		patching->nodes = 0;
		return fits(patching, operation, size);
	}
	bool there = find(patching, &operation->path, operation->path.n - 1, &parent);
	if (there && doc_get(parent, operation->path.tokens[operation->path.n - 1], &before))
		patching->nodes -= measured(before).nodes; // it will be replaced
	if (!fits(patching, operation, size))
		return false;
	if (there && doc_kind(parent) == DOC_ARRAY)
		return add_element(patching, operation, json_own(parent), value);
	if (there && doc_kind(parent) == DOC_OBJECT)
		return add_member(patching, operation, json_own(parent), value);
	struct str shown = json_clipped(patching->pool, operation->path_text);
	return patch_fail(patching->pool, patching->error, operation->index,
		"there is no object or array around its path, \"%.*s\"", STR_ARG(shown));
}

// Removes the value at the pointer.
static bool take(struct patching *patching, size_t index, const struct pointer *pointer)
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
	if (is_array)
		json_remove_element(json_own(parent), at);
	else
		doc_remove(json_own(parent), token);
	return true;
}

// ---- the operations

static bool apply_add(struct patching *patching, const struct patch_operation *operation, const struct doc *value)
{
	struct measure size = measured(value);

	if (!spend(patching, operation->index, operation->kind == PATCH_COPY ? size.nodes * COPY_COST : 0))
		return false;
	return add(patching, operation, doc_copy(patching->pool, value), size);
}

static bool apply_remove(struct patching *patching, const struct patch_operation *operation)
{
	const struct doc *value;

	if (operation->path.n == 0)
		return patch_fail(patching->pool, patching->error, operation->index,
			"the whole document can be replaced, not removed");
	if (!find(patching, &operation->path, operation->path.n, &value))
		return fail_missing(patching, operation->index, "path", operation->path_text);
	return take(patching, operation->index, &operation->path);
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
	json_replace_element(json_own(parent), at, doc_copy(patching->pool, operation->value));
	return true;
}

static bool same_place(const struct pointer *one, const struct pointer *other)
{
	if (one->n != other->n)
		return false;
	for (size_t i = 0; i < one->n; i++) {
		if (!str_eq(one->tokens[i], other->tokens[i]))
			return false;
	}
	return true;
}

// May the operation, "move" or "copy", carry the value from its one place to the other?
static bool check_rule(struct patching *patching, const struct patch_operation *operation, const struct doc *value)
{
	const struct doc_carried carried = {
		.moves = operation->kind == PATCH_MOVE,
		.value = value,
		.from = operation->from.tokens,
		.n_from = operation->from.n,
		.path = operation->path.tokens,
		.n_path = operation->path.n,
	};

	if (patching->rule == NULL || same_place(&operation->from, &operation->path) || patching->rule->allows(patching->rule, &carried))
		return true;
	struct str shown = json_clipped(patching->pool, operation->from_text);
	return patch_fail(patching->pool, patching->error, operation->index, "what is at \"%.*s\" %s", STR_ARG(shown),
		patching->rule->why);
}

static bool apply_move(struct patching *patching, const struct patch_operation *operation)
{
	const struct doc *value;

	if (!find(patching, &operation->from, operation->from.n, &value))
		return fail_missing(patching, operation->index, "from", operation->from_text);
	if (operation->from.n == 0)
		return true; // a move to itself; a move into itself was refused before
	struct measure size = measured(value);
	if (!spend(patching, operation->index, size.nodes * COPY_COST) || !check_rule(patching, operation, value) ||
		!take(patching, operation->index, &operation->from))
		return false;
	return add(patching, operation, json_own(value), size);
}

static bool apply_copy(struct patching *patching, const struct patch_operation *operation)
{
	const struct doc *value;

	if (!find(patching, &operation->from, operation->from.n, &value))
		return fail_missing(patching, operation->index, "from", operation->from_text);
	return check_rule(patching, operation, value) && apply_add(patching, operation, value);
}

static bool apply_test(struct patching *patching, const struct patch_operation *operation)
{
	const struct doc *value;

	if (!find(patching, &operation->path, operation->path.n, &value))
		return fail_missing(patching, operation->index, "path", operation->path_text);
	if (doc_equal_by_value(value, operation->value))
		return true;
	struct str shown = json_clipped(patching->pool, operation->path_text);
	return patch_fail(patching->pool, patching->error, operation->index,
		"what is at \"%.*s\" is not what it was tested for", STR_ARG(shown));
}

static bool apply(struct patching *patching, const struct patch_operation *operation)
{
	switch (operation->kind) {
	case PATCH_ADD: return apply_add(patching, operation, operation->value);
	case PATCH_REMOVE: return apply_remove(patching, operation);
	case PATCH_REPLACE: return apply_replace(patching, operation);
	case PATCH_MOVE: return apply_move(patching, operation);
	case PATCH_TEST: return apply_test(patching, operation);
	case PATCH_COPY: return apply_copy(patching, operation);
	}
	return false;
}

bool doc_json_patch(struct pool *pool, const struct doc *target, const struct doc *patch, struct doc_limits limits,
	struct doc **result, struct str *error)
{
	return doc_json_patch_ruled(pool, target, patch, limits, NULL, result, error);
}

bool doc_json_patch_ruled(struct pool *pool, const struct doc *target, const struct doc *patch, struct doc_limits limits,
	const struct doc_patch_rule *rule, struct doc **result, struct str *error)
{
	struct patching patching = { .pool = pool, .limits = limits, .rule = rule, .error = error };
	struct patch_operation operation;

	*result = NULL;
	*error = STR("");
	if (patching.limits.depth > REPR_DEPTH_MAX)
		patching.limits.depth = REPR_DEPTH_MAX;
	if (!doc_json_patch_check(pool, patch, error))
		return false;
	patching.root = doc_copy(pool, target);
	patching.nodes = measured(target).nodes;
	for (size_t i = 0; i < doc_length(patch) && !budget_is_over(); i++) {
		if (!patch_read(pool, patch, i, &operation, error) || !apply(&patching, &operation))
			return false;
	}
	*result = patching.root;
	return true;
}

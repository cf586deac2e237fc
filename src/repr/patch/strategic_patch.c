// SPDX-License-Identifier: Apache-2.0
#include "base/base.h"

#include "base/pool.h"
#include "repr/json/internal.h"
#include "repr/patch/strategic_patch.h"

#define ORDER "$setElementOrder/"
#define DELETION "$deleteFromPrimitiveList/"
#define RETAIN "$retainKeys"
#define PATCH "$patch"

struct merging {
	struct pool *pool;
	struct str *error;
	bool failed;
};

// Sets the error and returns NULL, so callers can return it.
static struct doc *fail(struct merging *merging, const char *format, ...) PRINTF_LIKE(2, 3);
static struct doc *fail(struct merging *merging, const char *format, ...)
{
	va_list args;

	if (merging->failed)
		return NULL;
	va_start(args, format);
	*merging->error = str_vprintf(merging->pool, format, args);
	va_end(args);
	merging->failed = true;
	return NULL;
}

static struct str shown(struct merging *merging, struct str s)
{
	return json_clipped(merging->pool, s);
}

static bool is_directive(struct str name)
{
	return name.n > 0 && name.p[0] == '$' && (str_eq(name, STR(PATCH)) || str_eq(name, STR(RETAIN)) ||
		str_starts(name, STR(ORDER)) || str_starts(name, STR(DELETION)));
}

enum treatment { MERGE, REPLACE, DELETE };

// The value of "$patch" in an object; MERGE if it is missing.
static enum treatment treatment_of(struct merging *merging, const struct doc *patch)
{
	const struct doc *directive;
	struct str text;

	if (!doc_get(patch, STR(PATCH), &directive))
		return MERGE;
	text = doc_string(directive);
	if (str_eq(text, STR("replace")))
		return REPLACE;
	if (str_eq(text, STR("delete")))
		return DELETE;
	if (!str_eq(text, STR("merge"))) {
		struct str clipped = shown(merging, text);
		fail(merging, "unknown patch type: \"$patch\" is \"merge\", \"replace\" or \"delete\", not \"%.*s\"",
			STR_ARG(clipped));
	}
	return MERGE;
}

static const struct merge_rule *find_rule(const struct merge_rule *rules, struct str name)
{
	for (const struct merge_rule *rule = rules; rule != NULL && rule->name != NULL; rule++) {
		if (str_eq_c(name, rule->name))
			return rule;
	}
	return NULL;
}

// ---- values that the target lacks

// Has the value nothing that clean() leaves out?
static bool is_clean(struct merging *merging, const struct doc *value)
{
	bool clean = true;

	if (doc_kind(value) == DOC_OBJECT) {
		for (struct doc_iter it = doc_iter(value); clean && doc_next(&it);)
			clean = it.value != NULL && !is_directive(it.name) && is_clean(merging, it.value);
	}
	for (size_t i = 0; clean && doc_kind(value) == DOC_ARRAY && i < doc_length(value); i++)
		clean = treatment_of(merging, doc_at(value, i)) == MERGE && is_clean(merging, doc_at(value, i));
	return clean;
}

// The value without directives, without items that have "$patch": "delete" or "replace", and, in objects, without nulls. Most
// values have none of these, and are not copied: the result of the whole patch is copied at its end.
static struct doc *clean(struct merging *merging, const struct doc *value)
{
	struct doc *copy;

	if (is_clean(merging, value))
		return json_own(value);
	if (doc_kind(value) == DOC_OBJECT) {
		copy = doc_new_object(merging->pool);
		for (struct doc_iter it = doc_iter(value); doc_next(&it);) {
			if (it.value != NULL && !is_directive(it.name))
				doc_set(copy, it.name, clean(merging, it.value));
		}
		return copy;
	}
	if (doc_kind(value) != DOC_ARRAY)
		return json_own(value);
	copy = doc_new_array(merging->pool);
	for (size_t i = 0; i < doc_length(value); i++) {
		if (treatment_of(merging, doc_at(value, i)) == MERGE)
			doc_push(copy, clean(merging, doc_at(value, i)));
	}
	return copy;
}

// ---- items and their keys

struct item {
	struct str key;          // p NULL: the item has no key
	const struct doc *value; // NULL if gone
	size_t old;              // its index in the target's list; SIZE_MAX: the item is new
	size_t order;            // its index in $setElementOrder; SIZE_MAX: none
	size_t same;             // the index of another item with this key; SIZE_MAX: there are no more
	bool gone;
};

struct item_list {
	const struct merge_rule *rule;
	struct item *items;
	size_t n;
	struct doc *places; // from keys to the indexes of their first items, which lead to the others by `same`
};

// The key of an item: its key member if it is an object, else the scalar itself. p NULL: it has none.
static struct str key_of(struct merging *merging, const struct merge_rule *rule, const struct doc *item)
{
	const struct doc *value = item;
	struct buf out;

	if (rule->key[0] != '\0' && !doc_get(item, str_c(rule->key), &value))
		return STR_NONE;
	if (doc_kind(value) == DOC_OBJECT || doc_kind(value) == DOC_ARRAY || doc_kind(value) == DOC_NULL)
		return STR_NONE;
	// 80 and "80" are the same key. A key with NUL cannot be a member's name below.
	if (doc_kind(value) == DOC_STRING && str_find(doc_string(value), '\0', 0) == doc_string(value).n)
		return doc_string(value).p == NULL ? STR("") : doc_string(value);
	out = buf_new(merging->pool, 32);
	doc_write_json(value, &out);
	return buf_str(&out);
}

static struct item *find_item(const struct item_list *list, struct str key)
{
	const struct doc *place;
	uint64_t at;

	if (key.p == NULL || !doc_get(list->places, key, &place) || !doc_u64(place, &at))
		return NULL;
	return &list->items[at];
}

static void add_item(struct merging *merging, struct item_list *list, struct str key, const struct doc *value,
	size_t old)
{
	struct item *first = find_item(list, key);

	list->items[list->n] = (struct item){ .key = key, .value = value, .old = old, .order = SIZE_MAX, .same = SIZE_MAX };
	if (first != NULL) {
		list->items[list->n].same = first->same;
		first->same = list->n;
	} else if (key.p != NULL)
		doc_set(list->places, key, doc_new_u64(merging->pool, list->n));
	list->n++;
}

static struct item_list items_of(struct merging *merging, const struct merge_rule *rule, const struct doc *target,
	size_t more)
{
	struct item_list list = { .rule = rule, .items = POOL_ARRAY(merging->pool, struct item, doc_length(target) + more),
		.places = doc_new_object(merging->pool) };

	for (size_t i = 0; i < doc_length(target); i++)
		add_item(merging, &list, key_of(merging, rule, doc_at(target, i)), doc_at(target, i), i);
	return list;
}

// Removes all items with this key. A list may have several: the ports 53/TCP and 53/UDP of a service have one key, the number.
static void drop_items(struct item_list *list, struct str key)
{
	struct item *item = find_item(list, key);

	if (item == NULL)
		return;
	item->gone = true;
	for (size_t i = item->same; i != SIZE_MAX; i = list->items[i].same)
		list->items[i].gone = true;
	doc_remove(list->places, key);
}

// ---- merging items

static struct doc *merge_object(struct merging *merging, const struct merge_rule *rules, const struct doc *target,
	const struct doc *patch);

// Removes the items to be deleted. Returns true if the whole list is to be replaced.
static bool prepare_items(struct merging *merging, struct item_list *list, const struct doc *patch)
{
	bool replaces = false;

	for (size_t i = 0; i < doc_length(patch) && !merging->failed; i++) {
		const struct doc *item = doc_at(patch, i);
		enum treatment treatment = treatment_of(merging, item);
		struct str key = key_of(merging, list->rule, item);
		replaces = replaces || treatment == REPLACE;
		if (treatment == REPLACE)
			continue;
		if (key.p == NULL && list->rule->key[0] != '\0')
			fail(merging, "item %zu of \"%s\" does not contain its merge key, \"%s\"", i, list->rule->name,
				list->rule->key);
		else if (key.p == NULL)
			fail(merging, "item %zu of \"%s\" must be a string, a number or a boolean", i, list->rule->name);
		if (treatment == DELETE)
			drop_items(list, key);
	}
	return replaces;
}

static void merge_items(struct merging *merging, struct item_list *list, const struct doc *patch)
{
	for (size_t i = 0; i < doc_length(patch) && !merging->failed; i++) {
		const struct doc *item = doc_at(patch, i);
		struct str key = key_of(merging, list->rule, item);
		struct item *old = find_item(list, key);
		if (treatment_of(merging, item) == DELETE)
			continue;
		if (old == NULL)
			add_item(merging, list, key, clean(merging, item), SIZE_MAX);
		else if (list->rule->key[0] != '\0')
			old->value = merge_object(merging, list->rule->inside, old->value, item);
	}
}

// The items of the patch without directives.
static struct doc *replaced_list(struct merging *merging, const struct doc *patch)
{
	struct doc *list = doc_new_array(merging->pool);

	for (size_t i = 0; i < doc_length(patch); i++) {
		if (treatment_of(merging, doc_at(patch, i)) == MERGE)
			doc_push(list, clean(merging, doc_at(patch, i)));
	}
	return list;
}

// ---- the order of items

static int by_order(const void *a, const void *b)
{
	const struct item *x = *(const struct item *const *)a, *y = *(const struct item *const *)b;

	if (x->order != y->order)
		return x->order < y->order ? -1 : 1;
	return (x > y) - (x < y);
}

// Numbers the items by the requested order, in which each item of the patch must occur.
static void number_items(struct merging *merging, struct item_list *list, const struct doc *patch,
	const struct doc *order)
{
	for (size_t i = 0; i < doc_length(order); i++) {
		struct item *item = find_item(list, key_of(merging, list->rule, doc_at(order, i)));
		if (item != NULL && item->order == SIZE_MAX)
			item->order = i;
	}
	for (size_t i = 0; i < doc_length(patch) && !merging->failed; i++) {
		struct item *item = find_item(list, key_of(merging, list->rule, doc_at(patch, i)));
		if (item != NULL && item->order == SIZE_MAX && treatment_of(merging, doc_at(patch, i)) == MERGE) {
			struct str clipped = shown(merging, item->key);
			fail(merging, "\"" ORDER "%s\" lacks an item of \"%s\": \"%.*s\"", list->rule->name, list->rule->name,
				STR_ARG(clipped));
		}
	}
}

// The items in the requested order. Those that it does not mention keep their own order, and come before the first mentioned
// item that followed them.
static struct doc *in_order(struct merging *merging, const struct item_list *list)
{
	struct item **placed = POOL_ARRAY(merging->pool, struct item *, list->n), **others;
	struct doc *result = doc_new_array(merging->pool);
	size_t n_placed = 0, n_others = 0, i = 0, j = 0;

	others = POOL_ARRAY(merging->pool, struct item *, list->n);
	for (size_t k = 0; k < list->n; k++) {
		if (!list->items[k].gone && list->items[k].order != SIZE_MAX)
			placed[n_placed++] = &list->items[k];
		else if (!list->items[k].gone)
			others[n_others++] = &list->items[k];
	}
	qsort(placed, n_placed, sizeof(struct item *), by_order);
	while (i < n_others || j < n_placed) {
		bool other = j == n_placed || (i < n_others && placed[j]->old != SIZE_MAX && others[i]->old != SIZE_MAX &&
			others[i]->old < placed[j]->old);
		doc_push(result, json_own(other ? others[i++]->value : placed[j++]->value));
	}
	return result;
}

static struct doc *as_they_are(struct merging *merging, const struct item_list *list)
{
	struct doc *result = doc_new_array(merging->pool);

	for (size_t i = 0; i < list->n; i++) {
		if (!list->items[i].gone)
			doc_push(result, json_own(list->items[i].value));
	}
	return result;
}

// ---- lists

// What a patch says about one list: items to merge, the order of items, items to delete. NULL: it does not say.
struct list_patch {
	const struct doc *list, *order, *deleted;
};

static bool is_list(const struct doc *value)
{
	return doc_kind(value) == DOC_ARRAY;
}

static struct doc *merge_list(struct merging *merging, const struct merge_rule *rule, const struct doc *target,
	const struct list_patch *patch)
{
	static const struct merge_rule set = { .name = "list", .key = "" };
	struct item_list list;

	if ((rule == NULL || rule->key == NULL) && patch->list != NULL)
		return clean(merging, patch->list);
	if (rule == NULL || rule->key == NULL)
		rule = &set; // items are to be removed from it
	list = items_of(merging, rule, target, doc_length(patch->list));
	for (size_t i = 0; rule->key[0] == '\0' && i < doc_length(patch->deleted); i++)
		drop_items(&list, key_of(merging, &set, doc_at(patch->deleted, i)));
	if (prepare_items(merging, &list, patch->list))
		return replaced_list(merging, patch->list);
	merge_items(merging, &list, patch->list);
	if (patch->order == NULL || merging->failed)
		return as_they_are(merging, &list);
	number_items(merging, &list, patch->list, patch->order);
	return in_order(merging, &list);
}

// ---- objects

// The directive of that kind for a member, an array; NULL: there is none.
static const struct doc *directive_for(struct merging *merging, const struct doc *patch, const char *kind,
	struct str name)
{
	const struct doc *found;

	if (!doc_get(patch, str_printf(merging->pool, "%s%.*s", kind, STR_ARG(name)), &found))
		return NULL;
	if (!is_list(found)) {
		struct str clipped = shown(merging, name);
		fail(merging, "\"%s%.*s\" must be an array", kind, STR_ARG(clipped));
	}
	return found;
}

static struct doc *merge_member(struct merging *merging, const struct merge_rule *rule, const struct doc *target,
	const struct list_patch *patch, const struct doc *value)
{
	bool list = is_list(value) || (value == NULL && (patch->order != NULL || patch->deleted != NULL));

	if (list && (is_list(target) || target == NULL))
		return merge_list(merging, rule, target, patch);
	if (doc_kind(value) == DOC_OBJECT && doc_kind(target) == DOC_OBJECT)
		return merge_object(merging, rule != NULL && rule->key == NULL ? rule->inside : NULL, target, value);
	if (value == NULL)
		return json_own(target); // directives do not apply to a value that is no list
	return clean(merging, value);
}

// An object that is being merged.
struct object_merge {
	struct merging *merging;
	const struct merge_rule *rules; // of its members
	const struct doc *target, *patch;
	bool directed; // the patch has directives
	struct doc *result;
};

// Sets a member of the result to what the patch makes of the target's member.
static void set_member(struct object_merge *object, struct str name)
{
	struct list_patch list = { .list = NULL };
	const struct doc *value, *former = NULL;
	bool is_patched = doc_get(object->patch, name, &value), is_there = doc_get(object->target, name, &former);

	if (is_patched && value == NULL)
		return;
	if (object->directed) {
		list.order = directive_for(object->merging, object->patch, ORDER, name);
		list.deleted = directive_for(object->merging, object->patch, DELETION, name);
	}
	list.list = is_list(value) ? value : NULL;
	if (is_patched || list.order != NULL || list.deleted != NULL)
		doc_set(object->result, name, merge_member(object->merging, find_rule(object->rules, name), former, &list, value));
	else if (is_there)
		doc_set(object->result, name, json_own(former));
}

// "$retainKeys": an object whose members are the names that stay; NULL: all stay.
static struct doc *retained(struct merging *merging, const struct doc *patch)
{
	const struct doc *list, *found;
	struct doc *keys;

	if (!doc_get(patch, STR(RETAIN), &list))
		return NULL;
	keys = doc_new_object(merging->pool);
	for (size_t i = 0; i < doc_length(list); i++) {
		struct str key = doc_string(doc_at(list, i));
		if (doc_kind(doc_at(list, i)) == DOC_STRING && str_find(key, '\0', 0) == key.n)
			doc_set(keys, key, NULL);
	}
	if (!is_list(list))
		fail(merging, "\"" RETAIN "\" must be an array of members' names");
	for (struct doc_iter it = doc_iter(patch); doc_next(&it);) {
		if (!is_directive(it.name) && !doc_get(keys, it.name, &found)) {
			struct str clipped = shown(merging, it.name);
			fail(merging, "\"" RETAIN "\" lacks a member that the patch sets: \"%.*s\"", STR_ARG(clipped));
		}
	}
	return keys;
}

static bool has_directives(const struct doc *patch)
{
	for (struct doc_iter it = doc_iter(patch); doc_next(&it);) {
		if (is_directive(it.name))
			return true;
	}
	return false;
}

// Members keep the target's order; new ones follow in the patch's.
static struct doc *merge_object(struct merging *merging, const struct merge_rule *rules, const struct doc *target,
	const struct doc *patch)
{
	struct object_merge object = {
		.merging = merging,
		.rules = rules,
		.target = target,
		.patch = patch,
		.directed = has_directives(patch),
		.result = doc_new_object(merging->pool),
	};
	enum treatment treatment = treatment_of(merging, patch);
	const struct doc *other;

	if (treatment != MERGE)
		return treatment == REPLACE ? clean(merging, patch) : object.result;
	const struct doc *keys = retained(merging, patch);
	for (struct doc_iter it = doc_iter(target); doc_next(&it) && !merging->failed;) {
		if (keys == NULL || doc_get(keys, it.name, &other))
			set_member(&object, it.name);
	}
	for (struct doc_iter it = doc_iter(patch); doc_next(&it) && !merging->failed;) {
		if (!is_directive(it.name) && !doc_get(target, it.name, &other))
			set_member(&object, it.name);
	}
	return object.result;
}

bool doc_strategic_patch(struct pool *pool, const struct merge_rule *rules, const struct doc *target,
	const struct doc *patch, struct doc **result, struct str *error)
{
	struct merging merging = { .pool = pool_scratch(pool, SIZE_MAX), .error = error };
	struct doc *merged;

	*result = NULL;
	if (doc_kind(patch) != DOC_OBJECT || doc_kind(target) != DOC_OBJECT) {
		fail(&merging, "a strategic merge patch is an object");
		return false;
	}
	merged = merge_object(&merging, rules, target, patch);
	if (merging.failed)
		return false;
	// The merged tree shares unchanged parts with the target.
	*result = doc_copy(pool, merged);
	pool_scratch_end(pool, merging.pool); // after a failure the scratch pool is kept, since the error text is in it
	return true;
}

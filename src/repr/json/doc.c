// SPDX-License-Identifier: Apache-2.0
// Trees of JSON values: makes, reads, changes and compares them.
#include "base/base.h"

#include "base/budget.h"
#include "base/log.h"
#include "base/pool.h"
#include "repr/json/internal.h"

// A member's name ended by a NUL, as json-c wants it.
struct key {
	char small[128];
	char *p;
};

static void key_open(struct key *key, struct str name)
{
	key->p = name.n < sizeof key->small ? key->small : malloc(name.n + 1);
	if (key->p == NULL) {
		log_error("out of memory for a member's name of %zu bytes", name.n);
		abort();
	}
	if (name.n > 0)
		memcpy(key->p, name.p, name.n);
	key->p[name.n] = '\0';
}

static void key_close(struct key *key)
{
	if (key->p != key->small)
		free(key->p);
}

static void drop(void *arg)
{
	json_object_put(arg);
}

static _Thread_local size_t charged __attribute__((tls_model("initial-exec"))); // bytes charged, but not yet given to a pool

_Thread_local size_t tree_uncounted __attribute__((tls_model("initial-exec")));

bool json_tree_count(void)
{
	size_t n = tree_uncounted;

	tree_uncounted = 0;
	budget_take(n); // may not return
	charged += n;
	if (!budget_is_over())
		return true;
	tree_uncounted = TREE_STEP; // the next charge ends here, too: not every caller can stop at once
	return false;
}

size_t json_tree_charged(void)
{
	return charged;
}

void json_tree_uncharge(size_t since)
{
	tree_uncounted = 0;
	if (charged <= since)
		return;
	budget_give(charged - since);
	charged = since;
}

enum { MANY_OBJECTS = 256, FEW_MEMBERS = 5 };

bool json_tree_charge_member(struct json_object *object, size_t name_bytes)
{
	const struct lh_table *table = json_object_get_object(object);

	if (table->count * 100LL >= table->size * (long long)(LH_LOAD_FACTOR * 100)) { // the table is about to double
		size_t bytes = (size_t)table->size * TREE_TABLE_PLACE;
		json_tree_charge(bytes);
		budget_take(bytes); // while it does, the old table exists beside the new one
		budget_give(bytes);
	}
	return json_tree_charge(TREE_MEMBER + name_bytes);
}

void json_tree_charge_object(struct json_object *object, size_t *objects)
{
	int n = json_object_object_length(object), places = TREE_TABLE;

	if (++*objects > MANY_OBJECTS && n <= FEW_MEMBERS) {
		places = n > 1 ? 2 * n - 1 : 1;
		lh_table_resize(json_object_get_object(object), places);
	}
	json_tree_charge(TREE_OBJECT + (size_t)places * TREE_TABLE_PLACE);
}

struct json_object *json_tree_made(struct json_object *tree)
{
	if (tree == NULL) {
		log_error("out of memory for a document");
		abort();
	}
	return tree;
}

struct doc *json_tree_keep(struct pool *pool, struct json_object *tree)
{
	budget_hold();
	if (tree != NULL)
		pool_cleanup(pool, drop, tree);
	pool_adopt(pool, charged);
	charged = 0;
	if (budget_is_over())
		tree_uncounted = 0;
	budget_release();
	return doc_of(tree);
}

struct json_object *json_tree_string(struct str s)
{
	assert(s.n < INT32_MAX);
	return json_tree_made(json_object_new_string_len(s.n > 0 ? s.p : "", (int)s.n));
}

// ---- looking at a value

enum doc_kind doc_kind(const struct doc *doc)
{
	switch (json_object_get_type(json_tree_of(doc))) {
	case json_type_null: return DOC_NULL;
	case json_type_boolean: return DOC_BOOL;
	case json_type_double:
	case json_type_int: return DOC_NUMBER;
	case json_type_object: return DOC_OBJECT;
	case json_type_array: return DOC_ARRAY;
	case json_type_string: return DOC_STRING;
	}
	return DOC_NULL;
}

bool doc_bool(const struct doc *doc)
{
	return json_object_get_boolean(json_tree_of(doc));
}

struct str doc_string(const struct doc *doc)
{
	struct json_object *tree = json_tree_of(doc);

	if (json_object_get_type(tree) != json_type_string)
		return STR("");
	return str_n(json_object_get_string(tree), (size_t)json_object_get_string_len(tree));
}

// An integer with its usual text is stored as such; "-0" and all other numbers are stored as a double with their text.
static bool is_minus_zero(struct json_object *tree)
{
	const char *text = json_object_get_userdata(tree);

	return json_object_get_type(tree) == json_type_double && text != NULL && strcmp(text, "-0") == 0;
}

bool doc_i64(const struct doc *doc, int64_t *value)
{
	struct json_object *tree = json_tree_of(doc);

	*value = 0;
	if (json_object_get_type(tree) != json_type_int)
		return is_minus_zero(tree);
	*value = json_object_get_int64(tree);
	return *value < 0 || json_object_get_uint64(tree) <= INT64_MAX;
}

bool doc_u64(const struct doc *doc, uint64_t *value)
{
	struct json_object *tree = json_tree_of(doc);

	*value = 0;
	if (json_object_get_type(tree) != json_type_int)
		return is_minus_zero(tree);
	*value = json_object_get_uint64(tree);
	return json_object_get_int64(tree) >= 0;
}

struct str doc_number_text(struct pool *pool, const struct doc *doc)
{
	int64_t negative;
	uint64_t positive;

	if (json_object_get_type(json_tree_of(doc)) == json_type_double)
		return str_dup(pool, str_c(json_object_get_userdata(json_tree_of(doc))));
	if (doc_u64(doc, &positive))
		return str_printf(pool, "%llu", (unsigned long long)positive);
	doc_i64(doc, &negative);
	return str_printf(pool, "%lld", (long long)negative);
}

size_t doc_length(const struct doc *doc)
{
	switch (doc_kind(doc)) {
	case DOC_ARRAY: return json_object_array_length(json_tree_of(doc));
	case DOC_OBJECT: return (size_t)json_object_object_length(json_tree_of(doc));
	default: return 0;
	}
}

size_t doc_elements(const struct doc *doc)
{
	return doc_kind(doc) == DOC_ARRAY ? json_object_array_length(json_tree_of(doc)) : 0;
}

const struct doc *doc_at(const struct doc *array, size_t index)
{
	return index < doc_elements(array)
		? doc_of(json_object_array_get_idx(json_tree_of(array), index)) : NULL;
}

bool doc_get(const struct doc *object, struct str name, const struct doc **value)
{
	struct json_object *found = NULL;
	struct key key;

	*value = NULL;
	budget_work(1);
	if (doc_kind(object) != DOC_OBJECT || str_find(name, '\0', 0) < name.n)
		return false;
	key_open(&key, name);
	bool there = json_object_object_get_ex(json_tree_of(object), key.p, &found);
	key_close(&key);
	*value = doc_of(found);
	return there;
}

struct doc *doc_own_item(struct doc *array, size_t index)
{
	return doc_of(json_tree_of(doc_at(array, index)));
}

struct doc *doc_own_member(struct doc *object, struct str name)
{
	const struct doc *value;

	(void)doc_get(object, name, &value);
	return doc_of(json_tree_of(value));
}

struct doc_iter doc_iter(const struct doc *object)
{
	struct doc_iter it = { .at = NULL };

	if (doc_kind(object) == DOC_OBJECT)
		it.at = lh_table_head(json_object_get_object(json_tree_of(object)));
	return it;
}

bool doc_next(struct doc_iter *it)
{
	struct lh_entry *entry = it->at;

	if (entry == NULL)
		return false;
	budget_work(1);
	it->name = str_c(lh_entry_k(entry));
	it->value = lh_entry_v(entry);
	it->at = lh_entry_next(entry);
	return true;
}

typedef bool equal_fn(const struct doc *a, const struct doc *b);

bool doc_get_beside(struct doc_iter *beside, const struct doc *object, struct str name, const struct doc **value)
{
	struct doc_iter next = *beside;

	if (!doc_next(&next) || !str_eq(next.name, name))
		return doc_get(object, name, value);
	*beside = next;
	*value = next.value;
	return true;
}

static bool equal_objects(const struct doc *a, const struct doc *b, equal_fn *equal)
{
	const struct doc *other;
	struct doc_iter beside = doc_iter(b);

	if (doc_length(a) != doc_length(b))
		return false;
	for (struct doc_iter it = doc_iter(a); doc_next(&it);) {
		if (!doc_get_beside(&beside, b, it.name, &other) || !equal(it.value, other))
			return false;
	}
	return true;
}

static bool equal_arrays(const struct doc *a, const struct doc *b, equal_fn *equal)
{
	if (doc_length(a) != doc_length(b))
		return false;
	for (size_t i = 0; i < doc_length(a); i++) {
		if (!equal(doc_at(a, i), doc_at(b, i)))
			return false;
	}
	return true;
}

static bool equal_numbers(struct json_object *a, struct json_object *b)
{
	if (json_object_get_type(a) != json_object_get_type(b))
		return false; // one has the usual text of an integer, the other has not
	if (json_object_get_type(a) == json_type_double)
		return strcmp(json_object_get_userdata(a), json_object_get_userdata(b)) == 0;
	return json_object_get_int64(a) == json_object_get_int64(b) &&
		json_object_get_uint64(a) == json_object_get_uint64(b);
}

static bool equal_but_numbers(const struct doc *a, const struct doc *b, equal_fn *equal)
{
	switch (doc_kind(a)) {
	case DOC_NULL: return true;
	case DOC_BOOL: return doc_bool(a) == doc_bool(b);
	case DOC_STRING: return str_eq(doc_string(a), doc_string(b));
	case DOC_ARRAY: return equal_arrays(a, b, equal);
	case DOC_OBJECT: return equal_objects(a, b, equal);
	case DOC_NUMBER: break;
	}
	return false;
}

bool doc_equal(const struct doc *a, const struct doc *b)
{
	if (a == b)
		return true;
	if (doc_kind(a) != doc_kind(b))
		return false;
	return doc_kind(a) == DOC_NUMBER ? equal_numbers(json_tree_of(a), json_tree_of(b)) : equal_but_numbers(a, b, doc_equal);
}

// An integer is printed into the caller's text.
static struct str number_text(const struct doc *number, char text[24])
{
	uint64_t positive;
	int64_t negative;

	if (json_object_get_type(json_tree_of(number)) == json_type_double)
		return str_c(json_object_get_userdata(json_tree_of(number)));
	if (doc_u64(number, &positive))
		snprintf(text, 24, "%llu", (unsigned long long)positive);
	else if (doc_i64(number, &negative))
		snprintf(text, 24, "%lld", (long long)negative);
	return str_c(text);
}

bool doc_equal_by_value(const struct doc *a, const struct doc *b)
{
	char in_a[24] = "", in_b[24] = "";

	if (a == b)
		return true;
	if (doc_kind(a) != doc_kind(b))
		return false;
	if (doc_kind(a) != DOC_NUMBER)
		return equal_but_numbers(a, b, doc_equal_by_value);
	return equal_numbers(json_tree_of(a), json_tree_of(b)) || json_number_same(number_text(a, in_a), number_text(b, in_b));
}

int doc_order_numbers(const struct doc *a, const struct doc *b)
{
	char in_a[24] = "", in_b[24] = "";

	assert(doc_kind(a) == DOC_NUMBER && doc_kind(b) == DOC_NUMBER);
	return json_number_order(number_text(a, in_a), number_text(b, in_b));
}

bool doc_is_whole(const struct doc *number)
{
	char text[24] = "";

	assert(doc_kind(number) == DOC_NUMBER);
	return json_number_is_whole(number_text(number, text));
}

// ---- building

struct doc *doc_new_object(struct pool *pool)
{
	json_tree_charge(TREE_EMPTY_OBJECT);
	return json_tree_keep(pool, json_tree_made(json_object_new_object()));
}

struct doc *doc_new_array(struct pool *pool)
{
	json_tree_charge(2 * TREE_VALUE);
	return json_tree_keep(pool, json_tree_made(json_object_new_array_ext(4)));
}

struct doc *doc_new_string(struct pool *pool, struct str s)
{
	json_tree_charge(TREE_VALUE + s.n);
	return json_tree_keep(pool, json_tree_string(s));
}

struct doc *doc_new_i64(struct pool *pool, int64_t value)
{
	json_tree_charge(TREE_VALUE);
	return json_tree_keep(pool, json_tree_made(json_object_new_int64(value)));
}

struct doc *doc_new_u64(struct pool *pool, uint64_t value)
{
	json_tree_charge(TREE_VALUE);
	return json_tree_keep(pool, json_tree_made(json_object_new_uint64(value)));
}

struct doc *doc_new_bool(struct pool *pool, bool value)
{
	json_tree_charge(TREE_VALUE);
	return json_tree_keep(pool, json_tree_made(json_object_new_boolean(value)));
}

static struct json_object *copy_value(struct json_object *tree, size_t *objects);

static struct json_object *copy_array(struct json_object *from, size_t *objects)
{
	size_t n = json_object_array_length(from);

	if (!json_tree_charge(2 * TREE_VALUE + n * 2 * sizeof(void *)))
		return NULL;
	struct json_object *array = json_tree_made(json_object_new_array_ext(n > 0 ? (int)n : 1));
	for (size_t i = 0; i < n && !budget_is_over(); i++)
		json_object_array_add(array, copy_value(json_object_array_get_idx(from, i), objects));
	return array;
}

static struct json_object *copy_object(struct json_object *from, size_t *objects)
{
	struct json_object *object = json_tree_made(json_object_new_object());
	int places = json_object_get_object(from)->size;

	// The table as large as that of the original at once: it would double several times.
	if (places > TREE_TABLE && json_tree_charge((size_t)(places - TREE_TABLE) * TREE_TABLE_PLACE))
		(void)lh_table_resize(json_object_get_object(object), places);
	for (struct doc_iter it = doc_iter(doc_of(from)); doc_next(&it) && json_tree_charge_member(object, it.name.n);)
		json_object_object_add_ex(object, it.name.p, copy_value(json_tree_of(it.value), objects),
			JSON_C_OBJECT_ADD_KEY_IS_NEW);
	json_tree_charge_object(object, objects);
	return object;
}

// A scalar never changes, so it is shared and not copied.
static struct json_object *copy_value(struct json_object *tree, size_t *objects)
{
	enum doc_kind kind = budget_is_over() ? DOC_NULL : doc_kind(doc_of(tree));

	switch (kind) {
	case DOC_ARRAY: return copy_array(tree, objects);
	case DOC_OBJECT: return copy_object(tree, objects);
	case DOC_NULL: return NULL;
	case DOC_BOOL:
	case DOC_NUMBER:
	case DOC_STRING: break;
	}
	return json_object_get(tree);
}

struct json_object *json_tree_copy(struct json_object *tree)
{
	size_t objects = 0;

	return copy_value(tree, &objects);
}

struct doc *doc_copy(struct pool *pool, const struct doc *doc)
{
	budget_hold();
	struct doc *copy = json_tree_keep(pool, json_tree_copy(json_tree_of(doc)));

	budget_release();
	return copy;
}

bool json_tree_add(struct json_object *object, struct str name, struct json_object *value)
{
	struct key key;

	key_open(&key, name);
	bool is_new = !json_object_object_get_ex(object, key.p, NULL);
	if (is_new && json_object_object_add_ex(object, key.p, value, JSON_C_OBJECT_ADD_KEY_IS_NEW) != 0)
		json_tree_made(NULL);
	key_close(&key);
	return is_new;
}

// Takes over the caller's reference to value.
static void set(struct doc *object, struct str name, struct json_object *value)
{
	struct key key;

	assert(doc_kind(object) == DOC_OBJECT);
	assert(str_find(name, '\0', 0) == name.n);
	key_open(&key, name);
	if (json_object_object_add(json_tree_of(object), key.p, value) != 0)
		json_tree_made(NULL);
	key_close(&key);
}

void doc_set(struct doc *object, struct str name, struct doc *value)
{
	json_tree_charge_member(json_tree_of(object), name.n);
	set(object, name, json_object_get(json_tree_of(value)));
}

void doc_remove(struct doc *object, struct str name)
{
	struct key key;

	if (str_find(name, '\0', 0) < name.n)
		return;
	key_open(&key, name);
	json_object_object_del(json_tree_of(object), key.p);
	key_close(&key);
}

void doc_push(struct doc *array, struct doc *value)
{
	assert(doc_kind(array) == DOC_ARRAY);
	json_tree_charge(2 * sizeof(void *));
	if (json_object_array_add(json_tree_of(array), json_object_get(json_tree_of(value))) != 0)
		json_tree_made(NULL);
}

void doc_set_str(struct pool *pool, struct doc *object, const char *name, struct str value)
{
	pool_charge(pool, TREE_VALUE + TREE_MEMBER + value.n);
	set(object, str_c(name), json_tree_string(value));
}

void doc_set_u64(struct pool *pool, struct doc *object, const char *name, uint64_t value)
{
	pool_charge(pool, TREE_VALUE + TREE_MEMBER);
	set(object, str_c(name), json_tree_made(json_object_new_uint64(value)));
}

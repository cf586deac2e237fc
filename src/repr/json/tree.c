// SPDX-License-Identifier: Apache-2.0
// Makes, copies and changes trees of JSON values (internal.h says how they stand in memory).
//
// A container that is full moves to a place twice as large; the old one stays in the pool until that is freed. An object of few
// members is searched from the first one on. A larger one has an index behind its members: a table with open addressing, twice as
// large as there is room for members, that holds each member's place + 1. Clients choose the names, so they are hashed under a
// random key.
#include "base/base.h"

#include <errno.h>
#include <pthread.h>
#include <unistd.h>

#include "base/budget.h"
#include "base/log.h"
#include "base/pool.h"
#include "base/siphash.h"
#include "repr/json/internal.h"

enum { JSON_FEW = 64, JSON_FIRST_ROOM = 4 };

// ---- members

static uint64_t index_key[SIPHASH_KEY];

static void make_index_key(void)
{
	if (getentropy(index_key, sizeof(index_key)) != 0) {
		log_error("the system provides no random bytes: %s", strerror(errno));
		abort();
	}
}

// The key of all indexes of this process. It is made when the first large object is. libtenure has this file, too, and is not
// linked with the library behind digest_random().
static const uint64_t *key_of_indexes(void)
{
	static pthread_once_t made = PTHREAD_ONCE_INIT;

	(void)pthread_once(&made, make_index_key);
	return index_key;
}

// The length of a name in the upper half, its first and last bytes in the lower one.
static uint64_t member_key(struct str name)
{
	uint32_t first = 0, last = 0;

	if (name.n >= sizeof(first)) {
		memcpy(&first, name.p, sizeof(first));
		memcpy(&last, name.p + name.n - sizeof(last), sizeof(last));
	} else {
		for (size_t i = 0; i < name.n; i++)
			first = first << 8 | (unsigned char)name.p[i];
	}
	return (uint64_t)name.n << 32 | (first ^ (last << 7 | last >> 25));
}

static bool has_name(const struct doc_member *member, uint64_t key, struct str name)
{
	return member->key == key && member->name != NULL && memcmp(member->name, name.p, name.n) == 0;
}

// How many slots the index of an object with that room has: a power of two, so that a hash is cut to it by a mask.
static size_t index_slots(size_t room)
{
	size_t slots = (size_t)2 * JSON_FEW;

	if (room <= JSON_FEW)
		return 0;
	while (slots < 2 * room)
		slots *= 2;
	return slots;
}

static uint32_t *index_of(const struct doc *object)
{
	return (uint32_t *)(void *)(object->members + object->room);
}

// The slot of the member of that name, or the free one where it would be entered.
static uint32_t *find_slot(const struct doc *object, uint64_t key, struct str name)
{
	size_t mask = index_slots(object->room) - 1;
	uint32_t *index = index_of(object);

	for (size_t at = siphash(key_of_indexes(), name) & mask;; at = (at + 1) & mask) {
		if (index[at] == 0 || has_name(&object->members[index[at] - 1], key, name))
			return &index[at];
	}
}

static struct doc_member *find_member(const struct doc *object, uint64_t key, struct str name)
{
	if (object->room > JSON_FEW) {
		uint32_t slot = *find_slot(object, key, name);
		return slot != 0 ? &object->members[slot - 1] : NULL;
	}
	struct doc_member *member = object->members, *end = member + object->used;
	for (;; member++) {
		// Four keys in a step: bodies of some fifty members are searched again and again.
		while (end - member >= 4 && member[0].key != key && member[1].key != key && member[2].key != key && member[3].key != key)
			member += 4;
		while (member < end && member->key != key)
			member++;
		if (member == end)
			return NULL;
		if (has_name(member, key, name))
			return member;
	}
}

struct doc_member *json_find_member(const struct doc *object, struct str name)
{
	if (object->n == 0 || name.n > UINT32_MAX)
		return NULL;
	return find_member(object, member_key(name), name);
}

// Gives the object place for members; enters those that it has into the new index.
static void place_members(struct doc *object, struct doc_member *members, size_t room)
{
	if (object->used > 0)
		memcpy(members, object->members, object->used * sizeof(*members));
	object->members = members;
	object->room = (uint32_t)room;
	if (room <= JSON_FEW)
		return;
	memset(index_of(object), 0, index_slots(room) * sizeof(uint32_t));
	for (uint32_t i = 0; i < object->used; i++) {
		struct str name = str_n(members[i].name, members[i].key >> 32);
		if (name.p != NULL)
			*find_slot(object, members[i].key, name) = i + 1;
	}
}

static struct doc_member *alloc_members(struct pool *pool, size_t room)
{
	return pool_alloc(pool, room * sizeof(struct doc_member) + index_slots(room) * sizeof(uint32_t));
}

static size_t more_room(const struct doc *container)
{
	size_t room = JSON_FIRST_ROOM;

	while (room <= container->used)
		room *= 2;
	assert(room <= UINT32_MAX);
	return room;
}

// The object has no member of that name.
static void append_member(struct doc *object, uint64_t key, struct str name, struct doc *value)
{
	if (object->used == object->room) {
		size_t room = more_room(object);
		place_members(object, alloc_members(object->pool, room), room);
	}
	object->members[object->used] = (struct doc_member){ key, name.p, value };
	if (object->room > JSON_FEW)
		*find_slot(object, key, name) = object->used + 1;
	object->used++;
	object->n++;
}

bool json_add_member(struct doc *object, struct str name, struct doc *value)
{
	uint64_t key = member_key(name);

	assert(object->kind == DOC_OBJECT && name.n <= UINT32_MAX);
	if (object->n > 0 && find_member(object, key, name) != NULL)
		return false;
	append_member(object, key, name, value);
	return true;
}

void doc_set(struct doc *object, struct str name, struct doc *value)
{
	assert(doc_kind(object) == DOC_OBJECT && name.n <= UINT32_MAX);
	assert(str_find(name, '\0', 0) == name.n);
	struct doc_member *member = json_find_member(object, name);

	if (member != NULL)
		member->value = value;
	else
		append_member(object, member_key(name), str_dup(object->pool, name), value);
}

// The place of a removed member stays empty, so that whoever goes through the members meanwhile finds the next one.
void doc_remove(struct doc *object, struct str name)
{
	struct doc_member *member = doc_kind(object) == DOC_OBJECT ? json_find_member(object, name) : NULL;

	if (member == NULL)
		return;
	member->name = NULL;
	object->n--;
}

// ---- elements

static void grow_array(struct doc *array)
{
	size_t room = more_room(array);
	struct doc **elements = pool_alloc(array->pool, room * sizeof(struct doc *));

	if (array->used > 0)
		memcpy(elements, array->elements, array->used * sizeof(struct doc *));
	array->elements = elements;
	array->room = (uint32_t)room;
}

void json_insert_element(struct doc *array, size_t index, struct doc *value)
{
	assert(doc_kind(array) == DOC_ARRAY && index <= array->n);
	if (array->used == array->room)
		grow_array(array);
	memmove(&array->elements[index + 1], &array->elements[index], (array->n - index) * sizeof(struct doc *));
	array->elements[index] = value;
	array->n = ++array->used;
}

void json_replace_element(struct doc *array, size_t index, struct doc *value)
{
	assert(doc_kind(array) == DOC_ARRAY && index < array->n);
	array->elements[index] = value;
}

void json_remove_element(struct doc *array, size_t index)
{
	assert(doc_kind(array) == DOC_ARRAY && index < array->n);
	memmove(&array->elements[index], &array->elements[index + 1], (array->n - index - 1) * sizeof(struct doc *));
	array->n = --array->used;
}

void doc_push(struct doc *array, struct doc *value)
{
	assert(doc_kind(array) == DOC_ARRAY);
	json_insert_element(array, array->n, value);
}

// ---- values

static struct doc *new_value(struct pool *pool, struct doc value)
{
	struct doc *made = pool_alloc(pool, sizeof(*made));

	*made = value;
	return made;
}

struct doc *doc_new_object(struct pool *pool)
{
	return new_value(pool, (struct doc){ .kind = DOC_OBJECT, .pool = pool });
}

struct doc *doc_new_array(struct pool *pool)
{
	return new_value(pool, (struct doc){ .kind = DOC_ARRAY, .pool = pool });
}

struct doc *json_string_of(struct pool *pool, struct str text)
{
	assert(text.n <= UINT32_MAX && text.p[text.n] == '\0');
	return new_value(pool, (struct doc){ .kind = DOC_STRING, .n = (uint32_t)text.n, .text = text.p });
}

struct doc *doc_new_string(struct pool *pool, struct str s)
{
	return json_string_of(pool, str_dup(pool, s));
}

struct doc *doc_new_i64(struct pool *pool, int64_t value)
{
	return new_value(pool, (struct doc){ .kind = DOC_NUMBER, .is_integer = true, .is_negative = value < 0, .integer = (uint64_t)value });
}

struct doc *doc_new_u64(struct pool *pool, uint64_t value)
{
	return new_value(pool, (struct doc){ .kind = DOC_NUMBER, .is_integer = true, .integer = value });
}

// The integer for a number that has none of its own form; NULL: the value stays as it is.
static struct doc *integer_of(struct pool *pool, const struct doc *value)
{
	int64_t integer;

	if (doc_kind(value) != DOC_NUMBER || value->is_integer || !doc_whole_i64(value, &integer))
		return NULL;
	return doc_new_i64(pool, integer);
}

void doc_make_integers(struct pool *pool, struct doc *doc)
{
	struct doc *integer;

	for (struct doc_iter it = doc_iter(doc); doc_next(&it);) {
		if ((integer = integer_of(pool, it.value)) != NULL)
			doc_set(doc, it.name, integer);
		else
			doc_make_integers(pool, json_own(it.value));
	}
	for (size_t i = 0; i < doc_elements(doc); i++) {
		if ((integer = integer_of(pool, doc_at(doc, i))) != NULL)
			json_replace_element(doc, i, integer);
		else
			doc_make_integers(pool, json_own(doc_at(doc, i)));
	}
}

// A scalar never changes, so all trees share these two.
struct doc *doc_new_bool(struct pool *pool, bool value)
{
	static const struct doc yes = { .kind = DOC_BOOL, .truth = true }, no = { .kind = DOC_BOOL, .truth = false };

	UNUSED(pool);
	return json_own(value ? &yes : &no);
}

void doc_set_str(struct pool *pool, struct doc *object, const char *name, struct str value)
{
	doc_set(object, str_c(name), doc_new_string(pool, value));
}

void doc_set_u64(struct pool *pool, struct doc *object, const char *name, uint64_t value)
{
	doc_set(object, str_c(name), doc_new_u64(pool, value));
}

// ---- copies

// shared: the copy's pool holds the original, too, or a pool that lives longer does. Then scalars and names need no copy.
static struct doc *copy_value(struct pool *pool, const struct doc *doc, bool shared);

static struct doc *copy_array(struct pool *pool, const struct doc *from)
{
	struct doc *array = doc_new_array(pool);
	bool shared = from->pool == pool;

	if (from->n == 0)
		return array;
	array->elements = pool_calloc(pool, from->n, sizeof(struct doc *));
	array->n = array->used = array->room = from->n;
	for (size_t i = 0; i < from->n && !budget_is_over(); i++)
		array->elements[i] = copy_value(pool, from->elements[i], shared);
	return array;
}

static struct doc *copy_object(struct pool *pool, const struct doc *from)
{
	struct doc *object = doc_new_object(pool);
	bool shared = from->pool == pool;

	if (from->n == 0)
		return object;
	// A larger index needs as much room as the original's, because the copy takes it over.
	size_t room = from->room > JSON_FEW ? from->room : from->used;
	struct doc_member *members = alloc_members(pool, room);
	memcpy(members, from->members, from->used * sizeof(*members));
	if (room > JSON_FEW)
		memcpy(members + room, index_of(from), index_slots(room) * sizeof(uint32_t));
	for (struct doc_member *member = members, *end = members + from->used; member < end; member++) {
		if (member->name == NULL)
			continue;
		member->value = budget_is_over() ? NULL : copy_value(pool, member->value, shared);
		if (!shared)
			member->name = str_dup(pool, str_n(member->name, member->key >> 32)).p;
	}
	object->members = members;
	object->n = from->n;
	object->used = from->used;
	object->room = (uint32_t)room;
	return object;
}

static struct doc *copy_scalar(struct pool *pool, const struct doc *from)
{
	struct doc *copy = new_value(pool, *from);

	if (from->kind == DOC_STRING || from->text != NULL)
		copy->text = str_dup(pool, str_n(from->text, from->n)).p;
	return copy;
}

static struct doc *copy_value(struct pool *pool, const struct doc *doc, bool shared)
{
	switch (doc_kind(doc)) {
	case DOC_ARRAY: return copy_array(pool, doc);
	case DOC_OBJECT: return copy_object(pool, doc);
	case DOC_STRING:
	case DOC_NUMBER: return shared ? json_own(doc) : copy_scalar(pool, doc);
	case DOC_NULL:
	case DOC_BOOL: break;
	}
	return json_own(doc);
}

struct doc *doc_copy(struct pool *pool, const struct doc *doc)
{
	return copy_value(pool, doc, false);
}

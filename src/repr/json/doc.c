// SPDX-License-Identifier: Apache-2.0
// Looks at trees of JSON values, and compares them.
#include "base/base.h"

#include "base/budget.h"
#include "base/pool.h"
#include "repr/json/internal.h"

// ---- looking at a value

enum doc_kind doc_kind(const struct doc *doc)
{
	return doc != NULL ? doc->kind : DOC_NULL;
}

bool doc_bool(const struct doc *doc)
{
	return doc_kind(doc) == DOC_BOOL && doc->truth;
}

struct str doc_string(const struct doc *doc)
{
	return doc_kind(doc) == DOC_STRING ? str_n(doc->text, doc->n) : STR("");
}

// "-0" is no integer here, since it is written as it came, but its value is one.
static bool is_minus_zero(const struct doc *doc)
{
	return doc_kind(doc) == DOC_NUMBER && !doc->is_integer && str_eq(str_n(doc->text, doc->n), STR("-0"));
}

static bool is_integer(const struct doc *doc)
{
	return doc_kind(doc) == DOC_NUMBER && doc->is_integer;
}

bool doc_i64(const struct doc *doc, int64_t *value)
{
	*value = 0;
	if (!is_integer(doc))
		return is_minus_zero(doc);
	if (!doc->is_negative && doc->integer > INT64_MAX)
		return false;
	*value = (int64_t)doc->integer;
	return true;
}

bool doc_whole_i64(const struct doc *doc, int64_t *value)
{
	if (doc_i64(doc, value))
		return true;
	return doc_kind(doc) == DOC_NUMBER && doc->text != NULL && json_number_whole(str_n(doc->text, doc->n), value);
}

bool doc_u64(const struct doc *doc, uint64_t *value)
{
	*value = 0;
	if (!is_integer(doc))
		return is_minus_zero(doc);
	*value = doc->is_negative ? 0 : doc->integer;
	return !doc->is_negative;
}

double json_double(const struct doc *number)
{
	assert(doc_kind(number) == DOC_NUMBER);
	if (!number->is_integer)
		return number->real;
	return number->is_negative ? (double)(int64_t)number->integer : (double)number->integer;
}

enum { INTEGER_TEXT = 24 }; // bytes that an integer has at most, and a NUL

// An integer that was not parsed from a text is printed into the caller's.
static struct str number_text(const struct doc *number, char text[INTEGER_TEXT])
{
	assert(doc_kind(number) == DOC_NUMBER);
	if (number->text != NULL)
		return str_n(number->text, number->n);
	if (number->is_negative)
		snprintf(text, INTEGER_TEXT, "%lld", (long long)(int64_t)number->integer);
	else
		snprintf(text, INTEGER_TEXT, "%llu", (unsigned long long)number->integer);
	return str_c(text);
}

struct str doc_number_text(struct pool *pool, const struct doc *doc)
{
	char text[INTEGER_TEXT];

	return str_dup(pool, number_text(doc, text));
}

size_t doc_length(const struct doc *doc)
{
	enum doc_kind kind = doc_kind(doc);

	return kind == DOC_ARRAY || kind == DOC_OBJECT ? doc->n : 0;
}

size_t doc_elements(const struct doc *doc)
{
	return doc_kind(doc) == DOC_ARRAY ? doc->n : 0;
}

const struct doc *doc_at(const struct doc *array, size_t index)
{
	budget_work(1);
	return index < doc_elements(array) ? array->elements[index] : NULL;
}

bool doc_get(const struct doc *object, struct str name, const struct doc **value)
{
	budget_work(1);
	const struct doc_member *member = doc_kind(object) == DOC_OBJECT ? json_find_member(object, name) : NULL;
	*value = member != NULL ? member->value : NULL;
	return member != NULL;
}

struct doc *doc_own_item(struct doc *array, size_t index)
{
	return json_own(doc_at(array, index));
}

struct doc *doc_own_member(struct doc *object, struct str name)
{
	const struct doc *value;

	(void)doc_get(object, name, &value);
	return json_own(value);
}

struct doc_iter doc_iter(const struct doc *object)
{
	return (struct doc_iter){ .object = doc_kind(object) == DOC_OBJECT ? object : NULL };
}

bool doc_next(struct doc_iter *it)
{
	if (it->object == NULL)
		return false;
	while (it->next < it->object->used) {
		const struct doc_member *member = &it->object->members[it->next++];
		if (member->name == NULL)
			continue;
		budget_work(1);
		it->name = str_n(member->name, member->key >> 32);
		it->value = member->value;
		return true;
	}
	return false;
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

static bool equal_numbers(const struct doc *a, const struct doc *b)
{
	if (a->is_integer != b->is_integer)
		return false; // only one of them is written as an integer
	if (!a->is_integer)
		return str_eq(str_n(a->text, a->n), str_n(b->text, b->n));
	return a->is_negative == b->is_negative && a->integer == b->integer;
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
	return doc_kind(a) == DOC_NUMBER ? equal_numbers(a, b) : equal_but_numbers(a, b, doc_equal);
}

bool doc_equal_by_value(const struct doc *a, const struct doc *b)
{
	char in_a[INTEGER_TEXT], in_b[INTEGER_TEXT];

	if (a == b)
		return true;
	if (doc_kind(a) != doc_kind(b))
		return false;
	if (doc_kind(a) != DOC_NUMBER)
		return equal_but_numbers(a, b, doc_equal_by_value);
	return equal_numbers(a, b) || json_number_same(number_text(a, in_a), number_text(b, in_b));
}

int doc_order_numbers(const struct doc *a, const struct doc *b)
{
	char in_a[INTEGER_TEXT], in_b[INTEGER_TEXT];

	assert(doc_kind(a) == DOC_NUMBER && doc_kind(b) == DOC_NUMBER);
	return json_number_order(number_text(a, in_a), number_text(b, in_b));
}

bool doc_is_whole(const struct doc *number)
{
	char text[INTEGER_TEXT];

	assert(doc_kind(number) == DOC_NUMBER);
	return json_number_is_whole(number_text(number, text));
}

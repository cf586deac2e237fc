// SPDX-License-Identifier: Apache-2.0
// JSON values as a program reads them that has the messages compiled in: which it can't read, and which are equal to it.
#include "base/base.h"

#include "base/base64.h"
#include "base/clock.h"
#include "types/common/checks.h"
#include "types/common/messages.h"

// ---- what can't be read

static void check_members(struct field_faults *faults, const struct protobuf_message *message, const struct field_path *up,
	const struct doc *object, const struct doc *before);

// Such a program reads no time without a time zone.
static bool is_time(const struct doc *value)
{
	struct str text = doc_string(value);
	bool has_zone = text.n > 6 && (text.p[text.n - 1] == 'Z' || text.p[text.n - 6] == '+' || text.p[text.n - 6] == '-');
	int64_t us;

	return has_zone && clock_parse_rfc3339(text, &us);
}

// The functions below return NULL if the value can be read, else what it must be.

static const char *wrong_integer(const struct doc *value, int64_t least, int64_t most)
{
	int64_t number;

	if (doc_kind(value) != DOC_NUMBER || !doc_i64(value, &number))
		return "must be an integer";
	return number >= least && number <= most ? NULL : "must be an integer of 32 bits";
}

static const char *wrong_message(struct pool *pool, const struct protobuf_message *message, const struct doc *value)
{
	enum doc_kind kind = doc_kind(value);
	long double number;

	if (message == &proto_time)
		return is_time(value) ? NULL : "must be a time, such as \"2026-11-21T05:24:00Z\"";
	if (message == &proto_int_or_string && kind != DOC_NUMBER)
		return kind == DOC_STRING ? NULL : "must be an integer or a string";
	if (message == &proto_int_or_string)
		return wrong_integer(value, INT32_MIN, INT32_MAX);
	if (message == &proto_quantity && kind != DOC_NUMBER && kind != DOC_STRING)
		return "must be a quantity, a number or a string such as \"500m\"";
	if (message == &proto_quantity)
		return check_read_quantity(pool, value, &number) ? NULL : QUANTITY_FORM;
	return kind == DOC_OBJECT || message->to_json != NULL ? NULL : "must be an object";
}

static const char *wrong_value(struct pool *pool, const struct protobuf_field *field, const struct doc *value)
{
	enum doc_kind kind = doc_kind(value);

	switch (field->type) {
	case PROTOBUF_BOOL:
		return kind == DOC_BOOL ? NULL : "must be true or false";
	case PROTOBUF_INT32:
		return wrong_integer(value, INT32_MIN, INT32_MAX);
	case PROTOBUF_INT64:
		return wrong_integer(value, INT64_MIN, INT64_MAX);
	case PROTOBUF_DOUBLE:
		return kind == DOC_NUMBER ? NULL : "must be a number";
	case PROTOBUF_TEXT:
		return kind == DOC_STRING ? NULL : "must be a string";
	case PROTOBUF_BYTES:
		return kind == DOC_STRING && base64_is_valid(doc_string(value)) ? NULL : "must be a string of base64";
	case PROTOBUF_JSON:
		return NULL;
	case PROTOBUF_MESSAGE:
		return wrong_message(pool, field->inside, value);
	}
	return NULL;
}

static void refuse(struct field_faults *faults, const struct field_path *at, const struct doc *value, const struct doc *before,
	const char *must)
{
	if (before == NULL || !doc_equal(value, before))
		field_invalid(faults, at, value, must);
}

// A value that is null counts as absent.
static void check_one(struct field_faults *faults, const struct protobuf_field *field, const struct field_path *at,
	const struct doc *value, const struct doc *before)
{
	const char *must = value != NULL ? wrong_value(faults->pool, field, value) : NULL;

	if (must != NULL)
		refuse(faults, at, value, before, must);
	else if (field->type == PROTOBUF_MESSAGE && field->inside->to_json == NULL)
		check_members(faults, field->inside, at, value, before);
}

static void check_field(struct field_faults *faults, const struct protobuf_field *field, const struct field_path *at,
	const struct doc *value, const struct doc *before)
{
	const struct doc *stored;

	if (field->form == PROTOBUF_LIST && doc_kind(value) != DOC_ARRAY)
		refuse(faults, at, value, before, "must be an array");
	else if (field->form == PROTOBUF_MAP && doc_kind(value) != DOC_OBJECT)
		refuse(faults, at, value, before, "must be an object");
	else if (field->form != PROTOBUF_LIST && field->form != PROTOBUF_MAP)
		check_one(faults, field, at, value, before);
	for (size_t i = 0; field->form == PROTOBUF_LIST && i < doc_elements(value); i++) {
		const struct field_path item = field_index(at, i);
		check_one(faults, field, &item, doc_at(value, i), i < doc_elements(before) ? doc_at(before, i) : NULL);
	}
	for (struct doc_iter it = doc_iter(value); field->form == PROTOBUF_MAP && doc_next(&it);) {
		const struct field_path entry = field_key(at, it.name);
		check_one(faults, field, &entry, it.value, doc_get(before, it.name, &stored) ? stored : NULL);
	}
}

static void check_members(struct field_faults *faults, const struct protobuf_message *message, const struct field_path *up,
	const struct doc *object, const struct doc *before)
{
	for (const struct protobuf_field *field = message->fields; field->number != 0; field++) {
		const struct field_path at = field_name(up, str_c(field->name));
		const struct doc *value = NULL, *stored = NULL;
		if (field->form == PROTOBUF_INLINE)
			check_members(faults, field->inside, up, object, before);
		else if (doc_get(object, at.name, &value) && value != NULL)
			check_field(faults, field, &at, value, doc_get(before, at.name, &stored) ? stored : NULL);
	}
}

void message_check(struct field_faults *faults, const struct protobuf_message *message, const struct doc *object, const struct doc *before)
{
	check_members(faults, message, NULL, object, before);
}

// ---- what is equal

static const struct protobuf_field *find_field(const struct protobuf_message *message, struct str name)
{
	for (const struct protobuf_field *field = message->fields; field->number != 0; field++) {
		const struct protobuf_field *found = field;
		if (field->form == PROTOBUF_INLINE)
			found = find_field(field->inside, name);
		else if (!str_eq_c(name, field->name))
			found = NULL;
		if (found != NULL)
			return found;
	}
	return NULL;
}

// Does the value, which is normal, mean the same as its absence?
static bool means_absent(const struct protobuf_field *field, const struct doc *value)
{
	bool is_plain = field->form == PROTOBUF_VALUE || (field->form == PROTOBUF_ONE && field->type != PROTOBUF_MESSAGE);
	int64_t number;

	switch (doc_kind(value)) {
	case DOC_NULL:
		return true;
	case DOC_BOOL:
		return is_plain && !doc_bool(value);
	case DOC_NUMBER:
		return is_plain && doc_whole_i64(value, &number) && number == 0;
	case DOC_STRING:
		return is_plain && (doc_string(value).n == 0 || (field->inside == &proto_quantity && str_eq(doc_string(value), STR("0"))));
	case DOC_ARRAY:
		return field->form == PROTOBUF_LIST && doc_length(value) == 0;
	case DOC_OBJECT:
		return (field->form == PROTOBUF_MAP || field->form == PROTOBUF_VALUE) && doc_length(value) == 0;
	}
	return false;
}

static void make_normal(struct pool *pool, const struct protobuf_message *message, struct doc *object);

// Makes a value of the field, a copy, normal in place. Returns it, or what replaces it.
static struct doc *normal_value(struct pool *pool, const struct protobuf_field *field, struct doc *value)
{
	bool is_message = field->type == PROTOBUF_MESSAGE;
	char text[64]; // of a quantity
	long double number;

	if (is_message && field->inside == &proto_quantity && check_read_quantity(pool, value, &number)) {
		snprintf(text, sizeof(text), "%.15Lg", number);
		return doc_new_string(pool, str_c(text));
	}
	if (is_message && field->inside->to_json == NULL && doc_kind(value) == DOC_OBJECT)
		make_normal(pool, field->inside, value);
	return value;
}

static struct doc *normal_field(struct pool *pool, const struct protobuf_field *field, struct doc *value)
{
	if (field->form == PROTOBUF_LIST && doc_kind(value) == DOC_ARRAY) {
		for (size_t i = 0; i < doc_elements(value); i++)
			(void)normal_value(pool, field, doc_own_item(value, i)); // no list has quantities
		return value;
	}
	if (field->form == PROTOBUF_MAP && doc_kind(value) == DOC_OBJECT) {
		for (struct doc_iter it = doc_iter(value); doc_next(&it);)
			doc_set(value, it.name, normal_value(pool, field, doc_own_member(value, it.name)));
		return value;
	}
	return normal_value(pool, field, value);
}

static void make_normal(struct pool *pool, const struct protobuf_message *message, struct doc *object)
{
	for (struct doc_iter it = doc_iter(object); doc_next(&it);) {
		const struct protobuf_field *field = find_field(message, it.name);
		if (field == NULL)
			continue;
		struct doc *value = doc_own_member(object, it.name), *normal = normal_field(pool, field, value);
		if (means_absent(field, normal))
			doc_remove(object, it.name);
		else if (normal != value)
			doc_set(object, it.name, normal);
	}
}

struct doc *message_normal_member(struct pool *pool, const struct protobuf_message *message, struct str name, const struct doc *value)
{
	const struct protobuf_field *field = find_field(message, name);
	struct doc *copy = doc_copy(pool, value);

	if (field == NULL)
		return copy;
	copy = normal_field(pool, field, copy);
	return means_absent(field, copy) ? NULL : copy;
}

struct doc *message_normal(struct pool *pool, const struct protobuf_message *message, const struct doc *object)
{
	struct doc *copy = doc_copy(pool, object);

	make_normal(pool, message, copy);
	return copy;
}

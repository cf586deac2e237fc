// SPDX-License-Identifier: Apache-2.0
// JSON values as a program reads them that has the messages compiled in: which are equal to it.
#include "base/base.h"

#include "types/common/checks.h"
#include "types/common/messages.h"

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
	if (is_message && field->inside->tell == NULL && doc_kind(value) == DOC_OBJECT)
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

// SPDX-License-Identifier: Apache-2.0
// Makes documents of Protocol Buffers messages.
#include "base/base.h"

#include <math.h>

#include "base/pool.h"
#include "repr/json/internal.h"
#include "repr/protobuf/protobuf.h"

// ---- the wire

// Seven bits a byte, the lowest first; a byte that is not the last has its eighth bit set.
static bool cut_varint(struct str *rest, uint64_t *value)
{
	*value = 0;
	for (size_t i = 0; i < rest->n && i < 10; i++) {
		unsigned char c = (unsigned char)rest->p[i];
		if (i == 9 && c > 1)
			return false;
		*value |= (uint64_t)(c & 0x7f) << (7 * i);
		if (c < 0x80) {
			*rest = str_part(*rest, i + 1, rest->n);
			return true;
		}
	}
	return false;
}

static bool cut_bytes(struct str *rest, uint64_t n, struct str *bytes)
{
	if (n > rest->n)
		return false;
	*bytes = str_part(*rest, 0, (size_t)n);
	*rest = str_part(*rest, (size_t)n, rest->n);
	return true;
}

static bool cut_fixed(struct str *rest, size_t n, uint64_t *value)
{
	struct str bytes;

	if (!cut_bytes(rest, n, &bytes))
		return false;
	for (size_t i = 0; i < n; i++)
		*value |= (uint64_t)(unsigned char)bytes.p[i] << (8 * i);
	return true;
}

bool protobuf_next(struct str *rest, struct protobuf_item *item, const char **why)
{
	uint64_t key, n;

	*item = (struct protobuf_item){ .bytes = STR_NONE };
	*why = "has a field's number that is none, or is cut off";
	if (!cut_varint(rest, &key) || key >> 3 == 0 || key >> 3 > 0x1fffffff)
		return false;
	item->field = (uint32_t)(key >> 3);
	item->wire = (enum protobuf_wire)(key & 7);
	switch (item->wire) {
	case WIRE_VARINT:
		*why = "has a number of more than 64 bits, or is cut off in one";
		return cut_varint(rest, &item->number);
	case WIRE_64:
	case WIRE_32:
		*why = "is cut off in a number";
		return cut_fixed(rest, item->wire == WIRE_64 ? 8 : 4, &item->number);
	case WIRE_BYTES:
		*why = "has a field that is longer than what it is in";
		return cut_varint(rest, &n) && cut_bytes(rest, n, &item->bytes);
	}
	*why = "has a field of a wire type that is not in use: neither a number nor bytes";
	return false;
}

// ---- messages

struct reading {
	struct pool *pool;
	struct doc_limits limits;
	size_t nodes;
	struct str *error;
};

static bool read_message(struct reading *reading, const struct protobuf_message *message, struct str bytes,
	const struct place *place, size_t depth, struct doc **doc);

static bool fail(struct reading *reading, const struct place *place, const char *why)
{
	struct str at = place_text(reading->pool, place);

	*reading->error = str_printf(reading->pool, "in protobuf, %.*s %s", STR_ARG(at), why);
	return false;
}

static bool count_node(struct reading *reading, const struct place *place, size_t depth)
{
	reading->nodes++;
	if (depth > reading->limits.depth || depth > REPR_DEPTH_MAX)
		return fail(reading, place, "is nested too deep");
	if (reading->limits.nodes > 0 && reading->nodes > reading->limits.nodes)
		return fail(reading, place, "is one value too many");
	return true;
}

static bool read_double(struct reading *reading, uint64_t bits, const struct place *place, struct doc **value)
{
	struct str text = STR_NONE, error;
	double number, again = 0;

	static_assert(sizeof(number) == sizeof(bits), "a double has 64 bits");
	memcpy(&number, &bits, sizeof(number));
	if (!isfinite(number))
		return fail(reading, place, "must be a finite number");
	// Finds the shortest text that yields exactly this number.
	for (int digits = 15; digits <= 17 && (text.p == NULL || again != number); digits++) {
		text = str_printf(reading->pool, "%.*g", digits, number);
		again = strtod(text.p, NULL);
	}
	return doc_parse_json(reading->pool, text, (struct doc_limits){ 1, 1 }, value, &error) ||
	       fail(reading, place, "must be a number that JSON can have");
}

static bool read_text(struct reading *reading, struct str bytes, const struct place *place, struct doc **value)
{
	if (!str_utf8_ok(bytes, NULL))
		return fail(reading, place, "must be UTF-8");
	*value = doc_new_string(reading->pool, bytes);
	return true;
}

static bool read_json(struct reading *reading, struct str bytes, const struct place *place, size_t depth,
	struct doc **value)
{
	// Each value takes at least one byte, so the length bounds their number.
	struct doc_limits limits = { .depth = reading->limits.depth - depth + 1, .nodes = bytes.n };
	struct str error;

	*value = NULL;
	return bytes.n == 0 || doc_parse_json(reading->pool, bytes, limits, value, &error) ||
	       fail(reading, place, "must be a JSON value");
}

static bool read_value(struct reading *reading, const struct protobuf_field *field, const struct protobuf_item *item,
	const struct place *place, size_t depth, struct doc **value)
{
	static const enum protobuf_wire wires[] = {
		[PROTOBUF_BOOL] = WIRE_VARINT, [PROTOBUF_INT32] = WIRE_VARINT, [PROTOBUF_INT64] = WIRE_VARINT, [PROTOBUF_DOUBLE] = WIRE_64,
		[PROTOBUF_TEXT] = WIRE_BYTES, [PROTOBUF_BYTES] = WIRE_BYTES, [PROTOBUF_JSON] = WIRE_BYTES,
		[PROTOBUF_MESSAGE] = WIRE_BYTES,
	};
	struct buf text;

	if (item->wire != wires[field->type])
		return fail(reading, place, wires[field->type] == WIRE_BYTES ? "must be bytes, not a number" :
			"must be a number of its type, not something else");
	if (!count_node(reading, place, depth))
		return false;
	switch (field->type) {
	case PROTOBUF_BOOL:
		*value = doc_new_bool(reading->pool, item->number != 0);
		return true;
	case PROTOBUF_INT32:
	case PROTOBUF_INT64:
		*value = doc_new_i64(reading->pool, (int64_t)item->number);
		return true;
	case PROTOBUF_DOUBLE:
		return read_double(reading, item->number, place, value);
	case PROTOBUF_TEXT:
		return read_text(reading, item->bytes, place, value);
	case PROTOBUF_BYTES:
		text = buf_new(reading->pool, item->bytes.n / 3 * 4 + 4);
		buf_add_base64(&text, item->bytes.p, item->bytes.n);
		*value = doc_new_string(reading->pool, buf_str(&text));
		return true;
	case PROTOBUF_JSON:
		return read_json(reading, item->bytes, place, depth, value);
	case PROTOBUF_MESSAGE:
		return read_message(reading, field->inside, item->bytes, place, depth, value);
	}
	return false;
}

static bool is_zero(const struct protobuf_item *item)
{
	return item->wire == WIRE_BYTES ? item->bytes.n == 0 : item->number == 0;
}

// The array or object that collects a field's values.
static struct doc *gathered(struct reading *reading, const struct protobuf_field *field, struct doc *object)
{
	struct doc *there = doc_own_member(object, str_c(field->name));

	if (there != NULL)
		return there;
	struct doc *made = field->form == PROTOBUF_LIST ? doc_new_array(reading->pool) : doc_new_object(reading->pool);
	doc_set(object, str_c(field->name), made);
	return made;
}

static bool add_element(struct reading *reading, const struct protobuf_field *field, const struct protobuf_item *item,
	const struct place *place, size_t depth, struct doc *list)
{
	const struct place here = { .parent = place, .index = doc_length(list) };
	struct doc *value;

	if (!read_value(reading, field, item, &here, depth + 1, &value))
		return false;
	doc_push(list, value);
	return true;
}

static bool add_elements(struct reading *reading, const struct protobuf_field *field, const struct protobuf_item *item,
	const struct place *place, size_t depth, struct doc *object)
{
	struct doc *list = gathered(reading, field, object);
	bool numbers = field->type == PROTOBUF_BOOL || field->type == PROTOBUF_INT32 || field->type == PROTOBUF_INT64;
	struct str rest = item->bytes;

	if (!numbers || item->wire != WIRE_BYTES)
		return add_element(reading, field, item, place, depth, list);
	while (rest.n > 0) { // packed: the values follow each other without tags
		struct protobuf_item one = { .wire = WIRE_VARINT };
		if (!cut_varint(&rest, &one.number))
			return fail(reading, place, "has a number of more than 64 bits, or is cut off in one");
		if (!add_element(reading, field, &one, place, depth, list))
			return false;
	}
	return true;
}

// An entry of a map is a message with key (1) and value (2); either may be missing, and is then empty.
static bool read_entry(struct reading *reading, const struct place *place, struct str rest, struct str *key,
	struct protobuf_item *value)
{
	struct protobuf_item item;
	const char *why;

	*key = STR("");
	while (rest.n > 0) {
		if (!protobuf_next(&rest, &item, &why))
			return fail(reading, place, why);
		if (item.field == 2)
			*value = item;
		else if (item.field == 1 && item.wire == WIRE_BYTES)
			*key = item.bytes;
		else
			return fail(reading, place, "has an entry that is not a key and a value");
	}
	if (!str_utf8_ok(*key, NULL) || str_find(*key, '\0', 0) < key->n)
		return fail(reading, place, "has a key that is not UTF-8, or has a NUL");
	return true;
}

static bool add_entry(struct reading *reading, const struct protobuf_field *field, const struct protobuf_item *item,
	const struct place *place, size_t depth, struct doc *object)
{
	struct doc *map = gathered(reading, field, object), *value;
	struct protobuf_item of_entry = { .wire = WIRE_BYTES, .bytes = STR("") };
	const struct doc *other;
	struct str key;

	if (item->wire != WIRE_BYTES)
		return fail(reading, place, "must be bytes, not a number");
	if (!read_entry(reading, place, item->bytes, &key, &of_entry))
		return false;
	const struct place here = { .parent = place, .name = key };
	if (doc_get(map, key, &other))
		return fail(reading, &here, "is there twice");
	if (!read_value(reading, field, &of_entry, &here, depth + 1, &value))
		return false;
	doc_set(map, key, value);
	return true;
}

static bool fill(struct reading *reading, const struct protobuf_message *message, struct str bytes,
	const struct place *place, size_t depth, struct doc *object);

static bool add_field(struct reading *reading, const struct protobuf_field *field, const struct protobuf_item *item,
	const struct place *place, size_t depth, struct doc *object)
{
	const struct place here = { .parent = place, .name = str_c(field->name) };
	const struct doc *other;
	struct doc *value;

	if (field->form == PROTOBUF_INLINE)
		return item->wire == WIRE_BYTES ? fill(reading, field->inside, item->bytes, place, depth, object) :
			fail(reading, place, "has a number where a message must be");
	if (field->form == PROTOBUF_LIST)
		return add_elements(reading, field, item, &here, depth + 1, object);
	if (field->form == PROTOBUF_MAP)
		return add_entry(reading, field, item, &here, depth + 1, object);
	if (doc_get(object, str_c(field->name), &other))
		return fail(reading, &here, "is there twice");
	if (!read_value(reading, field, item, &here, depth + 1, &value))
		return false;
	if (field->form == PROTOBUF_ZERO || field->form == PROTOBUF_VALUE || field->type == PROTOBUF_MESSAGE || !is_zero(item))
		doc_set(object, str_c(field->name), value);
	return true;
}

static bool fill(struct reading *reading, const struct protobuf_message *message, struct str bytes,
	const struct place *place, size_t depth, struct doc *object)
{
	struct protobuf_item item;
	const char *why;

	while (bytes.n > 0) {
		const struct protobuf_field *field = message->fields;
		if (!protobuf_next(&bytes, &item, &why))
			return fail(reading, place, why);
		while (field->number != 0 && field->number != item.field)
			field++;
		if (field->number == 0 && is_zero(&item))
			continue;
		if (field->number == 0)
			return fail(reading, place, str_printf(reading->pool,
				"has the field %u, which this server does not know: send the object as JSON", item.field).p);
		if (!add_field(reading, field, &item, place, depth, object))
			return false;
	}
	return true;
}

static bool read_message(struct reading *reading, const struct protobuf_message *message, struct str bytes,
	const struct place *place, size_t depth, struct doc **doc)
{
	struct doc *object = doc_new_object(reading->pool);
	const char *why = "";

	*doc = object;
	if (!fill(reading, message, bytes, place, depth, object))
		return false;
	if (message->to_json != NULL && !message->to_json(reading->pool, object, doc, &why))
		return fail(reading, place, why);
	return true;
}

bool protobuf_read(struct pool *pool, const struct protobuf_message *message, struct str bytes,
	struct doc_limits limits, struct doc **doc, struct str *error)
{
	struct reading reading = { .pool = pool, .limits = limits, .error = error };
	const struct place top = { .name = STR("") };

	*doc = NULL;
	return count_node(&reading, &top, 1) && read_message(&reading, message, bytes, &top, 1, doc);
}

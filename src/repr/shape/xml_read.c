// SPDX-License-Identifier: Apache-2.0
// Shapes in XML: reads a document by its shape, element by element.
#include "base/base.h"

#include "base/pool.h"
#include "repr/shape/internal.h"
#include "repr/xml/any.h"

// depth: the number of levels around the value, counted as in JSON.
static bool read_value(struct xml_cursor *xml, const struct shape *shape, size_t depth, const struct place *at,
	struct doc **value);

static bool refuse(struct xml_cursor *xml, const char *what, const struct place *at, struct str known)
{
	struct str where = place_text(xml->pool, at);

	return xml_fail(xml, "the %s %.*s is not known here; known are %.*s", what, STR_ARG(where), STR_ARG(known));
}

static bool deeper(struct xml_cursor *xml, size_t depth)
{
	if (depth < xml->limits.depth)
		return true;
	return xml_fail(xml, "the document is nested more than %zu levels deep", xml->limits.depth);
}

static bool refuse_attributes(struct xml_cursor *xml, const struct place *at)
{
	struct str name, value;

	if (!xml_attribute(xml, &name, &value))
		return !xml->failed;
	struct place place = { .parent = at, .name = name };
	return refuse(xml, "attribute", &place, STR("none"));
}

static bool parse_scalar(struct xml_cursor *xml, enum shape_kind kind, struct str text, struct doc **value)
{
	if (!xml_count(xml))
		return false;
	if (kind == SHAPE_NUMBER)
		return xml_parse_number(xml, text, value);
	if (kind == SHAPE_BOOL)
		return xml_parse_bool(xml, text, value);
	*value = doc_new_string(xml->pool, text);
	return true;
}

static bool read_scalar(struct xml_cursor *xml, enum shape_kind kind, const struct place *at, struct doc **value)
{
	struct str text;

	return refuse_attributes(xml, at) && xml_text(xml, &text) && parse_scalar(xml, kind, text, value);
}

// ---- maps

// Reads the key of a map's entry: the element's name, or the attribute of <entry key="…"> if the key cannot be a name. *escaped:
// is the text of the element?
static bool read_key(struct xml_cursor *xml, const struct place *at, struct str *key, bool *escaped)
{
	struct str name, value;
	bool entry = str_eq_c(xml_name(xml), "entry"), known = true, key_escaped = false;

	*key = str_dup(xml->pool, xml_name(xml));
	*escaped = false;
	while (known && xml_attribute(xml, &name, &value)) {
		struct place place = { .parent = at, .name = name };
		if (str_eq_c(name, "escaped"))
			known = xml_parse_flag(xml, value, escaped);
		else if (entry && str_eq_c(name, "escaped-key"))
			known = xml_parse_flag(xml, value, &key_escaped);
		else if (entry && str_eq_c(name, "key"))
			*key = value;
		else
			known = refuse(xml, "attribute", &place, entry ? STR("\"key\", \"escaped-key\", \"escaped\"") : STR("\"escaped\""));
	}
	if (xml->failed || (key_escaped && !xml_unescape(xml, *key, key)))
		return false;
	return str_find(*key, '\0', 0) == key->n || xml_fail(xml, "a member's name can't hold \\u0000");
}

static bool read_entry(struct xml_cursor *xml, struct doc *map, const struct place *at)
{
	const struct doc *present;
	struct doc *value;
	struct str key, text;
	bool escaped;

	if (!read_key(xml, at, &key, &escaped))
		return false;
	struct place place = { .parent = at, .name = key };
	if (doc_get(map, key, &present)) {
		struct str where = place_text(xml->pool, &place);
		return xml_fail(xml, "%.*s is there twice", STR_ARG(where));
	}
	if (!xml_text(xml, &text) || (escaped && !xml_unescape(xml, text, &text)) || !parse_scalar(xml, SHAPE_STRING, text, &value))
		return false;
	doc_set(map, key, value);
	return true;
}

static bool read_map(struct xml_cursor *xml, size_t depth, const struct place *at, struct doc **value)
{
	if (!deeper(xml, depth) || !refuse_attributes(xml, at))
		return false;
	*value = doc_new_object(xml->pool);
	while (xml_child(xml)) {
		if (!read_entry(xml, *value, at))
			return false;
	}
	return !xml->failed;
}

// ---- lists

static bool read_item(struct xml_cursor *xml, const struct shape *item, size_t depth, struct doc *list,
	const struct place *at)
{
	struct place place = { .parent = at, .index = doc_length(list) };
	struct doc *value;

	if (item->name == NULL ? !xml_any_read(xml, depth, &value) : !read_value(xml, item, depth, &place, &value))
		return false;
	doc_push(list, value);
	return true;
}

static bool read_list(struct xml_cursor *xml, const struct shape *shape, size_t depth, const struct place *at,
	struct doc **value)
{
	const struct shape *item = shape->item;

	if (!deeper(xml, depth) || !refuse_attributes(xml, at))
		return false;
	*value = doc_new_array(xml->pool);
	while (xml_child(xml)) {
		struct place place = { .parent = at, .name = xml_name(xml) };
		if (item->name != NULL && !str_eq_c(place.name, item->name))
			return refuse(xml, "element", &place, str_printf(xml->pool, "\"%s\"", item->name));
		if (!read_item(xml, item, depth + 1, *value, at))
			return false;
	}
	return !xml->failed;
}

// ---- objects

static const struct shape *attribute_member(const struct shape *members, struct str name)
{
	const struct shape *member = shape_find_member(members, name);

	return member != NULL && (member->flags & SHAPE_ATTR) != 0 ? member : NULL;
}

static bool read_attributes(struct xml_cursor *xml, const struct shape *shape, struct doc *object,
	const struct place *at)
{
	struct str name, text;
	struct doc *value;

	while (xml_attribute(xml, &name, &text)) {
		struct place place = { .parent = at, .name = name };
		const struct shape *member = attribute_member(shape->members, name);
		if (member == NULL)
			return refuse(xml, "attribute", &place, shape_member_names(xml->pool, shape->members, SHAPE_ATTRIBUTES));
		if ((member->flags & SHAPE_NOT_READ) != 0)
			continue;
		if (!parse_scalar(xml, member->kind, text, &value))
			return false;
		doc_set(object, name, value);
	}
	return !xml->failed;
}

// The member to which an element of this name belongs: a member of that name, else an inline list with such items, else an
// inline map.
static const struct shape *element_member(const struct shape *members, struct str name)
{
	const struct shape *map = NULL;

	for (const struct shape *member = members; member->name != NULL; member++) {
		if ((member->flags & SHAPE_ATTR) != 0)
			continue;
		bool is_inline = (member->flags & SHAPE_INLINE) != 0;
		if (is_inline && member->kind == SHAPE_MAP) {
			map = member;
			continue;
		}
		const char *element = is_inline ? member->item->name : member->name;
		if (element != NULL && str_eq_c(name, element))
			return member;
	}
	return map;
}

// Adds an element to an inline list or map; the first one creates the member.
static bool read_inline(struct xml_cursor *xml, const struct shape *member, size_t depth, struct doc *object,
	const struct place *at)
{
	struct str name = str_c(member->name);
	struct place place = { .parent = at, .name = name };
	const struct doc *present;
	bool map = member->kind == SHAPE_MAP;

	if (!deeper(xml, depth))
		return false;
	if (!doc_get(object, name, &present)) {
		struct doc *made = map ? doc_new_object(xml->pool) : doc_new_array(xml->pool);
		doc_set(object, name, made);
		present = made;
	}
	struct doc *container = json_own(present);
	return map ? read_entry(xml, container, &place) : read_item(xml, member->item, depth + 1, container, &place);
}

static bool read_member(struct xml_cursor *xml, const struct shape *shape, size_t depth, struct doc *object,
	const struct place *at)
{
	struct place place = { .parent = at, .name = xml_name(xml) };
	const struct shape *member = element_member(shape->members, place.name);
	const struct doc *present;
	struct doc *value;

	if (member == NULL)
		return refuse(xml, "element", &place, shape_member_names(xml->pool, shape->members, SHAPE_ELEMENTS));
	if ((member->flags & SHAPE_NOT_READ) != 0)
		return xml_skip(xml);
	if ((member->flags & SHAPE_INLINE) != 0)
		return read_inline(xml, member, depth, object, at);
	if (doc_get(object, place.name, &present)) {
		struct str where = place_text(xml->pool, &place);
		return xml_fail(xml, "%.*s is there twice", STR_ARG(where));
	}
	if (!read_value(xml, member, depth, &place, &value))
		return false;
	doc_set(object, str_c(member->name), value);
	return true;
}

static bool check_required(struct xml_cursor *xml, const struct shape *shape, const struct doc *object,
	const struct place *at)
{
	const struct doc *present;

	for (const struct shape *member = shape->members; member->name != NULL; member++) {
		struct place place = { .parent = at, .name = str_c(member->name) };
		if ((member->flags & SHAPE_REQUIRED) == 0 || doc_get(object, place.name, &present))
			continue;
		struct str where = place_text(xml->pool, &place);
		return xml_fail(xml, "%.*s is missing", STR_ARG(where));
	}
	return true;
}

static bool read_object(struct xml_cursor *xml, const struct shape *shape, size_t depth, const struct place *at,
	struct doc **value)
{
	if (!deeper(xml, depth))
		return false;
	*value = doc_new_object(xml->pool);
	if (!read_attributes(xml, shape, *value, at))
		return false;
	while (xml_child(xml)) {
		if (!read_member(xml, shape, depth + 1, *value, at))
			return false;
	}
	return !xml->failed && check_required(xml, shape, *value, at);
}

// ---- values

// Reads an element around a single element of fn:json-to-xml.
static bool read_any(struct xml_cursor *xml, size_t depth, const struct place *at, struct doc **value)
{
	if (!refuse_attributes(xml, at))
		return false;
	struct str where = place_text(xml->pool, at);
	if (!xml_child(xml))
		return xml_fail(xml, "%.*s is empty; JSON in XML is expected, such as <map> or <string>", STR_ARG(where));
	if (!xml_any_read(xml, depth, value))
		return false;
	if (xml_child(xml))
		return xml_fail(xml, "%.*s holds more than one value", STR_ARG(where));
	return !xml->failed;
}

static bool read_value(struct xml_cursor *xml, const struct shape *shape, size_t depth, const struct place *at,
	struct doc **value)
{
	if (shape->kind == SHAPE_ANY)
		return read_any(xml, depth, at, value);
	if (shape->kind == SHAPE_STRING || shape->kind == SHAPE_NUMBER || shape->kind == SHAPE_BOOL)
		return read_scalar(xml, shape->kind, at, value);
	if (!xml_count(xml))
		return false;
	if (shape->kind == SHAPE_OBJECT)
		return read_object(xml, shape, depth, at, value);
	if (shape->kind == SHAPE_LIST)
		return read_list(xml, shape, depth, at, value);
	return read_map(xml, depth, at, value);
}

static bool read_document(struct xml_cursor *xml, const struct repr_document *document, struct doc **body)
{
	const char *root = document->root != NULL ? document->root : document->body.name;
	struct place place = { .name = xml_name(xml) };
	size_t depth = document->root != NULL ? 1 : 0;

	if (root == NULL && document->body.kind == SHAPE_ANY)
		return xml_any_read(xml, depth, body);
	if (root == NULL)
		return xml_fail(xml, "this document has no XML form");
	if (!str_eq_c(place.name, root)) {
		struct str found = json_clipped(xml->pool, place.name);
		return xml_fail(xml, "expected \"%s\", found \"%.*s\"", root, STR_ARG(found));
	}
	return read_value(xml, &document->body, depth, &place, body);
}

bool shape_read_xml(struct pool *pool, const struct repr_document *document, struct str text, struct doc_limits limits,
	struct doc **body, struct str *error)
{
	struct xml_cursor xml;
	bool read = xml_open(&xml, pool, text, limits, error) && read_document(&xml, document, body) && xml_finish(&xml);

	xml_close(&xml);
	return read;
}

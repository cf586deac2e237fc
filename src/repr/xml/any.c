// SPDX-License-Identifier: Apache-2.0
// Any JSON in XML: reads and writes the form of fn:json-to-xml.
#include "base/base.h"

#include "base/pool.h"
#include "repr/json/internal.h"
#include "repr/xml/any.h"
#include "repr/xml/text.h"

// ---- reading

struct any_attributes {
	struct str key; // p NULL when absent
	bool key_escaped, escaped;
};

static bool read_element(struct xml_cursor *xml, size_t depth, const struct any_attributes *attributes,
	struct doc **value);

// Removes white space of XML from both ends; XML has more of it than str_trim() removes.
static struct str collapsed(struct str s)
{
	while (s.n > 0 && strchr(" \t\r\n", s.p[0]) != NULL)
		s = str_part(s, 1, s.n);
	while (s.n > 0 && strchr(" \t\r\n", s.p[s.n - 1]) != NULL)
		s = str_part(s, 0, s.n - 1);
	return s;
}

bool xml_parse_flag(struct xml_cursor *xml, struct str text, bool *flag)
{
	text = collapsed(text);
	*flag = str_eq_c(text, "true") || str_eq_c(text, "1");
	return *flag || str_eq_c(text, "false") || str_eq_c(text, "0") ||
		xml_fail(xml, "\"true\" or \"false\" is expected");
}

bool xml_parse_bool(struct xml_cursor *xml, struct str text, struct doc **value)
{
	bool flag;

	if (!xml_parse_flag(xml, text, &flag))
		return false;
	*value = doc_new_bool(xml->pool, flag);
	return true;
}

bool xml_parse_number(struct xml_cursor *xml, struct str text, struct doc **value)
{
	const char *why;

	*value = json_number_parse(xml->pool, str_dup(xml->pool, collapsed(text)), &why);
	return *value != NULL || xml_fail(xml, "%s", why);
}

bool xml_read_bool(struct xml_cursor *xml, struct doc **value)
{
	struct str text;

	return xml_text(xml, &text) && xml_parse_bool(xml, text, value);
}

bool xml_read_number(struct xml_cursor *xml, struct doc **value)
{
	struct str text;

	return xml_text(xml, &text) && xml_parse_number(xml, text, value);
}

bool xml_unescape(struct xml_cursor *xml, struct str text, struct str *result)
{
	struct buf out = buf_new(xml->pool, text.n);
	const char *why;
	size_t at;

	if (!json_unescape(text, &out, &at, &why))
		return xml_fail(xml, "%s", why);
	*result = out.n > 0 ? buf_str(&out) : STR(""); // p NULL would mean that there is none
	return true;
}

static bool read_attributes(struct xml_cursor *xml, bool in_map, struct any_attributes *attributes)
{
	struct str name, value;

	*attributes = (struct any_attributes){ .escaped = false };
	while (xml_attribute(xml, &name, &value)) {
		bool known = true;
		if (str_eq_c(name, "key") && in_map)
			attributes->key = value;
		else if (str_eq_c(name, "escaped-key") && in_map)
			known = xml_parse_flag(xml, value, &attributes->key_escaped);
		else if (str_eq_c(name, "escaped"))
			known = xml_parse_flag(xml, value, &attributes->escaped);
		else {
			name = json_clipped(xml->pool, name);
			known = xml_fail(xml, "the attribute \"%.*s\" is not known here", STR_ARG(name));
		}
		if (!known)
			return false;
	}
	if (xml->failed)
		return false;
	return !attributes->key_escaped || attributes->key.p == NULL || xml_unescape(xml, attributes->key, &attributes->key);
}

static bool read_entry(struct xml_cursor *xml, size_t depth, struct doc *map)
{
	struct any_attributes attributes;
	const struct doc *present;
	struct doc *value;

	if (!read_attributes(xml, true, &attributes))
		return false;
	if (attributes.key.p == NULL)
		return xml_fail(xml, "each element in a <map> has the attribute \"key\"");
	if (str_find(attributes.key, '\0', 0) < attributes.key.n)
		return xml_fail(xml, "a member's name can't hold \\u0000");
	if (doc_get(map, attributes.key, &present)) {
		struct str key = json_clipped(xml->pool, attributes.key);
		return xml_fail(xml, "the key \"%.*s\" is there twice", STR_ARG(key));
	}
	if (!read_element(xml, depth, &attributes, &value))
		return false;
	doc_set(map, attributes.key, value);
	return true;
}

static bool read_map(struct xml_cursor *xml, size_t depth, struct doc **value)
{
	*value = doc_new_object(xml->pool);
	while (xml_child(xml)) {
		if (!read_entry(xml, depth, *value))
			return false;
	}
	return !xml->failed;
}

static bool read_array(struct xml_cursor *xml, size_t depth, struct doc **value)
{
	struct any_attributes attributes;
	struct doc *element;

	*value = doc_new_array(xml->pool);
	while (xml_child(xml)) {
		if (!read_attributes(xml, false, &attributes) || !read_element(xml, depth, &attributes, &element))
			return false;
		doc_push(*value, element);
	}
	return !xml->failed;
}

static bool read_string(struct xml_cursor *xml, bool escaped, struct doc **value)
{
	struct str text;

	if (!xml_text(xml, &text) || (escaped && !xml_unescape(xml, text, &text)))
		return false;
	*value = doc_new_string(xml->pool, text);
	return true;
}

static bool read_null(struct xml_cursor *xml, struct doc **value)
{
	struct str text;

	*value = NULL;
	if (!xml_text(xml, &text))
		return false;
	return collapsed(text).n == 0 || xml_fail(xml, "<null> holds nothing");
}

static bool read_container(struct xml_cursor *xml, size_t depth, bool map, struct doc **value)
{
	if (depth >= xml->limits.depth)
		return xml_fail(xml, "the document is nested more than %zu levels deep", xml->limits.depth);
	return map ? read_map(xml, depth + 1, value) : read_array(xml, depth + 1, value);
}

static bool read_element(struct xml_cursor *xml, size_t depth, const struct any_attributes *attributes,
	struct doc **value)
{
	struct str name = xml_name(xml);

	if (!xml_count(xml))
		return false;
	if (str_eq_c(name, "string"))
		return read_string(xml, attributes->escaped, value);
	if (attributes->escaped)
		return xml_fail(xml, "only <string> has the attribute \"escaped\"");
	if (str_eq_c(name, "map") || str_eq_c(name, "array"))
		return read_container(xml, depth, str_eq_c(name, "map"), value);
	if (str_eq_c(name, "number"))
		return xml_read_number(xml, value);
	if (str_eq_c(name, "boolean"))
		return xml_read_bool(xml, value);
	if (str_eq_c(name, "null"))
		return read_null(xml, value);
	name = json_clipped(xml->pool, name);
	return xml_fail(xml,
		"the element <%.*s> is not known here; JSON in XML has map, array, string, number, boolean, null",
		STR_ARG(name));
}

bool xml_any_read(struct xml_cursor *xml, size_t depth, struct doc **value)
{
	struct any_attributes attributes;

	return read_attributes(xml, false, &attributes) && read_element(xml, depth, &attributes, value);
}

// ---- writing

static void write_element(const struct doc *value, const struct str *key, bool outermost, struct buf *out);

struct str xml_escaped(struct pool *pool, struct str s)
{
	struct buf out = buf_new(pool, s.n + 16);

	for (size_t at = 0; at < s.n;) {
		size_t start = at;
		uint32_t c = xml_next_char(s, &at);
		if (c == '\\')
			BUF_LIT(&out, "\\\\");
		else if (xml_is_char(c))
			buf_add(&out, str_part(s, start, at));
		else
			buf_addf(&out, "\\u%04x", (unsigned)c); // all of these are below U+10000
	}
	return buf_str(&out);
}

static void write_key(struct str key, struct buf *out)
{
	bool plain = xml_holds(key);

	if (!plain)
		BUF_LIT(out, " escaped-key=\"true\"");
	BUF_LIT(out, " key=\"");
	xml_add_value(out, plain ? key : xml_escaped(out->pool, key));
	buf_addc(out, '"');
}

static void write_text(struct str text, struct buf *out)
{
	bool plain = xml_holds(text);

	if (!plain)
		BUF_LIT(out, " escaped=\"true\"");
	buf_addc(out, '>');
	xml_add_text(out, plain ? text : xml_escaped(out->pool, text));
}

static void write_content(const struct doc *value, struct buf *out)
{
	switch (doc_kind(value)) {
	case DOC_NULL:
		buf_addc(out, '>');
		break;
	case DOC_BOOL:
		buf_add(out, doc_bool(value) ? STR(">true") : STR(">false"));
		break;
	case DOC_NUMBER:
		buf_addc(out, '>');
		doc_write_json(value, out);
		break;
	case DOC_STRING:
		write_text(doc_string(value), out);
		break;
	case DOC_ARRAY:
		buf_addc(out, '>');
		for (size_t i = 0; i < doc_length(value); i++)
			write_element(doc_at(value, i), NULL, false, out);
		break;
	case DOC_OBJECT:
		buf_addc(out, '>');
		for (struct doc_iter it = doc_iter(value); doc_next(&it);)
			write_element(it.value, &it.name, false, out);
		break;
	}
}

static void write_element(const struct doc *value, const struct str *key, bool outermost, struct buf *out)
{
	static const char *const names[] = {
		[DOC_NULL] = "null", [DOC_BOOL] = "boolean", [DOC_NUMBER] = "number", [DOC_STRING] = "string",
		[DOC_ARRAY] = "array", [DOC_OBJECT] = "map",
	};
	struct str name = str_c(names[doc_kind(value)]);

	buf_addc(out, '<');
	buf_add(out, name);
	if (outermost)
		BUF_LIT(out, " xmlns=\"" XML_ANY_NAMESPACE "\"");
	if (key != NULL)
		write_key(*key, out);
	size_t start = out->n;
	write_content(value, out);
	if (out->n == start + 1) { // the element has no content
		out->n = start;
		BUF_LIT(out, "/>");
		return;
	}
	BUF_LIT(out, "</");
	buf_add(out, name);
	buf_addc(out, '>');
}

void xml_any_write(const struct doc *value, struct buf *out)
{
	write_element(value, NULL, true, out);
}

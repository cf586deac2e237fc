// SPDX-License-Identifier: Apache-2.0
// Shapes in XML: writes a tree by its shape, one element on a line.
#include "base/base.h"

#include "base/pool.h"
#include "repr/shape/internal.h"
#include "repr/xml/any.h"
#include "repr/xml/text.h"

struct xml_writer {
	struct buf *out;
	const char *xmlns; // for the document element; NULL once it was written
};

static void write_element(struct xml_writer *writer, const struct shape *shape, const char *name,
	const struct doc *value, size_t level);

static void new_line(struct buf *out, size_t level)
{
	if (out->n > 0 && out->p[out->n - 1] != '\n')
		buf_addc(out, '\n');
	for (size_t i = 0; i < level; i++)
		BUF_LIT(out, "  ");
}

static struct str scalar_text(struct pool *pool, const struct doc *value)
{
	if (doc_kind(value) == DOC_STRING)
		return doc_string(value);
	if (value == NULL)
		return STR("");
	struct buf out = buf_new(pool, 32);
	doc_write_json(value, &out);
	return buf_str(&out);
}

static void write_attributes(struct xml_writer *writer, const struct shape *members, const struct doc *object)
{
	const struct doc *value;

	for (const struct shape *member = members; member->name != NULL; member++) {
		if ((member->flags & SHAPE_ATTR) == 0 || !doc_get(object, str_c(member->name), &value) || value == NULL)
			continue;
		buf_addf(writer->out, " %s=\"", member->name);
		xml_add_value(writer->out, scalar_text(writer->out->pool, value));
		buf_addc(writer->out, '"');
	}
}

// Would an element of this name be read as one of the members?
static bool is_taken(const struct shape *siblings, struct str name)
{
	if (str_eq_c(name, "entry"))
		return true;
	for (const struct shape *member = siblings; member != NULL && member->name != NULL; member++) {
		bool is_inline = (member->flags & SHAPE_INLINE) != 0;
		if ((member->flags & SHAPE_ATTR) != 0 || (is_inline && member->kind == SHAPE_MAP))
			continue;
		const char *element = is_inline ? member->item->name : member->name;
		if (element != NULL && str_eq_c(name, element))
			return true;
	}
	return false;
}

// siblings: the members beside inline entries; NULL if the map has an element of its own.
static void write_map(struct xml_writer *writer, const struct doc *map, const struct shape *siblings, size_t level)
{
	struct buf *out = writer->out;

	for (struct doc_iter it = doc_iter(map); doc_next(&it);) {
		bool plain = xml_is_ncname(it.name) && !is_taken(siblings, it.name);
		struct str name = plain ? it.name : STR("entry");
		new_line(out, level);
		buf_addc(out, '<');
		buf_add(out, name);
		if (!plain) {
			bool holds = xml_holds(it.name);
			buf_add(out, holds ? STR(" key=\"") : STR(" escaped-key=\"true\" key=\""));
			xml_add_value(out, holds ? it.name : xml_escaped(out->pool, it.name));
			buf_addc(out, '"');
		}
		struct str text = scalar_text(out->pool, it.value);
		if (text.n == 0) {
			BUF_LIT(out, "/>");
			continue;
		}
		bool holds = xml_holds(text);
		buf_add(out, holds ? STR(">") : STR(" escaped=\"true\">"));
		xml_add_text(out, holds ? text : xml_escaped(out->pool, text));
		BUF_LIT(out, "</");
		buf_add(out, name);
		buf_addc(out, '>');
	}
}

static void write_list(struct xml_writer *writer, const struct shape *item, const struct doc *list, size_t level)
{
	for (size_t i = 0; i < doc_length(list); i++) {
		if (item->name == NULL) {
			new_line(writer->out, level);
			xml_any_write(doc_at(list, i), writer->out);
		} else {
			write_element(writer, item, item->name, doc_at(list, i), level);
		}
	}
}

static void write_member(struct xml_writer *writer, const struct shape *member, const struct shape *siblings,
	const struct doc *value, size_t level)
{
	bool is_inline = (member->flags & SHAPE_INLINE) != 0;

	if (is_inline && member->kind == SHAPE_MAP)
		write_map(writer, value, siblings, level);
	else if (is_inline)
		write_list(writer, member->item, value, level);
	else if ((member->flags & SHAPE_SKIP_EMPTY) == 0 || doc_length(value) > 0)
		write_element(writer, member, member->name, value, level);
}

static void write_members(struct xml_writer *writer, const struct shape *members, const struct doc *object,
	size_t level)
{
	const struct doc *value;

	for (const struct shape *member = members; member->name != NULL; member++) {
		if ((member->flags & SHAPE_ATTR) != 0 || !doc_get(object, str_c(member->name), &value))
			continue;
		// XML has no null, so a null member is left out, except where SHAPE_ANY can represent it
		if (value != NULL || member->kind == SHAPE_ANY)
			write_member(writer, member, members, value, level);
	}
}

// Writes the content of an element. Returns true if it consists of elements on lines of their own.
static bool write_content(struct xml_writer *writer, const struct shape *shape, const struct doc *value, size_t level)
{
	switch (shape->kind) {
	case SHAPE_OBJECT:
		write_members(writer, shape->members, value, level);
		return true;
	case SHAPE_LIST:
		write_list(writer, shape->item, value, level);
		return true;
	case SHAPE_MAP:
		write_map(writer, value, NULL, level);
		return true;
	case SHAPE_ANY:
		xml_any_write(value, writer->out);
		return false;
	case SHAPE_STRING:
	case SHAPE_NUMBER:
	case SHAPE_BOOL:
		break;
	}
	xml_add_text(writer->out, scalar_text(writer->out->pool, value));
	return false;
}

static void write_element(struct xml_writer *writer, const struct shape *shape, const char *name,
	const struct doc *value, size_t level)
{
	struct buf *out = writer->out;

	new_line(out, level);
	buf_addf(out, "<%s", name);
	if (writer->xmlns != NULL) {
		buf_addf(out, " xmlns=\"%s\"", writer->xmlns);
		writer->xmlns = NULL;
	}
	if (shape->kind == SHAPE_OBJECT)
		write_attributes(writer, shape->members, value);
	size_t start = out->n;
	buf_addc(out, '>');
	bool elements = write_content(writer, shape, value, level + 1);
	if (out->n == start + 1) { // the element has no content
		out->n = start;
		BUF_LIT(out, "/>");
		return;
	}
	if (elements)
		new_line(out, level);
	buf_addf(out, "</%s>", name);
}

void shape_write_xml(const struct repr_document *document, const struct doc *body, struct buf *out)
{
	const char *root = document->root != NULL ? document->root : document->body.name;
	struct xml_writer writer = { .out = out, .xmlns = document->xmlns };

	assert(root != NULL || document->body.kind == SHAPE_ANY);
	BUF_LIT(out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
	if (root == NULL)
		xml_any_write(body, out);
	else
		write_element(&writer, &document->body, root, body, 0);
	buf_addc(out, '\n');
}

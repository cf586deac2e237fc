// SPDX-License-Identifier: Apache-2.0
// Strict access to elements and attributes: what is not known is an error, so that no misspelling is ignored silently.
#include "base/base.h"

#include "base/buf.h"
#include "wadl/loader.h"

static bool in_space(const xmlNs *ns, const char *space)
{
	return ns != NULL && ns->href != NULL && strcmp((const char *)ns->href, space) == 0;
}

static bool is_blank_text(const xmlNode *node)
{
	const char *text = (const char *)node->content;

	return text == NULL || text[strspn(text, " \t\r\n")] == '\0';
}

// ---- children

// Finds the element in the table and calls its function. An unknown element, or one of another namespace, is an error.
static bool parse_element(struct loader *loader, xmlNode *node, const char *space, const struct element *table,
	void *arg)
{
	if (!in_space(node->ns, space))
		return loader_fail_at(loader, node, "<%s> is not of the namespace %s", (const char *)node->name, space);
	for (; table->name != NULL; table++) {
		if (strcmp(table->name, (const char *)node->name) == 0)
			return table->parse == NULL || table->parse(loader, node, arg);
	}
	return loader_fail_at(loader, node, "<%s> is not known, or not supported, in <%s>", (const char *)node->name,
		(const char *)node->parent->name);
}

bool element_each_child(struct loader *loader, const xmlNode *node, const char *space, const struct element *table, void *arg)
{
	for (xmlNode *child = node->children; child != NULL; child = child->next) {
		if (child->type == XML_COMMENT_NODE || child->type == XML_PI_NODE)
			continue;
		if (child->type == XML_TEXT_NODE && is_blank_text(child))
			continue;
		if (child->type != XML_ELEMENT_NODE)
			return loader_fail_at(loader, node, "<%s> holds text, but may hold elements only",
				(const char *)node->name);
		if (!parse_element(loader, child, space, table, arg))
			return false;
	}
	return true;
}

const char *loader_text(struct loader *loader, const xmlNode *node)
{
	struct buf out = buf_new(loader->pool, 64);
	bool blank = false;

	for (const xmlNode *child = node->children; child != NULL; child = child->next) {
		if (child->type == XML_COMMENT_NODE || child->type == XML_PI_NODE)
			continue;
		if (child->type != XML_TEXT_NODE && child->type != XML_CDATA_SECTION_NODE) {
			loader_fail_at(loader, node, "<%s> may hold text only", (const char *)node->name);
			return NULL;
		}
		for (const char *c = (const char *)child->content; *c != '\0'; c++) {
			bool is_blank = strchr(" \t\r\n", *c) != NULL;
			if (!is_blank && blank && out.n > 0)
				buf_addc(&out, ' ');
			if (!is_blank)
				buf_addc(&out, *c);
			blank = is_blank;
		}
	}
	return str_cstr(loader->pool, buf_str(&out));
}

bool parse_doc(struct loader *loader, xmlNode *node, void *arg)
{
	static const char *const names[] = { "title", NULL };
	struct wadl_note *note = arg;

	if (note->text != NULL)
		return loader_fail_at(loader, node, "a second <doc>; one is supported");
	if (!loader_attributes_known(loader, node, names))
		return false;
	note->title = loader_attribute(loader, node, "title");
	note->text = loader_text(loader, node);
	return note->text != NULL;
}

bool check_doc(struct loader *loader, xmlNode *node, void *arg)
{
	struct wadl_note note = { NULL, NULL };

	UNUSED(arg);
	return parse_doc(loader, node, &note);
}

// ---- attributes

// Has the attribute this name? "t:NAME" means NAME in Tenure's namespace, whatever prefix the file uses for it.
static bool is_named(const xmlAttr *attr, const char *name)
{
	if (strncmp(name, "t:", 2) == 0)
		return in_space(attr->ns, TENURE_NS) && strcmp((const char *)attr->name, name + 2) == 0;
	return attr->ns == NULL && strcmp((const char *)attr->name, name) == 0;
}

const char *loader_attribute(struct loader *loader, const xmlNode *node, const char *name)
{
	for (const xmlAttr *attr = node->properties; attr != NULL; attr = attr->next) {
		if (!is_named(attr, name))
			continue;
		xmlChar *value = xmlNodeListGetString(node->doc, attr->children, 1);
		const char *copy = str_cstr(loader->pool, str_c((const char *)value));
		xmlFree(value);
		return copy;
	}
	return NULL;
}

static bool is_listed(const xmlAttr *attr, const char *const *names)
{
	for (; *names != NULL; names++) {
		if (is_named(attr, *names))
			return true;
	}
	return false;
}

bool loader_attributes_known(struct loader *loader, const xmlNode *node, const char *const *names)
{
	for (const xmlAttr *attr = node->properties; attr != NULL; attr = attr->next) {
		if (is_listed(attr, names))
			continue;
		return loader_fail_at(loader, node, "attribute %s%s%s is not known, or not supported, on this <%s>",
			attr->ns != NULL && attr->ns->prefix != NULL ? (const char *)attr->ns->prefix : "",
			attr->ns != NULL ? ":" : "", (const char *)attr->name, (const char *)node->name);
	}
	return true;
}

const char *loader_attribute_needed(struct loader *loader, const xmlNode *node, const char *name)
{
	const char *value = loader_attribute(loader, node, name);

	if (value != NULL && value[0] != '\0')
		return value;
	loader_fail_at(loader, node, "<%s> needs the attribute %s", (const char *)node->name, name);
	return NULL;
}

int loader_attribute_word(struct loader *loader, const xmlNode *node, const char *name, const char *const *words, size_t n)
{
	struct buf list = buf_new(loader->scratch, 64);
	const char *value = loader_attribute(loader, node, name);

	if (value == NULL)
		return -1;
	for (size_t i = 0; i < n; i++) {
		if (strcmp(words[i], value) == 0)
			return (int)i;
		buf_addf(&list, "%s%s", i > 0 ? ", " : "", words[i]);
	}
	loader_fail_at(loader, node, "%s=\"%s\" must be one of: %.*s", name, value, STR_ARG(list));
	return -2;
}

bool loader_attribute_boolean(struct loader *loader, const xmlNode *node, const char *name, bool *value)
{
	static const char *const words[] = { "false", "0", "true", "1" };
	int word = loader_attribute_word(loader, node, name, words, COUNT_OF(words));

	*value = word >= 2;
	return word != -2;
}

bool loader_attribute_number(struct loader *loader, const xmlNode *node, const char *name, unsigned *value)
{
	const char *text = loader_attribute(loader, node, name);
	uint64_t number = 0;

	*value = 0;
	if (text == NULL)
		return true;
	if (!str_to_u64(str_c(text), &number) || number > UINT16_MAX)
		return loader_fail_at(loader, node, "%s=\"%s\" must be a number, %d at most", name, text, UINT16_MAX);
	*value = (unsigned)number;
	return true;
}

enum role loader_attribute_role(struct loader *loader, const xmlNode *node, bool *good)
{
	int word = loader_attribute_word(loader, node, "t:role", role_names, COUNT_OF(role_names));

	*good = word != -2;
	return word > 0 ? (enum role)word : ROLE_NONE;
}

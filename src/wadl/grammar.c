// SPDX-License-Identifier: Apache-2.0
// Simple types from the inline schemas of <grammars>.
#include "base/base.h"

#include "wadl/loader.h"

// ---- facets

static const char *facet_value(struct loader *loader, const xmlNode *node)
{
	static const char *const names[] = { "value", NULL };

	return loader_attributes_known(loader, node, names) ? loader_attribute_needed(loader, node, "value") : NULL;
}

static bool parse_pattern(struct loader *loader, xmlNode *node, void *arg)
{
	struct wadl_type *type = arg;
	const char *value = facet_value(loader, node);

	if (value == NULL)
		return false;
	if (type->base != TYPE_TEXT || type->n_patterns > 0)
		return loader_fail_at(loader, node, "<pattern> is supported once, and for text");
	return type_add_pattern(loader->pool, type, value) ||
		loader_fail_at(loader, node, "the pattern \"%s\" does not compile", value);
}

static bool parse_enumeration(struct loader *loader, xmlNode *node, void *arg)
{
	struct wadl_type *type = arg;
	const char *value = facet_value(loader, node);

	if (value == NULL)
		return false;
	type_add_value(loader->pool, type, str_c(value));
	return true;
}

static bool parse_length(struct loader *loader, xmlNode *node, bool *has, uint64_t *length,
	const struct wadl_type *type)
{
	const char *value = facet_value(loader, node);

	if (value == NULL)
		return false;
	if (type->base != TYPE_TEXT || *has || !str_to_u64(str_c(value), length))
		return loader_fail_at(loader, node, "<%s> takes a number, once, and is for text", (const char *)node->name);
	*has = true;
	return true;
}

static bool parse_min_length(struct loader *loader, xmlNode *node, void *arg)
{
	struct wadl_type *type = arg;

	return parse_length(loader, node, &type->has_min_length, &type->min_length, type);
}

static bool parse_max_length(struct loader *loader, xmlNode *node, void *arg)
{
	struct wadl_type *type = arg;

	return parse_length(loader, node, &type->has_max_length, &type->max_length, type);
}

static bool parse_bound(struct loader *loader, xmlNode *node, bool *own, int64_t *bound, const struct wadl_type *type)
{
	const char *value = facet_value(loader, node);
	int64_t number;

	if (value == NULL)
		return false;
	if (type->base != TYPE_NUMBER || *own || !type_number(str_c(value), &number) || number < type->min ||
	    number > type->max)
		return loader_fail_at(loader, node, "<%s> takes a number that the base allows, once, and is for numbers",
			(const char *)node->name);
	*own = true;
	*bound = number;
	return true;
}

static bool parse_min(struct loader *loader, xmlNode *node, void *arg)
{
	struct wadl_type *type = arg;

	return parse_bound(loader, node, &type->own_min, &type->min, type);
}

static bool parse_max(struct loader *loader, xmlNode *node, void *arg)
{
	struct wadl_type *type = arg;

	return parse_bound(loader, node, &type->own_max, &type->max, type);
}

// ---- types

static const struct wadl_type *lookup(const struct loader *loader, const struct wadl_file *file, const char *space,
	const char *name)
{
	for (size_t i = file->first_type; i < file->first_type + file->n_types; i++) {
		const struct wadl_type *type = loader->table->types[i];
		if (strcmp(type->space, space) == 0 && strcmp(type->name, name) == 0)
			return type;
	}
	return NULL;
}

const struct wadl_type *loader_find_type(struct loader *loader, const xmlNode *node, const char *qname)
{
	struct str text = str_c(qname);
	size_t colon = str_find(text, ':', 0);
	const char *prefix = colon < text.n ? str_cstr(loader->scratch, str_part(text, 0, colon)) : NULL;
	const char *name = colon < text.n ? qname + colon + 1 : qname;
	// xmlSearchNs() changes neither; its parameters only lack the const.
	const xmlNs *ns = xmlSearchNs(node->doc, (xmlNode *)(uintptr_t)node, BAD_CAST prefix);

	if (ns == NULL || ns->href == NULL) {
		loader_fail_at(loader, node, "the prefix of \"%s\" is not declared", qname);
		return NULL;
	}
	const struct wadl_type *type = strcmp((const char *)ns->href, XSD_NS) == 0 ? type_builtin(loader->pool, name) :
		lookup(loader, loader_source_file(node), (const char *)ns->href, name);
	if (type == NULL)
		loader_fail_at(loader, node, "the type \"%s\" is not known", qname);
	return type;
}

static bool parse_restriction(struct loader *loader, xmlNode *node, void *arg)
{
	static const char *const names[] = { "base", NULL };
	static const struct element facets[] = {
		{ "pattern", parse_pattern }, { "enumeration", parse_enumeration }, { "minLength", parse_min_length },
		{ "maxLength", parse_max_length }, { "minInclusive", parse_min }, { "maxInclusive", parse_max },
		{ NULL, NULL },
	};
	struct wadl_type *type = arg;
	const char *base = loader_attributes_known(loader, node, names) ? loader_attribute_needed(loader, node, "base") : NULL;
	const struct wadl_type *found = base != NULL ? loader_find_type(loader, node, base) : NULL;

	if (found == NULL)
		return false;
	if (type->builtin != NULL)
		return loader_fail_at(loader, node, "a second <restriction>");
	if (strcmp(found->space, XSD_NS) != 0 || found->n_patterns > 0)
		return loader_fail_at(loader, node, "a restriction of \"%s\" is not supported; take a simple built-in type",
			base);
	type->builtin = found->name;
	type->base = found->base;
	type->min = found->min;
	type->max = found->max;
	if (!element_each_child(loader, node, XSD_NS, facets, type))
		return false;
	if (type->min > type->max || (type->has_min_length && type->has_max_length && type->min_length > type->max_length))
		return loader_fail_at(loader, node, "no value can keep within these bounds");
	return true;
}

static bool parse_documentation(struct loader *loader, xmlNode *node, void *arg)
{
	static const char *const none[] = { NULL };
	struct wadl_type *type = arg;

	type->note = loader_text(loader, node);
	return type->note != NULL && loader_attributes_known(loader, node, none);
}

static bool parse_annotation(struct loader *loader, xmlNode *node, void *arg)
{
	static const struct element table[] = { { "documentation", parse_documentation }, { NULL, NULL } };

	return element_each_child(loader, node, XSD_NS, table, arg);
}

static bool parse_simple_type(struct loader *loader, xmlNode *node, void *arg)
{
	static const char *const names[] = { "name", NULL };
	static const struct element table[] = {
		{ "annotation", parse_annotation }, { "restriction", parse_restriction }, { NULL, NULL },
	};
	struct wadl_file *file = loader_source_file(node);
	struct route_table *routes = loader->table;
	struct wadl_type *type = POOL_NEW(loader->pool, struct wadl_type);

	type->space = arg;
	type->name = loader_attributes_known(loader, node, names) ? loader_attribute_needed(loader, node, "name") : NULL;
	if (type->name == NULL || !element_each_child(loader, node, XSD_NS, table, type))
		return false;
	if (type->builtin == NULL)
		return loader_fail_at(loader, node, "the type %s has no <restriction>", type->name);
	if (lookup(loader, file, type->space, type->name) != NULL)
		return loader_fail_at(loader, node, "a second type of the name %s", type->name);
	routes->types = table_grow(loader->pool, routes->types, routes->n_types, sizeof(*routes->types));
	routes->types[routes->n_types++] = type;
	file->n_types++;
	return true;
}

static bool space_is_taken(const struct route_table *table, const char *space)
{
	for (size_t i = 0; i < table->n_types; i++) {
		if (strcmp(table->types[i]->space, space) == 0)
			return true;
	}
	return false;
}

static bool parse_schema(struct loader *loader, xmlNode *node)
{
	static const char *const names[] = { "targetNamespace", "elementFormDefault", "attributeFormDefault", NULL };
	static const struct element table[] = {
		{ "annotation", NULL }, { "simpleType", parse_simple_type }, { NULL, NULL },
	};
	const char *space = loader_attributes_known(loader, node, names) ?
		loader_attribute_needed(loader, node, "targetNamespace") : NULL;

	if (space == NULL)
		return false;
	if (strcmp(space, XSD_NS) == 0 || space_is_taken(loader->table, space))
		return loader_fail_at(loader, node, "the targetNamespace %s is another schema's", space);
	return element_each_child(loader, node, XSD_NS, table, (void *)(uintptr_t)space);
}

// The children are of two namespaces, so element_each_child() can't be used.
bool parse_grammars(struct loader *loader, xmlNode *node, void *arg)
{
	static const char *const none[] = { NULL };
	static const struct element schema_only[] = { { "schema", NULL }, { NULL, NULL } };

	UNUSED(arg);
	if (!loader_attributes_known(loader, node, none))
		return false;
	for (xmlNode *child = node->children; child != NULL; child = child->next) {
		if (child->type == XML_ELEMENT_NODE && strcmp((const char *)child->name, "include") == 0)
			return loader_fail_at(loader, child, "<include> is not supported; write the schema inline");
	}
	if (!element_each_child(loader, node, XSD_NS, schema_only, NULL))
		return false;
	for (xmlNode *child = node->children; child != NULL; child = child->next) {
		if (child->type == XML_ELEMENT_NODE && !parse_schema(loader, child))
			return false;
	}
	return true;
}

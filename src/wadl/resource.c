// SPDX-License-Identifier: Apache-2.0
// <resources> and <resource>: paths.
#include "base/base.h"

#include "base/ascii.h"
#include "wadl/loader.h"

// ---- paths

static bool is_name(struct str text)
{
	for (size_t i = 0; i < text.n; i++) {
		char c = text.p[i];
		if (!ascii_is_alnum(c) && c != '_' && c != '-')
			return false;
	}
	return text.n > 0;
}

static bool has_any(struct str text, const char *bytes)
{
	for (; *bytes != '\0'; bytes++) {
		if (str_find(text, *bytes, 0) < text.n)
			return true;
	}
	return false;
}

static bool parse_segment(struct loader *loader, const xmlNode *node, struct str text, struct route_segment *segment)
{
	bool braced = text.n > 2 && text.p[0] == '{' && text.p[text.n - 1] == '}';

	segment->is_template = braced;
	segment->text = braced ? str_part(text, 1, text.n - 1) : text;
	if (braced && !is_name(segment->text))
		return loader_fail_at(loader, node, "{%.*s}: the name may hold letters, digits, - and _ only",
			STR_ARG(segment->text));
	if (!braced && (text.n == 0 || has_any(text, "{}%?#")))
		return loader_fail_at(loader, node, "the path's part \"%.*s\" must be {name}, or text without any of {}%%?#",
			STR_ARG(text));
	return true;
}

static bool names_template(const struct scope *scope, struct str name, size_t from)
{
	for (size_t i = from; i < scope->n; i++) {
		if (scope->segments[i].is_template && str_eq(scope->segments[i].text, name))
			return true;
	}
	return false;
}

static bool add_path(struct loader *loader, const xmlNode *node, struct scope *scope, struct str path)
{
	struct route_segment segment;
	struct str item;

	if (path.n > 0 && path.p[0] == '/')
		path = str_part(path, 1, path.n);
	if (path.n > 0 && path.p[path.n - 1] == '/')
		path.n--;
	while (path.n > 0 && str_split(&path, '/', &item)) {
		if (!parse_segment(loader, node, item, &segment))
			return false;
		if (scope->n == URI_MAX_SEGMENTS)
			return loader_fail_at(loader, node, "the path has more than %d parts", URI_MAX_SEGMENTS);
		if (segment.is_template && names_template(scope, segment.text, 0))
			return loader_fail_at(loader, node, "{%.*s} is in the path twice", STR_ARG(segment.text));
		scope->segments[scope->n++] = segment;
	}
	return true;
}

// ---- parameters

// A <resource_type> that is being included, and the ones that include it, to find circles.
struct inclusion {
	const xmlNode *node;
	const struct inclusion *outer;
};

struct resource {
	struct scope *scope;
	size_t outer; // number of segments of the resources around it
	struct param_list params;
	struct wadl_file *into;          // the file to which the methods are added
	enum role role;                  // the highest least role of the including files
	const struct inclusion *inclusion; // NULL: it stands in <resources> of its own file
};

static bool declare_template(struct loader *loader, const xmlNode *node, const struct resource *resource,
	const struct route_param *param)
{
	struct scope *scope = resource->scope;

	for (size_t i = resource->outer; i < scope->n; i++) {
		if (scope->segments[i].is_template && str_eq_c(scope->segments[i].text, param->name)) {
			scope->declared[i] = param;
			return true;
		}
	}
	return loader_fail_at(loader, node, "{%s} is not in this resource's path", param->name);
}

static bool parse_resource_param(struct loader *loader, xmlNode *node, void *arg)
{
	struct resource *resource = arg;
	struct scope *scope = resource->scope;

	if (!parse_param(loader, node, &resource->params))
		return false;
	const struct route_param *param = resource->params.items[resource->params.n - 1];
	scope->declares = true;
	if (param->style == PARAM_TEMPLATE)
		return declare_template(loader, node, resource, param);
	scope->params = table_grow(loader->scratch, scope->params, scope->n_params, sizeof(const struct route_param *));
	scope->params[scope->n_params++] = param;
	return true;
}

static bool parse_resource_doc(struct loader *loader, xmlNode *node, void *arg)
{
	struct resource *resource = arg;

	return parse_doc(loader, node, &resource->scope->note);
}

// ---- resources

static bool parse_resource_method(struct loader *loader, xmlNode *node, void *arg)
{
	const struct resource *resource = arg;

	if (resource->inclusion != NULL && (loader_attribute(loader, node, "href") == NULL || loader_attribute(loader, node,
		"id") != NULL))
		return loader_fail_at(loader, node,
			"a <method> in a <resource_type> may only refer to another, by href, and has no id");
	return loader_parse_method(loader, node, resource->scope, resource->into, resource->role);
}

static bool parse_resource(struct loader *loader, xmlNode *node, void *arg);

// ---- subtrees

enum { MAX_INCLUDED = 256 };

static xmlNode *find_resource_type(struct loader *loader, const struct wadl_file *file, const char *id)
{
	for (xmlNode *child = xmlDocGetRootElement(file->doc)->children; child != NULL; child = child->next) {
		if (child->type != XML_ELEMENT_NODE || strcmp((const char *)child->name, "resource_type") != 0)
			continue;
		const char *name = loader_attribute(loader, child, "id");
		if (name != NULL && strcmp(name, id) == 0)
			return child;
	}
	return NULL;
}

// Includes the methods and resources of one <resource_type>, as if they stood in this resource.
static bool include(struct loader *loader, const xmlNode *node, const struct resource *resource, struct str href)
{
	static const char *const names[] = { "id", NULL };
	static const struct element content[] = {
		{ "doc", check_doc }, { "method", parse_resource_method }, { "resource", parse_resource }, { NULL, NULL },
	};
	const char *id;
	struct wadl_file *file = loader_parse_href(loader, node, "type", href, "a <resource_type>", &id);

	if (file == NULL)
		return false;
	struct inclusion inclusion = { find_resource_type(loader, file, id), resource->inclusion };
	if (inclusion.node == NULL)
		return loader_fail_at(loader, node, "there is no <resource_type> %s in %s", id, file->name);
	for (const struct inclusion *outer = inclusion.outer; outer != NULL; outer = outer->outer) {
		if (outer->node == inclusion.node)
			return loader_fail_at(loader, node, "the <resource_type> %s of %s includes itself", id, file->name);
	}
	if (loader->n_included++ == MAX_INCLUDED)
		return loader_fail_at(loader, node, "more than %d subtrees are included", MAX_INCLUDED);
	struct resource included = *resource;
	included.inclusion = &inclusion;
	if (loader_source_file(node)->role > included.role)
		included.role = loader_source_file(node)->role;
	return loader_attributes_known(loader, inclusion.node, names) &&
		element_each_child(loader, inclusion.node, WADL_NS, content, &included);
}

static bool include_types(struct loader *loader, const xmlNode *node, const struct resource *resource)
{
	const char *types = loader_attribute(loader, node, "type");
	struct str rest = str_c(types), item;

	while (types != NULL && rest.n > 0 && str_split(&rest, ' ', &item)) {
		if (item.n > 0 && !include(loader, node, resource, item))
			return false;
	}
	return true;
}

// Parameters are read before methods. WADL requires that order in a file; reading in two passes does not depend on it.
static bool parse_content(struct loader *loader, xmlNode *node, struct resource *resource)
{
	static const struct element params[] = {
		{ "doc", parse_resource_doc }, { "param", parse_resource_param }, { "method", NULL }, { "resource", NULL },
		{ NULL, NULL },
	};
	static const struct element methods[] = {
		{ "doc", NULL }, { "param", NULL }, { "method", parse_resource_method }, { "resource", parse_resource },
		{ NULL, NULL },
	};

	return element_each_child(loader, node, WADL_NS, params, resource) && element_each_child(loader, node, WADL_NS, methods,
		resource);
}

// Attributes of the enclosing elements apply, unless this element sets them itself.
static bool parse_manners(struct loader *loader, const xmlNode *node, struct scope *scope)
{
	static const char *const slash_words[] = { "none", "optional" };
	static const char *const head_words[] = { "none", "get" };
	static const char *const query_words[] = { "declared", "any" };
	int slash = loader_attribute_word(loader, node, "t:slash", slash_words, COUNT_OF(slash_words));
	int head = loader_attribute_word(loader, node, "t:head", head_words, COUNT_OF(head_words));
	int query = loader_attribute_word(loader, node, "t:query", query_words, COUNT_OF(query_words));

	if (slash >= 0)
		scope->slash = slash == 1;
	if (head >= 0)
		scope->no_head = head == 0;
	if (query >= 0)
		scope->any_query = query == 1;
	return slash != -2 && head != -2 && query != -2;
}

static bool parse_resource(struct loader *loader, xmlNode *node, void *arg)
{
	static const char *const names[] = { "path", "id", "type", "t:slash", "t:head", "t:query", NULL };
	const struct resource *outer = arg;
	struct scope *scope = POOL_NEW(loader->scratch, struct scope);
	struct resource resource = { .scope = scope, .outer = outer->scope->n,
		.into = outer->into, .role = outer->role, .inclusion = outer->inclusion,
		.params.styles = 1U << PARAM_TEMPLATE | 1U << PARAM_QUERY | 1U << PARAM_HEADER };

	*scope = *outer->scope;
	scope->params = NULL;
	scope->n_params = 0;
	scope->note = (struct wadl_note){ NULL, NULL };
	if (!loader_attributes_known(loader, node, names) || !parse_manners(loader, node, scope))
		return false;
	const char *path = loader_attribute(loader, node, "path");
	if (path == NULL)
		return loader_fail_at(loader, node, "<resource> needs the attribute path");
	return add_path(loader, node, scope, str_c(path)) && parse_content(loader, node, &resource) &&
		include_types(loader, node, &resource);
}

// The part of "https://host/prefix" from the third '/' on.
static struct str base_path(const char *base)
{
	struct str text = str_c(base);
	const char *authority = strstr(base, "://");

	if (authority == NULL)
		return text;
	size_t from = (size_t)(authority - base) + 3;
	return str_part(text, str_find(text, '/', from), text.n);
}

bool parse_resources(struct loader *loader, xmlNode *node, void *arg)
{
	static const char *const names[] = { "base", "t:slash", "t:head", "t:query", NULL };
	static const struct element table[] = { { "doc", check_doc }, { "resource", parse_resource }, { NULL, NULL } };
	struct scope *scope = POOL_NEW(loader->scratch, struct scope);
	struct resource resource = { .scope = scope, .into = loader_source_file(node) };
	const char *base;

	UNUSED(arg);
	if (!loader_attributes_known(loader, node, names) || !parse_manners(loader, node, scope))
		return false;
	base = loader_attribute(loader, node, "base");
	if (base != NULL && strchr(base, '{') != NULL)
		return loader_fail_at(loader, node, "base may not hold templates");
	return (base == NULL || add_path(loader, node, scope, base_path(base))) &&
		element_each_child(loader, node, WADL_NS, table, &resource);
}

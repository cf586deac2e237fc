// SPDX-License-Identifier: Apache-2.0
// Finds the method of a request.
#include "base/base.h"

#include "base/buf.h"
#include "wadl/table.h"

// Statuses that every method may have; a comment in each WADL file of a dialect lists them, and so does doc/api.md.
static const int common_statuses[] = { 400, 401, 403, 404, 405, 406, 413, 414, 415, 422, 429, 431, 500, 501, 503 };

static const struct wadl_method *whole(const struct route_method *method)
{
	return (const struct wadl_method *)method; // route is its first member
}

// ---- searching the tree

struct search {
	const struct uri *uri;
	enum http_method name;
	const struct route_node *node;     // the node that decides the answer
	const struct wadl_method *method;  // its method for this request; NULL: 405
	const char *dialect;               // of the deepest node reached; a literal segment that belongs to one dialect only
	                                   // decides it
	size_t depth;
	bool settled;                      // the dialect is known; candidates of other dialects don't change the error any more
	const struct route_param *broken;  // the first parameter whose type a segment breaks
	struct str broken_value;
	bool slashed;                      // the address would exist without the '/' at its end
};

// Do the values of the template segments have the types of the method's parameters? Notes the first that has not, for the error.
static bool types_allow(struct search *search, const struct wadl_method *method)
{
	for (size_t i = 0; i < method->n_templates; i++) {
		const struct route_param *param = &method->route.params[i];
		struct str value = search->uri->segments[method->template_at[i]];
		if (type_allows(param->type, value))
			continue;
		if (search->broken == NULL && !search->settled) {
			search->broken = param;
			search->broken_value = value;
		}
		return false;
	}
	return true;
}

// The method of this node for an HTTP method; NULL: it has none.
static const struct wadl_method *pick(const struct route_node *node, enum http_method name)
{
	const struct wadl_method *get = node->methods[METHOD_GET];

	if (name == METHOD_OTHER)
		return NULL;
	if (name == METHOD_HEAD && node->methods[METHOD_HEAD] == NULL)
		return get != NULL && !get->no_head ? get : NULL;
	return node->methods[name];
}

// The segments fit the path of this node. Does one of its methods answer, or its 405?
static bool decide(struct search *search, const struct route_node *node)
{
	const struct wadl_method *method = pick(node, search->name);
	const struct wadl_method *speaks = method != NULL ? method : node->first;

	if (speaks == NULL || !types_allow(search, speaks))
		return false;
	if (search->uri->trailing_slash && !speaks->slash) {
		search->slashed = true;
		return false;
	}
	search->node = node;
	search->method = method;
	return true;
}

// Searches literals first and goes back where they lead nowhere. Takes at most as many steps as the tree has nodes.
static bool walk(struct search *search, const struct route_node *node, size_t depth)
{
	const struct uri *uri = search->uri;

	if (depth > search->depth && !search->settled) {
		search->depth = depth;
		search->dialect = node->dialect;
	}
	if (depth == uri->n_segments)
		return decide(search, node);
	for (const struct route_node *child = node->literals; child != NULL; child = child->next) {
		if (str_eq(child->literal, uri->segments[depth])) {
			if (walk(search, child, depth + 1))
				return true;
			// "/baremetal/…" belongs to that dialect, even if a template of another dialect would match more
			// segments.
			if (node->any != NULL && strcmp(child->dialect, node->any->dialect) != 0)
				search->settled = true;
			break;
		}
	}
	return node->any != NULL && walk(search, node->any, depth + 1);
}

// ---- the answer

// The error for an address without a method: a type that a segment breaks explains more than "no such address".
static enum outcome not_found(struct pool *pool, const struct search *search, struct str *detail)
{
	if (search->slashed) {
		*detail = STR("there is no such address; without the '/' at its end there is");
		return OUTCOME_NOT_FOUND;
	}
	if (search->broken == NULL) {
		*detail = STR("there is no such address; /application.wadl lists those there are");
		return OUTCOME_NOT_FOUND;
	}
	struct buf text = buf_new(pool, 128);
	buf_addf(&text, "%s in the address ", search->broken->name);
	type_add_rule(&text, search->broken->type, search->broken_value);
	*detail = buf_str(&text);
	return search->broken->no_address ? OUTCOME_NOT_FOUND : OUTCOME_BAD_ADDRESS;
}

static enum outcome no_method(struct pool *pool, const struct search *search, struct route_match *match,
	struct str *detail)
{
	match->allow = search->node->allow;
	if (search->name == METHOD_OPTIONS)
		return OUTCOME_NO_CONTENT;
	*detail = str_printf(pool, "this address takes %.*s", STR_ARG(match->allow));
	return OUTCOME_METHOD_NOT_ALLOWED;
}

static void bind_templates(const struct request *request, struct route_match *match)
{
	const struct wadl_method *method = whole(match->method);

	for (size_t i = 0; i < method->n_templates; i++) {
		match->values[i].name = method->route.params[i].name;
		match->values[i].value = request->uri.segments[method->template_at[i]];
	}
	match->n = method->n_templates;
}

enum outcome route_find(const struct route_table *table, struct pool *pool, const struct request *request,
	struct route_match *match, struct str *detail)
{
	struct search search = { .uri = &request->uri, .name = request->method, .dialect = table->root.dialect };
	bool found = walk(&search, &table->root, 0);

	assert(detail != NULL && search.dialect != NULL);
	match->method = NULL;
	match->dialect = search.dialect;
	match->n = 0;
	match->allow = STR_NONE;
	if (request->method == METHOD_OTHER) {
		*detail = str_printf(pool, "the method %.*s is not known here", STR_HEAD_ARG(request->method_text, 32));
		return OUTCOME_UNKNOWN_METHOD;
	}
	if (!found)
		return not_found(pool, &search, detail);
	match->dialect = search.node->dialect;
	if (search.method == NULL)
		return no_method(pool, &search, match, detail);
	match->method = &search.method->route;
	match->dialect = match->method->dialect;
	bind_templates(request, match);
	return OUTCOME_OK;
}

const char *route_dialect(const struct route_table *table, const struct uri *uri)
{
	struct search search = { .uri = uri, .name = METHOD_OTHER, .dialect = table->root.dialect };

	(void)walk(&search, &table->root, 0);
	return search.dialect;
}

struct str route_value(const struct route_match *match, const char *name)
{
	for (size_t i = 0; i < match->n; i++) {
		if (strcmp(match->values[i].name, name) == 0)
			return match->values[i].value;
	}
	return STR_NONE;
}

// ---- questions about the table

static bool lists(const int *statuses, size_t n, int status)
{
	for (size_t i = 0; i < n; i++) {
		if (statuses[i] == status)
			return true;
	}
	return false;
}

bool route_lists_status(const struct route_method *method, int status)
{
	const struct wadl_method *described = whole(method);

	for (size_t i = 0; i < described->n_responses; i++) {
		if (lists(described->responses[i].statuses, described->responses[i].n_statuses, status))
			return true;
	}
	return lists(common_statuses, COUNT_OF(common_statuses), status);
}

const struct route_method *route_nth(const struct route_table *table, size_t index, const char **path)
{
	if (index >= table->n_methods)
		return NULL;
	*path = table->methods[index]->path;
	return &table->methods[index]->route;
}

struct str route_document(const struct route_table *table)
{
	return table->document;
}

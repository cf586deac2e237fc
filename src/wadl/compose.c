// SPDX-License-Identifier: Apache-2.0
// Builds the route table from the methods that an endpoint's file lists: follows references, merges parameters, looks up
// handlers.
#include "base/base.h"

#include "base/buf.h"
#include "wadl/loader.h"

// ---- references

// The method with that id in a loaded file; NULL if there is none.
static struct definition *find_definition(const struct loader *loader, const char *file_name, const char *id)
{
	const struct wadl_file *file = loader->files;

	while (file != NULL && strcmp(file->name, file_name) != 0)
		file = file->next;
	struct definition *definition = file != NULL ? file->definitions : NULL;
	while (definition != NULL && (definition->id == NULL || strcmp(definition->id, id) != 0))
		definition = definition->next;
	return definition;
}

// Where a chain of references ends, and what it collects on the way.
struct chain {
	struct definition *end;    // the method at the end of the chain
	const struct scope *scope; // of the method; if it has none, of the last reference before it that has one
	enum role role;            // the highest role that a file in the chain requires
};

// Follows the references from start to the method itself. Each file and each reference on the way may only raise the required
// role. forget_visits() must have been called before. False: an error was reported.
static bool follow(struct loader *loader, struct definition *start, struct chain *chain)
{
	struct definition *at = start;

	*chain = (struct chain){ .role = ROLE_NONE };
	for (;;) {
		if (at->visited)
			return loader_fail_at(loader, start->node, "the reference to %s leads in a circle", start->target_id);
		at->visited = true;
		if (at->file->role > chain->role)
			chain->role = at->file->role;
		if (at->role > chain->role)
			chain->role = at->role;
		if (at->scope != NULL)
			chain->scope = at->scope;
		if (at->target_id == NULL)
			break;
		struct definition *next = find_definition(loader, at->target_file, at->target_id);
		if (next == NULL)
			return loader_fail_at(loader, at->node, "there is no method %s in %s", at->target_id, at->target_file);
		at = next;
	}
	chain->end = at;
	return true;
}

static void forget_visits(struct loader *loader)
{
	for (struct wadl_file *file = loader->files; file != NULL; file = file->next) {
		for (struct definition *d = file->definitions; d != NULL; d = d->next)
			d->visited = false;
	}
}

// ---- paths

// The path as the WADL writes it: "/{version}/{tenant}".
static struct str path_text(struct pool *pool, const struct route_segment *segments, size_t n)
{
	struct buf out = buf_new(pool, 64);

	for (size_t i = 0; i < n; i++)
		buf_addf(&out, segments[i].is_template ? "/{%.*s}" : "/%.*s", STR_ARG(segments[i].text));
	return n > 0 ? buf_str(&out) : STR("/");
}

// The index of the next template segment at or after i; scope->n if there is none.
static size_t next_template(const struct scope *scope, size_t i)
{
	while (i < scope->n && !scope->segments[i].is_template)
		i++;
	return i;
}

// Have both paths the same template names in the same order? Their literal segments may differ.
static bool same_templates(const struct scope *a, const struct scope *b)
{
	size_t i = next_template(a, 0), k = next_template(b, 0);

	while (i < a->n && k < b->n && str_eq(a->segments[i].text, b->segments[k].text)) {
		i = next_template(a, i + 1);
		k = next_template(b, k + 1);
	}
	return i == a->n && k == b->n;
}

// A method that is put at another path keeps the parameters of its own path, so both must have the same template names.
static bool check_paths(struct loader *loader, const struct definition *entry, const struct chain *chain)
{
	const struct scope *here = entry->scope, *there = chain->scope;

	if (here == there)
		return true;
	if (here->declares)
		return loader_fail_at(loader, entry->node, "%s brings its own parameters; those declared here would be ignored",
			chain->end->id);
	if (!same_templates(here, there)) {
		struct str path = path_text(loader->scratch, there->segments, there->n);
		return loader_fail_at(loader, entry->node, "the names in braces must be those of %s's own path, %.*s",
			chain->end->id, STR_ARG(path));
	}
	return true;
}

// ---- parameters

static bool is_declared(const struct route_param *params, size_t n, const struct route_param *param)
{
	for (size_t i = 0; i < n; i++) {
		bool template_or_query = params[i].style != PARAM_HEADER && param->style != PARAM_HEADER;
		// Handlers look parameters up by name, so a query parameter must not have the name of a template parameter.
		if ((params[i].style == param->style || template_or_query) && strcmp(params[i].key, param->key) == 0)
			return true;
	}
	return false;
}

static bool add_param(struct loader *loader, const struct definition *end, struct route_param *params, size_t *n,
	const struct route_param *param)
{
	if (is_declared(params, *n, param))
		return loader_fail_at(loader, end->node, "the parameter %s of %s is declared twice", param->name, end->id);
	if (*n == ROUTE_MAX_PARAMS)
		return loader_fail_at(loader, end->node, "%s has more than %d parameters", end->id, ROUTE_MAX_PARAMS);
	params[(*n)++] = *param;
	return true;
}

static bool add_templates(struct loader *loader, const struct chain *chain, struct route_param *params, size_t *n)
{
	const struct scope *scope = chain->scope;

	for (size_t i = next_template(scope, 0); i < scope->n; i = next_template(scope, i + 1)) {
		if (scope->declared[i] == NULL)
			return loader_fail_at(loader, chain->end->node, "no <param> declares {%.*s}",
				STR_ARG(scope->segments[i].text));
		if (!add_param(loader, chain->end, params, n, scope->declared[i]))
			return false;
	}
	return true;
}

// Sets all parameters of a method: the template parameters, in the order of the path, then those of the resource, then its own.
static bool add_params(struct loader *loader, const struct chain *chain, struct wadl_method *method)
{
	const struct route_method *own = &chain->end->method.route;
	struct route_param *params = POOL_ARRAY(loader->pool, struct route_param, ROUTE_MAX_PARAMS);
	size_t n = 0;

	if (!add_templates(loader, chain, params, &n))
		return false;
	method->n_templates = n;
	for (size_t i = 0; i < chain->scope->n_params; i++) {
		if (!add_param(loader, chain->end, params, &n, chain->scope->params[i]))
			return false;
	}
	for (size_t i = 0; i < own->n_params; i++) {
		if (!add_param(loader, chain->end, params, &n, &own->params[i]))
			return false;
	}
	method->route.params = params;
	method->route.n_params = n;
	return true;
}

// ---- methods

// Puts the method at the path of entry. False if another method is there already.
static bool insert(struct loader *loader, const struct definition *entry, struct wadl_method *method)
{
	const struct scope *scope = entry->scope;
	size_t at = next_template(scope, 0);

	for (size_t i = 0; i < method->n_templates; i++) {
		method->template_at[i] = at;
		at = next_template(scope, at + 1);
	}
	method->path = str_cstr(loader->pool, path_text(loader->pool, scope->segments, scope->n));
	struct route_segment *segments = POOL_ARRAY(loader->pool, struct route_segment, scope->n);
	for (size_t i = 0; i < scope->n; i++) {
		segments[i].is_template = scope->segments[i].is_template;
		segments[i].text = str_dup(loader->pool, scope->segments[i].text);
	}
	return table_insert(loader->table, segments, scope->n, method) || loader_fail_at(loader, entry->node,
		"a second %s at %s", http_method_name(method->route.method), method->path);
}

// Makes the method that an entry of the endpoint's file stands for, and puts it into the table.
static bool put_method(struct loader *loader, struct definition *entry)
{
	struct chain chain;

	if (!follow(loader, entry, &chain))
		return false;
	if (entry->scope == NULL) // it is only there to be referred to
		return true;
	if (!check_paths(loader, entry, &chain))
		return false;
	struct wadl_method *method = POOL_NEW(loader->pool, struct wadl_method);
	*method = chain.end->method;
	if (!add_params(loader, &chain, method))
		return false;
	struct route_method *route = &method->route;
	if (chain.role > route->role)
		route->role = chain.role;
	// The attributes t:slash, t:head and t:query of a method hold wherever it is put; an endpoint's own file may add to them.
	method->slash = entry->scope->slash || chain.scope->slash;
	method->no_head = entry->scope->no_head || chain.scope->no_head;
	method->any_query = entry->scope->any_query || chain.scope->any_query;
	method->resource_note = entry->scope->note.text != NULL ? entry->scope->note : chain.scope->note;
	route->handler = loader->find(loader->arg, route->dialect, route->id);
	if (route->handler == NULL)
		return loader_fail_at(loader, chain.end->node, "the method %s has no handler", route->id);
	return insert(loader, entry, method);
}

// Checks the references in all loaded files, including those of methods that this endpoint does not offer.
static bool check_references(struct loader *loader)
{
	struct chain chain;

	for (struct wadl_file *file = loader->files; file != NULL; file = file->next) {
		for (struct definition *d = file->definitions; d != NULL; d = d->next) {
			forget_visits(loader);
			if (!follow(loader, d, &chain))
				return false;
		}
	}
	return true;
}

bool loader_compose(struct loader *loader, struct wadl_file *file)
{
	if (!check_references(loader))
		return false;
	for (struct definition *entry = file->definitions; entry != NULL; entry = entry->next) {
		forget_visits(loader);
		if (!put_method(loader, entry))
			return false;
	}
	if (loader->table->n_methods == 0)
		return loader_fail_at(loader, xmlDocGetRootElement(file->doc), "no method is offered");
	return true;
}

// SPDX-License-Identifier: Apache-2.0
// <method> with its <request>, <response> and <representation>.
#include "base/base.h"

#include "base/ascii.h"
#include "wadl/loader.h"

static const char *id_of(struct loader *loader, const xmlNode *node)
{
	const char *id = loader_attribute(loader, node, "id");

	for (const char *c = id; c != NULL && *c != '\0'; c++) {
		if (!ascii_is_alnum(*c) && strchr("._-", *c) == NULL) {
			loader_fail_at(loader, node, "the id \"%s\" may hold letters, digits and ._- only", id);
			return "";
		}
	}
	return id;
}

// ---- representations

struct media_list {
	struct wadl_media *items;
	size_t n;
	bool of_request;
};

// Is text "type/subtype", perhaps with parameters, or "*/*" for any?
static bool is_media_type(const char *text)
{
	size_t slash = strcspn(text, "/");
	size_t n = strlen(text);

	if (strcmp(text, WADL_ANY_MEDIA) == 0)
		return true;
	return slash > 0 && slash + 1 < n && strcspn(text, "\t\r\n,\"*") == n && text[slash + 1] != '/';
}

static bool parse_media_doc(struct loader *loader, xmlNode *node, void *arg)
{
	struct wadl_media *media = arg;

	return parse_doc(loader, node, &media->note);
}

static bool parse_media(struct loader *loader, xmlNode *node, struct wadl_media *media)
{
	static const char *const names[] = { "id", "mediaType", "t:body", NULL };
	static const char *const words[] = { "optional", "required" };
	static const struct element table[] = { { "doc", parse_media_doc }, { NULL, NULL } };

	if (!loader_attributes_known(loader, node, names))
		return false;
	media->type = loader_attribute_needed(loader, node, "mediaType");
	if (media->type == NULL)
		return false;
	if (!is_media_type(media->type))
		return loader_fail_at(loader, node, "mediaType=\"%s\" is no media type", media->type);
	int word = loader_attribute_word(loader, node, "t:body", words, COUNT_OF(words));
	media->required = word == 1;
	return word != -2 && element_each_child(loader, node, WADL_NS, table, media);
}

static bool find_media(struct loader *loader, const xmlNode *node, const char *href, struct wadl_media *media)
{
	static const char *const names[] = { "href", NULL };

	if (!loader_attributes_known(loader, node, names))
		return false;
	for (const struct shared *shared = loader_source_file(node)->shared; shared != NULL; shared = shared->next) {
		if (shared->media != NULL && href[0] == '#' && strcmp(shared->id, href + 1) == 0) {
			*media = *shared->media;
			return true;
		}
	}
	return loader_fail_at(loader, node, "href=\"%s\" is no representation of this file's <application>", href);
}

static bool parse_representation(struct loader *loader, xmlNode *node, void *arg)
{
	struct media_list *list = arg;
	struct wadl_media media = { NULL, false, { NULL, NULL } };
	const char *href = loader_attribute(loader, node, "href");

	if (!(href != NULL ? find_media(loader, node, href, &media) : parse_media(loader, node, &media)))
		return false;
	if (href == NULL && loader_attribute(loader, node, "id") != NULL)
		return loader_fail_at(loader, node, "only a <representation> of the <application> may have an id");
	if (media.required && !list->of_request)
		return loader_fail_at(loader, node, "t:body is for requests");
	if (strcmp(media.type, WADL_ANY_MEDIA) == 0 && !list->of_request)
		return loader_fail_at(loader, node, "only a request may be of any media type");
	for (size_t i = 0; i < list->n; i++) {
		if (strcmp(list->items[i].type, media.type) == 0)
			return loader_fail_at(loader, node, "a second representation %s", media.type);
	}
	list->items = table_grow(loader->pool, list->items, list->n, sizeof(*list->items));
	list->items[list->n++] = media;
	return true;
}

bool parse_shared_representation(struct loader *loader, xmlNode *node, void *arg)
{
	struct wadl_file *file = loader_source_file(node);
	struct shared *shared = POOL_NEW(loader->scratch, struct shared);
	struct wadl_media *media = POOL_NEW(loader->pool, struct wadl_media);

	UNUSED(arg);
	shared->id = loader_attribute_needed(loader, node, "id");
	if (shared->id == NULL || !parse_media(loader, node, media))
		return false;
	for (const struct shared *other = file->shared; other != NULL; other = other->next) {
		if (strcmp(other->id, shared->id) == 0)
			return loader_fail_at(loader, node, "a second id %s", shared->id);
	}
	shared->media = media;
	shared->next = file->shared;
	file->shared = shared;
	return true;
}

// ---- request and response

struct body_parts { // of a <request> or a <response>
	struct param_list params;
	struct media_list media;
	struct wadl_note note;
};

static bool add_param(struct loader *loader, xmlNode *node, void *arg)
{
	struct body_parts *parts = arg;

	return parse_param(loader, node, &parts->params);
}

static bool add_representation(struct loader *loader, xmlNode *node, void *arg)
{
	struct body_parts *parts = arg;

	return parse_representation(loader, node, &parts->media);
}

static bool add_doc(struct loader *loader, xmlNode *node, void *arg)
{
	struct body_parts *parts = arg;

	return parse_doc(loader, node, &parts->note);
}

static const struct element body_elements[] = {
	{ "doc", add_doc }, { "param", add_param }, { "representation", add_representation }, { NULL, NULL },
};

struct method_parts {
	struct definition *definition;
	struct param_list params;
	bool has_request;
};

static bool parse_request(struct loader *loader, xmlNode *node, void *arg)
{
	static const char *const none[] = { NULL };
	struct method_parts *method = arg;
	struct body_parts parts = { .params.styles = 1U << PARAM_QUERY | 1U << PARAM_HEADER, .media.of_request = true };

	if (method->has_request)
		return loader_fail_at(loader, node, "a second <request>");
	if (!loader_attributes_known(loader, node, none) || !element_each_child(loader, node, WADL_NS, body_elements, &parts))
		return false;
	method->has_request = true;
	method->params = parts.params;
	method->definition->method.request = parts.media.items;
	method->definition->method.n_request = parts.media.n;
	return true;
}

// Parses "200 201"; a missing attribute means 200.
static bool parse_statuses(struct loader *loader, const xmlNode *node, struct wadl_response *response)
{
	const char *text = loader_attribute(loader, node, "status");
	struct str rest = str_c(text != NULL ? text : "200"), item;
	int *statuses = NULL;

	while (str_split(&rest, ' ', &item)) {
		uint64_t status = 0;
		if (item.n == 0)
			continue;
		if (!str_to_u64(item, &status) || status < 200 || status > 599)
			return loader_fail_at(loader, node, "status=\"%s\" must be a list of numbers from 200 to 599", text);
		statuses = table_grow(loader->pool, statuses, response->n_statuses, sizeof(*statuses));
		statuses[response->n_statuses++] = (int)status;
	}
	response->statuses = statuses;
	return statuses != NULL || loader_fail_at(loader, node, "status is empty");
}

static bool parse_response(struct loader *loader, xmlNode *node, void *arg)
{
	static const char *const names[] = { "status", NULL };
	struct method_parts *method = arg;
	struct wadl_method *described = &method->definition->method;
	struct body_parts parts = { .params.styles = 1U << PARAM_HEADER };
	struct wadl_response response = { .n_statuses = 0 };

	if (!loader_attributes_known(loader, node, names) || !parse_statuses(loader, node, &response) ||
	    !element_each_child(loader, node, WADL_NS, body_elements, &parts))
		return false;
	response.params = parts.params.items;
	response.n_params = parts.params.n;
	response.media = parts.media.items;
	response.n_media = parts.media.n;
	response.note = parts.note;
	struct wadl_response *responses = table_grow(loader->pool, described->responses, described->n_responses,
		sizeof(*responses));
	responses[described->n_responses++] = response;
	described->responses = responses;
	return true;
}

static bool parse_method_doc(struct loader *loader, xmlNode *node, void *arg)
{
	struct method_parts *method = arg;

	return parse_doc(loader, node, &method->definition->method.note);
}

// ---- the method

static const char **add_type(struct pool *pool, const char *const *types, size_t *n, const char *type)
{
	const char **list = (const char **)(uintptr_t)types;

	for (size_t i = 0; i < *n; i++) {
		if (strcmp(list[i], type) == 0)
			return list;
	}
	list = table_grow(pool, list, *n, sizeof(*list));
	list[(*n)++] = type;
	return list;
}

// The media types that a method produces are those of its successful responses; errors have their own types.
static bool collect_media(struct loader *loader, const xmlNode *node, struct wadl_method *method)
{
	struct route_method *route = &method->route;

	for (size_t i = 0; i < method->n_responses; i++) {
		const struct wadl_response *response = &method->responses[i];
		for (size_t k = 0; response->statuses[0] < 400 && k < response->n_media; k++)
			route->produces = add_type(loader->pool, route->produces, &route->n_produces, response->media[k].type);
	}
	for (size_t i = 0; i < method->n_request; i++) {
		route->consumes = add_type(loader->pool, route->consumes, &route->n_consumes, method->request[i].type);
		route->body_required = route->body_required || method->request[i].required;
	}
	if (route->n_produces > WADL_MAX_MEDIA || route->n_consumes > WADL_MAX_MEDIA)
		return loader_fail_at(loader, node, "more than %d representations", WADL_MAX_MEDIA);
	return true;
}

static bool parse_modes(struct loader *loader, const xmlNode *node, struct route_method *route)
{
	static const char *const words[] = {
		[TXN_NONE] = "none", [TXN_READ] = "read", [TXN_SNAPSHOT] = "snapshot", [TXN_WRITE] = "write",
	};
	static const char *const accept_words[] = { "offered", "any" };
	bool good;

	if (loader_attribute_needed(loader, node, "t:role") == NULL || loader_attribute_needed(loader, node, "t:txn") == NULL)
		return false;
	route->role = loader_attribute_role(loader, node, &good);
	int txn = loader_attribute_word(loader, node, "t:txn", words, COUNT_OF(words));
	int accept = loader_attribute_word(loader, node, "t:accept", accept_words, COUNT_OF(accept_words));
	if (!good || txn < 0 || accept == -2 || !loader_attribute_number(loader, node, "t:min", &route->min_version) ||
	    !loader_attribute_number(loader, node, "t:max", &route->max_version))
		return false;
	route->txn = (enum txn_mode)txn;
	route->any_accept = accept == 1;
	if (route->max_version != 0 && route->min_version > route->max_version)
		return loader_fail_at(loader, node, "t:min is above t:max");
	return true;
}

static bool parse_own(struct loader *loader, xmlNode *node, struct definition *definition)
{
	static const char *const names[] = { "id", "name", "t:role", "t:txn", "t:min", "t:max", "t:accept", NULL };
	static const struct element table[] = {
		{ "doc", parse_method_doc }, { "request", parse_request }, { "response", parse_response }, { NULL, NULL },
	};
	struct route_method *route = &definition->method.route;
	struct method_parts parts = { .definition = definition };

	if (!loader_attributes_known(loader, node, names) || loader_attribute_needed(loader, node, "id") == NULL)
		return false;
	const char *name = loader_attribute_needed(loader, node, "name");
	if (name == NULL)
		return false;
	route->id = definition->id;
	route->dialect = definition->file->dialect;
	route->method = http_method_parse(str_c(name));
	if (route->method == METHOD_OTHER)
		return loader_fail_at(loader, node, "the method name=\"%s\" is not known", name);
	if (!parse_modes(loader, node, route) || !element_each_child(loader, node, WADL_NS, table, &parts))
		return false;
	struct route_param *params = POOL_ARRAY(loader->scratch, struct route_param, parts.params.n);
	for (size_t i = 0; i < parts.params.n; i++)
		params[i] = *parts.params.items[i];
	route->params = params;
	route->n_params = parts.params.n;
	return collect_media(loader, node, &definition->method);
}

struct wadl_file *loader_parse_href(struct loader *loader, const xmlNode *node, const char *attribute, struct str href,
	const char *what,
	const char **id)
{
	size_t hash = str_find(href, '#', 0);

	if (hash + 1 >= href.n) {
		loader_fail_at(loader, node, "%s=\"%.*s\" must name %s: \"FILE.wadl#ID\"", attribute, STR_ARG(href), what);
		return NULL;
	}
	*id = str_cstr(loader->scratch, str_part(href, hash + 1, href.n));
	return hash == 0 ? loader_source_file(node) : loader_file(loader, node, str_cstr(loader->scratch, str_part(href, 0,
		hash)));
}

// Parses "tenancy.wadl#putTenant" or "#putTenant".
static bool parse_reference(struct loader *loader, const xmlNode *node, struct definition *definition, const char *href)
{
	static const char *const names[] = { "id", "href", NULL };
	static const struct element table[] = { { NULL, NULL } };

	if (!loader_attributes_known(loader, node, names) || !element_each_child(loader, node, WADL_NS, table, NULL))
		return false;
	const struct wadl_file *target = loader_parse_href(loader, node, "href", str_c(href), "a method", &definition->target_id);
	if (target == NULL)
		return false;
	definition->target_file = target->name;
	return true;
}

bool loader_parse_method(struct loader *loader, xmlNode *node, const struct scope *scope, struct wadl_file *into, enum role role)
{
	struct wadl_file *file = loader_source_file(node);
	struct definition *definition = POOL_NEW(loader->scratch, struct definition);
	const char *href = loader_attribute(loader, node, "href");

	definition->file = file;
	definition->node = node;
	definition->scope = scope;
	definition->role = role;
	definition->id = id_of(loader, node);
	if (definition->id != NULL && definition->id[0] == '\0')
		return loader_fail_at(loader, node, "an empty id");
	for (const struct definition *other = file->definitions; other != NULL; other = other->next) {
		if (definition->id != NULL && other->id != NULL && strcmp(other->id, definition->id) == 0)
			return loader_fail_at(loader, node, "a second method of the id %s", definition->id);
	}
	*into->last = definition;
	into->last = &definition->next;
	return href != NULL ? parse_reference(loader, node, definition, href) : parse_own(loader, node, definition);
}

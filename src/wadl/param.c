// SPDX-License-Identifier: Apache-2.0
// <param>
#include "base/base.h"

#include "base/ascii.h"
#include "base/buf.h"
#include "wadl/loader.h"

static const char *const style_words[] = {
	[PARAM_TEMPLATE] = "template", [PARAM_QUERY] = "query", [PARAM_HEADER] = "header",
};

static bool check_value(struct loader *loader, const xmlNode *node, const struct route_param *param, struct str value)
{
	return type_allows(param->type, value) ||
		loader_fail_at(loader, node, "\"%.*s\" is no value of the type of %s", STR_ARG(value), param->name);
}

static bool parse_option(struct loader *loader, xmlNode *node, void *arg)
{
	static const char *const names[] = { "value", NULL };
	static const struct element table[] = { { "doc", check_doc }, { NULL, NULL } };
	struct route_param *param = arg;
	const char *value = loader_attributes_known(loader, node, names) ? loader_attribute_needed(loader, node, "value") : NULL;

	if (value == NULL || !check_value(loader, node, param, str_c(value)))
		return false;
	struct str *options = table_grow(loader->pool, param->options, param->n_options, sizeof(*options));
	options[param->n_options++] = str_c(value);
	param->options = options;
	return element_each_child(loader, node, WADL_NS, table, NULL);
}

static bool parse_param_doc(struct loader *loader, xmlNode *node, void *arg)
{
	struct route_param *param = arg;

	return parse_doc(loader, node, &param->note);
}

static struct str optional(struct loader *loader, const xmlNode *node, const char *name)
{
	return str_c(loader_attribute(loader, node, name));
}

static bool parse_mismatch(struct loader *loader, const xmlNode *node, struct route_param *param)
{
	static const char *const words[] = { "400", "404" };
	int word = loader_attribute_word(loader, node, "t:mismatch", words, COUNT_OF(words));

	if (word >= 0 && param->style != PARAM_TEMPLATE)
		return loader_fail_at(loader, node, "t:mismatch is for template parameters");
	param->no_address = word == 1;
	return word != -2;
}

// Checks a default or a fixed value. Both must be among the options: check.c compares a default with them in each request that
// lacks the parameter, and the only value that a fixed parameter takes.
static bool check_preset(struct loader *loader, const xmlNode *node, const struct route_param *param, struct str value)
{
	struct buf choice = buf_new(loader->scratch, 64);

	if (!check_value(loader, node, param, value))
		return false;
	if (route_param_has_option(param, value))
		return true;
	type_add_choice(&choice, param->options, param->n_options);
	return loader_fail_at(loader, node, "\"%.*s\" is no option of %s, which must be %.*s", STR_ARG(value), param->name, STR_ARG(choice));
}

static bool check_presets(struct loader *loader, const xmlNode *node, const struct route_param *param)
{
	bool has_preset = param->preset.p != NULL, has_fixed = param->fixed.p != NULL;

	if (param->style == PARAM_TEMPLATE && (has_preset || has_fixed || param->repeating || param->n_options > 0))
		return loader_fail_at(loader, node, "a template parameter has a type, and nothing else");
	if (param->required && has_preset)
		return loader_fail_at(loader, node, "%s is required, so its default can never be taken", param->name);
	if (has_fixed && has_preset)
		return loader_fail_at(loader, node, "%s is fixed, so it can't have a default", param->name);
	return (!has_preset || check_preset(loader, node, param, param->preset)) &&
		(!has_fixed || check_preset(loader, node, param, param->fixed));
}

static bool parse_attributes(struct loader *loader, const xmlNode *node, struct route_param *param)
{
	param->name = loader_attribute_needed(loader, node, "name");
	if (param->name == NULL || loader_attribute_needed(loader, node, "style") == NULL)
		return false;
	int style = loader_attribute_word(loader, node, "style", style_words, COUNT_OF(style_words));
	if (style < 0)
		return false;
	param->style = (enum param_style)style;
	struct str lowered = ascii_lowered(loader->pool, str_c(param->name));
	param->key = str_cstr(loader->pool, lowered);
	const char *type = loader_attribute(loader, node, "type");
	param->type = type != NULL ? loader_find_type(loader, node, type) : type_builtin(loader->pool, "string");
	param->preset = optional(loader, node, "default");
	param->fixed = optional(loader, node, "fixed");
	return param->type != NULL && loader_attribute_boolean(loader, node, "required", &param->required) &&
		loader_attribute_boolean(loader, node, "repeating", &param->repeating) && parse_mismatch(loader, node, param);
}

static const struct route_param *parse_whole(struct loader *loader, xmlNode *node)
{
	static const char *const names[] = {
		"id", "name", "style", "type", "required", "repeating", "default", "fixed", "t:mismatch", NULL,
	};
	static const struct element table[] = { { "doc", parse_param_doc }, { "option", parse_option }, { NULL, NULL } };
	struct route_param *param = POOL_NEW(loader->pool, struct route_param);

	if (!loader_attributes_known(loader, node, names) || !parse_attributes(loader, node, param) ||
	    !element_each_child(loader, node, WADL_NS, table, param) || !check_presets(loader, node, param))
		return NULL;
	return param;
}

static const struct route_param *find_shared(struct loader *loader, const xmlNode *node, const char *href)
{
	static const char *const names[] = { "href", NULL };

	if (!loader_attributes_known(loader, node, names))
		return NULL;
	for (const struct shared *shared = loader_source_file(node)->shared; shared != NULL; shared = shared->next) {
		if (shared->param != NULL && href[0] == '#' && strcmp(shared->id, href + 1) == 0)
			return shared->param;
	}
	loader_fail_at(loader, node, "href=\"%s\" is no parameter of this file's <application>", href);
	return NULL;
}

bool parse_param(struct loader *loader, xmlNode *node, void *arg)
{
	struct param_list *list = arg;
	const char *href = loader_attribute(loader, node, "href");
	const struct route_param *param = href != NULL ? find_shared(loader, node, href) : parse_whole(loader, node);

	if (param == NULL)
		return false;
	if (href == NULL && loader_attribute(loader, node, "id") != NULL)
		return loader_fail_at(loader, node, "only a <param> of the <application> may have an id");
	if ((list->styles & 1U << param->style) == 0)
		return loader_fail_at(loader, node, "a %s parameter is not allowed here", style_words[param->style]);
	for (size_t i = 0; i < list->n; i++) {
		if (list->items[i]->style == param->style && strcmp(list->items[i]->key, param->key) == 0)
			return loader_fail_at(loader, node, "a second %s parameter %s", style_words[param->style], param->name);
	}
	list->items = table_grow(loader->pool, list->items, list->n, sizeof(*list->items));
	list->items[list->n++] = param;
	return true;
}

bool parse_shared_param(struct loader *loader, xmlNode *node, void *arg)
{
	struct wadl_file *file = loader_source_file(node);
	struct shared *shared = POOL_NEW(loader->scratch, struct shared);

	UNUSED(arg);
	shared->id = loader_attribute_needed(loader, node, "id");
	if (shared->id == NULL)
		return false;
	for (const struct shared *other = file->shared; other != NULL; other = other->next) {
		if (strcmp(other->id, shared->id) == 0)
			return loader_fail_at(loader, node, "a second id %s", shared->id);
	}
	shared->param = parse_whole(loader, node);
	shared->next = file->shared;
	file->shared = shared;
	return shared->param != NULL;
}

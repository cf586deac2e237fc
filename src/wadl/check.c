// SPDX-License-Identifier: Apache-2.0
// Checks a request's parameters and media types against the method's WADL.
#include "base/base.h"

#include "base/buf.h"
#include "http/media.h"
#include "wadl/table.h"

enum { NAME_SHOWN = 64 }; // bytes of an unknown parameter's name that an error repeats

struct checking {
	struct pool *pool;
	const struct request *request;
	struct route_match *match;
	struct str *detail;
	size_t repeats; // values so far that are not the first of their parameter
};

static const char *kind_of(const struct route_param *param)
{
	return param->style == PARAM_HEADER ? "header" : "parameter";
}

static enum outcome refuse(const struct checking *checking, const struct route_param *param, const char *what)
{
	*checking->detail = str_printf(checking->pool, "%s %s %s", kind_of(param), param->name, what);
	return OUTCOME_BAD_PARAMETER;
}

// ---- names

bool route_declares(const struct route_method *method, struct str name)
{
	for (size_t i = 0; i < method->n_params; i++) {
		if (method->params[i].style == PARAM_QUERY && str_eq_c(name, method->params[i].name))
			return true;
	}
	return false;
}

static enum outcome refuse_unknown(const struct checking *checking, struct str name)
{
	const struct route_method *method = checking->match->method;
	struct buf text = buf_new(checking->pool, 128);
	const char *between = "; it takes ";

	buf_addf(&text, "this call has no parameter \"%.*s\"", STR_HEAD_ARG(name, NAME_SHOWN));
	for (size_t i = 0; i < method->n_params; i++) {
		if (method->params[i].style != PARAM_QUERY)
			continue;
		buf_addf(&text, "%s%s", between, method->params[i].name);
		between = ", ";
	}
	*checking->detail = buf_str(&text);
	return OUTCOME_BAD_PARAMETER;
}

// ---- values

bool route_param_has_option(const struct route_param *param, struct str value)
{
	for (size_t i = 0; i < param->n_options; i++) {
		if (str_eq(param->options[i], value))
			return true;
	}
	return param->n_options == 0;
}

static enum outcome refuse_value(const struct checking *checking, const struct route_param *param, struct str value)
{
	struct buf text = buf_new(checking->pool, 128);

	buf_addf(&text, "%s %s ", kind_of(param), param->name);
	if (!type_allows(param->type, value)) {
		type_add_rule(&text, param->type, value);
	} else {
		BUF_LIT(&text, "must be ");
		if (param->fixed.p != NULL)
			buf_add(&text, param->fixed);
		else
			type_add_choice(&text, param->options, param->n_options);
	}
	*checking->detail = buf_str(&text);
	return OUTCOME_BAD_PARAMETER;
}

static enum outcome take(struct checking *checking, const struct route_param *param, struct str value)
{
	struct route_match *match = checking->match;

	if (!type_allows(param->type, value) || !route_param_has_option(param, value) ||
	    (param->fixed.p != NULL && !str_eq(param->fixed, value)))
		return refuse_value(checking, param, value);
	assert(match->n < COUNT_OF(match->values));
	match->values[match->n].name = param->name;
	match->values[match->n].value = value;
	match->n++;
	return OUTCOME_OK;
}

static enum outcome refuse_repeats(const struct checking *checking, const struct route_param *param)
{
	*checking->detail = str_printf(checking->pool, "parameter %s is repeated too often: a request may repeat parameters %d times",
		param->name, ROUTE_MAX_REPEATS);
	return OUTCOME_BAD_PARAMETER;
}

static enum outcome take_query(struct checking *checking, const struct route_param *param, size_t *times)
{
	const struct uri *uri = &checking->request->uri;

	for (size_t i = 0; i < uri->n_pairs; i++) {
		if (!str_eq_c(uri->pairs[i].name, param->name))
			continue;
		if (++*times > 1 && !param->repeating)
			return refuse(checking, param, "must be given once");
		if (*times > 1 && ++checking->repeats > ROUTE_MAX_REPEATS)
			return refuse_repeats(checking, param);
		struct str value = uri->pairs[i].value;
		enum outcome outcome = take(checking, param, value.p != NULL ? value : STR(""));
		if (outcome != OUTCOME_OK)
			return outcome;
	}
	return OUTCOME_OK;
}

static enum outcome take_header(struct checking *checking, const struct route_param *param, size_t *times)
{
	struct str value = request_header(checking->request, param->key);

	if (value.p == NULL)
		return OUTCOME_OK;
	++*times;
	return take(checking, param, value);
}

static enum outcome take_param(struct checking *checking, const struct route_param *param)
{
	size_t times = 0;
	enum outcome outcome = param->style == PARAM_QUERY ? take_query(checking, param, &times) :
		take_header(checking, param, &times);

	if (outcome != OUTCOME_OK || times > 0)
		return outcome;
	if (param->required)
		return refuse(checking, param, "is missing");
	return param->preset.p != NULL ? take(checking, param, param->preset) : OUTCOME_OK;
}

enum outcome route_check_params(struct pool *pool, const struct request *request, struct route_match *match,
	struct str *detail)
{
	struct checking checking = { pool, request, match, detail, 0 };
	const struct route_method *method = match->method;
	bool any_query = ((const struct wadl_method *)method)->any_query; // route is the first member of struct wadl_method
	enum outcome outcome = OUTCOME_OK;

	for (size_t i = 0; i < request->uri.n_pairs && !any_query; i++) {
		if (!route_declares(method, request->uri.pairs[i].name))
			return refuse_unknown(&checking, request->uri.pairs[i].name);
	}
	for (size_t i = 0; i < method->n_params && outcome == OUTCOME_OK; i++) {
		enum param_style style = method->params[i].style;
		if (style == PARAM_HEADER || (style == PARAM_QUERY && !any_query))
			outcome = take_param(&checking, &method->params[i]);
	}
	return outcome;
}

// ---- media types

// The other name of a type of XML, since application/xml and text/xml mean the same (RFC 7303); NULL for any other type.
static const char *other_name(const char *type)
{
	if (strcmp(type, "application/xml") == 0)
		return "text/xml";
	return strcmp(type, "text/xml") == 0 ? "application/xml" : NULL;
}

// The index in the method's list of the best type for Accept; of equally good ones the first.
static int choose(struct str accept, const struct route_method *method)
{
	const char *offers[2 * WADL_MAX_MEDIA];
	int origin[2 * WADL_MAX_MEDIA];
	size_t n = 0;

	for (size_t i = 0; i < method->n_produces; i++) {
		origin[n] = (int)i;
		offers[n++] = method->produces[i];
	}
	for (size_t i = 0; i < method->n_produces; i++) {
		if (other_name(method->produces[i]) == NULL)
			continue;
		origin[n] = (int)i;
		offers[n++] = other_name(method->produces[i]);
	}
	int chosen = media_choose(accept, offers, n);
	return chosen >= 0 ? origin[chosen] : -1;
}

static int match_body(struct str content_type, const struct route_method *method)
{
	for (size_t i = 0; i < method->n_consumes; i++) {
		const char *other = other_name(method->consumes[i]);
		if (strcmp(method->consumes[i], WADL_ANY_MEDIA) == 0)
			return (int)i;
		if (media_is(content_type, method->consumes[i]) || (other != NULL && media_is(content_type, other)))
			return (int)i;
	}
	return -1;
}

static struct str list_types(struct pool *pool, const char *intro, const char *const *types, size_t n)
{
	struct buf text = buf_new(pool, 128);

	buf_addf(&text, "%s", intro);
	for (size_t i = 0; i < n; i++)
		buf_addf(&text, "%s%s", i > 0 ? ", " : "", types[i]);
	return buf_str(&text);
}

enum outcome route_accept(struct pool *pool, const struct request *request, const struct route_method *method, int *produce,
	struct str *detail)
{
	*produce = choose(request_header(request, "accept"), method);
	if (*produce >= 0)
		return OUTCOME_OK;
	*detail = list_types(pool, "what Accept asks for can't be had; this can: ", method->produces, method->n_produces);
	return OUTCOME_NOT_ACCEPTABLE;
}

enum outcome route_negotiate(struct pool *pool, const struct request *request, const struct route_method *method,
	int *produce, int *consume, struct str *detail)
{
	*produce = *consume = -1;
	if (request->body.n > 0 && method->n_consumes > 0) {
		*consume = match_body(request->content_type, method);
		if (*consume < 0) {
			*detail = list_types(pool, "the Content-Type must be one of: ", method->consumes, method->n_consumes);
			return OUTCOME_UNSUPPORTED_MEDIA;
		}
	}
	if (method->n_produces == 0)
		return OUTCOME_OK;
	enum outcome outcome = route_accept(pool, request, method, produce, detail);
	if (outcome == OUTCOME_OK || !method->any_accept)
		return outcome;
	*produce = 0;
	*detail = STR("");
	return OUTCOME_OK;
}

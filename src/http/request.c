// SPDX-License-Identifier: Apache-2.0
// Header fields and preferences of a request.
#include "base/base.h"

#include "base/ascii.h"
#include "base/buf.h"
#include "base/pool.h"
#include "http/list.h"
#include "http/request.h"

static const char *const method_names[METHOD__COUNT + 1] = {
#define METHOD_NAME(name) [METHOD_##name] = #name,
	HTTP_METHODS(METHOD_NAME)
#undef METHOD_NAME
	[METHOD_OTHER] = "OTHER",
};

enum http_method http_method_parse(struct str text)
{
	// Method names are case-sensitive (RFC 9110 section 9.1).
	for (size_t i = 0; i < METHOD_OTHER; i++) {
		if (str_eq_c(text, method_names[i]))
			return (enum http_method)i;
	}
	return METHOD_OTHER;
}

const char *http_method_name(enum http_method method)
{
	return method_names[method];
}

static struct str header_name(struct pool *pool, struct str name)
{
	char *out = pool_alloc(pool, name.n);

	for (size_t i = 0; i < name.n; i++) {
		char c = name.p[i];
		out[i] = c == '_' ? '-' : ascii_to_lower(c);
	}
	return str_n(out, name.n);
}

// Index of the header field with this name, or n_headers.
static size_t find(const struct request *request, struct str name)
{
	size_t i = 0;

	while (i < request->n_headers && !str_eq(request->headers[i].name, name))
		i++;
	return i;
}

enum outcome request_add_header(struct pool *pool, struct request *request, struct str name, struct str value)
{
	name = header_name(pool, name);
	if (value.p == NULL)
		value = STR("");
	size_t at = find(request, name);
	if (at < request->n_headers) {
		struct http_header *header = &request->headers[at];
		if (header->value.n > 0 && value.n > 0)
			header->value = str_printf(pool, "%.*s, %.*s", STR_ARG(header->value), STR_ARG(value));
		else if (value.n > 0)
			header->value = value;
		return OUTCOME_OK;
	}
	if (request->n_headers == REQUEST_MAX_HEADERS)
		return OUTCOME_HEADERS_TOO_LARGE;
	request->headers[request->n_headers++] = (struct http_header){ name, value };
	return OUTCOME_OK;
}

struct str request_header(const struct request *request, const char *name)
{
	size_t at = find(request, str_c(name));

	return at < request->n_headers ? request->headers[at].value : STR_NONE;
}

bool request_has_header(const struct request *request, const char *name)
{
	return request_header(request, name).p != NULL;
}

bool request_prefers(const struct request *request, const char *name, const char *value)
{
	struct str rest = request_header(request, "prefer");
	struct str item, preference, key, given;

	while (list_next(&rest, ',', &item)) {
		if (!list_next(&item, ';', &preference)) // parameters of the preference may follow; they are ignored
			continue;
		list_pair(preference, &key, &given);
		if (!str_eq_nocase(key, str_c(name)))
			continue;
		// The first preference of a name counts, and an empty value means no value (RFC 7240 section 2).
		return str_eq_nocase(given, str_c(value));
	}
	return false;
}

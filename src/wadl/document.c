// SPDX-License-Identifier: Apache-2.0
// Writes the composed WADL as text. All references are resolved, so the text needs no other file. The same table always gives the
// same text.
#include "base/base.h"

#include "base/buf.h"
#include "wadl/loader.h"

struct writer {
	struct buf out;
	const struct route_table *table;
	const char **ids; // the ids of table->methods as they are written
};

// ---- text

static void add_text(struct buf *out, const char *text)
{
	for (; *text != '\0'; text++) {
		switch (*text) {
		case '&': BUF_LIT(out, "&amp;"); break;
		case '<': BUF_LIT(out, "&lt;"); break;
		case '>': BUF_LIT(out, "&gt;"); break;
		case '"': BUF_LIT(out, "&quot;"); break;
		case '\t': BUF_LIT(out, "&#9;"); break;
		case '\n': BUF_LIT(out, "&#10;"); break;
		case '\r': BUF_LIT(out, "&#13;"); break;
		default: buf_addc(out, *text);
		}
	}
}

static void add_attribute(struct buf *out, const char *name, const char *value)
{
	if (value == NULL)
		return;
	buf_addf(out, " %s=\"", name);
	add_text(out, value);
	buf_addc(out, '"');
}

static void indent(struct buf *out, int depth)
{
	buf_addf(out, "%*s", 2 * depth, "");
}

static void add_note(struct buf *out, int depth, const struct wadl_note *note)
{
	if (note->text == NULL)
		return;
	indent(out, depth);
	BUF_LIT(out, "<doc");
	add_attribute(out, "title", note->title);
	BUF_LIT(out, ">");
	add_text(out, note->text);
	BUF_LIT(out, "</doc>\n");
}

// ---- grammars

// Number, from 1, of the schema that contains a type.
static size_t schema_number(const struct route_table *table, const char *space)
{
	size_t number = 0;
	const char *last = NULL;

	for (size_t i = 0; i < table->n_types; i++) {
		if (last == NULL || strcmp(last, table->types[i]->space) != 0)
			number++;
		last = table->types[i]->space;
		if (strcmp(last, space) == 0)
			break;
	}
	return number;
}

static void add_facet(struct buf *out, const char *name, const char *value)
{
	buf_addf(out, "          <xs:%s", name);
	add_attribute(out, "value", value);
	BUF_LIT(out, "/>\n");
}

static void add_number_facet(struct writer *writer, const char *name, long long value)
{
	char text[24];

	(void)snprintf(text, sizeof(text), "%lld", value);
	add_facet(&writer->out, name, text);
}

static void add_facets(struct writer *writer, const struct wadl_type *type)
{
	for (size_t i = 0; i < type->n_patterns; i++)
		add_facet(&writer->out, "pattern", type->patterns[i].text);
	for (size_t i = 0; i < type->n_values; i++)
		add_facet(&writer->out, "enumeration", type->values[i].p);
	if (type->has_min_length)
		add_number_facet(writer, "minLength", (long long)type->min_length);
	if (type->has_max_length)
		add_number_facet(writer, "maxLength", (long long)type->max_length);
	if (type->own_min)
		add_number_facet(writer, "minInclusive", type->min);
	if (type->own_max)
		add_number_facet(writer, "maxInclusive", type->max);
}

static void add_type(struct writer *writer, const struct wadl_type *type)
{
	struct buf *out = &writer->out;

	BUF_LIT(out, "      <xs:simpleType");
	add_attribute(out, "name", type->name);
	BUF_LIT(out, ">\n");
	if (type->note != NULL) {
		BUF_LIT(out, "        <xs:annotation><xs:documentation>");
		add_text(out, type->note);
		BUF_LIT(out, "</xs:documentation></xs:annotation>\n");
	}
	buf_addf(out, "        <xs:restriction base=\"xs:%s\">\n", type->builtin);
	add_facets(writer, type);
	BUF_LIT(out, "        </xs:restriction>\n      </xs:simpleType>\n");
}

static bool begins_schema(const struct route_table *table, size_t i)
{
	return i == 0 || strcmp(table->types[i - 1]->space, table->types[i]->space) != 0;
}

static void add_grammars(struct writer *writer)
{
	const struct route_table *table = writer->table;
	struct buf *out = &writer->out;

	if (table->n_types == 0)
		return;
	BUF_LIT(out, "  <grammars>\n");
	for (size_t i = 0; i < table->n_types; i++) {
		if (begins_schema(table, i)) {
			BUF_LIT(out, "    <xs:schema");
			add_attribute(out, "targetNamespace", table->types[i]->space);
			BUF_LIT(out, " elementFormDefault=\"qualified\">\n");
		}
		add_type(writer, table->types[i]);
		if (i + 1 == table->n_types || begins_schema(table, i + 1))
			BUF_LIT(out, "    </xs:schema>\n");
	}
	BUF_LIT(out, "  </grammars>\n");
}

// ---- parameters and representations

static void add_param_attributes(struct writer *writer, const struct route_param *param)
{
	static const char *const styles[] = {
		[PARAM_TEMPLATE] = "template", [PARAM_QUERY] = "query", [PARAM_HEADER] = "header",
	};
	struct buf *out = &writer->out;

	add_attribute(out, "name", param->name);
	add_attribute(out, "style", styles[param->style]);
	if (strcmp(param->type->space, XSD_NS) == 0)
		buf_addf(out, " type=\"xs:%s\"", param->type->name);
	else
		buf_addf(out, " type=\"ns%zu:%s\"", schema_number(writer->table, param->type->space), param->type->name);
	add_attribute(out, "required", param->required ? "true" : NULL);
	add_attribute(out, "repeating", param->repeating ? "true" : NULL);
	add_attribute(out, "default", param->preset.p);
	add_attribute(out, "fixed", param->fixed.p);
	add_attribute(out, "t:mismatch", param->no_address ? "404" : NULL);
}

static void add_param(struct writer *writer, int depth, const struct route_param *param)
{
	struct buf *out = &writer->out;

	indent(out, depth);
	BUF_LIT(out, "<param");
	add_param_attributes(writer, param);
	if (param->note.text == NULL && param->n_options == 0) {
		BUF_LIT(out, "/>\n");
		return;
	}
	BUF_LIT(out, ">\n");
	add_note(out, depth + 1, &param->note);
	for (size_t i = 0; i < param->n_options; i++) {
		indent(out, depth + 1);
		BUF_LIT(out, "<option");
		add_attribute(out, "value", param->options[i].p);
		BUF_LIT(out, "/>\n");
	}
	indent(out, depth);
	BUF_LIT(out, "</param>\n");
}

static void add_media(struct writer *writer, int depth, const struct wadl_media *media)
{
	struct buf *out = &writer->out;

	indent(out, depth);
	BUF_LIT(out, "<representation");
	add_attribute(out, "mediaType", media->type);
	add_attribute(out, "t:body", media->required ? "required" : NULL);
	if (media->note.text == NULL) {
		BUF_LIT(out, "/>\n");
		return;
	}
	BUF_LIT(out, ">\n");
	add_note(out, depth + 1, &media->note);
	indent(out, depth);
	BUF_LIT(out, "</representation>\n");
}

// ---- methods

static void add_request(struct writer *writer, const struct wadl_method *method)
{
	struct buf *out = &writer->out;

	if (method->route.n_params == method->n_templates && method->n_request == 0)
		return;
	BUF_LIT(out, "        <request>\n");
	for (size_t i = method->n_templates; i < method->route.n_params; i++)
		add_param(writer, 5, &method->route.params[i]);
	for (size_t i = 0; i < method->n_request; i++)
		add_media(writer, 5, &method->request[i]);
	BUF_LIT(out, "        </request>\n");
}

static void add_response(struct writer *writer, const struct wadl_response *response)
{
	struct buf *out = &writer->out;

	BUF_LIT(out, "        <response status=\"");
	for (size_t i = 0; i < response->n_statuses; i++)
		buf_addf(out, "%s%d", i > 0 ? " " : "", response->statuses[i]);
	if (response->n_params == 0 && response->n_media == 0 && response->note.text == NULL) {
		BUF_LIT(out, "\"/>\n");
		return;
	}
	BUF_LIT(out, "\">\n");
	add_note(out, 5, &response->note);
	for (size_t i = 0; i < response->n_params; i++)
		add_param(writer, 5, response->params[i]);
	for (size_t i = 0; i < response->n_media; i++)
		add_media(writer, 5, &response->media[i]);
	BUF_LIT(out, "        </response>\n");
}

static void add_mode(struct buf *out, const struct route_method *route)
{
	static const char *const modes[] = {
		[TXN_NONE] = "none", [TXN_READ] = "read", [TXN_SNAPSHOT] = "snapshot", [TXN_WRITE] = "write",
	};

	add_attribute(out, "name", http_method_name(route->method));
	add_attribute(out, "t:role", role_name(route->role));
	add_attribute(out, "t:txn", modes[route->txn]);
	if (route->min_version > 0)
		buf_addf(out, " t:min=\"%u\"", route->min_version);
	if (route->max_version > 0)
		buf_addf(out, " t:max=\"%u\"", route->max_version);
	add_attribute(out, "t:accept", route->any_accept ? "any" : NULL);
}

static void add_method(struct writer *writer, size_t index)
{
	const struct wadl_method *method = writer->table->methods[index];
	struct buf *out = &writer->out;

	BUF_LIT(out, "      <method");
	add_attribute(out, "id", writer->ids[index]);
	add_mode(out, &method->route);
	BUF_LIT(out, ">\n");
	add_note(out, 4, &method->note);
	add_request(writer, method);
	for (size_t i = 0; i < method->n_responses; i++)
		add_response(writer, &method->responses[i]);
	BUF_LIT(out, "      </method>\n");
}

// ---- ids: a name may occur twice, in two dialects or for one method at two paths

static bool id_is_taken(const struct writer *writer, size_t n, const char *id)
{
	for (size_t i = 0; i < n; i++) {
		if (strcmp(writer->ids[i], id) == 0)
			return true;
	}
	return false;
}

static void name_methods(struct writer *writer)
{
	struct pool *pool = writer->table->pool;

	writer->ids = POOL_ARRAY(pool, const char *, writer->table->n_methods);
	for (size_t i = 0; i < writer->table->n_methods; i++) {
		const struct route_method *route = &writer->table->methods[i]->route;
		const char *id = route->id;
		for (int again = 1; id_is_taken(writer, i, id); again++)
			id = again == 1 ? str_printf(pool, "%s.%s", route->dialect, route->id).p :
				str_printf(pool, "%s.%s.%d", route->dialect, route->id, again).p;
		writer->ids[i] = id;
	}
}

// ---- resources: one for each path, in the order in which the paths first occur

static bool is_first_at_path(const struct route_table *table, size_t index)
{
	for (size_t i = 0; i < index; i++) {
		if (strcmp(table->methods[i]->path, table->methods[index]->path) == 0)
			return false;
	}
	return true;
}

// Can both methods be written in one <resource>? It has the template parameters of the first method; other methods at this path
// have the same names, but may have other types.
static bool same_resource(const struct wadl_method *a, const struct wadl_method *b)
{
	if (strcmp(a->path, b->path) != 0 || a->slash != b->slash || a->no_head != b->no_head ||
	    a->any_query != b->any_query)
		return false;
	for (size_t i = 0; i < a->n_templates; i++) {
		if (a->route.params[i].type != b->route.params[i].type)
			return false;
	}
	return true;
}

static bool is_first_of_resource(const struct route_table *table, size_t index)
{
	for (size_t i = 0; i < index; i++) {
		if (same_resource(table->methods[i], table->methods[index]))
			return false;
	}
	return true;
}

static void add_resource(struct writer *writer, size_t first)
{
	const struct route_table *table = writer->table;
	const struct wadl_method *method = table->methods[first];
	struct buf *out = &writer->out;

	BUF_LIT(out, "    <resource");
	add_attribute(out, "path", method->path);
	add_attribute(out, "t:slash", method->slash ? "optional" : NULL);
	add_attribute(out, "t:head", method->no_head ? "none" : NULL);
	add_attribute(out, "t:query", method->any_query ? "any" : NULL);
	BUF_LIT(out, ">\n");
	if (is_first_at_path(table, first))
		add_note(out, 3, &method->resource_note);
	for (size_t i = 0; i < method->n_templates; i++)
		add_param(writer, 3, &method->route.params[i]);
	for (size_t i = first; i < table->n_methods; i++) {
		if (same_resource(method, table->methods[i]))
			add_method(writer, i);
	}
	BUF_LIT(out, "    </resource>\n");
}

static void add_application(struct writer *writer)
{
	const struct route_table *table = writer->table;
	struct buf *out = &writer->out;

	BUF_LIT(out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<application xmlns=\"" WADL_NS "\" xmlns:xs=\"" XSD_NS
		"\" xmlns:t=\"" TENURE_NS "\"");
	for (size_t i = 0; i < table->n_types; i++) {
		char prefix[32];
		if (!begins_schema(table, i))
			continue;
		(void)snprintf(prefix, sizeof(prefix), "xmlns:ns%zu", schema_number(table, table->types[i]->space));
		add_attribute(out, prefix, table->types[i]->space);
	}
	BUF_LIT(out, ">\n");
	add_note(out, 1, &table->note);
}

void table_write_document(struct route_table *table)
{
	struct writer writer = { .out = buf_new(table->pool, 64 * 1024), .table = table };

	name_methods(&writer);
	add_application(&writer);
	add_grammars(&writer);
	BUF_LIT(&writer.out, "  <resources base=\"/\">\n");
	for (size_t i = 0; i < table->n_methods; i++) {
		if (is_first_of_resource(table, i))
			add_resource(&writer, i);
	}
	BUF_LIT(&writer.out, "  </resources>\n</application>\n");
	table->document = buf_str(&writer.out);
}

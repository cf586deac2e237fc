// SPDX-License-Identifier: Apache-2.0
// Values as Python's repr() prints them, for error texts that clients of OpenStack compare.
#include "base/base.h"

#include "repr/schema/json_schema_internal.h"

// ---- values

static void add_escaped(struct buf *out, char c, char quote)
{
	switch (c) {
	case '\n': BUF_LIT(out, "\\n"); break;
	case '\r': BUF_LIT(out, "\\r"); break;
	case '\t': BUF_LIT(out, "\\t"); break;
	case '\\': BUF_LIT(out, "\\\\"); break;
	default:
		if (c == quote)
			buf_addc(out, '\\');
		if ((unsigned char)c < 0x20 || c == 0x7f)
			buf_addf(out, "\\x%02x", (unsigned)(unsigned char)c);
		else
			buf_addc(out, c);
	}
}

// Adds s in single quotes, or in double quotes if it has single quotes and no double ones.
void json_schema_python_add_string(struct buf *out, struct str s)
{
	char quote = str_find(s, '\'', 0) < s.n && str_find(s, '"', 0) == s.n ? '"' : '\'';

	s = str_utf8_head(s, PYTHON_SHOWN);
	buf_addc(out, quote);
	for (size_t i = 0; i < s.n; i++)
		add_escaped(out, s.p[i], quote);
	buf_addc(out, quote);
}

// Stops adding at end, so that the cost of a message does not grow with what a client sends.
static void add_value(struct buf *out, const struct doc *doc, size_t end);

static void add_array(struct buf *out, const struct doc *doc, size_t end)
{
	buf_addc(out, '[');
	for (size_t i = 0; i < doc_length(doc) && out->n < end; i++) {
		if (i > 0)
			BUF_LIT(out, ", ");
		add_value(out, doc_at(doc, i), end);
	}
	buf_addc(out, ']');
}

static void add_object(struct buf *out, const struct doc *doc, size_t end)
{
	bool first = true;

	buf_addc(out, '{');
	for (struct doc_iter it = doc_iter(doc); out->n < end && doc_next(&it); first = false) {
		if (!first)
			BUF_LIT(out, ", ");
		json_schema_python_add_string(out, it.name);
		BUF_LIT(out, ": ");
		add_value(out, it.value, end);
	}
	buf_addc(out, '}');
}

static void add_value(struct buf *out, const struct doc *doc, size_t end)
{
	switch (doc == NULL ? DOC_NULL : doc_kind(doc)) {
	case DOC_NULL:
		BUF_LIT(out, "None");
		break;
	case DOC_BOOL:
		buf_add(out, doc_bool(doc) ? STR("True") : STR("False"));
		break;
	case DOC_NUMBER:
		buf_add(out, doc_number_text(out->pool, doc));
		break;
	case DOC_STRING:
		json_schema_python_add_string(out, doc_string(doc));
		break;
	case DOC_ARRAY:
		add_array(out, doc, end);
		break;
	case DOC_OBJECT:
		add_object(out, doc, end);
		break;
	}
}

void json_schema_python_add(struct buf *out, const struct doc *doc)
{
	size_t from = out->n;

	add_value(out, doc, from + PYTHON_SHOWN);
	if (out->n <= from + PYTHON_SHOWN)
		return;
	out->n = from + str_utf8_head(str_n(out->p + from, out->n - from), PYTHON_SHOWN).n;
	BUF_LIT(out, "...");
}

// ---- schemas

void json_schema_python_add_types(struct buf *out, unsigned types)
{
	static const struct {
		enum schema_type type;
		const char *name;
	} names[] = {
		{ SCHEMA_BOOLEAN, "boolean" }, { SCHEMA_INTEGER, "integer" }, { SCHEMA_NUMBER, "number" }, { SCHEMA_STRING, "string" },
		{ SCHEMA_ARRAY, "array" }, { SCHEMA_OBJECT, "object" }, { SCHEMA_NULL, "null" },
	};
	bool first = true;

	for (size_t i = 0; i < COUNT_OF(names); i++) {
		if ((types & names[i].type) == 0)
			continue;
		buf_addf(out, "%s'%s'", first ? "" : ", ", names[i].name);
		first = false;
	}
}

// "'keyword': ", after a comma where it is not the first.
static void add_keyword(struct buf *out, const char *name)
{
	if (out->p[out->n - 1] != '{')
		BUF_LIT(out, ", ");
	buf_addf(out, "'%s': ", name);
}

static void add_size(struct buf *out, const char *name, size_t value)
{
	if (value == 0)
		return;
	add_keyword(out, name);
	buf_add_u64(out, value);
}

static void add_bound(struct buf *out, const char *name, bool has, double value)
{
	if (!has)
		return;
	add_keyword(out, name);
	buf_addf(out, "%.15g", value);
}

static void add_rule(struct buf *out, const char *name, const struct json_rule *rule)
{
	if (rule == NULL)
		return;
	add_keyword(out, name);
	json_schema_python_add_string(out, str_c(rule->text));
}

static void add_members(struct buf *out, const struct json_schema *schema)
{
	if (schema->properties != NULL) {
		add_keyword(out, "properties");
		buf_addc(out, '{');
		for (const struct json_property *p = schema->properties; p->name != NULL; p++) {
			add_keyword(out, p->name);
			json_schema_python_add_schema(out, p->schema);
		}
		buf_addc(out, '}');
	}
	if (schema->pattern_properties != NULL) {
		add_keyword(out, "patternProperties");
		buf_addc(out, '{');
		for (const struct json_pattern_property *p = schema->pattern_properties; p->pattern != NULL; p++) {
			add_keyword(out, p->pattern->text);
			json_schema_python_add_schema(out, p->schema);
		}
		buf_addc(out, '}');
	}
}

static void add_required(struct buf *out, const char *const *required)
{
	if (required == NULL)
		return;
	add_keyword(out, "required");
	buf_addc(out, '[');
	for (const char *const *name = required; *name != NULL; name++)
		buf_addf(out, "%s'%s'", name == required ? "" : ", ", *name);
	buf_addc(out, ']');
}

static void add_any_of(struct buf *out, const struct json_schema *const *choices)
{
	if (choices == NULL)
		return;
	add_keyword(out, "anyOf");
	buf_addc(out, '[');
	for (const struct json_schema *const *choice = choices; *choice != NULL; choice++) {
		if (choice != choices)
			BUF_LIT(out, ", ");
		json_schema_python_add_schema(out, *choice);
	}
	buf_addc(out, ']');
}

void json_schema_python_add_values(struct buf *out, const char *const *values)
{
	for (size_t i = 0; values[i] != NULL; i++) {
		buf_addf(out, "%s", i == 0 ? "[" : ", ");
		json_schema_python_add_string(out, str_c(values[i]));
	}
	buf_addc(out, ']');
}

static void add_values(struct buf *out, const char *const *values)
{
	if (values == NULL)
		return;
	add_keyword(out, "enum");
	json_schema_python_add_values(out, values);
}

static void add_type(struct buf *out, unsigned types)
{
	bool several = (types & (types - 1)) != 0;

	if (types == 0)
		return;
	add_keyword(out, "type");
	if (several)
		buf_addc(out, '[');
	json_schema_python_add_types(out, types);
	if (several)
		buf_addc(out, ']');
}

void json_schema_python_add_schema(struct buf *out, const struct json_schema *schema)
{
	buf_addc(out, '{');
	add_type(out, schema->types);
	add_members(out, schema);
	add_required(out, schema->required);
	add_size(out, "minProperties", schema->min_properties);
	if (schema->closed) {
		add_keyword(out, "additionalProperties");
		BUF_LIT(out, "False");
	}
	if (schema->items != NULL) {
		add_keyword(out, "items");
		json_schema_python_add_schema(out, schema->items);
	}
	add_size(out, "minItems", schema->min_items);
	add_size(out, "maxItems", schema->max_items);
	if (schema->unique) {
		add_keyword(out, "uniqueItems");
		BUF_LIT(out, "True");
	}
	add_size(out, "minLength", schema->min_length);
	add_size(out, "maxLength", schema->max_length);
	add_values(out, schema->values);
	add_rule(out, "pattern", schema->pattern);
	add_rule(out, "format", schema->format);
	add_bound(out, "minimum", schema->has_minimum, schema->minimum);
	add_bound(out, "maximum", schema->has_maximum, schema->maximum);
	add_any_of(out, schema->any_of);
	buf_addc(out, '}');
}

// SPDX-License-Identifier: Apache-2.0
#include "base/base.h"

#include "base/pool.h"
#include "repr/json/internal.h"
#include "repr/schema/json_schema_internal.h"

// ---- where the check is

// A step from a value to a part of it, and from the schema to the part that applies there.
struct step {
	const struct step *up;   // the step before; NULL: the root
	const char *keyword;     // "properties"
	const char *part;        // the part of the schema below the keyword; NULL: none
	struct str name;         // the member's name; p NULL: an element of an array
	size_t index;
};

// How much a fault tells. Of several at the same depth the first one of the highest kind is reported.
enum fault_kind {
	FAULT_WEAK, // that no alternative of anyOf fits
	FAULT_EXACT,
	FAULT_TYPE, // that the value has another type than any that is allowed
};

struct check {
	struct pool *pool;
	struct json_fault *fault;
	bool failed;
	size_t depth;         // of the fault
	enum fault_kind kind; // of the fault
	size_t at;            // depth of the value being looked at
};

static void add_index(struct buf *out, struct str text)
{
	BUF_LIT(out, "[");
	json_schema_python_add_string(out, text);
	BUF_LIT(out, "]");
}

static void add_schema_path(struct buf *out, const struct step *step)
{
	if (step->up != NULL)
		add_schema_path(out, step->up);
	if (step->keyword == NULL)
		return;
	add_index(out, str_c(step->keyword));
	if (step->part != NULL)
		add_index(out, str_c(step->part));
}

static void add_instance_path(struct buf *out, const struct step *step)
{
	if (step->up != NULL)
		add_instance_path(out, step->up);
	if (step->keyword == NULL)
		return;
	if (step->name.p != NULL)
		add_index(out, step->name);
	else
		buf_addf(out, "[%zu]", step->index);
}

// Does a fault at this place replace the one found before?
static bool matters(const struct check *check, enum fault_kind kind)
{
	return !check->failed || check->at < check->depth || (check->at == check->depth && kind > check->kind);
}

// Notes that *check->fault is a fault at this place.
static void note(struct check *check, enum fault_kind kind)
{
	check->failed = true;
	check->depth = check->at;
	check->kind = kind;
}

static enum fault_kind kind_of(const char *keyword)
{
	if (strcmp(keyword, "anyOf") == 0)
		return FAULT_WEAK;
	return strcmp(keyword, "type") == 0 ? FAULT_TYPE : FAULT_EXACT;
}

static void keep(struct check *check, const struct step *step, const struct json_schema *schema,
	const struct doc *instance, const char *keyword, struct str message)
{
	struct buf schema_path = buf_new(check->pool, 64), instance_path = buf_new(check->pool, 64);

	BUF_LIT(&schema_path, "schema");
	add_schema_path(&schema_path, step);
	BUF_LIT(&instance_path, "instance");
	add_instance_path(&instance_path, step);
	*check->fault = (struct json_fault){ .message = message, .keyword = keyword,
		.schema_path = buf_str(&schema_path), .instance_path = buf_str(&instance_path),
		.schema = schema, .instance = instance };
	note(check, kind_of(keyword));
}

// Adds a fault "VALUE …", as most keywords do.
static void fail(struct check *check, const struct step *step, const struct json_schema *schema,
	const struct doc *instance, const char *keyword, const char *format, ...) PRINTF_LIKE(6, 7);
static void fail(struct check *check, const struct step *step, const struct json_schema *schema,
	const struct doc *instance, const char *keyword, const char *format, ...)
{
	struct buf message;
	va_list args;

	if (!matters(check, kind_of(keyword)))
		return;
	message = buf_new(check->pool, 128);
	json_schema_python_add(&message, instance);
	va_start(args, format);
	buf_add(&message, str_vprintf(check->pool, format, args));
	va_end(args);
	keep(check, step, schema, instance, keyword, buf_str(&message));
}

// ---- types and scalars

bool doc_double(const struct doc *doc, double *value)
{
	if (doc == NULL || doc_kind(doc) != DOC_NUMBER)
		return false;
	*value = json_double(doc);
	return true;
}

static bool is_integer(const struct doc *doc)
{
	int64_t i;
	uint64_t u;
	double d;

	if (doc_i64(doc, &i) || doc_u64(doc, &u))
		return true;
	// Beyond 2^53 every double is whole. A number that is not exact as an int64 is no integer here.
	return doc_double(doc, &d) && d >= -9007199254740992.0 && d <= 9007199254740992.0 && d == (double)(int64_t)d;
}

static unsigned types_of(const struct doc *doc)
{
	switch (doc == NULL ? DOC_NULL : doc_kind(doc)) {
	case DOC_NULL: return SCHEMA_NULL;
	case DOC_BOOL: return SCHEMA_BOOLEAN;
	case DOC_NUMBER: return is_integer(doc) ? SCHEMA_NUMBER | SCHEMA_INTEGER : SCHEMA_NUMBER;
	case DOC_STRING: return SCHEMA_STRING;
	case DOC_ARRAY: return SCHEMA_ARRAY;
	case DOC_OBJECT: return SCHEMA_OBJECT;
	}
	return 0;
}

static void check_type(struct check *check, const struct step *step, const struct json_schema *schema,
	const struct doc *doc)
{
	struct buf names;

	if (schema->types == 0 || (schema->types & types_of(doc)) != 0 || !matters(check, FAULT_TYPE))
		return;
	names = buf_new(check->pool, 32);
	json_schema_python_add_types(&names, schema->types);
	fail(check, step, schema, doc, "type", " is not of type %.*s", STR_ARG(names));
}

static void check_number(struct check *check, const struct step *step, const struct json_schema *schema,
	const struct doc *doc)
{
	double value;

	if ((!schema->has_minimum && !schema->has_maximum) || !doc_double(doc, &value))
		return;
	if (schema->has_maximum && value > schema->maximum)
		fail(check, step, schema, doc, "maximum", " is greater than the maximum of %.15g", schema->maximum);
	if (schema->has_minimum && value < schema->minimum)
		fail(check, step, schema, doc, "minimum", " is less than the minimum of %.15g", schema->minimum);
}

static bool is_value(const char *const *values, struct str text)
{
	while (*values != NULL && !str_eq_c(text, *values))
		values++;
	return *values != NULL;
}

static void check_string(struct check *check, const struct step *step, const struct json_schema *schema,
	const struct doc *doc)
{
	struct str text = doc_string(doc);
	size_t length = schema->min_length > 0 || schema->max_length > 0 ? str_utf8_length(text) : 0;

	if (schema->values != NULL && !is_value(schema->values, text)) {
		struct buf values = buf_new(check->pool, 64);
		json_schema_python_add_values(&values, schema->values);
		fail(check, step, schema, doc, "enum", " is not one of %.*s", STR_ARG(values));
	}
	if (schema->pattern != NULL && !schema->pattern->allows(schema->pattern->arg, text))
		fail(check, step, schema, doc, "pattern", " does not match '%s'", schema->pattern->text);
	if (length < schema->min_length)
		fail(check, step, schema, doc, "minLength", " is too short");
	if (schema->max_length > 0 && length > schema->max_length)
		fail(check, step, schema, doc, "maxLength", " is too long");
	if (schema->format != NULL && !schema->format->allows(schema->format->arg, text))
		fail(check, step, schema, doc, "format", " is not a '%s'", schema->format->text);
}

// ---- arrays

static int compare_texts(const void *a, const void *b)
{
	return str_cmp(*(const struct str *)a, *(const struct str *)b);
}

static bool all_differ(struct pool *pool, const struct doc *array)
{
	size_t n = doc_length(array);
	struct str *texts = POOL_ARRAY(pool, struct str, n);

	for (size_t i = 0; i < n; i++) {
		struct buf text = buf_new(pool, 48);
		doc_write_json(doc_at(array, i), &text);
		texts[i] = buf_str(&text);
	}
	qsort(texts, n, sizeof(*texts), compare_texts);
	for (size_t i = 1; i < n; i++) {
		if (str_eq(texts[i - 1], texts[i]))
			return false;
	}
	return true;
}

static void walk(struct check *check, const struct step *step, const struct json_schema *schema,
	const struct doc *doc);

static void descend(struct check *check, const struct step *step, const struct json_schema *schema,
	const struct doc *doc)
{
	check->at++;
	walk(check, step, schema, doc);
	check->at--;
}

static void check_array(struct check *check, const struct step *step, const struct json_schema *schema,
	const struct doc *doc)
{
	size_t n = doc_length(doc);

	for (size_t i = 0; schema->items != NULL && i < n; i++)
		descend(check, &(struct step){ .up = step, .keyword = "items", .index = i }, schema->items, doc_at(doc, i));
	if (n < schema->min_items)
		fail(check, step, schema, doc, "minItems", " is too short");
	if (schema->max_items > 0 && n > schema->max_items)
		fail(check, step, schema, doc, "maxItems", " is too long");
	if (schema->unique && n > 1 && !all_differ(check->pool, doc))
		fail(check, step, schema, doc, "uniqueItems", " has non-unique elements");
}

// ---- objects

static void check_properties(struct check *check, const struct step *step, const struct json_schema *schema,
	const struct doc *doc)
{
	const struct doc *value;

	for (const struct json_property *p = schema->properties; p != NULL && p->name != NULL; p++) {
		if (doc_get(doc, str_c(p->name), &value))
			descend(check, &(struct step){ .up = step, .keyword = "properties", .part = p->name,
				.name = str_c(p->name) }, p->schema, value);
	}
	for (const struct json_pattern_property *p = schema->pattern_properties; p != NULL && p->pattern != NULL; p++) {
		for (struct doc_iter it = doc_iter(doc); doc_next(&it);) {
			if (p->pattern->allows(p->pattern->arg, it.name))
				descend(check, &(struct step){ .up = step, .keyword = "patternProperties", .part =
					p->pattern->text,
					.name = it.name }, p->schema, it.value);
		}
	}
}

static void check_required(struct check *check, const struct step *step, const struct json_schema *schema,
	const struct doc *doc)
{
	const struct doc *value;

	for (const char *const *name = schema->required; name != NULL && *name != NULL; name++) {
		if (!doc_get(doc, str_c(*name), &value) && matters(check, FAULT_EXACT))
			keep(check, step, schema, doc, "required", str_printf(check->pool, "'%s' is a required property", *name));
	}
}

static bool is_foreseen(const struct json_schema *schema, struct str name)
{
	for (const struct json_property *p = schema->properties; p != NULL && p->name != NULL; p++) {
		if (str_eq_c(name, p->name))
			return true;
	}
	for (const struct json_pattern_property *p = schema->pattern_properties; p != NULL && p->pattern != NULL; p++) {
		if (p->pattern->allows(p->pattern->arg, name))
			return true;
	}
	return false;
}

static void fail_closed(struct check *check, const struct step *step, const struct json_schema *schema,
	const struct doc *doc, struct str names, size_t n)
{
	struct buf message = buf_new(check->pool, 128);

	if (schema->pattern_properties == NULL) {
		buf_addf(&message, "Additional properties are not allowed (%.*s %s unexpected)", STR_ARG(names),
			n == 1 ? "was" : "were");
	} else {
		buf_addf(&message, "%.*s %s not match any of the regexes: ", STR_ARG(names), n == 1 ? "does" : "do");
		for (const struct json_pattern_property *p = schema->pattern_properties; p->pattern != NULL; p++)
			buf_addf(&message, "%s'%s'", p == schema->pattern_properties ? "" : ", ", p->pattern->text);
	}
	keep(check, step, schema, doc, "additionalProperties", buf_str(&message));
}

static void check_closed(struct check *check, const struct step *step, const struct json_schema *schema,
	const struct doc *doc)
{
	struct str *names;
	struct buf told;
	size_t n = 0;

	if (!schema->closed || !matters(check, FAULT_EXACT))
		return;
	names = POOL_ARRAY(check->pool, struct str, doc_length(doc));
	for (struct doc_iter it = doc_iter(doc); doc_next(&it);) {
		if (!is_foreseen(schema, it.name))
			names[n++] = it.name;
	}
	if (n == 0)
		return;
	qsort(names, n, sizeof(*names), compare_texts);
	told = buf_new(check->pool, 64);
	for (size_t i = 0; i < n && told.n < PYTHON_SHOWN; i++) {
		if (i > 0)
			BUF_LIT(&told, ", ");
		json_schema_python_add_string(&told, names[i]);
	}
	fail_closed(check, step, schema, doc, buf_str(&told), n);
}

static void check_object(struct check *check, const struct step *step, const struct json_schema *schema,
	const struct doc *doc)
{
	check_properties(check, step, schema, doc);
	if (schema->closed_first)
		check_closed(check, step, schema, doc);
	check_required(check, step, schema, doc);
	if (doc_length(doc) < schema->min_properties)
		fail(check, step, schema, doc, "minProperties", " does not have enough properties");
	if (!schema->closed_first)
		check_closed(check, step, schema, doc);
}

// ---- the whole

// If no choice fits, and a single one is for values of this type, the fault is what that choice finds wrong. Its paths begin at
// the choice and at this value, as they do in Python.
static void check_any_of(struct check *check, const struct step *step, const struct json_schema *schema,
	const struct doc *doc)
{
	struct json_fault fault, of_type = { .keyword = NULL };
	size_t n_of_type = 0;

	for (size_t i = 0; schema->any_of != NULL && schema->any_of[i] != NULL; i++) {
		const struct json_schema *choice = schema->any_of[i];
		if (json_schema_allows(check->pool, choice, doc, &fault))
			return;
		if ((choice->types & types_of(doc)) == 0)
			continue;
		struct str below = str_part(fault.schema_path, STR("schema").n, fault.schema_path.n);
		of_type = fault;
		of_type.schema_path = str_printf(check->pool, "schema[%zu]%.*s", i, STR_ARG(below));
		n_of_type++;
	}
	if (schema->any_of == NULL || !matters(check, FAULT_WEAK))
		return;
	if (n_of_type != 1) {
		fail(check, step, schema, doc, "anyOf", " is not valid under any of the given schemas");
		return;
	}
	*check->fault = of_type;
	note(check, FAULT_WEAK);
}

// Recurses as deep as the schema, which is ours; the document's depth was limited when it was parsed.
static void walk(struct check *check, const struct step *step, const struct json_schema *schema,
	const struct doc *doc)
{
	check_type(check, step, schema, doc);
	switch (doc == NULL ? DOC_NULL : doc_kind(doc)) {
	case DOC_OBJECT:
		check_object(check, step, schema, doc);
		break;
	case DOC_ARRAY:
		check_array(check, step, schema, doc);
		break;
	case DOC_STRING:
		check_string(check, step, schema, doc);
		break;
	case DOC_NUMBER:
		check_number(check, step, schema, doc);
		break;
	case DOC_BOOL:
	case DOC_NULL:
		break;
	}
	check_any_of(check, step, schema, doc);
}

bool json_schema_allows(struct pool *pool, const struct json_schema *schema, const struct doc *doc,
	struct json_fault *fault)
{
	struct check check = { .pool = pool, .fault = fault };
	const struct step whole = { .up = NULL };

	walk(&check, &whole, schema, doc);
	return !check.failed;
}

struct str json_fault_text(struct pool *pool, const struct json_fault *fault)
{
	struct buf out = buf_new(pool, 512);

	buf_add(&out, fault->message);
	buf_addf(&out, "\n\nFailed validating '%s' in %.*s:\n    ", fault->keyword, STR_ARG(fault->schema_path));
	json_schema_python_add_schema(&out, fault->schema);
	buf_addf(&out, "\n\nOn %.*s:\n    ", STR_ARG(fault->instance_path));
	json_schema_python_add(&out, fault->instance);
	return buf_str(&out);
}

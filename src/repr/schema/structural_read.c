// SPDX-License-Identifier: Apache-2.0
// Reads schemas as CustomResourceDefinitions contain them.
#include "base/base.h"

#include "base/pool.h"
#include "repr/json/internal.h"
#include "repr/schema/structural_internal.h"

// The most instructions that all compiled patterns of a schema may have together.
enum { PATTERNS_MAX = 100000 };

struct schema_reading {
	struct pool *pool;
	struct field_faults *faults;
	size_t patterns_left;
};

// A schema that is being read.
struct half {
	struct structural *schema;
	struct values *values; // the shared empty ones, until the schema restricts something
};

static const struct values no_values = { .bounds = { -1, -1, -1, -1, -1, -1 } };

const char *const value_type_names[] = { "array", "boolean", "integer", "number", "object", "string", NULL };

bool structural_has_values(const struct structural *schema)
{
	return schema->values != &no_values;
}

static struct values *values_of(struct schema_reading *reading, struct half *half)
{
	if (half->values == NULL) {
		half->values = POOL_NEW(reading->pool, struct values);
		*half->values = no_values;
		half->schema->values = half->values;
	}
	return half->values;
}

static const struct structural *read_schema(struct schema_reading *reading, const struct doc *doc,
	const struct field_path *at);

static bool has_kind(struct schema_reading *reading, const struct doc *doc, enum doc_kind kind,
	const struct field_path *at)
{
	if (doc_kind(doc) == kind)
		return true;
	if (!field_fault_skips(reading->faults))
		field_fault_add(reading->faults, at, FIELD_TYPE_INVALID, field_shown(reading->pool, doc), "must be %s",
			kind_name(kind));
	return false;
}

static struct doc *kept(struct schema_reading *reading, const struct doc *doc)
{
	return doc_copy(reading->pool, doc);
}

// ---- readers of single members. arg: which member of the schema

typedef void read_fn(struct schema_reading *reading, struct half *half, const struct doc *doc,
	const struct field_path *at, int arg);

static void read_flag(struct schema_reading *reading, struct half *half, const struct doc *doc,
	const struct field_path *at, int arg)
{
	if (!has_kind(reading, doc, DOC_BOOL, at))
		return;
	if (doc_bool(doc))
		half->schema->flags |= (unsigned)arg;
	else if (arg == PRESERVE_UNKNOWN)
		field_invalid(reading->faults, at, doc, "must be true or undefined");
}

static void read_remark(struct schema_reading *reading, struct half *half, const struct doc *doc,
	const struct field_path *at, int arg)
{
	if (has_kind(reading, doc, DOC_STRING, at) && doc_string(doc).n > 0)
		half->schema->flags |= (unsigned)arg;
}

static void read_type(struct schema_reading *reading, struct half *half, const struct doc *doc,
	const struct field_path *at, int arg)
{
	UNUSED(arg);
	if (!has_kind(reading, doc, DOC_STRING, at) || doc_string(doc).n == 0)
		return;
	for (int type = 0; type < ANY_TYPE; type++) {
		if (str_eq_c(doc_string(doc), value_type_names[type]))
			half->schema->type = (enum value_type)type;
	}
	if (half->schema->type != ANY_TYPE)
		return;
	if (str_eq(doc_string(doc), STR("null")))
		field_forbidden(reading->faults, at, "type cannot be set to null, use nullable as an alternative");
	else
		field_not_supported(reading->faults, at, doc_string(doc), value_type_names);
}

static void read_bound(struct schema_reading *reading, struct half *half, const struct doc *doc,
	const struct field_path *at, int arg)
{
	int64_t value;

	if (!has_kind(reading, doc, DOC_NUMBER, at))
		return;
	if (!doc_i64(doc, &value) || value < 0)
		field_invalid(reading->faults, at, doc, "must be an integer that is not negative");
	else
		values_of(reading, half)->bounds[arg] = value;
}

enum { MINIMUM, MAXIMUM, MULTIPLE_OF };

static void read_number(struct schema_reading *reading, struct half *half, const struct doc *doc,
	const struct field_path *at, int arg)
{
	struct values *values;

	if (!has_kind(reading, doc, DOC_NUMBER, at))
		return;
	values = values_of(reading, half);
	if (arg == MINIMUM)
		values->minimum = kept(reading, doc);
	else if (arg == MAXIMUM)
		values->maximum = kept(reading, doc);
	else if (doc_order_numbers(doc, doc_new_i64(reading->pool, 0)) > 0)
		values->multiple_of = kept(reading, doc);
	else
		field_invalid(reading->faults, at, doc, "must be greater than 0");
}

static void read_pattern(struct schema_reading *reading, struct half *half, const struct doc *doc,
	const struct field_path *at, int arg)
{
	struct values *values;
	struct regexp *regexp;
	struct str why;

	UNUSED(arg);
	if (!has_kind(reading, doc, DOC_STRING, at) || doc_string(doc).n == 0)
		return;
	values = values_of(reading, half);
	regexp = regexp_new(reading->pool, doc_string(doc), reading->patterns_left, &why);
	if (regexp == NULL) {
		if (!field_fault_skips(reading->faults))
			field_fault_add(reading->faults, at, FIELD_INVALID, field_shown(reading->pool, doc),
				"must be a valid regular expression, but isn't: %.*s", STR_ARG(why));
		return;
	}
	reading->patterns_left -= regexp_size(regexp);
	values->pattern = regexp;
	values->pattern_text = str_dup(reading->pool, doc_string(doc));
}

static void read_format(struct schema_reading *reading, struct half *half, const struct doc *doc,
	const struct field_path *at, int arg)
{
	UNUSED(arg);
	if (has_kind(reading, doc, DOC_STRING, at) && doc_string(doc).n > 0)
		values_of(reading, half)->format = format_find(doc_string(doc));
}

static void read_enum(struct schema_reading *reading, struct half *half, const struct doc *doc,
	const struct field_path *at, int arg)
{
	UNUSED(arg);
	if (has_kind(reading, doc, DOC_ARRAY, at) && doc_length(doc) > 0)
		values_of(reading, half)->choices = kept(reading, doc);
}

static void read_default(struct schema_reading *reading, struct half *half, const struct doc *doc,
	const struct field_path *at, int arg)
{
	UNUSED(at);
	UNUSED(arg);
	half->schema->fallback = kept(reading, doc);
	half->schema->flags |= DEFAULT_BELOW;
}

// Reads an array of strings. False: faults were added.
static bool read_strings(struct schema_reading *reading, const struct doc *doc, const struct field_path *at,
	const struct str **list, size_t *n)
{
	struct str *strings;

	if (!has_kind(reading, doc, DOC_ARRAY, at))
		return false;
	strings = POOL_ARRAY(reading->pool, struct str, doc_length(doc));
	for (size_t i = 0; i < doc_length(doc); i++) {
		struct field_path item = field_index(at, i);
		if (!has_kind(reading, doc_at(doc, i), DOC_STRING, &item))
			return false;
		strings[i] = str_dup(reading->pool, doc_string(doc_at(doc, i)));
	}
	*list = strings;
	*n = doc_length(doc);
	return true;
}

static void read_required(struct schema_reading *reading, struct half *half, const struct doc *doc,
	const struct field_path *at, int arg)
{
	struct values *values = values_of(reading, half);

	UNUSED(arg);
	read_strings(reading, doc, at, &values->required, &values->n_required);
}

// ---- lists' and maps' types

static void read_list_type(struct schema_reading *reading, struct half *half, const struct doc *doc,
	const struct field_path *at, int arg)
{
	static const char *const names[] = { "atomic", "set", "map", NULL };
	static const enum list_type types[] = { LIST_ATOMIC, LIST_SET, LIST_MAP };

	UNUSED(arg);
	if (!has_kind(reading, doc, DOC_STRING, at))
		return;
	for (size_t i = 0; i < COUNT_OF(types); i++) {
		if (str_eq_c(doc_string(doc), names[i])) {
			values_of(reading, half)->list_type = types[i];
			return;
		}
	}
	field_not_supported(reading->faults, at, doc_string(doc), names);
}

static void read_map_type(struct schema_reading *reading, struct half *half, const struct doc *doc,
	const struct field_path *at, int arg)
{
	static const char *const names[] = { "atomic", "granular", NULL };

	UNUSED(arg);
	if (!has_kind(reading, doc, DOC_STRING, at))
		return;
	if (!str_eq_c(doc_string(doc), names[0]) && !str_eq_c(doc_string(doc), names[1]))
		field_not_supported(reading->faults, at, doc_string(doc), names);
	values_of(reading, half)->map_type = str_dup(reading->pool, doc_string(doc));
}

static void read_map_keys(struct schema_reading *reading, struct half *half, const struct doc *doc,
	const struct field_path *at, int arg)
{
	struct values *values = values_of(reading, half);

	UNUSED(arg);
	read_strings(reading, doc, at, &values->map_keys, &values->n_map_keys);
}

// ---- schemas within

static void note_below(struct half *half, const struct structural *inner)
{
	if (inner != NULL)
		half->schema->flags |= inner->flags & (DEFAULT_BELOW | EXTENSION_BELOW);
}

enum { ITEMS, NOT };

static void read_inner(struct schema_reading *reading, struct half *half, const struct doc *doc,
	const struct field_path *at, int arg)
{
	const struct structural *inner;

	if (arg == ITEMS && doc_kind(doc) == DOC_ARRAY) {
		field_forbidden(reading->faults, at, "items must be a schema object and not an array");
		return;
	}
	inner = read_schema(reading, doc, at);
	note_below(half, inner);
	if (arg == ITEMS)
		half->schema->items = inner;
	else
		values_of(reading, half)->not_allowed = inner;
}

static void read_additional(struct schema_reading *reading, struct half *half, const struct doc *doc,
	const struct field_path *at, int arg)
{
	UNUSED(arg);
	if (doc_kind(doc) == DOC_BOOL) {
		half->schema->flags |= doc_bool(doc) ? HAS_ADDITIONAL : CLOSED;
		return;
	}
	half->schema->additional = read_schema(reading, doc, at);
	half->schema->flags |= HAS_ADDITIONAL;
	note_below(half, half->schema->additional);
}

static int compare_names(const void *a, const void *b)
{
	return str_cmp(((const struct property *)a)->name, ((const struct property *)b)->name);
}

static void read_properties(struct schema_reading *reading, struct half *half, const struct doc *doc,
	const struct field_path *at, int arg)
{
	struct property *properties;
	size_t n = 0;

	UNUSED(arg);
	if (!has_kind(reading, doc, DOC_OBJECT, at))
		return;
	properties = POOL_ARRAY(reading->pool, struct property, doc_length(doc));
	for (struct doc_iter it = doc_iter(doc); doc_next(&it);) {
		struct field_path inner_at = field_key(at, it.name);
		const struct structural *inner = read_schema(reading, it.value, &inner_at);
		note_below(half, inner);
		if (inner != NULL)
			properties[n++] = (struct property){ str_dup(reading->pool, it.name), inner };
	}
	qsort(properties, n, sizeof(*properties), compare_names);
	half->schema->properties = properties;
	half->schema->n_properties = n;
}

enum { ALL_OF, ANY_OF, ONE_OF };

static void read_list(struct schema_reading *reading, struct half *half, const struct doc *doc,
	const struct field_path *at, int arg)
{
	struct schema_list *list;
	struct values *values;

	if (!has_kind(reading, doc, DOC_ARRAY, at) || doc_length(doc) == 0)
		return;
	values = values_of(reading, half);
	list = arg == ALL_OF ? &values->all_of : arg == ANY_OF ? &values->any_of : &values->one_of;
	list->list = POOL_ARRAY(reading->pool, const struct structural *, doc_length(doc));
	for (size_t i = 0; i < doc_length(doc); i++) {
		struct field_path inner_at = field_index(at, i);
		const struct structural *inner = read_schema(reading, doc_at(doc, i), &inner_at);
		note_below(half, inner);
		if (inner != NULL)
			list->list[list->n++] = inner;
	}
}

static void refuse(struct schema_reading *reading, struct half *half, const struct doc *doc,
	const struct field_path *at, int arg)
{
	UNUSED(half);
	UNUSED(doc);
	UNUSED(arg);
	field_fault_add(reading->faults, at, FIELD_FORBIDDEN, STR_NONE, "%.*s is not supported", STR_ARG(at->name));
}

// ---- all members

static const struct member {
	const char *name;
	read_fn *read;
	int arg;
} members[] = {
	{ "$ref", refuse, 0 }, { "additionalItems", refuse, 0 }, { "definitions", refuse, 0 },
	{ "dependencies", refuse, 0 }, { "id", refuse, 0 }, { "patternProperties", refuse, 0 },
	{ "additionalProperties", read_additional, 0 }, { "allOf", read_list, ALL_OF }, { "anyOf", read_list, ANY_OF },
	{ "default", read_default, 0 }, { "description", read_remark, HAS_DESCRIPTION }, { "enum", read_enum, 0 },
	{ "exclusiveMaximum", read_flag, EXCLUSIVE_MAXIMUM }, { "exclusiveMinimum", read_flag, EXCLUSIVE_MINIMUM },
	{ "format", read_format, 0 }, { "items", read_inner, ITEMS }, { "maxItems", read_bound, MAX_ITEMS },
	{ "maxLength", read_bound, MAX_LENGTH }, { "maxProperties", read_bound, MAX_PROPERTIES },
	{ "maximum", read_number, MAXIMUM }, { "minItems", read_bound, MIN_ITEMS }, { "minLength", read_bound, MIN_LENGTH },
	{ "minProperties", read_bound, MIN_PROPERTIES }, { "minimum", read_number, MINIMUM },
	{ "multipleOf", read_number, MULTIPLE_OF }, { "not", read_inner, NOT }, { "nullable", read_flag, NULLABLE },
	{ "oneOf", read_list, ONE_OF }, { "pattern", read_pattern, 0 }, { "properties", read_properties, 0 },
	{ "required", read_required, 0 }, { "title", read_remark, HAS_TITLE }, { "type", read_type, 0 },
	{ "uniqueItems", read_flag, UNIQUE }, { "x-kubernetes-embedded-resource", read_flag, EMBEDDED },
	{ "x-kubernetes-int-or-string", read_flag, INT_OR_STRING }, { "x-kubernetes-list-map-keys", read_map_keys, 0 },
	{ "x-kubernetes-list-type", read_list_type, 0 }, { "x-kubernetes-map-type", read_map_type, 0 },
	{ "x-kubernetes-preserve-unknown-fields", read_flag, PRESERVE_UNKNOWN },
};

static const struct member *find_schema_member(struct str name)
{
	for (size_t i = 0; i < COUNT_OF(members); i++) {
		if (str_eq_c(name, members[i].name))
			return &members[i];
	}
	return NULL;
}

// Returns NULL only if doc is no object. After a fault the rest of the schema is still read, to find the other faults.
static const struct structural *read_schema(struct schema_reading *reading, const struct doc *doc,
	const struct field_path *at)
{
	struct half half = { .schema = NULL };

	if (!has_kind(reading, doc, DOC_OBJECT, at))
		return NULL;
	half.schema = POOL_NEW(reading->pool, struct structural);
	half.schema->type = ANY_TYPE;
	half.schema->values = &no_values;
	for (struct doc_iter it = doc_iter(doc); doc_next(&it);) {
		const struct member *member = find_schema_member(it.name);
		struct field_path member_at = field_name(at, it.name);
		if (member == NULL || it.value == NULL) // null has no effect
			continue;
		member->read(reading, &half, it.value, &member_at, member->arg);
		if (str_starts(it.name, STR("x-kubernetes-")))
			half.schema->flags |= EXTENSION_BELOW;
	}
	return half.schema;
}

const struct structural *structural_read(struct pool *pool, const struct doc *schema, const struct field_path *at,
	struct field_faults *faults)
{
	struct schema_reading reading = { .pool = pool, .faults = faults, .patterns_left = PATTERNS_MAX };
	size_t before = faults->n;
	const struct structural *read = read_schema(&reading, schema, at);

	return faults->n == before ? read : NULL;
}

bool structural_has_defaults(const struct structural *schema)
{
	return (schema->flags & DEFAULT_BELOW) != 0;
}

bool structural_has_extensions(const struct structural *schema)
{
	return (schema->flags & EXTENSION_BELOW) != 0;
}

const struct structural *structural_find_property(const struct structural *schema, struct str name)
{
	size_t from = 0, to = schema->n_properties;

	while (from < to) {
		size_t middle = from + (to - from) / 2;
		int order = str_cmp(name, schema->properties[middle].name);
		if (order == 0)
			return schema->properties[middle].schema;
		if (order < 0)
			to = middle;
		else
			from = middle + 1;
	}
	return NULL;
}

bool structural_is_meta_name(struct str name)
{
	return str_eq(name, STR("metadata")) || str_eq(name, STR("kind")) || str_eq(name, STR("apiVersion"));
}

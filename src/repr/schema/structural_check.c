// SPDX-License-Identifier: Apache-2.0
// Checks whether a schema is structural: each member and each list must be described once, outside of allOf, anyOf, oneOf and
// not. Defaults are validated as objects are, all defaults of a schema within one bound of work.
#include "base/base.h"

#include "base/pool.h"
#include "repr/json/internal.h"
#include "repr/schema/structural_internal.h"

enum level { ROOT_LEVEL, ITEM_LEVEL, FIELD_LEVEL };

// The state of a check: where faults go, and the check by which defaults are validated.
struct shape_check {
	struct field_faults *faults;
	struct check *defaults;
	enum structural_rules rules;
};

static void check_schema(struct shape_check *check, const struct structural *schema, enum level level,
	const struct field_path *at);
static void check_values(struct shape_check *check, const struct structural *schema, const struct field_path *at,
	bool skips_first_any_of);

static bool has(const struct structural *schema, unsigned flags)
{
	return (schema->flags & flags) != 0;
}

static void forbid(struct shape_check *check, const struct field_path *at, const char *name, const char *detail)
{
	struct field_path member_at = field_name(at, str_c(name));

	field_forbidden(check->faults, &member_at, detail);
}

static void require(struct shape_check *check, const struct field_path *at, const char *name, const char *detail)
{
	struct field_path member_at = field_name(at, str_c(name));

	field_required(check->faults, &member_at, detail);
}

// Adds a fault: required if there is no type, invalid if it is another than it must be.
static void fail_type(struct shape_check *check, const struct field_path *at, enum value_type type, const char *detail)
{
	struct field_path type_at = field_name(at, STR("type"));

	if (type == ANY_TYPE)
		field_required(check->faults, &type_at, detail);
	else
		field_invalid_text(check->faults, &type_at, str_c(value_type_names[type]), detail);
}

// ---- below allOf, anyOf, oneOf and not: only restrictions of values

static void check_nested_flags(struct shape_check *check, const struct structural *schema, const struct field_path *at)
{
	static const struct { unsigned flag; const char *name, *detail; } flags[] = {
		{ HAS_TITLE, "title", "must be empty to be structural" },
		{ HAS_DESCRIPTION, "description", "must be empty to be structural" },
		{ NULLABLE, "nullable", "must be false to be structural" },
		{ HAS_ADDITIONAL | CLOSED, "additionalProperties", "must be undefined to be structural" },
		{ PRESERVE_UNKNOWN, "x-kubernetes-preserve-unknown-fields", "must be false to be structural" },
		{ EMBEDDED, "x-kubernetes-embedded-resource", "must be false to be structural" },
		{ INT_OR_STRING, "x-kubernetes-int-or-string", "must be false to be structural" },
	};

	for (size_t i = 0; i < COUNT_OF(flags); i++) {
		if (has(schema, flags[i].flag))
			forbid(check, at, flags[i].name, flags[i].detail);
	}
	if (schema->fallback != NULL)
		forbid(check, at, "default", "must be undefined to be structural");
	if (schema->type != ANY_TYPE)
		forbid(check, at, "type", "must be empty to be structural");
	if (schema->values->list_type != NO_LIST_TYPE)
		forbid(check, at, "x-kubernetes-list-type", "must be undefined to be structural");
	if (schema->values->n_map_keys > 0)
		forbid(check, at, "x-kubernetes-list-map-keys", "must be empty to be structural");
	if (schema->values->map_type.n > 0)
		forbid(check, at, "x-kubernetes-map-type", "must be undefined to be structural");
}

// skips_any_of: its anyOf lists the two types of an int-or-string.
static void check_nested(struct shape_check *check, const struct structural *schema, const struct field_path *at,
	bool skips_any_of)
{
	struct field_path items_at = field_name(at, STR("items")), properties_at = field_name(at, STR("properties"));

	check_nested_flags(check, schema, at);
	check_values(check, schema, at, skips_any_of);
	if (schema->items != NULL)
		check_nested(check, schema->items, &items_at, false);
	for (size_t i = 0; i < schema->n_properties; i++) {
		struct field_path member_at = field_key(&properties_at, schema->properties[i].name);
		// A nested schema must not restrict metadata, which is the same for all types.
		if (str_eq(schema->properties[i].name, STR("metadata")))
			field_forbidden(check->faults, &member_at, "must not be specified in a nested context");
		check_nested(check, schema->properties[i].schema, &member_at, false);
	}
}

static bool is_plain_type(const struct structural *schema, enum value_type type)
{
	return schema->type == type && schema->flags == 0 && schema->n_properties == 0 && schema->items == NULL;
}

// Is it anyOf: [{type: integer}, {type: string}]? This is the only case in which types are allowed below anyOf.
static bool says_int_or_string(const struct structural *schema)
{
	const struct schema_list *any_of = &schema->values->any_of;

	return any_of->n == 2 && is_plain_type(any_of->list[0], INTEGER_TYPE) &&
		is_plain_type(any_of->list[1], STRING_TYPE);
}

static void check_schema_list(struct shape_check *check, const struct schema_list *schemas, const struct field_path *at,
	const char *name, bool skips_any_of_of_first)
{
	struct field_path list_at = field_name(at, str_c(name));

	for (size_t i = 0; i < schemas->n; i++) {
		struct field_path item_at = field_index(&list_at, i);
		check_nested(check, schemas->list[i], &item_at, skips_any_of_of_first && i == 0);
	}
}

static void check_values(struct shape_check *check, const struct structural *schema, const struct field_path *at,
	bool skips_any_of)
{
	const struct values *values = schema->values;
	struct field_path not_at = field_name(at, STR("not"));
	bool first = has(schema, INT_OR_STRING) && values->all_of.n > 0 && says_int_or_string(values->all_of.list[0]);

	check_schema_list(check, &values->all_of, at, "allOf", first);
	if (!skips_any_of)
		check_schema_list(check, &values->any_of, at, "anyOf", false);
	check_schema_list(check, &values->one_of, at, "oneOf", false);
	if (values->not_allowed != NULL)
		check_nested(check, values->not_allowed, &not_at, false);
}

// ---- what a nested schema restricts must also be described outside

static void check_complete(struct shape_check *check, const struct structural *nested, const struct structural *schema,
	const struct field_path *nested_at, const struct field_path *at);

static void check_list_complete(struct shape_check *check, const struct schema_list *schemas,
	const struct structural *schema, const struct field_path *nested_at, const char *name, const struct field_path *at)
{
	struct field_path list_at = field_name(nested_at, str_c(name));

	for (size_t i = 0; i < schemas->n; i++) {
		struct field_path item_at = field_index(&list_at, i);
		check_complete(check, schemas->list[i], schema, &item_at, at);
	}
}

static void check_lists_complete(struct shape_check *check, const struct structural *nested,
	const struct structural *schema, const struct field_path *nested_at, const struct field_path *at)
{
	struct field_path not_at = field_name(nested_at, STR("not"));

	check_list_complete(check, &nested->values->all_of, schema, nested_at, "allOf", at);
	check_list_complete(check, &nested->values->any_of, schema, nested_at, "anyOf", at);
	check_list_complete(check, &nested->values->one_of, schema, nested_at, "oneOf", at);
	if (nested->values->not_allowed != NULL)
		check_complete(check, nested->values->not_allowed, schema, &not_at, at);
}

static void fail_incomplete(struct shape_check *check, const struct field_path *at, const struct field_path *nested_at)
{
	if (!field_fault_skips(check->faults)) {
		struct str path = field_path_text(check->faults->pool, nested_at);
		field_fault_add(check->faults, at, FIELD_REQUIRED, STR_NONE, "because it is defined in %.*s", STR_ARG(path));
	}
}

static void check_complete(struct shape_check *check, const struct structural *nested, const struct structural *schema,
	const struct field_path *nested_at, const struct field_path *at)
{
	struct field_path items_at = field_name(at, STR("items")), nested_items_at = field_name(nested_at, STR("items"));
	struct field_path properties_at = field_name(at, STR("properties"));
	struct field_path nested_properties_at = field_name(nested_at, STR("properties"));

	check_lists_complete(check, nested, schema, nested_at, at);
	if (nested->items != NULL && schema->items == NULL)
		fail_incomplete(check, &items_at, &nested_items_at);
	else if (nested->items != NULL)
		check_complete(check, nested->items, schema->items, &nested_items_at, &items_at);
	for (size_t i = 0; i < nested->n_properties; i++) {
		struct str name = nested->properties[i].name;
		const struct structural *property = structural_find_property(schema, name);
		struct field_path member_at = field_key(&properties_at, name);
		struct field_path nested_member_at = field_key(&nested_properties_at, name);
		if (property == NULL)
			fail_incomplete(check, &member_at, &nested_member_at);
		else
			check_complete(check, nested->properties[i].schema, property, &nested_member_at, &member_at);
	}
}

// ---- what objects are made of

static void check_type(struct shape_check *check, const struct structural *schema, enum level level,
	const struct field_path *at)
{
	static const char *const needed[] = {
		[ROOT_LEVEL] = "must not be empty at the root",
		[ITEM_LEVEL] = "must not be empty for specified array items",
		[FIELD_LEVEL] = "must not be empty for specified object fields",
	};

	if (has(schema, EMBEDDED) && schema->type != OBJECT_TYPE)
		fail_type(check, at, schema->type, "must be object if x-kubernetes-embedded-resource is true");
	else if (schema->type == ANY_TYPE && !has(schema, INT_OR_STRING | PRESERVE_UNKNOWN))
		require(check, at, "type", needed[level]);
	if (level == ROOT_LEVEL && schema->type != ANY_TYPE && schema->type != OBJECT_TYPE)
		fail_type(check, at, schema->type, "must be object at the root");
}

static void check_additional(struct shape_check *check, const struct structural *schema, enum level level,
	const struct field_path *at)
{
	struct field_path additional_at = field_name(at, STR("additionalProperties"));

	if (!has(schema, HAS_ADDITIONAL | CLOSED))
		return;
	if (schema->n_properties > 0)
		field_forbidden(check->faults, &additional_at, "additionalProperties and properties are mutual exclusive");
	if (level == ROOT_LEVEL)
		field_forbidden(check->faults, &additional_at, "must not be used at the root");
	if (has(schema, EMBEDDED))
		field_forbidden(check->faults, &additional_at, "must not be used if x-kubernetes-embedded-resource is set");
	if (schema->additional != NULL)
		check_schema(check, schema->additional, FIELD_LEVEL, &additional_at);
}

static void check_extensions(struct shape_check *check, const struct structural *schema, const struct field_path *at)
{
	static const struct { unsigned flag; const char *name; } others[] = {
		{ PRESERVE_UNKNOWN, "x-kubernetes-preserve-unknown-fields" }, { EMBEDDED, "x-kubernetes-embedded-resource" },
	};

	for (size_t i = 0; has(schema, INT_OR_STRING) && i < COUNT_OF(others); i++) {
		struct field_path member_at = field_name(at, str_c(others[i].name));
		if (has(schema, others[i].flag))
			field_fault_add(check->faults, &member_at, FIELD_INVALID, STR("true"),
				"must be false if x-kubernetes-int-or-string is true");
	}
	if (has(schema, EMBEDDED) && !has(schema, PRESERVE_UNKNOWN) && schema->n_properties == 0)
		require(check, at, "properties",
			"must not be empty if x-kubernetes-embedded-resource is true without x-kubernetes-preserve-unknown-fields");
	if (has(schema, UNIQUE))
		forbid(check, at, "uniqueItems",
			"uniqueItems cannot be set to true since the runtime complexity becomes quadratic");
}

struct placed_text {
	struct str text;
	size_t at;
};

static int compare_placed(const void *a, const void *b)
{
	const struct placed_text *x = a, *y = b;
	int order = str_cmp(x->text, y->text);

	return order != 0 ? order : (x->at > y->at) - (x->at < y->at);
}

// Texts in order, since clients choose how many there are.
static struct placed_text *sorted_texts(struct pool *pool, const struct str *texts, size_t n)
{
	struct placed_text *sorted = POOL_ARRAY(pool, struct placed_text, n + 1);

	for (size_t i = 0; i < n; i++)
		sorted[i] = (struct placed_text){ texts[i], i };
	qsort(sorted, n, sizeof(*sorted), compare_placed);
	return sorted;
}

static bool has_text(const struct placed_text *sorted, size_t n, struct str text)
{
	size_t from = 0, to = n;

	while (from < to) {
		size_t middle = from + (to - from) / 2;
		if (str_cmp(sorted[middle].text, text) < 0)
			from = middle + 1;
		else
			to = middle;
	}
	return from < n && str_eq(sorted[from].text, text);
}

static void check_key_names(struct shape_check *check, const struct structural *schema, const struct field_path *keys_at)
{
	const struct values *values = schema->values;

	for (size_t i = 0; i < values->n_map_keys; i++) {
		const struct structural *key = structural_find_property(schema->items, values->map_keys[i]);
		struct field_path key_at = field_index(keys_at, i);
		if (key == NULL)
			field_invalid_text(check->faults, &key_at, values->map_keys[i],
				"entries must all be names of item properties");
		else if (key->type == ARRAY_TYPE || key->type == OBJECT_TYPE)
			field_invalid_text(check->faults, &key_at, values->map_keys[i],
				"must be a scalar type if parent array's x-kubernetes-list-type is map");
	}
}

// Each item must have all keys, once, or there is nothing to tell items apart by.
static void check_keys_present(struct shape_check *check, const struct structural *schema, const struct field_path *keys_at,
	const struct field_path *items_at)
{
	const struct values *values = schema->values, *of_items = schema->items->values;
	struct pool *pool = check->faults->pool;
	const struct placed_text *keys = sorted_texts(pool, values->map_keys, values->n_map_keys);
	const struct placed_text *required = sorted_texts(pool, of_items->required, of_items->n_required);
	struct field_path properties_at = field_name(items_at, STR("properties"));

	for (size_t i = 0; i < values->n_map_keys; i++) {
		const struct structural *key = structural_find_property(schema->items, keys[i].text);
		struct field_path listed_at = field_index(keys_at, keys[i].at), key_at = field_key(&properties_at, keys[i].text);
		if (i > 0 && str_eq(keys[i].text, keys[i - 1].text)) {
			field_invalid_text(check->faults, &listed_at, keys[i].text, "must not contain duplicate entries");
			continue;
		}
		if (key != NULL && key->fallback == NULL && !has_text(required, of_items->n_required, keys[i].text))
			require(check, &key_at, "default",
				"this property is in x-kubernetes-list-map-keys, so it must have a default or be a required property");
		if (key != NULL && has(key, NULLABLE))
			forbid(check, &key_at, "nullable", "this property is in x-kubernetes-list-map-keys, so it cannot be nullable");
	}
}

static void check_map_keys(struct shape_check *check, const struct structural *schema, const struct field_path *at)
{
	struct field_path keys_at = field_name(at, STR("x-kubernetes-list-map-keys"));
	struct field_path items_at = field_name(at, STR("items"));

	if (schema->values->n_map_keys == 0)
		field_required(check->faults, &keys_at, "must not be empty if x-kubernetes-list-type is map");
	if (schema->items == NULL) {
		field_required(check->faults, &items_at, "must have a schema if x-kubernetes-list-type is map");
		return;
	}
	if (schema->items->type != OBJECT_TYPE)
		fail_type(check, &items_at, schema->items->type,
			"must be object if parent array's x-kubernetes-list-type is map");
	check_key_names(check, schema, &keys_at);
	if (check->rules == STRUCTURAL_ALL_RULES)
		check_keys_present(check, schema, &keys_at, &items_at);
}

// Items of a set are compared as a whole, so they must also be replaced as a whole.
static void check_set(struct shape_check *check, const struct structural *schema, const struct field_path *at)
{
	static const char atomic[] = "must be atomic as item of a list with x-kubernetes-list-type=set";
	struct field_path items_at = field_name(at, STR("items"));
	struct field_path list_at = field_name(&items_at, STR("x-kubernetes-list-type"));
	struct field_path map_at = field_name(&items_at, STR("x-kubernetes-map-type"));
	const struct values *values = schema->items != NULL ? schema->items->values : NULL;

	if (values == NULL)
		return;
	if (schema->items->type == ARRAY_TYPE && values->list_type != NO_LIST_TYPE && values->list_type != LIST_ATOMIC)
		field_invalid_text(check->faults, &list_at, values->list_type == LIST_SET ? STR("set") : STR("map"), atomic);
	if (schema->items->type == OBJECT_TYPE && values->map_type.n == 0)
		field_invalid(check->faults, &map_at, NULL, atomic);
	else if (schema->items->type == OBJECT_TYPE && !str_eq(values->map_type, STR("atomic")))
		field_invalid_text(check->faults, &map_at, values->map_type, atomic);
}

static void check_list_type(struct shape_check *check, const struct structural *schema, const struct field_path *at)
{
	const struct values *values = schema->values;
	struct field_path items_at = field_name(at, STR("items"));

	if (values->map_type.n > 0 && schema->type != OBJECT_TYPE)
		fail_type(check, at, schema->type, "must be object if x-kubernetes-map-type is specified");
	if (values->list_type != NO_LIST_TYPE && schema->type != ARRAY_TYPE)
		fail_type(check, at, schema->type, "must be array if x-kubernetes-list-type is specified");
	if (values->n_map_keys > 0 && values->list_type == NO_LIST_TYPE)
		require(check, at, "x-kubernetes-list-type", "must be map if x-kubernetes-list-map-keys is non-empty");
	if (values->list_type == LIST_MAP)
		check_map_keys(check, schema, at);
	if (values->list_type == LIST_SET)
		check_set(check, schema, at);
	if ((values->list_type == LIST_MAP || values->list_type == LIST_SET) && check->rules == STRUCTURAL_ALL_RULES &&
		schema->items != NULL && has(schema->items, NULLABLE))
		forbid(check, &items_at, "nullable", values->list_type == LIST_MAP ?
			"cannot be nullable when x-kubernetes-list-type is map" : "cannot be nullable when x-kubernetes-list-type is set");
}

static void check_text_member(struct shape_check *check, const struct structural *schema, const char *name,
	const struct field_path *properties_at)
{
	const struct structural *member = structural_find_property(schema, str_c(name));
	struct field_path member_at = field_key(properties_at, str_c(name));

	if (member != NULL && member->type != STRING_TYPE)
		fail_type(check, &member_at, member->type, "must be string");
}

// A schema may restrict the name in metadata and nothing else: metadata is the same for all types, and objects are validated with
// its name alone (registry/type/definition_object.c).
static void check_metadata(struct shape_check *check, const struct structural *schema, enum level level,
	const struct field_path *properties_at)
{
	const struct structural *metadata = structural_find_property(schema, STR("metadata"));
	struct field_path metadata_at = field_key(properties_at, STR("metadata"));
	size_t others;

	if (metadata == NULL)
		return;
	if (metadata->type != OBJECT_TYPE)
		fail_type(check, &metadata_at, metadata->type, "must be object");
	others = metadata->n_properties - (structural_find_property(metadata, STR("name")) != NULL ? 1 : 0) -
		(structural_find_property(metadata, STR("generateName")) != NULL ? 1 : 0);
	if (level == ROOT_LEVEL && (others > 0 || metadata->items != NULL || structural_has_values(metadata) ||
		has(metadata, HAS_ADDITIONAL | CLOSED | NULLABLE | PRESERVE_UNKNOWN | EMBEDDED | INT_OR_STRING | UNIQUE |
			EXCLUSIVE_MINIMUM | EXCLUSIVE_MAXIMUM)))
		field_forbidden(check->faults, &metadata_at,
			"must not specify anything other than name and generateName, but metadata is implicitly specified");
}

static void check_properties(struct shape_check *check, const struct structural *schema, enum level level,
	const struct field_path *at)
{
	struct field_path properties_at = field_name(at, STR("properties"));

	for (size_t i = 0; i < schema->n_properties; i++) {
		struct field_path member_at = field_key(&properties_at, schema->properties[i].name);
		check_schema(check, schema->properties[i].schema, FIELD_LEVEL, &member_at);
	}
	if (level != ROOT_LEVEL && !has(schema, EMBEDDED))
		return;
	check_text_member(check, schema, "kind", &properties_at);
	check_text_member(check, schema, "apiVersion", &properties_at);
	check_metadata(check, schema, level, &properties_at);
}

static void check_default(struct shape_check *check, const struct structural *schema, enum level level,
	const struct field_path *at)
{
	struct field_path default_at = field_name(at, STR("default"));
	bool whole = level == ROOT_LEVEL || check->rules != STRUCTURAL_ALL_RULES;
	struct doc *pruned;

	if (schema->fallback == NULL)
		return;
	check_value(check->defaults, schema, schema->fallback, &default_at);
	pruned = doc_copy(check->faults->pool, schema->fallback);
	if ((whole ? structural_prune(schema, pruned) : structural_prune_member(schema, pruned)) > 0)
		field_invalid(check->faults, &default_at, schema->fallback, "must not have unknown fields");
}

static void check_schema(struct shape_check *check, const struct structural *schema, enum level level,
	const struct field_path *at)
{
	struct field_path items_at = field_name(at, STR("items"));

	check_type(check, schema, level, at);
	check_additional(check, schema, level, at);
	check_properties(check, schema, level, at);
	if (schema->items != NULL)
		check_schema(check, schema->items, ITEM_LEVEL, &items_at);
	else if (schema->type == ARRAY_TYPE && schema->values->list_type != LIST_MAP) // the items of a map are reported below
		field_required(check->faults, &items_at, "must be specified");
	check_extensions(check, schema, at);
	check_list_type(check, schema, at);
	check_values(check, schema, at, has(schema, INT_OR_STRING) && says_int_or_string(schema));
	check_lists_complete(check, schema, schema, at, at);
	check_default(check, schema, level, at);
}

void structural_check(const struct structural *schema, const struct field_path *at, enum structural_rules rules,
	struct field_faults *faults)
{
	struct check defaults = { .pool = faults->pool, .faults = faults, .steps = CHECK_STEPS };
	struct shape_check check = { .faults = faults, .defaults = &defaults, .rules = rules };

	check_schema(&check, schema, ROOT_LEVEL, at);
	check_finish(&defaults, at);
}

// SPDX-License-Identifier: Apache-2.0
// Validates objects by a schema.
#include "base/base.h"

#include <math.h>

#include "base/pool.h"
#include "repr/json/internal.h"
#include "repr/schema/structural_internal.h"

// Takes n steps of work. False: the check was given up.
static bool spend(struct check *check, uint64_t n)
{
	check->steps = n < check->steps ? check->steps - n : 0;
	return check->steps > 0;
}

// What a value's text adds to the work to look at it. Strings, and numbers too, may be millions of bytes long.
static uint64_t text_work(const struct doc *value)
{
	enum doc_kind kind = doc_kind(value);

	return kind == DOC_STRING || kind == DOC_NUMBER ? value->n / 16 : 0;
}

// The work to look at all of a value: the number of values and names in it, and more for long texts.
static uint64_t weight(const struct doc *value)
{
	uint64_t sum = 1;

	switch (doc_kind(value)) {
	case DOC_ARRAY:
		for (size_t i = 0; i < doc_length(value); i++)
			sum += weight(doc_at(value, i));
		return sum;
	case DOC_OBJECT:
		for (struct doc_iter it = doc_iter(value); doc_next(&it);)
			sum += 1 + weight(it.value);
		return sum;
	default:
		return 1 + text_work(value);
	}
}

// Counts a fault. True: the caller must add it to the list.
static bool tell(struct check *check)
{
	check->n_faults++;
	return check->faults != NULL && !field_fault_skips(check->faults);
}

// The field in messages: "spec.size in body"; for the root "in body".
static struct str subject(struct pool *pool, const struct field_path *at)
{
	struct str path = field_path_text(pool, at);

	return path.n == 0 ? STR("in body") : str_printf(pool, "%.*s in body", STR_ARG(path));
}

// Adds "Invalid value: VALUE: spec.size in body …". Call it only if tell() returned true, since making the text costs time.
static void fail(struct check *check, const struct field_path *at, const struct doc *value, const char *format, ...)
	PRINTF_LIKE(4, 5);
static void fail(struct check *check, const struct field_path *at, const struct doc *value, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	struct str words = str_vprintf(check->pool, format, args);
	va_end(args);
	struct str name = subject(check->pool, at);
	field_fault_add(check->faults, at, FIELD_INVALID, field_shown(check->pool, value), "%.*s %.*s",
		STR_ARG(name), STR_ARG(words));
}

// Adds "Invalid value: "": "spec" …": the whole value fits none, not all … of several schemas.
static void fail_whole(struct check *check, const struct field_path *at, const char *format, ...) PRINTF_LIKE(3, 4);
static void fail_whole(struct check *check, const struct field_path *at, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	struct str words = str_vprintf(check->pool, format, args);
	va_end(args);
	struct str path = field_path_text(check->pool, at);
	field_fault_add(check->faults, at, FIELD_INVALID, STR("\"\""), "\"%.*s\" %.*s", STR_ARG(path), STR_ARG(words));
}

// ---- types

static const char *type_of(const struct doc *value)
{
	switch (doc_kind(value)) {
	case DOC_NULL: return "null";
	case DOC_BOOL: return "boolean";
	case DOC_NUMBER: return doc_is_whole(value) ? "integer" : "number";
	case DOC_STRING: return "string";
	case DOC_ARRAY: return "array";
	case DOC_OBJECT: return "object";
	}
	return "";
}

static bool has_type(const struct structural *schema, const struct doc *value)
{
	enum doc_kind kind = doc_kind(value);

	if (kind == DOC_NULL)
		return (schema->flags & NULLABLE) != 0 || (schema->type == ANY_TYPE && (schema->flags & INT_OR_STRING) == 0);
	if ((schema->flags & INT_OR_STRING) != 0)
		return kind == DOC_STRING || (kind == DOC_NUMBER && doc_is_whole(value));
	switch (schema->type) {
	case ARRAY_TYPE: return kind == DOC_ARRAY;
	case BOOLEAN_TYPE: return kind == DOC_BOOL;
	case INTEGER_TYPE: return kind == DOC_NUMBER && doc_is_whole(value);
	case NUMBER_TYPE: return kind == DOC_NUMBER;
	case OBJECT_TYPE: return kind == DOC_OBJECT;
	case STRING_TYPE: return kind == DOC_STRING;
	case ANY_TYPE: break;
	}
	return true;
}

static void fail_type(struct check *check, const struct structural *schema, const struct doc *value,
	const struct field_path *at)
{
	const char *wanted = (schema->flags & INT_OR_STRING) != 0 ? "integer,string" : value_type_names[schema->type];

	if (tell(check)) {
		struct str name = subject(check->pool, at);
		field_fault_add(check->faults, at, FIELD_TYPE_INVALID, str_printf(check->pool, "\"%s\"", type_of(value)),
			"%.*s must be of type %s: \"%s\"", STR_ARG(name), wanted, type_of(value));
	}
}

// ---- values

static struct str choices_text(struct pool *pool, const struct doc *choices)
{
	struct buf out = buf_new(pool, 64);

	for (size_t i = 0; i < doc_length(choices) && out.n < 1000; i++) {
		const struct doc *choice = doc_at(choices, i);
		if (i > 0)
			BUF_LIT(&out, ", ");
		buf_add(&out, doc_kind(choice) == DOC_STRING ? field_shown(pool, choice)
			: field_shown_text(pool, field_shown(pool, choice)));
	}
	return buf_str(&out);
}

static void check_choices(struct check *check, const struct doc *choices, const struct doc *value,
	const struct field_path *at)
{
	if (choices == NULL || !spend(check, doc_length(choices) * weight(value)))
		return;
	for (size_t i = 0; i < doc_length(choices); i++) {
		if (doc_equal_by_value(doc_at(choices, i), value))
			return;
	}
	if (tell(check)) {
		struct str values = choices_text(check->pool, choices);
		field_fault_add(check->faults, at, FIELD_NOT_SUPPORTED, field_shown(check->pool, value),
			"supported values: %.*s", STR_ARG(values));
	}
}

static bool is_multiple(struct check *check, const struct doc *value, const struct doc *factor)
{
	int64_t a, b;
	double quotient;

	if (!spend(check, text_work(value) + text_work(factor)))
		return true;
	if (doc_whole_i64(value, &a) && doc_whole_i64(factor, &b))
		return b != 0 && (b == -1 || a % b == 0);
	// Doubles are not exact: 0.3 must count as a multiple of 0.1.
	quotient = json_double(value) / json_double(factor);
	return fabs(quotient - round(quotient)) <= 1e-9 * fmax(1, fabs(quotient));
}

// Compares a value with a bound of its schema: <0, 0, >0.
static int order(struct check *check, const struct doc *value, const struct doc *bound)
{
	(void)spend(check, text_work(value) + text_work(bound));
	return doc_order_numbers(value, bound);
}

static void check_number(struct check *check, const struct structural *schema, const struct doc *value,
	const struct field_path *at)
{
	const struct values *values = schema->values;
	bool above = (schema->flags & EXCLUSIVE_MINIMUM) != 0, below = (schema->flags & EXCLUSIVE_MAXIMUM) != 0;

	if (values->maximum != NULL && order(check, value, values->maximum) > (below ? -1 : 0) && tell(check)) {
		struct str maximum = json_number_clipped(check->pool, values->maximum);
		fail(check, at, value, "should be less than %s%.*s", below ? "" : "or equal to ", STR_ARG(maximum));
	}
	if (values->minimum != NULL && order(check, value, values->minimum) < (above ? 1 : 0) && tell(check)) {
		struct str minimum = json_number_clipped(check->pool, values->minimum);
		fail(check, at, value, "should be greater than %s%.*s", above ? "" : "or equal to ", STR_ARG(minimum));
	}
	if (values->multiple_of != NULL && !is_multiple(check, value, values->multiple_of) && tell(check)) {
		struct str unit = json_number_clipped(check->pool, values->multiple_of);
		fail(check, at, value, "should be a multiple of %.*s", STR_ARG(unit));
	}
}

static void check_pattern(struct check *check, const struct values *values, const struct doc *value,
	const struct field_path *at)
{
	if (values->pattern != NULL && check->steps > 0 &&
		regexp_finds(values->pattern, check->pool, doc_string(value), &check->steps) == REGEXP_NO &&
		tell(check)) {
		struct str shown = json_clipped(check->pool, values->pattern_text);
		fail(check, at, value, "should match '%.*s'", STR_ARG(shown));
	}
}

static void check_string(struct check *check, const struct values *values, const struct doc *value,
	const struct field_path *at)
{
	struct str text = doc_string(value);
	const int64_t *bounds = values->bounds;
	int64_t length;

	if ((bounds[MIN_LENGTH] >= 0 || bounds[MAX_LENGTH] >= 0) && spend(check, text.n / 16)) {
		length = (int64_t)str_utf8_length(text);
		if (bounds[MAX_LENGTH] >= 0 && length > bounds[MAX_LENGTH] && tell(check))
			field_fault_add(check->faults, at, FIELD_TOO_LONG, STR_NONE, "may not be longer than %lld",
				(long long)bounds[MAX_LENGTH]);
		if (length < bounds[MIN_LENGTH] && tell(check))
			fail(check, at, value, "should be at least %lld chars long", (long long)bounds[MIN_LENGTH]);
	}
	check_pattern(check, values, value, at);
}

// The message has the format's name in the place of a type.
static void check_format(struct check *check, const struct values *values, const struct doc *value,
	const struct field_path *at)
{
	if (values->format == NULL || !spend(check, 1 + text_work(value)) || format_allows(values->format, value) ||
		!tell(check))
		return;
	struct str shown = field_shown(check->pool, value);
	fail(check, at, value, "must be of type %s: %.*s", format_name(values->format), STR_ARG(shown));
}

// ---- lists

// An item as text for the search for duplicates (doc_write_sorted()).
struct item_key {
	struct str text;
	size_t index;
};

static struct str item_text(struct pool *pool, const struct values *values, const struct doc *item)
{
	struct buf out = buf_new(pool, 32);
	const struct doc *member;

	if (values->list_type != LIST_MAP) {
		doc_write_sorted(item, &out);
		return buf_str(&out);
	}
	for (size_t i = 0; i < values->n_map_keys; i++) {
		if (doc_get(item, values->map_keys[i], &member))
			doc_write_sorted(member, &out);
		buf_addc(&out, ',');
	}
	return buf_str(&out);
}

static int compare_items(const void *a, const void *b)
{
	const struct item_key *x = a, *y = b;
	int order = str_cmp(x->text, y->text);

	return order != 0 ? order : (x->index > y->index) - (x->index < y->index);
}

static struct item_key *sorted_items(struct check *check, const struct values *values, const struct doc *list)
{
	size_t n = doc_length(list);
	struct item_key *keys = POOL_ARRAY(check->pool, struct item_key, n);

	for (size_t i = 0; i < n; i++)
		keys[i] = (struct item_key){ item_text(check->pool, values, doc_at(list, i)), i };
	qsort(keys, n, sizeof(*keys), compare_items);
	return keys;
}

// Finds the indexes of repeated items, at most FIELD_FAULTS_MAX of *n. It frees the memory of the search.
static void find_repeated(struct check *check, const struct values *values, const struct doc *list,
	size_t indexes[FIELD_FAULTS_MAX], size_t *n)
{
	struct pool_mark mark = pool_mark(check->pool);
	struct item_key *keys = sorted_items(check, values, list);

	*n = 0;
	for (size_t i = 1; i < doc_length(list); i++) {
		if (!str_eq(keys[i].text, keys[i - 1].text))
			continue;
		if (*n < FIELD_FAULTS_MAX)
			indexes[*n] = keys[i].index;
		(*n)++;
	}
	pool_rewind(check->pool, mark);
}

static void check_repeated(struct check *check, const struct structural *schema, const struct doc *list,
	const struct field_path *at)
{
	bool set = schema->values->list_type == LIST_SET || schema->values->list_type == LIST_MAP;
	size_t indexes[FIELD_FAULTS_MAX], n;

	if ((!set && (schema->flags & UNIQUE) == 0) || doc_length(list) < 2 || !spend(check, 8 * weight(list)))
		return;
	find_repeated(check, schema->values, list, indexes, &n);
	if (!set) {
		if (n > 0 && tell(check))
			fail(check, at, list, "shouldn't contain duplicates");
		return;
	}
	for (size_t i = 0; i < n && i < FIELD_FAULTS_MAX; i++) {
		struct field_path item_at = field_index(at, indexes[i]);
		if (tell(check))
			field_duplicate(check->faults, &item_at, doc_at(list, indexes[i]));
	}
}

static void check_list(struct check *check, const struct structural *schema, const struct doc *list,
	const struct field_path *at)
{
	const int64_t *bounds = schema->values->bounds;
	size_t n = doc_length(list);

	if (bounds[MAX_ITEMS] >= 0 && (int64_t)n > bounds[MAX_ITEMS] && tell(check))
		field_fault_add(check->faults, at, FIELD_TOO_MANY, str_printf(check->pool, "%zu", n),
			"must have at most %lld items", (long long)bounds[MAX_ITEMS]);
	if ((int64_t)n < bounds[MIN_ITEMS] && tell(check))
		fail(check, at, list, "should have at least %lld items", (long long)bounds[MIN_ITEMS]);
	check_repeated(check, schema, list, at);
	for (size_t i = 0; schema->items != NULL && i < n; i++) {
		struct field_path item_at = field_index(at, i);
		check_value(check, schema->items, doc_at(list, i), &item_at);
	}
}

// ---- objects

static void check_members(struct check *check, const struct structural *schema, const struct doc *object,
	const struct field_path *at)
{
	if (schema->n_properties == 0 && schema->additional == NULL && (schema->flags & CLOSED) == 0)
		return;
	for (struct doc_iter it = doc_iter(object); doc_next(&it);) {
		const struct structural *property = structural_find_property(schema, it.name);
		struct field_path member_at = field_name(at, it.name);
		if (property == NULL)
			property = schema->additional;
		if (property != NULL)
			check_value(check, property, it.value, &member_at);
		else if ((schema->flags & CLOSED) != 0 && tell(check)) {
			struct str name = subject(check->pool, &member_at);
			field_fault_add(check->faults, &member_at, FIELD_INVALID, STR("\"\""), "%.*s is a forbidden property",
				STR_ARG(name));
		}
	}
}

static void check_required(struct check *check, const struct values *values, const struct doc *object,
	const struct field_path *at)
{
	const struct doc *member;

	if (!spend(check, values->n_required))
		return;
	for (size_t i = 0; i < values->n_required; i++) {
		struct field_path member_at = field_name(at, values->required[i]);
		if (!doc_get(object, values->required[i], &member) && tell(check))
			field_required(check->faults, &member_at, "");
	}
}

static void require_text(struct check *check, const struct doc *object, struct str name, const struct field_path *at)
{
	struct field_path member_at = field_name(at, name);
	const struct doc *member;

	if (!doc_get(object, name, &member) || (doc_kind(member) == DOC_STRING && doc_string(member).n == 0)) {
		if (tell(check))
			field_required(check->faults, &member_at, "must not be empty");
	} else if (doc_kind(member) != DOC_STRING && tell(check)) {
		field_invalid(check->faults, &member_at, member, "must be a string");
	}
}

// Checks an embedded object, which has apiVersion, kind and metadata of its own.
static void check_embedded(struct check *check, const struct doc *object, const struct field_path *at)
{
	struct field_path metadata_at = field_name(at, STR("metadata"));
	const struct doc *metadata;

	require_text(check, object, STR("apiVersion"), at);
	require_text(check, object, STR("kind"), at);
	if (doc_get(object, STR("metadata"), &metadata) && doc_kind(metadata) != DOC_OBJECT && tell(check))
		field_invalid(check->faults, &metadata_at, metadata, "must be an object");
}

static void check_object(struct check *check, const struct structural *schema, const struct doc *object,
	const struct field_path *at)
{
	const int64_t *bounds = schema->values->bounds;
	int64_t n = (int64_t)doc_length(object);

	if (bounds[MAX_PROPERTIES] >= 0 && n > bounds[MAX_PROPERTIES] && tell(check))
		fail(check, at, object, "should have at most %lld properties", (long long)bounds[MAX_PROPERTIES]);
	if (n < bounds[MIN_PROPERTIES] && tell(check))
		fail(check, at, object, "should have at least %lld properties", (long long)bounds[MIN_PROPERTIES]);
	if ((schema->flags & EMBEDDED) != 0)
		check_embedded(check, object, at);
	check_required(check, schema->values, object, at);
	check_members(check, schema, object, at);
}

// ---- allOf, anyOf, oneOf and not

// Counts the faults of a value by a schema, without listing them.
static size_t count_faults(struct check *check, const struct structural *schema, const struct doc *value,
	const struct field_path *at)
{
	struct check silent = { .pool = check->pool, .steps = check->steps };
	struct pool_mark mark = pool_mark(check->pool);

	check_value(&silent, schema, value, at);
	pool_rewind(check->pool, mark);
	check->steps = silent.steps;
	return silent.n_faults;
}

// Counts the schemas that the value fits. *nearest: the one with the fewest faults.
static size_t count_fits(struct check *check, const struct schema_list *schemas, const struct doc *value,
	const struct field_path *at, const struct structural **nearest)
{
	size_t fits = 0, fewest = SIZE_MAX;

	for (size_t i = 0; i < schemas->n; i++) {
		size_t faults = count_faults(check, schemas->list[i], value, at);
		fits += faults == 0 ? 1 : 0;
		if (faults < fewest) {
			fewest = faults;
			*nearest = schemas->list[i];
		}
	}
	return fits;
}

// No schema fits: reports that, and the faults by the nearest schema.
static void fail_some(struct check *check, const struct field_path *at, const struct structural *nearest,
	const struct doc *value, const char *words)
{
	if (!tell(check))
		return;
	fail_whole(check, at, "%s", words);
	check_value(check, nearest, value, at);
}

static void check_some(struct check *check, const struct values *values, const struct doc *value,
	const struct field_path *at)
{
	const struct structural *nearest = NULL;
	size_t fits;

	if (values->any_of.n > 0 && count_fits(check, &values->any_of, value, at, &nearest) == 0 && check->steps > 0)
		fail_some(check, at, nearest, value, "must validate at least one schema (anyOf)");
	if (values->one_of.n == 0)
		return;
	fits = count_fits(check, &values->one_of, value, at, &nearest);
	if (check->steps == 0 || fits == 1)
		return;
	if (fits == 0)
		fail_some(check, at, nearest, value, "must validate one and only one schema (oneOf). Found none valid");
	else if (tell(check))
		fail_whole(check, at, "must validate one and only one schema (oneOf). Found %zu valid alternatives", fits);
}

static void check_combinations(struct check *check, const struct values *values, const struct doc *value,
	const struct field_path *at)
{
	for (size_t i = 0; i < values->all_of.n; i++)
		check_value(check, values->all_of.list[i], value, at);
	check_some(check, values, value, at);
	if (values->not_allowed != NULL && count_faults(check, values->not_allowed, value, at) == 0 && check->steps > 0 &&
		tell(check))
		fail_whole(check, at, "must not validate the schema (not)");
}

// ---- the whole

void check_value(struct check *check, const struct structural *schema, const struct doc *value,
	const struct field_path *at)
{
	// has_type() may read all digits of a number, to tell whether it is an integer.
	if (!spend(check, doc_kind(value) == DOC_NUMBER ? 1 + text_work(value) : 1))
		return;
	if (!has_type(schema, value)) {
		fail_type(check, schema, value, at);
		return;
	}
	check_choices(check, schema->values->choices, value, at);
	switch (doc_kind(value)) {
	case DOC_NULL:
		return; // no other fault of this value is reported
	case DOC_OBJECT:
		check_object(check, schema, value, at);
		break;
	case DOC_ARRAY:
		check_list(check, schema, value, at);
		break;
	case DOC_STRING:
		check_string(check, schema->values, value, at);
		break;
	case DOC_NUMBER:
		check_number(check, schema, value, at);
		break;
	case DOC_BOOL:
		break;
	}
	check_format(check, schema->values, value, at);
	check_combinations(check, schema->values, value, at);
}

void check_finish(struct check *check, const struct field_path *at)
{
	if (check->steps == 0)
		field_fault_add(check->faults, at, FIELD_FORBIDDEN, STR_NONE,
			"the object is too large for a schema that asks so much; make one of them smaller");
}

void structural_validate(const struct structural *schema, const struct doc *object, struct field_faults *faults)
{
	struct check check = { .pool = faults->pool, .faults = faults, .steps = CHECK_STEPS };
	struct field_path root = field_name(NULL, STR(""));

	check_value(&check, schema, object, &root);
	check_finish(&check, &root);
}

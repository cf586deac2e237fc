// SPDX-License-Identifier: Apache-2.0
// Changes objects to what their schema says: pruning and defaults.
#include "base/base.h"

#include "base/budget.h"
#include "repr/json/internal.h"
#include "repr/schema/structural_internal.h"

// ---- pruning

struct pruning {
	struct field_faults *unknown; // NULL: unknown members are removed; else they are reported here and stay
	size_t n;
};

static void prune_value(struct pruning *pruning, const struct structural *schema, const struct field_path *at,
	struct doc *value, bool embedded);

// The schema of a member; NULL: none. *known: the member must not be removed.
static const struct structural *member_schema(const struct structural *schema, struct str name, bool *known)
{
	const struct structural *property = structural_find_property(schema, name);

	*known = property != NULL || (schema->flags & (HAS_ADDITIONAL | PRESERVE_UNKNOWN)) != 0;
	return property != NULL ? property : schema->additional;
}

static void prune_object(struct pruning *pruning, const struct structural *schema, const struct field_path *at,
	struct doc *object, bool embedded)
{
	for (struct doc_iter it = doc_iter(object); doc_next(&it);) {
		const struct field_path here = field_name(at, it.name);
		bool known;
		const struct structural *member = member_schema(schema, it.name, &known);
		if (embedded && structural_is_meta_name(it.name))
			continue;
		if (member != NULL) {
			prune_value(pruning, member, &here, json_own(it.value), false);
		} else if (!known) {
			pruning->n++;
			if (pruning->unknown != NULL)
				field_fault_add(pruning->unknown, &here, FIELD_NOT_SUPPORTED, STR_NONE, "unknown field");
			else
				doc_remove(object, it.name);
		}
	}
}

// Prunes below the value. If the schema says nothing about the value's members, they stay only if it preserves unknown fields.
static void prune_value(struct pruning *pruning, const struct structural *schema, const struct field_path *at,
	struct doc *value, bool embedded)
{
	embedded = embedded || (schema->flags & EMBEDDED) != 0;
	if (doc_kind(value) == DOC_OBJECT)
		prune_object(pruning, schema, at, value, embedded);
	if (doc_kind(value) != DOC_ARRAY)
		return;
	for (size_t i = 0; schema->items != NULL && i < doc_length(value); i++) {
		const struct field_path here = field_index(at, i);
		prune_value(pruning, schema->items, &here, json_own(doc_at(value, i)), false);
	}
}

static size_t prune(const struct structural *schema, struct doc *value, bool embedded)
{
	const struct field_path root = field_name(NULL, STR(""));
	struct pruning pruning = { .unknown = NULL };

	prune_value(&pruning, schema, &root, value, embedded);
	return pruning.n;
}

size_t structural_prune(const struct structural *schema, struct doc *object)
{
	return prune(schema, object, true);
}

size_t structural_prune_member(const struct structural *schema, struct doc *value)
{
	return prune(schema, value, false);
}

void structural_unknown(const struct structural *schema, const struct doc *object, struct field_faults *faults)
{
	const struct field_path root = field_name(NULL, STR(""));
	struct pruning pruning = { .unknown = faults };

	prune_value(&pruning, schema, &root, json_own(object), true);
}

// ---- defaults

struct filling {
	size_t left; // values that may be added
	bool full;
};

static size_t count_values(const struct doc *doc)
{
	size_t n = 1;

	for (size_t i = 0; doc_kind(doc) == DOC_ARRAY && i < doc_length(doc); i++)
		n += count_values(doc_at(doc, i));
	for (struct doc_iter it = doc_iter(doc); doc_next(&it);)
		n += count_values(it.value);
	return n;
}

static bool takes_null(const struct structural *schema)
{
	return (schema->flags & NULLABLE) != 0 || (schema->type == ANY_TYPE && (schema->flags & INT_OR_STRING) == 0);
}

// A copy of the default; NULL: there is no room for it.
static struct doc *take_default(struct pool *pool, struct filling *filling, const struct structural *schema)
{
	size_t n = count_values(schema->fallback);

	if (n > filling->left || budget_is_over()) {
		filling->full = true;
		return NULL;
	}
	filling->left -= n;
	return doc_copy(pool, schema->fallback);
}

static void fill_value(struct filling *filling, const struct structural *schema, struct doc *value);

// Sets a member that is missing, or that is null and must not be, to the default of its schema. Without one a null is removed.
static void fill_member(struct filling *filling, const struct structural *schema, struct doc *object, struct str name)
{
	if (schema->fallback != NULL)
		doc_set(object, name, take_default(object->pool, filling, schema));
	else
		doc_remove(object, name);
}

static void fill_missing(struct filling *filling, const struct structural *schema, struct doc *object)
{
	const struct doc *value;

	for (size_t i = 0; i < schema->n_properties && !filling->full; i++) {
		const struct property *property = &schema->properties[i];
		if (!doc_get(object, property->name, &value) || (value == NULL && !takes_null(property->schema)))
			fill_member(filling, property->schema, object, property->name);
	}
}

static void fill_object(struct filling *filling, const struct structural *schema, struct doc *object)
{
	fill_missing(filling, schema, object);
	for (struct doc_iter it = doc_iter(object); !filling->full && doc_next(&it);) {
		bool known;
		const struct structural *member = member_schema(schema, it.name, &known);
		if (member == NULL)
			continue;
		struct doc *value = json_own(it.value);
		if (value == NULL && !takes_null(member)) { // a member by additionalProperties: fill_missing() has filled the properties
			fill_member(filling, member, object, it.name);
			value = doc_own_member(object, it.name);
		}
		fill_value(filling, member, value);
	}
}

static void fill_list(struct filling *filling, const struct structural *items, struct doc *list)
{
	for (size_t i = 0; i < doc_length(list) && !filling->full; i++) {
		if (doc_at(list, i) == NULL && items->fallback != NULL && !takes_null(items))
			json_replace_element(list, i, take_default(list->pool, filling, items));
		fill_value(filling, items, json_own(doc_at(list, i)));
	}
}

static void fill_value(struct filling *filling, const struct structural *schema, struct doc *value)
{
	if (doc_kind(value) == DOC_OBJECT)
		fill_object(filling, schema, value);
	else if (doc_kind(value) == DOC_ARRAY && schema->items != NULL)
		fill_list(filling, schema->items, value);
}

bool structural_default(const struct structural *schema, struct doc *object, size_t max_nodes)
{
	struct filling filling = { .left = SIZE_MAX };

	if (max_nodes > 0) {
		size_t n = count_values(object);
		filling.left = n < max_nodes ? max_nodes - n : 0;
	}
	fill_value(&filling, schema, object);
	return !filling.full;
}

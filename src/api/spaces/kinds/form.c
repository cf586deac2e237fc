// SPDX-License-Identifier: Apache-2.0
// Checks the form of built-in kinds, sets their defaults, and runs their rules. Members must have the right types, because
// clients with these kinds compiled in can't read an object with a member of another type. Types, defaults and rules stand in the
// file of each type (types/common/parts.h).
#include "base/base.h"

#include "api/spaces/common/spaces.h"
#include "api/spaces/kinds/kinds.h"
#include "base/base64.h"
#include "base/pool.h"
#include "registry/type/type.h"
#include "types/common/messages.h"
#include "types/common/parts.h"

// ---- types of members; before: what is stored in the same place, which is not refused; NULL: nothing

// Returns NULL if the value has the right type, else what it must be.
static const char *wrong_scalar(enum field_type type, const struct doc *value)
{
	enum doc_kind kind = doc_kind(value);
	int64_t number;
	bool integer = kind == DOC_NUMBER && doc_i64(value, &number); // 8080.0 is a number that no Go program reads into an integer

	switch (type) {
	case OF_STRING:
	case OF_STRINGS:
	case OF_STRING_MAP:
		return kind == DOC_STRING ? NULL : "must be a string";
	case OF_TIME:
		return kind == DOC_STRING ? NULL : "must be a time, in a string";
	case OF_BYTES_MAP:
		return kind == DOC_STRING && base64_is_valid(doc_string(value)) ? NULL : "must be a string of base64";
	case OF_QUANTITY_MAP:
		return kind == DOC_STRING || kind == DOC_NUMBER ? NULL :
			"must be a quantity, a number or a string such as \"500m\"";
	case OF_INTEGER:
		return integer ? NULL : "must be an integer";
	case OF_INT_OR_STRING:
		return integer || kind == DOC_STRING ? NULL : "must be an integer or a string";
	case OF_BOOLEAN:
		return kind == DOC_BOOL ? NULL : "must be true or false";
	default:
		return NULL;
	}
}

static void refuse(struct field_faults *faults, const struct field_path *at, const struct doc *value, const struct doc *before,
	const char *must)
{
	if (before == NULL || !doc_equal(value, before))
		field_invalid(faults, at, value, must);
}

static void check_scalar(struct field_faults *faults, enum field_type type, const struct field_path *at,
	const struct doc *value, const struct doc *before)
{
	const char *must = wrong_scalar(type, value);

	if (must != NULL)
		refuse(faults, at, value, before, must);
}

static void check_members(struct field_faults *faults, const struct type_field *fields, const struct field_path *up,
	const struct doc *object, const struct doc *before);

static void check_object(struct field_faults *faults, const struct type_field *fields, const struct field_path *at,
	const struct doc *value, const struct doc *before)
{
	if (doc_kind(value) != DOC_OBJECT)
		refuse(faults, at, value, before, "must be an object");
	else if (fields != NULL)
		check_members(faults, fields, at, value, before);
}

static void check_list(struct field_faults *faults, const struct type_field *field, const struct field_path *at,
	const struct doc *value, const struct doc *before)
{
	if (doc_kind(value) != DOC_ARRAY) {
		refuse(faults, at, value, before, "must be an array");
		return;
	}
	for (size_t i = 0; i < doc_length(value); i++) {
		const struct field_path item = field_index(at, i);
		const struct doc *stored = i < doc_elements(before) ? doc_at(before, i) : NULL;
		if (field->type == OF_OBJECTS)
			check_object(faults, field->inside, &item, doc_at(value, i), stored);
		else
			check_scalar(faults, field->type, &item, doc_at(value, i), stored);
	}
}

static void check_map(struct field_faults *faults, enum field_type type, const struct field_path *at,
	const struct doc *value, const struct doc *before)
{
	const struct doc *stored;

	if (doc_kind(value) != DOC_OBJECT) {
		refuse(faults, at, value, before, "must be an object");
		return;
	}
	for (struct doc_iter it = doc_iter(value); doc_next(&it);) {
		const struct field_path entry = field_key(at, it.name);
		if (it.value != NULL)
			check_scalar(faults, type, &entry, it.value, doc_get(before, it.name, &stored) ? stored : NULL);
	}
}

static void check_members(struct field_faults *faults, const struct type_field *fields, const struct field_path *up,
	const struct doc *object, const struct doc *before)
{
	for (const struct type_field *field = fields; field->name != NULL; field++) {
		const struct field_path at = field_name(up, str_c(field->name));
		const struct doc *value = NULL, *stored = NULL;
		// A member that is null counts as absent.
		if (!doc_get(object, str_c(field->name), &value) || value == NULL)
			continue;
		(void)doc_get(before, str_c(field->name), &stored);
		switch (field->type) {
		case OF_OBJECT:
			check_object(faults, field->inside, &at, value, stored);
			break;
		case OF_OBJECTS:
		case OF_STRINGS:
			check_list(faults, field, &at, value, stored);
			break;
		case OF_STRING_MAP:
		case OF_BYTES_MAP:
		case OF_QUANTITY_MAP:
			check_map(faults, field->type, &at, value, stored);
			break;
		default:
			check_scalar(faults, field->type, &at, value, stored);
		}
	}
}

enum outcome builtin_check_form(const struct change_of_object *change, const struct doc *body, const struct doc *before)
{
	const struct definition *definition = change->target->definition;
	struct field_faults faults = field_faults_new(change->call->pool);
	const struct type_parts *parts = type_parts(definition->type);

	// If a type has rules in the registry, these check its objects in more detail.
	if (definition->type->rules == NULL && parts->fields != NULL)
		check_members(&faults, parts->fields, NULL, body, before);
	// The tables of members end where kubectl needs to know no more; the messages go on.
	if (definition->type->rules == NULL && parts->message != NULL && faults.n == 0)
		message_check(&faults, parts->message, body, before);
	return faults.n == 0 ? OUTCOME_OK : spaces_fail_invalid(change->call, definition, change->target->name, &faults);
}

// ---- null in maps

static void fill_map(struct pool *pool, struct doc *map)
{
	for (struct doc_iter it = doc_iter(map); doc_next(&it);)
		if (it.value == NULL)
			doc_set(map, it.name, doc_new_string(pool, STR("")));
}

// before: what is stored in the same place. A map that is as it is stored stays, since some must not change.
static void fill_maps(struct pool *pool, const struct type_field *fields, struct doc *object, const struct doc *before)
{
	for (const struct type_field *field = fields; field != NULL && field->name != NULL; field++) {
		struct doc *value = doc_own_member(object, str_c(field->name));
		const struct doc *stored = NULL;
		(void)doc_get(before, str_c(field->name), &stored);
		switch (field->type) {
		case OF_STRING_MAP:
		case OF_BYTES_MAP:
			if (!doc_equal(value, stored))
				fill_map(pool, value);
			break;
		case OF_OBJECT:
			fill_maps(pool, field->inside, value, stored);
			break;
		case OF_OBJECTS:
			for (size_t i = 0; i < doc_elements(value); i++)
				fill_maps(pool, field->inside, doc_own_item(value, i), i < doc_elements(stored) ? doc_at(stored, i) : NULL);
			break;
		default:
			break;
		}
	}
}

void builtin_fill_maps(struct pool *pool, const struct definition *definition, struct doc *body, const struct doc *before)
{
	if (definition->type->rules == NULL)
		fill_maps(pool, type_parts(definition->type)->fields, body, before);
}

// ---- defaults

void builtin_set_defaults(struct pool *pool, const struct definition *definition, struct doc *body)
{
	type_preset_fill(pool, type_parts(definition->type)->presets, body);
}

// ---- rules

// Do the bodies differ in nothing but defaults, which objects of other dialects lack?
static bool is_same(struct pool *pool, const struct definition *definition, const struct doc *before, const struct doc *body)
{
	if (doc_equal(before, body))
		return true;
	struct pool *scratch = pool_scratch(pool, doc_json_bound(before));
	struct doc *completed = doc_copy(scratch, before);
	builtin_set_defaults(scratch, definition, completed);
	bool same = doc_equal(completed, body);
	pool_scratch_end(pool, scratch);
	return same;
}

enum outcome builtin_check_rules(const struct change_of_object *change, const struct doc *before, const struct doc *meta,
	const struct doc *body)
{
	const struct definition *definition = change->target->definition;
	const struct type_parts *parts = type_parts(definition->type);
	struct field_faults faults = field_faults_new(change->call->pool);

	if (parts->check == NULL || (before != NULL && is_same(change->call->pool, definition, before, body)))
		return OUTCOME_OK;
	parts->check(&faults, before, meta, body);
	return faults.n == 0 ? OUTCOME_OK : spaces_fail_invalid(change->call, definition, change->target->name, &faults);
}

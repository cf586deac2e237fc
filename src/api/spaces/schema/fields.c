// SPDX-License-Identifier: Apache-2.0
// Finds members that an object's type does not have, and parts of a definition that have no effect here, and treats them as
// fieldValidation says.
#include "base/base.h"

#include "api/spaces/common/spaces.h"
#include "api/spaces/schema/fields.h"
#include "base/pool.h"
#include "http/uri.h"
#include "registry/type/type.h"
#include "repr/json/jsonpath.h"
#include "repr/schema/structural.h"
#include "types/common/parts.h"

enum { WARNINGS_MAX = 8 };

enum validation { VALIDATION_WARN, VALIDATION_IGNORE, VALIDATION_STRICT };

static enum outcome read_validation(struct call *call, enum validation *validation)
{
	static const char *const supported[] = { "Ignore", "Strict", "Warn", NULL };
	static const enum validation values[] = { VALIDATION_IGNORE, VALIDATION_STRICT, VALIDATION_WARN };
	const struct field_path at = field_name(NULL, STR("fieldValidation"));
	struct field_faults faults = field_faults_new(call->pool);
	struct str text;

	*validation = VALIDATION_WARN;
	if (!uri_query(&call->request.uri, STR("fieldValidation"), &text) || text.n == 0)
		return OUTCOME_OK;
	for (size_t i = 0; supported[i] != NULL; i++) {
		if (str_eq_c(text, supported[i])) {
			*validation = values[i];
			return OUTCOME_OK;
		}
	}
	field_not_supported(&faults, &at, text, supported);
	return spaces_fail_invalid(call, NULL, STR(""), &faults);
}

// ---- built-in kinds

static const struct type_field *find_field(const struct type_field *fields, struct str name)
{
	for (; fields->name != NULL; fields++)
		if (str_eq_c(name, fields->name))
			return fields;
	return NULL;
}

static bool is_root_name(struct str name)
{
	return str_eq(name, STR("apiVersion")) || str_eq(name, STR("kind")) || str_eq(name, STR("metadata"));
}

// Adds the members of object that are not among the fields, at any depth. root: object is a whole one.
static void add_unknown(const struct type_field *fields, const struct doc *object, const struct field_path *at,
	bool root, struct field_faults *unknown)
{
	for (struct doc_iter it = doc_iter(object); doc_next(&it);) {
		const struct field_path here = field_name(at, it.name);
		const struct type_field *field = find_field(fields, it.name);
		if (root && is_root_name(it.name))
			continue;
		if (field == NULL)
			field_fault_add(unknown, &here, FIELD_NOT_SUPPORTED, STR_NONE, "unknown field");
		else if (field->inside != NULL && field->type == OF_OBJECT)
			add_unknown(field->inside, it.value, &here, false, unknown);
		for (size_t i = 0; field != NULL && field->inside != NULL && i < doc_length(it.value) &&
			field->type == OF_OBJECTS && doc_kind(it.value) == DOC_ARRAY; i++) {
			const struct field_path element = field_index(&here, i);
			add_unknown(field->inside, doc_at(it.value, i), &element, false, unknown);
		}
	}
}

// ---- built-in and custom kinds

static void find_unknown(struct call *call, const struct target *target, const struct doc *object, struct field_faults *unknown)
{
	const struct structural *schema = definition_details(call->registry, target->definition, target->version)->structural;
	const struct field_path root = field_name(NULL, STR("")), of_metadata = field_name(NULL, STR("metadata"));
	const struct type_parts *parts = type_parts(target->definition->type);
	const struct doc *metadata;

	if (doc_get(object, STR("metadata"), &metadata))
		add_unknown(metadata_fields, metadata, &of_metadata, false, unknown);
	if (schema != NULL && target->version->prunes)
		structural_unknown(schema, object, unknown);
	else if (parts->fields != NULL)
		add_unknown(parts->fields, object, &root, true, unknown);
}

// Finds validation rules (in CEL, the Common Expression Language) at any depth of a schema.
static void find_rules(const struct doc *value, const struct field_path *at, struct field_faults *idle)
{
	for (struct doc_iter it = doc_iter(value); doc_next(&it);) {
		const struct field_path here = field_name(at, it.name);
		if (str_eq(it.name, STR("x-kubernetes-validations")) && doc_length(it.value) > 0)
			field_fault_add(idle, &here, FIELD_NOT_SUPPORTED, STR_NONE, "rules are not looked at");
		else
			find_rules(it.value, &here, idle);
	}
	for (size_t i = 0; doc_kind(value) == DOC_ARRAY && i < doc_length(value); i++) {
		const struct field_path element = field_index(at, i);
		find_rules(doc_at(value, i), &element, idle);
	}
}

// Adds to idle the paths of printer columns that can't be read: such columns have no values. from: a version of a definition; or
// its spec, which in v1beta1 has columns for all versions.
static void find_columns(struct pool *pool, const struct doc *from, const struct field_path *at, struct field_faults *idle)
{
	static const struct str names[] = { STR_INIT("jsonPath"), STR_INIT("JSONPath") }; // of v1 and of v1beta1
	const struct field_path of_columns = field_name(at, STR("additionalPrinterColumns"));
	const struct doc *columns, *text;
	const struct jsonpath *path;
	struct str error;

	for (size_t i = 0; doc_get(from, STR("additionalPrinterColumns"), &columns) && i < doc_elements(columns); i++) {
		const struct field_path column = field_index(&of_columns, i);
		for (size_t k = 0; k < COUNT_OF(names); k++) {
			const struct field_path here = field_name(&column, names[k]);
			if (doc_get(doc_at(columns, i), names[k], &text) && doc_kind(text) == DOC_STRING &&
				!jsonpath_parse(pool, doc_string(text), &path, &error))
				field_fault_add(idle, &here, FIELD_NOT_SUPPORTED, STR_NONE, "the path can't be read");
		}
	}
}

// Adds to idle what each version of a definition has that is only stored here: selectableFields, and columns that can't be read.
static void find_in_versions(struct pool *pool, const struct doc *spec, const struct field_path *at, struct field_faults *idle)
{
	const struct field_path of_versions = field_name(at, STR("versions"));
	const struct doc *versions, *fields;

	for (size_t i = 0; doc_get(spec, STR("versions"), &versions) && i < doc_elements(versions); i++) {
		const struct field_path version = field_index(&of_versions, i);
		const struct field_path here = field_name(&version, STR("selectableFields"));
		if (doc_get(doc_at(versions, i), STR("selectableFields"), &fields) && doc_length(fields) > 0)
			field_fault_add(idle, &here, FIELD_NOT_SUPPORTED, STR_NONE, "fields cannot be selected by");
		find_columns(pool, doc_at(versions, i), &version, idle);
	}
}

// Finds parts of a definition that Kubernetes clusters act upon, and that this server only stores.
static void find_without_effect(struct call *call, const struct target *target, const struct doc *object, struct field_faults *idle)
{
	const struct field_path at = field_name(NULL, STR("spec"));
	const struct doc *spec;

	if (!definition_has_identity(target->definition, "apiextensions.k8s.io", "customresourcedefinitions") ||
		!doc_get(object, STR("spec"), &spec))
		return;
	find_columns(call->pool, spec, &at, idle);
	find_in_versions(call->pool, spec, &at, idle);
	find_rules(spec, &at, idle);
}

// Adds a Warning header for each field, with the texts before and behind around its path.
static void add_warnings(struct call *call, const struct field_faults *found, const char *before, const char *behind)
{
	size_t n = field_faults_listed(found);

	for (size_t i = 0; i < n && i < WARNINGS_MAX; i++) {
		struct buf text = buf_new(call->pool, 64), quoted = buf_new(call->pool, 64);
		buf_addf(&text, "%s\"%.*s\"%s", before, STR_HEAD_ARG(found->list[i].field, 200), behind);
		if (i + 1 == WARNINGS_MAX && found->n > WARNINGS_MAX)
			buf_addf(&text, ", and %zu more", found->n - WARNINGS_MAX);
		json_add_string(&quoted, buf_str(&text));
		response_add(&call->response, "Warning", str_printf(call->pool, "299 - %.*s", STR_ARG(quoted)));
	}
}

// The faults in found without those in old, which the stored object had already.
static struct field_faults only_new(struct pool *pool, const struct field_faults *found, const struct field_faults *old)
{
	struct field_faults fresh = { pool, POOL_ARRAY(pool, struct field_fault, field_faults_listed(found)), 0 };

	for (size_t i = 0; i < field_faults_listed(found); i++) {
		size_t j = 0;
		while (j < field_faults_listed(old) && !str_eq(old->list[j].field, found->list[i].field))
			j++;
		if (j == field_faults_listed(old))
			fresh.list[fresh.n++] = found->list[i];
	}
	return fresh;
}

// Adds to found the fields of object that are to be reported.
typedef void find_function(struct call *call, const struct target *target, const struct doc *object, struct field_faults *found);

// The fields that find() reports of object, without those that it also reports of current.
static struct field_faults find_new(struct call *call, find_function *find, const struct target *target,
	const struct doc *object, const struct doc *current)
{
	struct field_faults found = field_faults_new(call->pool), old = field_faults_new(call->pool);

	find(call, target, object, &found);
	if (found.n == 0 || current == NULL)
		return found;
	find(call, target, current, &old);
	return only_new(call->pool, &found, &old);
}

static enum outcome refuse_unknown(struct call *call, const struct target *target, const struct field_faults *unknown)
{
	struct buf list = buf_new(call->pool, 64);

	for (size_t i = 0; i < field_faults_listed(unknown); i++)
		buf_addf(&list, "%sunknown field \"%.*s\"", i > 0 ? ", " : "", STR_ARG(unknown->list[i].field));
	return call_fail(call, OUTCOME_BAD_REQUEST,
		"%.*s in version \"%.*s\" cannot be handled as a %.*s: strict decoding error: %.*s",
		STR_ARG(target->definition->kind), STR_ARG(target->version->name), STR_ARG(target->definition->kind),
		STR_ARG(list));
}

enum outcome fields_check(struct call *call, const struct target *target, const struct doc *object,
	const struct doc *current)
{
	enum validation validation;
	enum outcome outcome = read_validation(call, &validation);

	if (outcome != OUTCOME_OK || validation == VALIDATION_IGNORE || target->part == PART_SCALE)
		return outcome;
	const struct field_faults unknown = find_new(call, find_unknown, target, object, current);
	if (unknown.n > 0 && validation == VALIDATION_STRICT)
		return refuse_unknown(call, target, &unknown);
	const struct field_faults idle = find_new(call, find_without_effect, target, object, current);
	add_warnings(call, &unknown, "unknown field ", "");
	add_warnings(call, &idle, "", " is kept and not acted upon");
	return OUTCOME_OK;
}

// SPDX-License-Identifier: Apache-2.0
// Checks the parts of a version of a CustomResourceDefinition beside its schema: printer columns, subresources, deprecation. The
// texts of faults are those of the Kubernetes API server.
#include "base/base.h"

#include "registry/type/definition_internal.h"
#include "repr/json/member.h"

enum { WARNING_MAX = 256 };

struct str definition_check_text(const struct doc *object, const struct field_path *up, const char *name, enum presence presence,
	struct field_faults *faults)
{
	const struct field_path at = field_name(up, str_c(name));
	const struct doc *value = doc_member(object, name);

	if (value != NULL && doc_kind(value) != DOC_STRING)
		field_invalid(faults, &at, value, "must be a string");
	else if (presence == REQUIRED && doc_string(value).n == 0)
		field_required(faults, &at, "");
	return doc_string(value);
}

static bool has_control_character(struct str text)
{
	for (size_t i = 0; i < text.n; i++)
		if ((unsigned char)text.p[i] < ' ' || text.p[i] == 0x7f)
			return true;
	return false;
}

static bool is_one_of(struct str text, const char *const *list)
{
	for (size_t i = 0; list[i] != NULL; i++)
		if (str_eq_c(text, list[i]))
			return true;
	return false;
}

// ---- columns

static void check_column(const struct doc *column, const struct field_path *at, struct field_faults *faults)
{
	static const char *const types[] = { "boolean", "date", "integer", "number", "string", NULL };
	static const char *const formats[] = { "byte", "date", "date-time", "double", "float", "int32", "int64", "password",
		NULL };
	const struct field_path type_at = field_name(at, STR("type")), format_at = field_name(at, STR("format"));
	const struct field_path path_at = field_name(at, STR("jsonPath")), priority_at = field_name(at, STR("priority"));
	const struct doc *priority = doc_member(column, "priority");
	int64_t n;

	if (doc_kind(column) != DOC_OBJECT) {
		field_invalid(faults, at, column, "must be an object");
		return;
	}
	(void)definition_check_text(column, at, "name", REQUIRED, faults);
	(void)definition_check_text(column, at, "description", OPTIONAL, faults);
	struct str type = definition_check_text(column, at, "type", REQUIRED, faults);
	struct str format = definition_check_text(column, at, "format", OPTIONAL, faults);
	struct str path = definition_check_text(column, at, "jsonPath", REQUIRED, faults);
	if (type.n > 0 && !is_one_of(type, types))
		field_not_supported(faults, &type_at, type, types);
	if (format.n > 0 && !is_one_of(format, formats))
		field_not_supported(faults, &format_at, format, formats);
	if (path.n > 0 && path.p[0] != '.')
		field_invalid_text(faults, &path_at, path, "must be a simple json path starting with .");
	if (priority != NULL && !doc_i64(priority, &n))
		field_invalid(faults, &priority_at, priority, "must be an integer");
}

static void check_columns(const struct doc *version, const struct field_path *up, struct field_faults *faults)
{
	const struct field_path at = field_name(up, STR("additionalPrinterColumns"));
	const struct doc *columns = doc_member(version, "additionalPrinterColumns");

	if (columns == NULL)
		return;
	if (doc_kind(columns) != DOC_ARRAY) {
		field_invalid(faults, &at, columns, "must be an array");
		return;
	}
	for (size_t i = 0; i < doc_length(columns); i++) {
		const struct field_path item = field_index(&at, i);
		check_column(doc_at(columns, i), &item, faults);
	}
}

// ---- subresources

static void check_path(const struct doc *scale, const struct field_path *up, const char *name, const char *below,
	enum presence presence, struct field_faults *faults)
{
	const struct field_path at = field_name(up, str_c(name));
	struct str path = definition_check_text(scale, up, name, presence, faults);
	bool spec = str_starts(path, STR(".spec.")), status = str_starts(path, STR(".status."));

	if (path.n == 0)
		return;
	if (has_control_character(path))
		field_invalid_text(faults, &at, path, "must only contain printable characters");
	else if (strcmp(below, ".spec") == 0 && !spec)
		field_invalid_text(faults, &at, path, "should be a json path under .spec");
	else if (strcmp(below, ".status") == 0 && !status)
		field_invalid_text(faults, &at, path, "should be a json path under .status");
	else if (!spec && !status)
		field_invalid_text(faults, &at, path, "should be a json path under either .spec or .status");
}

static void check_subresources(const struct doc *version, const struct field_path *up, struct field_faults *faults)
{
	const struct field_path at = field_name(up, STR("subresources"));
	const struct field_path status_at = field_name(&at, STR("status")), scale_at = field_name(&at, STR("scale"));
	const struct doc *parts = doc_member(version, "subresources"), *status = doc_member(parts, "status");
	const struct doc *scale = doc_member(parts, "scale");

	if (parts == NULL)
		return;
	if (doc_kind(parts) != DOC_OBJECT) {
		field_invalid(faults, &at, parts, "must be an object");
		return;
	}
	if (status != NULL && doc_kind(status) != DOC_OBJECT)
		field_invalid(faults, &status_at, status, "must be an object");
	if (scale != NULL && doc_kind(scale) != DOC_OBJECT)
		field_invalid(faults, &scale_at, scale, "must be an object");
	if (doc_kind(scale) != DOC_OBJECT)
		return;
	check_path(scale, &scale_at, "specReplicasPath", ".spec", REQUIRED, faults);
	check_path(scale, &scale_at, "statusReplicasPath", ".status", REQUIRED, faults);
	check_path(scale, &scale_at, "labelSelectorPath", "", OPTIONAL, faults);
}

// ---- a deprecation

static void check_deprecation(const struct doc *version, const struct field_path *up, struct field_faults *faults)
{
	const struct field_path flag_at = field_name(up, STR("deprecated"));
	const struct field_path at = field_name(up, STR("deprecationWarning"));
	const struct doc *flag = doc_member(version, "deprecated");
	struct str warning = definition_check_text(version, up, "deprecationWarning", OPTIONAL, faults);

	if (flag != NULL && doc_kind(flag) != DOC_BOOL)
		field_invalid(faults, &flag_at, flag, "must be true or false");
	if (warning.n == 0)
		return;
	if (doc_kind(flag) != DOC_BOOL || !doc_bool(flag))
		field_invalid_text(faults, &at, warning, "can only be set for deprecated versions");
	if (warning.n > WARNING_MAX)
		field_fault_add(faults, &at, FIELD_TOO_LONG, STR_NONE, "may not be longer than %d", WARNING_MAX);
	if (has_control_character(warning))
		field_invalid_text(faults, &at, warning, "must only contain printable characters");
}

void definition_check_parts(const struct doc *version, const struct field_path *at, struct field_faults *faults)
{
	check_columns(version, at, faults);
	check_subresources(version, at, faults);
	check_deprecation(version, at, faults);
}

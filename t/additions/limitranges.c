// SPDX-License-Identifier: Apache-2.0
// A built-in type that Tenure does not have: t/747-spaces-new-type.t adds it to a build by this file and the row beside it.
#include "base/base.h"

#include "types/common/checks.h"
#include "types/common/messages.h"
#include "types/common/parts.h"

static const struct type_field item_fields[] = {
	MEMBER_MUST("type", OF_STRING, NULL, "What is limited."), MEMBER_QUANTITIES("max", "The most."),
	MEMBER_QUANTITIES("min", "The least."), MEMBER_QUANTITIES("default", "The limit of what names none."),
	MEMBER_QUANTITIES("defaultRequest", "The request of what names none."), MEMBER_QUANTITIES("maxLimitRequestRatio", ""),
	MEMBER_END
};
static const struct type_field spec_fields[] = { MEMBER_OBJECTS("limits", item_fields, "The limits."), MEMBER_END };
static const struct type_field limit_range_fields[] = { MEMBER_OBJECT("spec", spec_fields, "What is limited."), MEMBER_END };

static const struct type_preset presets[] = {
	{ { "spec", "limits", "type" }, "Container" },
	{ .value = NULL }
};

static const struct type_column columns[] = {
	COLUMN_TEXT("Created At", ".metadata.creationTimestamp", "When it was created."),
	COLUMN("Limits", "integer", 0, cell_of_count, ".spec.limits", "How many limits it has."), COLUMN_END
};

PB_MESSAGE(limit_range_item,
	PB_TEXT(1, "type"), PB_MAP_OF(2, "max", quantity), PB_MAP_OF(3, "min", quantity), PB_MAP_OF(4, "default", quantity),
	PB_MAP_OF(5, "defaultRequest", quantity), PB_MAP_OF(6, "maxLimitRequestRatio", quantity));
PB_MESSAGE(limit_range_spec, PB_LIST(1, "limits", limit_range_item));
PB_MESSAGE(limit_range, PB_OBJECT(1, "metadata", object_meta), PB_OBJECT(2, "spec", limit_range_spec));

static const char *const selectable[] = { "spec.scope", NULL };

static void check_limits(struct field_faults *faults, const struct doc *before, const struct doc *meta, const struct doc *body)
{
	static const char *const types[] = { "Container", "PersistentVolumeClaim", "Pod", NULL };
	const struct field_path spec = field_name(NULL, STR("spec")), limits = field_name(&spec, STR("limits"));
	const struct doc *list = check_object_member(check_object_member(body, "spec"), "limits");

	UNUSED(before), UNUSED(meta);
	for (size_t i = 0; i < doc_length(list); i++) {
		const struct field_path at = field_index(&limits, i);
		check_one_of(faults, &at, doc_at(list, i), "type", types);
	}
}

static void check_limits_kept(struct field_faults *faults, const struct doc *before, const struct doc *after)
{
	const struct field_path spec = field_name(NULL, STR("spec")), at = field_name(&spec, STR("scope"));
	struct str old = check_object_text(check_object_member(before, "spec"), "scope");

	if (!str_eq(old, check_object_text(check_object_member(after, "spec"), "scope")))
		field_forbidden(faults, &at, "is kept");
}

const struct type_parts limitranges_parts = {
	.description = "A limit range says how much the objects of a namespace may take.",
	.fields = limit_range_fields,
	.presets = presets,
	.merge = plain_merge,
	.columns = columns,
	.message = &proto_limit_range,
	.selectable = selectable,
	.check = check_limits,
	.check_kept = check_limits_kept,
};

// SPDX-License-Identifier: Apache-2.0
// Config maps: configuration data of programs.
#include "base/base.h"

#include "base/base64.h"
#include "types/common/checks.h"
#include "types/common/messages.h"
#include "types/common/parts.h"

static const struct type_field config_map_fields[] = {
	MEMBER_MAP("data", "Texts by their keys."), MEMBER_BYTES("binaryData", "Bytes by their keys, in base64."),
	MEMBER_BOOLEAN("immutable", "Whether the data must stay as they are."), MEMBER_END
};

static const struct type_column of_config_maps[] = {
	COLUMN("Data", "string", 0, cell_of_data, "", "How many keys it has."), COLUMN_AGE, COLUMN_END
};

PB_MESSAGE(config_map,
	PB_OBJECT(1, "metadata", object_meta), PB_MAP_OF_TEXTS(2, "data"), PB_MAP_OF_BYTES(3, "binaryData"),
	PB_BOOL_ZERO(4, "immutable"));

// ---- rules

static void check_config_map(struct field_faults *faults, const struct doc *before, const struct doc *meta,
	const struct doc *body)
{
	const struct field_path of_data = field_name(NULL, STR("data")), of_binary = field_name(NULL, STR("binaryData"));
	const struct field_path whole = field_key(NULL, STR(""));
	const struct doc *data = check_object_member(body, "data"), *binary = check_object_member(body, "binaryData"), *other;
	size_t bytes = 0;

	UNUSED(before), UNUSED(meta);
	for (struct doc_iter it = doc_iter(data); doc_next(&it);) {
		const struct field_path at = field_key(&of_data, it.name);
		check_data_key(faults, &of_data, it.name);
		if (binary != NULL && doc_get(binary, it.name, &other))
			field_invalid_text(faults, &at, it.name, "duplicate of key present in binaryData");
		bytes += doc_kind(it.value) == DOC_STRING ? doc_string(it.value).n : 0;
	}
	for (struct doc_iter it = doc_iter(binary); doc_next(&it);) {
		check_data_key(faults, &of_binary, it.name);
		bytes += doc_kind(it.value) == DOC_STRING ? base64_size(doc_string(it.value)) : 0;
	}
	check_data_size(faults, &whole, bytes);
}

static void check_config_map_kept(struct field_faults *faults, const struct doc *before, const struct doc *after)
{
	static const char *const members[] = { "data", "binaryData", NULL };

	check_data_kept(faults, before, after, members);
}

const struct type_parts configmaps_parts = {
	.description = "A config map holds configuration.",
	.fields = config_map_fields,
	.merge = plain_merge,
	.columns = of_config_maps,
	.message = &proto_config_map,
	.check = check_config_map,
	.kept_if = STR_INIT("\"immutable\""),
	.check_kept = check_config_map_kept,
};

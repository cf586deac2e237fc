// SPDX-License-Identifier: Apache-2.0
// Persistent volumes: storage for a tenant's space.
#include "base/base.h"

#include "base/pool.h"
#include "types/common/checks.h"
#include "types/common/messages.h"
#include "types/common/parts.h"
#include "types/common/pod_template.h"

static const struct type_field persistent_volume_spec_fields[] = {
	MEMBER_TEXTS("accessModes", "The ways in which it can be mounted."), MEMBER_QUANTITIES("capacity", "How much it holds."),
	MEMBER_OBJECT("claimRef", object_reference_fields, "The claim that it is bound to."), MEMBER_ANY("local"),
	MEMBER_TEXTS("mountOptions", ""), MEMBER_ANY("nodeAffinity"),
	MEMBER_TEXT("persistentVolumeReclaimPolicy", "Retain, Recycle or Delete."),
	MEMBER_TEXT("storageClassName", "The class it belongs to."), MEMBER_TEXT("volumeAttributesClassName", ""),
	MEMBER_TEXT("volumeMode", "Filesystem or Block."), MEMBERS_VOLUME_SOURCES, MEMBER_END
};
static const struct type_field persistent_volume_status_fields[] = {
	MEMBER_TIME("lastPhaseTransitionTime", ""), MEMBER_TEXT("message", "Why it is in this state."),
	MEMBER_TEXT("phase", "Available, Bound, Released or Failed."), MEMBER_TEXT("reason", "Why, in a word."), MEMBER_END
};
static const struct type_field persistent_volume_fields[] = {
	MEMBER_OBJECT("spec", persistent_volume_spec_fields, "What the volume is to be."),
	MEMBER_OBJECT("status", persistent_volume_status_fields, "What it is."), MEMBER_END
};

// ---- columns

static void cell_of_access_modes(struct type_row *row, const struct type_column *column)
{
	static const struct { const char *mode, *shown; } modes[] = {
		{ "ReadWriteOnce", "RWO" }, { "ReadOnlyMany", "ROX" }, { "ReadWriteMany", "RWX" }, { "ReadWriteOncePod", "RWOP" },
	};
	const struct doc *list = column_value(row, column);
	struct buf text = buf_new(row->pool, 32);

	for (size_t i = 0; i < COUNT_OF(modes); i++) {
		for (size_t j = 0; j < doc_length(list); j++) {
			if (!str_eq_c(doc_string(doc_at(list, j)), modes[i].mode))
				continue;
			buf_addf(&text, "%s%s", text.n > 0 ? "," : "", modes[i].shown);
			break;
		}
	}
	column_add_text(row, text.n > 0 ? buf_str(&text) : STR(""));
}

static void cell_of_claim(struct type_row *row, const struct type_column *column)
{
	const struct doc *claim = column_value(row, column);
	struct str namespace = check_object_text(claim, "namespace"), name = check_object_text(claim, "name");

	column_add_text(row, doc_kind(claim) != DOC_OBJECT ? STR("")
		: str_printf(row->pool, "%.*s/%.*s", STR_ARG(namespace), STR_ARG(name)));
}

static const struct type_column of_volumes[] = {
	COLUMN_TEXT("Capacity", ".spec.capacity.storage", "How much it holds."),
	COLUMN("Access Modes", "string", 0, cell_of_access_modes, ".spec.accessModes", "The ways in which it can be mounted."),
	COLUMN_TEXT("Reclaim Policy", ".spec.persistentVolumeReclaimPolicy", "What happens to it when its claim is gone."),
	COLUMN("Status", "string", 0, cell_of_phase, ".status.phase", "Whether it is available, bound or released."),
	COLUMN("Claim", "string", 0, cell_of_claim, ".spec.claimRef", "The claim that it is bound to."),
	COLUMN_TEXT("StorageClass", ".spec.storageClassName", "The class it belongs to."),
	COLUMN_TEXT("Reason", ".status.reason", "Why it is in this state."), COLUMN_AGE,
	COLUMN_WIDE_TEXT("VolumeMode", ".spec.volumeMode", "Whether it is a file system or a block device."), COLUMN_TENANT,
	COLUMN_END
};

// ---- protobuf, and defaults

PB_MESSAGE(persistent_volume_status,
	PB_TEXT(1, "phase"), PB_TEXT(2, "message"), PB_TEXT(3, "reason"), PB_OBJECT(4, "lastPhaseTransitionTime", time));
PB_MESSAGE(persistent_volume,
	PB_OBJECT(1, "metadata", object_meta), PB_OBJECT(2, "spec", persistent_volume_spec),
	PB_OBJECT(3, "status", persistent_volume_status));

static const struct type_preset presets[] = {
	{ { "spec", "persistentVolumeReclaimPolicy" }, "Retain" },
	{ { "spec", "volumeMode" }, "Filesystem" },
	{ .value = NULL }
};

// ---- rules

static const struct type_field volume_sources[] = { MEMBER_ANY("local"), MEMBERS_VOLUME_SOURCES, MEMBER_END };

static bool is_source(struct str name)
{
	for (const struct type_field *source = volume_sources; source->name != NULL; source++) {
		if (str_eq_c(name, source->name))
			return true;
	}
	return false;
}

static void check_sources(struct field_faults *faults, const struct field_path *up, const struct doc *spec)
{
	size_t n = 0;

	for (struct doc_iter it = doc_iter(spec); doc_next(&it);) {
		const struct field_path at = field_name(up, it.name);
		if (it.value == NULL || !is_source(it.name))
			continue;
		if (n++ > 0)
			field_forbidden(faults, &at, "may not specify more than 1 volume type");
		else if (str_eq(it.name, STR("hostPath")) || str_eq(it.name, STR("local")))
			check_required(faults, &at, it.value, "path");
		else if (str_eq(it.name, STR("nfs")))
			check_required(faults, &at, it.value, "server"), check_required(faults, &at, it.value, "path");
		else if (str_eq(it.name, STR("csi")))
			check_required(faults, &at, it.value, "driver"), check_required(faults, &at, it.value, "volumeHandle");
	}
	if (n == 0)
		field_required(faults, up, "must specify a volume type");
}

static void check_capacity(struct field_faults *faults, const struct field_path *up, const struct doc *spec)
{
	static const char *const storage[] = { "storage", NULL };
	const struct field_path at = field_name(up, STR("capacity"));
	const struct doc *capacity = check_object_member(spec, "capacity");
	long double number;

	check_required(faults, up, spec, "capacity");
	for (struct doc_iter it = doc_iter(capacity); doc_next(&it);) {
		const struct field_path item = field_key(&at, it.name);
		if (!str_eq(it.name, STR("storage")))
			field_not_supported(faults, &at, it.name, storage);
		if (check_quantity(faults, &item, it.value, &number) && number <= 0)
			field_invalid(faults, &item, it.value, "must be greater than zero");
	}
}

// A source that is there stays as it is.
static void check_source_kept(struct field_faults *faults, const struct field_path *up, const struct doc *old, const struct doc *spec)
{
	const struct field_path at = field_name(up, STR("persistentvolumesource"));
	const struct protobuf_message *message = &proto_persistent_volume_spec;
	struct pool *pool = faults->pool;

	for (const struct type_field *source = volume_sources; source->name != NULL; source++) {
		const struct doc *before = check_object_member(old, source->name), *now = check_object_member(spec, source->name);
		struct str name = str_c(source->name);
		if (before == NULL || doc_equal_by_value(now, before) ||
			doc_equal_by_value(message_normal_member(pool, message, name, now), message_normal_member(pool, message, name, before)))
			continue;
		field_forbidden(faults, &at, "spec.persistentvolumesource is immutable after creation");
		break;
	}
}

static void check_volume(struct field_faults *faults, const struct doc *before, const struct doc *meta, const struct doc *body)
{
	static const char *const modes[] = { "ReadOnlyMany", "ReadWriteMany", "ReadWriteOnce", "ReadWriteOncePod", NULL };
	static const char *const policies[] = { "Delete", "Recycle", "Retain", NULL };
	static const char *const volume_modes[] = { "Block", "Filesystem", NULL };
	const struct field_path at = field_name(NULL, STR("spec")), of_modes = field_name(&at, STR("accessModes"));
	const struct field_path of_class = field_name(&at, STR("storageClassName")), of_nodes = field_name(&at, STR("nodeAffinity"));
	const struct doc *spec = check_object_member(body, "spec"), *list = check_object_member(spec, "accessModes");
	struct str class = check_object_text(spec, "storageClassName");

	UNUSED(before), UNUSED(meta);
	check_required(faults, &at, spec, "accessModes");
	for (size_t i = 0; i < doc_length(list); i++) {
		const struct field_path item = field_index(&of_modes, i);
		struct str mode = doc_string(doc_at(list, i));
		bool known = false;
		for (size_t k = 0; modes[k] != NULL; k++)
			known = known || str_eq_c(mode, modes[k]);
		if (!known)
			field_not_supported(faults, &item, mode, modes);
		else if (str_eq(mode, STR("ReadWriteOncePod")) && doc_length(list) > 1)
			field_forbidden(faults, &of_modes, "may not use ReadWriteOncePod with other access modes");
	}
	check_capacity(faults, &at, spec);
	check_sources(faults, &at, spec);
	check_one_of(faults, &at, spec, "persistentVolumeReclaimPolicy", policies);
	check_one_of(faults, &at, spec, "volumeMode", volume_modes);
	if (class.n > 0)
		check_dns_subdomain(class, &of_class, faults);
	if (check_object_member(spec, "local") != NULL && check_object_member(spec, "nodeAffinity") == NULL)
		field_required(faults, &of_nodes, "Local volume requires node affinity");
}

// A volume without a source, which another dialect may have stored, may get one.
static void check_volume_kept(struct field_faults *faults, const struct doc *before, const struct doc *after)
{
	const struct field_path at = field_name(NULL, STR("spec")), of_mode = field_name(&at, STR("volumeMode"));
	const struct doc *old = check_object_member(before, "spec"), *spec = check_object_member(after, "spec");
	struct str had = check_object_text(old, "volumeMode"), has = check_object_text(spec, "volumeMode");

	if (had.n > 0 && !str_eq(had, has))
		field_invalid_text(faults, &of_mode, has, "field is immutable");
	check_source_kept(faults, &at, old, spec);
}

const struct type_parts persistentvolumes_parts = {
	.description = "A persistent volume is storage of a tenant's space.",
	.fields = persistent_volume_fields,
	.presets = presets,
	.first_phase = "Pending",
	.merge = plain_merge,
	.columns = of_volumes,
	.message = &proto_persistent_volume,
	.check = check_volume,
	.check_kept = check_volume_kept,
};

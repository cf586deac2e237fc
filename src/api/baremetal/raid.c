// SPDX-License-Identifier: Apache-2.0
// RAID configurations that nodes are to get. Storing one needs no hardware: Ironic's drivers read it later, when a node is
// cleaned or deployed.
#include "base/base.h"

#include "api/baremetal/common/baremetal.h"
#include "api/patch.h"
#include "base/pool.h"
#include "registry/baremetal/provision.h"
#include "repr/json/member.h"

// What the value of a property has to be.
enum form {
	FORM_TEXT,
	FORM_WORD,  // one of the property's words
	FORM_FLAG,
	FORM_COUNT, // a whole number, 1 or more
	FORM_SIZE,  // a whole number, 0 or more, or "MAX"
	FORM_DISKS, // an array of names, or of two or more objects that describe disks
};

static const char *const levels[] = { "JBOD", "0", "1", "2", "5", "6", "1+0", "5+0", "6+0", NULL };
static const char *const disk_types[] = { "hdd", "ssd", NULL };
static const char *const interface_types[] = { "sata", "scsi", "sas", NULL };

// The properties of a logical disk, with the texts that Ironic has for them.
static const struct disk_property {
	const char *name;
	enum form form;
	const char *const *words;
	const char *text;
} properties[] = {
	{ "raid_level", FORM_WORD, levels,
	  "RAID level for the logical disk. Valid values are 'JBOD', '0', '1', '2', '5', '6', '1+0', '5+0' and '6+0'. Required." },
	{ "size_gb", FORM_SIZE, NULL,
	  "Size in GiB (Integer) for the logical disk. Use 'MAX' as size_gb if this logical disk is supposed to use the rest of the "
	  "space available. Required." },
	{ "volume_name", FORM_TEXT, NULL,
	  "Name of the volume to be created. If this is not specified, it will be auto-generated. Optional." },
	{ "is_root_volume", FORM_FLAG, NULL,
	  "Specifies whether this disk is a root volume. By default, this is False. Optional." },
	{ "share_physical_disks", FORM_FLAG, NULL,
	  "Specifies whether other logical disks can share physical disks with this logical disk. By default, this is False. Optional." },
	{ "disk_type", FORM_WORD, disk_types,
	  "The type of disk preferred. Valid values are 'hdd' and 'ssd'. If this is not specified, disk type will not be a selection "
	  "criterion for choosing backing physical disks. Optional." },
	{ "interface_type", FORM_WORD, interface_types,
	  "The interface type of disk. Valid values are 'sata', 'scsi' and 'sas'. If this is not specified, interface type will not be a "
	  "selection criterion for choosing backing physical disks. Optional." },
	{ "number_of_physical_disks", FORM_COUNT, NULL,
	  "Number of physical disks to use for this logical disk. By default, the driver uses the minimum number of disks required for "
	  "that RAID level. Optional." },
	{ "controller", FORM_TEXT, NULL,
	  "Controller to use for this logical disk. If not specified, the driver will choose a suitable RAID controller on the bare metal "
	  "node. Optional." },
	{ "physical_disks", FORM_DISKS, NULL,
	  "The physical disks to use for this logical disk. If not specified, the driver will choose suitable physical disks to use. "
	  "Optional." },
};

enum outcome get_logical_disk_properties(struct call *call)
{
	struct doc *doc = doc_new_object(call->pool);
	struct baremetal_driver driver;
	enum outcome outcome = baremetal_find_driver(call, &driver);

	if (outcome != OUTCOME_OK)
		return outcome;
	for (size_t i = 0; i < COUNT_OF(properties); i++)
		doc_set_str(call->pool, doc, properties[i].name, str_c(properties[i].text));
	baremetal_write_json(call, doc);
	return OUTCOME_OK;
}

// ---- checking a configuration

static enum outcome fail_raid(struct call *call, const char *what)
{
	return call_fail(call, OUTCOME_BAD_DOCUMENT, "RAID config validation error: %s", what);
}

static bool are_disks(const struct doc *value)
{
	size_t names = 0, objects = 0, n = doc_elements(value);

	for (size_t i = 0; i < n; i++) {
		names += doc_kind(doc_at(value, i)) == DOC_STRING ? 1 : 0;
		objects += doc_kind(doc_at(value, i)) == DOC_OBJECT ? 1 : 0;
	}
	return doc_kind(value) == DOC_ARRAY && (names == n || (objects == n && n >= 2));
}

static bool fits(const struct disk_property *property, const struct doc *value)
{
	int64_t number;

	switch (property->form) {
	case FORM_TEXT:
		return doc_kind(value) == DOC_STRING;
	case FORM_WORD:
		return doc_kind(value) == DOC_STRING && baremetal_among(property->words, doc_string(value));
	case FORM_FLAG:
		return doc_kind(value) == DOC_BOOL;
	case FORM_COUNT:
		return doc_i64(value, &number) && number >= 1;
	case FORM_SIZE:
		return str_eq(doc_string(value), STR("MAX")) || (doc_i64(value, &number) && number >= 0);
	case FORM_DISKS:
		return are_disks(value);
	}
	return false;
}

static enum outcome check_property(struct call *call, struct str name, const struct doc *value)
{
	size_t i = 0;

	while (i < COUNT_OF(properties) && !str_eq_c(name, properties[i].name))
		i++;
	if (i == COUNT_OF(properties))
		return fail_raid(call, str_printf(call->pool, "Additional properties are not allowed ('%.*s' was unexpected)",
			STR_HEAD_ARG(name, BAREMETAL_SHOWN)).p);
	if (!fits(&properties[i], value))
		return fail_raid(call, str_printf(call->pool, "%s: %s", properties[i].name, properties[i].text).p);
	return OUTCOME_OK;
}

static enum outcome check_disk(struct call *call, const struct doc *disk)
{
	enum outcome outcome = OUTCOME_OK;

	if (doc_kind(disk) != DOC_OBJECT)
		return fail_raid(call, "a logical disk has to be an object");
	for (struct doc_iter it = doc_iter(disk); outcome == OUTCOME_OK && doc_next(&it);)
		outcome = check_property(call, it.name, it.value);
	if (outcome != OUTCOME_OK)
		return outcome;
	if (doc_member(disk, "raid_level") == NULL || doc_member(disk, "size_gb") == NULL)
		return fail_raid(call, "raid_level and size_gb are required of a logical disk");
	if (doc_member(disk, "physical_disks") != NULL && doc_member(disk, "controller") == NULL)
		return fail_raid(call, "'controller' is a dependency of 'physical_disks'");
	return OUTCOME_OK;
}

static enum outcome check_disks(struct call *call, const struct doc *config, bool is_redfish)
{
	const struct doc *disks = doc_member(config, "logical_disks");
	size_t roots = 0;

	if (doc_length(config) != 1 || doc_elements(disks) == 0)
		return fail_raid(call, "it has to be {} or {\"logical_disks\": [disks]}");
	for (size_t i = 0; i < doc_elements(disks); i++) {
		const struct doc *disk = doc_at(disks, i);
		enum outcome outcome = check_disk(call, disk);
		if (outcome != OUTCOME_OK)
			return outcome;
		if (is_redfish && str_eq(doc_string(doc_member(disk, "interface_type")), STR("scsi")))
			return fail_raid(call, "interface type `scsi` not supported by Redfish RAID");
		roots += doc_member_is_true(disk, "is_root_volume") ? 1 : 0;
	}
	return roots <= 1 ? OUTCOME_OK : fail_raid(call, "Raid config cannot have more than one root volume.");
}

// ---- storing it

// Every node can be told to have no RAID; a RAID interface is needed for more than that.
static enum outcome change_raid(struct call *call, const struct resource *node, struct doc *body, const void *arg)
{
	const struct doc *config = arg;
	struct str interface = doc_string(doc_member(body, "raid_interface")), driver = doc_string(doc_member(body, "driver"));
	enum outcome outcome = provision_check_reserved(call->registry, &node->uid, body);

	if (outcome == OUTCOME_OK && doc_length(config) > 0 && str_eq(interface, STR("no-raid")))
		return call_fail(call, OUTCOME_NOT_FOUND, "Driver %.*s does not support raid (disabled or not implemented).",
			STR_ARG(driver));
	if (outcome == OUTCOME_OK && doc_length(config) > 0)
		outcome = check_disks(call, config, str_eq(interface, STR("redfish")));
	if (outcome == OUTCOME_OK)
		doc_set(body, STR("target_raid_config"), doc_copy(call->pool, config));
	return outcome;
}

enum outcome set_raid(struct call *call)
{
	struct doc *config;
	enum outcome outcome = call_read(call, &any_document, &config);

	if (outcome == OUTCOME_OK && doc_kind(config) != DOC_OBJECT)
		outcome = fail_raid(call, "it has to be an object");
	if (outcome == OUTCOME_OK)
		outcome = baremetal_change_node(call, change_raid, config);
	return outcome == OUTCOME_OK ? OUTCOME_NO_CONTENT : outcome;
}

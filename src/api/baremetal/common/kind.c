// SPDX-License-Identifier: Apache-2.0
// The kinds of objects: their members with the versions that introduced them, and how an object is found.
#include "base/base.h"

#include "api/baremetal/common/baremetal.h"
#include "base/pool.h"
#include "registry/baremetal/rules.h"
#include "registry/resource/resource.h"
#include "registry/type/type.h"

enum { SINCE_NODE_NAMES = 5, SINCE_FREE_NAMES = 10 };

#define SHOWN(member, since) { member, since, since, FROM_BODY, 0 }
#define SHORT(member, since) { member, since, since, FROM_BODY, MEMBER_BRIEF }
#define GIVEN(member, since) { member, since, since, FROM_BODY, MEMBER_GIVEN }
#define PATCHED(member, since) { member, since, since, FROM_BODY, MEMBER_PATCHED }
#define SET(member, since) { member, since, since, FROM_BODY, MEMBER_SETTABLE }
#define SET_SHORT(member, since, flags) { member, since, since, FROM_BODY, MEMBER_SETTABLE | MEMBER_BRIEF | (flags) }
#define OWN(member, since, source, flags) { member, since, since, FROM_##source, flags }
#define COLLECTION(member, since, flags) { member, since, since, FROM_COLLECTION, flags }
#define COMMON \
	OWN("uuid", 1, UID, MEMBER_BRIEF), OWN("created_at", 1, CREATED, 0), OWN("updated_at", 1, UPDATED, 0), \
		OWN("etag", VERSION_ETAG, ETAG, MEMBER_BRIEF | MEMBER_ALWAYS)
#define LINKS(flags) OWN("links", 1, LINKS, MEMBER_BRIEF | MEMBER_ALWAYS | (flags))
#define LAST { NULL, 0, 0, FROM_BODY, 0 }

static const struct kind_member node_members[] = {
	COMMON,
	SET("automated_clean", 47),
	SET("bios_interface", 40),
	SET("boot_interface", 31),
	GIVEN("boot_mode", 75),
	SHOWN("clean_step", 7),
	SET("conductor_group", 46),
	GIVEN("console_enabled", 1),
	SET("console_interface", 31),
	SET("deploy_interface", 31),
	SHOWN("deploy_step", 44),
	SET("description", 51),
	SET("driver", 1),
	SET("driver_info", 1),
	SHOWN("driver_internal_info", 3),
	SET("extra", 1),
	SHOWN("fault", 42),
	SHOWN("inspection_finished_at", 6),
	SHOWN("inspection_started_at", 6),
	SET("inspect_interface", 31),
	SET("instance_info", 1),
	SET_SHORT("instance_uuid", 1, 0),
	SHOWN("last_error", 1),
	SET("lessee", 65),
	SET_SHORT("maintenance", 1, 0),
	SHOWN("maintenance_reason", 1),
	SET("management_interface", 31),
	SET_SHORT("name", SINCE_NODE_NAMES, MEMBER_NOT_NULL),
	SET("network_data", 66),
	SET("network_interface", 20),
	OWN("owner", 50, TENANT, MEMBER_SETTABLE),
	SET("power_interface", 31),
	SHORT("power_state", 1),
	SET("properties", 1),
	PATCHED("protected", 48),
	PATCHED("protected_reason", 48),
	SHORT("provision_state", 1),
	SHOWN("provision_updated_at", 1),
	SHOWN("raid_config", 12),
	SET("raid_interface", 31),
	SET("rescue_interface", 38),
	SHOWN("reservation", 1),
	SET("resource_class", 21),
	SET("retired", 61),
	SET("retired_reason", 61),
	GIVEN("secure_boot", 75),
	SET("shard", 82),
	SET("storage_interface", 33),
	SHOWN("target_power_state", 1),
	SHOWN("target_provision_state", 1),
	SHOWN("target_raid_config", 12),
	OWN("traits", 37, TRAITS, 0),
	SET("vendor_interface", 31),
	LINKS(MEMBER_NO_FIELD),
	OWN("conductor", 49, HOST, MEMBER_NO_COLUMN),
	SHOWN("allocation_uuid", 52),
	SET("chassis_uuid", 1),
	COLLECTION("ports", 1, MEMBER_NO_FIELD),
	COLLECTION("states", 14, MEMBER_NO_FIELD),
	COLLECTION("portgroups", 24, MEMBER_NO_FIELD),
	COLLECTION("volume", 32, MEMBER_NO_FIELD),
	LAST,
};

static const struct kind_member port_members[] = {
	COMMON,
	SET_SHORT("address", 1, 0),
	SET("extra", 1),
	SHOWN("internal_info", 18),
	SET("is_smartnic", 53),
	SET("local_link_connection", 19),
	SET("physical_network", 34),
	SET("pxe_enabled", 19),
	SET("node_uuid", 1),
	LINKS(0),
	SET("portgroup_uuid", 24),
	LAST,
};

static const struct kind_member portgroup_members[] = {
	COMMON,
	SET_SHORT("address", 23, 0),
	SET("extra", 23),
	SHOWN("internal_info", 23),
	// Ironic came to know these two later, and does not hide them before.
	{ "mode", 23, 26, FROM_BODY, MEMBER_SETTABLE | MEMBER_STAYS },
	SET_SHORT("name", 23, 0),
	{ "properties", 23, 26, FROM_BODY, MEMBER_SETTABLE },
	SET("standalone_ports_supported", 23),
	SET("node_uuid", 23),
	LINKS(0),
	COLLECTION("ports", 23, 0),
	LAST,
};

static const struct kind_member chassis_members[] = {
	COMMON,
	SET_SHORT("description", 1, 0),
	SET("extra", 1),
	LINKS(0),
	COLLECTION("nodes", 1, 0),
	LAST,
};

static const struct kind_member connector_members[] = {
	COMMON,
	SET_SHORT("connector_id", 32, 0),
	SET("extra", 32),
	SET_SHORT("node_uuid", 32, 0),
	SET_SHORT("type", 32, 0),
	LINKS(0),
	LAST,
};

static const struct kind_member target_members[] = {
	COMMON,
	SET_SHORT("boot_index", 32, 0),
	SET("extra", 32),
	SET_SHORT("node_uuid", 32, 0),
	SET("properties", 32),
	SET_SHORT("volume_id", 32, 0),
	SET_SHORT("volume_type", 32, 0),
	LINKS(0),
	LAST,
};

static const struct kind_member template_members[] = {
	COMMON,
	SET("extra", 55),
	SET_SHORT("name", 55, 0),
	SET("steps", 55),
	LINKS(0),
	LAST,
};

#define IN_LISTS(member, since) { member, since, since, FROM_BODY, MEMBER_BRIEF }
static const struct kind_member allocation_members[] = {
	OWN("uuid", 52, UID, MEMBER_BRIEF),
	OWN("created_at", 52, CREATED, MEMBER_BRIEF),
	OWN("updated_at", 52, UPDATED, MEMBER_BRIEF),
	OWN("etag", 52, ETAG, MEMBER_BRIEF | MEMBER_ALWAYS),
	IN_LISTS("candidate_nodes", 52),
	SET_SHORT("extra", 52, 0),
	IN_LISTS("last_error", 52),
	SET_SHORT("name", 52, 0),
	IN_LISTS("node_uuid", 52),
	OWN("owner", 60, TENANT, MEMBER_BRIEF),
	IN_LISTS("resource_class", 52),
	IN_LISTS("state", 52),
	IN_LISTS("traits", 52),
	LINKS(0),
	LAST,
};

const struct kind node_kind = { "node", "nodes", "nodes", 43, &node_rules, baremetal_node_members, node_members, true };
const struct kind port_kind = { "port", "ports", "ports", 43, &port_rules, baremetal_port_members, port_members, false };
const struct kind portgroup_kind = {
	"portgroup", "portgroups", "portgroups", 43, &portgroup_rules, baremetal_portgroup_members,
	portgroup_members, true
};
const struct kind chassis_kind = {
	"chassis", "chassis", "chassis", 43, &chassis_rules, baremetal_chassis_members, chassis_members, false
};
const struct kind volume_connector_kind = {
	"connector", "connectors", "volume/connectors", 32, &volume_connector_rules,
	baremetal_connector_members, connector_members, false
};
const struct kind volume_target_kind = {
	"target", "targets", "volume/targets", 32, &volume_target_rules, baremetal_target_members,
	target_members, false
};
const struct kind deploy_template_kind = {
	"template", "deploy_templates", "deploy_templates", 55, &deploy_template_rules,
	baremetal_template_members, template_members, true
};
const struct kind allocation_kind = {
	"allocation", "allocations", "allocations", 52, &allocation_rules, baremetal_allocation_members,
	allocation_members, true
};

const struct kind_member *kind_member(const struct kind *kind, struct str name)
{
	for (const struct kind_member *member = kind->members; member->name != NULL; member++) {
		if (str_eq_c(name, member->name))
			return member;
	}
	return NULL;
}

// ---- finding an object

struct str baremetal_visible_tenant(const struct call *call)
{
	// Calls that change something use this tenant, too. The permit step refuses them to a reader of everything, by its role.
	assert(!call->who.reads_all || call->who.role == ROLE_NONE || call->who.role == ROLE_OPERATOR);
	if (call->who.role == ROLE_OPERATOR || call->who.reads_all)
		return STR_NONE;
	return call->who.tenant.n > 0 ? call->who.tenant : STR(""); // "" matches no tenant: a caller without tenant sees nothing
}

enum outcome baremetal_fail_not_found(struct call *call, const struct kind *kind, struct str text)
{
	return call_fail(call, OUTCOME_NOT_FOUND, "%s %.*s could not be found.", kind->rules->title,
		STR_HEAD_ARG(text, BAREMETAL_SHOWN));
}

static enum outcome fail_ident(struct call *call, const struct kind *kind, struct str text)
{
	if (kind->named)
		return call_fail(call, OUTCOME_BAD_PARAMETER, "Expected UUID or name for %s: %.*s", kind->singular,
			STR_HEAD_ARG(text, BAREMETAL_SHOWN));
	return call_fail(call, OUTCOME_BAD_PARAMETER, "Expected UUID for %s_uuid: %.*s", kind->singular,
		STR_HEAD_ARG(text, BAREMETAL_SHOWN));
}

static struct str without_suffix(struct str text)
{
	const struct str suffix = STR(".json");

	return str_ends(text, suffix) && text.n > suffix.n ? str_part(text, 0, text.n - suffix.n) : text;
}

bool kind_may_be_named(const struct call *call, const struct kind *kind, struct str name)
{
	return kind != &node_kind || call->version >= SINCE_FREE_NAMES || baremetal_host_name_ok(name);
}

static void set_name(struct ident *ident, struct str name)
{
	ident->kind = "name";
	ident->value = name;
}

// Is there an object whose name is the whole text, suffix included? Otherwise the part before the suffix is meant.
static enum outcome look_up_name(struct call *call, struct str name, struct str stem, struct ident *ident)
{
	struct resource resource;

	set_name(ident, name);
	if (stem.n == name.n)
		return OUTCOME_OK;
	enum outcome outcome = resource_find(call->registry, ident, &resource);
	if (outcome != OUTCOME_NOT_FOUND)
		return outcome;
	ident->kind = NULL;
	if (!uuid_parse(stem, &ident->uid))
		set_name(ident, stem);
	return OUTCOME_OK;
}

enum outcome kind_ident(struct call *call, const struct kind *kind, struct str text, struct ident *ident)
{
	struct str stem = without_suffix(text);
	bool has_names = kind->named && (kind != &node_kind || call->version >= SINCE_NODE_NAMES);

	assert(kind->rules != NULL);
	*ident = (struct ident){ .type = type_with_rules(call->registry, kind->rules), .tenant = baremetal_visible_tenant(call) };
	if (ident->type == NULL)
		return OUTCOME_INTERNAL;
	if (uuid_parse(has_names ? text : stem, &ident->uid))
		return OUTCOME_OK;
	if (!kind->named || !baremetal_name_ok(text) || (has_names && !kind_may_be_named(call, kind, text)))
		return fail_ident(call, kind, text);
	if (!has_names)
		return baremetal_fail_not_found(call, kind, text);
	return look_up_name(call, text, stem, ident);
}

enum outcome kind_find(struct call *call, const struct kind *kind, struct str text, struct resource *resource)
{
	struct ident ident;
	enum outcome outcome = kind_ident(call, kind, text, &ident);

	if (outcome == OUTCOME_OK)
		outcome = resource_find(call->registry, &ident, resource);
	return outcome == OUTCOME_NOT_FOUND ? baremetal_fail_not_found(call, kind, text) : outcome;
}

enum outcome baremetal_fail_too_new(struct call *call, const char *what, unsigned since)
{
	return call_fail(call, OUTCOME_NOT_ACCEPTABLE,
		"Request not acceptable: %s came with version 1.%u, and version 1.%u is asked for", what, since, call->version);
}

// SPDX-License-Identifier: Apache-2.0
// The rules of ports and port groups: both belong to a node of the same tenant.
#include "base/base.h"

#include "base/ascii.h"
#include "base/pool.h"
#include "registry/baremetal/internal.h"
#include "registry/baremetal/provision.h"
#include "registry/baremetal/rules.h"
#include "registry/core/failure.h"
#include "registry/resource/internal.h"
#include "repr/json/doc.h"

enum { DATAPATH_ID = 16 };

// What says how a port is plugged in, and the states of its node in which that may change, as in maintenance.
static const char *const connectivity[] = { "portgroup_uuid", "pxe_enabled", "local_link_connection", "physical_network", NULL };
static const char *const open_states[] = { "enroll", "inspecting", "inspect wait", "manageable", NULL };

// ---- where a port is plugged in

// Reads a MAC address, or the 16 hex digits of an OpenFlow datapath id, into lower case.
static struct str switch_id(struct pool *pool, struct str text)
{
	struct str mac = baremetal_mac(pool, text);

	if (mac.p != NULL || text.n != DATAPATH_ID)
		return mac;
	for (size_t i = 0; i < text.n; i++) {
		if (str_hex_digit(text.p[i]) < 0)
			return STR_NONE;
	}
	return ascii_lowered(pool, text);
}

static enum outcome check_link_member(struct draft *draft, struct str name, const struct doc *value)
{
	static const char *const members[] = { "port_id", "switch_id", "hostname", "switch_info", "network_type", NULL };
	static const char *const types[] = { "managed", "unmanaged", NULL };
	struct pool *pool = draft->registry->pool;

	if (!baremetal_among(members, name)) {
		struct str excerpt = baremetal_excerpt(pool, name);
		struct str known = baremetal_list(pool, members);
		return baremetal_fail_schema(draft, "local_link_connection: Additional properties are not allowed ('%.*s' was "
			"unexpected); these are: %.*s", STR_ARG(excerpt), STR_ARG(known));
	}
	if (doc_kind(value) != DOC_STRING)
		return baremetal_fail_schema(draft, "local_link_connection: %.*s has to be a string", STR_ARG(name));
	if (str_eq(name, STR("network_type")) && !baremetal_among(types, doc_string(value))) {
		struct str known = baremetal_list(pool, types);
		return baremetal_fail_schema(draft, "local_link_connection: network_type is one of %.*s", STR_ARG(known));
	}
	if (str_eq(name, STR("switch_id")) && switch_id(pool, doc_string(value)).p == NULL) {
		struct str excerpt = baremetal_excerpt(pool, doc_string(value));
		return registry_fail(draft->registry, OUTCOME_BAD_DOCUMENT,
			"Expected a MAC or OpenFlow datapath ID but received %.*s as switch_id of local_link_connection",
			STR_ARG(excerpt));
	}
	return OUTCOME_OK;
}

static enum outcome check_link(struct draft *draft)
{
	struct pool *pool = draft->registry->pool;
	const struct doc *link;
	enum outcome outcome = OUTCOME_OK;

	doc_get(draft->body, STR("local_link_connection"), &link);
	for (struct doc_iter it = doc_iter(link); outcome == OUTCOME_OK && doc_next(&it);)
		outcome = check_link_member(draft, it.name, it.value);
	if (outcome != OUTCOME_OK || doc_length(link) == 0)
		return outcome;
	struct str id = baremetal_text(link, "switch_id");
	bool port = baremetal_text(link, "port_id").p != NULL;
	bool whole = port && (id.p != NULL || baremetal_text(link, "hostname").p != NULL);
	if (!whole && !str_eq(baremetal_text(link, "network_type"), STR("unmanaged")))
		return baremetal_fail_schema(draft, "local_link_connection needs port_id and switch_id, or port_id and hostname, "
			"or network_type unmanaged, or nothing");
	if (id.p != NULL) {
		struct doc *copy = doc_copy(pool, link);
		doc_set_str(pool, copy, "switch_id", switch_id(pool, id));
		baremetal_set(draft, "local_link_connection", copy);
	}
	return OUTCOME_OK;
}

// Of a new port alone: a patch may set is_smartnic before the rest.
static enum outcome check_smartnic(struct draft *draft)
{
	const struct doc *link;

	doc_get(draft->body, STR("local_link_connection"), &link);
	if (draft->before != NULL || !baremetal_true(draft->body, "is_smartnic") || doc_length(link) == 0)
		return OUTCOME_OK;
	if (baremetal_text(link, "port_id").p != NULL && baremetal_text(link, "hostname").p != NULL)
		return OUTCOME_OK;
	return baremetal_fail_schema(draft, "Smart NIC port must have port_id and hostname in local_link_connection");
}

// ---- a port's node and port group

// The node that the port or port group belongs to from now on. OUTCOME_CONFLICT if it is reserved.
static enum outcome lock_node(struct draft *draft, const struct doc **node)
{
	struct uuid uid;
	enum outcome outcome = baremetal_lock_reference(draft, &node_rules, "node_uuid", node);

	if (outcome != OUTCOME_OK)
		return outcome;
	return uuid_parse(baremetal_text(draft->body, "node_uuid"), &uid) ? provision_check_reserved(draft->registry, &uid, *node) :
		OUTCOME_INTERNAL;
}

static enum outcome may_delete(struct registry *registry, const struct resource *resource, const struct doc *body)
{
	const struct doc *node;
	enum outcome outcome = baremetal_lock_node(registry, resource->tenant, baremetal_text(body, "node_uuid"), &node);

	return outcome == OUTCOME_OK ? provision_check_reserved(registry, &resource->root, node) : outcome;
}

// Can ports of the node with that body be plugged in elsewhere? Not where an instance may use them.
static bool is_open(const struct doc *node)
{
	return baremetal_true(node, "maintenance") || baremetal_among(open_states, baremetal_text(node, "provision_state"));
}

// An instance knows its node by the addresses of the ports.
static enum outcome check_address(struct draft *draft, const struct doc *node)
{
	bool in_use = str_eq(baremetal_text(node, "provision_state"), STR("active")) || baremetal_text(node, "instance_uuid").p != NULL;

	if (!in_use || baremetal_true(node, "maintenance"))
		return OUTCOME_OK;
	struct str node_uuid = baremetal_text(draft->body, "node_uuid");
	return registry_fail(draft->registry, OUTCOME_CONFLICT,
		"Cannot update hardware address for port %.*s as node %.*s is active or has instance UUID assigned",
		UUID_ARG(draft->registry->pool, draft->uid), STR_ARG(node_uuid));
}

static enum outcome check_connectivity(struct draft *draft, const struct doc *node)
{
	struct pool *pool = draft->registry->pool;

	if (is_open(node))
		return OUTCOME_OK;
	struct str node_uuid = baremetal_text(draft->body, "node_uuid"), state = baremetal_text(node, "provision_state");
	struct str members = baremetal_list(pool, connectivity), known = baremetal_list(pool, open_states);
	return registry_fail(draft->registry, OUTCOME_CONFLICT,
		"Port %.*s can not have any connectivity attributes (%.*s) updated unless node %.*s is in a %.*s state or in maintenance "
		"mode. The current state is %.*s.", UUID_ARG(pool, draft->uid), STR_ARG(members), STR_ARG(node_uuid), STR_ARG(known),
		STR_ARG(state));
}

// Does the write change the member of a port that is there already?
static bool updates(const struct draft *draft, const char *member)
{
	return draft->before != NULL && baremetal_changes(draft, baremetal_port_members, member);
}

static bool updates_connectivity(const struct draft *draft)
{
	for (size_t i = 0; connectivity[i] != NULL; i++) {
		if (updates(draft, connectivity[i]))
			return true;
	}
	return false;
}

static enum outcome check_port_node(struct draft *draft)
{
	const struct doc *node;
	bool moves = baremetal_changes(draft, baremetal_port_members, "node_uuid");
	bool new_address = updates(draft, "address"), replugs = updates_connectivity(draft);

	if (!moves && !new_address && !replugs)
		return OUTCOME_OK;
	enum outcome outcome = lock_node(draft, &node);
	if (outcome == OUTCOME_OK && new_address)
		outcome = check_address(draft, node);
	if (outcome == OUTCOME_OK && replugs)
		outcome = check_connectivity(draft, node);
	return outcome;
}

static enum outcome check_network(struct draft *draft)
{
	struct str network = baremetal_text(draft->body, "physical_network");

	if (network.p == NULL || network.n > 0 || !baremetal_changes(draft, baremetal_port_members, "physical_network"))
		return OUTCOME_OK;
	return registry_fail(draft->registry, OUTCOME_BAD_DOCUMENT, "A non-empty value is required when setting physical_network");
}

// All ports of a group are in the same physical network, or all in none: VIFs are attached to the group as a whole.
static enum outcome check_group_network(struct registry *registry, const struct uuid *port, const struct doc *body)
{
	struct str network = baremetal_text(body, "physical_network"), group = baremetal_text(body, "portgroup_uuid"), others;
	bool found;
	enum outcome outcome = baremetal_portgroup_network(registry, port, group, &found, &others);

	if (outcome != OUTCOME_OK || !found || (network.p == NULL ? others.p == NULL : others.p != NULL && str_eq(network, others)))
		return outcome;
	struct str here = network.p != NULL ? network : STR("none"), there = others.p != NULL ? others : STR("none");
	return registry_fail(registry, OUTCOME_CONFLICT,
		"Port with physical network %.*s cannot become a member of port group %.*s which has ports in physical network %.*s.",
		STR_ARG(here), STR_ARG(group), STR_ARG(there));
}

// boots: pxe_enabled is given as true, for a new port.
static enum outcome check_portgroup(struct draft *draft, bool boots)
{
	const struct doc *group;
	struct str uuid = baremetal_text(draft->body, "portgroup_uuid"), node = baremetal_text(draft->body, "node_uuid");
	bool other_group = baremetal_changes(draft, baremetal_port_members, "portgroup_uuid");
	bool other_network = baremetal_changes(draft, baremetal_port_members, "physical_network");

	if (uuid.p == NULL || (!other_group && !other_network && !baremetal_changes(draft, baremetal_port_members, "node_uuid")))
		return OUTCOME_OK;
	enum outcome outcome = baremetal_lock_portgroup(draft->registry, draft->address->tenant, uuid, &group);
	if (outcome != OUTCOME_OK)
		return outcome;
	if (!str_eq(baremetal_text(group, "node_uuid"), node))
		return registry_fail(draft->registry, OUTCOME_BAD_DOCUMENT,
			"Portgroup %.*s is another node's: a port belongs to the same node as its port group, and this one's is %.*s",
			STR_ARG(uuid), STR_ARG(node));
	if (boots && !baremetal_true(group, "standalone_ports_supported"))
		return registry_fail(draft->registry, OUTCOME_CONFLICT,
			"Port group %.*s doesn't support standalone ports. This port cannot be created as a member of that portgroup as the "
			"port's 'pxe_enabled' field was set to True.", STR_ARG(uuid));
	return other_group || other_network ? check_group_network(draft->registry, &draft->uid, draft->body) : OUTCOME_OK;
}

// Since the port was deleted, its group may have come to another node, which may be another tenant's, and have got ports of
// another network.
static enum outcome may_recover(struct registry *registry, const struct resource *port, struct str tenant, const struct doc *body)
{
	struct str uuid = baremetal_text(body, "portgroup_uuid"), node = baremetal_text(body, "node_uuid");
	const struct doc *group = NULL;
	enum outcome outcome = resource_check_root(registry, port);

	if (outcome != OUTCOME_OK || uuid.p == NULL)
		return outcome;
	outcome = baremetal_lock_portgroup(registry, tenant, uuid, &group);
	if (outcome == OUTCOME_BAD_DOCUMENT || (outcome == OUTCOME_OK && !str_eq(baremetal_text(group, "node_uuid"), node)))
		return registry_fail(registry, OUTCOME_CONFLICT,
			"its port group %.*s is gone, or another node's by now: recover that, or bring it back to node %.*s, first", STR_ARG(uuid),
			STR_ARG(node));
	return outcome == OUTCOME_OK ? check_group_network(registry, &port->uid, body) : outcome;
}

// pxe_enabled is true if nothing is said, but that is not a wish.
static bool asks_to_boot(const struct draft *draft)
{
	const struct doc *value;
	bool given;

	return draft->before == NULL && doc_kind(draft->body) == DOC_OBJECT && doc_get(draft->body, STR("pxe_enabled"), &value) &&
		baremetal_bool(value, &given) && given;
}

static enum outcome complete_port(struct draft *draft)
{
	static enum outcome (*const checks[])(struct draft *draft) = {
		check_link, check_smartnic, check_network, check_port_node,
	};
	bool boots = asks_to_boot(draft);
	enum outcome outcome = baremetal_normalise(draft, baremetal_port_members);

	if (outcome == OUTCOME_OK)
		outcome = baremetal_guard(draft, baremetal_port_members, NULL);
	for (size_t i = 0; outcome == OUTCOME_OK && i < COUNT_OF(checks); i++)
		outcome = checks[i](draft);
	return outcome == OUTCOME_OK ? check_portgroup(draft, boots) : outcome;
}

static void hang_on_node(const struct doc *body, struct relations *relations)
{
	*relations = (struct relations){ 0 };
	relations->has_root = uuid_parse(baremetal_text(body, "node_uuid"), &relations->root);
}

static void relate_port(struct pool *pool, const struct doc *body, const struct uuid *uid, struct relations *relations)
{
	struct str group = baremetal_text(body, "portgroup_uuid");

	hang_on_node(body, relations);
	baremetal_add_key("address", baremetal_text(body, "address"), relations);
	if (group.p != NULL)
		baremetal_point(pool, "portgroup", group, uid, relations);
}

static enum outcome port_taken(struct registry *registry, const struct uuid *uid, const struct lookup_key *key)
{
	return baremetal_fail_taken(registry, &port_rules, uid, key);
}

const struct type_rules port_rules = {
	.group = BAREMETAL_GROUP,
	.plural = "ports",
	.noun = "port",
	.title = "Port",
	.top = &node_rules,
	.complete = complete_port,
	.relate = relate_port,
	.may_delete = may_delete,
	.may_recover = may_recover,
	.taken = port_taken,
};

// ---- port groups

// A group with ports cannot change its node, since its ports would stay with the old one.
static enum outcome check_group_node(struct draft *draft)
{
	struct registry *registry = draft->registry;
	const struct doc *node;
	bool has_ports;

	if (!baremetal_changes(draft, baremetal_portgroup_members, "node_uuid"))
		return OUTCOME_OK;
	enum outcome outcome = lock_node(draft, &node);
	if (outcome != OUTCOME_OK || draft->before == NULL)
		return outcome;
	struct str node_uuid = baremetal_text(draft->body, "node_uuid"), known = baremetal_list(registry->pool, open_states);
	if (!is_open(node))
		return registry_fail(registry, OUTCOME_CONFLICT,
			"Portgroup %.*s can not be associated to node %.*s unless the node is in a %.*s state or in maintenance mode.",
			UUID_ARG(registry->pool, draft->uid), STR_ARG(node_uuid), STR_ARG(known));
	outcome = baremetal_pointed_at(registry, &port_rules, "portgroup", &draft->uid, &has_ports);
	if (outcome != OUTCOME_OK || !has_ports)
		return outcome;
	return registry_fail(registry, OUTCOME_BAD_REQUEST,
		"Portgroup %.*s can not be associated with node %.*s because there are ports associated with this portgroup.",
		UUID_ARG(registry->pool, draft->uid), STR_ARG(node_uuid));
}

static enum outcome complete_portgroup(struct draft *draft)
{
	enum outcome outcome = baremetal_normalise(draft, baremetal_portgroup_members);

	if (outcome == OUTCOME_OK)
		outcome = baremetal_check_name(draft);
	if (outcome == OUTCOME_OK)
		outcome = baremetal_guard(draft, baremetal_portgroup_members, NULL);
	return outcome == OUTCOME_OK ? check_group_node(draft) : outcome;
}

static void relate_portgroup(struct pool *pool, const struct doc *body, const struct uuid *uid,
	struct relations *relations)
{
	struct str name = baremetal_text(body, "name"), address = baremetal_text(body, "address");

	UNUSED(pool);
	UNUSED(uid);
	hang_on_node(body, relations);
	if (name.p != NULL)
		baremetal_add_key("name", name, relations);
	if (address.p != NULL)
		baremetal_add_key("address", address, relations);
}

static enum outcome may_delete_portgroup(struct registry *registry, const struct resource *resource,
	const struct doc *body)
{
	enum outcome outcome = may_delete(registry, resource, body);
	bool has_ports = false;

	if (outcome == OUTCOME_OK)
		outcome = baremetal_pointed_at(registry, &port_rules, "portgroup", &resource->uid, &has_ports);
	if (outcome != OUTCOME_OK || !has_ports)
		return outcome;
	return registry_fail(registry, OUTCOME_BAD_REQUEST,
		"Cannot complete the requested action because portgroup %.*s contains ports.", UUID_ARG(registry->pool, resource->uid));
}

static enum outcome portgroup_taken(struct registry *registry, const struct uuid *uid, const struct lookup_key *key)
{
	return baremetal_fail_taken(registry, &portgroup_rules, uid, key);
}

const struct type_rules portgroup_rules = {
	.group = BAREMETAL_GROUP,
	.plural = "portgroups",
	.noun = "portgroup",
	.title = "Portgroup",
	.top = &node_rules,
	.complete = complete_portgroup,
	.relate = relate_portgroup,
	.may_delete = may_delete_portgroup,
	.taken = portgroup_taken,
};

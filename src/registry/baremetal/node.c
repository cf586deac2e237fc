// SPDX-License-Identifier: Apache-2.0
// The rules of nodes.
#include "base/base.h"

#include "base/ascii.h"
#include "base/buf.h"
#include "base/pool.h"
#include "registry/baremetal/internal.h"
#include "registry/baremetal/network_data.h"
#include "registry/baremetal/provision.h"
#include "registry/baremetal/rules.h"
#include "registry/baremetal/settings.h"
#include "registry/core/failure.h"
#include "repr/json/doc.h"
#include "repr/json/member.h"
#include "repr/schema/json_schema.h"

enum { MEMBER_MAX = 32 };

static const char *const reserved_names[] = {
	"maintenance", "management", "states", "vendor_passthru", "detail", "validate", NULL
};
static const char *const protectable[] = { "active", "rescue", NULL };
static const char *const deletable[] = { "manageable", "enroll", "adopt failed", "available", NULL };
// States in which no instance uses the node, so that what it is deployed with may change.
static const char *const idle[] = { "enroll", "inspecting", "inspect wait", "manageable", "available", NULL };

// ---- single members

static enum outcome check_words(struct draft *draft)
{
	static const struct {
		const char *member;
		const char *const *words;
	} closed[] = {
		{ "provision_state", baremetal_provision_states }, { "target_provision_state", baremetal_provision_states },
		{ "power_state", baremetal_power_states },         { "target_power_state", baremetal_power_states },
		{ "fault", baremetal_faults },                     { "boot_mode", baremetal_boot_modes },
	};
	enum outcome outcome = OUTCOME_OK;

	for (size_t i = 0; outcome == OUTCOME_OK && i < COUNT_OF(closed); i++)
		outcome = baremetal_check_word(draft, closed[i].member, closed[i].words);
	return outcome;
}

static enum outcome check_name(struct draft *draft)
{
	struct str name = baremetal_text(draft->body, "name");

	if (!baremetal_among(reserved_names, name))
		return baremetal_check_name(draft);
	struct str known = baremetal_list(draft->registry->pool, reserved_names);
	return registry_fail(draft->registry, OUTCOME_BAD_DOCUMENT,
		"Cannot use the name '%.*s' for a node: the API has a use of its own for %.*s", STR_ARG(name), STR_ARG(known));
}

// Names of conductor groups ignore case, so they are stored in lower case.
static enum outcome check_conductor_group(struct draft *draft)
{
	struct pool *pool = draft->registry->pool;
	struct str group = baremetal_text(draft->body, "conductor_group");

	for (size_t i = 0; i < group.n; i++) {
		char c = group.p[i];
		if (!ascii_is_alnum(c) && c != '-' && c != '_' && c != '.') {
			struct str excerpt = baremetal_excerpt(pool, group);
			return baremetal_fail_schema(draft, "conductor_group '%.*s' has other characters than A-Z a-z 0-9 - _ .",
				STR_ARG(excerpt));
		}
	}
	struct str lowered = ascii_lowered(pool, group);
	if (group.p == NULL || !str_eq(group, lowered))
		baremetal_set(draft, "conductor_group", doc_new_string(pool, lowered));
	return OUTCOME_OK;
}

// ---- what the hardware is
//
// Earlier releases stored any object in properties and in network_data. So these are checked only if they change, and not if an
// undo gives back what was stored.

// Is it what Python's int() makes a number from 0 on of: a number, whose fraction is cut off, a flag, or digits in a string?
static bool is_count(const struct doc *value)
{
	struct str text = str_trim(doc_string(value));
	double number;

	if (doc_kind(value) != DOC_STRING)
		return doc_kind(value) == DOC_BOOL || (doc_double(value, &number) && number > -1);
	bool negative = text.n > 0 && text.p[0] == '-', sign = negative || (text.n > 0 && text.p[0] == '+');
	for (size_t i = sign ? 1 : 0; i < text.n; i++) {
		if (!ascii_is_digit(text.p[i]) || (negative && text.p[i] != '0'))
			return false;
	}
	return text.n > (sign ? 1 : 0);
}

static struct str value_excerpt(struct pool *pool, const struct doc *value)
{
	struct buf text = buf_new(pool, 32);

	if (doc_kind(value) == DOC_STRING)
		return baremetal_excerpt(pool, doc_string(value));
	doc_write_json(value, &text);
	return baremetal_excerpt(pool, buf_str(&text));
}

// Nova reckons with these, and takes what it can't read for 0.
static enum outcome check_properties(struct draft *draft)
{
	static const char *const counts[] = { "local_gb", "cpus", "memory_mb" };
	const struct doc *now = doc_member(draft->body, "properties"), *was = doc_member(draft->before, "properties");
	struct pool *pool = draft->registry->pool;
	struct buf wrong = buf_new(pool, 64);

	for (size_t i = 0; !draft->restores && i < COUNT_OF(counts); i++) {
		const struct doc *value = doc_member(now, counts[i]);
		if (value == NULL || is_count(value) || doc_equal(value, doc_member(was, counts[i])))
			continue;
		struct str excerpt = value_excerpt(pool, value);
		buf_addf(&wrong, "%s%s=%.*s", wrong.n > 0 ? ", " : "", counts[i], STR_ARG(excerpt));
	}
	if (wrong.n == 0)
		return OUTCOME_OK;
	return registry_fail(draft->registry, OUTCOME_BAD_DOCUMENT,
		"The following properties for node %.*s should be non-negative integers, but provided values are: %.*s",
		UUID_ARG(pool, draft->uid), STR_ARG(wrong));
}

static enum outcome check_network_data(struct draft *draft)
{
	struct str why;

	if (draft->restores || !baremetal_changes(draft, baremetal_node_members, "network_data") ||
	    network_data_ok(draft->registry->pool, doc_member(draft->body, "network_data"), &why))
		return OUTCOME_OK;
	return baremetal_fail_schema(draft, "Invalid network_data: %.*s", STR_ARG(why));
}

// ---- what a node in use keeps

static bool was_true(const struct draft *draft, const char *flag)
{
	return draft->before != NULL && baremetal_true(draft->before, flag);
}

// Is the node in use, before the write and after it? An operator may record another state, and with it what belongs to that.
static bool stays_in_use(const struct draft *draft)
{
	return draft->before != NULL && !draft->by_service && !baremetal_among(idle, baremetal_text(draft->before, "provision_state")) &&
		!baremetal_among(idle, baremetal_text(draft->body, "provision_state"));
}

static enum outcome fail_in_use(struct draft *draft, const char *member, const char *more)
{
	struct str known = baremetal_list(draft->registry->pool, idle);

	return registry_fail(draft->registry, OUTCOME_CONFLICT, "Node %.*s can not have %s updated unless it is in one of allowed (%.*s) states%s.",
		UUID_ARG(draft->registry->pool, draft->uid), member, STR_ARG(known), more);
}

// Nova schedules by the resource class, and does not learn that it changed: the new class of a node with an instance looks free.
static enum outcome check_class(struct draft *draft)
{
	if (!stays_in_use(draft) || baremetal_text(draft->before, "resource_class").p == NULL ||
	    !baremetal_changes(draft, baremetal_node_members, "resource_class"))
		return OUTCOME_OK;
	return fail_in_use(draft, "resource_class", "");
}

static enum outcome check_interface_kept(struct draft *draft, const char *member)
{
	if (!stays_in_use(draft) || baremetal_true(draft->body, "maintenance") || !baremetal_changes(draft, baremetal_node_members, member))
		return OUTCOME_OK;
	return fail_in_use(draft, member, " or in maintenance mode");
}

// ---- the driver and its interfaces
//
// They are checked only if they change: a node can be changed otherwise after the operator has removed its driver from the
// setting.

static bool driver_changes(const struct draft *draft)
{
	return baremetal_changes(draft, baremetal_node_members, "driver");
}

static enum outcome find_driver(struct draft *draft, struct baremetal_driver *driver)
{
	struct registry *registry = draft->registry;
	struct str name = baremetal_text(draft->body, "driver");

	if (baremetal_driver_find(registry->config, name, driver))
		return OUTCOME_OK;
	struct str excerpt = baremetal_excerpt(registry->pool, name);
	return registry_fail(registry, OUTCOME_BAD_DOCUMENT,
		"No valid host was found. Reason: No conductor service registered which supports driver %.*s. "
		"The configured drivers are: %s", STR_ARG(excerpt), baremetal_settings(registry->config)->drivers);
}

static enum outcome check_driver(struct draft *draft)
{
	struct baremetal_driver driver;

	if (!driver_changes(draft))
		return OUTCOME_OK;
	// The new driver could not end a console that the old one has begun.
	if (was_true(draft, "console_enabled") && baremetal_true(draft->body, "console_enabled"))
		return registry_fail(draft->registry, OUTCOME_CONFLICT,
			"Node %.*s can not update the driver while the console is enabled. Please stop the console first.",
			UUID_ARG(draft->registry->pool, draft->uid));
	return find_driver(draft, &driver);
}

static enum outcome check_interface(struct draft *draft, const char *interface, bool new_driver)
{
	static const char suffix[] = "_interface";
	struct pool *pool = draft->registry->pool;
	struct baremetal_driver driver;
	char member[MEMBER_MAX];

	size_t n = strlen(interface);
	assert(n + sizeof(suffix) <= sizeof(member));
	memcpy(member, interface, n);
	memcpy(member + n, suffix, sizeof(suffix));
	struct str wanted = baremetal_text(draft->body, member);
	if (wanted.p != NULL && !new_driver && !baremetal_changes(draft, baremetal_node_members, member))
		return OUTCOME_OK;
	enum outcome outcome = wanted.p != NULL ? check_interface_kept(draft, member) : OUTCOME_OK;
	if (outcome == OUTCOME_OK)
		outcome = find_driver(draft, &driver);
	if (outcome != OUTCOME_OK)
		return outcome;
	if (wanted.p == NULL) {
		baremetal_set(draft, member, doc_new_string(pool, str_c(baremetal_driver_default(&driver, interface))));
		return new_driver ? OUTCOME_OK : check_interface_kept(draft, member); // a new driver takes its defaults with it
	}
	const char *const *enabled = baremetal_driver_enabled(&driver, interface);
	if (baremetal_among(enabled, wanted))
		return OUTCOME_OK;
	struct str excerpt = baremetal_excerpt(pool, wanted);
	struct str known = baremetal_list(pool, enabled);
	return registry_fail(draft->registry, OUTCOME_BAD_DOCUMENT,
		"Could not find the following %s of driver %.*s: %.*s. Valid interfaces are: %.*s", member,
		STR_ARG(driver.name), STR_ARG(excerpt), STR_ARG(known));
}

static enum outcome check_interfaces(struct draft *draft)
{
	bool new_driver = driver_changes(draft);
	enum outcome outcome = OUTCOME_OK;

	for (size_t i = 0; outcome == OUTCOME_OK && baremetal_interfaces[i] != NULL; i++)
		outcome = check_interface(draft, baremetal_interfaces[i], new_driver);
	return outcome;
}

// API versions before 1.11 create nodes that are available at once, so a new node may have that state.
static enum outcome guard(struct draft *draft)
{
	struct str state = baremetal_text(draft->body, "provision_state");
	bool starts_available = draft->before == NULL && str_eq(state, STR("available"));

	return baremetal_guard(draft, baremetal_node_members, starts_available ? "provision_state" : NULL);
}

// ---- flags and their reasons

// A reason is only valid together with its flag.
static enum outcome check_reason(struct draft *draft, const char *flag, const char *reason)
{
	struct str why = baremetal_text(draft->body, reason);

	if (baremetal_true(draft->body, flag) || why.p == NULL)
		return OUTCOME_OK;
	if (why.n > 0 && !was_true(draft, flag))
		return registry_fail(draft->registry, OUTCOME_BAD_DOCUMENT, "The %s field can only be set when %s is True",
			reason, flag);
	baremetal_set(draft, reason, NULL);
	return OUTCOME_OK;
}

static enum outcome check_protected(struct draft *draft)
{
	struct str state = baremetal_text(draft->body, "provision_state");

	if (baremetal_true(draft->body, "protected") && !was_true(draft, "protected") && !baremetal_among(protectable, state))
		return registry_fail(draft->registry, OUTCOME_CONFLICT,
			"Node %.*s can only be made protected in provision states 'active' or 'rescue', the current state is "
			"'%.*s'", UUID_ARG(draft->registry->pool, draft->uid), STR_ARG(state));
	return check_reason(draft, "protected", "protected_reason");
}

static enum outcome check_retired(struct draft *draft)
{
	bool available = str_eq(baremetal_text(draft->body, "provision_state"), STR("available"));

	if (baremetal_true(draft->body, "retired") && !was_true(draft, "retired") && available)
		return registry_fail(draft->registry, OUTCOME_CONFLICT,
			"Node %.*s can not have 'retired' set in provision state 'available'; lead it to 'manageable' first",
			UUID_ARG(draft->registry->pool, draft->uid));
	return check_reason(draft, "retired", "retired_reason");
}

static enum outcome check_maintenance(struct draft *draft)
{
	if (was_true(draft, "maintenance") && !baremetal_true(draft->body, "maintenance"))
		baremetal_set(draft, "fault", NULL);
	return check_reason(draft, "maintenance", "maintenance_reason");
}

// ---- what it refers to

static enum outcome check_instance(struct draft *draft)
{
	struct str now = baremetal_text(draft->body, "instance_uuid");
	struct str was = draft->before != NULL ? baremetal_text(draft->before, "instance_uuid") : STR_NONE;

	if (now.p == NULL || was.p == NULL || str_eq(now, was))
		return OUTCOME_OK;
	return registry_fail(draft->registry, OUTCOME_CONFLICT, "Node %.*s is associated with instance %.*s.",
		UUID_ARG(draft->registry->pool, draft->uid), STR_ARG(was));
}

// A node's allocation and instance come and go together. Deleting the allocation, or undeploying the node, frees both.
static enum outcome check_allocation(struct draft *draft)
{
	struct str allocation = draft->before != NULL ? baremetal_text(draft->before, "allocation_uuid") : STR_NONE;
	bool other = baremetal_changes(draft, baremetal_node_members, "allocation_uuid");

	if (draft->by_service || (allocation.p == NULL && !other))
		return OUTCOME_OK;
	if (allocation.p == NULL)
		return registry_fail(draft->registry, OUTCOME_CONFLICT,
			"allocation_uuid of node %.*s is set by its allocation alone: make one, by POST /baremetal/v1/allocations",
			UUID_ARG(draft->registry->pool, draft->uid));
	if (!other && !baremetal_changes(draft, baremetal_node_members, "instance_uuid"))
		return OUTCOME_OK;
	return registry_fail(draft->registry, OUTCOME_CONFLICT,
		"Node %.*s has allocation %.*s: delete that to free the node, or undeploy it",
		UUID_ARG(draft->registry->pool, draft->uid),
		STR_ARG(allocation));
}

// Most nodes have no VIFs, and then not the member either.
static enum outcome check_vifs(struct draft *draft)
{
	const struct doc *vifs;

	if (doc_get(draft->body, STR("vifs"), &vifs) && doc_length(vifs) == 0)
		doc_remove(draft->body, STR("vifs"));
	return OUTCOME_OK;
}

static enum outcome check_chassis(struct draft *draft)
{
	const struct doc *chassis;

	if (baremetal_text(draft->body, "chassis_uuid").p == NULL || !baremetal_changes(draft, baremetal_node_members,
		"chassis_uuid"))
		return OUTCOME_OK;
	return baremetal_lock_reference(draft, &chassis_rules, "chassis_uuid", &chassis);
}

// ---- the rules

// The order matters: what users may not set is refused before the rules change members themselves, and before the database is
// asked.
static enum outcome complete(struct draft *draft)
{
	static enum outcome (*const checks[])(struct draft *draft) = {
		check_words, check_name,      check_conductor_group, check_properties, check_network_data, check_class, check_driver,
		check_interfaces, guard, check_protected, check_retired, check_maintenance,     check_allocation,
		check_instance, check_chassis,   check_vifs,
	};
	enum outcome outcome = baremetal_normalise(draft, baremetal_node_members);

	for (size_t i = 0; outcome == OUTCOME_OK && i < COUNT_OF(checks); i++)
		outcome = checks[i](draft);
	return outcome;
}

struct str baremetal_free_key(struct pool *pool, struct str class, struct str uid)
{
	return str_printf(pool, "%zu %.*s %.*s", class.n, STR_ARG(class), STR_ARG(uid));
}

bool baremetal_is_free(const struct doc *body)
{
	return str_eq(baremetal_text(body, "provision_state"), STR("available")) && !baremetal_true(body, "maintenance") &&
		baremetal_text(body, "instance_uuid").p == NULL && baremetal_text(body, "reservation").p == NULL &&
		baremetal_text(body, "power_state").p != NULL && baremetal_text(body, "resource_class").p != NULL;
}

static void relate(struct pool *pool, const struct doc *body, const struct uuid *uid, struct relations *relations)
{
	struct str name = baremetal_text(body, "name"), instance = baremetal_text(body, "instance_uuid");
	struct str chassis = baremetal_text(body, "chassis_uuid");

	*relations = (struct relations){ .has_root = true, .root = *uid };
	if (name.p != NULL)
		baremetal_add_key("name", name, relations);
	if (instance.p != NULL)
		baremetal_add_key("instance", instance, relations);
	if (chassis.p != NULL)
		baremetal_point(pool, "chassis", chassis, uid, relations);
	if (baremetal_is_free(body))
		baremetal_add_key("free", baremetal_free_key(pool, baremetal_text(body, "resource_class"), uuid_str(pool, *uid)), relations);
}

static enum outcome may_delete(struct registry *registry, const struct resource *resource, const struct doc *body)
{
	struct pool *pool = registry->pool;
	struct str id = uuid_str(pool, resource->uid), instance = baremetal_text(body, "instance_uuid");
	struct str state = baremetal_text(body, "provision_state");

	enum outcome outcome = provision_check_reserved(registry, &resource->uid, body);
	if (outcome != OUTCOME_OK)
		return outcome;
	// A broken node can be deleted in maintenance, whatever it is used for: its hardware may not be there to be undeployed
	// any more.
	bool broken = baremetal_true(body, "maintenance");
	if (instance.p != NULL && !broken)
		return registry_fail(registry, OUTCOME_CONFLICT, "Node %.*s is associated with instance %.*s.", STR_ARG(id),
			STR_ARG(instance));
	if (baremetal_true(body, "protected"))
		return registry_fail(registry, OUTCOME_FORBIDDEN,
			"Node %.*s is protected and cannot be undeployed, rebuilt or deleted", STR_ARG(id));
	if (broken || baremetal_among(deletable, state))
		return OUTCOME_OK;
	struct str known = baremetal_list(pool, deletable);
	return registry_fail(registry, OUTCOME_CONFLICT,
		"Can not delete node \"%.*s\" while it is in provision state \"%.*s\". Valid provision states to perform "
		"deletion are: %.*s; or any, in maintenance", STR_ARG(id), STR_ARG(state), STR_ARG(known));
}

static bool is_secret(struct str top, struct str name)
{
	bool instance = str_eq(top, STR("instance_info"));

	// With this token a node's agent proves to the conductor which node it runs on.
	if (str_eq(top, STR("driver_internal_info")))
		return str_eq(name, STR("agent_secret_token"));
	if (!instance && !str_eq(top, STR("driver_info")))
		return false;
	return baremetal_names_secret(name) ||
		(instance && (str_eq(name, STR("configdrive")) || str_eq(name, STR("image_url"))));
}

static bool hides_url_passwords(struct str top)
{
	return str_eq(top, STR("driver_info")) || str_eq(top, STR("instance_info")) || str_eq(top, STR("driver_internal_info"));
}

static enum outcome taken(struct registry *registry, const struct uuid *uid, const struct lookup_key *key)
{
	if (key == NULL || strcmp(key->kind, "instance") != 0)
		return baremetal_fail_taken(registry, &node_rules, uid, key);
	return registry_fail(registry, OUTCOME_NAME_TAKEN,
		"Instance %.*s is already associated with a node, it cannot be associated with this other node %.*s",
		STR_ARG(key->value), UUID_ARG(registry->pool, *uid));
}

static const char *const untagged[] = { "driver_internal_info", NULL };

const struct type_rules node_rules = {
	.group = BAREMETAL_GROUP,
	.plural = "nodes",
	.noun = "node",
	.title = "Node",
	.is_root = true,
	.shows_owner = true,
	.for_admins = FOR_ADMINS_EXISTENCE,
	.untagged = untagged,
	.complete = complete,
	.relate = relate,
	.may_delete = may_delete,
	.is_secret = is_secret,
	.hides_url_passwords = hides_url_passwords,
	.taken = taken,
};

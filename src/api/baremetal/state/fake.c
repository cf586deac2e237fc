// SPDX-License-Identifier: Apache-2.0
// The fake implementations of a node's interfaces, which store what a request sets and need no hardware. A request for a node
// whose interface has another implementation is refused as if the node's driver did not support the call.
#include "base/base.h"

#include "api/baremetal/common/baremetal.h"
#include "base/pool.h"
#include "registry/baremetal/provision.h"
#include "repr/json/member.h"

enum { SINCE_SOFT_POWER = 27 };

static enum outcome fail_missing(struct call *call, const char *name, const char *form)
{
	return call_fail(call, OUTCOME_BAD_DOCUMENT, "Missing mandatory parameter: %s. It has to be %s", name, form);
}

// May a change that needs this interface be made? OUTCOME_OK; _BAD_REQUEST: not without hardware; _CONFLICT: it is reserved.
static enum outcome check_fake(struct call *call, const struct resource *node, const struct doc *body, const char *interface)
{
	if (!provision_is_fake(body, interface))
		return provision_fail_unsupported(call->registry, body, interface);
	return provision_check_reserved(call->registry, &node->uid, body);
}

// Finds the node of the address.
static enum outcome find_node(struct call *call, struct resource *node, const struct doc **body)
{
	enum outcome outcome = kind_find(call, &node_kind, call_param(call, "node"), node);

	if (outcome == OUTCOME_OK)
		*body = resource_body_doc(call->pool, node);
	return outcome;
}

// The same for a call that reads what this interface has.
static enum outcome find_fake(struct call *call, const char *interface, struct resource *node, const struct doc **body)
{
	enum outcome outcome = find_node(call, node, body);

	if (outcome == OUTCOME_OK && !provision_is_fake(*body, interface))
		return provision_fail_unsupported(call->registry, *body, interface);
	return outcome;
}

// Answers 202 with the address of the part of the node that shows the change.
static enum outcome accept(struct call *call, const char *part, enum outcome outcome)
{
	if (outcome != OUTCOME_OK)
		return outcome;
	baremetal_locate_part(call, part);
	return OUTCOME_ACCEPTED;
}

static enum outcome no_content(enum outcome outcome)
{
	return outcome == OUTCOME_OK ? OUTCOME_NO_CONTENT : outcome;
}

// ---- power

static const struct power_target {
	const char *name;
	unsigned since;
	const char *state; // power_state afterwards
} power_targets[] = {
	{ "power on", 1, "power on" },
	{ "power off", 1, "power off" },
	{ "rebooting", 1, "power on" },
	{ "soft rebooting", SINCE_SOFT_POWER, "power on" },
	{ "soft power off", SINCE_SOFT_POWER, "power off" },
};

static enum outcome change_power(struct call *call, const struct resource *node, struct doc *body, const void *arg)
{
	static const char *const cleaning[] = { "cleaning", "clean wait", NULL };
	const struct power_target *target = arg;
	struct str state = doc_string(doc_member(body, "provision_state"));
	enum outcome outcome = check_fake(call, node, body, "power");

	if (outcome != OUTCOME_OK)
		return outcome;
	if (baremetal_among(cleaning, state))
		return call_fail(call, OUTCOME_BAD_REQUEST,
			"The requested action \"%s\" can not be performed on node \"%.*s\" while it is in state \"%.*s\".", target->name,
			UUID_ARG(call->pool, node->uid), STR_ARG(state));
	doc_set_str(call->pool, body, "power_state", str_c(target->state));
	doc_set(body, STR("target_power_state"), NULL);
	doc_set(body, STR("last_error"), NULL);
	return OUTCOME_OK;
}

static enum outcome read_power(struct call *call, const struct power_target **target)
{
	static const char *const names[] = { "target", "timeout", NULL };
	const struct doc *body, *timeout;
	int64_t seconds;
	size_t i = 0;
	enum outcome outcome = baremetal_read_arguments(call, names, &body);

	if (outcome != OUTCOME_OK)
		return outcome;
	timeout = doc_member(body, "timeout");
	if (timeout != NULL && call->version < SINCE_SOFT_POWER)
		return baremetal_fail_too_new(call, "timeout", SINCE_SOFT_POWER);
	if (timeout != NULL && (!doc_i64(timeout, &seconds) || seconds < 1))
		return call_fail(call, OUTCOME_BAD_DOCUMENT, "timeout has to be positive integer");
	if (doc_kind(doc_member(body, "target")) != DOC_STRING)
		return fail_missing(call, "target", "a string, such as {\"target\": \"power on\"}");
	struct str name = doc_string(doc_member(body, "target"));
	while (i < COUNT_OF(power_targets) && !str_eq_c(name, power_targets[i].name))
		i++;
	if (i == COUNT_OF(power_targets))
		return call_fail(call, OUTCOME_BAD_DOCUMENT,
			"The requested action \"%.*s\" can not be performed on a node. Invalid target: it is one of power on, power off, "
			"rebooting, soft rebooting, soft power off", STR_HEAD_ARG(name, BAREMETAL_SHOWN));
	*target = &power_targets[i];
	return call->version < power_targets[i].since ? baremetal_fail_too_new(call, power_targets[i].name, SINCE_SOFT_POWER)
						       : OUTCOME_OK;
}

// The power state is as requested at once, so the argument timeout has no effect.
enum outcome set_power(struct call *call)
{
	const struct power_target *target = NULL;
	enum outcome outcome = read_power(call, &target);

	return outcome == OUTCOME_OK ? accept(call, "states", baremetal_change_node(call, change_power, target)) : outcome;
}

// ---- boot mode and secure boot

struct setting {
	const char *interface;
	const char *member; // of the node
	struct doc *value;
	bool waits; // it may not change while the node is in a state that ends by itself
};

// The states that a node leaves without being asked to, once what is done to it has ended.
static const char *const unstable[] = {
	"deploying", "wait call-back", "cleaning", "clean wait", "verifying", "deleting", "inspecting", "inspect wait", "adopting",
	"rescuing", "rescue wait", "unrescuing", NULL
};

static enum outcome check_stable(struct call *call, const struct doc *body)
{
	struct str state = doc_string(doc_member(body, "provision_state"));

	if (!baremetal_among(unstable, state))
		return OUTCOME_OK;
	return call_fail(call, OUTCOME_CONFLICT,
		"Node is in %.*s state. Since node is transitioning, the boot mode will not be set as this may interfere with ongoing "
		"changes and result in erroneous modification. Try again later.", STR_ARG(state));
}

static enum outcome change_setting(struct call *call, const struct resource *node, struct doc *body, const void *arg)
{
	const struct setting *setting = arg;
	enum outcome outcome = setting->waits ? check_stable(call, body) : OUTCOME_OK;

	if (outcome == OUTCOME_OK)
		outcome = check_fake(call, node, body, setting->interface);
	if (outcome == OUTCOME_OK)
		doc_set(body, str_c(setting->member), doc_copy(call->pool, setting->value));
	return outcome;
}

static enum outcome read_target(struct call *call, const struct doc **target)
{
	static const char *const names[] = { "target", NULL };
	const struct doc *body;
	enum outcome outcome = baremetal_read_arguments(call, names, &body);

	if (outcome == OUTCOME_OK)
		*target = doc_member(body, "target");
	return outcome;
}

enum outcome set_boot_mode(struct call *call)
{
	const struct doc *target;
	enum outcome outcome = read_target(call, &target);

	if (outcome != OUTCOME_OK)
		return outcome;
	if (doc_kind(target) != DOC_STRING)
		return fail_missing(call, "target", "\"bios\" or \"uefi\"");
	struct str mode = doc_string(target);
	if (!baremetal_among(baremetal_boot_modes, mode))
		return call_fail(call, OUTCOME_BAD_DOCUMENT,
			"Invalid boot mode %.*s requested for node. Allowed boot modes are: bios, uefi",
			STR_HEAD_ARG(mode, BAREMETAL_SHOWN));
	const struct setting setting = { "management", "boot_mode", doc_copy(call->pool, target), true };
	return accept(call, "states", baremetal_change_node(call, change_setting, &setting));
}

enum outcome set_secure_boot(struct call *call)
{
	const struct doc *target;
	bool value;
	enum outcome outcome = read_target(call, &target);

	if (outcome != OUTCOME_OK)
		return outcome;
	if (!baremetal_bool(target, &value))
		return call_fail(call, OUTCOME_BAD_DOCUMENT,
			"Invalid secure_boot requested for node. Allowed secure_boot states are: True, False");
	const struct setting setting = { "management", "secure_boot", doc_new_bool(call->pool, value), true };
	return accept(call, "states", baremetal_change_node(call, change_setting, &setting));
}

// ---- console

// The answer has no connection data, since a fake console has none. That a console is off is known without its interface.
enum outcome get_console(struct call *call)
{
	struct doc *doc = doc_new_object(call->pool);
	const struct doc *body;
	struct resource node;
	enum outcome outcome = find_node(call, &node, &body);

	if (outcome != OUTCOME_OK)
		return outcome;
	bool on = doc_member_is_true(body, "console_enabled");
	if (on && !provision_is_fake(body, "console"))
		return provision_fail_unsupported(call->registry, body, "console");
	doc_set(doc, STR("console_enabled"), doc_new_bool(call->pool, on));
	doc_set(doc, STR("console_info"), on ? doc_new_object(call->pool) : NULL);
	baremetal_set_node_etag(call, &node);
	baremetal_write_json(call, doc);
	return OUTCOME_OK;
}

enum outcome set_console(struct call *call)
{
	static const char *const names[] = { "enabled", NULL };
	const struct doc *body;
	bool value;
	enum outcome outcome = baremetal_read_arguments(call, names, &body);

	if (outcome != OUTCOME_OK)
		return outcome;
	if (!baremetal_bool(doc_member(body, "enabled"), &value))
		return fail_missing(call, "enabled", "true or false");
	const struct setting setting = { "console", "console_enabled", doc_new_bool(call->pool, value), false };
	return accept(call, "states/console", baremetal_change_node(call, change_setting, &setting));
}

// ---- boot device: the network is the only one that the fake implementation has

#define BOOT_DEVICE "pxe"

// The member of driver_internal_info which says that the boot device was set for all boots.
#define PERSISTENT "boot_device_persistent"

enum outcome get_boot_devices(struct call *call)
{
	struct doc *doc = doc_new_object(call->pool), *list = doc_new_array(call->pool);
	const struct doc *body;
	struct resource node;
	enum outcome outcome = find_fake(call, "management", &node, &body);

	if (outcome != OUTCOME_OK)
		return outcome;
	doc_push(list, doc_new_string(call->pool, STR(BOOT_DEVICE)));
	doc_set(doc, STR("supported_boot_devices"), list);
	baremetal_set_node_etag(call, &node);
	baremetal_write_json(call, doc);
	return OUTCOME_OK;
}

enum outcome get_boot_device(struct call *call)
{
	struct doc *doc = doc_new_object(call->pool);
	const struct doc *body;
	struct resource node;
	enum outcome outcome = find_fake(call, "management", &node, &body);

	if (outcome != OUTCOME_OK)
		return outcome;
	bool persistent = doc_member_is_true(doc_member(body, "driver_internal_info"), PERSISTENT);
	doc_set_str(call->pool, doc, "boot_device", STR(BOOT_DEVICE));
	doc_set(doc, STR("persistent"), doc_new_bool(call->pool, persistent));
	baremetal_set_node_etag(call, &node);
	baremetal_write_json(call, doc);
	return OUTCOME_OK;
}

static void set_internal(struct call *call, struct doc *body, const char *name, struct doc *value)
{
	const struct doc *info = doc_member(body, "driver_internal_info");
	struct doc *copy = doc_kind(info) == DOC_OBJECT ? doc_copy(call->pool, info) : doc_new_object(call->pool);

	doc_set(copy, str_c(name), value);
	doc_set(body, STR("driver_internal_info"), copy);
}

static enum outcome change_boot_device(struct call *call, const struct resource *node, struct doc *body, const void *arg)
{
	const bool *persistent = arg;
	enum outcome outcome = check_fake(call, node, body, "management");

	if (outcome == OUTCOME_OK)
		set_internal(call, body, PERSISTENT, doc_new_bool(call->pool, *persistent));
	return outcome;
}

enum outcome set_boot_device(struct call *call)
{
	static const char *const names[] = { "boot_device", "persistent", NULL };
	const struct doc *body, *device;
	bool persistent = false;
	enum outcome outcome = baremetal_read_arguments(call, names, &body);

	if (outcome != OUTCOME_OK)
		return outcome;
	device = doc_member(body, "boot_device");
	if (doc_kind(device) != DOC_STRING)
		return fail_missing(call, "boot_device", "a string, such as {\"boot_device\": \"" BOOT_DEVICE "\"}");
	struct str name = doc_string(device);
	if (!str_eq(name, STR(BOOT_DEVICE)))
		return call_fail(call, OUTCOME_BAD_DOCUMENT, "Invalid boot device %.*s specified. The one that there is is " BOOT_DEVICE,
			STR_HEAD_ARG(name, BAREMETAL_SHOWN));
	if (doc_member(body, "persistent") != NULL && !baremetal_bool(doc_member(body, "persistent"), &persistent))
		return call_fail(call, OUTCOME_BAD_DOCUMENT, "Unrecognized value of persistent: it has to be true or false");
	return no_content(baremetal_change_node(call, change_boot_device, &persistent));
}

// ---- indicators

#define INDICATORS "indicators" // the member of driver_internal_info that keeps their states

static const struct indicator {
	const char *name; // "led@system", as addresses name it
	const char *component;
	bool readonly;
	const char *states[4]; // ends with NULL; the last one is the state of an indicator that was never set
} indicators[] = {
	{ "led-0@chassis", "chassis", true, { "OFF", "ON" } },
	{ "led@system", "system", false, { "BLINKING", "OFF", "ON" } },
};

static struct doc *indicator_doc(struct call *call, const struct resource *node, const struct indicator *indicator)
{
	struct pool *pool = call->pool;
	struct doc *doc = doc_new_object(pool), *states = doc_new_array(pool);
	struct str path = str_printf(pool, "nodes/%.*s/management/indicators/%s", UUID_ARG(pool, node->uid),
		indicator->name);

	for (const char *const *state = indicator->states; *state != NULL; state++)
		doc_push(states, doc_new_string(pool, str_c(*state)));
	doc_set_str(pool, doc, "name", str_c(indicator->name));
	doc_set_str(pool, doc, "component", str_c(indicator->component));
	doc_set(doc, STR("readonly"), doc_new_bool(pool, indicator->readonly));
	doc_set(doc, STR("states"), states);
	doc_set(doc, STR("links"), baremetal_links(call, path));
	return doc;
}

enum outcome get_indicators(struct call *call)
{
	struct doc *doc = doc_new_object(call->pool), *list = doc_new_array(call->pool);
	const struct doc *body;
	struct resource node;
	enum outcome outcome = find_fake(call, "management", &node, &body);

	if (outcome != OUTCOME_OK)
		return outcome;
	for (size_t i = 0; i < COUNT_OF(indicators); i++)
		doc_push(list, indicator_doc(call, &node, &indicators[i]));
	doc_set(doc, STR("indicators"), list);
	baremetal_set_node_etag(call, &node);
	baremetal_write_json(call, doc);
	return OUTCOME_OK;
}

static enum outcome find_indicator(struct call *call, const struct indicator **indicator)
{
	// The address has "led@system", or "system/led".
	struct str component = call_param(call, "component"), item = call_param(call, "item");
	struct str name = item.p != NULL ? str_printf(call->pool, "%.*s@%.*s", STR_ARG(item), STR_ARG(component)) : component;
	struct buf known = buf_new(call->pool, 64);

	for (size_t i = 0; i < COUNT_OF(indicators); i++) {
		*indicator = &indicators[i];
		if (str_eq_c(name, indicators[i].name))
			return OUTCOME_OK;
		buf_addf(&known, "%s%s", i > 0 ? ", " : "", indicators[i].name);
	}
	return call_fail(call, OUTCOME_BAD_PARAMETER, "Invalid indicator %.*s specified. These are: %.*s",
		STR_HEAD_ARG(name, BAREMETAL_SHOWN), STR_ARG(known));
}

enum outcome get_indicator(struct call *call)
{
	struct doc *doc = doc_new_object(call->pool);
	const struct indicator *indicator;
	const struct doc *body, *stored;
	struct resource node;
	size_t last = 0;
	enum outcome outcome = find_fake(call, "management", &node, &body);

	if (outcome == OUTCOME_OK)
		outcome = find_indicator(call, &indicator);
	if (outcome != OUTCOME_OK)
		return outcome;
	while (indicator->states[last + 1] != NULL)
		last++;
	stored = doc_member(doc_member(doc_member(body, "driver_internal_info"), INDICATORS), indicator->name);
	doc_set_str(call->pool, doc, "state", doc_kind(stored) == DOC_STRING ? doc_string(stored) : str_c(indicator->states[last]));
	baremetal_set_node_etag(call, &node);
	baremetal_write_json(call, doc);
	return OUTCOME_OK;
}

struct indication {
	const struct indicator *indicator;
	struct str state;
};

static enum outcome change_indicator(struct call *call, const struct resource *node, struct doc *body, const void *arg)
{
	const struct indication *indication = arg;
	const struct doc *stored = doc_member(doc_member(body, "driver_internal_info"), INDICATORS);
	struct doc *states = doc_kind(stored) == DOC_OBJECT ? doc_copy(call->pool, stored) : doc_new_object(call->pool);
	enum outcome outcome = check_fake(call, node, body, "management");

	if (outcome != OUTCOME_OK)
		return outcome;
	doc_set_str(call->pool, states, indication->indicator->name, indication->state);
	set_internal(call, body, INDICATORS, states);
	return OUTCOME_OK;
}

enum outcome set_indicator(struct call *call)
{
	static const char *const names[] = { "state", NULL };
	struct indication indication;
	const struct doc *body;
	enum outcome outcome = baremetal_read_arguments(call, names, &body);

	if (outcome == OUTCOME_OK)
		outcome = find_indicator(call, &indication.indicator);
	if (outcome != OUTCOME_OK)
		return outcome;
	if (doc_kind(doc_member(body, "state")) != DOC_STRING)
		return fail_missing(call, "state", "a string, such as {\"state\": \"ON\"}");
	indication.state = doc_string(doc_member(body, "state"));
	if (indication.indicator->readonly || !baremetal_among(indication.indicator->states, indication.state))
		return call_fail(call, OUTCOME_BAD_DOCUMENT, "Indicator %s can't be set to %.*s: %s", indication.indicator->name,
			STR_HEAD_ARG(indication.state, BAREMETAL_SHOWN),
			indication.indicator->readonly ? "it can only be read" : "it is BLINKING, OFF or ON");
	return no_content(baremetal_change_node(call, change_indicator, &indication));
}

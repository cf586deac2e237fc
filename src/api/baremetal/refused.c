// SPDX-License-Identifier: Apache-2.0
// Calls that need a driver. There are no drivers here, so these answer as OpenStack's service does if the node's driver does not
// support the call; a list that a driver would fill is empty.
#include "base/base.h"

#include "api/baremetal/common/baremetal.h"
#include "api/patch.h"
#include "base/pool.h"
#include "repr/json/member.h"

enum { SINCE_BIOS_QUERY = 74 };

static bool is_call(const struct call *call, const char *id)
{
	return strcmp(call->match.method->id, id) == 0;
}

enum outcome refuse_collection(struct call *call)
{
	return call_fail(call, OUTCOME_BAD_REQUEST, "Which one is to be deleted? Its UUID belongs at the end of the address");
}

// ---- calls that need a driver

// The function of a driver that each call needs.
static const struct refusal {
	const char *id; // of the method in the WADL
	const char *what;
} refusals[] = {
	{ "injectNmi", "inject_nmi" },
	{ "getVendorMethods", "vendor" },
	{ "getVendor", "vendor" },
	{ "postVendor", "vendor" },
	{ "putVendor", "vendor" },
	{ "patchVendor", "vendor" },
	{ "deleteVendor", "vendor" },
	{ "getVendorCall", "vendor" },
	{ "postVendorCall", "vendor" },
	{ "putVendorCall", "vendor" },
	{ "patchVendorCall", "vendor" },
	{ "deleteVendorCall", "vendor" },
	{ "getDriverVendorMethods", "vendor" },
	{ "getDriverVendor", "vendor" },
	{ "postDriverVendor", "vendor" },
	{ "putDriverVendor", "vendor" },
	{ "patchDriverVendor", "vendor" },
	{ "deleteDriverVendor", "vendor" },
	{ "getDriverVendorCall", "vendor" },
	{ "postDriverVendorCall", "vendor" },
	{ "putDriverVendorCall", "vendor" },
	{ "patchDriverVendorCall", "vendor" },
	{ "deleteDriverVendorCall", "vendor" },
	{ "heartbeat", "deploy" },
};

static const struct refusal *find_refusal(const struct call *call)
{
	size_t i = 0;

	while (i < COUNT_OF(refusals) && !is_call(call, refusals[i].id))
		i++;
	assert(i < COUNT_OF(refusals)); // a call added to the WADL needs a row above
	return &refusals[i];
}

static enum outcome driver_of_node(struct call *call, struct str *driver)
{
	struct resource node;
	struct conditions conditions;
	enum outcome outcome = baremetal_read_guard(call, &conditions);

	if (outcome == OUTCOME_OK)
		outcome = kind_find(call, &node_kind, call_param(call, "node"), &node);
	if (outcome != OUTCOME_OK)
		return outcome;
	*driver = doc_string(doc_member(resource_body_doc(call->pool, &node), "driver"));
	return OUTCOME_OK;
}

enum outcome refuse_driver_call(struct call *call)
{
	const struct refusal *refusal = find_refusal(call);
	bool of_driver = call_param(call, "driver").p != NULL;
	struct baremetal_driver found;
	struct str driver = STR("");
	enum outcome outcome = of_driver ? baremetal_find_driver(call, &found) : driver_of_node(call, &driver);

	if (outcome != OUTCOME_OK)
		return outcome;
	if (of_driver)
		driver = found.name;
	return call_fail(call, OUTCOME_BAD_REQUEST, "Driver %.*s does not support %s (disabled or not implemented).",
		STR_ARG(driver), refusal->what);
}

enum outcome refuse_below_node(struct call *call)
{
	return call_fail(call, OUTCOME_FORBIDDEN, "Operation not permitted. Its address is below /v1/volume, not below a node");
}

// ---- what only a driver would know

// Does the node of the address exist, and may the caller see it?
static enum outcome check_node(struct call *call)
{
	struct resource node;

	return kind_find(call, &node_kind, call_param(call, "node"), &node);
}

// Which members the settings would have: there is nothing to show of them, but a mistyped request must not go unnoticed.
static enum outcome check_bios_columns(struct call *call)
{
	static const char *const names[] = { "detail", "fields" };
	bool detail;
	enum outcome outcome = baremetal_read_detail(call, &detail);

	if (outcome != OUTCOME_OK)
		return outcome;
	for (size_t i = 0; call->version < SINCE_BIOS_QUERY && i < COUNT_OF(names); i++) {
		if (call_param(call, names[i]).p != NULL)
			return call_fail(call, OUTCOME_BAD_PARAMETER,
				"Invalid query parameter %s: it came with version 1.%d, and version 1.%u is asked for", names[i],
				SINCE_BIOS_QUERY, call->version);
	}
	if (!detail || call_param(call, "fields").p == NULL)
		return OUTCOME_OK;
	return call_fail(call, OUTCOME_BAD_PARAMETER, "Can't fetch a subset of fields with 'detail' set: ask for one of them");
}

enum outcome list_bios_settings(struct call *call)
{
	struct doc *doc = doc_new_object(call->pool);
	enum outcome outcome = check_node(call);

	if (outcome == OUTCOME_OK)
		outcome = check_bios_columns(call);
	if (outcome != OUTCOME_OK)
		return outcome;
	doc_set(doc, STR("bios"), doc_new_array(call->pool));
	baremetal_write_json(call, doc);
	return OUTCOME_OK;
}

// Is one of the comma-separated addresses a MAC address? The others are ignored.
static bool has_mac(struct call *call, struct str addresses)
{
	struct str address;

	while (str_split(&addresses, ',', &address)) {
		if (baremetal_mac(call->pool, str_trim(address)).p != NULL)
			return true;
	}
	return false;
}

enum outcome lookup_node(struct call *call)
{
	struct str node = call_param(call, "node_uuid");
	struct uuid uuid;
	enum outcome outcome = node.p != NULL ? baremetal_read_uuid(call, "node_uuid", node, &uuid) : OUTCOME_OK;

	if (outcome != OUTCOME_OK)
		return outcome;
	if (node.p == NULL && !has_mac(call, call_param(call, "addresses")))
		return call_fail(call, OUTCOME_BAD_PARAMETER,
			"At least one of 'addresses' and 'node_uuid' parameters is required: MAC addresses with commas between them, or a UUID");
	return call_fail(call, OUTCOME_NOT_FOUND, "Node that waits for its agent could not be found.");
}

enum outcome get_node_inventory(struct call *call)
{
	struct str name = call_param(call, "node");
	enum outcome outcome = check_node(call);

	if (outcome != OUTCOME_OK)
		return outcome;
	return call_fail(call, OUTCOME_NOT_FOUND, "Node inventory record for node %.*s could not be found.",
		STR_HEAD_ARG(name, BAREMETAL_SHOWN));
}

enum outcome get_bios_setting(struct call *call)
{
	enum outcome outcome = check_node(call);
	struct str node = call_param(call, "node"), setting = call_param(call, "item");

	if (outcome != OUTCOME_OK)
		return outcome;
	return call_fail(call, OUTCOME_NOT_FOUND, "Node %.*s doesn't have a BIOS setting '%.*s'",
		STR_HEAD_ARG(node, BAREMETAL_SHOWN), STR_HEAD_ARG(setting, BAREMETAL_SHOWN));
}

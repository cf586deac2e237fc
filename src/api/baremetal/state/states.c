// SPDX-License-Identifier: Apache-2.0
// Parts of a node that have addresses of their own: states, maintenance, validation.
#include "base/base.h"

#include "api/baremetal/common/baremetal.h"
#include "api/patch.h"
#include "base/pool.h"
#include "registry/baremetal/provision.h"
#include "registry/resource/resource.h"
#include "repr/json/member.h"

// ---- states

static const struct {
	const char *name;
	unsigned since;
} states[] = {
	{ "power_state", 1 }, { "provision_state", 1 }, { "target_power_state", 1 }, { "target_provision_state", 1 },
	{ "last_error", 1 }, { "console_enabled", 1 }, { "provision_updated_at", 1 }, { "raid_config", 12 },
	{ "target_raid_config", 12 }, { "boot_mode", 75 }, { "secure_boot", 75 },
};

enum outcome get_states(struct call *call)
{
	struct resource node;
	enum outcome outcome = kind_find(call, &node_kind, call_param(call, "node"), &node);

	if (outcome != OUTCOME_OK)
		return outcome;
	struct body_shown body = baremetal_body(call, &node_kind, &node);
	struct buf out = buf_new(call->pool, 512);
	for (size_t i = 0; i < COUNT_OF(states); i++) {
		if (call->version < states[i].since)
			continue;
		buf_add(&out, i == 0 ? STR("{\"") : STR(",\""));
		buf_add(&out, str_c(states[i].name));
		BUF_LIT(&out, "\":");
		baremetal_add_stored(call, states[i].name, &body, &out);
	}
	buf_addc(&out, '}');
	baremetal_set_node_etag(call, &node);
	call->response.body = buf_str(&out);
	call->response.content_type = STR("application/json");
	return OUTCOME_OK;
}

// ---- changing a node as the service

// The argument of apply_change().
struct node_change {
	struct call *call;
	baremetal_node_change_fn *change;
	const void *arg;
	bool found; // the node is there, so OUTCOME_NOT_FOUND is what the change ended with
};

static enum outcome apply_change(void *arg, const struct resource *current, struct content *content)
{
	struct node_change *change = arg;
	struct doc *body = resource_body_doc(change->call->pool, current);

	change->found = true;
	*content = (struct content){ .meta = current->meta, .document = body, .locked = current->locked };
	enum outcome outcome = change->change(change->call, current, body, change->arg);
	return outcome == OUTCOME_OK ? baremetal_check_size(change->call, body) : outcome;
}

enum outcome baremetal_change_node(struct call *call, baremetal_node_change_fn *change, const void *arg)
{
	struct node_change node_change = { call, change, arg, false };
	const struct edit edit = { .apply = apply_change, .arg = &node_change, .by_service = true };
	struct str name = call_param(call, "node");
	struct conditions conditions;
	struct resource node;
	struct ident ident;

	assert(change != NULL);
	enum outcome outcome = baremetal_begin_change(call, &node_kind, name, &conditions, &ident);
	if (outcome != OUTCOME_OK)
		return outcome;
	outcome = resource_change(call->registry, &ident, &edit, conditions_guard(&conditions), &node);
	if (outcome == OUTCOME_NOT_FOUND && !node_change.found)
		return baremetal_fail_not_found(call, &node_kind, name);
	if (outcome == OUTCOME_OK)
		baremetal_set_node_etag(call, &node);
	return outcome;
}

// ---- maintenance

struct maintenance {
	bool set;
	struct str reason; // p NULL: no reason was given
};

static enum outcome set_maintenance(struct call *call, const struct resource *node, struct doc *body, const void *arg)
{
	const struct maintenance *maintenance = arg;
	struct pool *pool = call->pool;
	enum outcome outcome = provision_check_reserved(call->registry, &node->uid, body);

	if (outcome != OUTCOME_OK)
		return outcome;
	doc_set(body, STR("maintenance"), doc_new_bool(pool, maintenance->set));
	doc_set(body, STR("maintenance_reason"),
		maintenance->reason.p != NULL ? doc_new_string(pool, maintenance->reason) : NULL);
	return OUTCOME_OK;
}

static enum outcome change_maintenance(struct call *call, const struct maintenance *maintenance)
{
	enum outcome outcome = baremetal_change_node(call, set_maintenance, maintenance);

	return outcome == OUTCOME_OK ? OUTCOME_ACCEPTED : outcome;
}

static enum outcome read_reason(struct call *call, struct str *reason)
{
	struct doc *body;
	enum outcome outcome = call_read(call, &any_document, &body);

	if (outcome != OUTCOME_OK || body == NULL)
		return outcome;
	if (doc_kind(body) != DOC_OBJECT)
		return call_fail(call, OUTCOME_BAD_DOCUMENT,
			"The body must be an object like {\"reason\": \"fan broken\"}, or empty");
	for (struct doc_iter it = doc_iter(body); doc_next(&it);) {
		if (!str_eq(it.name, STR("reason")))
			return call_fail(call, OUTCOME_BAD_DOCUMENT,
				"Schema error for maintenance: %.*s is not known; the one member that may be there is reason",
				STR_HEAD_ARG(it.name, BAREMETAL_SHOWN));
		if (it.value != NULL && doc_kind(it.value) != DOC_STRING)
			return call_fail(call, OUTCOME_BAD_DOCUMENT,
				"Schema error for maintenance: reason must be a string or null");
		if (it.value != NULL)
			*reason = doc_string(it.value);
	}
	return OUTCOME_OK;
}

enum outcome put_maintenance(struct call *call)
{
	struct maintenance maintenance = { .set = true };
	enum outcome outcome = read_reason(call, &maintenance.reason);

	return outcome == OUTCOME_OK ? change_maintenance(call, &maintenance) : outcome;
}

enum outcome delete_maintenance(struct call *call)
{
	return change_maintenance(call, &(struct maintenance){ .set = false });
}

// ---- validation

// The result for one interface. If its implementation needs no hardware, it is valid. If it needs hardware, it can't be checked
// here, and is reported as not supported.
static struct doc *validation(struct call *call, const struct resource *node, const struct doc *body, const char *interface)
{
	static const char *const idle[] = { "fake", "noop", NULL };
	struct pool *pool = call->pool;
	struct doc *result = doc_new_object(pool);
	struct str implementation = doc_string(doc_member(body, str_printf(pool, "%s_interface", interface).p));
	struct str driver = doc_string(doc_member(body, "driver"));

	if (baremetal_among(idle, implementation)) {
		struct str wrong = strcmp(interface, "deploy") == 0 ? provision_wrong_traits(pool, node, body) : STR_NONE;
		doc_set(result, STR("result"), doc_new_bool(pool, wrong.p == NULL));
		if (wrong.p != NULL)
			doc_set_str(pool, result, "reason", wrong);
	} else if (str_eq(implementation, str_printf(pool, "no-%s", interface))) {
		doc_set(result, STR("result"), doc_new_bool(pool, false));
		doc_set_str(pool, result, "reason", str_printf(pool,
			"Driver %.*s does not support %s (disabled or not implemented).", STR_ARG(driver), interface));
	} else {
		doc_set(result, STR("result"), NULL);
		doc_set_str(pool, result, "reason", STR("not supported"));
	}
	return result;
}

enum outcome validate_node(struct call *call)
{
	struct str name = call_param(call, "node_uuid").p != NULL ? call_param(call, "node_uuid") : call_param(call, "node");
	struct pool *pool = call->pool;
	struct resource node;

	if (name.p == NULL)
		return call_fail(call, OUTCOME_BAD_PARAMETER, "Which node? Ask for /v1/nodes/NODE/validate");
	enum outcome outcome = kind_find(call, &node_kind, name, &node);
	if (outcome != OUTCOME_OK)
		return outcome;
	struct doc *doc = doc_new_object(pool);
	const struct doc *body = resource_body_doc(pool, &node);
	for (const char *const *i = baremetal_interfaces; *i != NULL; i++) {
		if (strcmp(*i, "vendor") != 0)
			doc_set(doc, str_c(*i), validation(call, &node, body, *i));
	}
	baremetal_write_json(call, doc);
	return OUTCOME_OK;
}

// SPDX-License-Identifier: Apache-2.0
// The table of provision states, and what the verbs change in a node.
#include "base/base.h"

#include "base/buf.h"
#include "base/clock.h"
#include "base/pool.h"
#include "registry/baremetal/internal.h"
#include "registry/baremetal/provision.h"
#include "registry/core/failure.h"
#include "registry/core/stored.h"
#include "repr/json/member.h"
#include "sql/baremetal.h"

enum { MEMBER_MAX = 32, SECONDS = 19 /* of "2026-11-21T05:24:00" */ };

static const struct provision_verb verbs[] = {
	{ "active", "deploy", 1, "provisioning" },
	{ "deploy", "deploy", 73, "provisioning" },
	{ "rebuild", "rebuild", 1, "provisioning" },
	{ "deleted", "delete", 1, NULL },
	{ "undeploy", "delete", 73, NULL },
	{ "manage", "manage", 4, NULL },
	{ "provide", "provide", 4, "providing" },
	{ "inspect", "inspect", 6, NULL },
	{ "abort", "abort", 13, NULL },
	{ "clean", "clean", 15, "cleaning" },
	{ "adopt", "adopt", 17, NULL },
	{ "rescue", "rescue", 38, "rescuing" },
	{ "unrescue", "unrescue", 38, "unrescuing" },
};

// The whole state machine. A state that is not the last one of its verb's work is left out: "deploy" leads from "available" to
// "active".
static const struct transition {
	const char *state;
	const char *verb;
	const char *next;
	const char *target; // target_provision_state in the next state; NULL: none
	const char *needs;  // the interface of the node that does the work; NULL: it is a change of the record alone
	const char *error;  // last_error in the next state; NULL: none
} transitions[] = {
	{ "enroll", "manage", "manageable", NULL, "power", NULL },
	{ "available", "manage", "manageable", NULL, NULL, NULL },
	{ "clean failed", "manage", "manageable", NULL, NULL, NULL },
	{ "inspect failed", "manage", "manageable", NULL, NULL, NULL },
	{ "adopt failed", "manage", "manageable", NULL, NULL, NULL },

	{ "manageable", "provide", "available", NULL, "deploy", NULL },
	{ "manageable", "clean", "manageable", NULL, "deploy", NULL },
	{ "manageable", "inspect", "manageable", NULL, "inspect", NULL },
	{ "inspect failed", "inspect", "manageable", NULL, "inspect", NULL },
	{ "manageable", "adopt", "active", NULL, "deploy", NULL },
	{ "adopt failed", "adopt", "active", NULL, "deploy", NULL },

	{ "available", "deploy", "active", NULL, "deploy", NULL },
	{ "deploy failed", "deploy", "active", NULL, "deploy", NULL },
	{ "deploy failed", "rebuild", "active", NULL, "deploy", NULL },
	{ "active", "rebuild", "active", NULL, "deploy", NULL },
	{ "error", "rebuild", "active", NULL, "deploy", NULL },

	{ "active", "rescue", "rescue", NULL, "rescue", NULL },
	{ "rescue", "rescue", "rescue", NULL, "rescue", NULL },
	{ "rescue failed", "rescue", "rescue", NULL, "rescue", NULL },
	{ "unrescue failed", "rescue", "rescue", NULL, "rescue", NULL },
	{ "rescue", "unrescue", "active", NULL, "rescue", NULL },
	{ "rescue failed", "unrescue", "active", NULL, "rescue", NULL },
	{ "unrescue failed", "unrescue", "active", NULL, "rescue", NULL },

	{ "active", "delete", "available", NULL, "deploy", NULL },
	{ "wait call-back", "delete", "available", NULL, "deploy", NULL },
	{ "deploy failed", "delete", "available", NULL, "deploy", NULL },
	{ "error", "delete", "available", NULL, "deploy", NULL },
	{ "rescue", "delete", "available", NULL, "deploy", NULL },
	{ "rescue wait", "delete", "available", NULL, "deploy", NULL },
	{ "rescue failed", "delete", "available", NULL, "deploy", NULL },
	{ "unrescue failed", "delete", "available", NULL, "deploy", NULL },

	{ "clean wait", "abort", "clean failed", "available", NULL, "By request, the clean operation was aborted" },
	{ "inspect wait", "abort", "inspect failed", "manageable", NULL, "Inspection was aborted by request." },
	{ "rescue wait", "abort", "rescue failed", "rescue", NULL, "By request, the rescue operation was aborted" },
};

const struct provision_verb *provision_verb_find(struct str target)
{
	for (size_t i = 0; i < COUNT_OF(verbs); i++) {
		if (str_eq_c(target, verbs[i].target))
			return &verbs[i];
	}
	return NULL;
}

bool provision_is_fake(const struct doc *body, const char *interface)
{
	char member[MEMBER_MAX];

	snprintf(member, sizeof(member), "%.16s_interface", interface);
	return str_eq(baremetal_text(body, member), STR("fake"));
}

// The time in the form of a BAREMETAL_TIME member. us: microseconds since 1970, UTC.
static struct doc *time_doc(struct pool *pool, int64_t us)
{
	struct buf text = buf_new(pool, 40);

	clock_add_rfc3339(&text, us);
	return doc_new_string(pool, str_printf(pool, "%.*s+00:00", SECONDS, text.p));
}

// ---- refusals

enum outcome provision_fail_unsupported(struct registry *registry, const struct doc *body, const char *function)
{
	struct str driver = baremetal_text(body, "driver");

	return registry_fail(registry, OUTCOME_BAD_REQUEST, "Driver %.*s does not support %s (disabled or not implemented).",
		STR_ARG(driver), function);
}

static enum outcome check_host(struct registry *registry, const struct uuid *uid, struct str host)
{
	if (host.p == NULL)
		return OUTCOME_OK;
	return registry_fail(registry, OUTCOME_CONFLICT,
		"Node %.*s is locked by host %.*s, please retry after the current operation is completed.",
		UUID_ARG(registry->pool, *uid), STR_ARG(host));
}

enum outcome provision_check_reserved(struct registry *registry, const struct uuid *uid, const struct doc *body)
{
	return check_host(registry, uid, baremetal_text(body, "reservation"));
}

enum outcome provision_check_settled(struct registry *registry, const struct uuid *uid, const struct doc *body, bool inspecting)
{
	static const char *const open[] = { "deploy failed", "inspecting", "inspect failed", "inspect wait", "clean failed", "error",
		"verifying", "adopt failed", "rescue failed", "unrescue failed", NULL };
	struct str state = baremetal_text(body, "provision_state");

	if (baremetal_text(body, "target_provision_state").p != NULL && !baremetal_among(open, state))
		return registry_fail(registry, OUTCOME_CONFLICT, "Node %.*s can not be updated while a state transition is in progress.",
			UUID_ARG(registry->pool, *uid));
	if (!inspecting || !str_eq(state, STR("inspecting")))
		return OUTCOME_OK;
	return registry_fail(registry, OUTCOME_CONFLICT, "Cannot update node \"%.*s\" while it is in state \"inspecting\".",
		UUID_ARG(registry->pool, *uid));
}

struct db_call *provision_reservation_call(struct pool *pool, const struct ident *ident)
{
	const struct sql_node_reservation in = {
		.type_id = ident->type->id,
		.uid = uuid_bytes(&ident->uid),
		.key_kind = str_c(ident->kind),
		.key_value = ident->value,
	};

	struct db_call *call = POOL_NEW(pool, struct db_call);

	*call = sql_node_reservation_call(pool, ident->kind == NULL ? SQL_RESOURCE_IDENT_UID : SQL_RESOURCE_IDENT_KEY, &in);
	return call;
}

enum outcome provision_check_reservation(struct registry *registry, const struct db_call *call, const struct resource *resource, bool inspecting)
{
	struct uuid uid;

	assert(db_txn_writes(registry->db) && resource->type->rules != NULL);
	if (call->rows.n == 0)
		return OUTCOME_OK;
	const struct sql_node_reservation_row *row = sql_node_reservation_row(&call->rows, 0);
	if (!uuid_from_bytes(row->uid, &uid))
		return OUTCOME_INTERNAL;
	if (!inspecting || !str_eq(row->state, STR("inspecting")))
		return check_host(registry, &uid, row->reservation);
	return registry_fail(registry, OUTCOME_CONFLICT, "Cannot update %s \"%.*s\" on \"%.*s\" while it is in state \"inspecting\".",
		resource->type->rules->noun, UUID_ARG(registry->pool, resource->uid), UUID_ARG(registry->pool, uid));
}

static const struct transition *find_transition(struct str state, const char *verb)
{
	for (size_t i = 0; i < COUNT_OF(transitions); i++) {
		if (str_eq_c(state, transitions[i].state) && strcmp(transitions[i].verb, verb) == 0)
			return &transitions[i];
	}
	return NULL;
}

static enum outcome fail_state(struct registry *registry, struct str id, const char *target, struct str state)
{
	struct buf possible = buf_new(registry->pool, 128);

	for (size_t i = 0; i < COUNT_OF(verbs); i++) {
		if (find_transition(state, verbs[i].name) != NULL)
			buf_addf(&possible, "%s\"%s\"", possible.n > 0 ? ", " : "", verbs[i].target);
	}
	struct str choices = possible.n > 0 ? buf_str(&possible) : STR("nothing");
	return registry_fail(registry, OUTCOME_BAD_REQUEST,
		"The requested action \"%s\" can not be performed on node \"%.*s\" while it is in state \"%.*s\". Possible in this "
		"state: %.*s", target, STR_ARG(id), STR_ARG(state), STR_ARG(choices));
}

static enum outcome check_verb(struct registry *registry, struct str id, const struct provision_verb *verb,
	const struct doc *body)
{
	bool ends = strcmp(verb->name, "delete") == 0 || strcmp(verb->name, "rebuild") == 0;

	if (verb->doing != NULL && baremetal_true(body, "maintenance"))
		return registry_fail(registry, OUTCOME_BAD_REQUEST,
			"The %s operation can't be performed on node %.*s because it's in maintenance mode.", verb->doing, STR_ARG(id));
	if (ends && baremetal_true(body, "protected"))
		return registry_fail(registry, OUTCOME_FORBIDDEN,
			"Node %.*s is protected and cannot be undeployed, rebuilt or deleted", STR_ARG(id));
	if (strcmp(verb->name, "provide") == 0 && baremetal_true(body, "retired"))
		return registry_fail(registry, OUTCOME_BAD_REQUEST,
			"The %s operation can't be performed on node %.*s because it is retired.", verb->doing, STR_ARG(id));
	return OUTCOME_OK;
}

// ---- the traits of the instance

// Is the value nothing: null, or an empty text, list or object?
static bool is_nothing(const struct doc *value)
{
	switch (doc_kind(value)) {
	case DOC_NULL:
		return true;
	case DOC_STRING:
		return doc_string(value).n == 0;
	case DOC_ARRAY:
	case DOC_OBJECT:
		return doc_length(value) == 0;
	default:
		return false;
	}
}

static bool has_text(const struct doc *list, struct str text)
{
	for (size_t i = 0; i < doc_elements(list); i++) {
		if (str_eq(doc_string(doc_at(list, i)), text))
			return true;
	}
	return false;
}

struct str provision_wrong_traits(struct pool *pool, const struct resource *node, const struct doc *body)
{
	const struct doc *info, *traits;

	if (!doc_get(body, STR("instance_info"), &info) || !doc_get(info, STR("traits"), &traits) || is_nothing(traits))
		return STR_NONE;
	const struct doc *own = resource_traits_doc(pool, node);
	struct buf missing = buf_new(pool, 64);
	bool texts = doc_kind(traits) == DOC_ARRAY;
	for (size_t i = 0; i < doc_elements(traits); i++) {
		struct str trait = doc_string(doc_at(traits, i));
		texts = texts && doc_kind(doc_at(traits, i)) == DOC_STRING;
		if (!has_text(own, trait))
			buf_addf(&missing, "%s%.*s", missing.n > 0 ? ", " : "", STR_ARG(trait));
	}
	if (!texts)
		return str_printf(pool, "Error parsing traits from Node %.*s instance_info field. A list of strings is expected.",
			UUID_ARG(pool, node->uid));
	if (missing.n == 0)
		return STR_NONE;
	struct str excerpt = baremetal_excerpt(pool, buf_str(&missing));
	return str_printf(pool, "Cannot specify instance traits that are not also set on the node. Node %.*s is missing traits %.*s",
		UUID_ARG(pool, node->uid), STR_ARG(excerpt));
}

static enum outcome check_traits(struct registry *registry, const struct resource *node, const struct doc *body)
{
	struct str wrong = provision_wrong_traits(registry->pool, node, body);

	if (wrong.p == NULL)
		return OUTCOME_OK;
	return registry_fail(registry, OUTCOME_BAD_REQUEST, "Failed to validate deploy or power info for node %.*s: %.*s",
		UUID_ARG(registry->pool, node->uid), STR_ARG(wrong));
}

// ---- what a verb leaves in the node

static void store_configdrive(struct pool *pool, const struct doc *configdrive, struct doc *body)
{
	if (configdrive != NULL)
		doc_set(baremetal_own_instance_info(pool, body), STR("configdrive"), doc_copy(pool, configdrive));
}

// A node without an instance keeps nothing of the one that it had. network_data is not the instance's: the ramdisks for deploying
// and cleaning use it. And a console that is enabled is so for the next instance, too.
static void forget_instance(struct pool *pool, struct doc *body)
{
	doc_set(body, STR("instance_uuid"), NULL);
	doc_set(body, STR("allocation_uuid"), NULL);
	doc_set(body, STR("vifs"), doc_new_object(pool));
	doc_set(body, STR("instance_info"), doc_new_object(pool));
}

static void set_state(struct registry *registry, const struct transition *to, const char *next, struct doc *body)
{
	struct pool *pool = registry->pool;

	doc_set_str(pool, body, "provision_state", str_c(next));
	doc_set(body, STR("target_provision_state"), to->target != NULL ? doc_new_string(pool, str_c(to->target)) : NULL);
	doc_set(body, STR("last_error"), to->error != NULL ? doc_new_string(pool, str_c(to->error)) : NULL);
	doc_set(body, STR("provision_updated_at"), time_doc(pool, registry->stamp_us));
}

// inspection_started_at has a time only while an inspection goes on.
static void end_inspection(struct doc *body, struct doc *finished)
{
	doc_set(body, STR("inspection_started_at"), NULL);
	if (finished != NULL)
		doc_set(body, STR("inspection_finished_at"), finished);
}

// If the node's clean step must not be interrupted, notes in it that the cleaning ends after it. False: the cleaning can end now.
static bool defers_abort(struct pool *pool, struct doc *body)
{
	const struct doc *step = doc_member(body, "clean_step");

	if (doc_length(step) == 0 || doc_member_is_true(step, "abortable"))
		return false;
	struct doc *noted = doc_copy(pool, step);
	doc_set(noted, STR("abort_after"), doc_new_bool(pool, true));
	doc_set(body, STR("clean_step"), noted);
	return true;
}

// manual: a client had asked for the cleaning, with its steps, which leads back to "manageable".
static void abort_cleaning(struct pool *pool, bool manual, struct doc *body)
{
	const struct doc *step = doc_member(body, "clean_step");

	if (doc_length(step) > 0) {
		struct str error = baremetal_text(body, "last_error"), interface = baremetal_text(step, "interface");
		struct str name = baremetal_text(step, "step");
		doc_set_str(pool, body, "last_error", str_printf(pool, "%.*s during or after the completion of step \"%.*s.%.*s\"",
			STR_ARG(error), STR_ARG(interface), STR_ARG(name)));
	}
	if (manual)
		doc_set_str(pool, body, "target_provision_state", STR("manageable"));
	doc_set(body, STR("clean_step"), doc_new_object(pool));
}

enum outcome provision_node(struct registry *registry, const struct resource *node, const struct provision_verb *verb,
	const struct doc *configdrive, struct doc *body)
{
	assert(registry->stamp_us != 0 && doc_kind(body) == DOC_OBJECT);
	struct pool *pool = registry->pool;
	struct str id = uuid_str(pool, node->uid), state = baremetal_text(body, "provision_state");
	const struct transition *to = find_transition(state, verb->name);
	bool deploys = strcmp(verb->name, "deploy") == 0 || strcmp(verb->name, "rebuild") == 0;
	enum outcome outcome = provision_check_reserved(registry, &node->uid, body);
	if (outcome == OUTCOME_OK)
		outcome = check_verb(registry, id, verb, body);
	if (outcome != OUTCOME_OK)
		return outcome;
	if (to == NULL)
		return fail_state(registry, id, verb->target, state);
	if (to->needs != NULL && !provision_is_fake(body, to->needs))
		return provision_fail_unsupported(registry, body, to->needs);
	outcome = deploys ? check_traits(registry, node, body) : OUTCOME_OK;
	if (outcome != OUTCOME_OK)
		return outcome;
	bool aborts = strcmp(verb->name, "abort") == 0, cleaning = str_eq(state, STR("clean wait"));
	bool manual = str_eq(baremetal_text(body, "target_provision_state"), STR("manageable"));
	if (aborts && cleaning && defers_abort(pool, body))
		return OUTCOME_OK;
	// A retired node does not become available again.
	bool stays = strcmp(to->next, "available") == 0 && baremetal_true(body, "retired");
	set_state(registry, to, stays ? "manageable" : to->next, body);
	if (deploys)
		store_configdrive(pool, configdrive, body);
	else if (strcmp(verb->name, "delete") == 0)
		forget_instance(pool, body);
	else if (strcmp(verb->name, "inspect") == 0)
		end_inspection(body, time_doc(pool, registry->stamp_us));
	else if (aborts && cleaning)
		abort_cleaning(pool, manual, body);
	else if (aborts)
		end_inspection(body, NULL);
	return OUTCOME_OK;
}

// SPDX-License-Identifier: Apache-2.0
// PUT /v1/nodes/NODE/states/provision: what a request may contain, by version. Which verb leads to which state is in
// registry/baremetal/.
#include "base/base.h"

#include "api/baremetal/common/baremetal.h"
#include "api/patch.h"
#include "base/ascii.h"
#include "base/pool.h"
#include "http/uri.h"
#include "registry/baremetal/allocation.h"
#include "registry/baremetal/provision.h"
#include "repr/json/member.h"

enum {
	SINCE_REBUILD_CONFIGDRIVE = 35,
	SINCE_INSPECT_ABORT = 41,
	SINCE_CONFIGDRIVE_OBJECT = 56,
	SINCE_VENDOR_DATA = 59,
	SINCE_DEPLOY_STEPS = 69,
	SINCE_DISABLE_RAMDISK = 70,
};

// A request for a provision state.
struct provision_request {
	const struct provision_verb *verb;
	const struct doc *configdrive; // NULL: none, or an empty one
	struct provision_result *result;
};

// What is to be done besides the change of the node.
struct provision_result {
	bool frees;             // the node loses this allocation, which is deleted
	struct uuid allocation;
};

// ---- shared with fake.c

enum outcome baremetal_read_arguments(struct call *call, const char *const *names, const struct doc **body)
{
	struct doc *read;
	struct buf known = buf_new(call->pool, 128);
	enum outcome outcome = call_read(call, &any_document, &read);

	if (outcome != OUTCOME_OK)
		return outcome;
	*body = read != NULL ? read : doc_new_object(call->pool);
	for (const char *const *name = names; *name != NULL; name++)
		buf_addf(&known, "%s%s", name == names ? "" : ", ", *name);
	if (doc_kind(*body) != DOC_OBJECT)
		return call_fail(call, OUTCOME_BAD_DOCUMENT, "The body must be an object with: %.*s", STR_ARG(known));
	for (struct doc_iter it = doc_iter(*body); doc_next(&it);) {
		if (!baremetal_among(names, it.name))
			return call_fail(call, OUTCOME_BAD_DOCUMENT, "Unexpected arguments: %.*s. These may be given: %.*s",
				STR_HEAD_ARG(it.name, BAREMETAL_SHOWN), STR_ARG(known));
	}
	return OUTCOME_OK;
}

void baremetal_locate_part(struct call *call, const char *part)
{
	struct buf path = buf_new(call->pool, 128);

	BUF_LIT(&path, "/v1/nodes/");
	uri_add_segment(&path, call_param(call, "node"));
	buf_addf(&path, "/%s", part);
	response_set(&call->response, "Location", baremetal_url(call, buf_str(&path)));
}

// ---- arguments

// The argument of that name; NULL if it is absent, null, or an empty string, object or list, which all mean the same.
static const struct doc *argument(const struct doc *body, const char *name)
{
	const struct doc *value = doc_member(body, name);

	if (doc_kind(value) == DOC_STRING)
		return doc_string(value).n > 0 ? value : NULL;
	if (doc_kind(value) == DOC_OBJECT || doc_kind(value) == DOC_ARRAY)
		return doc_length(value) > 0 ? value : NULL;
	return value;
}

static enum outcome read_verb(struct call *call, const struct doc *body, const struct provision_verb **verb)
{
	const struct doc *target = argument(body, "target");

	if (doc_kind(target) != DOC_STRING)
		return call_fail(call, OUTCOME_BAD_DOCUMENT,
			"Missing mandatory parameter: target. It has to be a string, such as {\"target\": \"manage\"}");
	struct str word = doc_string(target);
	*verb = provision_verb_find(word);
	if (*verb == NULL)
		return call_fail(call, OUTCOME_BAD_DOCUMENT,
			"The requested action \"%.*s\" could not be understood. Invalid target: it is one of active, deploy, rebuild, "
			"deleted, undeploy, manage, provide, inspect, abort, clean, adopt, rescue, unrescue",
			STR_HEAD_ARG(word, BAREMETAL_SHOWN));
	if (call->version < (*verb)->since)
		return baremetal_fail_too_new(call, str_printf(call->pool, "the target %s", (*verb)->target).p, (*verb)->since);
	return OUTCOME_OK;
}

static enum outcome check_configdrive_object(struct call *call, const struct doc *configdrive)
{
	static const char *const objects[] = { "meta_data", "network_data", "vendor_data", NULL };

	if (call->version < SINCE_CONFIGDRIVE_OBJECT)
		return call_fail(call, OUTCOME_BAD_DOCUMENT, "Providing a JSON object for configdrive is only supported starting with "
			"API version 1.%d", SINCE_CONFIGDRIVE_OBJECT);
	for (struct doc_iter it = doc_iter(configdrive); doc_next(&it);) {
		bool is_user_data = str_eq(it.name, STR("user_data"));
		enum doc_kind kind = doc_kind(it.value);
		if (!is_user_data && !baremetal_among(objects, it.name))
			return call_fail(call, OUTCOME_BAD_DOCUMENT,
				"Invalid configdrive format: Additional properties are not allowed ('%.*s' was unexpected); these are: "
				"meta_data, network_data, user_data, vendor_data", STR_HEAD_ARG(it.name, BAREMETAL_SHOWN));
		if (is_user_data ? kind == DOC_BOOL || kind == DOC_NUMBER : kind != DOC_OBJECT)
			return call_fail(call, OUTCOME_BAD_DOCUMENT, "Invalid configdrive format: %.*s has to be %s", STR_ARG(it.name),
				is_user_data ? "an object, a list, a string or null" : "an object");
		if (str_eq(it.name, STR("vendor_data")) && call->version < SINCE_VENDOR_DATA)
			return call_fail(call, OUTCOME_BAD_DOCUMENT, "Providing vendor_data in configdrive is only supported starting "
				"with API version 1.%d", SINCE_VENDOR_DATA);
	}
	return OUTCOME_OK;
}

// A URL, or characters of base64 with the blanks that may be between them. As in Ironic, that is not decoded: it finds what was
// meant to be JSON.
static bool is_configdrive_text(struct str text)
{
	for (size_t i = 0; i + 2 < text.n; i++) {
		if (memcmp(text.p + i, "://", 3) == 0)
			return true;
	}
	for (size_t i = 0; i < text.n; i++) {
		if (!ascii_is_alnum(text.p[i]) && (text.p[i] == '\0' || strchr("+/=\n\r\t ", text.p[i]) == NULL))
			return false;
	}
	return true;
}

static enum outcome check_configdrive(struct call *call, const struct provision_verb *verb, const struct doc *configdrive)
{
	bool rebuild = strcmp(verb->name, "rebuild") == 0;
	bool fits = strcmp(verb->name, "deploy") == 0 || (rebuild && call->version >= SINCE_REBUILD_CONFIGDRIVE);

	if (configdrive == NULL)
		return OUTCOME_OK;
	if (!fits)
		return call_fail(call, OUTCOME_BAD_DOCUMENT,
			"Adding a config drive is only supported when setting provision state to active%s",
			call->version >= SINCE_REBUILD_CONFIGDRIVE ? ", rebuild" : "");
	if (doc_kind(configdrive) == DOC_OBJECT)
		return check_configdrive_object(call, configdrive);
	if (doc_kind(configdrive) == DOC_STRING)
		return is_configdrive_text(doc_string(configdrive)) ? OUTCOME_OK : call_fail(call, OUTCOME_BAD_DOCUMENT,
			"Invalid configdrive format: it is neither a JSON, nor a URL, nor a base64 string");
	return call_fail(call, OUTCOME_BAD_DOCUMENT, "Invalid configdrive format: it has to be a string, an object or null");
}

// Checks a step of the list that kind names: "clean" or "deploy". has_priority: a step has to have a priority and arguments.
static enum outcome check_step(struct call *call, const char *kind, const struct doc *step, bool has_priority)
{
	static const char *const interfaces[] = { "bios", "deploy", "management", "power", "raid", "vendor", NULL };
	const struct doc *interface = NULL, *name = NULL, *args = NULL, *priority = NULL;
	size_t known = 0;
	uint64_t number;

	known += doc_get(step, STR("interface"), &interface) ? 1 : 0;
	known += doc_get(step, STR("step"), &name) ? 1 : 0;
	bool has_args = doc_get(step, STR("args"), &args);
	bool prioritised = has_priority && doc_get(step, STR("priority"), &priority);
	known += has_args ? 1 : 0;
	known += prioritised ? 1 : 0;
	if (doc_kind(interface) != DOC_STRING || !baremetal_among(interfaces, doc_string(interface)))
		return call_fail(call, OUTCOME_BAD_DOCUMENT,
			"Invalid %s_steps: interface is required, and one of bios, deploy, management, power, raid, vendor", kind);
	if (doc_kind(name) != DOC_STRING || doc_string(name).n == 0)
		return call_fail(call, OUTCOME_BAD_DOCUMENT, "Invalid %s_steps: step is required, and a string that is not empty",
			kind);
	if (doc_kind(args) != DOC_OBJECT && (has_args || has_priority))
		return call_fail(call, OUTCOME_BAD_DOCUMENT, "Invalid %s_steps: args%s has to be an object", kind,
			has_priority ? " is required, and" : "");
	if (has_priority && !baremetal_step_priority(priority, &number))
		return call_fail(call, OUTCOME_BAD_DOCUMENT,
			"Invalid %s_steps: priority is required, and an integer from 0 on or a string of digits", kind);
	if (doc_length(step) == known)
		return OUTCOME_OK;
	return call_fail(call, OUTCOME_BAD_DOCUMENT, "Invalid %s_steps: a step has interface, step, args%s and nothing else", kind,
		has_priority ? ", priority" : "");
}

static enum outcome check_steps(struct call *call, const char *kind, const struct doc *steps, bool has_priority)
{
	enum outcome outcome = OUTCOME_OK;

	if (doc_kind(steps) != DOC_ARRAY)
		return call_fail(call, OUTCOME_BAD_DOCUMENT, "Invalid %s_steps: they have to be a list of objects", kind);
	for (size_t i = 0; outcome == OUTCOME_OK && i < doc_length(steps); i++)
		outcome = check_step(call, kind, doc_at(steps, i), has_priority);
	return outcome;
}

// The steps of a driver here do nothing, so they are checked and then forgotten.
static enum outcome check_clean_steps(struct call *call, const struct provision_verb *verb, const struct doc *steps)
{
	bool cleans = strcmp(verb->name, "clean") == 0;

	if (steps == NULL && cleans)
		return call_fail(call, OUTCOME_BAD_DOCUMENT,
			"\"clean_steps\" is required when setting target provision state to clean");
	if (steps != NULL && !cleans)
		return call_fail(call, OUTCOME_BAD_DOCUMENT,
			"\"clean_steps\" is only valid when setting target provision state to clean");
	return cleans ? check_steps(call, "clean", steps, false) : OUTCOME_OK;
}

static enum outcome check_deploy_steps(struct call *call, const struct provision_verb *verb, const struct doc *steps)
{
	bool deploys = strcmp(verb->name, "deploy") == 0 || strcmp(verb->name, "rebuild") == 0;

	if (steps == NULL)
		return OUTCOME_OK;
	if (call->version < SINCE_DEPLOY_STEPS)
		return baremetal_fail_too_new(call, "deploy_steps", SINCE_DEPLOY_STEPS);
	if (!deploys)
		return call_fail(call, OUTCOME_BAD_DOCUMENT,
			"\"deploy_steps\" is only valid when setting target provision state to active or rebuild");
	return check_steps(call, "deploy", steps, true);
}

static enum outcome check_rescue_password(struct call *call, const struct provision_verb *verb, const struct doc *password)
{
	bool rescues = strcmp(verb->name, "rescue") == 0;

	if (!rescues && password != NULL)
		return call_fail(call, OUTCOME_BAD_DOCUMENT,
			"\"rescue_password\" is only valid when setting target provision state to rescue");
	if (!rescues || (doc_kind(password) == DOC_STRING && str_trim(doc_string(password)).n > 0))
		return OUTCOME_OK;
	return call_fail(call, OUTCOME_BAD_DOCUMENT,
		"A non-empty \"rescue_password\" is required when setting target provision state to rescue");
}

static enum outcome check_disable_ramdisk(struct call *call, const struct provision_verb *verb, const struct doc *flag)
{
	bool value;

	if (flag == NULL)
		return OUTCOME_OK;
	if (call->version < SINCE_DISABLE_RAMDISK)
		return baremetal_fail_too_new(call, "disable_ramdisk", SINCE_DISABLE_RAMDISK);
	if (strcmp(verb->name, "clean") != 0)
		return call_fail(call, OUTCOME_BAD_DOCUMENT,
			"\"disable_ramdisk\" is only valid when setting target provision state to clean");
	if (baremetal_bool(flag, &value))
		return OUTCOME_OK;
	return call_fail(call, OUTCOME_BAD_DOCUMENT, "Unrecognized value of disable_ramdisk: it has to be true or false");
}

static enum outcome read_request(struct call *call, struct provision_request *request)
{
	static const char *const names[] = {
		"target", "configdrive", "clean_steps", "deploy_steps", "rescue_password", "disable_ramdisk", NULL
	};
	const struct doc *body;
	enum outcome outcome = baremetal_read_arguments(call, names, &body);

	if (outcome == OUTCOME_OK)
		outcome = read_verb(call, body, &request->verb);
	if (outcome != OUTCOME_OK)
		return outcome;
	request->configdrive = argument(body, "configdrive");
	outcome = check_configdrive(call, request->verb, request->configdrive);
	if (outcome == OUTCOME_OK)
		outcome = check_disable_ramdisk(call, request->verb, argument(body, "disable_ramdisk"));
	if (outcome == OUTCOME_OK)
		outcome = check_clean_steps(call, request->verb, argument(body, "clean_steps"));
	if (outcome == OUTCOME_OK)
		outcome = check_deploy_steps(call, request->verb, argument(body, "deploy_steps"));
	return outcome == OUTCOME_OK ? check_rescue_password(call, request->verb, argument(body, "rescue_password")) : outcome;
}

// ---- the change

// A change for baremetal_change_node(), with a struct provision_request.
static enum outcome provision(struct call *call, const struct resource *node, struct doc *body, const void *arg)
{
	const struct provision_request *request = arg;
	const struct doc *state = doc_member(body, "provision_state"), *allocation = doc_member(body, "allocation_uuid");

	request->result->frees = strcmp(request->verb->name, "delete") == 0 && doc_kind(allocation) == DOC_STRING &&
		uuid_parse(doc_string(allocation), &request->result->allocation);
	if (strcmp(request->verb->name, "abort") == 0 && str_eq(doc_string(state), STR("inspect wait")) &&
	    call->version < SINCE_INSPECT_ABORT)
		return baremetal_fail_too_new(call, "the target abort in the state inspect wait", SINCE_INSPECT_ABORT);
	return provision_node(call->registry, node, request->verb, request->configdrive, body);
}

enum outcome set_provision(struct call *call)
{
	struct provision_result result = { 0 };
	struct provision_request request = { .result = &result };
	enum outcome outcome = read_request(call, &request);

	if (outcome == OUTCOME_OK)
		outcome = baremetal_change_node(call, provision, &request);
	if (outcome == OUTCOME_OK && result.frees)
		outcome = allocation_drop(call->registry, &result.allocation);
	if (outcome != OUTCOME_OK)
		return outcome;
	baremetal_locate_part(call, "states");
	return OUTCOME_ACCEPTED;
}

// SPDX-License-Identifier: Apache-2.0
// Events that the network service reports. OpenStack's service checks them and does nothing else with them.
#include "base/base.h"

#include "api/baremetal/common/baremetal.h"
#include "api/patch.h"
#include "base/pool.h"

// The members of an event besides its name.
static const struct member {
	const char *name;
	enum { TEXT, UUID, MAC } kind;
	bool required; // and not null
} members[] = {
	{ "event", TEXT, true },
	{ "port_id", UUID, true },
	{ "mac_address", MAC, true },
	{ "status", TEXT, true },
	{ "device_id", UUID, false },
	{ "binding:host_id", UUID, false },
	{ "binding:vnic_type", TEXT, false },
};
static const char *const names[] = { "network.bind_port", "network.unbind_port", "network.delete_port", NULL };

static enum outcome fail_schema(struct call *call, const char *what, struct str text)
{
	return call_fail(call, OUTCOME_BAD_DOCUMENT, "Schema error for evts: %s%.*s", what, STR_HEAD_ARG(text, BAREMETAL_SHOWN));
}

static enum outcome check_value(struct call *call, const struct member *member, const struct doc *value)
{
	struct uuid uuid;
	struct str text = doc_string(value);

	if (value == NULL && !member->required)
		return OUTCOME_OK;
	if (value == NULL || doc_kind(value) != DOC_STRING)
		return fail_schema(call, "this member of an event has to be a string: ", str_c(member->name));
	if (member->kind == UUID && !uuid_parse(text, &uuid))
		return call_fail(call, OUTCOME_BAD_DOCUMENT, "Expected UUID for %s: %.*s", member->name,
			STR_HEAD_ARG(text, BAREMETAL_SHOWN));
	if (member->kind == MAC && baremetal_mac(call->pool, text).p == NULL)
		return call_fail(call, OUTCOME_BAD_DOCUMENT, "Expected valid MAC address for %s: %.*s", member->name,
			STR_HEAD_ARG(text, BAREMETAL_SHOWN));
	return OUTCOME_OK;
}

static const struct member *find_member(struct str name)
{
	for (size_t i = 0; i < COUNT_OF(members); i++) {
		if (str_eq_c(name, members[i].name))
			return &members[i];
	}
	return NULL;
}

static enum outcome check_event(struct call *call, const struct doc *event)
{
	const struct doc *value = NULL;
	enum outcome outcome = OUTCOME_OK;

	if (doc_kind(event) != DOC_OBJECT || !doc_get(event, STR("event"), &value) || doc_kind(value) != DOC_STRING ||
		!baremetal_among(names, doc_string(value)))
		return fail_schema(call, "each event has to be an object, and its member event one of network.bind_port, "
			"network.unbind_port, network.delete_port", STR(""));
	for (struct doc_iter it = doc_iter(event); doc_next(&it);) {
		if (find_member(it.name) == NULL)
			return fail_schema(call, "Additional properties are not allowed in an event: ", it.name);
	}
	for (size_t i = 0; outcome == OUTCOME_OK && i < COUNT_OF(members); i++) {
		value = NULL;
		if (!doc_get(event, str_c(members[i].name), &value) && members[i].required)
			return fail_schema(call, "this is a required property of an event: ", str_c(members[i].name));
		outcome = check_value(call, &members[i], value);
	}
	return outcome;
}

enum outcome post_events(struct call *call)
{
	const struct doc *events = NULL;
	struct doc *body;
	enum outcome outcome = call_read(call, &any_document, &body);

	if (outcome != OUTCOME_OK)
		return outcome;
	if (doc_kind(body) != DOC_OBJECT || doc_length(body) != 1 || !doc_get(body, STR("events"), &events) ||
		doc_kind(events) != DOC_ARRAY || doc_length(events) == 0)
		return fail_schema(call, "the body has to be {\"events\": […]}, with one event at least", STR(""));
	for (size_t i = 0; outcome == OUTCOME_OK && i < doc_length(events); i++)
		outcome = check_event(call, doc_at(events, i));
	return outcome == OUTCOME_OK ? OUTCOME_NO_CONTENT : outcome;
}

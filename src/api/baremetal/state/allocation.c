// SPDX-License-Identifier: Apache-2.0
// Allocations: POST, and the address below a node. Everything else is as for all kinds (resource/);
// registry/baremetal/allocation.c picks the node.
#include "base/base.h"

#include "api/baremetal/common/baremetal.h"
#include "base/pool.h"
#include "registry/baremetal/allocation.h"
#include "registry/resource/resource.h"
#include "registry/trait/catalogue.h"
#include "repr/json/member.h"

enum { SINCE_BACKFILL = 58, SINCE_OWNER = 60, CANDIDATES_MAX = 256 };

static enum outcome fail_schema(struct call *call, const char *what)
{
	return call_fail(call, OUTCOME_BAD_DOCUMENT, "Schema error for allocation: %s", what);
}

// ---- reading the body

static enum outcome read_uuid(struct call *call, const struct doc *body, struct uuid *uid)
{
	const struct doc *value = doc_member(body, "uuid");

	*uid = uuid_new();
	if (value == NULL || (doc_kind(value) == DOC_STRING && uuid_parse(doc_string(value), uid)))
		return OUTCOME_OK;
	return fail_schema(call, "Expected UUID for uuid: it has to be a UUID in a string, or null");
}

static enum outcome check_traits(struct call *call, const struct doc *traits)
{
	if (traits != NULL && doc_kind(traits) != DOC_ARRAY)
		return fail_schema(call, "traits has to be a list of names, or null");
	if (doc_elements(traits) > TRAITS_MAX)
		return fail_schema(call, "a node has 50 traits at most, so no more can be asked for");
	for (size_t i = 0; i < doc_elements(traits); i++) {
		struct str name = doc_string(doc_at(traits, i));
		struct trait trait;
		enum outcome outcome = trait_is_custom(name) ? OUTCOME_OK : OUTCOME_NOT_FOUND;
		if (outcome != OUTCOME_OK && trait_is_name(name))
			outcome = trait_get(call->registry, name, &trait);
		if (outcome == OUTCOME_NOT_FOUND)
			return fail_schema(call, "each of the traits has to be a standard one, or a custom one: CUSTOM_ and characters of A-Z, 0-9 and _");
		if (outcome != OUTCOME_OK)
			return outcome;
	}
	return OUTCOME_OK;
}

// Finds a node that the body names. A node that is not there is a fault of the body.
static enum outcome find_node(struct call *call, const struct doc *name, const char *member, struct resource *node)
{
	if (doc_kind(name) != DOC_STRING)
		return call_fail(call, OUTCOME_BAD_DOCUMENT, "Schema error for allocation: %s has to have UUIDs or names of nodes, as strings",
			member);
	enum outcome outcome = kind_find(call, &node_kind, doc_string(name), node);
	return outcome == OUTCOME_NOT_FOUND || outcome == OUTCOME_BAD_PARAMETER ? OUTCOME_BAD_DOCUMENT : outcome;
}

// Candidates are stored by their UUIDs, in the order in which they are given.
static enum outcome read_candidates(struct call *call, const struct doc *names, struct doc **candidates)
{
	*candidates = doc_new_array(call->pool);
	if (names != NULL && doc_kind(names) != DOC_ARRAY)
		return fail_schema(call, "candidate_nodes has to be a list of UUIDs or names of nodes, or null");
	if (doc_elements(names) > CANDIDATES_MAX)
		return fail_schema(call, "candidate_nodes has 256 nodes at most");
	for (size_t i = 0; i < doc_elements(names); i++) {
		struct resource node;
		enum outcome outcome = find_node(call, doc_at(names, i), "candidate_nodes", &node);
		if (outcome != OUTCOME_OK)
			return outcome;
		doc_push(*candidates, doc_new_string(call->pool, uuid_str(call->pool, node.uid)));
	}
	return OUTCOME_OK;
}

static bool is_empty(const struct doc *text)
{
	return doc_kind(text) == DOC_STRING && doc_string(text).n == 0;
}

// The node for which the allocation is recorded. Its class and, if it has an instance, the instance's UUID need not be given.
static enum outcome read_node(struct call *call, const struct doc *body, struct resource *node,
	struct allocation_request *request)
{
	const struct doc *name = doc_member(body, "node"), *instance, *class;
	enum outcome outcome;

	if (name == NULL || is_empty(name))
		return OUTCOME_OK;
	if (call->version < SINCE_BACKFILL)
		return call_fail(call, OUTCOME_BAD_DOCUMENT,
			"Cannot set node when creating an allocation in this API version: it came with version 1.%d", SINCE_BACKFILL);
	outcome = find_node(call, name, "node", node);
	if (outcome != OUTCOME_OK)
		return outcome;
	const struct doc *stored = resource_body_doc(call->pool, node);
	request->node = &node->uid;
	instance = doc_member(stored, "instance_uuid");
	class = doc_member(stored, "resource_class");
	if (doc_member(body, "uuid") == NULL && doc_kind(instance) == DOC_STRING)
		(void)uuid_parse(doc_string(instance), &request->uid);
	const struct doc *wanted = doc_member(request->body, "resource_class");
	if ((wanted == NULL || is_empty(wanted)) && doc_kind(class) == DOC_STRING)
		doc_set(request->body, STR("resource_class"), doc_copy(call->pool, class));
	return OUTCOME_OK;
}

static enum outcome read_class(struct call *call, const struct allocation_request *request)
{
	const struct doc *class = doc_member(request->body, "resource_class");

	if (request->node != NULL || (doc_kind(class) == DOC_STRING && doc_string(class).n > 0))
		return OUTCOME_OK;
	return fail_schema(call, "The resource_class field is mandatory when not backfilling");
}

static enum outcome read_owner(struct call *call, const struct doc *owner, struct str *tenant, bool *made)
{
	if (owner != NULL && doc_kind(owner) != DOC_STRING)
		return fail_schema(call, "owner has to be a string, or null");
	return baremetal_choose_owner(call, "allocations", owner != NULL ? doc_string(owner) : STR_NONE, tenant, made);
}

// *made: the request has made its tenant.
static enum outcome read_request(struct call *call, struct resource *node, struct allocation_request *request, bool *made)
{
	static const char *const names[] = {
		"candidate_nodes", "extra", "name", "node", "owner", "resource_class", "traits", "uuid", NULL
	};
	static const char *const copied[] = { "extra", "name", "resource_class", "traits", NULL };
	const struct doc *body, *owner;
	struct doc *candidates;
	enum outcome outcome = baremetal_read_arguments(call, names, &body);

	*request = (struct allocation_request){ .body = doc_new_object(call->pool) };
	if (outcome == OUTCOME_OK && call->version < SINCE_OWNER && doc_get(body, STR("owner"), &owner))
		return baremetal_fail_too_new(call, "owner", SINCE_OWNER);
	if (outcome == OUTCOME_OK)
		outcome = read_uuid(call, body, &request->uid);
	if (outcome == OUTCOME_OK)
		outcome = check_traits(call, doc_member(body, "traits"));
	if (outcome == OUTCOME_OK)
		outcome = read_candidates(call, doc_member(body, "candidate_nodes"), &candidates);
	if (outcome != OUTCOME_OK)
		return outcome;
	for (const char *const *name = copied; *name != NULL; name++) {
		if (doc_member(body, *name) != NULL)
			doc_set(request->body, str_c(*name), doc_copy(call->pool, doc_member(body, *name)));
	}
	doc_set(request->body, STR("candidate_nodes"), candidates);
	outcome = read_node(call, body, node, request);
	if (outcome == OUTCOME_OK)
		outcome = read_class(call, request);
	if (outcome == OUTCOME_OK)
		outcome = read_owner(call, doc_member(body, "owner"), &request->tenant, made);
	return outcome;
}

// The answer shows the allocation as it is begun, "allocating", as clients expect; the next GET shows how it has ended.
enum outcome create_allocation(struct call *call)
{
	struct allocation_request request;
	struct resource node, begun, ended;
	bool made;
	enum outcome outcome = read_request(call, &node, &request, &made);

	if (outcome == OUTCOME_OK)
		outcome = allocation_create(call->registry, &request, &begun, &ended);
	if (outcome != OUTCOME_CREATED)
		return outcome;
	baremetal_write_object(call, &allocation_kind, &begun);
	if (made)
		baremetal_warn_owner_made(call, request.tenant, "delete the allocation and that tenant");
	response_set(&call->response, "Location",
		baremetal_url(call, str_printf(call->pool, "/v1/allocations/%.*s", UUID_ARG(call->pool, request.uid))));
	return outcome;
}

// ---- the allocation of a node

// *uuid: that of the allocation of the node that the address names. no_node: what is returned if there is no such node.
static enum outcome find_uuid(struct call *call, enum outcome no_node, struct str *uuid)
{
	struct str name = call_param(call, "node");
	struct resource node;
	enum outcome outcome = kind_find(call, &node_kind, name, &node);

	if (outcome != OUTCOME_OK)
		return outcome == OUTCOME_NOT_FOUND ? no_node : outcome;
	const struct doc *value = doc_member(resource_body_doc(call->pool, &node), "allocation_uuid");
	if (doc_kind(value) != DOC_STRING)
		return call_fail(call, OUTCOME_NOT_FOUND, "Allocation for node %.*s was not found",
			STR_HEAD_ARG(name, BAREMETAL_SHOWN));
	*uuid = doc_string(value);
	return OUTCOME_OK;
}

// Ironic lists the allocations of that node, so the node is a fault of the request, as it is of a list.
enum outcome get_node_allocation(struct call *call)
{
	struct str uuid;
	enum outcome outcome = find_uuid(call, OUTCOME_BAD_PARAMETER, &uuid);

	return outcome == OUTCOME_OK ? baremetal_show_named(call, &allocation_kind, uuid) : outcome;
}

enum outcome delete_node_allocation(struct call *call)
{
	struct str uuid;
	enum outcome outcome = find_uuid(call, OUTCOME_NOT_FOUND, &uuid);

	return outcome == OUTCOME_OK ? baremetal_delete_named(call, &allocation_kind, uuid) : outcome;
}

// SPDX-License-Identifier: Apache-2.0
// The VIFs (virtual network interfaces) that are attached to a node, as records: the network interface "noop" connects nothing.
// They are the member vifs of the stored node, which answers do not show as part of the node: an object with the ids of the VIFs,
// in the order of their attachment, each with the client's document without the id.
#include "base/base.h"

#include "api/baremetal/common/baremetal.h"
#include "api/patch.h"
#include "base/pool.h"
#include "registry/baremetal/provision.h"
#include "repr/json/member.h"

enum { VIFS_MAX = 256 /* of one node */, SINCE_PLACES = 67 /* port_uuid and portgroup_uuid of a VIF */ };

static const struct doc *vifs_of(const struct doc *body)
{
	return doc_member(body, "vifs");
}

enum outcome list_vifs(struct call *call)
{
	struct pool *pool = call->pool;
	struct doc *doc = doc_new_object(pool), *list = doc_new_array(pool);
	struct resource node;
	enum outcome outcome = kind_find(call, &node_kind, call_param(call, "node"), &node);

	if (outcome != OUTCOME_OK)
		return outcome;
	const struct doc *vifs = vifs_of(resource_body_doc(pool, &node));
	for (struct doc_iter it = doc_iter(vifs); doc_next(&it);) {
		struct doc *vif = doc_kind(it.value) == DOC_OBJECT ? doc_copy(pool, it.value) : doc_new_object(pool);
		doc_set_str(pool, vif, "id", it.name);
		doc_push(list, vif);
	}
	doc_set(doc, STR("vifs"), list);
	baremetal_set_node_etag(call, &node);
	baremetal_write_json(call, doc);
	return OUTCOME_OK;
}

// ---- attaching and detaching

struct attachment {
	struct str id;
	struct doc *vif; // the client's document without the id; NULL: the VIF is to be detached
};

// May VIFs be attached to the node and detached from it? OUTCOME_OK; _BAD_REQUEST: not without hardware; _CONFLICT: it is
// reserved.
static enum outcome check_noop(struct call *call, const struct resource *node, const struct doc *body)
{
	if (!str_eq(doc_string(doc_member(body, "network_interface")), STR("noop")))
		return provision_fail_unsupported(call->registry, body, "network");
	return provision_check_reserved(call->registry, &node->uid, body);
}

static enum outcome change_vifs(struct call *call, const struct resource *node, struct doc *body, const void *arg)
{
	const struct attachment *attachment = arg;
	struct pool *pool = call->pool;
	const struct doc *stored = vifs_of(body), *vif = NULL;
	struct str shown = str_utf8_head(attachment->id, BAREMETAL_SHOWN), uuid = uuid_str(pool, node->uid);
	struct doc *vifs = doc_kind(stored) == DOC_OBJECT ? doc_copy(pool, stored) : doc_new_object(pool);
	bool attached = doc_get(vifs, attachment->id, &vif), attaches = attachment->vif != NULL;
	enum outcome outcome = check_noop(call, node, body);

	if (outcome != OUTCOME_OK)
		return outcome;
	if (!attaches && !attached)
		return call_fail(call, OUTCOME_BAD_REQUEST,
			"Unable to detach VIF %.*s from node %.*s because it is not attached to it.", STR_ARG(shown), STR_ARG(uuid));
	if (attaches && attached)
		return call_fail(call, OUTCOME_CONFLICT,
			"Unable to attach VIF because VIF %.*s is already attached to Ironic node %.*s", STR_ARG(shown), STR_ARG(uuid));
	if (attaches && doc_length(vifs) >= VIFS_MAX)
		return call_fail(call, OUTCOME_BAD_REQUEST,
			"Unable to attach VIF %.*s, not enough free physical ports. A node has %d VIFs at most", STR_ARG(shown), VIFS_MAX);
	if (attaches)
		doc_set(vifs, attachment->id, attachment->vif);
	else
		doc_remove(vifs, attachment->id);
	doc_set(body, STR("vifs"), vifs);
	return OUTCOME_OK;
}

static enum outcome change(struct call *call, const struct attachment *attachment)
{
	enum outcome outcome = baremetal_change_node(call, change_vifs, attachment);

	return outcome == OUTCOME_OK ? OUTCOME_NO_CONTENT : outcome;
}

// UUIDs are kept in lower case.
static enum outcome read_id(struct call *call, struct str id, struct str *result)
{
	struct uuid uuid;

	*result = uuid_parse(id, &uuid) ? uuid_str(call->pool, uuid) : str_dup(call->pool, id);
	if (uuid_parse(id, &uuid) || baremetal_name_ok(id))
		return OUTCOME_OK;
	return call_fail(call, OUTCOME_BAD_PARAMETER, "Expected UUID or name for id: %.*s", STR_HEAD_ARG(id, BAREMETAL_SHOWN));
}

enum outcome attach_vif(struct call *call)
{
	struct attachment attachment;
	const struct doc *id = NULL, *port, *group;
	struct doc *body;
	enum outcome outcome = call_read(call, &any_document, &body);

	if (outcome != OUTCOME_OK)
		return outcome;
	if (doc_kind(body) != DOC_OBJECT || !doc_get(body, STR("id"), &id) || doc_kind(id) != DOC_STRING)
		return call_fail(call, OUTCOME_BAD_DOCUMENT,
			"Schema error for vif: 'id' is a required property: the body must be an object like {\"id\": \"UUID\"}");
	if (call->version >= SINCE_PLACES && doc_get(body, STR("port_uuid"), &port) && doc_get(body, STR("portgroup_uuid"), &group))
		return call_fail(call, OUTCOME_BAD_DOCUMENT, "Cannot specify both port_uuid and portgroup_uuid: a VIF has one place");
	outcome = read_id(call, doc_string(id), &attachment.id);
	if (outcome != OUTCOME_OK)
		return outcome;
	doc_remove(body, STR("id"));
	attachment.vif = body;
	return change(call, &attachment);
}

enum outcome detach_vif(struct call *call)
{
	struct attachment attachment = { .vif = NULL };
	enum outcome outcome = read_id(call, call_param(call, "vif"), &attachment.id);

	return outcome == OUTCOME_OK ? change(call, &attachment) : outcome;
}

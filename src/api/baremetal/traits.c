// SPDX-License-Identifier: Apache-2.0
// A node's traits: names of the catalogue, at most 50.
#include "base/base.h"

#include "api/baremetal/common/baremetal.h"
#include "api/patch.h"
#include "base/pool.h"
#include "http/uri.h"
#include "registry/baremetal/provision.h"
#include "registry/core/stored.h"
#include "registry/resource/traits.h"
#include "registry/trait/trait.h"

enum outcome get_traits(struct call *call)
{
	struct pool *pool = call->pool;
	struct doc *doc = doc_new_object(pool);
	struct resource node;
	enum outcome outcome = kind_find(call, &node_kind, call_param(call, "node"), &node);

	if (outcome != OUTCOME_OK)
		return outcome;
	doc_set(doc, STR("traits"), resource_traits_doc(pool, &node));
	baremetal_set_node_etag(call, &node); // changes of traits are guarded by the node's etag
	baremetal_write_json(call, doc);
	return OUTCOME_OK;
}

// ---- changing them

// A change answered "not found": either there is no such node, or the node does not have the trait to be removed.
static enum outcome explain_missing(struct call *call, struct str name, const struct trait_edit *edit)
{
	struct resource node;
	enum outcome outcome = kind_find(call, &node_kind, name, &node);

	if (outcome != OUTCOME_OK || edit->change != TRAITS_REMOVE)
		return outcome != OUTCOME_OK ? outcome : baremetal_fail_not_found(call, &node_kind, name);
	return call_fail(call, OUTCOME_NOT_FOUND, "Node %.*s doesn't have a trait '%.*s'", STR_HEAD_ARG(name, BAREMETAL_SHOWN),
		STR_HEAD_ARG(edit->names[0], BAREMETAL_SHOWN));
}

static enum outcome change_traits(struct call *call, const struct trait_edit *edit)
{
	struct str name = call_param(call, "node");
	struct conditions conditions;
	struct resource node;
	struct ident ident;
	enum outcome outcome = baremetal_begin_change(call, &node_kind, name, &conditions, &ident);

	if (outcome != OUTCOME_OK)
		return outcome;
	outcome = resource_change_traits(call->registry, &ident, edit, conditions_guard(&conditions), &node);
	if (outcome == OUTCOME_NOT_FOUND)
		return explain_missing(call, name, edit);
	if (outcome == OUTCOME_OK) // what was written is rolled back then
		outcome = provision_check_reserved(call->registry, &node.uid, resource_body_tree(call->pool, &node));
	if (outcome != OUTCOME_OK)
		return outcome;
	baremetal_set_node_etag(call, &node);
	return OUTCOME_NO_CONTENT;
}

static enum outcome fail_body(struct call *call)
{
	return call_fail(call, OUTCOME_BAD_DOCUMENT,
		"Schema error for traits: the body must be {\"traits\": [names]} and nothing else");
}

static enum outcome read_traits(struct call *call, struct trait_edit *edit)
{
	const struct doc *list;
	struct doc *body;
	enum outcome outcome = call_read(call, &any_document, &body);

	if (outcome != OUTCOME_OK)
		return outcome;
	if (doc_length(body) != 1 || !doc_get(body, STR("traits"), &list) || doc_kind(list) != DOC_ARRAY)
		return fail_body(call);
	struct str *names = POOL_ARRAY(call->pool, struct str, doc_length(list));
	edit->n = doc_length(list);
	edit->names = names;
	for (size_t i = 0; i < edit->n; i++) {
		if (doc_kind(doc_at(list, i)) != DOC_STRING)
			return fail_body(call);
		names[i] = doc_string(doc_at(list, i));
	}
	return OUTCOME_OK;
}

enum outcome put_traits(struct call *call)
{
	struct trait_edit edit = { .change = TRAITS_SET, .most = TRAITS_MAX, .makes_custom = true };
	enum outcome outcome = read_traits(call, &edit);

	return outcome == OUTCOME_OK ? change_traits(call, &edit) : outcome;
}

enum outcome delete_traits(struct call *call)
{
	return change_traits(call, &(struct trait_edit){ .change = TRAITS_CLEAR });
}

// ---- one trait

enum outcome put_trait(struct call *call)
{
	struct str trait = call_param(call, "trait");
	struct buf path = buf_new(call->pool, 128);
	struct doc *body;
	enum outcome outcome = call_read(call, &any_document, &body);

	if (outcome != OUTCOME_OK)
		return outcome;
	if (body != NULL && (doc_kind(body) != DOC_OBJECT || doc_length(body) > 0))
		return call_fail(call, OUTCOME_BAD_DOCUMENT, "The trait stands in the address: the body must be empty, or {}");
	outcome = change_traits(call,
		&(struct trait_edit){ .change = TRAITS_ADD, .names = &trait, .n = 1, .most = TRAITS_MAX, .makes_custom = true });
	if (outcome != OUTCOME_NO_CONTENT)
		return outcome;
	BUF_LIT(&path, "/v1/nodes/");
	uri_add_segment(&path, call_param(call, "node"));
	BUF_LIT(&path, "/traits/");
	uri_add_segment(&path, trait);
	response_set(&call->response, "Location", baremetal_url(call, buf_str(&path)));
	return outcome;
}

enum outcome delete_trait(struct call *call)
{
	struct str trait = call_param(call, "trait");

	return change_traits(call, &(struct trait_edit){ .change = TRAITS_REMOVE, .names = &trait, .n = 1 });
}

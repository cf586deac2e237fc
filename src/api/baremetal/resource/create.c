// SPDX-License-Identifier: Apache-2.0
// POST: creates an object in the tenant that owns it.
#include "base/base.h"

#include "api/baremetal/common/baremetal.h"
#include "api/patch.h"
#include "base/buf.h"
#include "base/pool.h"
#include "http/uri.h"
#include "registry/baremetal/rules.h"
#include "registry/baremetal/settings.h"
#include "registry/resource/resource.h"
#include "registry/tenant/tenant.h"
#include "registry/type/type.h"
#include "repr/json/member.h"

enum { SINCE_ENROLL = 11 };

// ---- reading the body

static enum outcome fail_schema(struct call *call, const struct kind *kind, const char *what)
{
	return call_fail(call, OUTCOME_BAD_DOCUMENT, "Schema error for %s: %s", kind->singular, what);
}

static enum outcome fail_unknown(struct call *call, const struct kind *kind, struct str name)
{
	struct buf known = buf_new(call->pool, 512);

	BUF_LIT(&known, "uuid");
	for (const struct kind_member *member = kind->members; member->name != NULL; member++) {
		if ((member->flags & MEMBER_GIVEN) != 0 && member->named_since <= call->version)
			buf_addf(&known, ", %s", member->name);
	}
	return call_fail(call, OUTCOME_BAD_DOCUMENT,
		"Schema error for %s: Additional properties are not allowed ('%.*s' was unexpected); these may be given: %.*s",
		kind->singular, STR_HEAD_ARG(name, BAREMETAL_SHOWN), STR_ARG(known));
}

// Does the value say nothing, so that it may be given in a version that does not have the member? Clients that are generated from
// a description of the API send such values for all that they don't set.
static bool says_nothing(const struct kind *kind, const struct kind_member *member, const struct doc *value)
{
	if (kind == &node_kind && strcmp(member->name, "conductor_group") == 0)
		return doc_kind(value) == DOC_STRING && doc_string(value).n == 0;
	if (value == NULL)
		return kind == &node_kind || kind == &portgroup_kind;
	return kind == &portgroup_kind && doc_kind(value) == DOC_OBJECT && doc_length(value) == 0;
}

// May a client set each of the body's members in the requested version?
static enum outcome check_names(struct call *call, const struct kind *kind, const struct doc *body)
{
	for (struct doc_iter it = doc_iter(body); doc_next(&it);) {
		const struct kind_member *member = kind_member(kind, it.name);
		if (str_eq(it.name, STR("uuid")))
			continue;
		if (member == NULL || (member->flags & MEMBER_GIVEN) == 0)
			return fail_unknown(call, kind, it.name);
		if (member->named_since > call->version && !says_nothing(kind, member, it.value))
			return baremetal_fail_too_new(call, member->name, member->named_since);
	}
	return OUTCOME_OK;
}

// The same for what is in members that are older than it.
static enum outcome check_contents(struct call *call, const struct kind *kind, const struct doc *body)
{
	struct str name = doc_string(doc_member(body, "name"));
	const struct doc *link = doc_member(body, "local_link_connection"), *type;

	if (name.n > 0 && !kind_may_be_named(call, kind, name))
		return call_fail(call, OUTCOME_BAD_DOCUMENT,
			"Cannot create %s with invalid name '%.*s': before version 1.10 it is a host name in lower case", kind->singular,
			STR_HEAD_ARG(name, BAREMETAL_SHOWN));
	if (kind == &port_kind && call->version < SINCE_NETWORK_TYPE && doc_get(link, STR("network_type"), &type))
		return baremetal_fail_too_new(call, "network_type in local_link_connection", SINCE_NETWORK_TYPE);
	return OUTCOME_OK;
}

// Takes a member that is a string or null out of the body. *text: its p is NULL if the member is null or absent.
static enum outcome take_text(struct call *call, const struct kind *kind, struct doc *body, const char *name,
	struct str *text)
{
	const struct doc *value = NULL;

	*text = STR_NONE;
	if (!doc_get(body, str_c(name), &value))
		return OUTCOME_OK;
	if (value != NULL && doc_kind(value) != DOC_STRING)
		return fail_schema(call, kind, str_printf(call->pool, "%s has to be a string, or null", name).p);
	if (value != NULL)
		*text = str_dup(call->pool, doc_string(value));
	doc_remove(body, str_c(name));
	return OUTCOME_OK;
}

static enum outcome take_uuid(struct call *call, const struct kind *kind, struct doc *body, struct uuid *uuid)
{
	struct str text;
	enum outcome outcome = take_text(call, kind, body, "uuid", &text);

	*uuid = uuid_new();
	if (outcome != OUTCOME_OK || text.p == NULL || uuid_parse(text, uuid))
		return outcome;
	return call_fail(call, OUTCOME_BAD_DOCUMENT, "Schema error for %s: Expected UUID for uuid: %.*s", kind->singular,
		STR_HEAD_ARG(text, BAREMETAL_SHOWN));
}

// ---- the owner of the new object

bool baremetal_may_make_owner(const struct call *call, struct str tenant)
{
	return str_eq_c(tenant, TENANT_SYSTEM) || strcmp(baremetal_settings(call->config)->create_owners, "yes") == 0;
}

void baremetal_warn_owner_made(struct call *call, struct str tenant, const char *remedy)
{
	struct buf text = buf_new(call->pool, 128);

	if (str_eq_c(tenant, TENANT_SYSTEM))
		return;
	BUF_LIT(&text, "299 - \"owner: there was no tenant ");
	uri_add_value(&text, tenant); // percent-encoded: plain ASCII without quotes
	buf_addf(&text, ", so it was made; if the name is a mistake, %s\"", remedy);
	response_add(&call->response, "Warning", buf_str(&text));
}

// Makes sure that the tenant exists: creates it if baremetal_may_make_owner() allows it.
static enum outcome ensure_tenant(struct call *call, struct str tenant, bool *made)
{
	enum outcome outcome = tenant_find_or_make(call->registry, tenant, baremetal_may_make_owner(call, tenant), made);

	return outcome == OUTCOME_GONE ? OUTCOME_CONFLICT : outcome;
}

enum outcome baremetal_choose_owner(struct call *call, const char *what, struct str owner, struct str *tenant, bool *made)
{
	*made = false;
	*tenant = baremetal_visible_tenant(call);
	if (tenant->p == NULL) {
		*tenant = owner;
		return owner.p != NULL ? ensure_tenant(call, owner, made) : OUTCOME_OK;
	}
	if (tenant->n == 0)
		return call_fail(call, OUTCOME_FORBIDDEN, "You are of no tenant that %s could be of.", what);
	if (owner.p == NULL || str_eq(owner, *tenant))
		return OUTCOME_OK;
	return call_fail(call, OUTCOME_FORBIDDEN,
		"owner: your %s are those of your own tenant; leave it out, or say \"%.*s\"", what, STR_ARG(*tenant));
}

// Takes the owner out of the body of a node. *tenant: the one that the node belongs to, TENANT_SYSTEM if an operator names none.
static enum outcome choose_node_owner(struct call *call, struct doc *body, struct str *tenant, bool *made)
{
	struct str owner;
	enum outcome outcome = take_text(call, &node_kind, body, "owner", &owner);

	if (outcome == OUTCOME_OK)
		outcome = baremetal_choose_owner(call, "nodes", owner, tenant, made);
	if (outcome != OUTCOME_OK || tenant->p != NULL)
		return outcome;
	*tenant = STR(TENANT_SYSTEM);
	return ensure_tenant(call, *tenant, made);
}

// *tenant: that of the node that the body names. A port, port group, volume connector or target belongs to it.
static enum outcome owner_by_node(struct call *call, const struct kind *kind, const struct doc *body, struct str *tenant)
{
	struct ident ident = { .type = type_with_rules(call->registry, &node_rules), .tenant = baremetal_visible_tenant(call) };
	const struct doc *value = NULL;
	struct resource node;

	if (!doc_get(body, STR("node_uuid"), &value) || value == NULL)
		return fail_schema(call, kind, "'node_uuid' is a required property");
	if (ident.type == NULL)
		return OUTCOME_INTERNAL;
	if (doc_kind(value) != DOC_STRING || !uuid_parse(doc_string(value), &ident.uid))
		return fail_schema(call, kind, "Expected UUID for node_uuid: it has to be the UUID of a node, as a string");
	enum outcome outcome = resource_find(call->registry, &ident, &node);
	if (outcome == OUTCOME_NOT_FOUND) {
		struct str name = doc_string(value);
		return call_fail(call, OUTCOME_BAD_DOCUMENT, "Node %.*s could not be found.", STR_ARG(name));
	}
	*tenant = node.tenant;
	return outcome;
}

// *tenant: the one that the new object belongs to. Chassis and deploy templates are the system's. *made: that tenant was created.
static enum outcome find_owner(struct call *call, const struct kind *kind, struct doc *body, struct str *tenant, bool *made)
{
	*made = false;
	if (kind == &node_kind)
		return choose_node_owner(call, body, tenant, made);
	if (kind != &chassis_kind && kind != &deploy_template_kind)
		return owner_by_node(call, kind, body, tenant);
	*tenant = STR(TENANT_SYSTEM);
	return ensure_tenant(call, *tenant, made);
}

// ---- creating

struct creation {
	struct call *call;
	const struct kind *kind;
	struct doc *body;
};

static enum outcome apply_creation(void *arg, const struct resource *current, struct content *content)
{
	const struct creation *creation = arg;

	if (current != NULL)
		return call_fail(creation->call, OUTCOME_NAME_TAKEN, "%s %s with UUID %.*s already exists.",
			baremetal_article_first(creation->kind->rules->noun), creation->kind->rules->noun, STR_ARG(current->name));
	*content = (struct content){ .meta = STR("{}"), .document = creation->body };
	return OUTCOME_OK;
}

static enum outcome create(struct call *call, const struct kind *kind, struct str tenant, struct uuid uuid, struct doc *body)
{
	struct creation creation = { call, kind, body };
	struct address address = {
		.tenant = tenant,
		.type = type_with_rules(call->registry, kind->rules),
		.space = STR(""),
		.name = uuid_str(call->pool, uuid),
	};
	struct resource resource;

	if (address.type == NULL)
		return OUTCOME_INTERNAL;
	if (kind == &node_kind && call->version < SINCE_ENROLL) // older versions begin in "available"
		doc_set_str(call->pool, body, "provision_state", STR("available"));
	const struct edit edit = { .apply = apply_creation, .arg = &creation, .creates = true };
	enum outcome outcome = resource_write(call->registry, &address, &edit, (struct guard){ 0 }, &resource);
	if (outcome != OUTCOME_CREATED)
		return outcome;
	baremetal_write_object(call, kind, &resource);
	response_set(&call->response, "Location",
		baremetal_url(call, str_printf(call->pool, "/v1/%s/%.*s", kind->path, STR_ARG(address.name))));
	return outcome;
}

enum outcome baremetal_create_object(struct call *call, const struct kind *kind)
{
	struct doc *body;
	struct str tenant;
	struct uuid uuid;
	bool made;
	enum outcome outcome = call_read(call, &any_document, &body);

	if (outcome == OUTCOME_OK && doc_kind(body) != DOC_OBJECT)
		outcome = fail_schema(call, kind, "the body has to be a JSON object");
	if (outcome == OUTCOME_OK)
		outcome = check_names(call, kind, body);
	if (outcome == OUTCOME_OK)
		outcome = check_contents(call, kind, body);
	if (outcome == OUTCOME_OK)
		outcome = take_uuid(call, kind, body, &uuid);
	if (outcome == OUTCOME_OK)
		outcome = find_owner(call, kind, body, &tenant, &made);
	if (outcome == OUTCOME_OK)
		outcome = create(call, kind, tenant, uuid, body);
	if (outcome == OUTCOME_CREATED && made)
		baremetal_warn_owner_made(call, tenant, "change owner again and delete that tenant");
	return outcome;
}

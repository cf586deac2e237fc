// SPDX-License-Identifier: Apache-2.0
// PATCH (RFC 6902), applied to the object as it is shown, while its row is locked; DELETE.
//
// A member of the object itself always exists, so "remove" sets its default. A change of the owner moves the object to another
// tenant.
#include "base/base.h"

#include "api/baremetal/common/baremetal.h"
#include "api/patch.h"
#include "base/pool.h"
#include "http/media.h"
#include "registry/baremetal/provision.h"
#include "registry/core/settings.h"
#include "registry/log/stale.h"
#include "registry/resource/resource.h"
#include "registry/resource/secret.h"
#include "repr/json/member.h"

enum { SINCE_NO_CHASSIS = 25, SINCE_INSPECT_WAIT = 39, SINCE_RESET = 45 };

struct patching {
	struct call *call;
	const struct kind *kind;
	const struct doc *patch;
	bool *touched;   // one for each of the kind's members: an operation reads or writes it, or what is in it
	bool gives;      // an operation may change the owner
	struct owner_change change; // the tenant that becomes the owner then
	bool resets;     // if the driver changes, interfaces that the patch does not set become those of the new one
	const struct db_call *reservation; // the statement that tells whether the object's node is reserved; NULL: it has no node
};

// ---- paths

static enum outcome fail_path(const struct patching *patching, struct str pointer)
{
	struct buf known = buf_new(patching->call->pool, 1024);
	struct str named = pointer.n > 0 ? pointer : STR("the whole document");

	for (const struct kind_member *member = patching->kind->members; member->name != NULL; member++) {
		if ((member->flags & MEMBER_PATCHED) != 0 && member->named_since <= patching->call->version)
			buf_addf(&known, "%s/%s", known.n > 0 ? ", " : "", member->name);
	}
	return call_fail(patching->call, OUTCOME_BAD_DOCUMENT,
		"Cannot patch %.*s: what can be patched is %.*s and what is in them",
		STR_HEAD_ARG(named, BAREMETAL_SHOWN), STR_ARG(known));
}

// The member to which, or into which, a JSON Pointer leads; *whole: to the member itself. Names of members contain nothing to
// unescape.
static const struct kind_member *pointed_at(const struct kind *kind, struct str pointer, bool *whole)
{
	size_t end = str_find(pointer, '/', 1);

	*whole = end == pointer.n;
	return pointer.n > 0 ? kind_member(kind, str_part(pointer, 1, end)) : NULL;
}

// A patch may read everything that is shown.
static enum outcome check_source(const struct patching *patching, struct str pointer)
{
	bool whole;
	const struct kind_member *member = pointed_at(patching->kind, pointer, &whole);

	if (member != NULL && member->since > patching->call->version)
		return baremetal_fail_too_new(patching->call, member->name, member->since);
	return OUTCOME_OK;
}

static enum outcome check_removal(const struct patching *patching, const struct kind_member *member)
{
	if ((member->flags & MEMBER_STAYS) == 0)
		return OUTCOME_OK;
	return call_fail(patching->call, OUTCOME_BAD_DOCUMENT, "Couldn't apply patch: /%s can't be removed; replace it",
		member->name);
}

static enum outcome check_null(const struct patching *patching, const struct kind_member *member)
{
	if ((member->flags & MEMBER_NOT_NULL) == 0)
		return OUTCOME_OK;
	return call_fail(patching->call, OUTCOME_BAD_DOCUMENT,
		"Couldn't apply patch: /%s can't be replaced by null; remove it, or give it a value", member->name);
}

static enum outcome check_new_name(const struct patching *patching, struct str name)
{
	if (kind_may_be_named(patching->call, patching->kind, name))
		return OUTCOME_OK;
	return call_fail(patching->call, OUTCOME_BAD_DOCUMENT,
		"Cannot change name to invalid name '%.*s': before version 1.10 it is a host name in lower case",
		STR_HEAD_ARG(name, BAREMETAL_SHOWN));
}

// May the operation change what the pointer leads to? Notes if it may change the owner.
static enum outcome check_target(struct patching *patching, struct str op, struct str pointer, const struct doc *value)
{
	bool whole;
	const struct kind_member *member = pointed_at(patching->kind, pointer, &whole);

	if (member == NULL || (member->flags & MEMBER_PATCHED) == 0)
		return fail_path(patching, pointer);
	if (member->named_since > patching->call->version)
		return baremetal_fail_too_new(patching->call, member->name, member->named_since);
	if (patching->kind == &port_kind && patching->call->version < SINCE_NETWORK_TYPE &&
		str_eq(pointer, STR("/local_link_connection/network_type")))
		return baremetal_fail_too_new(patching->call, "network_type in local_link_connection", SINCE_NETWORK_TYPE);
	if (member->source == FROM_TENANT)
		patching->gives = true;
	if (whole && str_eq(op, STR("remove")))
		return check_removal(patching, member);
	if (whole && value == NULL && (str_eq(op, STR("add")) || str_eq(op, STR("replace"))))
		return check_null(patching, member);
	if (whole && strcmp(member->name, "name") == 0 && doc_string(value).n > 0)
		return check_new_name(patching, doc_string(value));
	return OUTCOME_OK;
}

// The operation "move" removes what it reads. That is allowed within a dictionary; a member of the object itself always exists.
static enum outcome check_moved(struct patching *patching, struct str pointer)
{
	bool whole;
	enum outcome outcome = check_target(patching, STR("move"), pointer, NULL);

	if (outcome != OUTCOME_OK || pointed_at(patching->kind, pointer, &whole) == NULL || !whole)
		return outcome;
	return call_fail(patching->call, OUTCOME_BAD_DOCUMENT,
		"Couldn't apply patch: %.*s can't be moved, only what is in it; copy it and then remove it",
		STR_HEAD_ARG(pointer, BAREMETAL_SHOWN));
}

static struct str text_of(const struct doc *operation, const char *name)
{
	return doc_string(doc_member(operation, name));
}

// Marks the member to which, or into which, the pointer leads; all members if it leads to the whole document.
static void touch(struct patching *patching, struct str pointer)
{
	bool whole;
	const struct kind_member *members = patching->kind->members, *member = pointed_at(patching->kind, pointer, &whole);

	for (size_t i = 0; members[i].name != NULL; i++)
		patching->touched[i] = patching->touched[i] || pointer.n == 0 || &members[i] == member;
}

static enum outcome check_operation(struct patching *patching, const struct doc *operation)
{
	struct str op = text_of(operation, "op"), path = text_of(operation, "path"), from = text_of(operation, "from");
	const struct doc *value = NULL;
	enum outcome outcome = OUTCOME_OK;

	touch(patching, path);
	if (str_eq(op, STR("copy")) || str_eq(op, STR("move")))
		touch(patching, from);
	if (str_eq(op, STR("test")))
		return check_source(patching, path);
	if (str_eq(op, STR("copy")))
		outcome = check_source(patching, from);
	else if (str_eq(op, STR("move")))
		outcome = check_moved(patching, from);
	(void)doc_get(operation, STR("value"), &value);
	return outcome == OUTCOME_OK ? check_target(patching, op, path, value) : outcome;
}

// ---- applying the patch

// Clients that send application/json know a service without the operation "test". So a patch that has no other operation, and
// asks for no change, gets the error of that service.
static enum outcome check_not_tests_only(const struct patching *patching, size_t tests)
{
	struct call *call = patching->call;

	if (tests == 0 || tests < doc_length(patching->patch) ||
	    media_is(call->request.content_type, "application/json-patch+json"))
		return OUTCOME_OK;
	return call_fail(call, OUTCOME_BAD_DOCUMENT,
		"Schema error for patch: it has tests alone, which change nothing; if that is what you mean, send it as "
		"application/json-patch+json");
}

static enum outcome check_operations(struct patching *patching)
{
	enum outcome outcome = OUTCOME_OK;
	size_t tests = 0, n = 0;

	while (patching->kind->members[n].name != NULL)
		n++;
	patching->touched = POOL_ARRAY(patching->call->pool, bool, n);
	for (size_t i = 0; outcome == OUTCOME_OK && i < doc_length(patching->patch); i++) {
		const struct doc *operation = doc_at(patching->patch, i);
		tests += str_eq(text_of(operation, "op"), STR("test")) ? 1 : 0;
		outcome = check_operation(patching, operation);
	}
	return outcome == OUTCOME_OK ? check_not_tests_only(patching, tests) : outcome;
}

// Does an operation of the patch set that member?
static bool sets(const struct patching *patching, struct str name)
{
	for (size_t i = 0; i < doc_length(patching->patch); i++) {
		const struct doc *operation = doc_at(patching->patch, i);
		struct str path = text_of(operation, "path");
		if (path.n > 0 && str_eq(str_part(path, 1, path.n), name) && !str_eq(text_of(operation, "op"), STR("test")))
			return true;
	}
	return false;
}

static enum outcome read_reset(struct patching *patching)
{
	struct call *call = patching->call;
	struct str text = call_param(call, "reset_interfaces");

	if (text.p == NULL)
		return OUTCOME_OK;
	if (call->version < SINCE_RESET)
		return baremetal_fail_too_new(call, "the parameter reset_interfaces", SINCE_RESET);
	if (!baremetal_bool_text(text, &patching->resets))
		return call_fail(call, OUTCOME_BAD_PARAMETER,
			"Unrecognized value '%.*s' for reset_interfaces: it has to be true or false",
			STR_HEAD_ARG(text, BAREMETAL_SHOWN));
	if (!patching->resets || sets(patching, STR("driver")))
		return OUTCOME_OK;
	return call_fail(call, OUTCOME_BAD_PARAMETER,
		"The reset_interfaces parameter can only be used when the patch changes the node's driver: it has to set /driver");
}

static enum outcome read_operations(struct patching *patching)
{
	struct call *call = patching->call;
	struct doc *patch;
	struct str error;
	enum outcome outcome = call_read(call, &any_document, &patch);

	if (outcome != OUTCOME_OK)
		return outcome;
	if (!doc_json_patch_check(call->pool, patch, &error))
		return call_fail(call, OUTCOME_BAD_DOCUMENT, "Schema error for patch: %.*s", STR_ARG(error));
	patching->patch = patch;
	outcome = check_operations(patching);
	if (outcome == OUTCOME_OK)
		outcome = read_reset(patching);
	if (outcome == OUTCOME_OK && patching->gives && call->who.role != ROLE_OPERATOR)
		outcome = call_fail(call, OUTCOME_FORBIDDEN, "owner: only an operator gives %s %s to another tenant",
			baremetal_article(patching->kind->singular), patching->kind->singular);
	return outcome;
}

// Applies the patch. *result: those members of the object that the patch touches, as they are shown, with the patch applied.
static enum outcome carry_out(const struct patching *patching, const struct resource *current, const struct doc **result)
{
	struct call *call = patching->call;
	struct buf text = buf_new(call->pool, 1024);
	struct selection selection = baremetal_select_touched(call, patching->kind, patching->touched);
	struct str error;

	baremetal_add_object(call, &selection, current, &text);
	const struct doc *shown = stored_document(call->pool, resource_place(current, "body"), buf_str(&text));

	if (patch_result(call, EDIT_JSON_PATCH, patching->kind->rules, shown, patching->patch, result, &error))
		return OUTCOME_OK;
	return call_fail(call, OUTCOME_BAD_DOCUMENT, "Couldn't apply patch, and nothing was changed: %.*s", STR_ARG(error));
}

// ---- a change of the owner

static enum outcome owner_of(const struct patching *patching, const struct doc *result, struct str *tenant)
{
	const struct doc *owner = NULL;

	(void)doc_get(result, STR("owner"), &owner);
	*tenant = owner == NULL ? STR(TENANT_SYSTEM) : doc_string(owner);
	if (owner == NULL || doc_kind(owner) == DOC_STRING)
		return OUTCOME_OK;
	return call_fail(patching->call, OUTCOME_BAD_DOCUMENT, "owner has to be the name of a tenant, or null");
}

// Finds the owner that the patch would set, from the object as it is now. That has to be known before the object is locked,
// because tenants are locked before resources.
static enum outcome find_new_owner(struct patching *patching, const struct ident *ident, struct guard guard)
{
	struct registry *registry = patching->call->registry;
	struct resource current;
	const struct doc *result;
	enum outcome outcome = resource_find(registry, ident, &current);

	if (outcome == OUTCOME_OK)
		outcome = resource_check(registry, &current, guard);
	if (outcome == OUTCOME_OK)
		outcome = carry_out(patching, &current, &result);
	return outcome == OUTCOME_OK ? owner_of(patching, result, &patching->change.new_owner) : outcome;
}

// Is the owner that the patch sets still the one that find_new_owner() has found?
static enum outcome check_new_owner(const struct patching *patching, const struct doc *result)
{
	struct str new_owner;
	enum outcome outcome = owner_of(patching, result, &new_owner);

	if (outcome != OUTCOME_OK || str_eq(new_owner, patching->change.new_owner))
		return outcome;
	return call_fail(patching->call, OUTCOME_CONFLICT, "it was changed in the meantime, and with it whose it would become: "
		"look at it and repeat");
}

// ---- storing the result

// Sets the interfaces that the patch does not set to null, which stands for the driver's default.
static void reset_interfaces(const struct patching *patching, struct doc *body)
{
	for (const char *const *interface = baremetal_interfaces; *interface != NULL; interface++) {
		struct str name = str_printf(patching->call->pool, "%s_interface", *interface);
		if (!sets(patching, name))
			doc_set(body, name, NULL);
	}
}

// Members that the patch does not touch keep their stored values, and so do those that clients can't set.
static struct doc *patched_body(const struct patching *patching, const struct resource *current, const struct doc *result)
{
	struct pool *pool = patching->call->pool;
	const struct kind_member *members = patching->kind->members;
	const struct doc *stored = resource_body_tree(pool, current);
	struct doc *body = doc_copy(pool, stored);

	for (size_t i = 0; members[i].name != NULL; i++) {
		const struct doc *value = NULL;
		if (members[i].source != FROM_BODY || (members[i].flags & MEMBER_PATCHED) == 0 || !patching->touched[i] ||
		    members[i].since > patching->call->version)
			continue;
		(void)doc_get(result, str_c(members[i].name), &value);
		doc_set(body, str_c(members[i].name), value != NULL ? doc_copy(pool, value) : NULL);
	}
	if (patching->resets && !doc_equal(doc_member(stored, "driver"), doc_member(body, "driver")))
		reset_interfaces(patching, body);
	return body;
}

enum outcome baremetal_check_size(struct call *call, const struct doc *body)
{
	uint64_t most = registry_settings(call->config)->max_body;
	struct buf text = buf_new(call->pool, 0);

	if (doc_json_bound(body) <= most)
		return OUTCOME_OK;
	doc_write_json(body, &text);
	if (text.n <= most)
		return OUTCOME_OK;
	return call_fail(call, OUTCOME_BODY_TOO_LARGE, "an object may have %llu bytes at most",
		(unsigned long long)most);
}

// Is the patch exactly this one: take away the node's instance? That is possible in maintenance, whatever the node's state is.
static bool takes_instance_only(const struct doc *patch)
{
	const struct doc *operation = doc_length(patch) == 1 ? doc_at(patch, 0) : NULL;

	return operation != NULL && str_eq(text_of(operation, "op"), STR("remove")) && str_eq(text_of(operation, "path"), STR("/instance_uuid"));
}

static enum outcome check_node(const struct patching *patching, const struct resource *current)
{
	struct call *call = patching->call;
	const struct doc *body = resource_body_tree(call->pool, current), *maintenance = NULL;
	enum outcome outcome = provision_check_reserved(call->registry, &current->uid, body);

	(void)doc_get(body, STR("maintenance"), &maintenance);
	if (outcome != OUTCOME_OK || (doc_bool(maintenance) && takes_instance_only(patching->patch)))
		return outcome;
	return provision_check_settled(call->registry, &current->uid, body, call->version >= SINCE_INSPECT_WAIT);
}

static bool has_chassis(const struct doc *body)
{
	const struct doc *chassis = NULL;

	(void)doc_get(body, STR("chassis_uuid"), &chassis);
	return chassis != NULL;
}

// A node can be taken out of its chassis from SINCE_NO_CHASSIS on.
static enum outcome check_chassis_kept(const struct patching *patching, const struct resource *current, const struct doc *body)
{
	struct call *call = patching->call;

	if (call->version >= SINCE_NO_CHASSIS || has_chassis(body) || !has_chassis(resource_body_tree(call->pool, current)))
		return OUTCOME_OK;
	return baremetal_fail_too_new(call, "a patch that leaves no chassis_uuid", SINCE_NO_CHASSIS);
}

static enum outcome apply_patch(void *arg, const struct resource *current, struct content *content)
{
	const struct patching *patching = arg;
	struct call *call = patching->call;
	const struct doc *result;
	enum outcome outcome = OUTCOME_OK;

	if (patching->kind == &node_kind)
		outcome = check_node(patching, current);
	else if (patching->reservation != NULL)
		outcome = provision_check_reservation(call->registry, patching->reservation, current,
			call->version >= SINCE_INSPECT_WAIT && (patching->kind == &port_kind || patching->kind == &portgroup_kind));
	if (outcome == OUTCOME_OK)
		outcome = carry_out(patching, current, &result);
	if (outcome == OUTCOME_OK && patching->gives)
		outcome = check_new_owner(patching, result);
	if (outcome != OUTCOME_OK)
		return outcome;
	*content = (struct content){
		.meta = current->meta,
		.document = patched_body(patching, current, result),
		.locked = current->locked,
	};
	if (patching->kind == &node_kind)
		outcome = check_chassis_kept(patching, current, content->document);
	return outcome == OUTCOME_OK ? baremetal_check_size(patching->call, content->document) : outcome;
}

static enum outcome write_patch(struct patching *patching, const struct ident *ident, struct guard guard,
	struct resource *resource)
{
	struct registry *registry = patching->call->registry;
	struct edit edit = { .apply = apply_patch, .arg = patching };

	// What an allocation's patch changes is no business of whoever has reserved the node.
	if (ident->type->rules->top != NULL && patching->kind != &allocation_kind)
		patching->reservation = edit.with = provision_reservation_call(patching->call->pool, ident);
	if (!patching->gives)
		return resource_change(registry, ident, &edit, guard, resource);
	enum outcome outcome = find_new_owner(patching, ident, guard);
	patching->change.may_make = baremetal_may_make_owner(patching->call, patching->change.new_owner);
	if (outcome == OUTCOME_OK)
		outcome = resource_change_owner(registry, ident, &patching->change, &edit, guard, resource);
	if (outcome == OUTCOME_OK && patching->change.made)
		baremetal_warn_owner_made(patching->call, patching->change.new_owner, "change owner again and delete that tenant");
	// It is not the object that is gone, but the new owner.
	return outcome == OUTCOME_GONE ? OUTCOME_CONFLICT : outcome;
}

enum outcome baremetal_patch_object(struct call *call, const struct kind *kind)
{
	struct patching patching = { .call = call, .kind = kind };
	struct str text = call_param(call, kind->singular);
	struct conditions conditions;
	struct resource resource;
	struct ident ident;
	enum outcome outcome = baremetal_begin_change(call, kind, text, &conditions, &ident);

	if (outcome == OUTCOME_OK)
		outcome = read_operations(&patching);
	if (outcome == OUTCOME_OK)
		outcome = write_patch(&patching, &ident, conditions_guard(&conditions), &resource);
	if (outcome == OUTCOME_OK)
		baremetal_write_object(call, kind, &resource);
	return outcome == OUTCOME_NOT_FOUND ? baremetal_fail_not_found(call, kind, text) : outcome;
}

// ---- DELETE

enum outcome baremetal_delete_named(struct call *call, const struct kind *kind, struct str text)
{
	struct conditions conditions;
	struct resource resource;
	struct ident ident;
	enum outcome outcome = baremetal_begin_change(call, kind, text, &conditions, &ident);

	if (outcome == OUTCOME_OK)
		outcome = resource_remove(call->registry, &ident, conditions_guard(&conditions), &resource);
	return outcome == OUTCOME_NOT_FOUND ? baremetal_fail_not_found(call, kind, text) : outcome;
}

enum outcome baremetal_delete_object(struct call *call, const struct kind *kind)
{
	return baremetal_delete_named(call, kind, call_param(call, kind->singular));
}

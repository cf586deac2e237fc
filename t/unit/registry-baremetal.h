// SPDX-License-Identifier: Apache-2.0
// Types with rules of the tests' own, on the rows that the schema has for nodes and ports: a node is the top of a tree, a
// port hangs on the node that its member "node" names. Names of nodes and addresses of ports are one of a kind.
#ifndef TENURE_T_UNIT_REGISTRY_METAL_H
#define TENURE_T_UNIT_REGISTRY_METAL_H

#include "registry-fixture.h"
#include "registry/core/failure.h"
#include "registry/registry.h"
#include "registry/resource/resource.h"
#include "registry/type/rules.h"
#include "repr/json/doc.h"

static struct str member_of(const struct doc *body, const char *name)
{
	const struct doc *value;

	return doc_get(body, str_c(name), &value) && doc_kind(value) == DOC_STRING ? doc_string(value) : STR_NONE;
}

static enum outcome complete_any(struct draft *draft)
{
	UNUSED(draft);
	return OUTCOME_OK;
}

static void add_key(struct relations *relations, const char *kind, struct str value)
{
	if (value.p != NULL)
		relations->keys[relations->n_keys++] = (struct lookup_key){ kind, value };
}

static void relate_node(struct pool *pool, const struct doc *body, const struct uuid *uid, struct relations *relations)
{
	struct str rack = member_of(body, "rack");

	add_key(relations, "name", member_of(body, "name"));
	if (rack.p != NULL)
		add_key(relations, "rack", str_printf(pool, "%.*s %.*s", STR_ARG(rack), UUID_ARG(pool, *uid)));
	relations->has_root = true;
	relations->root = *uid;
}

static void relate_port(struct pool *pool, const struct doc *body, const struct uuid *uid, struct relations *relations)
{
	UNUSED(pool);
	UNUSED(uid);
	add_key(relations, "address", member_of(body, "address"));
	relations->has_root = uuid_parse(member_of(body, "node"), &relations->root);
}

static enum outcome may_delete_node(struct registry *registry, const struct resource *resource, const struct doc *body)
{
	UNUSED(resource);
	if (member_of(body, "protected").p != NULL)
		return registry_fail(registry, OUTCOME_FORBIDDEN, "protected");
	return OUTCOME_OK;
}

static enum outcome taken(struct registry *registry, const struct uuid *uid, const struct lookup_key *key)
{
	struct str what = key != NULL ? key->value : uuid_str(registry->pool, *uid);

	return registry_fail(registry, OUTCOME_NAME_TAKEN, "%s %.*s is taken", key != NULL ? key->kind : "uid",
		STR_ARG(what));
}

static const struct type_rules test_nodes = {
	.group = "baremetal.openstack.org", .plural = "nodes", .is_root = true, .complete = complete_any,
	.relate = relate_node, .may_delete = may_delete_node, .taken = taken
};
static const struct type_rules test_ports = {
	.group = "baremetal.openstack.org", .plural = "ports", .top = &test_nodes, .complete = complete_any,
	.relate = relate_port, .taken = taken
};

// Each registry loads its types anew.
static const struct type *type_of(struct client *client, const char *plural)
{
	struct type *nodes = (struct type *)(uintptr_t)type_called(client->registry, "nodes");
	struct type *ports = (struct type *)(uintptr_t)type_called(client->registry, "ports");

	nodes->rules = &test_nodes;
	ports->rules = &test_ports;
	return type_called(client->registry, plural);
}

// is_sound, by these rules.
TAP_UNUSED_OK static void is_sound_here(const char *what)
{
	uint64_t found = 0;
	struct uuid id = uuid_new();
	enum outcome outcome = registry_begin(here.registry, here.pool, &id, STR("doctor"), &here.problem);

	(void)type_of(&here, "nodes");
	(void)type_of(&here, "ports");
	if (outcome == OUTCOME_OK)
		outcome = doctor(here.registry, &(struct doctor_run){ .report = note_damage, .arg = &found });
	ok(outcome == OUTCOME_OK && found == 0, "%s: the store is sound", what);
}

static struct uuid uid_of(unsigned number)
{
	struct uuid uid = { .b = { [0] = 0xaa, [13] = (uint8_t)(number >> 16), [14] = (uint8_t)(number >> 8), [15] =
		(uint8_t)number } };

	return uid;
}

enum deed_verb { MAKE, CHANGE, REMOVE, DELETE_AT, RECOVER_AT, FIND, LOOK, MOVE_ONE, MOVE_ALL_THERE, GIVE };

// Numbers stand for uids.
struct deed {
	enum deed_verb verb;
	const char *tenant, *plural; // tenant NULL: anybody's
	unsigned number;
	const char *body; // NULL: {}
	bool locked;
	const char *dest;
	const char *kind, *value; // an key
	bool done; // the last one, for DEED
};

struct doing {
	struct client *client;
	const struct deed *deed;
	enum outcome outcome;
};

static enum outcome deed_apply(void *arg, const struct resource *current, struct content *content)
{
	const struct deed *deed = arg;

	*content = (struct content){
		.meta = deed->locked ? STR("{\"locked\":true}") : STR("{}"),
		.body = deed->body != NULL ? str_c(deed->body) : current != NULL ? current->body : STR("{}"),
		.locked = deed->locked,
	};
	return OUTCOME_OK;
}

static enum outcome deed_move(struct client *client, const struct deed *deed, const struct address *address)
{
	struct move_order order = { .source = str_c(deed->tenant), .dest = str_c(deed->dest), .words = 2 };

	if (deed->verb != MOVE_ALL_THERE)
		order.address = address;
	if (deed->verb == LOOK)
		return move_preview(client->registry, &order, &client->action);
	enum outcome outcome = move_run(client->registry, &order, (struct tag_guard){ 0 }, &client->moved);
	client->action = client->moved.action;
	return outcome;
}

static enum outcome deed_do(struct client *client, const struct deed *deed)
{
	struct edit edit = { .apply = deed_apply, .arg = (void *)(uintptr_t)deed, .creates = true };
	struct guard none = { 0 };
	struct str tenant = deed->tenant != NULL ? str_c(deed->tenant) : STR_NONE;
	const struct type *type = type_of(client, deed->plural != NULL ? deed->plural : "nodes");
	struct ident ident = { type, tenant, uid_of(deed->number), deed->kind, deed->value != NULL ? str_c(deed->value) :
		STR_NONE };
	struct address address = { tenant, type, STR(""), uuid_str(client->pool, ident.uid) };

	(void)type_of(client, "nodes");
	(void)type_of(client, "ports");
	switch (deed->verb) {
	case MAKE:
		return resource_write(client->registry, &address, &edit, none, &client->resource);
	case CHANGE:
		return resource_change(client->registry, &ident, &edit, none, &client->resource);
	case REMOVE:
		return resource_remove(client->registry, &ident, none, &client->resource);
	case DELETE_AT:
		return resource_delete(client->registry, &address, none, &client->resource);
	case RECOVER_AT:
		return resource_recover(client->registry, &address, NULL, none);
	case FIND:
		return resource_find(client->registry, &ident, &client->resource);
	case GIVE:
		return resource_change_owner(client->registry, &ident,
			&(struct owner_change){ .new_owner = str_c(deed->dest), .may_make = true }, &edit, none, &client->resource);
	default:
		return deed_move(client, deed, &address);
	}
}

static enum db_verdict deed_run(void *arg)
{
	struct doing *doing = arg;

	doing->outcome = deed_do(doing->client, doing->deed);
	return outcome_commits(doing->outcome) ? DB_COMMIT : DB_ROLLBACK;
}

static enum outcome client_deed(struct client *client, const struct deed *deed)
{
	struct doing doing = { client, deed, OUTCOME_INTERNAL };
	enum db_mode mode = deed->verb == FIND ? DB_AUTOCOMMIT : deed->verb == LOOK ? DB_SNAPSHOT : DB_WRITE;

	client->request_id = uuid_new();
	enum outcome outcome = registry_begin(client->registry, client->pool, &client->request_id, STR("tester"),
		&client->problem);
	if (outcome != OUTCOME_OK)
		return outcome;
	enum db_result result = db_txn_run(client->db, mode, &client->request_id, deed_run, &doing);
	return result == DB_OK ? doing.outcome : OUTCOME_UNAVAILABLE;
}

#define DEED(want, what, ...) \
	is_outcome(client_deed(&here, &(struct deed){ __VA_ARGS__, .done = false }), OUTCOME_##want, what)

#endif

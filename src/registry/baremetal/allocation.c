// SPDX-License-Identifier: Apache-2.0
// Allocations: picking a node, recording one for a node that is active already, freeing it.
#include "base/base.h"

#include "base/buf.h"
#include "base/pool.h"
#include "registry/baremetal/allocation.h"
#include "registry/baremetal/internal.h"
#include "registry/baremetal/provision.h"
#include "registry/baremetal/rules.h"
#include "registry/core/failure.h"
#include "registry/core/stored.h"
#include "registry/resource/resource.h"
#include "registry/trait/catalogue.h"
#include "registry/type/type.h"
#include "repr/json/doc.h"
#include "sql/baremetal.h"
#include "sql/traits.h"

// Nodes that are tried before an allocation is given up, because others took them meanwhile.
enum { NODES_TRIED = 1000, NODES_AT_ONCE = 16 };

const char *const allocation_states[] = { "allocating", "active", "error", NULL };

// The service's own changes lose no other change: they are computed from the locked row.
static const struct guard no_guard = { .prevents_lost_update = true };

// ---- the rules

// Clients change name and extra; the rest follows from how the allocation was made.
static enum outcome check_changes(struct draft *draft)
{
	static const char *const free_members[] = { "name", "extra", NULL };

	if (draft->by_service)
		return OUTCOME_OK;
	if (draft->before == NULL)
		return registry_fail(draft->registry, OUTCOME_FORBIDDEN,
			"allocations are made by POST /baremetal/v1/allocations alone, which picks the node");
	for (const struct baremetal_member *member = baremetal_allocation_members; member->name != NULL; member++) {
		if (!baremetal_among(free_members, str_c(member->name)) &&
		    baremetal_changes(draft, baremetal_allocation_members, member->name))
			return registry_fail(draft->registry, OUTCOME_FORBIDDEN,
				"%s of an allocation can't be changed, only name and extra", member->name);
	}
	return OUTCOME_OK;
}

static enum outcome complete(struct draft *draft)
{
	enum outcome outcome = baremetal_normalise(draft, baremetal_allocation_members);

	if (outcome == OUTCOME_OK)
		outcome = baremetal_check_name(draft);
	if (outcome == OUTCOME_OK)
		outcome = baremetal_check_word(draft, "state", allocation_states);
	return outcome == OUTCOME_OK ? check_changes(draft) : outcome;
}

static void relate(struct pool *pool, const struct doc *body, const struct uuid *uid, struct relations *relations)
{
	struct str name = baremetal_text(body, "name");

	UNUSED(pool);
	UNUSED(uid);
	*relations = (struct relations){ 0 };
	relations->has_root = uuid_parse(baremetal_text(body, "node_uuid"), &relations->root);
	if (name.p != NULL)
		baremetal_add_key("name", name, relations);
}

static enum outcome taken(struct registry *registry, const struct uuid *uid, const struct lookup_key *key)
{
	struct str ident = key == NULL ? uuid_str(registry->pool, *uid) : key->value;

	return registry_fail(registry, OUTCOME_NAME_TAKEN, "An allocation with %s %.*s already exists.",
		key == NULL ? "UUID" : key->kind, STR_ARG(ident));
}

// ---- changing a node or an allocation

struct change {
	struct registry *registry;
	struct uuid allocation;
	const struct allocation_request *request;
	bool skipped; // the node does not fit (any more)
	const struct db_call *room; // allocation_room of the node; NULL: not asked for
	const char *state; // of the allocation
	struct str node, error; // its node or last_error; p NULL: none
};

// Changes a node or an allocation as the service, without preconditions. OUTCOME_OK, _NOT_FOUND, or what apply() or a failed
// statement returns.
static enum outcome change_by_service(struct registry *registry, const struct type_rules *rules, const struct uuid *uid,
	enum outcome (*apply)(void *arg, const struct resource *current, struct content *content), struct change *arg,
	struct resource *resource)
{
	const struct ident ident = { .type = type_with_rules(registry, rules), .uid = *uid };
	const struct edit edit = { .apply = apply, .arg = arg, .by_service = true };

	return ident.type == NULL ? OUTCOME_INTERNAL : resource_change(registry, &ident, &edit, no_guard, resource);
}

// Begins the new content of a resource as a copy of the current one. Returns its body, which the caller changes.
static struct doc *begin_content(struct pool *pool, const struct resource *current, struct content *content)
{
	struct doc *body = resource_body_doc(pool, current);

	*content = (struct content){ .meta = current->meta, .document = body, .locked = current->locked };
	return body;
}

// Is each text of the list wanted, which may be NULL, in the other one?
static bool contains(const struct doc *list, const struct doc *wanted)
{
	for (size_t i = 0; i < doc_elements(wanted); i++) {
		size_t j = 0;
		while (j < doc_elements(list) && !str_eq(doc_string(doc_at(list, j)), doc_string(doc_at(wanted, i))))
			j++;
		if (j == doc_elements(list))
			return false;
	}
	return true;
}

static const struct doc *wanted(const struct allocation_request *request, const char *member)
{
	const struct doc *value = NULL;

	(void)doc_get(request->body, str_c(member), &value);
	return value;
}

// The traits that were asked for stand in instance_info, too: a deployment looks for deploy templates there.
static void set_allocation(struct pool *pool, struct doc *body, const struct change *change)
{
	const struct doc *traits = wanted(change->request, "traits");
	struct str uuid = uuid_str(pool, change->allocation);

	doc_set(baremetal_own_instance_info(pool, body), STR("traits"), traits != NULL ? doc_copy(pool, traits) : doc_new_array(pool));
	doc_set_str(pool, body, "allocation_uuid", uuid);
	doc_set_str(pool, body, "instance_uuid", uuid);
}

// Ironic leaves the traits. Here the undo of an allocation leaves the node as it was before.
static void clear_allocation(struct pool *pool, struct doc *body)
{
	doc_remove(baremetal_own_instance_info(pool, body), STR("traits"));
	doc_set(body, STR("allocation_uuid"), NULL);
	doc_set(body, STR("instance_uuid"), NULL);
}

static bool has_traits(struct pool *pool, const struct resource *node, const struct allocation_request *request)
{
	struct str traits = node->traits.n > 0 ? node->traits : STR("[]");

	return contains(stored_document(pool, STORED_NEW, traits), wanted(request, "traits"));
}

// ---- picking a node

static bool has_room(const struct db_call *room)
{
	return room == NULL || (room->rows.n == 1 && sql_allocation_room_row(&room->rows, 0)->room != 0);
}

// The node is locked now. Does it still fit?
static enum outcome take_node(void *arg, const struct resource *current, struct content *content)
{
	struct change *taking = arg;
	struct pool *pool = taking->registry->pool;
	struct doc *body = begin_content(pool, current, content);

	taking->skipped = !has_room(taking->room) || !baremetal_is_free(body) ||
		!str_eq(baremetal_text(body, "resource_class"), doc_string(wanted(taking->request, "resource_class"))) ||
		!has_traits(pool, current, taking->request);
	if (!taking->skipped)
		set_allocation(pool, body, taking);
	return OUTCOME_OK;
}

// The candidates' uids as the statement wants them; p NULL: any node will do.
static struct str candidates_of(struct pool *pool, const struct allocation_request *request)
{
	const struct doc *candidates = wanted(request, "candidate_nodes");
	struct doc *uids = doc_new_array(pool);
	struct buf list = buf_new(pool, 64);
	struct uuid uid;

	if (doc_elements(candidates) == 0)
		return STR_NONE;
	for (size_t i = 0; i < doc_elements(candidates); i++) {
		struct buf hex = buf_new(pool, 33);
		if (!uuid_parse(doc_string(doc_at(candidates, i)), &uid))
			continue;
		struct str bytes = uuid_bytes(&uid);
		buf_add_hex(&hex, bytes.p, bytes.n);
		doc_push(uids, doc_new_string(pool, buf_str(&hex)));
	}
	doc_write_json(uids, &list);
	return buf_str(&list);
}

static struct sql_allocation_nodes question(struct registry *registry, const struct type *type, const struct allocation_request *request)
{
	struct pool *pool = registry->pool;
	const struct doc *traits = wanted(request, "traits");
	struct str class = doc_string(wanted(request, "resource_class"));
	struct buf names = buf_new(pool, 64);

	if (doc_elements(traits) > 0)
		doc_write_json(traits, &names);
	else
		BUF_LIT(&names, "[]");
	return (struct sql_allocation_nodes){
		.type_id = type->id,
		.tenant = request->tenant,
		.uids = candidates_of(pool, request),
		.from = baremetal_free_key(pool, class, STR("")),
		.to = baremetal_free_key(pool, class, STR("~")),
		.traits = buf_str(&names),
		.limit = NODES_AT_ONCE,
	};
}

// The id of the trait to begin with: one that fewer resources have than the class has free nodes. *id 0: none, the class is gone
// through.
// *absent: no resource has one of the traits. What there are RARE of or more is not counted to its end.
static enum outcome choose_rare_trait(struct registry *registry, const struct sql_allocation_nodes *in,
	const struct allocation_request *request, uint64_t *id, bool *absent)
{
	enum { RARE = 500 };
	const struct doc *traits = wanted(request, "traits");
	const struct sql_allocation_count_free free_nodes = { .type_id = in->type_id, .from = in->from, .to = in->to, .limit = RARE };
	struct db_call calls[DB_MAX_BATCH] = { sql_allocation_count_free_call(registry->pool, &free_nodes) };
	uint64_t ids[DB_MAX_BATCH];
	struct trait trait;
	size_t n = 1;

	for (size_t i = 0; i < doc_elements(traits) && n < DB_MAX_BATCH; i++) {
		enum outcome outcome = trait_get(registry, doc_string(doc_at(traits, i)), &trait);
		if (outcome == OUTCOME_NOT_FOUND)
			*absent = true;
		if (outcome != OUTCOME_OK)
			return outcome == OUTCOME_NOT_FOUND ? OUTCOME_OK : outcome;
		const struct sql_trait_count_users users = { .trait_id = trait.id, .limit = RARE };
		ids[n] = trait.id;
		calls[n++] = sql_trait_count_users_call(registry->pool, &users);
	}
	enum db_result result = db_run_batch(registry->db, registry->pool, calls, n);
	if (result != DB_OK)
		return registry_db_failed(result);
	uint64_t least = sql_allocation_count_free_row(&calls[0].rows, 0)->n;
	for (size_t i = 1; i < n; i++) {
		uint64_t users = sql_trait_count_users_row(&calls[i].rows, 0)->n;
		if (users < least) {
			least = users;
			*id = ids[i];
		}
	}
	return OUTCOME_OK;
}

struct picking {
	struct change taking;
	struct resource *picked;
	bool done;
	size_t tried;
};

// Takes the node, or sets taking->skipped. A node that is another tenant's by now is not found. Where the request names no
// tenant, a node whose tenant has no room for the allocation is skipped: the next one may be of another tenant.
static enum outcome try_node(struct picking *picking, const struct type *type, const struct uuid *uid)
{
	struct change *taking = &picking->taking;
	struct registry *registry = taking->registry;
	const struct ident ident = { .type = type, .tenant = taking->request->tenant, .uid = *uid };
	const struct sql_allocation_room in = { .type_id = type->id, .uid = uuid_bytes(uid) };
	struct db_call room = sql_allocation_room_call(registry->pool, &in);
	const bool any = taking->request->tenant.p == NULL;
	const struct edit edit = { .apply = take_node, .arg = taking, .by_service = true, .with = any ? &room : NULL };

	taking->room = edit.with;
	taking->skipped = false;
	enum outcome outcome = resource_change(registry, &ident, &edit, no_guard, picking->picked);
	picking->done = outcome == OUTCOME_OK && !taking->skipped;
	return outcome == OUTCOME_NOT_FOUND ? OUTCOME_OK : outcome;
}

// Tries the nodes that fit as far as can be seen without locks, some at a time, until one is taken.
static enum outcome try_nodes(struct picking *picking, enum sql_allocation_way way, struct sql_allocation_nodes in)
{
	struct registry *registry = picking->taking.registry;
	const struct type *type = type_with_rules(registry, &node_rules);
	enum outcome outcome = OUTCOME_OK;
	struct db_rows rows;

	assert(type != NULL); // pick_node() has it
	do {
		enum db_result result = sql_allocation_nodes_run(registry->db, registry->pool, way, &in, &rows);
		if (result != DB_OK)
			return registry_db_failed(result);
		for (size_t i = 0; outcome == OUTCOME_OK && i < rows.n; i++) {
			const struct sql_allocation_nodes_row *row = sql_allocation_nodes_row(&rows, i);
			struct uuid uid;
			if (!uuid_from_bytes(row->uid, &uid))
				return OUTCOME_INTERNAL;
			in.from = row->value;
			picking->tried++;
			outcome = try_node(picking, type, &uid);
			if (picking->done)
				return OUTCOME_OK;
		}
	} while (outcome == OUTCOME_OK && rows.n == NODES_AT_ONCE && picking->tried < NODES_TRIED);
	return outcome;
}

// From a random node of the class on, then those before it: requests at the same time try different ones.
static enum outcome try_around(struct picking *picking, enum sql_allocation_way way, struct sql_allocation_nodes in)
{
	struct registry *registry = picking->taking.registry;
	struct str begin = in.from;
	struct str middle = baremetal_free_key(registry->pool, doc_string(wanted(picking->taking.request, "resource_class")),
		uuid_str(registry->pool, uuid_new()));

	in.from = middle;
	enum outcome outcome = try_nodes(picking, way, in);
	if (outcome != OUTCOME_OK || picking->done)
		return outcome;
	in.from = begin;
	in.to = middle;
	return try_nodes(picking, way, in);
}

// Why there was no node to try: as OpenStack's service says it.
static struct str no_nodes(struct registry *registry, const struct allocation_request *request)
{
	struct str class = doc_string(wanted(request, "resource_class"));
	struct buf names = buf_new(registry->pool, 128);

	if (doc_elements(wanted(request, "candidate_nodes")) > 0)
		return str_printf(registry->pool, "none of the requested nodes are available and match the resource class %.*s",
			STR_ARG(class));
	if (doc_elements(wanted(request, "traits")) == 0)
		return str_printf(registry->pool, "no available nodes match the resource class %.*s", STR_ARG(class));
	for (size_t i = 0; i < doc_elements(wanted(request, "traits")); i++) {
		struct str trait = doc_string(doc_at(wanted(request, "traits"), i));
		buf_addf(&names, "%s%.*s", i > 0 ? ", " : "", STR_ARG(trait));
	}
	return str_printf(registry->pool,
		"no available nodes match the resource class %.*s and have the requested traits %.*s", STR_ARG(class),
		STR_ARG(names));
}

// Any node that fits, wherever it is quickest to look for one: among those with a rare trait, or those of the class.
static enum outcome pick_any(struct picking *picking, struct sql_allocation_nodes in)
{
	struct registry *registry = picking->taking.registry;
	const struct allocation_request *request = picking->taking.request;
	enum outcome outcome = OUTCOME_OK;
	bool absent = false;

	if (doc_elements(wanted(request, "traits")) > 0)
		outcome = choose_rare_trait(registry, &in, request, &in.rare, &absent);
	if (outcome != OUTCOME_OK || absent)
		return outcome;
	if (in.rare != 0)
		return try_around(picking, SQL_ALLOCATION_WAY_TRAIT, in);
	if (in.tenant.p == NULL)
		return try_around(picking, SQL_ALLOCATION_WAY_ANY, in);
	outcome = try_around(picking, SQL_ALLOCATION_WAY_FIRST, in);
	return outcome == OUTCOME_OK && !picking->done ? try_around(picking, SQL_ALLOCATION_WAY_TENANT, in) : outcome;
}

// *picked: the node that has been taken, if error stays without text. A node of the allocation's own name comes first.
static enum outcome pick_node(struct registry *registry, const struct allocation_request *request, struct resource *picked,
	struct str *error)
{
	struct picking picking = { .taking = { .registry = registry, .allocation = request->uid, .request = request }, .picked = picked };
	const struct type *type = type_with_rules(registry, &node_rules);
	enum outcome outcome = OUTCOME_OK;

	if (type == NULL)
		return OUTCOME_INTERNAL;
	struct sql_allocation_nodes in = question(registry, type, request), named = in;
	if (doc_kind(wanted(request, "name")) == DOC_STRING) {
		named.name = doc_string(wanted(request, "name"));
		outcome = try_nodes(&picking, SQL_ALLOCATION_WAY_NAMED, named);
	}
	if (outcome == OUTCOME_OK && !picking.done)
		outcome = in.uids.p != NULL ? try_around(&picking, SQL_ALLOCATION_WAY_CANDIDATES, in) : pick_any(&picking, in);
	if (!picking.done)
		*error = picking.tried == 0 ? no_nodes(registry, request) : STR("all nodes were filtered out during reservation");
	return outcome;
}

// ---- recording a node that is active already

static void add_error(struct buf *errors, const char *format, ...) PRINTF_LIKE(2, 3);
static void add_error(struct buf *errors, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	struct str text = str_vprintf(errors->pool, format, args);
	va_end(args);
	buf_add(errors, errors->n > 0 ? STR("; ") : STR(""));
	buf_add(errors, text);
}

static enum outcome record_node(void *arg, const struct resource *current, struct content *content)
{
	struct change *recording = arg;
	const struct allocation_request *request = recording->request;
	struct pool *pool = recording->registry->pool;
	struct doc *body = begin_content(pool, current, content);
	struct str own = uuid_str(pool, current->uid), uuid = uuid_str(pool, recording->allocation);
	struct str instance = baremetal_text(body, "instance_uuid"), class = baremetal_text(body, "resource_class");
	const struct doc *candidates = wanted(request, "candidate_nodes");
	struct str wanted_class = doc_string(wanted(request, "resource_class"));
	struct buf errors = buf_new(pool, 128);

	if (!str_eq(baremetal_text(body, "provision_state"), STR("active"))) {
		struct str state = baremetal_text(body, "provision_state");
		add_error(&errors, "Node must be in the \"active\" state, but the current state is \"%.*s\"", STR_ARG(state));
	}
	if (wanted_class.n > 0 && !str_eq(class, wanted_class))
		add_error(&errors, "Resource class %.*s does not match the requested resource class %.*s", STR_ARG(class),
			STR_ARG(wanted_class));
	if (!has_traits(pool, current, request))
		add_error(&errors, "Its traits do not match the requested traits");
	struct doc *only = doc_new_array(pool);
	doc_push(only, doc_new_string(pool, own));
	if (doc_elements(candidates) > 0 && !contains(candidates, only))
		add_error(&errors, "Candidate nodes must be empty or contain the target node");
	if (errors.n > 0)
		return registry_fail(recording->registry, OUTCOME_CONFLICT,
			"Failed to process allocation %.*s: Cannot backfill an allocation for node %.*s: %.*s", STR_ARG(uuid), STR_ARG(own),
			STR_ARG(errors));
	if ((instance.p != NULL && !str_eq(instance, uuid)) || baremetal_text(body, "allocation_uuid").p != NULL)
		return registry_fail(recording->registry, OUTCOME_CONFLICT, "Node %.*s is associated with instance %.*s.", STR_ARG(own),
			STR_ARG(instance));
	set_allocation(pool, body, recording);
	return provision_check_reserved(recording->registry, &current->uid, body);
}

// ---- the allocation

static enum outcome write_new(void *arg, const struct resource *current, struct content *content)
{
	const struct change *making = arg;
	struct pool *pool = making->registry->pool;
	struct doc *body = doc_copy(pool, making->request->body);

	if (current != NULL)
		return taken(making->registry, &current->uid, NULL);
	doc_set_str(pool, body, "state", str_c(making->state));
	if (making->node.p != NULL)
		doc_set_str(pool, body, "node_uuid", making->node);
	*content = (struct content){ .meta = STR("{}"), .document = body };
	return OUTCOME_OK;
}

static enum outcome end_making(void *arg, const struct resource *current, struct content *content)
{
	const struct change *making = arg;
	struct pool *pool = making->registry->pool;
	struct doc *body = begin_content(pool, current, content);

	doc_set_str(pool, body, "state", str_c(making->state));
	doc_set(body, STR("node_uuid"), making->node.p != NULL ? doc_new_string(pool, making->node) : NULL);
	doc_set(body, STR("last_error"), making->error.p != NULL ? doc_new_string(pool, making->error) : NULL);
	return OUTCOME_OK;
}

static enum outcome store(struct registry *registry, struct change *making, struct str tenant, struct resource *resource)
{
	const struct address address = {
		.tenant = tenant,
		.type = type_with_rules(registry, &allocation_rules),
		.space = STR(""),
		.name = uuid_str(registry->pool, making->allocation),
	};
	const struct edit edit = { .apply = write_new, .arg = making, .creates = true, .by_service = true };

	return address.type == NULL ? OUTCOME_INTERNAL : resource_write(registry, &address, &edit, no_guard, resource);
}

static enum outcome create_for_node(struct registry *registry, const struct allocation_request *request, struct change *making,
	struct resource *allocation)
{
	struct resource node;
	enum outcome outcome = change_by_service(registry, &node_rules, request->node, record_node, making, &node);

	if (outcome != OUTCOME_OK)
		return outcome;
	if (request->tenant.p != NULL && !str_eq(request->tenant, node.tenant))
		return registry_fail(registry, OUTCOME_CONFLICT,
			"Failed to process allocation %.*s: node %.*s belongs to another owner than the allocation",
			UUID_ARG(registry->pool, request->uid), UUID_ARG(registry->pool, node.uid));
	making->state = "active";
	making->node = uuid_str(registry->pool, node.uid);
	return store(registry, making, node.tenant, allocation);
}

enum outcome allocation_create(struct registry *registry, const struct allocation_request *request, struct resource *begun,
	struct resource *ended)
{
	struct change making = { .registry = registry, .allocation = request->uid, .request = request };
	struct str id = uuid_str(registry->pool, request->uid), error = STR_NONE;
	struct resource node;
	enum outcome outcome;

	assert(db_txn_writes(registry->db));
	if (request->node != NULL) {
		outcome = create_for_node(registry, request, &making, begun);
		*ended = *begun;
		return outcome;
	}
	outcome = pick_node(registry, request, &node, &error);
	if (outcome != OUTCOME_OK)
		return outcome;
	bool found = error.p == NULL;
	struct str tenant = found ? node.tenant : request->tenant.p != NULL ? request->tenant : STR(TENANT_SYSTEM);
	making.state = "allocating";
	outcome = store(registry, &making, tenant, begun);
	if (outcome == OUTCOME_OVER_QUOTA && found && request->tenant.p == NULL) {
		db_txn_again(registry->db); // others have filled the node's tenant meanwhile, which the next run sees
		return OUTCOME_UNAVAILABLE;
	}
	if (outcome != OUTCOME_CREATED)
		return outcome;
	making.state = found ? "active" : "error";
	if (found)
		making.node = uuid_str(registry->pool, node.uid);
	else
		making.error = str_printf(registry->pool, "Failed to process allocation %.*s: %.*s.", STR_ARG(id), STR_ARG(error));
	outcome = change_by_service(registry, &allocation_rules, &request->uid, end_making, &making, ended);
	return outcome == OUTCOME_OK ? OUTCOME_CREATED : outcome;
}

// ---- freeing the node

// A node that has another allocation by now, or none, is left alone.
static enum outcome free_node(void *arg, const struct resource *current, struct content *content)
{
	const struct change *freeing = arg;
	struct registry *registry = freeing->registry;
	struct str uuid = uuid_str(registry->pool, freeing->allocation);
	struct doc *body = begin_content(registry->pool, current, content);

	if (!str_eq(baremetal_text(body, "allocation_uuid"), uuid))
		return OUTCOME_OK;
	enum outcome outcome = provision_check_reserved(registry, &current->uid, body);
	if (outcome != OUTCOME_OK)
		return outcome;
	bool guarded = !baremetal_true(body, "maintenance");
	if (guarded)
		outcome = provision_check_settled(registry, &current->uid, body, false);
	if (outcome != OUTCOME_OK)
		return outcome;
	if (guarded && str_eq(baremetal_text(body, "provision_state"), STR("active")))
		return registry_fail(registry, OUTCOME_CONFLICT,
			"Cannot remove allocation %.*s for node %.*s, because the node is active (and maintenance mode is off)",
			STR_ARG(uuid), UUID_ARG(registry->pool, current->uid));
	clear_allocation(registry->pool, body);
	return OUTCOME_OK;
}

static enum outcome may_delete(struct registry *registry, const struct resource *resource, const struct doc *body)
{
	struct change freeing = { .registry = registry, .allocation = resource->uid };
	struct resource node;
	struct uuid uid;

	if (!uuid_parse(baremetal_text(body, "node_uuid"), &uid))
		return OUTCOME_OK;
	enum outcome outcome = change_by_service(registry, &node_rules, &uid, free_node, &freeing, &node);
	return outcome == OUTCOME_NOT_FOUND ? OUTCOME_OK : outcome;
}

// The node may have another instance by now.
static enum outcome may_recover(struct registry *registry, const struct resource *resource, struct str tenant,
	const struct doc *body)
{
	UNUSED(tenant);
	if (baremetal_text(body, "node_uuid").p == NULL)
		return OUTCOME_OK;
	return registry_fail(registry, OUTCOME_CONFLICT, "allocation %.*s has freed its node: make a new allocation instead",
		UUID_ARG(registry->pool, resource->uid));
}

enum outcome allocation_drop(struct registry *registry, const struct uuid *uid)
{
	const struct ident ident = { .type = type_with_rules(registry, &allocation_rules), .uid = *uid };
	struct resource allocation;
	enum outcome outcome = OUTCOME_INTERNAL;

	assert(db_txn_writes(registry->db));
	if (ident.type != NULL)
		outcome = resource_remove(registry, &ident, no_guard, &allocation);
	return outcome == OUTCOME_NO_CONTENT || outcome == OUTCOME_NOT_FOUND ? OUTCOME_OK : outcome;
}

const struct type_rules allocation_rules = {
	.group = BAREMETAL_GROUP,
	.plural = "allocations",
	.noun = "allocation",
	.title = "Allocation",
	.top = &node_rules,
	.shows_owner = true,
	.complete = complete,
	.relate = relate,
	.may_delete = may_delete,
	.may_recover = may_recover,
	.taken = taken,
};

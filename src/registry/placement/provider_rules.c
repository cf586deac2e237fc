// SPDX-License-Identifier: Apache-2.0
// The rules of providers: unique names among all providers; trees, of which each belongs to one tenant.
#include "base/base.h"

#include "base/pool.h"
#include "db/list.h"
#include "registry/core/failure.h"
#include "registry/placement/provider_internal.h"
#include "registry/placement/rules.h"
#include "registry/type/tree.h"
#include "repr/json/doc.h"
#include "sql/lookup_keys.h"
#include "sql/providers.h"

enum { MAX_NAME = 200 };

#define NAME "name"
#define PARENT "parent_provider_uuid"

// ---- the body

static enum outcome check_name(struct draft *draft)
{
	const struct doc *name;
	bool good = doc_get(draft->body, STR(NAME), &name) && doc_kind(name) == DOC_STRING;

	if (good && doc_string(name).n > 0 && str_utf8_length(doc_string(name)) <= MAX_NAME)
		return OUTCOME_OK;
	return registry_fail(draft->registry, OUTCOME_BAD_DOCUMENT, NAME " has to be a string of 1 to %d characters", MAX_NAME);
}

static enum outcome check_parent(struct draft *draft)
{
	struct pool *pool = draft->registry->pool;
	const struct doc *parent = NULL;
	struct uuid uid;

	(void)doc_get(draft->body, STR(PARENT), &parent);
	if (parent == NULL) {
		doc_set(draft->body, STR(PARENT), NULL);
		return OUTCOME_OK;
	}
	if (doc_kind(parent) != DOC_STRING || !uuid_parse(doc_string(parent), &uid))
		return registry_fail(draft->registry, OUTCOME_BAD_DOCUMENT,
			PARENT " has to be the uuid of another provider, or null");
	doc_set_str(pool, draft->body, PARENT, uuid_str(pool, uid));
	return OUTCOME_OK;
}

static enum outcome check_members(struct draft *draft)
{
	for (struct doc_iter it = doc_iter(draft->body); doc_next(&it);) {
		if (!str_eq(it.name, STR(NAME)) && !str_eq(it.name, STR(PARENT)))
			return registry_fail(draft->registry, OUTCOME_BAD_DOCUMENT,
				"a provider has no member \"%.*s\": it has " NAME " and " PARENT, STR_HEAD_ARG(it.name, 64));
	}
	enum outcome outcome = check_name(draft);
	return outcome == OUTCOME_OK ? check_parent(draft) : outcome;
}

static bool parent_of(const struct doc *body, struct uuid *parent)
{
	const struct doc *value;

	return body != NULL && doc_get(body, STR(PARENT), &value) && doc_kind(value) == DOC_STRING &&
	       uuid_parse(doc_string(value), parent);
}

// ---- the tree

// Is a node the provider that is written, or below it? ON_WAY: its parents are being followed.
enum place { UNKNOWN, ON_WAY, BELOW, ELSEWHERE };

struct tree_node {
	uint64_t id;
	struct uuid uid;
	bool has_parent;
	struct uuid parent;
	struct tree_node *above; // the node of the parent; NULL: none in this tree
	enum place place;
};
struct tree {
	struct tree_node *nodes; // ordered by uid
	size_t n;
};

static int by_uid(const void *a, const void *b)
{
	const struct tree_node *x = a, *y = b;

	return memcmp(x->uid.b, y->uid.b, sizeof(x->uid.b));
}

static struct tree_node *find_node(const struct tree *tree, const struct uuid *uid)
{
	const struct tree_node key = { .uid = *uid };

	return tree->n > 0 ? bsearch(&key, tree->nodes, tree->n, sizeof(key), by_uid) : NULL;
}

static enum outcome load_tree(struct registry *registry, const struct uuid *root, struct tree *tree)
{
	const struct sql_provider_tree in = { .root = tree_value(registry, provider_type(registry), root) };
	struct db_rows rows;
	enum db_result result = sql_provider_tree_run(registry->db, registry->pool, &in, &rows);

	if (result != DB_OK)
		return registry_db_failed(result);
	*tree = (struct tree){ .nodes = POOL_ARRAY(registry->pool, struct tree_node, rows.n), .n = rows.n };
	for (size_t i = 0; i < rows.n; i++) {
		struct tree_node *node = &tree->nodes[i];
		const struct sql_provider_tree_row *row = sql_provider_tree_row(&rows, i);
		struct str parent = row->parent;

		node->id = row->id;
		uuid_from_bytes(row->uid, &node->uid);
		node->has_parent = parent.p != NULL && uuid_parse(str_part(parent, 0, str_find(parent, ' ', 0)), &node->parent);
	}
	if (tree->n > 0)
		qsort(tree->nodes, tree->n, sizeof(*tree->nodes), by_uid);
	for (size_t i = 0; i < tree->n; i++)
		tree->nodes[i].above = tree->nodes[i].has_parent ? find_node(tree, &tree->nodes[i].parent) : NULL;
	return OUTCOME_OK;
}

// Follows the parents of a node to the first whose place is known, and notes that place for all on the way. So every node is
// passed twice at most, however deep the tree is.
static void place_node(struct tree_node *node)
{
	struct tree_node *at = node;

	while (at != NULL && at->place == UNKNOWN) {
		at->place = ON_WAY;
		at = at->above;
	}
	enum place place = at != NULL && at->place == BELOW ? BELOW : ELSEWHERE;
	for (at = node; at != NULL && at->place == ON_WAY; at = at->above)
		at->place = place;
}

// Places all nodes: the provider and what is below it, and the others.
static void mark_below(struct tree *tree, const struct uuid *uid)
{
	struct tree_node *top = find_node(tree, uid);

	if (top != NULL)
		top->place = BELOW;
	for (size_t i = 0; i < tree->n; i++)
		place_node(&tree->nodes[i]);
}

// Sets the root of the providers with these ids, which it sorts.
static enum outcome set_roots(struct registry *registry, uint64_t *ids, size_t n, const struct uuid *root)
{
	const struct sql_provider_set_roots in = {
		.ids = db_list_of_id_set(registry->pool, ids, n),
		.root = tree_value(registry, provider_type(registry), root),
	};
	enum db_result result = sql_provider_set_roots_run(registry->db, registry->pool, &in, NULL);

	return result == DB_OK ? OUTCOME_OK : registry_db_failed(result);
}

static enum outcome set_roots_below(struct registry *registry, const struct tree *tree, const struct uuid *root)
{
	uint64_t *ids = POOL_ARRAY(registry->pool, uint64_t, tree->n);
	size_t n = 0;

	for (size_t i = 0; i < tree->n; i++) {
		if (tree->nodes[i].place == BELOW)
			ids[n++] = tree->nodes[i].id;
	}
	return set_roots(registry, ids, n, root);
}

// Locks the parent's row and reads the root of its tree. The parent must be in the given tenant.
static enum outcome lock_parent(struct registry *registry, const struct uuid *parent, struct str tenant, struct uuid *root)
{
	const struct sql_provider_parent in = { .uid = uuid_bytes(parent), .type_id = provider_type(registry)->id };
	struct db_rows rows;
	enum db_result result = sql_provider_parent_run(registry->db, registry->pool, &in, &rows);

	if (result != DB_OK)
		return registry_db_failed(result);
	const struct sql_provider_parent_row *row = rows.n > 0 ? sql_provider_parent_row(&rows, 0) : NULL;
	bool here = row != NULL && str_eq(row->tenant, tenant);
	if (row != NULL && !here && registry->privileged)
		return registry_fail(registry, OUTCOME_BAD_DOCUMENT,
			"parent provider UUID is another tenant's: all of a tree belongs to one, move the one or the other first.");
	if (!here || !tree_root(row->root, root))
		return registry_fail(registry, OUTCOME_BAD_DOCUMENT, "parent provider UUID does not exist.");
	return OUTCOME_OK;
}

// An existing provider gets another parent, or none: all below it get the new root, too.
static enum outcome replant(struct draft *draft, const struct uuid *parent)
{
	struct registry *registry = draft->registry;
	struct tree tree = { .n = 0 };
	enum outcome outcome = load_tree(registry, &draft->current->root, &tree);

	if (outcome != OUTCOME_OK)
		return outcome;
	mark_below(&tree, &draft->uid);
	draft->root = draft->uid;
	const struct tree_node *there = parent != NULL ? find_node(&tree, parent) : NULL;
	if (there != NULL && there->place == BELOW)
		return registry_fail(registry, OUTCOME_BAD_DOCUMENT, "creating loop in the provider tree is not allowed.");
	if (parent != NULL)
		outcome = lock_parent(registry, parent, draft->address->tenant, &draft->root);
	return outcome == OUTCOME_OK ? set_roots_below(registry, &tree, &draft->root) : outcome;
}

static enum outcome plant(struct draft *draft, const struct uuid *parent)
{
	draft->root = draft->uid;
	if (parent == NULL)
		return OUTCOME_OK;
	if (uuid_eq(*parent, draft->uid))
		return registry_fail(draft->registry, OUTCOME_BAD_DOCUMENT,
			"parent provider UUID cannot be same as UUID. Please set parent provider UUID to None if there is no parent.");
	return lock_parent(draft->registry, parent, draft->address->tenant, &draft->root);
}

static enum outcome complete_provider(struct draft *draft)
{
	struct uuid parent, before;
	enum outcome outcome = check_members(draft);

	if (outcome != OUTCOME_OK)
		return outcome;
	bool has = parent_of(draft->body, &parent), had = parent_of(draft->before, &before);
	if (draft->current == NULL)
		return plant(draft, has ? &parent : NULL);
	draft->root = draft->current->root;
	if (has == had && (!has || uuid_eq(parent, before)))
		return OUTCOME_OK;
	return replant(draft, has ? &parent : NULL);
}

static void relate_provider(struct pool *pool, const struct doc *body, const struct uuid *uid, struct relations *relations)
{
	const struct doc *name;
	struct uuid parent;

	*relations = (struct relations){ .has_root = true, .root = *uid };
	if (doc_get(body, STR(NAME), &name) && doc_kind(name) == DOC_STRING)
		relations->keys[relations->n_keys++] = (struct lookup_key){ "name", doc_string(name) };
	relations->root_elsewhere = parent_of(body, &parent);
	if (!relations->root_elsewhere)
		return;
	struct str above = uuid_str(pool, parent), own = uuid_str(pool, *uid);
	relations->keys[relations->n_keys++] =
		(struct lookup_key){ "parent", str_printf(pool, "%.*s %.*s", STR_ARG(above), STR_ARG(own)) };
}

// ---- going and coming back

static enum outcome may_delete_provider(struct registry *registry, const struct resource *resource, const struct doc *body)
{
	struct pool *pool = registry->pool;
	struct str uid = uuid_str(pool, resource->uid);
	const struct sql_lookup_key_pointing child = {
		.type_id = resource->type->id,
		.kind = STR("parent"),
		.from = str_printf(pool, "%.*s ", STR_ARG(uid)),
		.to = str_printf(pool, "%.*s!", STR_ARG(uid)),
	};
	struct db_call calls[] = {
		sql_lookup_key_pointing_call(pool, &child),
		sql_provider_allocation_call(pool, &(struct sql_provider_allocation){ .resource_id = resource->id }),
	};
	enum db_result result = db_run_batch(registry->db, pool, calls, COUNT_OF(calls));

	UNUSED(body);
	if (result != DB_OK)
		return registry_db_failed(result);
	if (calls[0].rows.n > 0)
		return provider_fail_coded(registry, OUTCOME_CONFLICT, "resource_provider.cannot_delete_parent",
			"Unable to delete parent resource provider %.*s: It has child resource providers.", STR_ARG(uid));
	if (calls[1].rows.n > 0)
		return provider_fail_coded(registry, OUTCOME_CONFLICT, "resource_provider.inuse",
			"Unable to delete resource provider %.*s: Resource provider has allocations.", STR_ARG(uid));
	return OUTCOME_OK;
}

// Its parent must be live. The parent may be in another tree by now, so the root is set again.
static enum outcome may_recover_provider(struct registry *registry, const struct resource *resource, struct str tenant,
	const struct doc *body)
{
	struct uuid parent, root = resource->uid;
	bool has_parent = parent_of(body, &parent);

	if (has_parent) {
		enum outcome outcome = lock_parent(registry, &parent, tenant, &root);
		if (outcome == OUTCOME_BAD_DOCUMENT)
			return registry_fail(registry, OUTCOME_CONFLICT,
				"its parent, provider %.*s, does not live in this tenant: recover that, or bring it back, first",
				UUID_ARG(registry->pool, parent));
		if (outcome != OUTCOME_OK)
			return outcome;
	}
	uint64_t id = resource->id;

	return set_roots(registry, &id, 1, &root);
}

static enum outcome provider_taken(struct registry *registry, const struct uuid *uid, const struct lookup_key *key)
{
	struct str what = key != NULL ? key->value : uuid_str(registry->pool, *uid);

	return provider_fail_coded(registry, OUTCOME_NAME_TAKEN, "duplicate_name",
		"Conflicting resource provider %s: %.*s already exists.", key != NULL ? "name" : "uuid", STR_ARG(what));
}

const struct type_rules provider_rules = {
	.group = "placement.openstack.org",
	.plural = "resourceproviders",
	.noun = "resource provider",
	.title = "Resource provider",
	.is_root = true,
	.complete = complete_provider,
	.relate = relate_provider,
	.may_delete = may_delete_provider,
	.may_recover = may_recover_provider,
	.traits_changed = provider_raise_call,
	.taken = provider_taken,
};

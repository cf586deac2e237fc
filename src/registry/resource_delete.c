// SPDX-License-Identifier: Apache-2.0
// Deleting, and bringing back exactly what was deleted: a resource alone, a namespace with all that is in it, or the top
// of a tree with all that hangs on it.
#include "base/base.h"

#include "base/pool.h"
#include "registry/catalogue.h"
#include "registry/change.h"
#include "registry/etag.h"
#include "registry/internal.h"

#define THIS_TENANT "(SELECT id FROM tenants WHERE name = ? AND live = 1)"
// What one deletion took: the resource itself and, when it is a namespace, what was in it, or else what hung on it. A
// namespace of "/" is none, and so is a root of NULL.
#define OF_DELETION "r.deletion = ? AND (r.id = ? OR r.namespace = ? OR r.root = ?)"
#define OF_DELETION_IN "busb"
#define CHANGE_COLUMNS                                                                                       \
	"(request_id, at, actor, verb, tenant_id, resource_id, uid, type_id, namespace, name, revision, " \
	"etag_before, etag_after, moves)"

// What goes with a resource. The two values of the condition come last.
struct content_queries {
	struct db_query count, log, mark;
};
#define CONTENT_QUERIES(tables, condition, manner, in)                                                               \
	{ { "SELECT COUNT(*), COALESCE(SUM(r.locked), 0), MAX(" LAST_TIME ") FROM " tables " WHERE " condition manner, in, "uut" }, \
		{ "INSERT INTO changes " CHANGE_COLUMNS " SELECT ?, ?, ?, 'deleted', r.tenant_id, r.id, r.uid, "     \
		  "r.type_id, r.namespace, r.name, r.revision, r.etag, NULL, r.moves FROM " tables " WHERE " condition manner, \
			"bts" in, "" },                                                                              \
		{ "UPDATE " tables " SET r.live = NULL, r.deleted_at = ?, r.purge_at = ?, r.deletion = ?, " \
		  "r.changed = " LAST_CHANGE " WHERE " condition,                                                      \
			"ttb" in, "" } }
// Counted and logged by locking reads, which see what was committed up to now, and not up to when the statement began.
static const struct content_queries of_space = CONTENT_QUERIES("types y JOIN resources r ON r.type_id = y.id",
	"y.namespaced AND r.tenant_id = ? AND r.namespace = ? AND r.live = 1 AND r.doomed_at IS NULL", " LOCK IN SHARE MODE", "us");
// Writers in a tree need not hold its top.
static const struct content_queries of_tree =
	CONTENT_QUERIES("resources r", "r.root = ? AND r.id <> ? AND r.live = 1", " FOR UPDATE", "bu");

static const struct db_query q_delete = {
	"UPDATE resources SET live = NULL, deleted_at = ?, purge_at = ?, deletion = ?, changed = LAST_INSERT_ID() WHERE id = ?", "ttbu", ""
};
static const struct db_query q_doom = {
	"UPDATE resources SET doomed_at = ?, revision = ?, edits = ?, etag = ?, updated_at = ?, changed = LAST_INSERT_ID() "
	"WHERE id = ?",
	"tuubtu", ""
};
static const struct db_query q_free_aliases = {
	"UPDATE resources r JOIN resource_aliases a ON a.resource_id = r.id SET a.live = NULL WHERE " OF_DELETION,
	OF_DELETION_IN, ""
};
static const struct db_query q_deleted_last = {
	"SELECT " RESOURCE_COLUMNS ", r.deletion, " LAST_TIME " FROM resources r WHERE r.tenant_id = " THIS_TENANT
	" AND r.type_id = ? AND r.namespace = ? AND r.name = ? AND r.live IS NULL AND r.purge_at > ? "
	LAST_DELETED_FIRST " LIMIT 1 FOR UPDATE",
	"susst", RESOURCE_OUT "bt"
};
static const struct db_query q_deleted_uid = {
	"SELECT " RESOURCE_COLUMNS ", r.deletion, " LAST_TIME " FROM resources r WHERE r.tenant_id = " THIS_TENANT
	" AND r.type_id = ? AND r.namespace = ? AND r.name = ? AND r.live IS NULL AND r.purge_at > ? "
	"AND r.uid = ? " LAST_DELETED_FIRST " LIMIT 1 FOR UPDATE",
	"susstb", RESOURCE_OUT "bt"
};
static const struct db_query q_root = {
	"SELECT type_id, namespace, name, tenant_id, live FROM resources WHERE uid = ? AND type_id = ? ORDER BY live DESC LIMIT 1 "
	"LOCK IN SHARE MODE",
	"bu", "ussuu"
};
static const struct db_query q_count_deletion = {
	"SELECT COUNT(*) FROM resources r WHERE " OF_DELETION, OF_DELETION_IN, "u"
};
static const struct db_query q_claim_aliases = {
	"UPDATE resources r JOIN resource_aliases a ON a.resource_id = r.id SET a.live = 1 WHERE " OF_DELETION,
	OF_DELETION_IN, ""
};
// What of a deletion has a successor: of an alias, of a uid.
static const struct db_query q_taken_alias = {
	"SELECT r.type_id, r.uid, a.kind, a.value FROM resources r JOIN resource_aliases a ON a.resource_id = r.id "
	"JOIN resource_aliases o ON o.type_id = a.type_id AND o.kind = a.kind AND o.value = a.value AND o.live = 1 "
	"WHERE " OF_DELETION " LIMIT 1",
	OF_DELETION_IN, "ubss"
};
// What points (rules.h) at something that neither lives nor comes back with it. Held shared, so that nobody deletes it now.
static const struct db_query q_points_nowhere = {
	"SELECT r.type_id, r.namespace, r.name, a.kind, LEFT(a.value, 36) FROM resources r "
	"JOIN resource_aliases a ON a.resource_id = r.id AND a.value = CONCAT(LEFT(a.value, 36), ' ', r.name) "
	"LEFT JOIN resources o ON o.uid = UNHEX(REPLACE(LEFT(a.value, 36), '-', '')) "
	"AND (o.live IN (1, 2) OR o.deletion = r.deletion) WHERE " OF_DELETION " AND o.id IS NULL LIMIT 1 LOCK IN SHARE MODE",
	OF_DELETION_IN, "ussss"
};
static const struct db_query q_taken_uid = {
	"SELECT r.type_id, r.uid FROM resources r JOIN resources o ON o.uid = r.uid AND o.type_id = r.type_id AND o.live = 1 "
	"WHERE " OF_DELETION " LIMIT 1",
	OF_DELETION_IN, "ub"
};
static const struct db_query q_log_recovered = {
	"INSERT INTO changes " CHANGE_COLUMNS " SELECT ?, ?, ?, 'recovered', r.tenant_id, r.id, r.uid, r.type_id, "
	"r.namespace, r.name, r.revision, NULL, r.etag, r.moves FROM resources r WHERE " OF_DELETION,
	"bts" OF_DELETION_IN, ""
};
static const struct db_query q_retire_forwards = {
	"DELETE f FROM resources r JOIN forwards f ON f.tenant_id = r.tenant_id AND f.type_id = r.type_id AND "
	"f.namespace = r.namespace AND f.name = r.name WHERE " OF_DELETION,
	OF_DELETION_IN, ""
};
// What it has of a catalogue, and was hidden while it was away. k, of its row x of a table.
#define SHOWS(table, of, id)                                                                                       \
	{ "UPDATE resources r STRAIGHT_JOIN " of " x ON x.resource_id = r.id STRAIGHT_JOIN " table " k ON k.id = x." id \
	  " AND k.live IS NULL SET k.live = 1 WHERE " OF_DELETION,                                                  \
		OF_DELETION_IN, "" }
static const struct db_query q_show_traits = SHOWS("traits", "resource_traits", "trait_id");
static const struct db_query q_show_classes = SHOWS("resource_classes", "inventories", "class_id");
// In two steps, and what is logged between: who takes the names waits for a deletion of what has them now, whose rows in
// the change log come first then.
static const struct db_query q_take_names = {
	"UPDATE resources r SET r.live = 1, r.deleted_at = NULL, r.purge_at = NULL, r.doomed_at = NULL WHERE " OF_DELETION,
	OF_DELETION_IN, ""
};
static const struct db_query q_recovered = {
	"UPDATE resources r SET r.deletion = NULL, r.changed = " LAST_CHANGE " WHERE " OF_DELETION, OF_DELETION_IN, ""
};

static enum outcome fail_locked(struct registry *registry, const struct resource *resource, const char *what)
{
	return registry_fail(registry, OUTCOME_LOCKED, "%s is locked: set metadata.locked to false before you delete %.*s",
		what, STR_ARG(resource->name));
}

// Asks the type whether it may go.
static enum outcome check_rules(struct registry *registry, const struct resource *resource)
{
	const struct type_rules *rules = resource->type->rules;

	if (rules == NULL || rules->may_delete == NULL)
		return OUTCOME_OK;
	return rules->may_delete(registry, resource, stored_document(registry->pool, resource->body));
}

static enum outcome delete_content(struct registry *registry, struct resource *resource,
	const struct content_queries *queries, const struct db_value what[2], uint64_t *n)
{
	struct db_rows rows;
	enum db_result result = db_run(registry->db, registry->pool, &queries->count, what, &rows);

	if (result != DB_OK)
		return registry_db_failed(result);
	*n = db_at(&rows, 0, 0)->u;
	if (db_at(&rows, 0, 1)->u > 0)
		return fail_locked(registry, resource,
			queries == &of_space ? "a resource in the namespace" : "a resource that belongs to it");
	if (*n == 0)
		return OUTCOME_OK;
	// What goes together has one time, which is not before the last change of any of it.
	registry_stamp_after(registry, db_at(&rows, 0, 2)->i);
	resource->deleted_us = registry->stamp_us;
	resource->purge_us = registry->stamp_us + retention_us(registry);
	struct db_call calls[] = {
		{ .query = &queries->log,
			.in = DB_IN(db_uuid(&registry->request_id), db_t(registry->stamp_us), db_s(registry->actor), what[0],
				what[1]) },
		{ .query = &queries->mark,
			.in = DB_IN(db_t(resource->deleted_us), db_t(resource->purge_us), db_uuid(&registry->request_id),
				what[0], what[1]) },
	};
	result = db_run_batch(registry->db, registry->pool, calls, COUNT_OF(calls));
	return result == DB_OK ? OUTCOME_OK : registry_db_failed(result);
}

// n: how many went along.
static enum outcome delete_along(struct registry *registry, struct resource *resource, uint64_t *n)
{
	*n = 0;
	if (resource->type == type_namespaces(registry))
		return delete_content(registry, resource, &of_space,
			DB_IN(db_u(resource->tenant_id), db_s(resource->name)), n);
	if (resource_is_top(resource))
		return delete_content(registry, resource, &of_tree, DB_IN(db_b(tree_value(registry, resource->type, &resource->uid)), db_u(resource->id)), n);
	return OUTCOME_OK;
}

// The values of OF_DELETION.
static struct db_value *deletion_of(struct registry *registry, const struct resource *resource, struct db_value deletion)
{
	bool space = resource->type == type_namespaces(registry);

	return CALL_VALUES(registry->pool, deletion, db_u(resource->id), db_s(space ? resource->name : STR("/")),
		resource_is_top(resource) ? db_b(tree_value(registry, resource->type, &resource->uid)) : db_null('b'));
}

static enum outcome mark_deleted(struct registry *registry, struct resource *resource, uint64_t with_it)
{
	struct db_value deletion = db_uuid(&registry->request_id);
	struct db_call calls[] = {
		change_of_resource(registry, "deleted", resource, resource->stored_etag, NULL),
		{ .query = &q_delete,
			.in = DB_IN(db_t(resource->deleted_us), db_t(resource->purge_us), deletion, db_u(resource->id)) },
		count_down_call(registry, resource->tenant_id, 1 + with_it),
		{ .query = &q_free_aliases, .in = deletion_of(registry, resource, deletion) },
	};
	bool aliases = with_it > 0 || resource->type->rules != NULL;
	enum db_result result =
		db_run_batch(registry->db, registry->pool, calls, aliases ? COUNT_OF(calls) : COUNT_OF(calls) - 1);

	if (result != DB_OK)
		return registry_db_failed(result);
	resource->changed = calls[0].rows.insert_id;
	if (resource->type != type_definitions(registry))
		return OUTCOME_NO_CONTENT;
	enum outcome outcome = definitions_changed(registry, resource->tenant_id);
	return outcome == OUTCOME_OK ? OUTCOME_NO_CONTENT : outcome;
}

static bool mentions_finalizers(struct str text)
{
	return memmem(text.p, text.n, "\"finalizers\"", 12) != NULL;
}

// In spec, a namespace has finalizers as well. "kubernetes" is that of who empties it: the registry itself.
static bool has_space_finalizers(struct pool *pool, const struct resource *resource)
{
	const struct doc *spec, *list;

	if (!mentions_finalizers(resource->body))
		return false;
	if (!doc_get(stored_document(pool, resource->body), STR("spec"), &spec) || doc_kind(spec) != DOC_OBJECT ||
		!doc_get(spec, STR("finalizers"), &list) || doc_kind(list) != DOC_ARRAY)
		return false;
	for (size_t i = 0; i < doc_length(list); i++)
		if (doc_kind(doc_at(list, i)) == DOC_STRING && !str_eq(doc_string(doc_at(list, i)), STR("kubernetes")))
			return true;
	return false;
}

bool has_finalizers(struct registry *registry, const struct resource *resource)
{
	const struct type_rules *rules = resource->type->rules;
	const struct doc *list;

	if (resource->type == type_namespaces(registry) && has_space_finalizers(registry->pool, resource))
		return true;
	if ((rules != NULL && !rules->has_names) || !mentions_finalizers(resource->meta))
		return false;
	return doc_get(stored_document(registry->pool, resource->meta), STR("finalizers"), &list) &&
	       doc_kind(list) == DOC_ARRAY && doc_length(list) > 0;
}

// Deletes nothing yet.
enum outcome mark_for_deletion(struct registry *registry, struct resource *resource)
{
	const struct resource before = *resource;

	if (resource->doomed_us != 0)
		return OUTCOME_ACCEPTED;
	resource->doomed_us = resource->updated_us = registry->stamp_us;
	resource->revision++;
	resource->edits++;
	etag_of_resource(registry, resource);
	struct db_call calls[] = {
		update_in_field(registry, &before, resource, "/metadata/deletionTimestamp"),
		{ .query = &q_doom,
			.in = DB_IN(db_t(resource->doomed_us), db_u(resource->revision), db_u(resource->edits),
				db_b(str_n((const char *)resource->stored_etag, sizeof(resource->stored_etag))), db_t(resource->updated_us),
				db_u(resource->id)) },
	};
	enum db_result result = db_run_batch(registry->db, registry->pool, calls, COUNT_OF(calls));
	if (result != DB_OK)
		return registry_db_failed(result);
	resource->changed = calls[0].rows.insert_id;
	return OUTCOME_ACCEPTED;
}

// The content of a namespace that stays for now went without it: it comes back by itself.
static enum outcome account_for_content(struct registry *registry, const struct resource *space, uint64_t n)
{
	struct db_call calls[] = {
		count_down_call(registry, space->tenant_id, n),
		{ .query = &q_free_aliases, .in = deletion_of(registry, space, db_uuid(&registry->request_id)) },
	};
	enum db_result result;

	if (n == 0)
		return OUTCOME_OK;
	result = db_run_batch(registry->db, registry->pool, calls, COUNT_OF(calls));
	return result == DB_OK ? OUTCOME_OK : registry_db_failed(result);
}

enum outcome carry_out_deletion(struct registry *registry, struct resource *resource)
{
	bool is_space = resource->type == type_namespaces(registry);
	bool waits = false;
	uint64_t with_it;
	enum outcome outcome = is_space ? space_mark_waiting(registry, resource, &waits) : OUTCOME_OK;

	resource->deleted_us = registry->stamp_us;
	resource->purge_us = registry->stamp_us + retention_us(registry);
	if (outcome == OUTCOME_OK)
		outcome = delete_along(registry, resource, &with_it);
	if (outcome == OUTCOME_OK && waits)
		outcome = space_wait(registry, resource);
	if (outcome == OUTCOME_ACCEPTED) {
		resource->deleted_us = resource->purge_us = 0;
		outcome = account_for_content(registry, resource, with_it);
		return outcome == OUTCOME_OK ? OUTCOME_ACCEPTED : outcome;
	}
	if (outcome == OUTCOME_OK)
		outcome = mark_deleted(registry, resource, with_it);
	if (outcome != OUTCOME_NO_CONTENT)
		return outcome;
	outcome = space_settle(registry, resource);
	return outcome == OUTCOME_OK ? OUTCOME_NO_CONTENT : outcome;
}

// Deletes what is locked.
static enum outcome delete_held(struct registry *registry, const struct held_tenant *held, struct guard guard,
	struct resource *resource)
{
	enum outcome outcome = guard_sure(registry, guard, held->etag_required);

	if (outcome == OUTCOME_OK)
		outcome = resource_check(registry, resource, guard);
	if (outcome != OUTCOME_OK)
		return outcome;
	if (resource->live == RESOURCE_KEPT)
		return registry_fail(registry, OUTCOME_CONFLICT,
			"the namespace \"default\" belongs to its tenant and goes only with it");
	if (resource->locked)
		return fail_locked(registry, resource, "the resource");
	outcome = check_rules(registry, resource);
	if (outcome != OUTCOME_OK)
		return outcome;
	return has_finalizers(registry, resource) ? mark_for_deletion(registry, resource) : carry_out_deletion(registry, resource);
}

enum outcome resource_delete(struct registry *registry, const struct address *address, struct guard guard,
	struct resource *resource)
{
	struct held_address held;
	enum outcome outcome = lock_address(registry, address, &held, resource);

	if (outcome == OUTCOME_NO_CONTENT)
		return refuse_missing(registry, address, resource);
	return outcome == OUTCOME_OK ? delete_held(registry, &held.tenant, guard, resource) : outcome;
}

enum outcome resource_remove(struct registry *registry, const struct ident *ident, struct guard guard,
	struct resource *resource)
{
	struct held_tenant held;
	enum outcome outcome = lock_ident(registry, ident, &held, resource);

	return outcome == OUTCOME_OK ? delete_held(registry, &held, guard, resource) : outcome;
}

// ---- bringing back

// A deleted resource, and the parameters that select what went with it.
struct deletion {
	struct resource resource;
	const struct db_value *of; // OF_DELETION
	uint64_t n;
};

static enum outcome find_deleted(struct registry *registry, const struct address *address, const struct uuid *uid,
	struct held_tenant *held, struct deletion *deletion)
{
	struct db_value in[] = { db_s(address->tenant), db_u(address->type->id), db_s(address->space),
		db_s(address->name), db_t(registry->now_us), uid != NULL ? db_uuid(uid) : db_null('b') };
	struct db_call calls[4] = {
		hold_tenant_call(registry, address->tenant),
		hold_space_call(registry, address->tenant, address->space),
	};
	size_t n = address->type->namespaced ? 3 : 2;
	struct db_call *own = &calls[n];
	// What lives there may be about to be deleted: then that is what comes back.
	calls[n - 1] = lock_resource_call(registry, address);
	*own = (struct db_call){ .query = uid != NULL ? &q_deleted_uid : &q_deleted_last, .in = in };
	enum outcome outcome = take_locks(registry, &address->tenant, 1, calls, n + 1);

	if (outcome == OUTCOME_OK)
		outcome = held_tenant(registry, address->tenant, &calls[0], held);
	if (outcome != OUTCOME_OK)
		return outcome;
	if (own->rows.n == 0)
		return registry_fail(registry, OUTCOME_NOT_FOUND,
			"nothing deleted can be recovered there; a list with deleted=true shows what can");
	if (n == 3 && calls[1].rows.n == 0)
		return registry_fail(registry, OUTCOME_CONFLICT, "its namespace \"%.*s\" is gone: recover or make that first",
			STR_ARG(address->space));
	if (n == 3 && space_ends(&calls[1]))
		return fail_space_ends(registry, address->space);
	resource_from_row(registry, &deletion->resource, &own->rows, 0, 0);
	registry_stamp_after(registry, db_at(&own->rows, 0, RESOURCE_N_COLUMNS + 1)->i);
	deletion->of = deletion_of(registry, &deletion->resource, *db_at(&own->rows, 0, RESOURCE_N_COLUMNS));
	return OUTCOME_OK;
}

// What belongs to another resource needs that one, here.
static enum outcome check_root(struct registry *registry, const struct resource *resource, struct str tenant)
{
	struct pool *pool = registry->pool;
	const struct type_rules *rules = resource->type->rules;
	struct str top = uuid_str(pool, resource->root);
	struct db_rows rows;

	if (rules != NULL && rules->may_recover != NULL)
		return rules->may_recover(registry, resource, tenant, stored_document(pool, resource->body));
	if (!resource->has_root || resource_is_top(resource))
		return OUTCOME_OK;
	enum db_result result = db_run(registry->db, pool, &q_root,
		DB_IN(db_uuid(&resource->root), db_u(tree_type(registry, resource->type)->id)), &rows);
	if (result != DB_OK)
		return registry_db_failed(result);
	if (rows.n > 0) {
		const struct db_value *v = db_at(&rows, 0, 0);
		if (!v[4].null && v[3].u == resource->tenant_id)
			return OUTCOME_OK;
		top = resource_path(pool, type_by_id(registry, v[0].u), v[1].s, v[2].s);
	}
	return registry_fail(registry, OUTCOME_CONFLICT,
		"it belongs to %.*s, which does not live in this tenant: recover that, or bring it back, first", STR_ARG(top));
}

static enum outcome fail_taken(struct registry *registry)
{
	return registry_fail(registry, OUTCOME_NAME_TAKEN,
		"another resource has that name by now: delete or move it, then recover");
}

// Something that is to come back has a successor: in the words of its type, which query says.
static enum outcome explain_taken(struct registry *registry, const struct deletion *deletion, const struct db_query *query)
{
	struct db_rows rows;
	struct uuid uid;
	enum db_result result = db_run(registry->db, registry->pool, query, deletion->of, &rows);

	if (result != DB_OK)
		return registry_db_failed(result);
	if (rows.n == 0)
		return fail_taken(registry);
	const struct type *type = type_by_id(registry, db_at(&rows, 0, 0)->u);
	if (type->rules == NULL || !uuid_from_bytes(db_at(&rows, 0, 1)->s, &uid))
		return fail_taken(registry);
	if (query == &q_taken_uid)
		return type->rules->taken(registry, &uid, NULL);
	const struct alias alias = { str_cstr(registry->pool, db_at(&rows, 0, 2)->s), db_at(&rows, 0, 3)->s };
	return type->rules->taken(registry, &uid, &alias);
}

// What went was free to leave what it pointed at behind.
static enum outcome check_targets(struct registry *registry, const struct db_rows *rows)
{
	if (rows->n == 0)
		return OUTCOME_OK;
	const struct db_value *v = db_at(rows, 0, 0);
	struct str path = resource_path(registry->pool, type_by_id(registry, v[0].u), v[1].s, v[2].s);
	return registry_fail(registry, OUTCOME_CONFLICT, "the %.*s of %.*s, %.*s, is gone: recover that first", STR_ARG(v[3].s),
		STR_ARG(path), STR_ARG(v[4].s));
}

// Counts what is to come back, and takes its aliases and names.
static enum outcome claim(struct registry *registry, struct deletion *deletion)
{
	struct db_call calls[] = {
		{ .query = &q_count_deletion, .in = deletion->of },
		{ .query = &q_claim_aliases, .in = deletion->of },
		{ .query = &q_points_nowhere, .in = deletion->of },
		{ .query = &q_take_names, .in = deletion->of },
	};
	enum db_result result = db_run_batch(registry->db, registry->pool, calls, COUNT_OF(calls));

	if (result != DB_OK)
		return registry_db_failed(result);
	deletion->n = db_at(&calls[0].rows, 0, 0)->u;
	if (calls[1].result == DB_DUPLICATE)
		return explain_taken(registry, deletion, &q_taken_alias);
	enum outcome outcome = check_targets(registry, &calls[2].rows);
	if (outcome == OUTCOME_OK && calls[3].result == DB_DUPLICATE)
		outcome = explain_taken(registry, deletion, &q_taken_uid);
	return outcome;
}

static enum outcome bring_back(struct registry *registry, const struct held_tenant *held, struct deletion *deletion)
{
	const struct db_value *of = deletion->of;
	struct db_call calls[] = {
		{ .query = &q_log_recovered,
			.in = DB_IN(db_uuid(&registry->request_id), db_t(registry->stamp_us), db_s(registry->actor), of[0],
				of[1], of[2], of[3]) },
		{ .query = &q_retire_forwards, .in = of },
		count_up_call(registry, held, deletion->n),
		catalogue_hold_call(),
		{ .query = &q_show_traits, .in = of },
		{ .query = &q_show_classes, .in = of },
		{ .query = &q_recovered, .in = of },
	};
	enum db_result result = db_run_batch(registry->db, registry->pool, calls, COUNT_OF(calls));

	if (result != DB_OK)
		return registry_db_failed(result);
	if (calls[2].rows.affected != 1)
		return fail_quota(registry, held);
	enum outcome outcome = calls[4].rows.affected > 0 ? catalogue_raise(registry, CATALOGUE_TRAITS) : OUTCOME_OK;
	if (outcome == OUTCOME_OK && deletion->resource.type == type_definitions(registry))
		outcome = definitions_changed(registry, deletion->resource.tenant_id);
	return outcome == OUTCOME_OK ? OUTCOME_NO_CONTENT : outcome;
}

enum outcome resource_recover(struct registry *registry, const struct address *address, const struct uuid *uid,
	struct guard guard)
{
	struct held_tenant held;
	struct deletion deletion = { 0 };
	enum outcome outcome = find_deleted(registry, address, uid, &held, &deletion);

	if (outcome == OUTCOME_OK)
		outcome = resource_check(registry, &deletion.resource, guard);
	if (outcome == OUTCOME_OK)
		outcome = check_root(registry, &deletion.resource, address->tenant);
	if (outcome == OUTCOME_OK)
		outcome = claim(registry, &deletion);
	return outcome == OUTCOME_OK ? bring_back(registry, &held, &deletion) : outcome;
}

// SPDX-License-Identifier: Apache-2.0
// Recovers exactly what one deletion took: a resource alone, a namespace with its content, or the root of a tree with all that
// depended on it, provided that names, uids and lookup keys are still free.
#include "base/base.h"

#include "base/pool.h"
#include "registry/cache/coherence.h"
#include "registry/log/change.h"
#include "registry/log/stale.h"
#include "registry/resource/internal.h"
#include "registry/trait/catalogue.h"
#include "registry/type/internal.h"
#include "registry/type/stored_type.h"
#include "registry/type/tree.h"
#include "sql/deletions.h"

// Change rows that one statement writes at most.
enum { CHUNK = 2000 };

struct deletion {
	struct resource resource; // the one whose deletion was requested
	struct sql_deletion of;   // selects the rows of that deletion
	uint64_t n;               // how many resources the deletion took
};

static enum outcome find_deleted(struct registry *registry, const struct address *address, const struct uuid *uid, struct str request,
	struct locked_tenant *owner, struct deletion *deletion)
{
	const struct sql_deletion_lock in = {
		.tenant = address->tenant,
		.type_id = address->type->id,
		.namespace = address->space,
		.name = address->name,
		.now = registry->now_us,
		.uid = uid != NULL ? uuid_bytes(uid) : STR_NONE,
		.deletion = request,
	};
	const enum sql_deleted which = uid == NULL ? SQL_DELETED_LAST : request.p == NULL ? SQL_DELETED_UID : SQL_DELETED_BY_REQUEST;
	struct db_call calls[4] = {
		tenant_lock_call(registry, address->tenant),
		resource_space_lock_call(registry, address->tenant, address->space),
	};
	size_t n = address->type->namespaced ? 3 : 2;
	struct db_call *own = &calls[n];
	// If a resource lives there, a transaction may be deleting it right now: its lock makes this one wait, and then that
	// one is recovered.
	calls[n - 1] = resource_lock_call(registry, address);
	*own = sql_deletion_lock_call(registry->pool, which, &in);
	enum outcome outcome = registry_take_locks(registry, &address->tenant, 1, calls, n + 1);

	if (outcome == OUTCOME_OK)
		outcome = locked_tenant_of(registry, address->tenant, &calls[0], owner);
	if (outcome != OUTCOME_OK)
		return outcome;
	if (own->rows.n == 0)
		return registry_fail(registry, OUTCOME_NOT_FOUND,
			"nothing deleted can be recovered there; a list with deleted=true shows what can");
	if (owner->ends)
		return tenant_fail_ending(registry, address->tenant);
	if (n == 3 && calls[1].rows.n == 0)
		return registry_fail(registry, OUTCOME_CONFLICT, "its namespace \"%.*s\" is gone: recover or make that first",
			STR_ARG(address->space));
	if (n == 3 && resource_space_is_ending(&calls[1]))
		return resource_fail_space_ends(registry, address->space);
	const struct sql_deletion_lock_row *row = sql_deletion_lock_row(&own->rows, 0);
	deletion->resource = resource_of_columns(registry, &row->r);
	registry_stamp_after(registry, row->last_change_at);
	deletion->of = resource_deletion(registry, &deletion->resource, row->deletion);
	return OUTCOME_OK;
}

enum outcome resource_check_root(struct registry *registry, const struct resource *resource)
{
	assert(db_txn_writes(registry->db));
	struct pool *pool = registry->pool;
	struct str top = uuid_str(pool, resource->root);
	struct db_rows rows;

	if (!resource->has_root || resource_is_top(resource))
		return OUTCOME_OK;
	const struct sql_deletion_lock_top in = {
		.uid = uuid_bytes(&resource->root),
		.type_id = tree_type(registry, resource->type)->id,
	};
	enum db_result result = sql_deletion_lock_top_run(registry->db, pool, &in, &rows);
	if (result != DB_OK)
		return registry_db_failed(result);
	if (rows.n > 0) {
		const struct sql_deletion_lock_top_row *row = sql_deletion_lock_top_row(&rows, 0);
		if (!row->live_is_null && row->tenant_id == resource->tenant_id)
			return OUTCOME_OK;
		top = resource_path(pool, tree_type(registry, resource->type), row->namespace, row->name);
	}
	return registry_fail(registry, OUTCOME_CONFLICT,
		"it belongs to %.*s, which does not live in this tenant: recover that, or bring it back, first", STR_ARG(top));
}

// Says whether the resource can be recovered, as far as that depends on other resources than those that have its names, keys or
// uid by now.
static enum outcome may_recover(struct registry *registry, const struct resource *resource, struct str tenant)
{
	const struct type_rules *rules = resource->type->rules;

	if (rules == NULL || rules->may_recover == NULL)
		return resource_check_root(registry, resource);
	return rules->may_recover(registry, resource, tenant, resource_body_doc(registry->pool, resource));
}

static enum outcome fail_taken(struct registry *registry)
{
	return registry_fail(registry, OUTCOME_NAME_TAKEN,
		"another resource has that name by now: delete or move it, then recover");
}

// Another resource has the uid or a lookup key of one that is to be recovered. The text is that of the type.
static enum outcome fail_successor(struct registry *registry, const struct type *type, struct str uid_bytes,
	const struct lookup_key *key)
{
	struct uuid uid;

	if (type == NULL || type->rules == NULL || !uuid_from_bytes(uid_bytes, &uid))
		return fail_taken(registry);
	return type->rules->taken(registry, &uid, key);
}

static enum outcome fail_taken_key(struct registry *registry, const struct sql_deletion_taken_key_row *row)
{
	const struct lookup_key key = { str_cstr(registry->pool, row->kind), row->value };

	return fail_successor(registry, type_of_resource(registry, 0, row->type_id), row->uid, &key);
}

static enum outcome explain_taken_key(struct registry *registry, const struct deletion *deletion)
{
	const struct sql_deletion_taken_key in = { .of = deletion->of, .limit = 1 };
	struct db_rows rows;
	enum db_result result = sql_deletion_taken_key_run(registry->db, registry->pool, &in, &rows);

	if (result != DB_OK)
		return registry_db_failed(result);
	return rows.n == 0 ? fail_taken(registry) : fail_taken_key(registry, sql_deletion_taken_key_row(&rows, 0));
}

static enum outcome explain_taken_uid(struct registry *registry, const struct deletion *deletion)
{
	const struct sql_deletion_taken_uid in = { .of = deletion->of, .limit = 1 };
	struct db_rows rows;
	enum db_result result = sql_deletion_taken_uid_run(registry->db, registry->pool, &in, &rows);

	if (result != DB_OK)
		return registry_db_failed(result);
	if (rows.n == 0)
		return fail_taken(registry);
	const struct sql_deletion_taken_uid_row *row = sql_deletion_taken_uid_row(&rows, 0);
	return fail_successor(registry, type_of_resource(registry, 0, row->type_id), row->uid, NULL);
}

// Refuses to recover a resource that refers to a deleted one: after the deletion, nothing kept the target.
static enum outcome fail_target(struct registry *registry, const struct sql_deletion_points_nowhere_row *row)
{
	const struct type *type = type_of_resource(registry, 0, row->type_id);
	if (type == NULL)
		return OUTCOME_INTERNAL;
	struct str path = resource_path(registry->pool, type, row->namespace, row->name);
	return registry_fail(registry, OUTCOME_CONFLICT, "the %.*s of %.*s, %.*s, is gone: recover that first",
		STR_ARG(row->kind), STR_ARG(path), STR_ARG(row->target));
}

static enum outcome check_targets(struct registry *registry, const struct db_rows *rows)
{
	return rows->n == 0 ? OUTCOME_OK : fail_target(registry, sql_deletion_points_nowhere_row(rows, 0));
}

// Counts the resources of the deletion, and takes their lookup keys and names. Fails if one is taken.
static enum outcome claim(struct registry *registry, struct deletion *deletion)
{
	struct pool *pool = registry->pool;
	const struct sql_deletion_count count = { .of = deletion->of };
	const struct sql_deletion_claim_lookup_keys keys = { .of = deletion->of };
	const struct sql_deletion_points_nowhere targets = { .of = deletion->of, .limit = 1 };
	const struct sql_deletion_take_names names = { .of = deletion->of };
	struct db_call calls[] = {
		sql_deletion_count_call(pool, &count),
		sql_deletion_claim_lookup_keys_call(pool, &keys),
		sql_deletion_points_nowhere_call(pool, SQL_MOVE_READ_LOCKING, &targets),
		sql_deletion_take_names_call(pool, &names),
	};
	enum db_result result = db_run_batch(registry->db, pool, calls, COUNT_OF(calls));

	if (result != DB_OK)
		return registry_db_failed(result);
	deletion->n = sql_deletion_count_row(&calls[0].rows, 0)->n;
	if (calls[1].result == DB_DUPLICATE)
		return explain_taken_key(registry, deletion);
	enum outcome outcome = check_targets(registry, &calls[2].rows);
	if (outcome == OUTCOME_OK && calls[3].result == DB_DUPLICATE)
		outcome = explain_taken_uid(registry, deletion);
	return outcome;
}

// Writes the change rows. INSERT … SELECT holds the lock of the log's ids until it ends (innodb_autoinc_lock_mode=1), and writers
// of other tenants wait for that lock. So the rows of a large deletion are inserted in chunks.
static enum outcome log_in_chunks(struct registry *registry, const struct deletion *deletion)
{
	const struct sql_deletion_bounds in = { .of = deletion->of, .every = CHUNK };
	struct db_call bounds = sql_deletion_bounds_call(registry->pool, &in);
	enum outcome outcome = registry_run_calls(registry, &bounds, 1);

	for (size_t i = 0; outcome == OUTCOME_OK && i <= bounds.rows.n; i++) {
		const struct sql_deletion_range part = {
			.of = deletion->of,
			.after = i > 0 ? sql_deletion_bounds_row(&bounds.rows, i - 1)->id : 0,
			.upto = i < bounds.rows.n ? sql_deletion_bounds_row(&bounds.rows, i)->id : UINT64_MAX,
		};
		struct db_call call = changes_of_recovery(registry, &part);

		outcome = registry_run_calls(registry, &call, 1);
		registry_tell(registry, i < bounds.rows.n ? (i + 1) * CHUNK : deletion->n);
	}
	return outcome;
}

// Whether the transaction goes on to other work, and so leaves resource_end_recoveries() to its end.
enum ending { ENDS_AT_ONCE, ENDS_LATER };

// ---- the end: traits and classes

// END_LOCK once in a transaction; the others for each deletion, since they select its rows by their mark, which END_UNDONE takes
// away.
enum { END_LOCK, END_TRAITS, END_CLASSES, END_UNDONE, END_CALLS };

static void end_calls(struct registry *registry, const struct sql_deletion *of, struct db_call calls[END_CALLS])
{
	const struct sql_deletion_show_traits traits = { .of = *of };
	const struct sql_deletion_show_classes classes = { .of = *of };
	const struct sql_deletion_undone undone = { .of = *of };

	calls[END_LOCK] = coherence_lock_call();
	calls[END_TRAITS] = sql_deletion_show_traits_call(registry->pool, &traits);
	calls[END_CLASSES] = sql_deletion_show_classes_call(registry->pool, &classes);
	calls[END_UNDONE] = sql_deletion_undone_call(registry->pool, &undone);
}

static enum outcome raise_if_shown(struct registry *registry, bool shown)
{
	return shown ? coherence_raise(registry, COHERENCE_TRAITS) : OUTCOME_OK;
}

enum outcome resource_end_recoveries(struct registry *registry, const struct sql_deletion *of, size_t n)
{
	enum outcome outcome = OUTCOME_OK;
	bool shown = false;

	assert(db_txn_writes(registry->db));
	for (size_t i = 0; outcome == OUTCOME_OK && i < n; i++) {
		struct db_call calls[END_CALLS];
		size_t held = i > 0 ? 1 : 0;

		end_calls(registry, &of[i], calls);
		outcome = registry_run_calls(registry, calls + held, END_CALLS - held);
		shown = shown || (outcome == OUTCOME_OK && calls[END_TRAITS].rows.affected > 0);
	}
	return outcome == OUTCOME_OK ? raise_if_shown(registry, shown) : outcome;
}

// ---- recovering

static enum outcome bring_back(struct registry *registry, const struct locked_tenant *owner, struct deletion *deletion, enum ending ending)
{
	enum { LOG, FORWARDS, COUNT, END };
	const struct sql_deletion_retire_forwards forwards = { .of = deletion->of };
	// The change rows, which take longest, come before the lock of the traits' revision (END_LOCK), because writers of traits
	// wait for that lock until COMMIT.
	struct db_call calls[END + END_CALLS] = {
		[LOG] = changes_of_recovery(registry, &(struct sql_deletion_range){ .of = deletion->of, .upto = UINT64_MAX }),
		[FORWARDS] = sql_deletion_retire_forwards_call(registry->pool, &forwards),
		[COUNT] = tenant_count_up_call(registry, owner, deletion->n),
	};
	size_t logged = deletion->n > CHUNK ? 1 : 0, n = ending == ENDS_AT_ONCE ? COUNT_OF(calls) : END;
	enum db_result large = logged > 0 ? db_txn_large(registry->db) : DB_OK;
	if (large != DB_OK)
		return registry_db_failed(large);
	enum outcome outcome = logged > 0 ? log_in_chunks(registry, deletion) : OUTCOME_OK;

	// The revision of definitions is raised before that of traits is locked, as in every transaction that does both.
	if (outcome == OUTCOME_OK && deletion->resource.type == type_definitions(registry))
		outcome = definitions_changed(registry, deletion->resource.tenant_id);
	end_calls(registry, &deletion->of, &calls[END]);
	if (outcome == OUTCOME_OK)
		outcome = registry_run_calls(registry, calls + logged, n - logged);
	if (outcome != OUTCOME_OK)
		return outcome;
	if (calls[COUNT].rows.affected != 1)
		return resource_fail_quota(registry, owner, deletion->n);
	outcome = raise_if_shown(registry, ending == ENDS_AT_ONCE && calls[END + END_TRAITS].rows.affected > 0);
	return outcome == OUTCOME_OK ? OUTCOME_NO_CONTENT : outcome;
}

// request: NULL pointer: whichever request deleted it. of: gets what selects the rows of the deletion.
static enum outcome recover(struct registry *registry, const struct address *address, const struct uuid *uid, struct str request,
	struct guard guard, enum ending ending, struct sql_deletion *of)
{
	assert(db_txn_writes(registry->db) && address->type != NULL);
	struct locked_tenant owner;
	struct deletion deletion = { 0 };
	enum outcome outcome = find_deleted(registry, address, uid, request, &owner, &deletion);

	if (outcome == OUTCOME_OK)
		outcome = resource_check(registry, &deletion.resource, guard);
	if (outcome == OUTCOME_OK)
		outcome = may_recover(registry, &deletion.resource, address->tenant);
	if (outcome == OUTCOME_OK)
		outcome = claim(registry, &deletion);
	*of = deletion.of;
	return outcome == OUTCOME_OK ? bring_back(registry, &owner, &deletion, ending) : outcome;
}

enum outcome resource_recover(struct registry *registry, const struct address *address, const struct uuid *uid,
	struct guard guard)
{
	struct sql_deletion of;

	return recover(registry, address, uid, STR_NONE, guard, ENDS_AT_ONCE, &of);
}

enum outcome resource_recover_deletion(struct registry *registry, const struct address *address, const struct uuid *uid, struct str request,
	struct guard guard)
{
	struct sql_deletion of;

	assert(uid != NULL);
	return recover(registry, address, uid, request, guard, ENDS_AT_ONCE, &of);
}

enum outcome resource_begin_recovery(struct registry *registry, const struct address *address, const struct uuid *uid, struct guard guard,
	struct sql_deletion *of)
{
	assert(uid != NULL);
	return recover(registry, address, uid, STR_NONE, guard, ENDS_LATER, of);
}

enum outcome resource_begin_recovery_at_large(struct registry *registry, struct str tenant, struct str request, struct sql_deletion *of)
{
	struct deletion deletion = { .of = { .deletion = request, .namespace = STR("") } };
	struct db_call call = tenant_lock_call(registry, tenant);
	struct locked_tenant owner;

	assert(db_txn_writes(registry->db) && request.n == sizeof(registry->request_id.b));
	enum outcome outcome = registry_take_locks(registry, &tenant, 1, &call, 1);
	if (outcome == OUTCOME_OK)
		outcome = locked_tenant_of(registry, tenant, &call, &owner);
	if (outcome == OUTCOME_OK && owner.ends)
		outcome = tenant_fail_ending(registry, tenant);
	if (outcome == OUTCOME_OK)
		outcome = claim(registry, &deletion);
	*of = deletion.of;
	return outcome == OUTCOME_OK ? bring_back(registry, &owner, &deletion, ENDS_LATER) : outcome;
}

// ---- looking first

static struct str path_of(struct registry *registry, uint64_t type_id, struct str space, struct str name)
{
	return resource_path(registry->pool, type_of_resource(registry, 0, type_id), space, name);
}

enum outcome resource_recovery_look(struct registry *registry, const struct sql_deletion *of, uint64_t limit, struct resource_obstacles note)
{
	struct pool *pool = registry->pool;
	const struct sql_deletion_taken_name name_in = { .of = *of, .limit = limit };
	const struct sql_deletion_taken_uid uid_in = { .of = *of, .limit = limit };
	const struct sql_deletion_taken_key key_in = { .of = *of, .limit = limit };
	const struct sql_deletion_points_nowhere target_in = { .of = *of, .limit = limit };
	enum { NAMES, UIDS, KEYS, TARGETS };
	struct db_call calls[] = {
		[NAMES] = sql_deletion_taken_name_call(pool, &name_in),
		[UIDS] = sql_deletion_taken_uid_call(pool, &uid_in),
		[KEYS] = sql_deletion_taken_key_call(pool, &key_in),
		[TARGETS] = sql_deletion_points_nowhere_call(pool, SQL_MOVE_READ_PLAIN, &target_in),
	};
	enum outcome outcome = registry_run_calls(registry, calls, COUNT_OF(calls));

	for (size_t i = 0; outcome == OUTCOME_OK && i < calls[NAMES].rows.n; i++) {
		const struct sql_deletion_taken_name_row *row = sql_deletion_taken_name_row(&calls[NAMES].rows, i);
		outcome = note.note(note.arg, path_of(registry, row->type_id, row->namespace, row->name), fail_taken(registry));
	}
	for (size_t i = 0; outcome == OUTCOME_OK && i < calls[UIDS].rows.n; i++) {
		const struct sql_deletion_taken_uid_row *row = sql_deletion_taken_uid_row(&calls[UIDS].rows, i);
		enum outcome taken = fail_successor(registry, type_of_resource(registry, 0, row->type_id), row->uid, NULL);
		outcome = note.note(note.arg, path_of(registry, row->type_id, row->namespace, row->name), taken);
	}
	for (size_t i = 0; outcome == OUTCOME_OK && i < calls[KEYS].rows.n; i++) {
		const struct sql_deletion_taken_key_row *row = sql_deletion_taken_key_row(&calls[KEYS].rows, i);
		outcome = note.note(note.arg, path_of(registry, row->type_id, row->namespace, row->name), fail_taken_key(registry, row));
	}
	for (size_t i = 0; outcome == OUTCOME_OK && i < calls[TARGETS].rows.n; i++) {
		const struct sql_deletion_points_nowhere_row *row = sql_deletion_points_nowhere_row(&calls[TARGETS].rows, i);
		outcome = note.note(note.arg, path_of(registry, row->type_id, row->namespace, row->name), fail_target(registry, row));
	}
	return outcome;
}

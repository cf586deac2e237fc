// SPDX-License-Identifier: Apache-2.0
// Deletes a resource with what belongs to it: a namespace with its content (space_end.c; space_pieces.c if that is large), the
// root of a tree with all that depends on it. A resource with finalizers is only marked, and is deleted once the last of them is
// gone.
#include "base/base.h"

#include "base/pool.h"
#include "registry/log/change.h"
#include "registry/log/stale.h"
#include "registry/resource/internal.h"
#include "registry/tags/etag.h"
#include "registry/type/internal.h"
#include "registry/type/tree.h"
#include "sql/deletions.h"

// Rows of a large deletion that one statement changes at most.
enum { PART = 2000 };

static enum outcome fail_locked(struct registry *registry, const struct resource *resource, const char *what)
{
	return registry_fail(registry, OUTCOME_LOCKED, "%s is locked: set metadata.locked to false before you delete %.*s",
		what, STR_ARG(resource->name));
}

// Asks the rules of the type whether the resource may be deleted.
static enum outcome check_rules(struct registry *registry, const struct resource *resource)
{
	const struct type_rules *rules = resource->type->rules;

	if (rules == NULL || rules->may_delete == NULL)
		return OUTCOME_OK;
	return rules->may_delete(registry, resource, resource_body_doc(registry->pool, resource));
}

struct sql_content_of content_of(struct registry *registry, const struct resource *resource)
{
	return (struct sql_content_of){
		.tenant_id = resource->tenant_id,
		.namespace = resource->name,
		.root = resource_is_top(resource) ? tree_value(registry, resource->type, &resource->uid) : STR_NONE,
		.top_id = resource->id,
	};
}

enum outcome resource_fail_content_locked(struct registry *registry, const struct resource *space)
{
	return fail_locked(registry, space, "a resource in the namespace");
}

void resource_set_deletion_times(struct registry *registry, struct resource *resource)
{
	assert(db_txn_writes(registry->db) && resource->live != RESOURCE_DELETED);
	resource->deleted_us = registry->stamp_us;
	resource->purge_us = registry->stamp_us + registry_retention_us(registry);
}

// INSERT … SELECT holds the lock of the log's ids until it ends, and writers of other tenants wait for that lock. So much content
// is deleted in parts.
static enum outcome delete_in_parts(struct registry *registry, enum sql_content_part kind, const struct resource *resource, uint64_t *n)
{
	const struct sql_content_of content = content_of(registry, resource);
	const struct sql_deletion_mark_part mark = {
		.deleted_at = resource->deleted_us,
		.purge_at = resource->purge_us,
		.request_id = uuid_bytes(&registry->request_id),
	};
	enum db_result large = db_txn_large(registry->db);
	enum outcome outcome = large == DB_OK ? OUTCOME_OK : registry_db_failed(large);
	bool more = true;

	while (outcome == OUTCOME_OK && more) {
		struct db_call calls[] = {
			changes_of_deleted_part(registry, kind, &content, PART),
			sql_deletion_mark_part_call(registry->pool, &mark),
		};
		outcome = registry_run_calls(registry, calls, COUNT_OF(calls));
		more = outcome == OUTCOME_OK && calls[1].rows.affected > 0;
		*n += more ? calls[1].rows.affected : 0;
		registry_tell(registry, *n);
	}
	return outcome;
}

static enum outcome delete_all(struct registry *registry, enum sql_content kind, const struct resource *resource, uint64_t *n)
{
	const struct sql_content_of content = content_of(registry, resource);
	const struct sql_deletion_mark_content mark = {
		.content = content,
		.deleted_at = resource->deleted_us,
		.purge_at = resource->purge_us,
		.request_id = uuid_bytes(&registry->request_id),
	};
	bool is_space = kind == SQL_CONTENT_NAMESPACE;
	struct db_call calls[] = {
		changes_of_deletion(registry, kind, &content),
		sql_deletion_mark_content_call(registry->pool,
			is_space ? SQL_CONTENT_MARKED_NAMESPACE : SQL_CONTENT_MARKED_TREE, &mark),
	};
	enum outcome outcome = registry_run_calls(registry, calls, COUNT_OF(calls));

	*n = outcome == OUTCOME_OK ? calls[1].rows.affected : 0;
	return outcome;
}

enum outcome resource_delete_content(struct registry *registry, enum sql_content kind, struct resource *resource, uint64_t expected,
	uint64_t *n)
{
	assert(db_txn_writes(registry->db) && resource->deleted_us != 0 && resource->purge_us >= resource->deleted_us);
	*n = 0;
	if (expected <= PART)
		return delete_all(registry, kind, resource, n);
	return delete_in_parts(registry, kind == SQL_CONTENT_NAMESPACE ? SQL_CONTENT_PART_NAMESPACE : SQL_CONTENT_PART_TREE, resource, n);
}

// Deletes what depends on the root of a tree, unless some of it is locked. *n: how many resources that were.
static enum outcome delete_tree(struct registry *registry, struct resource *top, uint64_t *n)
{
	const struct sql_deletion_sum in = { .content = content_of(registry, top) };
	struct db_rows rows;
	enum db_result result = sql_deletion_sum_run(registry->db, registry->pool, &in, &rows);

	if (result != DB_OK)
		return registry_db_failed(result);
	const struct sql_deletion_sum_row *sum = sql_deletion_sum_row(&rows, 0);
	if (sum->locked > 0)
		return fail_locked(registry, top, "a resource that belongs to it");
	if (sum->n == 0)
		return OUTCOME_OK;
	// All resources of a deletion have the same time, which must not be before the last change of any of them.
	registry_stamp_after(registry, sum->last_change_at);
	resource_set_deletion_times(registry, top);
	return resource_delete_content(registry, SQL_CONTENT_TREE, top, sum->n, n);
}

struct sql_deletion resource_deletion(struct registry *registry, const struct resource *resource, struct str request_id)
{
	bool is_space = resource->type == type_namespaces(registry), is_top = resource_is_top(resource);

	return (struct sql_deletion){
		.deletion = request_id,
		.id = resource->id,
		.namespace = is_space ? resource->name : STR("/"),
		.root = is_top ? tree_value(registry, resource->type, &resource->uid) : STR_NONE,
	};
}

struct db_call resource_free_lookup_keys_call(struct registry *registry, const struct resource *resource)
{
	const struct sql_deletion_free_lookup_keys in = {
		.of = resource_deletion(registry, resource, uuid_bytes(&registry->request_id)),
	};

	assert(db_txn_writes(registry->db));
	return sql_deletion_free_lookup_keys_call(registry->pool, &in);
}

enum outcome resource_mark_deleted(struct registry *registry, struct resource *resource, uint64_t with_it)
{
	assert(db_txn_writes(registry->db) && resource->deleted_us != 0 && resource->purge_us >= resource->deleted_us);
	const struct sql_deletion_mark mark = {
		.id = resource->id,
		.deleted_at = resource->deleted_us,
		.purge_at = resource->purge_us,
		.request_id = uuid_bytes(&registry->request_id),
	};
	struct db_call calls[] = {
		change_of_resource(registry, "deleted", resource, resource->stored_etag, NULL),
		sql_deletion_mark_call(registry->pool, &mark),
		tenant_count_down_call(registry, resource->tenant_id, 1 + with_it),
		resource_free_lookup_keys_call(registry, resource),
	};
	bool has_keys = with_it > 0 || resource->type->rules != NULL;
	enum db_result result =
		db_run_batch(registry->db, registry->pool, calls, has_keys ? COUNT_OF(calls) : COUNT_OF(calls) - 1);

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

// A namespace also has finalizers in spec. "kubernetes" stands for the controller that empties the namespace, which is the
// registry itself.
static bool has_space_finalizers(struct pool *pool, const struct resource *resource)
{
	const struct doc *spec, *list;

	if (!mentions_finalizers(resource->body))
		return false;
	if (!doc_get(resource_body_doc(pool, resource), STR("spec"), &spec) || doc_kind(spec) != DOC_OBJECT ||
		!doc_get(spec, STR("finalizers"), &list) || doc_kind(list) != DOC_ARRAY)
		return false;
	for (size_t i = 0; i < doc_length(list); i++)
		if (doc_kind(doc_at(list, i)) == DOC_STRING && !str_eq(doc_string(doc_at(list, i)), STR("kubernetes")))
			return true;
	return false;
}

bool resource_type_can_wait(const struct type *type)
{
	return type->rules == NULL || type->rules->has_names;
}

static bool has_own_finalizers(struct pool *pool, const struct resource *resource)
{
	const struct doc *list;

	if (!resource_type_can_wait(resource->type) || !mentions_finalizers(resource->meta))
		return false;
	return doc_get(resource_meta_doc(pool, resource), STR("finalizers"), &list) && doc_kind(list) == DOC_ARRAY && doc_length(list) > 0;
}

bool resource_has_finalizers(struct registry *registry, const struct resource *resource)
{
	// Callers ask of many resources one after the other, and keep nothing of their documents' trees.
	struct pool *scratch = pool_scratch(registry->pool, resource->body.n + resource->meta.n);
	bool has = (resource->type == type_namespaces(registry) && has_space_finalizers(scratch, resource)) || has_own_finalizers(scratch, resource);

	pool_scratch_end(registry->pool, scratch);
	return has;
}

// Only sets deletion_requested_us: nothing is deleted yet.
enum outcome resource_mark_for_deletion(struct registry *registry, struct resource *resource)
{
	const struct resource before = *resource;

	assert(db_txn_writes(registry->db) && resource->live != RESOURCE_DELETED);
	if (resource->deletion_requested_us != 0)
		return OUTCOME_ACCEPTED;
	resource->deletion_requested_us = resource->updated_us = registry->stamp_us;
	resource->revision++;
	resource->edits++;
	resource->generation++; // else controllers that look only at new generations would not see the deletion
	etag_of_resource(registry, resource);
	const struct sql_deletion_wait wait = {
		.id = resource->id,
		.doomed_at = resource->deletion_requested_us,
		.revision = resource->revision,
		.edits = resource->edits,
		.etag = str_n((const char *)resource->stored_etag, sizeof(resource->stored_etag)),
		.updated_at = resource->updated_us,
		.generation = resource->generation,
	};
	struct db_call calls[3] = { change_in_field(registry, &before, resource, "/metadata/deletionTimestamp") };
	size_t n = change_keep_resource(registry, resource->id, calls, 1);
	calls[n++] = sql_deletion_wait_call(registry->pool, &wait);
	enum db_result result = db_run_batch(registry->db, registry->pool, calls, n);
	if (result != DB_OK)
		return registry_db_failed(result);
	resource->changed = calls[0].rows.insert_id;
	return OUTCOME_ACCEPTED;
}

enum outcome resource_delete_locked(struct registry *registry, struct resource *resource)
{
	uint64_t with_it = 0;
	enum outcome outcome = OUTCOME_OK;

	assert(db_txn_writes(registry->db) && resource->live != RESOURCE_DELETED);
	if (resource->type == type_namespaces(registry))
		return resource_space_delete(registry, resource);
	resource_set_deletion_times(registry, resource);
	if (resource_is_top(resource))
		outcome = delete_tree(registry, resource, &with_it);
	if (outcome == OUTCOME_OK)
		outcome = resource_mark_deleted(registry, resource, with_it);
	if (outcome != OUTCOME_NO_CONTENT)
		return outcome;
	outcome = resource_space_settle(registry, resource);
	return outcome == OUTCOME_OK ? OUTCOME_NO_CONTENT : outcome;
}

enum outcome resource_may_delete(struct registry *registry, const struct resource *resource)
{
	if (resource->live == RESOURCE_PINNED)
		return registry_fail(registry, OUTCOME_CONFLICT,
			"the namespace \"default\" belongs to its tenant and goes only with it");
	if (resource->locked)
		return fail_locked(registry, resource, "the resource");
	enum outcome outcome = check_rules(registry, resource);
	if (outcome != OUTCOME_OK)
		return outcome;
	return resource_has_finalizers(registry, resource) ? OUTCOME_ACCEPTED : OUTCOME_OK;
}

// Marks a resource that has finalizers, unless it is a namespace with a locked resource in it. A mark can't be taken back, and
// later the lock could only be reported to the controller that removes the last finalizer.
static enum outcome wait_for_finalizers(struct registry *registry, struct resource *resource)
{
	enum outcome outcome = OUTCOME_OK;

	if (resource->type == type_namespaces(registry) && resource->deletion_requested_us == 0)
		outcome = resource_space_check_content(registry, resource);
	return outcome == OUTCOME_OK ? resource_mark_for_deletion(registry, resource) : outcome;
}

// Deletes a locked resource if precondition, locks and rules allow it.
static enum outcome delete_locked(struct registry *registry, const struct locked_tenant *owner, struct guard guard,
	struct resource *resource)
{
	enum outcome outcome = guard_check_required(registry, guard, owner->etag_required);

	if (outcome == OUTCOME_OK)
		outcome = resource_check(registry, resource, guard);
	if (outcome == OUTCOME_OK)
		outcome = resource_may_delete(registry, resource);
	if (outcome == OUTCOME_ACCEPTED)
		return wait_for_finalizers(registry, resource);
	return outcome == OUTCOME_OK ? resource_delete_locked(registry, resource) : outcome;
}

enum outcome resource_delete(struct registry *registry, const struct address *address, struct guard guard,
	struct resource *resource)
{
	assert(db_txn_writes(registry->db) && address->type != NULL);
	struct locked_address place;
	enum outcome outcome = resource_lock_address(registry, address, &place, resource);

	if (outcome == OUTCOME_NO_CONTENT)
		return resource_fail_missing(registry, address, resource);
	return outcome == OUTCOME_OK ? delete_locked(registry, &place.tenant, guard, resource) : outcome;
}

enum outcome resource_remove(struct registry *registry, const struct ident *ident, struct guard guard,
	struct resource *resource)
{
	assert(db_txn_writes(registry->db) && ident->type != NULL);
	struct locked_tenant owner;
	enum outcome outcome = resource_lock_ident(registry, ident, &owner, resource);

	return outcome == OUTCOME_OK ? delete_locked(registry, &owner, guard, resource) : outcome;
}

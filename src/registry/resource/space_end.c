// SPDX-License-Identifier: Apache-2.0
// Deletes a namespace. Its resources without finalizers are deleted with it. Resources with finalizers are only marked as being
// deleted, and so is the namespace: its conditions say what it waits for. The transaction that deletes the last of these
// resources deletes the namespace, too. A namespace with much content is emptied in the background (space_pieces.c).
#include "base/base.h"

#include "base/buf.h"
#include "base/clock.h"
#include "base/pool.h"
#include "registry/core/settings.h"
#include "registry/log/change.h"
#include "registry/resource/internal.h"
#include "registry/tags/etag.h"
#include "registry/type/type.h"
#include "repr/json/doc.h"
#include "repr/json/member.h"
#include "sql/namespace_ends.h"

// The conditions count finalizers in at most RESOURCES_MAX resources, under at most NAMES_MAX names of at most NAME_LONGEST
// bytes. Their counts of resources are exact.
enum { RESOURCES_MAX = 1000, NAMES_MAX = 50, NAME_LONGEST = 317 /* in Kubernetes: a domain of 253, a slash, 63 */ };

// ---- what is left, as conditions

struct left {
	struct str resources;  // "configmaps. has 2 resource instances, …"
	struct str finalizers; // "example.com/f in 2 resource instances, …"
	uint64_t n;
};

// How many of the namespace's resources have each finalizer. More names than NAMES_MAX, and longer ones, are left out.
struct finalizer_counts {
	struct pool *pool; // of the names
	struct str names[NAMES_MAX];
	uint64_t counts[NAMES_MAX]; // of the name at the same index
	size_t n;
};

static void count_finalizer(struct finalizer_counts *counts, struct str name)
{
	size_t at = 0;

	while (at < counts->n && !str_eq(counts->names[at], name))
		at++;
	if (at == NAMES_MAX || name.n > NAME_LONGEST)
		return;
	if (at == counts->n) {
		counts->names[at] = str_dup(counts->pool, name);
		counts->counts[at] = 0;
		counts->n++;
	}
	counts->counts[at]++;
}

// Counts the finalizers of one resource: a resource may have megabytes of them, so no other row is in memory meanwhile.
static void count_finalizers(void *arg, const struct db_rows *row, struct pool *pool)
{
	struct str text = sql_namespace_finalizers_row(row, 0)->finalizers, error;
	struct doc *list;

	if (text.p == NULL || !stored_read(pool, text, &list, &error) || doc_kind(list) != DOC_ARRAY)
		return;
	for (size_t i = 0; i < doc_length(list); i++)
		count_finalizer(arg, doc_string(doc_at(list, i)));
}

// Appends "NAME in N resource instances" for each finalizer.
static void add_finalizers(const struct finalizer_counts *counts, struct buf *text)
{
	for (size_t i = 0; i < counts->n; i++)
		buf_addf(text, "%s%.*s in %llu resource instances", i > 0 ? ", " : "", STR_ARG(counts->names[i]),
			(unsigned long long)counts->counts[i]);
}

static enum outcome read_left(struct registry *registry, const struct resource *space, struct left *left)
{
	struct buf resources = buf_new(registry->pool, 128), finalizers = buf_new(registry->pool, 128);
	struct finalizer_counts counts = { .pool = registry->pool };
	const struct sql_namespace_count_left left_of = { .tenant_id = space->tenant_id, .namespace = space->name };
	const struct sql_namespace_finalizers finalizers_of = {
		.tenant_id = space->tenant_id,
		.namespace = space->name,
		.limit = RESOURCES_MAX,
	};
	struct db_call calls[] = {
		sql_namespace_count_left_call(registry->pool, &left_of),
		sql_namespace_finalizers_call(registry->pool, &finalizers_of),
	};

	calls[1].take = count_finalizers;
	calls[1].arg = &counts;
	enum outcome outcome = registry_run_calls(registry, calls, COUNT_OF(calls));
	if (outcome != OUTCOME_OK)
		return outcome;
	*left = (struct left){ .n = 0 };
	for (size_t i = 0; i < calls[0].rows.n; i++) {
		const struct sql_namespace_count_left_row *row = sql_namespace_count_left_row(&calls[0].rows, i);
		buf_addf(&resources, "%s%.*s.%.*s has %llu resource instances", i > 0 ? ", " : "", STR_ARG(row->plural),
			STR_ARG(row->group_name), (unsigned long long)row->n);
		left->n += row->n;
	}
	add_finalizers(&counts, &finalizers);
	left->resources = buf_str(&resources);
	left->finalizers = buf_str(&finalizers);
	return OUTCOME_OK;
}

// The member of an object that has this name; made where it is missing, or of another kind than like.
static struct doc *own_member_like(struct doc *object, struct str name, struct doc *like)
{
	struct doc *member = doc_own_member(object, name);

	if (member != NULL && doc_kind(member) == doc_kind(like))
		return member;
	doc_set(object, name, like);
	return like;
}

// The condition of that type in a list of conditions; a new one of no status where there is none.
static struct doc *own_condition(struct pool *pool, struct doc *list, const char *type)
{
	for (size_t i = 0; i < doc_elements(list); i++) {
		struct doc *condition = doc_own_item(list, i);
		if (str_eq_c(doc_string(doc_member(condition, "type")), type))
			return condition;
	}
	struct doc *condition = doc_new_object(pool);
	doc_set_str(pool, condition, "type", str_c(type));
	doc_push(list, condition);
	return condition;
}

// The text of a member becomes this one. Was it another?
static bool set_text(struct pool *pool, struct doc *object, const char *name, struct str text)
{
	if (str_eq(doc_string(doc_member(object, name)), text))
		return false;
	doc_set_str(pool, object, name, text);
	return true;
}

// Sets a condition of the namespace. It keeps the time of its last transition while its status stays. Was it another?
static bool set_condition(struct registry *registry, struct doc *list, const char *type, bool is_true, const char *reason,
	struct str message)
{
	struct pool *pool = registry->pool;
	struct doc *condition = own_condition(pool, list, type);
	bool changes = set_text(pool, condition, "status", is_true ? STR("True") : STR("False"));

	if (changes) {
		struct buf time = buf_new(pool, 32);
		clock_add_rfc3339(&time, registry->stamp_us);
		doc_set_str(pool, condition, "lastTransitionTime", buf_str(&time));
	}
	changes = set_text(pool, condition, "reason", str_c(reason)) || changes;
	return set_text(pool, condition, "message", message) || changes;
}

// Sets the conditions of Kubernetes' own controller, with its texts, beside those that clients have set. *text: the body. Was it
// another?
static bool set_waiting(struct registry *registry, const struct resource *space, const struct left *left, struct str *text)
{
	struct pool *pool = registry->pool;
	struct doc *body = resource_body_doc(pool, space);
	struct doc *status = own_member_like(body, STR("status"), doc_new_object(pool));
	struct doc *list = own_member_like(status, STR("conditions"), doc_new_array(pool));
	struct buf out = buf_new(pool, space->body.n + 1024);
	bool changes = false;

	changes |= set_condition(registry, list, "NamespaceDeletionDiscoveryFailure", false, "ResourcesDiscovered",
		STR("All resources successfully discovered"));
	changes |= set_condition(registry, list, "NamespaceDeletionGroupVersionParsingFailure", false, "ParsedGroupVersions",
		STR("All legacy kube types successfully parsed"));
	changes |= set_condition(registry, list, "NamespaceDeletionContentFailure", false, "ContentDeleted",
		STR("All content successfully deleted, may be waiting on finalization"));
	changes |= set_condition(registry, list, "NamespaceContentRemaining", true, "SomeResourcesRemain",
		str_printf(pool, "Some resources are remaining: %.*s", STR_ARG(left->resources)));
	changes |= set_condition(registry, list, "NamespaceFinalizersRemaining", true, "SomeFinalizersRemain",
		str_printf(pool, "Some content in the namespace has finalizers remaining: %.*s", STR_ARG(left->finalizers)));
	doc_write_json(body, &out);
	*text = buf_str(&out);
	return changes;
}

// A namespace that waits already for the same stays as it is.
static enum outcome let_wait(struct registry *registry, struct resource *space, const struct left *left)
{
	const struct resource before = *space;
	bool begins = space->deletion_requested_us == 0;
	struct str body;

	assert(left->n > 0);
	if (!set_waiting(registry, space, left, &body) && !begins)
		return OUTCOME_ACCEPTED;
	space->body = body;
	space->deletion_requested_us = begins ? registry->stamp_us : space->deletion_requested_us;
	space->updated_us = registry->stamp_us;
	space->revision++;
	space->edits++;
	etag_of_resource(registry, space);
	const struct sql_namespace_update_ending update = {
		.id = space->id,
		.doomed_at = space->deletion_requested_us,
		.revision = space->revision,
		.edits = space->edits,
		.etag = str_n((const char *)space->stored_etag, sizeof(space->stored_etag)),
		.updated_at = space->updated_us,
		.body = space->body,
		.bytes = space->meta.n + space->body.n,
	};
	struct db_call calls[3] = {
		change_in_field(registry, &before, space, begins ? "/metadata/deletionTimestamp" : "/status/conditions"),
	};
	size_t n = change_keep_resource(registry, space->id, calls, 1);
	calls[n++] = sql_namespace_update_ending_call(registry->pool, &update);
	enum db_result result = db_run_batch(registry->db, registry->pool, calls, n);
	if (result != DB_OK)
		return registry_db_failed(result);
	space->changed = calls[0].rows.insert_id;
	return OUTCOME_ACCEPTED;
}

// ---- the steps of a deletion

enum outcome resource_space_mark_waiting(struct registry *registry, const struct resource *space, struct resource *list, size_t n)
{
	struct buf waiting = buf_new(registry->pool, 16 + n * 160);

	assert(db_txn_writes(registry->db) && space->type == type_namespaces(registry));
	if (n == 0)
		return OUTCOME_OK;
	for (size_t i = 0; i < n; i++) {
		struct resource *resource = &list[i];

		assert(resource->deletion_requested_us == 0 && str_eq(resource->space, space->name));
		resource->revision++;
		resource->edits++;
		resource->generation++;
		etag_of_resource(registry, resource);
		buf_add(&waiting, i == 0 ? STR("[[") : STR(",["));
		buf_add_u64(&waiting, resource->id);
		buf_add(&waiting, STR(",\""));
		buf_add_hex(&waiting, resource->stored_etag, sizeof(resource->stored_etag));
		buf_add(&waiting, STR("\"]"));
	}
	buf_addc(&waiting, ']');
	const struct sql_namespace_mark_waiting mark = { .waiting = buf_str(&waiting), .doomed_at = registry->stamp_us };
	struct db_call calls[3] = {
		changes_of_waiting(registry, mark.waiting),
		sql_namespace_mark_waiting_call(registry->pool, &mark),
	};
	return registry_run_calls(registry, calls, change_keep_waiting(registry, mark.waiting, calls, 2));
}

// Makes a list, in the registry's pool, of the locked rows that have finalizers. Returns how many.
static size_t with_finalizers(struct registry *registry, const struct resource *space, const struct db_rows *rows,
	struct resource **list)
{
	size_t n = 0;

	*list = POOL_ARRAY(registry->pool, struct resource, rows->n);
	for (size_t i = 0; i < rows->n; i++) {
		(*list)[n] = resource_of_columns(registry, &sql_namespace_lock_finalizers_row(rows, i)->r);
		(*list)[n].tenant = space->tenant;
		n += resource_has_finalizers(registry, &(*list)[n]);
	}
	return n;
}

// Counts down and frees lookup keys for n deleted resources of a namespace that itself stays for now. They were deleted without
// the namespace, so they can be recovered without it.
static enum outcome account_for_content(struct registry *registry, const struct resource *space, uint64_t n)
{
	struct db_call calls[] = {
		tenant_count_down_call(registry, space->tenant_id, n),
		resource_free_lookup_keys_call(registry, space),
	};

	return n > 0 ? registry_run_calls(registry, calls, COUNT_OF(calls)) : OUTCOME_OK;
}

// Deletes a namespace that has little in it, with its content.
static enum outcome delete_at_once(struct registry *registry, struct resource *space, const struct space_size *size)
{
	const struct sql_namespace_any_waiting waiting = { .tenant_id = space->tenant_id, .namespace = space->name };
	const struct sql_namespace_lock_finalizers finalizers = { .tenant_id = space->tenant_id, .namespace = space->name };
	struct db_call calls[] = {
		sql_namespace_any_waiting_call(registry->pool, &waiting),
		sql_namespace_lock_finalizers_call(registry->pool, &finalizers),
	};
	enum db_result result;
	struct resource *marked = NULL;
	size_t n_marked = 0;
	uint64_t with_it = 0;
	enum outcome outcome;

	if (size->locked)
		return resource_fail_content_locked(registry, space);
	result = size->n > registry->settings->delete_sync_max ? db_txn_large(registry->db) : DB_OK;
	if (result != DB_OK)
		return registry_db_failed(result);
	result = db_run_batch(registry->db, registry->pool, calls, size->may_wait ? COUNT_OF(calls) : 1);
	outcome = result == DB_OK ? OUTCOME_OK : registry_db_failed(result);
	// All rows of a deletion get the same time. It must not be earlier than the last change of any of them.
	registry_stamp_after(registry, size->last_change_us);
	if (outcome == OUTCOME_OK && size->may_wait) {
		n_marked = with_finalizers(registry, space, &calls[1].rows, &marked);
		outcome = resource_space_mark_waiting(registry, space, marked, n_marked);
	}
	resource_set_deletion_times(registry, space);
	if (outcome == OUTCOME_OK && size->n > n_marked)
		outcome = resource_delete_content(registry, SQL_CONTENT_NAMESPACE, space, size->n, &with_it);
	if (outcome == OUTCOME_OK && (n_marked > 0 || calls[0].rows.n > 0))
		outcome = resource_space_wait(registry, space);
	if (outcome == OUTCOME_OK)
		return resource_mark_deleted(registry, space, with_it);
	if (outcome != OUTCOME_ACCEPTED)
		return outcome;
	space->deleted_us = space->purge_us = 0;
	outcome = account_for_content(registry, space, with_it);
	return outcome == OUTCOME_OK ? OUTCOME_ACCEPTED : outcome;
}

enum outcome resource_space_delete(struct registry *registry, struct resource *space)
{
	struct space_size size;

	assert(db_txn_writes(registry->db) && space->type == type_namespaces(registry));
	enum outcome outcome = resource_space_measure(registry, space, &size);
	if (outcome != OUTCOME_OK)
		return outcome;
	return size.large ? resource_space_empty_later(registry, space) : delete_at_once(registry, space, &size);
}

enum outcome resource_space_wait(struct registry *registry, struct resource *space)
{
	assert(db_txn_writes(registry->db) && space->type == type_namespaces(registry));
	struct left left = { .n = 0 };
	enum outcome outcome = read_left(registry, space, &left);

	if (outcome != OUTCOME_OK || left.n == 0)
		return outcome;
	return let_wait(registry, space, &left);
}

enum outcome resource_space_settle(struct registry *registry, const struct resource *gone)
{
	struct db_rows rows;

	assert(db_txn_writes(registry->db));
	if (gone->deletion_requested_us == 0 || !gone->type->namespaced)
		return OUTCOME_OK;
	const struct sql_namespace_lock_ending in = {
		.tenant_id = gone->tenant_id,
		.type_id = type_namespaces(registry)->id,
		.name = gone->space,
	};
	enum db_result result = sql_namespace_lock_ending_run(registry->db, registry->pool, &in, &rows);
	if (result != DB_OK)
		return registry_db_failed(result);
	if (rows.n == 0)
		return OUTCOME_OK;
	struct resource space = resource_of_columns(registry, &sql_namespace_lock_ending_row(&rows, 0)->r);
	space.tenant = gone->tenant;
	// The namespace waits for its own finalizers first.
	if (resource_has_finalizers(registry, &space))
		return OUTCOME_OK;
	enum outcome outcome = resource_delete_locked(registry, &space);
	return outcome == OUTCOME_NO_CONTENT || outcome == OUTCOME_ACCEPTED ? OUTCOME_OK : outcome;
}

// SPDX-License-Identifier: Apache-2.0
// Creates or changes a resource: one round trip for the locks (resource/lock.c), one for the writes, one for COMMIT.
#include "base/base.h"

#include "base/pool.h"
#include "registry/core/settings.h"
#include "registry/log/change.h"
#include "registry/log/changed_fields.h"
#include "registry/log/stale.h"
#include "registry/resource/internal.h"
#include "registry/resource/secret.h"
#include "registry/tags/etag.h"
#include "registry/type/internal.h"
#include "registry/type/tree.h"
#include "repr/json/doc.h"
#include "repr/schema/field_fault.h"
#include "sql/resources.h"
#include "types/common/parts.h"

static struct str root_value(struct registry *registry, const struct resource *resource)
{
	return resource->has_root ? tree_value(registry, resource->type, &resource->root) : STR_NONE;
}

struct db_call resource_insert_call(struct registry *registry, struct resource *resource)
{
	struct pool *pool = registry->pool;
	uint64_t h[4];

	assert(db_txn_writes(registry->db) && resource->type != NULL && resource->tenant_id != 0);
	etag_state_lanes(registry, resource->type, &resource->uid, h);
	resource->revision = resource->edits = resource->generation = 1;
	resource->created_us = resource->updated_us = registry->stamp_us;
	etag_of_resource(registry, resource);
	const struct sql_resource_insert in = {
		.uid = str_dup(pool, uuid_bytes(&resource->uid)),
		.tenant_id = resource->tenant_id,
		.type_id = resource->type->id,
		.namespace = resource->space,
		.name = resource->name,
		.live = (uint64_t)resource->live,
		.locked = resource->locked,
		.bytes = resource->meta.n + resource->body.n,
		.h0 = h[0],
		.h1 = h[1],
		.h2 = h[2],
		.h3 = h[3],
		.etag = str_dup(pool, str_n((const char *)resource->stored_etag, sizeof(resource->stored_etag))),
		.meta = resource->meta,
		.body = resource->body,
		.now = registry->stamp_us,
		.root = root_value(registry, resource),
	};

	return sql_resource_insert_call(pool, &in);
}

struct db_call resource_number_inserted_call(struct registry *registry, const struct resource *resource)
{
	const struct sql_resource_number in = {
		.uid = str_dup(registry->pool, uuid_bytes(&resource->uid)),
		.type_id = resource->type->id,
		.live = (uint64_t)resource->live,
	};

	return sql_resource_number_call(registry->pool, &in);
}

// ---- the type's rules

// What will be written: the content, and the keys from before and after.
struct revision {
	struct content content;
	const struct doc *document; // the tree of the body; NULL if the type has no rules
	struct relations before, after;
	bool has_status; // the type keeps its status apart, so a change of that makes no new generation
};

static enum outcome complete(struct registry *registry, const struct address *address, const struct edit *edit,
	const struct resource *current, struct uuid uid, struct revision *revision)
{
	const struct type_rules *rules = address->type->rules;
	struct content *content = &revision->content;
	struct pool *pool = registry->pool;
	struct draft draft = {
		.registry = registry,
		.address = address,
		.current = current,
		.uid = uid,
		.meta = content->meta,
		.by_service = edit->by_service,
		.restores = edit->restores,
	};
	struct buf text = buf_new(pool, 1024);

	draft.body = content->body.p == NULL ? content->document : stored_document(pool, STORED_NEW, content->body);
	if (current != NULL)
		draft.before = resource_body_tree(pool, current);
	enum outcome outcome = secret_restore(&draft);
	if (outcome == OUTCOME_OK)
		outcome = type_complete(&draft);
	if (outcome != OUTCOME_OK)
		return outcome;
	if (current != NULL) {
		rules->relate(pool, draft.before, &uid, &revision->before);
		content->body = current->body;
	}
	rules->relate(pool, draft.body, &uid, &revision->after);
	revision->document = draft.before;
	if (revision->after.root_elsewhere)
		revision->after.root = draft.root;
	if (current == NULL || !doc_equal(draft.before, draft.body)) {
		doc_write_json(draft.body, &text);
		content->body = buf_str(&text);
		revision->document = draft.body;
	}
	return OUTCOME_OK;
}

// Refuses a body that its type has made larger than max_body: a dump with it could not be restored. What is stored may stay as
// large as it is.
static enum outcome check_size(struct registry *registry, const struct resource *current, struct str meta, struct str body)
{
	unsigned long long most = registry->settings->max_body, bytes = meta.n + body.n;

	if (bytes <= most || (current != NULL && bytes <= current->meta.n + current->body.n))
		return OUTCOME_OK;
	return registry_fail(registry, OUTCOME_BODY_TOO_LARGE,
		"with what its type adds, the resource would have %llu bytes: it may have %llu (max_body)", bytes, most);
}

static enum outcome complete_custom(struct registry *registry, const struct address *address, struct str version,
	const struct resource *current, struct revision *revision)
{
	struct content *content = &revision->content;
	struct pool *pool = registry->pool;
	struct doc *sent = content->body.p == NULL ? content->document : stored_document(pool, STORED_NEW, content->body);
	struct doc *body = sent;
	const struct doc *stored = current != NULL ? resource_body_doc(pool, current) : NULL;
	struct buf text = buf_new(pool, 1024);
	enum outcome outcome = definition_complete(registry, address, version, &body, &revision->has_status);

	if (outcome == OUTCOME_OK && (current == NULL || !doc_equal(body, stored))) {
		doc_write_json(body, &text);
		outcome = check_size(registry, current, content->meta, buf_str(&text));
	}
	// Objects whose definition is gone, does not allow them any more, or has other defaults now that make them too large,
	// stay as they are, but a change of their metadata must be possible: their deletion, and that of their namespace, may
	// wait for a finalizer.
	if ((outcome == OUTCOME_NOT_FOUND || outcome == OUTCOME_BAD_DOCUMENT || outcome == OUTCOME_BODY_TOO_LARGE) && current != NULL && doc_equal(sent, stored)) {
		*registry->problem = (struct problem){ .n_members = 0 };
		content->body = current->body;
		return OUTCOME_OK;
	}
	if (outcome == OUTCOME_OK)
		content->body = text.n > 0 ? buf_str(&text) : current->body;
	return outcome;
}

// Converts a body that a client has changed, or made, as its built-in type requires.
static enum outcome receive(struct registry *registry, const struct address *address, const struct resource *current,
	struct content *content)
{
	const struct type_parts *parts = type_parts(address->type);
	struct buf text = buf_new(registry->pool, 0);
	struct str error;

	if (parts->receive == NULL || (current != NULL && str_eq(content->body, current->body)))
		return OUTCOME_OK;
	struct doc *body = stored_document(registry->pool, STORED_NEW, content->body);
	if (!parts->receive(registry->pool, body, &error))
		return registry_fail(registry, OUTCOME_BAD_DOCUMENT, "%.*s", STR_ARG(error));
	if (current != NULL && doc_equal(body, resource_body_doc(registry->pool, current))) {
		content->body = current->body;
		return OUTCOME_OK;
	}
	doc_write_json(body, &text);
	content->body = buf_str(&text);
	return check_size(registry, current, content->meta, content->body);
}

// Checks that the content is no deeper than REGISTRY_DEPTH_MAX, which the database's JSON functions can read. The schema in a
// definition may be deeper, since no statement looks into it; but then the deep members must come last, because the functions
// stop reading there.
static enum outcome fit_depth(struct registry *registry, const struct address *address, struct revision *revision)
{
	struct content *content = &revision->content;
	struct pool *pool = registry->pool;
	struct buf text = buf_new(pool, 0);
	bool meta_fits = json_within_depth(content->meta, REGISTRY_DEPTH_MAX);

	if (meta_fits && json_within_depth(content->body, REGISTRY_DEPTH_MAX))
		return OUTCOME_OK;
	if (!meta_fits || address->type != type_definitions(registry))
		return registry_fail(registry, OUTCOME_BAD_DOCUMENT, "what is stored may be nested %d levels deep at most",
			REGISTRY_DEPTH_MAX);
	const struct doc *body = doc_shallow_first(pool, stored_document(pool, STORED_NEW, content->body), REGISTRY_DEPTH_MAX);
	doc_write_json(body, &text);
	content->body = buf_str(&text);
	if (revision->document != NULL)
		revision->document = body;
	return OUTCOME_OK;
}

static bool has_text(const struct doc *list, struct str text)
{
	for (size_t i = 0; i < doc_elements(list); i++)
		if (doc_kind(doc_at(list, i)) == DOC_STRING && str_eq(doc_string(doc_at(list, i)), text))
			return true;
	return false;
}

// Refuses new finalizers of a resource whose deletion does not wait for any: who adds one relies on that. Those that are stored
// already may stay, or go.
static enum outcome check_finalizers(struct registry *registry, const struct address *address, const struct resource *current,
	struct str meta)
{
	const struct field_path metadata = field_name(NULL, STR("metadata")), at = field_name(&metadata, STR("finalizers"));
	struct field_faults faults = field_faults_new(registry->pool);
	const struct doc *before = NULL, *after = NULL;

	if (resource_type_can_wait(address->type) || (current != NULL && str_eq(meta, current->meta)) ||
		!doc_get(stored_document(registry->pool, STORED_NEW, meta), STR("finalizers"), &after))
		return OUTCOME_OK;
	if (current != NULL)
		(void)doc_get(resource_meta_doc(registry->pool, current), STR("finalizers"), &before);
	for (size_t i = 0; i < doc_elements(after); i++) {
		const struct field_path name = field_index(&at, i);
		if (doc_kind(doc_at(after, i)) == DOC_STRING && !has_text(before, doc_string(doc_at(after, i))))
			field_forbidden(&faults, &name, "objects of this type are deleted at once, and wait for no finalizer");
	}
	if (faults.n == 0)
		return OUTCOME_OK;
	return registry_fail_faults(registry,
		str_printf(registry->pool, "%.*s \"%.*s\"", STR_ARG(address->type->kind), STR_ARG(address->name)), &faults);
}

// Calls edit, then the type's rules, to find out what will be written.
static enum outcome ask_edit(struct registry *registry, const struct address *address, const struct edit *edit,
	const struct resource *current, struct uuid uid, struct revision *revision)
{
	struct buf text = buf_new(registry->pool, 1024);

	*revision = (struct revision){ .has_status = true };
	enum outcome outcome = edit->apply(edit->arg, current, &revision->content);
	if (outcome == OUTCOME_OK && !edit->restores)
		outcome = check_finalizers(registry, address, current, revision->content.meta);
	if (outcome != OUTCOME_OK)
		return outcome;
	if (address->type->rules != NULL)
		return complete(registry, address, edit, current, uid, revision);
	if (!address->type->builtin)
		return complete_custom(registry, address, edit->version, current, revision);
	if (revision->content.body.p == NULL) {
		doc_write_json(revision->content.document, &text);
		revision->content.body = buf_str(&text);
	}
	outcome = receive(registry, address, current, &revision->content);
	if (outcome == OUTCOME_OK && current != NULL)
		outcome = resource_check_immutable(registry, address, current, revision->content.body);
	return outcome;
}

static enum outcome revise(struct registry *registry, const struct address *address, const struct edit *edit,
	const struct resource *current, struct uuid uid, struct revision *revision)
{
	enum outcome outcome = ask_edit(registry, address, edit, current, uid, revision);

	// A document from before the limit may be too deep. It can still be read, deleted, moved, and written without a change.
	if (outcome == OUTCOME_OK && current != NULL && str_eq(revision->content.body, current->body) &&
		str_eq(revision->content.meta, current->meta))
		return outcome;
	return outcome == OUTCOME_OK ? fit_depth(registry, address, revision) : outcome;
}

// ---- creating

// Says that the lookup key, or if it is NULL the uid, is taken. If the tenant that has it is past its purge time, nobody finds
// the resource that is in the way, so the text says what frees the key.
static enum outcome fail_taken(struct registry *registry, const struct resource *resource, const struct lookup_key *key)
{
	const struct sql_resource_of_expired in = {
		.type_id = resource->type->id,
		.uid = uuid_bytes(&resource->uid),
		.key_kind = key != NULL ? str_c(key->kind) : STR(""),
		.key_value = key != NULL ? key->value : STR(""),
		.now = registry->now_us,
	};
	struct str value = key != NULL ? key->value : uuid_str(registry->pool, resource->uid);
	struct db_rows rows;
	enum db_result result = sql_resource_of_expired_run(registry->db, registry->pool,
		key != NULL ? SQL_RESOURCE_IDENT_KEY : SQL_RESOURCE_IDENT_UID, &in, &rows);

	if (result != DB_OK)
		return registry_db_failed(result);
	if (rows.n == 0)
		return resource->type->rules->taken(registry, &resource->uid, key);
	return registry_fail(registry, OUTCOME_NAME_TAKEN,
		"the %s %.*s is still that of a resource whose tenant is past its purge time: it is free once \"tenure-manage reap\" has purged that",
		key != NULL ? key->kind : "UUID", STR_ARG(value));
}

// The INSERT found the address or the uid taken. If a resource elsewhere has the uid, the write is refused. Else another
// request has just created this resource, and the transaction runs again.
static enum outcome explain_taken(struct registry *registry, const struct resource *resource)
{
	struct db_rows rows;

	if (resource->type->rules != NULL) {
		const struct sql_resource_uid_elsewhere in = {
			.uid = uuid_bytes(&resource->uid),
			.type_id = resource->type->id,
			.tenant_id = resource->tenant_id,
		};
		enum db_result result = sql_resource_uid_elsewhere_run(registry->db, registry->pool, &in, &rows);
		if (result != DB_OK)
			return registry_db_failed(result);
		if (rows.n > 0)
			return fail_taken(registry, resource, NULL);
	}
	db_txn_again(registry->db); // the rollback undoes all of this, and the next run finds that resource
	return OUTCOME_UNAVAILABLE;
}

// OUTCOME_OK, or the refusal for the first call that found its lookup key taken.
static enum outcome check_keys(struct registry *registry, const struct resource *resource, const struct db_call *calls,
	const struct lookup_key *const *of, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (calls[i].result == DB_DUPLICATE)
			return fail_taken(registry, resource, of[i]);
	}
	return OUTCOME_OK;
}

static enum outcome insert(struct registry *registry, const struct locked_tenant *owner, const struct revision *revision,
	struct resource *resource)
{
	const struct sql_forward_delete forward = {
		.tenant_id = resource->tenant_id,
		.type_id = resource->type->id,
		.namespace = resource->space,
		.name = resource->name,
	};
	struct db_call calls[5 + 2 * LOOKUP_KEYS_MAX] = {
		resource_insert_call(registry, resource),
		change_of_resource(registry, "created", resource, NULL, resource->stored_etag),
		resource_number_inserted_call(registry, resource),
		sql_forward_delete_call(registry->pool, &forward),
		tenant_count_up_call(registry, owner, 1),
	};
	const struct lookup_key *of[2 * LOOKUP_KEYS_MAX];
	size_t n = lookup_key_calls(registry, resource, NULL, &revision->after, &calls[5], of);
	enum db_result result = db_run_batch(registry->db, registry->pool, calls, 5 + n);

	static_assert(5 + 2 * LOOKUP_KEYS_MAX <= DB_MAX_BATCH, "one round trip");
	if (result != DB_OK)
		return registry_db_failed(result);
	if (calls[0].result == DB_DUPLICATE)
		return explain_taken(registry, resource);
	resource->id = calls[0].rows.insert_id;
	resource->changed = calls[1].rows.insert_id;
	if (calls[4].rows.affected != 1)
		return resource_fail_quota(registry, owner, 1);
	enum outcome outcome = check_keys(registry, resource, &calls[5], of, n);
	if (outcome == OUTCOME_OK && resource->type == type_definitions(registry))
		outcome = definitions_changed(registry, resource->tenant_id);
	return outcome == OUTCOME_OK ? OUTCOME_CREATED : outcome;
}

// The uid of a new resource: a new one, or the one in its address if the type names resources by their uid.
static enum outcome choose_uid(struct registry *registry, const struct address *address, struct uuid *uid)
{
	if (address->type->rules == NULL || address->type->rules->has_names) {
		*uid = uuid_new();
		return OUTCOME_OK;
	}
	if (uuid_parse(address->name, uid) && str_eq(uuid_str(registry->pool, *uid), address->name))
		return OUTCOME_OK;
	return registry_fail(registry, OUTCOME_BAD_PARAMETER, "a %.*s is named by its uid: a UUID in lower case",
		STR_ARG(address->type->singular));
}

static enum outcome create(struct registry *registry, const struct address *address, const struct edit *edit,
	struct guard guard, const struct locked_tenant *owner, struct resource *resource)
{
	struct revision revision;
	struct uuid uid;
	enum outcome outcome = guard_check(guard, NULL);

	if (outcome == OUTCOME_OK && !registry_id_is_valid(address->name))
		outcome = registry_fail(registry, OUTCOME_BAD_PARAMETER,
			"a name is 1 to 255 characters of UTF-8, without \"/\" and NUL, and neither \".\" nor \"..\"");
	if (outcome == OUTCOME_OK)
		outcome = choose_uid(registry, address, &uid);
	if (outcome == OUTCOME_OK)
		outcome = revise(registry, address, edit, NULL, uid, &revision);
	if (outcome != OUTCOME_OK)
		return outcome;
	*resource = (struct resource){
		.uid = uid,
		.tenant_id = owner->id,
		.tenant = address->tenant,
		.type = address->type,
		.space = address->space,
		.name = address->name,
		.live = RESOURCE_COUNTED,
		.locked = revision.content.locked,
		.meta = revision.content.meta,
		.body = revision.content.body,
		.has_root = revision.after.has_root,
		.root = revision.after.root,
	};
	return insert(registry, owner, &revision, resource);
}

// ---- changing

static bool same_content(const struct resource *a, const struct resource *b)
{
	return str_eq(a->meta, b->meta) && str_eq(a->body, b->body) && a->locked == b->locked && str_eq(a->tenant, b->tenant);
}

// Sets etag and edits of a changed resource. If only members changed that the type's etag leaves out, both stay as they were. The
// etag that clients see is derived in any case, since an answer has it in its header and its body.
static void tag_change(struct registry *registry, const struct resource *before, struct resource *resource)
{
	const struct type_rules *rules = resource->type->rules;
	bool leaves_out = rules != NULL && rules->untagged != NULL, same_body = str_eq(before->body, resource->body);

	if (leaves_out && str_eq(before->tenant, resource->tenant) && str_eq(before->meta, resource->meta) &&
		(same_body || etag_covers_same(registry->pool, before, resource))) {
		etag_derive(registry, resource);
		return;
	}
	resource->edits++;
	if (same_body)
		etag_of_resource(registry, resource);
	else
		etag_of_covered(registry, resource, etag_covered(registry->pool, resource));
}

static enum outcome update(struct registry *registry, const struct revision *revision, const struct resource *before,
	struct resource *resource)
{
	struct str etag = str_n((const char *)resource->stored_etag, sizeof(resource->stored_etag));
	bool in_spec;
	struct str fields = changed_fields_of_resource(registry->pool, before, resource, revision->has_status, &in_spec);
	if (in_spec)
		resource->generation++;
	const struct sql_resource_update in = {
		.id = resource->id,
		.locked = resource->locked,
		.bytes = resource->meta.n + resource->body.n,
		.revision = resource->revision,
		.edits = resource->edits,
		.etag = etag,
		.meta = resource->meta,
		.body = resource->body,
		.updated_at = resource->updated_us,
		.root = root_value(registry, resource),
		.generation = resource->generation,
	};
	struct db_call calls[3 + 2 * LOOKUP_KEYS_MAX] = { change_of_fields(registry, before, resource, fields) };
	const struct lookup_key *of[2 * LOOKUP_KEYS_MAX];
	size_t first_key = change_keep_resource(registry, resource->id, calls, 1), n = 0;

	calls[first_key++] = sql_resource_update_call(registry->pool, &in);
	if (resource->type->rules != NULL)
		n = lookup_key_calls(registry, resource, &revision->before, &revision->after, &calls[first_key], of);
	enum db_result result = db_run_batch(registry->db, registry->pool, calls, first_key + n);
	resource->changed = calls[0].rows.insert_id;
	return result == DB_OK ? check_keys(registry, resource, &calls[first_key], of, n) : registry_db_failed(result);
}

// Refuses to lock a resource whose deletion was requested: the removal of its last finalizer deletes it, and must not be refused,
// since a controller waits for that. The same holds for a resource in a namespace whose deletion was requested.
static enum outcome check_lock(struct registry *registry, const struct locked_address *place, const struct resource *before,
	const struct content *content)
{
	if (before->locked || !content->locked)
		return OUTCOME_OK;
	if (place->space_ends)
		return registry_fail(registry, OUTCOME_CONFLICT,
			"the deletion of the namespace %.*s was requested: %.*s can't be locked any more", STR_ARG(before->space),
			STR_ARG(before->name));
	if (before->deletion_requested_us == 0)
		return OUTCOME_OK;
	return registry_fail(registry, OUTCOME_CONFLICT, "the deletion of %.*s was requested: it can't be locked any more",
		STR_ARG(before->name));
}

enum outcome resource_change_content(struct registry *registry, const struct edit *edit, struct guard guard,
	const struct locked_address *place, struct str new_owner, struct resource *resource)
{
	struct resource before = *resource;
	const struct address address = { resource->tenant, resource->type, resource->space, resource->name };
	struct revision revision;

	assert(db_txn_writes(registry->db) && resource->id != 0 && resource->live != RESOURCE_DELETED);
	enum outcome outcome = guard_check_required(registry, guard, place->tenant.etag_required);
	if (outcome == OUTCOME_OK)
		outcome = resource_check(registry, &before, guard);
	if (outcome != OUTCOME_OK)
		return outcome;
	if (resource->type->rules != NULL)
		before.tree = resource_body_doc(registry->pool, &before); // for the edit, the rules, and what compares the two bodies
	outcome = revise(registry, &address, edit, &before, before.uid, &revision);
	if (outcome == OUTCOME_OK)
		outcome = check_lock(registry, place, &before, &revision.content);
	if (outcome != OUTCOME_OK)
		return outcome;
	resource->meta = revision.content.meta;
	resource->body = revision.content.body;
	resource->shown = STR_NONE;
	resource->tree = revision.document;
	if (resource->tree != NULL && resource->tree != before.tree)
		resource->shown = secret_shown_text(registry->pool, resource->type->rules, resource->body, resource->tree);
	resource->locked = revision.content.locked;
	if (new_owner.p != NULL)
		resource->tenant = new_owner;
	if (same_content(&before, resource)) {
		etag_derive(registry, resource); // an answer has it in its header and its body
		return OUTCOME_OK;
	}
	if (resource->type->rules != NULL) {
		resource->has_root = revision.after.has_root;
		resource->root = revision.after.root;
	}
	resource->revision++;
	resource->updated_us = registry->stamp_us;
	tag_change(registry, &before, resource);
	outcome = update(registry, &revision, &before, resource);
	if (outcome == OUTCOME_OK && resource->deletion_requested_us != 0 && !resource_has_finalizers(registry, resource))
		outcome = resource_delete_locked(registry, resource);
	else if (outcome == OUTCOME_OK && resource->type == type_definitions(registry))
		outcome = definitions_changed(registry, resource->tenant_id);
	return outcome == OUTCOME_NO_CONTENT || outcome == OUTCOME_ACCEPTED ? OUTCOME_OK : outcome;
}

// ---- at an address, or by uid or lookup key

enum outcome resource_write(struct registry *registry, const struct address *address, const struct edit *edit,
	struct guard guard, struct resource *resource)
{
	assert(db_txn_writes(registry->db) && edit->apply != NULL && edit->with == NULL);
	struct locked_address place;
	enum outcome outcome = resource_lock_address(registry, address, &place, resource);

	if (outcome == OUTCOME_OK)
		return resource_change_content(registry, edit, guard, &place, STR_NONE, resource);
	if (outcome != OUTCOME_NO_CONTENT)
		return outcome;
	if (!edit->creates)
		return resource_fail_missing(registry, address, resource);
	if (place.tenant.ends)
		return tenant_fail_ending(registry, address->tenant);
	if (place.space_missing)
		return resource_fail_no_space(registry, address->space);
	if (place.space_ends)
		return resource_fail_space_ends(registry, address->space);
	return create(registry, address, edit, guard, &place.tenant, resource);
}

enum outcome resource_change(struct registry *registry, const struct ident *ident, const struct edit *edit,
	struct guard guard, struct resource *resource)
{
	assert(db_txn_writes(registry->db) && edit->apply != NULL);
	struct locked_address place = { .space_ends = false }; // resources that are found by an ident are in no namespace
	enum outcome outcome = resource_lock_ident_with(registry, ident, &place.tenant, resource, edit->with);

	return outcome == OUTCOME_OK ? resource_change_content(registry, edit, guard, &place, STR_NONE, resource) : outcome;
}

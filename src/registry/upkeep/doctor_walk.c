// SPDX-License-Identifier: Apache-2.0
// The doctor's checks that must read documents or compute hashes, which no statement can do. They read a slice in order of id,
// a page at a time, so memory is bounded and no statement runs for long.
#include "base/base.h"

#include "base/buf.h"
#include "base/pool.h"
#include "registry/resource/internal.h"
#include "registry/tags/etag.h"
#include "registry/tenant/internal.h"
#include "registry/type/tree.h"
#include "registry/upkeep/doctor.h"
#include "registry/upkeep/doctor_internal.h"
#include "repr/json/doc.h"
#include "sql/doctor.h"

enum { ROWS_AT_ONCE = 500 };

static void note_found(struct examination *examination, const char *kind, const struct uuid *uid)
{
	examination->found++;
	if (examination->example[0] == '\0')
		snprintf(examination->example, sizeof(examination->example), "%s %.*s", kind,
			UUID_ARG(examination->registry->pool, *uid));
}

// Counts the rows that a repairing statement has affected.
static enum outcome note_fixed(struct examination *examination, enum db_result result, const struct db_rows *rows)
{
	if (result != DB_OK)
		return registry_db_failed(result);
	examination->fixed += rows->affected;
	return OUTCOME_OK;
}

static enum outcome walk_resources(struct examination *examination, enum sql_doctor_walk which,
	enum outcome (*each)(struct examination *, const struct sql_doctor_page_row *))
{
	struct registry *registry = examination->registry;
	struct pool_mark mark = pool_mark(registry->pool);
	struct sql_doctor_page in = { .after = examination->after, .upto = examination->upto, .limit = ROWS_AT_ONCE };
	enum outcome outcome = OUTCOME_OK;
	struct db_rows rows;

	do {
		pool_rewind(registry->pool, mark);
		enum db_result result = sql_doctor_page_run(registry->db, registry->pool, which, &in, &rows);
		if (result != DB_OK)
			return registry_db_failed(result);
		for (size_t i = 0; outcome == OUTCOME_OK && i < rows.n; i++) {
			in.after = sql_doctor_page_row(&rows, i)->r.id;
			outcome = each(examination, sql_doctor_page_row(&rows, i));
		}
	} while (outcome == OUTCOME_OK && rows.n == ROWS_AT_ONCE);
	return outcome;
}

static struct str stored_etag(const struct resource *resource)
{
	return str_n((const char *)resource->stored_etag, sizeof(resource->stored_etag));
}

// ---- documents

static bool read_object(struct pool *pool, struct str text, struct doc **object)
{
	struct str error;

	return stored_read(pool, text, object, &error) && doc_kind(*object) == DOC_OBJECT;
}

static bool read_list(struct pool *pool, struct str text, struct doc **list)
{
	struct str error;

	return stored_read(pool, text, list, &error) && doc_kind(*list) == DOC_ARRAY;
}

// Could a request read it (registry/core/stored.h)? The database's JSON_VALID() accepts more than a request does.
static bool is_readable(struct pool *pool, const struct resource *resource)
{
	struct doc *doc;

	return read_object(pool, resource->meta, &doc) && read_object(pool, resource->body, &doc) &&
	       (resource->traits.n == 0 || read_list(pool, resource->traits, &doc));
}

static enum outcome check_document(struct examination *examination, const struct sql_doctor_page_row *row)
{
	struct resource stored = resource_of_columns(examination->registry, &row->r);

	if (!is_readable(examination->registry->pool, &stored))
		note_found(examination, "resource", &stored.uid);
	return OUTCOME_OK;
}

enum outcome doctor_check_documents(struct examination *examination)
{
	return walk_resources(examination, SQL_DOCTOR_WALK_ALL, check_document);
}

static struct str shallow_first(struct pool *pool, struct str stored)
{
	struct buf text = buf_new(pool, stored.n);
	struct doc *doc;

	if (!read_object(pool, stored, &doc))
		return stored;
	doc_write_json(doc_shallow_first(pool, doc, REGISTRY_DEPTH_MAX), &text);
	return buf_str(&text);
}

// Repairs a document from before the limit of depth. Its members change their order, so its text and etag change; nothing is
// lost.
static enum outcome check_depth(struct examination *examination, const struct sql_doctor_page_row *row)
{
	struct registry *registry = examination->registry;
	struct resource right = resource_of_columns(registry, &row->r);
	struct db_rows mended;

	right.meta = shallow_first(registry->pool, row->r.data.meta);
	right.body = shallow_first(registry->pool, row->r.data.body);
	if (str_eq(right.meta, row->r.data.meta) && str_eq(right.body, row->r.data.body))
		return OUTCOME_OK;
	note_found(examination, "resource", &right.uid);
	if (!examination->fix)
		return OUTCOME_OK;
	etag_of_resource(registry, &right);
	const struct sql_doctor_update_document in = {
		.id = right.id,
		.revision = right.revision,
		.meta = right.meta,
		.body = right.body,
		.bytes = right.meta.n + right.body.n,
		.etag = stored_etag(&right),
	};
	enum db_result result = sql_doctor_update_document_run(registry->db, registry->pool, &in, &mended);
	return note_fixed(examination, result, &mended);
}

enum outcome doctor_check_depth(struct examination *examination)
{
	return walk_resources(examination, SQL_DOCTOR_WALK_UNREADABLE, check_depth);
}

// ---- keyed hashes

static enum outcome check_hashes(struct examination *examination, const struct sql_doctor_page_row *row)
{
	struct registry *registry = examination->registry;
	struct resource right = resource_of_columns(registry, &row->r);
	uint64_t bytes = right.meta.n + right.body.n, lanes[4];
	struct db_rows mended;

	if (!is_readable(registry->pool, &right)) // another check reports it; a repair must not rest on parts of it
		return OUTCOME_OK;
	bool tag_right = etag_key_of_resource(registry, &right) != 0;
	etag_state_lanes(registry, right.type, &right.uid, lanes);
	if (tag_right && row->bytes == bytes && row->h0 == lanes[0] && row->h1 == lanes[1] &&
		row->h2 == lanes[2] && row->h3 == lanes[3])
		return OUTCOME_OK;
	note_found(examination, "resource", &right.uid);
	if (!examination->fix)
		return OUTCOME_OK;
	if (!tag_right)
		etag_of_resource(registry, &right);
	const struct sql_doctor_update_hashes in = {
		.id = right.id,
		.revision = right.revision,
		.etag = stored_etag(&right),
		.bytes = bytes,
		.h0 = lanes[0],
		.h1 = lanes[1],
		.h2 = lanes[2],
		.h3 = lanes[3],
	};
	enum db_result result = sql_doctor_update_hashes_run(registry->db, registry->pool, &in, &mended);
	return note_fixed(examination, result, &mended);
}

enum outcome doctor_check_hashes(struct examination *examination)
{
	return walk_resources(examination, SQL_DOCTOR_WALK_ALL, check_hashes);
}

// ---- lookup keys and roots: computed from the body by the type's rules

// Does this row, [kind, value, type, live], belong to the lookup key?
static bool is_row_of(const struct doc *row, const struct resource *resource, const struct lookup_key *key)
{
	uint64_t type_id, live = 0;

	if (!str_eq_c(doc_string(doc_at(row, 0)), key->kind) || !str_eq(doc_string(doc_at(row, 1)), key->value))
		return false;
	if (doc_kind(doc_at(row, 3)) == DOC_NUMBER && !doc_u64(doc_at(row, 3), &live))
		return false;
	return doc_u64(doc_at(row, 2), &type_id) && type_id == resource->type->id && live == (uint64_t)resource->live;
}

static bool relations_right(const struct resource *resource, const struct relations *relations, const struct doc *rows)
{
	if (resource->has_root != relations->has_root || doc_length(rows) != relations->n_keys)
		return false;
	if (resource->has_root && !relations->root_elsewhere && !uuid_eq(resource->root, relations->root))
		return false;
	for (size_t i = 0; i < relations->n_keys; i++) {
		bool found = false;
		for (size_t j = 0; !found && j < relations->n_keys; j++)
			found = is_row_of(doc_at(rows, j), resource, &relations->keys[i]);
		if (!found)
			return false;
	}
	return true;
}

struct mending {
	struct registry *registry;
	const struct resource *resource;
	const struct relations *relations;
	bool done;
};

// Repairs a resource if it is still as it was read. If another resource has one of its lookup keys by now, nothing is repaired.
static enum db_verdict mend_relations(void *arg)
{
	struct mending *mending = arg;
	struct registry *registry = mending->registry;
	struct pool *pool = registry->pool;
	const struct resource *resource = mending->resource;
	const struct relations *relations = mending->relations;
	bool deleted = resource->live == RESOURCE_DELETED;
	const struct sql_doctor_lock_resource lock = {
		.id = resource->id,
		.revision = resource->revision,
		.live = (uint64_t)resource->live,
		.live_is_null = deleted,
	};
	const struct sql_doctor_update_root root = {
		.id = resource->id,
		.root = relations->has_root ? tree_value(registry, resource->type, &relations->root) : STR_NONE,
	};
	enum { LOCK, DELETE_KEYS, ROOT, KEYS };
	struct db_call calls[KEYS + LOOKUP_KEYS_MAX] = {
		[LOCK] = sql_doctor_lock_resource_call(pool, &lock),
		[DELETE_KEYS] = sql_doctor_delete_keys_call(pool, &(struct sql_doctor_delete_keys){ .resource_id =
		resource->id }),
		[ROOT] = sql_doctor_update_root_call(pool, &root),
	};

	for (size_t i = 0; i < relations->n_keys; i++) {
		const struct sql_doctor_insert_key key = {
			.resource_id = resource->id,
			.kind = str_c(relations->keys[i].kind),
			.type_id = resource->type->id,
			.value = relations->keys[i].value,
			.live = (uint64_t)resource->live,
			.live_is_null = deleted,
		};
		calls[KEYS + i] = sql_doctor_insert_key_call(pool, &key);
	}
	size_t n = KEYS + relations->n_keys;
	mending->done = db_run_batch(registry->db, pool, calls, n) == DB_OK && calls[LOCK].rows.n > 0;
	for (size_t i = KEYS; mending->done && i < n; i++)
		mending->done = calls[i].result == DB_OK;
	return mending->done ? DB_COMMIT : DB_ROLLBACK;
}

static enum outcome check_relations(struct examination *examination, const struct sql_doctor_page_row *row)
{
	struct registry *registry = examination->registry;
	struct resource resource = resource_of_columns(registry, &row->r);
	struct relations relations = { 0 };
	struct uuid uid = uuid_new();
	struct doc *stored_keys;

	if (resource.type == NULL || !is_readable(registry->pool, &resource))
		return OUTCOME_OK; // another check reports it
	if (resource.type->rules != NULL)
		resource.type->rules->relate(registry->pool, resource_body_doc(registry->pool, &resource), &resource.uid,
			&relations);
	if (relations.root_elsewhere) // another check compares that root
		relations.root = resource.root;
	struct str keys = row->lookup_keys.p != NULL ? row->lookup_keys : STR("[]");
	if (!read_list(registry->pool, keys, &stored_keys))
		return OUTCOME_INTERNAL; // the database itself has made this text
	if (relations_right(&resource, &relations, stored_keys))
		return OUTCOME_OK;
	note_found(examination, "resource", &resource.uid);
	if (!examination->fix)
		return OUTCOME_OK;
	struct mending mending = { .registry = registry, .resource = &resource, .relations = &relations };
	enum db_result result = db_txn_run(registry->db, DB_WRITE, &uid, mend_relations, &mending);
	if (result != DB_OK)
		return registry_db_failed(result);
	examination->fixed += mending.done;
	return OUTCOME_OK;
}

enum outcome doctor_check_relations(struct examination *examination)
{
	return walk_resources(examination, SQL_DOCTOR_WALK_RELATED, check_relations);
}

// ---- tenants

static enum outcome check_tenant(struct examination *examination, const struct sql_tenant *columns)
{
	struct registry *registry = examination->registry;
	struct tenant right = tenant_of_columns(columns);
	struct str etag = str_n((const char *)right.etag, sizeof(right.etag));
	struct db_rows mended;

	if (etag_key_of_tenant(registry, &right) != 0)
		return OUTCOME_OK;
	etag_of_tenant(registry, &right);
	note_found(examination, "tenant", &right.uid);
	if (!examination->fix)
		return OUTCOME_OK;
	const struct sql_doctor_update_tenant in = { .id = right.id, .revision = right.revision, .etag = etag };
	enum db_result result = sql_doctor_update_tenant_run(registry->db, registry->pool, &in, &mended);
	return note_fixed(examination, result, &mended);
}

static enum outcome check_tenant_documents(struct examination *examination, const struct sql_tenant *columns)
{
	struct pool *pool = examination->registry->pool;
	struct uuid uid;
	struct doc *doc;

	if (read_object(pool, columns->metadata, &doc) && (columns->object.n == 0 || read_object(pool, columns->object, &doc)))
		return OUTCOME_OK;
	uuid_from_bytes(columns->uid, &uid);
	note_found(examination, "tenant", &uid);
	return OUTCOME_OK;
}

static enum outcome walk_tenants(struct examination *examination,
	enum outcome (*each)(struct examination *, const struct sql_tenant *))
{
	struct registry *registry = examination->registry;
	struct pool_mark mark = pool_mark(registry->pool);
	struct sql_doctor_tenants in = { .after = examination->after, .upto = examination->upto, .limit = ROWS_AT_ONCE };
	enum outcome outcome = OUTCOME_OK;
	struct db_rows rows;

	do {
		pool_rewind(registry->pool, mark);
		enum db_result result = sql_doctor_tenants_run(registry->db, registry->pool, &in, &rows);
		if (result != DB_OK)
			return registry_db_failed(result);
		for (size_t i = 0; outcome == OUTCOME_OK && i < rows.n; i++) {
			in.after = sql_doctor_tenants_row(&rows, i)->t.id;
			outcome = each(examination, &sql_doctor_tenants_row(&rows, i)->t);
		}
	} while (outcome == OUTCOME_OK && rows.n == ROWS_AT_ONCE);
	return outcome;
}

// As with resources: nothing of the object is lost, its members change places.
static enum outcome check_tenant_depth(struct examination *examination, const struct sql_tenant *columns)
{
	struct registry *registry = examination->registry;
	struct tenant right = tenant_of_columns(columns);
	struct doc *doc;
	struct db_rows mended;

	if (!read_object(registry->pool, columns->object, &doc)) // another check reports it
		return OUTCOME_OK;
	right.object = tenant_object_shallow_first(registry, &right);
	if (str_eq(right.object, columns->object))
		return OUTCOME_OK;
	note_found(examination, "tenant", &right.uid);
	if (!examination->fix)
		return OUTCOME_OK;
	etag_of_tenant(registry, &right);
	const struct sql_doctor_update_tenant_object in = {
		.id = right.id,
		.revision = right.revision,
		.object = right.object,
		.etag = str_n((const char *)right.etag, sizeof(right.etag)),
	};
	enum db_result result = sql_doctor_update_tenant_object_run(registry->db, registry->pool, &in, &mended);
	return note_fixed(examination, result, &mended);
}

enum outcome doctor_check_tenant_depth(struct examination *examination)
{
	return walk_tenants(examination, check_tenant_depth);
}

enum outcome doctor_check_tenants(struct examination *examination)
{
	return walk_tenants(examination, check_tenant);
}

enum outcome doctor_check_tenant_documents(struct examination *examination)
{
	return walk_tenants(examination, check_tenant_documents);
}

// ---- keys

static void count_key(struct examination *examination, uint64_t id)
{
	const struct etag_keys *keys = examination->registry->store->etag_keys;
	size_t i = 0;

	while (i < keys->n && keys->keys[i].id != id)
		i++;
	examination->by_key[i]++;
}

static enum outcome count_resource(struct examination *examination, const struct sql_doctor_page_row *row)
{
	struct registry *registry = examination->registry;
	struct resource resource = resource_of_columns(registry, &row->r);

	count_key(examination, is_readable(registry->pool, &resource) ? etag_key_of_resource(registry, &resource) : 0);
	return OUTCOME_OK;
}

static enum outcome count_tenant(struct examination *examination, const struct sql_tenant *columns)
{
	struct tenant tenant = tenant_of_columns(columns);

	count_key(examination, etag_key_of_tenant(examination->registry, &tenant));
	return OUTCOME_OK;
}

enum outcome doctor_count_tags(struct registry *registry, uint64_t by_key[ETAG_KEYS_MAX + 1])
{
	struct examination examination = { .registry = registry, .upto = INT64_MAX, .by_key = by_key };
	struct pool_mark mark = pool_mark(registry->pool);
	enum outcome outcome = walk_resources(&examination, SQL_DOCTOR_WALK_ALL, count_resource);

	pool_rewind(registry->pool, mark);
	if (outcome == OUTCOME_OK)
		outcome = walk_tenants(&examination, count_tenant);
	pool_rewind(registry->pool, mark);
	return outcome;
}

// SPDX-License-Identifier: Apache-2.0
// The writer of the change log: the columns that each kind of change fills.
#include "base/base.h"

#include "registry/log/change.h"

#include "base/buf.h"
#include "base/pool.h"
#include "registry/core/settings.h"
#include "registry/log/changed_fields.h"
#include "registry/log/selectable.h"
#include "registry/type/type.h"
#include "repr/json/doc.h"
#include "sql/changes.h"
#include "sql/former.h"

const struct db_log change_log = { .insert = CHANGE_INSERT, .find = &sql_change_find_query };

// An etag as a column value in pool, which outlives the caller's buffer; p NULL if etag is NULL.
static struct str etag_value(struct pool *pool, const uint8_t *etag)
{
	return etag != NULL ? str_dup(pool, str_n((const char *)etag, 64)) : STR_NONE;
}

// What the resource counts for in its tenant's usage, in bytes: as resources.bytes. 0: it is not counted.
static uint64_t counted_bytes(const struct resource *resource)
{
	return resource->live == RESOURCE_COUNTED ? resource->meta.n + resource->body.n : 0;
}

// What a change replaced and what it left. fields, selectable: for the verb "updated"; p NULL for other verbs.
struct difference {
	const uint8_t *etag_before, *etag_after; // NULL: there was, or is, nothing
	uint64_t bytes_before, bytes_after;      // of resources alone
	struct str fields, selectable;
};

static struct db_call of_resource(struct registry *registry, const char *verb, const struct resource *resource,
	const struct difference *difference)
{
	struct pool *pool = registry->pool;
	struct str uid = str_dup(pool, uuid_bytes(&resource->uid));
	const struct sql_change_insert in = {
		.request_id = uuid_bytes(&registry->request_id),
		.now = registry->stamp_us,
		.actor = registry->actor,
		.verb = str_c(verb),
		.tenant_id = resource->tenant_id,
		.resource_id = resource->id,
		.uid = uid,
		.type_id = resource->type->id,
		.namespace = resource->space.p != NULL ? resource->space : STR(""),
		.name = resource->name,
		.revision = resource->revision,
		.etag_before = etag_value(pool, difference->etag_before),
		.etag_after = etag_value(pool, difference->etag_after),
		.fields = difference->fields,
		.moves = resource->moves,
		.selectable_before = difference->selectable,
		.bytes_before = difference->bytes_before,
		.bytes_after = difference->bytes_after,
	};

	return sql_change_insert_call(pool, resource->id != 0 ? SQL_CHANGE_OF_KNOWN : SQL_CHANGE_OF_INSERTED, &in);
}

struct db_call change_of_resource(struct registry *registry, const char *verb, const struct resource *resource,
	const uint8_t *etag_before, const uint8_t *etag_after)
{
	const struct difference difference = {
		.etag_before = etag_before,
		.etag_after = etag_after,
		.bytes_before = etag_before != NULL ? counted_bytes(resource) : 0,
		.bytes_after = etag_after != NULL ? counted_bytes(resource) : 0,
	};

	assert(db_txn_writes(registry->db) && (etag_before != NULL || etag_after != NULL));
	return of_resource(registry, verb, resource, &difference);
}

// A column of an update that has nothing to record is ''. NULL would mean that nothing was computed: older versions left it
// out.
static struct str empty_if_unset(struct str text)
{
	return text.p != NULL ? text : STR("");
}

struct db_call change_of_fields(struct registry *registry, const struct resource *before, const struct resource *after,
	struct str fields)
{
	const struct difference difference = {
		.etag_before = before->stored_etag,
		.etag_after = after->stored_etag,
		.bytes_before = counted_bytes(before),
		.bytes_after = counted_bytes(after),
		.fields = empty_if_unset(fields),
		.selectable = empty_if_unset(selectable_before_resource(registry->pool, before, after)),
	};

	assert(db_txn_writes(registry->db) && fields.p != NULL && before->id == after->id);
	return of_resource(registry, "updated", after, &difference);
}

struct db_call change_in_field(struct registry *registry, const struct resource *before, const struct resource *after,
	const char *field)
{
	assert(field[0] == '/');
	return change_of_fields(registry, before, after, str_printf(registry->pool, "[\"%s\"]", field));
}

static struct db_call of_tenant(struct registry *registry, const char *verb, const struct tenant *tenant,
	const struct difference *difference)
{
	struct pool *pool = registry->pool;
	const struct sql_change_insert in = {
		.request_id = uuid_bytes(&registry->request_id),
		.now = registry->stamp_us,
		.actor = registry->actor,
		.verb = str_c(verb),
		.tenant_id = tenant->id,
		.resource_id_is_null = true,
		.uid = str_dup(pool, uuid_bytes(&tenant->uid)),
		.type_id_is_null = true,
		.revision = tenant->revision,
		.etag_before = etag_value(pool, difference->etag_before),
		.etag_after = etag_value(pool, difference->etag_after),
		.fields = difference->fields,
		.selectable_before = difference->selectable,
		.bytes_before_is_null = true,
		.bytes_after_is_null = true,
	};

	return sql_change_insert_call(pool, SQL_CHANGE_OF_KNOWN, &in);
}

struct db_call change_of_tenant(struct registry *registry, const char *verb, const struct tenant *tenant,
	const uint8_t *etag_before, const uint8_t *etag_after)
{
	const struct difference difference = { .etag_before = etag_before, .etag_after = etag_after };

	assert(db_txn_writes(registry->db) && tenant->id != 0);
	return of_tenant(registry, verb, tenant, &difference);
}

struct db_call change_of_tenant_update(struct registry *registry, const struct tenant *before, const struct tenant *after)
{
	const struct difference difference = {
		.etag_before = before->etag,
		.etag_after = after->etag,
		.fields = empty_if_unset(changed_fields_of_tenant(registry->pool, before, after)),
		.selectable = empty_if_unset(selectable_before_tenant(registry->pool, before, after)),
	};

	assert(db_txn_writes(registry->db) && before->id == after->id);
	return of_tenant(registry, "updated", after, &difference);
}

struct db_call change_beside_tenant(struct registry *registry, const struct tenant *tenant, struct str field)
{
	struct buf fields = buf_new(registry->pool, 64);

	assert(db_txn_writes(registry->db) && field.n > 0 && field.p[0] == '/');
	buf_addc(&fields, '[');
	json_add_string(&fields, field);
	buf_addc(&fields, ']');
	const struct difference difference = {
		.etag_before = tenant->etag, .etag_after = tenant->etag, .fields = buf_str(&fields), .selectable = STR("")
	};
	return of_tenant(registry, "updated", tenant, &difference);
}

// ---- what an update replaces

bool change_keeps_content(const struct registry *registry)
{
	return registry->settings->content_retention != 0;
}

// The server copies the content from the row, which the transaction has locked: it isn't sent once more.
size_t change_keep_resource(struct registry *registry, uint64_t resource_id, struct db_call *calls, size_t n)
{
	const struct sql_former_keep_resource in = { .resource_id = resource_id };

	assert(n > 0 && resource_id != 0);
	if (!change_keeps_content(registry))
		return n;
	calls[n] = sql_former_keep_resource_call(registry->pool, &in);
	return n + 1;
}

size_t change_keep_beside(struct registry *registry, uint64_t resource_id, struct str former, struct db_call *calls, size_t n)
{
	const struct sql_former_keep_beside in = { .resource_id = resource_id, .former = former };

	assert(n > 0 && resource_id != 0);
	if (!change_keeps_content(registry) || former.p == NULL)
		return n;
	calls[n] = sql_former_keep_beside_call(registry->pool, &in);
	return n + 1;
}

size_t change_keep_allocations(struct registry *registry, struct str formers, struct db_call *calls, size_t n)
{
	assert(n > 0);
	if (!change_keeps_content(registry) || formers.p == NULL)
		return n;
	calls[n] = sql_former_keep_allocations_call(registry->pool, &(struct sql_former_keep_allocations){ .formers = formers });
	return n + 1;
}

size_t change_keep_waiting(struct registry *registry, struct str waiting, struct db_call *calls, size_t n)
{
	assert(n > 0);
	if (!change_keeps_content(registry))
		return n;
	calls[n] = sql_former_keep_waiting_call(registry->pool, &(struct sql_former_keep_waiting){ .waiting = waiting });
	return n + 1;
}

size_t change_keep_tenant(struct registry *registry, uint64_t tenant_id, struct db_call *calls, size_t n)
{
	const struct sql_former_keep_tenant in = { .tenant_id = tenant_id };

	assert(n > 0 && tenant_id != 0);
	if (!change_keeps_content(registry))
		return n;
	calls[n] = sql_former_keep_tenant_call(registry->pool, &in);
	return n + 1;
}

// ---- changes of all resources of a set

struct db_call changes_of_deletion(struct registry *registry, enum sql_content kind, const struct sql_content_of *content)
{
	const struct sql_change_insert_deleted in = {
		.request_id = uuid_bytes(&registry->request_id),
		.now = registry->stamp_us,
		.actor = registry->actor,
		.content = *content,
	};

	assert(db_txn_writes(registry->db));
	return sql_change_insert_deleted_call(registry->pool, kind, &in);
}

struct db_call changes_of_deleted_part(struct registry *registry, enum sql_content_part kind, const struct sql_content_of *content,
	uint64_t limit)
{
	const struct sql_change_insert_deleted_part in = {
		.request_id = uuid_bytes(&registry->request_id),
		.now = registry->stamp_us,
		.actor = registry->actor,
		.content = *content,
		.limit = limit,
	};

	assert(db_txn_writes(registry->db));
	return sql_change_insert_deleted_part_call(registry->pool, kind, &in);
}

struct db_call changes_of_deleted_piece(struct registry *registry, struct str resource_ids)
{
	const struct sql_change_insert_deleted_piece in = {
		.request_id = uuid_bytes(&registry->request_id),
		.now = registry->stamp_us,
		.actor = registry->actor,
		.ids = resource_ids,
	};

	assert(db_txn_writes(registry->db));
	return sql_change_insert_deleted_piece_call(registry->pool, &in);
}

struct db_call changes_of_waiting(struct registry *registry, struct str waiting)
{
	const struct sql_change_insert_waiting in = {
		.request_id = uuid_bytes(&registry->request_id),
		.now = registry->stamp_us,
		.actor = registry->actor,
		.waiting = waiting,
	};

	assert(db_txn_writes(registry->db));
	return sql_change_insert_waiting_call(registry->pool, &in);
}

struct db_call changes_of_recovery(struct registry *registry, const struct sql_deletion_range *part)
{
	const struct sql_change_insert_recovered in = {
		.request_id = uuid_bytes(&registry->request_id),
		.now = registry->stamp_us,
		.actor = registry->actor,
		.part = *part,
	};

	assert(db_txn_writes(registry->db));
	return sql_change_insert_recovered_call(registry->pool, &in);
}

struct db_call changes_of_move(struct registry *registry, enum sql_move_set kind, const struct sql_move_range *set,
	uint64_t dest_id)
{
	const struct sql_change_insert_moved in = {
		.request_id = uuid_bytes(&registry->request_id),
		.now = registry->stamp_us,
		.actor = registry->actor,
		.dest_id = dest_id,
		.set = *set,
	};

	assert(db_txn_writes(registry->db) && dest_id != 0);
	return sql_change_insert_moved_call(registry->pool, kind, &in);
}

struct db_call changes_of_merged(struct registry *registry, enum sql_move_set kind, const struct sql_move_range *set,
	uint64_t dest_id)
{
	const struct sql_change_insert_merged in = {
		.request_id = uuid_bytes(&registry->request_id),
		.now = registry->stamp_us,
		.actor = registry->actor,
		.dest_id = dest_id,
		.namespaces = type_namespaces(registry)->id,
		.set = *set,
	};

	assert(db_txn_writes(registry->db) && dest_id != 0);
	return sql_change_insert_merged_call(registry->pool, kind, &in);
}

struct db_call changes_of_creation(struct registry *registry, struct str resource_ids)
{
	const struct sql_change_insert_created in = {
		.request_id = uuid_bytes(&registry->request_id),
		.now = registry->stamp_us,
		.actor = registry->actor,
		.ids = resource_ids,
	};

	assert(db_txn_writes(registry->db));
	return sql_change_insert_created_call(registry->pool, &in);
}

struct db_call changes_of_allocations(struct registry *registry, struct str provider_ids)
{
	const struct sql_change_insert_allocated in = {
		.request_id = uuid_bytes(&registry->request_id),
		.now = registry->stamp_us,
		.actor = registry->actor,
		.ids = provider_ids,
	};

	assert(db_txn_writes(registry->db));
	return sql_change_insert_allocated_call(registry->pool, &in);
}

struct db_call changes_of_purge(struct registry *registry, struct str resource_ids)
{
	const struct sql_change_insert_purged in = {
		.request_id = uuid_bytes(&registry->request_id),
		.now = registry->stamp_us,
		.actor = registry->actor,
		.ids = resource_ids,
	};

	assert(db_txn_writes(registry->db));
	return sql_change_insert_purged_call(registry->pool, &in);
}

// SPDX-License-Identifier: Apache-2.0
// The writer of the change log: the columns that each kind of change fills.
#include "base/base.h"

#include "registry/log/change.h"

#include "base/pool.h"
#include "registry/log/changed_fields.h"
#include "registry/log/selectable.h"
#include "registry/type/type.h"
#include "sql/changes.h"

const struct db_log change_log = { .insert = CHANGE_INSERT, .find = &sql_change_find_query };

// An etag as a column value in pool, which outlives the caller's buffer; p NULL if etag is NULL.
static struct str etag_value(struct pool *pool, const uint8_t *etag)
{
	return etag != NULL ? str_dup(pool, str_n((const char *)etag, 64)) : STR_NONE;
}

// fields, selectable: for the verb "updated"; p NULL for other verbs.
static struct db_call of_resource(struct registry *registry, const char *verb, const struct resource *resource,
	const uint8_t *etag_before, const uint8_t *etag_after, struct str fields, struct str selectable)
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
		.etag_before = etag_value(pool, etag_before),
		.etag_after = etag_value(pool, etag_after),
		.fields = fields,
		.moves = resource->moves,
		.selectable_before = selectable,
	};

	return sql_change_insert_call(pool, resource->id != 0 ? SQL_CHANGE_OF_KNOWN : SQL_CHANGE_OF_INSERTED, &in);
}

struct db_call change_of_resource(struct registry *registry, const char *verb, const struct resource *resource,
	const uint8_t *etag_before, const uint8_t *etag_after)
{
	return of_resource(registry, verb, resource, etag_before, etag_after, STR_NONE, STR_NONE);
}

// A column of an update that has nothing to record is ''. NULL would mean that nothing was computed: older versions left it
// out.
static struct str told(struct str text)
{
	return text.p != NULL ? text : STR("");
}

struct db_call change_of_fields(struct registry *registry, const struct resource *before, const struct resource *after,
	struct str fields)
{
	return of_resource(registry, "updated", after, before->stored_etag, after->stored_etag, told(fields),
		told(selectable_before_resource(registry->pool, before, after)));
}

struct db_call change_of_update(struct registry *registry, const struct resource *before, const struct resource *after)
{
	return change_of_fields(registry, before, after, changed_fields_of_resource(registry->pool, before, after));
}

struct db_call change_in_field(struct registry *registry, const struct resource *before, const struct resource *after,
	const char *field)
{
	return change_of_fields(registry, before, after, str_printf(registry->pool, "[\"%s\"]", field));
}

static struct db_call of_tenant(struct registry *registry, const char *verb, const struct tenant *tenant,
	const uint8_t *etag_before, const uint8_t *etag_after, struct str fields, struct str selectable)
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
		.etag_before = etag_value(pool, etag_before),
		.etag_after = etag_value(pool, etag_after),
		.fields = fields,
		.selectable_before = selectable,
	};

	return sql_change_insert_call(pool, SQL_CHANGE_OF_KNOWN, &in);
}

struct db_call change_of_tenant(struct registry *registry, const char *verb, const struct tenant *tenant,
	const uint8_t *etag_before, const uint8_t *etag_after)
{
	return of_tenant(registry, verb, tenant, etag_before, etag_after, STR_NONE, STR_NONE);
}

struct db_call change_of_tenant_update(struct registry *registry, const struct tenant *before, const struct tenant *after)
{
	return of_tenant(registry, "updated", after, before->etag, after->etag,
		told(changed_fields_of_tenant(registry->pool, before, after)),
		told(selectable_before_tenant(registry->pool, before, after)));
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

	return sql_change_insert_deleted_call(registry->pool, kind, &in);
}

struct db_call changes_of_deleted_piece(struct registry *registry, struct str resource_ids)
{
	const struct sql_change_insert_deleted_piece in = {
		.request_id = uuid_bytes(&registry->request_id),
		.now = registry->stamp_us,
		.actor = registry->actor,
		.ids = resource_ids,
	};

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

	return sql_change_insert_purged_call(registry->pool, &in);
}

// SPDX-License-Identifier: Apache-2.0
#include "base/base.h"

#include "registry/change.h"

#include "base/pool.h"
#include "registry/fields.h"
#include "registry/internal.h"
#include "registry/selectable.h"

static const struct db_query q_change = {
	"INSERT INTO changes (request_id, at, actor, verb, tenant_id, resource_id, uid, type_id, namespace, name, revision, "
	"etag_before, etag_after, fields, moves, selectable_before) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
	"btssuubussubbsus", ""
};

// The same for a resource that the batch's first statement has just inserted.
static const struct db_query q_change_inserted = {
	"INSERT INTO changes (request_id, at, actor, verb, tenant_id, resource_id, uid, type_id, namespace, name, revision, "
	"etag_before, etag_after) VALUES (?, ?, ?, ?, ?, COALESCE(?, LAST_INSERT_ID()), ?, ?, ?, ?, ?, ?, ?)",
	"btssuubussubb", ""
};

static struct db_value etag_value(struct pool *pool, const uint8_t *etag)
{
	return etag != NULL ? db_b(str_dup(pool, str_n((const char *)etag, 64))) : db_null('b');
}

// fields, selectable: of an update; NULL values for other verbs.
static struct db_call of_resource(struct registry *registry, const char *verb, const struct resource *resource,
	const uint8_t *etag_before, const uint8_t *etag_after, struct db_value fields, struct db_value selectable)
{
	struct pool *pool = registry->pool;
	struct uuid *uid = POOL_NEW(pool, struct uuid);

	*uid = resource->uid;
	return (struct db_call){
		.query = resource->id != 0 ? &q_change : &q_change_inserted,
		.in = CALL_VALUES(pool, db_uuid(&registry->request_id), db_t(registry->stamp_us), db_s(registry->actor),
			db_s(str_c(verb)), db_u(resource->tenant_id),
			resource->id != 0 ? db_u(resource->id) : db_null('u'), db_uuid(uid),
			db_u(resource->type->id), db_s(resource->space), db_s(resource->name), db_u(resource->revision),
			etag_value(pool, etag_before), etag_value(pool, etag_after), fields, db_u(resource->moves),
			selectable),
	};
}

struct db_call change_of_resource(struct registry *registry, const char *verb, const struct resource *resource,
	const uint8_t *etag_before, const uint8_t *etag_after)
{
	return of_resource(registry, verb, resource, etag_before, etag_after, db_null('s'), db_null('s'));
}

struct db_call update_of_fields(struct registry *registry, const struct resource *before, const struct resource *after,
	struct str fields)
{
	return of_resource(registry, "updated", after, before->stored_etag, after->stored_etag, db_s(fields),
		db_s(selectable_before_resource(registry->pool, before, after)));
}

struct db_call update_of_resource(struct registry *registry, const struct resource *before, const struct resource *after)
{
	return update_of_fields(registry, before, after, fields_of_resource(registry->pool, before, after));
}

struct db_call update_in_field(struct registry *registry, const struct resource *before, const struct resource *after,
	const char *field)
{
	return update_of_fields(registry, before, after, str_printf(registry->pool, "[\"%s\"]", field));
}

static struct db_call of_tenant(struct registry *registry, const char *verb, const struct tenant *tenant,
	const uint8_t *etag_before, const uint8_t *etag_after, struct db_value fields, struct db_value selectable)
{
	struct pool *pool = registry->pool;
	struct uuid *uid = POOL_NEW(pool, struct uuid);

	*uid = tenant->uid;
	return (struct db_call){
		.query = &q_change,
		.in = CALL_VALUES(pool, db_uuid(&registry->request_id), db_t(registry->stamp_us), db_s(registry->actor),
			db_s(str_c(verb)), db_u(tenant->id), db_null('u'), db_uuid(uid), db_null('u'), db_null('s'),
			db_null('s'), db_u(tenant->revision), etag_value(pool, etag_before), etag_value(pool, etag_after),
			fields, db_u(0), selectable),
	};
}

struct db_call change_of_tenant(struct registry *registry, const char *verb, const struct tenant *tenant,
	const uint8_t *etag_before, const uint8_t *etag_after)
{
	return of_tenant(registry, verb, tenant, etag_before, etag_after, db_null('s'), db_null('s'));
}

struct db_call update_of_tenant(struct registry *registry, const struct tenant *before, const struct tenant *after)
{
	return of_tenant(registry, "updated", after, before->etag, after->etag,
		db_s(fields_of_tenant(registry->pool, before, after)),
		db_s(selectable_before_tenant(registry->pool, before, after)));
}

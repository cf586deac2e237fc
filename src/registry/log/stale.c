// SPDX-License-Identifier: Apache-2.0
// Explains a failed precondition: who changed the resource last, and which fields have changed since the caller read it.
#include "base/base.h"

#include "base/buf.h"
#include "base/clock.h"
#include "base/digest.h"
#include "base/pool.h"
#include "registry/core/failure.h"
#include "registry/log/changed_fields.h"
#include "registry/log/stale.h"
#include "registry/tags/etag.h"
#include "registry/type/rules.h"
#include "sql/stale.h"

// TAGS_MAX: how many etags of If-Match are looked for. SETS_MAX: how many changes' sets of fields are combined. OWNED_MAX:
// among how many last changes a client's etag is looked for if it is derived and so is not in the log.
enum { TAGS_MAX = 4, SETS_MAX = 256, OWNED_MAX = 256 };

// What the precondition was about: a tenant or a resource.
struct thing {
	uint64_t resource_id; // 0: the tenant itself
	uint64_t tenant_id;   // the tenant, or the one that has the resource now
	bool is_tenant;
	const struct type *owned; // if the document of the resource's type shows the owner: that type; else NULL
};

// The 64 bytes of the caller's etag number i; "" if there is no such etag, or it is no 128 hex digits.
static struct str tag_value(struct pool *pool, struct guard guard, size_t i)
{
	struct buf bytes = buf_new(pool, 64);

	if (i >= guard.n_tags || guard.tags[i].n != 128)
		return STR("");
	for (size_t at = 0; at < 128; at += 2) {
		int high = str_hex_digit(guard.tags[i].p[at]), low = str_hex_digit(guard.tags[i].p[at + 1]);
		if (high < 0 || low < 0)
			return STR("");
		buf_addc(&bytes, (char)(high << 4 | low));
	}
	return buf_str(&bytes);
}

static enum sql_stale_thing kind_of(const struct thing *thing)
{
	return thing->is_tenant ? SQL_STALE_THING_TENANT : SQL_STALE_THING_RESOURCE;
}

// May the caller learn of a change from when the resource was that tenant's? A resource that was moved has changes from before,
// which only operators see: the name of who made them is another tenant's.
static bool is_visible(const struct registry *registry, const struct thing *thing, uint64_t tenant_id)
{
	return registry->privileged || tenant_id == thing->tenant_id;
}

// Lists the fields that changed after the change since. moved: the resource also moved to another tenant, which documents show
// in the field /metadata/tenant.
static enum outcome tell_fields(struct registry *registry, const struct thing *thing, uint64_t since, bool moved)
{
	struct changed_fields *fields = POOL_NEW(registry->pool, struct changed_fields);
	struct db_rows rows;
	const struct sql_stale_fields in = {
		.resource_id = thing->resource_id,
		.tenant_id = thing->tenant_id,
		.since = since,
		.limit = SETS_MAX + 1,
	};
	enum db_result result = sql_stale_fields_run(registry->db, registry->pool, kind_of(thing), &in, &rows);

	if (result != DB_OK)
		return registry_db_failed(result);
	fields->pool = registry->pool;
	fields->full = rows.n > SETS_MAX;
	for (size_t i = 0; i < rows.n; i++) {
		const struct sql_stale_fields_row *row = sql_stale_fields_row(&rows, i);

		// An older version wrote rows without fields, and those of another tenant are not shown. To list only the others
		// would mislead.
		if (row->fields.p == NULL || !is_visible(registry, thing, row->tenant_id))
			return OUTCOME_STALE;
		changed_fields_add_stored(fields, row->fields);
	}
	if (moved)
		changed_fields_add(fields, STR("/metadata/tenant"));
	changed_fields_finish(fields);
	registry->problem->fields = fields->at;
	registry->problem->n_fields = fields->n;
	return OUTCOME_STALE;
}

// Looks through the last changes, newest first, for the one that made the version that the client has. *since: its id; 0: not
// found. *moved: there was a move after it.
static void find_owned(struct registry *registry, const struct thing *thing, struct guard guard,
	const struct db_rows *rows, uint64_t *since, bool *moved)
{
	struct str tags[TAGS_MAX];
	uint8_t etag[DIGEST_SHA512];

	*since = 0;
	*moved = false;
	for (size_t i = 0; i < TAGS_MAX; i++)
		tags[i] = tag_value(registry->pool, guard, i);
	for (size_t i = 0; i < rows->n; i++) {
		const struct sql_stale_tags_owned_row *row = sql_stale_tags_owned_row(rows, i);

		etag_of_owned(registry, thing->owned, row->tenant_id, row->moves, (const uint8_t *)row->etag.p, etag);
		for (size_t k = 0; k < TAGS_MAX; k++)
			if (str_eq(tags[k], str_n((const char *)etag, sizeof(etag))))
				*since = row->id;
		if (*since != 0)
			return;
		*moved = *moved || str_eq(row->verb, STR("moved"));
	}
}

static struct db_call last_call(struct pool *pool, const struct thing *thing)
{
	const struct sql_stale_last in = { .resource_id = thing->resource_id, .tenant_id = thing->tenant_id };

	return sql_stale_last_call(pool, kind_of(thing),
		thing->owned != NULL ? SQL_STALE_VERBS_OWNED : SQL_STALE_VERBS_CONTENT, &in);
}

static struct db_call known_call(struct pool *pool, const struct thing *thing, struct guard guard)
{
	const struct sql_stale_tags_owned owned = { .resource_id = thing->resource_id, .limit = OWNED_MAX };
	const struct sql_stale_known in = {
		.resource_id = thing->resource_id,
		.tenant_id = thing->tenant_id,
		.tag0 = tag_value(pool, guard, 0),
		.tag1 = tag_value(pool, guard, 1),
		.tag2 = tag_value(pool, guard, 2),
		.tag3 = tag_value(pool, guard, 3),
	};

	static_assert(TAGS_MAX == 4, "as many as the statement takes");
	return thing->owned != NULL ? sql_stale_tags_owned_call(pool, &owned) : sql_stale_known_call(pool, kind_of(thing), &in);
}

static enum outcome explain(struct registry *registry, const struct thing *thing, struct guard guard)
{
	struct db_call calls[] = { last_call(registry->pool, thing), known_call(registry->pool, thing, guard) };
	enum db_result result = db_run_batch(registry->db, registry->pool, calls, COUNT_OF(calls));
	uint64_t since = 0;
	bool moved = false;

	if (result != DB_OK)
		return registry_db_failed(result);
	const struct sql_stale_last_row *last = calls[0].rows.n > 0 ? sql_stale_last_row(&calls[0].rows, 0) : NULL;
	if (last != NULL && is_visible(registry, thing, last->tenant_id)) {
		struct buf at = buf_new(registry->pool, 32);
		clock_add_rfc3339(&at, last->at);
		registry_fail_member(registry, "changed_by", last->actor);
		registry_fail_member(registry, "changed_at", buf_str(&at));
	}
	if (thing->owned != NULL)
		find_owned(registry, thing, guard, &calls[1].rows, &since, &moved);
	else if (calls[1].rows.n > 0)
		since = sql_stale_known_row(&calls[1].rows, 0)->id;
	return since != 0 ? tell_fields(registry, thing, since, moved) : OUTCOME_STALE;
}

static enum outcome check(struct registry *registry, const struct thing *thing, struct guard guard, const uint8_t *etag, struct uuid uid,
	uint64_t changed)
{
	enum outcome outcome = guard_check(guard, etag);

	if (outcome == OUTCOME_STALE)
		return explain(registry, thing, guard);
	return outcome == OUTCOME_OK && guard.check_version != NULL ? guard.check_version(guard.version_arg, uid, changed) : outcome;
}

enum outcome resource_check(struct registry *registry, const struct resource *resource, struct guard guard)
{
	const struct type_rules *rules = resource->type->rules;
	const struct thing thing = {
		.resource_id = resource->id, .tenant_id = resource->tenant_id, .owned = rules != NULL && rules->shows_owner ? resource->type : NULL
	};
	assert(resource->id != 0);
	// Without a precondition on the etag it is not asked for: most writers have none, and it may take an HMAC.
	const uint8_t *etag = guard.check != NULL ? etag_shown(registry, resource) : NULL;
	return check(registry, &thing, guard, etag, resource->uid, resource->changed);
}

enum outcome tenant_check(struct registry *registry, const struct tenant *tenant, struct guard guard)
{
	const struct thing thing = { .tenant_id = tenant->id, .is_tenant = true };
	assert(tenant->id != 0);
	return check(registry, &thing, guard, tenant->etag, tenant->uid, tenant->changed);
}

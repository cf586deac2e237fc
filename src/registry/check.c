// SPDX-License-Identifier: Apache-2.0
// Preconditions that fail tell what is new: who changed the thing last, and in which fields since the caller read it.
#include "base/base.h"

#include "base/clock.h"
#include "base/digest.h"
#include "base/pool.h"
#include "registry/etag.h"
#include "registry/fields.h"
#include "registry/internal.h"

// Of several tags in If-Match the first ones are looked for. So many different sets of fields are put together.
// What a client has of an owned resource is looked for among so many of its last changes.
enum { TAGS_MAX = 4, SETS_MAX = 256, OWNED_MAX = 256 };

#define OF_RESOURCE "resource_id = ? AND tenant_id <> ?"
#define OF_TENANT "resource_id IS NULL AND 0 = ? AND tenant_id = ?"
// Statements in two forms: [0] about a resource, [1] about a tenant itself.
#define THING_QUERIES(head, tail, in, out) { { head OF_RESOURCE tail, in, out }, { head OF_TENANT tail, in, out } }

static const struct db_query q_last[2] =
	THING_QUERIES("SELECT actor, at FROM changes WHERE ", " AND verb IN ('created', 'updated') ORDER BY id DESC LIMIT 1",
		"uu", "st");
static const struct db_query q_known[2] =
	THING_QUERIES("SELECT id FROM changes WHERE ", " AND etag_after IN (?, ?, ?, ?) ORDER BY id DESC LIMIT 1", "uubbbb",
		"u");
static const struct db_query q_fields[2] =
	THING_QUERIES("SELECT fields FROM changes WHERE ", " AND id > ? AND verb = 'updated' GROUP BY fields LIMIT ?", "uuuu",
		"s");

// Where the document shows the owner, moves count as changes, and the tags that clients have are made of several columns.
static const struct db_query q_last_owned = {
	"SELECT actor, at FROM changes WHERE resource_id = ? AND verb IN ('created', 'updated', 'moved') ORDER BY id DESC LIMIT 1",
	"u", "st"
};
static const struct db_query q_tags_owned = {
	"SELECT id, verb, tenant_id, moves, etag_after FROM changes WHERE resource_id = ? AND etag_after IS NOT NULL "
	"ORDER BY id DESC LIMIT ?",
	"uu", "usuub"
};

// What a precondition was about; the id that does not count is 0.
struct thing {
	uint64_t resource_id, tenant_id;
	bool is_tenant;
	const struct type *owned; // the type of a resource whose document shows its owner; else NULL
};

static struct db_value tag_value(struct pool *pool, struct guard guard, size_t i)
{
	struct buf bytes = buf_new(pool, 64);

	if (i >= guard.n_tags || guard.tags[i].n != 128)
		return db_b(STR(""));
	for (size_t at = 0; at < 128; at += 2) {
		int high = str_hex_digit(guard.tags[i].p[at]), low = str_hex_digit(guard.tags[i].p[at + 1]);
		if (high < 0 || low < 0)
			return db_b(STR(""));
		buf_addc(&bytes, (char)(high << 4 | low));
	}
	return db_b(buf_str(&bytes));
}

// moved: it was given to another tenant since, which shows in the documents as this field.
static enum outcome tell_fields(struct registry *registry, const struct thing *thing, uint64_t since, bool moved)
{
	struct fields *fields = POOL_NEW(registry->pool, struct fields);
	struct db_rows rows;
	enum db_result result = db_run(registry->db, registry->pool, &q_fields[thing->is_tenant ? 1 : 0],
		DB_IN(db_u(thing->resource_id), db_u(thing->tenant_id), db_u(since), db_u(SETS_MAX + 1)), &rows);

	if (result != DB_OK)
		return registry_db_failed(result);
	fields->pool = registry->pool;
	fields->full = rows.n > SETS_MAX;
	for (size_t i = 0; i < rows.n; i++) {
		if (db_at(&rows, i, 0)->null) // made before the log had fields: all that is known would be half the truth
			return OUTCOME_STALE;
		fields_add_stored(fields, db_at(&rows, i, 0)->s);
	}
	if (moved)
		fields_add(fields, STR("/metadata/tenant"));
	fields_settle(fields);
	registry->problem.fields = fields->at;
	registry->problem.n_fields = fields->n;
	return OUTCOME_STALE;
}

// Among its last changes, the newest first: the one that made what the client has. since: its id; 0: none of them did.
static void find_owned(struct registry *registry, const struct thing *thing, struct guard guard,
	const struct db_rows *rows, uint64_t *since, bool *moved)
{
	struct str tags[TAGS_MAX];
	uint8_t etag[DIGEST_SHA512];

	*since = 0;
	*moved = false;
	for (size_t i = 0; i < TAGS_MAX; i++)
		tags[i] = tag_value(registry->pool, guard, i).s;
	for (size_t i = 0; i < rows->n; i++) {
		const struct db_value *v = db_at(rows, i, 0);
		etag_of_owned(registry, thing->owned, v[2].u, v[3].u, (const uint8_t *)v[4].s.p, etag);
		for (size_t k = 0; k < TAGS_MAX; k++)
			if (str_eq(tags[k], str_n((const char *)etag, sizeof(etag))))
				*since = v[0].u;
		if (*since != 0)
			return;
		*moved = *moved || str_eq(v[1].s, STR("moved"));
	}
}

static struct db_call last_call(const struct thing *thing, const struct db_value ids[2])
{
	if (thing->owned != NULL)
		return (struct db_call){ .query = &q_last_owned, .in = ids };
	return (struct db_call){ .query = &q_last[thing->is_tenant ? 1 : 0], .in = ids };
}

static struct db_call known_call(struct registry *registry, const struct thing *thing, struct guard guard,
	const struct db_value ids[2])
{
	struct pool *pool = registry->pool;

	static_assert(TAGS_MAX == 4, "as many as q_known takes");
	if (thing->owned != NULL)
		return (struct db_call){ .query = &q_tags_owned, .in = CALL_VALUES(pool, ids[0], db_u(OWNED_MAX)) };
	return (struct db_call){
		.query = &q_known[thing->is_tenant ? 1 : 0],
		.in = CALL_VALUES(pool, ids[0], ids[1], tag_value(pool, guard, 0), tag_value(pool, guard, 1),
			tag_value(pool, guard, 2), tag_value(pool, guard, 3)),
	};
}

static enum outcome explain(struct registry *registry, const struct thing *thing, struct guard guard)
{
	const struct db_value ids[] = { db_u(thing->resource_id), db_u(thing->tenant_id) };
	struct db_call calls[] = { last_call(thing, ids), known_call(registry, thing, guard, ids) };
	enum db_result result = db_run_batch(registry->db, registry->pool, calls, COUNT_OF(calls));
	uint64_t since = 0;
	bool moved = false;

	if (result != DB_OK)
		return registry_db_failed(result);
	if (calls[0].rows.n > 0) {
		struct buf at = buf_new(registry->pool, 32);
		clock_add_rfc3339(&at, db_at(&calls[0].rows, 0, 1)->i);
		registry_fail_member(registry, "changed_by", db_at(&calls[0].rows, 0, 0)->s);
		registry_fail_member(registry, "changed_at", buf_str(&at));
	}
	if (thing->owned != NULL)
		find_owned(registry, thing, guard, &calls[1].rows, &since, &moved);
	else if (calls[1].rows.n > 0)
		since = db_at(&calls[1].rows, 0, 0)->u;
	return since != 0 ? tell_fields(registry, thing, since, moved) : OUTCOME_STALE;
}

enum outcome resource_check(struct registry *registry, const struct resource *resource, struct guard guard)
{
	const struct type_rules *rules = resource->type->rules;
	const struct thing thing = {
		.resource_id = resource->id, .owned = rules != NULL && rules->shows_owner ? resource->type : NULL
	};
	enum outcome outcome = guard_check(guard, resource->etag);

	return outcome == OUTCOME_STALE ? explain(registry, &thing, guard) : outcome;
}

enum outcome tenant_check(struct registry *registry, const struct tenant *tenant, struct guard guard)
{
	const struct thing thing = { .tenant_id = tenant->id, .is_tenant = true };
	enum outcome outcome = guard_check(guard, tenant->etag);

	return outcome == OUTCOME_STALE ? explain(registry, &thing, guard) : outcome;
}

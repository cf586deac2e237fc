// SPDX-License-Identifier: Apache-2.0
// Ids of changes are given before their transactions commit, so a reader could see 7 and, later, 6. Who writes a change
// row of a tenant holds that tenant's row; once we hold it alone, all ids given there are visible or void.
#include "base/base.h"

#include "registry/tenant/change_list.h"

#include "base/digest.h"
#include "base/pool.h"
#include "registry/core/internal.h"
#include "registry/tags/etag.h"
#include "sql/resources.h"

static const struct db_query q_changes = {
	"SELECT c.id, c.at, c.actor, c.request_id, c.verb, c.type_id, c.namespace, c.name, c.uid, c.revision, c.etag_before, "
	"c.etag_after, c.fields, c.tenant_id, c.from_tenant_id, c.moves FROM changes c WHERE c.tenant_id = ? AND c.id > ? ORDER BY c.id LIMIT ?",
	"uuu", "utsbsussbubbsuuu"
};

static struct str text_or_none(const struct db_value *value)
{
	return value->null ? STR_NONE : value->s;
}

// The etag that clients saw, of one in the log.
static struct str told_etag(struct registry *registry, const struct type *type, uint64_t tenant_id, uint64_t moves,
	const struct db_value *stored)
{
	if (stored->null || stored->s.n != DIGEST_SHA512)
		return STR_NONE;
	uint8_t *etag = pool_alloc(registry->pool, DIGEST_SHA512);
	etag_of_owned(registry, type, tenant_id, moves, (const uint8_t *)stored->s.p, etag);
	return str_n((const char *)etag, DIGEST_SHA512);
}

static void from_row(struct registry *registry, struct change *change, const struct db_rows *rows, size_t row)
{
	const struct db_value *v = db_at(rows, row, 0);

	*change = (struct change){
		.id = v[0].u,
		.at_us = v[1].i,
		.actor = v[2].s,
		.verb = v[4].s,
		.type = v[5].null ? NULL : type_by_id(registry, v[5].u),
		.space = text_or_none(&v[6]),
		.name = text_or_none(&v[7]),
		.revision = v[9].u,
		.fields = text_or_none(&v[12]),
	};
	uuid_from_bytes(v[3].s, &change->request_id);
	uuid_from_bytes(v[8].s, &change->uid);
	// A change that is a move is the one that the count was raised by; in a log that is older than the count it is 0.
	bool moved = !v[14].null;
	uint64_t moves = v[15].u, moves_before = moved && moves > 0 ? moves - 1 : moves;
	change->etag_before = told_etag(registry, change->type, moved ? v[14].u : v[13].u, moves_before, &v[10]);
	change->etag_after = told_etag(registry, change->type, v[13].u, moves, &v[11]);
}

enum outcome change_list(struct registry *registry, struct str tenant, uint64_t after, uint64_t limit,
	struct change **list, size_t *n, bool *more)
{
	struct held_tenant held;
	struct db_rows rows;
	const struct sql_resource_lock_tenant lock = { .tenant = tenant };
	struct db_call hold =
		sql_resource_lock_tenant_call(registry->pool, SQL_TENANT_LOCK_EXCLUSIVE, lock_wait(registry), &lock);
	enum outcome outcome = take_locks(registry, &tenant, 1, &hold, 1);

	if (outcome == OUTCOME_OK)
		outcome = held_tenant(registry, tenant, &hold, &held);
	if (outcome != OUTCOME_OK)
		return outcome;
	enum db_result result = db_run(registry->db, registry->pool, &q_changes,
		DB_IN(db_u(held.id), db_u(after), db_u(limit + 1)), &rows);
	if (result != DB_OK)
		return registry_db_failed(result);
	*more = rows.n > limit;
	*n = *more ? (size_t)limit : rows.n;
	*list = POOL_ARRAY(registry->pool, struct change, *n);
	for (size_t i = 0; i < *n; i++)
		from_row(registry, &(*list)[i], &rows, i);
	return OUTCOME_OK;
}

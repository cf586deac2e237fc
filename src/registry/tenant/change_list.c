// SPDX-License-Identifier: Apache-2.0
// Reads the change log of one tenant. Ids of changes are given before their transactions commit, so a reader could see 7 first
// and 6 later. But a writer of a change row holds the lock of the tenant's row. Once this reader has locked it exclusively,
// each id that was given in the tenant has a committed row or is void.
#include "base/base.h"

#include "registry/tenant/change_list.h"

#include "base/digest.h"
#include "base/pool.h"
#include "registry/resource/internal.h"
#include "registry/tags/etag.h"
#include "registry/type/type.h"
#include "sql/resources.h"
#include "sql/tenant_changes.h"

// The etag that clients saw, derived from a stored one, which may be NULL.
static struct str told_etag(struct registry *registry, const struct type *type, uint64_t tenant_id, uint64_t moves,
	struct str stored)
{
	if (stored.p == NULL || stored.n != DIGEST_SHA512)
		return STR_NONE;
	uint8_t *etag = pool_alloc(registry->pool, DIGEST_SHA512);
	etag_of_owned(registry, type, tenant_id, moves, (const uint8_t *)stored.p, etag);
	return str_n((const char *)etag, DIGEST_SHA512);
}

static struct change change_of_row(struct registry *registry, const struct sql_change_list_row *row)
{
	struct change change = {
		.id = row->id,
		.at_us = row->at,
		.actor = row->actor,
		.verb = row->verb,
		.type = row->type_id_is_null ? NULL : type_by_id(registry, row->type_id),
		.space = row->namespace,
		.name = row->name,
		.revision = row->revision,
		.fields = row->fields,
	};

	uuid_from_bytes(row->request_id, &change.request_id);
	uuid_from_bytes(row->uid, &change.uid);
	// The move itself raises the count of moves, so the etag before it has one less. Rows of older versions have 0.
	bool moved = !row->from_tenant_id_is_null;
	uint64_t tenant_before = moved ? row->from_tenant_id : row->tenant_id;
	uint64_t moves_before = moved && row->moves > 0 ? row->moves - 1 : row->moves;
	change.etag_before = told_etag(registry, change.type, tenant_before, moves_before, row->etag_before);
	change.etag_after = told_etag(registry, change.type, row->tenant_id, row->moves, row->etag_after);
	return change;
}

enum outcome change_list(struct registry *registry, struct str tenant, uint64_t after, uint64_t limit,
	struct change **list, size_t *n, bool *more)
{
	struct locked_tenant owner;
	struct db_rows rows;
	const struct sql_resource_lock_tenant lock = { .tenant = tenant };
	struct db_call hold =
		sql_resource_lock_tenant_call(registry->pool, SQL_TENANT_LOCK_EXCLUSIVE, lock_wait(registry), &lock);
	enum outcome outcome = registry_take_locks(registry, &tenant, 1, &hold, 1);

	if (outcome == OUTCOME_OK)
		outcome = locked_tenant_of(registry, tenant, &hold, &owner);
	if (outcome != OUTCOME_OK)
		return outcome;
	const struct sql_change_list in = { .tenant_id = owner.id, .after = after, .limit = limit + 1 };
	enum db_result result = sql_change_list_run(registry->db, registry->pool, &in, &rows);
	if (result != DB_OK)
		return registry_db_failed(result);
	*more = rows.n > limit;
	*n = *more ? (size_t)limit : rows.n;
	*list = POOL_ARRAY(registry->pool, struct change, *n);
	for (size_t i = 0; i < *n; i++)
		(*list)[i] = change_of_row(registry, sql_change_list_row(&rows, i));
	return OUTCOME_OK;
}

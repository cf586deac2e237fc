// SPDX-License-Identifier: Apache-2.0
// The status of a move: progress and outcome of one in the background, and the list of a tenant's.
#include "base/base.h"

#include "base/pool.h"
#include "registry/core/failure.h"
#include "registry/move/internal.h"
#include "registry/resource/resource.h"
#include "registry/tenant/tenant.h"
#include "registry/type/stored_type.h"

static const char condition_prefix[] = "undo:";

struct str move_undo_condition(struct pool *pool, const struct uuid *request)
{
	return str_printf(pool, "%s%.*s", condition_prefix, UUID_ARG(pool, *request));
}

bool move_undoes(struct str if_match, struct uuid *request)
{
	struct str prefix = str_c(condition_prefix);

	return str_starts(if_match, prefix) && uuid_parse(str_part(if_match, prefix.n, if_match.n), request);
}

static enum move_state state_of(struct str state, bool has_progress)
{
	if (str_eq(state, STR("done")))
		return MOVE_DONE;
	if (str_eq(state, STR("failed")))
		return MOVE_FAILED;
	return has_progress ? MOVE_RUNNING : MOVE_QUEUED;
}

static struct move_status status_of_columns(struct registry *registry, const struct sql_move_columns *columns)
{
	struct move_status status = {
		.number = columns->id,
		.state = state_of(columns->state, !columns->moved_is_null),
		.source = columns->source,
		.dest = columns->dest,
		.actor = columns->actor,
		.total = columns->resources,
		.moved = columns->moved,
		.outcome = columns->outcome,
		.detail = columns->detail,
		.created_us = columns->created_at,
		.finished_us = columns->finished_at,
		.type = columns->type_id_is_null ? NULL : type_of_resource(registry, 0, columns->type_id),
	};

	uuid_from_bytes(columns->uid, &status.uid);
	status.is_undo = move_undoes(columns->if_match, &status.undone);
	status.is_there = columns->is_there != 0;
	status.dest_is_there = columns->dest_is_there != 0;
	if (status.state == MOVE_DONE)
		status.moved = status.total;
	if (status.state == MOVE_FAILED)
		status.moved = 0; // whatever its progress was, it was rolled back
	if (status.type != NULL) {
		status.dest_space = columns->namespace;
		status.dest_name = columns->name;
		status.resource = resource_path(registry->pool, status.type, columns->namespace, columns->name);
	}
	return status;
}

enum outcome move_get(struct registry *registry, struct str source, struct uuid uid, struct move_status *status)
{
	struct db_rows rows;
	const struct sql_move_status in = { .uid = uuid_bytes(&uid), .source = source };
	enum db_result result = sql_move_status_run(registry->db, registry->pool, &in, &rows);

	if (result != DB_OK)
		return registry_db_failed(result);
	if (rows.n == 0)
		return registry_fail(registry, OUTCOME_NOT_FOUND, "there is no such move of tenant \"%.*s\"", STR_ARG(source));
	*status = status_of_columns(registry, &sql_move_status_row(&rows, 0)->m);
	return OUTCOME_OK;
}

enum outcome move_list(struct registry *registry, struct str tenant, uint64_t below, uint64_t limit, struct move_page *page)
{
	struct tenant owner;
	struct db_rows rows;

	assert(limit > 0);
	enum outcome outcome = tenant_get(registry, tenant, &owner);
	if (outcome != OUTCOME_OK)
		return outcome;
	const struct sql_move_list in = { .tenant_id = owner.id, .below = below, .limit = limit + 1 };
	enum db_result result = sql_move_list_run(registry->db, registry->pool, &in, &rows);
	if (result != DB_OK)
		return registry_db_failed(result);
	page->more = rows.n > limit;
	page->n = page->more ? (size_t)limit : rows.n;
	page->list = POOL_ARRAY(registry->pool, struct move_status, page->n);
	for (size_t i = 0; i < page->n; i++)
		page->list[i] = status_of_columns(registry, &sql_move_list_row(&rows, i)->m);
	return OUTCOME_OK;
}

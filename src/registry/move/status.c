// SPDX-License-Identifier: Apache-2.0
// The status of a move: progress and outcome of one in the background.
#include "base/base.h"

#include "registry/core/failure.h"
#include "registry/move/internal.h"
#include "registry/resource/resource.h"
#include "registry/type/stored_type.h"

static enum move_state state_of(struct str state, bool has_progress)
{
	if (str_eq(state, STR("done")))
		return MOVE_DONE;
	if (str_eq(state, STR("failed")))
		return MOVE_FAILED;
	return has_progress ? MOVE_RUNNING : MOVE_QUEUED;
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
	const struct sql_move_status_row *row = sql_move_status_row(&rows, 0);

	*status = (struct move_status){
		.uid = uid,
		.state = state_of(row->state, !row->moved_is_null),
		.source = row->source,
		.dest = row->dest,
		.total = row->resources,
		.moved = row->moved,
		.outcome = row->outcome,
		.detail = row->detail,
		.created_us = row->created_at,
		.finished_us = row->finished_at,
		.type = row->type_id_is_null ? NULL : type_of_resource(registry, 0, row->type_id),
	};
	if (status->state == MOVE_DONE)
		status->moved = status->total;
	if (status->type != NULL) {
		status->dest_space = row->namespace;
		status->dest_name = row->name;
		status->resource = resource_path(registry->pool, status->type, row->namespace, row->name);
	}
	return OUTCOME_OK;
}

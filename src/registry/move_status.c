// SPDX-License-Identifier: Apache-2.0
// How a move stands: progress and outcome of those carried out in the background.
#include "base/base.h"

#include "registry/move_internal.h"

static const struct db_query q_status = {
	"SELECT m.state, s.name, d.name, m.resources, p.moved, m.outcome, m.detail, m.created_at, m.finished_at, r.type_id, "
	"r.namespace, r.name FROM moves m JOIN tenants s ON s.id = m.source_id JOIN tenants d ON d.id = m.dest_id "
	"LEFT JOIN move_progress p ON p.move_id = m.id LEFT JOIN resources r ON r.id = m.resource_id "
	"WHERE m.uid = ? AND s.name = ? AND s.live = 1",
	"bs", "sssuussttuss"
};

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
	enum db_result result =
		db_run(registry->db, registry->pool, &q_status, DB_IN(db_uuid(&uid), db_s(source)), &rows);

	if (result != DB_OK)
		return registry_db_failed(result);
	if (rows.n == 0)
		return registry_fail(registry, OUTCOME_NOT_FOUND, "there is no such move of tenant \"%.*s\"", STR_ARG(source));
	const struct db_value *v = db_at(&rows, 0, 0);
	*status = (struct move_status){
		.uid = uid,
		.state = state_of(v[0].s, !v[4].null),
		.source = v[1].s,
		.dest = v[2].s,
		.total = v[3].u,
		.moved = v[4].null ? 0 : v[4].u,
		.outcome = v[5].s,
		.detail = v[6].s,
		.created_us = v[7].i,
		.finished_us = v[8].null ? 0 : v[8].i,
		.type = v[9].null ? NULL : type_by_id(registry, v[9].u),
	};
	if (status->state == MOVE_DONE)
		status->moved = status->total;
	if (status->type != NULL) {
		status->dest_space = v[10].s;
		status->dest_name = v[11].s;
		status->resource = resource_path(registry->pool, status->type, v[10].s, v[11].s);
	}
	return OUTCOME_OK;
}

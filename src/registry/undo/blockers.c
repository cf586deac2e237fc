// SPDX-License-Identifier: Apache-2.0
// Notes the reasons why a request cannot be taken back.
#include "base/base.h"

#include "registry/undo/internal.h"

#include "base/pool.h"
#include "registry/resource/resource.h"
#include "registry/type/stored_type.h"

void undo_block(struct undo *undo, struct str subject, const char *reason, struct str detail)
{
	struct undo_plan *plan = undo->plan;

	if (plan->blockers == NULL)
		plan->blockers = POOL_ARRAY(undo->registry->pool, struct move_blocker, MOVE_MAX_BLOCKERS);
	if (plan->n_blockers < MOVE_MAX_BLOCKERS)
		plan->blockers[plan->n_blockers++] = (struct move_blocker){ .resource = subject, .reason = reason, .detail = detail };
}

void undo_block_waiting(struct undo *undo, struct str subject)
{
	undo_block(undo, subject, "deletion-requested",
		STR("its deletion was requested, and goes on or waits for finalizers: wait, or take these out, then recover it"));
}

enum outcome undo_block_by(struct undo *undo, struct str subject, enum outcome outcome)
{
	if (outcome == OUTCOME_UNAVAILABLE || outcome == OUTCOME_INTERNAL)
		return outcome;
	if (outcome == OUTCOME_ACCEPTED) {
		undo_block(undo, subject, "waits",
			STR("its deletion would wait for finalizers, or go on in the background: delete it by itself"));
		return OUTCOME_OK;
	}
	undo_block(undo, subject, outcome_name(outcome), undo->registry->problem->detail);
	*undo->registry->problem = (struct problem){ .n_members = 0 };
	return OUTCOME_OK;
}

struct str undo_path(const struct undo *undo, const struct sql_undo_rows_row *row)
{
	if (row->resource_id_is_null)
		return STR("");
	return resource_path(undo->registry->pool, type_of_resource(undo->registry, 0, row->type_id), row->namespace, row->name);
}

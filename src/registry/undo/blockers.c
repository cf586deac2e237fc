// SPDX-License-Identifier: Apache-2.0
// Notes the reasons why a request cannot be taken back.
#include "base/base.h"

#include "registry/undo/internal.h"

#include "base/buf.h"
#include "base/clock.h"
#include "base/pool.h"
#include "registry/core/failure.h"
#include "registry/resource/resource.h"
#include "registry/type/stored_type.h"

void undo_block(struct undo *undo, struct str subject, const char *reason, struct str detail)
{
	struct undo_plan *plan = undo->plan;

	if (plan->blockers == NULL)
		plan->blockers = POOL_ARRAY(undo->registry->pool, struct move_blocker, MOVE_MAX_BLOCKERS);
	if (plan->n_blockers == MOVE_MAX_BLOCKERS)
		plan->more_blockers = true;
	else
		plan->blockers[plan->n_blockers++] = (struct move_blocker){ .resource = subject, .reason = reason, .detail = detail };
}

bool undo_is_purged(const struct undo *undo, const struct sql_undo_rows_row *row)
{
	return row->changed_is_null || (row->live_is_null && row->purge_at <= undo->registry->now_us);
}

void undo_block_purged(struct undo *undo, struct str subject)
{
	undo_block(undo, subject, "purged", STR("it was purged, or its purge time has come: it is gone for good"));
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

struct str undo_later_text(struct undo *undo, struct str verb, struct str actor, int64_t at_us)
{
	struct buf at = buf_new(undo->registry->pool, 32);

	clock_add_rfc3339(&at, at_us);
	return str_printf(undo->registry->pool, "it was %.*s by %.*s at %.*s: take that back first", STR_ARG(verb), STR_ARG(actor),
		STR_ARG(at));
}

static void add_counted(struct buf *text, struct str part)
{
	buf_add_u64(text, part.n);
	buf_addc(text, ':');
	buf_add(text, part);
}

void undo_add_blockers(struct buf *text, const struct undo_plan *plan)
{
	for (size_t i = 0; i < plan->n_blockers; i++) {
		add_counted(text, plan->blockers[i].resource);
		add_counted(text, str_c(plan->blockers[i].reason));
		add_counted(text, plan->blockers[i].detail);
	}
	if (plan->more_blockers)
		add_counted(text, STR("more"));
}

struct str undo_blockers_text(struct pool *pool, const struct undo_plan *plan)
{
	return str_printf(pool, "%s%zu %s in the way", plan->more_blockers ? "more than " : "", plan->n_blockers,
		plan->n_blockers == 1 ? "thing stands" : "things stand");
}

enum outcome undo_fail_blocked(struct registry *registry, const struct undo_plan *plan)
{
	struct problem_cause *causes = POOL_ARRAY(registry->pool, struct problem_cause, plan->n_blockers);
	struct str count = undo_blockers_text(registry->pool, plan);

	assert(plan->n_blockers > 0);
	registry_fail(registry, OUTCOME_BLOCKED, "nothing was taken back: %.*s", STR_ARG(count));
	for (size_t i = 0; i < plan->n_blockers; i++)
		causes[i] = (struct problem_cause){
			.reason = plan->blockers[i].reason,
			.subject = plan->blockers[i].resource,
			.message = plan->blockers[i].detail,
		};
	registry->problem->causes = causes;
	registry->problem->n_causes = plan->n_blockers;
	return OUTCOME_BLOCKED;
}

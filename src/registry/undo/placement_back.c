// SPDX-License-Identifier: Apache-2.0
// Takes back writes of allocations and reshapes: all providers together, as the request changed them.
#include "base/base.h"

#include "registry/undo/internal.h"

#include "base/pool.h"
#include "registry/placement/restore.h"

static size_t count_rows(const struct undo *undo, enum beside beside)
{
	size_t n = 0;

	for (size_t i = 0; i < undo->rows.n; i++)
		n += undo_beside(undo, undo_row(undo, i)) == beside ? 1 : 0;
	return n;
}

// Only a reshape changes inventories of several providers, or inventories and allocations.
bool undo_is_of_placement(const struct undo *undo)
{
	return count_rows(undo, BESIDE_ALLOCATIONS) > 0 || count_rows(undo, BESIDE_INVENTORIES) > 1;
}

bool undo_is_reshape(const struct undo *undo)
{
	return undo_is_of_placement(undo) && count_rows(undo, BESIDE_INVENTORIES) > 0;
}

// The provider's path, as undo_path() has it.
static struct str provider_path(const struct undo *undo, const struct uuid *provider)
{
	for (size_t i = 0; i < undo->rows.n; i++)
		if (str_eq(undo_row(undo, i)->uid, uuid_bytes(provider)))
			return undo_path(undo, undo_row(undo, i));
	return STR("");
}

static bool is_noted(const struct undo *undo, struct str subject, struct str detail)
{
	for (size_t i = 0; i < undo->plan->n_blockers; i++)
		if (str_eq(undo->plan->blockers[i].resource, subject) && str_eq(undo->plan->blockers[i].detail, detail))
			return true;
	return false;
}

// A reason about the consumer alone is told of its address in placement. Of each provider, the same is told once, whichever
// consumer it is about.
static void take_refusal(void *arg, const struct uuid *consumer, const struct uuid *provider, enum outcome outcome)
{
	struct undo *undo = arg;
	struct pool *pool = undo->registry->pool;
	struct str detail = undo->registry->problem->detail, subject = STR("");

	if (provider != NULL)
		subject = provider_path(undo, provider);
	else if (consumer != NULL)
		subject = str_printf(pool, "allocations/%.*s", UUID_ARG(pool, *consumer));
	if (is_noted(undo, subject, detail))
		return;
	undo_block(undo, subject, outcome == OUTCOME_STALE ? "changed-since" : outcome_name(outcome), detail);
}

enum outcome undo_placement(struct undo *undo)
{
	struct pool *pool = undo->registry->pool;
	struct replaced *allocations = POOL_ARRAY(pool, struct replaced, undo->rows.n);
	struct replaced *inventories = POOL_ARRAY(pool, struct replaced, undo->rows.n);
	struct placement_restore restore = {
		.allocations = allocations,
		.inventories = inventories,
		.at_us = undo_row(undo, 0)->at,
		.first = undo_row(undo, 0)->id,
		.refuse = take_refusal,
		.arg = undo,
	};
	bool kept = true;

	assert(db_txn_writes(undo->registry->db) && undo_is_of_placement(undo));
	for (size_t i = 0; i < undo->rows.n; i++) {
		const struct sql_undo_rows_row *row = undo_row(undo, i);
		struct replaced replaced = { .text = row->former_body };
		enum beside beside = undo_beside(undo, row);
		uuid_from_bytes(row->uid, &replaced.provider);
		if (row->former_locked_is_null) {
			undo_block(undo, undo_path(undo, row), "not-kept",
				STR("what the request replaced is not kept, or no longer: see content_retention"));
			kept = false;
		} else if (beside == BESIDE_ALLOCATIONS) {
			allocations[restore.n_allocations++] = replaced;
		} else if (beside == BESIDE_INVENTORIES && !row->live_is_null && row->owner_id == row->tenant_id) { // else find_changed() has noted that
			inventories[restore.n_inventories++] = replaced;
		}
	}
	return kept ? placement_restore(undo->registry, &restore) : OUTCOME_OK;
}

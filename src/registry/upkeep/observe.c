// SPDX-License-Identifier: Apache-2.0
#include "base/base.h"

#include "base/clock.h"
#include "registry/upkeep/observe.h"

#include "db/maintenance.h"
#include "registry/core/failure.h"
#include "registry/log/horizon.h"
#include "registry/upkeep/reap.h"
#include "registry/usage/usage_count.h"
#include "sql/moves.h"

enum { ASKS = 50, ASK_PAUSE_MS = 20 }; // how often the horizon is asked for while it waits for other connections' statements

static enum outcome count_moves(struct registry *registry, struct observation *seen)
{
	struct db_rows rows;
	enum db_result result = sql_mover_counts_run(registry->db, registry->pool, &rows);

	if (result != DB_OK)
		return registry_db_failed(result);
	assert(rows.n == 1);
	const struct sql_mover_counts_row *row = sql_mover_counts_row(&rows, 0);
	seen->moves_queued = row->queued;
	seen->moves_running = row->begun;
	seen->oldest_move_us = row->oldest_is_null ? 0 : row->oldest;
	seen->namespaces = row->namespaces;
	return OUTCOME_OK;
}

// Moves the horizon as far as it goes, and publishes it: what is above it then is held up by a transaction in flight. Where
// nobody watches, nothing else moves it, and no page of a list that workers have cached can be trusted above it
// (cache/page_cache.h).
static enum outcome find_horizon(struct registry *registry, struct observation *seen)
{
	uint64_t newest, before;

	for (int i = 0; i < ASKS; i++) {
		before = seen->horizon;
		enum outcome outcome = horizon_advance(registry, &seen->horizon, &newest);
		if (outcome != OUTCOME_OK)
			return outcome;
		seen->above_horizon = seen->horizon >= newest ? 0 : horizon_backlog(registry);
		if (seen->horizon >= newest || (!horizon_is_asking(registry) && seen->horizon == before))
			break;
		clock_pause_ms(ASK_PAUSE_MS);
	}
	return OUTCOME_OK;
}

static enum outcome look_for_maintenance(struct registry *registry, struct observation *seen)
{
	struct db_maintenance maintenance;
	enum db_result result = db_maintenance_read(registry->db, registry->pool, &maintenance);

	seen->maintenance_us = maintenance.on ? maintenance.since_us : 0;
	return result == DB_OK ? OUTCOME_OK : registry_db_failed(result);
}

static enum outcome look_at_usage(struct registry *registry, struct observation *seen)
{
	struct usage_state state;
	enum outcome outcome = usage_state(registry, &state);

	if (outcome != OUTCOME_OK)
		return outcome;
	seen->usage_closed_us = state.closed_until_us;
	seen->usage_due_us = state.next_end_us != 0 && state.next_end_us <= state.now_us ? state.next_end_us : 0;
	return OUTCOME_OK;
}

enum outcome observe(struct registry *registry, struct observation *seen)
{
	assert(!db_txn_writes(registry->db));
	*seen = (struct observation){ 0 };
	enum outcome outcome = count_moves(registry, seen);
	if (outcome == OUTCOME_OK)
		outcome = look_for_maintenance(registry, seen);
	if (outcome == OUTCOME_OK)
		outcome = reap_last(registry, &seen->reaped_at_us);
	if (outcome == OUTCOME_OK)
		outcome = look_at_usage(registry, seen);
	return outcome == OUTCOME_OK ? find_horizon(registry, seen) : outcome;
}

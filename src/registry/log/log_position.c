// SPDX-License-Identifier: Apache-2.0
// Finds what the change log still has for a reader.
#include "base/base.h"

#include "registry/log/log_position.h"

#include "registry/core/failure.h"
#include "sql/change_stream.h"

// The ids between two changes that follow each other are those of transactions that were rolled back. A position among so many of
// them that a transaction could hardly have taken them is that of a change which a restore has lost. Its own change may be the
// last one before the gap.
static bool is_in_gap(const struct sql_stream_bounds_row *row, uint64_t position)
{
	return !row->present && row->next > position && row->next - position > LOG_IDS_A_SECOND;
}

enum outcome log_position_find(struct registry *registry, uint64_t position, struct log_place *place)
{
	const struct sql_stream_bounds in = { .position = position };
	struct db_rows rows;
	enum db_result result = sql_stream_bounds_run(registry->db, registry->pool, &in, &rows);

	if (result != DB_OK)
		return registry_db_failed(result);
	const struct sql_stream_bounds_row *row = sql_stream_bounds_row(&rows, 0);
	*place = (struct log_place){ .oldest = row->oldest, .newest = row->newest };
	if (position > row->newest)
		place->position = LOG_POSITION_AHEAD;
	else if (is_in_gap(row, position))
		place->position = LOG_POSITION_LOST;
	else if (position + 1 < row->oldest)
		place->position = LOG_POSITION_PURGED;
	return OUTCOME_OK;
}

// SPDX-License-Identifier: Apache-2.0
// How long each round trip took, for the log of slow requests.
#include "base/base.h"

#include "base/clock.h"
#include "db/db_internal.h"

void db_set_trace(struct db *db, struct db_trace *trace)
{
	db->trace = trace;
}

int64_t db_trace_begin(const struct db *db)
{
	return db->trace != NULL ? clock_tick_us() : 0;
}

void db_trace_note(struct db *db, const struct db_call *calls, size_t n, const char *name, int64_t begun_us)
{
	struct db_trace *trace = db->trace;

	if (trace == NULL)
		return;
	int64_t us = clock_tick_us() - begun_us;
	size_t at = trace->n++;
	trace->us += us;
	if (at >= DB_TRACE_MAX)
		return;
	trace->trips[at].us = us;
	trace->trips[at].n_names = n;
	for (size_t i = 0; i < n && i < DB_TRACE_NAMES; i++)
		trace->trips[at].names[i] = calls != NULL ? calls[i].query->name : name;
}

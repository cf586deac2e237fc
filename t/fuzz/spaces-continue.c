// SPDX-License-Identifier: Apache-2.0
// max_len: 32768
// metadata.continue as a client sends it back: a version that can be continued and a place, or a reason.
#include "fuzz.h"

#include "base/config/config.h"
#include "registry/log/log_position.h"

static enum outcome place_in_log(uint64_t position, struct log_place *place)
{
	*place = (struct log_place){ .oldest = 100, .newest = 1000 };
	place->position = position > place->newest ? LOG_POSITION_AHEAD : position + 1 < place->oldest ? LOG_POSITION_PURGED : LOG_POSITION_KEPT;
	return OUTCOME_OK;
}
// The log's, which is in the database.
#define log_position_find(registry, position, place) place_in_log(position, place)
#include "api/spaces/object/list.c"

static void fuzz_one(struct pool *pool, struct str input)
{
	static struct call call;
	struct list_query query = { .version = 0 };

	call_clear(&call, pool);
	enum outcome outcome = read_continue(&call, input, &query);
	if (outcome != OUTCOME_OK) {
		MUST(outcome == OUTCOME_BAD_PARAMETER || outcome == OUTCOME_GONE);
		MUST(call.problem.detail.n > 0 && str_utf8_ok(call.problem.detail, NULL));
		return;
	}
	MUST(query.version >= 99 && query.version <= 1000);
	MUST(query.marker.n < input.n);
}

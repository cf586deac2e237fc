// SPDX-License-Identifier: Apache-2.0
// max_len: 32768
// metadata.continue as a client sends it back: a version that can be continued and a place, or a reason.
#include "fuzz.h"

#include "base/config/config.h"
#include "registry/watch/change_stream.h"

static enum outcome bounds(struct registry *registry, uint64_t *oldest, uint64_t *newest)
{
	UNUSED(registry);
	*oldest = 100;
	*newest = 1000;
	return OUTCOME_OK;
}
// The log's, which is in the database.
#define change_stream_bounds(...) bounds(__VA_ARGS__)
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

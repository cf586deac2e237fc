// SPDX-License-Identifier: Apache-2.0
// max_len: 1048576
// The handover of a watch, which a worker writes for the watch process: it is either consistent or refused.
#include "fuzz.h"

#include "api/spaces/watch/internal.h"

static void fuzz_one(struct pool *pool, struct str input)
{
	struct watcher *watcher = watcher_new(input);
	struct streamed_change change = { .id = 5 };

	UNUSED(pool);
	if (watcher == NULL)
		return;
	MUST(input.n >= sizeof(struct watch_handover_head));
	struct str tenant = watcher_tenant(watcher);
	MUST(tenant.n <= input.n);
	(void)watcher_wants_bookmarks(watcher);
	(void)watcher_seconds(watcher);
	watcher_advance(watcher, 7);
	MUST(watcher_position(watcher) >= 7);
	(void)watcher_wants(watcher, &change);
	watcher_free(&watcher);
}

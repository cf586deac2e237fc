// SPDX-License-Identifier: Apache-2.0
// The change log, read: what happened to a tenant and what is in it.
#ifndef TENURE_REGISTRY_FEED_H
#define TENURE_REGISTRY_FEED_H

#include "registry/resource.h"

struct change {
	uint64_t id;
	int64_t at_us;
	struct str actor;
	struct uuid request_id;
	struct str verb;         // created | updated | deleted | recovered | moved | purged
	const struct type *type; // NULL: the tenant itself
	struct str space, name;
	struct uuid uid;
	uint64_t revision;
	struct str etag_before, etag_after; // 64 bytes, or none
	struct str fields; // JSON array of pointers; p NULL: none told
};

// Changes with an id above after, in their order, at most limit. *more: there are others behind. Waits for the writers
// that are at work in the tenant, so that no change with a smaller id comes to light later: only in a transaction that
// writes.
// OUTCOME_OK, _NOT_FOUND, _GONE (the tenant).
enum outcome change_list(struct registry *registry, struct str tenant, uint64_t after, uint64_t limit,
	struct change **list, size_t *n, bool *more);

// The change log's horizon: every change with an id up to it is visible to whoever reads from now on, and none such comes
// to light later. Asked before a list is read, it is from where a reader of that list goes on: nothing is missed. Waits
// for nobody. Not in a transaction: for methods whose transaction mode is "read". OUTCOME_OK.
enum outcome change_horizon(struct registry *registry, uint64_t *horizon);
// The same, and the highest id of a change that is visible by now. Something in flight may be between them.
enum outcome change_reach(struct registry *registry, uint64_t *horizon, uint64_t *newest);
// Has the horizon been held up for longer than transactions take, by a large one or by a gap that has to be looked at?
// Waiting for it would take long.
bool change_is_stuck(const struct registry *registry);
// At the last look this id had been seen for a second or longer, so that what is missing in the log below it is void, or was
// written and is not committed. Above the horizon where something is in flight for long. 0: that is not known.
uint64_t change_settled(const struct registry *registry);
// For a reader of two tenants' changes alone, their ids, who has seen all of these up to after: what others have in flight
// holds nothing up. Up to *horizon all changes of the two are visible, as for change_horizon. At least after and the horizon
// that was told last; beyond that not above change_settled(), and of the two's own no more than some thousand changes at a
// time. OUTCOME_OK.
enum outcome change_horizon_of(struct registry *registry, const uint64_t tenants[2], uint64_t after, uint64_t *horizon);
// As far as the horizon had come ten seconds ago or longer; 0: that is not known. The horizon passes what is missing in the
// log after a second, and a statement that hangs could yet write it. Not below this.
uint64_t change_solid(const struct registry *registry);
// At least so many changes are above that horizon, the last one that was told; a few thousand at most are counted.
size_t change_backlog(const struct registry *registry, uint64_t horizon);
// The highest id of a change that is visible; 0: there is none. It may be above the horizon. Who was told of a change with
// an id above it was told by another server than this one, or by nobody. OUTCOME_OK.
enum outcome change_newest(struct registry *registry, uint64_t *newest);

#endif

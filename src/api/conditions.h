// SPDX-License-Identifier: Apache-2.0
// Preconditions: converts If-Match and If-None-Match to guards of the registry.
#ifndef TENURE_API_CONDITIONS_H
#define TENURE_API_CONDITIONS_H

#include "api/call.h"
#include "registry/move/move.h"

struct conditions {
	struct registry *registry;
	struct response *response; // gets the current ETag if the answer is 412
	bool reads;                // the method reads: a matching If-None-Match gives 304; 412 if it writes
	struct tag_state *state;
};
// Reads both headers. OUTCOME_OK, or OUTCOME_BAD_REQUEST with call->problem set. conditions_guard() refers to *conditions, which
// must live as long as the guard.
enum outcome conditions_read(struct call *call, struct conditions *conditions);
// Reads If-Match only, for an API without If-None-Match.
enum outcome conditions_read_match(struct call *call, struct conditions *conditions);
// For a method on a collection, which exists but has no ETag: "*" in If-Match is fulfilled, and a tag never is. OUTCOME_OK;
// OUTCOME_STALE with call->problem set.
enum outcome conditions_check_collection(struct conditions *conditions);
struct guard conditions_guard(struct conditions *conditions);
// For a POST to a move action or an undo: reads both headers, whose tags are compared as text. *guard refers to *conditions.
enum outcome conditions_move_guard(struct call *call, struct conditions *conditions, struct tag_guard *guard);

// For GET of what a move or an undo would do: sets its header ETag, and compares both headers with that etag, or with those that
// other keys make of the same state. OUTCOME_OK; _NOT_MODIFIED; _STALE with call->problem set.
enum outcome conditions_check_preview(struct call *call, struct conditions *conditions, const char *etag,
	const struct state_tags *others);

// Sets the header ETag: W/"hex".
void conditions_set_etag(struct call *call, const uint8_t etag[64]);
// "W/" and 128 hex digits, the form in bodies.
struct str conditions_etag_text(struct pool *pool, const uint8_t etag[64]);

#endif

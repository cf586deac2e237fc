// SPDX-License-Identifier: Apache-2.0
// Preconditions: If-Match and If-None-Match on one side, the registry's guards on the other.
#ifndef TENURE_API_CONDITIONS_H
#define TENURE_API_CONDITIONS_H

#include "api/call.h"
#include "registry/move/move.h"

struct conditions {
	struct registry *registry;
	struct response *response; // gets the current ETag with a 412
	bool reads;                // If-None-Match that matches is 304 then, and 412 for writes
	struct tag_state *state;
};
// Reads both headers. OUTCOME_OK, or OUTCOME_BAD_REQUEST with call->problem set. The guard refers to *conditions.
enum outcome conditions_read(struct call *call, struct conditions *conditions);
// The same for an API that knows no If-None-Match.
enum outcome conditions_read_match(struct call *call, struct conditions *conditions);
struct guard conditions_guard(struct conditions *conditions);
// For move actions: If-Match alone, compared as text.
enum outcome conditions_move_guard(struct call *call, struct conditions *conditions, struct tag_guard *guard);

// The header: W/"hex".
void set_etag(struct call *call, const uint8_t etag[64]);
// "W/" and 128 hex digits, as bodies have it.
struct str etag_text(struct pool *pool, const uint8_t etag[64]);

#endif

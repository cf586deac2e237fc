// SPDX-License-Identifier: Apache-2.0
// Moves of one resource, or of all of a tenant's, to another tenant: previewed (the move action), conditional on the
// preview, in one transaction. Rules: the blueprints' "Optional Operations".
#ifndef TENURE_REGISTRY_MOVE_MOVE_H
#define TENURE_REGISTRY_MOVE_MOVE_H

#include "registry/core/model.h"

enum { MOVE_TAG_HEX = 40 /* hex digits of tags */, MOVE_MAX_BLOCKERS = 1000 };

struct move_order {
	struct str source, dest;
	const struct address *address; // NULL: all resources of source
	bool background;               // asked for by the client; large moves go there anyway
	int words;                     // 1 accounts, 2 tenants: how its result is to be told
};

struct move_item {
	struct str path; // resource_path
	struct uuid uid;
	char tag[MOVE_TAG_HEX + 1];
};

// How many live resources of each type a tenant has, counted from its rows. In byte order of the types' names; the namespace
// "default" is none of them.
struct type_count {
	struct str type; // as addresses have it
	uint64_t resources;
};
struct type_counts {
	struct type_count *list;
	size_t n;
};

// A reason why a move is refused.
struct move_blocker {
	struct str resource; // "namespaces/default/configmaps/c1"; "" if it concerns the whole move
	const char *reason;  // "name-taken"
	struct str detail;
};

// The move action: the state of everything the move affects.
struct move_action {
	struct tenant source, dest;
	struct type_counts source_counts, dest_counts; // in a preview and under a condition
	struct resource resource; // what moves, when it is one
	uint64_t count;           // resources that move
	uint64_t bytes;           // of their documents
	bool listed;              // each is to be told; else only tag, count and bytes
	struct move_item *items;  // of a preview, count of them where they are to be told
	char tag[MOVE_TAG_HEX + 1];  // of the affected resources' state
	char etag[MOVE_TAG_HEX + 1]; // of all that is told of the action, both tenants' counts included; where these are there
	struct move_blocker *blockers; // reasons: name-taken quota locked namespace-missing namespace-terminating in-use attached
	                          // type-unavailable type-differs type-shared
	size_t n_blockers;
	bool more_blockers; // there were more than MOVE_MAX_BLOCKERS
};

// In one snapshot. OUTCOME_OK. Source or resource: _NOT_FOUND, _GONE, _MOVED (action->resource is what lives elsewhere).
// Destination: _NOT_FOUND, _GONE, _CONFLICT (same as source). reg->problem says which.
enum outcome move_preview(struct registry *registry, const struct move_order *order, struct move_action *action);

struct move_result {
	struct move_action action; // as found under the locks; items are not filled
	struct uuid uid;           // of the move
};
// Decides on If-Match, given the action's etag as text; check NULL: unconditional. It is asked once, when the move is done or
// queued. A queued move is compared again when it is carried out, but only in what it takes (move_action.tag), its blockers
// and the quota: so one into a tenant in which much happens can succeed.
struct tag_guard {
	bool (*matches)(void *arg, struct str etag);
	void *arg;
};
// Carries it out. OUTCOME_SEE_OTHER: done (moving nothing, too). _ACCEPTED: queued, result->uid names it. _STALE.
// _BLOCKED with result->action.blockers. Else as move_preview.
enum outcome move_run(struct registry *registry, const struct move_order *order, struct tag_guard guard,
	struct move_result *result);

enum move_state { MOVE_QUEUED, MOVE_RUNNING, MOVE_DONE, MOVE_FAILED };
struct move_status {
	struct uuid uid;
	enum move_state state;
	struct str source, dest;
	struct str resource;     // its present path, "" when all moved
	struct str dest_space, dest_name; // with type: the resource's address in dest
	const struct type *type; // NULL when all moved
	uint64_t total, moved;
	struct str outcome, detail; // of a failed one
	int64_t created_us, finished_us;
};
// A move asked for on that source tenant. OUTCOME_OK, _NOT_FOUND.
enum outcome move_get(struct registry *registry, struct str source, struct uuid uid, struct move_status *status);

#endif

// SPDX-License-Identifier: Apache-2.0
// For files of move/, and for mover.c.
#ifndef TENURE_REGISTRY_MOVE_INTERNAL_H
#define TENURE_REGISTRY_MOVE_INTERNAL_H

#include "registry/move/move.h"
#include "registry/tags/etag.h"
#include "sql/moves.h"

// ---- state tags (tag.c), of the sums that state_lanes() explains

struct state_sum {
	uint64_t count;
	struct str sums[4]; // decimal, as the database adds them up
};
// Writes MOVE_TAG_HEX hex digits and a NUL.
void state_tag(struct registry *registry, const struct uuid *tenant, const struct state_sum *sum,
	char tag[MOVE_TAG_HEX + 1]);
void state_tag_of_one(struct registry *registry, const struct uuid *uid, uint64_t revision, char tag[MOVE_TAG_HEX + 1]);
// Of all that is told of the action: both tenants with their counts, the moved set, the blockers with their texts; and of the
// destination's namespaces that it merges with. Sets action->etag.
void state_tag_of_action(struct registry *registry, struct move_action *action, const struct state_sum *sum,
	const struct state_sum *merged);

// ---- plans

// Which resources a move takes (moves.sql). What moves together in a new way gets a case there, and nothing else changes.
struct move_set {
	enum sql_move_set kind;
	struct sql_move_range in; // what the kind needs of it
};

#define MOVE_OTHER_TYPES (1ULL << 63)

struct move_plan {
	struct move_action *action;
	struct move_set set;
	struct {
		uint64_t locked; // resources of the set that are locked
		uint64_t types; // a bit for the id of each of their types; the last stands for all ids from 63 on
		bool definitions; // CustomResourceDefinitions are among them
		bool dest_has_any; // the destination has resources: rows say so, not its count
		struct state_sum merged; // the destination's namespaces that those of the set are merged into
	} found;
};

enum move_look {
	MOVE_LOOK_PREVIEW, // reads only
	MOVE_LOOK_LOCKED,  // takes both tenants' rows exclusively first
	MOVE_LOOK_COMPARE, // the same, and what the whole action's etag covers is read as well
};
// Looks at everything the move affects: tenants, resource, set, blockers, tags. Where it is not LOCKED alone, counts both
// tenants' resources, which takes time in proportion to them, and makes the action's etag. Outcomes as move_preview.
enum outcome move_plan(struct registry *registry, const struct move_order *order, enum move_look look,
	struct move_plan *plan);

// Told how many have moved so far, from time to time.
struct move_progress {
	void (*tell)(void *arg, uint64_t moved);
	void *arg;
};
// Moves what the plan says, under its locks. OUTCOME_SEE_OTHER, or what the database failed with.
enum outcome move_execute(struct registry *registry, const struct move_plan *plan, struct move_progress progress);

// One row in moves for each move; its uid is the request's, so that running again after an uncertain COMMIT finds it.
// conditional: it was asked for with the action's etag, and what it takes (action->tag) has to be the same when it is carried
// out. done: else it waits for the mover.
enum outcome move_record(struct registry *registry, const struct move_order *order, const struct move_plan *plan,
	bool conditional, bool done);

// Answers OUTCOME_BLOCKED in words.
enum outcome fail_blocked(struct registry *registry, const struct move_action *action);
// Answers OUTCOME_STALE in words.
enum outcome fail_stale_action(struct registry *registry, const struct move_action *action);

#endif

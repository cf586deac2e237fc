// SPDX-License-Identifier: Apache-2.0
// For the files move*.c only.
#ifndef TENURE_REGISTRY_MOVE_INTERNAL_H
#define TENURE_REGISTRY_MOVE_INTERNAL_H

#include "registry/etag.h"
#include "registry/internal.h"

// Which resources a move takes. Every statement over such a set exists once for each kind; a set's values stand where
// its condition does. The ranges are of ids, (after, upto].
#define SET_ALL "r.tenant_id = ? AND r.live = 1"
#define SET_ONE "r.id = ? AND r.live = 1"
// A namespace: itself and what is in it.
#define SET_SPACE "r.tenant_id = ? AND r.live = 1 AND (r.id = ? OR r.namespace = ?)"
// What others hang on, with all that does: a tree is always of one tenant.
#define SET_TREE "r.root = ? AND r.live = 1"
#define SET_RANGE " AND r.id > ? AND r.id <= ?"

enum move_kind {
	MOVE_ALL,
	MOVE_ONE,
	MOVE_SPACE,
	MOVE_TREE,
	MOVE_ALL_RANGE,
	MOVE_SPACE_RANGE,
	MOVE_TREE_RANGE,
	MOVE__KINDS
};

// The forms of a statement: head, condition, tail; types of the parameters before and behind the condition.
#define MOVE_QUERIES(head, tail, in_head, in_tail, out)                                                     \
	{                                                                                                   \
		[MOVE_ALL] = { head SET_ALL tail, in_head "u" in_tail, out },                               \
		[MOVE_ONE] = { head SET_ONE tail, in_head "u" in_tail, out },                               \
		[MOVE_SPACE] = { head SET_SPACE tail, in_head "uus" in_tail, out },                         \
		[MOVE_TREE] = { head SET_TREE tail, in_head "b" in_tail, out },                             \
		[MOVE_ALL_RANGE] = { head SET_ALL SET_RANGE tail, in_head "uuu" in_tail, out },             \
		[MOVE_SPACE_RANGE] = { head SET_SPACE SET_RANGE tail, in_head "uusuu" in_tail, out },       \
		[MOVE_TREE_RANGE] = { head SET_TREE SET_RANGE tail, in_head "buu" in_tail, out },           \
	}

struct move_set {
	enum move_kind kind;
	uint64_t tenant_id;   // the source
	uint64_t resource_id; // MOVE_ONE, MOVE_SPACE
	struct str space;     // MOVE_SPACE: the namespace's name
	struct db_value root; // MOVE_TREE: the column's value
	uint64_t after, upto; // the ranges
};

// The call for a set: values before its condition, then the set's own, then those behind.
struct db_call set_call(struct registry *registry, const struct db_query *queries, const struct move_set *set,
	const struct db_value *head, size_t n_head, const struct db_value *tail, size_t n_tail);

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

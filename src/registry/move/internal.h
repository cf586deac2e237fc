// SPDX-License-Identifier: Apache-2.0
// For files of move/ and for mover.c.
#ifndef TENURE_REGISTRY_MOVE_INTERNAL_H
#define TENURE_REGISTRY_MOVE_INTERNAL_H

#include "registry/core/failure.h"
#include "registry/move/move.h"
#include "registry/tags/etag.h"
#include "sql/moves.h"

// ---- state tags (tag.c), made of the sums that etag_state_lanes() describes

struct state_sum {
	uint64_t count;
	struct str sums[4]; // decimal numbers, as the database returns sums
};
// Computes the tag of a set of the tenant's resources: MOVE_TAG_HEX hex digits and a NUL. others: gets the tags that the other
// keys make; NULL: not needed.
void move_state_tag(struct registry *registry, const struct uuid *tenant, const struct state_sum *sum,
	char tag[MOVE_TAG_HEX + 1], struct state_tags *others);
// Is tag the action's tag, by any of the keys? A move that waited in the queue may have a tag of a former one.
bool move_state_tag_is(const struct move_action *action, struct str tag);
// Computes the tag of a single resource.
void move_state_tag_of_one(struct registry *registry, const struct uuid *uid, uint64_t revision, char tag[MOVE_TAG_HEX + 1]);
// Sets action->etag: it covers all that the action shows, that is both tenants with their counts, the set that moves, and the
// blockers with their texts; also the destination's namespaces into which others are merged.
void move_state_tag_of_action(struct registry *registry, struct move_action *action, const struct state_sum *sum,
	const struct state_sum *merged);

// ---- plans

// Which resources a move takes, as a case of the statements in moves.sql. A new kind of set needs a case there, and nothing
// else changes.
struct move_set {
	enum sql_move_set kind;
	struct sql_move_range in; // the parameters that the kind needs
};

#define MOVE_OTHER_TYPES (1ULL << 63)

struct move_plan {
	struct move_action *action;
	struct move_set set;
	uint64_t returning; // order->changed.returning
	// What move_execute() calls before it writes the first change row; write NULL: nothing. OUTCOME_OK; any other ends the
	// move with it.
	struct {
		enum outcome (*write)(void *arg);
		void *arg;
	} first;
	struct {
		struct state_sum sum; // of the set
		uint64_t locked; // resources of the set that are locked
		uint64_t types; // one bit for each type id in the set; bit 63 stands for all ids from 63 on
		struct db_rows definitions; // of move_definitions: the CustomResourceDefinitions of the set
		bool emptied; // the set has a namespace that is being deleted in the background
		bool dest_has_any; // the destination has live resources, as its rows show, not its count
		struct state_sum merged; // the destination's namespaces into which namespaces of the set are merged
	} found;
};

// Runs one statement. OUTCOME_OK, or that of its failure.
static inline enum outcome move_run_call(struct registry *registry, struct db_call *call)
{
	enum db_result result = db_run_call(registry->db, registry->pool, call);

	return result == DB_OK ? OUTCOME_OK : registry_db_failed(result);
}

// ---- what is in the way (blockers.c)

// Adds to plan->action each blocker of the set, MOVE_MAX_BLOCKERS at most, and sets found.merged and found.definitions. The
// other members of found and the action's tenants, resource and count must be set. OUTCOME_OK, or that of a failed statement.
enum outcome move_find_blockers(struct registry *registry, struct move_plan *plan);

// ---- counts by type (count.c)

// The call that counts all resources of a tenant by type, and what its rows say.
struct db_call move_count_call(struct pool *pool, uint64_t tenant_id);
void move_read_counts(struct registry *registry, const struct db_rows *rows, struct type_counts *counts);
// Does the set have all resources of so large a source that move_count_by_sum() counts them in less time? It needs the sum of
// the set (action->count, found.types), and reads in the same snapshot or under the same locks. OUTCOME_OK, or that of a failed
// statement.
bool move_counts_by_sum(const struct move_plan *plan);
enum outcome move_count_by_sum(struct registry *registry, const struct move_plan *plan, struct type_counts *counts);

// ---- names that both tenants have (taken.c)

struct move_name {
	uint64_t type_id;
	struct str space, name;
};
struct move_taken {
	struct move_name *names; // in the order of namespace, type and name
	size_t n;
};
// Are both tenants so large, and so much alike in size, that move_merge_names() costs less than to look up each name?
bool move_merges_names(const struct move_plan *plan);
// Finds the first max names of the source that the destination has as well, but for those of namespaces. It takes one round
// trip for each thousand resources that it cannot skip. OUTCOME_OK, or that of a failed statement.
enum outcome move_merge_names(struct registry *registry, const struct move_plan *plan, size_t max, struct move_taken *taken);

// Locks the rows of two tenants exclusively, in the order in which moves lock them; names without a tenant do not matter.
// OUTCOME_OK, _UNAVAILABLE, _INTERNAL.
enum outcome move_lock_tenants(struct registry *registry, struct str source, struct str dest);

enum move_look {
	MOVE_LOOK_PLAIN,   // without locks
	MOVE_LOOK_PREVIEW, // the same, and reads all that the etag of the action covers
	MOVE_LOOK_LOCKED,  // locks both tenants' rows exclusively first
	MOVE_LOOK_COMPARE, // the same, and reads all that the etag of the action covers
};
// Reads everything that the move affects: tenants, resource, set, blockers, tags. For the etag of the action, it also
// counts both tenants' resources by type, which takes time in proportion to them. Outcomes as move_preview().
enum outcome move_plan(struct registry *registry, const struct move_order *order, enum move_look look,
	struct move_plan *plan);

// Moves what the plan says, and tells how far it is; both tenants must be locked. OUTCOME_SEE_OTHER, that of
// plan->first, or that of a failed statement.
enum outcome move_execute(struct registry *registry, const struct move_plan *plan);

// Inserts a row into table moves. Its uid is the request's id, so a run after an uncertain COMMIT finds it. if_match: action->tag
// if the request compared the action's etag, so that the mover compares it again; else STR_NONE. state: MOVE_DONE; or
// MOVE_QUEUED, then the move waits for the mover. OUTCOME_OK, or that of a failed statement.
enum outcome move_record(struct registry *registry, const struct move_order *order, const struct move_plan *plan,
	struct str if_match, enum move_state state);
// An earlier run of this request may have queued its move and lost the answer to its COMMIT: a waiting move leaves no change row,
// and by now it may be done. OUTCOME_ACCEPTED: so it was. OUTCOME_OK: it was not. Or the outcome of a failed statement.
enum outcome move_find_queued(struct registry *registry);

// The undo of a request that changed many resources waits for the mover as a move does (registry/undo/). In moves.if_match it
// has, instead of a tag, which request it takes back: what that one changed has to be as it left it. So a mover that knows
// nothing of undo finds that it has changed, and moves nothing. move_undo_condition() makes the text; move_undoes() reads it.
// False: it is a tag, or there is none.
struct str move_undo_condition(struct pool *pool, const struct uuid *request);
bool move_undoes(struct str if_match, struct uuid *request);

// What a record of a move that failed says of the first of its blockers, since it keeps one text: "PATH: REASON: DETAIL"; of one
// that no single resource is, "all" in place of the path.
struct str move_blocker_text(struct pool *pool, const struct move_blocker *blocker);
// Describes the blockers in registry->problem. Returns OUTCOME_BLOCKED.
enum outcome move_fail_blocked(struct registry *registry, const struct move_action *action);

#endif

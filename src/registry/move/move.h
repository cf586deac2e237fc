// SPDX-License-Identifier: Apache-2.0
// Moves one resource, or all resources of a tenant, to another tenant. A move can be previewed (the move action), can be
// conditional on the preview, and is one transaction.
#ifndef TENURE_REGISTRY_MOVE_MOVE_H
#define TENURE_REGISTRY_MOVE_MOVE_H

#include "registry/core/model.h"
#include "registry/tags/state_tag.h"

// How many hex digits tags have, and how many blockers an action lists at most.
enum { MOVE_TAG_HEX = STATE_TAG_HEX, MOVE_MAX_BLOCKERS = 1000 };

// What a client asks for.
struct move_order {
	struct str source, dest;
	const struct address *address; // NULL: all resources of source
	// For undo, without address: only the resources whose last change is in the range, and whose row's id is.
	struct {
		uint64_t after, upto; // ids of changes, (after, upto]; upto 0: no such range is given
		uint64_t first, last; // ids of resources
		uint64_t returning; // so many namespaces of dest, whose last change is in the range and deleted them, come back before the move
	} changed;
	bool background;               // the client asked for it; a large move is done in the background anyway
	int words;                     // the vocabulary of its result: 1 accounts, 2 tenants
};

struct move_item {
	struct str path; // resource_path()
	struct uuid uid;
	char tag[MOVE_TAG_HEX + 1];
};

// How many live resources of each type a tenant has, counted from rows, in byte order of the types' names. The namespace
// "default" does not count.
struct type_count {
	struct str type; // as type_name() has it
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

// The move action: the state of everything that the move affects.
struct move_action {
	struct tenant source, dest;
	struct type_counts source_counts, dest_counts; // in a preview, and if the move is conditional
	struct resource resource; // the resource to move, if it is one
	uint64_t count;           // resources that move
	uint64_t bytes;           // the size of their documents
	bool listed;              // the resources are listed one by one; else only tag, count and bytes are shown
	struct move_item *items;  // in a preview: count of them, if listed
	char tag[MOVE_TAG_HEX + 1];  // of the state of the resources that move
	struct state_tags other_tags; // those that former keys make of the same
	char etag[MOVE_TAG_HEX + 1]; // of all that the action shows; set in a preview, and if the move is conditional
	struct state_tags other_etags; // with it: those that former keys make of the same
	// Reasons: name-taken quota locked namespace-missing namespace-terminating waits in-use attached type-unavailable
	// type-differs type-shared; not-empty if the order has a range of changes
	struct move_blocker *blockers;
	size_t n_blockers;
	bool more_blockers; // there were more than MOVE_MAX_BLOCKERS
};

// Describes a move without changing anything, in one snapshot. OUTCOME_OK. For the source or the resource: _NOT_FOUND, _GONE,
// _MOVED (action->resource is the moved one). For the destination: _NOT_FOUND, _GONE, _CONFLICT (same as the source).
// registry->problem says which.
enum outcome move_preview(struct registry *registry, const struct move_order *order, struct move_action *action);

struct move_result {
	struct move_action action; // as planned under the locks; without items
	struct uuid uid;           // of the move
};
// The condition of a move or an undo: matches compares If-Match with the action's etag, excludes If-None-Match; NULL: there is no
// such condition. They are called when the move is done or queued. A queued move is checked again when it is carried out, but
// only for what it takes (move_action.tag, if there is matches), blockers and quota. So it can succeed although much else has
// changed in the destination.
struct tag_guard {
	bool (*matches)(void *arg, struct str etag);
	bool (*excludes)(void *arg, struct str etag);
	void *arg;
};
// Compares the tag that is shown now, and those that other keys make of the same state. TAG_OK without a condition.
enum tag_check {
	TAG_OK,
	TAG_DIFFERS, // none of them fits matches
	TAG_EXCLUDED // one of them fits excludes
};
enum tag_check tag_guard_check(struct tag_guard guard, const char *tag, const struct state_tags *others);
// Describes in registry->problem that the check came to TAG_DIFFERS or TAG_EXCLUDED. etag: the present one; "": it was not
// computed. Returns OUTCOME_STALE.
enum outcome tag_guard_fail(struct registry *registry, enum tag_check check, const char *etag);
// Moves. OUTCOME_SEE_OTHER: done, also if there was nothing to move. _ACCEPTED: queued as result->uid. _STALE. _BLOCKED with
// result->action.blockers. Else as move_preview().
enum outcome move_run(struct registry *registry, const struct move_order *order, struct tag_guard guard,
	struct move_result *result);

enum move_state { MOVE_QUEUED, MOVE_RUNNING, MOVE_DONE, MOVE_FAILED };
struct move_status {
	uint64_t number; // rises with each move that is asked for
	struct uuid uid;
	enum move_state state;
	bool is_undo; // it takes the request `undone` back; source and dest are the same tenant if that was no move
	struct uuid undone;
	struct str source, dest;
	bool is_there;           // the resource lives in dest
	bool dest_is_there;      // dest is not purged: else another tenant may have its name
	struct str resource;     // its present path; "" if all resources moved
	struct str dest_space, dest_name; // with type: the resource's address in dest
	const struct type *type; // NULL if all resources moved
	struct str actor;        // who asked for it
	uint64_t total, moved;
	struct str outcome, detail; // of a failed move
	int64_t created_us, finished_us;
};
// Reads the status of a move of that source tenant. OUTCOME_OK, _NOT_FOUND.
enum outcome move_get(struct registry *registry, struct str source, struct uuid uid, struct move_status *status);
struct move_page {
	struct move_status *list; // allocated from the request's pool
	size_t n;
	bool more; // there are more moves, with lower numbers than the last one here
};
// Reads the moves from and to a tenant whose numbers are below that one, the latest first, at most limit, > 0. Moves that are
// over are kept as long as the setting retention says. OUTCOME_OK, _NOT_FOUND, _GONE (the tenant is deleted), or that of a failed
// statement.
enum outcome move_list(struct registry *registry, struct str tenant, uint64_t below, uint64_t limit, struct move_page *page);

#endif

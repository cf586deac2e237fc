// SPDX-License-Identifier: Apache-2.0
// The parts of an undo, for files of undo/ only. undo_run() calls them in this order: it looks whether the request changed so
// much that large.c has to take it back; locks the tenants; reads the request's rows of the change log; decides what kind of
// request it was (kind.c); checks that the caller may take such a request back (undo_check_caller()); collects the items to be
// changed back, with the blockers that forbid it (blockers.c); and makes the reverse changes, of which one that is refused
// becomes a blocker, too. Last it checks that the caller could make each of them by a call of its own (undo_check_rights()). The
// caller of undo_run() rolls all of it back if there is a blocker, or for a preview (undo.h).
#ifndef TENURE_REGISTRY_UNDO_INTERNAL_H
#define TENURE_REGISTRY_UNDO_INTERNAL_H

#include "base/buf.h"
#include "registry/core/model.h"
#include "registry/move/internal.h"
#include "registry/undo/undo.h"
#include "sql/undo.h"

// What a request did to all that it changed, as its rows of the change log tell.
enum kind {
	KIND_UPDATED,
	KIND_CREATED,
	KIND_DELETED,
	KIND_RECOVERED,
	KIND_MOVED, // with the namespaces that were merged into others, if there were any, or taken apart again
	KIND_PURGED,
	KIND__N,
	KIND_SEVERAL = KIND__N
};

struct undo {
	struct registry *registry;
	// Of a request that changed more than UNDO_MAX resources: the numbers of its changes, and what it did. rows is empty
	// then.
	const struct sql_undo_did_row *large; // NULL: of other requests
	enum kind large_kind; // KIND_MOVED, KIND_DELETED, KIND_RECOVERED
	const struct undo_order *order;
	struct undo_plan *plan;
	struct tenant tenant; // locked
	struct db_rows rows;  // of undo_rows
	uint64_t newest;      // the id of the request's last change
	bool moved_all;       // it was a move of all that a tenant had
	// It was recorded as a move, but the log has only namespaces that it merged, or took apart again. The ids of the tenants
	// are those of the record
	struct {
		bool found;
		uint64_t source_id, dest_id;
	} merging;
	bool of_policy;       // it changed the tenant's policy for types, and nothing else
};

static inline const struct sql_undo_rows_row *undo_row(const struct undo *undo, size_t i)
{
	return sql_undo_rows_row(&undo->rows, i);
}

// ---- undo.c

// Says that the request has changed nothing of the tenant. Returns OUTCOME_NOT_FOUND.
enum outcome undo_fail_unknown(struct undo *undo);
// Adds a blocker if some of the request's changes may have been purged, by plan->at_us, which has to be read in this transaction.
void undo_check_age(struct undo *undo);
// Compares the guard with the plan's etag. OUTCOME_OK, _STALE.
enum outcome undo_compare(struct undo *undo, struct tag_guard guard);

// ---- kind.c

// What the request did, by undo->rows. Sets undo->plan->of_tenant.
enum kind undo_kind(struct undo *undo);
// Was the row written by the rules of bare metal, which change the node and the allocation when an allocation is made
// (KIND_CREATED) or deleted (KIND_DELETED)? Such a row needs no undo of its own: the rules change both back when the allocation
// is deleted or made again.
bool undo_goes_along(const struct undo *undo, enum kind kind, const struct sql_undo_rows_row *row);
// Is the row a deletion that the request asked for and that had to wait for finalizers?
bool undo_asks_deletion(const struct sql_undo_rows_row *row);
// Is the row an update that belongs to such a deletion: the request for it, or a condition that says what it waits for?
bool undo_is_of_deletion(const struct undo *undo, const struct sql_undo_rows_row *row);
// Did the tenant own a resource of the rows, before or after the change? *several: another tenant owns one after it.
bool undo_concerns(const struct undo *undo, bool *several);

// ---- blockers.c

// The text of the blocker "changed-since": what was done to the resource since, by whom, when.
struct str undo_later_text(struct undo *undo, struct str verb, struct str actor, int64_t at_us);
// Appends the plan's blockers to the text that its etag is made of.
void undo_add_blockers(struct buf *text, const struct undo_plan *plan);
// How many blockers the plan has, in words: "2 things stand in the way".
struct str undo_blockers_text(struct pool *pool, const struct undo_plan *plan);
// The path of the resource that a row is about; "" for the tenant.
struct str undo_path(const struct undo *undo, const struct sql_undo_rows_row *row);
// Adds a blocker to the plan: its subject, reason and text (struct move_blocker). The plan keeps MOVE_MAX_BLOCKERS; behind these
// it notes only that there are more. So a statement that looks for blockers reads one more than that.
void undo_block(struct undo *undo, struct str subject, const char *reason, struct str detail);
// Is nothing left of the row's resource, or is it past its purge time? Then it counts as purged, whether or not it was reaped.
bool undo_is_purged(const struct undo *undo, const struct sql_undo_rows_row *row);
// Adds the blocker of a resource that counts as purged.
void undo_block_purged(struct undo *undo, struct str subject);
// Adds the blocker of a resource whose deletion was requested and has not ended.
void undo_block_waiting(struct undo *undo, struct str subject);
// Call it when a reverse change came to another outcome than success: makes a blocker of it and returns OUTCOME_OK, or returns an
// outcome that is about the database (_UNAVAILABLE, _INTERNAL), with which the request has to end.
enum outcome undo_block_by(struct undo *undo, struct str subject, enum outcome outcome);

// ---- rights.c

// May this caller take back a request of that kind? Finds out undo->of_policy. OUTCOME_OK, _FORBIDDEN, or that of a failed
// statement.
enum outcome undo_check_caller(struct undo *undo, enum kind kind);
// Checks that the caller may make each call by which the reverse change is made by hand. A call that the endpoint does not offer
// becomes a blocker. OUTCOME_OK, _FORBIDDEN.
enum outcome undo_check_rights(struct undo *undo, enum kind kind);
// undo_check_rights() for a large move, which changed something in the places that are set.
enum outcome undo_check_rights_to_move(struct undo *undo, const bool places[UNDO_PLACE__N]);
// undo_check_rights() for one call about that resource.
enum outcome undo_check_rights_to(struct undo *undo, enum undo_call call, const struct resource *resource);

// ---- beside_back.c: what providers have in other tables, kept as what each change replaced

enum beside { BESIDE_NONE, BESIDE_INVENTORIES, BESIDE_AGGREGATES, BESIDE_ALLOCATIONS };

// Which of these the row changed.
enum beside undo_beside(const struct undo *undo, const struct sql_undo_rows_row *row);
// undo_beside() of a change of a resource of that type that has these fields in the change log. BESIDE_NONE for all types but
// providers: a document of another type may have members of the same names.
enum beside undo_beside_of(struct registry *registry, uint64_t type_id, struct str fields);
// Its name as a member of documents: "inventories", … Not for BESIDE_NONE.
struct str undo_beside_name(enum beside beside);
// What the provider has there now, as JSON: its inventories or its aggregates. OUTCOME_OK, _NOT_FOUND.
enum outcome undo_beside_present(struct registry *registry, enum beside beside, const struct uuid *uid, struct str *text);
// What that change replaced there, as documents show it; text is what is kept of it. Not for BESIDE_ALLOCATIONS.
const struct doc *undo_beside_replaced(struct registry *registry, enum beside beside, uint64_t change_id, struct str text);
// Sets beside, beside_now and beside_restored of the item. OUTCOME_OK, or that of a failed statement.
enum outcome undo_read_beside(struct undo *undo, const struct sql_undo_rows_row *row, struct undo_item *item);
// Restores what the row replaced. Not for the rows of undo_is_of_placement(). OUTCOME_OK, also if there are blockers; or the
// outcome with which the request ends.
enum outcome undo_restore_beside(struct undo *undo, const struct sql_undo_rows_row *row);

// ---- placement_back.c

// Did the request write allocations or reshape, which changes several providers together?
bool undo_is_of_placement(const struct undo *undo);
// Did it reshape: change inventories together with allocations?
bool undo_is_reshape(const struct undo *undo);
// Restores all that such a request replaced. OUTCOME_OK, also if there are blockers; or the outcome with which the request ends.
enum outcome undo_placement(struct undo *undo);

// ---- move_back.c

// Locks both tenants of a request that moved resources, in the order in which moves lock them, if undo->order names one of them.
// Does nothing for other requests, nor for who is no operator and so may not take a move back. OUTCOME_OK, or that of a failed
// statement.
enum outcome undo_lock_move(struct undo *undo);
// Sets from and to of the plan, and undo->moved_all, for such a request, without locks. Does nothing for other requests.
// OUTCOME_OK, or that of a failed statement.
enum outcome undo_read_tenants(struct undo *undo);
// Sets undo->merging, by undo->rows. For operators undo_lock_move() has set it. OUTCOME_OK, or that of a failed statement.
enum outcome undo_find_merging(struct undo *undo);
// Did the request move resources from one tenant to one other, and change nothing else but namespaces, which it merged or took
// apart?
bool undo_is_move(const struct undo *undo);
// Did the request move the resource of the row by a change of the owner in its document alone? The move back takes that change
// back.
bool undo_is_owner_change(const struct undo *undo, const struct sql_undo_rows_row *row);
// Moves back what the request moved. Needs undo_is_move() and the locks of undo_lock_move(). OUTCOME_OK, or that of a failed
// statement.
enum outcome undo_move(struct undo *undo);
// Adds a blocker for each thing that is in the way of the move back.
void undo_block_by_action(struct undo *undo, const struct move_action *action);
// Adds a blocker if the move back merges more or fewer namespaces (merged) than the request took apart (n).
void undo_check_merged(struct undo *undo, uint64_t merged, uint64_t n);

// ---- large.c

// Sets undo->large if the request is a large one that is taken back as a whole. OUTCOME_OK, or that of a failed statement.
enum outcome undo_find_large(struct undo *undo);
// undo_run() for such a request.
enum outcome undo_large(struct undo *undo, struct tag_guard guard);

// The state of the undo of a large request. The members from action on are for the kinds that their headings name.
struct large {
	struct undo *undo;
	const struct sql_undo_did_row *did;
	struct {
		uint64_t n;       // resources
		struct str *sums; // texts that differ if the resources do: checksums, or a number of changes
		size_t n_sums;
	} state; // of what the request changed, as it is now; for the etag
	// KIND_MOVED
	struct move_action action;
	struct move_plan plan;
	struct sql_deletion recovered; // of the merged namespaces: for resource_end_recoveries()
	// KIND_DELETED, KIND_RECOVERED
	bool has_top;
	struct resource top; // what was deleted or recovered with all the rest
	struct str changes;
};
// The steps by which a large request of one kind is taken back. Each returns OUTCOME_OK, that of a failed statement, or what
// stands beside it. check_rights and read_items run in the request that asks for the undo, lock and carry_out in the mover, read
// and look in both.
struct large_kind {
	enum undo_action action;
	enum outcome (*read)(struct large *large);         // reads what the other steps need
	enum outcome (*check_rights)(struct large *large); // or _FORBIDDEN
	enum outcome (*read_items)(struct large *large);   // sets undo->plan->items
	enum outcome (*lock)(struct large *large);         // locks out all other writers. A tenant that is gone becomes a blocker
	// Adds blockers for what is in the way, and sets large->state. locked: lock() was called before.
	enum outcome (*look)(struct large *large, bool locked);
	enum outcome (*carry_out)(struct large *large); // makes the reverse change. Only if there are no blockers. OUTCOME_SEE_OTHER
};
extern const struct large_kind large_move;     // large_move.c
extern const struct large_kind large_deletion; // large_deletion.c
extern const struct large_kind large_recovery; // large_deletion.c
// Adds a blocker for each resource that is no longer as the request left it. *n: how many, up to MOVE_MAX_BLOCKERS + 1.
enum outcome undo_note_changed(struct large *large, size_t *n);

#endif

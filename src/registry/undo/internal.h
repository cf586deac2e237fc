// SPDX-License-Identifier: Apache-2.0
// For files of undo/ only.
#ifndef TENURE_REGISTRY_UNDO_INTERNAL_H
#define TENURE_REGISTRY_UNDO_INTERNAL_H

#include "base/buf.h"
#include "registry/core/model.h"
#include "registry/move/internal.h"
#include "registry/undo/undo.h"
#include "sql/undo.h"

// What a request did, by its rows of the change log.
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
	// Of a request that changed more than UNDO_MAX resources: what it did, in numbers, and as a whole. rows is empty then.
	const struct sql_undo_did_row *large;
	enum kind large_kind; // KIND_MOVED, KIND_DELETED, KIND_RECOVERED
	const struct undo_order *order;
	struct undo_plan *plan;
	struct tenant tenant; // locked
	struct db_rows rows;  // of undo_rows
	uint64_t newest;      // the id of the request's last change
	bool moved_all;       // it was a move of all that a tenant had
	bool of_policy;       // it changed the tenant's policy for types, and nothing else
};

static inline const struct sql_undo_rows_row *undo_row(const struct undo *undo, size_t i)
{
	return sql_undo_rows_row(&undo->rows, i);
}

// ---- undo.c

// Fails as a request that has changed nothing of the tenant. Returns OUTCOME_NOT_FOUND.
enum outcome undo_fail_unknown(struct undo *undo);
// Compares guard with the plan's etag. OUTCOME_OK, _STALE.
enum outcome undo_compare(struct undo *undo, struct tag_guard guard);

// ---- kind.c

// What the request did, by undo->rows. Sets undo->plan->of_tenant.
enum kind undo_kind(struct undo *undo);
// Is the row what the rules of allocations of bare metal change of a node, or of the allocation itself, when one is made (kind KIND_CREATED) or
// deleted (KIND_DELETED)? It needs no undo of its own: they do the same when the allocation is deleted or made.
bool undo_goes_along(const struct undo *undo, enum kind kind, const struct sql_undo_rows_row *row);
// Did the request ask for a deletion here, which had to wait?
bool undo_asks_deletion(const struct sql_undo_rows_row *row);
// Is the update a part of a deletion that had to wait: the request for it, or a condition that says what it waits for?
bool undo_is_of_deletion(const struct undo *undo, const struct sql_undo_rows_row *row);
// Is the tenant concerned, as the owner of something after or before the changes? *several: another one, too.
bool undo_concerns(const struct undo *undo, bool *several);

// ---- blockers.c

// The text of a blocker: what was done to it since.
struct str undo_later_text(struct undo *undo, struct str verb, struct str actor, int64_t at_us);
// Adds what an etag of the plan has to cover of its blockers.
void undo_add_blockers(struct buf *text, const struct undo_plan *plan);
// The path of the resource that a row is about; "" for the tenant.
struct str undo_path(const struct undo *undo, const struct sql_undo_rows_row *row);
// Notes a reason against the undo.
void undo_block(struct undo *undo, struct str subject, const char *reason, struct str detail);
// Notes that its deletion waits for something.
void undo_block_waiting(struct undo *undo, struct str subject);
// Notes that what was tried came to outcome instead of one that means success. OUTCOME_OK; or outcome, if that is no reason against the
// undo but the way in which the request ends.
enum outcome undo_block_by(struct undo *undo, struct str subject, enum outcome outcome);

// ---- rights.c

// May this caller take back such a request at all? OUTCOME_OK, _FORBIDDEN.
enum outcome undo_check_caller(struct undo *undo, enum kind kind);
// The caller needs the right to each call that would make the reverse change by hand, and the endpoint has to offer it: what it does not
// offer becomes a blocker. OUTCOME_OK, _FORBIDDEN.
enum outcome undo_check_rights(struct undo *undo, enum kind kind);
// The same for a large move, which changed something in the places that are set.
enum outcome undo_check_rights_to_move(struct undo *undo, const bool places[UNDO_PLACE__N]);
// The same for one call about that resource.
enum outcome undo_check_rights_to(struct undo *undo, enum undo_call call, const struct resource *resource);

// ---- beside_back.c: what providers have in other tables, kept as what each change replaced

enum beside { BESIDE_NONE, BESIDE_INVENTORIES, BESIDE_AGGREGATES, BESIDE_ALLOCATIONS };

enum beside undo_beside(const struct undo *undo, const struct sql_undo_rows_row *row);
// The same of a change of a resource of that type, with its fields as the change log has them. An object of another type may have a member
// of the same name in its document: that is none of these.
enum beside undo_beside_of(struct registry *registry, uint64_t type_id, struct str fields);
// The name by which documents have it: "inventories". Not for BESIDE_NONE.
struct str undo_beside_name(enum beside beside);
// What the provider has there now, as JSON: its inventories or its aggregates. OUTCOME_OK, _NOT_FOUND.
enum outcome undo_beside_present(struct registry *registry, enum beside beside, const struct uuid *uid, struct str *text);
// Sets the item's members about it. OUTCOME_OK, or that of a failed statement.
enum outcome undo_read_beside(struct undo *undo, const struct sql_undo_rows_row *row, struct undo_item *item);
// Puts it back. OUTCOME_OK, also if there are blockers; or the outcome with which the request ends. Not of what placement_back.c takes back.
enum outcome undo_restore_beside(struct undo *undo, const struct sql_undo_rows_row *row);

// ---- placement_back.c

// Did the request write allocations, or reshape, and so change several providers together?
bool undo_is_of_placement(const struct undo *undo);
// Did it change inventories with them?
bool undo_is_reshape(const struct undo *undo);
// Puts back all that such a request replaced. OUTCOME_OK, also if there are blockers; or the outcome with which the request ends.
enum outcome undo_placement(struct undo *undo);

// ---- move_back.c

// Locks both tenants of a request that moved resources, in the order of moves, if the order names one of them. Does nothing for
// others. OUTCOME_OK, or that of a failed statement.
enum outcome undo_lock_move(struct undo *undo);
// Reads the names of both tenants of such a request into the plan, and whether it is recorded as a move of all of a tenant; locks nothing.
// Does nothing for others. OUTCOME_OK, or that of a failed statement.
enum outcome undo_read_tenants(struct undo *undo);
// Did the request move resources from one tenant to one other, and nothing else but merge namespaces, or take them apart?
bool undo_is_move(const struct undo *undo);
// Is the row the change of a document's owner alone, by which the request moved the resource? A move back takes that back.
bool undo_is_gift(const struct undo *undo, const struct sql_undo_rows_row *row);
// Moves back what the request moved. Needs undo_is_move() and the locks of undo_lock_move(). OUTCOME_OK, or that of a failed statement.
enum outcome undo_move(struct undo *undo);
// Brings back a namespace that the move merged. OUTCOME_OK, also if there is a blocker; or the outcome with which the request ends.
enum outcome undo_recover_merged(struct undo *undo, struct str name, struct str uid);
// Notes what is in the way of the move in the other direction.
void undo_block_by_action(struct undo *undo, const struct move_action *action);
// Notes if the move would not merge exactly the n namespaces that the request took apart.
void undo_check_merged(struct undo *undo, uint64_t merged, uint64_t n);

// ---- large.c

// Sets undo->large if the request is a large one that is taken back as a whole. OUTCOME_OK, or that of a failed statement.
enum outcome undo_find_large(struct undo *undo);
// undo_run() for such a request.
enum outcome undo_large(struct undo *undo, struct tag_guard guard);

// What the undo of a large request finds and does. The members behind plan are those of one kind.
struct large {
	struct undo *undo;
	const struct sql_undo_did_row *did;
	struct {
		uint64_t n;       // how many resources
		struct str *sums; // and numbers that are others in another state
		size_t n_sums;
	} state; // of what the request changed, for the etag
	// KIND_MOVED
	struct move_action action;
	struct move_plan plan;
	// KIND_DELETED, KIND_RECOVERED
	bool has_top;
	struct resource top; // what was deleted or recovered with all the rest
	struct str changes;
};
// What a large request is taken back by. Each returns OUTCOME_OK or that of a failed statement, and what it says itself. The first three
// run in the request alone, lock and carry_out in the mover.
struct large_kind {
	enum undo_action action;
	enum outcome (*read)(struct large *large);         // what is needed for the others; in the mover, too
	enum outcome (*check_rights)(struct large *large); // or _FORBIDDEN
	enum outcome (*read_items)(struct large *large);   // sets undo->plan->items
	enum outcome (*lock)(struct large *large);         // keeps all writers away of what is taken back. A tenant that is gone becomes a blocker
	// Notes what is in the way, and sets large->state. locked: what lock() locks.
	enum outcome (*look)(struct large *large, bool locked);
	enum outcome (*carry_out)(struct large *large); // nothing was in the way. OUTCOME_SEE_OTHER
};
extern const struct large_kind large_move;     // large_move.c
extern const struct large_kind large_deletion; // large_deletion.c
extern const struct large_kind large_recovery; // the same
// Notes each resource that is no longer as the request left it. *n: how many, up to MOVE_MAX_BLOCKERS.
enum outcome undo_note_changed(struct large *large, size_t *n);

#endif

// SPDX-License-Identifier: Apache-2.0
// For files of undo/ only.
#ifndef TENURE_REGISTRY_UNDO_INTERNAL_H
#define TENURE_REGISTRY_UNDO_INTERNAL_H

#include "registry/core/model.h"
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
	const struct undo_order *order;
	struct undo_plan *plan;
	struct tenant tenant; // locked
	struct db_rows rows;  // of undo_rows
	uint64_t newest;      // the id of the request's last change
	bool moved_all;       // it was a move of all that a tenant had
};

static inline const struct sql_undo_rows_row *undo_row(const struct undo *undo, size_t i)
{
	return sql_undo_rows_row(&undo->rows, i);
}

// ---- blockers.c

// The path of the resource that a row is about; "" for the tenant.
struct str undo_path(const struct undo *undo, const struct sql_undo_rows_row *row);
// Notes a reason against the undo.
void undo_block(struct undo *undo, struct str subject, const char *reason, struct str detail);
// Notes that what was tried came to outcome instead of one that means success. OUTCOME_OK; or outcome, if that is no reason against the
// undo but the way in which the request ends.
enum outcome undo_block_by(struct undo *undo, struct str subject, enum outcome outcome);

// ---- rights.c

// May this caller take back such a request at all? OUTCOME_OK, _FORBIDDEN.
enum outcome undo_check_caller(struct undo *undo, enum kind kind);
// The caller needs the right to each call that would make the reverse change by hand, and the endpoint has to offer it: what it does not
// offer becomes a blocker. OUTCOME_OK, _FORBIDDEN.
enum outcome undo_check_rights(struct undo *undo, enum kind kind);

// ---- beside_back.c: what providers have in other tables, kept as what each change replaced

enum beside { BESIDE_NONE, BESIDE_INVENTORIES, BESIDE_AGGREGATES, BESIDE_ALLOCATIONS };

enum beside undo_beside(const struct sql_undo_rows_row *row);
// The same of the fields of a change, as the change log has them.
enum beside undo_beside_of(struct str fields);
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
// Did the request move resources from one tenant to one other, and nothing else but merge namespaces, or take them apart?
bool undo_is_move(const struct undo *undo);
// Moves back what the request moved. Needs undo_is_move() and the locks of undo_lock_move(). OUTCOME_OK, or that of a failed statement.
enum outcome undo_move(struct undo *undo);

#endif

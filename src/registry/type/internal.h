// SPDX-License-Identifier: Apache-2.0
// Types and definitions, for files of registry/ only.
#ifndef TENURE_REGISTRY_TYPE_INTERNAL_H
#define TENURE_REGISTRY_TYPE_INTERNAL_H

#include "db/db.h"
#include "registry/core/model.h"
#include "registry/type/type.h"

// ---- types (type.c)

struct sql_type; // sql/types.h
struct sql_resource_there; // sql/resources.h
// Puts a type that a statement has found into the worker's cache, so that type_find() needs no query. Does nothing if the running
// transaction has changed types.
void types_found(struct registry *registry, const struct sql_type *row);
// Does the worker's cache have the type of that name, in namespaces or not?
bool types_know(const struct types *types, struct str group, struct str plural);

// ---- what the request is about to read

// An object that the request is going to read as soon as it knows the type (resource_expect()). If the look-up of the type's
// definition takes a round trip, its statement reads the object as well. The texts, and what was found, live as long as the
// request's pool.
struct resource_expected {
	struct str tenant, group, plural, space, name; // space: "" or a namespace
	const struct sql_resource_there *found; // the object's columns, NULL where there is none; the pointer is NULL if it was not read
	uint64_t tenant_id, type_id;            // of what was found; type_id 0: there is no such type
};

// ---- definitions (definition.c, definition_view.c)

// A worker's cache of definitions. NULL: no memory.
struct definitions *definitions_new(void);
// Frees it, and sets *definitions to NULL.
void definitions_free(struct definitions **definitions);
// Before each request: releases the views that were replaced during the last request.
void definitions_begin(struct registry *registry);
// At the end of a request, when nothing that was returned is used any more: drops cached views that exceed the bounds.
void definitions_end(struct registry_store *store);
// For an object of a custom type: prunes unknown fields, fills in defaults, checks the body by the tenant's definition, and
// writes whole numbers as integers (doc_make_integers). *body becomes a new tree.
// version: the one that the body is written in; p NULL: the stored one. OUTCOME_OK; OUTCOME_NOT_FOUND: no definition serves the
// tenant; OUTCOME_BAD_DOCUMENT with causes; OUTCOME_BODY_TOO_LARGE: its defaults are too many; or that of a failed statement.
// *has_status, with OUTCOME_OK: whether the version has the subresource "status". has_status may be NULL.
enum outcome definition_complete(struct registry *registry, const struct address *address, struct str version,
	struct doc **body, bool *has_status);
// Can different tenants have different definitions of this type, or can some have none, or no resources of it?
bool definition_varies(const struct type *type);
// Marks all cached definitions stale, so that the next look-up asks the database. For decisions that must not rest on a revision
// that may be a second old. Call it while holding the locks that keep other processes from changing definitions.
void definitions_invalidate(struct registry *registry);
// Forgets all cached definitions: their revisions may have been given a second time.
void definitions_forget(struct registry *registry);
// Which definition serves resources after a move: the same as before, none, or another one.
enum definition_fate { DEFINITION_SAME, DEFINITION_NONE, DEFINITION_OTHER };
// *fate: which definition serves resources of this type in dest if they move there from source; DEFINITION_NONE as well if they may stand in
// the system's space alone. with_definition: the source's own definition of the type moves along, also if another one overrides
// it in dest. If none serves the type in source, any definition in dest will do (DEFINITION_SAME). OUTCOME_OK, or that of a
// failed statement.
enum outcome definition_after_move(struct registry *registry, struct str source, struct str dest, bool with_definition,
	const struct type *type, enum definition_fate *fate);
// Records that the running transaction has written a CustomResourceDefinition of that tenant, so that cached ones become stale.
// Call it last in the transaction: it locks a row that every such transaction needs.
enum outcome definitions_changed(struct registry *registry, uint64_t tenant_id);

#endif

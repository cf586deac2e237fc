// SPDX-License-Identifier: Apache-2.0
// Types and definitions, for files of registry/ only.
#ifndef TENURE_REGISTRY_TYPE_INTERNAL_H
#define TENURE_REGISTRY_TYPE_INTERNAL_H

#include "db/db.h"
#include "registry/core/model.h"
#include "registry/type/type.h"

// ---- types (type.c)

// Those of that group and plural name, in namespaces or not, so that they are held when they are looked for.
struct db_call types_call(struct registry *registry, const struct type *like);
void types_found(struct registry *registry, const struct db_rows *rows);

// ---- definitions (definition.c, definition_view.c)

struct definitions *definitions_new(void);
void definitions_free(struct definitions **definitions);
// A request begins: what was handed out in the last one is given back.
void definitions_begin(struct registry *registry);
// A request ends, and nobody uses what was handed out any more: bounds what is held.
void definitions_end(struct registry *registry);
// Of an object of a custom type: prunes, fills in defaults and checks, as the tenant's definition has it. version: the one
// the body is written in, p NULL: the one stored in. OUTCOME_OK; _NOT_FOUND: none answers; _BAD_DOCUMENT with causes.
enum outcome definition_complete(struct registry *registry, const struct address *address, struct str version,
	struct doc **body);
// Is a type something else, or nothing, for some tenants?
bool definition_varies(const struct type *type);
// What is held of any definition is asked for anew when it is needed next: for decisions that outlive the moment that other
// processes' changes take to be heard of, made under the locks that keep those changes away.
void definitions_doubt(struct registry *registry);
// What a type will be for resources that go from one tenant to another; with_definitions: whose own go along, those as well
// that another overrides there. What nobody defines for the source any more is fine wherever somebody does. OUTCOME_OK.
enum definition_fate { DEFINITION_SAME, DEFINITION_NONE, DEFINITION_OTHER };
enum outcome definition_after_move(struct registry *registry, struct str source, struct str dest, bool with_definitions,
	const struct type *type, enum definition_fate *fate);
// The running transaction has written a CustomResourceDefinition of that tenant: those who hold it are to know. The last
// that it does, as it holds a row that every other such change wants.
enum outcome definitions_changed(struct registry *registry, uint64_t tenant_id);

#endif

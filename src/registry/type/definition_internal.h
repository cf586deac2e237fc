// SPDX-License-Identifier: Apache-2.0
// For the files definition*.c, and registry.c, only.
#ifndef TENURE_REGISTRY_TYPE_DEFINITION_INTERNAL_H
#define TENURE_REGISTRY_TYPE_DEFINITION_INTERNAL_H

#include "db/db.h"
#include "registry/core/failure.h"
#include "registry/type/definition.h"
#include "repr/schema/field_fault.h"

// A row of base/builtin_types.def.
struct builtin {
	const char *group, *kind, *plural;
	struct str short_names[2];
	size_t n_short_names;
	struct definition definition; // type, names and tenant_verbs are left out
};
extern const struct builtin builtins[];
extern const size_t n_builtins;

// What a stored CustomResourceDefinition says; lives in pool. False: nothing that answers for anybody (its names were not
// accepted, or it is none).
bool definition_read(struct registry *registry, struct pool *pool, const struct resource *resource,
	struct definition *definition);
// Has a definition's metadata the label of forced sharing?
bool definition_is_forced(const struct doc *meta);
// Is a tenant with these annotations in the range?
bool definition_in_range(const struct doc *range, const struct doc *annotations);

// ---- definition_view.c: what is known of one tenant's definitions

// A CustomResourceDefinition as it is stored, and what it says once somebody has asked.
struct stored_definition {
	struct str name; // "widgets.example.com"
	struct uuid uid;
	struct str meta, body;
	bool read, answers;
	struct definition definition;
};

// All in pool but trees and the place in the list.
struct view {
	struct view *next; // the least recently used comes last
	struct pool *pool;
	struct pool *trees;    // what was read of the list's texts; dropped without the view where it is much
	struct str tenant;
	struct uuid uid;       // of the tenant, as names come back
	uint64_t types;        // tenant_counts.types: of its own definitions
	uint64_t checked;      // the catalogue's revision as of which all of this is true
	const char *policy;
	struct str metadata;
	const struct doc *annotations; // the same
	struct stored_definition *list; // by name
	size_t n;
};

// Valid until the request's end. OUTCOME_OK; _NOT_FOUND: no such tenant.
enum outcome definitions_see(struct registry *registry, struct str tenant, struct view **view);
// The same for the tenant and the system, which are one where it is the system. like: a type that is about to be looked for, so
// that it is read along; NULL: none. *common is NULL while there is no system tenant yet.
enum outcome definitions_see_both(struct registry *registry, struct str tenant, const struct type *like, struct view **own,
	struct view **common);
// The view's definition of that name ("widgets.example.com"). NULL: there is none, or it answers for nobody.
const struct definition *definition_in_view(struct registry *registry, struct view *view, struct str name);
// One of the view's list, read if nobody has read it yet. NULL: it answers for nobody.
const struct definition *definition_of_stored(struct registry *registry, struct view *view, struct stored_definition *stored);
// The n_builtins built-in ones, in the order of the table. One without type is not in this database.
const struct definition *definition_list_builtin(struct registry *registry);
const struct definition *definition_find_builtin(struct registry *registry, struct str group, struct str plural);
static inline bool definition_is_of_system(struct str tenant)
{
	return str_eq_c(tenant, TENANT_SYSTEM);
}

// ---- definition.c: what decides between a tenant's definitions and the system's

// The look-up itself, between a tenant's and the system's (NULL: there is no system tenant yet). NULL: none answers.
const struct definition *definitions_resolve(struct registry *registry, struct view *own, struct view *common,
	struct str group, struct str plural, struct definition_reason *reason);

// Adds what is wrong with a version's columns, subresources and deprecation.
void definition_check_parts(const struct doc *version, const struct field_path *at, struct field_faults *faults);

#endif

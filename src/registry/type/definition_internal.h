// SPDX-License-Identifier: Apache-2.0
// For the files definition*.c, and for registry.c.
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

// Reads a stored CustomResourceDefinition into *definition, allocated from pool; but neither schemas nor columns. Returns false
// if it serves nobody: its names were not accepted, or it is not a valid definition.
bool definition_read(struct registry *registry, struct pool *pool, const struct resource *resource,
	struct definition *definition);
// Reads the schemas and columns: an array as long as definition->versions and in its order, allocated from pool.
const struct definition_details *definition_read_details(struct pool *pool, const struct resource *resource,
	const struct definition *definition);
// Does the metadata have the label of forced sharing?
bool definition_is_forced(const struct doc *meta);
// Is a tenant with these annotations in the range (spec.applicableRange)?
bool definition_in_range(const struct doc *range, const struct doc *annotations);

// ---- definition_view.c: the cached definitions of one tenant

// A CustomResourceDefinition as stored text, parsed when it is first asked for; and its schemas and columns, when these are.
struct stored_definition {
	struct view *view; // the view that it is in
	struct str name;   // "widgets.example.com"
	struct uuid uid;
	struct str meta, body;
	bool read;    // the text has been parsed into definition
	bool answers; // the definition serves somebody
	struct definition definition;
	const struct definition_details *details; // one for each of the definition's versions; NULL: not parsed yet
};

// The cached definitions of one tenant. Allocated from pool, except for parsed definitions (trees).
struct view {
	struct view *newer, *older;  // the cached views that were used after and before this one; older: of a retired one, the next of these
	struct view *next_in_bucket; // the next cached one in the same bucket of the table by tenants' names
	size_t counted;              // bytes of both pools as the cache counts them; 0: the view is not cached
	struct pool *pool;
	struct pool *trees;    // parsed definitions; dropped without the view if they are too large
	struct str tenant;
	struct uuid uid;       // of the tenant: a deleted tenant's name may be taken by another one
	uint64_t types;        // tenant_counts.types as of the reading: the count of changes of its own definitions
	uint64_t checked;      // the revision as of which the view is known to be right
	const char *policy;
	struct str metadata;           // the annotations as text
	const struct doc *annotations; // the same, parsed
	struct str only;               // the list has the definition of this name alone, since no other was asked for; p NULL: it has all
	struct stored_definition *list; // sorted by name
	size_t n;
};

// Returns the tenant's view, which is valid until the end of the request. OUTCOME_OK; OUTCOME_NOT_FOUND: no such tenant; or
// that of a failed statement.
enum outcome definitions_see(struct registry *registry, struct str tenant, struct view **view);
// Returns the views of the tenant and of the system; both are the same view if tenant is the system. *common is NULL while there
// is no system tenant yet. like: a type that will be looked up next, and is read in the same round trip; the tenant's view then
// need not have definitions of other names. NULL: all are needed. OUTCOME_OK; OUTCOME_NOT_FOUND: no such tenant; or that of a
// failed statement.
enum outcome definitions_see_both(struct registry *registry, struct str tenant, const struct type *like, struct view **own,
	struct view **common);
// The name of a type's CustomResourceDefinition: "widgets.example.com".
static inline struct str definition_stored_name(struct pool *pool, struct str group, struct str plural)
{
	return str_joined(pool, plural, '.', group);
}
// The view's definition of that name ("widgets.example.com"). NULL: there is none, or it serves nobody.
const struct definition *definition_in_view(struct registry *registry, struct view *view, struct str name);
// Returns the definition of an entry of view->list, and parses it if necessary. NULL: its names were not accepted, or it is
// not a valid definition.
const struct definition *definition_of_stored(struct registry *registry, struct stored_definition *stored);
// Returns the n_builtins built-in definitions in the order of the table. A definition without a type is not in this database.
// NULL: no memory.
const struct definition *definition_list_builtin(struct registry *registry);
const struct definition *definition_find_builtin(struct registry *registry, struct str group, struct str plural);
static inline bool definition_is_of_system(struct str tenant)
{
	return str_eq_c(tenant, TENANT_SYSTEM);
}

// ---- definition.c: the choice between a tenant's definition and the system's

// Chooses by the views of the tenant and of the system (NULL: there is no system tenant yet). NULL: no definition serves the
// tenant.
const struct definition *definitions_resolve(struct registry *registry, struct view *own, struct view *common,
	struct str group, struct str plural, struct definition_reason *reason);

// Finds the system's definition of that group and kind if it is forced. *definition NULL: there is none. OUTCOME_OK, or that of a
// failed statement.
enum outcome definition_find_forced(struct registry *registry, struct str group, struct str kind, const struct definition **definition);

// ---- definition_parts.c: checks

enum presence { OPTIONAL, REQUIRED };
// Returns the text of a member of object, which stands at up; "" if there is none. Adds a fault if the member is no string, or is
// required and missing.
struct str definition_check_text(const struct doc *object, const struct field_path *up, const char *name, enum presence presence,
	struct field_faults *faults);
// Adds to faults what is wrong with a version's columns, subresources and deprecation. at: where the version stands.
void definition_check_parts(const struct doc *version, const struct field_path *at, struct field_faults *faults);

#endif

// SPDX-License-Identifier: Apache-2.0
// Resources: (tenant, type, namespace or none, name) -> a JSON document with uid, etag, revision.
#ifndef TENURE_REGISTRY_RESOURCE_RESOURCE_H
#define TENURE_REGISTRY_RESOURCE_RESOURCE_H

#include "registry/core/model.h"
#include "registry/trait/trait.h"

// OUTCOME_OK. _NOT_FOUND. _GONE: it, its tenant or what its forward leads to is deleted and recoverable; *resource has
// purge_us and tenant. _MOVED: it lives elsewhere; *resource is what lives there, and the caller decides who may know.
enum outcome resource_get(struct registry *registry, const struct address *address, struct resource *resource);

// Creates or changes. A write that changes nothing keeps revision and etag and leaves no change row.
// OUTCOME_CREATED, _OK, _STALE, _PRECONDITION_REQUIRED, _NOT_FOUND (no tenant or namespace; nothing there and !creates;
// of a custom type: no definition answers for the tenant), _GONE, _MOVED (as resource_get, when !creates), _OVER_QUOTA,
// _BAD_DOCUMENT (problem's causes: what the type's rules or schema miss), or what apply says. *resource is as it stands
// after the write. A doomed one whose finalizers the write has emptied is deleted: OUTCOME_OK with deleted_us. _FORBIDDEN:
// a new one in a namespace that is doomed.
// An optimistic writer compares current->changed in apply and answers OUTCOME_CONFLICT.
enum outcome resource_write(struct registry *registry, const struct address *address, const struct edit *edit,
	struct guard guard, struct resource *resource);

// Deletes, recoverably; a namespace with all that is in it, once the finalizers of that are gone, too. What has finalizers of its own
// (metadata.finalizers, names of who has to clean up first; a namespace's spec.finalizers too, but for "kubernetes", who is
// nobody here) is only marked doomed, which is a change: it goes with the
// write that empties them. OUTCOME_NO_CONTENT, _ACCEPTED (it waits for its finalizers; *resource as it stands), _STALE,
// _PRECONDITION_REQUIRED, _NOT_FOUND, _GONE, _MOVED, _LOCKED, _CONFLICT (the namespace "default").
enum outcome resource_delete(struct registry *registry, const struct address *address, struct guard guard,
	struct resource *resource);

// Brings back what was deleted last at that address, or the one of that uid, together with what was deleted with it.
// The guard is asked about the etag it was deleted with. OUTCOME_NO_CONTENT, _STALE, _NOT_FOUND, _NAME_TAKEN,
// _OVER_QUOTA, _CONFLICT (its namespace is gone).
enum outcome resource_recover(struct registry *registry, const struct address *address, const struct uuid *uid,
	struct guard guard);

// ---- by what it is, wherever it stands: for types whose resources have their uid as name (type->rules)

// OUTCOME_OK, _NOT_FOUND (also: another tenant's, or that tenant is deleted).
enum outcome resource_find(struct registry *registry, const struct ident *ident, struct resource *resource);
// Changes what is there; edit->creates does not count. OUTCOME_OK, _NOT_FOUND, _STALE, _PRECONDITION_REQUIRED,
// _NAME_TAKEN, or what apply or the type's rules say. Locks in one round trip, writes in another.
enum outcome resource_change(struct registry *registry, const struct ident *ident, const struct edit *edit,
	struct guard guard, struct resource *resource);
// Deletes it, recoverably, with what hangs on it. Outcomes as resource_delete, less _GONE and _MOVED.
enum outcome resource_remove(struct registry *registry, const struct ident *ident, struct guard guard,
	struct resource *resource);
// Changes it and gives it, with what hangs on it, to another tenant: one transaction, by the same way as a move. It gets a
// new etag. OUTCOME_OK, _BLOCKED (problem's causes), _GONE (that tenant is deleted), _BAD_PARAMETER (no name of a tenant),
// _BAD_DOCUMENT (there is no such tenant, and it may not be made), or as resource_change. dest may be the tenant it has.
struct gift {
	struct str dest; // the name of a tenant
	bool may_make;   // it is made where there is none of that name
	bool made;       // told: it was
};
enum outcome resource_give(struct registry *registry, const struct ident *ident, struct gift *gift, const struct edit *edit,
	struct guard guard, struct resource *resource);

// What a search asks of a member of the body.
enum search_test {
	SEARCH_IS,       // a string (bytes for bytes)
	SEARCH_CONTAINS, // a string that has value in it
	SEARCH_TRUE, SEARCH_FALSE,
	SEARCH_NULL, SEARCH_NOT_NULL,
};
enum { SEARCH_MAX_CONDITIONS = 8 };
struct search_condition {
	const char *member;
	enum search_test test;
	struct str value;
};
struct resource_search {
	const struct type *type;
	struct str tenant;        // p NULL: anybody's
	const struct uuid *root;  // in this tree; NULL: anywhere
	const char *alias_kind;   // that have an alias of this kind beginning with alias_prefix; NULL: any
	struct str alias_prefix;
	struct search_condition conditions[SEARCH_MAX_CONDITIONS]; // all hold
	size_t n_conditions;
	const char *sort;         // NULL: in order of creation; "uuid", "created_at", "updated_at", "owner" or a member, nulls first
	bool descending;
	const struct uuid *marker; // those behind it; NULL: from the first
	uint64_t limit;
};
// Live resources of active tenants. A page may have less than limit when its documents are large; *more tells.
// OUTCOME_OK, _NOT_FOUND (the marker is none of this type and tenant).
enum outcome resource_search(struct registry *registry, const struct resource_search *search, struct resource **list,
	size_t *n, bool *more);

struct resource_query {
	struct str tenant;
	bool all_tenants;  // every active tenant's, in order of creation; the rest but limit and marker (an id) doesn't count
	const struct type *type;
	bool all_spaces;   // of a namespaced type: every namespace
	struct str space;
	bool deleted;      // those that can be recovered, by age
	// p NULL: from the first. A name; "namespace/name" with all_spaces; as resource_marker has it with deleted, all_tenants
	struct str marker;
	uint64_t limit;
	const struct trait_filter *traits; // trait.h; NULL: any. Not with deleted
	struct pool *pool; // where the list and its texts are made; NULL: in the request's
	uint64_t *newest; // gets what horizon_read says to be newest right behind the reading; NULL: it is not asked
};
// In byte order of (namespace, name). A page may have less than limit when its documents are large; *more tells.
// OUTCOME_OK, _NOT_FOUND (no tenant or namespace), _GONE (tenant), _BAD_PARAMETER
// (marker, unknown traits).
enum outcome resource_list(struct registry *registry, const struct resource_query *query, struct resource **list,
	size_t *n, bool *more);
// The marker that continues behind this item.
struct str resource_marker(struct pool *pool, const struct resource_query *query, const struct resource *last);

// "namespaces/default/configmaps/c1", "persistentvolumes/pv1": as move actions name resources (ids not encoded).
struct str resource_path(struct pool *pool, const struct type *type, struct str space, struct str name);

#endif

// SPDX-License-Identifier: Apache-2.0
// Resources: (tenant, type, namespace or none, name) -> a JSON document with uid, etag, revision.
#ifndef TENURE_REGISTRY_RESOURCE_RESOURCE_H
#define TENURE_REGISTRY_RESOURCE_RESOURCE_H

#include "registry/core/model.h"
#include "registry/trait/trait.h"

// Reads the live resource at the address. OUTCOME_OK. OUTCOME_NOT_FOUND. OUTCOME_GONE: the resource, its tenant, or the
// resource that a forward there names, is deleted but recoverable; *resource has purge_us and tenant. OUTCOME_MOVED: it has
// moved; *resource is the moved one, and the caller decides who may be told where.
enum outcome resource_get(struct registry *registry, const struct address *address, struct resource *resource);
// Announces that this request will call resource_get() for the resource of that name, once it has looked up the type by group and
// plural. If the look-up takes a round trip, its statement reads the resource as well, and resource_get() takes it from there.
// space: "" or a namespace. The texts must live as long as the request's pool.
void resource_expect(struct registry *registry, struct str tenant, struct str group, struct str plural, struct str space, struct str name);

// Creates or changes the resource at the address. A write that changes nothing keeps revision and etag and leaves no change
// row. *resource is the resource after the write. Returns
//   OUTCOME_CREATED, _OK       done; _OK with deleted_us: its deletion waited for finalizers, which this write has removed
//   _STALE, _PRECONDITION_REQUIRED
//   _NOT_FOUND                 no such tenant or namespace; nothing there and !creates; no definition serves the custom type
//   _GONE, _MOVED              as resource_get(), if !creates
//   _FORBIDDEN                 new, but its namespace or tenant is being deleted
//   _OVER_QUOTA
//   _BAD_DOCUMENT              against the type's rules or schema; the problem has causes
// or what edit->apply returns. A writer that compares a resourceVersion does so in apply, with current->changed, and returns
// OUTCOME_CONFLICT there.
enum outcome resource_write(struct registry *registry, const struct address *address, const struct edit *edit,
	struct guard guard, struct resource *resource);

// Deletes the resource so that it can be recovered. A namespace is deleted with its content, the root of a tree with all that
// depends on it. A resource with finalizers (metadata.finalizers: names of those that must clean up first; of a namespace also
// spec.finalizers, except "kubernetes") is only marked, which is a change; the write that removes the last finalizer deletes
// it. A namespace also waits for the finalizers of its content. OUTCOME_NO_CONTENT, _ACCEPTED (it waits; *resource is the
// marked one), _STALE, _PRECONDITION_REQUIRED, _NOT_FOUND, _GONE, _MOVED, _LOCKED, _CONFLICT (the namespace "default").
enum outcome resource_delete(struct registry *registry, const struct address *address, struct guard guard,
	struct resource *resource);

// Recovers the resource that was deleted last at that address, or the one with that uid, together with what was deleted with
// it. The guard checks the etag from before the deletion. OUTCOME_NO_CONTENT, _STALE, _NOT_FOUND, _NAME_TAKEN, _OVER_QUOTA,
// _CONFLICT (its namespace, or the root of its tree, is not live).
enum outcome resource_recover(struct registry *registry, const struct address *address, const struct uuid *uid,
	struct guard guard);

// ---- by uid or lookup key, wherever the resource is: for types whose resources are named by their uid (type->rules)

// OUTCOME_OK; OUTCOME_NOT_FOUND, also if it belongs to another tenant than ident says, or to a deleted one.
enum outcome resource_find(struct registry *registry, const struct ident *ident, struct resource *resource);
// Caches an answer beside the cached resource. It must depend on nothing but this resource and made_for. Both are copied. A later
// resource_get() or resource_find() of the unchanged resource returns them in resource->answer and answer_for. Does nothing
// unless the resource came from the cache: for one that is read once, a copy would cost more than it saves.
void resource_keep_answer(struct registry *registry, struct resource *resource, struct str made_for, struct str answer);
// Changes an existing resource; edit->creates is ignored. OUTCOME_OK, _NOT_FOUND, _STALE, _PRECONDITION_REQUIRED, _NAME_TAKEN,
// or what edit->apply or the type's rules return. One round trip for the locks, another for the writes.
enum outcome resource_change(struct registry *registry, const struct ident *ident, const struct edit *edit,
	struct guard guard, struct resource *resource);
// Deletes it so that it can be recovered, with all that depends on it. Outcomes as resource_delete(), except _GONE and _MOVED.
enum outcome resource_remove(struct registry *registry, const struct ident *ident, struct guard guard,
	struct resource *resource);
// Changes the resource and gives it, with all that depends on it, to another tenant, in one transaction and with the rules of a
// move. It gets a new etag. OUTCOME_OK; _BLOCKED (the problem has blockers); _GONE: that tenant is deleted; _BAD_PARAMETER: not a
// valid name of a tenant; _BAD_DOCUMENT: there is no such tenant and it may not be created; or as resource_change(). new_owner
// may be the present owner.
struct owner_change {
	struct str new_owner; // the tenant's name
	bool may_make;        // create the tenant if there is none of that name
	bool made;            // out: it was created
};
enum outcome resource_change_owner(struct registry *registry, const struct ident *ident, struct owner_change *change,
	const struct edit *edit, struct guard guard, struct resource *resource);

// What a search requires of a member of the body.
enum search_test {
	SEARCH_IS,       // it is this string, byte for byte
	SEARCH_CONTAINS, // it is a string that contains value
	SEARCH_AMONG,    // it is a string of value, a JSON array
	SEARCH_CONCERNS, // it is this string, or the resource's tenant has this name
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
	struct str tenant;        // p NULL: any tenant's
	const struct uuid *root;  // only resources in the tree with this root; NULL: any
	const char *key_kind;   // only resources with a lookup key of this kind that begins with key_prefix; NULL: any
	struct str key_prefix;
	struct search_condition conditions[SEARCH_MAX_CONDITIONS]; // all must hold
	size_t n_conditions;
	const char *top_member;    // only resources whose tree's root has in this member a string of top_among, a JSON
	struct str top_among;      // array; NULL: any
	// NULL: by creation; else "uuid", "created_at", "updated_at", "owner" or a member of the body; nulls come first
	const char *sort;
	bool sorts_numbers;        // the values of that member are whole numbers of 32 bits
	bool descending;
	const struct uuid *marker; // only what comes after this resource; NULL: from the first
	// The tenant of the marker; p NULL: any, since it may have moved since it ended a page of the list of `tenant`
	struct str marker_tenant;
	uint64_t limit;
};
// Who gets what a search finds.
struct search_visit {
	// Called with the next n resources, in order; n may be 0. They live in scratch, until the function returns. It returns
	// how many of them it has taken: if fewer than n, the page ends with those.
	size_t (*take)(void *arg, const struct resource *list, size_t n);
	void *arg;
	struct pool *scratch; // a pool that has nothing else: it is cleared after each call of take()
};
// Visits a page of live resources of active tenants. It holds a few megabytes of them at a time, so that a page may have a
// thousand large ones. A page has less than limit resources if there are no more, if take() ends it, or if half of the request's
// CPU time is used;
// *more: there are more. OUTCOME_OK; OUTCOME_NOT_FOUND: the marker is no resource of this type and marker_tenant.
enum outcome resource_search(struct registry *registry, const struct resource_search *search, const struct search_visit *visit,
	bool *more);

struct resource_query {
	struct str tenant;
	bool all_tenants;  // of every active tenant, by creation; the marker is an id, and deleted and traits must not be given
	const struct type *type;
	bool all_spaces;   // namespaced types: of every namespace
	struct str space;  // without all_spaces: the namespace; "" for types that are in none
	bool deleted;      // recoverable ones instead of live ones, by the time of their deletion
	// Where the last page ended: a name; with all_spaces "namespace/name"; with deleted or all_tenants a resource_marker().
	// p NULL: from the first.
	struct str marker;
	uint64_t limit;
	const struct trait_filter *traits; // trait.h; NULL: any. Not together with deleted
	struct pool *pool; // the pool for the list and its texts; NULL: the request's
	uint64_t *newest; // out: the newest change id as of the reading, as horizon_read() returns it; NULL: not wanted
};
// Returns a page in byte order of (namespace, name). It may have less than limit resources if their documents are large; *more:
// there are more. OUTCOME_OK; _NOT_FOUND: no such tenant or namespace; _GONE: the tenant is deleted; _BAD_PARAMETER: the
// marker, or unknown traits.
enum outcome resource_list(struct registry *registry, const struct resource_query *query, struct resource **list,
	size_t *n, bool *more);
// The marker of the page that follows the resource last.
struct str resource_marker(struct pool *pool, const struct resource_query *query, const struct resource *last);

// "namespaces/default/configmaps/c1", "persistentvolumes/pv1": how move actions name resources. Not percent-encoded.
struct str resource_path(struct pool *pool, const struct type *type, struct str space, struct str name);

#endif

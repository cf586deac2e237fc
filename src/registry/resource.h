// SPDX-License-Identifier: Apache-2.0
// Resources: (tenant, type, namespace or none, name) -> a JSON document with uid, etag, revision.
#ifndef TENURE_REGISTRY_RESOURCE_H
#define TENURE_REGISTRY_RESOURCE_H

#include "registry/tenant.h"
#include "registry/type.h"

struct address {
	struct str tenant;
	const struct type *type;
	struct str space; // the namespace; "" when the type has none
	struct str name;
};

enum resource_live { RESOURCE_DELETED = 0, RESOURCE_COUNTED = 1, RESOURCE_KEPT = 2 /* the namespace "default" */ };

struct resource {
	uint64_t id;
	struct uuid uid;
	uint64_t tenant_id;
	struct str tenant;
	const struct type *type;
	struct str space, name;
	enum resource_live live;
	bool locked;
	uint64_t revision, edits;
	uint8_t etag[64];
	struct str meta; // JSON object: labels, annotations and what else the client keeps in metadata; compact
	struct str body; // JSON object: everything but metadata; compact
	int64_t created_us, updated_us;
	int64_t deleted_us, purge_us; // 0 while it lives
};

// What a write makes of a resource.
struct content {
	struct str meta;
	struct str body;
	bool locked; // metadata.locked: refuses moves and deletion
};
// Computes the new content from the current one (NULL: there is none yet). OUTCOME_OK, or what the write ends with. Runs
// under the row's lock, so it must not wait for anything.
struct edit {
	enum outcome (*apply)(void *arg, const struct resource *current, struct content *content);
	void *arg;
	bool creates; // false: answer NOT_FOUND (or GONE, MOVED) when there is nothing to change
};

// OUTCOME_OK. _NOT_FOUND. _GONE: it, its tenant or what its forward leads to is deleted and recoverable; *resource has
// purge_us and tenant. _MOVED: it lives elsewhere; *resource is what lives there, and the caller decides who may know.
enum outcome resource_get(struct registry *registry, const struct address *address, struct resource *resource);

// Creates or changes. A write that changes nothing keeps revision and etag and leaves no change row.
// OUTCOME_CREATED, _OK, _STALE, _NOT_FOUND (no tenant or namespace; or nothing there and !creates), _GONE, _MOVED (as
// resource_get, when !creates), _OVER_QUOTA, or what apply says. *resource is as it stands after the write.
enum outcome resource_write(struct registry *registry, const struct address *address, const struct edit *edit,
	struct guard guard, struct resource *resource);

// Deletes, recoverably; a namespace with all that is in it. OUTCOME_NO_CONTENT, _STALE, _NOT_FOUND, _GONE, _MOVED,
// _LOCKED, _CONFLICT (the namespace "default").
enum outcome resource_delete(struct registry *registry, const struct address *address, struct guard guard,
	struct resource *resource);

// Brings back what was deleted last at that address, or the one of that uid, together with what was deleted with it.
// The guard is asked about the etag it was deleted with. OUTCOME_NO_CONTENT, _STALE, _NOT_FOUND, _NAME_TAKEN,
// _OVER_QUOTA, _CONFLICT (its namespace is gone).
enum outcome resource_recover(struct registry *registry, const struct address *address, const struct uuid *uid,
	struct guard guard);

struct resource_query {
	struct str tenant;
	const struct type *type;
	bool all_spaces;   // of a namespaced type: every namespace
	struct str space;
	bool deleted;      // those that can be recovered, by age
	struct str marker; // p NULL: from the first. A name; "namespace/name" with all_spaces; a uid with deleted
	uint64_t limit;
};
// In byte order of (namespace, name). A page may have less than limit when its documents are large; *more tells.
// OUTCOME_OK, _NOT_FOUND (no tenant or namespace), _GONE (tenant), _BAD_PARAMETER
// (marker).
enum outcome resource_list(struct registry *registry, const struct resource_query *query, struct resource **list,
	size_t *n, bool *more);
// The marker that continues behind this item.
struct str resource_marker(struct pool *pool, const struct resource_query *query, const struct resource *last);

// "namespaces/default/configmaps/c1", "persistentvolumes/pv1": as move actions name resources (ids not encoded).
struct str resource_path(struct pool *pool, const struct type *type, struct str space, struct str name);

#endif

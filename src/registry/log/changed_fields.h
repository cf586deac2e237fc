// SPDX-License-Identifier: Apache-2.0
// Which fields a change altered: JSON Pointers to members, at most two levels deep, as the column changes.fields keeps them.
#ifndef TENURE_REGISTRY_LOG_CHANGED_FIELDS_H
#define TENURE_REGISTRY_LOG_CHANGED_FIELDS_H

#include "registry/core/model.h"

// At most so many pointers, of at most so many bytes each.
enum { FIELDS_MAX = 64, FIELD_MAX_BYTES = 512 };

// A list of pointers while it is being made. It starts as { .pool = … }.
struct changed_fields {
	struct pool *pool;
	struct str at[FIELDS_MAX]; // JSON Pointers, no two equal
	size_t n;
	bool full; // there were more than FIELDS_MAX; changed_fields_finish() resolves that
};

// Adds a pointer unless the list has it. The caller must shorten a pointer of more than FIELD_MAX_BYTES, to its parent.
void changed_fields_add(struct changed_fields *fields, struct str pointer);
// Adds the pointers of a stored JSON array. Returns false if json is not an array.
bool changed_fields_add_stored(struct changed_fields *fields, struct str json);
// Completes the list: if there were more than FIELDS_MAX, it becomes the pointer "", which means the whole document.
void changed_fields_finish(struct changed_fields *fields);

// Returns a JSON array of pointers to the members in which two versions of a resource differ. If these are more than FIELDS_MAX,
// only members of the first level are listed. Labels, annotations, traits and the tenant's name stand under "/metadata".
// *in_spec: one of them is outside of "metadata" and, if the type has a part "status" (has_status), outside of that.
struct str changed_fields_of_resource(struct pool *pool, const struct resource *before, const struct resource *after, bool has_status,
	bool *in_spec);
// The same for a tenant: its tier, etag_required, metadata and the members of its Tenant object.
struct str changed_fields_of_tenant(struct pool *pool, const struct tenant *before, const struct tenant *after);

#endif

// SPDX-License-Identifier: Apache-2.0
// Reads the change log of all tenants, for watches. log/horizon.h says how far the log may be read.
#ifndef TENURE_REGISTRY_WATCH_CHANGE_STREAM_H
#define TENURE_REGISTRY_WATCH_CHANGE_STREAM_H

#include "registry/tenant/change_list.h"

// A row of the change log, and the resource or tenant that it changed.
struct streamed_change {
	uint64_t id;
	struct str verb;            // created | updated | deleted | recovered | moved | purged
	struct str tenant, from;    // names: of the tenant, and in a move of the tenant before it. p NULL: that tenant was purged
	struct str former;          // if the tenant was purged, the name that it had; else p is NULL
	uint64_t tenant_id;
	// As the log describes it; change_stream_contents() replaces that by what is stored. id 0: the tenant itself was changed.
	struct resource resource;
	const struct tenant *itself; // if the tenant itself was changed: the tenant. Set by change_stream_contents()
	bool beside;                // the change is of what the tenant has beside its document: no object has changed
	bool newest;                // the resource or tenant has no later change. Set by change_stream_contents()
	bool asks_before;           // set by the caller: change_stream_contents() shall set before
	struct str before;          // labels and selectable fields before the change (log/selectable.h); p NULL: not known
};

// Is it a change of a tenant itself, not of a resource?
static inline bool streamed_change_is_of_tenant(const struct streamed_change *change)
{
	return change->resource.id == 0 && change->resource.type == NULL;
}

// Reads the changes of the range in the order of their ids, into the request's pool. OUTCOME_OK, or that of a failed statement.
enum outcome change_stream_read(struct registry *registry, struct change_range range, struct streamed_change **list, size_t *n);
// change_stream_read() of two tenants alone, given by their ids: changes in them, and moves away from them.
enum outcome change_stream_read_of(struct registry *registry, const uint64_t tenants[2], struct change_range range,
	struct streamed_change **list, size_t *n);
// Returns the ids of the tenants that changes with after < id <= up_to concern, including changes in flight. OUTCOME_OK, or
// that of a failed statement.
enum outcome change_stream_tenants(struct registry *registry, uint64_t after, uint64_t up_to, uint64_t **ids, size_t *n);
// *id: of the tenant that has this name; 0: none. OUTCOME_OK, or that of a failed statement.
enum outcome change_stream_tenant(struct registry *registry, struct str name, uint64_t *id);
// Reads the resource or tenant of each of n changes as it is stored now, a deleted one as it was last. It takes one round trip,
// and a second one if a change has asks_before. n is 1 to DB_MAX_BATCH. resource.changed becomes the change's id. A purged
// resource has only what the log says, without metadata and body. OUTCOME_OK, or that of a failed statement.
enum outcome change_stream_contents(struct registry *registry, struct streamed_change *const *list, size_t n);

#endif

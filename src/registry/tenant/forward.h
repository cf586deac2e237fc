// SPDX-License-Identifier: Apache-2.0
// Forwards as operators manage them: the addresses that resources left behind when they moved. resource_get() answers requests
// for such an address.
#ifndef TENURE_REGISTRY_TENANT_FORWARD_H
#define TENURE_REGISTRY_TENANT_FORWARD_H

#include "registry/core/model.h"

struct forward {
	const struct type *type; // with space and name: the address that the resource left
	struct str space, name;
	struct uuid uid;  // of the resource
	struct str dest;  // the tenant that has the resource now, after however many moves
	bool gone;        // the resource, or that tenant, is deleted and can be recovered
	int64_t moved_us; // when the resource left the address
	bool has_request;
	struct uuid request_id; // of the request that moved it, if has_request
	int64_t expires_us;     // until when the forward leads on; 0: as long as the resource is stored
};

// Where a page begins: behind this address. All 0 and p NULL: at the first one.
struct forward_place {
	uint64_t type_id;
	struct str space, name;
};

struct forward_page {
	struct forward *list; // allocated from the request's pool
	size_t n;
	bool more; // there are more forwards after the last one here
};
// Reads the forwards of a tenant behind that place, at most limit, > 0, in the order of (type id, namespace, name). OUTCOME_OK,
// _NOT_FOUND, _GONE (the tenant is deleted), or that of a failed statement.
enum outcome forward_list(struct registry *registry, struct str tenant, const struct forward_place *after, uint64_t limit,
	struct forward_page *page);
// Sets until when the forward at the address leads on: microseconds since 1970, later than now, or 0: as long as the resource is
// stored. OUTCOME_OK with *forward as it is then; _NOT_FOUND (no tenant, or no forward there), _GONE (the tenant is deleted).
enum outcome forward_expire(struct registry *registry, const struct address *address, int64_t expires_us, struct forward *forward);
// Deletes the forward at the address, which is then like one that never had a resource. OUTCOME_NO_CONTENT; _NOT_FOUND and _GONE
// as forward_expire().
enum outcome forward_revoke(struct registry *registry, const struct address *address);

#endif

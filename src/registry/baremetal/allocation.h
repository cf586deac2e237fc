// SPDX-License-Identifier: Apache-2.0
// Allocations: which node serves a request for one of a resource class. An allocation that has a node is in the node's tree: it
// belongs to the node's tenant, and moves with the node. The node names it as allocation_uuid, and as instance_uuid.
//
// An allocation is made in one transaction, together with the change of its node. It is deleted like any other resource; the
// rules of its type free the node.
#ifndef TENURE_REGISTRY_BAREMETAL_ALLOCATION_H
#define TENURE_REGISTRY_BAREMETAL_ALLOCATION_H

#include "registry/baremetal/baremetal.h"

// The words of an allocation's member state; ends with NULL.
extern const char *const allocation_states[];

struct allocation_request {
	struct uuid uid;   // of the new allocation
	struct str tenant; // only nodes of this tenant are taken, and the allocation is its own; p NULL: nodes of any tenant
	struct doc *body;  // what the client gave: candidate_nodes (UUIDs), extra, name, resource_class, traits
	const struct uuid *node; // a node that is active already: the allocation is recorded for it; NULL: a node is picked
};
// Makes an allocation. *begun: as it is stored at first, in state "allocating". *ended: as it stands at the end of the
// transaction: "active" with its node or, if no node fits, "error" with last_error. With request->node both are the same.
// OUTCOME_CREATED; _NAME_TAKEN (its name or uid is another's); _CONFLICT (that node can't have it); _BAD_DOCUMENT; _NOT_FOUND
// (that node is gone); _UNAVAILABLE (others have filled the node's tenant meanwhile, so the transaction runs again); or as
// resource_write().
enum outcome allocation_create(struct registry *registry, const struct allocation_request *request, struct resource *begun,
	struct resource *ended);

// Deletes the allocation of a node that this transaction has already freed. OUTCOME_OK, also if there is none any more.
enum outcome allocation_drop(struct registry *registry, const struct uuid *uid);

#endif

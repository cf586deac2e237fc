// SPDX-License-Identifier: Apache-2.0
// For record_*.c only: to which tenants new providers belong, and what is there already of their trees.
#ifndef TENURE_REGISTRY_PLACEMENT_RECORD_INTERNAL_H
#define TENURE_REGISTRY_PLACEMENT_RECORD_INTERNAL_H

#include "registry/placement/record.h"
#include "registry/resource/internal.h"

// Since the caller looked, another writer has created one of the records, or changed what a record refers to.
// OUTCOME_UNAVAILABLE: the transaction runs again, and its function has to look again.
enum outcome record_fail_changed(struct registry *registry, const char *what);

// A live provider that a new one has as its parent, or as the root of its tree.
struct provider_above {
	struct uuid uid;
	struct uuid root; // by the records of the new providers
	uint64_t id;      // 0: it is not there
	uint64_t tenant_id;
	struct str tenant;
};
// The places of n new providers.
struct provider_places {
	struct provider_above *above; // in order of uids
	size_t n_above;
	struct provider_owner *owners; // in order of ids
	size_t n_owners;
	size_t *owner_of;              // of each record: its index in owners
	struct locked_tenant *tenants; // of the owners, once they are locked
};

// Finds the places, without locks. OUTCOME_OK; OUTCOME_NOT_FOUND: there is no system tenant.
enum outcome provider_places_find(struct registry *registry, const struct provider_record *list, size_t n,
	struct provider_places *places);
// Locks them in share mode until the transaction ends: the owners in order of their ids, then what is above the new providers.
// May wait for locks as lock_wait() says. OUTCOME_OK; that of record_fail_changed(): something above is not there any more, or in
// another tenant or tree; that of tenant_fail_ending().
enum outcome provider_places_lock(struct registry *registry, struct provider_places *places);

#endif

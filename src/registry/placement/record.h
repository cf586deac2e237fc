// SPDX-License-Identifier: Apache-2.0
// Providers and consumers as whole records, with everything that belongs to them: the form in which tenure-manage reads,
// compares and transfers them (import placement, export placement). Requests use provider.h, inventory.h and allocation.h.
#ifndef TENURE_REGISTRY_PLACEMENT_RECORD_H
#define TENURE_REGISTRY_PLACEMENT_RECORD_H

#include "registry/placement/allocation.h"

struct provider_record {
	struct uuid uid;
	struct str name;
	bool has_parent;
	struct uuid parent;
	struct uuid root; // its own uid if it is the root
	uint64_t generation;
	struct inventory *inventories; // of different classes; created_us and updated_us are not set
	size_t n_inventories;
	struct uuid *aggregates; // different ones
	size_t n_aggregates;
	struct str *traits; // different ones
	size_t n_traits;
};
struct consumer_record {
	struct consumer consumer; // type p NULL: none; created_us and updated_us are not set
	struct allocation *allocations; // each pair of provider and class once
	size_t n_allocations;
};

// Reads the live providers, of active tenants, with these uids. *list: in order of uids; *n_found: how many there are.
// OUTCOME_OK, or that of a failed statement.
enum outcome provider_records_read(struct registry *registry, const struct uuid *uids, size_t n, struct provider_record **list,
	size_t *n_found);
// Reads the consumers with these uids, likewise.
enum outcome consumer_records_read(struct registry *registry, const struct uuid *uids, size_t n, struct consumer_record **list,
	size_t *n_found);

// Return the record of that uid, from a list in order of uids; NULL: there is none.
struct provider_record *provider_record_find(struct provider_record *list, size_t n, const struct uuid *uid);
struct consumer_record *consumer_record_find(struct consumer_record *list, size_t n, const struct uuid *uid);

// A tenant, and how many of some new providers it gets.
struct provider_owner {
	uint64_t id;
	struct str name;
	uint64_t n;
};
// Finds the tenants to which provider_records_create() would give n (> 0) providers. Locks nothing. *owners: in order of ids.
// OUTCOME_OK;
// _NOT_FOUND: there is no system tenant; or that of a failed statement.
enum outcome provider_records_owners(struct registry *registry, const struct provider_record *list, size_t n,
	struct provider_owner **owners, size_t *n_owners);

// ---- writing. Each call is one transaction of mode DB_WRITE. In the change log, providers are created, and get allocations.

// Creates the providers, with the generations that they have in the records. One in a tree that is there already belongs to the
// tenant of that, else to the system's. The same transaction must have read that they are not there (provider_records_read()). If
// one is by now, or one of that name, or if a class, trait or parent is not there any more, the transaction runs again.
// OUTCOME_CREATED; _CONFLICT: the tenant's deletion waits for finalizers; _OVER_QUOTA; _UNAVAILABLE.
enum outcome provider_records_create(struct registry *registry, const struct provider_record *list, size_t n);
// Creates the consumers with their allocations and generations. Capacities are not checked. The generations of providers do not
// change, since the provider records have them as they are after these allocations. OUTCOME_CREATED; the transaction runs again,
// as above, if there is such a consumer by now, or a provider or its inventory is not there any more.
enum outcome consumer_records_create(struct registry *registry, const struct consumer_record *list, size_t n);

#endif

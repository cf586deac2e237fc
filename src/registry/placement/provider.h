// SPDX-License-Identifier: Apache-2.0
// Resource providers of the placement API: they have inventories, aggregates and traits. A provider is a resource of type
// resourceproviders and named by its uid. Name and parent are members of its body (provider_rules.c); generation, inventories
// and aggregates are in tables of their own.
//
// Refusals have the texts of OpenStack's placement service, since clients evaluate them. The problem's member "code" is that
// API's code without "placement.": concurrent_update, duplicate_name, inventory.inuse, resource_provider.inuse or
// resource_provider.cannot_delete_parent. Every function returns OUTCOME_NOT_FOUND, "No resource provider with uuid … found.",
// if there is no such provider.
#ifndef TENURE_REGISTRY_PLACEMENT_PROVIDER_H
#define TENURE_REGISTRY_PLACEMENT_PROVIDER_H

#include "registry/core/model.h"
#include "registry/resource/traits.h"
#include "sql/provider_lists.h"

struct trait_edit; // registry/trait/trait.h

struct provider {
	struct resource resource; // uid, tenant, etag, traits, times; in lists without meta, body, etag and traits
	struct str name;
	bool has_parent;
	struct uuid parent;
	struct uuid root;
	uint64_t generation; // grows with each change of traits, inventories and allocations
};

// The precondition of a write. If has_generation and the provider's generation is another one: OUTCOME_CONFLICT, code
// concurrent_update. A given generation counts as the precondition that a tenant may require. guard is as in resource_change().
struct provider_guard {
	bool has_generation;
	uint64_t generation;
	struct guard guard;
};

// The type of providers.
const struct type *provider_type(struct registry *registry);

enum outcome provider_get(struct registry *registry, const struct uuid *uid, struct provider *provider);

struct provider_content {
	struct str name;  // 1 to 200 characters
	bool sets_parent; // false: an existing provider keeps its parent, a new one gets none
	bool has_parent;  // false with sets_parent: it becomes the root of a tree
	struct uuid parent;
};
// Creates a provider. It belongs to its parent's tenant, or without a parent to TENANT_SYSTEM, which is created if necessary.
// OUTCOME_CREATED. _BAD_DOCUMENT (no such parent, or its own parent), _NAME_TAKEN with code duplicate_name (name or uid),
// _OVER_QUOTA, _UNAVAILABLE (the parent has moved meanwhile, so the transaction runs again).
enum outcome provider_create(struct registry *registry, const struct uuid *uid, const struct provider_content *content,
	struct provider *provider);
// Changes name and parent. reparents: a provider with a parent may get another one, or none. The generation stays. OUTCOME_OK,
// and *provider is the provider afterwards. _BAD_DOCUMENT (parent), _NAME_TAKEN as above, _STALE, _PRECONDITION_REQUIRED.
enum outcome provider_change(struct registry *registry, const struct uuid *uid, const struct provider_content *content,
	bool reparents, struct guard guard, struct provider *provider);
// Deletes it so that it can be recovered, with inventories, aggregates and traits; its uid becomes free at once.
// OUTCOME_NO_CONTENT. _CONFLICT with code resource_provider.inuse (it has allocations) or
// resource_provider.cannot_delete_parent; _LOCKED, _STALE, _PRECONDITION_REQUIRED.
enum outcome provider_delete(struct registry *registry, const struct uuid *uid, struct guard guard);

// resource_change_traits() of a provider: every change raises the generation. OUTCOME_OK, and *provider is the provider
// afterwards. _BAD_PARAMETER "No such trait …", _NOT_FOUND (TRAITS_REMOVE), _CONFLICT, _STALE, _PRECONDITION_REQUIRED.
enum outcome provider_change_traits(struct registry *registry, const struct uuid *uid,
	const struct provider_guard *guard, const struct trait_edit *edit, struct provider *provider);

// ---- lists

// At most so many memberships, requirements and demands each. How many aggregates or traits one of them names is not limited:
// nova names all aggregates of an availability zone in one.
enum { PROVIDER_MAX_TERMS = 64 };

// The provider is in at least one of these aggregates; forbidden: in none of them.
struct provider_membership {
	const struct uuid *aggregates;
	size_t n;
	bool forbidden;
};
// The provider has at least one of these traits; forbidden: none of them.
struct provider_requirement {
	const struct str *traits;
	size_t n;
	bool forbidden;
};
// The provider has an inventory that can take a new allocation of this amount.
struct provider_demand {
	struct str class;
	uint64_t amount;
};
// All conditions must hold. What is NULL, 0 or has p NULL is no condition.
struct provider_query {
	// The filters by one value: name; uid; in_tree, the uid of a provider of the same tree. Uids are of 16 bytes.
	struct sql_provider_plain plain;
	const struct provider_membership *memberships;
	size_t n_memberships;
	const struct provider_requirement *requirements;
	size_t n_requirements;
	const struct provider_demand *demands;
	size_t n_demands;
};
// Takes one provider of a list. Its texts, and what the function allocates from pool, are freed when it returns. The function
// must not read or write the registry.
struct provider_taker {
	void (*take)(void *arg, const struct provider *provider, struct pool *pool);
	void *arg;
};
// Gives all live providers of active tenants that the query selects to the taker, in order of creation and while they are read,
// so a list of any length needs the memory of one provider. They are the providers of one moment. If the query has a name, a uid,
// a tree, or an aggregate, trait or amount that few providers have, the cost depends on their number only. OUTCOME_OK;
// _BAD_PARAMETER, with the texts of the placement API: unknown traits or classes, or more than PROVIDER_MAX_TERMS. If the reading
// fails half-way, some providers were taken before.
enum outcome provider_list(struct registry *registry, const struct provider_query *query, const struct provider_taker *taker);

#endif

// SPDX-License-Identifier: Apache-2.0
// Providers of resources: what the placement API tells apart by inventories, aggregates and traits. A provider is a
// resource of type resourceproviders, named by its uid; name and parent are members of its body (provider_rules.c),
// its generation and what it provides stand in tables of their own.
//
// What these functions refuse they refuse in the words of the placement service, whose clients read them; the
// problem's member "code" is that API's code without "placement.", where it has one: concurrent_update duplicate_name
// inventory.inuse resource_provider.inuse resource_provider.cannot_delete_parent Every function answers
// OUTCOME_NOT_FOUND, "No resource provider with uuid … found.", when there is no such provider.
#ifndef TENURE_REGISTRY_PLACEMENT_PROVIDER_H
#define TENURE_REGISTRY_PLACEMENT_PROVIDER_H

#include "registry/core/model.h"
#include "registry/resource/traits.h"

struct trait_edit; // registry/trait/trait.h

struct provider {
	struct resource resource; // uid, tenant, etag, traits, times; in lists without meta, body, etag and traits
	struct str name;
	bool has_parent;
	struct uuid parent;
	struct uuid root;
	uint64_t generation; // raised by every change of traits, inventories and allocations
};

// What a writer relies on. OUTCOME_CONFLICT, code concurrent_update, when generation is given and not the current one;
// guard as in resource_change. A given generation is precondition enough where the tenant insists on one.
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
	bool sets_parent; // false: it keeps what it has, a new one: none
	bool has_parent;  // else it is to be the top of a tree
	struct uuid parent;
};
// A new provider belongs to its parent's tenant, one without parent to TENANT_SYSTEM, which is made when it is
// missing. OUTCOME_CREATED. _BAD_DOCUMENT (no such parent, its own parent), _NAME_TAKEN with code duplicate_name (name
// or uid), _OVER_QUOTA.
enum outcome provider_create(struct registry *registry, const struct uuid *uid, const struct provider_content *content,
	struct provider *provider);
// reparents: a provider that has a parent may get another one, or none. Changes no generation.
// OUTCOME_OK, *provider as it stands now. _BAD_DOCUMENT (parent), _NAME_TAKEN as above, _STALE, _PRECONDITION_REQUIRED.
enum outcome provider_change(struct registry *registry, const struct uuid *uid, const struct provider_content *content,
	bool reparents, struct guard guard, struct provider *provider);
// Recoverably, with inventories, aggregates and traits; the uid may be taken again at once. OUTCOME_NO_CONTENT.
// _CONFLICT with code resource_provider.inuse (it has allocations), resource_provider.cannot_delete_parent; _LOCKED,
// _STALE, _PRECONDITION_REQUIRED.
enum outcome provider_delete(struct registry *registry, const struct uuid *uid, struct guard guard);

// resource_change_traits for a provider: any change of them raises the generation. OUTCOME_OK, *provider as it stands
// now. _BAD_PARAMETER "No such trait …", _NOT_FOUND (TRAITS_REMOVE), _CONFLICT, _STALE, _PRECONDITION_REQUIRED.
enum outcome provider_change_traits(struct registry *registry, const struct uuid *uid,
	const struct provider_guard *guard, const struct trait_edit *edit, struct provider *provider);

// ---- lists

enum { PROVIDER_MAX_TERMS = 64 /* of a kind */ };

// In at least one of these aggregates; forbidden: in none of them.
struct provider_membership {
	const struct uuid *aggregates;
	size_t n;
	bool forbidden;
};
// Has at least one of these traits; forbidden: none of them.
struct provider_requirement {
	const struct str *traits;
	size_t n;
	bool forbidden;
};
// Has inventory that could take a new allocation of this amount.
struct provider_demand {
	struct str class;
	uint64_t amount;
};
// All of them hold. What is p NULL, NULL or 0 does not count.
struct provider_query {
	struct str name;
	const struct uuid *uid;
	const struct uuid *in_tree; // a provider of the same tree
	const struct provider_membership *memberships;
	size_t n_memberships;
	const struct provider_requirement *requirements;
	size_t n_requirements;
	const struct provider_demand *demands;
	size_t n_demands;
};
// Live providers of active tenants in order of creation, all of them. Costs what the answers cost, where there is a
// name, uid, tree, an aggregate, a trait or an amount that few have. OUTCOME_OK; _BAD_PARAMETER, in the words of the
// Placement API: traits or a class that there are none of, more terms than PROVIDER_MAX_TERMS.
enum outcome provider_list(struct registry *registry, const struct provider_query *query, struct provider **list,
	size_t *n);

#endif

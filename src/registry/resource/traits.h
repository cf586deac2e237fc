// SPDX-License-Identifier: Apache-2.0
// Changes of which traits a resource has.
#ifndef TENURE_REGISTRY_RESOURCE_TRAITS_H
#define TENURE_REGISTRY_RESOURCE_TRAITS_H

#include "registry/core/model.h"
#include "registry/trait/trait.h"

// What becomes of a resource's traits.
enum trait_change {
	TRAITS_SET,    // these and no others
	TRAITS_ADD,
	TRAITS_REMOVE, // OUTCOME_NOT_FOUND when one is not there
	TRAITS_CLEAR,
};

struct trait_edit {
	enum trait_change change;
	const struct str *names; // in any order, repeated or not
	size_t n;
	size_t most;        // traits it may have in the end; 0: no limit
	bool makes_custom;  // well-formed custom names that the catalogue lacks come into being
};

// Traits are covered by the etag and leave a change row (field "/metadata/traits"). What changes nothing keeps both.
// OUTCOME_OK, *resource as it stands now. _BAD_PARAMETER: a name that is not in the catalogue (the problem lists them),
// too many. _NOT_FOUND, _STALE, _PRECONDITION_REQUIRED as resource_change.
enum outcome resource_change_traits(struct registry *registry, const struct ident *ident, const struct trait_edit *edit,
	struct guard guard, struct resource *resource);
// The same by where it stands. Also _GONE, _MOVED, as resource_get.
enum outcome resource_change_traits_at(struct registry *registry, const struct address *address,
	const struct trait_edit *edit, struct guard guard, struct resource *resource);

#endif

// SPDX-License-Identifier: Apache-2.0
// Changes the traits of a resource.
#ifndef TENURE_REGISTRY_RESOURCE_TRAITS_H
#define TENURE_REGISTRY_RESOURCE_TRAITS_H

#include "registry/core/model.h"
#include "registry/trait/trait.h"

// How the traits of a resource change.
enum trait_change {
	TRAITS_SET,    // exactly these
	TRAITS_ADD,
	TRAITS_REMOVE, // OUTCOME_NOT_FOUND if the resource lacks one of them
	TRAITS_CLEAR,
};

struct trait_edit {
	enum trait_change change;
	const struct str *names; // in any order, may be repeated
	size_t n;
	size_t most;        // how many traits the resource may then have; 0: no limit
	bool makes_custom;  // create those well-formed custom names that the catalogue lacks
	const char *no_such; // how the refusal of unknown names begins; NULL: "there is no such trait in the catalogue:"
};

// Traits are part of the etag, and a change leaves a change row (field "/metadata/traits"). What changes nothing leaves the
// resource as it is. OUTCOME_OK, and *resource is the resource afterwards. _BAD_PARAMETER: names that the catalogue lacks,
// which the problem lists, or too many. _NOT_FOUND, _STALE, _PRECONDITION_REQUIRED as resource_change().
enum outcome resource_change_traits(struct registry *registry, const struct ident *ident, const struct trait_edit *edit,
	struct guard guard, struct resource *resource);
// The same for the resource at an address. Also OUTCOME_GONE and _MOVED, as resource_get().
enum outcome resource_change_traits_at(struct registry *registry, const struct address *address,
	const struct trait_edit *edit, struct guard guard, struct resource *resource);

#endif

// SPDX-License-Identifier: Apache-2.0
// Traits: the catalogue of names, and which resource has which. Rules: specs traits-api.
#ifndef TENURE_REGISTRY_TRAIT_TRAIT_H
#define TENURE_REGISTRY_TRAIT_TRAIT_H

#include "registry/resource/resource.h"

enum { TRAIT_MAX_NAME = 255, TRAITS_MAX = 50 /* of a bare-metal node */ };

// 1 to 255 of A-Z 0-9 _.
bool trait_is_name(struct str name);
// One that begins with CUSTOM_ and goes on.
bool trait_is_custom(struct str name);

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

// Which resources, by their traits: those that have all of required, none of forbidden, and of each group one at least.
enum { TRAIT_GROUPS_MAX = 4 };
struct trait_group {
	const struct str *names;
	size_t n;
};
struct trait_filter {
	const struct str *required;
	size_t n_required;
	const struct str *forbidden;
	size_t n_forbidden;
	const struct trait_group *any;
	size_t n_any; // TRAIT_GROUPS_MAX at most
};

#endif

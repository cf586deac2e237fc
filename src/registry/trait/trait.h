// SPDX-License-Identifier: Apache-2.0
// Traits: their names, and conditions on the traits of resources.
#ifndef TENURE_REGISTRY_TRAIT_TRAIT_H
#define TENURE_REGISTRY_TRAIT_TRAIT_H

#include "registry/core/model.h"

enum { TRAIT_MAX_NAME = 255, TRAITS_MAX = 50 /* of a bare-metal node */ };

// Is it 1 to 255 of the characters A-Z, 0-9 and _?
bool trait_is_name(struct str name);
// Is it the name of a custom trait: CUSTOM_ with at least one character behind it?
bool trait_is_custom(struct str name);

// A condition on a resource's traits: it has all of required, none of forbidden, and at least one of each group in any.
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
	size_t n_any; // at most TRAIT_GROUPS_MAX
};

#endif

// SPDX-License-Identifier: Apache-2.0
// Traits: the catalogue of names, and which resource has which. Rules: specs traits-api.
#ifndef TENURE_REGISTRY_TRAIT_TRAIT_H
#define TENURE_REGISTRY_TRAIT_TRAIT_H

#include "registry/core/model.h"

enum { TRAIT_MAX_NAME = 255, TRAITS_MAX = 50 /* of a bare-metal node */ };

// 1 to 255 of A-Z 0-9 _.
bool trait_is_name(struct str name);
// One that begins with CUSTOM_ and goes on.
bool trait_is_custom(struct str name);

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

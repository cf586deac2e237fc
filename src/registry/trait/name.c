// SPDX-License-Identifier: Apache-2.0
// The syntax of trait names.
#include "base/base.h"

#include "base/ascii.h"
#include "registry/trait/trait.h"

bool trait_is_name(struct str name)
{
	for (size_t i = 0; i < name.n; i++) {
		char c = name.p[i];
		if (!ascii_is_upper(c) && !ascii_is_digit(c) && c != '_')
			return false;
	}
	return name.n > 0 && name.n <= TRAIT_MAX_NAME;
}

bool trait_is_custom(struct str name)
{
	struct str prefix = STR("CUSTOM_");

	return trait_is_name(name) && str_starts(name, prefix) && name.n > prefix.n;
}

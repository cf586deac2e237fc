// SPDX-License-Identifier: Apache-2.0
// Names in a tenant's metadata.
#include "base/base.h"

#include "api/tenant_metadata.h"
#include "base/ascii.h"

static bool is_letter(char c)
{
	return ascii_is_letter(c) || c == '_';
}

bool tenant_metadata_name_ok(struct str name)
{
	if (name.n == 0 || name.n > MAX_META_NAME || !is_letter(name.p[0]))
		return false;
	for (size_t i = 1; i < name.n; i++)
		if (!is_letter(name.p[i]) && !ascii_is_digit(name.p[i]) && name.p[i] != '-' && name.p[i] != '.')
			return false;
	return true;
}

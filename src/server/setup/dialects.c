// SPDX-License-Identifier: Apache-2.0
#include "base/base.h"

#include "server/setup/dialects.h"

// A new dialect is a new folder in src/api and one line here.
static const struct dialect *const dialects[] = {
	&tenancy_dialect,
	&baremetal_dialect,
	&placement_dialect,
	&spaces_dialect,
};

const struct dialect *dialect_find(const char *name)
{
	for (size_t i = 0; i < COUNT_OF(dialects); i++) {
		if (strcmp(dialects[i]->name, name) == 0)
			return dialects[i];
	}
	return NULL;
}

const struct dialect *dialect_default(void)
{
	return dialects[0];
}

const struct dialect *dialect_of(const struct route_match *match)
{
	const struct dialect *dialect = dialect_find(match->dialect);

	return dialect != NULL ? dialect : dialect_default();
}

const void *dialect_handler(void *arg, const char *dialect, const char *id)
{
	const struct dialect *found = dialect_find(dialect);

	UNUSED(arg);
	if (found == NULL)
		return NULL;
	for (const struct endpoint *endpoint = found->endpoints; endpoint->id != NULL; endpoint++) {
		if (strcmp(endpoint->id, id) == 0)
			return endpoint;
	}
	return NULL;
}

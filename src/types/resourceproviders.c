// SPDX-License-Identifier: Apache-2.0
// Resource providers of placement: what `tenure provider list` shows of them. Their rules query the database, so they stand in
// registry/.
#include "base/base.h"

#include "types/common/parts.h"

static const struct type_noun_column noun_columns[] = {
	{ "uuid", "uuid", false }, { "name", "name", false }, { "generation", "generation", false },
	{ "parent", "parent_provider_uuid", false }, { "root", "root_provider_uuid", true }, { .name = NULL }
};

const struct type_parts resourceproviders_parts = {
	.noun_columns = noun_columns,
};

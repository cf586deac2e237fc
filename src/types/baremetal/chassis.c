// SPDX-License-Identifier: Apache-2.0
// Chassis, in which bare metal nodes stand: what `tenure chassis list` shows of them. Their rules query the database, so they
// stand in registry/.
#include "base/base.h"

#include "types/common/parts.h"

static const struct type_noun_column noun_columns[] = {
	{ "uuid", "uuid", false }, { "description", "description", false }, { "extra", "extra", true },
	{ "created", "created_at", true }, { .name = NULL }
};

const struct type_parts baremetal_chassis_parts = {
	.noun_columns = noun_columns,
};

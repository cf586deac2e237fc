// SPDX-License-Identifier: Apache-2.0
// Bare metal nodes: what `tenure node list` shows of them. Their rules query the database, so they stand in registry/.
#include "base/base.h"

#include "types/common/parts.h"

static const struct type_noun_column noun_columns[] = {
	{ "uuid", "uuid", false }, { "name", "name", false }, { "owner", "owner", false }, { "driver", "driver", false },
	{ "state", "provision_state", false }, { "maintenance", "maintenance", false }, { "power", "power_state", true },
	{ "class", "resource_class", true }, { "instance", "instance_uuid", true }, { "chassis", "chassis_uuid", true },
	{ "traits", "traits", true }, { "description", "description", true }, { .name = NULL }
};

const struct type_parts baremetal_nodes_parts = {
	.noun_columns = noun_columns,
};

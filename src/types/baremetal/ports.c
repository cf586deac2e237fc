// SPDX-License-Identifier: Apache-2.0
// Ports of bare metal nodes: what `tenure port list` shows of them. Their rules query the database, so they stand in registry/.
#include "base/base.h"

#include "types/common/parts.h"

static const struct type_noun_column noun_columns[] = {
	{ "uuid", "uuid", false }, { "address", "address", false }, { "node", "node_uuid", false },
	{ "portgroup", "portgroup_uuid", true }, { "network", "physical_network", true }, { "pxe", "pxe_enabled", true },
	{ "extra", "extra", true }, { .name = NULL }
};

const struct type_parts baremetal_ports_parts = {
	.noun_columns = noun_columns,
};
